//! Loops that leave out what a choice hides: keys that a causal mask, a window or blocks do not let a query see.
//!
//! A choice between what is and the identity of an extreme, by where an index lies, hides all outside a range. There powers relative to
//! the extreme are 0, so a loop that has it online sums zeros up: it may run through the tiles between the least beginning and the
//! greatest end of its rows alone. A zero times an infinity is no zero. So what weights are multiplied by is looked at once, where it is
//! brought near, and where not all of it is finite nothing is left out.

use sutura_dialects::arith::CmpIPredicate;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Axis as Direction;
use sutura_dialects::gir::kinds::{BinaryKind, CastKind, Combiner as TileCombiner, CompareKind, TernaryKind};
use sutura_dialects::gir::ops::{
    BinaryOp, CastOp, CompareOp, FillOp, IndexOp, IotaOp, LoadOp, PickOp, ReduceOp, TernaryOp,
};
use sutura_dialects::gir::types::{TileType, ViewType};
use sutura_dialects::graph;
use sutura_dialects::schedule::{Dim, Loop, Node, Tile as TileTree, walk};
use sutura_ir::affine::{AffineExpr, AffineOp};
use sutura_ir::registry::constant_value;
use sutura_ir::{OpRef, Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::scalars::identity;
use super::super::stages::Known;
use super::super::tiles::{Frame, Number};
use super::nodes::{Inside, State};
use super::online::Online;
use super::products::PackedView;
use super::ranges::{Range, Ranges};
use crate::region::{Nest, Stage};

/// What a stage shows of a dim: the indices from `first` on, and those before `behind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Reach {
    /// The stage that chooses.
    pub(super) stage: usize,
    /// The least index, where there is one.
    pub(super) first: Option<End>,
    /// The index behind the greatest one, where there is one.
    pub(super) behind: Option<End>,
}

/// An end of a range: a number of a row, and so many more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    row: Row,
    more: i64,
}

/// A number that is the same for all places of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Row {
    /// What the stage reads.
    Input(usize),
    /// An index along other dims.
    Index(AffineExpr),
}

impl End {
    /// True for an end that differs along a dim.
    pub(super) fn differs(&self, nest: &Nest<'_>, stage: usize, dim: usize) -> bool {
        match self.row {
            Row::Input(input) => nest.mentions(&nest.stages[stage].inputs[input], dim),
            Row::Index(index) => nest.mentions_expr(index, dim),
        }
    }
}

/// How deep comparisons may be joined.
const DEEPEST: usize = 16;

/// A comparison of the index along a dim with what is read, as seen from the index.
type Compared = (CmpIPredicate, Row);

impl Reach {
    /// What is shown along a dim of what an extreme is taken of.
    ///
    /// # Errors
    /// Says why that is no range.
    pub(in super::super) fn of(nest: &Nest<'_>, extreme: usize, dim: usize) -> Result<Self, String> {
        let taken = &nest.stages[extreme];
        let number = match &taken.inputs[..] {
            [read] => nest.maker(read),
            _ => None,
        };
        let number = number.ok_or("the region does not make what the extreme is taken of")?;
        let ranged = Choice::of(nest, taken, number, dim).and_then(|choice| choice.reach());
        ranged.ok_or_else(|| {
            "what the extreme is taken of is no choice by comparisons of an index with numbers of a row".to_owned()
        })
    }

    /// The ends that there are.
    pub(super) fn ends(&self) -> impl Iterator<Item = End> {
        self.first.into_iter().chain(self.behind)
    }
}

/// A stage that chooses between what is and nothing.
struct Choice<'n, 'a> {
    nest: &'n Nest<'a>,
    number: usize,
    stage: &'n Stage<'a>,
    dim: usize,
    condition: Value,
    /// The condition hides.
    hides: bool,
}

