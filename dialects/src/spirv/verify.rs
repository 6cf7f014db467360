//! What operations require beyond their declarations.

use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify, VerifyRegions};
use sutura_ir::smallvec::SmallVec;
use sutura_ir::{Context, Diagnostics, OpRef, RegionRef, Reported, Type, TypeData};

use super::arith::*;
use super::attrs::MemoryAccess;
use super::ops::*;
use super::types::{ArrayType, PointerType, RuntimeArrayType, StructType};
use crate::show;

/// Implements a check by a function that returns what is wrong.
macro_rules! verify {
    ($($name:ident: $check:path;)*) => {$(
        impl Verify for $name<'_> {
            fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
                $check(op).map_err(|diagnostic| diags.report(diagnostic))
            }
        }
    )*};
}

verify! {
    FuncOp: func;
    GlobalVariableOp: global_variable;
    ConstantOp: constant;
    AccessChainOp: access_chain;
    LoadOp: load;
    StoreOp: store;
    AtomicExchangeOp: atomic;
    AtomicUMinOp: atomic;
    VariableOp: variable;
    IAddCarryOp: extended;
    ISubBorrowOp: extended;
    UMulExtendedOp: extended;
    SMulExtendedOp: extended;
    SelectOp: select;
    CompositeConstructOp: construct;
    CompositeExtractOp: extract;
    CompositeInsertOp: insert;
    VectorShuffleOp: shuffle;
}

/// The type of the part of `ty` that a path leads to.
///
/// # Errors
/// Says where the path leaves the type.
pub fn part_type(cx: &Context, ty: Type, path: &[i64]) -> Result<Type, String> {
    path.iter().try_fold(ty, |ty, index| {
        let part = usize::try_from(*index).ok().and_then(|index| part(cx, ty, Some(index)));
        part.ok_or_else(|| format!("index {index} out of bounds for '{}'", show::ty(cx, ty)))
    })
}

/// The type of a part: that of the index, if it is known.
fn part(cx: &Context, ty: Type, index: Option<usize>) -> Option<Type> {
    let within = |len: usize| index.is_none_or(|index| index < len);
    if let Some(array) = cx.type_as::<ArrayType>(ty) {
        return within(array.len as usize).then_some(array.elem);
    }
    if let Some(array) = cx.type_as::<RuntimeArrayType>(ty) {
        return Some(array.elem);
    }
    if let Some(members) = cx.type_as::<StructType>(ty).map(|ty| &ty.members) {
        return members.get(index?).map(|member| member.ty);
    }
    match (cx.type_data(ty), cx.shape(ty)) {
        (TypeData::Vector { elem, .. }, Some([len])) => within(*len as usize).then_some(elem),
        _ => None,
    }
}

fn func(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let func = FuncOp::from_ref(op);
    let (inputs, results) = op.cx.signature(func.function_type()).unwrap_or_default();
    if results.len() > 1 {
        return Err(op.error("cannot have more than one result"));
    }
    let Some(entry) = func.body().entry() else { return Ok(()) };
    let found: Vec<Type> = entry.args().iter().map(|arg| entry.body.ty(*arg)).collect();
    if found != inputs {
        return Err(op.error("has a body whose arguments do not have the types of its signature"));
    }
    Ok(())
}

fn global_variable(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let ty = GlobalVariableOp::from_ref(op).ty();
    if op.cx.type_as::<PointerType>(ty).is_none() {
        return Err(op.error(format!("must have a SPIR-V pointer type, not '{}'", show::ty(op.cx, ty))));
    }
    Ok(())
}

fn constant(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let constant = ConstantOp::from_ref(op);
    let (cx, value, ty) = (op.cx, constant.attr(), op.ty(constant.constant()));
    let array = cx.type_as::<ArrayType>(ty);
    if let (Some(list), Some(array)) = (cx.array(value), array) {
        return match list.len() == array.len as usize {
            true => Ok(()),
            false => Err(op.error(format!("has {} elements, but its type has {}", list.len(), array.len))),
        };
    }
    let found = cx.attr_type(value);
    let fits =
        found == Some(ty) || array.is_some_and(|array| found.is_some_and(|found| cx.element_type(found) == array.elem));
    if fits { Ok(()) } else { Err(op.error(format!("has another type than its value: '{}'", show::ty(cx, ty)))) }
}

