//! What vector operations check beyond their declarations.

use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Context, Diagnostic, Diagnostics, OpRef, Reported, Type, TypeData};

use super::asm::{outer_product_type, transfer_mask_type};
use super::ops::*;
use super::types::VectorShape;
use crate::show;
use crate::slices::verify_mixed;

/// Implements verification by a function.
macro_rules! verifies {
    ($($op:ident => $verify:expr;)*) => {$(
        impl Verify for $op<'_> {
            fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
                let verify: fn(OpRef<'_>) -> Result<(), Diagnostic> = $verify;
                verify(op).map_err(|d| diags.report(d))
            }
        }
    )*};
}

verifies! {
    BroadcastOp => verify_broadcast;
    ShapeCastOp => verify_shape_cast;
    BitCastOp => verify_bitcast;
    TransposeOp => verify_transpose;
    ShuffleOp => verify_shuffle;
    ExtractOp => verify_extract;
    InsertOp => verify_insert;
    FromElementsOp => verify_from_elements;
    ExtractStridedSliceOp => verify_extract_slice;
    InsertStridedSliceOp => verify_insert_slice;
    CreateMaskOp => |op| {
        let rank = operand_free_rank(op);
        if op.num_operands() == rank.max(1) { Ok(()) } else { Err(op.error("must specify an operand for each result vector dimension")) }
    };
    ConstantMaskOp => verify_constant_mask;
    ReductionOp => verify_reduction;
    OuterProductOp => verify_outer_product;
    LoadOp => |op| verify_access(op, op.ty(op.operand(0)), 1, op.ty(op.result(0)), "result");
    StoreOp => |op| verify_access(op, op.ty(op.operand(1)), 2, op.ty(op.operand(0)), "valueToStore");
    MaskedLoadOp => verify_masked_load;
    MaskedStoreOp => verify_masked_store;
    TransferReadOp => verify_read;
    TransferWriteOp => verify_write;
}

fn shape_of(op: OpRef<'_>, ty: Type) -> VectorShape {
    VectorShape::of(op.cx, ty)
}

fn operand_free_rank(op: OpRef<'_>) -> usize {
    shape_of(op, op.ty(op.result(0))).rank()
}

fn same_elements(op: OpRef<'_>, a: Type, b: Type, what: &str) -> Result<(), Diagnostic> {
    if op.cx.element_type(a) == op.cx.element_type(b) {
        return Ok(());
    }
    Err(op.error(format!("failed to verify that {what} have same element type")))
}

fn verify_broadcast(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (source, result) = (op.ty(op.operand(0)), op.ty(op.result(0)));
    same_elements(op, source, result, "source operand and result")?;
    let (from, to) = (shape_of(op, source), shape_of(op, result));
    if from.rank() > to.rank() {
        return Err(op.error("source rank higher than destination rank"));
    }
    let offset = to.rank() - from.rank();
    for (i, size) in from.sizes.iter().enumerate() {
        let target = to.sizes[offset + i];
        if *size != 1 && *size != target {
            return Err(op.error(format!("dimension mismatch ({size} vs. {target})")));
        }
        if from.scalable[i] != to.scalable[offset + i] && *size != 1 {
            return Err(op.error("mismatching scalable flags"));
        }
    }
    Ok(())
}

fn verify_shape_cast(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (from, to) = (shape_of(op, op.ty(op.operand(0))), shape_of(op, op.ty(op.result(0))));
    if from.elem != to.elem {
        return Err(op.error("has different source and result element types"));
    }
    let count = |shape: &VectorShape| shape.sizes.iter().map(|s| *s as i128).product::<i128>();
    if count(&from) != count(&to) {
        let (from, to) = (count(&from), count(&to));
        return Err(op.error(format!("has different number of elements at source ({from}) and result ({to})")));
    }
    let scalable = |shape: &VectorShape| shape.scalable.iter().sum::<i64>();
    if scalable(&from) != scalable(&to) {
        return Err(op.error("has different number of scalable dims at source and result"));
    }
    Ok(())
}

