//! Directives for addresses, memory accesses and fields.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::op_def::OpView;
use sutura_ir::{Context, OpRef, Reported, Type};

use super::attrs::{AtomicOrdering, Dereferenceable};
use super::memory::{AllocaOp, DYNAMIC_INDEX};
use super::types::{ArrayType, StructType};
use crate::asm::parse_dict;

/// `[inalloca] %n x type {…} : (type) -> type`
pub(super) const ALLOCA: DirectiveDef = DirectiveDef { parse: parse_alloca, print: print_alloca };

/// `inbounds`, `nusw`, `nuw`, with `|` between them; nothing for none.
pub(super) const NO_WRAP_FLAGS: DirectiveDef = DirectiveDef { parse: parse_no_wrap, print: print_no_wrap };

/// `%a, 1, …`
pub(super) const GEP_INDICES: DirectiveDef = DirectiveDef { parse: parse_indices, print: print_indices };

/// `[syncscope("…")] ordering`
pub(super) const ORDERING: DirectiveDef = DirectiveDef { parse: parse_ordering, print: print_ordering };

/// `<bytes = 4, mayBeNull = true>`
pub(super) const DEREFERENCEABLE: DirectiveDef =
    DirectiveDef { parse: parse_dereferenceable, print: print_dereferenceable };

/// Nothing is written: the type of a field follows from its container's.
pub(super) const FIELD: DirectiveDef = DirectiveDef { parse: parse_field, print: |p, _, _| p.text(" ") };

fn parse_alloca(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    if p.opt_keyword("inalloca") {
        parts.set_prop(p.cx(), "inalloca", sutura_ir::Attr::UNIT);
    }
    parts.operands[0].push(p.operand()?);
    p.keyword("x")?;
    let elem = p.ty()?;
    parts.set_prop(p.cx(), "elem_type", p.cx().type_attr(elem));
    parse_dict(p, parts, &[])?;
    // Upstream reads an alignment of 0 as none.
    let cx = p.cx();
    parts.props.retain(|e| cx.str(e.name) != "alignment" || cx.as_int(e.value) != Some(0));
    p.punct(":")?;
    let loc = p.loc();
    let ty = p.ty()?;
    let Some(([size], [pointer])) = p.cx().signature(ty) else {
        return Err(p.error_at(loc, "expected trailing function type with one argument and one result"));
    };
    let (size, pointer) = (*size, *pointer);
    parts.operand_types[0] = Some(vec![size]);
    parts.result_types[0] = Some(vec![pointer]);
    Ok(())
}

fn print_alloca(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let alloca = AllocaOp::from_ref(op);
    if alloca.inalloca() {
        p.text("inalloca ");
    }
    p.value(op.body, alloca.array_size());
    p.text(" x ");
    p.ty(alloca.elem_type());
    p.attr_dict_without(op, &["elem_type", "inalloca"]);
    p.text(" : ");
    p.function_type(op.operand_types(), op.result_types());
}

/// Bits of `noWrapFlags`; `inbounds` implies `nusw`.
const NO_WRAP: [(&str, i64); 3] = [("inbounds", 3), ("nusw", 2), ("nuw", 4)];

fn parse_no_wrap(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let mut bits = 0;
    loop {
        match NO_WRAP.iter().find(|(word, _)| p.opt_keyword(word)) {
            Some((_, bit)) => bits |= bit,
            None if bits == 0 => return Ok(()),
            None => return Err(p.error("expected one of inbounds, nusw, nuw")),
        }
        if !p.opt_punct("|") {
            break;
        }
    }
    parts.set_prop(p.cx(), "noWrapFlags", p.cx().int_attr(bits, Type::I32));
    Ok(())
}

fn print_no_wrap(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let mut bits = op.prop("noWrapFlags").and_then(|a| op.cx.as_int(a)).unwrap_or_default();
    let mut words = Vec::new();
    for (word, bit) in NO_WRAP {
        if bits & bit == bit {
            bits &= !bit;
            words.push(word);
        }
    }
    p.text(&words.join("|"));
}

