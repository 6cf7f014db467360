//! Traits that say something checkable of one op: INV-17 to INV-20.

use crate::attrs::NamedAttr;
use crate::context::Context;
use crate::diagnostics::{Diagnostic, codes};
use crate::op_def::{OpDef, Traits};
use crate::op_ref::OpRef;
use crate::symbols::{SYMBOL_NAME, SYMBOL_VISIBILITY};
use crate::types::{DYNAMIC, Type, TypeData};

type Check = (Traits, &'static str, fn(OpRef<'_>) -> Result<(), Diagnostic>);

/// Checks in the order in which they are made, with the code of their errors.
const CHECKS: &[Check] = &[
    (Traits::NoRegionArguments, codes::REGION_SHAPE, no_region_arguments),
    (Traits::SingleBlock, codes::REGION_SHAPE, single_block),
    (Traits::Terminator, codes::TERMINATOR, terminator),
    (Traits::SameTypeOperands, codes::TYPES_AGREE, same_type_operands),
    (Traits::SameOperandsAndResultShape, codes::TYPES_AGREE, same_shape),
    (Traits::SameOperandsAndResultElementType, codes::TYPES_AGREE, same_element_type),
    (Traits::SameOperandsAndResultType, codes::TYPES_AGREE, same_type),
];

/// Checks the traits of `op` and what it must lie in; `owner` owns the body that holds it.
pub(super) fn verify(op: OpRef<'_>, owner: Option<OpRef<'_>>, def: &OpDef) -> Result<(), Diagnostic> {
    for (traits, code, check) in CHECKS {
        if def.traits.has(*traits) {
            check(op).map_err(|e| e.code(code))?;
        }
    }
    if !def.parents.is_empty() {
        verify_parent(op, owner, def).map_err(|e| e.code(codes::PARENT))?;
    }
    if def.traits.has(Traits::Symbol) {
        verify_symbol(op, owner, def).map_err(|e| e.code(codes::SYMBOL_FORM))?;
    }
    Ok(())
}

/// INV-17.
fn verify_parent(op: OpRef<'_>, owner: Option<OpRef<'_>>, def: &OpDef) -> Result<(), Diagnostic> {
    let parent = op.parent().or(owner).map(|p| p.name_str());
    // A part of a program that is verified alone has an unknown parent.
    if parent.is_none_or(|p| def.parents.contains(&p)) {
        return Ok(());
    }
    let one_of = if def.parents.len() == 1 { "" } else { "to be one of " };
    Err(op.error(format!("expects parent op {one_of}'{}'", def.parents.join(", "))))
}

/// INV-18, as the two after it.
fn no_region_arguments(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let many = op.regions().len() > 1;
    for (index, entry) in op.regions().map(|r| r.entry()).enumerate() {
        if entry.is_some_and(|b| !b.args().is_empty()) {
            return Err(match many {
                true => op.error(format!("region #{index} should have no arguments")),
                false => op.error("region should have no arguments"),
            });
        }
    }
    Ok(())
}

fn single_block(op: OpRef<'_>) -> Result<(), Diagnostic> {
    for (index, region) in op.regions().enumerate() {
        let Some(entry) = region.entry() else { continue };
        if region.body.next_block(entry.block).is_some() {
            return Err(op.error(format!("expects region #{index} to have 0 or 1 blocks")));
        }
        if !op.has_trait(Traits::NoTerminator) && region.body.first_op(entry.block).is_none() {
            return Err(op.error("expects a non-empty block"));
        }
    }
    Ok(())
}

fn terminator(op: OpRef<'_>) -> Result<(), Diagnostic> {
    match op.body.next_op(op.op) {
        Some(_) => Err(op.error("must be the last operation in the parent block")),
        None => Ok(()),
    }
}

// ---- agreement of types

fn same_type_operands(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let mut types = op.operand_types();
    let Some(first) = types.next() else { return Ok(()) };
    match types.all(|t| t == first) {
        true => Ok(()),
        false => Err(op.error("requires all operands to have the same type")),
    }
}

