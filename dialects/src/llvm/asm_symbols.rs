//! Directives for functions, variables and calls.

use sutura_ir::asm::bytes_of_text;
use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, UnresolvedOperand};
use sutura_ir::asm::print::Printer;
use sutura_ir::op_def::OpView;
use sutura_ir::{Attr, Loc, OpRef, Reported, Type};

use super::attrs::{CConv, Linkage, TailCallKind, VScaleRange};
use super::ops::CallIntrinsicOp;
use super::symbols::{CallOp, FuncOp, GlobalOp};
use super::types::{ArrayType, FunctionType, VoidType};
use crate::asm::parse_dict;
use crate::signature::{parse_arguments, parse_results, print_arguments, print_results, set_value_attrs};

/// `[linkage] [visibility] [unnamed_addr] [cconv] @name(arguments) [-> result] [comdat(@symbol)]`
pub(super) const FUNC_HEAD: DirectiveDef = DirectiveDef { parse: parse_func, print: print_func };

/// `[linkage] [visibility] [thread_local] [unnamed_addr] [constant] @name(value) [comdat(@symbol)] {…} [: type]`
pub(super) const GLOBAL: DirectiveDef = DirectiveDef { parse: parse_global, print: print_global };

/// `[cconv] [tail call kind] callee(arguments) [vararg(type)] [bundles] {…} : [type,] (types) -> types`
pub(super) const CALL: DirectiveDef = DirectiveDef { parse: parse_call, print: print_call };

/// `["tag"(%a : type), …]`
pub(super) const BUNDLES: DirectiveDef = DirectiveDef { parse: parse_bundles, print: print_bundles };

const VISIBILITY: &[(&str, i64)] = &[("default", 0), ("hidden", 1), ("protected", 2)];
const UNNAMED_ADDR: &[(&str, i64)] = &[("local_unnamed_addr", 1), ("unnamed_addr", 2)];

/// One of some words, which stands for a number; without one, 0.
fn parse_number(p: &mut dyn AsmParser, parts: &mut OpParts, name: &str, words: &[(&str, i64)]) {
    let number = words.iter().find(|(word, _)| p.opt_keyword(word)).map_or(0, |(_, n)| *n);
    parts.set_prop(p.cx(), name, p.cx().int_attr(number, Type::I64));
}

fn print_number(p: &mut Printer<'_>, op: OpRef<'_>, name: &str, words: &[(&str, i64)]) {
    let number = op.prop(name).and_then(|a| op.cx.as_int(a)).unwrap_or_default();
    if let Some((word, _)) = words.iter().find(|(_, n)| *n == number && number != 0) {
        p.text(word);
        p.text(" ");
    }
}

fn parse_name(p: &mut dyn AsmParser, parts: &mut OpParts) -> Result<(), Reported> {
    let name = p.symbol()?;
    let name = p.cx().string_attr(p.cx().str(name));
    parts.set_prop(p.cx(), "sym_name", name);
    Ok(())
}

/// `comdat(@symbol)`, if it is there.
fn parse_comdat(p: &mut dyn AsmParser, parts: &mut OpParts) -> Result<(), Reported> {
    if p.opt_keyword("comdat") {
        p.punct("(")?;
        let symbol = p.attr(None)?;
        parts.set_prop(p.cx(), "comdat", symbol);
        p.punct(")")?;
    }
    Ok(())
}

fn print_comdat(p: &mut Printer<'_>, comdat: Option<Attr>) {
    if let Some(comdat) = comdat {
        p.text(" comdat(");
        p.attr(comdat);
        p.text(")");
    }
}

// ---- functions

/// The result of a function of LLVM: none is `void`, and there is at most one.
fn result_type(p: &mut dyn AsmParser, loc: Loc, results: &[Type]) -> Result<Type, Reported> {
    match results {
        [] => Ok(p.cx().ext_type(VoidType)),
        [one] => Ok(*one),
        _ => Err(p.error_at(loc, "failed to construct function type: expected zero or one function result")),
    }
}

