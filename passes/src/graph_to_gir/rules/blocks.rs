//! Blocks of rows: a group does several rows one after another, so that what is the same for all of them, the scale and
//! the shift of a normalisation for one, is moved out of memory once per group and not once per row.
//!
//! How many is a matter of what is left to share among threads: a group has [`MOST`] elements at most, and [`ROWS`] rows,
//! from where on less than a sixteenth is left to save. Where that makes no more than [`FEW`] blocks, each row is a group.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::maps::each_symbol;
use sutura_dialects::schedule::{Bring, Node, Operand, Tile};
use sutura_ir::Value;
use sutura_ir::affine::AffineExpr;

use super::stage_name;
use crate::region::cost::value_text;
use crate::region::{Access, Nest, RowPlan};

/// Rows of a group.
pub(super) const ROWS: i64 = 16;

/// Blocks up to which there are too few groups to share among threads.
pub(super) const FEW: i64 = 4;

/// Elements of a group's rows.
const MOST: i64 = 1 << 15;

/// Rows that a group does one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Block {
    /// The dim of the rows.
    pub(super) dim: usize,
    /// Rows of a group; the last one may have fewer.
    pub(super) rows: i64,
    /// Every group has so many.
    pub(super) whole: bool,
}

impl Block {
    /// The blocks of a region whose groups have `rows` rows and `columns` columns at most, and what is said of them; nothing
    /// where nothing is the same for several rows.
    pub(super) fn of(
        nest: &Nest<'_>,
        plan: &RowPlan,
        facts: &Facts,
        (rows, columns): (i64, i64),
    ) -> Option<(Option<Self>, String)> {
        let most = |d: usize| i64::try_from(facts.range(&nest.extents[d]).1).unwrap_or(i64::MAX);
        let dims = plan.rows.iter().rev().copied().filter(|d| !nest.is_unit(*d) && most(*d) > 1);
        let (dim, names) = dims.map(|d| (d, shared(nest, plan, d))).find(|(_, names)| !names.is_empty())?;
        let fit = MOST / columns.max(1);
        let (names, all) = (names.join(", "), &nest.extents[dim]);
        let rows = fit.min(rows).min(most(dim));
        if rows < 2 {
            let why = match fit {
                ..2 => format!("a row of up to {columns} elements is enough for a group"),
                _ => "its mapping says so".to_owned(),
            };
            return Some((None, format!("a group has one of {all} rows and reads {names} for each: {why}")));
        }
        let said = format!("a group has {rows} of {all} rows and reads {names} once for all of them");
        Some((Some(Self { dim, rows, whole: facts.divisible(all, rows) }), said))
    }

    /// What is the same for all rows of a group that has these stages and loops, brought near once.
    pub(super) fn shared(&self, nest: &Nest<'_>, (stages, loops): (&[usize], &[usize]), tile: &Tile) -> Vec<Node> {
        let col = tile.cols.map(|dim| dim.0);
        let mut seen: Vec<(Value, &[AffineExpr])> = Vec::new();
        let mut nodes = Vec::new();
        for s in stages {
            for (input, read) in nest.stages[*s].inputs.iter().enumerate() {
                if is_shared(nest, (loops, col), read, self.dim) && !seen.contains(&(read.value, &read.index)) {
                    seen.push((read.value, &read.index));
                    let (stage, tile) = (stage_name(nest, *s), tile.clone());
                    nodes.push(Node::Operand(Operand::new((stage, input), tile, Bring::Tile)));
                }
            }
        }
        nodes
    }
}

/// Names of what is read along the columns, the same for all indices of `dim`.
fn shared(nest: &Nest<'_>, plan: &RowPlan, dim: usize) -> Vec<String> {
    let mut values: Vec<Value> = Vec::new();
    for read in nest.stages.iter().flat_map(|s| &s.inputs) {
        if is_shared(nest, (&plan.loops, plan.col), read, dim) && !values.contains(&read.value) {
            values.push(read.value);
        }
    }
    values.iter().map(|v| value_text(nest.cx, nest.body, *v)).collect()
}

/// True for a read of memory along the columns whose place depends neither on `dim` nor on a loop nor on what is picked.
fn is_shared(nest: &Nest<'_>, (loops, col): (&[usize], Option<usize>), read: &Access, dim: usize) -> bool {
    let moves = loops.iter().chain([&dim]).any(|d| nest.mentions(read, *d));
    let mut picked = false;
    read.index.iter().for_each(|expr| each_symbol(nest.cx, *expr, &mut |i| picked |= nest.symbols.size(i).is_none()));
    read.slot.is_none() && col.is_some_and(|c| nest.mentions(read, c)) && !moves && !picked
}
