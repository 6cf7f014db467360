//! Errors of the results of a structured iteration; see `num/errors.rs`.
//!
//! A sum of `n` numbers may be taken in any order: each order is within `(n - 1) u` of the sum of magnitudes (Higham, 4.2).

use super::*;
use crate::num::{Roundoff, rounding};

/// Errors of an operand's elements; none of what is exact.
pub type Errors = Option<Vec<f64>>;

/// What is known of an accumulator's error, lane by lane.
struct Sum {
    combine: Option<NumOp>,
    /// What contributions bring.
    error: Vec<f64>,
    /// Sum of magnitudes.
    magnitude: Vec<f64>,
    /// Value so far, of a product.
    value: Vec<f64>,
    terms: usize,
    held: DType,
}

impl Nest<'_> {
    /// Errors of the elements of each result, whose operands have the given errors.
    ///
    /// # Errors
    /// As of [`Nest::run`].
    pub fn errors(
        &self,
        cx: &Context,
        program: &Program,
        captured: &[Scalar],
        given: &[Errors],
    ) -> Result<Vec<Vec<f64>>, Fault> {
        self.check(program)?;
        let inputs = self.inputs.iter().map(|i| access(cx, i.map, i.value.shape(), &self.extents));
        let inputs: Vec<Access> = inputs.collect::<Result<_, _>>()?;
        let parallel = |(&n, &kind)| if kind == IteratorKind::Reduce { 1 } else { n };
        let written: Shape = self.extents.iter().zip(&self.kinds).map(parallel).collect();
        let outputs = self.outputs.iter().map(|o| access(cx, o.map, &o.shape, &written));
        let outputs: Vec<Access> = outputs.collect::<Result<_, _>>()?;
        let along = self.lane_iterator();
        let width = along.map_or(1, |i| self.extents[i].clamp(1, STRIP));
        let runner = Runner { cx, nest: self, program, inputs, outputs, along, join: None };
        runner.errors(Lanes::new(program, captured, width)?, width, given)
    }
}

impl Runner<'_> {
    fn errors(&self, mut lanes: Lanes, width: usize, given: &[Errors]) -> Result<Vec<Vec<f64>>, Fault> {
        let nest = self.nest;
        let sizes = nest.outputs.iter().map(|o| num_elements(&o.shape));
        let sizes = sizes.collect::<Result<Vec<usize>, Fault>>()?;
        let mut results: Vec<Vec<f64>> = sizes.into_iter().map(|size| vec![0.0; size]).collect();
        let of_kind = |kind: IteratorKind| (0..nest.kinds.len()).filter(move |&i| nest.kinds[i] == kind);
        let outer: Vec<usize> = of_kind(IteratorKind::Parallel).filter(|i| Some(*i) != self.along).collect();
        let inner: Vec<usize> = of_kind(IteratorKind::Reduce).collect();
        let outer_extents: Shape = outer.iter().map(|&i| nest.extents[i]).collect();
        let inner_extents: Shape = inner.iter().map(|&i| nest.extents[i]).collect();
        let lane_extent = self.along.map_or(1, |i| nest.extents[i]);
        if outer_extents.contains(&0) || lane_extent == 0 || inner_extents.contains(&0) {
            return Ok(results);
        }
        let mut errors = self.program.no_errors(width);
        let mut sums: Vec<Sum> = self.sums(width);
        let mut point: Shape = nest.extents.iter().map(|_| 0).collect();
        let mut outer_at: Shape = outer.iter().map(|_| 0).collect();
        loop {
            set(&mut point, &outer, &outer_at);
            for start in (0..lane_extent).step_by(STRIP) {
                let n = STRIP.min(lane_extent - start);
                if let Some(i) = self.along {
                    point[i] = start;
                }
                sums.iter_mut().for_each(Sum::reset);
                let mut at: Shape = inner.iter().map(|_| 0).collect();
                loop {
                    set(&mut point, &inner, &at);
                    self.add(&point, n, given, (&mut lanes, &mut errors), &mut sums)?;
                    if !next_index(&mut at, &inner_extents) {
                        break;
                    }
                }
                set(&mut point, &inner, &inner.iter().map(|_| 0).collect::<Shape>());
                for (i, sum) in sums.iter().enumerate() {
                    self.store_errors(i, &mut results[i], &point, &sum.finish(n, nest.outputs[i].dtype))?;
                }
            }
            if !next_index(&mut outer_at, &outer_extents) {
                return Ok(results);
            }
        }
    }

    fn sums(&self, width: usize) -> Vec<Sum> {
        let reduces = self.reduces();
        let types: Vec<DType> = self.program.result_types().collect();
        let sum = |(o, ty): (&Output, DType)| Sum {
            combine: o.combine.filter(|_| reduces && self.nest.joint.is_none()).map(|combine| combine.op),
            error: vec![0.0; width],
            magnitude: vec![0.0; width],
            value: vec![1.0; width],
            terms: 0,
            held: o.combine.map_or(ty, |combine| combine.identity.dtype()),
        };
        self.nest.outputs.iter().zip(types).map(sum).collect()
    }

    /// One step of all lanes: load, compute, combine.
    fn add(
        &self,
        point: &[usize],
        n: usize,
        given: &[Errors],
        (lanes, errors): (&mut Lanes, &mut [Vec<f64>]),
        sums: &mut [Sum],
    ) -> Result<(), Fault> {
        for (i, (input, access)) in self.nest.inputs.iter().zip(&self.inputs).enumerate() {
            if !self.program.uses_arg(i) {
                continue;
            }
            if self.load(input.value, access, point, &mut lanes.arg(i)[..n])? {
                return Err(uninitialised());
            }
            if let Some(Some(given)) = given.get(i) {
                for (k, error) in errors[i].iter_mut().enumerate().take(n) {
                    *error = given[self.at(access, input.value.shape(), point, k)?];
                }
            }
        }
        lanes.set_indices(self.program, point, self.along);
        self.program.run(lanes, n).map_err(|e| e.fault)?;
        self.program.errors(lanes, errors, n);
        for (i, sum) in sums.iter_mut().enumerate() {
            let register = self.program.result_register(i);
            sum.add(lanes.result(self.program, i), &errors[register], self.program.result_types().nth(i), n);
        }
        Ok(())
    }

    /// Position of lane `k`.
    fn at(&self, access: &Access, shape: &[usize], point: &[usize], k: usize) -> Result<usize, Fault> {
        match access {
            Access::Linear { base, steps } => {
                let (at, stride) = self.position(*base, steps, point);
                Ok(at.wrapping_add_signed(stride * k as isize))
            }
            Access::General(map) => self.general(*map, shape, point, k),
        }
    }

    fn store_errors(&self, output: usize, result: &mut [f64], point: &[usize], lanes: &[f64]) -> Result<(), Fault> {
        for (k, lane) in lanes.iter().enumerate() {
            result[self.at(&self.outputs[output], &self.nest.outputs[output].shape, point, k)?] = *lane;
        }
        Ok(())
    }
}

