//! Custom directives: the header of a program, lists of sizes, guards.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, RegionArg};
use sutura_ir::asm::print::Printer;
use sutura_ir::diagnostics::Reported;
use sutura_ir::{Attr, OpRef, OpView, Value};

use super::kernel::{read_symbol, write_symbol};
use super::ops::ProgramOp;
use crate::r#dyn::attr::{known_dims, parse_known_dims, shape_attr};
use crate::r#dyn::facts::SymbolInfo;
use crate::r#dyn::poly::Poly;

/// `(%x : type in "x", …, %y : type out "y") symbols(B : [0, 64] div 8 likely [8], …)`
pub(super) const PROGRAM_HEADER: DirectiveDef = DirectiveDef { parse: parse_header, print: print_header };

/// `dims [B, 256]`, and `work [512*B]` where that is said
pub(super) const SIZES: DirectiveDef = DirectiveDef { parse: parse_sizes, print: print_sizes };

/// `if [8192 - N], [4096 - N]`, or nothing
pub(super) const GUARDS: DirectiveDef = DirectiveDef { parse: parse_guards, print: print_guards };

fn parse_header(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let (mut inputs, mut outputs, mut region_args) = (Vec::new(), Vec::new(), Vec::new());
    p.punct("(")?;
    while !p.opt_punct(")") {
        if !region_args.is_empty() {
            p.punct(",")?;
        }
        let operand = p.operand()?;
        p.punct(":")?;
        let ty = p.ty()?;
        let loc = p.loc();
        let names = if p.opt_keyword("in") {
            if !outputs.is_empty() {
                return Err(p.error_at(loc, "inputs stand before outputs"));
            }
            &mut inputs
        } else if p.opt_keyword("out") {
            &mut outputs
        } else {
            return Err(p.error("expected 'in' or 'out' and the name of the tensor"));
        };
        let name = p.string()?;
        names.push(p.cx().string_attr(&name));
        region_args.push(RegionArg { name: Some(operand.name), ty, loc: operand.loc });
    }
    let symbols = if p.opt_keyword("symbols") { parse_symbols(p)? } else { Vec::new() };
    for (name, list) in [("symbols", symbols), ("input_names", inputs), ("output_names", outputs)] {
        let value = p.cx().array_attr(&list);
        parts.set_prop(p.cx(), name, value);
    }
    if let Some(region) = args.iter().find_map(|a| if let DirectiveArg::Region(i) = a { Some(*i) } else { None }) {
        parts.region_args[region] = Some(region_args);
    }
    Ok(())
}

fn parse_symbols(p: &mut dyn AsmParser) -> Result<Vec<Attr>, Reported> {
    let mut symbols = Vec::new();
    p.punct("(")?;
    while !p.opt_punct(")") {
        if !symbols.is_empty() {
            p.punct(",")?;
        }
        let name = p.any_keyword()?;
        p.punct(":")?;
        p.punct("[")?;
        let min = p.int()?;
        p.punct(",")?;
        let max = p.int()?;
        p.punct("]")?;
        let div = if p.opt_keyword("div") { p.int()? } else { 1 };
        let likely = if p.opt_keyword("likely") { parse_ints(p)? } else { Vec::new() };
        symbols.push(write_symbol(p.cx(), &name, &SymbolInfo { min, max, div, likely }));
    }
    Ok(symbols)
}

fn parse_ints(p: &mut dyn AsmParser) -> Result<Vec<i64>, Reported> {
    let mut values = Vec::new();
    p.punct("[")?;
    while !p.opt_punct("]") {
        if !values.is_empty() {
            p.punct(",")?;
        }
        values.push(p.int()?);
    }
    Ok(values)
}

fn print_header(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let (cx, program, body) = (op.cx, ProgramOp::from_ref(op), op.inside());
    let args: &[Value] = body.entry_block().map_or(&[], |b| body.block_args(b));
    let names = |attr| cx.array(attr).unwrap_or_default().iter().map(|a| cx.as_str(*a).unwrap_or_default());
    let inputs = names(program.input_names_attr()).map(|name| (" in ", name));
    let outputs = names(program.output_names_attr()).map(|name| (" out ", name));
    p.text("(");
    p.list(args.iter().zip(inputs.chain(outputs)), |p, (arg, (role, name))| {
        p.value(body, *arg);
        p.text(" : ");
        p.ty(body.ty(*arg));
        p.text(role);
        p.string(name);
    });
    p.text(")");
    let symbols: Vec<_> = program.symbols().iter().filter_map(|a| read_symbol(cx, *a)).collect();
    if symbols.is_empty() {
        return;
    }
    p.text(" symbols(");
    p.list(symbols, |p, (name, info)| {
        p.text(&format!("{name} : [{}, {}]", info.min, info.max));
        if info.div != 1 {
            p.text(&format!(" div {}", info.div));
        }
        if !info.likely.is_empty() {
            let values: Vec<String> = info.likely.iter().map(i64::to_string).collect();
            p.text(&format!(" likely [{}]", values.join(", ")));
        }
    });
    p.text(")");
}

fn write_sizes(p: &mut Printer<'_>, sizes: &[Poly]) {
    p.text("[");
    p.list(sizes, |p, size| p.text(&size.to_string()));
    p.text("]");
}

fn parse_sizes(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    p.keyword("dims")?;
    let dims = parse_known_dims(p)?;
    let value = shape_attr(p.cx(), &dims);
    parts.set_prop(p.cx(), "dims", value);
    if p.opt_keyword("work") {
        let work = parse_known_dims(p)?;
        let value = shape_attr(p.cx(), &work);
        parts.set_prop(p.cx(), "work", value);
    }
    Ok(())
}

fn print_sizes(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let sizes = |name: &str| op.prop(name).and_then(|a| known_dims(op.cx, a));
    p.text("dims ");
    write_sizes(p, &sizes("dims").unwrap_or_default());
    if let Some(work) = sizes("work") {
        p.text(" work ");
        write_sizes(p, &work);
    }
}

fn parse_guards(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let mut guards = Vec::new();
    if p.opt_keyword("if") {
        loop {
            let sizes = parse_known_dims(p)?;
            guards.push(shape_attr(p.cx(), &sizes));
            if !p.opt_punct(",") {
                break;
            }
        }
    }
    let value = p.cx().array_attr(&guards);
    parts.set_prop(p.cx(), "guards", value);
    Ok(())
}

fn print_guards(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let guards = op.prop("guards").and_then(|a| op.cx.array(a)).unwrap_or_default();
    if guards.is_empty() {
        return;
    }
    p.text("if ");
    p.list(guards, |p, guard| write_sizes(p, &known_dims(p.cx(), *guard).unwrap_or_default()));
}
