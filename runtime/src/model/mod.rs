//! Loaded models.

#![allow(unsafe_code)]

mod calls;
mod choose;
mod graphs;
mod on_device;
mod queue;
mod reports;
mod reserves;
mod rules;
mod run;
mod session;

use std::ffi::{CString, c_void};
use std::path::Path;
use std::sync::Arc;

use crate::artifact::{Artifact, Opening};
use crate::cpu;
use crate::device::DeviceInfo;
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::manifest::{Manifest, Value};
use crate::options::Options;
use crate::pool;
use crate::profile::{LaunchProfile, Profile};
use crate::routines;
use crate::scratch::ScratchPool;
use crate::stats::{Counters, Stats};
use crate::tensor::{Tensor, TensorView, TensorViewMut};
pub(crate) use calls::Blocks;
use on_device::OnDevice;
use reserves::Reserves;
use rules::Rules;
pub use session::{DeviceTensor, Session};

/// A model that is ready to run. Cheap to clone; runs may go on from many threads at once.
#[derive(Clone)]
pub struct Model {
    inner: Arc<Inner>,
}

/// What a model's inputs imply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shapes {
    /// The value of each symbol, in the manifest's order; of those that data decide, the most that it may be.
    pub symbols: Vec<i64>,
    /// The dims of each output, likewise.
    pub outputs: Vec<Vec<i64>>,
    /// Bytes that a run needs besides inputs and outputs.
    pub workspace_bytes: usize,
}

struct Inner {
    host: Host,
    constants: Constants,
    artifact: Artifact,
    rules: Rules,
    reserves: Reserves,
    options: Options,
    threads: usize,
    /// Calls of recursive functions that may be in each other; none where the model has no such functions.
    most_calls: usize,
    scratch: ScratchPool,
    counters: Counters,
    /// Where launches are timed, if they are.
    profile: Option<Arc<Profile>>,
    /// The device that the kernels are for, where they are not the processor's.
    on_device: Option<OnDevice>,
}

/// Addresses within the artifact, which lives beside them.
struct Constants(Vec<*const c_void>);

// SAFETY: the memory is read-only and lives as long as the artifact in the same `Inner`.
unsafe impl Send for Constants {}
// SAFETY: as above.
unsafe impl Sync for Constants {}

