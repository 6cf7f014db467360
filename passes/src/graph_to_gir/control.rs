//! Calls, conditions and loops of a function as those of its host program.
//!
//! Regions hold one call each, as `outline-regions` leaves them. What a loop carries lies in buffers around it; an iteration makes
//! what comes next beside it, and both change their memory.
//!
//! Where sides, or iterations, make something of different sizes, there is place for the most that these are ([`sizes`]). The host
//! writes the sizes to a list, and reads them where they are needed.

mod assemble;
mod sizes;

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::{EqualOp, Poly};
use sutura_dialects::func::{CallOp, FuncOp};
use sutura_dialects::graph::shape_fn::mentioned_sizes;
use sutura_dialects::rt::{CopyOp, ExchangeOp, Invocation, ReadSizesOp, WriteSizesOp, invoke};
use sutura_dialects::scf::{ConditionOp, IfOp, WhileOp, YieldOp};
use sutura_dialects::tensor::{CastOp, ExtractOp};
use sutura_ir::op_ref::RegionRef;
use sutura_ir::{BlockRef, Builder, Context, Loc, OpRef, OpView, Traits, Type, Value};

use super::kernel::Built;
use super::program::buffer;

/// What a region does.
struct Side<'a> {
    args: &'a [Value],
    call: Option<CallOp<'a>>,
    /// What is handed on.
    yielded: Vec<Value>,
    /// What decides, in the first region of a loop.
    condition: Option<Value>,
}

/// Whether the op is a call, a condition or a loop, or makes the condition of one.
pub(super) fn is_control(op: OpRef<'_>) -> bool {
    op.is::<CallOp<'_>>() || op.is::<IfOp<'_>>() || op.is::<WhileOp<'_>>() || is_condition(op)
}

/// The one element of a tensor, for nothing but decisions.
fn is_condition(op: OpRef<'_>) -> bool {
    let decides = |user: OpRef<'_>| user.is::<IfOp<'_>>() || user.is::<ConditionOp<'_>>();
    op.is::<ExtractOp<'_>>() && op.num_operands() == 1 && op.body.uses(op.result(0)).all(|u| decides(op.at(u.owner)))
}

/// Whether the op says other sizes of a tensor that a loop starts with.
pub(super) fn is_edge(op: OpRef<'_>) -> bool {
    op.is::<CastOp<'_>>() && op.body.uses(op.result(0)).all(|user| op.at(user.owner).is::<WhileOp<'_>>())
}

/// Symbols that are used outside of the regions of conditions and loops. In these regions the program has others.
pub(super) fn outer_symbols(entry: BlockRef<'_>) -> BTreeSet<Arc<str>> {
    let has_regions = |op: &OpRef<'_>| op.is::<IfOp<'_>>() || op.is::<WhileOp<'_>>();
    let mut outer = BTreeSet::new();
    let args = entry.args().iter().copied();
    args.for_each(|arg| add_symbols(entry.cx, entry.body.ty(arg), &mut outer));
    for op in entry.ops().filter(|op| !is_edge(*op)) {
        op.result_types().for_each(|ty| add_symbols(op.cx, ty, &mut outer));
        if let Some(equal) = op.as_::<EqualOp<'_>>() {
            outer.extend(equal.lhs().symbols().into_iter().chain(equal.rhs().symbols()));
        }
        if has_regions(&op) {
            continue;
        }
        op.walk(&mut |inside| {
            outer.extend(mentioned_sizes(inside).iter().flat_map(Poly::symbols));
            inside.result_types().for_each(|ty| add_symbols(op.cx, ty, &mut outer));
            for block in inside.regions().flat_map(|region| region.blocks()) {
                block.args().iter().for_each(|arg| add_symbols(op.cx, block.body.ty(*arg), &mut outer));
            }
        });
    }
    outer
}

/// Symbols that are known behind a condition or a loop.
pub(super) fn symbols_behind(entry: BlockRef<'_>) -> BTreeSet<Arc<str>> {
    let mut behind = BTreeSet::new();
    for op in entry.ops().filter(|op| op.is::<IfOp<'_>>() || op.is::<WhileOp<'_>>()) {
        op.result_types().for_each(|ty| add_symbols(op.cx, ty, &mut behind));
    }
    behind
}

fn add_symbols(cx: &Context, ty: Type, to: &mut BTreeSet<Arc<str>>) {
    to.extend(symbolic_shape(cx, ty).into_iter().flatten().flatten().flat_map(|size| size.symbols()));
}

