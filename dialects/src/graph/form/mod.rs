//! What an op does as part of a region, an interface of its own: the structured form, and beside it what that form has no word
//! for: reads and writes by index, and running combinations.
//!
//! Fusion and the lowering to `gir` ask nothing else of an op. So an op of another crate that has a form is fused, composed
//! with its neighbours and compiled as those of `graph` are. An access mentions as affine symbols what is no iterator: indices
//! that are read, and sizes. [`Symbols`] numbers those of a region. The number of an index that is read is that of a
//! [`PickForm`], which says what is read to know it; every unit that mentions the symbol has the pick.

mod symbols;

use sutura_ir::affine::{AffineExpr, AffineMap};
use sutura_ir::registry::DialectBuilder;
use sutura_ir::{Attr, BlockRef, Context, OpRef, Value};

use super::combine::{Combiner, Joint};
use super::gather::described;
use super::maps::each_symbol;
use super::ops::{ComputeOp, GatherElementsOp, GatherNdOp, GatherOp, ScanOp};
use super::scatter::ScatterOp;
use super::structured::{ComputeForm, IteratorKind};
use crate::r#dyn::attr::symbolic_shape;
use crate::r#dyn::{Facts, Poly};

pub use symbols::Symbols;

/// An op that has a form. An interface.
pub trait FormOp: Send + Sync {
    /// What `op`, which has been verified, does, if its types tell; `symbols` gets those of its accesses.
    fn form<'a>(&self, op: OpRef<'a>, facts: &Facts, symbols: &mut Symbols) -> Option<Form<'a>>;
}

/// An op of a region.
#[derive(Clone)]
pub struct Form<'a> {
    pub op: OpRef<'a>,
    /// The tensors that are read, one per input map.
    pub inputs: Vec<Value>,
    pub iterators: Vec<IteratorKind>,
    /// Extents of the iterators, where types tell.
    pub extents: Vec<Option<Poly>>,
    pub input_maps: Vec<AffineMap>,
    pub result_maps: Vec<AffineMap>,
    pub combiners: Vec<Combiner>,
    /// What joins the contributions to all results at once; then there are no combiners.
    pub joint: Option<Joint<'a>>,
    pub oob: Vec<Option<Attr>>,
    /// Along which iterator, a parallel one, what is read is combined as it goes: by a combiner, or by [`Self::joint`].
    pub scan: Option<Scan>,
    /// Results are written at indices that are read, over what is there.
    pub scatter: Option<Scatter<'a>>,
    /// The scalar function; absent where results are what is read.
    pub body: Option<BlockRef<'a>>,
    /// The indices that accesses mention; one that another one's access mentions comes before it.
    pub picks: Vec<PickForm>,
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

/// What is written, or joined to what is there, at indices that are read; its result map mentions them.
#[derive(Clone)]
pub struct Scatter<'a> {
    /// What each result is at first.
    pub data: Vec<Value>,
    /// How what is written is joined to what is there, of one result; without this and a function it takes its place.
    pub combiner: Option<Combiner>,
    /// Takes what is there in each result, then what is written, and yields what is there then.
    pub joins: Option<BlockRef<'a>>,
}

/// An index that is read from a tensor.
#[derive(Clone, Debug)]
pub struct PickForm {
    /// Number of its symbol among the region's.
    pub symbol: usize,
    /// The tensor of indices.
    pub indices: Value,
    /// Where it is read, in the iterators.
    pub index: Vec<AffineExpr>,
    /// How many indices there are.
    pub size: Poly,
    /// What messages call the op that reads by index.
    pub what: String,
}

/// What an op reads by index.
struct Gather {
    data: Value,
    indices: Value,
    /// Dimensions of the data that are indexed.
    picked: std::ops::Range<usize>,
    /// Iterators at which an index is read.
    at: std::ops::Range<usize>,
    /// The last dimension of the indices counts the dimensions that are indexed.
    counted: bool,
    /// First iterator of the dimensions behind those that are indexed.
    rest: usize,
}

