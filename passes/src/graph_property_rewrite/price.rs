//! What a rewrite saves: scalar operations weighted by what they take, and bytes as if each op were a kernel.

use std::collections::BTreeMap;
use std::rc::Rc;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_ir::{Body, Context, Op, OpRef, Value};

use super::expr::{Element, Expr, Kind};
use crate::region::cost::{element_bytes, op_cost};

/// Operations, in units of an addition, and bytes moved.
#[derive(Clone, Debug)]
pub(super) struct Price {
    pub(super) work: Poly,
    pub(super) bytes: Poly,
}

impl std::fmt::Display for Price {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} operations and {} bytes", self.work, self.bytes)
    }
}

/// What goes with an expression: operations, and the ops whose results only it read.
#[derive(Default)]
pub(super) struct Gone {
    work: Option<Poly>,
    /// In the order of their numbers.
    computes: BTreeMap<u32, Op>,
    /// What is computed once for more than one place.
    once: Vec<Rc<()>>,
}

fn weight(name: &str) -> i64 {
    i64::from(op_cost(name))
}

impl Gone {
    fn add(&mut self, work: &Poly) {
        self.work = Some(self.work.as_ref().map_or_else(|| work.clone(), |sum| sum.add(work)));
    }

    /// An op that goes.
    pub(super) fn op(&mut self, name: &str, points: &Poly) {
        self.add(&points.scale(weight(name)));
    }

    /// What goes when nothing uses `expr` any more.
    pub(super) fn take(&mut self, expr: &Expr) {
        let (Kind::Op(name, args), Some(owner)) = (&expr.kind, &expr.goes) else { return };
        self.add(&owner.points.scale(weight(name)));
        if let Some(compute) = owner.compute {
            self.computes.insert(compute.index() as u32, compute);
        }
        self.take_args(args);
    }

    /// What goes with the operands of an op; one that is used twice goes once.
    pub(super) fn take_args(&mut self, args: &[Expr]) {
        for (i, arg) in args.iter().enumerate() {
            if arg.here.is_none() || args[..i].iter().all(|other| other.here != arg.here) {
                self.take(arg);
            }
        }
    }

    /// What stays, or is new, when `expr` is computed at `points` points: what holds it already is read.
    fn keep(&mut self, expr: &Expr, points: &Poly, reads: &mut Vec<Element>, here: bool) {
        if here && expr.here.is_some() {
            return self.take(expr);
        }
        if let Some(element) = expr.stored.as_ref() {
            if !reads.contains(element) {
                reads.push(element.clone());
            }
            return self.take(expr);
        }
        if let Kind::Op(name, args) = &expr.kind {
            if self.once.iter().any(|once| expr.is_the_same_one(once)) {
                return;
            }
            self.once.extend(expr.once.clone());
            self.add(&points.scale(weight(name)));
            args.iter().for_each(|arg| self.keep(arg, points, reads, here));
        }
    }
}

/// Bytes of a tensor; `None` where a size is unknown.
pub(super) fn bytes(cx: &Context, body: &Body, tensor: Value) -> Option<Poly> {
    let ty = body.ty(tensor);
    let sizes = symbolic_shape(cx, ty)?.into_iter().collect::<Option<Vec<_>>>()?;
    Some(Poly::product(&sizes).scale(element_bytes(cx, cx.element_type(ty))))
}

/// What goes, and what comes in its place.
pub(super) struct Change {
    pub(super) before: Price,
    pub(super) after: Price,
}

impl Change {
    /// Where `gone` goes, `exprs` are computed at `points` points each, from values `here` or from tensors.
    pub(super) fn of(op: OpRef<'_>, gone: &Gone, exprs: &[&Expr], points: &Poly, here: bool) -> Option<Self> {
        let (mut kept, mut reads) = (Gone::default(), Vec::new());
        exprs.iter().for_each(|expr| kept.keep(expr, points, &mut reads, here));
        let size = |tensor: Value| bytes(op.cx, op.body, tensor);
        let mut before = Poly::constant(0);
        for (_, compute) in gone.computes.iter().filter(|(number, _)| !kept.computes.contains_key(number)) {
            let compute = op.at(*compute);
            before = before.add(&size(compute.result(0))?.scale(2));
            for input in compute.operands() {
                before = before.add(&size(input)?);
            }
        }
        let mut after = Poly::constant(0);
        for (tensor, _) in &reads {
            after = after.add(&size(*tensor)?);
        }
        let work = |gone: &Gone| gone.work.clone().unwrap_or_else(|| Poly::constant(0));
        Some(Self {
            before: Price { work: work(gone), bytes: before },
            after: Price { work: work(&kept), bytes: after },
        })
    }

    /// Adds what is the same whatever the expression is.
    pub(super) fn and(mut self, before: &Poly, after: &Poly, bytes: &Poly) -> Self {
        self.before.work = self.before.work.add(before);
        self.after.work = self.after.work.add(after);
        self.after.bytes = self.after.bytes.add(bytes);
        self
    }

    /// Checks that neither operations nor bytes become more, and one becomes less, at all sizes.
    ///
    /// # Errors
    /// Says which figure speaks against it.
    pub(super) fn pays(&self, facts: &Facts) -> Result<(), String> {
        let Self { before, after } = self;
        for (what, was, is) in [("operations", &before.work, &after.work), ("bytes", &before.bytes, &after.bytes)] {
            if !facts.prove_le(is, was) {
                let word = if facts.prove_le(was, is) { "would become" } else { "may become more:" };
                return Err(format!("{was} {what} {word} {is}"));
            }
        }
        let equal = facts.prove_equal(&before.work, &after.work) && facts.prove_equal(&before.bytes, &after.bytes);
        if equal { Err(format!("it stays at {before}")) } else { Ok(()) }
    }
}
