//! Operators whose axes, bounds or parts are data, where the rank of the result is known.
//!
//! A size of the result is one that data decide: so many elements of a mask are not zero. Where these are says which elements
//! of a dim stay. An axis outside the tensor is an index outside a list, an error at run time.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Joined, Scalars};
use sutura_dialects::graph::{Combiner, IteratorKind};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::op::{Op, PadMode, Reduction};
use super::stated_axes::{self, Chosen};
use super::{Conversion, Convert};

/// A list of known length, as integers of 64 bits, and its length.
fn list<'m>(importer: &mut Importer<'m, '_, '_>, name: &'m str) -> Made<(Value, i64)> {
    let value = importer.list(name)?;
    match importer.g.shape(value)[0].as_ref().and_then(Poly::as_const) {
        Some(length) => Ok((importer.g.cast(value, Type::I64)?, length)),
        None => fail(format!("takes axes from `{name}`, whose length is not known")),
    }
}

/// The numbers of a list that is computed from shapes or constants, where all are known.
fn known(importer: &Importer<'_, '_, '_>, list: Value) -> Option<Vec<i64>> {
    let contents = importer.g.contents(list)?;
    contents.iter().map(|number| number.as_ref()?.as_const()).collect()
}

/// A list of `rank` numbers, `others` but for those at `axes`, which are `numbers`.
pub(in super::super) fn scattered(
    importer: &mut Importer<'_, '_, '_>,
    rank: usize,
    axes: Value,
    numbers: Value,
    others: i64,
) -> Made {
    let size = [Some(Poly::constant(rank as i64))];
    let all = importer.g.generate(&size, Type::I64, |s| s.int(others, Type::I64))?;
    Ok(importer.g.scatter((all, axes, numbers), Some(0), Joined::Replace)?)
}

/// A list of `rank` numbers, 1 for each axis and 0 for the others.
fn marks(importer: &mut Importer<'_, '_, '_>, rank: usize, axes: Value, count: i64) -> Made {
    let ones = importer.g.generate(&[Some(count.into())], Type::I64, |s| s.int(1, Type::I64))?;
    scattered(importer, rank, axes, ones, 0)
}

/// Where a mask of so many elements holds, as a list; `body` gets the numbers of lists at the places that are named.
fn places<'b>(
    importer: &mut Importer<'_, '_, 'b>,
    size: &Poly,
    numbers: &[(Value, usize)],
    looks_for: Option<&str>,
    body: impl FnOnce(&mut Scalars<'_, 'b>, Value, &[Value]) -> Value,
) -> Made {
    let input = |(list, at): &(Value, usize)| {
        let index = vec![importer.cx().affine_const(*at as i64)];
        ComputeInput { value: *list, index, oob: None }
    };
    let inputs = numbers.iter().map(input).collect();
    let index = importer.g.dims(0..1);
    let result = ComputeResult { shape: vec![Some(size.clone())], elem: Type::I1, index, combiner: None };
    let op = importer.g.compute(&[IteratorKind::Parallel], inputs, vec![result], |s, args| {
        let i = s.index(0);
        let i = s.cast(i, Type::I64);
        vec![body(s, i, args)]
    });
    let mask = importer.g.b.body().result(op, 0);
    let found = importer.g.non_zero(mask, looks_for);
    let found = importer.decided(found, 1)?;
    Ok(importer.g.squeeze(found, &[0])?)
}

fn sizes(importer: &Importer<'_, '_, '_>, x: Value) -> Made<Vec<Poly>> {
    match importer.g.shape(x).into_iter().collect::<Option<Vec<Poly>>>() {
        Some(sizes) => Ok(sizes),
        None => fail("has an input whose size is not known"),
    }
}

/// A size as a number of 64 bits.
fn number(s: &mut Scalars<'_, '_>, size: &Poly) -> Value {
    let size = s.size(size);
    s.cast(size, Type::I64)
}

