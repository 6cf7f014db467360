//! Contractions of tiles of which only some rows exist.
//!
//! The last tile of an extent seldom has all its rows, and a short extent has no other. Rows that do not exist are not computed: what
//! a row costs stands behind the question whether it exists, within the code of the row before. So a trip of the loop over the sum
//! leaves at the first row that is missing, and a tile takes the time of the rows that it has.
//!
//! Of columns the last vector is left out where none of its columns exist.

use std::collections::HashSet;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Axis;
use sutura_dialects::gir::ops::*;
use sutura_dialects::gir::types::{TileType, ViewType};
use sutura_ir::{Op, OpRef, OpView, Type, Value};

use crate::gir_lowering::emit::{Emit, Pred};
use crate::gir_lowering::kernel::{Held, Lowered, Lowering};
use crate::gir_lowering::memory::{AxisVal, SliceVal, Window};
use crate::gir_lowering::tile::{Parts, RegTile};
use crate::gir_lowering::units::Contraction;

/// Where rows end: rows from the offset on exist while they are below the size.
#[derive(Clone, PartialEq, Eq)]
struct End {
    offset: Value,
    size: Poly,
}

/// How many rows of a contraction exist.
#[derive(Clone)]
pub(in crate::gir_lowering) struct Existing {
    end: End,
    count: Value,
    /// The first row does.
    some: bool,
}

/// A left factor that is read row by row where it is multiplied.
#[derive(Clone)]
pub(in crate::gir_lowering) struct LeftRows {
    slice: SliceVal,
    cols: i64,
    /// Numbers of a word, where words are multiplied.
    group: Option<i64>,
}

/// The left factor of a contraction.
enum Left {
    Read(RegTile),
    Later(LeftRows),
}

