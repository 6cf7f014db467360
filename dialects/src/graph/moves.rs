//! Ops that move elements by position: what must hold of them, and their sizes.

use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::Verify;
use sutura_ir::{OpRef, Value};

use super::ops::{ConcatOp, ReshapeOp, SliceOp};
use super::rule::{self, SizeRule};
use super::shape_fn::{
    Contents, Inferred, MAX_CONTENTS, Requirement, ShapeEnv, SymShape, asked_as_meant, asked_sizes, has_integers,
    slice_bounds, slice_indices, slice_len, solve_open, static_len,
};
use super::verify::{check_axis, check_encodings, check_integers, check_same_element, differ, fail, rank, sizes};
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;

type Checked = Result<(), Reported>;

// ---- reshape

impl Verify for ReshapeOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Checked {
        let Some(reshape) = op.as_::<ReshapeOp<'_>>() else { return Ok(()) };
        check_encodings(op, diags)?;
        check_same_element(op, reshape.input(), reshape.result(), diags)?;
        let result = sizes(op, reshape.result());
        if let Some(shape) = reshape.shape() {
            check_integers(op, shape, "shape", &[1], diags)?;
            if differ(&sizes(op, shape)[0], &Some((result.len() as i64).into())) {
                let count = result.len();
                let message = format!("shape must hold {count} sizes, one per dimension of the result");
                return fail(op, diags, message);
            }
        } else if result.iter().filter(|d| d.is_none()).count() > 1 {
            let message = "without a shape operand the result's type may leave at most one size open";
            return fail(op, diags, message);
        }
        rule::verify(op, diags)
    }
}

pub(super) struct ReshapeRule;

impl SizeRule for ReshapeRule {
    fn sizes(&self, op: OpRef<'_>, env: &ShapeEnv) -> Result<Inferred, String> {
        let reshape = op.as_::<ReshapeOp<'_>>().ok_or("is no 'graph.reshape'")?;
        let input = env.shape(op, reshape.input()).unwrap_or_default();
        let declared = symbolic_shape(op.cx, op.ty(reshape.result())).unwrap_or_default();
        let wanted = reshape.shape().map(|shape| env.contents(op, shape).unwrap_or_else(|| vec![None; declared.len()]));
        let asked = match &wanted {
            Some(wanted) => asked_sizes(wanted, &input, reshape.allowzero()),
            None => declared.clone(),
        };
        // What the type states counts where the operand says nothing.
        let mut shape: SymShape = asked.into_iter().zip(declared).map(|(a, d)| a.or(d)).collect();
        let quotient = solve_open(&input, &mut shape, &env.facts);
        let mut inferred = Inferred { contents: vec![env.contents(op, reshape.input())], ..rule::one(shape, vec![]) };
        inferred.quotients.extend(quotient);
        let product = |dims: &[Option<Poly>]| Some(Poly::product(&dims.iter().cloned().collect::<Option<Vec<_>>>()?));
        if let (Some(from), Some(to)) = (product(&input), product(&inferred.shapes[0]))
            && from != to
        {
            let what = "numbers of elements of input and result".to_string();
            inferred.required.push(Requirement { lhs: from, rhs: to, what });
        }
        for (i, size) in wanted.iter().flatten().enumerate() {
            let Some(size) = size.as_ref().filter(|size| size.as_const().is_none()) else { continue };
            inferred.required.extend(asked_as_meant(i, size, &input, reshape.allowzero(), &env.facts));
        }
        Ok(inferred)
    }
}

// ---- concat

impl Verify for ConcatOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Checked {
        let Some(concat) = op.as_::<ConcatOp<'_>>() else { return Ok(()) };
        for input in op.operands() {
            check_same_element(op, input, concat.result(), diags)?;
        }
        rule::verify(op, diags)
    }
}

pub(super) struct ConcatRule;

