//! `convert-gir-to-gpu`: kernels become functions for the threads of a GPU, in upstream operations of every vendor.
//!
//! A kernel `@k` becomes `gpu.func @k(pointers…, sizes…) kernel` in the module `@kernels`. The same gir as a CPU's: a unit is
//! as many threads as its rows are worth, and its vectors are spread over them (docs/rationale/gpu-units.md).

mod copies;
mod kernel;
mod scan;
pub(super) mod sweep;
pub(super) mod threads;
mod turn;
mod waits;
mod width;

use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::rt::{GROUPS_ATTR, KERNEL_ATTR, LaunchOp, Launchable, PARTS_ATTR};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::symbols::symbol_ident;
use sutura_ir::{Body, Builder, Context, Ident, Op, OpRef, OpState, Rewriter, Type};

pub(super) use kernel::GpuState;
use kernel::{GpuKernel, Threads, lower_kernel};

use super::copies::plain_copies;
use super::machine::Machine;

/// The module that holds the kernels of a program; with a number behind it where that name is taken.
pub const KERNELS_MODULE: &str = "kernels";

/// `convert-gir-to-gpu`
pub static CONVERT_GIR_TO_GPU: PassInfo = PassInfo {
    name: "ConvertGirToGpu",
    argument: "convert-gir-to-gpu",
    summary: "Lower gir kernels to functions for the threads of a GPU",
    description: "Each `gir.kernel` becomes a `gpu.func` in `gpu.module @kernels`, with pointers and sizes as arguments. \
                  Vectors of columns are spread over the threads of a unit; reductions along columns go through \
                  shuffles, and through the block's memory where a unit has several subgroups. Rows that are short \
                  enough stay in registers. Units of a group that has several are subgroups of one block, which wait for \
                  each other at `gir.sync`. Blocks take groups until there are no more.",
    anchor: Anchor::Op("builtin.module"),
    options: &[
        OptionInfo {
            name: "threads",
            kind: OptionKind::Int(0, 1024),
            default: "0",
            help: "threads of a unit, a power of two; 0 takes as many as the kernel says, or a subgroup where it says nothing",
        },
        OptionInfo {
            name: "subgroup",
            kind: OptionKind::Int(0, 128),
            default: "0",
            help: "threads that run in lockstep, a power of two; 0 takes those of the module's machine, or 32 without one",
        },
        OptionInfo {
            name: "shared-bytes",
            kind: OptionKind::Int(0, 1 << 20),
            default: "0",
            help: "bytes of memory that a block has; 0 takes those of the module's machine, or 32768 without one",
        },
    ],
    statistics: &[StatisticInfo { name: "num-kernels", description: "kernels lowered" }],
    create,
};

#[derive(Clone, Copy)]
struct ConvertGirToGpu {
    threads: i64,
    subgroup: i64,
    shared_bytes: i64,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    for name in ["threads", "subgroup"] {
        let number = options.int(name);
        if number != 0 && number & (number - 1) != 0 {
            return Err(format!("option `{name}` takes a power of two, not `{number}`"));
        }
    }
    Ok(Box::new(ConvertGirToGpu {
        threads: options.int("threads"),
        subgroup: options.int("subgroup"),
        shared_bytes: options.int("shared-bytes"),
    }))
}

/// What a device has where neither option nor machine says.
const SUBGROUP: i64 = 32;
const SHARED_BYTES: i64 = 32768;

/// Threads of a block of several units.
const PACKED_THREADS: i64 = 128;

/// Bytes of memory that a block has, by the module's machine.
pub(crate) fn shared_bytes_of_block(cx: &Context, module: &Body) -> Result<i64, Box<Diagnostic>> {
    Ok(Machine::of_gpu(cx, module)?.shared_bytes.unwrap_or(SHARED_BYTES))
}

/// Threads that run in lockstep: those that an option asks for, or those of the machine.
fn subgroup_of(option: i64, machine: &Machine) -> i64 {
    if option == 0 { machine.subgroup.unwrap_or(SUBGROUP) } else { option }
}

impl ConvertGirToGpu {
    /// Threads for a kernel.
    fn threads(&self, kernel: &KernelInfo<'_>, machine: &Machine) -> Threads {
        let subgroup = subgroup_of(self.subgroup, machine);
        let shared_bytes =
            if self.shared_bytes == 0 { machine.shared_bytes.unwrap_or(SHARED_BYTES) } else { self.shared_bytes };
        let unit = if self.threads == 0 { kernel.threads.unwrap_or(subgroup) } else { self.threads };
        Threads { unit, subgroup, packed: PACKED_THREADS, shared_bytes }
    }
}

