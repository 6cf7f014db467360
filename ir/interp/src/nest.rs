//! Structured iteration: a scalar region over a box of parallel and reduce iterators, with affine access maps.
//!
//! The reference meaning of every structured op. For each point of the parallel iterators the reduce iterators run in
//! row-major order, so a reduction's order depends on shapes alone.

mod errors;

use std::cell::RefCell;

use smallvec::SmallVec;
use sutura_ir::Context;
use sutura_ir::affine::{AffineExprData, AffineMap, AffineOp};

use crate::buffer::{Buffer, uninitialised};
use crate::error::{Fault, FaultKind};
use crate::num::{Kernel, NumOp, Overflow, Rounding};
use crate::program::{Lanes, Program};
use crate::scalar::{DType, Scalar};
use crate::tensor::{Shape, Tensor, next_index, num_elements, row_major_strides};

pub use errors::Errors;

/// What an iterator does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IteratorKind {
    /// Points are independent.
    Parallel,
    /// Points are combined.
    Reduce,
}

/// An operand that is read: the value of argument `i` of the region at each point.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Elements.
    pub value: &'a Tensor,
    /// From iterators to the operand's dimensions; no symbols.
    pub map: AffineMap,
}

/// How values are combined along the reduce iterators.
#[derive(Clone, Copy, Debug)]
pub struct Combine {
    /// Combines the accumulator (first) and a new value.
    pub op: NumOp,
    /// The accumulator's start, in the type in which it accumulates.
    pub identity: Scalar,
}

/// A result: one value that the region hands back at each point.
#[derive(Clone, Debug)]
pub struct Output {
    /// Element type. An accumulator of a wider float is rounded once to it, one of a wider integer wraps.
    pub dtype: DType,
    /// Shape.
    pub shape: Shape,
    /// From iterators to the result's dimensions; uses parallel iterators only.
    pub map: AffineMap,
    /// Needed where there are reduce iterators and results are not joined together.
    pub combine: Option<Combine>,
}

/// How all results are joined at once: `join` takes the state, one number per result, then a contribution of the same types,
/// and hands back the state of both.
#[derive(Clone, Debug)]
pub struct Joint<'a> {
    /// Joins two states.
    pub join: &'a Program,
    /// The numbers that it takes from outside, see [`Program::captured`].
    pub captured: Vec<Scalar>,
    /// The state of no contributions.
    pub identity: Vec<Scalar>,
}

/// A structured iteration.
#[derive(Clone, Debug)]
pub struct Nest<'a> {
    /// Number of points along each iterator.
    pub extents: Shape,
    /// Kind of each iterator.
    pub kinds: SmallVec<[IteratorKind; 6]>,
    /// Operands, in the order of the region's arguments.
    pub inputs: Vec<Input<'a>>,
    /// Results, in the order of the region's results.
    pub outputs: Vec<Output>,
    /// How contributions are joined where that is not a matter of each result by itself.
    pub joint: Option<Joint<'a>>,
}

/// Points that are worked on at once.
const STRIP: usize = 1024;

/// Position in an operand as a function of the point.
enum Access {
    /// `base + sum of coefficient * iterator`, proved in bounds.
    Linear { base: i64, steps: SmallVec<[i64; 6]> },
    /// Evaluated at each point.
    General(AffineMap),
}

