//! Rows of a body's tables.

use smallvec::SmallVec;

use super::{Block, Body, Op, Region, Value};
use crate::attrs::Attr;
use crate::location::Loc;
use crate::registry::OpName;
use crate::types::Type;

/// What an op says of itself, apart from its links to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpHeader {
    /// Name.
    pub name: OpName,
    /// Location.
    pub loc: Loc,
    /// Dictionary of inherent attributes.
    pub props: Attr,
    /// Dictionary of discardable attributes.
    pub attrs: Attr,
}

#[derive(Debug)]
pub(crate) struct OpData {
    pub(crate) header: OpHeader,
    pub(crate) block: Option<Block>,
    pub(crate) prev: Option<Op>,
    pub(crate) next: Option<Op>,
    pub(crate) first_operand: u32,
    pub(crate) n_operands: u32,
    pub(crate) first_result: u32,
    pub(crate) n_results: u32,
    pub(crate) first_region: u32,
    pub(crate) n_regions: u32,
    pub(crate) first_successor: u32,
    pub(crate) n_successors: u32,
    pub(crate) live: bool,
    pub(crate) body: Option<Box<Body>>,
}

impl OpData {
    /// A copy without the nested body.
    pub(super) fn without_body(&self) -> Self {
        Self { body: None, ..*self }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BlockData {
    pub(crate) region: Option<Region>,
    pub(crate) prev: Option<Block>,
    pub(crate) next: Option<Block>,
    pub(crate) first: Option<Op>,
    pub(crate) last: Option<Op>,
    pub(crate) args: SmallVec<[Value; 2]>,
    pub(crate) arg_locs: SmallVec<[Loc; 2]>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RegionData {
    pub(crate) parent: Option<Op>,
    pub(crate) first: Option<Block>,
    pub(crate) last: Option<Block>,
}

/// What defines a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// Result of an op, with its number.
    Result(Op, u32),
    /// Argument of a block, with its number.
    Arg(Block, u32),
    /// Stands for a value that is used before its definition has been parsed.
    Placeholder,
}

/// [`ValueKind`] as stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueDef {
    Result(Op),
    Arg(Block),
    Placeholder,
}

#[derive(Clone, Debug)]
pub(crate) struct ValueData {
    pub(crate) ty: Type,
    pub(crate) def: ValueDef,
    pub(crate) index: u32,
    /// First of the chain of uses, as index into the table of uses plus one; 0 for none.
    pub(crate) first_use: u32,
}

impl ValueData {
    pub(crate) fn kind(&self) -> ValueKind {
        match self.def {
            ValueDef::Result(op) => ValueKind::Result(op, self.index),
            ValueDef::Arg(block) => ValueKind::Arg(block, self.index),
            ValueDef::Placeholder => ValueKind::Placeholder,
        }
    }
}

/// One operand slot; also a link of its value's chain of uses.
#[derive(Clone, Debug)]
pub(crate) struct UseData {
    pub(crate) value: Value,
    pub(crate) owner: Op,
    /// Neighbours in the chain, as index plus one; 0 for none.
    pub(crate) next: u32,
    pub(crate) prev: u32,
}
