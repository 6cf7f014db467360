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
    /// [`Body::id`] of the body that they are of, which a copy does not share; `None` as long as none is known.
    body: Option<u64>,
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
            // The op was given another body, maybe a copy.
            self.known.clear();
            self.nested.clear();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Module;
    use crate::builder::{Builder, OpState};
    use crate::location::Loc;
    use crate::registry::Registry;

    struct Count(usize);

    impl Analysis for Count {
        const NAME: &'static str = "count";

        fn build(_: &Context, _: &OpHeader, body: &Body) -> Self {
            Self(body.op_count())
        }
    }

    fn add(cx: &Context, body: &mut Body) {
        let block = body.entry_block().expect("a block");
        Builder::at_end(cx, body, block).create(OpState::new(cx.op_name("t.op"), Loc::UNKNOWN));
    }

    /// A copy with as many changes behind it is another body.
    #[test]
    fn what_is_known_of_a_body_is_not_taken_for_known_of_a_copy() {
        let cx = Context::new(Registry::default());
        let mut module = Module::new(&cx, Loc::UNKNOWN);
        add(&cx, module.body_mut());
        let mut copy = module.clone();
        let header = *module.root().header(module.op());
        let mut analyses = Analyses::default();
        let mut count = |module: &Module| analyses.get::<Count>(&cx, &header, module.body()).0;
        assert_eq!(count(&module), 1);
        add(&cx, copy.body_mut());
        assert_eq!(count(&copy), 2);
        add(&cx, module.body_mut());
        add(&cx, module.body_mut());
        assert_eq!(count(&module), 3);
        assert_ne!(module.body().id(), copy.body().id());
        assert_eq!(module.body().family(), copy.body().family());
        // Of a body that was put in the place of the one that was asked about, too.
        let saved = module.body().clone();
        add(&cx, module.body_mut());
        *module.body_mut() = saved;
        assert_eq!(count(&module), 3);
        let ids = [module.body().id(), copy.body().id(), module.clone().body().id(), Body::new(0).id()];
        assert!((0..4).all(|i| (0..i).all(|j| ids[i] != ids[j])), "{ids:?}");
    }

    #[test]
    fn what_is_known_of_nested_ops_goes_with_the_body() {
        let cx = Context::new(Registry::default());
        let mut module = Module::new(&cx, Loc::UNKNOWN);
        let block = module.body().entry_block().expect("a block");
        let state = OpState::new(cx.op_name("t.isolated"), Loc::UNKNOWN);
        let op = Builder::at_end(&cx, module.body_mut(), block).create_isolated(state, Box::new(Body::with_block(1)));
        let header = *module.root().header(module.op());
        let mut analyses = Analyses::default();
        analyses.get::<Count>(&cx, &header, module.body());
        let mut nested = analyses.take_nested(op);
        assert_eq!(nested.get::<Count>(&cx, &header, module.body().nested(op).expect("a body")).0, 0);
        analyses.put_nested(op, nested);
        let mut copy = module.clone();
        add(&cx, copy.body_mut().nested_mut(op).expect("a body"));
        let mut nested = analyses.take_nested(op);
        assert_eq!(nested.get::<Count>(&cx, &header, copy.body().nested(op).expect("a body")).0, 1);
    }
}
