//! The timing report.

use std::fmt::Write;
use std::time::{Duration, Instant};

use sutura_ir::pass::banner;

/// Times of the steps of a run.
pub(crate) struct Timing {
    start: Instant,
    rows: Vec<(usize, Duration, String)>,
}

impl Timing {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), rows: Vec::new() }
    }

    /// Runs a step and adds its time to that of steps with the same name: parts of a file are worked on in turn.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let time = start.elapsed();
        match self.rows.iter_mut().find(|(depth, _, known)| *depth == 0 && known == name) {
            Some((_, sum, _)) => *sum += time,
            None => self.rows.push((0, time, name.to_string())),
        }
        result
    }

    /// Adds the rows of a pipeline.
    pub(crate) fn add(&mut self, rows: Vec<(usize, Duration, String)>) {
        self.rows.extend(rows);
    }

    /// The report, in the form of mlir-opt's.
    pub(crate) fn report(&self) -> String {
        let total = self.start.elapsed();
        let known: Duration = self.rows.iter().filter(|(depth, ..)| *depth == 0).map(|(_, time, _)| *time).sum();
        let mut out = banner("Execution time report");
        let _ = writeln!(out, "  Total Execution Time: {:.4} seconds\n", total.as_secs_f64());
        let _ = writeln!(out, "  ----Wall Time----  ----Name----");
        let mut row = |depth: usize, time: Duration, name: &str| {
            let percent = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(1e-9);
            let indent = depth * 2;
            let _ = writeln!(out, "  {:8.4} ({percent:5.1}%)  {:indent$}{name}", time.as_secs_f64(), "");
        };
        for (depth, time, name) in &self.rows {
            row(*depth, *time, name);
        }
        row(0, total.saturating_sub(known), "Rest");
        row(0, total, "Total");
        out
    }
}
