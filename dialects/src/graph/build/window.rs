//! Sliding windows: convolutions and pools over `[batch, channels, spatial…]`.

use sutura_ir::affine::{AffineExpr, AffineOp};
use sutura_ir::{Attr, Type, Value};

use super::super::combine::Combiner;
use super::super::shape_fn::SymShape;
use super::super::structured::IteratorKind;
use super::{
    Built, ComputeInput, ComputeResult, GraphBuilder, PadKind, Scalars, SliceBounds, fail, linear, unsupported,
};
use crate::r#dyn::Poly;
use crate::elements::{accumulator_type, is_unsigned, written_type};

/// A window over the spatial dimensions; all lists have one entry per such dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// Elements of the window.
    pub kernel: Vec<i64>,
    /// Distance between windows.
    pub strides: Vec<i64>,
    /// Distance between elements of a window.
    pub dilations: Vec<i64>,
    /// What is added around the input.
    pub padding: Padding,
    /// A last window that reaches outside counts.
    pub ceil: bool,
}

/// Elements added around the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Padding {
    /// Before and after each spatial dimension.
    Explicit(Vec<i64>, Vec<i64>),
    /// So that there are `ceil(size / stride)` windows; an odd element goes to the end.
    SameUpper,
    /// Likewise; an odd element goes to the beginning.
    SameLower,
}

/// One spatial dimension of a window laid over an input.
#[derive(Clone)]
pub(super) struct Axis {
    pub(super) size: Option<Poly>,
    pub(super) windows: Option<Poly>,
    pub(super) kernel: i64,
    pub(super) stride: i64,
    pub(super) dilation: i64,
    pub(super) before: i64,
    /// Elements behind the input that windows may reach.
    after: i64,
    /// True when no window reaches outside.
    inside: bool,
}

impl Axis {
    /// Index of element `k` of window `o`.
    pub(super) fn index(&self, g: &GraphBuilder<'_, '_>, o: usize, k: usize) -> AffineExpr {
        let cx = g.cx();
        let times = |i: usize, factor: i64| cx.affine_binary(AffineOp::Mul, g.dim(i), cx.affine_const(factor));
        let sum = cx.affine_binary(AffineOp::Add, times(o, self.stride), times(k, self.dilation));
        cx.affine_binary(AffineOp::Add, sum, cx.affine_const(-self.before))
    }

    /// True when no window reaches outside.
    pub(super) fn is_inside(&self) -> bool {
        self.inside
    }

    /// From the first to the last element of a window.
    fn span(&self) -> i64 {
        self.dilation * (self.kernel - 1) + 1
    }
}

impl GraphBuilder<'_, '_> {
    pub(super) fn window_axes(&self, sizes: &[Option<Poly>], window: &Window) -> Built<Vec<Axis>> {
        let rank = sizes.len();
        let lists = [&window.kernel, &window.strides, &window.dilations];
        if lists.iter().any(|l| l.len() != rank || l.iter().any(|v| *v < 1)) {
            return fail(format!("the window does not fit {rank} spatial dimensions"));
        }
        let axis = |d: usize| {
            let mut axis = Axis {
                size: sizes[d].clone(),
                windows: None,
                kernel: window.kernel[d],
                stride: window.strides[d],
                dilation: window.dilations[d],
                before: 0,
                after: 0,
                inside: false,
            };
            match &window.padding {
                Padding::Explicit(before, after) => {
                    explicit_axis(&mut axis, before[d], after[d], window.ceil);
                    Ok(axis)
                }
                same => same_axis(axis, *same == Padding::SameLower),
            }
        };
        (0..rank).map(axis).collect()
    }

