//! Passes on host programs.

mod in_place;
mod inline;
mod plan;
mod recursion;
mod routines;

use sutura_ir::pass::PassRegistry;

pub use in_place::UPDATE_IN_PLACE;
pub use inline::INLINE_PROGRAMS;
pub use plan::PLAN_BUFFERS;
pub(crate) use routines::routine_without_devices;

/// Adds the passes.
pub fn register(registry: &mut PassRegistry) {
    registry.add(&INLINE_PROGRAMS);
    registry.add(&UPDATE_IN_PLACE);
    registry.add(&PLAN_BUFFERS);
}
