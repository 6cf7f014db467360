//! Models whose kernels run on a device: inputs go there, the host program enqueues its launches, outputs come back.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Inner;
use super::choose::{device_words, runs_on};
use super::reports::Reports;
use super::run::WrongData;
use crate::abi::{KernelFn, NO_SUCH_ROUTINE, SuturaRt, VERSION};
use crate::artifact::Artifact;
use crate::device::{Backend, Buffer, Device, DeviceError, DeviceInfo, Devices, Kernel, KernelOptions, Pool, Stream};
use crate::error::{Error, Result};
use crate::manifest;
use crate::options::Options;
use crate::stats::Counters;
use crate::tensor::{TensorView, TensorViewMut};

/// Blocks that are launched at most where the device does not say how many run at a time: blocks take groups one after the
/// other, so more would only begin later.
const MOST_BLOCKS: u64 = 65_535;

/// Of the blocks that run at a time, so many are launched, that none waits for one that is slow.
const WAVES: u64 = 4;

/// A model's kernels and constants on a device.
pub(super) struct OnDevice {
    device: Device,
    pool: Pool,
    /// By number in the manifest.
    kernels: Vec<DeviceKernel>,
    constants: Vec<Buffer>,
    /// Where kernels check data.
    reports: Option<Reports>,
    /// Runs come one after the other: a device's memory and units are one run's.
    stream: Mutex<Stream>,
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
        match (wanted, artifact.device(), &options.device) {
            (Some(wanted), Some(code), name) => {
                if options.profile {
                    return Err(Error::NotOnDevices { what: "be profiled" });
                }
                let device = Devices::find().open(name.as_deref().unwrap_or(&wanted.backend))?;
                Self::load(artifact, wanted, code, device).map(Some)
            }
            (_, _, Some(name)) => {
                let is = "is another device; compile it with `--target` for that".to_owned();
                Err(Error::WrongDevice { wanted: "the processor".to_owned(), device: name.clone(), is })
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
            let resident = kernel.resident_groups(0)?.map_or(MOST_BLOCKS, |blocks| WAVES * u64::from(blocks));
            let most_blocks = resident.clamp(1, u64::from(device.info().limits.groups));
            Ok(DeviceKernel { kernel, groups_of_block, most_blocks })
        });
        let kernels = kernels.collect::<Result<_, DeviceError>>()?;
        let pool = device.pool();
        let mut stream = device.stream()?;
        let constants = artifact.constants().map(|bytes| {
            let buffer = device.allocate(bytes.len() as u64)?;
            stream.upload(&buffer, 0, bytes)?;
            Ok(buffer)
        });
        let constants = constants.collect::<Result<_, DeviceError>>()?;
        stream.synchronize()?;
        let checks = !artifact.manifest().data_checks.is_empty();
        let reports = checks.then(|| Reports::new(&device)).transpose()?;
        Ok(Self { pool, kernels, constants, reports, stream: Mutex::new(stream), device })
    }

    pub(super) fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// Runs the host program on the device's memory, and waits for what it enqueued.
    pub(super) fn run(
        &self,
        inner: &Inner,
        symbols: &[i64],
        inputs: &[TensorView<'_>],
        outputs: &mut [TensorViewMut<'_>],
        workspace_bytes: usize,
    ) -> Result<()> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.run_on(&mut stream, inner, symbols, (inputs, outputs), workspace_bytes);
        if done.is_err() {
            // Errors of lost work stay with a stream; the next run begins with another one.
            *stream = self.device.stream()?;
        }
        done
    }

    fn run_on(
        &self,
        stream: &mut MutexGuard<'_, Stream>,
        inner: &Inner,
        symbols: &[i64],
        (inputs, outputs): (&[TensorView<'_>], &mut [TensorViewMut<'_>]),
        workspace_bytes: usize,
    ) -> Result<()> {
        let mut uploaded = Vec::with_capacity(inputs.len());
        for input in inputs {
            let buffer = self.pool.allocate(input.byte_len() as u64)?;
            stream.upload(&buffer, 0, input.bytes())?;
            uploaded.push(buffer);
        }
        let results = outputs.iter().map(|output| self.pool.allocate(output.byte_len() as u64));
        let results = results.collect::<Result<Vec<_>, DeviceError>>()?;
        let workspace = self.pool.allocate(workspace_bytes as u64)?;
        let all: Vec<&Buffer> = (uploaded.iter().chain(&results).chain(&self.constants)).chain([&workspace]).collect();
        let call = DeviceCall {
            kernels: &self.kernels,
            buffers: all,
            stream: RefCell::new(stream),
            failure: RefCell::new(None),
            launches: Cell::new(0),
        };
        let table = SuturaRt {
            abi: VERSION,
            reserved: 0,
            ctx: (&raw const call).cast_mut().cast(),
            parallel_for,
            call: call_routine,
            report,
            launch,
            copy,
            reports: self.reports.as_ref().map_or(std::ptr::null_mut(), |reports| pointer(reports.address())),
        };
        let address = |buffer: &Buffer| pointer(buffer.address());
        let input_pointers: Vec<*const c_void> = uploaded.iter().map(|b| address(b).cast_const()).collect();
        let output_pointers: Vec<*mut c_void> = results.iter().map(address).collect();
        let constants: Vec<*const c_void> = self.constants.iter().map(|b| address(b).cast_const()).collect();
        let run = || {
            // SAFETY: the manifest's lengths. The code of an artifact with a device only hands the addresses on to the table.
            let result = unsafe {
                inner.host.run(&table, symbols, &input_pointers, &output_pointers, &constants, address(&workspace))
            };
            match call.failure.take() {
                Some(failure) => Err(failure),
                None if result != 0 => Err(Error::RunFailed { code: result }),
                None => Ok(()),
            }
        };
        if let Some(reports) = &self.reports {
            reports.clear(&mut call.stream.borrow_mut())?;
        }
        run()?;
        Counters::add(&inner.counters.launches, call.launches.get());
        let wrong = self.finish(&call, outputs.iter_mut().zip(&results))?;
        if wrong.is_none() {
            return Ok(());
        }
        // Now that it is known which report comes first, it is made in full.
        run()?;
        match self.finish(&call, std::iter::empty())? {
            Some(wrong) => Err(inner.wrong_data(wrong)),
            None => Err(Error::Contract("it reports wrong data and then does not".to_owned())),
        }
    }

    /// Waits for a run, with its outputs and what it reported of wrong data.
    fn finish<'o, 't: 'o>(
        &self,
        call: &DeviceCall<'_, '_>,
        outputs: impl Iterator<Item = (&'o mut TensorViewMut<'t>, &'o Buffer)>,
    ) -> Result<Option<WrongData>> {
        let mut stream = call.stream.borrow_mut();
        for (output, buffer) in outputs {
            stream.download(buffer, 0, output.bytes_mut())?;
        }
        match &self.reports {
            Some(reports) => Ok(reports.read(&mut stream)?),
            None => Ok(stream.synchronize().map(|()| None)?),
        }
    }
}

