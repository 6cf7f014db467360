//! Attributes.

use crate::affine::{AffineMap, IntegerSet};
use crate::context::{AttrList, Blob, Context, Ident, IdentList, IntList, NamedAttrList};
use crate::ext::{ExtAttr, ParamValue};
use crate::handle::interned_handle;
use crate::location::Loc;
use crate::types::{Type, TypeData};

interned_handle! {
    /// An interned attribute.
    Attr;
    /// Storage slot of an attribute that a dialect defines.
    ExtAttrId;
}

/// An attribute with its name in a dictionary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NamedAttr {
    /// Name.
    pub name: Ident,
    /// Value.
    pub value: Attr,
}

/// What an attribute is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AttrData {
    /// `unit`
    Unit,
    /// `5 : i32`, `true`: the value is sign-extended from the type's width (zero-extended for unsigned types).
    Integer {
        /// Integer type or `index`.
        ty: Type,
        /// Value.
        value: i64,
    },
    /// An integer that does not fit 64 bits: two's complement words, least significant first.
    BigInteger {
        /// Integer type.
        ty: Type,
        /// Words.
        words: IntList,
    },
    /// `1.0 : f32`: the bits in the type's own format.
    Float {
        /// Floating-point type of at most 64 bits.
        ty: Type,
        /// Bit pattern.
        bits: u64,
    },
    /// A float of 80 or 128 bits: words of its bit pattern, least significant first.
    BigFloat {
        /// `f80` or `f128`.
        ty: Type,
        /// Words.
        words: IntList,
    },
    /// `"text"`, `"text" : type`
    String {
        /// The text, without quotes and escapes.
        value: Ident,
        /// `none` when no type is written.
        ty: Type,
    },
    /// A type as attribute.
    Type(Type),
    /// `[a, b]`
    Array(AttrList),
    /// `{a = 1, b}`
    Dict(NamedAttrList),
    /// `@root::@nested`
    SymbolRef {
        /// Name in the nearest symbol table.
        root: Ident,
        /// Names in nested tables.
        nested: IdentList,
    },
    /// `dense<…> : type`. A splat holds one element.
    ///
    /// Elements are stored row-major and little-endian, one byte for widths up to 8 (`i1` is 0 or 1), otherwise the
    /// width rounded up to whole bytes (8 for `index`); complex elements are real part then imaginary part.
    Dense {
        /// Tensor or vector type.
        ty: Type,
        /// Elements.
        data: Blob,
        /// True when `data` holds one element that stands for all.
        splat: bool,
    },
    /// `dense<["a", "b"]> : tensor<2x!t>`
    DenseStrings {
        /// Tensor or vector type.
        ty: Type,
        /// String attributes.
        values: AttrList,
        /// True when one string stands for all.
        splat: bool,
    },
    /// `array<i32: 1, 2>`; elements stored as in [`AttrData::Dense`].
    DenseArray {
        /// `i1`, `i8`, `i16`, `i32`, `i64`, `f32` or `f64`.
        elem: Type,
        /// Elements.
        data: Blob,
    },
    /// `dense_resource<key> : type`
    DenseResource {
        /// Tensor or vector type.
        ty: Type,
        /// Key in the file's `dialect_resources` section.
        key: Ident,
    },
    /// `sparse<indices, values> : type`
    Sparse {
        /// Tensor or vector type.
        ty: Type,
        /// Dense `i64` indices, one row each.
        indices: Attr,
        /// Dense values.
        values: Attr,
    },
    /// `affine_map<…>`
    AffineMap(AffineMap),
    /// `affine_set<…>`
    IntegerSet(IntegerSet),
    /// `strided<[strides], offset: n>`; [`crate::types::DYNAMIC`] is `?`.
    Strided {
        /// Offset in elements.
        offset: i64,
        /// Strides in elements.
        strides: IntList,
    },
    /// `loc(…)`
    Location(Loc),
    /// `distinct[id]<inner>`
    Distinct {
        /// Number that makes it differ from others.
        id: i64,
        /// What it wraps.
        inner: Attr,
    },
    /// An attribute of a dialect that is not registered, kept as text: `#dialect.body`, or `#dialect<body>`.
    Opaque {
        /// Dialect.
        dialect: Ident,
        /// All that follows `#dialect`, first `.` or `<` included; each reference to an alias is an
        /// [`crate::asm::ALIAS_MARK`].
        body: Ident,
        /// What the references stand for, in order; types as type attributes.
        refs: AttrList,
        /// Type written after the attribute; `none` when absent.
        ty: Type,
    },
    /// An attribute that a registered dialect defines.
    Ext(ExtAttrId),
}

