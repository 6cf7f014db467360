//! Folding of arith operations.
//!
//! Integers fold with the exact width of their type, floats with one correct rounding. What would be undefined
//! behaviour or poison (division by zero, shifts by the width or more, floats out of an integer's range) and results
//! that are NaN, whose bits are the machine's choice, stay as they are.

use sutura_ir::float::{from_f64, to_f64};
use sutura_ir::op_def::{Fold, FoldValue, OpView};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::types::FloatKind;
use sutura_ir::{Attr, Context, OpRef, Type, Value};

use super::attrs::{CmpFPredicate, CmpIPredicate, FastMathFlags, IntegerOverflowFlags};
use super::ops::*;
use crate::constant::{self, mask, sign_extend};

/// An op with the constants that its operands are.
struct Args<'a> {
    op: OpRef<'a>,
    constants: &'a [Option<Attr>],
}

type Folded = Option<FoldValue>;

impl<'a> Args<'a> {
    fn cx(&self) -> &'a Context {
        self.op.cx
    }

    /// Type of the result.
    fn ty(&self) -> Type {
        self.op.ty(self.op.result(0))
    }

    fn value(&self, index: usize) -> Value {
        self.op.operand(index)
    }

    fn take(&self, index: usize) -> Folded {
        Some(FoldValue::Value(self.value(index)))
    }

    fn same_operands(&self) -> bool {
        self.value(0) == self.value(1)
    }

    /// The integer that operand `index` is, or all of its elements are.
    fn int(&self, index: usize) -> Option<i64> {
        constant::int_value(self.cx(), self.constants[index]?)
    }

    /// True when operand `index` is `value`, wrapped to its width.
    fn is_int(&self, index: usize, value: i64) -> bool {
        let width = constant::int_width(self.cx(), self.op.ty(self.value(index)));
        let wrapped = width.map(|w| sign_extend(value as u64, w));
        wrapped.is_some() && self.int(index) == wrapped
    }

    /// The float that operand `index` is, or all of its elements are.
    fn float(&self, index: usize) -> Option<f64> {
        constant::float_value(self.cx(), self.constants[index]?)
    }

    /// True when operand `index` is `value`, with this sign of zero.
    fn is_float(&self, index: usize, value: f64) -> bool {
        self.float(index).is_some_and(|f| f.to_bits() == value.to_bits())
    }

    fn fastmath(&self, flags: FastMathFlags) -> bool {
        let found = self.op.prop("fastmath").and_then(|a| self.cx().attr_as::<FastMathFlags>(a));
        found.is_some_and(|f| f.has(flags))
    }

    /// The op that defines operand `index`, as a `T`.
    fn def<T: OpView<'a>>(&self, index: usize) -> Option<T> {
        self.def_of(self.value(index))
    }

    fn def_of<T: OpView<'a>>(&self, value: Value) -> Option<T> {
        self.op.at(self.op.body.defining_op(value)?).as_::<T>()
    }

    fn constant(&self, attr: Option<Attr>) -> Folded {
        attr.map(FoldValue::Attr)
    }

    /// The integer constant `value` of the result's type.
    fn int_result(&self, value: i64) -> Folded {
        self.constant(constant::int(self.cx(), self.ty(), value))
    }

    /// Folds constant integer operands element by element.
    fn ints(&self, f: impl Fn(i64, i64, u32) -> Option<i64>) -> Folded {
        let width = constant::int_width(self.cx(), self.op.ty(self.value(0)))?;
        let inputs = [self.constants[0]?, self.constants[1]?];
        let word = |w: &[u64]| f(sign_extend(w[0], width), sign_extend(w[1], width), width).map(|v| v as u64);
        self.constant(constant::map(self.cx(), self.ty(), &inputs, word))
    }

    /// The same on the unsigned values.
    fn unsigned(&self, f: impl Fn(u64, u64) -> Option<u64>) -> Folded {
        self.ints(|a, b, width| f(a as u64 & mask(width), b as u64 & mask(width)).map(|v| v as i64))
    }

    /// Folds constant float operands element by element, rounding once.
    fn floats(&self, f: impl Fn(f64, f64) -> f64) -> Folded {
        let kind = ieee_kind(self.cx(), self.ty())?;
        let inputs = [self.constants[0]?, self.constants[1]?];
        let word = |w: &[u64]| round(kind, f(to_f64(kind, w[0]), to_f64(kind, w[1])));
        self.constant(constant::map(self.cx(), self.ty(), &inputs, word))
    }

    /// Folds a constant operand element by element.
    fn unary(&self, f: impl Fn(u64) -> Option<u64>) -> Folded {
        self.constant(constant::map(self.cx(), self.ty(), &[self.constants[0]?], |w| f(w[0])))
    }
}

