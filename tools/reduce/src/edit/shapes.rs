//! Sizes in the text: a size that stands in many types is replaced in all of them at once.

use std::collections::BTreeSet;

/// Sizes above `least` that stand before an `x` in some shape of the text, largest first.
pub(crate) fn sizes(text: &str, least: u64) -> Vec<u64> {
    let mut found = BTreeSet::new();
    scan(text, &mut |number| {
        found.extend(number.parse::<u64>().ok().filter(|n| *n > least));
        None
    });
    found.into_iter().rev().collect()
}

/// The text with every size `from` in a shape as `to`; with `numbers`, in lists and attributes too.
pub(crate) fn replaced(text: &str, from: u64, to: u64, numbers: bool) -> String {
    let (from, to) = (from.to_string(), to.to_string());
    let shapes = scan(text, &mut |number| (number == from).then(|| to.clone()));
    if numbers { replace_numbers(&shapes, &from, &to) } else { shapes }
}

/// Calls `size` for every number that an `x` follows inside of `<…>`, and puts what it returns in the number's place.
fn scan(text: &str, size: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let bytes = text.as_bytes();
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        let starts = at > 0 && matches!(bytes[at - 1], b'<' | b'x' | b'[') && bytes[at].is_ascii_digit();
        if !starts {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        // A scalable vector has its size in brackets.
        let after = bytes.get(end).copied();
        let is_size = after == Some(b'x') || (after == Some(b']') && bytes.get(end + 1) == Some(&b'x'));
        if is_size && let Some(new) = size(&text[at..end]) {
            out.push_str(&text[copied..at]);
            out.push_str(&new);
            copied = end;
        }
        at = end;
    }
    out.push_str(&text[copied..]);
    out
}

/// Replaces whole decimal numbers that are neither part of a word nor of a fraction.
fn replace_numbers(text: &str, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
        let after = rest[at + from.len()..].chars().next();
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_.%#@$!-".contains(c));
        out.push_str(&rest[..at]);
        out.push_str(if word(before) || word(after) { from } else { to });
        rest = &rest[at + from.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stand_in_shapes() {
        let text = "%12 = \"a\"() {n = 128} : () -> tensor<4x128x?xf32> vector<[8]x16xi128> : 64x";
        assert_eq!(sizes(text, 1), [128, 16, 8, 4]);
        let shorter = "%12 = \"a\"() {n = 128} : () -> tensor<4x2x?xf32> vector<[8]x16xi128> : 64x";
        assert_eq!(replaced(text, 128, 2, false), shorter);
        let numbers = "%12 = \"a\"() {n = 2} : () -> tensor<4x2x?xf32> vector<[8]x16xi128> : 64x";
        assert_eq!(replaced(text, 128, 2, true), numbers);
    }

    #[test]
    fn words_and_fractions_stay() {
        let text = "%4 = x4 4 : i4, 4.5, 0.4, [4, 4], @f4, -4, #map4";
        assert_eq!(replaced(text, 4, 1, true), "%4 = x4 1 : i4, 4.5, 0.4, [1, 1], @f4, -4, #map4");
    }
}
