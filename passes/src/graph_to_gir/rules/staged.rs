//! Products of groups of several units, whose factors lie in the group's memory while all of its units need them.
//!
//! A group has a tile of the product for each unit, one below the other. Along the last of the dims that are summed over it goes
//! in blocks: every unit copies its part of a block of either factor into the group's memory, and when all have, each
//! adds what its rows and all columns of the block make. What lies beyond the end of a factor is zero there.
//!
//! Such blocks are what made products fast on GPUs: Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra" (SC 2008).

use sutura_dialects::schedule::{Bring, Dim, Kernel, Loop, Node, Operand, Place, Runs, Split, Tile};
use sutura_ir::Type;

use super::super::machine::{GroupTile, LowerTile};
use super::product::{Product, panels};
use super::{each, in_grid, place, stage_name};

/// Rows up to which a unit had better have rows of its own: half a group's tile would be computed in vain.
const FEW_ROWS: i64 = 32;

/// Places of a sum up to which copies and waiting are most of the work.
const FEW_PLACES: i128 = 8;

/// The kernel of a product in tiles of a group.
pub(super) fn kernel(product: &Product<'_, '_>, group: &GroupTile) -> Kernel {
    let (nest, plan) = (product.nest, product.plan);
    let row = plan.row().expect("a product of several units has rows");
    let (last, outer) = plan.sums.split_last().expect("there is a sum");
    let space = product.region.machine.registers.to_string();
    let tile = Tile { rows: Some(Dim(row)), cols: Some(Dim(plan.col())), space, padded: false };
    let in_turn = |dim: usize, by: i64, body| Node::Loop(Loop::new(Dim(dim), Split::By(by), Runs::InTurn, body));
    let shared = |input: usize, (rows, cols): (usize, usize)| {
        let tile = Tile { rows: Some(Dim(rows)), cols: Some(Dim(cols)), space: group.space.to_string(), padded: true };
        Node::Operand(Operand::new((stage_name(nest, plan.stage), input), tile, Bring::Cache))
    };
    let contract = Node::Place(Place { contract: true, ..place(nest, plan.stage, &tile) });
    let block = vec![
        shared(plan.lhs, (row, *last)),
        shared(plan.rhs, (*last, plan.col())),
        in_turn(*last, group.step, vec![contract]),
    ];
    let blocks = vec![in_turn(*last, group.depth, block)];
    let mut body = outer.iter().rev().fold(blocks, |body, dim| vec![each(*dim, body)]);
    body.extend(plan.rest.iter().map(|s| Node::Place(place(nest, *s, &tile))));
    let units = Node::Loop(Loop::new(Dim(row), Split::By(group.rows), Runs::Units, body));
    let outer = product.outer_rows().iter().map(|dim| (*dim, Split::One));
    let rows = (row, Split::By(group.rows * group.units));
    Kernel::new(in_grid(panels(product).into_iter().chain(outer).chain([rows]).collect(), vec![units]))
}

impl Product<'_, '_> {
    /// The tile of a group whose units share both factors, and the versions for few rows where there may be few; or why there is
    /// none. Nothing where the machine's groups have no memory for them.
    pub(super) fn shared_tile(&self) -> Option<Result<(GroupTile, Vec<LowerTile>), String>> {
        let (facts, plan, machine) = (&self.region.facts, self.plan, self.region.machine);
        if machine.group_tiles().is_empty() {
            return None;
        }
        let last = *plan.sums.last()?;
        let places = facts.range(&self.extent(last)).1;
        let tile = match machine.group_tile(self.tile.1, i64::try_from(places).unwrap_or(i64::MAX)) {
            Ok(tile) => tile,
            Err(why) => return Some(Err(why)),
        };
        let (least, most) = plan.row().map_or((1, 1), |row| facts.range(&self.extent(row)));
        let why = if most <= i128::from(FEW_ROWS) {
            format!("it has no more than {most} rows")
        } else if places <= FEW_PLACES {
            format!("its sums have no more than {places} places")
        } else if !plan.left.is_empty() {
            "its left factor is made by the groups".to_owned()
        } else if !self.left_lies_in_rows() {
            "the places of a sum do not lie side by side in its left factor".to_owned()
        } else {
            let few = if least <= i128::from(FEW_ROWS) { self.versions_for_few() } else { vec![] };
            return Some(Ok((tile, few)));
        };
        Some(Err(why))
    }

    /// The versions for as few rows as are not shared: the lower tiles for fewer, and one for the rest.
    fn versions_for_few(&self) -> Vec<LowerTile> {
        let all = LowerTile { rows: self.tile.0, most: FEW_ROWS };
        let mut few: Vec<LowerTile> = self
            .lower
            .iter()
            .chain([&all])
            .map(|lower| LowerTile { most: lower.most.min(FEW_ROWS), ..*lower })
            .collect();
        // Of versions for equally many rows only the first would run.
        few.dedup_by_key(|lower| lower.most);
        few
    }

    /// What is said of groups that share factors, or do not.
    pub(super) fn said_of_sharing(&self) -> Option<String> {
        let direct = || format!("a unit has a tile of {} x {} of the product for itself", self.tile.0, self.tile.1);
        match (&self.group_tile, self.shared_tile()?) {
            (Some(GroupTile { rows, columns, depth, units, space, .. }), _) => {
                let few = self.lower.last().map(|lower| format!("; up to {} rows a unit is a group", lower.most));
                let few = few.unwrap_or_default();
                let tile = format!("{} x {columns} of the product", units * rows);
                Some(format!(
                    "a group of {units} units has {tile}, and {depth} places of both factors in '{space}'{few}"
                ))
            }
            (None, Err(why)) => Some(format!("{}: {why}", direct())),
            (None, Ok(_)) => None,
        }
    }

    /// Whether the left factor is a tensor in which the places of a sum lie side by side.
    fn left_lies_in_rows(&self) -> bool {
        let lhs = &self.stage().inputs[self.plan.lhs];
        let dims: Option<Vec<usize>> = lhs.index.iter().map(|expr| self.nest.plain(*expr)).collect();
        let float = self.nest.cx.element_type(self.nest.body.ty(lhs.value)) == Type::F32;
        let inside = lhs.oob.is_none() && lhs.slot.is_none();
        float && inside && dims.is_some_and(|dims| dims.last() == self.plan.sums.last())
    }
}
