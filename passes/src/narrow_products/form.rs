//! Sums of products as the pass reads them, and what it makes of them.

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::{Facts, Poly};
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{Combiner, ComputeForm, IteratorKind, ShapeEnv, SymShape, maps};
use sutura_dialects::target::RegisterTile;
use sutura_ir::affine::AffineExpr;
use sutura_ir::{Attr, Context, Op, OpRef, Rewriter, Type, Value};

use super::Unit;
use super::factor::{Factor, Kind, Zero};
use crate::region::contract::NARROW;

/// A sum of products of elements of two tensors.
pub(super) struct Product {
    /// The factor with the rows of the result, and the one with its last dim.
    factors: [Factor; 2],
    iterators: Vec<IteratorKind>,
    extents: Vec<Poly>,
    /// The dim that is summed over whose places are multiplied together.
    last: usize,
    index: Vec<AffineExpr>,
    shape: SymShape,
    /// Type of the result's elements.
    elem: Type,
}

impl Product {
    /// `None` for an op that is no sum of products of narrow numbers, or of `f32` that is rounded to such; of the products of attention
    /// one factor is narrow at least.
    pub(super) fn of(view: OpRef<'_>, facts: &Facts, rounds: bool, of_attention: bool) -> Option<Self> {
        let (cx, form) = (view.cx, ComputeForm::of(view)?);
        let sums = form.combiners == [Combiner::Add] && form.joint.is_none() && view.num_results() == 1;
        if !sums || view.attr(NARROW).is_some() {
            return None;
        }
        let yielded = form.yielded()?.operand(0);
        let product = view.body.defining_op(yielded).map(|op| view.at(op))?;
        if !matches!(product.name_str(), "arith.muli" | "arith.mulf") {
            return None;
        }
        let elem = cx.element_type(view.ty(view.result(0)));
        let acc = view.ty(yielded);
        if accumulator_type(cx, elem) != acc || !matches!(acc, Type::F32 | Type::I32) {
            return None;
        }
        let [a, b] = [0, 1].map(|side| Factor::of(&form, product.operand(side)));
        let (a, b) = (a?, b?);
        let used = form.op.num_operands() == a.inputs().count() + b.inputs().count();
        let kinds = [a.kind, b.kind];
        let fit = match of_attention {
            true => kinds.contains(&Kind::Float) && !kinds.contains(&Kind::Integer),
            false => (rounds || !kinds.contains(&Kind::Wide)) && a.stored_as(cx) == b.stored_as(cx),
        };
        if !fit || a.input == b.input || !used {
            return None;
        }
        let extents: Vec<Poly> = form.extents().into_iter().collect::<Option<_>>()?;
        let index = cx.map_results(form.result_maps[0]).to_vec();
        let order: Vec<usize> = index.iter().filter_map(|expr| maps::plain_dim(cx, *expr)).collect();
        let wide = |dim: &&usize| extents[**dim].as_const() != Some(1);
        let last_of_result = *order.iter().rev().find(wide)?;
        let factors = match (a.has(last_of_result), b.has(last_of_result)) {
            (false, true) => [a, b],
            (true, false) => [b, a],
            _ => return None,
        };
        let reduced: Vec<usize> = form.of_kind(IteratorKind::Reduce).collect();
        let shared = |dim: &usize| factors.iter().all(|factor| factor.has(*dim));
        let spread = order.iter().any(|dim| wide(&dim) && !factors.iter().any(|factor| factor.has(*dim)));
        if reduced.is_empty() || !reduced.iter().all(shared) || spread {
            return None;
        }
        // Products with a dim of all three are those of attention: they are another family of regions.
        if !of_attention && factors[0].kind == Kind::Wide && order.iter().any(|dim| wide(&dim) && shared(dim)) {
            return None;
        }
        let last =
            factors[0].dims.iter().rev().find(|dim| reduced.contains(dim) && extents[**dim].as_const() != Some(1));
        let last = last.or(factors[0].dims.iter().rev().find(|dim| reduced.contains(dim)))?;
        if facts.range(&extents[*last]).1 <= 0 {
            return None;
        }
        let shape = symbolic_shape(cx, view.ty(view.result(0)))?;
        Some(Self { last: *last, factors, iterators: form.iterators.clone(), extents, index, shape, elem })
    }

    /// True for a product of matrices of narrow floats.
    pub(super) fn multiplies_floats(&self) -> bool {
        let [left, right] = &self.factors;
        let rows = left.dims.iter().any(|dim| !right.has(*dim) && self.extents[*dim] != 1.into());
        rows && self.factors.iter().all(|factor| factor.kind == Kind::Float)
    }

