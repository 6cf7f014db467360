//! The ops that can stand in for later ones: a hash table whose entries disappear with the scope that made them.

use hashbrown::HashTable;
use sutura_ir::Op;

#[derive(Clone, Copy)]
struct Entry {
    hash: u64,
    op: Op,
    /// For an op that reads memory: the number of writes before it.
    writes: Option<u64>,
}

/// Ops by hash, in scopes.
#[derive(Default)]
pub(super) struct ScopedTable {
    table: HashTable<Entry>,
    /// Entries in the order in which they were made.
    log: Vec<(u64, Op)>,
    /// Length of the log when each open scope began.
    scopes: Vec<usize>,
    /// True for ops in the table, by op index.
    known: Vec<bool>,
}

impl ScopedTable {
    pub(super) fn open(&mut self) {
        self.scopes.push(self.log.len());
    }

    pub(super) fn close(&mut self) {
        let from = self.scopes.pop().expect("a scope is open");
        for (hash, op) in self.log.drain(from..).rev() {
            self.known[op.index()] = false;
            if let Ok(entry) = self.table.find_entry(hash, |e| e.op == op) {
                entry.remove();
            }
        }
    }

    /// The op for which `same` holds, with the number of writes before it.
    pub(super) fn find(&self, hash: u64, mut same: impl FnMut(Op) -> bool) -> Option<(Op, Option<u64>)> {
        self.table.find(hash, |e| e.hash == hash && same(e.op)).map(|e| (e.op, e.writes))
    }

    pub(super) fn insert(&mut self, hash: u64, op: Op, writes: Option<u64>) {
        if self.known.len() <= op.index() {
            self.known.resize(op.index() + 1, false);
        }
        self.known[op.index()] = true;
        self.table.insert_unique(hash, Entry { hash, op, writes }, |e| e.hash);
        self.log.push((hash, op));
    }

    /// Puts `new` in the place of `old` in the innermost scope.
    pub(super) fn shadow(&mut self, hash: u64, old: Op, new: Op, writes: Option<u64>) {
        if let Ok(entry) = self.table.find_entry(hash, |e| e.op == old) {
            entry.remove();
            self.known[old.index()] = false;
        }
        self.insert(hash, new, writes);
    }

    /// True when the operands of `op` must stay as they are, because it is in the table.
    pub(super) fn contains(&self, op: Op) -> bool {
        self.known.get(op.index()).copied().unwrap_or(false)
    }
}
