//! Text of a level with its words marked, so that names stand out.

use maud::{Markup, html};

/// Texts above this size are left as they are: marks would triple them.
const MARKED: usize = 512 << 10;

/// A program's text.
pub(super) fn marked(text: &str) -> Markup {
    if text.len() > MARKED {
        return html! { (text) };
    }
    html! { @for (class, part) in parts(text) { @if class.is_empty() { (part) } @else { span class=(class) { (part) } } } }
}

/// The text in parts: values and symbols, names of operations, strings, comments, and what lies between.
fn parts(text: &str) -> Vec<(&'static str, &str)> {
    let mut parts = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        let (class, length) = token(rest, text[..at].chars().next_back());
        if !class.is_empty() {
            if plain < at {
                parts.push(("", &text[plain..at]));
            }
            parts.push((class, &rest[..length]));
            plain = at + length;
        }
        at += length;
    }
    if plain < text.len() {
        parts.push(("", &text[plain..]));
    }
    parts
}

/// Class and length of what the text starts with.
fn token(rest: &str, before: Option<char>) -> (&'static str, usize) {
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-');
    let run = |from: usize| from + rest[from..].find(|c| !in_name(c)).unwrap_or(rest.len() - from);
    let first = rest.chars().next().unwrap_or(' ');
    match first {
        '%' | '@' | '^' => ("v", run(1)),
        '"' => ("s", string(rest)),
        '/' if rest.starts_with("//") => ("c", rest.find('\n').unwrap_or(rest.len())),
        c if c.is_ascii_alphabetic() && !before.is_some_and(|b| in_name(b) || matches!(b, '!' | '#')) => {
            let length = run(0);
            // `dialect.operation`, and words of upstream operations in generic form are strings.
            (if rest[..length].contains('.') { "w" } else { "" }, length)
        }
        c => ("", c.len_utf8()),
    }
}

/// Length of a string with its quotes.
fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (i, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return i + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole_text() {
        for text in
            ["", "%a = arith.addf %b, %c : f32 // sum\n", "\"open", "é%é\"\\\"\"x", "^bb0(%x: f32):", "a.b", "//"]
        {
            let joined: String = parts(text).into_iter().map(|(_, part)| part).collect();
            assert_eq!(joined, text);
        }
        let classes: Vec<_> =
            parts("%a = gir.load @k \"s\" !gir.tile").into_iter().filter(|p| !p.0.is_empty()).collect();
        assert_eq!(classes, [("v", "%a"), ("w", "gir.load"), ("v", "@k"), ("s", "\"s\"")]);
    }

    #[test]
    fn markup_in_a_program_is_text() {
        let page = marked("\"<script>\" <b>&amp; // <i>").into_string();
        assert!(!page.contains("<script>") && !page.contains("<b>") && !page.contains("<i>"), "{page}");
        assert!(page.contains("&lt;b&gt;&amp;amp;"), "{page}");
    }
}
