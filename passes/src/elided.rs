//! Constants whose elements were left out when they were printed: code cannot be made of them.

use sutura_ir::asm::print::ELIDED;
use sutura_ir::diagnostics::{Diagnostic, codes};
use sutura_ir::pass::{PassError, PassRun};
use sutura_ir::{AttrData, Body};

/// Refuses a program with a constant whose elements are missing.
pub(crate) fn refuse_elided(run: &mut PassRun<'_>) -> Result<(), PassError> {
    let cx = run.cx;
    let elided = cx.ident(ELIDED);
    let mut found = Vec::new();
    let mut pending: Vec<&Body> = vec![run.body];
    while let Some(body) = pending.pop() {
        for op in body.preorder() {
            pending.extend(body.nested(op));
            let is_elided = |attr| matches!(cx.attr_data(attr), AttrData::DenseResource { key, .. } if key == elided);
            if cx.entries(body.props(op)).iter().any(|e| is_elided(e.value)) {
                found.push((body.loc(op), body.name(op)));
            }
        }
    }
    let failed = !found.is_empty();
    for (loc, name) in found {
        let message = format!("'{}' op has elements that were left out when it was printed", name.as_str(cx));
        let help = "print the program again without `--elide-elementsattrs-if-larger`";
        run.diags.report(Diagnostic::error(loc, message).code(codes::ELIDED).help(help));
    }
    if failed { Err(PassError::Failed) } else { Ok(()) }
}
