//! Operations of the quant dialect.

use sutura_ir::op_def::Verify;
use sutura_ir::{Context, Diagnostics, OpRef, Reported, Type, op, type_constraints};

use super::{is_quantized, verify};

fn scalar_or_tensor(cx: &Context, ty: Type, elem: impl Fn(&Context, Type) -> bool) -> bool {
    elem(cx, ty) || (ty.is_tensor(cx) && elem(cx, cx.element_type(ty)))
}

type_constraints! {
    /// A float, or a tensor of floats.
    pub FloatScalarOrTensor = "scalar or tensor of floating-point",
        |cx, ty| scalar_or_tensor(cx, ty, |cx, ty| ty.is_float(cx));
    /// A number that is stored as an integer, or a tensor of them.
    pub QuantizedScalarOrTensor = "scalar or tensor of quantized type", |cx, ty| scalar_or_tensor(cx, ty, is_quantized);
    /// Either an integer without sign of its own or a number that is stored as one, or a tensor of them.
    pub IntegerOrQuantizedScalarOrTensor = "scalar or tensor of signless integer or quantized type",
        |cx, ty| scalar_or_tensor(cx, ty, |cx, ty| ty.is_signless_integer(cx) || is_quantized(cx, ty));
}

/// What stored integers express: `(stored - zero) * scale`.
///
/// ```mlir
/// %y = quant.dcast %x : tensor<?x!quant.uniform<i8:f32, 2.0:3>> to tensor<?xf32>
/// ```
#[op("quant.dcast", traits(Pure), format = "$input attr-dict `:` type($input) `to` type($result)", verify)]
pub struct DequantizeCastOp {
    /// What is stored.
    input: Operand<QuantizedScalarOrTensor>,
    /// What it expresses.
    result: Res<FloatScalarOrTensor>,
}

/// The stored integers that express numbers best: `round(number / scale) + zero`, within the bounds of what is stored.
///
/// The quotient is rounded to nearest even. NaN becomes the zero point.
///
/// ```mlir
/// %y = quant.qcast %x : tensor<?xf32> to tensor<?x!quant.uniform<i8<-8:7>:f32, 2.0:3>>
/// ```
#[op("quant.qcast", traits(Pure), format = "$input attr-dict `:` type($input) `to` type($result)", verify)]
pub struct QuantizeCastOp {
    /// Numbers.
    input: Operand<FloatScalarOrTensor>,
    /// What is stored.
    result: Res<QuantizedScalarOrTensor>,
}

/// The stored integers themselves, or integers taken for stored ones: the same bits.
///
/// ```mlir
/// %y = quant.scast %x : tensor<?x!quant.uniform<i8:f32, 2.0>> to tensor<?xi8>
/// ```
#[op("quant.scast", traits(Pure), format = "$input attr-dict `:` type($input) `to` type($result)", verify, fold)]
pub struct StorageCastOp {
    /// Integers, or what is stored as such.
    input: Operand<IntegerOrQuantizedScalarOrTensor>,
    /// The other.
    result: Res<IntegerOrQuantizedScalarOrTensor>,
}

impl Verify for DequantizeCastOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify::cast(op, op.ty(op.operand(0)), op.ty(op.result(0)), diags)
    }
}

impl Verify for QuantizeCastOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify::cast(op, op.ty(op.result(0)), op.ty(op.operand(0)), diags)
    }
}

impl Verify for StorageCastOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify::storage_cast(op, diags)
    }
}
