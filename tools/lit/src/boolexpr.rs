//! Boolean expressions over features: `linux && (cuda || !release)`.

use std::collections::BTreeSet;

/// How deep `!` and parentheses may nest.
const MAX_DEPTH: u32 = 100;

/// A parsed expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    /// `*` or `true`, `false`
    Constant(bool),
    Feature(String),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
}

impl Expr {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: text, depth: 0 };
        let expr = parser.or()?;
        parser.skip_blanks();
        match parser.rest.is_empty() {
            true => Ok(expr),
            false => Err(format!("expected '&&', '||' or the end before '{}' in '{text}'", parser.rest)),
        }
    }

    pub(crate) fn eval(&self, features: &BTreeSet<String>) -> bool {
        match self {
            Self::Constant(value) => *value,
            Self::Feature(name) => features.contains(name),
            Self::Not(expr) => !expr.eval(features),
            Self::And(exprs) => exprs.iter().all(|expr| expr.eval(features)),
            Self::Or(exprs) => exprs.iter().any(|expr| expr.eval(features)),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

impl Parser<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, text: &str) -> bool {
        self.skip_blanks();
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn or(&mut self) -> Result<Expr, String> {
        let mut exprs = vec![self.and()?];
        while self.eat("||") {
            exprs.push(self.and()?);
        }
        Ok(if exprs.len() == 1 { exprs.swap_remove(0) } else { Expr::Or(exprs) })
    }

    fn and(&mut self) -> Result<Expr, String> {
        let mut exprs = vec![self.unary()?];
        while self.eat("&&") {
            exprs.push(self.unary()?);
        }
        Ok(if exprs.len() == 1 { exprs.swap_remove(0) } else { Expr::And(exprs) })
    }

    fn unary(&mut self) -> Result<Expr, String> {
        if self.depth == MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} nested '!' and '('"));
        }
        self.depth += 1;
        let expr = self.unary_inner();
        self.depth -= 1;
        expr
    }

    fn unary_inner(&mut self) -> Result<Expr, String> {
        if self.eat("!") {
            return Ok(Expr::Not(Box::new(self.unary()?)));
        }
        if self.eat("(") {
            let expr = self.or()?;
            return match self.eat(")") {
                true => Ok(expr),
                false => Err(format!("expected ')' before '{}'", self.rest)),
            };
        }
        if self.eat("*") {
            return Ok(Expr::Constant(true));
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-+=._:".contains(c);
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return Err(match rest.is_empty() {
                true => "expected a feature at the end".into(),
                false if rest.starts_with("{{") => "regular expressions over features are not supported".into(),
                false => format!("expected a feature before '{rest}'"),
            });
        }
        self.rest = rest;
        Ok(match name {
            "true" => Expr::Constant(true),
            "false" => Expr::Constant(false),
            _ => Expr::Feature(name.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(text: &str) -> bool {
        let features = ["a", "b", "x-y.z=1"].map(str::to_owned).into();
        Expr::parse(text).expect(text).eval(&features)
    }

    #[test]
    fn values() {
        for text in ["a", "a && b", "c || b", "!c", "!(c && a)", "c && c || a", "x-y.z=1", "*", "true", "! ! a"] {
            assert!(eval(text), "{text}");
        }
        for text in ["c", "a && c", "!a", "a && !b || c", "false", "(a || b) && c"] {
            assert!(!eval(text), "{text}");
        }
    }

    #[test]
    fn errors() {
        for text in ["", "a b", "a &&", "(a", "a)", "&& a", "!", "a & b", "{{a}}", "a, b"] {
            assert!(Expr::parse(text).is_err(), "{text}");
        }
        assert!(Expr::parse(&"!".repeat(10_000)).is_err());
    }
}