impl Pass for ConvertGirToGpu {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        crate::elided::refuse_elided(run)?;
        let cx = run.cx;
        if let Some(error) = crate::rt::routine_without_devices(cx, run.body) {
            run.diags.report(error);
            return Err(PassError::Unsupported);
        }
        let machine = match Machine::of_gpu(cx, run.body) {
            Ok(machine) => machine,
            Err(diagnostic) => {
                run.diags.report(*diagnostic);
                return Err(PassError::Unsupported);
            }
        };
        plain_copies(cx, run.body, &machine);
        let kernels: Vec<Op> =
            run.body.preorder().filter(|op| OpRef::new(cx, run.body, *op).is::<KernelOp>()).collect();
        if kernels.is_empty() {
            return Ok(PreservedAnalyses::all());
        }
        let (mut lowered, mut failed) = (Vec::new(), false);
        for op in &kernels {
            let view = OpRef::new(cx, run.body, *op);
            match self.lower(view, &machine) {
                Ok(kernel) => {
                    let (name, loc) = (view.symbol_name().unwrap_or_default().to_string(), view.loc());
                    let (block, arrays) = (kernel.block, kernel.shared.len());
                    let groups = match (kernel.units, kernel.of_group) {
                        (1, 1) => "a group at a time".to_owned(),
                        (1, units) => format!("a group of {units} units at a time"),
                        (groups, _) => format!("{groups} groups at a time"),
                    };
                    let arrays = format!("{arrays} array{} in their memory", if arrays == 1 { "" } else { "s" });
                    run.passed(
                        loc,
                        format!("kernel @{name} runs in blocks of {block} threads, {groups}, with {arrays}"),
                    );
                    lowered.push(kernel);
                }
                Err(diagnostic) => {
                    run.diags.report(diagnostic);
                    failed = true;
                }
            }
        }
        if failed {
            return Err(PassError::Unsupported);
        }
        run.count("num-kernels", lowered.len() as u64);
        let module = free_name(cx, run.body, KERNELS_MODULE);
        let names: Vec<Ident> = kernels.iter().filter_map(|op| symbol_ident(OpRef::new(cx, run.body, *op))).collect();
        let mut rewriter = Rewriter::new(cx, run.body);
        rewriter.set_before(kernels[0]);
        let (state, inside) = module_of(cx, &module, lowered);
        rewriter.create_isolated(state, Box::new(inside));
        for op in kernels {
            rewriter.erase_op(op);
        }
        launch_from(cx, run.body, &module, &names);
        Ok(PreservedAnalyses::none())
    }
}

impl ConvertGirToGpu {
    fn lower(&self, op: OpRef<'_>, machine: &Machine) -> Result<GpuKernel, Diagnostic> {
        let kernel = KernelInfo::read(op).map_err(|message| op.error(message))?;
        let name = op.symbol_name().unwrap_or_default().to_string();
        let threads = self.threads(&kernel, machine);
        let lowered = lower_kernel(&kernel, &name, machine, threads);
        let lowered = lowered.map_err(|e| e.op.error(e.message).note(op.loc(), format!("in kernel @{name}")))?;
        // What a launch needs to know of the kernel outlives its header.
        let signature = op.interface::<dyn Launchable>().map(|kernel| kernel.signature(op));
        let signature = signature.transpose().map_err(|message| op.error(message))?;
        let cx = op.cx;
        let mut state = lowered.state.attr(cx.ident(GROUPS_ATTR), cx.int_attr(lowered.units, Type::I64));
        if let Some(signature) = signature {
            state = state.attr(cx.ident(KERNEL_ATTR), signature.to_attr(cx));
        }
        if let Some(parts) = op.attr(PARTS_ATTR) {
            state = state.attr(cx.ident(PARTS_ATTR), parts);
        }
        Ok(GpuKernel { state, ..lowered })
    }
}

/// The name, or the first with a number behind it, that is no symbol yet.
fn free_name(cx: &Context, body: &Body, name: &str) -> String {
    let taken = |name: &str| body.preorder().any(|op| OpRef::new(cx, body, op).symbol_name() == Some(name));
    let numbered = (0..).map(|n| format!("{name}_{n}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken(name)).expect("there are more names")
}

/// Launches of the kernels `names` name them in `module`.
fn launch_from(cx: &Context, body: &mut Body, module: &str, names: &[Ident]) {
    let programs: Vec<Op> = body.preorder().filter(|op| body.nested(*op).is_some()).collect();
    for program in programs {
        let inside = body.nested_mut(program).expect("found by it");
        let launches: Vec<(Op, Ident)> = (inside.preorder())
            .filter_map(|op| {
                let launch = OpRef::new(cx, inside, op).as_::<LaunchOp<'_>>()?;
                Some((op, cx.as_symbol(launch.kernel()).filter(|name| names.contains(name))?))
            })
            .collect();
        let mut rewriter = Rewriter::new(cx, inside);
        for (op, name) in launches {
            rewriter.set_prop(op, "callee", Some(cx.nested_symbol_ref(module, &[name])));
        }
    }
}

/// The module of all kernels, with their arrays before them.
fn module_of(cx: &Context, name: &str, kernels: Vec<GpuKernel>) -> (OpState, Body) {
    let loc = kernels.first().map_or(sutura_ir::Loc::UNKNOWN, |kernel| kernel.state.loc);
    let state = OpState::new(cx.op_name("gpu.module"), loc).prop(cx.ident("sym_name"), cx.string_attr(name));
    let mut body = Body::with_block(1);
    let block = body.entry_block().expect("made with one");
    let mut builder = Builder::at_end(cx, &mut body, block);
    for kernel in kernels {
        for array in &kernel.shared {
            builder.create_isolated(array.state(cx, loc), Box::new(Body::new(1)));
        }
        builder.create_isolated(kernel.state, Box::new(kernel.body));
    }
    (state, body)
}
