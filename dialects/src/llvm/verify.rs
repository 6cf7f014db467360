//! What llvm's operations check beyond their declarations.

use sutura_ir::interfaces::SymbolUser;
use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify, VerifyRegions};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::symbols::SymbolScope;
use sutura_ir::{Context, Diagnostic, Diagnostics, OpRef, Reported, Type, TypeData};

use super::memory::{DYNAMIC_INDEX, GEPOp};
use super::ops::{FCmpOp, ICmpOp, ReturnOp};
use super::symbols::{AddressOfOp, CallOp, FuncOp, GlobalOp};
use super::types::{FunctionType, VoidType};
use crate::show;

/// `i1` in the shape of `ty`: scalars other than vectors (pointers too) give `i1`.
pub(super) fn comparison_type(cx: &Context, ty: Type) -> Type {
    match cx.type_data(ty) {
        TypeData::Vector { shape, scalable, .. } => cx.ty(TypeData::Vector { shape, scalable, elem: Type::I1 }),
        _ => Type::I1,
    }
}

pub(super) fn verify_comparison(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    if comparison_type(op.cx, op.ty(op.operand(0))) == op.ty(op.result(0)) {
        return Ok(());
    }
    Err(diags.report(op.error("failed to verify that result type has i1 element type and same shape as operands")))
}

fn infer_comparison(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
    let operand = input.operands.first().ok_or("the comparison has no operands")?;
    Ok(smallvec![comparison_type(input.cx, *operand)])
}

impl Verify for ICmpOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_comparison(op, diags)
    }
}

impl InferTypes for ICmpOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        infer_comparison(input)
    }
}

impl Verify for FCmpOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_comparison(op, diags)
    }
}

impl InferTypes for FCmpOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        infer_comparison(input)
    }
}

impl Verify for GEPOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let gep = GEPOp::from_ref(op);
        let dynamic = gep.raw_constant_indices().iter().filter(|i| **i == DYNAMIC_INDEX).count();
        let given = gep.dynamic_indices().len();
        if dynamic == given {
            return Ok(());
        }
        let message =
            format!("expected as many dynamic indices as specified in 'rawConstantIndices': {dynamic}, got {given}");
        Err(diags.report(op.error(message)))
    }
}

// ---- functions

fn function_type(op: OpRef<'_>) -> &FunctionType {
    op.cx.type_as::<FunctionType>(FuncOp::from_ref(op).function_type()).expect("checked by the declaration")
}

impl Verify for FuncOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let (func, ty) = (FuncOp::from_ref(op), function_type(op));
        let Some(entry) = func.body().entry() else { return Ok(()) };
        if ty.var_arg {
            return Err(diags.report(op.error("only external functions can be variadic")));
        }
        let args: Vec<Type> = entry.args().iter().map(|v| entry.body.ty(*v)).collect();
        if args == ty.params {
            return Ok(());
        }
        let message = "entry block arguments must have the types of the function's parameters";
        Err(diags.report(op.error(message)))
    }
}

impl VerifyRegions for FuncOp<'_> {
    /// Returns are checked here: they live in the function's own body and cannot see its type.
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let ty = function_type(op);
        let is_void = op.cx.type_as::<VoidType>(ty.result).is_some();
        let mut result = Ok(());
        for block in FuncOp::from_ref(op).body().blocks() {
            let last = block.body.last_op(block.block).map(|op| OpRef::new(block.cx, block.body, op));
            let Some(ret) = last.and_then(|op| op.as_::<ReturnOp<'_>>()) else { continue };
            let found = ret.arg().map(|v| block.body.ty(v));
            if found != (!is_void).then_some(ty.result) {
                let name = op.symbol_name().unwrap_or_default();
                let expected = show::ty(op.cx, ty.result);
                let message =
                    format!("expected one operand of type '{expected}', that of function @{name}, or none for void");
                result = Err(diags.report(ret.op_ref().error(message)));
            }
        }
        result
    }
}

impl Verify for CallOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let call = CallOp::from_ref(op);
        let bundles: i64 = call.op_bundle_sizes().iter().map(|n| i64::from(*n)).sum();
        if bundles != call.op_bundle_operands().len() as i64 {
            return Err(diags.report(op.error("op_bundle_sizes do not add up to the number of bundle operands")));
        }
        if call.callee().is_none() && call.callee_operands().len() == 0 {
            return Err(diags.report(op.error("must have either a `callee` attribute or at least an operand")));
        }
        Ok(())
    }
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
    let Some(reference) = call.callee_attr() else { return Ok(()) };
    let name = call.callee().unwrap_or_default();
    let Some(target) = symbols.lookup(op.op, reference) else {
        return Err(op.error(format!("'{name}' does not reference a symbol in the current scope")));
    };
    // Aliases and resolvers are called too; they are foreign here.
    let Some(callee) = target.as_::<FuncOp<'_>>() else { return Ok(()) };
    let ty = function_type(callee.op_ref());
    if ty.var_arg && call.var_callee_type().is_none() {
        return Err(op.error("missing var_callee_type attribute for vararg call"));
    }
    let args: Vec<Type> = call.callee_operands().map(|v| op.ty(v)).collect();
    let fits = if ty.var_arg { args.len() >= ty.params.len() } else { args.len() == ty.params.len() };
    if !fits {
        let (found, expected) = (args.len(), ty.params.len());
        return Err(op.error(format!("incorrect number of operands ({found}) for callee (expecting: {expected})")));
    }
    if let Some(i) = args.iter().zip(&ty.params).position(|(a, p)| a != p) {
        let (found, expected) = (show::ty(op.cx, args[i]), show::ty(op.cx, ty.params[i]));
        return Err(op.error(format!("operand type mismatch for operand {i}: '{found}' != '{expected}'")));
    }
    let expected = op.cx.type_as::<VoidType>(ty.result).is_none().then_some(ty.result);
    let found = call.result().map(|v| op.ty(v));
    if found == expected {
        return Ok(());
    }
    Err(op.error(format!("result type mismatch: the callee's is '{}'", show::ty(op.cx, ty.result))))
}

/// The address of a symbol that is there.
pub(super) struct AddressSymbols;

impl SymbolUser for AddressSymbols {
    fn verify_symbol_uses(
        &self,
        op: OpRef<'_>,
        symbols: &SymbolScope<'_, '_>,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let address = AddressOfOp::from_ref(op);
        let target = symbols.lookup(op.op, address.global_name_attr());
        let is_known = |t: OpRef<'_>| t.is::<GlobalOp<'_>>() || t.is::<FuncOp<'_>>() || t.def().is_none();
        if target.is_some_and(is_known) {
            return Ok(());
        }
        let message = "must reference a global defined by 'llvm.mlir.global', 'llvm.mlir.alias' or 'llvm.func' or 'llvm.mlir.ifunc'";
        Err(diags.report(op.error(message)))
    }
}
