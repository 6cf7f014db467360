//! The file that a command is given: an ONNX model or IR as text, told apart by content.

use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use sutura_import::onnx::{MapFile, OnnxModel, Origin};
use sutura_input::{InputError, Limits, regular, rest_of, utf8, without_nul};

use crate::cli::Reading;
use crate::failure::{Failure, of_onnx};
use crate::storage::ModelFiles;

/// A model as it was given.
pub(crate) enum Input {
    /// An ONNX model.
    Onnx(Box<OnnxModel>),
    /// IR as text.
    Text(String),
}

/// A model file, read.
pub(crate) struct Source {
    pub(crate) input: Input,
    /// `blake3:…` of the file.
    pub(crate) hash: String,
    /// The file of an ONNX model, and where its data are.
    pub(crate) onnx: Option<(Bytes, Origin)>,
}

/// Reads the file at `path`, a regular one. A model's weights stay in `files`.
pub(crate) fn read(path: &Path, reading: &Reading, files: &ModelFiles) -> Result<Source, Failure> {
    let limits = reading.max_input.map_or_else(Limits::default, Limits::all);
    let refused = |error: InputError| Failure::reading(path, &error);
    let (mut file, meta) = regular(path).map_err(refused)?;
    // What it begins with says how much of it is read.
    let mut head = Vec::with_capacity(HEAD);
    (&mut file).take(HEAD as u64).read_to_end(&mut head).and_then(|_| file.rewind()).map_err(|e| refused(e.into()))?;
    if meta.len() == 0 {
        return Err(Failure::input(format!("`{}` is empty", path.display())));
    }
    if is_text(&head) {
        return text(rest_of(file, meta.len(), limits.text).map_err(refused)?).map_err(refused);
    }
    if meta.len() > limits.protobuf {
        return Err(refused(InputError::TooLarge { limit: limits.protobuf, size: Some(meta.len()) }));
    }
    if head.starts_with(b"PK\x03\x04") {
        let failure = Failure::input(format!("`{}` is a compiled artifact or another zip file", path.display()));
        return Err(failure.hint("`sutura run` and `sutura inspect` take artifacts"));
    }
    let bytes = files.map(file, &path.display().to_string()).map_err(|e| refused(e.into()))?;
    let hash = hash(&bytes);
    let mapping = files.clone();
    let map: MapFile = Arc::new(move |file, name| mapping.map(file, name));
    let origin = Origin::new(path, &reading.allow_data_from).map_err(of_onnx)?.with_limit(limits.data).mapping(map);
    let model = OnnxModel::from_bytes(bytes.clone(), Some(&origin));
    let model = model.map_err(|e| {
        let failure = of_onnx(e);
        Failure { message: format!("`{}`: {}", path.display(), failure.message), ..failure }
    })?;
    Ok(Source { input: Input::Onnx(Box::new(model)), hash, onnx: Some((bytes, origin)) })
}

/// A file of IR as text.
///
/// # Errors
/// When it cannot be read, is too large, or is no text.
pub(crate) fn ir_text(path: &Path) -> Result<String, Failure> {
    let refused = |error: InputError| Failure::reading(path, &error);
    let (file, meta) = regular(path).map_err(refused)?;
    let source = text(rest_of(file, meta.len(), Limits::default().text).map_err(refused)?).map_err(refused)?;
    match source.input {
        Input::Text(text) => Ok(text),
        Input::Onnx(_) => unreachable!("what is read as text is text"),
    }
}

/// IR as text.
fn text(bytes: Vec<u8>) -> Result<Source, InputError> {
    let hash = hash(&bytes);
    without_nul(&bytes)?;
    Ok(Source { input: Input::Text(utf8(bytes)?), hash, onnx: None })
}

/// What is looked at to tell text from ONNX.
const HEAD: usize = 512;

/// A NUL byte behind so many characters is one in a text; other kinds of files have it earlier.
const TEXT_BEFORE_NUL: usize = 9;

/// True for what can be IR as text: no control characters at the start but blanks (an ONNX file begins with a field's tag,
/// which is one), and not the beginning of another kind of text, for which the reader of models has the better words.
fn is_text(bytes: &[u8]) -> bool {
    const OTHERS: [&[u8]; 3] = [b"<", b"{\"", b"version https://git-lfs"];
    let head = &bytes[..bytes.len().min(HEAD)];
    let end = head.iter().position(|b| *b == 0).filter(|at| *at >= TEXT_BEFORE_NUL).unwrap_or(head.len());
    let head = &head[..end];
    let control = |b: &u8| *b < b' ' && !matches!(b, b'\n' | b'\r' | b'\t');
    let begin = head.trim_ascii_start();
    !head.iter().any(control) && !OTHERS.iter().any(|other| begin.starts_with(other))
}

/// `blake3:…` of some bytes.
pub(crate) fn hash(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_protobuf_are_told_apart() {
        assert!(is_text(b"// a comment\nmodule {}\n"));
        assert!(is_text("\u{feff}module {}".as_bytes()));
        // Field 1, a varint: what every ONNX file begins with.
        assert!(is_text(b"module {\n}\0"));
        assert!(!is_text(b"\x08\x07\x12\x07pytorch"));
        assert!(!is_text(b"version https://git-lfs.github.com/spec/v1\n") && !is_text(b"<!DOCTYPE html>"));
    }

    #[test]
    fn hashes_name_their_algorithm() {
        let empty = "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(hash(b""), empty);
    }
}
