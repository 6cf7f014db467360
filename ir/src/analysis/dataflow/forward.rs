//! From definitions to uses, along what may be executed.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::Places;
use crate::analysis::Analysis;
use crate::analysis::program::Program;
use crate::attrs::Attr;
use crate::body::{Block, Body, Op, OpHeader, Region, Value};
use crate::context::Context;
use crate::interfaces::control_flow::target_values;
use crate::interfaces::{BranchOp, CallOp, RegionBranchOp, RegionTarget};
use crate::op_def::Traits;
use crate::op_ref::OpRef;
use crate::types::Type;

/// What is known of values, and how ops turn it into more. Facts must be joined finitely often until nothing changes.
pub trait Forward {
    /// What reports call it.
    const NAME: &'static str;

    /// What is known of a value that may exist.
    type Fact: Clone + PartialEq;

    /// Nothing is known but the type.
    fn unknown(&self, cx: &Context, ty: Type) -> Self::Fact;

    /// Adds to what `fact` allows what `other` allows; true when that is more.
    fn join(&self, fact: &mut Self::Fact, other: &Self::Fact) -> bool;

    /// What is known of the results of `op` when the operands are as said: one fact per result. Ops with regions,
    /// calls of known callables and branches are not asked for.
    fn transfer(&self, op: OpRef<'_>, operands: &[Self::Fact]) -> SmallVec<[Self::Fact; 1]>;

    /// The only value that `fact` allows, if there is just one: it decides branches.
    fn constant(&self, _cx: &Context, _fact: &Self::Fact) -> Option<Attr> {
        None
    }

    /// What is known of `value`, an argument of a region of `op` (or a result) that the op itself makes.
    fn made_by_op(&self, op: OpRef<'_>, value: Value) -> Self::Fact {
        self.unknown(op.cx, op.inside().ty(value))
    }
}

/// What [`solve_forward`] found.
pub struct ForwardSolution<A: Forward> {
    places: Places,
    facts: Vec<Option<A::Fact>>,
    live: Vec<bool>,
}

impl<A: Forward + Default + 'static> Analysis for ForwardSolution<A>
where
    A::Fact: Send + Sync,
{
    const NAME: &'static str = A::NAME;

    fn build(cx: &Context, header: &OpHeader, body: &Body) -> Self {
        solve_forward(&Program::new(cx, header, body), &A::default())
    }
}

impl<A: Forward> ForwardSolution<A> {
    /// What is known of a value of `body`; `None` when what defines it is never executed.
    pub fn fact(&self, body: &Body, value: Value) -> Option<&A::Fact> {
        self.facts[self.places.value(body, value)].as_ref()
    }

    /// True when the block of `body` may be executed.
    pub fn is_live(&self, body: &Body, block: Block) -> bool {
        self.live[self.places.block(body, block)]
    }
}

/// Solves `analysis` over `program`. Arguments of callables that are seen from outside are unknown.
pub fn solve_forward<A: Forward>(program: &Program<'_>, analysis: &A) -> ForwardSolution<A> {
    let mut solver = Solver {
        program,
        analysis,
        facts: vec![None; program.value_count()],
        live: vec![false; program.block_count()],
        known_callers: program.callables_with_known_callers(),
        callers: vec![Vec::new(); program.bodies().len()],
        returns: vec![Vec::new(); program.bodies().len()],
        queue: VecDeque::new(),
        queued: vec![false; program.op_count()],
        called: vec![false; program.op_count()],
    };
    solver.enter_all(0);
    while let Some((at, op)) = solver.queue.pop_front() {
        solver.queued[program.op_number(at, op)] = false;
        solver.visit(at, op);
    }
    ForwardSolution { places: Places::new(program), facts: solver.facts, live: solver.live }
}

struct Solver<'s, 'a, A: Forward> {
    program: &'s Program<'a>,
    analysis: &'s A,
    facts: Vec<Option<A::Fact>>,
    live: Vec<bool>,
    /// By body: all callers of its owner are in the program.
    known_callers: Vec<bool>,
    /// By body: calls of its owner that may be executed, with the bodies they are in.
    callers: Vec<Vec<(usize, Op)>>,
    /// By body: terminators that may be executed and hand values to callers.
    returns: Vec<Vec<Op>>,
    queue: VecDeque<(usize, Op)>,
    queued: Vec<bool>,
    /// By op: it is among the callers.
    called: Vec<bool>,
}

impl<'a, A: Forward> Solver<'_, 'a, A> {
    fn enqueue(&mut self, at: usize, op: Op) {
        let queued = &mut self.queued[self.program.op_number(at, op)];
        if !std::mem::replace(queued, true) {
            self.queue.push_back((at, op));
        }
    }

