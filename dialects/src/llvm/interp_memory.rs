//! What memory operations of the llvm dialect do when a program runs.
//!
//! Types have the sizes and alignments of x86-64 and AArch64: numbers their own, pointers 8, vectors rounded up to a
//! power of two.

use std::collections::HashMap;

use crate::llvm::{
    AddressOfOp, AllocaOp, CompressStoreOp, ExpandLoadOp, GEPOp, LifetimeEndOp, LifetimeStartOp, LoadOp,
    MaskedGatherOp, MaskedLoadOp, MaskedScatterOp, MaskedStoreOp, MemcpyInlineOp, MemcpyOp, MemmoveOp, MemsetInlineOp,
    MemsetOp, PrefetchOp, StackRestoreOp, StackSaveOp, StoreOp,
};

use sutura_interp::constant::static_shape;
use sutura_interp::num::{NumOp, Overflow};
use sutura_interp::{DType, Fault, FaultKind, Flow, Frame, InterpError, Interpret, MemRef, Scalar, Tensor, Value};
use sutura_ir::{Attr, Context, DialectBuilder, OpRef, Type, TypeData};

use super::interp::{Aggregate, fields, held, initial_value, next};
use super::memory::DYNAMIC_INDEX;
use super::types::{ArrayType, StructType};
use crate::vector::interp::vector;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<GEPOp<'_>, dyn Interpret>(&get_element_ptr)
        .op_interface::<LoadOp<'_>, dyn Interpret>(&load)
        .op_interface::<StoreOp<'_>, dyn Interpret>(&store)
        .op_interface::<AllocaOp<'_>, dyn Interpret>(&alloca)
        .op_interface::<AddressOfOp<'_>, dyn Interpret>(&address_of)
        .op_interface::<MaskedLoadOp<'_>, dyn Interpret>(&masked_load)
        .op_interface::<MaskedStoreOp<'_>, dyn Interpret>(&masked_store)
        .op_interface::<MaskedGatherOp<'_>, dyn Interpret>(&gather)
        .op_interface::<MaskedScatterOp<'_>, dyn Interpret>(&scatter)
        .op_interface::<ExpandLoadOp<'_>, dyn Interpret>(&expand_load)
        .op_interface::<CompressStoreOp<'_>, dyn Interpret>(&compress_store)
        .op_interface::<StackSaveOp<'_>, dyn Interpret>(&stack_save)
        .op_interface::<StackRestoreOp<'_>, dyn Interpret>(&nothing)
        .op_interface::<LifetimeStartOp<'_>, dyn Interpret>(&nothing)
        .op_interface::<LifetimeEndOp<'_>, dyn Interpret>(&nothing)
        .op_interface::<PrefetchOp<'_>, dyn Interpret>(&nothing)
        .op_interface::<MemcpyOp<'_>, dyn Interpret>(&memcpy)
        .op_interface::<MemmoveOp<'_>, dyn Interpret>(&memcpy)
        .op_interface::<MemcpyInlineOp<'_>, dyn Interpret>(&memcpy)
        .op_interface::<MemsetInlineOp<'_>, dyn Interpret>(&memset)
        .op_interface::<MemsetOp<'_>, dyn Interpret>(&memset);
}

/// Bytes that a value takes in memory, and its alignment.
#[derive(Clone, Copy)]
struct Extent {
    size: i64,
    align: i64,
}

fn too_large() -> Fault {
    Fault::new(FaultKind::Limit, "a type is too large for memory")
}

fn extent(cx: &Context, ty: Type) -> Result<Extent, Fault> {
    if let Some(array) = cx.type_as::<ArrayType>(ty) {
        let elem = extent(cx, array.elem)?;
        let len = i64::try_from(array.len).map_err(|_| too_large())?;
        return Ok(Extent { size: elem.size.checked_mul(len).ok_or_else(too_large)?, align: elem.align });
    }
    if cx.type_as::<StructType>(ty).is_some() {
        return Ok(field_offsets(cx, ty)?.1);
    }
    let count = match cx.type_data(ty) {
        TypeData::Vector { .. } => static_shape(cx, ty)?.iter().product::<usize>() as i64,
        _ => 1,
    };
    let size = (held(cx, ty)?.bytes() as i64).saturating_mul(count).max(1);
    let rounded = u64::try_from(size).ok().and_then(u64::checked_next_power_of_two).ok_or_else(too_large)?;
    Ok(Extent { size: rounded as i64, align: rounded as i64 })
}

