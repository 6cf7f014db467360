//! Types.

use crate::attrs::Attr;
use crate::context::{AttrList, Context, Ident, IntList, TypeList};
use crate::ext::{ExtType, ParamValue};
use crate::handle::interned_handle;

interned_handle! {
    /// An interned type.
    Type;
    /// Storage slot of a type that a dialect defines.
    ExtTypeId;
}

/// Marks a dimension whose size is not known statically; printed `?`.
pub const DYNAMIC: i64 = i64::MIN;

/// Most dimensions that a shaped type may have where one is read: far more than any program needs, few enough that what is
/// made for each dimension stays small.
pub const MAX_RANK: usize = 256;

/// Signedness of an integer type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Signedness {
    /// `iN`
    Signless,
    /// `siN`
    Signed,
    /// `uiN`
    Unsigned,
}

/// The floating-point types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum FloatKind {
    F4E2M1FN,
    F6E2M3FN,
    F6E3M2FN,
    F8E5M2,
    F8E4M3,
    F8E4M3FN,
    F8E5M2FNUZ,
    F8E4M3FNUZ,
    F8E4M3B11FNUZ,
    F8E3M4,
    F8E8M0FNU,
    BF16,
    F16,
    TF32,
    F32,
    F64,
    F80,
    F128,
}

impl FloatKind {
    /// Every kind with its spelling and its width in bits.
    pub const ALL: [(Self, &'static str, u32); 18] = [
        (Self::F4E2M1FN, "f4E2M1FN", 4),
        (Self::F6E2M3FN, "f6E2M3FN", 6),
        (Self::F6E3M2FN, "f6E3M2FN", 6),
        (Self::F8E5M2, "f8E5M2", 8),
        (Self::F8E4M3, "f8E4M3", 8),
        (Self::F8E4M3FN, "f8E4M3FN", 8),
        (Self::F8E5M2FNUZ, "f8E5M2FNUZ", 8),
        (Self::F8E4M3FNUZ, "f8E4M3FNUZ", 8),
        (Self::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8),
        (Self::F8E3M4, "f8E3M4", 8),
        (Self::F8E8M0FNU, "f8E8M0FNU", 8),
        (Self::BF16, "bf16", 16),
        (Self::F16, "f16", 16),
        (Self::TF32, "tf32", 19),
        (Self::F32, "f32", 32),
        (Self::F64, "f64", 64),
        (Self::F80, "f80", 80),
        (Self::F128, "f128", 128),
    ];

    /// Spelling in the text form.
    pub fn keyword(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        Self::ALL[self as usize].2
    }

    /// The kind spelt `keyword`.
    pub fn from_keyword(keyword: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, k, _)| *k == keyword).map(|(kind, ..)| *kind)
    }
}

/// What a type is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypeData {
    /// `none`
    None,
    /// `index`
    Index,
    /// `i32`, `si8`, `ui4`
    Integer {
        /// Width in bits, at most 2^24 - 1.
        width: u32,
        /// Signedness.
        sign: Signedness,
    },
    /// `f32`, `bf16`, …
    Float(FloatKind),
    /// `complex<T>`
    Complex(Type),
    /// `(inputs) -> results`
    Function {
        /// Types of the inputs.
        inputs: TypeList,
        /// Types of the results.
        results: TypeList,
    },
    /// `tuple<…>`
    Tuple(TypeList),
    /// `vector<4x[8]xf32>`
    Vector {
        /// Sizes of the dimensions.
        shape: IntList,
        /// 1 for each scalable dimension, 0 for the others.
        scalable: IntList,
        /// Element type.
        elem: Type,
    },
    /// `tensor<?x4xf32, encoding>`
    RankedTensor {
        /// Sizes of the dimensions, [`DYNAMIC`] where unknown.
        shape: IntList,
        /// Element type.
        elem: Type,
        /// Encoding attribute.
        encoding: Option<Attr>,
    },
    /// `tensor<*xf32>`
    UnrankedTensor(Type),
    /// `memref<?x4xf32, layout, space>`
    MemRef {
        /// Sizes of the dimensions, [`DYNAMIC`] where unknown.
        shape: IntList,
        /// Element type.
        elem: Type,
        /// Layout; `None` is row-major without gaps (the identity map).
        layout: Option<Attr>,
        /// Memory space; `None` is the default space.
        space: Option<Attr>,
    },
    /// `memref<*xf32, space>`
    UnrankedMemRef {
        /// Element type.
        elem: Type,
        /// Memory space.
        space: Option<Attr>,
    },
    /// A type of a dialect that is not registered, kept as text: `!dialect.body`, or `!dialect<body>`.
    Opaque {
        /// Dialect.
        dialect: Ident,
        /// All that follows `!dialect`, first `.` or `<` included; each reference to an alias is an
        /// [`crate::asm::ALIAS_MARK`].
        body: Ident,
        /// What the references stand for, in order; types as type attributes.
        refs: AttrList,
    },
    /// A type that a registered dialect defines.
    Ext(ExtTypeId),
}

