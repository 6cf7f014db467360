//! The tree: a region's kernels as loops around places where its stages are computed.
//!
//! After Halide (PLDI 2013) and TensorIR (ASPLOS 2023): the algorithm is the region, and nothing here changes what it computes.
//! Dims and stages are those of the region's normal form; a schedule says where each is, and bounds follow from that.

use crate::r#dyn::poly::Poly;

/// A dim of a region's normal form, by number: `d0`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dim(pub usize);

/// A stage of a region's normal form, by number, and the name of what it makes, which only people read: `max:2`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StageName {
    /// The number.
    pub number: usize,
    /// The name of its first result; empty for one without.
    pub name: String,
}

/// How the normal form becomes another one of the same, before any loop.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Rewrite {
    /// Two dims that are equally long and that no stage runs through both are one: the second one is gone.
    Join(Dim, Dim),
    /// Two dims that lie side by side in all of memory are one, the outer one is gone.
    Fuse(Dim, Dim),
    /// A stage that scales what a sum adds up scales the sum instead. The two trade places: the number of the stage is that of the
    /// sum, and the number of the sum that of the stage.
    Hoist(StageName, StageName),
}

impl Rewrite {
    /// The same with dims and stages whose numbers are further by so many.
    #[must_use]
    pub fn renumbered(&self, dims: isize, stages: isize) -> Self {
        let dim = |Dim(dim): &Dim| Dim(dim.strict_add_signed(dims));
        match self {
            Self::Join(first, second) => Self::Join(dim(first), dim(second)),
            Self::Fuse(outer, inner) => Self::Fuse(dim(outer), dim(inner)),
            Self::Hoist(scale, sum) => Self::Hoist(scale.renumbered(stages), sum.renumbered(stages)),
        }
    }
}

impl StageName {
    /// The same with a number that is further by so many.
    #[must_use]
    pub fn renumbered(&self, stages: isize) -> Self {
        Self { number: self.number.strict_add_signed(stages), name: self.name.clone() }
    }
}

/// A whole program under a guard. Its dims and stages are those of the region where the guard holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Version {
    /// Sizes that must be at least 0. The last version has none.
    pub guard: Vec<Poly>,
    /// How the normal form becomes that of the loops, in order.
    pub rewrites: Vec<Rewrite>,
    /// What is launched, in order.
    pub launches: Vec<Launch>,
}

/// Kernels that are launched at once; nothing flows between them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Launch {
    /// The kernels.
    pub kernels: Vec<Kernel>,
}

/// A kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Kernel {
    /// Loops of the grid come first, each alone in the one before.
    pub body: Vec<Node>,
    /// Threads of a device that a unit is; nothing leaves it to the length of rows.
    pub threads: Option<i64>,
}

/// Something that a kernel does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A loop.
    Loop(Loop),
    /// A stage is computed here.
    Place(Place),
    /// A window of what a stage reads is brought here.
    Operand(Operand),
    /// The parts of what a stage combines are joined here.
    Join(Place),
}

/// A loop over a dim, or over what loops around it have left of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Loop {
    /// The dim.
    pub dim: Dim,
    /// What a trip has of it.
    pub split: Split,
    /// How its trips run.
    pub runs: Runs,
    /// An extreme along the dim that is used before all trips have added to it: the largest so far, for example. What was
    /// summed relative to it is rescaled when it changes. After the online softmax of Milakov and Gimelshein (arXiv 1805.02867).
    pub online: Option<StageName>,
    /// Trips that code has side by side.
    pub unroll: Option<i64>,
    /// Of the places of a window, those that lie outside the tensor are left out: they would add zeros.
    pub inside: bool,
    /// Of the indices of a dim, those at which a choice between two comparisons hides what the extreme is taken of are left out.
    pub reach: bool,
    /// What a trip does.
    pub body: Vec<Node>,
}

/// How the trips of a loop run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Runs {
    /// One after another.
    #[default]
    InTurn,
    /// Each is a group; they run in any order.
    Grid,
    /// Each is a unit of a group; they run at once.
    Units,
}

