//! Complex numbers: a subset of upstream's dialect, with its text.

mod fold;
mod interp;
mod ops;
mod verify;

use sutura_ir::interfaces::{InlineCallables, Inliner};
use sutura_ir::types::FloatKind;
use sutura_ir::{Attr, AttrData, Context, Dialect, DialectBuilder, Type, TypeData};

pub use interp::function;
pub use ops::*;

/// The complex dialect.
#[derive(Clone, Copy, Debug)]
pub struct ComplexDialect;

impl Dialect for ComplexDialect {
    const NAME: &'static str = "complex";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Complex numbers: arithmetic, comparison and functions of scalars of type `complex<T>`.")
            .partial();
        d.directive("FastMath", crate::arith::FAST_MATH).directive("OfParts", verify::OF_PARTS);
        d.materialize(fold::materialize);
        d.op::<ConstantOp<'_>>().op::<CreateOp<'_>>().op::<ReOp<'_>>().op::<ImOp<'_>>();
        d.op::<AddOp<'_>>().op::<SubOp<'_>>().op::<MulOp<'_>>().op::<DivOp<'_>>().op::<NegOp<'_>>().op::<ConjOp<'_>>();
        d.op::<AbsOp<'_>>().op::<AngleOp<'_>>().op::<EqualOp<'_>>().op::<NotEqualOp<'_>>();
        d.op::<ExpOp<'_>>().op::<LogOp<'_>>().op::<SqrtOp<'_>>().op::<SinOp<'_>>().op::<CosOp<'_>>();
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        interp::register(d);
    }
}

/// The type of the parts of a complex type.
pub fn part_type(cx: &Context, ty: Type) -> Option<Type> {
    match cx.type_data(ty) {
        TypeData::Complex(part) => Some(part),
        _ => None,
    }
}

/// True for the complex types that are computed with: those of `f32` and `f64`.
pub fn is_computed(cx: &Context, ty: Type) -> bool {
    matches!(part_type(cx, ty), Some(Type::F32 | Type::F64))
}

/// The parts of a complex number that is written as a list of them.
pub fn parts(cx: &Context, attr: Attr) -> Option<[Attr; 2]> {
    let [re, im] = cx.array(attr)? else { return None };
    let kind = |attr| match cx.attr_data(attr) {
        AttrData::Float { ty, .. } => cx.float_kind(ty),
        _ => None,
    };
    (kind(*re)? == kind(*im)?).then_some([*re, *im])
}

/// The type of a number: that of a typed attribute, or a complex one of a list of two floats.
pub fn number_type(cx: &Context, attr: Attr) -> Option<Type> {
    let complex = || Some(cx.ty(TypeData::Complex(cx.attr_type(parts(cx, attr)?[0])?)));
    cx.attr_type(attr).filter(|ty| part_type(cx, *ty).is_none()).or_else(complex)
}

/// The complex number with these parts, as an attribute.
pub fn number(cx: &Context, kind: FloatKind, [re, im]: [f64; 2]) -> Attr {
    let part = cx.ty(TypeData::Float(kind));
    cx.array_attr(&[cx.float_attr(re, part), cx.float_attr(im, part)])
}
