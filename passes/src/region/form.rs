//! What the ops of a region do: the structured form, and beside it what that form has no word for: reads by index, and
//! running combinations.
//!
//! An index that is read stands in an access as an affine symbol. Its number is that of a [`PickForm`], which says what
//! is read to know it; every unit that mentions the symbol has the pick.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::kinds::BinaryKind;
use sutura_dialects::graph::{Combiner, ComputeForm, GatherElementsOp, GatherOp, IteratorKind, ScanOp, described};
use sutura_ir::affine::{AffineExpr, AffineExprData, AffineMap};
use sutura_ir::{Attr, BlockRef, Context, OpRef, Value};

/// An op of a region.
#[derive(Clone)]
pub(super) struct Form<'a> {
    pub(super) op: OpRef<'a>,
    /// The tensors that are read, one per input map.
    pub(super) inputs: Vec<Value>,
    pub(super) iterators: Vec<IteratorKind>,
    /// Extents of the iterators, where types tell.
    pub(super) extents: Vec<Option<Poly>>,
    pub(super) input_maps: Vec<AffineMap>,
    pub(super) result_maps: Vec<AffineMap>,
    pub(super) combiners: Vec<Combiner>,
    pub(super) oob: Vec<Option<Attr>>,
    /// Along which iterator, a parallel one, what is read is combined as it goes.
    pub(super) scan: Option<Scan>,
    /// The scalar function; absent where results are what is read.
    pub(super) body: Option<BlockRef<'a>>,
    /// The indices that accesses mention; one that another one's access mentions comes before it.
    pub(super) picks: Vec<PickForm>,
}

/// A running combination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scan {
    /// The iterator, or the region's dim, along which it runs.
    pub dim: usize,
    /// Each element is left out of its own combination.
    pub exclusive: bool,
    /// From the last element to the first.
    pub reverse: bool,
}

/// An index that is read from a tensor.
#[derive(Clone, Debug)]
pub(super) struct PickForm {
    /// Number of its symbol among the region's.
    pub(super) symbol: usize,
    /// The tensor of indices.
    pub(super) indices: Value,
    /// Where it is read, in the iterators.
    pub(super) index: Vec<AffineExpr>,
    /// How many indices there are.
    pub(super) size: Poly,
    /// What messages call the op that reads by index.
    pub(super) what: String,
}

