//! What a `sutura_model` points to: the model, and its signature in forms that C can read.

use std::ffi::CString;

use sutura_runtime::Model;
use sutura_runtime::manifest::{Dim, Value};

use crate::tensors::code_of;

/// An open model.
#[derive(Debug)]
pub struct Handle {
    pub(crate) model: Model,
    pub(crate) signature: CString,
    pub(crate) inputs: Vec<Info>,
    pub(crate) outputs: Vec<Info>,
    /// Where it runs.
    pub(crate) device: CString,
}

/// An input or an output.
#[derive(Debug)]
pub(crate) struct Info {
    pub(crate) index: usize,
    pub(crate) name: CString,
    pub(crate) element_type: i32,
    pub(crate) dims: Vec<i64>,
    /// The dims as the model declares them.
    pub(crate) signature: String,
}

impl Handle {
    pub(crate) fn new(model: Model) -> Self {
        let infos = |values: &[Value]| values.iter().enumerate().map(|(index, v)| Info::new(index, v)).collect();
        let signature = c_string(&model.manifest().signature());
        let (inputs, outputs) = (infos(model.inputs()), infos(model.outputs()));
        let device = c_string(model.device().map_or("cpu", |device| &device.name));
        Self { model, signature, inputs, outputs, device }
    }
}

impl Info {
    fn new(index: usize, value: &Value) -> Self {
        let dim = |dim: &Dim| match dim {
            Dim::Const(n) => *n,
            Dim::Symbol(_) | Dim::Expr(_) => -1,
        };
        Self {
            index,
            name: c_string(&value.name),
            element_type: code_of(value.element_type),
            dims: value.dims.iter().map(dim).collect(),
            signature: value.dims_text(),
        }
    }
}

/// A name with a NUL in it, which no sensible model has, is shown with an escape.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}
