//! `convert-gpu-to-spirv`: modules of device code become modules of SPIR-V for Vulkan.
//!
//! Buffers are addresses, as on every other device: a kernel gets, as its push constant, the address of its arguments, eight
//! bytes each. `docs/rationale/spirv-addressing.md` says why.

mod control;
mod emit;
mod floats;
mod integers;
mod kernel;
mod lanes;
mod memory;
mod module;
mod numbers;
pub(crate) mod types;
mod vectors;

use sutura_dialects::gpu::GPUModuleOp;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Op, OpRef, Rewriter};

/// `convert-gpu-to-spirv`
pub static CONVERT_GPU_TO_SPIRV: PassInfo = PassInfo {
    name: "ConvertGpuToSpirv",
    argument: "convert-gpu-to-spirv",
    summary: "Convert modules of device code to SPIR-V for Vulkan",
    description: "Each `gpu.module` becomes a `spirv.module` of its name, and each kernel an entry point. Buffers are addresses \
                  of 64 bits (`!llvm.ptr<1>`, Vulkan 1.2's bufferDeviceAddress): the push constant of a kernel, eight bytes, is \
                  the address of its arguments, eight bytes each, in order. Variables in address space 3 are workgroup \
                  memory. What a device must have is computed from what is used. Loops and conditionals stay structured: \
                  `scf.for`, `scf.if` and `scf.while` are converted. Floats are computed as written: nothing is \
                  contracted unless it is marked so, and maximum and minimum propagate NaN.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "float-controls",
        kind: OptionKind::Bool,
        default: "true",
        help: "ask the device to round to nearest even and to keep signs of zeros, infinities and NaN",
    }],
    statistics: &[StatisticInfo { name: "num-kernels", description: "kernels converted" }],
    create: |options: &PassOptions| Ok(Box::new(ConvertGpuToSpirv { float_controls: options.bool("float-controls") })),
};

struct ConvertGpuToSpirv {
    float_controls: bool,
}

impl Pass for ConvertGpuToSpirv {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let (cx, body) = (run.cx, &*run.body);
        let modules: Vec<Op> = (body.entry_block().into_iter().flat_map(|block| body.ops(block)))
            .filter(|op| OpRef::new(cx, body, *op).is::<GPUModuleOp<'_>>())
            .collect();
        let mut converted = Vec::new();
        for op in &modules {
            match module::convert(OpRef::new(cx, body, *op), self.float_controls) {
                Ok(module) => converted.push(module),
                Err(diagnostic) => {
                    run.diags.report(*diagnostic);
                }
            }
        }
        if converted.len() < modules.len() {
            return Err(PassError::Unsupported);
        }
        for (op, module) in modules.iter().zip(converted) {
            run.count("num-kernels", module.kernels as u64);
            let loc = run.body.loc(*op);
            run.passed(loc, format!("the device code is SPIR-V now, with {} kernels", module.kernels));
            let mut rewriter = Rewriter::new(run.cx, run.body);
            rewriter.set_before(*op);
            rewriter.create_isolated(module.state, Box::new(module.body));
            rewriter.erase_op(*op);
        }
        Ok(PreservedAnalyses::unless(!modules.is_empty()))
    }
}
