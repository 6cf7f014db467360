//! The builtin dialect: `builtin.module` and `builtin.unrealized_conversion_cast`.

use crate::registry::{Dialect, DialectBuilder};

/// The builtin dialect.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinDialect;

impl Dialect for BuiltinDialect {
    const NAME: &'static str = "builtin";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("The types, attributes and top-level op that every program uses.");
    }
}
