//! Chains of sums, differences, products and quotients with constants behind a product.

use sutura_dialects::arith::FastMathFlags;
use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::{Combiner, ComputeForm, maps};
use sutura_ir::registry::constant_of;
use sutura_ir::{Body, Context, Op, OpRef, Type, Value};

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
    /// The tensors that it is computed from, each with the dimensions of the result at which it is read.
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

/// A product with a constant factor, and the chain behind it.
pub(super) struct Chain {
    pub(super) product: Op,
    /// The number of the constant factor among the inputs.
    pub(super) weights: usize,
    pub(super) weights_value: Value,
    pub(super) elem: Type,
    pub(super) terms: Vec<Term>,
    pub(super) last: Last,
    /// Dimensions of the result along which terms vary.
    pub(super) dims: Vec<usize>,
    /// The dimension of the weights for each of them.
    pub(super) places: Vec<usize>,
    /// Numbers that the product makes.
    points: Poly,
}

impl Chain {
    /// The chain behind `view`; `None` where it is no product with a constant, or nothing scales it.
    pub(super) fn of(view: OpRef<'_>) -> Option<Self> {
        let (cx, body) = (view.cx, view.body);
        let form = ComputeForm::of(view)?;
        let result = view.results().next()?;
        let elem = cx.element_type(view.ty(result));
        let sum = form.combiners == [Combiner::Add] && form.joint.is_none() && view.num_operands() == 2;
        if !sum || view.num_results() != 1 || ![Type::F32, Type::F64].contains(&elem) {
            return None;
        }
        let yielded = form.yielded()?.operand(0);
        let product = body.defining_op(yielded).map(|op| view.at(op)).filter(|op| op.name_str() == "arith.mulf")?;
        let (args, factors): (Vec<Value>, Vec<Value>) = (form.body.args().to_vec(), product.operands().collect());
        if factors != args && factors != [args[1], args[0]] {
            return None;
        }
        let weights = (0..2).find(|i| is_constant(cx, body, view.operand(*i)) && form.oob[*i].is_none())?;
        if is_constant(cx, body, view.operand(1 - weights)) {
            return None;
        }
        // For each dimension of the result the one of the weights that runs with it.
        let own = cx.map_results(form.input_maps[weights]);
        let runs_with: Vec<Option<usize>> = cx
            .map_results(form.result_maps[0])
            .iter()
            .map(|expr| {
                let iterator = maps::plain_dim(cx, *expr)?;
                own.iter().position(|own| maps::plain_dim(cx, *own) == Some(iterator))
            })
            .collect();
        let (terms, last) = Self::terms(view, result, &runs_with)?;
        let mut dims: Vec<usize> =
            terms.iter().flat_map(|t| &t.inputs).flat_map(|(_, d)| d).filter_map(|d| *d).collect();
        dims.sort_unstable();
        dims.dedup();
        let places = dims.iter().map(|d| runs_with[*d]).collect::<Option<Vec<_>>>()?;
        let made = ComputeForm::of(view.at(last.op))?;
        Some(Self {
            product: view.op,
            weights,
            weights_value: view.operand(weights),
            elem,
            terms,
            last,
            dims,
            places,
            points: points(&made)?,
        })
    }

    /// The ops behind the product, up to the last one that scales or adds a constant.
    fn terms(view: OpRef<'_>, result: Value, runs_with: &[Option<usize>]) -> Option<(Vec<Term>, Last)> {
        let (mut terms, mut last) = (Vec::new(), None);
        let mut tensor = result;
        while let Some((form, input)) = reader(view, tensor) {
            let op = form.op;
            let mut number = form.body.args()[input];
            while let Some((term, next)) = Self::term(&form, number, runs_with) {
                terms.push(term);
                number = next;
                last = Some(Last { op: op.op, input, end: number });
            }
            let Some(end) = form.yielded().filter(|end| end.operand(0) == number) else { break };
            if !op.body.has_one_use(number) || end.num_operands() != 1 {
                break;
            }
            tensor = op.result(0);
        }
        let scales = terms.iter().any(|term: &Term| matches!(term.kind, Kind::Mul | Kind::Div));
        last.filter(|_| scales).map(|last| (terms, last))
    }

    /// What is done to `number` next, if that is one op with a constant.
    fn term(form: &ComputeForm<'_>, number: Value, runs_with: &[Option<usize>]) -> Option<(Term, Value)> {
        let (op, cx) = (form.op, form.op.cx);
        if !op.body.has_one_use(number) {
            return None;
        }
        let used = op.body.uses(number).next()?;
        let user = op.at(used.owner);
        let kind = match (user.name_str(), used.index) {
            ("arith.addf", _) => Kind::Add,
            ("arith.subf", 0) => Kind::Sub,
            ("arith.subf", _) => Kind::From,
            ("arith.mulf", _) => Kind::Mul,
            ("arith.divf", 0) => Kind::Div,
            _ => return None,
        };
        let recipe = Recipe::of(form, user.operand(1 - used.index as usize))?;
        let mut inputs = Vec::new();
        for input in &recipe.inputs {
            let value = op.operand(*input);
            if !is_constant(cx, op.body, value) || form.oob[*input].is_some() {
                return None;
            }
            let dims = cx.map_results(form.input_maps[*input]).iter().map(|expr| match maps::plain_dim(cx, *expr) {
                Some(d) => runs_with.get(d).copied().flatten().map(|_| Some(d)),
                None => (maps::constant(cx, *expr) == Some(0)).then_some(None),
            });
            inputs.push((value, dims.collect::<Option<Vec<_>>>()?));
        }
        Some((Term { kind, recipe, inputs }, user.result(0)))
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

/// Elementwise ops through which a constant is followed.
const MAX_DEPTH: usize = 6;

/// True for a constant, and for what elementwise ops make of constants alone: a kernel that the compiler runs.
fn is_constant(cx: &Context, body: &Body, value: Value) -> bool {
    is_made_of_constants(cx, body, value, MAX_DEPTH)
}

fn is_made_of_constants(cx: &Context, body: &Body, value: Value, depth: usize) -> bool {
    if constant_of(body, cx, value).is_some() {
        return true;
    }
    let Some(op) = body.defining_op(value).map(|op| OpRef::new(cx, body, op)).filter(|_| depth > 0) else {
        return false;
    };
    let made = ComputeForm::of(op).is_some_and(|form| form.is_elementwise());
    made && op.num_operands() > 0 && op.operands().all(|v| is_made_of_constants(cx, body, v, depth - 1))
}

/// The one op that reads a tensor, element by element in its shape, and the number of the input.
fn reader<'a>(view: OpRef<'a>, tensor: Value) -> Option<(ComputeForm<'a>, usize)> {
    let (cx, body) = (view.cx, view.body);
    if !body.has_one_use(tensor) {
        return None;
    }
    let used = body.uses(tensor).next()?;
    let form = ComputeForm::of(view.at(used.owner))?;
    let input = used.index as usize;
    let same = |map| {
        maps::is_projection(cx, map)
            && cx.map_results(map).iter().enumerate().all(|(d, expr)| maps::plain_dim(cx, *expr) == Some(d))
            && cx.map_results(map).len() == form.iterators.len()
    };
    let plain = form.is_elementwise() && form.op.num_results() == 1 && input < form.input_maps.len();
    let elem = |v: Value| cx.element_type(body.ty(v));
    let whole = plain && same(form.input_maps[input]) && same(form.result_maps[0]);
    (whole && elem(form.op.result(0)) == elem(tensor)).then_some((form, input))
}
