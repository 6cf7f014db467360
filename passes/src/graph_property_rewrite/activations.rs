//! Rules for functions of neural networks that are written out, and for limits on limits.

use std::rc::Rc;

use sutura_dialects::arith::FastMathFlags;
use sutura_ir::{Context, Type};

use super::expr::Expr;
use super::rules::{REORDER, Rewrite, constant, number};

/// `tanh(log(1 + exp(x)))`, which mish multiplies by `x`, to `n / (n + 2)` with `e = exp(min(x, most))` and `n = e * (e + 2)`.
///
/// With `t = 1 + e` the hyperbolic tangent is `(t^2 - 1) / (t^2 + 1)`, in which nothing cancels. From `most` on it is 1 within half of the
/// last bit, and below it `n` does not overflow. An `x` that is infinite or no number gives what it gave.
pub(super) fn mish(cx: &Context, top: &Expr, inner: &Expr) -> Option<Rewrite> {
    let (x, has) = softplus(cx, inner)?;
    let has = has.and(top.flags);
    let most = if top.ty == Type::F16 { 5.5 } else { 20.0 };
    let of = |name, args| Expr::op(name, args, top.ty, has);
    let two = || Some(constant(cx, 2.0, top.ty)?.0);
    let limited = of("arith.minimumf", vec![x.clone(), constant(cx, most, top.ty)?.0]);
    let e = of("math.exp", vec![limited]).used_often();
    let n = of("arith.mulf", vec![e.clone(), of("arith.addf", vec![e, two()?])]).used_often();
    let expr = of("arith.divf", vec![n.clone(), of("arith.addf", vec![n, two()?])]);
    let rule = "tanh(log(1 + exp(x))) = n / (n + 2), n = exp(x) * (exp(x) + 2)";
    Some(Rewrite { rule, expr, needs: REORDER.with(FastMathFlags::AFN), has })
}

/// `x` of `log(1 + exp(x))` and of `max(x, 0) + log(1 + exp(-|x|))`, and the flags of all ops.
fn softplus<'e>(cx: &Context, expr: &'e Expr) -> Option<(&'e Expr, FastMathFlags)> {
    if let Some((x, flags)) = log_of_more_than_exp(cx, expr) {
        return Some((x, flags));
    }
    let [a, b] = expr.args_of("arith.addf")? else { return None };
    let of = |max: &'e Expr, log: &'e Expr| {
        let (x, _) = with_constant(cx, max, "arith.maximumf").filter(|(_, zero)| *zero == 0.0)?;
        let (exponent, flags) = log_of_more_than_exp(cx, log)?;
        let [size] = exponent.args_of("arith.negf")? else { return None };
        let [inner] = size.args_of("math.absf")? else { return None };
        let flags = flags.and(max.flags).and(expr.flags).and(exponent.flags).and(size.flags);
        x.same(inner).then_some((x, flags))
    };
    of(a, b).or_else(|| of(b, a))
}

/// `x` of `log(1 + exp(x))`, and the flags of all ops.
fn log_of_more_than_exp<'e>(cx: &Context, expr: &'e Expr) -> Option<(&'e Expr, FastMathFlags)> {
    let [sum] = expr.args_of("math.log")? else { return None };
    let (exp, _) = with_constant(cx, sum, "arith.addf").filter(|(_, one)| *one == 1.0)?;
    let [x] = exp.args_of("math.exp")? else { return None };
    Some((x, expr.flags.and(sum.flags).and(exp.flags)))
}

/// The operand of a commutative op that is no constant, and the one that is.
fn with_constant<'e>(cx: &Context, expr: &'e Expr, name: &str) -> Option<(&'e Expr, f64)> {
    let [a, b] = expr.args_of(name)? else { return None };
    number(cx, b).map(|c| (a, c)).or_else(|| number(cx, a).map(|c| (b, c)))
}

/// `y` of `exp(-y)`, and the flags of both ops.
fn exp_of_negative(expr: &Expr) -> Option<(&Expr, FastMathFlags)> {
    let [less] = expr.args_of("math.exp")? else { return None };
    let [y] = less.args_of("arith.negf")? else { return None };
    Some((y, expr.flags.and(less.flags)))
}

