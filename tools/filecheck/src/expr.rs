//! Numeric substitution blocks: `[[#%x, N: expression]]`.

use num_bigint::BigInt;
use num_traits::Zero;

use crate::format::{Format, Radix};
use crate::source::Slice;
use crate::vars::{Number, NumberId, Symbols, Values};

/// How deep expressions may nest.
const MAX_DEPTH: u32 = 200;

/// How many operators one expression may have: evaluation is as deep.
const MAX_OPERATORS: u32 = 1000;

/// The largest precision in a format: the repetition count it becomes.
const MAX_PRECISION: u32 = 255;

/// An error at a place of the text being parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParseError {
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl ParseError {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

/// An expression over numbers and variables.
#[derive(Debug)]
pub(crate) enum Expr {
    Literal(BigInt),
    Line { at: usize },
    Variable { id: NumberId, at: usize },
    Binary { op: Operator, operands: Box<[Expr; 2]> },
}

/// An operator with where it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operator {
    op: Op,
    at: usize,
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EvalError {
    Undefined {
        id: NumberId,
        at: usize,
    },
    DivisionByZero {
        at: usize,
    },
    /// `@LINE` where there is no line.
    NoLine {
        at: usize,
    },
    /// The value is negative and the format has no sign.
    NoSign,
}

impl Expr {
    /// All undefined variables are reported, not only the first.
    pub(crate) fn eval(&self, line: Option<usize>, values: &Values) -> Result<BigInt, Vec<EvalError>> {
        match self {
            Expr::Literal(value) => Ok(value.clone()),
            Expr::Line { at } => line.map(BigInt::from).ok_or_else(|| vec![EvalError::NoLine { at: *at }]),
            Expr::Variable { id, at } => {
                values.number(*id).cloned().ok_or_else(|| vec![EvalError::Undefined { id: *id, at: *at }])
            }
            Expr::Binary { op, operands } => {
                let [left, right] = operands.as_ref();
                match (left.eval(line, values), right.eval(line, values)) {
                    (Ok(left), Ok(right)) => op.apply(left, right),
                    (Err(mut errors), Err(more)) => {
                        errors.extend(more);
                        Err(errors)
                    }
                    (Err(errors), _) | (_, Err(errors)) => Err(errors),
                }
            }
        }
    }

    /// The format of the variables in it; they must agree.
    fn format(&self, symbols: &Symbols) -> Result<Option<Format>, ParseError> {
        match self {
            Expr::Literal(_) => Ok(None),
            Expr::Line { .. } => Ok(Some(Format::UNSIGNED)),
            Expr::Variable { id, .. } => Ok(Some(symbols.get(*id).format)),
            Expr::Binary { op, operands } => {
                let [left, right] = operands.as_ref();
                let (left, right) = (left.format(symbols)?, right.format(symbols)?);
                match (left, right) {
                    (Some(l), Some(r)) if l != r => Err(ParseError::new(
                        op.at,
                        format!(
                            "implicit format conflict between the operands ({l} and {r}), \
                             need an explicit format specifier"
                        ),
                    )),
                    _ => Ok(left.or(right)),
                }
            }
        }
    }
}

impl Operator {
    fn apply(self, left: BigInt, right: BigInt) -> Result<BigInt, Vec<EvalError>> {
        Ok(match self.op {
            Op::Add => left + right,
            Op::Sub => left - right,
            Op::Mul => left * right,
            Op::Div if right.is_zero() => {
                return Err(vec![EvalError::DivisionByZero { at: self.at }]);
            }
            Op::Div => left / right,
            Op::Min => left.min(right),
            Op::Max => left.max(right),
        })
    }
}

/// A parsed block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) format: Format,
    /// `None`: any number matches.
    pub(crate) expr: Option<Expr>,
    /// The variable it defines.
    pub(crate) defines: Option<NumberId>,
}

/// Where a block stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    /// The line of the directive; `None` on the command line.
    pub(crate) line: Option<usize>,
    /// Whether it is `[[@LINE+n]]`, without `#`: `@LINE`, an operator and a
    /// decimal literal only.
    pub(crate) legacy: bool,
}

/// A variable name with its `$` or `@`.
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) pseudo: bool,
    pub(crate) at: usize,
}

