//! The one way to change a body from outside this module: an [`Editor`], which tells its listener.
//!
//! The functions of [`edit`](super::edit) and [`uses`](super::uses) that change tables are private to `body`, and an
//! editor reaches the body only through [`Editor::change_then_tell`] and [`Editor::tell_then_change`]. So what a listener
//! hears is not a matter of care.

use super::{Block, Body, Op, OpHeader, Region, Value};
use crate::attrs::Attr;
use crate::context::Ident;
use crate::listener::Listener;
use crate::location::Loc;
use crate::types::Type;

/// A body and who hears of its changes.
pub(crate) struct Editor<'b> {
    body: &'b mut Body,
    listener: Option<&'b mut dyn Listener>,
}

impl<'b> Editor<'b> {
    pub(crate) fn new(body: &'b mut Body, listener: Option<&'b mut dyn Listener>) -> Self {
        Self { body, listener }
    }

    pub(crate) fn body(&self) -> &Body {
        self.body
    }

    /// Tells something that is no change.
    pub(crate) fn tell(&mut self, event: impl FnOnce(&mut dyn Listener, &Body)) {
        if let Some(listener) = self.listener.as_deref_mut() {
            event(listener, self.body);
        }
    }

    fn change_then_tell<R: Copy>(
        &mut self,
        change: impl FnOnce(&mut Body) -> R,
        event: impl FnOnce(&mut dyn Listener, &Body, R),
    ) -> R {
        let made = change(self.body);
        self.tell(|listener, body| event(listener, body, made));
        made
    }

    fn tell_then_change(&mut self, event: impl FnOnce(&mut dyn Listener, &Body), change: impl FnOnce(&mut Body)) {
        self.tell(event);
        change(self.body);
    }

    /// A change of `op` itself.
    fn modify(&mut self, op: Op, change: impl FnOnce(&mut Body)) {
        self.change_then_tell(change, |l, b, ()| l.op_modified(b, op));
    }

    // ---- operations

    /// Creates an op at a place: in a block, before an op or at the end; or in no block.
    pub(crate) fn create_op(
        &mut self,
        header: OpHeader,
        (operands, result_types): (&[Value], &[Type]),
        successors: &[Block],
        n_regions: usize,
        nested: Option<Box<Body>>,
        at: Option<(Block, Option<Op>)>,
    ) -> Op {
        let create = |body: &mut Body| {
            let op = body.create_op(header, operands, result_types, successors, n_regions, nested);
            if let Some((block, before)) = at {
                body.insert_op(block, op, before);
            }
            op
        };
        self.change_then_tell(create, |l, b, op| l.op_inserted(b, op))
    }

    /// Puts a detached op into a block, before `before` or at the end.
    pub(crate) fn insert_op(&mut self, block: Block, op: Op, before: Option<Op>) {
        self.change_then_tell(|body| body.insert_op(block, op, before), |l, b, ()| l.op_inserted(b, op));
    }

    /// Moves an op into `block`, before `before` or to the end.
    pub(crate) fn move_op(&mut self, block: Block, op: Op, before: Option<Op>) {
        let stays = self.body.op_block(op) == Some(block) && (before == Some(op) || self.body.next_op(op) == before);
        if !stays {
            let go = |body: &mut Body| {
                body.unlink_op(op);
                body.insert_op(block, op, before);
            };
            self.change_then_tell(go, |l, b, ()| l.op_moved(b, op));
        }
    }

    pub(crate) fn erase_op(&mut self, op: Op) {
        self.tell_then_change(|l, b| l.op_erased(b, op), |body| body.erase_op(op));
    }

