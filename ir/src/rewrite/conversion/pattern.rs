//! Patterns of a conversion, and the operands that they get.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::rewriter::ConversionRewriter;
use super::types::TypeConverter;
use crate::body::{Op, Value};
use crate::context::Context;
use crate::op_def::OpView;
use crate::pattern::{PatternSet, RewritePattern};
use crate::registry::OpName;

/// What stands for one operand: one value, or any number when a type becomes several.
pub(super) type Replacement = SmallVec<[Value; 1]>;

/// The operands of an op as a pattern is to use them: of the types to which the pattern's type converter converts.
#[derive(Clone, Debug, Default)]
pub struct Adaptor {
    operands: SmallVec<[(Value, Replacement); 4]>,
}

impl Adaptor {
    pub(super) fn push(&mut self, operand: Value, values: Replacement) {
        self.operands.push((operand, values));
    }

    /// The values that stand for each operand, in order.
    pub fn operands(&self) -> impl ExactSizeIterator<Item = &[Value]> {
        self.operands.iter().map(|(_, values)| values.as_slice())
    }

    /// The values that stand for all operands, one after another.
    pub fn flat(&self) -> Vec<Value> {
        self.operands().flatten().copied().collect()
    }

    /// The values that stand for operands `range`, one after another.
    pub fn flat_range(&self, range: std::ops::Range<usize>) -> Vec<Value> {
        self.operands().skip(range.start).take(range.len()).flatten().copied().collect()
    }

    /// The values that stand for `operand`, an operand of the op: `adaptor.of(add.lhs())`.
    ///
    /// # Panics
    /// When it is no operand of the op.
    pub fn of(&self, operand: Value) -> &[Value] {
        let found = self.operands.iter().find(|(old, _)| *old == operand);
        found.map(|(_, values)| values.as_slice()).expect("an operand of the op")
    }

    /// The one value that stands for `operand`; `None` when it became several, or none.
    ///
    /// # Panics
    /// When it is no operand of the op.
    pub fn one(&self, operand: Value) -> Option<Value> {
        match self.of(operand) {
            [one] => Some(*one),
            _ => None,
        }
    }
}

/// A pattern as a function: changes the IR and returns `Some(())`, or leaves it alone and returns `None`, best through
/// [`crate::Rewriter::notify_match_failure`], whose reason is shown when the op cannot be legalized.
pub type ConversionFn = fn(Op, &Adaptor, &mut ConversionRewriter<'_>) -> Option<()>;

/// A rewrite of one op, or of any, towards what is legal.
pub trait ConversionPattern: Send + Sync {
    /// Name in notes and remarks.
    fn name(&self) -> &str;

    /// Name of the op that it matches; `None` for any.
    fn root(&self) -> Option<&'static str>;

    /// Larger is tried first.
    fn benefit(&self) -> u16 {
        1
    }

    /// Changes the IR and returns `Some(())`, or leaves it alone and returns `None`.
    fn match_and_rewrite(&self, op: Op, operands: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()>;
}

struct FnPattern<F> {
    name: &'static str,
    root: Option<&'static str>,
    benefit: u16,
    rewrite: F,
}

impl<F> ConversionPattern for FnPattern<F>
where
    F: Fn(Op, &Adaptor, &mut ConversionRewriter<'_>) -> Option<()> + Send + Sync,
{
    fn name(&self) -> &str {
        self.name
    }
    fn root(&self) -> Option<&'static str> {
        self.root
    }
    fn benefit(&self) -> u16 {
        self.benefit
    }
    fn match_and_rewrite(&self, op: Op, operands: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
        (self.rewrite)(op, operands, rw)
    }
}

/// An ordinary pattern, which changes no types.
struct Plain(Arc<dyn RewritePattern>);

impl ConversionPattern for Plain {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn root(&self) -> Option<&'static str> {
        self.0.root()
    }
    fn benefit(&self) -> u16 {
        self.0.benefit()
    }
    fn match_and_rewrite(&self, op: Op, _: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
        self.0.match_and_rewrite(op, rw)
    }
}

/// A pattern with the type converter that its operands are converted by.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) pattern: Arc<dyn ConversionPattern>,
    pub(super) converter: Option<Arc<TypeConverter>>,
    /// Its place among all patterns.
    pub(super) id: usize,
}