/// The next multiple of `step` from `at` on; neither is negative.
fn round_up(at: i64, step: i64) -> Result<i64, Fault> {
    let rounded = at.unsigned_abs().checked_next_multiple_of(step.unsigned_abs());
    rounded.and_then(|n| i64::try_from(n).ok()).ok_or_else(too_large)
}

/// Offset of each field of a struct or array, and the whole.
fn field_offsets(cx: &Context, ty: Type) -> Result<(Vec<i64>, Extent), Fault> {
    let packed = cx.type_as::<StructType>(ty).is_some_and(|s| s.packed);
    let mut offsets = Vec::new();
    let (mut at, mut align) = (0i64, 1);
    for field in fields(cx, ty)?.unwrap_or_default() {
        let extent = extent(cx, field)?;
        let step = if packed { 1 } else { extent.align };
        at = round_up(at, step)?;
        offsets.push(at);
        at = at.checked_add(extent.size).ok_or_else(too_large)?;
        align = align.max(step);
    }
    let size = round_up(at, align)?;
    Ok((offsets, Extent { size, align }))
}

/// Addition of offsets to addresses wraps, as in LLVM; a wrong address is found when it is used.
fn get_element_ptr(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let cx = op.cx;
    let constants = op.prop("rawConstantIndices").and_then(|a| cx.as_ints(a)).unwrap_or_default();
    let elem = op.prop("elem_type").and_then(|a| cx.as_type(a));
    let mut ty = elem.ok_or_else(|| Fault::invalid_ir("has no 'elem_type'"))?;
    let mut address = frame.operand(0)?.clone();
    let mut dynamic = 1..op.num_operands();
    for (i, &constant) in constants.iter().enumerate() {
        let index = match (constant == i64::from(DYNAMIC_INDEX)).then(|| dynamic.next()) {
            None => Value::int(constant, 64),
            Some(Some(operand)) => widen(frame.operand(operand)?)?,
            Some(None) => return Err(Fault::invalid_ir("an index has no operand").into()),
        };
        let bytes = if i == 0 {
            scale(&index, extent(cx, ty)?.size)?
        } else if cx.type_as::<StructType>(ty).is_some() {
            let at = usize::try_from(index.as_int()?).map_err(|_| Fault::invalid_ir("a negative field"))?;
            let offset = field_offsets(cx, ty)?.0.get(at).copied();
            ty = *fields(cx, ty)?.unwrap_or_default().get(at).ok_or_else(|| Fault::invalid_ir("no such field"))?;
            Value::int(offset.unwrap_or(0), 64)
        } else {
            ty = match cx.type_as::<ArrayType>(ty) {
                Some(array) => array.elem,
                None => cx.element_type(ty),
            };
            scale(&index, extent(cx, ty)?.size)?
        };
        address = spread(NumOp::AddI(Overflow::WRAP), &address, &bytes)?;
    }
    next(frame, address)
}

/// Indices are signed and of any width.
fn widen(index: &Value) -> Result<Value, Fault> {
    sutura_interp::elementwise::apply(NumOp::IndexCast, &[index], Some(DType::I64))
}

fn scale(index: &Value, size: i64) -> Result<Value, Fault> {
    spread(NumOp::MulI(Overflow::WRAP), index, &Value::int(size, 64))
}

/// On scalars and vectors, a scalar standing for all elements.
fn spread(op: NumOp, a: &Value, b: &Value) -> Result<Value, Fault> {
    sutura_interp::elementwise::apply(op, &[a, b], None)
}

/// Checks that an address is a multiple of the op's `alignment`.
pub(super) fn check_alignment(op: OpRef<'_>, address: i64) -> Result<(), Fault> {
    match op.prop("alignment").and_then(|a| op.cx.as_int(a)) {
        Some(align) if align > 1 && address % align != 0 => {
            Err(Fault::new(FaultKind::Poison, format!("address {address:#x} is no multiple of {align}")))
        }
        _ => Ok(()),
    }
}

