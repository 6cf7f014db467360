//! Rewrite patterns.

use std::sync::Arc;

use crate::body::Op;
use crate::op_def::{Arity, OpView};
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

/// Stops the compilation of a `rewrite!` whose pattern gives another number of operands than the op declares; `open` for
/// one that ends in `..`.
pub const fn expect_operands(declared: &[Arity], given: usize, open: bool) {
    let singles = count_singles(declared);
    assert!(given <= singles, "the pattern gives more operands than the op declares, or one of variable number");
    assert!(
        open || singles == declared.len(),
        "the op declares operands of variable number: end its operands in the pattern with `..`"
    );
    assert!(open || given == singles, "the pattern gives fewer operands than the op declares: add them, or `..`");
}

/// Stops the compilation of a `rewrite!` that gives another number of results than the op declares.
pub const fn expect_results(declared: &[Arity], given: usize) {
    assert!(
        count_singles(declared) == declared.len(),
        "the op declares results of variable number: its rewrite is to be written as a function"
    );
    assert!(given == declared.len(), "the rewrite gives another number of results than the op declares");
}

/// Number of groups of one value before the first of variable number.
const fn count_singles(arities: &[Arity]) -> usize {
    let mut i = 0;
    while i < arities.len() && matches!(arities[i], Arity::Single) {
        i += 1;
    }
    i
}

/// What the compiler refuses in a `rewrite!`: each example differs in one place from the first, which compiles.
///
/// ```
/// # use sutura_ir::{constraints::*, op, rewrite};
/// # /// Adds.
/// # #[op("t.add")]
/// # struct AddOp<T: AnyType> { lhs: Operand<T>, rhs: Operand<T>, sum: Res<T> }
/// # /// A constant.
/// # #[op("t.constant", traits(ConstantLike))]
/// # struct ConstantOp { #[name("value")] number: Attr<TypedAttr>, result: Res<AnyType> }
/// # /// Any number.
/// # #[op("t.many")]
/// # struct ManyOp { values: Operands<AnyType>, all: Results<AnyType> }
/// rewrite! {
///     fn rule(rw) { AddOp(AddOp(x, _), c @ ConstantOp() { number: n }) -> t if rw.cx().attr_type(n) == Some(t) => AddOp(x, ConstantOp(n)) }
/// }
/// rewrite! { fn open(rw) { AddOp(x, ..) => x } }
/// ```
///
/// An op that is not there, an accessor that it has not:
///
/// ```compile_fail,E0425
/// # use sutura_ir::rewrite;
/// rewrite! { fn rule(rw) { AddOpp(x, y) => x } }
/// ```
/// ```compile_fail,E0599
/// # use sutura_ir::{constraints::*, op, rewrite};
/// # /// Adds.
/// # #[op("t.add")]
/// # struct AddOp<T: AnyType> { lhs: Operand<T>, rhs: Operand<T>, sum: Res<T> }
/// rewrite! { fn rule(rw) { AddOp(x, y) { left: z } => x } }
/// ```
///
/// Operands that are too few or too many, or of variable number:
///
/// ```compile_fail,E0080
/// # use sutura_ir::{constraints::*, op, rewrite};
/// # /// Adds.
/// # #[op("t.add")]
/// # struct AddOp<T: AnyType> { lhs: Operand<T>, rhs: Operand<T>, sum: Res<T> }
/// rewrite! { fn rule(rw) { AddOp(x) => x } }
/// fn main() { let f: sutura_ir::pattern::RewriteFn = rule; }
/// ```
/// ```compile_fail,E0080
/// # use sutura_ir::{constraints::*, op, rewrite};
/// # /// Adds.
/// # #[op("t.add")]
/// # struct AddOp<T: AnyType> { lhs: Operand<T>, rhs: Operand<T>, sum: Res<T> }
/// rewrite! { fn rule(rw) { AddOp(x, y, z) => x } }
/// fn main() { let f: sutura_ir::pattern::RewriteFn = rule; }
/// ```
/// ```compile_fail,E0080
/// # use sutura_ir::{constraints::*, op, rewrite};
/// # /// Any number.
/// # #[op("t.many")]
/// # struct ManyOp { values: Operands<AnyType>, one: Res<AnyType> }
/// rewrite! { fn rule(rw) { ManyOp(x) => x } }
/// fn main() { let f: sutura_ir::pattern::RewriteFn = rule; }
/// ```
///
/// A replacement with too few arguments, or for another number of results, and a name that nothing binds:
///
/// ```compile_fail,E0061
/// # use sutura_ir::{constraints::*, op, rewrite};
/// # /// Adds.
/// # #[op("t.add")]
/// # struct AddOp<T: AnyType> { lhs: Operand<T>, rhs: Operand<T>, sum: Res<T> }
/// rewrite! { fn rule(rw) { AddOp(x, y) => AddOp(x) } }
/// ```
/// ```compile_fail,E0080
/// # use sutura_ir::{constraints::*, op, rewrite};
/// # /// Adds.
/// # #[op("t.add")]
/// # struct AddOp<T: AnyType> { lhs: Operand<T>, rhs: Operand<T>, sum: Res<T> }
/// rewrite! { fn rule(rw) { AddOp(x, y) => (x, y) } }
/// fn main() { let f: sutura_ir::pattern::RewriteFn = rule; }
/// ```
/// ```compile_fail,E0425
/// # use sutura_ir::{constraints::*, op, rewrite};
/// # /// Adds.
/// # #[op("t.add")]
/// # struct AddOp<T: AnyType> { lhs: Operand<T>, rhs: Operand<T>, sum: Res<T> }
/// rewrite! { fn rule(rw) { AddOp(x, y) => z } }
/// ```
#[cfg(doctest)]
struct RewriteIsChecked;