impl Nest<'_> {
    /// Number of points.
    ///
    /// # Errors
    /// When it overflows.
    pub fn num_points(&self) -> Result<usize, Fault> {
        num_elements(&self.extents)
    }

    /// Runs `program` at every point. `captured` holds the numbers of [`Program::captured`].
    ///
    /// # Errors
    /// When maps, shapes or types do not fit each other, an access is out of bounds, an element that is read is
    /// undefined, or a scalar op faults.
    pub fn run(&self, cx: &Context, program: &Program, captured: &[Scalar]) -> Result<Vec<Tensor>, Fault> {
        self.check(program)?;
        let inputs = self.inputs.iter().map(|i| access(cx, i.map, i.value.shape(), &self.extents));
        let inputs: Vec<Access> = inputs.collect::<Result<_, _>>()?;
        // A result is written once, also where there is nothing to reduce.
        let parallel = |(&n, &kind)| if kind == IteratorKind::Reduce { 1 } else { n };
        let written: Shape = self.extents.iter().zip(&self.kinds).map(parallel).collect();
        let outputs = self.outputs.iter().map(|o| access(cx, o.map, &o.shape, &written));
        let outputs: Vec<Access> = outputs.collect::<Result<_, _>>()?;
        let along = self.lane_iterator();
        let width = along.map_or(1, |i| self.extents[i].clamp(1, STRIP));
        let join = self
            .joint
            .as_ref()
            .map(|joint| Lanes::new(joint.join, &joint.captured, width).map(RefCell::new))
            .transpose()?;
        let mut runner = Runner { cx, nest: self, program, inputs, outputs, along, join };
        let results = runner.run(Lanes::new(program, captured, width)?, width);
        match results {
            Err(fault) if fault.kind == FaultKind::DivisionByZero && !self.kinds.contains(&IteratorKind::Reduce) => {
                runner.along = None;
                Err(runner.first_division(Lanes::new(program, captured, 1)?, fault))
            }
            results => results,
        }
    }

    fn check(&self, program: &Program) -> Result<(), Fault> {
        if self.kinds.len() != self.extents.len() {
            return Err(Fault::invalid_ir(format!(
                "{} iterators with {} extents",
                self.kinds.len(),
                self.extents.len()
            )));
        }
        let types: Vec<DType> = self.inputs.iter().map(|i| i.value.dtype()).collect();
        if types != program.arg_types() {
            return Err(Fault::type_mismatch("the region's arguments differ in type from the operands' elements"));
        }
        if program.result_types().len() != self.outputs.len() {
            return Err(Fault::invalid_ir("the region hands back another number of values than there are results"));
        }
        let reduces = self.kinds.contains(&IteratorKind::Reduce);
        if let Some(joint) = &self.joint {
            return joint.check(program);
        }
        if reduces && self.outputs.iter().any(|o| o.combine.is_none()) {
            return Err(Fault::invalid_ir("a result has no combiner for the reduce iterators"));
        }
        Ok(())
    }

    /// The longest parallel iterator: its points are the lanes.
    fn lane_iterator(&self) -> Option<usize> {
        let parallel = (0..self.kinds.len()).filter(|&i| self.kinds[i] == IteratorKind::Parallel);
        parallel.max_by_key(|&i| (self.extents[i], i))
    }
}

impl Joint<'_> {
    /// Two states of the contributions' types go in, and one comes out.
    fn check(&self, program: &Program) -> Result<(), Fault> {
        let state: Vec<DType> = self.identity.iter().map(|number| number.dtype()).collect();
        let fits = program.result_types().eq(state.iter().copied())
            && self.join.result_types().eq(state.iter().copied())
            && self.join.arg_types().iter().eq(state.iter().chain(&state));
        if fits {
            return Ok(());
        }
        Err(Fault::type_mismatch("the state differs in type from what the region hands back or what joins it"))
    }
}

