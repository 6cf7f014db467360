//! Places of a window that read nothing but the padding: of a map of one place a padded 3x3 convolution reads the middle one.
//!
//! They add zeros to each sum, and are left out with their weights, where these are constants and finite. What is left moves no
//! window then, or a smaller one.

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{Combiner, ComputeForm, IteratorKind, ShapeEnv, maps, needless_oob};
use sutura_ir::affine::{AffineExpr, AffineOp};
use sutura_ir::{Attr, Body, Context, Op, OpRef, Rewriter, Type, Value};

use crate::constants::evaluate;

/// A sum of products of a padded tensor and weights, of whose window some places are left out.
pub(super) struct Places {
    /// The inputs that are the tensor and the weights.
    tensor: usize,
    weights: usize,
    /// The place of the window, the first that is left, how many are, and how many there were.
    pub(super) place: usize,
    first: i64,
    count: i64,
    all: i64,
}

impl Places {
    pub(super) fn of(view: OpRef<'_>) -> Option<Self> {
        let (cx, form) = (view.cx, ComputeForm::of(view)?);
        let inputs: Vec<Value> = form.inputs().collect();
        let sums = form.combiners == [Combiner::Add] && form.joint.is_none() && inputs.len() == 2;
        if !sums || !multiplies_both(&form) {
            return None;
        }
        let zero = cx.float_attr(0.0, Type::F32);
        let tensor = (0..2).find(|input| form.oob[*input] == Some(zero))?;
        let weights = 1 - tensor;
        let plain = form.oob[weights].is_none() && maps::is_projection(cx, form.input_maps[weights]);
        let floats = inputs.iter().all(|input| cx.element_type(view.ty(*input)) == Type::F32);
        if !plain || !floats {
            return None;
        }
        let extents: Vec<Option<i64>> = form.extents().iter().map(|extent| extent.as_ref()?.as_const()).collect();
        let shape = symbolic_shape(cx, view.ty(inputs[tensor]))?;
        let index = cx.map_results(form.input_maps[tensor]);
        let along = |(expr, size): (&AffineExpr, &Option<Poly>)| {
            let (place, first, count) = inside(&form, &extents, *expr, size.as_ref()?.as_const()?)?;
            let read = |e: &&AffineExpr| maps::mentions(cx, **e, place);
            let of_weights = cx.map_results(form.input_maps[weights]).iter().filter(read).count();
            let all = extents[place]?;
            let one = index.iter().filter(read).count() == 1 && of_weights == 1;
            (one && count < all).then_some(Self { tensor, weights, place, first, count, all })
        };
        index.iter().zip(&shape).find_map(along)
    }

    /// Leaves the places out. `false` where the weights are no constants, or not finite: then they may add what is no zero.
    pub(super) fn leave_out(&self, rw: &mut Rewriter<'_>, op: Op) -> bool {
        let cx = rw.cx();
        let Some(weights) = self.weights_of_rest(cx, rw.body(), op) else { return false };
        let view = OpRef::new(cx, rw.body(), op);
        let Some(form) = ComputeForm::of(view) else { return false };
        let (dims, symbols) = (form.iterators.len() as u32, form.sizes.len() as u32);
        let moved = |d: usize| {
            let own = cx.affine_dim(d as u32);
            if d == self.place { cx.affine_binary(AffineOp::Add, own, cx.affine_const(self.first)) } else { own }
        };
        let all = form.input_maps.iter().chain(&form.result_maps).enumerate();
        let maps: Vec<Attr> = all
            .map(|(i, map)| {
                let results = cx.map_results(*map).iter();
                let results: Vec<AffineExpr> = match i == self.tensor {
                    true => results.map(|expr| maps::replace_dims(cx, *expr, &moved)).collect(),
                    false => results.copied().collect(),
                };
                cx.affine_map_attr(cx.affine_map(dims, symbols, &results))
            })
            .collect();
        let loc = view.loc();
        rw.set_before(op);
        let constant = GraphBuilder::new(rw, ShapeEnv::default(), loc).constant(weights);
        rw.set_operand(op, self.weights, constant);
        rw.set_prop(op, "maps", Some(cx.array_attr(&maps)));
        if needless_oob(OpRef::new(cx, rw.body(), op)).contains(&self.tensor) {
            rw.set_prop(op, "oob", None);
        }
        true
    }

