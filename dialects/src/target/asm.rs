//! Custom directive: the signature of an intrinsic.

use sutura_ir::OpRef;
use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, RegionArg};
use sutura_ir::asm::print::Printer;
use sutura_ir::diagnostics::Reported;

/// `(%a : type, …)`: the arguments of the body.
pub(super) const SIGNATURE: DirectiveDef = DirectiveDef { parse, print };

fn parse(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let mut region_args = Vec::new();
    p.punct("(")?;
    while !p.opt_punct(")") {
        if !region_args.is_empty() {
            p.punct(",")?;
        }
        let operand = p.operand()?;
        p.punct(":")?;
        region_args.push(RegionArg { name: Some(operand.name), ty: p.ty()?, loc: operand.loc });
    }
    for arg in args {
        if let DirectiveArg::Region(index) = *arg {
            parts.region_args[index] = Some(region_args);
            break;
        }
    }
    Ok(())
}

fn print(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let body = op.inside();
    let args = body.entry_block().map_or(&[][..], |b| body.block_args(b));
    p.text("(");
    for (i, value) in args.iter().enumerate() {
        p.text(if i > 0 { ", " } else { "" });
        p.value(body, *value);
        p.text(" : ");
        p.ty(body.ty(*value));
    }
    p.text(")");
}