fn parse_func(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let linkage = Linkage::opt_keyword(p).unwrap_or(Linkage::External);
    parts.set_prop(p.cx(), "linkage", p.cx().ext_attr(linkage));
    parse_number(p, parts, "visibility_", VISIBILITY);
    parse_number(p, parts, "unnamed_addr", UNNAMED_ADDR);
    let cconv = CConv::opt_keyword(p).unwrap_or(CConv::C);
    parts.set_prop(p.cx(), "CConv", p.cx().ext_attr(cconv));
    parse_name(p, parts)?;
    let loc = p.loc();
    let (inputs, names, var_arg) = parse_arguments(p, true)?;
    let results = parse_results(p)?;
    let result = result_type(p, loc, &results.types)?;
    let ty = p.cx().ext_type(FunctionType { result, params: inputs.types.clone(), var_arg });
    parts.set_prop(p.cx(), "function_type", p.cx().type_attr(ty));
    set_value_attrs(p.cx(), parts, &inputs, &results);
    parse_vscale_range(p, parts)?;
    parse_comdat(p, parts)?;
    let region = args.iter().find_map(|a| if let DirectiveArg::Region(i) = a { Some(*i) } else { None });
    if let (Some(region), Some(names)) = (region, names) {
        parts.region_args[region] = Some(names);
    }
    Ok(())
}

/// `vscale_range(min, max)`, if it is there.
fn parse_vscale_range(p: &mut dyn AsmParser, parts: &mut OpParts) -> Result<(), Reported> {
    if !p.opt_keyword("vscale_range") {
        return Ok(());
    }
    p.punct("(")?;
    let loc = p.loc();
    let min = p.int()?;
    p.punct(",")?;
    let max = p.int()?;
    p.punct(")")?;
    let (Ok(min), Ok(max)) = (i32::try_from(min), i32::try_from(max)) else {
        return Err(p.error_at(loc, "expected numbers of 32 bits"));
    };
    parts.set_prop(p.cx(), "vscale_range", p.cx().ext_attr(VScaleRange { min, max }));
    Ok(())
}

fn print_func(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let func = FuncOp::from_ref(op);
    if func.linkage() != Linkage::External {
        p.text(func.linkage().keyword());
        p.text(" ");
    }
    print_number(p, op, "visibility_", VISIBILITY);
    print_number(p, op, "unnamed_addr", UNNAMED_ADDR);
    if func.cconv() != CConv::C {
        p.text(func.cconv().keyword());
        p.text(" ");
    }
    p.symbol_name(func.sym_name());
    let Some(ty) = op.cx.type_as::<FunctionType>(func.function_type()) else { return };
    print_arguments(p, op, &ty.params, func.arg_attrs(), ty.var_arg);
    let none = op.cx.type_as::<VoidType>(ty.result).is_some();
    print_results(p, op, if none { &[] } else { std::slice::from_ref(&ty.result) }, func.res_attrs());
    if let Some(range) = func.vscale_range() {
        p.text(&format!(" vscale_range({}, {})", range.min, range.max));
    }
    print_comdat(p, op.prop("comdat"));
}

// ---- variables

fn parse_global(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let start = p.loc();
    let linkage = Linkage::opt_keyword(p).unwrap_or(Linkage::External);
    parts.set_prop(p.cx(), "linkage", p.cx().ext_attr(linkage));
    parse_number(p, parts, "visibility_", VISIBILITY);
    if p.opt_keyword("thread_local") {
        parts.set_prop(p.cx(), "thread_local_", Attr::UNIT);
    }
    parse_number(p, parts, "unnamed_addr", UNNAMED_ADDR);
    if p.opt_keyword("constant") {
        parts.set_prop(p.cx(), "constant", Attr::UNIT);
    }
    parse_name(p, parts)?;
    p.punct("(")?;
    let mut value = None;
    if !p.opt_punct(")") {
        let attr = p.attr(None)?;
        parts.set_prop(p.cx(), "value", attr);
        p.punct(")")?;
        value = Some(attr);
    }
    parse_comdat(p, parts)?;
    parse_dict(p, parts, &[])?;
    let ty = global_type(p, start, value)?;
    parts.set_prop(p.cx(), "global_type", p.cx().type_attr(ty));
    Ok(())
}

/// The type is written, or follows from the length of a string.
fn global_type(p: &mut dyn AsmParser, start: Loc, value: Option<Attr>) -> Result<Type, Reported> {
    if p.opt_punct(":") {
        return p.ty();
    }
    match value.and_then(|v| p.cx().as_str(v).map(|text| bytes_of_text(text).len())) {
        Some(len) => Ok(p.cx().ext_type(ArrayType { len: len as u64, elem: Type::I8 })),
        None => Err(p.error_at(start, "type can only be omitted for string globals")),
    }
}

