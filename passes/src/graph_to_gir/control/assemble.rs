//! The ops of a program for calls, conditions and loops.

use sutura_dialects::r#dyn::{greater, is_at_most};
use sutura_dialects::func::CallOp;
use sutura_dialects::rt::{BufferType, ProgramBuilder};
use sutura_dialects::scf::{IfOp, WhileOp};
use sutura_ir::{Loc, OpRef, OpView, Value};

use super::sizes::{Entry, Scope, Target};
use super::{Done, Invocation, Move, Read, Side, as_made, decided, is_unchanged, moves, side};
use crate::graph_to_gir::kernel::Built;
use crate::graph_to_gir::program::{Assembly, buffer, place};

/// Rounds in which the most that a loop carries gets larger.
const ROUNDS: usize = 16;

/// What is put in a place: a buffer, and the type that it has there.
#[derive(Clone)]
struct Source {
    root: Value,
    ty: BufferType,
}

impl<'a, 'c> Assembly<'a, 'c> {
    /// A call, a condition or a loop, which was checked.
    pub(in crate::graph_to_gir) fn control(&mut self, op: OpRef<'a>) -> Built<()> {
        if let Some(call) = op.as_::<CallOp<'_>>() {
            let inputs: Vec<Value> = op.operands().map(|v| self.buffers[&v]).collect();
            let mut outputs = Vec::with_capacity(op.num_results());
            for result in op.results() {
                let buffer = place(&mut self.converted.program, &self.placed, op, result)?;
                self.buffers.insert(result, buffer);
                outputs.push(buffer);
            }
            let invocation = Invocation { program: call.callee().to_owned(), inputs, outputs, most: None };
            self.converted.program.invoke(op.loc(), &invocation);
        } else if let Some(this) = op.as_::<IfOp<'_>>() {
            self.condition(op, this)?;
        } else if op.is::<WhileOp<'_>>() {
            self.repeated(op)?;
        }
        Ok(())
    }

    fn condition(&mut self, op: OpRef<'a>, this: IfOp<'a>) -> Built<()> {
        let condition = self.buffers[&decided(op, this.condition())?];
        let sides = op.regions().map(|region| side(op, region)).collect::<Built<Vec<Side<'a>>>>()?;
        for side in &sides {
            self.made_types(&mut Scope::default(), side)?;
            self.bound_made(op, side)?;
        }
        let entries = self.results_of_sides(op, &sides)?;
        self.check_told(op, &entries)?;
        let mut targets = Vec::with_capacity(op.num_results());
        for (number, result) in op.results().enumerate() {
            targets.push(self.result_target(op, (number, result), &entries, true)?);
        }
        let list = self.list(op, &entries);
        let mut done = Vec::new();
        for side in &sides {
            let mut filled = self.fill_buffers(op, side, &targets)?;
            filled.write = list.as_ref().map(|read| (read.list, self.sizes_at(&entries, &side.yielded)));
            done.push(filled);
        }
        self.converted.program.if_(op.loc(), condition, |i, b| {
            if let Some(done) = done.get(i) {
                done.emit(b, op.loc());
            }
        });
        self.read_behind(op, list)
    }

    /// The dimensions of results that sides make of different sizes.
    fn results_of_sides(&self, op: OpRef<'a>, sides: &[Side<'a>]) -> Built<Vec<Entry>> {
        let mut entries = Vec::new();
        for (number, result) in op.results().enumerate() {
            for (dim, size) in buffer(op, op.body, result)?.dims.into_iter().enumerate() {
                let made: Vec<_> =
                    sides.iter().map(|side| self.type_of(side.yielded[number]).dims[dim].clone()).collect();
                if made.iter().all(|made| self.facts.prove_equal(made, &size)) {
                    continue;
                }
                let mut most = self.most(op, &made[0])?;
                for made in &made[1..] {
                    most = greater(&self.facts, &most, &self.most(op, made)?);
                }
                entries.push(Entry { at: (number, dim), size, most });
            }
        }
        Ok(entries)
    }

    /// Where a result lies: in an output where it may, else in memory of its own. Uses of the result see it there.
    fn result_target(
        &mut self,
        op: OpRef<'a>,
        (number, result): (usize, Value),
        entries: &[Entry],
        in_output: bool,
    ) -> Built<Target> {
        let ty = buffer(op, op.body, result)?;
        let own: Vec<&Entry> = entries.iter().filter(|entry| entry.at.0 == number).collect();
        if own.is_empty() {
            let root = match in_output {
                true => place(&mut self.converted.program, &self.placed, op, result)?,
                false => self.converted.program.alloc(op.loc(), ty),
            };
            self.buffers.insert(result, root);
            return Ok(Target { root, front: false });
        }
        let program = &mut self.converted.program;
        let output = self.placed.get(&result).map(|output| program.output(*output)).filter(|_| in_output);
        let root = match output.filter(|output| *program.ty(*output) == ty) {
            Some(output) => output,
            None => {
                let mut planned = ty.clone();
                own.iter().for_each(|entry| planned.dims[entry.at.1] = entry.most.clone());
                program.alloc(op.loc(), planned)
            }
        };
        let seen = self.front(op.loc(), root, &ty);
        self.buffers.insert(result, seen);
        Ok(Target { root, front: true })
    }

    /// What lies at the front of a buffer.
    fn front(&mut self, loc: Loc, root: Value, ty: &BufferType) -> Value {
        if self.converted.program.ty(root) == ty {
            return root;
        }
        let view = self.converted.program.front(loc, root, ty.clone());
        self.fronts.insert(view, root);
        view
    }

    /// The buffer whose front another one is.
    fn root(&self, buffer: Value) -> Value {
        self.fronts.get(&buffer).copied().unwrap_or(buffer)
    }

    fn source(&self, value: Value) -> Source {
        let buffer = self.buffers[&value];
        Source { root: self.root(buffer), ty: self.converted.program.ty(buffer).clone() }
    }

    /// Behind an op the sizes of its results are known.
    fn read_behind(&mut self, op: OpRef<'a>, read: Option<Read>) -> Built<()> {
        if let Some(Read { list, what, sizes, most }) = read {
            self.converted.program.read_sizes(op.loc(), list, &what, &sizes, &most);
        }
        op.results().try_for_each(|result| self.now_known(op, result))
    }

    /// Makes what a region hands on in `targets`: in place where the call may write there, else by a copy.
    fn fill_buffers(&mut self, op: OpRef<'a>, side: &Side<'a>, targets: &[Target]) -> Built<Done> {
        let wanted: Vec<(Value, Target)> = side.yielded.iter().copied().zip(targets.iter().copied()).collect();
        let call = self.call(side, &wanted, &[], ProgramBuilder::alloc_each_iteration)?;
        let pairs: Vec<(Source, Target)> = wanted.iter().map(|(value, to)| (self.source(*value), *to)).collect();
        let moves = self.copies(op, pairs);
        Ok(Done { call, moves, ..Done::default() })
    }

    /// The call of a region, with outputs in place of what is wanted of each value where the call may write there: it reads nothing
    /// of it, and neither does what comes after it (`kept`). Other outputs are made by `alloc`.
    fn call(
        &mut self,
        side: &Side<'a>,
        wanted: &[(Value, Target)],
        kept: &[Value],
        alloc: fn(&mut ProgramBuilder<'c>, Loc, BufferType) -> Value,
    ) -> Built<Option<Invocation>> {
        let Some(call) = side.call else { return Ok(None) };
        let inner = call.op_ref();
        let inputs: Vec<Value> = inner.operands().map(|v| self.buffers[&as_made(inner, v)]).collect();
        let mut taken: Vec<Value> = inputs.iter().chain(kept).map(|buffer| self.root(*buffer)).collect();
        let mut outputs = Vec::new();
        for result in inner.results() {
            let ty = self.types[&result].clone();
            let at = wanted.iter().find(|(value, _)| *value == result).map(|(_, target)| *target);
            let at = at.filter(|target| target.front || *self.converted.program.ty(target.root) == ty);
            let program = &mut self.converted.program;
            let root = match at {
                Some(target) if !taken.contains(&target.root) => target.root,
                // Of the type of what it may change its memory with.
                Some(target) => alloc(program, inner.loc(), program.ty(target.root).clone()),
                None => alloc(program, inner.loc(), ty.clone()),
            };
            taken.push(root);
            let output = self.front(inner.loc(), root, &ty);
            self.buffers.insert(result, output);
            outputs.push(output);
        }
        self.invocation(call, inputs, outputs).map(Some)
    }

    /// Copies that are made as if at once.
    fn copies(&mut self, op: OpRef<'a>, pairs: Vec<(Source, Target)>) -> Vec<Move<Value>> {
        let mut pairs: Vec<(Source, Target)> = pairs.into_iter().filter(|(from, to)| from.root != to.root).collect();
        let mut steps = Vec::new();
        // What is both read and written is read first.
        for i in 0..pairs.len() {
            let from = pairs[i].0.clone();
            let overwritten = pairs.iter().any(|(_, other)| other.root == from.root && *other != pairs[i].1);
            if overwritten {
                let between = self.converted.program.alloc_each_iteration(op.loc(), from.ty.clone());
                steps.push(Move::Copy(self.front(op.loc(), from.root, &from.ty), between));
                pairs[i].0.root = between;
            }
        }
        for (from, to) in pairs {
            let read = self.front(op.loc(), from.root, &from.ty);
            let written = if to.front { self.front(op.loc(), to.root, &from.ty) } else { to.root };
            steps.push(Move::Copy(read, written));
        }
        steps
    }

    fn repeated(&mut self, op: OpRef<'a>) -> Built<()> {
        let loc = op.loc();
        let (before, after) = (op.region(0).expect("verified"), op.region(1).expect("verified"));
        let (before, after) = (side(op, before)?, side(op, after)?);
        let inits: Vec<Value> = op.operands().map(|init| self.buffers[&as_made(op, init)]).collect();
        // What changes, by number.
        let changed: Vec<usize> = (0..before.args.len()).filter(|i| !is_unchanged(&before, &after, *i)).collect();
        for i in (0..before.args.len()).filter(|i| !changed.contains(i)) {
            self.buffers.insert(before.args[i], inits[i]);
        }
        let (carried, ports) =
            self.loop_sizes(op, &before, &after, &changed.iter().map(|i| (*i, inits[*i])).collect::<Vec<_>>())?;
        let results: Vec<Value> = op.results().collect();
        let behind = self.behind(op, &results, &before, &ports)?;
        self.check_told(op, &behind)?;
        let mut state: Vec<(usize, Target)> = Vec::with_capacity(changed.len());
        for (number, i) in changed.iter().enumerate() {
            let target = self.state(op, before.args[*i], inits[*i], &carried, number);
            state.push((*i, target));
        }
        let (targets, made) = self.made_before(op, &before, &after, &behind)?;
        let mut first = self.fill_buffers(op, &before, &targets)?;
        let condition = before.condition.ok_or_else(|| Box::new(op.error("has no condition")))?;
        let condition = self.buffers[&decided(op, condition)?];
        for (arg, target) in after.args.iter().zip(&targets) {
            let ty = self.types[arg].clone();
            let seen = if target.front { self.front(loc, target.root, &ty) } else { target.root };
            self.buffers.insert(*arg, seen);
        }
        let mut second = self.advance(op, &after, &state, made)?;
        let (next, passed) = (self.list(op, &carried), self.list(op, &behind));
        let handed: Vec<Value> = changed.iter().map(|i| after.yielded[*i]).collect();
        if let Some(read) = next {
            let given: Vec<Value> = changed.iter().map(|i| inits[*i]).collect();
            let start =
                carried.iter().map(|entry| self.converted.program.ty(given[entry.at.0]).dims[entry.at.1].clone());
            let start: Vec<_> = start.collect();
            self.converted.program.write_sizes(loc, read.list, &start);
            second.write = Some((read.list, self.sizes_at(&carried, &handed)));
            first.read = Some(read);
        }
        if let Some(read) = &passed {
            first.write = Some((read.list, self.sizes_at(&behind, &before.yielded)));
            let sizes = ports_of(&behind, &ports);
            let what = read.what.clone();
            second.read = Some(Read { list: read.list, what, sizes, most: read.most.clone() });
        }
        self.converted.program.while_(
            loc,
            condition,
            |i, b| {
                if i == 0 { first.emit(b, loc) } else { second.emit(b, loc) }
            },
        );
        self.read_behind(op, passed)
    }

    /// The types of what is in the regions of a loop, which dimensions differ of what it carries at the places `changed`, and of what its
    /// first region hands on.
    fn loop_sizes(
        &mut self,
        op: OpRef<'a>,
        before: &Side<'a>,
        after: &Side<'a>,
        changed: &[(usize, Value)],
    ) -> Built<(Vec<Entry>, Vec<Entry>)> {
        let mut scope = Scope::default();
        let inits: Vec<BufferType> = changed.iter().map(|(_, init)| self.converted.program.ty(*init).clone()).collect();
        let args: Vec<_> = changed.iter().zip(&inits).map(|((i, _), ty)| (before.args[*i], ty.clone())).collect();
        let mut carried = self.given_types(&mut scope, op, &args)?;
        self.made_types(&mut scope, before)?;
        let mut scope = Scope::default();
        let given: Vec<_> =
            after.args.iter().zip(&before.yielded).map(|(arg, given)| (*arg, self.type_of(*given))).collect();
        let mut ports = self.given_types(&mut scope, op, &given)?;
        self.made_types(&mut scope, after)?;
        for entry in &mut carried {
            entry.most = inits[entry.at.0].dims[entry.at.1].clone();
        }
        for _ in 0..ROUNDS {
            for entry in &carried {
                self.bound(op, &entry.size, &entry.most)?;
            }
            self.bound_made(op, before)?;
            for entry in &mut ports {
                entry.most = self.most(op, &given[entry.at.0].1.dims[entry.at.1])?;
                self.bound(op, &entry.size, &entry.most)?;
            }
            self.bound_made(op, after)?;
            let mut grown = false;
            for entry in &mut carried {
                let next = self.type_of(after.yielded[changed[entry.at.0].0]).dims[entry.at.1].clone();
                let next = self.most(op, &next)?;
                if !is_at_most(&self.facts, &next, &entry.most) {
                    entry.most = greater(&self.facts, &entry.most, &next);
                    grown = true;
                }
            }
            if !grown {
                return Ok((carried, ports));
            }
        }
        let error = op.error("carries something whose size grows from one iteration to the next: nothing bounds it");
        Err(Box::new(error.help("memory is planned before the run: let each iteration make no more than it got")))
    }

    /// What differs of the results of a loop, as it is called behind it.
    fn behind(&self, op: OpRef<'a>, results: &[Value], before: &Side<'a>, ports: &[Entry]) -> Built<Vec<Entry>> {
        let mut behind = Vec::new();
        for (number, result) in results.iter().enumerate() {
            let made = self.type_of(before.yielded[number]);
            for (dim, size) in buffer(op, op.body, *result)?.dims.into_iter().enumerate() {
                let port = ports.iter().find(|entry| entry.at == (number, dim));
                if port.is_none() && self.facts.prove_equal(&size, &made.dims[dim]) {
                    continue;
                }
                let most = port.map_or_else(|| self.most(op, &made.dims[dim]), |port| Ok(port.most.clone()))?;
                behind.push(Entry { at: (number, dim), size, most });
            }
        }
        Ok(behind)
    }

    /// The buffer of what a loop carries and changes, with what it starts with.
    fn state(&mut self, op: OpRef<'a>, arg: Value, init: Value, carried: &[Entry], number: usize) -> Target {
        let loc = op.loc();
        let (ty, given) = (self.types[&arg].clone(), self.converted.program.ty(init).clone());
        let own: Vec<&Entry> = carried.iter().filter(|entry| entry.at.0 == number).collect();
        let mut planned = ty.clone();
        own.iter().for_each(|entry| planned.dims[entry.at.1] = entry.most.clone());
        let root = self.converted.program.alloc(loc, planned);
        let target = Target { root, front: !own.is_empty() };
        let start = if target.front { self.front(loc, root, &given) } else { root };
        self.converted.program.copy(loc, init, start);
        let seen = self.front(loc, root, &ty);
        self.buffers.insert(arg, seen);
        target
    }

    /// The buffers of what the first region of a loop hands on, which are those of the results; and those among them that are made
    /// anew in it for the loop alone.
    fn made_before(
        &mut self,
        op: OpRef<'a>,
        before: &Side<'a>,
        after: &Side<'a>,
        behind: &[Entry],
    ) -> Built<(Vec<Target>, Vec<Value>)> {
        let (mut targets, mut own): (Vec<Target>, Vec<Value>) = (Vec::with_capacity(op.num_results()), Vec::new());
        for (i, (result, value)) in op.results().zip(&before.yielded).enumerate() {
            let made = before.call.is_some_and(|call| call.op_ref().results().any(|r| r == *value));
            let first = before.yielded.iter().position(|v| v == value);
            let carried = after.args.get(i).is_some_and(|arg| after.yielded.contains(arg));
            let front = behind.iter().any(|entry| entry.at.0 == i);
            let target = match first.filter(|first| made && *first < targets.len()) {
                Some(first) => Target { root: targets[first].root, front: front || targets[first].front },
                // What goes on to the next iteration changes its memory with what it replaces, which an output cannot.
                None if made => {
                    let target = self.result_target(op, (i, result), behind, !carried)?;
                    own.extend(carried.then_some(target.root));
                    targets.push(target);
                    continue;
                }
                None => {
                    let buffer = self.buffers[value];
                    Target { root: if front { self.root(buffer) } else { buffer }, front }
                }
            };
            let ty = buffer(op, op.body, result)?;
            let seen = if front { self.front(op.loc(), target.root, &ty) } else { target.root };
            targets.push(target);
            self.buffers.insert(result, seen);
        }
        Ok((targets, own))
    }

    /// The second region of a loop: a call, and what makes what it hands on the state. `made` are buffers that the first region
    /// writes anew.
    fn advance(&mut self, op: OpRef<'a>, after: &Side<'a>, state: &[(usize, Target)], made: Vec<Value>) -> Built<Done> {
        let wanted: Vec<(Value, Target)> = state.iter().map(|(i, target)| (after.yielded[*i], *target)).collect();
        // What the loop hands on, or keeps elsewhere, is still read when the call was made.
        let kept: Vec<Value> = wanted.iter().filter_map(|(value, _)| self.buffers.get(value).copied()).collect();
        let call = self.call(after, &wanted, &kept, ProgramBuilder::alloc)?;
        let sources: Vec<Source> = wanted.iter().map(|(value, _)| self.source(*value)).collect();
        let pairs: Vec<(Value, Value)> =
            sources.iter().zip(&wanted).map(|(from, (_, to))| (from.root, to.root)).collect();
        let outputs = call.iter().flat_map(|call| call.outputs.iter().map(|output| self.root(*output)));
        let movable: Vec<Value> = outputs.chain(state.iter().map(|(_, target)| target.root)).chain(made).collect();
        let program = &self.converted.program;
        let (mut moves, copies) = moves(&pairs, &movable, &|a, b| program.ty(a) == program.ty(b));
        let copies = copies
            .into_iter()
            .map(|(number, from)| (Source { root: from, ty: sources[number].ty.clone() }, wanted[number].1));
        moves.extend(self.copies(op, copies.collect()));
        Ok(Done { call, moves, ..Done::default() })
    }
}

/// What the second region of a loop calls the sizes that are read behind the loop.
fn ports_of(behind: &[Entry], ports: &[Entry]) -> Vec<sutura_dialects::r#dyn::Poly> {
    let size = |entry: &Entry| ports.iter().find(|port| port.at == entry.at).unwrap_or(entry).size.clone();
    behind.iter().map(size).collect()
}
