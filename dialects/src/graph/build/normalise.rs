//! What is normalised by its own statistics: softmax, layers, groups, roots of mean squares; and batches.

use sutura_ir::Value;

use super::super::combine::Combiner;
use super::super::structured::IteratorKind;
use super::reduce::divide_by;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, fail, unsupported};
use crate::r#dyn::Poly;
use crate::elements::accumulator_type;

impl GraphBuilder<'_, '_> {
    /// The largest number along `axes`.
    fn largest(&mut self, x: Value, axes: &[usize]) -> Value {
        let elem = self.elem(x);
        self.reduce(x, axes, false, Combiner::Max, elem, |_, x| x)
    }

    /// Softmax along `axes`, shifted by the maximum. One term of each sum is 1, so that its reciprocal loses nothing but
    /// a rounding, and takes the place of a division for each element.
    ///
    /// # Errors
    /// When sizes cannot be equal.
    pub fn softmax(&mut self, x: Value, axes: &[usize]) -> Built {
        let (elem, max) = (self.elem(x), self.largest(x, axes));
        let exp = self.along_rows(x, &[max], axes, |s, args| {
            let shifted = s.sub(args[0], args[1]);
            s.math("math.exp", shifted)
        });
        let sum = self.reduce(exp, axes, false, Combiner::Add, elem, |_, x| x);
        let factor = self.map(sum, |s, sum| s.reciprocal(sum))?;
        Ok(self.along_rows(exp, &[factor], axes, |s, args| s.mul(args[0], args[1])))
    }

    /// The logarithm of softmax along `axes`: `x - max - log(sum(exp(x - max)))`.
    ///
    /// # Errors
    /// When sizes cannot be equal.
    pub fn log_softmax(&mut self, x: Value, axes: &[usize]) -> Built {
        let (max, sum) = self.shifted_sum_of_powers(x, axes);
        let log = self.map(sum, |s, sum| s.math("math.log", sum))?;
        Ok(self.along_rows(x, &[max, log], axes, |s, args| {
            let shifted = s.sub(args[0], args[1]);
            s.sub(shifted, args[2])
        }))
    }

    /// `log(sum(exp(x)))` along `axes`, shifted by the maximum where that is finite; the axes stay with size 1 if `keep`.
    ///
    /// # Errors
    /// When sizes cannot be equal.
    pub fn log_sum_exp(&mut self, x: Value, axes: &[usize], keep: bool) -> Built {
        let elem = self.elem(x);
        let largest = self.reduce(x, axes, keep, Combiner::Max, elem, |_, x| x);
        // Infinite maxima would give NaN as differences.
        let shift = self.map(largest, |s, max| {
            let (zero, infinity) = (s.number(0.0, s.ty(max)), s.number(f64::INFINITY, s.ty(max)));
            let size = s.abs(max);
            let infinite = s.compare(super::scalar::Comparison::Equal, size, infinity);
            s.select(infinite, zero, max)
        })?;
        let shifted = self.zip_kept(x, shift, axes, keep)?;
        let sum = self.reduce(shifted, axes, keep, Combiner::Add, elem, |s, x| s.math("math.exp", x));
        self.zip(sum, shift, |s, sum, shift| {
            let log = s.math("math.log", sum);
            s.add(log, shift)
        })
    }

    /// `x - shift`, where `shift` lacks the axes unless they are kept.
    fn zip_kept(&mut self, x: Value, shift: Value, axes: &[usize], keep: bool) -> Built {
        if keep {
            return self.zip(x, shift, |s, x, shift| s.sub(x, shift));
        }
        Ok(self.along_rows(x, &[shift], axes, |s, args| s.sub(args[0], args[1])))
    }

    /// The maximum and `sum(exp(x - max))` along `axes`.
    fn shifted_sum_of_powers(&mut self, x: Value, axes: &[usize]) -> (Value, Value) {
        let (elem, max) = (self.elem(x), self.largest(x, axes));
        let sum = self.reduce_with(&[(x, true), (max, false)], axes, false, Combiner::Add, elem, |s, args| {
            let shifted = s.sub(args[0], args[1]);
            s.math("math.exp", shifted)
        });
        (max, sum)
    }

    /// `(x - mean) / sqrt(variance + epsilon)` along `axes`, in `f32` at least until the result.
    fn standardised(&mut self, x: Value, axes: &[usize], epsilon: f64) -> Built {
        let (count, elem) = (self.count(x, axes)?, self.elem(x));
        let wide = accumulator_type(self.cx(), elem);
        let sum = self.reduce(x, axes, false, Combiner::Add, wide, |s, x| s.cast(x, wide));
        let mean = self.map(sum, |s, sum| divide_by(s, sum, &count))?;
        let squares = self.reduce_with(&[(x, true), (mean, false)], axes, false, Combiner::Add, wide, |s, args| {
            let x = s.cast(args[0], wide);
            let centred = s.sub(x, args[1]);
            s.mul(centred, centred)
        });
        let factor = self.inverse_root(squares, &count, epsilon)?;
        Ok(self.along_rows(x, &[mean, factor], axes, |s, args| {
            let x = s.cast(args[0], wide);
            let centred = s.sub(x, args[1]);
            let normal = s.mul(centred, args[2]);
            s.cast(normal, elem)
        }))
    }

    /// `1 / sqrt(squares / count + epsilon)`
    fn inverse_root(&mut self, squares: Value, count: &Poly, epsilon: f64) -> Built {
        self.map(squares, |s, squares| {
            let mean = divide_by(s, squares, count);
            let epsilon = s.number(epsilon, s.ty(squares));
            let sum = s.add(mean, epsilon);
            s.math("math.rsqrt", sum)
        })
    }

