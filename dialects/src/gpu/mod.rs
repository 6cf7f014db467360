//! Kernels for GPUs: modules of device code, where a thread stands in its launch, barriers, shuffles.

mod asm;
mod attrs;
mod ops;
mod verify;

use std::borrow::Cow;
use sutura_ir::name_of;

use sutura_ir::interfaces::{CustomForm, MemoryEffects, ResultNames};
use sutura_ir::op_def::OpView;
use sutura_ir::smallvec::SmallVec;
use sutura_ir::{Attr, Context, Diagnostic, Dialect, DialectBuilder, OpRef, Type};

pub use attrs::{Dimension, ShuffleMode};
pub use ops::*;

/// The attribute that makes a function a kernel.
pub const KERNEL: &str = "gpu.kernel";

/// Threads that a block may have on every device: CUDA's and HIP's limit.
pub const MOST_THREADS: i64 = 1024;

/// How many arguments of a function's block are buffers of the block of threads.
pub const WORKGROUP_ATTRIBUTIONS: &str = "workgroup_attributions";

/// The attribute of modules that hold device code.
pub const CONTAINER_MODULE: &str = "gpu.container_module";

/// `arg_attrs` of a function, from a dictionary for each argument; none where all of them are empty, as the custom form parses.
pub fn arg_attrs(cx: &Context, dicts: &[Attr]) -> Option<Attr> {
    dicts.iter().any(|dict| *dict != Attr::EMPTY_DICT).then(|| cx.array_attr(dicts))
}

/// The size of a kernel's blocks where it is known; an error where no device has so many threads.
pub fn block_size(func: GPUFuncOp<'_>) -> Result<Option<[i32; 3]>, Diagnostic> {
    let size = func.known_block_size();
    let Some(&[x, y, z]) = size.as_deref() else { return Ok(None) };
    match [x, y, z].into_iter().try_fold(1_i64, |all, n| all.checked_mul(i64::from(n))) {
        Some(1..=MOST_THREADS) => Ok(Some([x, y, z])),
        _ => {
            let error = func.op_ref().error(format!("has blocks of {x} x {y} x {z} threads"));
            Err(error.help(format!("a block has 1 to {MOST_THREADS} threads")))
        }
    }
}

/// The custom form of a function always gives the number of buffers of its block: 0 where it names none.
struct CountsBuffers;

impl CustomForm for CountsBuffers {
    fn says_all(&self, op: OpRef<'_>) -> bool {
        let count = op.cx.int_attr(GPUFuncOp::from_ref(op).workgroup_buffers() as i64, Type::I64);
        op.attr(WORKGROUP_ATTRIBUTIONS) == Some(count)
    }
}

/// The gpu dialect.
#[derive(Clone, Copy, Debug)]
pub struct GpuDialect;

impl Dialect for GpuDialect {
    const NAME: &'static str = "gpu";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Kernels for GPUs: modules of device code, where a thread stands, barriers, shuffles.").partial();
        d.attr("", attrs::parse);
        d.directive("GpuFunc", asm::GPU_FUNC)
            .directive("Targets", asm::TARGETS)
            .directive("Axis", asm::AXIS)
            .directive("Mode", asm::MODE);
        d.op::<GPUModuleOp<'_>>().op::<GPUFuncOp<'_>>().op::<ReturnOp<'_>>();
        d.op::<ThreadIdOp<'_>>().op::<BlockIdOp<'_>>().op::<BlockDimOp<'_>>().op::<GridDimOp<'_>>();
        d.op::<LaneIdOp<'_>>().op::<SubgroupIdOp<'_>>().op::<SubgroupSizeOp<'_>>();
        d.op::<BarrierOp<'_>>().op::<ShuffleOp<'_>>();
        for op in [name_of::<BarrierOp<'_>>(), name_of::<ShuffleOp<'_>>()] {
            d.interface::<dyn MemoryEffects>(op, &crate::effects::Meets);
        }
        for op in [
            name_of::<ThreadIdOp<'_>>(),
            name_of::<BlockIdOp<'_>>(),
            name_of::<BlockDimOp<'_>>(),
            name_of::<GridDimOp<'_>>(),
        ] {
            d.interface::<dyn ResultNames>(op, &AxisName);
        }
        d.op_interface::<ShuffleOp<'_>, dyn ResultNames>(&ShuffleNames);
        d.op_interface::<GPUFuncOp<'_>, dyn CustomForm>(&CountsBuffers);
    }
}

type Names = SmallVec<[(usize, Cow<'static, str>); 1]>;

/// `thread_id_x`, as upstream calls it.
struct AxisName;

impl ResultNames for AxisName {
    fn names(&self, op: OpRef<'_>) -> Names {
        let dimension = op.prop("dimension").and_then(|a| op.cx.attr_as::<Dimension>(a));
        let name = op.name_str().strip_prefix("gpu.").unwrap_or_default();
        dimension.map(|d| (0, format!("{name}_{}", d.keyword()).into())).into_iter().collect()
    }
}

struct ShuffleNames;

impl ResultNames for ShuffleNames {
    fn names(&self, _: OpRef<'_>) -> Names {
        ["shuffleResult", "valid"].into_iter().map(Cow::Borrowed).enumerate().collect()
    }
}

impl<'a> GPUFuncOp<'a> {
    /// Types of the arguments.
    pub fn inputs(self) -> &'a [Type] {
        self.signature().0
    }

    /// Types of the results.
    pub fn results(self) -> &'a [Type] {
        self.signature().1
    }

    fn signature(self) -> (&'a [Type], &'a [Type]) {
        self.op_ref().cx.signature(self.function_type()).expect("a function type")
    }

    /// True for a function that the host launches.
    pub fn is_kernel(self) -> bool {
        self.op_ref().attr(KERNEL).is_some()
    }

    /// How many of the block's arguments are buffers of the block of threads.
    pub fn workgroup_buffers(self) -> usize {
        let op = self.op_ref();
        let number = op.attr(WORKGROUP_ATTRIBUTIONS).and_then(|a| op.cx.as_int(a));
        number.and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
    }
}