impl<'n, 'a> Choice<'n, 'a> {
    fn of(nest: &'n Nest<'a>, extreme: &Stage<'_>, number: usize, dim: usize) -> Option<Self> {
        let stage = &nest.stages[number];
        let plain = !stage.reduces() && stage.scan.is_none() && stage.scatter.is_none() && stage.results.len() == 1;
        let body = stage.body.filter(|_| plain)?;
        let made = |value: Value| stage.op.body.defining_op(value).map(|op| stage.op.at(op));
        let select = made(body.terminator()?.operand(0)).filter(|op| op.name_str() == "arith.select")?;
        let nothing = |value: Value| made(value).and_then(constant_value) == Some(identity(nest.cx, extreme, 0));
        let hides = match [1, 2].map(|arm| nothing(select.operand(arm))) {
            [true, false] => true,
            [false, true] => false,
            _ => return None,
        };
        Some(Self { nest, number, stage, dim, condition: select.operand(0), hides })
    }

    fn made(&self, value: Value) -> Option<OpRef<'a>> {
        self.stage.op.body.defining_op(value).map(|op| self.stage.op.at(op))
    }

    fn reach(&self) -> Option<Reach> {
        let mut found = Vec::new();
        self.compared(self.condition, DEEPEST, &mut found)?;
        let mut reach = Reach { stage: self.number, first: None, behind: None };
        for (kind, row) in found {
            // What hides is shown where the opposite holds.
            let kind = if self.hides { opposite(kind) } else { kind };
            let (end, more) = match kind {
                CmpIPredicate::Sge => (&mut reach.first, 0),
                CmpIPredicate::Sgt => (&mut reach.first, 1),
                CmpIPredicate::Slt => (&mut reach.behind, 0),
                CmpIPredicate::Sle => (&mut reach.behind, 1),
                _ => return None,
            };
            if end.replace(End { row, more }).is_some() {
                return None;
            }
        }
        Some(reach)
    }

    /// The comparisons that all have to hold, or of which one is enough to hide.
    fn compared(&self, condition: Value, depth: usize, found: &mut Vec<Compared>) -> Option<()> {
        // A range has two ends.
        let depth = depth.checked_sub(1).filter(|_| found.len() < 2)?;
        let op = self.made(condition)?;
        let joins = if self.hides { "arith.ori" } else { "arith.andi" };
        if op.name_str() == joins {
            return (0..2).try_for_each(|side| self.compared(op.operand(side), depth, found));
        }
        let predicate = self.nest.cx.as_int(op.prop("predicate").filter(|_| op.name_str() == "arith.cmpi")?)?;
        let kind = *CmpIPredicate::ALL.iter().find(|kind| **kind as i64 == predicate)?;
        let sides = [0, 1].map(|side| op.operand(side));
        let row = sides.map(|side| self.input(side).map(Row::Input).or_else(|| self.index(side).map(Row::Index)));
        let [along, other] = sides.map(|side| self.index(side) == Some(self.nest.cx.affine_dim(self.dim as u32)));
        found.push(match (along, row[1], other, row[0]) {
            (true, Some(row), false, _) => (kind, row),
            (false, _, true, Some(row)) => (turned(kind), row),
            _ => return None,
        });
        Some(())
    }

    /// The index that a value is, as an integer or not.
    fn index(&self, value: Value) -> Option<AffineExpr> {
        let op = self.made(value)?;
        match op.as_::<graph::IndexOp<'_>>() {
            Some(index) => *self.stage.iterators.get(usize::try_from(index.iterator()).ok()?)?,
            None if op.name_str() == "arith.index_cast" => {
                let index = self.made(op.operand(0))?.as_::<graph::IndexOp<'_>>()?;
                *self.stage.iterators.get(usize::try_from(index.iterator()).ok()?)?
            }
            None => None,
        }
    }

    /// Which input a value is, if that is an integer of a tensor that does not differ along the dim.
    fn input(&self, value: Value) -> Option<usize> {
        let input = self.stage.body?.args().iter().position(|arg| *arg == value)?;
        let read = &self.stage.inputs[input];
        let outside = read.slot.is_none() && read.oob.is_none() && !self.nest.mentions(read, self.dim);
        let elem = self.nest.cx.element_type(self.nest.body.ty(read.value));
        (outside && [Type::I32, Type::I64].contains(&elem)).then_some(input)
    }
}

