//! Comments and odd white space become blanks, so that no rule knows of them and offsets stay.

use std::borrow::Cow;
use std::ops::Range;

/// The text with `//` comments, tabs and carriage returns as blanks; strings are left alone, and so is what stands
/// between the brackets of a dialect's type or attribute, where `//` begins no comment.
pub(crate) fn blanked(text: &str) -> Cow<'_, str> {
    blanked_and_noted(text, None)
}

/// The same; `comments` gets the places of the comments.
pub(crate) fn blanked_and_noted<'t>(text: &'t str, mut comments: Option<&mut Vec<Range<u32>>>) -> Cow<'t, str> {
    let bytes = text.as_bytes();
    let needed = memchr::memchr2(b'\t', b'\r', bytes).is_some() || memchr::memmem::find(bytes, b"//").is_some();
    if !needed {
        return Cow::Borrowed(text);
    }
    let mut out = bytes.to_vec();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
                // Whole characters are replaced, so the result stays UTF-8.
                out[at..end].fill(b' ');
                if let Some(comments) = &mut comments {
                    comments.push(at as u32..end as u32);
                }
                at = end;
            }
            b'#' | b'!' => at = dialect_body_end(bytes, at, &mut out),
            b'\t' | b'\r' => {
                out[at] = b' ';
                at += 1;
            }
            _ => at += 1,
        }
    }
    Cow::Owned(String::from_utf8(out).expect("only whole characters were replaced"))
}

/// Position after the string literal that begins at `at`; a string ends at its line's end at the latest.
pub(crate) fn string_end(bytes: &[u8], at: usize) -> usize {
    string_stop(bytes, at).unwrap_or_else(|stop| stop)
}

/// Position after the string literal that begins at `at`, if it is closed on its line.
pub(crate) fn closed_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    string_stop(bytes, at).ok()
}

/// Position after the closing quote, or else of the end of the line or the text.
fn string_stop(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let mut at = at + 1;
    while let Some(n) = memchr::memchr3(b'"', b'\\', b'\n', &bytes[at..]) {
        match bytes[at + n] {
            b'"' => return Ok(at + n + 1),
            b'\n' => return Err(at + n),
            _ => at = (at + n + 2).min(bytes.len()),
        }
    }
    Err(bytes.len())
}

/// Position after `#dialect.name<…>`, or after the name when no bracket follows or it is not closed on its line.
fn dialect_body_end(bytes: &[u8], at: usize, out: &mut [u8]) -> usize {
    let in_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'-');
    let name_end = at + 1 + bytes[at + 1..].iter().take_while(|b| in_name(b)).count();
    if bytes.get(name_end) != Some(&b'<') || name_end == at + 1 {
        return name_end;
    }
    let (mut depth, mut at) = (0usize, name_end);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'<' => depth += 1,
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'>' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b'\t' | b'\r' => out[at] = b' ',
            // A body may go on after the line; a comment at the line's end is one, though.
            b'/' if bytes[at..].starts_with(b"//") && comment_ends_line(bytes, at) => return at,
            b'\n' => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// True when the rest of the line after `//` closes no bracket, so that it can only be a comment.
fn comment_ends_line(bytes: &[u8], at: usize) -> bool {
    let line = bytes[at..].split(|b| *b == b'\n').next().unwrap_or_default();
    !line.contains(&b'>')
}

#[cfg(test)]
mod tests {
    use super::{blanked, blanked_and_noted};

    #[test]
    fn comments_go_and_offsets_stay() {
        assert_eq!(blanked("a // b\n\"//\"\tc\r\n"), "a     \n\"//\" c \n");
        assert_eq!(blanked("// é\nx"), "     \nx");
        assert_eq!(blanked("plain"), "plain");
    }

    #[test]
    fn bodies_of_dialect_entities_keep_slashes() {
        assert_eq!(blanked("#d.a<x // y> // z"), "#d.a<x // y>     ");
        assert_eq!(blanked("#d.a<\"//\" -> //> // z"), "#d.a<\"//\" -> //>     ");
        assert_eq!(blanked("!d.t<x, // note\n y>"), "!d.t<x,        \n y>");
        assert_eq!(blanked("#map // z"), "#map     ");
    }

    #[test]
    fn comments_are_kept_by_their_place() {
        let kept = |text: &str| {
            let mut comments = Vec::new();
            blanked_and_noted(text, Some(&mut comments));
            comments.into_iter().map(|c| text[c.start as usize..c.end as usize].to_string()).collect::<Vec<_>>()
        };
        assert_eq!(kept("//\na // é\r\n\"// no\" //last"), ["//", "// é\r", "//last"]);
        assert_eq!(kept("#d.a<x // y> // z\n!d.t<x, // note\n y>"), ["// z", "// note"]);
        assert!(kept("/ a\n").is_empty());
    }

    #[test]
    fn unclosed_strings_end_at_the_line() {
        assert_eq!(blanked("\"a // b\nc // d"), "\"a // b\nc     ");
        assert_eq!(blanked("\"\\"), "\"\\");
    }
}
