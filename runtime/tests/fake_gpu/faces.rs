//! The functions under their names of CUDA and of HIP.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::Arc;

use crate::control::{self, count, violation};
use crate::kernels::facts;
use crate::state::*;
use crate::work::{Op, enqueue, finish, step};

fn status(name: &'static str, action: impl FnOnce() -> Result<(), i32>) -> i32 {
    control::begin(name).and_then(|()| action()).err().unwrap_or(0)
}

/// Writes a result where the caller wants it.
fn put<T>(to: *mut T, value: T) -> Result<(), i32> {
    if to.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: callers give a valid pointer; that it is none would be the runtime's bug, and shows as a crash.
    unsafe { to.write(value) };
    Ok(())
}

fn text(name: *const c_char) -> Result<&'static str, i32> {
    if name.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: callers give strings that live during the call.
    unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| INVALID_VALUE)
}

/// Calls that are not allowed while this thread captures.
fn not_capturing(what: &str) -> Result<(), i32> {
    if CAPTURES.get() == 0 {
        return Ok(());
    }
    violation(format!("{what} during a capture"));
    Err(CAPTURE_UNSUPPORTED)
}

macro_rules! faces {
    ($($cuda:ident $hip:ident ($($argument:ident: $type:ty),*) $family:ident $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $cuda($($argument: $type),*) -> i32 {
            let $family = Family::Cuda;
            let _ = $family;
            status(stringify!($cuda), || $body)
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $hip($($argument: $type),*) -> i32 {
            let $family = Family::Hip;
            let _ = $family;
            status(stringify!($hip), || $body)
        }
    )*};
}

faces! {
    cuInit hipInit(flags: c_uint) family {
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        with(|state| state.initialize(family));
        Ok(())
    }
    cuDriverGetVersion hipRuntimeGetVersion(version: *mut c_int) family { put(version, control::version(family)) }
    cuDeviceGetCount hipGetDeviceCount(count: *mut c_int) family {
        with(|state| state.check_initialized(family))?;
        put(count, models(family).len() as c_int)
    }
    cuDeviceGet hipDeviceGet(device: *mut c_int, ordinal: c_int) family {
        with(|state| state.check_initialized(family))?;
        Device::new(family, ordinal)?;
        put(device, ordinal)
    }
    cuDeviceGetName hipDeviceGetName(name: *mut c_char, bytes: c_int, device: c_int) family {
        let model = Device::new(family, device)?.model();
        let text = model.name.as_bytes();
        if text.len() >= bytes as usize {
            return Err(INVALID_VALUE);
        }
        // SAFETY: there is room for the name and a zero.
        unsafe { name.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        // SAFETY: as above.
        unsafe { name.add(text.len()).write(0) };
        Ok(())
    }
    cuDeviceTotalMem_v2 hipDeviceTotalMem(bytes: *mut usize, device: c_int) family {
        put(bytes, Device::new(family, device)?.model().memory)
    }
    cuDeviceGetAttribute hipDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) family {
        let model = Device::new(family, device)?.model();
        let known = match family {
            Family::Cuda => match attribute {
                1 => 1024,
                5 => i32::MAX,
                8 => model.shared,
                10 => model.warp,
                16 => model.units,
                18 => 0,
                20 => if model.prohibited { 2 } else { 0 },
                75 => model.capability / 10,
                76 => model.capability % 10,
                97 => model.shared_opt_in,
                _ => return Err(INVALID_VALUE),
            },
            Family::Hip => match attribute {
                16 => 0,
                29 => i32::MAX,
                56 => 1024,
                63 => model.units,
                74 => model.shared,
                87 => model.warp,
                _ => return Err(INVALID_VALUE),
            },
        };
        put(value, known)
    }
    cuMemAlloc_v2 hipMalloc(address: *mut u64, bytes: usize) family {
        not_capturing("an allocation")?;
        with(|state| {
            let device = state.current(family)?;
            let used: usize = state.memory.values().filter(|one| one.device == device).map(|one| one.bytes.len()).sum();
            if bytes == 0 {
                return Err(INVALID_VALUE);
            }
            if used.saturating_add(bytes) > device.model().memory {
                return Err(OUT_OF_MEMORY);
            }
            let at = state.address(bytes);
            state.memory.insert(at, Allocation { device, bytes: vec![0xab; bytes] });
            count(1);
            put(address, at)
        })
    }
    cuMemFree_v2 hipFree(address: u64) family {
        not_capturing("a free")?;
        with(|state| {
            let device = state.current(family)?;
            match state.memory.get(&address) {
                Some(allocation) if allocation.device == device => {}
                _ => {
                    violation(format!("memory at {address:#x} is freed, which is none of this device"));
                    return Err(INVALID_VALUE);
                }
            }
            let bytes = state.memory.remove(&address).map_or(0, |allocation| allocation.bytes.len() as u64);
            if state.unfinished().any(|op| op.uses(address, bytes)) {
                violation("memory is freed before the work that uses it is done");
            }
            count(-1);
            Ok(())
        })
    }
    cuMemHostAlloc hipHostMalloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) family {
        not_capturing("an allocation")?;
        with(|state| {
            state.current(family)?;
            if bytes == 0 || flags != 0 {
                return Err(INVALID_VALUE);
            }
            let mut block = vec![0xcd; bytes].into_boxed_slice();
            let start = block.as_mut_ptr();
            state.pinned.insert(start as usize, block);
            count(1);
            put(pointer, start.cast())
        })
    }
    cuMemFreeHost hipHostFree(pointer: *mut c_void) family {
        not_capturing("a free")?;
        with(|state| {
            state.current(family)?;
            let start = pointer as usize;
            let Some(block) = state.pinned.remove(&start) else {
                violation("pinned memory is freed, which is none");
                return Err(INVALID_VALUE);
            };
            if state.unfinished().any(|op| op.uses_pinned(start, block.len())) {
                violation("pinned memory is freed before the work that uses it is done");
            }
            count(-1);
            Ok(())
        })
    }
    cuMemcpyHtoDAsync_v2 hipMemcpyHtoDAsync(to: u64, from: *const c_void, bytes: usize, stream: u64) family {
        copy(family, stream, Op::ToDevice { to, from: from as usize, bytes })
    }
    cuMemcpyDtoHAsync_v2 hipMemcpyDtoHAsync(to: *mut c_void, from: u64, bytes: usize, stream: u64) family {
        copy(family, stream, Op::ToHost { to: to as usize, from, bytes })
    }
    cuMemcpyDtoDAsync_v2 hipMemcpyDtoDAsync(to: u64, from: u64, bytes: usize, stream: u64) family {
        copy(family, stream, Op::OnDevice { to, from, bytes })
    }
    cuStreamCreate hipStreamCreateWithFlags(stream: *mut u64, flags: c_uint) family {
        with(|state| {
            let device = state.current(family)?;
            if flags != 1 {
                return Err(INVALID_VALUE);
            }
            put(stream, state.insert(device, Object::Stream(Stream { queue: Default::default(), capture: None })))
        })
    }
    cuStreamDestroy_v2 hipStreamDestroy(stream: u64) family {
        with(|state| {
            let device = state.current(family)?;
            if state.stream(device, stream)?.capture.is_some() {
                violation("a stream is destroyed that captures");
            }
            // Drivers go on with the work; whoever frees what it uses behind this is wrong.
            if !state.stream(device, stream)?.queue.is_empty() {
                violation("a stream is destroyed before its work is done");
            }
            finish(state, device, stream)?;
            state.remove(device, stream).map(drop)
        })
    }
    cuStreamSynchronize hipStreamSynchronize(stream: u64) family {
        with(|state| {
            let device = state.current(family)?;
            if state.stream(device, stream)?.capture.is_some() {
                violation("a stream is synchronized that captures");
                return Err(CAPTURE_UNSUPPORTED);
            }
            finish(state, device, stream)
        })
    }
    cuEventCreate hipEventCreateWithFlags(event: *mut u64, flags: c_uint) family {
        with(|state| {
            let device = state.current(family)?;
            if !matches!(flags, 0 | 2) {
                return Err(INVALID_VALUE);
            }
            let new = Event { timed: flags == 0, pending: None, time: None };
            put(event, state.insert(device, Object::Event(new)))
        })
    }
    cuEventDestroy_v2 hipEventDestroy(event: u64) family {
        with(|state| {
            let device = state.current(family)?;
            state.event(device, event)?;
            state.remove(device, event).map(drop)
        })
    }
    cuEventRecord hipEventRecord(event: u64, stream: u64) family {
        with(|state| {
            let device = state.current(family)?;
            if state.stream(device, stream)?.capture.is_some() {
                violation("an event is recorded in a capture");
            }
            let recorded = state.event(device, event)?;
            recorded.pending = Some(stream);
            enqueue(state, device, stream, Op::Record { event })
        })
    }
    cuEventQuery hipEventQuery(event: u64) family {
        with(|state| {
            let device = state.current(family)?;
            let Some(stream) = state.event(device, event)?.pending else { return Ok(()) };
            // Time passes.
            step(state, device, stream)?;
            if state.event(device, event)?.pending.is_some() { Err(NOT_READY) } else { Ok(()) }
        })
    }
    cuEventSynchronize hipEventSynchronize(event: u64) family {
        with(|state| {
            let device = state.current(family)?;
            while let Some(stream) = state.event(device, event)?.pending {
                step(state, device, stream)?;
            }
            Ok(())
        })
    }
    cuEventElapsedTime hipEventElapsedTime(milliseconds: *mut f32, start: u64, end: u64) family {
        with(|state| {
            let device = state.current(family)?;
            let mut times = [0; 2];
            for (event, time) in [start, end].into_iter().zip(&mut times) {
                let event = state.event(device, event)?;
                if !event.timed || event.time.is_none() && event.pending.is_none() {
                    return Err(INVALID_HANDLE);
                }
                if event.pending.is_some() {
                    return Err(NOT_READY);
                }
                *time = event.time.unwrap_or(0);
            }
            put(milliseconds, (times[1] as f64 - times[0] as f64) as f32 * 1e-6)
        })
    }
    cuModuleUnload hipModuleUnload(module: u64) family {
        with(|state| {
            let device = state.current(family)?;
            if !matches!(state.remove(device, module)?, Object::Module(_)) {
                return Err(INVALID_HANDLE);
            }
            state.objects.retain(|_, (_, object)| {
                let gone = matches!(object, Object::Function(function) if function.module == module);
                count(-i64::from(gone));
                !gone
            });
            Ok(())
        })
    }
    cuModuleGetFunction hipModuleGetFunction(function: *mut u64, module: u64, name: *const c_char) family {
        let name = text(name)?;
        with(|state| {
            let device = state.current(family)?;
            let Object::Module(image) = state.object(device, module)? else { return Err(INVALID_HANDLE) };
            let (image, name) = (image.clone(), name.to_owned());
            let has = |wanted: &str| image.windows(wanted.len()).any(|part| part == wanted.as_bytes());
            let found = if image.starts_with(b"\x7fELF") {
                has(&format!("\0{name}\0"))
            } else {
                has(&format!(".entry {name}"))
            };
            if !found {
                return Err(NOT_FOUND);
            }
            let new = Function { module, name, dynamic_limit: 49_152 };
            put(function, state.insert(device, Object::Function(new)))
        })
    }
    cuFuncGetAttribute hipFuncGetAttribute(value: *mut c_int, attribute: c_int, function: u64) family {
        with(|state| {
            let device = state.current(family)?;
            let Object::Function(function) = state.object(device, function)? else { return Err(INVALID_HANDLE) };
            let facts = facts(&function.name);
            match attribute {
                0 => put(value, facts.most_threads),
                1 => put(value, facts.shared),
                8 => put(value, function.dynamic_limit),
                _ => Err(INVALID_VALUE),
            }
        })
    }
    cuOccupancyMaxActiveBlocksPerMultiprocessor hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int, function: u64, threads: c_int, dynamic_shared: usize
    ) family {
        with(|state| {
            let device = state.current(family)?;
            let Object::Function(function) = state.object(device, function)? else { return Err(INVALID_HANDLE) };
            let facts = facts(&function.name);
            if threads <= 0 || threads > facts.most_threads {
                return Err(INVALID_VALUE);
            }
            let shared = facts.shared + dynamic_shared as i32;
            let by_memory = if shared == 0 { i32::MAX } else { device.model().shared_opt_in / shared };
            put(blocks, (2048 / threads).min(by_memory))
        })
    }
    cuLaunchKernel hipModuleLaunchKernel(
        function: u64, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        dynamic_shared: c_uint, stream: u64, arguments: *mut *mut c_void, extra: *mut *mut c_void
    ) family {
        with(|state| {
            let device = state.current(family)?;
            let Object::Function(launched) = state.object(device, function)? else { return Err(INVALID_HANDLE) };
            let facts = facts(&launched.name);
            let threads = block_x.checked_mul(block_y).and_then(|n| n.checked_mul(block_z)).ok_or(INVALID_VALUE)?;
            let limit = match family {
                // Beyond the default the kernel has to be allowed more, and all together the device has so much.
                Family::Cuda => launched.dynamic_limit.min(device.model().shared_opt_in - facts.shared),
                Family::Hip => device.model().shared - facts.shared,
            };
            let total = facts.shared + dynamic_shared as i32;
            let too_much_shared = dynamic_shared as i32 > limit || limit == 49_152 && total > 49_152;
            let too_wide = family == Family::Hip && u64::from(grid_x) * u64::from(block_x) > u64::from(u32::MAX);
            if [grid_x, grid_y, grid_z, threads].contains(&0)
                || (grid_y, grid_z) != (1, 1)
                || threads > facts.most_threads as u32
                || too_much_shared
                || too_wide
                || !extra.is_null()
            {
                return Err(INVALID_VALUE);
            }
            let read = |at: usize| {
                // SAFETY: callers give as many pointers as the kernel has parameters, each to 8 bytes.
                unsafe { arguments.add(at).read().cast::<u64>().read_unaligned() }
            };
            let arguments = (0..facts.parameters).map(read).collect();
            enqueue(state, device, stream, Op::Launch { function, groups: grid_x, threads, arguments })
        })
    }
    cuStreamBeginCapture_v2 hipStreamBeginCapture(stream: u64, mode: c_int) family {
        with(|state| {
            let device = state.current(family)?;
            let captured = state.stream(device, stream)?;
            if mode != 1 || captured.capture.is_some() {
                return Err(INVALID_VALUE);
            }
            captured.capture = Some(Vec::new());
            CAPTURES.set(CAPTURES.get() + 1);
            Ok(())
        })
    }
    cuStreamEndCapture hipStreamEndCapture(stream: u64, graph: *mut u64) family {
        with(|state| {
            let device = state.current(family)?;
            let work = state.stream(device, stream)?.capture.take().ok_or(INVALID_VALUE)?;
            CAPTURES.set(CAPTURES.get() - 1);
            put(graph, state.insert(device, Object::Graph(work)))
        })
    }
    cuGraphInstantiateWithFlags hipGraphInstantiateWithFlags(
        executable: *mut u64, graph: u64, flags: c_ulonglong
    ) family {
        with(|state| {
            let device = state.current(family)?;
            let Object::Graph(work) = state.object(device, graph)? else { return Err(INVALID_HANDLE) };
            if flags != 0 {
                return Err(INVALID_VALUE);
            }
            let work = work.clone();
            put(executable, state.insert(device, Object::Executable(work)))
        })
    }
    cuGraphLaunch hipGraphLaunch(executable: u64, stream: u64) family {
        with(|state| {
            let device = state.current(family)?;
            let Object::Executable(_) = state.object(device, executable)? else { return Err(INVALID_HANDLE) };
            enqueue(state, device, stream, Op::Graph { executable })
        })
    }
    cuGraphExecDestroy hipGraphExecDestroy(executable: u64) family { destroy(family, executable) }
    cuGraphDestroy hipGraphDestroy(graph: u64) family { destroy(family, graph) }
}

