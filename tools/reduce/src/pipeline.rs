//! Predicates that run a pipeline: what it reports, whether it crashes, whether it changes the meaning.

use std::panic::{AssertUnwindSafe, catch_unwind};

use regex_lite::Regex;
use sutura_check::{CheckError, CheckOptions, check_pipeline};
use sutura_ir::pass::{Event, OpPassManager, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::verify::VerifyOptions;
use sutura_ir::{Context, Diagnostics, Module, Severity};

use crate::child::{Child, Crash};
use crate::reduce::copy;

/// What a pipeline must do with a candidate.
pub(crate) enum Wanted {
    /// Report an error that matches.
    Diagnostic(Regex),
    /// Crash, or not end in time.
    Crash(Child, Option<Crash>),
    /// Change what a function does, by the pass of this name once it is known.
    Miscompile(CheckOptions, Option<String>),
}

/// A pipeline, and what it must do.
pub(crate) struct PipelineTest<'p> {
    pub(crate) passes: &'p PassRegistry,
    /// The pipeline as text.
    pub(crate) pipeline: String,
    pub(crate) wanted: Wanted,
    pub(crate) allow_unregistered: bool,
}

impl PipelineTest<'_> {
    fn manager(&self, cx: &Context, pipeline: &str) -> Option<OpPassManager> {
        parse_pipeline(cx, self.passes, "<pass-pipeline>", pipeline, &mut Diagnostics::default()).ok()
    }

    fn config(&self) -> RunConfig {
        let verify = VerifyOptions { allow_unregistered: self.allow_unregistered };
        RunConfig { verify_each: true, verify, ..RunConfig::default() }
    }

    /// Whether `pipeline` does with `module` what is wanted.
    pub(crate) fn holds(&self, cx: &Context, module: &Module, pipeline: &str) -> bool {
        let Some(mut manager) = self.manager(cx, pipeline) else { return false };
        let mut module = copy(cx, module);
        match &self.wanted {
            Wanted::Crash(child, wanted) => {
                let crash = child.crash(cx, &module, pipeline);
                crash.is_some_and(|crash| wanted.as_ref().is_none_or(|wanted| *wanted == crash))
            }
            Wanted::Diagnostic(regex) => {
                let mut found = false;
                let mut sink = |event: Event| {
                    if let Event::Diagnostic(d) = event {
                        found |= d.severity == Severity::Error && regex.is_match(&d.message);
                    }
                };
                // A panic on the way is no diagnostic.
                let ran = catch_unwind(AssertUnwindSafe(|| {
                    drop(run_pipeline(cx, &mut module, &mut manager, &self.config(), &mut sink));
                }));
                ran.is_ok() && found
            }
            Wanted::Miscompile(options, pass) => {
                let changed = self.change(cx, &mut module, &manager, options);
                changed.is_some_and(|by| pass.as_ref().is_none_or(|pass| *pass == by))
            }
        }
    }

    /// The pass that changes what a function does, if one does.
    fn change(
        &self,
        cx: &Context,
        module: &mut Module,
        manager: &OpPassManager,
        options: &CheckOptions,
    ) -> Option<String> {
        let ran = catch_unwind(AssertUnwindSafe(|| {
            check_pipeline(cx, module, manager, &self.config(), options, &mut |_| {}).1
        }));
        match ran {
            Ok(Err(CheckError::Changed(change))) => Some(change.pass),
            _ => None,
        }
    }

    /// Looks how the pipeline crashes, so that the reduction does not slip to another crash.
    /// False when it does not, `None` when a crash is not what is wanted.
    pub(crate) fn fix_on_crash(&mut self, cx: &Context, module: &Module) -> Option<bool> {
        let Wanted::Crash(child, None) = &self.wanted else { return None };
        let crash = child.crash(cx, module, &self.pipeline);
        let found = crash.is_some();
        self.wanted = Wanted::Crash(child.clone(), crash);
        Some(found)
    }

    /// Looks which pass is at fault, so that the reduction does not slip to another.
    pub(crate) fn fix_on_pass(&mut self, cx: &Context, module: &Module) {
        let Wanted::Miscompile(options, None) = &self.wanted else { return };
        let Some(manager) = self.manager(cx, &self.pipeline) else { return };
        let pass = self.change(cx, &mut copy(cx, module), &manager, options);
        self.wanted = Wanted::Miscompile(options.clone(), pass);
    }

    /// Drops passes that are not needed.
    pub(crate) fn reduce_pipeline(&mut self, cx: &Context, module: &Module) {
        let Some(manager) = self.manager(cx, &self.pipeline) else { return };
        let anchor = manager.anchor().to_string();
        let mut passes: Vec<(Vec<String>, String)> = manager
            .passes()
            .into_iter()
            .map(|(path, pass)| (path[1..].iter().map(ToString::to_string).collect(), pass.to_string()))
            .collect();
        let mut chunk = passes.len() / 2;
        while chunk > 0 {
            let mut start = 0;
            while start < passes.len() {
                let mut fewer = passes.clone();
                fewer.drain(start..(start + chunk).min(passes.len()));
                let text = written(&anchor, &fewer);
                if !fewer.is_empty() && self.holds(cx, module, &text) {
                    passes = fewer;
                    self.pipeline = text;
                } else {
                    start += chunk;
                }
            }
            chunk /= 2;
        }
    }
}

/// A pipeline as text.
fn written(anchor: &str, passes: &[(Vec<String>, String)]) -> String {
    let one = |(path, pass): &(Vec<String>, String)| {
        path.iter().rev().fold(pass.clone(), |inside, anchor| format!("{anchor}({inside})"))
    };
    format!("{anchor}({})", passes.iter().map(one).collect::<Vec<_>>().join(","))
}
