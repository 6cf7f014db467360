//! Symbolic sizes: integer polynomials over named symbols, in canonical form.
//!
//! A size is a sum of monomials with integer coefficients. An atom of a monomial is a symbol, the floor of a polynomial
//! divided by a positive constant, or the lesser of two polynomials; `ceildiv`, `mod` and `max` are written with these, so
//! two sizes that are equal as polynomials are equal as values of this type.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// What a monomial multiplies.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Atom {
    /// A symbol.
    Symbol(Arc<str>),
    /// `floor(poly / divisor)` with a divisor of at least 2.
    FloorDiv(Arc<Poly>, i64),
    /// The lesser of two, made by [`Poly::lesser`]: they share no term, the coefficients of both are positive, no number divides
    /// all of them, and the first is the lesser in the order of this type. So an atom never falls where a symbol in it rises.
    Min(Arc<Poly>, Arc<Poly>),
}

impl Atom {
    /// The polynomials of which it is made; none for a symbol.
    pub fn parts(&self) -> impl Iterator<Item = &Poly> {
        let (first, second) = match self {
            Self::Symbol(_) => (None, None),
            Self::FloorDiv(inner, _) => (Some(&**inner), None),
            Self::Min(a, b) => (Some(&**a), Some(&**b)),
        };
        first.into_iter().chain(second)
    }

    /// Whether the symbol occurs in it.
    pub fn mentions(&self, name: &str) -> bool {
        match self {
            Self::Symbol(own) => &**own == name,
            _ => self.parts().any(|part| part.mentions(name)),
        }
    }
}

/// A product of atoms, sorted, each as often as its power; empty for the constant term.
type Monomial = Vec<Atom>;

/// An integer polynomial. Arithmetic saturates at the limits of `i128`, far beyond any size that can be allocated.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Poly {
    terms: BTreeMap<Monomial, i128>,
}

impl From<i64> for Poly {
    fn from(value: i64) -> Self {
        Self::constant(value)
    }
}

impl Poly {
    /// A constant.
    pub fn constant(value: i64) -> Self {
        Self::monomial(Vec::new(), value.into())
    }

    /// A symbol.
    pub fn symbol(name: &str) -> Self {
        Self::monomial(vec![Atom::Symbol(name.into())], 1)
    }

    /// `coefficient` times a product of atoms.
    pub(crate) fn of_term(mut atoms: Vec<Atom>, coefficient: i128) -> Self {
        atoms.sort();
        Self::monomial(atoms, coefficient)
    }

    fn monomial(atoms: Monomial, coefficient: i128) -> Self {
        let mut poly = Self::default();
        poly.add_term(atoms, coefficient);
        poly
    }

    fn add_term(&mut self, atoms: Monomial, coefficient: i128) {
        let entry = self.terms.entry(atoms).or_insert(0);
        *entry = entry.saturating_add(coefficient);
        if *entry == 0 {
            self.terms.retain(|_, c| *c != 0);
        }
    }

