//! Affine expressions, maps and integer sets.

use sutura_arena::SliceInterner;

use crate::context::Context;
use crate::handle::interned_handle;

interned_handle! {
    /// An interned affine expression.
    AffineExpr;
    /// An interned affine map.
    AffineMap;
    /// An interned integer set.
    IntegerSet;
    /// An interned list of affine expressions.
    AffineExprList;
}

/// Binary operators of affine expressions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AffineOp {
    /// `+`
    Add,
    /// `*`
    Mul,
    /// `floordiv`
    FloorDiv,
    /// `ceildiv`
    CeilDiv,
    /// `mod`
    Mod,
}

/// What an affine expression is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AffineExprData {
    /// A constant.
    Const(i64),
    /// `d0`
    Dim(u32),
    /// `s0`
    Symbol(u32),
    /// An operator applied to two expressions.
    Binary(AffineOp, AffineExpr, AffineExpr),
}

/// `affine_map<(d0, …)[s0, …] -> (…)>`
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AffineMapData {
    /// Number of dimensions.
    pub dims: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// Results.
    pub results: AffineExprList,
}

/// `affine_set<(d0, …)[s0, …] : (… >= 0, … == 0)>`
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntegerSetData {
    /// Number of dimensions.
    pub dims: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// Left-hand sides.
    pub constraints: AffineExprList,
    /// For each constraint 1 for an equality, 0 for an inequality.
    pub equalities: crate::context::IntList,
}

fn exprs(table: &SliceInterner<AffineExpr>, list: AffineExprList) -> &[AffineExpr] {
    table.get(list.index())
}

impl Context {
    /// What an affine expression is.
    pub fn affine_data(&self, expr: AffineExpr) -> AffineExprData {
        *self.affine_exprs.get(expr.index())
    }

    /// Interns an expression as it stands.
    fn affine_raw(&self, data: AffineExprData) -> AffineExpr {
        AffineExpr::from_index(self.affine_exprs.intern(data))
    }

    /// A constant.
    pub fn affine_const(&self, value: i64) -> AffineExpr {
        self.affine_raw(AffineExprData::Const(value))
    }

    /// `d<index>`
    pub fn affine_dim(&self, index: u32) -> AffineExpr {
        self.affine_raw(AffineExprData::Dim(index))
    }

    /// `s<index>`
    pub fn affine_symbol(&self, index: u32) -> AffineExpr {
        self.affine_raw(AffineExprData::Symbol(index))
    }

    fn affine_as_const(&self, expr: AffineExpr) -> Option<i64> {
        match self.affine_data(expr) {
            AffineExprData::Const(value) => Some(value),
            _ => None,
        }
    }

