//! What routines of the runtime compute.

use sutura_ir::{Op, OpState, Type, Value};

use super::super::decide_size::DecideSizeOp;
use super::super::fft::FftOp;
use super::super::non_max_suppression::NonMaxSuppressionOp;
use super::super::non_zero::NonZeroOp;
use super::super::shape_fn::static_len;
use super::super::sort::SortOp;
use super::super::top_k::TopKOp;
use super::super::unique::UniqueOp;
use super::{BuildError, Built, GraphBuilder, fail};
use crate::r#dyn::attr::tensor_of;
use crate::r#dyn::facts::MAX_DIM;
use crate::r#dyn::{Poly, SymbolInfo};

/// Which way, and how much, a transform makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Transform {
    /// The way back, divided by the size.
    pub inverse: bool,
    /// Only the first half of the result and one; with `inverse`, of the input.
    pub onesided: bool,
}

impl GraphBuilder<'_, '_> {
    /// Tensors sorted along `axis` by the first of them, one for each entry of `descending`; see [`SortOp`].
    pub fn sort(&mut self, inputs: &[Value], axis: usize, descending: &[bool]) -> Vec<Value> {
        let types: Vec<Type> = inputs.iter().map(|x| self.unknown(self.rank(*x), self.elem(*x))).collect();
        let descending: Vec<i64> = descending.iter().map(|d| i64::from(*d)).collect();
        let state = SortOp::state(self.b, self.loc, inputs, axis as i64, &descending, &types);
        self.all_shaped(state)
    }

    /// The first elements of `x` in order along `axis`, and their positions; see [`TopKOp`].
    ///
    /// # Errors
    /// When there are not so many.
    pub fn top_k(&mut self, x: Value, size: &Poly, axis: usize, smallest: bool) -> Built<Vec<Value>> {
        let along = self.shape(x).get(axis).cloned().flatten();
        if along.is_some_and(|along| self.env.facts.range(&along.sub(size)).1 < 0) {
            return fail(format!("takes {size} elements of fewer"));
        }
        let (values, positions) = (self.unknown(self.rank(x), self.elem(x)), self.unknown(self.rank(x), Type::I64));
        let state = TopKOp::state(self.b, self.loc, x, size, axis as i64, smallest, values, positions);
        Ok(self.all_shaped(state))
    }

    /// Positions of the elements of `x` that are not zero, as columns; `looks_for` says what these stand for. See [`NonZeroOp`].
    pub fn non_zero(&mut self, x: Value, looks_for: Option<&str>) -> Value {
        let ty = self.unknown(2, Type::I64);
        let state = NonZeroOp::state(self.b, self.loc, looks_for, x, ty);
        self.all_shaped(state)[0]
    }

    /// A tensor without elements whose first size is a number, for which there are places; see [`DecideSizeOp`].
    pub fn decide_size(&mut self, number: Value, places: Value) -> Value {
        let ty = self.unknown(2, self.elem(places));
        let state = DecideSizeOp::state(self.b, self.loc, places, number, ty);
        self.all_shaped(state)[0]
    }

    /// The discrete Fourier transform of `x` along `axis`; see [`FftOp`].
    ///
    /// # Errors
    /// When `x` does not hold floats of 16 bits at least, of one part or two along the last dimension.
    pub fn fft(&mut self, x: Value, size: &Poly, axis: usize, way: Transform) -> Built {
        let (shape, elem) = (self.shape(x), self.elem(x));
        let parts = shape.last().and_then(|size| size.as_ref()?.as_const());
        if !parts.is_some_and(|parts| (1..=2).contains(&parts)) {
            return fail("needs an input whose last dim has the constant size 1 (real) or 2 (complex)");
        }
        if axis + 1 >= shape.len() {
            return fail("cannot run along the last dim, which holds the parts of a number");
        }
        if !elem.is_float(self.cx()) || self.cx().bit_width(elem).is_none_or(|bits| bits < 16) {
            return fail("transforms floats of 16 bits at least");
        }
        let ty = self.unknown(shape.len(), elem);
        let state = FftOp::state(self.b, self.loc, x, size, axis as i64, way.inverse, way.onesided, ty);
        Ok(self.all_shaped(state)[0])
    }

