//! How long runs take.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use sutura_runtime::{Model, Tensor, TensorView};

use crate::failure::Failure;

/// Times of a first run, and of those after it.
pub(super) struct Latency {
    pub(super) first: Duration,
    /// Sorted.
    times: Vec<Duration>,
    threads: usize,
}

impl Latency {
    /// Runs `repeat` times into the same tensors, after a run that nobody counts.
    pub(super) fn of(model: &Model, views: &[TensorView<'_>], first: Duration, repeat: u32) -> Result<Self, Failure> {
        let mut times = Vec::with_capacity(repeat as usize);
        if repeat > 0 {
            let dims: Vec<&[i64]> = views.iter().map(TensorView::dims).collect();
            let mut outputs = model.allocate_outputs(&dims)?;
            model.run_into(views, &mut outputs.iter_mut().map(Tensor::view_mut).collect::<Vec<_>>())?;
            model.clear_profile();
            for _ in 0..repeat {
                let mut targets: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
                let start = Instant::now();
                model.run_into(views, &mut targets)?;
                times.push(start.elapsed());
            }
            times.sort_unstable();
        }
        Ok(Self { first, times, threads: model.threads() })
    }

    /// Repeated runs, and the time of all of them; the first where there are no others.
    pub(super) fn counted(&self) -> (u32, Duration) {
        match self.times.len() {
            0 => (1, self.first),
            n => (u32::try_from(n).unwrap_or(u32::MAX), self.times.iter().sum()),
        }
    }

    fn least_and_median(&self) -> Option<(Duration, Duration)> {
        Some((*self.times.first()?, self.times[self.times.len() / 2]))
    }

    pub(super) fn line(&self) -> String {
        let milliseconds = |d: Duration| d.as_secs_f64() * 1e3;
        let first = milliseconds(self.first);
        let Some((least, median)) = self.least_and_median() else {
            return format!("latency: {first:.3} ms (first run)");
        };
        format!(
            "latency: {:.3} ms median, {:.3} ms least of {} runs, {first:.3} ms first; at most {} {}",
            milliseconds(median),
            milliseconds(least),
            self.times.len(),
            self.threads,
            if self.threads == 1 { "thread" } else { "threads" }
        )
    }

    pub(super) fn json(&self) -> Json {
        let ns = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        let times = self.least_and_median();
        json!({
            "first": ns(self.first),
            "least": times.map(|(least, _)| ns(least)),
            "median": times.map(|(_, median)| ns(median)),
            "runs": self.times.len(),
            "threads": self.threads,
        })
    }
}
