//! ONNX models through a compilation, up to where MLIR gets its text.

use std::sync::OnceLock;

use sutura_import::onnx::{OnnxModel, import};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::{RenderStyle, render};
use sutura_ir::pass::{Event, PassError, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, DYNAMIC, Diagnostics, Module};
use sutura_passes::stages;

use super::{Planted, Verdict};

/// Larger models say nothing new and cost time.
const MAX_MODEL: usize = 16 << 10;

/// The machine: one with vectors, whatever the fuzzer runs on.
const MACHINE: &str = "attach-target{name=x86_avx2}";

/// A model is refused with a reason, or is imported as a module that verifies; each stage then leaves one that verifies, or says why
/// it cannot.
pub(super) fn run(input: &[u8], planted: Planted) -> Verdict {
    if input.len() > MAX_MODEL {
        return Ok(());
    }
    // Without a folder, so that no file beside is read.
    let model = match OnnxModel::from_bytes(input.to_vec(), None) {
        Ok(model) => model,
        Err(error) if error.to_string().is_empty() => return Err("the model was refused without a reason".to_string()),
        Err(_) => return Ok(()),
    };
    let cx = Context::new(sutura_dialects::all());
    let mut diags = Diagnostics::default();
    let mut module = match import(&cx, &model, &mut diags) {
        Ok(module) => module,
        Err(error) if error.to_string().is_empty() => return Err("the model was refused without a reason".to_string()),
        Err(_) => return Ok(()),
    };
    let mut diags = Diagnostics::default();
    if verify(module.op_ref(&cx), VerifyOptions::default(), &mut diags).is_err() {
        let said: String = diags.iter().map(|d| render(&cx, d, RenderStyle::Plain)).collect();
        return Err(format!("the import made a module that does not verify:\n{said}"));
    }
    if planted == Planted::Yes {
        count_rows(&cx, &module);
    }
    for passes in std::iter::once(MACHINE).chain(stages::FOR_CPU) {
        if !stage(&cx, &mut module, passes)? {
            return Ok(());
        }
    }
    drop(module_text(&cx, &module, &PrintOptions::generic()));
    Ok(())
}

/// Runs a stage; false when it refused the program in words.
fn stage(cx: &Context, module: &mut Module, passes: &str) -> Result<bool, String> {
    let pipeline = format!("builtin.module({passes})");
    let manager = parse_pipeline(cx, registry(), "stage", &pipeline, &mut Diagnostics::default());
    let mut manager = manager.map_err(|_| format!("no pipeline: {pipeline}"))?;
    let config = RunConfig { verify_each: true, no_remarks: true, ..RunConfig::default() };
    let mut said = String::new();
    let mut sink = |event| {
        if let Event::Diagnostic(diagnostic) = event {
            said += &render(cx, &diagnostic, RenderStyle::Plain);
        }
    };
    match run_pipeline(cx, module, &mut manager, &config, &mut sink).1 {
        Ok(()) => Ok(true),
        Err(PassError::Failed | PassError::Unsupported) if !said.is_empty() => Ok(false),
        Err(error) => Err(format!("`{passes}` ended with {error:?}:\n{said}")),
    }
}

fn registry() -> &'static PassRegistry {
    static PASSES: OnceLock<PassRegistry> = OnceLock::new();
    PASSES.get_or_init(|| {
        let mut passes = PassRegistry::new();
        sutura_passes::register(&mut passes);
        passes
    })
}

/// The planted fault: elements are divided by the size of a row, which may be none.
fn count_rows(cx: &Context, module: &Module) {
    module.op_ref(cx).walk(&mut |op| {
        for shape in op.result_types().filter_map(|ty| cx.shape(ty)) {
            if let [rest @ .., row] = shape
                && !shape.contains(&DYNAMIC)
            {
                let elements = rest.iter().fold(*row, |all, size| all.saturating_mul(*size));
                std::hint::black_box(elements / *row);
            }
        }
    });
}
