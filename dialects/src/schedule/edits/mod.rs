//! Primitives: edits of a tree, one decision each, with the names of Halide (PLDI 2013) and TensorIR (ASPLOS 2023).
//!
//! Each one is declared once, in the table below: its word, what it names, what it does. It checks what a tree tells. What only
//! the region tells is checked where the schedule is followed, so that a wrong edit never computes something else.

mod between;
mod caches;
mod find;
mod forms;
mod loops;
mod names;
mod pieces;
mod places;
mod programs;
#[cfg(test)]
mod tests;
mod tiles;
mod trace;

use sutura_ir::Context;
use sutura_ir::asm::parse::ParamParser;
use sutura_ir::ext::VerifyParams;

use self::find::{Found, View};
pub use self::names::{
    Again, Asynchronous, Count, DimLoop, Fused, Guard, Input, Layout, LoopName, LoopNames, Parts, SpaceName, Spot,
    What, When,
};
use self::pieces::Piece;
pub use self::trace::TraceAttr;
use super::text::Parsed;
use super::{Dim, Prefetch, Runs, Split, StageName, Tile, TreeAttr, Version};

/// What people read of a primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrimitiveInfo {
    /// The word that it begins with.
    pub word: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// One that is well formed.
    pub example: &'static str,
}

/// The tree that is edited, and the version that is meant.
struct Scope<'s> {
    cx: &'s Context,
    tree: &'s mut TreeAttr,
    number: usize,
}

impl Scope<'_> {
    fn view(&self) -> View<'_> {
        View { cx: self.cx, version: &self.tree.versions[self.number] }
    }

    fn version(&mut self) -> &mut Version {
        &mut self.tree.versions[self.number]
    }
}

