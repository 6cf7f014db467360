//! Operators that compute where an element comes from or goes.

use sutura_dialects::elements::is_unsigned;
use sutura_dialects::graph::IteratorKind;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Joined, Scalars};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::Reason;
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::super::tensor::Scalar;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family =
    &[("OneHot", one_hot), ("ReverseSequence", reverse_sequence), ("TensorScatter", tensor_scatter)];

/// Floats beyond this are no index.
const FARTHEST: f64 = 4_611_686_018_427_387_904.0;

/// A dimension of size `depth` at `axis`, in which the second of two values stands where an index says, and the first elsewhere.
#[derive(Debug)]
struct OneHot<'m> {
    indices: &'m str,
    depth: Param<'m, Scalar>,
    values: &'m str,
    axis: i64,
}

fn one_hot<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let depth = match r.scalar_param(1)?.ok_or("has no `depth`")? {
        // A float counts as the integer before it.
        Param::Known(Scalar::Float(depth)) if depth.abs() < FARTHEST => Param::Known(Scalar::Int(depth as i128)),
        Param::Known(Scalar::Int(depth)) => Param::Known(Scalar::Int(depth)),
        Param::Known(_) => return Err("has a `depth` that is no size".into()),
        value => value,
    };
    Ok(Conversion::op(OneHot { indices: r.input(0)?, depth, values: r.input(2)?, axis: r.int("axis")? }))
}

impl<'m> Convert<'m> for OneHot<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (indices, values) = importer.pair(self.indices, self.values)?;
        let depth = importer.any_size(&self.depth, "depth")?;
        let [two] = &importer.g.shape(values)[..] else { return wrong("`values` must be a list of two numbers") };
        importer.g.unify(&two.clone(), &Some(2.into()), || "the number of `values` and 2".into())?;
        let mut shape = importer.g.shape(indices);
        let rank = shape.len() + 1;
        let axis = importer.g.axis(self.axis, rank)?;
        shape.insert(axis, Some(depth.clone()));
        let index = (0..rank).filter(|d| *d != axis).map(|d| importer.g.dim(d)).collect();
        let value = |i: i64| ComputeInput { value: values, index: vec![importer.cx().affine_const(i)], oob: None };
        let inputs = vec![ComputeInput { value: indices, index, oob: None }, value(0), value(1)];
        let (elem, index) = (importer.g.elem(values), importer.g.dims(0..rank));
        let result = ComputeResult { shape, elem, index, combiner: None };
        let op = importer.g.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| {
            let (at, depth) = (s.index(axis), s.size(&depth));
            let (at, depth) = (s.cast(at, Type::I64), s.cast(depth, Type::I64));
            let here = names(s, args[0], at, depth);
            vec![s.select(here, args[2], args[1])]
        });
        Ok(vec![importer.g.b.body().result(op, 0)])
    }
}

/// Whether an index, which may count from the end of `depth`, is the position `at`.
fn names(s: &mut Scalars<'_, '_>, index: Value, at: Value, depth: Value) -> Value {
    let (cx, ty) = (s.cx(), s.ty(index));
    if is_unsigned(cx, ty) || ty == Type::I1 {
        let index = s.cast(index, Type::I64);
        return s.compare(Comparison::Equal, index, at);
    }
    if ty.is_float(cx) {
        let narrow = cx.bit_width(ty).is_some_and(|bits| bits < 32);
        let wide = if narrow { s.cast(index, Type::F32) } else { index };
        let (far, zero) = (s.number(FARTHEST, s.ty(wide)), s.number(0.0, s.ty(wide)));
        let size = s.abs(wide);
        let near = s.compare(Comparison::Less, size, far);
        let near_number = s.select(near, wide, zero);
        let whole = s.cast(near_number, Type::I64);
        let named = names(s, whole, at, depth);
        return s.bits("arith.andi", near, named);
    }
    let index = s.cast(index, Type::I64);
    let zero = s.int(0, Type::I64);
    let negative = s.compare(Comparison::Less, index, zero);
    let from_end = s.add(index, depth);
    let index = s.select(negative, from_end, index);
    s.compare(Comparison::Equal, index, at)
}

/// The first elements of each sequence, as many as a list says, in reverse order.
#[derive(Debug)]
struct ReverseSequence<'m> {
    x: &'m str,
    lengths: &'m str,
    /// Whether the first dimension counts sequences, and the second time.
    batch_first: bool,
}

fn reverse_sequence<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let batch_first = match (r.int("batch_axis")?, r.int("time_axis")?) {
        (0, 1) => true,
        (1, 0) => false,
        (batch, time) => {
            return Err(format!("has `batch_axis` {batch} and `time_axis` {time}, which must be 0 and 1").into());
        }
    };
    Ok(Conversion::op(ReverseSequence { x: r.input(0)?, lengths: r.input(1)?, batch_first }))
}

