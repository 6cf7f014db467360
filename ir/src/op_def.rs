//! How an operation is declared: one static table that verifier, parser, printer, builder and docs interpret.
//!
//! The tables are written by the `#[op]` macro; see the crate documentation for the declaration syntax.

use smallvec::SmallVec;

use crate::attrs::Attr;
use crate::body::Value;
use crate::context::Context;
use crate::diagnostics::{Diagnostics, Reported};
use crate::op_ref::OpRef;
use crate::pattern::PatternSet;
use crate::types::Type;

/// How many values, regions or successors a declared group stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one.
    Single,
    /// None or one.
    Optional,
    /// Any number.
    Variadic,
}

/// A named condition on types.
#[derive(Debug)]
pub struct TypeConstraint {
    /// Rust-side name, such as `SignlessIntegerLike`.
    pub name: &'static str,
    /// Completes "must be …", as in `signless-integer-like`.
    pub description: &'static str,
    /// The condition.
    pub check: fn(&Context, Type) -> bool,
    /// The only type that fulfils it, if there is just one.
    pub only: Option<Type>,
}

/// A Rust type that names a [`TypeConstraint`].
pub trait TypeConstraintDef {
    /// The constraint.
    const CONSTRAINT: TypeConstraint;
}

/// How the custom form writes an attribute.
#[derive(Clone, Copy, Debug)]
pub enum AttrSyntax {
    /// As any attribute, with its type.
    Plain,
    /// Integer or float of this type, without it.
    Untyped(Type),
    /// Symbol definition: a string attribute written `@name`.
    SymbolName,
    /// One of these keywords, standing for an `i64` (or, for the given type, another integer) attribute.
    Keyword(Type, &'static [(&'static str, i64)]),
    /// A type attribute, written as the bare type.
    Type,
    /// Elements of `array<type: …>` of this element type, in brackets: `[1, 2]`.
    DenseArray(Type),
    /// Unit attribute: its presence is the information. Beside a literal in an optional group it is not written.
    Unit,
}

/// A named condition on attributes.
#[derive(Debug)]
pub struct AttrConstraint {
    /// Rust-side name, such as `I64Attr`.
    pub name: &'static str,
    /// Completes "must be …", as in `64-bit signless integer attribute`.
    pub description: &'static str,
    /// The condition.
    pub check: fn(&Context, Attr) -> bool,
    /// How the custom form writes it.
    pub syntax: AttrSyntax,
}

/// A Rust type that names an [`AttrConstraint`], and how attributes that fulfil it are read and made.
///
/// [`crate::attr_constraints`] and [`crate::keyword_attrs`] implement it.
pub trait AttrConstraintDef {
    /// What such an attribute holds, as an accessor returns it.
    type Get<'a>;
    /// What one is made from, as a constructor takes it.
    type Set<'a>;

    /// The constraint.
    const CONSTRAINT: AttrConstraint;

    /// What the attribute holds; `None` when it does not fulfil the constraint.
    fn get(cx: &Context, attr: Attr) -> Option<Self::Get<'_>>;

