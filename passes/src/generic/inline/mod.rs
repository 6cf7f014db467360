//! `inline`: bodies of functions in the place of their calls, callees before their callers.

mod legal;
mod splice;

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_ir::analysis::{CallGraph, CallNode, PreservedAnalyses};
use sutura_ir::attrs::AttrData;
use sutura_ir::context::Ident;
use sutura_ir::interfaces::{CallOp, Callee};
use sutura_ir::pass::{
    Anchor, OpPassManager, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassRegistry, PassResult,
    PassRun, StatisticInfo, parse_pipeline,
};
use sutura_ir::symbols::symbol_ident;
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Traits};

use legal::why_not;
use splice::splice;

/// The pass.
pub static INLINE: PassInfo = PassInfo {
    name: "Inliner",
    argument: "inline",
    summary: "Inline function calls",
    description: "Puts the bodies of callables in the place of the calls that name them, in the order of the call graph \
                  from the bottom up, and runs the default pipeline on each callable. Private callables that nothing \
                  refers to afterwards are erased. Recursive callables stay, and so do calls for which a dialect, or \
                  the threshold, says no, or when the program would grow too much: a remark says why. Runs on a symbol table; callables and calls directly in \
                  it and in their bodies take part, those in nested symbol tables do not.",
    anchor: Anchor::Any,
    options: &[
        OptionInfo {
            name: "default-pipeline",
            kind: OptionKind::Pipeline,
            default: "canonicalize",
            help: "The generic passes that run on each callable; empty for none",
        },
        OptionInfo {
            name: "max-iterations",
            kind: OptionKind::Int(0, u32::MAX as i64),
            default: "4",
            help: "Go over the calls of a callable at most so often",
        },
        OptionInfo {
            name: "inlining-threshold",
            kind: OptionKind::Int(0, u32::MAX as i64),
            default: "4294967295",
            help: "Inline a callee only if it has at most so many operations, in percent of those of the caller",
        },
        OptionInfo {
            name: "max-growth",
            kind: OptionKind::Int(0, u32::MAX as i64),
            default: "400",
            help: "Copy at most so many operations in all, in percent of those of the program; 0 for any number",
        },
        OptionInfo {
            name: "free-growth",
            kind: OptionKind::Int(0, u32::MAX as i64),
            default: "65536",
            help: "Operations that may be copied besides, whatever the size of the program",
        },
    ],
    statistics: &[
        StatisticInfo { name: "num-inlined", description: "Number of calls inlined" },
        StatisticInfo { name: "num-not-inlined", description: "Number of calls of known callables that stay" },
        StatisticInfo { name: "num-erased", description: "Number of callables erased" },
    ],
    create,
};

struct Inline {
    pipeline: String,
    max_iterations: usize,
    threshold: u64,
    /// In percent.
    max_growth: u64,
    free_growth: u64,
}

/// Operations that may still be copied: calls that double at each step would fill any memory.
struct Growth {
    left: u64,
}

impl Growth {
    fn of(body: &Body, percent: u64, free: u64) -> Self {
        let left = if percent == 0 { u64::MAX } else { (ops_in(body) * percent / 100).saturating_add(free) };
        Self { left }
    }

    /// Takes what a copy of `callee` adds; why not, if that is too much.
    fn take(&mut self, callee: OpRef<'_>) -> Option<String> {
        let ops = ops_in(callee.inside());
        if ops > self.left {
            return Some(format!("its {ops} operations are more than the {} by which the program may grow", self.left));
        }
        self.left -= ops;
        None
    }
}

/// Operations of a body and of those nested in it.
fn ops_in(body: &Body) -> u64 {
    let (mut ops, mut pending) = (0, vec![body]);
    while let Some(body) = pending.pop() {
        ops += body.op_count() as u64;
        pending.extend(body.preorder().filter_map(|op| body.nested(op)));
    }
    ops
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(Inline {
        pipeline: options.text("default-pipeline").to_string(),
        max_iterations: options.int("max-iterations") as usize,
        threshold: options.int("inlining-threshold") as u64,
        max_growth: options.int("max-growth") as u64,
        free_growth: options.int("free-growth") as u64,
    }))
}

