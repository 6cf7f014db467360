//! What `--check-passes` says and writes when a pass changed the meaning of a program.

use std::io::Write;

use sutura_check::Change;
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::asm::{Resource, ResourceEntry, ResourceSection};
use sutura_ir::rewriter::clone_body;
use sutura_ir::{Context, Module};

use crate::Status;
use crate::output::Output;
use crate::session::Session;

/// Shows the change and writes a reproducer.
pub(crate) fn report(session: &mut Session<'_>, change: &Change) -> Status {
    let name = match &session.config.check_reproducer {
        Some(name) => name.clone(),
        None => format!("sutura-opt-{}.mlir", change.pass),
    };
    let written = write(session, &name, &reproducer(session.cx, change));
    let help = match &written {
        Ok(()) => format!(
            "`{name}` holds the program before the pass, and the pass: it repeats the error with \
                          `sutura-opt {name} --check-passes --pass-pipeline='{}'`",
            change.pipeline
        ),
        Err(_) => "without a reproducer, run the pipeline again with `--print-ir-before` of the pass".to_string(),
    };
    let diagnostic = change.diagnostic(session.cx).help(help);
    session.diagnostic(diagnostic);
    if let Err(message) = written {
        session.say(&format!("error: {message}\n"));
    }
    Status::Changed
}

/// The module before the pass, with the pipeline where `mlir-opt --run-reproducer` looks for it.
fn reproducer(cx: &Context, change: &Change) -> String {
    let mut module = Module::from_root(clone_body(cx, change.before.root())).expect("a copy of a module");
    *module.text_mut() = change.before.text().clone();
    let entry = |key: &str, value| ResourceEntry { key: key.to_string(), value };
    let entries = vec![
        entry("pipeline", Resource::String(change.pipeline.clone())),
        entry("disable_threading", Resource::Bool(false)),
        entry("verify_each", Resource::Bool(true)),
    ];
    let resources = &mut module.text_mut().resources;
    resources.retain(|section| !(section.external && section.name == "mlir_reproducer"));
    resources.push(ResourceSection { external: true, name: "mlir_reproducer".to_string(), entries });
    module_text(cx, &module, &PrintOptions::default())
}

fn write(session: &Session<'_>, name: &str, text: &str) -> Result<(), String> {
    let mut nowhere = std::io::sink();
    let mut output = Output::open(Some(name), session.cwd, &mut nowhere)?;
    output.write_all(text.as_bytes()).map_err(|e| format!("cannot write `{name}`: {e}"))?;
    output.commit()
}
