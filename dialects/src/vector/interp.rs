//! What vector ops do when a program runs, but for those that access memory.

use sutura_interp::constant::static_shape;
use sutura_interp::elementwise::{apply, attach};
use sutura_interp::num::{Kernel, Overflow};
use sutura_interp::{
    Buffer, DType, Elementwise, Fault, FaultKind, Flow, Frame, InterpError, Interpret, Layout, NumOp, Scalar, Shape,
    Tensor, Value,
};
use sutura_ir::op_def::{AttrConstraintDef, OpView};
use sutura_ir::{DialectBuilder, OpRef};

use super::attrs::CombiningKind;
use super::{ExtractOp, InsertOp};
use crate::interp::numbers;
use crate::vector::{
    BitCastOp, BroadcastOp, ConstantMaskOp, CreateMaskOp, DeinterleaveOp, ExtractStridedSliceOp, FMAOp, FromElementsOp,
    InsertStridedSliceOp, InterleaveOp, OuterProductOp, ReductionOp, ShapeCastOp, ShuffleOp, StepOp, ToElementsOp,
    TransposeOp,
};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    attach::<FMAOp<'_>, _>(d, &Elementwise(|_| Ok(NumOp::Fma)));
    d.op_interface::<BroadcastOp<'_>, dyn Interpret>(&broadcast)
        .op_interface::<ShapeCastOp<'_>, dyn Interpret>(&shape_cast)
        .op_interface::<BitCastOp<'_>, dyn Interpret>(&bitcast)
        .op_interface::<TransposeOp<'_>, dyn Interpret>(&transpose)
        .op_interface::<ShuffleOp<'_>, dyn Interpret>(&shuffle)
        .op_interface::<ExtractOp<'_>, dyn Interpret>(&extract)
        .op_interface::<InsertOp<'_>, dyn Interpret>(&insert)
        .op_interface::<FromElementsOp<'_>, dyn Interpret>(&from_elements)
        .op_interface::<ToElementsOp<'_>, dyn Interpret>(&to_elements)
        .op_interface::<InterleaveOp<'_>, dyn Interpret>(&interleave)
        .op_interface::<DeinterleaveOp<'_>, dyn Interpret>(&deinterleave)
        .op_interface::<ExtractStridedSliceOp<'_>, dyn Interpret>(&extract_strided_slice)
        .op_interface::<InsertStridedSliceOp<'_>, dyn Interpret>(&insert_strided_slice)
        .op_interface::<StepOp<'_>, dyn Interpret>(&step)
        .op_interface::<CreateMaskOp<'_>, dyn Interpret>(&create_mask)
        .op_interface::<ConstantMaskOp<'_>, dyn Interpret>(&constant_mask)
        .op_interface::<ReductionOp<'_>, dyn Interpret>(&reduction)
        .op_interface::<OuterProductOp<'_>, dyn Interpret>(&outer_product);
}

/// Sets result 0 to a vector, or to its only element where the result is no vector.
pub(crate) fn next(frame: &mut Frame<'_>, vector: Tensor) -> Result<Flow, InterpError> {
    let is_vector = frame.cx().shape(frame.result_type(0)?).is_some();
    let value = if is_vector { Value::Vector(vector) } else { Value::Scalar(vector.data().read(0)?) };
    frame.set(0, value)?;
    Ok(Flow::Next)
}

/// Shape of result 0; empty for an element.
pub(crate) fn result_shape(frame: &Frame<'_>) -> Result<Shape, Fault> {
    let ty = frame.result_type(0)?;
    if frame.cx().shape(ty).is_none() { Ok(Shape::new()) } else { static_shape(frame.cx(), ty) }
}

/// A vector operand, or a scalar as a vector of rank 0.
pub(crate) fn vector(frame: &Frame<'_>, index: usize) -> Result<Tensor, Fault> {
    match frame.operand(index)? {
        Value::Scalar(s) => Tensor::splat(*s, &[]),
        other => other.vector().cloned(),
    }
}

