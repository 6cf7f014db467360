//! Factors of products: elements as they are stored, and tensors of them as an instruction takes them.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{ComputeForm, IteratorKind, maps};
use sutura_ir::affine::AffineExpr;
use sutura_ir::types::{FloatKind, TypeData};
use sutura_ir::{Attr, Context, OpRef, Type, Value};

use crate::region::copies::Copied;

/// What the elements of a factor are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// 8-bit integers.
    Integer,
    /// Floats narrower than f32.
    Float,
    /// Floats of 32 bits, which may be rounded to bf16.
    Wide,
}

/// What is subtracted from each element of a factor.
#[derive(Clone)]
pub(super) enum Zero {
    Known(i64),
    /// An element of an input, at the op's iterators, and more.
    Read {
        input: usize,
        value: Value,
        index: Vec<AffineExpr>,
        more: i64,
    },
}

impl Zero {
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::Known(0))
    }

    pub(super) fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }
}

/// A factor of a sum of products.
pub(super) struct Factor {
    /// The number of the input.
    pub(super) input: usize,
    /// The input that holds its zero point, if one does.
    zero_input: Option<usize>,
    pub(super) kind: Kind,
    /// Integers have no sign.
    pub(super) unsigned: bool,
    zero: Zero,
    value: Value,
    /// The type of one element.
    elem: Type,
    index: Vec<AffineExpr>,
    /// The op's iterators that it runs through, in its order.
    pub(super) dims: Vec<usize>,
    /// The compiler knows its elements.
    pub(super) constant: bool,
}

/// How integers with a sign and those without are apart.
const HALF: i64 = 128;

impl Factor {
    /// The factor that a number in the body of an op is.
    pub(super) fn of(form: &ComputeForm<'_>, number: Value) -> Option<Self> {
        let (op, args) = (form.op, form.body.args());
        let named = |value: Value| op.body.defining_op(value).map(|def| op.at(def));
        let (widened, zero) = match named(number).filter(|def| def.name_str() == "arith.subi") {
            Some(difference) => (difference.operand(0), Some(difference.operand(1))),
            None => (number, None),
        };
        let stored = |value: Value| match named(value) {
            None => Some((value, Kind::Wide, false)),
            Some(def) => match def.name_str() {
                "arith.extf" => Some((def.operand(0), Kind::Float, false)),
                "arith.extsi" => Some((def.operand(0), Kind::Integer, false)),
                "arith.extui" => Some((def.operand(0), Kind::Integer, true)),
                _ => None,
            },
        };
        let (element, kind, unsigned) = stored(widened)?;
        let input = args.iter().position(|arg| *arg == element)?;
        let elem = op.ty(element);
        let fits = match kind {
            Kind::Integer => elem == Type::I8,
            Kind::Float => op.cx.bit_width(elem) == Some(16),
            Kind::Wide => elem == Type::F32,
        };
        let (zero, zero_input) = match zero {
            None => (Zero::Known(0), None),
            Some(zero) => zero_point(form, zero, unsigned)?,
        };
        let map = form.input_maps[input];
        let plain = maps::is_projection(op.cx, map) && !maps::mentions_sizes(op.cx, map);
        if !fits || form.oob[input].is_some() || !plain {
            return None;
        }
        let (value, index) = copied_from(form, input);
        let dims = index.iter().filter_map(|expr| maps::plain_dim(op.cx, *expr)).collect();
        let constant = is_constant(op, value);
        Some(Self { input, zero_input, kind, unsigned, zero, value, elem, index, dims, constant })
    }

