//! What the parser offers to custom directives, dialect types and dialect attributes.
//!
//! The parser itself lives above this crate; these traits are all that a dialect sees of it. No dialect sees raw text.

use crate::attrs::{Attr, NamedAttr};
use crate::context::{Context, Ident};
use crate::diagnostics::{Diagnostic, Reported};
use crate::location::Loc;
use crate::op_def::OpDef;
use crate::op_ref::OpRef;
use crate::types::Type;

/// Reading a stream of tokens. `opt_` methods consume nothing and report nothing when the token is another one.
pub trait TokenParser {
    /// Context.
    fn cx(&self) -> &Context;
    /// Location of the next token.
    fn loc(&self) -> Loc;
    /// Reports an error at `loc`.
    fn error_at(&mut self, loc: Loc, message: &str) -> Reported;
    /// Reports an error with a code or with help.
    fn report(&mut self, error: Diagnostic) -> Reported;

    /// The word `keyword`, if it is next.
    fn opt_keyword(&mut self, keyword: &str) -> bool;
    /// Any bare word, if one is next.
    fn opt_any_keyword(&mut self) -> Option<String>;
    /// The punctuation `text` (`(`, `->`, `:`, `=`, …), if it is next.
    fn opt_punct(&mut self, text: &str) -> bool;
    /// An integer, with optional sign, if one is next.
    ///
    /// # Errors
    /// When it does not fit 64 bits.
    fn opt_int(&mut self) -> Result<Option<i64>, Reported>;
    /// A string literal without quotes and escapes, if one is next.
    ///
    /// # Errors
    /// When an escape is malformed or the bytes are not UTF-8.
    fn opt_string(&mut self) -> Result<Option<String>, Reported>;
    /// `@name`, if it is next.
    ///
    /// # Errors
    /// When a quoted name is malformed.
    fn opt_symbol(&mut self) -> Result<Option<Ident>, Reported>;
    /// A type, if one is next.
    ///
    /// # Errors
    /// When it is malformed.
    fn opt_type(&mut self) -> Result<Option<Type>, Reported>;
    /// An attribute, if one is next. `ty` is the type of a number written without one.
    ///
    /// # Errors
    /// When it is malformed.
    fn opt_attr(&mut self, ty: Option<Type>) -> Result<Option<Attr>, Reported>;

    /// Reports an error at the next token.
    fn error(&mut self, message: &str) -> Reported {
        let loc = self.loc();
        self.error_at(loc, message)
    }
    /// The word `keyword`.
    ///
    /// # Errors
    /// When it is not next.
    fn keyword(&mut self, keyword: &str) -> Result<(), Reported> {
        if self.opt_keyword(keyword) { Ok(()) } else { Err(self.error(&format!("expected '{keyword}'"))) }
    }
    /// Any bare word.
    ///
    /// # Errors
    /// When none is next.
    fn any_keyword(&mut self) -> Result<String, Reported> {
        match self.opt_any_keyword() {
            Some(word) => Ok(word),
            None => Err(self.error("expected valid keyword")),
        }
    }
    /// A word of an enumeration: bare or in quotes.
    ///
    /// # Errors
    /// When neither is next, or the string is malformed.
    fn enum_word(&mut self) -> Result<String, Reported> {
        match self.opt_string()? {
            Some(word) => Ok(word),
            None => self.any_keyword(),
        }
    }
    /// The punctuation `text`.
    ///
    /// # Errors
    /// When it is not next.
    fn punct(&mut self, text: &str) -> Result<(), Reported> {
        if self.opt_punct(text) { Ok(()) } else { Err(self.error(&format!("expected '{text}'"))) }
    }
    /// An integer.
    ///
    /// # Errors
    /// When none is next, or it does not fit 64 bits.
    fn int(&mut self) -> Result<i64, Reported> {
        match self.opt_int()? {
            Some(value) => Ok(value),
            None => Err(self.error("expected integer value")),
        }
    }
    /// A string literal.
    ///
    /// # Errors
    /// When none is next, or it is malformed.
    fn string(&mut self) -> Result<String, Reported> {
        match self.opt_string()? {
            Some(text) => Ok(text),
            None => Err(self.error("expected string")),
        }
    }
    /// `@name`.
    ///
    /// # Errors
    /// When it is not next.
    fn symbol(&mut self) -> Result<Ident, Reported> {
        match self.opt_symbol()? {
            Some(name) => Ok(name),
            None => Err(self.error("expected valid '@'-identifier for symbol name")),
        }
    }
    /// A type.
    ///
    /// # Errors
    /// When none is next, or it is malformed.
    fn ty(&mut self) -> Result<Type, Reported> {
        match self.opt_type()? {
            Some(ty) => Ok(ty),
            None => Err(self.error("expected non-function type")),
        }
    }
    /// An attribute.
    ///
    /// # Errors
    /// When none is next, or it is malformed.
    fn attr(&mut self, ty: Option<Type>) -> Result<Attr, Reported> {
        match self.opt_attr(ty)? {
            Some(attr) => Ok(attr),
            None => Err(self.error("expected attribute value")),
        }
    }
}

/// Reads the parameters of a dialect's type or attribute: what stands between `<` and `>`, both included.
pub trait ParamParser: TokenParser {
    /// Location of the type or attribute as a whole.
    fn start(&self) -> Loc;

    /// Reports an error about what upstream's dialect has and this subset of it does not: a kind of attribute, a decoration.
    /// Under `--allow-unregistered-dialect` the text of the whole type or attribute is kept instead, if the dialect is
    /// partial. For malformed text there is [`TokenParser::error_at`].
    fn beyond_subset(&mut self, loc: Loc, message: &str) -> Reported;

