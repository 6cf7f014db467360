//! What is wrong with a kernel, in words.

use std::fmt::Write as _;

use super::module::{FiberKernel, Place};

/// What the checker of `cpu-fibers` found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// Threads of a block touch the same bytes between two barriers, and one writes.
    Race,
    /// Blocks of a launch touch the same bytes, and one writes.
    BlockRace,
    /// Threads of a block wait at different barriers, or some ended while others wait.
    DivergentBarrier,
    /// Threads of a subgroup are at different shuffles, or some do not get there.
    DivergentShuffle,
    /// A shuffle takes the value of a lane that is no thread.
    InactiveLane,
    /// An access is not inside one buffer, or one array of the block.
    OutOfBounds,
    /// An address is not as aligned as the code says.
    Misaligned,
    /// Bytes are read that nobody wrote.
    Uninitialised,
}

/// A fault, with a message that is complete but for kernel and device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    pub(super) text: String,
}

impl Fault {
    pub(super) fn new(kind: FaultKind, text: String, hint: &str) -> Self {
        Self { kind, text: format!("{text}; {hint}") }
    }
}

/// Words for threads and places of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) kernel: &'a FiberKernel,
}

impl Words<'_> {
    /// `thread 5`, `thread (5, 1, 0)`
    pub(super) fn thread(self, thread: u32) -> String {
        let [x, y, z] = self.kernel.block.map(u64::from);
        let at = u64::from(thread);
        if y == 1 && z == 1 {
            format!("thread {at}")
        } else {
            format!("thread ({}, {}, {})", at % x, at / x % y, at / (x * y))
        }
    }

    /// `threads 1, 2, 3 and 29 more`
    pub(super) fn threads(self, threads: &[u32]) -> String {
        const SHOWN: usize = 4;
        if let [one] = threads {
            return self.thread(*one);
        }
        let shown: Vec<String> =
            threads.iter().take(SHOWN).map(|thread| self.thread(*thread)["thread ".len()..].to_owned()).collect();
        let mut text = format!("threads {}", shown.join(", "));
        if threads.len() > SHOWN {
            write!(text, " and {} more", threads.len() - SHOWN).expect("writing to a string does not fail");
        }
        text
    }

    /// `'llvm.load' 3 at k.mlir:7:5`: the third load of the kernel.
    pub(super) fn site(self, site: u32) -> String {
        match self.kernel.sites.get(site as usize) {
            Some(Place { op, ordinal, file, line, column }) if !file.is_empty() => {
                format!("'{op}' {ordinal} at {file}:{line}:{column}")
            }
            Some(place) => format!("'{}' {} of the kernel", place.op, place.ordinal),
            None => format!("place {site}, which the kernel has not"),
        }
    }
}
