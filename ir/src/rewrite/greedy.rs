//! The greedy pattern driver: folds, erases dead ops and applies patterns until nothing changes any more.
//!
//! Ops are looked at in the order of the text; whatever a change touches is looked at again. When the list is empty,
//! regions are simplified, and if anything has changed the whole body is gone over once more, up to a limit.

use std::sync::Arc;

use smallvec::SmallVec;

use super::FrozenPatterns;
use super::constants::{Constants, constant_value};
use super::fold::{Folded, fold};
use super::honest::broken_word;
use super::log::Log;
use super::regions::{RegionSimplify, simplify_regions_with};
use super::worklist::Worklist;
use crate::analysis::effects::is_trivially_dead;
use crate::body::{Block, Body, Op, Region, Value};
use crate::builder::Listener;
use crate::context::{Context, Ident};
use crate::diagnostics::Diagnostic;
use crate::op_ref::OpRef;
use crate::pattern::RewritePattern;
use crate::rewriter::Rewriter;
use crate::trace::{GREEDY_REWRITER, Trace};
use crate::work::Counter;

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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GreedyOutcome {
    /// Something changed.
    pub changed: bool,
    /// The last time nothing changed any more. False: a limit was hit, and more could be rewritten.
    pub converged: bool,
    /// How often the body was gone over.
    pub iterations: u32,
    /// Patterns applied.
    pub rewritten: u64,
    /// How often each pattern was applied, by name; those that were not are left out.
    pub applied: Vec<(String, u64)>,
    /// Ops folded.
    pub folded: u64,
    /// Dead ops erased.
    pub erased: u64,
    /// Regions were simplified.
    pub simplified_regions: bool,
}

/// A worklist that never gets empty is given up after this many changes per op.
const MAX_CHANGES_PER_OP: u64 = 256;

static OPS_VISITED: Counter = Counter::new("rewriting: ops visited");
static PATTERNS_TRIED: Counter = Counter::new("rewriting: patterns tried");
static PATTERNS_APPLIED: Counter = Counter::new("rewriting: patterns applied");
static OPS_FOLDED: Counter = Counter::new("rewriting: ops folded");

/// Applies `patterns` to all ops of `body`, nested bodies left out, and writes down each step in `trace` if it is asked for.
///
/// # Errors
/// In debug builds, when a pattern changed something and returned `None`, or returned `Some` and changed nothing: an
/// internal error, which names it. `body` is then rewritten in part.
pub fn apply_patterns_greedily(
    cx: &Context,
    body: &mut Body,
    patterns: &FrozenPatterns,
    config: &GreedyConfig,
    trace: &mut Trace,
) -> Result<GreedyOutcome, Box<Diagnostic>> {
    let mut log = trace.lines(&GREEDY_REWRITER).map(|lines| Log::new(cx, lines));
    let group = log.as_mut().map(|log| log.open(GREEDY_REWRITER.name));
    let mut driver = Driver {
        cx,
        patterns,
        config,
        value_name: cx.ident("value"),
        state: State { worklist: Worklist::default(), constants: Constants::default(), log },
        applied: Vec::new(),
        visited: 0,
        tried: 0,
        outcome: GreedyOutcome::default(),
        broken: None,
    };
    let epoch = body.epoch();
    driver.run(body);
    OPS_VISITED.add(driver.visited);
    PATTERNS_TRIED.add(driver.tried);
    PATTERNS_APPLIED.add(driver.outcome.rewritten);
    OPS_FOLDED.add(driver.outcome.folded);
    driver.outcome.changed = body.epoch() != epoch;
    if let (Some(log), Some(group)) = (&mut driver.state.log, group) {
        let end = match (&driver.broken, driver.outcome.converged) {
            (Some(_), _) => "given up: a pattern broke the rules",
            (None, true) => "nothing is left to do",
            (None, false) => "given up: a limit is reached",
        };
        log.close(group, end);
    }
    match driver.broken.take() {
        Some(broken) => Err(broken),
        None => Ok(driver.finish()),
    }
}

struct Driver<'d> {
    cx: &'d Context,
    patterns: &'d FrozenPatterns,
    config: &'d GreedyConfig,
    value_name: Ident,
    state: State<'d>,
    /// Patterns that applied, and how often.
    applied: Vec<(&'d Arc<dyn RewritePattern>, u64)>,
    visited: u64,
    tried: u64,
    outcome: GreedyOutcome,
    /// A pattern broke the rules; nothing more is done.
    broken: Option<Box<Diagnostic>>,
}

/// What hears of changes.
struct State<'d> {
    worklist: Worklist,
    constants: Constants,
    /// If each step is to be written down.
    log: Option<Log<'d>>,
}

