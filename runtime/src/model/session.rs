//! Runs on tensors that lie on a device, and stay there.

use std::fmt;
use std::sync::Arc;

use super::queue::Queue;
use super::{Inner, Model};
use crate::device::{Buffer, Device, DeviceError, Event};
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::manifest::byte_size;
use crate::stats::Counters;
use crate::tensor::{Tensor, TensorView};

/// Runs of models on a device one after the other, with tensors that stay there between runs. Nothing is transferred
/// but by [`upload`](Self::upload) and [`download`](Self::download).
///
/// Runs are enqueued: they begin in their order, and the device may be at work when a function returns; see
/// [`synchronize`](Self::synchronize). A run that comes again, at the same sizes and with the same tensors, is replayed
/// as a graph where the device has graphs (see [`Options::graphs`](crate::Options::graphs)).
///
/// Models are loaded on the session's device with [`Options::on`](crate::Options::on). Two sessions have no order among
/// each other, so each has its own tensors. After an error of the device a session does no more.
///
/// ```no_run
/// use sutura_runtime::{Model, Options, Session, Tensor, device::Devices};
///
/// let device = Devices::find().open("cuda")?;
/// let model = Model::load_with("softmax.sutura", Options::new().on(&device))?;
/// let mut session = Session::new(&device)?;
/// let x = session.upload(&Tensor::from_slice(&[1, 4], &[1.0f32, 2.0, 3.0, 4.0])?.view())?;
/// let start = session.record()?;
/// let y = session.run(&model, &[&x])?.remove(0);
/// let end = session.record()?;
/// let y = session.download(&y)?;
/// println!("{y:?} took {:?}", end.since(&start));
/// # Ok::<(), sutura_runtime::Error>(())
/// ```
pub struct Session {
    queue: Queue,
    /// Models of runs that may not be done: their constants are used. Dropped after the queue, which waits.
    running: Vec<Model>,
    device: Device,
    /// What tells tensors of this session from those of others.
    identity: Arc<()>,
}

/// A contiguous, row-major tensor in the memory of a device. It belongs to the [`Session`] that made it, which reuses
/// the memory after the tensor was dropped.
pub struct DeviceTensor {
    element_type: ElementType,
    dims: Vec<i64>,
    buffer: Buffer,
    session: Arc<()>,
}

