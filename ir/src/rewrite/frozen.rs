//! Patterns sorted for application: by name of the op that they match, then by benefit.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::pattern::{PatternSet, RewritePattern};
use crate::registry::OpName;

type Bucket = Box<[Arc<dyn RewritePattern>]>;

/// A [`PatternSet`] that is looked up by op. Shared by threads.
#[derive(Default)]
pub struct FrozenPatterns {
    by_name: FxHashMap<OpName, Bucket>,
    /// Patterns for ops that no pattern names.
    any: Bucket,
}

impl FrozenPatterns {
    /// Sorts the patterns; of two with the same benefit the one added first is tried first.
    pub fn new(cx: &Context, set: &PatternSet) -> Self {
        let by_benefit = |root: Option<&str>| -> Bucket {
            let fits = |p: &&Arc<dyn RewritePattern>| p.root().is_none() || p.root() == root;
            let mut bucket: Vec<_> = set.iter().filter(fits).cloned().collect();
            bucket.sort_by_key(|p| std::cmp::Reverse(p.benefit()));
            bucket.into()
        };
        let roots: rustc_hash::FxHashSet<&str> = set.iter().filter_map(|p| p.root()).collect();
        let by_name = roots.into_iter().map(|root| (cx.op_name(root), by_benefit(Some(root)))).collect();
        Self { by_name, any: by_benefit(None) }
    }

    /// The canonicalization patterns of all registered ops.
    pub fn canonicalization(cx: &Context) -> Self {
        let mut set = PatternSet::new();
        for add in cx.registry().op_defs().filter_map(|def| def.canonicalize) {
            add(&mut set);
        }
        Self::new(cx, &set)
    }

    /// Patterns to be tried on ops called `name`, best first.
    pub fn for_op(&self, name: OpName) -> &[Arc<dyn RewritePattern>] {
        self.by_name.get(&name).unwrap_or(&self.any)
    }
}
