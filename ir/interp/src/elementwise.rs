//! Numeric ops on whole values, and the hook that gives an op such a meaning.

use smallvec::SmallVec;
use sutura_ir::types::FloatKind;
use sutura_ir::{Attr, DialectBuilder, OpRef, OpView};

use crate::buffer::Buffer;
use crate::complex::{ComplexFn, Parts};
use crate::engine::{Flow, Interpret};
use crate::error::{Fault, InterpError};
use crate::frame::Frame;
use crate::num::{Kernel, NumOp};
use crate::scalar::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::Value;

/// What a scalar op means, for hooks that evaluate whole regions of them at once. An interface.
pub trait ScalarMeaning: Send + Sync {
    /// The meaning of `op`, one entry per result.
    ///
    /// # Errors
    /// When an attribute asks for what cannot be interpreted.
    fn meaning(&self, op: OpRef<'_>) -> Result<SmallVec<[Meaning; 1]>, Fault>;
}

/// The meaning of one result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Meaning {
    /// A numeric op on the first operands.
    Num(NumOp),
    /// A function of complex numbers.
    Complex(ComplexFn),
    /// A constant.
    Constant(Attr),
    /// The first operand itself.
    Forward,
    /// The index along this iterator of the enclosing structured op.
    Index(usize),
    /// A number that the hook of the structured op knows: the result is captured, as values from outside are.
    External,
}

/// Attaches a hook that is also a scalar meaning to an op: `attach::<AddIOp<'_>, _>(d, &hook)`.
pub fn attach<'a, O: OpView<'a>, T: Interpret + ScalarMeaning>(d: &mut DialectBuilder<'_>, hook: &'static T) {
    d.op_interface::<O, dyn Interpret>(hook).op_interface::<O, dyn ScalarMeaning>(hook);
}

/// Hook and scalar meaning of an op that works element by element on scalars, vectors and tensors:
/// `&Elementwise(|_| Ok(NumOp::AddF))`.
#[derive(Clone, Copy)]
pub struct Elementwise(pub fn(OpRef<'_>) -> Result<NumOp, Fault>);

impl Interpret for Elementwise {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
        let num = (self.0)(op)?;
        let count = op.num_operands();
        let (cx, ty) = (frame.cx(), frame.result_type(0)?);
        let elem = cx.element_type(ty);
        let dtype = if elem == ty { DType::expect_scalar(cx, ty)? } else { DType::expect(cx, elem)? };
        let result = {
            let operands: SmallVec<[&Value; 3]> = (0..count).map(|i| frame.operand(i)).collect::<Result<_, _>>()?;
            apply(num, &operands, Some(dtype))?
        };
        frame.set(0, result)?;
        Ok(Flow::Next)
    }
}

impl ScalarMeaning for Elementwise {
    fn meaning(&self, op: OpRef<'_>) -> Result<SmallVec<[Meaning; 1]>, Fault> {
        Ok(SmallVec::from_slice(&[Meaning::Num((self.0)(op)?)]))
    }
}

/// Hook and scalar meaning of an op that is a function of complex numbers.
#[derive(Clone, Copy, Debug)]
pub struct ComplexOp(pub ComplexFn);

/// Numbers that are computed at once.
struct Computed(FloatKind);

impl Parts for Computed {
    type Number = Scalar;

    fn op(&mut self, op: NumOp, args: &[&Scalar]) -> Result<Scalar, Fault> {
        let args: SmallVec<[Scalar; 3]> = args.iter().map(|arg| **arg).collect();
        crate::num::eval(op, &args, None)
    }

    fn constant(&mut self, value: f64) -> Result<Scalar, Fault> {
        Ok(Scalar::float(value, self.0))
    }
}

impl ComplexFn {
    /// The function of numbers: complex ones, or the two parts of one.
    ///
    /// # Errors
    /// When numbers have types that it does not take.
    pub fn eval(self, args: &[Scalar]) -> Result<Scalar, Fault> {
        let parts = args.iter().flat_map(|arg| match arg.parts() {
            Some(parts) => SmallVec::<[Scalar; 2]>::from_slice(&parts),
            None => SmallVec::from_slice(&[*arg]),
        });
        let parts: SmallVec<[Scalar; 4]> = parts.collect();
        let Some(DType::Float(kind)) = parts.first().map(|part| part.dtype()) else {
            return Err(Fault::type_mismatch("expects complex numbers"));
        };
        if parts.iter().any(|part| part.dtype() != DType::Float(kind)) {
            return Err(Fault::type_mismatch("got complex numbers of several types"));
        }
        match self.apply(&mut Computed(kind), &parts)?[..] {
            [re, im] => Ok(Scalar::complex(kind, [re.bits(), im.bits()])),
            [number] => Ok(number),
            _ => Err(Fault::invalid_ir("makes no number")),
        }
    }
}

impl Interpret for ComplexOp {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
        let numbers = (0..op.num_operands()).map(|i| frame.operand(i)?.scalar());
        let numbers: SmallVec<[Scalar; 2]> = numbers.collect::<Result<_, Fault>>()?;
        let result = self.0.eval(&numbers)?;
        frame.set(0, Value::Scalar(result))?;
        Ok(Flow::Next)
    }
}

