//! Fuzzing, with and without a special compiler. Without one, inputs are made from the project's own test files by mutations that know tokens,
//! and from declarations of operations. Input number `i` follows from the seed and `i` alone, so every finding repeats.
//!
//! A target is a function on a text that must not panic, overflow the stack or take longer than [`HANG`]. `main`
//! runs targets in processes of their own; see `cargo xtask fuzz`. A [`harness`] is the same on any bytes: the programs of `fuzz/afl`,
//! built with counters of what runs, let AFL++ look for inputs that reach what none has reached before.
#![forbid(unsafe_code)]

pub mod corpus;
pub mod drive;
pub mod generate;
pub mod harness;
pub mod mutate;
pub mod targets;
pub mod wire;

/// The longest time that one input may take.
pub const HANG: std::time::Duration = std::time::Duration::from_secs(5);
