//! Models whose kernels run on a device: inputs go there, the host program enqueues its launches, outputs come back.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Inner;
use super::choose::{device_words, not_for_processor, runs_on};
use super::queue::Queue;
use super::reports::Reports;
use super::run::WrongData;
use crate::abi::{KernelFn, NO_SUCH_ROUTINE, SuturaRt, VERSION};
use crate::artifact::Artifact;
use crate::device::{Backend, Buffer, Device, DeviceError, DeviceInfo, Devices, Event, Kernel, KernelOptions, Stream};
use crate::error::{Error, Result};
use crate::manifest;
use crate::options::{Options, PROCESSOR};
use crate::profile::{Launched, Profile};
use crate::tensor::{TensorView, TensorViewMut};

/// Blocks that are launched at most where the device does not say how many run at a time: blocks take groups one after the
/// other, so more would only begin later.
const MOST_BLOCKS: u64 = 65_535;

/// Of the blocks that run at a time, so many are launched, that none waits for one that is slow.
const WAVES: u64 = 4;

/// How many models this process has loaded on devices.
static LOADED: AtomicU64 = AtomicU64::new(0);

/// A model's kernels and constants on a device.
pub(super) struct OnDevice {
    device: Device,
    /// Different for all that this process has loaded.
    pub(super) number: u64,
    /// Of runs with tensors of the host, which come one after the other: a device's memory and units are one run's. Dropped
    /// before the constants, as it waits for what may still use them.
    queue: Mutex<Queue>,
    /// By number in the manifest.
    kernels: Vec<DeviceKernel>,
    constants: Vec<Buffer>,
}

struct DeviceKernel {
    kernel: Kernel,
    groups_of_block: u64,
    most_blocks: u64,
}

impl OnDevice {
    /// The device that an artifact with device code runs on; none for one without.
    pub(super) fn find(artifact: &Artifact, options: &Options) -> Result<Option<Self>> {
        let wanted = artifact.manifest().device.as_ref();
        let asked = options.opened.as_ref().map(|device| device.info().name.as_str()).or(options.device.as_deref());
        let processor = options.opened.is_none() && asked == Some(PROCESSOR);
        match (wanted, artifact.device(), asked) {
            (Some(wanted), ..) if processor => Err(not_for_processor(std::iter::once(device_words(wanted)))),
            (None, ..) if processor => Ok(None),
            (Some(wanted), Some(code), _) => {
                let device = match &options.opened {
                    Some(device) => device.clone(),
                    None => Devices::find().open(asked.unwrap_or(&wanted.backend))?,
                };
                Self::load(artifact, wanted, code, device).map(Some)
            }
            (_, _, Some(name)) => {
                let is = "is another device; compile it with `--target` for that".to_owned();
                Err(Error::WrongDevice { wanted: "the processor".to_owned(), device: name.to_owned(), is })
            }
            _ => Ok(None),
        }
    }

    fn load(artifact: &Artifact, wanted: &manifest::Device, code: &[u8], device: Device) -> Result<Self> {
        let options = kernel_options(wanted, device.info())?;
        let module = device.load(code)?;
        let kernels = artifact.manifest().kernels.iter().map(|kernel| {
            let groups_of_block = u64::from(kernel.groups_of_block.unwrap_or(1));
            let kernel = module.kernel_with(&kernel.symbol, &options)?;
            let units = device.info().limits.units.map(u64::from);
            let at_once = kernel.resident_groups(0)?.map(u64::from).zip(units).map(|(blocks, units)| blocks * units);
            let resident = at_once.map_or(MOST_BLOCKS, |blocks| WAVES * blocks);
            let most_blocks = resident.clamp(1, u64::from(device.info().limits.groups));
            Ok(DeviceKernel { kernel, groups_of_block, most_blocks })
        });
        let kernels = kernels.collect::<Result<_, DeviceError>>()?;
        let mut stream = device.stream()?;
        let constants = artifact.constants().map(|bytes| {
            let buffer = device.allocate(bytes.len() as u64)?;
            stream.upload(&buffer, 0, bytes)?;
            Ok(buffer)
        });
        let constants = constants.collect::<Result<_, DeviceError>>()?;
        stream.synchronize()?;
        let queue = Mutex::new(Queue::new(&device)?);
        Ok(Self { number: LOADED.fetch_add(1, Ordering::Relaxed), kernels, constants, queue, device })
    }

