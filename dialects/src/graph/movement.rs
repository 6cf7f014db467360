//! Where elements come from: what ops that move elements, and look at none, say of positions.
//!
//! A position is an affine expression over the dimensions of the result, one for each dimension of the operand. Where data or sizes
//! that are not known decide, there is none, and the reason stands in its place.

use sutura_ir::affine::{AffineExpr, AffineExprData, AffineOp};
use sutura_ir::registry::DialectBuilder;
use sutura_ir::{Context, OpRef, Value};

use super::maps;
use super::ops::{ComputeOp, ConcatOp, GatherElementsOp, GatherNdOp, GatherOp, ReshapeOp, SliceOp, YieldOp};
use super::scatter::ScatterOp;
use super::shape_fn::{ShapeEnv, slice_bounds, slice_range};
use super::structured::ComputeForm;
use super::verify::rank;
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;
use crate::quant::is_quantized;

/// Along a dimension of an operand: the index that the element at an index of the result has.
pub(super) type Position = Result<AffineExpr, String>;

/// The elements of a result that one operand gives.
pub(super) struct Movement {
    /// The operand.
    pub(super) from: usize,
    /// The result.
    pub(super) to: usize,
    /// One per dimension of the operand.
    pub(super) positions: Vec<Position>,
    /// A dimension of the result, and the indices along it at which elements are of this operand: from one to another, which is
    /// included. Along others they may be anywhere.
    pub(super) part: Option<(usize, Range)>,
}

/// Whole numbers from one to another, which is included. No size is beyond their limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub(super) low: i128,
    pub(super) high: i128,
}

/// Stands for what has no limit.
const FAR: i128 = 1 << 64;

impl Range {
    pub(super) const ALL: Self = Self { low: -FAR, high: FAR };

