//! What memref ops do when a program runs.

use std::collections::HashMap;

use crate::memref::{
    AllocOp, AllocaOp, AssumeAlignmentOp, CastOp, CollapseShapeOp, CopyOp, DeallocOp, DimOp, DistinctObjectsOp,
    ExpandShapeOp, ExtractAlignedPointerAsIndexOp, GetGlobalOp, LoadOp, MemorySpaceCastOp, RankOp, StoreOp, ViewOp,
};

use sutura_interp::{
    DType, Fault, FaultKind, Flow, Frame, InterpError, Interpret, Layout, MemRef, Shape, Tensor, Value,
};
use sutura_ir::op_def::OpView;
use sutura_ir::{Attr, AttrData, Context, DYNAMIC, DialectBuilder, OpRef, Type, TypeData};

use super::{ReinterpretCastOp, SubViewOp, TransposeOp, strided_layout};
use crate::interp::{check_groups, dimension, group, numbers, reassociation, shape, size, window};
use crate::slices::mixed;

/// Attaches the hooks. `memref.global` has none: `memref.get_global` reads it.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<AllocOp<'_>, dyn Interpret>(&alloc)
        .op_interface::<AllocaOp<'_>, dyn Interpret>(&alloca)
        .op_interface::<DeallocOp<'_>, dyn Interpret>(&dealloc)
        .op_interface::<LoadOp<'_>, dyn Interpret>(&load)
        .op_interface::<StoreOp<'_>, dyn Interpret>(&store)
        .op_interface::<DimOp<'_>, dyn Interpret>(&dim)
        .op_interface::<RankOp<'_>, dyn Interpret>(&rank)
        .op_interface::<CastOp<'_>, dyn Interpret>(&cast)
        .op_interface::<SubViewOp<'_>, dyn Interpret>(&subview)
        .op_interface::<ReinterpretCastOp<'_>, dyn Interpret>(&reinterpret_cast)
        .op_interface::<ViewOp<'_>, dyn Interpret>(&view)
        .op_interface::<CopyOp<'_>, dyn Interpret>(&copy)
        .op_interface::<ExpandShapeOp<'_>, dyn Interpret>(&expand_shape)
        .op_interface::<CollapseShapeOp<'_>, dyn Interpret>(&collapse_shape)
        .op_interface::<TransposeOp<'_>, dyn Interpret>(&transpose)
        .op_interface::<AssumeAlignmentOp<'_>, dyn Interpret>(&same_memory)
        .op_interface::<MemorySpaceCastOp<'_>, dyn Interpret>(&same_memory)
        .op_interface::<DistinctObjectsOp<'_>, dyn Interpret>(&distinct_objects)
        .op_interface::<GetGlobalOp<'_>, dyn Interpret>(&get_global)
        .op_interface::<ExtractAlignedPointerAsIndexOp<'_>, dyn Interpret>(&aligned_pointer);
}

fn next(frame: &mut Frame<'_>, result: impl Into<Value>) -> Result<Flow, InterpError> {
    frame.set(0, result)?;
    Ok(Flow::Next)
}

fn memory_space(cx: &Context, ty: Type) -> Option<Attr> {
    match cx.type_data(ty) {
        TypeData::MemRef { space, .. } => space,
        _ => None,
    }
}

