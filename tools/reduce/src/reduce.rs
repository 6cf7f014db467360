//! Delta debugging: tries ever smaller groups of edits and keeps every candidate on which the predicate still holds.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::FxHashSet;
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::rewriter::clone_body;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module};

use crate::edit::{KINDS, apply, offered, replaced, sizes};

/// What makes a candidate worth keeping. It is asked of several candidates at the same time if there are threads.
pub trait Predicate: Sync {
    /// True when the candidate still shows what is looked for.
    fn holds(&self, cx: &Context, module: &Module) -> bool;
}

impl<F: Fn(&Context, &Module) -> bool + Sync> Predicate for F {
    fn holds(&self, cx: &Context, module: &Module) -> bool {
        self(cx, module)
    }
}

/// How a reduction is done.
#[derive(Clone, Debug)]
pub struct ReduceOptions<'s> {
    /// Candidates may hold unregistered operations.
    pub allow_unregistered: bool,
    /// Candidates need not verify.
    pub allow_invalid: bool,
    /// The predicate is asked at most so often.
    pub max_tests: usize,
    /// So many candidates are tried at the same time, by the threads of the rayon pool in which [`reduce`] is called. The
    /// result does not depend on it.
    pub parallel: usize,
    /// Ends the reduction with the best so far when it becomes true.
    pub stop: Option<&'s AtomicBool>,
}

impl Default for ReduceOptions<'_> {
    fn default() -> Self {
        Self { allow_unregistered: false, allow_invalid: false, max_tests: usize::MAX, parallel: 1, stop: None }
    }
}

/// What a reduction did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reduction {
    /// Operations before, nested ones counted.
    pub before: usize,
    /// Operations after.
    pub after: usize,
    /// How often the predicate was asked.
    pub tests: usize,
    /// False when the limit of tests, or [`ReduceOptions::stop`], ended it.
    pub complete: bool,
}

/// Reduces `module` in place; `progress` hears a line now and then. Each step keeps the predicate, so the result shows
/// what the input shows, and has no more operations. The same input gives the same result.
///
/// The caller has made sure that the predicate holds on `module`.
pub fn reduce(
    cx: &Context,
    module: &mut Module,
    predicate: &dyn Predicate,
    options: &ReduceOptions<'_>,
    progress: &mut dyn FnMut(&str),
) -> Reduction {
    let before = count(cx, module);
    let mut reducer = Reducer { cx, predicate, options, seen: FxHashSet::default(), tests: 0, best: module, progress };
    reducer.seen.insert(text(cx, reducer.best));
    // Every kind makes room for the others.
    while reducer.round() && !reducer.is_over() {}
    let (tests, complete) = (reducer.tests, !reducer.is_over());
    Reduction { before, after: count(cx, module), tests, complete }
}

struct Reducer<'r> {
    cx: &'r Context,
    predicate: &'r dyn Predicate,
    options: &'r ReduceOptions<'r>,
    /// Texts of candidates that were tried: none is tried twice, so that the reduction ends.
    seen: FxHashSet<String>,
    tests: usize,
    best: &'r mut Module,
    progress: &'r mut dyn FnMut(&str),
}

