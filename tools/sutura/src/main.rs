//! `sutura`: compiles models and runs them.
#![forbid(unsafe_code)]

mod artifact;
mod check;
mod cli;
mod compile;
mod costs;
mod devices;
mod failure;
mod files;
mod fmt;
mod input;
mod inspect;
mod likely;
mod machine;
mod pipeline;
mod probe;
mod profile;
mod remarks;
mod report;
mod resources;
mod run;
mod sizes;
mod talk;
mod target;
mod tensors;
mod tune;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use sutura_ir::diagnostics::codes;

// Found at run time by the path that the build script sets.
use sutura_mlir_link as _;

use cli::{Cli, Command};
use failure::{Failure, Kind};
use talk::Talk;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let wanted = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Nothing can be done where even this cannot be written.
            let _ = error.print();
            return if wanted { ExitCode::SUCCESS } else { ExitCode::from(Kind::Usage.exit_code()) };
        }
    };
    let talk = Talk::new(cli.message_format, cli.verbose, cli.quiet);
    files::remove_nothing_half_written();
    // What a panic says about itself goes to stderr before it gets here.
    let result = catch_unwind(AssertUnwindSafe(|| dispatch(&cli.command, &talk)));
    let failure = match result {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::new(Kind::Internal, "sutura stopped because of an error of its own; please report it"),
    };
    talk.failure(&failure);
    ExitCode::from(failure.kind.exit_code())
}

fn dispatch(command: &Command, talk: &Talk) -> Result<(), Failure> {
    match command {
        Command::Compile(args) => compile::compile(args, talk),
        Command::Run(args) => run::run(args, talk),
        Command::Inspect(args) => inspect::inspect(args),
        Command::Check(args) => check::check(args, talk),
        Command::Fmt(args) => fmt::fmt(args, talk),
        Command::Target(args) => target::target(args, talk),
        Command::Devices => devices::devices(talk),
        Command::Explain { code } => explain(code),
    }
}

fn explain(code: &str) -> Result<(), Failure> {
    let page = codes::explain(code).ok_or_else(|| Failure::usage(format!("there is no code `{code}`")))?;
    let mut out = std::io::stdout();
    let written = out.write_all(page.as_bytes()).and_then(|()| out.flush());
    written.map_err(|e| Failure::io("write", std::path::Path::new("stdout"), &e))
}
