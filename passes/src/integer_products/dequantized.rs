//! Elementwise ops that turn stored integers into numbers: `(x - zero) * scale`.

use sutura_dialects::graph::{ComputeForm, maps};
use sutura_ir::affine::AffineExpr;
use sutura_ir::{Attr, Context, OpRef, Type, Value};

use crate::graph_property_rewrite::substitute;

/// Magnitudes of scales that are no constants of this range overflow or vanish in products.
const LARGEST: f64 = (1u64 << 60) as f64;

/// A tensor at indices of the op that reads it.
pub(super) type Element = (Value, Vec<AffineExpr>);

/// What is subtracted from stored elements.
#[derive(Clone)]
pub(super) enum Zero {
    Known(i64),
    Read(Element),
}

/// What differences are multiplied by.
#[derive(Clone)]
pub(super) enum Scale {
    Known(f64),
    Read(Element),
}

/// Stored integers that stand for numbers, as one op reads them.
#[derive(Clone)]
pub(super) struct Dequantized {
    pub(super) stored: Element,
    /// The type of an element in a body.
    pub(super) elem: Type,
    /// Elements have no sign.
    pub(super) unsigned: bool,
    pub(super) zero: Zero,
    pub(super) scale: Scale,
    /// The greatest magnitude of a difference.
    pub(super) most: i128,
    /// All scales are constants in a range where no product overflows or vanishes.
    pub(super) tame: bool,
    /// All scales are powers of two, and `tame`.
    pub(super) exact: bool,
}

impl Dequantized {
    /// What makes the tensor `value`, seen at `index`; `None` where it is made otherwise.
    pub(super) fn of(reader: OpRef<'_>, value: Value, index: &[AffineExpr]) -> Option<Self> {
        let op = reader.at(reader.body.defining_op(value)?);
        let form = ComputeForm::of(op)?;
        let f32s = op.num_results() == 1 && reader.cx.element_type(op.ty(value)) == Type::F32;
        if !f32s || !form.is_elementwise() {
            return None;
        }
        let product = named(op, form.yielded()?.operand(0), "arith.mulf")?;
        [(0, 1), (1, 0)]
            .into_iter()
            .find_map(|(number, scale)| Self::of_product(&form, index, product.operand(number), product.operand(scale)))
    }

    fn of_product(form: &ComputeForm<'_>, index: &[AffineExpr], number: Value, scale: Value) -> Option<Self> {
        let op = form.op;
        let from = named(op, number, "arith.sitofp").or_else(|| named(op, number, "arith.uitofp"))?;
        let integer = from.operand(0);
        let (wide, zero) = match named(op, integer, "arith.subi") {
            Some(difference) => (difference.operand(0), Some(difference.operand(1))),
            None => (integer, None),
        };
        let (stored, unsigned) = match widened(op, wide) {
            Some(found) => found,
            // Elements that are converted as they are.
            None if zero.is_none() => (wide, from.name_str() == "arith.uitofp"),
            None => return None,
        };
        let bits = op.cx.bit_width(op.ty(stored)).filter(|bits| *bits <= 16)?;
        let (least, most) =
            if unsigned { (0, (1i128 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) };
        let zero = match zero {
            None => Zero::Known(0),
            Some(zero) => match op.constant(zero).and_then(|number| op.cx.as_int(number)) {
                Some(zero) => Zero::Known(zero),
                None => {
                    let (input, unsigned_zero) = widened(op, zero)?;
                    if unsigned_zero != unsigned || op.ty(input) != op.ty(stored) {
                        return None;
                    }
                    let (tensor, index) = read(form, index, input)?;
                    splat(op, tensor, unsigned).map_or(Zero::Read((tensor, index)), Zero::Known)
                }
            },
        };
        let most = match &zero {
            Zero::Known(zero) => (most - i128::from(*zero)).abs().max((least - i128::from(*zero)).abs()),
            Zero::Read(_) => most - least,
        };
        let scale = match op.constant(scale).and_then(|number| op.cx.as_f64(number)) {
            Some(scale) => Scale::Known(scale),
            None => Scale::Read(read(form, index, scale)?),
        };
        let numbers = match &scale {
            Scale::Known(scale) => Some(vec![*scale]),
            Scale::Read((tensor, _)) => constants(op, *tensor),
        };
        let tame = numbers.as_ref().is_some_and(|all| all.iter().all(|scale| is_tame(*scale)));
        let exact = tame && numbers.is_some_and(|all| all.iter().all(|scale| *scale > 0.0 && is_power_of_two(*scale)));
        Some(Self {
            stored: whole(form, index, stored)?,
            elem: op.ty(stored),
            unsigned,
            zero,
            scale,
            most,
            tame,
            exact,
        })
    }
}

impl Dequantized {
    /// The integer, if an element can be it.
    pub(super) fn holds(&self, cx: &Context, number: i64) -> Option<i64> {
        let bits = cx.bit_width(self.elem)?;
        let fits = if self.unsigned {
            (0..1 << bits).contains(&number)
        } else {
            (-(1 << (bits - 1))..1 << (bits - 1)).contains(&number)
        };
        fits.then_some(number)
    }

