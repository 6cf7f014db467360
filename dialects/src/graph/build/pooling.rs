//! Pools that make more than an extreme or a mean.

use sutura_ir::affine::AffineOp;
use sutura_ir::{Type, Value};

use super::super::combine::{Combiner, Law, StateAttr};
use super::super::structured::IteratorKind;
use super::scalar::Comparison;
use super::window::Axis;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, Scalars, Window, fail, unsupported, zero};
use crate::r#dyn::Poly;
use crate::elements::{accumulator_type, is_unsigned};

impl<'b> GraphBuilder<'_, 'b> {
    /// The sum of `contribution` of the elements of each window; what lies outside contributes that of 0. A result of the type in
    /// which elements are accumulated.
    ///
    /// # Errors
    /// When the window does not fit.
    pub fn sum_pool(
        &mut self,
        x: Value,
        window: &Window,
        contribution: impl FnOnce(&mut Scalars<'_, '_>, Value) -> Value,
    ) -> Built {
        let elem = self.elem(x);
        let wide = accumulator_type(self.cx(), elem);
        let outside = zero(self.cx(), elem);
        let sum = self.pool(x, window, Combiner::Add, wide, outside, |s, x| {
            let x = s.cast(x, wide);
            contribution(s, x)
        })?;
        Ok(sum.0)
    }

    /// The sum of the squares of `size` neighbours along dim 1, in the type in which elements are accumulated; of an even number, one
    /// more lies behind.
    ///
    /// # Errors
    /// When there is no such dim, or no neighbours.
    pub fn sum_of_near_squares(&mut self, x: Value, size: i64) -> Built {
        let (cx, shape, elem) = (self.cx(), self.shape(x), self.elem(x));
        let rank = shape.len();
        if rank < 2 {
            return fail(format!("an input of rank {rank} has no channels"));
        }
        if !(1..1 << 31).contains(&size) {
            return fail(format!("has a size of {size} channels"));
        }
        let wide = accumulator_type(cx, elem);
        let mut index = self.dims(0..rank);
        let sum = cx.affine_binary(AffineOp::Add, self.dim(1), self.dim(rank));
        index[1] = cx.affine_binary(AffineOp::Add, sum, cx.affine_const(-((size - 1) / 2)));
        let near = self.kernel_shape(&[size])?;
        let inputs = vec![
            ComputeInput { value: x, index, oob: (size > 1).then(|| zero(cx, elem)) },
            ComputeInput { value: near, index: self.dims(rank..rank + 1), oob: None },
        ];
        let mut iterators = vec![IteratorKind::Parallel; rank];
        iterators.push(IteratorKind::Reduce);
        let result = ComputeResult { shape, elem: wide, index: self.dims(0..rank), combiner: Some(Combiner::Add) };
        let op = self.compute(&iterators, inputs, vec![result], |s, args| {
            let x = s.cast(args[0], wide);
            vec![s.mul(x, x)]
        });
        Ok(self.b.body().result(op, 0))
    }

    /// The largest element of each window, NaN above all, and where the first such one lies in the input, which is counted from its
    /// beginning. With `columns` the first spatial dim is that whose neighbours lie side by side.
    ///
    /// # Errors
    /// When the window does not fit, or a size is unknown.
    pub fn max_pool_with_places(&mut self, x: Value, window: &Window, columns: bool) -> Built<Vec<Value>> {
        let (cx, shape, elem) = (self.cx(), self.shape(x), self.elem(x));
        if is_unsigned(cx, elem) {
            if cx.bit_width(elem).is_none_or(|bits| bits > 16) {
                return unsupported("pools integers without sign of more than 16 bits");
            }
            let wide = self.elementwise(&[x], Type::I32, |s, args| s.cast(args[0], Type::I32))?;
            let mut made = self.max_pool_with_places(wide, window, columns)?;
            made[0] = self.elementwise(&[made[0]], elem, |s, args| s.cast(args[0], elem))?;
            return Ok(made);
        }
        if shape.len() < 3 {
            return fail(format!("an input of rank {} has no spatial dimensions", shape.len()));
        }
        let Some(sizes) = shape.iter().cloned().collect::<Option<Vec<Poly>>>() else {
            return unsupported("needs a size that depends on data");
        };
        let spatial = shape.len() - 2;
        let axes = self.window_axes(&shape[2..], window)?;
        let number = zero(cx, elem);
        let (read, reads) = self.surrounded(x, axes.clone(), number)?;
        let kernel = self.kernel_shape(&window.kernel)?;
        let (mut index, mut out) = (vec![self.dim(0), self.dim(1)], shape[..2].to_vec());
        for (d, axis) in reads.iter().enumerate() {
            index.push(axis.index(self, 2 + d, 2 + spatial + d));
            out.push(axis.windows.clone());
        }
        let oob = (!reads.iter().all(Axis::is_inside)).then_some(number);
        let inputs = vec![
            ComputeInput { value: read, index, oob },
            ComputeInput { value: kernel, index: self.dims(2 + spatial..2 + 2 * spatial), oob: None },
        ];
        let mut iterators = vec![IteratorKind::Parallel; 2 + spatial];
        iterators.resize(2 + 2 * spatial, IteratorKind::Reduce);
        let index = self.dims(0..2 + spatial);
        let result = |elem| ComputeResult { shape: out.clone(), elem, index: index.clone(), combiner: None };
        let results = vec![result(elem), result(Type::I64)];
        let nowhere = cx.int_attr(-1, Type::I64);
        let state = StateAttr { identity: vec![number, nowhere], laws: vec![Law::Associative, Law::Commutative] };
        let body = |s: &mut Scalars<'_, 'b>, args: &[Value]| {
            let place = place(s, &axes, &sizes, columns);
            vec![args[0], s.cast(place, Type::I64)]
        };
        let op = self.compute_joint(&iterators, inputs, results, body, (state, first_of_largest));
        Ok(self.b.body().results(op).collect())
    }
}

