//! Regions of structured ops in normal form, and the schemes by which a region becomes a kernel.
//!
//! Stitching asks these schemes whether a set of ops would fit, and why not; the lowering to `gir` follows them. So what
//! is stitched can be lowered.

pub mod attention;
pub mod chain;
pub mod compose;
pub mod contract;
pub mod convolution;
pub(crate) mod copies;
pub mod cost;
pub(crate) mod form;
pub(crate) mod groups;
mod hoist;
pub mod nest;
pub mod products;
mod prologue;
pub mod rows;
pub mod scheme;
mod siblings;
mod window;

pub use attention::AttentionPlan;
pub use chain::ChainPlan;
pub use contract::ContractPlan;
use indexmap::IndexSet;
pub use nest::{Access, Nest, Stage};
pub use rows::RowPlan;
pub use scheme::{Family, Scheme, Windows, family, fit, group_bytes, loop_scheme};
use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::FusionOp;
pub use sutura_dialects::graph::form::{Scan, Scatter};
use sutura_ir::{BlockRef, OpRef, Value};

/// What is known of a fusion's sizes, and its region in normal form: a schedule's dims and stages are those of the form.
///
/// # Errors
/// When the region has no normal form, or consists of several products, of which each has one.
pub fn of_fusion<'a>(fusion: FusionOp<'a>) -> Fit<(Facts, Nest<'a>)> {
    let Some(entry) = fusion.body().entry() else { return misfit("has an empty body") };
    let facts = Facts::of_block(entry).map_err(|(_, contradiction)| Misfit(contradiction.to_string()))?;
    let Contents { ops, outputs, .. } = Contents::of(entry);
    if ops.is_empty() {
        return misfit("has an empty body");
    }
    if products::siblings(&facts, &ops, &outputs).is_some() {
        return misfit("consists of several products");
    }
    let nest = Nest::of_any(&facts, &ops, &outputs)?;
    Ok((facts, nest))
}

/// What the block of a fusion holds beside facts of sizes.
pub(crate) struct Contents<'a> {
    /// The ops that compute, in order.
    pub(crate) ops: Vec<OpRef<'a>>,
    /// What it yields, one value per result.
    pub(crate) yielded: Vec<Value>,
    /// The same, each value once.
    pub(crate) outputs: Vec<Value>,
}

impl<'a> Contents<'a> {
    pub(crate) fn of(entry: BlockRef<'a>) -> Self {
        let mut ops: Vec<OpRef<'a>> = entry.ops().filter(|op| !op.name_str().starts_with("dyn.")).collect();
        let yielded: Vec<Value> = ops.pop().map(|end| end.operands().collect()).unwrap_or_default();
        let outputs: IndexSet<Value> = yielded.iter().copied().collect();
        Self { ops, yielded, outputs: outputs.into_iter().collect() }
    }
}

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
