//! Runs a pipeline on a program: passes in order on one op, nested managers on its children in parallel.
//!
//! A child is taken out of the body around it and becomes a small program of its own while passes work on it, so that
//! nothing can reach a sibling. What children report is put in the order of the text: the output is the same at any
//! number of threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use rayon::prelude::*;

use super::instrument::{Dump, IrPrinting, OpLabel, When};
use super::place::paths_to;
use super::report::{Failure, PassSpan, PipelineReport};
use super::{Item, OpPassManager, PassError, PassInfo, PassInstance, PassRun, SymbolSnapshot};
use crate::analysis::{Analyses, AnalysisUse, PreservedAnalyses};
use crate::body::{Module, Op, OpHeader};
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Diagnostics, Severity, codes};
use crate::location::Loc;
use crate::op_ref::OpRef;
use crate::symbols::symbol_ident;
use crate::trace::{Component, Trace};
use crate::verify::{Verified, VerifyOptions, verify_changed};
use crate::work::Counter;

/// How a pipeline is run. The number of threads is that of the rayon pool in which [`run_pipeline`] is called.
#[derive(Clone, Default)]
pub struct RunConfig {
    /// Verify after each pass: of all that changed, and in a debug build of all.
    pub verify_each: bool,
    /// What the verifier lets pass.
    pub verify: VerifyOptions,
    /// Printing of the IR around passes.
    pub print_ir: Option<IrPrinting>,
    /// Keep when and where each pass ran on each op, in [`PipelineReport::spans`].
    pub keep_spans: bool,
    /// Nobody listens to remarks: passes need not make them.
    pub no_remarks: bool,
    /// Components that write down what they do; each pass's part of that is an [`Event::Text`].
    pub trace: Vec<&'static Component>,
}

/// What a run reports, in order.
#[derive(Clone, Debug)]
pub enum Event {
    /// A diagnostic.
    Diagnostic(Diagnostic),
    /// The IR around a pass.
    Dump(Box<Dump>),
    /// Text that a pass asks to be shown, and traces.
    Text(String),
}

/// Runs `manager` on the top-level op of `module`.
///
/// # Errors
/// When a pass failed or left wrong IR; reported through `sink`.
pub fn run_pipeline(
    cx: &Context,
    module: &mut Module,
    manager: &mut OpPassManager,
    config: &RunConfig,
    sink: &mut dyn FnMut(Event),
) -> (PipelineReport, Result<(), PassError>) {
    manager.number();
    let root = module.op_ref(cx).name_str().to_string();
    if !manager.matches(&root) {
        let message = format!("can't run '{}' pass manager on '{root}' op", manager.anchor());
        let help = format!("the input's top-level op is '{root}': write the pipeline as `{root}(…)`");
        let error = Diagnostic::error(module.op_ref(cx).loc(), message).code(codes::ANCHOR).help(help);
        sink(Event::Diagnostic(error));
        return (PipelineReport::new(manager), Err(PassError::Failed));
    }
    let shared = Shared { cx, config, manager };
    let mut out = Out { sink, report: PipelineReport::new(manager) };
    let mut analyses = Analyses::default();
    let mut place = Place::top(module.op_ref(cx));
    let mut result = shared.run_on(manager, module, &mut analyses, &mut place, &mut out);
    let has_nested = manager.items().iter().any(|item| matches!(item, Item::Nested(_)));
    if result.is_ok() && config.verify_each && has_nested {
        // Symbols that nested ops refer to can be checked only from the top.
        result = shared.verify(module, None, &mut place.verified, &mut out);
    }
    let report = out.report;
    if result.is_ok() {
        warn_of_idle_passes(module.op_ref(cx), manager, &report, sink);
    }
    (report, result)
}