impl<'m> Convert<'m> for ReverseSequence<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, lengths) = importer.pair(self.x, self.lengths)?;
        let shape = importer.g.shape(x);
        if shape.len() < 2 {
            return wrong(format!("takes sequences from a tensor of rank {}", shape.len()));
        }
        let [count] = &importer.g.shape(lengths)[..] else { return wrong("`sequence_lens` must be a list") };
        let (batch, time) = if self.batch_first { (0, 1) } else { (1, 0) };
        importer.g.unify(&shape[batch], &count.clone(), || "the number of sequences and of `sequence_lens`".into())?;
        // For each point its time, and before it its sequence where that comes second.
        let mut sizes = shape[..2].to_vec();
        sizes.push(Some(if self.batch_first { 1 } else { 2 }.into()));
        let inputs = vec![ComputeInput { value: lengths, index: vec![importer.g.dim(batch)], oob: None }];
        let index = importer.g.dims(0..3);
        let result = ComputeResult { shape: sizes, elem: Type::I64, index, combiner: None };
        let batch_first = self.batch_first;
        let op = importer.g.compute(&[IteratorKind::Parallel; 3], inputs, vec![result], |s, args| {
            let (now, length) = (s.index(time), args[0]);
            let (now, one) = (s.cast(now, Type::I64), s.int(1, Type::I64));
            let last = s.sub(length, one);
            let (mirrored, within) = (s.sub(last, now), s.compare(Comparison::Less, now, length));
            let at = s.select(within, mirrored, now);
            if batch_first {
                return vec![at];
            }
            let (sequence, part) = (s.index(batch), s.index(2));
            let (sequence, zero) = (s.cast(sequence, Type::I64), s.int(0, Type::INDEX));
            let is_time = s.compare(Comparison::Equal, part, zero);
            vec![s.select(is_time, at, sequence)]
        });
        let indices = importer.g.b.body().result(op, 0);
        Ok(vec![importer.g.gather_nd(x, indices, usize::from(self.batch_first))?])
    }
}

/// A tensor with another one written to it along `axis`, from where a list says for each of the first dimension.
#[derive(Debug)]
struct TensorScatter<'m> {
    past: &'m str,
    update: &'m str,
    from: Option<&'m str>,
    axis: i64,
    circular: bool,
}

fn tensor_scatter<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let circular = match r.string("mode")? {
        None | Some("linear") => false,
        Some("circular") => true,
        Some(other) => return Err(format!("has unknown `mode` {other}").into()),
    };
    let (past, update, from) = (r.input(0)?, r.input(1)?, r.optional(2));
    Ok(Conversion::op(TensorScatter { past, update, from, axis: r.int("axis")?, circular }))
}

impl<'m> Convert<'m> for TensorScatter<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (past, update) = importer.pair(self.past, self.update)?;
        let (shape, updates) = (importer.g.shape(past), importer.g.shape(update));
        let rank = shape.len();
        if updates.len() != rank {
            return wrong(format!("writes a tensor of rank {} to one of rank {rank}", updates.len()));
        }
        let axis = importer.g.axis(self.axis, rank)?;
        if axis == 0 {
            return wrong("has `axis` 0, which counts the samples");
        }
        for d in (0..rank).filter(|d| *d != axis) {
            importer.g.unify(&shape[d], &updates[d], || format!("dimension {d} of `past_cache` and `update`"))?;
        }
        let (Some(size), Some(length)) = (&shape[axis], &updates[axis]) else {
            return fail("writes along a dimension whose size depends on data");
        };
        // More would be written than there is place for, even where it goes round.
        importer.not_negative(&vec![Some(size.sub(length))], "place behind `update`")?;
        let mut inputs = Vec::new();
        if let Some(from) = self.from {
            let from = importer.value(from)?;
            let [count] = &importer.g.shape(from)[..] else { return wrong("`write_indices` must be a list") };
            importer.g.unify(&shape[0], &count.clone(), || "the number of samples and of `write_indices`".into())?;
            inputs.push(ComputeInput { value: from, index: vec![importer.g.dim(0)], oob: None });
        }
        let index = importer.g.dims(0..rank);
        let result = ComputeResult { shape: updates, elem: Type::I64, index, combiner: None };
        let circular = self.circular;
        let op = importer.g.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| {
            let step = s.index(axis);
            let step = s.cast(step, Type::I64);
            let at = args.first().map_or(step, |from| s.add(*from, step));
            if !circular {
                // A negative place is none, and not one from the end.
                let (zero, none) = (s.int(0, Type::I64), s.int(i64::MAX, Type::I64));
                let negative = s.compare(Comparison::Less, at, zero);
                return vec![s.select(negative, none, at)];
            }
            let size = s.size(size);
            let size = s.cast(size, Type::I64);
            vec![s.modulo(at, size)]
        });
        let indices = importer.g.b.body().result(op, 0);
        Ok(vec![importer.g.scatter((past, indices, update), Some(axis), Joined::Replace)?])
    }
}
