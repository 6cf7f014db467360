//! Arguments of a call, bound to a model's inputs and outputs.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyTuple};
use smallvec::SmallVec;
use sutura_runtime::manifest::Value;
use sutura_runtime::{ElementType, Error, Model, Tensor, TensorView, TensorViewMut};

use crate::array::Array;
use crate::memory::Kind;
use crate::{interrupt, raise};

pub(crate) type Objects<'py> = SmallVec<[Bound<'py, PyAny>; 8]>;

/// The objects for the inputs, in the model's order: by position, then by name, or all by name in a mapping.
pub(crate) fn inputs<'py>(
    model: &Model,
    args: &Bound<'py, PyTuple>,
    named: Option<&Bound<'py, PyDict>>,
) -> PyResult<Objects<'py>> {
    let named = named.filter(|named| !named.is_empty());
    if args.len() == 1 && named.is_none() {
        let only = args.get_item(0)?;
        if only.cast::<numpy::PyUntypedArray>().is_err()
            && let Ok(mapping) = only.cast::<PyMapping>()
        {
            return by_name(model, &[], &items(mapping)?);
        }
        if model.inputs().len() == 1 {
            return Ok(SmallVec::from_iter([only]));
        }
    }
    match named {
        None if args.len() == model.inputs().len() => Ok(args.iter().collect()),
        None => Err(wrong_names(args.py(), model, args.len(), &[])),
        Some(named) => {
            let positional: Objects<'py> = args.iter().collect();
            let pairs: Vec<_> =
                named.iter().map(|(name, object)| Ok((name.extract()?, object))).collect::<PyResult<_>>()?;
            by_name(model, &positional, &pairs)
        }
    }
}

type Pairs<'py> = Vec<(String, Bound<'py, PyAny>)>;

fn items<'py>(mapping: &Bound<'py, PyMapping>) -> PyResult<Pairs<'py>> {
    let pair = |item: Bound<'py, PyAny>| {
        let (name, object): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item.extract()?;
        let name = name.extract().map_err(|_| raise::usage("a mapping of inputs has their names, texts, as keys"))?;
        Ok((name, object))
    };
    mapping.items()?.iter().map(pair).collect()
}

fn by_name<'py>(
    model: &Model,
    positional: &[Bound<'py, PyAny>],
    pairs: &[(String, Bound<'py, PyAny>)],
) -> PyResult<Objects<'py>> {
    let inputs = model.inputs();
    let object = |(at, input): (usize, &Value)| {
        let of_pair = || pairs.iter().find(|(name, _)| *name == input.name).map(|(_, object)| object);
        positional.get(at).or_else(of_pair).cloned()
    };
    let found: Option<Objects<'py>> = inputs.iter().enumerate().map(object).collect();
    let names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    match found {
        Some(found) if positional.len() + pairs.len() == inputs.len() => Ok(found),
        _ => Python::attach(|py| Err(wrong_names(py, model, positional.len(), &names))),
    }
}

/// What is wrong with names, in the words of the runtime.
fn wrong_names(py: Python<'_>, model: &Model, positional: usize, names: &[&str]) -> PyErr {
    let inputs = model.inputs();
    if names.is_empty() && positional != inputs.len() || positional > inputs.len() {
        let expected = inputs.iter().map(|input| input.name.clone()).collect();
        return raise::error(py, &Error::InputCount { expected, found: positional + names.len() });
    }
    let all = inputs[..positional].iter().map(|input| input.name.as_str()).chain(names.iter().copied());
    let named: Vec<(&str, ElementType, &[i64])> = all.map(|name| (name, ElementType::F32, &[][..])).collect();
    match model.accept(&named) {
        Err(error) => raise::error(py, &error),
        Ok(_) => PyTypeError::new_err("the names of the inputs are wrong"),
    }
}

/// Inputs of a call, and the copies of those whose rows do not lie one behind the other.
pub(crate) struct Given<'py> {
    arrays: SmallVec<[Array<'py>; 8]>,
    copies: SmallVec<[Option<Tensor>; 8]>,
    pub(crate) kind: Kind,
}

impl<'py> Given<'py> {
    pub(crate) fn read(py: Python<'py>, model: &Model, objects: &Objects<'py>) -> PyResult<Self> {
        let mut given = Self { arrays: SmallVec::new(), copies: SmallVec::new(), kind: Kind::Numpy };
        for (object, value) in objects.iter().zip(model.inputs()) {
            let array = Array::of(object, || format!("input `{}`", value.name))?;
            if !array.owner.is(object) {
                given.kind = given.kind.and(Kind::of(object)?)?;
            }
            given.copies.push(gathered(py, &array, value)?);
            given.arrays.push(array);
        }
        Ok(given)
    }

    /// The inputs as the runtime takes them.
    pub(crate) fn views<'a>(&'a self, py: Python<'_>) -> PyResult<SmallVec<[TensorView<'a>; 8]>> {
        let view = |(array, copy): (&'a Array<'py>, &'a Option<Tensor>)| match copy {
            Some(copy) => Ok(copy.view()),
            // SAFETY: the array has these elements, and its object is held as long as `self`. That no other thread of Python's
            // writes there during a run is the caller's part, as the documentation says.
            None => unsafe { TensorView::from_raw_parts(array.element_type, &array.dims, array.data) },
        };
        let views: sutura_runtime::Result<_> = self.arrays.iter().zip(&self.copies).map(view).collect();
        views.map_err(|error| raise::error(py, &error))
    }
}

