//! What can be wrong with an ONNX file.

use std::{fmt, path::PathBuf};

use sutura_input::InputError;

use super::sniff::FileKind;

/// Why a file is not a readable ONNX model.
///
/// The text does not name the file, except in [`OnnxError::Read`]: the caller
/// knows what it asked for.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: InputError },

    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,

    /// The file is something else.
    #[error("not an ONNX model: this looks like {kind}")]
    OtherFormat { kind: FileKind },

    /// The file is neither a protobuf nor anything recognised.
    #[error("not an ONNX model: no protobuf field begins at byte {offset}")]
    NotProtobuf { offset: usize },

    /// The file ends inside a field.
    #[error(
        "the file is truncated: `{field}` at byte {offset} needs {needed} bytes, \
         {present} are left; was a download or copy interrupted?"
    )]
    Truncated {
        /// Field of the model that is cut off.
        field: &'static str,
        /// Where its content begins.
        offset: usize,
        needed: u64,
        present: usize,
    },

    /// A protobuf, but not one that follows ONNX's schema.
    #[error("the model is corrupt: {0}")]
    Malformed(#[from] prost::DecodeError),

    /// A readable model that breaks ONNX's rules.
    #[error("the model is not valid:{}", list(.0))]
    Invalid(Vec<Problem>),

    /// A model that may follow ONNX's rules, in a version that is not read.
    #[error("the model uses what is not supported:{}", list(.0))]
    Unsupported(Vec<Problem>),
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong: `` node `/fc1/Gemm` (Gemm) ``, `` initializer `w` ``.
    pub place: String,
    pub message: String,
}

impl Problem {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Why a node is refused: unless it says otherwise because it breaks ONNX's rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reason {
    pub(super) text: String,
    pub(super) hint: Option<String>,
    /// Whether the model is wrong; otherwise it asks for more than there is here.
    pub(super) invalid: bool,
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self { text, hint: None, invalid: true }
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// A reason that lies here and not in the model.
pub(super) fn unsupported(text: impl Into<String>) -> Reason {
    Reason { text: text.into(), hint: None, invalid: false }
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(|p| format!("\n  {p}")).collect()
}