    /// An integer that an element can be, as an element: one without sign has the bits of one with a sign.
    pub(super) fn constant(&self, cx: &Context, number: i64) -> Attr {
        let bits = cx.bit_width(self.elem).unwrap_or(8);
        let turned = self.unsigned && number >= 1 << (bits - 1);
        cx.int_attr(if turned { number - (1 << bits) } else { number }, self.elem)
    }
}

/// The op that makes a value, if it has this name.
fn named<'a>(op: OpRef<'a>, value: Value, name: &str) -> Option<OpRef<'a>> {
    op.body.defining_op(value).map(|def| op.at(def)).filter(|def| def.name_str() == name)
}

/// What is extended to 32 bits, and whether without its sign.
fn widened(op: OpRef<'_>, value: Value) -> Option<(Value, bool)> {
    let def = op.body.defining_op(value).map(|def| op.at(def)).filter(|def| def.ty(value) == Type::I32)?;
    match def.name_str() {
        "arith.extsi" => Some((def.operand(0), false)),
        "arith.extui" => Some((def.operand(0), true)),
        _ => None,
    }
}

/// An input of `form` at the place where `form`'s result is read at `index`.
fn read(form: &ComputeForm<'_>, index: &[AffineExpr], arg: Value) -> Option<Element> {
    let cx = form.op.cx;
    let input = form.body.args().iter().position(|own| *own == arg)?;
    if maps::mentions_sizes(cx, form.input_maps[input]) {
        return None;
    }
    let mut iterators = vec![cx.affine_const(0); form.iterators.len()];
    for (expr, at) in cx.map_results(form.result_maps[0]).iter().zip(index) {
        if let Some(i) = maps::plain_dim(cx, *expr) {
            iterators[i] = *at;
        }
    }
    let own = cx.map_results(form.input_maps[input]).iter();
    let index = own.map(|expr| substitute(cx, *expr, &iterators)).collect::<Option<Vec<_>>>()?;
    Some((form.op.operand(input), index))
}

/// An input that has the same elements as the result, so that what lies outside one lies outside the other.
fn whole(form: &ComputeForm<'_>, index: &[AffineExpr], arg: Value) -> Option<Element> {
    let cx = form.op.cx;
    let input = form.body.args().iter().position(|own| *own == arg)?;
    let dims: Option<Vec<usize>> =
        cx.map_results(form.input_maps[input]).iter().map(|expr| maps::plain_dim(cx, *expr)).collect();
    let mut dims = dims?;
    dims.sort_unstable();
    if !dims.into_iter().eq(0..form.iterators.len()) {
        return None;
    }
    let results = cx.map_results(form.result_maps[0]);
    (results.iter().all(|expr| maps::plain_dim(cx, *expr).is_some())).then(|| read(form, index, arg)).flatten()
}

/// The integer that all elements of a constant are.
fn splat(op: OpRef<'_>, tensor: Value, unsigned: bool) -> Option<i64> {
    let constant = sutura_ir::registry::constant_of(op.body, op.cx, tensor)?;
    let number = op.cx.as_int(op.cx.splat_value(constant)?)?;
    let bits = op.cx.bit_width(op.cx.element_type(op.ty(tensor))).filter(|bits| *bits < 64)?;
    Some(if unsigned { number & ((1 << bits) - 1) } else { number })
}

/// The numbers of a constant.
fn constants(op: OpRef<'_>, tensor: Value) -> Option<Vec<f64>> {
    let constant = sutura_ir::registry::constant_of(op.body, op.cx, tensor)?;
    let dense = op.cx.dense(constant)?;
    (0..dense.len()).map(|i| op.cx.as_f64(dense.attr(i))).collect()
}

fn is_tame(scale: f64) -> bool {
    (1.0 / LARGEST..=LARGEST).contains(&scale.abs())
}

fn is_power_of_two(value: f64) -> bool {
    value.to_bits() & ((1 << 52) - 1) == 0
}
