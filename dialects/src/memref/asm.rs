//! Directives of memref's assembly formats.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::op_def::OpView;
use sutura_ir::{Attr, AttrData, Context, OpRef, Reported, Type, TypeData};

use super::ops::GlobalOp;

/// `custom<GlobalHead>($sym_visibility, $constant, $sym_name)`: `["visibility"] [constant] @name`.
pub(super) const GLOBAL_HEAD: DirectiveDef = DirectiveDef { parse: parse_head, print: print_head };

/// `custom<GlobalTypeAndValue>($type, $initial_value)`: `type [= uninitialized | = dense<…>]`, the elements without
/// their type.
pub(super) const GLOBAL: DirectiveDef = DirectiveDef { parse: parse_global, print: print_global };

/// `custom<Permutation>($permutation)`: `(d0, d1) -> (d1, d0)`.
pub(super) const PERMUTATION: DirectiveDef = DirectiveDef { parse: parse_permutation, print: print_permutation };

/// The type of the elements that a memref of type `ty` begins with.
pub(super) fn value_type(cx: &Context, ty: Type) -> Type {
    match cx.type_data(ty) {
        TypeData::MemRef { shape, elem, .. } => cx.ty(TypeData::RankedTensor { shape, elem, encoding: None }),
        _ => ty,
    }
}

fn parse_head(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    if let Some(visibility) = p.opt_string()? {
        parts.set_prop(p.cx(), "sym_visibility", p.cx().string_attr(&visibility));
    }
    if p.opt_keyword("constant") {
        parts.set_prop(p.cx(), "constant", Attr::UNIT);
    }
    let name = p.symbol()?;
    let name = p.cx().string_attr(p.cx().str(name));
    parts.set_prop(p.cx(), "sym_name", name);
    Ok(())
}

fn print_head(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let global = GlobalOp::from_ref(op);
    if let Some(visibility) = global.sym_visibility() {
        p.string(visibility);
        p.text(" ");
    }
    if global.constant() {
        p.text("constant ");
    }
    p.symbol_name(global.sym_name());
}

fn parse_global(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let ty = p.ty()?;
    parts.set_prop(p.cx(), "type", p.cx().type_attr(ty));
    if !p.opt_punct("=") {
        return Ok(());
    }
    let value = if p.opt_keyword("uninitialized") {
        Attr::UNIT
    } else {
        let elements = value_type(p.cx(), ty);
        p.attr(Some(elements))?
    };
    parts.set_prop(p.cx(), "initial_value", value);
    Ok(())
}

fn print_global(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let global = GlobalOp::from_ref(op);
    p.ty(global.ty());
    match global.initial_value() {
        None => {}
        Some(Attr::UNIT) => p.text(" = uninitialized"),
        Some(value) => {
            p.text(" = ");
            p.attr_untyped(value);
        }
    }
}

/// Names in parentheses.
fn names(p: &mut dyn AsmParser) -> Result<Vec<String>, Reported> {
    let mut names = Vec::new();
    p.punct("(")?;
    while !p.opt_punct(")") {
        if !names.is_empty() {
            p.punct(",")?;
        }
        names.push(p.any_keyword()?);
    }
    Ok(names)
}

fn parse_permutation(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let dims = names(p)?;
    p.punct("->")?;
    let loc = p.loc();
    let results = names(p)?;
    let cx = p.cx();
    let dim = |name: String| dims.iter().position(|d| *d == name).map(|i| cx.affine_dim(i as u32));
    let Some(results) = results.into_iter().map(dim).collect::<Option<Vec<_>>>() else {
        return Err(p.error_at(loc, "use of undeclared identifier"));
    };
    let cx = p.cx();
    parts.set_prop(cx, "permutation", cx.affine_map_attr(cx.affine_map(dims.len() as u32, 0, &results)));
    Ok(())
}

fn print_permutation(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(AttrData::AffineMap(map)) = op.prop("permutation").map(|a| op.cx.attr_data(a)) {
        p.affine_map(map);
    }
}