/// Allocates for a memref type whose dynamic sizes are the operands of group 0.
fn allocate(
    op: OpRef<'_>,
    frame: &mut Frame<'_>,
    alloc: impl FnOnce(&mut Frame<'_>, DType, &[usize], Option<Attr>) -> Result<MemRef, Fault>,
) -> Result<Flow, InterpError> {
    let (cx, ty) = (op.cx, frame.result_type(0)?);
    let shape = shape(frame, ty, group(op, 0)?)?;
    let dtype = DType::expect(cx, cx.element_type(ty))?;
    let layout = layout_of(cx, ty, &shape)?;
    let memref = alloc(frame, dtype, &[extent(&layout)?], memory_space(cx, ty))?;
    next(frame, memref.with_layout(layout))
}

/// The layout that a type gives a value of this shape.
fn layout_of(cx: &Context, ty: Type, shape: &[usize]) -> Result<Layout, Fault> {
    if matches!(cx.type_data(ty), TypeData::MemRef { layout: None, .. }) {
        return Ok(Layout::row_major(shape));
    }
    let layout = strided_layout(cx, ty).filter(|l| l.offset != DYNAMIC && !l.strides.contains(&DYNAMIC));
    let layout = layout.ok_or_else(|| Fault::unsupported("allocates with a layout that is not static strides"))?;
    Ok(Layout { offset: layout.offset, sizes: shape.into(), strides: layout.strides.into() })
}

/// Elements that memory of this layout needs.
fn extent(layout: &Layout) -> Result<usize, Fault> {
    let too_large = || Fault::new(FaultKind::Limit, "the layout needs more memory than there is");
    if layout.num_elements()? == 0 {
        return Ok(0);
    }
    let mut last = layout.offset;
    for (&size, &stride) in layout.sizes.iter().zip(&layout.strides) {
        if stride < 0 {
            return Err(Fault::unsupported("allocates with a negative stride"));
        }
        let reach = stride.checked_mul(size as i64 - 1).ok_or_else(too_large)?;
        last = last.checked_add(reach).ok_or_else(too_large)?;
    }
    usize::try_from(last).map(|last| last + 1).map_err(|_| too_large())
}

fn alloc(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    allocate(op, frame, |frame, dtype, shape, space| frame.memory().alloc(dtype, shape, space))
}

fn alloca(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    allocate(op, frame, |frame, dtype, shape, space| frame.alloc_on_stack(dtype, shape, space))
}

fn dealloc(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let memref = frame.memref(0)?;
    frame.memory().free(&memref)?;
    Ok(Flow::Next)
}

fn load(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (memref, index) = (frame.memref(0)?, frame.ints(1..op.num_operands())?);
    let value = frame.memory().load(&memref, &index)?;
    next(frame, value)
}

fn store(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (value, memref) = (frame.operand(0)?.scalar()?, frame.memref(1)?);
    let index = frame.ints(2..op.num_operands())?;
    frame.memory().store(&memref, &index, Some(value))?;
    Ok(Flow::Next)
}

fn dim(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let size = dimension(frame.memref(0)?.sizes(), frame.int(1)?)?;
    next(frame, Value::index(size))
}

fn rank(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let rank = frame.memref(0)?.layout.rank();
    next(frame, Value::index(rank as i64))
}

/// Setting the result checks sizes; strides that the result's type states are checked here.
fn cast(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let memref = frame.memref(0)?;
    if let Some(stated) = strided_layout(op.cx, frame.result_type(0)?) {
        for (dim, (&stride, &want)) in memref.layout.strides.iter().zip(&stated.strides).enumerate() {
            if want != DYNAMIC && stride != want && memref.sizes()[dim] > 1 {
                let message = format!("dimension {dim} has stride {stride} where the type says {want}");
                return Err(Fault::shape(message).into());
            }
        }
    }
    next(frame, Value::MemRef(memref))
}

/// The operand's memory. Addresses are as aligned as a program wants them.
fn same_memory(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let memref = frame.operand(0)?.clone();
    next(frame, memref)
}

fn transpose(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let memref = frame.memref(0)?;
    let map = TransposeOp::from_ref(op).permutation();
    let order = TransposeOp::order(op.cx, map, memref.sizes().len());
    let order = order.ok_or_else(|| Fault::shape("the map is no permutation of the memref's dimensions"))?;
    let layout = Layout {
        offset: memref.layout.offset,
        sizes: order.iter().map(|i| memref.layout.sizes[*i]).collect(),
        strides: order.iter().map(|i| memref.layout.strides[*i]).collect(),
    };
    next(frame, memref.with_layout(layout))
}

fn subview(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let memref = frame.memref(0)?;
    let window = window(frame, &memref.layout, &SubViewOp::from_ref(op).slice())?;
    let dims = op.cx.shape(frame.result_type(0)?).unwrap_or_default();
    next(frame, memref.with_layout(window.drop_unit_dims(dims)?))
}

fn reinterpret_cast(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let memref = frame.memref(0)?;
    let slice = ReinterpretCastOp::from_ref(op).slice();
    let offset = numbers(frame, &slice.offsets)?.first().copied().unwrap_or(0);
    let sizes = numbers(frame, &slice.sizes)?.into_iter().map(size).collect::<Result<Shape, _>>()?;
    let strides = numbers(frame, &slice.strides)?;
    next(frame, memref.with_layout(Layout { offset, sizes, strides }))
}

/// Bytes read as elements of another type.
fn view(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (source, shift) = (frame.memref(0)?, frame.int(1)?);
    let (cx, ty) = (op.cx, frame.result_type(0)?);
    let shape = shape(frame, ty, 2..op.num_operands())?;
    let dtype = DType::expect(cx, cx.element_type(ty))?;
    let layout = Layout::row_major(&shape);
    let (available, bytes) = (source.layout.num_elements()?, layout.num_elements()?.saturating_mul(dtype.bytes()));
    let fits = usize::try_from(shift).is_ok_and(|s| s.checked_add(bytes).is_some_and(|end| end <= available));
    if !fits {
        let message = format!("{bytes} bytes from byte {shift} on lie outside a buffer of {available}");
        return Err(Fault::new(FaultKind::OutOfBounds, message).into());
    }
    let base = source.base + source.layout.offset + shift;
    next(frame, MemRef { buffer: source.buffer, dtype, base, layout })
}

fn copy(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (source, target) = (frame.memref(0)?, frame.memref(1)?);
    let value = frame.memory().read(&source)?;
    frame.memory().write(&target, &value)?;
    Ok(Flow::Next)
}

fn expand_shape(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let sizes = numbers(frame, &mixed(op, 1, "static_output_shape"))?;
    let sizes: Shape = sizes.into_iter().map(size).collect::<Result<_, _>>()?;
    let source = frame.memref(0)?;
    let groups = reassociation(op)?;
    check_groups(&groups, &sizes, source.sizes())?;
    let mut layout = Layout { offset: source.layout.offset, strides: sizes.iter().map(|_| 1).collect(), sizes };
    for (group, &stride) in groups.iter().zip(&source.layout.strides) {
        let mut stride = stride;
        for &dim in group.iter().rev() {
            layout.strides[dim as usize] = stride;
            stride = stride.wrapping_mul(layout.sizes[dim as usize] as i64);
        }
    }
    next(frame, source.with_layout(layout))
}

fn collapse_shape(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let source = frame.memref(0)?;
    let of = &source.layout;
    let mut layout = Layout { offset: of.offset, sizes: Shape::new(), strides: Default::default() };
    for group in reassociation(op)? {
        // Dimensions of size 1 are stepped along by nobody.
        let dims: Vec<usize> = group.iter().map(|&d| d as usize).filter(|&d| of.sizes[d] != 1).collect();
        let gap = dims.windows(2).any(|w| of.strides[w[0]] != of.strides[w[1]].wrapping_mul(of.sizes[w[1]] as i64));
        let sizes: Shape = dims.iter().map(|&d| of.sizes[d]).collect();
        let count = sutura_interp::tensor::num_elements(&sizes)?;
        if gap && count > 0 {
            return Err(Fault::shape("collapses dimensions that are not adjacent in memory").into());
        }
        layout.sizes.push(count);
        layout.strides.push(dims.last().map_or(1, |&d| of.strides[d]));
    }
    next(frame, source.with_layout(layout))
}

/// The same memrefs, which must lie in memory of their own.
fn distinct_objects(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let memrefs: Vec<_> = (0..op.num_operands()).map(|i| frame.memref(i)).collect::<Result<_, _>>()?;
    for (i, memref) in memrefs.iter().enumerate() {
        if memrefs[..i].iter().any(|other| other.may_overlap(memref)) {
            return Err(Fault::new(FaultKind::Poison, "two of the memrefs share memory").into());
        }
    }
    for (i, memref) in memrefs.into_iter().enumerate() {
        frame.set(i, Value::MemRef(memref))?;
    }
    Ok(Flow::Next)
}

/// Memory of globals, made at first use.
#[derive(Default)]
struct Globals(HashMap<Attr, MemRef>);

fn get_global(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let name = op.prop("name").ok_or_else(|| Fault::invalid_ir("has no 'name'"))?;
    if let Some(memref) = frame.extension::<Globals>().0.get(&name).cloned() {
        return next(frame, memref);
    }
    let global = frame.lookup(name)?;
    let (cx, ty) = (op.cx, frame.result_type(0)?);
    let value = global.prop("initial_value").ok_or_else(|| {
        let text = global.symbol_name().unwrap_or_default();
        Fault::new(FaultKind::Call, format!("the global @{text} is defined elsewhere"))
    })?;
    let tensor = match cx.attr_data(value) {
        AttrData::Unit => {
            let shape = sutura_interp::constant::static_shape(cx, ty)?;
            Tensor::undefined(DType::expect(cx, cx.element_type(ty))?, &shape)?
        }
        _ => frame.constant(value)?.tensor()?.clone(),
    };
    let memref = frame.memory().alloc_from(&tensor, memory_space(cx, ty))?;
    frame.extension::<Globals>().0.insert(name, memref.clone());
    next(frame, memref)
}

fn aligned_pointer(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let memref = frame.memref(0)?;
    // The aligned pointer is where offsets count from.
    let start = memref.with_layout(Layout::row_major(&[]));
    let address = frame.memory().address(&start)?;
    next(frame, Value::index(address))
}