/// Where the element of a window lies in the input; -1 outside.
fn place(s: &mut Scalars<'_, '_>, axes: &[Axis], sizes: &[Poly], columns: bool) -> Value {
    let spatial = axes.len();
    let (zero, one) = (s.int(0, Type::INDEX), s.int(1, Type::INDEX));
    let mut inside = s.int(1, Type::I1);
    let mut places = Vec::new();
    for (d, axis) in axes.iter().enumerate() {
        let (o, k) = (s.index(2 + d), s.index(2 + spatial + d));
        let numbers = [axis.stride, axis.dilation, axis.before].map(|number| s.int(number, Type::INDEX));
        let (first, next) = (s.mul(o, numbers[0]), s.mul(k, numbers[1]));
        let at = s.add(first, next);
        let at = s.sub(at, numbers[2]);
        let size = s.size(&sizes[2 + d]);
        let (low, high) = (s.compare(Comparison::GreaterOrEqual, at, zero), s.compare(Comparison::Less, at, size));
        let within = s.bits("arith.andi", low, high);
        inside = s.bits("arith.andi", inside, within);
        places.push((at, size));
    }
    if columns {
        places.reverse();
    }
    let (n, c, channels) = (s.index(0), s.index(1), s.size(&sizes[1]));
    let image = s.mul(n, channels);
    let mut flat = s.add(image, c);
    for (at, size) in places {
        let rows = s.mul(flat, size);
        flat = s.add(rows, at);
    }
    let nowhere = s.sub(zero, one);
    s.select(inside, flat, nowhere)
}

/// Joins two elements with their places, of which -1 is none.
fn first_of_largest(s: &mut Scalars<'_, '_>, args: &[Value]) -> Vec<Value> {
    let [a, i, b, j] = args[..] else { return args.to_vec() };
    let none = s.int(0, Type::I64);
    let (a_none, b_some) = (s.compare(Comparison::Less, i, none), s.compare(Comparison::GreaterOrEqual, j, none));
    let (a_nan, b_nan) = (s.compare(Comparison::NotEqual, a, a), s.compare(Comparison::NotEqual, b, b));
    let (more, equal) = (s.compare(Comparison::Greater, b, a), s.compare(Comparison::Equal, a, b));
    let both = s.bits("arith.andi", a_nan, b_nan);
    let tie = s.bits("arith.ori", equal, both);
    let a_number = s.not(a_nan);
    let nan_first = s.bits("arith.andi", b_nan, a_number);
    let wins = s.bits("arith.ori", more, nan_first);
    let before = s.compare(Comparison::Less, j, i);
    let tied = s.bits("arith.andi", tie, before);
    let better = s.bits("arith.ori", wins, tied);
    let first = s.bits("arith.ori", a_none, better);
    let taken = s.bits("arith.andi", b_some, first);
    vec![s.select(taken, b, a), s.select(taken, j, i)]
}
