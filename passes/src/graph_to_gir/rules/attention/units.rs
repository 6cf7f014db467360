//! Groups of several units, which share blocks of keys and values in the group's memory.
//!
//! Every unit has a tile of queries of its own. Along the keys the group goes in blocks, of which every unit copies its share: first of
//! keys, then of values, into the same memory, as no unit needs both at a time, and half the memory is twice the groups on a
//! multiprocessor. What comes next is read while units compute with what is there.
//!
//! Keys lie in rows, as in memory: copies go straight, and a thread reads several places of its own key at once. Rows are an odd
//! number of such reads long, so neighbouring threads, which read neighbouring keys, read from different banks.

use sutura_dialects::schedule::{Bring, Dim, Kernel, Loop, Node, Operand, Place, Runs, Split, Tile};

use super::super::super::machine::{GroupTile, Machine};
use super::super::super::region::FusedRegion;
use super::super::{in_grid, place, stage_name};
use super::Softmax;
use crate::region::{Access, AttentionPlan, ContractPlan, Nest};

/// Queries up to which a group of one unit has as much to do.
const FEW_QUERIES: i128 = 16;

/// What a group has of an attention.
pub(super) struct Blocks {
    /// Queries of a unit.
    rows: i64,
    /// Keys of a block.
    keys: i64,
    /// Numbers of a value that a group has.
    columns: i64,
    /// Elements from a row of a block to the next.
    pitch: i64,
    /// Places of a sum that a contraction takes.
    step: i64,
    units: i64,
    space: String,
    registers: String,
}

