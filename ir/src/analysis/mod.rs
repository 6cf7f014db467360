//! What passes compute about a body and keep as long as it stays true.

pub mod dominance;
pub mod effects;
mod manager;

pub use dominance::DominanceInfo;
pub use manager::{Analyses, Analysis, PreservedAnalyses};