fn verify_bitcast(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (from, to) = (shape_of(op, op.ty(op.operand(0))), shape_of(op, op.ty(op.result(0))));
    if from.rank() != to.rank() {
        return Err(op.error("failed to verify that all of {source, result} have same rank"));
    }
    let leading = from.rank().saturating_sub(1);
    if let Some(i) = (0..leading).find(|i| from.sizes[*i] != to.sizes[*i]) {
        return Err(op.error(format!("dimension size mismatch at: {i}")));
    }
    let bits =
        |s: &VectorShape| op.cx.bit_width(s.elem).map(|w| i128::from(w) * s.sizes.last().map_or(1, |n| i128::from(*n)));
    if bits(&from).is_some() && bits(&from) == bits(&to) {
        return Ok(());
    }
    Err(op.error("source/result bitwidth of the minor 1-D vectors must be equal"))
}

fn transposed(shape: &VectorShape, permutation: &[i64]) -> Option<VectorShape> {
    let pick = |list: &[i64]| -> Option<Vec<i64>> {
        permutation.iter().map(|p| list.get(usize::try_from(*p).ok()?).copied()).collect()
    };
    Some(VectorShape { sizes: pick(&shape.sizes)?, scalable: pick(&shape.scalable)?, elem: shape.elem })
}

fn verify_transpose(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let transpose = TransposeOp::from_ref(op);
    let (from, to) = (shape_of(op, op.ty(transpose.vector())), shape_of(op, op.ty(transpose.result())));
    let permutation = transpose.permutation();
    same_elements(op, from.elem, to.elem, "operand and result")?;
    if from.rank() != to.rank() {
        return Err(op.error(format!("vector result rank mismatch: {}", to.rank())));
    }
    if permutation.len() != from.rank() {
        return Err(op.error(format!("transposition length mismatch: {}", permutation.len())));
    }
    let mut seen = vec![false; permutation.len()];
    for (i, p) in permutation.iter().enumerate() {
        let Some(at) = usize::try_from(*p).ok().filter(|p| *p < seen.len()) else {
            return Err(op.error(format!("transposition index out of range: {p}")));
        };
        if std::mem::replace(&mut seen[at], true) {
            return Err(op.error(format!("duplicate position index: {p}")));
        }
        if to.sizes[i] != from.sizes[at] || to.scalable[i] != from.scalable[at] {
            return Err(op.error(format!("dimension size mismatch at: {p}")));
        }
    }
    Ok(())
}

fn shuffled(cx: &Context, v1: Type, length: usize) -> Type {
    let mut shape = VectorShape::of(cx, v1);
    if shape.rank() == 0 {
        (shape.sizes, shape.scalable) = (vec![0], vec![0]);
    }
    shape.sizes[0] = length as i64;
    shape.vector(cx)
}

fn verify_shuffle(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let shuffle = ShuffleOp::from_ref(op);
    let types = [shuffle.v1(), shuffle.v2(), shuffle.vector()].map(|v| op.ty(v));
    same_elements(op, types[0], types[2], "first operand v1 and result")?;
    same_elements(op, types[1], types[2], "second operand v2 and result")?;
    let [a, b, _] = types.map(|ty| shape_of(op, ty));
    if a.rank() != b.rank() {
        return Err(op.error("rank mismatch"));
    }
    if let Some(i) = (1..a.rank()).find(|i| a.sizes[*i] != b.sizes[*i]) {
        return Err(op.error(format!("dimension mismatch at: {i}")));
    }
    let mask = shuffle.mask();
    if mask.is_empty() {
        return Err(op.error("invalid mask length"));
    }
    let lead = |s: &VectorShape| s.sizes.first().copied().unwrap_or(1);
    let count = lead(&a) + lead(&b);
    if let Some(i) = mask.iter().position(|m| !(-1..count).contains(m)) {
        return Err(op.error(format!("mask index #{} out of range", i + 1)));
    }
    if op.cx.shape(types[2]).and_then(|sizes| sizes.first().copied()) != i64::try_from(mask.len()).ok() {
        return Err(op.error("mask length mismatch"));
    }
    Ok(())
}

/// Indices into the leading dimensions lie inside them.
fn verify_position(
    op: OpRef<'_>,
    position: &[crate::slices::Mixed],
    of: &VectorShape,
    what: &str,
) -> Result<(), Diagnostic> {
    for (i, index) in position.iter().enumerate() {
        if index.as_static().is_some_and(|n| n < -1 || n >= of.sizes[i]) {
            let at = i + 1;
            return Err(op.error(format!(
                "expected position attribute #{at} to be a non-negative integer smaller than the corresponding {what}"
            )));
        }
    }
    Ok(())
}

