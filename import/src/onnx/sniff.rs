//! Finding out what a file is that does not decode as an ONNX model.

use std::fmt;

use super::error::OnnxError;

/// What a file that is not an ONNX model looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Zip,
    Gzip,
    Safetensors,
    Pickle,
    Hdf5,
    TfLite,
    Gguf,
    Numpy,
    Elf,
    GitLfsPointer,
    Html,
    Json,
    OnnxText,
    Text,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zip => {
                "a zip archive (a PyTorch checkpoint or a packed model?); unpack it, or export the model with \
                 torch.onnx.export"
            }
            Self::Gzip => "a gzip file; unpack it first",
            Self::Safetensors => "a safetensors file, which holds weights without a graph; export the model to ONNX",
            Self::Pickle => "a Python pickle (an old PyTorch checkpoint?); export the model with torch.onnx.export",
            Self::Hdf5 => "an HDF5 file (a Keras model?); convert it with tf2onnx",
            Self::TfLite => "a TensorFlow Lite model; convert it with tf2onnx",
            Self::Gguf => "a GGUF file, which holds weights without a graph",
            Self::Numpy => "a NumPy array",
            Self::Elf => "a compiled binary",
            Self::GitLfsPointer => "a Git LFS pointer, not the file itself; fetch it with `git lfs pull`",
            Self::Html => "a web page (a download that needed a login?)",
            Self::Json => "JSON",
            Self::OnnxText => "ONNX's text form; convert it with onnx.parser and onnx.save",
            Self::Text => "a text file",
        })
    }
}

const MAGIC: [(usize, &[u8], FileKind); 14] = [
    (0, b"PK\x03\x04", FileKind::Zip),
    (0, b"PK\x05\x06", FileKind::Zip),
    (0, b"\x1f\x8b", FileKind::Gzip),
    (0, b"\x80\x02", FileKind::Pickle),
    (0, b"\x80\x03", FileKind::Pickle),
    (0, b"\x80\x04", FileKind::Pickle),
    (0, b"\x80\x05", FileKind::Pickle),
    (0, b"\x89HDF\r\n\x1a\n", FileKind::Hdf5),
    (4, b"TFL3", FileKind::TfLite),
    (0, b"GGUF", FileKind::Gguf),
    (0, b"\x93NUMPY", FileKind::Numpy),
    (0, b"\x7fELF", FileKind::Elf),
    (0, b"version https://git-lfs.github.com/spec", FileKind::GitLfsPointer),
    // A safetensors header begins at byte 8, after its length; `safetensors`
    // checks the length.
    (8, b"{\"", FileKind::Safetensors),
];

/// Longest start of a file that is looked at to tell text from binary.
const TEXT_PREFIX: usize = 4096;

/// The format that `bytes` seem to have, if it is a known one.
pub(super) fn file_kind(bytes: &[u8]) -> Option<FileKind> {
    let magic = MAGIC.iter().find(|(at, magic, kind)| {
        bytes.get(*at..).is_some_and(|b| b.starts_with(magic)) && (*kind != FileKind::Safetensors || safetensors(bytes))
    });
    magic.map(|m| m.2).or_else(|| text_kind(bytes))
}

/// Whether the first 8 bytes are a plausible header length.
fn safetensors(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|length| {
        let length = u64::from_le_bytes(*length);
        (2..=100_000_000).contains(&length)
    })
}

fn text_kind(bytes: &[u8]) -> Option<FileKind> {
    let start = &bytes[..bytes.len().min(TEXT_PREFIX)];
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // The prefix may end inside a character.
        Err(e) if e.error_len().is_none() => std::str::from_utf8(&start[..e.valid_up_to()]).ok()?,
        Err(_) => return None,
    };
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x0c');
    if text.contains(control) {
        return None;
    }
    let text = text.trim_start();
    let lower = text.get(..9).map(str::to_ascii_lowercase);
    Some(match text.bytes().next()? {
        b'{' | b'[' => FileKind::Json,
        b'<' if text[1..].trim_start().starts_with("ir_version") => FileKind::OnnxText,
        b'<' if lower.is_some_and(|l| l == "<!doctype" || l.starts_with("<html")) => FileKind::Html,
        _ => FileKind::Text,
    })
}

