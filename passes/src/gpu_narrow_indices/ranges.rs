//! Between which bounds the 64-bit integers of a kernel lie, as expressions of its sizes.

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::gpu::{Dimension, GPUFuncOp};
use sutura_dialects::rt::KernelSignature;
use sutura_dialects::scf::ForOp;
use sutura_ir::{Block, Body, Context, Op, OpRef, Type, Value};

use super::upper::{Monomial, Size, Upper};

/// `-below <= value <= above`; what is not known has no bound.
#[derive(Clone, Debug, Default)]
pub(super) struct Range {
    pub(super) below: Option<Upper>,
    pub(super) above: Option<Upper>,
}

impl Range {
    const UNKNOWN: Self = Self { below: None, above: None };

    fn constant(value: i64) -> Self {
        let value = i128::from(value);
        Self { below: Some(Upper::constant(-value)), above: Some(Upper::constant(value)) }
    }

    /// From zero on.
    fn up_to(above: Option<Upper>) -> Self {
        Self { below: Some(Upper::ZERO), above }
    }

    pub(super) fn is_not_negative(&self) -> bool {
        self.below.as_ref().is_some_and(Upper::is_zero)
    }

    /// What is at least the magnitude.
    pub(super) fn magnitude(&self) -> Option<Upper> {
        self.below.as_ref()?.join(self.above.as_ref()?)
    }
}

type Bound = Option<Upper>;

fn both(a: &Bound, b: &Bound, op: impl Fn(&Upper, &Upper) -> Bound) -> Bound {
    op(a.as_ref()?, b.as_ref()?)
}

/// Whichever is known, the simpler one where both are.
fn simpler(a: &Bound, b: &Bound) -> Bound {
    match (a, b) {
        (Some(one), Some(two)) => Some(if one.weight() <= two.weight() { one.clone() } else { two.clone() }),
        (Some(one), None) | (None, Some(one)) => Some(one.clone()),
        (None, None) => None,
    }
}

/// Lanes of the widest subgroup that there is.
const MOST_LANES: i64 = 128;

/// Ranges of the values of a kernel.
pub(super) struct Ranges<'a> {
    cx: &'a Context,
    body: &'a Body,
    ranges: FxHashMap<Value, Range>,
    /// Conditions that always come out the same.
    known: FxHashMap<Value, bool>,
    /// Values that others are divided by, as they stand in bounds.
    divisors: FxHashSet<Value>,
    /// Values that are a product of sizes, exactly.
    exact: FxHashMap<Value, Monomial>,
    /// What bounds a size that is none of the kernel's.
    own: Vec<Upper>,
    dims: usize,
    block: Option<Vec<i32>>,
}

impl<'a> Ranges<'a> {
    /// Looks at a kernel.
    pub(super) fn of(func: GPUFuncOp<'_>, signature: &KernelSignature, cx: &'a Context, body: &'a Body) -> Self {
        let mut ranges = Self {
            cx,
            body,
            ranges: FxHashMap::default(),
            known: FxHashMap::default(),
            divisors: FxHashSet::default(),
            exact: FxHashMap::default(),
            own: Vec::new(),
            dims: signature.dims.len(),
            block: func.known_block_size(),
        };
        ranges.find_divisors();
        let Some(entry) = body.entry_block() else { return ranges };
        let args: Vec<Value> =
            body.block_args(entry).iter().copied().filter(|arg| body.ty(*arg) == Type::I64).collect();
        // Behind the sizes stands the number of the first check of data, where there is one.
        let numbers = signature.dims.len() + usize::from(!signature.checks.is_empty());
        // Where a kernel takes other numbers too nothing tells which are sizes.
        let sizes = if args.len() == numbers { &signature.dims[..] } else { &[] };
        for (size, (arg, (_, info))) in args.iter().zip(sizes).enumerate() {
            if info.min < 0 {
                continue;
            }
            if info.min == info.max {
                ranges.set(*arg, Range::constant(info.min));
                continue;
            }
            let size = Size::try_from(size).expect("kernels have few sizes");
            ranges.set(*arg, Range::up_to(Some(Upper::size(size))));
            ranges.exact.insert(*arg, Monomial { sizes: vec![size], factor: 1 });
        }
        ranges.block_ops(entry);
        ranges
    }

    /// The range of a value.
    pub(super) fn range(&self, value: Value) -> Range {
        self.ranges.get(&value).cloned().unwrap_or_default()
    }

    /// What a condition always is.
    pub(super) fn known(&self, value: Value) -> Option<bool> {
        self.known.get(&value).copied()
    }

    /// A bound over the kernel's sizes alone.
    pub(super) fn over_sizes(&self, bound: &Upper) -> Option<Upper> {
        bound.replace(&|size| match (size as usize).checked_sub(self.dims) {
            None => Some(Upper::size(size)),
            Some(own) => self.over_sizes(&self.own[own]),
        })
    }

    fn set(&mut self, value: Value, range: Range) {
        self.ranges.insert(value, range);
    }