/// What a trip of a loop has of a dim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Split {
    /// One index.
    One,
    /// So many indices; the last trip may have fewer.
    By(i64),
    /// One of so many parts, as even as they can be.
    Even(i64),
}

/// Where a stage is computed, on a tile of its dims.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The stage.
    pub stage: StageName,
    /// What of its dims a tile has.
    pub tile: Tile,
    /// A sum of products that is one contraction of tiles.
    pub contract: bool,
    /// What is combined along the columns of the tile is combined for each column on its own until the loops end.
    pub columnwise: bool,
    /// The tile lies where this stage, an output, will be stored, until then.
    pub home: Option<StageName>,
    /// What the store of what it makes says of the caches.
    pub store: Option<Stored>,
}

/// What a store to an output says of the caches.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stored {
    /// It stays in them.
    Kept,
    /// It goes past them.
    Stream {
        /// Sizes that are not negative where it does.
        when: Vec<Poly>,
        /// It may wait for the next group.
        defer: bool,
    },
}

/// What is asked for ahead of what is read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Prefetch {
    /// How many bytes further on.
    pub bytes: Option<i64>,
    /// The rows of the next group too, where these sizes are not negative.
    pub next: Option<Vec<Poly>>,
}

/// What a stage reads, brought near, or packed for kernels to come.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// The stage that reads it.
    pub stage: StageName,
    /// Which of its inputs it is.
    pub input: usize,
    /// What of it a tile has.
    pub tile: Tile,
    /// Where it is brought.
    pub to: Bring,
    /// What computes it there, where the region makes it; nothing for a tensor that the region reads.
    pub body: Vec<Node>,
    /// Elements from a row of the memory to the next one; as many as it has columns if nothing says so.
    pub pitch: Option<i64>,
    /// It is read from the tensor a phase before it is needed, and waits in registers.
    pub ahead: bool,
    /// It is copied asynchronously: the trip before begins the copy as soon as all have read what lies there.
    pub asynchronous: bool,
    /// What is asked for ahead of it.
    pub prefetch: Option<Prefetch>,
}

/// Where an operand is brought.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bring {
    /// Into a tile, which stays known to what follows.
    Tile,
    /// Into memory of the group, in the tile's space: all that what follows in this loop reads of it, padded. A tensor is copied;
    /// what the region makes is computed by the body.
    Cache,
    /// Into memory of its own, with a dimension for each loop around and one for the tile's columns, for later kernels.
    Pack,
}

/// The part of dims that a tile has; of every other dim it has one index.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tile {
    /// The dim along which it has rows.
    pub rows: Option<Dim>,
    /// The dim along which it has columns.
    pub cols: Option<Dim>,
    /// Name of the space that a tile with columns lies in.
    pub space: String,
    /// What lies beyond the end of a tensor is read as zero, so that all tiles are whole.
    pub padded: bool,
}

impl Place {
    /// A stage on a tile.
    pub fn new(stage: StageName, tile: Tile) -> Self {
        Self { stage, tile, contract: false, columnwise: false, home: None, store: None }
    }
}

impl Operand {
    /// Input `input` of a stage, which nothing computes there.
    pub fn new((stage, input): (StageName, usize), tile: Tile, to: Bring) -> Self {
        Self {
            stage,
            input,
            tile,
            to,
            body: Vec::new(),
            pitch: None,
            ahead: false,
            asynchronous: false,
            prefetch: None,
        }
    }
}

impl Loop {
    /// A loop of which nothing is online, unrolled or left out.
    pub fn new(dim: Dim, split: Split, runs: Runs, body: Vec<Node>) -> Self {
        Self { dim, split, runs, online: None, unroll: None, inside: false, reach: false, body }
    }

    /// True for a loop of the grid.
    pub fn is_grid(&self) -> bool {
        self.runs == Runs::Grid
    }

