//! Append-only, thread-safe storage for interned IR entities.
//!
//! Three containers, all shared by `&self`, all with lock-free reads:
//! [`Table`] (append a value, read it back by index), [`Interner`] (equal values get equal indices) and
//! [`SliceInterner`] (the same for slices, whose elements live in bump arenas). Indices are dense `u32`s handed out
//! in order of first use; nothing is ever removed while the container lives.
//!
//! This is the one crate of the IR core that holds `unsafe` code, all of it in `slice`.

mod slice;
mod table;

pub use slice::{SliceInterner, StrInterner};
pub use table::{Interner, Table};

use std::hash::{BuildHasher, BuildHasherDefault, Hash};

/// Insertions are spread over this many locks by hash.
const SHARDS: usize = 16;

type FxBuild = BuildHasherDefault<rustc_hash::FxHasher>;

fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    FxBuild::default().hash_one(value)
}

fn shard_of(hash: u64) -> usize {
    // hashbrown uses the top seven bits and the low bits; the shard takes bits from the middle.
    (hash >> 40) as usize % SHARDS
}