impl Gather {
    fn of(op: OpRef<'_>) -> Option<Self> {
        let rank = |v: Value| op.cx.shape(op.ty(v)).map_or(0, <[i64]>::len);
        if let Some(gather) = op.as_::<GatherOp<'_>>() {
            let (data, indices, axis) = (gather.data(), gather.indices(), gather.axis() as usize);
            // The indices' dimensions stand where the axis was.
            let end = axis + rank(indices);
            return Some(Self { data, indices, picked: axis..axis + 1, at: axis..end, counted: false, rest: end });
        }
        if let Some(gather) = op.as_::<GatherElementsOp<'_>>() {
            let (data, indices, axis) = (gather.data(), gather.indices(), gather.axis() as usize);
            let (picked, at) = (axis..axis + 1, 0..rank(indices));
            return Some(Self { data, indices, picked, at, counted: false, rest: axis + 1 });
        }
        let gather = op.as_::<GatherNdOp<'_>>()?;
        let (data, indices) = (gather.data(), gather.indices());
        let last = rank(indices).checked_sub(1)?;
        Some(Self { data, indices, picked: gather.picked(op)?, at: 0..last, counted: true, rest: last })
    }
}

impl<'a> Form<'a> {
    /// What `op` does, if that is known; `symbols` gets those of its accesses.
    pub fn of(op: OpRef<'a>, facts: &Facts, symbols: &mut Symbols) -> Option<Self> {
        match op.interface::<dyn FormOp>() {
            Some(form) => form.form(op, facts, symbols),
            None => Self::of_compute(ComputeForm::of(op)?, facts, symbols),
        }
    }

    /// True for an op that may have one.
    pub fn has(op: OpRef<'_>) -> bool {
        op.interface::<dyn FormOp>().is_some() || op.interface::<dyn super::structured::Structured>().is_some()
    }

    /// An op that makes one tensor, each element of which is one of `input`: that at `index`, in one parallel iterator per
    /// dimension of the result. `None` where a size of the result is not known.
    pub fn of_move(op: OpRef<'a>, input: Value, index: &[AffineExpr]) -> Option<Self> {
        let extents = symbolic_shape(op.cx, op.ty(op.result(0)))?;
        let rank = extents.len();
        Some(Self {
            op,
            inputs: vec![input],
            iterators: vec![IteratorKind::Parallel; rank],
            extents,
            input_maps: vec![map_of(op.cx, rank, index)],
            result_maps: vec![op.cx.identity_map(rank as u32)],
            combiners: vec![],
            joint: None,
            oob: vec![None],
            scan: None,
            scatter: None,
            body: None,
            picks: vec![],
        })
    }

    /// The structured form with symbols of the region.
    pub fn of_compute(form: ComputeForm<'a>, facts: &Facts, symbols: &mut Symbols) -> Option<Self> {
        let op = form.op;
        let sizes: Vec<Poly> = form.sizes.iter().map(|size| facts.canonical(size)).collect();
        let dims = form.iterators.len();
        let mut read = |map: &AffineMap| {
            let exprs = op.cx.map_results(*map).iter().map(|e| symbols.at_sizes(op.cx, *e, dims, &sizes));
            map_of(op.cx, dims, &exprs.collect::<Vec<_>>())
        };
        Some(Self {
            op,
            inputs: form.inputs().collect(),
            extents: form.extents(),
            input_maps: form.input_maps.iter().map(&mut read).collect(),
            result_maps: form.result_maps.iter().map(&mut read).collect(),
            iterators: form.iterators,
            combiners: form.combiners,
            joint: form.joint,
            oob: form.oob,
            scan: None,
            scatter: None,
            body: Some(form.body),
            picks: vec![],
        })
    }

