//! Why a text is wrong: what the rules refuse is read once more by hand, in MLIR's order and with its words, up to the
//! first token that does not belong there.
//!
//! Nothing is built here, and the grammar alone decides what is right: a text in which no fault is found is explained by
//! the rule that failed.

mod affine;
mod attr;
mod loc;
mod ty;

pub(crate) use ty::is_type_word;

use crate::blank::string_end;
use crate::rules::Rule;
use crate::scan::{skip_blank, suffix_end, word_end};

/// The first token that does not belong where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Offset in the text.
    pub(crate) at: usize,
    pub(crate) message: String,
    /// True when something is missing before the token: the place is then after the token before.
    pub(crate) missing: bool,
}

/// `Err` at the first fault.
type Check = Result<(), Fault>;

/// Brackets deeper than this are not followed.
const MAX_DEPTH: usize = 128;

struct Explain<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// Where the names of the affine map or set stand that is being read.
    affine_names: std::ops::Range<usize>,
    /// Nothing behind this point was looked at.
    gave_up: bool,
}

/// The first fault in a text that `rule` refuses; `None` when none is found.
pub(crate) fn explain(rule: Rule, text: &str) -> Option<Fault> {
    let mut e = Explain { text, at: skip_blank(text, 0), depth: 0, affine_names: 0..0, gave_up: false };
    let fault = match rule {
        Rule::unit1 => e.unit(),
        Rule::generic_end => e.generic_end(),
        Rule::alias => e.alias(),
        Rule::type_span => e.ty(),
        Rule::function_span => e.function(),
        Rule::attr_span => e.attr(),
        Rule::any_props_span => e.attr().and_then(|()| e.punct(">", "expected '>' to close properties")),
        Rule::dict_span => e.dict_entries(),
        Rule::props_span => e.dict_entries().and_then(|()| e.punct(">", "expected '>' to close properties")),
        Rule::loc_span => e.location(),
        Rule::resource_span => e.resources(),
        _ => return None,
    };
    fault.err().filter(|_| !e.gave_up)
}

