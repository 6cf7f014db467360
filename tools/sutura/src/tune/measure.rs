//! Times of the ways to lower a region, on this machine.

use std::time::Instant;

use sutura_ir::{Context, Module};
use sutura_runtime::device::Device;
use sutura_runtime::{DeviceTensor, ElementType, Model, Options, Session, Tensor};

use super::On;
use super::problem::{Make, Problem};
use crate::compile::compile_text;
use crate::failure::{Failure, Kind};
use crate::files::TemporaryFolder;
use crate::tensors;

/// Rounds, in each of which every candidate has its turn.
const ROUNDS: usize = 11;
/// Nanoseconds that a turn takes at least: shorter runs are repeated.
const TURN_NS: f64 = 1e6;
/// Most bytes of inputs and outputs.
const MOST_BYTES: u64 = 1 << 30;

/// Where candidates run.
pub(super) enum Place {
    /// So many threads of the processor.
    Threads(usize),
    Device(Device),
}

impl Place {
    /// What choices are kept under of a region; one thread is what they are for if nothing else is said.
    pub(super) fn key(&self, region: &str) -> String {
        match self {
            Self::Threads(1) | Self::Device(_) => region.to_owned(),
            Self::Threads(threads) => format!("{region} {threads} threads"),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Threads(1) => f.write_str("one thread"),
            Self::Threads(threads) => write!(f, "{threads} threads"),
            Self::Device(device) => write!(f, "the device {}", device.info().name),
        }
    }
}

/// What a candidate reads and writes.
enum Tensors {
    Host(Vec<Tensor>, Vec<Tensor>),
    /// They stay on the device: what is measured are kernels, not transfers.
    Device(Box<Session>, Vec<DeviceTensor>, Vec<DeviceTensor>),
}

/// A candidate that is ready to run.
struct Runner {
    model: Model,
    tensors: Tensors,
    /// Runs of a turn.
    runs: u32,
    /// Nanoseconds of a run, by turn.
    times: Vec<f64>,
}

/// Median nanoseconds of a run in each way.
pub(super) fn measure(
    (cx, described): (&Context, &Module),
    problem: &Problem,
    ways: &[Make<'_>],
    on: &On<'_>,
) -> Result<Vec<u64>, Failure> {
    let mut runners = Vec::new();
    for way in ways {
        let text = problem.text(cx, described, *way).map_err(Failure::internal)?;
        runners.push(Runner::new(&text, &problem.inputs, on)?);
    }
    for round in 0..ROUNDS {
        // What slows the machine down for a while meets all; who begins changes.
        let first = round % runners.len();
        let (later, earlier) = runners.split_at_mut(first);
        earlier.iter_mut().chain(later).try_for_each(Runner::turn)?;
    }
    Ok(runners.into_iter().map(|runner| median(runner.times)).collect())
}

impl Runner {
    fn new(text: &str, dims: &[Vec<i64>], on: &On<'_>) -> Result<Self, Failure> {
        let folder = TemporaryFolder::new()?;
        let path = folder.path().join("region.sutura");
        compile_text(text, &path, on.machine)?;
        let options = match &on.place {
            Place::Threads(threads) => Options::new().threads(*threads),
            Place::Device(device) => Options::new().on(device),
        };
        let model = Model::load_with(&path, options)?;
        let types: Vec<ElementType> = model.inputs().iter().map(|value| value.element_type).collect();
        let input_dims: Vec<&[i64]> = dims.iter().map(Vec::as_slice).collect();
        let shapes = model.infer_shapes(&input_dims)?;
        let output_types = model.outputs().iter().map(|value| value.element_type);
        let outputs = output_types.zip(shapes.outputs.iter()).map(|(ty, dims)| bytes(ty, dims));
        let needed = types.iter().zip(&input_dims).map(|(ty, dims)| bytes(*ty, dims)).chain(outputs);
        let needed = needed.fold(0u64, u64::saturating_add);
        if needed > MOST_BYTES {
            let message = format!("its tensors take {} MiB, more than {} MiB", needed >> 20, MOST_BYTES >> 20);
            return Err(Failure::new(Kind::Unsupported, message));
        }
        let inputs =
            types.iter().zip(dims).map(|(ty, dims)| tensors::filled(*ty, dims)).collect::<Result<Vec<_>, Failure>>()?;
        let tensors = match &on.place {
            Place::Threads(_) => {
                let outputs = model.run(&inputs)?;
                Tensors::Host(inputs, outputs)
            }
            Place::Device(device) => {
                let mut session = Session::new(device)?;
                let inputs = inputs.iter().map(|input| session.upload(&input.view())).collect::<Result<Vec<_>, _>>()?;
                let outputs = session.run(&model, &inputs.iter().collect::<Vec<_>>())?;
                Tensors::Device(Box::new(session), inputs, outputs)
            }
        };
        let mut runner = Self { model, tensors, runs: 1, times: Vec::new() };
        runner.turn()?;
        let once = runner.times.drain(..).next().unwrap_or(TURN_NS).max(1.0);
        runner.runs = (TURN_NS / once).ceil().clamp(1.0, 1e6) as u32;
        Ok(runner)
    }

    fn turn(&mut self) -> Result<(), Failure> {
        let start;
        match &mut self.tensors {
            Tensors::Host(inputs, outputs) => {
                let views: Vec<_> = inputs.iter().map(Tensor::view).collect();
                let mut targets: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
                start = Instant::now();
                for _ in 0..self.runs {
                    self.model.run_into(&views, &mut targets)?;
                }
            }
            Tensors::Device(session, inputs, outputs) => {
                let inputs: Vec<_> = inputs.iter().collect();
                session.synchronize()?;
                start = Instant::now();
                for _ in 0..self.runs {
                    session.run_into(&self.model, &inputs, &mut outputs.iter_mut().collect::<Vec<_>>())?;
                }
                session.synchronize()?;
            }
        }
        self.times.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(self.runs));
        Ok(())
    }
}

fn bytes(ty: ElementType, dims: &[i64]) -> u64 {
    dims.iter().fold(ty.bytes() as u64, |product, size| product.saturating_mul(size.unsigned_abs()))
}

/// The time in the middle, in whole nanoseconds of at least 1.
fn median(mut times: Vec<f64>) -> u64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).map_or(1, |ns| ns.round().max(1.0) as u64)
}
