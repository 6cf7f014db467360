//! `topological-sort`: where order does not matter, definitions come before uses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, BodyRun, Pass, PassInfo, PassOptions, PassResult, PassRun, Remarks, StatisticInfo};
use sutura_ir::registry::OpName;
use sutura_ir::{Block, Body, Context, Op, Region, Rewriter, Traits};

use super::counted;

/// The pass.
pub static TOPOLOGICAL_SORT: PassInfo = PassInfo {
    name: "TopologicalSort",
    argument: "topological-sort",
    summary: "Sort regions without SSA dominance in topological order",
    description: "In regions whose operations have no order of execution, moves definitions before their uses and \
                  leaves everything else where it is. Operations that depend on each other in a cycle keep their order.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-moved", description: "Number of operations moved" },
        StatisticInfo { name: "num-in-cycles", description: "Number of operations put before what they use" },
    ],
    create,
};

struct TopologicalSort;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(TopologicalSort))
}

impl Pass for TopologicalSort {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let counts = run.for_each_body(|at| sort_all(cx, at));
        let moved: u64 = counts.iter().map(|c| c.0).sum();
        run.count("num-moved", moved);
        run.count("num-in-cycles", counts.iter().map(|c| c.1).sum());
        Ok(PreservedAnalyses::unless(moved > 0))
    }
}

fn sort_all(cx: &Context, at: &mut BodyRun<'_>) -> (u64, u64) {
    let (owner, body) = (at.owner(), &*at.body);
    let is_graph = |name: OpName| name.traits(cx).has(Traits::GraphRegion);
    let own = body.owner_regions().filter(|_| is_graph(owner));
    let inside = body.preorder().filter(|op| is_graph(body.name(*op))).flat_map(|op| body.regions(op));
    let regions: Vec<Region> = own.chain(inside).collect();
    let blocks: Vec<Block> = regions.into_iter().flat_map(|r| body.blocks(r)).collect();
    let mut counts = (0, 0);
    for block in blocks {
        let sorted = sort(cx, at.body, block, at.remarks);
        counts.0 += sorted.0;
        counts.1 += sorted.1;
    }
    counts
}

/// For each op, those that use it or from whose regions it is used, and how many it waits for itself.
struct Dependences {
    users: Vec<Vec<usize>>,
    missing: Vec<usize>,
}

/// Sorts as if the ops were gone over again and again, taking each time those whose definitions are taken already.
fn sort(cx: &Context, body: &mut Body, block: Block, remarks: &mut Remarks) -> (u64, u64) {
    let mut ops: Vec<Op> = body.ops(block).collect();
    let end = ops.pop_if(|op| body.name(*op).traits(cx).has(Traits::Terminator));
    let Dependences { users, mut missing } = dependences(body, &ops);
    let mut ready: BinaryHeap<Reverse<(usize, usize)>> =
        (0..ops.len()).filter(|i| missing[*i] == 0).map(|i| Reverse((0, i))).collect();
    // The round in which an op can be taken as far as is known.
    let mut round = vec![0; ops.len()];
    let mut taken = vec![false; ops.len()];
    let mut order = Vec::with_capacity(ops.len());
    let (mut first_left, mut last_round, mut in_cycles) = (0, 0, 0);
    while order.len() < ops.len() {
        let (at_round, index) = match ready.pop() {
            Some(Reverse(next)) => next,
            None => {
                // A cycle: the first op that is left goes first.
                while taken[first_left] {
                    first_left += 1;
                }
                in_cycles += 1;
                let (loc, name) = (body.loc(ops[first_left]), body.name(ops[first_left]).as_str(cx));
                remarks.missed(loc, || format!("'{name}' stays before what it uses: the uses are a cycle"));
                (last_round + 1, first_left)
            }
        };
        if std::mem::replace(&mut taken[index], true) {
            continue;
        }
        last_round = at_round;
        order.push(index);
        for &user in &users[index] {
            round[user] = round[user].max(at_round + usize::from(user < index));
            missing[user] -= 1;
            if missing[user] == 0 && !taken[user] {
                ready.push(Reverse((round[user], user)));
            }
        }
    }
    let moved = order.iter().enumerate().filter(|(place, index)| place != *index).count() as u64;
    if let Some(first) = order.iter().enumerate().position(|(place, index)| place != *index) {
        let text = || format!("{} from here on stand elsewhere, behind what they use", counted(moved, "operation"));
        remarks.passed(body.loc(ops[first]), text);
        let mut rewriter = Rewriter::new(cx, body);
        for index in order.into_iter().map(|i| ops[i]).chain(end) {
            rewriter.move_to_end(index, block);
        }
    }
    (moved, in_cycles)
}

fn dependences(body: &Body, ops: &[Op]) -> Dependences {
    let numbers: rustc_hash::FxHashMap<Op, usize> = ops.iter().copied().zip(0..).collect();
    let mut found = Dependences { users: vec![Vec::new(); ops.len()], missing: vec![0; ops.len()] };
    for (number, &op) in ops.iter().enumerate() {
        for user in std::iter::once(op).chain(body.preorder_in(op)) {
            for value in body.operands(user) {
                // The op of the block in which the value is defined, perhaps deep inside.
                let mut at =
                    body.defining_op(value).or_else(|| body.value_block(value).and_then(|b| body.block_parent(b)));
                while let Some(definition) = at.filter(|d| !numbers.contains_key(d)) {
                    at = body.parent_op(definition);
                }
                if let Some(&definition) = at.and_then(|d| numbers.get(&d))
                    && definition != number
                {
                    found.users[definition].push(number);
                    found.missing[number] += 1;
                }
            }
        }
    }
    found
}
