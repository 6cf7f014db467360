//! Interned slices and strings in bump arenas.

use std::hash::Hash;
use std::sync::Mutex;

use bumpalo::Bump;
use bytes::Bytes;
use hashbrown::HashTable;

use crate::table::lock;
use crate::{SHARDS, Table, hash_of, shard_of};

/// A slice inside one of the arenas of the interner that owns it, or in bytes that it keeps.
struct Stored<T> {
    data: *const T,
    len: usize,
}

// SAFETY: a `Stored` is only ever read, and only as `&[T]`; sharing that between threads needs `T: Sync`, and no `T`
// is dropped or moved through it.
unsafe impl<T: Sync> Send for Stored<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Stored<T> {}

#[derive(Default)]
struct Shard {
    index: HashTable<u32>,
    arena: Bump,
    /// What was given and not copied.
    kept: Vec<Bytes>,
}

/// Gives equal slices equal indices; the elements are copied once, into a bump arena.
pub struct SliceInterner<T> {
    // Declared before the arenas: fields drop in order, and `Stored` values must not outlive what they point to.
    table: Table<Stored<T>>,
    shards: [Mutex<Shard>; SHARDS],
}

impl<T> Default for SliceInterner<T> {
    fn default() -> Self {
        Self { table: Table::default(), shards: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl<T: Copy + Eq + Hash + Sync> SliceInterner<T> {
    /// The index of `slice`, copying it on first sight.
    pub fn intern(&self, slice: &[T]) -> u32 {
        let hash = hash_of(slice);
        let mut shard = lock(&self.shards[shard_of(hash)]);
        if let Some(&index) = shard.index.find(hash, |&i| self.get(i) == slice) {
            return index;
        }
        let copy: &[T] = shard.arena.alloc_slice_copy(slice);
        let index = self.table.push(Stored { data: copy.as_ptr(), len: copy.len() });
        shard.index.insert_unique(hash, index, |&i| hash_of(self.get(i)));
        index
    }

    /// The index of `slice`, if it was interned.
    pub fn find(&self, slice: &[T]) -> Option<u32> {
        let hash = hash_of(slice);
        lock(&self.shards[shard_of(hash)]).index.find(hash, |&i| self.get(i) == slice).copied()
    }

    /// The slice at `index`.
    ///
    /// # Panics
    /// When `index` did not come from this interner.
    pub fn get(&self, index: u32) -> &[T] {
        let stored = self.table.get(index);
        // SAFETY: `data` and `len` describe a live allocation of a `Bump` owned by `self`, or what a `Bytes` in `kept` holds. A
        // `Bump` neither moves nor frees what it handed out before it is reset or dropped; ours are never reset, and they
        // are dropped with `self`, which the returned lifetime borrows. A `Bytes` does not move what it holds, and none
        // leaves `kept`. Nothing writes to the elements after `alloc_slice_copy`, or through a `Bytes`.
        unsafe { std::slice::from_raw_parts(stored.data, stored.len) }
    }

    /// Number of distinct slices.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// True before the first slice.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

impl SliceInterner<u8> {
    /// The index of `bytes`, which are kept and not copied where they are new.
    pub fn intern_kept(&self, bytes: Bytes) -> u32 {
        let hash = hash_of(&bytes[..]);
        let mut shard = lock(&self.shards[shard_of(hash)]);
        if let Some(&index) = shard.index.find(hash, |&i| self.get(i) == bytes) {
            return index;
        }
        let index = self.table.push(Stored { data: bytes.as_ptr(), len: bytes.len() });
        shard.kept.push(bytes);
        shard.index.insert_unique(hash, index, |&i| hash_of(self.get(i)));
        index
    }
}

/// Gives equal strings equal indices.
#[derive(Default)]
pub struct StrInterner {
    bytes: SliceInterner<u8>,
}

impl StrInterner {
    /// The index of `text`, copying it on first sight.
    pub fn intern(&self, text: &str) -> u32 {
        self.bytes.intern(text.as_bytes())
    }

    /// The text at `index`.
    ///
    /// # Panics
    /// When `index` did not come from this interner.
    pub fn get(&self, index: u32) -> &str {
        // SAFETY: `intern` is the only way in, and it takes a `&str`, so the bytes are valid UTF-8.
        unsafe { std::str::from_utf8_unchecked(self.bytes.get(index)) }
    }

    /// Number of distinct strings.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True before the first string.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_round_trip() {
        let interner = SliceInterner::default();
        let a = interner.intern(&[1u32, 2, 3]);
        let empty = interner.intern(&[]);
        assert_eq!(interner.intern(&[1, 2, 3]), a);
        assert_eq!(interner.get(a), &[1, 2, 3]);
        assert!(interner.get(empty).is_empty());
        assert_eq!(interner.len(), 2);
    }

    #[test]
    fn bytes_that_are_kept_are_what_equal_slices_are() {
        let interner = SliceInterner::default();
        let given = Bytes::from(vec![1u8, 2, 3]);
        let (address, part) = (given.as_ptr(), given.slice(1..));
        let kept = interner.intern_kept(given);
        assert_eq!(interner.get(kept).as_ptr(), address);
        assert_eq!(interner.intern(&[1, 2, 3]), kept);
        assert_eq!((interner.find(&[1, 2, 3]), interner.find(&[2, 3])), (Some(kept), None));
        let copied = interner.intern(&[2, 3]);
        assert_eq!(interner.intern_kept(part), copied);
        assert_ne!(copied, kept);
    }

    #[test]
    fn strings_keep_their_address_while_the_table_grows() {
        let interner = StrInterner::default();
        let first = interner.intern("first");
        let seen = interner.get(first);
        for i in 0..if cfg!(miri) { 100 } else { 10_000 } {
            interner.intern(&format!("s{i}"));
        }
        assert_eq!(seen, "first");
        assert_eq!(seen.as_ptr(), interner.get(first).as_ptr());
    }
}
