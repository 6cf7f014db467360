//! One part of the input: parse, verify, run passes, print.

use std::io::Write;
use std::sync::Arc;

use sutura_check::{CheckError, CheckOptions, check_pipeline};
use sutura_ir::asm::print::{PrintOptions, module_text, op_text, write_module};
use sutura_ir::pass::{
    Event, IrPrinting, OpPassManager, PassError, PassFilter, PassRegistry, RunConfig, parse_pipeline, place_passes,
    run_pipeline,
};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Diagnostic, Diagnostics, Module};

use crate::session::Session;
use crate::split::Part;
use crate::{Status, check_passes};

pub(crate) fn process(
    session: &mut Session<'_>,
    passes: &PassRegistry,
    part: Part<'_>,
    output: &mut dyn Write,
) -> Status {
    match try_process(session, passes, part, output) {
        Ok(()) => Status::Ok,
        Err(status) => status,
    }
}

fn try_process(
    session: &mut Session<'_>,
    passes: &PassRegistry,
    part: Part<'_>,
    output: &mut dyn Write,
) -> Result<(), Status> {
    let mut module = parse(session, part)?;
    run_passes(session, passes, &mut module)?;
    let options = print_options(session);
    if session.config.verify_roundtrip {
        check_roundtrip(session, &module, &options)?;
    }
    let cx = session.cx;
    let written = session.timing.step("Output", || write_module(cx, &module, &options, output));
    written.map_err(|error| {
        session.say(&format!("error: cannot write the output: {error}\n"));
        Status::InputErrors
    })
}

fn report(session: &mut Session<'_>, mut diags: Diagnostics) {
    diags.take().into_iter().for_each(|d| session.diagnostic(d));
}

fn verify_options(session: &Session<'_>) -> VerifyOptions {
    VerifyOptions { allow_unregistered: session.config.allow_unregistered }
}

/// Parses and verifies a part.
fn parse(session: &mut Session<'_>, part: Part<'_>) -> Result<Module, Status> {
    let (cx, config) = (session.cx, session.config);
    let source = cx.sources().add_part(session.file, part.text, part.first_line).map_err(|error| {
        session.say(&format!("error: {error}\n"));
        Status::InputErrors
    })?;
    let mut diags = Diagnostics::default();
    let options = sutura_grammar::ParseOptions {
        allow_unregistered: config.allow_unregistered,
        threads: rayon::current_num_threads(),
    };
    let parsed = session.timing.step("Parser", || sutura_grammar::parse_module(cx, &source, &options, &mut diags));
    let verified = parsed.and_then(|module| {
        let options = verify_options(session);
        session.timing.step("Verifier", || verify(module.op_ref(cx), options, &mut diags))?;
        Ok(module)
    });
    if verified.is_err() && diags.errors() == 0 {
        session.say("internal error: the input was refused without a reason\n");
        return Err(Status::Internal);
    }
    report(session, diags);
    verified.map_err(|_| Status::InputErrors)
}

fn print_options(session: &Session<'_>) -> PrintOptions {
    let config = session.config;
    PrintOptions {
        generic: config.generic,
        debug_info: config.debug_info,
        local_scope: config.local_scope,
        discard_value_names: config.discard_names,
        elide_elements_larger_than: config.elide_elements,
        hex_elements_larger_than: config.hex_elements,
        elide_resource_strings_larger_than: config.elide_resources,
    }
}

// ---- passes

fn run_passes(session: &mut Session<'_>, passes: &PassRegistry, module: &mut Module) -> Result<(), Status> {
    let Some(mut manager) = pipeline(session, passes, module)? else { return Ok(()) };
    if session.config.dump_pipeline {
        session.say(&format!("Pass Manager with {} passes:\n{manager}\n", manager.passes().len()));
    }
    let session_config = session.config;
    let config = RunConfig {
        verify_each: session.config.verify_each,
        verify: verify_options(session),
        print_ir: ir_printing(session),
    };
    let cx = session.cx;
    let mut sink = |event| match event {
        Event::Diagnostic(diagnostic) => session.diagnostic(diagnostic),
        Event::Dump(text) => session.say(&text),
    };
    let check = session_config.check_passes.map(CheckOptions::with_seeds);
    let (report, result) = match check {
        None => {
            let (report, result) = run_pipeline(cx, module, &mut manager, &config, &mut sink);
            (report, result.map_err(CheckError::Pass))
        }
        Some(check) => {
            let (report, result) = check_pipeline(cx, module, &manager, &config, &check, &mut sink);
            (report, result.map(drop))
        }
    };
    if session.config.statistics {
        session.say(&report.statistics(&manager));
    }
    session.timing.add(report.timing_rows(&manager));
    result.map_err(|error| match error {
        CheckError::Pass(PassError::Failed) => Status::InputErrors,
        CheckError::Pass(PassError::Unsupported) => Status::Unsupported,
        CheckError::Pass(PassError::Verification) => Status::Verification,
        CheckError::Pass(PassError::Internal) => Status::Internal,
        CheckError::Changed(change) => check_passes::report(session, passes, &change),
    })
}