/// The kind of a float-like type whose arithmetic `f64` followed by one rounding computes exactly.
///
/// With at most 24 significant bits, sums, products and quotients of `f64` round to the right neighbour.
fn ieee_kind(cx: &Context, ty: Type) -> Option<FloatKind> {
    use FloatKind::{BF16, F16, F32, F64};
    cx.float_kind(cx.element_type(ty)).filter(|k| matches!(k, F16 | BF16 | F32 | F64))
}

fn round(kind: FloatKind, value: f64) -> Option<u64> {
    (!value.is_nan()).then(|| from_f64(kind, value))
}

/// Implements folding by a function of the op's constants.
macro_rules! folds {
    ($($op:ident => $fold:expr;)*) => {$(
        impl Fold for $op<'_> {
            fn fold(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
                let fold: fn(&Args<'_>) -> Folded = $fold;
                Some(smallvec![fold(&Args { op, constants })?])
            }
        }
    )*};
}

folds! {
    AddIOp => addi;
    SubIOp => subi;
    MulIOp => muli;
    ShLIOp => |a| shift(a, |v, by, _| v << by);
    ShRUIOp => |a| shift(a, |v, by, width| ((v as u64 & mask(width)) >> by) as i64);
    ShRSIOp => |a| shift(a, |v, by, _| v >> by);
    DivUIOp => |a| divide(a, |a| of_product(a, IntegerOverflowFlags::NUW).or_else(|| a.unsigned(u64::checked_div)));
    DivSIOp => |a| divide(a, |a| of_product(a, IntegerOverflowFlags::NSW).or_else(|| a.ints(signed(i64::checked_div))));
    CeilDivUIOp => |a| divide(a, |a| a.unsigned(|x, y| (y != 0).then(|| x.div_ceil(y))));
    CeilDivSIOp => |a| divide(a, |a| a.ints(signed(ceil_div)));
    FloorDivSIOp => |a| divide(a, |a| a.ints(signed(floor_div)));
    RemUIOp => |a| remainder(a, |a| a.unsigned(u64::checked_rem));
    RemSIOp => |a| remainder(a, |a| a.ints(|x, y, _| (y != 0).then(|| x.wrapping_rem(y))));
    AndIOp => andi;
    OrIOp => ori;
    XOrIOp => xori;
    MaxSIOp => |a| extremum(a, |w| (signed_max(w), signed_min(w)), |a| a.ints(|x, y, _| Some(x.max(y))));
    MinSIOp => |a| extremum(a, |w| (signed_min(w), signed_max(w)), |a| a.ints(|x, y, _| Some(x.min(y))));
    MaxUIOp => |a| extremum(a, |_| (-1, 0), |a| a.unsigned(|x, y| Some(x.max(y))));
    MinUIOp => |a| extremum(a, |_| (0, -1), |a| a.unsigned(|x, y| Some(x.min(y))));
    AddFOp => addf;
    SubFOp => |a| if a.is_float(1, 0.0) { a.take(0) } else { a.floats(|x, y| x - y) };
    MulFOp => mulf;
    DivFOp => |a| if a.is_float(1, 1.0) { a.take(0) } else { a.floats(|x, y| x / y) };
    RemFOp => |a| a.floats(|x, y| x % y);
    MaximumFOp => |a| float_extremum(a, f64::NEG_INFINITY, |x, y| if x.is_nan() || y.is_nan() { f64::NAN } else { larger(x, y) });
    MinimumFOp => |a| float_extremum(a, f64::INFINITY, |x, y| if x.is_nan() || y.is_nan() { f64::NAN } else { -larger(-x, -y) });
    MaxNumFOp => |a| float_extremum(a, f64::NAN, |x, y| number(x, y, larger));
    MinNumFOp => |a| float_extremum(a, f64::NAN, |x, y| number(x, y, |x, y| -larger(-x, -y)));
    NegFOp => negf;
    CmpIOp => cmpi;
    CmpFOp => cmpf;
    SelectOp => select;
    ExtUIOp => |a| a.unary(Some);
    ExtSIOp => |a| int_cast(a, sign_extend);
    TruncIOp => trunci;
    IndexCastOp => |a| int_cast(a, sign_extend);
    IndexCastUIOp => |a| a.unary(Some);
    BitcastOp => |a| a.unary(Some);
    UIToFPOp => |a| int_to_float(a, |word, _| word as i128);
    SIToFPOp => |a| int_to_float(a, |word, width| sign_extend(word, width) as i128);
    FPToUIOp => |a| float_to_int(a, |width| (0.0, 2f64.powi(width as i32)));
    FPToSIOp => |a| float_to_int(a, |width| (-2f64.powi(width as i32 - 1), 2f64.powi(width as i32 - 1)));
    ExtFOp => float_cast;
    TruncFOp => truncf;
}

