//! Random traces of schedules, sensible ones and others.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::schedule::{
    Again, Asynchronous, Count, Dim, DimLoop, Edit, Fused, Guard, Input, Layout, LoopName, LoopNames, Node, Operand,
    Parts, Prefetch, Primitive, Runs, SpaceName, Split, Spot, StageName, Tile, TraceAttr, TreeAttr, What, When,
};
use sutura_ir::Context;

use super::edits::Dice;

/// Something that a kernel does, and the loops around it.
struct Seen {
    spot: Spot,
    loops: Vec<DimLoop>,
    tile: Tile,
}

/// What a version does, in order.
struct Sights {
    all: Vec<Seen>,
    around: Vec<Dim>,
    kernel: usize,
}

impl Sights {
    fn of(tree: &TreeAttr, version: usize) -> Self {
        let mut sights = Self { all: Vec::new(), around: Vec::new(), kernel: 0 };
        for kernel in tree.versions[version].launches.iter().flat_map(|launch| &launch.kernels) {
            sights.nodes(&kernel.body);
            sights.kernel += 1;
        }
        sights
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Loop(l) => {
                    self.around.push(l.dim);
                    self.nodes(&l.body);
                    self.around.pop();
                }
                Node::Place(place) => self.see(What::Place, &place.stage, &place.tile),
                Node::Join(place) => self.see(What::Join, &place.stage, &place.tile),
                Node::Operand(Operand { stage, input, tile, body, .. }) => {
                    self.see(What::Input(*input), stage, tile);
                    self.nodes(body);
                }
            }
        }
    }

    fn see(&mut self, what: What, stage: &StageName, tile: &Tile) {
        let spot = Spot { what, stage: stage.clone(), kernel: Some(self.kernel) };
        let number = |i: usize| self.around[..i].iter().filter(|dim| **dim == self.around[i]).count();
        let loops = (0..self.around.len()).map(|i| DimLoop { dim: self.around[i], number: number(i) }).collect();
        self.all.push(Seen { spot, loops, tile: tile.clone() });
    }

    fn any(&self, dice: &mut Dice) -> &Seen {
        &self.all[dice.below(self.all.len())]
    }
}

impl Seen {
    /// A loop around it, or sometimes none.
    fn any_loop(&self, dice: &mut Dice) -> LoopName {
        let tiled: Vec<Dim> = self.tile.rows.into_iter().chain(self.tile.cols).collect();
        let own = match dice.below(8) {
            0 => DimLoop { dim: dice.dim(), number: dice.below(2) },
            1 | 2 if !tiled.is_empty() => DimLoop { dim: tiled[dice.below(tiled.len())], number: 0 },
            _ if self.loops.is_empty() => DimLoop { dim: dice.dim(), number: 0 },
            _ => self.loops[dice.below(self.loops.len())],
        };
        LoopName { own, spot: self.spot.clone() }
    }

    /// Several loops around it, in any order.
    fn any_loops(&self, dice: &mut Dice, most: usize) -> LoopNames {
        let own = (0..=dice.below(most)).map(|_| self.any_loop(dice).own).collect();
        LoopNames { own, spot: self.spot.clone() }
    }

    fn input(&self, dice: &mut Dice) -> Input {
        let input = match self.spot.what {
            What::Input(input) => input,
            What::Place | What::Join => dice.below(2),
        };
        let kernel = self.spot.kernel.filter(|_| matches!(self.spot.what, What::Input(_)));
        Input { stage: self.spot.stage.clone(), input, kernel }
    }
}

/// A part of a loop that is small.
fn part(dice: &mut Dice) -> Split {
    match dice.split() {
        Split::One => Split::By(*dice.of(&[2, 4, 8, 16])),
        split => split,
    }
}

fn tile(dice: &mut Dice) -> Tile {
    let space = (*dice.of(&["l1", "vec", "shared"])).to_owned();
    let rows = (dice.below(3) == 0).then(|| dice.dim());
    Tile { rows, cols: Some(dice.dim()).filter(|dim| rows != Some(*dim)), space, padded: dice.yes() }
}

