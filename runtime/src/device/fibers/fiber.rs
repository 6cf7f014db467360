//! One thread of a block: a fiber on a stack of its own, and the functions that its code calls.
//!
//! Code of threads has no tables for unwinding and owns nothing, so a thread that must not go on is simply left: it
//! suspends for ever, and its stack is used for another.

#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::abi::{Exchanged, KernelFn, State};
use super::checker::{Access, Checker};

/// Bytes of a thread's stack, below which a page cannot be touched.
pub(super) const STACK_BYTES: usize = 256 << 10;

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    Barrier {
        site: u32,
    },
    Shuffle(Shuffle),
    /// Nothing: it made a mistake and never goes on.
    Fault,
}

/// A thread's part of a shuffle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shuffle {
    pub(super) site: u32,
    pub(super) mode: u32,
    pub(super) value: u64,
    pub(super) offset: u32,
    pub(super) width: u32,
}

type Yields = Yielder<Exchanged, Wait>;

/// What the code of a thread is given: the state comes first, so that its address is this one's.
#[repr(C)]
pub(super) struct Context {
    state: State,
    thread: u32,
    /// Lives as long as the launch, longer than the fiber.
    checker: *const RefCell<Checker<'static>>,
    /// Set when the fiber begins; lives on its stack.
    yields: Cell<*const Yields>,
}

/// Where a thread stands.
pub(super) struct Standing {
    pub(super) shared: u64,
    pub(super) thread: u32,
    pub(super) at: [u64; 3],
    pub(super) block: u64,
    pub(super) grid: u64,
    pub(super) subgroup: u32,
}

/// A thread.
pub(super) struct Fiber {
    coroutine: Option<Coroutine<Exchanged, Wait, (), DefaultStack>>,
    /// Kept for its address.
    _context: Box<Context>,
}

impl Fiber {
    /// A thread that has not begun.
    ///
    /// # Safety
    /// `function` must be a kernel of the interface, that takes these arguments; `checker`, what it borrows, and the arguments must live
    /// until the fiber is dropped, and while the fiber runs the checker must not be borrowed.
    pub(super) unsafe fn new(
        stack: DefaultStack,
        function: KernelFn,
        arguments: *const u64,
        checker: &RefCell<Checker<'_>>,
        standing: &Standing,
    ) -> Self {
        let state = State {
            barrier,
            shuffle,
            check,
            shared: standing.shared,
            thread: standing.at,
            block: [standing.block, 0, 0],
            grid: [standing.grid, 1, 1],
            lane: u64::from(standing.thread % standing.subgroup),
            subgroup: u64::from(standing.thread / standing.subgroup),
        };
        let checker = std::ptr::from_ref(checker).cast::<RefCell<Checker<'static>>>();
        let mut context =
            Box::new(Context { state, thread: standing.thread, checker, yields: Cell::new(std::ptr::null()) });
        let at = std::ptr::from_mut(&mut *context);
        let coroutine = Coroutine::with_stack(stack, move |yields: &Yields, _: Exchanged| {
            // SAFETY: the context outlives the coroutine, and nobody else uses it while the coroutine runs.
            unsafe { (*at).yields.set(yields) };
            // SAFETY: the caller's promise; the state is the context's first field.
            unsafe { function(at.cast(), arguments) };
        });
        Self { coroutine: Some(coroutine), _context: context }
    }

    /// Runs the thread until it waits; `None` when it ended.
    pub(super) fn resume(&mut self, with: Exchanged) -> Option<Wait> {
        match self.coroutine.as_mut()?.resume(with) {
            CoroutineResult::Yield(wait) => Some(wait),
            CoroutineResult::Return(()) => None,
        }
    }

    /// Leaves the thread where it is; its stack, for another one.
    pub(super) fn into_stack(mut self) -> Option<DefaultStack> {
        self.leave().map(Coroutine::into_stack)
    }

    fn leave(&mut self) -> Option<Coroutine<Exchanged, Wait, (), DefaultStack>> {
        let mut coroutine = self.coroutine.take()?;
        // SAFETY: what is on the stack owns nothing: frames of generated code, and of the functions below, which hold
        // plain numbers and addresses when they suspend.
        unsafe { coroutine.force_reset() };
        Some(coroutine)
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        drop(self.leave());
    }
}

/// Suspends the thread of a context.
///
/// # Safety
/// The context must be that of the running fiber.
unsafe fn suspend(context: *const Context, wait: Wait) -> Exchanged {
    // SAFETY: the fiber runs, so its yielder is set and alive.
    unsafe { (*(*context).yields.get()).suspend(wait) }
}

unsafe extern "C" fn barrier(state: *mut State, site: u32) {
    // SAFETY: generated code passes the state that it was given, the first field of its context.
    unsafe { suspend(state.cast(), Wait::Barrier { site }) };
}

unsafe extern "C" fn shuffle(
    state: *mut State,
    site: u32,
    mode: u32,
    value: u64,
    offset: u32,
    width: u32,
) -> Exchanged {
    // SAFETY: as for barriers.
    unsafe { suspend(state.cast(), Wait::Shuffle(Shuffle { site, mode, value, offset, width })) }
}

unsafe extern "C" fn check(state: *mut State, address: u64, bytes: u32, alignment: u32, site: u32, kind: u32) {
    let context = state.cast::<Context>().cast_const();
    // SAFETY: as for barriers; the checker lives as long as the launch.
    let (checker, thread) = unsafe { (&*(*context).checker, (*context).thread) };
    if checker.borrow_mut().allows(Access::new(thread, address, bytes, alignment, site, kind)) {
        return;
    }
    loop {
        // SAFETY: as for barriers.
        unsafe { suspend(context, Wait::Fault) };
    }
}
