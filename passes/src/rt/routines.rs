//! Routines that a target has not.

use sutura_dialects::rt::{CallOp, ProgramOp, works_on_devices};
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::{Body, Context, OpRef, OpView};

/// The first call of a routine that does not work on memory of a device, as an error: all buffers of a program with kernels of
/// a device are its memory, which the host does not see.
pub(crate) fn routine_without_devices(cx: &Context, module: &Body) -> Option<Diagnostic> {
    let tops = module.entry_block().into_iter().flat_map(|b| module.ops(b)).map(|op| OpRef::new(cx, module, op));
    let inside = tops.filter(|op| op.is::<ProgramOp<'_>>()).filter_map(|op| op.region(0)?.entry());
    let mut found = None;
    inside.flat_map(|block| block.ops()).for_each(|op| {
        op.walk(&mut |op| {
            let call = op.as_::<CallOp<'_>>().filter(|call| !works_on_devices(*call));
            found = found.or(call);
        });
    });
    let call = found?;
    let error =
        format!("calls the routine '{}' of the runtime, which works on memory of the host only", call.routine());
    Some(call.op_ref().error(error).help("compile for a processor"))
}
