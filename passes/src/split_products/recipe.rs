//! Scalar code taken out of a body, to be written into another one.

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::graph::ComputeForm;
use sutura_dialects::graph::build::Scalars;
use sutura_ir::analysis::effects::is_speculatable;
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
pub(crate) struct Recipe {
    steps: Vec<Step>,
    last: Source,
    /// Inputs that are read, each once.
    pub(crate) inputs: Vec<usize>,
}

impl Recipe {
    /// What makes `value` in the body of `form`; `None` where an op is no pure function of elements.
    pub(crate) fn of(form: &ComputeForm<'_>, value: Value) -> Option<Self> {
        let op = form.op;
        let args = form.body.args();
        let mut sources: FxHashMap<Value, Source> = FxHashMap::default();
        let (mut needed, mut open) = (FxHashSet::default(), vec![value]);
        while let Some(value) = open.pop() {
            if !args.contains(&value) && needed.insert(value) {
                let def = op.body.defining_op(value).map(|def| op.at(def)).filter(|def| is_scalar(*def))?;
                open.extend(def.operands());
            }
        }
        let (mut steps, mut inputs) = (Vec::new(), Vec::new());
        let mut source =
            |value: Value, sources: &FxHashMap<Value, Source>| match args.iter().position(|arg| *arg == value) {
                Some(input) => {
                    if !inputs.contains(&input) {
                        inputs.push(input);
                    }
                    Some(Source::Input(input))
                }
                None => sources.get(&value).copied(),
            };
        for def in form.body.ops() {
            let Some(made) = def.results().next().filter(|made| needed.contains(made)) else { continue };
            let operands = def.operands().map(|v| source(v, &sources)).collect::<Option<Vec<_>>>()?;
            let props = op.cx.entries(op.body.props(def.op)).iter().map(|e| (e.name, e.value)).collect();
            sources.insert(made, Source::Step(steps.len()));
            steps.push(Step { name: def.name(), props, operands, ty: def.ty(made) });
        }
        let last = source(value, &sources)?;
        Some(Self { steps, last, inputs })
    }

    /// True when the number is an element as it is read.
    pub(super) fn is_plain(&self) -> bool {
        self.steps.is_empty()
    }

    /// Writes the ops; `args` has the elements of [`Self::inputs`].
    pub(crate) fn write(&self, s: &mut Scalars<'_, '_>, args: &[Value]) -> Value {
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

/// True for an op whose only result depends on its operands alone, not on where it is computed, and that may be computed where no
/// element of the sum needs it: no division.
fn is_scalar(op: OpRef<'_>) -> bool {
    let plain = op.num_results() == 1 && op.body.regions(op.op).len() == 0;
    plain && op.has_trait(Traits::Pure) && is_speculatable(op) && !op.name_str().starts_with("graph.")
}
