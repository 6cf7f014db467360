//! Kernels for GPUs, compiled for fibers and run with every access checked: what is wrong is found, what is right computes.

#![allow(unsafe_code)]

mod build;
mod faults;
mod kernels;
mod packed;
mod softmax;
