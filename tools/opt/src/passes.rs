//! The pipeline of a part: where it comes from, its run, and what is said and kept when it fails.

use std::fmt::Write;

use sutura_check::{CheckError, CheckOptions, check_pipeline};
use sutura_ir::asm::print::op_text;
use sutura_ir::body::{Body, Module};
use sutura_ir::diagnostics::codes;
use sutura_ir::pass::{
    Event, Failure, Item, OpPassManager, PassError, PassFilter, PassRegistry, RunConfig, When, check_pass,
    parse_pipeline, place_passes, run_pipeline,
};
use sutura_ir::{Diagnostic, Diagnostics, Loc};

use crate::Status;
use crate::process::{print_options, verify_options};
use crate::reproducer::{self, Reproducer};
use crate::session::Session;
use crate::split::Part;
use crate::{check_passes, dumps};

/// The pipeline of the command line, if there is one. That it is right does not depend on the input.
pub(crate) fn given_pipeline(
    session: &mut Session<'_>,
    registry: &PassRegistry,
) -> Result<Option<OpPassManager>, Status> {
    let config = session.config;
    for pass in &config.passes {
        let mut diags = Diagnostics::default();
        let checked = check_pass(session.cx, registry, pass, &mut diags);
        diags.take().iter().for_each(|d| session.voice.diagnostic(session.cx, d));
        checked.map_err(|_| Status::Usage)?;
    }
    match &config.pipeline {
        Some(text) => read_pipeline(session, registry, "<pass-pipeline>", text, Status::Usage).map(Some),
        None => Ok(None),
    }
}

fn read_pipeline(
    session: &mut Session<'_>,
    registry: &PassRegistry,
    name: &str,
    text: &str,
    status: Status,
) -> Result<OpPassManager, Status> {
    let mut diags = Diagnostics::default();
    let manager = parse_pipeline(session.cx, registry, name, text, &mut diags);
    // A wrong command line is no diagnostic of the input.
    for diagnostic in diags.take() {
        session.voice.diagnostic(session.cx, &diagnostic);
    }
    manager.map_err(|_| status)
}

/// Writes a reproducer with the pipeline of the command line, after an error that no pass is to blame for.
pub(crate) fn reproduce_given(session: &mut Session<'_>, part: Part<'_>) {
    let config = session.config;
    let pipeline = match &config.pipeline {
        Some(text) => text.clone(),
        None => {
            let passes: Vec<String> = config.passes.iter().map(ToString::to_string).collect();
            format!("builtin.module({})", passes.join(","))
        }
    };
    if !config.no_reproducer && !config.run_reproducer {
        // What failed before weighs more.
        let _ = write_reproducer(session, &pipeline, part.text, None);
    }
}

/// Writes a reproducer where the command line says, else among the temporary files, and says where. Where that fails, it is
/// an error for one who asked for the file.
fn write_reproducer(
    session: &mut Session<'_>,
    pipeline: &str,
    program: &str,
    file: Option<&str>,
) -> Result<(), Status> {
    let config = session.config;
    let reproducer = Reproducer {
        pipeline: pipeline.to_string(),
        disable_threading: config.threads == 1,
        verify_each: config.verify_each,
    };
    let (file, input) = (file.or(config.reproducer.as_deref()), (session.file, session.part));
    match reproducer::write(session.cwd, file, input, &reproducer.file(program)) {
        Ok(said) => session.voice.note(&said),
        Err(message) if file.is_none() => session.voice.warning(codes::CANNOT_WRITE, &message),
        Err(message) => {
            session.voice.error(codes::CANNOT_WRITE, &message);
            return Err(Status::System);
        }
    }
    Ok(())
}

/// A pipeline with what its reproducer says of how to run it.
struct Chosen {
    manager: OpPassManager,
    verify_each: bool,
    one_thread: bool,
}

/// Runs the passes that the command line, or the input, asks for.
///
/// # Errors
/// As reported.
pub(crate) fn run(
    session: &mut Session<'_>,
    registry: &PassRegistry,
    part: Part<'_>,
    module: &mut Module,
) -> Result<(), Status> {
    let Some(mut chosen) = choose(session, registry, module)? else { return Ok(()) };
    if !chosen.one_thread {
        return run_chosen(session, registry, part, module, &mut chosen);
    }
    match rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(crate::STACK_BYTES).build() {
        Ok(pool) => pool.install(|| run_chosen(session, registry, part, module, &mut chosen)),
        Err(error) => {
            session.voice.error(codes::INTERNAL, &format!("threads cannot be started: {error}"));
            Err(Status::Internal)
        }
    }
}

