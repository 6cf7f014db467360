//! Affine maps and integer sets.

use rustc_hash::FxHashMap;

use sutura_ir::affine::{AffineExpr, AffineMap, AffineOp, IntegerSet};
use sutura_ir::diagnostics::Reported;

use super::Reader;
use crate::rules::{Node, Nodes, Rule};

/// Operators in one map or set: what is built from them is walked recursively.
const MAX_OPERATORS: usize = 1000;

/// Names of dimensions and symbols, and how many operators have been met.
struct Scope<'t> {
    names: FxHashMap<&'t str, AffineExpr>,
    dims: u32,
    symbols: u32,
    operators: usize,
}

impl<'t> Reader<'t> {
    /// `affine_map<…>`
    pub(super) fn affine_map(&mut self, node: Node<'t>) -> Result<AffineMap, Reported> {
        let map = node.child().expect("a map");
        let mut children = map.children();
        let mut scope = self.spaces(&mut children)?;
        let results = children.map(|n| self.sum(n, &mut scope)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.cx.affine_map(scope.dims, scope.symbols, &results))
    }

    /// `affine_set<…>`
    pub(super) fn affine_set(&mut self, node: Node<'t>) -> Result<IntegerSet, Reported> {
        let set = node.child().expect("a set");
        let mut children = set.children();
        let mut scope = self.spaces(&mut children)?;
        let mut constraints = Vec::new();
        for constraint in children {
            constraints.push(self.constraint(constraint, &mut scope)?);
        }
        if constraints.is_empty() {
            // Everything: what holds anywhere stands for it.
            constraints.push((self.cx.affine_const(0), true));
        }
        Ok(self.cx.integer_set(scope.dims, scope.symbols, &constraints))
    }

    fn spaces(&mut self, children: &mut Nodes<'t>) -> Result<Scope<'t>, Reported> {
        let mut scope = Scope { names: FxHashMap::default(), dims: 0, symbols: 0, operators: 0 };
        let dims = children.take_rule(Rule::dims).expect("dimensions");
        for name in dims.children() {
            let expr = self.cx.affine_dim(scope.dims);
            scope.dims += 1;
            self.bind(&mut scope, &name, expr)?;
        }
        if let Some(symbols) = children.take_rule(Rule::symbols) {
            for name in symbols.children() {
                let expr = self.cx.affine_symbol(scope.symbols);
                scope.symbols += 1;
                self.bind(&mut scope, &name, expr)?;
            }
        }
        Ok(scope)
    }

    fn bind(&mut self, scope: &mut Scope<'t>, name: &Node<'t>, expr: AffineExpr) -> Result<(), Reported> {
        match scope.names.insert(name.text(), expr) {
            None => Ok(()),
            Some(_) => Err(self.error(name.start(), format!("redefinition of identifier '{}'", name.text()))),
        }
    }

    fn constraint(&mut self, node: Node<'t>, scope: &mut Scope<'t>) -> Result<(AffineExpr, bool), Reported> {
        let mut children = node.children();
        let lhs = self.sum(children.next().expect("a sum"), scope)?;
        let comparison = children.next().expect("a comparison");
        let rhs = self.sum(children.next().expect("a sum"), scope)?;
        let difference = match comparison.text() {
            "<=" => self.minus(rhs, lhs),
            _ => self.minus(lhs, rhs),
        };
        Ok((difference, comparison.text() == "=="))
    }

    fn minus(&self, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr {
        self.cx.affine_binary(AffineOp::Add, lhs, self.negated(rhs))
    }

    fn negated(&self, expr: AffineExpr) -> AffineExpr {
        self.cx.affine_binary(AffineOp::Mul, expr, self.cx.affine_const(-1))
    }

    fn count(&mut self, scope: &mut Scope<'t>, at: usize) -> Result<(), Reported> {
        scope.operators += 1;
        if scope.operators > MAX_OPERATORS {
            let message = format!("an affine map or set has at most {MAX_OPERATORS} operators");
            return Err(self.error(at, message));
        }
        Ok(())
    }

    fn sum(&mut self, node: Node<'t>, scope: &mut Scope<'t>) -> Result<AffineExpr, Reported> {
        let at = node.start();
        self.nested(at, |r| {
            let mut children = node.children();
            let mut sum = r.product(children.next().expect("a product"), scope)?;
            while let (Some(op), Some(product)) = (children.next(), children.next()) {
                r.count(scope, op.start())?;
                let product = r.product(product, scope)?;
                sum = match op.text() {
                    "-" => r.minus(sum, product),
                    _ => r.cx.affine_binary(AffineOp::Add, sum, product),
                };
            }
            Ok(sum)
        })
    }

    fn product(&mut self, node: Node<'t>, scope: &mut Scope<'t>) -> Result<AffineExpr, Reported> {
        let mut children = node.children();
        let mut product = self.factor(children.next().expect("a factor"), scope)?;
        while let (Some(op), Some(factor)) = (children.next(), children.next()) {
            self.count(scope, op.start())?;
            // Upstream finds out at the next operator.
            let at = children.clone().next().map_or(op.start(), |next| next.start());
            let factor = self.factor(factor, scope)?;
            let affine = match op.text() {
                "*" => AffineOp::Mul,
                "floordiv" => AffineOp::FloorDiv,
                "ceildiv" => AffineOp::CeilDiv,
                _ => AffineOp::Mod,
            };
            self.check_affine(affine, op.text(), product, factor, at)?;
            product = self.cx.affine_binary(affine, product, factor);
        }
        Ok(product)
    }

    fn check_affine(
        &mut self,
        op: AffineOp,
        word: &str,
        lhs: AffineExpr,
        rhs: AffineExpr,
        at: usize,
    ) -> Result<(), Reported> {
        let cx = self.cx;
        let message = match op {
            _ if cx.affine_is_symbolic(rhs) => return Ok(()),
            AffineOp::Mul if cx.affine_is_symbolic(lhs) => return Ok(()),
            AffineOp::Mul => "non-affine expression: at least one of the multiply operands has to be either a \
                              constant or symbolic"
                .to_string(),
            _ => format!("non-affine expression: right operand of {word} has to be either a constant or symbolic"),
        };
        Err(self.error(at, message))
    }

    fn factor(&mut self, node: Node<'t>, scope: &mut Scope<'t>) -> Result<AffineExpr, Reported> {
        match node.rule() {
            Rule::unsigned => match super::signed(node.text()) {
                Some(value) => Ok(self.cx.affine_const(value)),
                None => Err(self.error(node.start(), "constant too large for index")),
            },
            Rule::name => match scope.names.get(node.text()) {
                Some(&expr) => Ok(expr),
                None => Err(self.error(node.start(), "use of undeclared identifier")),
            },
            Rule::negation => {
                let at = node.start();
                self.count(scope, at)?;
                let factor = node.child().expect("a factor");
                let factor = self.nested(at, |r| r.factor(factor, scope))?;
                Ok(self.negated(factor))
            }
            _ => self.sum(node, scope),
        }
    }
}
