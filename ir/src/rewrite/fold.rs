//! Folding of one op: constants to the right, what traits promise, then the op's own fold.

use smallvec::SmallVec;

use super::constants::{Constants, constant_value, materialize};
use crate::attrs::Attr;
use crate::body::{Body, Op, Value};
use crate::builder::Listener;
use crate::context::{Context, Ident};
use crate::interfaces::CastLike;
use crate::op_def::{FoldValue, Traits};
use crate::op_ref::OpRef;
use crate::rewriter::Rewriter;

/// What folding an op came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Folded {
    /// Nothing changed.
    No,
    /// Operands were reordered.
    InPlace,
    /// The results are these values.
    Values(SmallVec<[Value; 1]>),
}

type Constant = Option<Attr>;

/// Folds `op` as far as values exist for it; the caller replaces it.
pub(super) fn fold(
    cx: &Context,
    body: &mut Body,
    op: Op,
    constants: &mut Constants,
    value_name: Ident,
    listener: &mut dyn Listener,
) -> Folded {
    let Some(def) = body.name(op).def(cx) else { return Folded::No };
    if def.traits.has(Traits::ConstantLike) {
        return Folded::No;
    }
    let mut operands: SmallVec<[Constant; 4]> = SmallVec::new();
    operands.extend(body.operands(op).map(|v| {
        let definition = body.defining_op(v)?;
        constant_value(cx, body, definition, value_name)
    }));
    let mut moved = false;
    if def.traits.has(Traits::Commutative) && is_unsorted(&operands) {
        sort_operands(cx, body, op, &mut operands, listener);
        moved = true;
    }
    let found = fold_values(OpRef::new(cx, body, op), &operands);
    match found.and_then(|found| realize(cx, body, op, &found, constants, listener)) {
        Some(values) => Folded::Values(values),
        None if skip_cast(cx, body, op, listener) => Folded::InPlace,
        None if moved => Folded::InPlace,
        None => Folded::No,
    }
}

/// What the results of `op` are when its operands have the given constant values; `None` when nothing folds.
pub fn fold_values(op: OpRef<'_>, operands: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
    let def = op.def()?;
    fold_by_trait(op, def.traits)
        .or_else(|| fold_to_same_type(op))
        .or_else(|| def.fold.and_then(|fold| fold(op, operands)))
}

/// True when a constant stands before an operand that is none.
fn is_unsorted(operands: &[Constant]) -> bool {
    operands.windows(2).any(|w| w[0].is_some() && w[1].is_none())
}

/// Moves constant operands behind the others, both in their order.
fn sort_operands(cx: &Context, body: &mut Body, op: Op, operands: &mut [Constant], listener: &mut dyn Listener) {
    let mut pairs: SmallVec<[(Value, Constant); 4]> = body.operands(op).zip(operands.iter().copied()).collect();
    pairs.sort_by_key(|(_, constant)| constant.is_some());
    let values: SmallVec<[Value; 4]> = pairs.iter().map(|(v, _)| *v).collect();
    for (slot, (_, constant)) in operands.iter_mut().zip(&pairs) {
        *slot = *constant;
    }
    // Operands are rewritten in place: no new slots for what is only a permutation.
    let mut rewriter = Rewriter::with_listener(cx, body, listener);
    for (index, value) in values.into_iter().enumerate() {
        rewriter.set_operand(op, index, value);
    }
}

/// `f(f(x))` is `f(x)` for an idempotent `f`, and `x` for an involution.
fn fold_by_trait(op: OpRef<'_>, traits: Traits) -> Option<SmallVec<[FoldValue; 1]>> {
    if !traits.has(Traits::Idempotent) && !traits.has(Traits::Involution) {
        return None;
    }
    if op.num_operands() != 1 || op.num_results() != 1 {
        return None;
    }
    let inner = op.at(op.body.defining_op(op.operand(0))?);
    if inner.name() != op.name() || op.body.props(inner.op) != op.body.props(op.op) {
        return None;
    }
    let value = if traits.has(Traits::Involution) { inner.operand(0) } else { op.operand(0) };
    (op.ty(value) == op.ty(op.result(0))).then(|| SmallVec::from_elem(FoldValue::Value(value), 1))
}

/// A cast to the types that the operands have.
fn fold_to_same_type(op: OpRef<'_>) -> Option<SmallVec<[FoldValue; 1]>> {
    let changes_nothing = op.num_results() != 0 && op.operand_types().eq(op.result_types());
    (changes_nothing && op.interface::<dyn CastLike>().is_some()).then(|| op.operands().map(FoldValue::Value).collect())
}

/// Makes a cast of a cast one of what was cast first, where that is the same.
fn skip_cast(cx: &Context, body: &mut Body, op: Op, listener: &mut dyn Listener) -> bool {
    let Some(input) = skipped_cast(OpRef::new(cx, body, op)) else { return false };
    Rewriter::with_listener(cx, body, listener).set_operand(op, 0, input);
    true
}

fn skipped_cast(op: OpRef<'_>) -> Option<Value> {
    (op.num_operands() == 1 && op.num_results() == 1).then_some(())?;
    let inner = op.at(op.body.defining_op(op.operand(0))?);
    (inner.name() == op.name() && inner.num_operands() == 1 && inner.num_results() == 1).then_some(())?;
    let cast = op.interface::<dyn CastLike>()?;
    [op, inner].iter().all(|o| op.cx.entries(o.body.props(o.op)).is_empty()).then_some(())?;
    let [from, middle, to] = [inner.operand(0), op.operand(0), op.result(0)].map(|v| op.ty(v));
    let fits = from == to || cast.are_compatible(op.cx, &[from], &[to]);
    (fits && cast.may_skip(op.cx, from, middle, to)).then(|| inner.operand(0))
}

/// Turns what an op folds to into values; `None` when a constant cannot be made or a type does not fit.
fn realize(
    cx: &Context,
    body: &mut Body,
    op: Op,
    found: &[FoldValue],
    constants: &mut Constants,
    listener: &mut dyn Listener,
) -> Option<SmallVec<[Value; 1]>> {
    debug_assert_eq!(found.len(), body.num_results(op), "a fold gives one value per result");
    if found.is_empty() || found.len() != body.num_results(op) {
        return None;
    }
    let mut values = SmallVec::new();
    for (index, value) in found.iter().enumerate() {
        let result = body.result(op, index);
        let ty = body.ty(result);
        values.push(match *value {
            FoldValue::Value(value) if value == result || body.ty(value) != ty => return None,
            FoldValue::Value(value) => value,
            FoldValue::Attr(attr) => {
                let known = constants.get(cx, body, op, attr, ty);
                let constant = match known {
                    Some(known) => known,
                    None => {
                        let made = materialize(cx, body, op, attr, ty, listener)?;
                        constants.made(cx, body, op, attr, ty, made);
                        made
                    }
                };
                body.result(constant, 0)
            }
        });
    }
    Some(values)
}
