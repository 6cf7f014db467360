//! The greedy pattern driver: folds, erases dead ops and applies patterns until nothing changes any more.
//!
//! Ops are looked at in the order of the text; whatever a change touches is looked at again. When the list is empty,
//! regions are simplified, and if anything has changed the whole body is gone over once more, up to a limit.

use super::FrozenPatterns;
use super::constants::{Constants, constant_value};
use super::fold::{Folded, fold};
use super::regions::{RegionSimplify, simplify_regions_with};
use super::worklist::Worklist;
use crate::analysis::effects::is_trivially_dead;
use crate::body::{Body, Op};
use crate::builder::Listener;
use crate::context::{Context, Ident};
use crate::op_ref::OpRef;
use crate::rewriter::Rewriter;

/// How the driver works.
#[derive(Clone, Copy, Debug)]
pub struct GreedyConfig {
    /// The body is gone over at most so often; 0 for no limit.
    pub max_iterations: u32,
    /// Fold ops and merge constants.
    pub fold: bool,
    /// What is done to regions.
    pub simplify_regions: RegionSimplify,
    /// Start with the first op rather than the last.
    pub top_down: bool,
}

impl Default for GreedyConfig {
    fn default() -> Self {
        Self { max_iterations: 10, fold: true, simplify_regions: RegionSimplify::Normal, top_down: true }
    }
}

/// What the driver did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GreedyOutcome {
    /// Something changed.
    pub changed: bool,
    /// The last time nothing changed any more. False: a limit was hit, and more could be rewritten.
    pub converged: bool,
    /// Patterns applied.
    pub rewritten: u64,
    /// Ops folded.
    pub folded: u64,
    /// Dead ops erased.
    pub erased: u64,
}

/// A worklist that never gets empty is given up after this many changes per op.
const MAX_CHANGES_PER_OP: u64 = 256;

/// Applies `patterns` to all ops of `body`, nested bodies left out.
pub fn apply_patterns_greedily(
    cx: &Context,
    body: &mut Body,
    patterns: &FrozenPatterns,
    config: &GreedyConfig,
) -> GreedyOutcome {
    let mut driver = Driver {
        cx,
        patterns,
        config,
        value_name: cx.ident("value"),
        state: State::default(),
        outcome: GreedyOutcome::default(),
    };
    let epoch = body.epoch();
    driver.run(body);
    driver.outcome.changed = body.epoch() != epoch;
    driver.outcome
}

struct Driver<'d> {
    cx: &'d Context,
    patterns: &'d FrozenPatterns,
    config: &'d GreedyConfig,
    value_name: Ident,
    state: State,
    outcome: GreedyOutcome,
}

/// What hears of changes.
#[derive(Default)]
struct State {
    worklist: Worklist,
    constants: Constants,
}

impl Driver<'_> {
    fn run(&mut self, body: &mut Body) {
        let mut iteration = 0;
        loop {
            let mut changed = self.populate(body);
            match self.drain(body) {
                Some(more) => changed |= more,
                None => return,
            }
            changed |= simplify_regions_with(self.cx, body, self.config.simplify_regions, &mut self.state);
            iteration += 1;
            if !changed {
                self.outcome.converged = true;
                return;
            }
            if iteration == self.config.max_iterations {
                return;
            }
        }
    }

    /// Fills the worklist with all ops; constants are put where they belong first, so that their order is kept.
    fn populate(&mut self, body: &mut Body) -> bool {
        let mut ops: Vec<Op> = body.preorder().collect();
        let mut changed = false;
        if self.config.fold {
            ops.retain(|&op| {
                let Some(value) = constant_value(self.cx, body, op, self.value_name) else { return true };
                let kept = self.state.constants.adopt(self.cx, body, op, value);
                if !kept {
                    body.erase_op(op);
                    self.outcome.erased += 1;
                    changed = true;
                }
                kept
            });
        }
        if self.config.top_down {
            self.state.worklist.fill(ops.into_iter());
        } else {
            self.state.worklist.fill(ops.into_iter().rev());
        }
        changed
    }

    /// Works until the list is empty; true when something changed, `None` when it does not come to an end.
    fn drain(&mut self, body: &mut Body) -> Option<bool> {
        let mut budget = 1024 + MAX_CHANGES_PER_OP * body.op_count() as u64;
        let mut changed = false;
        while let Some(op) = self.state.worklist.pop() {
            if body.is_live(op) && self.visit(body, op) {
                changed = true;
                budget = budget.checked_sub(1)?;
            }
        }
        Some(changed)
    }

    fn visit(&mut self, body: &mut Body, op: Op) -> bool {
        if is_trivially_dead(OpRef::new(self.cx, body, op)) {
            Rewriter::with_listener(self.cx, body, &mut self.state).erase_op(op);
            self.outcome.erased += 1;
            return true;
        }
        if self.config.fold && self.try_fold(body, op) {
            self.outcome.folded += 1;
            return true;
        }
        for pattern in self.patterns.for_op(body.name(op)) {
            let mut rewriter = Rewriter::with_listener(self.cx, body, &mut self.state);
            rewriter.set_before(op);
            if pattern.match_and_rewrite(op, &mut rewriter).is_some() {
                self.outcome.rewritten += 1;
                return true;
            }
        }
        false
    }

    fn try_fold(&mut self, body: &mut Body, op: Op) -> bool {
        let State { worklist, constants } = &mut self.state;
        // While an op is folded nothing is erased but constants that are of no use: only the list needs to hear of it.
        let mut inserted = Queue { worklist };
        match fold(self.cx, body, op, constants, self.value_name, &mut inserted) {
            Folded::No => false,
            Folded::InPlace => true,
            Folded::Values(values) => {
                Rewriter::with_listener(self.cx, body, &mut self.state).replace_op(op, &values);
                true
            }
        }
    }
}

/// Puts what is made or changed on the list.
struct Queue<'q> {
    worklist: &'q mut Worklist,
}

impl Listener for Queue<'_> {
    fn op_inserted(&mut self, _: &Body, op: Op) {
        self.worklist.push(op);
    }
    fn op_modified(&mut self, _: &Body, op: Op) {
        self.worklist.push(op);
    }
}

impl State {
    /// Definitions that `op` is about to use no longer: with few uses left they may be dead or match a pattern.
    fn push_operands(&mut self, body: &Body, op: Op) {
        for value in body.operands(op) {
            if let Some(definition) = body.defining_op(value)
                && body.uses(value).take(3).count() < 3
            {
                self.worklist.push(definition);
            }
        }
    }
}

impl Listener for State {
    fn op_inserted(&mut self, _: &Body, op: Op) {
        self.worklist.push(op);
    }
    fn op_modified(&mut self, _: &Body, op: Op) {
        self.worklist.push(op);
    }
    fn op_erased(&mut self, body: &Body, op: Op) {
        self.constants.forget(op);
        self.push_operands(body, op);
        if body.regions(op).len() > 0 {
            for inner in body.preorder_in(op) {
                self.constants.forget(inner);
                self.push_operands(body, inner);
            }
        }
        // What lies around may have become dead or foldable.
        if let Some(parent) = body.parent_op(op) {
            self.worklist.push(parent);
        }
    }
}
