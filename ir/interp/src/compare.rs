//! Comparing results.

use sutura_ir::types::FloatKind;

use crate::memory::Memory;
use crate::scalar::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::Value;

/// How far floats may lie apart. Two floats agree when any of the three bounds holds; integers must be equal.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Tolerance {
    /// Absolute difference.
    pub abs: f64,
    /// Difference relative to the larger magnitude.
    pub rel: f64,
    /// Numbers of the format from one to the other.
    pub ulp: u64,
}

impl Tolerance {
    /// Equal numbers; NaN equals NaN, and the zeros equal each other.
    pub const EXACT: Self = Self { abs: 0.0, rel: 0.0, ulp: 0 };

    /// What rounding may change in a result of type `dtype` that sums up to `terms` numbers in another order, where the
    /// largest magnitude among the results is `scale`: errors grow with the square root of the number of terms.
    /// Integers are exact.
    pub fn of_rounding(dtype: DType, terms: usize, scale: f64) -> Self {
        let (DType::Float(kind) | DType::Complex(kind)) = dtype else { return Self::EXACT };
        let dtype = DType::Float(kind);
        let one = Scalar::float(1.0, kind);
        let next = Scalar::from_bits(dtype, one.bits() + 1).as_f64();
        let epsilon = next.map_or(0.0, |next| next - 1.0);
        let bound = epsilon * (16.0 + 4.0 * (terms as f64).sqrt());
        Self { abs: bound * scale.max(1.0), rel: bound, ulp: 0 }
    }

    /// True when the numbers agree. NaN agrees with NaN of any payload, an infinity with itself.
    ///
    /// Complex numbers agree when both parts do, whose difference may be relative to the larger part of the numbers.
    pub fn agrees(&self, a: Scalar, b: Scalar) -> bool {
        if let (Some(a), Some(b)) = (a.parts(), b.parts()) {
            let parts = a.iter().chain(&b).map(|part| part.to_f64_lossy().abs());
            let scale = parts.filter(|part| part.is_finite()).fold(0.0, f64::max);
            let of_parts = Self { abs: self.abs.max(self.rel * scale), ..*self };
            return a.iter().zip(b).all(|(a, b)| of_parts.agrees(*a, b));
        }
        let (DType::Float(kind), Some(x), Some(y)) = (a.dtype(), a.as_f64(), b.as_f64()) else {
            return a == b;
        };
        if x == y || (x.is_nan() && y.is_nan()) {
            return true;
        }
        if !x.is_finite() || !y.is_finite() {
            return false;
        }
        let difference = (x - y).abs();
        difference <= self.abs
            || difference <= self.rel * x.abs().max(y.abs())
            || rank(kind, a.bits()).abs_diff(rank(kind, b.bits())) <= self.ulp
    }
}

/// Place of a finite number among all of its format.
fn rank(kind: FloatKind, bits: u64) -> i64 {
    let sign = 1u64 << (kind.bits() - 1);
    let magnitude = (bits & (sign - 1)) as i64;
    if bits & sign == 0 { magnitude } else { -magnitude }
}

/// The first place at which two values differ.
#[derive(Clone, PartialEq, Debug)]
pub struct Mismatch {
    /// Index of the element; empty for scalars and for values of different kinds or shapes.
    pub index: Vec<usize>,
    /// What stands on the left.
    pub left: String,
    /// What stands on the right.
    pub right: String,
    /// Elements that differ.
    pub count: usize,
    /// Elements compared.
    pub of: usize,
    /// Largest absolute difference, where elements are floats.
    pub max_abs: Option<f64>,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.index.is_empty() {
            write!(f, "at {:?}: ", self.index)?;
        }
        write!(f, "{} and {}", self.left, self.right)?;
        if self.of > 1 {
            write!(f, "; {} of {} elements differ", self.count, self.of)?;
        }
        match self.max_abs {
            Some(max) if self.of > 1 => write!(f, ", by at most {max:e}"),
            _ => Ok(()),
        }
    }
}
impl std::error::Error for Mismatch {}

impl Mismatch {
    fn whole(left: String, right: String) -> Self {
        Self { index: Vec::new(), left, right, count: 1, of: 1, max_abs: None }
    }
}

/// Compares two scalars, tensors or vectors. Where the left side is undefined, the right side may hold anything.
///
/// # Errors
/// At the first difference.
pub fn compare(left: &Value, right: &Value, tolerance: Tolerance) -> Result<(), Mismatch> {
    match (left, right) {
        (Value::Scalar(a), Value::Scalar(b)) if a.dtype() == b.dtype() => {
            if tolerance.agrees(*a, *b) {
                return Ok(());
            }
            let mut mismatch = Mismatch::whole(a.to_string(), b.to_string());
            mismatch.max_abs = difference(*a, *b);
            Err(mismatch)
        }
        (Value::Tensor(a), Value::Tensor(b)) | (Value::Vector(a), Value::Vector(b)) => compare_tensors(a, b, tolerance),
        _ => Err(Mismatch::whole(left.describe(), right.describe())),
    }
}

/// Compares two values; memrefs by the elements that they reach, each in its own memory.
///
/// # Errors
/// At the first difference; also where a memref cannot be read.
pub fn compare_in(left: (&Value, &Memory), right: (&Value, &Memory), tolerance: Tolerance) -> Result<(), Mismatch> {
    match (left.0, right.0) {
        (Value::MemRef(a), Value::MemRef(b)) => match (left.1.read(a), right.1.read(b)) {
            (Ok(a), Ok(b)) => compare_tensors(&a, &b, tolerance),
            (a, b) => {
                let describe = |r: Result<Tensor, crate::Fault>| match r {
                    Ok(_) => "readable memory".to_owned(),
                    Err(fault) => fault.message,
                };
                Err(Mismatch::whole(describe(a), describe(b)))
            }
        },
        (a, b) => compare(a, b, tolerance),
    }
}

fn difference(a: Scalar, b: Scalar) -> Option<f64> {
    if let (Some(a), Some(b)) = (a.parts(), b.parts()) {
        return a.iter().zip(b).filter_map(|(a, b)| difference(*a, b)).reduce(f64::max);
    }
    Some((a.as_f64()? - b.as_f64()?).abs())
}

fn compare_tensors(a: &Tensor, b: &Tensor, tolerance: Tolerance) -> Result<(), Mismatch> {
    if a.shape() != b.shape() || a.dtype() != b.dtype() {
        let describe = |t: &Tensor| format!("elements of type {} in shape {:?}", t.dtype(), t.shape());
        return Err(Mismatch::whole(describe(a), describe(b)));
    }
    let mut found: Option<Mismatch> = None;
    for i in 0..a.len() {
        let Some(x) = a.data().get(i) else { continue };
        let y = b.data().get(i);
        if y.is_some_and(|y| tolerance.agrees(x, y)) {
            continue;
        }
        let by = y.and_then(|y| difference(x, y));
        let mismatch = found.get_or_insert_with(|| Mismatch {
            index: unflatten(i, a.shape()),
            left: x.to_string(),
            right: y.map_or("undefined".to_owned(), |y| y.to_string()),
            count: 0,
            of: a.len(),
            max_abs: None,
        });
        mismatch.count += 1;
        mismatch.max_abs = mismatch.max_abs.into_iter().chain(by).reduce(f64::max);
    }
    found.map_or(Ok(()), Err)
}

fn unflatten(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, &size) in index.iter_mut().zip(shape).rev() {
        *i = position % size;
        position /= size;
    }
    index
}