    /// `x * scale + bias`, both broadcast to `x`.
    fn scaled(&mut self, x: Value, scale: Value, bias: Option<Value>) -> Built {
        let scaled = self.zip(x, scale, |s, x, scale| s.mul(x, scale))?;
        match bias {
            Some(bias) => self.zip(scaled, bias, |s, x, bias| s.add(x, bias)),
            None => Ok(scaled),
        }
    }

    /// Layer normalisation over the dimensions from `axis` on, mean and variance in `f32` at least; `scale` and `bias`
    /// are broadcast to `x`.
    ///
    /// # Errors
    /// When a size is unknown or shapes do not fit.
    pub fn layer_norm(&mut self, x: Value, axis: usize, scale: Value, bias: Option<Value>, epsilon: f64) -> Built {
        let axes: Vec<usize> = (axis..self.rank(x)).collect();
        let normal = self.standardised(x, &axes, epsilon)?;
        self.scaled(normal, scale, bias)
    }

    /// `x / sqrt(mean(x * x) + epsilon) * scale` over the dimensions from `axis` on, in `f32` at least until the product
    /// with the root; `scale` is broadcast to `x`.
    ///
    /// # Errors
    /// When a size is unknown or shapes do not fit.
    pub fn rms_norm(&mut self, x: Value, axis: usize, scale: Value, epsilon: f64) -> Built {
        let axes: Vec<usize> = (axis..self.rank(x)).collect();
        let (count, elem) = (self.count(x, &axes)?, self.elem(x));
        let wide = accumulator_type(self.cx(), elem);
        let squares = self.reduce(x, &axes, false, Combiner::Add, wide, |s, x| {
            let x = s.cast(x, wide);
            s.mul(x, x)
        });
        let factor = self.inverse_root(squares, &count, epsilon)?;
        let normal = self.along_rows(x, &[factor], &axes, |s, args| {
            let x = s.cast(args[0], wide);
            let normal = s.mul(x, args[1]);
            s.cast(normal, elem)
        });
        self.scaled(normal, scale, None)
    }

    /// Normalises `groups` groups of channels (dimension 1), each with all later dimensions, on its own; then scale and
    /// bias, vectors over the channels. With as many groups as channels this is instance normalisation.
    ///
    /// # Errors
    /// When a size is unknown, shapes do not fit, or the channels do not make that many groups.
    pub fn group_norm(&mut self, x: Value, groups: &Poly, scale: Value, bias: Value, epsilon: f64) -> Built {
        let shape = self.shape(x);
        let rank = shape.len();
        if rank < 2 {
            return fail(format!("needs a tensor of rank 2 at least, not {rank}"));
        }
        for vector in [scale, bias] {
            let sizes = self.shape(vector);
            let [channels] = &sizes[..] else { return fail("needs vectors over the channels") };
            self.unify(&shape[1], channels, || "numbers of channels".to_string())?;
        }
        let normal = if shape[1].as_ref() == Some(groups) {
            let axes: Vec<usize> = (2..rank).collect();
            self.standardised(x, &axes, epsilon)?
        } else {
            let mut grouped = vec![shape[0].clone(), Some(groups.clone()), Some(channels_of_group(&shape[1], groups)?)];
            grouped.extend_from_slice(&shape[2..]);
            let parts = self.reshape_to(x, &grouped)?;
            let axes: Vec<usize> = (2..rank + 1).collect();
            let normal = self.standardised(parts, &axes, epsilon)?;
            self.reshape_to(normal, &shape)?
        };
        let whole = self.dims(0..rank);
        let channel = vec![self.dim(1)];
        let inputs = [(normal, &whole), (scale, &channel), (bias, &channel)];
        let inputs = inputs.map(|(value, index)| ComputeInput { value, index: index.clone(), oob: None }).into();
        let result = ComputeResult { shape, elem: self.elem(x), index: whole, combiner: None };
        let op = self.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| {
            let scaled = s.mul(args[0], args[1]);
            vec![s.add(scaled, args[2])]
        });
        Ok(self.b.body().result(op, 0))
    }

    /// A vector over `groups` groups of the channels of `x` as a vector over the channels.
    ///
    /// # Errors
    /// When the channels do not make that many groups, or the vector has another size.
    pub fn by_channel(&mut self, vector: Value, x: Value, groups: &Poly) -> Built {
        let channels = self.shape(x).get(1).cloned().flatten();
        let each = channels_of_group(&channels, groups)?;
        let sizes = self.shape(vector);
        let [size] = &sizes[..] else { return fail("needs vectors over the groups") };
        self.unify(size, &Some(groups.clone()), || "numbers of groups".to_string())?;
        let column = self.reshape_to(vector, &[Some(groups.clone()), Some(1.into())])?;
        let spread = self.expand(column, &[Some(groups.clone()), Some(each)])?;
        self.reshape_to(spread, &[channels])
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

/// Channels of one group.
fn channels_of_group(channels: &Option<Poly>, groups: &Poly) -> Built<Poly> {
    let (Some(channels), Some(groups)) = (channels.as_ref().and_then(Poly::as_const), groups.as_const()) else {
        return unsupported("needs a known number of channels");
    };
    if groups < 1 || channels % groups != 0 {
        return fail(format!("cannot make {groups} groups of {channels} channels"));
    }
    Ok(Poly::constant(channels / groups))
}
