//! Memory of the device: pieces of the processor's, with what is known of every byte.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memmap2::MmapMut;

use super::shadow::Shadow;
use crate::device::driver::{RawMemory, out_of_memory};
use crate::device::{DeviceInfo, Result};

/// Bytes before and behind each piece that belong to none, so that what misses a piece by less is seen.
const MARGIN: usize = 4096;

/// A live allocation.
pub(super) struct Piece {
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// For each byte: 1 if it was ever written. Mapped, so that what is not used takes no room.
    written: MmapMut,
    pub(super) shadow: Shadow,
    /// Kept for its memory.
    _mapped: MmapMut,
}

impl Piece {
    /// The first byte of a range that was never written.
    pub(super) fn first_unwritten(&self, range: Range<usize>) -> Option<u64> {
        let start = range.start;
        self.written[range].iter().position(|written| *written == 0).map(|at| (start + at) as u64)
    }

    pub(super) fn mark_written(&mut self, range: Range<usize>) {
        self.written[range].fill(1);
    }
}

/// The memory of a device.
#[derive(Default)]
pub(super) struct Heap {
    /// By address.
    pieces: BTreeMap<u64, Piece>,
    bytes: u64,
    /// The last interval that was used by a launch; see `shadow`.
    pub(super) interval: u32,
}

impl Heap {
    /// The piece that begins at or before an address, the last of them.
    pub(super) fn before(&mut self, address: u64) -> Option<&mut Piece> {
        self.pieces.range_mut(..=address).next_back().map(|(_, piece)| piece)
    }

    /// The piece that begins behind an address, the first of them.
    pub(super) fn behind(&self, address: u64) -> Option<&Piece> {
        self.pieces.range(address.saturating_add(1)..).next().map(|(_, piece)| piece)
    }

    /// Forgets who accessed what; what was written stays known.
    pub(super) fn clear_shadows(&mut self) {
        self.pieces.values_mut().for_each(|piece| piece.shadow.clear());
    }

    fn piece(&mut self, address: u64) -> &mut Piece {
        self.pieces.get_mut(&address).expect("buffers that are used are alive")
    }

    /// Writes bytes to the piece at an address; the range is inside it.
    pub(super) fn upload(&mut self, address: u64, offset: u64, from: &[u8]) {
        let range = offset as usize..offset as usize + from.len();
        let piece = self.piece(address);
        piece.mark_written(range);
        let to = pointer(address + offset);
        // SAFETY: the range is inside the piece, which is alive, and the heap is locked: no kernel runs.
        unsafe { to.copy_from_nonoverlapping(NonNull::from(from).cast(), from.len()) };
    }

    /// Reads bytes of the piece at an address; the range is inside it.
    pub(super) fn download(&mut self, address: u64, offset: u64, to: &mut [u8]) {
        debug_assert!(self.pieces.contains_key(&address));
        // SAFETY: the range is inside the piece, which is alive, and the heap is locked: no kernel runs. All its bytes
        // have some value, as mappings begin as zeros.
        unsafe { pointer(address + offset).copy_to_nonoverlapping(NonNull::from(&mut *to).cast(), to.len()) };
    }

    /// Copies between pieces; ranges are inside them and do not overlap. What was not written is not written there.
    pub(super) fn copy(&mut self, from: (u64, u64), to: (u64, u64), bytes: u64) {
        let range = |offset: u64| offset as usize..(offset + bytes) as usize;
        let written = self.piece(from.0).written[range(from.1)].to_vec();
        self.piece(to.0).written[range(to.1)].copy_from_slice(&written);
        let (source, target) = (pointer(from.0 + from.1), pointer(to.0 + to.1));
        // SAFETY: both ranges are inside pieces that are alive, do not overlap, and the heap is locked.
        unsafe { target.copy_from_nonoverlapping(source, bytes as usize) };
    }
}

fn pointer(address: u64) -> NonNull<u8> {
    NonNull::new(std::ptr::with_exposed_provenance_mut(address as usize)).expect("pieces are not at 0")
}

/// A heap that streams share; a launch keeps it locked.
pub(super) type SharedHeap = Arc<Mutex<Heap>>;

pub(super) fn lock(heap: &Mutex<Heap>) -> MutexGuard<'_, Heap> {
    // What is half done when something panics is what kernels wrote, which nobody relies on.
    heap.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frees a piece.
struct Owner {
    heap: SharedHeap,
    address: u64,
}

impl Drop for Owner {
    fn drop(&mut self) {
        let mut heap = lock(&self.heap);
        let piece = heap.pieces.remove(&self.address);
        heap.bytes -= piece.as_ref().map_or(0, |piece| piece.bytes);
        // Unmapping takes its time.
        drop(heap);
        drop(piece);
    }
}

/// Memory with no byte written.
pub(super) fn allocate(heap: &SharedHeap, info: &DeviceInfo, bytes: u64) -> Result<RawMemory> {
    let full = || out_of_memory(info, bytes);
    let size = usize::try_from(bytes).map_err(|_| full())?;
    let mut locked = lock(heap);
    if locked.bytes.saturating_add(bytes) > info.limits.memory_bytes {
        return Err(full());
    }
    let mapped_bytes = size.checked_next_multiple_of(MARGIN).and_then(|size| size.checked_add(2 * MARGIN));
    let mut mapped = MmapMut::map_anon(mapped_bytes.ok_or_else(full)?).map_err(|_| full())?;
    let written = MmapMut::map_anon(size).map_err(|_| full())?;
    let address = (mapped.as_mut_ptr().expose_provenance() + MARGIN) as u64;
    let piece = Piece { address, bytes, written, shadow: Shadow::new(bytes), _mapped: mapped };
    locked.pieces.insert(address, piece);
    locked.bytes += bytes;
    Ok(RawMemory { address, handle: address, skip: 0, _owner: Box::new(Owner { heap: heap.clone(), address }) })
}
