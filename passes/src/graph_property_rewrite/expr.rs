//! What a scalar op computes, seen through the elementwise ops that made the tensors it reads.

use std::rc::Rc;

use sutura_dialects::arith::FastMathFlags;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::{ComputeForm, maps};
use sutura_ir::affine::{AffineExpr, AffineExprData};
use sutura_ir::{Attr, Body, Context, Op, OpRef, Type, Value};

/// An element of a tensor: the tensor, and an index in the iterators of the op that is looked at.
pub(crate) type Element = (Value, Vec<AffineExpr>);

/// What a number is made of.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// An element that is read.
    Read(Element),
    /// A number that rules do not look into, in the body of the op that is looked at.
    Opaque(Value),
    /// A constant.
    Const(Attr),
    /// An op of [`KNOWN`].
    Op(&'static str, Vec<Expr>),
}

/// A number.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: Kind,
    pub(super) ty: Type,
    /// Fast-math flags of an op.
    pub(super) flags: FastMathFlags,
    /// The value that is this number in the body of the op that is looked at.
    pub(super) here: Option<Value>,
    /// The tensor that holds this number already.
    pub(super) stored: Option<Element>,
    /// The op that computes it, if that goes when what uses it goes.
    pub(super) goes: Option<Owner>,
    /// Shared by all places of an expression in which this is one number, which is computed once.
    pub(super) once: Option<Rc<()>>,
}

/// Where a scalar op is computed, and how often.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    /// Points at which it is computed.
    pub(super) points: Poly,
    /// The `graph.compute` that goes with it, if that is not the one that is looked at.
    pub(super) compute: Option<Op>,
}

/// Ops that rules know.
const KNOWN: &[&str] = &[
    "arith.addf",
    "arith.subf",
    "arith.mulf",
    "arith.divf",
    "arith.negf",
    "arith.maximumf",
    "arith.minimumf",
    "math.absf",
    "math.exp",
    "math.log",
    "math.sqrt",
    "math.tanh",
];

/// Elementwise ops through which a number is followed.
const MAX_DEPTH: usize = 4;

impl Expr {
    /// A new op.
    pub(super) fn op(name: &'static str, args: Vec<Self>, ty: Type, flags: FastMathFlags) -> Self {
        Self { kind: Kind::Op(name, args), ty, flags, here: None, stored: None, goes: None, once: None }
    }

    /// A constant.
    pub(super) fn constant(value: Attr, ty: Type) -> Self {
        Self {
            kind: Kind::Const(value),
            ty,
            flags: FastMathFlags::ALL,
            here: None,
            stored: None,
            goes: None,
            once: None,
        }
    }

    /// The operands, if it is an op of this name.
    pub(super) fn args_of(&self, name: &str) -> Option<&[Self]> {
        match &self.kind {
            Kind::Op(own, args) if *own == name => Some(args),
            _ => None,
        }
    }

    /// The same number at every point, whatever made it.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Read(a), Kind::Read(b)) => a == b,
            (Kind::Opaque(a), Kind::Opaque(b)) => a == b,
            (Kind::Const(a), Kind::Const(b)) => a == b,
            (Kind::Op(a, x), Kind::Op(b, y)) => a == b && x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.same(y)),
            _ => false,
        }
    }

    /// Every element that it reads, and `false` if there is anything that is none.
    pub(super) fn reads<'e>(&'e self, into: &mut Vec<&'e Element>) -> bool {
        match &self.kind {
            Kind::Read(element) => into.push(element),
            Kind::Opaque(_) => return false,
            Kind::Const(_) => {}
            Kind::Op(_, args) => return args.iter().all(|a| a.reads(into)),
        }
        true
    }
}

/// Points of the iteration space of an op; `None` where a size is unknown.
pub(crate) fn points(form: &ComputeForm<'_>) -> Option<Poly> {
    Some(Poly::product(&form.extents().into_iter().collect::<Option<Vec<_>>>()?))
}

