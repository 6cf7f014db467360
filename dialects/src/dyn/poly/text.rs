//! Sizes as text. One grammar reads them from strings and from the tokens of a program.

use std::fmt::{self, Write};

use super::{Atom, Excess, Poly, Term};

/// Nesting of parentheses that a size may have. What is printed has at most two for each level of [`super::limits::MAX_DEPTH`].
const MAX_PARENTHESES: usize = 64;

/// Characters of a size that a message shows.
const BRIEF: usize = 80;

/// Where the grammar's tokens come from.
pub(in crate::r#dyn) trait Tokens {
    /// A place in the text.
    type Place: Copy;
    /// What was reported.
    type Error;

    /// The place of the next token.
    fn place(&self) -> Self::Place;
    /// The punctuation, if it is next.
    fn punctuation(&mut self, text: &str) -> bool;
    /// The word, if it is next.
    fn keyword(&mut self, word: &str) -> bool;
    /// Any word, if one is next.
    fn word(&mut self) -> Option<String>;
    /// A number of 64 bits, if one is next.
    fn number(&mut self) -> Result<Option<i64>, Self::Error>;
    /// An error at a place.
    fn error(&mut self, place: Self::Place, message: &str) -> Self::Error;
    /// What the size at a place exceeds.
    fn exceeds(&mut self, place: Self::Place, excess: Excess) -> Self::Error;
}

/// Reads one size.
pub(in crate::r#dyn) fn read<T: Tokens>(tokens: &mut T) -> Result<Poly, T::Error> {
    let place = tokens.place();
    Grammar { tokens, place, parentheses: 0 }.sum()
}

struct Grammar<'t, T: Tokens> {
    tokens: &'t mut T,
    /// Where the size begins.
    place: T::Place,
    parentheses: usize,
}

impl<T: Tokens> Grammar<'_, T> {
    fn within_limits(&mut self, poly: Poly) -> Result<Poly, T::Error> {
        match poly.excess() {
            Some(excess) => Err(self.tokens.exceeds(self.place, excess)),
            None => Ok(poly),
        }
    }

    /// All terms are added at once.
    fn sum(&mut self) -> Result<Poly, T::Error> {
        let mut sign = if self.tokens.punctuation("-") { -1 } else { 1 };
        let mut parts: Vec<(Poly, i64)> = Vec::new();
        loop {
            parts.push((self.product()?, sign));
            if self.tokens.punctuation("+") {
                sign = 1;
            } else if self.tokens.punctuation("-") {
                sign = -1;
            } else {
                break;
            }
        }
        match &parts[..] {
            [(only, 1)] => Ok(only.clone()),
            _ => self.within_limits(Poly::sum(parts.iter().map(|(part, sign)| (part, *sign)))),
        }
    }

    fn product(&mut self) -> Result<Poly, T::Error> {
        let mut product = self.factor()?;
        loop {
            let next = if self.tokens.punctuation("*") {
                product.mul(&self.factor()?)
            } else if self.tokens.keyword("floordiv") {
                product.floordiv(self.divisor()?)
            } else if self.tokens.keyword("ceildiv") {
                product.ceildiv(self.divisor()?)
            } else if self.tokens.keyword("mod") {
                product.rem(self.divisor()?)
            } else {
                return Ok(product);
            };
            product = self.within_limits(next)?;
        }
    }

    fn divisor(&mut self) -> Result<i64, T::Error> {
        let place = self.tokens.place();
        match self.tokens.number()? {
            Some(divisor @ 1..) => Ok(divisor),
            _ => Err(self.tokens.error(place, "sizes are divided by positive constants")),
        }
    }

    fn factor(&mut self) -> Result<Poly, T::Error> {
        let place = self.tokens.place();
        if self.tokens.punctuation("(") {
            self.open(place)?;
            let inner = self.sum()?;
            self.expect(")")?;
            self.parentheses -= 1;
            return Ok(inner);
        }
        if let Some(value) = self.tokens.number()? {
            return Ok(Poly::constant(value));
        }
        match self.tokens.word() {
            Some(name) if ["min", "max"].contains(&&*name) && self.tokens.punctuation("(") => {
                self.open(place)?;
                self.extreme(name == "min")
            }
            Some(name) => Ok(Poly::symbol(&name)),
            None => Err(self.tokens.error(place, "expected a symbol, a number or '('")),
        }
    }

    /// What follows `min(` or `max(`.
    fn extreme(&mut self, least: bool) -> Result<Poly, T::Error> {
        let first = self.sum()?;
        self.expect(",")?;
        let second = self.sum()?;
        self.expect(")")?;
        self.parentheses -= 1;
        self.within_limits(if least { first.lesser(&second) } else { first.greater(&second) })
    }

    fn open(&mut self, place: T::Place) -> Result<(), T::Error> {
        self.parentheses += 1;
        if self.parentheses > MAX_PARENTHESES {
            let message = format!("nesting is too deep: at most {MAX_PARENTHESES} parentheses in a size are read");
            return Err(self.tokens.error(place, &message));
        }
        Ok(())
    }

    fn expect(&mut self, text: &str) -> Result<(), T::Error> {
        if self.tokens.punctuation(text) {
            return Ok(());
        }
        let place = self.tokens.place();
        Err(self.tokens.error(place, &format!("expected '{text}'")))
    }
}

