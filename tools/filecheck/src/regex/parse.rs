//! The syntax of POSIX extended regular expressions.

use super::ast::{Assertion, ByteSet, Node};

/// The largest count in `{m,n}`.
const MAX_COUNT: u32 = 255;

/// How deep parentheses may nest.
const MAX_DEPTH: u32 = 200;

/// What is wrong with an expression, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Offset in bytes from the start of the expression.
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// Whether escapes that POSIX reads as plain letters (`\d` is `d`) are errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    Lenient,
    Strict,
}

/// How an expression is to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub(crate) strictness: Strictness,
    /// Letters in brackets stand for both cases.
    pub(crate) ignore_case: bool,
}

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) node: Node,
    /// How many groups it opens.
    pub(crate) groups: u32,
}

/// Parses `text`; its groups get the numbers from `first_group` on.
///
/// Back-references are numbers in the pattern as a whole, whose other pieces
/// this function does not see, but a piece must contain the groups it names.
pub(crate) fn parse(text: &[u8], first_group: u32, options: Options) -> Result<Parsed, SyntaxError> {
    let mut parser = Parser { text, at: 0, depth: 0, first_group, groups: 0, closed: Vec::new(), options };
    let node = parser.alternatives()?;
    if parser.at < text.len() {
        return Err(parser.error("')' without '('; write '\\)' for the character"));
    }
    Ok(Parsed { node, groups: parser.groups })
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
    first_group: u32,
    groups: u32,
    /// Per group of this piece: whether its closing parenthesis was seen.
    closed: Vec<bool>,
    options: Options,
}