fn verify_extract(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let extract = ExtractOp::from_ref(op);
    let source = shape_of(op, op.ty(extract.source()));
    verify_mixed(op, "position", 1, "static_position", None)?;
    let position = extract.position();
    if position.len() > source.rank() {
        return Err(op.error("expected position attribute of rank no greater than vector rank"));
    }
    verify_position(op, &position, &source, "vector dimension or poison (-1)")?;
    match op.cx.shape(op.ty(extract.result())) {
        Some([]) => Err(Diagnostic::error(op.loc(), "expected a scalar instead of a 0-d vector as the result type")),
        _ => Ok(()),
    }
}

fn verify_insert(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let insert = InsertOp::from_ref(op);
    let (stored, dest) = (op.ty(insert.stored()), shape_of(op, op.ty(insert.dest())));
    verify_mixed(op, "position", 2, "static_position", None)?;
    let position = insert.position();
    if position.len() > dest.rank() {
        return Err(op.error("expected position attribute of rank no greater than dest vector rank"));
    }
    let part = shape_of(op, stored);
    same_elements(op, stored, op.ty(insert.dest()), "source operand and result")?;
    if position.len() + part.rank() != dest.rank() {
        return Err(op.error("expected position attribute rank + source rank to match dest vector rank"));
    }
    verify_position(op, &position, &dest, "dest vector dimension")?;
    if part.sizes != dest.sizes[position.len()..] {
        return Err(op.error("expected source shape to match the trailing dimensions of the dest vector"));
    }
    Ok(())
}

fn verify_from_elements(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let dest = op.ty(op.result(0));
    let elem = op.cx.element_type(dest);
    if op.cx.num_elements(dest) == Some(op.num_operands()) && op.operand_types().all(|ty| ty == elem) {
        return Ok(());
    }
    Err(op.error("failed to verify that operand types match result element type"))
}

/// Lists of one length, at most the vector's rank, with strides of one.
fn verify_strided(op: OpRef<'_>, lists: &[(&str, &[i64])], strides: &[i64], rank: usize) -> Result<(), Diagnostic> {
    if let Some((name, _)) = lists.iter().find(|(_, list)| list.len() > rank) {
        return Err(op.error(format!("expected {name} attribute of rank no greater than vector rank")));
    }
    if strides.iter().any(|s| *s != 1) {
        return Err(op.error("expected strides to be confined to [1, 2)"));
    }
    Ok(())
}

fn verify_extract_slice(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let slice = ExtractStridedSliceOp::from_ref(op);
    let (offsets, sizes, strides) = (slice.offsets(), slice.sizes(), slice.strides());
    let source = shape_of(op, op.ty(slice.source()));
    if offsets.len() != sizes.len() || offsets.len() != strides.len() {
        return Err(op.error("expected offsets, sizes and strides attributes of same size"));
    }
    verify_strided(op, &[("offsets", &offsets), ("sizes", &sizes)], &strides, source.rank())?;
    for (i, (offset, size)) in offsets.iter().zip(&sizes).enumerate() {
        let full = source.sizes[i];
        if *offset < 0 || *offset >= full {
            return Err(op.error(format!("expected offsets dimension {i} to be confined to [0, {full})")));
        }
        if *size < 1 || offset.checked_add(*size).is_none_or(|end| end > full) {
            let end = full + 1;
            return Err(op.error(format!("expected sum(offsets, sizes) dimension {i} to be confined to [1, {end})")));
        }
    }
    let expected = sliced(source, &sizes).vector(op.cx);
    if expected == op.ty(slice.result()) {
        return Ok(());
    }
    Err(op.error(format!("expected result type to be '{}'", show::ty(op.cx, expected))))
}

fn sliced(mut shape: VectorShape, sizes: &[i64]) -> VectorShape {
    shape.sizes.iter_mut().zip(sizes).for_each(|(of, size)| *of = *size);
    shape
}

