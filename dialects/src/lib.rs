//! The dialects: a folder each, with operations, types, attributes, folds and interpretation.
#![forbid(unsafe_code)]

pub mod arith;
mod constant;
pub mod r#dyn;
mod flags;
pub mod gir;
mod show;

/// A registry in which every dialect of this crate is known.
pub fn all() -> sutura_ir::Registry {
    register_all(sutura_ir::Registry::default())
}

/// Adds every dialect of this crate.
pub fn register_all(registry: sutura_ir::Registry) -> sutura_ir::Registry {
    registry.with::<arith::ArithDialect>()
}
