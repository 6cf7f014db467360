//! What exists: devices, memory, handles.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::control::{count, violation};
use crate::work::Op;

pub(crate) const INVALID_VALUE: i32 = 1;
pub(crate) const OUT_OF_MEMORY: i32 = 2;
pub(crate) const NOT_INITIALIZED: i32 = 3;
pub(crate) const INVALID_DEVICE: i32 = 101;
pub(crate) const INVALID_IMAGE: i32 = 200;
pub(crate) const INVALID_CONTEXT: i32 = 201;
pub(crate) const INVALID_PTX: i32 = 218;
pub(crate) const INVALID_HANDLE: i32 = 400;
pub(crate) const NOT_FOUND: i32 = 500;
pub(crate) const NOT_READY: i32 = 600;
pub(crate) const ILLEGAL_ADDRESS: i32 = 700;
pub(crate) const CAPTURE_UNSUPPORTED: i32 = 900;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Family {
    Cuda,
    Hip,
}

/// What a device is.
pub(crate) struct Model {
    pub(crate) name: &'static str,
    /// The capability times ten, or nothing.
    pub(crate) capability: i32,
    pub(crate) arch: &'static str,
    pub(crate) warp: i32,
    pub(crate) shared: i32,
    pub(crate) shared_opt_in: i32,
    pub(crate) units: i32,
    pub(crate) memory: usize,
    pub(crate) prohibited: bool,
}

const H100: Model = Model {
    name: "Fake H100",
    capability: 90,
    arch: "",
    warp: 32,
    shared: 49_152,
    shared_opt_in: 232_448,
    units: 132,
    memory: 256 << 20,
    prohibited: false,
};
const MI300X: Model = Model {
    name: "Fake MI300X",
    capability: 94,
    arch: "gfx942:sramecc+:xnack-",
    warp: 64,
    shared: 65_536,
    shared_opt_in: 65_536,
    units: 304,
    memory: 256 << 20,
    prohibited: false,
};
static CUDA: [Model; 7] = [
    H100,
    Model { name: "Fake T4", capability: 75, shared_opt_in: 65_536, units: 40, ..H100 },
    Model { name: "Fake Prohibited", prohibited: true, ..H100 },
    Model { name: "Fake Small", capability: 86, memory: 1 << 20, ..H100 },
    Model { name: "Fake Crash A", ..H100 },
    Model { name: "Fake Crash B", ..H100 },
    Model { name: "Fake Crash C", ..H100 },
];
static HIP: [Model; 4] = [
    MI300X,
    Model { name: "Fake Radeon", arch: "gfx1100", warp: 32, units: 96, ..MI300X },
    Model { name: "Fake Small", memory: 1 << 20, ..MI300X },
    Model { name: "Fake Crash", ..MI300X },
];

pub(crate) fn models(family: Family) -> &'static [Model] {
    match family {
        Family::Cuda => &CUDA,
        Family::Hip => &HIP,
    }
}

/// A device of a family.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Device(pub(crate) Family, pub(crate) usize);

impl Device {
    pub(crate) fn new(family: Family, number: i32) -> Result<Self, i32> {
        let number = usize::try_from(number).map_err(|_| INVALID_DEVICE)?;
        if number < models(family).len() { Ok(Self(family, number)) } else { Err(INVALID_DEVICE) }
    }

    pub(crate) fn model(self) -> &'static Model {
        &models(self.0)[self.1]
    }

    /// The handle of its primary context.
    pub(crate) fn context(self) -> u64 {
        0xc0_0000 + 0x100 * self.1 as u64
    }
}

pub(crate) struct Allocation {
    pub(crate) device: Device,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) struct Stream {
    pub(crate) queue: VecDeque<Op>,
    pub(crate) capture: Option<Vec<Op>>,
}

pub(crate) struct Event {
    pub(crate) timed: bool,
    /// The stream in which it is still to come, the last time it was recorded.
    pub(crate) pending: Option<u64>,
    pub(crate) time: Option<u64>,
}

pub(crate) struct Function {
    pub(crate) module: u64,
    pub(crate) name: String,
    pub(crate) dynamic_limit: i32,
}

pub(crate) enum Object {
    Stream(Stream),
    Event(Event),
    Module(Arc<Vec<u8>>),
    Function(Function),
    Graph(Vec<Op>),
    Executable(Vec<Op>),
}

