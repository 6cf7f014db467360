//! What memref operations check beyond their declarations.

use sutura_ir::interfaces::SymbolUser;
use sutura_ir::op_def::{OpView, Verify};
use sutura_ir::symbols::SymbolScope;
use sutura_ir::{Attr, AttrData, Context, DYNAMIC, Diagnostic, Diagnostics, OpRef, Reported, Type, TypeData};

use super::asm::value_type;
use super::layout::{StridedLayout, strided_layout};
use super::ops::*;
use crate::show;
use crate::slices::{
    Mixed, is_rank_reduction, mixed, verify_mixed, verify_output_shape, verify_reassociation, verify_slice,
};

fn shape(op: OpRef<'_>, ty: Type) -> Vec<i64> {
    op.cx.shape(ty).unwrap_or_default().to_vec()
}

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
    AllocOp => verify_alloc;
    AllocaOp => verify_alloc;
    LoadOp => verify_load;
    StoreOp => verify_store;
    SubViewOp => verify_subview;
    ReinterpretCastOp => verify_reinterpret_cast;
    ViewOp => verify_view;
    CopyOp => verify_copy;
    ExpandShapeOp => verify_expand;
    CollapseShapeOp => verify_collapse;
    GlobalOp => verify_global;
    TransposeOp => verify_transpose;
}

fn verify_transpose(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let transpose = TransposeOp::from_ref(op);
    let (source, result) = (op.ty(op.operand(0)), op.ty(op.result(0)));
    let sizes = shape(op, source);
    let map = transpose.permutation();
    if op.cx.affine_map_data(map).dims as usize != sizes.len() {
        return Err(op.error("expected a permutation map of same rank as the input"));
    }
    let Some(order) = TransposeOp::order(op.cx, map, sizes.len()) else {
        return Err(op.error("expected a permutation map"));
    };
    let sizes: Vec<i64> = order.iter().map(|i| sizes[*i]).collect();
    let layout = strided_layout(op.cx, source)
        .map(|of| StridedLayout { strides: order.iter().map(|i| of.strides[*i]).collect(), offset: of.offset });
    // A layout that is not strides is taken at its word.
    let same_layout = match (&layout, strided_layout(op.cx, result)) {
        (Some(expected), Some(found)) => *expected == found,
        _ => true,
    };
    let (elem, space) = (op.cx.element_type(source), memory_space(op.cx, source));
    let same = op.cx.element_type(result) == elem && memory_space(op.cx, result) == space;
    if same && shape(op, result) == sizes && same_layout {
        return Ok(());
    }
    let expected = match layout {
        Some(layout) => layout.memref_type(op.cx, &sizes, elem, space),
        None => op.cx.memref_type(&sizes, elem, None, space),
    };
    let (found, expected) = (show::ty(op.cx, result), show::ty(op.cx, expected));
    Err(op
        .error(format!("result type '{found}' is not equivalent to the canonical transposed input type '{expected}'")))
}

fn memory_space(cx: &Context, ty: Type) -> Option<Attr> {
    match cx.type_data(ty) {
        TypeData::MemRef { space, .. } => space,
        _ => None,
    }
}

fn verify_dynamic_sizes(op: OpRef<'_>, found: usize, ty: Type) -> Result<(), Diagnostic> {
    let expected = shape(op, ty).iter().filter(|d| **d == DYNAMIC).count();
    if found == expected {
        return Ok(());
    }
    Err(op.error(format!("incorrect number of dynamic sizes, has {found}, expected {expected}")))
}

fn verify_alloc(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let ty = op.ty(op.result(0));
    verify_dynamic_sizes(op, op.operand_group(0).unwrap_or_default().len(), ty)?;
    let symbols = match op.cx.type_data(ty) {
        TypeData::MemRef { layout: Some(layout), .. } => {
            op.cx.as_affine_map(layout).map_or(0, |map| op.cx.affine_map_data(map).symbols as usize)
        }
        _ => 0,
    };
    let found = op.operand_group(1).unwrap_or_default().len();
    if found == symbols {
        return Ok(());
    }
    Err(op.error(format!("symbol operand count does not equal memref symbol count: expected {symbols}, got {found}")))
}

