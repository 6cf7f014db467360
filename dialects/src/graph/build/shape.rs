//! Ops that move elements: reshapes, slices, concatenations, padding, repetition.

use sutura_ir::affine::AffineExpr;
use sutura_ir::{Attr, OpState, Type, Value};

use super::super::ops::{ConcatOp, GatherElementsOp, GatherNdOp, GatherOp, ReshapeOp, ShapeOfOp, SliceOp};
use super::super::shape_fn::{Quotient, SymShape};
use super::super::structured::IteratorKind;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, Scalars, fail, unsupported};
use crate::r#dyn::attr::tensor_of;
use crate::r#dyn::poly::Excess;
use crate::r#dyn::{Poly, SymbolInfo};

/// Padding beyond this could not be added to an index.
const FARTHEST_PAD: u64 = 1 << 62;

/// Bounds of a slice along its axes.
#[derive(Clone, Debug)]
pub enum SliceBounds {
    /// Starts and ends.
    Known(Vec<i64>, Vec<i64>),
    /// Tensors of starts and ends.
    Values(Value, Value),
}

/// What padding repeats.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PadKind {
    /// A number.
    Constant(Attr),
    /// The element at the edge.
    Edge,
    /// The tensor mirrored at its edge elements.
    Reflect,
    /// The tensor itself.
    Wrap,
}

