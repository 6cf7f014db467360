//! Blocks of rows: a group does several rows one after another, so that what is the same for all of them, the scale and
//! the shift of a normalisation for one, is moved out of memory once per group and not once per row.
//!
//! How many is a matter of what is left to share among threads: a group has [`MOST`] elements at most, and [`ROWS`] rows,
//! from where on less than a sixteenth is left to save. Where that makes no more than [`FEW`] blocks, each row is a group.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::IndexOp;
use sutura_dialects::graph::maps::each_symbol;
use sutura_ir::affine::AffineOp;
use sutura_ir::{Context, Value};

use super::kernel::{Built, Emit};
use super::stages::{Known, Walk};
use super::tiles::Frame;
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
        Some((Some(Self { dim, rows }), said))
    }

    /// Groups along the dim.
    pub(super) fn groups(&self, nest: &Nest<'_>) -> Poly {
        nest.extents[self.dim].ceildiv(self.rows)
    }

    /// Runs `row` for each row of a group that has these stages and loops, with what is the same for all rows read before.
    pub(super) fn run(
        &self,
        e: &mut Emit<'_>,
        walk: &Walk<'_, '_>,
        (stages, loops): (&[usize], &[usize]),
        (mut frame, mut known): (Frame, Known),
        row: &mut dyn FnMut(&mut Emit<'_>, &Frame, Known) -> Built<()>,
    ) -> Built<()> {
        let group = frame.fixed[self.dim].take().expect("the dim is one of the grid");
        let nest = walk.nest;
        let col = frame.col.as_ref().map(|axis| axis.dim);
        for stage in stages.iter().map(|s| &nest.stages[*s]) {
            e.loc = stage.op.loc();
            for read in stage.inputs.iter().filter(|read| is_shared(nest, (loops, col), read, self.dim)) {
                walk.arg(e, &frame, (stage.op, read), &mut known)?;
            }
        }
        let bounds = self.bounds(e, (nest.cx, &walk.region.facts), &nest.extents[self.dim], group);
        e.for_range(bounds, &[], &mut |e, index, _| {
            let mut frame = frame.clone();
            frame.fixed[self.dim] = Some(index);
            row(e, &frame, known.clone())?;
            Ok(vec![])
        })?;
        Ok(())
    }

    /// First row, and the row behind the last one, of a group.
    fn bounds(&self, e: &mut Emit<'_>, (cx, facts): (&Context, &Facts), extent: &Poly, group: Value) -> (Value, Value) {
        let first = e.scaled(group, self.rows, None);
        let start = cx.affine_binary(AffineOp::Mul, cx.affine_dim(0), cx.affine_const(self.rows));
        let end = cx.affine_binary(AffineOp::Add, start, cx.affine_const(self.rows));
        let whole = facts.prove_equal(&self.ceil(extent), extent);
        let last = if whole {
            IndexOp::value(&mut e.b, e.loc, cx.affine_map(1, 0, &[end]), &[group])
        } else {
            let size = e.size(extent);
            IndexOp::value(&mut e.b, e.loc, cx.affine_map(1, 1, &[end, cx.affine_symbol(0)]), &[group, size])
        };
        (first, last)
    }

    /// The extent, rounded up to whole blocks.
    fn ceil(&self, extent: &Poly) -> Poly {
        extent.ceildiv(self.rows).scale(self.rows)
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
