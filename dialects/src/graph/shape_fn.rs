//! Shapes and small contents, symbolically: what each op says of its results.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use sutura_ir::registry::DialectBuilder;
use sutura_ir::{Body, Context, OpRef, Type, Value};

use super::maps;
use super::naming::{Names, Number};
use super::operator::Operators;
use super::ops::{BitcastOp, ComputeOp, ConstantOp, ReshapeOp, ShapeOfOp, SizeOp, SliceOp};
use super::structured::ComputeForm;
use super::symbolic;
pub use super::told::{sizes_are_determined, told_by_routines, told_in_run, told_symbols};
use crate::r#dyn::attr::symbolic_shape;
use crate::r#dyn::facts::is_large;
use crate::r#dyn::{EqualOp, Facts, Poly};
use crate::func::{CallOp, Signatures};
use crate::quant::stated_shape;
use crate::tensor::CastOp;

/// Sizes of a tensor, `None` where unknown.
pub type SymShape = Vec<Option<Poly>>;

/// Elements of a small tensor of integers, row-major, `None` where unknown; an `i1` is 0 or 1.
pub type Contents = Vec<Option<Poly>>;

/// Tensors of integers with at most this many elements are followed symbolically.
pub const MAX_CONTENTS: usize = 16;

/// An op that knows the shapes of its results. An interface.
pub trait ShapeFn: Send + Sync {
    /// What follows for the results of `op`, which has been verified, from what is known of its operands.
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred;
}

/// What an op says of its results.
#[derive(Clone, Debug, Default)]
pub struct Inferred {
    /// Shape of each result.
    pub shapes: Vec<SymShape>,
    /// Contents of each result.
    pub contents: Vec<Option<Contents>>,
    /// Equalities without which the op has no meaning.
    pub required: Vec<Requirement>,
    /// Sizes that are quotients which are no polynomials.
    pub quotients: Vec<Quotient>,
    /// Sizes that the op decides by its data.
    pub decided: Vec<Decided>,
}

/// A size that an op decides by its data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decided {
    /// Results and their dimensions that have it.
    pub places: Vec<(usize, usize)>,
    /// The most that it is.
    pub most: Poly,
}

/// A size of a result that times `divisor` is `dividend`. The op has no meaning where the divisor is 0, or where the dividend
/// is no multiple of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quotient {
    /// Number of the result.
    pub result: usize,
    /// Its dimension.
    pub dim: usize,
    /// What is divided.
    pub dividend: Poly,
    /// What it is divided by.
    pub divisor: Poly,
    /// What is divided, in words.
    pub what: String,
}

impl Quotient {
    /// What holds of the size when it is called `symbol`.
    pub fn requirement(&self, symbol: &Poly) -> Requirement {
        Requirement { lhs: self.dividend.clone(), rhs: self.divisor.mul(symbol), what: self.what.clone() }
    }
}

/// Two sizes that an op needs to be equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Requirement {
    /// One size.
    pub lhs: Poly,
    /// The other.
    pub rhs: Poly,
    /// What they are sizes of, in words.
    pub what: String,
}

/// What is known of the values of one body.
#[derive(Clone, Debug, Default)]
pub struct ShapeEnv {
    /// Symbols and equalities.
    pub facts: Facts,
    /// Operators that ops apply by name.
    pub operators: Operators,
    /// Functions that ops call.
    pub functions: Signatures,
    shapes: FxHashMap<Value, SymShape>,
    contents: FxHashMap<Value, Contents>,
    names: Names,
}

impl ShapeEnv {
    /// Knows nothing but what types and constants say.
    pub fn new(facts: Facts) -> Self {
        Self { facts, ..Self::default() }
    }

    /// As [`Self::new`], and gives names to sizes that are large, see [`Self::take_named`].
    pub fn naming(facts: Facts) -> Self {
        Self { facts, names: Names::some(), ..Self::default() }
    }

    /// Takes the symbols that were made since the last call for sizes that are large, with what each is: for ops that declare
    /// and define them.
    pub fn take_named(&mut self) -> Vec<(String, Poly)> {
        self.names.take()
    }

    /// The size if it is small, else a symbol that stands for it; `None` where no names are given, or for one that is beyond
    /// the limits of sizes.
    fn short(&mut self, size: &Poly, number: Number) -> Option<Poly> {
        if size.excess().is_some() {
            return None;
        }
        if is_large(size) { self.names.name(size, number, &mut self.facts) } else { Some(size.clone()) }
    }

