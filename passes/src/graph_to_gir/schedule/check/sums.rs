//! What is combined: along loops and columns, kept near from tile to tile, relative to an extreme, as it goes.

use sutura_dialects::schedule::{Loop, Node, Place, Split, Tile, walk};

use super::super::near::tile_in;
use super::super::online::Online;
use super::{Check, Checked, Left};

impl Check<'_, '_, '_> {
    /// A sum of which a loop over what it makes goes through tiles, each time that there is more to add.
    pub(super) fn kept(&mut self, l: &Loop, stage: usize) -> Checked {
        let name = self.name(stage);
        let whole = self.stage(stage);
        if !whole.parallel().any(|dim| dim == l.dim.0) || whole.scan.is_some() || whole.joint.is_some() {
            return Err(format!(
                "the loop over {} lies between {name} and a loop along which it is combined, but it is not combined along {}",
                l.dim, l.dim
            ));
        }
        let own_type = |key| self.of.elem(key, true) == self.of.elem(key, false);
        let kept = format!("{name} is kept near from tile to tile of {}", l.dim);
        if self.in_parts(stage) {
            return Err(format!("{kept}, and a group has only a part of it"));
        }
        if !self.of.keys(stage).all(own_type) {
            return Err(format!("{kept}, and summed in another type than its own"));
        }
        self.sums.iter_mut().filter(|sum| sum.stage == stage).for_each(|sum| sum.kept = true);
        Ok(())
    }

    /// Where what a body makes ends with a dim, of which so many indices are whole tiles.
    pub(super) fn ends_of(&self, dims: &[usize], body: &[Node]) -> Vec<(usize, i64)> {
        let by_index = |dim: usize| {
            let mut found = false;
            walk(body, &mut |node| {
                found |= matches!(node, Node::Loop(l) if l.dim.0 == dim && l.split == Split::One);
            });
            found
        };
        let end = |dim: usize| match (self.left[dim], tile_in(body, dim)) {
            (Left::Whole, tile) => Some((dim, tile)),
            (Left::Tile(_), 1) if by_index(dim) => Some((dim, 1)),
            _ => None,
        };
        dims.iter().filter_map(|dim| end(*dim)).collect()
    }

    /// What lies near is not read beyond its end.
    pub(super) fn in_whole_tiles(&self, name: &str, at: (usize, usize)) -> Checked {
        let whole = |dim: usize, by: i64| self.of.region.facts.divisible(&self.nest().extents[dim], by);
        let beyond = |(dim, tile): &&(usize, i64)| match self.left[*dim] {
            Left::Tile(by) => tile % by != 0 && !whole(*dim, by),
            _ => false,
        };
        match self.ends.get(&at).and_then(|ends| ends.iter().find(beyond)) {
            Some((dim, tile)) => Err(format!(
                "{name} reads several indices of d{dim} at once, and what lies near ends with d{dim}, after tiles of {tile}"
            )),
            None => Ok(()),
        }
    }

    /// Parts would each be relative to an extreme of their own.
    pub(super) fn whole_along(&self, l: &Loop, online: &Online) -> Checked {
        match online.sums.iter().chain([&online.extreme]).find(|s| self.in_parts(**s)) {
            Some(s) => Err(format!(
                "the loop over {} has {} online, and a loop of the grid divides what {} combines",
                l.dim,
                self.name(online.extreme),
                self.name(*s)
            )),
            None => Ok(()),
        }
    }

    /// What is summed relative to something is rescaled where that is known.
    pub(super) fn relative(&self, name: &str, stage: usize, tile: &Tile) -> Checked {
        for online in self.online.iter().filter(|online| online.sums.contains(&stage)) {
            let extreme = self.name(online.extreme);
            let Some(made) = self.made.get(&online.extreme) else {
                return Err(format!("{name} is summed relative to {extreme}, which is not known there"));
            };
            self.made_alike(name, (made, &extreme), tile)?;
        }
        Ok(())
    }

    /// What is combined as it goes needs all indices of its dim in order.
    pub(super) fn scans_through(&self, l: &Loop, inside: &[(usize, &Tile)]) -> Checked {
        let scan = |s: usize| self.stage(s).scan.filter(|scan| scan.dim == l.dim.0);
        let scans = inside.iter().filter_map(|(s, _)| Some((*s, scan(*s)?)));
        let mut first = None;
        for (s, scan) in scans {
            if self.left[l.dim.0] != Left::Whole && !self.nest().is_unit(l.dim.0) || l.split != Split::One {
                return Err(format!("{} runs along {}, which loops divide", self.name(s), l.dim));
            }
            if *first.get_or_insert(scan.reverse) != scan.reverse {
                return Err(format!(
                    "{} runs the other way along {} than what is in the same loop",
                    self.name(s),
                    l.dim
                ));
            }
        }
        Ok(())
    }

    /// What is combined along the columns or as it goes.
    pub(super) fn combined(&self, place: &Place) -> Checked {
        let (s, tile) = (place.stage.number, &place.tile);
        let (stage, name) = (self.stage(s), self.name(s));
        let scanned = self.nest().scanned(stage);
        let col = tile.cols.map(|dim| dim.0);
        if stage.scatter.is_some() {
            return match tile.rows {
                Some(rows) => Err(format!("{name} writes at indices, and its tile has rows along {rows}")),
                None => Ok(()),
            };
        }
        if stage.joint.is_some() && tile.cols.is_some() && tile.space != self.of.region.machine.registers.to_string() {
            return Err(format!("{name} combines by a region on a tile in '{}', not in registers", tile.space));
        }
        if stage.joint.is_some() && (col.is_some_and(|col| stage.combines_along(col))) {
            return Err(format!("{name} combines by a region, which goes element by element and not along columns"));
        }
        let rows = tile.rows.filter(|rows| !matches!(self.left[rows.0], Left::Index | Left::Tile(1)));
        if let Some(rows) = rows.filter(|rows| stage.combines_along(rows.0)) {
            return Err(format!("{name} is combined along {rows}, the rows of its tile"));
        }
        if let Some(rows) = rows.filter(|_| scanned.is_some() || stage.joint.is_some() || self.in_parts(s)) {
            return Err(format!(
                "{name} is combined in a way that takes one row at a time, and its tile has rows along {rows}"
            ));
        }
        let along = col.is_some_and(|col| stage.reduced.contains(&col) || scanned == Some(col));
        // All columns of a row, or one of them, are no more than there are, and in registers the end of a row is asked for.
        let in_registers = tile.space == self.of.region.machine.registers.to_string();
        if along
            && tile.padded
            && !in_registers
            && ![Left::Whole, Left::Index].contains(&self.left[col.unwrap_or_default()])
        {
            return Err(format!("{name} is combined along columns that are padded with zeros"));
        }
        self.columnwise(place, along)?;
        if scanned.is_some() && scanned == col && self.left[col.unwrap_or_default()] != Left::Whole {
            return Err(format!("{name} runs along columns that loops divide"));
        }
        Ok(())
    }

    /// What is combined for each column on its own, until the loop along which it is combined ends.
    pub(super) fn columnwise(&self, place: &Place, along: bool) -> Checked {
        if !place.columnwise {
            return Ok(());
        }
        let (s, tile) = (place.stage.number, &place.tile);
        let (stage, name) = (self.stage(s), self.name(s));
        let in_registers = tile.space == self.of.region.machine.registers.to_string();
        let Some(col) = tile.cols.filter(|_| along && stage.scan.is_none() && stage.joint.is_none()) else {
            return Err(format!("{name} is placed columnwise, and not combined along the columns of its tile"));
        };
        if !in_registers || !tile.padded {
            return Err(format!("{name} is placed columnwise, on a tile that is not in registers or not padded"));
        }
        // The innermost loop that adds to it is where it is carried.
        let tiles = self.around.iter().rev().find(|l| stage.combines_along(l.dim.0));
        if tiles.is_none_or(|l| l.dim != col || l.is_grid()) {
            return Err(format!("{name} is placed columnwise, and no loop goes through tiles of its columns {col}"));
        }
        if self.online.iter().any(|online| online.extreme == s) {
            return Err(format!("{name} is placed columnwise, and online: it is needed before the loop ends"));
        }
        Ok(())
    }
}
