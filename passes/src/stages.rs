//! The passes that a compilation runs, stage by stage: pipelines on `builtin.module`, after the description of a machine was put
//! into the module.

/// Shapes known everywhere, operators by what they do, and the program in simple form. What operators stand for may hold loops,
/// which become functions as those of the program did.
pub const SHAPES: &str = "scf-for-to-while,scalars-to-tensors,outline-regions,inline-decided,convert-elementwise-to-graph,\
     propagate-shapes,inline-decided,graph-operator-rewrite,raise-attention,expand-operators,scf-for-to-while,scalars-to-tensors,outline-regions,\
     canonicalize,cse,graph-property-rewrite,fold-into-weights,canonicalize,\
     outline-regions,inline-decided,convert-elementwise-to-graph,propagate-shapes";

/// Regions that become kernels.
pub const STITCH: &str = "lower-quant-ops,split-complex,legalize-elements,fold-padding,narrow-products,split-products,channels-last,\
     propagate-reshapes,mask-ranges,stitch,\
     refine-fusion-plan";

/// The schedules that rules write, as attributes of regions.
pub const SCHEDULE: &str = "schedule-regions";

/// Kernels and the host program.
pub const TILE: &str = "convert-graph-to-gir";

/// Intrinsics of the machine, what is known at compile time, kernels that move less, and what they say of caches and threads.
pub const TENSORIZE: &str =
    "tensorize,fold-launches,canonicalize,cse,gir-simplify,loop-invariant-code-motion,gir-cache-hints,gir-unit-threads";

/// Upstream operations for a processor.
pub const LOWER: &str = "inline-programs,update-in-place,plan-buffers,convert-gir-to-cpu,convert-rt-to-llvm,expand-math,expand-fma,expand-truncf,canonicalize,cse";

/// Kernels as modules of device code, and upstream operations for the host program beside them.
pub const LOWER_FOR_DEVICE: &str = "inline-programs,update-in-place,plan-buffers,convert-gir-to-gpu,\
     gpu.module(gpu.func(expand-math,canonicalize,cse)),gpu-narrow-indices,gpu-pack-launches,\
     gpu.module(gpu.func(canonicalize,cse)),convert-rt-to-llvm,canonicalize,cse";

/// The same of kernels alone.
pub const LOWER_KERNELS_FOR_DEVICE: &str = "convert-gir-to-gpu,gpu.module(gpu.func(expand-math,canonicalize,cse)),\
     gpu-narrow-indices,gpu.module(gpu.func(canonicalize,cse))";

/// A compilation for a processor, from a model to upstream operations.
pub const FOR_CPU: [&str; 5] = [SHAPES, STITCH, TILE, TENSORIZE, LOWER];