    fn of_scan(op: OpRef<'a>, scan: ScanOp<'a>) -> Option<Self> {
        let inputs: Vec<Value> = op.operands().collect();
        let extents = symbolic_shape(op.cx, op.ty(*inputs.first()?))?;
        let (map, count) = (op.cx.identity_map(extents.len() as u32), inputs.len());
        let (exclusive, reverse) = (scan.exclusive(), scan.reverse());
        Some(Self {
            op,
            inputs,
            iterators: vec![IteratorKind::Parallel; extents.len()],
            extents,
            input_maps: vec![map; count],
            result_maps: vec![map; count],
            combiners: scan.combiner().into_iter().collect(),
            joint: scan.joint(),
            oob: vec![None; count],
            scan: Some(Scan { dim: scan.axis() as usize, exclusive, reverse }),
            scatter: None,
            body: None,
            picks: vec![],
        })
    }

    fn of_gather(op: OpRef<'a>, facts: &Facts, gather: Gather, symbols: &mut Symbols) -> Option<Self> {
        let cx = op.cx;
        let (data, result) = (symbolic_shape(cx, op.ty(gather.data))?, symbolic_shape(cx, op.ty(op.result(0)))?);
        let dim = |i: usize| cx.affine_dim(i as u32);
        let mut picks = Vec::new();
        for (i, d) in gather.picked.clone().enumerate() {
            let size = facts.canonical(data.get(d)?.as_ref()?);
            let mut index: Vec<AffineExpr> = gather.at.clone().map(dim).collect();
            index.extend(gather.counted.then(|| cx.affine_const(i as i64)));
            let symbol = symbols.pick(&size);
            picks.push(PickForm { symbol, indices: gather.indices, index, size, what: described(op) });
        }
        let read: Vec<AffineExpr> = (0..data.len())
            .map(|d| match d {
                _ if d < gather.picked.start => dim(d),
                _ if gather.picked.contains(&d) => cx.affine_symbol(picks[d - gather.picked.start].symbol as u32),
                _ => dim(d - gather.picked.end + gather.rest),
            })
            .collect();
        // Where there may be nothing to read, a number that nobody looks at stands for it.
        let empty = picks.iter().any(|pick| facts.range(&pick.size).0 < 1);
        let (elem, rank) = (cx.element_type(op.ty(gather.data)), result.len());
        Some(Self {
            op,
            inputs: vec![gather.data],
            iterators: vec![IteratorKind::Parallel; rank],
            extents: result,
            input_maps: vec![map_of(cx, rank, &read)],
            result_maps: vec![cx.identity_map(rank as u32)],
            combiners: vec![],
            joint: None,
            oob: vec![empty.then(|| one(cx, elem))],
            scan: None,
            scatter: None,
            body: None,
            picks,
        })
    }

    /// The iterators run through the updates; those whose places may meet are gone through in order.
    fn of_scatter(op: OpRef<'a>, facts: &Facts, scatter: ScatterOp<'a>, symbols: &mut Symbols) -> Option<Self> {
        let cx = op.cx;
        let (data, updates): (Vec<Value>, Vec<Value>) = (scatter.data().collect(), scatter.updates().collect());
        let (sizes, extents) =
            (symbolic_shape(cx, op.ty(*data.first()?))?, symbolic_shape(cx, op.ty(*updates.first()?))?);
        let count = data.len();
        let (picked, rank, own) = (scatter.picked(op)?, extents.len(), scatter.axis().is_some());
        let dim = |i: usize| cx.affine_dim(i as u32);
        // Iterators at which an index is read: all, where every update has its own.
        let places = if own { rank } else { rank.checked_sub(sizes.len() - picked.end)? };
        let mut picks = Vec::new();
        for (i, d) in picked.clone().enumerate() {
            let size = facts.canonical(sizes.get(d)?.as_ref()?);
            let mut index: Vec<AffineExpr> = (0..places).map(dim).collect();
            index.extend((!own).then(|| cx.affine_const(i as i64)));
            let symbol = symbols.pick(&size);
            picks.push(PickForm { symbol, indices: scatter.indices(), index, size, what: described(op) });
        }
        let written: Vec<AffineExpr> = (0..sizes.len())
            .map(|d| match picked.contains(&d) {
                true => cx.affine_symbol(picks[d - picked.start].symbol as u32),
                false if own => dim(d),
                false => dim(places + d - picked.end),
            })
            .collect();
        let meets = |i: usize| if own { picked.contains(&i) } else { i < places };
        let kind = |i| if meets(i) { IteratorKind::Reduce } else { IteratorKind::Parallel };
        Some(Self {
            op,
            inputs: updates,
            iterators: (0..rank).map(kind).collect(),
            extents,
            input_maps: vec![cx.identity_map(rank as u32); count],
            result_maps: vec![map_of(cx, rank, &written); count],
            combiners: vec![],
            joint: None,
            oob: vec![None; count],
            scan: None,
            scatter: Some(Scatter { data, combiner: scatter.combiner(), joins: scatter.joins() }),
            body: None,
            picks,
        })
    }