/// Walks the fields of the model message without looking into them, to tell
/// a cut-off file from one that is no protobuf at all.
pub(super) fn check_wire(bytes: &[u8]) -> Result<(), OnnxError> {
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match skip_field(bytes, &mut at) {
            Field::Whole => {}
            Field::Cut(Some(field), needed) => {
                return Err(OnnxError::Truncated { field, offset: at, needed, present: bytes.len() - at });
            }
            Field::Cut(None, _) | Field::Invalid => {
                return Err(OnnxError::NotProtobuf { offset: start });
            }
        }
    }
    Ok(())
}

enum Field {
    Whole,
    /// The file ends inside the field: its name and the bytes it needs.
    Cut(Option<&'static str>, u64),
    Invalid,
}

/// Moves `at` over the field that begins there; over its header only if the
/// field is cut off.
fn skip_field(bytes: &[u8], at: &mut usize) -> Field {
    let Some(tag) = varint(bytes, at) else {
        return Field::Invalid;
    };
    let name = field_name(tag >> 3);
    let header = *at;
    let length = match tag & 7 {
        1 => Some(8),
        5 => Some(4),
        0 => varint(bytes, at).map(|_| 0),
        2 => varint(bytes, at),
        _ => return Field::Invalid,
    };
    match length {
        Some(length) if length <= (bytes.len() - *at) as u64 => {
            *at += length as usize;
            Field::Whole
        }
        Some(length) => Field::Cut(name, length),
        None if *at == bytes.len() => {
            *at = header;
            Field::Cut(name, (bytes.len() - header) as u64 + 1)
        }
        None => Field::Invalid,
    }
}

fn field_name(number: u64) -> Option<&'static str> {
    Some(match number {
        1 => "ir_version",
        2 => "producer_name",
        3 => "producer_version",
        4 => "domain",
        5 => "model_version",
        6 => "doc_string",
        7 => "graph",
        8 => "opset_import",
        14 => "metadata_props",
        20 => "training_info",
        25 => "functions",
        26 => "configuration",
        _ => return None,
    })
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for i in 0..10 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_other_formats() {
        let mut safetensors = 300u64.to_le_bytes().to_vec();
        safetensors.extend(b"{\"__metadata__\":{}");
        let cases: [(&[u8], Option<FileKind>); 12] = [
            (b"PK\x03\x04rest", Some(FileKind::Zip)),
            (&safetensors, Some(FileKind::Safetensors)),
            (b"\x80\x02}q\x00", Some(FileKind::Pickle)),
            (b"\x1c\0\0\0TFL3", Some(FileKind::TfLite)),
            (b"version https://git-lfs.github.com/spec/v1\noid", Some(FileKind::GitLfsPointer)),
            (b"  <!DOCTYPE html>", Some(FileKind::Html)),
            (b"<ir_version: 8>", Some(FileKind::OnnxText)),
            (b"{\"a\": 1}", Some(FileKind::Json)),
            ("module { // é".as_bytes(), Some(FileKind::Text)),
            (b"\xff\xfe\x00", None),
            (b"\x08\x08\x12\x04", None),
            (b"   ", None),
        ];
        for (bytes, kind) in cases {
            assert_eq!(file_kind(bytes), kind, "{bytes:?}");
        }
    }

    #[test]
    fn text_cut_inside_a_character_is_text() {
        let long = "é".repeat(TEXT_PREFIX);
        assert_eq!(file_kind(&long.as_bytes()[1..]), None);
        assert_eq!(file_kind(format!("x{long}").as_bytes()), Some(FileKind::Text));
    }

    #[test]
    fn truncated_field_is_named() {
        // ir_version = 8, then a graph of 5 bytes with 2 present.
        let error = check_wire(&[0x08, 8, 0x3a, 5, 1, 2]).unwrap_err();
        assert!(matches!(error, OnnxError::Truncated { field: "graph", offset: 4, needed: 5, present: 2 }));
        assert!(check_wire(&[0x08, 8, 0x3a, 2, 1, 2]).is_ok());
        let error = check_wire(&[0x08, 8, 0xff]).unwrap_err();
        assert!(matches!(error, OnnxError::NotProtobuf { offset: 2 }));
    }
}
