//! Passes. One folder per idea; `generic` holds those that know no dialect.
#![forbid(unsafe_code)]

pub mod generic;

use sutura_ir::pass::PassRegistry;

/// Adds all passes of this crate.
pub fn register(registry: &mut PassRegistry) {
    generic::register(registry);
}
