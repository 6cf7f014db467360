//! Operators of the library, built as what they stand for.

use sutura_ir::op_ref::BlockRef;
use sutura_ir::{Attr, NamedAttr, OpRef, Type, Value};

use super::super::operator::{Actual, Operator, OperatorOp, bind, library, lift};
use super::{Built, GraphBuilder, fail, unsupported};

impl GraphBuilder<'_, '_> {
    /// The decomposition of an operator of the library, applied to `inputs`.
    ///
    /// # Errors
    /// When the library does not have it, or it cannot be applied.
    pub fn expanded(&mut self, name: &str, inputs: &[Value], attributes: &[(&str, Attr)]) -> Built<Vec<Value>> {
        let cx = self.cx();
        let modules = library(cx, &|operator| operator == name);
        let ops = modules.iter().flat_map(|module| {
            let body = module.body();
            body.entry_block().into_iter().flat_map(|block| body.ops(block)).map(move |op| OpRef::new(cx, body, op))
        });
        let found = ops.filter(|op| op.is::<OperatorOp<'_>>()).find(|op| op.symbol_name() == Some(name));
        let Some(found) = found else { return unsupported(format!("the library has no operator @{name}")) };
        let operator = Operator::read(found).or_else(fail)?;
        let actual = |value: &Value| Actual { elem: self.elem(*value), shape: self.shape(*value) };
        let actuals: Vec<Actual> = inputs.iter().map(actual).collect();
        let named = |(name, value): &(&str, Attr)| NamedAttr { name: cx.ident(name), value: *value };
        let attributes: Vec<NamedAttr> = attributes.iter().map(named).collect();
        let binding = bind(cx, &operator, &actuals, &attributes, &mut self.env.facts)?;
        self.assumed.extend(binding.required.iter().cloned());
        let body = found.inside();
        let Some(block) = body.entry_block() else { return fail("has an empty body") };
        lift(self, &operator, BlockRef { cx, body, block }, &binding, inputs)
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