    pub(super) fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn constants(&self) -> &[Buffer] {
        &self.constants
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives memory of runs back to the device.
    pub(super) fn release_memory(&self) {
        // An error of lost work is the next run's.
        let _ = self.lock().release_memory();
    }

    /// Runs the host program on tensors of the host, and waits for what it enqueued.
    pub(super) fn run(
        &self,
        inner: &Inner,
        symbols: &[i64],
        inputs: &[TensorView<'_>],
        outputs: &mut [TensorViewMut<'_>],
        workspace_bytes: usize,
    ) -> Result<()> {
        let mut queue = self.lock();
        let done = self.run_on(&mut queue, inner, symbols, (inputs, outputs), workspace_bytes);
        if done.is_err() {
            // Errors of lost work stay with a stream; the next run begins with another one.
            *queue = Queue::new(&self.device)?;
        }
        done
    }

    fn run_on(
        &self,
        queue: &mut Queue,
        inner: &Inner,
        symbols: &[i64],
        (inputs, outputs): (&[TensorView<'_>], &mut [TensorViewMut<'_>]),
        workspace_bytes: usize,
    ) -> Result<()> {
        let mut uploaded = Vec::with_capacity(inputs.len());
        for input in inputs {
            let buffer = queue.allocate(input.byte_len() as u64)?;
            queue.stream().upload(&buffer, 0, input.bytes())?;
            uploaded.push(buffer);
        }
        let results = outputs.iter().map(|output| queue.allocate(output.byte_len() as u64));
        let results = results.collect::<Result<Vec<_>, DeviceError>>()?;
        let (from, to): (Vec<&Buffer>, Vec<&Buffer>) = (uploaded.iter().collect(), results.iter().collect());
        queue.run((self, inner), symbols, (&from, &to), workspace_bytes)?;
        for (output, buffer) in outputs.iter_mut().zip(&results) {
            queue.stream().download(buffer, 0, output.bytes_mut())?;
        }
        Ok(queue.synchronize()?)
    }

    /// Calls the host program, which enqueues its launches, and waits where it looks at a condition. With `times` each launch is between
    /// two events, which are added there.
    pub(super) fn enqueue(
        &self,
        stream: &mut Stream,
        inner: &Inner,
        symbols: &[i64],
        (buffers, until): (&Buffers<'_>, Until),
        times: Option<&mut Vec<LaunchTime>>,
    ) -> Result<Enqueued> {
        let call = DeviceCall {
            inner,
            kernels: &self.kernels,
            buffers: buffers.all().chain(&self.constants).collect(),
            stream: RefCell::new(stream),
            failure: RefCell::new(None),
            launches: Cell::new(0),
            position: Cell::new(0),
            reports: buffers.reports,
            until,
            looks: Cell::new(0),
            stopped: Cell::new(false),
            times: RefCell::new(inner.profile.as_ref().zip(times)),
        };
        let table = SuturaRt {
            abi: VERSION,
            reported: AtomicU32::new(0),
            ctx: (&raw const call).cast_mut().cast(),
            parallel_for,
            call: call_routine,
            report,
            launch,
            copy,
            reports: pointer(buffers.reports.map_or(0, Reports::address)),
            look,
            enter,
            leave,
        };
        let address = |buffer: &Buffer| pointer(buffer.address());
        let inputs: Vec<*const c_void> = buffers.inputs.iter().map(|b| address(b).cast_const()).collect();
        let outputs: Vec<*mut c_void> = buffers.outputs.iter().map(|b| address(b)).collect();
        let constants: Vec<*const c_void> = self.constants.iter().map(|b| address(b).cast_const()).collect();
        // SAFETY: the manifest's lengths. The code of an artifact with a device only hands the addresses on to the table.
        let result = unsafe {
            inner.host.run(&table, symbols.as_ptr(), &inputs, &outputs, &constants, address(buffers.workspace))
        };
        let (launches, looks, stopped) = (call.launches.get(), call.looks.get(), call.stopped.get());
        match call.failure.into_inner() {
            Some(failure) => Err(failure),
            None if result != 0 && !stopped => Err(Error::RunFailed { code: result }),
            None => Ok(Enqueued { launches, looks, stopped }),
        }
    }
}

/// What a run has enqueued.
#[derive(Clone, Copy)]
pub(super) struct Enqueued {
    /// Launches with groups.
    pub(super) launches: usize,
    /// How often it looked at a condition.
    pub(super) looks: usize,
    /// It ended when it looked the last time.
    pub(super) stopped: bool,
}

/// When a run ends that looks at conditions.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// When kernels have reported wrong data.
    Reported,
    /// When it looks this time, as an earlier run with the same data; never, without a number.
    Look(Option<usize>),
}

/// The memory of a run, besides constants.
pub(super) struct Buffers<'a> {
    pub(super) inputs: &'a [&'a Buffer],
    pub(super) outputs: &'a [&'a Buffer],
    pub(super) workspace: &'a Buffer,
    /// The words in which kernels report wrong data, where one of them looks.
    pub(super) reports: Option<&'a Reports>,
}