// ---- integers

fn addi(a: &Args<'_>) -> Folded {
    if a.is_int(1, 0) {
        return a.take(0);
    }
    if a.is_int(0, 0) {
        return a.take(1);
    }
    for (difference, other) in [(0, 1), (1, 0)] {
        if let Some(sub) = a.def::<SubIOp<'_>>(difference)
            && sub.rhs() == a.value(other)
        {
            return Some(FoldValue::Value(sub.lhs()));
        }
    }
    a.ints(|x, y, _| Some(x.wrapping_add(y)))
}

fn subi(a: &Args<'_>) -> Folded {
    if a.same_operands() {
        return a.int_result(0);
    }
    if a.is_int(1, 0) {
        return a.take(0);
    }
    if let Some(sum) = a.def::<AddIOp<'_>>(0) {
        if sum.rhs() == a.value(1) {
            return Some(FoldValue::Value(sum.lhs()));
        }
        if sum.lhs() == a.value(1) {
            return Some(FoldValue::Value(sum.rhs()));
        }
    }
    a.ints(|x, y, _| Some(x.wrapping_sub(y)))
}

fn muli(a: &Args<'_>) -> Folded {
    for (this, other) in [(0, 1), (1, 0)] {
        if a.is_int(this, 0) {
            return a.constant(a.constants[this]);
        }
        if a.is_int(this, 1) {
            return a.take(other);
        }
    }
    a.ints(|x, y, _| Some(x.wrapping_mul(y)))
}

fn shift(a: &Args<'_>, f: impl Fn(i64, u32, u32) -> i64) -> Folded {
    if a.is_int(1, 0) {
        return a.take(0);
    }
    a.ints(|v, by, width| {
        let by = by as u64 & mask(width);
        (by < u64::from(width)).then(|| f(v, by as u32, width))
    })
}

fn divide(a: &Args<'_>, fold: impl Fn(&Args<'_>) -> Folded) -> Folded {
    if a.is_int(1, 1) { a.take(0) } else { fold(a) }
}

/// `(x * y) / y` is `x` when the product is promised not to overflow.
fn of_product(a: &Args<'_>, flags: IntegerOverflowFlags) -> Folded {
    let product = a.def::<MulIOp<'_>>(0)?;
    let promised = product.op_ref().prop("overflowFlags").and_then(|f| a.cx().attr_as::<IntegerOverflowFlags>(f));
    promised.filter(|f| f.has(flags))?;
    if product.rhs() == a.value(1) {
        return Some(FoldValue::Value(product.lhs()));
    }
    (product.lhs() == a.value(1)).then(|| FoldValue::Value(product.rhs()))
}

fn remainder(a: &Args<'_>, fold: impl Fn(&Args<'_>) -> Folded) -> Folded {
    if a.is_int(1, 1) { a.int_result(0) } else { fold(a) }
}