/// The tensor in a shape whose dim `j` is, of `dims`, the one before which `j` others are not marked; or, where `added`, 1 for
/// those that are marked.
fn reshaped(
    importer: &mut Importer<'_, '_, '_>,
    x: Value,
    (marks, marked): (Value, usize),
    dims: &[Poly],
    added: bool,
) -> Made {
    let rank = if added { marked } else { dims.len() - marked };
    let total = Poly::sum(dims.iter().map(|dim| (dim, 1))).add(&1.into());
    let mut shape = Vec::new();
    let all: Vec<(Value, usize)> = (0..if added { rank } else { dims.len() }).map(|at| (marks, at)).collect();
    for j in 0..rank {
        let found = places(importer, &total, &all, None, |s, i, marks| {
            let (zero, one) = (s.int(0, Type::I64), s.int(1, Type::I64));
            let unmarked = |s: &mut Scalars<'_, '_>, mark: Value| s.sub(one, mark);
            if added {
                let mut before = zero;
                for mark in &marks[..j] {
                    let unmarked = unmarked(s, *mark);
                    before = s.add(before, unmarked);
                }
                let first = s.compare(Comparison::Equal, i, zero);
                let own = of_dim(s, i, dims, |s, d| {
                    let d = s.int(d as i64, Type::I64);
                    s.compare(Comparison::Equal, before, d)
                });
                let is_marked = s.compare(Comparison::NotEqual, marks[j], zero);
                return s.select(is_marked, first, own);
            }
            let wanted = s.int(j as i64, Type::I64);
            let mut before = zero;
            let mut chosen = Vec::new();
            for mark in marks {
                let (is_next, is_free) =
                    (s.compare(Comparison::Equal, before, wanted), s.compare(Comparison::Equal, *mark, zero));
                chosen.push(s.bits("arith.andi", is_next, is_free));
                let unmarked = unmarked(s, *mark);
                before = s.add(before, unmarked);
            }
            of_dim(s, i, dims, |_, d| chosen[d])
        })?;
        shape.push(importer.g.shape(found)[0].clone());
    }
    Ok(importer.g.reshape_to(x, &shape)?)
}

/// Whether `i` counts an element of a dim that is chosen, where one element and then those of all dims lie behind one another.
fn of_dim<'b>(
    s: &mut Scalars<'_, 'b>,
    i: Value,
    dims: &[Poly],
    chosen: impl Fn(&mut Scalars<'_, 'b>, usize) -> Value,
) -> Value {
    let (mut begin, mut any) = (s.int(1, Type::I64), s.int(0, Type::I1));
    for (d, dim) in dims.iter().enumerate() {
        let size = number(s, dim);
        let end = s.add(begin, size);
        let (low, high) = (s.compare(Comparison::GreaterOrEqual, i, begin), s.compare(Comparison::Less, i, end));
        let within = s.bits("arith.andi", low, high);
        let chosen = chosen(s, d);
        let own = s.bits("arith.andi", within, chosen);
        any = s.bits("arith.ori", any, own);
        begin = end;
    }
    any
}

/// A reduction along axes that data say.
#[derive(Debug)]
struct Reduce<'m> {
    function: Reduction,
    x: &'m str,
    axes: &'m str,
    keep: bool,
    /// Without axes nothing is reduced.
    noop: bool,
}

pub(in super::super) fn reduce<'m>(
    function: Reduction,
    (x, axes): (&'m str, &'m str),
    keep: bool,
    noop: bool,
) -> Op<'m> {
    Conversion::op(Reduce { function, x, axes, keep, noop })
}

