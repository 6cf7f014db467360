//! The text after a directive: its parts, and how they become a matcher.

use crate::config::Config;
use crate::directive::Kind;
use crate::expr::{self, Block, Context, EvalError, ParseError};
use crate::matcher::{Held, Literal, Matcher};
use crate::regex::{self, Node, Regex, RegexError, Strictness};
use crate::source::Slice;
use crate::vars::{NumberId, Symbols, Values};

/// What a capture group defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Text(String),
    Number(NumberId),
}

/// A part of a pattern whose text is known only when it is matched.
#[derive(Debug)]
pub(crate) struct Substitution {
    /// Where it is in the check file.
    pub(crate) at: usize,
    /// How it is written, without brackets.
    pub(crate) written: String,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Text(String),
    Number(Box<Block>),
}

/// What is to be matched.
#[derive(Debug)]
enum Body {
    Eof,
    EmptyLine,
    Fixed(Box<Literal>),
    /// No substitutions: compiled once.
    Regex(Box<Regex>),
    /// Compiled with the values of the substitutions.
    Template(Node),
}

/// A parsed pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    body: Body,
    ignore_case: bool,
    line: Option<usize>,
    pub(crate) substitutions: Vec<Substitution>,
    /// The variables it defines, by group, ascending.
    pub(crate) captures: Vec<(u32, Target)>,
    groups: Vec<u32>,
    /// What its text looks like, to find what may have been meant.
    pub(crate) example: Vec<u8>,
}

/// What a pattern is parsed for.
pub(crate) struct Request<'a> {
    pub(crate) kind: Kind,
    pub(crate) literal: bool,
    /// The line of the directive; `None` on the command line.
    pub(crate) line: Option<usize>,
    pub(crate) config: &'a Config,
}

impl Pattern {
    /// The pattern that matches the end of the input only.
    pub(crate) fn eof() -> Self {
        Self::simple(Body::Eof, Vec::new(), false)
    }

    fn simple(body: Body, example: Vec<u8>, ignore_case: bool) -> Self {
        Self {
            body,
            ignore_case,
            line: None,
            substitutions: Vec::new(),
            captures: Vec::new(),
            groups: Vec::new(),
            example,
        }
    }

    /// Parses `text`, from which blanks at the start have been removed.
    pub(crate) fn parse(mut text: Slice<'_>, request: &Request<'_>, symbols: &mut Symbols) -> Result<Self, ParseError> {
        let config = request.config;
        if !(config.strict_whitespace && config.match_full_lines) {
            text.trim_end_blanks();
        }
        let ignore_case = config.ignore_case;
        match (request.kind, text.is_empty()) {
            (Kind::Empty, true) => return Ok(Self::simple(Body::EmptyLine, Vec::new(), false)),
            (Kind::Empty, false) => {
                return Err(ParseError::new(text.start, "found non-empty check string for empty check"));
            }
            (_, true) => return Err(ParseError::new(text.start, "found empty check string")),
            (_, false) => {}
        }
        let full_line = config.match_full_lines && request.kind != Kind::Not;
        let plain = text.find("{{").is_none() && text.find("[[").is_none();
        if request.literal || (plain && !full_line) {
            let bytes = text.bytes().to_vec();
            let literal = Literal::new(bytes.clone(), ignore_case);
            return Ok(Self::simple(Body::Fixed(Box::new(literal)), bytes, ignore_case));
        }
        let mut builder = Builder::new(request, symbols);
        builder.example = text.bytes().to_vec();
        if full_line {
            builder.line_edge(Some("^"), config.strict_whitespace);
        }
        builder.parts(text)?;
        if full_line {
            builder.line_edge(None, config.strict_whitespace);
        }
        builder.finish(text.start)
    }

    /// Whether it defines or uses a variable.
    pub(crate) fn has_variables(&self) -> bool {
        !self.substitutions.is_empty() || !self.captures.is_empty()
    }