/// Takes a variable name off the front of `text`.
pub(crate) fn parse_name(text: &mut Slice<'_>) -> Result<Name, ParseError> {
    let at = text.start;
    let bytes = text.bytes();
    let sigil = bytes.first().filter(|b| matches!(b, b'$' | b'@'));
    let body = &bytes[usize::from(sigil.is_some())..];
    if body.is_empty() {
        let kind = match sigil {
            Some(b'$') => "global ",
            Some(_) => "pseudo ",
            None => "",
        };
        return Err(ParseError::new(at, format!("empty {kind}variable name")));
    }
    if body[0] != b'_' && !body[0].is_ascii_alphabetic() {
        return Err(ParseError::new(at, "invalid variable name"));
    }
    let is_part = |b: &u8| *b == b'_' || b.is_ascii_alphanumeric();
    let length = body.iter().take_while(|b| is_part(b)).count();
    let name = text.take(length + usize::from(sigil.is_some()));
    Ok(Name { text: name.to_text(), pseudo: sigil == Some(&b'@'), at })
}

/// Parses what is between `[[#` and `]]` (or `[[` and `]]` if legacy).
pub(crate) fn parse_block(mut text: Slice<'_>, context: Context, symbols: &mut Symbols) -> Result<Block, ParseError> {
    let (explicit, precision) = parse_format(&mut text)?;
    let definition = text.find(":").map(|colon| {
        let name = text.take(colon);
        text.eat(":");
        name
    });
    text.skip_blanks();
    let constraint = text.eat("==");
    text.skip_blanks();
    let expr = if text.is_empty() {
        if constraint {
            return Err(ParseError::new(text.start, "empty numeric expression should not have a constraint"));
        }
        None
    } else {
        text.trim_end_blanks();
        let mut parser = ExprParser { text, context, symbols, depth: 0, operators: 0, constraint };
        Some(parser.whole()?)
    };
    let implicit = match &expr {
        Some(expr) if explicit.is_none() => expr.format(symbols)?,
        _ => None,
    };
    let format = explicit.or(implicit).unwrap_or(Format { precision, ..Format::UNSIGNED });
    let defines = match definition {
        Some(name) => Some(define(name, format, context, symbols)?),
        None => None,
    };
    Ok(Block { format, expr, defines })
}

/// Parses `%#.4x,`; the comma must come before any parenthesis, because it also
/// separates arguments. Also returns the precision of a format without letter.
fn parse_format(text: &mut Slice<'_>) -> Result<(Option<Format>, u32), ParseError> {
    let Some(comma) = text.find(",") else {
        return Ok((None, 0));
    };
    if text.find("(").is_some_and(|paren| paren < comma) {
        return Ok((None, 0));
    }
    let mut spec = text.take(comma);
    text.eat(",");
    spec.skip_blanks();
    spec.trim_end_blanks();
    let invalid = "invalid matching format specification in expression";
    if !spec.eat("%") {
        return Err(ParseError::new(spec.start, format!("{invalid}; it starts with '%'")));
    }
    let flag = spec.start;
    let alternate = spec.eat("#");
    let precision = match spec.eat(".") {
        true => parse_precision(&mut spec)?,
        false => 0,
    };
    let letter_at = spec.start;
    let radix = match spec.first() {
        None => None,
        Some(b'u') => Some(Radix::Unsigned),
        Some(b'd') => Some(Radix::Signed),
        Some(b'x') => Some(Radix::HexLower),
        Some(b'X') => Some(Radix::HexUpper),
        Some(_) => {
            return Err(ParseError::new(
                letter_at,
                "invalid format specifier in expression; there are %u, %d, %x and %X",
            ));
        }
    };
    if alternate && !matches!(radix, Some(Radix::HexLower | Radix::HexUpper)) {
        return Err(ParseError::new(flag, "alternate form only supported for hex values"));
    }
    if radix.is_some() {
        spec.take(1);
    }
    spec.skip_blanks();
    if !spec.is_empty() {
        return Err(ParseError::new(spec.start, invalid));
    }
    let format = radix.map(|radix| Format { radix, precision, alternate });
    Ok((format, precision))
}

