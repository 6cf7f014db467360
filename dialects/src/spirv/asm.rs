//! Directives of the assembly formats.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, TokenParser};
use sutura_ir::asm::print::Printer;
use sutura_ir::ext::ParamValue;
use sutura_ir::op_def::OpView;
use sutura_ir::{Attr, Context, OpRef, Reported, Type, TypeData};

use super::attrs::{
    AddressingModel, ExecutionMode, ExecutionModel, FunctionControl, LoopControl, MemoryAccess, MemoryModel,
    MemorySemantics, Scope, SelectionControl, StorageClass, quoted,
};
use super::ops::{EntryPointOp, ExecutionModeOp, FuncOp, GlobalVariableOp, ModuleOp, VariableOp};
use super::types::{PointerType, StructType};
use super::verify::part_type;
use crate::asm::parse_dict;
use crate::signature::{parse_arguments, parse_results, print_arguments, print_results, set_value_attrs};

/// `[@name] addressing memory [requires vce]`
pub(super) const MODULE_HEAD: DirectiveDef = DirectiveDef { parse: parse_module, print: print_module };

/// `@name(%arg: type, …) [-> type] "control"`
pub(super) const FUNC_HEAD: DirectiveDef = DirectiveDef { parse: parse_func, print: print_func };

/// `@name [initializer(@other)] [bind(set, binding)] [built_in("name")] {…} : type`
pub(super) const VARIABLE: DirectiveDef = DirectiveDef { parse: parse_variable, print: print_variable };

/// `"model" @function[, @variable …]`
pub(super) const ENTRY_POINT: DirectiveDef = DirectiveDef { parse: parse_entry_point, print: print_entry_point };

/// `@function "mode"[, number …]`
pub(super) const EXECUTION_MODE: DirectiveDef = DirectiveDef { parse: parse_mode, print: print_mode };

/// `value [: type]`
pub(super) const CONSTANT: DirectiveDef = DirectiveDef { parse: parse_constant, print: print_constant };

/// `"class" %pointer ["Aligned", 4] {…} : type`
pub(super) const LOAD: DirectiveDef = DirectiveDef { parse: parse_load, print: print_load };

/// `"class" %pointer, %value ["Aligned", 4] {…} : type`
pub(super) const STORE: DirectiveDef = DirectiveDef { parse: parse_store, print: print_store };

/// `[init(%value)] : type`
pub(super) const LOCAL_VARIABLE: DirectiveDef = DirectiveDef { parse: parse_local, print: print_local };

/// `[1, 2]`, or nothing.
pub(super) const WEIGHTS: DirectiveDef = DirectiveDef { parse: parse_weights, print: print_weights };

/// `[control(flags)] [-> type, type]`
pub(super) const SELECTION_HEAD: DirectiveDef = DirectiveDef {
    parse: |p, parts, _| parse_head(p, parts, "selection_control", SelectionControl::NONE, SelectionControl::words),
    print: |p, op, _| print_head::<SelectionControl>(p, op, "selection_control", SelectionControl::NONE),
};

/// `[control(flags)] [-> type, type]`
pub(super) const LOOP_HEAD: DirectiveDef = DirectiveDef {
    parse: |p, parts, _| parse_head(p, parts, "loop_control", LoopControl::NONE, LoopControl::words),
    print: |p, op, _| print_head::<LoopControl>(p, op, "loop_control", LoopControl::NONE),
};

/// `%a, %b : struct`
pub(super) const EXTENDED: DirectiveDef = DirectiveDef { parse: parse_extended, print: print_extended };

/// The type of a composite, from which that of a part follows.
pub(super) const PART_TYPE: DirectiveDef =
    DirectiveDef { parse: parse_part_type, print: |p, op, _| p.types(op.operand_types().take(1)) };

/// The type of a pointer, from which that of what it points to follows.
pub(super) const POINTEE: DirectiveDef =
    DirectiveDef { parse: parse_pointee, print: |p, op, _| p.types(op.operand_types().take(1)) };

/// `%component, %vector[%index] : vector, index`
pub(super) const INSERT_DYNAMIC: DirectiveDef = DirectiveDef { parse: parse_insert, print: print_insert };

/// `<Workgroup>`
pub(super) const SCOPE: DirectiveDef =
    DirectiveDef { parse: |p, parts, args| parse_bare(p, parts, args, Scope::parse), print: print_bare::<Scope> };