    /// The groups a match must place, ascending.
    pub(crate) fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The value of a substitution, or why there is none.
    pub(crate) fn substitute(
        &self,
        substitution: &Substitution,
        values: &Values,
        symbols: &Symbols,
    ) -> Result<Vec<u8>, Vec<ParseError>> {
        let undefined = |at, name: &str| ParseError::new(at, format!("undefined variable: {name}"));
        match &substitution.value {
            Value::Text(name) => match values.string(name) {
                Some(value) => Ok(value.to_vec()),
                None => Err(vec![undefined(substitution.at, name)]),
            },
            Value::Number(block) => {
                let number = block.expr.as_ref().map(|expr| {
                    let value = expr.eval(self.line, values)?;
                    let text = block.format.write(&value);
                    text.ok_or_else(|| vec![EvalError::NoSign])
                });
                match number {
                    None => Ok(Vec::new()),
                    Some(Ok(text)) => Ok(text.into_bytes()),
                    Some(Err(errors)) => Err(errors
                        .into_iter()
                        .map(|error| match error {
                            EvalError::Undefined { id, at } => undefined(at, &symbols.get(id).name),
                            EvalError::DivisionByZero { at } => {
                                ParseError::new(at, "division by zero in numeric expression")
                            }
                            EvalError::NoLine { at } => ParseError::new(at, "there is no @LINE outside the check file"),
                            EvalError::NoSign => ParseError::new(
                                substitution.at,
                                format!("value is negative, which format {} cannot express; use %d", block.format),
                            ),
                        })
                        .collect()),
                }
            }
        }
    }

    /// A matcher for the values the variables have now.
    pub(crate) fn matcher(&self, values: &Values, symbols: &Symbols) -> Result<Matcher<'_>, Vec<ParseError>> {
        let template = match &self.body {
            Body::Eof => return Ok(Matcher::Eof),
            Body::EmptyLine => return Ok(Matcher::EmptyLine),
            Body::Fixed(literal) => return Ok(Matcher::Literal(Held::Borrowed(literal))),
            Body::Regex(regex) => return Ok(Matcher::Regex(Held::Borrowed(regex))),
            Body::Template(template) => template,
        };
        let mut texts = Vec::with_capacity(self.substitutions.len());
        let mut errors = Vec::new();
        for substitution in &self.substitutions {
            match self.substitute(substitution, values, symbols) {
                Ok(text) => texts.push(text),
                Err(more) => errors.extend(more),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let filled = template.fill(&texts);
        if let Some(bytes) = as_literal(&filled) {
            let literal = Literal::new(bytes, self.ignore_case);
            return Ok(Matcher::Literal(Held::Owned(Box::new(literal))));
        }
        let regex = Regex::new(&filled, self.ignore_case);
        let at = self.substitutions.first().map_or(0, |s| s.at);
        let regex = regex.map_err(|error| vec![regex_error(at, &error)])?;
        Ok(Matcher::Regex(Held::Owned(Box::new(regex))))
    }
}

fn regex_error(at: usize, error: &RegexError) -> ParseError {
    ParseError::new(at, error.to_string())
}

/// The bytes of a tree that is nothing but bytes.
fn as_literal(node: &Node) -> Option<Vec<u8>> {
    match node {
        Node::Bytes(bytes) => Some(bytes.clone()),
        Node::Concat(nodes) => nodes.iter().try_fold(Vec::new(), |mut all, node| {
            let Node::Bytes(bytes) = node else {
                return None;
            };
            all.extend_from_slice(bytes);
            Some(all)
        }),
        _ => None,
    }
}

/// Collects the parts of one pattern.
struct Builder<'a, 's> {
    request: &'a Request<'a>,
    symbols: &'s mut Symbols,
    options: regex::Options,
    items: Vec<Node>,
    next_group: u32,
    substitutions: Vec<Substitution>,
    captures: Vec<(u32, Target)>,
    example: Vec<u8>,
}

impl<'a, 's> Builder<'a, 's> {
    fn new(request: &'a Request<'a>, symbols: &'s mut Symbols) -> Self {
        Self {
            request,
            symbols,
            options: regex::Options {
                strictness: match request.config.no_lint {
                    true => Strictness::Lenient,
                    false => Strictness::Strict,
                },
                ignore_case: request.config.ignore_case,
            },
            items: Vec::new(),
            next_group: 1,
            substitutions: Vec::new(),
            captures: Vec::new(),
            example: Vec::new(),
        }
    }