macro_rules! type_constants {
    ($($index:literal $(#[$doc:meta])* $name:ident = $data:expr;)*) => {
        impl Type {
            $($(#[$doc])* pub const $name: Self = Self::from_index($index);)*

            /// Fills the first slots of the table, in the order of the constants above.
            pub(crate) fn intern_constants(cx: &Context) {
                $(assert_eq!(cx.ty($data), Self::$name);)*
            }
        }
    };
}
const fn signless(width: u32) -> TypeData {
    TypeData::Integer { width, sign: Signedness::Signless }
}
type_constants! {
    0 /// `none`
    NONE = TypeData::None;
    1 /// `index`
    INDEX = TypeData::Index;
    2 /// `i1`
    I1 = signless(1);
    3 /// `i8`
    I8 = signless(8);
    4 /// `i16`
    I16 = signless(16);
    5 /// `i32`
    I32 = signless(32);
    6 /// `i64`
    I64 = signless(64);
    7 /// `f16`
    F16 = TypeData::Float(FloatKind::F16);
    8 /// `bf16`
    BF16 = TypeData::Float(FloatKind::BF16);
    9 /// `f32`
    F32 = TypeData::Float(FloatKind::F32);
    10 /// `f64`
    F64 = TypeData::Float(FloatKind::F64);
}

impl Context {
    /// Interns a type.
    pub fn ty(&self, data: TypeData) -> Type {
        Type::from_index(self.types.intern(data))
    }

    /// What a type is.
    pub fn type_data(&self, ty: Type) -> TypeData {
        *self.types.get(ty.index())
    }

    /// `iN`
    pub fn int_type(&self, width: u32) -> Type {
        self.ty(signless(width))
    }

    /// `(inputs) -> results`
    pub fn function_type(&self, inputs: &[Type], results: &[Type]) -> Type {
        self.ty(TypeData::Function { inputs: self.type_list(inputs), results: self.type_list(results) })
    }

    /// `tensor<shape x elem>`
    pub fn tensor_type(&self, shape: &[i64], elem: Type, encoding: Option<Attr>) -> Type {
        self.ty(TypeData::RankedTensor { shape: self.int_list(shape), elem, encoding })
    }

    /// `memref<shape x elem>`
    pub fn memref_type(&self, shape: &[i64], elem: Type, layout: Option<Attr>, space: Option<Attr>) -> Type {
        self.ty(TypeData::MemRef { shape: self.int_list(shape), elem, layout, space })
    }

    /// `vector<shape x elem>` without scalable dimensions.
    pub fn vector_type(&self, shape: &[i64], elem: Type) -> Type {
        let scalable = self.int_list(&vec![0; shape.len()]);
        self.ty(TypeData::Vector { shape: self.int_list(shape), scalable, elem })
    }

    /// A type that a registered dialect defines.
    pub fn ext_type<T: ParamValue>(&self, value: T) -> Type {
        let id = ExtTypeId::from_index(self.ext_types.intern(ExtType::new(value)));
        self.ty(TypeData::Ext(id))
    }

    /// The value behind a dialect-defined type, when it is a `T`.
    pub fn type_as<T: ParamValue>(&self, ty: Type) -> Option<&T> {
        match self.type_data(ty) {
            TypeData::Ext(id) => self.ext_types.get(id.index()).get(),
            _ => None,
        }
    }

    /// The builtin type as which elements of a dialect-defined type are held; `None` for other types.
    pub fn storage_type(&self, ty: Type) -> Option<Type> {
        let TypeData::Ext(id) = self.type_data(ty) else { return None };
        self.ext_types
            .get(id.index())
            .storage()
            .filter(|data| !matches!(data, TypeData::Ext(_)))
            .map(|data| self.ty(data))
    }

    /// Storage of a dialect-defined type, for the printer.
    pub(crate) fn ext_type_storage(&self, id: ExtTypeId) -> &ExtType {
        self.ext_types.get(id.index())
    }

    /// Checks the parameters of a dialect-defined type, and a tensor's properties against its shape; any other type is fine.
    ///
    /// # Errors
    /// Says in words what does not fit.
    pub fn verify_type(&self, ty: Type) -> Result<(), String> {
        match self.type_data(ty) {
            TypeData::Ext(id) => self.ext_types.get(id.index()).verify(self),
            TypeData::RankedTensor { encoding: Some(_), .. } => self.verify_properties(ty),
            _ => Ok(()),
        }
    }

    /// The sizes of a shaped type: ranked tensor, memref, vector.
    pub fn shape(&self, ty: Type) -> Option<&[i64]> {
        match self.type_data(ty) {
            TypeData::RankedTensor { shape, .. } | TypeData::MemRef { shape, .. } | TypeData::Vector { shape, .. } => {
                Some(self.ints(shape))
            }
            _ => None,
        }
    }

    /// The element type of a shaped type, ranked or not; a type without elements is its own.
    pub fn element_type(&self, ty: Type) -> Type {
        match self.type_data(ty) {
            TypeData::RankedTensor { elem, .. }
            | TypeData::UnrankedTensor(elem)
            | TypeData::MemRef { elem, .. }
            | TypeData::UnrankedMemRef { elem, .. }
            | TypeData::Vector { elem, .. } => elem,
            _ => ty,
        }
    }

    /// Encoding of a ranked tensor.
    pub fn encoding(&self, ty: Type) -> Option<Attr> {
        match self.type_data(ty) {
            TypeData::RankedTensor { encoding, .. } => encoding,
            _ => None,
        }
    }

    /// Inputs and results of a function type.
    pub fn signature(&self, ty: Type) -> Option<(&[Type], &[Type])> {
        match self.type_data(ty) {
            TypeData::Function { inputs, results } => Some((self.types(inputs), self.types(results))),
            _ => None,
        }
    }

    /// Width in bits of an integer or float; 64 for `index`.
    pub fn bit_width(&self, ty: Type) -> Option<u32> {
        match self.type_data(ty) {
            TypeData::Index => Some(64),
            TypeData::Integer { width, .. } => Some(width),
            TypeData::Float(kind) => Some(kind.bits()),
            _ => None,
        }
    }

    /// The kind of a floating-point type.
    pub fn float_kind(&self, ty: Type) -> Option<FloatKind> {
        match self.type_data(ty) {
            TypeData::Float(kind) => Some(kind),
            _ => None,
        }
    }

    /// Replaces element type and shape of a shaped type by those given, keeping its class; a scalar becomes `elem`.
    pub fn with_element_type(&self, ty: Type, elem: Type) -> Type {
        self.ty(match self.type_data(ty) {
            TypeData::RankedTensor { shape, encoding, .. } => TypeData::RankedTensor { shape, elem, encoding },
            TypeData::UnrankedTensor(_) => TypeData::UnrankedTensor(elem),
            TypeData::MemRef { shape, layout, space, .. } => TypeData::MemRef { shape, elem, layout, space },
            TypeData::UnrankedMemRef { space, .. } => TypeData::UnrankedMemRef { elem, space },
            TypeData::Vector { shape, scalable, .. } => TypeData::Vector { shape, scalable, elem },
            _ => return elem,
        })
    }
}

impl Type {
    /// True for `iN` of any width and signedness.
    pub fn is_integer(self, cx: &Context) -> bool {
        matches!(cx.type_data(self), TypeData::Integer { .. })
    }

    /// True for `iN`.
    pub fn is_signless_integer(self, cx: &Context) -> bool {
        matches!(cx.type_data(self), TypeData::Integer { sign: Signedness::Signless, .. })
    }

    /// True for any floating-point type.
    pub fn is_float(self, cx: &Context) -> bool {
        matches!(cx.type_data(self), TypeData::Float(_))
    }

    /// True for an integer, `index` or a floating-point type.
    pub fn is_int_index_or_float(self, cx: &Context) -> bool {
        matches!(cx.type_data(self), TypeData::Integer { .. } | TypeData::Index | TypeData::Float(_))
    }

    /// True for a tensor, memref or vector.
    pub fn is_shaped(self, cx: &Context) -> bool {
        matches!(
            cx.type_data(self),
            TypeData::RankedTensor { .. }
                | TypeData::UnrankedTensor(_)
                | TypeData::MemRef { .. }
                | TypeData::UnrankedMemRef { .. }
                | TypeData::Vector { .. }
        )
    }

    /// True for a ranked or unranked tensor.
    pub fn is_tensor(self, cx: &Context) -> bool {
        matches!(cx.type_data(self), TypeData::RankedTensor { .. } | TypeData::UnrankedTensor(_))
    }
}
