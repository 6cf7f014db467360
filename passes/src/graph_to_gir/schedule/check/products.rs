//! Contractions, and the factors that are packed for them.

use sutura_dialects::schedule::{Dim, Place, Split, Tile};

use super::super::describe::called;
use super::{Check, Checked, Left};
use crate::region::Windows;
use crate::region::contract::{check_product, narrow_factors};

/// How an input lies that was packed, by this kernel or one before.
struct Packed<'p> {
    /// The loops in which it was packed, outermost first, and the tile that was written.
    loops: &'p [(usize, Split)],
    tile: &'p Tile,
    /// What was left of its columns around them.
    columns: Left,
    /// Places of a sum lie side by side, column by column.
    grouped: bool,
}

impl Check<'_, '_, '_> {
    pub(super) fn contraction(&self, place: &Place) -> Checked {
        let (s, tile) = (place.stage.number, &place.tile);
        let (stage, name, nest) = (self.stage(s), self.name(s), self.nest());
        check_product(nest, stage).map_err(|misfit| format!("{name} is no contraction: it {misfit}"))?;
        let machine = self.of.region.machine;
        if tile.space != machine.registers.to_string() && !machine.only_multiplies(&tile.space) {
            return Err(format!("the contraction {name} lies in '{}', not in registers", tile.space));
        }
        // Beyond the end of a dim, both factors are zero where units have brought them near.
        let shared = (0..2).all(|input| self.shared.contains(&(s, input)));
        let mut several = stage.reduced.iter().filter(|dim| self.left[**dim] != Left::Index);
        let (first, second) = (several.next(), several.next());
        // A processor's unit has all places of a sum, also where nobody has brought them near.
        let has_all = machine.windows() == Windows::Near || narrow_factors(nest, stage).is_some();
        let whole = |dim: usize| match self.left[dim] {
            Left::Tile(by) => shared || has_all && self.of.region.facts.divisible(&nest.extents[dim], by),
            _ => false,
        };
        if let Some(dim) = second.or(first.filter(|dim| !whole(**dim))) {
            let divided = match self.left[*dim] {
                Left::Tile(by) if has_all && second.is_none() => Some(by),
                _ => None,
            };
            return Err(match divided {
                Some(by) => format!(
                    "the contraction {name} takes {by} places of d{dim} at a time, which do not divide its {}",
                    nest.extents[*dim]
                ),
                None => format!(
                    "the contraction {name} is placed where d{dim}, which it sums over, has more than one index"
                ),
            });
        }
        // A unit that computes alone has all of the product.
        if let Some((dim, units)) = self.units.filter(|(dim, _)| !stage.parallel().any(|d| d == *dim)) {
            return Err(format!("the contraction {name} is computed by each of {units} units, which share d{dim}"));
        }
        let reads = |input: usize, dim: Option<Dim>| dim.is_some_and(|dim| nest.mentions(&stage.inputs[input], dim.0));
        let rhs = usize::from(!reads(0, tile.cols));
        let lhs = 1 - rhs;
        if !reads(rhs, tile.cols) || reads(lhs, tile.cols) {
            return Err(format!("the columns of {name} must be a dim of one of its factors"));
        }
        if tile.rows.is_some() && !reads(lhs, tile.rows) || reads(rhs, tile.rows) {
            return Err(format!("the rows of {name} must be a dim of the factor that the columns are not of"));
        }
        let elsewhere = |input: &&usize| {
            self.near.contains(&(s, **input))
                && stage.inputs[**input].slot.is_some()
                && stage.inputs[**input].oob.is_some()
        };
        if let Some(input) = [lhs, rhs].iter().find(elsewhere) {
            return Err(format!("input {input} of {name} may be read outside of what is kept near"));
        }
        [lhs, rhs].into_iter().filter(|i| self.is_in_panels((s, *i))).try_for_each(|i| match i == rhs {
            true => self.in_loops_of(place, i),
            false => Err(format!("input {i} of {name} is packed, and has no columns there")),
        })
    }

    /// Whether an input was packed, by this kernel or one before.
    pub(super) fn is_in_panels(&self, at: (usize, usize)) -> bool {
        match self.near.contains(&at) {
            true => self.panels.contains_key(&at),
            false => self.flow.packed.contains_key(&at),
        }
    }

    /// How an input lies that was packed.
    fn packed(&self, at: (usize, usize)) -> Option<Packed<'_>> {
        let near = self.panels.get(&at).filter(|_| self.near.contains(&at));
        let far = || {
            let packed = self.flow.packed.get(&at)?;
            let (loops, tile) = (&packed.loops[..], &packed.tile);
            Some(Packed { loops, tile, columns: Left::Whole, grouped: packed.grouped })
        };
        let near = near.map(|p| Packed { loops: &p.loops, tile: &p.tile, columns: p.columns, grouped: false });
        near.or_else(far)
    }

    /// How an input was packed; the columns of the place are those that it was packed in.
    fn in_columns(&self, place: &Place, input: usize) -> Result<Packed<'_>, String> {
        let name = self.name(place.stage.number);
        let other = || format!("input {input} of {name} was packed in other columns than it is read in");
        let packed = self.packed((place.stage.number, input)).ok_or_else(other)?;
        let col = packed.tile.cols.filter(|cols| place.tile.cols == Some(*cols)).ok_or_else(other)?.0;
        let columns = match packed.loops.iter().rev().find(|(dim, _)| *dim == col) {
            Some((_, Split::By(by))) => Left::Tile(*by),
            _ => packed.columns,
        };
        if self.left[col] != columns && !self.nest().is_unit(col) { Err(other()) } else { Ok(packed) }
    }

    /// A stage that is no contraction reads what was packed: the rows of its tile lie one behind the other there.
    pub(super) fn reads_panels(&self, place: &Place, input: usize) -> Checked {
        let (s, rows) = (place.stage.number, place.tile.rows.map(|rows| rows.0));
        let (name, read) = (self.name(s), &self.stage(s).inputs[input]);
        let along_sum = |tile: &Tile| tile.cols.is_some_and(|cols| self.stage(s).reduced.contains(&cols.0));
        if self.packed((s, input)).is_some_and(|packed| !along_sum(packed.tile)) {
            let tensor = called(self.nest(), read.value);
            return Err(format!(
                "{name} reads {tensor}, which was packed, and is no contraction: other places read only what was packed in columns along \
                 their sum"
            ));
        }
        let Packed { loops, tile, grouped, .. } = self.in_columns(place, input)?;
        let padded = place.tile.padded && tile.padded;
        if !padded || grouped || place.tile.space != self.of.region.machine.registers.to_string() {
            return Err(format!(
                "input {input} of {name} is packed, so it must be written and read on padded tiles in registers"
            ));
        }
        let all = |dim: usize| match self.left[dim] {
            Left::Whole | Left::Index => true,
            Left::Tile(by) => self.of.region.facts.divisible(&self.nest().extents[dim], by),
            _ => false,
        };
        if let Some(rows) = rows.filter(|rows| self.nest().mentions(read, *rows)) {
            let by_row = loops.iter().any(|(dim, split)| *dim == rows && *split == Split::One);
            if !(by_row && all(rows)) {
                return Err(format!(
                    "input {input} of {name} is read in rows that it was not packed in, or in parts that do not divide them"
                ));
            }
        }
        let columns = place.tile.cols.map(|cols| cols.0);
        let others = || loops.iter().filter(|(dim, _)| rows != Some(*dim) && columns != Some(*dim));
        match others().find(|(dim, split)| *split != Split::One || self.left[*dim] != Left::Index) {
            Some((dim, _)) => Err(format!(
                "input {input} of {name} was packed for each index of d{dim}, and is read where there is more than one"
            )),
            None => Ok(()),
        }
    }

    /// What is left of the dims is what the loops that packed a factor had, and of its columns what these have or all.
    fn in_loops_of(&self, place: &Place, input: usize) -> Checked {
        let name = self.name(place.stage.number);
        let loops = self.in_columns(place, input)?.loops;
        let col = place.tile.cols.map_or(usize::MAX, |dim| dim.0);
        let narrow = narrow_factors(self.nest(), self.stage(place.stage.number)).is_some();
        let alike = |dim: usize, split: Split| match (self.left[dim], split) {
            // Of narrow factors, which are whole, a contraction may take several of the groups that were packed.
            (Left::Tile(by), Split::By(packed)) => by == packed || narrow && packed > 0 && by % packed == 0,
            // Places of a sum that were packed one after the other are rows of a tile.
            (Left::Tile(_), Split::One) => self.stage(place.stage.number).reduced.contains(&dim),
            (left, Split::One) => left == Left::Index,
            _ => false,
        };
        match loops.iter().find(|(dim, split)| *dim != col && !alike(*dim, *split)) {
            Some((dim, _)) => Err(format!(
                "input {input} of {name} was packed for each index of d{dim}, and is read where there is more than one"
            )),
            None => Ok(()),
        }
    }
}