    /// Adds what `--match-full-lines` puts around a pattern.
    fn line_edge(&mut self, start: Option<&str>, strict_whitespace: bool) {
        let text = match (start, strict_whitespace) {
            (Some(_), true) => "^",
            (Some(_), false) => "^ *",
            (None, true) => "$",
            (None, false) => " *$",
        };
        // These four parse.
        if let Ok(parsed) = regex::parse(text.as_bytes(), self.next_group, self.options) {
            self.push(parsed.node);
        }
    }

    /// Adds an item; sequences are flattened, so that every part of the pattern
    /// is an item of its own.
    fn push(&mut self, node: Node) {
        match node {
            Node::Concat(nodes) => nodes.into_iter().for_each(|node| self.push(node)),
            Node::Bytes(more) => match self.items.last_mut() {
                Some(Node::Bytes(run)) => run.extend(more),
                _ => self.items.push(Node::Bytes(more)),
            },
            node => self.items.push(node),
        }
    }

    fn parts(&mut self, mut text: Slice<'_>) -> Result<(), ParseError> {
        while !text.is_empty() {
            if text.starts_with("{{") {
                self.regex_part(&mut text)?;
            } else if text.starts_with("[[") && !text.starts_with("[[[") {
                self.bracket_part(&mut text)?;
            } else {
                let rest = &text.bytes()[1..];
                let stops = ["{{", "[["].map(|stop| memchr::memmem::find(rest, stop.as_bytes()));
                let length = stops.into_iter().flatten().min().unwrap_or(rest.len());
                self.push(Node::Bytes(text.take(length + 1).bytes().to_vec()));
            }
        }
        Ok(())
    }

    fn new_group(&mut self) -> u32 {
        self.next_group += 1;
        self.next_group - 1
    }

    fn regex(&mut self, text: &[u8], at: usize) -> Result<Node, ParseError> {
        let parsed = regex::parse(text, self.next_group, self.options)
            .map_err(|error| ParseError::new(at + error.at, format!("invalid regex: {}", error.message)))?;
        self.next_group += parsed.groups;
        Ok(parsed.node)
    }

    /// `{{regex}}`
    fn regex_part(&mut self, text: &mut Slice<'_>) -> Result<(), ParseError> {
        let Some(end) = text.find("}}") else {
            return Err(ParseError::new(text.start, "found start of regex string with no end '}}'"));
        };
        // Numbering of groups is FileCheck's: a `|` anywhere in the rest of the
        // pattern puts parentheses around this part.
        let wrapped = text.bytes().contains(&b'|');
        let part = text.take(end + 2);
        let inner = &part.bytes()[2..end];
        let group = wrapped.then(|| self.new_group());
        let node = self.regex(inner, part.start + 2)?;
        self.push(match group {
            Some(group) => Node::Group(group, Box::new(node)),
            None => node,
        });
        Ok(())
    }

    /// `[[...]]` in all its forms
    fn bracket_part(&mut self, text: &mut Slice<'_>) -> Result<(), ParseError> {
        let open = text.start;
        text.take(2);
        let end =
            bracket_end(*text)?.ok_or_else(|| ParseError::new(open, "invalid substitution block, no ]] found"))?;
        let mut inner = text.take(end);
        text.take(2);
        if inner.eat("#") {
            return self.numeric_part(inner, false);
        }
        let colon = inner.find(":");
        let name_part = &inner.bytes()[..colon.unwrap_or(inner.bytes().len())];
        if let Some(blank) = name_part.iter().position(|b| matches!(b, b' ' | b'\t')) {
            return Err(ParseError::new(inner.start + blank, "unexpected whitespace in variable name"));
        }
        let whole = inner;
        let name = expr::parse_name(&mut inner)?;
        if colon.is_some() {
            if name.pseudo || !inner.eat(":") {
                return Err(ParseError::new(name.at, "invalid name in string variable definition"));
            }
            return self.string_definition(name.text, name.at, inner);
        }
        if name.pseudo {
            return self.numeric_part(whole, true);
        }
        if !inner.is_empty() {
            return Err(ParseError::new(name.at, "invalid name in string variable use"));
        }
        self.string_use(name.text, whole);
        Ok(())
    }