fn choose(session: &mut Session<'_>, registry: &PassRegistry, module: &mut Module) -> Result<Option<Chosen>, Status> {
    let config = session.config;
    if config.run_reproducer {
        let Some(held) = Reproducer::take(module) else {
            let message = "the input holds no reproducer: no pipeline in `external_resources`, under `mlir_reproducer`";
            session.diagnostic(Diagnostic::error(module.op_ref(session.cx).loc(), message).code(codes::REPRODUCER));
            return Err(Status::Input);
        };
        let manager = read_pipeline(session, registry, "<mlir_reproducer>", &held.pipeline, Status::Input)?;
        return Ok(Some(Chosen { manager, verify_each: held.verify_each, one_thread: held.disable_threading }));
    }
    let manager = match given_pipeline(session, registry)? {
        Some(manager) => manager,
        None if config.passes.is_empty() => return Ok(None),
        None => place(session, module)?,
    };
    Ok(Some(Chosen { manager, verify_each: config.verify_each, one_thread: false }))
}

/// The passes given as flags, each where its operations are.
fn place(session: &mut Session<'_>, module: &Module) -> Result<OpPassManager, Status> {
    let again: Result<Vec<_>, String> = session.config.passes.iter().map(|p| p.again()).collect();
    let placed = again.and_then(|passes| place_passes(module.op_ref(session.cx), passes));
    let manager = placed.map_err(|message| {
        session.voice.error(codes::PASS_OPTION, &message);
        Status::Usage
    })?;
    if has_nested(&manager) {
        session.voice.note(&format!("passes run as --pass-pipeline='{manager}'"));
    }
    Ok(manager)
}

fn has_nested(manager: &OpPassManager) -> bool {
    manager.items().iter().any(|item| matches!(item, Item::Nested(_)))
}

fn run_chosen(
    session: &mut Session<'_>,
    registry: &PassRegistry,
    part: Part<'_>,
    module: &mut Module,
    chosen: &mut Chosen,
) -> Result<(), Status> {
    let config = session.config;
    let pipeline = chosen.manager.to_string();
    if config.dump_pipeline {
        let count = chosen.manager.passes().len();
        session.voice.text(&format!("Pass Manager with {count} passes:\n{pipeline}\n"));
    }
    let run_config = RunConfig {
        verify_each: chosen.verify_each,
        verify: verify_options(session),
        print_ir: printing(session),
        keep_spans: config.profile.is_some(),
        no_remarks: !config.hears_remarks(),
        trace: config.traced.clone(),
    };
    if run_config.print_ir.as_ref().is_some_and(|p| p.module_scope) && has_nested(&chosen.manager) {
        session.voice.note("nested operations are worked on one after the other, so that each dump is of one program");
    }
    let casts = if part.text.contains("unrealized_conversion_cast") { casts(session, module).0 } else { 0 };
    let mut last_text = None;
    let mut failed_to_write = None;
    let cx = session.cx;
    // A pipeline for another op is wrong as it is written: nothing is there to run again.
    let fits = chosen.manager.matches(module.op_ref(cx).name_str());
    let mut sink = |event| match event {
        Event::Diagnostic(diagnostic) => session.diagnostic(diagnostic),
        Event::Text(text) => session.voice.text(&text),
        Event::Dump(dump) => {
            if dump.when == When::Before && config.local_reproducer {
                last_text = Some(dump.text.clone());
                if !config.print_before.matches(dump.pass.argument) {
                    return;
                }
            }
            match &config.tree_dir {
                Some(folder) => {
                    let done = dumps::to_tree(&session.cwd.join(folder), session.part, &dump);
                    failed_to_write = failed_to_write.take().or(done.err());
                }
                None => {
                    let text = dumps::shown(config, &dump, session.voice.color());
                    session.voice.text(&text);
                }
            }
        }
    };
    let manager = &mut chosen.manager;
    let (report, result) = match config.check_passes.map(CheckOptions::with_seeds) {
        None => {
            let (report, result) = run_pipeline(cx, module, manager, &run_config, &mut sink);
            (report, result.map_err(CheckError::Pass))
        }
        Some(check) => {
            let (report, result) = check_pipeline(cx, module, manager, &run_config, &check, &mut sink);
            (report, result.map(drop))
        }
    };
    if config.statistics {
        let text = match config.statistics_list {
            true => report.statistics_list(&chosen.manager),
            false => report.statistics(&chosen.manager),
        };
        session.voice.text(&text);
    }
    session.timing.add(report.timing_rows(&chosen.manager));
    session.timing.add_spans(&report.spans);
    session.has_run = true;
    session.traced.extend(&report.traced);
    let failed = match &result {
        Err(CheckError::Pass(error)) if fits => Some(*error),
        _ => None,
    };
    let kept = keep_reproducers(session, part, &pipeline, &report.failure, failed, last_text);
    result.map_err(|error| match error {
        CheckError::Pass(error) => status_of(error),
        CheckError::Changed(change) => check_passes::report(session, registry, &change),
    })?;
    if let Some(message) = failed_to_write {
        session.voice.error(codes::CANNOT_WRITE, &message);
        return Err(Status::System);
    }
    kept?;
    warn_of_casts(session, module, casts);
    Ok(())
}

