//! Element types and single numbers, bit-exact in their own format.

use sutura_ir::float;
use sutura_ir::types::{FloatKind, Signedness, TypeData};
use sutura_ir::{Context, Type};

use crate::error::Fault;

/// An element type that the interpreter computes with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DType {
    /// `iN`, `siN` or `uiN` with 1 to 64 bits.
    Int {
        /// Width in bits.
        width: u8,
        /// True for `uiN`, whose values are zero-extended.
        unsigned: bool,
    },
    /// `index`, 64 bits wide.
    Index,
    /// A float of at most 64 bits.
    Float(FloatKind),
    /// `complex<f32>` or `complex<f64>`: two floats, which are computed with one by one, see [`crate::complex`].
    Complex(FloatKind),
}

impl DType {
    /// `i1`
    pub const I1: Self = Self::int(1);
    /// `i8`
    pub const I8: Self = Self::int(8);
    /// `i32`
    pub const I32: Self = Self::int(32);
    /// `i64`
    pub const I64: Self = Self::int(64);
    /// `f16`
    pub const F16: Self = Self::Float(FloatKind::F16);
    /// `bf16`
    pub const BF16: Self = Self::Float(FloatKind::BF16);
    /// `f32`
    pub const F32: Self = Self::Float(FloatKind::F32);
    /// `f64`
    pub const F64: Self = Self::Float(FloatKind::F64);
    /// `complex<f32>`
    pub const C64: Self = Self::Complex(FloatKind::F32);
    /// `complex<f64>`
    pub const C128: Self = Self::Complex(FloatKind::F64);

    /// `iN`
    pub const fn int(width: u8) -> Self {
        Self::Int { width, unsigned: false }
    }

    /// The element type that `ty` is, of a dialect's type that as which it is held; `None` for a type that is no number or too wide.
    pub fn of(cx: &Context, ty: Type) -> Option<Self> {
        match cx.type_data(ty) {
            TypeData::Index => Some(Self::Index),
            TypeData::Integer { width: width @ 1..=64, sign } => {
                Some(Self::Int { width: width as u8, unsigned: sign == Signedness::Unsigned })
            }
            TypeData::Float(kind) if kind.bits() <= 64 => Some(Self::Float(kind)),
            TypeData::Complex(Type::F32) => Some(Self::C64),
            TypeData::Complex(Type::F64) => Some(Self::C128),
            TypeData::Ext(_) => Self::of(cx, cx.storage_type(ty)?),
            _ => None,
        }
    }

    /// The type of a number of type `ty` that is no element: one that is held as an integer without sign is signless.
    pub fn of_scalar(cx: &Context, ty: Type) -> Option<Self> {
        match Self::of(cx, ty)? {
            Self::Int { width, .. } if matches!(cx.type_data(ty), TypeData::Ext(_)) => Some(Self::int(width)),
            other => Some(other),
        }
    }

    /// Like [`DType::of_scalar`].
    ///
    /// # Errors
    /// Names the kind of type that is not supported.
    pub fn expect_scalar(cx: &Context, ty: Type) -> Result<Self, Fault> {
        Self::of_scalar(cx, ty).map_or_else(|| Self::expect(cx, ty), Ok)
    }

