//! Passes. One folder per idea; `generic` holds those that know no dialect.
#![forbid(unsafe_code)]

mod arithmetic;
pub mod attach_target;
pub mod check_combiners;
pub mod elementwise_to_graph;
mod elided;
pub mod expand_fma;
pub mod expand_math;
pub mod expand_operators;
pub mod expand_truncf;
pub mod fold_into_weights;
pub mod fold_launches;
mod functions;
pub mod generic;
pub mod gir;
pub mod gir_lowering;
pub mod gpu_narrow_indices;
pub mod gpu_pack_launches;
pub mod gpu_to_fibers;
pub mod gpu_to_llvm;
pub mod gpu_to_spirv;
pub mod graph_operator_rewrite;
pub mod graph_property_rewrite;
pub mod graph_to_gir;
pub mod inline_decided;
pub mod integer_products;
mod kernel_versions;
pub mod legalize_elements;
pub mod lower_quant_ops;
pub mod machine_code;
pub mod outline_regions;
pub mod propagate_reshapes;
pub mod raise_attention;
pub mod region;
mod row_threads;
pub mod rt;
pub mod rt_to_upstream;
pub mod scalars_to_tensors;
pub mod scf_for_to_while;
pub mod scf_to_cf;
pub mod shape;
pub mod split_complex;
pub mod split_products;
pub mod stages;
pub mod stitch;
pub mod tensorize;
#[cfg(test)]
mod testing;

use sutura_ir::pass::PassRegistry;

/// Adds all passes of this crate.
pub fn register(registry: &mut PassRegistry) {
    generic::register(registry);
    shape::register(registry);
    registry.add(&attach_target::ATTACH_TARGET);
    registry.add(&check_combiners::CHECK_COMBINERS);
    registry.add(&elementwise_to_graph::CONVERT_ELEMENTWISE_TO_GRAPH);
    registry.add(&expand_fma::EXPAND_FMA);
    registry.add(&expand_truncf::EXPAND_TRUNCF);
    registry.add(&expand_math::EXPAND_MATH);
    registry.add(&expand_operators::EXPAND_OPERATORS);
    registry.add(&fold_into_weights::FOLD_INTO_WEIGHTS);
    registry.add(&fold_launches::FOLD_LAUNCHES);
    registry.add(&gir::cache_hints::GIR_CACHE_HINTS);
    registry.add(&gir::unit_threads::GIR_UNIT_THREADS);
    registry.add(&gir::cost::PRINT_GIR_COST);
    registry.add(&gir::simplify::GIR_SIMPLIFY);
    registry.add(&gir_lowering::cpu::CONVERT_GIR_TO_CPU);
    registry.add(&gir_lowering::gpu::CONVERT_GIR_TO_GPU);
    rt::register(registry);
    registry.add(&gpu_to_llvm::CONVERT_GPU_TO_NVVM);
    registry.add(&gpu_to_llvm::CONVERT_GPU_TO_ROCDL);
    registry.add(&gpu_narrow_indices::GPU_NARROW_INDICES);
    registry.add(&gpu_pack_launches::GPU_PACK_LAUNCHES);
    registry.add(&gpu_to_fibers::CONVERT_GPU_TO_FIBERS);
    registry.add(&gpu_to_spirv::CONVERT_GPU_TO_SPIRV);
    registry.add(&graph_operator_rewrite::GRAPH_OPERATOR_REWRITE);
    registry.add(&graph_property_rewrite::GRAPH_PROPERTY_REWRITE);
    registry.add(&inline_decided::INLINE_DECIDED);
    registry.add(&integer_products::INTEGER_PRODUCTS);
    registry.add(&legalize_elements::LEGALIZE_ELEMENTS);
    registry.add(&lower_quant_ops::LOWER_QUANT_OPS);
    registry.add(&rt_to_upstream::CONVERT_RT_TO_LLVM);
    registry.add(&outline_regions::OUTLINE_REGIONS);
    registry.add(&scalars_to_tensors::SCALARS_TO_TENSORS);
    registry.add(&scf_for_to_while::SCF_FOR_TO_WHILE);
    registry.add(&scf_to_cf::CONVERT_SCF_TO_CF);
    registry.add(&raise_attention::RAISE_ATTENTION);
    registry.add(&propagate_reshapes::PROPAGATE_RESHAPES);
    registry.add(&split_complex::SPLIT_COMPLEX);
    registry.add(&split_products::SPLIT_PRODUCTS);
    registry.add(&stitch::STITCH);
    registry.add(&graph_to_gir::CONVERT_GRAPH_TO_GIR);
    registry.add(&graph_to_gir::SCHEDULE_REGIONS);
    registry.add(&tensorize::TENSORIZE);
}
