//! When two ops compute the same.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use sutura_ir::work::Counter;
use sutura_ir::{Block, Body, Context, Op, Traits, Value};

static COMPARED: Counter = Counter::new("cse: ops compared");

/// Most ops inside of an op that count for its hash: an op is hashed for each op around it.
const MOST_HASHED: usize = 64;

/// A hash that is equal for equivalent ops.
pub(super) fn hash(cx: &Context, body: &Body, op: Op) -> u64 {
    let mut hasher = FxHasher::default();
    hash_head(body, op, &mut hasher);
    if body.name(op).traits(cx).has(Traits::Commutative) {
        for value in sorted(body, op) {
            value.index().hash(&mut hasher);
        }
    } else {
        for value in body.operands(op) {
            value.index().hash(&mut hasher);
        }
    }
    if body.regions(op).len() > 0 {
        hash_regions(body, op, &mut hasher);
    }
    hasher.finish()
}

/// What [`same_head`] compares, but numbers of regions.
fn hash_head(body: &Body, op: Op, hasher: &mut FxHasher) {
    (body.name(op), body.props(op), body.attrs(op), body.num_operands(op), body.num_results(op)).hash(hasher);
    for result in body.results(op) {
        body.ty(result).hash(hasher);
    }
}

/// The first ops in the regions, in the order of [`same_regions`], with the values from outside that they take.
fn hash_regions(body: &Body, op: Op, hasher: &mut FxHasher) {
    let mut inside: FxHashSet<Value> = FxHashSet::default();
    let (mut pending, mut left) = (vec![op], MOST_HASHED);
    while let Some(op) = pending.pop() {
        for block in body.regions(op).flat_map(|region| body.blocks(region)) {
            inside.extend(body.block_args(block).iter().copied());
            for op in body.ops(block) {
                let Some(fewer) = left.checked_sub(1) else { return };
                left = fewer;
                hash_head(body, op, hasher);
                for value in body.operands(op) {
                    (!inside.contains(&value)).then(|| value.index()).hash(hasher);
                }
                inside.extend(body.results(op));
                if body.regions(op).len() > 0 {
                    pending.push(op);
                }
            }
        }
    }
}

fn sorted(body: &Body, op: Op) -> SmallVec<[Value; 4]> {
    let mut values: SmallVec<[Value; 4]> = body.operands(op).collect();
    values.sort_unstable_by_key(|value| value.index());
    values
}

/// True when `a` and `b` compute the same from the same operands.
pub(super) fn equivalent(cx: &Context, body: &Body, a: Op, b: Op) -> bool {
    COMPARED.add(1);
    if !same_head(body, a, b) {
        return false;
    }
    let operands_agree = if body.name(a).traits(cx).has(Traits::Commutative) {
        sorted(body, a) == sorted(body, b)
    } else {
        body.operands(a).eq(body.operands(b))
    };
    operands_agree && (body.regions(a).len() == 0 || same_regions(body, a, b))
}

/// Name, attributes, numbers and types agree, and neither branches or owns a body.
fn same_head(body: &Body, a: Op, b: Op) -> bool {
    body.name(a) == body.name(b)
        && body.props(a) == body.props(b)
        && body.attrs(a) == body.attrs(b)
        && body.num_operands(a) == body.num_operands(b)
        && body.regions(a).len() == body.regions(b).len()
        && body.nested(a).is_none()
        && body.nested(b).is_none()
        && body.successors(a).is_empty()
        && body.successors(b).is_empty()
        && body.results(a).map(|r| body.ty(r)).eq(body.results(b).map(|r| body.ty(r)))
}

/// The regions hold the same ops, up to the names of the values defined in them.
fn same_regions(body: &Body, a: Op, b: Op) -> bool {
    let mut matched: FxHashMap<Value, Value> = FxHashMap::default();
    let mut pending = vec![(a, b)];
    while let Some((a, b)) = pending.pop() {
        for (ra, rb) in body.regions(a).zip(body.regions(b)) {
            let (mut block_a, mut block_b) = (body.region_entry(ra), body.region_entry(rb));
            while let (Some(x), Some(y)) = (block_a, block_b) {
                if !same_block(body, x, y, &mut matched, &mut pending) {
                    return false;
                }
                (block_a, block_b) = (body.next_block(x), body.next_block(y));
            }
            if block_a.is_some() || block_b.is_some() {
                return false;
            }
        }
    }
    true
}

fn same_block(
    body: &Body,
    a: Block,
    b: Block,
    matched: &mut FxHashMap<Value, Value>,
    pending: &mut Vec<(Op, Op)>,
) -> bool {
    let (args_a, args_b) = (body.block_args(a), body.block_args(b));
    if !args_a.iter().map(|v| body.ty(*v)).eq(args_b.iter().map(|v| body.ty(*v))) {
        return false;
    }
    matched.extend(args_a.iter().copied().zip(args_b.iter().copied()));
    let mut ops_b = body.ops(b);
    for op_a in body.ops(a) {
        let Some(op_b) = ops_b.next() else { return false };
        let operands_agree =
            || body.operands(op_a).zip(body.operands(op_b)).all(|(x, y)| matched.get(&x).copied().unwrap_or(x) == y);
        if !same_head(body, op_a, op_b) || !operands_agree() {
            return false;
        }
        matched.extend(body.results(op_a).zip(body.results(op_b)));
        if body.regions(op_a).len() > 0 {
            pending.push((op_a, op_b));
        }
    }
    ops_b.next().is_none()
}
