//! What tests of device code share: passes of the compiler, and what a missing tool means.

use sutura_dialects::rt::{GROUPS_ATTR, KERNEL_ATTR};
use sutura_dialects::text::parse_text;
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Context, Diagnostics, Op, Rewriter};

/// What `pipeline` makes of the module in `text`, in generic form, without what only the compiler understands.
pub(crate) fn lowered(text: &str, pipeline: &str) -> String {
    let cx = Context::new(sutura_dialects::all());
    let mut module = parse_text(&cx, "kernels.mlir", text).expect("kernels");
    let mut registry = PassRegistry::new();
    sutura_passes::register(&mut registry);
    let mut diags = Diagnostics::default();
    let mut manager = parse_pipeline(&cx, &registry, "test", pipeline, &mut diags).expect("a pipeline");
    let mut errors = Vec::new();
    let (_, result) = run_pipeline(&cx, &mut module, &mut manager, &RunConfig::default(), &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            errors.push(diagnostic.message);
        }
    });
    assert!(result.is_ok(), "{errors:#?}");
    let modules: Vec<Op> = module.body().preorder().collect();
    for op in modules {
        let Some(inside) = module.body_mut().nested_mut(op) else { continue };
        let functions: Vec<Op> = inside.preorder().collect();
        let mut rewriter = Rewriter::new(&cx, inside);
        for function in functions {
            for attr in [KERNEL_ATTR, GROUPS_ATTR] {
                rewriter.set_attr(function, attr, None);
            }
        }
    }
    module_text(&cx, &module, &PrintOptions::generic())
}
