//! Symbolic shapes: propagation through a program, and where the types carry them.

mod control;
mod declare;
mod encodings;
mod propagate;
mod reasons;
mod rewrite;
mod structure;
mod symbols;

use sutura_ir::pass::PassRegistry;

pub use declare::{DECLARE_DIMS, declare_dims};
pub use encodings::{MATERIALIZE_ENCODINGS, STRIP_ENCODINGS};
pub use propagate::PROPAGATE_SHAPES;

/// Adds the passes of this module.
pub fn register(registry: &mut PassRegistry) {
    registry.add(&PROPAGATE_SHAPES);
    registry.add(&DECLARE_DIMS);
    registry.add(&MATERIALIZE_ENCODINGS);
    registry.add(&STRIP_ENCODINGS);
}
