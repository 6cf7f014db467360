//! The timing report.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sutura_ir::pass::{OpLabel, PassSpan, banner};

/// How the report is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Display {
    /// In the shape of the pipeline.
    #[default]
    Tree,
    /// By name, longest first.
    List,
}

/// Depth in the pipeline, time and name.
type Row = (usize, Duration, String);

/// Times of the steps of a run.
pub(crate) struct Timing {
    start: Instant,
    rows: Vec<Row>,
    /// Steps and passes on a line of time.
    trace: Vec<Value>,
}

impl Timing {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), rows: Vec::new(), trace: Vec::new() }
    }

    /// Runs a step and adds its time to that of steps with the same name: parts of a file are worked on in turn.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let time = start.elapsed();
        self.trace.push(self.event(name, "step", start, time, 0));
        match self.rows.iter_mut().find(|(depth, _, known)| *depth == 0 && known == name) {
            Some((_, sum, _)) => *sum += time,
            None => self.rows.push((0, time, name.to_string())),
        }
        result
    }

    /// Adds the rows of a pipeline.
    pub(crate) fn add(&mut self, rows: Vec<Row>) {
        self.rows.extend(rows);
    }

    /// Adds passes to the line of time.
    pub(crate) fn add_spans(&mut self, spans: &[PassSpan]) {
        for span in spans {
            let mut event = self.event(span.pass.argument, "pass", span.start, span.time, span.thread);
            let label = |l: &OpLabel| match &l.symbol {
                Some(symbol) => format!("{} @{symbol}", l.op),
                None => l.op.clone(),
            };
            let path: Vec<String> = span.path.iter().map(label).collect();
            event["args"] = json!({"on": path.join(" / ")});
            self.trace.push(event);
        }
    }

    /// A complete event of the format of Chrome's tracing, which Perfetto reads; times in microseconds.
    fn event(&self, name: &str, kind: &str, start: Instant, time: Duration, thread: usize) -> Value {
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        json!({
            "name": name, "cat": kind, "ph": "X", "pid": 1, "tid": thread + 1,
            "ts": micros(start.saturating_duration_since(self.start)), "dur": micros(time),
        })
    }

    /// The line of time as JSON.
    pub(crate) fn trace(&self) -> String {
        format!("{:#}\n", json!({"displayTimeUnit": "ms", "traceEvents": self.trace}))
    }

    /// The report, in the form of mlir-opt's.
    pub(crate) fn report(&self, display: Display) -> String {
        let total = self.start.elapsed();
        let rows = match display {
            Display::Tree => self.rows.clone(),
            Display::List => self.by_name(),
        };
        let mut out = banner("Execution time report");
        let _ = writeln!(out, "  Total Execution Time: {:.4} seconds\n", total.as_secs_f64());
        let _ = writeln!(out, "  ----Wall Time----  ----Name----");
        let mut row = |depth: usize, time: Duration, name: &str| {
            let indent = depth * 2;
            let percent = percent(time, total);
            let _ = writeln!(out, "  {:8.4} ({percent:5.1}%)  {:indent$}{name}", time.as_secs_f64(), "");
        };
        for (depth, time, name) in &rows {
            row(*depth, *time, name);
        }
        row(0, self.rest(total), "Rest");
        row(0, total, "Total");
        out
    }

    /// Times summed over rows of one name; those of pipelines are left out, because they are those of their passes.
    fn by_name(&self) -> Vec<Row> {
        let mut sums: Vec<Row> = Vec::new();
        for (_, time, name) in self.rows.iter().filter(|(_, _, name)| !name.ends_with(" Pipeline")) {
            match sums.iter_mut().find(|(_, _, known)| known == name) {
                Some((_, sum, _)) => *sum += *time,
                None => sums.push((0, *time, name.clone())),
            }
        }
        sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.2.cmp(&b.2)));
        sums
    }

    fn rest(&self, total: Duration) -> Duration {
        let known: Duration = self.rows.iter().filter(|(depth, ..)| *depth == 0).map(|(_, time, _)| *time).sum();
        total.saturating_sub(known)
    }

    /// The report as JSON: nested lists of steps with their times in seconds.
    pub(crate) fn json(&self) -> String {
        let total = self.start.elapsed();
        let step = |time: Duration, name: &str, passes: Vec<Value>| {
            let wall = json!({"duration": time.as_secs_f64(), "percentage": percent(time, total)});
            json!({"name": name, "wall": wall, "passes": passes})
        };
        // Children of the rows at hand, innermost last.
        let mut open: Vec<Vec<Value>> = vec![Vec::new()];
        for (depth, time, name) in self.rows.iter().rev() {
            while open.len() <= depth + 1 {
                open.push(Vec::new());
            }
            let mut children = std::mem::take(&mut open[depth + 1]);
            children.reverse();
            let value = step(*time, name, children);
            open[*depth].push(value);
        }
        let mut steps = open.swap_remove(0);
        steps.reverse();
        steps.push(step(self.rest(total), "Rest", Vec::new()));
        let report = json!({"version": 1, "unit": "seconds", "total": total.as_secs_f64(), "steps": steps});
        format!("{report:#}\n")
    }
}

fn percent(time: Duration, total: Duration) -> f64 {
    100.0 * time.as_secs_f64() / total.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_nested_as_the_pipeline() {
        let second = Duration::from_secs(1);
        let rows = [(0, "Parser"), (0, "'f' Pipeline"), (1, "CSE"), (2, "(verifier)"), (1, "DCE"), (0, "Output")];
        let mut timing = Timing::start();
        timing.add(rows.into_iter().map(|(depth, name)| (depth, second, name.to_string())).collect());
        let value: Value = serde_json::from_str(&timing.json()).expect("JSON");
        let names = |v: &Value| -> Vec<String> {
            v.as_array().expect("a list").iter().map(|s| s["name"].as_str().expect("a name").to_string()).collect()
        };
        assert_eq!(names(&value["steps"]), ["Parser", "'f' Pipeline", "Output", "Rest"]);
        assert_eq!(names(&value["steps"][1]["passes"]), ["CSE", "DCE"]);
        assert_eq!(names(&value["steps"][1]["passes"][0]["passes"]), ["(verifier)"]);
        assert_eq!(value["version"], 1);
    }

    #[test]
    fn the_list_merges_names() {
        let mut timing = Timing::start();
        let row = |depth, ms, name: &str| (depth, Duration::from_millis(ms), name.to_string());
        timing.add(vec![row(0, 3, "CSE"), row(0, 5, "'f' Pipeline"), row(1, 1, "DCE"), row(1, 4, "CSE")]);
        assert_eq!(timing.by_name(), [row(0, 7, "CSE"), row(0, 1, "DCE")]);
    }
}
