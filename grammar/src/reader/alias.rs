//! Aliases. They are found before the operations are read, and read when first used or met, so that a definition may
//! follow its uses (as those of locations do in MLIR's output).

use pest::Parser;
use rustc_hash::FxHashMap;

use sutura_ir::asm::Aliased;
use sutura_ir::attrs::{Attr, AttrData};
use sutura_ir::diagnostics::{Diagnostic, Reported, codes, did_you_mean};
use sutura_ir::location::Loc;
use sutura_ir::types::Type;

use super::Reader;
use crate::rules::{Grammar, Node, Rule};
use crate::scan::{skip_blank, suffix_end};

/// Definitions by name, `#` or `!` included.
#[derive(Clone, Default)]
pub(crate) struct AliasTable<'t> {
    entries: FxHashMap<&'t str, Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    /// Offset of the definition.
    at: usize,
    /// Characters of it, and of all that aliases in it stand for; 0 before it is read.
    length: u64,
    state: State,
}

/// The most characters that aliases in a definition may stand for: a few lines of aliases of aliases could stand for more than any
/// message or file holds.
const MAX_EXPANSION: u64 = 1 << 24;

#[derive(Clone, Copy)]
enum State {
    Unread,
    Reading,
    Read(Aliased),
    Wrong,
}

impl<'t> Reader<'t> {
    /// Notes where each alias is defined: at the start of a line, `#name =` or `!name =`.
    pub(crate) fn find_aliases(&mut self) {
        let text = self.text;
        let bytes = text.as_bytes();
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', bytes).map(|n| n + 1));
        for start in starts {
            let at = skip_to_text(bytes, start);
            if !matches!(bytes.get(at), Some(b'#' | b'!')) {
                continue;
            }
            let end = suffix_end(text, at + 1);
            let equals = skip_blank(text, end);
            if end > at + 1 && bytes.get(equals) == Some(&b'=') && bytes.get(equals + 1) != Some(&b'=') {
                let entry = Entry { at, length: 0, state: State::Unread };
                self.aliases.entries.entry(&text[at..end]).or_insert(entry);
            }
        }
    }

    /// True when an alias of this name (`#` or `!` included) is defined.
    pub(super) fn is_alias(&self, name: &str) -> bool {
        self.aliases.entries.contains_key(name)
    }

    /// Reads the definition that `node` is, and checks that it is the first of its name.
    pub(crate) fn define_alias(&mut self, node: Node<'t>) -> Result<(&'t str, Aliased), Reported> {
        let at = node.start();
        let name = &self.text[at..suffix_end(self.text, at + 1)];
        let kind = if name.starts_with('#') { "attribute" } else { "type" };
        if name.contains('.') {
            let message = format!("{kind} names with a '.' are reserved for dialect-defined names");
            return Err(self.error(at, message));
        }
        self.check_name(if kind == "type" { '!' } else { '#' }, &name[1..], at)?;
        match self.aliases.entries.get(name) {
            Some(entry) if entry.at != at => {
                let error =
                    Diagnostic::error(self.loc(at), format!("redefinition of {kind} alias id '{}'", &name[1..]));
                let first = self.loc(entry.at);
                return Err(self.report(error.code(codes::REDEFINED).note(first, "first defined here")));
            }
            None => {
                self.aliases.entries.insert(name, Entry { at, length: 0, state: State::Unread });
            }
            _ => {}
        }
        Ok((&name[1..], self.alias(name, at)?))
    }

    /// What an alias stands for.
    pub(super) fn alias(&mut self, name: &'t str, used_at: usize) -> Result<Aliased, Reported> {
        let Some(entry) = self.aliases.entries.get(name).copied() else {
            return Err(self.unknown_alias(name, used_at));
        };
        match entry.state {
            State::Read(value) => return Ok(value),
            State::Wrong => return Err(Reported),
            State::Reading => {
                let message = format!("alias '{}' is defined by itself", &name[1..]);
                return Err(self.coded(codes::UNDEFINED_ALIAS, used_at, message));
            }
            State::Unread => {}
        }
        self.set_state(name, State::Reading);
        let value = self.nested(used_at, |r| {
            let (value, end) = r.read_definition(entry.at)?;
            r.measure(name, entry.at, end)?;
            Ok(value)
        });
        self.set_state(name, value.map_or(State::Wrong, State::Read));
        value
    }

    fn set_state(&mut self, name: &'t str, state: State) {
        if let Some(entry) = self.aliases.entries.get_mut(name) {
            entry.state = state;
        }
    }

