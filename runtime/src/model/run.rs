//! One run of a model: check, place, call.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::calls::Calls;
use super::reserves::repeated;
use super::{Inner, Shapes, missing_routines, rules};
use crate::abi::{ALIGNMENT, KernelFn, NO_SUCH_ROUTINE, SuturaRt, VERSION};
use crate::buffer::EMPTY;
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::manifest::{DataCheck, DataCheckKind, Value, byte_size};
use crate::pool::{self, Launch, chunk_count};
use crate::profile::Launched;
use crate::routines;
use crate::scratch::{Scratch, grow};
use crate::stats::Counters;
use crate::tensor::{Tensor, TensorView, TensorViewMut};

impl Inner {
    pub(super) fn infer_shapes(&self, input_dims: &[&[i64]]) -> Result<Shapes> {
        let mut scratch = self.scratch.lease();
        self.check_input_count(input_dims.len())?;
        for (value, dims) in self.artifact.manifest().inputs.iter().zip(input_dims) {
            check_rank(value, dims)?;
            byte_size(value.element_type, dims)
                .map_err(|e| Error::InvalidTensor { reason: format!("input `{}` {e}", value.name) })?;
        }
        let workspace_bytes = self.solve(&mut scratch, input_dims.iter().copied())?;
        let outputs = self.output_dims(&scratch).map(<[i64]>::to_vec).collect();
        Ok(Shapes { symbols: scratch.symbols.clone(), outputs, workspace_bytes })
    }

