//! Caches analyses of one op and of the ops nested in it, and drops what a pass did not preserve.

use std::any::{Any, TypeId};
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::body::{Body, Op, OpHeader};
use crate::context::Context;

/// Facts computed from an op that owns a body.
pub trait Analysis: Any + Send + Sync {
    /// Computes them.
    fn build(cx: &Context, header: &OpHeader, body: &Body) -> Self;
}

/// What stays true after a pass.
#[derive(Clone, Debug, Default)]
pub struct PreservedAnalyses {
    all: bool,
    kept: SmallVec<[TypeId; 2]>,
}

impl PreservedAnalyses {
    /// The pass changed nothing.
    pub fn all() -> Self {
        Self { all: true, kept: SmallVec::new() }
    }

    /// The pass may have changed anything.
    pub fn none() -> Self {
        Self::default()
    }

    /// [`Self::none`] when something changed, else [`Self::all`].
    pub fn unless(changed: bool) -> Self {
        if changed { Self::none() } else { Self::all() }
    }

    /// Also keeps the analysis `A`.
    #[must_use]
    pub fn and<A: Analysis>(mut self) -> Self {
        self.kept.push(TypeId::of::<A>());
        self
    }

    /// True when the pass says that it changed nothing.
    pub fn is_all(&self) -> bool {
        self.all
    }

    fn keeps(&self, id: TypeId) -> bool {
        self.all || self.kept.contains(&id)
    }
}

/// The analyses that are known of one op, and of those nested in it.
#[derive(Default)]
pub struct Analyses {
    /// In order of computation.
    known: IndexMap<TypeId, Arc<dyn Any + Send + Sync>>,
    nested: FxHashMap<Op, Self>,
}

impl Analyses {
    /// The analysis `A` of an op, computed unless it is known already.
    pub fn get<A: Analysis>(&mut self, cx: &Context, header: &OpHeader, body: &Body) -> Arc<A> {
        if let Some(known) = self.cached::<A>() {
            return known;
        }
        let made = Arc::new(A::build(cx, header, body));
        self.known.insert(TypeId::of::<A>(), made.clone());
        made
    }

    /// The analysis `A`, if it is known.
    pub fn cached<A: Analysis>(&self) -> Option<Arc<A>> {
        self.known.get(&TypeId::of::<A>())?.clone().downcast().ok()
    }

    /// Takes the analyses of an op nested in this one, to work on it elsewhere.
    pub(crate) fn take_nested(&mut self, op: Op) -> Self {
        self.nested.remove(&op).unwrap_or_default()
    }

    /// Puts back what [`Analyses::take_nested`] took.
    pub(crate) fn put_nested(&mut self, op: Op, analyses: Self) {
        if !analyses.known.is_empty() || !analyses.nested.is_empty() {
            self.nested.insert(op, analyses);
        }
    }

    /// Drops all that is not preserved, here and in nested ops.
    pub fn invalidate(&mut self, preserved: &PreservedAnalyses) {
        if preserved.all {
            return;
        }
        let mut pending = vec![self];
        while let Some(at) = pending.pop() {
            at.known.retain(|id, _| preserved.keeps(*id));
            pending.extend(at.nested.values_mut());
        }
    }
}
