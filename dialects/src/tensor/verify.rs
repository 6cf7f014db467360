//! What tensor operations check beyond their declarations.

use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify, VerifyRegions};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Context, DYNAMIC, Diagnostic, Diagnostics, OpRef, Reported, Type};

use super::ops::*;
use crate::show;
use crate::slices::{is_rank_reduction, mixed, verify_mixed, verify_output_shape, verify_reassociation, verify_slice};

fn report(diags: &mut Diagnostics, result: Result<(), Diagnostic>) -> Result<(), Reported> {
    result.map_err(|d| diags.report(d))
}

fn shape(op: OpRef<'_>, ty: Type) -> Vec<i64> {
    op.cx.shape(ty).unwrap_or_default().to_vec()
}

/// Implements verification by a function.
macro_rules! verifies {
    ($($op:ident => $verify:expr;)*) => {$(
        impl Verify for $op<'_> {
            fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
                let verify: fn(OpRef<'_>) -> Result<(), Diagnostic> = $verify;
                report(diags, verify(op))
            }
        }
    )*};
}

verifies! {
    EmptyOp => |op| verify_dynamic_sizes(op, op.num_operands(), op.ty(op.result(0)));
    SplatOp => |op| {
        verify_dynamic_sizes(op, op.num_operands() - 1, op.ty(op.result(0)))?;
        verify_elements(op, op.ty(op.operand(0)), op.ty(op.result(0)), "operand type matches element type of result")
    };
    GenerateOp => |op| verify_dynamic_sizes(op, op.num_operands(), op.ty(op.result(0)));
    ExtractOp => verify_extract;
    InsertOp => verify_insert;
    FromElementsOp => verify_from_elements;
    ExtractSliceOp => verify_extract_slice;
    InsertSliceOp => verify_insert_slice;
    ExpandShapeOp => verify_expand;
    CollapseShapeOp => verify_collapse;
    PadOp => verify_pad;
}

/// True when values of the two types can be the same tensor.
pub(super) fn are_cast_compatible(cx: &Context, a: Type, b: Type) -> bool {
    if cx.element_type(a) != cx.element_type(b) {
        return false;
    }
    let (Some(a), Some(b)) = (cx.shape(a), cx.shape(b)) else { return true };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || *a == DYNAMIC || *b == DYNAMIC)
}

fn verify_dynamic_sizes(op: OpRef<'_>, found: usize, ty: Type) -> Result<(), Diagnostic> {
    let expected = shape(op, ty).iter().filter(|d| **d == DYNAMIC).count();
    if found == expected {
        return Ok(());
    }
    Err(op.error(format!("incorrect number of dynamic sizes, has {found}, expected {expected}")))
}

fn verify_elements(op: OpRef<'_>, scalar: Type, container: Type, what: &str) -> Result<(), Diagnostic> {
    if op.cx.element_type(container) == scalar {
        return Ok(());
    }
    Err(op.error(format!("failed to verify that {what}")))
}

fn verify_extract(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let tensor = op.ty(op.operand(0));
    verify_elements(op, op.ty(op.result(0)), tensor, "result type matches element type of tensor")?;
    if shape(op, tensor).len() != op.num_operands() - 1 {
        return Err(op.error("incorrect number of indices for extract_element"));
    }
    Ok(())
}

fn verify_insert(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let dest = op.ty(op.operand(1));
    verify_elements(op, op.ty(op.operand(0)), dest, "scalar type matches element type of dest")?;
    if shape(op, dest).len() != op.num_operands() - 2 {
        return Err(op.error("incorrect number of indices"));
    }
    Ok(())
}

fn verify_from_elements(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let result = op.ty(op.result(0));
    let elem = op.cx.element_type(result);
    if op.cx.num_elements(result) == Some(op.num_operands()) && op.operand_types().all(|ty| ty == elem) {
        return Ok(());
    }
    Err(op.error("failed to verify that operand types match result element type"))
}

