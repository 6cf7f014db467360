//! Sums of products over dimensions that have labels.

use sutura_ir::{Type, Value};

use super::super::combine::Combiner;
use super::super::shape_fn::SymShape;
use super::super::structured::IteratorKind;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, linear::product};
use crate::elements::accumulator_type;

/// A tensor whose dimensions have labels; a label that stands twice is a diagonal.
#[derive(Clone, Debug)]
pub struct Factor {
    /// The tensor.
    pub value: Value,
    /// One for each of its dimensions.
    pub labels: Vec<usize>,
}

impl GraphBuilder<'_, '_> {
    /// The product of one factor or two, summed over the labels that are not `kept`; a result of element type `elem` with the
    /// dimensions `kept`, each of which a factor has. Dimensions of one label are broadcast together.
    ///
    /// # Errors
    /// When sizes of a label cannot be equal.
    pub fn contract(&mut self, first: &Factor, second: Option<&Factor>, kept: &[usize], elem: Type) -> Built {
        let factors: Vec<&Factor> = std::iter::once(first).chain(second).collect();
        let mut labels = kept.to_vec();
        for label in factors.iter().flat_map(|factor| &factor.labels) {
            if !labels.contains(label) {
                labels.push(*label);
            }
        }
        let shapes = factors.iter().map(|factor| self.aligned(factor, &labels)).collect::<Built<Vec<SymShape>>>()?;
        let broadcast = self.broadcast(&shapes)?;
        let inputs = factors.iter().zip(&broadcast.stretched).map(|(factor, stretched)| {
            let place = |label: &usize| labels.iter().position(|l| l == label).filter(|at| !stretched[*at]);
            let index = |label: &usize| place(label).map_or(self.cx().affine_const(0), |at| self.dim(at));
            ComputeInput { value: factor.value, index: factor.labels.iter().map(index).collect(), oob: None }
        });
        let inputs: Vec<ComputeInput> = inputs.collect();
        let sums = labels.len() > kept.len();
        let kind = |at| if at < kept.len() { IteratorKind::Parallel } else { IteratorKind::Reduce };
        let kinds: Vec<IteratorKind> = (0..labels.len()).map(kind).collect();
        let (shape, index) = (broadcast.shape[..kept.len()].to_vec(), self.dims(0..kept.len()));
        let result = ComputeResult { shape, elem, index, combiner: sums.then_some(Combiner::Add) };
        let op = self.compute(&kinds, inputs, vec![result], |s, args| {
            let wide = match args {
                [x] => s.cast(*x, accumulator_type(s.cx(), s.ty(*x))),
                args => product(s, args[0], args[1]),
            };
            vec![if sums { wide } else { s.cast(wide, elem) }]
        });
        Ok(self.b.body().result(op, 0))
    }

    /// Sizes of the labels in a factor: 1 for those that it lacks.
    fn aligned(&mut self, factor: &Factor, labels: &[usize]) -> Built<SymShape> {
        let shape = self.shape(factor.value);
        let mut aligned = vec![None; labels.len()];
        for (at, label) in labels.iter().enumerate() {
            let dims: Vec<usize> = (0..shape.len()).filter(|d| factor.labels[*d] == *label).collect();
            let Some((first, rest)) = dims.split_first() else {
                aligned[at] = Some(1.into());
                continue;
            };
            aligned[at] = shape[*first].clone();
            for d in rest {
                aligned[at] = self
                    .unify(&aligned[at].clone(), &shape[*d], || format!("dimensions {first} and {d} of a diagonal"))?;
            }
        }
        Ok(aligned)
    }
}