/// `<AcquireRelease|WorkgroupMemory>`
pub(super) const SEMANTICS: DirectiveDef = DirectiveDef {
    parse: |p, parts, args| parse_bare(p, parts, args, MemorySemantics::parse),
    print: print_bare::<MemorySemantics>,
};

/// An attribute without its name.
fn parse_bare<T: ParamValue>(
    p: &mut dyn AsmParser,
    parts: &mut OpParts,
    args: &[DirectiveArg],
    parse: fn(&mut dyn TokenParser) -> Result<T, Reported>,
) -> Result<(), Reported> {
    let [DirectiveArg::Attr(index)] = args else { return Err(p.error("the directive is written for an attribute")) };
    let value = parse(p)?;
    let value = p.cx().ext_attr(value);
    parts.set_prop_at(p.cx(), *index, value);
    Ok(())
}

fn print_bare<T: ParamValue>(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let Some(DirectiveArg::Attr(index)) = args.first() else { return };
    if let Some(value) = op.prop_at(*index).and_then(|a| op.cx.attr_as::<T>(a)) {
        let mut text = String::new();
        value.print(op.cx, &mut text).expect("a string takes everything");
        p.text(&text);
    }
}

/// A bare word that `from` knows.
fn word<T>(p: &mut dyn AsmParser, from: fn(&str) -> Option<T>, what: &str) -> Result<T, Reported> {
    let loc = p.loc();
    let word = p.any_keyword()?;
    from(&word).ok_or_else(|| p.error_at(loc, &format!("'{word}' is no {what}")))
}

fn set<T: ParamValue>(p: &dyn AsmParser, parts: &mut OpParts, name: &str, value: T) {
    let value = p.cx().ext_attr(value);
    parts.set_prop(p.cx(), name, value);
}

fn parse_module(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    if let Some(name) = p.opt_symbol()? {
        let name = p.cx().string_attr(p.cx().str(name));
        parts.set_prop(p.cx(), "sym_name", name);
    }
    let addressing = word(p, AddressingModel::from_keyword, "addressing model")?;
    set(p, parts, "addressing_model", addressing);
    let memory = word(p, MemoryModel::from_keyword, "memory model")?;
    set(p, parts, "memory_model", memory);
    if p.opt_keyword("requires") {
        let vce = p.attr(None)?;
        parts.set_prop(p.cx(), "vce_triple", vce);
    }
    Ok(())
}

fn print_module(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let module = ModuleOp::from_ref(op);
    if let Some(name) = module.sym_name() {
        p.symbol_name(name);
        p.text(" ");
    }
    p.text(&format!("{} {}", module.addressing_model().keyword(), module.memory_model().keyword()));
    if let Some(vce) = op.prop("vce_triple") {
        p.text(" requires ");
        p.attr(vce);
    }
}

fn parse_func(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let name = p.symbol()?;
    let name = p.cx().string_attr(p.cx().str(name));
    parts.set_prop(p.cx(), "sym_name", name);
    let (inputs, names, _) = parse_arguments(p, false)?;
    let results = parse_results(p)?;
    let ty = p.cx().function_type(&inputs.types, &results.types);
    parts.set_prop(p.cx(), "function_type", p.cx().type_attr(ty));
    set_value_attrs(p.cx(), parts, &inputs, &results);
    let control = quoted(p, FunctionControl::from_text, &FunctionControl::known())?;
    set(p, parts, "function_control", control);
    let region = args.iter().find_map(|a| if let DirectiveArg::Region(i) = a { Some(*i) } else { None });
    if let (Some(region), Some(names)) = (region, names) {
        parts.region_args[region] = Some(names);
    }
    Ok(())
}

fn print_func(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let func = FuncOp::from_ref(op);
    p.symbol_name(func.sym_name());
    let Some((inputs, results)) = op.cx.signature(func.function_type()) else { return };
    print_arguments(p, op, inputs, func.arg_attrs(), false);
    print_results(p, op, results, func.res_attrs());
    p.text(" ");
    p.string(&func.function_control().to_string());
}