    /// The block may be executed.
    fn enter(&mut self, at: usize, block: Block) {
        let live = &mut self.live[self.program.block_number(at, block)];
        if !std::mem::replace(live, true) {
            for op in self.program.body(at).ops(block) {
                self.enqueue(at, op);
            }
        }
    }

    /// The region may be executed, with any arguments.
    fn enter_unknown(&mut self, at: usize, region: Region) {
        let body = self.program.body(at);
        if let Some(entry) = body.region_entry(region) {
            for &arg in body.block_args(entry) {
                self.set_unknown(at, arg);
            }
            self.enter(at, entry);
        }
    }

    /// All regions of the owner of a body may be executed.
    fn enter_all(&mut self, at: usize) {
        for region in self.program.body(at).owner_regions() {
            self.enter_unknown(at, region);
        }
    }

    /// A value may also be as `fact` says.
    fn add(&mut self, at: usize, value: Value, fact: &A::Fact) {
        let slot = &mut self.facts[self.program.value_number(at, value)];
        let changed = match slot {
            Some(known) => self.analysis.join(known, fact),
            None => {
                *slot = Some(fact.clone());
                true
            }
        };
        if changed {
            for user in self.program.body(at).uses(value) {
                self.enqueue(at, user.owner);
            }
        }
    }

    fn set_unknown(&mut self, at: usize, value: Value) {
        let fact = self.analysis.unknown(self.program.cx, self.program.body(at).ty(value));
        self.add(at, value, &fact);
    }

    fn fact(&self, at: usize, value: Value) -> Option<&A::Fact> {
        self.facts[self.program.value_number(at, value)].as_ref()
    }

    /// Facts of all operands; `None` as long as one has none.
    fn operands(&self, op: OpRef<'_>, at: usize) -> Option<SmallVec<[A::Fact; 4]>> {
        op.operands().map(|v| self.fact(at, v).cloned()).collect()
    }

    fn constants(&self, facts: &[A::Fact]) -> SmallVec<[Option<Attr>; 4]> {
        facts.iter().map(|f| self.analysis.constant(self.program.cx, f)).collect()
    }

    fn visit(&mut self, at: usize, op: Op) {
        let view = self.program.op(at, op);
        let in_live_block = view.body.op_block(op).is_some_and(|b| self.live[self.program.block_number(at, b)]);
        if !in_live_block {
            return;
        }
        let Some(operands) = self.operands(view, at) else { return };
        if let Some(inside) = self.program.nested(at, op) {
            if !self.known_callers[inside] {
                self.enter_all(inside);
            }
        } else if let Some(branch) = view.interface::<dyn RegionBranchOp>() {
            let constants = self.constants(&operands);
            for target in branch.begin(view, &constants) {
                self.pass(at, view, branch, target, &operands[branch.begin_operands(view, target)]);
            }
            return;
        }
        for region in view.body.regions(op) {
            self.enter_unknown(at, region);
        }
        if !view.successors().is_empty() {
            self.visit_branch(at, view, &operands);
        } else if view.has_trait(Traits::Terminator) {
            self.visit_end(at, view, &operands);
        }
        match self.program.callee(at, op) {
            Some(callee) => self.visit_call(at, view, callee, &operands),
            None => self.transfer(at, view, &operands),
        }
    }

    fn transfer(&mut self, at: usize, op: OpRef<'_>, operands: &[A::Fact]) {
        if op.num_results() == 0 {
            return;
        }
        if op.regions().len() > 0 {
            op.results().for_each(|r| self.set_unknown(at, r));
            return;
        }
        let facts = self.analysis.transfer(op, operands);
        debug_assert_eq!(facts.len(), op.num_results(), "one fact per result");
        for (result, fact) in op.results().zip(&facts) {
            self.add(at, result, fact);
        }
    }

    // ---- control flow