impl<'d> Driver<'d> {
    fn run(&mut self, body: &mut Body) {
        loop {
            self.outcome.iterations += 1;
            let iteration = self.outcome.iterations;
            let group = self.state.log.as_mut().map(|log| log.open(format_args!("iteration {iteration}")));
            let changed = self.iterate(body);
            if let (Some(log), Some(group)) = (&mut self.state.log, group) {
                log.close(group, if changed == Some(false) { "nothing changed" } else { "something changed" });
            }
            self.outcome.converged = changed == Some(false);
            if changed != Some(true) || iteration == self.config.max_iterations {
                return;
            }
        }
    }

    /// Goes over the body once; true when something changed, `None` when it does not come to an end.
    fn iterate(&mut self, body: &mut Body) -> Option<bool> {
        let mut changed = self.populate(body);
        changed |= self.drain(body)?;
        let group = self.state.log.as_mut().map(|log| log.open("regions are simplified"));
        let simplified = simplify_regions_with(self.cx, body, self.config.simplify_regions, &mut self.state);
        self.outcome.simplified_regions |= simplified;
        if let (Some(log), Some(group)) = (&mut self.state.log, group) {
            log.close_unless_empty(group);
        }
        Some(changed | simplified)
    }

    fn finish(self) -> GreedyOutcome {
        let mut applied: Vec<(String, u64)> =
            self.applied.into_iter().map(|(pattern, times)| (pattern.name().to_string(), times)).collect();
        applied.sort();
        // Patterns of several ops may have one name.
        applied.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        GreedyOutcome { applied, ..self.outcome }
    }