    pub(crate) fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        if self.body.operand(op, index) != value {
            self.modify(op, |body| body.set_operand(op, index, value));
        }
    }

    pub(crate) fn set_operands(&mut self, op: Op, operands: &[Value]) {
        if !self.body.operands(op).eq(operands.iter().copied()) {
            self.modify(op, |body| body.set_operands(op, operands));
        }
    }

    pub(crate) fn set_successor(&mut self, op: Op, index: usize, block: Block) {
        if self.body.successors(op)[index] != block {
            self.modify(op, |body| body.set_successor(op, index, block));
        }
    }

    /// Sets the dictionaries of inherent and discardable attributes.
    pub(crate) fn set_dicts(&mut self, op: Op, props: Attr, attrs: Attr) {
        let header = OpHeader { props, attrs, ..*self.body.header(op) };
        self.set_header(op, header);
    }

    pub(crate) fn set_loc(&mut self, op: Op, loc: Loc) {
        let header = OpHeader { loc, ..*self.body.header(op) };
        self.set_header(op, header);
    }

    fn set_header(&mut self, op: Op, header: OpHeader) {
        if *self.body.header(op) != header {
            self.modify(op, |body| body.set_header(op, header));
        }
    }

    // ---- nested bodies

    /// Gives an isolated op another body, or takes its body away, and returns the old one.
    pub(crate) fn replace_nested(&mut self, op: Op, nested: Option<Box<Body>>) -> Option<Box<Body>> {
        let mut old = None;
        let replace = |body: &mut Body| {
            body.epoch += 1;
            old = body.replace_nested(op, nested);
        };
        self.change_then_tell(replace, |l, b, ()| l.nested_modified(b, op));
        old
    }

    /// Changes the body that an isolated op owns; `None` when it owns none.
    pub(crate) fn edit_nested<R>(&mut self, op: Op, edit: impl FnOnce(&mut Body) -> R) -> Option<R> {
        self.body.nested(op)?;
        let mut result = None;
        let change = |body: &mut Body| {
            body.epoch += 1;
            result = body.nested_mut(op).map(edit);
        };
        self.change_then_tell(change, |l, b, ()| l.nested_modified(b, op));
        result
    }

    // ---- blocks

    pub(crate) fn create_block(&mut self) -> Block {
        self.change_then_tell(Body::create_block, |l, b, block| l.block_created(b, block))
    }

    /// Puts a detached block into a region, before `before` or at the end.
    pub(crate) fn insert_block(&mut self, region: Region, block: Block, before: Option<Block>) {
        self.change_then_tell(|body| body.insert_block(region, block, before), |l, b, ()| l.block_inserted(b, block));
    }

    /// Moves a block into `region`, before `before` or to the end.
    pub(crate) fn move_block(&mut self, region: Region, block: Block, before: Option<Block>) {
        let Some(from) = self.body.block_region(block) else { return self.insert_block(region, block, before) };
        if from == region && (before == Some(block) || self.body.next_block(block) == before) {
            return;
        }
        let go = |body: &mut Body| {
            body.unlink_block(block);
            body.insert_block(region, block, before);
        };
        self.change_then_tell(go, |l, b, ()| l.block_moved(b, block, from));
    }

    /// Erases blocks that may refer to each other.
    pub(crate) fn erase_blocks(&mut self, blocks: &[Block]) {
        let event = |listener: &mut dyn Listener, body: &Body| {
            for &block in blocks {
                listener.block_erased(body, block);
                body.ops(block).for_each(|op| listener.op_erased(body, op));
            }
        };
        self.tell_then_change(event, |body| body.erase_blocks(blocks));
    }

    pub(crate) fn add_block_arg(&mut self, block: Block, ty: Type, loc: Loc) -> Value {
        self.change_then_tell(|body| body.add_block_arg(block, ty, loc), |l, b, _| l.block_modified(b, block))
    }

    pub(crate) fn erase_block_arg(&mut self, block: Block, index: usize) {
        self.change_then_tell(|body| body.erase_block_arg(block, index), |l, b, ()| l.block_modified(b, block));
    }

    pub(crate) fn set_arg_loc(&mut self, block: Block, index: usize, loc: Loc) {
        if self.body.block_data(block).arg_locs[index] != loc {
            self.change_then_tell(|body| body.set_arg_loc(block, index, loc), |l, b, ()| l.block_modified(b, block));
        }
    }

    // ---- values

    pub(crate) fn create_placeholder(&mut self, ty: Type) -> Value {
        self.change_then_tell(|body| body.create_placeholder(ty), |l, b, value| l.placeholder_created(b, value))
    }

    /// Makes every use of `old` use `new`.
    pub(crate) fn replace_all_uses(&mut self, old: Value, new: Value) {
        if old == new || self.body.is_unused(old) {
            return;
        }
        let users: Vec<Op> = match self.listener {
            Some(_) => self.body.uses(old).map(|u| u.owner).collect(),
            None => Vec::new(),
        };
        self.change_then_tell(
            |body| body.replace_all_uses(old, new),
            |l, b, ()| users.into_iter().for_each(|user| l.use_replaced(b, user)),
        );
    }

    pub(crate) fn set_type(&mut self, value: Value, ty: Type) {
        if self.body.ty(value) == ty {
            return;
        }
        let event = |listener: &mut dyn Listener, body: &Body, ()| match body.value_kind(value) {
            super::ValueKind::Result(op, _) => listener.op_modified(body, op),
            super::ValueKind::Arg(block, _) => listener.block_modified(body, block),
            super::ValueKind::Placeholder => listener.placeholder_created(body, value),
        };
        self.change_then_tell(|body| body.set_type(value, ty), event);
    }

    pub(crate) fn set_value_name(&mut self, value: Value, name: Option<Ident>) {
        if self.body.value_name(value) != name {
            self.change_then_tell(|body| body.set_value_name(value, name), |l, b, ()| l.value_named(b, value));
        }
    }

    /// Gives memory back that growth left unused; no change.
    pub(crate) fn shrink(&mut self) {
        self.body.shrink();
    }
}
