//! Blocks decoded for execution: what a step needs, looked up once.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use sutura_ir::body::Value as SsaValue;
use sutura_ir::{Block, Body, Context, Op, OpRef, Type};

use crate::constant::constant;
use crate::elementwise::{Meaning, ScalarMeaning};
use crate::engine::Interpret;
use crate::error::Fault;
use crate::num::Kernel;
use crate::scalar::{DType, Scalar};
use crate::value::Value;

/// A decoded block.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) args: Vec<Slot>,
    pub(crate) steps: Vec<Step>,
}

/// One op of a decoded block.
pub(crate) struct Step {
    pub(crate) op: Op,
    pub(crate) action: Action,
    pub(crate) operands: SmallVec<[Operand; 3]>,
    pub(crate) results: SmallVec<[Slot; 1]>,
}

/// What the op does.
pub(crate) enum Action {
    /// A numeric op on scalars.
    Scalar(Kernel),
    /// A scalar constant.
    Constant(Scalar),
    /// Anything else.
    Hook(&'static dyn Interpret),
    /// The op has no hook.
    Missing,
}

/// An operand as a number in the body's table of values.
#[derive(Clone, Copy)]
pub(crate) struct Operand {
    pub(crate) value: u32,
    /// Nothing reads the value after this op, before it is computed anew.
    pub(crate) last: bool,
}

/// A result or block argument.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    /// Number in the body's table of values.
    pub(crate) value: u32,
    check: Check,
}

#[derive(Clone, Copy)]
enum Check {
    Scalar(DType),
    Other(Type),
}

impl Slot {
    fn new(cx: &Context, body: &Body, value: SsaValue) -> Self {
        let ty = body.ty(value);
        let check = DType::of_scalar(cx, ty).map_or(Check::Other(ty), Check::Scalar);
        Self { value: value.index() as u32, check }
    }

    /// Checks that a value may be stored here.
    pub(crate) fn check(&self, cx: &Context, value: &Value) -> Result<(), Fault> {
        match (self.check, value) {
            (Check::Scalar(dtype), Value::Scalar(s)) if s.dtype() == dtype => Ok(()),
            (Check::Scalar(dtype), _) => {
                let message = format!("{} stands for a value of type {dtype}", value.describe());
                Err(Fault::type_mismatch(message))
            }
            (Check::Other(ty), _) => value.check_type(cx, ty),
        }
    }
}

/// Decodes a block.
pub(crate) fn decode(cx: &Context, body: &Body, block: Block) -> Code {
    let args = body.block_args(block).iter().map(|&arg| Slot::new(cx, body, arg)).collect();
    let mut steps: Vec<Step> = body.ops(block).map(|op| step(OpRef::new(cx, body, op))).collect();
    mark_last_uses(body, block, &mut steps);
    Code { args, steps }
}

fn step(op: OpRef<'_>) -> Step {
    let operand = |v: SsaValue| Operand { value: v.index() as u32, last: false };
    Step {
        op: op.op,
        action: action(op),
        operands: op.operands().map(operand).collect(),
        results: op.results().map(|v| Slot::new(op.cx, op.body, v)).collect(),
    }
}

/// A value that is defined in the block and used only there is dead after its last use, and computed anew the next time
/// the block runs.
fn mark_last_uses(body: &Body, block: Block, steps: &mut [Step]) {
    struct Uses {
        left: usize,
        /// The step that had the value before.
        at: Option<usize>,
    }
    let mut all: FxHashMap<SsaValue, Uses> = FxHashMap::default();
    for (at, step) in steps.iter_mut().enumerate() {
        for (operand, value) in step.operands.iter_mut().zip(body.operands(step.op)) {
            let uses = all.entry(value).or_insert_with(|| Uses { left: body.uses(value).count(), at: None });
            uses.left -= 1;
            // An op that has the value twice may read it again.
            let again = uses.at.replace(at) == Some(at);
            operand.last = uses.left == 0 && !again && body.value_block(value) == Some(block);
        }
    }
}

fn action(op: OpRef<'_>) -> Action {
    // Ops that their dialect does not declare may have a hook, too.
    let hook = || op.cx.registry().interface::<dyn Interpret>(op.name_str()).map(Action::Hook);
    scalar(op).or_else(hook).unwrap_or(Action::Missing)
}

/// The op as a number's computation, when all its types are numbers. An op whose meaning cannot be bound is left to its
/// hook, which says why.
fn scalar(op: OpRef<'_>) -> Option<Action> {
    if op.num_results() != 1 {
        return None;
    }
    let meaning = op.interface::<dyn ScalarMeaning>()?.meaning(op).ok()?;
    let dtype = DType::of_scalar(op.cx, op.ty(op.result(0)))?;
    match meaning[..] {
        [Meaning::Constant(attr)] => match constant(op.cx, attr) {
            Ok(Value::Scalar(value)) if value.dtype() == dtype => Some(Action::Constant(value)),
            _ => None,
        },
        [Meaning::Num(num)] if op.num_operands() == num.arity() => {
            let types: Option<SmallVec<[DType; 3]>> =
                op.operand_types().map(|ty| DType::of_scalar(op.cx, ty)).collect();
            num.with_types(&types?, dtype).ok().map(Action::Scalar)
        }
        _ => None,
    }
}