/// The pipeline of the command line, if there is one. That it is right does not depend on the input.
pub(crate) fn given_pipeline(
    session: &mut Session<'_>,
    passes: &PassRegistry,
) -> Result<Option<OpPassManager>, Status> {
    let (cx, config) = (session.cx, session.config);
    let Some(text) = &config.pipeline else { return Ok(None) };
    let mut diags = Diagnostics::default();
    let manager = parse_pipeline(cx, passes, "<pass-pipeline>", text, &mut diags);
    // A wrong command line is no diagnostic of the input.
    for diagnostic in diags.take() {
        let style = sutura_ir::diagnostics::RenderStyle::Plain;
        session.say(&sutura_ir::diagnostics::render(cx, &diagnostic, style));
    }
    manager.map(Some).map_err(|_| Status::Usage)
}

/// The pipeline to run on `module`, if there is one.
fn pipeline(
    session: &mut Session<'_>,
    passes: &PassRegistry,
    module: &Module,
) -> Result<Option<OpPassManager>, Status> {
    if let Some(manager) = given_pipeline(session, passes)? {
        return Ok(Some(manager));
    }
    let (cx, config) = (session.cx, session.config);
    if config.passes.is_empty() {
        return Ok(None);
    }
    let again: Result<Vec<_>, String> = config.passes.iter().map(|p| p.again()).collect();
    let manager = again.and_then(|passes| place_passes(module.op_ref(cx), passes)).map_err(|message| {
        session.say(&format!("error: {message}\n"));
        Status::Usage
    })?;
    let nested = manager.items().iter().any(|item| matches!(item, sutura_ir::pass::Item::Nested(_)));
    if nested {
        session.say(&format!("note: passes run as --pass-pipeline='{manager}'\n"));
    }
    Ok(Some(manager))
}

fn ir_printing(session: &Session<'_>) -> Option<IrPrinting> {
    let config = session.config;
    let wanted = config.print_before != PassFilter::None || config.print_after != PassFilter::None;
    if !wanted && !config.print_failed {
        return None;
    }
    let options = PrintOptions { local_scope: true, ..print_options(session) };
    Some(IrPrinting {
        before: config.print_before.clone(),
        after: config.print_after.clone(),
        only_changed: config.print_changed,
        on_failure: config.print_failed,
        print: Arc::new(move |op| op_text(op, &options)),
    })
}

// ---- round trip

/// Checks that custom and generic form parse back to what they were printed from.
///
/// Locations count in the generic form only: a custom form leaves out operations, such as terminators without operands,
/// and arguments of blocks, that then are where the text was read. Names of values count in each form as it writes them:
/// the custom form names values that have no name of their own.
fn check_roundtrip(session: &mut Session<'_>, module: &Module, options: &PrintOptions) -> Result<(), Status> {
    let cx = session.cx;
    for form in ["generic", "custom"] {
        let options = PrintOptions { generic: form == "generic", debug_info: true, ..options.clone() };
        let own_form = PrintOptions { debug_info: options.generic, ..options.clone() };
        let nameless = PrintOptions { generic: true, discard_value_names: true, ..own_form.clone() };
        let text = module_text(cx, module, &options);
        let name = format!("<{form} form of {}>", session.file);
        let source = cx.sources().add(name, text).map_err(|error| {
            session.say(&format!("error: {error}\n"));
            Status::InputErrors
        })?;
        let parse_options = sutura_grammar::ParseOptions {
            allow_unregistered: session.config.allow_unregistered,
            threads: rayon::current_num_threads(),
        };
        let mut diags = Diagnostics::default();
        let parsed = sutura_grammar::parse_module(cx, &source, &parse_options, &mut diags);
        report(session, diags);
        let same = parsed.is_ok_and(|back| {
            [&own_form, &nameless].iter().all(|form| module_text(cx, &back, form) == module_text(cx, module, form))
        });
        if !same {
            let loc = module.op_ref(cx).loc();
            session.diagnostic(Diagnostic::error(loc, format!("the {form} form does not parse back to the same")));
            return Err(Status::Internal);
        }
    }
    Ok(())
}