/// LLVM packs the bits of vectors of smaller elements, which memory here does not.
fn whole_bytes(dtype: DType) -> Result<(), Fault> {
    if dtype.bits().is_multiple_of(8) {
        return Ok(());
    }
    Err(Fault::unsupported(format!("a vector of {dtype}, which are no whole bytes, in memory")))
}

/// What memory at an address holds, read as a type.
pub(super) fn read(frame: &mut Frame<'_>, ty: Type, address: i64) -> Result<Value, Fault> {
    let cx = frame.cx();
    if let Some(types) = fields(cx, ty)? {
        let mut parts = Vec::new();
        for (field, offset) in types.into_iter().zip(field_offsets(cx, ty)?.0) {
            parts.push(match read(frame, field, address.wrapping_add(offset)) {
                Err(fault) if fault.kind == FaultKind::Uninitialised => None,
                value => Some(value?),
            });
        }
        return Ok(Value::opaque(Aggregate(parts)));
    }
    let dtype = held(cx, ty)?;
    if let TypeData::Vector { .. } = cx.type_data(ty) {
        let shape = static_shape(cx, ty)?;
        whole_bytes(dtype)?;
        let memref = frame.memory().at_address(address, dtype, shape.iter().product())?;
        return frame.memory().read(&memref)?.reshape(&shape).map(Value::Vector);
    }
    let memref = frame.memory().at_address(address, dtype, 1)?;
    frame.memory().load(&memref, &[0]).map(Value::Scalar)
}

pub(super) fn write(frame: &mut Frame<'_>, ty: Type, address: i64, value: &Value) -> Result<(), Fault> {
    let cx = frame.cx();
    if let Some(types) = fields(cx, ty)? {
        let parts = &value.as_opaque::<Aggregate>()?.0;
        for ((field, offset), part) in types.into_iter().zip(field_offsets(cx, ty)?.0).zip(parts) {
            if let Some(part) = part {
                write(frame, field, address.wrapping_add(offset), part)?;
            }
        }
        return Ok(());
    }
    match value {
        Value::Scalar(scalar) => {
            let memref = frame.memory().at_address(address, scalar.dtype(), 1)?;
            frame.memory().store(&memref, &[0], Some(*scalar))
        }
        other => {
            let vector = other.vector()?;
            whole_bytes(vector.dtype())?;
            let memref = frame.memory().at_address(address, vector.dtype(), vector.len())?;
            frame.memory().write(&memref, &vector.reshape(&[vector.len()])?)
        }
    }
}

fn load(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let address = frame.int(0)?;
    check_alignment(op, address)?;
    let value = read(frame, frame.result_type(0)?, address)?;
    next(frame, value)
}

fn store(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (value, address) = (frame.operand(0)?.clone(), frame.int(1)?);
    check_alignment(op, address)?;
    write(frame, op.ty(op.operand(0)), address, &value)?;
    Ok(Flow::Next)
}

/// Element type and number of elements in which memory for a type is best held: bytes where it is mixed.
fn elements(cx: &Context, ty: Type) -> Result<(DType, usize), Fault> {
    let (mut ty, mut count) = (ty, 1usize);
    while let Some(array) = cx.type_as::<ArrayType>(ty) {
        let len = usize::try_from(array.len).map_err(|_| too_large())?;
        count = count.checked_mul(len).ok_or_else(too_large)?;
        ty = array.elem;
    }
    let size = usize::try_from(extent(cx, ty)?.size).map_err(|_| too_large())?;
    let dtype = if cx.type_as::<StructType>(ty).is_some() { DType::I8 } else { held(cx, ty)? };
    let each = size.div_ceil(dtype.bytes());
    Ok((dtype, count.checked_mul(each).ok_or_else(too_large)?))
}