/// How an operand of shape `shape` is reached from the points of a box.
fn access(cx: &Context, map: AffineMap, shape: &[usize], extents: &[usize]) -> Result<Access, Fault> {
    let data = cx.affine_map_data(map);
    let exprs = cx.map_results(map);
    if data.symbols != 0 || data.dims as usize != extents.len() || exprs.len() != shape.len() {
        return Err(Fault::invalid_ir("an access map does not fit the iterators or its operand's rank"));
    }
    let mut base = 0i64;
    let mut steps: SmallVec<[i64; 6]> = extents.iter().map(|_| 0).collect();
    let strides = row_major_strides(shape);
    for (dim, (&expr, &stride)) in exprs.iter().zip(&strides).enumerate() {
        let Some((constant, coefficients)) = linear(cx, expr, extents.len()) else {
            return Ok(Access::General(map));
        };
        check_bounds(constant, &coefficients, extents, dim, shape[dim])?;
        // Wraps only where no point exists that would use it.
        base = base.wrapping_add(constant.wrapping_mul(stride as i64));
        for (step, c) in steps.iter_mut().zip(&coefficients) {
            *step = step.wrapping_add(c.wrapping_mul(stride as i64));
        }
    }
    Ok(Access::Linear { base, steps })
}

/// A linear function over a box takes its extremes at corners.
fn check_bounds(constant: i64, coefficients: &[i64], extents: &[usize], dim: usize, size: usize) -> Result<(), Fault> {
    if extents.contains(&0) {
        return Ok(());
    }
    let (mut low, mut high) = (constant, constant);
    for (&c, &extent) in coefficients.iter().zip(extents) {
        let reach = c.checked_mul(extent as i64 - 1).ok_or_else(|| out_of_range(dim))?;
        let side = if reach < 0 { &mut low } else { &mut high };
        *side = side.checked_add(reach).ok_or_else(|| out_of_range(dim))?;
    }
    match (low < 0, high >= size as i64) {
        (true, _) => Err(crate::tensor::out_of_bounds(low, dim, size)),
        (_, true) => Err(crate::tensor::out_of_bounds(high, dim, size)),
        _ => Ok(()),
    }
}

fn out_of_range(dim: usize) -> Fault {
    Fault::new(FaultKind::OutOfBounds, format!("the index along dimension {dim} overflows"))
}

/// Constant and coefficients of a linear expression; `None` for one with `floordiv`, `ceildiv` or `mod`.
fn linear(cx: &Context, expr: sutura_ir::affine::AffineExpr, dims: usize) -> Option<(i64, SmallVec<[i64; 6]>)> {
    let mut constant = 0i64;
    let mut coefficients: SmallVec<[i64; 6]> = (0..dims).map(|_| 0).collect();
    // Terms still to add, each with its factor.
    let mut pending = vec![(expr, 1i64)];
    while let Some((expr, factor)) = pending.pop() {
        match cx.affine_data(expr) {
            AffineExprData::Const(c) => constant = constant.checked_add(c.checked_mul(factor)?)?,
            AffineExprData::Dim(d) => {
                let slot = coefficients.get_mut(d as usize)?;
                *slot = slot.checked_add(factor)?;
            }
            AffineExprData::Symbol(_) => return None,
            AffineExprData::Binary(AffineOp::Add, a, b) => pending.extend([(a, factor), (b, factor)]),
            AffineExprData::Binary(AffineOp::Mul, a, b) => match (cx.affine_data(a), cx.affine_data(b)) {
                (_, AffineExprData::Const(c)) => pending.push((a, factor.checked_mul(c)?)),
                (AffineExprData::Const(c), _) => pending.push((b, factor.checked_mul(c)?)),
                _ => return None,
            },
            AffineExprData::Binary(..) => return None,
        }
    }
    Some((constant, coefficients))
}

struct Runner<'r> {
    cx: &'r Context,
    nest: &'r Nest<'r>,
    program: &'r Program,
    inputs: Vec<Access>,
    outputs: Vec<Access>,
    /// The iterator whose points are the lanes.
    along: Option<usize>,
    /// Lanes of the program that joins states.
    join: Option<RefCell<Lanes>>,
}

/// Where an accumulator begins.
enum Start {
    /// It holds the one value that there is.
    Nowhere,
    /// At the combiner's identity.
    Of(Combine),
    /// At this number of the state; what joins states is no matter of the accumulator.
    At(Scalar),
}

