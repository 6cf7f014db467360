//! Canonicalization patterns of arith operations: constants are gathered, casts and complements shortened.
//!
//! Combined operations drop overflow promises, which need not hold for the combination.

use sutura_ir::op_def::OpView;
use sutura_ir::{Attr, Builder, Context, Op, OpRef, Rewriter, Type, Value, rewrite};

use super::attrs::CmpIPredicate;
use super::ops::*;
use super::ranges::comparison_of_converted;
use crate::constant;

fn view<'s, T: OpView<'s>>(rw: &'s Rewriter<'_>, op: Op) -> Option<T> {
    rw.view::<T>(op)
}

/// A sum or difference of a value and a constant, written `sign * value + offset`.
struct Offset {
    value: Value,
    negated: bool,
    offset: Attr,
}

impl Offset {
    /// What the op that defines `value` computes, when it adds a constant or subtracts one.
    fn of(op: OpRef<'_>, value: Value) -> Option<Self> {
        let def = op.at(op.body.defining_op(value)?);
        if let Some(add) = def.as_::<AddIOp<'_>>() {
            return Some(Self { value: add.lhs(), negated: false, offset: def.constant(add.rhs())? });
        }
        let sub = def.as_::<SubIOp<'_>>()?;
        if let Some(offset) = def.constant(sub.lhs()) {
            return Some(Self { value: sub.rhs(), negated: true, offset });
        }
        let ty = op.ty(value);
        let negative = combine(op.cx, ty, constant::int(op.cx, ty, 0)?, def.constant(sub.rhs())?, i64::wrapping_sub)?;
        Some(Self { value: sub.lhs(), negated: false, offset: negative })
    }
}

/// `f` of two constants of type `ty`, element by element.
fn combine(cx: &Context, ty: Type, a: Attr, b: Attr, f: fn(i64, i64) -> i64) -> Option<Attr> {
    constant::map(cx, ty, &[a, b], |w| Some(f(w[0] as i64, w[1] as i64) as u64))
}

/// Puts `value + offset`, or `offset - value`, in the place of `op`.
fn replace_by_offset(op: Op, rw: &mut Rewriter<'_>, value: Value, negated: bool, offset: Attr) -> Option<()> {
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let offset = ConstantOp::value(rw, loc, offset);
    let new = if negated { SubIOp::value(rw, loc, offset, value) } else { AddIOp::value(rw, loc, value, offset) };
    rw.replace_op(op, &[new]);
    Some(())
}

const NO_OFFSET: &str = "one operand is no constant, or the other one does not add a constant or subtract one";

/// `(±x + c0) + c1` to `±x + (c0 + c1)`.
fn add_of_offset(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let add = view::<AddIOp<'_>>(rw, op)?;
        let this = add.op_ref();
        let inner = Offset::of(this, add.lhs())?;
        let outer = this.constant(add.rhs())?;
        Some((
            inner.value,
            inner.negated,
            combine(this.cx, this.ty(add.rhs()), inner.offset, outer, i64::wrapping_add)?,
        ))
    })();
    let (value, negated, sum) = rw.require(op, found, NO_OFFSET)?;
    replace_by_offset(op, rw, value, negated, sum)
}

/// `(±x + c0) - c1` to `±x + (c0 - c1)`.
fn sub_constant_from_offset(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let sub = view::<SubIOp<'_>>(rw, op)?;
        let this = sub.op_ref();
        let inner = Offset::of(this, sub.lhs())?;
        let outer = this.constant(sub.rhs())?;
        Some((
            inner.value,
            inner.negated,
            combine(this.cx, this.ty(sub.rhs()), inner.offset, outer, i64::wrapping_sub)?,
        ))
    })();
    let (value, negated, difference) = rw.require(op, found, NO_OFFSET)?;
    replace_by_offset(op, rw, value, negated, difference)
}

/// `c1 - (±x + c0)` to `(c1 - c0) ∓ x`.
fn sub_offset_from_constant(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let sub = view::<SubIOp<'_>>(rw, op)?;
        let this = sub.op_ref();
        let inner = Offset::of(this, sub.rhs())?;
        let outer = this.constant(sub.lhs())?;
        Some((
            inner.value,
            !inner.negated,
            combine(this.cx, this.ty(sub.lhs()), outer, inner.offset, i64::wrapping_sub)?,
        ))
    })();
    let (value, negated, difference) = rw.require(op, found, NO_OFFSET)?;
    replace_by_offset(op, rw, value, negated, difference)
}