    /// The weights of the places that are left.
    fn weights_of_rest(&self, cx: &Context, body: &Body, op: Op) -> Option<Attr> {
        let view = OpRef::new(cx, body, op);
        let form = ComputeForm::of(view)?;
        let value = view.operand(self.weights);
        let at = cx.map_results(form.input_maps[self.weights]).iter();
        let along = at.clone().position(|expr| maps::plain_dim(cx, *expr) == Some(self.place))?;
        let mut shape = symbolic_shape(cx, body.ty(value))?;
        let rank = shape.len();
        shape[along] = Some(self.count.into());
        let made = evaluate(cx, body, &[value], |g, inputs| {
            let own: Vec<AffineExpr> = (0..rank).map(|d| g.dim(d)).collect();
            let mut read = own.clone();
            read[along] = g.cx().affine_binary(AffineOp::Add, own[along], g.cx().affine_const(self.first));
            let input = ComputeInput { value: inputs[0], index: read, oob: None };
            let result = ComputeResult { shape, elem: Type::F32, index: own, combiner: None };
            let op = g.compute(&vec![IteratorKind::Parallel; rank], vec![input], vec![result], |_, args| args.to_vec());
            vec![inputs[0], g.b.body().result(op, 0)]
        })?;
        let finite = |word: u64| f32::from_bits(word as u32).is_finite();
        let all = cx.dense(made[0])?.words().all(finite);
        all.then(|| made[1])
    }

    /// In words.
    pub(super) fn said(&self) -> String {
        let Self { place, count, all, .. } = self;
        format!(
            "{} of {all} places of the window along d{place} read nothing but the padding: they are left out",
            all - count
        )
    }
}

/// Whether the body multiplies its two arguments, and does no more.
fn multiplies_both(form: &ComputeForm<'_>) -> bool {
    let product = form.yielded().and_then(|end| form.op.body.defining_op(end.operand(0)));
    let factors = product.map(|op| form.op.at(op)).filter(|op| op.name_str() == "arith.mulf");
    let args = form.body.args();
    factors.is_some_and(|product| {
        let factors: Vec<Value> = product.operands().collect();
        factors == args || factors.iter().rev().eq(args)
    })
}

/// The place of a window that an index runs through, the first place at which something of a dimension of that size is read, and how many
/// there are up to the last one.
fn inside(form: &ComputeForm<'_>, extents: &[Option<i64>], expr: AffineExpr, size: i64) -> Option<(usize, i64, i64)> {
    let linear = maps::linear(form.op.cx, expr, form.iterators.len())?;
    let moving = |dim: &usize| linear.factors[*dim] != 0;
    let is_place = |dim: &usize| form.iterators[*dim] == IteratorKind::Reduce;
    let (places, others): (Vec<usize>, Vec<usize>) = (0..form.iterators.len()).filter(moving).partition(is_place);
    let [place] = places[..] else { return None };
    let step = linear.factors[place];
    if step < 1 || !linear.symbols.is_empty() {
        return None;
    }
    let (mut least, mut most) = (linear.constant, linear.constant);
    for dim in others {
        let reach = linear.factors[dim].checked_mul(extents[dim]?.checked_sub(1)?.max(0))?;
        (least, most) = (least.checked_add(reach.min(0))?, most.checked_add(reach.max(0))?);
    }
    let reads = |at: &i64| {
        step.checked_mul(*at).is_some_and(|at| at.saturating_add(most) >= 0 && at.saturating_add(least) < size)
    };
    let all = extents[place].filter(|all| *all <= MOST_PLACES)?;
    let first = (0..all).find(reads)?;
    let last = (0..all).rev().find(reads)?;
    Some((place, first, last - first + 1))
}

/// Most places of a window along one dim.
const MOST_PLACES: i64 = 1 << 12;
