//! Scalar code taken out of a body, to be written into another one.

use sutura_dialects::graph::ComputeForm;
use sutura_dialects::graph::build::Scalars;
use sutura_ir::builder::OpState;
use sutura_ir::op_def::Traits;
use sutura_ir::{Attr, Ident, OpName, OpRef, Type, Value};

/// Where a number comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// An input of the op.
    Input(usize),
    /// What an earlier step made.
    Step(usize),
}

/// A scalar op with one result.
struct Step {
    name: OpName,
    props: Vec<(Ident, Attr)>,
    operands: Vec<Source>,
    ty: Type,
}

/// Scalar ops that make one number of elements of inputs.
pub(super) struct Recipe {
    steps: Vec<Step>,
    last: Source,
    /// Inputs that are read, each once.
    pub(super) inputs: Vec<usize>,
}

impl Recipe {
    /// What makes `value` in the body of `form`; `None` where an op is no pure function of elements.
    pub(super) fn of(form: &ComputeForm<'_>, value: Value) -> Option<Self> {
        let mut this = Self { steps: vec![], last: Source::Step(0), inputs: vec![] };
        let mut made = Vec::new();
        this.last = this.source(form, value, &mut made)?;
        Some(this)
    }

    fn source(&mut self, form: &ComputeForm<'_>, value: Value, made: &mut Vec<(Value, usize)>) -> Option<Source> {
        if let Some(input) = form.body.args().iter().position(|arg| *arg == value) {
            if !self.inputs.contains(&input) {
                self.inputs.push(input);
            }
            return Some(Source::Input(input));
        }
        if let Some((_, step)) = made.iter().find(|(known, _)| *known == value) {
            return Some(Source::Step(*step));
        }
        let op = form.op;
        let def = op.body.defining_op(value).map(|def| op.at(def)).filter(|def| is_scalar(*def))?;
        let operands = def.operands().map(|v| self.source(form, v, made)).collect::<Option<Vec<_>>>()?;
        let props = op.cx.entries(op.body.props(def.op)).iter().map(|e| (e.name, e.value)).collect();
        self.steps.push(Step { name: def.name(), props, operands, ty: def.ty(value) });
        made.push((value, self.steps.len() - 1));
        Some(Source::Step(self.steps.len() - 1))
    }

    /// True when the number is an element as it is read.
    pub(super) fn is_plain(&self) -> bool {
        self.steps.is_empty()
    }

    /// Writes the ops; `args` has the elements of [`Self::inputs`].
    pub(super) fn write(&self, s: &mut Scalars<'_, '_>, args: &[Value]) -> Value {
        let mut made: Vec<Value> = Vec::with_capacity(self.steps.len());
        let value = |source: Source, made: &[Value]| match source {
            Source::Step(step) => made[step],
            Source::Input(input) => {
                let at = self.inputs.iter().position(|i| *i == input).expect("all that are read are listed");
                args[at]
            }
        };
        for step in &self.steps {
            let operands: Vec<Value> = step.operands.iter().map(|source| value(*source, &made)).collect();
            let mut state = OpState::new(step.name, s.loc()).operands(operands).results([step.ty]);
            for (name, attr) in &step.props {
                state = state.prop(*name, *attr);
            }
            made.push(s.create(state));
        }
        value(self.last, &made)
    }
}

/// True for an op whose only result depends on its operands alone, not on where it is computed.
fn is_scalar(op: OpRef<'_>) -> bool {
    let plain = op.num_results() == 1 && op.body.regions(op.op).len() == 0;
    plain && op.has_trait(Traits::Pure) && !op.name_str().starts_with("graph.")
}