/// A signed division that gives nothing for a zero divisor or when the quotient does not fit the width.
fn signed(divide: fn(i64, i64) -> Option<i64>) -> impl Fn(i64, i64, u32) -> Option<i64> {
    move |x, y, width| divide(x, y).filter(|q| sign_extend(*q as u64, width) == *q)
}

fn ceil_div(x: i64, y: i64) -> Option<i64> {
    let (quotient, rest) = (x.checked_div(y)?, x.checked_rem(y)?);
    Some(quotient + i64::from(rest != 0 && (rest < 0) == (y < 0)))
}

fn floor_div(x: i64, y: i64) -> Option<i64> {
    let (quotient, rest) = (x.checked_div(y)?, x.checked_rem(y)?);
    Some(quotient - i64::from(rest != 0 && (rest < 0) != (y < 0)))
}

fn signed_max(width: u32) -> i64 {
    i64::MAX >> (64 - width)
}

fn signed_min(width: u32) -> i64 {
    i64::MIN >> (64 - width)
}

/// The operand of `x` that is complemented, when `x` is an exclusive or with all ones.
fn complement_of(a: &Args<'_>, value: Value) -> Option<Value> {
    let not = a.def_of::<XOrIOp<'_>>(value)?;
    let ones = constant::int_value(a.cx(), a.op.constant(not.rhs())?)?;
    (ones == -1).then(|| not.lhs())
}

fn complementary(a: &Args<'_>) -> bool {
    complement_of(a, a.value(0)) == Some(a.value(1)) || complement_of(a, a.value(1)) == Some(a.value(0))
}

fn andi(a: &Args<'_>) -> Folded {
    for (this, other) in [(0, 1), (1, 0)] {
        if a.is_int(this, 0) {
            return a.constant(a.constants[this]);
        }
        if a.is_int(this, -1) {
            return a.take(other);
        }
        if a.def::<AndIOp<'_>>(this).is_some_and(|and| [and.lhs(), and.rhs()].contains(&a.value(other))) {
            return a.take(this);
        }
    }
    if a.same_operands() {
        return a.take(0);
    }
    if complementary(a) {
        return a.int_result(0);
    }
    a.ints(|x, y, _| Some(x & y))
}

fn ori(a: &Args<'_>) -> Folded {
    for (this, other) in [(0, 1), (1, 0)] {
        if a.is_int(this, 0) {
            return a.take(other);
        }
        if a.is_int(this, -1) {
            return a.constant(a.constants[this]);
        }
        if a.def::<OrIOp<'_>>(this).is_some_and(|or| [or.lhs(), or.rhs()].contains(&a.value(other))) {
            return a.take(this);
        }
    }
    if a.same_operands() {
        return a.take(0);
    }
    if complementary(a) {
        return a.int_result(-1);
    }
    a.ints(|x, y, _| Some(x | y))
}

fn xori(a: &Args<'_>) -> Folded {
    if a.same_operands() {
        return a.int_result(0);
    }
    for (this, other) in [(0, 1), (1, 0)] {
        if a.is_int(this, 0) {
            return a.take(other);
        }
        if let Some(inner) = a.def::<XOrIOp<'_>>(this) {
            if inner.rhs() == a.value(other) {
                return Some(FoldValue::Value(inner.lhs()));
            }
            if inner.lhs() == a.value(other) {
                return Some(FoldValue::Value(inner.rhs()));
            }
        }
    }
    a.ints(|x, y, _| Some(x ^ y))
}

/// Minimum or maximum; `bounds` gives the absorbing and the neutral element for a width.
fn extremum(a: &Args<'_>, bounds: fn(u32) -> (i64, i64), fold: impl Fn(&Args<'_>) -> Folded) -> Folded {
    if a.same_operands() {
        return a.take(0);
    }
    let (absorbing, neutral) = bounds(constant::int_width(a.cx(), a.ty())?);
    for (this, other) in [(0, 1), (1, 0)] {
        if a.is_int(this, absorbing) {
            return a.constant(a.constants[this]);
        }
        if a.is_int(this, neutral) {
            return a.take(other);
        }
    }
    fold(a)
}

// ---- floats

