//! The constraints that operation declarations name, with upstream's names and descriptions.
//!
//! Dialects declare their own with [`crate::type_constraints`], [`crate::attr_constraints`] and
//! [`crate::keyword_attrs`].

mod attrs;
mod macros;
mod types;

pub use attrs::*;
pub use types::*;
