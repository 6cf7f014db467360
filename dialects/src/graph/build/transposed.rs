//! Transposed convolutions over `[batch, channels, spatial…]`: windows that dilate the result.
//!
//! Element `o` of the result takes element `k` of the window from element `(o - k * dilation) / stride` of the input, where
//! that is one. The distance `o` is `q * stride + r`, and the window, with zeros between its elements and as many behind it as
//! make whole strides, has its element `t * stride + r` there: so the input is read at `q - t`, and nothing is divided. Windows run forward
//! through it: `t` is counted from the last one. What stands for zeros of the window is not multiplied but left out, so that
//! infinities of the input stay where they are.

use sutura_ir::affine::AffineOp;
use sutura_ir::{Type, Value};

use super::super::combine::Combiner;
use super::super::shape_fn::SymShape;
use super::super::structured::IteratorKind;
use super::scalar::Comparison;
use super::shape::SliceBounds;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, PadKind, Scalars, fail, linear, unsupported, zero};
use crate::r#dyn::Poly;

/// The window of a transposed convolution; all lists have one entry per spatial dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransposedWindow {
    /// Elements of the window.
    pub kernel: Vec<i64>,
    /// Distance in the result between neighbours of the input.
    pub strides: Vec<i64>,
    /// Distance between elements of the window.
    pub dilations: Vec<i64>,
    /// Elements added behind the result.
    pub output_padding: Vec<i64>,
    /// What is left out of the result.
    pub cropping: Cropping,
}

/// What is left out around the result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cropping {
    /// So many elements before and after each spatial dimension.
    Explicit(Vec<i64>, Vec<i64>),
    /// What is beyond so many elements for each of the input as the stride says.
    Same(OddOne),
    /// What is beyond sizes of the result.
    To(Vec<i64>, OddOne),
}

/// From which end an odd element is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OddOne {
    /// Before the first one that stays.
    First,
    /// Behind the last one.
    Last,
}

/// Rests of a stride that take as many strides of the window, from one on to before another.
#[derive(Clone, Copy)]
struct Rests {
    from: i64,
    to: i64,
    taps: i64,
}

/// Longest window, with zeros between its elements and up to a whole stride.
const MOST_SPREAD: i64 = 1 << 16;

/// One spatial dimension.
struct Axis {
    size: Poly,
    kernel: i64,
    stride: i64,
    dilation: i64,
    /// Strides that the window takes.
    taps: i64,
    /// Strides of the result for the last element of the input.
    blocks: i64,
    before: i64,
    after: i64,
}

impl Axis {
    fn of(window: &TransposedWindow, d: usize, size: &Option<Poly>) -> Built<Self> {
        let (kernel, stride, dilation) = (window.kernel[d], window.strides[d], window.dilations[d]);
        let Some(size) = size.clone() else { return unsupported("needs a size that depends on data") };
        let within = |n: Option<i64>| n.filter(|n| *n <= MOST_SPREAD);
        let span = kernel.checked_mul(dilation).and_then(|all| within(all.checked_add(stride)));
        let Some(span) = span.map(|all| all - stride - (dilation - 1)) else {
            let message = format!("has a window of {kernel} elements, {dilation} apart, with a stride of {stride}");
            return unsupported(format!("{message}: more than {MOST_SPREAD} elements of the result together"));
        };
        let padding = window.output_padding[d];
        if !(0..=MOST_SPREAD).contains(&padding) {
            return fail(format!("pads the result by {padding}; it must be from 0 to {MOST_SPREAD}"));
        }
        // Elements of the result from the first one that the last element of the input makes.
        let own = span + padding;
        let (before, reach) = match &window.cropping {
            Cropping::Explicit(before, after) => (before[d], own.saturating_sub(after[d])),
            Cropping::Same(odd) => {
                let total = (own - stride).max(0);
                let before = first_part(total, *odd);
                (before, own - (total - before))
            }
            Cropping::To(sizes, odd) => {
                let Some(known) = size.as_const() else {
                    return unsupported(format!("has a result of size {}, and an input of size `{size}`", sizes[d]));
                };
                let rest = known.checked_sub(1).and_then(|n| n.checked_mul(stride));
                let natural = rest.and_then(|rest| rest.checked_add(own));
                let total = natural.and_then(|natural| natural.checked_sub(sizes[d]));
                let (Some(rest), Some(total)) = (rest, total) else {
                    return fail("has sizes that 64 bits do not hold");
                };
                let before = first_part(total.max(0), *odd);
                match before.checked_add(sizes[d]).and_then(|end| end.checked_sub(rest)) {
                    Some(reach) => (before, reach),
                    None => return fail("has sizes that 64 bits do not hold"),
                }
            }
        };
        let taps = div_ceil(span, stride);
        let blocks = taps.max(div_ceil(reach, stride));
        let after = blocks.checked_mul(stride).and_then(|all| all.checked_sub(reach));
        match after {
            Some(after) => Ok(Self { size, kernel, stride, dilation, taps, blocks, before, after }),
            None => fail("has sizes that 64 bits do not hold"),
        }
    }

