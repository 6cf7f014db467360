//! Reductions, and what is made of them: means, softmax, normalisations.

use sutura_ir::affine::AffineExpr;
use sutura_ir::{Type, Value};

use super::super::shape_fn::SymShape;
use super::super::structured::{Combiner, IteratorKind, accumulator_type};
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, Scalars, fail};
use crate::r#dyn::Poly;

impl<'b> GraphBuilder<'_, 'b> {
    /// Joins what `contribution` makes of the elements along `axes`; a result of element type `elem`. With `keep` the
    /// axes stay, with size 1.
    pub fn reduce(
        &mut self,
        x: Value,
        axes: &[usize],
        keep: bool,
        combiner: Combiner,
        elem: Type,
        contribution: impl FnOnce(&mut Scalars<'_, 'b>, Value) -> Value,
    ) -> Value {
        self.reduce_with(&[(x, true)], axes, keep, combiner, elem, |s, args| contribution(s, args[0]))
    }

    /// Like [`Self::reduce`] for several tensors: the first has all dimensions, others marked false have those that
    /// are not reduced.
    fn reduce_with(
        &mut self,
        inputs: &[(Value, bool)],
        axes: &[usize],
        keep: bool,
        combiner: Combiner,
        elem: Type,
        contribution: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Value,
    ) -> Value {
        let shape = self.shape(inputs[0].0);
        let rank = shape.len();
        let reduced = |d: usize| axes.contains(&d);
        let kind = |d| if reduced(d) { IteratorKind::Reduce } else { IteratorKind::Parallel };
        let iterators: Vec<IteratorKind> = (0..rank).map(kind).collect();
        let rows: Vec<AffineExpr> = (0..rank).filter(|d| !reduced(*d)).map(|d| self.dim(d)).collect();
        let (mut index, mut sizes) = (Vec::new(), SymShape::new());
        for (d, size) in shape.into_iter().enumerate() {
            match (reduced(d), keep) {
                (false, _) => (index.push(self.dim(d)), sizes.push(size)),
                (true, true) => (index.push(self.cx().affine_const(0)), sizes.push(Some(1.into()))),
                (true, false) => continue,
            };
        }
        let input = |(value, whole): &(Value, bool)| ComputeInput {
            value: *value,
            index: if *whole { self.dims(0..rank) } else { rows.clone() },
            oob: None,
        };
        let inputs = inputs.iter().map(input).collect();
        let combiner = (!axes.is_empty()).then_some(combiner);
        let result = ComputeResult { shape: sizes, elem, index, combiner };
        let op = self.compute(&iterators, inputs, vec![result], |s, args| vec![contribution(s, args)]);
        self.b.body().result(op, 0)
    }

    /// `function` applied to the elements of `x` and of tensors without the dimensions `axes`, which are repeated.
    fn along_rows(
        &mut self,
        x: Value,
        rows: &[Value],
        axes: &[usize],
        function: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Value,
    ) -> Value {
        let (shape, elem) = (self.shape(x), self.elem(x));
        let rank = shape.len();
        let kept: Vec<AffineExpr> = (0..rank).filter(|d| !axes.contains(d)).map(|d| self.dim(d)).collect();
        let mut inputs = vec![ComputeInput { value: x, index: self.dims(0..rank), oob: None }];
        inputs.extend(rows.iter().map(|value| ComputeInput { value: *value, index: kept.clone(), oob: None }));
        let result = ComputeResult { shape, elem, index: self.dims(0..rank), combiner: None };
        let op =
            self.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| vec![function(s, args)]);
        self.b.body().result(op, 0)
    }

    /// Number of elements along `axes`.
    ///
    /// # Errors
    /// When a size is unknown.
    fn count(&self, x: Value, axes: &[usize]) -> Built<Poly> {
        let shape = self.shape(x);
        let sizes: Option<Vec<Poly>> = axes.iter().map(|a| shape[*a].clone()).collect();
        match sizes {
            Some(sizes) => Ok(Poly::product(&sizes)),
            None => fail("needs a size that depends on data"),
        }
    }

    /// The mean along `axes`.
    ///
    /// # Errors
    /// When a size is unknown.
    pub fn mean(&mut self, x: Value, axes: &[usize], keep: bool) -> Built {
        let (count, elem) = (self.count(x, axes)?, self.elem(x));
        let wide = accumulator_type(self.cx(), elem);
        let sum = self.reduce(x, axes, keep, Combiner::Add, wide, |s, x| s.cast(x, wide));
        self.elementwise(&[sum], elem, |s, args| {
            let mean = divide_by(s, args[0], &count);
            s.cast(mean, elem)
        })
    }

    /// Softmax along `axes`, shifted by the maximum.
    pub fn softmax(&mut self, x: Value, axes: &[usize]) -> Value {
        let elem = self.elem(x);
        let max = self.reduce(x, axes, false, Combiner::Max, elem, |_, x| x);
        let exp = self.along_rows(x, &[max], axes, |s, args| {
            let shifted = s.sub(args[0], args[1]);
            s.math("math.exp", shifted)
        });
        let sum = self.reduce(exp, axes, false, Combiner::Add, elem, |_, x| x);
        self.along_rows(exp, &[sum], axes, |s, args| s.div(args[0], args[1]))
    }

    /// Layer normalisation over the dimensions from `axis` on, mean and variance in `f32` at least; `scale` and `bias`
    /// are broadcast to `x`.
    ///
    /// # Errors
    /// When a size is unknown or shapes do not fit.
    pub fn layer_norm(&mut self, x: Value, axis: usize, scale: Value, bias: Option<Value>, epsilon: f64) -> Built {
        let rank = self.rank(x);
        let axes: Vec<usize> = (axis..rank).collect();
        let (count, elem) = (self.count(x, &axes)?, self.elem(x));
        let wide = accumulator_type(self.cx(), elem);
        let sum = self.reduce(x, &axes, false, Combiner::Add, wide, |s, x| s.cast(x, wide));
        let mean = self.map(sum, |s, sum| divide_by(s, sum, &count))?;
        let squares = self.reduce_with(&[(x, true), (mean, false)], &axes, false, Combiner::Add, wide, |s, args| {
            let x = s.cast(args[0], wide);
            let centred = s.sub(x, args[1]);
            s.mul(centred, centred)
        });
        let factor = self.map(squares, |s, squares| {
            let variance = divide_by(s, squares, &count);
            let epsilon = s.number(epsilon, wide);
            let sum = s.add(variance, epsilon);
            s.math("math.rsqrt", sum)
        })?;
        let normal = self.along_rows(x, &[mean, factor], &axes, |s, args| {
            let x = s.cast(args[0], wide);
            let centred = s.sub(x, args[1]);
            let normal = s.mul(centred, args[2]);
            s.cast(normal, elem)
        });
        let scaled = self.zip(normal, scale, |s, x, scale| s.mul(x, scale))?;
        match bias {
            Some(bias) => self.zip(scaled, bias, |s, x, bias| s.add(x, bias)),
            None => Ok(scaled),
        }
    }

    /// `(x - mean) / sqrt(variance + epsilon) * scale + bias` with vectors over dimension 1.
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn batch_norm(&mut self, x: Value, [scale, bias, mean, variance]: [Value; 4], epsilon: f64) -> Built {
        let (shape, elem) = (self.shape(x), self.elem(x));
        let rank = shape.len();
        if rank < 2 {
            return fail(format!("needs a tensor of rank 2 at least, not {rank}"));
        }
        for vector in [scale, bias, mean, variance] {
            let sizes = self.shape(vector);
            let [channels] = &sizes[..] else { return fail("needs vectors over the channels") };
            self.unify(&shape[1], channels, || "numbers of channels".to_string())?;
        }
        let factor = self.zip(scale, variance, |s, scale, variance| {
            let epsilon = s.number(epsilon, s.ty(variance));
            let sum = s.add(variance, epsilon);
            let root = s.math("math.sqrt", sum);
            s.div(scale, root)
        })?;
        let mut inputs = vec![ComputeInput { value: x, index: self.dims(0..rank), oob: None }];
        let channel = vec![self.dim(1)];
        let vectors = [mean, factor, bias].map(|value| ComputeInput { value, index: channel.clone(), oob: None });
        inputs.extend(vectors);
        let result = ComputeResult { shape, elem, index: self.dims(0..rank), combiner: None };
        let op = self.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| {
            let centred = s.sub(args[0], args[1]);
            let scaled = s.mul(centred, args[2]);
            vec![s.add(scaled, args[3])]
        });
        Ok(self.b.body().result(op, 0))
    }
}

/// `x / count`, by the number itself where the count is known.
pub(super) fn divide_by(s: &mut Scalars<'_, '_>, x: Value, count: &Poly) -> Value {
    let ty = s.ty(x);
    let count = match count.as_const() {
        Some(count) => s.number(count as f64, ty),
        None => {
            let count = s.size(count);
            s.cast(count, ty)
        }
    };
    s.div(x, count)
}
