//! Brackets that are never closed, found before anything is parsed.
//!
//! A rule that meets an unclosed bracket reads to the end of its window before it gives up, and the rules around it do so
//! again for the next one. With few of them that is cheap and gives the better message; with many it would take time
//! that grows with their square. So such a text is refused at once.

use crate::blank::{closed_string_end, string_end};

/// Unclosed brackets of one kind that are left to the grammar's rules.
const FEW: usize = 64;

/// Deeper than types and attributes may be nested. A window of the text that ends within so many brackets would be read
/// once for each.
const DEEP: usize = 256;

/// Bytes whose brackets are counted at a time.
const CHUNK: usize = 128;

const OPEN: [u8; 4] = *b"([{<";
const CLOSE: [u8; 4] = *b")]}>";

/// Offset and message of the error of a text with many unclosed brackets of one kind, or with a string that is not
/// closed inside of many; `None` for every other text.
pub(crate) fn many_unclosed(text: &str) -> Option<(usize, String)> {
    if may_have_many(text.as_bytes()) { scan(text.as_bytes()) } else { None }
}

/// False when the brackets, counted without regard to strings, say that few are open at any place.
fn may_have_many(bytes: &[u8]) -> bool {
    let mut open = [0isize; 4];
    for (n, chunk) in bytes.chunks(CHUNK).enumerate() {
        // An arrow closes nothing; its halves may stand in two chunks.
        let count = |byte: u8| chunk.iter().fold(0u8, |n, b| n.wrapping_add(u8::from(*b == byte))) as isize;
        let mut arrows = chunk.windows(2).fold(0u8, |n, w| n.wrapping_add(u8::from(w == b"->"))) as isize;
        arrows += isize::from(n > 0 && chunk[0] == b'>' && bytes[n * CHUNK - 1] == b'-');
        for kind in 0..4 {
            let change = count(OPEN[kind]) - count(CLOSE[kind]) + if kind == 3 { arrows } else { 0 };
            open[kind] = (open[kind] + change).max(0);
        }
        if open.into_iter().any(|n| n > FEW as isize) {
            return true;
        }
    }
    false
}

fn scan(bytes: &[u8]) -> Option<(usize, String)> {
    // How many brackets of each kind are open, and where the outermost of them is.
    let (mut open, mut first) = ([0usize; 4], [0usize; 4]);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' {
            at = match closed_string_end(bytes, at) {
                Some(end) => end,
                None if open.iter().any(|n| *n > FEW) => {
                    return Some((at, "expected '\"' in string literal".to_string()));
                }
                None => {
                    open = [0; 4];
                    string_end(bytes, at)
                }
            };
            continue;
        }
        let step = operator_length(bytes, at);
        if step > 0 {
            at += step;
            continue;
        }
        if let Some(kind) = OPEN.iter().position(|b| *b == byte) {
            if open[kind] == 0 {
                first[kind] = at;
            }
            open[kind] += 1;
            if OPEN[kind] == b'<' && open[kind] > DEEP {
                return Some((at, format!("nesting is too deep: at most {DEEP} levels of '<' are read")));
            }
        } else if let Some(kind) = CLOSE.iter().position(|b| *b == byte) {
            open[kind] = open[kind].saturating_sub(1);
        }
        at += 1;
    }
    let kind = (0..4).filter(|kind| open[*kind] > FEW).min_by_key(|kind| first[*kind])?;
    let bracket = char::from(OPEN[kind]);
    Some((first[kind], format!("this '{bracket}' and {} more are never closed", open[kind] - 1)))
}

/// Length of an operator with `<` or `>` that is no bracket, else 0. `<-` is one between blanks, not in `dense<-1>`.
fn operator_length(bytes: &[u8], at: usize) -> usize {
    match &bytes[at..] {
        [b'-', b'>', ..] | [b'<' | b'>', b'=', ..] => 2,
        [b'<', b'-', b' ', ..] if at > 0 && bytes[at - 1] == b' ' => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::many_unclosed;

    #[test]
    fn few_and_closed_ones_are_let_through() {
        for text in ["<".repeat(64), "(".repeat(1000) + &")".repeat(1000), "<=".repeat(1000), ">= -> <- ".repeat(1000)]
        {
            assert_eq!(many_unclosed(&text), None, "{text}");
        }
        let strings = format!("({})", "\"(((\"".repeat(100));
        assert_eq!(many_unclosed(&strings), None);
    }

    #[test]
    fn the_outermost_is_named() {
        let text = format!("(a) {}", "f32 -> tensor<".repeat(200));
        assert_eq!(many_unclosed(&text), Some((17, "this '<' and 199 more are never closed".to_string())));
        let text = format!("{}{}[", "<>".repeat(300), "([".repeat(100));
        assert_eq!(many_unclosed(&text), Some((600, "this '(' and 99 more are never closed".to_string())));
        // Closed by nothing that stands before them.
        let text = format!("{}{}", ">".repeat(300), "<".repeat(200));
        assert_eq!(many_unclosed(&text).map(|(at, _)| at), Some(300));
    }

    #[test]
    fn angle_brackets_have_a_depth_at_which_reading_ends() {
        let text = |n: usize| format!("{}i32{}", "tensor<".repeat(n), ">".repeat(n));
        assert_eq!(many_unclosed(&text(256)), None);
        let message = "nesting is too deep: at most 256 levels of '<' are read".to_string();
        assert_eq!(many_unclosed(&text(257)), Some((256 * 7 + 6, message)));
    }

    #[test]
    fn a_string_that_is_not_closed_ends_the_brackets_around_it() {
        let text = |n: usize| format!("{}\"\n{}", "<".repeat(n), ">".repeat(n));
        assert_eq!(many_unclosed(&text(20)), None);
        assert_eq!(many_unclosed(&text(200)), Some((200, "expected '\"' in string literal".to_string())));
    }
}
