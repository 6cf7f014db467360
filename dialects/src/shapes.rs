//! Sizes of tensors and memory that follow from how they are made, and what `dim` does with them.

use sutura_ir::body::ValueKind;
use sutura_ir::constraints::IndexListArrayAttr;
use sutura_ir::interfaces::{DimSize, ReifyShapes};
use sutura_ir::op_def::{AttrConstraintDef, FoldValue};
use sutura_ir::{Attr, DYNAMIC, Op, OpRef, Rewriter, Traits, Type, Value};

use crate::slices::{Mixed, mixed};

/// How the sizes of the one result follow from the operands.
pub(crate) enum Sizes {
    /// A value of this operand group for each dynamic size.
    Values(usize),
    /// Those of this operand.
    Like(usize),
    /// A list of this operand group and this attribute; its entries are the dimensions unless some are dropped.
    List(usize, &'static str),
    /// Those of the first operand, some of them multiplied with each other.
    Collapsed,
}

impl ReifyShapes for Sizes {
    fn dim_size(&self, op: OpRef<'_>, result: usize, dim: usize) -> Option<DimSize> {
        let shape = op.cx.shape(op.ty(op.result(result)))?;
        match *self {
            Self::Values(group) => {
                let number = shape.get(..dim)?.iter().filter(|d| **d == DYNAMIC).count();
                Some(DimSize::Value(op.operands_of(group).nth(number)?))
            }
            Self::Like(operand) => Some(DimSize::Of(op.operand(operand), dim)),
            Self::List(group, name) => {
                let list = mixed(op, group, name);
                // With a dimension dropped the numbers of the dimensions would differ.
                let entry = list.get(dim).filter(|_| list.len() == shape.len())?;
                Some(match *entry {
                    Mixed::Value(value) => DimSize::Value(value),
                    Mixed::Static(size) => DimSize::Static(size),
                })
            }
            Self::Collapsed => {
                let groups = IndexListArrayAttr::get(op.cx, op.prop("reassociation")?)?;
                match groups.get(dim)?[..] {
                    [single] => Some(DimSize::Of(op.operand(0), usize::try_from(single).ok()?)),
                    _ => None,
                }
            }
        }
    }
}

/// Where a size is found.
struct Found {
    size: DimSize,
    /// It is another one than was asked for.
    is_other: bool,
}

/// More ops than this are not looked through for one size.
const MOST_STEPS: usize = 64;

/// Follows a size through the ops that make the value, as long as they are of one kind: tensors or memory.
fn resolve(op: OpRef<'_>, value: Value, dim: usize) -> Option<Found> {
    let kind = |ty: Type| std::mem::discriminant(&op.cx.type_data(ty));
    let wanted = kind(op.ty(value));
    let mut found = Found { size: DimSize::Of(value, dim), is_other: false };
    for _ in 0..MOST_STEPS {
        let DimSize::Of(value, dim) = found.size else { break };
        let size = *op.cx.shape(op.ty(value))?.get(dim)?;
        let next = if size == DYNAMIC { next(op, value, dim) } else { Some(DimSize::Static(size)) };
        match next {
            Some(DimSize::Of(of, _)) if op.cx.shape(op.ty(of)).is_none() || kind(op.ty(of)) != wanted => break,
            Some(size) => found = Found { size, is_other: true },
            None => break,
        }
    }
    Some(found)
}

/// What the op that makes `value` says.
fn next(op: OpRef<'_>, value: Value, dim: usize) -> Option<DimSize> {
    let ValueKind::Result(definition, index) = op.body.value_kind(value) else { return None };
    let definition = op.at(definition);
    if let Some(interface) = definition.interface::<dyn ReifyShapes>() {
        return interface.dim_size(definition, index as usize, dim);
    }
    let same = definition.has_trait(Traits::SameOperandsAndResultShape)
        || definition.has_trait(Traits::SameOperandsAndResultType);
    (same && definition.num_operands() > 0).then(|| DimSize::Of(definition.operand(0), dim))
}

/// Folds the size of dimension `index` of the first operand.
pub(crate) fn fold_dim(op: OpRef<'_>, index: Attr) -> Option<FoldValue> {
    let dim = usize::try_from(op.cx.as_int(index)?).ok()?;
    match resolve(op, op.operand(0), dim)?.size {
        DimSize::Static(size) => Some(FoldValue::Attr(op.cx.index_attr(size))),
        DimSize::Value(value) => Some(FoldValue::Value(value)),
        DimSize::Of(..) => None,
    }
}

/// `dim` of what has the sizes of something else to `dim` of that.
pub(crate) fn dim_of_reified(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let this = rw.op_ref(op);
        let old = usize::try_from(this.cx.as_int(this.constant(this.operand(1))?)?).ok()?;
        let found = resolve(this, this.operand(0), old)?;
        match found.size {
            DimSize::Of(of, dim) if found.is_other => Some((old, of, dim)),
            _ => None,
        }
    })();
    let reason = "the dimension is no constant, or its size is not known to be one of another value";
    let (old, of, dim) = rw.require(op, found, reason)?;
    if old != dim {
        let (cx, loc) = (rw.cx(), rw.body().loc(op));
        rw.set_before(op);
        let index = crate::arith::ConstantOp::value(rw, loc, cx.index_attr(dim as i64));
        rw.set_operand(op, 1, index);
    }
    rw.set_operand(op, 0, of);
    Some(())
}
