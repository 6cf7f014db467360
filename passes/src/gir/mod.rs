//! What is asked of, and done to, `gir` kernels whatever they come from and go to.

pub mod cache_hints;
pub mod cost;
pub mod simplify;
pub mod unit_threads;