fn access_chain(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let chain = AccessChainOp::from_ref(op);
    let cx = op.cx;
    let pointer = |value| cx.type_as::<PointerType>(op.ty(value)).expect("declared as a pointer");
    let (base, result) = (pointer(chain.base_ptr()), pointer(chain.component_ptr()));
    let mut ty = base.pointee;
    for index in chain.indices() {
        let number = op.constant(index).and_then(|a| cx.as_int(a));
        let inside = match number {
            Some(number) => usize::try_from(number).ok().and_then(|number| part(cx, ty, Some(number))),
            None => part(cx, ty, None),
        };
        ty = inside.ok_or_else(|| op.error(format!("index does not lead into '{}'", show::ty(cx, ty))))?;
    }
    if (ty, base.class) != (result.pointee, result.class) {
        let expected = show::ty(cx, super::types::pointer(cx, ty, base.class));
        return Err(op.error(format!("leads to '{expected}'")));
    }
    Ok(())
}

/// A pointer's class and alignment fit an access of `ty`.
fn access(op: OpRef<'_>, pointer: Type, ty: Type) -> Result<(), Diagnostic> {
    let pointee = op.cx.type_as::<PointerType>(pointer).expect("declared as a pointer").pointee;
    if pointee != ty {
        let (pointee, ty) = (show::ty(op.cx, pointee), show::ty(op.cx, ty));
        return Err(op.error(format!("accesses '{ty}' through a pointer to '{pointee}'")));
    }
    let access = op.prop("memory_access").and_then(|a| op.cx.attr_as::<MemoryAccess>(a)).copied();
    let aligned = access.is_some_and(|access| access.has(MemoryAccess::ALIGNED));
    let alignment = op.prop("alignment").and_then(|a| op.cx.as_int(a));
    match alignment {
        None if aligned => Err(op.error("is 'Aligned' without an alignment")),
        Some(_) if !aligned => Err(op.error("has an alignment without being 'Aligned'")),
        Some(bytes) if bytes < 1 || bytes.count_ones() != 1 => {
            Err(op.error(format!("has an alignment that is no power of two: {bytes}")))
        }
        _ => Ok(()),
    }
}

fn load(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let load = LoadOp::from_ref(op);
    access(op, op.ty(load.ptr()), op.ty(load.result()))
}

fn store(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let store = StoreOp::from_ref(op);
    access(op, op.ty(store.ptr()), op.ty(store.stored()))
}

fn atomic(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let pointee = op.cx.type_as::<PointerType>(op.ty(op.operand(0))).expect("declared as a pointer").pointee;
    match [op.ty(op.operand(1)), op.ty(op.result(0))].into_iter().find(|ty| *ty != pointee) {
        Some(ty) => {
            let (pointee, ty) = (show::ty(op.cx, pointee), show::ty(op.cx, ty));
            Err(op.error(format!("has a value of '{ty}' for a pointer to '{pointee}'")))
        }
        None => Ok(()),
    }
}

fn variable(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let variable = VariableOp::from_ref(op);
    let pointer = op.cx.type_as::<PointerType>(op.ty(variable.pointer())).expect("declared as a pointer");
    if pointer.class != super::attrs::StorageClass::Function || variable.storage_class() != pointer.class {
        return Err(op.error("must be of storage class 'Function'; other variables are 'spirv.GlobalVariable'"));
    }
    Ok(())
}

/// Two parts of the operands' type.
fn extended(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let ty = op.ty(op.operand(0));
    let members = op.cx.type_as::<StructType>(op.ty(op.result(0))).map(|ty| &ty.members);
    if members.is_some_and(|members| members.len() == 2 && members.iter().all(|member| member.ty == ty)) {
        return Ok(());
    }
    Err(op.error(format!("must return a struct of two '{}'", show::ty(op.cx, ty))))
}

fn select(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let select = SelectOp::from_ref(op);
    let (condition, value) = (op.ty(select.condition()), op.ty(select.true_value()));
    if let Some(len) = op.cx.shape(condition)
        && op.cx.shape(value) != Some(len)
    {
        return Err(op.error("has a vector of conditions for values of another shape"));
    }
    Ok(())
}

fn construct(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let ty = op.ty(op.result(0));
    if let Some([len]) = op.cx.shape(ty) {
        let elem = op.cx.element_type(ty);
        let mut count = 0;
        for part in op.operand_types() {
            if op.cx.element_type(part) != elem {
                return Err(op.error("has a part of another element type than its result"));
            }
            count += op.cx.shape(part).map_or(1, |shape| shape[0]);
        }
        return if count == *len { Ok(()) } else { Err(op.error(format!("has {count} parts for {len} elements"))) };
    }
    for (index, found) in op.operand_types().enumerate() {
        if part(op.cx, ty, Some(index)) != Some(found) {
            return Err(op.error(format!("has a part {index} that its result has not")));
        }
    }
    Ok(())
}