impl Sum {
    fn reset(&mut self) {
        self.terms = 0;
        self.error.fill(0.0);
        self.magnitude.fill(0.0);
        self.value.fill(1.0);
    }

    fn add(&mut self, values: &[u64], errors: &[f64], dtype: Option<DType>, n: usize) {
        let dtype = dtype.unwrap_or(self.held);
        self.terms += 1;
        for k in 0..n {
            let x = Scalar::from_bits(dtype, values[k]).to_f64_lossy();
            match self.combine {
                None | Some(NumOp::AddF | NumOp::AddI(_)) => {
                    self.error[k] += errors[k];
                    // What is infinite or NaN is so in any order.
                    self.magnitude[k] += if x.is_finite() { x.abs() } else { 0.0 };
                }
                Some(NumOp::MulF | NumOp::MulI(_)) => {
                    self.error[k] = self.error[k] * (x.abs() + errors[k]) + self.value[k].abs() * errors[k];
                    self.value[k] *= x;
                    self.magnitude[k] = self.value[k].abs();
                }
                // The largest and the smallest, and what is done with truths.
                Some(_) => {
                    self.error[k] = self.error[k].max(errors[k]);
                    self.magnitude[k] = self.magnitude[k].max(if x.is_finite() { x.abs() } else { 0.0 });
                }
            }
        }
    }

    fn finish(&self, n: usize, dtype: DType) -> Vec<f64> {
        let unit = rounding(self.held).unit;
        let last = if self.held == dtype { Roundoff::default() } else { rounding(dtype) };
        let rounds = match self.combine {
            Some(NumOp::AddF | NumOp::MulF) => (self.terms - 1) as f64,
            _ => 0.0,
        };
        let error = |k: usize| {
            let magnitude = self.magnitude[k];
            let summed = self.error[k] + rounds * unit * magnitude;
            summed + last.unit * (magnitude + summed) + last.tiny
        };
        (0..n).map(error).map(|error| if error.is_nan() { f64::INFINITY } else { error }).collect()
    }
}