    /// Sizes of a ranked tensor of `op`'s body: those set, else those of its type.
    pub fn shape(&self, op: OpRef<'_>, value: Value) -> Option<SymShape> {
        match self.shapes.get(&value) {
            Some(shape) => Some(shape.clone()),
            None => symbolic_shape(op.cx, op.ty(value)),
        }
    }

    /// Sets the sizes of a tensor.
    pub fn set_shape(&mut self, value: Value, shape: SymShape) {
        self.shapes.insert(value, shape);
    }

    /// One size of a ranked tensor.
    pub fn size(&self, op: OpRef<'_>, value: Value, dim: usize) -> Option<Poly> {
        match self.shapes.get(&value) {
            Some(shape) => shape.get(dim).cloned().flatten(),
            None => symbolic_shape(op.cx, op.ty(value))?.get(dim).cloned().flatten(),
        }
    }

    /// Elements of a small tensor of integers: those set, else those of the constant that it is.
    pub fn contents(&self, op: OpRef<'_>, value: Value) -> Option<Contents> {
        match self.contents.get(&value) {
            Some(contents) => Some(contents.clone()),
            None if self.shape(op, value).is_some_and(|shape| is_empty_list(&shape)) => Some(Vec::new()),
            None => symbolic::constant_contents(op.cx, op.constant(value)?),
        }
    }

    /// Sizes of a tensor that were set.
    pub fn known_shape(&self, value: Value) -> Option<&SymShape> {
        self.shapes.get(&value)
    }

    /// Elements of a small tensor of integers that were set.
    pub fn known_contents(&self, value: Value) -> Option<&Contents> {
        self.contents.get(&value)
    }

    /// Sets the elements of a small tensor of integers.
    pub fn set_contents(&mut self, value: Value, contents: Contents) {
        self.contents.insert(value, contents);
    }

    /// Infers shapes and contents of an op's results and remembers them, sizes that the result types state included.
    /// An op without shape function says nothing.
    pub fn update(&mut self, op: OpRef<'_>) -> Inferred {
        let Some(function) = op.interface::<dyn ShapeFn>() else { return Inferred::default() };
        let mut inferred = function.infer(op, self);
        if inferred.is_beyond() {
            inferred = self.infer_by_names(op, function);
        }
        for (i, result) in op.results().enumerate() {
            // What is no ranked tensor has no sizes.
            let Some(declared) = stated_shape(op.cx, op.ty(result)) else { continue };
            let Some(shape) = inferred.shapes.get_mut(i) else { continue };
            for (dim, (size, declared)) in shape.iter_mut().zip(declared).enumerate() {
                match (&size, declared) {
                    (Some(known), Some(declared)) if *known != declared => {
                        let what = format!("dimension {dim} of result {i} as inferred and as declared");
                        inferred.required.push(Requirement { lhs: known.clone(), rhs: declared, what });
                    }
                    (None, declared) => *size = declared,
                    _ => {}
                }
            }
            shape.iter_mut().for_each(|size| *size = size.take().and_then(|size| self.short(&size, Number::Size)));
            self.shapes.insert(result, shape.clone());
            if let Some(Some(contents)) = inferred.contents.get_mut(i) {
                contents.iter_mut().for_each(|n| *n = n.take().and_then(|n| self.short(&n, Number::Element)));
                self.contents.insert(result, contents.clone());
            }
        }
        inferred
    }

    /// What the op says of its results when every size of its operands is one symbol.
    fn infer_by_names(&mut self, op: OpRef<'_>, function: &dyn ShapeFn) -> Inferred {
        let before: Vec<_> =
            op.operands().map(|v| (v, self.shapes.get(&v).cloned(), self.contents.get(&v).cloned())).collect();
        for value in op.operands() {
            let named = |env: &mut Self, all: Vec<Option<Poly>>, number: Number| -> Vec<Option<Poly>> {
                all.into_iter().map(|size| env.names.name(&size?, number, &mut env.facts)).collect()
            };
            if let Some(shape) = self.shape(op, value) {
                let shape = named(self, shape, Number::Size);
                self.shapes.insert(value, shape);
            }
            if let Some(contents) = self.contents(op, value) {
                let contents = named(self, contents, Number::Element);
                self.contents.insert(value, contents);
            }
        }
        let inferred = function.infer(op, self);
        for (value, shape, contents) in before {
            restore(&mut self.shapes, value, shape);
            restore(&mut self.contents, value, contents);
        }
        inferred
    }
}