impl<'b> GraphBuilder<'_, 'b> {
    /// An op with one tensor result whose shape its shape function knows: built with what the types say, then refined.
    pub(super) fn shaped(&mut self, state: OpState) -> Value {
        let op = self.b.create(state);
        let inferred = self.update(op);
        let result = self.b.body().result(op, 0);
        let (mut shape, elem) = (self.shape(result), self.elem(result));
        for quotient in inferred.quotients.iter().filter(|q| q.result == 0) {
            shape[quotient.dim] = Some(self.quotient(quotient));
            self.env.set_shape(result, shape.clone());
        }
        let ty = tensor_of(self.cx(), &shape, elem);
        self.b.set_type(result, ty);
        result
    }

    /// A new symbol for a size that is a quotient; what it is the quotient of is recorded, and checked at run time.
    fn quotient(&mut self, quotient: &Quotient) -> Poly {
        let taken = |name: &str| self.env.facts.symbols().any(|(known, _)| &**known == name);
        let place = super::super::gather::name_in(self.cx(), self.loc).unwrap_or_else(|| "reshape".to_owned());
        let clean: String = place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let base = format!("d_{}_{}", clean.trim_matches('_'), quotient.dim);
        let more = (2..).map(|number| format!("{base}_{number}"));
        let name = std::iter::once(base.clone()).chain(more).find(|name| !taken(name)).expect("there are more names");
        self.env.facts.define(&name, SymbolInfo::default());
        let symbol = Poly::symbol(&name);
        let requirement = quotient.requirement(&symbol);
        // A new symbol can be any number, so nothing is contradicted.
        let _ = self.env.facts.assume_equal(&requirement.lhs, &requirement.rhs);
        self.assumed.push(requirement);
        symbol
    }

    pub(super) fn unknown(&self, rank: usize, elem: Type) -> Type {
        tensor_of(self.cx(), &vec![None; rank], elem)
    }

    /// The tensor in the shape that `shape`, a list of integers, asks for; see [`ReshapeOp`].
    ///
    /// # Errors
    /// When the rank of the result is unknown.
    pub fn reshape(&mut self, x: Value, shape: Value, allowzero: bool) -> Built {
        let sizes = self.shape(shape);
        let rank = match &sizes[..] {
            [Some(rank)] => rank.as_const().and_then(|r| usize::try_from(r).ok()),
            _ => return fail("a shape must be a list of integers"),
        };
        let Some(rank) = rank else { return unsupported("the rank of the result depends on data") };
        let ty = self.unknown(rank, self.elem(x));
        let state = ReshapeOp::state(self.b, self.loc, x, Some(shape), allowzero, ty);
        Ok(self.shaped(state))
    }

    /// The tensor in a shape given by its sizes, of which one may be unknown.
    ///
    /// # Errors
    /// When more are unknown.
    pub fn reshape_to(&mut self, x: Value, shape: &[Option<Poly>]) -> Built {
        if shape.iter().filter(|d| d.is_none()).count() > 1 {
            return unsupported("more than one size of the result depends on data");
        }
        let ty = tensor_of(self.cx(), shape, self.elem(x));
        let state = ReshapeOp::state(self.b, self.loc, x, None, false, ty);
        Ok(self.shaped(state))
    }

    /// Rank 2: the dimensions before `axis`, and from there on.
    ///
    /// # Errors
    /// When sizes are unknown.
    pub fn flatten(&mut self, x: Value, axis: usize) -> Built {
        let shape = self.shape(x);
        let part = |dims: &[Option<Poly>]| Some(Poly::product(&dims.iter().cloned().collect::<Option<Vec<_>>>()?));
        let sizes = [part(&shape[..axis]), part(&shape[axis..])];
        self.reshape_to(x, &sizes)
    }

    /// Without the dimensions `axes`, which must have size 1.
    ///
    /// # Errors
    /// When one has another size.
    pub fn squeeze(&mut self, x: Value, axes: &[usize]) -> Built {
        let shape = self.shape(x);
        for axis in axes {
            self.unify(&shape[*axis], &Some(1.into()), || format!("dimension {axis} and 1"))?;
        }
        let kept = shape.into_iter().enumerate().filter(|(d, _)| !axes.contains(d));
        let kept: SymShape = kept.map(|(_, size)| size).collect();
        self.reshape_to(x, &kept)
    }

    /// No size but those that are known to be 1 is 1: assumed, and checked at run time.
    ///
    /// # Errors
    /// When another size can only be 1.
    pub fn assume_none_is_one(&mut self, shape: &[Option<Poly>]) -> Built<()> {
        for (axis, size) in shape.iter().enumerate() {
            let Some(size) = size.as_ref().filter(|size| size.as_const().is_none()) else { continue };
            if self.env.facts.range(size).0 > 1 {
                continue;
            }
            // Of 0, 1 and 2, which is any larger size, only 1 is odd.
            let odd = size.lesser(&2.into()).rem(2);
            self.unify(&Some(odd), &Some(0.into()), || format!("whether dimension {axis} is 1, as 0 or 1, and 0"))?;
        }
        Ok(())
    }

    /// With dimensions of size 1 at `axes`, those of the result, sorted.
    ///
    /// # Errors
    /// When several sizes are unknown.
    pub fn unsqueeze(&mut self, x: Value, axes: &[usize]) -> Built {
        let mut shape = self.shape(x);
        for axis in axes {
            if *axis > shape.len() {
                return fail(format!("axis {axis} is outside the result"));
            }
            shape.insert(*axis, Some(1.into()));
        }
        self.reshape_to(x, &shape)
    }

    /// Dimension `d` of the result is dimension `permutation[d]` of `x`.
    ///
    /// # Errors
    /// When it is no permutation of the dimensions.
    pub fn transpose(&mut self, x: Value, permutation: &[usize]) -> Built {
        let (shape, elem) = (self.shape(x), self.elem(x));
        let rank = shape.len();
        let place = |d: usize| permutation.iter().position(|p| *p == d);
        let Some(places) = (0..rank).map(place).collect::<Option<Vec<usize>>>().filter(|_| permutation.len() == rank)
        else {
            return fail(format!("{permutation:?} is no permutation of {rank} dimensions"));
        };
        let index = places.into_iter().map(|d| self.dim(d)).collect();
        let inputs = vec![ComputeInput { value: x, index, oob: None }];
        let shape = permutation.iter().map(|d| shape[*d].clone()).collect();
        Ok(self.copy(rank, inputs, shape, elem))
    }

    /// Channels become blocks of `block` times `block` pixels: `[N, C*block*block, H, W]` to `[N, C, H*block, W*block]`. With
    /// `depth_inner` the channels that make one block are neighbours, else those that make one pixel of each.
    ///
    /// # Errors
    /// When the tensor is no such image, or the channels do not make whole blocks.
    pub fn depth_to_space(&mut self, x: Value, block: i64, depth_inner: bool) -> Built {
        let [n, c, h, w] = self.image(x)?;
        let side = Some(Poly::constant(block));
        let depth = self.parts(&c, block * block, "channels")?;
        let (apart, order) = match depth_inner {
            true => ([n.clone(), depth.clone(), side.clone(), side, h.clone(), w.clone()], [0, 1, 4, 2, 5, 3]),
            false => ([n.clone(), side.clone(), side, depth.clone(), h.clone(), w.clone()], [0, 3, 4, 1, 5, 2]),
        };
        let apart = self.reshape_to(x, &apart)?;
        let turned = self.transpose(apart, &order)?;
        let scaled = |size: Option<Poly>| size.map(|s| s.scale(block));
        self.reshape_to(turned, &[n, depth, scaled(h), scaled(w)])
    }

    /// Blocks of `block` times `block` pixels become channels: `[N, C, H*block, W*block]` to `[N, C*block*block, H, W]`, as
    /// [`Self::depth_to_space`] takes them back.
    ///
    /// # Errors
    /// When the tensor is no such image, or the pixels do not make whole blocks.
    pub fn space_to_depth(&mut self, x: Value, block: i64, depth_inner: bool) -> Built {
        let [n, c, h, w] = self.image(x)?;
        let side = Some(Poly::constant(block));
        let (rows, columns) = (self.parts(&h, block, "rows")?, self.parts(&w, block, "columns")?);
        let apart = [n.clone(), c.clone(), rows.clone(), side.clone(), columns.clone(), side];
        let apart = self.reshape_to(x, &apart)?;
        let turned = self.transpose(apart, &if depth_inner { [0, 1, 3, 5, 2, 4] } else { [0, 3, 5, 1, 2, 4] })?;
        self.reshape_to(turned, &[n, c.map(|c| c.scale(block * block)), rows, columns])
    }

    fn image(&self, x: Value) -> Built<[Option<Poly>; 4]> {
        let rank = self.rank(x);
        self.shape(x).try_into().or_else(|_| fail(format!("needs an image of four dimensions, not {rank}")))
    }

    /// A size in parts of `count`, which it must be a multiple of.
    fn parts(&mut self, size: &Option<Poly>, count: i64, what: &str) -> Built<Option<Poly>> {
        let Some(size) = size else { return Ok(None) };
        if size.as_const().is_some_and(|n| n % count != 0) {
            return fail(format!("cannot make whole blocks of {count} from {size} {what}"));
        }
        let part = size.floordiv(count);
        let whole = Some(part.scale(count));
        self.unify(&Some(size.clone()), &whole, || format!("{what} and whole blocks of {count}"))?;
        Ok(Some(part))
    }

    /// A structured op that only moves the elements of its input.
    fn copy(&mut self, rank: usize, inputs: Vec<ComputeInput>, shape: SymShape, elem: Type) -> Value {
        let result = ComputeResult { shape, elem, index: self.dims(0..rank), combiner: None };
        let op = self.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |_, args| vec![args[0]]);
        self.b.body().result(op, 0)
    }

    /// Sizes of a tensor, as a tensor.
    pub fn shape_of(&mut self, x: Value) -> Value {
        let ty = self.cx().tensor_type(&[self.rank(x) as i64], Type::I64, None);
        let op = ShapeOfOp::build(self.b, self.loc, x, ty);
        self.finish(op)
    }

    /// Tensors behind one another along `axis`.
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn concat(&mut self, inputs: &[Value], axis: usize) -> Built {
        let Some(first) = inputs.first() else { return fail("nothing to concatenate") };
        let shape = self.shape(*first);
        for (i, input) in inputs.iter().enumerate().skip(1) {
            let other = self.shape(*input);
            if other.len() != shape.len() {
                return fail(format!("inputs 0 and {i} differ in rank"));
            }
            for d in (0..shape.len()).filter(|d| *d != axis) {
                self.unify(&shape[d], &other[d], || format!("dimension {d} of inputs 0 and {i}"))?;
            }
        }
        let ty = self.unknown(shape.len(), self.elem(*first));
        let state = ConcatOp::state(self.b, self.loc, inputs, axis as i64, ty);
        Ok(self.shaped(state))
    }

    /// `x[start : end : step]` along `axes`; see [`SliceOp`].
    ///
    /// # Errors
    /// When lists differ in length or a step is 0.
    pub fn slice(&mut self, x: Value, axes: &[usize], bounds: &SliceBounds, steps: &[i64]) -> Built {
        if steps.len() != axes.len() || steps.contains(&0) {
            return fail("needs one step per axis, none of them 0");
        }
        // No dimension is so long that these differ.
        let steps: Vec<i64> = steps.iter().map(|step| (*step).max(-i64::MAX)).collect();
        let steps = &steps[..];
        let axes: Vec<i64> = axes.iter().map(|a| *a as i64).collect();
        let ty = self.unknown(self.rank(x), self.elem(x));
        let state = match bounds {
            SliceBounds::Known(starts, ends) if starts.len() == axes.len() && ends.len() == axes.len() => {
                SliceOp::state(self.b, self.loc, x, &[], &axes, Some(starts), Some(ends), steps, ty)
            }
            SliceBounds::Known(..) => return fail("needs one start and one end per axis"),
            SliceBounds::Values(starts, ends) => {
                SliceOp::state(self.b, self.loc, x, &[*starts, *ends], &axes, None, None, steps, ty)
            }
        };
        Ok(self.shaped(state))
    }

    /// `data` at `indices` along `axis`; see [`GatherOp`].
    pub fn gather(&mut self, data: Value, indices: Value, axis: usize) -> Value {
        let ty = self.unknown(self.rank(data) + self.rank(indices) - 1, self.elem(data));
        let state = GatherOp::state(self.b, self.loc, data, indices, axis as i64, ty);
        self.shaped(state)
    }

    /// `data` at `indices` along `axis`, each element at an index of its own; see [`GatherElementsOp`].
    ///
    /// # Errors
    /// When ranks differ, or sizes beside the axis.
    pub fn gather_elements(&mut self, data: Value, indices: Value, axis: usize) -> Built {
        if self.rank(data) != self.rank(indices) {
            return fail(format!("data of rank {} has indices of rank {}", self.rank(data), self.rank(indices)));
        }
        let ty = self.unknown(self.rank(data), self.elem(data));
        let state = GatherElementsOp::state(self.b, self.loc, data, indices, axis as i64, ty);
        Ok(self.shaped(state))
    }

    /// How many indices a place has, which is the last size of `indices`; their rank is not 0.
    ///
    /// # Errors
    /// When the size is not known.
    pub(super) fn indices_per_place(&self, indices: Value) -> Built<usize> {
        let shape = self.shape(indices);
        let last = shape.last().and_then(|size| size.as_ref()?.as_const());
        match last.and_then(|size| usize::try_from(size).ok()) {
            Some(count) => Ok(count),
            None => unsupported("the last dim of the indices has no constant size"),
        }
    }

    /// `data` at `indices`, each for several of its dimensions; see [`GatherNdOp`].
    ///
    /// # Errors
    /// When ranks do not fit, or sizes of the dimensions that both share; and when the number of indices per place is not
    /// known.
    pub fn gather_nd(&mut self, data: Value, indices: Value, batch_dims: usize) -> Built {
        let (from, at) = (self.shape(data), self.shape(indices));
        let Some(last) = at.len().checked_sub(1).filter(|last| batch_dims <= *last) else {
            return fail(format!("indices of rank {} do not have {batch_dims} batch dims and an index", at.len()));
        };
        let count = self.indices_per_place(indices)?;
        if count == 0 || batch_dims + count > from.len() {
            let rank = from.len();
            return fail(format!("{count} indices behind {batch_dims} batch dims do not fit data of rank {rank}"));
        }
        for d in 0..batch_dims {
            self.unify(&from[d], &at[d], || format!("dimension {d} of data and indices"))?;
        }
        let ty = self.unknown(last + from.len() - batch_dims - count, self.elem(data));
        let state = GatherNdOp::state(self.b, self.loc, data, indices, ty);
        let state = match batch_dims {
            0 => state,
            n => state.prop(self.cx().ident("batch_dims"), self.cx().int_attr(n as i64, Type::I64)),
        };
        Ok(self.shaped(state))
    }

    /// `x` broadcast together with a shape.
    ///
    /// # Errors
    /// When sizes cannot be equal, or one of the shape is unknown.
    pub fn expand(&mut self, x: Value, shape: &[Option<Poly>]) -> Built {
        if shape.iter().any(Option::is_none) {
            return unsupported("a size of the result depends on data");
        }
        let (own, elem) = (self.shape(x), self.elem(x));
        let broadcast = self.broadcast(&[own, shape.to_vec()])?;
        let rank = broadcast.shape.len();
        let index = self.broadcast_index(rank, &broadcast.stretched[0]);
        let inputs = vec![ComputeInput { value: x, index, oob: None }];
        Ok(self.copy(rank, inputs, broadcast.shape, elem))
    }

    /// `x` repeated along each dimension.
    ///
    /// # Errors
    /// When a repeat or a size is unknown.
    pub fn tile(&mut self, x: Value, repeats: &[Option<Poly>]) -> Built {
        let (shape, elem) = (self.shape(x), self.elem(x));
        let sizes: Option<Vec<(Poly, Poly)>> =
            shape.iter().cloned().zip(repeats.iter().cloned()).map(|(s, r)| s.zip(r)).collect();
        let Some(sizes) = sizes.filter(|s| s.len() == shape.len() && repeats.len() == shape.len()) else {
            return unsupported("needs one known repeat per dimension of known size");
        };
        // A dimension repeated is two, the outer one of which is not read; then they are joined.
        let (mut split, mut index, mut joined) = (SymShape::new(), Vec::new(), SymShape::new());
        for (dim, (size, repeat)) in sizes.into_iter().enumerate() {
            let product = size.mul(&repeat);
            if product.excess() == Some(Excess::Number) {
                let message = format!("makes dim {dim} of {repeat} times {size}, which 64 bits do not hold");
                return if size.as_const().is_some() { fail(message) } else { unsupported(message) };
            }
            joined.push(Some(product));
            if repeat.as_const() != Some(1) {
                split.push(Some(repeat));
            }
            index.push(self.dim(split.len()));
            split.push(Some(size));
        }
        let rank = split.len();
        let inputs = vec![ComputeInput { value: x, index, oob: None }];
        let copies = self.copy(rank, inputs, split.clone(), elem);
        if split.len() == joined.len() { Ok(copies) } else { self.reshape_to(copies, &joined) }
    }

    /// A tensor whose elements are `body` of the values of its iterators.
    ///
    /// # Errors
    /// When a size is unknown.
    pub fn generate(
        &mut self,
        shape: &[Option<Poly>],
        elem: Type,
        body: impl FnOnce(&mut Scalars<'_, 'b>) -> Value,
    ) -> Built {
        if shape.iter().any(Option::is_none) {
            return unsupported("a size of the result depends on data");
        }
        let rank = shape.len();
        let result = ComputeResult { shape: shape.to_vec(), elem, index: self.dims(0..rank), combiner: None };
        let op = self.compute(&vec![IteratorKind::Parallel; rank], Vec::new(), vec![result], |s, _| vec![body(s)]);
        Ok(self.b.body().result(op, 0))
    }

    /// `x` with elements added before and after each dimension; a negative number takes some away.
    ///
    /// # Errors
    /// When the lists do not fit, a size is unknown where it is needed, or one of the result may be negative.
    pub fn pad(&mut self, x: Value, before: &[Poly], after: &[Poly], kind: PadKind) -> Built {
        let (shape, elem) = (self.shape(x), self.elem(x));
        let rank = shape.len();
        if before.len() != rank || after.len() != rank {
            return fail(format!("needs padding for each of {rank} dimensions"));
        }
        if before.iter().chain(after).all(Poly::is_zero) {
            return Ok(x);
        }
        let far = |p: &&Poly| p.as_const().is_some_and(|p| p.unsigned_abs() > FARTHEST_PAD);
        if let Some(far) = before.iter().chain(after).find(far) {
            return unsupported(format!("pads by {far}; at most {FARTHEST_PAD} are supported"));
        }
        for (d, size) in shape.iter().enumerate() {
            let (padded, least) = self.padded(size, &before[d], &after[d])?;
            // A constant may be checked by who compiled it; a size that comes out negative has no tensor.
            let given = before[d].as_const().is_some() && after[d].as_const().is_some();
            if least < 0 && !given && !self.env.facts.prove_non_negative(&padded) {
                return unsupported(format!(
                    "makes dimension {d} of size `{padded}`, which is not known to be at least 0"
                ));
            }
        }
        let PadKind::Constant(value) = kind else {
            return self.pad_by_index(x, before, after, kind);
        };
        // A kernel takes one dim of which it leaves the elements beside its columns: others are made before.
        let leaves = |d: &usize| [&before[*d], &after[*d]].iter().any(|p| self.env.facts.range(p).1 > 0);
        let leaving: Vec<usize> = (0..rank.saturating_sub(1)).filter(leaves).collect();
        if let [first, _, ..] = leaving[..] {
            let only = |pads: &[Poly], kept: bool| -> Vec<Poly> {
                let pad = |(d, pad): (usize, &Poly)| if (d == first) == kept { pad.clone() } else { Poly::default() };
                pads.iter().enumerate().map(pad).collect()
            };
            let x = self.pad(x, &only(before, true), &only(after, true), kind)?;
            return self.pad(x, &only(before, false), &only(after, false), kind);
        }
        let sizes = (0..rank).map(|d| Ok(Some(self.padded(&shape[d], &before[d], &after[d])?.0)));
        let sizes: SymShape = sizes.collect::<Built<_>>()?;
        let index: Vec<AffineExpr> = (0..rank).map(|d| self.offset(self.dim(d), &before[d].scale(-1))).collect();
        // A tensor read from its first element on says how far the iterator runs, unless it has an `oob` value.
        let prefix = before.iter().zip(after).any(|(before, after)| before.is_zero() && !after.is_zero());
        let outside = prefix || before.iter().chain(after).any(|p| self.env.facts.range(p).1 > 0);
        let inputs = vec![ComputeInput { value: x, index, oob: outside.then_some(value) }];
        Ok(self.copy(rank, inputs, sizes, elem))
    }

    /// A size with padding, and its least value.
    fn padded(&self, size: &Option<Poly>, before: &Poly, after: &Poly) -> Built<(Poly, i128)> {
        let Some(size) = size else { return unsupported("needs a size that depends on data") };
        let padded = self.env.facts.canonical(&size.add(before).add(after));
        let least = self.env.facts.range(&padded).0;
        Ok((padded, least))
    }

    /// Padding with elements of the tensor: a gather along each dimension.
    fn pad_by_index(&mut self, x: Value, before: &[Poly], after: &[Poly], kind: PadKind) -> Built {
        let mut x = x;
        for d in 0..before.len() {
            if before[d].is_zero() && after[d].is_zero() {
                continue;
            }
            let Some(size) = self.shape(x)[d].clone() else { return unsupported("needs a size that depends on data") };
            let (padded, _) = self.padded(&Some(size.clone()), &before[d], &after[d])?;
            let indices = self.generate(&[Some(padded)], Type::I64, |s| {
                let (i, offset) = (s.index(0), s.size(&before[d]));
                let at = s.sub(i, offset);
                let at = padding_index(s, at, &size, kind);
                s.cast(at, Type::I64)
            })?;
            x = self.gather(x, indices, d);
        }
        Ok(x)
    }
}

/// The index inside a dimension that stands for one that may lie outside.
fn padding_index(s: &mut Scalars<'_, '_>, at: Value, size: &Poly, kind: PadKind) -> Value {
    let (zero, one) = (s.int(0, Type::INDEX), s.int(1, Type::INDEX));
    let last = s.size(&size.sub(&1.into()));
    match kind {
        PadKind::Wrap => {
            let size = s.size(size);
            floor_mod(s, at, size)
        }
        PadKind::Reflect => {
            // A period goes to the last element and back: 2 * (size - 1), at least 1.
            let twice = s.add(last, last);
            let period = s.max(twice, one);
            let phase = floor_mod(s, at, period);
            let back = s.sub(twice, phase);
            let mirrored = s.min(phase, back);
            s.max(mirrored, zero)
        }
        PadKind::Edge | PadKind::Constant(_) => {
            let low = s.max(at, zero);
            s.min(low, last)
        }
    }
}

fn floor_mod(s: &mut Scalars<'_, '_>, a: Value, b: Value) -> Value {
    let quotient = s.floor_div(a, b);
    let whole = s.mul(quotient, b);
    s.sub(a, whole)
}