impl Parser<'_> {
    fn error(&self, message: impl Into<String>) -> SyntaxError {
        self.error_at(self.at, message)
    }

    fn error_at(&self, at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError { at: at.min(self.text.len()), message: message.into() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek_second(&self) -> Option<u8> {
        self.text.get(self.at + 1).copied()
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn alternatives(&mut self) -> Result<Node, SyntaxError> {
        let mut branches = vec![self.sequence()?];
        while self.eat(b'|') {
            branches.push(self.sequence()?);
        }
        Ok(match branches.len() {
            1 => branches.swap_remove(0),
            _ => Node::Alt(branches),
        })
    }

    fn sequence(&mut self) -> Result<Node, SyntaxError> {
        let mut items = Vec::new();
        while !matches!(self.peek(), None | Some(b'|' | b')')) {
            let item = self.repeated()?;
            match (items.last_mut(), item) {
                (Some(Node::Bytes(run)), Node::Bytes(more)) => run.extend(more),
                (_, item) => items.push(item),
            }
        }
        match items.len() {
            0 => Err(self.error("empty (sub)expression")),
            1 => Ok(items.swap_remove(0)),
            _ => Ok(Node::Concat(items)),
        }
    }

    fn repeated(&mut self) -> Result<Node, SyntaxError> {
        let start = self.at;
        let atom = self.atom()?;
        let Some((min, max)) = self.quantifier()? else {
            return Ok(atom);
        };
        if atom == Node::Assert(Assertion::LineStart) {
            return Err(self.error_at(start, "'^' cannot be repeated"));
        }
        let at = self.at;
        if self.quantifier()?.is_some() {
            return Err(self.error_at(at, "repetition of a repetition; put the inner one in parentheses"));
        }
        Ok(Node::Repeat { node: Box::new(atom), min, max })
    }

    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>)>, SyntaxError> {
        let counts = match self.peek() {
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            Some(b'?') => (0, Some(1)),
            Some(b'{') if self.peek_second().is_some_and(|b| b.is_ascii_digit()) => {
                self.at += 1;
                return self.interval().map(Some);
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(counts))
    }

    fn interval(&mut self) -> Result<(u32, Option<u32>), SyntaxError> {
        let start = self.at;
        let min = self.count()?;
        let max = if !self.eat(b',') {
            Some(min)
        } else if self.peek().is_some_and(|b| b.is_ascii_digit()) {
            Some(self.count()?)
        } else {
            None
        };
        if !self.eat(b'}') {
            let message = match self.text[self.at..].contains(&b'}') {
                true => "invalid repetition count; the form is {m}, {m,} or {m,n}",
                false => "braces not balanced; the form is {m}, {m,} or {m,n}",
            };
            return Err(self.error(message));
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.error_at(start, "invalid repetition count: {m,n} needs m <= n"));
        }
        Ok((min, max))
    }

    fn count(&mut self) -> Result<u32, SyntaxError> {
        let start = self.at;
        let mut value = 0u32;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            value = value.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            self.at += 1;
        }
        if value > MAX_COUNT {
            return Err(self.error_at(start, format!("invalid repetition count: at most {MAX_COUNT}")));
        }
        Ok(value)
    }

    fn atom(&mut self) -> Result<Node, SyntaxError> {
        let start = self.at;
        let byte = self.text[start];
        self.at += 1;
        match byte {
            b'(' => self.group(start),
            b'^' => Ok(Node::Assert(Assertion::LineStart)),
            b'$' => Ok(Node::Assert(Assertion::LineEnd)),
            b'.' => Ok(Node::Set(ByteSet::any())),
            b'[' => self.bracket(start),
            b'\\' => self.escape(start),
            b'*' | b'+' | b'?' => Err(self.error_at(start, format!("'{}' has nothing to repeat", char::from(byte)))),
            b'{' if self.peek().is_some_and(|b| b.is_ascii_digit()) => {
                Err(self.error_at(start, "'{' has nothing to repeat"))
            }
            _ => Ok(Node::Bytes(vec![byte])),
        }
    }

    fn group(&mut self, start: usize) -> Result<Node, SyntaxError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error_at(start, format!("more than {MAX_DEPTH} nested parentheses")));
        }
        let index = self.groups;
        self.groups += 1;
        self.closed.push(false);
        let node = if self.peek() == Some(b')') {
            Node::Empty
        } else {
            self.depth += 1;
            let node = self.alternatives();
            self.depth -= 1;
            // Report the missing parenthesis rather than what follows from it.
            match node {
                Err(error) if self.peek().is_none() && error.at == self.text.len() => {
                    return Err(self.error_at(start, "parentheses not balanced"));
                }
                other => other?,
            }
        };
        if !self.eat(b')') {
            return Err(self.error_at(start, "parentheses not balanced"));
        }
        self.closed[index as usize] = true;
        Ok(Node::Group(self.first_group + index, Box::new(node)))
    }

    fn escape(&mut self, start: usize) -> Result<Node, SyntaxError> {
        let Some(byte) = self.peek() else {
            return Err(self.error_at(start, "trailing backslash"));
        };
        self.at += 1;
        match byte {
            b'1'..=b'9' => {
                let group = u32::from(byte - b'0');
                if self.closed.get(group as usize - 1) != Some(&true) {
                    return Err(self.error_at(start, format!("back-reference '\\{group}' names no complete group")));
                }
                Ok(Node::Backref(group))
            }
            _ if byte.is_ascii_alphanumeric() && self.options.strictness == Strictness::Strict => {
                Err(self.error_at(start, escape_hint(byte)))
            }
            _ => Ok(Node::Bytes(vec![byte])),
        }
    }

    fn bracket(&mut self, start: usize) -> Result<Node, SyntaxError> {
        for (text, assertion) in [(&b"[:<:]]"[..], Assertion::WordStart), (&b"[:>:]]"[..], Assertion::WordEnd)] {
            if self.text[self.at..].starts_with(text) {
                self.at += text.len();
                return Ok(Node::Assert(assertion));
            }
        }
        let mut set = ByteSet::default();
        let negated = self.eat(b'^');
        for literal in [b']', b'-'] {
            if self.eat(literal) {
                set.insert(literal);
                break;
            }
        }
        loop {
            match (self.peek(), self.peek_second()) {
                (None, _) => return Err(self.error_at(start, "brackets ([ ]) not balanced")),
                (Some(b']'), _) => break,
                (Some(b'-'), Some(b']')) => {
                    set.insert(b'-');
                    self.at += 1;
                }
                _ => self.bracket_item(start, &mut set)?,
            }
        }
        self.at += 1;
        if self.options.ignore_case {
            set.close_under_case();
        }
        if negated {
            set.invert();
            set.remove(b'\n');
        }
        Ok(Node::Set(set))
    }

    fn bracket_item(&mut self, open: usize, set: &mut ByteSet) -> Result<(), SyntaxError> {
        let start = self.at;
        match (self.peek(), self.peek_second()) {
            (Some(b'['), Some(b':')) => {
                let name = self.delimited(open, b':')?;
                return add_class(name, set).ok_or_else(|| self.error_at(start, "unknown character class"));
            }
            (Some(b'['), Some(b'=')) => {
                let name = self.delimited(open, b'=')?;
                set.insert(single(name).ok_or_else(|| self.error_at(start, "unknown collating element"))?);
                return Ok(());
            }
            (Some(b'-'), _) => {
                return Err(self.error("invalid character range; put '-' first or last"));
            }
            _ => {}
        }
        let first = self.bracket_symbol(open)?;
        let mut last = first;
        if self.peek() == Some(b'-') && self.peek_second().is_some_and(|b| b != b']') {
            self.at += 1;
            last = match self.eat(b'-') {
                true => b'-',
                false => self.bracket_symbol(open)?,
            };
        }
        if first > last {
            return Err(self.error_at(
                start,
                format!("invalid character range: '{}' is after '{}'", first.escape_ascii(), last.escape_ascii()),
            ));
        }
        (first..=last).for_each(|byte| set.insert(byte));
        Ok(())
    }

    fn bracket_symbol(&mut self, open: usize) -> Result<u8, SyntaxError> {
        let start = self.at;
        if self.peek() == Some(b'[') && self.peek_second() == Some(b'.') {
            let name = self.delimited(open, b'.')?;
            return single(name).ok_or_else(|| self.error_at(start, "unknown collating element"));
        }
        let byte = self.peek().ok_or_else(|| self.error_at(open, "brackets ([ ]) not balanced"))?;
        self.at += 1;
        Ok(byte)
    }

    /// Reads `[:name:]` and the like; the cursor is on the bracket.
    fn delimited(&mut self, open: usize, mark: u8) -> Result<&[u8], SyntaxError> {
        let from = self.at + 2;
        let close = [mark, b']'];
        let Some(length) = memchr::memmem::find(&self.text[from..], &close) else {
            return Err(self.error_at(open, "brackets ([ ]) not balanced"));
        };
        self.at = from + length + 2;
        Ok(&self.text[from..from + length])
    }
}

