//! Does a pass keep the meaning of a program? The interpreter runs the module's public functions on the same inputs
//! before and after each pass of a pipeline; the first pass after which a result differs is at fault.
//!
//! Inputs are random numbers, and edge values: NaN, infinities, zeros of both signs, dimensions of size 0 and, where
//! the program states a symbol's range, its smallest, likely and largest size. All follow from the seed, so a run
//! repeats.
//!
//! What cannot be compared is said: a function whose arguments have no random values, an operation without an
//! interpretation, a pass that gives a function another type.
#![forbid(unsafe_code)]

mod function;
mod inputs;
mod outcome;
mod pipeline;
mod sizes;

pub use inputs::{Input, Kind};
pub use pipeline::{Change, CheckError, Checked, check_pipeline};

/// How programs are tried.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Seeds of the random inputs.
    pub seeds: Vec<u64>,
    /// Operations that one run of a function may execute before it is given up.
    pub steps: u64,
    /// Elements that the arguments of one run may have together; larger sizes of symbols are not tried.
    pub elements: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self::with_seeds(3)
    }
}

impl CheckOptions {
    /// `count` seeds, 1 and up.
    pub fn with_seeds(count: u64) -> Self {
        Self { seeds: (1..=count).collect(), steps: 1 << 22, elements: 1 << 15 }
    }
}