    /// Elements from the first to the last one of the window.
    fn span(&self) -> i64 {
        (self.kernel - 1) * self.dilation + 1
    }

    /// True where sums leave out elements of the window with zeros that are none of it.
    fn has_gaps(&self) -> bool {
        self.rests().len() == 1 && (self.dilation > 1 || self.taps * self.stride > self.span())
    }

    /// The rests of a stride. The last stride of a window has none for those behind its end, so that these are sums of their own: no
    /// zeros are multiplied, and none left out one by one.
    fn rests(&self) -> Vec<Rests> {
        let (stride, taps) = (self.stride, self.taps);
        let long = self.kernel % stride;
        match self.dilation > 1 || self.kernel < stride || long == 0 {
            true => vec![Rests { from: 0, to: stride, taps }],
            false => vec![Rests { from: 0, to: long, taps }, Rests { from: long, to: stride, taps: taps - 1 }],
        }
    }

    /// Strides of the result.
    fn strides(&self) -> Poly {
        self.size.add(&(self.blocks - 1).into())
    }
}

fn div_ceil(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)
}

fn first_part(total: i64, odd: OddOne) -> i64 {
    match odd {
        OddOne::First => total - total / 2,
        OddOne::Last => total / 2,
    }
}

impl GraphBuilder<'_, '_> {
    /// `x: [N, C, spatial…]`, `weight: [C, M / group, kernel…]`, `bias: [M]`, giving `[N, M, spatial…]`.
    ///
    /// # Errors
    /// When shapes do not fit, or a size is not known.
    pub fn conv_transpose(
        &mut self,
        x: Value,
        weight: Value,
        bias: Option<Value>,
        group: i64,
        window: &TransposedWindow,
    ) -> Built {
        let (shape, filter) = (self.shape(x), self.shape(weight));
        if shape.len() < 3 || filter.len() != shape.len() {
            return fail(format!("an input of rank {} does not fit a weight of rank {}", shape.len(), filter.len()));
        }
        let spatial = shape.len() - 2;
        check_lists(window, spatial)?;
        for (d, size) in filter[2..].iter().enumerate() {
            self.unify(&Some(window.kernel[d].into()), size, || format!("kernel size {d} and the weight's"))?;
        }
        let channels = self.unify(&shape[1], &filter[0], || "channels of the input and of the weight".to_string())?;
        let per_group = if group == 1 { channels.clone() } else { self.grouped(&channels, group)? };
        let axes: Vec<Axis> = (0..spatial).map(|d| Axis::of(window, d, &shape[2 + d])).collect::<Built<_>>()?;
        let groups = Some(Poly::constant(group));
        let data = [&[shape[0].clone(), groups.clone(), per_group.clone()], &shape[2..]].concat();
        let mut data = self.reshape_to(x, &data)?;
        for (d, axis) in axes.iter().enumerate() {
            data = self.pad_one(data, 3 + d, axis.taps - 1, axis.blocks - 1)?;
        }
        let spread = self.spread(weight, &axes)?;
        let mut parts = vec![groups, per_group, filter[1].clone()];
        parts.extend(axes.iter().flat_map(|axis| [Some(axis.taps.into()), Some(axis.stride.into())]));
        let spread = self.reshape_to(spread, &parts)?;
        let made = self.joined_products(data, spread, &axes, &mut Vec::new())?;
        let interleaved = self.interleaved(made, &axes, group)?;
        self.biased(interleaved, bias, &filter[1], group)
    }

    /// Channels of one group.
    fn grouped(&mut self, channels: &Option<Poly>, group: i64) -> Built<Option<Poly>> {
        let Some(known) = channels.as_ref().and_then(Poly::as_const) else {
            return unsupported("a grouped convolution needs a weight of known shape");
        };
        match known % group {
            0 => Ok(Some((known / group).into())),
            _ => fail(format!("{known} channels do not make {group} equal groups")),
        }
    }