impl<'a> Lowering<'a, '_> {
    /// Counts the existing rows of contractions in a loop before it, where that is known outside it.
    pub(in crate::gir_lowering) fn count_rows(&mut self, this: &ForOp<'a>) -> Lowered<'a, ()> {
        if self.gpu.is_some() {
            return Ok(());
        }
        let mut contractions = Vec::new();
        this.op_ref().walk(&mut |op| {
            if op.is::<ContractOp>() || op.is::<IntrinsicOp>() {
                contractions.push(op);
            }
        });
        for (op, along) in contractions.into_iter().flat_map(|op| [Axis::Rows, Axis::Cols].map(|along| (op, along))) {
            let known = self.existing.contains_key(&(op.op, along));
            let Some(end) = (if known { None } else { self.end_of_sums(op, along) }) else { continue };
            let Some(existing) = self.existing(end)? else { continue };
            self.existing.insert((op.op, along), existing);
        }
        Ok(())
    }

    /// Nothing where all rows are known to exist.
    fn existing(&mut self, end: End) -> Lowered<'a, Option<Existing>> {
        let rows_open = |this: &mut Self, rows: i64| this.open_ends(end.offset, &end.size, &rows.into(), 1);
        let (below, none) = rows_open(self, 1);
        let Some(Held::Index(at)) = self.held.get(&end.offset).cloned() else { return Ok(None) };
        if below || (self.assume_full && self.judged.contains(&end.offset)) {
            return Ok(None);
        }
        let size = self.size(&end.size);
        let size = self.at(self.kernel.op, size)?;
        let count = self.e.subi(size, at);
        Ok(Some(Existing { end, count, some: !none }))
    }

    /// Where the rows of a contraction's sums end, or the columns, by the stores that all it is used for goes to; nothing where
    /// those beyond are used, or what is computed of them could be noticed.
    fn end_of_sums(&mut self, op: OpRef<'a>, along: Axis) -> Option<End> {
        let sums = self.tile_type(op, op.operand(2));
        let of_sums = if along == Axis::Rows { &sums.rows } else { &sums.cols };
        let all = of_sums.as_const().filter(|all| *all > 1)?;
        let (mut ends, mut seen, mut next) = (Vec::new(), HashSet::new(), Vec::new());
        next.extend(op.results().map(|result| (result, along)));
        while let Some((value, along)) = next.pop() {
            if !seen.insert((value, along)) {
                continue;
            }
            let ty = op.cx.type_as::<TileType>(op.ty(value))?;
            let extent = if along == Axis::Rows { &ty.rows } else { &ty.cols };
            if extent.as_const() != Some(all) || !self.machine.in_registers(ty) {
                return None;
            }
            for used in op.body.uses(value) {
                match row_by_row(op.at(used.owner), used.index, along)? {
                    Goes::To(values, along) => next.extend(values.into_iter().map(|value| (value, along))),
                    Goes::Stored(end) => ends.push(end),
                }
            }
        }
        let first = ends.pop()?;
        let open = self.open_ends(first.offset, &first.size, &all.into(), 1).1;
        (open && ends.iter().all(|end| *end == first)).then_some(first)
    }

    /// The rows of a left factor, where its contraction reads those that exist.
    pub(in crate::gir_lowering) fn rows_later(
        &mut self,
        this: &LoadOp<'a>,
        slice: &SliceVal,
        cols: i64,
    ) -> Lowered<'a, Option<LeftRows>> {
        let op = this.op_ref();
        let mut uses = op.body.uses(op.result(0));
        let (Some(used), None) = (uses.next(), uses.next()) else { return Ok(None) };
        let user = op.at(used.owner);
        let existing = self.existing.get(&(user.op, Axis::Rows)).cloned();
        let Some(existing) = existing.filter(|_| used.index == 0) else { return Ok(None) };
        let made = op.body.defining_op(this.slice()).and_then(|made| op.at(made).as_::<SliceOp>());
        let Some(of) = made else { return Ok(None) };
        let as_stored =
            slice.row.window.is_full() || end_of_slice(&of, Axis::Rows).is_some_and(|end| end == existing.end);
        let plain = this.pad().is_none() && slice.exists.is_none() && slice.col.window.is_full();
        if !as_stored || !plain || !unchanged_between(op, user) {
            return Ok(None);
        }
        let group = match self.contraction(user)? {
            Some(Contraction::Fused) => None,
            Some(Contraction::Dot(_)) => match self.group_of_words(slice, cols) {
                Some(group) => Some(group),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(LeftRows { slice: slice.clone(), cols, group }))
    }

    /// A contraction of which not all rows and vectors exist; nothing where they do.
    pub(in crate::gir_lowering) fn contract_existing(&mut self, op: OpRef<'a>) -> Lowered<'a, Option<RegTile>> {
        let Some(contraction) = self.contraction(op)? else { return Ok(None) };
        let existing = self.existing.get(&(op.op, Axis::Rows)).cloned();
        let narrow = self.last_vector(op);
        if existing.is_none() && narrow.is_none() {
            return Ok(None);
        }
        let left = match self.held.get(&op.operand(0)).cloned() {
            Some(Held::LeftRows(rows)) => Left::Later(rows),
            _ => Left::Read(self.tile(op, op.operand(0))?),
        };
        let (right, sums) = (self.tile(op, op.operand(1))?, self.tile(op, op.operand(2))?);
        let unsigned =
            op.as_::<ContractOp>().map(|this| [this.unsigned_lhs(), this.unsigned_rhs()]).unwrap_or_default();
        let row = |e: &mut Emit<'_>, at: i64, (right, sums): (&RegTile, &RegTile)| {
            let left = left.row(e, at)?;
            match contraction {
                Contraction::Fused => e.contract_tiles((&left, right, sums), unsigned),
                Contraction::Dot(dot) => e.dot_tiles(dot, (&left, right, sums)),
                Contraction::Matrix(name) => Err(format!("'{name}' has no rows")),
            }
        };
        let existing = existing.as_ref();
        let all = |e: &mut Emit<'_>| e.rungs((existing, 0), (&right, &sums), &row);
        let without_last = |e: &mut Emit<'_>| {
            let (right, fewer) = (right.without_last(), sums.without_last());
            let values = e.rungs((existing, 0), (&right, &fewer), &row)?;
            Ok(sums.with_first(&fewer.with_values(sums.elem, &values)).values())
        };
        let types: Vec<Type> = sums.values().into_iter().map(|value| self.e.ty(value)).collect();
        let lanes = self.e.lanes_of_columns(sums.cols);
        let values = self.e.with_lanes(lanes, |e| match narrow {
            Some(last_exists) => e.if_else(last_exists, &types, all, without_last),
            None => all(e),
        });
        let values = self.at(op, values)?;
        let tile = sums.with_values(sums.elem, &values);
        Ok(Some(RegTile { row_window: left.window(), col_window: right.col_window, ..tile }))
    }

    /// Whether a column of a contraction's last vector exists, where that is known at run time only.
    fn last_vector(&mut self, op: OpRef<'a>) -> Option<Value> {
        let existing = self.existing.get(&(op.op, Axis::Cols)).cloned()?;
        let cols = self.tile_type(op, op.operand(2)).cols.as_const()?;
        let lanes = self.e.lanes_of_columns(cols);
        let before = (cols / lanes - 1) * lanes;
        let never = existing.end.size.as_const().is_some_and(|size| !(1..=before).contains(&(size % cols)));
        if cols <= lanes || cols % lanes != 0 || never {
            return None;
        }
        let before = self.e.i64(before);
        Some(self.e.cmpi(Pred::Slt, before, existing.count))
    }
}

