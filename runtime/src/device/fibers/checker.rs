//! Judges every access before it is made.

use std::ops::Range;
use std::sync::MutexGuard;

use super::abi::{SPACE_DEVICE, SPACE_SHARED, STORE};
use super::fault::{Fault, FaultKind, Words};
use super::memory::Heap;
use super::module::FiberKernel;
use super::shadow::{Race, Record, Shadow, Window};

/// An access that a thread is about to make.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) thread: u32,
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) alignment: u64,
    pub(super) site: u32,
    pub(super) space: u32,
    pub(super) writes: bool,
}

impl Access {
    /// As generated code announces it.
    pub(super) fn new(thread: u32, address: u64, bytes: u32, alignment: u32, site: u32, kind: u32) -> Self {
        let (bytes, alignment) = (u64::from(bytes), u64::from(alignment));
        Self { thread, address, bytes, alignment, site, space: kind & (STORE - 1), writes: kind & STORE != 0 }
    }
}

/// Where an access is.
enum Target {
    /// Number of the array.
    Shared(usize),
    /// Address of the buffer.
    Device(u64),
}

/// What is known during a launch. The heap is locked for it.
pub(super) struct Checker<'a> {
    kernel: &'a FiberKernel,
    heap: MutexGuard<'a, Heap>,
    arguments: &'a [u64],
    /// Address of the block's memory.
    shared: u64,
    shared_bytes: u64,
    shared_shadow: Shadow,
    /// First intervals of the launch's blocks that began.
    blocks: Vec<u32>,
    /// The present interval.
    now: u32,
    pub(super) fault: Option<Fault>,
}

/// Intervals that a launch may begin with; beyond, what is known of earlier ones is forgotten first.
const LATE: u32 = u32::MAX / 2;

impl<'a> Checker<'a> {
    pub(super) fn new(
        kernel: &'a FiberKernel,
        mut heap: MutexGuard<'a, Heap>,
        arguments: &'a [u64],
        shared: u64,
    ) -> Self {
        if heap.interval > LATE {
            heap.clear_shadows();
            heap.interval = 0;
        }
        let (now, shared_bytes) = (heap.interval, kernel.shared_span());
        let shared_shadow = Shadow::new(shared_bytes);
        Self { kernel, heap, arguments, shared, shared_bytes, shared_shadow, blocks: Vec::new(), now, fault: None }
    }

    /// A block begins: nothing of its memory is written. False when the intervals are used up.
    pub(super) fn begin_block(&mut self) -> bool {
        let goes_on = self.next_interval();
        self.blocks.push(self.now);
        goes_on
    }

    /// The threads of the block met. False when the intervals are used up.
    pub(super) fn next_interval(&mut self) -> bool {
        let next = self.now.checked_add(1);
        self.now = next.unwrap_or(self.now);
        self.heap.interval = self.now;
        next.is_some()
    }

