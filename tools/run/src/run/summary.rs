//! What a tensor is, in a line.

use sutura_ir::float;
use sutura_runtime::{ElementType, Tensor};

use crate::tensors;

/// What a tensor is, and its elements when they are few.
pub(super) fn summary(name: &str, tensor: &Tensor) -> String {
    const FEW: usize = 16;
    let dims: Vec<String> = tensor.dims().iter().map(i64::to_string).collect();
    let head = format!("{name}: {}[{}]", tensor.element_type(), dims.join(", "));
    if tensor.len() <= FEW {
        return format!("{head} = {}", elements(tensor));
    }
    let floats: Vec<f64> = match (tensor.as_slice::<f32>(), tensor.as_slice::<f64>()) {
        (Some(values), _) => values.iter().map(|v| f64::from(*v)).collect(),
        (_, Some(values)) => values.to_vec(),
        _ => return head,
    };
    let numbers = || floats.iter().copied().filter(|v| !v.is_nan());
    let (least, most) = numbers().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), v| (l.min(v), m.max(v)));
    let (sum, nans) = (numbers().sum::<f64>(), floats.len() - numbers().count());
    let mean = sum / (floats.len() - nans).max(1) as f64;
    let nans = if nans > 0 { format!(", {nans} NaN") } else { String::new() };
    match tensor.element_type() {
        // As short as their own type has them.
        ElementType::F32 => format!("{head}, {} to {}, mean {mean:.6}{nans}", least as f32, most as f32),
        _ => format!("{head}, {least} to {most}, mean {mean:.6}{nans}"),
    }
}

/// The elements as text.
fn elements(tensor: &Tensor) -> String {
    macro_rules! of {
        ($($rust:ty),*) => {
            $(if let Some(values) = tensor.as_slice::<$rust>() {
                return format!("{values:?}");
            })*
        };
    }
    of!(f32, f64, i8, u8, i16, u16, i32, u32, i64, u64);
    if let Some((bits, signed)) = tensors::short_integer(tensor.element_type()) {
        let number = |byte: &u8| match signed {
            true => byte.cast_signed() << (8 - bits) >> (8 - bits),
            false => (byte & ((1 << bits) - 1)).cast_signed(),
        };
        return format!("{:?}", tensor.bytes().iter().map(number).collect::<Vec<_>>());
    }
    let codes = tensor.bytes().chunks_exact(tensor.element_type().bytes());
    match tensors::small_float(tensor.element_type()) {
        Some(kind) => {
            let code = |bytes: &[u8]| match bytes {
                [low, high] => u64::from(u16::from_ne_bytes([*low, *high])),
                other => u64::from(other[0]),
            };
            format!("{:?}", codes.map(|bytes| float::to_f64(kind, code(bytes))).collect::<Vec<_>>())
        }
        // What is left is booleans.
        None => format!("{:?}", codes.map(|bytes| bytes[0] != 0).collect::<Vec<_>>()),
    }
}