    /// The loops and places inside, outermost first.
    pub fn walk<'t>(&'t self, visit: &mut impl FnMut(&'t Node)) {
        walk(&self.body, visit);
    }
}

/// Visits nodes and those inside them, in order.
pub fn walk<'t>(nodes: &'t [Node], visit: &mut impl FnMut(&'t Node)) {
    for node in nodes {
        visit(node);
        match node {
            Node::Loop(Loop { body, .. }) | Node::Operand(Operand { body, .. }) => walk(body, visit),
            Node::Place(_) | Node::Join(_) => {}
        }
    }
}

/// Visits nodes and those inside them, to be changed.
pub(super) fn walk_mut(nodes: &mut [Node], visit: &mut dyn FnMut(&mut Node)) {
    for node in nodes {
        visit(node);
        match node {
            Node::Loop(Loop { body, .. }) | Node::Operand(Operand { body, .. }) => walk_mut(body, visit),
            Node::Place(_) | Node::Join(_) => {}
        }
    }
}

impl Node {
    /// The sizes that decide where its clauses hold.
    pub fn sizes(&self) -> &[Poly] {
        match self {
            Self::Place(Place { store: Some(Stored::Stream { when, .. }), .. })
            | Self::Join(Place { store: Some(Stored::Stream { when, .. }), .. }) => when,
            Self::Operand(Operand { prefetch: Some(Prefetch { next: Some(when), .. }), .. }) => when,
            _ => &[],
        }
    }

    /// The same, to be changed.
    pub(super) fn sizes_mut(&mut self) -> &mut [Poly] {
        match self {
            Self::Place(Place { store: Some(Stored::Stream { when, .. }), .. })
            | Self::Join(Place { store: Some(Stored::Stream { when, .. }), .. }) => when,
            Self::Operand(Operand { prefetch: Some(Prefetch { next: Some(when), .. }), .. }) => when,
            _ => &mut [],
        }
    }
}

impl Kernel {
    /// A kernel that says nothing of threads.
    pub fn new(body: Vec<Node>) -> Self {
        Self { body, threads: None }
    }

    /// The same with other numbers of dims and stages, each further by so many.
    #[must_use]
    pub fn renumbered(&self, dims: isize, stages: isize) -> Self {
        Self { body: renumbered(&self.body, dims, stages), ..self.clone() }
    }

    /// The stage that it computes, packs for or joins first.
    pub fn first_stage(&self) -> Option<usize> {
        let mut first = None;
        walk(&self.body, &mut |node| {
            first = first.or(match node {
                Node::Place(place) | Node::Join(place) => Some(place.stage.number),
                Node::Operand(operand) => Some(operand.stage.number),
                Node::Loop(_) => None,
            });
        });
        first
    }
}

fn renumbered(nodes: &[Node], dims: isize, stages: isize) -> Vec<Node> {
    let dim = |Dim(dim): Dim| Dim(dim.strict_add_signed(dims));
    let stage = |stage: &StageName| stage.renumbered(stages);
    let tile = |tile: &Tile| Tile { rows: tile.rows.map(dim), cols: tile.cols.map(dim), ..tile.clone() };
    let place = |place: &Place| Place {
        stage: stage(&place.stage),
        tile: tile(&place.tile),
        home: place.home.as_ref().map(stage),
        ..place.clone()
    };
    let one = |node: &Node| match node {
        Node::Place(inner) => Node::Place(place(inner)),
        Node::Join(inner) => Node::Join(place(inner)),
        Node::Operand(operand) => Node::Operand(Operand {
            stage: stage(&operand.stage),
            tile: tile(&operand.tile),
            body: renumbered(&operand.body, dims, stages),
            ..operand.clone()
        }),
        Node::Loop(l) => Node::Loop(Loop {
            dim: dim(l.dim),
            online: l.online.as_ref().map(stage),
            body: renumbered(&l.body, dims, stages),
            ..l.clone()
        }),
    };
    nodes.iter().map(one).collect()
}