impl Attr {
    /// `{}`
    pub const EMPTY_DICT: Self = Self::from_index(0);
    /// `unit`
    pub const UNIT: Self = Self::from_index(1);
    /// `false`
    pub const FALSE: Self = Self::from_index(2);
    /// `true`
    pub const TRUE: Self = Self::from_index(3);
    /// `[]`
    pub const EMPTY_ARRAY: Self = Self::from_index(4);

    /// Fills the first slots of the table, in the order of the constants above.
    pub(crate) fn intern_constants(cx: &Context) {
        assert_eq!(cx.dict(&[]), Self::EMPTY_DICT);
        assert_eq!(cx.attr(AttrData::Unit), Self::UNIT);
        assert_eq!(cx.int_attr(0, Type::I1), Self::FALSE);
        assert_eq!(cx.int_attr(-1, Type::I1), Self::TRUE);
        assert_eq!(cx.array_attr(&[]), Self::EMPTY_ARRAY);
    }
}

/// Bytes that one element of a dense constant takes: one for widths up to 8 (`i1` is 0 or 1), otherwise the width
/// rounded up to whole bytes, 8 for `index`; complex elements take two. `None` for types without fixed width.
pub fn element_bytes(cx: &Context, elem: Type) -> Option<usize> {
    match cx.type_data(elem) {
        TypeData::Complex(part) => Some(2 * element_bytes(cx, part)?),
        _ => Some((cx.bit_width(elem)? as usize).div_ceil(8).max(1)),
    }
}

impl Context {
    /// Interns an attribute.
    pub fn attr(&self, data: AttrData) -> Attr {
        Attr::from_index(self.attrs.intern(data))
    }

    /// What an attribute is.
    pub fn attr_data(&self, attr: Attr) -> AttrData {
        *self.attrs.get(attr.index())
    }

    /// Interns a dictionary; the entries are sorted by name here, and a name that occurs twice keeps its last value.
    pub fn dict(&self, entries: &[NamedAttr]) -> Attr {
        let sorted = entries.windows(2).all(|w| self.str(w[0].name) < self.str(w[1].name));
        let list = if sorted {
            self.named_attrs.intern(entries)
        } else {
            let mut copy = entries.to_vec();
            copy.sort_by(|a, b| self.str(a.name).cmp(self.str(b.name)));
            copy.reverse();
            copy.dedup_by_key(|e| e.name);
            copy.reverse();
            self.named_attrs.intern(&copy)
        };
        self.attr(AttrData::Dict(NamedAttrList::from_index(list)))
    }

    /// Entries of a dictionary attribute, sorted by name; empty for any other attribute.
    pub fn entries(&self, dict: Attr) -> &[NamedAttr] {
        match self.attr_data(dict) {
            AttrData::Dict(list) => self.named_attrs.get(list.index()),
            _ => &[],
        }
    }

    /// The entry `name` of a dictionary.
    pub fn entry(&self, dict: Attr, name: Ident) -> Option<Attr> {
        self.entries(dict).iter().find(|e| e.name == name).map(|e| e.value)
    }

    /// The dictionary with `name` set to `value`, or removed for `None`.
    pub fn with_entry(&self, dict: Attr, name: Ident, value: Option<Attr>) -> Attr {
        let mut entries: Vec<NamedAttr> = self.entries(dict).iter().copied().filter(|e| e.name != name).collect();
        if let Some(value) = value {
            let text = self.str(name);
            let at = entries.partition_point(|e| self.str(e.name) < text);
            entries.insert(at, NamedAttr { name, value });
        }
        self.dict(&entries)
    }

    /// `[…]`
    pub fn array_attr(&self, elements: &[Attr]) -> Attr {
        self.attr(AttrData::Array(AttrList::from_index(self.attr_lists.intern(elements))))
    }

    /// Interns a list of attributes.
    pub fn attr_list(&self, elements: &[Attr]) -> AttrList {
        AttrList::from_index(self.attr_lists.intern(elements))
    }

    /// Elements of an interned list of attributes.
    pub fn list_attrs(&self, list: AttrList) -> &[Attr] {
        self.attr_lists.get(list.index())
    }