impl<'m> Convert<'m> for Reduce<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (axes, count) = list(importer, self.axes)?;
        let fixed = match known(importer, axes) {
            _ if count == 0 && self.noop => Some(Some(Vec::new())),
            _ if count == 0 => Some(None),
            known => known.map(Some),
        };
        if let Some(fixed) = fixed {
            return Ok(vec![importer.reduce(self.function, self.x, fixed.as_deref(), self.keep)?]);
        }
        let x = importer.value(self.x)?;
        let (elem, dims) = (importer.g.elem(x), sizes(importer, x)?);
        let rank = dims.len();
        if count > rank as i64 {
            return wrong(format!("names {count} axes of a tensor of rank {rank}"));
        }
        let marks = marks(importer, rank, axes, count)?;
        let choices =
            stated_axes::choices(importer, &dims, count as usize, if self.keep { Chosen::Kept } else { Chosen::Gone });
        if stated_axes::are_few(&choices) {
            let mut made = Vec::new();
            for axes in &choices {
                let axes: Vec<i64> = axes.iter().map(|axis| *axis as i64).collect();
                made.push(importer.reduce(self.function, self.x, Some(&axes), self.keep)?);
            }
            return Ok(vec![stated_axes::picked(importer, marks, &choices, &made)?]);
        }
        let mut made = self.prepared(importer, x)?;
        for axis in 0..rank {
            made = self.along(importer, made, marks, axis)?;
        }
        let made = self.finished(importer, made, (marks, &dims), elem)?;
        match self.keep {
            true => Ok(vec![made]),
            // Without the marked dims, which have size 1.
            false => Ok(vec![reshaped(importer, made, (marks, count as usize), &dims, false)?]),
        }
    }
}

impl Reduce<'_> {
    /// What is reduced along one axis after the other.
    fn prepared(&self, importer: &mut Importer<'_, '_, '_>, x: Value) -> Made {
        let wide = accumulator_type(importer.cx(), importer.g.elem(x));
        Ok(match self.function {
            Reduction::L1 => importer.g.map(x, |s, x| s.abs(x))?,
            Reduction::L2 | Reduction::SumSquare => importer.g.map(x, |s, x| s.mul(x, x))?,
            Reduction::Mean => importer.g.cast(x, wide)?,
            _ => x,
        })
    }

    /// Reduced along an axis if that is marked, as it is otherwise.
    fn along(&self, importer: &mut Importer<'_, '_, '_>, x: Value, marks: Value, axis: usize) -> Made {
        let elem = importer.g.elem(x);
        let size = sizes(importer, x)?[axis].clone();
        if size.as_const() == Some(1) {
            return Ok(x);
        }
        let combiner = match self.function {
            Reduction::Max => Combiner::Max,
            Reduction::Min => Combiner::Min,
            Reduction::Prod => Combiner::Mul,
            _ => Combiner::Add,
        };
        let one = match self.function {
            Reduction::LogSumExp => importer.g.log_sum_exp(x, &[axis], true)?,
            _ => importer.g.reduce(x, &[axis], true, combiner, elem, |_, x| x),
        };
        // The last element is the one that all others make.
        let both = importer.g.concat(&[x, one], axis)?;
        let places = places(importer, &size.add(&1.into()), &[(marks, axis)], None, |s, i, marks| {
            let (last, zero) = (number(s, &size), s.int(0, Type::I64));
            let (is_last, is_marked) =
                (s.compare(Comparison::Equal, i, last), s.compare(Comparison::NotEqual, marks[0], zero));
            s.compare(Comparison::Equal, is_last, is_marked)
        })?;
        Ok(importer.g.gather(both, places, axis))
    }

    fn finished(
        &self,
        importer: &mut Importer<'_, '_, '_>,
        x: Value,
        (marks, dims): (Value, &[Poly]),
        elem: Type,
    ) -> Made {
        Ok(match self.function {
            Reduction::L2 => importer.g.map(x, |s, x| s.math("math.sqrt", x))?,
            Reduction::LogSum => importer.g.map(x, |s, x| s.math("math.log", x))?,
            Reduction::Mean => {
                let rank = importer.g.rank(x);
                let mut inputs = vec![ComputeInput { value: x, index: importer.g.dims(0..rank), oob: None }];
                inputs.extend((0..rank).map(|at| {
                    let index = vec![importer.cx().affine_const(at as i64)];
                    ComputeInput { value: marks, index, oob: None }
                }));
                let (shape, index) = (importer.g.shape(x), importer.g.dims(0..rank));
                let result = ComputeResult { shape, elem, index, combiner: None };
                let kinds = vec![IteratorKind::Parallel; rank];
                let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
                    let (zero, one) = (s.int(0, Type::I64), s.int(1, Type::I64));
                    let mut count = one;
                    for (mark, dim) in args[1..].iter().zip(dims) {
                        let size = number(s, dim);
                        let is_marked = s.compare(Comparison::NotEqual, *mark, zero);
                        let factor = s.select(is_marked, size, one);
                        count = s.mul(count, factor);
                    }
                    let count = s.cast(count, s.ty(args[0]));
                    let mean = s.div(args[0], count);
                    vec![s.cast(mean, elem)]
                });
                importer.g.b.body().result(op, 0)
            }
            _ => x,
        })
    }
}

