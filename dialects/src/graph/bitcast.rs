//! Elements taken for elements of another type: checks, folds, sizes and how it is run.

use smallvec::{SmallVec, smallvec};
use sutura_interp::{DType, Flow, Frame, Interpret, Value as Number};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::{Fold, FoldValue, Verify};
use sutura_ir::{Attr, AttrData, Context, OpRef, Type, Value};

use super::interp::{Ran, broken};
use super::ops::BitcastOp;
use super::shape_fn::{Inferred, ShapeEnv, ShapeFn};
use crate::complex::part_type;
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;
use crate::elements::memory_bits;

impl Verify for BitcastOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(cast) = op.as_::<BitcastOp<'_>>() else { return Ok(()) };
        let (from, to) = (op.ty(cast.input()), op.ty(cast.result()));
        if let Some((complex, parts)) = sides(op.cx, from, to) {
            return verify_parts(op, complex, parts, diags);
        }
        let width = |ty| memory_bits(op.cx, op.cx.element_type(ty));
        if width(from).is_none() || width(from) != width(to) {
            return Err(diags.report(op.error("takes elements for elements of another width")));
        }
        let (from, to) = (symbolic_shape(op.cx, from), symbolic_shape(op.cx, to));
        let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
        if from.len() != to.len() {
            return Err(diags.report(op.error("input and result differ in rank")));
        }
        let differ = |(a, b): (&Option<_>, &Option<_>)| super::verify::differ(a, b);
        match from.iter().zip(&to).position(differ) {
            Some(dim) => Err(diags.report(op.error(format!("input and result differ in dimension {dim}")))),
            None => Ok(()),
        }
    }
}

/// The tensor of complex elements and that of their parts, where elements of the one are taken for such of the other.
fn sides(cx: &Context, from: Type, to: Type) -> Option<(Type, Type)> {
    let is_part_of = |complex, part| part_type(cx, cx.element_type(complex)) == Some(cx.element_type(part));
    match (is_part_of(from, to), is_part_of(to, from)) {
        (true, _) => Some((from, to)),
        (_, true) => Some((to, from)),
        _ => None,
    }
}

/// Parts lie side by side in a last dimension of size 2.
fn verify_parts(op: OpRef<'_>, complex: Type, parts: Type, diags: &mut Diagnostics) -> Result<(), Reported> {
    let (Some(complex), Some(parts)) = (symbolic_shape(op.cx, complex), symbolic_shape(op.cx, parts)) else {
        return Ok(());
    };
    let fits = |(last, outer): (&Option<Poly>, &[Option<Poly>])| {
        last.as_ref().and_then(Poly::as_const) == Some(2)
            && outer.len() == complex.len()
            && !outer.iter().zip(&complex).any(|(a, b)| super::verify::differ(a, b))
    };
    if parts.split_last().is_some_and(fits) {
        return Ok(());
    }
    let message = "takes complex elements for their parts, which have one more dimension, the last one, of size 2";
    Err(diags.report(op.error(message)))
}

impl Fold for BitcastOp<'_> {
    /// Back to what it was, or of a constant, whose bytes stay.
    fn fold(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
        let cast = op.as_::<BitcastOp<'_>>()?;
        let ty = op.ty(cast.result());
        // The high bits of a byte are gone in an element of fewer bits.
        let widens =
            |from: Value| op.cx.bit_width(op.cx.element_type(op.ty(from))) >= op.cx.bit_width(op.cx.element_type(ty));
        let inner = op.body.defining_op(cast.input()).and_then(|def| op.at(def).as_::<BitcastOp<'_>>());
        if let Some(source) =
            inner.map(|inner| inner.input()).filter(|source| op.ty(*source) == ty && widens(cast.input()))
        {
            return Some(smallvec![FoldValue::Value(source)]);
        }
        let bits = |ty| op.cx.bit_width(op.cx.element_type(ty));
        if bits(op.ty(cast.input())) != bits(ty) {
            return None;
        }
        match op.cx.attr_data(constants.first().copied().flatten()?) {
            // One complex number repeated is two parts repeated, and no splat of them.
            AttrData::Dense { splat: true, .. } if sides(op.cx, op.ty(cast.input()), ty).is_some() => None,
            AttrData::Dense { data, splat, .. } if op.cx.encoding(ty).is_none() => {
                Some(smallvec![FoldValue::Attr(op.cx.attr(AttrData::Dense { ty, data, splat }))])
            }
            _ => None,
        }
    }
}

pub(super) struct BitcastShape;

impl ShapeFn for BitcastShape {
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let mut shape = op.operands().next().and_then(|input| env.shape(op, input)).unwrap_or_default();
        let types = op.operand_types().next().zip(op.result_types().next());
        if let Some((from, (complex, _))) = types.and_then(|(from, to)| Some((from, sides(op.cx, from, to)?))) {
            match complex == from {
                true => shape.push(Some(Poly::constant(2))),
                false => drop(shape.pop()),
            }
        }
        Inferred { shapes: vec![shape], contents: vec![None], ..Inferred::default() }
    }
}

pub(super) struct BitcastHook;

impl Interpret for BitcastHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(cast) = op.as_::<BitcastOp<'_>>() else { return broken().map_err(Into::into) };
        let dtype = DType::expect(op.cx, op.cx.element_type(op.ty(cast.result())))?;
        let input = frame.tensor(0)?;
        let of_parts = dtype.part() == Some(input.dtype()) || input.dtype().part() == Some(dtype);
        let tensor = if of_parts { input.interleaved()? } else { input.reinterpret(dtype)? };
        frame.set(0, Number::Tensor(tensor))?;
        Ok(Flow::Next)
    }
}
