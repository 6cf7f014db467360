//! Runs, inspects, times and verifies compiled models. `sutura-run` is this crate alone, which knows no LLVM; `sutura` has its
//! commands beside those that compile.
//!
//! * [`run`]: a model on tensors; [`Models`](run::Models) is where models come from;
//! * [`mod@bench`]: latencies at many shapes, beside a peer;
//! * [`inspect`], [`verify`], [`devices`]: what is there;
//! * [`talk`], [`failure`], [`files`]: messages, ends of commands, files that are written.
#![forbid(unsafe_code)]

pub mod args;
pub mod artifacts;
pub mod bench;
pub mod devices;
pub mod failure;
pub mod files;
pub mod image;
pub mod inspect;
pub mod memory;
pub mod profile;
mod progress;
pub mod python;
pub mod random;
pub mod run;
pub mod shell;
pub mod sizes;
pub mod talk;
pub mod tensors;
pub mod verify;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sutura_ir::diagnostics::Exit;
use sutura_output::command_line;

use failure::{Failure, Kind};

/// Shows what is to be said of a command line that asks for no work.
pub fn answer(error: clap::Error) -> Exit {
    let wanted = command_line::is_wanted(&error);
    match command_line::print(error) {
        _ if !wanted => Exit::Usage,
        Ok(()) => Exit::Ok,
        Err(error) => {
            // What cannot be written to stdout may still be said on stderr.
            let _ = writeln!(std::io::stderr(), "error: cannot write to stdout: {error}");
            Exit::System
        }
    }
}

/// Why some work was not done, if it was not.
pub fn outcome(tool: &str, work: impl FnOnce() -> Result<(), Failure>) -> Option<Failure> {
    // What a panic says about itself goes to stderr before it gets here.
    let result = catch_unwind(AssertUnwindSafe(work));
    let own = || format!("{tool} stopped because of an error of its own; please report it");
    result.unwrap_or_else(|_| Err(Failure::new(Kind::Internal, own()))).err()
}