/// In every run, that numbers of lists are not such as `body` says; `what` says what they would be then.
pub(in super::super) fn never<'b>(
    importer: &mut Importer<'_, '_, 'b>,
    numbers: &[(Value, usize)],
    what: &str,
    body: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Value,
) -> Made<()> {
    let found = places(importer, &1.into(), numbers, Some(what), |s, _, numbers| body(s, numbers))?;
    let count = importer.g.shape(found)[0].clone();
    importer.g.unify(&count, &Some(0.into()), || format!("the number of {what}, and 0"))?;
    Ok(())
}

/// In every run, that each element of a list is one of those that stand at its place in other lists.
pub(in super::super) fn check_elements(
    importer: &mut Importer<'_, '_, '_>,
    list: Value,
    allowed: &[Vec<i64>],
    what: &str,
) -> Made<()> {
    let shape = importer.g.shape(list);
    let mut inputs = vec![list];
    for numbers in allowed {
        inputs.push(importer.g.int_list(numbers)?);
    }
    let input = |value: Value| ComputeInput { value, index: importer.g.dims(0..1), oob: None };
    let inputs = inputs.into_iter().map(input).collect();
    let result = ComputeResult { shape, elem: Type::I1, index: importer.g.dims(0..1), combiner: None };
    let op = importer.g.compute(&[IteratorKind::Parallel], inputs, vec![result], |s, args| {
        let number = s.cast(args[0], Type::I64);
        let mut other = s.int(1, Type::I1);
        for allowed in &args[1..] {
            let differs = s.compare(Comparison::NotEqual, number, *allowed);
            other = s.bits("arith.andi", other, differs);
        }
        vec![other]
    });
    let others = importer.g.b.body().result(op, 0);
    let what = format!("numbers of {what} that are not what the model states");
    let found = importer.g.non_zero(others, Some(&what));
    let found = importer.decided(found, 1)?;
    let count = importer.g.shape(found)[1].clone();
    importer.g.unify(&count, &Some(0.into()), || format!("the number of {what}, and 0"))?;
    Ok(())
}

/// Running combinations along an axis that data say.
#[derive(Debug)]
struct Running<'m> {
    x: &'m str,
    axis: &'m str,
    combiner: Combiner,
    exclusive: bool,
    reverse: bool,
}

pub(in super::super) fn running<'m>(
    (x, axis): (&'m str, &'m str),
    combiner: Combiner,
    exclusive: bool,
    reverse: bool,
) -> Op<'m> {
    Conversion::op(Running { x, axis, combiner, exclusive, reverse })
}

impl<'m> Convert<'m> for Running<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, axis) = (importer.value(self.x)?, importer.value(self.axis)?);
        if importer.g.rank(axis) > 1 {
            return wrong(format!("`axis` must be one number, not a tensor of rank {}", importer.g.rank(axis)));
        }
        let axis = importer.g.reshape_to(axis, &[])?;
        let (rank, Self { combiner, exclusive, reverse, .. }) = (importer.g.rank(x), self);
        let mut all = Vec::new();
        for axis in 0..rank {
            let sums = importer.g.scan(x, axis, *combiner, *exclusive, *reverse)?;
            all.push(importer.g.unsqueeze(sums, &[0])?);
        }
        if all.is_empty() {
            return wrong("runs along an axis of a tensor of rank 0");
        }
        let all = importer.g.concat(&all, 0)?;
        Ok(vec![importer.g.gather(all, axis, 0)])
    }
}

