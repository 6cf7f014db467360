//! Subsets of dialects: what upstream's dialect has and the registered subset does not is kept as text under
//! `--allow-unregistered-dialect`. Constraints, checks and custom forms of the subset do not apply to it.

use std::sync::atomic::Ordering;

use crate::attrs::{Attr, AttrData};
use crate::context::{AttrList, Context, Ident};
use crate::op_def::{OpDef, ValueDef};
use crate::op_ref::OpRef;
use crate::registry::OpInfo;
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
    /// True when the op is declared, but a type of its values or a value of its inherent attributes is one that was kept as text
    /// and its declaration does not take: upstream's knows more.
    pub fn is_beyond_subset(self) -> bool {
        // Relaxed: who sees the op was given it after its attributes and types were made.
        if !self.cx.beyond_subset.load(Ordering::Relaxed) {
            return false;
        }
        self.info().is_some_and(|info| self.has_type_beyond(info.def) || self.has_attr_beyond(info))
    }

    fn has_type_beyond(self, def: &OpDef) -> bool {
        let beyond = |group: &ValueDef, ty: Type| {
            let cx = self.cx;
            let kept = cx.is_beyond_subset_type(ty) || cx.is_beyond_subset_type(cx.element_type(ty));
            kept && !(group.constraint.check)(cx, ty)
        };
        let operands = def.operands.iter().enumerate().any(|(index, group)| {
            let range = self.operand_group(index).unwrap_or_default();
            range.into_iter().any(|at| beyond(group, self.ty(self.operand(at))))
        });
        operands
            || def.results.iter().enumerate().any(|(index, group)| {
                let range = self.result_group(index).unwrap_or_default();
                range.into_iter().any(|at| beyond(group, self.ty(self.result(at))))
            })
    }

    fn has_attr_beyond(self, info: &OpInfo) -> bool {
        let cx = self.cx;
        info.def.attrs.iter().zip(&info.attr_names).any(|(attr, name)| {
            let value = cx.entry(self.body.props(self.op), *name);
            value.is_some_and(|value| cx.is_beyond_subset_attr(value) && !(attr.constraint.check)(cx, value))
        })
    }
}
