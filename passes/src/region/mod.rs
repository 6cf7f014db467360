//! Regions of structured ops in normal form, and the schemes by which a region becomes a kernel.
//!
//! Stitching asks these schemes whether a set of ops would fit, and why not; the lowering to `gir` follows them. So what
//! is stitched can be lowered.

pub mod attention;
pub mod compose;
pub mod contract;
pub mod convolution;
pub mod cost;
pub(crate) mod form;
pub mod nest;
pub mod products;
mod prologue;
pub mod rows;
pub mod scheme;
mod siblings;

pub use attention::AttentionPlan;
pub use contract::ContractPlan;
pub use nest::{Access, Edge, Nest, Stage};
pub use rows::RowPlan;
pub use scheme::{Scheme, Windows, fit, loop_scheme};
pub use sutura_dialects::graph::form::{Scan, Scatter};

/// Why ops do not fit into one kernel, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit(pub String);

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Misfit {}

/// Result of fitting ops into a scheme.
pub type Fit<T> = Result<T, Misfit>;

/// A misfit.
pub(crate) fn misfit<T>(message: impl Into<String>) -> Fit<T> {
    Err(Misfit(message.into()))
}