fn broadcast(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (source, sizes) = (vector(frame, 0)?, result_shape(frame)?);
    let Some(extra) = sizes.len().checked_sub(source.rank()) else {
        return Err(Fault::shape("broadcasts to a lower rank").into());
    };
    let mut layout = Layout { offset: 0, strides: sizes.iter().map(|_| 0).collect(), sizes };
    for (i, (&size, &stride)) in source.shape().iter().zip(&source.layout().strides).enumerate() {
        if size == layout.sizes[extra + i] {
            layout.strides[extra + i] = stride;
        } else if size != 1 {
            return Err(Fault::shape(format!("dimension {i} of size {size} cannot be stretched")).into());
        }
    }
    let result = source.window(&layout)?;
    next(frame, result)
}

fn shape_cast(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let result = vector(frame, 0)?.reshape(&result_shape(frame)?)?;
    next(frame, result)
}

fn bitcast(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let to = DType::expect(op.cx, op.cx.element_type(frame.result_type(0)?))?;
    let result = regroup(&vector(frame, 0)?, to, &result_shape(frame)?)?;
    next(frame, result)
}

/// The bits of a vector read as elements of another type.
pub(crate) fn regroup(source: &Tensor, to: DType, shape: &[usize]) -> Result<Tensor, Fault> {
    if source.dtype().bits() == to.bits() {
        let value = apply(NumOp::Bitcast, &[&Value::Vector(source.clone())], Some(to))?;
        return value.vector()?.reshape(shape);
    }
    if !source.dtype().bits().is_multiple_of(8) || !to.bits().is_multiple_of(8) {
        return Err(Fault::unsupported("regroups elements that are no whole bytes"));
    }
    let bytes = source.data().to_le_bytes();
    let bytes = bytes.ok_or_else(|| Fault::new(FaultKind::Uninitialised, "regroups elements that are undefined"))?;
    Tensor::new(shape, Buffer::from_le_bytes(to, &bytes)?)
}

fn list(op: OpRef<'_>, name: &str) -> Result<Vec<i64>, Fault> {
    op.prop(name).and_then(|a| op.cx.as_ints(a)).ok_or_else(|| Fault::invalid_ir(format!("has no list '{name}'")))
}

fn transpose(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let result = vector(frame, 0)?.transpose(&list(op, "permutation")?)?;
    next(frame, result)
}

/// Picks slices along the first dimension of two vectors after each other; -1 picks something undefined.
pub(crate) fn shuffle(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (first, second, sizes) = (vector(frame, 0)?, vector(frame, 1)?, result_shape(frame)?);
    let count = first.shape().first().copied().unwrap_or(1);
    let row = first.len().checked_div(count).unwrap_or(0);
    let mut result = Tensor::undefined(first.dtype(), &sizes)?;
    for (at, &pick) in list(op, "mask")?.iter().enumerate() {
        let Ok(pick) = usize::try_from(pick) else { continue };
        let (source, from) = if pick < count { (&first, pick) } else { (&second, pick - count) };
        if (from + 1) * row > source.len() || (at + 1) * row > result.len() {
            return Err(Fault::new(FaultKind::OutOfBounds, format!("picks slice {pick} of too few")).into());
        }
        result.data_mut().copy_range(at * row, source.data(), from * row, row);
    }
    next(frame, result)
}

/// The part of a vector at a position that fixes its first dimensions.
fn part(vector: &Tensor, position: &[i64]) -> Result<Layout, Fault> {
    if position.contains(&-1) {
        return Err(Fault::new(FaultKind::Poison, "the position -1 is poison"));
    }
    let rest = vector.shape().get(position.len()..).ok_or_else(|| Fault::invalid_ir("the position is too long"))?;
    let mut offsets = position.to_vec();
    let mut sizes = vec![1; position.len()];
    offsets.resize(vector.rank(), 0);
    sizes.extend(rest.iter().map(|&d| d as i64));
    let mut layout = vector.layout().slice(&offsets, &sizes, &vec![1; vector.rank()])?;
    layout.sizes = rest.into();
    layout.strides = layout.strides[position.len()..].into();
    Ok(layout)
}

fn extract(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let position = numbers(frame, &ExtractOp::from_ref(op).position())?;
    let source = vector(frame, 0)?;
    let result = source.window(&part(&source, &position)?)?;
    // An element may be written as a vector of one.
    let result = result.reshape(&result_shape(frame)?)?;
    next(frame, result)
}

