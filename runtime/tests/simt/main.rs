//! The backends of NVIDIA and AMD, on a driver that stands in for theirs: `tests/fake_gpu`, compiled here. What these tests
//! show is that the runtime calls the driver as its interface wants it; no hardware is involved.

#![allow(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;

mod binaries;
mod failures;
mod fake;
mod graphs;
mod listing;
mod models;
mod work;