impl Model {
    /// Loads an artifact with the default [`Options`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_with(path, Options::new())
    }

    /// Loads an artifact. Where a large file is changed in place while the model is in use, runs are errors from then on
    /// (replacing it is fine).
    pub fn load_with(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let opening = Opening { trusted: options.trusted, threads: options.thread_count()? };
        Self::from_artifact(Artifact::open_with(path.as_ref(), opening)?, options)
    }

    /// Makes an artifact ready to run: checks the machine, loads the code, starts the threads.
    /// Of an artifact for several machines, the variant for the device that the options name, or the first for a machine
    /// that is there.
    pub fn from_artifact(mut artifact: Artifact, options: Options) -> Result<Self> {
        choose::choose(&mut artifact, &options)?;
        let manifest = artifact.manifest();
        cpu::check(&manifest.target)?;
        check_routines(manifest, &options)?;
        let threads = options.thread_count()?;
        let most_calls = if manifest.functions.is_empty() { 0 } else { options.most_calls()? };
        let (rules, reserves) = (Rules::new(manifest), Reserves::new(manifest));
        let on_device = OnDevice::find(&artifact, &options)?;
        let host = Host::load(artifact.host(), manifest)?;
        pool::reserve(threads)?;
        let constants = Constants(artifact.constants().map(|bytes| bytes.as_ptr().cast()).collect());
        // What a device was given is right, then.
        artifact.check_unchanged()?;
        let profile = options.profile.then(Arc::<Profile>::default);
        let inner = Inner {
            host,
            constants,
            artifact,
            rules,
            reserves,
            options,
            threads,
            most_calls,
            scratch: ScratchPool::default(),
            counters: Counters::default(),
            profile,
            on_device,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Everything that the artifact says about the model.
    pub fn manifest(&self) -> &Manifest {
        self.inner.artifact.manifest()
    }

    /// The artifact that the model was loaded from.
    pub fn artifact(&self) -> &Artifact {
        &self.inner.artifact
    }

    /// The inputs, in the order of [`run`](Self::run).
    pub fn inputs(&self) -> &[Value] {
        &self.manifest().inputs
    }

    /// The outputs, in the order of [`run`](Self::run).
    pub fn outputs(&self) -> &[Value] {
        &self.manifest().outputs
    }

    /// The device that the model runs on, where it is not the processor: what it is.
    pub fn device(&self) -> Option<&DeviceInfo> {
        self.inner.on_device.as_ref().map(OnDevice::info)
    }

    /// The most threads that one run uses.
    pub fn threads(&self) -> usize {
        self.inner.threads
    }

    /// What the runs of this model did so far.
    pub fn stats(&self) -> Stats {
        self.inner.counters.read()
    }

    /// How long launches took since the model was loaded or [`clear_profile`](Self::clear_profile) was called, in the order in
    /// which a run makes them. Empty unless the model was loaded with [`Options::profile`]. Of a [`Session`] those count that
    /// it waited for.
    pub fn profile(&self) -> Vec<LaunchProfile> {
        let kernels = &self.manifest().kernels;
        self.inner.profile.as_ref().map(|profile| profile.read(kernels)).unwrap_or_default()
    }

    /// Whether launches are timed, as [`Options::profile`] says.
    pub fn is_profiled(&self) -> bool {
        self.inner.profile.is_some()
    }

    /// Forgets the times of launches so far.
    pub fn clear_profile(&self) {
        self.inner.profile.iter().for_each(|profile| profile.clear());
    }

    /// Gives the memory that is kept for the next run back to the system, and to the device.
    pub fn release_memory(&self) {
        self.inner.scratch.clear();
        self.inner.on_device.iter().for_each(OnDevice::release_memory);
    }

    /// Computes the outputs' dims without running; of those that data decide, the most that they may be. `input_dims` in the order of the inputs.
    pub fn infer_shapes(&self, input_dims: &[&[i64]]) -> Result<Shapes> {
        self.inner.infer_shapes(input_dims)
    }

    /// Tensors for the outputs of [`run_into`](Self::run_into) with inputs of these dims.
    pub fn allocate_outputs(&self, input_dims: &[&[i64]]) -> Result<Vec<Tensor>> {
        let dims = self.infer_shapes(input_dims)?.outputs;
        self.outputs().iter().zip(&dims).map(|(value, dims)| Tensor::zeros(value.element_type, dims)).collect()
    }

    /// Checks names, types and dims of inputs, before there are any data. Says what a run with them would give.
    pub fn accept(&self, named: &[(&str, ElementType, &[i64])]) -> Result<Shapes> {
        let (names, types): (Vec<&str>, Vec<_>) = named.iter().map(|(name, ty, dims)| (*name, (*ty, *dims))).unzip();
        let order = self.order(&names)?;
        self.inner.check_types(order.iter().map(|at| types[*at]))?;
        self.infer_shapes(&order.iter().map(|at| types[*at].1).collect::<Vec<_>>())
    }

    /// Runs the model. Inputs and outputs are in the order of the signature.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let views: Vec<TensorView<'_>> = inputs.iter().map(Tensor::view).collect();
        self.run_views(&views)
    }

    /// Runs the model on memory that the caller owns. An input that is not aligned is copied first (see
    /// [`Stats::staged_inputs`]).
    pub fn run_views(&self, inputs: &[TensorView<'_>]) -> Result<Vec<Tensor>> {
        self.inner.run(inputs)
    }

    /// Runs the model and puts the outputs where the caller wants them: buffers of the exact shapes, apart from each
    /// other and from the inputs. One that is not aligned is copied to after the run (see [`Stats::staged_outputs`]); one that
    /// is not even aligned to its elements is an error. On an error before the run they are untouched; after one of the run itself, such
    /// as a wrong index, they hold anything. In a loop of like shapes
    /// no tensor or workspace is allocated.
    ///
    /// Where data decide sizes (`decided` in the manifest), the buffers have the dims that [`infer_shapes`](Self::infer_shapes)
    /// tells, the most that they may be. Each output lies at the front of its buffer, contiguous; its dims are returned. Where a
    /// number that data tell is a size (`reserves` in the manifest), that most grows: [`Error::Outgrown`] says that it did.
    pub fn run_into(
        &self,
        inputs: &[TensorView<'_>],
        outputs: &mut [TensorViewMut<'_>],
    ) -> Result<Option<Vec<Vec<i64>>>> {
        self.inner.run_into(inputs, outputs)
    }

    /// Puts inputs given by name into the order that the other functions want.
    pub fn bind<'a>(&self, named: &[(&str, TensorView<'a>)]) -> Result<Vec<TensorView<'a>>> {
        let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
        Ok(self.order(&names)?.into_iter().map(|at| named[at].1).collect())
    }

    /// The place of an input in the order of [`run`](Self::run), by its name.
    pub fn input_index(&self, name: &str) -> Result<usize> {
        let inputs = self.inputs();
        inputs.iter().position(|input| input.name == name).ok_or_else(|| unknown_input(name, inputs))
    }

    /// The place of an output in the order of [`run`](Self::run), by its name.
    pub fn output_index(&self, name: &str) -> Result<usize> {
        let outputs = self.outputs();
        outputs.iter().position(|output| output.name == name).ok_or_else(|| Error::UnknownOutput {
            name: name.to_owned(),
            suggestion: similar(name, outputs),
            known: outputs.iter().map(|output| output.name.clone()).collect(),
        })
    }

    /// For each input where it is among these names.
    fn order(&self, names: &[&str]) -> Result<Vec<usize>> {
        let inputs = self.inputs();
        let mut bound: Vec<Option<usize>> = vec![None; inputs.len()];
        for (at, name) in names.iter().enumerate() {
            let index = self.input_index(name)?;
            if bound[index].replace(at).is_some() {
                return Err(Error::DuplicateInput { name: (*name).to_owned() });
            }
        }
        let missing = |input: &Value| Error::MissingInput { name: input.name.clone() };
        bound.into_iter().zip(inputs).map(|(at, input)| at.ok_or_else(|| missing(input))).collect()
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Model").field(&self.manifest().signature()).finish()
    }
}