    /// Items between `open` and `close`, separated by commas; none is fine.
    ///
    /// # Errors
    /// When an item or a separator is malformed.
    fn list(
        &mut self,
        open: &str,
        close: &str,
        item: &mut dyn FnMut(&mut dyn ParamParser) -> Result<(), Reported>,
    ) -> Result<(), Reported>;
}

/// `%name` or `%name#number`, not yet tied to a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnresolvedOperand {
    /// Name without `%`.
    pub name: Ident,
    /// Number of the result, 0 unless written.
    pub number: u32,
    /// Where.
    pub loc: Loc,
}

/// A definition of a block argument in a custom form: `%name : type loc(…)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegionArg {
    /// Name without `%`; `None` for an argument that the format names not.
    pub name: Option<Ident>,
    /// Type.
    pub ty: Type,
    /// Where.
    pub loc: Loc,
}

/// Reads the custom form of an op.
pub trait AsmParser: TokenParser {
    /// `%value`, if it is next.
    fn opt_operand(&mut self) -> Option<UnresolvedOperand>;
    /// `^block`, if it is next: its name without `^`.
    fn opt_successor(&mut self) -> Option<Ident>;
    /// `{…}` as attribute dictionary, if it is next.
    ///
    /// # Errors
    /// When it is malformed.
    fn opt_attr_dict(&mut self) -> Result<Option<Vec<NamedAttr>>, Reported>;
    /// `loc(…)`, if it is next.
    ///
    /// # Errors
    /// When it is malformed.
    fn opt_loc(&mut self) -> Result<Option<Loc>, Reported>;

    /// `%value`.
    ///
    /// # Errors
    /// When it is not next.
    fn operand(&mut self) -> Result<UnresolvedOperand, Reported> {
        match self.opt_operand() {
            Some(operand) => Ok(operand),
            None => Err(self.error("expected SSA operand")),
        }
    }
}

/// The parts of an op in custom form as they are found; indices are those of the op's declaration.
#[derive(Clone, Debug)]
pub struct OpParts {
    /// The op's declaration.
    pub def: &'static OpDef,
    /// Operands, by group.
    pub operands: Vec<Vec<UnresolvedOperand>>,
    /// Types of the operands, by group, where written.
    pub operand_types: Vec<Option<Vec<Type>>>,
    /// Types of the results, by group, where written.
    pub result_types: Vec<Option<Vec<Type>>>,
    /// Inherent attributes.
    pub props: Vec<NamedAttr>,
    /// Discardable attributes.
    pub attrs: Vec<NamedAttr>,
    /// Arguments of each region's entry block, where the format defines them before the region.
    pub region_args: Vec<Option<Vec<RegionArg>>>,
    /// Successors, by group, as block names without `^`.
    pub successors: Vec<Vec<(Ident, Loc)>>,
}

impl OpParts {
    /// Nothing found yet; every list by group has an entry for each declared group.
    pub fn new(def: &'static OpDef) -> Self {
        Self {
            def,
            operands: vec![Vec::new(); def.operands.len()],
            operand_types: vec![None; def.operands.len()],
            result_types: vec![None; def.results.len()],
            props: Vec::new(),
            attrs: Vec::new(),
            region_args: vec![None; def.regions.len()],
            successors: vec![Vec::new(); def.successors.len()],
        }
    }

    /// Sets the inherent attribute declared at `index`.
    pub fn set_prop_at(&mut self, cx: &Context, index: usize, value: Attr) {
        self.set_prop(cx, self.def.attrs[index].name, value);
    }

    /// Adds the entries of an attribute dictionary, inherent and discardable ones.
    pub fn add_entries(&mut self, cx: &Context, entries: impl IntoIterator<Item = NamedAttr>) {
        for entry in entries {
            let name = cx.str(entry.name);
            let inherent = self.def.attr(name).is_some() || self.def.is_segment_sizes(name);
            if inherent { &mut self.props } else { &mut self.attrs }.push(entry);
        }
    }

    /// The inherent or discardable attribute read so far under `name`.
    pub fn entry(&self, cx: &Context, name: &str) -> Option<Attr> {
        self.props.iter().chain(&self.attrs).find(|e| cx.str(e.name) == name).map(|e| e.value)
    }

    /// Sets an inherent attribute.
    pub fn set_prop(&mut self, cx: &Context, name: &str, value: Attr) {
        self.props.push(NamedAttr { name: cx.ident(name), value });
    }
}

/// An argument of a custom directive: which declared part it names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirectiveArg {
    /// `$operand`
    Operand(usize),
    /// `$attribute`
    Attr(usize),
    /// `$result` is only meaningful inside `type(…)`.
    ResultType(usize),
    /// `type($operand)`
    OperandType(usize),
    /// `$region`: the directive defines the arguments of its entry block, or, where `$region` is a list that follows,
    /// stands before each of its regions. Printers get the number of the region among those of the op.
    Region(usize),
    /// `$successor`
    Successor(usize),
    /// `attr-dict`: the directive reads and writes the attribute dictionary.
    AttrDict,
}

/// A custom directive: how it is parsed and printed.
#[derive(Clone, Copy)]
pub struct DirectiveDef {
    /// Reads the directive's text into `parts`.
    pub parse: fn(&mut dyn AsmParser, &mut OpParts, &[DirectiveArg]) -> Result<(), Reported>,
    /// Writes it. A blank stands before it as before any element, unless it writes nothing.
    pub print: fn(&mut super::print::Printer<'_>, OpRef<'_>, &[DirectiveArg]),
}
