//! Lets `mlir-sys` link MLIR dynamically where a distribution packages `libMLIR.so` but no shared C API (`libMLIR-C.so`).
//!
//! The crate holds no code: its build script writes a linker script under that name which stands for the static C API
//! archives in front of the shared library, and puts it on the search path. A crate that needs it says
//! `use sutura_mlir_link as _;`. Linking so takes a second instead of a minute, and a binary has half a megabyte instead of
//! two hundred.
//!
//! MLIR's library folder is not on the loader's path and link arguments do not reach dependents, so every package whose
//! binaries or tests link MLIR also depends directly on this crate and has a build script that turns
//! `DEP_MLIR_SHARED_LIBDIR` into an rpath, as `codegen/build.rs` does.

#![forbid(unsafe_code)]
