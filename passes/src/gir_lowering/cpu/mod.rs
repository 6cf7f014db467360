//! `convert-gir-to-cpu`: kernels become functions over ranges of groups, in upstream operations.
//!
//! A kernel `@k` becomes `func @k(!llvm.ptr bufs, !llvm.ptr dims, i64 begin, i64 end)`, the kernel interface of the
//! runtime. Register tiles become vectors; tiles in a cache are not materialised but computed in strip-mined loops.

pub(super) mod existing_rows;
pub(super) mod extremes;
pub(super) mod in_place;
pub(super) mod pipeline;
pub(super) mod stream;
pub(super) mod sweep;
#[cfg(test)]
mod tests;

use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::rt::{KERNEL_ATTR, Launchable};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Op, OpRef, Rewriter};

use super::kernel::Function;
use super::machine::{self, Machine};

/// `convert-gir-to-cpu`
pub static CONVERT_GIR_TO_CPU: PassInfo = PassInfo {
    name: "ConvertGirToCpu",
    argument: "convert-gir-to-cpu",
    summary: "Lower gir kernels to functions in upstream operations, for a CPU",
    description: "Each `gir.kernel` becomes a function `(bufs, dims, begin, end)` that runs the groups `begin` to `end`. \
                  Tiles in register spaces (those of the module's `target.machine`; without one `vec` and `reg`) become \
                  vectors; tiles elsewhere are computed in strip-mined \
                  loops, one per maximal run of operations on one window.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "vector-bytes",
        kind: OptionKind::Int(0, 256),
        default: "0",
        help: "width of vectors in bytes, a power of two from 4 on; 0 takes that of the module's machine, or 64 without one",
    }],
    statistics: &[StatisticInfo { name: "num-kernels", description: "kernels lowered" }],
    create,
};

struct ConvertGirToCpu {
    /// As the option says; 0 asks the machine.
    vector_bytes: i64,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let bytes = options.int("vector-bytes");
    if bytes != 0 && !machine::is_width(bytes) {
        return Err(format!("option `vector-bytes` takes a power of two from 4 on, not `{bytes}`"));
    }
    Ok(Box::new(ConvertGirToCpu { vector_bytes: bytes }))
}

impl Pass for ConvertGirToCpu {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        crate::elided::refuse_elided(run)?;
        let cx = run.cx;
        let machine = match Machine::of_module(cx, run.body, self.vector_bytes) {
            Ok(machine) => machine,
            Err(diagnostic) => {
                run.diags.report(*diagnostic);
                return Err(PassError::Unsupported);
            }
        };
        crate::gir_lowering::copies::plain_copies(cx, run.body, &machine);
        let kernels: Vec<Op> =
            run.body.preorder().filter(|op| OpRef::new(cx, run.body, *op).is::<KernelOp>()).collect();
        let mut failed = false;
        for op in kernels {
            let view = OpRef::new(cx, run.body, op);
            let (loc, name) = (view.loc(), view.symbol_name().unwrap_or_default().to_string());
            match lower(view, &machine) {
                Ok(Function { state, body, notes }) => {
                    let mut rewriter = Rewriter::new(cx, run.body);
                    rewriter.set_before(op);
                    rewriter.create_isolated(state, Box::new(body));
                    rewriter.erase_op(op);
                    run.count("num-kernels", 1);
                    notes.into_iter().for_each(|(loc, note)| run.missed(loc, note));
                    run.passed(loc, format!("kernel @{name} is a function now"));
                }
                Err(diagnostic) => {
                    run.diags.report(diagnostic);
                    failed = true;
                }
            }
        }
        if failed { Err(PassError::Unsupported) } else { Ok(PreservedAnalyses::none()) }
    }
}

fn lower(op: OpRef<'_>, machine: &Machine) -> Result<Function, Diagnostic> {
    let kernel = KernelInfo::read(op).map_err(|message| op.error(message))?;
    let name = op.symbol_name().unwrap_or_default().to_string();
    let lowered = super::kernel::lower_kernel(&kernel, &name, machine);
    let mut function = lowered.map_err(|e| e.op.error(e.message).note(op.loc(), format!("in kernel @{name}")))?;
    // What a launch needs to know of the kernel outlives its header.
    let signature = op.interface::<dyn Launchable>().map(|kernel| kernel.signature(op));
    let signature = signature.transpose().map_err(|message| op.error(message))?;
    let attr = signature.map(|signature| signature.to_attr(op.cx));
    if let Some(attr) = attr {
        function.state = function.state.attr(op.cx.ident(KERNEL_ATTR), attr);
    }
    Ok(function)
}
