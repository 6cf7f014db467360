//! Subsets of dialects: what upstream's dialect has and the registered subset does not is kept as text under
//! `--allow-unregistered-dialect`. Constraints, checks and custom forms of the subset do not apply to it.

use std::sync::atomic::Ordering;

use crate::attrs::{Attr, AttrData};
use crate::context::{AttrList, Context, Ident};
use crate::op_ref::OpRef;
use crate::types::{Type, TypeData};

impl Context {
    /// A type kept as text.
    pub fn opaque_type(&self, dialect: &str, body: Ident, refs: AttrList) -> Type {
        self.note_opaque(dialect);
        self.ty(TypeData::Opaque { dialect: self.ident(dialect), body, refs })
    }

    /// An attribute kept as text.
    pub fn opaque_attr(&self, dialect: &str, body: Ident, refs: AttrList, ty: Type) -> Attr {
        self.note_opaque(dialect);
        self.attr(AttrData::Opaque { dialect: self.ident(dialect), body, refs, ty })
    }

    fn note_opaque(&self, dialect: &str) {
        if self.registry().dialect(dialect).is_some() {
            self.beyond_subset.store(true, Ordering::Relaxed);
        }
    }

    fn is_beyond_subset_type(&self, ty: Type) -> bool {
        match self.type_data(ty) {
            TypeData::Opaque { dialect, .. } => self.registry().dialect(self.str(dialect)).is_some(),
            _ => false,
        }
    }

    fn is_beyond_subset_attr(&self, attr: Attr) -> bool {
        match self.attr_data(attr) {
            AttrData::Opaque { dialect, .. } => self.registry().dialect(self.str(dialect)).is_some(),
            AttrData::Array(list) => self.list_attrs(list).iter().any(|attr| self.is_beyond_subset_attr(*attr)),
            AttrData::Type(ty) => self.is_beyond_subset_type(ty),
            _ => false,
        }
    }
}

impl OpRef<'_> {
    /// True when the op is declared, but not a type of its values or a value of its inherent attributes: the dialect of one
    /// of these is registered as a subset, and the text was kept.
    pub fn is_beyond_subset(self) -> bool {
        let cx = self.cx;
        // Relaxed: who sees the op was given it after its attributes and types were made.
        if !cx.beyond_subset.load(Ordering::Relaxed) || self.info().is_none() {
            return false;
        }
        let ty = |ty: Type| cx.is_beyond_subset_type(ty) || cx.is_beyond_subset_type(cx.element_type(ty));
        let mut props = cx.entries(self.body.props(self.op)).iter();
        self.operand_types().chain(self.result_types()).any(ty) || props.any(|e| cx.is_beyond_subset_attr(e.value))
    }
}
