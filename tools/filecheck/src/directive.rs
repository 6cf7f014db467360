//! Finding directives in a check file.

use memchr::memmem;

/// What a directive demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Next,
    Same,
    Not,
    Dag,
    Label,
    Empty,
    /// The end of the input: not written, but what trailing `-NOT` and `-DAG`
    /// directives are checked against.
    Eof,
}

/// The suffixes that may follow a prefix, besides `-COUNT-<n>`.
pub(crate) const SUFFIXES: [(&str, Kind); 6] = [
    ("NEXT", Kind::Next),
    ("SAME", Kind::Same),
    ("NOT", Kind::Not),
    ("DAG", Kind::Dag),
    ("LABEL", Kind::Label),
    ("EMPTY", Kind::Empty),
];

impl Kind {
    /// What follows the prefix in messages.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Next => "-NEXT",
            Self::Same => "-SAME",
            Self::Not => "-NOT",
            Self::Dag => "-DAG",
            Self::Label => "-LABEL",
            Self::Empty => "-EMPTY",
            Self::Eof => " (end of input)",
        }
    }

    /// What labels the directive in the input dump.
    pub(crate) fn abbreviation(self, count: u32) -> &'static str {
        match self {
            Self::Plain if count > 1 => "count",
            Self::Plain => "check",
            Self::Next => "next",
            Self::Same => "same",
            Self::Not => "not",
            Self::Dag => "dag",
            Self::Label => "label",
            Self::Empty => "empty",
            Self::Eof => "eof",
        }
    }
}

/// What stands where a directive was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Check {
        kind: Kind,
        count: u32,
        literal: bool,
    },
    Comment,
    /// `CHECK_NEXT:`
    Underscore,
    /// `CHECK-DAG-NOT:`
    BadNot,
    /// `CHECK-COUNT-0:`
    BadCount,
}

/// A directive in a check file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Directive<'a> {
    pub(crate) prefix: &'a str,
    pub(crate) found: Found,
    /// Where the prefix starts.
    pub(crate) start: usize,
    /// Where the text after the colon starts, or after what was understood.
    pub(crate) after: usize,
}

/// Finds directives from the start of a check file to its end.
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    /// Longer prefixes first, so that at one place the longest wins.
    prefixes: Vec<Prefix<'a>>,
    at: usize,
}

struct Prefix<'a> {
    name: &'a str,
    comment: bool,
    finder: memmem::Finder<'a>,
    /// Its next occurrence; stale if before the scanner's place.
    next: Option<usize>,
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte == b'-' || byte == b'_' || byte.is_ascii_alphanumeric()
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a [u8], check: &[&'a str], comment: &[&'a str]) -> Self {
        let all = check.iter().map(|&name| (name, false)).chain(comment.iter().map(|&name| (name, true)));
        let mut prefixes: Vec<_> = all
            .map(|(name, comment)| {
                let finder = memmem::Finder::new(name);
                let next = finder.find(text);
                Prefix { name, comment, finder, next }
            })
            .collect();
        prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.name.len()));
        Self { text, prefixes, at: 0 }
    }

    /// Continues at the end of the line that contains `offset`.
    pub(crate) fn skip_line(&mut self, offset: usize) {
        let rest = &self.text[offset..];
        self.at = memchr::memchr2(b'\n', b'\r', rest).map_or(self.text.len(), |i| offset + i);
    }

    /// The next directive; the scanner stays at what follows it.
    pub(crate) fn next(&mut self) -> Option<Directive<'a>> {
        while let Some((start, prefix, comment)) = self.next_prefix() {
            let starts_word = start == 0 || !is_word(self.text[start - 1]);
            let rest = start + prefix.len();
            if starts_word {
                let found = match comment {
                    true => (self.text.get(rest) == Some(&b':')).then_some((Found::Comment, rest + 1)),
                    false => classify(self.text, rest),
                };
                if let Some((found, after)) = found {
                    self.at = after;
                    return Some(Directive { prefix, found, start, after });
                }
            }
            let word = self.text[rest..].iter().take_while(|&&b| is_word(b));
            self.at = rest + word.count();
        }
        None
    }

    fn next_prefix(&mut self) -> Option<(usize, &'a str, bool)> {
        let mut first: Option<(usize, &'a str, bool)> = None;
        for prefix in &mut self.prefixes {
            if prefix.next.is_some_and(|next| next < self.at) {
                let rest = &self.text[self.at..];
                prefix.next = prefix.finder.find(rest).map(|i| self.at + i);
            }
            if let Some(next) = prefix.next
                && first.is_none_or(|(at, ..)| next < at)
            {
                first = Some((next, prefix.name, prefix.comment));
            }
        }
        first
    }
}

/// Reads what follows a check prefix: `:`, `{LITERAL}:`, `-NEXT:` and so on.
/// The offset is where the text after the directive starts.
pub(crate) fn classify(text: &[u8], at: usize) -> Option<(Found, usize)> {
    let rest = &text[at..];
    let (underscore, body) = match rest.first()? {
        b':' | b'{' => return modifiers(rest, Kind::Plain, 1).map(|(f, n)| (f, at + n)),
        b'-' => (false, &rest[1..]),
        b'_' => (true, &rest[1..]),
        _ => return None,
    };
    let (found, length) = suffix(body)?;
    let found = if underscore { Found::Underscore } else { found };
    Some((found, at + 1 + length))
}

fn suffix(body: &[u8]) -> Option<(Found, usize)> {
    if let Some(rest) = body.strip_prefix(b"COUNT-") {
        return Some(count(rest, body.len() - rest.len()));
    }
    for other in ["DAG", "NEXT", "SAME", "EMPTY"] {
        for combination in [format!("{other}-NOT:"), format!("NOT-{other}:")] {
            if body.starts_with(combination.as_bytes()) {
                return Some((Found::BadNot, combination.len()));
            }
        }
    }
    let (name, kind) = SUFFIXES.into_iter().find(|(name, _)| body.starts_with(name.as_bytes()))?;
    let (found, length) = modifiers(&body[name.len()..], kind, 1)?;
    Some((found, name.len() + length))
}

fn count(rest: &[u8], skipped: usize) -> (Found, usize) {
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let bad = (Found::BadCount, skipped + digits);
    let number = std::str::from_utf8(&rest[..digits]).ok();
    let Some(count) = number.and_then(|n| n.parse::<i32>().ok()).filter(|&n| n > 0) else {
        return bad;
    };
    match modifiers(&rest[digits..], Kind::Plain, count.unsigned_abs()) {
        Some((found, length)) => (found, skipped + digits + length),
        None => bad,
    }
}

/// Reads `:` or `{LITERAL}:`.
fn modifiers(rest: &[u8], kind: Kind, count: u32) -> Option<(Found, usize)> {
    let check = |literal| Found::Check { kind, count, literal };
    if rest.first() == Some(&b':') {
        return Some((check(false), 1));
    }
    let mut at = 1;
    if rest.first() != Some(&b'{') {
        return None;
    }
    let skip_space = |at: usize| at + rest[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    loop {
        at = skip_space(at);
        if !rest[at..].starts_with(b"LITERAL") {
            return None;
        }
        at = skip_space(at + b"LITERAL".len());
        if rest.get(at) != Some(&b',') {
            break;
        }
        at += 1;
    }
    rest[at..].starts_with(b"}:").then_some((check(true), at + 2))
}