fn status_of(error: PassError) -> Status {
    match error {
        PassError::Failed => Status::Input,
        PassError::Unsupported => Status::Unsupported,
        PassError::Verification => Status::Verification,
        PassError::Internal => Status::Internal,
    }
}

/// What is printed around passes; with `--pass-pipeline-local-reproducer` also what precedes each.
fn printing(session: &Session<'_>) -> Option<sutura_ir::pass::IrPrinting> {
    let config = session.config;
    let options = print_options(session);
    let asked = dumps::printing(config, &options);
    if !config.local_reproducer {
        return asked;
    }
    let mut printing = asked.unwrap_or_else(|| sutura_ir::pass::IrPrinting {
        before: PassFilter::All,
        after: PassFilter::None,
        only_changed: false,
        on_failure: false,
        module_scope: true,
        with_old_text: false,
        print: std::sync::Arc::new(move |op| op_text(op, &options)),
    });
    printing.before = PassFilter::All;
    printing.module_scope = true;
    Some(printing)
}

/// Writes the reproducers that are asked for, and one of a failure.
fn keep_reproducers(
    session: &mut Session<'_>,
    part: Part<'_>,
    pipeline: &str,
    failure: &Option<Failure>,
    failed: Option<PassError>,
    last_text: Option<String>,
) -> Result<(), Status> {
    let config = session.config;
    let written = match &config.generate_reproducer {
        Some(file) => write_reproducer(session, pipeline, part.text, Some(file)),
        None => Ok(()),
    };
    let Some(error) = failed else { return written };
    // What is wrong with the input is said; a file beside it would not say more. A reproducer that fails is there already.
    let asked = config.reproducer.is_some() || config.local_reproducer;
    let wanted = asked || status_of(error).is_internal() && !config.run_reproducer;
    if let Some(failure) = failure.as_ref().filter(|_| config.expectations.is_none() || wanted) {
        session.voice.note(&said_of(failure));
    }
    if config.no_reproducer || !wanted {
        return written;
    }
    let kept = match (failure, last_text) {
        (Some(failure), Some(text)) => write_reproducer(session, &nested(failure), &text, None),
        _ => write_reproducer(session, pipeline, part.text, None),
    };
    written.and(kept)
}

/// The pass that failed as a pipeline of its own.
fn nested(failure: &Failure) -> String {
    let names: Vec<&str> = failure.path.iter().map(|label| label.op.as_str()).collect();
    format!("{}({}{}", names.join("("), failure.pass, ")".repeat(names.len()))
}

fn said_of(failure: &Failure) -> String {
    let mut text = format!("the pipeline failed in `{}`", failure.pass);
    if let Some(label) = failure.path.last() {
        let _ = write!(text, " on {label}");
    }
    text
}

// ---- casts

/// How many conversion casts there are, and where the first one is.
fn casts(session: &Session<'_>, module: &Module) -> (usize, Option<Loc>) {
    let name = session.cx.op_name("builtin.unrealized_conversion_cast");
    let (mut count, mut first) = (0, None);
    let mut pending: Vec<&Body> = vec![module.body()];
    while let Some(body) = pending.pop() {
        for op in body.preorder() {
            if body.name(op) == name {
                count += 1;
                first = first.or(Some(body.loc(op)));
            }
            pending.extend(body.nested(op));
        }
    }
    (count, first)
}

/// Casts that a pipeline leaves stand between what was converted and what was not.
fn warn_of_casts(session: &mut Session<'_>, module: &Module, before: usize) {
    let (left, Some(loc)) = casts(session, module) else { return };
    if left > before {
        let what = "'builtin.unrealized_conversion_cast' operations are left that were not in the input";
        let help = "convert what makes or uses these values too; nothing can run such a cast";
        let warning = Diagnostic::warning(loc, format!("{} {what}", left - before));
        session.diagnostic(warning.code(codes::CASTS_LEFT).help(help));
    }
}
