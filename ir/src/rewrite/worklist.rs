//! Ops that are still to be looked at; the one added last comes first, and none is in it twice.

use crate::body::Op;

#[derive(Default)]
pub(super) struct Worklist {
    ops: Vec<Op>,
    /// By op index.
    queued: Vec<bool>,
    /// Ops for when there is nothing else.
    later: Vec<Op>,
}

impl Worklist {
    pub(super) fn push(&mut self, op: Op) {
        if self.queued.len() <= op.index() {
            self.queued.resize(op.index() + 1, false);
        }
        if !std::mem::replace(&mut self.queued[op.index()], true) {
            self.ops.push(op);
        }
    }

    pub(super) fn extend(&mut self, ops: impl IntoIterator<Item = Op>) {
        ops.into_iter().for_each(|op| self.push(op));
    }

    /// Adds an op that is looked at when all others have been: what lies in it is not done.
    pub(super) fn push_later(&mut self, op: Op) {
        if self.later.last() != Some(&op) {
            self.later.push(op);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Op> {
        if self.ops.is_empty() {
            std::mem::take(&mut self.later).into_iter().for_each(|op| self.push(op));
        }
        let op = self.ops.pop()?;
        self.queued[op.index()] = false;
        Some(op)
    }

    /// Fills an empty list so that `ops` come out in their order.
    pub(super) fn fill(&mut self, ops: impl DoubleEndedIterator<Item = Op>) {
        ops.rev().for_each(|op| self.push(op));
    }
}
