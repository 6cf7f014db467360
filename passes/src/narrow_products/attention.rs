//! The products of attention: scores that lead to a softmax, and sums that its weights weigh.
//!
//! A fused kernel keeps scores near and multiplies f32 there, so that their factors are widened where they are brought near, also on
//! machines that have instructions for narrow ones.

use std::collections::HashSet;

use sutura_dialects::graph::ComputeForm;
use sutura_ir::{Body, Context, Op, OpRef, Value};

use crate::region::attention::names_softmax;

/// The products of a block that are one of attention, of its `graph.compute`s in order.
pub(super) fn products(cx: &Context, body: &Body, ops: &[Op]) -> HashSet<Op> {
    let mut found = HashSet::new();
    for op in ops.iter().map(|op| OpRef::new(cx, body, *op)).filter(|op| names_softmax(*op)) {
        let (scores, values) = (before(op), behind(op, ops));
        if !scores.is_empty() && !values.is_empty() {
            found.extend(scores.into_iter().chain(values));
        }
    }
    found
}

/// Whether an op combines numbers of several tensors; `None` for one that is no compute.
fn multiplies(op: OpRef<'_>) -> Option<bool> {
    let form = ComputeForm::of(op)?;
    Some(!form.is_elementwise() && form.inputs().len() > 1)
}

/// The products from which a softmax is made, with what is elementwise between and the softmax's own ops.
fn before(op: OpRef<'_>) -> Vec<Op> {
    let (mut seen, mut open, mut products) = (HashSet::new(), vec![op], Vec::new());
    while let Some(next) = open.pop() {
        for maker in next.operands().filter_map(|input| op.body.defining_op(input)) {
            match multiplies(op.at(maker)) {
                Some(true) => products.push(maker),
                Some(false) if seen.insert(maker) => open.push(op.at(maker)),
                _ => {}
            }
        }
    }
    products
}

/// The products that read the weights of a softmax, as they are or through elementwise ops.
fn behind(op: OpRef<'_>, ops: &[Op]) -> Vec<Op> {
    let (mut weights, mut products) = (HashSet::<Value>::from_iter(op.results()), Vec::new());
    for reader in ops.iter().map(|reader| op.at(*reader)).filter(|reader| reader.op != op.op) {
        if !reader.operands().any(|input| weights.contains(&input)) {
            continue;
        }
        match multiplies(reader) {
            Some(true) => products.push(reader.op),
            Some(false) => weights.extend(reader.results()),
            None => {}
        }
    }
    products
}