/// Patterns to be applied together.
#[derive(Clone, Default)]
pub struct ConversionPatterns {
    entries: Vec<Entry>,
    converter: Option<Arc<TypeConverter>>,
}

impl ConversionPatterns {
    /// No patterns. Those that are added change no types: they get their operands as they are.
    pub fn new() -> Self {
        Self::default()
    }

    /// No patterns. Those that are added get operands of the types to which `converter` converts.
    pub fn with_converter(converter: Arc<TypeConverter>) -> Self {
        Self { entries: Vec::new(), converter: Some(converter) }
    }

    /// The type converter of patterns that are added from now on.
    pub fn set_converter(&mut self, converter: Option<Arc<TypeConverter>>) -> &mut Self {
        self.converter = converter;
        self
    }

    /// Adds a function or closure that rewrites ops declared by `T`.
    pub fn add<'a, T: OpView<'a>>(
        &mut self,
        name: &'static str,
        rewrite: impl Fn(Op, &Adaptor, &mut ConversionRewriter<'_>) -> Option<()> + Send + Sync + 'static,
    ) -> &mut Self {
        self.add_fn(name, Some(T::def().name), 1, rewrite)
    }

    /// Adds a function or closure with its root op and benefit.
    pub fn add_fn(
        &mut self,
        name: &'static str,
        root: Option<&'static str>,
        benefit: u16,
        rewrite: impl Fn(Op, &Adaptor, &mut ConversionRewriter<'_>) -> Option<()> + Send + Sync + 'static,
    ) -> &mut Self {
        self.add_pattern(FnPattern { name, root, benefit, rewrite })
    }

    /// Adds a pattern.
    pub fn add_pattern(&mut self, pattern: impl ConversionPattern + 'static) -> &mut Self {
        self.push(Arc::new(pattern), self.converter.clone());
        self
    }

    /// Adds ordinary patterns. They see operands as they are, and may not change types.
    pub fn add_rewrites(&mut self, set: &PatternSet) -> &mut Self {
        for pattern in set.iter() {
            self.push(Arc::new(Plain(pattern.clone())), None);
        }
        self
    }

    fn push(&mut self, pattern: Arc<dyn ConversionPattern>, converter: Option<Arc<TypeConverter>>) {
        self.entries.push(Entry { pattern, converter, id: self.entries.len() });
    }
}

/// Patterns looked up by op, best first.
pub(super) struct Frozen {
    by_name: FxHashMap<OpName, Box<[Entry]>>,
    any: Box<[Entry]>,
}

impl Frozen {
    pub(super) fn new(cx: &Context, set: &ConversionPatterns) -> Self {
        let by_benefit = |root: Option<&str>| -> Box<[Entry]> {
            let fits = |e: &&Entry| e.pattern.root().is_none() || e.pattern.root() == root;
            let mut bucket: Vec<Entry> = set.entries.iter().filter(fits).cloned().collect();
            bucket.sort_by_key(|e| std::cmp::Reverse(e.pattern.benefit()));
            bucket.into()
        };
        let roots: rustc_hash::FxHashSet<&str> = set.entries.iter().filter_map(|e| e.pattern.root()).collect();
        let by_name = roots.into_iter().map(|root| (cx.op_name(root), by_benefit(Some(root)))).collect();
        Self { by_name, any: by_benefit(None) }
    }

    pub(super) fn for_op(&self, name: OpName) -> &[Entry] {
        self.by_name.get(&name).unwrap_or(&self.any)
    }
}