fn print_global(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let global = GlobalOp::from_ref(op);
    p.text(global.linkage().keyword());
    p.text(" ");
    print_number(p, op, "visibility_", VISIBILITY);
    if global.thread_local() {
        p.text("thread_local ");
    }
    print_number(p, op, "unnamed_addr", UNNAMED_ADDR);
    if global.constant() {
        p.text("constant ");
    }
    p.symbol_name(global.sym_name());
    p.text("(");
    if let Some(value) = global.initial() {
        p.attr(value);
    }
    p.text(")");
    print_comdat(p, op.prop("comdat"));
    let written = [
        "sym_name",
        "global_type",
        "constant",
        "value",
        "linkage",
        "unnamed_addr",
        "thread_local_",
        "visibility_",
        "comdat",
    ];
    p.full_attr_dict(op, &written);
    if global.initial().and_then(|v| op.cx.as_str(v)).is_none() {
        p.text(" : ");
        p.ty(global.global_type());
    }
}

// ---- calls

/// Operands with commas between them, up to `)`.
fn parse_operands(p: &mut dyn AsmParser) -> Result<Vec<UnresolvedOperand>, Reported> {
    let mut values = Vec::new();
    while !p.opt_punct(")") {
        if !values.is_empty() {
            p.punct(",")?;
        }
        values.push(p.operand()?);
    }
    Ok(values)
}

fn parse_call(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let cconv = CConv::opt_keyword(p).unwrap_or(CConv::C);
    parts.set_prop(p.cx(), "CConv", p.cx().ext_attr(cconv));
    let kind = TailCallKind::opt_keyword(p).unwrap_or(TailCallKind::None);
    parts.set_prop(p.cx(), "TailCallKind", p.cx().ext_attr(kind));
    let pointer = p.opt_operand();
    if pointer.is_none() {
        let name = p.symbol()?;
        let callee = p.cx().symbol_ref(p.cx().str(name));
        parts.set_prop(p.cx(), "callee", callee);
    }
    p.punct("(")?;
    let arguments = parse_operands(p)?;
    if p.opt_keyword("vararg") {
        p.punct("(")?;
        let ty = p.ty()?;
        parts.set_prop(p.cx(), "var_callee_type", p.cx().type_attr(ty));
        p.punct(")")?;
    }
    parse_bundles(p, parts, args)?;
    parse_dict(p, parts, &[])?;
    p.punct(":")?;
    let mut types = Vec::new();
    if pointer.is_some() {
        types.push(p.ty()?);
        p.punct(",")?;
    }
    let loc = p.loc();
    let (inputs, _, _) = parse_arguments(p, false)?;
    let results = parse_results(p)?;
    if results.types.len() > 1 {
        return Err(p.error_at(loc, "expected function with 0 or 1 result"));
    }
    set_value_attrs(p.cx(), parts, &inputs, &results);
    types.extend(inputs.types);
    parts.operands[0] = pointer.into_iter().chain(arguments).collect();
    parts.operand_types[0] = Some(types);
    parts.result_types = vec![Some(results.types)];
    Ok(())
}

fn print_call(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let call = CallOp::from_ref(op);
    if call.cconv() != CConv::C {
        p.text(call.cconv().keyword());
        p.text(" ");
    }
    if call.tail_call_kind() != TailCallKind::None {
        p.text(call.tail_call_kind().keyword());
        p.text(" ");
    }
    let mut arguments = op.operand_group(0).unwrap_or_default();
    let pointer = call.callee().is_none().then(|| arguments.next().map(|i| op.operand(i))).flatten();
    match (call.callee(), pointer) {
        (Some(name), _) => p.symbol_name(name),
        (None, Some(pointer)) => p.value(op.body, pointer),
        (None, None) => {}
    }
    p.text("(");
    p.operands(op, arguments.clone());
    p.text(")");
    if let Some(ty) = call.var_callee_type() {
        p.text(" vararg(");
        p.ty(ty);
        p.text(")");
    }
    if op.operand_group(1).is_some_and(|bundles| !bundles.is_empty()) {
        p.text(" ");
        print_bundles(p, op, &[]);
    }
    let written = [
        "callee",
        "CConv",
        "var_callee_type",
        "TailCallKind",
        "op_bundle_sizes",
        "op_bundle_tags",
        "arg_attrs",
        "res_attrs",
    ];
    p.attr_dict_without(op, &written);
    p.text(" : ");
    if let Some(pointer) = pointer {
        p.ty(op.ty(pointer));
        p.text(", ");
    }
    let types: Vec<Type> = arguments.map(|i| op.ty(op.operand(i))).collect();
    print_arguments(p, op, &types, call.arg_attrs(), false);
    let results: Vec<Type> = op.result_types().collect();
    if results.is_empty() {
        return p.text(" -> ()");
    }
    print_results(p, op, &results, call.res_attrs());
}

