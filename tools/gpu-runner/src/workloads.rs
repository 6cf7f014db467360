//! What is computed, in f64, for comparison. The programs that are compiled are `benches/gpu/programs`.

/// The encoder layer of the examples, which is no workload of rows.
pub(crate) const ENCODER: &str = "encoder";

/// Something that each row of a matrix becomes.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// What it has as inputs besides the matrix `x`, in their order.
    pub(crate) more: &'static [Extra],
    /// A row of the result, from the row's elements of all inputs.
    pub(crate) reference: fn(&[&[f64]], &mut [f64]),
    /// What a result in f32 may be off by: this, and `relative` times its magnitude. Results in bf16 may be off by one
    /// rounding to bf16 more.
    pub(crate) absolute: f64,
    pub(crate) relative: f64,
}

/// The shape of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extra {
    /// One element for each column.
    Row,
    /// As many as `x` has.
    Matrix,
}

/// Softmax is small where rows are long, so only its relative error says something. It grows with the difference to the
/// row's largest element, which is 16 at most, and a chain scales that by an eighth.
pub(crate) const WORKLOADS: [Workload; 5] = [
    Workload { name: "softmax", more: &[], reference: softmax, absolute: 1e-12, relative: 1e-5 },
    Workload {
        name: "layer_norm",
        more: &[Extra::Row, Extra::Row],
        reference: layer_norm,
        absolute: 1e-5,
        relative: 1e-5,
    },
    Workload { name: "rms_norm", more: &[Extra::Row], reference: rms_norm, absolute: 1e-6, relative: 1e-5 },
    Workload { name: "bias_gelu", more: &[Extra::Row], reference: bias_gelu, absolute: 2e-6, relative: 1e-5 },
    Workload { name: "chain", more: &[Extra::Row, Extra::Matrix], reference: chain, absolute: 1e-6, relative: 1e-5 },
];

/// The workload of a name such as `softmax_bf16`, and whether it is stored as bf16.
pub(crate) fn find(name: &str) -> Option<(&'static Workload, bool)> {
    let (stem, ty) = name.rsplit_once('_')?;
    let workload = WORKLOADS.iter().find(|workload| workload.name == stem)?;
    Some((workload, ty == "bf16"))
}

fn softmax(inputs: &[&[f64]], y: &mut [f64]) {
    normalised(inputs[0].iter().copied(), y);
}

fn normalised(x: impl Iterator<Item = f64> + Clone, y: &mut [f64]) {
    let max = x.clone().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for (y, x) in y.iter_mut().zip(x) {
        *y = (x - max).exp();
        sum += *y;
    }
    y.iter_mut().for_each(|y| *y /= sum);
}

fn layer_norm(inputs: &[&[f64]], y: &mut [f64]) {
    let (x, gamma, beta) = (inputs[0], inputs[1], inputs[2]);
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let scale = 1.0 / (variance + 1e-5).sqrt();
    for (at, y) in y.iter_mut().enumerate() {
        *y = (x[at] - mean) * scale * gamma[at] + beta[at];
    }
}

fn rms_norm(inputs: &[&[f64]], y: &mut [f64]) {
    let (x, gamma) = (inputs[0], inputs[1]);
    let mean = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
    let scale = 1.0 / (mean + 1e-6).sqrt();
    for (at, y) in y.iter_mut().enumerate() {
        *y = x[at] * scale * gamma[at];
    }
}

fn bias_gelu(inputs: &[&[f64]], y: &mut [f64]) {
    for (at, y) in y.iter_mut().enumerate() {
        let x = inputs[0][at] + inputs[1][at];
        *y = 0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    }
}

fn chain(inputs: &[&[f64]], y: &mut [f64]) {
    normalised(inputs[0].iter().zip(inputs[1]).map(|(x, mask)| x * 0.125 + mask), y);
    y.iter_mut().zip(inputs[2]).for_each(|(y, residual)| *y += residual);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, inputs: &[&[f64]]) -> Vec<f64> {
        let mut y = vec![0.0; inputs[0].len()];
        (find(name).unwrap().0.reference)(inputs, &mut y);
        y
    }

    #[test]
    fn references_are_right() {
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} {b}"));
        close(&of("softmax_f32", &[&[0.0, 3f64.ln()]]), &[0.25, 0.75]);
        close(&of("chain_f32", &[&[0.0, 8.0], &[0.0, 3f64.ln() - 1.0], &[1.0, 2.0]]), &[1.25, 2.75]);
        close(
            &of("rms_norm_bf16", &[&[3.0, 4.0], &[1.0, 2.0]]),
            &[3.0 / 12.500001f64.sqrt(), 8.0 / 12.500001f64.sqrt()],
        );
        let scale = 1.0 / 1.00001f64.sqrt();
        close(&of("layer_norm_f32", &[&[1.0, 3.0], &[1.0, 2.0], &[0.0, 5.0]]), &[-scale, 2.0 * scale + 5.0]);
        close(&of("bias_gelu_f32", &[&[1.0, -3.0], &[0.0, 2.0]]), &[0.841344746068543, -0.15865525393145707]);
        assert!(find("softmax").is_none() && find("x_f32").is_none());
    }
}