/// Dims of size 1 taken away, or added, where data say.
#[derive(Debug)]
struct Ones<'m> {
    x: &'m str,
    axes: &'m str,
    added: bool,
}

pub(in super::super) fn ones<'m>((x, axes): (&'m str, &'m str), added: bool) -> Op<'m> {
    Conversion::op(Ones { x, axes, added })
}

impl<'m> Convert<'m> for Ones<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let (axes, count) = list(importer, self.axes)?;
        let dims = sizes(importer, x)?;
        let (rank, count) = (dims.len(), usize::try_from(count).unwrap_or(0));
        if let Some(axes) = known(importer, axes) {
            let all = if self.added { rank + count } else { rank };
            let axes = importer.g.axes(&axes, all)?;
            let made = if self.added { importer.g.unsqueeze(x, &axes) } else { importer.g.squeeze(x, &axes) };
            return Ok(vec![made?]);
        }
        if !self.added && count > rank {
            return wrong(format!("names {count} axes of a tensor of rank {rank}"));
        }
        let all = if self.added { rank + count } else { rank };
        let marks = marks(importer, all, axes, count as i64)?;
        let choices = stated_axes::choices(importer, &dims, count, if self.added { Chosen::New } else { Chosen::Gone });
        // Of dims of size 1 it is the same whichever goes.
        let fits = |axes: &Vec<usize>| self.added || axes.iter().all(|axis| dims[*axis] == 1.into());
        let choices: Vec<Vec<usize>> = choices.into_iter().filter(fits).collect();
        if let (false, Some(stated)) = (choices.is_empty(), importer.stated()) {
            let shape: Vec<Option<Poly>> = stated.into_iter().map(|size| Some(size.into())).collect();
            let made = importer.g.reshape_to(x, &shape)?;
            return Ok(vec![stated_axes::picked(importer, marks, &choices, &[made])?]);
        }
        Ok(vec![reshaped(importer, x, (marks, if self.added { all } else { count }), &dims, self.added)?])
    }
}

/// A slice whose axes, bounds and steps are data.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Bounds {
    pub(in super::super) axes: Value,
    pub(in super::super) starts: Value,
    pub(in super::super) ends: Value,
    pub(in super::super) steps: Value,
}

/// The part of a tensor that bounds name, which are lists of one length.
pub(in super::super) fn slice(importer: &mut Importer<'_, '_, '_>, x: Value, bounds: Bounds) -> Made {
    let rank = importer.g.rank(x);
    let starts = scattered(importer, rank, bounds.axes, bounds.starts, 0)?;
    let ends = scattered(importer, rank, bounds.axes, bounds.ends, i64::MAX)?;
    let steps = scattered(importer, rank, bounds.axes, bounds.steps, 1)?;
    let named = known(importer, bounds.axes);
    let stated = importer.stated().filter(|stated| stated.len() == rank);
    let mut made = x;
    for d in 0..rank {
        let is_named = |axis: &i64| *axis == d as i64 || *axis + rank as i64 == d as i64;
        if named.as_ref().is_some_and(|axes| !axes.iter().any(is_named)) {
            continue;
        }
        let size = sizes(importer, made)?[d].clone();
        // Of none that are stated nothing would be looked at.
        if let Some(count) = stated.as_ref().map(|stated| stated[d]).filter(|count| *count > 0) {
            let places = counted_places(importer, (starts, ends, steps), d, &size, count);
            made = importer.g.gather(made, places, d);
            continue;
        }
        let places = places(importer, &size, &[(starts, d), (ends, d), (steps, d)], None, |s, i, args| {
            within(s, i, args, &size)
        })?;
        let inputs = vec![
            ComputeInput { value: places, index: importer.g.dims(0..1), oob: None },
            ComputeInput { value: steps, index: vec![importer.cx().affine_const(d as i64)], oob: None },
        ];
        let (shape, index) = (importer.g.shape(places), importer.g.dims(0..1));
        let result = ComputeResult { shape, elem: Type::I64, index, combiner: None };
        let op = importer.g.compute(&[IteratorKind::Parallel], inputs, vec![result], |s, args| {
            let (zero, one, size) = (s.int(0, Type::I64), s.int(1, Type::I64), number(s, &size));
            let last = s.sub(size, one);
            let mirrored = s.sub(last, args[0]);
            let backward = s.compare(Comparison::Less, args[1], zero);
            let still = s.compare(Comparison::Equal, args[1], zero);
            let at = s.select(backward, mirrored, args[0]);
            // A step of 0 reads outside, which is an error at run time.
            vec![s.select(still, size, at)]
        });
        let places = importer.g.b.body().result(op, 0);
        made = importer.g.gather(made, places, d);
    }
    Ok(made)
}

