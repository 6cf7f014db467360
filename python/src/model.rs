//! `sutura.Model`, and `sutura.load`.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMemoryView, PyTuple};
use sutura_runtime::manifest::{Dim, Value};
use sutura_runtime::{Artifact, Options};
use sutura_visible::line;

use crate::call::{self, Given, Wanted};
use crate::fork::OfProcess;
use crate::interrupt::{self, without_lock};
use crate::memory::{self, Kind};
use crate::{elements, raise};

/// A model that is ready to run, from any number of threads at once. `load` makes one.
#[pyclass(frozen, module = "sutura", name = "Model", weakref)]
pub(crate) struct Model {
    /// Nothing after `close`.
    loaded: RwLock<Option<Arc<Loaded>>>,
}

pub(crate) struct Loaded {
    pub(crate) model: OfProcess<sutura_runtime::Model>,
    settings: Settings,
    /// Of the outputs.
    dtypes: PyOnceLock<Vec<Py<PyArrayDescr>>>,
}

/// How a model was loaded, and how a copy of it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) threads: Option<usize>,
    pub(crate) device: Option<String>,
    pub(crate) trusted: bool,
    pub(crate) profile: bool,
}

impl Settings {
    pub(crate) fn options(&self) -> Options {
        let mut options =
            Options::new().profile(self.profile).trust_artifact(self.trusted).interrupt(interrupt::wanted);
        if let Some(threads) = self.threads {
            options = options.threads(threads);
        }
        if let Some(device) = &self.device {
            options = options.device(device);
        }
        options
    }
}

/// What a Python `int` of threads says; an error for what is no number of threads.
pub(crate) fn threads(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    let Some(given) = given else { return Ok(None) };
    if !given.is_instance_of::<pyo3::types::PyInt>() || given.is_instance_of::<pyo3::types::PyBool>() {
        return Err(raise::usage(format!("threads is {}, but must be a whole number from 1 to 1024", given.repr()?)));
    }
    // The runtime says what is wrong with a number that none is.
    Ok(Some(given.extract::<usize>().unwrap_or(0))).and_then(|found| match found {
        Some(0) => Err(raise::usage(format!("threads is {given}, but must be a whole number from 1 to 1024"))),
        found => Ok(found),
    })
}

/// Where an artifact is.
enum Source<'py> {
    Path(PathBuf),
    Bytes(Bound<'py, PyBytes>),
}

impl<'py> Source<'py> {
    fn of(source: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = source.py();
        if let Ok(bytes) = source.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone()));
        }
        if source.is_instance_of::<PyByteArray>() || source.is_instance_of::<PyMemoryView>() {
            // These can change while they are read, so a copy is.
            let copy = py.get_type::<PyBytes>().call1((source,))?;
            return Ok(Self::Bytes(copy.cast_into::<PyBytes>()?));
        }
        let path = source.extract::<PathBuf>();
        path.map(Self::Path).map_err(|_| {
            let class = source.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
            raise::usage(format!("an artifact is the path of a file, or its bytes, not of the type {class}"))
        })
    }
}

/// Loads an artifact, which `sutura compile` wrote: the path of a file, or its bytes. It holds native code, which runs in this
/// process: load only what you would run.
///
/// `threads`: the most that a run uses; else `SUTURA_THREADS` counts, and then the number of processors.
/// `device`: a name as of `devices()`, for a model that was compiled for one.
/// `trusted`: do not look whether the file is damaged.
/// `profile`: take the time of each launch, for `Model.profile`.
#[pyfunction]
#[pyo3(signature = (source, *, threads=None, device=None, trusted=false, profile=false))]
pub(crate) fn load(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    threads: Option<&Bound<'_, PyAny>>,
    device: Option<String>,
    trusted: bool,
    profile: bool,
) -> PyResult<Model> {
    let settings = Settings { threads: self::threads(threads)?, device, trusted, profile };
    let options = settings.options();
    open(py, source, settings, options)
}