    pub(super) fn inputs(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.input).chain(self.zero_input)
    }

    pub(super) fn has(&self, dim: usize) -> bool {
        self.dims.contains(&dim)
    }

    /// The type of the elements that are multiplied.
    pub(super) fn stored_as(&self, cx: &Context) -> Type {
        match self.kind {
            Kind::Wide => cx.ty(TypeData::Float(FloatKind::BF16)),
            _ => self.elem,
        }
    }

    /// The zero point of the elements that are multiplied, where they were moved to have a sign or none.
    pub(super) fn zero_of(&self, moved: bool, unsigned: bool) -> Zero {
        let by = match (moved, unsigned) {
            (false, _) => 0,
            (true, true) => HALF,
            (true, false) => -HALF,
        };
        match self.zero.clone() {
            Zero::Known(zero) => Zero::Known(zero + by),
            Zero::Read { input, value, index, more } => Zero::Read { input, value, index, more: more + by },
        }
    }

    /// Whether the compiler knows the zero point.
    pub(super) fn knows_zero(&self) -> bool {
        self.zero.is_known()
    }

    /// The factor as an input of a product whose dims have these extents: with `last` innermost, if that is given.
    pub(super) fn tensor(
        &self,
        g: &mut GraphBuilder<'_, '_>,
        (extents, last): (&[Poly], Option<usize>),
        moved: bool,
        padded: bool,
    ) -> ComputeInput {
        let cx = g.cx();
        let innermost =
            self.index.iter().rev().find_map(|expr| maps::plain_dim(cx, *expr).filter(|d| extents[*d] != 1.into()));
        let lies = last.is_none_or(|last| innermost == Some(last));
        if lies && !moved && !padded && self.kind != Kind::Wide {
            return ComputeInput { value: self.value, index: self.index.clone(), oob: None };
        }
        let mut dims = self.dims.clone();
        if let Some(last) = last {
            dims.retain(|dim| *dim != last);
            dims.push(last);
        }
        // Beyond its end a factor is its zero point, so that products there are zero; one of both factors is enough.
        let outside = padded.then(|| match self.elem.is_float(cx) {
            true => cx.float_attr(0.0, self.elem),
            false => cx.int_attr(self.stored_zero(), self.elem),
        });
        let stored = self.stored_as(cx);
        self.made(g, (&dims, extents), (stored, outside), |s, x| match (self.kind, moved) {
            (Kind::Wide, _) => s.cast(x, stored),
            (_, true) => {
                let half = s.int(-HALF, stored);
                s.op("arith.xori", &[x, half], stored)
            }
            _ => x,
        })
    }

    /// The zero point as an element; 0 where it is read.
    fn stored_zero(&self) -> i64 {
        match self.zero {
            Zero::Known(zero) if zero >= HALF => zero - 2 * HALF,
            Zero::Known(zero) => zero,
            Zero::Read { .. } => 0,
        }
    }

    /// The factor as a tensor of f32.
    pub(super) fn widened(&self, g: &mut GraphBuilder<'_, '_>, extents: &[Poly]) -> ComputeInput {
        if self.kind == Kind::Wide {
            return ComputeInput { value: self.value, index: self.index.clone(), oob: None };
        }
        self.made(g, (&self.dims, extents), (Type::F32, None), |s, x| s.cast(x, Type::F32))
    }

    fn made(
        &self,
        g: &mut GraphBuilder<'_, '_>,
        (dims, extents): (&[usize], &[Poly]),
        (elem, outside): (Type, Option<Attr>),
        function: impl FnOnce(&mut sutura_dialects::graph::build::Scalars<'_, '_>, Value) -> Value,
    ) -> ComputeInput {
        let cx = g.cx();
        let own: Vec<AffineExpr> = (0..dims.len()).map(|d| g.dim(d)).collect();
        let place = |expr: &AffineExpr| {
            let at = maps::plain_dim(cx, *expr).and_then(|dim| dims.iter().position(|own| *own == dim));
            at.map_or(*expr, |at| own[at])
        };
        let read = ComputeInput { value: self.value, index: self.index.iter().map(place).collect(), oob: outside };
        let shape = dims.iter().map(|dim| Some(extents[*dim].clone())).collect();
        let made = ComputeResult { shape, elem, index: own, combiner: None };
        let kinds = vec![IteratorKind::Parallel; dims.len()];
        let op = g.compute(&kinds, vec![read], vec![made], |s, args| vec![function(s, args[0])]);
        let index = dims.iter().map(|dim| g.dim(*dim)).collect();
        ComputeInput { value: g.b.body().result(op, 0), index, oob: None }
    }
}

/// The tensor that an input is, or is a copy of, and where it is read.
fn copied_from(form: &ComputeForm<'_>, input: usize) -> (Value, Vec<AffineExpr>) {
    let (op, cx) = (form.op, form.op.cx);
    let (mut value, mut index) = (op.operand(input), cx.map_results(form.input_maps[input]).to_vec());
    while let Some(copy) = op.body.defining_op(value).and_then(|def| Copied::of(op.at(def))) {
        let read = copy.read_at(cx, &index);
        let map = cx.affine_map(form.iterators.len() as u32, 0, &read);
        if !maps::is_projection(cx, map) {
            break;
        }
        (value, index) = (copy.source, read);
    }
    (value, index)
}

/// A zero point, and the input that holds it, if one does.
fn zero_point(form: &ComputeForm<'_>, zero: Value, unsigned: bool) -> Option<(Zero, Option<usize>)> {
    let op = form.op;
    if let Some(zero) = op.constant(zero).and_then(|attr| op.cx.as_int(attr)) {
        return in_range(zero, unsigned).then_some((Zero::Known(zero), None));
    }
    let widened = op.body.defining_op(zero).map(|def| op.at(def))?;
    let name = if unsigned { "arith.extui" } else { "arith.extsi" };
    let input = form.body.args().iter().position(|arg| widened.operands().next() == Some(*arg))?;
    let elem = op.ty(form.body.args()[input]);
    if widened.name_str() != name || elem != Type::I8 || form.oob[input].is_some() {
        return None;
    }
    let value = op.operand(input);
    let constant = sutura_ir::registry::constant_of(op.body, op.cx, value).and_then(|all| op.cx.splat_value(all));
    if let Some(number) = constant.and_then(|number| op.cx.as_int(number)) {
        let zero = if unsigned { number & 0xff } else { number };
        return in_range(zero, unsigned).then_some((Zero::Known(zero), Some(input)));
    }
    let index = op.cx.map_results(form.input_maps[input]).to_vec();
    let parallel = |expr: &AffineExpr| match maps::plain_dim(op.cx, *expr) {
        Some(dim) => form.iterators[dim] == IteratorKind::Parallel,
        None => maps::constant(op.cx, *expr).is_some(),
    };
    let read = index.iter().all(parallel) && !maps::mentions_sizes(op.cx, form.input_maps[input]);
    read.then_some((Zero::Read { input, value, index, more: 0 }, Some(input)))
}

fn in_range(zero: i64, unsigned: bool) -> bool {
    if unsigned { (0..2 * HALF).contains(&zero) } else { (-HALF..HALF).contains(&zero) }
}

/// Whether the compiler knows a tensor: it is a constant, or made from constants element by element.
fn is_constant(op: OpRef<'_>, value: Value) -> bool {
    let Some(def) = op.body.defining_op(value).map(|def| op.at(def)) else { return false };
    match def.name_str() {
        "graph.constant" | "arith.constant" => true,
        "graph.compute" => def.num_operands() > 0 && def.operands().all(|input| is_constant(def, input)),
        _ => false,
    }
}
