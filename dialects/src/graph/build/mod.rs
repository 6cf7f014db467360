//! Builds the dialect's ops with their symbolic shapes, for importers and passes.
//!
//! A [`GraphBuilder`] knows the shapes of the values it has made, and the contents of small integer tensors, so that
//! broadcasts are resolved while they are built: a dimension that is known to be 1 is left out of the access map, and
//! where a size is not known the equality that the operator needs is assumed, recorded and left to be checked at run
//! time.

mod contract;
mod elementwise;
mod linear;
mod named;
mod normalise;
mod pooling;
mod reduce;
mod routine;
pub mod scalar;
mod scatter;
mod shape;
mod transposed;
mod window;

use sutura_ir::affine::{AffineExpr, AffineMap, AffineOp};
use sutura_ir::{Attr, Context, Loc, NamedAttr, Op, OpState, Rewriter, Type, Value};

use super::combine::{Combiner, CombinersAttr, StateAttr};
use super::maps::each_symbol;
use super::operator::{Actual, ApplyOp, Formal, Operator, bind};
use super::ops::{BitcastOp, ComputeOp, ConstantOp, YieldOp};
use super::shape_fn::{Contents, Inferred, Requirement, ShapeEnv, SymShape, is_empty_list};
use super::structured::{IteratorKind, IteratorsAttr, MAX_ITERATORS};
use crate::r#dyn::attr::{shape_attr, tensor_of};
use crate::r#dyn::{Facts, Poly};
use crate::elements::scalar_type;

pub use contract::Factor;
pub use elementwise::{Broadcast, broadcast};
pub use routine::Transform;
pub use scalar::Scalars;
pub use scatter::Joined;
pub use shape::{PadKind, SliceBounds};
pub use transposed::{Cropping, OddOne, TransposedWindow};
pub use window::{Padding, Window, zero};

/// Why something cannot be built, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// Whoever asks for it is wrong: it has no meaning.
    Wrong(String),
    /// It has one, but needs more than is known or can be said.
    Unsupported(String),
}

impl BuildError {
    /// The error with words before it.
    pub(super) fn within(self, before: &str) -> Self {
        match self {
            Self::Wrong(message) => Self::Wrong(format!("{before}{message}")),
            Self::Unsupported(message) => Self::Unsupported(format!("{before}{message}")),
        }
    }
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Wrong(message) | Self::Unsupported(message)) = self;
        f.write_str(message)
    }
}
impl std::error::Error for BuildError {}

/// Result of building something.
pub type Built<T = Value> = Result<T, BuildError>;

pub(super) fn fail<T>(message: impl Into<String>) -> Built<T> {
    Err(BuildError::Wrong(message.into()))
}

pub(super) fn unsupported<T>(message: impl Into<String>) -> Built<T> {
    Err(BuildError::Unsupported(message.into()))
}

/// An input of a structured op.
#[derive(Clone, Debug)]
pub struct ComputeInput {
    /// The tensor.
    pub value: Value,
    /// One expression in the iterators per dimension; see [`GraphBuilder::offset`] for sizes in it.
    pub index: Vec<AffineExpr>,
    /// What is read outside the tensor.
    pub oob: Option<Attr>,
}

/// A result of a structured op.
#[derive(Clone, Debug)]
pub struct ComputeResult {
    /// Sizes.
    pub shape: SymShape,
    /// Element type.
    pub elem: Type,
    /// One iterator, or a constant 0, per dimension.
    pub index: Vec<AffineExpr>,
    /// How contributions are joined, with reduce iterators.
    pub combiner: Option<Combiner>,
}

/// Makes ops at the insertion point of a [`Rewriter`].
pub struct GraphBuilder<'g, 'b> {
    /// Where ops go.
    pub b: &'g mut Rewriter<'b>,
    /// What is known of the values.
    pub env: ShapeEnv,
    /// Location of new ops.
    pub loc: Loc,
    /// Equalities that were assumed and are not proved.
    assumed: Vec<Requirement>,
    /// What the symbols in indices of the next structured op stand for.
    pub(super) sizes: Vec<Poly>,
    /// Iterators of a structured op that has too many.
    too_deep: Option<usize>,
}

impl<'g, 'b> GraphBuilder<'g, 'b> {
    /// Builds at the insertion point of `b`.
    pub fn new(b: &'g mut Rewriter<'b>, env: ShapeEnv, loc: Loc) -> Self {
        Self { b, env, loc, assumed: Vec::new(), sizes: Vec::new(), too_deep: None }
    }