    /// Fills the worklist with all ops; constants are put where they belong first, so that their order is kept.
    fn populate(&mut self, body: &mut Body) -> bool {
        let mut ops: Vec<Op> = body.preorder().collect();
        let mut changed = false;
        if self.config.fold {
            ops.retain(|&op| {
                let Some(value) = constant_value(self.cx, body, op, self.value_name) else { return true };
                // The list is filled after this with whatever there is.
                let mut rw = Rewriter::new(self.cx, body);
                let kept = self.state.constants.adopt(&mut rw, op, value);
                if !kept {
                    if let Some(log) = &mut self.state.log {
                        let what = log.what(rw.body(), op);
                        log.line(format_args!("{what} -> erased: there is an equal constant"));
                    }
                    rw.erase_op(op);
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

    /// Works until the list is empty; true when something changed, `None` when it does not come to an end or a pattern
    /// broke the rules.
    fn drain(&mut self, body: &mut Body) -> Option<bool> {
        let mut budget = 1024 + MAX_CHANGES_PER_OP * body.op_count() as u64;
        let mut changed = false;
        while let Some(op) = self.state.worklist.pop() {
            if body.is_live(op) && self.visit(body, op) {
                changed = true;
                budget = budget.checked_sub(1)?;
            }
            if self.broken.is_some() {
                return None;
            }
        }
        Some(changed)
    }

    fn visit(&mut self, body: &mut Body, op: Op) -> bool {
        if self.state.log.is_none() {
            return self.work_on(body, op) != Done::Nothing;
        }
        self.visit_aloud(body, op)
    }

    /// [`Driver::visit`], written down.
    #[cold]
    fn visit_aloud(&mut self, body: &mut Body, op: Op) -> bool {
        let has_patterns = !self.patterns.for_op(body.name(op)).is_empty();
        let log = self.state.log.as_mut().expect("asked for");
        let what = log.what(body, op);
        let group = log.open(what);
        let done = self.work_on(body, op);
        let log = self.state.log.as_mut().expect("as before");
        let verdict = match &done {
            Done::Erased => "erased: nothing needs it".to_string(),
            Done::Folded(values) if values.is_empty() => "folded in place".to_string(),
            Done::Folded(values) => {
                let values: Vec<String> = values.iter().map(|value| log.value(body, *value)).collect();
                format!("folded to {}", values.join(", "))
            }
            Done::Rewritten => "rewritten".to_string(),
            Done::Nothing if has_patterns => "stays".to_string(),
            Done::Nothing => "stays: no fold, no pattern for it".to_string(),
        };
        log.close(group, verdict);
        done != Done::Nothing
    }

    fn work_on(&mut self, body: &mut Body, op: Op) -> Done {
        self.visited += 1;
        if is_trivially_dead(OpRef::new(self.cx, body, op)) {
            if let Some(log) = &mut self.state.log {
                log.said(op);
            }
            Rewriter::with_listener(self.cx, body, &mut self.state).erase_op(op);
            self.outcome.erased += 1;
            return Done::Erased;
        }
        if self.config.fold
            && let Some(values) = self.try_fold(body, op)
        {
            self.outcome.folded += 1;
            return Done::Folded(values);
        }
        let patterns = self.patterns;
        for pattern in patterns.for_op(body.name(op)) {
            if self.apply(body, op, pattern) {
                self.outcome.rewritten += 1;
                return Done::Rewritten;
            }
            if self.broken.is_some() {
                return Done::Nothing;
            }
        }
        Done::Nothing
    }

    fn apply(&mut self, body: &mut Body, op: Op, pattern: &'d Arc<dyn RewritePattern>) -> bool {
        let group = self.state.log.as_mut().map(|log| log.open_pattern(pattern.name()));
        let epoch = body.epoch();
        let mut rewriter = Rewriter::with_listener(self.cx, body, &mut self.state);
        rewriter.set_before(op);
        self.tried += 1;
        let applied = pattern.match_and_rewrite(op, &mut rewriter).is_some();
        if let (Some(log), Some(group)) = (&mut self.state.log, group) {
            log.close_pattern(group, applied);
        }
        if cfg!(debug_assertions) {
            self.broken = broken_word(pattern.name(), body.loc(op), applied, body.epoch() != epoch);
        }
        if applied {
            match self.applied.iter_mut().find(|(known, _)| Arc::ptr_eq(known, pattern)) {
                Some((_, times)) => *times += 1,
                None => self.applied.push((pattern, 1)),
            }
        }
        applied
    }

    /// What the results of `op` are now; nothing for one that was changed in place, `None` when nothing folds.
    fn try_fold(&mut self, body: &mut Body, op: Op) -> Option<SmallVec<[Value; 1]>> {
        let State { worklist, constants, log } = &mut self.state;
        // While an op is folded nothing is erased but constants that are of no use: only the list needs to hear of it.
        let mut inserted = Queue { worklist, log };
        match fold(self.cx, body, op, constants, self.value_name, &mut inserted) {
            Folded::No => None,
            Folded::InPlace => Some(SmallVec::new()),
            Folded::Values(values) => {
                if let Some(log) = &mut self.state.log {
                    log.said(op);
                }
                Rewriter::with_listener(self.cx, body, &mut self.state).replace_op(op, &values);
                Some(values)
            }
        }
    }
}

/// What became of an op.
#[derive(PartialEq, Eq)]
enum Done {
    Nothing,
    Erased,
    /// Its results are these values; nothing when it was changed in place.
    Folded(SmallVec<[Value; 1]>),
    Rewritten,
}

/// Puts what is made or changed on the list.
struct Queue<'q, 'd> {
    worklist: &'q mut Worklist,
    log: &'q mut Option<Log<'d>>,
}

impl Listener for Queue<'_, '_> {
    fn op_inserted(&mut self, body: &Body, op: Op) {
        self.worklist.push(op);
        if let Some(log) = self.log {
            log.inserted(body, op);
        }
    }
    fn op_modified(&mut self, _: &Body, op: Op) {
        self.worklist.push(op);
    }
}

impl State<'_> {
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

impl Listener for State<'_> {
    fn op_inserted(&mut self, body: &Body, op: Op) {
        self.worklist.push(op);
        if let Some(log) = &mut self.log {
            log.inserted(body, op);
        }
    }
    fn op_modified(&mut self, body: &Body, op: Op) {
        self.worklist.push(op);
        if let Some(log) = &mut self.log {
            log.modified(body, op);
        }
    }
    fn op_moved(&mut self, body: &Body, op: Op) {
        self.worklist.push(op);
        if let Some(log) = &mut self.log {
            log.moved(body, op);
        }
    }
    fn use_replaced(&mut self, _: &Body, op: Op) {
        // That a value is replaced is said of its definition.
        self.worklist.push(op);
    }
    fn op_replaced(&mut self, body: &Body, op: Op, values: &[Value]) {
        if let Some(log) = &mut self.log {
            log.replaced(body, op, values);
        }
    }
    fn op_erased(&mut self, body: &Body, op: Op) {
        if let Some(log) = &mut self.log {
            log.erased(body, op);
        }
        self.constants.forget(op);
        self.push_operands(body, op);
        if body.regions(op).len() > 0 {
            for inner in body.preorder_in(op) {
                self.constants.forget(inner);
                self.push_operands(body, inner);
            }
        }
        // What lies around may have become dead or foldable: looked at once for all that goes from it.
        if let Some(parent) = body.parent_op(op) {
            self.worklist.push_later(parent);
        }
    }
    fn block_inserted(&mut self, _: &Body, _: Block) {
        if let Some(log) = &mut self.log {
            log.block_inserted();
        }
    }
    fn block_modified(&mut self, body: &Body, block: Block) {
        if let Some(log) = &mut self.log {
            log.block_modified();
        }
        self.worklist.extend(body.block_parent(block));
    }
    fn block_moved(&mut self, body: &Body, block: Block, from: Region) {
        if let Some(log) = &mut self.log {
            log.block_moved();
        }
        self.worklist.extend(body.region_parent(from));
        self.worklist.extend(body.block_parent(block));
    }
    fn block_erased(&mut self, body: &Body, block: Block) {
        if let Some(log) = &mut self.log {
            log.block_erased(body, block);
        }
    }
    fn match_failed(&mut self, _: &Body, _: Op, reason: &dyn Fn() -> String) {
        if let Some(log) = &mut self.log {
            log.refused(reason());
        }
    }
}