/// An address of the device as generated code hands it on.
fn pointer(address: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(address as usize)
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
struct DeviceCall<'a, 'g> {
    kernels: &'a [DeviceKernel],
    /// Every buffer that the code was given.
    buffers: Vec<&'a Buffer>,
    stream: RefCell<&'a mut MutexGuard<'g, Stream>>,
    /// What went wrong first.
    failure: RefCell<Option<Error>>,
    launches: Cell<usize>,
}

impl DeviceCall<'_, '_> {
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
        let number = usize::try_from(kernel).ok();
        let kernel = number.and_then(|number| self.kernels.get(number));
        let kernel =
            kernel.ok_or_else(|| Error::Contract("it launches a kernel that the manifest has not".to_owned()))?;
        let groups = u64::try_from(groups).unwrap_or(0);
        let blocks = groups.div_ceil(kernel.groups_of_block).min(kernel.most_blocks);
        if blocks == 0 {
            return Ok(());
        }
        self.launches.set(self.launches.get() + 1);
        // SAFETY: the caller's promise; buffers live until the run has waited for the stream.
        unsafe { self.stream.borrow_mut().launch(&kernel.kernel, blocks, 0, words)? };
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
    let call = unsafe { &*ctx.cast::<DeviceCall<'_, '_>>() };
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
    let call = unsafe { &*ctx.cast::<DeviceCall<'_, '_>>() };
    call.attempt(|| call.copy(from.addr() as u64, to.addr() as u64, bytes));
}

/// [`SuturaRt::parallel_for`]: kernels of the processor would not find their buffers.
unsafe extern "C" fn parallel_for(ctx: *mut c_void, _: KernelFn, _: *const *mut c_void, _: *const i64, _: i64, _: i64) {
    // SAFETY: as for `launch`.
    let call = unsafe { &*ctx.cast::<DeviceCall<'_, '_>>() };
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
    let call = unsafe { &*ctx.cast::<DeviceCall<'_, '_>>() };
    call.attempt(|| Err(Error::NotOnDevices { what: "call routines" }));
    NO_SUCH_ROUTINE
}

/// [`SuturaRt::report`]: kernels of devices check no data.
unsafe extern "C" fn report(ctx: *mut c_void, _: i64, _: i64, _: i64, _: i64) {
    // SAFETY: as for `launch`.
    let call = unsafe { &*ctx.cast::<DeviceCall<'_, '_>>() };
    call.attempt(|| Err(Error::Contract("it reports a check of data that it does not make".to_owned())));
}
