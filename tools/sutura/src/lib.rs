//! `sutura`: compiles models and runs them. [`main`] is the tool; [`run`] is the same without a process.
#![forbid(unsafe_code)]

mod artifact;
mod cache;
mod check;
mod cli;
mod compile;
mod costs;
mod dims;
mod doctor;
mod extract;
mod failure;
mod fmt;
mod graph_function;
mod host;
mod input;
mod kernels;
mod library;
mod likely;
mod machine;
mod model;
mod numerics;
mod pipeline;
mod probe;
mod remarks;
mod report;
mod reproducer;
mod resources;
mod schedules;
mod sizes;
mod storage;
mod target;
mod tune;
mod values;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use sutura_ir::diagnostics::{Exit, codes};
use sutura_output::command_line;

// Found at run time by the path that the build script sets.
use sutura_mlir_link as _;

use cli::{Cli, Command, CompileArgs, DebugCommand, Reading};
use failure::Failure;
use model::Compiled;
pub use pipeline::Watch;
use sutura_run::{answer, bench, devices, files, inspect, memory, outcome, shell, talk, tensors, verify};
use talk::Talk;

pub use sutura_import::onnx::GivenShape;

/// The whole `main` of the tool.
pub fn main() -> ExitCode {
    files::remove_nothing_half_written();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            return answer(error).into();
        }
    };
    let talk = Talk::new(&cli.talking);
    finish(&cli, &talk).into()
}

/// Runs a command line, the name of the tool first. What the tool would say on stderr is returned with its exit code; the
/// product goes where the arguments say.
pub fn run(args: &[impl Into<OsString> + Clone]) -> (Exit, String) {
    let cli = match Cli::try_parse_from(args.iter().cloned()) {
        Ok(cli) => cli,
        Err(error) => return (Exit::Usage, command_line::text(error)),
    };
    let (talk, said) = Talk::kept(&cli.talking);
    let exit = finish(&cli, &talk);
    (exit, said.text())
}

/// Does what `sutura check -q` does for this machine. `watch` looks at the program that was read, as `read`, and at that after each
/// stage. Inputs have the shapes of `--shape`. The exit code, what is said, and what was found.
pub fn check(model: &Path, shapes: &[GivenShape], watch: Watch) -> (Exit, String, Vec<String>) {
    watched(model, shapes, |args, talk| {
        let (done, found) = compile::check_watched(args, &talk.without_stages(), Some(watch));
        (done.map(drop), found)
    })
}

/// What a model uses, as `sutura check --json` writes it: a JSON object.
pub fn survey(model: &Path, shapes: &[GivenShape]) -> Option<String> {
    let args = arguments(model, shapes);
    let (quiet, _) = Talk::kept_silent();
    let survey = compile::surveyed(&args, &quiet).ok()?;
    serde_json::to_string(&survey).ok()
}

/// Does what `sutura compile -q` does for this machine, and lets `watch` look as [`check`] does.
pub fn compile(model: &Path, shapes: &[GivenShape], artifact: &Path, watch: Watch) -> (Exit, String, Vec<String>) {
    watched(model, shapes, |args, talk| compile::compile_watched(args, artifact, &talk.without_stages(), watch))
}

fn arguments(model: &Path, shapes: &[GivenShape]) -> CompileArgs {
    let reading = Reading { shape: shapes.to_vec(), ..Reading::default() };
    CompileArgs { model: model.to_owned(), reading, ..CompileArgs::default() }
}

/// Does some work with a model, and says how it ended, what was said, and what was found.
fn watched(
    model: &Path,
    shapes: &[GivenShape],
    work: impl FnOnce(&CompileArgs, &Talk) -> (Result<(), Failure>, Vec<String>),
) -> (Exit, String, Vec<String>) {
    let (talk, said) = Talk::kept_silent();
    let args = arguments(model, shapes);
    let mut found = Vec::new();
    let failure = outcome("sutura", || {
        let (result, watched) = work(&args, &talk);
        found = watched;
        result
    });
    let exit = failure.map_or(Exit::Ok, |failure| {
        talk.failure(&failure);
        failure.kind.exit()
    });
    (exit, said.text(), found)
}

/// Does the work, and says why if it is not done.
fn finish(cli: &Cli, talk: &Talk) -> Exit {
    let Some(failure) = outcome("sutura", || dispatch(&cli.command, talk)) else { return Exit::Ok };
    talk.failure(&failure);
    if failure.kind.exit().is_internal() {
        reproducer::keep(&cli.command, talk);
    }
    failure.kind.exit()
}

fn dispatch(command: &Command, talk: &Talk) -> Result<(), Failure> {
    match command {
        Command::Compile(args) => compile::compile(args, talk),
        Command::Run(args) => values::run_and_dump(args, talk),
        Command::Bench(args) => bench::bench(&args.bench, &Compiled { kernels: args.kernels.clone() }, talk),
        Command::Inspect(args) => inspect::inspect(args, talk),
        Command::Verify(args) => verify::verify(args, talk),
        Command::Check(args) => check::check(args, talk),
        Command::Debug { command: DebugCommand::Numerics(args) } => numerics::numerics(args, talk),
        Command::Debug { command: DebugCommand::Values(args) } => values::command(args, talk),
        Command::Extract(args) => extract::extract(args, talk),
        Command::Fmt(args) => fmt::fmt(args, talk),
        Command::Target(args) => target::target(args, talk),
        Command::Devices => devices::devices(talk),
        Command::Doctor => doctor::doctor(talk),
        Command::Completions(args) => shell::completions(args, Cli::command()),
        Command::Manual(args) => shell::manual(args, Cli::command()),
        Command::Explain { code } => explain(code),
    }
}

fn explain(code: &str) -> Result<(), Failure> {
    let page = codes::explain(code).ok_or_else(|| Failure::usage(format!("there is no code `{code}`")))?;
    let mut out = std::io::stdout();
    let written = out.write_all(page.as_bytes()).and_then(|()| out.flush());
    written.map_err(|e| Failure::io("write", std::path::Path::new("stdout"), &e))
}