fn addf(a: &Args<'_>) -> Folded {
    for (this, other) in [(0, 1), (1, 0)] {
        let is_neutral = a.is_float(this, -0.0) || (a.is_float(this, 0.0) && a.fastmath(FastMathFlags::NSZ));
        if is_neutral {
            return a.take(other);
        }
    }
    a.floats(|x, y| x + y)
}

fn mulf(a: &Args<'_>) -> Folded {
    for (this, other) in [(0, 1), (1, 0)] {
        if a.is_float(this, 1.0) {
            return a.take(other);
        }
        if a.is_float(this, 0.0) && a.fastmath(FastMathFlags::NNAN.with(FastMathFlags::NSZ)) {
            return a.constant(a.constants[this]);
        }
    }
    a.floats(|x, y| x * y)
}

fn negf(a: &Args<'_>) -> Folded {
    if let Some(inner) = a.def::<NegFOp<'_>>(0) {
        return Some(FoldValue::Value(inner.operand()));
    }
    let sign = 1u64 << (ieee_kind(a.cx(), a.ty())?.bits() - 1);
    a.unary(|word| Some(word ^ sign))
}

/// The larger of two numbers; +0 is above -0.
fn larger(x: f64, y: f64) -> f64 {
    if x == y && x == 0.0 {
        return if x.is_sign_positive() { x } else { y };
    }
    if x > y { x } else { y }
}

/// The one that is a number, or `f` of both.
fn number(x: f64, y: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
    if x.is_nan() {
        y
    } else if y.is_nan() {
        x
    } else {
        f(x, y)
    }
}

fn float_extremum(a: &Args<'_>, neutral: f64, f: impl Fn(f64, f64) -> f64) -> Folded {
    if a.same_operands() {
        return a.take(0);
    }
    for (this, other) in [(0, 1), (1, 0)] {
        let found = a.float(this);
        if found.is_some_and(|v| v == neutral || (v.is_nan() && neutral.is_nan())) {
            return a.take(other);
        }
    }
    a.floats(f)
}

// ---- comparison and selection

fn boolean(a: &Args<'_>, value: bool) -> Folded {
    a.int_result(-i64::from(value))
}

fn cmpi(a: &Args<'_>) -> Folded {
    let predicate = CmpIOp::from_ref(a.op).predicate();
    if a.same_operands() {
        return boolean(a, predicate.compare(0, 0, 1));
    }
    // A condition is true, or not false.
    let truth =
        (predicate == CmpIPredicate::Ne && a.is_int(1, 0)) || (predicate == CmpIPredicate::Eq && a.is_int(1, -1));
    if truth && a.op.ty(a.value(0)) == a.ty() {
        return a.take(0);
    }
    if predicate == CmpIPredicate::Ne && a.is_int(1, 0) {
        // A widened `i1` differs from zero exactly when it is true.
        let narrow = a.def::<ExtUIOp<'_>>(0).map(|e| e.input()).or_else(|| Some(a.def::<ExtSIOp<'_>>(0)?.input()));
        if let Some(narrow) = narrow.filter(|v| a.op.ty(*v) == a.ty()) {
            return Some(FoldValue::Value(narrow));
        }
    }
    a.ints(|x, y, width| Some(-i64::from(predicate.compare(x, y, width))))
}

fn cmpf(a: &Args<'_>) -> Folded {
    let predicate = CmpFOp::from_ref(a.op).predicate();
    let always = match predicate {
        CmpFPredicate::False => Some(false),
        CmpFPredicate::True => Some(true),
        _ if [0, 1].iter().any(|i| a.float(*i).is_some_and(f64::is_nan)) => Some(predicate.compare(f64::NAN, f64::NAN)),
        _ => None,
    };
    if let Some(value) = always {
        return boolean(a, value);
    }
    let kind = a.cx().float_kind(a.cx().element_type(a.op.ty(a.value(0)))).filter(|k| k.bits() <= 64)?;
    let inputs = [a.constants[0]?, a.constants[1]?];
    let word = |w: &[u64]| Some(u64::from(predicate.compare(to_f64(kind, w[0]), to_f64(kind, w[1]))));
    a.constant(constant::map(a.cx(), a.ty(), &inputs, word))
}