impl PassRun<'_> {
    /// Runs `manager` on an op of the pass's body that owns a body itself. What it reports is reported here; statistics
    /// are not kept. The caller says which analyses hold afterwards, and verification is the caller's pass's.
    ///
    /// # Errors
    /// When a pass failed.
    pub fn run_on_nested(&mut self, op: Op, manager: &mut OpPassManager) -> Result<(), PassError> {
        let Some(mut unit) = self.body.detach_isolated(op) else { return Ok(()) };
        let (diags, printed) = (&mut *self.diags, &mut *self.printed);
        let mut sink = |event| match event {
            Event::Diagnostic(diagnostic) => {
                diags.report(diagnostic);
            }
            Event::Text(text) => printed.push(text),
            // Nothing is dumped without being asked for.
            Event::Dump(_) => {}
        };
        let config =
            RunConfig { no_remarks: self.no_remarks, trace: self.trace.components().to_vec(), ..RunConfig::default() };
        let (report, result) = run_pipeline(self.cx, &mut unit, manager, &config, &mut sink);
        self.trace.written_elsewhere(&report.traced);
        self.body.attach_isolated(op, unit);
        result
    }
}

static PASSES_RUN: Counter = Counter::new("passes run");

/// What all runs of one pipeline share.
struct Shared<'s> {
    cx: &'s Context,
    config: &'s RunConfig,
    manager: &'s OpPassManager,
}

/// Where a run puts what it reports.
struct Out<'o> {
    sink: &'o mut dyn FnMut(Event),
    report: PipelineReport,
}

impl Out<'_> {
    fn diagnostics(&mut self, diags: &mut Diagnostics) {
        diags.take().into_iter().for_each(|d| (self.sink)(Event::Diagnostic(d)));
    }

    fn trace(&mut self, pass: &PassInfo, place: &Place<'_>, trace: &Trace) {
        self.report.add_traced(trace.written());
        if trace.text().is_empty() {
            return;
        }
        let on = place.path.last().map(|label| format!(" on {label}")).unwrap_or_default();
        let heading = format!("// -----// Trace of {} ({}){on} //----- //", pass.name, pass.argument);
        (self.sink)(Event::Text(format!("{heading}\n{}\n", trace.text())));
    }
}

/// The op at hand as seen from the whole program.
struct Place<'p> {
    symbols: SymbolSnapshot,
    path: Vec<OpLabel>,
    /// Numbers of the last passes on the ops around.
    outer: Vec<usize>,
    /// How many passes have begun on this op.
    passes: usize,
    /// What in this op is known to verify.
    verified: Verified,
    /// Puts a copy of the op into a copy of the program, where that is needed.
    embed: Option<&'p (dyn Fn(Module) -> Module + Sync)>,
}

impl Place<'_> {
    fn top(root: OpRef<'_>) -> Self {
        let (symbols, verified) = (SymbolSnapshot::default(), Verified::default());
        Self { symbols, path: vec![label(root)], outer: Vec::new(), passes: 0, verified, embed: None }
    }
}

fn label(op: OpRef<'_>) -> OpLabel {
    let symbol = symbol_ident(op).map(|name| op.cx.str(name).to_string());
    OpLabel { op: op.name_str().to_string(), symbol }
}

/// A child taken out of its parent.
struct Child {
    op: Op,
    unit: Module,
    analyses: Analyses,
    label: OpLabel,
    events: Vec<Event>,
    report: PipelineReport,
    result: Result<(), PassError>,
}

