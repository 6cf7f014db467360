//! Reads models from other frameworks' files.
//!
//! [`onnx`] turns an ONNX file into a checked, typed model and says at once
//! everything in it that cannot be compiled.
#![forbid(unsafe_code)]

pub mod onnx;
