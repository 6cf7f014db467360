//! What the interpreter does as the lowered host does it: kernels that are functions of pointers, and temporaries that
//! share a workspace.

use std::collections::HashMap;
use std::sync::Arc;

use sutura_interp::{DType, Fault, FaultKind, Frame, InterpError, Layout, MemRef, Scalar, Tensor, Value, Values};
use sutura_ir::{Attr, Op, OpRef, OpView};

use super::decide::{Phases, planned_bytes};
use super::kernel::{KERNEL_ATTR, KernelSignature, Launchable};
use super::ops::AllocOp;
use super::program::ProgramInfo;
use super::types::{ALIGNMENT, BufferType};
use crate::r#dyn::poly::Poly;
use crate::llvm::types::is_pointer;

/// The signature of a kernel that has become `k(buffers, dims, begin, end)`.
pub(super) fn lowered_signature(callee: OpRef<'_>) -> Result<Option<KernelSignature>, Fault> {
    let entry = callee.region(0).and_then(|r| r.entry());
    let pointers = callee.name_str() == "func.func"
        && entry.is_some_and(|entry| {
            let args = entry.args();
            args.len() == 4 && args[..2].iter().all(|v| is_pointer(callee.cx, entry.body.ty(*v)))
        });
    if !pointers || callee.attr(KERNEL_ATTR).is_none() {
        return Ok(None);
    }
    let launchable = callee.interface::<dyn Launchable>();
    launchable.map(|kernel| kernel.signature(callee)).transpose().map_err(Fault::invalid_ir)
}

/// Calls such a kernel on all groups. Groups are independent, so a part of them runs before those with lower numbers.
pub(super) fn call(
    callee: Attr,
    signature: &KernelSignature,
    buffers: &[Arc<MemRef>],
    dims: &[i64],
    frame: &mut Frame<'_>,
) -> Result<(), InterpError> {
    let value_of = |name: &str| signature.dims.iter().position(|(n, _)| n == name).and_then(|i| dims.get(i)).copied();
    let eval = |poly: &Poly| {
        poly.eval(&value_of)
            .ok_or_else(|| Fault::new(FaultKind::Limit, format!("the size {poly} does not fit 64 bits")))
    };
    for condition in &signature.requires {
        if eval(condition)? < 0 {
            let message = format!("the kernel relies on {condition} being at least 0");
            return Err(Fault::new(FaultKind::Assertion, message).into());
        }
    }
    let groups = eval(&Poly::product(&signature.grid))?;
    let mut addresses = buffers.iter().map(|b| frame.memory().address(b)).collect::<Result<Vec<i64>, _>>()?;
    if !signature.checks.is_empty() {
        // There is no runtime to report to: the kernel fails when it tries to.
        addresses.extend([0, 0]);
    }
    let (pointers, sizes) = (numbers(&addresses, frame)?, numbers(dims, frame)?);
    let (first, second) = (frame.memory().address(&pointers)?, frame.memory().address(&sizes)?);
    let middle = groups / 2;
    for (begin, end) in [(middle, groups), (0, middle)] {
        if begin < end {
            let args = [first, second, begin, end].map(|v| Value::int(v, 64));
            frame.call_ref(callee, Values::from_iter(args))?;
        }
    }
    frame.memory().free(&pointers)?;
    frame.memory().free(&sizes)?;
    Ok(())
}

fn numbers(values: &[i64], frame: &mut Frame<'_>) -> Result<MemRef, Fault> {
    let scalars = values.iter().map(|v| Scalar::int(*v, DType::I64));
    frame.memory().alloc_from(&Tensor::from_scalars(DType::I64, &[values.len()], scalars)?, None)
}

/// The temporaries of a planned program, each where its `after` puts it in memory that all of them share.
pub(super) fn place(
    program: &ProgramInfo<'_>,
    phases: &Phases,
    value_of: &dyn Fn(&str) -> Option<i64>,
    frame: &mut Frame<'_>,
) -> Result<HashMap<Op, MemRef>, Fault> {
    let cx = program.op.cx;
    let mut places: HashMap<Op, (usize, usize, &BufferType)> = HashMap::new();
    for alloc in program.block.ops().filter_map(|op| op.as_::<AllocOp<'_>>()) {
        let ty = BufferType::of(cx, program.block.body.ty(alloc.buffer()));
        let ty = ty.ok_or_else(|| Fault::invalid_ir("a temporary is no buffer"))?;
        let bytes = planned_bytes(cx, ty, phases).map_err(Fault::unsupported)?;
        let bytes = bytes.eval(value_of).and_then(|b| usize::try_from(b).ok());
        let bytes = bytes.ok_or_else(|| Fault::new(FaultKind::Limit, "a temporary has no sensible size"))?;
        let makers = alloc.after().filter_map(|v| program.block.body.defining_op(v));
        let start = makers.filter_map(|op| places.get(&op)).map(|(_, end, _)| *end).max().unwrap_or(0);
        let size = bytes.checked_next_multiple_of(ALIGNMENT as usize);
        let end = start.saturating_add(size.unwrap_or(usize::MAX));
        places.insert(alloc.op_ref().op, (start, end, ty));
    }
    let bytes = places.values().map(|(_, end, _)| *end).max().unwrap_or(0);
    let workspace = frame.memory().alloc(DType::I8, &[bytes], None)?;
    let mut placed = HashMap::new();
    for (op, (start, _, ty)) in places {
        let most = |d: &Poly| phases.most(d).ok()?.eval(value_of).and_then(|d| usize::try_from(d).ok());
        let shape: Option<Vec<usize>> = ty.dims.iter().map(most).collect();
        let shape = shape.ok_or_else(|| Fault::shape("a temporary has a negative size"))?;
        let dtype = DType::expect(cx, ty.elem)?;
        let layout = Layout::row_major(&shape);
        placed.insert(op, MemRef { buffer: workspace.buffer, dtype, base: start as i64, layout });
    }
    Ok(placed)
}