/// `2 * (1 / (1 + exp(-y))) - 1` to `tanh(y / 2)`; the same with `2 / (1 + exp(-y))`.
pub(super) fn tanh_of_sigmoid(cx: &Context, top: &Expr, a: &Expr, b: &Expr) -> Option<Rewrite> {
    let minus_one = match top.args_of("arith.subf") {
        Some(_) => (number(cx, b)? == 1.0).then_some(a),
        None => with_constant(cx, top, "arith.addf").filter(|(_, c)| *c == -1.0).map(|(x, _)| x),
    };
    let twice = minus_one?;
    let (gate, factor, has) = match with_constant(cx, twice, "arith.mulf") {
        Some((gate, factor)) => (gate, factor, top.flags.and(twice.flags).and(gate.flags)),
        None => (twice, 1.0, top.flags.and(twice.flags)),
    };
    let [dividend, sum] = gate.args_of("arith.divf")? else { return None };
    let (exp, _) = with_constant(cx, sum, "arith.addf").filter(|(_, one)| *one == 1.0)?;
    let (y, flags) = exp_of_negative(exp)?;
    let has = has.and(sum.flags).and(flags);
    let expr = tanh_of_half(cx, y, top, has)?;
    let rule = "2 / (1 + exp(-x)) - 1 = tanh(x / 2)";
    let needs = REORDER.with(FastMathFlags::AFN);
    (number(cx, dividend)? * factor == 2.0).then_some(Rewrite { rule, expr, needs, has })
}

/// `tanh(y / 2)`
fn tanh_of_half(cx: &Context, y: &Expr, top: &Expr, has: FastMathFlags) -> Option<Expr> {
    // What is doubled is halved here, not by another rule.
    let twice = with_constant(cx, y, "arith.mulf").filter(|(_, two)| *two == 2.0).map(|(x, _)| x.clone());
    let half = match twice {
        Some(x) => x,
        None => Expr::op("arith.mulf", vec![y.clone(), constant(cx, 0.5, top.ty)?.0], top.ty, has),
    };
    Some(Expr::op("math.tanh", vec![half], top.ty, has))
}

/// Limits on limits: `max(max(x, c), d)` to `max(x, max(c, d))`, and what a limit that is there already makes needless:
/// `max(min(max(x, c), d), e)` to `min(max(x, c), d)` for `e` that is at most `c` and `d`. The same for least numbers. By definition each
/// gives the same.
pub(super) fn limits(cx: &Context, name: &'static str, top: &Expr) -> Option<Rewrite> {
    let is_max = name == "arith.maximumf";
    let other = if is_max { "arith.minimumf" } else { "arith.maximumf" };
    let (inner, outside) = with_constant(cx, top, name)?;
    // Of zeros with two signs, and of no numbers, nothing is said.
    let plain = |c: f64| c != 0.0 || c.is_sign_positive();
    let weaker = |a: f64, b: f64| if is_max { a <= b } else { a >= b };
    let exact = |rule, expr| Rewrite { rule, expr, needs: FastMathFlags::NONE, has: FastMathFlags::NONE };
    if !plain(outside) {
        return None;
    }
    if let Some((x, c)) = with_constant(cx, inner, name).filter(|(_, c)| plain(*c)) {
        let rule =
            if is_max { "max(max(x, c), d) = max(x, max(c, d))" } else { "min(min(x, c), d) = min(x, min(c, d))" };
        if weaker(outside, c) {
            return Some(exact(rule, inner.clone()));
        }
        let own = cx.float_attr(outside, top.ty);
        let args = vec![x.clone(), Expr::constant(own, top.ty)];
        return weaker(c, outside).then(|| exact(rule, Expr::op(name, args, top.ty, top.flags.and(inner.flags))));
    }
    let (middle, d) = with_constant(cx, inner, other).filter(|(_, d)| plain(*d))?;
    let (_, c) = with_constant(cx, middle, name).filter(|(_, c)| plain(*c))?;
    let rule = if is_max {
        "max(min(max(x, c), d), e) = min(max(x, c), d)"
    } else {
        "min(max(min(x, c), d), e) = max(min(x, c), d)"
    };
    (weaker(outside, c) && weaker(outside, d)).then(|| exact(rule, inner.clone()))
}

impl Expr {
    /// The same, for more than one place of an expression: it is computed once.
    fn used_often(self) -> Self {
        Self { once: Some(Rc::new(())), ..self }
    }

    /// Whether both are one number that is computed once.
    pub(super) fn is_the_same_one(&self, other: &Rc<()>) -> bool {
        self.once.as_ref().is_some_and(|own| Rc::ptr_eq(own, other))
    }
}
