//! Tokens of a format string.

/// A token, with the byte offset where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) at: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind<'t> {
    /// `` `text` ``
    Literal(&'t str),
    /// `$name`
    Variable(&'t str),
    /// `type`, `attr-dict`, …
    Word(&'t str),
    /// `(`, `)`, `<`, `>`, `,`, `?`, `:`, `^`
    Punct(char),
    End,
}

/// An error message with the place in the string.
pub(super) fn error(text: &str, at: usize, message: &str) -> String {
    format!("{message} at column {} of `{text}`", text[..at].chars().count() + 1)
}

pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at + c.len_utf8()..];
        let (kind, len) = match c {
            _ if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '`' => {
                let end = rest.find('`').ok_or_else(|| error(text, at, "unterminated literal"))?;
                (Kind::Literal(&rest[..end]), end + 2)
            }
            '$' => {
                let end = word_end(rest, |c| c.is_ascii_alphanumeric() || c == '_');
                if end == 0 {
                    return Err(error(text, at, "expected a name after `$`"));
                }
                (Kind::Variable(&rest[..end]), end + 1)
            }
            '(' | ')' | '<' | '>' | ',' | '?' | ':' | '^' | '|' => (Kind::Punct(c), 1),
            _ if c.is_ascii_alphabetic() => {
                let end = word_end(&text[at..], |c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
                (Kind::Word(&text[at..at + end]), end)
            }
            _ => return Err(error(text, at, &format!("unexpected character `{c}`"))),
        };
        out.push(Token { kind, at });
        at += len;
    }
    out.push(Token { kind: Kind::End, at });
    Ok(out)
}

fn word_end(text: &str, in_word: impl Fn(char) -> bool) -> usize {
    text.find(|c: char| !in_word(c)).unwrap_or(text.len())
}
