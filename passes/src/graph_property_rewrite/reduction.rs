//! `sum(x * c)` to `c * sum(x)` for factors that do not depend on what is summed over.

use sutura_dialects::arith::FastMathFlags;
use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{Combiner, ComputeForm, IteratorKind, ShapeEnv, maps};
use sutura_ir::affine::AffineExpr;
use sutura_ir::{Op, OpRef, Rewriter, Value};

use super::emit::{Given, Grown, Inputs, emit};
use super::expr::{Expr, Kind, Reader, points, substitute};
use super::price::{Change, Gone, bytes};
use super::rules::REORDER;

/// A sum whose factors are told apart.
pub(super) struct Hoist {
    /// The product of the factors that go behind the sum.
    out: Expr,
    /// What is still summed.
    rest: Expr,
    pub(super) has: FastMathFlags,
    pub(super) change: Change,
}

/// The rule's name.
pub(super) const RULE: &str = "sum(x * c) = sum(x) * c";

impl Hoist {
    /// Looks at a sum; `None` where it has no such factor.
    pub(super) fn of(view: OpRef<'_>) -> Option<Self> {
        let form = ComputeForm::of(view)?;
        let iterators = form.iterators.clone();
        let reduced = |i: usize| iterators[i] == IteratorKind::Reduce;
        let [Combiner::Add] = form.combiners[..] else { return None };
        let yielded = form.yielded()?.operand(0);
        let elem = view.cx.element_type(view.ty(view.result(0)));
        if !form.has_reduction() || !elem.is_float(view.cx) || view.ty(yielded) != elem {
            return None;
        }
        let all = points(&form)?;
        let few = Poly::product(
            &form.of_kind(IteratorKind::Parallel).map(|i| form.extents()[i].clone()).collect::<Option<Vec<_>>>()?,
        );
        let product = Reader::new(form)?.read(yielded)?;
        let (mut factors, mut has) = (Vec::new(), FastMathFlags::ALL);
        flatten(&product, &mut factors, &mut has);
        let fixed = |expr: &Expr| {
            let mut reads = Vec::new();
            let plain = expr.reads(&mut reads);
            let mentions = |e: &AffineExpr| (0..iterators.len()).any(|i| reduced(i) && maps::mentions(view.cx, *e, i));
            plain && !reads.iter().any(|(_, index)| index.iter().any(mentions))
        };
        let (out, rest): (Vec<Expr>, Vec<Expr>) = factors.into_iter().partition(fixed);
        let rest = rest.into_iter().reduce(|a, b| Expr::op("arith.mulf", vec![a, b], product.ty, has))?;
        let last = out.first()?;
        if !covers(view, &rest, &iterators) {
            return None;
        }
        let mut gone = Gone::default();
        gone.take(&product);
        let scale =
            out[1..].iter().fold(last.clone(), |a, b| Expr::op("arith.mulf", vec![a, b.clone()], product.ty, has));
        let summed = Change::of(view, &gone, &[&rest], &all, true)?;
        let behind = Change::of(view, &Gone::default(), &[&scale], &few, false)?;
        let moved = bytes(view.cx, view.body, view.result(0))?.scale(2).add(&behind.after.bytes);
        let change = summed.and(&Poly::constant(0), &behind.after.work.add(&few), &moved);
        Some(Self { out: scale, rest, has, change })
    }

    /// Moves the factors, and says what that saves.
    pub(super) fn apply(self, rw: &mut Rewriter<'_>, op: Op) -> Option<Change> {
        let cx = rw.cx();
        let view = OpRef::new(cx, rw.body(), op);
        let form = ComputeForm::of(view)?;
        let (loc, result, block) = (view.loc(), view.result(0), form.body.block);
        let terminator = form.yielded()?.op;
        let shape = symbolic_shape(cx, view.ty(result))?;
        let elem = cx.element_type(view.ty(result));
        // The result's dimensions are the iterators behind the sum.
        let mut iterators = vec![cx.affine_const(0); form.iterators.len()];
        let own: Vec<AffineExpr> = (0..shape.len()).map(|d| cx.affine_dim(d as u32)).collect();
        for (d, expr) in cx.map_results(form.result_maps[0]).iter().enumerate() {
            if let Some(i) = maps::plain_dim(cx, *expr) {
                iterators[i] = own[d];
            }
        }
        let mut elements = Vec::new();
        Given::collect(&mut elements, &self.out);
        let index = |at: &[AffineExpr]| at.iter().map(|e| substitute(cx, *e, &iterators)).collect();
        let mut inputs = vec![ComputeInput { value: result, index: own.clone(), oob: None }];
        inputs.extend(Given::inputs(&elements, &index)?);
        // From here on the program changes.
        rw.set_before(terminator);
        let rest = emit(rw, loc, &mut Grown { op, block }, &self.rest);
        rw.set_operand(terminator, 0, rest);
        rw.set_after(op);
        let made = ComputeResult { shape: shape.clone(), elem, index: own, combiner: None };
        let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
        let scaled = g.compute(&vec![IteratorKind::Parallel; shape.len()], inputs, vec![made], |_, args| vec![args[0]]);
        let new = OpRef::new(cx, rw.body(), scaled);
        let form = ComputeForm::of(new).expect("a structured op");
        let terminator = form.yielded().expect("it has a body").op;
        let (args, value) = (form.body.args().to_vec(), new.result(0));
        rw.set_before(terminator);
        let mut given = Given { elements, args: args[1..].to_vec() };
        let product = scale(rw, &mut given, args[0], &self.out, self.has, loc);
        rw.set_operand(terminator, 0, product);
        rw.replace_uses_if(result, value, |_, user, _| user != scaled);
        Some(self.change)
    }
}

/// The sum times what stood in it.
fn scale(
    rw: &mut Rewriter<'_>,
    given: &mut dyn Inputs,
    sum: Value,
    factor: &Expr,
    flags: FastMathFlags,
    loc: sutura_ir::Loc,
) -> Value {
    let sum = Expr { here: None, kind: Kind::Opaque(sum), ..factor.clone() };
    let sum = Expr { stored: None, goes: None, ..sum };
    emit(rw, loc, given, &Expr::op("arith.mulf", vec![sum, factor.clone()], factor.ty, flags))
}

/// The factors of a product, and the flags that all its multiplications have.
fn flatten(expr: &Expr, factors: &mut Vec<Expr>, has: &mut FastMathFlags) {
    match expr.args_of("arith.mulf") {
        Some([a, b]) => {
            *has = has.and(expr.flags);
            flatten(a, factors, has);
            flatten(b, factors, has);
        }
        _ => factors.push(expr.clone()),
    }
}

/// Whether what is left still says how far every iterator runs that is summed over.
fn covers(view: OpRef<'_>, rest: &Expr, iterators: &[IteratorKind]) -> bool {
    let mut reads = Vec::new();
    rest.reads(&mut reads);
    let plain = |i: usize| reads.iter().any(|(_, index)| index.iter().any(|e| maps::plain_dim(view.cx, *e) == Some(i)));
    iterators.iter().enumerate().all(|(i, kind)| *kind == IteratorKind::Parallel || plain(i))
}

/// What the rule needs.
pub(super) const NEEDS: FastMathFlags = REORDER;
