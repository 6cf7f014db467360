//! Products of narrow numbers: a contraction takes several places of the sum, and tiles are those of the machine's instruction.

use sutura_dialects::schedule::{Dim, Kernel, Loop, Node, Runs, Split};

use super::product::{Product, several};
use super::{each, in_grid};

/// Fewest panels that leave groups for threads where a group has many rows.
const PANELS: i64 = 8;

impl Product<'_, '_> {
    /// The dim of which a contraction takes several places.
    pub(super) fn summed_together(&self) -> Option<usize> {
        self.plan.sums.last().copied().filter(|_| self.step > 1)
    }

    /// Tiles are as high as the machine has an instruction for.
    pub(super) fn take_heights_of_machine(&mut self) {
        let Some(factors) = self.plan.narrow.filter(|_| self.step > 1) else { return };
        let (machine, columns) = (self.region.machine, self.tile.1);
        let height = |rows: i64| machine.narrow_height(&factors, (rows, columns));
        let most = height(self.tile.0);
        self.tile.0 = most;
        self.lower.retain(|lower| height(lower.rows) == lower.rows && lower.rows < most);
    }

    /// Tiles of rows that a group has of a product of narrow numbers: as many as stay in half of what is kept near while the panels go by. A
    /// product of bytes takes so little time that it waits where all rows come from far for each panel. `None` where all of them stay.
    pub(super) fn tiles_together(&self) -> Option<i64> {
        let factors = self.plan.narrow.filter(|_| self.step > 1)?;
        let bytes = i64::from(self.nest.cx.bit_width(factors.elem)?.div_ceil(8));
        let length = self.plan.row_length(self.nest).as_const()?;
        let (row, near) = (self.plan.row()?, self.region.machine.near_bytes / 2);
        let rows = near / length.saturating_mul(bytes).max(1);
        let fits = self.region.facts.range(&self.extent(row)).1 <= i128::from(rows);
        let many = self.panels().as_const().is_some_and(|panels| panels >= PANELS);
        Some(rows / self.tile.0).filter(|tiles| *tiles > 1 && many && !fits)
    }
}

/// Loops over what is summed, outermost first; the last one takes as many places as a contraction does.
pub(super) fn sums(product: &Product<'_, '_>, body: Vec<Node>) -> Vec<Node> {
    let last = product.summed_together();
    let in_turn = |body, dim: &usize| match Some(*dim) == last {
        true => vec![Node::Loop(Loop::new(Dim(*dim), Split::By(product.step), Runs::InTurn, body))],
        false => vec![each(*dim, body)],
    };
    product.plan.sums.iter().rev().fold(body, in_turn)
}

/// Groups that have several tiles of rows each: those of a block of rows follow each other.
pub(super) fn in_blocks(product: &Product<'_, '_>, (row, tiles): (usize, i64), body: Vec<Node>) -> Kernel {
    let (rows, columns) = product.tile;
    let body = several((row, rows, rows * tiles), body);
    let outer = product.panel_dims().into_iter().chain(product.outer_rows().iter().copied());
    let blocks = [(row, Split::By(rows * tiles)), (product.plan.col(), Split::By(columns))];
    Kernel::new(in_grid(outer.map(|dim| (dim, Split::One)).chain(blocks).collect(), body))
}
