//! What `sort` does.

use std::cmp::Ordering;

use sutura_interp::{DType, Fault, Scalar, Tensor};

use super::Run;

/// The order of two elements of one type: NaN is greater than every number and equal to itself.
pub(super) fn compare(a: Scalar, b: Scalar) -> Ordering {
    match a.dtype() {
        DType::Float(_) => {
            let (a, b) = (a.to_f64_lossy(), b.to_f64_lossy());
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        // The order of real parts, then of imaginary ones.
        DType::Complex(_) => {
            let order = |[re, im]: [Scalar; 2], [other_re, other_im]: [Scalar; 2]| {
                compare(re, other_re).then_with(|| compare(im, other_im))
            };
            a.parts().zip(b.parts()).map_or(Ordering::Equal, |(a, b)| order(a, b))
        }
        // True is greater than false.
        DType::Int { width: 1, .. } => (a.bits() & 1).cmp(&(b.bits() & 1)),
        DType::Int { unsigned: true, .. } => a.bits().cmp(&b.bits()),
        DType::Int { .. } | DType::Index => (a.bits() as i64).cmp(&(b.bits() as i64)),
    }
}

/// Positions of a tensor's elements, line by line along an axis.
pub(super) fn lines(shape: &[usize], axis: usize) -> impl Iterator<Item = Vec<usize>> {
    let (size, step) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let count = shape[..axis].iter().product::<usize>() * step;
    (0..count).map(move |line| (0..size).map(|i| line / step * step * size + line % step + i * step).collect())
}

pub(super) fn run(call: &Run<'_>) -> Result<Vec<Tensor>, Fault> {
    let (axis, shape, descending) = (call.axis(), call.inputs[0].shape(), call.param("descending"));
    let mut outputs: Vec<Tensor> = call.inputs.to_vec();
    for line in lines(shape, axis) {
        let mut keys: Vec<Vec<Scalar>> = Vec::with_capacity(descending.len());
        for key in &call.inputs[..descending.len()] {
            keys.push(line.iter().map(|at| key.data().read(*at)).collect::<Result<_, Fault>>()?);
        }
        let mut order: Vec<usize> = (0..line.len()).collect();
        order.sort_by(|a, b| {
            let by = |(key, descending): (&Vec<Scalar>, &i64)| {
                let order = compare(key[*a], key[*b]);
                if *descending == 1 { order.reverse() } else { order }
            };
            keys.iter().zip(descending).map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
        for (output, input) in outputs.iter_mut().zip(call.inputs) {
            for (to, from) in line.iter().zip(&order) {
                output.data_mut().copy_range(*to, input.data(), line[*from], 1);
            }
        }
    }
    Ok(outputs)
}
