//! Directives of vector's assembly formats.

use sutura_ir::affine::AffineMap;
use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::constraints::BoolArrayAttr;
use sutura_ir::op_def::AttrConstraintDef;
use sutura_ir::{Context, Loc, OpRef, Reported, Type};

use super::attrs::{CombiningKind, Punctuation};
use super::types::VectorShape;

/// `custom<Kind>($kind)`: `<word>`.
pub(super) const KIND: DirectiveDef = DirectiveDef { parse: parse_kind, print: print_kind };

/// `lhs, rhs`, from which the accumulator's and the result's type follow.
pub(super) const OUTER_PRODUCT_TYPES: DirectiveDef = DirectiveDef { parse: parse_outer_product, print: print_two };

/// `base, vector` of a read; padding and mask follow, and what the dictionary left out is filled in.
pub(super) const READ_TYPES: DirectiveDef = DirectiveDef { parse: parse_read, print: print_read };

/// `vector, base` of a write; mask and result follow, and what the dictionary left out is filled in.
pub(super) const WRITE_TYPES: DirectiveDef = DirectiveDef { parse: parse_write, print: print_two };

/// The dictionary of a transfer, without a map that picks the last dimensions in order and bounds that are all unknown.
pub(super) const TRANSFER_DICT: DirectiveDef =
    DirectiveDef { parse: crate::asm::parse_dict, print: print_transfer_dict };

/// The dictionary of an outer product: with an accumulator it holds the kind, the default one too.
pub(super) const OUTER_PRODUCT_DICT: DirectiveDef =
    DirectiveDef { parse: crate::asm::parse_dict, print: print_outer_product_dict };

fn print_outer_product_dict(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    match op.num_operands() {
        3.. => p.full_attr_dict(op, &[]),
        _ => p.attr_dict_without(op, &[]),
    }
}

fn print_transfer_dict(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let cx = op.cx;
    let mut elided = Vec::new();
    let map = op.prop("permutation_map").and_then(|a| cx.as_affine_map(a));
    let is_minor = |map| minor_identity(cx, cx.affine_map_data(map).dims as usize, cx.map_results(map).len()) == map;
    if map.is_some_and(is_minor) {
        elided.push("permutation_map");
    }
    let bounds = op.prop("in_bounds").and_then(|a| BoolArrayAttr::get(cx, a));
    if bounds.is_some_and(|bounds| !bounds.contains(&true)) {
        elided.push("in_bounds");
    }
    p.attr_dict_without(op, &elided);
}

/// `<word>`
pub(super) const PUNCTUATION: DirectiveDef = DirectiveDef {
    parse: |p, parts, _| {
        let mark = Punctuation::parse(p)?;
        parts.set_prop(p.cx(), "punctuation", p.cx().ext_attr(mark));
        Ok(())
    },
    print: |p, op, _| {
        if let Some(mark) = op.prop("punctuation").and_then(|a| op.cx.attr_as::<Punctuation>(a)) {
            p.text(&mark.to_string());
        }
    },
};

fn parse_kind(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let kind = CombiningKind::parse(p)?;
    parts.set_prop(p.cx(), "kind", p.cx().ext_attr(kind));
    Ok(())
}

fn print_kind(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(kind) = op.prop("kind").and_then(|a| op.cx.attr_as::<CombiningKind>(a)) {
        p.text(&kind.to_string());
    }
}

/// `type, type`
fn parse_two(p: &mut dyn AsmParser) -> Result<(Type, Type), Reported> {
    let first = p.ty()?;
    p.punct(",")?;
    Ok((first, p.ty()?))
}

/// The types of the first two operands.
fn print_two(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    p.types(op.operand_types().take(2));
}

/// Type of an outer product: the dimensions of both operands, or those of the vector when the other is a scalar.
pub(super) fn outer_product_type(cx: &Context, lhs: Type, rhs: Type) -> Type {
    let mut shape = VectorShape::of(cx, lhs);
    let other = VectorShape::of(cx, rhs);
    shape.sizes.extend(other.sizes);
    shape.scalable.extend(other.scalable);
    shape.vector(cx)
}

fn parse_outer_product(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let (lhs, rhs) = parse_two(p)?;
    let result = outer_product_type(p.cx(), lhs, rhs);
    let acc = vec![result; parts.operands[2].len()];
    parts.operand_types = vec![Some(vec![lhs]), Some(vec![rhs]), Some(acc)];
    parts.result_types = vec![Some(vec![result])];
    Ok(())
}