    /// The slices of `x` along `axis` without repetition, where they stand first, which of them each slice is, and how often each
    /// occurs; see [`UniqueOp`].
    pub fn unique(&mut self, x: Value, axis: usize, sorted: bool) -> Vec<Value> {
        let values = self.unknown(self.rank(x), self.elem(x));
        let list = self.unknown(1, Type::I64);
        let state = UniqueOp::state(self.b, self.loc, x, axis as i64, !sorted, values, list, list, list);
        self.all_shaped(state)
    }

    /// The boxes with the greatest scores that do not overlap one another; see [`NonMaxSuppressionOp`]. The inputs are `scores`,
    /// `boxes`, `most`, `overlap` and `least`.
    ///
    /// # Errors
    /// When these are not as the op needs them.
    pub fn non_max_suppression(&mut self, inputs: [Value; 5], centers: bool, filtered: bool) -> Built {
        for (value, name) in inputs.iter().zip(["scores", "boxes"]) {
            if self.rank(*value) != 3 {
                return fail(format!("needs {name} of rank 3, not {}", self.rank(*value)));
            }
        }
        let numbers = self.shape(inputs[1])[2].as_ref().and_then(Poly::as_const);
        if numbers != Some(4) {
            return fail("needs boxes whose last dim has the constant size 4");
        }
        for (value, name) in inputs[2..].iter().zip(["number of boxes", "overlap", "score"]) {
            if static_len(&self.shape(*value)) != Some(1) {
                return fail(format!("needs one number as the limit of the {name}"));
            }
        }
        let [scores, boxes, most, overlap, least] = inputs;
        let ty = self.unknown(2, Type::I64);
        let loc = self.loc;
        let state = NonMaxSuppressionOp::state(self.b, loc, scores, boxes, most, overlap, least, centers, filtered, ty);
        Ok(self.all_shaped(state)[0])
    }

    /// Calls a size of a result of an op that decides it `name`, which nothing else is called.
    ///
    /// # Errors
    /// When the op does not decide that size: its operands do not fit each other, so that it has no sizes.
    ///
    /// # Panics
    /// When the value is no result of an op.
    pub fn decide(&mut self, value: Value, dim: usize, name: &str) -> Built<()> {
        let op = self.b.body().defining_op(value).expect("the result of an op");
        let decided = self.update(op).decided;
        let results: Vec<Value> = self.b.body().results(op).collect();
        let number = results.iter().position(|result| *result == value).expect("a result of its op");
        let decided = decided.into_iter().find(|decided| decided.places.contains(&(number, dim)));
        let Some(decided) = decided else {
            return Err(BuildError::Wrong(format!(
                "decides no size of dimension {dim}: its inputs do not fit each other"
            )));
        };
        let most = self.env.facts.range(&decided.most).1.clamp(0, MAX_DIM.into()) as i64;
        self.env.facts.define(name, SymbolInfo { max: most, ..SymbolInfo::default() });
        for (result, dim) in decided.places {
            let mut shape = self.shape(results[result]);
            shape[dim] = Some(Poly::symbol(name));
            let ty = tensor_of(self.cx(), &shape, self.elem(results[result]));
            self.b.set_type(results[result], ty);
            self.env.set_shape(results[result], shape);
        }
        Ok(())
    }

    /// The results of an op whose shape function knows their shapes.
    fn all_shaped(&mut self, state: OpState) -> Vec<Value> {
        let op: Op = self.b.create(state);
        self.update(op);
        let results: Vec<Value> = self.b.body().results(op).collect();
        for result in &results {
            let ty = tensor_of(self.cx(), &self.shape(*result), self.elem(*result));
            self.b.set_type(*result, ty);
        }
        results
    }
}
