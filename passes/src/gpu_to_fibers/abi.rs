//! What the runtime and the code of a thread agree on. `runtime/src/device/fibers/abi.rs` is the other side.

/// The variable, an i32, that says which version of the interface the code keeps.
pub const ABI_SYMBOL: &str = "sutura_fibers_abi";

/// The version that is written.
pub const ABI_VERSION: i64 = 1;

/// The variable that says what kernels and places there are: JSON, ended by a zero.
pub const KERNELS_SYMBOL: &str = "sutura_fibers_kernels";

/// Words of eight bytes of the state that every thread has one of.
pub(super) mod word {
    /// `void barrier(state, i32 site)`
    pub(in super::super) const BARRIER: i32 = 0;
    /// `{i64 value, i64 valid} shuffle(state, i32 site, i32 mode, i64 value, i32 offset, i32 width)`
    pub(in super::super) const SHUFFLE: i32 = 1;
    /// `void check(state, i64 address, i32 bytes, i32 alignment, i32 site, i32 kind)`
    pub(in super::super) const CHECK: i32 = 2;
    /// Address of the block's memory.
    pub(in super::super) const SHARED: i32 = 3;
    /// Three words each, x first.
    pub(in super::super) const THREAD: i32 = 4;
    pub(in super::super) const BLOCK: i32 = 7;
    pub(in super::super) const GRID: i32 = 10;
    pub(in super::super) const LANE: i32 = 13;
    pub(in super::super) const SUBGROUP: i32 = 14;
}

/// Added to the address space in the `kind` of a check when the access writes.
pub(super) const STORE: i64 = 256;

/// Bytes between variables of a block, and behind the last, that belong to none: an access that is off by little is seen.
pub(super) const GAP: u64 = 64;

/// The most places that a program may have: the runtime keeps their numbers in so many.
pub(super) const MOST_SITES: usize = 1 << 21;
