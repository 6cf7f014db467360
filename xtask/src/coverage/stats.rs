//! What AFL++ says of a campaign.

/// The head of a table of campaigns.
pub(crate) const HEADER: &str = "target      seconds  executions  per second    edges       of  inputs  findings";

/// Figures of a campaign, from AFL++'s `fuzzer_stats`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stats {
    pub(crate) seconds: u64,
    pub(crate) executions: u64,
    /// Edges of the flow of control that some input ran.
    pub(crate) edges: u64,
    /// Edges that there are.
    pub(crate) all_edges: u64,
    /// Inputs kept because each reached something new.
    pub(crate) inputs: u64,
}

impl Stats {
    /// Reads `fuzzer_stats`; none if it is not whole.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(key, _)| key.trim() == name).and_then(|(_, value)| value.trim().parse().ok())
        };
        Some(Self {
            seconds: field("run_time")?,
            executions: field("execs_done")?,
            edges: field("edges_found")?,
            all_edges: field("total_edges")?,
            inputs: field("corpus_count")?,
        })
    }

    /// A line of the table.
    pub(crate) fn row(&self, harness: &str, findings: usize) -> String {
        let Self { seconds, executions, edges, all_edges, inputs } = self;
        let rate = executions / seconds.max(&1);
        format!(
            "{harness:<11} {seconds:>7} {executions:>11} {rate:>11} {edges:>8} {all_edges:>8} {inputs:>7} {findings:>9}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read() {
        let text = "start_time        : 1700000000\nrun_time          : 61\nexecs_done        : 12345\n\
                    corpus_count      : 77\nedges_found       : 900\ntotal_edges       : 4000\n";
        let stats = Stats::of(text).unwrap();
        assert_eq!(stats, Stats { seconds: 61, executions: 12345, edges: 900, all_edges: 4000, inputs: 77 });
        assert_eq!(
            stats.row("npy", 0).split_whitespace().collect::<Vec<_>>(),
            ["npy", "61", "12345", "202", "900", "4000", "77", "0"]
        );
        assert_eq!(stats.row("npy", 0).len(), HEADER.len());
        assert_eq!(Stats::of("run_time : 3\n"), None);
    }
}
