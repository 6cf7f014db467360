//! Directives of func's assembly formats: the name with its visibility, and the signature.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::op_def::OpView;
use sutura_ir::{OpRef, Reported};

use super::ops::FuncOp;
use crate::signature::{parse_arguments, parse_results, print_arguments, print_results, set_value_attrs};

/// `custom<NameAndVisibility>($sym_visibility, $sym_name)`: `[public|private|nested] @name`.
pub(super) const NAME_AND_VISIBILITY: DirectiveDef = DirectiveDef { parse: parse_name, print: print_name };

/// `custom<Signature>($function_type, $arg_attrs, $res_attrs, $body)`: `(%arg: type {attrs}, …) -> (type {attrs}, …)`,
/// with types alone for a declaration.
pub(super) const SIGNATURE: DirectiveDef = DirectiveDef { parse: parse_signature, print: print_signature };

/// The type of a function that is called, from which those of its arguments and results follow.
pub(super) const CALLEE_TYPE: DirectiveDef = DirectiveDef {
    parse: |p, parts, _| {
        let loc = p.loc();
        let ty = p.ty()?;
        let Some((inputs, results)) = p.cx().signature(ty) else {
            return Err(p.error_at(loc, "invalid kind of type specified: expected builtin.function"));
        };
        let (inputs, results) = (inputs.to_vec(), results.to_vec());
        parts.operand_types = vec![Some(vec![ty]), Some(inputs)];
        parts.result_types = vec![Some(results)];
        Ok(())
    },
    print: |p, op, _| p.types(op.operand_types().take(1)),
};

fn parse_name(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    for visibility in ["public", "private", "nested"] {
        if p.opt_keyword(visibility) {
            parts.set_prop(p.cx(), "sym_visibility", p.cx().string_attr(visibility));
            break;
        }
    }
    let name = p.symbol()?;
    let name = p.cx().string_attr(p.cx().str(name));
    parts.set_prop(p.cx(), "sym_name", name);
    Ok(())
}

fn print_name(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(visibility) = op.prop("sym_visibility").and_then(|a| op.cx.as_str(a)) {
        p.text(visibility);
        p.text(" ");
    }
    p.symbol_name(op.symbol_name().unwrap_or_default());
}

fn parse_signature(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let (inputs, names, _) = parse_arguments(p, false)?;
    let results = parse_results(p)?;
    let ty = p.cx().function_type(&inputs.types, &results.types);
    parts.set_prop(p.cx(), "function_type", p.cx().type_attr(ty));
    set_value_attrs(p.cx(), parts, &inputs, &results);
    let region = args.iter().find_map(|a| if let DirectiveArg::Region(i) = a { Some(*i) } else { None });
    if let (Some(region), Some(names)) = (region, names) {
        parts.region_args[region] = Some(names);
    }
    Ok(())
}

fn print_signature(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let func = FuncOp::from_ref(op);
    let Some((inputs, results)) = op.prop("function_type").and_then(|a| op.cx.signature(op.cx.as_type(a)?)) else {
        return;
    };
    print_arguments(p, op, inputs, func.arg_attrs(), false);
    print_results(p, op, results, func.res_attrs());
}
