//! `convert-gpu-to-fibers`: kernels for GPUs become functions that a processor runs, one fiber for each thread.
//!
//! What a thread does stays as it is; where it stands, what it shares and whom it waits for it learns from the runtime, through
//! a table of functions and numbers that it is given (`abi`). Every access of memory is announced before it happens, so that the
//! runtime can refuse it. `docs/devices.md` has the whole binary interface.

mod abi;
mod check;
mod kernel;
mod module;
mod sites;

use sutura_dialects::gpu::GPUModuleOp;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Op, OpRef, Rewriter};

pub use abi::{ABI_SYMBOL, ABI_VERSION, KERNELS_SYMBOL};

/// `convert-gpu-to-fibers`
pub static CONVERT_GPU_TO_FIBERS: PassInfo = PassInfo {
    name: "ConvertGpuToFibers",
    argument: "convert-gpu-to-fibers",
    summary: "Convert modules of device code to functions for fibers of a processor, with every access checked",
    description: "Each kernel of each `gpu.module` becomes an `llvm.func @k(%state: !llvm.ptr, %args: !llvm.ptr)` for one \
                  thread. Barriers, shuffles and checks of memory are calls through the state, so that threads can be \
                  fibers; a check stands before every load and store, with the number of a place in the source. \
                  Variables in address space 3 lie in the block's memory, apart from each other. Two variables tell a \
                  loader the version of the interface and, as JSON, kernels and places. A program that launches kernels of \
                  these modules cannot stay beside them.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "subgroup",
        kind: OptionKind::Int(1, 128),
        default: "32",
        help: "threads of a subgroup, a power of two: 32 as NVIDIA's, 64 as AMD's",
    }],
    statistics: &[
        StatisticInfo { name: "num-kernels", description: "kernels converted" },
        StatisticInfo { name: "num-checks", description: "accesses that are checked" },
    ],
    create,
};

struct ConvertGpuToFibers {
    subgroup: i64,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let subgroup = options.int("subgroup");
    if subgroup & (subgroup - 1) != 0 {
        return Err(format!("option `subgroup` takes a power of two, not `{subgroup}`"));
    }
    Ok(Box::new(ConvertGpuToFibers { subgroup }))
}

impl Pass for ConvertGpuToFibers {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let (cx, body) = (run.cx, &*run.body);
        let modules: Vec<Op> = (body.entry_block().into_iter().flat_map(|block| body.ops(block)))
            .filter(|op| OpRef::new(cx, body, *op).is::<GPUModuleOp<'_>>())
            .collect();
        if modules.is_empty() {
            return Ok(PreservedAnalyses::all());
        }
        let mut program = module::Program::new(self.subgroup);
        let mut failed = false;
        for op in &modules {
            for diagnostic in program.add(OpRef::new(cx, body, *op)) {
                run.diags.report(diagnostic);
                failed = true;
            }
        }
        for diagnostic in program.clashes(cx, body, &modules).into_iter().chain(module::launch_into(cx, body, &modules))
        {
            run.diags.report(diagnostic);
            failed = true;
        }
        if failed {
            return Err(PassError::Unsupported);
        }
        run.count("num-kernels", program.kernels() as u64);
        run.count("num-checks", program.checks);
        let loc = run.body.loc(modules[0]);
        run.passed(
            loc,
            format!("{} kernels run on fibers now, {} accesses are checked", program.kernels(), program.checks),
        );
        let mut rewriter = Rewriter::new(run.cx, run.body);
        rewriter.set_before(modules[0]);
        program.write(&mut rewriter, loc);
        for op in modules {
            rewriter.erase_op(op);
        }
        Ok(PreservedAnalyses::none())
    }
}
