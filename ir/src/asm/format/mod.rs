//! Assembly-format strings, compiled into the program that parser and printer interpret.
//!
//! The language is the one of MLIR's declarative assembly formats:
//!
//! | element | meaning |
//! |---|---|
//! | `` `word` ``, `` `->` `` | a keyword or punctuation |
//! | ``` `` ```, `` ` ` ``, `` `\n` `` | spacing for the printer: none, a blank, a new line |
//! | `$name` | an operand group, attribute, region group or successor group |
//! | `operands`, `regions`, `successors` | all of them |
//! | `type($name)`, `type(operands)`, `type(results)` | types, comma-separated |
//! | `functional-type(inputs, results)` | `(types) -> types` |
//! | `attr-dict`, `attr-dict-with-keyword`, `prop-dict` | attributes that the format does not name |
//! | `custom<Name>($a, type($b), ref($c), attr-dict, …)` | a directive of the dialect, see [`DirectiveDef`] |
//! | `(a $b^ …)?`, `(…) : (…)?` | a group that is present when the anchor is, and what stands there otherwise |
//!
//! A list `$regions` just behind `custom<Name>(…, $regions)` has that directive before each region; when it reads nothing,
//! the list has ended.
//!
//! A compiled format is flat: a group's elements follow it, so that a position in a format is one index, and a parser
//! or printer can leave it for a region and come back.

mod check;
mod compile;
mod lex;

use indexmap::IndexMap;

use crate::asm::parse::{DirectiveArg, DirectiveDef};
use crate::op_def::{Arity, OpDef};

/// What a type directive names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeTarget {
    /// `type($operand)`
    Operand(usize),
    /// `type($result)`
    Result(usize),
    /// `type(operands)`
    Operands,
    /// `type(results)`
    Results,
}

/// `custom<Name>(…)`
#[derive(Clone)]
pub struct Custom {
    /// Name of the directive.
    pub name: String,
    /// The declared parts that it reads and writes.
    pub args: Vec<DirectiveArg>,
    /// The directive, once [`Format::bind`] has found it.
    pub def: Option<DirectiveDef>,
}

impl std::fmt::Debug for Custom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "custom<{}>({:?})", self.name, self.args)
    }
}

/// `(then…) : (otherwise…)?`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Optional {
    /// Number of elements of the group; they follow it in the program. A group with an alternative ends in
    /// [`Element::Skip`].
    pub then: usize,
    /// Number of elements of the alternative; they follow those of the group.
    pub otherwise: usize,
    /// Index, counted from the group's first element, of the element marked `^`.
    pub anchor: usize,
}

/// One element of a format.
#[derive(Clone, Debug)]
pub enum Element {
    /// A keyword or punctuation in back quotes.
    Literal(String),
    /// An empty or blank literal: `` ` ` ``, ``` `` ```, or a newline; spacing for the printer.
    Space(&'static str),
    /// `$operand`
    Operand(usize),
    /// `$attribute`
    Attr(usize),
    /// `$region`
    Region(usize),
    /// `$successor`
    Successor(usize),
    /// `operands`
    Operands,
    /// `regions`
    Regions,
    /// `successors`
    Successors,
    /// `type(…)`
    TypeOf(TypeTarget),
    /// `functional-type(inputs, results)`
    FunctionalType(TypeTarget, TypeTarget),
    /// `attr-dict`, or `attr-dict-with-keyword` when true
    AttrDict(bool),
    /// `prop-dict`
    PropDict,
    /// `custom<Name>(…)`
    Custom(Custom),
    /// A group.
    Optional(Optional),
    /// Jumps over the alternative of the group that ends here.
    Skip(usize),
    /// `oilist(…)`: groups of which each begins with a literal of its own; they are read in any order and written in
    /// this one. Holds the number of elements of all groups, which follow it in the program.
    AnyOrder(usize),
    /// Ends a group of the `oilist` that stands so many elements before it.
    Again(usize),
}

/// An element with the spacing that MLIR's printers put before it.
#[derive(Clone, Debug)]
pub struct Item {
    /// The element.
    pub element: Element,
    /// True when a blank stands before it. Attribute dictionaries write their own.
    pub blank: bool,
    /// True for a unit attribute that is not written, because its optional group stands for it.
    pub implied: bool,
}

/// A compiled assembly format.
#[derive(Clone, Debug)]
pub struct Format {
    /// The program.
    pub items: Vec<Item>,
    /// For each declared attribute, whether an element names it, so that the attribute dictionary leaves it out.
    pub written_attrs: Vec<bool>,
}

impl Format {
    /// Compiles a format string against the declaration whose parts it names.
    ///
    /// Custom directives are found later, by [`Format::bind`].
    ///
    /// # Errors
    /// Says what is wrong and where in the string.
    pub fn compile(def: &OpDef, text: &str) -> Result<Self, String> {
        let parsed = compile::parse(def, text)?;
        let mut format = check::finish(def, parsed)?;
        format.set_blanks();
        Ok(format)
    }

