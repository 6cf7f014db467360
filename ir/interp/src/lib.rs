//! The interpreter: runs IR of any dialect, as the reference for what a program means.
//!
//! Dialects attach [`Interpret`] to their ops; [`Interpreter`] runs a module's functions with them. Every run-time
//! fault (out of bounds, division by zero, a read of what was never written, a shape that does not fit) is an
//! [`InterpError`] with the op's location, never a panic.
//!
//! Numbers are exact in their own format, see [`num`].
#![forbid(unsafe_code)]

pub mod buffer;
mod code;
pub mod compare;
pub mod complex;
pub mod constant;
pub mod elementwise;
mod engine;
pub mod equivalence;
mod error;
mod frame;
pub mod memory;
pub mod nest;
pub mod num;
mod program;
pub mod random;
mod scalar;
mod strided;
pub mod tensor;
mod value;

pub use buffer::Buffer;
pub use compare::{Mismatch, Tolerance, compare};
pub use complex::ComplexFn;
pub use elementwise::{ComplexOp, ConstantOp, Elementwise, Meaning, ScalarMeaning, YieldOp};
pub use engine::{Callable, Flow, Interpret, Interpreter, Limits, NativeFn, Observer, Values};
pub use equivalence::{Agreement, Difference, Trials, equivalent};
pub use error::{Fault, FaultKind, InterpError};
pub use frame::Frame;
pub use memory::{BufferId, MemRef, Memory};
pub use num::NumOp;
pub use program::Program;
pub use random::{Dims, Random, random_arguments};
pub use scalar::{DType, Scalar};
pub use strided::Layout;
pub use tensor::{Shape, Tensor};
pub use value::{OpaqueValue, Value};