/// Why a size could not be parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolyError {
    /// Byte offset in the text.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for PolyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at offset {}", self.message, self.offset)
    }
}
impl std::error::Error for PolyError {}

impl Poly {
    /// Parses the text form.
    ///
    /// # Errors
    /// Says what is wrong, with the byte offset.
    pub fn parse(text: &str) -> Result<Self, PolyError> {
        let mut tokens = TextTokens { text, at: 0 };
        let poly = read(&mut tokens)?;
        let at = tokens.place();
        if at < text.len() { Err(tokens.error(at, "expected an operator or the end")) } else { Ok(poly) }
    }

    /// The text form for a message: only how a long one begins.
    pub fn brief(&self) -> String {
        let text = self.to_string();
        match text.char_indices().nth(BRIEF) {
            None => text,
            Some((at, _)) => format!("{} …", text[..at].rsplit_once(' ').map_or(&text[..at], |(start, _)| start)),
        }
    }
}

struct TextTokens<'t> {
    text: &'t str,
    at: usize,
}

impl TextTokens<'_> {
    /// Behind the blanks that are next.
    fn skip(&self) -> usize {
        let rest = &self.text[self.at..];
        self.at + rest.len() - rest.trim_start().len()
    }

    /// The word that is next, and where it ends.
    fn peek(&self) -> (&str, usize) {
        let start = self.skip();
        let rest = &self.text[start..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '$'));
        let word = &rest[..end.unwrap_or(rest.len())];
        (word, start + word.len())
    }
}

impl Tokens for TextTokens<'_> {
    type Place = usize;
    type Error = PolyError;

    fn place(&self) -> usize {
        self.skip()
    }

    fn punctuation(&mut self, text: &str) -> bool {
        let start = self.skip();
        let found = self.text[start..].starts_with(text);
        self.at = if found { start + text.len() } else { self.at };
        found
    }

    fn keyword(&mut self, word: &str) -> bool {
        let (next, end) = self.peek();
        let found = next == word;
        self.at = if found { end } else { self.at };
        found
    }

    fn word(&mut self) -> Option<String> {
        let (word, end) = self.peek();
        let word = (!word.is_empty()).then(|| word.to_string())?;
        self.at = end;
        Some(word)
    }

    fn number(&mut self) -> Result<Option<i64>, PolyError> {
        let (start, (word, end)) = (self.skip(), self.peek());
        if !word.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let value = word.parse::<i64>();
        let value =
            value.map_err(|_| PolyError { offset: start, message: format!("`{word}` is not a 64-bit integer") })?;
        self.at = end;
        Ok(Some(value))
    }

    fn error(&mut self, place: usize, message: &str) -> PolyError {
        PolyError { offset: place, message: message.to_string() }
    }

    fn exceeds(&mut self, place: usize, excess: Excess) -> PolyError {
        PolyError { offset: place, message: excess.to_string() }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symbol(name) if super::is_anonymous(name) => f.write_char('?'),
            Self::Symbol(name) => f.write_str(name),
            Self::FloorDiv(inner, divisor) if inner.as_symbol().is_some() => write!(f, "{inner} floordiv {divisor}"),
            Self::FloorDiv(inner, divisor) => write!(f, "({inner}) floordiv {divisor}"),
            // A number stands last, as in a sum.
            Self::Min(a, b) if a.as_const().is_some() => write!(f, "min({b}, {a})"),
            Self::Min(a, b) => write!(f, "min({a}, {b})"),
        }
    }
}

impl fmt::Display for Poly {
    /// Higher degrees first, then by name, the constant last: `B*S + 2*S - 1`. What stands for a size beyond the limits is
    /// written `?`, which is no size when it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms: Vec<&Term> = self.list().iter().collect();
        if terms.is_empty() {
            return f.write_str("0");
        }
        terms.sort_by(|a, b| b.atoms.len().cmp(&a.atoms.len()).then_with(|| a.atoms.cmp(&b.atoms)));
        for (i, term) in terms.into_iter().enumerate() {
            match (i, term.coefficient < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            match term.coefficient.checked_abs() {
                Some(magnitude) => write_term(f, &term.atoms, magnitude)?,
                // No number of 64 bits has this magnitude.
                None => {
                    write_term(f, &term.atoms, i64::MAX)?;
                    f.write_str(" - ")?;
                    write_term(f, &term.atoms, 1)?;
                }
            }
        }
        Ok(())
    }
}

fn write_term(f: &mut fmt::Formatter<'_>, atoms: &[Atom], magnitude: i64) -> fmt::Result {
    if atoms.is_empty() {
        return write!(f, "{magnitude}");
    }
    if magnitude != 1 {
        write!(f, "{magnitude}*")?;
    }
    let alone = atoms.len() == 1 && magnitude == 1;
    for (i, atom) in atoms.iter().enumerate() {
        if i > 0 {
            f.write_str("*")?;
        }
        match atom {
            Atom::FloorDiv(..) if !alone => write!(f, "({atom})")?,
            _ => write!(f, "{atom}")?,
        }
    }
    Ok(())
}