    /// Finds the custom directives among those of the op's dialect.
    ///
    /// # Errors
    /// Names a directive that is not there.
    pub fn bind(&mut self, directives: &IndexMap<&'static str, DirectiveDef>) -> Result<(), String> {
        for item in &mut self.items {
            if let Element::Custom(custom) = &mut item.element {
                let def = directives.get(custom.name.as_str());
                custom.def = Some(*def.ok_or_else(|| format!("no directive `{}` is registered", custom.name))?);
            }
        }
        Ok(())
    }

    /// True when a directive writes the arguments of the entry block of region `index`.
    pub fn writes_region_args(&self, index: usize) -> bool {
        self.items.iter().any(|item| match &item.element {
            Element::Custom(custom) => custom.args.contains(&DirectiveArg::Region(index)),
            _ => false,
        })
    }

    /// The directive that is written before each region of the list at item `at`: it names the list and stands just
    /// before it. When it reads nothing the list has ended.
    pub fn head_of_regions(&self, def: &OpDef, at: usize) -> Option<usize> {
        let Element::Region(i) = self.items.get(at)?.element else { return None };
        let head = at.checked_sub(1).filter(|_| def.regions[i].arity == Arity::Variadic)?;
        match &self.items[head].element {
            Element::Custom(custom) => custom.args.contains(&DirectiveArg::Region(i)).then_some(head),
            _ => None,
        }
    }

    /// True when an element writes the types of result group `index`.
    pub fn writes_result_types(&self, index: usize) -> bool {
        let is_it = |target: &TypeTarget| matches!(target, TypeTarget::Results) || *target == TypeTarget::Result(index);
        self.items.iter().any(|item| match &item.element {
            Element::TypeOf(target) | Element::FunctionalType(_, target) => is_it(target),
            Element::Custom(custom) => custom.args.contains(&DirectiveArg::ResultType(index)),
            _ => false,
        })
    }

    /// Decides before which elements a blank stands, by MLIR's rules. They look at the elements in the order of the
    /// format, whether a group is present or not, so they can be applied once.
    fn set_blanks(&mut self) {
        let (mut wanted, mut after_punctuation) = (true, false);
        for item in &mut self.items {
            match &item.element {
                Element::Literal(text) => {
                    item.blank = wanted && blank_before(text, after_punctuation);
                    wanted = !matches!(text.as_str(), "<" | "(" | "{" | "[");
                    after_punctuation = !text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
                }
                Element::Space(text) => {
                    after_punctuation = text.is_empty();
                    wanted = false;
                }
                Element::AttrDict(_) | Element::PropDict => after_punctuation = false,
                Element::Optional(_) | Element::Skip(_) | Element::AnyOrder(_) | Element::Again(_) => {}
                _ => {
                    item.blank = wanted || !after_punctuation;
                    after_punctuation = false;
                    wanted = true;
                }
            }
        }
    }
}

fn blank_before(literal: &str, after_punctuation: bool) -> bool {
    match literal {
        ">" | ")" | "}" | "]" | "," => false,
        "<" | "(" | "{" | "[" => after_punctuation,
        _ => true,
    }
}

#[cfg(test)]
mod tests;
