//! Custom directives of this dialect and of those that write sizes in their ops.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::diagnostics::Reported;
use sutura_ir::{Attr, OpRef};

use super::attr::{ShapeAttr, parse_poly, print_dims, shape_attr};

/// `custom<Name>($name)`: `"S"`, a string that a colon may follow.
pub(crate) const NAME: DirectiveDef = DirectiveDef { parse: parse_name, print: print_name };

/// `custom<Size>($size)`: `[4*S - 1]`, a `#dyn.shape` of one size.
pub(crate) const SIZE: DirectiveDef = DirectiveDef { parse: parse_size, print: print_size };

fn set(p: &dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg], value: Attr) {
    if let [DirectiveArg::Attr(index)] = args {
        parts.set_prop_at(p.cx(), *index, value);
    }
}

fn attr(op: OpRef<'_>, args: &[DirectiveArg]) -> Option<Attr> {
    match args {
        [DirectiveArg::Attr(index)] => op.prop_at(*index),
        _ => None,
    }
}

fn parse_name(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let name = p.string()?;
    let value = p.cx().string_attr(&name);
    set(p, parts, args, value);
    Ok(())
}

fn print_name(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let name = attr(op, args).and_then(|a| op.cx.as_str(a));
    p.string(name.unwrap_or_default());
}

fn parse_size(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    p.punct("[")?;
    let size = parse_poly(p)?;
    p.punct("]")?;
    let value = shape_attr(p.cx(), &[size]);
    set(p, parts, args, value);
    Ok(())
}

fn print_size(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let mut text = String::new();
    let shape = attr(op, args).and_then(|a| op.cx.attr_as::<ShapeAttr>(a));
    // Writing to a string cannot fail.
    let _ = print_dims(shape.map_or(&[None], |s| &s.dims[..]), &mut text);
    p.text(&text);
}