/// What becomes of a tile's rows.
enum Goes {
    To(Vec<Value>, Axis),
    Stored(End),
}

/// Where the rows of a tile go that an operation takes, or its columns, each on its own; nothing where they meet, or one is checked.
/// Behind a transposition rows are columns.
fn row_by_row(user: OpRef<'_>, index: usize, along: Axis) -> Option<Goes> {
    let to = |values: Vec<Value>| Some(Goes::To(values, along));
    if let Some(store) = user.as_::<StoreOp>() {
        let slice = user.body.defining_op(store.slice()).and_then(|made| user.at(made).as_::<SliceOp>())?;
        return end_of_slice(&slice, along).map(Goes::Stored);
    }
    if let Some(this) = user.as_::<ForOp>() {
        let carried = index - 2;
        let inside = this.body().entry()?.args()[1 + carried];
        return to(vec![inside, user.result(carried)]);
    }
    if user.name_str() == "gir.yield" {
        let around = user.at(user.body.parent_op(user.op)?).as_::<ForOp>()?;
        let inside = around.body().entry()?.args()[1 + index];
        return to(vec![inside, around.op_ref().result(index)]);
    }
    if user.is::<TransposeOp>() {
        let turned = if along == Axis::Rows { Axis::Cols } else { Axis::Rows };
        return Some(Goes::To(user.results().collect(), turned));
    }
    let contracts = user.is::<ContractOp>() || user.is::<IntrinsicOp>();
    let elementwise = user.is::<UnaryOp>()
        || user.is::<TernaryOp>()
        || user.is::<CompareOp>()
        || user.is::<CastOp>()
        || user.is::<BroadcastOp>()
        || user.is::<MoveOp>()
        || user.as_::<BinaryOp>().is_some_and(|this| !this.kind().divides_integers())
        || user.as_::<ReduceOp>().is_some_and(|this| this.axis() != along)
        || (contracts && index != if along == Axis::Rows { 1 } else { 0 });
    if elementwise { to(user.results().collect()) } else { None }
}

/// Where the rows of a slice end, or its columns.
fn end_of_slice(slice: &SliceOp<'_>, along: Axis) -> Option<End> {
    let op = slice.op_ref();
    let view = op.cx.type_as::<ViewType>(op.ty(slice.view()))?;
    let (dim, step) = match along {
        Axis::Rows => (slice.row_dim()?, slice.row_step()),
        Axis::Cols => (slice.col_dim()?, slice.col_step()),
    };
    let dim = usize::try_from(dim).ok()?;
    let end = End { offset: slice.offsets().nth(dim)?, size: view.dims[dim].clone() };
    (step == 1).then_some(end)
}

