//! lit: runs tests that are files with RUN lines.
//!
//! The test language is that of LLVM's lit (with its internal shell), so the
//! same files run under both; `docs/testing.md` describes it. Commands that are
//! [`Tool`]s run in this process, so a suite needs no process per command and
//! can be part of `cargo test` (the feature `mimic`, module `mimic`).
//!
//! [`Suite`] finds tests and runs one; [`runner`] runs many; [`cli`] is the
//! command `sutura-lit`. Inside: `script` reads the directives of a file,
//! `subst` replaces `%s` and the like, `shell` parses and runs the lines,
//! `builtin` has `FileCheck`, `diff` and other commands.

#![forbid(unsafe_code)]

mod boolexpr;
mod builtin;
pub mod cli;
mod condition;
mod config;
mod glob;
#[cfg(feature = "mimic")]
pub mod mimic;
mod outcome;
pub mod report;
mod run;
pub mod runner;
mod script;
mod shell;
mod subst;
mod suite;
mod tool;
mod update;

pub use outcome::{Code, Outcome};
pub use suite::{Overrides, Suite, Test};
pub use tool::{Call, Tool, Tools};
pub use update::{Updated, update};
