//! Driving rewrites: folding, constants, the greedy pattern driver, simplification of regions.

mod constants;
mod fold;
mod frozen;
mod greedy;
mod regions;
mod worklist;

pub use frozen::FrozenPatterns;
pub use greedy::{GreedyConfig, GreedyOutcome, apply_patterns_greedily};
pub use regions::simplify_regions;
