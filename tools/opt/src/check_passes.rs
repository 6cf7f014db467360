//! What `--check-passes` says and writes when a pass changed the meaning of a program.

use sutura_check::{Change, CheckError, CheckOptions, check_pipeline};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::codes;
use sutura_ir::pass::{PassRegistry, RunConfig, parse_pipeline};
use sutura_ir::rewriter::clone_body;
use sutura_ir::verify::VerifyOptions;
use sutura_ir::{Context, Diagnostics, Module};
use sutura_reduce::{ReduceOptions, reduce, set_pipeline};

use crate::reproducer::write_temporary;
use crate::session::Session;
use crate::{Status, output};

/// Shows the change and writes a reproducer.
pub(crate) fn report(session: &mut Session<'_>, passes: &PassRegistry, change: &Change) -> Status {
    let text = reproducer(session, passes, change);
    let written = match &session.config.check_reproducer {
        Some(name) => output::write_file(&session.cwd.join(name), text.as_bytes()).map(|()| name.clone()),
        None => write_temporary("sutura-opt", &change.pass, None, &text).map(|path| path.display().to_string()),
    };
    let help = match &written {
        Ok(name) => format!(
            "`{name}` holds the program before the pass, made small, and the pass: it repeats the error with \
                          `sutura-opt {name} --check-passes --pass-pipeline='{}'`",
            change.pipeline
        ),
        Err(_) => "without a reproducer, run the pipeline again with `--print-ir-before` of the pass".to_string(),
    };
    let diagnostic = change.diagnostic(session.cx).help(help);
    session.diagnostic(diagnostic);
    if let Err(message) = written {
        session.voice.error(codes::CANNOT_WRITE, &message);
    }
    Status::Changed
}

/// How often the reproducer may be made smaller: some seconds of work.
const MAX_TESTS: usize = 300;

/// The module before the pass, as small as it still shows the change, with the pipeline where `mlir-opt
/// --run-reproducer` looks for it.
fn reproducer(session: &Session<'_>, passes: &PassRegistry, change: &Change) -> String {
    let cx = session.cx;
    let mut module = Module::from_root(clone_body(cx, change.before.root())).expect("a copy of a module");
    *module.text_mut() = change.before.text().clone();
    let seeds = session.config.check_passes.unwrap_or(1);
    let check = CheckOptions::with_seeds(seeds);
    let verify = VerifyOptions { allow_unregistered: session.config.allow_unregistered };
    let pipeline = &change.pipeline;
    let still_changes = |cx: &Context, candidate: &Module| {
        let manager = parse_pipeline(cx, passes, "<pass-pipeline>", pipeline, &mut Diagnostics::default());
        let Ok(manager) = manager else { return false };
        let mut module = Module::from_root(clone_body(cx, candidate.root())).expect("a copy of a module");
        let config = RunConfig { verify_each: true, verify, ..RunConfig::default() };
        let ran = check_pipeline(cx, &mut module, &manager, &config, &check, &mut |_| {}).1;
        matches!(ran, Err(CheckError::Changed(_)))
    };
    let options = ReduceOptions {
        allow_unregistered: session.config.allow_unregistered,
        max_tests: MAX_TESTS,
        ..ReduceOptions::default()
    };
    // Without a pipeline that parses back nothing is reduced.
    if still_changes(cx, &module) {
        reduce(cx, &mut module, &still_changes, &options, &mut |_| {});
    }
    set_pipeline(&mut module, &change.pipeline);
    module_text(cx, &module, &PrintOptions::default())
}
