//! Simplification of the blocks of a region: chains become one block, blocks that only go on are passed by, and blocks
//! that do the same become one.

use std::hash::{Hash, Hasher};

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use crate::analysis::effects::is_memory_effect_free;
use crate::body::{Block, Body, Op, Region, Value, ValueKind};
use crate::builder::Listener;
use crate::context::Context;
use crate::interfaces::BranchOp;
use crate::op_ref::OpRef;
use crate::rewriter::Rewriter;

/// Branches with the number of the successor.
type Edges = SmallVec<[(Op, usize); 2]>;

fn edges(body: &Body, region: Region) -> FxHashMap<Block, Edges> {
    let mut found: FxHashMap<Block, Edges> = FxHashMap::default();
    for branch in body.blocks(region).filter_map(|block| body.last_op(block)) {
        for (index, &next) in body.successors(branch).iter().enumerate() {
            found.entry(next).or_default().push((branch, index));
        }
    }
    found
}

/// The block that `op` goes to, when it does nothing else, with what it passes.
fn jump(op: OpRef<'_>) -> Option<(Block, Vec<Value>)> {
    let [next] = *op.successors() else { return None };
    let interface = op.interface::<dyn BranchOp>()?;
    let passes_all = interface.successor_operands(op, 0) == (0..op.num_operands())
        && op.num_operands() == op.body.block_args(next).len()
        && op.num_results() == 0
        && op.regions().len() == 0;
    (passes_all && is_memory_effect_free(op)).then(|| (next, op.operands().collect()))
}

/// Merges blocks with the one block before them, and leads branches past blocks that only go on. True when something
/// changed. All blocks must be reached.
pub(super) fn merge_chains(cx: &Context, body: &mut Body, region: Region, listener: &mut dyn Listener) -> bool {
    let mut changed = pass_by(cx, body, region, listener);
    let edges = edges(body, region);
    let entry = body.region_entry(region);
    let blocks: Vec<Block> = body.blocks(region).collect();
    for block in blocks {
        // A block may take in the whole rest of its chain.
        while let Some(last) = body.last_op(block) {
            let Some((next, values)) = jump(OpRef::new(cx, body, last)) else { break };
            let is_only = edges.get(&next).is_some_and(|e| e.len() == 1);
            if !is_only || next == block || Some(next) == entry {
                break;
            }
            let mut rw = Rewriter::with_listener(cx, body, listener);
            rw.erase_op(last);
            rw.merge_block(next, block, &values);
            changed = true;
        }
        if body.region_entry(region).is_none() {
            break;
        }
    }
    changed
}

/// Leads branches to a block that only goes on to where it goes. The block itself is left without predecessors.
fn pass_by(cx: &Context, body: &mut Body, region: Region, listener: &mut dyn Listener) -> bool {
    let mut changed = false;
    let entry = body.region_entry(region);
    let blocks: Vec<Block> = body.blocks(region).filter(|b| Some(*b) != entry).collect();
    let mut edges = edges(body, region);
    for block in blocks {
        let Some(only) = body.first_op(block).filter(|op| body.next_op(*op).is_none()) else { continue };
        let Some((next, values)) = jump(OpRef::new(cx, body, only)) else { continue };
        let args: Vec<Value> = body.block_args(block).to_vec();
        let used_here = args.iter().all(|arg| body.uses(*arg).all(|u| u.owner == only));
        let incoming = edges.get(&block).cloned().unwrap_or_default();
        if made_by_branches(body, &values, &incoming) {
            continue;
        }
        if next == block || !used_here || !incoming.iter().all(|(b, i)| passes_all(OpRef::new(cx, body, *b), *i)) {
            continue;
        }
        for &(branch, index) in &incoming {
            let passed = passed(OpRef::new(cx, body, branch), index);
            let value_of = |v: &Value| args.iter().position(|arg| arg == v).map_or(*v, |at| passed[at]);
            let values: Vec<Value> = values.iter().map(value_of).collect();
            let mut rw = Rewriter::with_listener(cx, body, listener);
            rw.set_successor(branch, index, next);
            let interface = rw.op_ref(branch).interface::<dyn BranchOp>().expect("it passes all");
            interface.set_successor_operands(&mut rw, branch, index, &values);
            changed = true;
        }
        edges.remove(&block);
        edges.entry(next).or_default().extend(incoming);
    }
    changed
}