/// The places of a slice along dim `d`, of which there are as many as the model states; where there are others, they lie outside.
fn counted_places(
    importer: &mut Importer<'_, '_, '_>,
    (starts, ends, steps): (Value, Value, Value),
    d: usize,
    size: &Poly,
    count: i64,
) -> Value {
    let index = || vec![importer.cx().affine_const(d as i64)];
    let inputs = [starts, ends, steps].map(|value| ComputeInput { value, index: index(), oob: None });
    let index = importer.g.dims(0..1);
    let result = ComputeResult { shape: vec![Some(count.into())], elem: Type::I64, index, combiner: None };
    let op = importer.g.compute(&[IteratorKind::Parallel], inputs.to_vec(), vec![result], |s, args| {
        let way = Way::of(s, args, size);
        let (i, zero, one, size) = (s.index(0), s.int(0, Type::I64), s.int(1, Type::I64), number(s, size));
        let i = s.cast(i, Type::I64);
        // How many there are is what fits between the bounds, the last one perhaps in part.
        let distance = s.sub(way.end, way.start);
        let before_last = s.sub(distance, one);
        let whole = s.floor_div(before_last, way.length);
        let found = s.add(whole, one);
        let found = s.max(found, zero);
        let wanted = s.int(count, Type::I64);
        let differs = s.compare(Comparison::NotEqual, found, wanted);
        let wrong = s.bits("arith.ori", differs, way.still);
        let ahead = s.mul(i, way.length);
        let at = s.add(way.start, ahead);
        let last = s.sub(size, one);
        let mirrored = s.sub(last, at);
        let at = s.select(way.backward, mirrored, at);
        vec![s.select(wrong, size, at)]
    });
    importer.g.b.body().result(op, 0)
}

/// A slice along a dim as numbers, which count from the side at which it begins.
struct Way {
    start: Value,
    end: Value,
    /// The step without its sign, at least 1.
    length: Value,
    backward: Value,
    /// The step is 0.
    still: Value,
}

impl Way {
    /// Of a start, an end and a step, along a dim of this size.
    fn of(s: &mut Scalars<'_, '_>, bounds: &[Value], size: &Poly) -> Self {
        let (zero, one, size) = (s.int(0, Type::I64), s.int(1, Type::I64), number(s, size));
        let smallest = s.int(-i64::MAX, Type::I64);
        let step = s.max(bounds[2], smallest);
        let (backward, still) = (s.compare(Comparison::Less, step, zero), s.compare(Comparison::Equal, step, zero));
        let length = s.abs(step);
        let length = s.max(length, one);
        let last = s.sub(size, one);
        let bound = |s: &mut Scalars<'_, '_>, bound: Value| {
            let negative = s.compare(Comparison::Less, bound, zero);
            let wrapped = s.add(bound, size);
            let from_front = s.select(negative, wrapped, bound);
            let none = s.int(-1, Type::I64);
            let low = s.max(from_front, none);
            let front = s.min(low, size);
            let mirrored = s.sub(last, front);
            let chosen = s.select(backward, mirrored, front);
            s.max(chosen, zero)
        };
        let (start, end) = (bound(s, bounds[0]), bound(s, bounds[1]));
        Self { start, end, length, backward, still }
    }
}

