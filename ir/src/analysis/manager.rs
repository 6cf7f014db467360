//! Caches analyses of one op and of the ops nested in it, and drops what a pass did not preserve.

use std::any::{Any, TypeId};
use std::sync::Arc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::body::{Body, Op, OpHeader};
use crate::context::Context;
use crate::work::Counter;

/// Facts computed from an op that owns a body.
pub trait Analysis: Any + Send + Sync {
    /// What reports call it.
    const NAME: &'static str;

    /// Computes them.
    fn build(cx: &Context, header: &OpHeader, body: &Body) -> Self;
}

/// What stays true after a pass.
#[derive(Clone, Debug, Default)]
pub struct PreservedAnalyses {
    all: bool,
    kept: SmallVec<[TypeId; 4]>,
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

    /// Also keeps the analysis `A`, of the op and of those nested in it.
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

    /// What stays true after this and after `other`.
    fn intersect(&mut self, other: &Self) {
        if self.all {
            self.clone_from(other);
        } else if !other.all {
            self.kept.retain(|id| other.kept.contains(id));
        }
    }
}

/// How often an analysis was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnalysisUse {
    /// [`Analysis::NAME`].
    pub name: &'static str,
    /// How often it was computed.
    pub computed: u64,
    /// How often it was known already.
    pub reused: u64,
    /// Time spent in computing it.
    pub time: Duration,
}

impl AnalysisUse {
    /// Adds what `other` says to `uses`, which has one entry per analysis.
    pub(crate) fn add_to(uses: &mut Vec<Self>, other: Self) {
        match uses.iter_mut().find(|u| u.name == other.name) {
            Some(sum) => {
                sum.computed += other.computed;
                sum.reused += other.reused;
                sum.time += other.time;
            }
            None => uses.push(other),
        }
    }
}

/// The analyses that are known of one op, and of those nested in it.
pub struct Analyses {
    /// The body that they are of; `None` as long as none is known.
    body: Option<u32>,
    /// In order of computation.
    known: IndexMap<TypeId, Arc<dyn Any + Send + Sync>>,
    nested: FxHashMap<Op, Self>,
    /// What the op around can still hold for true, for all that was done to this one.
    preserved: PreservedAnalyses,
    uses: Vec<AnalysisUse>,
}

impl Default for Analyses {
    fn default() -> Self {
        Self {
            body: None,
            known: IndexMap::new(),
            nested: FxHashMap::default(),
            preserved: PreservedAnalyses::all(),
            uses: Vec::new(),
        }
    }
}

static ANALYSES: Counter = Counter::new("analyses computed");
static ANALYSED: Counter = Counter::new("ops analysed");

impl Analyses {
    /// The analysis `A` of an op, computed unless it is known already.
    pub fn get<A: Analysis>(&mut self, cx: &Context, header: &OpHeader, body: &Body) -> Arc<A> {
        if self.body.replace(body.id()).is_some_and(|of| of != body.id()) {
            // The op was given another body.
            self.known.clear();
        }
        let id = TypeId::of::<A>();
        let known = self.known.get(&id).and_then(|known| known.clone().downcast().ok());
        let mut noted = AnalysisUse { name: A::NAME, computed: 0, reused: 1, time: Duration::ZERO };
        let analysis = known.unwrap_or_else(|| {
            let start = Instant::now();
            ANALYSES.add(1);
            ANALYSED.add(body.op_count() as u64);
            let made = Arc::new(A::build(cx, header, body));
            noted = AnalysisUse { computed: 1, reused: 0, time: start.elapsed(), ..noted };
            self.known.insert(id, made.clone());
            made
        });
        AnalysisUse::add_to(&mut self.uses, noted);
        analysis
    }

    /// What was asked for, here and in nested ops, since this was called last.
    pub(crate) fn take_uses(&mut self) -> Vec<AnalysisUse> {
        std::mem::take(&mut self.uses)
    }

    /// Takes the analyses of an op nested in this one, to work on it elsewhere.
    pub(crate) fn take_nested(&mut self, op: Op) -> Self {
        self.nested.remove(&op).unwrap_or_default()
    }

    /// Puts back what [`Analyses::take_nested`] took. What passes on the nested op did not preserve is dropped here
    /// too: an analysis may look into nested ops.
    pub(crate) fn put_nested(&mut self, op: Op, mut analyses: Self) {
        analyses.uses.drain(..).for_each(|u| AnalysisUse::add_to(&mut self.uses, u));
        let preserved = std::mem::replace(&mut analyses.preserved, PreservedAnalyses::all());
        self.drop_own(&preserved);
        if !analyses.known.is_empty() || !analyses.nested.is_empty() {
            self.nested.insert(op, analyses);
        }
    }

    /// Drops all that is not preserved, here and in nested ops.
    pub fn invalidate(&mut self, preserved: &PreservedAnalyses) {
        if preserved.all {
            return;
        }
        self.drop_own(preserved);
        let mut pending: Vec<&mut Self> = self.nested.values_mut().collect();
        while let Some(at) = pending.pop() {
            at.known.retain(|id, _| preserved.keeps(*id));
            pending.extend(at.nested.values_mut());
        }
    }

    fn drop_own(&mut self, preserved: &PreservedAnalyses) {
        self.known.retain(|id, _| preserved.keeps(*id));
        self.preserved.intersect(preserved);
    }
}