fn insert(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let position = numbers(frame, &InsertOp::from_ref(op).position())?;
    let stored = vector(frame, 0)?;
    let mut dest = take_vector(frame, 1)?;
    let layout = part(&dest, &position)?;
    layout.write(dest.data_mut(), &stored)?;
    next(frame, dest)
}

fn take_vector(frame: &mut Frame<'_>, index: usize) -> Result<Tensor, Fault> {
    match frame.take(index)? {
        Value::Vector(vector) => Ok(vector),
        other => other.vector().cloned(),
    }
}

fn from_elements(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let scalars = (0..op.num_operands()).map(|i| frame.operand(i)?.scalar());
    let scalars: Vec<Scalar> = scalars.collect::<Result<_, _>>()?;
    let dtype = match scalars.first() {
        Some(scalar) => scalar.dtype(),
        None => DType::expect(op.cx, op.cx.element_type(frame.result_type(0)?))?,
    };
    let result = Tensor::from_scalars(dtype, &result_shape(frame)?, scalars)?;
    next(frame, result)
}

fn to_elements(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let source = vector(frame, 0)?;
    for lane in 0..source.len() {
        frame.set(lane, source.data().read(lane)?)?;
    }
    Ok(Flow::Next)
}

/// Neighbours of the last dimension are neighbours in row-major order.
fn interleave(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let sources = [vector(frame, 0)?, vector(frame, 1)?];
    let mut result = Tensor::undefined(sources[0].dtype(), &result_shape(frame)?)?;
    for lane in 0..result.len() {
        result.data_mut().set(lane, sources[lane % 2].data().get(lane / 2));
    }
    next(frame, result)
}

fn deinterleave(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (source, shape) = (vector(frame, 0)?, result_shape(frame)?);
    for side in 0..2 {
        let mut half = Tensor::undefined(source.dtype(), &shape)?;
        for lane in 0..half.len() {
            half.data_mut().set(lane, source.data().get(2 * lane + side));
        }
        frame.set(side, Value::Vector(half))?;
    }
    Ok(Flow::Next)
}

fn extract_strided_slice(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let source = vector(frame, 0)?;
    let (mut offsets, mut sizes, mut strides) = (list(op, "offsets")?, list(op, "sizes")?, list(op, "strides")?);
    // Dimensions that the lists leave out are taken whole.
    sizes.extend(source.shape().iter().skip(sizes.len()).map(|&d| d as i64));
    offsets.resize(source.rank(), 0);
    strides.resize(source.rank(), 1);
    let result = source.window(&source.layout().slice(&offsets, &sizes, &strides)?)?;
    next(frame, result)
}

fn insert_strided_slice(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let stored = vector(frame, 0)?;
    let mut dest = take_vector(frame, 1)?;
    let lead = dest.rank().saturating_sub(stored.rank());
    let as_i64 = |list: &[usize]| list.iter().map(|&d| d as i64).collect::<Vec<i64>>();
    let (mut sizes, mut strides) = (vec![1; lead], vec![1; lead]);
    sizes.extend(as_i64(stored.shape()));
    strides.extend(list(op, "strides")?);
    let layout = dest.layout().slice(&list(op, "offsets")?, &sizes, &strides)?;
    layout.write(dest.data_mut(), &stored.reshape(&layout.sizes)?)?;
    next(frame, dest)
}

fn step(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let sizes = result_shape(frame)?;
    let result = Tensor::from_scalars(DType::Index, &sizes, (0..).map(Scalar::index))?;
    next(frame, result)
}

/// True at the indices below `sizes` in every dimension.
fn mask(frame: &Frame<'_>, sizes: &[i64]) -> Result<Tensor, Fault> {
    let shape = result_shape(frame)?;
    let mut result = Tensor::splat(Scalar::bool(false), &shape)?;
    let clamped: Vec<i64> = sizes.iter().zip(&shape).map(|(&n, &d)| n.clamp(0, d as i64)).collect();
    if shape.is_empty() {
        // A mask of rank 0 has one bit, and one size that says whether it is set.
        return Tensor::splat(Scalar::bool(sizes.first().is_some_and(|&n| n > 0)), &shape);
    }
    let window = result.layout().slice(&vec![0; shape.len()], &clamped, &vec![1; shape.len()])?;
    let ones = Tensor::splat(Scalar::bool(true), &window.sizes)?;
    window.write(result.data_mut(), &ones)?;
    Ok(result)
}

