//! Assembly formats: how operations, types and attributes are written, apart from how text is scanned.

mod bytes;
pub mod format;
pub mod layout;
pub mod parse;
pub mod print;
mod text_info;

pub use bytes::{FIRST_OF_BYTES, bytes_of_text, text_of_bytes};
pub use text_info::{Aliased, Resource, ResourceEntry, ResourceSection, TextInfo};

/// Stands, in the text of an unregistered dialect's type or attribute, for a reference that is kept beside it.
pub const ALIAS_MARK: char = '\u{1}';
