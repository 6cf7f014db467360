//! From the string to a tree of elements.

use super::lex::{Kind, Token, error, tokens};
use super::{Custom, Element, TypeTarget};
use crate::asm::parse::DirectiveArg;
use crate::op_def::{Arity, OpDef};

/// An element as parsed: groups still hold their elements.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Element(Element),
    Group {
        then: Vec<Node>,
        otherwise: Vec<Node>,
        anchor: usize,
    },
    /// Clauses of an `oilist`, each with its anchor.
    AnyOrder(Vec<(Vec<Node>, usize)>),
}

/// Punctuation that may stand in back quotes.
const PUNCTUATION: &[&str] =
    &["->", "::", "...", ":", ",", "=", "<", ">", "(", ")", "{", "}", "[", "]", "?", "+", "*", "|", "/", "-"];

const DIRECTIVES: &[&str] = &[
    "attr-dict",
    "attr-dict-with-keyword",
    "prop-dict",
    "operands",
    "regions",
    "successors",
    "type",
    "functional-type",
    "custom",
    "qualified",
    "oilist",
];

struct Parser<'t> {
    def: &'t OpDef,
    text: &'t str,
    tokens: Vec<Token<'t>>,
    next: usize,
}

/// What `$name` names.
enum Named {
    Operand(usize),
    Result(usize),
    Attr(usize),
    Region(usize),
    Successor(usize),
}

