//! Passes on host programs.

mod plan;

use sutura_ir::pass::PassRegistry;

pub use plan::PLAN_BUFFERS;

/// Adds the passes.
pub fn register(registry: &mut PassRegistry) {
    registry.add(&PLAN_BUFFERS);
}
