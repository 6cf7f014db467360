//! Affine maps and integer sets.

use super::{Check, Explain};
use crate::scan::word_end;

impl Explain<'_> {
    /// What follows `affine_map`.
    pub(super) fn affine_map(&mut self) -> Check {
        self.punct("<", "expected '<' in affine map")?;
        self.spaces()?;
        self.punct("->", "expected '->' or ':'")?;
        self.punct("(", "expected '(' in affine map range")?;
        self.list(")", "expected ')' in affine map range", Self::affine_expr)?;
        self.punct(">", "expected '>' in affine map")
    }

    /// What follows `affine_set`.
    pub(super) fn affine_set(&mut self) -> Check {
        self.punct("<", "expected '<' in integer set")?;
        self.spaces()?;
        self.punct(":", "expected '->' or ':'")?;
        self.punct("(", "expected '(' in integer set constraint list")?;
        self.list(")", "expected ')' in integer set constraint list", |e| {
            e.affine_expr()?;
            if e.take("==") || e.take(">=") || e.take("<=") {
                return e.affine_expr();
            }
            Err(e.wrong_at(e.at, "expected '== affine-expr' or '>= affine-expr' at end of affine constraint"))
        })?;
        self.punct(">", "expected '>' in integer set")
    }

    fn spaces(&mut self) -> Check {
        let start = self.at;
        self.punct("(", "expected '(' in dimensional identifier list")?;
        self.list(")", "expected ')' in dimensional identifier list", Self::identifier)?;
        if self.take("[") {
            self.list("]", "expected ']' in symbol list", Self::identifier)?;
        }
        self.affine_names = start..self.at;
        Ok(())
    }

    fn identifier(&mut self) -> Check {
        let end = word_end(self.text, self.at);
        if end == self.at {
            return Err(self.missing("expected bare identifier"));
        }
        self.go_to(end);
        Ok(())
    }

    /// True when the word that is next was declared.
    fn is_affine_name(&self) -> bool {
        let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
        self.text[self.affine_names.clone()].split(|c| !in_name(c)).any(|name| name == self.word())
    }

    /// A sum of products, left to right; the operators' ranks do not matter here.
    fn affine_expr(&mut self) -> Check {
        self.nested(|e| {
            e.affine_operand(false)?;
            loop {
                let operator = e.take("+")
                    || (e.is("-") && !e.is("->") && e.take("-"))
                    || e.take("*")
                    || ["floordiv", "ceildiv", "mod"].iter().any(|w| e.take_word(w));
                if !operator {
                    return Ok(());
                }
                e.affine_operand(true)?;
            }
        })
    }

    fn affine_operand(&mut self, right: bool) -> Check {
        if self.take("(") {
            if self.is(")") {
                return Err(self.wrong_at(self.at, "no expression inside parentheses"));
            }
            self.affine_expr()?;
            return self.punct(")", "expected ')'");
        }
        if self.is("-") && !self.is("->") {
            self.take("-");
            return self.nested(|e| e.affine_operand(right));
        }
        if self.take_integer() {
            return Ok(());
        }
        if !self.word().is_empty() {
            return if self.is_affine_name() {
                self.identifier()
            } else {
                Err(self.missing("use of undeclared identifier"))
            };
        }
        let operator = self.is("+") || self.is("*");
        Err(self.wrong_at(
            self.at,
            match (right, operator) {
                (true, _) => "missing right operand of binary operator",
                (false, true) => "missing left operand of binary operator",
                (false, false) => "expected affine expression",
            },
        ))
    }
}