fn escape_hint(byte: u8) -> String {
    let letter = char::from(byte);
    let instead = match byte {
        b'd' => "; write [0-9]",
        b'w' => "; write [[:alnum:]_]",
        b's' => "; write [[:space:]] or [[:blank:]]",
        b'b' => "; write [[:<:]] or [[:>:]]",
        _ => "",
    };
    format!("'\\{letter}' would match the letter '{letter}': there are no such classes{instead}")
}

fn single(name: &[u8]) -> Option<u8> {
    match name {
        [byte] => Some(*byte),
        _ => None,
    }
}

fn add_class(name: &[u8], set: &mut ByteSet) -> Option<()> {
    let test: fn(u8) -> bool = match name {
        b"alnum" => |b| b.is_ascii_alphanumeric(),
        b"alpha" => |b| b.is_ascii_alphabetic(),
        b"blank" => |b| b == b' ' || b == b'\t',
        b"cntrl" => |b| b.is_ascii_control(),
        b"digit" => |b| b.is_ascii_digit(),
        b"graph" => |b| b.is_ascii_graphic(),
        b"lower" => |b| b.is_ascii_lowercase(),
        b"print" => |b| b.is_ascii_graphic() || b == b' ',
        b"punct" => |b| b.is_ascii_punctuation(),
        b"space" => |b| matches!(b, b' ' | b'\t'..=b'\r'),
        b"upper" => |b| b.is_ascii_uppercase(),
        b"xdigit" => |b| b.is_ascii_hexdigit(),
        _ => return None,
    };
    set.insert_where(test);
    Some(())
}