    /// `[[NAME:regex]]`
    fn string_definition(&mut self, name: String, at: usize, pattern: Slice<'_>) -> Result<(), ParseError> {
        if self.symbols.number(&name).is_some() {
            return Err(ParseError::new(at, format!("numeric variable with name '{name}' already exists")));
        }
        self.symbols.strings.insert(name.clone());
        let group = self.capture(Target::Text(name));
        let node = match pattern.is_empty() {
            true => Node::Empty,
            false => self.regex(pattern.bytes(), pattern.start)?,
        };
        self.items.push(Node::Group(group, Box::new(node)));
        Ok(())
    }

    /// A new group for a variable; its last definition in a pattern counts.
    fn capture(&mut self, target: Target) -> u32 {
        let group = self.new_group();
        self.captures.retain(|(_, other)| *other != target);
        self.captures.push((group, target));
        group
    }

    /// `[[NAME]]`
    fn string_use(&mut self, name: String, written: Slice<'_>) {
        let here = Target::Text(name.clone());
        let defined_here = self.captures.iter().find(|(_, target)| *target == here);
        if let Some(&(group, _)) = defined_here {
            self.items.push(Node::Backref(group));
            return;
        }
        let hole = self.hole(written, Value::Text(name));
        self.items.push(hole);
    }

    fn hole(&mut self, written: Slice<'_>, value: Value) -> Node {
        self.substitutions.push(Substitution { at: written.start, written: written.to_text(), value });
        Node::Hole(self.substitutions.len() - 1)
    }

    /// `[[#...]]` and `[[@LINE...]]`
    fn numeric_part(&mut self, text: Slice<'_>, legacy: bool) -> Result<(), ParseError> {
        let context = Context { line: self.request.line, legacy };
        let block = expr::parse_block(text, context, self.symbols)?;
        let group = block.defines.map(|number| self.capture(Target::Number(number)));
        let node = match block.expr {
            Some(_) => self.hole(text, Value::Number(Box::new(block))),
            None => self.regex(block.format.wildcard().as_bytes(), text.start)?,
        };
        match group {
            Some(group) => self.items.push(Node::Group(group, Box::new(node))),
            None => self.push(node),
        }
        Ok(())
    }

    fn finish(mut self, at: usize) -> Result<Pattern, ParseError> {
        let node = match self.items.len() {
            1 => self.items.swap_remove(0),
            _ => Node::Concat(self.items),
        };
        let ignore_case = self.request.config.ignore_case;
        let body = match as_literal(&node) {
            Some(bytes) => Body::Fixed(Box::new(Literal::new(bytes, ignore_case))),
            None if self.substitutions.is_empty() => {
                let regex = Regex::new(&node, ignore_case);
                Body::Regex(Box::new(regex.map_err(|error| regex_error(at, &error))?))
            }
            None => Body::Template(node),
        };
        Ok(Pattern {
            body,
            ignore_case,
            line: self.request.line,
            substitutions: self.substitutions,
            groups: self.captures.iter().map(|&(group, _)| group).collect(),
            captures: self.captures,
            example: self.example,
        })
    }
}

/// The length of `text` before the `]]` that closes a block: brackets nest, and
/// a backslash hides the next byte.
fn bracket_end(text: Slice<'_>) -> Result<Option<usize>, ParseError> {
    let bytes = text.bytes();
    let mut depth = 0u32;
    let mut at = 0;
    while at < bytes.len() {
        if depth == 0 && bytes[at..].starts_with(b"]]") {
            return Ok(Some(at));
        }
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => depth += 1,
            b']' if depth == 0 => {
                return Err(ParseError::new(text.start + at, "missing closing \"]\" for regex variable"));
            }
            b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Ok(None)
}
