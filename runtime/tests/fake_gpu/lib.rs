//! A driver that stands in for NVIDIA's and for AMD's: the functions of `libcuda.so.1` and `libamdhip64.so` that the
//! runtime calls, on memory of the host. Tests compile it to a shared library (`tests/simt/fake.rs`) and load that.
//!
//! It is stricter than drivers are. Work on a stream is not done before something waits for it, so what is freed or
//! changed too early is seen; handles, contexts, ranges and sizes are checked; what no correct program does is written
//! down as a violation. Failures can be asked for by `fake_fail`. Versions, failures, counts and violations belong to the
//! thread, so tests may run side by side.

#![allow(non_snake_case)]

mod control;
mod faces;
mod kernels;
mod state;
mod work;