/// Declares primitives: the name, the word, what follows it, the edit, and an example. The first text is what users read before them.
macro_rules! primitives {
    ($head:literal $(
        $(#[doc = $doc:literal])+
        $name:ident $word:literal ($($($between:literal)? $field:ident: $ty:ty),+) = $edit:path, $example:literal;
    )+) => {
        /// A decision about a tree.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum Primitive {
            $($(#[doc = $doc])+ $name($($ty),+),)+
        }

        impl Primitive {
            /// All that there are.
            pub const ALL: &'static [PrimitiveInfo] =
                &[$(PrimitiveInfo { word: $word, doc: concat!($($doc),+), example: $example }),+];

            /// Reads one.
            fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
                $(if p.opt_keyword($word) {
                    return Ok(Self::$name($({
                        $(p.keyword($between)?;)?
                        <$ty as Piece>::read(p)?
                    }),+));
                })+
                Err(p.error(concat!("expected a primitive: ", $($word, ", ",)+ "or '>'")))
            }

            /// Its text, as a trace has it.
            pub fn text(&self, cx: &Context) -> String {
                let words: Vec<String> = match self {
                    $(Self::$name($($field),+) => {
                        vec![$word.to_owned(), $($($between.to_owned(),)? $field.text(cx)),+]
                    })+
                };
                words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
            }

            /// Edits a version.
            fn edit(&self, scope: &mut Scope<'_>) -> Found<()> {
                match self {
                    $(Self::$name($($field),+) => $edit(scope, $($field),+),)+
                }
            }
        }

        /// What users read of traces.
        const DESCRIPTION: &str = concat!($head, $("\n- `", $example, "`:", $($doc),+),+);
    };
}

primitives! {
    "\
Edits of a schedule, in order.

Each is one decision about the tree that those before it have made: of the schedule that the region has, or else of the one that a
rule writes. An edit that the tree does not allow is refused; what only the region tells is checked when the schedule is followed.

Edits are of the last version, which has no guard; in `version 0 { … }` they are of that one. A loop is named by something in it:
`d1 of p:0` is the outermost loop over d1 around the place of stage 0, `d1.1 of p:0` the next one. What a kernel does is named by its
stage: `p:0` is the place, `join p:0` the join, `p:0.1` the operand that is brought or packed for input 1. Where several kernels do
it, `p:0 kernel 1` tells which. As in trees, the number of a stage counts, and its name is for people.

```mlir
#schedule.trace<
  split d1 of p:0 by 32
  bind d1 of p:0 to grid
  version 0 {
    retile d0 of p:0 by 4
  }
>
```

The primitives:
"
    /// two loops for one. The outer one has 16 indices a trip, or the inner one where the loop has a multiple of 16; with `even 4`
    /// the outer one has 4 parts. Where no loop runs over the dim, what the tile has of it is split.
    Split "split" (name: LoopName, part: Split) = loops::split, "split d1 of p:0 by 16";
    /// another number of indices a trip for a loop, or of even parts.
    Retile "retile" (name: LoopName, part: Split) = loops::retile, "retile d0 of p:0 by 8";
    /// two dims become one that lie side by side in memory: the outer one is gone. `fuse d1 d1.1 of p:0` makes one loop of two.
    Fuse "fuse" (fused: Fused) = forms::fuse, "fuse d0 d1";
    /// two dims become one that are equally long and that no stage runs through both: the second one is gone.
    Join "join" (first: Dim, second: Dim) = forms::join, "join d0 d2";
    /// the order of loops that lie directly in each other, the outermost one first.
    Reorder "reorder" (names: LoopNames) = loops::reorder, "reorder d1 d0 of p:0";
    /// the trips of a loop become groups (`grid`) or units of a group (`units`), or run in `turn`.
    Bind "bind" (name: LoopName, "to" runs: Runs) = loops::bind, "bind d0 of p:0 to grid";
    /// the indices of a loop become the columns of the tiles in it.
    Vectorize "vectorize" (name: LoopName) = tiles::vectorize, "vectorize d1.1 of p:0";
    /// the indices of a loop become the rows of the tiles in it.
    TileRows "tile_rows" (name: LoopName) = tiles::tile_rows, "tile_rows d0.1 of p:0";
    /// a stage is computed in another loop, in front of what reads it there or behind what it reads. With `again` it is computed where
    /// it was, too. Operands and joins move in the same way.
    ComputeAt "compute_at" (spot: Spot, "in" name: LoopName, again: Again) = places::compute_at, "compute_at e:0 in d1 of q:2";
    /// what follows in a loop reads an input near: in a space, on a tile.
    CacheRead "cache_read" (input: Input, tile: Tile, "at" name: LoopName) = places::cache_read,
        "cache_read p:0.0 cols d2 in l1 padded at d0 of p:0";
    /// an input is packed by a kernel of its own, in loops like those that read it.
    Pack "pack" (input: Input, tile: Tile, "over" names: LoopNames) = places::pack,
        "pack p:0.1 cols d1 in vec padded over d1 d2 of p:0";
    /// another space for a tile.
    SetSpace "set_space" (spot: Spot, "to" space: SpaceName) = tiles::set_space, "set_space e:0 to l1";
    /// how a tile lies: `padded`, `unpadded`, or with a `pitch`, the number of elements from a row to the next one.
    SetLayout "set_layout" (spot: Spot, layout: Layout) = tiles::set_layout, "set_layout p:0.1 pitch 36";
    /// a sum adds up what the first stage scales, and the first stage scales the sum, right behind it. They trade numbers.
    Hoist "hoist" (scale: StageName, sum: StageName) = forms::hoist, "hoist p:4 out:5";
    /// a loop uses an extreme before all trips have added to it, and rescales what was summed relative to it.
    Online "online" (stage: StageName, "in" name: LoopName) = places::online, "online most:1 in d1 of exp:2";
    /// groups combine parts of a dim, which a kernel of its own joins (`rfactor`). With `columnwise` each column of a tile has a part
    /// until the loop ends.
    SplitReduction "split_reduction" (spot: Spot, parts: Parts) = programs::split_reduction,
        "split_reduction s:1 along d1 by 16384";
    /// a loop along which something is combined runs around the loop that it lies in, so that what was combined so far is kept in
    /// memory from tile to tile. What lies beside it there gets loops of its own.
    Accumulate "accumulate" (name: LoopName) = loops::accumulate, "accumulate d2 of p:0";
    /// a sum of products becomes a contraction of tiles by the machine's instruction.
    Tensorize "tensorize" (spot: Spot) = tiles::tensorize, "tensorize p:0";
    /// a cached input is read a phase before it is needed, and waits in registers; with `async` it is copied as soon as its memory
    /// is free, while what follows computes.
    Pipeline "pipeline" (input: Input, how: Asynchronous) = tiles::pipeline, "pipeline p:0.1 async";
    /// code of a loop that runs in order has several trips side by side.
    Unroll "unroll" (name: LoopName, "by" trips: Count) = loops::unroll, "unroll d2 of p:0 by 4";
    /// a loop over the places of a window leaves out those that lie outside the tensor, which would add zeros.
    Inside "inside" (name: LoopName) = loops::inside, "inside d2 of p:0";
    /// a loop that has an extreme online leaves out the tiles in which a choice hides everything, as keys that a mask hides.
    Reach "reach" (name: LoopName) = loops::reach, "reach d1 of most:1";
    /// the units of the kernel that does something have so many threads of a device.
    Threads "threads" (spot: Spot, "by" threads: Count) = programs::threads, "threads p:0 by 128";
    /// the store of an output goes past the caches; with `when [sizes]` where none of these is negative.
    Stream "stream" (spot: Spot, when: When) = caches::stream, "stream q:2 when [8*M*N - 65536]";
    /// a store that goes past the caches may wait for the next group.
    Defer "defer" (spot: Spot) = caches::defer, "defer q:2";
    /// the store of an output stays in the caches.
    Keep "keep" (spot: Spot) = caches::keep, "keep q:2";
    /// the tile of a stage lies where an output is stored, from there on until that is done.
    Home "home" (spot: Spot, "in" output: StageName) = caches::home, "home e:0 in q:2";
    /// an input that is read into a tile is asked for ahead: so many bytes further on, and the rows of the next group.
    Prefetch "prefetch" (input: Input, ahead: Prefetch) = caches::prefetch, "prefetch e:0.0 (4096, next)";
    /// the kernels of two stages, between which nothing flows, are launched at once.
    Together "together" (first: Spot, second: Spot) = programs::together, "together p:0 q:1";
    /// a copy of the version, in front of it, for sizes at which the guard holds.
    Version "version" ("when" guard: Guard) = programs::version, "version when [-N + 16384]";
}

/// An edit of a trace.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Edit {
    /// The number of the version; absent for the last one, which has no guard.
    pub version: Option<usize>,
    /// What is done to it.
    pub primitive: Primitive,
}

impl TraceAttr {
    /// What the edits make of a tree, one after another.
    ///
    /// # Errors
    /// The number of the first edit that the tree does not allow, its text, and why.
    pub fn apply(&self, cx: &Context, tree: &TreeAttr) -> Result<TreeAttr, String> {
        let mut edited = tree.clone();
        for (number, edit) in self.edits.iter().enumerate() {
            edit.apply(cx, &mut edited).map_err(|why| {
                let text = edit.primitive.text(cx);
                format!("edit {number}, '{text}': {why}")
            })?;
        }
        Ok(edited)
    }
}

impl Edit {
    fn apply(&self, cx: &Context, tree: &mut TreeAttr) -> Found<()> {
        let count = tree.versions.len();
        let number = self.version.or(count.checked_sub(1)).filter(|number| *number < count);
        let Some(number) = number else {
            let wanted = self.version.unwrap_or_default();
            return Err(format!("there is no version {wanted}: the tree has {count}"));
        };
        self.primitive.edit(&mut Scope { cx, tree, number })?;
        tree.verify_params(cx)
    }
}
