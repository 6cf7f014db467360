//! Tensors of a model: element types, bytes, constants as numbers.

use std::fmt;

use bytes::Bytes;
use half::{bf16, f16};

/// ONNX's element types, named as MLIR names them where it has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    F32,
    U8,
    I8,
    U16,
    I16,
    I32,
    I64,
    String,
    Bool,
    F16,
    F64,
    U32,
    U64,
    Complex64,
    Complex128,
    BF16,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    U4,
    I4,
    F4E2M1FN,
    F8E8M0FNU,
    U2,
    I2,
    F6E2M3FN,
    F6E3M2FN,
}

/// (type, name, bits per element; 0 for strings), in the order of ONNX's codes
/// from 1.
const TYPES: [(ElementType, &str, u32); 28] = {
    use ElementType::*;
    [
        (F32, "f32", 32),
        (U8, "u8", 8),
        (I8, "i8", 8),
        (U16, "u16", 16),
        (I16, "i16", 16),
        (I32, "i32", 32),
        (I64, "i64", 64),
        (String, "string", 0),
        (Bool, "bool", 8),
        (F16, "f16", 16),
        (F64, "f64", 64),
        (U32, "u32", 32),
        (U64, "u64", 64),
        (Complex64, "complex<f32>", 64),
        (Complex128, "complex<f64>", 128),
        (BF16, "bf16", 16),
        (F8E4M3FN, "f8E4M3FN", 8),
        (F8E4M3FNUZ, "f8E4M3FNUZ", 8),
        (F8E5M2, "f8E5M2", 8),
        (F8E5M2FNUZ, "f8E5M2FNUZ", 8),
        (U4, "u4", 4),
        (I4, "i4", 4),
        (F4E2M1FN, "f4E2M1FN", 4),
        (F8E8M0FNU, "f8E8M0FNU", 8),
        (U2, "u2", 2),
        (I2, "i2", 2),
        (F6E2M3FN, "f6E2M3FN", 6),
        (F6E3M2FN, "f6E3M2FN", 6),
    ]
};

impl ElementType {
    /// The type with ONNX's number `code`, if there is one.
    pub fn from_code(code: i64) -> Option<Self> {
        let index = usize::try_from(code.checked_sub(1)?).ok()?;
        TYPES.get(index).map(|t| t.0)
    }

    /// ONNX's number of the type.
    pub fn code(self) -> i32 {
        self as i32 + 1
    }

    /// The type called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        TYPES.iter().find(|t| t.1 == name).map(|t| t.0)
    }

    pub fn name(self) -> &'static str {
        TYPES[self as usize].1
    }

    /// Bits of one element in a tensor's bytes; none for strings.
    pub fn bits(self) -> Option<u32> {
        let bits = TYPES[self as usize].2;
        (bits > 0).then_some(bits)
    }

    /// Bytes that `elements` packed elements take; none for strings and when
    /// the number does not fit.
    pub fn byte_len(self, elements: u64) -> Option<u64> {
        Some(elements.checked_mul(self.bits()?.into())?.div_ceil(8))
    }

    /// Whether tensors of this type can be computed with: all but strings and
    /// complex numbers.
    pub fn is_numeric(self) -> bool {
        self.is_moved() && !self.is_complex()
    }

    /// Whether elements are complex numbers, which ONNX has for operators alone that move elements.
    pub fn is_complex(self) -> bool {
        matches!(self, Self::Complex64 | Self::Complex128)
    }

    /// Whether tensors of this type can be inputs, outputs and constants: all but strings.
    pub fn is_moved(self) -> bool {
        self != Self::String
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A constant tensor.
///
/// Cloning shares the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Empty for tensors held by attributes.
    pub name: String,
    pub element: ElementType,
    pub dims: Vec<u64>,
    pub data: TensorData,
}

/// A tensor's content, row-major.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorData {
    /// Little-endian elements without gaps, not necessarily aligned; types
    /// below 8 bits fill each byte from its low end. The length always agrees
    /// with the shape.
    Packed(Bytes),
    Strings(Vec<Bytes>),
}

/// One element as a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Float(f64),
    Int(i128),
    Bool(bool),
}

impl Tensor {
    /// A rank-1 tensor of `i64`.
    pub(super) fn from_ints(values: &[i64]) -> Self {
        Self {
            name: String::new(),
            element: ElementType::I64,
            dims: vec![values.len() as u64],
            data: TensorData::Packed(values.iter().flat_map(|v| v.to_le_bytes()).collect()),
        }
    }

    /// A rank-1 tensor of `f32`.
    pub(super) fn from_floats(values: &[f32]) -> Self {
        Self {
            name: String::new(),
            element: ElementType::F32,
            dims: vec![values.len() as u64],
            data: TensorData::Packed(values.iter().flat_map(|v| v.to_le_bytes()).collect()),
        }
    }

    /// The same data with rank 0; the tensor must have one element.
    pub(super) fn into_scalar(mut self) -> Self {
        self.dims.clear();
        self
    }

    /// Number of elements. It fits, because the tensor was checked.
    pub fn elements(&self) -> u64 {
        element_count(&self.dims).expect("checked when the tensor was made")
    }