fn alloca(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let ty = op.prop("elem_type").and_then(|a| op.cx.as_type(a));
    let (dtype, each) = elements(op.cx, ty.ok_or_else(|| Fault::invalid_ir("has no 'elem_type'"))?)?;
    let count = crate::interp::size(frame.int(0)?)?;
    let memref = frame.alloc_on_stack(dtype, &[count.checked_mul(each).ok_or_else(too_large)?], None)?;
    let address = frame.memory().address(&memref)?;
    next(frame, Value::int(address, 64))
}

/// Addresses of variables, whose memory is made at first use.
#[derive(Default)]
struct Globals(HashMap<Attr, i64>);

fn address_of(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let name = op.prop("global_name").ok_or_else(|| Fault::invalid_ir("has no 'global_name'"))?;
    if let Some(&address) = frame.extension::<Globals>().0.get(&name) {
        return next(frame, Value::int(address, 64));
    }
    let global = frame.lookup(name)?;
    let ty = global.prop("global_type").and_then(|a| op.cx.as_type(a));
    let ty = ty.ok_or_else(|| Fault::unsupported("takes the address of what is no variable"))?;
    let (dtype, count) = elements(op.cx, ty)?;
    let memref = frame.memory().alloc(dtype, &[count], None)?;
    initialise(op.cx, global, frame, &memref)?;
    let address = frame.memory().address(&memref)?;
    frame.extension::<Globals>().0.insert(name, address);
    next(frame, Value::int(address, 64))
}

fn initialise(cx: &Context, global: OpRef<'_>, frame: &mut Frame<'_>, memref: &MemRef) -> Result<(), Fault> {
    let Some(attr) = global.prop("value") else {
        let has_region = global.region(0).is_some_and(|r| !r.is_empty());
        let what = if has_region { "is computed by a region" } else { "is defined elsewhere" };
        return Err(Fault::unsupported(format!("the variable @{} {what}", global.symbol_name().unwrap_or_default())));
    };
    let flat = |tensor: &Tensor| tensor.reshape(&[tensor.len()]);
    if let Some(text) = cx.as_str(attr) {
        let text = sutura_ir::asm::bytes_of_text(text);
        let bytes = text.iter().map(|b| Scalar::int((*b).into(), DType::I8));
        let bytes = Tensor::from_scalars(DType::I8, &[text.len()], bytes)?;
        return frame.memory().write(memref, &bytes);
    }
    match initial_value(cx, attr)? {
        Value::Scalar(scalar) => frame.memory().store(memref, &[0], Some(scalar)),
        Value::Tensor(t) | Value::Vector(t) => frame.memory().write(memref, &flat(&t)?),
        other => Err(Fault::unsupported(format!("a variable that is initialised with {}", other.describe()))),
    }
}

// ---- masked access

fn is_set(mask: &Tensor, lane: usize) -> Result<bool, Fault> {
    Ok(mask.data().read(lane)?.as_bool() == Some(true))
}

/// Address of each lane: neighbours from one pointer, or the elements of a vector of pointers.
fn lanes(pointer: &Value, elem: DType, count: usize) -> Result<Vec<i64>, Fault> {
    let number = |s: Scalar| s.as_i64().ok_or_else(|| Fault::type_mismatch("a pointer is no integer"));
    match pointer {
        Value::Scalar(s) => {
            let first = number(*s)?;
            Ok((0..count).map(|i| first.wrapping_add((i * elem.bytes()) as i64)).collect())
        }
        other => {
            let pointers = other.vector()?;
            if pointers.len() != count {
                return Err(Fault::shape(format!("{} pointers for {count} lanes", pointers.len())));
            }
            (0..count).map(|i| pointers.data().read(i).and_then(number)).collect()
        }
    }
}

/// Lanes that the mask lets are read, the others are those of `pass_thru`.
fn read_lanes(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let mask = vector(frame, 1)?;
    let dtype = held(op.cx, frame.result_type(0)?)?;
    whole_bytes(dtype)?;
    let mut result = match op.num_operands() {
        2 => Tensor::undefined(dtype, mask.shape())?,
        _ => vector(frame, 2)?,
    };
    for (lane, address) in lanes(frame.operand(0)?, dtype, result.len())?.into_iter().enumerate() {
        if is_set(&mask, lane)? {
            check_alignment(op, address)?;
            let memref = frame.memory().at_address(address, dtype, 1)?;
            let value = frame.memory().get(&memref, &[0])?;
            result.data_mut().set(lane, value);
        }
    }
    next(frame, Value::Vector(result))
}