    /// The machine's instruction that takes least to turn the factors to.
    pub(super) fn instruction(&self, cx: &Context, dots: &[RegisterTile]) -> Option<Unit> {
        // Beyond the end of a sum one of the factors must be its zero point.
        let padding = |tile: &RegisterTile| self.extents[self.last].rem(tile.kr).as_const() != Some(0);
        let ends = |tile: &RegisterTile| self.factors.iter().any(Factor::knows_zero) || !padding(tile);
        let elem = self.factors[0].stored_as(cx);
        let acc = accumulator_type(cx, self.elem);
        let price = |unit: &Unit| {
            let of = |side: usize| {
                let (own, other) = (&self.factors[side], &self.factors[1 - side]);
                let moved = i64::from(unit.moved[side] && !own.constant);
                // What the other factor sums to is known where it is a constant.
                moved + 2 * i64::from(!own.zero_of(unit.moved[side], unit.unsigned[side]).is_none() && !other.constant)
            };
            of(0) + of(1)
        };
        let integers = self.factors[0].kind == Kind::Integer;
        let units = dots.iter().filter(|tile| tile.operand == elem && tile.acc == acc && ends(tile)).map(|tile| Unit {
            name: tile.name.clone(),
            elem,
            acc,
            group: tile.kr,
            unsigned: tile.unsigned,
            moved: [0, 1].map(|side| integers && self.factors[side].unsigned != tile.unsigned[side]),
        });
        units.min_by_key(price)
    }

    /// Puts the product of narrow tensors in the place of the op.
    pub(super) fn apply(&self, rw: &mut Rewriter<'_>, op: Op, unit: &Unit) {
        rw.set_before(op);
        let loc = rw.body().loc(op);
        let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
        let mut extents = self.extents.clone();
        extents[self.last] = extents[self.last].ceildiv(unit.group).scale(unit.group);
        let padded = extents != self.extents;
        let inputs = [0, 1].map(|side| {
            let last = (side == 0).then_some(self.last);
            self.factors[side].tensor(&mut g, (&extents, last), unit.moved[side], padded)
        });
        let (integers, unsigned) = (unit.acc == Type::I32, unit.unsigned);
        let result = |elem| ComputeResult {
            shape: self.shape.clone(),
            elem,
            index: self.index.clone(),
            combiner: Some(Combiner::Add),
        };
        let product = g.compute(&self.iterators, inputs.to_vec(), vec![result(unit.acc)], |s, args| {
            let wide = [0, 1].map(|side| match (integers, unsigned[side]) {
                (true, true) => s.op("arith.extui", &[args[side]], unit.acc),
                (true, false) => s.op("arith.extsi", &[args[side]], unit.acc),
                (false, _) => s.op("arith.extf", &[args[side]], unit.acc),
            });
            vec![s.mul(wide[0], wide[1])]
        });
        g.b.set_attr(product, NARROW, Some(Attr::UNIT));
        let value = g.b.body().result(product, 0);
        let zeros = [0, 1].map(|side| self.factors[side].zero_of(unit.moved[side], unsigned[side]));
        let value = self.compensated(&mut g, (value, &inputs), (&extents, zeros), unit);
        let value = if unit.acc == self.elem { value } else { g.cast(value, self.elem).unwrap_or(value) };
        rw.replace_op(op, &[value]);
    }