/// Follows the numbers of one op's body.
pub(super) struct Reader<'a> {
    pub(super) form: ComputeForm<'a>,
    points: Poly,
    /// What the op's own iterators are; `None` for the op that is looked at.
    inner: Option<(Vec<AffineExpr>, bool)>,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// For the op that is looked at.
    pub(super) fn new(form: ComputeForm<'a>) -> Option<Self> {
        Some(Self { points: points(&form)?, form, inner: None, depth: 0 })
    }

    /// The number that `value`, of the body, is; `None` where an op between is not known.
    pub(super) fn read(&self, value: Value) -> Option<Expr> {
        let op = self.form.op;
        let ty = op.ty(value);
        let here = self.inner.is_none().then_some(value);
        let leaf = |kind| Expr { kind, ty, flags: FastMathFlags::ALL, here, stored: None, goes: None, once: None };
        if let Some(input) = self.form.body.args().iter().position(|arg| *arg == value) {
            return self.input(input, value);
        }
        if let Some(number) = op.constant(value) {
            return Some(leaf(Kind::Const(number)));
        }
        let known = op.body.defining_op(value).map(|d| op.at(d)).and_then(|d| Some((d, known_name(d)?)));
        let Some((def, name)) = known else {
            return here.map(|value| leaf(Kind::Opaque(value)));
        };
        let args = def.operands().map(|v| self.read(v)).collect::<Option<Vec<_>>>()?;
        let sole = has_one_user(op.body, value);
        let compute = self.inner.as_ref().and_then(|(_, goes)| goes.then_some(op.op));
        let goes = sole && (compute.is_some() || self.inner.is_none());
        let goes = goes.then(|| Owner { points: self.points.clone(), compute });
        Some(Expr { kind: Kind::Op(name, args), ty, flags: flags_of(def), here, stored: None, goes, once: None })
    }

    /// An element of an input, or what the elementwise op computes that made it.
    fn input(&self, input: usize, arg: Value) -> Option<Expr> {
        let (op, cx) = (self.form.op, self.form.op.cx);
        let here = self.inner.is_none().then_some(arg);
        let ty = op.ty(arg);
        let leaf = |kind| Expr { kind, ty, flags: FastMathFlags::ALL, here, stored: None, goes: None, once: None };
        if self.form.oob[input].is_some() || maps::mentions_sizes(cx, self.form.input_maps[input]) {
            return here.map(|value| leaf(Kind::Opaque(value)));
        }
        let own = cx.map_results(self.form.input_maps[input]);
        let index: Vec<AffineExpr> = match &self.inner {
            None => own.to_vec(),
            Some((iterators, _)) => own.iter().map(|e| substitute(cx, *e, iterators)).collect::<Option<_>>()?,
        };
        let element = (op.operand(input), index);
        if let Some(made) = self.producer(&element, arg) {
            return Some(Expr { here, stored: Some(element), ..made });
        }
        Some(Expr { stored: Some(element.clone()), ..leaf(Kind::Read(element)) })
    }

    fn producer(&self, (tensor, index): &Element, arg: Value) -> Option<Expr> {
        let op = self.form.op;
        let (body, cx) = (op.body, op.cx);
        let form = ComputeForm::of(op.at(body.defining_op(*tensor)?))?;
        if self.depth == MAX_DEPTH || form.op.num_results() != 1 || !form.is_elementwise() {
            return None;
        }
        let goes =
            body.has_one_use(*tensor) && has_one_user(body, arg) && self.inner.as_ref().is_none_or(|(_, goes)| *goes);
        let mut iterators = vec![cx.affine_const(0); form.iterators.len()];
        for (expr, at) in cx.map_results(form.result_maps[0]).iter().zip(index) {
            if let Some(i) = maps::plain_dim(cx, *expr) {
                iterators[i] = *at;
            }
        }
        let value = form.yielded()?.operand(0);
        let points = points(&form)?;
        let made = Reader { points, form, inner: Some((iterators, goes)), depth: self.depth + 1 }.read(value)?;
        matches!(made.kind, Kind::Op(..)).then_some(made)
    }
}

/// True when one op uses the value, however often.
fn has_one_user(body: &Body, value: Value) -> bool {
    let mut users = body.uses(value).map(|u| u.owner);
    let first = users.next();
    users.all(|user| Some(user) == first)
}

fn known_name(op: OpRef<'_>) -> Option<&'static str> {
    let name = KNOWN.iter().copied().find(|name| *name == op.name_str())?;
    op.result_types().all(|ty| ty.is_float(op.cx)).then_some(name)
}

fn flags_of(op: OpRef<'_>) -> FastMathFlags {
    op.prop("fastmath").and_then(|a| op.cx.attr_as::<FastMathFlags>(a).copied()).unwrap_or(FastMathFlags::NONE)
}

/// An expression with other ones in place of its iterators.
pub(crate) fn substitute(cx: &Context, expr: AffineExpr, iterators: &[AffineExpr]) -> Option<AffineExpr> {
    match cx.affine_data(expr) {
        AffineExprData::Const(_) => Some(expr),
        AffineExprData::Dim(i) => iterators.get(i as usize).copied(),
        AffineExprData::Symbol(_) => None,
        AffineExprData::Binary(op, a, b) => {
            Some(cx.affine_binary(op, substitute(cx, a, iterators)?, substitute(cx, b, iterators)?))
        }
    }
}
