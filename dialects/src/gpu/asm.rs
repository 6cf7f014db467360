//! Directives of gpu's assembly formats.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, RegionArg};
use sutura_ir::asm::print::Printer;
use sutura_ir::op_def::OpView;
use sutura_ir::{Attr, NamedAttr, OpRef, Reported, Type};

use super::attrs::{Dimension, ShuffleMode};
use super::ops::GPUFuncOp;
use super::{KERNEL, WORKGROUP_ATTRIBUTIONS};
use crate::signature::{parse_arguments, parse_results, print_arguments, print_results, set_value_attrs};

/// `@name(arguments) [workgroup(buffers)] [private(buffers)] [kernel] [attributes {…}]`
pub(super) const GPU_FUNC: DirectiveDef = DirectiveDef { parse: parse_func, print: print_func };

/// `[target, …]`, where there are any.
pub(super) const TARGETS: DirectiveDef = DirectiveDef {
    parse: |p, parts, _| {
        if !p.opt_punct("[") {
            return Ok(());
        }
        let mut targets = vec![p.attr(None)?];
        while p.opt_punct(",") {
            targets.push(p.attr(None)?);
        }
        p.punct("]")?;
        parts.set_prop(p.cx(), "targets", p.cx().array_attr(&targets));
        Ok(())
    },
    print: |p, op, _| {
        if let Some(targets) = op.prop("targets") {
            p.attr(targets);
        }
    },
};

// Upstream writes these words after two blanks, and so do we.

/// `x`, `y` or `z`, and `upper_bound n`.
pub(super) const AXIS: DirectiveDef = DirectiveDef { parse: parse_axis, print: print_axis };

/// `xor`, `up`, `down` or `idx`.
pub(super) const MODE: DirectiveDef = DirectiveDef {
    parse: |p, parts, _| {
        let loc = p.loc();
        let word = p.enum_word()?;
        let Some(mode) = ShuffleMode::from_keyword(&word) else {
            return Err(p.error_at(loc, "expected 'xor', 'up', 'down' or 'idx'"));
        };
        parts.set_prop(p.cx(), "mode", p.cx().ext_attr(mode));
        Ok(())
    },
    print: |p, op, _| {
        if let Some(mode) = op.prop("mode").and_then(|a| op.cx.attr_as::<ShuffleMode>(a)) {
            p.text("  ");
            p.text(mode.keyword());
        }
    },
};

fn parse_axis(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let loc = p.loc();
    let word = p.enum_word()?;
    let Some(dimension) = Dimension::from_keyword(&word) else {
        return Err(p.error_at(loc, "expected 'x', 'y' or 'z'"));
    };
    parts.set_prop(p.cx(), "dimension", p.cx().ext_attr(dimension));
    if p.opt_keyword("upper_bound") {
        let bound = p.int()?;
        parts.set_prop(p.cx(), "upper_bound", p.cx().int_attr(bound, Type::INDEX));
    }
    Ok(())
}

fn print_axis(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(dimension) = op.prop("dimension").and_then(|a| op.cx.attr_as::<Dimension>(a)) {
        p.text("  ");
        p.text(dimension.keyword());
    }
    if let Some(bound) = op.prop("upper_bound").and_then(|a| op.cx.as_int(a)) {
        p.text(&format!(" upper_bound {bound}"));
    }
}

/// `(%buffer : type, …)`
fn parse_buffers(p: &mut dyn AsmParser, args: &mut Vec<RegionArg>) -> Result<i64, Reported> {
    let before = args.len();
    p.punct("(")?;
    while !p.opt_punct(")") {
        if args.len() > before {
            p.punct(",")?;
        }
        let loc = p.loc();
        let Some(operand) = p.opt_operand() else { return Err(p.error_at(loc, "expected SSA identifier")) };
        p.punct(":")?;
        args.push(RegionArg { name: Some(operand.name), ty: p.ty()?, loc });
    }
    Ok((args.len() - before) as i64)
}

fn set_attr(p: &dyn AsmParser, parts: &mut OpParts, name: &str, value: Attr) {
    parts.attrs.push(NamedAttr { name: p.cx().ident(name), value });
}

fn parse_func(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let name = p.symbol()?;
    let name = p.cx().string_attr(p.cx().str(name));
    set_attr(p, parts, "sym_name", name);
    let loc = p.loc();
    let (inputs, names, _) = parse_arguments(p, false)?;
    let results = parse_results(p)?;
    let Some(mut names) = names else { return Err(p.error_at(loc, "gpu.func requires named arguments")) };
    let ty = p.cx().function_type(&inputs.types, &results.types);
    parts.set_prop(p.cx(), "function_type", p.cx().type_attr(ty));
    set_value_attrs(p.cx(), parts, &inputs, &results);
    let shared = if p.opt_keyword("workgroup") { parse_buffers(p, &mut names)? } else { 0 };
    let shared = p.cx().int_attr(shared, Type::I64);
    set_attr(p, parts, WORKGROUP_ATTRIBUTIONS, shared);
    if p.opt_keyword("private") {
        parse_buffers(p, &mut names)?;
    }
    if p.opt_keyword("kernel") {
        set_attr(p, parts, KERNEL, Attr::UNIT);
    }
    if p.opt_keyword("attributes") {
        let loc = p.loc();
        let Some(entries) = p.opt_attr_dict()? else { return Err(p.error_at(loc, "expected '{'")) };
        parts.add_entries(p.cx(), entries);
    }
    let region = args.iter().find_map(|a| if let DirectiveArg::Region(i) = a { Some(*i) } else { None });
    if let Some(region) = region {
        parts.region_args[region] = Some(names);
    }
    Ok(())
}

fn print_func(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let func = GPUFuncOp::from_ref(op);
    p.symbol_name(op.symbol_name().unwrap_or_default());
    print_arguments(p, op, func.inputs(), func.arg_attrs(), false);
    print_results(p, op, func.results(), func.res_attrs());
    let args = op.region(0).and_then(|r| r.entry()).map(|b| b.args()).unwrap_or_default();
    let buffers = args.get(func.inputs().len()..).unwrap_or_default();
    let (shared, own) = buffers.split_at(func.workgroup_buffers().min(buffers.len()));
    for (keyword, list) in [(" workgroup(", shared), (" private(", own)] {
        if !list.is_empty() {
            p.text(keyword);
            p.list(list.iter(), |p, arg| {
                p.value(op.inside(), *arg);
                p.text(" : ");
                p.ty(op.inside().ty(*arg));
            });
            p.text(")");
        }
    }
    if func.is_kernel() {
        p.text(" kernel");
    }
    let written = ["sym_name", "function_type", "arg_attrs", "res_attrs", KERNEL, WORKGROUP_ATTRIBUTIONS];
    let entries = op.cx.entries(op.body.props(op.op)).iter().chain(op.cx.entries(op.body.attrs(op.op))).copied();
    let mut entries: Vec<_> = entries.filter(|e| !written.contains(&op.cx.str(e.name))).collect();
    entries.sort_by(|a, b| op.cx.str(a.name).cmp(op.cx.str(b.name)));
    p.attr_dict_with_keyword(entries);
}