fn restore<T>(table: &mut FxHashMap<Value, T>, value: Value, before: Option<T>) {
    match before {
        Some(before) => table.insert(value, before),
        None => table.remove(&value),
    };
}

impl Inferred {
    /// Whether a size in it is beyond what a size may be.
    fn is_beyond(&self) -> bool {
        let shapes = self.shapes.iter().flatten().chain(self.contents.iter().flatten().flatten()).flatten();
        let required = self.required.iter().flat_map(|needed| [&needed.lhs, &needed.rhs]);
        shapes.chain(required).any(|size| size.excess().is_some())
    }
}

/// Names of symbols that the types of a body's values, its ops and its equalities use.
pub fn used_symbols(cx: &Context, body: &Body) -> BTreeSet<Arc<str>> {
    let mut used = symbols_of_types(cx, body);
    for op in body.preorder().map(|op| OpRef::new(cx, body, op)) {
        if let Some(equal) = op.as_::<EqualOp<'_>>() {
            add_symbols(equal.lhs(), &mut used);
            add_symbols(equal.rhs(), &mut used);
        }
    }
    used
}

/// Names of symbols that the types of a body's values and its ops use.
pub fn symbols_of_types(cx: &Context, body: &Body) -> BTreeSet<Arc<str>> {
    let mut used = BTreeSet::new();
    let args = body.owner_regions().flat_map(|r| body.blocks(r)).flat_map(|b| body.block_args(b).to_vec());
    let results = body.preorder().flat_map(|op| body.results(op).collect::<Vec<_>>());
    for value in args.chain(results) {
        let sizes = symbolic_shape(cx, body.ty(value)).unwrap_or_default();
        sizes.iter().flatten().for_each(|size| add_symbols(size, &mut used));
    }
    for op in body.preorder().map(|op| OpRef::new(cx, body, op)) {
        mentioned_sizes(op).iter().for_each(|size| add_symbols(size, &mut used));
    }
    used
}

fn add_symbols(size: &Poly, used: &mut BTreeSet<Arc<str>>) {
    size.each_symbol(&mut |name| {
        if !used.contains(name) {
            used.insert(name.clone());
        }
    });
}

/// Sizes that an op itself mentions, beside those in types.
pub fn mentioned_sizes(op: OpRef<'_>) -> Vec<Poly> {
    match (op.as_::<SizeOp<'_>>(), op.as_::<ComputeOp<'_>>()) {
        (Some(size), _) => vec![size.size().clone()],
        (_, Some(compute)) => compute.sizes(),
        _ => super::routine::mentioned_size(op),
    }
}

pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<ComputeOp<'_>, dyn ShapeFn>(&ComputeShape);
    d.op_interface::<ConstantOp<'_>, dyn ShapeFn>(&ConstantShape);
    d.op_interface::<ShapeOfOp<'_>, dyn ShapeFn>(&ShapeOfShape);
    d.op_interface::<BitcastOp<'_>, dyn ShapeFn>(&super::bitcast::BitcastShape);
    d.op_interface::<CallOp<'_>, dyn ShapeFn>(&super::calls::CallShape);
    d.op_interface::<CastOp<'_>, dyn ShapeFn>(&super::calls::CastShape);
}

fn one(shape: SymShape, contents: Option<Contents>) -> Inferred {
    Inferred { shapes: vec![shape], contents: vec![contents], ..Inferred::default() }
}

/// True for a type whose elements may be followed. Those without sign are not: functions of elements take them as signless.
pub(super) fn has_integers(op: OpRef<'_>, value: Value) -> bool {
    let elem = op.cx.element_type(op.ty(value));
    elem == Type::INDEX || elem.is_signless_integer(op.cx)
}

/// Number of elements, if the shape is static.
pub(super) fn static_len(shape: &[Option<Poly>]) -> Option<usize> {
    let sizes = shape.iter().map(|d| d.as_ref().and_then(Poly::as_const).and_then(|c| usize::try_from(c).ok()));
    sizes.collect::<Option<Vec<usize>>>()?.into_iter().try_fold(1usize, usize::checked_mul)
}

struct ComputeShape;

