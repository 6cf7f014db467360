//! Values of the interpreted program.

use std::any::Any;
use std::sync::Arc;

use sutura_ir::types::{DYNAMIC, TypeData};
use sutura_ir::{Context, Type};

use crate::error::{Fault, FaultKind};
use crate::memory::MemRef;
use crate::scalar::{DType, Scalar};
use crate::tensor::Tensor;

/// A value that a dialect defines for a type of its own.
pub type OpaqueValue = Arc<dyn Any + Send + Sync>;

/// What an SSA value holds while the program runs.
#[derive(Clone)]
pub enum Value {
    /// Integer, index, float or complex number.
    Scalar(Scalar),
    /// Ranked or unranked tensor.
    Tensor(Tensor),
    /// Vector.
    Vector(Tensor),
    /// Memref.
    MemRef(Arc<MemRef>),
    /// Value of a dialect's own type.
    Opaque(OpaqueValue),
}

impl Value {
    /// `value : index`
    pub fn index(value: i64) -> Self {
        Self::Scalar(Scalar::index(value))
    }

    /// `value : iN`, wrapped to `width` bits.
    ///
    /// # Panics
    /// When `width` is not in 1..=64.
    pub fn int(value: i64, width: u8) -> Self {
        assert!((1..=64).contains(&width), "an integer of {width} bits");
        Self::Scalar(Scalar::int(value, DType::int(width)))
    }

    /// `value : i1`
    pub fn bool(value: bool) -> Self {
        Self::Scalar(Scalar::bool(value))
    }

    /// A tensor of `f32`.
    ///
    /// # Errors
    /// When the number of elements does not fit the shape.
    pub fn tensor_f32(values: Vec<f32>, shape: &[usize]) -> Result<Self, Fault> {
        Tensor::from_f32(values, shape).map(Self::Tensor)
    }

    /// A tensor of `i64`.
    ///
    /// # Errors
    /// When the number of elements does not fit the shape.
    pub fn tensor_i64(values: Vec<i64>, shape: &[usize]) -> Result<Self, Fault> {
        Tensor::from_i64(values, shape).map(Self::Tensor)
    }

    /// A value of a dialect's own type.
    pub fn opaque<T: Any + Send + Sync>(value: T) -> Self {
        Self::Opaque(Arc::new(value))
    }

    /// Elements and shape of an `f32` tensor or vector; a scalar has an empty shape.
    ///
    /// # Errors
    /// When the value is something else or holds undefined elements.
    pub fn to_f32(&self) -> Result<(Vec<f32>, Vec<usize>), Fault> {
        match self {
            Self::Scalar(s) if s.dtype() == DType::F32 => Ok((vec![f32::from_bits(s.bits() as u32)], Vec::new())),
            Self::Tensor(t) | Self::Vector(t) if t.dtype() == DType::F32 => {
                let values = t.data().as_f32().ok_or_else(crate::buffer::uninitialised)?;
                Ok((values.to_vec(), t.shape().to_vec()))
            }
            _ => Err(self.expected("f32 numbers")),
        }
    }

    /// The number.
    ///
    /// # Errors
    /// When the value is no scalar.
    pub fn scalar(&self) -> Result<Scalar, Fault> {
        match self {
            Self::Scalar(s) => Ok(*s),
            _ => Err(self.expected("a scalar")),
        }
    }

    /// The integer or index, sign-extended.
    ///
    /// # Errors
    /// When the value is no integer.
    pub fn as_int(&self) -> Result<i64, Fault> {
        self.scalar()?.as_i64().ok_or_else(|| self.expected("an integer"))
    }

    /// The condition.
    ///
    /// # Errors
    /// When the value is no integer.
    pub fn as_bool(&self) -> Result<bool, Fault> {
        self.scalar()?.as_bool().ok_or_else(|| self.expected("an integer"))
    }

    /// The tensor.
    ///
    /// # Errors
    /// When the value is none.
    pub fn tensor(&self) -> Result<&Tensor, Fault> {
        match self {
            Self::Tensor(t) => Ok(t),
            _ => Err(self.expected("a tensor")),
        }
    }

    /// The vector.
    ///
    /// # Errors
    /// When the value is none.
    pub fn vector(&self) -> Result<&Tensor, Fault> {
        match self {
            Self::Vector(t) => Ok(t),
            _ => Err(self.expected("a vector")),
        }
    }

    /// The memref.
    ///
    /// # Errors
    /// When the value is none.
    pub fn memref(&self) -> Result<&Arc<MemRef>, Fault> {
        match self {
            Self::MemRef(m) => Ok(m),
            _ => Err(self.expected("a memref")),
        }
    }

