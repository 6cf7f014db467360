//! Live values of each block.

use std::fmt::Write;

use sutura_ir::analysis::Liveness;
use sutura_ir::asm::print::Printer;

use super::{Scope, blocks, names};

pub(super) fn describe(scope: &Scope<'_>, liveness: &Liveness, printer: &mut Printer<'_>, out: &mut String) {
    let body = scope.body;
    for (depth, block, label) in blocks(scope, printer) {
        let live_in = names(printer, body, liveness.live_in(block));
        let live_out = names(printer, body, liveness.live_out(block));
        let _ = writeln!(out, "  {}{label}: in [{live_in}], out [{live_out}]", "  ".repeat(depth));
    }
}
