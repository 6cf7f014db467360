//! Operators that routines of the runtime compute.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::Transform;
use sutura_ir::Value;
use sutura_ir::location::LocData;

use super::super::op::Op;
use super::{Importer, Made, fail, wrong};

impl<'m> Importer<'m, '_, '_> {
    /// The values that an operator of this kind makes.
    pub(super) fn routine(&mut self, op: &Op<'m>) -> Made<Vec<Value>> {
        match op {
            Op::TopK { x, k, axis, largest } => {
                let (x, sizes) = (self.value(x)?, self.all_sizes(k, "`K`")?);
                let axis = self.g.axis(*axis, self.g.rank(x))?;
                let [k] = &sizes[..] else { return wrong(format!("`K` must be one number, not {}", sizes.len())) };
                if k.as_const().is_some_and(|k| k < 0) {
                    return wrong(format!("takes {k} elements"));
                }
                Ok(self.g.top_k(x, k, axis, !*largest)?)
            }
            Op::NonZero { x } => {
                let x = self.value(x)?;
                let found = self.g.non_zero(x);
                Ok(vec![self.decided(found, 1)])
            }
            Op::Dft { x, length, axis, inverse, onesided } => {
                let x = self.value(x)?;
                let shape = self.g.shape(x);
                let axis = self.g.axis(*axis, shape.len())?;
                let size = match length {
                    Some(length) => self.size(length)?,
                    // The spectrum of so many real numbers has one more than half as many elements.
                    None if *inverse && *onesided => shape[axis].as_ref().map(|half| half.scale(2).sub(&Poly::from(2))),
                    None => shape[axis].clone(),
                };
                let Some(size) = size else {
                    return fail("has a length that depends on data; it must follow from shapes");
                };
                if size.as_const().is_some_and(|size| size < 1) {
                    return wrong(format!("transforms lines of {size} elements"));
                }
                let real = shape.last().cloned().flatten() == Some(1.into());
                if *onesided && real == *inverse {
                    let numbers =
                        if *inverse { "real numbers back from one side" } else { "one side of complex numbers" };
                    return wrong(format!("transforms {numbers}, which is not defined"));
                }
                let way = Transform { inverse: *inverse, onesided: *onesided };
                Ok(vec![self.g.fft(x, &size, axis, way)?])
            }
            other => fail(format!("is read but not converted: {other:?}")),
        }
    }

    /// Gives a size that the op of `value` decides a name, by which what follows knows it.
    fn decided(&mut self, value: Value, dim: usize) -> Value {
        let hint = match self.cx().loc_data(self.g.loc) {
            LocData::Name { name, .. } => format!("{}_{dim}", self.cx().str(name)),
            _ => format!("found_{dim}"),
        };
        let name = self.symbols.fresh(&hint);
        self.g.decide(value, dim, &name);
        self.decided.push(name);
        value
    }
}