fn loop_primitive(seen: &Seen, dice: &mut Dice) -> Primitive {
    match dice.below(14) {
        11 | 12 => Primitive::Accumulate(seen.any_loop(dice)),
        10 => Primitive::Unroll(seen.any_loop(dice), Count(*dice.of(&[1, 2, 4, 64]))),
        0..3 => Primitive::Split(seen.any_loop(dice), part(dice)),
        3..5 => Primitive::Retile(seen.any_loop(dice), part(dice)),
        5 => Primitive::Fuse(match dice.below(3) {
            0 => Fused::Dims(dice.dim(), dice.dim()),
            _ => {
                let LoopName { own, spot } = seen.any_loop(dice);
                Fused::Loops([own, DimLoop { number: own.number + 1, ..own }], spot)
            }
        }),
        6 => Primitive::Join(dice.dim(), dice.dim()),
        7 => Primitive::Bind(seen.any_loop(dice), *dice.of(&[Runs::InTurn, Runs::Grid, Runs::Units])),
        8 => Primitive::Vectorize(seen.any_loop(dice)),
        9 => Primitive::TileRows(seen.any_loop(dice)),
        _ => Primitive::Reorder(seen.any_loops(dice, 2)),
    }
}

fn place_primitive(seen: &Seen, other: &Seen, dice: &mut Dice) -> Primitive {
    let spot = || seen.spot.clone();
    match dice.below(17) {
        16 => Primitive::Keep(spot()),
        12 => Primitive::Stream(spot(), When(dice.yes().then(|| Poly::symbol("M")).into_iter().collect())),
        13 => Primitive::Defer(spot()),
        14 => Primitive::Home(spot(), other.spot.stage.clone()),
        15 => Primitive::Prefetch(seen.input(dice), Prefetch { bytes: Some(64), next: dice.yes().then(Vec::new) }),
        0..3 => Primitive::ComputeAt(spot(), other.any_loop(dice), Again(dice.below(3) == 0)),
        3 => Primitive::CacheRead(seen.input(dice), tile(dice), seen.any_loop(dice)),
        4 => Primitive::Pack(seen.input(dice), tile(dice), seen.any_loops(dice, 2)),
        5 => Primitive::SetSpace(spot(), SpaceName((*dice.of(&["l1", "vec", "", "shared"])).to_owned())),
        6 => Primitive::SetLayout(
            spot(),
            *dice.of(&[Layout::Padded, Layout::Unpadded, Layout::Pitch(36), Layout::Pitch(9)]),
        ),
        7 => Primitive::Hoist(seen.spot.stage.clone(), other.spot.stage.clone()),
        8 => Primitive::Online(other.spot.stage.clone(), seen.any_loop(dice)),
        9 => Primitive::Tensorize(spot()),
        10 => Primitive::Pipeline(seen.input(dice), Asynchronous(dice.yes())),
        _ => Primitive::SplitReduction(spot(), if dice.below(3) == 0 { Parts::Columnwise } else { along(seen, dice) }),
    }
}

fn along(seen: &Seen, dice: &mut Dice) -> Parts {
    Parts::Along(seen.any_loop(dice).own.dim, part(dice))
}

fn edit(tree: &TreeAttr, dice: &mut Dice) -> Option<Edit> {
    let count = tree.versions.len();
    let version = if dice.below(3) == 0 { Some(dice.below(count)) } else { None };
    let sights = Sights::of(tree, version.unwrap_or(count - 1));
    if sights.all.is_empty() {
        return None;
    }
    let (seen, other) = (sights.any(dice), sights.any(dice));
    let primitive = match dice.below(10) {
        0..5 => loop_primitive(seen, dice),
        5..8 => place_primitive(seen, other, dice),
        8 if dice.below(3) == 0 => Primitive::Threads(seen.spot.clone(), Count(*dice.of(&[1, 32, 48]))),
        8 => Primitive::Together(seen.spot.clone(), other.spot.clone()),
        _ => {
            let size = *dice.of(&["M - 2", "-N + 9", "N - 4", "-M + 3"]);
            Primitive::Version(Guard(vec![Poly::parse(size).expect("a size")]))
        }
    };
    Some(Edit { version, primitive })
}

/// Some edits, of which the tree refuses at most the last one.
pub(crate) fn trace(cx: &Context, tree: &TreeAttr, dice: &mut Dice) -> TraceAttr {
    let (mut tree, mut edits) = (tree.clone(), Vec::new());
    let wanted = 1 + dice.below(3);
    for _ in 0..12 {
        let Some(edit) = edit(&tree, dice).filter(|_| edits.len() < wanted) else { break };
        let one = TraceAttr { edits: vec![edit.clone()] };
        match one.apply(cx, &tree) {
            Ok(next) => tree = next,
            Err(_) if dice.below(8) > 0 => continue,
            Err(_) => {
                edits.push(edit);
                break;
            }
        }
        edits.push(edit);
    }
    TraceAttr { edits }
}
