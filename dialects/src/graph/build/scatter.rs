//! Writes by index.

use sutura_ir::{OpRef, Type, Value};

use super::super::combine::Combiner;
use super::super::rule::SizeRule;
use super::super::scatter::{ScatterOp, ScatterRule};
use super::{Built, GraphBuilder, Scalars, fail};
use crate::r#dyn::attr::tensor_of;
use crate::elements::is_unsigned;

/// How an update comes to the element at its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Joined {
    /// It takes its place.
    Replace,
    /// It is joined to it, as integers without sign where the elements are such.
    By(Combiner),
}

/// What a combiner makes of two numbers.
fn join(s: &mut Scalars<'_, '_>, combiner: Combiner, a: Value, b: Value) -> Value {
    match combiner {
        Combiner::Add => s.add(a, b),
        Combiner::Mul => s.mul(a, b),
        Combiner::Max => s.max(a, b),
        Combiner::Min => s.min(a, b),
        Combiner::And => s.bits("arith.andi", a, b),
        Combiner::Or => s.bits("arith.ori", a, b),
    }
}

impl GraphBuilder<'_, '_> {
    /// `data` with `updates` at `indices`, along `axis` or for as many dimensions as the last one of `indices` counts; see
    /// [`ScatterOp`].
    ///
    /// # Errors
    /// When shapes do not fit, or the number of indices per place is not known.
    pub fn scatter(
        &mut self,
        (data, indices, updates): (Value, Value, Value),
        axis: Option<usize>,
        joined: Joined,
    ) -> Built {
        if axis.is_none() && self.rank(indices) > 0 {
            self.indices_per_place(indices)?;
        }
        let (cx, elem) = (self.cx(), self.elem(data));
        let ty = tensor_of(cx, &self.shape(data), elem);
        let combiner = match joined {
            Joined::Replace => None,
            Joined::By(combiner) => Some(combiner),
        };
        // Combiners take integers as signed ones; a region says what is meant.
        let region = combiner.filter(|_| is_unsigned(cx, elem));
        let axis = axis.map(|axis| axis as i64);
        let tensors = [data, indices, updates];
        let mut state = ScatterOp::state(self.b, self.loc, &tensors, axis, &[ty], region.is_some().into());
        if let Some(named) = combiner.filter(|_| region.is_none()) {
            state = state.prop(cx.ident("combiner"), cx.ext_attr(named));
        }
        let op = self.b.create(state);
        if let Some(combiner) = region {
            self.fill_with(op, 0, vec![elem, elem], |s, args| vec![join(s, combiner, args[0], args[1])]);
        }
        let view = OpRef::new(cx, self.b.body(), op);
        let follows = ScatterRule.sizes(view, &self.env).or_else(fail)?;
        for needed in follows.required {
            self.unify(&Some(needed.lhs), &Some(needed.rhs), || needed.what)?;
        }
        Ok(self.finish(op))
    }
}

impl Joined {
    /// What an attribute `reduction` of ONNX asks for elements of that type; `None` for a word that it does not know. Truth
    /// values are added as by `or` and multiplied as by `and`.
    pub fn of_reduction(word: &str, elem: Type) -> Option<Self> {
        let truth = elem == Type::I1;
        Some(match (word, truth) {
            ("none", _) => Self::Replace,
            ("add", false) => Self::By(Combiner::Add),
            ("mul", false) => Self::By(Combiner::Mul),
            ("max", false) => Self::By(Combiner::Max),
            ("min", false) => Self::By(Combiner::Min),
            ("add" | "max", true) => Self::By(Combiner::Or),
            ("mul" | "min", true) => Self::By(Combiner::And),
            _ => return None,
        })
    }
}
