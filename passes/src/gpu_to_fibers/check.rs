//! What can be converted, checked before anything is changed.

use sutura_dialects::gpu::{GPUFuncOp, block_size};
use sutura_dialects::llvm::{AddressOfOp, AtomicRMWOp, LoadOp, StoreOp};
use sutura_ir::analysis::effects::is_memory_effect_free;
use sutura_ir::asm::print::type_text;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::op_def::Traits;
use sutura_ir::{Context, OpRef, OpView, Type, Value};

use super::module::Arrays;
use crate::gpu_to_spirv::types::{GLOBAL, SHARED, space};

/// Bytes of an address.
const ADDRESS_BYTES: i64 = 8;

type Checked<T = ()> = Result<T, Diagnostic>;

/// Checks a kernel as a whole, then all that is inside; the size of its blocks.
pub(super) fn check_kernel(func: GPUFuncOp<'_>, arrays: &Arrays) -> Result<[i64; 3], Vec<Diagnostic>> {
    let block = check_head(func).map_err(|error| vec![error])?;
    let mut errors = Vec::new();
    func.op_ref().walk(&mut |op| {
        if op.op != func.op_ref().op || !op.is::<GPUFuncOp<'_>>() {
            errors.extend(check_op(op, arrays).err());
        }
    });
    if errors.is_empty() { Ok(block) } else { Err(errors) }
}

fn check_head(func: GPUFuncOp<'_>) -> Checked<[i64; 3]> {
    let (op, cx) = (func.op_ref(), func.op_ref().cx);
    if !func.is_kernel() {
        return Err(op.error("is no kernel").help("inline functions of the device into their callers"));
    }
    let entry = func.body().entry();
    let args = entry.map_or(&[][..], |block| block.args());
    if args.len() != func.inputs().len() {
        let error = op.error("has buffers of the block or of the thread behind its arguments");
        return Err(error.help("use 'llvm.mlir.global' in address space 3 for what a block shares"));
    }
    for ty in func.inputs().iter().copied() {
        let passes = match space(cx, ty) {
            Some(space) => space == GLOBAL || space == 0,
            None => ty == Type::INDEX || matches!(scalar_bits(cx, ty), Some(1..=64)),
        };
        if !passes {
            let error = op.error(format!("has an argument of type '{}', which cannot be passed", type_text(cx, ty)));
            return Err(error.help("pass addresses of buffers, integers, and floats of at most 64 bits"));
        }
    }
    block_size(func)?.map(|size| size.map(i64::from)).ok_or_else(|| {
        let error = op.error("has no 'known_block_size', and the threads of a block are made before it runs");
        error.help("add 'attributes {known_block_size = array<i32: X, Y, Z>}'")
    })
}

fn check_op(op: OpRef<'_>, arrays: &Arrays) -> Checked {
    check_types(op)?;
    match op.name_str() {
        "gpu.thread_id" | "gpu.block_id" | "gpu.block_dim" | "gpu.grid_dim" | "gpu.lane_id" | "gpu.subgroup_id"
        | "gpu.subgroup_size" | "gpu.barrier" | "gpu.shuffle" | "gpu.return" => Ok(()),
        "scf.for" | "scf.if" | "scf.while" | "scf.yield" | "scf.condition" | "cf.br" | "cf.cond_br" | "cf.switch" => {
            Ok(())
        }
        "llvm.load" => accessed(op, op.ty(op.result(0))).map(drop),
        "llvm.store" => accessed(op, op.ty(StoreOp::from_ref(op).stored())).map(drop),
        "llvm.atomicrmw" => accessed(op, op.ty(AtomicRMWOp::from_ref(op).val())).map(drop),
        "llvm.mlir.addressof" => {
            let name = op.as_::<AddressOfOp<'_>>().map_or("", |address| address.global_name());
            if arrays.contains(name) {
                return Ok(());
            }
            Err(op.error(format!("refers to @{name}, which the module of the kernel does not define")))
        }
        "llvm.addrspacecast" if op.cx.shape(op.ty(op.operand(0))).is_none() => Ok(()),
        _ => check_other(op),
    }
}

