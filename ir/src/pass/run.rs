//! Runs a pipeline on a program: passes in order on one op, nested managers on its children in parallel.
//!
//! A child is taken out of the body around it and becomes a small program of its own while passes work on it, so that
//! nothing can reach a sibling. What children report is put in the order of the text: the output is the same at any
//! number of threads.

use std::time::Instant;

use rayon::prelude::*;

use super::instrument::{IrPrinting, When};
use super::place::paths_to;
use super::report::PipelineReport;
use super::{Item, OpPassManager, PassError, PassInstance, PassRun, SymbolSnapshot};
use crate::analysis::{Analyses, PreservedAnalyses};
use crate::body::{Module, Op};
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::location::Loc;
use crate::op_ref::OpRef;
use crate::verify::{VerifyOptions, verify};

/// How a pipeline is run. The number of threads is that of the rayon pool in which [`run_pipeline`] is called.
#[derive(Clone, Default)]
pub struct RunConfig {
    /// Verify after each pass.
    pub verify_each: bool,
    /// What the verifier lets pass.
    pub verify: VerifyOptions,
    /// Printing of the IR around passes.
    pub print_ir: Option<IrPrinting>,
}

/// What a run reports, in order.
#[derive(Clone, Debug)]
pub enum Event {
    /// A diagnostic.
    Diagnostic(Diagnostic),
    /// Text of the IR.
    Dump(String),
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
        sink(Event::Diagnostic(Diagnostic::error(module.op_ref(cx).loc(), message).help(help)));
        return (PipelineReport::new(manager), Err(PassError::Failed));
    }
    let shared = Shared { cx, config, manager };
    let mut out = Out { sink, report: PipelineReport::new(manager) };
    let mut analyses = Analyses::default();
    let mut result = shared.run_on(manager, module, &mut analyses, &SymbolSnapshot::default(), &mut out);
    let has_nested = manager.items().iter().any(|item| matches!(item, Item::Nested(_)));
    if result.is_ok() && config.verify_each && has_nested {
        // Symbols that nested ops refer to can be checked only from the top.
        result = shared.verify(module, None, &mut out);
    }
    let report = out.report;
    if result.is_ok() {
        warn_of_idle_passes(module.op_ref(cx), manager, &report, sink);
    }
    (report, result)
}

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
}

