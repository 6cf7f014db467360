//! The encoder layer of the examples: stored outputs, and times at several lengths of the sequence.

use std::path::PathBuf;

use sutura_runtime::compare::compare;
use sutura_runtime::device::Device;
use sutura_runtime::{DeviceTensor, ElementType, Model, Options, Session, Tensor, npy};

use crate::args::Args;
use crate::numbers::number;
use crate::results::{Checked, Timed, Timing};
use crate::workloads::ENCODER;
use crate::{Failure, Result, time};

/// Width of the layer.
const HIDDEN: u64 = 256;
/// What outputs may be off by from onnxruntime's, in f32; they are of the order of 1.
const ABSOLUTE: f64 = 5e-5;
/// Batch and length of the sequence. One compilation serves all.
const SIZES: [[u64; 2]; 10] =
    [[1, 128], [1, 512], [8, 64], [8, 100], [8, 128], [8, 333], [8, 512], [32, 128], [32, 200], [32, 512]];

pub(crate) fn check(args: &Args, device: &Device, checked: &mut Checked) -> Result<()> {
    let (model, target) = crate::load(args, ENCODER, device, args.options())?;
    checked.target = target;
    checked.allowed = format!("{ABSOLUTE:e}");
    let mut session = Session::new(device)?;
    for case in cases(args)? {
        let read = |tensor: &str| npy::read(case.join(format!("{tensor}.npy")));
        let (x, mask, expected) = (read("x")?, read("mask")?, read("y")?);
        if x.len() as u64 > args.max_elements {
            continue;
        }
        let (x, mask) = (session.upload(&x.view())?, session.upload(&mask.view())?);
        // No number is written yet.
        let unwritten = Tensor::from_slice(expected.dims(), &vec![f32::NAN; expected.len()])?;
        let unwritten = session.upload(&unwritten.view())?;
        let mut y = session.tensor(ElementType::F32, expected.dims())?;
        // Three times, so that a replay of a graph is among them.
        for _ in 0..3 {
            session.copy(&unwritten, &mut y)?;
            session.run_into(&model, &[&x, &mask], &mut [&mut y])?;
        }
        let found = session.download(&y)?;
        let comparison = compare(&found, &expected)?;
        let error = if comparison.nan_mismatches > 0 { f64::INFINITY } else { comparison.max_abs.error };
        checked.shapes += 1;
        checked.worst = checked.worst.max(error / ABSOLUTE);
        if error.is_nan() || error > ABSOLUTE {
            let worst = &comparison.max_abs;
            checked.problems.push(format!(
                "{}: {error:e} off at {:?}: {} where {} is right; {} of {} elements differ, {} are no numbers",
                case.display(),
                worst.index,
                worst.actual,
                worst.expected,
                comparison.different,
                comparison.elements,
                comparison.nan_mismatches
            ));
        }
    }
    Ok(())
}

/// The folders of the stored cases.
fn cases(args: &Args) -> Result<Vec<PathBuf>> {
    let folder = args.bundle.join(ENCODER);
    let unreadable = |error| Failure::File(format!("cannot read `{}`: {error}", folder.display()));
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            cases.push(path);
        }
    }
    cases.sort();
    if cases.is_empty() {
        return Err(Failure::File(format!("`{}` has no stored cases", folder.display())));
    }
    Ok(cases)
}

pub(crate) fn time(args: &Args, session: &mut Session, model: &Model, timed: &mut Timed) -> Result<()> {
    // With events around each launch nothing is captured, so the whole is timed without.
    let (profiled, _) = crate::load(args, ENCODER, &session.device().clone(), Options::new().profile(true))?;
    for [batch, seq] in shapes(args) {
        let inputs = inputs(session, args.seed, batch, seq)?;
        let inputs: Vec<&DeviceTensor> = inputs.iter().collect();
        let mut outputs = session.run(model, &inputs)?;
        let measured = time::measure(session, model, &inputs, &mut outputs)?;
        let parts = parts(session, &profiled, &inputs, &mut outputs)?;
        timed.results.push(Timing { rows: batch, cols: seq, bytes: None, parts, ..measured });
    }
    Ok(())
}

/// What each kernel takes of a run, the least of some runs.
fn parts(
    session: &mut Session,
    model: &Model,
    inputs: &[&DeviceTensor],
    outputs: &mut [DeviceTensor],
) -> Result<Vec<(String, f64)>> {
    const RUNS: usize = 10;
    for _ in 0..RUNS {
        session.run_into(model, inputs, &mut outputs.iter_mut().collect::<Vec<_>>())?;
    }
    session.synchronize()?;
    let mut parts: Vec<(String, f64)> = Vec::new();
    for launch in model.profile() {
        let (name, us) = (launch.kernel.unwrap_or_default(), launch.least.as_secs_f64() * 1e6);
        match parts.iter_mut().find(|(own, _)| *own == name) {
            Some((_, sum)) => *sum += us,
            None => parts.push((name, us)),
        }
    }
    model.clear_profile();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(parts)
}

/// Batches and lengths that are timed.
pub(crate) fn shapes(args: &Args) -> Vec<[u64; 2]> {
    SIZES.into_iter().filter(|size| elements(*size) <= args.max_elements).collect()
}

fn elements([batch, seq]: [u64; 2]) -> u64 {
    batch * seq * HIDDEN
}

/// Numbers of the order of 1, and a mask that keeps all.
fn inputs(session: &mut Session, seed: u64, batch: u64, seq: u64) -> Result<[DeviceTensor; 2]> {
    let (batch_dim, seq_dim) = (batch as i64, seq as i64);
    let x: Vec<f32> = (0..elements([batch, seq])).map(|at| number(seed, at) / 8.0).collect();
    let x = Tensor::from_slice(&[batch_dim, seq_dim, HIDDEN as i64], &x)?;
    let mask = Tensor::from_slice(&[batch_dim, seq_dim], &vec![1i64; (batch * seq) as usize])?;
    Ok([session.upload(&x.view())?, session.upload(&mask.view())?])
}
