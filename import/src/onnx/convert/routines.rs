//! Operators that routines of the runtime compute.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::Transform;
use sutura_ir::location::LocData;
use sutura_ir::{Type, Value};

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
            Op::Compress { x, condition, axis } => {
                let (x, condition) = (self.value(x)?, self.value(condition)?);
                if self.g.rank(condition) != 1 {
                    return wrong(format!(
                        "takes a list of conditions, not a tensor of rank {}",
                        self.g.rank(condition)
                    ));
                }
                let (x, axis) = self.along(x, *axis)?;
                let (least, most) = (self.g.shape(condition)[0].clone(), self.g.shape(x)[axis].clone());
                let beyond =
                    least.zip(most).is_some_and(|(given, most)| self.g.env.facts.range(&most.sub(&given)).1 < 0);
                if beyond {
                    return wrong("has more conditions than there are slices");
                }
                let found = self.g.non_zero(condition);
                let found = self.decided(found, 1);
                let places = self.g.squeeze(found, &[0])?;
                Ok(vec![self.g.gather(x, places, axis)])
            }
            Op::Unique { x, axis, sorted } => {
                let x = self.value(x)?;
                let (x, axis) = self.along(x, *axis)?;
                let results = self.g.unique(x, axis, *sorted);
                self.decided(results[1], 0);
                Ok(results)
            }
            Op::NonMaxSuppression { boxes, scores, most, overlap, least, centers } => {
                let (boxes, scores) = (self.value(boxes)?, self.value(scores)?);
                let filtered = least.is_some();
                let most = self.limit(*most, Type::I64)?;
                let (overlap, least) = (self.limit(*overlap, Type::F32)?, self.limit(*least, Type::F32)?);
                let inputs = [scores, boxes, most, overlap, least];
                let rows = self.g.non_max_suppression(inputs, *centers, filtered)?;
                Ok(vec![self.decided(rows, 0)])
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

    /// The value, and the dimension that an axis is; without one, all elements in a row.
    fn along(&mut self, x: Value, axis: Option<i64>) -> Made<(Value, usize)> {
        Ok(match axis {
            Some(axis) => (x, self.g.axis(axis, self.g.rank(x))?),
            None => {
                let rows = self.g.flatten(x, 0)?;
                (self.g.squeeze(rows, &[0])?, 0)
            }
        })
    }

    /// A number that may be left out, which then is 0.
    fn limit(&mut self, name: Option<&'m str>, elem: Type) -> Made<Value> {
        if let Some(name) = name {
            return self.value(name);
        }
        let dense = self.cx().dense_attr(self.cx().tensor_type(&[1], elem, None), &[0]);
        Ok(self.g.constant(dense.ok_or_else(|| "has no constant of its type".to_owned())?))
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
