//! What tensor ops do when a program runs.

use sutura_interp::constant::static_shape;
use sutura_interp::tensor::next_index;
use sutura_interp::{
    DType, Fault, Flow, Frame, InterpError, Interpret, Layout, Scalar, Shape, Tensor, Value, Values, YieldOp,
};
use sutura_ir::op_def::OpView;
use sutura_ir::{DialectBuilder, OpRef, RegionRef};

use super::{ConcatOp, ExtractSliceOp, InsertSliceOp};
use crate::interp::{check_groups, dimension, group, numbers, reassociation, region, shape, size, window};
use crate::slices::mixed;
use crate::tensor::{
    CastOp, CollapseShapeOp, DimOp, EmptyOp, ExpandShapeOp, ExtractOp, FromElementsOp, GenerateOp, InsertOp, PadOp,
    RankOp, ReshapeOp, SplatOp,
};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<CastOp<'_>, dyn Interpret>(&cast)
        .op_interface::<DimOp<'_>, dyn Interpret>(&dim)
        .op_interface::<RankOp<'_>, dyn Interpret>(&rank)
        .op_interface::<EmptyOp<'_>, dyn Interpret>(&empty)
        .op_interface::<ExtractOp<'_>, dyn Interpret>(&extract)
        .op_interface::<InsertOp<'_>, dyn Interpret>(&insert)
        .op_interface::<FromElementsOp<'_>, dyn Interpret>(&from_elements)
        .op_interface::<SplatOp<'_>, dyn Interpret>(&splat)
        .op_interface::<GenerateOp<'_>, dyn Interpret>(&generate)
        .op_interface::<ExtractSliceOp<'_>, dyn Interpret>(&extract_slice)
        .op_interface::<InsertSliceOp<'_>, dyn Interpret>(&insert_slice)
        .op_interface::<ExpandShapeOp<'_>, dyn Interpret>(&expand_shape)
        .op_interface::<CollapseShapeOp<'_>, dyn Interpret>(&collapse_shape)
        .op_interface::<ConcatOp<'_>, dyn Interpret>(&concat)
        .op_interface::<ReshapeOp<'_>, dyn Interpret>(&reshape)
        .op_interface::<PadOp<'_>, dyn Interpret>(&pad)
        .op_interface::<crate::tensor::YieldOp<'_>, dyn Interpret>(&YieldOp);
}

fn next(frame: &mut Frame<'_>, result: impl Into<Value>) -> Result<Flow, InterpError> {
    frame.set(0, result)?;
    Ok(Flow::Next)
}

/// Element type of result 0.
fn element(frame: &Frame<'_>) -> Result<DType, Fault> {
    DType::expect(frame.cx(), frame.cx().element_type(frame.result_type(0)?))
}

/// Setting the result checks the sizes against its type.
fn cast(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let source = frame.take_tensor(0)?;
    next(frame, Value::Tensor(source))
}

fn dim(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let size = dimension(frame.tensor(0)?.shape(), frame.int(1)?)?;
    next(frame, Value::index(size))
}

fn rank(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let rank = frame.tensor(0)?.rank();
    next(frame, Value::index(rank as i64))
}

fn empty(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let shape = shape(frame, frame.result_type(0)?, 0..op.num_operands())?;
    let tensor = Tensor::undefined(element(frame)?, &shape)?;
    next(frame, Value::Tensor(tensor))
}

fn extract(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let value = frame.tensor(0)?.at(&frame.ints(1..op.num_operands())?)?;
    let alone = DType::of_scalar(op.cx, frame.result_type(0)?);
    next(frame, alone.map_or(value, |dtype| value.held_as(dtype)))
}

fn insert(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let value = frame.operand(0)?.scalar()?;
    let index = frame.ints(2..op.num_operands())?;
    let mut tensor = frame.take_tensor(1)?;
    let at = tensor.position(&index)?;
    put(&mut tensor, at, value)?;
    next(frame, Value::Tensor(tensor))
}

