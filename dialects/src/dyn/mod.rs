//! The `dyn` dialect: symbolic sizes.

pub(crate) mod asm;
pub mod attr;
mod bounds;
pub mod facts;
pub mod instance;
pub mod interp;
pub mod ops;
pub mod poly;
mod spec;

pub use attr::ShapeAttr;
pub use bounds::{Bounds, greater, is_at_most};
pub use facts::{Facts, SymbolInfo};
pub use instance::Instance;
pub use ops::{DynDialect, EqualOp, SymbolOp};
pub use poly::Poly;
pub use spec::DimSpec;
