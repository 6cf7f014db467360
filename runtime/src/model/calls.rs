//! Calls of recursive functions in a run: memory for each, and an error where there are too many in each other.
//!
//! Nothing but data says how deep a recursion goes, so the memory of a call comes from blocks that are added as calls need them,
//! and stay for the next run. The code runs on a thread of its own, whose stack is large enough for as many calls as are allowed;
//! where the code of a function takes more stack than was thought, the end of the stack is seen before it is reached.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::thread::Builder;

use crate::abi::ALIGNMENT;
use crate::buffer::{AlignedBuffer, EMPTY};
use crate::error::{Error, Result};

/// Bytes of stack for each call: what code keeps there between its kernels, with room.
const STACK_OF_A_CALL: usize = 8 << 10;
/// Bytes of stack that a call leaves for the kernels and routines that it runs.
const STACK_TO_LEAVE: usize = 1 << 20;
/// Bytes of the first block.
const FIRST_BLOCK: usize = 64 << 10;

/// Memory of calls, which each run uses from its begin.
#[derive(Default)]
pub(crate) struct Blocks(Vec<AlignedBuffer>);

/// A place in the blocks: which one, and how many bytes of it are in use.
#[derive(Clone, Copy, Default)]
struct Place {
    block: usize,
    used: usize,
}

/// The calls of a run that have begun and not ended.
#[derive(Default)]
pub(super) struct Calls {
    blocks: RefCell<Blocks>,
    /// For each call, what was in use before it.
    open: RefCell<Vec<Place>>,
    now: Cell<Place>,
    /// Bytes of the calls that are open, and the most that there were.
    bytes: Cell<[usize; 2]>,
    /// Blocks that were allocated.
    allocations: Cell<usize>,
    /// How many may be open.
    most: usize,
    /// The lowest address of the stack at which a call may begin.
    stack_end: Cell<usize>,
}

impl Calls {
    pub(super) fn new(most: usize, blocks: Blocks) -> Self {
        Self { blocks: RefCell::new(blocks), most, ..Self::default() }
    }

    /// The most bytes that calls had at once, how often memory was allocated, and the memory, for the next run.
    pub(super) fn finish(self) -> (usize, usize, Blocks) {
        (self.bytes.get()[1], self.allocations.get(), self.blocks.into_inner())
    }

    /// Memory for a call of a function.
    pub(super) fn enter(&self, function: &str, bytes: i64) -> Result<*mut c_void> {
        let here = 0u8;
        let depth = self.open.borrow().len() + 1;
        let too_deep = |stack| Err(Error::TooDeep { function: function.to_owned(), depth, stack });
        if depth > self.most {
            return too_deep(false);
        }
        if (&raw const here).addr() < self.stack_end.get() {
            return too_deep(true);
        }
        let bytes = usize::try_from(bytes).ok().and_then(|bytes| bytes.checked_next_multiple_of(ALIGNMENT));
        let bytes = bytes.ok_or_else(|| Error::Contract("it asks for less than no memory for a call".to_owned()))?;
        let before = self.now.get();
        let frame = self.place(bytes)?;
        self.open.borrow_mut().push(before);
        let all = self.bytes.get()[0] + bytes;
        self.bytes.set([all, self.bytes.get()[1].max(all)]);
        Ok(frame.cast())
    }

    /// So many bytes of a block, a new one where no further one holds them.
    fn place(&self, bytes: usize) -> Result<*mut u8> {
        if bytes == 0 {
            return Ok(EMPTY.as_ptr());
        }
        let blocks = &mut self.blocks.borrow_mut().0;
        let Place { mut block, mut used } = self.now.get();
        while blocks.get(block).is_some_and(|found| found.len() - used < bytes) {
            (block, used) = (block + 1, 0);
        }
        if block == blocks.len() {
            let last = blocks.last().map_or(FIRST_BLOCK, |last| last.len().saturating_mul(2));
            blocks.push(AlignedBuffer::zeroed(last.max(bytes), "calls of recursive functions")?);
            self.allocations.set(self.allocations.get() + 1);
        }
        self.now.set(Place { block, used: used + bytes });
        Ok(blocks[block].as_mut_ptr().wrapping_add(used))
    }

