//! Chains of sums, differences, products and quotients with constants behind a product.

use sutura_dialects::arith::FastMathFlags;
use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::{Combiner, ComputeForm, maps};
use sutura_ir::body::Use;
use sutura_ir::{Op, OpRef, Type, Value};

use super::place::{self, Place};
use super::weights::{Weights, is_constant};
use crate::graph_property_rewrite::{REORDER, points};
use crate::region::cost::op_cost;
use crate::split_products::Recipe;

/// What is done to a number, with a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `x + c`
    Add,
    /// `x - c`
    Sub,
    /// `c - x`
    From,
    /// `x * c`
    Mul,
    /// `x / c`
    Div,
}

/// One op of the chain.
pub(super) struct Term {
    pub(super) kind: Kind,
    /// The constant, as the op's body computes it.
    pub(super) recipe: Recipe,
    /// The tensors that it is computed from, each with the dimensions of the chain's tensors at which it is read.
    pub(super) inputs: Vec<(Value, Vec<Option<usize>>)>,
}

/// The op in which a chain ends.
#[derive(Clone, Copy)]
pub(super) struct Last {
    pub(super) op: Op,
    /// The number of its input that the chain comes from.
    pub(super) input: usize,
    /// The number with which it ends, in the op's body.
    pub(super) end: Value,
}

/// What is behind a product.
struct Tail {
    /// Ops that only move the product's numbers, before the first term.
    moves: Vec<Op>,
    /// What the first term reads, and its dimensions.
    tensor: Value,
    place: Place,
    terms: Vec<Term>,
    last: Last,
}

/// A product with a constant factor, and the chain behind it.
pub(super) struct Chain {
    pub(super) product: Op,
    pub(super) weights: Weights,
    pub(super) elem: Type,
    /// Ops that only move the product's numbers, before the first term.
    pub(super) moves: Vec<Op>,
    /// What the first term reads.
    pub(super) tensor: Value,
    pub(super) terms: Vec<Term>,
    pub(super) last: Last,
    /// Dimensions of that tensor along which terms vary.
    pub(super) dims: Vec<usize>,
    /// For each of them the dimensions of the weights that it consists of.
    pub(super) places: Vec<Vec<usize>>,
    /// Numbers that the last op makes.
    points: Poly,
}

impl Chain {
    /// The chain behind `view`; `None` where it is no product, or nothing scales it.
    ///
    /// # Errors
    /// Why a chain that scales the product cannot go into its weights.
    pub(super) fn of(view: OpRef<'_>) -> Option<Result<Self, &'static str>> {
        let form = product(view)?;
        let result = view.result(0);
        let anywhere = |_: usize| true;
        let scaled = |used: Use| Tail::of(&form, used, &anywhere).is_some();
        if !view.body.uses(result).any(scaled) {
            return None;
        }
        Some(Self::behind(&form, result))
    }

    fn behind(form: &ComputeForm<'_>, result: Value) -> Result<Self, &'static str> {
        let view = form.op;
        let elem = view.cx.element_type(view.ty(result));
        if ![Type::F32, Type::F64].contains(&elem) {
            return Err("its numbers have 16 bits, and weights that are scaled would lose some of them");
        }
        let weights = Weights::of(form)?;
        let mut uses = view.body.uses(result);
        let (Some(used), None) = (uses.next(), uses.next()) else {
            return Err("something else reads the product");
        };
        let runs = |d: usize| weights.runs_with[d].is_some();
        let tail =
            Tail::of(form, used, &runs).ok_or("its constants vary along a dimension that the weights do not have")?;
        weights.may_be_scaled(view, elem)?;
        let mut dims: Vec<usize> =
            tail.terms.iter().flat_map(|t| &t.inputs).flat_map(|(_, d)| d).filter_map(|d| *d).collect();
        dims.sort_unstable();
        dims.dedup();
        let parts =
            |d: &usize| tail.place[*d].iter().flatten().map(|d| weights.runs_with[*d]).collect::<Option<Vec<_>>>();
        let places = dims.iter().map(parts).collect::<Option<Vec<_>>>();
        let points = ComputeForm::of(view.at(tail.last.op)).and_then(|last| points(&last));
        let unknown = "its sizes are unknown";
        Ok(Self {
            product: view.op,
            elem,
            dims,
            places: places.ok_or(unknown)?,
            points: points.ok_or(unknown)?,
            weights,
            moves: tail.moves,
            tensor: tail.tensor,
            terms: tail.terms,
            last: tail.last,
        })
    }

    /// True where the chain adds something.
    pub(super) fn has_offset(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.kind, Kind::Add | Kind::Sub | Kind::From))
    }

    /// The flags that it takes to fold the chain.
    pub(super) fn needs(&self) -> FastMathFlags {
        let divides = self.terms.iter().any(|term| term.kind == Kind::Div);
        if divides { REORDER.with(FastMathFlags::ARCP) } else { REORDER }
    }

    /// What the chain costs before and after.
    pub(super) fn gain(&self) -> String {
        let price = |kind: Kind| i64::from(op_cost(if kind == Kind::Div { "arith.divf" } else { "arith.addf" }));
        let before = self.points.scale(self.terms.iter().map(|term| price(term.kind)).sum());
        let after = self.points.scale(i64::from(self.has_offset()));
        format!("a chain of constants behind a product goes into its weights: {before} operations become {after}")
    }
}