fn parse_variable(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let name = p.symbol()?;
    let name = p.cx().string_attr(p.cx().str(name));
    parts.set_prop(p.cx(), "sym_name", name);
    if p.opt_keyword("initializer") {
        p.punct("(")?;
        let other = p.attr(None)?;
        parts.set_prop(p.cx(), "initializer", other);
        p.punct(")")?;
    }
    if p.opt_keyword("bind") {
        p.punct("(")?;
        let set = p.int()?;
        p.punct(",")?;
        let binding = p.int()?;
        p.punct(")")?;
        parts.set_prop(p.cx(), "descriptor_set", p.cx().int_attr(set, Type::I32));
        parts.set_prop(p.cx(), "binding", p.cx().int_attr(binding, Type::I32));
    }
    if p.opt_keyword("built_in") {
        p.punct("(")?;
        let name = p.string()?;
        parts.set_prop(p.cx(), "built_in", p.cx().string_attr(&name));
        p.punct(")")?;
    }
    parse_dict(p, parts, &[])?;
    p.punct(":")?;
    let ty = p.ty()?;
    parts.set_prop(p.cx(), "type", p.cx().type_attr(ty));
    Ok(())
}

fn print_variable(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let variable = GlobalVariableOp::from_ref(op);
    p.symbol_name(variable.sym_name());
    if let Some(other) = op.prop("initializer") {
        p.text(" initializer(");
        p.attr(other);
        p.text(")");
    }
    let mut written = vec!["sym_name", "type", "initializer", "built_in"];
    if let (Some(set), Some(binding)) = (variable.descriptor_set(), variable.binding()) {
        p.text(&format!(" bind({set}, {binding})"));
        written.extend(["descriptor_set", "binding"]);
    }
    if let Some(name) = variable.built_in() {
        p.text(" built_in(");
        p.string(name);
        p.text(")");
    }
    p.full_attr_dict(op, &written);
    p.text(" : ");
    p.ty(variable.ty());
}

fn parse_entry_point(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let model = quoted(p, ExecutionModel::from_keyword, "expected an execution model, such as \"GLCompute\"")?;
    set(p, parts, "execution_model", model);
    let function = p.symbol()?;
    let mut variables = Vec::new();
    while p.opt_punct(",") {
        let variable = p.symbol()?;
        variables.push(p.cx().symbol_ref(p.cx().str(variable)));
    }
    parts.set_prop(p.cx(), "fn", p.cx().symbol_ref(p.cx().str(function)));
    parts.set_prop(p.cx(), "interface", p.cx().array_attr(&variables));
    Ok(())
}

fn print_entry_point(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let entry = EntryPointOp::from_ref(op);
    p.string(entry.execution_model().keyword());
    p.text(" ");
    p.symbol_name(entry.function());
    for variable in entry.interface() {
        p.text(", ");
        p.attr(*variable);
    }
}

fn parse_mode(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let function = p.symbol()?;
    parts.set_prop(p.cx(), "fn", p.cx().symbol_ref(p.cx().str(function)));
    let mode = quoted(p, ExecutionMode::from_keyword, "expected an execution mode, such as \"LocalSize\"")?;
    set(p, parts, "execution_mode", mode);
    let mut values = Vec::new();
    while p.opt_punct(",") {
        values.push(p.int()?);
    }
    let values = i32_list(p.cx(), &values);
    parts.set_prop(p.cx(), "values", values);
    Ok(())
}

/// `[1 : i32, 2 : i32]`
pub(super) fn i32_list(cx: &Context, values: &[i64]) -> Attr {
    let values: Vec<Attr> = values.iter().map(|value| cx.int_attr(*value, Type::I32)).collect();
    cx.array_attr(&values)
}

fn print_mode(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let mode = ExecutionModeOp::from_ref(op);
    p.symbol_name(mode.function());
    p.text(" ");
    p.string(mode.execution_mode().keyword());
    for value in mode.values() {
        p.text(", ");
        p.int(op.cx.as_int(*value).unwrap_or_default());
    }
}

fn parse_constant(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let value = p.attr(None)?;
    parts.set_prop(p.cx(), "value", value);
    let ty = p.cx().attr_type(value);
    let tensor = |ty: Type| matches!(p.cx().type_data(ty), TypeData::RankedTensor { .. });
    let ty = match ty.filter(|ty| !tensor(*ty)) {
        Some(ty) => ty,
        None => {
            p.punct(":")?;
            p.ty()?
        }
    };
    parts.result_types[0] = Some(vec![ty]);
    Ok(())
}

