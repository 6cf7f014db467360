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
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use sutura_ir::Registry;
use sutura_ir::diagnostics::Exit;
use sutura_ir::pass::PassRegistry;
use sutura_visible as visible;

pub use reduce::{Predicate, ReduceOptions, Reduction, reduce};
pub use reproducer::{pipeline_of, set_pipeline};

/// Stack of the thread that works: nesting that the parser lets pass fits well.
const STACK_BYTES: usize = 64 << 20;

/// The whole `main` of a reducer.
pub fn main(registry: impl Fn() -> Registry + Sync, passes: PassRegistry) -> ExitCode {
    let mut stderr = std::io::stderr();
    let args: Vec<String> = match std::env::args_os().skip(1).map(std::ffi::OsString::into_string).collect() {
        Ok(args) => args,
        Err(arg) => {
            let _ = writeln!(stderr, "error: argument {} is not UTF-8", visible::line(&arg.to_string_lossy()));
            return Exit::Usage.into();
        }
    };
    let args = match args::parse(&args) {
        Ok(Some(args)) => args,
        Ok(None) => {
            let written = std::io::stdout().write_all(args::help().as_bytes());
            return if written.is_ok() { Exit::Ok } else { Exit::System }.into();
        }
        Err(message) => {
            let _ = writeln!(stderr, "error: {}", visible::message(&message));
            return Exit::Usage.into();
        }
    };
    let pool = match rayon::ThreadPoolBuilder::new().num_threads(args.threads).stack_size(STACK_BYTES).build() {
        Ok(pool) => pool,
        Err(error) => {
            let _ = writeln!(stderr, "error: a thread cannot be started: {error}");
            return Exit::System.into();
        }
    };
    // What a panic says about itself goes to stderr before it gets here.
    let done = catch_unwind(AssertUnwindSafe(|| pool.install(|| tool::run(&registry, &passes, &args))));
    let done = done.unwrap_or_else(|_| {
        let message = "sutura-reduce stopped because of an error of its own; please report it".to_string();
        Err(tool::Failure::new(message, Exit::Internal))
    });
    match done {
        Ok(complete) => if complete { Exit::Ok } else { Exit::Interrupted }.into(),
        Err(failure) => {
            let _ = writeln!(stderr, "error: {}", failure.told());
            failure.exit.into()
        }
    }
}
