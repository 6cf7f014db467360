//! Calls, conditions and loops of a function as those of its host program.
//!
//! Regions hold one call each, as `outline-regions` leaves them. What a loop carries lies in buffers around it.

use sutura_dialects::func::{CallOp, FuncOp};
use sutura_dialects::rt::{BufferType, CopyOp, invoke};
use sutura_dialects::scf::{ConditionOp, IfOp, WhileOp, YieldOp};
use sutura_dialects::tensor::ExtractOp;
use sutura_ir::op_ref::RegionRef;
use sutura_ir::{Builder, Loc, OpRef, OpView, Value};

use super::kernel::Built;
use super::program::{Assembly, buffer, place};

/// What a region does.
struct Side<'a> {
    args: &'a [Value],
    call: Option<CallOp<'a>>,
    /// What is handed on.
    yielded: Vec<Value>,
    /// What decides, in the first region of a loop.
    condition: Option<Value>,
}

/// Whether the op is a call, a condition or a loop, or makes the condition of one.
pub(super) fn is_control(op: OpRef<'_>) -> bool {
    op.is::<CallOp<'_>>() || op.is::<IfOp<'_>>() || op.is::<WhileOp<'_>>() || is_condition(op)
}

/// The one element of a tensor, for nothing but decisions.
fn is_condition(op: OpRef<'_>) -> bool {
    let decides = |user: OpRef<'_>| user.is::<IfOp<'_>>() || user.is::<ConditionOp<'_>>();
    op.is::<ExtractOp<'_>>() && op.num_operands() == 1 && op.body.uses(op.result(0)).all(|u| decides(op.at(u.owner)))
}

/// Checks such an op of `function`.
///
/// # Errors
/// Says what a host program cannot do.
pub(super) fn check(function: OpRef<'_>, op: OpRef<'_>) -> Built<()> {
    let values = |op: OpRef<'_>| op.operands().chain(op.results()).filter(|v| !is_flag(op, *v)).collect::<Vec<_>>();
    if let Some(call) = op.as_::<CallOp<'_>>() {
        let beside = function.body.op_block(function.op).into_iter().flat_map(|block| function.body.ops(block));
        let callee = beside.map(|op| function.at(op)).find(|op| op.symbol_name() == Some(call.callee()));
        let defined = callee.is_none_or(|callee| callee.as_::<FuncOp<'_>>().is_none_or(|f| !f.is_declaration()));
        if !defined {
            let error = op.error(format!("calls '@{}', which has no body here", call.callee()));
            return Err(Box::new(error.help("a host program calls what is in its module only")));
        }
        return values(op).into_iter().try_for_each(|v| buffer(op, op.body, v).map(drop));
    }
    let sides = op.regions().map(|region| side(op, region)).collect::<Built<Vec<Side<'_>>>>()?;
    let constant = sides.iter().filter_map(|side| side.condition).chain(op.as_::<IfOp<'_>>().map(|i| i.condition()));
    constant.into_iter().try_for_each(|condition| decided(op, condition).map(drop))?;
    let calls = sides.iter().filter_map(|side| side.call).map(|call| call.op_ref());
    for inner in calls.chain([op]) {
        values(inner).into_iter().try_for_each(|v| buffer(inner, op.body, v).map(drop))?;
    }
    Ok(())
}

/// A condition, which is no tensor.
fn is_flag(op: OpRef<'_>, value: Value) -> bool {
    op.ty(value) == sutura_ir::Type::I1
}

/// The tensor whose element decides.
fn decided(op: OpRef<'_>, condition: Value) -> Built<Value> {
    let extract = op.body.defining_op(condition).and_then(|o| op.at(o).as_::<ExtractOp<'_>>());
    let whole = extract.filter(|extract| extract.op_ref().num_operands() == 1).map(|extract| extract.tensor());
    whole.ok_or_else(|| {
        let error = op.error("is decided by something else than the element of a tensor of rank 0");
        Box::new(error.help("run `scalars-to-tensors` and `outline-regions` before this pass"))
    })
}

fn side<'a>(op: OpRef<'a>, region: RegionRef<'a>) -> Built<Side<'a>> {
    let mut side = Side { args: &[], call: None, yielded: Vec::new(), condition: None };
    let Some(block) = region.entry() else { return Ok(side) };
    side.args = block.args();
    for inner in block.ops() {
        if let Some(call) = inner.as_::<CallOp<'_>>().filter(|_| side.call.is_none()) {
            side.call = Some(call);
        } else if let Some(end) = inner.as_::<YieldOp<'_>>() {
            side.yielded = end.results().collect();
        } else if let Some(end) = inner.as_::<ConditionOp<'_>>() {
            side.yielded = end.args().collect();
            side.condition = Some(end.condition());
        } else if !is_condition(inner) {
            let error = inner.error(format!("has no place in '{}', whose regions make one call each", op.name_str()));
            return Err(Box::new(error.help("run `outline-regions` before this pass")));
        }
    }
    Ok(side)
}