    /// The attribute that holds `value`.
    fn set(cx: &Context, value: Self::Set<'_>) -> Attr;
}

/// A constraint variable: values declared with the same one have the same type.
#[derive(Debug)]
pub struct TypeVarDef {
    /// Name of the variable.
    pub name: &'static str,
    /// What its type must fulfil.
    pub constraint: TypeConstraint,
}

/// A declared operand or result group.
#[derive(Debug)]
pub struct ValueDef {
    /// Name of the group.
    pub name: &'static str,
    /// How many values.
    pub arity: Arity,
    /// What each type must fulfil.
    pub constraint: TypeConstraint,
    /// Index into [`OpDef::type_vars`], when declared with a constraint variable.
    pub var: Option<usize>,
}

/// A declared inherent attribute.
#[derive(Debug)]
pub struct AttrDef {
    /// Name in the text form.
    pub name: &'static str,
    /// What it must fulfil.
    pub constraint: AttrConstraint,
    /// True when it may be absent.
    pub optional: bool,
    /// Value that absence stands for. Ops never hold it: see [`crate::registry::OpInfo::normal_props`].
    pub default: Option<fn(&Context) -> Attr>,
    /// The generic form leaves the default out, too.
    pub elide_default: bool,
}

/// A declared region group.
#[derive(Debug)]
pub struct RegionDef {
    /// Name of the group.
    pub name: &'static str,
    /// How many regions.
    pub arity: Arity,
}

/// A declared successor group.
#[derive(Debug)]
pub struct SuccessorDef {
    /// Name of the group.
    pub name: &'static str,
    /// How many successors.
    pub arity: Arity,
}

/// Markers that need no method.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Traits(u64);

macro_rules! traits {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        impl Traits {
            $($(#[$doc])* #[allow(non_upper_case_globals)] pub const $name: Self = Self(1 << $bit);)*

            /// Every trait with its name.
            pub const ALL: &'static [(&'static str, Self)] = &[$((stringify!($name), Self::$name)),*];
        }
    };
}
traits! {
    /// Has no effect but its results: no memory effect, and may be executed speculatively.
    Pure = 0;
    /// Operands may be swapped.
    Commutative = 1;
    /// Ends its block.
    Terminator = 2;
    /// Regions may not use values defined outside; the op owns a body of its own.
    IsolatedFromAbove = 3;
    /// Its one result is the constant in its `value` attribute.
    ConstantLike = 4;
    /// Its region's symbols are looked up in it.
    SymbolTable = 5;
    /// Defines the symbol in its `sym_name` attribute.
    Symbol = 6;
    /// Blocks of its regions need no terminator.
    NoTerminator = 7;
    /// Each of its regions has at most one block.
    SingleBlock = 8;
    /// A terminator that hands its operands back to the enclosing op.
    ReturnLike = 9;
    /// All operands and results have one type.
    SameOperandsAndResultType = 10;
    /// All operands have one type.
    SameTypeOperands = 11;
    /// Operands and results agree in shape.
    SameOperandsAndResultShape = 12;
    /// Operands and results agree in element type.
    SameOperandsAndResultElementType = 13;
    /// Works element by element on vectors and tensors.
    Elementwise = 14;
    /// `operandSegmentSizes` says how operands fall into groups.
    AttrSizedOperandSegments = 15;
    /// `resultSegmentSizes` says how results fall into groups.
    AttrSizedResultSegments = 16;
    /// Its regions have no order of execution, and dominance does not apply.
    GraphRegion = 17;
    /// Values at the top of its region are valid affine symbols.
    AffineScope = 18;
    /// Has the memory effects of the ops in its regions.
    RecursiveMemoryEffects = 19;
    /// Never executed more than once at a time with itself: f(f(x)) = f(x).
    Idempotent = 20;
    /// f(f(x)) = x.
    Involution = 21;
    /// The entry blocks of its regions take no arguments.
    NoRegionArguments = 22;
    /// Its regions use no values from outside, though they lie in the body around it: constants are made inside, and
    /// equal ops outside do not stand in for those inside.
    ClosedRegions = 23;
    /// The blocks of its regions have roles by their place: none is erased or merged, even where that keeps the control
    /// flow.
    FixedBlocks = 24;
}

impl Traits {
    /// No traits.
    pub const NONE: Self = Self(0);

    /// All of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True when every trait of `other` is in `self`.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Names of the traits, in order of declaration.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().filter(move |(_, t)| self.has(*t)).map(|(name, _)| *name)
    }
}

impl std::fmt::Debug for Traits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// Extra checks of an op; reports what is wrong and returns `Err`.
pub type VerifyFn = fn(OpRef<'_>, &mut Diagnostics) -> Result<(), Reported>;

/// What a result folds to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoldValue {
    /// A constant.
    Attr(Attr),
    /// A value that exists already.
    Value(Value),
}

/// Folds an op whose operands have the given constant values; `None` when nothing folds, else one entry per result.
pub type FoldFn = fn(OpRef<'_>, &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>>;

/// The parts of an op from which its result types follow.
#[derive(Clone, Copy)]
pub struct InferInput<'a> {
    /// Context.
    pub cx: &'a Context,
    /// Types of the operands.
    pub operands: &'a [Type],
    /// Dictionary of inherent attributes.
    pub props: Attr,
}

impl InferInput<'_> {
    /// The inherent attribute `name`.
    pub fn prop(&self, name: &str) -> Option<Attr> {
        self.cx.entry(self.props, self.cx.ident(name))
    }
}

