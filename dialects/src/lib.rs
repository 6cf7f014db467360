//! The dialects: a folder each, with operations, types, attributes, folds and interpretation.
#![forbid(unsafe_code)]

pub mod r#dyn;
pub mod gir;
