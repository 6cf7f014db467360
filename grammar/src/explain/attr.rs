//! Attributes.

use super::ty::is_type_word;
use super::{Check, Explain};
use crate::scan::{bracket_end, number_end, symbol_end};

impl Explain<'_> {
    pub(super) fn attr(&mut self) -> Check {
        self.nested(Self::attr_here)
    }

    fn attr_here(&mut self) -> Check {
        match self.byte() {
            Some(b'[') => {
                self.take("[");
                return self.list("]", "expected ',' or ']'", Self::attr);
            }
            Some(b'{') => {
                self.take("{");
                return self.dict_entries();
            }
            Some(b'"') => {
                self.take_string()?;
                return self.typed();
            }
            Some(b'#') => {
                self.dialect_symbol()?;
                return self.typed();
            }
            Some(b'@') => {
                let Some(end) = symbol_end(self.text, self.at) else {
                    return Err(self.wrong_at(self.at + 1, "@ identifier expected to start with letter or '_'"));
                };
                self.go_to(end);
                let after = self.at;
                if self.take(":") && self.take(":") && self.byte() != Some(b'@') {
                    return Err(self.missing("expected nested symbol reference identifier"));
                }
                self.at = after;
                return Ok(());
            }
            Some(b'-' | b'0'..=b'9') => return self.number(),
            Some(b'(' | b'!') => return self.ty(),
            _ => {}
        }
        let word = self.word().to_string();
        if is_type_word(&word) {
            return self.ty();
        }
        if word == "loc" {
            return self.location();
        }
        let known = [
            "affine_map",
            "affine_set",
            "array",
            "dense",
            "dense_resource",
            "distinct",
            "sparse",
            "strided",
            "true",
            "false",
            "unit",
        ];
        if !known.contains(&word.as_str()) {
            return Err(self.missing("expected attribute value"));
        }
        self.go_to(self.at + word.len());
        match word.as_str() {
            "affine_map" => self.affine_map(),
            "affine_set" => self.affine_set(),
            "array" => self.dense_array(),
            "dense" => self.elements("expected '<' after 'dense'"),
            "dense_resource" => self.elements("expected '<' after 'dense_resource'"),
            "sparse" => self.elements("Expected '<' after 'sparse'"),
            "distinct" => self.distinct(),
            "strided" => self.strided(),
            _ => Ok(()),
        }
    }

    /// `: type`, if it is there.
    fn typed(&mut self) -> Check {
        if self.take(":") { self.ty() } else { Ok(()) }
    }

    fn number(&mut self) -> Check {
        let Some(end) = number_end(self.text, self.at) else {
            self.take("-");
            return Err(self.missing("expected constant integer or floating point value"));
        };
        self.go_to(end);
        self.typed()
    }

    /// What follows `{` of a dictionary.
    pub(super) fn dict_entries(&mut self) -> Check {
        self.list("}", "expected '}' in attribute dictionary", |e| {
            let key = e.key("expected attribute name");
            key.map_err(|fault| super::Fault { missing: true, ..fault })?;
            if e.take("=") { e.attr() } else { Ok(()) }
        })
    }

    /// Elements are read by a scanner of their own, which reports what is wrong in them.
    fn elements(&mut self, message: &str) -> Check {
        if !self.is("<") {
            return Err(self.missing(message));
        }
        let Some(end) = bracket_end(self.text, self.at) else { return self.give_up() };
        self.go_to(end);
        self.punct(":", "expected ':'")?;
        self.ty()
    }

    fn dense_array(&mut self) -> Check {
        if !self.is("<") {
            return Err(self.missing("expected '<' after 'array'"));
        }
        let end = bracket_end(self.text, self.at);
        self.take("<");
        if !is_type_word(self.word()) {
            return Err(self.missing("expected non-function type"));
        }
        let is_integer = self.word().starts_with('i');
        self.go_to(self.at + self.word().len());
        if !self.is(":") && !self.is(">") {
            return Err(self.missing("expected ':' after dense array type"));
        }
        if self.take(":") && is_integer {
            return self.list(">", "expected '>' to close an array attribute", Self::dense_integer);
        }
        let Some(end) = end else { return self.give_up() };
        self.go_to(end);
        Ok(())
    }

    fn dense_integer(&mut self) -> Check {
        self.take("-");
        let read = self.take_word("true") || self.take_word("false") || self.take_integer();
        if read { Ok(()) } else { Err(self.missing("expected integer literal")) }
    }

    fn distinct(&mut self) -> Check {
        self.punct("[", "expected '[' after 'distinct'")?;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let start = self.at;
        if !self.take_integer() {
            return Err(self.missing("expected distinct ID"));
        }
        let hex = self.text[start..].strip_prefix("0x").map_or("", |r| r);
        let hex = &hex[..hex.bytes().take_while(u8::is_ascii_hexdigit).count()];
        let fits = if hex.is_empty() {
            self.text[start..start + digits].parse::<u64>().is_ok()
        } else {
            u64::from_str_radix(hex, 16).is_ok()
        };
        if !fits {
            return Err(self.wrong_at(self.at, "expected an unsigned 64-bit integer"));
        }
        self.punct("]", "expected ']' to close distinct ID")?;
        self.punct("<", "expected '<' after distinct ID")?;
        if !self.is(">") {
            self.attr()?;
        }
        self.punct(">", "expected '>' to close distinct attribute")
    }

    fn strided(&mut self) -> Check {
        self.punct("<", "expected '<' after 'strided'")?;
        self.punct("[", "expected '['")?;
        self.list("]", "expected ']'", Self::stride)?;
        if self.take(",") {
            self.keyword("offset", "expected 'offset' after comma")?;
            self.punct(":", "expected ':' after 'offset'")?;
            self.stride()?;
        }
        self.punct(">", "expected '>'")
    }

    fn stride(&mut self) -> Check {
        let start = self.at;
        let read = if self.take("-") { self.take_integer() } else { self.take("?") || self.take_integer() };
        if read { Ok(()) } else { Err(self.wrong_at(start, "expected a 64-bit signed integer or '?'")) }
    }
}