fn verify_insert_slice(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let slice = InsertStridedSliceOp::from_ref(op);
    let (offsets, strides) = (slice.offsets(), slice.strides());
    let (part, dest) = (shape_of(op, op.ty(slice.stored())), shape_of(op, op.ty(slice.dest())));
    same_elements(op, part.elem, dest.elem, "operand #0 and result")?;
    if offsets.len() != dest.rank() {
        return Err(op.error("expected offsets of same size as destination vector rank"));
    }
    if strides.len() != part.rank() {
        return Err(op.error("expected strides of same size as source vector rank"));
    }
    if part.rank() > dest.rank() {
        return Err(op.error("expected source rank to be no greater than destination rank"));
    }
    verify_strided(op, &[], &strides, dest.rank())?;
    let skipped = dest.rank() - part.rank();
    for (i, offset) in offsets.iter().enumerate() {
        let full = dest.sizes[i];
        if *offset < 0 || *offset >= full {
            return Err(op.error(format!("expected offsets dimension {i} to be confined to [0, {full})")));
        }
        let size = if i < skipped { 1 } else { part.sizes[i - skipped] };
        if offset.checked_add(size).is_none_or(|end| end > full) {
            let end = full + 1;
            return Err(op.error(format!(
                "expected sum(offsets, source vector shape) dimension {i} to be confined to [1, {end})"
            )));
        }
    }
    Ok(())
}

fn verify_constant_mask(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let mask = ConstantMaskOp::from_ref(op);
    let (bounds, shape) = (mask.mask_dim_sizes(), shape_of(op, op.ty(mask.result())));
    if shape.rank() == 0 {
        let ok = bounds.len() == 1 && (0..=1).contains(&bounds[0]);
        return if ok { Ok(()) } else { Err(op.error("mask dim size must be either 0 or 1 for 0-D vectors")) };
    }
    if bounds.len() != shape.rank() {
        return Err(op.error("must specify array attr of size equal vector result rank"));
    }
    for (bound, size) in bounds.iter().zip(&shape.sizes) {
        if !(0..=*size).contains(bound) {
            return Err(op.error("array attr of size out of bounds of vector result dimension size"));
        }
    }
    let empty = bounds.iter().filter(|b| **b == 0).count();
    if empty != 0 && empty != bounds.len() {
        return Err(op.error("expected all mask dim sizes to be zeros, as a result of conjunction with zero mask dim"));
    }
    Ok(())
}

fn verify_kind(op: OpRef<'_>, kind: super::CombiningKind, elem: Type) -> Result<(), Diagnostic> {
    let is_integer = elem == Type::INDEX || elem.is_integer(op.cx);
    if (elem.is_float(op.cx) && kind.takes_floats()) || (is_integer && kind.takes_integers()) {
        return Ok(());
    }
    let (elem, kind) = (show::ty(op.cx, elem), kind.keyword());
    Err(op.error(format!("unsupported reduction type '{elem}' for kind '{kind}'")))
}

fn verify_reduction(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let reduction = ReductionOp::from_ref(op);
    let (vector, dest) = (op.ty(reduction.vector()), op.ty(reduction.dest()));
    let rank = shape_of(op, vector).rank();
    if rank > 1 {
        return Err(op.error(format!("unsupported reduction rank: {rank}")));
    }
    same_elements(op, vector, dest, "source operand and result")?;
    verify_kind(op, reduction.kind(), dest)
}

fn verify_outer_product(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let product = OuterProductOp::from_ref(op);
    let (lhs, rhs, result) = (op.ty(product.lhs()), op.ty(product.rhs()), op.ty(product.result()));
    if shape_of(op, lhs).rank() != 1 {
        return Err(op.error("expected 1-d vector for operand #1"));
    }
    if shape_of(op, rhs).rank() > 1 {
        return Err(op.error("expected 1-d vector for operand #2"));
    }
    same_elements(op, lhs, result, "lhs operand and result")?;
    same_elements(op, rhs, result, "rhs operand and result")?;
    if product.acc().is_some_and(|acc| op.ty(acc) != result) {
        return Err(op.error("expected operand #3 of same type as result type"));
    }
    verify_kind(op, product.kind(), op.cx.element_type(result))
}

// ---- memory

/// A memref read or written with the operands from `first` to `last` as indices, as a vector.
fn verify_indices(op: OpRef<'_>, base: Type, found: usize) -> Result<(), Diagnostic> {
    let rank = op.cx.shape(base).map_or(0, <[i64]>::len);
    if found == rank { Ok(()) } else { Err(op.error(format!("requires {rank} indices"))) }
}

