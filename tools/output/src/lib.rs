//! What tools write: whole or not at all, also when the user interrupts.
//!
//! A file is written beside its place and renamed ([`Pending`], [`replace`]). What lies there meanwhile, and temporary files
//! and folders, is known to the handler of interrupts, which removes it before the process ends ([`end_cleanly`]).
#![forbid(unsafe_code)]

#[cfg(feature = "clap")]
pub mod command_line;
mod files;
mod interrupt;

pub use files::{Pending, TemporaryFile, TemporaryFolder, folder_of, replace};
pub use interrupt::{end_cleanly, on_interrupt, remove_leftovers, uninterrupted};
