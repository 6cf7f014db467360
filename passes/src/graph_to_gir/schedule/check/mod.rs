//! Whether a kernel of a schedule computes what its region says.
//!
//! The verifier of `gir` proves of each kernel that it stays inside its tensors and that it writes each element once. What it
//! cannot see is checked here: that every sum gets each contribution once, that what a stage reads was made for the same part of
//! its dims, and that operands are read as they were packed. After Halide's and TensorIR's checks of schedules, which also ask
//! only where stages and loops stand.

mod caches;
mod operands;
mod products;
mod sums;
mod updates;

use std::collections::{HashMap, HashSet};

use sutura_dialects::schedule::{Bring, Dim, Kernel, Loop, Node, Operand, Place, Split, Tile, walk};
use sutura_ir::Value;

use super::Region;
use super::bring::readers;
use super::describe::called;
use super::flow::{Contents, Flow};
use super::online::Online;
use super::panels::in_panels;
use super::ranges::gone_through;
use super::reach::{Reach, factors};
use super::shared::is_made_of_tensors;
use crate::region::rows::check_column_access;
use crate::region::{Access, Nest, Stage};

pub(super) type Checked = Result<(), String>;

/// Most elements of a tile in registers; what is beyond the machine's lies on the stack.
const MOST_IN_REGISTERS: i64 = 1 << 12;

/// What loops have left of a dim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Left {
    Whole,
    Index,
    /// So many indices.
    Tile(i64),
    /// So many, of which a loop inside takes one after the other.
    Block,
    /// One of several even parts.
    Part,
    /// What a window needs of it.
    Needed,
}

/// How an operand lies in panels.
struct Panels {
    /// The loops that copied it.
    loops: Vec<(usize, Split)>,
    /// The tile that was copied.
    tile: Tile,
    /// What was left of its columns.
    columns: Left,
}

/// On what tile a stage was computed.
#[derive(Clone, PartialEq, Eq)]
struct Made {
    space: String,
    padded: bool,
    /// What it makes differs from column to column.
    columns: bool,
}

/// What is combined in loops around a place.
struct Sum {
    stage: usize,
    /// The place that contributes to it was seen.
    contributed: bool,
    /// Loops over what it makes lie between, so that all of it is kept near.
    kept: bool,
    made: Made,
}

struct Check<'c, 'r, 'a> {
    of: &'c Region<'r, 'a>,
    flow: &'c Flow,
    contents: Contents<'c>,
    /// Loops around, outermost first.
    around: Vec<&'c Loop>,
    left: Vec<Left>,
    /// Stages whose results are known here.
    made: HashMap<usize, Made>,
    /// Stages of which everything that is needed here has been computed, in whatever loops.
    ended: HashSet<usize>,
    /// Operands that lie in the group's memory.
    near: HashSet<(usize, usize)>,
    /// For those of them that end with a dim, the most indices of it that they have in whole tiles.
    ends: HashMap<(usize, usize), Vec<(usize, i64)>>,
    /// Those of them that lie in panels.
    panels: HashMap<(usize, usize), Panels>,
    /// Those of them that units share.
    shared: HashSet<(usize, usize)>,
    /// The dim that units share, and their number.
    units: Option<(usize, i64)>,
    sums: Vec<Sum>,
    /// What loops around have online.
    online: Vec<Online>,
    contracts: Vec<&'c Place>,
}

