//! What a run of a pipeline measured: runs, time and statistics of each pass.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use super::{Item, OpLabel, OpPassManager, PassInfo};
use crate::analysis::AnalysisUse;

/// Numbers of one pass of a pipeline, summed over the ops that it ran on.
#[derive(Clone, Debug, Default)]
pub struct PassRecord {
    /// How many ops it ran on.
    pub runs: u64,
    /// Time spent in it, summed over threads.
    pub time: Duration,
    /// Time spent in verifying what it left.
    pub verify_time: Duration,
    /// Its statistics, in order of declaration.
    pub counts: Vec<u64>,
    /// The analyses that it asked for, in the order in which it did first.
    pub analyses: Vec<AnalysisUse>,
}

/// Numbers of all passes of a pipeline, in the order in which they are written.
#[derive(Clone, Debug, Default)]
pub struct PipelineReport {
    /// One record per pass.
    pub records: Vec<PassRecord>,
    /// What ended the run, the first in the order of the text.
    pub failure: Option<Failure>,
    /// Each pass on each op, in the order of the text, where it is asked for.
    pub spans: Vec<PassSpan>,
    /// Names of the components that wrote down what they did.
    pub traced: Vec<&'static str>,
}

/// One pass on one op.
#[derive(Clone, Debug)]
pub struct PassSpan {
    /// The pass.
    pub pass: &'static PassInfo,
    /// The op that it ran on and those around it, outermost first.
    pub path: Vec<OpLabel>,
    /// When it began.
    pub start: Instant,
    /// How long it took.
    pub time: Duration,
    /// Number of the thread that it ran on.
    pub thread: usize,
}

/// A pass that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The pass with its options, as a pipeline writes it.
    pub pass: String,
    /// The op that it ran on and those around it, outermost first.
    pub path: Vec<OpLabel>,
}

impl PipelineReport {
    pub(super) fn new(manager: &OpPassManager) -> Self {
        let records = manager
            .passes()
            .iter()
            .map(|(_, pass)| PassRecord { counts: vec![0; pass.info().statistics.len()], ..PassRecord::default() })
            .collect();
        Self { records, ..Self::default() }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.failure = self.failure.take().or(other.failure);
        self.spans.extend(other.spans);
        self.add_traced(&other.traced);
        for (sum, one) in self.records.iter_mut().zip(&other.records) {
            sum.runs += one.runs;
            sum.time += one.time;
            sum.verify_time += one.verify_time;
            for (a, b) in sum.counts.iter_mut().zip(&one.counts) {
                *a = a.saturating_add(*b);
            }
            one.analyses.iter().for_each(|u| AnalysisUse::add_to(&mut sum.analyses, *u));
        }
    }

    /// Adds names of components that wrote down what they did; each is kept once.
    pub fn add_traced(&mut self, components: &[&'static str]) {
        let new = components.iter().filter(|name| !self.traced.contains(name)).copied().collect::<Vec<_>>();
        self.traced.extend(new);
    }

    /// The statistics of all passes in the shape of the pipeline, as mlir-opt prints them.
    pub fn statistics(&self, manager: &OpPassManager) -> String {
        let mut out = banner("Pass statistics report");
        self.write_statistics(manager, 0, &mut out);
        out
    }

    fn write_statistics(&self, manager: &OpPassManager, depth: usize, out: &mut String) {
        let indent = depth * 2;
        let _ = writeln!(out, "{:indent$}'{}' Pipeline", "", manager.anchor());
        for item in manager.items() {
            match item {
                Item::Nested(nested) => self.write_statistics(nested, depth + 1, out),
                Item::Pass(pass) => {
                    let _ = writeln!(out, "{:indent$}  {}", "", pass.info().name);
                    let counts = &self.records[pass.id].counts;
                    for (statistic, count) in pass.info().statistics.iter().zip(counts) {
                        let (name, what) = (statistic.name, statistic.description);
                        let _ = writeln!(out, "{:indent$}    (S) {count} {name} - {what}", "");
                    }
                    for AnalysisUse { name, computed, reused, .. } in &self.records[pass.id].analyses {
                        let _ = writeln!(out, "{:indent$}    (A) {name}: computed {computed}, reused {reused}", "");
                    }
                }
            }
        }
    }

    /// The same merged by pass, in the order of their names.
    pub fn statistics_list(&self, manager: &OpPassManager) -> String {
        let mut merged: BTreeMap<&str, (&PassInfo, Vec<u64>)> = BTreeMap::new();
        for (_, pass) in manager.passes() {
            let info = pass.info();
            let entry = merged.entry(info.name).or_insert_with(|| (info, vec![0; info.statistics.len()]));
            for (sum, count) in entry.1.iter_mut().zip(&self.records[pass.id].counts) {
                *sum = sum.saturating_add(*count);
            }
        }
        let mut out = banner("Pass statistics report");
        for (name, (info, counts)) in merged {
            let _ = writeln!(out, "{name}");
            for (statistic, count) in info.statistics.iter().zip(counts) {
                let _ = writeln!(out, "  (S) {count} {} - {}", statistic.name, statistic.description);
            }
        }
        out
    }

    /// Rows of the timing report: depth, time, name.
    pub fn timing_rows(&self, manager: &OpPassManager) -> Vec<(usize, Duration, String)> {
        let mut rows = Vec::new();
        for item in manager.items() {
            self.push_rows(item, 0, &mut rows);
        }
        rows
    }

    fn push_rows(&self, item: &Item, depth: usize, rows: &mut Vec<(usize, Duration, String)>) -> Duration {
        match item {
            Item::Pass(pass) => {
                let record = &self.records[pass.id];
                rows.push((depth, record.time, pass.info().name.to_string()));
                let computed = record.analyses.iter().filter(|a| a.computed > 0);
                rows.extend(computed.map(|a| (depth + 1, a.time, format!("(A) {}", a.name))));
                if record.verify_time > Duration::ZERO {
                    rows.push((depth + 1, record.verify_time, "(verifier)".to_string()));
                }
                record.time + record.verify_time
            }
            Item::Nested(nested) => {
                let at = rows.len();
                rows.push((depth, Duration::ZERO, format!("'{}' Pipeline", nested.anchor())));
                let mut total = Duration::ZERO;
                for item in nested.items() {
                    total += self.push_rows(item, depth + 1, rows);
                }
                rows[at].1 = total;
                total
            }
        }
    }
}

/// The heading of a report.
pub fn banner(title: &str) -> String {
    const WIDTH: usize = 80;
    let line = format!("==={}===", "-".repeat(WIDTH - 7));
    let title = format!("... {title} ...");
    format!("{line}\n{:indent$}{title}\n{line}\n", "", indent = (WIDTH - title.len()) / 2)
}
