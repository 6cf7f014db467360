//! Products of narrow numbers: a contraction takes several places of the sum, and tiles are those of the machine's instruction.

use sutura_dialects::schedule::{Bring, Dim, Kernel, Loop, Node, Operand, Runs, Split, Tile};

use super::product::{Product, several};
use super::{each, in_grid, place, stage_name};

/// Fewest panels that leave groups for threads where a group has many rows.
const PANELS: i64 = 8;

/// Most rows at a time of what follows a product whose sums come from memory near.
const ROWS: i64 = 8;

impl Product<'_, '_> {
    /// The dim of which a contraction takes several places.
    pub(super) fn summed_together(&self) -> Option<usize> {
        self.plan.sums.last().copied().filter(|_| self.step > 1)
    }

    /// True where the numbers of a row of the left factor lie side by side, as those do that a group makes.
    fn lhs_lies_along_sum(&self) -> bool {
        let lhs = &self.stage().inputs[self.plan.lhs];
        let last = lhs.index.last().and_then(|e| self.nest.plain(*e));
        !self.plan.left.is_empty() || last.is_some() && last == self.plan.sums.last().copied()
    }

    /// True where the tiles of the product lie in registers that only multiply.
    pub(super) fn only_multiplies(&self) -> bool {
        self.region.machine.only_multiplies(&self.space)
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

/// Loops over what is summed around a contraction in tiles of so many rows. Where the number of rows is open, a tile asks for each row whether it
/// exists. By weights that the compiler has packed, a trip has as many places of the sum as an instruction for the tile, so that it asks once for
/// all of them.
pub(super) fn sums_of_tile(product: &Product<'_, '_>, rows: i64, body: Vec<Node>) -> Vec<Node> {
    let facts = &product.region.facts;
    let range = product.plan.row().map(|row| facts.range(&product.extent(row)));
    let asks = range.is_some_and(|(least, most)| least < most) && product.lhs_lies_along_sum();
    let weights = product.keeps_near() && product.packs && product.packs_constants();
    let Some((last, outer)) = product.plan.sums.split_last().filter(|_| product.step == 1 && asks && weights) else {
        return sums(product, product.step, body);
    };
    let mut of_machine = product.region.machine.places((rows, product.tile.1));
    let places = of_machine.find(|places| facts.divisible(&product.extent(*last), *places));
    let split = places.map_or(Split::One, Split::By);
    let body = vec![Node::Loop(Loop::new(Dim(*last), split, Runs::InTurn, body))];
    outer.iter().rev().fold(body, |body, dim| vec![each(*dim, body)])
}

/// Loops over what is summed, outermost first; the last one takes so many places where a contraction takes several.
pub(super) fn sums(product: &Product<'_, '_>, places: i64, body: Vec<Node>) -> Vec<Node> {
    let last = product.summed_together();
    let in_turn = |body, dim: &usize| match Some(*dim) == last {
        true => vec![Node::Loop(Loop::new(Dim(*dim), Split::By(places), Runs::InTurn, body))],
        false => vec![each(*dim, body)],
    };
    product.plan.sums.iter().rev().fold(body, in_turn)
}

/// A tile of a product of so many rows, which `body` makes, and what follows it. Registers that only multiply hand their sums over in memory
/// near, from where a few rows at a time go on. Nothing follows parts of a sum.
pub(super) fn followed(product: &Product<'_, '_>, rows: i64, (tile, mut body): (&Tile, Vec<Node>)) -> Vec<Node> {
    let (nest, plan, machine) = (product.nest, product.plan, product.region.machine);
    if product.split.is_some() {
        return body;
    }
    let on = |tile: &Tile| plan.rest.iter().map(|s| Node::Place(place(nest, *s, tile))).collect::<Vec<_>>();
    let reader = nest.stages[plan.stage].results[0].slot.and_then(|slot| {
        let reads = |s: &usize| nest.stages[*s].inputs.iter().position(|read| read.slot == Some(slot));
        plan.rest.iter().find_map(|s| Some((*s, reads(s)?)))
    });
    let Some((stage, input)) = reader.filter(|_| product.only_multiplies()) else {
        body.extend(on(tile));
        return body;
    };
    let near = Tile { rows: None, space: machine.cache.to_string(), ..tile.clone() };
    let made = Operand { body, ..Operand::new((stage_name(nest, stage), input), near, Bring::Cache) };
    let rest = on(&Tile { space: machine.registers.to_string(), padded: false, ..tile.clone() });
    let few = (1..=ROWS).rev().find(|few| rows % few == 0).unwrap_or(1);
    let rest = plan.row().map_or(rest.clone(), |row| several((row, few, rows), rest));
    [Node::Operand(made)].into_iter().chain(rest).collect()
}

/// Groups that have several tiles of rows each: those of a block of rows follow each other.
pub(super) fn in_blocks(product: &Product<'_, '_>, (row, tiles): (usize, i64), body: Vec<Node>) -> Kernel {
    let (rows, columns) = product.tile;
    let body = several((row, rows, rows * tiles), body);
    let outer = product.panel_dims().into_iter().chain(product.outer_rows().iter().copied());
    let blocks = [(row, Split::By(rows * tiles)), (product.plan.col(), Split::By(columns))];
    Kernel::new(in_grid(outer.map(|dim| (dim, Split::One)).chain(blocks).collect(), body))
}