/// An address of the device as generated code hands it on.
fn pointer(address: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(address as usize)
}

impl<'a> Buffers<'a> {
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Buffer> {
        self.inputs.iter().chain(self.outputs).copied().chain([self.workspace])
    }
}

/// How kernels are made ready on a device, if it is one that they are for.
fn kernel_options(wanted: &manifest::Device, info: &DeviceInfo) -> Result<KernelOptions> {
    runs_on(wanted, info).map_err(|is| Error::WrongDevice {
        wanted: device_words(wanted),
        device: info.name.clone(),
        is,
    })?;
    let options = KernelOptions::default();
    let asks = info.backend == Backend::Vulkan && info.limits.subgroup != wanted.subgroup;
    Ok(if asks { options.subgroup(wanted.subgroup) } else { options })
}

/// What the table's functions find behind `ctx`.
struct DeviceCall<'a> {
    inner: &'a Inner,
    kernels: &'a [DeviceKernel],
    /// Every buffer that the code was given.
    buffers: Vec<&'a Buffer>,
    stream: RefCell<&'a mut Stream>,
    /// What went wrong first.
    failure: RefCell<Option<Error>>,
    /// Those with groups.
    launches: Cell<usize>,
    /// All.
    position: Cell<usize>,
    reports: Option<&'a Reports>,
    until: Until,
    /// How often a condition was looked at, and whether the run ended then.
    looks: Cell<usize>,
    stopped: Cell<bool>,
    times: RefCell<Option<(&'a Arc<Profile>, &'a mut Vec<LaunchTime>)>>,
}

/// A launch between two events, and where its time goes.
pub(super) struct LaunchTime {
    profile: Arc<Profile>,
    position: usize,
    kernel: usize,
    groups: i64,
    blocks: usize,
    start: Event,
    end: Event,
}

impl LaunchTime {
    /// Adds the time to the profile, if it is known.
    pub(super) fn settle(self) {
        let Self { profile, position, kernel, groups, blocks, start, end } = self;
        if let Some(time) = end.since(&start) {
            profile.note(position, Launched::Device(kernel), groups, blocks, time);
        }
    }
}

impl DeviceCall<'_> {
    /// Does something unless something has failed before.
    fn attempt(&self, what: impl FnOnce() -> Result<()>) {
        let mut failure = self.failure.borrow_mut();
        if failure.is_none() {
            *failure = what().err();
        }
    }

    /// # Safety
    /// The words must be arguments for that kernel.
    unsafe fn launch(&self, kernel: i64, words: &[u64], groups: i64) -> Result<()> {
        let position = self.position.replace(self.position.get() + 1);
        let number = usize::try_from(kernel).ok().filter(|number| *number < self.kernels.len());
        let number =
            number.ok_or_else(|| Error::Contract("it launches a kernel that the manifest has not".to_owned()))?;
        let kernel = &self.kernels[number];
        let blocks = u64::try_from(groups).unwrap_or(0).div_ceil(kernel.groups_of_block).min(kernel.most_blocks);
        if blocks == 0 {
            return Ok(());
        }
        self.launches.set(self.launches.get() + 1);
        let mut stream = self.stream.borrow_mut();
        let mut times = self.times.borrow_mut();
        let start = times.is_some().then(|| stream.record()).transpose()?;
        // SAFETY: the caller's promise; buffers live until the run has waited for the stream.
        unsafe { stream.launch(&kernel.kernel, blocks, 0, words)? };
        if let (Some((profile, times)), Some(start)) = (&mut *times, start) {
            let (profile, blocks, end) = (Arc::clone(profile), blocks as usize, stream.record()?);
            times.push(LaunchTime { profile, position, kernel: number, groups, blocks, start, end });
        }
        Ok(())
    }

    /// The buffer that has an address, and how far into it that is.
    fn buffer_at(&self, address: u64, bytes: u64) -> Result<(&Buffer, u64)> {
        let within = |buffer: &&&Buffer| {
            let offset = address.checked_sub(buffer.address());
            offset.and_then(|offset| offset.checked_add(bytes)).is_some_and(|end| end <= buffer.bytes())
        };
        let found = self.buffers.iter().find(within);
        let found = found.ok_or_else(|| Error::Contract("it copies memory that it was not given".to_owned()))?;
        Ok((found, address - found.address()))
    }

    /// The condition at an address, once everything enqueued is done; `None` where the run ends.
    fn look(&self, address: u64) -> Result<Option<bool>> {
        let (buffer, offset) = self.buffer_at(address, 1)?;
        let mut stream = self.stream.borrow_mut();
        let mut condition = [0];
        stream.download(buffer, offset, &mut condition)?;
        self.looks.set(self.looks.get() + 1);
        let ends = match (self.until, self.reports) {
            (Until::Reported, Some(reports)) => reports.read(&mut stream)?.is_some(),
            (Until::Reported, None) => false,
            (Until::Look(last), _) => last == Some(self.looks.get()),
        };
        self.stopped.set(ends);
        Ok((!ends).then_some(condition[0] != 0))
    }

    fn copy(&self, from: u64, to: u64, bytes: i64) -> Result<()> {
        let bytes = u64::try_from(bytes).unwrap_or(0);
        if bytes == 0 {
            return Ok(());
        }
        let (from, to) = (self.buffer_at(from, bytes)?, self.buffer_at(to, bytes)?);
        Ok(self.stream.borrow_mut().copy(from, to, bytes)?)
    }
}