    /// What the product is of numbers less their zero points.
    fn compensated(
        &self,
        g: &mut GraphBuilder<'_, '_>,
        (value, inputs): (Value, &[ComputeInput; 2]),
        (extents, zeros): (&[Poly], [Zero; 2]),
        unit: &Unit,
    ) -> Value {
        if zeros.iter().all(Zero::is_none) {
            return value;
        }
        let own: Vec<AffineExpr> = (0..self.shape.len()).map(|d| g.dim(d)).collect();
        let place = |dim: usize| self.index.iter().position(|e| maps::plain_dim(g.cx(), *e) == Some(dim));
        let behind: Vec<Option<AffineExpr>> = (0..extents.len()).map(|dim| place(dim).map(|at| own[at])).collect();
        let nowhere = g.cx().affine_const(0);
        let mut read = vec![ComputeInput { value, index: own.clone(), oob: None }];
        // What is read of each: the sum of the other factor, and the zero point.
        let mut terms: Vec<(&Zero, usize, Option<usize>)> = Vec::new();
        for side in [0, 1] {
            let zero = &zeros[side];
            if zero.is_none() {
                continue;
            }
            let (sum, dims) = self.sum_of(g, &inputs[1 - side], extents, unit.unsigned[1 - side]);
            let index = dims.iter().map(|dim| behind[*dim].unwrap_or(nowhere)).collect();
            read.push(ComputeInput { value: sum, index, oob: None });
            let at = read.len() - 1;
            if let Zero::Read { value, index, .. } = zero {
                let cx = g.cx();
                let moved = |e: &AffineExpr| maps::plain_dim(cx, *e).map_or(*e, |dim| behind[dim].unwrap_or(nowhere));
                read.push(ComputeInput { value: *value, index: index.iter().map(moved).collect(), oob: None });
            }
            terms.push((zero, at, (!zero.is_known()).then(|| read.len() - 1)));
        }
        let reduced = (0..extents.len()).filter(|dim| self.iterators[*dim] == IteratorKind::Reduce);
        let places = Poly::product(reduced.map(|dim| &extents[dim]));
        let made = ComputeResult { shape: self.shape.clone(), elem: Type::I32, index: own, combiner: None };
        let kinds = vec![IteratorKind::Parallel; self.shape.len()];
        let unsigned = [0, 1].map(|side| self.factors[side].unsigned);
        let sides: Vec<usize> = [0, 1].into_iter().filter(|side| !zeros[*side].is_none()).collect();
        let op = g.compute(&kinds, read, vec![made], |s, args| {
            let mut value = args[0];
            let mut numbers = Vec::new();
            for ((zero, sum, read), side) in terms.iter().zip(&sides) {
                let number = match (zero, read) {
                    (Zero::Read { more, .. }, Some(at)) => {
                        let name = if unsigned[*side] { "arith.extui" } else { "arith.extsi" };
                        let (wide, more) = (s.op(name, &[args[*at]], Type::I32), s.int(*more, Type::I32));
                        s.add(wide, more)
                    }
                    (Zero::Known(zero), _) => s.int(*zero, Type::I32),
                    _ => unreachable!("what is read has an input"),
                };
                let less = s.mul(args[*sum], number);
                value = s.sub(value, less);
                numbers.push(number);
            }
            if let [left, right] = numbers[..] {
                let size = s.size(&places);
                let (size, both) = (s.cast(size, Type::I32), s.mul(left, right));
                let both = s.mul(size, both);
                value = s.add(value, both);
            }
            vec![value]
        });
        g.b.body().result(op, 0)
    }

    /// A factor summed along what the product sums over, and the iterators that its dims are.
    fn sum_of(
        &self,
        g: &mut GraphBuilder<'_, '_>,
        input: &ComputeInput,
        extents: &[Poly],
        unsigned: bool,
    ) -> (Value, Vec<usize>) {
        let cx = g.cx();
        let dims: Vec<usize> = input.index.iter().filter_map(|expr| maps::plain_dim(cx, *expr)).collect();
        let own = |dim: usize| dims.iter().position(|other| *other == dim);
        let index = input.index.iter().map(|expr| match maps::plain_dim(cx, *expr).and_then(own) {
            Some(at) => g.dim(at),
            None => *expr,
        });
        let read = ComputeInput { index: index.collect(), ..input.clone() };
        let kept: Vec<usize> =
            dims.iter().copied().filter(|dim| self.iterators[*dim] != IteratorKind::Reduce).collect();
        let kinds: Vec<IteratorKind> = dims.iter().map(|dim| self.iterators[*dim]).collect();
        let made = ComputeResult {
            shape: kept.iter().map(|dim| Some(extents[*dim].clone())).collect(),
            elem: Type::I32,
            index: kept.iter().map(|dim| g.dim(own(*dim).expect("one of them"))).collect(),
            combiner: Some(Combiner::Add),
        };
        let name = if unsigned { "arith.extui" } else { "arith.extsi" };
        let op = g.compute(&kinds, vec![read], vec![made], |s, args| vec![s.op(name, &[args[0]], Type::I32)]);
        (g.b.body().result(op, 0), kept)
    }

    /// Puts a product of tensors of f32 in the place of one of narrow floats.
    pub(super) fn widen(&self, rw: &mut Rewriter<'_>, op: Op) {
        rw.set_before(op);
        let loc = rw.body().loc(op);
        let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
        let inputs = [0, 1].map(|side| self.factors[side].widened(&mut g, &self.extents));
        let (shape, index) = (self.shape.clone(), self.index.clone());
        let result = ComputeResult { shape, elem: Type::F32, index, combiner: Some(Combiner::Add) };
        let product =
            g.compute(&self.iterators, inputs.to_vec(), vec![result], |s, args| vec![s.mul(args[0], args[1])]);
        let value = g.b.body().result(product, 0);
        let value = if self.elem == Type::F32 { value } else { g.cast(value, self.elem).unwrap_or(value) };
        rw.replace_op(op, &[value]);
    }
}