impl Shared<'_> {
    fn run_on(
        &self,
        manager: &OpPassManager,
        unit: &mut Module,
        analyses: &mut Analyses,
        place: &mut Place<'_>,
        out: &mut Out<'_>,
    ) -> Result<(), PassError> {
        for item in manager.items() {
            match item {
                Item::Pass(pass) => self.run_pass(pass, unit, analyses, place, out)?,
                Item::Nested(nested) => self.run_nested(nested, unit, analyses, place, out)?,
            }
        }
        Ok(())
    }

    // ---- nested ops

    fn run_nested(
        &self,
        manager: &OpPassManager,
        unit: &mut Module,
        analyses: &mut Analyses,
        place: &Place<'_>,
        out: &mut Out<'_>,
    ) -> Result<(), PassError> {
        let owner = unit.root().name(unit.op());
        let symbols = place.symbols.inside(self.cx, owner, unit.body());
        let ops = self.children(manager, unit);
        if self.config.print_ir.as_ref().is_some_and(|p| p.module_scope) {
            return self.run_in_turn(manager, unit, analyses, (place, &symbols), &ops, out);
        }
        let mut children: Vec<Child> = ops.into_iter().map(|op| self.take(op, unit, analyses)).collect();
        children.par_iter_mut().for_each(|child| {
            let mut events = std::mem::take(&mut child.events);
            let mut inner = place.inside(&symbols, child.label.clone(), None);
            self.run_child(manager, child, &mut inner, &mut |event| events.push(event));
            child.events = events;
        });
        let mut result = Ok(());
        for mut child in children {
            std::mem::take(&mut child.events).into_iter().for_each(&mut *out.sink);
            result = result.and(child.result);
            put_back(child, unit, analyses, out);
        }
        result
    }

    /// As `run_nested`, one op after the other: each sees what the passes made of those before it.
    fn run_in_turn(
        &self,
        manager: &OpPassManager,
        unit: &mut Module,
        analyses: &mut Analyses,
        (place, symbols): (&Place<'_>, &SymbolSnapshot),
        ops: &[Op],
        out: &mut Out<'_>,
    ) -> Result<(), PassError> {
        let mut result = Ok(());
        for &op in ops {
            let mut child = self.take(op, unit, analyses);
            let embed = |inner: Module| {
                let mut around = unit.clone();
                around.body_mut().attach_isolated(op, inner);
                match place.embed {
                    Some(embed) => embed(around),
                    None => around,
                }
            };
            let mut inner = place.inside(symbols, child.label.clone(), Some(&embed));
            self.run_child(manager, &mut child, &mut inner, &mut *out.sink);
            result = result.and(child.result);
            put_back(child, unit, analyses, out);
        }
        result
    }

    fn run_child(
        &self,
        manager: &OpPassManager,
        child: &mut Child,
        place: &mut Place<'_>,
        sink: &mut dyn FnMut(Event),
    ) {
        let mut out = Out { sink, report: std::mem::take(&mut child.report) };
        child.result = self.run_on(manager, &mut child.unit, &mut child.analyses, place, &mut out);
        child.report = out.report;
    }

    /// The ops directly in `unit` on which `manager` runs, in the order of the text.
    fn children(&self, manager: &OpPassManager, unit: &Module) -> Vec<Op> {
        let body = unit.body();
        let blocks = body.owner_regions().flat_map(|r| body.blocks(r));
        let ops = blocks.flat_map(|b| body.ops(b));
        ops.filter(|op| body.nested(*op).is_some() && manager.matches(body.name(*op).as_str(self.cx))).collect()
    }

    fn take(&self, op: Op, unit: &mut Module, analyses: &mut Analyses) -> Child {
        let label = label(OpRef::new(self.cx, unit.body(), op));
        Child {
            op,
            unit: unit.body_mut().detach_isolated(op).expect("owns a body"),
            analyses: analyses.take_nested(op),
            label,
            events: Vec::new(),
            report: PipelineReport::new(self.manager),
            result: Ok(()),
        }
    }

    // ---- one pass on one op

    fn run_pass(
        &self,
        pass: &PassInstance,
        unit: &mut Module,
        analyses: &mut Analyses,
        place: &mut Place<'_>,
        out: &mut Out<'_>,
    ) -> Result<(), PassError> {
        let info = pass.info();
        place.passes += 1;
        let printing = self.config.print_ir.as_ref();
        if printing.is_some_and(|p| p.before.matches(info.argument)) {
            self.dump(When::Before, pass, unit, place, None, out);
        }
        let old_text = printing.filter(|p| p.wants_old_text(info)).map(|p| self.text(p, unit, place));
        let before = cfg!(debug_assertions).then(|| Fingerprint::of(unit));
        let start = Instant::now();
        let (mut diags, mut printed) = (Diagnostics::default(), Vec::new());
        let mut trace = Trace::of(&self.config.trace);
        let (header, body) = unit.parts_mut();
        let loc = header.loc;
        let record = &mut out.report.records[pass.id];
        record.runs += 1;
        PASSES_RUN.add(1);
        let mut run = PassRun {
            cx: self.cx,
            header,
            body,
            diags: &mut diags,
            symbols: &place.symbols,
            analyses,
            info,
            counts: &mut record.counts,
            trace: &mut trace,
            printed: &mut printed,
            no_remarks: self.config.no_remarks,
        };
        let returned = catch_unwind(AssertUnwindSafe(|| pass.pass().run(&mut run)));
        let time = start.elapsed();
        record.time += time;
        analyses.take_uses().into_iter().for_each(|u| AnalysisUse::add_to(&mut record.analyses, u));
        if self.config.keep_spans {
            let (thread, path) = (rayon::current_thread_index().unwrap_or_default(), place.path.clone());
            out.report.spans.push(PassSpan { pass: info, path, start, time, thread });
        }
        let panicked = returned.is_err();
        let result = match returned {
            Ok(returned) => {
                let changed = before.is_some_and(|before| before != Fingerprint::of(unit));
                honest(info.argument, loc, returned, changed, &mut diags)
            }
            Err(panic) => {
                let message = format!("pass '{}' panicked: {}", info.argument, panic_text(&*panic));
                diags.report(Diagnostic::error(loc, message).code(codes::INTERNAL));
                Err(PassError::Internal)
            }
        };
        out.trace(info, place, &trace);
        diags.reported_by(info.argument);
        out.diagnostics(&mut diags);
        printed.into_iter().for_each(|text| (out.sink)(Event::Text(text)));
        let result = match result {
            Ok(preserved) => {
                analyses.invalidate(&preserved);
                match self.config.verify_each && !preserved.is_all() {
                    true => self.verify(unit, Some(pass), &mut place.verified, out),
                    false => Ok(()),
                }
            }
            Err(error) => Err(error),
        };
        if result.is_err() && out.report.failure.is_none() {
            out.report.failure = Some(Failure { pass: pass.to_string(), path: place.path.clone() });
        }
        // What a pass leaves when it panics may not be fit to be looked at.
        if !panicked {
            self.dump_after(pass, unit, place, result, old_text, out);
        }
        result
    }

    fn dump_after(
        &self,
        pass: &PassInstance,
        unit: &Module,
        place: &Place<'_>,
        result: Result<(), PassError>,
        old_text: Option<String>,
        out: &mut Out<'_>,
    ) {
        let Some(printing) = &self.config.print_ir else { return };
        let wanted = printing.after.matches(pass.info().argument);
        if result.is_err() {
            if printing.on_failure || wanted {
                self.dump(When::Failed, pass, unit, place, old_text, out);
            }
        } else if wanted {
            self.dump(When::After, pass, unit, place, old_text, out);
        }
    }

    fn dump(
        &self,
        when: When,
        pass: &PassInstance,
        unit: &Module,
        place: &Place<'_>,
        old_text: Option<String>,
        out: &mut Out<'_>,
    ) {
        let Some(printing) = &self.config.print_ir else { return };
        let text = self.text(printing, unit, place);
        if when == When::After && printing.only_changed && old_text.as_ref() == Some(&text) {
            return;
        }
        let number = place.outer.iter().copied().chain([place.passes - 1]).collect();
        let dump = Dump { when, pass: pass.info(), path: place.path.clone(), number, text, old_text };
        (out.sink)(Event::Dump(Box::new(dump)));
    }

    /// The text of the op at hand, or of the program that it lies in.
    fn text(&self, printing: &IrPrinting, unit: &Module, place: &Place<'_>) -> String {
        match place.embed.filter(|_| printing.module_scope) {
            Some(embed) => (printing.print)(embed(unit.clone()).op_ref(self.cx)),
            None => (printing.print)(unit.op_ref(self.cx)),
        }
    }

    fn verify(
        &self,
        unit: &Module,
        pass: Option<&PassInstance>,
        verified: &mut Verified,
        out: &mut Out<'_>,
    ) -> Result<(), PassError> {
        let start = Instant::now();
        let mut diags = Diagnostics::default();
        // A debug build trusts no epoch.
        if cfg!(debug_assertions) {
            *verified = Verified::default();
        }
        let result = verify_changed(unit.op_ref(self.cx), self.config.verify, verified, &mut diags);
        if let Some(pass) = pass {
            out.report.records[pass.id].verify_time += start.elapsed();
        }
        out.diagnostics(&mut diags);
        let by = pass.map_or_else(|| "the pipeline".to_string(), |p| format!("pass '{}'", p.info().argument));
        result.map_err(|_| {
            let loc = unit.op_ref(self.cx).loc();
            let message = format!("{by} left IR that does not verify");
            (out.sink)(Event::Diagnostic(Diagnostic::error(loc, message).code(codes::PASS_BROKE_IR)));
            PassError::Verification
        })
    }
}