    /// The tensors that are made, one per result map.
    pub fn results(&self) -> impl ExactSizeIterator<Item = Value> + Clone + 'a {
        self.op.results()
    }

    /// Iterators of one kind.
    pub fn of_kind(&self, kind: IteratorKind) -> impl Iterator<Item = usize> + '_ {
        self.iterators.iter().enumerate().filter(move |(_, k)| **k == kind).map(|(i, _)| i)
    }

    /// True where an element is made of several, so that one alone is not cheaper than all of them.
    pub fn combines(&self) -> bool {
        self.scan.is_some() || self.iterators.contains(&IteratorKind::Reduce)
    }
}

/// A map over `dims` iterators and the symbols that the expressions mention.
pub fn map_of(cx: &Context, dims: usize, exprs: &[AffineExpr]) -> AffineMap {
    let mut symbols = 0;
    exprs.iter().for_each(|e| each_symbol(cx, *e, &mut |s| symbols = symbols.max(s as u32 + 1)));
    cx.affine_map(dims as u32, symbols, exprs)
}

/// True when an expression mentions the symbol.
pub fn mentions_symbol(cx: &Context, expr: AffineExpr, symbol: usize) -> bool {
    let mut found = false;
    each_symbol(cx, expr, &mut |s| found |= s == symbol);
    found
}

/// The number 1.
pub fn one(cx: &Context, elem: sutura_ir::Type) -> Attr {
    if elem.is_float(cx) { cx.float_attr(1.0, elem) } else { cx.int_attr(1, elem) }
}

struct OfCompute;

impl FormOp for OfCompute {
    fn form<'a>(&self, op: OpRef<'a>, facts: &Facts, symbols: &mut Symbols) -> Option<Form<'a>> {
        Form::of_compute(ComputeForm::of(op)?, facts, symbols)
    }
}

struct OfScan;

impl FormOp for OfScan {
    fn form<'a>(&self, op: OpRef<'a>, _: &Facts, _: &mut Symbols) -> Option<Form<'a>> {
        Form::of_scan(op, op.as_::<ScanOp<'a>>()?)
    }
}

struct OfGather;

impl FormOp for OfGather {
    fn form<'a>(&self, op: OpRef<'a>, facts: &Facts, symbols: &mut Symbols) -> Option<Form<'a>> {
        Form::of_gather(op, facts, Gather::of(op)?, symbols)
    }
}

struct OfScatter;

impl FormOp for OfScatter {
    fn form<'a>(&self, op: OpRef<'a>, facts: &Facts, symbols: &mut Symbols) -> Option<Form<'a>> {
        Form::of_scatter(op, facts, op.as_::<ScatterOp<'a>>()?, symbols)
    }
}

pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<ComputeOp<'_>, dyn FormOp>(&OfCompute)
        .op_interface::<ScanOp<'_>, dyn FormOp>(&OfScan)
        .op_interface::<GatherOp<'_>, dyn FormOp>(&OfGather)
        .op_interface::<GatherElementsOp<'_>, dyn FormOp>(&OfGather)
        .op_interface::<GatherNdOp<'_>, dyn FormOp>(&OfGather)
        .op_interface::<ScatterOp<'_>, dyn FormOp>(&OfScatter);
}
