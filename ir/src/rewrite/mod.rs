//! Driving rewrites: folding, constants, the greedy pattern driver, dialect conversion, simplification of regions.

mod blocks;
mod constants;
pub mod conversion;
mod fold;
mod frozen;
mod greedy;
mod honest;
mod log;
mod regions;
mod worklist;

pub use constants::ConstantPool;
pub use fold::fold_values;
pub use frozen::FrozenPatterns;
pub use greedy::{GreedyConfig, GreedyOutcome, apply_patterns_greedily};
pub use regions::{RegionSimplify, simplify_regions};
