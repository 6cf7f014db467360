//! `convert-gpu-to-nvvm` and `convert-gpu-to-rocdl`: device code becomes functions of LLVM's dialect with what the vendor's
//! own dialect adds. Everything but the gpu dialect stays as it is, for MLIR's own lowerings.

mod emit;
mod function;
mod nvvm;
mod rocdl;
mod words;

use sutura_dialects::gpu::GPUModuleOp;
use sutura_dialects::target::ops::MachineOp;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Body, Context, Op, OpRef};

use self::function::convert_module;
use self::nvvm::Nvidia;
use self::rocdl::Amd;

const NUM_KERNELS: &[StatisticInfo] = &[StatisticInfo { name: "num-kernels", description: "kernels converted" }];

/// `convert-gpu-to-nvvm`
pub static CONVERT_GPU_TO_NVVM: PassInfo = PassInfo {
    name: "ConvertGpuToNvvm",
    argument: "convert-gpu-to-nvvm",
    summary: "Convert device code to the nvvm dialect, for NVIDIA's GPUs",
    description: "Each `gpu.func` of a `gpu.module` becomes an `llvm.func`, kernels with `nvvm.kernel` and the size of their \
                  blocks in `nvvm.reqntid`; operations of the gpu dialect become registers, barriers and shuffles of the \
                  nvvm dialect. Values of other than 32 bits are shuffled in words of 32. The rest of the code stays as it \
                  is: MLIR's `convert-to-llvm` knows it.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: NUM_KERNELS,
    create: |_: &PassOptions| Ok(Box::new(GpuToLlvm { vendor: |_, _| Ok(Box::new(Nvidia)) })),
};

/// `convert-gpu-to-rocdl`
pub static CONVERT_GPU_TO_ROCDL: PassInfo = PassInfo {
    name: "ConvertGpuToRocdl",
    argument: "convert-gpu-to-rocdl",
    summary: "Convert device code to the rocdl dialect, for AMD's GPUs",
    description: "Each `gpu.func` of a `gpu.module` becomes an `llvm.func`, kernels with `rocdl.kernel` and the size of their \
                  workgroups; operations of the gpu dialect become operations of the rocdl dialect. No library of \
                  device code is needed: the number of workgroups is read from the implicit arguments of code objects \
                  of version 5. Values of other than 32 bits are shuffled in words of 32.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "subgroup",
        kind: OptionKind::Int(0, 64),
        default: "0",
        help: "lanes of a wavefront, 32 or 64; 0 takes those of the module's machine, or 64 without one",
    }],
    statistics: NUM_KERNELS,
    create: create_rocdl,
};

fn create_rocdl(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    match options.int("subgroup") {
        0 => Ok(Box::new(GpuToLlvm { vendor: |cx, body| amd_of(cx, body).map(|amd| Box::new(amd) as _) })),
        32 => Ok(Box::new(GpuToLlvm { vendor: |_, _| Ok(Box::new(Amd { wavefront: 32 })) })),
        64 => Ok(Box::new(GpuToLlvm { vendor: |_, _| Ok(Box::new(Amd { wavefront: 64 })) })),
        other => Err(format!("option `subgroup` takes 32 or 64, not `{other}`")),
    }
}

/// As the module's machine is, or one with wavefronts of 64 lanes.
fn amd_of(cx: &Context, body: &Body) -> Result<Amd, Diagnostic> {
    let machine = body.preorder().map(|op| OpRef::new(cx, body, op)).find(|op| op.is::<MachineOp<'_>>());
    let Some(subgroup) = machine.and_then(|op| op.as_::<MachineOp<'_>>()).and_then(MachineOp::subgroup) else {
        return Ok(Amd { wavefront: 64 });
    };
    if matches!(subgroup, 32 | 64) {
        return Ok(Amd { wavefront: subgroup });
    }
    let message = format!("runs {subgroup} threads in lockstep, but wavefronts have 32 or 64 lanes");
    Err(machine.expect("found above").error(message))
}

/// What a vendor has for an operation of the gpu dialect.
trait Vendor {
    /// Where a thread is along an axis, 0 to 2: `gpu.thread_id`, `gpu.block_id`, `gpu.grid_dim`, `gpu.block_dim` where the
    /// kernel does not say it; i32.
    fn along_axis(&self, e: &mut emit::Emit<'_>, what: Position, axis: usize) -> sutura_ir::Value;

    /// Number of the thread in its subgroup, i32.
    fn lane(&self, e: &mut emit::Emit<'_>) -> sutura_ir::Value;

    /// Threads of a subgroup.
    fn subgroup(&self) -> i64;

    /// Waits for the block.
    fn barrier(&self, e: &mut emit::Emit<'_>);

    /// What another lane has for `value`, an i32, and whether there is such a lane, where `valid` asks.
    fn shuffle(&self, e: &mut emit::Emit<'_>, value: sutura_ir::Value, to: &Shuffle, valid: bool) -> Exchanged;

    /// What a kernel's function says beside its type: name and value of attributes.
    fn kernel_attrs(&self, cx: &Context, block: Option<[i32; 3]>) -> Vec<(&'static str, sutura_ir::Attr)>;
}

/// A position or size that has three axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Position {
    Thread,
    Block,
    BlockDim,
    GridDim,
}

/// From which lane a value comes.
struct Shuffle {
    mode: sutura_dialects::gpu::ShuffleMode,
    offset: sutura_ir::Value,
    width: sutura_ir::Value,
}

/// The value that came, and whether it is one.
struct Exchanged {
    value: sutura_ir::Value,
    valid: Option<sutura_ir::Value>,
}

/// Finds the vendor's device for a module.
type VendorOf = fn(&Context, &Body) -> Result<Box<dyn Vendor>, Diagnostic>;

struct GpuToLlvm {
    vendor: VendorOf,
}

impl Pass for GpuToLlvm {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let vendor = match (self.vendor)(cx, run.body) {
            Ok(vendor) => vendor,
            Err(diagnostic) => {
                run.diags.report(diagnostic);
                return Err(PassError::Unsupported);
            }
        };
        let modules: Vec<Op> = (run.body.entry_block().into_iter().flat_map(|block| run.body.ops(block)))
            .filter(|op| OpRef::new(cx, run.body, *op).is::<GPUModuleOp<'_>>())
            .collect();
        let mut failed = false;
        for op in &modules {
            let loc = run.body.loc(*op);
            let module = run.body.nested_mut(*op).expect("a gpu.module is isolated");
            match convert_module(cx, module, vendor.as_ref()) {
                Ok(kernels) => {
                    run.count("num-kernels", kernels);
                    run.passed(loc, format!("the device code is functions now, with {kernels} kernels"));
                }
                Err(diagnostic) => {
                    run.diags.report(diagnostic);
                    failed = true;
                }
            }
        }
        if failed { Err(PassError::Unsupported) } else { Ok(PreservedAnalyses::unless(!modules.is_empty())) }
    }
}
