//! The pipelines of a compilation for a processor, in order: what becomes of a model up to upstream operations. They stand here, below
//! the tools, so that whatever runs a whole compilation without LLVM runs the same passes as `sutura compile`.
//!
//! Each is a pipeline on `builtin.module`. Before the first one the description of the machine is put into the module.

/// Sizes with names everywhere, and the program made simple.
pub const SHAPES: &str = "propagate-shapes,canonicalize,cse,graph-property-rewrite,canonicalize,propagate-shapes";

/// Fused regions.
pub const STITCH: &str = "propagate-reshapes,stitch";

/// Kernels of the regions.
pub const TILE: &str = "convert-graph-to-gir";

/// The machine's intrinsics in the kernels.
pub const TENSORIZE: &str = "tensorize,fold-launches,canonicalize,cse";

/// Upstream operations of the kernels and of the host program.
pub const LOWER_FOR_CPU: &str =
    "plan-buffers,convert-gir-to-cpu,convert-rt-to-llvm,expand-math,expand-fma,canonicalize,cse";

/// All of them.
pub const FOR_CPU: [&str; 5] = [SHAPES, STITCH, TILE, TENSORIZE, LOWER_FOR_CPU];
