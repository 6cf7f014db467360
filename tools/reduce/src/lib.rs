//! Makes programs smaller that show something: a crash, an error, a wrong result. A tool for other dialects and passes is
//!
//! ```no_run
//! use std::process::ExitCode;
//! use sutura_ir::{Registry, pass::PassRegistry};
//!
//! fn main() -> ExitCode {
//!     let mut passes = PassRegistry::new();
//!     sutura_passes::register(&mut passes);
//!     sutura_reduce::main(Registry::default, passes)
//! }
//! ```
//!
//! [`reduce`] is the same on a module, with a predicate in Rust.
#![forbid(unsafe_code)]

mod args;
mod child;
mod edit;
mod pipeline;
mod reduce;
mod reproducer;
mod site;
mod tool;

use std::io::Write;
use std::process::ExitCode;

use sutura_ir::Registry;
use sutura_ir::pass::PassRegistry;

pub use reduce::{Predicate, ReduceOptions, Reduction, reduce};
pub use reproducer::{pipeline_of, set_pipeline};

/// Stack of the thread that works: nesting that the parser lets pass fits well.
const STACK_BYTES: usize = 64 << 20;

/// Exit status after an interrupt, as a shell has it.
const INTERRUPTED: u8 = 130;

/// The whole `main` of a reducer.
pub fn main(registry: impl Fn() -> Registry + Sync, passes: PassRegistry) -> ExitCode {
    let mut stderr = std::io::stderr();
    let args: Vec<String> = match std::env::args_os().skip(1).map(std::ffi::OsString::into_string).collect() {
        Ok(args) => args,
        Err(arg) => {
            let _ = writeln!(stderr, "error: argument {} is not UTF-8", arg.to_string_lossy());
            return ExitCode::from(2);
        }
    };
    let args = match args::parse(&args) {
        Ok(Some(args)) => args,
        Ok(None) => {
            return ExitCode::from(u8::from(std::io::stdout().write_all(args::HELP.as_bytes()).is_err()));
        }
        Err(message) => {
            let _ = writeln!(stderr, "error: {message}");
            return ExitCode::from(2);
        }
    };
    let pool = match rayon::ThreadPoolBuilder::new().num_threads(args.threads).stack_size(STACK_BYTES).build() {
        Ok(pool) => pool,
        Err(error) => {
            let _ = writeln!(stderr, "error: a thread cannot be started: {error}");
            return ExitCode::FAILURE;
        }
    };
    let done = pool.install(|| tool::run(&registry, &passes, &args));
    match done {
        Ok(complete) => ExitCode::from(if complete { 0 } else { INTERRUPTED }),
        Err(failure) => {
            let _ = writeln!(stderr, "error: {}", failure.message);
            ExitCode::from(failure.status)
        }
    }
}