/// `part` has the sizes of the slice, perhaps without some that are one.
fn verify_part(op: OpRef<'_>, sizes: &[i64], part: Type, whole: Type) -> Result<(), Diagnostic> {
    let full = op.cx.tensor_type(sizes, op.cx.element_type(whole), None);
    if op.cx.element_type(part) == op.cx.element_type(whole) && is_rank_reduction(sizes, &shape(op, part)) {
        return Ok(());
    }
    let full = show::ty(op.cx, full);
    let same = op.cx.element_type(part) == op.cx.element_type(whole);
    let why = if same { "size mismatch" } else { "element type mismatch" };
    let message = format!("expected type to be '{full}' or a rank-reduced version. ({why}) ");
    Err(Diagnostic::error(op.loc(), message))
}

fn verify_extract_slice(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (source, result) = (op.ty(op.operand(0)), op.ty(op.result(0)));
    verify_slice(op, 1, shape(op, source).len())?;
    verify_part(op, &ExtractSliceOp::from_ref(op).slice().shape(), result, source)
}

fn verify_insert_slice(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (source, dest) = (op.ty(op.operand(0)), op.ty(op.operand(1)));
    verify_slice(op, 2, shape(op, dest).len())?;
    verify_part(op, &InsertSliceOp::from_ref(op).slice().shape(), source, dest)
}

fn verify_expand(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let expand = ExpandShapeOp::from_ref(op);
    let (source, result) = (shape(op, op.ty(expand.src())), shape(op, op.ty(expand.result())));
    verify_output_shape(op, 1, &result)?;
    verify_reassociation(op, &expand.reassociation(), &result, &source)
}

fn verify_collapse(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let collapse = CollapseShapeOp::from_ref(op);
    let (source, result) = (shape(op, op.ty(collapse.src())), shape(op, op.ty(collapse.result())));
    verify_reassociation(op, &collapse.reassociation(), &source, &result)
}

fn verify_pad(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (source, result) = (shape(op, op.ty(op.operand(0))), shape(op, op.ty(op.result(0))));
    verify_mixed(op, "low", 1, "static_low", Some(source.len()))?;
    verify_mixed(op, "high", 2, "static_high", Some(source.len()))?;
    let (low, high) = (mixed(op, 1, "static_low"), mixed(op, 2, "static_high"));
    for (i, size) in source.iter().enumerate() {
        let Some((low, high)) = low[i].as_static().zip(high[i].as_static()) else { continue };
        let expected = if *size == DYNAMIC { None } else { size.checked_add(low).and_then(|s| s.checked_add(high)) };
        let found = result.get(i).copied();
        if expected.is_some() && found != Some(DYNAMIC) && expected != found {
            let mut inferred = result.clone();
            inferred[i] = expected.unwrap_or_default();
            let (found, elem) = (op.ty(op.result(0)), op.cx.element_type(op.ty(op.result(0))));
            let inferred = show::ty(op.cx, op.cx.tensor_type(&inferred, elem, None));
            let found = show::ty(op.cx, found);
            let message = format!("specified type '{found}' does not match the inferred type '{inferred}'");
            return Err(Diagnostic::error(op.loc(), message));
        }
    }
    if result.len() != source.len() {
        return Err(op.error("expected the result to have the source's rank"));
    }
    Ok(())
}

/// The region takes one index per dimension and yields an element.
fn verify_element_region(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let ty = op.ty(op.result(0));
    let Some(block) = op.region(0).and_then(|r| r.entry()) else {
        return Err(op.error("region #0 failed to verify constraint: region with 1 blocks"));
    };
    let indices = block.args().iter().all(|v| block.body.ty(*v) == Type::INDEX);
    if !indices || block.args().len() != shape(op, ty).len() {
        return Err(op.error("must have one body argument per input dimension"));
    }
    let yielded = block.body.last_op(block.block).map(|last| op.at(last));
    match yielded.and_then(|y| y.as_::<YieldOp<'_>>()) {
        Some(y) if op.ty(y.element()) == op.cx.element_type(ty) => Ok(()),
        Some(_) => Err(op.error("expected yield type to match shape element type")),
        None => Err(op.error("expected the region to end with 'tensor.yield'")),
    }
}

impl VerifyRegions for PadOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        report(diags, verify_element_region(op))
    }
}

impl VerifyRegions for GenerateOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        report(diags, verify_element_region(op))
    }
}