impl ShapeFn for ComputeShape {
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let Some(form) = ComputeForm::of(op) else { return Inferred::default() };
        let size = |value, dim| env.size(op, value, dim);
        let extents = form.extents_with(&size);
        let mut inferred = Inferred::default();
        for (i, extent) in extents.iter().enumerate() {
            require_extent(&form, env, i, extent, &mut inferred.required);
        }
        for map in &form.result_maps {
            let dim = |expr: &_| match maps::plain_dim(op.cx, *expr) {
                Some(i) => extents[i].clone(),
                None => Some(Poly::constant(1)),
            };
            inferred.shapes.push(op.cx.map_results(*map).iter().map(dim).collect());
        }
        inferred.contents = symbolic::eval_compute(&form, &extents, env, &mut inferred.required);
        inferred
    }
}

/// All sizes that iterator `i` runs over must be its extent.
fn require_extent(form: &ComputeForm<'_>, env: &ShapeEnv, i: usize, extent: &Option<Poly>, to: &mut Vec<Requirement>) {
    let Some(extent) = extent else { return };
    let inputs: Vec<Value> = form.inputs().collect();
    let name = |value: Value, dim: usize| match inputs.iter().position(|v| *v == value) {
        Some(input) => format!("dimension {dim} of input {input}"),
        None => format!("dimension {dim} of the result"),
    };
    let mut first = None;
    for (value, dim) in form.extent_sources(i) {
        let here = name(value, dim);
        let first = first.get_or_insert_with(|| here.clone());
        if let Some(size) = env.size(form.op, value, dim)
            && size != *extent
        {
            let what = format!("{first} and {here}");
            to.push(Requirement { lhs: extent.clone(), rhs: size, what });
        }
    }
}

struct ConstantShape;

impl ShapeFn for ConstantShape {
    fn infer(&self, op: OpRef<'_>, _: &ShapeEnv) -> Inferred {
        let Some(constant) = op.as_::<ConstantOp<'_>>() else { return Inferred::default() };
        let shape = symbolic_shape(op.cx, op.ty(constant.result())).unwrap_or_default();
        one(shape, symbolic::constant_contents(op.cx, constant.elements()))
    }
}

struct ShapeOfShape;

impl ShapeFn for ShapeOfShape {
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let Some(shape_of) = op.as_::<ShapeOfOp<'_>>() else { return Inferred::default() };
        let mut sizes = env.shape(op, shape_of.input()).unwrap_or_default();
        let rank = Some(Poly::constant(sizes.len() as i64));
        let mut required = Vec::new();
        for entry in &mut sizes {
            let fits = |size: &Poly| symbolic::require_fit(op.cx, size, Type::I64, &env.facts, &mut required);
            *entry = entry.take().filter(fits);
        }
        let contents = (sizes.len() <= MAX_CONTENTS).then_some(sizes);
        Inferred { required, ..one(vec![rank], contents) }
    }
}

/// What makes an element of a shape operand that follows from sizes the size of dimension `i`: it is not negative, and where
/// it is 0, and a 0 copies the input's size, that is 0 as well.
pub(super) fn asked_as_meant(
    i: usize,
    size: &Poly,
    input: &[Option<Poly>],
    allowzero: bool,
    facts: &Facts,
) -> Vec<Requirement> {
    let mut required = Vec::new();
    let least = facts.range(size).0;
    if least < 0 {
        let what = format!("dimension {i} of the result, which must not be negative, and 0");
        required.push(Requirement { lhs: size.lesser(&0.into()), rhs: Poly::default(), what });
    }
    let follows = |copied: &Poly| {
        copied.is_zero() || size.divide_exact(copied).is_some_and(|factor| factor.as_const().is_some_and(|f| f != 0))
    };
    let one = size.lesser(&1.into());
    match input.get(i) {
        _ if allowzero || least > 0 => {}
        Some(Some(copied)) if !follows(copied) => {
            let what = format!("dimension {i} of the input, which a 0 in the shape copies, and that of the result");
            required.push(Requirement { lhs: copied.mul(&one), rhs: copied.clone(), what });
        }
        Some(_) => {}
        None => {
            let what = format!("dimension {i} of the result, where a 0 has no dimension of the input to copy, and 1");
            required.push(Requirement { lhs: one, rhs: 1.into(), what });
        }
    }
    required
}

