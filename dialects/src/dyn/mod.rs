//! The `dyn` dialect: symbolic sizes.

pub mod facts;
pub mod poly;

pub use facts::{Facts, SymbolInfo};
pub use poly::Poly;