    /// The call that began last is over.
    pub(super) fn leave(&self) {
        let Some(before) = self.open.borrow_mut().pop() else { return };
        let (now, [all, most]) = (self.now.get(), self.bytes.get());
        // In another block than before it the call has what that one holds.
        let own = if now.block == before.block { now.used - before.used } else { now.used };
        self.bytes.set([all - own, most]);
        self.now.set(before);
    }

    /// Runs code that calls functions, on a stack for as many calls as may be open.
    ///
    /// # Safety
    /// What `code` uses may be used by another thread while this one waits.
    #[allow(unsafe_code)]
    pub(super) unsafe fn on_own_stack(&self, code: impl FnOnce() -> i32) -> Result<i32> {
        struct Lent<F>(F);
        // SAFETY: the caller says so.
        unsafe impl<F> Send for Lent<F> {}
        impl<F: FnOnce() -> i32> Lent<F> {
            fn run(self) -> i32 {
                (self.0)()
            }
        }
        let stack = self.most.saturating_mul(STACK_OF_A_CALL).saturating_add(2 * STACK_TO_LEAVE);
        let lent = Lent(|| {
            let here = 0u8;
            self.stack_end.set((&raw const here).addr().saturating_sub(stack - STACK_TO_LEAVE));
            code()
        });
        std::thread::scope(|scope| {
            let thread = Builder::new().name("sutura-run".to_owned()).stack_size(stack);
            let thread = thread.spawn_scoped(scope, move || lent.run()).map_err(Error::Thread)?;
            thread.join().map_err(|_| Error::Contract("its run has ended with a panic".to_owned()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_share_memory_that_is_free_and_none_that_is_in_use() {
        let calls = Calls::new(100, Blocks::default());
        let first = calls.enter("f", 1000).unwrap().addr();
        let second = calls.enter("f", 100_000).unwrap().addr();
        assert!(second + 100_000 <= first || first + 1000 <= second);
        calls.leave();
        let again = calls.enter("f", 70_000).unwrap().addr();
        assert_eq!(again, second, "what was free is used again");
        assert_eq!(calls.enter("f", 0).unwrap().addr() % ALIGNMENT, 0);
        let third = calls.enter("f", 64).unwrap().addr();
        assert!(third >= again + 70_000 || third < again);
        (0..4).for_each(|_| calls.leave());
        assert_eq!(calls.enter("f", 1).unwrap().addr(), first);
        let (peak, allocations, blocks) = calls.finish();
        assert_eq!((peak, allocations), (1024 + 100_032, 2));
        let calls = Calls::new(100, blocks);
        assert_eq!(calls.enter("f", 1).unwrap().addr(), first, "the next run begins where this one did");
    }

    #[test]
    fn too_many_calls_are_an_error() {
        let calls = Calls::new(2, Blocks::default());
        assert!(calls.enter("f", 8).is_ok() && calls.enter("f", 8).is_ok());
        let error = calls.enter("f", 8).unwrap_err().to_string();
        assert!(error.contains("function `f`: more than 2 calls are in each other"), "{error}");
        assert!(matches!(calls.enter("f", -1), Err(Error::TooDeep { .. })));
        calls.leave();
        assert!(matches!(calls.enter("f", i64::MAX), Err(Error::OutOfMemory { .. })));
        assert!(calls.enter("f", 8).is_ok(), "what failed is no call");
    }

    #[test]
    fn the_end_of_the_stack_is_seen_before_it_is_reached() {
        #[inline(never)]
        fn deeper(calls: &Calls, found: &Cell<bool>) -> u8 {
            let held = std::hint::black_box([1u8; 64 << 10]);
            if calls.enter("f", 8).is_err() {
                found.set(true);
                return held[0];
            }
            deeper(calls, found).wrapping_add(held[7])
        }
        let (calls, found) = (Calls::new(50, Blocks::default()), Cell::new(false));
        // SAFETY: this thread waits.
        let result = unsafe {
            calls.on_own_stack(|| {
                deeper(&calls, &found);
                7
            })
        };
        assert_eq!(result.unwrap(), 7);
        assert!(found.get());
    }
}