    /// Elements of an array attribute; `None` for any other attribute.
    pub fn array(&self, attr: Attr) -> Option<&[Attr]> {
        match self.attr_data(attr) {
            AttrData::Array(list) => Some(self.attr_lists.get(list.index())),
            _ => None,
        }
    }

    /// `value : ty` for an integer type of at most 64 bits or `index`; the value is wrapped to the width.
    pub fn int_attr(&self, value: i64, ty: Type) -> Attr {
        use crate::types::Signedness::Unsigned;
        let value = match self.type_data(ty) {
            TypeData::Integer { width, sign } if width < 64 => {
                let shift = 64 - width.max(1);
                if sign == Unsigned { (((value as u64) << shift) >> shift) as i64 } else { (value << shift) >> shift }
            }
            _ => value,
        };
        self.attr(AttrData::Integer { ty, value })
    }

    /// `value : index`
    pub fn index_attr(&self, value: i64) -> Attr {
        self.int_attr(value, Type::INDEX)
    }

    /// `true` or `false`.
    pub fn bool_attr(&self, value: bool) -> Attr {
        if value { Attr::TRUE } else { Attr::FALSE }
    }

    /// `value : f32`
    pub fn f32_attr(&self, value: f32) -> Attr {
        self.attr(AttrData::Float { ty: Type::F32, bits: u64::from(value.to_bits()) })
    }

    /// `value : f64`
    pub fn f64_attr(&self, value: f64) -> Attr {
        self.attr(AttrData::Float { ty: Type::F64, bits: value.to_bits() })
    }

    /// `value : ty`, rounded to nearest even in the format of `ty`.
    ///
    /// # Panics
    /// When `ty` is not a floating-point type of at most 64 bits.
    pub fn float_attr(&self, value: f64, ty: Type) -> Attr {
        let kind = self.float_kind(ty).expect("a floating-point type");
        self.attr(AttrData::Float { ty, bits: crate::float::from_f64(kind, value) })
    }

    /// `"text"`
    pub fn string_attr(&self, text: &str) -> Attr {
        self.attr(AttrData::String { value: self.ident(text), ty: Type::NONE })
    }

    /// A type as attribute.
    pub fn type_attr(&self, ty: Type) -> Attr {
        self.attr(AttrData::Type(ty))
    }

    /// `@name`
    pub fn symbol_ref(&self, name: &str) -> Attr {
        self.attr(AttrData::SymbolRef { root: self.ident(name), nested: self.ident_list(&[]) })
    }

    /// `@root::@nested…`
    pub fn nested_symbol_ref(&self, root: &str, nested: &[Ident]) -> Attr {
        self.attr(AttrData::SymbolRef { root: self.ident(root), nested: self.ident_list(nested) })
    }

    /// `array<i64: …>`
    pub fn i64_array(&self, values: &[i64]) -> Attr {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.attr(AttrData::DenseArray { elem: Type::I64, data: self.blob(&bytes) })
    }

    /// `array<i32: …>`
    pub fn i32_array(&self, values: &[i32]) -> Attr {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.attr(AttrData::DenseArray { elem: Type::I32, data: self.blob(&bytes) })
    }

    /// An attribute that a registered dialect defines.
    pub fn ext_attr<T: ParamValue>(&self, value: T) -> Attr {
        let id = ExtAttrId::from_index(self.ext_attrs.intern(ExtAttr::new(value)));
        self.attr(AttrData::Ext(id))
    }

    /// The value behind a dialect-defined attribute, when it is a `T`.
    pub fn attr_as<T: ParamValue>(&self, attr: Attr) -> Option<&T> {
        match self.attr_data(attr) {
            AttrData::Ext(id) => self.ext_attrs.get(id.index()).get(),
            _ => None,
        }
    }

    /// Storage of a dialect-defined attribute, for the printer.
    pub(crate) fn ext_attr_storage(&self, id: ExtAttrId) -> &ExtAttr {
        self.ext_attrs.get(id.index())
    }

    /// Checks the parameters of a dialect-defined attribute; any other attribute is fine.
    ///
    /// # Errors
    /// Says in words what does not fit.
    pub fn verify_attr(&self, attr: Attr) -> Result<(), String> {
        match self.attr_data(attr) {
            AttrData::Ext(id) => self.ext_attrs.get(id.index()).verify(self),
            _ => Ok(()),
        }
    }