    /// The constant that the polynomial is.
    pub fn as_const(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).and_then(|c| i64::try_from(*c).ok()),
            _ => None,
        }
    }

    /// The symbol that the polynomial is.
    pub fn as_symbol(&self) -> Option<&str> {
        let mut terms = self.terms.iter();
        match (terms.next(), terms.next()) {
            (Some((atoms, 1)), None) => match &atoms[..] {
                [Atom::Symbol(name)] => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// True for zero.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Monomials with their coefficients, in canonical order.
    pub fn terms(&self) -> impl Iterator<Item = (&[Atom], i128)> {
        self.terms.iter().map(|(atoms, c)| (&atoms[..], *c))
    }

    /// What depends on symbols, and what is added to it; all is the former where the latter does not fit 64 bits.
    pub fn split_constant(&self) -> (Self, i64) {
        let constant = self.terms.get(&Vec::new()).map_or(Some(0), |c| i64::try_from(*c).ok()).unwrap_or(0);
        (self.sub(&Self::constant(constant)), constant)
    }

    /// Names of all symbols, sorted.
    pub fn symbols(&self) -> BTreeSet<Arc<str>> {
        let mut names = BTreeSet::new();
        let mut pending = vec![self];
        while let Some(poly) = pending.pop() {
            for atom in poly.terms.keys().flatten() {
                match atom {
                    Atom::Symbol(name) => {
                        names.insert(name.clone());
                    }
                    _ => pending.extend(atom.parts()),
                }
            }
        }
        names
    }

    /// Whether the symbol occurs in it.
    pub fn mentions(&self, name: &str) -> bool {
        self.terms.keys().flatten().any(|atom| atom.mentions(name))
    }

    /// The atoms that are the lesser of two and that no other atom holds.
    pub(crate) fn mins(&self) -> impl Iterator<Item = &Atom> {
        self.terms.keys().flatten().filter(|atom| matches!(atom, Atom::Min(..)))
    }

    /// True when it holds the lesser of two anywhere.
    pub(crate) fn has_min(&self) -> bool {
        let held = |atom: &Atom| matches!(atom, Atom::Min(..)) || atom.parts().any(Self::has_min);
        self.terms.keys().flatten().any(held)
    }

    /// Sum.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        for (atoms, c) in &other.terms {
            sum.add_term(atoms.clone(), *c);
        }
        sum
    }

    /// Difference.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.scale(-1))
    }

    /// Product with a constant.
    #[must_use]
    pub fn scale(&self, factor: i64) -> Self {
        self.mul(&Self::constant(factor))
    }

    /// Product.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        let mut product = Self::default();
        for (a, ca) in &self.terms {
            for (b, cb) in &other.terms {
                let mut atoms = [&a[..], &b[..]].concat();
                atoms.sort();
                product.add_term(atoms, ca.saturating_mul(*cb));
            }
        }
        product
    }

    /// Product of several.
    pub fn product<'a>(factors: impl IntoIterator<Item = &'a Self>) -> Self {
        factors.into_iter().fold(Self::constant(1), |acc, f| acc.mul(f))
    }

    /// `floor(self / divisor)`; what divides exactly is taken out of the floor.
    ///
    /// # Panics
    /// When `divisor` is below 1.
    #[must_use]
    pub fn floordiv(&self, divisor: i64) -> Self {
        assert!(divisor >= 1, "sizes are divided by positive constants");
        let d = i128::from(divisor);
        let (mut whole, mut rest) = (Self::default(), Self::default());
        for (atoms, c) in &self.terms {
            // The remainder's coefficients are in [0, d), so equal values have equal forms.
            whole.add_term(atoms.clone(), c.div_euclid(d));
            rest.add_term(atoms.clone(), c.rem_euclid(d));
        }
        match rest.as_const() {
            Some(_) => whole,
            None => whole.add(&Self::monomial(vec![Atom::FloorDiv(Arc::new(rest), divisor)], 1)),
        }
    }

    /// `ceil(self / divisor)`.
    ///
    /// # Panics
    /// When `divisor` is below 1.
    #[must_use]
    pub fn ceildiv(&self, divisor: i64) -> Self {
        self.add(&Self::constant(divisor - 1)).floordiv(divisor)
    }

    /// `self mod divisor`, never negative.
    ///
    /// # Panics
    /// When `divisor` is below 1.
    #[must_use]
    pub fn rem(&self, divisor: i64) -> Self {
        self.sub(&self.floordiv(divisor).scale(divisor))
    }

    /// The lesser of two.
    #[must_use]
    pub fn lesser(&self, other: &Self) -> Self {
        // min(a, b) is min(a - c, b - c) + c, with what both have as c: of `a - b` one keeps what is added, the other what is
        // taken away.
        let (mut more, mut less) = (Self::default(), Self::default());
        for (atoms, c) in &self.sub(other).terms {
            if *c > 0 {
                more.add_term(atoms.clone(), *c);
            } else {
                less.add_term(atoms.clone(), c.saturating_neg());
            }
        }
        let common = other.sub(&less);
        let factor = more.terms.values().chain(less.terms.values()).fold(0, |factor, c| gcd(factor, *c));
        let factor = match i64::try_from(factor) {
            Ok(0) => return other.clone(),
            Ok(factor) => factor,
            Err(_) => 1,
        };
        let divided = |poly: Self| poly.divide_exact(&Self::constant(factor)).unwrap_or(poly);
        divided(more).least(divided(less)).scale(factor).add(&common)
    }

    /// The lesser of two without common terms or factors.
    fn least(self, other: Self) -> Self {
        if let (Some(a), Some(b)) = (self.as_const(), other.as_const()) {
            return Self::constant(a.min(b));
        }
        // Of a lesser of two only that part counts which differs from the other by more than a number.
        for (one, two) in [(&self, &other), (&other, &self)] {
            if let Some((a, b)) = one.as_min() {
                for (near, far) in [(a, b), (b, a)] {
                    match near.sub(two).as_const() {
                        Some(0..) => return far.lesser(two),
                        Some(_) => return one.clone(),
                        None => {}
                    }
                }
            }
        }
        let (a, b) = if self < other { (self, other) } else { (other, self) };
        Self::monomial(vec![Atom::Min(Arc::new(a), Arc::new(b))], 1)
    }

    /// The two of which it is the lesser.
    fn as_min(&self) -> Option<(&Self, &Self)> {
        let mut terms = self.terms.iter();
        match (terms.next(), terms.next()) {
            (Some((atoms, 1)), None) => match &atoms[..] {
                [Atom::Min(a, b)] => Some((a, b)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The greater of two.
    #[must_use]
    pub fn greater(&self, other: &Self) -> Self {
        self.add(other).sub(&self.lesser(other))
    }

    /// `self / other` when that is a polynomial, found by division by one monomial.
    pub fn divide_exact(&self, other: &Self) -> Option<Self> {
        if other.terms.len() != 1 {
            return (self == other && !self.is_zero()).then(|| Self::constant(1));
        }
        let (divisor, dc) = other.terms.iter().next()?;
        let mut quotient = Self::default();
        for (atoms, c) in &self.terms {
            if c % dc != 0 {
                return None;
            }
            let mut rest = atoms.clone();
            for atom in divisor {
                let at = rest.iter().position(|a| a == atom)?;
                rest.remove(at);
            }
            quotient.add_term(rest, c / dc);
        }
        Some(quotient)
    }

    /// Value for the given values of symbols; `None` when one is missing or the value does not fit 64 bits.
    pub fn eval(&self, value_of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let mut sum: i128 = 0;
        for (atoms, c) in &self.terms {
            let mut product = *c;
            for atom in atoms {
                let value = match atom {
                    Atom::Symbol(name) => value_of(name)?,
                    Atom::FloorDiv(inner, divisor) => inner.eval(value_of)?.div_euclid(*divisor),
                    Atom::Min(a, b) => a.eval(value_of)?.min(b.eval(value_of)?),
                };
                product = product.checked_mul(value.into())?;
            }
            sum = sum.checked_add(product)?;
        }
        i64::try_from(sum).ok()
    }

    /// The polynomial with symbols replaced by what `replace` gives for them.
    #[must_use]
    pub fn substitute(&self, replace: &dyn Fn(&str) -> Option<Self>) -> Self {
        let mut result = Self::default();
        for (atoms, c) in &self.terms {
            let mut product = Self::monomial(Vec::new(), *c);
            for atom in atoms {
                let value = match atom {
                    Atom::Symbol(name) => replace(name).unwrap_or_else(|| Self::symbol(name)),
                    Atom::FloorDiv(inner, divisor) => inner.substitute(replace).floordiv(*divisor),
                    Atom::Min(a, b) => a.substitute(replace).lesser(&b.substitute(replace)),
                };
                product = product.mul(&value);
            }
            result = result.add(&product);
        }
        result
    }

    /// The polynomial with each atom that is the lesser of two replaced by what `replace` gives for it, innermost first.
    #[must_use]
    pub(crate) fn substitute_min(&self, replace: &dyn Fn(&Self, &Self) -> Option<Self>) -> Self {
        let mut result = Self::default();
        for (atoms, c) in &self.terms {
            let mut product = Self::monomial(Vec::new(), *c);
            for atom in atoms {
                let value = match atom {
                    Atom::Symbol(_) => Self::monomial(vec![atom.clone()], 1),
                    Atom::FloorDiv(inner, divisor) => inner.substitute_min(replace).floordiv(*divisor),
                    Atom::Min(a, b) => {
                        let (a, b) = (a.substitute_min(replace), b.substitute_min(replace));
                        replace(&a, &b).unwrap_or_else(|| a.lesser(&b))
                    }
                };
                product = product.mul(&value);
            }
            result = result.add(&product);
        }
        result
    }

    /// The polynomial with one atom, as factor of terms, replaced by `value`.
    #[must_use]
    pub(crate) fn replace_factor(&self, atom: &Atom, value: &Self) -> Self {
        let mut result = Self::default();
        for (atoms, c) in &self.terms {
            let (held, rest): (Vec<&Atom>, Vec<&Atom>) = atoms.iter().partition(|a| *a == atom);
            let rest = Self::monomial(rest.into_iter().cloned().collect(), *c);
            result = result.add(&held.iter().fold(rest, |product, _| product.mul(value)));
        }
        result
    }

    /// Parses the text form.
    ///
    /// # Errors
    /// Says what is wrong, with the byte offset.
    pub fn parse(text: &str) -> Result<Self, PolyError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let poly = parser.sum()?;
        parser.blanks();
        if parser.at < text.len() { Err(parser.error("expected an operator or the end")) } else { Ok(poly) }
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

/// Nesting of parentheses that a size may have.
const MAX_DEPTH: usize = 64;

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, message: &str) -> PolyError {
        PolyError { offset: self.at, message: message.to_string() }
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.blanks();
        let found = self.text[self.at..].starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn word(&mut self) -> &str {
        self.blanks();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '$'));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn sum(&mut self) -> Result<Poly, PolyError> {
        let mut sum = if self.eat("-") { self.product()?.scale(-1) } else { self.product()? };
        loop {
            if self.eat("+") {
                sum = sum.add(&self.product()?);
            } else if self.eat("-") {
                sum = sum.sub(&self.product()?);
            } else {
                return Ok(sum);
            }
        }
    }

    fn product(&mut self) -> Result<Poly, PolyError> {
        let mut product = self.factor()?;
        loop {
            if self.eat("*") {
                product = product.mul(&self.factor()?);
            } else if self.eat("floordiv") {
                product = product.floordiv(self.divisor()?);
            } else if self.eat("ceildiv") {
                product = product.ceildiv(self.divisor()?);
            } else if self.eat("mod") {
                product = product.rem(self.divisor()?);
            } else {
                return Ok(product);
            }
        }
    }

    fn divisor(&mut self) -> Result<i64, PolyError> {
        let at = self.at;
        match self.factor()?.as_const() {
            Some(d) if d >= 1 => Ok(d),
            _ => Err(PolyError { offset: at, message: "expected a positive constant divisor".to_string() }),
        }
    }

    fn factor(&mut self) -> Result<Poly, PolyError> {
        if self.eat("(") {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(self.error("parentheses are nested too deeply"));
            }
            let inner = self.sum()?;
            self.depth -= 1;
            return if self.eat(")") { Ok(inner) } else { Err(self.error("expected ')'")) };
        }
        self.blanks();
        let start = self.at;
        let word = self.word().to_string();
        let first = word.chars().next();
        match first {
            Some(c) if c.is_ascii_digit() => match word.parse::<i64>() {
                Ok(value) => Ok(Poly::constant(value)),
                Err(_) => Err(PolyError { offset: start, message: format!("`{word}` is not a 64-bit integer") }),
            },
            Some(_) if ["min", "max"].contains(&&*word) && self.eat("(") => self.extreme(word == "min"),
            Some(_) => Ok(Poly::symbol(&word)),
            None => Err(self.error("expected a symbol, a number or '('")),
        }
    }

    /// What follows `min(` or `max(`.
    fn extreme(&mut self, least: bool) -> Result<Poly, PolyError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("parentheses are nested too deeply"));
        }
        let first = self.sum()?;
        if !self.eat(",") {
            return Err(self.error("expected ','"));
        }
        let second = self.sum()?;
        self.depth -= 1;
        if !self.eat(")") {
            return Err(self.error("expected ')'"));
        }
        Ok(if least { first.lesser(&second) } else { first.greater(&second) })
    }
}

