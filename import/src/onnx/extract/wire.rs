//! Protobuf messages as lists of fields: what is not looked at stays as it is, byte for byte.

use prost::DecodeError;
use prost::bytes::Buf;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, encode_key, encode_varint, skip_field};

/// A field of a message.
#[derive(Clone, Copy)]
pub(super) struct Field<'m> {
    pub(super) number: u32,
    /// Key and value.
    pub(super) whole: &'m [u8],
    /// The content of a string, bytes or a message; empty for numbers.
    pub(super) content: &'m [u8],
}

/// The fields of a message, in order.
pub(super) fn fields(mut message: &[u8]) -> Result<Vec<Field<'_>>, DecodeError> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let begin = message;
        let (number, kind) = decode_key(&mut message)?;
        let mut content: &[u8] = &[];
        if kind == WireType::LengthDelimited {
            let length = decode_varint(&mut message)?;
            // What is too short was refused before anything is extracted.
            let length = usize::try_from(length).unwrap_or(usize::MAX).min(message.len());
            content = &message[..length];
            message.advance(length);
        } else {
            skip_field(kind, number, &mut message, DecodeContext::default())?;
        }
        found.push(Field { number, whole: &begin[..begin.len() - message.len()], content });
    }
    Ok(found)
}

/// Adds a field that holds a string, bytes or a message.
pub(super) fn push(message: &mut Vec<u8>, number: u32, content: &[u8]) {
    encode_key(number, WireType::LengthDelimited, message);
    encode_varint(content.len() as u64, message);
    message.extend_from_slice(content);
}
