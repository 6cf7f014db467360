//! A position in the text that dialects read from, token by token: the inside of a dialect's type or attribute, or an op
//! in custom form. Spans of types and attributes go to the [`Reader`].

use sutura_ir::asm::parse::{AsmParser, ParamParser, TokenParser, UnresolvedOperand};
use sutura_ir::attrs::{Attr, NamedAttr};
use sutura_ir::context::{Context, Ident};
use sutura_ir::diagnostics::{Diagnostic, Reported};
use sutura_ir::location::Loc;
use sutura_ir::types::Type;

use crate::blank::string_end;
use crate::reader::{Reader, signed};
use crate::rules::Span;
use crate::scan::{attr_end, bracket_end, number_end, skip_blank, suffix_end, type_end, word_end};

pub(crate) struct Cursor<'r, 't> {
    pub(crate) reader: &'r mut Reader<'t>,
    /// Offset of the next token; blanks before it are skipped.
    at: usize,
    /// Where the text to read ends.
    end: usize,
    /// Where what is being read begins.
    start: usize,
}

/// Punctuation that is not the first part of a longer one: `-` is not next where `->` stands.
const LONGER: [(&str, &str); 5] = [("-", "->"), (":", "::"), ("=", "=="), (">", ">="), ("<", "<=")];

impl<'r, 't> Cursor<'r, 't> {
    pub(crate) fn new(reader: &'r mut Reader<'t>, span: Span, start: usize) -> Self {
        let at = skip_blank(reader.text, span.start).min(span.end);
        Self { reader, at, end: span.end, start }
    }

    /// Offset of the next token.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'t str {
        &self.reader.text[self.at..self.end]
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    /// Goes on after offset `end`.
    pub(crate) fn go_to(&mut self, end: usize) {
        self.at = skip_blank(self.reader.text, end).min(self.end);
    }

    /// Checks that all has been read.
    pub(crate) fn finish(&mut self) -> Result<(), Reported> {
        if self.at < self.end {
            Err(self.reader.error(self.at, "unexpected text after the last parameter"))
        } else {
            Ok(())
        }
    }

    /// The span up to `end`, when it is within the text to read.
    fn span_to(&mut self, end: Option<usize>) -> Option<Span> {
        end.filter(|e| *e <= self.end).map(|end| Span::new(self.at, end))
    }

    /// True where a type or attribute begins with the word `word`.
    fn word(&self) -> &'t str {
        &self.reader.text[self.at..word_end(self.reader.text, self.at).min(self.end)]
    }

    /// True when the next token begins a type.
    pub(crate) fn at_type(&self) -> bool {
        match self.peek() {
            Some(b'(' | b'!') => true,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => is_type_word(self.word()),
            _ => false,
        }
    }

    /// True when the next token begins an attribute.
    pub(crate) fn at_attr(&self) -> bool {
        const WORDS: [&str; 12] = [
            "dense",
            "dense_resource",
            "sparse",
            "array",
            "affine_map",
            "affine_set",
            "strided",
            "distinct",
            "loc",
            "true",
            "false",
            "unit",
        ];
        match self.peek() {
            Some(b'"' | b'[' | b'{' | b'@' | b'#' | b'0'..=b'9') => true,
            Some(b'-') => {
                let text = self.reader.text;
                text.as_bytes().get(skip_blank(text, self.at + 1)).is_some_and(u8::is_ascii_digit)
            }
            _ => self.at_type() || WORDS.contains(&self.word()),
        }
    }

    /// True when the keyword or punctuation `text` is next.
    pub(crate) fn next_is(&self, text: &str) -> bool {
        if text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()) {
            return self.word() == text;
        }
        let longer = LONGER.iter().any(|(short, long)| *short == text && self.rest().starts_with(long));
        self.rest().starts_with(text) && !longer
    }

    /// `{…}` with its braces, when it is next.
    pub(crate) fn braces(&mut self) -> Result<Option<Span>, Reported> {
        if self.peek() != Some(b'{') {
            return Ok(None);
        }
        let end = bracket_end(self.reader.text, self.at);
        match self.span_to(end) {
            Some(span) => Ok(Some(span)),
            None => Err(self.reader.error(self.at, "expected '}' in attribute dictionary")),
        }
    }

    /// `[1, 2]`: the elements of a dense array of element type `elem`.
    pub(crate) fn bracketed_array(&mut self, elem: Type) -> Result<Attr, Reported> {
        if self.peek() != Some(b'[') {
            return Err(self.error("expected '['"));
        }
        let end = bracket_end(self.reader.text, self.at);
        let Some(span) = self.span_to(end) else { return Err(self.error("expected ']'")) };
        let attr = self.reader.bracketed_array(span, elem)?;
        self.go_to(span.end);
        Ok(attr)
    }

    /// `(types) -> types`, when a parenthesis is next.
    pub(crate) fn function_type(&mut self) -> Result<(Vec<Type>, Vec<Type>), Reported> {
        let end = if self.peek() == Some(b'(') { type_end(self.reader.text, self.at) } else { None };
        let Some(span) = self.span_to(end) else {
            return Err(self.reader.error(self.at, "expected function type"));
        };
        let (inputs, results) = self.reader.function(span)?;
        self.go_to(span.end);
        let cx = self.reader.cx;
        Ok((cx.types(inputs).to_vec(), cx.types(results).to_vec()))
    }
}

