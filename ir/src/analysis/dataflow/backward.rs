//! From uses to definitions.

use std::ops::Range;

use smallvec::SmallVec;

use super::Places;
use crate::analysis::Analysis;
use crate::analysis::program::Program;
use crate::body::{Body, Op, OpHeader, Value};
use crate::context::Context;
use crate::interfaces::control_flow::target_values;
use crate::interfaces::{BranchOp, CallOp, RegionBranchOp, RegionTarget};
use crate::op_def::Traits;
use crate::op_ref::OpRef;

/// What is demanded of values, and how ops turn what is demanded of their results into demands on their operands. Facts
/// must be joined finitely often until nothing changes.
pub trait Backward {
    /// What reports call it.
    const NAME: &'static str;

    /// What is demanded of a value; the default: nothing.
    type Fact: Clone + PartialEq + Default;

    /// Adds a demand; true when that is more.
    fn join(&self, fact: &mut Self::Fact, other: &Self::Fact) -> bool;

    /// What is demanded of a value that goes where the program does not see.
    fn escaping(&self) -> Self::Fact;

    /// What `op` demands of its operands when this is demanded of the results: one fact per operand. Facts of operands
    /// that are only passed on, to blocks, regions, callables or callers, are not looked at. For a terminator of a
    /// region the results are those of the op around.
    fn transfer(&self, op: OpRef<'_>, results: &[Self::Fact]) -> SmallVec<[Self::Fact; 4]>;

    /// True when demands go from callables to their callers and back. Otherwise calls and returns are asked for what
    /// they demand, like any other op.
    fn crosses_calls(&self) -> bool {
        true
    }
}

/// What [`solve_backward`] found.
pub struct BackwardSolution<A: Backward> {
    places: Places,
    facts: Vec<A::Fact>,
}

impl<A: Backward + Default + 'static> Analysis for BackwardSolution<A>
where
    A::Fact: Send + Sync,
{
    const NAME: &'static str = A::NAME;

    fn build(cx: &Context, header: &OpHeader, body: &Body) -> Self {
        solve_backward(&Program::new(cx, header, body), &A::default())
    }
}

impl<A: Backward> BackwardSolution<A> {
    /// What is demanded of a value of `body`.
    pub fn fact(&self, body: &Body, value: Value) -> &A::Fact {
        &self.facts[self.places.value(body, value)]
    }
}

/// Solves `analysis` over `program`.
pub fn solve_backward<A: Backward>(program: &Program<'_>, analysis: &A) -> BackwardSolution<A> {
    let mut solver = Solver {
        program,
        analysis,
        facts: vec![A::Fact::default(); program.value_count()],
        sources: vec![SmallVec::new(); program.value_count()],
        passed: vec![SmallVec::new(); program.op_count()],
        escaping: Vec::new(),
        queue: Vec::new(),
        queued: vec![false; program.op_count()],
    };
    solver.gather();
    for at in 0..program.bodies().len() {
        program.body(at).preorder().for_each(|op| solver.enqueue(at, op));
    }
    let escaping = analysis.escaping();
    for (at, value) in std::mem::take(&mut solver.escaping) {
        solver.add(at, value, &escaping);
    }
    while let Some((at, op)) = solver.queue.pop() {
        solver.queued[program.op_number(at, op)] = false;
        solver.visit(at, op);
    }
    BackwardSolution { places: Places::new(program), facts: solver.facts }
}

type Place = (usize, Value);

struct Solver<'s, 'a, A: Backward> {
    program: &'s Program<'a>,
    analysis: &'s A,
    facts: Vec<A::Fact>,
    /// By value: the values that it may be a copy of.
    sources: Vec<SmallVec<[Place; 2]>>,
    /// By op: operands that are only passed on.
    passed: Vec<SmallVec<[Range<usize>; 1]>>,
    escaping: Vec<Place>,
    queue: Vec<(usize, Op)>,
    queued: Vec<bool>,
}

impl<'a, A: Backward> Solver<'_, 'a, A> {
    fn enqueue(&mut self, at: usize, op: Op) {
        let queued = &mut self.queued[self.program.op_number(at, op)];
        if !std::mem::replace(queued, true) {
            self.queue.push((at, op));
        }
    }

    // ---- which values are copies of which

    fn gather(&mut self) {
        let known_callers = self.program.callables_with_known_callers();
        let mut returns: Vec<Vec<Op>> = vec![Vec::new(); self.program.bodies().len()];
        for (at, ends) in returns.iter_mut().enumerate() {
            for op in self.program.body(at).preorder() {
                let op = self.program.op(at, op);
                self.gather_branch(at, op);
                self.gather_regions(at, op);
                if op.has_trait(Traits::ReturnLike) && op.parent().is_none() {
                    ends.push(op.op);
                }
            }
        }
        if !self.analysis.crosses_calls() {
            return;
        }
        for (at, ends) in returns.iter().enumerate() {
            for op in self.program.body(at).preorder() {
                self.gather_call(at, op, &returns);
            }
            // Otherwise the terminator itself says what it demands.
            let seen = self.program.callable_region(at).is_some();
            for op in ends.iter().filter(|_| seen) {
                self.passed[self.program.op_number(at, *op)].push(0..self.program.body(at).num_operands(*op));
                if !known_callers[at] {
                    self.escaping.extend(self.program.body(at).operands(*op).map(|v| (at, v)));
                }
            }
        }
    }

