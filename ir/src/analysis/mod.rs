//! What passes compute about a body and keep as long as it stays true.

mod alias;
mod call_graph;
pub mod dataflow;
pub mod dominance;
pub mod effects;
mod liveness;
mod manager;
pub mod program;

pub use alias::{Alias, AliasAnalysis, ModRef};
pub use call_graph::{CallGraph, CallNode, CallSite};
pub use dominance::DominanceInfo;
pub use liveness::Liveness;
pub use manager::{Analyses, Analysis, AnalysisUse, PreservedAnalyses};
pub use program::Program;