    /// True for `array<i32: …>`.
    pub fn is_i32_array(&self, attr: Attr) -> bool {
        matches!(self.attr_data(attr), AttrData::DenseArray { elem: Type::I32, .. })
    }

    /// Value of an integer attribute that fits 64 bits.
    pub fn as_int(&self, attr: Attr) -> Option<i64> {
        match self.attr_data(attr) {
            AttrData::Integer { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Value of a bool attribute.
    pub fn as_bool(&self, attr: Attr) -> Option<bool> {
        match attr {
            Attr::TRUE => Some(true),
            Attr::FALSE => Some(false),
            _ => None,
        }
    }

    /// Value of a float attribute of at most 64 bits, exact.
    pub fn as_f64(&self, attr: Attr) -> Option<f64> {
        match self.attr_data(attr) {
            AttrData::Float { ty, bits } => Some(crate::float::to_f64(self.float_kind(ty)?, bits)),
            _ => None,
        }
    }

    /// Text of a string attribute.
    pub fn as_str(&self, attr: Attr) -> Option<&str> {
        match self.attr_data(attr) {
            AttrData::String { value, .. } => Some(self.str(value)),
            _ => None,
        }
    }

    /// The type that a type attribute holds.
    pub fn as_type(&self, attr: Attr) -> Option<Type> {
        match self.attr_data(attr) {
            AttrData::Type(ty) => Some(ty),
            _ => None,
        }
    }

    /// The name that a flat symbol reference holds.
    pub fn as_symbol(&self, attr: Attr) -> Option<Ident> {
        match self.attr_data(attr) {
            AttrData::SymbolRef { root, nested } if self.idents(nested).is_empty() => Some(root),
            _ => None,
        }
    }

    /// The map that an affine map attribute holds.
    pub fn as_affine_map(&self, attr: Attr) -> Option<AffineMap> {
        match self.attr_data(attr) {
            AttrData::AffineMap(map) => Some(map),
            _ => None,
        }
    }

    /// Elements of `array<i32: …>` or `array<i64: …>`, or of an array of integer attributes.
    pub fn as_ints(&self, attr: Attr) -> Option<Vec<i64>> {
        match self.attr_data(attr) {
            AttrData::DenseArray { elem: Type::I64, data } => {
                Some(self.bytes(data).as_chunks::<8>().0.iter().map(|c| i64::from_le_bytes(*c)).collect())
            }
            AttrData::DenseArray { elem: Type::I32, data } => {
                Some(self.bytes(data).as_chunks::<4>().0.iter().map(|c| i32::from_le_bytes(*c).into()).collect())
            }
            AttrData::Array(list) => self.list_attrs(list).iter().map(|&a| self.as_int(a)).collect(),
            _ => None,
        }
    }

    /// The type of a typed attribute: integers, floats, elements, typed strings.
    pub fn attr_type(&self, attr: Attr) -> Option<Type> {
        match self.attr_data(attr) {
            AttrData::Integer { ty, .. }
            | AttrData::BigInteger { ty, .. }
            | AttrData::Float { ty, .. }
            | AttrData::BigFloat { ty, .. }
            | AttrData::Dense { ty, .. }
            | AttrData::DenseStrings { ty, .. }
            | AttrData::DenseResource { ty, .. }
            | AttrData::Sparse { ty, .. } => Some(ty),
            AttrData::String { ty, .. } | AttrData::Opaque { ty, .. } => (ty != Type::NONE).then_some(ty),
            _ => None,
        }
    }

    /// The constant elements `attr` with the type `ty`, which has the same shape and elements and may differ in the
    /// encoding; `None` when `attr` is no such constant.
    pub fn with_elements_type(&self, attr: Attr, ty: Type) -> Option<Attr> {
        let before = self.attr_type(attr)?;
        if self.shape(before) != self.shape(ty) || self.element_type(before) != self.element_type(ty) {
            return None;
        }
        let data = match self.attr_data(attr) {
            AttrData::Dense { data, splat, .. } => AttrData::Dense { ty, data, splat },
            AttrData::DenseStrings { values, splat, .. } => AttrData::DenseStrings { ty, values, splat },
            AttrData::DenseResource { key, .. } => AttrData::DenseResource { ty, key },
            AttrData::Sparse { indices, values, .. } => AttrData::Sparse { ty, indices, values },
            _ => return None,
        };
        Some(self.attr(data))
    }
}