impl Pass for Inline {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let (cx, name) = (run.cx, run.header.name);
        if !name.traits(cx).has(Traits::SymbolTable) {
            let message = format!("'inline' needs a symbol table, which '{}' is not", name.as_str(cx));
            return Err(run.diags.error(run.header.loc, message).into());
        }
        let mut manager = self.manager(run)?;
        let graph = run.analysis::<CallGraph>();
        let callables = callables(run, &graph);
        let (mut inlined, mut stayed) = (0, 0);
        let mut erased = 0;
        let mut growth = Growth::of(run.body, self.max_growth, self.free_growth);
        for component in graph.components() {
            for caller in component.iter().filter_map(|n| own_callable(&graph.nodes()[*n])) {
                let (here, left) = self.work_on(run, &callables, caller, manager.as_mut(), &mut growth)?;
                inlined += here;
                stayed += left;
            }
        }
        if inlined > 0 {
            erased = erase_unused(run, &graph);
        }
        run.count("num-inlined", inlined);
        run.count("num-not-inlined", stayed);
        run.count("num-erased", erased);
        Ok(PreservedAnalyses::none())
    }
}

/// Puts the bodies of callables in the place of the calls that `wanted` picks, given call and callee; how many. Callees come before
/// their callers. Private callables to which nothing refers afterwards are erased. What stays is said.
pub(crate) fn inline_where(run: &mut PassRun<'_>, wanted: &dyn Fn(OpRef<'_>, OpRef<'_>) -> bool) -> u64 {
    let graph = run.analysis::<CallGraph>();
    let callables = callables(run, &graph);
    let all =
        Inline { pipeline: String::new(), max_iterations: 1, threshold: u64::MAX, max_growth: 400, free_growth: 65536 };
    let mut growth = Growth::of(run.body, all.max_growth, all.free_growth);
    let mut inlined = 0;
    for component in graph.components() {
        for caller in component.iter().filter_map(|n| own_callable(&graph.nodes()[*n])) {
            let mut calls = calls_in(run, &callables, caller);
            let body = run.body.nested(caller);
            let at = |call: &Call| body.map(|body| OpRef::new(run.cx, body, call.call));
            calls.retain(|call| at(call).is_some_and(|op| wanted(op, OpRef::new(run.cx, run.body, call.callee))));
            if calls.is_empty() {
                continue;
            }
            let mut remarks = Vec::new();
            inlined += all.inline_calls(run, caller, &calls, &mut growth, &mut remarks);
            remarks.into_iter().for_each(|(loc, text)| run.missed(loc, text));
        }
    }
    if inlined > 0 {
        erase_unused(run, &graph);
    }
    inlined
}

/// The callable of a node that lies directly in the op that the pass runs on.
fn own_callable(node: &CallNode) -> Option<Op> {
    node.op.filter(|_| node.around == Some(0))
}

impl Inline {
    /// What runs on each callable.
    fn manager(&self, run: &mut PassRun<'_>) -> Result<Option<OpPassManager>, PassError> {
        if self.pipeline.trim().is_empty() {
            return Ok(None);
        }
        let mut registry = PassRegistry::new();
        super::register(&mut registry);
        let text = format!("any({})", self.pipeline);
        Ok(Some(parse_pipeline(run.cx, &registry, "default-pipeline", &text, run.diags)?))
    }

    /// Inlines into one callable; numbers of calls inlined and of those that stay.
    fn work_on(
        &self,
        run: &mut PassRun<'_>,
        callables: &Callables,
        caller: Op,
        mut manager: Option<&mut OpPassManager>,
        growth: &mut Growth,
    ) -> Result<(u64, u64), PassError> {
        let mut inlined = 0;
        let mut iteration = 0;
        loop {
            if let Some(manager) = manager.as_deref_mut() {
                run.run_on_nested(caller, manager)?;
            }
            let again = iteration < self.max_iterations;
            let calls = calls_in(run, callables, caller);
            let mut remarks = Vec::new();
            let here = if again { self.inline_calls(run, caller, &calls, growth, &mut remarks) } else { 0 };
            inlined += here;
            iteration += 1;
            if here == 0 {
                if !again && !calls.is_empty() {
                    let loc = OpRef::new(run.cx, run.body, caller).loc();
                    run.missed(loc, format!("{} calls stay: `max-iterations` is reached", calls.len()));
                }
                remarks.into_iter().for_each(|(loc, text)| run.missed(loc, text));
                return Ok((inlined, calls.len() as u64));
            }
        }
    }