/// Checks such an op of `function`.
///
/// # Errors
/// Says what a host program cannot do.
pub(super) fn check(function: OpRef<'_>, op: OpRef<'_>) -> Built<()> {
    let values = |op: OpRef<'_>| op.operands().chain(op.results()).filter(|v| !is_flag(op, *v)).collect::<Vec<_>>();
    if let Some(call) = op.as_::<CallOp<'_>>() {
        let beside = function.body.op_block(function.op).into_iter().flat_map(|block| function.body.ops(block));
        let callee = beside.map(|op| function.at(op)).find(|op| op.symbol_name() == Some(call.callee()));
        let defined = callee.is_none_or(|callee| callee.as_::<FuncOp<'_>>().is_none_or(|f| !f.is_declaration()));
        if !defined {
            let error = op.error(format!("calls '@{}', which has no body here", call.callee()));
            return Err(Box::new(error.help("a host program calls what is in its module only")));
        }
        return values(op).into_iter().try_for_each(|v| buffer(op, op.body, v).map(drop));
    }
    let sides = op.regions().map(|region| side(op, region)).collect::<Built<Vec<Side<'_>>>>()?;
    let constant = sides.iter().filter_map(|side| side.condition).chain(op.as_::<IfOp<'_>>().map(|i| i.condition()));
    constant.into_iter().try_for_each(|condition| decided(op, condition).map(drop))?;
    let calls = sides.iter().filter_map(|side| side.call).map(|call| call.op_ref());
    for inner in calls.chain([op]) {
        values(inner).into_iter().try_for_each(|v| buffer(inner, op.body, v).map(drop))?;
    }
    Ok(())
}

/// A condition, which is no tensor.
fn is_flag(op: OpRef<'_>, value: Value) -> bool {
    op.ty(value) == sutura_ir::Type::I1
}

/// The tensor whose element decides.
fn decided(op: OpRef<'_>, condition: Value) -> Built<Value> {
    let extract = op.body.defining_op(condition).and_then(|o| op.at(o).as_::<ExtractOp<'_>>());
    let whole = extract.filter(|extract| extract.op_ref().num_operands() == 1).map(|extract| extract.tensor());
    whole.ok_or_else(|| {
        let error = op.error("is decided by something else than the element of a tensor of rank 0");
        Box::new(error.help("run `scalars-to-tensors` and `outline-regions` before this pass"))
    })
}

/// True for what says other sizes of what a region hands on.
fn is_end(op: OpRef<'_>) -> bool {
    op.is::<CastOp<'_>>() && op.body.uses(op.result(0)).all(|user| op.at(user.owner).has_trait(Traits::Terminator))
}

/// A value before others sizes were said of it.
fn as_made(op: OpRef<'_>, mut value: Value) -> Value {
    let cast = |value| op.at(op.body.defining_op(value)?).as_::<CastOp<'_>>();
    while let Some(cast) = cast(value) {
        value = cast.source();
    }
    value
}

fn side<'a>(op: OpRef<'a>, region: RegionRef<'a>) -> Built<Side<'a>> {
    let mut side = Side { args: &[], call: None, yielded: Vec::new(), condition: None };
    let Some(block) = region.entry() else { return Ok(side) };
    side.args = block.args();
    for inner in block.ops() {
        if let Some(call) = inner.as_::<CallOp<'_>>().filter(|_| side.call.is_none()) {
            side.call = Some(call);
        } else if let Some(end) = inner.as_::<YieldOp<'_>>() {
            side.yielded = end.results().map(|value| as_made(op, value)).collect();
        } else if let Some(end) = inner.as_::<ConditionOp<'_>>() {
            side.yielded = end.args().map(|value| as_made(op, value)).collect();
            side.condition = Some(end.condition());
        } else if !is_condition(inner) && !is_end(inner) {
            let error = inner.error(format!("has no place in '{}', whose regions make one call each", op.name_str()));
            return Err(Box::new(error.help("run `outline-regions` before this pass")));
        }
    }
    Ok(side)
}

/// What is done in a region: sizes are read, then comes a call, then what puts what it hands on in its place, and its sizes.
#[derive(Default)]
struct Done {
    read: Option<Read>,
    call: Option<Invocation>,
    moves: Vec<Move<Value>>,
    write: Option<(Value, Vec<Poly>)>,
}

/// Sizes that are read from a list.
struct Read {
    list: Value,
    what: String,
    sizes: Vec<Poly>,
    most: Vec<Poly>,
}