fn verify_access(op: OpRef<'_>, base: Type, other: usize, vector: Type, name: &str) -> Result<(), Diagnostic> {
    let (elem, shape) = (op.cx.element_type(base), shape_of(op, vector));
    if elem != vector && elem != shape.elem {
        return Err(op.error(format!("base and {name} element types should match")));
    }
    verify_indices(op, base, op.num_operands() - other)
}

fn verify_masked(op: OpRef<'_>, mask: Type, vector: Type, name: &str) -> Result<(), Diagnostic> {
    let (base, indices) = (op.ty(op.operand(0)), op.num_operands() - 3);
    if op.cx.element_type(base) != op.cx.element_type(vector) {
        return Err(op.error(format!("base and {name} element type should match")));
    }
    verify_indices(op, base, indices)?;
    let (mask, vector) = (shape_of(op, mask), shape_of(op, vector));
    if mask.sizes != vector.sizes || mask.scalable != vector.scalable {
        return Err(op.error(format!("expected {name} shape to match mask shape")));
    }
    Ok(())
}

fn verify_masked_load(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let load = MaskedLoadOp::from_ref(op);
    verify_masked(op, op.ty(load.mask()), op.ty(load.result()), "result")?;
    if op.ty(load.pass_thru()) != op.ty(load.result()) {
        return Err(op.error("expected pass_thru of same type as result type"));
    }
    Ok(())
}

fn verify_masked_store(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let store = MaskedStoreOp::from_ref(op);
    verify_masked(op, op.ty(store.mask()), op.ty(store.stored()), "valueToStore")
}

/// Number of dimensions along which a vector's elements of `base`, which may be vectors themselves, are laid.
fn transferred_rank(op: OpRef<'_>, base: Type, vector: Type, mask: Option<Type>) -> Result<usize, Diagnostic> {
    let (elem, shape) = (op.cx.element_type(base), shape_of(op, vector));
    let of_vectors = matches!(op.cx.type_data(elem), TypeData::Vector { .. });
    let part = shape_of(op, elem);
    let bits = |s: &VectorShape| Some(i64::from(op.cx.bit_width(s.elem)?) * s.sizes.last().copied().unwrap_or(1));
    if let (Some(whole), Some(part)) = (bits(&shape), bits(&part))
        && (part == 0 || whole % part != 0)
    {
        let source = if of_vectors { "minor 1-D vector of the source" } else { "source element type" };
        return Err(op.error(format!(
            "requires the bitwidth of the minor 1-D vector to be an integral multiple of the bitwidth of the {source}"
        )));
    }
    if !of_vectors {
        return Ok(shape.rank());
    }
    let Some(rank) = shape.rank().checked_sub(part.rank()) else {
        return Err(op.error("requires source vector element and vector result ranks to match."));
    };
    if mask.is_some() {
        return Err(op.error("does not support masks with vector element type"));
    }
    Ok(rank)
}

/// What reads and writes have in common.
fn verify_transfer(
    op: OpRef<'_>,
    base: Type,
    vector: Type,
    mask: Option<Type>,
    indices: usize,
) -> Result<(), Diagnostic> {
    use sutura_ir::affine::AffineExprData::{Const, Dim};
    let (cx, shape) = (op.cx, shape_of(op, vector));
    if cx.shape(base).is_none() {
        return Err(op.error("requires source to be a memref or ranked tensor type"));
    }
    verify_indices(op, base, indices)?;
    let map = op.prop("permutation_map").and_then(|a| cx.as_affine_map(a)).expect("checked by the declaration");
    let data = cx.affine_map_data(map);
    let results = cx.map_results(map);
    if data.symbols != 0 {
        return Err(op.error("requires permutation_map without symbols"));
    }
    if data.dims as usize != indices {
        return Err(op.error("requires a permutation_map with input dims of the same rank as the source type"));
    }
    if results.len() != transferred_rank(op, base, vector, mask)? {
        return Err(op.error("requires a permutation_map with result dims of the same rank as the vector type"));
    }
    let mut seen = vec![false; indices];
    for expr in results {
        match cx.affine_data(*expr) {
            Const(0) => {}
            Dim(d) => {
                if std::mem::replace(&mut seen[d as usize], true) {
                    return Err(op.error(
                        "requires a permutation_map that is a permutation (found one dim used more than once)",
                    ));
                }
            }
            _ => return Err(op.error(
                "requires a projected permutation_map (at most one dim or the zero constant can appear in each result)",
            )),
        }
    }
    let in_bounds = op.prop("in_bounds").and_then(|a| cx.array(a)).map_or(0, <[_]>::len);
    if in_bounds != results.len() {
        let map = sutura_ir::asm::print::attr_text(cx, cx.affine_map_attr(map));
        return Err(op.error(format!(
            "expects the in_bounds attr of same rank as permutation_map results: {map} vs inBounds of size: {in_bounds}"
        )));
    }
    let expected = transfer_mask_type(cx, Some(map), &shape);
    match mask.filter(|mask| *mask != expected) {
        None => Ok(()),
        Some(mask) => {
            let (expected, found) = (show::ty(cx, expected), show::ty(cx, mask));
            Err(op.error(format!("inferred mask type ('{expected}') and mask operand type ('{found}') don't match")))
        }
    }
}

