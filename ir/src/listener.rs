//! Hearing of changes.

use crate::body::{Block, Body, Op, Region, Value};

/// Hears of every change of a body that a [`Builder`](crate::builder::Builder) or a
/// [`Rewriter`](crate::rewriter::Rewriter) makes: there is no other way to change one that they hold. What leaves things
/// as they are, a type set to what it is already, is no change and not told.
///
/// A listener that keeps up with these calls knows the body: for each call, what it names can have changed, and nothing
/// else. All methods but [`op_moved`](Self::op_moved), [`use_replaced`](Self::use_replaced),
/// [`block_modified`](Self::block_modified), [`block_moved`](Self::block_moved) and
/// [`nested_modified`](Self::nested_modified) do nothing by default; these tell the op that is concerned that it was
/// modified.
pub trait Listener {
    /// `op` was created or, detached until now, inserted. One that is created at no insertion point stays detached.
    fn op_inserted(&mut self, _body: &Body, _op: Op) {}
    /// `op` is about to be erased (its regions with it).
    fn op_erased(&mut self, _body: &Body, _op: Op) {}
    /// Attributes, operands, successors, location or result types of `op` changed in place.
    fn op_modified(&mut self, _body: &Body, _op: Op) {}
    /// `op` went elsewhere in the body, unchanged.
    fn op_moved(&mut self, body: &Body, op: Op) {
        self.op_modified(body, op);
    }
    /// `op`, which used a value that was replaced everywhere, uses another one now.
    fn use_replaced(&mut self, body: &Body, op: Op) {
        self.op_modified(body, op);
    }
    /// All uses of `op`'s results are about to be replaced by `values`; each change is told too.
    fn op_replaced(&mut self, _body: &Body, _op: Op, _values: &[Value]) {}
    /// What lies in the body that `op` owns changed, or `op` owns another one now, or none.
    fn nested_modified(&mut self, body: &Body, op: Op) {
        self.op_modified(body, op);
    }

    /// A block was created that is in no region yet.
    fn block_created(&mut self, _body: &Body, _block: Block) {}
    /// A block that was in no region was put into one.
    fn block_inserted(&mut self, _body: &Body, _block: Block) {}
    /// Number, types or locations of a block's arguments changed.
    fn block_modified(&mut self, body: &Body, block: Block) {
        if let Some(around) = body.block_parent(block) {
            self.op_modified(body, around);
        }
    }
    /// A block, with what lies in it, went elsewhere in the body. It was in `from`.
    fn block_moved(&mut self, body: &Body, block: Block, from: Region) {
        let (old, new) = (body.region_parent(from), body.block_parent(block));
        if let Some(old) = old.filter(|old| Some(*old) != new) {
            self.op_modified(body, old);
        }
        if let Some(new) = new {
            self.op_modified(body, new);
        }
    }
    /// A block is about to be erased; that of each op in it is told by itself.
    fn block_erased(&mut self, _body: &Body, _block: Block) {}

    /// A value was created that nothing defines yet.
    fn placeholder_created(&mut self, _body: &Body, _value: Value) {}
    /// A value has another name now, or none.
    fn value_named(&mut self, _body: &Body, _value: Value) {}

    /// A pattern did not apply to `op`, for this reason.
    fn match_failed(&mut self, _body: &Body, _op: Op, _reason: &dyn Fn() -> String) {}
}