    /// True when no dimension occurs: such an expression may be the right-hand side of `*`, `floordiv`, `mod`.
    pub fn affine_is_symbolic(&self, expr: AffineExpr) -> bool {
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            match self.affine_data(expr) {
                AffineExprData::Dim(_) => return false,
                AffineExprData::Binary(_, a, b) => pending.extend([a, b]),
                AffineExprData::Const(_) | AffineExprData::Symbol(_) => {}
            }
        }
        true
    }

    /// `lhs op rhs`, simplified the way MLIR does when it builds one, so that texts agree: constants fold and move
    /// to the right, neutral and absorbing elements vanish.
    ///
    /// Overflow and division by a non-positive constant leave the expression unsimplified.
    pub fn affine_binary(&self, op: AffineOp, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr {
        let simpler = match op {
            AffineOp::Add => self.simplify_add(lhs, rhs),
            AffineOp::Mul => self.simplify_mul(lhs, rhs),
            AffineOp::FloorDiv | AffineOp::CeilDiv => self.simplify_div(op, lhs, rhs),
            AffineOp::Mod => self.simplify_mod(lhs, rhs),
        };
        simpler.unwrap_or_else(|| self.affine_raw(AffineExprData::Binary(op, lhs, rhs)))
    }

    fn simplify_add(&self, lhs: AffineExpr, rhs: AffineExpr) -> Option<AffineExpr> {
        if let (Some(a), Some(b)) = (self.affine_as_const(lhs), self.affine_as_const(rhs)) {
            return Some(self.affine_const(a.checked_add(b)?));
        }
        // Constants stand last, and a symbolic operand after one that is not.
        if self.affine_as_const(lhs).is_some() || (self.affine_is_symbolic(lhs) && !self.affine_is_symbolic(rhs)) {
            return Some(self.affine_binary(AffineOp::Add, rhs, lhs));
        }
        if self.affine_out_of_order(lhs, rhs) {
            return Some(self.affine_binary(AffineOp::Add, rhs, lhs));
        }
        match (self.affine_data(lhs), self.affine_as_const(rhs)) {
            (_, Some(0)) => Some(lhs),
            (AffineExprData::Binary(AffineOp::Add, a, b), Some(c)) => {
                let sum = self.affine_as_const(b)?.checked_add(c)?;
                Some(self.affine_binary(AffineOp::Add, a, self.affine_const(sum)))
            }
            _ => self.simplify_add_terms(lhs, rhs),
        }
    }

    /// `a*c1 + a*c2` is `a*(c1 + c2)`; `(a + c) + b` is `(a + b) + c`; `x floordiv c * -c + x` is `x mod c`.
    fn simplify_add_terms(&self, lhs: AffineExpr, rhs: AffineExpr) -> Option<AffineExpr> {
        let ((a, ca), (b, cb)) = (self.affine_scaled(lhs), self.affine_scaled(rhs));
        if a == b {
            return Some(self.affine_binary(AffineOp::Mul, a, self.affine_const(ca.checked_add(cb)?)));
        }
        if let AffineExprData::Binary(AffineOp::Add, x, c) = self.affine_data(lhs)
            && self.affine_as_const(c).is_some()
        {
            let sum = self.affine_binary(AffineOp::Add, x, rhs);
            return Some(self.affine_binary(AffineOp::Add, sum, c));
        }
        if let AffineExprData::Binary(AffineOp::FloorDiv, x, d) = self.affine_data(b)
            && x == lhs
            && self.affine_as_const(d).is_some_and(|d| d > 0 && cb == -d)
        {
            return Some(self.affine_binary(AffineOp::Mod, lhs, d));
        }
        None
    }

    /// True for two dimensions or two symbols of which the second has the smaller number.
    fn affine_out_of_order(&self, lhs: AffineExpr, rhs: AffineExpr) -> bool {
        match (self.affine_data(lhs), self.affine_data(rhs)) {
            (AffineExprData::Dim(a), AffineExprData::Dim(b))
            | (AffineExprData::Symbol(a), AffineExprData::Symbol(b)) => a > b,
            _ => false,
        }
    }

    /// An expression as factor and base: `a * c` is `(a, c)`, any other is itself times one.
    fn affine_scaled(&self, expr: AffineExpr) -> (AffineExpr, i64) {
        match self.affine_data(expr) {
            AffineExprData::Binary(AffineOp::Mul, a, c) => match self.affine_as_const(c) {
                Some(c) => (a, c),
                None => (expr, 1),
            },
            _ => (expr, 1),
        }
    }

    fn simplify_mul(&self, lhs: AffineExpr, rhs: AffineExpr) -> Option<AffineExpr> {
        if let (Some(a), Some(b)) = (self.affine_as_const(lhs), self.affine_as_const(rhs)) {
            return Some(self.affine_const(a.checked_mul(b)?));
        }
        if !self.affine_is_symbolic(rhs) || self.affine_as_const(lhs).is_some() {
            if self.affine_is_symbolic(lhs) {
                return Some(self.affine_binary(AffineOp::Mul, rhs, lhs));
            }
            return None;
        }
        if self.affine_out_of_order(lhs, rhs) {
            return Some(self.affine_binary(AffineOp::Mul, rhs, lhs));
        }
        match (self.affine_data(lhs), self.affine_as_const(rhs)) {
            (_, Some(1)) => Some(lhs),
            (_, Some(0)) => Some(rhs),
            (AffineExprData::Binary(AffineOp::Mul, a, b), Some(c)) => {
                let product = self.affine_as_const(b)?.checked_mul(c)?;
                Some(self.affine_binary(AffineOp::Mul, a, self.affine_const(product)))
            }
            // The constant stands last.
            (AffineExprData::Binary(AffineOp::Mul, a, c), None) if self.affine_as_const(c).is_some() => {
                let product = self.affine_binary(AffineOp::Mul, a, rhs);
                Some(self.affine_binary(AffineOp::Mul, product, c))
            }
            _ => None,
        }
    }

    fn simplify_div(&self, op: AffineOp, lhs: AffineExpr, rhs: AffineExpr) -> Option<AffineExpr> {
        let divisor = self.affine_as_const(rhs).filter(|&d| d >= 1)?;
        if let Some(value) = self.affine_as_const(lhs) {
            let floor = value.div_euclid(divisor);
            let up = op == AffineOp::CeilDiv && value.rem_euclid(divisor) != 0;
            return Some(self.affine_const(floor + i64::from(up)));
        }
        if divisor == 1 {
            return Some(lhs);
        }
        match self.affine_data(lhs) {
            AffineExprData::Binary(AffineOp::Mul, a, c) => {
                let c = self.affine_as_const(c).filter(|c| c % divisor == 0)?;
                Some(self.affine_binary(AffineOp::Mul, a, self.affine_const(c / divisor)))
            }
            AffineExprData::Binary(AffineOp::Add, a, b) if op == AffineOp::FloorDiv => {
                let divides = |e| self.affine_known_divisor(e).is_multiple_of(divisor as u64);
                (divides(a) || divides(b)).then(|| {
                    let part = |e| self.affine_binary(op, e, rhs);
                    self.affine_binary(AffineOp::Add, part(a), part(b))
                })
            }
            _ => None,
        }
    }

    fn simplify_mod(&self, lhs: AffineExpr, rhs: AffineExpr) -> Option<AffineExpr> {
        let modulus = self.affine_as_const(rhs).filter(|&m| m >= 1)?;
        if let Some(value) = self.affine_as_const(lhs) {
            return Some(self.affine_const(value.rem_euclid(modulus)));
        }
        if self.affine_known_divisor(lhs).is_multiple_of(modulus as u64) {
            return Some(self.affine_const(0));
        }
        match self.affine_data(lhs) {
            AffineExprData::Binary(AffineOp::Add, a, b) => {
                let divides = |e| self.affine_known_divisor(e).is_multiple_of(modulus as u64);
                if divides(a) {
                    Some(self.affine_binary(AffineOp::Mod, b, rhs))
                } else if divides(b) {
                    Some(self.affine_binary(AffineOp::Mod, a, rhs))
                } else {
                    None
                }
            }
            AffineExprData::Binary(AffineOp::Mod, a, c) => {
                let inner = self.affine_as_const(c)?;
                (inner >= 1 && inner % modulus == 0).then(|| self.affine_binary(AffineOp::Mod, a, rhs))
            }
            _ => None,
        }
    }

    /// A number that divides every value of the expression; 0 stands for an expression that is always zero.
    fn affine_known_divisor(&self, expr: AffineExpr) -> u64 {
        match self.affine_data(expr) {
            AffineExprData::Const(value) => value.unsigned_abs(),
            AffineExprData::Dim(_) | AffineExprData::Symbol(_) => 1,
            AffineExprData::Binary(AffineOp::Mul, a, b) => {
                self.affine_known_divisor(a).saturating_mul(self.affine_known_divisor(b))
            }
            AffineExprData::Binary(AffineOp::Add | AffineOp::Mod, a, b) => {
                gcd(self.affine_known_divisor(a), self.affine_known_divisor(b))
            }
            AffineExprData::Binary(AffineOp::FloorDiv | AffineOp::CeilDiv, a, b) => match self.affine_as_const(b) {
                Some(d) if d != 0 && self.affine_known_divisor(a).is_multiple_of(d.unsigned_abs()) => {
                    self.affine_known_divisor(a) / d.unsigned_abs()
                }
                _ => 1,
            },
        }
    }

    /// Interns a list of affine expressions.
    pub fn affine_expr_list(&self, list: &[AffineExpr]) -> AffineExprList {
        AffineExprList::from_index(self.affine_lists.intern(list))
    }

    /// Elements of a list of affine expressions.
    pub fn affine_exprs(&self, list: AffineExprList) -> &[AffineExpr] {
        exprs(&self.affine_lists, list)
    }

    /// Interns an affine map.
    pub fn affine_map(&self, dims: u32, symbols: u32, results: &[AffineExpr]) -> AffineMap {
        let results = self.affine_expr_list(results);
        AffineMap::from_index(self.affine_maps.intern(AffineMapData { dims, symbols, results }))
    }

    /// `(d0, …, dn-1) -> (d0, …, dn-1)`
    pub fn identity_map(&self, rank: u32) -> AffineMap {
        let results: Vec<_> = (0..rank).map(|i| self.affine_dim(i)).collect();
        self.affine_map(rank, 0, &results)
    }

    /// What an affine map is.
    pub fn affine_map_data(&self, map: AffineMap) -> AffineMapData {
        *self.affine_maps.get(map.index())
    }

    /// Results of an affine map.
    pub fn map_results(&self, map: AffineMap) -> &[AffineExpr] {
        self.affine_exprs(self.affine_map_data(map).results)
    }

    /// The affine map as attribute.
    pub fn affine_map_attr(&self, map: AffineMap) -> Attr {
        self.attr(AttrData::AffineMap(map))
    }

    /// Interns an integer set.
    pub fn integer_set(&self, dims: u32, symbols: u32, constraints: &[(AffineExpr, bool)]) -> IntegerSet {
        let exprs: Vec<_> = constraints.iter().map(|c| c.0).collect();
        let equalities: Vec<_> = constraints.iter().map(|c| i64::from(c.1)).collect();
        let data = IntegerSetData {
            dims,
            symbols,
            constraints: self.affine_expr_list(&exprs),
            equalities: self.int_list(&equalities),
        };
        IntegerSet::from_index(self.integer_sets.intern(data))
    }

    /// What an integer set is.
    pub fn integer_set_data(&self, set: IntegerSet) -> IntegerSetData {
        *self.integer_sets.get(set.index())
    }

    /// Value of an expression at a point; `None` on overflow or division by a number below one.
    pub fn affine_eval(&self, expr: AffineExpr, dims: &[i64], symbols: &[i64]) -> Option<i64> {
        match self.affine_data(expr) {
            AffineExprData::Const(value) => Some(value),
            AffineExprData::Dim(i) => dims.get(i as usize).copied(),
            AffineExprData::Symbol(i) => symbols.get(i as usize).copied(),
            AffineExprData::Binary(op, a, b) => {
                let (a, b) = (self.affine_eval(a, dims, symbols)?, self.affine_eval(b, dims, symbols)?);
                match op {
                    AffineOp::Add => a.checked_add(b),
                    AffineOp::Mul => a.checked_mul(b),
                    _ if b < 1 => None,
                    AffineOp::FloorDiv => Some(a.div_euclid(b)),
                    AffineOp::CeilDiv => Some(a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)),
                    AffineOp::Mod => Some(a.rem_euclid(b)),
                }
            }
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

use crate::attrs::{Attr, AttrData};