/// What is done in a region: a call, then copies.
#[derive(Default)]
struct Done {
    call: Option<(String, Vec<Value>, Vec<Value>)>,
    copies: Vec<(Value, Value)>,
}

impl Done {
    fn emit(&self, b: &mut Builder<'_>, loc: Loc) {
        if let Some((name, inputs, outputs)) = &self.call {
            invoke(b, loc, name, inputs, outputs);
        }
        for (from, to) in &self.copies {
            CopyOp::build(b, loc, *from, *to);
        }
    }
}

impl<'a> Assembly<'a, '_> {
    /// A call, a condition or a loop, which was checked.
    pub(super) fn control(&mut self, op: OpRef<'a>) -> Built<()> {
        if let Some(call) = op.as_::<CallOp<'_>>() {
            let inputs: Vec<Value> = op.operands().map(|v| self.buffers[&v]).collect();
            let mut outputs = Vec::with_capacity(op.num_results());
            for result in op.results() {
                let buffer = place(&mut self.converted.program, &self.placed, op, result)?;
                self.buffers.insert(result, buffer);
                outputs.push(buffer);
            }
            self.converted.program.invoke(op.loc(), call.callee(), &inputs, &outputs);
        } else if let Some(this) = op.as_::<IfOp<'_>>() {
            self.condition(op, this)?;
        } else if op.is::<WhileOp<'_>>() {
            self.repeated(op)?;
        }
        Ok(())
    }

    fn alloc(&mut self, op: OpRef<'a>, value: Value) -> Built<Value> {
        let ty = buffer(op, op.body, value)?;
        Ok(self.converted.program.alloc(op.loc(), ty))
    }

    fn is_of(&self, buffer: Value, ty: &BufferType) -> bool {
        self.converted.program.ty(buffer) == ty
    }

    fn condition(&mut self, op: OpRef<'a>, this: IfOp<'a>) -> Built<()> {
        let condition = self.buffers[&decided(op, this.condition())?];
        let mut results = Vec::with_capacity(op.num_results());
        for result in op.results() {
            let buffer = place(&mut self.converted.program, &self.placed, op, result)?;
            self.buffers.insert(result, buffer);
            results.push(buffer);
        }
        let mut done = Vec::new();
        for region in op.regions() {
            let side = side(op, region)?;
            done.push(self.fill_buffers(op, &side, &results, &[])?);
        }
        self.converted.program.if_(op.loc(), condition, |i, b| {
            if let Some(done) = done.get(i) {
                done.emit(b, op.loc());
            }
        });
        Ok(())
    }

    /// Makes what a region hands on in `targets`: in place where the call may write there, else by a copy. What is in `kept` is
    /// read after the call was made, and copied before it is overwritten.
    fn fill_buffers(&mut self, op: OpRef<'a>, side: &Side<'a>, targets: &[Value], kept: &[Value]) -> Built<Done> {
        let mut done = Done::default();
        if let Some(call) = side.call {
            let inner = call.op_ref();
            let inputs: Vec<Value> = inner.operands().map(|v| self.buffers[&v]).collect();
            let mut outputs = Vec::new();
            for result in inner.results() {
                let ty = buffer(inner, op.body, result)?;
                let free = |target: &Value, outputs: &[Value]| {
                    self.is_of(*target, &ty)
                        && !inputs.contains(target)
                        && !kept.contains(target)
                        && !outputs.contains(target)
                };
                let at = side.yielded.iter().position(|v| *v == result).and_then(|at| targets.get(at).copied());
                let output = match at.filter(|target| free(target, &outputs)) {
                    Some(target) => target,
                    None => self.converted.program.alloc_each_iteration(inner.loc(), ty),
                };
                self.buffers.insert(result, output);
                outputs.push(output);
            }
            done.call = Some((call.callee().to_owned(), inputs, outputs));
        }
        let sources: Vec<Value> = side.yielded.iter().map(|v| self.buffers[v]).collect();
        let mut pairs: Vec<(Value, Value)> =
            sources.into_iter().zip(targets.iter().copied()).filter(|(from, to)| from != to).collect();
        // What is both read and written is read first.
        for i in 0..pairs.len() {
            let (from, to) = pairs[i];
            let overwritten = pairs.iter().any(|(_, other)| *other == from && *other != to);
            if overwritten {
                let ty = self.converted.program.ty(from).clone();
                let between = self.converted.program.alloc_each_iteration(op.loc(), ty);
                done.copies.push((from, between));
                pairs[i].0 = between;
            }
        }
        done.copies.extend(pairs);
        Ok(done)
    }

    fn repeated(&mut self, op: OpRef<'a>) -> Built<()> {
        let loc = op.loc();
        let (before, after) = (op.region(0).expect("verified"), op.region(1).expect("verified"));
        let (before, after) = (side(op, before)?, side(op, after)?);
        let mut state = Vec::with_capacity(before.args.len());
        for (arg, init) in before.args.iter().zip(op.operands()) {
            let buffer = self.alloc(op, *arg)?;
            self.converted.program.copy(loc, self.buffers[&init], buffer);
            self.buffers.insert(*arg, buffer);
            state.push(buffer);
        }
        // What the call before the condition makes and the loop hands on is made where the result is.
        let mut targets = Vec::with_capacity(op.num_results());
        for (result, value) in op.results().zip(&before.yielded) {
            let made = before.call.is_some_and(|call| call.op_ref().results().any(|r| r == *value));
            let first = before.yielded.iter().position(|v| v == value);
            let buffer = match first.filter(|first| made && *first < targets.len()) {
                Some(first) => targets[first],
                None if made => place(&mut self.converted.program, &self.placed, op, result)?,
                None => self.buffers[value],
            };
            targets.push(buffer);
            self.buffers.insert(result, buffer);
        }
        let first = self.fill_buffers(op, &before, &targets, &[])?;
        let condition = before.condition.ok_or_else(|| Box::new(op.error("has no condition")))?;
        let condition = self.buffers[&decided(op, condition)?];
        for (arg, buffer) in after.args.iter().zip(&targets) {
            self.buffers.insert(*arg, *buffer);
        }
        // A state that the loop hands on, or copies to another one, is still read when the call is made.
        let read: Vec<Value> =
            after.yielded.iter().filter_map(|v| self.buffers.get(v).copied()).filter(|b| state.contains(b)).collect();
        let second = self.fill_buffers(op, &after, &state, &read)?;
        self.converted.program.while_(
            loc,
            condition,
            |i, b| {
                if i == 0 { first.emit(b, loc) } else { second.emit(b, loc) }
            },
        );
        Ok(())
    }
}