/// The form of a sum of products of elements of two tensors.
fn product(view: OpRef<'_>) -> Option<ComputeForm<'_>> {
    let form = ComputeForm::of(view)?;
    let sum = form.combiners == [Combiner::Add] && form.joint.is_none() && view.num_operands() == 2;
    if !sum || view.num_results() != 1 {
        return None;
    }
    let (args, yielded) = (form.body.args(), form.yielded()?.operand(0));
    let mut made = view.at(view.body.defining_op(yielded)?);
    // Where a window has holes, no product is added.
    if made.name_str() == "arith.select" && is_zero(made, made.operand(2)) && !depends_on_args(&form, made.operand(0)) {
        made = view.at(view.body.defining_op(made.operand(1))?);
    }
    let factors: Vec<Value> = made.operands().collect();
    let both = factors[..] == [args[0], args[1]] || factors[..] == [args[1], args[0]];
    (made.name_str() == "arith.mulf" && both).then_some(form)
}

fn is_zero(op: OpRef<'_>, value: Value) -> bool {
    op.constant(value).and_then(|number| op.cx.as_f64(number)) == Some(0.0)
}

fn depends_on_args(form: &ComputeForm<'_>, value: Value) -> bool {
    let (body, mut pending) = (form.op.body, vec![value]);
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(value) = pending.pop() {
        if form.body.args().contains(&value) {
            return true;
        }
        if let Some(op) = body.defining_op(value).filter(|_| seen.insert(value)) {
            pending.extend(body.operands(op));
        }
    }
    false
}

impl Tail {
    /// The ops behind a use of a product up to the last one that scales or adds a constant, whose terms vary only along dimensions of
    /// the product's result that `runs` allows. `None` where nothing scales.
    fn of(form: &ComputeForm<'_>, used: Use, runs: &dyn Fn(usize) -> bool) -> Option<Self> {
        let body = form.op.body;
        let (mut used, mut place) = (used, place::of_result(form)?);
        let mut moves = Vec::new();
        let same_block = |op: Op| body.op_block(op) == body.op_block(form.op.op);
        while let Some(next) = place::behind(form.op.at(used.owner), used.index, &place) {
            if !same_block(used.owner) {
                return None;
            }
            moves.push(used.owner);
            used = only_use(form.op, body.result(used.owner, 0))?;
            place = next;
        }
        let tensor = body.operand(used.owner, used.index);
        let (mut terms, mut last) = (Vec::new(), None);
        while let Some((form, input)) = reader(form.op, used).filter(|_| same_block(used.owner)) {
            let op = form.op;
            let mut number = form.body.args()[input];
            while let Some((term, next)) = Self::term(&form, number, &place, runs) {
                terms.push(term);
                number = next;
                last = Some(Last { op: op.op, input, end: number });
            }
            let Some(end) = form.yielded().filter(|end| end.operand(0) == number) else { break };
            if !op.body.has_one_use(number) || end.num_operands() != 1 {
                break;
            }
            let Some(next) = only_use(op, op.result(0)) else { break };
            used = next;
        }
        let scales = terms.iter().any(|term: &Term| matches!(term.kind, Kind::Mul | Kind::Div));
        last.filter(|_| scales).map(|last| Self { moves, tensor, place, terms, last })
    }

    /// What is done to `number` next, if that is one op with a constant.
    fn term(
        form: &ComputeForm<'_>,
        number: Value,
        place: &Place,
        runs: &dyn Fn(usize) -> bool,
    ) -> Option<(Term, Value)> {
        let (op, cx) = (form.op, form.op.cx);
        let used = only_use(op, number)?;
        let user = op.at(used.owner);
        let kind = match (user.name_str(), used.index) {
            ("arith.addf", _) => Kind::Add,
            ("arith.subf", 0) => Kind::Sub,
            ("arith.subf", _) => Kind::From,
            ("arith.mulf", _) => Kind::Mul,
            ("arith.divf", 0) => Kind::Div,
            _ => return None,
        };
        let recipe = Recipe::of(form, user.operand(1 - used.index))?;
        // The dimension at which a constant is read: none for the only element of one of size 1.
        let dim = |d: usize| match place.get(d)?.as_ref()? {
            parts if parts.is_empty() => Some(None),
            parts => parts.iter().all(|part| runs(*part)).then_some(Some(d)),
        };
        let mut inputs = Vec::new();
        for input in &recipe.inputs {
            let value = op.operand(*input);
            if !is_constant(cx, op.body, value) || form.oob[*input].is_some() {
                return None;
            }
            let dims = cx.map_results(form.input_maps[*input]).iter().map(|expr| match maps::plain_dim(cx, *expr) {
                Some(d) => dim(d),
                None => (maps::constant(cx, *expr) == Some(0)).then_some(None),
            });
            inputs.push((value, dims.collect::<Option<Vec<_>>>()?));
        }
        Some((Term { kind, recipe, inputs }, user.result(0)))
    }
}

fn only_use(view: OpRef<'_>, value: Value) -> Option<Use> {
    let mut uses = view.body.uses(value);
    uses.next().filter(|_| uses.next().is_none())
}

/// The op that reads a tensor, if it does so element by element in its shape, and the number of the input.
fn reader(view: OpRef<'_>, used: Use) -> Option<(ComputeForm<'_>, usize)> {
    let (cx, body) = (view.cx, view.body);
    let form = ComputeForm::of(view.at(used.owner))?;
    let input = used.index;
    let same = |map| {
        maps::is_projection(cx, map)
            && cx.map_results(map).iter().enumerate().all(|(d, expr)| maps::plain_dim(cx, *expr) == Some(d))
            && cx.map_results(map).len() == form.iterators.len()
    };
    let plain = form.is_elementwise() && form.op.num_results() == 1 && input < form.input_maps.len();
    let elem = |v: Value| cx.element_type(body.ty(v));
    let whole = plain && same(form.input_maps[input]) && same(form.result_maps[0]);
    (whole && elem(form.op.result(0)) == elem(form.op.operand(input))).then_some((form, input))
}
