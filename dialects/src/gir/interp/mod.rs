//! The counting interpreter: what a kernel means, and what it moves.
//!
//! It runs every group, in an order that must not matter, and checks at run time what the verifier proves: indices in
//! range, every element of an `out` view written exactly once, nothing read before it is written, spaces not
//! overfull, units that exchange data synchronised, windows equal. It is the oracle for every rewrite and lowering.

mod call;
mod code;
mod copies;
mod counters;
mod elements;
mod machine;
mod memory;
mod moves;
mod numeric;
#[cfg(test)]
mod tests;
mod tile;

pub(super) use call::register;
pub use call::{Options, Settings, run_kernel, run_kernel_in_place, run_kernel_op};
pub use counters::{Counters, Traffic};
pub use elements::InPlace;