    /// Inlines what it may of `calls`, and says of the others why not.
    fn inline_calls(
        &self,
        run: &mut PassRun<'_>,
        caller: Op,
        calls: &[Call],
        growth: &mut Growth,
        remarks: &mut Vec<(sutura_ir::Loc, String)>,
    ) -> u64 {
        let (cx, mut done) = (run.cx, run.gather_remarks());
        let mut inlined = 0;
        // The callees' bodies are read while the caller's changes.
        run.body.nested_beside(caller, |body, around| {
            for &Call { call, callee, recursive } in calls {
                let (view, target) = (OpRef::new(cx, body, call), OpRef::new(cx, around, callee));
                let reason = if recursive {
                    Some("the callee is recursive".to_string())
                } else {
                    why_not(view, target).or_else(|| self.too_large(body, target)).or_else(|| growth.take(target))
                };
                match reason {
                    None => {
                        let (loc, name) = (view.loc(), target.symbol_name().unwrap_or_default());
                        done.passed(loc, || format!("call of '@{name}' is inlined"));
                        splice(cx, body, call, target);
                        inlined += 1;
                    }
                    Some(reason) => {
                        let name = target.symbol_name().unwrap_or_default();
                        remarks.push((view.loc(), format!("call of '@{name}' is not inlined: {reason}")));
                    }
                }
            }
        });
        run.report(done);
        inlined
    }

    fn too_large(&self, caller: &Body, callee: OpRef<'_>) -> Option<String> {
        let (own, other) = (caller.op_count().max(1) as u64, callee.inside().op_count() as u64);
        let percent = other * 100 / own;
        (percent > self.threshold)
            .then(|| format!("it has {percent}% of the caller's operations, more than the threshold"))
    }
}

/// A call of a callable directly in the symbol table.
#[derive(Clone, Copy)]
struct Call {
    call: Op,
    callee: Op,
    recursive: bool,
}

/// The callables directly in the symbol table by name, and whether they are recursive.
type Callables = FxHashMap<Ident, (Op, bool)>;

fn callables(run: &PassRun<'_>, graph: &CallGraph) -> Callables {
    let named = |(number, node): (usize, &CallNode)| {
        let op = own_callable(node)?;
        Some((symbol_ident(OpRef::new(run.cx, run.body, op))?, (op, graph.is_recursive(number))))
    };
    graph.nodes().iter().enumerate().filter_map(named).collect()
}

/// Calls in the body of `caller` of known callables, in the order of the text.
fn calls_in(run: &PassRun<'_>, callables: &Callables, caller: Op) -> Vec<Call> {
    let Some(body) = run.body.nested(caller) else { return Vec::new() };
    let call = |call: Op| {
        let op = OpRef::new(run.cx, body, call);
        let Callee::Symbol(reference) = op.interface::<dyn CallOp>()?.callee(op)? else { return None };
        let AttrData::SymbolRef { root, nested } = run.cx.attr_data(reference) else { return None };
        let in_table = std::iter::successors(op.parent(), |o| o.parent()).any(|o| o.has_trait(Traits::SymbolTable));
        if in_table || !run.cx.idents(nested).is_empty() {
            return None;
        }
        let &(callee, recursive) = callables.get(&root)?;
        Some(Call { call, callee, recursive: recursive || callee == caller })
    };
    body.preorder().filter_map(call).collect()
}

/// Erases private callables that were called and to which nothing refers any more.
fn erase_unused(run: &mut PassRun<'_>, graph: &CallGraph) -> u64 {
    let calls = graph.nodes().iter().flat_map(|n| &n.calls);
    let called: FxHashSet<Op> = calls.filter_map(|c| own_callable(&graph.nodes()[c.callee?])).collect();
    let dead = super::symbol_dce::dead_symbols(run.cx, run.body, |op| called.contains(&op));
    for &op in &dead {
        let view = OpRef::new(run.cx, run.body, op);
        let (loc, name) = (view.loc(), view.symbol_name().unwrap_or_default().to_string());
        run.passed(loc, format!("'@{name}' is erased: it is private, and nothing refers to it any more"));
    }
    erase(run.cx, run.body, &dead);
    dead.len() as u64
}

fn erase(cx: &Context, body: &mut Body, ops: &[Op]) {
    let mut rewriter = Rewriter::new(cx, body);
    ops.iter().for_each(|op| rewriter.erase_op(*op));
}
