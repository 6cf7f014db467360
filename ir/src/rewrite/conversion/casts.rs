//! The casts that bridge old and new types while a conversion is under way, and how they go away.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::types::TypeConverter;
use crate::body::{Body, Op, Value};
use crate::builtin::UnrealizedConversionCastOp;
use crate::context::Context;
use crate::op_ref::OpRef;
use crate::rewriter::Rewriter;
use crate::types::Type;

/// Which way a cast goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CastKind {
    /// From the values that replaced a value to its old type.
    Source,
    /// From an old type to the types that a pattern works on.
    Target,
}

/// A cast that the conversion made.
#[derive(Clone)]
pub(super) struct Cast {
    pub(super) kind: CastKind,
    pub(super) converter: Option<Arc<TypeConverter>>,
}

/// The casts that the conversion made in one body.
#[derive(Default)]
pub(super) struct Casts {
    pub(super) made: IndexMap<Op, Cast>,
    /// Casts of a value to types, at its definition.
    pub(super) at_definition: FxHashMap<(Value, SmallVec<[Type; 1]>), Op>,
}

pub(super) fn is_cast(cx: &Context, body: &Body, op: Op) -> bool {
    OpRef::new(cx, body, op).is::<UnrealizedConversionCastOp<'_>>()
}

/// The cast whose results are exactly `values`, in order.
fn producer(cx: &Context, body: &Body, values: &[Value]) -> Option<Op> {
    let op = body.defining_op(*values.first()?)?;
    (is_cast(cx, body, op) && body.results(op).eq(values.iter().copied())).then_some(op)
}

/// Values of `types` that `values` were cast from, over any number of casts.
pub(super) fn look_through(
    cx: &Context,
    body: &Body,
    values: &[Value],
    types: &[Type],
) -> Option<SmallVec<[Value; 1]>> {
    let mut values: SmallVec<[Value; 1]> = values.into();
    loop {
        if values.iter().map(|v| body.ty(*v)).eq(types.iter().copied()) {
            return Some(values);
        }
        let cast = producer(cx, body, &values)?;
        values = body.operands(cast).collect();
    }
}

/// Removes those of `casts` that cast back what another cast made, and those that nothing uses. Returns the others.
///
/// Casts that only feed removed ones are removed too, also when they are not among `casts`.
pub fn reconcile_unrealized_casts(cx: &Context, body: &mut Body, casts: &[Op]) -> Vec<Op> {
    let mut erasable: FxHashSet<Op> = casts.iter().copied().collect();
    for &cast in casts {
        let (inputs, results): (SmallVec<[Value; 4]>, SmallVec<[Value; 4]>) =
            (body.operands(cast).collect(), body.results(cast).collect());
        let types: SmallVec<[Type; 4]> = results.iter().map(|v| body.ty(*v)).collect();
        let Some(found) = look_through(cx, body, &inputs, &types) else { continue };
        erasable.extend(producer(cx, body, &inputs));
        let mut rw = Rewriter::new(cx, body);
        for (result, value) in results.into_iter().zip(found) {
            if result != value {
                rw.replace_all_uses(result, value);
            }
        }
    }
    erase_unused(cx, body, erasable);
    casts.iter().copied().filter(|cast| body.is_live(*cast)).collect()
}

/// Erases casts that nothing uses, and then those that fed them.
fn erase_unused(cx: &Context, body: &mut Body, casts: FxHashSet<Op>) {
    let mut pending: Vec<Op> = casts.into_iter().collect();
    // Sorted, so that the same casts go in the same order whatever the set's order is.
    pending.sort_unstable_by_key(|op| op.index());
    while let Some(cast) = pending.pop() {
        let unused = |body: &Body| body.results(cast).all(|r| body.is_unused(r));
        if !body.is_live(cast) || !unused(body) {
            continue;
        }
        let feeding: Vec<Op> = body.operands(cast).filter_map(|v| body.defining_op(v)).collect();
        Rewriter::new(cx, body).erase_op(cast);
        pending.extend(feeding.into_iter().filter(|op| is_cast(cx, body, *op)));
    }
}
