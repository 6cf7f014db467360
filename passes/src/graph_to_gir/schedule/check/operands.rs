//! Operands: brought into a tile, kept near, shared by units, packed.

use std::collections::HashSet;

use sutura_dialects::schedule::{Bring, Dim, Kernel, Loop, Node, Operand, Place, Runs, Split, Tile, walk};

use super::super::bring::readers;
use super::super::copies::{is_asynchronous, last_reader};
use super::super::near::tile_in;
use super::super::panels::{copied, in_panels};
use super::super::shared::{is_made_of_tensors, read_for};
use super::{Check, Checked, Left, Panels};
use crate::region::Access;
use crate::region::contract::narrow_factors;
use crate::region::rows::check_column_access;

impl<'c> Check<'c, '_, '_> {
    /// The dim that a group's units share, and their number.
    pub(super) fn units_of(&self, tree: &'c Kernel) -> Result<Option<(usize, i64)>, String> {
        let mut looped = None;
        walk(&tree.body, &mut |node| match node {
            Node::Loop(l) if l.runs == Runs::Units => looped = Some(l),
            _ => {}
        });
        let Some(l) = looped else { return Ok(None) };
        let (dim, machine) = (l.dim, self.of.region.machine);
        if machine.group_space().is_none() {
            return Err(format!("the loop over {dim} is over units, and a group of this machine has one"));
        }
        if let Some(s) = self.contents.placed.iter().find(|s| self.stage(**s).combines_along(dim.0)) {
            return Err(format!("{} is combined along {dim}, which units share", self.name(*s)));
        }
        Ok(Some((dim.0, self.of.units(tree)?)))
    }

