//! Dictionaries of plain values, read without the rules.
//!
//! Most dictionaries of a large program differ in a number or a name, so that looking their text up does not help, and
//! a rule for each of their tokens is most of what reading them costs. What is not plain, and what is wrong, is left to
//! the rules.

use pest::Parser;
use smallvec::SmallVec;

use sutura_ir::attrs::{Attr, AttrData, NamedAttr};
use sutura_ir::diagnostics::Reported;
use sutura_ir::types::Type;

use super::Reader;
use crate::blank::string_end;
use crate::rules::{Grammar, Node, Rule, Span};
use crate::scan::{attr_end, number_end, skip_blank, word_end};

/// Arrays deeper than this are left to the rules.
const MAX_DEPTH: usize = 8;

/// What was read, and where it ends; `None` where only the rules can tell.
type Quick<T> = Result<Option<(T, usize)>, Reported>;

impl<'t> Reader<'t> {
    /// What follows `{` of a dictionary or `<{` of properties.
    pub(super) fn quick_dict(&mut self, rule: Rule, span: Span) -> Result<Option<Attr>, Reported> {
        let text = self.text;
        let bytes = text.as_bytes();
        let mut entries: SmallVec<[NamedAttr; 4]> = SmallVec::new();
        let mut at = skip_blank(text, span.start);
        loop {
            let end = word_end(text, at);
            if end == at {
                return Ok(None);
            }
            let name = self.cx.ident(&text[at..end]);
            at = skip_blank(text, end);
            let mut value = Attr::UNIT;
            if bytes.get(at) == Some(&b'=') {
                let Some((read, end)) = self.quick_value(skip_blank(text, at + 1), MAX_DEPTH)? else { return Ok(None) };
                value = read;
                at = skip_blank(text, end);
            }
            if entries.iter().any(|e| e.name == name) {
                return Ok(None);
            }
            entries.push(NamedAttr { name, value });
            match bytes.get(at) {
                Some(b',') => at = skip_blank(text, at + 1),
                Some(b'}') => break,
                _ => return Ok(None),
            }
        }
        let rest = text.get(at + 1..span.end).unwrap_or("?").trim_matches([' ', '\n']);
        let whole = rest == if rule == Rule::props_span { ">" } else { "" };
        Ok(whole.then(|| self.cx.dict(&entries)))
    }

    fn quick_value(&mut self, at: usize, depth: usize) -> Quick<Attr> {
        match self.text.as_bytes().get(at) {
            Some(b'0'..=b'9' | b'-') => Ok(self.quick_integer(at)),
            Some(b'"') => Ok(self.quick_string(at)),
            Some(b'[') if depth > 0 => self.quick_array(at, depth - 1),
            Some(b'{' | b'[' | b'(') | None => Ok(None),
            Some(_) => self.looked_up(at),
        }
    }

    /// A decimal integer of at most 64 bits that fits its type whether that is signed or not.
    fn quick_integer(&self, at: usize) -> Option<(Attr, usize)> {
        let text = self.text;
        let end = number_end(text, at)?;
        let value: i64 = text[at..end].parse().ok()?;
        if value == 0 && text[at..].starts_with('-') {
            return None;
        }
        let colon = skip_blank(text, end);
        if text.as_bytes().get(colon) != Some(&b':') {
            return Some((self.cx.int_attr(value, Type::I64), end));
        }
        let start = skip_blank(text, colon + 1);
        let end = word_end(text, start);
        let (ty, width) = match &text[start..end] {
            "i8" => (Type::I8, 8),
            "i16" => (Type::I16, 16),
            "i32" => (Type::I32, 32),
            "i64" => (Type::I64, 64),
            "index" => (Type::INDEX, 64),
            _ => return None,
        };
        let half = 1i128 << (width - 1);
        let fits = (-half..half).contains(&i128::from(value));
        fits.then(|| (self.cx.int_attr(value, ty), end))
    }

    /// A string without escapes and without type.
    fn quick_string(&self, at: usize) -> Option<(Attr, usize)> {
        let text = self.text;
        let end = string_end(text.as_bytes(), at);
        let inside = text.get(at + 1..end)?.strip_suffix('"')?;
        let typed = text.as_bytes().get(skip_blank(text, end)) == Some(&b':');
        if typed || !super::is_plain(inside) {
            return None;
        }
        let value = AttrData::String { value: self.cx.ident(inside), ty: Type::NONE };
        Some((self.cx.attr(value), end))
    }

    fn quick_array(&mut self, at: usize, depth: usize) -> Quick<Attr> {
        let text = self.text;
        let mut values: SmallVec<[Attr; 8]> = SmallVec::new();
        let mut at = skip_blank(text, at + 1);
        loop {
            let Some((value, end)) = self.quick_value(at, depth)? else { return Ok(None) };
            values.push(value);
            at = skip_blank(text, end);
            match text.as_bytes().get(at) {
                Some(b',') => at = skip_blank(text, at + 1),
                Some(b']') => break,
                _ => return Ok(None),
            }
        }
        Ok(Some((self.cx.array_attr(&values), at + 1)))
    }

    /// Any other value, by its text.
    fn looked_up(&mut self, at: usize) -> Quick<Attr> {
        let Some(end) = attr_end(self.text, at, true) else { return Ok(None) };
        if self.text.as_bytes().get(skip_blank(self.text, end)) == Some(&b'<') {
            return Ok(None);
        }
        let text = &self.text[at..end];
        if let Some(&attr) = self.attrs.get(text) {
            return Ok(Some((attr, end)));
        }
        let Ok(mut pairs) = Grammar::parse(Rule::attr_span, text) else { return Ok(None) };
        let node = Node::new(pairs.next().expect("an entry rule makes a pair"), at).child().expect("an attribute");
        let attr = self.attr_node(node, None)?;
        self.attrs.insert(text, attr);
        Ok(Some((attr, end)))
    }
}
