//! Types.

use sutura_ir::types::FloatKind;

use super::{Check, Explain, Fault};
use crate::reader::MAX_WIDTH;
use crate::scan::suffix_end;

impl Explain<'_> {
    pub(super) fn ty(&mut self) -> Check {
        self.nested(|e| if e.is("(") { e.function() } else { e.simple_type() })
    }

    /// `(inputs) -> results`
    pub(super) fn function(&mut self) -> Check {
        self.type_list()?;
        self.punct("->", "expected '->' in function type")?;
        if self.is("(") { self.type_list() } else { self.simple_type() }
    }

    fn type_list(&mut self) -> Check {
        self.punct("(", "expected '('")?;
        self.list(")", "expected ')'", |e| {
            e.ellipsis()?;
            e.ty()
        })
    }

    fn ellipsis(&mut self) -> Check {
        if self.is(".") && !self.is("...") {
            return Err(self.wrong_at(self.at + 1, "expected three consecutive dots for an ellipsis"));
        }
        Ok(())
    }

    fn simple_type(&mut self) -> Check {
        if self.is("!") {
            return self.dialect_symbol();
        }
        let word = self.word().to_string();
        if !is_type_word(&word) {
            return Err(self.missing("expected non-function type"));
        }
        if integer_digits(&word).is_some_and(|digits| digits.parse().map_or(true, |width: u32| width > MAX_WIDTH)) {
            return Err(self.wrong_at(self.at, format!("integer bitwidth is limited to {MAX_WIDTH} bits")));
        }
        self.go_to(self.at + word.len());
        match word.as_str() {
            "tensor" => self.shaped("tensor", |e| {
                if e.take(",") {
                    e.attr()?
                };
                e.punct(">", "expected '>' in tensor type")
            }),
            "memref" => self.shaped("memref", |e| {
                let mut message = "expected ',' or '>' in memref type";
                while e.take(",") {
                    e.attr()?;
                    message = "expected ',' or '>'";
                }
                e.punct(">", message)
            }),
            "vector" => {
                self.punct("<", "expected '<' in vector type")?;
                self.dimensions(true)?;
                self.ty()?;
                self.punct(">", "expected '>' in vector type")
            }
            "complex" => {
                self.punct("<", "expected '<' in complex type")?;
                self.ty()?;
                self.punct(">", "expected '>' in complex type")
            }
            "tuple" => {
                self.punct("<", "expected '<' in tuple type")?;
                self.list(">", "expected '>' in tuple type", Self::ty)
            }
            _ => Ok(()),
        }
    }

    fn shaped(&mut self, word: &str, end: impl FnOnce(&mut Self) -> Check) -> Check {
        self.punct("<", &format!("expected '<' in {word} type"))?;
        if self.take("*") {
            self.times()?;
        } else {
            self.dimensions(false)?;
        }
        self.ty()?;
        end(self)
    }

    /// `4x?x`, and for vectors `[4]x`.
    fn dimensions(&mut self, scalable: bool) -> Check {
        loop {
            if scalable && self.take("[") {
                if !self.take_integer() {
                    return Err(self.wrong_at(self.at, "invalid dimension"));
                }
                self.punct("]", "missing ']' closing scalable dimension")?;
            } else if self.is_fraction() || !self.take("?") && !self.take_digits() {
                return Ok(());
            }
            self.times()?;
        }
    }

    /// `1.5` is one token, and no size.
    fn is_fraction(&self) -> bool {
        self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('.')
    }

    fn take_digits(&mut self) -> bool {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.go_to(self.at + digits);
        digits > 0
    }

    fn times(&mut self) -> Check {
        self.punct("x", "expected 'x' in dimension list")
    }

    /// `!dialect.name<…>` or `#dialect.name<…>`, an alias among them.
    pub(super) fn dialect_symbol(&mut self) -> Check {
        let end = suffix_end(self.text, self.at + 1);
        if end == self.at + 1 {
            return Err(self.wrong_at(self.at, "expected dialect namespace"));
        }
        if self.text.as_bytes().get(end) != Some(&b'<') {
            self.go_to(end);
            return Ok(());
        }
        match unbalanced(&self.text[end..]) {
            Ok(length) => {
                self.go_to(end + length);
                Ok(())
            }
            Err(open) => Err(Fault {
                at: end,
                message: format!("unbalanced '{open}' character in pretty dialect name"),
                missing: false,
            }),
        }
    }
}

/// Length of the bracketed text at the start, or the bracket that is not closed by its own kind.
fn unbalanced(text: &str) -> Result<usize, char> {
    let bytes = text.as_bytes();
    let mut open: Vec<u8> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'<' | b'[' | b'(' | b'{' => open.push(byte),
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'"' => {
                at = crate::blank::string_end(bytes, at);
                continue;
            }
            b'>' | b']' | b')' | b'}' => {
                let opened = match byte {
                    b'>' => b'<',
                    b']' => b'[',
                    b')' => b'(',
                    _ => b'{',
                };
                if open.last() != Some(&opened) {
                    return Err(open.last().map_or('<', |b| char::from(*b)));
                }
                open.pop();
                if open.is_empty() {
                    return Ok(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    Err(open.last().map_or('<', |b| char::from(*b)))
}

/// True for a word that is a builtin type or begins one.
pub(crate) fn is_type_word(word: &str) -> bool {
    matches!(word, "tensor" | "memref" | "vector" | "complex" | "tuple" | "index" | "none")
        || integer_digits(word).is_some()
        || FloatKind::from_keyword(word).is_some()
}

/// The width of `i32`, `si8` or `ui64`, as it is written.
fn integer_digits(word: &str) -> Option<&str> {
    let digits = word.strip_prefix(['s', 'u']).unwrap_or(word).strip_prefix('i')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}