/// Infers result types; an error says in words why they cannot be.
pub type InferFn = fn(InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String>;

/// How result types follow, as [`InferTypes`] says.
#[derive(Clone, Copy, Debug)]
pub struct InferDef {
    /// Infers them.
    pub types: InferFn,
    /// True when an op with results of the second types is right where the first are inferred.
    pub compatible: fn(&Context, &[Type], &[Type]) -> bool,
}

/// A declared operation.
#[derive(Debug)]
pub struct OpDef {
    /// Full name, `dialect.mnemonic`.
    pub name: &'static str,
    /// First line of the documentation.
    pub summary: &'static str,
    /// The whole documentation, Markdown.
    pub description: &'static str,
    /// Constraint variables.
    pub type_vars: &'static [TypeVarDef],
    /// Operand groups, in order.
    pub operands: &'static [ValueDef],
    /// Result groups, in order.
    pub results: &'static [ValueDef],
    /// Inherent attributes.
    pub attrs: &'static [AttrDef],
    /// Region groups, in order.
    pub regions: &'static [RegionDef],
    /// Successor groups, in order.
    pub successors: &'static [SuccessorDef],
    /// Traits.
    pub traits: Traits,
    /// Names of the ops that may be its parent; empty for any.
    pub parents: &'static [&'static str],
    /// Dialect whose ops may be written without prefix in its regions.
    pub default_dialect: Option<&'static str>,
    /// Name of the terminator that the custom form leaves out when it has no operands.
    pub implicit_terminator: Option<&'static str>,
    /// Assembly format; an op without one has only the generic form.
    pub format: Option<&'static str>,
    /// Checks beyond the table, run before the regions are verified.
    pub verify: Option<VerifyFn>,
    /// Checks run after the ops in its regions have been verified.
    pub verify_regions: Option<VerifyFn>,
    /// Folding.
    pub fold: Option<FoldFn>,
    /// Result type inference beyond constraint variables.
    pub infer: Option<InferDef>,
    /// Canonicalization patterns.
    pub canonicalize: Option<fn(&mut PatternSet)>,
}

impl OpDef {
    /// Dialect part of the name.
    pub fn dialect(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(dialect, _)| dialect)
    }

    /// True for the inherent attribute that says how the op's operands or results fall into groups.
    pub fn is_segment_sizes(&self, name: &str) -> bool {
        match name {
            "operandSegmentSizes" => self.traits.has(Traits::AttrSizedOperandSegments),
            "resultSegmentSizes" => self.traits.has(Traits::AttrSizedResultSegments),
            _ => false,
        }
    }

    /// The declaration of the inherent attribute `name`.
    pub fn attr(&self, name: &str) -> Option<&'static AttrDef> {
        self.attrs.iter().find(|a| a.name == name)
    }
}

/// Checks of an op beyond its declaration; named in `#[op(…, verify)]`.
pub trait Verify {
    /// Reports what is wrong.
    ///
    /// # Errors
    /// After an error was reported.
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported>;
}

/// Checks of an op that need its regions verified first; named in `#[op(…, verify_regions)]`.
pub trait VerifyRegions {
    /// Reports what is wrong.
    ///
    /// # Errors
    /// After an error was reported.
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported>;
}

/// Folding of an op; named in `#[op(…, fold)]`.
pub trait Fold {
    /// See [`FoldFn`].
    fn fold(op: OpRef<'_>, operands: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>>;
}

/// Result type inference of an op; named in `#[op(…, infer)]`.
pub trait InferTypes {
    /// See [`InferFn`].
    ///
    /// # Errors
    /// Says in words why the types cannot be inferred.
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String>;

    /// True when results may be of the types `found` where `inferred` are inferred. The verifier asks, after the op's own
    /// checks.
    fn are_compatible(_cx: &Context, inferred: &[Type], found: &[Type]) -> bool {
        inferred == found
    }
}

/// Canonicalization patterns of an op; named in `#[op(…, canonicalize)]`.
pub trait Canonicalize {
    /// Adds the patterns.
    fn patterns(set: &mut PatternSet);
}

/// A declared op as a Rust type: a read-only view of an operation. Implemented by the `#[op]` macro.
pub trait OpView<'a>: Copy + Sized {
    /// How many values each operand group stands for.
    const OPERANDS: &'static [Arity];
    /// How many values each result group stands for.
    const RESULTS: &'static [Arity];

    /// The declaration.
    fn def() -> &'static OpDef;

    /// Views `op`, whose name must be the declared one.
    fn from_ref(op: OpRef<'a>) -> Self;

    /// The operation behind the view.
    fn op_ref(&self) -> OpRef<'a>;
}

/// Full name of an operation that is declared: `name_of::<AddIOp<'_>>()`.
pub fn name_of<'a, T: OpView<'a>>() -> &'static str {
    T::def().name
}