    /// `x: [N, C, spatial…]`, `weight: [M, C / group, kernel…]`, `bias: [M]`, giving `[N, M, windows…]`.
    ///
    /// # Errors
    /// When shapes do not fit, or grouped channels are not known.
    pub fn conv(&mut self, x: Value, weight: Value, bias: Option<Value>, group: i64, window: &Window) -> Built {
        let elem = self.elem(x);
        let outside = zero(self.cx(), elem);
        let product = self.windows_of((x, outside), weight, (group, window), elem, &[], |s, args| {
            linear::product(s, args[0], args[1])
        })?;
        let Some(bias) = bias else { return Ok(product) };
        let (sizes, out) = (self.shape(bias), self.shape(product));
        let [features] = &sizes[..] else { return fail("the bias must be a vector") };
        self.unify(&out[1], features, || "numbers of output channels".to_string())?;
        let index = self.dims(0..out.len());
        let inputs = vec![
            ComputeInput { value: product, index: index.clone(), oob: None },
            ComputeInput { value: bias, index: vec![self.dim(1)], oob: None },
        ];
        let iterators = vec![IteratorKind::Parallel; out.len()];
        let result = ComputeResult { shape: out, elem, index, combiner: None };
        let op = self.compute(&iterators, inputs, vec![result], |s, args| vec![s.add(args[0], args[1])]);
        Ok(self.b.body().result(op, 0))
    }

    /// The sums over each window and the input channels of what `term` makes of an element of `x`, or of `outside`, of one of the
    /// weight, and of `more`, tensors of rank 0; see [`Self::conv`].
    ///
    /// # Errors
    /// When shapes do not fit, or grouped channels are not known.
    pub(super) fn windows_of(
        &mut self,
        (x, outside): (Value, Attr),
        weight: Value,
        (group, window): (i64, &Window),
        elem: Type,
        more: &[Value],
        term: impl FnOnce(&mut Scalars<'_, '_>, &[Value]) -> Value,
    ) -> Built {
        let (shape, filter) = (self.shape(x), self.shape(weight));
        if shape.len() < 3 || filter.len() != shape.len() {
            return fail(format!("an input of rank {} does not fit a weight of rank {}", shape.len(), filter.len()));
        }
        let spatial = shape.len() - 2;
        let axes = self.window_axes(&shape[2..], window)?;
        for (d, size) in filter[2..].iter().enumerate() {
            self.unify(&Some(window.kernel[d].into()), size, || format!("kernel size {d} and the weight's"))?;
        }
        let unpadded = match &window.padding {
            Padding::Explicit(before, after) => before.iter().chain(after).all(|n| *n == 0),
            // Windows of one place need none.
            Padding::SameUpper | Padding::SameLower => true,
        };
        let single = axes.iter().all(|axis| axis.kernel == 1) && unpadded && !window.ceil;
        if single && axes.iter().any(|axis| axis.stride > 1) {
            // A window of one place reads every n-th element only. Sliced out first, they make this a product.
            let (dims, starts, ends) =
                ((2..shape.len()).collect::<Vec<_>>(), vec![0; spatial], vec![i64::MAX; spatial]);
            let thin = self.slice(x, &dims, &SliceBounds::Known(starts, ends), &window.strides)?;
            let padding = Padding::Explicit(vec![0; spatial], vec![0; spatial]);
            let window = Window { strides: vec![1; spatial], padding, ..window.clone() };
            return self.windows_of((thin, outside), weight, (group, &window), elem, more, term);
        }
        let channels = filter[1].as_ref().map(|c| c.scale(group));
        self.unify(&shape[1], &channels, || "channels of the input and of the weight".to_string())?;
        // Iterators: batch, output channel, windows, then input channel of the group and kernel.
        let (channel, kernel) = (2 + spatial, 3 + spatial);
        let mut index_x = vec![self.dim(0), self.group_channel(group, channel, &filter)?];
        let mut index_w = vec![self.dim(1), self.dim(channel)];
        let (mut out, mut iterators) =
            (vec![shape[0].clone(), filter[0].clone()], vec![IteratorKind::Parallel; channel]);
        let (x, axes) = self.surrounded(x, axes, outside)?;
        for (d, axis) in axes.iter().enumerate() {
            index_x.push(axis.index(self, 2 + d, kernel + d));
            index_w.push(self.dim(kernel + d));
            out.push(axis.windows.clone());
        }
        iterators.resize(kernel + spatial, IteratorKind::Reduce);
        let oob = (!axes.iter().all(|a| a.inside)).then_some(outside);
        let mut inputs = vec![
            ComputeInput { value: x, index: index_x, oob },
            ComputeInput { value: weight, index: index_w, oob: None },
        ];
        inputs.extend(more.iter().map(|value| ComputeInput { value: *value, index: Vec::new(), oob: None }));
        let index = self.dims(0..channel);
        let result = ComputeResult { shape: out, elem, index, combiner: Some(Combiner::Add) };
        let op = self.compute(&iterators, inputs, vec![result], |s, args| vec![term(s, args)]);
        Ok(self.b.body().result(op, 0))
    }

