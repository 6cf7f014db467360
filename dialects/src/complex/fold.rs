//! Folding of complex ops: those whose result every machine gives alike, bit by bit.

use sutura_interp::{ComplexFn, Scalar};
use sutura_ir::builder::Builder;
use sutura_ir::op_def::{Fold, FoldValue};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Attr, AttrData, Context, Loc, Op, OpRef, Type};

use super::ops::{AddOp, ConjOp, CreateOp, ImOp, MulOp, NegOp, ReOp, SubOp};
use super::{number_type, parts};

type Folded = Option<SmallVec<[FoldValue; 1]>>;

fn number(cx: &Context, attr: Attr) -> Option<Scalar> {
    sutura_interp::constant::constant(cx, attr).ok()?.scalar().ok()
}

fn attr(cx: &Context, number: Scalar) -> Attr {
    let of = |number: Scalar| cx.attr(AttrData::Float { ty: number.dtype().to_type(cx), bits: number.bits() });
    match number.parts() {
        Some(parts) => cx.array_attr(&parts.map(of)),
        None => of(number),
    }
}

/// The function of constants; one that is NaN is left to the machine, as its sign and payload are.
fn constants(op: OpRef<'_>, function: ComplexFn, constants: &[Option<Attr>]) -> Folded {
    let numbers = constants.iter().map(|c| number(op.cx, (*c)?)).collect::<Option<SmallVec<[Scalar; 2]>>>()?;
    let made = function.eval(&numbers).ok()?;
    let parts = made.parts().map_or(smallvec![made], SmallVec::<[Scalar; 2]>::from);
    let is_nan = parts.iter().any(|part| part.as_f64().is_some_and(f64::is_nan));
    (!is_nan).then(|| smallvec![FoldValue::Attr(attr(op.cx, made))])
}

/// Operand `k` of the op that creates the operand of `op`.
fn created(op: OpRef<'_>, k: usize) -> Folded {
    let create = op.at(op.body.defining_op(op.operand(0))?);
    create.is::<CreateOp<'_>>().then(|| smallvec![FoldValue::Value(create.operand(k))])
}

/// The operand of the same op on the operand.
fn twice(op: OpRef<'_>) -> Folded {
    let inner = op.at(op.body.defining_op(op.operand(0))?);
    (inner.name_str() == op.name_str()).then(|| smallvec![FoldValue::Value(inner.operand(0))])
}

macro_rules! folds {
    ($($op:ident => $function:ident, $otherwise:expr;)*) => {$(
        impl Fold for $op<'_> {
            fn fold(op: OpRef<'_>, operands: &[Option<Attr>]) -> Folded {
                let otherwise: fn(OpRef<'_>) -> Folded = $otherwise;
                constants(op, ComplexFn::$function, operands).or_else(|| otherwise(op))
            }
        }
    )*};
}

folds! {
    AddOp => Add, |_| None;
    SubOp => Sub, |_| None;
    MulOp => Mul, |_| None;
    NegOp => Neg, twice;
    ConjOp => Conj, twice;
    ReOp => Re, |op| created(op, 0);
    ImOp => Im, |op| created(op, 1);
    CreateOp => Create, recreated;
}

/// The number whose parts, in order, are put together again.
fn recreated(op: OpRef<'_>) -> Folded {
    let part = |k: usize| Some(op.at(op.body.defining_op(op.operand(k))?));
    let (re, im) = (part(0)?, part(1)?);
    let whole = re.is::<ReOp<'_>>() && im.is::<ImOp<'_>>() && re.operand(0) == im.operand(0);
    whole.then(|| smallvec![FoldValue::Value(re.operand(0))])
}

/// A constant: of this dialect where it is complex, of `arith` where it is a part.
pub(super) fn materialize(b: &mut Builder<'_>, loc: Loc, value: Attr, ty: Type) -> Option<Op> {
    if b.cx().attr_type(value).is_some() {
        return crate::arith::materialize(b, loc, value, ty);
    }
    let parts = parts(b.cx(), value).filter(|_| number_type(b.cx(), value) == Some(ty))?;
    Some(super::ConstantOp::build(b, loc, &parts, ty))
}