impl ScalarMeaning for ComplexOp {
    fn meaning(&self, _: OpRef<'_>) -> Result<SmallVec<[Meaning; 1]>, Fault> {
        Ok(SmallVec::from_slice(&[Meaning::Complex(self.0)]))
    }
}

/// Hook and scalar meaning of an op whose `value` attribute is its result.
#[derive(Clone, Copy, Debug)]
pub struct ConstantOp;

fn constant_attr(op: OpRef<'_>) -> Result<Attr, Fault> {
    op.prop("value").ok_or_else(|| Fault::invalid_ir("has no 'value' attribute"))
}

impl Interpret for ConstantOp {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
        let value = frame.constant(constant_attr(op)?)?;
        frame.set(0, value)?;
        Ok(Flow::Next)
    }
}

impl ScalarMeaning for ConstantOp {
    fn meaning(&self, op: OpRef<'_>) -> Result<SmallVec<[Meaning; 1]>, Fault> {
        Ok(SmallVec::from_slice(&[Meaning::Constant(constant_attr(op)?)]))
    }
}

/// Hook of a terminator that hands its operands to the op around it.
#[derive(Clone, Copy, Debug)]
pub struct YieldOp;

impl Interpret for YieldOp {
    fn interpret(&self, _: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
        Ok(Flow::Yield(frame.take_operands()?))
    }
}

/// Elements that are worked on at once.
const STRIP: usize = 1024;

/// Applies a numeric op element by element; scalars stand for all elements of the others' shape. Where an operand's
/// element is undefined, so is the result's.
///
/// # Errors
/// When shapes or types do not fit, or an element's result is undefined by its operands.
pub fn apply(op: NumOp, operands: &[&Value], result: Option<DType>) -> Result<Value, Fault> {
    let types: SmallVec<[DType; 3]> = operands.iter().map(|v| element_type(v)).collect::<Result<_, _>>()?;
    if let (NumOp::Select, Some(DType::Complex(kind))) = (op, types.get(1)) {
        return select_complex(*kind, operands);
    }
    let result = result.or_else(|| op.infer(&types));
    let result = result.ok_or_else(|| Fault::invalid_ir(format!("{op:?} needs a result type")))?;
    let kernel = op.with_types(&types, result)?;
    let Some(model) = operands.iter().find(|v| !matches!(v, Value::Scalar(_))) else {
        let scalars: SmallVec<[Scalar; 3]> = operands.iter().map(|v| v.scalar()).collect::<Result<_, _>>()?;
        return kernel.eval(&scalars).map(Value::Scalar);
    };
    let shape = elements(model)?.shape();
    for operand in operands {
        if let Ok(tensor) = elements(operand)
            && tensor.shape() != shape
        {
            return Err(Fault::shape(format!("operands of shapes {shape:?} and {:?}", tensor.shape())));
        }
    }
    let out = apply_strips(&kernel, operands, elements(model)?.len())?;
    Ok(wrap(model, Tensor::new(shape, out)?))
}