    fn gather_branch(&mut self, at: usize, op: OpRef<'a>) {
        let Some(branch) = op.interface::<dyn BranchOp>() else { return };
        for (index, &target) in op.successors().iter().enumerate() {
            let operands = branch.successor_operands(op, index);
            let args = op.body.block_args(target);
            let made = args.len().saturating_sub(operands.len());
            self.link(at, op, operands, &args[made..]);
        }
    }

    fn gather_regions(&mut self, at: usize, op: OpRef<'a>) {
        let Some(branch) = op.interface::<dyn RegionBranchOp>().filter(|_| op.body.nested(op.op).is_none()) else {
            return;
        };
        let nothing: SmallVec<[_; 4]> = op.operands().map(|_| None).collect();
        for target in branch.begin(op, &nothing) {
            self.link_target(at, op, branch, target, op, branch.begin_operands(op, target));
        }
        for (index, region) in op.regions().enumerate() {
            for block in region.blocks() {
                let Some(end) = block.terminator().filter(|t| t.successors().is_empty()) else { continue };
                let nothing: SmallVec<[_; 4]> = end.operands().map(|_| None).collect();
                for target in branch.after(op, index, end, &nothing) {
                    self.link_target(at, op, branch, target, end, branch.passed_operands(op, end, target));
                }
            }
        }
    }

    fn link_target(
        &mut self,
        at: usize,
        op: OpRef<'a>,
        branch: &dyn RegionBranchOp,
        target: RegionTarget,
        from: OpRef<'a>,
        operands: Range<usize>,
    ) {
        let values = target_values(op, target);
        let inputs = branch.inputs(op, target);
        self.link(at, from, operands, values.get(inputs).unwrap_or_default());
    }

    /// `targets` are copies of `operands` of `from`.
    fn link(&mut self, at: usize, from: OpRef<'a>, operands: Range<usize>, targets: &[Value]) {
        for (index, &target) in operands.clone().zip(targets) {
            self.sources[self.program.value_number(at, target)].push((at, from.operand(index)));
        }
        self.passed[self.program.op_number(at, from.op)].push(operands);
    }

    fn gather_call(&mut self, at: usize, op: Op, returns: &[Vec<Op>]) {
        let Some(callee) = self.program.callee(at, op) else { return };
        let call = self.program.op(at, op);
        let arguments = call.interface::<dyn CallOp>().expect("it has a callee").arguments(call);
        let body = self.program.body(callee);
        let region = self.program.callable_region(callee).and_then(|r| body.owner_regions().nth(r));
        let Some(entry) = region.and_then(|r| body.region_entry(r)) else { return };
        for (index, &arg) in arguments.clone().zip(body.block_args(entry)) {
            self.sources[self.program.value_number(callee, arg)].push((at, call.operand(index)));
        }
        self.passed[self.program.op_number(at, op)].push(arguments);
        for (index, result) in call.results().enumerate() {
            let handed = returns[callee].iter().filter(|r| index < body.num_operands(**r));
            let values = handed.map(|r| (callee, body.operand(*r, index)));
            self.sources[self.program.value_number(at, result)].extend(values);
        }
    }

    // ---- propagation

    fn add(&mut self, at: usize, value: Value, fact: &A::Fact) {
        let mut pending: SmallVec<[Place; 4]> = SmallVec::from_elem((at, value), 1);
        while let Some((at, value)) = pending.pop() {
            let number = self.program.value_number(at, value);
            if !self.analysis.join(&mut self.facts[number], fact) {
                continue;
            }
            pending.extend(self.sources[number].iter().copied());
            let body = self.program.body(at);
            let Some(definition) = body.defining_op(value) else { continue };
            self.enqueue(at, definition);
            // What ends a region may decide what the results are.
            for region in body.regions(definition) {
                let ends: SmallVec<[Op; 2]> = body.blocks(region).filter_map(|b| body.last_op(b)).collect();
                ends.into_iter().for_each(|op| self.enqueue(at, op));
            }
        }
    }

    fn visit(&mut self, at: usize, op: Op) {
        let op = self.program.op(at, op);
        if op.num_operands() == 0 {
            return;
        }
        let ends_region = op.has_trait(Traits::Terminator) && op.successors().is_empty();
        let results_of = if ends_region { op.parent().unwrap_or(op) } else { op };
        let results: SmallVec<[A::Fact; 4]> =
            results_of.results().map(|r| self.facts[self.program.value_number(at, r)].clone()).collect();
        let facts = self.analysis.transfer(op, &results);
        debug_assert_eq!(facts.len(), op.num_operands(), "one fact per operand");
        for (index, (value, fact)) in op.operands().zip(&facts).enumerate() {
            let passed = &self.passed[self.program.op_number(at, op.op)];
            if !passed.iter().any(|range| range.contains(&index)) {
                self.add(at, value, fact);
            }
        }
    }
}
