//! Assembly formats: how operations, types and attributes are written, apart from how text is scanned.

pub mod format;
pub mod parse;
pub mod print;
