//! The rules: what a number is as well, and which flags that takes.
//!
//! The associative, distributive and commutative ones are after DNNFusion's table (PLDI'21, section 4.2). A rule looks at
//! the last op of an expression; those before it are looked at as last ones of their own.

use sutura_dialects::arith::FastMathFlags;
use sutura_ir::{Context, Type};

use super::activations::{limits, mish, tanh_of_sigmoid};
use super::expr::{Expr, Kind};

/// An expression that may take the place of another one.
pub(super) struct Rewrite {
    pub(super) rule: &'static str,
    pub(super) expr: Expr,
    /// What has to be allowed; nothing for a rule that keeps every bit.
    pub(super) needs: FastMathFlags,
    /// What all ops that it changes allow.
    pub(super) has: FastMathFlags,
}

/// A sum or a product may be made in another order, and the sign of a zero may change.
pub(crate) const REORDER: FastMathFlags = FastMathFlags::REASSOC.with(FastMathFlags::NSZ);

/// Everything that the rules know of `expr`.
pub(super) fn rewrites(cx: &Context, expr: &Expr) -> Vec<Rewrite> {
    let Kind::Op(name, args) = &expr.kind else { return Vec::new() };
    let found = match (*name, args.as_slice()) {
        ("arith.addf" | "arith.subf", [a, b]) => vec![
            negated_term(expr, a, b),
            distribute(name, expr, a, b),
            logarithms(expr, a, b),
            constant_terms(cx, expr, a, b),
            tanh_of_sigmoid(cx, expr, a, b),
        ],
        ("arith.mulf", [a, b]) => vec![
            negated_factors(expr, name, a, b),
            constant_factors(cx, expr, a, b),
            square_of_root(expr, a, b),
            product_of_exp(expr, a, b),
            by_reciprocal(cx, expr, a, b),
            scaled_line(cx, expr, a, b),
        ],
        ("arith.divf", [a, b]) => vec![
            negated_factors(expr, name, a, b),
            reciprocal(cx, expr, a, b),
            quotient_of_exp(cx, expr, a, b),
            by_root(expr, a, b),
        ],
        ("math.tanh", [x]) => vec![mish(cx, expr, x)],
        ("arith.maximumf" | "arith.minimumf", _) => vec![limits(cx, name, expr)],
        ("math.exp" | "math.log", [x]) => vec![inverse(expr, x)],
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}

fn exact(rule: &'static str, name: &'static str, args: [&Expr; 2], top: &Expr) -> Rewrite {
    let expr = Expr::op(name, args.map(Expr::clone).to_vec(), top.ty, top.flags);
    Rewrite { rule, expr, needs: FastMathFlags::NONE, has: FastMathFlags::NONE }
}

/// `a + (-b)` to `a - b`, `(-a) + b` to `b - a`, `a - (-b)` to `a + b`: by definition the same.
fn negated_term(top: &Expr, a: &Expr, b: &Expr) -> Option<Rewrite> {
    let sum = top.args_of("arith.addf").is_some();
    let rule = if sum { "a + (-b) = a - b" } else { "a - (-b) = a + b" };
    let to = if sum { "arith.subf" } else { "arith.addf" };
    match (a.args_of("arith.negf"), b.args_of("arith.negf")) {
        (_, Some([b])) => Some(exact(rule, to, [a, b], top)),
        (Some([a]), None) if sum => Some(exact(rule, to, [b, a], top)),
        _ => None,
    }
}

/// `(-a) * (-b)` to `a * b`, and for a quotient.
fn negated_factors(top: &Expr, name: &'static str, a: &Expr, b: &Expr) -> Option<Rewrite> {
    let rule = if name == "arith.mulf" { "(-a) * (-b) = a * b" } else { "(-a) / (-b) = a / b" };
    let ([a], [b]) = (a.args_of("arith.negf")?, b.args_of("arith.negf")?) else { return None };
    Some(exact(rule, name, [a, b], top))
}

/// The number that a constant is.
pub(super) fn number(cx: &Context, expr: &Expr) -> Option<f64> {
    match expr.kind {
        Kind::Const(value) => cx.as_f64(value),
        _ => None,
    }
}

/// `value` as a constant of type `ty`, and what it is there after rounding; `None` for one that is no normal number, on
/// which hardware is slow and of which few bits are left.
pub(super) fn constant(cx: &Context, value: f64, ty: Type) -> Option<(Expr, f64)> {
    // The least exponents of normal numbers; other types have so few that no rule pays.
    let least = match ty {
        Type::F64 => f64::MIN_POSITIVE,
        Type::F32 => f64::from(f32::MIN_POSITIVE),
        Type::F16 => 2f64.powi(-14),
        Type::BF16 => 2f64.powi(-126),
        _ => return None,
    };
    let attr = cx.float_attr(value, ty);
    let rounded = cx.as_f64(attr)?;
    (rounded.is_finite() && rounded.abs() >= least).then(|| (Expr::constant(attr, ty), rounded))
}

fn is_power_of_two(value: f64) -> bool {
    value.is_normal() && value.to_bits().trailing_zeros() >= 52
}

/// `x / c` to `x * (1 / c)`, which is the same for a power of two.
fn reciprocal(cx: &Context, top: &Expr, x: &Expr, c: &Expr) -> Option<Rewrite> {
    let divisor = number(cx, c).filter(|c| c.is_normal())?;
    let (factor, rounded) = constant(cx, 1.0 / divisor, top.ty)?;
    let needs = match is_power_of_two(divisor) && rounded * divisor == 1.0 {
        true => FastMathFlags::NONE,
        false => FastMathFlags::ARCP,
    };
    let expr = Expr::op("arith.mulf", vec![x.clone(), factor], top.ty, top.flags);
    Some(Rewrite { rule: "x / c = x * (1 / c)", expr, needs, has: top.flags })
}

/// `(x * c) * d` to `x * (c * d)`. It is the same where neither makes numbers smaller, and each is a power of two: then
/// nothing is rounded, and what overflows does so both ways.
fn constant_factors(cx: &Context, top: &Expr, a: &Expr, b: &Expr) -> Option<Rewrite> {
    let (inner, d) = number(cx, b).map(|d| (a, d)).or_else(|| number(cx, a).map(|d| (b, d)))?;
    let [x, y] = inner.args_of("arith.mulf")? else { return None };
    let (x, c) = number(cx, y).map(|c| (x, c)).or_else(|| number(cx, x).map(|c| (y, c)))?;
    let (factor, rounded) = constant(cx, c * d, top.ty)?;
    let grows = |f: f64| is_power_of_two(f) && f.abs() >= 1.0;
    let needs = match grows(c) && grows(d) && rounded == c * d {
        true => FastMathFlags::NONE,
        false => REORDER,
    };
    let flags = top.flags.and(inner.flags);
    let expr = Expr::op("arith.mulf", vec![x.clone(), factor], top.ty, flags);
    Some(Rewrite { rule: "(x * c) * d = x * (c * d)", expr, needs, has: flags })
}

/// `sqrt(x) * sqrt(x)` to `x`: there is no negative `x`, and no negative zero, for which they differ.
fn square_of_root(top: &Expr, a: &Expr, b: &Expr) -> Option<Rewrite> {
    let ([x], [y]) = (a.args_of("math.sqrt")?, b.args_of("math.sqrt")?) else { return None };
    let needs = REORDER.with(FastMathFlags::NNAN);
    let has = top.flags.and(a.flags).and(b.flags);
    x.same(y).then(|| Rewrite { rule: "sqrt(x) * sqrt(x) = x", expr: x.clone(), needs, has })
}

/// `exp(x) * exp(y)` to `exp(x + y)`
fn product_of_exp(top: &Expr, a: &Expr, b: &Expr) -> Option<Rewrite> {
    let ([x], [y]) = (a.args_of("math.exp")?, b.args_of("math.exp")?) else { return None };
    let has = top.flags.and(a.flags).and(b.flags);
    let sum = Expr::op("arith.addf", vec![x.clone(), y.clone()], top.ty, has);
    let expr = Expr::op("math.exp", vec![sum], top.ty, has);
    Some(Rewrite { rule: "exp(a) * exp(b) = exp(a + b)", expr, needs: REORDER, has })
}

/// `exp(x) / exp(y)` to `exp(x - y)`, and `1 / exp(x)` to `exp(-x)`
fn quotient_of_exp(cx: &Context, top: &Expr, a: &Expr, b: &Expr) -> Option<Rewrite> {
    let [y] = b.args_of("math.exp")? else { return None };
    let has = top.flags.and(b.flags);
    let (rule, exponent, has) = match a.args_of("math.exp") {
        Some([x]) => {
            let has = has.and(a.flags);
            ("exp(a) / exp(b) = exp(a - b)", Expr::op("arith.subf", vec![x.clone(), y.clone()], top.ty, has), has)
        }
        _ if number(cx, a) == Some(1.0) => {
            ("1 / exp(x) = exp(-x)", Expr::op("arith.negf", vec![y.clone()], top.ty, has), has)
        }
        _ => return None,
    };
    Some(Rewrite { rule, expr: Expr::op("math.exp", vec![exponent], top.ty, has), needs: REORDER, has })
}

/// What is allowed where a logarithm and an exponential go: neither of them rounds as it is written, what overflowed or was no
/// number need not be.
const INVERSE: FastMathFlags = REORDER.with(FastMathFlags::AFN).with(FastMathFlags::NNAN).with(FastMathFlags::NINF);

/// `log(exp(x))` and `exp(log(x))` to `x`
fn inverse(top: &Expr, inner: &Expr) -> Option<Rewrite> {
    let (rule, other) = match top.args_of("math.log") {
        Some(_) => ("log(exp(x)) = x", "math.exp"),
        None => ("exp(log(x)) = x", "math.log"),
    };
    let [x] = inner.args_of(other)? else { return None };
    Some(Rewrite { rule, expr: x.clone(), needs: INVERSE, has: top.flags.and(inner.flags) })
}

/// `log(a) + log(b)` to `log(a * b)`, and for a difference.
fn logarithms(top: &Expr, a: &Expr, b: &Expr) -> Option<Rewrite> {
    let ([x], [y]) = (a.args_of("math.log")?, b.args_of("math.log")?) else { return None };
    let has = top.flags.and(a.flags).and(b.flags);
    let (rule, name) = match top.args_of("arith.addf") {
        Some(_) => ("log(a) + log(b) = log(a * b)", "arith.mulf"),
        None => ("log(a) - log(b) = log(a / b)", "arith.divf"),
    };
    let inner = Expr::op(name, vec![x.clone(), y.clone()], top.ty, has);
    Some(Rewrite { rule, expr: Expr::op("math.log", vec![inner], top.ty, has), needs: INVERSE, has })
}

/// `x * (1 / y)` to `x / y`: one rounding less. So is what a sigmoid gates.
fn by_reciprocal(cx: &Context, top: &Expr, a: &Expr, b: &Expr) -> Option<Rewrite> {
    let of = |x: &Expr, by: &Expr| {
        let [one, y] = by.args_of("arith.divf")? else { return None };
        let has = top.flags.and(by.flags);
        let expr = Expr::op("arith.divf", vec![x.clone(), y.clone()], top.ty, has);
        let needs = FastMathFlags::ARCP;
        (number(cx, one) == Some(1.0)).then_some(Rewrite { rule: "x * (1 / y) = x / y", expr, needs, has })
    };
    of(a, b).or_else(|| of(b, a))
}

/// `x / sqrt(x)` to `sqrt(x)`, which differ at zero.
fn by_root(top: &Expr, x: &Expr, root: &Expr) -> Option<Rewrite> {
    let [inner] = root.args_of("math.sqrt")? else { return None };
    let needs = REORDER.with(FastMathFlags::NNAN).with(FastMathFlags::NINF);
    let has = top.flags.and(root.flags);
    x.same(inner).then(|| Rewrite { rule: "x / sqrt(x) = sqrt(x)", expr: root.clone(), needs, has })
}

/// The number and the constant that are added, or of which one is taken from the other: `x + c` and `x - c`, with the constant's
/// sign.
fn shifted<'e>(cx: &Context, expr: &'e Expr) -> Option<(&'e Expr, f64)> {
    if let Some([a, b]) = expr.args_of("arith.addf") {
        return number(cx, b).map(|c| (a, c)).or_else(|| number(cx, a).map(|c| (b, c)));
    }
    let [a, b] = expr.args_of("arith.subf")? else { return None };
    number(cx, b).map(|c| (a, -c))
}