fn select(a: &Args<'_>) -> Folded {
    if a.value(1) == a.value(2) {
        return a.take(1);
    }
    match a.int(0) {
        Some(0) => return a.take(2),
        Some(_) => return a.take(1),
        None => {}
    }
    if a.op.ty(a.value(0)) == a.ty()
        && a.is_int(1, -1)
        && a.is_int(2, 0)
        && constant::int_width(a.cx(), a.ty()) == Some(1)
    {
        return a.take(0);
    }
    if let Some(found) = select_of_comparison(a) {
        return Some(found);
    }
    let inputs = [a.constants[0]?, a.constants[1]?, a.constants[2]?];
    a.constant(constant::map(a.cx(), a.ty(), &inputs, |w| Some(if w[0] & 1 == 1 { w[1] } else { w[2] })))
}

/// `select (x == y), x, y` is `y`; `select (x != y), x, y` is `x`.
fn select_of_comparison(a: &Args<'_>) -> Folded {
    let comparison = a.def::<CmpIOp<'_>>(0)?;
    let (x, y) = (a.value(1), a.value(2));
    let compared = (comparison.lhs(), comparison.rhs());
    if compared != (x, y) && compared != (y, x) {
        return None;
    }
    match comparison.predicate() {
        CmpIPredicate::Eq => a.take(2),
        CmpIPredicate::Ne => a.take(1),
        _ => None,
    }
}

// ---- casts

/// Converts integers by their value, as `read` takes it from the bits and the width of the operand.
fn int_cast(a: &Args<'_>, read: fn(u64, u32) -> i64) -> Folded {
    let width = constant::int_width(a.cx(), a.op.ty(a.value(0)))?;
    a.unary(|word| Some(read(word, width) as u64))
}

fn trunci(a: &Args<'_>) -> Folded {
    let widened = a.def::<ExtUIOp<'_>>(0).map(|e| e.input()).or_else(|| Some(a.def::<ExtSIOp<'_>>(0)?.input()));
    if let Some(inner) = widened.filter(|v| a.op.ty(*v) == a.ty()) {
        return Some(FoldValue::Value(inner));
    }
    a.unary(Some)
}

fn int_to_float(a: &Args<'_>, read: fn(u64, u32) -> i128) -> Folded {
    let kind = ieee_kind(a.cx(), a.ty())?;
    let width = constant::int_width(a.cx(), a.op.ty(a.value(0)))?;
    a.unary(|word| {
        let value = read(word, width);
        // Up to 2^53 the way through `f64` rounds once; `f32` and `f64` round any integer once by themselves.
        match kind {
            FloatKind::F32 => Some(u64::from((value as f32).to_bits())),
            FloatKind::F64 => Some((value as f64).to_bits()),
            _ if value.unsigned_abs() <= 1 << 53 => Some(from_f64(kind, value as f64)),
            _ => None,
        }
    })
}

/// `range` gives the bounds of the integers of a width: at least the first, below the second.
fn float_to_int(a: &Args<'_>, range: fn(u32) -> (f64, f64)) -> Folded {
    let from = a.op.ty(a.value(0));
    let kind = a.cx().float_kind(a.cx().element_type(from)).filter(|k| k.bits() <= 64)?;
    let (low, high) = range(constant::int_width(a.cx(), a.ty())?);
    a.unary(|word| {
        let value = to_f64(kind, word).trunc();
        (value >= low && value < high).then_some(value as i128 as u64)
    })
}

/// Back to where it came from.
fn truncf(a: &Args<'_>) -> Folded {
    match a.def::<ExtFOp<'_>>(0).filter(|ext| a.op.ty(ext.input()) == a.ty()) {
        Some(ext) => Some(FoldValue::Value(ext.input())),
        None => float_cast(a),
    }
}

/// Converts floats when nothing is lost.
fn float_cast(a: &Args<'_>) -> Folded {
    let (from, to) = (ieee_kind(a.cx(), a.op.ty(a.value(0)))?, ieee_kind(a.cx(), a.ty())?);
    a.unary(|word| {
        let value = to_f64(from, word);
        round(to, value).filter(|bits| to_f64(to, *bits).to_bits() == value.to_bits())
    })
}
