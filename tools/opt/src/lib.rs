//! The driver of IR: reads a program, runs passes on it, prints it. A tool with other dialects and passes is
//!
//! ```no_run
//! use std::process::ExitCode;
//! use sutura_ir::{Registry, pass::PassRegistry};
//!
//! fn main() -> ExitCode {
//!     let mut passes = PassRegistry::new();
//!     sutura_passes::register(&mut passes);
//!     sutura_opt::main(Registry::default, passes)
//! }
//! ```
//!
//! [`Opt::run`] is the same without a process: what it reads and writes is given to it.
#![forbid(unsafe_code)]

mod args;
mod check_passes;
mod dumps;
mod expect;
mod fill;
mod flags;
mod help;
mod legal;
mod output;
mod passes;
mod process;
pub mod remarks;
pub mod reproducer;
mod say;
mod session;
mod split;
mod timing;

use std::any::Any;
use std::io::{IsTerminal, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use sutura_ir::diagnostics::codes;
use sutura_ir::pass::PassRegistry;
use sutura_ir::{Context, Registry};

pub use sutura_ir::diagnostics::Exit as Status;

/// What a run reads and writes.
#[allow(missing_debug_implementations)]
pub struct Io<'a> {
    /// Arguments without the program's name.
    pub args: &'a [String],
    /// Standard input; read only if it is asked for.
    pub stdin: &'a mut (dyn Read + Send),
    /// What relative file names are relative to.
    pub cwd: &'a Path,
    /// Standard output.
    pub stdout: &'a mut (dyn Write + Send),
    /// Standard error.
    pub stderr: &'a mut (dyn Write + Send),
    /// Colours on standard error.
    pub color: bool,
}

/// Dialects and passes of a driver.
#[allow(missing_debug_implementations)]
pub struct Opt<R> {
    /// Makes the registry of dialects.
    pub registry: R,
    /// The passes.
    pub passes: PassRegistry,
}

/// Stack of each thread: nesting that the parser lets pass fits well.
const STACK_BYTES: usize = 64 << 20;

impl<R: Fn() -> Registry + Sync> Opt<R> {
    /// Runs once.
    pub fn run(&self, io: Io<'_>) -> Status {
        let Io { args, stdin, cwd, stdout, stderr, color } = io;
        let config = match args::parse(args, &self.passes) {
            Ok(config) => config,
            Err(wrong) => {
                say::Voice::new(stderr, wrong.format, color).error(wrong.code, &wrong.message);
                return Status::Usage;
            }
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(config.threads).stack_size(STACK_BYTES).build();
        let format = config.message_format;
        let color = config.color.unwrap_or(color);
        let pool = match pool {
            Ok(pool) => pool,
            Err(error) => {
                let message = format!("threads cannot be started: {error}");
                say::Voice::new(stderr, format, color).error(codes::INTERNAL, &message);
                return Status::Internal;
            }
        };
        let done = catch_unwind(AssertUnwindSafe(|| {
            // Made here and not by a worker, where the system's allocator asks for memory page by page.
            let cx = match Context::try_new((self.registry)()) {
                Ok(cx) => cx,
                Err(error) => {
                    let message = format!("internal error: {error}");
                    say::Voice::new(&mut *stderr, format, color).error(codes::INTERNAL, &message);
                    return Status::Internal;
                }
            };
            pool.install(|| session::run(self, &cx, config, Io { args, stdin, cwd, stdout, stderr, color }))
        }));
        done.unwrap_or_else(|panic| {
            let text = format!("internal error: {}; please report it with the input", panic_text(&*panic));
            say::Voice::new(stderr, format, color).error(codes::INTERNAL, &text);
            Status::Internal
        })
    }
}

/// What a panic said.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

/// The whole `main` of a driver.
pub fn main(registry: impl Fn() -> Registry + Sync, passes: PassRegistry) -> ExitCode {
    let args: Vec<String> = match std::env::args_os().skip(1).map(std::ffi::OsString::into_string).collect() {
        Ok(args) => args,
        Err(arg) => {
            let shown = arg.to_string_lossy();
            let _ = writeln!(std::io::stderr(), "error: argument {} is not UTF-8", sutura_visible::line(&shown));
            return Status::Usage.into();
        }
    };
    sutura_output::end_cleanly(Status::Interrupted.code());
    let said = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let forced = said("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    let color = said("NO_COLOR").is_none() && (forced || std::io::stderr().is_terminal());
    let io = Io {
        args: &args,
        stdin: &mut std::io::stdin(),
        cwd: Path::new(""),
        stdout: &mut std::io::stdout(),
        stderr: &mut std::io::stderr(),
        color,
    };
    Opt { registry, passes }.run(io).into()
}

#[cfg(doctest)]
#[doc = include_str!("../../../docs/extending.md")]
struct Extending;
