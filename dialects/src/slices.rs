//! What ops with lists of offsets, sizes and strides have in common, and reshapes that group dimensions.

use sutura_ir::constraints::DenseI64ArrayAttr;
use sutura_ir::op_def::AttrConstraintDef;
use sutura_ir::{DYNAMIC, Diagnostic, OpRef, Value};

/// An entry of a list that holds values and numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mixed {
    /// Known at run time only.
    Value(Value),
    /// Known.
    Static(i64),
}

impl Mixed {
    /// The number, when it is known.
    pub fn as_static(self) -> Option<i64> {
        match self {
            Self::Static(number) => Some(number),
            Self::Value(_) => None,
        }
    }
}

/// Splits a list into its values and its numbers, with [`DYNAMIC`] for each value.
pub fn split_mixed(list: &[Mixed]) -> (Vec<Value>, Vec<i64>) {
    let values = list.iter().filter_map(|m| if let Mixed::Value(v) = m { Some(*v) } else { None });
    (values.collect(), list.iter().map(|m| m.as_static().unwrap_or(DYNAMIC)).collect())
}

/// The list that operand group `group` and the attribute `name` hold together.
pub(crate) fn mixed(op: OpRef<'_>, group: usize, name: &str) -> Vec<Mixed> {
    let numbers = op.prop(name).and_then(|a| DenseI64ArrayAttr::get(op.cx, a)).unwrap_or_default();
    let mut values = op.operand_group(group).unwrap_or_default().map(|i| op.operand(i));
    let entry = |number| match (number == DYNAMIC).then(|| values.next()).flatten() {
        Some(value) => Mixed::Value(value),
        None => Mixed::Static(number),
    };
    numbers.into_iter().map(entry).collect()
}

/// A list must have `len` entries (any number for `None`), and a value for each dynamic one.
pub(crate) fn verify_mixed(
    op: OpRef<'_>,
    what: &str,
    group: usize,
    name: &str,
    len: Option<usize>,
) -> Result<(), Diagnostic> {
    let numbers = op.prop(name).and_then(|a| DenseI64ArrayAttr::get(op.cx, a)).unwrap_or_default();
    if let Some(expected) = len.filter(|len| *len != numbers.len()) {
        return Err(op.error(format!("expected {expected} {what} values, got {}", numbers.len())));
    }
    let dynamic = numbers.iter().filter(|n| **n == DYNAMIC).count();
    if dynamic != op.operand_group(group).unwrap_or_default().len() {
        return Err(op.error(format!("expected {dynamic} dynamic {what} values")));
    }
    Ok(())
}

/// Offsets, sizes and strides of an op, whose operand groups follow each other from `group` on.
#[derive(Clone, Debug)]
pub struct Slice {
    /// Where it begins in each dimension.
    pub offsets: Vec<Mixed>,
    /// How long it is in each dimension.
    pub sizes: Vec<Mixed>,
    /// Step in each dimension.
    pub strides: Vec<Mixed>,
}

impl Slice {
    pub(crate) fn of(op: OpRef<'_>, group: usize) -> Self {
        Self {
            offsets: mixed(op, group, "static_offsets"),
            sizes: mixed(op, group + 1, "static_sizes"),
            strides: mixed(op, group + 2, "static_strides"),
        }
    }

    /// The sizes as a shape.
    pub(crate) fn shape(&self) -> Vec<i64> {
        self.sizes.iter().map(|m| m.as_static().unwrap_or(DYNAMIC)).collect()
    }

    /// True when it is all of a value of this shape, which must be static.
    pub(crate) fn is_whole(&self, shape: &[i64]) -> bool {
        let all = |list: &[Mixed], number| list.iter().all(|m| *m == Mixed::Static(number));
        let sizes = self.sizes.iter().zip(shape).all(|(m, size)| *size != DYNAMIC && *m == Mixed::Static(*size));
        sizes && all(&self.offsets, 0) && all(&self.strides, 1)
    }
}

