//! Operators of the library, built as what they stand for.

use rustc_hash::FxHashMap;
use sutura_ir::op_ref::BlockRef;
use sutura_ir::{Attr, NamedAttr, OpRef, Type, Value};

use super::super::operator::{Actual, Operator, bind, library, lift};
use super::{Built, GraphBuilder, unsupported};

impl GraphBuilder<'_, '_> {
    /// The decomposition of an operator of the library, applied to `inputs`.
    ///
    /// # Errors
    /// When the library does not have it, or it cannot be applied.
    pub fn expanded(&mut self, name: &str, inputs: &[Value], attributes: &[(&str, Attr)]) -> Built<Vec<Value>> {
        let cx = self.cx();
        let modules = library(cx, &|operator| operator == name);
        let mut known: FxHashMap<String, (Operator, BlockRef<'_>)> = FxHashMap::default();
        for module in &modules {
            let body = module.body();
            for op in body.entry_block().into_iter().flat_map(|block| body.ops(block)) {
                let op = OpRef::new(cx, body, op);
                let (Ok(operator), Some(entry)) = (Operator::read(op), op.region(0).and_then(|r| r.entry())) else {
                    continue;
                };
                known.insert(operator.name.clone(), (operator, entry));
            }
        }
        let find = |name: &str| known.get(name).map(|(operator, entry)| (operator, *entry));
        let Some((operator, entry)) = find(name) else {
            return unsupported(format!("the library has no operator @{name}"));
        };
        let actual = |value: &Value| Actual { elem: self.elem(*value), shape: self.shape(*value) };
        let actuals: Vec<Actual> = inputs.iter().map(actual).collect();
        let named = |(name, value): &(&str, Attr)| NamedAttr { name: cx.ident(name), value: *value };
        let attributes: Vec<NamedAttr> = attributes.iter().map(named).collect();
        let binding = bind(cx, operator, &actuals, &attributes, &mut self.env.facts)?;
        self.assumed.extend(binding.required.iter().cloned());
        lift(self, operator, entry, &binding, inputs, (self.loc, &find))
    }

    fn single(&mut self, name: &str, inputs: &[Value], attributes: &[(&str, Attr)]) -> Built {
        self.expanded(name, inputs, attributes).map(|made| made[0])
    }

    fn axis_attr(&self, axis: usize) -> (&'static str, Attr) {
        ("axis", self.cx().int_attr(axis as i64, Type::I64))
    }

    /// Softmax along one dimension.
    ///
    /// # Errors
    /// When it cannot be applied.
    pub fn softmax(&mut self, x: Value, axis: usize) -> Built {
        let axis = self.axis_attr(axis);
        self.single("softmax", &[x], &[axis])
    }

    /// Layer normalisation over the dimensions from `axis` on.
    ///
    /// # Errors
    /// When it cannot be applied.
    pub fn layer_norm(&mut self, x: Value, axis: usize, scale: Value, bias: Option<Value>, epsilon: f32) -> Built {
        let attributes = [self.axis_attr(axis), ("epsilon", self.cx().f32_attr(epsilon))];
        match bias {
            Some(bias) => self.single("layer_norm", &[x, scale, bias], &attributes),
            None => self.single("layer_norm_unbiased", &[x, scale], &attributes),
        }
    }

    /// Normalisation by the root of the mean square over the dimensions from `axis` on.
    ///
    /// # Errors
    /// When it cannot be applied.
    pub fn rms_norm(&mut self, x: Value, axis: usize, scale: Value, epsilon: f32) -> Built {
        let attributes = [self.axis_attr(axis), ("epsilon", self.cx().f32_attr(epsilon))];
        self.single("rms_norm", &[x, scale], &attributes)
    }

    /// Gelu, by the error function or its approximation by tanh.
    ///
    /// # Errors
    /// When it cannot be applied.
    pub fn gelu(&mut self, x: Value, tanh: bool) -> Built {
        self.single(if tanh { "gelu_tanh" } else { "gelu" }, &[x], &[])
    }

    /// `1 / (1 + exp(-x))`
    ///
    /// # Errors
    /// When it cannot be applied.
    pub fn sigmoid(&mut self, x: Value) -> Built {
        self.single("sigmoid", &[x], &[])
    }
}