    /// Like [`DType::of`].
    ///
    /// # Errors
    /// Names the kind of type that is not supported.
    pub fn expect(cx: &Context, ty: Type) -> Result<Self, Fault> {
        Self::of(cx, ty).ok_or_else(|| {
            Fault::unsupported(match cx.type_data(ty) {
                TypeData::Integer { width, .. } => format!("integers of {width} bits cannot be interpreted"),
                TypeData::Float(kind) => format!("floats of type {} cannot be interpreted", kind.keyword()),
                TypeData::Complex(_) => {
                    "complex numbers cannot be interpreted unless they are complex<f32> or complex<f64>".to_owned()
                }
                _ => "the type has no numbers to interpret".to_owned(),
            })
        })
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Int { width, .. } => width.into(),
            Self::Index => 64,
            Self::Float(kind) => kind.bits(),
            Self::Complex(kind) => 2 * kind.bits(),
        }
    }

    /// Bytes that one element takes in memory: the width rounded up to whole bytes, as dense attributes have it.
    pub fn bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// True for floats.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float(_))
    }

    /// True for integers and `index`.
    pub fn is_integer(self) -> bool {
        matches!(self, Self::Int { .. } | Self::Index)
    }

    /// Of complex numbers, the type of both parts.
    pub fn part(self) -> Option<Self> {
        match self {
            Self::Complex(kind) => Some(Self::Float(kind)),
            _ => None,
        }
    }

    /// The IR type.
    pub fn to_type(self, cx: &Context) -> Type {
        match self {
            Self::Index => Type::INDEX,
            Self::Int { width, unsigned: false } => cx.int_type(width.into()),
            Self::Int { width, unsigned: true } => {
                cx.ty(TypeData::Integer { width: width.into(), sign: Signedness::Unsigned })
            }
            Self::Float(kind) => cx.ty(TypeData::Float(kind)),
            Self::Complex(kind) => cx.ty(TypeData::Complex(cx.ty(TypeData::Float(kind)))),
        }
    }

    /// Wraps an integer to the width: sign-extended, or zero-extended for unsigned types.
    pub(crate) fn wrap(self, value: u64) -> u64 {
        match self {
            Self::Int { width, unsigned } if width < 64 => {
                let shift = 64 - u32::from(width);
                if unsigned { (value << shift) >> shift } else { (((value << shift) as i64) >> shift) as u64 }
            }
            Self::Float(kind) | Self::Complex(kind) if kind.bits() < 64 => value & ((1 << kind.bits()) - 1),
            _ => value,
        }
    }

    /// The bits of the element alone, without the extension above its width; of a complex number, those of a part.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.part().unwrap_or(self).bits())
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int { width, unsigned } => write!(f, "{}i{width}", if *unsigned { "u" } else { "" }),
            Self::Index => f.write_str("index"),
            Self::Float(kind) => f.write_str(kind.keyword()),
            Self::Complex(kind) => write!(f, "complex<{}>", kind.keyword()),
        }
    }
}

/// One number. Integers are kept extended to 64 bits, floats as the bits of their own format, complex numbers as two floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scalar {
    dtype: DType,
    bits: u64,
    /// The imaginary part; 0 of what is not complex.
    imag: u64,
}

impl Scalar {
    /// A number from bits, of which only the type's width counts; one that is complex has them as its real part, and no
    /// imaginary one.
    pub fn from_bits(dtype: DType, bits: u64) -> Self {
        Self { dtype, bits: dtype.wrap(bits), imag: 0 }
    }

    /// The number as another type holds it that has the same bits: integers of one width are told apart by their sign alone, which
    /// an element may lack that has one as a number by itself. Others stay what they are.
    #[must_use]
    pub fn held_as(self, dtype: DType) -> Self {
        match (self.dtype, dtype) {
            (DType::Int { width, .. }, DType::Int { width: wanted, .. }) if width == wanted => {
                Self::from_bits(dtype, self.bits)
            }
            _ => self,
        }
    }

    /// A complex number with parts of type `kind`, as bits.
    pub fn complex(kind: FloatKind, [re, im]: [u64; 2]) -> Self {
        let dtype = DType::Complex(kind);
        Self { dtype, bits: dtype.wrap(re), imag: dtype.wrap(im) }
    }

    /// Real and imaginary part of a complex number; `None` for other numbers.
    pub fn parts(self) -> Option<[Self; 2]> {
        let part = self.dtype.part()?;
        Some([Self::from_bits(part, self.bits), Self::from_bits(part, self.imag)])
    }