impl Reducer<'_> {
    fn is_over(&self) -> bool {
        self.tests >= self.options.max_tests || self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// All kinds of edits once; true when one was kept.
    fn round(&mut self) -> bool {
        let mut changed = false;
        for &(name, offer) in KINDS {
            if self.sweep(offer) {
                changed = true;
                let (count, tests) = (count(self.cx, self.best), self.tests);
                (self.progress)(&format!("{name}: {count} operations, {tests} tests"));
            }
        }
        changed | self.shrink_sizes()
    }

    /// Groups of edits of one kind, from all at once down to single ones.
    fn sweep(&mut self, offer: fn(sutura_ir::OpRef<'_>, &mut Vec<crate::edit::Change>)) -> bool {
        let mut edits = offered(self.cx, self.best, offer);
        let mut chunk = edits.len();
        let mut changed = false;
        while chunk > 0 {
            // From the end: users go before what they use.
            let mut end = edits.len();
            while end > 0 && !self.is_over() {
                let ends: Vec<usize> = (0..self.options.parallel.max(1))
                    .map_while(|i| end.checked_sub(i * chunk))
                    .filter(|e| *e > 0)
                    .collect();
                let group = |&end: &usize| &edits[end.saturating_sub(chunk)..end];
                let candidates: Vec<Option<Module>> = ends
                    .iter()
                    .map(|end| {
                        let mut candidate = copy(self.cx, self.best);
                        apply(self.cx, &mut candidate, group(end));
                        self.is_candidate(&candidate).then_some(candidate)
                    })
                    .collect();
                match self.first_to_keep(candidates) {
                    Some(kept) => {
                        changed = true;
                        edits = offered(self.cx, self.best, offer);
                        end = ends[kept].saturating_sub(chunk).min(edits.len());
                    }
                    None => end = ends.last().map_or(0, |last| last.saturating_sub(chunk)),
                }
            }
            chunk = (chunk / 2).min(edits.len());
        }
        changed
    }

    /// Makes sizes small, one size after the other, everywhere at once.
    fn shrink_sizes(&mut self) -> bool {
        let mut changed = false;
        for size in sizes(&text(self.cx, self.best), 1) {
            for to in [1, 2, 3, size / 2] {
                let kept = to < size && [false, true].iter().any(|numbers| self.try_size(size, to, *numbers));
                changed |= kept;
                if kept {
                    break;
                }
            }
        }
        changed
    }

    fn try_size(&mut self, from: u64, to: u64, numbers: bool) -> bool {
        if self.is_over() {
            return false;
        }
        let options = PrintOptions::generic();
        let text = replaced(&module_text(self.cx, self.best, &options), from, to, numbers);
        let Some(candidate) = parse(self.cx, &text, self.options.allow_unregistered) else { return false };
        let candidate = self.is_candidate(&candidate).then_some(candidate);
        self.first_to_keep(vec![candidate]).is_some()
    }

    /// True for what is right and not larger than the best.
    fn is_candidate(&self, candidate: &Module) -> bool {
        let options = VerifyOptions { allow_unregistered: self.options.allow_unregistered };
        let right = self.options.allow_invalid
            || verify(candidate.op_ref(self.cx), options, &mut Diagnostics::default()).is_ok();
        // What does not grow is simpler; more operations only make room for a constant.
        right && count(self.cx, candidate) <= count(self.cx, self.best)
    }

    /// Makes the first candidate on which the predicate holds the best one. All are tried at the same time, but what
    /// comes after that one has not been tried, so that the outcome is that of trying one after the other.
    fn first_to_keep(&mut self, mut candidates: Vec<Option<Module>>) -> Option<usize> {
        let cx = self.cx;
        let mut batch: Vec<(usize, String)> = Vec::new();
        for (index, candidate) in candidates.iter().enumerate() {
            let Some(candidate) = candidate else { continue };
            let text = text(cx, candidate);
            let is_new = !self.seen.contains(&text) && batch.iter().all(|(_, other)| *other != text);
            if is_new && self.tests + batch.len() < self.options.max_tests {
                batch.push((index, text));
            }
        }
        let holds = |(index, _): &(usize, String)| {
            candidates[*index].as_ref().is_some_and(|candidate| self.predicate.holds(cx, candidate))
        };
        let results: Vec<bool> = match batch.len() {
            0 | 1 => batch.iter().map(holds).collect(),
            _ => batch.par_iter().map(holds).collect(),
        };
        // A stop may have ended commands that were at work, so that what they said is not the answer.
        if self.is_stopped() {
            return None;
        }
        for ((index, text), holds) in batch.into_iter().zip(results) {
            self.seen.insert(text);
            self.tests += 1;
            if holds {
                *self.best = candidates[index].take().expect("it was tried");
                return Some(index);
            }
        }
        None
    }
}

/// Number of operations below the top-level one.
pub(crate) fn count(cx: &Context, module: &Module) -> usize {
    let mut count = 0;
    module.op_ref(cx).walk(&mut |_| count += 1);
    count - 1
}

fn text(cx: &Context, module: &Module) -> String {
    module_text(cx, module, &PrintOptions::generic())
}

/// A deep copy, resources included.
pub(crate) fn copy(cx: &Context, module: &Module) -> Module {
    let mut copy = Module::from_root(clone_body(cx, module.root())).expect("a copy of a module");
    *copy.text_mut() = module.text().clone();
    copy
}

/// The module that a text is, if it is one.
pub(crate) fn parse(cx: &Context, text: &str, allow_unregistered: bool) -> Option<Module> {
    let source = cx.sources().add("<candidate>", text.to_string()).ok()?;
    let options = sutura_grammar::ParseOptions { allow_unregistered, ..Default::default() };
    sutura_grammar::parse_module(cx, &source, &options, &mut Diagnostics::default()).ok()
}