/// Whether element `i`, counted from the end where the step is negative, is one of a slice.
fn within(s: &mut Scalars<'_, '_>, i: Value, bounds: &[Value], size: &Poly) -> Value {
    let Way { start, end, length, still, .. } = Way::of(s, bounds, size);
    let zero = s.int(0, Type::I64);
    let distance = s.sub(i, start);
    let rest = s.rem(distance, length);
    let (low, high, exact) = (
        s.compare(Comparison::GreaterOrEqual, i, start),
        s.compare(Comparison::Less, i, end),
        s.compare(Comparison::Equal, rest, zero),
    );
    let inside = s.bits("arith.andi", low, high);
    let inside = s.bits("arith.andi", inside, exact);
    s.bits("arith.ori", inside, still)
}

/// The parts of a tensor along an axis, of sizes that data say, which together are its size.
pub(in super::super) fn split(
    importer: &mut Importer<'_, '_, '_>,
    x: Value,
    (axis, parts): (usize, usize),
    lengths: Value,
) -> Made<Vec<Value>> {
    let size = sizes(importer, x)?[axis].clone();
    let mut made = Vec::new();
    for part in 0..parts {
        let numbers: Vec<(Value, usize)> = (0..=part).map(|at| (lengths, at)).collect();
        let places = places(importer, &size, &numbers, None, |s, i, lengths| {
            let zero = s.int(0, Type::I64);
            let before = lengths[..part].iter().copied().fold(zero, |sum, length| s.add(sum, length));
            let end = s.add(before, lengths[part]);
            let (low, high) = (s.compare(Comparison::GreaterOrEqual, i, before), s.compare(Comparison::Less, i, end));
            s.bits("arith.andi", low, high)
        })?;
        made.push(importer.g.gather(x, places, axis));
    }
    let numbers: Vec<(Value, usize)> = (0..parts).map(|at| (lengths, at)).collect();
    let what = format!("parts that are negative or do not sum to dimension {axis}");
    never(importer, &numbers, &what, |s, lengths| {
        let (zero, whole) = (s.int(0, Type::I64), number(s, &size));
        let (mut sum, mut wrong) = (zero, s.int(0, Type::I1));
        for length in lengths {
            sum = s.add(sum, *length);
            let negative = s.compare(Comparison::Less, *length, zero);
            wrong = s.bits("arith.ori", wrong, negative);
        }
        let differs = s.compare(Comparison::NotEqual, sum, whole);
        s.bits("arith.ori", wrong, differs)
    })?;
    Ok(made)
}

/// Padding by data: lists of the elements before and behind each dim, and the sizes that come out.
#[derive(Clone, Copy)]
pub(in super::super) struct Pads<'a> {
    pub(in super::super) before: Value,
    pub(in super::super) after: Value,
    pub(in super::super) sizes: &'a [Poly],
    pub(in super::super) mode: PadMode,
    /// The number around the tensor, if that is padded with one.
    pub(in super::super) value: Option<Value>,
}

/// A padded tensor: each dim is gathered, and what lies outside is replaced.
pub(in super::super) fn pad(importer: &mut Importer<'_, '_, '_>, x: Value, pads: Pads<'_>) -> Made {
    let own = sizes(importer, x)?;
    let (mut made, mut outside) = (x, Vec::new());
    for (d, (own, size)) in own.iter().zip(pads.sizes).enumerate() {
        let what = format!("pads of dimension {d} that make another size than {}", size.brief());
        never(importer, &[(pads.before, d), (pads.after, d)], &what, |s, pads| {
            let (own, size) = (number(s, own), number(s, size));
            let sum = s.add(pads[0], own);
            let sum = s.add(sum, pads[1]);
            s.compare(Comparison::NotEqual, sum, size)
        })?;
        // What lies outside is replaced, but there must be something to read.
        let mut read = own.clone();
        if let Some(value) = pads.value.filter(|_| importer.g.env.facts.range(own).0 < 1) {
            made = with_row(importer, made, d, value)?;
            read = own.add(&1.into());
        }
        let index = table(importer, (pads.before, d), size, Type::I64, |s, at| padded_index(s, at, &read, pads.mode))?;
        if pads.value.is_some() {
            outside.push((d, table(importer, (pads.before, d), size, Type::I1, |s, at| is_outside(s, at, own))?));
        }
        made = importer.g.gather(made, index, d);
    }
    let Some(value) = pads.value else { return Ok(made) };
    let (rank, shape, elem) = (own.len(), importer.g.shape(made), importer.g.elem(made));
    let value = importer.g.reshape_to(value, &[])?;
    let mut inputs = vec![ComputeInput { value: made, index: importer.g.dims(0..rank), oob: None }];
    inputs.push(ComputeInput { value, index: Vec::new(), oob: None });
    inputs.extend(outside.iter().map(|(d, value)| {
        let index = importer.g.dims(*d..*d + 1);
        ComputeInput { value: *value, index, oob: None }
    }));
    let result = ComputeResult { shape, elem, index: importer.g.dims(0..rank), combiner: None };
    let op = importer.g.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| {
        let none = s.int(0, Type::I1);
        let any = args[2..].iter().copied().fold(none, |a, b| s.bits("arith.ori", a, b));
        vec![s.select(any, args[1], args[0])]
    });
    Ok(importer.g.b.body().result(op, 0))
}

