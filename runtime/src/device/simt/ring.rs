//! A ring of pinned memory through which a stream copies: the device empties one slot while the host fills another.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::Arc;

use super::Gpu;
use super::api::Handle;
use super::memory::HostMemory;
use super::stream::Mark;
use crate::device::Result;

/// Bytes of a slot: large enough that starting a copy costs little beside it.
pub(super) const SLOT_BYTES: usize = 4 << 20;
/// Slots of a ring; each is allocated when it is first needed.
pub(super) const SLOTS: usize = 4;
/// What is copied begins at such offsets.
const PIECE_ALIGNMENT: usize = 64;

#[derive(Default)]
pub(super) struct Ring {
    slots: Vec<Slot>,
    current: usize,
    used: usize,
}

struct Slot {
    memory: HostMemory,
    /// Recorded behind the last copy of the slot.
    mark: Mark,
    /// The mark was recorded, and not waited for.
    flying: bool,
}

/// A range of a slot.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    slot: usize,
    offset: usize,
    bytes: usize,
}

impl Ring {
    /// Memory for a copy of so many bytes, at most [`SLOT_BYTES`]. Where no slot has room it waits until the device is done
    /// with the oldest.
    pub(super) fn reserve(&mut self, gpu: &Arc<Gpu>, stream: Handle, bytes: usize) -> Result<Piece> {
        if self.slots.is_empty() {
            self.grow(gpu)?;
        } else if self.used + bytes > SLOT_BYTES {
            self.leave(gpu, stream)?;
            let next = (self.current + 1) % SLOTS;
            if next == self.slots.len() {
                self.grow(gpu)?;
            }
            self.wait(gpu, next)?;
            self.current = next;
            self.used = 0;
        }
        let piece = Piece { slot: self.current, offset: self.used, bytes };
        self.used = (self.used + bytes).next_multiple_of(PIECE_ALIGNMENT);
        Ok(piece)
    }

    fn grow(&mut self, gpu: &Arc<Gpu>) -> Result<()> {
        let (memory, mark) = (HostMemory::new(gpu, SLOT_BYTES)?, Mark::new(gpu)?);
        self.slots.push(Slot { memory, mark, flying: false });
        Ok(())
    }

    /// Remembers that the copies of the current slot end here.
    pub(super) fn leave(&mut self, gpu: &Gpu, stream: Handle) -> Result<()> {
        let slot = &mut self.slots[self.current];
        slot.mark.record(gpu, stream)?;
        slot.flying = true;
        Ok(())
    }

    fn wait(&mut self, gpu: &Gpu, slot: usize) -> Result<()> {
        let slot = &mut self.slots[slot];
        if slot.flying {
            slot.mark.wait(gpu)?;
            slot.flying = false;
        }
        Ok(())
    }

    /// Waits for the copies of a piece's slot, as far as they were left behind by [`Self::leave`].
    pub(super) fn wait_for(&mut self, gpu: &Gpu, piece: Piece) -> Result<()> {
        self.wait(gpu, piece.slot)
    }

    pub(super) fn pointer(&self, piece: Piece) -> NonNull<u8> {
        self.slots[piece.slot].memory.at(piece.offset, piece.bytes)
    }

    /// Fills a piece that was just reserved, and has no copy yet.
    pub(super) fn write(&mut self, piece: Piece, from: &[u8]) {
        assert_eq!(from.len(), piece.bytes, "a piece is filled as a whole");
        // SAFETY: the piece is so large, belongs to this ring, and no copy uses it.
        unsafe { self.pointer(piece).copy_from_nonoverlapping(NonNull::from(from).cast(), from.len()) };
    }

    /// Reads a piece whose copy is done.
    pub(super) fn read(&self, piece: Piece, to: &mut [u8]) {
        assert_eq!(to.len(), piece.bytes, "a piece is read as a whole");
        // SAFETY: the piece is so large, and was written by a copy that is done.
        unsafe { self.pointer(piece).copy_to_nonoverlapping(NonNull::from(to).cast(), piece.bytes) };
    }
}
