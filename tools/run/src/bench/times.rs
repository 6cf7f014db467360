//! Percentiles of latencies.

use serde_json::{Value as Json, json};

/// Nanoseconds of runs, sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct Times(Vec<u64>);

impl Times {
    pub(super) fn add(&mut self, more: impl IntoIterator<Item = u64>) {
        self.0.extend(more);
        self.0.sort_unstable();
    }

    /// The least time that at least this part of all runs did not exceed. 0 without runs.
    pub(super) fn percentile(&self, percent: f64) -> u64 {
        let rank = (percent / 100.0 * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.max(1) - 1).copied().unwrap_or(0)
    }

    fn mean(&self) -> f64 {
        self.0.iter().map(|ns| *ns as f64).sum::<f64>() / self.0.len().max(1) as f64
    }

    pub(super) fn runs(&self) -> usize {
        self.0.len()
    }

    pub(super) fn json(&self) -> Json {
        json!({
            "runs": self.runs(),
            "least": self.percentile(0.0),
            "mean": self.mean(),
            "p50": self.percentile(50.0),
            "p90": self.percentile(90.0),
            "p99": self.percentile(99.0),
            "most": self.percentile(100.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let mut times = Times::default();
        assert_eq!(times.percentile(50.0), 0);
        times.add((1..=100).rev());
        assert_eq!([0.0, 50.0, 90.0, 99.0, 100.0].map(|p| times.percentile(p)), [1, 50, 90, 99, 100]);
        let mut few = Times::default();
        few.add([30, 10, 20]);
        assert_eq!([50.0, 99.0].map(|p| few.percentile(p)), [20, 30]);
        assert_eq!(few.json()["mean"], 20.0);
    }
}