/// `(x + c) + d` to `x + (c + d)`, and for differences.
fn constant_terms(cx: &Context, top: &Expr, _: &Expr, _: &Expr) -> Option<Rewrite> {
    let (inner, d) = shifted(cx, top)?;
    let (x, c) = shifted(cx, inner)?;
    let has = top.flags.and(inner.flags);
    let (term, _) = constant(cx, c + d, top.ty)?;
    let expr = Expr::op("arith.addf", vec![x.clone(), term], top.ty, has);
    Some(Rewrite { rule: "(x + c) + d = x + (c + d)", expr, needs: REORDER, has })
}

/// `(x * c + d) * e` to `x * (c * e) + d * e`
fn scaled_line(cx: &Context, top: &Expr, a: &Expr, b: &Expr) -> Option<Rewrite> {
    let (line, e) = number(cx, b).map(|e| (a, e)).or_else(|| number(cx, a).map(|e| (b, e)))?;
    let (scaled, d) = shifted(cx, line)?;
    let [x, y] = scaled.args_of("arith.mulf")? else { return None };
    let (x, c) = number(cx, y).map(|c| (x, c)).or_else(|| number(cx, x).map(|c| (y, c)))?;
    let has = top.flags.and(line.flags).and(scaled.flags);
    let ((factor, _), (term, _)) = (constant(cx, c * e, top.ty)?, constant(cx, d * e, top.ty)?);
    let product = Expr::op("arith.mulf", vec![x.clone(), factor], top.ty, has);
    let expr = Expr::op("arith.addf", vec![product, term], top.ty, has);
    Some(Rewrite { rule: "(x * c + d) * e = x * (c * e) + d * e", expr, needs: REORDER, has })
}

/// `a * b + a * c` to `a * (b + c)`, and for a difference.
fn distribute(name: &'static str, top: &Expr, l: &Expr, r: &Expr) -> Option<Rewrite> {
    let ([a, b], [c, d]) = (l.args_of("arith.mulf")?, r.args_of("arith.mulf")?) else { return None };
    let ways = [(a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c)];
    let (common, left, _, right) = ways.into_iter().find(|(common, _, other, _)| common.same(other))?;
    let has = top.flags.and(l.flags).and(r.flags);
    let sum = Expr::op(name, vec![left.clone(), right.clone()], top.ty, has);
    let expr = Expr::op("arith.mulf", vec![common.clone(), sum], top.ty, has);
    let rule = if name == "arith.addf" { "a * b + a * c = a * (b + c)" } else { "a * b - a * c = a * (b - c)" };
    Some(Rewrite { rule, expr, needs: REORDER, has })
}
