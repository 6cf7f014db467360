//! What goes wrong, as Python's exceptions.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use sutura_runtime::{Error, ErrorKind, ShapeProblem};
use sutura_visible::line;

/// The exception of an error.
pub(crate) fn error(py: Python<'_>, error: &Error) -> PyErr {
    let details = Details::of(error);
    exception(py, error.kind(), &with_hint(error), &details)
}

/// What a user of Python does about it, where the error does not say.
fn with_hint(error: &Error) -> String {
    match error {
        Error::WrongElementType { value, expected, .. } if value.starts_with("input") => {
            match crate::elements::numpy_name(*expected) {
                Some(name) => format!("{error}; x.astype(\"{name}\") converts it"),
                None => error.to_string(),
            }
        }
        _ => error.to_string(),
    }
}

pub(crate) fn usage(message: impl Into<String>) -> PyErr {
    raise(ErrorKind::Usage, message.into())
}

pub(crate) fn input(message: impl Into<String>) -> PyErr {
    raise(ErrorKind::Input, message.into())
}

pub(crate) fn unsupported(message: impl Into<String>) -> PyErr {
    raise(ErrorKind::Unsupported, message.into())
}

fn raise(kind: ErrorKind, message: String) -> PyErr {
    Python::attach(|py| exception(py, kind, &message, &Details::default()))
}

/// What an error knows beside its words.
#[derive(Default)]
struct Details {
    dim: Option<String>,
    node: Option<String>,
    value: Option<String>,
    errno: Option<i32>,
}

impl Details {
    fn of(error: &Error) -> Self {
        let mut details = Self::default();
        match error {
            Error::Shape(problem) => details.dim = dim(problem).cloned(),
            Error::WrongIndex { what, .. }
            | Error::WrongSize { what, .. }
            | Error::UnequalSize { what, .. }
            | Error::DivisionByZero { what, .. } => details.node = Some(what.clone()),
            // "input `x`"
            Error::WrongElementType { value, .. } | Error::WrongRank { value, .. } => {
                details.value = value.split('`').nth(1).map(str::to_owned);
            }
            Error::MissingInput { name }
            | Error::UnknownInput { name, .. }
            | Error::DuplicateInput { name }
            | Error::OutputShape { name, .. }
            | Error::MisalignedOutput { name, .. } => details.value = Some(name.clone()),
            Error::Io { source, .. } | Error::Thread(source) => details.errno = source.raw_os_error(),
            _ => {}
        }
        details
    }
}

fn dim(problem: &ShapeProblem) -> Option<&String> {
    match problem {
        ShapeProblem::Inconsistent { dim, .. }
        | ShapeProblem::OutOfRange { dim, .. }
        | ShapeProblem::NotDivisible { dim, .. } => dim.as_ref(),
        _ => None,
    }
}

fn exception(py: Python<'_>, kind: ErrorKind, message: &str, details: &Details) -> PyErr {
    let make = || {
        static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
        let classes = CLASSES.get_or_try_init(py, || {
            Ok::<_, PyErr>(py.import("sutura._errors")?.getattr("BY_CODE")?.cast_into::<PyDict>()?.unbind())
        })?;
        let class = match classes.bind(py).get_item(kind.exit_code())? {
            Some(class) => class,
            None => py.import("sutura._errors")?.getattr("Error")?,
        };
        let keywords = PyDict::new(py);
        keywords.set_item("dim", &details.dim)?;
        keywords.set_item("node", &details.node)?;
        keywords.set_item("value", &details.value)?;
        let exception = class.call((line(message).to_string(),), Some(&keywords))?;
        if let Some(errno) = details.errno {
            exception.setattr("errno", errno)?;
        }
        Ok::<_, PyErr>(PyErr::from_value(exception))
    };
    make().unwrap_or_else(|error| error)
}

/// Warns that something is copied.
pub(crate) fn copy_remark(py: Python<'_>, message: &str) -> PyResult<()> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("sutura._errors")?.getattr("CopyRemark")?.unbind()))?
        .bind(py);
    // A text that is visible holds no NUL.
    let message = std::ffi::CString::new(line(message).to_string()).unwrap_or_default();
    PyErr::warn(py, class, &message, 1)
}