    pub(super) fn words(&self) -> Words<'a> {
        Words { kernel: self.kernel }
    }

    /// The number of the present block.
    pub(super) fn block(&self) -> usize {
        self.blocks.len().saturating_sub(1)
    }

    /// Whether the access may be made; if not, `fault` says why.
    pub(super) fn allows(&mut self, access: Access) -> bool {
        match self.judge(access) {
            Ok(()) => true,
            Err(fault) => {
                self.fault = Some(fault);
                false
            }
        }
    }

    fn judge(&mut self, access: Access) -> Result<(), Fault> {
        let target = self.target(access)?;
        if !access.address.is_multiple_of(access.alignment) {
            let what = self.what(access, &target);
            let text = format!("{what}, which must be at a multiple of {}", access.alignment);
            return Err(Fault::new(
                FaultKind::Misaligned,
                text,
                "correct the address, or lower the 'alignment' of the access",
            ));
        }
        let record = Record::new(self.now, access.thread, access.site);
        let begun = self.blocks[self.block()];
        let window = Window { launch: self.blocks[0], block: begun };
        let raced = match target {
            Target::Shared(_) => {
                let (offset, window) = (access.address - self.shared, Window { launch: begun, ..window });
                let raced = self.shared_shadow.access(offset, access.bytes, record, access.writes, window);
                let unwritten = || self.shared_shadow.first_unwritten(offset, access.bytes, window);
                if raced.is_ok() && !access.writes && unwritten().is_some() {
                    return Err(self.uninitialised(access, &target));
                }
                raced.map_err(|race| Race { offset: race.offset + self.shared, ..race })
            }
            Target::Device(base) => {
                let piece = self.heap.before(base).expect("found just now");
                let offset = access.address - base;
                let range = offset as usize..(offset + access.bytes) as usize;
                let raced = piece.shadow.access(offset, access.bytes, record, access.writes, window);
                if access.writes {
                    piece.mark_written(range);
                } else if raced.is_ok() && piece.first_unwritten(range).is_some() {
                    return Err(self.uninitialised(access, &target));
                }
                raced.map_err(|race| Race { offset: race.offset + base, ..race })
            }
        };
        raced.map_err(|race| self.race(access, &target, race, window))
    }

    fn target(&mut self, access: Access) -> Result<Target, Fault> {
        let (start, end) = (access.address, access.address.checked_add(access.bytes));
        let of_block = start >= self.shared && start < self.shared + self.shared_bytes;
        if access.space == SPACE_SHARED || (access.space != SPACE_DEVICE && of_block) {
            let within = |base: u64, bytes: u64| start >= base && end.is_some_and(|end| end <= base + bytes);
            let arrays = self.kernel.shared.iter();
            let array = arrays.clone().position(|array| within(self.shared + array.offset, array.bytes));
            return array.map(Target::Shared).ok_or_else(|| self.out_of_block(access));
        }
        let piece = self.heap.before(start).map(|piece| (piece.address, piece.bytes));
        match piece {
            Some((base, bytes)) if end.is_some_and(|end| end <= base + bytes) => Ok(Target::Device(base)),
            _ => Err(self.out_of_buffers(access)),
        }
    }

    // ---- words

    /// `block 3: thread 5 reads bytes 0..4 of array `tile` by 'llvm.load' 1 at k.mlir:3:5`
    fn what(&mut self, access: Access, target: &Target) -> String {
        let (base, name) = match target {
            Target::Shared(array) => {
                let array = &self.kernel.shared[*array];
                (self.shared + array.offset, format!("array `{}`", array.name))
            }
            Target::Device(base) => (*base, self.buffer(*base)),
        };
        let start = access.address - base;
        let bytes = start..start + access.bytes;
        self.who(access)
            + &format!(" bytes {}..{} of {name} by {}", bytes.start, bytes.end, self.words().site(access.site))
    }

    fn who(&self, access: Access) -> String {
        let does = if access.writes { "writes" } else { "reads" };
        format!("block {}: {} {does}", self.block(), self.words().thread(access.thread))
    }

    /// `the buffer of 256 bytes of argument 0`
    fn buffer(&mut self, base: u64) -> String {
        let bytes = self.heap.before(base).map_or(0, |piece| piece.bytes);
        let inside = |address: &u64| (base..base + bytes).contains(address);
        match self.arguments.iter().position(inside) {
            Some(index) => format!("the buffer of {bytes} bytes of argument {index}"),
            None => format!("a buffer of {bytes} bytes that is no argument"),
        }
    }

    fn out_of_block(&mut self, access: Access) -> Fault {
        let (start, place) = (access.address, self.words().site(access.site));
        let distance = |array: &&super::module::Array| {
            let base = self.shared + array.offset;
            base.saturating_sub(start).max(start.saturating_sub(base + array.bytes))
        };
        let near = self.kernel.shared.iter().min_by_key(distance);
        let (who, bytes) = (self.who(access), access.bytes);
        let text = match near {
            Some(array) => {
                let offset = i128::from(start) - i128::from(self.shared + array.offset);
                let (end, name, size) = (offset + i128::from(bytes), &array.name, array.bytes);
                format!("{who} bytes {offset}..{end} of array `{name}`, which has {size} bytes, by {place}")
            }
            None => format!("{who} {bytes} bytes of the block's memory by {place}, and the kernel has none"),
        };
        Fault::new(FaultKind::OutOfBounds, text, "correct the index, or guard the access")
    }

    fn out_of_buffers(&mut self, access: Access) -> Fault {
        let (start, place, who) = (access.address, self.words().site(access.site), self.who(access));
        let before = self.heap.before(start).map(|piece| piece.address..piece.address + piece.bytes);
        let behind = self.heap.behind(start).map(|piece| piece.address..piece.address + piece.bytes);
        let distance = |range: &Range<u64>| range.start.saturating_sub(start).max(start.saturating_sub(range.end));
        let near = before.into_iter().chain(behind).min_by_key(distance);
        let bytes = access.bytes;
        let text = match near {
            // Farther away it is a matter of chance which buffer is next.
            Some(range) if distance(&range) <= 1 << 20 => {
                let offset = i128::from(start) - i128::from(range.start);
                let (end, name) = (offset + i128::from(bytes), self.buffer(range.start));
                format!("{who} bytes {offset}..{end} of {name} by {place}")
            }
            _ => format!("{who} {bytes} bytes at {start:#x}, where no buffer is, by {place}"),
        };
        Fault::new(FaultKind::OutOfBounds, text, "correct the index, guard the access, or make the buffer larger")
    }

    fn uninitialised(&mut self, access: Access, target: &Target) -> Fault {
        let what = self.what(access, target);
        let (since, hint) = match target {
            Target::Shared(_) => (
                "which no thread wrote since the block began",
                "write them first, and put a 'gpu.barrier' between; another block's values are not there",
            ),
            Target::Device(_) => ("which nobody wrote", "upload or copy to the buffer first, or write it by a kernel"),
        };
        Fault::new(FaultKind::Uninitialised, format!("{what}, some of {since}", since = since), hint)
    }

    fn race(&mut self, access: Access, target: &Target, race: Race, window: Window) -> Fault {
        let what = self.what(access, target);
        let (words, earlier) = (self.words(), race.earlier);
        let (thread, site) = (words.thread(earlier.thread()), words.site(earlier.site()));
        let did = if race.earlier_writes { "wrote" } else { "read" };
        if earlier.interval < window.block {
            let other = self.blocks.partition_point(|begun| *begun <= earlier.interval) - 1;
            let text = format!("{what}, and {thread} of block {other} {did} there by {site} in the same launch");
            let hint = "blocks run in any order: let one block do both, or use two launches";
            return Fault::new(FaultKind::BlockRace, text, hint);
        }
        let text = format!("{what}, and {thread} {did} there by {site} since the last barrier");
        Fault::new(FaultKind::Race, text, "put a 'gpu.barrier' between the two")
    }
}
