//! Numbers that are stored as integers: upstream's dialect, with its text.

mod fold;
mod interp;
pub mod numbers;
mod ops;
mod parse;
mod scheme;
mod shape;
mod types;
mod verify;

use sutura_ir::interfaces::{InlineCallables, Inliner};
use sutura_ir::{Context, Dialect, DialectBuilder, Type};

pub(crate) use interp::check_shape;
pub use ops::*;
pub use scheme::{Along, along, check_type, stated_shape};
pub use types::{Affine, AnyType, CalibratedType, MAX_STORAGE_BITS, Scheme, Storage, UniformType};

/// The quant dialect.
#[derive(Clone, Copy, Debug)]
pub struct QuantDialect;

impl Dialect for QuantDialect {
    const NAME: &'static str = "quant";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description(
            "Numbers that are stored as integers: types that say what they express, and casts. `quant.qcast` rounds the quotient by \
             the scale to nearest even, adds the zero point and keeps to the bounds of what is stored; NaN becomes the zero point, as \
             zero does. `quant.dcast` subtracts the zero point, exactly, and multiplies. Both compute in `f32`, of `f64` in `f64`.",
        );
        d.ty("uniform", parse::uniform).ty("any", parse::any).ty("calibrated", parse::calibrated);
        d.op::<DequantizeCastOp<'_>>().op::<QuantizeCastOp<'_>>().op::<StorageCastOp<'_>>();
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        interp::register(d);
        shape::register(d);
    }
}

/// True for the types of the dialect.
pub fn is_quantized(cx: &Context, ty: Type) -> bool {
    uniform(cx, ty).is_some() || cx.type_as::<AnyType>(ty).is_some() || cx.type_as::<CalibratedType>(ty).is_some()
}

/// The type with scales that elements of `ty` have, or `ty` is.
pub fn uniform(cx: &Context, ty: Type) -> Option<&UniformType> {
    cx.type_as::<UniformType>(cx.element_type(ty))
}

/// As what a number of that type is stored, and what it expresses, where either is said.
pub fn parts(cx: &Context, ty: Type) -> (Option<Storage>, Option<Type>) {
    if let Some(uniform) = cx.type_as::<UniformType>(ty) {
        return (Some(uniform.storage), Some(uniform.expressed));
    }
    if let Some(any) = cx.type_as::<AnyType>(ty) {
        return (Some(any.storage), any.expressed);
    }
    (None, cx.type_as::<CalibratedType>(ty).map(|calibrated| calibrated.expressed))
}
