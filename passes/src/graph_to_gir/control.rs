//! Calls, conditions and loops of a function as those of its host program.
//!
//! Regions hold one call each, as `outline-regions` leaves them. What a loop carries lies in buffers around it; an iteration makes
//! what comes next beside it, and both change their memory.

use std::collections::HashMap;
use std::hash::Hash;

use sutura_dialects::func::{CallOp, FuncOp};
use sutura_dialects::rt::{BufferType, CopyOp, ExchangeOp, ProgramBuilder, invoke};
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

/// The program that runs, its inputs and its outputs.
type Call = (String, Vec<Value>, Vec<Value>);

/// What is done in a region: a call, then what puts what it hands on in its place.
#[derive(Default)]
struct Done {
    call: Option<Call>,
    moves: Vec<Move<Value>>,
}

/// How a buffer comes to hold what it must.
#[derive(Clone, Copy)]
enum Move<T> {
    Copy(T, T),
    Exchange(T, T),
}

impl Done {
    fn emit(&self, b: &mut Builder<'_>, loc: Loc) {
        if let Some((name, inputs, outputs)) = &self.call {
            invoke(b, loc, name, inputs, outputs);
        }
        for step in &self.moves {
            match *step {
                Move::Copy(from, to) => drop(CopyOp::build(b, loc, from, to)),
                Move::Exchange(first, second) => drop(ExchangeOp::build(b, loc, first, second)),
            }
        }
    }
}

/// Whether a loop hands on what it carries at this place as it got it.
fn is_unchanged(before: &Side<'_>, after: &Side<'_>, index: usize) -> bool {
    let handed = after.yielded.get(index).and_then(|value| after.args.iter().position(|arg| arg == value));
    handed.is_some_and(|at| before.yielded.get(at) == before.args.get(index))
}

/// The exchanges, then the copies, after which each target holds what its source did; `movable` are the buffers whose contents
/// nobody needs but through the sources.
fn moves<T: Copy + Eq + Hash>(
    pairs: &[(T, T)],
    movable: &[T],
    same: &dyn Fn(T, T) -> bool,
) -> (Vec<Move<T>>, Vec<(T, T)>) {
    // One target gets each content itself, where it can; others get copies.
    let mut owner: HashMap<T, T> = pairs.iter().filter(|(from, to)| from == to).copied().collect();
    for (from, to) in pairs {
        if movable.contains(from) && same(*from, *to) {
            owner.entry(*from).or_insert(*to);
        }
    }
    let owns = |from: &T, to: &T| owner.get(from) == Some(to);
    // Which buffer holds each content now.
    let mut place: HashMap<T, T> = HashMap::new();
    let mut moves = Vec::new();
    for (from, to) in pairs.iter().filter(|(from, to)| owns(from, to)) {
        let now = *place.get(from).unwrap_or(from);
        if now == *to {
            continue;
        }
        moves.push(Move::Exchange(*to, now));
        let pushed = place.iter().find(|(_, at)| *at == to).map_or(*to, |(content, _)| *content);
        place.insert(pushed, now);
        place.insert(*from, *to);
    }
    let copies = pairs.iter().filter(|(from, to)| !owns(from, to));
    let copies = copies.map(|(from, to)| (*place.get(from).unwrap_or(from), *to)).collect();
    (moves, copies)
}