/// A copy of an input where it needs one, with a remark.
fn gathered(py: Python<'_>, array: &Array<'_>, value: &Value) -> PyResult<Option<Tensor>> {
    if array.is_contiguous() || array.element_type != value.element_type || array.dims.len() != value.dims.len() {
        // What does not fit is refused before anything is copied.
        return Ok(None);
    }
    raise::copy_remark(
        py,
        &format!(
            "input `{}` is copied, because its rows do not lie one behind the other; numpy.ascontiguousarray(x) makes \
             one that is not copied again",
            value.name
        ),
    )?;
    array.gathered().map(Some).map_err(|error| raise::error(py, &error))
}

/// Buffers of a caller for outputs.
pub(crate) struct Wanted<'py> {
    objects: Objects<'py>,
    arrays: SmallVec<[Array<'py>; 8]>,
}

impl<'py> Wanted<'py> {
    /// Of an object alone, a list or tuple in the order of the outputs, or a mapping of their names.
    pub(crate) fn read(model: &Model, out: &Bound<'py, PyAny>) -> PyResult<Self> {
        if !model.manifest().decided.is_empty() {
            return Err(raise::unsupported(
                "data decide dimensions of this model's outputs, so that `out` cannot have the right ones; call it without",
            ));
        }
        let outputs = model.outputs();
        let objects = Self::objects(model, out)?;
        if objects.len() != outputs.len() {
            let (expected, found) = (outputs.len(), objects.len());
            return Err(raise::error(out.py(), &Error::OutputCount { expected, found }));
        }
        let mut arrays = SmallVec::new();
        for (object, value) in objects.iter().zip(outputs) {
            let array = Array::of(object, || format!("the buffer of output `{}`", value.name))?;
            if array.read_only {
                return Err(raise::usage(format!("the buffer of output `{}` is read-only", value.name)));
            }
            if !array.is_apart() {
                let message = format!("elements of the buffer of output `{}` share memory", value.name);
                return Err(raise::usage(message));
            }
            arrays.push(array);
        }
        Ok(Self { objects, arrays })
    }