fn verify_load(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let memref = op.ty(op.operand(0));
    if op.cx.element_type(memref) != op.ty(op.result(0)) {
        return Err(op.error("failed to verify that result type matches element type of 'memref'"));
    }
    let (expected, found) = (shape(op, memref).len(), op.num_operands() - 1);
    if expected != found {
        return Err(op.error(format!("incorrect number of indices for load, expected {expected} but got {found}")));
    }
    Ok(())
}

fn verify_store(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let memref = op.ty(op.operand(1));
    if op.cx.element_type(memref) != op.ty(op.operand(0)) {
        return Err(op.error("failed to verify that type of 'value' matches element type of 'memref'"));
    }
    let (expected, found) = (shape(op, memref).len(), op.num_operands() - 2);
    if expected != found {
        return Err(op.error("store index operand count not equal to memref rank"));
    }
    Ok(())
}

/// True when two sizes, strides or offsets may be one number.
fn may_agree(a: i64, b: i64) -> bool {
    a == b || a == DYNAMIC || b == DYNAMIC
}

fn space(cx: &Context, ty: Type) -> Option<Attr> {
    match cx.type_data(ty) {
        TypeData::MemRef { space, .. } | TypeData::UnrankedMemRef { space, .. } => space,
        _ => None,
    }
}

/// True when values of the two types can be the same memref.
pub(super) fn are_cast_compatible(cx: &Context, a: Type, b: Type) -> bool {
    if cx.element_type(a) != cx.element_type(b) || space(cx, a) != space(cx, b) {
        return false;
    }
    let (Some(sizes_a), Some(sizes_b)) = (cx.shape(a), cx.shape(b)) else {
        // One of them unranked, not both.
        return cx.shape(a).is_some() || cx.shape(b).is_some();
    };
    if sizes_a.len() != sizes_b.len() || !sizes_a.iter().zip(sizes_b).all(|(a, b)| may_agree(*a, *b)) {
        return false;
    }
    match (strided_layout(cx, a), strided_layout(cx, b)) {
        (Some(a), Some(b)) => {
            may_agree(a.offset, b.offset) && a.strides.iter().zip(&b.strides).all(|(a, b)| may_agree(*a, *b))
        }
        _ => false,
    }
}

fn verify_subview(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let view = SubViewOp::from_ref(op);
    let (source, result) = (op.ty(view.source()), op.ty(view.result()));
    verify_slice(op, 1, shape(op, source).len())?;
    let slice = view.slice();
    if op.cx.element_type(source) != op.cx.element_type(result) {
        return Err(op.error("different element types of source and result"));
    }
    if space(op.cx, source) != space(op.cx, result) {
        return Err(op.error("different memory spaces specified for base memref type and subview memref type"));
    }
    let (sizes, found) = (slice.shape(), shape(op, result));
    let expected = SubViewOp::view_type(op.cx, source, &slice);
    let problem = if !is_rank_reduction(&sizes, &found) {
        Some("mismatch of result sizes")
    } else {
        let layouts = SubViewOp::view_layout(op.cx, source, &slice).zip(strided_layout(op.cx, result));
        layouts.filter(|(of, is)| !is_reduced_layout(&sizes, of, &found, is)).map(|_| "mismatch of result layout")
    };
    let Some(problem) = problem else { return Ok(()) };
    let expected =
        expected.map_or_else(|| "a view of the source".to_string(), |ty| format!("'{}'", show::ty(op.cx, ty)));
    let found = show::ty(op.cx, result);
    let message =
        format!("expected result type to be {expected} or a rank-reduced version. ({problem}), but got '{found}'");
    Err(Diagnostic::error(op.loc(), message))
}

/// True when dropping dimensions of size one from a layout can give another.
fn is_reduced_layout(sizes: &[i64], of: &StridedLayout, to_sizes: &[i64], to: &StridedLayout) -> bool {
    let mut rest = to_sizes.iter().zip(&to.strides).peekable();
    for pair in sizes.iter().zip(&of.strides) {
        if rest.peek() == Some(&pair) {
            rest.next();
        } else if *pair.0 != 1 {
            return false;
        }
    }
    rest.next().is_none() && of.offset == to.offset
}

