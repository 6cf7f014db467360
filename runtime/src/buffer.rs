//! Owned memory with the alignment that generated code expects.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::num::NonZeroUsize;
use std::ptr::NonNull;

use memmap2::MmapMut;

use crate::abi::ALIGNMENT;
use crate::error::{Error, Result};

/// From so many bytes on, memory is pages of the system, huge ones where it has them. NumPy does the same.
const PAGES_FROM: usize = 4 << 20;

/// The size of a huge page on x86 and on Arm with pages of 4 KiB. Elsewhere the alignment is of no use, and does no harm.
const HUGE_PAGE: usize = 2 << 20;

/// Zero-initialised bytes, aligned to [`ALIGNMENT`].
pub(crate) struct AlignedBuffer {
    /// First aligned byte; dangling (but aligned) where there is no memory.
    data: NonNull<u8>,
    len: usize,
    memory: Memory,
}

/// What holds the bytes, until it is dropped.
enum Memory {
    None,
    /// Asked for with alignment 1 and aligned by hand: an allocator answers a plain zeroed request with fresh pages of the system,
    /// untouched until used, but has to clear an aligned one byte by byte.
    Heap(NonNull<u8>, Layout),
    Pages {
        _mapped: MmapMut,
    },
}

// SAFETY: the buffer owns its bytes alone; shared access is read-only through `&self`.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above.
unsafe impl Sync for AlignedBuffer {}

/// An aligned address that stands for a buffer of no bytes.
pub(crate) const EMPTY: NonNull<u8> = NonNull::without_provenance(NonZeroUsize::new(ALIGNMENT).unwrap());

impl AlignedBuffer {
    /// No bytes, no allocation.
    pub(crate) fn empty() -> Self {
        Self { data: EMPTY, len: 0, memory: Memory::None }
    }

    /// Forgets what lies behind `len` bytes, and keeps the memory.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// `len` zero bytes; `what` says for an error what they were for.
    pub(crate) fn zeroed(len: usize, what: &str) -> Result<Self> {
        let made = match len {
            0 => return Ok(Self::empty()),
            1..PAGES_FROM => Self::from_heap(len),
            PAGES_FROM.. => Self::of_pages(len),
        };
        made.ok_or_else(|| Error::OutOfMemory { bytes: len, what: what.to_owned() })
    }

    fn from_heap(len: usize) -> Option<Self> {
        let layout = Layout::from_size_align(len.checked_add(ALIGNMENT)?, 1).ok()?;
        // SAFETY: the size is not zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let skip = base.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        // SAFETY: `skip < ALIGNMENT`, so `skip + len` stays within the `len + ALIGNMENT` bytes of the allocation.
        let data = unsafe { base.add(skip) };
        Some(Self { data, len, memory: Memory::Heap(base, layout) })
    }

    /// Begins where a huge page may, and asks for such pages: weights that go by once per run cost a table walk for each page, and
    /// processors read ahead no further than to its end.
    fn of_pages(len: usize) -> Option<Self> {
        let mut mapped = MmapMut::map_anon(len.checked_add(HUGE_PAGE)?).ok()?;
        // Advice: a system without huge pages refuses it, and has small ones.
        #[cfg(target_os = "linux")]
        let _ = mapped.advise(memmap2::Advice::HugePage);
        let skip = mapped.as_ptr().addr().wrapping_neg() % HUGE_PAGE;
        // What lies before and behind is never touched, and takes no memory.
        let data = NonNull::from(mapped.get_mut(skip..skip + len)?).cast();
        Some(Self { data, len, memory: Memory::Pages { _mapped: mapped } })
    }

    /// A copy of `bytes`.
    pub(crate) fn copy_of(bytes: &[u8], what: &str) -> Result<Self> {
        let mut buffer = Self::zeroed(bytes.len(), what)?;
        buffer.as_mut_slice().copy_from_slice(bytes);
        Ok(buffer)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.data.as_ptr()
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: `data` points to `len` bytes that are initialised, zeros at first (or is dangling and aligned, with `len` 0).
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes the access unique.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if let Memory::Heap(base, layout) = self.memory {
            // SAFETY: `base` came from `alloc_zeroed` with this layout and is freed only here.
            unsafe { dealloc(base.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned_and_zero() {
        for len in [0, 1, 63, 64, 65, 4096, 1 << 20, PAGES_FROM - 1, PAGES_FROM, PAGES_FROM + 65] {
            let mut buffer = AlignedBuffer::zeroed(len, "test").unwrap();
            assert_eq!(buffer.as_mut_ptr().addr() % ALIGNMENT, 0);
            assert_eq!(buffer.as_slice().len(), len);
            assert!(buffer.as_slice().iter().all(|&b| b == 0));
            buffer.as_mut_slice().fill(0xff);
        }
    }

    #[test]
    fn a_large_buffer_begins_where_a_huge_page_may() {
        let buffer = AlignedBuffer::zeroed(PAGES_FROM, "test").unwrap();
        assert_eq!(buffer.as_slice().as_ptr().addr() % HUGE_PAGE, 0);
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        for len in [usize::MAX, isize::MAX as usize, 1 << 60] {
            assert!(matches!(AlignedBuffer::zeroed(len, "test"), Err(Error::OutOfMemory { .. })));
        }
    }
}
