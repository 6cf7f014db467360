//! From spans to types, attributes and locations.
//!
//! A span is parsed by its rule when its text is met first; after that its text is looked up. Equal texts mean the same
//! throughout a file: an alias is defined once, wherever that is.

mod affine;
mod alias;
mod attr;
mod dense;
mod dialect;
mod loc;
mod number;
mod quick;
mod resource;
mod ty;

use pest::Parser;
use rustc_hash::{FxHashMap, FxHashSet};

use sutura_ir::asm::{FIRST_OF_BYTES, text_of_bytes};
use sutura_ir::attrs::Attr;
use sutura_ir::context::{Context, Ident, TypeList};
use sutura_ir::diagnostics::{Diagnostic, Diagnostics, Reported, codes};
use sutura_ir::location::Loc;
use sutura_ir::registry::OpName;
use sutura_ir::types::Type;

use crate::ParseOptions;
use crate::blank::string_end;
use crate::rules::{Grammar, Node, Rule, Span};
use crate::syntax;
pub(crate) use alias::AliasTable;
pub(crate) use number::{signed, unsigned};
pub(crate) use ty::MAX_WIDTH;

/// Nesting of types, attributes and locations.
const MAX_DEPTH: usize = 256;

pub(crate) struct Reader<'t> {
    pub(crate) cx: &'t Context,
    /// The text, comments blanked.
    pub(crate) text: &'t str,
    /// Position of the text in the source map.
    pub(crate) base: u32,
    pub(crate) options: &'t ParseOptions,
    pub(crate) diags: Diagnostics,
    pub(crate) aliases: AliasTable<'t>,
    types: FxHashMap<&'t str, Type>,
    functions: FxHashMap<&'t str, (TypeList, TypeList)>,
    dicts: FxHashMap<&'t str, Attr>,
    attrs: FxHashMap<&'t str, Attr>,
    locs: FxHashMap<&'t str, Loc>,
    names: FxHashMap<&'t str, OpName>,
    /// Distinct attributes by their number in the file.
    distinct: FxHashMap<i64, (i64, Attr)>,
    /// Constants written in hexadecimal, where that is to be kept.
    pub(crate) hex: FxHashSet<Attr>,
    /// What a dialect's parser gave up at because the dialect is a subset; not reported yet.
    pub(crate) beyond_subset: Option<Diagnostic>,
    depth: usize,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(cx: &'t Context, text: &'t str, base: u32, options: &'t ParseOptions) -> Self {
        Self {
            cx,
            text,
            base,
            options,
            diags: Diagnostics::default(),
            aliases: AliasTable::default(),
            types: FxHashMap::default(),
            functions: FxHashMap::default(),
            dicts: FxHashMap::default(),
            attrs: FxHashMap::default(),
            locs: FxHashMap::default(),
            names: FxHashMap::default(),
            distinct: FxHashMap::default(),
            hex: FxHashSet::default(),
            beyond_subset: None,
            depth: 0,
        }
    }

    /// True when the text read so far has distinct attributes.
    pub(crate) fn has_distinct(&self) -> bool {
        !self.distinct.is_empty()
    }

    // ---- errors

    /// The location of an offset.
    pub(crate) fn loc(&self, at: usize) -> Loc {
        Loc::at(self.base + at.min(self.text.len()) as u32)
    }

    /// Offset of a location in this text.
    pub(crate) fn offset(&self, loc: Loc) -> Option<usize> {
        let at = loc.position()?.checked_sub(self.base)? as usize;
        (at <= self.text.len()).then_some(at)
    }

    pub(crate) fn error(&mut self, at: usize, message: impl Into<String>) -> Reported {
        let loc = self.loc(at);
        self.diags.error(loc, message)
    }

    /// Reports what is missing before offset `at`, after the text before it.
    pub(crate) fn missing(&mut self, at: usize, message: impl Into<String>) -> Reported {
        self.error(syntax::after_previous(self.text, at), message)
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diags.report(diagnostic)
    }

    /// An error with a code.
    pub(crate) fn coded(&mut self, code: &'static str, at: usize, message: impl Into<String>) -> Reported {
        let error = Diagnostic::error(self.loc(at), message);
        self.report(error.code(code))
    }

    /// Runs `read`; errors in it get `code` unless they have one.
    pub(crate) fn with_code<T>(&mut self, code: &'static str, read: impl FnOnce(&mut Self) -> T) -> T {
        let from = self.diags.len();
        let result = read(self);
        self.diags.default_code(from, code);
        result
    }

    /// What was reported; an error without a code is one of syntax.
    pub(crate) fn finish(mut self) -> Diagnostics {
        self.diags.default_code(0, codes::SYNTAX);
        self.diags
    }

    /// Runs a rule on a span that it must match as a whole.
    pub(crate) fn parse(&mut self, rule: Rule, span: Span) -> Result<Node<'t>, Reported> {
        match Grammar::parse(rule, span.of(self.text)) {
            Ok(mut pairs) => Ok(Node::new(pairs.next().expect("an entry rule makes a pair"), span.start)),
            Err(_) => Err(self.syntax_error(rule, span)),
        }
    }

    /// Reports why a rule does not match a span.
    pub(crate) fn syntax_error(&mut self, rule: Rule, span: Span) -> Reported {
        match syntax::failure(rule, span.of(self.text)) {
            Some(failure) if failure.too_deep => self.too_deep(span.start + failure.at),
            Some(failure) if failure.missing => self.missing(span.start + failure.at, failure.message),
            Some(failure) => self.error(span.start + failure.at, failure.message),
            None => self.error(span.start, "unexpected text"),
        }
    }

    pub(crate) fn too_deep(&mut self, at: usize) -> Reported {
        self.coded(codes::NESTING, at, format!("nesting is too deep: at most {MAX_DEPTH} levels of brackets are read"))
    }

    /// Runs `read` one level deeper.
    fn nested<T>(&mut self, at: usize, read: impl FnOnce(&mut Self) -> Result<T, Reported>) -> Result<T, Reported> {
        if self.depth == MAX_DEPTH {
            return Err(self.too_deep(at));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    // ---- spans, looked up by text

    /// A type.
    pub(crate) fn ty(&mut self, span: Span) -> Result<Type, Reported> {
        let text = span.of(self.text);
        if let Some(&ty) = self.types.get(text) {
            return Ok(ty);
        }
        let node = self.parse(Rule::type_span, span)?.child().expect("a type");
        let ty = self.type_node(node)?;
        self.types.insert(text, ty);
        Ok(ty)
    }

    /// `(inputs) -> results`
    pub(crate) fn function(&mut self, span: Span) -> Result<(TypeList, TypeList), Reported> {
        let text = span.of(self.text);
        if let Some(&lists) = self.functions.get(text) {
            return Ok(lists);
        }
        let node = self.parse(Rule::function_span, span)?.child().expect("a function type");
        let lists = self.function_node(node)?;
        self.functions.insert(text, lists);
        Ok(lists)
    }

    /// An attribute.
    pub(crate) fn attr(&mut self, span: Span) -> Result<Attr, Reported> {
        let text = span.of(self.text);
        if let Some(&attr) = self.attrs.get(text) {
            return Ok(attr);
        }
        let node = self.parse(Rule::attr_span, span)?.child().expect("an attribute");
        let attr = self.attr_node(node, None)?;
        self.attrs.insert(text, attr);
        Ok(attr)
    }

    /// An attribute whose number, if it is one without type, has type `ty`.
    pub(crate) fn attr_of_type(&mut self, span: Span, ty: Type) -> Result<Attr, Reported> {
        let node = self.parse(Rule::attr_span, span)?.child().expect("an attribute");
        self.attr_node(node, Some(ty))
    }

    /// What follows `{` of a dictionary.
    pub(crate) fn dict(&mut self, span: Span) -> Result<Attr, Reported> {
        self.dict_by_rule(Rule::dict_span, span)
    }

    /// What follows `<{` of properties.
    pub(crate) fn props(&mut self, span: Span) -> Result<Attr, Reported> {
        self.dict_by_rule(Rule::props_span, span)
    }

    fn dict_by_rule(&mut self, rule: Rule, span: Span) -> Result<Attr, Reported> {
        let text = span.of(self.text);
        if let Some(&dict) = self.dicts.get(text) {
            return Ok(dict);
        }
        let dict = match self.quick_dict(rule, span)? {
            Some(dict) => dict,
            None => {
                let node = self.parse(rule, span)?;
                self.entries_node(node)?
            }
        };
        self.dicts.insert(text, dict);
        Ok(dict)
    }

    /// What follows `<` of properties that are no dictionary.
    pub(crate) fn any_props(&mut self, span: Span) -> Result<Attr, Reported> {
        let node = self.parse(Rule::any_props_span, span)?.child().expect("an attribute");
        self.attr_node(node, None)
    }

    /// `loc(…)`
    pub(crate) fn location(&mut self, span: Span) -> Result<Loc, Reported> {
        let text = span.of(self.text);
        if let Some(&loc) = self.locs.get(text) {
            return Ok(loc);
        }
        let node = self.parse(Rule::loc_span, span)?.child().expect("a location");
        let loc = self.loc_node(node)?;
        self.locs.insert(text, loc);
        Ok(loc)
    }

    /// The name of an op.
    pub(crate) fn op_name(&mut self, text: &'t str) -> OpName {
        let cx = self.cx;
        *self.names.entry(text).or_insert_with(|| cx.op_name(text))
    }

    // ---- strings

    /// The text of a string literal, quotes included in `node`.
    pub(crate) fn string(&mut self, node: &Node<'t>) -> Result<String, Reported> {
        self.unescape(node.span())
    }

    /// The text of a string literal whose span includes the quotes.
    pub(crate) fn unescape(&mut self, span: Span) -> Result<String, Reported> {
        let raw = inside_quotes(span.of(self.text));
        if is_plain(raw) {
            return Ok(raw.to_string());
        }
        Ok(text_of_bytes(self.decode(span)?))
    }

    /// Checks the escapes of a string literal that is kept as it is written.
    pub(crate) fn check_escapes(&mut self, span: Span) -> Result<(), Reported> {
        if span.of(self.text).contains('\\') { self.decode(span).map(drop) } else { Ok(()) }
    }

    /// The bytes of a string literal. The escapes are those of MLIR.
    fn decode(&mut self, span: Span) -> Result<Vec<u8>, Reported> {
        let raw = inside_quotes(span.of(self.text));
        let mut out = Vec::with_capacity(raw.len());
        let bytes = raw.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte != b'\\' {
                out.push(byte);
                at += 1;
                continue;
            }
            let (value, length) = match bytes.get(at + 1) {
                Some(b'n') => (b'\n', 2),
                Some(b't') => (b'\t', 2),
                Some(c @ (b'"' | b'\\')) => (*c, 2),
                Some(_) => match hex_byte(&bytes[at + 1..]) {
                    Some(value) => (value, 3),
                    None => return Err(self.unknown_escape(span.start + 1 + at)),
                },
                None => return Err(self.error(span.start + 1 + at, "expected '\"' in string literal")),
            };
            out.push(value);
            at += length;
        }
        Ok(out)
    }

    /// Checks the name of a value, a block or an alias where it is defined: one that begins with a digit is a number.
    pub(crate) fn check_name(&mut self, sigil: char, name: &str, at: usize) -> Result<(), Reported> {
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits == name.len() {
            return Ok(());
        }
        let message = format!("'{sigil}{name}' is no name: one that begins with a digit is a number");
        let error = Diagnostic::error(self.loc(at), message).code(codes::SYNTAX);
        Err(self.report(error.help(format!("write `{sigil}_{name}`"))))
    }

    /// Checks that no string holds a vertical tab or a form feed, which end a line in it. The rules would not see them.
    pub(crate) fn check_characters(&mut self) -> Result<(), Reported> {
        let bytes = self.text.as_bytes();
        let mut result = Ok(());
        for at in memchr::memchr2_iter(0x0b, 0x0c, bytes) {
            let mut from = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |n| n + 1);
            while let Some(n) = memchr::memchr(b'"', &bytes[from..at]) {
                let end = string_end(bytes, from + n);
                if end > at {
                    result = Err(self.error(at, "expected '\"' in string literal"));
                }
                from = end.min(at);
            }
        }
        result
    }

    /// An error for the escape that begins at `at`.
    pub(crate) fn unknown_escape(&mut self, at: usize) -> Reported {
        let error = Diagnostic::error(self.loc(at), "unknown escape in string literal");
        self.report(error.help("escapes are `\\n`, `\\t`, `\\\\`, `\\\"` and two hexadecimal digits, as in `\\0A`"))
    }

    /// A bare name or a string literal.
    pub(crate) fn name_or_string(&mut self, node: &Node<'t>) -> Result<Ident, Reported> {
        let text = node.text();
        if text.starts_with('"') && is_plain(text) {
            Ok(self.cx.ident(&text[1..text.len() - 1]))
        } else if text.starts_with('"') {
            let text = self.string(node)?;
            Ok(self.cx.ident(&text))
        } else {
            Ok(self.cx.ident(node.text()))
        }
    }
}

/// True for the inside of a string literal that stands for itself.
pub(crate) fn is_plain(raw: &str) -> bool {
    memchr::memchr2(b'\\', FIRST_OF_BYTES, raw.as_bytes()).is_none()
}

/// A string literal without its quotes; the second may be missing.
fn inside_quotes(literal: &str) -> &str {
    let raw = &literal[1..];
    raw.strip_suffix('"').unwrap_or(raw)
}

/// The value of two hexadecimal digits at the start of `bytes`.
fn hex_byte(bytes: &[u8]) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (high, low) = (digit(bytes.first()?)?, digit(bytes.get(1)?)?);
    u8::try_from(high * 16 + low).ok()
}
