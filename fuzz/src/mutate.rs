//! Changes of texts that keep most of their structure.

use sutura_interp::random::Random;

use crate::corpus::Corpus;

/// Words, numbers, strings, blanks and single characters.
pub fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |at| at + 2),
            c if c == '_' || c.is_alphanumeric() => {
                run(rest, |c| c == '_' || c == '.' || c == '$' || c.is_alphanumeric())
            }
            c if c.is_whitespace() => run(rest, char::is_whitespace),
            '%' | '@' | '#' | '!' | '^' => 1 + run(&rest[1..], |c| c == '_' || c == '.' || c.is_alphanumeric()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(len);
        found.push(token);
        rest = after;
    }
    found
}

fn run(text: &str, of: impl Fn(char) -> bool) -> usize {
    text.find(|c| !of(c)).unwrap_or(text.len())
}

fn below(random: &mut Random, n: usize) -> usize {
    if n == 0 { 0 } else { random.range(0, n as i64 - 1) as usize }
}

/// One of `list`.
pub(crate) fn pick<'l, T>(random: &mut Random, list: &'l [T]) -> &'l T {
    &list[below(random, list.len())]
}

/// Numbers at which things end.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "8",
    "63",
    "64",
    "65",
    "127",
    "128",
    "255",
    "256",
    "4096",
    "65536",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999",
    "0x7F",
    "0xFFFFFFFFFFFFFFFF",
    "1.0",
    "-0.0",
    "1e400",
    "1e-400",
    "0x7FC00000",
    "16777215",
    "16777216",
];

/// A text with some changes.
pub fn mutated(corpus: &Corpus, texts: &[String], random: &mut Random) -> String {
    let mut text = pick(random, texts).clone();
    for _ in 0..random.range(0, 4) {
        text = match random.range(0, 11) {
            0 => lines(&text, random),
            1 => splice(&text, &pick(random, texts).clone(), random),
            2 => nest(&text, random),
            3 => bytes(&text, random),
            _ => change_tokens(corpus, &text, random),
        };
    }
    text
}

/// Changes, moves, doubles or deletes tokens.
fn change_tokens(corpus: &Corpus, text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    if tokens.is_empty() {
        return pick(random, &corpus.words).clone();
    }
    let at = below(random, tokens.len());
    let length = 1 + below(random, 8).min(tokens.len() - at - 1);
    match random.range(0, 7) {
        0 => drop(tokens.drain(at..at + length)),
        1 => {
            let copy = tokens[at..at + length].to_vec();
            let to = below(random, tokens.len());
            tokens.splice(to..to, copy);
        }
        2 => {
            let other = below(random, tokens.len());
            tokens.swap(at, other);
        }
        3 => tokens[at] = pick(random, &corpus.words).as_str(),
        4 => tokens.insert(at, pick(random, &corpus.words).as_str()),
        5 => {
            let numbers: Vec<usize> =
                (0..tokens.len()).filter(|i| tokens[*i].starts_with(|c: char| c.is_ascii_digit())).collect();
            if !numbers.is_empty() {
                tokens[*pick(random, &numbers)] = *pick::<&str>(random, NUMBERS);
            }
        }
        6 => {
            // A token of the same text of the same sort: another value, symbol or type.
            let sort = tokens[at].chars().next();
            let same: Vec<&str> = tokens.iter().copied().filter(|t| t.chars().next() == sort).collect();
            tokens[at] = *pick::<&str>(random, &same);
        }
        _ => {
            let list = if random.range(0, 1) == 0 { &corpus.types } else { &corpus.attrs };
            tokens[at] = pick(random, list).as_str();
        }
    }
    tokens.concat()
}

/// Deletes, doubles or moves lines.
fn lines(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return String::new();
    }
    let at = below(random, lines.len());
    let length = 1 + below(random, 5).min(lines.len() - at - 1);
    let part = lines[at..at + length].to_vec();
    if random.range(0, 2) > 0 {
        lines.drain(at..at + length);
    }
    if random.range(0, 2) > 0 {
        let to = below(random, lines.len() + 1);
        lines.splice(to..to, part);
    }
    lines.concat()
}

/// The beginning of one text and the end of another.
fn splice(first: &str, second: &str, random: &mut Random) -> String {
    let (a, b) = (cut(first, random), cut(second, random));
    format!("{}{}", &first[..a], &second[b..])
}

fn cut(text: &str, random: &mut Random) -> usize {
    let mut at = below(random, text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Repeats a bracket, a token or a line often.
fn nest(text: &str, random: &mut Random) -> String {
    let at = cut(text, random);
    let open = *pick(
        random,
        &["(", "[", "{", "<", "tensor<", "module {", "vector<2x", "[[", "{a = ", "(d0 + ", "-", "\n", "loc("],
    );
    let close = match open {
        o if o.ends_with('(') => ")",
        o if o.ends_with('{') => "}",
        o if o.contains('<') => ">",
        o if o.ends_with('[') => "]",
        _ => "",
    };
    let times = *pick(random, &[2, 10, 100, 300, 3_000]);
    format!("{}{}{}{}", &text[..at], open.repeat(times), close.repeat(times), &text[at..])
}

/// Changes characters.
fn bytes(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..random.range(1, 4) {
        if chars.is_empty() {
            break;
        }
        let at = below(random, chars.len());
        match random.range(0, 2) {
            0 => drop(chars.remove(at)),
            1 => chars[at] = char::from(random.range(0, 127) as u8),
            _ => chars.insert(at, *pick(random, &['\0', '\u{7f}', 'ä', '😀', '\r', '\\', '"', '\t', '\u{feff}'])),
        }
    }
    chars.into_iter().collect()
}

/// The same program in other words: values and blocks have other names, lines end in comments, and blanks grow. Names stay where a
/// kernel or a program lists its sizes, as `dims(%M)`: a size is called what its value is.
pub(crate) fn perturbed(text: &str, random: &mut Random) -> String {
    let (prefix, suffix) = (*pick(random, &["v_", "_", "a$"]), *pick(random, &[".x", "_y", "-z"]));
    let mut changed = String::new();
    let renamed = !text.contains("dims(");
    // Blanks in brackets may be part of a text that is kept as it was written.
    let mut brackets = 0_usize;
    for (token, next) in with_next(&tokens(text)) {
        let numbered = token.strip_prefix(['%', '^']).filter(|name| renamed && !name.is_empty());
        match token {
            "<" => brackets += 1,
            ">" if !changed.ends_with('-') => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        match (token.chars().next(), numbered) {
            (Some(' ' | '\n'), None) if brackets > 0 => changed += token,
            // What stands behind a `#` says which of several results is meant.
            (Some(sigil), Some(name)) => changed += &format!("{sigil}{prefix}{name}{suffix}"),
            (Some('\n'), None) if random.range(0, 2) == 0 => changed += &format!(" // c \"%0 {{\n\t{}", &token[1..]),
            (Some(' '), None) if random.range(0, 5) == 0 && !next.starts_with('/') => changed += &format!("{token} \t"),
            _ => changed += token,
        }
    }
    changed
}

fn with_next<'t>(tokens: &[&'t str]) -> impl Iterator<Item = (&'t str, &'t str)> {
    let next = tokens.iter().skip(1).copied().chain([""]);
    tokens.iter().copied().zip(next).collect::<Vec<_>>().into_iter()
}