    /// An integer wrapped to the width of `dtype`.
    ///
    /// # Panics
    /// When `dtype` is no integer.
    pub fn int(value: i64, dtype: DType) -> Self {
        assert!(dtype.is_integer(), "an integer type");
        Self::from_bits(dtype, value as u64)
    }

    /// `value : index`
    pub fn index(value: i64) -> Self {
        Self::from_bits(DType::Index, value as u64)
    }

    /// `value : i1`
    pub fn bool(value: bool) -> Self {
        Self::from_bits(DType::I1, value.into())
    }

    /// `value : f32`
    pub fn f32(value: f32) -> Self {
        Self::from_bits(DType::F32, value.to_bits().into())
    }

    /// `value : f64`
    pub fn f64(value: f64) -> Self {
        Self::from_bits(DType::F64, value.to_bits())
    }

    /// A float rounded to nearest even in the format `kind`.
    ///
    /// # Panics
    /// For formats wider than 64 bits.
    pub fn float(value: f64, kind: FloatKind) -> Self {
        Self::from_bits(DType::Float(kind), float::from_f64(kind, value))
    }

    /// Zero of any type.
    pub fn zero(dtype: DType) -> Self {
        match dtype {
            DType::Float(kind) => Self::float(0.0, kind),
            _ => Self::from_bits(dtype, 0),
        }
    }

    /// Element type.
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// The bits: an integer's extended to 64, a float's in its format, a complex number's those of its real part (see
    /// [`Scalar::parts`]).
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// An integer's value, sign-extended (zero-extended for unsigned types); `None` for other numbers.
    pub fn as_i64(self) -> Option<i64> {
        self.dtype.is_integer().then_some(self.bits as i64)
    }

    /// An integer's value read as unsigned; `None` for other numbers.
    pub fn as_u64(self) -> Option<u64> {
        self.dtype.is_integer().then_some(self.bits & self.dtype.mask())
    }

    /// A float's exact value; `None` for other numbers.
    pub fn as_f64(self) -> Option<f64> {
        match self.dtype {
            DType::Float(kind) => Some(decode(kind, self.bits)),
            _ => None,
        }
    }

    /// True for an integer other than zero; `None` for other numbers.
    pub fn as_bool(self) -> Option<bool> {
        self.as_i64().map(|v| v != 0)
    }

    /// The value as `f64`, of integers too (rounded where it does not fit); of a complex number, its magnitude.
    pub fn to_f64_lossy(self) -> f64 {
        match self.dtype {
            DType::Complex(kind) => decode(kind, self.bits).hypot(decode(kind, self.imag)),
            DType::Float(kind) => decode(kind, self.bits),
            DType::Int { unsigned: true, .. } => self.bits as f64,
            _ => self.bits as i64 as f64,
        }
    }
}

/// Exact value of a float's bits.
pub(crate) fn decode(kind: FloatKind, bits: u64) -> f64 {
    match kind {
        FloatKind::F32 => f32::from_bits(bits as u32).into(),
        FloatKind::F64 => f64::from_bits(bits),
        FloatKind::BF16 => f32::from_bits((bits as u32) << 16).into(),
        _ => float::to_f64(kind, bits),
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.dtype {
            DType::Float(FloatKind::F32) => write!(f, "{:?}", f32::from_bits(self.bits as u32)),
            DType::Float(kind) => write!(f, "{:?}", decode(kind, self.bits)),
            DType::Complex(kind) => {
                let [re, im] = [self.bits, self.imag].map(|bits| Self::from_bits(DType::Float(kind), bits));
                write!(f, "({re},{im})")
            }
            DType::Int { width: 1, .. } => write!(f, "{}", self.bits != 0),
            DType::Int { unsigned: true, .. } => write!(f, "{}", self.bits),
            _ => write!(f, "{}", self.bits as i64),
        }
    }
}

impl std::fmt::Debug for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self} : {}", self.dtype)
    }
}