fn parse_precision(spec: &mut Slice<'_>) -> Result<u32, ParseError> {
    let at = spec.start;
    let digits = digits(spec, 10);
    match digits.parse::<u32>() {
        Ok(precision) if precision <= MAX_PRECISION => Ok(precision),
        Ok(_) => Err(ParseError::new(at, format!("precision in format specifier is above {MAX_PRECISION}"))),
        Err(_) => Err(ParseError::new(at, "invalid precision in format specifier")),
    }
}

fn digits(text: &mut Slice<'_>, radix: u32) -> String {
    let is_digit = |b: &&u8| char::from(**b).is_digit(radix);
    let length = text.bytes().iter().take_while(is_digit).count();
    text.take(length).to_text()
}

fn define(
    mut text: Slice<'_>,
    format: Format,
    context: Context,
    symbols: &mut Symbols,
) -> Result<NumberId, ParseError> {
    text.skip_blanks();
    let name = parse_name(&mut text)?;
    if name.pseudo {
        return Err(ParseError::new(name.at, "definition of pseudo numeric variable unsupported"));
    }
    if symbols.strings.contains(&name.text) {
        return Err(ParseError::new(name.at, format!("string variable with name '{}' already exists", name.text)));
    }
    text.skip_blanks();
    if !text.is_empty() {
        return Err(ParseError::new(text.start, "unexpected characters after numeric variable name"));
    }
    if let Some(id) = symbols.number(&name.text) {
        let known = symbols.get(id).format;
        if known != format {
            return Err(ParseError::new(
                name.at,
                format!("format different from previous variable definition ({known})"),
            ));
        }
        return Ok(id);
    }
    Ok(symbols.add_number(Number { name: name.text, format, line: context.line }))
}

/// Parses expressions from the front of `text`.
struct ExprParser<'a, 's> {
    text: Slice<'a>,
    context: Context,
    symbols: &'s mut Symbols,
    depth: u32,
    operators: u32,
    /// Whether `==` came before, for the wording of an error.
    constraint: bool,
}