impl<'a, 'c> Assembly<'a, 'c> {
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
            done.push(self.fill_buffers(op, &side, &results)?);
        }
        self.converted.program.if_(op.loc(), condition, |i, b| {
            if let Some(done) = done.get(i) {
                done.emit(b, op.loc());
            }
        });
        Ok(())
    }

    /// Makes what a region hands on in `targets`: in place where the call may write there, else by a copy.
    fn fill_buffers(&mut self, op: OpRef<'a>, side: &Side<'a>, targets: &[Value]) -> Built<Done> {
        let wanted: Vec<(Value, Value)> = side.yielded.iter().copied().zip(targets.iter().copied()).collect();
        let call = self.call(op, side, &wanted, &[], ProgramBuilder::alloc_each_iteration)?;
        let pairs: Vec<(Value, Value)> = wanted.iter().map(|(value, to)| (self.buffers[value], *to)).collect();
        let moves = self.copies(op, pairs);
        Ok(Done { call, moves })
    }

    /// The call of a region, with outputs in place of what is wanted of each value where the call may write there: it reads nothing
    /// of it, and neither does what comes after it (`kept`). Other outputs are made by `alloc`.
    fn call(
        &mut self,
        op: OpRef<'a>,
        side: &Side<'a>,
        wanted: &[(Value, Value)],
        kept: &[Value],
        alloc: fn(&mut ProgramBuilder<'c>, Loc, BufferType) -> Value,
    ) -> Built<Option<Call>> {
        let Some(call) = side.call else { return Ok(None) };
        let inner = call.op_ref();
        let inputs: Vec<Value> = inner.operands().map(|v| self.buffers[&v]).collect();
        let mut outputs = Vec::new();
        for result in inner.results() {
            let ty = buffer(inner, op.body, result)?;
            let free = |target: &Value| ![&inputs[..], kept, &outputs].iter().any(|taken| taken.contains(target));
            let at = wanted.iter().find(|(value, _)| *value == result).map(|(_, target)| *target);
            let output = match at.filter(|target| self.is_of(*target, &ty) && free(target)) {
                Some(target) => target,
                None => alloc(&mut self.converted.program, inner.loc(), ty),
            };
            self.buffers.insert(result, output);
            outputs.push(output);
        }
        Ok(Some((call.callee().to_owned(), inputs, outputs)))
    }

    /// Copies that are made as if at once.
    fn copies(&mut self, op: OpRef<'a>, pairs: Vec<(Value, Value)>) -> Vec<Move<Value>> {
        let mut pairs: Vec<(Value, Value)> = pairs.into_iter().filter(|(from, to)| from != to).collect();
        let mut first = Vec::new();
        // What is both read and written is read first.
        for i in 0..pairs.len() {
            let (from, to) = pairs[i];
            let overwritten = pairs.iter().any(|(_, other)| *other == from && *other != to);
            if overwritten {
                let ty = self.converted.program.ty(from).clone();
                let between = self.converted.program.alloc_each_iteration(op.loc(), ty);
                first.push(Move::Copy(from, between));
                pairs[i].0 = between;
            }
        }
        first.into_iter().chain(pairs.into_iter().map(|(from, to)| Move::Copy(from, to))).collect()
    }

    fn repeated(&mut self, op: OpRef<'a>) -> Built<()> {
        let loc = op.loc();
        let (before, after) = (op.region(0).expect("verified"), op.region(1).expect("verified"));
        let (before, after) = (side(op, before)?, side(op, after)?);
        // Buffers of what changes, by number.
        let mut state: Vec<(usize, Value)> = Vec::with_capacity(before.args.len());
        for (i, (arg, init)) in before.args.iter().zip(op.operands()).enumerate() {
            let (ty, init) = (buffer(op, op.body, *arg)?, self.buffers[&init]);
            let program = &mut self.converted.program;
            let buffer = match is_unchanged(&before, &after, i) {
                true if *program.ty(init) == ty => init,
                true => program.view(loc, init, ty),
                false => {
                    let buffer = program.alloc(loc, ty);
                    program.copy(loc, init, buffer);
                    state.push((i, buffer));
                    buffer
                }
            };
            self.buffers.insert(*arg, buffer);
        }
        let (targets, made) = self.made_before(op, &before, &after)?;
        let first = self.fill_buffers(op, &before, &targets)?;
        let condition = before.condition.ok_or_else(|| Box::new(op.error("has no condition")))?;
        let condition = self.buffers[&decided(op, condition)?];
        for (arg, buffer) in after.args.iter().zip(&targets) {
            self.buffers.insert(*arg, *buffer);
        }
        let second = self.advance(op, &after, &state, made)?;
        self.converted.program.while_(
            loc,
            condition,
            |i, b| {
                if i == 0 { first.emit(b, loc) } else { second.emit(b, loc) }
            },
        );
        Ok(())
    }

    /// The buffers of what the first region of a loop hands on, which are those of the results; and those among them that are made
    /// anew in it for the loop alone.
    fn made_before(&mut self, op: OpRef<'a>, before: &Side<'a>, after: &Side<'a>) -> Built<(Vec<Value>, Vec<Value>)> {
        let (mut targets, mut own) = (Vec::with_capacity(op.num_results()), Vec::new());
        for (i, (result, value)) in op.results().zip(&before.yielded).enumerate() {
            let made = before.call.is_some_and(|call| call.op_ref().results().any(|r| r == *value));
            let first = before.yielded.iter().position(|v| v == value);
            let carried = after.args.get(i).is_some_and(|arg| after.yielded.contains(arg));
            let buffer = match first.filter(|first| made && *first < targets.len()) {
                Some(first) => targets[first],
                // What goes on to the next iteration changes its memory with what it replaces, which an output cannot.
                None if made && carried => {
                    own.push(self.alloc(op, result)?);
                    own[own.len() - 1]
                }
                None if made => place(&mut self.converted.program, &self.placed, op, result)?,
                None => self.buffers[value],
            };
            targets.push(buffer);
            self.buffers.insert(result, buffer);
        }
        Ok((targets, own))
    }

    /// The second region of a loop: a call, and what makes what it hands on the state. `made` are buffers that the first region
    /// writes anew.
    fn advance(&mut self, op: OpRef<'a>, after: &Side<'a>, state: &[(usize, Value)], made: Vec<Value>) -> Built<Done> {
        let wanted: Vec<(Value, Value)> = state.iter().map(|(i, buffer)| (after.yielded[*i], *buffer)).collect();
        // What the loop hands on, or keeps elsewhere, is still read when the call was made.
        let kept: Vec<Value> = wanted.iter().filter_map(|(value, _)| self.buffers.get(value).copied()).collect();
        let call = self.call(op, after, &wanted, &kept, ProgramBuilder::alloc)?;
        let pairs: Vec<(Value, Value)> = wanted.iter().map(|(value, to)| (self.buffers[value], *to)).collect();
        let outputs = call.iter().flat_map(|(_, _, outputs)| outputs.iter().copied());
        let movable: Vec<Value> = outputs.chain(state.iter().map(|(_, buffer)| *buffer)).chain(made).collect();
        let program = &self.converted.program;
        let (mut moves, copies) = moves(&pairs, &movable, &|a, b| program.ty(a) == program.ty(b));
        moves.extend(self.copies(op, copies));
        Ok(Done { call, moves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What five buffers hold after the moves, by the number of the buffer that held it before.
    fn after(exchanges: &[Move<usize>], copies: &[(usize, usize)]) -> [usize; 5] {
        let mut held = [0, 1, 2, 3, 4];
        for step in exchanges {
            match step {
                Move::Exchange(a, b) => held.swap(*a, *b),
                Move::Copy(..) => panic!("copies come after exchanges"),
            }
        }
        let read: Vec<usize> = copies.iter().map(|(from, _)| held[*from]).collect();
        copies.iter().zip(read).for_each(|((_, to), content)| held[*to] = content);
        held
    }

    /// Every way in which three buffers get what five hold: only what goes to several of them, or cannot move, is copied.
    #[test]
    fn every_assignment_is_right_and_copies_what_it_must() {
        for code in 0..5usize.pow(3) {
            let sources = [code % 5, code / 5 % 5, code / 25];
            let pairs: Vec<(usize, usize)> = sources.iter().enumerate().map(|(to, from)| (*from, to)).collect();
            // The last one is somebody else's.
            let (exchanges, copies) = moves(&pairs, &[0, 1, 2, 3], &|_, _| true);
            let held = after(&exchanges, &copies);
            assert_eq!(held[..3], sources, "{pairs:?}: {held:?}");
            assert_eq!(held[4], 4, "{pairs:?}: {held:?}");
            let mut distinct: Vec<usize> = sources.iter().copied().filter(|s| *s != 4).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(copies.len(), 3 - distinct.len(), "{pairs:?}");
        }
    }
}