    /// A dialect's own value, when it is a `T`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn as_opaque<T: Any>(&self) -> Result<&T, Fault> {
        match self {
            Self::Opaque(o) => o.downcast_ref().ok_or_else(|| self.expected("another opaque value")),
            _ => Err(self.expected("an opaque value")),
        }
    }

    fn expected(&self, what: &str) -> Fault {
        Fault::type_mismatch(format!("expects {what} and got {}", self.describe()))
    }

    /// What the value is, in words, without its elements.
    pub fn describe(&self) -> String {
        let dims = |t: &Tensor| t.shape().iter().map(|d| format!("{d}x")).collect::<String>();
        match self {
            Self::Scalar(s) => format!("a scalar of type {}", s.dtype()),
            Self::Tensor(t) => format!("a tensor of type {}{}", dims(t), t.dtype()),
            Self::Vector(t) => format!("a vector of type {}{}", dims(t), t.dtype()),
            Self::MemRef(m) => {
                format!("a memref of type {}{}", m.sizes().iter().map(|d| format!("{d}x")).collect::<String>(), m.dtype)
            }
            Self::Opaque(_) => "an opaque value".to_owned(),
        }
    }

    /// Checks that the value may stand for an SSA value of type `ty`: class, element type, rank and static sizes.
    /// Types that the interpreter does not know are not checked.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn check_type(&self, cx: &Context, ty: Type) -> Result<(), Fault> {
        let data = cx.type_data(ty);
        let fits = match (self, data) {
            (
                Self::Scalar(s),
                TypeData::Index | TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Complex(_),
            ) => DType::of(cx, ty) == Some(s.dtype()),
            (Self::Tensor(t), TypeData::UnrankedTensor(elem)) => DType::of(cx, elem) == Some(t.dtype()),
            (Self::Tensor(t), TypeData::RankedTensor { shape, elem, .. })
            | (Self::Vector(t), TypeData::Vector { shape, elem, .. }) => {
                return check_shaped(cx, self, t.shape(), t.dtype(), cx.ints(shape), elem);
            }
            (Self::MemRef(m), TypeData::UnrankedMemRef { elem, .. }) => DType::of(cx, elem) == Some(m.dtype),
            (Self::MemRef(m), TypeData::MemRef { shape, elem, .. }) => {
                return check_shaped(cx, self, m.sizes(), m.dtype, cx.ints(shape), elem);
            }
            (Self::Opaque(_), _) => true,
            (_, TypeData::Ext(_) | TypeData::Opaque { .. }) => true,
            _ => false,
        };
        if fits { Ok(()) } else { Err(Fault::type_mismatch(format!("{} does not fit its type", self.describe()))) }
    }
}

fn check_shaped(
    cx: &Context,
    value: &Value,
    shape: &[usize],
    dtype: DType,
    declared: &[i64],
    elem: Type,
) -> Result<(), Fault> {
    // What a dialect's own elements (such as pointers) are held as is its own affair.
    let own = matches!(cx.type_data(elem), TypeData::Ext(_) | TypeData::Opaque { .. });
    if !own && DType::of(cx, elem) != Some(dtype) {
        let expected = DType::expect(cx, elem)?;
        return Err(Fault::type_mismatch(format!("{} stands for elements of type {expected}", value.describe())));
    }
    if shape.len() != declared.len() {
        let message = format!("{} stands for a type of rank {}", value.describe(), declared.len());
        return Err(Fault::shape(message));
    }
    for (dim, (&size, &want)) in shape.iter().zip(declared).enumerate() {
        if want != DYNAMIC && size as i64 != want {
            let message = format!("dimension {dim} has size {size} where the type says {want}");
            return Err(Fault::new(FaultKind::ShapeMismatch, message));
        }
    }
    Ok(())
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Scalar(s) => write!(f, "{s:?}"),
            Self::Tensor(t) => write!(f, "tensor {t:?}"),
            Self::Vector(t) => write!(f, "vector {t:?}"),
            Self::MemRef(m) => write!(f, "{m:?}"),
            Self::Opaque(_) => f.write_str("opaque"),
        }
    }
}

impl From<Scalar> for Value {
    fn from(value: Scalar) -> Self {
        Self::Scalar(value)
    }
}

impl From<f32> for Value {
    fn from(value: f32) -> Self {
        Self::Scalar(Scalar::f32(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Scalar(Scalar::f64(value))
    }
}

impl From<MemRef> for Value {
    fn from(value: MemRef) -> Self {
        Self::MemRef(Arc::new(value))
    }
}
