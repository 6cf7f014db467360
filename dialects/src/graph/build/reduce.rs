//! Reductions, means and running combinations.

use sutura_ir::affine::AffineExpr;
use sutura_ir::{Type, Value};

use super::super::combine::Combiner;
use super::super::ops::ScanOp;
use super::super::shape_fn::SymShape;
use super::super::structured::IteratorKind;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, Scalars, unsupported};
use crate::r#dyn::Poly;
use crate::elements::{accumulator_type, is_unsigned, scalar_type};

impl<'b> GraphBuilder<'_, 'b> {
    /// Joins what `contribution` makes of the elements along `axes`; a result of element type `elem`. With `keep` the
    /// axes stay, with size 1.
    pub fn reduce(
        &mut self,
        x: Value,
        axes: &[usize],
        keep: bool,
        combiner: Combiner,
        elem: Type,
        contribution: impl FnOnce(&mut Scalars<'_, 'b>, Value) -> Value,
    ) -> Value {
        if is_unsigned(self.cx(), elem) && !axes.is_empty() {
            return self.reduce_unsigned(x, axes, keep, combiner, elem, contribution);
        }
        self.reduce_with(&[(x, true)], axes, keep, combiner, elem, |s, args| contribution(s, args[0]))
    }

    /// Integers without sign are joined as signless ones. For the largest and the smallest the top bit is turned over before and
    /// after, which keeps their order.
    fn reduce_unsigned(
        &mut self,
        x: Value,
        axes: &[usize],
        keep: bool,
        combiner: Combiner,
        elem: Type,
        contribution: impl FnOnce(&mut Scalars<'_, 'b>, Value) -> Value,
    ) -> Value {
        let signless = scalar_type(self.cx(), elem);
        let ordered = matches!(combiner, Combiner::Max | Combiner::Min);
        let turned = |s: &mut Scalars<'_, 'b>, x: Value| {
            let x = s.cast(x, signless);
            let width = s.cx().bit_width(signless).unwrap_or(64);
            let top = s.int(i64::MIN >> (64 - width), signless);
            if ordered { s.bits("arith.xori", x, top) } else { x }
        };
        let joined = self.reduce_with(&[(x, true)], axes, keep, combiner, signless, |s, args| {
            let number = contribution(s, args[0]);
            turned(s, number)
        });
        let back = if ordered { self.map(joined, turned).expect("one operand fits itself") } else { joined };
        self.bitcast(back, elem)
    }

    /// The running combination of `x` along `axis`; see [`ScanOp`].
    ///
    /// # Errors
    /// When the elements are truth values.
    pub fn scan(&mut self, x: Value, axis: usize, combiner: Combiner, exclusive: bool, reverse: bool) -> Built {
        if self.elem(x) == Type::I1 {
            return unsupported("has truth values, which have no running combination");
        }
        let elem = self.elem(x);
        if is_unsigned(self.cx(), elem) {
            if !matches!(combiner, Combiner::Add | Combiner::Mul) {
                return unsupported("runs over integers without sign with a combiner that is no sum or product");
            }
            let signless = self.bitcast(x, scalar_type(self.cx(), elem));
            let made = self.scan(signless, axis, combiner, exclusive, reverse)?;
            return Ok(self.bitcast(made, elem));
        }
        let ty = self.unknown(self.rank(x), elem);
        let state = ScanOp::state(self.b, self.loc, &[x], axis as i64, exclusive, reverse, &[ty], 0);
        let combiner = self.cx().ext_attr(combiner);
        let state = state.prop(self.cx().ident("combiner"), combiner);
        Ok(self.shaped(state))
    }

    /// Like [`Self::reduce`] for several tensors: the first has all dimensions, others marked false have those that
    /// are not reduced.
    pub(super) fn reduce_with(
        &mut self,
        inputs: &[(Value, bool)],
        axes: &[usize],
        keep: bool,
        combiner: Combiner,
        elem: Type,
        contribution: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Value,
    ) -> Value {
        let shape = self.shape(inputs[0].0);
        let rank = shape.len();
        let reduced = |d: usize| axes.contains(&d);
        let kind = |d| if reduced(d) { IteratorKind::Reduce } else { IteratorKind::Parallel };
        let iterators: Vec<IteratorKind> = (0..rank).map(kind).collect();
        let rows: Vec<AffineExpr> = (0..rank).filter(|d| !reduced(*d)).map(|d| self.dim(d)).collect();
        let (mut index, mut sizes) = (Vec::new(), SymShape::new());
        for (d, size) in shape.into_iter().enumerate() {
            match (reduced(d), keep) {
                (false, _) => (index.push(self.dim(d)), sizes.push(size)),
                (true, true) => (index.push(self.cx().affine_const(0)), sizes.push(Some(1.into()))),
                (true, false) => continue,
            };
        }
        let input = |(value, whole): &(Value, bool)| ComputeInput {
            value: *value,
            index: if *whole { self.dims(0..rank) } else { rows.clone() },
            oob: None,
        };
        let inputs = inputs.iter().map(input).collect();
        let combiner = (!axes.is_empty()).then_some(combiner);
        let result = ComputeResult { shape: sizes, elem, index, combiner };
        let op = self.compute(&iterators, inputs, vec![result], |s, args| vec![contribution(s, args)]);
        self.b.body().result(op, 0)
    }

    /// `function` applied to the elements of `x` and of tensors without the dimensions `axes`, which are repeated.
    pub(super) fn along_rows(
        &mut self,
        x: Value,
        rows: &[Value],
        axes: &[usize],
        function: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Value,
    ) -> Value {
        let (shape, elem) = (self.shape(x), self.elem(x));
        let rank = shape.len();
        let kept: Vec<AffineExpr> = (0..rank).filter(|d| !axes.contains(d)).map(|d| self.dim(d)).collect();
        let mut inputs = vec![ComputeInput { value: x, index: self.dims(0..rank), oob: None }];
        inputs.extend(rows.iter().map(|value| ComputeInput { value: *value, index: kept.clone(), oob: None }));
        let result = ComputeResult { shape, elem, index: self.dims(0..rank), combiner: None };
        let op =
            self.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| vec![function(s, args)]);
        self.b.body().result(op, 0)
    }

    /// Number of elements along `axes`.
    ///
    /// # Errors
    /// When a size is unknown.
    pub(super) fn count(&self, x: Value, axes: &[usize]) -> Built<Poly> {
        let shape = self.shape(x);
        let sizes: Option<Vec<Poly>> = axes.iter().map(|a| shape[*a].clone()).collect();
        match sizes {
            Some(sizes) => Ok(Poly::product(&sizes)),
            None => unsupported("needs a size that depends on data"),
        }
    }

    /// The mean along `axes`.
    ///
    /// # Errors
    /// When a size is unknown.
    pub fn mean(&mut self, x: Value, axes: &[usize], keep: bool) -> Built {
        let (count, elem) = (self.count(x, axes)?, self.elem(x));
        let wide = accumulator_type(self.cx(), elem);
        let sum = self.reduce(x, axes, keep, Combiner::Add, wide, |s, x| s.cast(x, wide));
        self.elementwise(&[sum], elem, |s, args| {
            // A sum of integers without sign has none.
            let whole = s.cx().bit_width(elem) == s.cx().bit_width(wide);
            let sum = if whole && is_unsigned(s.cx(), elem) { s.cast(args[0], elem) } else { args[0] };
            let mean = divide_by(s, sum, &count);
            s.cast(mean, elem)
        })
    }
}

/// `x / count`, by the number itself where the count is known.
pub(super) fn divide_by(s: &mut Scalars<'_, '_>, x: Value, count: &Poly) -> Value {
    let ty = s.ty(x);
    let count = match count.as_const() {
        Some(count) => s.number(count as f64, ty),
        None => {
            let count = s.size(count);
            s.cast(count, ty)
        }
    };
    s.div(x, count)
}