/// `"name"(arguments) [bundles] {…} : (types) -> type`
pub(super) const CALL_INTRINSIC: DirectiveDef =
    DirectiveDef { parse: parse_call_intrinsic, print: print_call_intrinsic };

fn parse_call_intrinsic(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let name = p.string()?;
    parts.set_prop(p.cx(), "intrin", p.cx().string_attr(&name));
    p.punct("(")?;
    parts.operands[0] = parse_operands(p)?;
    parse_bundles(p, parts, args)?;
    parse_dict(p, parts, &[])?;
    p.punct(":")?;
    let (inputs, _, _) = parse_arguments(p, false)?;
    let results = parse_results(p)?;
    set_value_attrs(p.cx(), parts, &inputs, &results);
    parts.operand_types[0] = Some(inputs.types);
    parts.result_types = vec![Some(results.types)];
    Ok(())
}

fn print_call_intrinsic(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let call = CallIntrinsicOp::from_ref(op);
    p.string(call.intrin());
    p.text("(");
    let arguments = op.operand_group(0).unwrap_or_default();
    p.operands(op, arguments.clone());
    p.text(")");
    if op.operand_group(1).is_some_and(|bundles| !bundles.is_empty()) {
        p.text(" ");
        print_bundles(p, op, &[]);
    }
    p.attr_dict_without(op, &["intrin", "op_bundle_sizes", "op_bundle_tags", "arg_attrs", "res_attrs"]);
    p.text(" : ");
    let types: Vec<Type> = arguments.map(|i| op.ty(op.operand(i))).collect();
    print_arguments(p, op, &types, call.arg_attrs(), false);
    let results: Vec<Type> = op.result_types().collect();
    if results.is_empty() {
        return p.text(" -> ()");
    }
    print_results(p, op, &results, call.res_attrs());
}

/// Sets the group of bundle operands, which is the second one, their sizes and tags.
fn parse_bundles(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let (mut sizes, mut tags, mut values, mut types) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    if p.opt_punct("[") {
        while !p.opt_punct("]") {
            if !sizes.is_empty() {
                p.punct(",")?;
            }
            let tag = p.string()?;
            tags.push(p.cx().string_attr(&tag));
            let before = values.len();
            parse_bundle(p, &mut values, &mut types)?;
            sizes.push((values.len() - before) as i32);
        }
    }
    parts.set_prop(p.cx(), "op_bundle_sizes", p.cx().i32_array(&sizes));
    if !tags.is_empty() {
        parts.set_prop(p.cx(), "op_bundle_tags", p.cx().array_attr(&tags));
    }
    let group = parts.operands.len() - 1;
    parts.operands[group] = values;
    parts.operand_types[group] = Some(types);
    Ok(())
}

/// `(%a, … : type, …)`
fn parse_bundle(
    p: &mut dyn AsmParser,
    values: &mut Vec<UnresolvedOperand>,
    types: &mut Vec<Type>,
) -> Result<(), Reported> {
    p.punct("(")?;
    if p.opt_punct(")") {
        return Ok(());
    }
    loop {
        values.push(p.operand()?);
        if !p.opt_punct(",") {
            break;
        }
    }
    p.punct(":")?;
    loop {
        types.push(p.ty()?);
        if !p.opt_punct(",") {
            break;
        }
    }
    p.punct(")")
}

fn print_bundles(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let cx = op.cx;
    let groups = op.def().map_or(0, |def| def.operands.len());
    let mut next = op.operand_group(groups.saturating_sub(1)).unwrap_or_default();
    let sizes = op.prop("op_bundle_sizes").and_then(|a| cx.as_ints(a)).unwrap_or_default();
    let tags = op.prop("op_bundle_tags").and_then(|a| cx.array(a)).unwrap_or_default();
    if tags.is_empty() {
        return;
    }
    p.text("[");
    p.list(sizes.iter().zip(tags), |p, (size, tag)| {
        p.attr(*tag);
        p.text("(");
        let range = next.start..(next.start + usize::try_from(*size).unwrap_or_default()).min(next.end);
        next.start = range.end;
        if !range.is_empty() {
            p.operands(op, range.clone());
            p.text(" : ");
            p.types(range.map(|i| op.ty(op.operand(i))));
        }
        p.text(")");
    });
    p.text("]");
}