impl Session {
    /// A session without tensors.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { queue: Queue::new(device)?, running: Vec::new(), device: device.clone(), identity: Arc::default() })
    }

    /// The device that it is on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A tensor with any content.
    pub fn tensor(&mut self, element_type: ElementType, dims: &[i64]) -> Result<DeviceTensor> {
        let invalid = |reason: String| Error::InvalidTensor { reason: format!("it {reason}") };
        let bytes = byte_size(element_type, dims).map_err(invalid)?;
        let buffer = self.queue.allocate(bytes as u64)?;
        Ok(DeviceTensor { element_type, dims: dims.to_vec(), buffer, session: self.identity.clone() })
    }

    /// Enqueues a copy of a tensor of the host, which is read before this returns.
    pub fn upload(&mut self, from: &TensorView<'_>) -> Result<DeviceTensor> {
        let tensor = self.tensor(from.element_type(), from.dims())?;
        self.queue.stream().upload(&tensor.buffer, 0, from.bytes())?;
        Ok(tensor)
    }

    /// Waits for everything enqueued, and copies a tensor to the host.
    pub fn download(&mut self, from: &DeviceTensor) -> Result<Tensor> {
        let mut tensor = Tensor::zeros(from.element_type, &from.dims)?;
        self.download_range(from, 0, tensor.bytes_mut())?;
        Ok(tensor)
    }

    /// Enqueues a run of a model. Inputs and outputs are in the order of its signature. Of one that checks data, such as
    /// indices, the run is over when this returns, with what is wrong.
    pub fn run(&mut self, model: &Model, inputs: &[&DeviceTensor]) -> Result<Vec<DeviceTensor>> {
        let input_dims: Vec<&[i64]> = inputs.iter().map(|input| input.dims()).collect();
        let dims = model.infer_shapes(&input_dims)?.outputs;
        let tensors = model.outputs().iter().zip(&dims).map(|(value, dims)| self.tensor(value.element_type, dims));
        let mut outputs = tensors.collect::<Result<Vec<_>>>()?;
        self.run_into(model, inputs, &mut outputs.iter_mut().collect::<Vec<_>>())?;
        Ok(outputs)
    }

    /// Enqueues a run of a model into tensors of the shapes that the inputs imply. On an error before the run they are
    /// untouched.
    pub fn run_into(
        &mut self,
        model: &Model,
        inputs: &[&DeviceTensor],
        outputs: &mut [&mut DeviceTensor],
    ) -> Result<()> {
        let inner: &Inner = &model.inner;
        let manifest = model.manifest();
        let Some(on_device) = &inner.on_device else {
            let is = "has the session; compile the model for it with `--target`".to_owned();
            let device = self.device.info().name.clone();
            return Err(Error::WrongDevice { wanted: "the processor".to_owned(), device, is });
        };
        if !on_device.device().is(&self.device) {
            let (device, owner) = (self.device.info().name.clone(), on_device.info().name.clone());
            let what = "a model (load it with `Options::on` the session's device)".to_owned();
            return Err(Error::Device(DeviceError::OtherDevice { device, what, owner }));
        }
        let mut scratch = inner.scratch.lease();
        let types = inputs.iter().map(|tensor| (tensor.element_type, tensor.dims()));
        let workspace_bytes = inner.accept(&mut scratch, types)?;
        inner.check_outputs(&scratch, outputs.iter().map(|tensor| (tensor.element_type, tensor.dims())))?;
        for (value, tensor) in manifest.inputs.iter().zip(inputs) {
            self.check_owner(&format!("input `{}`", value.name), tensor)?;
        }
        for (value, tensor) in manifest.outputs.iter().zip(&*outputs) {
            self.check_owner(&format!("output `{}`", value.name), tensor)?;
        }
        let (from, to): (Vec<&Buffer>, Vec<&Buffer>) =
            (inputs.iter().map(|t| &t.buffer).collect(), outputs.iter().map(|t| &t.buffer).collect());
        if !self.running.iter().any(|running| Arc::ptr_eq(&running.inner, &model.inner)) {
            self.running.push(model.clone());
        }
        self.queue.run((on_device, inner), &scratch.symbols, (&from, &to), workspace_bytes)?;
        Counters::add(&inner.counters.runs, 1);
        Ok(())
    }

    /// Enqueues a copy of a tensor's content into another one of the same type and dims.
    pub fn copy(&mut self, from: &DeviceTensor, to: &mut DeviceTensor) -> Result<()> {
        if (from.element_type, &from.dims) != (to.element_type, &to.dims) {
            return Err(Error::InvalidTensor { reason: format!("{from:?} is copied to {to:?}") });
        }
        self.copy_range((from, 0), (to, 0), from.bytes())
    }

    /// Enqueues a copy of `bytes` bytes between tensors, from one's offset to the other's.
    pub fn copy_range(&mut self, from: (&DeviceTensor, u64), to: (&mut DeviceTensor, u64), bytes: u64) -> Result<()> {
        self.check_owner("the tensor that is copied", from.0)?;
        self.check_owner("the tensor that is copied to", to.0)?;
        Ok(self.queue.stream().copy((&from.0.buffer, from.1), (&to.0.buffer, to.1), bytes)?)
    }

    /// Waits for everything enqueued, and copies bytes of a tensor, from `offset` on, to the host.
    pub fn download_range(&mut self, from: &DeviceTensor, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.check_owner("the tensor", from)?;
        self.queue.stream().download(&from.buffer, offset, bytes)?;
        self.synchronize()
    }

    /// Enqueues that the device's time is taken, when everything before is done. What [`Event::since`] tells is known
    /// after [`synchronize`](Self::synchronize) or [`download`](Self::download).
    pub fn record(&mut self) -> Result<Event> {
        Ok(self.queue.stream().record()?)
    }

    /// Waits for everything enqueued.
    pub fn synchronize(&mut self) -> Result<()> {
        self.queue.synchronize()?;
        self.running.clear();
        Ok(())
    }

    /// What the driver said when it last refused to capture a run, which then was enqueued launch by launch; see
    /// [`Stats::failed_captures`](crate::Stats::failed_captures).
    pub fn capture_error(&self) -> Option<&DeviceError> {
        self.queue.why_not_captured()
    }

    /// Waits for everything enqueued, forgets captured runs, and gives the memory that no tensor has back to the
    /// device.
    pub fn release_memory(&mut self) -> Result<()> {
        self.queue.release_memory()?;
        self.running.clear();
        Ok(())
    }

    fn check_owner(&self, what: &str, tensor: &DeviceTensor) -> Result<()> {
        if Arc::ptr_eq(&self.identity, &tensor.session) {
            return Ok(());
        }
        Err(Error::InvalidTensor { reason: format!("{what} is of another session; download it there and upload it") })
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&self.device).finish()
    }
}

impl DeviceTensor {
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.buffer.bytes()
    }
}

impl fmt::Debug for DeviceTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?} on a device", self.element_type, self.dims)
    }
}
