//! Loads and runs compiled models (`.sutura` artifacts), and writes them.
//!
//! This crate stands alone: it knows no IR and no LLVM, so an application that only *runs* models links nothing else.
//! The parts, from the outside in:
//!
//! * [`Model`]: load, inspect the signature, run, from any number of threads at once;
//! * [`Tensor`], [`TensorView`], [`TensorViewMut`]: the data that goes in and out, [`npy`] files, [`compare`];
//! * [`artifact`]: the file format, with its [`manifest`] and its mapped weights;
//! * [`device`]: GPUs, their memory, code and queues; [`Session`], [`DeviceTensor`]: runs on data that stays there;
//! * [`abi`]: what the generated code and this crate agree on;
//! * the thread pool, the loader of `host.so` and the check of the processor's features, which are private.
//!
//! ```no_run
//! use sutura_runtime::{Model, Tensor};
//!
//! let model = Model::load("encoder.sutura")?;
//! let x = Tensor::from_slice(&[1, 2, 2], &[1.0f32, 2.0, 3.0, 4.0])?;
//! let outputs = model.run(&[x])?;
//! # Ok::<(), sutura_runtime::Error>(())
//! ```

pub mod abi;
pub mod artifact;
pub mod compare;
pub mod device;
pub mod manifest;
pub mod mapping;
pub mod npy;

mod buffer;
mod cpu;
mod element;
mod error;
mod files;
mod host;
mod interface;
mod model;
mod options;
mod pool;
mod profile;
pub mod routines;
mod scratch;
mod stats;
mod tensor;
mod weights;

pub use artifact::Artifact;
pub use cpu::CpuidBit;
pub use element::{Element, ElementType};
pub use error::{ArtifactProblem, Error, ErrorKind, Result, ShapeProblem};
pub use manifest::Manifest;
pub use model::{DeviceTensor, Model, Session, Shapes};
pub use options::Options;
pub use profile::LaunchProfile;
pub use stats::Stats;
pub use tensor::{Tensor, TensorView, TensorViewMut};
