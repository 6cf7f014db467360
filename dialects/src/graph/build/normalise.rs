//! What is normalised by its own statistics: softmax, layers, groups, roots of mean squares; and batches.

use sutura_ir::Value;

use super::super::combine::Combiner;
use super::super::structured::IteratorKind;
use super::reduce::divide_by;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, fail, unsupported};
use crate::r#dyn::Poly;
use crate::elements::accumulator_type;

impl GraphBuilder<'_, '_> {
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