fn parse_indices(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let mut indices = Vec::new();
    loop {
        match p.opt_operand() {
            Some(value) => {
                parts.operands[1].push(value);
                indices.push(DYNAMIC_INDEX);
            }
            None => {
                let loc = p.loc();
                match p.opt_int()?.map(i32::try_from) {
                    Some(Ok(index)) => indices.push(index),
                    Some(Err(_)) => return Err(p.error_at(loc, "index does not fit 32 bits")),
                    None => return Err(p.error("expected SSA value or integer")),
                }
            }
        }
        if !p.opt_punct(",") {
            break;
        }
    }
    parts.set_prop(p.cx(), "rawConstantIndices", p.cx().i32_array(&indices));
    Ok(())
}

fn print_indices(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let indices = op.prop("rawConstantIndices").and_then(|a| op.cx.as_ints(a)).unwrap_or_default();
    let mut values = op.operand_group(1).unwrap_or_default().map(|i| op.operand(i));
    p.list(indices, |p, index| match (index == i64::from(DYNAMIC_INDEX)).then(|| values.next()).flatten() {
        Some(value) => p.value(op.body, value),
        None => p.int(index),
    });
}

pub(super) fn parse_syncscope(p: &mut dyn AsmParser, parts: &mut OpParts) -> Result<(), Reported> {
    if p.opt_keyword("syncscope") {
        p.punct("(")?;
        let scope = p.string()?;
        parts.set_prop(p.cx(), "syncscope", p.cx().string_attr(&scope));
        p.punct(")")?;
    }
    Ok(())
}

fn parse_ordering(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    parse_syncscope(p, parts)?;
    let loc = p.loc();
    let word = p.enum_word()?;
    let Some(ordering) = AtomicOrdering::from_keyword(&word) else {
        return Err(p.error_at(loc, "expected an atomic ordering"));
    };
    parts.set_prop(p.cx(), "ordering", p.cx().int_attr(ordering as i64, Type::I64));
    Ok(())
}

fn print_ordering(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(scope) = op.prop("syncscope").and_then(|a| op.cx.as_str(a)) {
        p.text("syncscope(");
        p.string(scope);
        p.text(") ");
    }
    let ordering = op.prop("ordering").and_then(|a| op.cx.as_int(a)).and_then(AtomicOrdering::from_int);
    p.text(ordering.map_or("not_atomic", AtomicOrdering::keyword));
}

fn parse_dereferenceable(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let value = Dereferenceable::parse(p)?;
    parts.set_prop(p.cx(), "dereferenceable", p.cx().ext_attr(value));
    Ok(())
}

fn print_dereferenceable(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(value) = op.prop("dereferenceable").and_then(|a| op.cx.attr_as::<Dereferenceable>(a)) {
        p.text(&value.to_string());
    }
}

/// The type of the field that a path leads to.
///
/// # Errors
/// Says where the path leaves the type.
pub(super) fn field_type(cx: &Context, container: Type, path: &[i64]) -> Result<Type, String> {
    let mut ty = container;
    for index in path {
        let fields = match (cx.type_as::<ArrayType>(ty), cx.type_as::<StructType>(ty)) {
            (Some(array), _) => Err(array),
            (_, Some(StructType { fields: Some(fields), .. })) => Ok(fields),
            _ => return Err(format!("expected LLVM IR structure/array type, got: '{}'", crate::show::ty(cx, ty))),
        };
        let at = usize::try_from(*index).ok();
        ty = match fields {
            Err(array) if at.is_some_and(|i| (i as u64) < array.len) => array.elem,
            Ok(fields) if at.is_some_and(|i| i < fields.len()) => fields[at.unwrap_or_default()],
            _ => return Err(format!("position out of bounds: {index}")),
        };
    }
    Ok(ty)
}

fn parse_field(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let loc = p.loc();
    let path = parts.entry(p.cx(), "position").and_then(|a| p.cx().as_ints(a)).unwrap_or_default();
    let container = parts.def.operands.iter().position(|o| o.name == "container");
    let container = container.and_then(|i| parts.operand_types[i].as_ref()?.first().copied());
    let Some(container) = container else { return Err(p.error("expected the type of the container")) };
    let field = field_type(p.cx(), container, &path).map_err(|message| p.error_at(loc, &message))?;
    match args.first() {
        Some(DirectiveArg::OperandType(i)) => parts.operand_types[*i] = Some(vec![field]),
        Some(DirectiveArg::ResultType(i)) => parts.result_types[*i] = Some(vec![field]),
        _ => {}
    }
    Ok(())
}
