//! The context: everything that is shared, append-only and compared by handle.

use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use sutura_arena::{Interner, SliceInterner, StrInterner, Table};

use crate::affine::{AffineExpr, AffineExprData, AffineMapData, IntegerSetData};
use crate::attrs::{Attr, AttrData, NamedAttr};
use crate::ext::{ExtAttr, ExtType};
use crate::handle::interned_handle;
use crate::location::{Loc, LocData, SourceMap};
use crate::registry::{OpInfo, OpName, Registry, RegistryError};
use crate::types::{Type, TypeData};

interned_handle! {
    /// An interned string: a name, a keyword, the value of a string attribute.
    Ident;
    /// An interned list of integers.
    IntList;
    /// An interned list of types.
    TypeList;
    /// An interned list of attributes.
    AttrList;
    /// An interned list of named attributes, sorted by name.
    NamedAttrList;
    /// An interned list of identifiers.
    IdentList;
    /// Interned raw bytes: the elements of a dense constant.
    Blob;
}

/// Room for the bytes of a large constant while they are made.
pub trait Room: AsMut<[u8]> + Send {
    /// The bytes, which nothing changes any more.
    fn keep(self: Box<Self>) -> Bytes;
}

impl Room for Vec<u8> {
    fn keep(self: Box<Self>) -> Bytes {
        Bytes::from(*self)
    }
}

/// Gives room for so many bytes, all zero, outside the memory of the process, or nothing if it cannot.
pub type LargeBlobs = Box<dyn Fn(usize) -> Option<Box<dyn Room>> + Send + Sync>;

/// Bytes from which on a store for large blobs is asked.
const LARGE: usize = 1 << 20;

/// Owns every type, attribute, location and name, and the frozen [`Registry`].
///
/// A context is `Sync` and append-only: handles stay valid as long as it lives, equality of handles is equality of
/// what they stand for, and reading takes no lock.
pub struct Context {
    pub(crate) strings: StrInterner,
    pub(crate) ints: SliceInterner<i64>,
    pub(crate) type_lists: SliceInterner<Type>,
    pub(crate) attr_lists: SliceInterner<Attr>,
    pub(crate) named_attrs: SliceInterner<NamedAttr>,
    pub(crate) ident_lists: SliceInterner<Ident>,
    pub(crate) blobs: SliceInterner<u8>,
    large: Option<LargeBlobs>,
    pub(crate) types: Interner<TypeData>,
    pub(crate) attrs: Interner<AttrData>,
    pub(crate) affine_exprs: Interner<AffineExprData>,
    pub(crate) affine_maps: Interner<AffineMapData>,
    pub(crate) integer_sets: Interner<IntegerSetData>,
    pub(crate) affine_lists: SliceInterner<AffineExpr>,
    pub(crate) locations: Interner<LocData>,
    pub(crate) sources: SourceMap,
    pub(crate) ext_types: Interner<ExtType>,
    pub(crate) ext_attrs: Interner<ExtAttr>,
    /// Registered operations first, in registration order; names met in text but not registered after them.
    pub(crate) op_names: Interner<Ident>,
    pub(crate) op_infos: Table<OpInfo>,
    pub(crate) registry: Registry,
    /// True once something was kept as text that a registered dialect's subset lacks.
    pub(crate) beyond_subset: AtomicBool,
}

impl Context {
    /// A context in which the dialects of `registry` (and the builtin dialect) are known.
    ///
    /// # Panics
    /// When the registry does not pass [`Registry::check`], a mistake in the source of a dialect or of a tool.
    pub fn new(registry: Registry) -> Self {
        Self::try_new(registry).unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`Context::new`].
    ///
    /// # Errors
    /// When the registry does not pass [`Registry::check`].
    pub fn try_new(registry: Registry) -> Result<Self, RegistryError> {
        registry.check()?;
        let mut cx = Self {
            strings: StrInterner::default(),
            ints: SliceInterner::default(),
            type_lists: SliceInterner::default(),
            attr_lists: SliceInterner::default(),
            named_attrs: SliceInterner::default(),
            ident_lists: SliceInterner::default(),
            blobs: SliceInterner::default(),
            large: None,
            types: Interner::default(),
            attrs: Interner::default(),
            affine_exprs: Interner::default(),
            affine_maps: Interner::default(),
            integer_sets: Interner::default(),
            affine_lists: SliceInterner::default(),
            locations: Interner::default(),
            sources: SourceMap::default(),
            ext_types: Interner::default(),
            ext_attrs: Interner::default(),
            op_names: Interner::default(),
            op_infos: Table::default(),
            registry: Registry::empty(),
            beyond_subset: AtomicBool::new(false),
        };
        cx.intern_constants();
        registry.freeze_into(&mut cx);
        Ok(cx)
    }

