//! Affine access maps, read against symbolic extents.

use sutura_ir::Context;
use sutura_ir::affine::{AffineExpr, AffineExprData, AffineMap, AffineOp};

use crate::r#dyn::Poly;

/// The iterator that an expression is.
pub fn plain_dim(cx: &Context, expr: AffineExpr) -> Option<usize> {
    match cx.affine_data(expr) {
        AffineExprData::Dim(i) => Some(i as usize),
        _ => None,
    }
}

/// The constant that an expression is.
pub fn constant(cx: &Context, expr: AffineExpr) -> Option<i64> {
    match cx.affine_data(expr) {
        AffineExprData::Const(value) => Some(value),
        _ => None,
    }
}

/// True for a map whose results are distinct iterators and constants 0.
pub fn is_projection(cx: &Context, map: AffineMap) -> bool {
    let mut seen = 0u64;
    cx.map_results(map).iter().all(|&expr| match cx.affine_data(expr) {
        AffineExprData::Const(0) => true,
        AffineExprData::Dim(i) if i < 64 => {
            let new = seen & (1 << i) == 0;
            seen |= 1 << i;
            new
        }
        _ => false,
    })
}

/// Whether the iterator occurs in the expression.
pub fn mentions(cx: &Context, expr: AffineExpr, iterator: usize) -> bool {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        match cx.affine_data(expr) {
            AffineExprData::Dim(i) if i as usize == iterator => return true,
            AffineExprData::Binary(_, a, b) => pending.extend([a, b]),
            _ => {}
        }
    }
    false
}

/// An expression that is linear in the iterators and symbols: a coefficient for each, and a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear {
    /// One per iterator.
    pub factors: Vec<i64>,
    /// Symbols with their coefficients, in the order in which they occur.
    pub symbols: Vec<(usize, i64)>,
    /// What is added.
    pub constant: i64,
}

/// The expression as a linear one; `None` where it has a `floordiv`, `ceildiv` or `mod`, or does not fit 64 bits.
pub fn linear(cx: &Context, expr: AffineExpr, iterators: usize) -> Option<Linear> {
    let mut sum = Linear { factors: vec![0; iterators], symbols: vec![], constant: 0 };
    add_linear(cx, expr, 1, &mut sum)?;
    Some(sum)
}

fn add_linear(cx: &Context, expr: AffineExpr, factor: i64, sum: &mut Linear) -> Option<()> {
    match cx.affine_data(expr) {
        AffineExprData::Const(value) => sum.constant = sum.constant.checked_add(value.checked_mul(factor)?)?,
        AffineExprData::Dim(i) => {
            let entry = sum.factors.get_mut(i as usize)?;
            *entry = entry.checked_add(factor)?;
        }
        AffineExprData::Binary(AffineOp::Add, a, b) => {
            add_linear(cx, a, factor, sum)?;
            add_linear(cx, b, factor, sum)?;
        }
        AffineExprData::Binary(AffineOp::Mul, a, b) => {
            add_linear(cx, a, factor.checked_mul(constant(cx, b)?)?, sum)?;
        }
        AffineExprData::Symbol(i) => match sum.symbols.iter_mut().find(|(symbol, _)| *symbol == i as usize) {
            Some((_, entry)) => *entry = entry.checked_add(factor)?,
            None => sum.symbols.push((i as usize, factor)),
        },
        AffineExprData::Binary(..) => return None,
    }
    Some(())
}

/// Looks at the symbols of an expression.
pub fn each_symbol(cx: &Context, expr: AffineExpr, look: &mut impl FnMut(usize)) {
    match cx.affine_data(expr) {
        AffineExprData::Symbol(i) => look(i as usize),
        AffineExprData::Binary(_, a, b) => {
            each_symbol(cx, a, look);
            each_symbol(cx, b, look);
        }
        AffineExprData::Const(_) | AffineExprData::Dim(_) => {}
    }
}

/// The expression with symbol `i` replaced by `to(i)`.
pub fn replace_symbols(cx: &Context, expr: AffineExpr, to: &dyn Fn(usize) -> AffineExpr) -> AffineExpr {
    match cx.affine_data(expr) {
        AffineExprData::Symbol(i) => to(i as usize),
        AffineExprData::Const(_) | AffineExprData::Dim(_) => expr,
        AffineExprData::Binary(op, a, b) => {
            cx.affine_binary(op, replace_symbols(cx, a, to), replace_symbols(cx, b, to))
        }
    }
}

/// The expression with iterator `i` replaced by `to(i)`.
pub fn replace_dims(cx: &Context, expr: AffineExpr, to: &dyn Fn(usize) -> AffineExpr) -> AffineExpr {
    match cx.affine_data(expr) {
        AffineExprData::Dim(i) => to(i as usize),
        AffineExprData::Const(_) | AffineExprData::Symbol(_) => expr,
        AffineExprData::Binary(op, a, b) => cx.affine_binary(op, replace_dims(cx, a, to), replace_dims(cx, b, to)),
    }
}

/// True for a map of which some result mentions a symbol.
pub fn mentions_sizes(cx: &Context, map: AffineMap) -> bool {
    let mut found = false;
    cx.map_results(map).iter().for_each(|e| each_symbol(cx, *e, &mut |_| found = true));
    found
}

/// Smallest and largest value of an expression over an iteration space without empty iterators, as sizes, where symbol `i`
/// stands for `sizes[i]`; `None` where an extent is unknown.
pub fn bounds(cx: &Context, expr: AffineExpr, extents: &[Option<Poly>], sizes: &[Poly]) -> Option<(Poly, Poly)> {
    match cx.affine_data(expr) {
        AffineExprData::Const(value) => Some((value.into(), value.into())),
        AffineExprData::Dim(i) => {
            let extent = extents.get(i as usize)?.as_ref()?;
            Some((0.into(), extent.sub(&1.into())))
        }
        AffineExprData::Symbol(i) => {
            let size = sizes.get(i as usize)?;
            Some((size.clone(), size.clone()))
        }
        AffineExprData::Binary(op, a, b) => {
            let (low, high) = bounds(cx, a, extents, sizes)?;
            if op == AffineOp::Add {
                let (other_low, other_high) = bounds(cx, b, extents, sizes)?;
                return Some((low.add(&other_low), high.add(&other_high)));
            }
            let c = constant(cx, b)?;
            match op {
                AffineOp::Mul if c >= 0 => Some((low.scale(c), high.scale(c))),
                AffineOp::Mul => Some((high.scale(c), low.scale(c))),
                AffineOp::FloorDiv if c >= 1 => Some((low.floordiv(c), high.floordiv(c))),
                AffineOp::CeilDiv if c >= 1 => Some((low.ceildiv(c), high.ceildiv(c))),
                AffineOp::Mod if c >= 1 => Some((0.into(), (c - 1).into())),
                _ => None,
            }
        }
    }
}