/// Sets an element to a number.
fn put(tensor: &mut Tensor, at: usize, value: Scalar) -> Result<(), Fault> {
    let value = value.held_as(tensor.dtype());
    if value.dtype() != tensor.dtype() {
        let message = format!("an element of type {} in a tensor of {}", value.dtype(), tensor.dtype());
        return Err(Fault::type_mismatch(message));
    }
    tensor.data_mut().set(at, Some(value));
    Ok(())
}

fn from_elements(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let shape = static_shape(frame.cx(), frame.result_type(0)?)?;
    let scalars = (0..op.num_operands()).map(|i| frame.operand(i)?.scalar());
    let scalars: Vec<Scalar> = scalars.collect::<Result<_, _>>()?;
    let dtype = element(frame)?;
    let tensor = Tensor::from_scalars(dtype, &shape, scalars.into_iter().map(|scalar| scalar.held_as(dtype)))?;
    next(frame, Value::Tensor(tensor))
}

fn splat(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let shape = shape(frame, frame.result_type(0)?, 1..op.num_operands())?;
    let tensor = Tensor::splat(frame.operand(0)?.scalar()?.held_as(element(frame)?), &shape)?;
    next(frame, Value::Tensor(tensor))
}

fn generate(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let shape = shape(frame, frame.result_type(0)?, 0..op.num_operands())?;
    let mut tensor = Tensor::undefined(element(frame)?, &shape)?;
    if !tensor.is_empty() {
        let body = region(op, 0)?;
        let mut index: Shape = shape.iter().map(|_| 0).collect();
        for at in 0..tensor.len() {
            let value = element_at(frame, body, &index)?;
            put(&mut tensor, at, value)?;
            next_index(&mut index, &shape);
        }
    }
    next(frame, Value::Tensor(tensor))
}

/// The number that a region yields for an index.
fn element_at(frame: &mut Frame<'_>, body: RegionRef<'_>, index: &[usize]) -> Result<Scalar, InterpError> {
    let args: Values = index.iter().map(|&i| Value::index(i as i64)).collect();
    let values = frame.run_region(body, args)?;
    let value = values.first().ok_or_else(|| Fault::invalid_ir("the region yields nothing"))?;
    Ok(value.scalar()?)
}

fn concat(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let dim = usize::try_from(ConcatOp::from_ref(op).dim()).map_err(|_| Fault::invalid_ir("has no valid 'dim'"))?;
    let inputs: Vec<Tensor> = (0..op.num_operands()).map(|i| frame.tensor(i).cloned()).collect::<Result<_, _>>()?;
    let mut shape: Shape = inputs.first().map_or_else(Shape::new, |first| first.shape().into());
    shape[dim] = inputs.iter().map(|input| input.shape()[dim]).sum();
    let mut result = Tensor::undefined(element(frame)?, &shape)?;
    let (layout, mut offsets) = (result.layout(), vec![0; shape.len()]);
    for input in inputs {
        let sizes: Vec<i64> = input.shape().iter().map(|size| *size as i64).collect();
        layout.slice(&offsets, &sizes, &vec![1; sizes.len()])?.write(result.data_mut(), &input)?;
        offsets[dim] += sizes[dim];
    }
    next(frame, Value::Tensor(result))
}

fn reshape(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let wanted = frame.tensor(1)?;
    let number = |i: usize| wanted.data().read(i)?.as_i64().ok_or_else(|| Fault::type_mismatch("a size is no integer"));
    let sizes: Shape = (0..wanted.len()).map(|i| size(number(i)?)).collect::<Result<_, _>>()?;
    let result = frame.tensor(0)?.reshape(&sizes)?;
    next(frame, Value::Tensor(result))
}

fn extract_slice(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let source = frame.tensor(0)?;
    let window = window(frame, &source.layout(), &ExtractSliceOp::from_ref(op).slice())?;
    let dims = frame.cx().shape(frame.result_type(0)?).unwrap_or_default();
    let result = source.window(&window.drop_unit_dims(dims)?)?;
    next(frame, Value::Tensor(result))
}

