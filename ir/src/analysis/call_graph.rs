//! Who calls whom.

use crate::analysis::{Analysis, Program};
use crate::body::{Body, Op, OpHeader};
use crate::context::Context;
use crate::interfaces::CallOp;

/// A call in a callable's own body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSite {
    /// The call, in the body of the caller.
    pub call: Op,
    /// Number of the node that is called; `None` for one that is not in the program, or not known.
    pub callee: Option<usize>,
}

/// A callable with a body.
#[derive(Clone, Debug)]
pub struct CallNode {
    /// The callable, in the body around it; `None` when it is the root itself.
    pub op: Option<Op>,
    /// Number of the node's body in a [`Program`], 0 for the root.
    pub body: usize,
    /// Number of the body around it.
    pub around: Option<usize>,
    /// Its calls, in the order of the text. Calls in bodies nested in its own are not among them.
    pub calls: Vec<CallSite>,
}

/// The call graph of an op and all that is nested in it.
#[derive(Debug)]
pub struct CallGraph {
    nodes: Vec<CallNode>,
    components: Vec<Vec<usize>>,
    recursive: Vec<bool>,
}

impl Analysis for CallGraph {
    const NAME: &'static str = "CallGraph";

    fn build(cx: &Context, header: &OpHeader, body: &Body) -> Self {
        Self::new(&Program::new(cx, header, body))
    }
}

impl CallGraph {
    /// The call graph of `program`.
    pub fn new(program: &Program<'_>) -> Self {
        let bodies: Vec<usize> =
            (0..program.bodies().len()).filter(|at| program.callable_region(*at).is_some()).collect();
        let node_of = |body: usize| bodies.binary_search(&body).ok();
        let calls_of = |at: usize| {
            let calls =
                program.body(at).preorder().filter(|op| program.op(at, *op).interface::<dyn CallOp>().is_some());
            calls.map(|call| CallSite { call, callee: program.callee(at, call).and_then(node_of) }).collect()
        };
        let nodes: Vec<CallNode> = bodies
            .iter()
            .map(|&body| {
                let owner = program.bodies()[body].owner;
                CallNode { op: owner.map(|o| o.1), body, around: owner.map(|o| o.0), calls: calls_of(body) }
            })
            .collect();
        let components = components(&nodes);
        let mut recursive = vec![false; nodes.len()];
        for component in &components {
            let calls_itself = |n: &usize| nodes[*n].calls.iter().any(|c| c.callee == Some(*n));
            let is_recursive = component.len() > 1 || component.iter().any(calls_itself);
            component.iter().for_each(|n| recursive[*n] = is_recursive);
        }
        Self { nodes, components, recursive }
    }

    /// Callables with a body, in the order of their bodies in a [`Program`].
    pub fn nodes(&self) -> &[CallNode] {
        &self.nodes
    }

    /// Sets of callables that call each other, callees before their callers; numbers of nodes, ascending in each.
    pub fn components(&self) -> &[Vec<usize>] {
        &self.components
    }

    /// True when a callable may be reached from itself.
    pub fn is_recursive(&self, node: usize) -> bool {
        self.recursive[node]
    }
}

/// Strongly connected components after Tarjan, "Depth-First Search and Linear Graph Algorithms" (1972): a component comes
/// after those that it reaches. Depth costs no stack.
fn components(nodes: &[CallNode]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; nodes.len()];
    let mut low = vec![0; nodes.len()];
    let mut open = vec![false; nodes.len()];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..nodes.len() {
        if number[root] != UNSEEN {
            continue;
        }
        // A node, and how many of its calls have been followed.
        let mut path = vec![(root, 0)];
        while let Some((node, followed)) = path.last_mut() {
            let node = *node;
            if *followed == 0 {
                (number[node], low[node], open[node]) = (next, next, true);
                next += 1;
                stack.push(node);
            }
            let call = nodes[node].calls.get(*followed).copied();
            *followed += 1;
            match call {
                Some(CallSite { callee: Some(callee), .. }) if number[callee] == UNSEEN => path.push((callee, 0)),
                Some(CallSite { callee: Some(callee), .. }) if open[callee] => {
                    low[node] = low[node].min(number[callee])
                }
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((caller, _)) = path.last() {
                        low[*caller] = low[*caller].min(low[node]);
                    }
                    if low[node] == number[node] {
                        let from = stack.iter().position(|n| *n == node).expect("it is open");
                        let mut component = stack.split_off(from);
                        component.iter().for_each(|n| open[*n] = false);
                        component.sort_unstable();
                        found.push(component);
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::{Builder, Loc, OpState};

    fn graph(calls: &[&[usize]]) -> Vec<CallNode> {
        let cx = Context::new(Registry::default());
        let mut body = Body::with_block(1);
        let block = body.entry_block().expect("made with a block");
        let mut b = Builder::at_end(&cx, &mut body, block);
        let call = b.create(OpState::new(cx.op_name("t.call"), Loc::UNKNOWN));
        let node = |(body, callees): (usize, &&[usize])| CallNode {
            op: None,
            body,
            around: None,
            calls: callees.iter().map(|c| CallSite { call, callee: Some(*c) }).collect(),
        };
        calls.iter().enumerate().map(node).collect()
    }

    #[test]
    fn callees_come_before_their_callers() {
        // 0 calls 1 and 3, 1 and 2 call each other, 2 calls 3, 4 calls itself.
        let nodes = graph(&[&[1, 3], &[2], &[1, 3], &[], &[4]]);
        assert_eq!(components(&nodes), [vec![3], vec![1, 2], vec![0], vec![4]]);
    }
}
