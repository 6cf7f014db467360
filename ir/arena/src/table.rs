//! Values by dense index, appended and read without a lock.

use std::hash::Hash;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hashbrown::HashTable;

use crate::{SHARDS, hash_of, shard_of};

/// Size of the first chunk; chunk `k` holds `FIRST << k` slots, so 26 chunks cover the `u32` range.
const FIRST: u32 = 64;
const CHUNKS: usize = 27;

/// An append-only table: [`Table::push`] returns the value's index, [`Table::get`] reads it back.
///
/// Slots are `OnceLock`s in chunks of doubling size, so a value never moves and a reader never waits.
pub struct Table<T> {
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
    len: AtomicU32,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS], len: AtomicU32::new(0) }
    }
}

impl<T> Table<T> {
    /// Chunk number and offset of an index.
    fn locate(index: u32) -> (usize, usize) {
        let biased = u64::from(index) + u64::from(FIRST);
        let chunk = 63 - biased.leading_zeros() - FIRST.trailing_zeros();
        (chunk as usize, (biased - (u64::from(FIRST) << chunk)) as usize)
    }

    /// Appends `value` and returns its index.
    ///
    /// # Panics
    /// When the table already holds `u32::MAX` values.
    pub fn push(&self, value: T) -> u32 {
        let index = self.len.fetch_add(1, Ordering::Relaxed);
        assert!(index != u32::MAX, "interned storage is full");
        let (chunk, offset) = Self::locate(index);
        let slots = self.chunks[chunk].get_or_init(|| {
            let n = (FIRST as usize) << chunk;
            (0..n).map(|_| OnceLock::new()).collect()
        });
        let fresh = slots[offset].set(value).is_ok();
        assert!(fresh, "an index is handed out once");
        index
    }

    /// The value at `index`, if one was appended there.
    pub fn try_get(&self, index: u32) -> Option<&T> {
        let (chunk, offset) = Self::locate(index);
        self.chunks.get(chunk)?.get()?.get(offset)?.get()
    }

    /// The value at `index`.
    ///
    /// # Panics
    /// When `index` did not come from this table.
    pub fn get(&self, index: u32) -> &T {
        self.try_get(index).expect("index of this table")
    }

    /// Number of values appended so far.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed) as usize
    }

    /// True before the first value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Gives equal values equal indices.
pub struct Interner<T> {
    table: Table<T>,
    shards: [Mutex<HashTable<u32>>; SHARDS],
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { table: Table::default(), shards: [const { Mutex::new(HashTable::new()) }; SHARDS] }
    }
}

/// A poisoned shard is still consistent: an entry is added only after its value is in the table.
pub(crate) fn lock<T>(shard: &Mutex<T>) -> MutexGuard<'_, T> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Eq + Hash> Interner<T> {
    /// The index of `value`, appending it on first sight.
    pub fn intern(&self, value: T) -> u32 {
        let hash = hash_of(&value);
        let mut shard = lock(&self.shards[shard_of(hash)]);
        if let Some(&index) = shard.find(hash, |&i| *self.table.get(i) == value) {
            return index;
        }
        let index = self.table.push(value);
        shard.insert_unique(hash, index, |&i| hash_of(self.table.get(i)));
        index
    }

    /// The index of `value` if it was interned before.
    pub fn lookup(&self, value: &T) -> Option<u32> {
        let hash = hash_of(value);
        lock(&self.shards[shard_of(hash)]).find(hash, |&i| self.table.get(i) == value).copied()
    }

    /// The value at `index`.
    ///
    /// # Panics
    /// When `index` did not come from this interner.
    pub fn get(&self, index: u32) -> &T {
        self.table.get(index)
    }

    /// Number of distinct values.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// True before the first value.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_dense_and_values_stay() {
        let table = Table::default();
        for i in 0..1000u32 {
            assert_eq!(table.push(i * 3), i);
        }
        for i in 0..1000u32 {
            assert_eq!(*table.get(i), i * 3);
        }
        assert!(table.try_get(1000).is_none());
        assert!(table.try_get(u32::MAX).is_none());
    }

    #[test]
    fn equal_values_share_an_index() {
        let interner = Interner::default();
        let a = interner.intern("a".to_string());
        let b = interner.intern("b".to_string());
        assert_ne!(a, b);
        assert_eq!(interner.intern("a".to_string()), a);
        assert_eq!(interner.lookup(&"b".to_string()), Some(b));
        assert_eq!(interner.lookup(&"c".to_string()), None);
        assert_eq!(interner.len(), 2);
    }

    #[test]
    fn threads_agree() {
        let interner = Interner::default();
        let n = if cfg!(miri) { 50 } else { 5000u32 };
        let all: Vec<Vec<u32>> = std::thread::scope(|s| {
            let handles: Vec<_> =
                (0..4).map(|_| s.spawn(|| (0..n).map(|i| interner.intern(i % 700)).collect())).collect();
            handles.into_iter().map(|h| h.join().unwrap()).collect()
        });
        assert!(all.windows(2).all(|w| w[0] == w[1]));
        assert_eq!(interner.len(), n.min(700) as usize);
    }
}
