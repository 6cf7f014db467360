//! What `top_k` does.

use sutura_interp::{DType, Fault, Scalar, Tensor};

use super::Run;
use super::sort::{compare, lines};

pub(super) fn run(call: &Run<'_>) -> Result<Vec<Tensor>, Fault> {
    let (axis, input, smallest) = (call.axis(), &call.inputs[0], call.param("smallest") == [1]);
    let [(elem, dims), _] = &call.outputs[..] else { return Err(Fault::invalid_ir("makes two outputs")) };
    let (k, size) = (dims[axis], input.shape()[axis]);
    if k > size {
        return Err(Fault::shape(format!("takes {k} elements of lines of {size}")));
    }
    let (mut values, mut positions) = (Tensor::zeros(*elem, dims)?, Tensor::zeros(DType::I64, dims)?);
    for (from, to) in lines(input.shape(), axis).zip(lines(dims, axis)) {
        let line = from.iter().map(|at| input.data().read(*at)).collect::<Result<Vec<Scalar>, Fault>>()?;
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|a, b| {
            let order = compare(line[*a], line[*b]);
            if smallest { order } else { order.reverse() }
        });
        for (to, place) in to.into_iter().zip(order) {
            values.data_mut().copy_range(to, input.data(), from[place], 1);
            positions.data_mut().set(to, Some(Scalar::int(place as i64, DType::I64)));
        }
    }
    Ok(vec![values, positions])
}
