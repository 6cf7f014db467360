//! Blocks: all threads run until they wait, then what they wait for happens, or never can.

#![allow(unsafe_code)]

use std::cell::RefCell;

use corosensei::stack::DefaultStack;

use super::abi::Exchanged;
use super::checker::Checker;
use super::fault::{Fault, FaultKind, Words};
use super::fiber::{Fiber, STACK_BYTES, Shuffle, Standing, Wait};
use super::memory::SharedHeap;
use super::module::FiberKernel;

/// Stacks that wait for reuse.
pub(super) type Stacks = Vec<DefaultStack>;

/// Why a launch did not come to its end.
pub(super) enum Stopped {
    Fault(Fault),
    /// The system gave no memory for stacks or blocks.
    NoMemory(std::io::Error),
    /// Too many barriers to keep apart.
    Intervals,
}

/// What a thread does between two runs.
#[derive(Clone, Copy, Debug)]
enum Doing {
    /// Goes on with this.
    Ready(Exchanged),
    Waits(Wait),
    Ended,
}

/// A block's memory, aligned as every array may ask.
#[derive(Clone, Copy)]
#[repr(C, align(256))]
struct Line([u8; 256]);

/// Runs all blocks of a launch, one after the other.
///
/// # Safety
/// The kernel's code must keep the interface, and be made for these arguments.
pub(super) unsafe fn run(
    kernel: &FiberKernel,
    groups: u32,
    arguments: &[u64],
    heap: &SharedHeap,
    stacks: &mut Stacks,
) -> Result<(), Stopped> {
    while stacks.len() < kernel.threads() as usize {
        stacks.push(DefaultStack::new(STACK_BYTES).map_err(Stopped::NoMemory)?);
    }
    let mut shared = vec![Line([0; 256]); kernel.shared_span().div_ceil(256).max(1) as usize];
    let shared = shared.as_mut_ptr().expose_provenance() as u64;
    let checker = RefCell::new(Checker::new(kernel, super::memory::lock(heap), arguments, shared));
    for block in 0..groups {
        if !checker.borrow_mut().begin_block() {
            return Err(Stopped::Intervals);
        }
        let (mut fibers, subgroup) = (Vec::with_capacity(kernel.threads() as usize), kernel.subgroup);
        let [width, height, _] = kernel.block.map(u64::from);
        for thread in 0..kernel.threads() {
            let number = u64::from(thread);
            let at = [number % width, number / width % height, number / (width * height)];
            let (block, grid) = (u64::from(block), u64::from(groups));
            let standing = Standing { shared, thread, at, block, grid, subgroup };
            let stack = stacks.pop().expect("as many as threads");
            // SAFETY: the caller's promise; checker and arguments are dropped after the fibers, and the checker is only borrowed
            // for calls below that run no fiber.
            fibers.push(unsafe { Fiber::new(stack, kernel.function, arguments.as_ptr(), &checker, &standing) });
        }
        let result = run_block(kernel, &checker, &mut fibers);
        stacks.extend(fibers.into_iter().rev().filter_map(Fiber::into_stack));
        result?;
    }
    Ok(())
}

fn run_block(kernel: &FiberKernel, checker: &RefCell<Checker<'_>>, fibers: &mut [Fiber]) -> Result<(), Stopped> {
    let mut doing = vec![Doing::Ready(Exchanged::default()); fibers.len()];
    loop {
        for (fiber, doing) in fibers.iter_mut().zip(&mut doing) {
            let Doing::Ready(with) = *doing else { continue };
            *doing = match fiber.resume(with) {
                None => Doing::Ended,
                Some(Wait::Fault) => {
                    let fault = checker.borrow_mut().fault.take();
                    return Err(Stopped::Fault(fault.expect("a thread stops for a fault that was noted")));
                }
                Some(wait) => Doing::Waits(wait),
            };
        }
        let meeting = Meeting { words: checker.borrow().words(), block: checker.borrow().block(), kernel };
        if meeting.shuffles(&mut doing).map_err(Stopped::Fault)? {
            continue;
        }
        if doing.iter().all(|doing| matches!(doing, Doing::Ended)) {
            return Ok(());
        }
        meeting.barrier(&mut doing).map_err(Stopped::Fault)?;
        if !checker.borrow_mut().next_interval() {
            return Err(Stopped::Intervals);
        }
    }
}

/// Threads that all wait or ended.
struct Meeting<'a> {
    words: Words<'a>,
    block: usize,
    kernel: &'a FiberKernel,
}