    /// The input channel that an output channel reads: its group's first plus the iterator.
    fn group_channel(&self, group: i64, channel: usize, filter: &SymShape) -> Built<AffineExpr> {
        if group == 1 {
            return Ok(self.dim(channel));
        }
        let known = |size: &Option<Poly>| size.as_ref().and_then(Poly::as_const);
        let (Some(outputs), Some(inputs)) = (known(&filter[0]), known(&filter[1])) else {
            return unsupported("a grouped convolution needs a weight of known shape");
        };
        if outputs % group != 0 {
            return fail(format!("{outputs} output channels do not make {group} equal groups"));
        }
        let cx = self.cx();
        if outputs == 0 {
            return Ok(self.dim(channel));
        }
        let number = cx.affine_binary(AffineOp::FloorDiv, self.dim(1), cx.affine_const(outputs / group));
        let first = cx.affine_binary(AffineOp::Mul, number, cx.affine_const(inputs));
        // A sum with an iterator of one step would only hide that the index is plain.
        if inputs == 1 {
            return Ok(first);
        }
        Ok(cx.affine_binary(AffineOp::Add, first, self.dim(channel)))
    }

    /// The largest element of each window; padding never is.
    ///
    /// # Errors
    /// When the window does not fit.
    pub fn max_pool(&mut self, x: Value, window: &Window) -> Built {
        let elem = self.elem(x);
        if is_unsigned(self.cx(), elem) {
            if self.cx().bit_width(elem).is_none_or(|bits| bits > 16) {
                return unsupported("pools integers without sign of more than 16 bits");
            }
            // As signed ones of more bits they have the same order.
            let wide = self.elementwise(&[x], Type::I32, |s, args| s.cast(args[0], Type::I32))?;
            let pooled = self.max_pool(wide, window)?;
            return self.elementwise(&[pooled], elem, |s, args| s.cast(args[0], elem));
        }
        let identity = Combiner::Max.identity(self.cx(), elem);
        Ok(self.pool(x, window, Combiner::Max, elem, identity, |_, x| x)?.0)
    }

    /// The mean of each window, of its elements inside the input or, with `count_padding`, of the padded input.
    ///
    /// # Errors
    /// When the window does not fit, or a size is unknown.
    pub fn average_pool(&mut self, x: Value, window: &Window, count_padding: bool) -> Built {
        let elem = self.elem(x);
        let wide = accumulator_type(self.cx(), elem);
        let oob = zero(self.cx(), elem);
        let (sum, axes) = self.pool(x, window, Combiner::Add, wide, oob, |s, x| s.cast(x, wide))?;
        let after: Vec<i64> = match &window.padding {
            Padding::Explicit(_, after) => after.clone(),
            _ => vec![0; axes.len()],
        };
        // Windows that lie inside what counts all have the same number of elements.
        let full = axes.iter().all(|a| a.inside) || (count_padding && !window.ceil);
        if !full && axes.iter().any(|a| a.size.is_none()) {
            return unsupported("needs a size that depends on data");
        }
        let (shape, index) = (self.shape(sum), self.dims(0..2 + axes.len()));
        let inputs = vec![ComputeInput { value: sum, index: index.clone(), oob: None }];
        let result = ComputeResult { shape, elem, index, combiner: None };
        let op = self.compute(&vec![IteratorKind::Parallel; 2 + axes.len()], inputs, vec![result], |s, args| {
            let mean = if full {
                let count = s.number(axes.iter().map(|a| a.kernel).product::<i64>() as f64, wide);
                s.div(args[0], count)
            } else {
                let count = window_count(s, &axes, count_padding.then_some(&after[..]));
                let count = s.cast(count, wide);
                s.div(args[0], count)
            };
            vec![s.cast(mean, elem)]
        });
        Ok(self.b.body().result(op, 0))
    }

