//! The dominator tree.

use std::fmt::Write;

use sutura_ir::analysis::DominanceInfo;
use sutura_ir::asm::print::Printer;

use super::{Scope, blocks};

pub(super) fn describe(scope: &Scope<'_>, dominance: &DominanceInfo, printer: &mut Printer<'_>, out: &mut String) {
    let body = scope.body;
    for (depth, block, label) in blocks(scope, printer) {
        let above = match dominance.immediate_dominator(body, block) {
            Some(above) => format!("after {}", printer.block_text(body, above)),
            None if dominance.is_reachable(block) => "entry".to_string(),
            None => "not reached".to_string(),
        };
        let _ = writeln!(out, "  {}{label}: {above}", "  ".repeat(depth));
    }
}
