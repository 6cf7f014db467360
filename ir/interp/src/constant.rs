//! Constants: attributes as values.

use sutura_ir::asm::print::ELIDED;
use sutura_ir::types::{FloatKind, TypeData};
use sutura_ir::{Attr, AttrData, Context, Type};

use crate::buffer::Buffer;
use crate::error::Fault;
use crate::scalar::{DType, Scalar};
use crate::tensor::{Shape, Tensor};
use crate::value::Value;

/// The value of a typed constant attribute: integer, float, list of the two parts of a complex number,
/// or `dense` elements.
///
/// # Errors
/// When the attribute is no constant, is wider than 64 bits, or its elements do not fill its type.
pub fn constant(cx: &Context, attr: Attr) -> Result<Value, Fault> {
    match cx.attr_data(attr) {
        AttrData::Integer { ty, value } => Ok(Scalar::from_bits(DType::expect(cx, ty)?, value as u64).into()),
        AttrData::Float { ty, bits } => Ok(Scalar::from_bits(DType::expect(cx, ty)?, bits).into()),
        AttrData::Array(parts) => complex(cx, cx.list_attrs(parts)),
        AttrData::Dense { ty, data, splat } => shaped(cx, ty, dense(cx, ty, cx.bytes(data), splat)?),
        AttrData::BigInteger { .. } | AttrData::BigFloat { .. } => {
            Err(Fault::unsupported("numbers wider than 64 bits cannot be interpreted"))
        }
        AttrData::DenseResource { key, .. } if cx.str(key) == ELIDED => {
            Err(Fault::unsupported("the elements of this constant were left out when it was printed"))
        }
        AttrData::DenseResource { key, .. } => {
            Err(Fault::unsupported(format!("the constant `{}` lies in a resource that was not loaded", cx.str(key))))
        }
        _ => Err(Fault::unsupported("the attribute is no number and holds no numbers")),
    }
}

/// A complex number, written as the list of its parts.
fn complex(cx: &Context, parts: &[Attr]) -> Result<Value, Fault> {
    let part = |attr: &Attr| match cx.attr_data(*attr) {
        AttrData::Float { ty, bits } => Some((DType::of(cx, ty)?, bits)),
        _ => None,
    };
    match parts.iter().map(part).collect::<Option<Vec<_>>>().as_deref() {
        Some(&[(DType::Float(kind), re), (other, im)])
            if other == DType::Float(kind) && matches!(kind, FloatKind::F32 | FloatKind::F64) =>
        {
            Ok(Scalar::complex(kind, [re, im]).into())
        }
        _ => Err(Fault::unsupported("the attribute is no number: a complex one is a list of two f32 or two f64")),
    }
}

/// The static shape of a shaped type.
///
/// # Errors
/// When it is unranked or has dynamic dimensions.
pub fn static_shape(cx: &Context, ty: Type) -> Result<Shape, Fault> {
    let dims = cx.shape(ty).ok_or_else(|| Fault::invalid_ir("the type has no shape"))?;
    let size = |&d: &i64| usize::try_from(d).map_err(|_| Fault::invalid_ir("the type's shape is not static"));
    dims.iter().map(size).collect()
}

/// A tensor or vector value, as `ty` says.
///
/// # Errors
/// When `ty` is neither.
pub fn shaped(cx: &Context, ty: Type, value: Tensor) -> Result<Value, Fault> {
    match cx.type_data(ty) {
        TypeData::RankedTensor { .. } | TypeData::UnrankedTensor(_) => Ok(Value::Tensor(value)),
        TypeData::Vector { scalable, .. } => {
            if cx.ints(scalable).iter().any(|&s| s != 0) {
                return Err(Fault::unsupported("scalable vectors have no size to interpret them with"));
            }
            Ok(Value::Vector(value))
        }
        _ => Err(Fault::type_mismatch("the type is neither tensor nor vector")),
    }
}

fn dense(cx: &Context, ty: Type, bytes: &[u8], splat: bool) -> Result<Tensor, Fault> {
    let dtype = DType::expect(cx, cx.element_type(ty))?;
    let shape = static_shape(cx, ty)?;
    let data = Buffer::from_le_bytes(dtype, bytes)?;
    if !splat {
        return Tensor::new(shape, data);
    }
    if data.len() != 1 {
        return Err(Fault::invalid_ir(format!("a splat holds {} elements", data.len())));
    }
    Tensor::splat(data.read(0)?, &shape)
}
