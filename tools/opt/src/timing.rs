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

    /// Runs a step and adds its time.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(vec![(0, start.elapsed(), name.to_string())]);
        result
    }

    /// Adds rows of a part; a row that is there already at the top gets the sum.
    pub(crate) fn add(&mut self, rows: Vec<(usize, Duration, String)>) {
        for (depth, time, name) in rows {
            let known =
                self.rows.iter_mut().find(|(d, _, n)| depth == 0 && *d == 0 && *n == name && name.ends_with("er"));
            match known {
                Some((_, sum, _)) => *sum += time,
                None => self.rows.push((depth, time, name)),
            }
        }
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
