//! What `non_zero` does.

use std::cmp::Ordering;

use sutura_interp::{DType, Fault, Scalar, Tensor};

use super::sort::compare;
use super::{Run, integers};

pub(super) fn run(call: &Run<'_>) -> Result<Vec<Tensor>, Fault> {
    let input = &call.inputs[0];
    let zero = Tensor::zeros(input.dtype(), &[1])?.data().read(0)?;
    let mut found = Vec::new();
    for at in 0..input.len() {
        if compare(input.data().read(at)?, zero) != Ordering::Equal {
            found.push(at);
        }
    }
    let mut rows: Vec<Vec<i64>> = Vec::new();
    let mut step = 1;
    for size in input.shape().iter().rev() {
        rows.push(found.iter().map(|at| (at / step % size) as i64).collect());
        step *= size;
    }
    rows.reverse();
    let positions = Tensor::from_scalars(
        DType::I64,
        &[rows.len(), found.len()],
        rows.concat().into_iter().map(|at| Scalar::int(at, DType::I64)),
    )?;
    Ok(vec![positions, integers(&[found.len() as i64])?])
}
