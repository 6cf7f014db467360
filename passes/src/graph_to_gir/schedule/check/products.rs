//! Contractions, and the factors that are packed for them.

use std::collections::HashMap;

use sutura_dialects::schedule::{Dim, Place, Split};

use super::{Check, Checked, Left, Panels};
use crate::region::contract::{check_product, narrow_factors};

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
        // Tiles of narrow factors are whole.
        let narrow = narrow_factors(nest, stage).is_some();
        let whole = |dim: usize| match self.left[dim] {
            Left::Tile(by) => shared || narrow && self.of.region.facts.divisible(&nest.extents[dim], by),
            _ => false,
        };
        if let Some(dim) = second.or(first.filter(|dim| !whole(**dim))) {
            return Err(format!(
                "the contraction {name} is placed where d{dim}, which it sums over, has more than one index"
            ));
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
        [lhs, rhs].into_iter().try_for_each(|i| {
            match self.panels.get(&(s, i)).filter(|_| self.near.contains(&(s, i))) {
                Some(Panels { loops, columns }) => self.in_loops_of(place, (i, rhs), loops, *columns),
                None if self.near.contains(&(s, i)) => Ok(()),
                None => self.packed(place, i, rhs),
            }
        })
    }

    /// A packed factor is read in the loops that it was packed in.
    fn packed(&self, place: &Place, input: usize, rhs: usize) -> Checked {
        let Some(packed) = self.flow.packed.get(&(place.stage.number, input)) else { return Ok(()) };
        self.in_loops_of(place, (input, rhs), &packed.loops, Left::Whole)
    }

    /// What is left of the dims is what the loops that packed a factor had, and of its columns what these have or all.
    fn in_loops_of(
        &self,
        place: &Place,
        (input, rhs): (usize, usize),
        loops: &[(usize, Split)],
        whole: Left,
    ) -> Checked {
        let name = self.name(place.stage.number);
        if input != rhs {
            return Err(format!("input {input} of {name} is packed, and has no columns there"));
        }
        let col = place.tile.cols.map_or(usize::MAX, |dim| dim.0);
        let divided: HashMap<usize, Split> = loops.iter().copied().collect();
        let columns = match divided.get(&col) {
            Some(Split::By(by)) => Left::Tile(*by),
            _ => whole,
        };
        if self.left[col] != columns && !self.nest().is_unit(col) {
            return Err(format!("input {input} of {name} was packed in other columns than it is read in"));
        }
        let narrow = narrow_factors(self.nest(), self.stage(place.stage.number)).is_some();
        let alike = |dim: usize, split: Split| match (self.left[dim], split) {
            // Of narrow factors, which are whole, a contraction may take several of the groups that were packed.
            (Left::Tile(by), Split::By(packed)) => by == packed || narrow && packed > 0 && by % packed == 0,
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