impl InferTypes for ExtractOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let tensor = input.operands.first().ok_or("the op has no operand")?;
        Ok(smallvec![input.cx.element_type(*tensor)])
    }
}

// ---- joining and reshaping

impl Verify for ParallelInsertSliceOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let insert = ParallelInsertSliceOp::from_ref(op);
        let rank = op.cx.shape(op.ty(insert.dest())).map_or(0, <[i64]>::len);
        crate::slices::verify_slice(op, 2, rank).map_err(|d| diags.report(d))?;
        let (source, dest) = (op.ty(insert.source()), op.ty(insert.dest()));
        let sizes = crate::slices::Slice::of(op, 2).shape();
        let shape = op.cx.shape(source).unwrap_or_default();
        if op.cx.element_type(source) != op.cx.element_type(dest) || !crate::slices::is_rank_reduction(&sizes, shape) {
            let message = format!(
                "expected type to be a rank-reduced part of '{}' (mismatch of result sizes)",
                show::ty(op.cx, dest)
            );
            return Err(diags.report(op.error(message)));
        }
        Ok(())
    }
}

impl Verify for ConcatOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_concat(op).map_err(|d| diags.report(d))
    }
}

fn verify_concat(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let concat = ConcatOp::from_ref(op);
    let types: Vec<Type> = op.operand_types().collect();
    if types.is_empty() {
        return Err(op.error("requires at least one input"));
    }
    let result = op.ty(concat.result());
    let shape = |ty: Type| op.cx.shape(ty).unwrap_or_default();
    let rank = shape(result).len();
    if types.iter().any(|ty| shape(*ty).len() != rank) {
        return Err(op.error("rank of concatenated inputs must match result rank"));
    }
    if types.iter().any(|ty| op.cx.element_type(*ty) != op.cx.element_type(result)) {
        return Err(op.error("inputs and result element type must match"));
    }
    let Some(dim) = usize::try_from(concat.dim()).ok().filter(|dim| *dim < rank) else {
        return Err(op.error("concatenation dim must be less than the tensor rank"));
    };
    for d in (0..rank).filter(|d| *d != dim) {
        let sizes = types.iter().map(|ty| shape(*ty)[d]).chain([shape(result)[d]]);
        let mut known: Vec<i64> = sizes.filter(|size| *size != DYNAMIC).collect();
        known.dedup();
        if known.len() > 1 {
            return Err(op.error(format!("static concatenation size mismatch along non-concatenated dimension {d}")));
        }
    }
    let sizes = types.iter().map(|ty| shape(*ty)[dim]);
    let sum = sizes.clone().all(|size| size != DYNAMIC).then(|| sizes.sum::<i64>());
    match sum.filter(|sum| shape(result)[dim] != DYNAMIC && *sum != shape(result)[dim]) {
        Some(_) => {
            Err(op.error("result type does not match the sum of the inputs' sizes along the concatenated dimension"))
        }
        None => Ok(()),
    }
}

impl Verify for ReshapeOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let reshape = ReshapeOp::from_ref(op);
        let (source, shape, result) = (op.ty(reshape.source()), op.ty(reshape.shape()), op.ty(reshape.result()));
        let result = check_reshape(op, source, shape, result);
        result.map_err(|message| diags.report(op.error(message)))
    }
}

fn check_reshape(op: OpRef<'_>, source: Type, shape: Type, result: Type) -> Result<(), &'static str> {
    if op.cx.element_type(source) != op.cx.element_type(result) {
        return Err("element types of source and destination tensor types should be the same");
    }
    let counts = (op.cx.num_elements(source), op.cx.num_elements(result));
    if let (Some(from), Some(to)) = counts
        && from != to
    {
        return Err("source and destination tensor should have the same number of elements");
    }
    let rank = op.cx.shape(shape).and_then(|s| s.first().copied()).unwrap_or(DYNAMIC);
    match op.cx.shape(result) {
        Some(_) if rank == DYNAMIC => {
            Err("cannot use shape operand with dynamic length to reshape to statically-ranked tensor type")
        }
        Some(dims) if dims.len() as i64 != rank => Err("length of shape operand differs from the result's tensor rank"),
        _ => Ok(()),
    }
}
