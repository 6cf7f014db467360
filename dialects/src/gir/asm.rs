//! Custom directives: the header of a kernel and of a loop.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, RegionArg};
use sutura_ir::asm::print::Printer;
use sutura_ir::diagnostics::Reported;
use sutura_ir::{Attr, Context, Ident, NamedAttr, OpRef, OpView, Type};

use super::ops::{ForOp, KernelOp, SliceOp};
use crate::r#dyn::attr::{parse_known_dims, parse_poly, shape_attr};
use crate::r#dyn::poly::Poly;

/// `(%x : type in, …) dims(%M : [0, 9] div 4, %n = N : [1, 8], …) requires([…]) grid(%i = M, …) units(%u, 4) threads(32)`
pub(super) const KERNEL_HEADER: DirectiveDef = DirectiveDef { parse: parse_kernel, print: print_kernel };

/// `%k = %lo to %hi carry(%t = %init, …) : types`
pub(super) const FOR: DirectiveDef = DirectiveDef { parse: parse_for, print: print_for };

/// `clips(0, 2)`, or nothing.
pub(super) const CLIPS: DirectiveDef = DirectiveDef { parse: parse_clips, print: print_clips };

fn parse_clips(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    if p.opt_keyword("clips") {
        let mut dims = Vec::new();
        parenthesised(p, &mut |p| {
            dims.push(p.int()?);
            Ok(())
        })?;
        let dims = p.cx().i64_array(&dims);
        parts.set_prop(p.cx(), "clips", dims);
    }
    Ok(())
}

fn print_clips(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(dims) = SliceOp::from_ref(op).clips() {
        let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
        p.text(&format!("clips({})", dims.join(", ")));
    }
}

/// Items between parentheses, separated by commas.
pub(super) fn parenthesised(
    p: &mut dyn AsmParser,
    item: &mut dyn FnMut(&mut dyn AsmParser) -> Result<(), Reported>,
) -> Result<(), Reported> {
    p.punct("(")?;
    let mut first = true;
    while !p.opt_punct(")") {
        if !std::mem::take(&mut first) {
            p.punct(",")?;
        }
        item(p)?;
    }
    Ok(())
}

/// `%name`, the definition of an argument of type `ty`.
fn argument(p: &mut dyn AsmParser, ty: Type) -> Result<RegionArg, Reported> {
    let operand = p.operand()?;
    Ok(RegionArg { name: Some(operand.name), ty, loc: operand.loc })
}

fn named(cx: &Context, name: &str, value: Attr) -> NamedAttr {
    NamedAttr { name: cx.ident(name), value }
}

/// `= name` where the dim's name is not that of the value, `: [min, max]` and optional `div n`, as the dictionary that the
/// `dims` attribute holds.
fn parse_dim(p: &mut dyn AsmParser, value: Ident) -> Result<Attr, Reported> {
    let name = match p.opt_punct("=") {
        true => match p.opt_string()? {
            Some(name) => name,
            None => p.any_keyword()?,
        },
        false => p.cx().str(value).to_string(),
    };
    p.punct(":")?;
    p.punct("[")?;
    let min = p.int()?;
    p.punct(",")?;
    let max = p.int()?;
    p.punct("]")?;
    let div = if p.opt_keyword("div") { p.int()? } else { 1 };
    let cx = p.cx();
    let int = |v| cx.int_attr(v, Type::I64);
    Ok(cx.dict(&[
        named(cx, "div", int(div)),
        named(cx, "max", int(max)),
        named(cx, "min", int(min)),
        named(cx, "name", cx.string_attr(&name)),
    ]))
}

