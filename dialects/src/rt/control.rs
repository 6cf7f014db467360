//! Programs that run others, conditions and loops: what they check, and what they do in the interpreter.

use std::sync::Arc;

use sutura_interp::{Flow, Frame, InterpError, MemRef, Value, Values};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::Verify;
use sutura_ir::{AttrData, OpRef, OpView, Type};

use super::interp::{decided, held, sized};
use super::ops::{IfOp, InvokeOp, WhileOp};
use super::program::ProgramInfo;
use super::types::BufferType;

impl<'a> InvokeOp<'a> {
    /// Name of the program.
    pub fn callee(self) -> &'a str {
        let cx = self.op_ref().cx;
        match cx.attr_data(self.program()) {
            AttrData::SymbolRef { root, .. } => cx.str(root),
            _ => "",
        }
    }
}

/// Conditions and loops in each other that a program may have: what works on programs follows them by recursion.
pub const MOST_NESTED: usize = 256;

/// Conditions and loops around an op, counted up to one more than a program may have.
pub fn nesting(op: OpRef<'_>) -> usize {
    let around = std::iter::successors(op.parent(), |op| op.parent());
    around.filter(|op| is_control(*op)).take(MOST_NESTED + 1).count()
}

fn is_control(op: OpRef<'_>) -> bool {
    op.is::<IfOp<'_>>() || op.is::<WhileOp<'_>>()
}

/// The first condition or loop of a program that lies in too many others.
pub(super) fn nested_too_deep(program: OpRef<'_>) -> Option<OpRef<'_>> {
    let body = program.inside();
    let inside = body.preorder().map(|op| OpRef::new(program.cx, body, op));
    inside.filter(|op| is_control(*op)).find(|op| nesting(*op) >= MOST_NESTED)
}

/// A condition is one truth value.
fn verify_condition(op: OpRef<'_>, condition: sutura_ir::Value, diags: &mut Diagnostics) -> Result<(), Reported> {
    let ty = BufferType::of(op.cx, op.ty(condition)).expect("the declaration says a buffer");
    if ty.elem == Type::I1 && ty.dims.is_empty() {
        return Ok(());
    }
    let found = crate::show::ty(op.cx, op.ty(condition));
    Err(diags.report(op.error(format!("needs a '!rt.buffer<i1, []>' as condition, not a '{found}'"))))
}

impl Verify for IfOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_condition(op, IfOp::from_ref(op).condition(), diags)
    }
}

impl Verify for WhileOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_condition(op, WhileOp::from_ref(op).condition(), diags)
    }
}

/// What does not fit between an `rt.invoke` and the program that it names; the sizes of its inputs are looked at when it
/// runs.
///
/// # Errors
/// Says what.
pub(super) fn fits(invoke: InvokeOp<'_>, callee: &ProgramInfo<'_>) -> Result<(), String> {
    let op = invoke.op_ref();
    let sides = [
        ("input", invoke.inputs().collect::<Vec<_>>(), &callee.inputs),
        ("output", invoke.outputs().collect(), &callee.outputs),
    ];
    if let Some(most) = invoke.most() {
        let types = invoke.outputs().filter_map(|value| BufferType::of(op.cx, op.ty(value)));
        let dims = types.map(|ty| ty.dims.len()).sum::<usize>();
        if most.len() != dims {
            return Err(format!("has {} sizes as 'most' where its outputs have {dims}", most.len()));
        }
    }
    for (what, given, ports) in sides {
        if given.len() != ports.len() {
            return Err(format!("gives {} {what}s where '@{}' has {}", given.len(), callee.name, ports.len()));
        }
        for (value, port) in given.into_iter().zip(ports) {
            let ty = BufferType::of(op.cx, op.ty(value)).expect("the declaration says a buffer");
            if ty.elem != port.ty.elem || ty.dims.len() != port.ty.dims.len() {
                let (found, wanted) = (op.ty(value), op.cx.ext_type(port.ty.clone()));
                let show = |ty| crate::show::ty(op.cx, ty);
                return Err(format!("gives a {} as {what} '{}', which is a {}", show(found), port.name, show(wanted)));
            }
        }
    }
    Ok(())
}

/// Tensors of the inputs go in, those of the outputs come back.
pub(super) fn invoke(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let this = InvokeOp::from_ref(op);
    let (inputs, outputs) = (this.inputs().count(), this.outputs().count());
    let mut args = Values::new();
    for i in 0..inputs {
        let buffer = sized(op, i, frame)?;
        args.push(Value::Tensor(frame.memory().read(&buffer)?));
    }
    let results = frame.call_ref(this.program(), args)?;
    if this.most().is_some() {
        let mut sizes = Vec::new();
        for result in &results {
            sizes.extend(result.tensor()?.shape().iter().map(|size| *size as i64));
        }
        decided(op, &sizes, frame)?;
    }
    for (i, result) in (inputs..inputs + outputs).zip(&results) {
        let to: Arc<MemRef> = sized(op, i, frame)?;
        let contents = result.tensor()?.reshape(to.sizes())?;
        frame.memory().write(&to, &contents)?;
    }
    Ok(Flow::Next)
}

/// What the condition, the op's first operand, holds now.
fn condition(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<bool, InterpError> {
    let buffer = held(op, 0, frame)?;
    let value = frame.memory().read(&buffer)?.data().read(0)?;
    Ok(value.as_i64().is_some_and(|value| value != 0))
}

pub(super) fn if_(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let this = IfOp::from_ref(op);
    let side = if condition(op, frame)? { this.then() } else { this.otherwise() };
    frame.run_region(side, Values::new())?;
    Ok(Flow::Next)
}

pub(super) fn while_(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let this = WhileOp::from_ref(op);
    loop {
        frame.run_region(this.before(), Values::new())?;
        if !condition(op, frame)? {
            return Ok(Flow::Next);
        }
        frame.run_region(this.after(), Values::new())?;
        frame.charge(1)?;
    }
}
