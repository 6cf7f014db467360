//! Copies of bodies. Handles mean the same in the copy; what is known of the body is not taken for known of the copy.

use super::data::OpData;
use super::{Body, Op, new_id};

impl Body {
    /// A copy whose ops own no bodies.
    fn shallow_copy(&self) -> Self {
        Self {
            tag: self.tag,
            id: new_id(),
            ops: self.ops.iter().map(OpData::without_body).collect(),
            blocks: self.blocks.clone(),
            regions: self.regions.clone(),
            values: self.values.clone(),
            uses: self.uses.clone(),
            successors: self.successors.clone(),
            names: self.names.clone(),
            n_owner_regions: self.n_owner_regions,
            n_live_ops: self.n_live_ops,
            epoch: self.epoch,
        }
    }
}

impl Clone for Body {
    /// Copies nested bodies too, whose depth costs no stack.
    fn clone(&self) -> Self {
        // Bodies, parents first, with the index of the one around and the owner in it.
        let mut nodes: Vec<(&Self, usize, Option<Op>)> = vec![(self, 0, None)];
        let mut next = 0;
        while let Some(&(body, ..)) = nodes.get(next) {
            let owners = body.preorder().filter_map(|op| Some((body.nested(op)?, next, Some(op))));
            nodes.extend(owners);
            next += 1;
        }
        let mut copies: Vec<Self> = nodes.iter().map(|(body, ..)| body.shallow_copy()).collect();
        for &(_, around, owner) in nodes.iter().rev() {
            let copy = copies.pop().expect("one for each node");
            match owner {
                Some(op) => {
                    copies[around].replace_nested(op, Some(Box::new(copy)));
                }
                None => return copy,
            }
        }
        unreachable!("the first node has no owner")
    }
}

#[cfg(test)]
mod tests {
    use crate::body::Module;
    use crate::context::Context;
    use crate::location::Loc;
    use crate::registry::Registry;

    #[test]
    fn copies_are_independent_at_any_depth() {
        let cx = Context::new(Registry::default());
        let mut module = Module::new(&cx, Loc::UNKNOWN);
        for _ in 0..20_000 {
            let header = module.root().data(module.op()).header;
            let op = module.op();
            let inner = module.root_mut().replace_nested(op, None).expect("owns a body");
            let mut outer = Module::new(&cx, Loc::UNKNOWN);
            let block = outer.body().entry_block().expect("a block");
            let body = outer.body_mut();
            let op = body.push_isolated(header, *inner);
            body.append_op(block, op);
            module = outer;
        }
        let mut copy = module.clone();
        let block = copy.body().entry_block().expect("a block");
        let first = copy.body().first_op(block).expect("an op");
        assert!(copy.body_mut().detach_isolated(first).is_some());
        assert!(module.body().nested(first).is_some());
        assert!(copy.body().nested(first).is_none());
    }
}