    /// Fills the first slots, on which the constants of [`Type`], [`Attr`], [`Loc`] and [`Ident`] rely.
    fn intern_constants(&self) {
        assert_eq!(self.ident(""), Ident::EMPTY);
        assert_eq!(self.int_list(&[]), IntList::EMPTY);
        assert_eq!(self.loc(LocData::Unknown), Loc::UNKNOWN);
        Type::intern_constants(self);
        Attr::intern_constants(self);
    }

    /// What was registered.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The source texts that locations refer to.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Interns a string.
    pub fn ident(&self, text: &str) -> Ident {
        Ident::from_index(self.strings.intern(text))
    }

    /// The text of an interned string.
    pub fn str(&self, ident: Ident) -> &str {
        self.strings.get(ident.index())
    }

    /// Interns a list of integers.
    pub fn int_list(&self, values: &[i64]) -> IntList {
        IntList::from_index(self.ints.intern(values))
    }

    /// The elements of a list of integers.
    pub fn ints(&self, list: IntList) -> &[i64] {
        self.ints.get(list.index())
    }

    /// Interns a list of types.
    pub fn type_list(&self, types: &[Type]) -> TypeList {
        TypeList::from_index(self.type_lists.intern(types))
    }

    /// The elements of a list of types.
    pub fn types(&self, list: TypeList) -> &[Type] {
        self.type_lists.get(list.index())
    }

    /// Interns a list of identifiers.
    pub fn ident_list(&self, idents: &[Ident]) -> IdentList {
        IdentList::from_index(self.ident_lists.intern(idents))
    }

    /// The elements of a list of identifiers.
    pub fn idents(&self, list: IdentList) -> &[Ident] {
        self.ident_lists.get(list.index())
    }

    /// Interns raw bytes, which are copied. Where there is a store for large ones ([`Self::keep_large`]), it keeps them.
    pub fn blob(&self, bytes: &[u8]) -> Blob {
        if bytes.len() < LARGE || self.large.is_none() || self.blobs.find(bytes).is_some() {
            return Blob::from_index(self.blobs.intern(bytes));
        }
        let mut room = self.room(bytes.len());
        (*room).as_mut().copy_from_slice(bytes);
        self.blob_of(room.keep())
    }

    /// Room for so many bytes, all zero: in the store for large ones where there is one, else in memory.
    pub fn room(&self, len: usize) -> Box<dyn Room> {
        let stored = self.large.as_ref().filter(|_| len >= LARGE).and_then(|store| store(len));
        stored.unwrap_or_else(|| Box::new(vec![0u8; len]))
    }

    /// Interns raw bytes without copying them: they are kept as long as the context lives.
    pub fn blob_of(&self, bytes: Bytes) -> Blob {
        Blob::from_index(self.blobs.intern_kept(bytes))
    }

    /// From here on `store` keeps what is large of what is copied or made. Where it returns nothing, memory does.
    pub fn keep_large(&mut self, store: LargeBlobs) {
        self.large = Some(store);
    }

    /// The bytes of a blob.
    pub fn bytes(&self, blob: Blob) -> &[u8] {
        self.blobs.get(blob.index())
    }

    /// The operation called `name`, registered or not.
    pub fn op_name(&self, name: &str) -> OpName {
        OpName::intern(self, name)
    }
}

impl Ident {
    /// The empty string.
    pub const EMPTY: Self = Self::from_index(0);
}

impl IntList {
    /// No integers.
    pub const EMPTY: Self = Self::from_index(0);
}