/// The greatest number that divides both.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.saturating_abs(), b.saturating_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
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
    /// Higher degrees first, then by name, the constant last: `B*S + 2*S - 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        let mut terms: Vec<_> = self.terms.iter().collect();
        terms.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        for (i, (atoms, c)) in terms.into_iter().enumerate() {
            match (i, *c < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            write_term(f, atoms, c.unsigned_abs())?;
        }
        Ok(())
    }
}

fn write_term(f: &mut fmt::Formatter<'_>, atoms: &[Atom], magnitude: u128) -> fmt::Result {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn p(text: &str) -> Poly {
        Poly::parse(text).unwrap()
    }

    #[test]
    fn prints_what_it_parses() {
        for text in ["0", "-1", "B*S + 4", "2*H - 1", "(H - 1) floordiv 2", "H floordiv 2", "3*(H floordiv 2) + B*S"] {
            assert_eq!(p(&p(text).to_string()), p(text), "{text}");
        }
        assert_eq!(p("4 + S*B").to_string(), "B*S + 4");
        assert_eq!(p("(2*H + 1) floordiv 2").to_string(), "H");
        assert_eq!(p("H mod 4").to_string(), "H - 4*(H floordiv 4)");
        assert_eq!(p("(N + 31) floordiv 32").to_string(), "(N + 31) floordiv 32");
    }

    #[test]
    fn equal_sizes_are_equal_values() {
        assert_eq!(p("(B + 1) * (B - 1)"), p("B*B - 1"));
        assert_eq!(p("S ceildiv 4"), p("(S + 3) floordiv 4"));
        assert_eq!(p("(8*S) floordiv 4"), p("2*S"));
        assert_eq!(p("(S - 1) floordiv 4"), p("(S + 3) floordiv 4 - 1"));
    }

    #[test]
    fn divides_exactly_or_not() {
        assert_eq!(p("4*B*S").divide_exact(&p("2*S")), Some(p("2*B")));
        assert_eq!(p("B*S + 1").divide_exact(&p("S")), None);
        assert_eq!(p("B + S").divide_exact(&p("B + S")), Some(p("1")));
    }

    #[test]
    fn the_lesser_of_two_has_one_form() {
        for (a, b) in [
            ("min(N, 128)", "min(128, N)"),
            ("min(N - 1, 127) + 1", "min(N, 128)"),
            ("max(N, 128)", "N + 128 - min(N, 128)"),
            ("min(4*N, 8*M)", "4*min(N, 2*M)"),
            ("min(min(N, 128), 64)", "min(N, 64)"),
            ("min(min(N, 64), 128)", "min(N, 64)"),
            ("min(N, N + 3)", "N"),
            ("min(N, N)", "N"),
            ("min(3, 5) + max(3, 5)", "8"),
            ("max(N - 3, 0)", "N - min(N, 3)"),
        ] {
            assert_eq!(p(a), p(b), "{a}");
        }
        for text in ["min(N, 128)", "B*min(N, 128)", "N - min(N, 3)", "min(A, B)", "min(min(A, B), 4)", "2*min + 1"] {
            assert_eq!(p(text).to_string(), text);
        }
    }

    #[test]
    fn refuses_malformed_text() {
        for text in [
            "min(N",
            "min(N)",
            "min(N, )",
            "max(N, 4",
            "B +",
            "(B",
            "B floordiv 0",
            "B floordiv S",
            "9223372036854775808",
            "B B",
            "B floordiv -2",
        ] {
            assert!(Poly::parse(text).is_err(), "{text}");
        }
        assert!(Poly::parse(&"(".repeat(100_000)).is_err());
    }

    fn arbitrary() -> impl Strategy<Value = Poly> {
        let leaf = prop_oneof![
            (-9i64..9).prop_map(Poly::constant),
            prop_oneof![Just("A"), Just("B"), Just("C")].prop_map(Poly::symbol)
        ];
        leaf.prop_recursive(4, 16, 2, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| a.add(&b)),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| a.mul(&b)),
                (inner.clone(), 1i64..7).prop_map(|(a, d)| a.floordiv(d)),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| a.lesser(&b)),
                (inner, 1i64..7).prop_map(|(a, d)| a.rem(d)),
            ]
        })
    }

    proptest! {
        #[test]
        fn text_keeps_the_value(poly in arbitrary(), a in -20i64..20, b in -20i64..20, c in -20i64..20) {
            let env = |name: &str| match name { "A" => Some(a), "B" => Some(b), "C" => Some(c), _ => None };
            let again = Poly::parse(&poly.to_string()).unwrap();
            prop_assert_eq!(&again, &poly);
            prop_assert_eq!(again.eval(&env), poly.eval(&env));
        }

        #[test]
        fn arithmetic_agrees_with_values(x in arbitrary(), y in arbitrary(), d in 1i64..7, a in 0i64..9, b in 0i64..9) {
            let env = |name: &str| match name { "A" => Some(a), "B" => Some(b), _ => Some(a + b) };
            if let (Some(vx), Some(vy)) = (x.eval(&env), y.eval(&env)) {
                prop_assert_eq!(x.add(&y).eval(&env), Some(vx + vy));
                prop_assert_eq!(x.sub(&y).eval(&env), Some(vx - vy));
                prop_assert_eq!(x.floordiv(d).eval(&env), Some(vx.div_euclid(d)));
                prop_assert_eq!(x.lesser(&y).eval(&env), Some(vx.min(vy)));
                prop_assert_eq!(x.greater(&y).eval(&env), Some(vx.max(vy)));
                prop_assert_eq!(x.ceildiv(d).eval(&env), Some((vx + d - 1).div_euclid(d)));
                prop_assert_eq!(x.rem(d).eval(&env), Some(vx.rem_euclid(d)));
            }
        }
    }
}