/// [`SuturaRt::launch`].
unsafe extern "C" fn launch(ctx: *mut c_void, kernel: i64, words: *const u64, n_words: i64, n_groups: i64) {
    // SAFETY: `ctx` is the `DeviceCall` of the run in progress, on whose thread this is called.
    let call = unsafe { &*ctx.cast::<DeviceCall<'_>>() };
    call.attempt(|| {
        let count = usize::try_from(n_words).unwrap_or(0);
        // SAFETY: generated code passes so many words, which live until this returns, and are arguments of the kernel.
        unsafe {
            let words = if count == 0 { &[] } else { std::slice::from_raw_parts(words, count) };
            call.launch(kernel, words, n_groups)
        }
    });
}

/// [`SuturaRt::copy`].
unsafe extern "C" fn copy(ctx: *mut c_void, from: *const c_void, to: *mut c_void, bytes: i64) {
    // SAFETY: as for `launch`.
    let call = unsafe { &*ctx.cast::<DeviceCall<'_>>() };
    call.attempt(|| call.copy(from.addr() as u64, to.addr() as u64, bytes));
}

/// [`SuturaRt::look`].
unsafe extern "C" fn look(ctx: *mut c_void, condition: *const c_void) -> i32 {
    // SAFETY: as for `launch`.
    let call = unsafe { &*ctx.cast::<DeviceCall<'_>>() };
    let mut holds = None;
    call.attempt(|| {
        holds = call.look(condition.addr() as u64)?;
        Ok(())
    });
    holds.map_or(-1, i32::from)
}

/// [`SuturaRt::enter`]: a manifest with a device has no functions.
unsafe extern "C" fn enter(_: *mut c_void, _: i64, _: i64, _: *mut *mut c_void) -> i32 {
    NO_SUCH_ROUTINE
}

/// [`SuturaRt::leave`].
unsafe extern "C" fn leave(_: *mut c_void) {}

/// [`SuturaRt::parallel_for`]: kernels of the processor would not find their buffers.
unsafe extern "C" fn parallel_for(ctx: *mut c_void, _: KernelFn, _: *const *mut c_void, _: *const i64, _: i64, _: i64) {
    // SAFETY: as for `launch`.
    let call = unsafe { &*ctx.cast::<DeviceCall<'_>>() };
    call.attempt(|| Err(Error::Contract("it runs a kernel of the processor on memory of a device".to_owned())));
}

/// [`SuturaRt::call`]: routines are the processor's.
unsafe extern "C" fn call_routine(
    ctx: *mut c_void,
    _: *const c_char,
    _: *const *mut c_void,
    _: *const i64,
    _: i32,
    _: i32,
) -> i32 {
    // SAFETY: as for `launch`.
    let call = unsafe { &*ctx.cast::<DeviceCall<'_>>() };
    call.attempt(|| Err(Error::NotOnDevices { what: "call routines" }));
    NO_SUCH_ROUTINE
}

/// [`SuturaRt::report`]: sizes that the host compares. Kernels of devices report in words of its memory.
unsafe extern "C" fn report(ctx: *mut c_void, check: i64, position: i64, index: i64, size: i64) {
    // SAFETY: as for `launch`.
    let call = unsafe { &*ctx.cast::<DeviceCall<'_>>() };
    call.attempt(|| Err(call.inner.wrong_data(WrongData { check, position, index, size })));
}