fn verify_reinterpret_cast(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let cast = ReinterpretCastOp::from_ref(op);
    let (source, result) = (op.ty(cast.source()), op.ty(cast.result()));
    let sizes = shape(op, result);
    verify_mixed(op, "offset", 1, "static_offsets", Some(1))?;
    verify_mixed(op, "size", 2, "static_sizes", Some(sizes.len()))?;
    verify_mixed(op, "stride", 3, "static_strides", Some(sizes.len()))?;
    if op.cx.element_type(source) != op.cx.element_type(result) {
        return Err(op.error("different element types specified"));
    }
    if space(op.cx, source) != space(op.cx, result) {
        return Err(op.error("different memory spaces specified"));
    }
    let slice = cast.slice();
    let Some(layout) = strided_layout(op.cx, result) else {
        return Err(op.error("expected the result to have a strided layout"));
    };
    expect_number(op, "offset", slice.offsets[0], layout.offset)?;
    for (size, declared) in slice.sizes.iter().zip(&sizes) {
        expect_number(op, "size", *size, *declared)?;
    }
    for (stride, declared) in slice.strides.iter().zip(&layout.strides) {
        expect_number(op, "stride", *stride, *declared)?;
    }
    Ok(())
}

/// The result's type may know less than the op says, not more.
fn expect_number(op: OpRef<'_>, what: &str, given: Mixed, declared: i64) -> Result<(), Diagnostic> {
    let given = given.as_static().unwrap_or(DYNAMIC);
    if declared == given || declared == DYNAMIC {
        return Ok(());
    }
    let show = |n| if n == DYNAMIC { "dynamic".to_string() } else { format!("{n}") };
    let message = format!("expected result type with {what} = {} instead of {}", show(given), show(declared));
    Err(Diagnostic::error(op.loc(), message))
}

fn verify_view(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let ty = op.ty(op.result(0));
    if strided_layout(op.cx, ty) != Some(StridedLayout::contiguous(&shape(op, ty))) {
        return Err(op.error("unsupported map for result memref type"));
    }
    verify_dynamic_sizes(op, op.num_operands() - 2, ty)
}

fn verify_copy(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (source, target) = (op.ty(op.operand(0)), op.ty(op.operand(1)));
    if op.cx.element_type(source) != op.cx.element_type(target) {
        return Err(op.error("requires the same element type for all operands"));
    }
    let (a, b) = (op.cx.shape(source), op.cx.shape(target));
    let agree = a.zip(b).is_none_or(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| may_agree(*a, *b)));
    if agree { Ok(()) } else { Err(op.error("requires the same shape for all operands")) }
}

fn verify_expand(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let expand = ExpandShapeOp::from_ref(op);
    let (source, result) = (shape(op, op.ty(expand.src())), shape(op, op.ty(expand.result())));
    verify_output_shape(op, 1, &result)?;
    let given = mixed(op, 1, "static_output_shape");
    let differs = |(given, declared): (&Mixed, &i64)| {
        *declared != DYNAMIC && given.as_static().is_some_and(|given| given != *declared)
    };
    if let Some(i) = given.iter().zip(&result).position(differs) {
        return Err(op.error(format!("invalid output shape provided at pos {i}")));
    }
    verify_reassociation(op, &expand.reassociation(), &result, &source)
}

fn verify_collapse(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let collapse = CollapseShapeOp::from_ref(op);
    let (source, result) = (shape(op, op.ty(collapse.src())), shape(op, op.ty(collapse.result())));
    verify_reassociation(op, &collapse.reassociation(), &source, &result)
}

