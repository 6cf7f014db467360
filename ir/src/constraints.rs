//! The constraints that operation declarations name, with upstream's names and descriptions.
//!
//! Dialects declare their own with [`crate::type_constraints`], [`crate::attr_constraints`],
//! [`crate::keyword_attrs`], [`crate::enum_attr`] and [`crate::bit_enum_attr`].

mod attrs;
mod enums;
mod macros;
mod types;

pub use attrs::*;
pub use types::*;
