//! Work on streams: it is done when something waits for it.

use crate::control::violation;
use crate::kernels;
use crate::state::{Device, ILLEGAL_ADDRESS, INVALID_VALUE, Object, State};

#[derive(Clone, Debug)]
pub(crate) enum Op {
    ToDevice { to: u64, from: usize, bytes: usize },
    ToHost { to: usize, from: u64, bytes: usize },
    OnDevice { to: u64, from: u64, bytes: usize },
    Launch { function: u64, groups: u32, threads: u32, arguments: Vec<u64> },
    Record { event: u64 },
    Graph { executable: u64 },
}

impl Op {
    /// Whether it touches device memory of this range.
    pub(crate) fn uses(&self, start: u64, bytes: u64) -> bool {
        let inside = |address: &u64| (start..start + bytes).contains(address);
        match self {
            Self::ToDevice { to, .. } => inside(to),
            Self::ToHost { from, .. } => inside(from),
            Self::OnDevice { to, from, .. } => inside(to) || inside(from),
            Self::Launch { arguments, .. } => arguments.iter().any(inside),
            Self::Record { .. } | Self::Graph { .. } => false,
        }
    }

    pub(crate) fn uses_pinned(&self, start: usize, bytes: usize) -> bool {
        match self {
            Self::ToDevice { from: place, .. } | Self::ToHost { to: place, .. } => {
                (start..start + bytes).contains(place)
            }
            _ => false,
        }
    }
}

/// Enqueues something, or records it where the stream captures.
pub(crate) fn enqueue(state: &mut State, device: Device, stream: u64, op: Op) -> Result<(), i32> {
    let stream = state.stream(device, stream)?;
    match &mut stream.capture {
        Some(captured) => captured.push(op),
        None => stream.queue.push_back(op),
    }
    Ok(())
}

/// Does the first piece of a stream's work. False if there is none.
pub(crate) fn step(state: &mut State, device: Device, stream: u64) -> Result<bool, i32> {
    let Some(op) = state.stream(device, stream)?.queue.pop_front() else { return Ok(false) };
    state.clock += 1000;
    if let Err(status) = execute(state, device, &op) {
        state.sticky.insert(device, status);
        return Err(status);
    }
    Ok(true)
}

pub(crate) fn finish(state: &mut State, device: Device, stream: u64) -> Result<(), i32> {
    while step(state, device, stream)? {}
    Ok(())
}

fn execute(state: &mut State, device: Device, op: &Op) -> Result<(), i32> {
    match op {
        Op::ToDevice { to, from, bytes } => {
            if !state.is_pinned(*from, *bytes) {
                violation("an upload reads pinned memory that is not there any more");
                return Err(ILLEGAL_ADDRESS);
            }
            let target = state.range(device, *to, *bytes).ok_or(ILLEGAL_ADDRESS)?;
            // SAFETY: the memory is pinned, so alive, and as large.
            target.copy_from_slice(unsafe { std::slice::from_raw_parts(*from as *const u8, *bytes) });
        }
        Op::ToHost { to, from, bytes } => {
            if !state.is_pinned(*to, *bytes) {
                violation("a download writes pinned memory that is not there any more");
                return Err(ILLEGAL_ADDRESS);
            }
            let source = state.range(device, *from, *bytes).ok_or(ILLEGAL_ADDRESS)?;
            // SAFETY: the memory is pinned, so alive, and as large.
            unsafe { (*to as *mut u8).copy_from_nonoverlapping(source.as_ptr(), *bytes) };
        }
        Op::OnDevice { to, from, bytes } => {
            let source = state.range(device, *from, *bytes).ok_or(ILLEGAL_ADDRESS)?.to_vec();
            state.range(device, *to, *bytes).ok_or(ILLEGAL_ADDRESS)?.copy_from_slice(&source);
        }
        Op::Launch { function, groups, threads, arguments } => {
            let name = match state.object(device, *function) {
                Ok(Object::Function(function)) => function.name.clone(),
                _ => {
                    violation("a kernel's module was unloaded before its launch was done");
                    return Err(INVALID_VALUE);
                }
            };
            kernels::run(state, device, &name, *groups, *threads, arguments)?;
        }
        Op::Record { event } => {
            let now = state.clock;
            // One that was destroyed before is none to be told.
            if let Some((_, Object::Event(event))) = state.objects.get_mut(event) {
                event.pending = None;
                event.time = Some(now);
            }
        }
        Op::Graph { executable } => {
            let Ok(Object::Executable(work)) = state.object(device, *executable) else {
                violation("a graph was destroyed before its launch was done");
                return Err(INVALID_VALUE);
            };
            for op in work.clone() {
                execute(state, device, &op)?;
            }
        }
    }
    Ok(())
}