impl Meeting<'_> {
    /// Hands values over in subgroups whose threads all wait for that; whether there is one.
    fn shuffles(&self, doing: &mut [Doing]) -> Result<bool, Fault> {
        let mut any = false;
        let size = self.kernel.subgroup as usize;
        for (number, lanes) in doing.chunks_mut(size).enumerate() {
            let first = (number * size) as u32;
            let waits = |doing: &Doing| match doing {
                Doing::Waits(Wait::Shuffle(shuffle)) => Some(*shuffle),
                _ => None,
            };
            let all: Vec<Option<Shuffle>> = lanes.iter().map(waits).collect();
            let Some((leader, shuffle)) = all.iter().enumerate().find_map(|(lane, wait)| Some((lane, (*wait)?))) else {
                continue;
            };
            let elsewhere = |wait: &Option<Shuffle>| wait.is_none_or(|wait| wait.site != shuffle.site);
            if let Some(lane) = all.iter().position(elsewhere) {
                let odd: Vec<u32> =
                    (first..).zip(&all).filter(|(_, wait)| elsewhere(wait)).map(|(thread, _)| thread).collect();
                return Err(self.apart(first + leader as u32, shuffle, &odd, lanes[lane]));
            }
            let shuffles: Vec<Shuffle> = all.into_iter().flatten().collect();
            for (lane, doing) in lanes.iter_mut().enumerate() {
                *doing = Doing::Ready(self.exchange(first, lane as u32, &shuffles)?);
            }
            any = true;
        }
        Ok(any)
    }

    /// What a lane gets.
    fn exchange(&self, first: u32, lane: u32, all: &[Shuffle]) -> Result<Exchanged, Fault> {
        let Shuffle { site, mode, value, offset, width } = all[lane as usize];
        let who = || {
            format!(
                "block {}: {} takes a value by {}",
                self.block,
                self.words.thread(first + lane),
                self.words.site(site)
            )
        };
        let size = self.kernel.subgroup;
        if !width.is_power_of_two() || width > size {
            let text = format!("{} with a width of {}", who(), width.cast_signed());
            let hint = format!("widths are powers of two up to the subgroup's {size}");
            return Err(Fault::new(FaultKind::InactiveLane, text, &hint));
        }
        let in_part = lane % width;
        let (reach, from) = match mode {
            0 => (offset < width, lane ^ offset),
            1 => (in_part >= offset, lane.wrapping_sub(offset)),
            2 => (in_part.checked_add(offset).is_some_and(|to| to < width), lane.wrapping_add(offset)),
            _ => (offset < width, (lane - in_part).wrapping_add(offset)),
        };
        if !reach {
            return Ok(Exchanged { value, valid: 0 });
        }
        let Some(other) = all.get(from as usize) else {
            let (lanes, text) = (all.len(), format!("{} from lane {from} of its subgroup", who()));
            let text = format!("{text}, which is no thread: only {lanes} lanes are in the block");
            let hint = "launch whole subgroups, or use a 'width' that stays among them";
            return Err(Fault::new(FaultKind::InactiveLane, text, hint));
        };
        Ok(Exchanged { value: other.value, valid: 1 })
    }

    fn apart(&self, leader: u32, shuffle: Shuffle, odd: &[u32], does: Doing) -> Fault {
        let (leader, site, others) =
            (self.words.thread(leader), self.words.site(shuffle.site), self.words.threads(odd));
        let does = self.does(does);
        let text = format!("block {}: {leader} waits at {site}, and of its subgroup {others} {does}", self.block);
        Fault::new(FaultKind::DivergentShuffle, text, "move the shuffle to where all threads of a subgroup get")
    }

    fn does(&self, doing: Doing) -> String {
        match doing {
            Doing::Waits(Wait::Barrier { site } | Wait::Shuffle(Shuffle { site, .. })) => {
                format!("wait at {}", self.words.site(site))
            }
            Doing::Waits(Wait::Fault) | Doing::Ready(_) | Doing::Ended => "ended".to_owned(),
        }
    }

    /// All threads wait at one barrier, and go on. None of them waits for a shuffle.
    fn barrier(&self, doing: &mut [Doing]) -> Result<(), Fault> {
        let place = |doing: &Doing| match doing {
            Doing::Waits(Wait::Barrier { site }) => Some(*site),
            _ => None,
        };
        let waiting = doing.iter().enumerate().find_map(|(thread, doing)| Some((thread as u32, place(doing)?)));
        let Some((leader, site)) = waiting else { return Ok(()) };
        if let Some(odd) = doing.iter().find(|doing| place(doing) != Some(site)) {
            let threads: Vec<u32> =
                (0..).zip(doing.iter()).filter(|(_, doing)| place(doing) != Some(site)).map(|(at, _)| at).collect();
            let (leader, others, does) = (self.words.thread(leader), self.words.threads(&threads), self.does(*odd));
            let text =
                format!("block {}: {leader} waits at {}, and {others} {does}", self.block, self.words.site(site));
            let hint = "move the barrier to where all threads of a block get, such as out of a condition";
            return Err(Fault::new(FaultKind::DivergentBarrier, text, hint));
        }
        doing.fill(Doing::Ready(Exchanged::default()));
        Ok(())
    }
}