fn insert_slice(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let window = window(frame, &frame.tensor(1)?.layout(), &InsertSliceOp::from_ref(op).slice())?;
    let source = frame.tensor(0)?.clone();
    let dims: Vec<i64> = source.shape().iter().map(|&d| d as i64).collect();
    let window = window.drop_unit_dims(&dims)?;
    let mut dest = frame.take_tensor(1)?;
    window.write(dest.data_mut(), &source)?;
    next(frame, Value::Tensor(dest))
}

fn expand_shape(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let sizes = numbers(frame, &mixed(op, 1, "static_output_shape"))?;
    let mut sizes: Shape = sizes.into_iter().map(size).collect::<Result<_, _>>()?;
    // What the result's type says of a size holds, whatever the static output shape repeats of it.
    let declared = op.cx.shape(op.ty(op.result(0))).unwrap_or_default();
    for (size, declared) in sizes.iter_mut().zip(declared) {
        *size = usize::try_from(*declared).unwrap_or(*size);
    }
    let source = frame.tensor(0)?;
    check_groups(&reassociation(op)?, &sizes, source.shape())?;
    let result = source.reshape(&sizes)?;
    next(frame, Value::Tensor(result))
}

fn collapse_shape(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let source = frame.tensor(0)?;
    let product = |group: &Vec<i64>| {
        let sizes: Shape = group.iter().filter_map(|&d| source.shape().get(d as usize)).copied().collect();
        sutura_interp::tensor::num_elements(&sizes)
    };
    let sizes: Shape = reassociation(op)?.iter().map(product).collect::<Result<_, _>>()?;
    let result = source.reshape(&sizes)?;
    next(frame, Value::Tensor(result))
}

fn pad(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (low, high) = (mixed(op, 1, "static_low"), mixed(op, 2, "static_high"));
    debug_assert_eq!(group(op, 0)?, 0..1);
    let low: Shape = numbers(frame, &low)?.into_iter().map(size).collect::<Result<_, _>>()?;
    let high: Shape = numbers(frame, &high)?.into_iter().map(size).collect::<Result<_, _>>()?;
    let source = frame.tensor(0)?.clone();
    if low.len() != source.rank() || high.len() != source.rank() {
        return Err(Fault::shape("pads another number of dimensions than there are").into());
    }
    let sizes: Shape = source
        .shape()
        .iter()
        .zip(low.iter().zip(&high))
        .map(|(&s, (&l, &h))| s.saturating_add(l).saturating_add(h))
        .collect();
    let mut result = padding(op, frame, &sizes, &low, source.shape())?;
    let strides: Vec<i64> = low.iter().map(|_| 1).collect();
    let as_i64 = |list: &[usize]| list.iter().map(|&n| n as i64).collect::<Vec<i64>>();
    let inner = Layout::row_major(&sizes).slice(&as_i64(&low), &as_i64(source.shape()), &strides)?;
    inner.write(result.data_mut(), &source)?;
    next(frame, Value::Tensor(result))
}

/// A tensor of shape `sizes` with the padding in place around the source.
fn padding(
    op: OpRef<'_>,
    frame: &mut Frame<'_>,
    sizes: &[usize],
    low: &[usize],
    source: &[usize],
) -> Result<Tensor, InterpError> {
    let body = region(op, 0)?;
    let mut result = Tensor::undefined(element(frame)?, sizes)?;
    if result.is_empty() {
        return Ok(result);
    }
    let mut index: Shape = sizes.iter().map(|_| 0).collect();
    let same = body.entry().is_some_and(|b| b.args().iter().all(|&arg| body.body.is_unused(arg)));
    if same {
        let value = element_at(frame, body, &index)?;
        return Ok(Tensor::splat(value.held_as(result.dtype()), sizes)?);
    }
    for at in 0..result.len() {
        let inside = |((&i, &l), &s): ((&usize, &usize), &usize)| i >= l && i - l < s;
        if !index.iter().zip(low).zip(source).all(inside) {
            let value = element_at(frame, body, &index)?;
            put(&mut result, at, value)?;
        }
        next_index(&mut index, sizes);
    }
    Ok(result)
}
