//! Runs on tensors that stay on a device.

use std::ptr::null;
use std::sync::{Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sutura_runtime::{DeviceTensor, ElementType, Session, TensorView};

use crate::devices::SuturaDevice;
use crate::failure::{Failure, Result, status};
use crate::pointers::{hand_over, object, take_back, usable};
use crate::tensors::{check_memory, code_of, element_type};
use crate::{SuturaModel, SuturaTensor, SuturaValue};

/// `sutura_session`. The functions of one session wait for each other.
#[derive(Debug)]
pub struct SuturaSession {
    session: Mutex<Session>,
}

/// `sutura_device_tensor`. What C may ask of it stands beside it, so that nothing waits for a run.
#[derive(Debug)]
pub struct SuturaDeviceTensor {
    element_type: ElementType,
    dims: Vec<i64>,
    tensor: DeviceTensor,
}

/// The most dims that a tensor may have.
const MOST_DIMS: usize = sutura_runtime::abi::MAX_RANK;

impl SuturaSession {
    fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SuturaDeviceTensor {
    fn new(tensor: DeviceTensor) -> Self {
        Self { element_type: tensor.element_type(), dims: tensor.dims().to_vec(), tensor }
    }
}

/// See `sutura.h`.
///
/// # Safety
/// `device` is null or an open device; `session` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_session_open(device: *const SuturaDevice, session: *mut *mut SuturaSession) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let device = unsafe { object(device, "device") }?;
        usable(session, "session")?;
        let opened = SuturaSession { session: Mutex::new(Session::new(&device.device)?) };
        // SAFETY: usable, so valid by this function's condition.
        unsafe { hand_over(opened, session) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `session` is null, or from [`sutura_session_open`] and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_session_close(session: *mut SuturaSession) {
    // SAFETY: by this function's condition.
    unsafe { take_back(session) };
}

/// See `sutura.h`.
///
/// # Safety
/// `session` is null or open; `dims` is null, misaligned or has `rank` numbers, where that is a rank; `tensor` is null,
/// misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_session_tensor(
    session: *const SuturaSession,
    element_code: i32,
    rank: i32,
    dims: *const i64,
    tensor: *mut *mut SuturaDeviceTensor,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let session = unsafe { object(session, "session") }?;
        usable(tensor, "tensor")?;
        let element_type = element_type(element_code)?;
        // SAFETY: by this function's condition.
        let dims = unsafe { read_dims(rank, dims) }?;
        let made = session.lock().tensor(element_type, dims)?;
        // SAFETY: usable, so valid by this function's condition.
        unsafe { hand_over(SuturaDeviceTensor::new(made), tensor) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `session` is null or open; `from` is null, misaligned or a tensor, whose dims are null, misaligned or as many as its rank,
/// where that is one, and whose data are null, misaligned or valid for reads; `to` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_session_upload(
    session: *const SuturaSession,
    from: *const SuturaTensor,
    to: *mut *mut SuturaDeviceTensor,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let (session, from) = unsafe { (object(session, "session")?, object(from, "from")?) };
        usable(to, "to")?;
        let element_type = element_type(from.element_type)?;
        // SAFETY: by this function's condition.
        let dims = unsafe { read_dims(from.rank, from.dims) }?;
        check_memory("the tensor", element_type, from.data, dims)?;
        // SAFETY: checked; valid for reads by this function's condition.
        let view = unsafe { TensorView::from_raw_parts(element_type, dims, from.data) }?;
        let made = session.lock().upload(&view)?;
        // SAFETY: usable, so valid by this function's condition.
        unsafe { hand_over(SuturaDeviceTensor::new(made), to) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `session` is null or open; `from` is null or a device's tensor; `to` as `from` of [`sutura_session_upload`], its data valid
/// for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_session_download(
    session: *const SuturaSession,
    from: *const SuturaDeviceTensor,
    to: *const SuturaTensor,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let (session, from, to) = unsafe { (object(session, "session")?, object(from, "from")?, object(to, "to")?) };
        let element_type = element_type(to.element_type)?;
        // SAFETY: by this function's condition.
        let dims = unsafe { read_dims(to.rank, to.dims) }?;
        if (element_type, dims) != (from.element_type, &from.dims[..]) {
            let (kept, wanted) = (&from.dims, dims);
            let message = format!(
                "the tensor is {}{kept:?}, but the buffer for it is {element_type}{wanted:?}",
                from.element_type
            );
            return Err(Failure::input(message));
        }
        check_memory("the buffer", element_type, to.data, dims)?;
        let bytes = usize::try_from(from.tensor.bytes()).unwrap_or(usize::MAX);
        let buffer: &mut [u8] = match bytes {
            0 => &mut [],
            // SAFETY: it has the tensor's type and dims, so its bytes, and is valid for writes by this function's condition.
            _ => unsafe { std::slice::from_raw_parts_mut(to.data, bytes) },
        };
        Ok(session.lock().download_range(&from.tensor, 0, buffer)?)
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `session` is null or open, `model` null or an open model. Where the numbers are the model's, `inputs` is null, misaligned or
/// has that many pointers, each null or a device's tensor; `outputs` is null, misaligned or valid for as many writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_session_run(
    session: *const SuturaSession,
    model: *const SuturaModel,
    inputs: *const *const SuturaDeviceTensor,
    n_inputs: i32,
    outputs: *mut *mut SuturaDeviceTensor,
    n_outputs: i32,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let (session, handle) = unsafe { (object(session, "session")?, object(model, "model")?) };
        crate::tensors::check_count("input", n_inputs, &handle.inputs)?;
        crate::tensors::check_count("output", n_outputs, &handle.outputs)?;
        // SAFETY: by this function's condition, as the number is the model's.
        let inputs = unsafe { each("input", inputs, handle.inputs.len()) }?;
        if n_outputs > 0 {
            usable(outputs, "outputs")?;
        }
        let made = session.lock().run(&handle.model, &inputs)?;
        for (number, tensor) in made.into_iter().enumerate() {
            // SAFETY: usable, and by this function's condition valid for as many as the model has.
            unsafe { hand_over(SuturaDeviceTensor::new(tensor), outputs.add(number)) };
        }
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// As for [`sutura_session_run`], but `outputs` has pointers to tensors of a device, as `inputs` has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_session_run_into(
    session: *const SuturaSession,
    model: *const SuturaModel,
    inputs: *const *const SuturaDeviceTensor,
    n_inputs: i32,
    outputs: *const *mut SuturaDeviceTensor,
    n_outputs: i32,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let (session, handle) = unsafe { (object(session, "session")?, object(model, "model")?) };
        crate::tensors::check_count("input", n_inputs, &handle.inputs)?;
        crate::tensors::check_count("output", n_outputs, &handle.outputs)?;
        // One run at a time looks at the session's tensors.
        let mut session = session.lock();
        // SAFETY: by this function's condition, as the numbers are the model's.
        unsafe {
            check_apart((inputs, handle.inputs.len()), (outputs, handle.outputs.len()))?;
            let inputs = each("input", inputs, handle.inputs.len())?;
            let mut outputs = each_mut(outputs, handle.outputs.len())?;
            Ok(session.run_into(&handle.model, &inputs, &mut outputs)?)
        }
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `session` is null or open; `from` and `to` are null or tensors of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_session_copy(
    session: *const SuturaSession,
    from: *const SuturaDeviceTensor,
    to: *mut SuturaDeviceTensor,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let (session, source) = unsafe { (object(session, "session")?, object(from, "from")?) };
        usable(to, "to")?;
        if std::ptr::eq(from, to) {
            return Err(Failure::usage("a tensor is copied to itself".to_owned()));
        }
        let mut session = session.lock();
        // SAFETY: usable, so a tensor by this function's condition, and another one than the source.
        Ok(session.copy(&source.tensor, unsafe { &mut (*to).tensor })?)
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `session` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_session_synchronize(session: *const SuturaSession) -> i32 {
    // SAFETY: by this function's condition.
    status(|| Ok(unsafe { object(session, "session") }?.lock().synchronize()?))
}

/// See `sutura.h`.
///
/// # Safety
/// `tensor` is null or a device's tensor; `value` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_device_tensor_describe(
    tensor: *const SuturaDeviceTensor,
    value: *mut SuturaValue,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let tensor = unsafe { object(tensor, "tensor") }?;
        usable(value, "value")?;
        let (element_type, rank) = (code_of(tensor.element_type), tensor.dims.len() as i32);
        // SAFETY: usable, so valid by this function's condition.
        unsafe { value.write(SuturaValue { name: null(), element_type, rank, dims: tensor.dims.as_ptr() }) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `tensor` is null, or from a session and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_device_tensor_free(tensor: *mut SuturaDeviceTensor) {
    // SAFETY: by this function's condition.
    unsafe { take_back(tensor) };
}

/// # Safety
/// Where `rank` is one, `dims` is null, misaligned or has as many numbers, as long as the result is used.
unsafe fn read_dims<'a>(rank: i32, dims: *const i64) -> Result<&'a [i64]> {
    let rank = usize::try_from(rank)
        .ok()
        .filter(|rank| *rank <= MOST_DIMS)
        .ok_or_else(|| Failure::input(format!("there is no tensor of rank {rank}: ranks are from 0 to {MOST_DIMS}")))?;
    if rank == 0 {
        return Ok(&[]);
    }
    usable(dims, "dims of the tensor")?;
    // SAFETY: usable, so by this function's condition.
    Ok(unsafe { std::slice::from_raw_parts(dims, rank) })
}

type Tensors<T> = SmallVec<[T; 8]>;

/// Tensors of a device, `count` of them.
///
/// # Safety
/// `first` is null, misaligned or has that many pointers, each null, misaligned or to a device's tensor.
unsafe fn each<'a>(
    role: &str,
    first: *const *const SuturaDeviceTensor,
    count: usize,
) -> Result<Tensors<&'a DeviceTensor>> {
    if count == 0 {
        return Ok(Tensors::new());
    }
    usable(first, format_args!("{role}s"))?;
    // SAFETY: usable, so by this function's condition.
    let pointers = unsafe { std::slice::from_raw_parts(first, count) };
    let tensor = |(number, pointer): (usize, &*const SuturaDeviceTensor)| {
        // SAFETY: by this function's condition.
        Ok(&unsafe { object(*pointer, format_args!("{role} {number}")) }?.tensor)
    };
    pointers.iter().enumerate().map(tensor).collect()
}

/// As [`each`], for outputs.
///
/// # Safety
/// As for [`each`]; no other reference is to the tensors, which [`check_apart`] has seen to be different.
unsafe fn each_mut<'a>(first: *const *mut SuturaDeviceTensor, count: usize) -> Result<Tensors<&'a mut DeviceTensor>> {
    if count == 0 {
        return Ok(Tensors::new());
    }
    // SAFETY: `check_apart` saw that it is usable.
    let pointers = unsafe { std::slice::from_raw_parts(first, count) };
    let tensor = |(number, pointer): (usize, &*mut SuturaDeviceTensor)| {
        usable(*pointer, format_args!("output {number}"))?;
        // SAFETY: usable, so a tensor by this function's condition, and only this refers to it.
        Ok(unsafe { &mut (**pointer).tensor })
    };
    pointers.iter().enumerate().map(tensor).collect()
}

/// No output is another output or an input.
///
/// # Safety
/// The pointers are null, misaligned or have as many elements as is said.
unsafe fn check_apart(
    (inputs, n_inputs): (*const *const SuturaDeviceTensor, usize),
    (outputs, n_outputs): (*const *mut SuturaDeviceTensor, usize),
) -> Result<()> {
    if n_outputs == 0 {
        return Ok(());
    }
    usable(outputs, "outputs")?;
    let inputs = match n_inputs {
        0 => &[],
        _ => {
            usable(inputs, "inputs")?;
            // SAFETY: usable, so by this function's condition.
            unsafe { std::slice::from_raw_parts(inputs, n_inputs) }
        }
    };
    // SAFETY: usable, so by this function's condition.
    let outputs = unsafe { std::slice::from_raw_parts(outputs, n_outputs) };
    for (number, output) in outputs.iter().enumerate() {
        if let Some(input) = inputs.iter().position(|input| std::ptr::eq(*input, *output)) {
            return Err(Failure::usage(format!("output {number} is also input {input}")));
        }
        if let Some(other) = outputs[..number].iter().position(|other| std::ptr::eq(*other, *output)) {
            return Err(Failure::usage(format!("output {number} is also output {other}")));
        }
    }
    Ok(())
}