/// The tensor, and behind it along a dim one slice of a number.
fn with_row(importer: &mut Importer<'_, '_, '_>, x: Value, dim: usize, number: Value) -> Made {
    let (mut shape, elem, number) = (importer.g.shape(x), importer.g.elem(x), importer.g.reshape_to(number, &[])?);
    shape[dim] = Some(1.into());
    let (rank, inputs) = (shape.len(), vec![ComputeInput { value: number, index: Vec::new(), oob: None }]);
    let result = ComputeResult { shape, elem, index: importer.g.dims(0..rank), combiner: None };
    let op = importer.g.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |_, args| vec![args[0]]);
    let row = importer.g.b.body().result(op, 0);
    Ok(importer.g.concat(&[x, row], dim)?)
}

/// A table of a padded dim; `body` gets the place in the input, which may lie outside.
fn table<'b>(
    importer: &mut Importer<'_, '_, 'b>,
    (before, d): (Value, usize),
    size: &Poly,
    elem: Type,
    body: impl FnOnce(&mut Scalars<'_, 'b>, Value) -> Value,
) -> Made {
    let inputs = vec![ComputeInput { value: before, index: vec![importer.cx().affine_const(d as i64)], oob: None }];
    let index = importer.g.dims(0..1);
    let result = ComputeResult { shape: vec![Some(size.clone())], elem, index, combiner: None };
    let op = importer.g.compute(&[IteratorKind::Parallel], inputs, vec![result], |s, args| {
        let i = s.index(0);
        let i = s.cast(i, Type::I64);
        let at = s.sub(i, args[0]);
        vec![body(s, at)]
    });
    Ok(importer.g.b.body().result(op, 0))
}

fn is_outside(s: &mut Scalars<'_, '_>, at: Value, size: &Poly) -> Value {
    let (zero, size) = (s.int(0, Type::I64), number(s, size));
    let (low, high) = (s.compare(Comparison::Less, at, zero), s.compare(Comparison::GreaterOrEqual, at, size));
    s.bits("arith.ori", low, high)
}

/// The element that stands for a place, which may lie outside.
fn padded_index(s: &mut Scalars<'_, '_>, at: Value, size: &Poly, mode: PadMode) -> Value {
    let (zero, one, size) = (s.int(0, Type::I64), s.int(1, Type::I64), number(s, size));
    let last = s.sub(size, one);
    match mode {
        PadMode::Wrap => {
            let period = s.max(size, one);
            s.modulo(at, period)
        }
        PadMode::Reflect => {
            // A period goes to the last element and back.
            let twice = s.add(last, last);
            let period = s.max(twice, one);
            let phase = s.modulo(at, period);
            let back = s.sub(twice, phase);
            let mirrored = s.min(phase, back);
            s.max(mirrored, zero)
        }
        PadMode::Constant | PadMode::Edge => {
            let low = s.max(at, zero);
            s.min(low, last)
        }
    }
}