fn destroy(family: Family, graph: u64) -> Result<(), i32> {
    with(|state| {
        let device = state.current(family)?;
        if state.unfinished().any(|op| matches!(op, Op::Graph { executable } if *executable == graph)) {
            violation("a graph is destroyed before its launch is done");
        }
        match state.remove(device, graph)? {
            Object::Graph(_) | Object::Executable(_) => Ok(()),
            _ => Err(INVALID_HANDLE),
        }
    })
}

fn copy(family: Family, stream: u64, op: Op) -> Result<(), i32> {
    with(|state| {
        let device = state.current(family)?;
        let inside = match &op {
            Op::ToDevice { to, from, bytes } => {
                state.range(device, *to, *bytes).is_some() && state.is_pinned(*from, *bytes)
            }
            Op::ToHost { to, from, bytes } => {
                state.range(device, *from, *bytes).is_some() && state.is_pinned(*to, *bytes)
            }
            Op::OnDevice { to, from, bytes } => {
                state.range(device, *to, *bytes).is_some() && state.range(device, *from, *bytes).is_some()
            }
            _ => false,
        };
        if !inside {
            violation("a copy reaches out of its memory, or is not through pinned memory");
            return Err(INVALID_VALUE);
        }
        enqueue(state, device, stream, op)
    })
}