impl ExprParser<'_, '_> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError::new(self.text.start, message))
    }

    fn whole(&mut self) -> Result<Expr, ParseError> {
        let mut expr = self.operand(true)?;
        self.text.skip_blanks();
        while !self.text.is_empty() {
            expr = self.binary(expr)?;
            self.text.skip_blanks();
            if self.context.legacy && !self.text.is_empty() {
                return self.error(format!("unexpected characters at end of expression '{}'", self.text.to_text()));
            }
        }
        Ok(expr)
    }

    /// Parses `op operand` after `left`.
    fn binary(&mut self, left: Expr) -> Result<Expr, ParseError> {
        let at = self.text.start;
        let op = match self.text.first() {
            Some(b'+') => Op::Add,
            Some(b'-') => Op::Sub,
            _ => {
                let found = String::from_utf8_lossy(self.text.bytes());
                let found = found.chars().next().unwrap_or(' ');
                return self.error(format!("unsupported operation '{found}'"));
            }
        };
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return self.error(format!("more than {MAX_OPERATORS} operators"));
        }
        self.text.take(1);
        self.text.skip_blanks();
        if self.text.is_empty() {
            return self.error("missing operand in expression");
        }
        let right = self.operand(false)?;
        Ok(Expr::Binary { op: Operator { op, at }, operands: Box::new([left, right]) })
    }

    fn operand(&mut self, first: bool) -> Result<Expr, ParseError> {
        if self.text.starts_with("(") {
            if self.context.legacy {
                return self.error("parenthesized expression not permitted here");
            }
            return self.nested(Self::parenthesized);
        }
        if self.context.legacy && !first {
            return self.literal();
        }
        let saved = self.text;
        match parse_name(&mut self.text) {
            Ok(name) => {
                let mut rest = self.text;
                rest.skip_blanks();
                if !rest.starts_with("(") {
                    return self.variable(name);
                }
                if self.context.legacy {
                    return Err(ParseError::new(name.at, "unexpected function call"));
                }
                self.text = rest;
                self.nested(|parser| parser.call(name))
            }
            Err(error) if self.context.legacy => Err(error),
            Err(_) => {
                self.text = saved;
                self.literal()
            }
        }
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Result<Expr, ParseError>) -> Result<Expr, ParseError> {
        if self.depth == MAX_DEPTH {
            return self.error(format!("more than {MAX_DEPTH} nested expressions"));
        }
        self.depth += 1;
        let expr = parse(self);
        self.depth -= 1;
        expr
    }

    fn parenthesized(&mut self) -> Result<Expr, ParseError> {
        self.text.eat("(");
        self.text.skip_blanks();
        if self.text.is_empty() {
            return self.error("missing operand in expression");
        }
        let expr = self.until(")")?;
        if !self.text.eat(")") {
            return self.error("missing ')' at end of nested expression");
        }
        Ok(expr)
    }

    /// An expression up to one of the bytes in `stops` or the end.
    fn until(&mut self, stops: &str) -> Result<Expr, ParseError> {
        let mut expr = self.operand(false)?;
        self.text.skip_blanks();
        while self.text.first().is_some_and(|b| !stops.as_bytes().contains(&b)) {
            expr = self.binary(expr)?;
            self.text.skip_blanks();
        }
        Ok(expr)
    }

    fn call(&mut self, name: Name) -> Result<Expr, ParseError> {
        let op = match name.text.as_str() {
            "add" => Op::Add,
            "sub" => Op::Sub,
            "mul" => Op::Mul,
            "div" => Op::Div,
            "min" => Op::Min,
            "max" => Op::Max,
            _ => {
                return Err(ParseError::new(name.at, format!("call to undefined function '{}'", name.text)));
            }
        };
        let arguments = self.arguments()?;
        let given = arguments.len();
        let operands = <[Expr; 2]>::try_from(arguments).map_err(|_| {
            ParseError::new(name.at, format!("function '{}' takes 2 arguments but {given} given", name.text))
        })?;
        Ok(Expr::Binary { op: Operator { op, at: name.at }, operands: Box::new(operands) })
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, ParseError> {
        let mut arguments = Vec::new();
        self.text.eat("(");
        self.text.skip_blanks();
        while !self.text.is_empty() && !self.text.starts_with(")") {
            if self.text.starts_with(",") {
                return self.error("missing argument");
            }
            arguments.push(self.until(",)")?);
            if !self.text.eat(",") {
                break;
            }
            self.text.skip_blanks();
            if self.text.starts_with(")") {
                return self.error("missing argument");
            }
        }
        if !self.text.eat(")") {
            return self.error("missing ')' at end of call expression");
        }
        Ok(arguments)
    }

    fn variable(&mut self, name: Name) -> Result<Expr, ParseError> {
        if name.pseudo {
            if name.text == "@LINE" {
                return Ok(Expr::Line { at: name.at });
            }
            return Err(ParseError::new(name.at, format!("invalid pseudo numeric variable '{}'", name.text)));
        }
        let id = match self.symbols.number(&name.text) {
            Some(id) => id,
            // A use before any definition parses; matching will report it.
            None => self.symbols.add_number(Number { name: name.text.clone(), format: Format::UNSIGNED, line: None }),
        };
        let defined = self.symbols.get(id).line;
        if defined.is_some() && defined == self.context.line {
            return Err(ParseError::new(
                name.at,
                format!("numeric variable '{}' defined earlier in the same CHECK directive", name.text),
            ));
        }
        Ok(Expr::Variable { id, at: name.at })
    }

    fn literal(&mut self) -> Result<Expr, ParseError> {
        let start = self.text;
        let negative = self.text.eat("-");
        let radix = match self.context.legacy {
            true => 10,
            false => literal_radix(&mut self.text),
        };
        let digits = digits(&mut self.text, radix);
        let Some(value) = BigInt::parse_bytes(digits.as_bytes(), radix) else {
            let constraint = if self.constraint { "" } else { "matching constraint or " };
            return Err(ParseError::new(start.start, format!("invalid {constraint}operand format")));
        };
        Ok(Expr::Literal(if negative { -value } else { value }))
    }
}

/// Takes `0x`, `0b`, `0o` or the `0` of an octal number.
fn literal_radix(text: &mut Slice<'_>) -> u32 {
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2), ("0o", 8)] {
        if text.eat(prefix) {
            return radix;
        }
    }
    if text.first() == Some(b'0') && text.bytes().get(1).is_some_and(u8::is_ascii_digit) {
        text.take(1);
        return 8;
    }
    10
}