    /// Context.
    pub fn cx(&self) -> &'b Context {
        self.b.cx()
    }

    /// How many iterators a structured op has that was made since the last call, if more than [`MAX_ITERATORS`]: it is not valid.
    pub fn take_too_deep(&mut self) -> Option<usize> {
        self.too_deep.take()
    }

    /// Takes the equalities that were assumed since the last call.
    pub fn take_assumed(&mut self) -> Vec<Requirement> {
        std::mem::take(&mut self.assumed)
    }

    /// Sizes of a tensor.
    pub fn shape(&self, value: Value) -> SymShape {
        // Any op of the body gives the view that is needed.
        let body = self.b.body();
        match self.env.known_shape(value) {
            Some(shape) => shape.clone(),
            None => crate::r#dyn::attr::symbolic_shape(self.cx(), body.ty(value)).unwrap_or_default(),
        }
    }

    /// Number of dimensions of a tensor.
    pub fn rank(&self, value: Value) -> usize {
        self.cx().shape(self.b.body().ty(value)).map_or(0, <[i64]>::len)
    }

    /// Element type of a tensor.
    pub fn elem(&self, value: Value) -> Type {
        self.cx().element_type(self.b.body().ty(value))
    }

    /// Elements of a small tensor of integers, as far as they are known.
    pub fn contents(&self, value: Value) -> Option<Contents> {
        match self.env.known_contents(value) {
            Some(contents) => Some(contents.clone()),
            None if is_empty_list(&self.shape(value)) => Some(Contents::new()),
            None => {
                let constant = sutura_ir::registry::constant_of(self.b.body(), self.cx(), value)?;
                super::symbolic::constant_contents(self.cx(), constant)
            }
        }
    }

    /// The iterator `i` as an expression.
    pub fn dim(&self, i: usize) -> AffineExpr {
        self.cx().affine_dim(i as u32)
    }

    /// The iterators `from..to` as expressions.
    pub fn dims(&self, range: std::ops::Range<usize>) -> Vec<AffineExpr> {
        range.map(|i| self.dim(i)).collect()
    }

    /// `expr + size` as index of an input of the structured op that is built next.
    pub fn offset(&mut self, expr: AffineExpr, size: &Poly) -> AffineExpr {
        let cx = self.cx();
        let (rest, constant) = size.split_constant();
        let mut sum = expr;
        if !rest.is_zero() {
            // What is subtracted is written so.
            let sign = if rest.terms().all(|(_, c)| c < 0) { -1 } else { 1 };
            let rest = rest.scale(sign);
            let known = self.sizes.iter().position(|s| *s == rest);
            let at = known.unwrap_or_else(|| {
                self.sizes.push(rest);
                self.sizes.len() - 1
            });
            let term = cx.affine_binary(AffineOp::Mul, cx.affine_symbol(at as u32), cx.affine_const(sign));
            sum = cx.affine_binary(AffineOp::Add, sum, term);
        }
        cx.affine_binary(AffineOp::Add, sum, cx.affine_const(constant))
    }

    /// An axis that may count from the end, of a tensor of rank `rank`.
    ///
    /// # Errors
    /// When it is outside.
    pub fn axis(&self, axis: i64, rank: usize) -> Built<usize> {
        let wrapped = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(wrapped) {
            Ok(axis) if axis < rank => Ok(axis),
            _ => fail(format!("axis {axis} is outside a tensor of rank {rank}")),
        }
    }

    /// Several axes, sorted.
    ///
    /// # Errors
    /// When one is outside or named twice.
    pub fn axes(&self, axes: &[i64], rank: usize) -> Built<Vec<usize>> {
        let mut sorted = axes.iter().map(|a| self.axis(*a, rank)).collect::<Built<Vec<usize>>>()?;
        sorted.sort_unstable();
        match sorted.windows(2).find(|w| w[0] == w[1]) {
            Some(twice) => fail(format!("axis {} is named twice", twice[0])),
            None => Ok(sorted),
        }
    }

    // ---- ops

    /// An operator applied by name. What it needs to be equal is assumed.
    ///
    /// # Errors
    /// When it cannot be applied to these tensors, or not with these attributes.
    pub fn apply(&mut self, operator: &Operator, inputs: &[Value], attributes: &[NamedAttr]) -> Built<Vec<Value>> {
        let cx = self.cx();
        let actual = |value: &Value| Actual { elem: self.elem(*value), shape: self.shape(*value) };
        let actuals: Vec<Actual> = inputs.iter().map(actual).collect();
        let binding = bind(cx, operator, &actuals, attributes, &mut self.env.facts)?;
        let result = |result: &Formal| {
            let elem = operator.retyped(cx, result.elem, binding.elem);
            tensor_of(cx, &binding.shape(operator, &result.sizes), elem)
        };
        let types: Vec<Type> = operator.results.iter().map(result).collect();
        // What it stands for has a loop for each dimension.
        let ranks = actuals.iter().map(|actual| actual.shape.len());
        if let Some(rank) = ranks.max().filter(|rank| *rank > MAX_ITERATORS) {
            self.too_deep = Some(rank);
        }
        self.assumed.extend(binding.required);
        let mut state = ApplyOp::state(self.b, self.loc, &operator.name, inputs, &types);
        state.attrs.extend(attributes.iter().copied());
        let op = self.b.create(state);
        self.update(op);
        Ok(self.b.body().results(op).collect())
    }

    /// A constant, from a dense attribute of static tensor type.
    pub fn constant(&mut self, value: Attr) -> Value {
        let op = ConstantOp::build(self.b, self.loc, value);
        self.finish(op)
    }

    /// The elements of `x`, bit by bit, as elements of type `elem`, which has the same width.
    pub fn bitcast(&mut self, x: Value, elem: Type) -> Value {
        if self.elem(x) == elem {
            return x;
        }
        let ty = self.unknown(self.rank(x), elem);
        let state = BitcastOp::state(self.b, self.loc, x, ty);
        self.shaped(state)
    }

    /// A constant of rank 1 of 64-bit integers.
    pub fn int_list(&mut self, values: &[i64]) -> Built {
        let ty = self.cx().tensor_type(&[values.len() as i64], Type::I64, None);
        let words: Vec<u64> = values.iter().map(|v| *v as u64).collect();
        match self.cx().dense_attr(ty, &words) {
            Some(attr) => Ok(self.constant(attr)),
            None => unsupported("an empty list of integers has no constant"),
        }
    }

    /// Runs the op's shape function and returns its first result.
    pub(super) fn finish(&mut self, op: Op) -> Value {
        self.update(op);
        self.b.body().result(op, 0)
    }

    fn update(&mut self, op: Op) -> Inferred {
        let view = sutura_ir::OpRef::new(self.b.cx(), self.b.body(), op);
        self.env.update(view)
    }

    /// A structured op; `body` gets one number per input and returns one per result.
    pub fn compute(
        &mut self,
        iterators: &[IteratorKind],
        inputs: Vec<ComputeInput>,
        results: Vec<ComputeResult>,
        body: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Vec<Value>,
    ) -> Op {
        self.computed(iterators, inputs, results, None, |g, op| g.fill(op, 0, body))
    }

    /// Like [`Self::compute`]; `join` joins all results at once: it gets two states and returns one. It starts from the identity
    /// of `state`, whose laws it obeys.
    pub fn compute_joint(
        &mut self,
        iterators: &[IteratorKind],
        inputs: Vec<ComputeInput>,
        results: Vec<ComputeResult>,
        body: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Vec<Value>,
        (state, join): (StateAttr, impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Vec<Value>),
    ) -> Op {
        self.computed(iterators, inputs, results, Some(state), |g, op| {
            g.fill(op, 0, body);
            g.fill(op, 1, join);
        })
    }

    fn computed(
        &mut self,
        iterators: &[IteratorKind],
        inputs: Vec<ComputeInput>,
        results: Vec<ComputeResult>,
        state: Option<StateAttr>,
        fill: impl FnOnce(&mut Self, Op),
    ) -> Op {
        if iterators.len() > MAX_ITERATORS {
            self.too_deep = Some(iterators.len());
        }
        let made = self.compute_state(iterators, &inputs, &results, state);
        let op = self.b.create(made);
        fill(self, op);
        self.update(op);
        op
    }

    /// Fills region `index` of a structured op: its body, or what joins two states.
    fn fill(&mut self, op: Op, index: usize, body: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Vec<Value>) {
        let view = sutura_ir::OpRef::new(self.cx(), self.b.body(), op);
        let state = view.as_::<ComputeOp<'_>>().and_then(|compute| compute.combine_state());
        let elems: Vec<Type> = match state.filter(|_| index == 1) {
            Some(state) => {
                let one = || state.identity.iter().filter_map(|number| self.cx().attr_type(*number));
                one().chain(one()).collect()
            }
            None => view.operands().map(|input| self.elem(input)).collect(),
        };
        self.fill_with(op, index, elems, body);
    }

    /// Fills region `index` of an op with a function of one number per element type; integers are signless in it.
    fn fill_with(
        &mut self,
        op: Op,
        index: usize,
        elems: Vec<Type>,
        body: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Vec<Value>,
    ) {
        let args: Vec<(Type, Loc)> = elems.iter().map(|elem| (scalar_type(self.cx(), *elem), self.loc)).collect();
        let region = self.b.body().regions(op).nth(index).expect("created with it");
        let point = self.b.insert_point();
        let block = self.b.create_block(region, &args);
        self.b.set_to_end(block);
        let args: Vec<Value> = self.b.body().block_args(block).to_vec();
        let mut scalars = Scalars::new(self.b, self.loc);
        args.iter().zip(elems).for_each(|(arg, elem)| scalars.stands_for(*arg, elem));
        let yielded = body(&mut scalars, &args);
        YieldOp::build(self.b, self.loc, &yielded);
        self.b.set_insert_point(point);
    }

    fn compute_state(
        &mut self,
        iterators: &[IteratorKind],
        inputs: &[ComputeInput],
        results: &[ComputeResult],
        joint: Option<StateAttr>,
    ) -> OpState {
        let (cx, sizes) = (self.cx(), std::mem::take(&mut self.sizes));
        let map = |index: &[AffineExpr]| {
            let mut symbols = 0;
            index.iter().for_each(|e| each_symbol(cx, *e, &mut |_| symbols = sizes.len() as u32));
            cx.affine_map(iterators.len() as u32, symbols, index)
        };
        let maps: Vec<AffineMap> =
            inputs.iter().map(|i| map(&i.index)).chain(results.iter().map(|r| map(&r.index))).collect();
        let combiners: Vec<Combiner> = results.iter().filter_map(|r| r.combiner).collect();
        let operands: Vec<Value> = inputs.iter().map(|i| i.value).collect();
        let types: Vec<Type> = results.iter().map(|r| tensor_of(cx, &r.shape, r.elem)).collect();
        let iterators = IteratorsAttr { kinds: iterators.to_vec() };
        let mut state = ComputeOp::state(self.b, self.loc, &operands, iterators, &maps, &types, joint.is_some().into());
        if let Some(joint) = joint {
            state = state.prop(cx.ident("state"), cx.ext_attr(joint));
        }
        if !combiners.is_empty() {
            state = state.prop(cx.ident("combiners"), cx.ext_attr(CombinersAttr { kinds: combiners }));
        }
        if inputs.iter().any(|i| i.oob.is_some()) {
            let oob: Vec<Attr> =
                inputs.iter().map(|i| i.oob.map_or(Attr::UNIT, |oob| scalar::signless(cx, oob))).collect();
            state = state.prop(cx.ident("oob"), cx.array_attr(&oob));
        }
        if !sizes.is_empty() {
            state = state.prop(cx.ident("sizes"), shape_attr(cx, &sizes));
        }
        state
    }

    // ---- sizes

    /// Makes two sizes equal; see [`unify`].
    ///
    /// # Errors
    /// When they cannot be equal.
    pub fn unify(&mut self, a: &Option<Poly>, b: &Option<Poly>, what: impl FnOnce() -> String) -> Built<Option<Poly>> {
        unify(&mut self.env.facts, a, b, what, &mut self.assumed)
    }
}

/// Makes two sizes equal: proved, or assumed and recorded. Returns the one to go on with.
///
/// # Errors
/// When they cannot be equal.
pub fn unify(
    facts: &mut Facts,
    a: &Option<Poly>,
    b: &Option<Poly>,
    what: impl FnOnce() -> String,
    assumed: &mut Vec<Requirement>,
) -> Built<Option<Poly>> {
    let within = |size: &Option<Poly>| size.as_ref().is_some_and(|size| size.excess().is_none());
    let (a, b) = match (a, b) {
        (Some(first), Some(second)) if within(a) && within(b) => (first, second),
        (known, _) if within(known) => return Ok(known.clone()),
        (_, known) => return Ok(known.clone().filter(|_| within(known))),
    };
    if !facts.prove_equal(a, b) {
        let what = what();
        if facts.assume_equal(a, b).is_err() {
            return fail(format!("{what} differ: {a} and {b}"));
        }
        assumed.push(Requirement { lhs: a.clone(), rhs: b.clone(), what });
    }
    Ok(Some(if b.as_const().is_some() { b.clone() } else { a.clone() }))
}