    /// Zeros before and after one dimension; a negative number takes some away.
    fn pad_one(&mut self, x: Value, dim: usize, before: i64, after: i64) -> Built {
        let at = |n: i64| {
            let mut pads = vec![Poly::constant(0); self.rank(x)];
            pads[dim] = n.into();
            pads
        };
        let value = zero(self.cx(), self.elem(x));
        self.pad(x, &at(before), &at(after), PadKind::Constant(value))
    }

    /// The window with zeros between its elements and behind them, so that it has whole strides.
    fn spread(&mut self, weight: Value, axes: &[Axis]) -> Built {
        let mut weight = weight;
        for (d, axis) in axes.iter().enumerate() {
            let dim = 2 + d;
            if axis.dilation > 1 {
                let single = self.unsqueeze(weight, &[dim + 1])?;
                let apart = self.pad_one(single, dim + 1, 0, axis.dilation - 1)?;
                let mut shape = self.shape(weight);
                shape[dim] = Some((axis.kernel * axis.dilation).into());
                weight = self.reshape_to(apart, &shape)?;
            }
            weight = self.pad_one(weight, dim, 0, axis.taps * axis.stride - axis.kernel * axis.dilation)?;
        }
        Ok(weight)
    }

    /// The sums, of shape `[N, groups, M / groups, r…, q…]`: those of rests that are told behind those that are told before.
    fn joined_products(&mut self, data: Value, weight: Value, axes: &[Axis], told: &mut Vec<Rests>) -> Built {
        let Some(axis) = axes.get(told.len()) else {
            let weight = self.window_of(weight, axes, told)?;
            return self.products(data, weight, axes, told);
        };
        let mut parts = Vec::new();
        for rests in axis.rests() {
            told.push(rests);
            parts.push(self.joined_products(data, weight, axes, told)?);
            told.pop();
        }
        match parts[..] {
            [one] => Ok(one),
            _ => self.concat(&parts, 3 + told.len()),
        }
    }

    /// The part of a window for some rests, the last strides first.
    fn window_of(&mut self, weight: Value, axes: &[Axis], told: &[Rests]) -> Built {
        if axes.iter().zip(told).all(|(axis, rests)| rests.taps == 1 && rests.to - rests.from == axis.stride) {
            return Ok(weight);
        }
        let dims: Vec<usize> = (3..3 + 2 * axes.len()).collect();
        let starts = told.iter().flat_map(|rests| [rests.taps - 1, rests.from]).collect();
        let ends = told.iter().flat_map(|rests| [i64::MIN, rests.to]).collect();
        let steps = [-1, 1].repeat(told.len());
        self.slice(weight, &dims, &SliceBounds::Known(starts, ends), &steps)
    }

    /// The sums for some rests.
    fn products(&mut self, data: Value, weight: Value, axes: &[Axis], told: &[Rests]) -> Built {
        let (cx, spatial, elem) = (self.cx(), axes.len(), self.elem(data));
        let (shape, filter) = (self.shape(data), self.shape(weight));
        // Iterators: batch, group, output channel, rests, strides, then input channel and taps.
        let (rests, strides, channel) = (3, 3 + spatial, 3 + 2 * spatial);
        let mut index_x = vec![self.dim(0), self.dim(1), self.dim(channel)];
        let mut index_w = vec![self.dim(1), self.dim(channel), self.dim(2)];
        let mut out = vec![shape[0].clone(), shape[1].clone(), filter[2].clone()];
        out.extend(told.iter().map(|rests| Some((rests.to - rests.from).into())));
        for (d, axis) in axes.iter().enumerate() {
            let place = self.dim(channel + 1 + d);
            let read = cx.affine_binary(AffineOp::Add, self.dim(strides + d), place);
            index_x.push(cx.affine_binary(AffineOp::Add, read, cx.affine_const(axis.taps - told[d].taps)));
            index_w.extend([place, self.dim(rests + d)]);
            out.push(Some(axis.strides()));
        }
        let mut iterators = vec![IteratorKind::Parallel; channel];
        iterators.resize(channel + 1 + spatial, IteratorKind::Reduce);
        let inputs = vec![
            ComputeInput { value: data, index: index_x, oob: None },
            ComputeInput { value: weight, index: index_w, oob: None },
        ];
        let result = ComputeResult { shape: out, elem, index: self.dims(0..channel), combiner: Some(Combiner::Add) };
        let op = self.compute(&iterators, inputs, vec![result], |s, args| {
            let product = linear::product(s, args[0], args[1]);
            let exists = exists(s, axes, rests, channel + 1);
            let Some(exists) = exists else { return vec![product] };
            let none = s.number(0.0, s.ty(product));
            vec![s.select(exists, product, none)]
        });
        Ok(self.b.body().result(op, 0))
    }

