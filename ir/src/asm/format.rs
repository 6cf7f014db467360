//! Assembly-format strings, compiled into the elements that parser and printer interpret.

use crate::asm::parse::DirectiveArg;
use crate::op_def::OpDef;

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

/// One element of a format.
#[derive(Clone, PartialEq, Debug)]
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
    Custom(String, Vec<DirectiveArg>),
    /// `(then…)? : (else…)`: present when the anchor is.
    Optional {
        /// Elements of the group.
        then: Vec<Element>,
        /// Elements that stand in its place otherwise.
        otherwise: Vec<Element>,
        /// Index in `then` of the element marked `^`.
        anchor: usize,
    },
}

/// A compiled assembly format.
#[derive(Clone, PartialEq, Debug)]
pub struct Format {
    /// Elements, in order.
    pub elements: Vec<Element>,
}

impl Format {
    /// Compiles a format string against the declaration whose parts it names.
    ///
    /// # Errors
    /// Says what is wrong and where in the string.
    pub fn compile(_def: &OpDef, _text: &str) -> Result<Self, String> {
        Err("assembly formats are compiled by the text layer".to_string())
    }
}
