//! The call graph.

use std::fmt::Write;

use sutura_ir::analysis::{CallGraph, Program};
use sutura_ir::pass::PassRun;

pub(super) fn describe(run: &mut PassRun<'_>) -> String {
    let graph = run.analysis::<CallGraph>();
    let program = Program::new(run.cx, run.header, run.body);
    let name = |node: usize| {
        let owner = program.owner(graph.nodes()[node].body);
        let symbol = owner.and_then(|op| op.symbol_name());
        symbol.map_or_else(|| format!("'{}'", run.header.name.as_str(run.cx)), |symbol| format!("@{symbol}"))
    };
    let mut out = "call-graph, callees before their callers\n".to_string();
    for component in graph.components() {
        for &node in component {
            let recursive = if graph.is_recursive(node) { ", recursive" } else { "" };
            let calls = graph.nodes()[node].calls.iter().map(|c| c.callee.map_or_else(|| "unknown".to_string(), name));
            let calls: Vec<String> = calls.collect();
            let calls = if calls.is_empty() { "nothing".to_string() } else { calls.join(", ") };
            let _ = writeln!(out, "  {} calls {calls}{recursive}", name(node));
        }
    }
    out
}
