//! Types and attributes of dialects: read by the dialect where it is registered, kept as text where it is not.

use std::borrow::Cow;

use sutura_ir::asm::{ALIAS_MARK, Aliased};
use sutura_ir::attrs::Attr;
use sutura_ir::context::{AttrList, Ident};
use sutura_ir::diagnostics::{Diagnostic, Reported, codes, did_you_mean};
use sutura_ir::types::Type;

use super::Reader;
use crate::blank::string_end;
use crate::cursor::Cursor;
use crate::rules::{Node, Rule, Span};
use crate::scan::{skip_blank, suffix_end};

/// A dialect's type or attribute in its parts.
struct Parts<'t> {
    dialect: &'t str,
    /// Name within the dialect; empty for `!dialect<…>`.
    mnemonic: &'t str,
    /// From the sigil to the closing bracket.
    span: Span,
    /// What follows the dialect's name.
    body: Span,
    /// What follows the mnemonic.
    params: Span,
}

impl<'t> Reader<'t> {
    pub(super) fn dialect_type(&mut self, node: Node<'t>) -> Result<Type, Reported> {
        let (start, end) = (node.start(), node.span().end);
        let Some(parts) = self.parts(start, end)? else {
            return self.type_alias(&self.text[start..end], start);
        };
        self.check_brackets(parts.body)?;
        let cx = self.cx;
        if let Some(info) = cx.registry().dialect(parts.dialect) {
            if let Some(parse) = info.types.get(parts.mnemonic).copied() {
                if let Some(ty) = self.by_dialect(&parts, info.partial, |cursor| parse(cursor))? {
                    return Ok(ty);
                }
            } else if !(info.types.is_empty() || info.partial && self.options.allow_unregistered) {
                return Err(self.unknown_mnemonic(&parts, "type", info.types.keys().copied().collect()));
            }
        }
        if !self.options.allow_unregistered {
            return Err(self.unregistered(&parts, '!', "type"));
        }
        let (body, refs) = self.opaque(parts.body)?;
        Ok(cx.opaque_type(parts.dialect, body, refs))
    }

    pub(super) fn dialect_attr(&mut self, node: Node<'t>) -> Result<Attr, Reported> {
        let start = node.start();
        let mut children = node.children();
        let mut end = children.next().expect("a name").span().end;
        if let Some(raw) = children.take_rule(Rule::raw) {
            end = raw.span().end;
        }
        let ty = self.type_after(&mut children)?;
        let Some(parts) = self.parts(start, end)? else {
            return self.attr_alias(&self.text[start..end], start);
        };
        self.check_brackets(parts.body)?;
        let cx = self.cx;
        if let Some(info) = cx.registry().dialect(parts.dialect) {
            if let Some(parse) = info.attrs.get(parts.mnemonic).copied() {
                if let Some(attr) = self.by_dialect(&parts, info.partial, |cursor| parse(cursor))? {
                    return Ok(attr);
                }
            } else if !(info.attrs.is_empty() || info.partial && self.options.allow_unregistered) {
                return Err(self.unknown_mnemonic(&parts, "attribute", info.attrs.keys().copied().collect()));
            }
        }
        if !self.options.allow_unregistered {
            return Err(self.unregistered(&parts, '#', "attribute"));
        }
        let (body, refs) = self.opaque(parts.body)?;
        Ok(cx.opaque_attr(parts.dialect, body, refs, ty.unwrap_or(Type::NONE)))
    }