/// The output shape of an expansion: an entry for each dimension of the result.
pub(crate) fn verify_output_shape(op: OpRef<'_>, group: usize, result: &[i64]) -> Result<(), Diagnostic> {
    let shape = mixed(op, group, "static_output_shape");
    if shape.len() != result.len() {
        let (rank, found) = (result.len(), shape.len());
        return Err(op.error(format!(
            "expected number of static shape dims to be equal to the output rank ({rank}) but found {found} inputs instead"
        )));
    }
    verify_mixed(op, "output shape", group, "static_output_shape", None)
}

/// The three lists must have an entry for each dimension.
pub(crate) fn verify_slice(op: OpRef<'_>, group: usize, rank: usize) -> Result<(), Diagnostic> {
    let count = |name| op.prop(name).and_then(|a| DenseI64ArrayAttr::get(op.cx, a)).map_or(0, |list| list.len());
    let [offsets, sizes, strides] = ["static_offsets", "static_sizes", "static_strides"].map(count);
    for (name, len) in [("offsets", offsets), ("strides", strides)] {
        if len != sizes {
            let message = format!(
                "expected mixed {name} rank to match mixed sizes rank ({len} vs {sizes}) so the rank of the result type is \
                 well-formed."
            );
            return Err(Diagnostic::error(op.loc(), message));
        }
    }
    verify_mixed(op, "offset", group, "static_offsets", Some(rank))?;
    verify_mixed(op, "size", group + 1, "static_sizes", Some(rank))?;
    verify_mixed(op, "stride", group + 2, "static_strides", Some(rank))?;
    let negative = |list: &[Mixed]| list.iter().filter_map(|m| m.as_static()).any(|n| n < 0);
    let slice = Slice::of(op, group);
    if negative(&slice.offsets) {
        return Err(op.error("expected offsets to be non-negative"));
    }
    if negative(&slice.sizes) {
        return Err(op.error("expected sizes to be non-negative"));
    }
    Ok(())
}

/// True when dropping sizes of one from `from` can give `to`.
pub(crate) fn is_rank_reduction(from: &[i64], to: &[i64]) -> bool {
    let mut rest = to.iter().peekable();
    for size in from {
        if rest.peek() == Some(&size) {
            rest.next();
        } else if *size != 1 {
            return false;
        }
    }
    rest.next().is_none()
}

/// Checks that `groups` split the dimensions of `expanded` into runs, one for each dimension of `collapsed`.
pub(crate) fn verify_reassociation(
    op: OpRef<'_>,
    groups: &[Vec<i64>],
    expanded: &[i64],
    collapsed: &[i64],
) -> Result<(), Diagnostic> {
    if groups.len() != collapsed.len() {
        let (rank, found) = (collapsed.len(), groups.len());
        return Err(
            op.error(format!("expected collapsed rank ({rank}) to equal the number of reassociation maps ({found})."))
        );
    }
    if collapsed.is_empty() {
        let all_one = expanded.iter().all(|d| *d == 1 || *d == DYNAMIC);
        return if all_one {
            Ok(())
        } else {
            Err(op.error("invalid to reshape tensor/memref with non-unit extent dimensions to zero-rank tensor/memref"))
        };
    }
    if !groups.iter().flatten().copied().eq(0..expanded.len() as i64) {
        return Err(op.error("expected reassociation maps to be contiguous and to cover every dimension once"));
    }
    for (i, (group, size)) in groups.iter().zip(collapsed).enumerate() {
        let sizes: Vec<i64> = group.iter().map(|d| expanded[*d as usize]).collect();
        let dynamic = sizes.contains(&DYNAMIC);
        if dynamic && *size != DYNAMIC {
            return Err(op.error(format!(
                "expected dimension {i} of collapsed type to be dynamic since one or more of the corresponding dimensions \
                 in the expanded type is dynamic"
            )));
        }
        let product = sizes.iter().try_fold(1i64, |p, s| p.checked_mul(*s));
        if !dynamic && product != Some(*size) {
            let product = product.unwrap_or(i64::MAX);
            return Err(op.error(format!("expected dimension {i} of collapsed type to be static value of {product}")));
        }
    }
    Ok(())
}