    fn op(&self, op: Op) -> OpRef<'a> {
        OpRef::new(self.cx, self.body, op)
    }

    fn constant(&self, value: Value) -> Option<i64> {
        let op = self.op(self.body.defining_op(value)?);
        (op.name_str() == "arith.constant").then(|| op.prop("value").and_then(|a| self.cx.as_int(a))).flatten()
    }

    /// A divisor `max(x, 1)` stands in bounds as `x`: what it divides is zero where `x` is.
    fn divisor(&self, value: Value) -> Value {
        let found = self.body.defining_op(value).map(|op| self.op(op)).filter(|op| op.name_str() == "arith.maxsi");
        let Some(op) = found else { return value };
        match (self.constant(op.operand(0)), self.constant(op.operand(1))) {
            (_, Some(0 | 1)) => op.operand(0),
            (Some(0 | 1), _) => op.operand(1),
            _ => value,
        }
    }

    fn find_divisors(&mut self) {
        for op in self.body.preorder() {
            let op = self.op(op);
            if matches!(op.name_str(), "arith.divui" | "arith.divsi" | "arith.remui" | "arith.remsi") {
                let divisor = self.divisor(op.operand(1));
                if self.constant(divisor).is_none() {
                    self.divisors.insert(divisor);
                }
            }
        }
    }

    fn block_ops(&mut self, block: Block) {
        let ops: Vec<Op> = self.body.ops(block).collect();
        for op in ops {
            self.visit(self.op(op));
        }
    }

    fn visit(&mut self, op: OpRef<'a>) {
        match op.name_str() {
            "scf.for" => return self.visit_loop(op),
            "scf.if" => return self.visit_if(op),
            "arith.cmpi" => {
                if let Some(known) = self.compare(op) {
                    self.known.insert(op.result(0), known);
                }
                return;
            }
            _ => {}
        }
        let blocks: Vec<Block> = op.body.regions(op.op).flat_map(|region| self.body.blocks(region)).collect();
        blocks.into_iter().for_each(|block| self.block_ops(block));
        let mut results = op.results();
        let (Some(result), None) = (results.next(), results.next()) else { return };
        if !matches!(self.body.ty(result), Type::I64 | Type::INDEX) {
            return;
        }
        let mut range = self.compute(op);
        if let Some(product) = self.product(op) {
            self.exact.insert(result, product);
        } else if self.divisors.contains(&result) && range.is_not_negative() {
            // It gets a name of its own, so that a product with it can be divided by it again.
            if let Some(above) = range.above.take() {
                let size = Size::try_from(self.dims + self.own.len()).expect("kernels are small");
                self.own.push(above);
                self.exact.insert(result, Monomial { sizes: vec![size], factor: 1 });
                range.above = Some(Upper::size(size));
            }
        }
        self.set(result, range);
    }

    /// What a value is exactly, where that is a product of sizes.
    fn product(&self, op: OpRef<'a>) -> Option<Monomial> {
        let of = |value: Value| match self.constant(value) {
            Some(factor) => (factor >= 1).then(|| Monomial { sizes: vec![], factor: factor.into() }),
            None => self.exact.get(&value).cloned(),
        };
        if op.name_str() != "arith.muli" {
            return None;
        }
        let (a, b) = (of(op.operand(0))?, of(op.operand(1))?);
        let mut sizes = [a.sizes, b.sizes].concat();
        sizes.sort_unstable();
        Some(Monomial { sizes, factor: a.factor.checked_mul(b.factor)? })
    }

    fn visit_loop(&mut self, op: OpRef<'a>) {
        let Some(for_op) = op.as_::<ForOp<'_>>() else { return };
        let Some(block) = op.body.regions(op.op).next().and_then(|region| self.body.region_entry(region)) else {
            return;
        };
        let (low, high) = (self.range(for_op.lower_bound()), self.range(for_op.upper_bound()));
        if !for_op.unsigned_cmp() {
            let index = self.body.block_args(block)[0];
            // An iteration has an index from the first one on, below the end.
            self.set(index, Range { below: low.below, above: high.above });
        }
        self.block_ops(block);
    }

    fn visit_if(&mut self, op: OpRef<'a>) {
        let blocks: Vec<Block> = op.body.regions(op.op).flat_map(|region| self.body.blocks(region)).collect();
        blocks.iter().for_each(|block| self.block_ops(*block));
        let yields: Vec<OpRef<'a>> =
            blocks.iter().filter_map(|block| self.body.last_op(*block)).map(|op| self.op(op)).collect();
        for (at, result) in op.results().enumerate() {
            let mut ranges = yields.iter().map(|end| self.range(end.operand(at)));
            let Some(first) = ranges.next() else { continue };
            let joined = ranges.fold(first, |a, b| join(&a, &b));
            self.set(result, joined);
        }
    }

    /// Comparisons with zero that ranges decide.
    fn compare(&self, op: OpRef<'a>) -> Option<bool> {
        let predicate = op.prop("predicate").and_then(|a| self.cx.as_int(a))?;
        let not_negative = self.range(op.operand(0)).is_not_negative();
        let zero = self.constant(op.operand(1)) == Some(0);
        match predicate {
            2 if not_negative && zero => Some(false),
            5 if not_negative && zero => Some(true),
            _ => None,
        }
    }

    fn compute(&self, op: OpRef<'a>) -> Range {
        let at = |index: usize| self.range(op.operand(index));
        match op.name_str() {
            "arith.constant" => {
                op.prop("value").and_then(|a| self.cx.as_int(a)).map_or(Range::UNKNOWN, Range::constant)
            }
            "gpu.thread_id" | "gpu.block_dim" => self.of_block(op),
            "gpu.lane_id" | "gpu.subgroup_size" => Range::up_to(Some(Upper::constant(MOST_LANES.into()))),
            "gpu.block_id" | "gpu.grid_dim" => Range::up_to(None),
            "arith.index_cast" | "arith.index_castui" => at(0),
            "arith.extui" | "arith.extsi" => self.extended(op),
            "arith.addi" => Range {
                below: both(&at(0).below, &at(1).below, Upper::add),
                above: both(&at(0).above, &at(1).above, Upper::add),
            },
            "arith.subi" => Range {
                below: both(&at(0).below, &at(1).above, Upper::add),
                above: both(&at(0).above, &at(1).below, Upper::add),
            },
            "arith.muli" => multiply(&at(0), &at(1)),
            "arith.divsi" | "arith.divui" => self.divide(op),
            "arith.remsi" | "arith.remui" => self.remainder(op),
            "arith.minsi" => Range {
                below: both(&at(0).below, &at(1).below, Upper::join),
                above: simpler(&at(0).above, &at(1).above),
            },
            "arith.maxsi" => Range {
                below: simpler(&at(0).below, &at(1).below),
                above: both(&at(0).above, &at(1).above, Upper::join),
            },
            "arith.select" => match self.known(op.operand(0)) {
                Some(true) => at(1),
                Some(false) => at(2),
                None => join(&at(1), &at(2)),
            },
            _ => Range::UNKNOWN,
        }
    }

    fn of_block(&self, op: OpRef<'a>) -> Range {
        let axis = match op.prop("dimension").and_then(|a| self.cx.attr_as::<Dimension>(a)) {
            Some(Dimension::Y) => 1,
            Some(Dimension::Z) => 2,
            _ => 0,
        };
        let size = self.block.as_ref().and_then(|block| block.get(axis));
        Range::up_to(size.map(|size| Upper::constant((*size).into())))
    }

    /// Narrow integers; those of 32 bits may be data, and fill what is asked for.
    fn extended(&self, op: OpRef<'a>) -> Range {
        let bits = self.cx.bit_width(self.body.ty(op.operand(0))).unwrap_or(64);
        if bits > 16 {
            return Range::UNKNOWN;
        }
        let most = Some(Upper::constant(1 << bits));
        if op.name_str() == "arith.extui" { Range::up_to(most) } else { Range { below: most.clone(), above: most } }
    }

    fn monomial(&self, divisor: Value) -> Option<Monomial> {
        match self.constant(divisor) {
            Some(factor) => (factor >= 1).then(|| Monomial { sizes: vec![], factor: factor.into() }),
            None => self.exact.get(&self.divisor(divisor)).cloned(),
        }
    }

    /// Quotients by what is not negative. Division by zero means nothing.
    fn divide(&self, op: OpRef<'a>) -> Range {
        let (dividend, by) = (self.range(op.operand(0)), self.range(op.operand(1)));
        let signed = op.name_str() == "arith.divsi";
        if !by.is_not_negative() || (!signed && !dividend.is_not_negative()) {
            return Range::UNKNOWN;
        }
        match self.monomial(op.operand(1)) {
            Some(by) => {
                let divided = |bound: Bound| bound.and_then(|bound| bound.divide(&by));
                Range { below: divided(dividend.below), above: divided(dividend.above) }
            }
            None => dividend,
        }
    }

    /// Remainders have the sign of the dividend, and are less than the divisor.
    fn remainder(&self, op: OpRef<'a>) -> Range {
        let (dividend, by) = (self.range(op.operand(0)), self.range(op.operand(1)));
        let signed = op.name_str() == "arith.remsi";
        if !by.is_not_negative() || (!signed && !dividend.is_not_negative()) {
            return Range::UNKNOWN;
        }
        let less = self.monomial(op.operand(1)).map(|by| Upper::of(&by)).or(by.above);
        Range {
            below: if dividend.is_not_negative() { dividend.below } else { simpler(&less, &dividend.below) },
            above: simpler(&less, &dividend.above),
        }
    }
}

fn join(a: &Range, b: &Range) -> Range {
    Range { below: both(&a.below, &b.below, Upper::join), above: both(&a.above, &b.above, Upper::join) }
}

fn multiply(a: &Range, b: &Range) -> Range {
    let product =
        |x: &Bound, y: &Bound, z: &Bound, w: &Bound| both(&both(x, y, Upper::mul), &both(z, w, Upper::mul), Upper::add);
    if a.is_not_negative() && b.is_not_negative() {
        return Range::up_to(both(&a.above, &b.above, Upper::mul));
    }
    Range {
        below: product(&a.above, &b.below, &a.below, &b.above),
        above: product(&a.above, &b.above, &a.below, &b.below),
    }
}