fn print_constant(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let Some(value) = op.prop("value") else { return };
    p.attr(value);
    let ty = op.result_of(0).map(|result| op.ty(result));
    if ty != op.cx.attr_type(value)
        && let Some(ty) = ty
    {
        p.text(" : ");
        p.ty(ty);
    }
}

/// The storage class in quotes, and how a pointer of it to `pointee` is typed.
fn class(p: &mut dyn AsmParser) -> Result<StorageClass, Reported> {
    quoted(p, StorageClass::from_keyword, "expected a storage class, such as \"Workgroup\"")
}

fn parse_access(p: &mut dyn AsmParser, parts: &mut OpParts) -> Result<(), Reported> {
    if p.opt_punct("[") {
        let access = quoted(p, MemoryAccess::from_text, &MemoryAccess::known())?;
        set(p, parts, "memory_access", access);
        if p.opt_punct(",") {
            let alignment = p.int()?;
            parts.set_prop(p.cx(), "alignment", p.cx().int_attr(alignment, Type::I32));
        }
        p.punct("]")?;
    }
    parse_dict(p, parts, &[])?;
    p.punct(":")
}

fn print_class(p: &mut Printer<'_>, op: OpRef<'_>) {
    let class = op.operand_types().next().and_then(|ty| op.cx.type_as::<PointerType>(ty)).map(|ty| ty.class);
    p.string(class.map_or("", StorageClass::keyword));
    p.text(" ");
    p.value(op.body, op.operand(0));
}

fn print_access(p: &mut Printer<'_>, op: OpRef<'_>) {
    let access = op.prop("memory_access").and_then(|a| op.cx.attr_as::<MemoryAccess>(a));
    if let Some(access) = access {
        p.text(" [");
        p.string(&access.to_string());
        if let Some(alignment) = op.prop("alignment").and_then(|a| op.cx.as_int(a)) {
            p.text(&format!(", {alignment}"));
        }
        p.text("]");
    }
    p.full_attr_dict(op, if access.is_some() { &["memory_access", "alignment"] } else { &[] });
    p.text(" : ");
}

fn parse_load(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let class = class(p)?;
    let pointer = p.operand()?;
    parts.operands[0].push(pointer);
    parse_access(p, parts)?;
    let ty = p.ty()?;
    parts.operand_types[0] = Some(vec![super::types::pointer(p.cx(), ty, class)]);
    parts.result_types[0] = Some(vec![ty]);
    Ok(())
}

fn print_load(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    print_class(p, op);
    print_access(p, op);
    p.types(op.result_types());
}

fn parse_store(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let class = class(p)?;
    let pointer = p.operand()?;
    parts.operands[0].push(pointer);
    p.punct(",")?;
    let value = p.operand()?;
    parts.operands[1].push(value);
    parse_access(p, parts)?;
    let ty = p.ty()?;
    parts.operand_types[0] = Some(vec![super::types::pointer(p.cx(), ty, class)]);
    parts.operand_types[1] = Some(vec![ty]);
    Ok(())
}

fn print_store(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    print_class(p, op);
    p.text(", ");
    p.value(op.body, op.operand(1));
    print_access(p, op);
    p.types(op.operand_types().skip(1));
}

fn parse_local(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    if p.opt_keyword("init") {
        p.punct("(")?;
        let value = p.operand()?;
        parts.operands[0].push(value);
        p.punct(")")?;
    }
    p.punct(":")?;
    let loc = p.loc();
    let ty = p.ty()?;
    let Some(pointer) = p.cx().type_as::<PointerType>(ty).cloned() else {
        return Err(p.error_at(loc, "expected a SPIR-V pointer type"));
    };
    set(p, parts, "storage_class", pointer.class);
    parts.operand_types[0] = Some(vec![pointer.pointee; parts.operands[0].len()]);
    parts.result_types[0] = Some(vec![ty]);
    Ok(())
}

fn print_local(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(value) = VariableOp::from_ref(op).initializer() {
        p.text("init(");
        p.value(op.body, value);
        p.text(") ");
    }
    p.text(": ");
    p.types(op.result_types());
}

fn parse_weights(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    if p.opt_punct("[") {
        let taken = p.int()?;
        p.punct(",")?;
        let not_taken = p.int()?;
        p.punct("]")?;
        let weights = i32_list(p.cx(), &[taken, not_taken]);
        parts.set_prop(p.cx(), "branch_weights", weights);
    }
    Ok(())
}

