//! Memory between pages that nobody may touch.

#![allow(unsafe_code)]

use std::ptr::NonNull;

/// Bytes that end where a page begins that ends the process, or begin where one ends.
pub(crate) struct Guarded {
    /// The whole mapping.
    base: NonNull<libc::c_void>,
    mapped: usize,
    data: *mut u8,
    len: usize,
}

/// On which side the next byte is one that nobody may touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Edge {
    Before,
    After,
}

fn page() -> usize {
    // SAFETY: a question without side effects.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

impl Guarded {
    /// `len` bytes of zeros at an edge. What is `aligned` begins at a multiple of 64, so there may be up to 63 bytes behind it;
    /// what is not is as close as can be.
    pub(crate) fn new(len: usize, edge: Edge, aligned: bool) -> Self {
        let page = page();
        let inner = len.next_multiple_of(page).max(page);
        let mapped = inner + 2 * page;
        let (flags, none) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_NONE);
        // SAFETY: a new mapping, of which only the inside can be touched.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), mapped, none, flags, -1, 0) };
        assert!(base != libc::MAP_FAILED, "no memory");
        // SAFETY: within the mapping.
        let start = unsafe { base.cast::<u8>().add(page) };
        // SAFETY: whole pages of the mapping.
        let done = unsafe { libc::mprotect(start.cast(), inner, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(done, 0, "pages of the mapping");
        let room = if aligned { len.next_multiple_of(64) } else { len };
        let offset = if edge == Edge::Before { 0 } else { inner - room };
        // SAFETY: `room` is at most `inner`.
        let data = unsafe { start.add(offset) };
        Self { base: NonNull::new(base).unwrap(), mapped, data, len }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: within the pages that can be read and written, as long as the mapping lives.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has them.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.len) }
    }

    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.data
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, once.
        unsafe { libc::munmap(self.base.as_ptr(), self.mapped) };
    }
}