/// Whether nothing between two operations of a block, the first before the second, can write what the first reads.
fn unchanged_between(first: OpRef<'_>, second: OpRef<'_>) -> bool {
    let body = first.body;
    let Some(block) = body.op_block(first.op).filter(|block| body.op_block(second.op) == Some(*block)) else {
        return false;
    };
    let writes = |op: &Op| {
        let op = first.at(*op);
        op.regions().next().is_some() || op.is::<StoreOp>() || op.is::<AsyncCopyOp>() || op.is::<SyncOp>()
    };
    let behind = body.ops(block).skip_while(|op| *op != first.op).take_while(|op| *op != second.op);
    !behind.skip(1).any(|op| writes(&op))
}

impl Left {
    fn window(&self) -> Window {
        match self {
            Self::Read(tile) => tile.row_window,
            Self::Later(later) => later.slice.row.window,
        }
    }

    /// One row of it.
    fn row(&self, e: &mut Emit<'_>, at: i64) -> Result<RegTile, String> {
        match self {
            Self::Read(tile) => Ok(tile.row(at)),
            Self::Later(LeftRows { slice, cols, group, .. }) => {
                let index = e.i64(at);
                let row = AxisVal { stride: None, step: None, window: Window::FULL };
                let base = e.address(slice, slice.row.stride.map(|_| index), None);
                let slice = SliceVal { base, row, ..slice.clone() };
                match group {
                    Some(group) => e.left_words(&slice, (1, *cols), *group),
                    None => e.load_tile(&slice, 1, *cols, true),
                }
            }
        }
    }
}

impl RegTile {
    /// The tile without the last vector of each row.
    fn without_last(&self) -> Self {
        let (Parts::Scalars(rows) | Parts::Vectors(rows)) = &self.parts;
        let fewer: Vec<Vec<Value>> = rows.iter().map(|row| row[..row.len() - 1].to_vec()).collect();
        let cols = self.cols / rows[0].len() as i64 * fewer[0].len() as i64;
        Self { cols, parts: Parts::Vectors(fewer), ..self.clone() }
    }

    /// The tile with the vectors of another one that has fewer.
    fn with_first(&self, fewer: &Self) -> Self {
        let (Parts::Scalars(all) | Parts::Vectors(all)) = &self.parts;
        let (Parts::Scalars(first) | Parts::Vectors(first)) = &fewer.parts;
        let of = |(all, first): (&Vec<Value>, &Vec<Value>)| [&first[..], &all[first.len()..]].concat();
        Self { parts: Parts::Vectors(all.iter().zip(first).map(of).collect()), ..self.clone() }
    }

    /// One row of it.
    fn row(&self, at: i64) -> Self {
        let of = |rows: &[Vec<Value>]| vec![rows[at as usize].clone()];
        let parts = match &self.parts {
            Parts::Scalars(rows) => Parts::Scalars(of(rows)),
            Parts::Vectors(rows) => Parts::Vectors(of(rows)),
        };
        Self { rows: 1, parts, row_window: Window::FULL, ..self.clone() }
    }
}

/// Computes one row of sums, with the right factor.
type RowOf<'f> = dyn Fn(&mut Emit<'_>, i64, (&RegTile, &RegTile)) -> Result<RegTile, String> + 'f;

impl Emit<'_> {
    /// The registers of sums from row `at` on, after those rows that exist have been computed.
    fn rungs(
        &mut self,
        (existing, at): (Option<&Existing>, i64),
        (right, sums): (&RegTile, &RegTile),
        row: &RowOf<'_>,
    ) -> Result<Vec<Value>, String> {
        let rest: Vec<Value> = (at..sums.rows).flat_map(|row| sums.row(row).values()).collect();
        let here = |e: &mut Self| {
            let mut values = row(e, at, (right, &sums.row(at)))?.values();
            if at + 1 < sums.rows {
                values.extend(e.rungs((existing, at + 1), (right, sums), row)?);
            }
            Ok(values)
        };
        let Some(existing) = existing.filter(|existing| at > 0 || !existing.some) else { return here(self) };
        let index = self.i64(at);
        let exists = self.cmpi(Pred::Slt, index, existing.count);
        let types: Vec<Type> = rest.iter().map(|value| self.ty(*value)).collect();
        self.if_else(exists, &types, here, |_| Ok(rest.clone()))
    }
}