/// Accumulator lanes of one output, and how values get into and out of them.
struct Accumulator {
    lanes: Vec<u64>,
    spare: Vec<u64>,
    start: Option<Scalar>,
    combine: Option<Kernel>,
    widen: Option<Kernel>,
    narrow: Option<Kernel>,
}

impl Runner<'_> {
    fn run(&self, mut lanes: Lanes, width: usize) -> Result<Vec<Tensor>, Fault> {
        let nest = self.nest;
        let undefined = |o: &Output| Ok(Buffer::undefined(o.dtype, num_elements(&o.shape)?));
        let mut results: Vec<Buffer> = nest.outputs.iter().map(undefined).collect::<Result<_, Fault>>()?;
        let types: Vec<DType> = self.program.result_types().collect();
        let reduces = nest.kinds.contains(&IteratorKind::Reduce);
        let joint = nest.joint.as_ref().filter(|_| reduces);
        let accumulators = nest.outputs.iter().zip(types).enumerate().map(|(i, (o, ty))| {
            // One value per result needs no combining, which could change it: 0 + -0 is 0.
            let start = match joint {
                Some(joint) => Start::At(joint.identity[i]),
                None => o.combine.filter(|_| reduces).map_or(Start::Nowhere, Start::Of),
            };
            Accumulator::new(o.dtype, start, ty, width)
        });
        let mut accumulators: Vec<Accumulator> = accumulators.collect::<Result<_, _>>()?;

        let of_kind = |kind: IteratorKind| (0..nest.kinds.len()).filter(move |&i| nest.kinds[i] == kind);
        let outer: Vec<usize> = of_kind(IteratorKind::Parallel).filter(|i| Some(*i) != self.along).collect();
        let inner: Vec<usize> = of_kind(IteratorKind::Reduce).collect();
        let outer_extents: Shape = outer.iter().map(|&i| nest.extents[i]).collect();
        let lane_extent = self.along.map_or(1, |i| nest.extents[i]);
        if outer_extents.contains(&0) || lane_extent == 0 {
            return finish(nest, results);
        }
        let mut point: Shape = nest.extents.iter().map(|_| 0).collect();
        let mut outer_at: Shape = outer.iter().map(|_| 0).collect();
        loop {
            set(&mut point, &outer, &outer_at);
            for start in (0..lane_extent).step_by(STRIP) {
                let n = STRIP.min(lane_extent - start);
                if let Some(i) = self.along {
                    point[i] = start;
                }
                accumulators.iter_mut().for_each(Accumulator::reset);
                self.reduce(&inner, &mut point, n, &mut lanes, &mut accumulators)?;
                for (i, acc) in accumulators.iter_mut().enumerate() {
                    self.store(i, &mut results[i], &point, acc.finish(n)?)?;
                }
            }
            if !next_index(&mut outer_at, &outer_extents) {
                return finish(nest, results);
            }
        }
    }

    /// A division by zero with the lowest element of the first result for which one divides by zero, point by point.
    fn first_division(&self, mut lanes: Lanes, fault: Fault) -> Fault {
        let extents = &self.nest.extents;
        let mut point: Shape = extents.iter().map(|_| 0).collect();
        let mut first = None;
        loop {
            match self.point(&point, 1, &mut lanes, &mut []) {
                Err(other) if other.kind == FaultKind::DivisionByZero => {
                    let at = match &self.outputs[0] {
                        Access::Linear { base, steps } => Ok(self.position(*base, steps, &point).0),
                        Access::General(map) => self.general(*map, &self.nest.outputs[0].shape, &point, 0),
                    };
                    first = at.ok().into_iter().chain(first).min();
                }
                // What comes before the division in order was met first.
                Err(other) => return other,
                Ok(()) => {}
            }
            if !next_index(&mut point, extents) {
                break;
            }
        }
        match first {
            Some(at) => Fault::new(fault.kind, format!("{} at element {at}", fault.message)),
            None => fault,
        }
    }

    /// All points of the reduce iterators `inner`, in row-major order; leaves their coordinates at 0.
    fn reduce(
        &self,
        inner: &[usize],
        point: &mut [usize],
        n: usize,
        lanes: &mut Lanes,
        accumulators: &mut [Accumulator],
    ) -> Result<(), Fault> {
        let extents: Shape = inner.iter().map(|&i| self.nest.extents[i]).collect();
        if extents.contains(&0) {
            return Ok(());
        }
        let mut at: Shape = inner.iter().map(|_| 0).collect();
        loop {
            set(point, inner, &at);
            self.point(point, n, lanes, accumulators)?;
            if !next_index(&mut at, &extents) {
                set(point, inner, &at);
                return Ok(());
            }
        }
    }

    /// One step of all lanes: load, compute, combine.
    fn point(
        &self,
        point: &[usize],
        n: usize,
        lanes: &mut Lanes,
        accumulators: &mut [Accumulator],
    ) -> Result<(), Fault> {
        for (i, (input, access)) in self.nest.inputs.iter().zip(&self.inputs).enumerate() {
            if self.program.uses_arg(i) && self.load(input.value, access, point, &mut lanes.arg(i)[..n])? {
                return Err(uninitialised());
            }
        }
        lanes.set_indices(self.program, point, self.along);
        self.program.run(lanes, n).map_err(|e| e.fault)?;
        if let (Some(joint), Some(join), true) = (&self.nest.joint, &self.join, self.reduces()) {
            return self.join(joint, &mut join.borrow_mut(), n, lanes, accumulators);
        }
        for (i, acc) in accumulators.iter_mut().enumerate() {
            acc.add(&lanes.result(self.program, i)[..n])?;
        }
        Ok(())
    }

    fn reduces(&self) -> bool {
        self.nest.kinds.contains(&IteratorKind::Reduce)
    }

    /// Joins what the region hands back to the state.
    fn join(
        &self,
        joint: &Joint<'_>,
        join: &mut Lanes,
        n: usize,
        lanes: &Lanes,
        accumulators: &mut [Accumulator],
    ) -> Result<(), Fault> {
        let count = accumulators.len();
        for (i, acc) in accumulators.iter().enumerate() {
            join.arg(i)[..n].copy_from_slice(&acc.lanes[..n]);
            join.arg(count + i)[..n].copy_from_slice(&lanes.result(self.program, i)[..n]);
        }
        joint.join.run(join, n).map_err(|e| e.fault)?;
        for (i, acc) in accumulators.iter_mut().enumerate() {
            acc.lanes[..n].copy_from_slice(&join.result(joint.join, i)[..n]);
        }
        Ok(())
    }

    /// Position at `point`, and distance between lanes.
    fn position(&self, base: i64, steps: &[i64], point: &[usize]) -> (usize, isize) {
        let at = steps.iter().zip(point).fold(base, |at, (&s, &i)| at + s * i as i64);
        (at as usize, self.along.map_or(0, |i| steps[i] as isize))
    }

    /// Reads lanes; true when one of them is undefined.
    fn load(&self, value: &Tensor, access: &Access, point: &[usize], lanes: &mut [u64]) -> Result<bool, Fault> {
        match access {
            Access::Linear { base, steps } => {
                let (at, stride) = self.position(*base, steps, point);
                Ok(value.data().gather(at, stride, lanes))
            }
            Access::General(map) => {
                let mut undefined = false;
                for (k, lane) in lanes.iter_mut().enumerate() {
                    let at = self.general(*map, value.shape(), point, k)?;
                    undefined |= value.data().gather(at, 0, std::slice::from_mut(lane));
                }
                Ok(undefined)
            }
        }
    }

    fn store(&self, output: usize, result: &mut Buffer, point: &[usize], lanes: &[u64]) -> Result<(), Fault> {
        match &self.outputs[output] {
            Access::Linear { base, steps } => {
                let (at, stride) = self.position(*base, steps, point);
                result.scatter(at, stride, lanes);
            }
            Access::General(map) => {
                for (k, lane) in lanes.iter().enumerate() {
                    let at = self.general(*map, &self.nest.outputs[output].shape, point, k)?;
                    result.scatter(at, 0, std::slice::from_ref(lane));
                }
            }
        }
        Ok(())
    }

    /// Position of lane `k` by evaluating the map.
    fn general(&self, map: AffineMap, shape: &[usize], point: &[usize], k: usize) -> Result<usize, Fault> {
        let mut dims: SmallVec<[i64; 6]> = point.iter().map(|&i| i as i64).collect();
        if let Some(i) = self.along {
            dims[i] += k as i64;
        }
        let mut position = 0;
        for (dim, (&expr, &size)) in self.cx.map_results(map).iter().zip(shape).enumerate() {
            let index = self.cx.affine_eval(expr, &dims, &[]).ok_or_else(|| out_of_range(dim))?;
            if index < 0 || index >= size as i64 {
                return Err(crate::tensor::out_of_bounds(index, dim, size));
            }
            position = position * size + index as usize;
        }
        Ok(position)
    }
}

