//! Passes that work on any dialect, through traits and interfaces only.

mod canonicalize;
mod cse;
mod reconcile_unrealized_casts;
mod strip_debuginfo;
mod symbol_dce;

use sutura_ir::pass::PassRegistry;

pub use canonicalize::CANONICALIZE;
pub use cse::CSE;
pub use reconcile_unrealized_casts::RECONCILE_UNREALIZED_CASTS;
pub use strip_debuginfo::STRIP_DEBUGINFO;
pub use symbol_dce::SYMBOL_DCE;

/// Adds the generic passes.
pub fn register(registry: &mut PassRegistry) {
    for pass in [&CANONICALIZE, &CSE, &RECONCILE_UNREALIZED_CASTS, &STRIP_DEBUGINFO, &SYMBOL_DCE] {
        registry.add(pass);
    }
}