fn write_lanes(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (stored, mask) = (vector(frame, 0)?, vector(frame, 2)?);
    whole_bytes(stored.dtype())?;
    for (lane, address) in lanes(frame.operand(1)?, stored.dtype(), stored.len())?.into_iter().enumerate() {
        if is_set(&mask, lane)? {
            check_alignment(op, address)?;
            let memref = frame.memory().at_address(address, stored.dtype(), 1)?;
            frame.memory().store(&memref, &[0], stored.data().get(lane))?;
        }
    }
    Ok(Flow::Next)
}

fn masked_load(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    read_lanes(op, frame)
}

fn masked_store(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    write_lanes(op, frame)
}

fn gather(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    read_lanes(op, frame)
}

fn scatter(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    write_lanes(op, frame)
}

/// The lanes that the mask names get consecutive elements.
fn expand_load(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (mut address, mask, mut result) = (frame.int(0)?, vector(frame, 1)?, vector(frame, 2)?);
    let dtype = held(op.cx, frame.result_type(0)?)?;
    whole_bytes(dtype)?;
    for lane in 0..result.len() {
        if is_set(&mask, lane)? {
            let memref = frame.memory().at_address(address, dtype, 1)?;
            let value = frame.memory().get(&memref, &[0])?;
            result.data_mut().set(lane, value);
            address = address.wrapping_add(dtype.bytes() as i64);
        }
    }
    next(frame, Value::Vector(result))
}

fn compress_store(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (stored, mut address, mask) = (vector(frame, 0)?, frame.int(1)?, vector(frame, 2)?);
    whole_bytes(stored.dtype())?;
    for lane in 0..stored.len() {
        if is_set(&mask, lane)? {
            let memref = frame.memory().at_address(address, stored.dtype(), 1)?;
            frame.memory().store(&memref, &[0], stored.data().get(lane))?;
            address = address.wrapping_add(stored.dtype().bytes() as i64);
        }
    }
    Ok(Flow::Next)
}

/// The stack has no end that could be told: its memory lives until the function returns.
fn stack_save(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    next(frame, Value::int(0, 64))
}

pub(super) fn nothing(_: OpRef<'_>, _: &mut Frame<'_>) -> Result<Flow, InterpError> {
    Ok(Flow::Next)
}

/// Number of bytes, an operand or an attribute.
fn length(op: OpRef<'_>, frame: &Frame<'_>) -> Result<usize, Fault> {
    match op.prop("len").and_then(|a| op.cx.as_int(a)) {
        Some(len) => crate::interp::size(len),
        None => crate::interp::size(frame.int(2)?),
    }
}

/// Copies bytes, in elements of the source's memory where it is read from their start.
fn memcpy(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (to, from) = (frame.int(0)?, frame.int(1)?);
    let bytes = length(op, frame)?;
    if bytes == 0 {
        return Ok(Flow::Next);
    }
    let start = frame.memory().at_address(from, DType::I8, 1)?;
    let dtype = frame.memory().buffer(&start)?.dtype();
    let whole = bytes.is_multiple_of(dtype.bytes()) && from % dtype.bytes() as i64 == 0;
    let (dtype, count) = if whole { (dtype, bytes / dtype.bytes()) } else { (DType::I8, bytes) };
    let source = frame.memory().at_address(from, dtype, count)?;
    let value = frame.memory().read(&source)?;
    let target = frame.memory().at_address(to, dtype, count)?;
    frame.memory().write(&target, &value)?;
    Ok(Flow::Next)
}

/// Sets bytes one by one.
fn memset(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (to, byte) = (frame.int(0)?, frame.operand(1)?.scalar()?);
    let bytes = length(op, frame)?;
    if bytes == 0 {
        return Ok(Flow::Next);
    }
    let target = frame.memory().at_address(to, DType::I8, bytes)?;
    let value = Tensor::splat(byte, &[bytes])?.reshape(&[bytes])?;
    frame.memory().write(&target, &value)?;
    Ok(Flow::Next)
}
