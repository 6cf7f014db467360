//! The conversion driver: legalizes every op of a body, then of the bodies inside it.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::blame::Blame;
use super::casts::{Cast, CastKind, Casts, is_cast, reconcile_unrealized_casts};
use super::pattern::{ConversionPatterns, Entry, Frozen};
use super::rewriter::{ConversionRewriter, Ears, Pending, Record};
use super::target::{ConversionTarget, Legality};
use super::types::TypeConverter;
use crate::asm::print::type_text;
use crate::body::{Block, Body, Op, Value};
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::op_ref::OpRef;
use crate::pass::PassError;
use crate::rewrite::honest::broken_word;
use crate::rewrite::log::Log;
use crate::rewriter::{Rewriter, clone_body};
use crate::trace::{DIALECT_CONVERSION, Trace};
use crate::types::Type;

/// What a conversion did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConversionOutcome {
    /// Something changed.
    pub changed: bool,
    /// Patterns applied.
    pub applied: u64,
    /// Casts that a type converter materialized.
    pub materialized: u64,
}

/// What a conversion would do.
#[derive(Clone, Debug, Default)]
pub struct ConversionAnalysis {
    /// Ops of the body that are legal or would be legalized, in the order of the text; those of bodies inside are left out.
    pub legalizable: Vec<Op>,
    /// One error for each op that would not.
    pub failures: Vec<Diagnostic>,
}

/// Applies patterns until no op of `body`, or of the bodies inside it, is illegal. Ops of which the target knows nothing
/// stay where no pattern applies to them.
///
/// # Errors
/// After an error was reported for each op that could not be legalized. `body` is then converted in part.
pub fn apply_partial_conversion(
    cx: &Context,
    body: &mut Body,
    target: &ConversionTarget<'_>,
    patterns: &ConversionPatterns,
    diags: &mut Diagnostics,
    trace: &mut Trace,
) -> Result<ConversionOutcome, PassError> {
    Driver::new(cx, target, patterns, false, trace).finish(body, diags)
}

/// Applies patterns until every op of `body`, and of the bodies inside it, is legal.
///
/// # Errors
/// After an error was reported for each op that could not be legalized. `body` is then converted in part.
pub fn apply_full_conversion(
    cx: &Context,
    body: &mut Body,
    target: &ConversionTarget<'_>,
    patterns: &ConversionPatterns,
    diags: &mut Diagnostics,
    trace: &mut Trace,
) -> Result<ConversionOutcome, PassError> {
    Driver::new(cx, target, patterns, true, trace).finish(body, diags)
}

/// Which ops of `body` a conversion would legalize; nothing is changed. The conversion is made on a copy.
///
/// # Errors
/// After an error was reported that is none of the program: a pattern that broke the rules.
pub fn analyze_conversion(
    cx: &Context,
    body: &Body,
    target: &ConversionTarget<'_>,
    patterns: &ConversionPatterns,
    diags: &mut Diagnostics,
    trace: &mut Trace,
) -> Result<ConversionAnalysis, PassError> {
    let mut copy = clone_body(cx, body);
    // A copy has its ops in the same order.
    let ops: Vec<(Op, Op)> = body.preorder().zip(copy.preorder()).collect();
    let mut driver = Driver::new(cx, target, patterns, true, trace);
    let failed = driver.convert_all(&mut copy);
    if let Some(broken) = driver.broken {
        diags.report(broken);
        return Err(PassError::Internal);
    }
    let legalizable = ops.into_iter().filter(|(_, copied)| !failed.contains(copied)).map(|(op, _)| op).collect();
    Ok(ConversionAnalysis { legalizable, failures: driver.failures })
}

/// What legalizing an op came to, in words.
fn verdict(legality: Legality, done: &Result<bool, Box<Blame>>) -> &'static str {
    match (legality, done) {
        (_, Err(_)) => "cannot be legalized",
        (_, Ok(true)) => "legalized",
        (Legality::Legal { .. }, _) => "legal",
        (_, Ok(false)) => "stays: the target says nothing of it",
    }
}

