//! Strings of any bytes, as text. MLIR's strings are bytes, and an escape may stand for any of them; a context's are
//! text. A byte that is no part of a character of UTF-8 becomes a private character of its own, and is printed as that
//! byte again.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// The characters for the bytes from 0x80 on: no text has them, and where one does its bytes become characters each.
const BYTES: RangeInclusive<char> = '\u{10FF80}'..='\u{10FFFF}';

/// The first byte, in UTF-8, of these characters and of few others.
pub const FIRST_OF_BYTES: u8 = 0xF4;

/// Length of each of these characters in UTF-8.
pub(crate) const BYTE_LENGTH: usize = 4;

/// The byte that a character stands for.
pub(crate) fn byte_of(c: char) -> Option<u8> {
    BYTES.contains(&c).then_some((u32::from(c) & 0xff) as u8)
}

/// The text for these bytes.
pub fn text_of_bytes(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains(|c| BYTES.contains(&c)) => text,
        Ok(text) => text_of_parts(text.as_bytes()),
        Err(error) => text_of_parts(error.as_bytes()),
    }
}

fn text_of_parts(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte_of(c) {
                None => out.push(c),
                Some(_) => push_bytes(&mut out, c.encode_utf8(&mut [0; BYTE_LENGTH]).as_bytes()),
            }
        }
        push_bytes(&mut out, chunk.invalid());
    }
    out
}

fn push_bytes(out: &mut String, bytes: &[u8]) {
    out.extend(bytes.iter().filter_map(|byte| char::from_u32(u32::from(*BYTES.start()) - 0x80 + u32::from(*byte))));
}

/// The bytes that a text of a context stands for.
pub fn bytes_of_text(text: &str) -> Cow<'_, [u8]> {
    if !text.contains(|c| BYTES.contains(&c)) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => out.push(byte),
            None => out.extend_from_slice(c.encode_utf8(&mut [0; BYTE_LENGTH]).as_bytes()),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{bytes_of_text, text_of_bytes};

    #[test]
    fn any_bytes_come_back() {
        for bytes in [
            &b""[..],
            b"plain",
            "\u{e9}\u{10FF7F}".as_bytes(),
            b"\xff\x80a\xc3",
            b"\xe2\x82",
            "\u{10FF80} \u{10FFFF}".as_bytes(),
            &(0..=255).collect::<Vec<u8>>(),
        ] {
            let text = text_of_bytes(bytes.to_vec());
            assert_eq!(&*bytes_of_text(&text), bytes, "{text:?}");
        }
        assert_eq!(text_of_bytes("\u{e9}".into()), "\u{e9}");
        assert_eq!(text_of_bytes(vec![b'a', 0xff]), "a\u{10FFFF}");
    }

    #[test]
    fn different_bytes_are_different_texts() {
        let private = "\u{10FFFF}";
        assert_ne!(text_of_bytes(private.into()), text_of_bytes(vec![0xff]));
    }
}
