//! Places in a module that mean the same in a copy of it: an operation by its body and its position there.

use sutura_ir::{Body, Context, Module, Op, OpRef};

/// An operation: the isolated operations around it, outermost first, each as a position in its body; then its own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Site {
    pub(crate) body: Vec<usize>,
    pub(crate) at: usize,
}

/// All operations below the top-level one, those of an outer body before those of the bodies in it.
pub(crate) fn sites<'m>(cx: &'m Context, module: &'m Module) -> Vec<(Site, OpRef<'m>)> {
    let mut found = Vec::new();
    let mut pending = vec![(Vec::new(), module.body())];
    while let Some((path, body)) = pending.pop() {
        for (at, op) in body.preorder().enumerate() {
            if let Some(nested) = body.nested(op) {
                let mut path = path.clone();
                path.push(at);
                pending.push((path, nested));
            }
            found.push((Site { body: path.clone(), at }, OpRef::new(cx, body, op)));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// The body at a path, for changes.
pub(crate) fn body_mut<'m>(module: &'m mut Module, path: &[usize]) -> Option<&'m mut Body> {
    let mut body = module.body_mut();
    for &at in path {
        let op = body.preorder().nth(at)?;
        body = body.nested_mut(op)?;
    }
    Some(body)
}

/// The operation at a position of a body.
pub(crate) fn op_at(body: &Body, at: usize) -> Option<Op> {
    body.preorder().nth(at)
}