    /// The tensor and the axes of a window on it, with the elements around it where a window reaches outside along several dims but
    /// the last: a kernel takes one such dim beside its columns.
    pub(super) fn surrounded(&mut self, x: Value, mut axes: Vec<Axis>, outside: Attr) -> Built<(Value, Vec<Axis>)> {
        let rank = axes.len() + 2;
        let mut leaving: Vec<usize> = (0..axes.len() - 1).filter(|d| !axes[*d].inside).collect();
        // A single window along the last dim has no columns.
        let single = axes.last().and_then(|last| last.windows.as_ref()?.as_const()) == Some(1);
        if !single {
            leaving.pop();
        }
        let mut x = x;
        for d in leaving {
            let (mut before, mut after) = (vec![Poly::default(); rank], vec![Poly::default(); rank]);
            (before[2 + d], after[2 + d]) = (axes[d].before.into(), axes[d].after.into());
            x = self.pad(x, &before, &after, PadKind::Constant(outside))?;
            let size = self.shape(x)[2 + d].clone();
            axes[d] = Axis { size, before: 0, after: 0, inside: true, ..axes[d].clone() };
        }
        Ok((x, axes))
    }

    pub(super) fn pool(
        &mut self,
        x: Value,
        window: &Window,
        combiner: Combiner,
        elem: Type,
        oob: Attr,
        contribution: impl FnOnce(&mut Scalars<'_, '_>, Value) -> Value,
    ) -> Built<(Value, Vec<Axis>)> {
        let shape = self.shape(x);
        if shape.len() < 3 {
            return fail(format!("an input of rank {} has no spatial dimensions", shape.len()));
        }
        let spatial = shape.len() - 2;
        let axes = self.window_axes(&shape[2..], window)?;
        // Iterators: batch, channel, windows, kernel. Nothing is read at a plain kernel iterator, so a tensor of the
        // kernel's shape gives their extents.
        let kernel = self.kernel_shape(&window.kernel)?;
        let mut index = vec![self.dim(0), self.dim(1)];
        let mut out = shape[..2].to_vec();
        let (x, reads) = self.surrounded(x, axes.clone(), oob)?;
        for (d, axis) in reads.iter().enumerate() {
            index.push(axis.index(self, 2 + d, 2 + spatial + d));
            out.push(axis.windows.clone());
        }
        let mut iterators = vec![IteratorKind::Parallel; 2 + spatial];
        iterators.resize(2 + 2 * spatial, IteratorKind::Reduce);
        let oob = (!reads.iter().all(|a| a.inside)).then_some(oob);
        let inputs = vec![
            ComputeInput { value: x, index, oob },
            ComputeInput { value: kernel, index: self.dims(2 + spatial..2 + 2 * spatial), oob: None },
        ];
        let index = self.dims(0..2 + spatial);
        let result = ComputeResult { shape: out, elem, index, combiner: Some(combiner) };
        let op = self.compute(&iterators, inputs, vec![result], |s, args| vec![contribution(s, args[0])]);
        Ok((self.b.body().result(op, 0), axes))
    }

    /// A constant whose shape is the kernel's; its elements are not read.
    pub(super) fn kernel_shape(&mut self, kernel: &[i64]) -> Built {
        let ty = self.cx().tensor_type(kernel, Type::I1, None);
        match self.cx().dense_attr(ty, &[1]) {
            Some(value) => Ok(self.constant(value)),
            None => fail("the window is too large"),
        }
    }
}