    /// An operand, which is a node of a list.
    pub(super) fn operand(&mut self, operand: &'c Operand, (list, own): (&'c [Node], usize)) -> Checked {
        let (at, tile) = ((operand.stage.number, operand.input), &operand.tile);
        let read = &self.stage(at.0).inputs[at.1];
        let name = format!("operand {} of {}", at.1, self.name(at.0));
        if self.of.region.machine.only_multiplies(&tile.space) {
            return Err(format!("{name} lies in '{}', which only a contraction computes with", tile.space));
        }
        let shared = self.of.region.machine.group_space().is_some_and(|space| **space == *tile.space);
        if operand.to == Bring::Cache && shared {
            self.ahead(&name, operand, (list, own))?;
            self.copied(&name, operand, (list, own))?;
            return match read.slot {
                // What was packed lies in memory as a tensor does.
                Some(slot) if !self.flow.packed.contains_key(&at) && !is_made_of_tensors(self.nest(), operand) => {
                    self.shared_and_made(&name, slot, (operand, read))
                }
                _ => self.shared(&name, at, (operand, read), &list[own + 1..]),
            };
        }
        if operand.pitch.is_some() || operand.ahead || operand.asynchronous {
            let is = match (operand.ahead, operand.asynchronous) {
                (true, _) => "is read ahead",
                (_, true) => "is copied asynchronously",
                _ => "has a pitch",
            };
            return Err(format!("{name} {is}, and is not in memory that units share"));
        }
        if operand.to == Bring::Cache {
            return self.cached(&name, at, (operand, read));
        }
        self.tile(&name, tile)?;
        self.moved(&name, read)?;
        let dims = (0..self.left.len()).filter(|dim| self.nest().mentions(read, *dim));
        self.covered(&name, dims, tile)?;
        self.asked_ahead(&name, operand, read)?;
        self.read(&name, read, tile)?;
        self.stage(at.0).picks.iter().try_for_each(|pick| self.picked(&name, &pick.access, tile))?;
        if operand.to == Bring::Tile {
            return Ok(());
        }
        let narrow = narrow_factors(self.nest(), self.stage(at.0)).is_some();
        let several = tile.rows.filter(|rows| match narrow {
            true => self.multiplied_together(at, rows.0),
            false => matches!(self.left[rows.0], Left::Tile(_)) && self.sums_along_one(at.0, tile),
        });
        if tile.rows != several {
            return Err(format!(
                "{name} is packed on a tile that must have places of the sum along its rows or along its columns, not along both; places of \
                 narrow numbers must be multiplied together"
            ));
        }
        let mut seen: HashSet<usize> = HashSet::new();
        for l in &self.around {
            if !seen.insert(l.dim.0) {
                return Err(format!("{name} is packed in two loops over {}", l.dim));
            }
            let columns = tile.cols == Some(l.dim) || several == Some(l.dim);
            if !(l.split == Split::One || columns && matches!(l.split, Split::By(_))) {
                return Err(format!("{name} is packed in a loop that has more than one index of {}", l.dim));
            }
        }
        Ok(())
    }

    /// True for a dim of narrow numbers along which a contraction sums, and of which a trip has several places, none beyond its end.
    fn multiplied_together(&self, (s, _): (usize, usize), dim: usize) -> bool {
        let (stage, extent) = (self.stage(s), &self.nest().extents[dim]);
        let whole = matches!(self.left[dim], Left::Tile(by) if self.of.region.facts.divisible(extent, by));
        whole && stage.reduced.contains(&dim) && narrow_factors(self.nest(), stage).is_some()
    }

    /// True for a tile of which a stage sums along the rows or along the columns.
    fn sums_along_one(&self, s: usize, tile: &Tile) -> bool {
        let summed = |dim: Option<Dim>| dim.is_some_and(|dim| self.stage(s).reduced.contains(&dim.0));
        summed(tile.rows) != summed(tile.cols)
    }

    fn cached(&mut self, name: &str, at: (usize, usize), (operand, read): (&'c Operand, &Access)) -> Checked {
        let machine = self.of.region.machine;
        if operand.tile.space != machine.cache.to_string() {
            return Err(format!("{name} is kept in '{}'; a group keeps it in '{}'", operand.tile.space, machine.cache));
        }
        let moved = self.nest().moved_maker(read).filter(|_| !self.flow.stored.contains(&read.value));
        match (self.nest().maker(read).or(moved.map(|(maker, _)| maker)), operand.body.is_empty()) {
            (Some(_), true) => {
                return Err(format!("{name} is made in the region, and has no body that computes it"));
            }
            (maker, false) if maker.is_none() || in_panels(operand) => return self.in_panels(name, at, operand),
            _ => {}
        }
        if self.near.contains(&at) {
            return Err(format!("{name} is kept near where it is already"));
        }
        if let (Some(maker), Some(slot)) = (self.nest().maker(read), read.slot) {
            self.made_near(name, maker, (operand, read))?;
            let dims: Vec<usize> = self.stage(maker).parallel().collect();
            for at in readers(self.nest(), slot).collect::<Vec<_>>() {
                self.near.insert(at);
                self.ends.insert(at, self.ends_of(&dims, &operand.body));
            }
            return Ok(());
        }
        if let Some((maker, result)) = moved {
            return self.made_for_window(name, (maker, result), (operand, read));
        }
        let left = |place: &&Place| {
            let col = place.tile.cols.map_or(usize::MAX, |dim| dim.0);
            place.contract && place.stage.number == at.0 && !self.nest().mentions(read, col)
        };
        let elsewhere = !self.contracts.iter().any(|place| place.stage.number == at.0);
        if !(self.contracts.iter().any(left) || elsewhere && self.contents.placed.contains(&at.0)) {
            return Err(format!(
                "{name} is kept near, and no stage of the kernel reads it, but as the right factor of a contraction"
            ));
        }
        self.near.insert(at);
        self.panels.remove(&at);
        let dims: Vec<usize> = (0..self.left.len()).filter(|dim| self.nest().mentions(read, *dim)).collect();
        self.ends.insert(at, self.ends_of(&dims, &[]));
        Ok(())
    }

    /// A tensor that loops copy into panels.
    fn in_panels(&mut self, name: &str, at: (usize, usize), operand: &'c Operand) -> Checked {
        let (loops, inner) = copied(&operand.body);
        let Some(inner) = inner.filter(|inner| {
            inner.to == Bring::Tile && (inner.stage.number, inner.input) == at && inner.tile.cols == operand.tile.cols
        }) else {
            return Err(format!("the body of {name} is not loops, one in the other, that copy it tile by tile"));
        };
        for (number, l) in loops.iter().enumerate() {
            if loops[..number].iter().any(|outer| outer.dim == l.dim) {
                return Err(format!("{name} is copied in two loops over {}", l.dim));
            }
            let columns = operand.tile.cols == Some(l.dim);
            let turned = inner.tile.rows == Some(l.dim) && self.sums_along_one(at.0, &inner.tile);
            let several = columns || turned;
            if !(l.split == Split::One && !several || several && matches!(l.split, Split::By(_))) {
                return Err(format!("{name} is copied in a loop that has more than one index of {}", l.dim));
            }
        }
        if !self.contents.placed.contains(&at.0) {
            return Err(format!("{name} is kept near, and no stage of the kernel reads it"));
        }
        if self.near.contains(&at) {
            return Err(format!("{name} is kept near where it is already"));
        }
        let looped = |rows: Dim| loops.iter().any(|l| l.dim == rows && operand.tile.cols != Some(rows));
        if !inner.tile.rows.is_none_or(looped)
            || !inner.tile.padded
            || inner.tile.space != self.of.region.machine.registers.to_string()
        {
            return Err(format!(
                "{name} is copied on a tile that has rows along no loop of its own, lies not in registers or is not padded"
            ));
        }
        let columns = operand.tile.cols.map_or(Left::Index, |col| self.left[col.0]);
        let made = std::mem::take(&mut self.made);
        self.nodes(&operand.body)?;
        self.made = made;
        let one = |l: &&Loop| if inner.tile.rows == Some(l.dim) { Split::One } else { l.split };
        let loops = loops.iter().map(|l| (l.dim.0, one(l))).collect();
        self.ends.remove(&at);
        self.panels.insert(at, Panels { loops, tile: inner.tile.clone(), columns });
        self.near.insert(at);
        Ok(())
    }

    /// What units bring near for each other: each a share of its rows.
    fn shared(
        &mut self,
        name: &str,
        at: (usize, usize),
        (operand, read): (&'c Operand, &Access),
        later: &'c [Node],
    ) -> Checked {
        let (nest, tile) = (self.nest(), &operand.tile);
        let Some((dim, units)) = self.units else {
            return Err(format!("{name} is shared in '{}', and no loop is over units", tile.space));
        };
        // All units wait for each other there, so that all must come there.
        if self.around.iter().any(|l| l.runs == Runs::InTurn && l.dim.0 == dim) {
            return Err(format!("{name} is shared inside a loop over d{dim}, which units share"));
        }
        let made = nest.maker(read).filter(|_| is_made_of_tensors(nest, operand));
        let lies = self.flow.packed.contains_key(&at) || read.slot.is_none() && read.oob.is_none();
        if made.is_none() && (!lies || !operand.body.is_empty()) {
            return Err(format!("{name} is shared, and is no tensor that is read as it lies, nor made of such"));
        }
        let (Some(rows), Some(cols)) = (tile.rows, tile.cols) else {
            return Err(format!("{name} is shared on a tile without rows and columns"));
        };
        if nest.mentions(read, dim) && rows.0 != dim {
            return Err(format!("{name} differs from unit to unit along d{dim}, which is not the rows of its tile"));
        }
        match self.left[rows.0] {
            Left::Tile(count) if rows.0 == dim || count % units == 0 => {}
            _ => return Err(format!("{name} has rows along {rows}, which {units} units do not share evenly")),
        }
        if !matches!(self.left[cols.0], Left::Tile(_)) && nest.extents[cols.0].as_const().is_none() {
            return Err(format!("{name} has columns along {cols}, whose number is no constant"));
        }
        self.covered(name, (0..self.left.len()).filter(|d| nest.mentions(read, *d)), tile)?;
        [rows, cols].into_iter().try_for_each(|d| check_column_access(nest, read, d.0)).map_err(|misfit| misfit.0)?;
        if let Some(packed) = self.flow.packed.get(&at) {
            let inside = |(d, split): &(usize, Split)| {
                *d != rows.0 && *d != cols.0 && self.left[*d] != Left::Index
                    || *d == rows.0 && *split != Split::One
                    || *d == cols.0 && !matches!(split, Split::By(by) if self.left[*d] == Left::Tile(*by))
            };
            if let Some((d, _)) = packed.loops.iter().find(|l| inside(l)) {
                return Err(format!("{name} was packed in other parts of d{d} than it is shared in"));
            }
        }
        if !self.contracts.iter().any(|place| place.stage.number == at.0) {
            return Err(format!("{name} is shared, and no contraction of the kernel reads it"));
        }
        self.pitched(name, operand, later)?;
        if let Some(maker) = made {
            self.shares_of_made(name, maker, (operand, read))?;
        }
        if !self.near.insert(at) {
            return Err(format!("{name} is kept near where it is already"));
        }
        self.shared.insert(at);
        self.ends.insert(at, self.ends_of(&[cols.0], later));
        Ok(())
    }

    /// What units make of tensors in memory that they share, each a share of the rows: on tiles as large as a share.
    fn shares_of_made(&mut self, name: &str, maker: usize, (operand, read): (&'c Operand, &Access)) -> Checked {
        let registers = self.of.region.machine.registers.to_string();
        let as_large = |node: &Node| match node {
            Node::Place(place) => {
                let tile = &place.tile;
                (tile.rows, tile.cols) == (operand.tile.rows, operand.tile.cols)
                    && tile.padded
                    && tile.space == registers
            }
            _ => false,
        };
        if !operand.body.iter().all(as_large) {
            return Err(format!("the body of {name} computes on other tiles than padded ones of it in '{registers}'"));
        }
        let (Some((dim, units)), Some(rows)) = (self.units, operand.tile.rows) else { return Ok(()) };
        let left = self.left[rows.0];
        if let Left::Tile(count) = left
            && rows.0 != dim
        {
            self.left[rows.0] = Left::Tile(count / units);
        }
        let made = self.made_near(name, maker, (operand, read));
        self.left[rows.0] = left;
        made
    }

    /// What units make in memory that they share: each its own rows, of which it reads only these.
    fn shared_and_made(&mut self, name: &str, slot: usize, (operand, read): (&'c Operand, &Access)) -> Checked {
        let Some((dim, _)) = self.units else {
            return Err(format!("{name} is shared in '{}', and no loop is over units", operand.tile.space));
        };
        let maker = self.nest().maker(read).filter(|_| !operand.body.is_empty());
        let Some(maker) = maker else {
            return Err(format!("{name} is made in the region, and has no body that computes it"));
        };
        if operand.tile.rows.map(|rows| rows.0) != Some(dim) || !self.nest().mentions(read, dim) {
            return Err(format!("{name} is made by units, and its rows are not those along d{dim} that each has"));
        }
        let readers: Vec<(usize, usize)> = readers(self.nest(), slot).collect();
        if let Some(at) = readers.iter().find(|at| self.near.contains(at)) {
            return Err(format!("input {} of {} is kept near where it is already", at.1, self.name(at.0)));
        }
        if self.online.iter().any(|online| online.of == Some(slot)) {
            return Err(format!(
                "{name} is shared, and the loop takes an extreme of it that is used before it is complete"
            ));
        }
        if let Some(cols) = operand.tile.cols.filter(|cols| matches!(self.left[cols.0], Left::Block | Left::Part)) {
            return Err(format!(
                "{name} has columns along {cols}, of which a loop inside takes one index after the other"
            ));
        }
        self.pitched(name, operand, &operand.body)?;
        self.made_near(name, maker, (operand, read))?;
        let dims: Vec<usize> = self.stage(maker).parallel().collect();
        for at in readers {
            self.near.insert(at);
            self.shared.insert(at);
            self.ends.insert(at, self.ends_of(&dims, &operand.body));
        }
        Ok(())
    }

    /// A row of memory has room for all columns.
    fn pitched(&self, name: &str, operand: &Operand, tiles: &[Node]) -> Checked {
        let (Some(pitch), Some(cols)) = (operand.pitch, operand.tile.cols) else { return Ok(()) };
        let columns = match self.left[cols.0] {
            Left::Tile(by) => Some(by),
            Left::Index => Some(1),
            _ => self.nest().extents[cols.0].as_const().and_then(|extent| {
                let tile = tile_in(tiles, cols.0);
                extent.checked_add(tile - 1).map(|extent| extent / tile * tile)
            }),
        };
        match columns.filter(|columns| *columns <= pitch) {
            Some(_) => Ok(()),
            None => Err(format!("{name} has rows of more columns than its pitch of {pitch}")),
        }
    }

    /// What is read ahead is read by the trip before, or while units compute with what was shared before.
    fn ahead(&self, name: &str, operand: &Operand, (list, own): (&'c [Node], usize)) -> Checked {
        if !operand.ahead {
            return Ok(());
        }
        if read_for(self.nest(), operand).is_none() {
            return Err(format!("{name} is read ahead, and is made of no tensor with its rows and columns"));
        }
        let space = &operand.tile.space;
        let is_shared =
            |node: &Node| matches!(node, Node::Operand(o) if o.to == Bring::Cache && o.tile.space == *space);
        let begins = own - list[..own].iter().rev().take_while(|node| is_shared(node)).count();
        if list[..begins].iter().any(is_shared) {
            return Ok(());
        }
        match self.is_brought_in_trips(operand, list) {
            true => Ok(()),
            false => Err(format!("{name} is read ahead, and no loop around it brings tiles of it, trip by trip")),
        }
    }

    /// Whether each trip of the loop whose nodes these are brings another tile of an operand.
    fn is_brought_in_trips(&self, operand: &Operand, list: &'c [Node]) -> bool {
        let around = self.around.last().filter(|l| l.body.as_ptr() == list.as_ptr() && l.runs == Runs::InTurn);
        around.is_some_and(|l| {
            let tile = [operand.tile.rows, operand.tile.cols];
            tile.contains(&Some(l.dim)) && matches!(self.left[l.dim.0], Left::Tile(_))
        })
    }

    /// What is copied asynchronously is on its way from one trip to the next, and nothing else meanwhile that a loop around waits for.
    fn copied(&self, name: &str, operand: &Operand, (list, own): (&'c [Node], usize)) -> Checked {
        if !operand.asynchronous {
            return Ok(());
        }
        if !self.is_brought_in_trips(operand, list) {
            return Err(format!(
                "{name} is copied asynchronously, and no loop around it brings tiles of it, trip by trip"
            ));
        }
        if last_reader(&list[own + 1..], operand).is_none() {
            return Err(format!("{name} is copied asynchronously, and nothing behind it in its loop reads it"));
        }
        let outside = self.around.iter().rev().skip(1).find(|l| !l.body.iter().all(|node| !is_asynchronous(node)));
        match outside {
            Some(l) => Err(format!("{name} is copied asynchronously in a loop over {} that copies others so", l.dim)),
            None => Ok(()),
        }
    }

    /// The body of an operand computes what a window needs of it, which is all that is left of the dims that it moves along.
    fn made_for_window(
        &mut self,
        name: &str,
        (maker, result): (usize, usize),
        (operand, read): (&'c Operand, &Access),
    ) -> Checked {
        let nest = self.nest();
        let made = &self.stage(maker).results[result];
        if self.units.is_some() {
            return Err(format!("{name} is made for a window, and units share the group"));
        }
        let own = made.index.iter().zip(&read.index).filter(|(made, read)| made != read);
        let own: Option<Vec<usize>> = own.map(|(made, _)| nest.plain(*made)).collect();
        let Some(own) = own else { return Err(format!("{name} is made along no dims of its own")) };
        let outer = self.left.clone();
        for dim in &own {
            if outer[*dim] != Left::Whole && !nest.is_unit(*dim) {
                return Err(format!("{name} is made along d{dim}, of which a loop around has a part"));
            }
            self.left[*dim] = Left::Needed;
        }
        let computed = self.computed_near(name, maker, operand);
        self.left = outer;
        computed?;
        let at = (operand.stage.number, operand.input);
        self.near.insert(at);
        let dims: Vec<usize> = self.stage(maker).parallel().filter(|dim| !own.contains(dim)).collect();
        self.ends.insert(at, self.ends_of(&dims, &operand.body));
        Ok(())
    }

    /// The body of an operand computes all of it that what follows reads, where it is made.
    fn made_near(&mut self, name: &str, maker: usize, (operand, read): (&'c Operand, &Access)) -> Checked {
        let result = self.stage(maker).results.iter().find(|result| result.slot == read.slot);
        if read.oob.is_some() || !read.guard.is_empty() || result.is_none_or(|result| result.index != read.index) {
            return Err(format!("{name} is read at other places than it is made at"));
        }
        self.computed_near(name, maker, operand)
    }

    /// The body of an operand computes it, and nothing else sees what it makes.
    fn computed_near(&mut self, name: &str, maker: usize, operand: &'c Operand) -> Checked {
        let mut wrong = Ok(());
        walk(&operand.body, &mut |node| match node {
            Node::Operand(inner) if inner.to == Bring::Pack => {
                wrong = Err(format!("the body of {name} packs another operand"));
            }
            Node::Join(_) => wrong = Err(format!("the body of {name} joins parts")),
            Node::Place(place) if self.stage(place.stage.number).scatter.is_some() => {
                wrong = Err(format!("the body of {name} writes at indices"));
            }
            _ => {}
        });
        wrong?;
        let outer = (self.made.clone(), self.near.clone(), std::mem::take(&mut self.ended));
        self.nodes(&operand.body)?;
        let ended = std::mem::replace(&mut self.ended, outer.2);
        // What has no columns stays known.
        let made = std::mem::replace(&mut self.made, outer.0);
        for (stage, made) in made.into_iter().filter(|(_, made)| !made.columns) {
            self.made.entry(stage).or_insert(made);
        }
        self.near = outer.1;
        match ended.contains(&maker) {
            true => Ok(()),
            false => Err(format!("the body of {name} does not compute it")),
        }
    }
}
