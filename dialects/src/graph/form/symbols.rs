//! What the affine symbols in a region's accesses stand for.

use std::collections::HashMap;

use sutura_ir::Context;
use sutura_ir::affine::{AffineExpr, AffineExprData, AffineOp};

use super::super::maps::{self, each_symbol, replace_symbols};
use crate::r#dyn::{Facts, Poly};

/// What a symbol stands for.
#[derive(Clone, Debug)]
enum Symbol {
    /// An index that is read, one of so many.
    Pick(Poly),
    /// A size, or a polynomial in sizes.
    Size(Poly),
}

/// The symbols of a region, by number.
#[derive(Clone, Default, Debug)]
pub struct Symbols {
    all: Vec<Symbol>,
    /// The symbol of each size.
    of_sizes: HashMap<Poly, usize>,
}

impl Symbols {
    /// A new symbol for an index of a dimension of that size.
    pub fn pick(&mut self, size: &Poly) -> usize {
        self.all.push(Symbol::Pick(size.clone()));
        self.all.len() - 1
    }

    /// The symbol for a size.
    pub fn of_size(&mut self, size: Poly) -> usize {
        *self.of_sizes.entry(size).or_insert_with_key(|size| {
            self.all.push(Symbol::Size(size.clone()));
            self.all.len() - 1
        })
    }

    /// A size in an access: a number, or the symbol for it.
    pub fn expr(&mut self, cx: &Context, size: &Poly) -> AffineExpr {
        match size.as_const() {
            Some(number) => cx.affine_const(number),
            None => cx.affine_symbol(self.of_size(size.clone()) as u32),
        }
    }

    /// The size that a symbol stands for; `None` for an index that is read.
    pub fn size(&self, symbol: usize) -> Option<&Poly> {
        match self.all.get(symbol)? {
            Symbol::Size(size) => Some(size),
            Symbol::Pick(_) => None,
        }
    }

    /// The size of the dimension of which an expression that is an index that is read picks one.
    pub fn picked(&self, cx: &Context, expr: AffineExpr) -> Option<&Poly> {
        let AffineExprData::Symbol(symbol) = cx.affine_data(expr) else { return None };
        match self.all.get(symbol as usize)? {
            Symbol::Pick(size) => Some(size),
            Symbol::Size(_) => None,
        }
    }

    /// Sizes that the symbols of an expression stand for.
    pub fn sizes_in(&self, cx: &Context, expr: AffineExpr) -> Vec<Poly> {
        let mut sizes = Vec::new();
        each_symbol(cx, expr, &mut |i| sizes.extend(self.size(i).cloned()));
        sizes
    }

    /// An expression over `dims` iterators of an op whose symbol `i` stands for `sizes[i]`, with symbols of the region.
    pub fn at_sizes(&mut self, cx: &Context, expr: AffineExpr, dims: usize, sizes: &[Poly]) -> AffineExpr {
        let mut numbers = HashMap::new();
        each_symbol(cx, expr, &mut |i| {
            numbers.entry(i).or_insert_with(|| self.of_size(sizes[i].clone()));
        });
        let named = replace_symbols(cx, expr, &|i| cx.affine_symbol(numbers[&i] as u32));
        self.normal(cx, named, dims)
    }

    /// The expression with all sizes that are added in it as one symbol, so that those which cancel are gone, as where what
    /// lies behind a part of a concatenation is sliced off again. One that divides is left as it is.
    pub fn normal(&mut self, cx: &Context, expr: AffineExpr, dims: usize) -> AffineExpr {
        if self.sizes_in(cx, expr).is_empty() {
            return expr;
        }
        let Some(linear) = maps::linear(cx, expr, dims) else { return expr };
        let times = |factor: AffineExpr, n: i64| cx.affine_binary(AffineOp::Mul, factor, cx.affine_const(n));
        let plus = |sum: AffineExpr, term: AffineExpr| cx.affine_binary(AffineOp::Add, sum, term);
        let factors = linear.factors.iter().enumerate().filter(|(_, n)| **n != 0);
        let mut sum = factors.fold(cx.affine_const(0), |sum, (i, n)| plus(sum, times(cx.affine_dim(i as u32), *n)));
        let mut size = Poly::constant(linear.constant);
        for (symbol, n) in linear.symbols {
            match self.size(symbol) {
                Some(known) => size = size.add(&known.scale(n)),
                None => sum = plus(sum, times(cx.affine_symbol(symbol as u32), n)),
            }
        }
        let (rest, constant) = size.split_constant();
        if !rest.is_zero() {
            sum = plus(sum, cx.affine_symbol(self.of_size(rest) as u32));
        }
        plus(sum, cx.affine_const(constant))
    }

    /// True when an expression over iterators of these extents is an index of a dimension of that size.
    pub fn inside(&self, cx: &Context, facts: &Facts, expr: AffineExpr, extents: &[Poly], size: &Poly) -> bool {
        // The symbols of the expression, each once: a region may have many.
        let mut used: Vec<usize> = Vec::new();
        each_symbol(cx, expr, &mut |i| used.push(i));
        used.sort_unstable();
        used.dedup();
        let used: Vec<(usize, &Symbol)> = used.into_iter().map(|i| (i, &self.all[i])).collect();
        // An index that is picked of nothing is none.
        if used.iter().any(|(_, symbol)| matches!(symbol, Symbol::Pick(size) if facts.range(size).0 < 1)) {
            return false;
        }
        // An index that is read is bounded as an iterator is.
        let expr = replace_symbols(cx, expr, &|i| {
            let at = used.iter().position(|(own, _)| *own == i).expect("collected above");
            match used[at].1 {
                Symbol::Pick(_) => cx.affine_dim((extents.len() + at) as u32),
                Symbol::Size(_) => cx.affine_symbol(at as u32),
            }
        });
        let values: Vec<Poly> = used.iter().map(|(_, Symbol::Pick(p) | Symbol::Size(p))| p.clone()).collect();
        let extents: Vec<Option<Poly>> = extents.iter().chain(&values).cloned().map(Some).collect();
        maps::bounds(cx, expr, &extents, &values).is_some_and(|(low, high)| {
            facts.prove_non_negative(&low) && facts.prove_non_negative(&size.sub(&high).sub(&1.into()))
        })
    }
}