fn verify_global(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let global = GlobalOp::from_ref(op);
    let ty = global.ty();
    if op.cx.num_elements(ty).is_none() {
        return Err(op.error(format!("type should be static shaped memref, but got '{}'", show::ty(op.cx, ty))));
    }
    let Some(value) = global.initial_value() else { return Ok(()) };
    if value == Attr::UNIT {
        return Ok(());
    }
    let is_elements = matches!(
        op.cx.attr_data(value),
        AttrData::Dense { .. }
            | AttrData::DenseResource { .. }
            | AttrData::Sparse { .. }
            | AttrData::DenseStrings { .. }
    );
    if !is_elements {
        return Err(op.error("initial value should be a unit or elements attribute, but got another one"));
    }
    let (expected, found) = (value_type(op.cx, ty), op.cx.attr_type(value));
    if found == Some(expected) {
        return Ok(());
    }
    let found = found.map(|ty| show::ty(op.cx, ty)).unwrap_or_default();
    let expected = show::ty(op.cx, expected);
    Err(op.error(format!("initial value expected to be of type '{expected}', but was of type '{found}'")))
}

/// A use of a variable against its definition.
pub(super) struct GetGlobalSymbols;

impl SymbolUser for GetGlobalSymbols {
    fn verify_symbol_uses(
        &self,
        op: OpRef<'_>,
        symbols: &SymbolScope<'_, '_>,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let get = GetGlobalOp::from_ref(op);
        let global = symbols.lookup(op.op, get.name_attr()).and_then(|g| g.as_::<GlobalOp<'_>>());
        let Some(global) = global else {
            let message = format!("'{}' does not reference a valid global memref", get.name());
            return Err(diags.report(op.error(message)));
        };
        let (found, expected) = (op.ty(get.result()), global.ty());
        if found == expected {
            return Ok(());
        }
        let (found, expected, name) = (show::ty(op.cx, found), show::ty(op.cx, expected), get.name());
        let message = format!("result type '{found}' does not match type '{expected}' of the global memref @{name}");
        Err(diags.report(op.error(message)))
    }
}

// ---- casts of shape and space, reallocation

impl Verify for ReshapeOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let reshape = ReshapeOp::from_ref(op);
        let (source, result) = (op.ty(reshape.source()), op.ty(reshape.result()));
        if op.cx.element_type(source) != op.cx.element_type(result) {
            let message = "element types of source and destination memref types should be the same";
            return Err(diags.report(op.error(message)));
        }
        let length = op.cx.shape(op.ty(reshape.shape())).and_then(|s| s.first().copied()).unwrap_or(DYNAMIC);
        let message = match op.cx.shape(result) {
            Some(_) if length == DYNAMIC => {
                "cannot use shape operand with dynamic length to reshape to statically-ranked memref type"
            }
            Some(shape) if shape.len() as i64 != length => {
                "length of shape operand differs from the result's memref rank"
            }
            _ => return Ok(()),
        };
        Err(diags.report(op.error(message)))
    }
}

impl Verify for DistinctObjectsOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        if op.num_operands() == 0 {
            return Err(diags.report(op.error("expected at least one operand")));
        }
        if !op.operand_types().eq(op.result_types()) {
            return Err(diags.report(op.error("operand types and result types must match")));
        }
        Ok(())
    }
}

impl Verify for ReallocOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let realloc = ReallocOp::from_ref(op);
        let (source, result) = (op.ty(realloc.source()), op.ty(realloc.result()));
        if op.cx.element_type(source) != op.cx.element_type(result) {
            let (source, result) = (show::ty(op.cx, source), show::ty(op.cx, result));
            let message = format!("expects source ('{source}') and result ('{result}') to have the same element type");
            return Err(diags.report(op.error(message)));
        }
        let dynamic = op.cx.shape(result).is_some_and(|s| s.contains(&DYNAMIC));
        match (dynamic, realloc.dynamic_result_size().is_some()) {
            (true, false) => Err(diags
                .report(op.error(format!("missing dimension operand for result type '{}'", show::ty(op.cx, result))))),
            (false, true) => Err(diags.report(
                op.error(format!("unnecessary dimension operand for result type '{}'", show::ty(op.cx, result))),
            )),
            _ => Ok(()),
        }
    }
}

impl Verify for AssumeAlignmentOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let alignment = AssumeAlignmentOp::from_ref(op).alignment();
        if alignment > 0 && alignment.count_ones() == 1 {
            return Ok(());
        }
        Err(diags.report(op.error("alignment must be power of 2")))
    }
}
