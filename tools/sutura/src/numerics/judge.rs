//! Each operation on what the compiled program gave it: its result is compared with the interpreter's, within a bound of rounding
//! errors, and the compiled one goes on.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use sutura_dialects::graph::{ComputeForm, ComputeOp, compute_errors};
use sutura_interp::nest::Errors;
use sutura_interp::num::{Roundoff, rounding};
use sutura_interp::{DType, Fault, Frame, InterpError, Observer, Tensor, Value as Held};
use sutura_ir::types::FloatKind;
use sutura_ir::{Context, OpRef, Value, float};

use super::outside::SHARE;

/// What is said of one value.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// Which of the watched values.
    pub(super) value: usize,
    pub(super) expected: Tensor,
    /// Why the shapes cannot be compared, or the worst element.
    pub(super) worst: Worst,
    /// Elements beyond their bounds.
    pub(super) wrong: usize,
}

/// The element that is furthest beyond its bound.
#[derive(Clone, Debug)]
pub(super) struct Worst {
    pub(super) index: Vec<usize>,
    pub(super) expected: f64,
    pub(super) found: f64,
    pub(super) bound: f64,
}

/// What is found, in the order of the operations.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) findings: Vec<Finding>,
    /// Values that were compared.
    pub(super) compared: usize,
    /// The largest part of its bound that an error takes.
    pub(super) closest: f64,
}

pub(super) struct Judge {
    /// What the compiled program made, with its number.
    watched: IndexMap<Value, (usize, Tensor)>,
    /// What is expected of them in the place of what the interpreter makes, by number. What has none is not compared then.
    outside: Option<IndexMap<usize, Tensor>>,
    /// Errors of values that nobody watches.
    errors: IndexMap<Value, Vec<f64>>,
    /// Errors of the results of the operation that runs, if they are known.
    known: Option<Vec<Vec<f64>>>,
    /// Largest error of an operand of the operation that runs.
    given: f64,
    verdict: Arc<Mutex<Verdict>>,
}

impl Judge {
    pub(super) fn new(watched: IndexMap<Value, (usize, Tensor)>, verdict: Arc<Mutex<Verdict>>) -> Self {
        Self { watched, outside: None, errors: IndexMap::new(), known: None, given: 0.0, verdict }
    }

    /// The same, against other references than the interpreter's results.
    pub(super) fn against(self, outside: Option<IndexMap<usize, Tensor>>) -> Self {
        Self { outside, ..self }
    }

    /// Errors of the elements of a result.
    fn errors_of(&self, op: OpRef<'_>, index: usize, made: &Tensor) -> Vec<f64> {
        if let Some(known) = self.known.as_ref().and_then(|known| known.get(index)) {
            return known.clone();
        }
        let all = |error: f64| vec![error; made.len()];
        match (moves(op), made.dtype().is_float() || made.dtype().part().is_some()) {
            (true, _) => all(self.given),
            // A number that is computed from something uncertain may be any.
            (false, false) => all(if self.given > 0.0 { f64::INFINITY } else { 0.0 }),
            (false, true) => all(opaque(op, made, self.given)),
        }
    }

    fn compare(&self, number: usize, expected: &Tensor, found: &Tensor, errors: &[f64]) {
        let mut verdict = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        verdict.compared += 1;
        let (mut wrong, mut worst, mut furthest) = (0, None, 0.0);
        let (a, b) = (parts(expected), parts(found));
        let per = a.len() / expected.len().max(1);
        for (at, (&e, &f)) in a.iter().zip(&b).enumerate() {
            // Both may be on the far side of what is exact.
            let share = if self.outside.is_some() { 1.0 + SHARE } else { 2.0 };
            let bound = share * errors[at / per.max(1)];
            let beyond = beyond(e, f, bound, expected.dtype());
            if beyond <= 1.0 {
                verdict.closest = verdict.closest.max(beyond);
                continue;
            }
            wrong += 1;
            if beyond > furthest || worst.is_none() {
                furthest = beyond;
                let index = index(at / per.max(1), expected.shape());
                worst = Some(Worst { index, expected: e, found: f, bound });
            }
        }
        if let Some(worst) = worst {
            verdict.findings.push(Finding { value: number, expected: expected.clone(), worst, wrong });
        }
    }

