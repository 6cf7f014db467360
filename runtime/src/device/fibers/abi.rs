//! What the code of a thread and the runtime agree on, version [`VERSION`]. The pass `convert-gpu-to-fibers` writes the other
//! side; `docs/devices.md` says it in words.

/// Version of everything in this module.
pub(super) const VERSION: i32 = 1;

/// Variable of the library: an i32, its version.
pub(super) const VERSION_SYMBOL: &str = "sutura_fibers_abi";

/// Variable of the library: JSON, ended by a zero.
pub(super) const KERNELS_SYMBOL: &str = "sutura_fibers_kernels";

/// Added to the address space in the `kind` of a check when the access writes.
pub(super) const STORE: u32 = 256;

/// Address spaces in the `kind` of a check; 0 is either.
pub(super) const SPACE_DEVICE: u32 = 1;
pub(super) const SPACE_SHARED: u32 = 3;

/// A kernel, run once for each thread.
pub(super) type KernelFn = unsafe extern "C" fn(state: *mut State, arguments: *const u64);

/// What a shuffle hands over.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exchanged {
    pub(super) value: u64,
    /// 1 where there was a lane to take the value from, else 0.
    pub(super) valid: u64,
}

pub(super) type BarrierFn = unsafe extern "C" fn(state: *mut State, site: u32);
pub(super) type ShuffleFn =
    unsafe extern "C" fn(state: *mut State, site: u32, mode: u32, value: u64, offset: u32, width: u32) -> Exchanged;
pub(super) type CheckFn =
    unsafe extern "C" fn(state: *mut State, address: u64, bytes: u32, alignment: u32, site: u32, kind: u32);

/// What the code of a thread sees of the runtime. Each thread has its own, which does not change while it runs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// Waits until all threads of the block are there.
    pub(super) barrier: BarrierFn,
    /// Hands values between the threads of a subgroup.
    pub(super) shuffle: ShuffleFn,
    /// Announces an access of memory. Returns where it may be made.
    pub(super) check: CheckFn,
    /// Address of the block's memory.
    pub(super) shared: u64,
    /// Coordinates in x, y, z.
    pub(super) thread: [u64; 3],
    pub(super) block: [u64; 3],
    pub(super) grid: [u64; 3],
    pub(super) lane: u64,
    /// Number of the subgroup in the block.
    pub(super) subgroup: u64,
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn the_layout_is_what_the_pass_writes() {
        let offsets = [
            offset_of!(State, barrier),
            offset_of!(State, shuffle),
            offset_of!(State, check),
            offset_of!(State, shared),
            offset_of!(State, thread),
            offset_of!(State, block),
            offset_of!(State, grid),
            offset_of!(State, lane),
            offset_of!(State, subgroup),
        ];
        assert_eq!(offsets.map(|offset| offset / 8), [0, 1, 2, 3, 4, 7, 10, 13, 14]);
    }
}