fn print_weights(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let weights = op.prop("branch_weights").and_then(|a| op.cx.array(a)).unwrap_or_default();
    if !weights.is_empty() {
        let weights: Vec<String> = weights.iter().map(|w| op.cx.as_int(*w).unwrap_or_default().to_string()).collect();
        p.text(&format!("[{}]", weights.join(", ")));
    }
}

fn parse_head<T: ParamValue>(
    p: &mut dyn AsmParser,
    parts: &mut OpParts,
    name: &str,
    none: T,
    words: fn(&mut dyn TokenParser) -> Result<T, Reported>,
) -> Result<(), Reported> {
    let mut control = none;
    if p.opt_keyword("control") {
        p.punct("(")?;
        control = words(p)?;
        p.punct(")")?;
    }
    set(p, parts, name, control);
    let mut types = Vec::new();
    if p.opt_punct("->") {
        types.push(p.ty()?);
        while p.opt_punct(",") {
            types.push(p.ty()?);
        }
    }
    parts.result_types[0] = Some(types);
    Ok(())
}

fn print_head<T: ParamValue + std::fmt::Display>(p: &mut Printer<'_>, op: OpRef<'_>, name: &str, none: T) {
    let control = op.prop(name).and_then(|a| op.cx.attr_as::<T>(a)).filter(|control| **control != none);
    if let Some(control) = control {
        p.text(&format!("control({control})"));
    }
    if op.num_results() > 0 {
        p.text(if control.is_some() { " -> " } else { "-> " });
        p.types(op.result_types());
    }
}

fn parse_extended(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    for group in 0..2 {
        if group > 0 {
            p.punct(",")?;
        }
        let operand = p.operand()?;
        parts.operands[group].push(operand);
    }
    p.punct(":")?;
    let loc = p.loc();
    let ty = p.ty()?;
    let Some(first) = p.cx().type_as::<StructType>(ty).and_then(|ty| ty.members.first()).map(|m| m.ty) else {
        return Err(p.error_at(loc, "expected a SPIR-V struct of two members"));
    };
    parts.operand_types = vec![Some(vec![first]), Some(vec![first])];
    parts.result_types[0] = Some(vec![ty]);
    Ok(())
}

fn print_extended(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    p.operands(op, 0..2);
    p.text(" : ");
    p.types(op.result_types());
}

fn parse_part_type(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let loc = p.loc();
    let ty = p.ty()?;
    let path = parts.entry(p.cx(), "indices").and_then(|a| p.cx().as_ints(a)).unwrap_or_default();
    let part = part_type(p.cx(), ty, &path).map_err(|message| p.error_at(loc, &message))?;
    parts.operand_types[0] = Some(vec![ty]);
    parts.result_types[0] = Some(vec![part]);
    Ok(())
}

fn parse_pointee(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let loc = p.loc();
    let ty = p.ty()?;
    let pointee = p.cx().type_as::<PointerType>(ty).map(|pointer| pointer.pointee);
    let pointee = pointee.ok_or_else(|| p.error_at(loc, "expected a pointer type of SPIR-V"))?;
    parts.operand_types[0] = Some(vec![ty]);
    parts.operand_types[1] = Some(vec![pointee]);
    parts.result_types[0] = Some(vec![pointee]);
    Ok(())
}

fn parse_insert(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let component = p.operand()?;
    parts.operands[1].push(component);
    p.punct(",")?;
    let vector = p.operand()?;
    parts.operands[0].push(vector);
    p.punct("[")?;
    let index = p.operand()?;
    parts.operands[2].push(index);
    p.punct("]")?;
    p.punct(":")?;
    let vector = p.ty()?;
    p.punct(",")?;
    let index = p.ty()?;
    parts.operand_types = vec![Some(vec![vector]), Some(vec![p.cx().element_type(vector)]), Some(vec![index])];
    parts.result_types[0] = Some(vec![vector]);
    Ok(())
}

fn print_insert(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    p.value(op.body, op.operand(1));
    p.text(", ");
    p.value(op.body, op.operand(0));
    p.text("[");
    p.value(op.body, op.operand(2));
    p.text("] : ");
    p.ty(op.ty(op.operand(0)));
    p.text(", ");
    p.ty(op.ty(op.operand(2)));
}