fn put_back(child: Child, unit: &mut Module, analyses: &mut Analyses, out: &mut Out<'_>) {
    out.report.add(child.report);
    unit.body_mut().attach_isolated(child.op, child.unit);
    analyses.put_nested(child.op, child.analyses);
}

impl Place<'_> {
    /// The place of an op in the one at hand.
    fn inside<'q>(
        &self,
        symbols: &SymbolSnapshot,
        label: OpLabel,
        embed: Option<&'q (dyn Fn(Module) -> Module + Sync)>,
    ) -> Place<'q> {
        let mut path = self.path.clone();
        path.push(label);
        let mut outer = self.outer.clone();
        outer.push(self.passes.saturating_sub(1));
        Place { symbols: symbols.clone(), path, outer, passes: 0, verified: Verified::default(), embed }
    }
}

/// Tells whether an op, or what lies in it, was changed.
#[derive(PartialEq)]
struct Fingerprint {
    header: OpHeader,
    /// Number and epoch of each body.
    bodies: Vec<(u64, u64)>,
}

impl Fingerprint {
    fn of(unit: &Module) -> Self {
        let header = *unit.root().header(unit.op());
        let mut bodies = Vec::new();
        let mut pending = vec![unit.body()];
        while let Some(body) = pending.pop() {
            bodies.push((body.id(), body.epoch()));
            pending.extend(body.preorder().filter_map(|op| body.nested(op)));
        }
        Self { header, bodies }
    }
}

