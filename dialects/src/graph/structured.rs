//! The structured form as generic code sees it: interpreter, shape function, fusion, lowering and tensorization all
//! work on [`ComputeForm`] and not on an op.

use sutura_ir::affine::AffineMap;
use sutura_ir::op_ref::BlockRef;
use sutura_ir::types::TypeData;
use sutura_ir::{Attr, Context, OpRef, Type, Value};

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

/// How an iterator is run through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IteratorKind {
    /// Every value makes results of its own.
    Parallel,
    /// What its values yield is combined.
    Reduce,
}

impl IteratorKind {
    /// Spelling in the `iterators` attribute.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::Reduce => "reduce",
        }
    }

    /// The kind of that spelling.
    pub fn from_keyword(keyword: &str) -> Option<Self> {
        [Self::Parallel, Self::Reduce].into_iter().find(|k| k.keyword() == keyword)
    }
}

/// How the contributions to one element of a result are joined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Combiner {
    Add,
    Mul,
    /// NaN if any contribution is.
    Max,
    /// NaN if any contribution is.
    Min,
}

impl Combiner {
    /// Every combiner.
    pub const ALL: [Self; 4] = [Self::Add, Self::Mul, Self::Max, Self::Min];

    /// Spelling in the `combiners` attribute.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Mul => "mul",
            Self::Max => "max",
            Self::Min => "min",
        }
    }

    /// The combiner of that spelling.
    pub fn from_keyword(keyword: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.keyword() == keyword)
    }

    /// The `arith` op that joins two numbers of type `ty`.
    pub fn op_name(self, cx: &Context, ty: Type) -> &'static str {
        match (self, ty.is_float(cx), ty == Type::I1) {
            (Self::Add, true, _) => "arith.addf",
            (Self::Mul, true, _) => "arith.mulf",
            (Self::Max, true, _) => "arith.maximumf",
            (Self::Min, true, _) => "arith.minimumf",
            (Self::Add, false, _) => "arith.addi",
            (Self::Mul, false, _) => "arith.muli",
            (Self::Max, false, true) => "arith.maxui",
            (Self::Min, false, true) => "arith.minui",
            (Self::Max, false, false) => "arith.maxsi",
            (Self::Min, false, false) => "arith.minsi",
        }
    }

    /// The number of type `ty`, a float of at most 64 bits or an integer or `index`, that joining does not notice.
    pub fn identity(self, cx: &Context, ty: Type) -> Attr {
        if ty.is_float(cx) {
            return cx.float_attr(
                match self {
                    Self::Add => 0.0,
                    Self::Mul => 1.0,
                    Self::Max => f64::NEG_INFINITY,
                    Self::Min => f64::INFINITY,
                },
                ty,
            );
        }
        let width = cx.bit_width(ty).unwrap_or(64).min(64);
        cx.int_attr(
            match (self, ty) {
                (Self::Add, _) | (Self::Max, Type::I1) => 0,
                (Self::Mul, _) | (Self::Min, Type::I1) => 1,
                (Self::Max, _) => i64::MIN >> (64 - width),
                (Self::Min, _) => i64::MAX >> (64 - width),
            },
            ty,
        )
    }
}

/// The type in which numbers of type `elem` are accumulated: at least 32 bits wide. `i1` is left as it is.
pub fn accumulator_type(cx: &Context, elem: Type) -> Type {
    match cx.type_data(elem) {
        TypeData::Float(kind) if kind.bits() < 32 => Type::F32,
        TypeData::Integer { width: 2..32, .. } => Type::I32,
        _ => elem,
    }
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
    /// One per result; empty without reduce iterators.
    pub combiners: Vec<Combiner>,
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
        let cx = op.cx;
        let mut input_maps = compute.maps();
        let result_maps = input_maps.split_off(compute.inputs().len());
        let word = |a: &Attr| cx.as_str(*a);
        let oob = compute.oob();
        let iterators =
            compute.iterators().iter().map(|a| IteratorKind::from_keyword(word(a)?)).collect::<Option<_>>()?;
        let combiners = compute.combiners().iter().map(|a| Combiner::from_keyword(word(a)?)).collect::<Option<_>>()?;
        let oob = match oob {
            [] => vec![None; input_maps.len()],
            list => list.iter().map(|a| (*a != Attr::UNIT).then_some(*a)).collect(),
        };
        let (sizes, body) = (compute.sizes(), compute.body().entry()?);
        Some(ComputeForm { op, iterators, input_maps, result_maps, combiners, oob, sizes, body })
    }
}