/// Words that begin a builtin type.
fn is_type_word(word: &str) -> bool {
    let digits = word.strip_prefix(['s', 'u']).unwrap_or(word).strip_prefix('i').unwrap_or_default();
    matches!(word, "tensor" | "memref" | "vector" | "complex" | "tuple" | "index" | "none")
        || (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        || sutura_ir::types::FloatKind::from_keyword(word).is_some()
}

impl TokenParser for Cursor<'_, '_> {
    fn cx(&self) -> &Context {
        self.reader.cx
    }

    fn loc(&self) -> Loc {
        self.reader.loc(self.at)
    }

    fn error_at(&mut self, loc: Loc, message: &str) -> Reported {
        self.reader.diags.error(loc, message)
    }

    fn report(&mut self, error: Diagnostic) -> Reported {
        self.reader.report(error)
    }

    fn opt_keyword(&mut self, keyword: &str) -> bool {
        let found = self.word() == keyword && !keyword.is_empty();
        if found {
            self.go_to(self.at + keyword.len());
        }
        found
    }

    fn opt_any_keyword(&mut self) -> Option<String> {
        let word = self.word();
        if word.is_empty() {
            return None;
        }
        self.go_to(self.at + word.len());
        Some(word.to_string())
    }

    fn opt_punct(&mut self, text: &str) -> bool {
        let found = self.next_is(text);
        if found {
            self.go_to(self.at + text.len());
        }
        found
    }

    fn opt_int(&mut self) -> Result<Option<i64>, Reported> {
        let text = self.reader.text;
        // The sign is a token of its own.
        let start = if self.peek() == Some(b'-') { skip_blank(text, self.at + 1) } else { self.at };
        let digits = &text[start.min(self.end)..self.end];
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let is_hex = digits.starts_with("0x") && digits.as_bytes().get(2).is_some_and(u8::is_ascii_hexdigit);
        let end = if is_hex {
            number_end(text, start).unwrap_or(start)
        } else {
            // Digits only: in `4x8`, and before a dot, the integer ends.
            start + digits.bytes().take_while(u8::is_ascii_digit).count()
        };
        match signed(&text[self.at..end]) {
            Some(value) => {
                self.go_to(end);
                Ok(Some(value))
            }
            None => Err(self.error("integer value too large")),
        }
    }

    fn opt_string(&mut self) -> Result<Option<String>, Reported> {
        if self.peek() != Some(b'"') {
            return Ok(None);
        }
        let end = string_end(self.reader.text.as_bytes(), self.at);
        let closed = end > self.at + 1 && self.reader.text.as_bytes()[end - 1] == b'"';
        if !closed || end > self.end {
            return Err(self.error("expected '\"' in string literal"));
        }
        let text = self.reader.unescape(Span::new(self.at, end))?;
        self.go_to(end);
        Ok(Some(text))
    }

    fn opt_symbol(&mut self) -> Result<Option<Ident>, Reported> {
        if self.peek() != Some(b'@') {
            return Ok(None);
        }
        let at = self.at;
        if self.reader.text.as_bytes().get(at + 1) == Some(&b'"') {
            self.at += 1;
            let name = self.opt_string()?.expect("a quote is next");
            if name.is_empty() {
                return Err(self.reader.error(at, "expected valid '@'-identifier for symbol name"));
            }
            return Ok(Some(self.reader.cx.ident(&name)));
        }
        let end = word_end(self.reader.text, at + 1).min(self.end);
        if end == at + 1 {
            return Err(self.error("@ identifier expected to start with letter or '_'"));
        }
        let name = self.reader.cx.ident(&self.reader.text[at + 1..end]);
        self.go_to(end);
        Ok(Some(name))
    }

    fn opt_type(&mut self) -> Result<Option<Type>, Reported> {
        if !self.at_type() {
            return Ok(None);
        }
        let end = type_end(self.reader.text, self.at);
        let Some(span) = self.span_to(end) else {
            return if self.peek() == Some(b'(') { Ok(None) } else { Err(self.error("expected non-function type")) };
        };
        let ty = self.reader.ty(span)?;
        self.go_to(span.end);
        Ok(Some(ty))
    }

    fn ty(&mut self) -> Result<Type, Reported> {
        match self.opt_type()? {
            Some(ty) => Ok(ty),
            None => Err(self.reader.no_type(self.at, self.word())),
        }
    }

    fn opt_attr(&mut self, ty: Option<Type>) -> Result<Option<Attr>, Reported> {
        if !self.at_attr() {
            return Ok(None);
        }
        let end = attr_end(self.reader.text, self.at, ty.is_none());
        let Some(span) = self.span_to(end) else { return Err(self.error("expected attribute value")) };
        let attr = match ty {
            Some(ty) => self.reader.attr_of_type(span, ty)?,
            None => self.reader.attr(span)?,
        };
        self.go_to(span.end);
        Ok(Some(attr))
    }
}

impl ParamParser for Cursor<'_, '_> {
    fn start(&self) -> Loc {
        self.reader.loc(self.start)
    }

    fn beyond_subset(&mut self, loc: Loc, message: &str) -> Reported {
        self.reader.beyond_subset = Some(Diagnostic::error(loc, message));
        Reported
    }

    fn list(
        &mut self,
        open: &str,
        close: &str,
        item: &mut dyn FnMut(&mut dyn ParamParser) -> Result<(), Reported>,
    ) -> Result<(), Reported> {
        self.punct(open)?;
        if self.opt_punct(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.opt_punct(",") {
                return self.punct(close);
            }
        }
    }
}

impl AsmParser for Cursor<'_, '_> {
    fn opt_operand(&mut self) -> Option<UnresolvedOperand> {
        if self.peek() != Some(b'%') {
            return None;
        }
        let text = self.reader.text;
        let at = self.at;
        let name_end = suffix_end(text, at + 1).min(self.end);
        if name_end == at + 1 {
            return None;
        }
        let (mut end, mut number) = (name_end, 0);
        // No attribute's name begins with a digit.
        let sign = skip_blank(text, name_end);
        if text.as_bytes().get(sign) == Some(&b'#') {
            let digits = text[sign + 1..].bytes().take_while(u8::is_ascii_digit).count();
            if let Ok(value) = text[sign + 1..sign + 1 + digits].parse() {
                (end, number) = (sign + 1 + digits, value);
            }
        }
        self.go_to(end);
        let name = self.reader.cx.ident(&text[at + 1..name_end]);
        Some(UnresolvedOperand { name, number, loc: self.reader.loc(at) })
    }

    fn opt_successor(&mut self) -> Option<Ident> {
        let end = suffix_end(self.reader.text, self.at + 1).min(self.end);
        if self.peek() != Some(b'^') || end == self.at + 1 {
            return None;
        }
        let name = self.reader.cx.ident(&self.reader.text[self.at + 1..end]);
        self.go_to(end);
        Some(name)
    }

    fn opt_attr_dict(&mut self) -> Result<Option<Vec<NamedAttr>>, Reported> {
        let Some(span) = self.braces()? else { return Ok(None) };
        let dict = self.reader.dict(Span::new(span.start + 1, span.end))?;
        self.go_to(span.end);
        Ok(Some(self.reader.cx.entries(dict).to_vec()))
    }

    fn opt_loc(&mut self) -> Result<Option<Loc>, Reported> {
        let text = self.reader.text;
        let open = skip_blank(text, self.at + 3.min(self.rest().len()));
        if self.word() != "loc" || text.as_bytes().get(open) != Some(&b'(') {
            return Ok(None);
        }
        let end = bracket_end(text, open);
        let Some(span) = self.span_to(end) else { return Err(self.error("expected ')' in location")) };
        let loc = self.reader.location(span)?;
        self.go_to(span.end);
        Ok(Some(loc))
    }
}