/// Checks numbers of dims, stages and inputs of a kernel: those of a part with `dims` and `stages` from these numbers on.
pub(super) fn numbers(tree: &Kernel, nest: &Nest<'_>, (first_dim, first_stage): (usize, usize)) -> Checked {
    let dim = |dim: Dim| match dim.0.checked_sub(first_dim).filter(|d| *d < nest.extents.len()) {
        Some(_) => Ok(()),
        None => Err(format!("'{dim}' is no dim of the region, or of what else the kernel computes")),
    };
    let tile = |tile: &Tile| tile.rows.into_iter().chain(tile.cols).try_for_each(dim);
    let stage = |number: usize, name: &str| match number.checked_sub(first_stage) {
        Some(own) if own < nest.stages.len() => Ok(own),
        _ => Err(format!("'{name}:{number}' is no stage of the region, or of what else the kernel computes")),
    };
    let mut checked = Ok(());
    walk(&tree.body, &mut |node| {
        let one = || match node {
            Node::Loop(l) => dim(l.dim),
            Node::Place(place) | Node::Join(place) => {
                for named in [Some(&place.stage), place.home.as_ref()].into_iter().flatten() {
                    stage(named.number, &named.name)?;
                }
                tile(&place.tile)
            }
            Node::Operand(operand) => {
                let own = stage(operand.stage.number, &operand.stage.name)?;
                let inputs = nest.stages[own].inputs.len();
                if operand.input >= inputs {
                    return Err(format!(
                        "'{}' has {inputs} inputs, and none with the number {}",
                        operand.stage.name, operand.input
                    ));
                }
                tile(&operand.tile)
            }
        };
        if checked.is_ok() {
            checked = one();
        }
    });
    checked
}

/// Checks a kernel that runs where `flow` is known.
pub(super) fn kernel(of: &Region<'_, '_>, tree: &Kernel, flow: &Flow) -> Checked {
    let nest = of.nest;
    let unit = |d| if nest.is_unit(d) { Left::Index } else { Left::Whole };
    let mut check = Check {
        of,
        flow,
        contents: Contents::of(tree),
        around: Vec::new(),
        left: (0..nest.extents.len()).map(unit).collect(),
        made: HashMap::new(),
        ended: HashSet::new(),
        near: HashSet::new(),
        ends: HashMap::new(),
        panels: HashMap::new(),
        shared: HashSet::new(),
        units: None,
        sums: Vec::new(),
        online: Vec::new(),
        contracts: Vec::new(),
    };
    walk(&tree.body, &mut |node| match node {
        Node::Place(place) if place.contract => check.contracts.push(place),
        _ => {}
    });
    check.units = check.units_of(tree)?;
    check.whole(tree)?;
    check.nodes(&tree.body)
}

