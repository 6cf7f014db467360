//! The `dyn` dialect: symbolic sizes.

pub mod attr;
pub mod facts;
pub mod poly;

pub use attr::ShapeAttr;
pub use facts::{Facts, SymbolInfo};
pub use poly::Poly;