    /// Indices of that many elements.
    pub(super) fn below(size: Option<i64>) -> Self {
        Self { low: 0, high: size.map_or(FAR, |size| i128::from(size) - 1) }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    pub(super) fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// The number of the block that holds all, where one does.
    pub(super) fn block(self, size: i64) -> Option<i128> {
        let block = self.low.div_euclid(size.into());
        (block == self.high.div_euclid(size.into())).then_some(block)
    }
}

/// The values of an expression over indices in `dims`. They may be fewer.
pub(super) fn range(cx: &Context, expr: AffineExpr, dims: &[Range]) -> Range {
    let (op, a, b) = match cx.affine_data(expr) {
        AffineExprData::Const(value) => return Range { low: value.into(), high: value.into() },
        AffineExprData::Dim(dim) => return dims.get(dim as usize).copied().unwrap_or(Range::ALL),
        AffineExprData::Symbol(_) => return Range::ALL,
        AffineExprData::Binary(op, a, b) => (op, range(cx, a, dims), b),
    };
    let made = match (op, maps::constant(cx, b).map(i128::from)) {
        (AffineOp::Add, _) => {
            let b = range(cx, b, dims);
            Range { low: a.low + b.low, high: a.high + b.high }
        }
        // Numbers are within 65 bits and factors within 64.
        (AffineOp::Mul, Some(factor)) => {
            let (low, high) = (a.low.saturating_mul(factor), a.high.saturating_mul(factor));
            Range { low: low.min(high), high: low.max(high) }
        }
        (AffineOp::FloorDiv, Some(by)) if by > 0 => Range { low: a.low.div_euclid(by), high: a.high.div_euclid(by) },
        (AffineOp::CeilDiv, Some(by)) if by > 0 => {
            Range { low: -(-a.low).div_euclid(by), high: -(-a.high).div_euclid(by) }
        }
        (AffineOp::Mod, Some(by)) if by > 0 => match a.low.div_euclid(by) == a.high.div_euclid(by) {
            true => Range { low: a.low.rem_euclid(by), high: a.high.rem_euclid(by) },
            false => Range { low: 0, high: by - 1 },
        },
        _ => Range::ALL,
    };
    Range { low: made.low.clamp(-FAR, FAR), high: made.high.clamp(-FAR, FAR) }
}

/// An op that only moves elements: an interface.
pub(super) trait Moves: Send + Sync {
    /// From where each result has its elements; `None` where the op, as it stands, looks at elements.
    fn movements(&self, op: OpRef<'_>) -> Option<Vec<Movement>>;
}

impl<F: Fn(OpRef<'_>) -> Option<Vec<Movement>> + Send + Sync> Moves for F {
    fn movements(&self, op: OpRef<'_>) -> Option<Vec<Movement>> {
        self(op)
    }
}

/// Attaches what ops say of positions.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<ReshapeOp<'_>, dyn Moves>(&reshape);
    d.op_interface::<SliceOp<'_>, dyn Moves>(&slice);
    d.op_interface::<ConcatOp<'_>, dyn Moves>(&concat);
    d.op_interface::<GatherOp<'_>, dyn Moves>(&gather);
    d.op_interface::<GatherElementsOp<'_>, dyn Moves>(&gather_elements);
    d.op_interface::<GatherNdOp<'_>, dyn Moves>(&gather_nd);
    d.op_interface::<ScatterOp<'_>, dyn Moves>(&scatter);
    d.op_interface::<ComputeOp<'_>, dyn Moves>(&compute);
}

/// Of an op that is not well formed nothing is said: it is refused for that.
const NOT_WELL_FORMED: Option<Vec<Movement>> = Some(Vec::new());

/// All elements of the only result are of the first operand.
fn first(positions: Vec<Position>) -> Option<Vec<Movement>> {
    Some(vec![Movement { from: 0, to: 0, positions, part: None }])
}

/// The sizes that a type states: what scales say of sizes is checked elsewhere, behind what would rely on it.
fn sizes(op: OpRef<'_>, value: Value) -> Vec<Option<Poly>> {
    symbolic_shape(op.cx, op.ty(value)).unwrap_or_default()
}

fn dim(cx: &Context, dim: usize) -> AffineExpr {
    cx.affine_dim(dim as u32)
}

fn by_data() -> Position {
    Err("is indexed by data".to_owned())
}

/// Of as many dimensions as `op`'s operand `operand` has, those that `picked` holds are indexed by data; before them dimensions are those
/// of the result, and behind them they follow `shift` dimensions later.
fn picked(op: OpRef<'_>, operand: usize, picked: std::ops::Range<usize>, shift: i64) -> Vec<Position> {
    let position = |d: usize| match d {
        d if picked.contains(&d) => by_data(),
        d if d < picked.start => Ok(dim(op.cx, d)),
        d => usize::try_from(d as i64 + shift).map(|d| dim(op.cx, d)).or_else(|_| by_data()),
    };
    (0..rank(op, op.operand(operand))).map(position).collect()
}

fn gather(op: OpRef<'_>) -> Option<Vec<Movement>> {
    let Ok(axis) = usize::try_from(op.as_::<GatherOp<'_>>()?.axis()) else { return NOT_WELL_FORMED };
    first(picked(op, 0, axis..axis.saturating_add(1), rank(op, op.operand(1)) as i64 - 1))
}

fn gather_elements(op: OpRef<'_>) -> Option<Vec<Movement>> {
    let Ok(axis) = usize::try_from(op.as_::<GatherElementsOp<'_>>()?.axis()) else { return NOT_WELL_FORMED };
    first(picked(op, 0, axis..axis.saturating_add(1), 0))
}

fn gather_nd(op: OpRef<'_>) -> Option<Vec<Movement>> {
    let dims = op.as_::<GatherNdOp<'_>>()?.picked(op).filter(|dims| dims.end <= rank(op, op.operand(0)));
    let Some(dims) = dims else { return NOT_WELL_FORMED };
    let places = rank(op, op.operand(1)) as i64 - 1;
    let shift = places - dims.end as i64;
    first(picked(op, 0, dims, shift))
}

fn scatter(op: OpRef<'_>) -> Option<Vec<Movement>> {
    let this = op.as_::<ScatterOp<'_>>().filter(|this| this.combiner().is_none() && this.combine().count() == 0)?;
    let Some(dims) = this.picked(op) else { return NOT_WELL_FORMED };
    let (count, places) = (this.data().len(), rank(op, this.indices()).saturating_sub(1));
    let movements = |to: usize| {
        let from = count + 1 + to;
        let updates = match this.axis() {
            Some(_) => picked(op, from, dims.clone(), 0),
            None => picked(op, from, 0..places, dims.end as i64 - places as i64),
        };
        let data = (0..rank(op, op.operand(to))).map(|d| Ok(dim(op.cx, d))).collect();
        [(to, data), (from, updates)].map(|(from, positions)| Movement { from, to, positions, part: None })
    };
    Some((0..count).flat_map(movements).collect())
}

fn slice(op: OpRef<'_>) -> Option<Vec<Movement>> {
    let slice = op.as_::<SliceOp<'_>>()?;
    let (starts, ends) = slice_bounds(op, slice, &ShapeEnv::default());
    let of = |list: &[Option<Poly>], i: usize| list.get(i)?.as_ref()?.as_const();
    let position = |(d, size): (usize, Option<Poly>)| {
        let Some(i) = slice.axes().iter().position(|axis| *axis == d as i64) else { return Ok(dim(op.cx, d)) };
        let size = size.and_then(|size| size.as_const()).and_then(|size| usize::try_from(size).ok());
        let size = size.ok_or("is cut, and the type does not say its size")?;
        let step = *slice.steps().get(i).ok_or("has no step")?;
        let bounds = of(&starts, i).zip(of(&ends, i)).ok_or("is cut at places that are not constant")?;
        let (start, _) = slice_range(bounds.0, bounds.1, step, size);
        Ok(linear(op.cx, start, [(d, step)]))
    };
    first(sizes(op, op.operand(0)).into_iter().enumerate().map(position).collect())
}

/// A constant, and dimensions with factors.
fn linear(cx: &Context, constant: i64, terms: impl IntoIterator<Item = (usize, i64)>) -> AffineExpr {
    let add = |sum, (d, factor)| {
        let term = cx.affine_binary(AffineOp::Mul, dim(cx, d), cx.affine_const(factor));
        cx.affine_binary(AffineOp::Add, sum, term)
    };
    terms.into_iter().fold(cx.affine_const(constant), add)
}

fn concat(op: OpRef<'_>) -> Option<Vec<Movement>> {
    let Ok(axis) = usize::try_from(op.as_::<ConcatOp<'_>>()?.axis()) else { return NOT_WELL_FORMED };
    let mut before = Some(0i64);
    let movement = |(from, operand): (usize, Value)| {
        let rank = rank(op, operand);
        let size = sizes(op, operand).get(axis).cloned().flatten().and_then(|size| size.as_const());
        let size = size.filter(|size| *size >= 0);
        let offset = before;
        before = before.zip(size).and_then(|(before, size)| before.checked_add(size));
        let position = |d: usize| match offset {
            _ if d != axis => Ok(dim(op.cx, d)),
            Some(offset) => Ok(linear(op.cx, -offset, [(axis, 1)])),
            None => Err("stands behind tensors of which the types do not say the sizes".to_owned()),
        };
        let part = offset.map(|offset| {
            let Range { low, high } = Range::below(size);
            (axis, Range { low: low + i128::from(offset), high: high + i128::from(offset) })
        });
        Movement { from, to: 0, positions: (0..rank).map(position).collect(), part }
    };
    Some(op.operands().enumerate().map(movement).collect())
}

fn reshape(op: OpRef<'_>) -> Option<Vec<Movement>> {
    let cuts = Cuts::new(sizes(op, op.operand(0)), sizes(op, op.result(0)));
    first((0..cuts.from.len()).map(|d| cuts.position(op.cx, d)).collect())
}

/// Where shapes of the same elements can be cut: as many elements before, or behind, in both.
struct Cuts {
    from: Vec<Option<Poly>>,
    to: Vec<Option<Poly>>,
    before: [Vec<Option<Poly>>; 2],
    behind: [Vec<Option<Poly>>; 2],
}

/// Numbers of elements of the first dimensions: of none, of one, and so on.
fn products<'p>(sizes: impl Iterator<Item = &'p Option<Poly>>) -> Vec<Option<Poly>> {
    let mut product = Some(Poly::constant(1));
    let mut all = vec![product.clone()];
    for size in sizes {
        product = product.zip(size.as_ref()).map(|(product, size)| product.mul(size));
        all.push(product.clone());
    }
    all
}

impl Cuts {
    fn new(from: Vec<Option<Poly>>, to: Vec<Option<Poly>>) -> Self {
        let before = [products(from.iter()), products(to.iter())];
        let behind = [&from, &to].map(|sizes| products(sizes.iter().rev()).into_iter().rev().collect());
        Self { from, to, before, behind }
    }

    fn is_cut(&self, from: usize, to: usize) -> bool {
        [&self.before, &self.behind].into_iter().any(|[a, b]| a[from].is_some() && a[from] == b[to])
    }

    /// The index along dimension `d` of what is reshaped. Between the closest cuts elements have one order in both shapes.
    fn position(&self, cx: &Context, d: usize) -> Position {
        const UNKNOWN: &str = "is reshaped with sizes that are not known";
        let (all, many) = (0..=self.to.len(), self.from.len());
        let lower = (0..=d).rev().find_map(|a| Some((a, all.clone().rev().find(|b| self.is_cut(a, *b))?)));
        let (a, b) = lower.ok_or(UNKNOWN)?;
        let upper =
            (d + 1..=many).find_map(|end| Some((end, all.clone().find(|to| *to >= b && self.is_cut(end, *to))?)));
        let (a_end, b_end) = upper.ok_or(UNKNOWN)?;
        if a_end == a + 1 && b_end == b + 1 {
            return Ok(dim(cx, b));
        }
        let constant = |size: &Option<Poly>| size.as_ref().and_then(Poly::as_const);
        let product =
            |sizes: &[Option<Poly>]| sizes.iter().try_fold(1i64, |product, size| product.checked_mul(constant(size)?));
        let strides = (b..b_end).map(|r| Some((r, product(&self.to[r + 1..b_end])?)));
        let strides = strides.collect::<Option<Vec<_>>>().ok_or(UNKNOWN)?;
        let inner = product(&self.from[d + 1..a_end]).ok_or(UNKNOWN)?;
        let size = constant(&self.from[d]).ok_or(UNKNOWN)?;
        if inner < 1 || size < 1 {
            // There are no elements.
            return Ok(cx.affine_const(0));
        }
        let row = cx.affine_binary(AffineOp::FloorDiv, linear(cx, 0, strides), cx.affine_const(inner));
        Ok(cx.affine_binary(AffineOp::Mod, row, cx.affine_const(size)))
    }
}

/// What chooses between numbers.
const CHOICE: &str = "arith.select";

/// A function of elements that hands stored numbers on, or chooses between them.
fn compute(op: OpRef<'_>) -> Option<Vec<Movement>> {
    let form = ComputeForm::of(op).filter(|form| form.combiners.is_empty() && form.joint.is_none())?;
    let end = form.yielded().filter(|end| end.is::<YieldOp<'_>>())?;
    let known = |inner: OpRef<'_>| {
        let stored = inner.operand_types().chain(inner.result_types()).any(|ty| is_quantized(op.cx, ty));
        !stored || inner.is::<YieldOp<'_>>() || inner.name_str() == CHOICE
    };
    if !form.body.ops().all(known) {
        return None;
    }
    let mut movements = Vec::new();
    for (to, (value, map)) in end.operands().zip(&form.result_maps).enumerate() {
        // The dimension of the result along which an iterator runs.
        let along = |iterator: usize| {
            let dims = op.cx.map_results(*map).iter().map(|expr| maps::plain_dim(op.cx, *expr));
            dims.into_iter().position(|plain| plain == Some(iterator)).map_or(op.cx.affine_const(0), |d| dim(op.cx, d))
        };
        let size = |symbol: usize| match form.sizes.get(symbol).and_then(Poly::as_const) {
            Some(size) => op.cx.affine_const(size),
            None => op.cx.affine_symbol(symbol as u32),
        };
        for from in sources(&form, value) {
            let exprs = op.cx.map_results(*form.input_maps.get(from)?).iter();
            let position = |expr: &AffineExpr| {
                let expr = maps::replace_symbols(op.cx, *expr, &size);
                Ok(maps::replace_dims(op.cx, expr, &along))
            };
            movements.push(Movement { from, to, positions: exprs.map(position).collect(), part: None });
        }
    }
    Some(movements)
}

/// The inputs that a value of the body is, or is chosen from.
fn sources(form: &ComputeForm<'_>, value: Value) -> Vec<usize> {
    let (mut pending, mut seen, mut found) = (vec![value], std::collections::HashSet::new(), Vec::new());
    while let Some(value) = pending.pop() {
        if !seen.insert(value) {
            continue;
        }
        if let Some(arg) = form.body.args().iter().position(|arg| *arg == value) {
            found.push(arg);
        } else if let Some(op) = form.body.body.defining_op(value).map(|op| form.op.at(op))
            && op.name_str() == CHOICE
        {
            pending.extend(op.operands().skip(1));
        }
    }
    found.sort_unstable();
    found
}
