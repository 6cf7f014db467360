//! Where the parts of a program stand in a text, and the comments between them.
//!
//! The parser makes a layout of what it reads, if asked to; the printer makes one of what it writes. A part has the same
//! name in both, so that what stood beside it in the one text finds its place in the other.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Aliased;
use crate::attrs::Attr;
use crate::body::{Block, Op};
use crate::context::Ident;
use crate::location::Loc;

/// A part of a program that begins a line where it is printed. Bodies are told by
/// [`Body::family`](crate::Body::family): a copy keeps its places.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// An operation, up to its first region or its end.
    Op {
        /// The body that holds it.
        body: u32,
        /// The operation.
        op: Op,
    },
    /// The label of a block.
    Label {
        /// The body that holds it.
        body: u32,
        /// The block.
        block: Block,
    },
    /// The brace at the end of a region, and what follows it up to the next region or the end of the operation.
    Close {
        /// The body that holds the operation.
        body: u32,
        /// The operation.
        op: Op,
        /// Which of its regions, in the order of the text.
        region: u32,
    },
    /// The definition of an alias.
    Alias(Aliased, Ident),
    /// The resource section.
    Resources,
    /// What the parser has not read to its end.
    Unknown,
}

/// A part, and where it begins in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Offset of its first byte.
    pub at: u32,
    /// What begins there.
    pub part: Part,
    /// Location of an operation; of anything else unknown.
    pub loc: Loc,
}

/// What a text that was read says besides the program.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Layout {
    /// All parts, in the order of the text.
    pub places: Vec<Place>,
    /// Comments, from `//` to the end of the line, in order.
    pub comments: Vec<Range<u32>>,
    /// The operations of the text stand in no module.
    pub implicit_module: bool,
    /// Names of blocks without `^`, by body, where all names are kept.
    pub block_names: FxHashMap<(u32, Block), Ident>,
    /// Constants that were written as a hexadecimal string.
    pub hex: FxHashSet<Attr>,
}