/// A selection is one of each part.
fn select_complex(kind: FloatKind, operands: &[&Value]) -> Result<Value, Fault> {
    let part = |value: &Value, k: usize| match value {
        Value::Scalar(s) => s.parts().map_or(Value::Scalar(*s), |parts| Value::Scalar(parts[k])),
        other => match elements(other) {
            Ok(tensor) => wrap(other, tensor.part(k).unwrap_or_else(|| tensor.clone())),
            Err(_) => other.clone(),
        },
    };
    let select = |k: usize| {
        let parts: SmallVec<[Value; 3]> = operands.iter().map(|operand| part(operand, k)).collect();
        apply(NumOp::Select, &parts.iter().collect::<SmallVec<[&Value; 3]>>(), None)
    };
    match (select(0)?, select(1)?) {
        (Value::Scalar(re), Value::Scalar(im)) => Ok(Value::Scalar(Scalar::complex(kind, [re.bits(), im.bits()]))),
        (re, im) => Ok(wrap(&re, Tensor::of_parts(elements(&re)?, elements(&im)?)?)),
    }
}

/// Elements in a value of the same kind as another one.
fn wrap(like: &Value, tensor: Tensor) -> Value {
    if matches!(like, Value::Vector(_)) { Value::Vector(tensor) } else { Value::Tensor(tensor) }
}

fn elements(value: &Value) -> Result<&Tensor, Fault> {
    match value {
        Value::Vector(t) => Ok(t),
        other => other.tensor(),
    }
}

fn element_type(value: &Value) -> Result<DType, Fault> {
    match value {
        Value::Scalar(s) => Ok(s.dtype()),
        other => elements(other).map(Tensor::dtype),
    }
}

fn apply_strips(kernel: &Kernel, operands: &[&Value], len: usize) -> Result<Buffer, Fault> {
    let mut out = Buffer::zeros(kernel.result(), len);
    let mut lanes: SmallVec<[Vec<u64>; 3]> = operands.iter().map(|_| vec![0; STRIP.min(len)]).collect();
    let mut results = vec![0; STRIP.min(len)];
    for (lane, operand) in lanes.iter_mut().zip(operands) {
        if let Value::Scalar(s) = operand {
            lane.fill(s.bits());
        }
    }
    for start in (0..len).step_by(STRIP) {
        let n = STRIP.min(len - start);
        let mut undefined = false;
        for (lane, operand) in lanes.iter_mut().zip(operands) {
            if let Ok(tensor) = elements(operand) {
                undefined |= tensor.data().gather(start, 1, &mut lane[..n]);
            }
        }
        if undefined {
            apply_defined(kernel, operands, start..start + n, &mut out)?;
            continue;
        }
        let args: SmallVec<[&[u64]; 3]> = lanes.iter().map(|l| &l[..n]).collect();
        kernel.eval_lanes(&args, &mut results[..n]).map_err(|e| e.fault)?;
        out.scatter(start, 1, &results[..n]);
    }
    Ok(out)
}

/// One element at a time, where some are undefined.
fn apply_defined(
    kernel: &Kernel,
    operands: &[&Value],
    range: std::ops::Range<usize>,
    out: &mut Buffer,
) -> Result<(), Fault> {
    for i in range {
        let args: Option<SmallVec<[Scalar; 3]>> = operands
            .iter()
            .map(|v| match v {
                Value::Scalar(s) => Some(*s),
                other => elements(other).ok()?.data().get(i),
            })
            .collect();
        let value = args.map(|a| kernel.eval(&a)).transpose()?;
        out.set(i, value);
    }
    Ok(())
}
