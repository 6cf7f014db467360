//! What func's operations check beyond their declarations.

use sutura_ir::interfaces::SymbolUser;
use sutura_ir::op_def::{OpView, Verify, VerifyRegions};
use sutura_ir::symbols::{SymbolScope, Visibility};
use sutura_ir::{Diagnostic, Diagnostics, OpRef, Reported, Type};

use super::ops::{CallOp, ConstantOp, FuncOp, ReturnOp};
use super::sizes::{check_call, states_sizes};
use crate::show;

impl Verify for FuncOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_function(FuncOp::from_ref(op)).map_err(|d| diags.report(d))
    }
}

fn verify_function(func: FuncOp<'_>) -> Result<(), Diagnostic> {
    let op = func.op_ref();
    verify_dicts(op, "arg_attrs", func.arg_attrs(), func.inputs().len(), "argument")?;
    verify_dicts(op, "res_attrs", func.res_attrs(), func.results().len(), "result")?;
    let Some(entry) = func.body().entry() else {
        if Visibility::of(op) == Visibility::Public {
            return Err(op.error("symbol declaration cannot have public visibility"));
        }
        return Ok(());
    };
    let (expected, args) = (func.inputs(), entry.args());
    if args.len() != expected.len() {
        let n = expected.len();
        return Err(op.error(format!("entry block must have {n} arguments to match function signature")));
    }
    for (i, (arg, expected)) in args.iter().zip(expected).enumerate() {
        let found = op.inside().ty(*arg);
        if found != *expected {
            let (found, expected) = (show::ty(op.cx, found), show::ty(op.cx, *expected));
            return Err(op.error(format!(
                "type of entry block argument #{i}('{found}') must match the type of the corresponding argument in \
                 function signature('{expected}')"
            )));
        }
    }
    Ok(())
}

fn verify_dicts(
    op: OpRef<'_>,
    name: &str,
    dicts: Option<&[sutura_ir::Attr]>,
    count: usize,
    what: &str,
) -> Result<(), Diagnostic> {
    match dicts {
        Some(dicts) if dicts.len() != count => Err(op.error(format!(
            "expects {what} attribute array `{name}` to have the same number of elements as the number of function \
             {what}s, got {}, but expected {count}",
            dicts.len()
        ))),
        _ => Ok(()),
    }
}

impl VerifyRegions for FuncOp<'_> {
    /// Returns are checked here: they live in the function's own body and cannot see its signature.
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let func = FuncOp::from_ref(op);
        let mut result = Ok(());
        for block in func.body().blocks() {
            let last = block.body.last_op(block.block).map(|op| OpRef::new(block.cx, block.body, op));
            if let Some(ret) = last.and_then(|op| op.as_::<ReturnOp<'_>>())
                && let Err(diagnostic) = verify_return(func, ret)
            {
                result = Err(diags.report(diagnostic));
            }
        }
        result
    }
}

fn verify_return(func: FuncOp<'_>, ret: ReturnOp<'_>) -> Result<(), Diagnostic> {
    let (op, name, expected) = (ret.op_ref(), func.sym_name(), func.results());
    if op.num_operands() != expected.len() {
        let (found, expected) = (op.num_operands(), expected.len());
        return Err(op.error(format!("has {found} operands, but enclosing function (@{name}) returns {expected}")));
    }
    for (i, (found, expected)) in op.operand_types().zip(expected).enumerate() {
        if found != *expected {
            let (found, expected) = (show::ty(op.cx, found), show::ty(op.cx, *expected));
            return Err(Diagnostic::error(
                op.loc(),
                format!(
                    "type of return operand {i} ('{found}') doesn't match function result type ('{expected}') in \
                     function @{name}"
                ),
            ));
        }
    }
    Ok(())
}

/// A call against the function that it names.
pub(super) struct CallSymbols;

impl SymbolUser for CallSymbols {
    fn verify_symbol_uses(
        &self,
        op: OpRef<'_>,
        symbols: &SymbolScope<'_, '_>,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        verify_call(CallOp::from_ref(op), symbols).map_err(|d| diags.report(d))
    }
}

fn verify_call(call: CallOp<'_>, symbols: &SymbolScope<'_, '_>) -> Result<(), Diagnostic> {
    let op = call.op_ref();
    let callee = symbols.lookup(op.op, call.callee_attr()).and_then(|f| f.as_::<FuncOp<'_>>());
    let Some(callee) = callee else {
        return Err(op.error(format!("'{}' does not reference a valid function", call.callee())));
    };
    let operands: Vec<Type> = op.operand_types().collect();
    let results: Vec<Type> = op.result_types().collect();
    // What the function's types say of sizes is over its own symbols.
    let counts = (operands.len(), results.len()) == (callee.inputs().len(), callee.results().len());
    let types = || callee.inputs().iter().chain(callee.results());
    if counts && types().any(|ty| states_sizes(op.cx, *ty)) {
        let defined = (callee.op_ref().loc(), format!("function @{} is defined here", callee.sym_name()));
        return check_call(call, callee).map_err(|message| op.error(message).note(defined.0, defined.1));
    }
    verify_side(op, callee, &operands, callee.inputs(), "operand")?;
    verify_side(op, callee, &results, callee.results(), "result")
}

fn verify_side(
    op: OpRef<'_>,
    callee: FuncOp<'_>,
    found: &[Type],
    expected: &[Type],
    what: &str,
) -> Result<(), Diagnostic> {
    let defined = (callee.op_ref().loc(), format!("function @{} is defined here", callee.sym_name()));
    if found.len() != expected.len() {
        let message = format!("incorrect number of {what}s for callee");
        return Err(op.error(message).note(defined.0, defined.1));
    }
    let mismatch = found.iter().zip(expected).position(|(f, e)| f != e);
    match mismatch {
        None => Ok(()),
        Some(i) => {
            let (found, expected) = (show::ty(op.cx, found[i]), show::ty(op.cx, expected[i]));
            let message = if what == "operand" {
                format!(
                    "operand type mismatch: expected operand type '{expected}', but provided '{found}' for operand number {i}"
                )
            } else {
                format!(
                    "result type mismatch: expected result type '{expected}', but provided '{found}' for result number {i}"
                )
            };
            Err(op.error(message).note(defined.0, defined.1))
        }
    }
}

/// A function value against the function that it names.
pub(super) struct ConstantSymbols;

impl SymbolUser for ConstantSymbols {
    fn verify_symbol_uses(
        &self,
        op: OpRef<'_>,
        symbols: &SymbolScope<'_, '_>,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        verify_constant(ConstantOp::from_ref(op), symbols).map_err(|d| diags.report(d))
    }
}

fn verify_constant(constant: ConstantOp<'_>, symbols: &SymbolScope<'_, '_>) -> Result<(), Diagnostic> {
    let op = constant.op_ref();
    let callee = symbols.lookup(op.op, constant.callee_attr()).and_then(|f| f.as_::<FuncOp<'_>>());
    let Some(callee) = callee else {
        return Err(op.error(format!("reference to undefined function '{}'", constant.callee())));
    };
    if op.ty(constant.result()) != callee.function_type() {
        return Err(op.error("reference to function with mismatched type"));
    }
    Ok(())
}