fn opposite(kind: CmpIPredicate) -> CmpIPredicate {
    match kind {
        CmpIPredicate::Slt => CmpIPredicate::Sge,
        CmpIPredicate::Sge => CmpIPredicate::Slt,
        CmpIPredicate::Sgt => CmpIPredicate::Sle,
        CmpIPredicate::Sle => CmpIPredicate::Sgt,
        other => other,
    }
}

/// The same with its sides exchanged.
fn turned(kind: CmpIPredicate) -> CmpIPredicate {
    match kind {
        CmpIPredicate::Slt => CmpIPredicate::Sgt,
        CmpIPredicate::Sgt => CmpIPredicate::Slt,
        CmpIPredicate::Sle => CmpIPredicate::Sge,
        CmpIPredicate::Sge => CmpIPredicate::Sle,
        other => other,
    }
}

/// What sums of a loop multiply numbers by that are 0 where something is hidden.
pub(super) fn factors(nest: &Nest<'_>, online: &Online) -> Vec<(usize, usize)> {
    let made = nest.stages[online.relative].results[0].slot;
    let of_sum = |s: &usize| {
        let inputs = nest.stages[*s].inputs.iter().enumerate();
        inputs.filter(|(_, read)| read.slot != made).map(|(i, _)| (*s, i)).collect::<Vec<_>>()
    };
    online.sums.iter().flat_map(of_sum).collect()
}

impl Inside<'_, '_> {
    /// True for an operand of which a loop among nodes leaves a part out.
    pub(super) fn is_left_out(&self, at: (usize, usize), nodes: &[Node]) -> bool {
        let mut found = false;
        walk(nodes, &mut |node| {
            if let Node::Loop(l) = node
                && l.reach
                && let Ok(Some(online)) = Online::of(self.nest(), l)
            {
                found |= factors(self.nest(), &online).contains(&at);
            }
        });
        found
    }

    /// Whether all that lies in panels is finite: a number times 0, summed up, is 0 then alone.
    pub(super) fn all_finite(&self, e: &mut Emit<'_>, panels: &PackedView, counts: &[Poly]) -> Built<Value> {
        let ty: ViewType = e.b.cx().type_as::<ViewType>(e.b.body().ty(panels.view)).expect("a view").clone();
        let (Some(cols), elem) = (ty.dims.last().cloned(), ty.elem) else { unreachable!("panels have columns") };
        let space = self.of.region.machine.registers.clone();
        let tile = TileType { space, elem, rows: 1.into(), cols };
        let zeros = e.filled(0.0, &tile);
        let mut at = Vec::new();
        let sum = e.sum_of_panels(panels.view, (counts, &tile), (zeros, zeros), &mut at)?;
        let sum = ReduceOp::value(&mut e.b, e.loc, TileCombiner::Add, Direction::Cols, sum);
        let zero = e.filled(0.0, &TileType { cols: 1.into(), ..tile });
        Ok(CompareOp::value(&mut e.b, e.loc, CompareKind::Oeq, sum, zero))
    }