    /// Rests and strides as one dimension each, without what is left out.
    fn interleaved(&mut self, made: Value, axes: &[Axis], group: i64) -> Built {
        let (spatial, shape) = (axes.len(), self.shape(made));
        let order: Vec<usize> = (0..3).chain((0..spatial).flat_map(|d| [3 + spatial + d, 3 + d])).collect();
        let turned = if axes.iter().all(|axis| axis.stride == 1) { made } else { self.transpose(made, &order)? };
        let mut whole: SymShape = vec![shape[0].clone(), shape[2].as_ref().map(|m| m.scale(group))];
        whole.extend(axes.iter().map(|axis| Some(axis.strides().scale(axis.stride))));
        let whole = self.reshape_to(turned, &whole)?;
        let crop = |of: fn(&Axis) -> i64| {
            let crops = axes.iter().map(|axis| Poly::constant(-of(axis)));
            [Poly::constant(0), Poly::constant(0)].into_iter().chain(crops).collect::<Vec<Poly>>()
        };
        let (before, after) = (crop(|axis| axis.before), crop(|axis| axis.after));
        for (d, axis) in axes.iter().enumerate() {
            let left = axis.strides().scale(axis.stride).sub(&(axis.before + axis.after).into());
            if left.as_const().is_some_and(|left| left < 1) {
                return fail(format!("makes {left} elements along spatial dimension {d}"));
            }
        }
        let value = zero(self.cx(), self.elem(whole));
        self.pad(whole, &before, &after, PadKind::Constant(value))
    }

    fn biased(&mut self, x: Value, bias: Option<Value>, outputs: &Option<Poly>, group: i64) -> Built {
        let Some(bias) = bias else { return Ok(x) };
        let (shape, sizes, elem) = (self.shape(x), self.shape(bias), self.elem(x));
        let [features] = &sizes[..] else { return fail("the bias must be a vector") };
        let channels = outputs.as_ref().map(|m| m.scale(group));
        self.unify(&channels, features, || "numbers of output channels".to_string())?;
        let index = self.dims(0..shape.len());
        let inputs = vec![
            ComputeInput { value: x, index: index.clone(), oob: None },
            ComputeInput { value: bias, index: vec![self.dim(1)], oob: None },
        ];
        let iterators = vec![IteratorKind::Parallel; shape.len()];
        let result = ComputeResult { shape, elem, index, combiner: None };
        let op = self.compute(&iterators, inputs, vec![result], |s, args| vec![s.add(args[0], args[1])]);
        Ok(self.b.body().result(op, 0))
    }
}

fn check_lists(window: &TransposedWindow, rank: usize) -> Built<()> {
    let lists = [&window.kernel, &window.strides, &window.dilations];
    let crops: Vec<&Vec<i64>> = match &window.cropping {
        Cropping::Explicit(before, after) => vec![before, after],
        Cropping::To(sizes, _) => vec![sizes],
        Cropping::Same(_) => vec![],
    };
    let positive = lists.iter().all(|list| list.len() == rank && list.iter().all(|v| *v >= 1));
    if !positive || window.output_padding.len() != rank || crops.iter().any(|list| list.len() != rank) {
        return fail(format!("the window does not fit {rank} spatial dimensions"));
    }
    if crops.iter().any(|list| list.iter().any(|v| *v < 0)) {
        return unsupported("crops by less than nothing");
    }
    Ok(())
}

/// Whether the element `t * stride + r` of the window with zeros is one of the window; `None` where all are.
fn exists(s: &mut Scalars<'_, '_>, axes: &[Axis], rests: usize, taps: usize) -> Option<Value> {
    let mut all: Option<Value> = None;
    for (d, axis) in axes.iter().enumerate().filter(|(_, axis)| axis.has_gaps()) {
        let (place, r) = (s.index(taps + d), s.index(rests + d));
        let (last, stride) = (s.int(axis.taps - 1, Type::INDEX), s.int(axis.stride, Type::INDEX));
        let t = s.sub(last, place);
        let from = s.mul(t, stride);
        let place = s.add(from, r);
        let span = s.int(axis.span(), Type::INDEX);
        let mut own = s.compare(Comparison::Less, place, span);
        if axis.dilation > 1 {
            let (dilation, none) = (s.int(axis.dilation, Type::INDEX), s.int(0, Type::INDEX));
            let rest = s.rem(place, dilation);
            let at = s.compare(Comparison::Equal, rest, none);
            own = s.bits("arith.andi", own, at);
        }
        all = Some(match all {
            Some(all) => s.bits("arith.andi", all, own),
            None => own,
        });
    }
    all
}