/// True for a constant whose bits are all set, a splat of it included.
fn all_ones(rw: &Rewriter<'_>, value: Attr) -> bool {
    constant::int_value(rw.cx(), value) == Some(-1)
}

/// True for a constant that is zero, or a splat of it.
fn zero(rw: &Rewriter<'_>, value: Attr) -> bool {
    constant::int_value(rw.cx(), value) == Some(0)
}

/// True for the constant one, or a splat of it; that of `i1` is `true`, which has another name.
fn one_of(rw: &Rewriter<'_>, value: Attr) -> bool {
    constant::int_value(rw.cx(), value) == Some(1)
}

/// True when `extui` makes numbers of type `to` of conditions of type `from`.
fn numbers_by(rw: &Rewriter<'_>, from: Type, to: Type) -> bool {
    let integers = rw.cx().element_type(to).is_signless_integer(rw.cx());
    integers && rw.cx().with_element_type(to, Type::I1) == from && constant::int_width(rw.cx(), to) != Some(1)
}

fn is_equality(predicate: CmpIPredicate) -> bool {
    matches!(predicate, CmpIPredicate::Eq | CmpIPredicate::Ne)
}

rewrite! {
    /// `(a - b) - a` to `0 - b`.
    fn sub_of_difference(rw) {
        SubIOp(SubIOp(a, b), a: ty)
        let Some(zero) = constant::int(rw.cx(), ty, 0);
        => SubIOp(ConstantOp(zero), b)
    }

    /// `(x * c0) * c1` to `x * (c0 * c1)`.
    fn mul_of_product(rw) {
        MulIOp(MulIOp(x, #c0), #c1: ty)
        let Some(product) = combine(rw.cx(), ty, c0, c1, i64::wrapping_mul);
        => MulIOp(x, ConstantOp(product))
    }

    /// `not (x < y)` to `x >= y`.
    fn xor_of_comparison(rw) {
        XOrIOp(CmpIOp(x, y) { predicate: p }, #ones)
        if all_ones(rw, ones)
        => CmpIOp(p.inverted(), x, y)
    }

    /// `c < x` to `x > c`.
    fn comparison_with_constant(rw) {
        root @ CmpIOp(c @ #_constant, x) { predicate: p }
        if rw.op_ref(root).constant(x).is_none()
        => CmpIOp(p.swapped(), x, c)
    }

    /// `select (not c), a, b` to `select c, b, a`.
    fn select_of_complement(rw) {
        SelectOp(XOrIOp(c, #ones), a, b)
        if all_ones(rw, ones)
        => SelectOp(c, b, a)
    }

    /// `select c, false, true` to `not c`.
    fn select_of_booleans(rw) {
        SelectOp(c: ty, #no, #yes) -> ty
        if zero(rw, no) && all_ones(rw, yes)
        => XOrIOp(c, ConstantOp(yes))
    }

    /// `select c, 1, 0` to `extui c`.
    fn select_of_one_and_zero(rw) {
        SelectOp(c: of, #one, #none) -> ty
        if numbers_by(rw, of, ty) && one_of(rw, one) && zero(rw, none)
        => ExtUIOp(c, ty)
    }

    /// `select c, 0, 1` to `extui (not c)`.
    fn select_of_zero_and_one(rw) {
        SelectOp(c: of, #none, #one) -> ty
        if numbers_by(rw, of, ty) && one_of(rw, one) && zero(rw, none)
        let Some(ones) = constant::int(rw.cx(), of, -1);
        => ExtUIOp(XOrIOp(c, ConstantOp(ones)), ty)
    }

    /// `x + y * -1` to `x - y`.
    fn add_of_negative(rw) {
        AddIOp(x, MulIOp(y, #ones))
        if all_ones(rw, ones)
        => SubIOp(x, y)
    }

    /// `x * -1 + y` to `y - x`.
    fn add_to_negative(rw) {
        AddIOp(MulIOp(x, #ones), y)
        if all_ones(rw, ones)
        => SubIOp(y, x)
    }

    /// Sign-extended values are equal when the values are.
    fn comparison_of_extsi(rw) {
        CmpIOp(ExtSIOp(x: a), ExtSIOp(y: b)) { predicate: p }
        if a == b && is_equality(p)
        => CmpIOp(p, x, y)
    }

    /// Zero-extended values are equal when the values are.
    fn comparison_of_extui(rw) {
        CmpIOp(ExtUIOp(x: a), ExtUIOp(y: b)) { predicate: p }
        if a == b && is_equality(p)
        => CmpIOp(p, x, y)
    }

    /// Bit by bit, it does not matter whether values are widened before or after.
    fn andi_of_extui(rw) { AndIOp(ExtUIOp(x: a), ExtUIOp(y: b)) -> ty if a == b => ExtUIOp(AndIOp(x, y), ty) }

    /// The same for copies of the sign.
    fn andi_of_extsi(rw) { AndIOp(ExtSIOp(x: a), ExtSIOp(y: b)) -> ty if a == b => ExtSIOp(AndIOp(x, y), ty) }

    /// The same for `or`.
    fn ori_of_extui(rw) { OrIOp(ExtUIOp(x: a), ExtUIOp(y: b)) -> ty if a == b => ExtUIOp(OrIOp(x, y), ty) }

    /// The same for copies of the sign.
    fn ori_of_extsi(rw) { OrIOp(ExtSIOp(x: a), ExtSIOp(y: b)) -> ty if a == b => ExtSIOp(OrIOp(x, y), ty) }

    /// The same for exclusive `or`.
    fn xori_of_extui(rw) { XOrIOp(ExtUIOp(x: a), ExtUIOp(y: b)) -> ty if a == b => ExtUIOp(XOrIOp(x, y), ty) }

    /// The same for copies of the sign.
    fn xori_of_extsi(rw) { XOrIOp(ExtSIOp(x: a), ExtSIOp(y: b)) -> ty if a == b => ExtSIOp(XOrIOp(x, y), ty) }

    /// `extsi (extui x)` to `extui x`: the sign of a value widened by zeros is zero.
    fn extsi_of_extui(rw) { ExtSIOp(ExtUIOp(x)) -> ty => ExtUIOp(x, ty) }

    /// `extui (extui x)` to `extui x`; what the outer one promises of its operand does not hold for `x`.
    fn extui_of_extui(rw) { ExtUIOp(ExtUIOp(x)) -> ty => ExtUIOp(x, ty) }

    /// `trunci (trunci x)` to `trunci x`; what the outer one promises of its operand does not hold for `x`.
    fn trunci_of_trunci(rw) { TruncIOp(TruncIOp(x)) -> ty => TruncIOp(x, ty) }

    /// `index_cast (extsi x)` to `index_cast x`.
    fn index_cast_of_extsi(rw) { IndexCastOp(ExtSIOp(x)) -> ty => IndexCastOp(x, ty) }

    /// `index_castui (extui x)` to `index_castui x`.
    fn index_castui_of_extui(rw) { IndexCastUIOp(ExtUIOp(x)) -> ty => IndexCastUIOp(x, ty) }
}

/// `select c, (select c, a, b), d` to `select c, a, d`, and likewise on the other side.
fn select_of_select(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = {
        let select = view::<SelectOp<'_>>(rw, op)?;
        let same = |value| rw.def::<SelectOp<'_>>(value).filter(|inner| inner.condition() == select.condition());
        match (same(select.true_value()), same(select.false_value())) {
            (None, None) => None,
            (on_true, on_false) => Some([
                select.condition(),
                on_true.map_or(select.true_value(), |s| s.true_value()),
                on_false.map_or(select.false_value(), |s| s.false_value()),
            ]),
        }
    };
    let operands = rw.require(op, found, "neither side is an `arith.select` on the same condition")?;
    rw.set_operands(op, &operands);
    Some(())
}

/// Puts a cast of `input` in the place of `op`.
fn replace_by_cast(
    op: Op,
    rw: &mut Rewriter<'_>,
    input: Value,
    cast: fn(&mut Builder<'_>, sutura_ir::Loc, Value, Type) -> Value,
) -> Option<()> {
    let (loc, ty) = (rw.body().loc(op), rw.body().ty(rw.body().result(op, 0)));
    rw.set_before(op);
    let new = cast(rw, loc, input, ty);
    rw.replace_op(op, &[new]);
    Some(())
}

/// `trunci (ext x)` to a shorter cast of `x`.
fn trunci_of_ext(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let widened = rw.body().operand(op, 0);
    let signed = rw.def::<ExtSIOp<'_>>(widened).map(|ext| (ext.input(), true));
    let found = signed.or_else(|| Some((rw.def::<ExtUIOp<'_>>(widened)?.input(), false)));
    let (input, signed) = rw.require(op, found, "its operand is not widened by `arith.extsi` or `arith.extui`")?;
    let width = |v| constant::int_width(rw.cx(), rw.body().ty(v));
    let (from, to) = (width(input)?, width(rw.body().result(op, 0))?);
    match from.cmp(&to) {
        // Its fold replaces it.
        std::cmp::Ordering::Equal => rw.notify_match_failure(op, || "the widths are the same".to_string()),
        std::cmp::Ordering::Greater => replace_by_cast(op, rw, input, TruncIOp::value),
        std::cmp::Ordering::Less if signed => replace_by_cast(op, rw, input, ExtSIOp::value),
        std::cmp::Ordering::Less => replace_by_cast(op, rw, input, ExtUIOp::value),
    }
}

/// `truncf (extf x)` to a shorter `truncf x`: to widen a float loses nothing.
fn truncf_of_extf(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let bits = |v| rw.cx().bit_width(rw.cx().element_type(rw.body().ty(v)));
    let found = rw.def::<ExtFOp<'_>>(rw.body().operand(op, 0)).map(|ext| ext.input());
    let found = found.filter(|input| bits(*input) > bits(rw.body().result(op, 0)));
    let input = rw.require(op, found, "it does not shorten what `arith.extf` has widened")?;
    rw.set_operand(op, 0, input);
    Some(())
}

/// `(-a) / (-b)` to `a / b`.
fn divf_of_negations(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let div = view::<DivFOp<'_>>(rw, op)?;
        Some((rw.def::<NegFOp<'_>>(div.lhs())?.operand(), rw.def::<NegFOp<'_>>(div.rhs())?.operand()))
    })();
    let (lhs, rhs) = rw.require(op, found, "not both operands are results of `arith.negf`")?;
    rw.set_operands(op, &[lhs, rhs]);
    Some(())
}

/// `(-a) * (-b)` to `a * b`.
fn mulf_of_negations(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let mul = view::<MulFOp<'_>>(rw, op)?;
        Some((rw.def::<NegFOp<'_>>(mul.lhs())?.operand(), rw.def::<NegFOp<'_>>(mul.rhs())?.operand()))
    })();
    let (lhs, rhs) = rw.require(op, found, "not both operands are results of `arith.negf`")?;
    rw.set_operands(op, &[lhs, rhs]);
    Some(())
}

crate::canonicalization::canonicalizes! {
    AddIOp => add_of_offset, add_of_negative, add_to_negative;
    SubIOp => sub_constant_from_offset, sub_offset_from_constant, sub_of_difference;
    MulIOp => mul_of_product;
    AndIOp => andi_of_extui, andi_of_extsi;
    OrIOp => ori_of_extui, ori_of_extsi;
    XOrIOp => xor_of_comparison, xori_of_extui, xori_of_extsi;
    CmpIOp => comparison_with_constant, comparison_of_extsi, comparison_of_extui;
    CmpFOp => comparison_of_converted;
    SelectOp => select_of_complement, select_of_select, select_of_booleans, select_of_one_and_zero, select_of_zero_and_one;
    ExtSIOp => extsi_of_extui;
    ExtUIOp => extui_of_extui;
    TruncIOp => trunci_of_ext, trunci_of_trunci;
    IndexCastOp => index_cast_of_extsi;
    IndexCastUIOp => index_castui_of_extui;
    TruncFOp => truncf_of_extf;
    DivFOp => divf_of_negations;
    MulFOp => mulf_of_negations;
}
