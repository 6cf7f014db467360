//! What llvm's operations check beyond their declarations.

use sutura_ir::asm::bytes_of_text;
use sutura_ir::interfaces::SymbolUser;
use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify, VerifyRegions};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::symbols::SymbolScope;
use sutura_ir::{Context, Diagnostic, Diagnostics, OpRef, Reported, Type, TypeData};

use super::asm_memory::field_type;
use super::attrs::AtomicOrdering;
use super::memory::{AllocaOp, DYNAMIC_INDEX, GEPOp, LoadOp, StoreOp};
use super::ops::{ExtractValueOp, FCmpOp, ICmpOp, InsertValueOp, ReturnOp, SwitchOp};
use super::symbols::{AddressOfOp, CallOp, FuncOp, GlobalOp};
use super::types::{ArrayType, FunctionType, VoidType, is_pointer};
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

// ---- accesses

/// Scalars that the hardware can access at once.
pub(super) fn is_atomic_type(op: OpRef<'_>, ty: Type, pointers: bool) -> bool {
    if pointers && is_pointer(op.cx, ty) {
        return true;
    }
    let sized = ty.is_float(op.cx) || ty.is_signless_integer(op.cx);
    sized && op.cx.bit_width(ty).is_some_and(|w| matches!(w, 8 | 16 | 32 | 64 | 80 | 128))
}

fn verify_atomic(op: OpRef<'_>, ty: Type, refused: &[AtomicOrdering]) -> Result<(), Diagnostic> {
    let number = op.prop("ordering").and_then(|a| op.cx.as_int(a)).unwrap_or_default();
    let Some(ordering) = AtomicOrdering::from_int(number) else {
        return Err(
            op.error("attribute 'ordering' failed to satisfy constraint: Atomic ordering for LLVM's memory model")
        );
    };
    if ordering == AtomicOrdering::NotAtomic {
        return match op.prop("syncscope") {
            Some(_) => Err(op.error("expected syncscope to be null for non-atomic access")),
            None => Ok(()),
        };
    }
    if !is_atomic_type(op, ty, true) {
        return Err(op.error(format!("unsupported type '{}' for atomic access", show::ty(op.cx, ty))));
    }
    if op.prop("alignment").is_none() {
        return Err(op.error("expected alignment for atomic access"));
    }
    if refused.contains(&ordering) {
        return Err(op.error(format!("unsupported ordering '{}'", ordering.keyword())));
    }
    Ok(())
}

impl Verify for LoadOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let ty = op.ty(LoadOp::from_ref(op).res());
        let result = verify_atomic(op, ty, &[AtomicOrdering::Release, AtomicOrdering::AcqRel]);
        result.map_err(|d| diags.report(d))
    }
}

impl Verify for StoreOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let ty = op.ty(StoreOp::from_ref(op).stored());
        let result = verify_atomic(op, ty, &[AtomicOrdering::Acquire, AtomicOrdering::AcqRel]);
        result.map_err(|d| diags.report(d))
    }
}

impl Verify for AllocaOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let alloca = AllocaOp::from_ref(op);
        let target = matches!(op.cx.type_data(alloca.elem_type()), sutura_ir::TypeData::Opaque { .. });
        if alloca.inalloca() && target {
            return Err(diags.report(op.error("inalloca is not allowed for target types")));
        }
        Ok(())
    }
}

/// The type at a position is the one that is written or read.
fn verify_field(op: OpRef<'_>, container: Type, path: &[i64], field: Type) -> Result<(), Diagnostic> {
    let expected = field_type(op.cx, container, path).map_err(|message| op.error(message))?;
    if expected == field {
        return Ok(());
    }
    let (field, expected) = (show::ty(op.cx, field), show::ty(op.cx, expected));
    Err(op.error(format!("Type mismatch: value type '{field}' but the field's is '{expected}'")))
}

impl Verify for InsertValueOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let insert = InsertValueOp::from_ref(op);
        let (container, field) = (op.ty(insert.container()), op.ty(insert.inserted()));
        verify_field(op, container, &insert.position(), field).map_err(|d| diags.report(d))
    }
}

impl Verify for ExtractValueOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let extract = ExtractValueOp::from_ref(op);
        let (container, field) = (op.ty(extract.container()), op.ty(extract.res()));
        verify_field(op, container, &extract.position(), field).map_err(|d| diags.report(d))
    }
}

impl Verify for SwitchOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let switch = SwitchOp::from_ref(op);
        let values = switch.case_values().and_then(|a| op.cx.dense(a));
        if values.as_ref().map_or(0, |v| v.len()) != op.successors().len().saturating_sub(1) {
            let message = "expects number of case values to match number of case destinations";
            return Err(diags.report(op.error(message)));
        }
        if values.is_some_and(|v| v.element_type() != op.ty(switch.condition())) {
            return Err(diags.report(op.error("expects case value type to match condition value type")));
        }
        Ok(())
    }
}

// ---- functions

fn function_type(op: OpRef<'_>) -> &FunctionType {
    op.cx.type_as::<FunctionType>(FuncOp::from_ref(op).function_type()).expect("checked by the declaration")
}

impl Verify for GlobalOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let global = GlobalOp::from_ref(op);
        let Some(text) = global.initial().and_then(|value| op.cx.as_str(value)) else { return Ok(()) };
        // The custom form leaves the type to the string.
        let wanted = ArrayType { elem: Type::I8, len: bytes_of_text(text).len() as u64 };
        if op.cx.type_as::<ArrayType>(global.global_type()) == Some(&wanted) {
            return Ok(());
        }
        let message = "requires an i8 array type of the length equal to that of the string attribute";
        Err(diags.report(op.error(message)))
    }
}

impl Verify for FuncOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let (func, ty) = (FuncOp::from_ref(op), function_type(op));
        let Some(entry) = func.body().entry() else { return Ok(()) };
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