impl Explain<'_> {
    // ---- tokens

    fn rest(&self) -> &str {
        &self.text[self.at.min(self.text.len())..]
    }

    fn byte(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    fn go_to(&mut self, at: usize) {
        self.at = skip_blank(self.text, at.min(self.text.len()));
    }

    fn missing(&self, message: &str) -> Fault {
        if self.byte() == Some(b'"') && !self.is_closed_string() {
            return self.unclosed_string();
        }
        Fault { at: self.at, message: message.to_string(), missing: true }
    }

    /// Where the line ends in which a string is not closed.
    fn unclosed_string(&self) -> Fault {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        self.wrong_at(self.at + length, "expected '\"' in string literal")
    }

    /// Whether the string that begins here ends on its line.
    fn is_closed_string(&self) -> bool {
        let end = string_end(self.text.as_bytes(), self.at);
        end >= self.at + 2 && self.text.as_bytes()[end - 1] == b'"'
    }

    fn wrong_at(&self, at: usize, message: impl Into<String>) -> Fault {
        Fault { at, message: message.into(), missing: false }
    }

    fn is(&self, punct: &str) -> bool {
        self.rest().starts_with(punct)
    }

    fn take(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        if found {
            self.go_to(self.at + punct.len());
        }
        found
    }

    fn punct(&mut self, punct: &str, message: &str) -> Check {
        if self.take(punct) { Ok(()) } else { Err(self.missing(message)) }
    }

    fn word(&self) -> &str {
        &self.text[self.at..word_end(self.text, self.at)]
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        if found {
            self.go_to(self.at + word.len());
        }
        found
    }

    fn keyword(&mut self, word: &str, message: &str) -> Check {
        if self.take_word(word) { Ok(()) } else { Err(self.missing(message)) }
    }

    /// Digits, or a hexadecimal number.
    fn take_integer(&mut self) -> bool {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let hex = self.rest().strip_prefix("0x").map_or(0, |r| r.bytes().take_while(u8::is_ascii_hexdigit).count());
        let length = if hex > 0 { hex + 2 } else { digits };
        self.go_to(self.at + length);
        length > 0
    }

    fn take_string(&mut self) -> Result<bool, Fault> {
        if self.byte() != Some(b'"') {
            return Ok(false);
        }
        if !self.is_closed_string() {
            return Err(self.unclosed_string());
        }
        self.go_to(string_end(self.text.as_bytes(), self.at));
        Ok(true)
    }

    /// A name after `%`, `^`, `@`, `#` or `!`.
    fn take_name(&mut self, sigil: u8) -> bool {
        if self.byte() != Some(sigil) {
            return false;
        }
        let end = suffix_end(self.text, self.at + 1);
        let found = end > self.at + 1;
        if found {
            self.go_to(end);
        }
        found
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Check) -> Check {
        if self.depth == MAX_DEPTH {
            return self.give_up();
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Ends the search without a fault.
    fn give_up(&mut self) -> Check {
        self.gave_up = true;
        Err(self.missing(""))
    }

    /// Items with commas between them, and `close`; the opening bracket has been read.
    fn list(&mut self, close: &str, message: &str, mut item: impl FnMut(&mut Self) -> Check) -> Check {
        if self.take(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.take(",") {
                return self.punct(close, message);
            }
        }
    }

    // ---- units

    fn unit(&mut self) -> Check {
        match self.byte() {
            Some(b'#' | b'!') => self.alias(),
            Some(b'}') => {
                self.take("}");
                if self.is(")") || self.is(",") { self.generic_end() } else { self.give_up() }
            }
            Some(b'%') => {
                self.results()?;
                self.op()
            }
            Some(b'"') => self.op(),
            Some(b'^') => self.label(),
            _ => self.give_up(),
        }
    }

    fn results(&mut self) -> Check {
        loop {
            if !self.take_name(b'%') {
                return Err(self.missing("expected valid ssa identifier"));
            }
            if self.take(":") && !self.take_integer() {
                return Err(self.missing("expected integer number of results"));
            }
            if !self.take(",") {
                return self.punct("=", "expected '=' after SSA name");
            }
        }
    }

    fn op(&mut self) -> Check {
        if self.byte() != Some(b'"') {
            let is_word = !self.word().is_empty();
            return if is_word { self.give_up() } else { Err(self.missing("expected operation name in quotes")) };
        }
        self.take_string()?;
        self.punct("(", "expected '(' to start operand list")?;
        let end = "expected ')' to end operand list";
        if self.byte() == Some(b'%') {
            self.list(")", end, Self::value)?;
        } else {
            self.punct(")", end)?;
        }
        if self.take("[") {
            self.list("]", "expected ']'", |e| {
                if e.take_name(b'^') { Ok(()) } else { Err(e.missing("expected block name")) }
            })?;
        }
        if self.take("<") {
            self.attr()?;
            self.punct(">", "expected '>' to close properties")?;
        }
        if self.take("(") {
            return if self.is("{") { self.give_up() } else { Err(self.missing("expected '{' to begin a region")) };
        }
        self.generic_tail()
    }

    /// `%0`, `%0#1`
    fn value(&mut self) -> Check {
        let found = self.take_name(b'%');
        let at = self.at;
        if self.take("#") && !self.take_integer() {
            return Err(self.wrong_at(at, "invalid SSA value result number"));
        }
        if found { Ok(()) } else { Err(self.missing("expected SSA operand")) }
    }

    /// `^bb0(%a: i32, %b: f32 loc("x")):`
    fn label(&mut self) -> Check {
        if !self.take_name(b'^') {
            return self.give_up();
        }
        if self.take("(") {
            self.list(")", "expected ')'", |e| {
                e.value()?;
                e.punct(":", "expected ':' and type for SSA operand")?;
                e.ty()?;
                if e.word() == "loc" { e.location() } else { Ok(()) }
            })?;
        }
        self.punct(":", "expected ':' after block name")
    }

    /// What follows the last `}` of an op in generic form.
    fn generic_end(&mut self) -> Check {
        if self.take(",") {
            return if self.is("{") { self.give_up() } else { Err(self.missing("expected '{' to begin a region")) };
        }
        self.punct(")", "expected ')' to end region list")?;
        self.generic_tail()
    }

    fn generic_tail(&mut self) -> Check {
        if self.take("{") {
            self.dict_entries()?;
        }
        self.punct(":", "expected ':' followed by operation type")?;
        let at = self.at;
        self.ty()?;
        if self.text.as_bytes().get(at) != Some(&b'(') {
            return Err(self.wrong_at(at, "expected function type"));
        }
        if self.word() == "loc" { self.location() } else { Ok(()) }
    }

    fn alias(&mut self) -> Check {
        let is_attr = self.byte() == Some(b'#');
        let kind = if is_attr { "attribute" } else { "type" };
        self.go_to(suffix_end(self.text, self.at + 1));
        self.punct("=", &format!("expected '=' in {kind} alias definition"))?;
        if is_attr { self.attr() } else { self.ty() }
    }

    // ---- resources

    /// What follows `{-#`.
    fn resources(&mut self) -> Check {
        self.list("#-}", "expected '#-}' to end file metadata dictionary", |e| {
            e.key("expected identifier key in file metadata dictionary")?;
            e.punct(":", "expected ':'")?;
            e.punct("{", "expected '{'")?;
            e.list("}", "expected '}'", |e| {
                e.key("expected identifier key for 'resource' entry")?;
                e.punct(":", "expected ':'")?;
                e.punct("{", "expected '{'")?;
                e.list("}", "expected '}'", |e| {
                    e.key("expected identifier key for 'resource' entry")?;
                    e.punct(":", "expected ':'")?;
                    let read = e.take_string()? || e.take_word("true") || e.take_word("false");
                    if read { Ok(()) } else { Err(e.missing("expected a string, 'true' or 'false'")) }
                })
            })
        })
    }

    fn key(&mut self, message: &str) -> Check {
        let word = self.word().len();
        self.go_to(self.at + word);
        if word > 0 || self.take_string()? { Ok(()) } else { Err(self.wrong_at(self.at, message)) }
    }
}

#[cfg(test)]
mod tests;
