//! The bridge from Sutura's text to MLIR, LLVM and machine code.
//!
//! The rest of the compiler hands over text: upstream MLIR dialects in generic form. This crate parses and verifies it with
//! MLIR ([`MlirModule`]), lowers it to the LLVM dialect, translates it to LLVM IR ([`LlvmModule`]), optimises it for a
//! [`Target`] and emits assembly or an object. The object is the one product: [`link_shared`] makes a shared object of it
//! ahead of time, [`Jit`] loads the same bytes in process. Kernels for GPUs are a
//! `gpu.module`: [`emit_device_assembly`] and [`emit_hsaco`] compile those for NVIDIA and AMD, [`emit_spirv`] writes the spirv dialect of
//! those for Vulkan.
//!
//! ```no_run
//! # fn main() -> Result<(), sutura_codegen::Error> {
//! let text = std::fs::read_to_string("kernels.mlir").unwrap();
//! let mut warnings = Vec::new();
//! let object = sutura_codegen::emit_object(&text, "kernels.mlir", &sutura_codegen::Target::host(), &mut warnings)?;
//! sutura_codegen::link_shared(&[object], std::path::Path::new("kernels.so"))?;
//! # Ok(())
//! # }
//! ```
//!
//! # Architecture invariants
//! - No other crate links MLIR or LLVM, and no type of theirs is in this crate's interface.
//! - Whatever the input, an error comes back as a value: MLIR's and LLVM's diagnostics are collected, features and
//!   processors are checked before LLVM sees them (it only warns), and LLVM's fatal errors end a worker thread instead of
//!   the process (see `worker`).
//! - Neither MLIR's nor LLVM's global options are touched, so calls are independent and may run in parallel.

// Every call into MLIR and LLVM is foreign. Each block says why it is sound.
#![allow(unsafe_code)]
#![warn(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]

mod device;
mod diagnostic;
mod emit;
mod error;
mod identity;
mod jit;
mod join;
mod library;
mod link;
mod llvm;
mod long;
mod mlir;
mod nesting;
pub mod progress;
mod ptxas;
mod spirv;
mod symbols;
mod target;
mod worker;

pub use device::{DEVICE_PIPELINE, accept_device, emit_device_assembly, emit_device_llvm_ir, emit_hsaco};
pub use diagnostic::{Diagnostic, Severity, SourceLocation};
pub use emit::{
    Accepted, KERNEL_PIPELINE, accept, emit_assembly, emit_llvm_dialect, emit_llvm_ir, emit_object, emit_spirv,
};
pub use error::{Error, Stage};
pub use identity::identity;
pub use jit::Jit;
pub use library::{DATA_ALIGNMENT, data_offsets, write_archive, write_data_object};
pub use link::{Linker, link_object, link_shared};
pub use llvm::{Emitted, LlvmModule, Optimization};
pub use mlir::{Form, MlirModule};
pub use ptxas::Assembler;
pub use target::{Target, host_features, host_triple};

/// The signature of a CPU kernel: `bufs` are its buffers (contiguous, row-major, aligned to 64 bytes), `dims` its symbolic
/// dims, both in the order of declaration; it does the groups `begin..end` of its grid, counted linearly.
pub type CpuKernel = unsafe extern "C" fn(bufs: *const *mut std::ffi::c_void, dims: *const i64, begin: i64, end: i64);
