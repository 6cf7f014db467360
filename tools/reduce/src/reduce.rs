//! Delta debugging: tries ever smaller groups of edits and keeps every candidate on which the predicate still holds.

use rustc_hash::FxHashSet;
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::rewriter::clone_body;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module};

use crate::edit::{KINDS, apply, offered, replaced, sizes};

/// What makes a candidate worth keeping.
pub trait Predicate {
    /// True when the candidate still shows what is looked for.
    fn holds(&self, cx: &Context, module: &Module) -> bool;
}

impl<F: Fn(&Context, &Module) -> bool> Predicate for F {
    fn holds(&self, cx: &Context, module: &Module) -> bool {
        self(cx, module)
    }
}

/// How a reduction is done.
#[derive(Clone, Debug)]
pub struct ReduceOptions {
    /// Candidates may hold unregistered operations.
    pub allow_unregistered: bool,
    /// Candidates need not verify.
    pub allow_invalid: bool,
    /// The predicate is asked at most so often.
    pub max_tests: usize,
}

impl Default for ReduceOptions {
    fn default() -> Self {
        Self { allow_unregistered: false, allow_invalid: false, max_tests: usize::MAX }
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
    /// False when the limit of tests ended it.
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
    options: &ReduceOptions,
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
    options: &'r ReduceOptions,
    /// Texts of candidates that were tried: none is tried twice, so that the reduction ends.
    seen: FxHashSet<String>,
    tests: usize,
    best: &'r mut Module,
    progress: &'r mut dyn FnMut(&str),
}

impl Reducer<'_> {
    fn is_over(&self) -> bool {
        self.tests >= self.options.max_tests
    }

    /// All kinds of edits once; true when one was kept.
    fn round(&mut self) -> bool {
        let mut changed = false;
        for &(name, offer) in KINDS {
            if self.sweep(name, offer) {
                changed = true;
                let (count, tests) = (count(self.cx, self.best), self.tests);
                (self.progress)(&format!("{name}: {count} operations, {tests} tests"));
            }
        }
        changed | self.shrink_sizes()
    }

    /// Groups of edits of one kind, from all at once down to single ones.
    fn sweep(&mut self, _name: &str, offer: fn(sutura_ir::OpRef<'_>, &mut Vec<crate::edit::Change>)) -> bool {
        let mut edits = offered(self.cx, self.best, offer);
        let mut chunk = edits.len();
        let mut changed = false;
        while chunk > 0 {
            // From the end: users go before what they use.
            let mut end = edits.len();
            while end > 0 && !self.is_over() {
                let start = end.saturating_sub(chunk);
                let mut candidate = copy(self.cx, self.best);
                apply(self.cx, &mut candidate, &edits[start..end]);
                if self.keep(candidate) {
                    changed = true;
                    edits = offered(self.cx, self.best, offer);
                    end = start.min(edits.len());
                } else {
                    end = start;
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
        self.keep(candidate)
    }

    /// Makes a candidate the best one if it is right and the predicate holds on it.
    fn keep(&mut self, candidate: Module) -> bool {
        let options = VerifyOptions { allow_unregistered: self.options.allow_unregistered };
        let right = self.options.allow_invalid
            || verify(candidate.op_ref(self.cx), options, &mut Diagnostics::default()).is_ok();
        // What does not grow is simpler; more operations only make room for a constant.
        if !right || count(self.cx, &candidate) > count(self.cx, self.best) {
            return false;
        }
        if !self.seen.insert(text(self.cx, &candidate)) {
            return false;
        }
        self.tests += 1;
        let holds = self.predicate.holds(self.cx, &candidate);
        if holds {
            *self.best = candidate;
        }
        holds
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