    pub(super) fn run(&self, inputs: &[TensorView<'_>]) -> Result<Vec<Tensor>> {
        repeated(|| self.run_once(inputs))
    }

    fn run_once(&self, inputs: &[TensorView<'_>]) -> Result<Vec<Tensor>> {
        let mut scratch = self.scratch.lease();
        let workspace_bytes = self.accept(&mut scratch, inputs.iter().map(signature))?;
        let values = &self.artifact.manifest().outputs;
        let allocate = |(value, dims): (&Value, &[i64])| Tensor::zeros(value.element_type, dims);
        let mut outputs = values.iter().zip(self.output_dims(&scratch)).map(allocate).collect::<Result<Vec<_>>>()?;
        let mut views: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
        self.execute(&mut scratch, inputs, &mut views, workspace_bytes)?;
        drop(views);
        for (output, dims) in outputs.iter_mut().zip(self.decided_dims(&scratch)?.into_iter().flatten()) {
            output.cut(&dims)?;
        }
        Ok(outputs)
    }

    pub(super) fn run_into(
        &self,
        inputs: &[TensorView<'_>],
        outputs: &mut [TensorViewMut<'_>],
    ) -> Result<Option<Vec<Vec<i64>>>> {
        let mut scratch = self.scratch.lease();
        let workspace_bytes = self.accept(&mut scratch, inputs.iter().map(signature))?;
        let types = outputs.iter().map(|view| (view.element_type(), view.dims()));
        self.check_outputs(&scratch, types)?;
        self.check_alignment(outputs)?;
        self.check_overlap(inputs, outputs)?;
        self.execute(&mut scratch, inputs, outputs, workspace_bytes)?;
        self.decided_dims(&scratch)
    }

    /// The dims of each output after a run, if they were not known before.
    fn decided_dims(&self, scratch: &Scratch) -> Result<Option<Vec<Vec<i64>>>> {
        if !self.rules.decides() {
            return Ok(None);
        }
        let mut dims = vec![0; self.rules.output_dims()];
        // SAFETY: both are sized by the manifest.
        unsafe { self.host.output_dims(&scratch.symbols, &mut dims) };
        let manifest = self.artifact.manifest();
        self.rules.check_decided(manifest, &scratch.symbols, &scratch.output_dims, &dims)?;
        let mut rest = &dims[..];
        let each = manifest.outputs.iter().map(|value| {
            let (dims, tail) = rest.split_at(value.dims.len());
            rest = tail;
            dims.to_vec()
        });
        Ok(Some(each.collect()))
    }

    /// Checks the inputs and solves their shapes. Returns the size of the workspace.
    pub(super) fn accept<'a>(
        &self,
        scratch: &mut Scratch,
        inputs: impl ExactSizeIterator<Item = (ElementType, &'a [i64])> + Clone,
    ) -> Result<usize> {
        self.check_types(inputs.clone())?;
        self.solve(scratch, inputs.map(|(_, dims)| dims))
    }

    /// Checks number, types and ranks of inputs.
    pub(super) fn check_types<'a>(
        &self,
        inputs: impl ExactSizeIterator<Item = (ElementType, &'a [i64])>,
    ) -> Result<()> {
        self.check_input_count(inputs.len())?;
        for (value, (element_type, dims)) in self.artifact.manifest().inputs.iter().zip(inputs) {
            check_element_type("input", value, element_type)?;
            check_rank(value, dims)?;
        }
        Ok(())
    }

    fn check_input_count(&self, found: usize) -> Result<()> {
        let inputs = &self.artifact.manifest().inputs;
        if found == inputs.len() {
            return Ok(());
        }
        let expected = inputs.iter().map(|input| input.name.clone()).collect();
        Err(Error::InputCount { expected, found })
    }

    /// Fills the scratch's symbols and output dims from dims of the right number and ranks.
    fn solve<'a>(&self, scratch: &mut Scratch, input_dims: impl Iterator<Item = &'a [i64]>) -> Result<usize> {
        let manifest = self.artifact.manifest();
        let Scratch { input_dims: dims, symbols, output_dims, .. } = scratch;
        dims.clear();
        input_dims.for_each(|d| dims.extend_from_slice(d));
        self.reserves.append_dims(dims);
        symbols.clear();
        symbols.resize(self.rules.symbols(), 0);
        output_dims.clear();
        output_dims.resize(self.rules.output_dims(), 0);
        let (mut workspace_bytes, mut detail) = (0, [0; 2]);
        // SAFETY: number and ranks of the inputs were checked against the manifest, and the results are sized by it.
        let result = unsafe { self.host.shapes(dims, symbols, output_dims, &mut workspace_bytes, &mut detail) };
        if result != 0 {
            return Err(rules::failed_check(manifest, result, detail));
        }
        self.rules.check(manifest, dims, symbols, output_dims)?;
        usize::try_from(workspace_bytes)
            .map_err(|_| Error::Contract(format!("it asked for a workspace of {workspace_bytes} bytes")))
    }

    /// The dims of each output, as solved.
    pub(super) fn output_dims<'a>(&'a self, scratch: &'a Scratch) -> impl Iterator<Item = &'a [i64]> {
        let mut rest = &scratch.output_dims[..];
        self.artifact.manifest().outputs.iter().map(move |value| {
            let (dims, tail) = rest.split_at(value.dims.len());
            rest = tail;
            dims
        })
    }

    /// Checks types and dims of outputs against those that were solved.
    pub(super) fn check_outputs<'a>(
        &self,
        scratch: &Scratch,
        outputs: impl ExactSizeIterator<Item = (ElementType, &'a [i64])>,
    ) -> Result<()> {
        let manifest = self.artifact.manifest();
        if outputs.len() != manifest.outputs.len() {
            return Err(Error::OutputCount { expected: manifest.outputs.len(), found: outputs.len() });
        }
        for ((value, dims), (element_type, found)) in
            manifest.outputs.iter().zip(self.output_dims(scratch)).zip(outputs)
        {
            check_element_type("output", value, element_type)?;
            if found != dims {
                let (name, found) = (value.name.clone(), found.to_vec());
                return Err(Error::OutputShape { name, expected: dims.to_vec(), found });
            }
        }
        Ok(())
    }

    fn check_alignment(&self, outputs: &[TensorViewMut<'_>]) -> Result<()> {
        let misaligned = |view: &TensorViewMut<'_>| {
            view.byte_len() > 0 && !view.address().is_multiple_of(view.element_type().word_bytes())
        };
        let values = &self.artifact.manifest().outputs;
        match values.iter().zip(outputs).find(|(_, view)| misaligned(view)) {
            Some((value, view)) => {
                Err(Error::MisalignedOutput { name: value.name.clone(), element_type: view.element_type() })
            }
            None => Ok(()),
        }
    }

    fn check_overlap(&self, inputs: &[TensorView<'_>], outputs: &[TensorViewMut<'_>]) -> Result<()> {
        let manifest = self.artifact.manifest();
        let range = |start: usize, bytes: usize| start..start.saturating_add(bytes);
        let output_range = |view: &TensorViewMut<'_>| range(view.address(), view.byte_len());
        for (i, output) in outputs.iter().enumerate() {
            let left = || format!("output `{}`", manifest.outputs[i].name);
            let mine = output_range(output);
            let among = |other: Range<usize>| {
                mine.start < other.end && other.start < mine.end && !mine.is_empty() && !other.is_empty()
            };
            if let Some(k) = inputs.iter().position(|v| among(range(v.as_ptr().addr(), v.byte_len()))) {
                return Err(Error::Overlap { left: left(), right: format!("input `{}`", manifest.inputs[k].name) });
            }
            if let Some(k) = outputs[..i].iter().position(|v| among(output_range(v))) {
                return Err(Error::Overlap { left: left(), right: format!("output `{}`", manifest.outputs[k].name) });
            }
        }
        Ok(())
    }

    /// Calls the code. Inputs were accepted, and outputs have the solved shapes and are apart from everything.
    fn execute(
        &self,
        scratch: &mut Scratch,
        inputs: &[TensorView<'_>],
        outputs: &mut [TensorViewMut<'_>],
        workspace_bytes: usize,
    ) -> Result<()> {
        let counters = &self.counters;
        if let Some(on_device) = &self.on_device {
            on_device.run(self, &scratch.symbols, inputs, outputs, workspace_bytes)?;
            Counters::add(&counters.runs, 1);
            return Ok(());
        }
        if grow(&mut scratch.workspace, workspace_bytes, "the workspace")? {
            Counters::add(&counters.workspace_allocations, 1);
        }
        let input_pointers = self.place_inputs(scratch, inputs)?;
        let output_pointers = self.place_outputs(scratch, outputs)?;
        let call = Call {
            inner: self,
            failed_routine: RefCell::new(None),
            wrong_data: Mutex::default(),
            reported: AtomicPtr::default(),
            launches: Cell::new(0),
            misplaced: Cell::new(false),
            interrupted: Cell::new(false),
            calls: Calls::new(self.most_calls, std::mem::take(&mut scratch.calls)),
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
            reports: std::ptr::null_mut(),
            look,
            enter,
            leave,
        };
        call.reported.store((&raw const table.reported).cast_mut(), Ordering::Relaxed);
        let workspace = scratch.workspace.as_mut_ptr().cast();
        // Constants may lie in the file: the code gets none that are known to be others, and what it made of some that became
        // others meanwhile is no result.
        self.artifact.check_unchanged()?;
        // SAFETY: the manifest's lengths; inputs aligned by `place_inputs` and borrowed; outputs as this function's
        // callers checked; the workspace is this run's own and has the size asked for; constants live in the artifact.
        let mut run = || unsafe {
            let symbols = scratch.symbols.as_mut_ptr().cast_const();
            self.host.run(&table, symbols, &input_pointers, &output_pointers, &self.constants.0, workspace)
        };
        let result = match self.most_calls {
            0 => Ok(run()),
            // SAFETY: this thread waits, and what it lends lives until it goes on.
            _ => unsafe { call.calls.on_own_stack(run) },
        };
        let (called_bytes, called_allocations, blocks) = call.calls.finish();
        scratch.calls = blocks;
        let result = result?;
        Counters::add(&counters.workspace_allocations, called_allocations);
        let bytes = workspace_bytes.saturating_add(called_bytes) as u64;
        counters.workspace_peak_bytes.fetch_max(bytes, Ordering::Relaxed);
        self.artifact.check_unchanged()?;
        // What data are reported then may be nonsense.
        if call.interrupted.get() {
            return Err(Error::Interrupted);
        }
        if let Some(wrong) = call.wrong_data.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(self.outgrown(&scratch.input_dims, wrong).unwrap_or_else(|| self.wrong_data(wrong)));
        }
        if call.misplaced.get() {
            return Err(Error::Contract("it launches kernels of a device, and the manifest has no device".to_owned()));
        }
        if result == 0 {
            bring_outputs(scratch, outputs);
            Counters::add(&counters.runs, 1);
            return Ok(());
        }
        Err(call.failed_routine.into_inner().unwrap_or(Error::RunFailed { code: result }))
    }

    /// Makes place, where a check says that there was not enough for a number that is a size.
    fn outgrown(&self, dims: &[i64], wrong: WrongData) -> Option<Error> {
        let check = usize::try_from(wrong.check.checked_neg()?).ok()?.checked_sub(1)?;
        self.reserves.grow(self.artifact.manifest().checks.get(check)?, dims, wrong.size)
    }

    pub(super) fn wrong_data(&self, WrongData { check, position, index, size }: WrongData) -> Error {
        if let Some(code) = check.checked_neg().filter(|code| *code > 0) {
            // A check of sizes that data have decided.
            return rules::failed_check(self.artifact.manifest(), i32::try_from(code).unwrap_or(0), [index, size]);
        }
        let checks = &self.artifact.manifest().data_checks;
        match usize::try_from(check).ok().and_then(|check| checks.get(check)) {
            Some(DataCheck { kind: DataCheckKind::Index, what }) => {
                Error::WrongIndex { what: what.clone(), position, index, size }
            }
            Some(DataCheck { kind: DataCheckKind::Division, what }) => {
                Error::DivisionByZero { what: what.clone(), position: (position >= 0).then_some(position) }
            }
            Some(DataCheck { kind: DataCheckKind::Size, what }) => {
                Error::WrongSize { what: what.clone(), position, given: index, wanted: size }
            }
            Some(DataCheck { kind: DataCheckKind::Dim, what }) => {
                Error::UnequalSize { what: what.clone(), dim: position, given: index, wanted: size }
            }
            None => Error::Contract(format!("it reports check {check} of data, of {}", checks.len())),
        }
    }

    /// An aligned address for each input, of its own memory or of a copy.
    fn place_inputs(&self, scratch: &mut Scratch, inputs: &[TensorView<'_>]) -> Result<Vec<*const c_void>> {
        scratch.staging.resize_with(inputs.len(), crate::buffer::AlignedBuffer::empty);
        let mut pointers = Vec::with_capacity(inputs.len());
        for (view, staging) in inputs.iter().zip(&mut scratch.staging) {
            let bytes = view.byte_len();
            if bytes == 0 {
                pointers.push(EMPTY.as_ptr().cast_const().cast());
                continue;
            }
            if view.as_ptr().addr() % ALIGNMENT == 0 {
                pointers.push(view.as_ptr().cast());
                continue;
            }
            grow(staging, bytes, "an aligned copy of an input")?;
            // SAFETY: a view is valid for reads of its bytes, and the staging buffer has room for them and is our own.
            unsafe { staging.as_mut_ptr().copy_from_nonoverlapping(view.as_ptr(), bytes) };
            Counters::add(&self.counters.staged_inputs, 1);
            Counters::add(&self.counters.staged_bytes, bytes);
            pointers.push(staging.as_mut_ptr().cast_const().cast());
        }
        pointers.resize(inputs.len() + self.reserves.len(), EMPTY.as_ptr().cast_const().cast());
        Ok(pointers)
    }

    /// An aligned address for each output, of its own memory or of memory from which [`bring_outputs`] copies it.
    fn place_outputs(&self, scratch: &mut Scratch, outputs: &mut [TensorViewMut<'_>]) -> Result<Vec<*mut c_void>> {
        scratch.results.resize_with(outputs.len(), crate::buffer::AlignedBuffer::empty);
        let place = |(view, result): (&mut TensorViewMut<'_>, &mut crate::buffer::AlignedBuffer)| {
            if is_in_place(view) {
                return Ok(output_pointer(view));
            }
            grow(result, view.byte_len(), "an aligned output")?;
            Counters::add(&self.counters.staged_outputs, 1);
            Counters::add(&self.counters.staged_bytes, view.byte_len());
            Ok(result.as_mut_ptr().cast())
        };
        outputs.iter_mut().zip(&mut scratch.results).map(place).collect()
    }
}

/// Whether the code writes an output where the caller wants it.
fn is_in_place(view: &TensorViewMut<'_>) -> bool {
    view.byte_len() == 0 || view.address().is_multiple_of(ALIGNMENT)
}

/// Copies outputs to where the caller wants them, after a run that could not write them there.
fn bring_outputs(scratch: &Scratch, outputs: &mut [TensorViewMut<'_>]) {
    for (view, result) in outputs.iter_mut().zip(&scratch.results).filter(|(view, _)| !is_in_place(view)) {
        let bytes = view.byte_len();
        view.bytes_mut().copy_from_slice(&result.as_slice()[..bytes]);
    }
}

fn signature<'a>(view: &TensorView<'a>) -> (ElementType, &'a [i64]) {
    (view.element_type(), view.dims())
}

fn output_pointer(view: &mut TensorViewMut<'_>) -> *mut c_void {
    let pointer = if view.byte_len() == 0 { EMPTY.as_ptr() } else { view.as_mut_ptr() };
    pointer.cast()
}

fn check_element_type(role: &str, value: &Value, found: crate::ElementType) -> Result<()> {
    if found == value.element_type {
        return Ok(());
    }
    let expected = value.element_type;
    Err(Error::WrongElementType { value: format!("{role} `{}`", value.name), expected, found })
}

fn check_rank(value: &Value, dims: &[i64]) -> Result<()> {
    if dims.len() == value.dims.len() {
        return Ok(());
    }
    Err(Error::WrongRank {
        value: format!("input `{}`", value.name),
        expected: value.dims.len(),
        found: dims.len(),
        signature: value.dims_text(),
    })
}

/// What the table's functions find behind `ctx`.
struct Call<'a> {
    inner: &'a Inner,
    /// What went wrong with the routine that was called last.
    failed_routine: RefCell<Option<Error>>,
    wrong_data: Mutex<Option<WrongData>>,
    /// Where the table says that something was reported.
    reported: AtomicPtr<AtomicU32>,
    /// Launches so far.
    launches: Cell<usize>,
    /// The code asked for a device.
    misplaced: Cell<bool>,
    /// The run is to end.
    interrupted: Cell<bool>,
    /// Calls of recursive functions.
    calls: Calls,
}

impl Call<'_> {
    /// Whether the run is to end. A loop whose condition is data ends then too.
    fn is_interrupted(&self, position: usize) -> bool {
        let Some(interrupt) = &self.inner.options.interrupt else { return false };
        // Who has just begun is not asked.
        if !self.interrupted.get() && position > 0 && interrupt.wanted() {
            self.interrupted.set(true);
            // SAFETY: it points into the table of the run in progress, or nowhere.
            if let Some(reported) = unsafe { self.reported.load(Ordering::Relaxed).as_ref() } {
                reported.store(1, Ordering::Relaxed);
            }
        }
        self.interrupted.get()
    }
}

/// What was reported. The order is that of reports: the lowest is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WrongData {
    pub(super) check: i64,
    pub(super) position: i64,
    pub(super) index: i64,
    pub(super) size: i64,
}

/// [`SuturaRt::parallel_for`].
unsafe extern "C" fn parallel_for(
    ctx: *mut c_void,
    kernel: KernelFn,
    bufs: *const *mut c_void,
    dims: *const i64,
    n_groups: i64,
    grain: i64,
) {
    // SAFETY: `ctx` is the `Call` of the run in progress, which `execute` keeps alive; only this thread, which the run is on,
    // looks at these fields.
    let call = unsafe { &*ctx.cast::<Call<'_>>() };
    let (inner, position) = (call.inner, call.launches.get());
    call.launches.set(position + 1);
    if n_groups <= 0 || call.is_interrupted(position) {
        return;
    }
    let chunks = chunk_count(n_groups, grain, inner.threads);
    Counters::add(&inner.counters.launches, 1);
    Counters::add(&inner.counters.parallel_launches, usize::from(chunks > 1));
    let start = inner.profile.as_ref().map(|profile| (profile, Instant::now()));
    // SAFETY: generated code passes a kernel of independent groups and arguments that live until this returns.
    unsafe { pool::run(Launch { kernel, bufs, dims, n_groups }, chunks) };
    if let Some((profile, start)) = start {
        profile.note(position, Launched::Host(kernel as usize), n_groups, chunks, start.elapsed());
    }
}

/// What a call of a routine that is not as declared returns.
const BROKEN_CALL: i32 = NO_SUCH_ROUTINE + 1;

/// [`SuturaRt::call`].
unsafe extern "C" fn call_routine(
    ctx: *mut c_void,
    routine: *const c_char,
    bufs: *const *mut c_void,
    dims: *const i64,
    n_bufs: i32,
    n_dims: i32,
) -> i32 {
    // SAFETY: `ctx` is the `Call` of the run in progress, on whose thread this is called; the name is a C string.
    let (call, name) = unsafe { (&*ctx.cast::<Call<'_>>(), CStr::from_ptr(routine)) };
    if let Some(function) = call.inner.options.routines.get(name) {
        // SAFETY: who registered the routine vouched for it; the arguments are passed on as they came.
        return unsafe { function(bufs, dims, n_bufs, n_dims) };
    }
    let symbol = name.to_string_lossy();
    let Some(routine) = routines::find(&symbol) else {
        let symbol = symbol.into_owned();
        *call.failed_routine.borrow_mut() = Some(missing_routines(vec![symbol]));
        return NO_SUCH_ROUTINE;
    };
    let (position, threads) = (call.launches.get(), call.inner.threads);
    call.launches.set(position + 1);
    let start = call.inner.profile.as_ref().map(|profile| (profile, Instant::now()));
    // SAFETY: generated code passes buffers and numbers as the routine's declaration says; of buffers that are written none
    // overlaps another one.
    let done = unsafe { routines::call(routine, bufs, dims, (n_bufs, n_dims), threads) };
    if let Some((profile, start)) = start {
        profile.note(position, Launched::Routine(routine), 1, threads, start.elapsed());
    }
    match done {
        Ok(()) => 0,
        Err(reason) => {
            *call.failed_routine.borrow_mut() = Some(Error::Contract(reason));
            BROKEN_CALL
        }
    }
}

/// What a call of a function that cannot begin returns; the error is that of the run.
const NO_CALL: i32 = NO_SUCH_ROUTINE + 2;

/// [`SuturaRt::enter`].
unsafe extern "C" fn enter(ctx: *mut c_void, function: i64, bytes: i64, frame: *mut *mut c_void) -> i32 {
    // SAFETY: `ctx` is the `Call` of the run in progress, on whose thread this is called.
    let call = unsafe { &*ctx.cast::<Call<'_>>() };
    let functions = &call.inner.artifact.manifest().functions;
    let function = usize::try_from(function).ok().and_then(|function| functions.get(function));
    let unknown = || Error::Contract("it calls a function that the manifest does not have".to_owned());
    let entered = function.ok_or_else(unknown).and_then(|function| call.calls.enter(&function.name, bytes));
    match entered {
        Ok(address) => {
            // SAFETY: generated code passes a place of its own for an address.
            unsafe { *frame = address };
            0
        }
        Err(error) => {
            *call.failed_routine.borrow_mut() = Some(error);
            NO_CALL
        }
    }
}

/// [`SuturaRt::leave`].
unsafe extern "C" fn leave(ctx: *mut c_void) {
    // SAFETY: `ctx` is the `Call` of the run in progress, on whose thread this is called.
    unsafe { &*ctx.cast::<Call<'_>>() }.calls.leave();
}

/// [`SuturaRt::report`].
unsafe extern "C" fn report(ctx: *mut c_void, check: i64, position: i64, index: i64, size: i64) {
    // SAFETY: `ctx` is the `Call` of the run in progress, which outlives its launches; only the fields that are shared
    // among threads are borrowed here.
    let (wrong_data, reported) =
        unsafe { (&(*ctx.cast::<Call<'_>>()).wrong_data, &(*ctx.cast::<Call<'_>>()).reported) };
    // SAFETY: it points into the table of the run in progress, or nowhere.
    if let Some(reported) = unsafe { reported.load(Ordering::Relaxed).as_ref() } {
        reported.store(1, Ordering::Relaxed);
    }
    let new = WrongData { check, position, index, size };
    let mut first = wrong_data.lock().unwrap_or_else(PoisonError::into_inner);
    if first.is_none_or(|first| new < first) {
        *first = Some(new);
    }
}

/// [`SuturaRt::launch`] of a model without a device.
unsafe extern "C" fn launch(ctx: *mut c_void, _: i64, _: *const u64, _: i64, _: i64) {
    // SAFETY: `ctx` is the `Call` of the run in progress, on whose thread this is called.
    unsafe { &*ctx.cast::<Call<'_>>() }.misplaced.set(true);
}

/// [`SuturaRt::look`] of a model without a device.
unsafe extern "C" fn look(ctx: *mut c_void, _: *const c_void) -> i32 {
    // SAFETY: `ctx` is the `Call` of the run in progress, on whose thread this is called.
    unsafe { &*ctx.cast::<Call<'_>>() }.misplaced.set(true);
    -1
}

/// [`SuturaRt::copy`] of a model without a device.
unsafe extern "C" fn copy(ctx: *mut c_void, _: *const c_void, _: *mut c_void, _: i64) {
    // SAFETY: `ctx` is the `Call` of the run in progress, on whose thread this is called.
    unsafe { &*ctx.cast::<Call<'_>>() }.misplaced.set(true);
}
