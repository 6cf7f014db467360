//! Dialect conversion: rewriting until only ops are left that a target declares legal, with types that change.
//!
//! A [`ConversionTarget`] says what is legal, a [`TypeConverter`] what types become, [`ConversionPatterns`] how ops are
//! rewritten. Ops are looked at in the order of the text; what a pattern leaves behind is legalized before the next op is
//! looked at.
//!
//! There is no rollback. A pattern sees the program as it is, because a value whose type changes is replaced at once by an
//! `unrealized_conversion_cast` from its replacement, and patterns get their operands with such casts looked through. Most
//! casts are unused in the end, or cancel out; the type converter *materializes* what remains. A pattern changes the IR
//! only if it applies: one that changes something and then does not apply is an internal error, said aloud. After an error
//! the program is well-formed but converted in part.
//!
//! When an op cannot be legalized, the error carries a tree of notes: which patterns were tried on it, why each did not
//! apply, which ops one that applied left behind, and why those could not be legalized.

mod blame;
mod casts;
mod driver;
mod pattern;
mod rewriter;
mod target;
mod types;

pub use casts::reconcile_unrealized_casts;
pub use driver::{
    ConversionAnalysis, ConversionOutcome, analyze_conversion, apply_full_conversion, apply_partial_conversion,
};
pub use pattern::{Adaptor, ConversionFn, ConversionPattern, ConversionPatterns};
pub use rewriter::ConversionRewriter;
pub use target::{ConversionTarget, Legality};
pub use types::{SignatureConversion, TypeConverter, TypeRule};
