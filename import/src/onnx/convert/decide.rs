//! Numbers that data tell, as sizes.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::r#dyn::attr::tensor_of;
use sutura_dialects::graph::build::SliceBounds;
use sutura_ir::location::LocData;
use sutura_ir::types::MAX_RANK;
use sutura_ir::{Type, Value};

use super::super::op::Param;
use super::super::tensor::Scalar;
use super::{Importer, Made, fail, named_loc, names, rank_message};

impl<'m> Importer<'m, '_, '_> {
    /// A number, which may be data, as a size. That it is one, so not negative, is checked in every run.
    pub(in super::super) fn size_of_number(&mut self, number: Value) -> Made<Poly> {
        let number = self.number(number, "number that is a size")?;
        let number = self.g.cast(number, Type::I64)?;
        if let Some(known) = self.g.contents(number).and_then(|contents| contents.first().cloned().flatten()) {
            self.not_negative(&vec![Some(known.clone())], "size")?;
            return Ok(known);
        }
        let places = self.reserve();
        let rows = self.g.decide_size(number, places);
        let rows = self.decided(rows, 0)?;
        match self.g.shape(rows).first().cloned().flatten() {
            Some(size) => Ok(size),
            None => fail("decides a size that has no name"),
        }
    }

    /// The numbers of a list, which may be data, as sizes.
    pub(in super::super) fn sizes_of_list(&mut self, list: Value) -> Made<Vec<Poly>> {
        let length = self.g.shape(list).first().cloned().flatten().and_then(|length| length.as_const());
        let Some(length) = length else {
            return fail("takes sizes from a list of which it is not known how many it has");
        };
        if usize::try_from(length).is_ok_and(|length| length > MAX_RANK) {
            return fail(rank_message(length.unsigned_abs() as usize));
        }
        let mut sizes = Vec::new();
        for at in 0..length {
            let number = self.g.slice(list, &[0], &SliceBounds::Known(vec![at], vec![at + 1]), &[1])?;
            sizes.push(self.size_of_number(number)?);
        }
        Ok(sizes)
    }

    /// One size, which may be data.
    pub(in super::super) fn any_size(&mut self, param: &Param<'m, Scalar>, what: &str) -> Made<Poly> {
        if let Some(size) = self.size(param)? {
            self.not_negative(&vec![Some(size.clone())], what)?;
            return Ok(size);
        }
        match param {
            Param::Value(name) => {
                let value = self.deciding(name)?;
                self.size_of_number(value)
            }
            Param::Known(_) => fail(format!("has a `{what}` that is no size")),
        }
    }

    /// A new argument that says how many places there are.
    fn reserve(&mut self) -> Value {
        let hint = match self.cx().loc_data(self.g.loc) {
            LocData::Name { name, .. } => format!("{}_places", self.cx().str(name)),
            _ => "places".to_owned(),
        };
        let (name, cx) = (self.symbols.fresh(&hint), self.cx());
        self.g.env.facts.define(&name, Default::default());
        let ty = tensor_of(cx, &[Some(Poly::symbol(&name)), Some(0.into())], Type::I1);
        let entry = self.g.b.body().entry_block().expect("the function that is made has a block");
        let value = self.g.b.add_block_arg(entry, ty, named_loc(cx, &name));
        self.g.b.set_value_name(value, names::value_name(cx, &name));
        self.reserves.push((name, ty));
        value
    }
}