fn parse_kernel(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let mut region_args = Vec::new();
    let (mut modes, mut dims, mut grid) = (Vec::new(), Vec::new(), Vec::new());
    parenthesised(p, &mut |p| {
        let operand = p.operand()?;
        p.punct(":")?;
        let ty = p.ty()?;
        let loc = p.loc();
        let mode = p.any_keyword()?;
        if !matches!(mode.as_str(), "in" | "out" | "inout") {
            return Err(p.error_at(loc, "expected 'in', 'out' or 'inout'"));
        }
        modes.push(p.cx().string_attr(&mode));
        region_args.push(RegionArg { name: Some(operand.name), ty, loc: operand.loc });
        Ok(())
    })?;
    p.keyword("dims")?;
    parenthesised(p, &mut |p| {
        let arg = argument(p, Type::INDEX)?;
        dims.push(parse_dim(p, arg.name.expect("just read"))?);
        region_args.push(arg);
        Ok(())
    })?;
    let requires = if p.opt_keyword("requires") {
        p.punct("(")?;
        let list = parse_known_dims(p)?;
        p.punct(")")?;
        list
    } else {
        Vec::new()
    };
    p.keyword("grid")?;
    parenthesised(p, &mut |p| {
        region_args.push(argument(p, Type::INDEX)?);
        p.punct("=")?;
        grid.push(parse_poly(p)?);
        Ok(())
    })?;
    let units = parse_units(p, &mut region_args)?;
    let threads = if p.opt_keyword("threads") { Some(in_parentheses(p)?) } else { None };
    let cx = p.cx();
    parts.set_prop(cx, "modes", cx.array_attr(&modes));
    parts.set_prop(cx, "dims", cx.array_attr(&dims));
    parts.set_prop(cx, "requires", shape_attr(cx, &requires));
    parts.set_prop(cx, "grid", shape_attr(cx, &grid));
    parts.set_prop(cx, "units", cx.int_attr(units, Type::I64));
    if let Some(threads) = threads {
        parts.set_prop(cx, "threads", cx.int_attr(threads, Type::I64));
    }
    set_region_args(parts, args, region_args);
    Ok(())
}

/// `units(1)` or `units(%u, 4)`.
fn parse_units(p: &mut dyn AsmParser, region_args: &mut Vec<RegionArg>) -> Result<i64, Reported> {
    p.keyword("units")?;
    p.punct("(")?;
    if let Some(unit) = p.opt_operand() {
        region_args.push(RegionArg { name: Some(unit.name), ty: Type::INDEX, loc: unit.loc });
        p.punct(",")?;
    }
    let units = p.int()?;
    p.punct(")")?;
    Ok(units)
}

/// `(128)`.
fn in_parentheses(p: &mut dyn AsmParser) -> Result<i64, Reported> {
    p.punct("(")?;
    let number = p.int()?;
    p.punct(")")?;
    Ok(number)
}

fn set_region_args(parts: &mut OpParts, args: &[DirectiveArg], region_args: Vec<RegionArg>) {
    for arg in args {
        if let DirectiveArg::Region(index) = *arg {
            parts.region_args[index] = Some(region_args);
            return;
        }
    }
}

fn print_poly_list(p: &mut Printer<'_>, list: &[Poly]) {
    p.text("[");
    for (i, poly) in list.iter().enumerate() {
        p.text(if i > 0 { ", " } else { "" });
        p.text(&poly.to_string());
    }
    p.text("]");
}

/// What one entry of a kernel's `dims` says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DimDecl {
    /// Name in view types and conditions.
    pub name: String,
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// Every value is a multiple of this.
    pub div: i64,
}

impl DimDecl {
    /// Reads an entry of `dims`; `None` when it is malformed.
    pub fn read(cx: &Context, attr: Attr) -> Option<Self> {
        let entry = |name: &str| cx.entry(attr, cx.ident(name));
        let int = |name: &str| entry(name).and_then(|a| cx.as_int(a));
        Some(Self {
            name: cx.as_str(entry("name")?)?.to_string(),
            min: int("min")?,
            max: int("max")?,
            div: int("div")?,
        })
    }

    /// The entry of `dims`.
    pub fn write(&self, cx: &Context) -> Attr {
        let int = |v| cx.int_attr(v, Type::I64);
        cx.dict(&[
            named(cx, "div", int(self.div)),
            named(cx, "max", int(self.max)),
            named(cx, "min", int(self.min)),
            named(cx, "name", cx.string_attr(&self.name)),
        ])
    }
}

