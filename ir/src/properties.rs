//! Properties of tensor types: what a type says of its tensor beside sizes and elements.
//!
//! The encoding of a ranked tensor is a dictionary with an entry for each property, as in
//! `tensor<?x4xf32, {sharding = #shard.axes<[x]>, sizes = #dyn.shape<[N, 4]>}>`. An attribute that says which property it is
//! ([`PROPERTY`](crate::ext::ParamValue::PROPERTY)) may stand alone: `tensor<?x4xf32, #dyn.shape<[N, 4]>>`. Any other attribute that stands alone is the
//! property [`UNNAMED`], so that a property can be added to it. Who changes one property keeps the others.

use crate::attrs::{Attr, AttrData, NamedAttr};
use crate::context::Context;
use crate::types::{Type, TypeData};

/// The property that an encoding is which stands alone and does not say which one it is.
pub const UNNAMED: &str = "encoding";

impl Context {
    /// Whether values of one type may have either of two values of a property.
    pub fn properties_agree(&self, a: Attr, b: Attr) -> bool {
        a == b
            || match (self.attr_data(a), self.attr_data(b)) {
                (AttrData::Ext(a), AttrData::Ext(b)) => self.ext_attr_storage(a).agrees(self.ext_attr_storage(b)),
                _ => false,
            }
    }

    /// A property of a ranked tensor type; `None` where the type does not state it.
    pub fn property(&self, ty: Type, name: &str) -> Option<Attr> {
        let encoding = self.encoding(ty)?;
        match self.attr_data(encoding) {
            AttrData::Dict(_) => self.entries(encoding).iter().find(|e| self.str(e.name) == name).map(|e| e.value),
            _ => (self.property_of(encoding) == name).then_some(encoding),
        }
    }

    /// All properties of a ranked tensor type, by name.
    pub fn properties(&self, ty: Type) -> Vec<NamedAttr> {
        let Some(encoding) = self.encoding(ty) else { return Vec::new() };
        match self.attr_data(encoding) {
            AttrData::Dict(_) => self.entries(encoding).to_vec(),
            _ => vec![NamedAttr { name: self.ident(self.property_of(encoding)), value: encoding }],
        }
    }

    /// The type with a property set, or without it; all others stay. Another type than a ranked tensor is returned as it is.
    #[must_use]
    pub fn with_property(&self, ty: Type, name: &str, value: Option<Attr>) -> Type {
        let TypeData::RankedTensor { shape, elem, .. } = self.type_data(ty) else { return ty };
        let mut all = self.properties(ty);
        all.retain(|e| self.str(e.name) != name);
        all.extend(value.map(|value| NamedAttr { name: self.ident(name), value }));
        let encoding = match &all[..] {
            [] => None,
            [only] if self.stands_alone(only) => Some(only.value),
            all => Some(self.dict(all)),
        };
        self.ty(TypeData::RankedTensor { shape, elem, encoding })
    }

    /// Checks each property against the tensor that has it.
    ///
    /// # Errors
    /// Says in words what does not fit.
    pub(crate) fn verify_properties(&self, ty: Type) -> Result<(), String> {
        let Some(shape) = self.shape(ty) else { return Ok(()) };
        for NamedAttr { name, value } in self.properties(ty) {
            let AttrData::Ext(id) = self.attr_data(value) else { continue };
            let storage = self.ext_attr_storage(id);
            if let Some(own) = storage.property().filter(|own| *own != self.str(name)) {
                return Err(format!("#{} is the property '{own}', not '{}'", storage.name(), self.str(name)));
            }
            storage.verify_encoding(self, shape, self.element_type(ty))?;
        }
        Ok(())
    }

    /// The property that an encoding is which stands alone.
    fn property_of(&self, encoding: Attr) -> &'static str {
        match self.attr_data(encoding) {
            AttrData::Ext(id) => self.ext_attr_storage(id).property().unwrap_or(UNNAMED),
            _ => UNNAMED,
        }
    }

    /// True for a property that need not be written in a dictionary.
    fn stands_alone(&self, property: &NamedAttr) -> bool {
        let is_dict = matches!(self.attr_data(property.value), AttrData::Dict(_));
        !is_dict && self.property_of(property.value) == self.str(property.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn who_sets_a_property_keeps_the_others() {
        let cx = Context::new(Registry::default());
        let (plain, number) = (cx.tensor_type(&[4], Type::F32, None), cx.string_attr("a"));
        let foreign = cx.tensor_type(&[4], Type::F32, Some(number));
        assert_eq!(cx.property(foreign, UNNAMED), Some(number));
        assert_eq!(cx.property(foreign, "b"), None);
        let both = cx.with_property(foreign, "b", Some(Attr::UNIT));
        assert_eq!((cx.property(both, UNNAMED), cx.property(both, "b")), (Some(number), Some(Attr::UNIT)));
        assert_eq!(cx.properties(both).len(), 2);
        assert_eq!(cx.with_property(both, "b", None), foreign, "what stood alone stands alone again");
        assert_eq!(cx.with_property(foreign, UNNAMED, None), plain);
        assert_eq!(cx.with_property(plain, "b", None), plain);
        // A dictionary cannot stand alone: its entries would be properties.
        let dict = cx.dict(&[NamedAttr { name: cx.ident("c"), value: number }]);
        let held = cx.with_property(plain, UNNAMED, Some(dict));
        assert_eq!((cx.property(held, UNNAMED), cx.property(held, "c")), (Some(dict), None));
        assert_eq!(cx.with_property(Type::F32, "b", Some(number)), Type::F32);
    }
}
