//! `sutura-run`: artifacts without a compiler.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use sutura_ir::diagnostics::Exit;
use sutura_ir::diagnostics::exit;
use sutura_run::args::{BenchArgs, InspectArgs, RunArgs, Talking, VerifyArgs};
use sutura_run::artifacts::Artifacts;
use sutura_run::failure::Failure;
use sutura_run::shell::CompletionsArgs;
use sutura_run::talk::Talk;
use sutura_run::{answer, bench, devices, files, inspect, outcome, run, shell, verify};

/// Runs, inspects, times and verifies compiled models (.sutura artifacts). It has no compiler: `sutura compile` makes artifacts.
#[derive(Debug, Parser)]
#[command(name = "sutura-run", version, after_help = exit_codes(), max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    talking: Talking,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs an artifact on tensors from files, or on made ones
    Run(Box<RunArgs>),
    /// Times an artifact at many shapes
    Bench(Box<BenchArgs>),
    /// Shows what an artifact says about itself
    Inspect(InspectArgs),
    /// Says whether artifacts are as they were written, and run on this machine
    Verify(VerifyArgs),
    /// Shows the processor and the GPUs of this machine
    Devices,
    /// Writes a script with which a shell completes commands and flags
    Completions(CompletionsArgs),
}

fn exit_codes() -> String {
    use Exit::*;
    exit::help(&[Ok, Input, Usage, Unsupported, Corrupt, System, Mismatch, Internal, Interrupted])
}

fn main() -> ExitCode {
    files::remove_nothing_half_written();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return answer(error).into(),
    };
    let talk = Talk::new(&cli.talking);
    let Some(failure) = outcome("sutura-run", || dispatch(&cli.command, &talk)) else { return Exit::Ok.into() };
    talk.failure(&failure);
    failure.kind.exit().into()
}

fn dispatch(command: &Command, talk: &Talk) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(args, &Artifacts, talk),
        Command::Bench(args) => bench::bench(args, &Artifacts, talk),
        Command::Inspect(args) => inspect::inspect(args, talk),
        Command::Verify(args) => verify::verify(args, talk),
        Command::Devices => devices::devices(talk),
        Command::Completions(args) => shell::completions(args, Cli::command()),
    }
}