#[derive(Default)]
pub(crate) struct State {
    initialized: HashMap<Family, bool>,
    next: u64,
    /// Where no memory was ever: no address is used twice.
    top: u64,
    pub(crate) objects: HashMap<u64, (Device, Object)>,
    pub(crate) memory: BTreeMap<u64, Allocation>,
    /// Pinned memory: where it begins, and its bytes.
    pub(crate) pinned: BTreeMap<usize, Box<[u8]>>,
    pub(crate) retained: HashMap<Device, usize>,
    /// Errors after which a device does nothing more.
    pub(crate) sticky: HashMap<Device, i32>,
    pub(crate) clock: u64,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

thread_local! {
    /// The contexts of CUDA that are current, the last one on top.
    pub(crate) static CONTEXTS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    pub(crate) static HIP_DEVICE: Cell<i32> = const { Cell::new(0) };
    /// Captures that this thread began and did not end.
    pub(crate) static CAPTURES: Cell<u32> = const { Cell::new(0) };
}

/// Does something with the state.
pub(crate) fn with<T>(action: impl FnOnce(&mut State) -> T) -> T {
    let mut guard: MutexGuard<'_, Option<State>> = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    action(guard.get_or_insert_default())
}

impl State {
    pub(crate) fn initialize(&mut self, family: Family) {
        self.initialized.insert(family, true);
    }

    pub(crate) fn check_initialized(&self, family: Family) -> Result<(), i32> {
        if self.initialized.contains_key(&family) { Ok(()) } else { Err(NOT_INITIALIZED) }
    }

    /// The device that is current for this thread, unless it does nothing more.
    pub(crate) fn current(&self, family: Family) -> Result<Device, i32> {
        self.check_initialized(family)?;
        let device = match family {
            Family::Cuda => {
                let top = CONTEXTS.with_borrow(|stack| stack.last().copied()).ok_or(INVALID_CONTEXT)?;
                let device = (0..CUDA.len()).map(|n| Device(family, n)).find(|device| device.context() == top);
                let device = device.ok_or(INVALID_CONTEXT)?;
                if self.retained.get(&device).is_none_or(|count| *count == 0) {
                    violation("a context is current that was released");
                    return Err(INVALID_CONTEXT);
                }
                device
            }
            Family::Hip => Device::new(family, HIP_DEVICE.get())?,
        };
        self.sticky.get(&device).map_or(Ok(device), |status| Err(*status))
    }

    pub(crate) fn insert(&mut self, device: Device, object: Object) -> u64 {
        count(1);
        self.next += 1;
        // Handles of families and kinds differ, and none is an address of memory.
        let handle = 0x5000_0000 + 16 * self.next;
        self.objects.insert(handle, (device, object));
        handle
    }

    /// An object of the device.
    pub(crate) fn object(&mut self, device: Device, handle: u64) -> Result<&mut Object, i32> {
        match self.objects.get_mut(&handle) {
            Some((owner, object)) if *owner == device => Ok(object),
            Some(_) => {
                violation(format!("handle {handle:#x} is of another device than the current one"));
                Err(INVALID_CONTEXT)
            }
            None => {
                violation(format!("handle {handle:#x} is none, or was destroyed"));
                Err(INVALID_HANDLE)
            }
        }
    }

    pub(crate) fn remove(&mut self, device: Device, handle: u64) -> Result<Object, i32> {
        self.object(device, handle)?;
        count(-1);
        Ok(self.objects.remove(&handle).ok_or(INVALID_HANDLE)?.1)
    }

    pub(crate) fn stream(&mut self, device: Device, handle: u64) -> Result<&mut Stream, i32> {
        match self.object(device, handle)? {
            Object::Stream(stream) => Ok(stream),
            _ => Err(INVALID_HANDLE),
        }
    }

    pub(crate) fn event(&mut self, device: Device, handle: u64) -> Result<&mut Event, i32> {
        match self.object(device, handle)? {
            Object::Event(event) => Ok(event),
            _ => Err(INVALID_HANDLE),
        }
    }

    /// A new address, aligned to 512, with unused addresses around it.
    pub(crate) fn address(&mut self, bytes: usize) -> u64 {
        let address = self.top.max(0x7f00_0000_0000);
        self.top = (address + bytes as u64 + 4096).next_multiple_of(512);
        address
    }

    /// So many bytes of the device's memory, if they are within one allocation.
    pub(crate) fn range(&mut self, device: Device, address: u64, bytes: usize) -> Option<&mut [u8]> {
        let (start, allocation) = self.memory.range_mut(..=address).next_back()?;
        let at = usize::try_from(address - start).ok()?;
        let end = at.checked_add(bytes)?;
        if allocation.device == device { allocation.bytes.get_mut(at..end) } else { None }
    }

    /// Whether pinned memory has this range.
    pub(crate) fn is_pinned(&self, pointer: usize, bytes: usize) -> bool {
        let block = self.pinned.range(..=pointer).next_back();
        block.is_some_and(|(start, block)| pointer - start + bytes <= block.len())
    }

    /// Everything that streams still have to do, and what they capture.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &Op> {
        self.objects.values().flat_map(|(_, object)| match object {
            Object::Stream(stream) => stream.queue.iter(),
            _ => EMPTY.iter(),
        })
    }
}

static EMPTY: VecDeque<Op> = VecDeque::new();
