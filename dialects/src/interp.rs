//! What the interpretation of several dialects shares, and hooks of ops that belong to no dialect of this crate.

use std::ops::Range;

use sutura_interp::{Fault, FaultKind, Flow, Frame, InterpError, Interpret, Layout, Scalar, Shape, Value};
use sutura_ir::constraints::IndexListArrayAttr;
use sutura_ir::op_def::AttrConstraintDef;
use sutura_ir::smallvec::SmallVec;
use sutura_ir::{DYNAMIC, OpRef, RegionRef, Registry, Type};

use crate::slices::{Mixed, Slice};

/// Region `index` of an op.
pub(crate) fn region(op: OpRef<'_>, index: usize) -> Result<RegionRef<'_>, Fault> {
    op.region(index).ok_or_else(|| Fault::invalid_ir(format!("has no region {index}")))
}

/// Operand group `index` of an op.
pub(crate) fn group(op: OpRef<'_>, index: usize) -> Result<Range<usize>, Fault> {
    op.operand_group(index).ok_or_else(|| Fault::invalid_ir("has operand segments that do not fit its operands"))
}

/// The numbers of a list of values and numbers.
pub(crate) fn numbers(frame: &Frame<'_>, list: &[Mixed]) -> Result<SmallVec<[i64; 4]>, Fault> {
    let number = |entry: &Mixed| match entry {
        Mixed::Static(number) => Ok(*number),
        Mixed::Value(value) => frame.get(*value)?.as_int(),
    };
    list.iter().map(number).collect()
}

/// A size as computed by the program.
pub(crate) fn size(number: i64) -> Result<usize, Fault> {
    usize::try_from(number).map_err(|_| Fault::new(FaultKind::OutOfBounds, format!("size {number} is negative")))
}

/// The shape of a value of type `ty`, whose dynamic dimensions are the operands in `dynamic`.
pub(crate) fn shape(frame: &Frame<'_>, ty: Type, dynamic: Range<usize>) -> Result<Shape, Fault> {
    let dims = frame.cx().shape(ty).ok_or_else(|| Fault::invalid_ir("the type has no shape"))?;
    let mut dynamic = dynamic;
    let one = |&dim: &i64| match (dim == DYNAMIC).then(|| dynamic.next()) {
        None => size(dim),
        Some(Some(operand)) => size(frame.int(operand)?),
        Some(None) => Err(Fault::invalid_ir("a dynamic dimension has no operand")),
    };
    dims.iter().map(one).collect()
}

/// The window that a slice takes of a value laid out as `layout`.
pub(crate) fn window(frame: &Frame<'_>, layout: &Layout, slice: &Slice) -> Result<Layout, Fault> {
    let (offsets, sizes) = (numbers(frame, &slice.offsets)?, numbers(frame, &slice.sizes)?);
    layout.slice(&offsets, &sizes, &numbers(frame, &slice.strides)?)
}

/// Size of a dimension that the program names.
pub(crate) fn dimension(shape: &[usize], index: i64) -> Result<i64, Fault> {
    let size = usize::try_from(index).ok().and_then(|i| shape.get(i));
    size.map(|&s| s as i64).ok_or_else(|| {
        let message = format!("asks for dimension {index} of a value of rank {}", shape.len());
        Fault::new(FaultKind::OutOfBounds, message)
    })
}

/// The groups of dimensions of a reshape.
pub(crate) fn reassociation(op: OpRef<'_>) -> Result<Vec<Vec<i64>>, Fault> {
    let groups = op.prop("reassociation").and_then(|a| IndexListArrayAttr::get(op.cx, a));
    groups.ok_or_else(|| Fault::invalid_ir("has no 'reassociation'"))
}

/// Checks that the runs `groups` of dimensions of `expanded` have as many elements as the dimensions of `collapsed`.
pub(crate) fn check_groups(groups: &[Vec<i64>], expanded: &[usize], collapsed: &[usize]) -> Result<(), Fault> {
    for (dim, (group, &size)) in groups.iter().zip(collapsed).enumerate() {
        let sizes: Shape = group.iter().filter_map(|&d| expanded.get(d as usize)).copied().collect();
        if sutura_interp::tensor::num_elements(&sizes)? != size {
            return Err(Fault::shape(format!(
                "dimensions of sizes {:?} are no dimension {dim} of size {size}",
                &sizes[..]
            )));
        }
    }
    Ok(())
}

/// Attaches hooks to the builtin dialect's ops.
pub(crate) fn attach_builtin(registry: &mut Registry) {
    registry.attach_named::<dyn Interpret>("builtin.unrealized_conversion_cast", &unrealized_cast);
}

/// Passes values on; integers of equal width, such as `index` and `i64`, change type.
fn unrealized_cast(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let mut values = frame.take_operands()?;
    for (value, ty) in values.iter_mut().zip(op.result_types()) {
        if let (Value::Scalar(scalar), Some(dtype)) = (&*value, sutura_interp::DType::of(op.cx, ty))
            && scalar.dtype().is_integer()
            && dtype.is_integer()
            && scalar.dtype().bits() == dtype.bits()
        {
            *value = Scalar::from_bits(dtype, scalar.bits()).into();
        }
    }
    frame.set_results(values)?;
    Ok(Flow::Next)
}