    /// The first trip of a loop in which something is shown, and that behind the last one.
    pub(super) fn bounds_reached(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (l, by): (&Loop, i64),
        known: &Known,
        state: &State,
    ) -> Built<(Value, Value)> {
        let refused = |why: &str| {
            let message = format!("{}: the loop over {} leaves out what is hidden, and {why}", super::REFUSED, l.dim);
            Box::new(self.of.region.op.error(message))
        };
        let running = state.online.as_ref().ok_or_else(|| refused("nothing is online"))?;
        let online = &running.online;
        let reach = Reach::of(self.nest(), online.extreme, l.dim.0).map_err(|why| refused(&why))?;
        let unknown = factors(self.nest(), online).into_iter().filter(|(s, i)| {
            let read = &self.nest().stages[*s].inputs[*i];
            !self.of.region.is_finite(read.value)
        });
        let Some(finite) = unknown.map(|at| state.finite.get(&at).copied()).collect::<Option<Vec<Value>>>() else {
            return Err(refused("what is multiplied by zeros may be infinite"));
        };
        let extent = &self.nest().extents[l.dim.0];
        let all = e.size(&extent.ceildiv(by));
        let mut known = known.clone();
        let mut end_at = |e: &mut Emit<'_>, end: End, combiner: TileCombiner, open: Value| {
            self.reached_end(e, ranges, (reach.stage, end, combiner), (l, open, &finite), &mut known)
        };
        let cx = e.b.cx();
        let [first_trip, trip_behind] = [AffineOp::FloorDiv, AffineOp::CeilDiv]
            .map(|op| cx.affine_binary(op, cx.affine_dim(0), cx.affine_const(by)));
        let mut first = e.constant(0);
        if let Some(end) = reach.first {
            let at = end_at(e, end, TileCombiner::MinSI, first)?;
            first = e.index(first_trip, &|_| at);
        }
        let mut behind = all;
        if let Some(end) = reach.behind {
            let whole = e.size(extent);
            let at = end_at(e, end, TileCombiner::MaxSI, whole)?;
            let map = cx.affine_map(1, 1, &[cx.affine_symbol(0), trip_behind]);
            behind = IndexOp::value(&mut e.b, e.loc, map, &[at, all]);
        }
        Ok((first, behind))
    }

    /// An end of what is shown of a dim to all rows of a tile, between 0 and its extent; `open` where something is not finite.
    fn reached_end(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (number, end, combiner): (usize, End, TileCombiner),
        (l, open, finite): (&Loop, Value, &[Value]),
        known: &mut Known,
    ) -> Built<Value> {
        let stage = &self.nest().stages[number];
        let several =
            |dim: &usize| matches!(ranges.0[*dim], Range::Tile { .. }) && end.differs(self.nest(), number, *dim);
        let rows = (0..ranges.0.len()).find(several).map(Dim);
        let frame = self.of.frame(e, ranges, &TileTree { rows, ..TileTree::default() });
        let one = |elem: Type| TileType { space: frame.registers.clone(), elem, rows: 1.into(), cols: 1.into() };
        let mut value = match end.row {
            Row::Index(index) => {
                let last = self.row_of(e, &frame, index, combiner == TileCombiner::MaxSI);
                e.index_tile(last, (&one(Type::INDEX), &one(Type::I64)))
            }
            Row::Input(input) => {
                let Number::Tile(tile) = self.of.arg(e, &frame, (stage.op, &stage.inputs[input]), known)? else {
                    return Emit::unsupported(stage.op, "compares an index with a constant that is no tensor");
                };
                let mut value = tile.value;
                if tile.shape.rows {
                    value = ReduceOp::value(&mut e.b, e.loc, combiner, Direction::Rows, value);
                }
                if tile.elem != Type::I64 {
                    let ty = e.b.cx().ext_type(one(Type::I64));
                    value = CastOp::value(&mut e.b, e.loc, CastKind::ExtSI, value, ty);
                }
                value
            }
        };
        // What is more than the number is added once that is held, so that no sum leaves its type.
        let cx = e.b.cx();
        let less = cx.affine_binary(AffineOp::Add, cx.affine_dim(0), cx.affine_const(-end.more));
        let whole = e.size(&self.nest().extents[l.dim.0]);
        let most = e.index(less, &|_| whole);
        let most = e.index_tile(most, (&one(Type::INDEX), &one(Type::I64)));
        let [least, more] = [-end.more, end.more].map(|n| e.whole_number(n, &one(Type::I64)));
        value = BinaryOp::value(&mut e.b, e.loc, BinaryKind::MaxSI, value, least);
        value = BinaryOp::value(&mut e.b, e.loc, BinaryKind::MinSI, value, most);
        if end.more != 0 {
            value = BinaryOp::value(&mut e.b, e.loc, BinaryKind::AddI, value, more);
        }
        let open = e.index_tile(open, (&one(Type::INDEX), &one(Type::I64)));
        for finite in finite {
            value = TernaryOp::value(&mut e.b, e.loc, TernaryKind::Select, *finite, value, open);
        }
        // Between 0 and the extent: nothing is ever reported.
        let (size, position) = (e.size(&self.nest().extents[l.dim.0].add(&1.into())), e.constant(0));
        Ok(PickOp::value(&mut e.b, e.loc, value, size, position, "what a choice shows"))
    }
}

