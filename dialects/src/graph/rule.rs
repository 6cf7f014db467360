//! Sizes stated once: an op says what its operands must be and which results follow, and its verifier and its shape function
//! both ask.

use sutura_ir::OpRef;
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::OpView;
use sutura_ir::registry::DialectBuilder;

use super::shape_fn::{Inferred, Requirement, ShapeEnv, ShapeFn, SymShape};
use super::verify::{check_encodings, differ, fail, sizes};
use crate::r#dyn::Poly;

/// What an op says of sizes: an interface.
pub(super) trait SizeRule: Send + Sync {
    /// Shapes of the results and the equalities without which the op has no meaning, from what is known of the operands.
    ///
    /// # Errors
    /// Says what is wrong with the op whatever its symbols are.
    fn sizes(&self, op: OpRef<'_>, env: &ShapeEnv) -> Result<Inferred, String>;
}

/// Checks sizes of operands and results against the rule of the op.
pub(super) fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    check_encodings(op, diags)?;
    let Some(rule) = op.interface::<dyn SizeRule>() else { return Ok(()) };
    let follows = match rule.sizes(op, &ShapeEnv::default()) {
        Ok(follows) => follows,
        Err(reason) => return fail(op, diags, reason),
    };
    for Requirement { lhs, rhs, what } in &follows.required {
        if differ(&Some(lhs.clone()), &Some(rhs.clone())) {
            return fail(op, diags, format_args!("{what} must be equal, they are {lhs} and {rhs}"));
        }
    }
    for (i, (wanted, result)) in follows.shapes.iter().zip(op.results()).enumerate() {
        let (given, of) = (sizes(op, result), if op.num_results() == 1 { String::new() } else { format!(" {i}") });
        if given.len() != wanted.len() {
            return fail(op, diags, format_args!("result{of} must have rank {}, not {}", wanted.len(), given.len()));
        }
        if let Some(dim) = wanted.iter().zip(&given).position(|(a, b)| differ(a, b)) {
            let [wanted, given] = [&wanted[dim], &given[dim]].map(|size| size.clone().unwrap_or_default());
            let message = format!("dimension {dim} of result{of} must have size {wanted}, not {given}");
            return fail(op, diags, message);
        }
    }
    Ok(())
}

/// The shape function of every op that has a rule.
struct ByRule;

impl ShapeFn for ByRule {
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let rule = op.interface::<dyn SizeRule>();
        rule.and_then(|rule| rule.sizes(op, env).ok()).unwrap_or_default()
    }
}

/// An axis as dimension of a tensor of that rank.
///
/// # Errors
/// When it is none.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize, String> {
    let dim = usize::try_from(axis).ok().filter(|dim| *dim < rank);
    dim.ok_or_else(|| format!("axis {axis} is no dimension of a tensor of rank {rank}"))
}

/// The shape of tensors that must all have the same; `None` of no tensor.
///
/// # Errors
/// When they differ in rank.
pub(super) fn alike(
    shapes: &[SymShape],
    what: &str,
    required: &mut Vec<Requirement>,
) -> Result<Option<SymShape>, String> {
    let Some((first, others)) = shapes.split_first() else { return Ok(None) };
    let mut shape = first.clone();
    for (i, other) in others.iter().enumerate() {
        if other.len() != shape.len() {
            return Err(format!("{what} {} must have rank {}, not {}", i + 1, shape.len(), other.len()));
        }
        for (d, (size, own)) in shape.iter_mut().zip(other).enumerate() {
            *size = unified(size, own, || format!("dimension {d} of {what} 0 and of {what} {}", i + 1), required);
        }
    }
    Ok(Some(shape))
}

/// Attaches a rule to an op, and with it a shape function.
pub(super) fn register<'a, T: OpView<'a>>(d: &mut DialectBuilder<'_>, rule: &'static dyn SizeRule) {
    d.op_interface::<T, dyn SizeRule>(rule).op_interface::<T, dyn ShapeFn>(&ByRule);
}

/// What makes two sizes one; a constant is preferred, and what is known to what is not.
pub(super) fn unified(
    a: &Option<Poly>,
    b: &Option<Poly>,
    what: impl FnOnce() -> String,
    required: &mut Vec<Requirement>,
) -> Option<Poly> {
    let (Some(lhs), Some(rhs)) = (a, b) else { return a.clone().or_else(|| b.clone()) };
    if lhs != rhs {
        required.push(Requirement { lhs: lhs.clone(), rhs: rhs.clone(), what: what() });
    }
    Some(if rhs.as_const().is_some() { rhs.clone() } else { lhs.clone() })
}

/// Requires `size` to be at most `most`: the lesser of the difference and 0 is 0.
///
/// # Errors
/// When it never is.
pub(super) fn at_most(
    size: &Option<Poly>,
    most: &Option<Poly>,
    what: impl FnOnce() -> String,
    env: &ShapeEnv,
    required: &mut Vec<Requirement>,
) -> Result<(), String> {
    let (Some(size), Some(most)) = (size, most) else { return Ok(()) };
    let rest = env.facts.canonical(&most.sub(size));
    let (low, high) = env.facts.range(&rest);
    if high < 0 {
        return Err(format!("{} must be at most {most}, not {size}", what()));
    }
    if low < 0 {
        let what = format!("what {} leaves", what());
        required.push(Requirement { lhs: rest.lesser(&Poly::default()), rhs: Poly::default(), what });
    }
    Ok(())
}

/// One result of that shape.
pub(super) fn one(shape: SymShape, required: Vec<Requirement>) -> Inferred {
    Inferred { shapes: vec![shape], contents: vec![None], required, ..Inferred::default() }
}
