//! Element types and constants.

use bytes::Bytes;
use sutura_dialects::elements::scalar_type;
use sutura_ir::types::{FloatKind, Signedness, TypeData};
use sutura_ir::{Attr, AttrData, Context, Type};

use super::super::tensor::{ElementType, Scalar, Tensor};

/// The IR's type for elements of an ONNX tensor.
///
/// # Errors
/// Says that it is not supported.
pub(in super::super) fn element_type(cx: &Context, element: ElementType) -> Result<Type, String> {
    use ElementType as E;
    let float = |kind| Ok(cx.ty(TypeData::Float(kind)));
    let unsigned = |width| Ok(cx.ty(TypeData::Integer { width, sign: Signedness::Unsigned }));
    let signless = |width| Ok(cx.ty(TypeData::Integer { width, sign: Signedness::Signless }));
    match element {
        E::F32 => Ok(Type::F32),
        E::F64 => Ok(Type::F64),
        E::F16 => Ok(Type::F16),
        E::BF16 => Ok(Type::BF16),
        E::Bool => Ok(Type::I1),
        E::I8 => Ok(Type::I8),
        E::I16 => Ok(Type::I16),
        E::I32 => Ok(Type::I32),
        E::I64 => Ok(Type::I64),
        E::I2 => signless(2),
        E::I4 => signless(4),
        E::U2 => unsigned(2),
        E::U4 => unsigned(4),
        E::U8 => unsigned(8),
        E::U16 => unsigned(16),
        E::U32 => unsigned(32),
        E::U64 => unsigned(64),
        E::F8E4M3FN => float(FloatKind::F8E4M3FN),
        E::F8E4M3FNUZ => float(FloatKind::F8E4M3FNUZ),
        E::F8E5M2 => float(FloatKind::F8E5M2),
        E::F8E5M2FNUZ => float(FloatKind::F8E5M2FNUZ),
        E::F8E8M0FNU => float(FloatKind::F8E8M0FNU),
        E::F4E2M1FN => float(FloatKind::F4E2M1FN),
        E::Complex64 => Ok(cx.ty(TypeData::Complex(Type::F32))),
        E::Complex128 => Ok(cx.ty(TypeData::Complex(Type::F64))),
        other => Err(format!("tensors of {other} are not supported")),
    }
}

/// A tensor as a dense constant, whose elements are those of the model, and no copy.
///
/// # Errors
/// When its element type is not supported or a dim is too large.
pub(super) fn dense(cx: &Context, tensor: &Tensor) -> Result<Attr, String> {
    let elem = element_type(cx, tensor.element)?;
    let dims = tensor.dims.iter().map(|d| i64::try_from(*d)).collect::<Result<Vec<i64>, _>>();
    let dims = dims.map_err(|_| "a constant has a dim that does not fit 64 bits".to_string())?;
    let ty = cx.tensor_type(&dims, elem, None);
    let bytes = elements(cx, tensor).ok_or("strings are not supported")?;
    let width = tensor.element.bits().map_or(1, |b| b.div_ceil(8)) as usize;
    let first = bytes.get(..width).unwrap_or_default();
    let splat = !bytes.is_empty() && bytes.chunks_exact(width).all(|c| c == first);
    let data = if splat { cx.blob(first) } else { cx.blob_of(bytes) };
    Ok(cx.attr(AttrData::Dense { ty, data, splat }))
}

/// The elements of a tensor as the IR has them, each in bytes of its own.
fn elements(cx: &Context, tensor: &Tensor) -> Option<Bytes> {
    let stored = tensor.bytes()?;
    match tensor.element {
        // Any byte but 0 is true.
        ElementType::Bool => Some(made(cx, stored.iter().map(|b| u8::from(*b != 0)))),
        _ if tensor.element.bits().is_some_and(|bits| bits < 8) => Some(made(cx, tensor.unpacked()?)),
        _ => Some(stored.clone()),
    }
}

fn made(cx: &Context, bytes: impl ExactSizeIterator<Item = u8>) -> Bytes {
    let mut room = cx.room(bytes.len());
    (*room).as_mut().iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    room.keep()
}

/// A number as an attribute of type `ty`.
pub(in super::super) fn number(cx: &Context, value: Scalar, ty: Type) -> Attr {
    let float = match value {
        Scalar::Float(v) => v,
        Scalar::Int(v) => v as f64,
        Scalar::Bool(v) => f64::from(u8::from(v)),
    };
    if ty.is_float(cx) {
        return cx.float_attr(float, ty);
    }
    let int = match value {
        Scalar::Float(v) => v as i64,
        Scalar::Int(v) => v as i64,
        Scalar::Bool(v) => i64::from(v),
    };
    cx.int_attr(int, scalar_type(cx, ty))
}