/// Types of operands and results, results first.
fn all_types(op: OpRef<'_>) -> impl Iterator<Item = Type> + '_ {
    op.result_types().chain(op.operand_types())
}

fn same_shape(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let mut types = all_types(op);
    let Some(first) = types.next() else { return Ok(()) };
    match types.all(|t| compatible_shape(op.cx, first, t)) {
        true => Ok(()),
        false => Err(op.error("requires the same shape for all operands and results")),
    }
}

fn same_element_type(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let mut types = all_types(op).map(|t| op.cx.element_type(t));
    let Some(first) = types.next() else { return Ok(()) };
    match types.all(|t| t == first) {
        true => Ok(()),
        false => Err(op.error("requires the same element type for all operands and results")),
    }
}

fn same_type(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let cx = op.cx;
    let Some(first) = all_types(op).next() else { return Ok(()) };
    let same =
        |ty: Type| ty == first || (cx.element_type(ty) == cx.element_type(first) && compatible_shape(cx, first, ty));
    if !all_types(op).all(same) {
        return Err(op.error("requires the same type for all operands and results"));
    }
    if let Some(property) = differing_property(op) {
        return Err(op.error(format!("requires the same encoding for all operands and results: '{property}' differs")));
    }
    Ok(())
}

/// A property that two of the types state, and not as the same. As everywhere, one that is not stated fits any.
fn differing_property(op: OpRef<'_>) -> Option<&str> {
    let mut encodings = all_types(op).map(|ty| op.cx.encoding(ty));
    let first = encodings.next()?;
    if encodings.all(|encoding| encoding == first) {
        return None;
    }
    let mut stated: Vec<NamedAttr> = Vec::new();
    for property in all_types(op).flat_map(|ty| op.cx.properties(ty)) {
        match stated.iter().find(|e| e.name == property.name) {
            Some(other) if !op.cx.properties_agree(other.value, property.value) => {
                return Some(op.cx.str(property.name));
            }
            Some(_) => {}
            None => stated.push(property),
        }
    }
    None
}

/// Shapes that agree where both are known; a scalar agrees with scalars only.
fn compatible_shape(cx: &Context, a: Type, b: Type) -> bool {
    if a == b {
        return true;
    }
    let unranked = |t| matches!(cx.type_data(t), TypeData::UnrankedTensor(_) | TypeData::UnrankedMemRef { .. });
    match (cx.shape(a), cx.shape(b)) {
        (Some(a), Some(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x == y || *x == DYNAMIC || *y == DYNAMIC)
        }
        (None, None) => unranked(a) == unranked(b),
        (Some(_), None) => unranked(b),
        (None, Some(_)) => unranked(a),
    }
}

// ---- symbols

/// INV-20.
fn verify_symbol(op: OpRef<'_>, owner: Option<OpRef<'_>>, def: &OpDef) -> Result<(), Diagnostic> {
    let optional = def.attr(SYMBOL_NAME).is_some_and(|a| a.optional);
    match op.attr(SYMBOL_NAME) {
        None if optional => return Ok(()),
        Some(name) if op.cx.as_str(name).is_some() => {}
        _ => return Err(op.error(format!("requires string attribute '{SYMBOL_NAME}'"))),
    }
    let Some(visibility) = op.attr(SYMBOL_VISIBILITY) else { return verify_symbol_parent(op, owner) };
    let got = || crate::asm::print::attr_text(op.cx, visibility);
    match op.cx.as_str(visibility) {
        None => Err(op.error(format!(
            "requires visibility attribute '{SYMBOL_VISIBILITY}' to be a string attribute, but got {}",
            got()
        ))),
        Some("public" | "private" | "nested") => verify_symbol_parent(op, owner),
        Some(_) => Err(op.error(format!(
            "visibility expected to be one of [\"public\", \"private\", \"nested\"], but got {}",
            got()
        ))),
    }
}

fn verify_symbol_parent(op: OpRef<'_>, owner: Option<OpRef<'_>>) -> Result<(), Diagnostic> {
    let wrong = op.parent().or(owner).and_then(|p| p.def()).is_some_and(|def| !def.traits.has(Traits::SymbolTable));
    if wrong { Err(op.error("symbol's parent must have the SymbolTable trait")) } else { Ok(()) }
}