impl Blocks {
    /// What a group has where units share blocks, or why they do not; for few queries they do only where blocks do not fit `alone`.
    /// Nothing where the machine's groups have no memory for them.
    pub(super) fn of(
        region: &FusedRegion<'_>,
        (nest, plan): (&Nest<'_>, &AttentionPlan),
        alone: bool,
    ) -> Option<Result<Self, String>> {
        if region.machine.group_tiles().is_empty() {
            return None;
        }
        let most = region.facts.range(&nest.extents[plan.query()]).1;
        if alone && most <= FEW_QUERIES {
            return Some(Err(format!("there are {most} queries at most")));
        }
        if !lie_in_rows(nest, plan) {
            let why = "the numbers of a query, a key or a value do not lie side by side";
            return Some(Err(why.to_owned()));
        }
        let [depth, width] = [plan.scores.sums[0], plan.values.col()].map(|dim| nest.extents[dim].as_const());
        let (depth, width) = (depth.expect("checked by the plan"), width.expect("checked by the plan"));
        if depth < 1 || width < 1 {
            return Some(Err(format!("queries and keys have {depth} numbers, and values {width}")));
        }
        let fitting = Self::fitting(region.machine, depth, width);
        Some(fitting.ok_or_else(|| format!("queries and keys of {depth} numbers and values of {width} do not fit")))
    }

    /// The most that fits the memory and the registers of a group. What is too much to be counted does not fit.
    fn fitting(machine: &Machine, depth: i64, width: i64) -> Option<Self> {
        let tiles = machine.group_tiles();
        // A thread has few keys: so few weights have to be combined, and high tiles of queries share what is read of a block.
        let keys = tiles.iter().map(|tile| tile.columns).min()?;
        let blocks = |tile: &GroupTile| {
            let of_rows = || tiles.iter().filter(|other| other.rows == tile.rows).map(|other| other.columns);
            let columns = of_rows().filter(|columns| *columns >= width).min().or_else(|| of_rows().max())?;
            let GroupTile { rows, step, units, ref space, .. } = *tile;
            let depth = depth.checked_add(step - 1)? / step * step;
            let reads = depth.max(columns) / step;
            let pitch = (reads + 1 - reads % 2).checked_mul(step)?;
            let (space, registers) = (space.to_string(), machine.registers.to_string());
            let blocks = Self { rows, keys, columns, pitch, step, units, space, registers };
            // Half the registers are for logits and factors.
            let in_registers = rows.checked_mul(columns)?.checked_mul(8)? <= machine.register_bytes();
            let queries = units.checked_mul(rows)?.checked_mul(depth.checked_add(keys)?)?;
            let bytes = keys.checked_mul(pitch)?.checked_add(queries)?.checked_mul(4)?;
            (keys % (units * step) == 0 && in_registers).then_some((blocks, bytes))
        };
        let of_keys = || tiles.iter().filter(|tile| tile.columns == keys).filter_map(&blocks);
        let fitting = |most: i64| of_keys().find(|(_, bytes)| *bytes <= most).map(|(blocks, _)| blocks);
        machine.group_budgets().into_iter().find_map(fitting)
    }

    /// In words.
    pub(super) fn said(&self) -> String {
        let Self { rows, keys, units, space, .. } = self;
        format!("a group of {units} units has {} queries, and {keys} keys and their values in '{space}'", units * rows)
    }

    /// The kernel of a nest in which weighted sums are scaled when they are complete.
    pub(super) fn kernel(&self, nest: &Nest<'_>, plan: &AttentionPlan, softmax: &Softmax) -> Kernel {
        let (query, key, column) = (plan.query(), plan.key(), plan.values.col());
        let scores = &plan.scores;
        let values = ContractPlan { stage: softmax.weighted, ..plan.values.clone() };
        let of_keys = self.tile(&self.registers, query, key);
        let place_on = |tile: &Tile, s: usize| Node::Place(place(nest, s, tile));
        let columnwise = |s: &usize| Node::Place(Place { columnwise: true, ..place(nest, *s, &of_keys) });
        let mut block =
            vec![self.share(nest, (scores, scores.rhs), (key, scores.sums[0])), self.product(nest, scores, &of_keys)];
        block.extend(plan.before.iter().chain([&softmax.extreme]).map(|s| place_on(&of_keys, *s)));
        let powers = [place_on(&of_keys, softmax.relative)].into_iter().chain(softmax.sums.iter().map(columnwise));
        let weights = (stage_name(nest, values.stage), values.lhs);
        let near = self.tile(&self.space, query, key);
        block.push(Node::Operand(Operand { body: powers.collect(), ..Operand::new(weights, near, Bring::Cache) }));
        block.push(self.share(nest, (&values, values.rhs), (key, column)));
        let of_values = self.tile(&self.registers, query, column);
        block.push(self.product(nest, &values, &of_values));
        let online = Some(stage_name(nest, softmax.extreme));
        let blocks = Loop { online, ..Loop::new(Dim(key), Split::By(self.keys), Runs::InTurn, block) };
        let mut body =
            vec![Node::Operand(self.near(nest, (scores, scores.lhs), (query, scores.sums[0]))), Node::Loop(blocks)];
        body.extend(softmax.rest.iter().map(|s| place_on(&of_values, *s)));
        let units = Node::Loop(Loop::new(Dim(query), Split::By(self.rows), Runs::Units, body));
        let outer = plan.outer().into_iter().map(|dim| (dim, Split::One));
        // A tile is as wide as the machine's, also where values have fewer numbers.
        let columns =
            (nest.extents[column].as_const() != Some(self.columns)).then_some((column, Split::By(self.columns)));
        let rows = (query, Split::By(self.rows * self.units));
        Kernel::new(in_grid(outer.chain(columns).chain([rows]).collect(), vec![units]))
    }

    fn tile(&self, space: &str, rows: usize, cols: usize) -> Tile {
        Tile { rows: Some(Dim(rows)), cols: Some(Dim(cols)), space: space.to_owned(), padded: true }
    }

    /// A factor in the memory of the group, made there where the region makes it.
    fn near(&self, nest: &Nest<'_>, (plan, input): (&ContractPlan, usize), (rows, cols): (usize, usize)) -> Operand {
        let makers = if input == plan.rhs { &plan.right } else { &plan.left };
        let made = self.tile(&self.registers, rows, cols);
        let body = makers.iter().map(|s| Node::Place(place(nest, *s, &made))).collect();
        let factor = (stage_name(nest, plan.stage), input);
        Operand { body, ..Operand::new(factor, self.tile(&self.space, rows, cols), Bring::Cache) }
    }

    /// Brings a block of keys or values near, which is read while units compute with the one before.
    fn share(&self, nest: &Nest<'_>, factor: (&ContractPlan, usize), along: (usize, usize)) -> Node {
        let whole = |read: &Access| nest.mentions(read, along.0) && nest.mentions(read, along.1);
        let ahead = factor.0.read_for(nest, factor.1).any(whole);
        Node::Operand(Operand { pitch: Some(self.pitch), ahead, ..self.near(nest, factor, along) })
    }

    /// A product, of which a contraction sums over several places.
    fn product(&self, nest: &Nest<'_>, plan: &ContractPlan, tile: &Tile) -> Node {
        let contract = Node::Place(Place { contract: true, ..place(nest, plan.stage, tile) });
        Node::Loop(Loop::new(Dim(plan.sums[0]), Split::By(self.step), Runs::InTurn, vec![contract]))
    }
}

/// Whether the numbers of a query, a key and a value lie side by side in memory: then copies of them read neighbours.
fn lie_in_rows(nest: &Nest<'_>, plan: &AttentionPlan) -> bool {
    let (scores, values) = (&plan.scores, &plan.values);
    scores.lies_along(nest, scores.lhs, scores.sums[0])
        && scores.lies_along(nest, scores.rhs, scores.sums[0])
        && values.lies_along(nest, values.rhs, values.col())
}