/// Operations that only compute are kept as they are.
fn check_other(op: OpRef<'_>) -> Checked {
    let computes = op
        .name_str()
        .split_once('.')
        .is_some_and(|(dialect, _)| matches!(dialect, "arith" | "math" | "vector" | "index" | "ub" | "llvm"));
    let alone = op.regions().len() == 0 && op.def().is_some() && !op.has_trait(Traits::IsolatedFromAbove);
    if computes && alone && is_memory_effect_free(op) {
        return Ok(());
    }
    let help = match op.name_str() {
        "llvm.alloca" => "a thread has no memory of its own here: keep values, or use the block's memory",
        "llvm.call" => "inline functions of the device into their callers",
        "llvm.cmpxchg" => "'llvm.atomicrmw' is the atomic access that there is",
        _ => {
            "what fibers can run: operations on gpu, scf, cf, arith, math, vectors, and llvm.load and llvm.store of memory"
        }
    };
    Err(op.error("cannot be run by fibers").help(help))
}

fn check_types(op: OpRef<'_>) -> Checked {
    let inside = op.regions().flat_map(|region| region.blocks()).flat_map(|block| block.args().to_vec());
    let types = op.operand_types().chain(op.result_types()).chain(inside.map(|arg| op.ty(arg)));
    for ty in types {
        let Some(space) = space(op.cx, op.cx.element_type(ty)) else { continue };
        if !matches!(space, 0 | GLOBAL | SHARED) {
            let error = op.error(format!("has a value of type '{}'", type_text(op.cx, ty)));
            return Err(error
                .help(format!("address spaces {GLOBAL} (buffers), {SHARED} (the block's) and 0 (either) are known")));
        }
    }
    Ok(())
}

fn scalar_bits(cx: &Context, ty: Type) -> Option<u32> {
    match ty {
        Type::F16 | Type::BF16 | Type::F32 | Type::F64 => cx.bit_width(ty),
        _ if ty.is_signless_integer(cx) => cx.bit_width(ty),
        _ => None,
    }
}

/// An access of memory.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) bytes: i64,
    pub(super) alignment: i64,
    /// Address space.
    pub(super) space: u32,
}

/// The address that a load, a store or an atomic operation accesses.
pub(super) fn address_of(op: OpRef<'_>) -> Value {
    match op.name_str() {
        "llvm.store" => StoreOp::from_ref(op).addr(),
        "llvm.atomicrmw" => AtomicRMWOp::from_ref(op).ptr(),
        _ => LoadOp::from_ref(op).addr(),
    }
}

/// The access of a load, store or atomic operation of a type.
pub(super) fn accessed(op: OpRef<'_>, ty: Type) -> Checked<Access> {
    let cx = op.cx;
    let address = address_of(op);
    let atomic = op.is::<AtomicRMWOp<'_>>();
    if !atomic && op.prop("ordering").and_then(|a| cx.as_int(a)).is_some_and(|ordering| ordering != 0) {
        return Err(op
            .error("is atomic, which is not supported")
            .help("use 'llvm.atomicrmw', or let one thread do it, between barriers"));
    }
    let elem = cx.element_type(ty);
    let bits = match space(cx, elem) {
        Some(_) => Some(ADDRESS_BYTES * 8),
        None => scalar_bits(cx, elem).filter(|bits| *bits <= 64).map(i64::from),
    };
    let count = match cx.shape(ty) {
        None => Some(1),
        Some([count]) if *count > 0 && cx.num_elements(ty).is_some() => Some(*count),
        Some(_) => None,
    };
    let (Some(bits), Some(count)) = (bits, count) else {
        let error = op.error(format!("accesses a value of type '{}'", type_text(cx, ty)));
        return Err(error.help("access integers, floats and addresses of at most 64 bits, and vectors of these"));
    };
    let bytes = (bits * count).cast_unsigned().div_ceil(8).cast_signed();
    let natural = bytes.cast_unsigned().next_power_of_two().cast_signed();
    let alignment = op.prop("alignment").and_then(|a| cx.as_int(a)).filter(|n| *n != 0).unwrap_or(natural);
    if alignment < 1 || alignment.count_ones() != 1 || alignment > 1 << 20 {
        return Err(op.error(format!("has alignment {alignment}")).help("alignments are powers of two"));
    }
    Ok(Access { bytes, alignment, space: space(cx, op.ty(address)).unwrap_or(0) })
}
