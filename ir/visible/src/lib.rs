//! Text of others as it may be shown to people.
//!
//! Names in models, operations in programs, paths and arguments may hold any character: those that command a terminal, that
//! turn the direction of what follows, that break a line, or that nobody sees. Messages write them as `\u{1b}`, so that a
//! name neither looks like another one nor like a message. What is data and not a message (programs, artifacts, tensors) does
//! not come here.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt::Write;

/// Characters that show nothing of their own, or change how others are shown: all that Unicode calls `Default_Ignorable`,
/// marks of direction and of interlinear notes, and what separates lines and paragraphs. In order.
const HIDDEN: &[(char, char)] = &[
    // Controls: the commands of terminals begin with them.
    ('\0', '\u{1f}'),
    ('\u{7f}', '\u{9f}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    // No width, and marks of direction.
    ('\u{200b}', '\u{200f}'),
    // Separators of lines and paragraphs, and more of direction.
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    // Tags, and choices of a glyph.
    ('\u{e0000}', '\u{e0fff}'),
];

/// True for a character that a message does not write as it is; `\n` and `\t` are such characters, too.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    // Nearly all text is this.
    if matches!(c, ' '..='~') {
        return false;
    }
    let after = HIDDEN.partition_point(|(first, _)| *first <= c);
    after.checked_sub(1).is_some_and(|at| c <= HIDDEN[at].1)
}

/// Text of several lines: hidden characters as `\u{1b}`, but for `\n` and `\t`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'), in_braces)
}

/// Text that is to stay in one line: all hidden characters as `\u{1b}`, `\n` and `\t` as Rust writes them.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden, |c, out| match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        c => in_braces(c, out),
    })
}

/// A message: as [`visible`], and each line after the first begins with a space, so that no name that breaks a line makes
/// one that looks like a message of its own.
#[must_use]
pub fn message(text: &str) -> Cow<'_, str> {
    let text = visible(text);
    if !text.contains('\n') {
        return text;
    }
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let stands_in = line.is_empty() || line.starts_with([' ', '\t']);
        out.push_str(if stands_in { "\n" } else { "\n  " });
        out.push_str(line);
    }
    Cow::Owned(out)
}

/// A finished JSON text with the same content: hidden characters in its strings as `\u009b`. JSON itself asks for this only
/// below U+0020.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    let is_raw = |c: char| c > '\u{1f}' && is_hidden(c);
    escaped(text, is_raw, |c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

fn in_braces(c: char, out: &mut String) {
    let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
}

/// `text` with the characters that `hides` names written by `write`.
fn escaped(text: &str, hides: impl Fn(char) -> bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let Some(first) = text.find(&hides) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if hides(c) {
            write(c, &mut out);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What commands a terminal, breaks a line, turns the direction, or cannot be seen.
    const EVIL: &str =
        "a\u{1b}[31mb\u{7}\r\u{7f}\u{9b}2J\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}\u{2029}\u{ad}\u{e0041}z";

    #[test]
    fn what_is_seen_stays_as_it_is() {
        for text in ["", "plain `text`", "größer → 張量 🦀 é\u{301}", "%0 = \"a.b\"() : () -> ()"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(message(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(json(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn what_is_hidden_is_written_out() {
        let expected = "a\\u{1b}[31mb\\u{7}\\u{d}\\u{7f}\\u{9b}2J\\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{2028}\\u{2029}\
                        \\u{ad}\\u{e0041}z";
        for text in [visible(EVIL), line(EVIL), message(EVIL)] {
            assert_eq!(text, expected);
            assert!(!text.contains(is_hidden), "{text:?}");
        }
    }

    #[test]
    fn lines_and_tabs_stay_where_several_lines_may_be() {
        assert_eq!(visible("a\tb\nc"), "a\tb\nc");
        assert_eq!(line("a\tb\nc\0"), "a\\tb\\nc\\u{0}");
    }

    #[test]
    fn no_line_of_a_message_looks_like_another_message() {
        assert_eq!(message("no `x\nerror: y`\n  more\n\nend"), "no `x\n  error: y`\n  more\n\n  end");
    }

    #[test]
    fn json_stays_json_of_the_same_content() {
        let text = "{\n\t\"name\": \"a\\u001b\u{7f}\u{9b}\u{202e}\u{e0041}é\"\n}";
        assert_eq!(json(text), "{\n\t\"name\": \"a\\u001b\\u007f\\u009b\\u202e\\udb40\\udc41é\"\n}");
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(HIDDEN.iter().all(|(first, last)| first <= last));
        assert!(HIDDEN.windows(2).all(|pair| pair[0].1 < pair[1].0));
        // What the table says of every character.
        for c in '\0'..=char::MAX {
            assert_eq!(is_hidden(c), HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&c)), "{c:?}");
        }
        let of_lines = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
        assert!(of_lines.into_iter().chain((0..32).map(char::from)).all(is_hidden));
    }
}