/// The number 0 of type `elem`.
pub fn zero(cx: &sutura_ir::Context, elem: Type) -> Attr {
    match elem.is_float(cx) {
        true => cx.float_attr(0.0, elem),
        false if crate::complex::part_type(cx, elem).is_some() => Combiner::Add.identity(cx, elem),
        false if cx.storage_type(elem).is_some() => cx.int_attr(0, written_type(cx, elem)),
        false => cx.int_attr(0, elem),
    }
}

fn explicit_axis(axis: &mut Axis, before: i64, after: i64, ceil: bool) {
    axis.before = before;
    axis.after = after + if ceil { axis.stride - 1 } else { 0 };
    // In steps of one there is nothing to round.
    axis.inside = before == 0 && after == 0 && (!ceil || axis.stride == 1);
    let Some(size) = &axis.size else { return };
    let room = size.add(&(before + after - axis.span()).into());
    let windows = |rounded: Poly| rounded.add(&1.into());
    axis.windows = Some(match ceil {
        false => windows(room.floordiv(axis.stride)),
        true => {
            let count = windows(room.ceildiv(axis.stride));
            // A window that would begin in the padding after the input does not count.
            match (count.as_const(), size.as_const()) {
                (Some(n), Some(size)) if (n - 1) * axis.stride >= size + before => (n - 1).into(),
                // One window at most is so, and none where the padding is short.
                (None, _) if after + axis.stride > axis.span() => {
                    count.lesser(&size.add(&before.into()).ceildiv(axis.stride))
                }
                _ => count,
            }
        }
    });
    // Rounding down leaves the windows inside; for known sizes it can also be seen with padding.
    if let (Some(n), Some(size)) = (axis.windows.as_ref().and_then(Poly::as_const), size.as_const()) {
        axis.inside = before == 0 && (n - 1) * axis.stride + axis.span() <= size;
    }
}

/// An axis padded so that there are `ceil(size / stride)` windows.
fn same_axis(mut axis: Axis, lower: bool) -> Built<Axis> {
    let windows = axis.size.as_ref().map(|s| s.ceildiv(axis.stride));
    let total = match (axis.size.as_ref().and_then(Poly::as_const), axis.stride) {
        (Some(size), stride) => ((size + stride - 1) / stride - 1) * stride + axis.span() - size,
        (None, 1) => axis.span() - 1,
        (None, stride) => {
            return unsupported(format!("'same' padding with stride {stride} needs a spatial size that is known"));
        }
    };
    let total = total.max(0);
    axis.before = if lower { total - total / 2 } else { total / 2 };
    axis.after = total - axis.before;
    axis.inside = total == 0;
    axis.windows = windows;
    Ok(axis)
}

/// Number of elements of the window at the current point that lie inside the input, or inside the padded input whose
/// padding after each dimension is given.
fn window_count(s: &mut Scalars<'_, '_>, axes: &[Axis], padded: Option<&[i64]>) -> Value {
    let mut count = s.int(1, Type::INDEX);
    for (d, axis) in axes.iter().enumerate() {
        let size = axis.size.clone().unwrap_or_default();
        // Element k of window o is at `o * stride + k * dilation`, from the padded input's begin.
        let (from, to) = match padded {
            Some(after) => (Poly::constant(0), size.add(&(axis.before + after[d]).into())),
            None => (axis.before.into(), size.add(&axis.before.into())),
        };
        let o = s.index(2 + d);
        let (stride, dilation) = (s.int(axis.stride, Type::INDEX), s.int(axis.dilation, Type::INDEX));
        let start = s.mul(o, stride);
        let bound = |s: &mut Scalars<'_, '_>, limit: &Poly| {
            let limit = s.size(limit);
            let distance = s.sub(limit, start);
            let last = s.int(axis.dilation - 1, Type::INDEX);
            let distance = s.add(distance, last);
            let steps = s.floor_div(distance, dilation);
            let (zero, kernel) = (s.int(0, Type::INDEX), s.int(axis.kernel, Type::INDEX));
            let low = s.max(steps, zero);
            s.min(low, kernel)
        };
        let (first, end) = (bound(s, &from), bound(s, &to));
        let inside = s.sub(end, first);
        count = s.mul(count, inside);
    }
    count
}
