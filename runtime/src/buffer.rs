//! Owned memory with the alignment that generated code expects.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::num::NonZeroUsize;
use std::ptr::NonNull;

use crate::abi::ALIGNMENT;
use crate::error::{Error, Result};

/// From so many bytes on, memory lies in huge pages where the system has them. NumPy does the same.
const HUGE_FROM: usize = 4 << 20;

/// The size of a huge page on x86, and on Arm with pages of 4 KiB. Elsewhere the alignment is of no use, and does no harm.
const HUGE_PAGE: usize = 2 << 20;

/// Zero-initialised bytes, aligned to [`ALIGNMENT`], many of them to a huge page.
///
/// The allocation is asked for with alignment 1 and aligned by hand: an allocator answers a plain zeroed request
/// with fresh pages of the system, untouched until used, but has to clear an aligned one byte by byte.
pub(crate) struct AlignedBuffer {
    /// First aligned byte; dangling (but aligned) when `layout.size()` is 0.
    data: NonNull<u8>,
    len: usize,
    base: NonNull<u8>,
    layout: Layout,
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
        Self { data: EMPTY, len: 0, base: EMPTY, layout: Layout::new::<()>() }
    }

    /// Forgets what lies behind `len` bytes, and keeps the memory.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// `len` zero bytes; `what` says for an error what they were for.
    pub(crate) fn zeroed(len: usize, what: &str) -> Result<Self> {
        if len == 0 {
            return Ok(Self::empty());
        }
        let out_of_memory = || Error::OutOfMemory { bytes: len, what: what.to_owned() };
        let alignment = if len < HUGE_FROM { ALIGNMENT } else { HUGE_PAGE };
        let size = len.checked_add(alignment).ok_or_else(out_of_memory)?;
        let layout = Layout::from_size_align(size, 1).map_err(|_| out_of_memory())?;
        // SAFETY: `size` is not zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(out_of_memory)?;
        let skip = base.as_ptr().addr().wrapping_neg() % alignment;
        // SAFETY: `skip < alignment`, so `skip + len` stays within the `len + alignment` bytes of the allocation.
        let data = unsafe { base.add(skip) };
        if len >= HUGE_FROM {
            ask_for_huge_pages(data, len);
        }
        Ok(Self { data, len, base, layout })
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
        // SAFETY: `data` points to `len` bytes, initialised by `alloc_zeroed` (or dangling and aligned with `len` 0).
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes the access unique.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

/// Weights that go by once per run cost a table walk for each page, and processors read ahead no further than to its end. This is advice:
/// a system without huge pages refuses it.
fn ask_for_huge_pages(data: NonNull<u8>, len: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: the bytes belong to the allocation, and the advice changes none of them.
    let _ = unsafe { libc::madvise(data.as_ptr().cast(), len, libc::MADV_HUGEPAGE) };
    #[cfg(not(target_os = "linux"))]
    let _ = (data, len);
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: `base` came from `alloc_zeroed` with this layout and is freed only here.
            unsafe { dealloc(self.base.as_ptr(), self.layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned_and_zero() {
        for len in [0, 1, 63, 64, 65, 4096, 1 << 20, HUGE_FROM - 1, HUGE_FROM, HUGE_FROM + 65] {
            let mut buffer = AlignedBuffer::zeroed(len, "test").unwrap();
            assert_eq!(buffer.as_mut_ptr().addr() % ALIGNMENT, 0);
            assert_eq!(buffer.as_slice().len(), len);
            assert!(buffer.as_slice().iter().all(|&b| b == 0));
            buffer.as_mut_slice().fill(0xff);
        }
    }

    #[test]
    fn many_bytes_begin_where_a_huge_page_may() {
        let buffer = AlignedBuffer::zeroed(HUGE_FROM, "test").unwrap();
        assert_eq!(buffer.as_slice().as_ptr().addr() % HUGE_PAGE, 0);
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        for len in [usize::MAX, isize::MAX as usize, 1 << 60] {
            assert!(matches!(AlignedBuffer::zeroed(len, "test"), Err(Error::OutOfMemory { .. })));
        }
    }
}
