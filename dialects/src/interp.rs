//! Interpretation of ops that belong to no dialect of this crate.

use sutura_interp::{Flow, Frame, InterpError, Interpret, Scalar, Value};
use sutura_ir::{OpRef, Registry};

/// Attaches hooks to the builtin dialect's ops.
pub(crate) fn attach_builtin(registry: &mut Registry) {
    registry.attach_named::<dyn Interpret>("builtin.unrealized_conversion_cast", &unrealized_cast);
}

/// Passes values on; integers of equal width, such as `index` and `i64`, change type.
fn unrealized_cast(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let mut values = frame.take_operands()?;
    for (value, ty) in values.iter_mut().zip(op.result_types()) {
        if let (Value::Scalar(scalar), Some(dtype)) = (&*value, sutura_interp::DType::of(op.cx, ty))
            && !scalar.dtype().is_float()
            && !dtype.is_float()
            && scalar.dtype().bits() == dtype.bits()
        {
            *value = Scalar::from_bits(dtype, scalar.bits()).into();
        }
    }
    frame.set_results(values)?;
    Ok(Flow::Next)
}