    /// A result of another shape than it should have.
    fn other_shape(&self, number: usize, expected: &Tensor, found: &Tensor) {
        let mut verdict = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        verdict.compared += 1;
        let size = |tensor: &Tensor| tensor.len() as f64;
        let worst = Worst { index: Vec::new(), expected: size(expected), found: size(found), bound: 0.0 };
        verdict.findings.push(Finding { value: number, expected: expected.clone(), worst, wrong: expected.len() });
    }
}

impl Observer for Judge {
    fn before(&mut self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<(), InterpError> {
        let given: Vec<Errors> = op.operands().map(|value| self.errors.get(&value).cloned()).collect();
        self.given = given.iter().flatten().flatten().copied().fold(0.0, f64::max);
        self.known = None;
        if op.is::<ComputeOp<'_>>() {
            self.known = compute_errors(op, frame, &given)?;
        }
        Ok(())
    }

    fn after(&mut self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<(), InterpError> {
        for (index, result) in op.results().enumerate() {
            let Ok(Held::Tensor(made)) = frame.get(result) else { continue };
            let made = made.clone();
            let errors = self.errors_of(op, index, &made);
            let Some((number, found)) = self.watched.get(&result) else {
                if errors.iter().any(|error| *error > 0.0) {
                    self.errors.insert(result, errors);
                }
                continue;
            };
            let expected = match &self.outside {
                Some(outside) => outside.get(number),
                None => Some(&made),
            };
            if let Some(expected) = expected.filter(|expected| expected.shape() != found.shape()) {
                self.other_shape(*number, expected, found);
                continue;
            }
            if made.shape() != found.shape() {
                continue;
            }
            if let Some(expected) = expected {
                self.compare(*number, expected, found, &errors);
            }
            let passed = if keeps_errors(op) { errors } else { roundings(found) };
            if passed.iter().any(|error| *error > 0.0) {
                self.errors.insert(result, passed);
            }
            let found: Held = Held::Tensor(found.clone());
            frame.retell(result, found).map_err(|fault: Fault| InterpError::at(op, fault))?;
        }
        Ok(())
    }
}

/// Whether an operation moves elements and computes none.
fn moves(op: OpRef<'_>) -> bool {
    const MOVES: [&str; 13] = [
        "graph.constant",
        "graph.reshape",
        "graph.bitcast",
        "graph.shape_of",
        "graph.concat",
        "graph.slice",
        "graph.gather",
        "graph.gather_elements",
        "graph.gather_nd",
        "graph.sort",
        "graph.top_k",
        "graph.unique",
        "graph.non_zero",
    ];
    MOVES.contains(&op.name_str())
}

/// Whether what reads the result may compute it anew, from operands that it computes anew too: fusion does so with what is cheap.
/// What is not is computed once.
fn keeps_errors(op: OpRef<'_>) -> bool {
    moves(op) || op.is::<ComputeOp<'_>>() && ComputeForm::of(op).is_some_and(|form| !form.has_reduction())
}

/// The error of a number that is read before it is rounded, or by another form of a function of `math`.
fn roundings(found: &Tensor) -> Vec<f64> {
    let Roundoff { tiny, function, .. } = rounding(found.dtype());
    if function == 0.0 {
        return Vec::new();
    }
    let error = |v: f64| if v.is_finite() { function * v.abs() + tiny } else { 0.0 };
    let numbers = (0..found.len()).map(|i| found.data().get(i).map_or(0.0, |n| n.to_f64_lossy()));
    numbers.map(error).collect()
}

/// The error of an operation of which only the result is seen: a loop, a scan, a routine. It is taken relative to the largest
/// element, for as many roundings as its longest dimension allows, and some.
fn opaque(op: OpRef<'_>, made: &Tensor, given: f64) -> f64 {
    let longest = op.operand_types().chain(op.result_types()).filter_map(|ty| op.cx.shape(ty)).flatten().copied().max();
    let terms = longest.unwrap_or(1).max(made.shape().iter().copied().max().unwrap_or(1) as i64).max(1) as f64;
    let magnitude = parts(made).into_iter().filter(|v| v.is_finite()).fold(0.0, |most: f64, v| most.max(v.abs()));
    let Roundoff { unit, tiny, .. } = rounding(made.dtype());
    unit * (256.0 + 4.0 * terms) * magnitude + tiny * terms + given * terms
}

/// The elements as numbers, two of a complex one.
fn parts(tensor: &Tensor) -> Vec<f64> {
    let data = tensor.data();
    let numbers = (0..tensor.len()).filter_map(|i| data.get(i));
    numbers.flat_map(|n| n.parts().map_or(vec![n.to_f64_lossy()], |p| p.map(|p| p.to_f64_lossy()).to_vec())).collect()
}

/// How many times its bound an element is off; at most 1 is right. Zeros of both signs are equal, and so are NaN.
fn beyond(expected: f64, found: f64, bound: f64, dtype: DType) -> f64 {
    if expected == found || expected.is_nan() && found.is_nan() {
        return 0.0;
    }
    // Nothing is known of what has no bound.
    if !bound.is_finite() {
        return 0.0;
    }
    let largest = match dtype.part().unwrap_or(dtype) {
        DType::Float(FloatKind::F64) => f64::MAX,
        DType::Float(kind) => float::largest(kind),
        _ => f64::INFINITY,
    };
    let limited = |v: f64| if v.is_infinite() { largest.copysign(v) } else { v };
    // Near the largest number one may round to infinity where another does not.
    let distance = match (expected.is_nan() || found.is_nan(), expected.is_infinite() && found.is_infinite()) {
        (true, _) | (_, true) => f64::INFINITY,
        _ => (limited(expected) - limited(found)).abs(),
    };
    let overflows = expected.is_infinite() != found.is_infinite() && bound == 0.0;
    match (distance, bound) {
        _ if overflows => f64::INFINITY,
        (d, b) if d <= b && b > 0.0 => d / b,
        (0.0, _) => 0.0,
        (d, b) if b > 0.0 => d / b,
        _ => f64::INFINITY,
    }
}

/// The index of an element.
fn index(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (place, size) in index.iter_mut().zip(shape).rev() {
        (*place, at) = (at % size.max(&1), at / size.max(&1));
    }
    index
}

/// The interpreter's tensor of a compiled one.
pub(super) fn tensor(cx: &Context, ty: sutura_ir::Type, tensor: &sutura_runtime::Tensor) -> Result<Tensor, Fault> {
    let dtype = DType::expect(cx, cx.element_type(ty))?;
    let shape: Vec<usize> = tensor.dims().iter().map(|d| usize::try_from(*d).unwrap_or(0)).collect();
    let mut bytes = tensor.bytes().to_vec();
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(tensor.element_type().bytes().max(1)).for_each(<[u8]>::reverse);
    }
    Tensor::new(shape, sutura_interp::Buffer::from_le_bytes(dtype, &bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: DType = DType::Float(FloatKind::F32);

    #[test]
    fn equal_is_equal_also_where_it_is_no_number() {
        for (a, b) in [(0.0, -0.0), (f64::NAN, f64::NAN), (f64::INFINITY, f64::INFINITY)] {
            assert_eq!(beyond(a, b, 0.0, F32), 0.0, "{a} {b}");
        }
        for (a, b) in [(1.0, f64::NAN), (f64::NAN, 1.0), (f64::INFINITY, 1.0), (f64::INFINITY, f64::NEG_INFINITY)] {
            assert!(beyond(a, b, 1e-3, F32) > 1.0, "{a} {b}");
        }
        assert!(beyond(1.0, 1.5, 0.25, F32) > 1.0 && beyond(1.0, 1.2, 0.25, F32) <= 1.0);
        let largest = float::largest(FloatKind::F32);
        assert!(beyond(f64::INFINITY, largest, largest * 1e-7, F32) <= 1.0);
        assert_eq!(index(7, &[2, 2, 2]), [1, 1, 1]);
    }
}
