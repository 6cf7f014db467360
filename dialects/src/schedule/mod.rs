//! The `schedule` dialect: how a region becomes kernels, as text.

mod tree;

pub use tree::*;
