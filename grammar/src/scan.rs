//! Where things end, by their brackets: the same spans as in the first half of the grammar, for text of custom forms.

use crate::blank::string_end;

pub(crate) fn skip_blank(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\n')).count();
    at + blanks
}

/// End of `[A-Za-z_][A-Za-z0-9_$.]*` at `at`, or `at`.
pub(crate) fn word_end(text: &str, at: usize) -> usize {
    let bytes = &text.as_bytes()[at..];
    if !bytes.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') {
        return at;
    }
    at + bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')).count()
}

/// End of a name after `%`, `^`, `@`, `#` or `!`.
pub(crate) fn suffix_end(text: &str, at: usize) -> usize {
    let in_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'-');
    at + text.as_bytes().get(at..).unwrap_or_default().iter().take_while(in_name).count()
}

/// End of the bracketed text that begins at `at`, strings honoured. In `<…>`, `->`, `>=` and `<=` close and open
/// nothing. `None` when it is not closed.
pub(crate) fn bracket_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let open = bytes[at];
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        _ => return None,
    };
    let mut depth = 0usize;
    let mut at = at;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' {
            at = string_end(bytes, at);
            continue;
        }
        if open == b'<' && matches!((byte, bytes.get(at + 1)), (b'-', Some(b'>')) | (b'>' | b'<', Some(b'='))) {
            at += 2;
            continue;
        }
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at + 1);
            }
        }
        at += 1;
    }
    None
}

/// End of the type that begins at `at`; `None` when none does.
pub(crate) fn type_end(text: &str, at: usize) -> Option<usize> {
    match text.as_bytes().get(at)? {
        b'(' => {
            let inputs = bracket_end(text, at)?;
            let arrow = skip_blank(text, inputs);
            text[arrow..].starts_with("->").then_some(())?;
            let results = skip_blank(text, arrow + 2);
            match text.as_bytes().get(results)? {
                b'(' => bracket_end(text, results),
                _ => simple_type_end(text, results),
            }
        }
        _ => simple_type_end(text, at),
    }
}

/// Builtin types and attributes that are a word and `<…>`.
const BRACKETED: [&str; 12] = [
    "tensor",
    "vector",
    "memref",
    "dense",
    "array",
    "affine_map",
    "affine_set",
    "strided",
    "sparse",
    "dense_resource",
    "complex",
    "tuple",
];

fn simple_type_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = match bytes.get(at)? {
        b'!' => suffix_end(text, at + 1),
        _ => word_end(text, at),
    };
    if end <= at + usize::from(bytes[at] == b'!') {
        return None;
    }
    // Blanks may stand after a keyword of the builtin dialect, not after the name of another dialect's type.
    let open = if BRACKETED.contains(&&text[at..end]) { skip_blank(text, end) } else { end };
    if bytes.get(open) == Some(&b'<') { bracket_end(text, open) } else { Some(end) }
}

/// End of the attribute that begins at `at`, without a type after it; `None` when none does.
fn bare_attr_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes.get(at)? {
        b'"' => Some(string_end(bytes, at)),
        b'[' | b'{' => bracket_end(text, at),
        b'@' => symbol_end(text, at),
        b'#' => {
            let end = suffix_end(text, at + 1);
            if end == at + 1 {
                None
            } else if bytes.get(end) == Some(&b'<') {
                bracket_end(text, end)
            } else {
                Some(end)
            }
        }
        b'-' | b'0'..=b'9' => number_end(text, at),
        _ if text[at..].starts_with("loc") && bytes.get(skip_blank(text, at + 3)) == Some(&b'(') => {
            bracket_end(text, skip_blank(text, at + 3))
        }
        _ if text[at..].starts_with("distinct") && bytes.get(skip_blank(text, at + 8)) == Some(&b'[') => {
            let open = skip_blank(text, bracket_end(text, skip_blank(text, at + 8))?);
            (bytes.get(open) == Some(&b'<')).then(|| bracket_end(text, open)).flatten()
        }
        _ => type_end(text, at),
    }
}

/// `@root::@nested`, with or without quotes.
pub(crate) fn symbol_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = at;
    loop {
        let quoted = bytes.get(at + 1) == Some(&b'"');
        let end = if quoted { string_end(bytes, at + 1) } else { word_end(text, at + 1) };
        if end == at + 1 {
            return None;
        }
        // The two colons are tokens of their own.
        let first = skip_blank(text, end);
        let second = skip_blank(text, (first + 1).min(text.len()));
        let nested = skip_blank(text, (second + 1).min(text.len()));
        if [first, second].iter().any(|at| bytes.get(*at) != Some(&b':')) || bytes.get(nested) != Some(&b'@') {
            return Some(end);
        }
        at = nested;
    }
}

/// An integer, hexadecimal or floating-point number with optional sign.
pub(crate) fn number_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize, hex: bool| {
        let in_number = |b: &&u8| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
        from + bytes[from..].iter().take_while(in_number).count()
    };
    // The sign is a token of its own.
    let start = if bytes.get(at) == Some(&b'-') { skip_blank(text, at + 1) } else { at };
    if text[start..].starts_with("0x") && digits(start + 2, true) > start + 2 {
        return Some(digits(start + 2, true));
    }
    let mut end = digits(start, false);
    if end == start {
        return None;
    }
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1, false);
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign, false);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
    }
    Some(end)
}

/// End of the attribute that begins at `at`; `typed` takes the `: type` of a number, string, constant or dialect
/// attribute along.
pub(crate) fn attr_end(text: &str, at: usize, typed: bool) -> Option<usize> {
    let end = bare_attr_end(text, at)?;
    let colon = skip_blank(text, end);
    let may_have_type = matches!(text.as_bytes()[at], b'"' | b'#' | b'-' | b'0'..=b'9');
    let must_have_type = text[at..].starts_with("dense") || text[at..].starts_with("sparse");
    let has_colon = text.as_bytes().get(colon) == Some(&b':') && text.as_bytes().get(colon + 1) != Some(&b':');
    let takes_type = has_colon && ((typed && may_have_type) || must_have_type);
    let with_type = if takes_type { type_end(text, skip_blank(text, colon + 1)) } else { None };
    with_type.or(Some(end))
}