fn print_kernel(p: &mut Printer<'_>, op: OpRef<'_>, _args: &[DirectiveArg]) {
    let (cx, kernel) = (op.cx, KernelOp::from_ref(op));
    let body = op.inside();
    let mut block_args = body.entry_block().map_or(&[][..], |b| body.block_args(b)).iter().copied();
    let mut next = |p: &mut Printer<'_>| match block_args.next() {
        Some(value) => {
            p.value(body, value);
            body.ty(value)
        }
        None => Type::NONE,
    };
    p.text("(");
    for (i, mode) in cx.array(kernel.modes_attr()).unwrap_or_default().iter().enumerate() {
        p.text(if i > 0 { ", " } else { "" });
        let ty = next(p);
        p.text(" : ");
        p.ty(ty);
        p.text(" ");
        p.text(cx.as_str(*mode).unwrap_or("?"));
    }
    p.text(") dims(");
    let start = cx.array(kernel.modes_attr()).map_or(0, <[Attr]>::len);
    let values = body.entry_block().map_or(&[][..], |b| body.block_args(b));
    for (i, dim) in cx.array(kernel.dims_attr()).unwrap_or_default().iter().enumerate() {
        p.text(if i > 0 { ", " } else { "" });
        let value = values.get(start + i).map(|v| p.value_text(body, *v)).unwrap_or_default();
        next(p);
        if let Some(dim) = DimDecl::read(cx, *dim) {
            print_dim(p, &value, &dim);
        }
    }
    p.text(")");
    let requires = kernel.requires();
    if !requires.is_empty() {
        p.text(" requires(");
        print_poly_list(p, &requires);
        p.text(")");
    }
    p.text(" grid(");
    for (i, extent) in kernel.grid().iter().enumerate() {
        p.text(if i > 0 { ", " } else { "" });
        next(p);
        p.text(&format!(" = {extent}"));
    }
    p.text(") units(");
    if kernel.units() > 1 {
        next(p);
        p.text(", ");
    }
    p.text(&format!("{})", kernel.units()));
    if let Some(threads) = kernel.threads() {
        p.text(&format!(" threads({threads})"));
    }
}

/// What follows the value of a dim.
fn print_dim(p: &mut Printer<'_>, value: &str, dim: &DimDecl) {
    // Values lose their names, or get others where two are the same; sizes are called as before.
    if value.strip_prefix('%') != Some(dim.name.as_str()) {
        p.text(" = ");
        p.keyword_or_string(&dim.name);
    }
    p.text(&format!(" : [{}, {}]", dim.min, dim.max));
    if dim.div != 1 {
        p.text(&format!(" div {}", dim.div));
    }
}

fn parse_for(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let mut region_args = vec![argument(p, Type::INDEX)?];
    p.punct("=")?;
    let lo = p.operand()?;
    p.keyword("to")?;
    let hi = p.operand()?;
    if p.opt_keyword("unroll") {
        let trips = in_parentheses(p)?;
        parts.set_prop(p.cx(), "unroll", p.cx().int_attr(trips, Type::I64));
    }
    let mut inits = Vec::new();
    let mut types = Vec::new();
    if p.opt_keyword("carry") {
        parenthesised(p, &mut |p| {
            region_args.push(argument(p, Type::NONE)?);
            p.punct("=")?;
            inits.push(p.operand()?);
            Ok(())
        })?;
        p.punct(":")?;
        for i in 0..inits.len() {
            if i > 0 {
                p.punct(",")?;
            }
            types.push(p.ty()?);
        }
    }
    for (arg, ty) in region_args[1..].iter_mut().zip(&types) {
        arg.ty = *ty;
    }
    parts.operands[0].push(lo);
    parts.operands[1].push(hi);
    parts.operands[2].extend(inits);
    parts.operand_types[2] = Some(types);
    set_region_args(parts, args, region_args);
    Ok(())
}

fn print_for(p: &mut Printer<'_>, op: OpRef<'_>, _args: &[DirectiveArg]) {
    let this = ForOp::from_ref(op);
    let Some(entry) = this.body().entry() else { return };
    let block_args = entry.args();
    if let Some(&index) = block_args.first() {
        p.value(entry.body, index);
    }
    p.text(" = ");
    p.value(op.body, this.lo());
    p.text(" to ");
    p.value(op.body, this.hi());
    if let Some(trips) = this.unroll() {
        p.text(&format!(" unroll({trips})"));
    }
    let inits: Vec<_> = this.inits().collect();
    if inits.is_empty() {
        return;
    }
    p.text(" carry(");
    for (i, init) in inits.iter().enumerate() {
        p.text(if i > 0 { ", " } else { "" });
        if let Some(&arg) = block_args.get(i + 1) {
            p.value(entry.body, arg);
        }
        p.text(" = ");
        p.value(op.body, *init);
    }
    p.text(") : ");
    p.types(inits.iter().map(|v| op.ty(*v)));
}