/// Sizes that the contents of a shape operand ask for; -1 is open.
pub(super) fn asked_sizes(wanted: &[Option<Poly>], input: &[Option<Poly>], allowzero: bool) -> SymShape {
    let size = |(i, entry): (usize, &Option<Poly>)| match entry.as_ref().and_then(Poly::as_const) {
        Some(0) if !allowzero => input.get(i).cloned().flatten(),
        Some(..0) => None,
        _ => entry.clone(),
    };
    wanted.iter().enumerate().map(size).collect()
}

/// True when the elements of a reshape's shape operand are known, and ask for nothing but the sizes of its result. Otherwise
/// only a look at the data tells whether they do.
pub fn asks_for_its_result(op: OpRef<'_>, env: &ShapeEnv) -> bool {
    let Some(reshape) = op.as_::<ReshapeOp<'_>>() else { return false };
    let Some(shape) = reshape.shape() else { return true };
    let (input, result) = (env.shape(op, reshape.input()), env.shape(op, reshape.result()));
    let (input, result) = (input.unwrap_or_default(), result.unwrap_or_default());
    let Some(wanted) = env.contents(op, shape).and_then(|c| c.into_iter().collect::<Option<Vec<Poly>>>()) else {
        return false;
    };
    let same = |a: Option<&Poly>, b: &Option<Poly>| a.zip(b.as_ref()).is_some_and(|(a, b)| env.facts.prove_equal(a, b));
    let as_meant = |(i, (wanted, size)): (usize, (&Poly, &Option<Poly>))| match wanted.as_const() {
        Some(0) if !reshape.allowzero() => same(input.get(i).and_then(Option::as_ref), size),
        Some(-1) => true,
        Some(..-1) => false,
        _ => same(Some(wanted), size),
    };
    let open = wanted.iter().filter(|size| size.as_const() == Some(-1)).count();
    open <= 1 && wanted.len() == result.len() && wanted.iter().zip(&result).enumerate().all(as_meant)
}

/// If one size of `shape` is open, it is the quotient of the numbers of elements. Where that is no polynomial it stays open,
/// and what it is the quotient of is returned.
pub(super) fn solve_open(input: &[Option<Poly>], shape: &mut SymShape, facts: &Facts) -> Option<Quotient> {
    let open: Vec<usize> = shape.iter().enumerate().filter(|(_, d)| d.is_none()).map(|(i, _)| i).collect();
    let [open] = open[..] else { return None };
    let mut from = input.iter().cloned().collect::<Option<Vec<Poly>>>()?;
    let mut to: Vec<Poly> = shape.iter().flatten().cloned().collect();
    for size in from.iter_mut().chain(&mut to) {
        *size = facts.canonical(size);
    }
    // Equal factors cancel first: sizes that are sums divide only by themselves.
    to.retain(|size| match from.iter().position(|f| f == size) {
        Some(at) => {
            from.swap_remove(at);
            false
        }
        None => true,
    });
    let (from, to) = (Poly::product(&from), Poly::product(&to));
    shape[open] = if to.as_const() == Some(1) { Some(from.clone()) } else { from.divide_exact(&to) };
    // Two numbers that do not divide are wrong in every run, and what is left out of nothing is no number.
    let possible = shape[open].is_none() && !to.is_zero() && (from.as_const().is_none() || to.as_const().is_none());
    let what = "number of elements of the input and of the result".to_string();
    possible.then_some(Quotient { result: 0, dim: open, dividend: from, divisor: to, what })
}

/// Whether a tensor of this shape is an empty list: all of its elements are known, because it has none.
pub(super) fn is_empty_list(shape: &SymShape) -> bool {
    matches!(&shape[..], [Some(size)] if size.is_zero())
}

/// The starts and ends of a slice, one per axis, `None` where unknown.
pub fn slice_bounds(op: OpRef<'_>, slice: SliceOp<'_>, env: &ShapeEnv) -> (Contents, Contents) {
    let count = slice.axes().len();
    let known = |list: Vec<i64>| list.into_iter().map(|v| Some(Poly::constant(v))).collect();
    let mut operands = slice.bounds().map(|v| env.contents(op, v).unwrap_or_else(|| vec![None; count]));
    match (slice.starts(), slice.ends()) {
        (Some(starts), Some(ends)) => (known(starts), known(ends)),
        _ => (operands.next().unwrap_or_default(), operands.next().unwrap_or_default()),
    }
}