fn verify_read(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let read = TransferReadOp::from_ref(op);
    let base = op.ty(read.base());
    let mask = read.mask().map(|v| op.ty(v));
    verify_transfer(op, base, op.ty(read.vector()), mask, read.indices().len())?;
    if op.ty(read.padding()) != op.cx.element_type(base) {
        return Err(op.error("requires formal padding and source of the same elemental type"));
    }
    Ok(())
}

fn verify_write(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let write = TransferWriteOp::from_ref(op);
    let base = op.ty(write.base());
    let mask = write.mask().map(|v| op.ty(v));
    verify_transfer(op, base, op.ty(write.stored()), mask, write.indices().len())?;
    let result = write.result().map(|v| op.ty(v));
    let expected = base.is_tensor(op.cx).then_some(base);
    if result == expected {
        Ok(())
    } else {
        Err(op.error("expects a result of the tensor's type, and none for a memref"))
    }
}

// ---- inference

fn first(input: &InferInput<'_>) -> Result<Type, String> {
    input.operands.first().copied().ok_or_else(|| "the op has no operand".to_string())
}

fn numbers(input: &InferInput<'_>, name: &str) -> Result<Vec<i64>, String> {
    input.prop(name).and_then(|a| input.cx.as_ints(a)).ok_or_else(|| format!("attribute '{name}' holds no integers"))
}

impl InferTypes for TransposeOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let shape = VectorShape::of(input.cx, first(&input)?);
        let permutation = numbers(&input, "permutation")?;
        let result = transposed(&shape, &permutation).ok_or("the permutation does not fit the vector")?;
        Ok(smallvec![result.vector(input.cx)])
    }
}

impl InferTypes for ShuffleOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        Ok(smallvec![shuffled(input.cx, first(&input)?, numbers(&input, "mask")?.len())])
    }
}

impl InferTypes for ExtractOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let (shape, position) = (VectorShape::of(input.cx, first(&input)?), numbers(&input, "static_position")?);
        if position.len() > shape.rank() {
            return Err("expected position attribute of rank no greater than vector rank".to_string());
        }
        Ok(smallvec![shape.drop_front(position.len()).vector_or_element(input.cx)])
    }

    /// An element and a vector of one are both right.
    fn are_compatible(cx: &Context, inferred: &[Type], found: &[Type]) -> bool {
        let holds = |vector: Type, elem: Type| cx.shape(vector) == Some(&[1]) && cx.element_type(vector) == elem;
        match (inferred, found) {
            ([a], [b]) => a == b || holds(*a, *b) || holds(*b, *a),
            _ => inferred == found,
        }
    }
}

impl InferTypes for ExtractStridedSliceOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let sizes = numbers(&input, "sizes")?;
        Ok(smallvec![sliced(VectorShape::of(input.cx, first(&input)?), &sizes).vector(input.cx)])
    }
}

impl InferTypes for OuterProductOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        match input.operands {
            [lhs, rhs, ..] => Ok(smallvec![outer_product_type(input.cx, *lhs, *rhs)]),
            _ => Err("the op has fewer than two operands".to_string()),
        }
    }
}
