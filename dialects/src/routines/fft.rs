//! What `fft` does, by the definition.

use std::f64::consts::TAU;

use sutura_interp::{DType, Fault, Scalar, Tensor};

use super::Run;
use super::sort::lines;

pub(super) fn run(call: &Run<'_>) -> Result<Vec<Tensor>, Fault> {
    let (axis, input, inverse) = (call.axis(), &call.inputs[0], call.param("inverse") == [1]);
    let number = |name| call.param(name).first().and_then(|value| usize::try_from(*value).ok()).unwrap_or(0);
    let (size, bins, real) = (number("size"), number("bins"), call.param("real") == [1]);
    let [(elem, dims)] = &call.outputs[..] else { return Err(Fault::invalid_ir("makes one output")) };
    let DType::Float(kind) = *elem else { return Err(Fault::type_mismatch("transforms floats")) };
    let (last, width) = (dims.len() - 1, input.shape()[dims.len() - 1]);
    if axis >= last || !(1..=2).contains(&width) || kind.bits() < 16 {
        let message =
            "takes floats of 16 bits at least, of one part or two along the last dimension, which is not the axis";
        return Err(Fault::shape(message));
    }
    if bins > size.max(1) {
        return Err(Fault::shape(format!("makes {bins} elements of a transform of {size}")));
    }
    let mut result = Tensor::zeros(*elem, dims)?;
    let sign = if inverse { TAU } else { -TAU };
    let scale = if inverse { size.max(1) as f64 } else { 1.0 };
    for (from, to) in lines(&input.shape()[..last], axis).zip(lines(&dims[..last], axis)) {
        let part = |at: usize, i: usize| match i < width {
            true => Ok(input.data().read(at * width + i)?.to_f64_lossy()),
            false => Ok(0.0),
        };
        let given = if real { size.min(size / 2 + 1) } else { size };
        let line = from.iter().take(given).map(|at| Ok([part(*at, 0)?, part(*at, 1)?]));
        let mut line = line.collect::<Result<Vec<[f64; 2]>, Fault>>()?;
        if real {
            line.resize(given, [0.0; 2]);
            for index in given..size {
                let [re, im] = line[size - index];
                line.push([re, -im]);
            }
        }
        for (bin, at) in to.into_iter().enumerate() {
            let mut sum = [0.0; 2];
            for (n, [re, im]) in line.iter().enumerate() {
                let turns = (bin as u128 * n as u128 % size as u128) as f64 / size as f64;
                let (sine, cosine) = (sign * turns).sin_cos();
                sum = [sum[0] + re * cosine - im * sine, sum[1] + re * sine + im * cosine];
            }
            let parts = if real { 1 } else { 2 };
            for (i, value) in sum.into_iter().take(parts).enumerate() {
                result.data_mut().set(parts * at + i, Some(Scalar::float(value / scale, kind)));
            }
        }
    }
    Ok(vec![result])
}
