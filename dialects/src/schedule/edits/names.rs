//! What primitives name: loops and nodes of a tree, and what becomes of them.

use sutura_ir::Context;

use crate::r#dyn::Poly;
use crate::schedule::{Dim, Split, StageName, stage_text};

/// Something that a kernel does: `prod:3` a place, `join sum:1` a join, `prod:3.0` an operand that is brought or packed.
///
/// The stage also tells the kernel; where several kernels have it, `prod:3 kernel 1` tells which.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    /// What is done for the stage.
    pub what: What,
    /// The stage; its number counts.
    pub stage: StageName,
    /// The number of the kernel in its version, where the stage alone does not tell it.
    pub kernel: Option<usize>,
}

/// What a kernel does for a stage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum What {
    /// It computes the stage.
    Place,
    /// It joins the parts of the stage.
    Join,
    /// It brings or packs this input of the stage.
    Input(usize),
}

/// A loop by what lies in it: `d1 of prod:3` is the outermost loop over d1 around the place of stage 3, `d1.1 of prod:3` the next one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LoopName {
    /// The dim, and which of the loops over it.
    pub own: DimLoop,
    /// What lies in the loop.
    pub spot: Spot,
}

/// Several loops around one place, in an order: `d1 d0.1 of prod:3`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LoopNames {
    /// The loops.
    pub own: Vec<DimLoop>,
    /// What lies in them.
    pub spot: Spot,
}

/// A dim, and which of the loops over it, the outermost one first: `d1.1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DimLoop {
    /// The dim.
    pub dim: Dim,
    /// How many loops over it lie around the loop.
    pub number: usize,
}

/// Input of a stage: `prod:3.1`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Input {
    /// The stage.
    pub stage: StageName,
    /// The number of the input.
    pub input: usize,
    /// The number of the kernel in its version, where the stage alone does not tell it.
    pub kernel: Option<usize>,
}

/// How many.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Count(pub i64);

/// What becomes one: two dims, or two loops over one dim.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fused {
    /// The outer dim and the inner one.
    Dims(Dim, Dim),
    /// The outer loop and the one directly inside.
    Loops([DimLoop; 2], Spot),
}

/// In what parts a stage is combined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Parts {
    /// Groups have parts of a dim, which another kernel joins.
    Along(Dim, Split),
    /// Each column of a tile has a part until the loop ends.
    Columnwise,
}

/// How a tile lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// What lies beyond the end of a tensor is read as zero.
    Padded,
    /// A tile ends where a tensor does.
    Unpadded,
    /// So many elements from a row to the next one.
    Pitch(i64),
}

/// The name of a space.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SpaceName(pub String);

/// Sizes that must be at least 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Guard(pub Vec<Poly>);

/// Sizes that are not negative where something holds; none for what holds always.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct When(pub Vec<Poly>);

/// True for one that stays where it is besides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Again(pub bool);

/// True for what is copied asynchronously.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Asynchronous(pub bool);

impl Spot {
    /// `stage 'prod:3'`, as messages name it.
    pub(super) fn title(&self, cx: &Context) -> String {
        let stage = stage_text(cx, &self.stage);
        match self.what {
            What::Place => format!("stage '{stage}'"),
            What::Join => format!("the join of stage '{stage}'"),
            What::Input(input) => format!("operand '{stage}.{input}'"),
        }
    }
}

impl Input {
    /// Where it is brought or packed.
    pub(super) fn spot(&self) -> Spot {
        Spot { what: What::Input(self.input), stage: self.stage.clone(), kernel: self.kernel }
    }
}