/// Loads an artifact with options that are not all among the settings.
pub(crate) fn open(py: Python<'_>, source: &Bound<'_, PyAny>, settings: Settings, options: Options) -> PyResult<Model> {
    let model = match Source::of(source)? {
        Source::Path(path) => without_lock(py, move || sutura_runtime::Model::load_with(path, options))?,
        Source::Bytes(bytes) => {
            let (bytes, trusted) = (bytes.as_bytes(), settings.trusted);
            without_lock(py, move || {
                let read = if trusted { Artifact::from_bytes_trusted } else { Artifact::from_bytes };
                sutura_runtime::Model::from_artifact(read("bytes", bytes)?, options)
            })?
        }
    };
    let loaded = Loaded { model: OfProcess::new(model), settings, dtypes: PyOnceLock::new() };
    Ok(Model { loaded: RwLock::new(Some(Arc::new(loaded))) })
}

impl Loaded {
    /// The model, where this process may run it.
    pub(crate) fn usable(&self) -> PyResult<&sutura_runtime::Model> {
        match self.model.device() {
            // Threads are started anew after a fork.
            None => Ok(&self.model),
            Some(_) => self.model.check("this model of a device"),
        }
    }

    fn dtypes<'a>(&'a self, py: Python<'_>) -> PyResult<&'a [Py<PyArrayDescr>]> {
        let all = || {
            let of = |value: &Value| elements::dtype(py, value.element_type).map(Bound::unbind);
            self.model.outputs().iter().map(of).collect::<PyResult<_>>()
        };
        self.dtypes.get_or_try_init(py, all).map(Vec::as_slice)
    }

    fn run<'py>(&self, py: Python<'py>, given: &Given<'py>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.usable()?;
        // What the results cannot be is found before the run.
        let dtypes = if given.kind == Kind::Numpy { self.dtypes(py)? } else { &[] };
        let views = given.views(py)?;
        let mut outputs = without_lock(py, || model.run_views(&views))?;
        if let ([dtype], 1) = (dtypes, outputs.len()) {
            return memory::into_numpy(py, outputs.remove(0), dtype.bind(py));
        }
        let mut objects = Vec::with_capacity(outputs.len());
        for (at, tensor) in outputs.into_iter().enumerate() {
            objects.push(match dtypes.get(at) {
                Some(dtype) => memory::into_numpy(py, tensor, dtype.bind(py))?,
                None => memory::into_kind(py, tensor, given.kind)?,
            });
        }
        memory::one_or_all(py, objects)
    }
}

impl Model {
    pub(crate) fn loaded(&self) -> PyResult<Arc<Loaded>> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone();
        loaded.ok_or_else(|| raise::usage("the model is closed"))
    }

    fn values<'py>(&self, py: Python<'py>, values: &[Value]) -> PyResult<Bound<'py, PyTuple>> {
        let class = py.import("sutura._values")?.getattr("Value")?;
        let each = |value: &Value| {
            let dims: Vec<Bound<'py, PyAny>> =
                value.dims.iter().map(|dim| dim_object(py, dim)).collect::<PyResult<_>>()?;
            class.call1((&value.name, value.element_type.name(), PyTuple::new(py, dims)?))
        };
        PyTuple::new(py, values.iter().map(each).collect::<PyResult<Vec<_>>>()?)
    }
}

fn dim_object<'py>(py: Python<'py>, dim: &Dim) -> PyResult<Bound<'py, PyAny>> {
    Ok(match dim {
        Dim::Const(size) => size.into_pyobject(py)?.into_any(),
        Dim::Symbol(name) | Dim::Expr(name) => name.into_pyobject(py)?.into_any(),
    })
}

