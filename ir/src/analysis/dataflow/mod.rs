//! Sparse data-flow analysis: facts about values, carried along definitions and uses, branches, regions and calls.
//!
//! [`forward`] also finds out what is executed at all: what an analysis knows to be constant decides branches, and what
//! is not reached contributes nothing. [`backward`] carries facts from uses to definitions.

pub mod backward;
pub mod forward;

pub use backward::{Backward, BackwardSolution, solve_backward};
pub use forward::{Forward, ForwardSolution, solve_forward};