/// What a panic said.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

/// Holds a pass to its word: it fails exactly when it reports an error, and what it says is unchanged is not `changed`.
fn honest(
    pass: &str,
    loc: Loc,
    returned: Result<PreservedAnalyses, PassError>,
    changed: bool,
    diags: &mut Diagnostics,
) -> Result<PreservedAnalyses, PassError> {
    let result = match (returned, diags.errors() > 0) {
        (Ok(preserved), false) if preserved.is_all() && changed => {
            let what = "changed the program and said that it had not: an internal error, please report it";
            diags.error(loc, format!("pass '{pass}' {what}"));
            Err(PassError::Internal)
        }
        (Ok(preserved), false) => return Ok(preserved),
        (Err(error), true) => Err(error),
        (Ok(_), true) => Err(PassError::Failed),
        (Err(_), false) => {
            let message = format!("pass '{pass}' failed without saying why: an internal error, please report it");
            diags.error(loc, message);
            Err(PassError::Internal)
        }
    };
    let code = match result {
        Err(PassError::Unsupported) => codes::UNSUPPORTED,
        Err(PassError::Verification) => codes::PASS_BROKE_IR,
        Err(PassError::Internal) => codes::INTERNAL,
        _ => codes::PASS_FAILED,
    };
    diags.default_code(0, code);
    result
}

/// A pass that ran on nothing did not do what it was asked for.
fn warn_of_idle_passes(root: OpRef<'_>, manager: &OpPassManager, report: &PipelineReport, sink: &mut dyn FnMut(Event)) {
    for (path, pass) in manager.passes() {
        if report.records[pass.id].runs > 0 {
            continue;
        }
        let argument = pass.info().argument;
        let target = path.last().expect("a pass has a manager");
        let message = format!("pass '{argument}' ran on no operation: there is no '{}' in the input", path.join("/"));
        let places = paths_to(root, target);
        let help = match &places[..] {
            [] => format!("the input has no '{target}' operation that owns a body"),
            places => {
                let pipelines = places.iter().map(|p| format!("`{}({argument}{}`", p.join("("), ")".repeat(p.len())));
                format!("it could run as {}", pipelines.collect::<Vec<_>>().join(" or "))
            }
        };
        let warning = Diagnostic::new(Severity::Warning, root.loc(), message).code(codes::IDLE_PASS).help(help);
        sink(Event::Diagnostic(warning));
    }
}