    /// The packed bytes; none for strings.
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.data {
            TensorData::Packed(bytes) => Some(bytes),
            TensorData::Strings(_) => None,
        }
    }

    /// A byte for each element of less than 8 bits, which ONNX packs from the low end of each byte, with the sign above it, or zeros;
    /// none for strings.
    pub fn unpacked(&self) -> Option<impl ExactSizeIterator<Item = u8> + '_> {
        let bits = self.element.bits()?;
        let count = usize::try_from(self.elements()).ok()?;
        let bytes = self.bytes()?;
        let is_signed = matches!(self.element, ElementType::I2 | ElementType::I4);
        let unused = 8 - bits;
        let number = move |at: usize| {
            let bit = at * bits as usize;
            // An element of 6 bits may lie in two bytes.
            let next = bytes.get(bit / 8 + 1).copied().unwrap_or(0);
            let both = u16::from_le_bytes([bytes[bit / 8], next]);
            let high = ((both >> (bit % 8)) as u8) << unused;
            if is_signed { (high.cast_signed() >> unused).cast_unsigned() } else { high >> unused }
        };
        Some((0..count).map(number))
    }

    /// The elements of an integer tensor whose values fit in `i64`.
    pub fn ints(&self) -> Option<Vec<i64>> {
        self.scalars()?
            .map(|s| match s {
                Scalar::Int(v) => i64::try_from(v).ok(),
                _ => None,
            })
            .collect()
    }

    /// The value of a tensor with exactly one element, of whatever rank.
    pub fn scalar(&self) -> Option<Scalar> {
        let mut all = self.scalars()?;
        match (all.next(), all.next()) {
            (Some(value), None) => Some(value),
            _ => None,
        }
    }

    /// The elements as numbers; none for types that have no such view here
    /// (strings, complex, and floats and integers below 8 bits or of 8 bits
    /// with an exponent).
    pub fn scalars(&self) -> Option<impl Iterator<Item = Scalar> + '_> {
        let decode = decoder(self.element)?;
        let size = usize::try_from(self.element.bits()? / 8).ok()?;
        Some(self.bytes()?.chunks_exact(size).map(decode))
    }
}

/// Product of the dims; none when it does not fit in `u64`.
pub(super) fn element_count(dims: &[u64]) -> Option<u64> {
    if dims.contains(&0) {
        return Some(0);
    }
    dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d))
}

fn decoder(element: ElementType) -> Option<fn(&[u8]) -> Scalar> {
    macro_rules! le {
        ($t:ty) => {
            <$t>::from_le_bytes
        };
    }
    /// A chunk of `chunks_exact(N)` as an array.
    fn array<const N: usize>(chunk: &[u8]) -> [u8; N] {
        chunk.try_into().expect("chunk of the element's size")
    }
    Some(match element {
        ElementType::F32 => |b| Scalar::Float(le!(f32)(array(b)).into()),
        ElementType::F64 => |b| Scalar::Float(le!(f64)(array(b))),
        ElementType::F16 => |b| Scalar::Float(le!(f16)(array(b)).into()),
        ElementType::BF16 => |b| Scalar::Float(le!(bf16)(array(b)).into()),
        ElementType::Bool => |b| Scalar::Bool(b[0] != 0),
        ElementType::I8 => |b| Scalar::Int(le!(i8)(array(b)).into()),
        ElementType::I16 => |b| Scalar::Int(le!(i16)(array(b)).into()),
        ElementType::I32 => |b| Scalar::Int(le!(i32)(array(b)).into()),
        ElementType::I64 => |b| Scalar::Int(le!(i64)(array(b)).into()),
        ElementType::U8 => |b| Scalar::Int(le!(u8)(array(b)).into()),
        ElementType::U16 => |b| Scalar::Int(le!(u16)(array(b)).into()),
        ElementType::U32 => |b| Scalar::Int(le!(u32)(array(b)).into()),
        ElementType::U64 => |b| Scalar::Int(le!(u64)(array(b)).into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_the_order_of_the_codes() {
        for (i, (element, _, _)) in TYPES.into_iter().enumerate() {
            assert_eq!(element as usize, i);
            assert_eq!(ElementType::from_code(i as i64 + 1), Some(element));
            assert_eq!(ElementType::from_code(element.code().into()), Some(element));
        }
        for bad in [i64::MIN, -1, 0, 29, i64::MAX] {
            assert_eq!(ElementType::from_code(bad), None);
        }
    }

    #[test]
    fn byte_len_rounds_up_and_does_not_overflow() {
        assert_eq!(ElementType::U4.byte_len(3), Some(2));
        assert_eq!(ElementType::U2.byte_len(5), Some(2));
        assert_eq!(ElementType::F6E2M3FN.byte_len(4), Some(3));
        assert_eq!(ElementType::F32.byte_len(u64::MAX), None);
        assert_eq!(ElementType::String.byte_len(1), None);
        assert_eq!(element_count(&[u64::MAX, 2]), None);
        assert_eq!(element_count(&[u64::MAX, 2, 0]), Some(0));
        assert_eq!(element_count(&[]), Some(1));
    }

    #[test]
    fn numbers() {
        let t = Tensor::from_ints(&[-1, 0, i64::MAX]);
        assert_eq!(t.ints(), Some(vec![-1, 0, i64::MAX]));
        assert_eq!(t.scalar(), None);
        let t = Tensor::from_floats(&[0.5]).into_scalar();
        assert_eq!((t.elements(), t.scalar()), (1, Some(Scalar::Float(0.5))));
        assert_eq!(t.ints(), None);
        let half =
            Tensor { element: ElementType::F16, data: TensorData::Packed(Bytes::from_static(&[0x00, 0xc0])), ..t };
        assert_eq!(half.scalar(), Some(Scalar::Float(-2.0)));
    }
}
