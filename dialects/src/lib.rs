//! The dialects: a folder each, with operations, types, attributes, folds and interpretation.
#![forbid(unsafe_code)]

pub mod arith;
mod asm;
mod branches;
mod canonicalization;
pub mod cf;
pub mod complex;
mod constant;
pub mod r#dyn;
mod effects;
pub mod elements;
pub mod func;
pub mod gir;
pub mod gpu;
pub mod graph;
mod interp;
pub mod llvm;
pub mod math;
pub mod memref;
mod names;
pub mod nvvm;
pub mod quant;
mod registers;
pub mod rocdl;
pub mod routines;
pub mod rt;
pub mod scf;
pub mod schedule;
mod shapes;
mod show;
mod signature;
pub mod slices;
pub mod spirv;
mod switch;
pub mod target;
pub mod tensor;
pub mod text;
pub mod vector;
mod words;

/// A registry in which every dialect of this crate is known.
pub fn all() -> sutura_ir::Registry {
    register_all(sutura_ir::Registry::default())
}

/// Adds every dialect of this crate.
pub fn register_all(registry: sutura_ir::Registry) -> sutura_ir::Registry {
    let mut registry = registry
        .with::<func::FuncDialect>()
        .with::<arith::ArithDialect>()
        .with::<cf::ControlFlowDialect>()
        .with::<scf::ScfDialect>()
        .with::<gir::GirDialect>()
        .with::<target::TargetDialect>()
        .with::<rt::RtDialect>()
        .with::<gpu::GpuDialect>()
        .with::<math::MathDialect>()
        .with::<complex::ComplexDialect>()
        .with::<quant::QuantDialect>()
        .with::<tensor::TensorDialect>()
        .with::<memref::MemRefDialect>()
        .with::<vector::VectorDialect>()
        .with::<llvm::LlvmDialect>()
        .with::<nvvm::NvvmDialect>()
        .with::<rocdl::RocdlDialect>()
        .with::<spirv::SpirvDialect>()
        .with::<r#dyn::DynDialect>()
        .with::<schedule::ScheduleDialect>()
        .with::<graph::GraphDialect>();
    interp::attach_builtin(&mut registry);
    registry
}