fn check_routines(manifest: &Manifest, options: &Options) -> Result<()> {
    let registered = |name: &str| CString::new(name).is_ok_and(|name| options.routines.contains_key(&name));
    let known = |name: &str| registered(name) || routines::find(name).is_some();
    let names: Vec<String> = manifest.routines.iter().filter(|name| !known(name)).cloned().collect();
    if names.is_empty() { Ok(()) } else { Err(missing_routines(names)) }
}

/// The error for routines that neither this runtime nor the options have.
fn missing_routines(names: Vec<String>) -> Error {
    let known = names.iter().flat_map(|name| routines::of_name(name)).collect();
    Error::MissingRoutine { names, known }
}

fn unknown_input(name: &str, inputs: &[Value]) -> Error {
    Error::UnknownInput {
        name: name.to_owned(),
        suggestion: similar(name, inputs),
        known: inputs.iter().map(|input| input.name.clone()).collect(),
    }
}

/// The name that may be meant.
fn similar(name: &str, values: &[Value]) -> Option<String> {
    /// Below this, names have little in common.
    const SIMILAR: f64 = 0.7;
    let score = |value: &Value| strsim::jaro_winkler(name, &value.name);
    let best = values.iter().max_by(|a, b| score(a).total_cmp(&score(b)));
    best.filter(|value| score(value) >= SIMILAR).map(|value| value.name.clone())
}
