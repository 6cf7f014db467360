//! Matrix products.

use sutura_ir::{Type, Value};

use super::super::combine::Combiner;
use super::super::shape_fn::SymShape;
use super::super::structured::IteratorKind;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, Scalars, fail};
use crate::elements::{accumulator_type, is_unsigned, scalar_type};

/// The contribution of one pair of elements, in the type in which products are accumulated.
pub(super) fn product(s: &mut Scalars<'_, '_>, a: Value, b: Value) -> Value {
    let wide = accumulator_type(s.cx(), s.ty(a));
    let (a, b) = (s.cast(a, wide), s.cast(b, wide));
    s.mul(a, b)
}

impl GraphBuilder<'_, '_> {
    /// `numpy.matmul`: products of the last two dimensions, all others broadcast; a vector stands for a matrix of one
    /// row (first operand) or column (second).
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn matmul(&mut self, a: Value, b: Value) -> Built {
        self.product(a, b, false, false)
    }

    /// Like [`Self::matmul`], with the last two dimensions of an operand swapped where asked for.
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn product(&mut self, a: Value, b: Value, transpose_a: bool, transpose_b: bool) -> Built {
        let elem = self.elem(a);
        if is_unsigned(self.cx(), elem) && self.cx().bit_width(elem).is_some_and(|bits| bits >= 32) {
            // Sums and products of such integers are those of signless ones.
            let signless = scalar_type(self.cx(), elem);
            let (a, b) = (self.bitcast(a, signless), self.bitcast(b, signless));
            let made = self.product(a, b, transpose_a, transpose_b)?;
            return Ok(self.bitcast(made, elem));
        }
        self.contraction((a, transpose_a), (b, transpose_b), elem, &[], |s, args| product(s, args[0], args[1]))
    }

    /// The sums of what `term` makes of each pair of elements and of `more`, tensors of rank 0; see [`Self::product`].
    ///
    /// # Errors
    /// When shapes do not fit.
    pub(super) fn contraction(
        &mut self,
        (a, transpose_a): (Value, bool),
        (b, transpose_b): (Value, bool),
        elem: Type,
        more: &[Value],
        term: impl FnOnce(&mut Scalars<'_, '_>, &[Value]) -> Value,
    ) -> Built {
        let (shape_a, shape_b) = (self.shape(a), self.shape(b));
        if shape_a.is_empty() || shape_b.is_empty() {
            return fail("scalars have no matrix product");
        }
        let (vector_a, vector_b) = (shape_a.len() == 1, shape_b.len() == 1);
        let batch = |shape: &SymShape| shape[..shape.len().saturating_sub(2)].to_vec();
        let broadcast = self.broadcast(&[batch(&shape_a), batch(&shape_b)])?;
        let n_batch = broadcast.shape.len();
        // Iterators: batch, rows (unless a is a vector), columns (unless b is), then the sum.
        let row = n_batch;
        let col = row + usize::from(!vector_a);
        let sum = col + usize::from(!vector_b);
        let (row_dim, sum_a) = matrix_dims(shape_a.len(), transpose_a);
        let (col_dim, sum_b) = matrix_dims(shape_b.len(), !transpose_b);
        self.unify(&shape_a[sum_a], &shape_b[sum_b], || {
            format!("dimension {sum_a} of the first matrix and dimension {sum_b} of the second")
        })?;
        let mut index_a = self.broadcast_index(n_batch, &broadcast.stretched[0]);
        let mut index_b = self.broadcast_index(n_batch, &broadcast.stretched[1]);
        let (mut shape, mut index) = (broadcast.shape, self.dims(0..n_batch));
        index_a.resize(shape_a.len(), self.dim(sum));
        index_b.resize(shape_b.len(), self.dim(sum));
        if !vector_a {
            index_a[row_dim] = self.dim(row);
            shape.push(shape_a[row_dim].clone());
            index.push(self.dim(row));
        }
        if !vector_b {
            index_b[col_dim] = self.dim(col);
            shape.push(shape_b[col_dim].clone());
            index.push(self.dim(col));
        }
        let mut iterators = vec![IteratorKind::Parallel; sum];
        iterators.push(IteratorKind::Reduce);
        let mut inputs = vec![
            ComputeInput { value: a, index: index_a, oob: None },
            ComputeInput { value: b, index: index_b, oob: None },
        ];
        inputs.extend(more.iter().map(|value| ComputeInput { value: *value, index: Vec::new(), oob: None }));
        let result = ComputeResult { shape, elem, index, combiner: Some(Combiner::Add) };
        let op = self.compute(&iterators, inputs, vec![result], |s, args| vec![term(s, args)]);
        Ok(self.b.body().result(op, 0))
    }

    /// `alpha * a' * b' + beta * c`, with `c` broadcast to the product.
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn gemm(&mut self, a: (Value, bool), b: (Value, bool), c: Option<Value>, alpha: f64, beta: f64) -> Built {
        if self.rank(a.0) != 2 || self.rank(b.0) != 2 {
            return fail("needs matrices of rank 2");
        }
        let product = self.product(a.0, b.0, a.1, b.1)?;
        let scale = |s: &mut Scalars<'_, '_>, x: Value, factor: f64| {
            if factor == 1.0 {
                return x;
            }
            let factor = s.number(factor, s.ty(x));
            s.mul(x, factor)
        };
        match c.filter(|_| beta != 0.0) {
            Some(c) => self.zip(product, c, |s, x, c| {
                let (x, c) = (scale(s, x, alpha), scale(s, c, beta));
                s.add(x, c)
            }),
            None if alpha == 1.0 => Ok(product),
            None => self.map(product, |s, x| scale(s, x, alpha)),
        }
    }
}

/// Of a matrix of rank `rank` the dimension of its own and the one that is summed over; swapped if asked for. Of a
/// vector both are its only dimension.
fn matrix_dims(rank: usize, swap: bool) -> (usize, usize) {
    match (rank, swap) {
        (1, _) => (0, 0),
        (_, false) => (rank - 2, rank - 1),
        (_, true) => (rank - 1, rank - 2),
    }
}