/// The map from `rank` dimensions to the last `picked` of them, in order.
pub(super) fn minor_identity(cx: &Context, rank: usize, picked: usize) -> AffineMap {
    let first = rank.saturating_sub(picked);
    let results: Vec<_> = (first..rank).map(|d| cx.affine_dim(d as u32)).collect();
    cx.affine_map(rank as u32, 0, &results)
}

/// Fills in what the dictionary of a transfer left out: a map to the last dimensions, as many as the vector has beyond
/// those of an element that is a vector itself, and no bounds that are known to hold.
fn fill_transfer(p: &mut dyn AsmParser, at: Loc, parts: &mut OpParts, types: (Type, Type)) -> Result<(), Reported> {
    let (base, vector) = types;
    let cx = p.cx();
    let map = match parts.entry(cx, "permutation_map") {
        Some(map) => cx.as_affine_map(map),
        None => {
            let inner = VectorShape::of(cx, cx.element_type(base)).rank();
            let picked = VectorShape::of(cx, vector).rank().saturating_sub(inner);
            let rank = cx.shape(base).map_or(0, <[i64]>::len);
            if rank < picked {
                let message = "expected a custom permutation_map when rank(source) != rank(destination)";
                return Err(p.error_at(at, message));
            }
            let map = minor_identity(cx, rank, picked);
            parts.set_prop(cx, "permutation_map", cx.affine_map_attr(map));
            Some(map)
        }
    };
    if parts.entry(cx, "in_bounds").is_none() {
        let count = map.map_or(0, |map| cx.map_results(map).len());
        parts.set_prop(cx, "in_bounds", BoolArrayAttr::set(cx, &vec![false; count]));
    }
    Ok(())
}

/// The mask's type: that of the vector before the map is applied, without the dimensions that repeat.
///
/// The dictionary stands before the types, so the map is known here.
fn mask_type(cx: &Context, parts: &OpParts, vector: Type) -> Type {
    let shape = VectorShape::of(cx, vector);
    let name = cx.ident("permutation_map");
    let map = parts.props.iter().chain(&parts.attrs).find(|a| a.name == name).and_then(|a| cx.as_affine_map(a.value));
    transfer_mask_type(cx, map, &shape)
}

/// Dimensions of the vector in the order in which the base has them.
pub(super) fn transfer_mask_type(cx: &Context, map: Option<AffineMap>, vector: &VectorShape) -> Type {
    use sutura_ir::affine::AffineExprData::Dim;
    let mut picked: Vec<(u32, usize)> = Vec::new();
    if let Some(map) = map {
        for (i, expr) in cx.map_results(map).iter().enumerate().take(vector.rank()) {
            if let Dim(d) = cx.affine_data(*expr) {
                picked.push((d, i));
            }
        }
    }
    picked.sort_unstable();
    let mask = VectorShape {
        sizes: picked.iter().map(|(_, i)| vector.sizes[*i]).collect(),
        scalable: picked.iter().map(|(_, i)| vector.scalable[*i]).collect(),
        elem: Type::I1,
    };
    mask.vector(cx)
}

fn parse_read(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let at = p.loc();
    let (base, vector) = parse_two(p)?;
    fill_transfer(p, at, parts, (base, vector))?;
    let mask = vec![mask_type(p.cx(), parts, vector); parts.operands[3].len()];
    parts.operand_types[0] = Some(vec![base]);
    parts.operand_types[2] = Some(vec![p.cx().element_type(base)]);
    parts.operand_types[3] = Some(mask);
    parts.result_types = vec![Some(vec![vector])];
    Ok(())
}

fn print_read(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    p.types([op.ty(op.operand(0)), op.ty(op.result(0))]);
}

fn parse_write(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let at = p.loc();
    let (vector, base) = parse_two(p)?;
    fill_transfer(p, at, parts, (base, vector))?;
    let mask = vec![mask_type(p.cx(), parts, vector); parts.operands[3].len()];
    parts.operand_types[0] = Some(vec![vector]);
    parts.operand_types[1] = Some(vec![base]);
    parts.operand_types[3] = Some(mask);
    parts.result_types = vec![Some(if base.is_tensor(p.cx()) { vec![base] } else { Vec::new() })];
    Ok(())
}