    /// Splits `#dialect.mnemonic<…>` or `#dialect<…>`; `None` for an alias.
    fn parts(&mut self, start: usize, end: usize) -> Result<Option<Parts<'t>>, Reported> {
        let text = self.text;
        let name_end = suffix_end(text, start + 1);
        let name = &text[start + 1..name_end];
        let (dialect, mnemonic) = name.split_once('.').unwrap_or((name, ""));
        if dialect.len() == name.len() && name_end == end {
            return Ok(None);
        }
        let bad = !dialect.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            || (dialect.len() < name.len() && mnemonic.is_empty());
        if bad {
            return Err(self.error(start, "expected dialect name and symbol name"));
        }
        if dialect.contains('-') {
            return Err(self.error(start, format!("invalid dialect namespace '{dialect}'")));
        }
        let body = Span::new(start + 1 + dialect.len(), end);
        Ok(Some(Parts { dialect, mnemonic, span: Span::new(start, end), body, params: Span::new(name_end, end) }))
    }

    /// What the dialect's parser reads; `None` where that is a subset and the text, which is to be kept, is beyond it.
    fn by_dialect<T>(
        &mut self,
        parts: &Parts<'t>,
        partial: bool,
        parse: impl FnOnce(&mut Cursor<'_, 't>) -> Result<T, Reported>,
    ) -> Result<Option<T>, Reported> {
        let keep = partial && self.options.allow_unregistered;
        let read = |r: &mut Self| {
            let mut cursor = Cursor::new(r, parts.params, parts.span.start);
            let value = parse(&mut cursor).and_then(|value| cursor.finish().map(|()| Some(value)));
            match r.beyond_subset.take() {
                None => value,
                Some(_) if keep => Ok(None),
                Some(diagnostic) => Err(r.report(diagnostic)),
            }
        };
        self.nested(parts.span.start, |r| r.with_code(codes::PARAMS, read))
    }

    fn unknown_mnemonic(&mut self, parts: &Parts<'t>, kind: &str, known: Vec<&str>) -> Reported {
        let message = format!("unknown {kind} `{}` in dialect `{}`", parts.mnemonic, parts.dialect);
        let error = Diagnostic::error(self.loc(parts.span.start), message).code(codes::UNKNOWN_ENTITY);
        self.report(match did_you_mean(parts.mnemonic, known) {
            Some(meant) => error.help(format!("did you mean `{}.{meant}`?", parts.dialect)),
            None => error,
        })
    }

    fn unregistered(&mut self, parts: &Parts<'t>, sigil: char, kind: &str) -> Reported {
        let body = parts.body.of(self.text);
        let name = parts.dialect;
        let message = format!(
            "{sigil}{name}{body} {kind} created with unregistered dialect. If this is intended, please use \
             -allow-unregistered-dialect with the MLIR opt tool used"
        );
        let cx = self.cx;
        let known = cx.registry().dialects().map(|(name, _)| name);
        // After the dialect's name, as upstream does.
        let error = Diagnostic::error(self.loc(parts.body.start + 1), message).code(codes::UNKNOWN_ENTITY);
        self.report(match did_you_mean(name, known) {
            Some(meant) => error.help(format!("did you mean dialect `{meant}`?")),
            None => error,
        })
    }

    /// The text of an unregistered entity, with a mark in place of each reference to an alias.
    fn opaque(&mut self, span: Span) -> Result<(Ident, AttrList), Reported> {
        let text = self.text;
        let raw = span.of(text);
        let cx = self.cx;
        if let Some(n) = raw.find(ALIAS_MARK) {
            return Err(self.error(span.start + n, "control character in the text of a dialect's entity"));
        }
        if !raw.contains(['#', '!']) {
            return Ok((cx.ident(&plain_body(raw)), cx.attr_list(&[])));
        }
        let (mut out, mut refs) = (String::with_capacity(raw.len()), Vec::new());
        let (mut at, mut clean) = (span.start, span.start);
        while at < span.end {
            match text.as_bytes()[at] {
                b'"' => at = string_end(text.as_bytes(), at).min(span.end),
                b'#' | b'!' => {
                    let end = suffix_end(text, at + 1).min(span.end);
                    if let Some(value) = self.reference(at, end)? {
                        out.push_str(&text[clean..at]);
                        out.push(ALIAS_MARK);
                        refs.push(value);
                        clean = end;
                    }
                    at = end.max(at + 1);
                }
                _ => at += 1,
            }
        }
        out.push_str(&text[clean..span.end]);
        Ok((cx.ident(&out), cx.attr_list(&refs)))
    }

    /// Checks that the brackets of an opaque text match, strings and arrows left out, and the escapes of the strings.
    fn check_brackets(&mut self, span: Span) -> Result<(), Reported> {
        let bytes = self.text.as_bytes();
        let mut open: Vec<u8> = Vec::new();
        // The place is that of the text's own bracket.
        let first = span.of(self.text).find('<').map_or(span.start, |n| span.start + n);
        let mut at = span.start;
        while at < span.end {
            let byte = bytes[at];
            match byte {
                b'"' => {
                    let end = string_end(bytes, at).min(span.end);
                    self.check_escapes(Span::new(at, end))?;
                    at = end;
                    continue;
                }
                b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
                b'>' | b'<' if bytes.get(at + 1) == Some(&b'=') => at += 1,
                b'(' | b'[' | b'{' | b'<' => open.push(byte),
                b')' | b']' | b'}' | b'>' => {
                    let opening = open.pop().unwrap_or(byte);
                    if !matches!((opening, byte), (b'(', b')') | (b'[', b']') | (b'{', b'}') | (b'<', b'>')) {
                        return Err(self.unbalanced(opening, first));
                    }
                }
                _ => {}
            }
            at += 1;
        }
        match open.pop() {
            Some(byte) => Err(self.unbalanced(byte, first)),
            None => Ok(()),
        }
    }

    fn unbalanced(&mut self, byte: u8, at: usize) -> Reported {
        self.error(at, format!("unbalanced '{}' character in pretty dialect name", char::from(byte)))
    }

    /// What `#name` or `!name` in an opaque text stands for, when it is an alias.
    fn reference(&mut self, at: usize, end: usize) -> Result<Option<Attr>, Reported> {
        let name = &self.text[at..end];
        let is_entity = self.text.as_bytes().get(skip_blank(self.text, end)) == Some(&b'<');
        if is_entity || name.contains('.') || !self.is_alias(name) {
            return Ok(None);
        }
        Ok(Some(match self.alias(name, at)? {
            Aliased::Attr(attr) => attr,
            Aliased::Type(ty) => self.cx.type_attr(ty),
        }))
    }
}

/// `.name<…>` as upstream writes it: in brackets when the name has a character that may not stand outside of them.
fn plain_body(raw: &str) -> Cow<'_, str> {
    let name = raw.strip_prefix('.').map(|rest| rest.split('<').next().unwrap_or(rest));
    if name.is_some_and(|name| name.contains('-')) { format!("<{}>", &raw[1..]).into() } else { raw.into() }
}