impl SizeRule for ConcatRule {
    fn sizes(&self, op: OpRef<'_>, env: &ShapeEnv) -> Result<Inferred, String> {
        let concat = op.as_::<ConcatOp<'_>>().ok_or("is no 'graph.concat'")?;
        let shapes: Vec<SymShape> = op.operands().map(|v| env.shape(op, v).unwrap_or_default()).collect();
        let rank = shapes.first().ok_or("needs an input")?.len();
        let axis = rule::axis(concat.axis(), rank)?;
        if let Some((i, other)) = shapes.iter().enumerate().find(|(_, shape)| shape.len() != rank) {
            return Err(format!("input {i} has rank {}, input 0 {rank}", other.len()));
        }
        let mut required = Vec::new();
        let dim = |d: usize, required: &mut Vec<Requirement>| {
            if d == axis {
                return shapes.iter().try_fold(Poly::constant(0), |sum, s| Some(sum.add(s[d].as_ref()?)));
            }
            let mut known = shapes.iter().enumerate().filter_map(|(i, s)| Some((i, s[d].as_ref()?)));
            let (first_input, first) = known.next()?;
            for (i, size) in known.filter(|(_, s)| *s != first) {
                let what = format!("dimension {d} of inputs {first_input} and {i}");
                required.push(Requirement { lhs: first.clone(), rhs: size.clone(), what });
            }
            let constant = shapes.iter().filter_map(|s| s[d].as_ref()).find(|s| s.as_const().is_some());
            Some(constant.unwrap_or(first).clone())
        };
        let shape: SymShape = (0..rank).map(|d| dim(d, &mut required)).collect();
        let contents = if rank == 1 { parts(op, env) } else { None };
        Ok(Inferred { contents: vec![contents], ..rule::one(shape, required) })
    }
}

/// Elements of lists of integers behind one another, where they are few.
fn parts(op: OpRef<'_>, env: &ShapeEnv) -> Option<Contents> {
    let part = |v: Value| match env.contents(op, v) {
        Some(known) => Some(known),
        // Nothing is known of the elements, but how many there are.
        None => Some(vec![None; static_len(&env.shape(op, v)?).filter(|n| *n <= MAX_CONTENTS)?]),
    };
    let integers = op.operands().all(|v| has_integers(op, v));
    let parts = integers.then(|| op.operands().map(part).collect::<Option<Vec<_>>>())??.concat();
    (parts.len() <= MAX_CONTENTS).then_some(parts)
}

// ---- slice

impl Verify for SliceOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Checked {
        let Some(slice) = op.as_::<SliceOp<'_>>() else { return Ok(()) };
        check_same_element(op, slice.input(), slice.result(), diags)?;
        let (axes, rank_in) = (slice.axes(), rank(op, slice.input()));
        for (i, axis) in axes.iter().enumerate() {
            let axis = check_axis(op, *axis, rank_in, diags)? as i64;
            if axes[..i].contains(&axis) {
                return fail(op, diags, format_args!("axis {axis} is named twice"));
            }
        }
        let bounds: Vec<Value> = slice.bounds().collect();
        match (&bounds[..], slice.starts(), slice.ends()) {
            ([], Some(starts), Some(ends)) => {
                if starts.len() != axes.len() || ends.len() != axes.len() {
                    return fail(op, diags, "needs one start and one end per axis");
                }
            }
            ([starts, ends], None, None) => {
                check_integers(op, *starts, "starts", &[1], diags)?;
                check_integers(op, *ends, "ends", &[1], diags)?;
                let count = Some((axes.len() as i64).into());
                if differ(&sizes(op, *starts)[0], &count) || differ(&sizes(op, *ends)[0], &count) {
                    return fail(op, diags, "needs one start and one end per axis");
                }
            }
            _ => return fail(op, diags, "needs starts and ends either as attributes or as two operands"),
        }
        let steps = slice.steps();
        if steps.len() != axes.len() || steps.contains(&0) || steps.contains(&i64::MIN) {
            return fail(op, diags, "needs one step per axis, none of them 0");
        }
        rule::verify(op, diags)
    }
}

pub(super) struct SliceRule;

impl SizeRule for SliceRule {
    fn sizes(&self, op: OpRef<'_>, env: &ShapeEnv) -> Result<Inferred, String> {
        let slice = op.as_::<SliceOp<'_>>().ok_or("is no 'graph.slice'")?;
        let input = env.shape(op, slice.input()).unwrap_or_default();
        let (starts, ends) = slice_bounds(op, slice, env);
        let (axes, steps) = (slice.axes(), slice.steps());
        let mut shape = input.clone();
        for (i, axis) in axes.iter().enumerate() {
            let bounds = starts.get(i).cloned().flatten().zip(ends.get(i).cloned().flatten());
            let size = input[*axis as usize].clone();
            shape[*axis as usize] =
                bounds.zip(size).and_then(|((start, end), size)| slice_len(&start, &end, steps[i], &size, &env.facts));
        }
        let contents = || {
            let all = env.contents(op, slice.input())?;
            let bound = |c: &Contents| c.first()?.as_ref()?.as_const();
            let (start, end) = (bound(&starts)?, bound(&ends)?);
            let single = input.len() == 1 && axes == [0];
            single.then(|| slice_indices(start, end, steps[0], all.len()).map(|i| all[i].clone()).collect())
        };
        let contents = contents();
        Ok(Inferred { contents: vec![contents], ..rule::one(shape, vec![]) })
    }
}