    /// Notes how long a definition is where aliases are written out, and refuses one that is too long. A name in a string counts as well.
    fn measure(&mut self, name: &'t str, at: usize, end: usize) -> Result<(), Reported> {
        let text = self.text;
        let signs = memchr::memchr2_iter(b'#', b'!', &text.as_bytes()[at..end]).map(|sign| at + sign);
        let named = signs.filter_map(|sign| self.aliases.entries.get(&text[sign..suffix_end(text, sign + 1)]));
        let expansion = named.fold(0u64, |sum, entry| sum.saturating_add(entry.length));
        if expansion > MAX_EXPANSION {
            let message = format!("aliases in alias '{}' stand for more than {MAX_EXPANSION} characters", &name[1..]);
            return Err(self.coded(codes::NESTING, at, message));
        }
        if let Some(entry) = self.aliases.entries.get_mut(name) {
            entry.length = expansion.saturating_add((end - at) as u64);
        }
        Ok(())
    }

    /// What a definition says, and where it ends.
    fn read_definition(&mut self, at: usize) -> Result<(Aliased, usize), Reported> {
        // The definition ends somewhere in the rest of the text; the rule finds where.
        let Ok(mut pairs) = Grammar::parse(Rule::alias, &self.text[at..]) else {
            let end = window_end(self.text, at);
            return Err(self.syntax_error(Rule::alias, crate::rules::Span::new(at, end)));
        };
        let node = Node::new(pairs.next().expect("an entry rule makes a pair"), at);
        let mut children = node.children().filter(|n| n.rule() != Rule::block);
        let value = children.next().expect("a value");
        let end = value.span().end;
        self.check_whole(at, end)?;
        let value = match self.text.as_bytes()[at] {
            b'!' => Aliased::Type(self.type_node(value)?),
            _ => Aliased::Attr(self.attr_node(value, None)?),
        };
        Ok((value, end))
    }

    /// Checks that no parameters follow: what they belong to was then read as a bare name because they are wrong.
    fn check_whole(&mut self, at: usize, end: usize) -> Result<(), Reported> {
        let next = skip_blank(self.text, end);
        if !matches!(self.text.as_bytes().get(next), Some(b'<' | b'[')) || self.text[end..next].contains('\n') {
            return Ok(());
        }
        let text = self.text;
        Err(match crate::explain::explain(Rule::alias, &text[at..window_end(text, at)]) {
            Some(fault) if fault.missing => self.missing(at + fault.at, fault.message),
            Some(fault) => self.error(at + fault.at, fault.message),
            None => self.error(next, "unexpected text"),
        })
    }

    fn unknown_alias(&mut self, name: &str, at: usize) -> Reported {
        let names = self.aliases.entries.keys().filter(|n| n.as_bytes()[0] == name.as_bytes()[0]);
        let meant = did_you_mean(name, names.copied()).map(str::to_string);
        let message = format!("undefined symbol alias id '{}'", &name[1..]);
        // After the name, as upstream does.
        let error = Diagnostic::error(self.loc(at + name.len()), message).code(codes::UNDEFINED_ALIAS);
        self.report(match meant {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error,
        })
    }

    pub(super) fn attr_alias(&mut self, name: &'t str, at: usize) -> Result<Attr, Reported> {
        match self.alias(name, at)? {
            Aliased::Attr(attr) => Ok(attr),
            Aliased::Type(ty) => Ok(self.cx.type_attr(ty)),
        }
    }

    pub(super) fn type_alias(&mut self, name: &'t str, at: usize) -> Result<Type, Reported> {
        match self.alias(name, at)? {
            Aliased::Type(ty) => Ok(ty),
            Aliased::Attr(_) => Err(self.error(at, "expected a type")),
        }
    }

    /// `#loc` inside a location.
    pub(super) fn loc_alias(&mut self, node: &Node<'t>) -> Result<Loc, Reported> {
        let attr = self.attr_alias(node.text(), node.start())?;
        match self.cx.attr_data(attr) {
            AttrData::Location(loc) => Ok(loc),
            _ => {
                let text = sutura_ir::asm::print::attr_text(self.cx, attr);
                let message = format!("expected location, but found '{text}'");
                Err(self.error(node.start(), message))
            }
        }
    }
}

/// End of the text behind `at` that an error is looked for in.
fn window_end(text: &str, at: usize) -> usize {
    let end = text.len().min(at + (1 << 16));
    (at..=end).rev().find(|e| text.is_char_boundary(*e)).unwrap_or(at)
}

/// First byte of a line that is no blank.
fn skip_to_text(bytes: &[u8], start: usize) -> usize {
    start + bytes[start..].iter().take_while(|b| **b == b' ').count()
}
