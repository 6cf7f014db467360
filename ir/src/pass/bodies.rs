//! Work on a body and all bodies nested in it, for passes that do not care where one ends.

use rayon::prelude::*;

use crate::body::{Body, Op};
use crate::registry::OpName;

/// A nested body, taken out of the one around it.
struct Slot {
    owner: OpName,
    op: Op,
    /// Index in the level above.
    parent: usize,
    body: Box<Body>,
}

/// Calls `work` for each body nested in `body`, innermost first and those of one depth in parallel, at last for `body`
/// itself. `owner` is the name of the op that owns the body it is called for. The results are in an order that does
/// not depend on threads: innermost first, siblings as in the text.
pub fn for_each_body<T: Send>(owner: OpName, body: &mut Body, work: impl Fn(OpName, &mut Body) -> T + Sync) -> Vec<T> {
    let mut levels: Vec<Vec<Slot>> = Vec::new();
    let mut next = take_nested(0, body);
    while !next.is_empty() {
        levels.push(next);
        let level = levels.last_mut().expect("just pushed");
        next = level.iter_mut().enumerate().flat_map(|(index, slot)| take_nested(index, &mut slot.body)).collect();
    }
    let mut results = Vec::new();
    while let Some(mut level) = levels.pop() {
        let done: Vec<T> = level.par_iter_mut().map(|slot| work(slot.owner, &mut slot.body)).collect();
        results.extend(done);
        for slot in level {
            let around = match levels.last_mut() {
                Some(level) => &mut *level[slot.parent].body,
                None => &mut *body,
            };
            around.replace_nested(slot.op, Some(slot.body));
        }
    }
    results.push(work(owner, body));
    results
}

/// Takes the nested bodies out of `body`, in the order of the text.
fn take_nested(parent: usize, body: &mut Body) -> Vec<Slot> {
    let ops: Vec<Op> = body.preorder().filter(|op| body.nested(*op).is_some()).collect();
    ops.into_iter()
        .filter_map(|op| Some(Slot { owner: body.name(op), op, parent, body: body.replace_nested(op, None)? }))
        .collect()
}