/// Start and number of the elements that a slice takes from `len`.
pub fn slice_range(start: i64, end: i64, step: i64, len: usize) -> (i64, usize) {
    let len = len as i64;
    let wrap = |v: i64| if v < 0 { v.saturating_add(len) } else { v };
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let (start, end) = (wrap(start).clamp(low, high), wrap(end).clamp(low, high));
    // A negative bound below the first element of a backward slice is "before the start", which wrapping keeps.
    let distance = if step > 0 { end - start } else { start - end };
    let step = step.unsigned_abs();
    let count = if distance > 0 { (distance as u64).div_ceil(step) } else { 0 };
    (start, count as usize)
}

/// Indices that a slice takes from `len` elements.
pub(super) fn slice_indices(start: i64, end: i64, step: i64, len: usize) -> impl Iterator<Item = usize> {
    let (start, count) = slice_range(start, end, step, len);
    (0..count as i64).map(move |i| (start + i * step) as usize)
}

/// Number of elements that a slice takes from `size`; `None` where a bound is beyond the limits of sizes.
pub fn slice_len(start: &Poly, end: &Poly, step: i64, size: &Poly, facts: &Facts) -> Option<Poly> {
    if let (Some(start), Some(end), Some(size)) = (start.as_const(), end.as_const(), size.as_const()) {
        return Some((slice_range(start, end, step, usize::try_from(size).ok()?).1 as i64).into());
    }
    let near = beyond(start).is_none() && beyond(end).is_none();
    let count = match near && step > 0 && facts.prove_non_negative(start) && facts.prove_le(end, &(-1).into()) {
        // Both ends lose a fixed number of elements. This form stays short when the result is sliced in the same way again.
        true => size.add(end).sub(start).greater(&Poly::constant(0)),
        false => {
            let (start, end) = (slice_bound(start, step, size, facts)?, slice_bound(end, step, size, facts)?);
            let (low, high) = if step > 0 { (start, end) } else { (end, start) };
            // No less than none.
            high.greater(&low).sub(&low)
        }
    };
    Some(facts.canonical(&count.ceildiv(step.abs())))
}

/// Whether a bound is that far behind the end of any tensor, or before its start, that sums with it may leave 64 bits.
fn beyond(bound: &Poly) -> Option<Ordering> {
    const FAR: u64 = 1 << 61;
    bound.as_const().filter(|bound| bound.unsigned_abs() > FAR).map(|bound| bound.cmp(&0))
}

/// Largest weight of a bound and the size it is taken of, where only a run tells from which end it counts.
const MAX_EITHER_SIGN: u32 = 12;

/// A bound of a slice, as an index in `[0, size]`, or in `[-1, size - 1]` of one that goes backwards; `None` where that is
/// beyond the limits of sizes.
pub fn slice_bound(bound: &Poly, step: i64, size: &Poly, facts: &Facts) -> Option<Poly> {
    let least = Poly::constant(if step > 0 { 0 } else { -1 });
    let most = size.add(&least);
    match beyond(bound) {
        Some(Ordering::Less) => return Some(least),
        Some(_) => return Some(facts.canonical(&most)).filter(|most| most.excess().is_none()),
        None => {}
    }
    let clamp = |bound: &Poly, least: &Poly| bound.greater(least).lesser(&most);
    let inside = match () {
        () if facts.prove_non_negative(bound) => clamp(bound, &least),
        () if facts.prove_le(bound, &(-1).into()) => clamp(&bound.add(size), &least),
        // Slices of slices of either sign take seconds from the second one on, and minutes soon.
        () if bound.weight() + size.weight() > MAX_EITHER_SIGN => return None,
        () => {
            // One where the bound is negative in the run, otherwise zero.
            let negative = bound.scale(-1).greater(&Poly::constant(0)).lesser(&Poly::constant(1));
            clamp(bound, &least.sub(size)).add(&size.mul(&negative))
        }
    };
    Some(facts.canonical(&inside)).filter(|inside| inside.excess().is_none())
}

/// The elements of a dense constant of at most [`MAX_CONTENTS`] integers.
pub(super) fn dense_integers(cx: &sutura_ir::Context, attr: sutura_ir::Attr) -> Option<Vec<i64>> {
    let dense = cx.dense(attr)?;
    let elem = dense.element_type();
    if elem.is_float(cx) || dense.len() > MAX_CONTENTS {
        return None;
    }
    let value = |i| if elem == Type::I1 { Some((dense.word(i) & 1) as i64) } else { cx.as_int(dense.attr(i)) };
    (0..dense.len()).map(value).collect()
}