pub(super) fn parse(def: &OpDef, text: &str) -> Result<Vec<Node>, String> {
    let mut parser = Parser { def, text, tokens: tokens(text)?, next: 0 };
    let (nodes, _) = parser.elements(0)?;
    match parser.peek() {
        Kind::End => Ok(nodes),
        _ => Err(parser.error("unbalanced parenthesis")),
    }
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Kind<'t> {
        self.tokens[self.next].kind
    }

    fn take(&mut self) -> Kind<'t> {
        let kind = self.peek();
        if kind != Kind::End {
            self.next += 1;
        }
        kind
    }

    fn take_if(&mut self, c: char) -> bool {
        let found = self.peek() == Kind::Punct(c);
        self.next += usize::from(found);
        found
    }

    fn error(&self, message: &str) -> String {
        error(self.text, self.tokens[self.next].at, message)
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.take_if(c) { Ok(()) } else { Err(self.error(&format!("expected `{c}`"))) }
    }

    /// Elements up to `)` or the end, and the index of the one marked `^`.
    fn elements(&mut self, depth: usize) -> Result<(Vec<Node>, Option<usize>), String> {
        let (mut nodes, mut anchor) = (Vec::new(), None);
        while !matches!(self.peek(), Kind::End | Kind::Punct(')' | '|')) {
            let node = self.element(depth)?;
            nodes.push(node);
            if self.peek() == Kind::Punct('^') {
                if depth == 0 {
                    return Err(self.error("an anchor `^` stands only in an optional group"));
                }
                if anchor.is_some() {
                    return Err(self.error("an optional group has one anchor"));
                }
                self.next += 1;
                anchor = Some(nodes.len() - 1);
            }
        }
        Ok((nodes, anchor))
    }

    fn element(&mut self, depth: usize) -> Result<Node, String> {
        let element = match self.peek() {
            Kind::Literal(text) => self.literal(text)?,
            Kind::Variable(name) => self.variable(name)?,
            Kind::Word("oilist") => return self.oilist(depth),
            Kind::Word(word) => self.directive(word)?,
            Kind::Punct('(') => return self.group(depth),
            Kind::Punct(c) => return Err(self.error(&format!("unexpected `{c}`"))),
            Kind::End => return Err(self.error("unexpected end")),
        };
        Ok(Node::Element(element))
    }

    fn group(&mut self, depth: usize) -> Result<Node, String> {
        const MAX_DEPTH: usize = 16;
        if depth == MAX_DEPTH {
            return Err(self.error("optional groups are nested too deeply"));
        }
        self.next += 1;
        let (then, anchor) = self.elements(depth + 1)?;
        self.expect(')')?;
        let (mut otherwise, mut otherwise_anchor) = (Vec::new(), None);
        if self.take_if(':') {
            self.expect('(')?;
            (otherwise, otherwise_anchor) = self.elements(depth + 1)?;
            self.expect(')')?;
        }
        self.expect('?')?;
        if otherwise_anchor.is_some() {
            return Err(self.error("the alternative of a group has no anchor"));
        }
        let anchor = anchor.ok_or_else(|| self.error("expected an anchor `^` in the optional group"))?;
        Ok(Node::Group { then, otherwise, anchor })
    }

    /// ``oilist(`a` … | `b` …)``: a clause is there if the first thing in it that can be absent is.
    fn oilist(&mut self, depth: usize) -> Result<Node, String> {
        if depth != 0 {
            return Err(self.error("`oilist` stands in no group"));
        }
        self.next += 1;
        self.expect('(')?;
        let mut clauses = Vec::new();
        loop {
            let begin = self.next;
            let (nodes, anchor) = self.elements(depth + 1)?;
            let is_literal = |node: &Node| matches!(node, Node::Element(Element::Literal(_)));
            if anchor.is_some() || !nodes.first().is_some_and(is_literal) {
                self.next = begin;
                return Err(self.error("a clause of `oilist` begins with a literal and has no anchor"));
            }
            let is_written = |node: &Node| !matches!(node, Node::Element(Element::Literal(_) | Element::Space(_)));
            let Some(anchor) = nodes.iter().position(is_written) else {
                self.next = begin;
                return Err(self.error("a clause of `oilist` needs something that can be absent"));
            };
            clauses.push((nodes, anchor));
            if !self.take_if('|') {
                break;
            }
        }
        self.expect(')')?;
        Ok(Node::AnyOrder(clauses))
    }

    fn literal(&mut self, text: &str) -> Result<Element, String> {
        let is_word = text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-'));
        let element = match text {
            "" => Element::Space(""),
            " " => Element::Space(" "),
            "\\n" => Element::Space("\n"),
            _ if is_word || PUNCTUATION.contains(&text) => Element::Literal(text.to_string()),
            _ => return Err(self.error(&format!("`{text}` is neither a keyword nor punctuation"))),
        };
        self.next += 1;
        Ok(element)
    }

    fn resolve(&self, name: &str) -> Result<Named, String> {
        let def = self.def;
        let found = None
            .or_else(|| def.operands.iter().position(|d| d.name == name).map(Named::Operand))
            .or_else(|| def.attrs.iter().position(|d| d.name == name).map(Named::Attr))
            .or_else(|| def.regions.iter().position(|d| d.name == name).map(Named::Region))
            .or_else(|| def.successors.iter().position(|d| d.name == name).map(Named::Successor))
            .or_else(|| def.results.iter().position(|d| d.name == name).map(Named::Result));
        found.ok_or_else(|| {
            let names = (def.operands.iter().map(|d| d.name))
                .chain(def.attrs.iter().map(|d| d.name))
                .chain(def.regions.iter().map(|d| d.name))
                .chain(def.successors.iter().map(|d| d.name))
                .chain(def.results.iter().map(|d| d.name));
            let hint = crate::diagnostics::did_you_mean(name, names);
            let hint = hint.map(|h| format!(" (did you mean `${h}`?)")).unwrap_or_default();
            self.error(&format!("the op declares no `${name}`{hint}"))
        })
    }

    fn variable(&mut self, name: &str) -> Result<Element, String> {
        let element = match self.resolve(name)? {
            Named::Operand(i) => Element::Operand(i),
            Named::Attr(i) => Element::Attr(i),
            Named::Region(i) => Element::Region(i),
            Named::Successor(i) => Element::Successor(i),
            Named::Result(_) => {
                return Err(self.error(&format!("result `${name}` may only stand in `type($…)`")));
            }
        };
        self.next += 1;
        Ok(element)
    }

    fn directive(&mut self, word: &str) -> Result<Element, String> {
        if !DIRECTIVES.contains(&word) {
            let hint = crate::diagnostics::did_you_mean(word, DIRECTIVES.iter().copied());
            let hint = hint.map(|h| format!(" (did you mean `{h}`?)")).unwrap_or_default();
            return Err(self.error(&format!("unknown directive `{word}`{hint}")));
        }
        self.next += 1;
        Ok(match word {
            "attr-dict" => Element::AttrDict(false),
            "attr-dict-with-keyword" => Element::AttrDict(true),
            "prop-dict" => Element::PropDict,
            "operands" => Element::Operands,
            "regions" => Element::Regions,
            "successors" => Element::Successors,
            "type" => {
                self.expect('(')?;
                let target = self.type_target()?;
                self.expect(')')?;
                Element::TypeOf(target)
            }
            "functional-type" => {
                self.expect('(')?;
                let inputs = self.type_target()?;
                self.expect(',')?;
                let results = self.type_target()?;
                self.expect(')')?;
                Element::FunctionalType(inputs, results)
            }
            "custom" => self.custom()?,
            // Types and attributes are always written with their dialect here.
            _ => {
                self.expect('(')?;
                let Node::Element(inner) = self.element(0)? else {
                    return Err(self.error("`qualified` takes one element"));
                };
                self.expect(')')?;
                inner
            }
        })
    }

    fn type_target(&mut self) -> Result<TypeTarget, String> {
        let target = match self.peek() {
            Kind::Word("operands") => TypeTarget::Operands,
            Kind::Word("results") => TypeTarget::Results,
            Kind::Variable(name) => match self.resolve(name)? {
                Named::Operand(i) => TypeTarget::Operand(i),
                Named::Result(i) => TypeTarget::Result(i),
                _ => return Err(self.error(&format!("`${name}` has no type to write"))),
            },
            _ => return Err(self.error("expected `$name`, `operands` or `results`")),
        };
        self.next += 1;
        Ok(target)
    }

    fn custom(&mut self) -> Result<Element, String> {
        self.expect('<')?;
        let Kind::Word(name) = self.take() else {
            return Err(self.error("expected the directive's name"));
        };
        self.expect('>')?;
        self.expect('(')?;
        let mut args = Vec::new();
        while !self.take_if(')') {
            if !args.is_empty() {
                self.expect(',')?;
            }
            args.push(self.custom_arg()?);
        }
        Ok(Element::Custom(Custom { name: name.to_string(), args, def: None }))
    }

    fn custom_arg(&mut self) -> Result<DirectiveArg, String> {
        match self.peek() {
            Kind::Word("ref") => {
                self.next += 1;
                self.expect('(')?;
                let inner = self.custom_arg()?;
                self.expect(')')?;
                Ok(inner)
            }
            Kind::Word("type") => {
                self.next += 1;
                self.expect('(')?;
                let target = self.type_target()?;
                self.expect(')')?;
                match target {
                    TypeTarget::Operand(i) => Ok(DirectiveArg::OperandType(i)),
                    TypeTarget::Result(i) => Ok(DirectiveArg::ResultType(i)),
                    _ => Err(self.error("a custom directive takes the types of one group at a time")),
                }
            }
            Kind::Variable(name) => {
                let arg = match self.resolve(name)? {
                    Named::Operand(i) => DirectiveArg::Operand(i),
                    Named::Attr(i) => DirectiveArg::Attr(i),
                    Named::Region(i) => DirectiveArg::Region(i),
                    Named::Successor(i) => DirectiveArg::Successor(i),
                    Named::Result(_) => return Err(self.error(&format!("write `type(${name})` for a result"))),
                };
                self.next += 1;
                Ok(arg)
            }
            Kind::Word("attr-dict") => {
                self.next += 1;
                Ok(DirectiveArg::AttrDict)
            }
            _ => Err(self.error("expected `$name`, `type($name)`, `attr-dict` or `ref(…)`")),
        }
    }
}

/// True when the group may be absent.
pub(super) fn may_be_absent(arity: Arity) -> bool {
    arity != Arity::Single
}