/// True when one of `values` is a result of a branch, which cannot pass it on.
fn made_by_branches(body: &Body, values: &[Value], edges: &[(Op, usize)]) -> bool {
    values.iter().any(|v| body.defining_op(*v).is_some_and(|op| edges.iter().any(|(branch, _)| *branch == op)))
}

/// What a branch passes to a successor.
fn passed(op: OpRef<'_>, index: usize) -> Vec<Value> {
    let operands = op.interface::<dyn BranchOp>().map(|i| i.successor_operands(op, index)).unwrap_or_default();
    operands.map(|i| op.operand(i)).collect()
}

/// True when all arguments of the successor are operands of the branch.
fn passes_all(op: OpRef<'_>, index: usize) -> bool {
    let count = op.body.block_args(op.successors()[index]).len();
    op.interface::<dyn BranchOp>().is_some_and(|i| i.successor_operands(op, index).len() == count)
}

// ---- blocks that do the same

/// Merges blocks with the same ops, which may use different values of other blocks: these become arguments. True when
/// something changed. All blocks must be reached.
pub(super) fn merge_identical(cx: &Context, body: &mut Body, region: Region, listener: &mut dyn Listener) -> bool {
    let entry = body.region_entry(region);
    let mut edges = edges(body, region);
    let mut groups: Vec<Vec<Block>> = Vec::new();
    let mut by_hash: FxHashMap<u64, usize> = FxHashMap::default();
    for block in body.blocks(region) {
        let can_change = |e: &(Op, usize)| passes_all(OpRef::new(cx, body, e.0), e.1);
        let mergeable = Some(block) != entry
            && edges.get(&block).is_some_and(|e| e.iter().all(can_change))
            && !body.block_successors(block).contains(&block)
            && body.ops(block).all(|op| body.regions(op).len() == 0 && keeps_results(body, block, op))
            && body.block_args(block).iter().all(|arg| is_used_in(body, block, *arg));
        if mergeable {
            let group = *by_hash.entry(hash(body, block)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(block);
        }
    }
    let mut changed = false;
    for group in groups {
        // The first of a group takes in those that are like it; what is left makes another group.
        let mut rest = group;
        while rest.len() > 1 {
            let leader = rest.remove(0);
            let mut alike = Vec::new();
            rest.retain(|block| match differences(body, leader, *block) {
                Some(found) if !makes_a_difference(body, &found, &edges, (leader, *block)) => {
                    alike.push((*block, found));
                    false
                }
                _ => true,
            });
            if !alike.is_empty() {
                take_in(cx, body, leader, &alike, &mut edges, listener);
                changed = true;
            }
        }
    }
    changed
}

fn is_used_in(body: &Body, block: Block, value: Value) -> bool {
    body.uses(value).all(|u| body.op_block(u.owner) == Some(block))
}

fn keeps_results(body: &Body, block: Block, op: Op) -> bool {
    body.results(op).all(|result| is_used_in(body, block, result))
}

fn hash(body: &Body, block: Block) -> u64 {
    let mut hasher = FxHasher::default();
    for arg in body.block_args(block) {
        body.ty(*arg).hash(&mut hasher);
    }
    for op in body.ops(block) {
        (body.name(op), body.props(op), body.attrs(op), body.num_operands(op)).hash(&mut hasher);
        body.results(op).for_each(|result| body.ty(result).hash(&mut hasher));
        body.successors(op).iter().for_each(|next| next.index().hash(&mut hasher));
    }
    hasher.finish()
}

/// A value defined in a block, as seen from the block: number of the op (none: an argument) and of the value.
fn local(body: &Body, block: Block, positions: &FxHashMap<Op, usize>, value: Value) -> Option<(Option<usize>, u32)> {
    match body.value_kind(value) {
        ValueKind::Arg(of, index) if of == block => Some((None, index)),
        ValueKind::Result(op, index) => Some((Some(*positions.get(&op)?), index)),
        _ => None,
    }
}

/// An operand of both blocks that is defined outside, and not by the same op: what `leader` and `block` use.
struct Difference {
    op: Op,
    operand: usize,
    values: (Value, Value),
}

/// The operands in which two blocks differ; `None` when they do not do the same.
fn differences(body: &Body, leader: Block, block: Block) -> Option<Vec<Difference>> {
    let arg_types = |b: Block| body.block_args(b).iter().map(|arg| body.ty(*arg));
    arg_types(leader).eq(arg_types(block)).then_some(())?;
    let (ours, theirs): (Vec<Op>, Vec<Op>) = (body.ops(leader).collect(), body.ops(block).collect());
    (ours.len() == theirs.len()).then_some(())?;
    let numbered = |ops: &[Op]| -> FxHashMap<Op, usize> { ops.iter().enumerate().map(|(i, op)| (*op, i)).collect() };
    let (at_ours, at_theirs) = (numbered(&ours), numbered(&theirs));
    let mut found = Vec::new();
    for (&a, &b) in ours.iter().zip(&theirs) {
        let same = body.name(a) == body.name(b)
            && body.props(a) == body.props(b)
            && body.attrs(a) == body.attrs(b)
            && body.successors(a) == body.successors(b)
            && body.num_operands(a) == body.num_operands(b)
            && body.results(a).map(|r| body.ty(r)).eq(body.results(b).map(|r| body.ty(r)));
        same.then_some(())?;
        for (operand, (x, y)) in body.operands(a).zip(body.operands(b)).enumerate() {
            match (local(body, leader, &at_ours, x), local(body, block, &at_theirs, y)) {
                (None, None) if x == y => {}
                (None, None) if body.ty(x) == body.ty(y) => found.push(Difference { op: a, operand, values: (x, y) }),
                (x, y) if x.is_some() && x == y => {}
                _ => return None,
            }
        }
    }
    Some(found)
}

/// True when a value in which the blocks differ is made by a branch to its block, which cannot pass it on.
fn makes_a_difference(
    body: &Body,
    found: &[Difference],
    edges: &FxHashMap<Block, Edges>,
    (leader, block): (Block, Block),
) -> bool {
    let incoming = |block| edges.get(&block).map_or(&[][..], SmallVec::as_slice);
    let (ours, theirs): (Vec<Value>, Vec<Value>) = found.iter().map(|d| d.values).unzip();
    made_by_branches(body, &ours, incoming(leader)) || made_by_branches(body, &theirs, incoming(block))
}

/// Leads what goes to the blocks `alike` to `leader`, with which they were compared.
fn take_in(
    cx: &Context,
    body: &mut Body,
    leader: Block,
    alike: &[(Block, Vec<Difference>)],
    edges: &mut FxHashMap<Block, Edges>,
    listener: &mut dyn Listener,
) {
    // For each operand that is not the same everywhere what it is in the leader and in each of the others.
    let mut operands: IndexMap<(Op, usize), Vec<Value>> = IndexMap::new();
    for (index, (_, found)) in alike.iter().enumerate() {
        for Difference { op, operand, values } in found {
            let list = operands.entry((*op, *operand)).or_insert_with(|| vec![values.0; alike.len() + 1]);
            list[index + 1] = values.1;
        }
    }
    let mut rw = Rewriter::with_listener(cx, body, listener);
    let mut args: IndexMap<Vec<Value>, Value> = IndexMap::new();
    for ((op, operand), values) in operands {
        let (ty, loc) = (rw.body().ty(values[0]), rw.body().value_loc(values[0]));
        let arg = *args.entry(values).or_insert_with(|| rw.add_block_arg(leader, ty, loc));
        rw.set_operand(op, operand, arg);
    }
    let mut all = Edges::new();
    for (index, block) in std::iter::once(leader).chain(alike.iter().map(|(block, _)| *block)).enumerate() {
        for (branch, successor) in edges.remove(&block).unwrap_or_default() {
            let more = args.keys().map(|values| values[index]);
            let values: Vec<Value> = passed(rw.op_ref(branch), successor).into_iter().chain(more).collect();
            rw.set_successor(branch, successor, leader);
            let interface = rw.op_ref(branch).interface::<dyn BranchOp>().expect("it passes all");
            interface.set_successor_operands(&mut rw, branch, successor, &values);
            all.push((branch, successor));
        }
    }
    let gone: Vec<Block> = alike.iter().map(|(block, _)| *block).collect();
    rw.erase_blocks(&gone);
    edges.insert(leader, all);
    // The branches at the end of these blocks are gone too.
    for list in edges.values_mut() {
        list.retain(|(branch, _)| rw.body().is_live(*branch));
    }
}
