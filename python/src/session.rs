//! Runs on data that stays on a device: `sutura.Session`, `sutura.DeviceTensor`, `sutura.devices`.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sutura_runtime::TensorView;
use sutura_runtime::device::{Device, Devices, Found};

use crate::array::Array;
use crate::call;
use crate::fork::OfProcess;
use crate::interrupt::without_lock;
use crate::memory::{self, Kind};
use crate::model::{self, Model, Settings};
use crate::raise;

/// Work on a device, in order, on tensors that stay there. `device` is a name as of `devices()`.
#[pyclass(frozen, module = "sutura", name = "Session", weakref)]
pub(crate) struct Session {
    /// Held without Python's lock only, so that nobody waits for both. Nothing after `close`.
    work: OfProcess<Mutex<Option<sutura_runtime::Session>>>,
    device: OfProcess<Device>,
    id: String,
}

/// A tensor in the memory of a session's device.
#[pyclass(frozen, module = "sutura", name = "DeviceTensor", weakref)]
pub(crate) struct DeviceTensor {
    tensor: OfProcess<sutura_runtime::DeviceTensor>,
}

const SESSION: &str = "this session";
const TENSOR: &str = "this tensor of a device";

impl Session {
    /// Does something with the session, alone.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut sutura_runtime::Session) -> sutura_runtime::Result<T>,
    ) -> PyResult<T> {
        let session = self.work.check(SESSION)?;
        let done = without_lock(py, || {
            let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
            session.as_mut().map(work).transpose()
        })?;
        done.ok_or_else(|| raise::usage("the session is closed"))
    }
}

#[pymethods]
impl Session {
    #[new]
    fn new(py: Python<'_>, device: &str) -> PyResult<Self> {
        let (session, device, id) = without_lock(py, || {
            let devices = Devices::find();
            let found = devices.select(device)?;
            let device = found.open()?;
            Ok((sutura_runtime::Session::new(&device)?, device, found.id()))
        })?;
        Ok(Self { work: OfProcess::new(Mutex::new(Some(session))), device: OfProcess::new(device), id })
    }

    /// Loads an artifact that was compiled for the session's device; see `sutura.load`.
    #[pyo3(signature = (source, *, threads=None, trusted=false, profile=false))]
    fn load(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        threads: Option<&Bound<'_, PyAny>>,
        trusted: bool,
        profile: bool,
    ) -> PyResult<Model> {
        let device = self.device.check(SESSION)?;
        let settings = Settings { threads: model::threads(threads)?, device: None, trusted, profile };
        let options = settings.options().on(device);
        let settings = Settings { device: Some(self.id.clone()), ..settings };
        model::open(py, source, settings, options)
    }

    /// Copies an array to the device. It is read before this returns.
    fn upload(&self, py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<DeviceTensor> {
        let array = Array::of(array, || "the array".to_owned())?;
        let copy = if array.is_contiguous() { None } else { Some(array.gathered()) };
        let copy = copy.transpose().map_err(|error| raise::error(py, &error))?;
        let view = match &copy {
            Some(copy) => Ok(copy.view()),
            // SAFETY: the array has these elements, and its object is held until the end.
            None => unsafe { TensorView::from_raw_parts(array.element_type, &array.dims, array.data) },
        };
        let view = view.map_err(|error| raise::error(py, &error))?;
        let tensor = self.with(py, |session| session.upload(&view))?;
        Ok(DeviceTensor { tensor: OfProcess::new(tensor) })
    }

    /// Runs a model that this session loaded, on tensors of this session, as a model is called. The device may be at work when this
    /// returns.
    #[pyo3(signature = (model, *inputs, **named))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        model: &Bound<'py, Model>,
        inputs: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let loaded = model.get().loaded()?;
        let model = loaded.usable()?;
        let objects = call::inputs(model, inputs, named)?;
        let mut tensors = Vec::with_capacity(objects.len());
        for (object, value) in objects.iter().zip(model.inputs()) {
            let Ok(tensor) = object.cast::<DeviceTensor>() else {
                let class = object.get_type().name()?;
                return Err(raise::usage(format!(
                    "input `{}` is of the type {class}, and a session runs on tensors of its own; session.upload(x) makes one",
                    value.name
                )));
            };
            tensors.push(tensor.clone());
        }
        let tensors: Vec<_> =
            tensors.iter().map(|tensor| tensor.get().tensor.check(TENSOR)).collect::<PyResult<_>>()?;
        let outputs = self.with(py, |session| session.run(model, &tensors))?;
        let object = |tensor| Ok(Bound::new(py, DeviceTensor { tensor: OfProcess::new(tensor) })?.into_any());
        memory::one_or_all(py, outputs.into_iter().map(object).collect::<PyResult<_>>()?)
    }

    /// Waits for everything before, and copies a tensor to a NumPy array.
    fn download<'py>(&self, py: Python<'py>, tensor: &Bound<'py, DeviceTensor>) -> PyResult<Bound<'py, PyAny>> {
        let tensor = tensor.get().tensor.check(TENSOR)?;
        let copy = self.with(py, |session| session.download(tensor))?;
        memory::into_kind(py, copy, Kind::Numpy)
    }

    /// Waits for everything that was begun.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, sutura_runtime::Session::synchronize)
    }

    /// Waits for everything, and gives the memory that no tensor has back to the device.
    fn release_memory(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, sutura_runtime::Session::release_memory)
    }

    /// The device, as `devices()` names it.
    #[getter]
    fn device(&self) -> &str {
        &self.id
    }

    /// Waits for everything, and ends the session.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let session = self.work.check(SESSION)?;
        without_lock(py, || {
            drop(session.lock().unwrap_or_else(PoisonError::into_inner).take());
            Ok(())
        })
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        format!("<sutura.Session on {}>", self.id)
    }
}

#[pymethods]
impl DeviceTensor {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tensor.dims())
    }

    /// As the compiler calls it, such as `f32`.
    #[getter]
    fn element_type(&self) -> &'static str {
        self.tensor.element_type().name()
    }

    fn __repr__(&self) -> String {
        format!("<sutura.DeviceTensor {}{:?}>", self.element_type(), self.tensor.dims())
    }
}

/// What models can run on beside the processor, on this machine.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let devices = py.detach(Devices::find);
    let class = py.import("sutura._values")?.getattr("Device")?;
    let each = |found: &Found| {
        let info = found.info();
        let (name, kind) = (info.name.as_str(), info.kind.name());
        let memory = info.limits.memory_bytes;
        class.call1((found.id(), name, kind, &info.api, &info.driver, &info.target, memory, found.problem()))
    };
    devices.all().iter().map(each).collect()
}