    fn visit_branch(&mut self, at: usize, op: OpRef<'_>, operands: &[A::Fact]) {
        let branch = op.interface::<dyn BranchOp>();
        let constants = self.constants(operands);
        let taken = branch.and_then(|b| b.taken(op, &constants));
        for (index, &target) in op.successors().iter().enumerate() {
            if taken.is_some_and(|t| t != index) {
                continue;
            }
            let passed = branch.map_or(&[][..], |b| &operands[b.successor_operands(op, index)]);
            let args = op.body.block_args(target);
            let made = args.len().saturating_sub(passed.len());
            args[..made].iter().for_each(|arg| self.set_unknown(at, *arg));
            for (arg, fact) in args[made..].iter().zip(passed) {
                self.add(at, *arg, fact);
            }
            self.enter(at, target);
        }
    }

    /// A terminator that leaves its region.
    fn visit_end(&mut self, at: usize, op: OpRef<'_>, operands: &[A::Fact]) {
        let Some(region) = op.body.op_block(op.op).and_then(|b| op.body.block_region(b)) else { return };
        let Some(parent) = op.body.region_parent(region) else {
            self.visit_return(at, op, operands);
            return;
        };
        let parent = op.at(parent);
        let Some(branch) = parent.interface::<dyn RegionBranchOp>() else { return };
        let index = parent.regions().position(|r| r.region == region).expect("one of its regions");
        let constants = self.constants(operands);
        for target in branch.after(parent, index, op, &constants) {
            self.pass(at, parent, branch, target, &operands[branch.passed_operands(parent, op, target)]);
        }
    }

    /// Hands `passed` to what `target` of `op` takes.
    fn pass(
        &mut self,
        at: usize,
        op: OpRef<'_>,
        branch: &dyn RegionBranchOp,
        target: RegionTarget,
        passed: &[A::Fact],
    ) {
        let values = target_values(op, target);
        let inputs = branch.inputs(op, target);
        for (index, &value) in values.iter().enumerate() {
            match index.checked_sub(inputs.start).filter(|_| inputs.contains(&index)).and_then(|i| passed.get(i)) {
                Some(fact) => self.add(at, value, fact),
                None => {
                    let fact = self.analysis.made_by_op(op, value);
                    self.add(at, value, &fact);
                }
            }
        }
        if let RegionTarget::Region(index) = target
            && let Some(entry) = op.region(index).and_then(|r| r.entry())
        {
            self.enter(at, entry.block);
        }
    }

    // ---- calls

    fn visit_call(&mut self, at: usize, call: OpRef<'a>, callee: usize, operands: &[A::Fact]) {
        if !std::mem::replace(&mut self.called[self.program.op_number(at, call.op)], true) {
            self.callers[callee].push((at, call.op));
            for op in self.returns[callee].clone() {
                self.enqueue(callee, op);
            }
        }
        if !self.known_callers[callee] {
            return;
        }
        let arguments = call.interface::<dyn CallOp>().map(|c| c.arguments(call)).unwrap_or_default();
        let passed = &operands[arguments];
        let region =
            self.program.callable_region(callee).and_then(|r| self.program.body(callee).owner_regions().nth(r));
        let Some(entry) = region.and_then(|r| self.program.body(callee).region_entry(r)) else { return };
        let args = self.program.body(callee).block_args(entry);
        for (index, &arg) in args.iter().enumerate() {
            match passed.get(index) {
                Some(fact) => self.add(callee, arg, fact),
                None => self.set_unknown(callee, arg),
            }
        }
        self.enter(callee, entry);
    }

    fn visit_return(&mut self, at: usize, op: OpRef<'_>, operands: &[A::Fact]) {
        if !op.has_trait(Traits::ReturnLike) || self.program.callable_region(at).is_none() {
            return;
        }
        if !self.returns[at].contains(&op.op) {
            self.returns[at].push(op.op);
        }
        for (caller_at, call) in self.callers[at].clone() {
            let results: SmallVec<[Value; 4]> = self.program.body(caller_at).results(call).collect();
            for (index, result) in results.into_iter().enumerate() {
                match operands.get(index) {
                    Some(fact) => self.add(caller_at, result, fact),
                    None => self.set_unknown(caller_at, result),
                }
            }
        }
    }
}
