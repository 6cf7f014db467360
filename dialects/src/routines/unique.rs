//! What `unique` does.

use std::cmp::Ordering;

use sutura_interp::{DType, Fault, Scalar, Tensor};

use super::sort::compare;
use super::{Run, integers};

pub(super) fn run(call: &Run<'_>) -> Result<Vec<Tensor>, Fault> {
    let (input, axis) = (&call.inputs[0], call.axis());
    let (count, inner) = (input.shape()[axis], input.shape()[axis + 1..].iter().product::<usize>());
    let size = input.shape()[..axis].iter().product::<usize>() * inner;
    let place =
        |count: usize, slice: usize, element: usize| (element / inner * count + slice) * inner + element % inner;
    let slice =
        |slice| (0..size).map(|e| input.data().read(place(count, slice, e))).collect::<Result<Vec<Scalar>, Fault>>();
    let slices = (0..count).map(slice).collect::<Result<Vec<_>, Fault>>()?;
    let order = |a: usize, b: usize| {
        let mut pairs = slices[a].iter().zip(&slices[b]).map(|(a, b)| compare(*a, *b));
        pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut firsts: Vec<usize> = Vec::new();
    for slice in 0..count {
        if firsts.iter().all(|first| order(*first, slice).is_ne()) {
            firsts.push(slice);
        }
    }
    if call.param("sorted") == [1] {
        firsts.sort_by(|a, b| order(*a, *b));
    }
    let group = |slice: usize| firsts.iter().position(|first| order(*first, slice).is_eq()).unwrap_or(0);
    let inverse: Vec<i64> = (0..count).map(|slice| group(slice) as i64).collect();
    let counts: Vec<i64> =
        (0..firsts.len()).map(|g| inverse.iter().filter(|own| **own == g as i64).count() as i64).collect();
    let mut shape = input.shape().to_vec();
    shape[axis] = firsts.len();
    let mut values = Tensor::zeros(input.dtype(), &shape)?;
    for (rank, first) in firsts.iter().enumerate() {
        for element in 0..size {
            let (to, from) = (place(firsts.len(), rank, element), place(count, *first, element));
            values.data_mut().copy_range(to, input.data(), from, 1);
        }
    }
    let firsts: Vec<i64> = firsts.into_iter().map(|first| first as i64).collect();
    let found = integers(&[firsts.len() as i64])?;
    debug_assert_eq!(found.dtype(), DType::I64);
    Ok(vec![values, integers(&firsts)?, integers(&inverse)?, integers(&counts)?, found])
}
