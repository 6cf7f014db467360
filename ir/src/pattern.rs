//! Rewrite patterns.

use std::sync::Arc;

use crate::body::Op;
use crate::op_def::OpView;
use crate::rewriter::Rewriter;

/// A rewrite as a function: changes the IR and returns `Some(())`, or leaves it alone and returns `None` (best through
/// [`Rewriter::notify_match_failure`], with the reason).
pub type RewriteFn = fn(Op, &mut Rewriter<'_>) -> Option<()>;

/// A rewrite of one op, or of any.
pub trait RewritePattern: Send + Sync {
    /// Name in traces and remarks.
    fn name(&self) -> &str;

    /// Name of the op that it matches; `None` for any.
    fn root(&self) -> Option<&'static str>;

    /// Larger is tried first.
    fn benefit(&self) -> u16 {
        1
    }

    /// Changes the IR and returns `Some(())`, or leaves it alone and returns `None`.
    fn match_and_rewrite(&self, op: Op, rw: &mut Rewriter<'_>) -> Option<()>;
}

struct FnPattern {
    name: &'static str,
    root: Option<&'static str>,
    benefit: u16,
    rewrite: RewriteFn,
}

impl RewritePattern for FnPattern {
    fn name(&self) -> &str {
        self.name
    }
    fn root(&self) -> Option<&'static str> {
        self.root
    }
    fn benefit(&self) -> u16 {
        self.benefit
    }
    fn match_and_rewrite(&self, op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
        (self.rewrite)(op, rw)
    }
}

/// Patterns to be applied together.
#[derive(Clone, Default)]
pub struct PatternSet {
    patterns: Vec<Arc<dyn RewritePattern>>,
}

impl PatternSet {
    /// No patterns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function that rewrites ops declared by `T`.
    pub fn add<'a, T: OpView<'a>>(&mut self, name: &'static str, rewrite: RewriteFn) -> &mut Self {
        self.add_fn(name, Some(T::def().name), 1, rewrite)
    }

    /// Adds a function with its root op and benefit.
    pub fn add_fn(
        &mut self,
        name: &'static str,
        root: Option<&'static str>,
        benefit: u16,
        rewrite: RewriteFn,
    ) -> &mut Self {
        self.add_pattern(FnPattern { name, root, benefit, rewrite })
    }

    /// Adds a pattern.
    pub fn add_pattern(&mut self, pattern: impl RewritePattern + 'static) -> &mut Self {
        self.patterns.push(Arc::new(pattern));
        self
    }

    /// The patterns whose names `keep` accepts.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> Self {
        Self { patterns: self.patterns.iter().filter(|p| keep(p.name())).cloned().collect() }
    }

    /// The patterns, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn RewritePattern>> {
        self.patterns.iter()
    }
}
