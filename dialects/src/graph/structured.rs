//! The structured form as generic code sees it: interpreter, shape function, fusion, lowering and tensorization all
//! work on [`ComputeForm`] and not on an op.

use sutura_ir::affine::AffineMap;
use sutura_ir::op_ref::BlockRef;
use sutura_ir::{Attr, OpRef, Value, attr};

use super::combine::{Combiner, Joint};
use super::maps;
use super::ops::ComputeOp;
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;

/// An op that has a structured form. An interface.
pub trait Structured: Send + Sync {
    /// The form of `op`, which has been verified.
    fn form<'a>(&self, op: OpRef<'a>) -> Option<ComputeForm<'a>>;
}

/// Iterators of an op: more than any operator needs; an iterator's number must also fit a machine word's bits.
pub const MAX_ITERATORS: usize = 32;

sutura_ir::enum_attr! {
    /// How an iterator is run through.
    pub enum IteratorKind = "graph.iterator", "how an iterator is run through"; {
        /// Every value makes results of its own.
        Parallel => "parallel",
        /// What its values yield is joined.
        Reduce => "reduce",
    }
}

/// The iterators of a structured op, outermost first.
#[attr("graph.iterators")]
pub struct IteratorsAttr {
    /// How each is run through.
    kinds: Vec<IteratorKind>,
}

/// An op's structured form; see [`ComputeOp`] for what it means.
#[derive(Clone)]
pub struct ComputeForm<'a> {
    /// The op that has it.
    pub op: OpRef<'a>,
    /// Iterators, outermost first.
    pub iterators: Vec<IteratorKind>,
    /// One per input.
    pub input_maps: Vec<AffineMap>,
    /// One per result.
    pub result_maps: Vec<AffineMap>,
    /// One per result; empty without reduce iterators, and where [`Self::joint`] joins all results at once.
    pub combiners: Vec<Combiner>,
    /// What joins the contributions to all results at once.
    pub joint: Option<Joint<'a>>,
    /// What each input reads outside its tensor.
    pub oob: Vec<Option<Attr>>,
    /// What the symbols of maps stand for.
    pub sizes: Vec<Poly>,
    /// The scalar function.
    pub body: BlockRef<'a>,
}

impl<'a> ComputeForm<'a> {
    /// The structured form of `op`, if it has one.
    pub fn of(op: OpRef<'a>) -> Option<Self> {
        op.interface::<dyn Structured>()?.form(op)
    }

    /// The tensors that are read, one per input map.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Value> + Clone + 'a {
        self.op.operands()
    }

    /// The tensors that are made, one per result map.
    pub fn results(&self) -> impl ExactSizeIterator<Item = Value> + Clone + 'a {
        self.op.results()
    }

    /// Iterators of one kind.
    pub fn of_kind(&self, kind: IteratorKind) -> impl Iterator<Item = usize> + '_ {
        self.iterators.iter().enumerate().filter(move |(_, k)| **k == kind).map(|(i, _)| i)
    }

    /// True with reduce iterators.
    pub fn has_reduction(&self) -> bool {
        self.iterators.contains(&IteratorKind::Reduce)
    }

    /// True when no input reads outside its tensor and all iterators are parallel.
    pub fn is_elementwise(&self) -> bool {
        !self.has_reduction() && self.oob.iter().all(Option::is_none)
    }

    /// What the body yields, one value per result.
    pub fn yielded(&self) -> Option<OpRef<'a>> {
        self.body.ops().last()
    }

    /// Sizes that say how far iterator `iterator` runs, in order of trust: dimensions of inputs without `oob`, then of
    /// results, that are read at the plain iterator. Each is a value and a dimension of it.
    pub fn extent_sources(&self, iterator: usize) -> impl Iterator<Item = (Value, usize)> + '_ {
        let cx = self.op.cx;
        let inputs = self.inputs().zip(&self.input_maps).zip(&self.oob).filter(|(_, oob)| oob.is_none());
        let inputs = inputs.map(|(pair, _)| pair);
        inputs.chain(self.results().zip(&self.result_maps)).flat_map(move |(value, map)| {
            let at_iterator = move |(_, expr): &(usize, &_)| maps::plain_dim(cx, **expr) == Some(iterator);
            cx.map_results(*map).iter().enumerate().filter(at_iterator).map(move |(dim, _)| (value, dim))
        })
    }

    /// Extents of the iterators as the types tell; a constant is preferred to a symbol, and an input's size to a
    /// result's. `None` where no type knows.
    pub fn extents(&self) -> Vec<Option<Poly>> {
        let (cx, body) = (self.op.cx, self.op.body);
        self.extents_with(&|value, dim| symbolic_shape(cx, body.ty(value))?.get(dim).cloned().flatten())
    }

    /// Extents of the iterators, given the sizes of dimensions of inputs and results.
    pub fn extents_with(&self, size: &dyn Fn(Value, usize) -> Option<Poly>) -> Vec<Option<Poly>> {
        let extent = |iterator| {
            let mut known = self.extent_sources(iterator).filter_map(|(value, dim)| size(value, dim));
            let first = known.next()?;
            if first.as_const().is_some() {
                return Some(first);
            }
            Some(known.find(|p| p.as_const().is_some()).unwrap_or(first))
        };
        (0..self.iterators.len()).map(extent).collect()
    }
}

pub(super) struct ComputeStructured;

impl Structured for ComputeStructured {
    fn form<'a>(&self, op: OpRef<'a>) -> Option<ComputeForm<'a>> {
        let compute = op.as_::<ComputeOp<'a>>()?;
        let mut input_maps = compute.maps();
        let result_maps = input_maps.split_off(compute.inputs().len());
        let oob = match compute.oob() {
            [] => vec![None; input_maps.len()],
            list => list.iter().map(|a| (*a != Attr::UNIT).then_some(*a)).collect(),
        };
        let iterators = compute.iterators().kinds.clone();
        let combiners = compute.combiners().map(|named| named.kinds.clone()).unwrap_or_default();
        let joint = match (compute.combine_state(), compute.combine().next()) {
            (Some(state), Some(region)) => Some(Joint { state, body: region.entry()? }),
            _ => None,
        };
        let (sizes, body) = (compute.sizes(), compute.body().entry()?);
        Some(ComputeForm { op, iterators, input_maps, result_maps, combiners, joint, oob, sizes, body })
    }
}
