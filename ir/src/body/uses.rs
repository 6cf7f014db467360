//! Chains of uses.

use super::{Body, Op, UseData, Value};

/// One use of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The op that uses it.
    pub owner: Op,
    /// Number of the operand.
    pub index: usize,
}

/// Uses of a value, newest first.
#[derive(Clone, Debug)]
pub struct Uses<'b> {
    body: &'b Body,
    next: u32,
}

impl Iterator for Uses<'_> {
    type Item = Use;

    fn next(&mut self) -> Option<Use> {
        let slot = self.next.checked_sub(1)? as usize;
        let data = &self.body.uses[slot];
        self.next = data.next;
        Some(Use { owner: data.owner, index: slot - self.body.data(data.owner).first_operand as usize })
    }
}

impl Body {
    /// Uses of a value, newest first.
    pub fn uses(&self, value: Value) -> Uses<'_> {
        Uses { body: self, next: self.value_data(value).first_use }
    }

    /// True when nothing uses the value.
    pub fn is_unused(&self, value: Value) -> bool {
        self.value_data(value).first_use == 0
    }

    /// True when exactly one operand uses the value.
    pub fn has_one_use(&self, value: Value) -> bool {
        let first = self.value_data(value).first_use;
        first != 0 && self.uses[first as usize - 1].next == 0
    }

    pub(super) fn operand_uses(&self, op: Op) -> &[UseData] {
        let data = self.data(op);
        &self.uses[data.first_operand as usize..][..data.n_operands as usize]
    }

    /// Appends operand slots for `op`, linked into their values' chains, and returns the first one's index.
    pub(super) fn push_operands(&mut self, op: Op, operands: &[Value]) -> u32 {
        let first = u32::try_from(self.uses.len()).expect("a body holds at most 2^32 - 1 operands");
        for &value in operands {
            self.uses.push(UseData { value, owner: op, next: 0, prev: 0 });
            self.link_use(self.uses.len() as u32 - 1);
        }
        first
    }

    fn link_use(&mut self, slot: u32) {
        let value = self.uses[slot as usize].value;
        let old = std::mem::replace(&mut self.value_mut(value).first_use, slot + 1);
        self.uses[slot as usize].next = old;
        self.uses[slot as usize].prev = 0;
        if old != 0 {
            self.uses[old as usize - 1].prev = slot + 1;
        }
    }

    pub(super) fn unlink_use(&mut self, slot: u32) {
        let UseData { value, next, prev, .. } = self.uses[slot as usize];
        if next != 0 {
            self.uses[next as usize - 1].prev = prev;
        }
        if prev != 0 {
            self.uses[prev as usize - 1].next = next;
        } else {
            self.value_mut(value).first_use = next;
        }
    }

    pub(super) fn unlink_operands(&mut self, op: Op) {
        let data = self.data(op);
        for slot in data.first_operand..data.first_operand + data.n_operands {
            self.unlink_use(slot);
        }
    }

    /// Makes operand `index` of `op` refer to `value`.
    pub(super) fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        let data = self.data(op);
        assert!(index < data.n_operands as usize, "operand {index} of an op with {}", data.n_operands);
        let slot = data.first_operand + index as u32;
        if self.uses[slot as usize].value != value {
            self.unlink_use(slot);
            self.uses[slot as usize].value = value;
            self.link_use(slot);
        }
    }

    /// Replaces all operands of `op`.
    pub(super) fn set_operands(&mut self, op: Op, operands: &[Value]) {
        self.unlink_operands(op);
        let first = self.push_operands(op, operands);
        let data = self.data_mut(op);
        data.first_operand = first;
        data.n_operands = operands.len() as u32;
    }

    /// Makes every use of `old` use `new`.
    pub(super) fn replace_all_uses(&mut self, old: Value, new: Value) {
        if old == new {
            return;
        }
        while let Some(slot) = self.value_data(old).first_use.checked_sub(1) {
            self.unlink_use(slot);
            self.uses[slot as usize].value = new;
            self.link_use(slot);
        }
    }
}