    fn objects(model: &Model, out: &Bound<'py, PyAny>) -> PyResult<Objects<'py>> {
        if let Ok(tuple) = out.cast::<PyTuple>() {
            return Ok(tuple.iter().collect());
        }
        if let Ok(list) = out.cast::<PyList>() {
            return Ok(list.iter().collect());
        }
        if out.cast::<numpy::PyUntypedArray>().is_ok() {
            return Ok(SmallVec::from_iter([out.clone()]));
        }
        let Ok(mapping) = out.cast::<PyMapping>() else { return Ok(SmallVec::from_iter([out.clone()])) };
        let (pairs, outputs) = (items(mapping)?, model.outputs());
        if let Some((unknown, _)) = pairs.iter().find(|(name, _)| outputs.iter().all(|output| output.name != *name)) {
            let known = outputs.iter().map(|output| format!("`{}`", output.name)).collect::<Vec<_>>().join(", ");
            return Err(raise::usage(format!("the model has no output `{unknown}`; its outputs are {known}")));
        }
        let object = |output: &Value| pairs.iter().find(|(name, _)| *name == output.name).map(|(_, o)| o.clone());
        Ok(outputs.iter().filter_map(object).collect())
    }

    /// Runs the model into the buffers. Those whose rows lie apart, or that begin within an element, get a copy of what was computed.
    pub(crate) fn run(self, py: Python<'py>, model: &Model, given: &Given<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.check_apart(py, model, given)?;
        let inputs = given.views(py)?;
        let mut staged = self.staged(py, model)?;
        let result = {
            let mut views: SmallVec<[TensorViewMut<'_>; 8]> = SmallVec::new();
            for (array, staged) in self.arrays.iter().zip(&mut staged) {
                views.push(match staged {
                    Some(tensor) => tensor.view_mut(),
                    // SAFETY: the array has these elements and may be written, its object is held, and it lies apart from all
                    // others. That no other thread of Python's uses it during the run is the caller's part, as documented.
                    None => unsafe { TensorViewMut::from_raw_parts(array.element_type, &array.dims, array.data) }
                        .map_err(|error| raise::error(py, &error))?,
                });
            }
            interrupt::without_lock(py, || model.run_into(&inputs, &mut views).map(drop))
        };
        result?;
        for (array, staged) in self.arrays.iter().zip(&staged) {
            if let Some(tensor) = staged {
                array.take(tensor);
            }
        }
        crate::memory::one_or_all(py, self.objects.into_iter().collect())
    }

    /// A tensor for each output that cannot be computed where it goes.
    fn staged(&self, py: Python<'_>, model: &Model) -> PyResult<SmallVec<[Option<Tensor>; 8]>> {
        let mut staged = SmallVec::new();
        for (array, value) in self.arrays.iter().zip(model.outputs()) {
            if array.is_contiguous() && array.data.addr().is_multiple_of(array.element_type.bytes()) {
                staged.push(None);
                continue;
            }
            if !array.is_contiguous() {
                raise::copy_remark(
                    py,
                    &format!(
                        "output `{}` is copied into its buffer, whose rows do not lie one behind the other",
                        value.name
                    ),
                )?;
            }
            let tensor = Tensor::zeros(array.element_type, &array.dims);
            staged.push(Some(tensor.map_err(|error| raise::error(py, &error))?));
        }
        Ok(staged)
    }

    /// No buffer shares memory with an input or another buffer.
    fn check_apart(&self, py: Python<'_>, model: &Model, given: &Given<'_>) -> PyResult<()> {
        let (inputs, outputs) = (model.inputs(), model.outputs());
        for (at, array) in self.arrays.iter().enumerate() {
            let mine = array.extent();
            let meets = |other: &Array<'_>| {
                let other = other.extent();
                mine.start < other.end && other.start < mine.end
            };
            let right = if let Some(input) = given.arrays.iter().position(meets) {
                format!("input `{}`", inputs[input].name)
            } else if let Some(output) = self.arrays[..at].iter().position(meets) {
                format!("output `{}`", outputs[output].name)
            } else {
                continue;
            };
            return Err(raise::error(py, &Error::Overlap { left: format!("output `{}`", outputs[at].name), right }));
        }
        Ok(())
    }
}