fn set(point: &mut [usize], iterators: &[usize], at: &[usize]) {
    for (&i, &x) in iterators.iter().zip(at) {
        point[i] = x;
    }
}

fn finish(nest: &Nest<'_>, results: Vec<Buffer>) -> Result<Vec<Tensor>, Fault> {
    nest.outputs.iter().zip(results).map(|(o, data)| Tensor::new(o.shape.clone(), data)).collect()
}

impl Accumulator {
    fn new(dtype: DType, start: Start, yielded: DType, width: usize) -> Result<Self, Fault> {
        let (start, op) = match start {
            Start::Nowhere => (None, None),
            Start::Of(combine) => (Some(combine.identity), Some(combine.op)),
            Start::At(number) => (Some(number), None),
        };
        let held = start.map_or(yielded, |number| number.dtype());
        let combine = op.map(|op| op.with_types(&[held, held], held)).transpose()?;
        let (extend, round) = match held.is_float() {
            true => (NumOp::ExtF, NumOp::TruncF(Rounding::ToNearestEven)),
            false => (NumOp::ExtSI, NumOp::TruncI(Overflow::WRAP)),
        };
        let widen = (held != yielded).then(|| extend.with_types(&[yielded], held)).transpose()?;
        let narrow = (held != dtype).then(|| round.with_types(&[held], dtype)).transpose()?;
        Ok(Self { lanes: vec![0; width], spare: vec![0; width], start, combine, widen, narrow })
    }

    fn reset(&mut self) {
        if let Some(start) = &self.start {
            self.lanes.fill(start.bits());
        }
    }

    fn add(&mut self, values: &[u64]) -> Result<(), Fault> {
        let n = values.len();
        let mut widened;
        let values = match &self.widen {
            Some(kernel) => {
                widened = vec![0; n];
                kernel.eval_lanes(&[values], &mut widened).map_err(|e| e.fault)?;
                &widened[..]
            }
            None => values,
        };
        match &self.combine {
            Some(kernel) => {
                let result = kernel.eval_lanes(&[&self.lanes[..n], values], &mut self.spare[..n]);
                result.map_err(|e| e.fault)?;
                std::mem::swap(&mut self.lanes, &mut self.spare);
            }
            None => self.lanes[..n].copy_from_slice(values),
        }
        Ok(())
    }

    fn finish(&mut self, n: usize) -> Result<&[u64], Fault> {
        let Some(kernel) = &self.narrow else { return Ok(&self.lanes[..n]) };
        kernel.eval_lanes(&[&self.lanes[..n]], &mut self.spare[..n]).map_err(|e| e.fault)?;
        Ok(&self.spare[..n])
    }
}