/// A child taken out of its parent.
struct Child {
    op: Op,
    unit: Module,
    analyses: Analyses,
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
        symbols: &SymbolSnapshot,
        out: &mut Out<'_>,
    ) -> Result<(), PassError> {
        for item in manager.items() {
            match item {
                Item::Pass(pass) => self.run_pass(pass, unit, analyses, symbols, out)?,
                Item::Nested(nested) => self.run_nested(nested, unit, analyses, symbols, out)?,
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
        symbols: &SymbolSnapshot,
        out: &mut Out<'_>,
    ) -> Result<(), PassError> {
        let owner = unit.root().name(unit.op());
        let symbols = symbols.inside(self.cx, owner, unit.body());
        let mut children = self.take_children(manager, unit, analyses);
        children.par_iter_mut().for_each(|child| {
            let Child { unit, analyses, events, report, result, .. } = child;
            let mut sink = |event| events.push(event);
            let mut out = Out { sink: &mut sink, report: std::mem::take(report) };
            *result = self.run_on(manager, unit, analyses, &symbols, &mut out);
            *report = out.report;
        });
        let mut result = Ok(());
        for child in children {
            child.events.into_iter().for_each(&mut *out.sink);
            out.report.add(&child.report);
            result = result.and(child.result);
            unit.body_mut().attach_isolated(child.op, child.unit);
            analyses.put_nested(child.op, child.analyses);
        }
        result
    }

    /// Takes out the ops directly in `unit` on which `manager` runs, in the order of the text.
    fn take_children(&self, manager: &OpPassManager, unit: &mut Module, analyses: &mut Analyses) -> Vec<Child> {
        let body = unit.body_mut();
        let blocks = body.owner_regions().flat_map(|r| body.blocks(r));
        let ops: Vec<Op> = blocks
            .flat_map(|b| body.ops(b))
            .filter(|op| body.nested(*op).is_some() && manager.matches(body.name(*op).as_str(self.cx)))
            .collect();
        ops.into_iter()
            .map(|op| Child {
                op,
                unit: body.detach_isolated(op).expect("owns a body"),
                analyses: analyses.take_nested(op),
                events: Vec::new(),
                report: PipelineReport::new(self.manager),
                result: Ok(()),
            })
            .collect()
    }

    // ---- one pass on one op

    fn run_pass(
        &self,
        pass: &PassInstance,
        unit: &mut Module,
        analyses: &mut Analyses,
        symbols: &SymbolSnapshot,
        out: &mut Out<'_>,
    ) -> Result<(), PassError> {
        let info = pass.info();
        let printing = self.config.print_ir.as_ref();
        if let Some(printing) = printing.filter(|p| p.before.matches(info.argument)) {
            let text = (printing.print)(unit.op_ref(self.cx));
            (out.sink)(Event::Dump(printing.dump(When::Before, info, &text)));
        }
        let old_text = printing.filter(|p| p.watches_changes(info)).map(|p| (p.print)(unit.op_ref(self.cx)));
        let start = Instant::now();
        let mut diags = Diagnostics::default();
        let (header, body) = unit.parts_mut();
        let loc = header.loc;
        let record = &mut out.report.records[pass.id];
        record.runs += 1;
        let mut run = PassRun {
            cx: self.cx,
            header,
            body,
            diags: &mut diags,
            symbols,
            analyses,
            info,
            counts: &mut record.counts,
        };
        let returned = pass.pass().run(&mut run);
        record.time += start.elapsed();
        let result = honest(info.argument, loc, returned, &mut diags);
        out.diagnostics(&mut diags);
        let result = match result {
            Ok(preserved) => {
                analyses.invalidate(&preserved);
                if self.config.verify_each && !preserved.is_all() { self.verify(unit, Some(pass), out) } else { Ok(()) }
            }
            Err(error) => Err(error),
        };
        self.print_after(pass, unit, result, old_text.as_deref(), out);
        result
    }

    fn print_after(
        &self,
        pass: &PassInstance,
        unit: &Module,
        result: Result<(), PassError>,
        old_text: Option<&str>,
        out: &mut Out<'_>,
    ) {
        let Some(printing) = &self.config.print_ir else { return };
        let info = pass.info();
        if result.is_err() {
            if printing.on_failure || printing.after.matches(info.argument) {
                let text = (printing.print)(unit.op_ref(self.cx));
                (out.sink)(Event::Dump(printing.dump(When::Failed, info, &text)));
            }
            return;
        }
        if !printing.after.matches(info.argument) {
            return;
        }
        let text = (printing.print)(unit.op_ref(self.cx));
        if old_text != Some(&text) {
            (out.sink)(Event::Dump(printing.dump(When::After, info, &text)));
        }
    }

    fn verify(&self, unit: &Module, pass: Option<&PassInstance>, out: &mut Out<'_>) -> Result<(), PassError> {
        let start = Instant::now();
        let mut diags = Diagnostics::default();
        let result = verify(unit.op_ref(self.cx), self.config.verify, &mut diags);
        if let Some(pass) = pass {
            out.report.records[pass.id].verify_time += start.elapsed();
        }
        out.diagnostics(&mut diags);
        let by = pass.map_or_else(|| "the pipeline".to_string(), |p| format!("pass '{}'", p.info().argument));
        result.map_err(|_| {
            let loc = unit.op_ref(self.cx).loc();
            let message = format!("{by} left IR that does not verify");
            (out.sink)(Event::Diagnostic(Diagnostic::error(loc, message)));
            PassError::Verification
        })
    }
}

/// Holds a pass to its word: it fails exactly when it reports an error.
fn honest(
    pass: &str,
    loc: Loc,
    returned: Result<PreservedAnalyses, PassError>,
    diags: &mut Diagnostics,
) -> Result<PreservedAnalyses, PassError> {
    match (returned, diags.errors() > 0) {
        (Ok(preserved), false) => Ok(preserved),
        (Err(error), true) => Err(error),
        (Ok(_), true) => Err(PassError::Failed),
        (Err(_), false) => {
            let message = format!("pass '{pass}' failed without saying why: an internal error, please report it");
            diags.error(loc, message);
            Err(PassError::Internal)
        }
    }
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
        let warning = Diagnostic::new(Severity::Warning, root.loc(), message).code("W0101").help(help);
        sink(Event::Diagnostic(warning));
    }
}
