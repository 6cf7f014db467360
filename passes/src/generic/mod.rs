//! Passes that work on any dialect, through traits and interfaces only.

mod canonicalize;
mod control_flow_sink;
mod cse;
mod dce;
mod inline;
mod licm;
mod mem2reg;
mod print_analysis;
mod print_op_stats;
mod reconcile_unrealized_casts;
mod sccp;
mod strip_debuginfo;
mod symbol_dce;
mod symbol_privatize;
mod topological_sort;

use sutura_ir::pass::{PassInfo, PassRegistry};
use sutura_ir::{Context, Loc};

pub use canonicalize::CANONICALIZE;
pub use control_flow_sink::CONTROL_FLOW_SINK;
pub use cse::CSE;
pub use dce::DCE;
pub use inline::INLINE;
pub(crate) use inline::inline_where;
pub use licm::LOOP_INVARIANT_CODE_MOTION;
pub use mem2reg::MEM2REG;
pub use print_analysis::PRINT_ANALYSIS;
pub use print_op_stats::PRINT_OP_STATS;
pub use reconcile_unrealized_casts::RECONCILE_UNREALIZED_CASTS;
pub use sccp::SCCP;
pub use strip_debuginfo::STRIP_DEBUGINFO;
pub use symbol_dce::SYMBOL_DCE;
pub use symbol_privatize::SYMBOL_PRIVATIZE;
pub use topological_sort::TOPOLOGICAL_SORT;

/// All generic passes, by argument.
pub static ALL: &[&PassInfo] = &[
    &CANONICALIZE,
    &CONTROL_FLOW_SINK,
    &CSE,
    &DCE,
    &INLINE,
    &LOOP_INVARIANT_CODE_MOTION,
    &MEM2REG,
    &PRINT_ANALYSIS,
    &PRINT_OP_STATS,
    &RECONCILE_UNREALIZED_CASTS,
    &SCCP,
    &STRIP_DEBUGINFO,
    &SYMBOL_DCE,
    &SYMBOL_PRIVATIZE,
    &TOPOLOGICAL_SORT,
];

/// Where `loc` is, for a remark at `from`: line and column, after the file's name if that is another one.
fn place(cx: &Context, loc: Loc, from: Loc) -> String {
    let Some((file, line, column)) = cx.file_line_col(loc) else { return "an unknown place".to_string() };
    match cx.file_line_col(from) {
        Some((here, ..)) if here == file => format!("{line}:{column}"),
        _ => format!("{}:{line}:{column}", cx.str(file)),
    }
}

/// `1 operation`, `2 operations`
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Adds the generic passes.
pub fn register(registry: &mut PassRegistry) {
    for pass in ALL {
        registry.add(pass);
    }
}
