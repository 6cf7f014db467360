//! What casts do when a program runs.

use sutura_interp::num::NumOp;
use sutura_interp::tensor::next_index;
use sutura_interp::{DType, Fault, Flow, Frame, InterpError, Interpret, Scalar, Tensor, Value, elementwise};
use sutura_ir::smallvec::SmallVec;
use sutura_ir::{Context, DialectBuilder, OpRef, Type};

use super::numbers::{Kinds, Numbers};
use super::ops::{DequantizeCastOp, QuantizeCastOp, StorageCastOp};
use super::scheme::{Along, along, check_size};
use super::types::{Affine, Scheme, UniformType};
use super::{parts, uniform};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<DequantizeCastOp<'_>, dyn Interpret>(&dequantize);
    d.op_interface::<QuantizeCastOp<'_>, dyn Interpret>(&quantize);
    d.op_interface::<StorageCastOp<'_>, dyn Interpret>(&storage_cast);
}

/// Numbers, or tensors of them, that are there.
struct Computed;

impl Numbers for Computed {
    type Number = Value;

    fn op(&mut self, op: NumOp, args: &[&Value], ty: DType) -> Result<Value, Fault> {
        elementwise::apply(op, args, Some(ty))
    }

    fn constant(&mut self, value: Scalar) -> Result<Value, Fault> {
        Ok(Value::Scalar(value))
    }
}

/// The same bits as elements of another type of that width; a number alone is signless.
fn reinterpret(value: &Value, dtype: DType) -> Result<Value, Fault> {
    Ok(match value {
        Value::Scalar(number) => Value::Scalar(Scalar::from_bits(DType::int(dtype.bits() as u8), number.bits())),
        other => Value::Tensor(other.tensor()?.reinterpret(dtype)?),
    })
}

/// Checks that a value of these sizes can have the scales that its type says, if that says any.
pub(crate) fn check_shape(cx: &Context, ty: Type, shape: &[usize]) -> Result<(), Fault> {
    uniform(cx, ty).map_or(Ok(()), |uniform| checked(uniform, shape).map(drop))
}

/// Checks the sizes of a tensor, and says how many elements along each dimension share a scale.
fn checked(ty: &UniformType, shape: &[usize]) -> Result<Vec<Along>, Fault> {
    let all = along(ty, shape.len()).map_err(Fault::shape)?;
    for (dim, (along, size)) in all.iter().zip(shape).enumerate() {
        check_size(dim, *along, *size as i64).map_err(Fault::shape)?;
    }
    Ok(all)
}

/// What `of` says of scale and zero point of each element: one number where they are the same for all.
fn each(ty: &UniformType, value: &Value, of: impl Fn(&Affine) -> Scalar) -> Result<Value, Fault> {
    if let Scheme::Tensor(affine) = &ty.scheme {
        return Ok(Value::Scalar(of(affine)));
    }
    let shape = value.tensor()?.shape();
    let all = checked(ty, shape)?;
    let affine: Vec<Scalar> = ty.scheme.affine().iter().map(of).collect();
    let dtype = affine.first().ok_or_else(|| Fault::invalid_ir("has no scales"))?.dtype();
    let mut numbers = Tensor::undefined(dtype, shape)?;
    if numbers.is_empty() {
        return Ok(Value::Tensor(numbers));
    }
    let mut index: SmallVec<[usize; 6]> = shape.iter().map(|_| 0).collect();
    for at in 0.. {
        let position = index.iter().zip(&all).fold(0, |position, (index, along)| {
            let block = along.block.map_or(0, |block| index / (block as usize).max(1));
            position * along.count as usize + block
        });
        numbers.data_mut().set(at, affine.get(position).copied());
        if !next_index(&mut index, shape) {
            break;
        }
    }
    Ok(Value::Tensor(numbers))
}

fn scales(op: OpRef<'_>, ty: sutura_ir::Type) -> Result<&UniformType, Fault> {
    uniform(op.cx, ty).ok_or_else(|| Fault::unsupported("casts a type that says no scale; '!quant.uniform' does"))
}

fn dequantize(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let ty = scales(op, op.ty(op.operand(0)))?;
    let kinds = Kinds::of(op.cx, ty)?;
    let stored = reinterpret(frame.operand(0)?, kinds.stored)?;
    let (scale, zero) = (each(ty, &stored, |a| kinds.scale(a))?, each(ty, &stored, |a| kinds.zero(a))?);
    let result = kinds.dequantize(&mut Computed, &stored, &scale, &zero)?;
    frame.set(0, result)?;
    Ok(Flow::Next)
}

fn quantize(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let ty = scales(op, op.ty(op.result(0)))?;
    let kinds = Kinds::of(op.cx, ty)?;
    let result = {
        let number = frame.operand(0)?;
        let (scale, zero) = (each(ty, number, |a| kinds.scale(a))?, each(ty, number, |a| kinds.zero(a))?);
        let stored = kinds.quantize(&mut Computed, number, &scale, &zero)?;
        reinterpret(&stored, DType::expect(op.cx, op.cx.element_type(op.ty(op.result(0))))?)?
    };
    frame.set(0, result)?;
    Ok(Flow::Next)
}

fn storage_cast(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let result = op.cx.element_type(op.ty(op.result(0)));
    let made = {
        let value = frame.operand(0)?;
        for ty in [op.ty(op.operand(0)), op.ty(op.result(0))] {
            if let (Some(ty), Value::Tensor(tensor)) = (uniform(op.cx, ty), value) {
                checked(ty, tensor.shape())?;
            }
        }
        if parts(op.cx, result).0.is_none() && !result.is_integer(op.cx) {
            return Err(Fault::unsupported("casts a type that says no storage").into());
        }
        reinterpret(value, DType::expect(op.cx, result)?)?
    };
    frame.set(0, made)?;
    Ok(Flow::Next)
}