struct Driver<'d> {
    cx: &'d Context,
    target: &'d ConversionTarget<'d>,
    patterns: Frozen,
    /// Ops of which the target knows nothing may not stay.
    full: bool,
    outcome: ConversionOutcome,
    failures: Vec<Diagnostic>,
    /// A pattern broke the rules; nothing more is done.
    broken: Option<Diagnostic>,
    /// If each step is to be written down.
    log: Option<Log<'d>>,
}

/// What applying a pattern came to.
enum Applied {
    Refused(Vec<String>),
    /// The ops that it made or changed.
    Yes(Vec<Op>),
    Broken,
}

/// Conversion of one body.
struct Session<'s, 'd> {
    driver: &'s mut Driver<'d>,
    casts: Casts,
    pending: Pending,
    /// Patterns being applied, outermost first.
    stack: Vec<usize>,
}

impl<'d> Driver<'d> {
    fn new(
        cx: &'d Context,
        target: &'d ConversionTarget<'d>,
        patterns: &ConversionPatterns,
        full: bool,
        trace: &'d mut Trace,
    ) -> Self {
        Self {
            cx,
            target,
            patterns: Frozen::new(cx, patterns),
            full,
            outcome: ConversionOutcome::default(),
            failures: Vec::new(),
            broken: None,
            log: trace.lines(&DIALECT_CONVERSION).map(|lines| Log::new(cx, lines)),
        }
    }

    fn finish(mut self, body: &mut Body, diags: &mut Diagnostics) -> Result<ConversionOutcome, PassError> {
        self.convert_all(body);
        if let Some(broken) = self.broken {
            diags.report(broken);
            return Err(PassError::Internal);
        }
        let failed = !self.failures.is_empty();
        self.failures.into_iter().for_each(|failure| {
            diags.report(failure);
        });
        if failed { Err(PassError::Failed) } else { Ok(self.outcome) }
    }

    /// Converts `body` and the bodies inside it. Returns the ops of the body itself that could not be legalized.
    fn convert_all(&mut self, body: &mut Body) -> FxHashSet<Op> {
        let group = self.log.as_mut().map(|log| log.open(DIALECT_CONVERSION.name));
        let failed = self.convert_body(body, None);
        if let (Some(log), Some(group)) = (&mut self.log, group) {
            let done = self.failures.is_empty() && self.broken.is_none();
            log.close(group, if done { "done" } else { "failed" });
        }
        failed
    }

    /// `signature` converts the arguments of all blocks first. Returns the ops of the body itself that could not be
    /// legalized.
    fn convert_body(&mut self, body: &mut Body, signature: Option<Arc<TypeConverter>>) -> FxHashSet<Op> {
        let mut session =
            Session { driver: self, casts: Casts::default(), pending: Pending::default(), stack: Vec::new() };
        if let Some(converter) = signature {
            session.convert_signature(body, converter);
        }
        let failed = session.convert_ops(body);
        session.finish_casts(body);
        let mut pending = session.pending;
        self.convert_nested(body, &mut pending);
        failed
    }

    fn convert_nested(&mut self, body: &mut Body, pending: &mut Pending) {
        let mut skipped: FxHashSet<Op> = FxHashSet::default();
        let owners: Vec<Op> = body.preorder().collect();
        for op in owners {
            let legality = self.target.legality(OpRef::new(self.cx, body, op));
            if skipped.contains(&op) || legality == (Legality::Legal { recursively: true }) {
                skipped.extend(body.preorder_in(op));
                continue;
            }
            if body.nested(op).is_none() || self.broken.is_some() {
                continue;
            }
            let group = self.log.as_mut().map(|log| {
                let what = log.what(body, op);
                log.open(format_args!("inside {what}"))
            });
            if let Some(inside) = body.nested_mut(op) {
                self.convert_body(inside, pending.remove(&op));
            }
            if let (Some(log), Some(group)) = (&mut self.log, group) {
                log.close_unless_empty(group);
            }
        }
    }
}