impl<'c, 'a> Check<'c, '_, 'a> {
    fn nest(&self) -> &'c Nest<'a> {
        self.of.nest
    }

    fn stage(&self, number: usize) -> &'c Stage<'a> {
        &self.nest().stages[number]
    }

    fn name(&self, number: usize) -> String {
        let (nest, first) = (self.nest(), self.stage(number).results.first());
        first.map_or_else(|| format!("stage {number}"), |result| called(nest, result.value))
    }

    // ---- what a kernel must be as a whole

    fn whole(&self, tree: &'c Kernel) -> Checked {
        let contents = &self.contents;
        if contents.placed.is_empty() && contents.joined.is_empty() && contents.operands.is_empty() {
            return Err("a kernel computes nothing".to_owned());
        }
        if let Some(both) = contents.joined.iter().find(|s| contents.placed.contains(s)) {
            return Err(format!("{} is joined of parts and placed in the same kernel", self.name(*both)));
        }
        let packs: Vec<&Operand> = contents.operands.iter().copied().filter(|o| o.to == Bring::Pack).collect();
        if packs.len() > 1 {
            return Err("a kernel packs several operands; each needs a kernel of its own".to_owned());
        }
        let grid: Vec<usize> = contents.divided.iter().map(|(dim, _)| *dim).collect();
        if let Some(dim) = grid.iter().enumerate().find_map(|(i, dim)| grid[..i].contains(dim).then_some(dim)) {
            return Err(format!("two loops of the grid run over d{dim}"));
        }
        for s in contents.placed.iter().chain(&contents.joined) {
            let stage = self.stage(*s);
            self.over_data(*s)?;
            let parts = grid.iter().filter(|dim| stage.reduced.contains(dim)).count();
            if parts > 1 {
                return Err(format!("{} is combined along several loops of the grid", self.name(*s)));
            }
            if parts > 0 && stage.joint.is_some() {
                return Err(format!(
                    "{} combines by a region, and a loop of the grid divides what it combines",
                    self.name(*s)
                ));
            }
            if let Some(dim) = self.nest().scanned(stage).filter(|dim| grid.contains(dim)) {
                return Err(format!("{} runs along d{dim}, which a loop of the grid divides", self.name(*s)));
            }
        }
        self.clauses(tree)?;
        self.roles(tree)
    }

    /// A dim is rows of tiles or columns of tiles, and what is read and computed along it goes in equal steps.
    ///
    /// What is packed near, or made there of tensors, has roles of its own.
    fn roles(&self, tree: &'c Kernel) -> Checked {
        let own = |operand: &Operand| in_panels(operand) || is_made_of_tensors(self.nest(), operand);
        let mut apart = Vec::new();
        walk(&tree.body, &mut |node| match node {
            Node::Operand(operand) if operand.to == Bring::Cache && own(operand) => apart.push(&operand.body[..]),
            _ => {}
        });
        let inside: Vec<&Tile> = apart.iter().flat_map(|body| tiles_in(body)).collect();
        let own = |tile: &&Tile| !inside.iter().any(|other| std::ptr::eq(*other, *tile));
        self.roles_of(tiles_in(&tree.body).into_iter().filter(own).collect())?;
        apart.into_iter().try_for_each(|body| self.roles_of(tiles_in(body)))
    }

    fn roles_of(&self, tiles: Vec<&Tile>) -> Checked {
        let rows: HashSet<usize> = tiles.iter().filter_map(|tile| tile.rows).map(|dim| dim.0).collect();
        let cols: HashSet<usize> = tiles.iter().filter_map(|tile| tile.cols).map(|dim| dim.0).collect();
        if let Some(dim) = rows.intersection(&cols).min() {
            return Err(format!("d{dim} is rows of one tile and columns of another in the same kernel"));
        }
        let mut tiled: Vec<usize> = rows.into_iter().chain(cols).collect();
        tiled.sort_unstable();
        let stages = self.contents.placed.iter().map(|s| self.stage(*s));
        self.nest().check_indices_of(stages, &tiled).map_err(|misfit| misfit.0)
    }

    // ---- nodes

    fn nodes(&mut self, nodes: &'c [Node]) -> Checked {
        for (i, node) in nodes.iter().enumerate() {
            match node {
                Node::Loop(l) => self.one_loop(l)?,
                Node::Place(place) => {
                    self.place(place)?;
                    self.store(place)?;
                    self.home(place, (nodes, i))?;
                }
                Node::Join(place) => {
                    self.join(place)?;
                    self.store(place)?;
                    if let Some(Node::Join(next)) = nodes.get(i + 1) {
                        self.joined_together(place, next)?;
                    }
                }
                Node::Operand(operand) => self.operand(operand, (nodes, i))?,
            }
        }
        Ok(())
    }

    /// What a loop leaves out adds zeros.
    fn reached(&self, l: &Loop) -> Checked {
        let Some(online) = Online::of(self.nest(), l)? else { return Err("nothing is online".to_owned()) };
        let reach = Reach::of(self.nest(), online.extreme, l.dim.0)?;
        if self.left[l.dim.0] != Left::Whole {
            return Err("a loop around has a part of the dim".to_owned());
        }
        for end in reach.ends() {
            let moving = |dim: &usize| end.differs(self.nest(), reach.stage, *dim) && self.left[*dim] != Left::Index;
            let moving: Vec<usize> = (0..self.left.len()).filter(moving).collect();
            let one_tile =
                matches!(moving[..], [] | [_]) && moving.iter().all(|d| matches!(self.left[*d], Left::Tile(_)));
            if !one_tile {
                return Err("what says where it ends differs along more than the rows of a tile".to_owned());
            }
        }
        for (s, i) in factors(self.nest(), &online) {
            let read = &self.stage(s).inputs[i];
            let packed = self.panels.get(&(s, i)).is_some_and(|p| matches!(p.columns, Left::Whole | Left::Index));
            if !(self.of.region.is_finite(read.value) || packed) {
                let name = called(self.nest(), read.value);
                return Err(format!(
                    "{name}, which is multiplied by zeros, was not packed near before it, so that it may be infinite"
                ));
            }
        }
        Ok(())
    }

    fn one_loop(&mut self, l: &'c Loop) -> Checked {
        let dim = l.dim.0;
        let left = self.left_of(l)?;
        if l.inside {
            let narrowed = self.of.narrowed(l).and_then(|narrowed| {
                let open = narrowed.others.iter().find(|dim| self.left[**dim] != Left::Index);
                open.map_or(Ok(()), |dim| Err(format!("it has several indices of d{dim}, which moves the window")))
            });
            narrowed.map_err(|why| format!("the loop over {} leaves out what lies outside, and {why}", l.dim))?;
        }
        if l.reach {
            self.reached(l).map_err(|why| format!("the loop over {} leaves out what is hidden, and {why}", l.dim))?;
        }
        let mut inside: Vec<(usize, &Tile)> = Vec::new();
        walk(&l.body, &mut |node| {
            if let Node::Place(place) = node {
                inside.push((place.stage.number, &place.tile));
            }
        });
        let mut started = Vec::new();
        if !l.is_grid() {
            self.scans_through(l, &inside)?;
            for (s, tile) in &inside {
                if self.stage(*s).scatter.is_some() {
                    continue;
                }
                let along = self.stage(*s).combines_along(dim);
                let open = self.sums.iter().any(|sum| sum.stage == *s);
                if open && !along {
                    self.kept(l, *s)?;
                }
                if along && !open {
                    if self.made.contains_key(s) {
                        return Err(format!("{} is combined again where it is known", self.name(*s)));
                    }
                    let made = self.made_on(*s, tile);
                    self.sums.push(Sum { stage: *s, contributed: false, kept: false, made });
                    started.push(*s);
                }
            }
        }
        let before = (self.made.clone(), self.near.clone(), self.left[dim]);
        // What was made for all that is left of the dim is not known for a part of it.
        let nest = self.nest();
        self.made.retain(|s, _| nest.stages[*s].parallel().all(|d| d != dim));
        self.left[dim] = left;
        self.around.push(l);
        let online = Online::of(self.nest(), l)?;
        if let Some(online) = &online {
            self.whole_along(l, online)?;
        }
        self.online.extend(online.clone());
        self.nodes(&l.body)?;
        self.online.truncate(self.online.len() - usize::from(online.is_some()));
        self.around.pop();
        (self.made, self.near, self.left[dim]) = before;
        let ended = self.sums.extract_if(.., |sum| started.contains(&sum.stage)).collect::<Vec<_>>();
        // What is combined as it goes is known on the way only.
        for Sum { stage, made, kept, .. } in ended {
            if self.stage(stage).scan.is_some() || self.in_parts(stage) {
                continue;
            }
            self.ended.insert(stage);
            if kept {
                let slots = self.stage(stage).results.iter().filter_map(|result| result.slot);
                let dims: Vec<usize> = self.stage(stage).parallel().collect();
                for at in slots.flat_map(|slot| readers(self.nest(), slot)).collect::<Vec<_>>() {
                    self.near.insert(at);
                    self.ends.insert(at, self.ends_of(&dims, &l.body));
                }
            } else {
                self.made.insert(stage, made);
            }
        }
        Ok(())
    }

    /// What a trip has of a loop's dim.
    fn left_of(&self, l: &Loop) -> Result<Left, String> {
        let dim = l.dim;
        match (self.left[dim.0], l.split) {
            (Left::Index, Split::By(_)) if !l.is_grid() => Err(format!("the loop over {dim} divides a dim of 1")),
            (_, Split::One) => Ok(Left::Index),
            (Left::Whole | Left::Index, Split::Even(_)) if l.is_grid() => Ok(Left::Part),
            (_, Split::Even(_)) => {
                Err(format!("the loop over {dim} has even parts, which only a loop of the grid has"))
            }
            (Left::Whole | Left::Index, Split::By(_)) if gone_through(l) => Ok(Left::Block),
            (Left::Needed, Split::By(_)) if gone_through(l) => Err(format!(
                "the loop over {dim} divides what a window needs of it once more, of which each index has a trip"
            )),
            (Left::Whole | Left::Index | Left::Needed, Split::By(by)) => Ok(Left::Tile(by)),
            (Left::Tile(outer), Split::By(by)) if outer % by == 0 => Ok(Left::Tile(by)),
            (Left::Tile(outer), Split::By(by)) => {
                Err(format!("the loop over {dim} takes {by} indices of {outer}, which are no multiple"))
            }
            (Left::Block | Left::Part, Split::By(_)) => {
                Err(format!("the loop over {dim} divides a part of it once more, of which each index has a trip"))
            }
        }
    }

    /// True for a stage of which a group of this kernel has a part.
    fn in_parts(&self, stage: usize) -> bool {
        self.contents.part_of(self.nest(), stage).is_some() && !self.contents.joined.contains(&stage)
    }

    // ---- places

    fn place(&mut self, place: &'c Place) -> Checked {
        let (s, tile) = (place.stage.number, &place.tile);
        let (stage, name) = (self.stage(s), self.name(s));
        if self.made.contains_key(&s) {
            return Err(format!("{name} is placed again where it is known"));
        }
        if !place.contract && self.of.region.machine.only_multiplies(&tile.space) {
            return Err(format!("{name} lies in '{}', which only a contraction computes with", tile.space));
        }
        self.tile(&name, tile)?;
        // What a contraction sums over several indices of is its matter.
        let summed = |dim: &usize| place.contract && stage.reduced.contains(dim);
        self.covered(&name, stage.dims.iter().copied().filter(|dim| !summed(dim)), tile)?;
        if place.contract {
            self.contraction(place)?;
        } else {
            self.combined(place)?;
        }
        for (i, read) in stage.inputs.iter().enumerate() {
            let near = self.near.contains(&(s, i));
            if near {
                self.in_whole_tiles(&name, (s, i))?;
            }
            if place.contract && (near || self.flow.packed.contains_key(&(s, i))) {
                continue;
            }
            if self.is_in_panels((s, i)) {
                self.reads_panels(place, i)?;
                continue;
            }
            // What lies near is known once it is read.
            if let Some(maker) = self.nest().maker(read).filter(|maker| near && !self.made.contains_key(maker)) {
                let made = self.made_on(maker, tile);
                self.made.insert(maker, made);
            }
            if near && read.slot.is_none() {
                self.moves_forward(read, tile)?;
                continue;
            }
            self.moved(&name, read)?;
            self.read(&name, read, tile)?;
        }
        stage.picks.iter().try_for_each(|pick| self.picked(&name, &pick.access, tile))?;
        self.relative(&name, s, tile)?;
        if stage.scatter.is_some() {
            return self.writes_in_order(s, &name, tile);
        }
        let sum = self.sums.iter_mut().find(|sum| sum.stage == s);
        let combined = sum.is_some();
        if stage.joint.is_some() && !combined {
            return Err(format!("{name} combines by a region, which only loops do"));
        }
        if sum.is_some_and(|sum| std::mem::replace(&mut sum.contributed, true)) {
            return Err(format!("{name} is placed twice in the loops along which it is combined"));
        }
        let online = self.online.iter().any(|online| online.extreme == s);
        let known = if combined { stage.scan.is_some() || online } else { !(stage.reduces() && self.in_parts(s)) };
        if known {
            let made = self.made_on(s, tile);
            self.made.insert(s, made);
        }
        if known && !online {
            self.ended.insert(s);
        }
        Ok(())
    }

    fn made_on(&self, stage: usize, tile: &Tile) -> Made {
        let machine = self.of.region.machine;
        let space = if tile.space.is_empty() { machine.registers.to_string() } else { tile.space.clone() };
        let columns = tile.cols.is_some_and(|col| self.stage(stage).parallel().any(|dim| dim == col.0));
        Made { space, padded: tile.padded, columns }
    }

    /// Tiles lie in spaces that the machine has, and have constant extents where these need that.
    fn tile(&self, what: &str, tile: &Tile) -> Checked {
        let machine = self.of.region.machine;
        let known = [machine.cache.to_string(), machine.registers.to_string()];
        if tile.cols.is_some() && !known.contains(&tile.space) && !machine.only_multiplies(&tile.space) {
            let [cache, registers] = known;
            return Err(format!(
                "{what} lies in '{}'; a tile with columns lies in '{cache}' or '{registers}'",
                tile.space
            ));
        }
        for dim in tile.rows.iter().chain(&tile.cols) {
            match self.left[dim.0] {
                Left::Block | Left::Part => {
                    return Err(format!(
                        "{what} has a tile along {dim}, of which a loop inside takes one index after the other"
                    ));
                }
                Left::Needed => {
                    return Err(format!(
                        "{what} has a tile along {dim}, of which a window needs a part that no loop divides"
                    ));
                }
                _ => {}
            }
        }
        let fixed = |dim: &Dim| {
            let known = self.nest().extents[dim.0].as_const().is_some();
            known || matches!(self.left[dim.0], Left::Tile(_) | Left::Index)
        };
        let mut tiled = tile.rows.iter().chain(tile.cols.iter().filter(|_| tile.space != machine.cache.to_string()));
        if let Some(dim) = tiled.find(|dim| !fixed(dim)) {
            return Err(format!(
                "{what} has a tile along {dim} whose extent is no constant, which only columns in '{}' may have",
                machine.cache
            ));
        }
        self.fits_registers(what, tile)
    }

    /// Each element of a tile in registers has code of its own.
    fn fits_registers(&self, what: &str, tile: &Tile) -> Checked {
        let machine = self.of.region.machine;
        if tile.space != machine.registers.to_string() && !machine.only_multiplies(&tile.space) {
            return Ok(());
        }
        let extent = |dim: &Dim| match self.left[dim.0] {
            Left::Tile(by) => by,
            Left::Index => 1,
            _ => self.nest().extents[dim.0].as_const().unwrap_or(i64::MAX),
        };
        let elements = tile.rows.iter().chain(&tile.cols).map(extent).fold(1, i64::saturating_mul);
        match elements {
            ..=MOST_IN_REGISTERS => Ok(()),
            _ => Err(format!(
                "{what} has a tile of {elements} elements in registers, which hold {MOST_IN_REGISTERS} at most"
            )),
        }
    }

    /// Of every dim there is one index, or a tile has it.
    fn covered(&self, what: &str, dims: impl Iterator<Item = usize>, tile: &Tile) -> Checked {
        let in_tile = |dim: usize| [tile.rows, tile.cols].contains(&Some(Dim(dim)));
        match dims.into_iter().find(|dim| self.left[*dim] != Left::Index && !in_tile(*dim)) {
            Some(dim) => Err(format!("{what} is placed where d{dim} is neither one index nor in its tile")),
            None => Ok(()),
        }
    }

    /// What a stage or an operand reads, when it is brought for no contraction.
    fn read(&self, name: &str, read: &Access, tile: &Tile) -> Checked {
        let nest = self.nest();
        let tensor = || called(nest, read.value);
        if let Some(maker) = nest.maker(read) {
            if let Some(made) = self.made.get(&maker) {
                return self.made_alike(name, (made, &tensor()), tile);
            }
            // A copy is made at other places than what was written.
            if !self.flow.stored.contains(&read.value) || self.stage(maker).copy {
                return Err(format!("{name} reads {}, which is not made there, nor by an earlier launch", tensor()));
            }
        }
        let several = tile.rows.is_some_and(|rows| !matches!(self.left[rows.0], Left::Index | Left::Tile(1)));
        // A number for what lies outside is put there row by row.
        let outside = read.oob.is_some() && read.slot.is_none();
        if several && (tile.padded || outside) && tile.space == self.of.region.machine.cache.to_string() {
            let how = if tile.padded { "on padded tiles" } else { "and beyond it, on tiles" };
            return Err(format!(
                "{name} reads {} {how} of several rows in '{}', not in registers",
                tensor(),
                tile.space
            ));
        }
        self.moves_forward(read, tile)
    }

    /// What is read elsewhere than it is made has been written before.
    fn moved(&self, name: &str, read: &Access) -> Checked {
        match self.nest().moved_maker(read).filter(|_| !self.flow.stored.contains(&read.value)) {
            Some((maker, _)) => Err(format!(
                "{name} reads {} elsewhere than it is made, and it is neither kept near for that nor made by an earlier launch",
                self.name(maker)
            )),
            None => Ok(()),
        }
    }

    /// Rows and columns of a tile are read forward.
    fn moves_forward(&self, read: &Access, tile: &Tile) -> Checked {
        let mut along = tile.rows.into_iter().chain(tile.cols);
        along.try_for_each(|dim| check_column_access(self.nest(), read, dim.0)).map_err(|misfit| misfit.0)
    }

    /// What differs from column to column is read on tiles like those that it was made on.
    fn made_alike(&self, name: &str, (made, value): (&Made, &str), tile: &Tile) -> Checked {
        let space =
            if tile.space.is_empty() { self.of.region.machine.registers.to_string() } else { tile.space.clone() };
        match made.columns && (&made.space, made.padded) != (&space, tile.padded) {
            true => Err(format!(
                "{name} reads {value} on a tile of another space or padding than that on which it was made"
            )),
            false => Ok(()),
        }
    }

    /// An index that is read is the same for a whole tile.
    fn picked(&self, name: &str, access: &Access, tile: &Tile) -> Checked {
        match tile.rows.iter().chain(&tile.cols).find(|dim| self.nest().mentions(access, dim.0)) {
            Some(dim) => Err(format!("{name} reads at an index that differs along {dim} of its tile")),
            None => Ok(()),
        }
    }

    // ---- parts and operands

    fn join(&mut self, place: &'c Place) -> Checked {
        let (s, tile) = (place.stage.number, &place.tile);
        let (stage, name) = (self.stage(s), self.name(s));
        if !self.flow.parts.contains_key(&(s, 0)) {
            return Err(format!("{name} is joined, and no earlier launch makes parts of it"));
        }
        let made = self.made_on(s, tile);
        if self.made.insert(s, made).is_some() {
            return Err(format!("{name} is joined again where it is known"));
        }
        if tile.rows.is_some() {
            return Err(format!("{name} is joined on a tile with rows; it has columns at most"));
        }
        self.tile(&name, tile)?;
        self.covered(&name, stage.parallel(), tile)
    }

    /// Neighbours are joined in one loop over their parts.
    fn joined_together(&self, place: &Place, next: &Place) -> Checked {
        let parts = |place: &Place| self.flow.parts.get(&(place.stage.number, 0));
        match parts(next).is_none_or(|count| Some(count) == parts(place)) {
            true => Ok(()),
            false => {
                let [a, b] = [place, next].map(|place| self.name(place.stage.number));
                Err(format!("{a} and {b} are joined one behind the other, and have different numbers of parts"))
            }
        }
    }
}

/// Tiles that nodes compute or copy.
fn tiles_in(nodes: &[Node]) -> Vec<&Tile> {
    let mut tiles = Vec::new();
    walk(nodes, &mut |node| match node {
        Node::Place(place) | Node::Join(place) => tiles.push(&place.tile),
        Node::Operand(operand) if operand.to != Bring::Cache => tiles.push(&operand.tile),
        _ => {}
    });
    tiles
}

/// Values that the region yields and that a version does not write.
pub(super) fn unwritten(nest: &Nest<'_>, flow: &Flow) -> Option<Value> {
    nest.output_writes().map(|(_, write)| write.value).find(|value| !flow.stored.contains(value))
}
