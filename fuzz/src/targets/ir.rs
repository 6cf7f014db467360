//! Parser, printer, verifier and passes.

use std::sync::OnceLock;

use sutura_interp::random::Random;
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::{RenderStyle, render};
use sutura_ir::pass::{Anchor, Event, PassError, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module};

/// What the first line of an input of the target `pipeline` begins with.
pub(super) const PIPELINE: &str = "// PIPELINE: ";

/// The same of the target `perturb`, with a seed behind it.
pub(super) const PERTURB: &str = "// PERTURB: ";

fn read(cx: &Context, text: &str, allow_unregistered: bool) -> (Option<Module>, Diagnostics) {
    let mut diags = Diagnostics::default();
    let Ok(source) = cx.sources().add("input.mlir", text.to_string()) else { return (None, diags) };
    let options = sutura_grammar::ParseOptions { allow_unregistered, ..Default::default() };
    let module = sutura_grammar::parse_module(cx, &source, &options, &mut diags);
    (module.ok(), diags)
}

fn said(cx: &Context, diags: &Diagnostics) -> String {
    diags.iter().map(|d| render(cx, d, RenderStyle::Plain)).collect()
}

/// A module, or errors that can be shown.
pub(crate) fn parse(cx: &Context, text: &str) -> Result<(), String> {
    for allow_unregistered in [false, true] {
        let (module, diags) = read(cx, text, allow_unregistered);
        let said = said(cx, &diags);
        if module.is_none() && (diags.errors() == 0 || said.is_empty()) {
            return Err("the text was refused without a reason".to_string());
        }
    }
    Ok(())
}

/// Errors of a text as they are shown, one by one.
pub(crate) fn errors(cx: &Context, text: &str) -> Vec<String> {
    let (_, diags) = read(cx, text, true);
    diags.iter().map(|d| render(cx, d, RenderStyle::Plain)).collect()
}

/// The module of a text, if it is right.
pub(crate) fn valid(cx: &Context, text: &str, allow_unregistered: bool) -> Result<Option<Module>, String> {
    let (Some(module), _) = read(cx, text, allow_unregistered) else { return Ok(None) };
    let mut diags = Diagnostics::default();
    match verify(module.op_ref(cx), VerifyOptions { allow_unregistered }, &mut diags) {
        Ok(()) => Ok(Some(module)),
        Err(_) if diags.errors() == 0 => Err("the module was refused without a reason".to_string()),
        Err(_) => {
            said(cx, &diags);
            Ok(None)
        }
    }
}

pub(crate) fn round_trip(cx: &Context, text: &str) -> Result<(), String> {
    match valid(cx, text, true)? {
        Some(module) => prints_as_itself(cx, &module),
        None => Ok(()),
    }
}

/// A program in other words, which follow from the first line, is the same program.
pub(super) fn perturb(cx: &Context, text: &str) -> Result<(), String> {
    let Some((seed, text)) = text.strip_prefix(PERTURB).and_then(|t| t.split_once('\n')) else { return Ok(()) };
    let Some(module) = valid(cx, text, true)? else { return Ok(()) };
    let mut random = Random::new(seed.parse().unwrap_or_default());
    let changed = crate::mutate::perturbed(text, &mut random);
    let options = PrintOptions { discard_value_names: true, ..PrintOptions::generic() };
    let (other, diags) = read(cx, &changed, true);
    let other = other.ok_or_else(|| format!("in other words it is refused:\n{}\n{changed}", said(cx, &diags)))?;
    let (wanted, found) = (module_text(cx, &module, &options), module_text(cx, &other, &options));
    if found == wanted {
        Ok(())
    } else {
        Err(format!("in other words it is something else:\n{changed}\n{found}\nwanted\n{wanted}"))
    }
}

fn prints_as_itself(cx: &Context, module: &Module) -> Result<(), String> {
    // The custom form names values that have no name of their own.
    let generic = PrintOptions { discard_value_names: true, ..PrintOptions::generic() };
    let wanted = module_text(cx, module, &generic);
    for options in [PrintOptions::generic(), PrintOptions::default()] {
        let text = module_text(cx, module, &options);
        let (back, diags) = read(cx, &text, true);
        let form = if options.generic { "generic" } else { "custom" };
        let Some(back) = back else {
            return Err(format!("the {form} form does not parse back:\n{}\n{text}", said(cx, &diags)));
        };
        let found = module_text(cx, &back, &generic);
        if found != wanted {
            return Err(format!("the {form} form parses back to something else:\n{text}\n{found}\nwanted\n{wanted}"));
        }
    }
    Ok(())
}

/// Verifies a module; one that is right prints and parses back.
pub(super) fn verify_and_print(cx: &Context, text: &str) -> Result<(), String> {
    let (Some(module), _) = read(cx, text, false) else { return Ok(()) };
    // What is wrong can be printed too, in generic form.
    drop(module_text(cx, &module, &PrintOptions::generic()));
    match valid(cx, text, false)? {
        Some(module) => prints_as_itself(cx, &module),
        None => Ok(()),
    }
}

fn passes() -> &'static PassRegistry {
    static PASSES: OnceLock<PassRegistry> = OnceLock::new();
    PASSES.get_or_init(|| {
        let mut passes = PassRegistry::new();
        sutura_passes::register(&mut passes);
        passes
    })
}

/// A pipeline of a few passes, each where it runs.
pub(super) fn random_pipeline(random: &mut Random) -> String {
    let all = passes().passes();
    let mut parts = Vec::new();
    for _ in 0..random.range(1, 4) {
        let info = crate::mutate::pick(random, &all);
        let name = info.argument;
        parts.push(match info.anchor {
            Anchor::Op("builtin.module") => name.to_string(),
            Anchor::Op(op) => format!("{op}({name})"),
            Anchor::Any if random.range(0, 1) == 0 => name.to_string(),
            Anchor::Any => format!("func.func({name})"),
        });
    }
    format!("builtin.module({})", parts.join(","))
}

/// Runs the pipeline of the first line on the rest.
pub(super) fn pipeline(cx: &Context, text: &str) -> Result<(), String> {
    let Some((pipeline, text)) = text.strip_prefix(PIPELINE).and_then(|t| t.split_once('\n')) else { return Ok(()) };
    let Some(mut module) = valid(cx, text, false)? else { return Ok(()) };
    let manager = parse_pipeline(cx, passes(), "pipeline", pipeline, &mut Diagnostics::default());
    let Ok(mut manager) = manager else { return Ok(()) };
    let config = RunConfig { verify_each: true, ..RunConfig::default() };
    let mut events = String::new();
    let mut sink = |event| {
        if let Event::Diagnostic(d) = event {
            events += &render(cx, &d, RenderStyle::Plain);
        }
    };
    match run_pipeline(cx, &mut module, &mut manager, &config, &mut sink).1 {
        Ok(()) => prints_as_itself(cx, &module),
        Err(PassError::Failed | PassError::Unsupported) if !events.is_empty() => Ok(()),
        Err(error) => Err(format!("the pipeline ended with {error:?}:\n{events}")),
    }
}