#[pymethods]
impl Model {
    /// Runs the model: inputs by position, by name, or all by name in one mapping. One output is returned alone, several as a
    /// tuple. `out` has buffers for the outputs, which are returned then.
    #[pyo3(signature = (*inputs, **named))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let loaded = self.loaded()?;
        let model = loaded.usable()?;
        let Some(named) = named else {
            let given = Given::read(py, model, &call::inputs(model, inputs, None)?)?;
            return loaded.run(py, &given);
        };
        // An input of that name is given by position or in a mapping, then.
        let (named, out) = memory::without_out(named)?;
        let given = Given::read(py, model, &call::inputs(model, inputs, Some(&named))?)?;
        match out {
            None => loaded.run(py, &given),
            Some(out) => Wanted::read(model, &out)?.run(py, model, &given),
        }
    }

    /// The inputs, in the order in which calls take them.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.values(py, self.loaded()?.model.inputs())
    }

    /// The outputs, in the order in which calls return them.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.values(py, self.loaded()?.model.outputs())
    }

    /// The named dimensions, and the sizes that the model was compiled for.
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let loaded = self.loaded()?;
        let (manifest, dims) = (loaded.model.manifest(), PyDict::new(py));
        let class = py.import("sutura._values")?.getattr("Dim")?;
        for symbol in &manifest.symbols {
            let decided = manifest.decided.contains(&symbol.name);
            let likely = PyTuple::new(py, &symbol.likely)?;
            dims.set_item(&symbol.name, class.call1((symbol.min, symbol.max, symbol.div, likely, decided))?)?;
        }
        Ok(dims)
    }

    /// The model's name.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.loaded()?.model.manifest().model.clone())
    }

    /// The most threads that a run uses.
    #[getter]
    fn threads(&self) -> PyResult<usize> {
        Ok(self.loaded()?.model.threads())
    }

    /// The name of the device that the model runs on, or `None` for the processor.
    #[getter]
    fn device(&self) -> PyResult<Option<String>> {
        Ok(self.loaded()?.model.device().map(|info| info.name.clone()))
    }

    /// What the runs of this model did so far: numbers by name. `copied_inputs` and `copied_outputs` count those that were copied
    /// because their memory is not aligned to 64 bytes, `copied_bytes` their bytes.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.loaded()?.model.stats();
        let counts = [
            ("runs", stats.runs),
            ("copied_inputs", stats.staged_inputs),
            ("copied_outputs", stats.staged_outputs),
            ("copied_bytes", stats.staged_bytes),
            ("workspace_peak_bytes", stats.workspace_peak_bytes),
            ("workspace_allocations", stats.workspace_allocations),
            ("launches", stats.launches),
            ("parallel_launches", stats.parallel_launches),
        ];
        let result = PyDict::new(py);
        counts.iter().try_for_each(|(name, count)| result.set_item(name, count))?;
        Ok(result)
    }

    /// The times of launches since the model was loaded with `profile=True`, or since `clear_profile()`.
    fn profile<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let loaded = self.loaded()?;
        if !loaded.settings.profile {
            return Err(raise::usage("no times are taken; load the model with profile=True"));
        }
        let class = py.import("sutura._values")?.getattr("Launch")?;
        let launch = |launch: sutura_runtime::LaunchProfile| {
            let (total, least) = (launch.total.as_secs_f64(), launch.least.as_secs_f64());
            class.call1((launch.position, launch.kernel, launch.groups, launch.chunks, launch.calls, total, least))
        };
        loaded.model.profile().into_iter().map(launch).collect()
    }

    /// Forgets the times of launches so far.
    fn clear_profile(&self) -> PyResult<()> {
        self.loaded()?.model.clear_profile();
        Ok(())
    }

    /// Gives the memory that is kept for the next run back to the system.
    fn release_memory(&self) -> PyResult<()> {
        self.loaded()?.model.release_memory();
        Ok(())
    }

    /// Ends the use of the model. What it returned stays.
    fn close(&self) {
        let loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner).take();
        drop(loaded);
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    /// A model does not change, so it is its own copy.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// A model is pickled as its artifact, whose native code runs when it is unpickled and called.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let loaded = self.loaded()?;
        let artifact = loaded.model.artifact();
        let bytes = PyBytes::new(py, artifact.bytes());
        artifact.check_unchanged().map_err(|error| raise::error(py, &error))?;
        let settings = PyDict::new(py);
        settings.set_item("threads", loaded.settings.threads)?;
        settings.set_item("device", &loaded.settings.device)?;
        settings.set_item("profile", loaded.settings.profile)?;
        let make = py.import("sutura")?.getattr("_unpickled")?;
        Ok((make, (bytes, settings)).into_pyobject(py)?.into_any())
    }

    fn __repr__(&self) -> String {
        match self.loaded() {
            Ok(loaded) => format!("<sutura.Model {}>", line(&loaded.model.manifest().signature())),
            Err(_) => "<sutura.Model, closed>".to_owned(),
        }
    }
}