/// How a buffer comes to hold what it must.
#[derive(Clone, Copy)]
enum Move<T> {
    Copy(T, T),
    Exchange(T, T),
}

impl Done {
    fn emit(&self, b: &mut Builder<'_>, loc: Loc) {
        if let Some(Read { list, what, sizes, most }) = &self.read {
            ReadSizesOp::build(b, loc, *list, what, sizes, most);
        }
        if let Some(invocation) = &self.call {
            invoke(b, loc, invocation);
        }
        for step in &self.moves {
            match *step {
                Move::Copy(from, to) => drop(CopyOp::build(b, loc, from, to)),
                Move::Exchange(first, second) => drop(ExchangeOp::build(b, loc, first, second)),
            }
        }
        if let Some((list, sizes)) = &self.write {
            WriteSizesOp::build(b, loc, *list, sizes);
        }
    }
}

/// Whether a loop hands on what it carries at this place as it got it.
fn is_unchanged(before: &Side<'_>, after: &Side<'_>, index: usize) -> bool {
    let handed = after.yielded.get(index).and_then(|value| after.args.iter().position(|arg| arg == value));
    handed.is_some_and(|at| before.yielded.get(at) == before.args.get(index))
}

/// The exchanges, then the copies, each by the number of its pair and from where, after which each target holds what its source did;
/// `movable` are the buffers whose contents nobody needs but through the sources.
fn moves<T: Copy + Eq + Hash>(
    pairs: &[(T, T)],
    movable: &[T],
    same: &dyn Fn(T, T) -> bool,
) -> (Vec<Move<T>>, Vec<(usize, T)>) {
    // One target gets each content itself, where it can; others get copies.
    let mut owner: HashMap<T, T> = pairs.iter().filter(|(from, to)| from == to).copied().collect();
    for (from, to) in pairs {
        if movable.contains(from) && same(*from, *to) {
            owner.entry(*from).or_insert(*to);
        }
    }
    let owns = |from: &T, to: &T| owner.get(from) == Some(to);
    // Which buffer holds each content now.
    let mut place: HashMap<T, T> = HashMap::new();
    let mut moves = Vec::new();
    for (from, to) in pairs.iter().filter(|(from, to)| owns(from, to)) {
        let now = *place.get(from).unwrap_or(from);
        if now == *to {
            continue;
        }
        moves.push(Move::Exchange(*to, now));
        let pushed = place.iter().find(|(_, at)| *at == to).map_or(*to, |(content, _)| *content);
        place.insert(pushed, now);
        place.insert(*from, *to);
    }
    let copies = pairs.iter().enumerate().filter(|(_, (from, to))| !owns(from, to));
    let copies = copies.map(|(number, (from, _))| (number, *place.get(from).unwrap_or(from))).collect();
    (moves, copies)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What five buffers hold after the moves, by the number of the buffer that held it before.
    fn after(exchanges: &[Move<usize>], copies: &[(usize, usize)]) -> [usize; 5] {
        let mut held = [0, 1, 2, 3, 4];
        for step in exchanges {
            match step {
                Move::Exchange(a, b) => held.swap(*a, *b),
                Move::Copy(..) => panic!("copies come after exchanges"),
            }
        }
        let read: Vec<usize> = copies.iter().map(|(from, _)| held[*from]).collect();
        copies.iter().zip(read).for_each(|((_, to), content)| held[*to] = content);
        held
    }

    /// Every way in which three buffers get what five hold: only what goes to several of them, or cannot move, is copied.
    #[test]
    fn every_assignment_is_right_and_copies_what_it_must() {
        for code in 0..5usize.pow(3) {
            let sources = [code % 5, code / 5 % 5, code / 25];
            let pairs: Vec<(usize, usize)> = sources.iter().enumerate().map(|(to, from)| (*from, to)).collect();
            // The last one is somebody else's.
            let (exchanges, copies) = moves(&pairs, &[0, 1, 2, 3], &|_, _| true);
            let copies: Vec<(usize, usize)> = copies.iter().map(|(number, from)| (*from, pairs[*number].1)).collect();
            let held = after(&exchanges, &copies);
            assert_eq!(held[..3], sources, "{pairs:?}: {held:?}");
            assert_eq!(held[4], 4, "{pairs:?}: {held:?}");
            let mut distinct: Vec<usize> = sources.iter().copied().filter(|s| *s != 4).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(copies.len(), 3 - distinct.len(), "{pairs:?}");
        }
    }
}