impl<'d> Session<'_, 'd> {
    fn with_rewriter<R>(
        &mut self,
        body: &mut Body,
        converter: Option<Arc<TypeConverter>>,
        run: impl FnOnce(&mut ConversionRewriter<'_>) -> R,
    ) -> (R, Record) {
        let record = RefCell::new(Record::default());
        let mut ears = Ears { record: &record, log: self.driver.log.as_mut() };
        let rw = Rewriter::with_listener(self.driver.cx, body, &mut ears);
        let result = run(&mut ConversionRewriter::new(rw, &record, &mut self.casts, &mut self.pending, converter));
        (result, record.into_inner())
    }

    fn convert_signature(&mut self, body: &mut Body, converter: Arc<TypeConverter>) {
        let blocks: Vec<Block> = body.owner_regions().flat_map(|r| body.blocks(r)).collect();
        let cx = self.driver.cx;
        if let Some(log) = &mut self.driver.log {
            log.line("arguments of its blocks are converted");
        }
        self.with_rewriter(body, Some(converter.clone()), |rw| {
            for block in blocks {
                let types: Vec<Type> = rw.body().block_args(block).iter().map(|v| rw.body().ty(*v)).collect();
                let conversion = converter.convert_signature(cx, &types).expect("checked when it was asked for");
                rw.apply_signature_conversion(block, &conversion);
            }
        });
        self.driver.outcome.changed = true;
    }

    /// Legalizes the ops that are there; returns those that could not be.
    fn convert_ops(&mut self, body: &mut Body) -> FxHashSet<Op> {
        let (mut failed, mut skipped) = (FxHashSet::default(), FxHashSet::default());
        let ops: Vec<Op> = body.preorder().collect();
        for op in ops {
            if self.driver.broken.is_some() {
                break;
            }
            if !body.is_live(op) || skipped.contains(&op) || self.casts.made.contains_key(&op) {
                continue;
            }
            let view = OpRef::new(self.driver.cx, body, op);
            if self.driver.target.legality(view) == (Legality::Legal { recursively: true }) {
                if let Some(log) = &mut self.driver.log {
                    let what = log.what(body, op);
                    log.line(format_args!("{what} -> legal, with what is inside it"));
                }
                skipped.extend(body.preorder_in(op));
                continue;
            }
            if let Err(blame) = self.legalize(body, op) {
                failed.insert(op);
                // What is inside an op that stays is not the problem.
                skipped.extend(body.preorder_in(op));
                self.driver.failures.push(blame.diagnostic(self.driver.target));
            }
        }
        failed
    }

    /// [`Session::try_legalize`], written down if that is asked for.
    fn legalize(&mut self, body: &mut Body, op: Op) -> Result<(), Box<Blame>> {
        let view = OpRef::new(self.driver.cx, body, op);
        let legality = self.driver.target.legality(view);
        let group = self.driver.log.as_mut().map(|log| {
            let what = log.what(body, op);
            log.open(what)
        });
        let done = self.try_legalize(body, op, legality);
        if let (Some(log), Some(group)) = (&mut self.driver.log, group) {
            log.close(group, verdict(legality, &done));
        }
        done.map(drop)
    }

    /// Applies the first pattern that applies; true when there is one.
    fn try_legalize(&mut self, body: &mut Body, op: Op, legality: Legality) -> Result<bool, Box<Blame>> {
        let cx = self.driver.cx;
        let stays = match legality {
            Legality::Legal { .. } => return Ok(false),
            Legality::Unknown => !self.driver.full || is_cast(cx, body, op),
            Legality::Illegal | Legality::DynamicallyIllegal => false,
        };
        let mut blame = Box::new(Blame::of(OpRef::new(cx, body, op), legality));
        let entries: Vec<Entry> = self.driver.patterns.for_op(body.name(op)).to_vec();
        for entry in &entries {
            let name = entry.pattern.name();
            if self.stack.contains(&entry.id) {
                if let Some(log) = &mut self.driver.log {
                    log.line(format_args!("pattern '{name}' -> not tried: it is being applied already"));
                }
                blame.recursion(name);
                continue;
            }
            match self.apply(body, op, entry) {
                Applied::Broken => return Ok(true),
                Applied::Refused(reasons) => blame.refused(name, reasons),
                Applied::Yes(touched) => {
                    let left = self.legalize_all(body, entry.id, &touched);
                    if !left.is_empty() {
                        blame.left_behind(name, left);
                        return Err(blame);
                    }
                    if self.is_still_illegal(body, op, &touched) {
                        blame.unchanged(name);
                        return Err(blame);
                    }
                    return Ok(true);
                }
            }
        }
        if stays { Ok(false) } else { Err(blame) }
    }

    /// Legalizes what a pattern left behind.
    fn legalize_all(&mut self, body: &mut Body, pattern: usize, touched: &[Op]) -> Vec<Blame> {
        self.stack.push(pattern);
        let mut left = Vec::new();
        let mut seen = FxHashSet::default();
        for &op in touched {
            if self.driver.broken.is_none()
                && seen.insert(op)
                && body.is_live(op)
                && let Err(blame) = self.legalize(body, op)
            {
                left.push(*blame);
            }
        }
        self.stack.pop();
        left
    }

    /// True when a pattern left its op there, itself not changed, and what changed in its regions made it not legal.
    fn is_still_illegal(&self, body: &Body, op: Op, touched: &[Op]) -> bool {
        if !body.is_live(op) || touched.contains(&op) {
            return false;
        }
        let legality = self.driver.target.legality(OpRef::new(self.driver.cx, body, op));
        matches!(legality, Legality::Illegal | Legality::DynamicallyIllegal)
    }

    fn apply(&mut self, body: &mut Body, op: Op, entry: &Entry) -> Applied {
        let group = self.driver.log.as_mut().map(|log| log.open_pattern(entry.pattern.name()));
        let applied = self.try_apply(body, op, entry);
        if let (Some(log), Some(group)) = (&mut self.driver.log, group) {
            match &applied {
                Applied::Broken => log.close(group, "breaks the rules"),
                Applied::Refused(_) => log.close_pattern(group, false),
                Applied::Yes(_) => log.close_pattern(group, true),
            }
        }
        applied
    }

    fn try_apply(&mut self, body: &mut Body, op: Op, entry: &Entry) -> Applied {
        let (applied, record) = self.with_rewriter(body, entry.converter.clone(), |rw| {
            let operands = rw.adaptor(op)?;
            rw.set_before(op);
            Ok::<bool, String>(entry.pattern.match_and_rewrite(op, &operands, rw).is_some())
        });
        match applied {
            Err(reason) => {
                if let Some(log) = &mut self.driver.log {
                    log.refused(reason.clone());
                }
                Applied::Refused(vec![reason])
            }
            Ok(true) if record.changes != 0 || !cfg!(debug_assertions) => {
                self.driver.outcome.applied += 1;
                self.driver.outcome.changed = true;
                Applied::Yes(record.touched)
            }
            Ok(false) if record.changes == 0 => Applied::Refused(record.reasons),
            Ok(applied) => {
                let broken = broken_word(entry.pattern.name(), body.loc(op), applied, record.changes != 0);
                self.driver.broken = broken.map(|broken| *broken);
                Applied::Broken
            }
        }
    }

    // ---- casts

    /// Removes the casts that are not needed and has the others materialized.
    fn finish_casts(&mut self, body: &mut Body) {
        // What a materialization makes may need casts again; each round resolves one level.
        const MAX_ROUNDS: usize = 16;
        for _ in 0..MAX_ROUNDS {
            let made: Vec<(Op, Cast)> =
                std::mem::take(&mut self.casts.made).into_iter().filter(|(op, _)| body.is_live(*op)).collect();
            self.casts.at_definition.clear();
            let ops: Vec<Op> = made.iter().map(|(op, _)| *op).collect();
            let group = self
                .driver
                .log
                .as_mut()
                .filter(|_| !made.is_empty())
                .map(|log| log.open(format_args!("{} casts between old and new types", made.len())));
            let rest: FxHashSet<Op> = reconcile_unrealized_casts(self.driver.cx, body, &ops).into_iter().collect();
            for (op, cast) in made.iter().filter(|(op, _)| rest.contains(op)) {
                if self.driver.broken.is_some() || !self.materialize(body, *op, cast) {
                    self.unresolved(body, *op);
                }
            }
            if let (Some(log), Some(group)) = (&mut self.driver.log, group) {
                log.close(group, format_args!("{} cancel out or are not used", made.len() - rest.len()));
            }
            if self.casts.made.is_empty() {
                return;
            }
        }
    }

    /// Replaces a cast by what the type converter makes; false when it makes nothing.
    fn materialize(&mut self, body: &mut Body, op: Op, cast: &Cast) -> bool {
        let Some(converter) = &cast.converter else { return false };
        let (inputs, results): (SmallVec<[Value; 4]>, SmallVec<[Value; 4]>) =
            (body.operands(op).collect(), body.results(op).collect());
        let types: Vec<Type> = results.iter().map(|v| body.ty(*v)).collect();
        let loc = body.loc(op);
        let (made, record) = self.with_rewriter(body, None, |rw| {
            rw.set_before(op);
            let made = match cast.kind {
                CastKind::Source => {
                    converter.to_source(rw, loc, &inputs, types[0]).map(|v| SmallVec::<[Value; 1]>::from_elem(v, 1))
                }
                CastKind::Target => converter.to_target(rw, loc, &inputs, &types),
            }?;
            for (result, value) in results.iter().zip(made) {
                rw.inherit_name(*result, value);
                rw.replace_all_uses(*result, value);
            }
            Rewriter::erase_op(rw, op);
            Some(())
        });
        if let (Some(log), None) = (&mut self.driver.log, made) {
            let what = log.what(body, op);
            log.line(format_args!("{what} -> the type converter materializes nothing for it"));
        }
        if made.is_none() {
            return false;
        }
        self.driver.outcome.materialized += 1;
        for op in record.touched {
            if body.is_live(op)
                && !is_cast(self.driver.cx, body, op)
                && let Err(blame) = self.legalize(body, op)
            {
                self.driver.failures.push(blame.diagnostic(self.driver.target));
            }
        }
        true
    }

    fn unresolved(&mut self, body: &Body, op: Op) {
        if !self.driver.failures.is_empty() || self.driver.broken.is_some() {
            // Ops that were not converted still use old values: their errors say more.
            return;
        }
        let cx = self.driver.cx;
        let list =
            |types: Vec<Type>| types.iter().map(|t| format!("'{}'", type_text(cx, *t))).collect::<Vec<_>>().join(", ");
        let view = OpRef::new(cx, body, op);
        let message = format!(
            "failed to legalize unresolved materialization from ({}) to ({}) that remained live after conversion",
            list(view.operand_types().collect()),
            list(view.result_types().collect())
        );
        let mut diagnostic = Diagnostic::error(view.loc(), message);
        let user = view.results().find_map(|r| body.uses(r).next());
        if let Some(user) = user.map(|u| view.at(u.owner)) {
            diagnostic = diagnostic.note(user.loc(), format!("see existing live user here: '{}'", user.name_str()));
        }
        let help =
            "give the type converter a materialization for these types, or `unrealized_casts()`, or convert the user";
        self.driver.failures.push(diagnostic.help(help));
    }
}