fn create_mask(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let result = mask(frame, &frame.ints(0..op.num_operands())?)?;
    next(frame, result)
}

fn constant_mask(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let result = mask(frame, &list(op, "mask_dim_sizes")?)?;
    next(frame, result)
}

/// The op that combines two numbers.
pub(crate) fn combiner(kind: CombiningKind, dtype: DType) -> NumOp {
    match kind {
        CombiningKind::Add if dtype.is_float() => NumOp::AddF,
        CombiningKind::Mul if dtype.is_float() => NumOp::MulF,
        CombiningKind::Add => NumOp::AddI(Overflow::WRAP),
        CombiningKind::Mul => NumOp::MulI(Overflow::WRAP),
        CombiningKind::MinUI => NumOp::MinUI,
        CombiningKind::MinSI => NumOp::MinSI,
        CombiningKind::MinNumF => NumOp::MinNumF,
        CombiningKind::MaxUI => NumOp::MaxUI,
        CombiningKind::MaxSI => NumOp::MaxSI,
        CombiningKind::MaxNumF => NumOp::MaxNumF,
        CombiningKind::And => NumOp::AndI,
        CombiningKind::Or => NumOp::OrI,
        CombiningKind::Xor => NumOp::XOrI,
        CombiningKind::MinimumF => NumOp::MinimumF,
        CombiningKind::MaximumF => NumOp::MaximumF,
    }
}

fn kind(op: OpRef<'_>) -> Result<CombiningKind, Fault> {
    match op.prop("kind") {
        Some(attr) => CombiningKind::get(op.cx, attr).ok_or_else(|| Fault::invalid_ir("has no valid 'kind'")),
        None => Ok(CombiningKind::Add),
    }
}

/// Combines elements in order, the start value first.
pub(crate) fn reduce(source: &Tensor, start: Option<Scalar>, combine: NumOp) -> Result<Scalar, Fault> {
    let dtype = source.dtype();
    let combine: Kernel = combine.with_types(&[dtype, dtype], dtype)?;
    let mut result = start;
    for i in 0..source.len() {
        let value = source.data().read(i)?;
        result = Some(match result {
            Some(so_far) => combine.eval(&[so_far, value])?,
            None => value,
        });
    }
    result.ok_or_else(|| Fault::unsupported("reduces no elements without an accumulator"))
}

/// In order, which is what a reduction without `reassoc` promises.
fn reduction(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let source = vector(frame, 0)?;
    let start = if op.num_operands() > 1 { Some(frame.operand(1)?.scalar()?) } else { None };
    let result = reduce(&source, start, combiner(kind(op)?, source.dtype()))?;
    frame.set(0, result)?;
    Ok(Flow::Next)
}

/// Products of all pairs, combined with the accumulator; a float product is added with one rounding, as its lowering does.
fn outer_product(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (left, right, shape) = (vector(frame, 0)?, vector(frame, 1)?, result_shape(frame)?);
    let spread = |v: &Tensor, stride: [i64; 2]| {
        let layout = Layout { offset: 0, sizes: shape.clone(), strides: stride[..shape.len()].into() };
        v.window(&layout).map(Value::Vector)
    };
    let (left, right) = (spread(&left, [1, 0])?, spread(&right, [0, 1])?);
    let kind = kind(op)?;
    let dtype = left.vector()?.dtype();
    let multiply = combiner(CombiningKind::Mul, dtype);
    let result = match (op.num_operands() > 2).then(|| vector(frame, 2)).transpose()?.map(Value::Vector) {
        None => apply(multiply, &[&left, &right], None)?,
        Some(acc) if kind == CombiningKind::Add && dtype.is_float() => apply(NumOp::Fma, &[&left, &right, &acc], None)?,
        Some(acc) => apply(combiner(kind, dtype), &[&acc, &apply(multiply, &[&left, &right], None)?], None)?,
    };
    frame.set(0, result)?;
    Ok(Flow::Next)
}
