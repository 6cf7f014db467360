//! Compiled models called from Python: the module `sutura._native`, over [`sutura_runtime`].
//!
//! `model.rs` and `session.rs` are the classes that users see; `array.rs` reads tensors of NumPy and of whoever speaks DLPack
//! (`dlpack.rs`), `memory.rs` hands results out. What goes wrong becomes an exception in `raise.rs`. Names, exceptions and plain
//! records are Python (`sutura/`).

#![allow(unsafe_code)]

mod array;
mod call;
mod dlpack;
mod elements;
mod fork;
mod interrupt;
mod memory;
mod model;
mod raise;
mod session;
mod strided;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use super::fork;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::memory::{Memory, empty};
    #[pymodule_export]
    use super::model::{Model, load};
    #[pymodule_export]
    use super::session::{DeviceTensor, Session, devices};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        fork::watch();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