fn load(family: Family, module: *mut u64, image: *const c_void) -> Result<(), i32> {
    if image.is_null() {
        return Err(INVALID_VALUE);
    }
    let image: *const u8 = image.cast();
    // SAFETY: callers give an image of four bytes or more, text with a zero behind.
    let is_elf = unsafe { std::slice::from_raw_parts(image, 4) } == b"\x7fELF";
    let bytes = if is_elf {
        // As drivers do, all that the headers speak of is read: sections end with their table of headers, or behind.
        // SAFETY: so much of a header is there; the runtime checks that what it speaks of is, too.
        let number = |at: usize| unsafe { image.add(at).cast::<u64>().read_unaligned() as usize };
        // SAFETY: as above.
        let short = |at: usize| unsafe { image.add(at).cast::<u16>().read_unaligned() as usize };
        let sections = number(40) + short(58) * short(60);
        let segments = number(32) + short(54) * short(56);
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(image, sections.max(segments)) }
    } else if family == Family::Cuda {
        // SAFETY: text ends with a zero.
        unsafe { CStr::from_ptr(image.cast()) }.to_bytes()
    } else {
        return Err(INVALID_IMAGE);
    };
    with(|state| {
        let device = state.current(family)?;
        put(module, state.insert(device, Object::Module(Arc::new(bytes.to_vec()))))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut u64,
    image: *const c_void,
    count: c_uint,
    options: *mut c_int,
    values: *mut *mut c_void,
) -> i32 {
    status("cuModuleLoadDataEx", || {
        let mut log: Option<(*mut u8, usize)> = None;
        if count > 0 {
            // SAFETY: callers give as many options and values as they say.
            let (options, values) = unsafe {
                (
                    std::slice::from_raw_parts(options, count as usize),
                    std::slice::from_raw_parts(values, count as usize),
                )
            };
            let [5, 6] = options else { return Err(INVALID_VALUE) };
            log = Some((values[0].cast(), values[1] as usize));
        }
        // SAFETY: as in `load`.
        let is_text = unsafe { image.cast::<u8>().read() } != 0x7f;
        // SAFETY: text ends with a zero.
        if is_text && unsafe { CStr::from_ptr(image.cast()) }.to_bytes().windows(5).any(|part| part == b"bogus") {
            let said = b"ptxas application ptx input, line 5; error: Not a name of any known instruction: 'bogus'\0";
            if let Some((buffer, bytes)) = log {
                // SAFETY: the buffer has so many bytes.
                unsafe { buffer.copy_from_nonoverlapping(said.as_ptr(), said.len().min(bytes)) };
            }
            return Err(INVALID_PTX);
        }
        load(Family::Cuda, module, image)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(module: *mut u64, image: *const c_void) -> i32 {
    status("hipModuleLoadData", || load(Family::Hip, module, image))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetAttribute(function: u64, attribute: c_int, value: c_int) -> i32 {
    status("cuFuncSetAttribute", || {
        with(|state| {
            let device = state.current(Family::Cuda)?;
            let Object::Function(function) = state.object(device, function)? else { return Err(INVALID_HANDLE) };
            if attribute != 8 || value < 0 || value + facts(&function.name).shared > device.model().shared_opt_in {
                return Err(INVALID_VALUE);
            }
            function.dynamic_limit = value;
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut u64, device: c_int) -> i32 {
    status("cuDevicePrimaryCtxRetain", || {
        with(|state| {
            state.check_initialized(Family::Cuda)?;
            let device = Device::new(Family::Cuda, device)?;
            if device.model().prohibited {
                return Err(INVALID_DEVICE);
            }
            *state.retained.entry(device).or_default() += 1;
            count(1);
            put(context, device.context())
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> i32 {
    status("cuDevicePrimaryCtxRelease_v2", || {
        with(|state| {
            let device = Device::new(Family::Cuda, device)?;
            let retained = state.retained.get_mut(&device).filter(|count| **count > 0).ok_or(INVALID_CONTEXT)?;
            *retained -= 1;
            if *retained == 0 && !state.sticky.contains_key(&device) {
                let left = state.objects.values().filter(|(owner, _)| *owner == device).count();
                if left > 0 {
                    violation(format!("a context goes that still has {left} objects"));
                }
            }
            count(-1);
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPushCurrent_v2(context: u64) -> i32 {
    status("cuCtxPushCurrent_v2", || {
        CONTEXTS.with_borrow_mut(|stack| stack.push(context));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent_v2(context: *mut u64) -> i32 {
    status("cuCtxPopCurrent_v2", || {
        let top = CONTEXTS.with_borrow_mut(Vec::pop).ok_or(INVALID_CONTEXT)?;
        put(context, top)
    })
}

/// How many contexts are current for this thread.
#[unsafe(no_mangle)]
pub extern "C" fn fake_contexts() -> u64 {
    CONTEXTS.with_borrow(|stack| stack.len() as u64)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(device: *mut c_int) -> i32 {
    status("hipGetDevice", || put(device, HIP_DEVICE.get()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipSetDevice(device: c_int) -> i32 {
    status("hipSetDevice", || {
        Device::new(Family::Hip, device)?;
        HIP_DEVICE.set(device);
        Ok(())
    })
}

fn properties(buffer: *mut c_void, device: c_int, offset: usize) -> Result<(), i32> {
    let model = Device::new(Family::Hip, device)?.model();
    // SAFETY: both layouts have their name and 256 bytes of the processor's; the caller gives the whole struct.
    unsafe {
        buffer.cast::<u8>().copy_from_nonoverlapping(model.name.as_ptr(), model.name.len());
        buffer.cast::<u8>().add(offset).copy_from_nonoverlapping(model.arch.as_ptr(), model.arch.len());
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(buffer: *mut c_void, device: c_int) -> i32 {
    status("hipGetDevicePropertiesR0600", || properties(buffer, device, 1160))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceProperties(buffer: *mut c_void, device: c_int) -> i32 {
    status("hipGetDeviceProperties", || properties(buffer, device, 396))
}

fn words(status: i32) -> Option<(&'static CStr, &'static CStr, &'static CStr)> {
    Some(match status {
        1 => (c"CUDA_ERROR_INVALID_VALUE", c"hipErrorInvalidValue", c"invalid argument"),
        2 => (c"CUDA_ERROR_OUT_OF_MEMORY", c"hipErrorOutOfMemory", c"out of memory"),
        100 => (c"CUDA_ERROR_NO_DEVICE", c"hipErrorNoDevice", c"no CUDA-capable device is detected"),
        101 => (c"CUDA_ERROR_INVALID_DEVICE", c"hipErrorInvalidDevice", c"invalid device ordinal"),
        209 => (c"CUDA_ERROR_NO_BINARY_FOR_GPU", c"hipErrorNoBinaryForGpu", c"no kernel image is available"),
        218 => (c"CUDA_ERROR_INVALID_PTX", c"hipErrorInvalidKernelFile", c"a PTX JIT compilation failed"),
        400 => (c"CUDA_ERROR_INVALID_HANDLE", c"hipErrorInvalidHandle", c"invalid resource handle"),
        500 => (c"CUDA_ERROR_NOT_FOUND", c"hipErrorNotFound", c"named symbol not found"),
        700 => (c"CUDA_ERROR_ILLEGAL_ADDRESS", c"hipErrorIllegalAddress", c"an illegal memory access was encountered"),
        719 => (c"CUDA_ERROR_LAUNCH_FAILED", c"hipErrorLaunchFailure", c"unspecified launch failure"),
        _ => return None,
    })
}

/// Of a status that is not known there is no name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(status: i32, name: *mut *const c_char) -> i32 {
    let _ = put(name, words(status).map_or(std::ptr::null(), |words| words.0.as_ptr()));
    if words(status).is_some() { 0 } else { INVALID_VALUE }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(status: i32, text: *mut *const c_char) -> i32 {
    let _ = put(text, words(status).map_or(std::ptr::null(), |words| words.2.as_ptr()));
    if words(status).is_some() { 0 } else { INVALID_VALUE }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetErrorName(status: i32) -> *const c_char {
    words(status).map_or(c"hipErrorUnknown".as_ptr(), |words| words.1.as_ptr())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetErrorString(status: i32) -> *const c_char {
    words(status).map_or(c"unknown error".as_ptr(), |words| words.2.as_ptr())
}