impl<'a> Form<'a> {
    /// What `op` does, if that is known; `next` numbers its symbols.
    pub(super) fn of(op: OpRef<'a>, facts: &Facts, next: &mut usize) -> Option<Self> {
        if let Some(form) = ComputeForm::of(op) {
            return Some(Self {
                op,
                inputs: form.inputs().collect(),
                extents: form.extents(),
                iterators: form.iterators,
                input_maps: form.input_maps,
                result_maps: form.result_maps,
                combiners: form.combiners,
                oob: form.oob,
                scan: None,
                body: Some(form.body),
                picks: vec![],
            });
        }
        if let Some(scan) = op.as_::<ScanOp<'a>>() {
            return Self::of_scan(op, scan);
        }
        let (data, indices, axis, elements) = if let Some(gather) = op.as_::<GatherOp<'a>>() {
            (gather.data(), gather.indices(), gather.axis(), false)
        } else {
            let gather = op.as_::<GatherElementsOp<'a>>()?;
            (gather.data(), gather.indices(), gather.axis(), true)
        };
        let symbol = *next;
        *next += 1;
        Self::of_gather(op, facts, (data, indices, axis as usize), elements, symbol)
    }

    fn of_scan(op: OpRef<'a>, scan: ScanOp<'a>) -> Option<Self> {
        let extents = symbolic_shape(op.cx, op.ty(scan.input()))?;
        let map = op.cx.identity_map(extents.len() as u32);
        let (exclusive, reverse) = (scan.exclusive(), scan.reverse());
        Some(Self {
            op,
            inputs: vec![scan.input()],
            iterators: vec![IteratorKind::Parallel; extents.len()],
            extents,
            input_maps: vec![map],
            result_maps: vec![map],
            combiners: vec![scan.combiner()],
            oob: vec![None],
            scan: Some(Scan { dim: scan.axis() as usize, exclusive, reverse }),
            body: None,
            picks: vec![],
        })
    }

    fn of_gather(
        op: OpRef<'a>,
        facts: &Facts,
        (from, at, axis): (Value, Value, usize),
        elements: bool,
        symbol: usize,
    ) -> Option<Self> {
        let cx = op.cx;
        let shape = |v: Value| symbolic_shape(cx, op.ty(v));
        let (data, indices, result) = (shape(from)?, shape(at)?, shape(op.result(0))?);
        let size = facts.canonical(data.get(axis)?.as_ref()?);
        let dim = |i: usize| cx.affine_dim(i as u32);
        // The indices' dimensions stand where the axis was.
        let (ends, rank) = (if elements { 1 } else { indices.len() }, result.len());
        let read: Vec<AffineExpr> = (0..data.len())
            .map(|d| match d.cmp(&axis) {
                std::cmp::Ordering::Less => dim(d),
                std::cmp::Ordering::Equal => cx.affine_symbol(symbol as u32),
                std::cmp::Ordering::Greater => dim(d + ends - 1),
            })
            .collect();
        let index = if elements { (0..rank).map(dim).collect() } else { (axis..axis + ends).map(dim).collect() };
        // Where there may be nothing to read, a number that nobody looks at stands for it.
        let empty = facts.range(&size).0 < 1;
        let elem = cx.element_type(op.ty(from));
        Some(Self {
            op,
            inputs: vec![from],
            iterators: vec![IteratorKind::Parallel; rank],
            extents: result,
            input_maps: vec![map_of(cx, rank, &read)],
            result_maps: vec![cx.identity_map(rank as u32)],
            combiners: vec![],
            oob: vec![empty.then(|| super::compose::one(cx, elem))],
            scan: None,
            body: None,
            picks: vec![PickForm { symbol, indices: at, index, size, what: described(op) }],
        })
    }

    /// The tensors that are made, one per result map.
    pub(super) fn results(&self) -> impl ExactSizeIterator<Item = Value> + Clone + 'a {
        self.op.results()
    }

    /// Iterators of one kind.
    pub(super) fn of_kind(&self, kind: IteratorKind) -> impl Iterator<Item = usize> + '_ {
        self.iterators.iter().enumerate().filter(move |(_, k)| **k == kind).map(|(i, _)| i)
    }

    /// True where an element is made of several, so that one alone is not cheaper than all of them.
    pub(super) fn combines(&self) -> bool {
        self.scan.is_some() || self.iterators.contains(&IteratorKind::Reduce)
    }
}

/// True for a scalar op that divides integers by what may be 0.
pub(crate) fn divides(op: OpRef<'_>) -> bool {
    let by_zero = |divisor| op.constant(divisor).and_then(|c| op.cx.as_int(c)).is_none_or(|n| n == 0);
    BinaryKind::of_scalar_op(op.name_str()).is_some_and(BinaryKind::divides_integers) && by_zero(op.operand(1))
}

/// A map over `dims` iterators and the symbols that the expressions mention.
pub(super) fn map_of(cx: &Context, dims: usize, exprs: &[AffineExpr]) -> AffineMap {
    let mut symbols = 0;
    exprs.iter().for_each(|e| each_symbol(cx, *e, &mut |s| symbols = symbols.max(s as u32 + 1)));
    cx.affine_map(dims as u32, symbols, exprs)
}

/// Looks at the symbols of an expression.
pub(crate) fn each_symbol(cx: &Context, expr: AffineExpr, look: &mut impl FnMut(usize)) {
    match cx.affine_data(expr) {
        AffineExprData::Symbol(i) => look(i as usize),
        AffineExprData::Binary(_, a, b) => {
            each_symbol(cx, a, look);
            each_symbol(cx, b, look);
        }
        AffineExprData::Const(_) | AffineExprData::Dim(_) => {}
    }
}

/// True when an expression mentions the symbol.
pub(super) fn mentions_symbol(cx: &Context, expr: AffineExpr, symbol: usize) -> bool {
    let mut found = false;
    each_symbol(cx, expr, &mut |s| found |= s == symbol);
    found
}

/// The expression with symbol `i` replaced by `to(i)`.
pub(crate) fn replace_symbols(cx: &Context, expr: AffineExpr, to: &dyn Fn(usize) -> AffineExpr) -> AffineExpr {
    match cx.affine_data(expr) {
        AffineExprData::Symbol(i) => to(i as usize),
        AffineExprData::Const(_) | AffineExprData::Dim(_) => expr,
        AffineExprData::Binary(op, a, b) => {
            cx.affine_binary(op, replace_symbols(cx, a, to), replace_symbols(cx, b, to))
        }
    }
}