fn path(op: OpRef<'_>) -> Vec<i64> {
    op.prop("indices").and_then(|a| op.cx.as_ints(a)).unwrap_or_default()
}

fn extract(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let part = part_type(op.cx, op.ty(op.operand(0)), &path(op)).map_err(|message| op.error(message))?;
    if part != op.ty(op.result(0)) {
        return Err(op.error(format!("extracts '{}'", show::ty(op.cx, part))));
    }
    Ok(())
}

fn insert(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let part = part_type(op.cx, op.ty(op.operand(1)), &path(op)).map_err(|message| op.error(message))?;
    if part != op.ty(op.operand(0)) {
        return Err(op.error(format!("replaces '{}'", show::ty(op.cx, part))));
    }
    Ok(())
}

fn shuffle(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let len = |ty| op.cx.shape(ty).map_or(0, |shape| shape[0]);
    let components = op.prop("components").and_then(|a| op.cx.as_ints(a)).unwrap_or_default();
    if len(op.ty(op.result(0))) != components.len() as i64 {
        return Err(op.error("has another number of components than its result"));
    }
    let count: i64 = op.operand_types().map(len).sum();
    match components.iter().find(|component| !(-1..count).contains(component)) {
        Some(component) => Err(op.error(format!("has component {component}, but its vectors have {count} elements"))),
        None => Ok(()),
    }
}

impl InferTypes for VectorExtractDynamicOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let vector = input.operands.first().ok_or("expects a vector")?;
        Ok([input.cx.element_type(*vector)].into_iter().collect())
    }
}

impl VerifyRegions for ModuleOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let foreign = op.regions().flat_map(|r| r.blocks()).flat_map(|b| b.ops().collect::<Vec<_>>());
        for inside in foreign {
            if inside.name().dialect(op.cx) != "spirv" {
                return Err(
                    diags.report(inside.error("is no operation of the spirv dialect, but inside 'spirv.module'"))
                );
            }
        }
        Ok(())
    }
}

/// The last block ends in `spirv.mlir.merge`, and no other one does; it hands over what the op returns.
fn verify_merge(op: OpRef<'_>, region: RegionRef<'_>) -> Result<(), Diagnostic> {
    let blocks: Vec<_> = region.blocks().collect();
    for (i, block) in blocks.iter().enumerate() {
        let merge = block.terminator().and_then(|end| end.as_::<MergeOp<'_>>());
        match (merge, i + 1 == blocks.len()) {
            (None, true) => return Err(op.error("must have a last block that ends in 'spirv.mlir.merge'")),
            (Some(merge), false) => {
                return Err(merge.op_ref().error("may only end the last block of its region"));
            }
            (Some(merge), true) => {
                if !merge.op_ref().operand_types().eq(op.result_types()) {
                    return Err(merge.op_ref().error("must hand over values of the types that the operation returns"));
                }
            }
            (None, false) => {}
        }
    }
    Ok(())
}

impl VerifyRegions for SelectionOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let region = SelectionOp::from_ref(op).body();
        if region.is_empty() {
            return Ok(());
        }
        let checked = match region.blocks().count() {
            1 => Err(op.error("must have a header block and a merge block")),
            _ => verify_merge(op, region),
        };
        checked.map_err(|diagnostic| diags.report(diagnostic))
    }
}

impl VerifyRegions for LoopOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let region = LoopOp::from_ref(op).body();
        if region.is_empty() {
            return Ok(());
        }
        let blocks: Vec<_> = region.blocks().collect();
        let goes_to = |from: usize, to: usize| {
            blocks[from].terminator().is_some_and(|end| end.successors() == [blocks[to].block])
        };
        let checked = match blocks.len() {
            0..4 => Err(op.error("must have an entry block, a header, a block that goes on, and a merge block")),
            _ if !goes_to(0, 1) => Err(op.error("must have an entry block that only goes to the second, the header")),
            count if !goes_to(count - 2, 1) => {
                Err(op.error("must have a last block but one that only goes back to the header"))
            }
            _ => verify_merge(op, region),
        };
        checked.map_err(|diagnostic| diags.report(diagnostic))
    }
}
