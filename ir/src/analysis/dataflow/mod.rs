//! Sparse data-flow analysis: facts about values, carried along definitions and uses, branches, regions and calls.
//!
//! [`forward`] also finds out what is executed at all: what an analysis knows to be constant decides branches, and what
//! is not reached contributes nothing. [`backward`] carries facts from uses to definitions.
//!
//! A solution is an [`Analysis`](crate::analysis::Analysis) of the op whose program it is about: a pass asks for
//! `ForwardSolution<MyFacts>`.

pub mod backward;
pub mod forward;

use rustc_hash::FxHashMap;

use crate::analysis::Program;
use crate::body::{Block, Body, Value};

pub use backward::{Backward, BackwardSolution, solve_backward};
pub use forward::{Forward, ForwardSolution, solve_forward};

/// Where the facts of each body begin, by its number.
struct Places {
    first: FxHashMap<u64, First>,
}

#[derive(Clone, Copy)]
struct First {
    value: usize,
    block: usize,
    /// How many values the body had.
    values: usize,
}

impl Places {
    fn new(program: &Program<'_>) -> Self {
        let first = program.bodies().iter().map(|at| {
            let first = First { value: at.first_value, block: at.first_block, values: at.body.value_slots() };
            (at.body.id(), first)
        });
        Self { first: first.collect() }
    }

    /// # Panics
    /// When the value was made later.
    fn value(&self, body: &Body, value: Value) -> usize {
        let first = self.first[&body.id()];
        assert!(value.index() < first.values, "{value:?} is newer than the analysis");
        first.value + value.index()
    }

    fn block(&self, body: &Body, block: Block) -> usize {
        self.first[&body.id()].block + block.index()
    }
}