impl Inside<'_, '_> {
    /// An index in the first or in the last row of a frame; the last one may lie beyond the end of the dim.
    fn row_of(&self, e: &mut Emit<'_>, frame: &Frame, index: AffineExpr, last: bool) -> Value {
        let Some(rows) = frame.row.as_ref() else { return e.index(index, &|dim| frame.value(dim)) };
        let behind = rows.extent.as_const().filter(|_| last).map_or(0, |rows| rows - 1);
        let cx = self.nest().cx;
        let moved = cx.affine_binary(AffineOp::Add, cx.affine_dim(0), cx.affine_const(behind));
        let at = e.index(moved, &|_| rows.base);
        e.index(index, &|dim| if dim == rows.dim { at } else { frame.value(dim) })
    }
}

impl Emit<'_> {
    /// A tile of one float.
    fn filled(&mut self, number: f64, ty: &TileType) -> Value {
        let cx = self.b.cx();
        let (constant, ty) = (cx.float_attr(number, ty.elem), cx.ext_type(ty.clone()));
        FillOp::value(&mut self.b, self.loc, constant, ty)
    }

    /// A tile of one integer.
    fn whole_number(&mut self, number: i64, ty: &TileType) -> Value {
        let cx = self.b.cx();
        let (constant, ty) = (cx.int_attr(number, ty.elem), cx.ext_type(ty.clone()));
        FillOp::value(&mut self.b, self.loc, constant, ty)
    }

    /// An index as a tile of an integer.
    fn index_tile(&mut self, index: Value, (of, to): (&TileType, &TileType)) -> Value {
        let [of, to] = [of, to].map(|ty| self.b.cx().ext_type(ty.clone()));
        let tile = IotaOp::value(&mut self.b, self.loc, Direction::Cols, index, of);
        CastOp::value(&mut self.b, self.loc, CastKind::IndexCast, tile, to)
    }

    /// What panels add up to, each number times 0, with what was summed before.
    fn sum_of_panels(
        &mut self,
        view: Value,
        (counts, tile): (&[Poly], &TileType),
        (zeros, sum): (Value, Value),
        at: &mut Vec<Value>,
    ) -> Built<Value> {
        if let Some(count) = counts.get(at.len()).cloned() {
            let sums = self.for_loop(&count, &[sum], &mut |e, trip, sums| {
                at.push(trip);
                let sum = e.sum_of_panels(view, (counts, tile), (zeros, sums[0]), at)?;
                at.pop();
                Ok(vec![sum])
            })?;
            return Ok(sums[0]);
        }
        let mut offsets = at.clone();
        offsets.push(self.constant(0));
        let col = offsets.len() as i64 - 1;
        let slice = self.window(view, &offsets, (None, Some(col)), (1.into(), tile.cols.clone()));
        let to = self.b.cx().ext_type(tile.clone());
        let numbers = LoadOp::value(&mut self.b, self.loc, slice, None, to);
        let nothing = BinaryOp::value(&mut self.b, self.loc, BinaryKind::Mul, numbers, zeros);
        Ok(BinaryOp::value(&mut self.b, self.loc, BinaryKind::Add, sum, nothing))
    }
}
