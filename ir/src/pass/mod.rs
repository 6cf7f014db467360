//! Passes: what one is, what it gets to see, and what it says when it is done.
//!
//! A pass works on one op and what lies in it, never beside or above it; so the manager runs it on sibling ops in
//! parallel. It keeps no state between runs.

mod bodies;
mod instance;
mod instrument;
mod options;
mod parse;
mod pipeline;
mod place;
mod registry;
mod remarks;
mod report;
mod run;
mod snapshot;

use std::sync::Arc;

use crate::analysis::{Analyses, Analysis, PreservedAnalyses};
use crate::body::{Body, OpHeader};
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Diagnostics, RemarkKind, Reported};
use crate::location::Loc;
use crate::trace::Trace;
pub use bodies::BodyRun;
pub use instance::PassInstance;
pub use instrument::{Dump, IrPrinting, OpLabel, PassFilter, PrintOp, When};
pub use options::{OptionInfo, OptionKind, PassOptions};
pub use parse::{check_pass, parse_pipeline};
pub use pipeline::{Item, OpPassManager};
pub use place::place_passes;
pub use registry::{NamedPipeline, PassRegistry};
pub use remarks::Remarks;
pub use report::{Failure, PassRecord, PassSpan, PipelineReport, banner};
pub use run::{Event, RunConfig, run_pipeline};
pub use snapshot::{SymbolEntry, SymbolSnapshot};

/// Which ops a pass or a pass manager works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// Any op that owns a body.
    Any,
    /// Ops of this name.
    Op(&'static str),
}

/// A number that a pass counts.
#[derive(Clone, Copy, Debug)]
pub struct StatisticInfo {
    /// Name, such as `num-erased`.
    pub name: &'static str,
    /// What is counted.
    pub description: &'static str,
}

/// What is known of a pass without running it.
#[derive(Debug)]
pub struct PassInfo {
    /// Rust-side name, used in banners and reports.
    pub name: &'static str,
    /// Name in pipelines and on the command line, kebab-case.
    pub argument: &'static str,
    /// One line of documentation.
    pub summary: &'static str,
    /// The whole documentation, Markdown.
    pub description: &'static str,
    /// Ops that it runs on.
    pub anchor: Anchor,
    /// Options, in the order in which they are documented.
    pub options: &'static [OptionInfo],
    /// Statistics.
    pub statistics: &'static [StatisticInfo],
    /// Makes one with the given options.
    pub create: fn(&PassOptions) -> Result<Box<dyn Pass>, String>,
}

/// Why a pass did not do its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassError {
    /// The input is wrong, as reported.
    Failed,
    /// The input is fine but beyond what the pass can do, as reported.
    Unsupported,
    /// What the pass left does not verify, as reported: an error of the pass.
    Verification,
    /// The pass broke its own rules, as reported.
    Internal,
}

impl From<Reported> for PassError {
    fn from(_: Reported) -> Self {
        Self::Failed
    }
}

/// What a pass returns: the analyses that still hold, or an error after it has been reported.
pub type PassResult = Result<PreservedAnalyses, PassError>;

/// A transformation or check of one op and what lies in it.
pub trait Pass: Send + Sync {
    /// Runs on one op.
    ///
    /// # Errors
    /// After an error was reported to `run.diags`.
    fn run(&self, run: &mut PassRun<'_>) -> PassResult;
}

/// One run of a pass on one op.
pub struct PassRun<'r> {
    /// Context.
    pub cx: &'r Context,
    /// Name, location and attributes of the op.
    pub header: &'r mut OpHeader,
    /// What lies in the op.
    pub body: &'r mut Body,
    /// Where errors, warnings and remarks go.
    pub diags: &'r mut Diagnostics,
    /// Symbols that can be seen from the op, as they were before this group of passes began.
    pub symbols: &'r SymbolSnapshot,
    pub(crate) analyses: &'r mut Analyses,
    pub(crate) info: &'static PassInfo,
    pub(crate) counts: &'r mut [u64],
    /// Where drivers write down what they do step by step, for those who ask.
    pub trace: &'r mut Trace,
    pub(crate) printed: &'r mut Vec<String>,
    pub(crate) no_remarks: bool,
}

impl PassRun<'_> {
    /// The analysis `A` of the op, computed unless it is known already.
    pub fn analysis<A: Analysis>(&mut self) -> Arc<A> {
        self.analyses.get(self.cx, self.header, self.body)
    }

    /// Adds `n` to the statistic `name`.
    ///
    /// # Panics
    /// When the pass does not declare it.
    pub fn count(&mut self, name: &str, n: u64) {
        let index = self.info.statistics.iter().position(|s| s.name == name);
        let count = &mut self.counts[index.expect("the statistic is declared")];
        *count = count.saturating_add(n);
    }

    /// Prints text among what the tool says, beside the program: for passes that only report.
    pub fn print(&mut self, text: String) {
        self.printed.push(text);
    }

    /// True when somebody listens to remarks: only then what they say has to be worked out.
    pub fn wants_remarks(&self) -> bool {
        !self.no_remarks
    }

    /// Remarks of work on one of several bodies, to be given back by [`PassRun::report`].
    pub fn gather_remarks(&self) -> Remarks {
        Remarks { list: self.wants_remarks().then(Vec::new) }
    }

    /// Reports gathered remarks, in their order.
    pub fn report(&mut self, remarks: Remarks) {
        for remark in remarks.list.into_iter().flatten() {
            self.diags.report(remark);
        }
    }

    /// Says what the pass did.
    pub fn passed(&mut self, loc: Loc, message: impl Into<String>) {
        self.say(RemarkKind::Passed, loc, message);
    }

    /// Says what the pass did not do, and why.
    pub fn missed(&mut self, loc: Loc, message: impl Into<String>) {
        self.say(RemarkKind::Missed, loc, message);
    }

    /// Says what the pass tried in vain.
    pub fn failed(&mut self, loc: Loc, message: impl Into<String>) {
        self.say(RemarkKind::Failed, loc, message);
    }

    /// Says what the pass found out.
    pub fn remark(&mut self, loc: Loc, message: impl Into<String>) {
        self.say(RemarkKind::Analysis, loc, message);
    }

    fn say(&mut self, kind: RemarkKind, loc: Loc, message: impl Into<String>) {
        if self.wants_remarks() {
            self.diags.report(Diagnostic::remark(loc, message).kind(kind));
        }
    }
}
