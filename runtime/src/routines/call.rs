//! A call of a routine: its buffers and numbers, checked against the declaration.

use std::ffi::c_void;

use super::parallel::Threads;
use super::table::{Arguments, Elem, Routine, Typed};
use crate::abi::{ALIGNMENT, MAX_RANK};
use crate::element::ElementType;
use crate::manifest::byte_size;

/// A call. What it says of sizes fits memory.
pub(super) struct Call<'a> {
    pub(super) routine: &'static Routine,
    pub(super) inputs: Vec<Input<'a>>,
    pub(super) outputs: Vec<Output>,
    pub(super) params: Vec<Vec<i64>>,
    pub(super) threads: Threads,
    scratch: Bytes,
}

/// A buffer that is read.
pub(super) struct Input<'a> {
    pub(super) elem: ElementType,
    pub(super) dims: Vec<i64>,
    pub(super) bytes: &'a [u8],
}

/// A buffer that is written.
pub(super) struct Output {
    pub(super) elem: ElementType,
    pub(super) dims: Vec<i64>,
    bytes: Bytes,
}

/// Memory that several threads write to, each its own part.
#[derive(Clone, Copy)]
struct Bytes {
    start: *mut u8,
    len: usize,
}

// SAFETY: whoever writes says by `unsafe` that nobody else touches the same bytes meanwhile.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

/// The lines of a tensor along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Lines {
    /// Elements of a line.
    pub(super) size: usize,
    /// Elements from one of a line to the next: the product of the sizes behind the axis.
    pub(super) step: usize,
    /// Number of lines.
    pub(super) count: usize,
}

impl Lines {
    /// Of a tensor whose elements fit memory.
    pub(super) fn of(dims: &[i64], axis: usize) -> Self {
        let product = |dims: &[i64]| dims.iter().map(|d| *d as usize).product::<usize>();
        let (before, behind) = (product(&dims[..axis]), product(&dims[axis + 1..]));
        Self { size: dims[axis] as usize, step: behind, count: before * behind }
    }

    /// Number of the first element of a line.
    pub(super) fn start(self, line: usize) -> usize {
        line / self.step * self.step * self.size + line % self.step
    }

    /// Number of an element of a line.
    pub(super) fn at(self, line: usize, index: usize) -> usize {
        self.start(line) + index * self.step
    }
}

/// Reads the numbers of a call one by one.
struct Words<'a>(std::slice::Iter<'a, i64>);

impl Words<'_> {
    fn next(&mut self) -> Result<i64, String> {
        self.0.next().copied().ok_or_else(|| "is called with too few numbers".to_owned())
    }

    fn count(&mut self, what: &str, most: usize) -> Result<usize, String> {
        let value = self.next()?;
        let count = usize::try_from(value).ok().filter(|count| *count <= most);
        count.ok_or_else(|| format!("is called with {value} {what}"))
    }

    fn buffer(&mut self) -> Result<(ElementType, Vec<i64>, usize), String> {
        let code = self.next()?;
        let elem = usize::try_from(code).ok().and_then(|code| ElementType::ALL.get(code)).copied();
        let elem = elem.filter(|elem| elem.part().is_none());
        let elem = elem.ok_or_else(|| format!("is called with elements of type {code}"))?;
        let rank = self.count("as rank of a buffer", MAX_RANK)?;
        let dims = (0..rank).map(|_| self.next()).collect::<Result<Vec<i64>, String>>()?;
        let bytes = byte_size(elem, &dims).map_err(|reason| format!("is called with a buffer that {reason}"))?;
        Ok((elem, dims, bytes))
    }
}

impl<'a> Call<'a> {
    /// # Safety
    /// As for [`super::call`]; what is read is not written while the call lives.
    pub(super) unsafe fn read(
        routine: &'static Routine,
        bufs: *const *mut c_void,
        dims: *const i64,
        (n_bufs, n_dims): (i32, i32),
        threads: usize,
    ) -> Result<Self, String> {
        let length =
            |n: i32| usize::try_from(n).map_err(|_| "is called with a negative number of arguments".to_owned());
        let (n_bufs, n_dims) = (length(n_bufs)?, length(n_dims)?);
        // SAFETY: by this function's condition; an empty slice has no need of a pointer.
        let (bufs, words): (&[*mut c_void], &[i64]) = unsafe {
            let bufs = if n_bufs == 0 { &[] } else { std::slice::from_raw_parts(bufs, n_bufs) };
            (bufs, if n_dims == 0 { &[] } else { std::slice::from_raw_parts(dims, n_dims) })
        };
        let mut words = Words(words.iter());
        let n_inputs = words.count("inputs", n_bufs)?;
        let n_outputs = words.count("outputs", n_bufs - n_inputs)?;
        let has_scratch = words.count("as number of scratch buffers", 1)?;
        if n_inputs + n_outputs + has_scratch != n_bufs {
            return Err(format!("is called with {n_bufs} buffers, of which it is told {n_inputs} and {n_outputs}"));
        }
        let mut bufs = bufs.iter().map(|at| at.cast::<u8>());
        let mut next = || bufs.next().unwrap_or(std::ptr::null_mut());
        let mut inputs = Vec::with_capacity(n_inputs);
        for _ in 0..n_inputs {
            let (elem, dims, len) = words.buffer()?;
            let start = next();
            // SAFETY: by this function's condition the buffer has so many bytes that nobody writes.
            let bytes = if len == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(start, len) } };
            inputs.push(Input { elem, dims, bytes });
        }
        let mut outputs = Vec::with_capacity(n_outputs);
        for _ in 0..n_outputs {
            let (elem, dims, len) = words.buffer()?;
            outputs.push(Output { elem, dims, bytes: Bytes { start: next(), len } });
        }
        let mut scratch = Bytes { start: std::ptr::null_mut(), len: 0 };
        if has_scratch == 1 {
            scratch = Bytes { len: words.count("bytes of scratch memory", isize::MAX as usize)?, start: next() };
            if !scratch.start.addr().is_multiple_of(ALIGNMENT) {
                return Err("is called with scratch memory that is not aligned".to_owned());
            }
        }
        let mut params = Vec::with_capacity(routine.params.len());
        for _ in routine.params {
            let count = words.count("numbers of a parameter", n_dims)?;
            params.push((0..count).map(|_| words.next()).collect::<Result<Vec<i64>, String>>()?);
        }
        if words.0.next().is_some() {
            return Err("is called with too many numbers".to_owned());
        }
        let call = Self { routine, inputs, outputs, params, threads: Threads(threads), scratch };
        call.check()?;
        Ok(call)
    }

    /// What the declaration says of the arguments.
    fn check(&self) -> Result<(), String> {
        let typed: Vec<Typed<'_, i64, ElementType>> = self.inputs.iter().map(Input::typed).collect();
        let arguments = Arguments { inputs: &typed, params: &self.params };
        arguments.check(self.routine, &|a, b| a == b)?;
        let wanted = self.routine.outputs_of(self.inputs.len());
        if wanted.len() != self.outputs.len() {
            return Err(format!("makes {} outputs, not {}", wanted.len(), self.outputs.len()));
        }
        for (i, ((elem, dims), output)) in wanted.into_iter().zip(&self.outputs).enumerate() {
            let elem = match elem {
                None => self.inputs[i].elem,
                Some(Elem::Int64) => ElementType::I64,
                Some(Elem::First) => self.inputs[0].elem,
                Some(Elem::Any | Elem::Float) => output.elem,
            };
            let dims = arguments.dims(self.routine, dims).ok_or("has an output whose size does not fit 63 bits")?;
            if elem != output.elem || dims.is_some_and(|dims| dims != output.dims) {
                return Err(format!("is called with another output {i} than it makes"));
            }
        }
        if !self.is_empty() {
            let needed = arguments.size(self.routine, &self.routine.scratch);
            let enough = needed.and_then(|needed| usize::try_from(needed).ok()).is_some_and(|n| n <= self.scratch.len);
            if !enough {
                return Err(format!("is called with {} bytes of scratch memory, too few", self.scratch.len));
            }
        }
        Ok(())
    }

    /// Whether there is nothing to do: no output has elements.
    pub(super) fn is_empty(&self) -> bool {
        self.outputs.iter().all(|output| output.bytes.len == 0)
    }

    /// The numbers of a parameter.
    pub(super) fn param(&self, name: &str) -> &[i64] {
        self.routine.param(name).map_or(&[], |at| &self.params[at])
    }

    /// The parameter `axis`.
    pub(super) fn axis(&self) -> usize {
        self.number("axis")
    }

    /// A parameter that is a number, not negative.
    pub(super) fn number(&self, name: &str) -> usize {
        self.param(name).first().map_or(0, |value| *value as usize)
    }

    /// Writes the sizes that the routine decides. Returns whether there is place for what has them.
    pub(super) fn decide(&self, sizes: &[i64]) -> bool {
        let Some(output) = self.outputs.last().filter(|_| self.routine.decides()) else { return false };
        let mut fits = true;
        for (i, (size, (param, _))) in sizes.iter().zip(self.routine.decided()).enumerate() {
            fits &= self.params[param].first().is_some_and(|places| size <= places);
            // SAFETY: only this thread writes sizes.
            unsafe { output.write(i, &size.to_ne_bytes()) };
        }
        fits
    }

    /// Scratch memory for `count` numbers, behind `before` of the same type.
    ///
    /// # Safety
    /// Nobody else has it.
    pub(super) unsafe fn scratch<T: Number>(&self, before: usize, count: usize) -> Result<&'a mut [T], String> {
        let end = before.checked_add(count).and_then(|end| end.checked_mul(size_of::<T>()));
        if end.is_none_or(|end| end > self.scratch.len) {
            return Err("needs more scratch memory than it was given".to_owned());
        }
        let start = before * size_of::<T>();
        if count == 0 {
            return Ok(&mut []);
        }
        // SAFETY: inside the scratch memory, which begins at a multiple of the alignment, and so this begins at one of the type's
        // size; any bytes are numbers, and by this function's condition nobody else has them.
        unsafe { Ok(std::slice::from_raw_parts_mut(self.scratch.start.add(start).cast(), count)) }
    }
}

/// Numbers any bytes of which are values.
///
/// # Safety
/// They are, and their alignment divides their size, which divides [`ALIGNMENT`].
pub(super) unsafe trait Number: Copy {}

// SAFETY: an integer of 16 bytes.
unsafe impl Number for u128 {}
// SAFETY: two floats of 8 bytes, which any bytes are.
unsafe impl Number for [f64; 2] {}

impl Input<'_> {
    fn typed(&self) -> Typed<'_, i64, ElementType> {
        Typed { elem: self.elem, is_float: self.elem.is_float(), dims: &self.dims }
    }
}

impl Output {
    /// Writes element `to` as the bytes of element `from` of an input of the same element type.
    ///
    /// # Safety
    /// Nobody else writes that element.
    pub(super) unsafe fn copy(&self, to: usize, input: &Input<'_>, from: usize) {
        let width = self.elem.bytes();
        // SAFETY: by this function's condition.
        unsafe { self.write(to, &input.bytes[from * width..][..width]) };
    }

    /// Writes the bytes of element `to`.
    ///
    /// # Safety
    /// Nobody else writes that element.
    pub(super) unsafe fn write(&self, to: usize, bytes: &[u8]) {
        let at = to * self.elem.bytes();
        assert!(
            bytes.len() == self.elem.bytes() && at + bytes.len() <= self.bytes.len,
            "an element outside its buffer"
        );
        // SAFETY: inside the buffer, and by this function's condition nobody else has these bytes.
        unsafe { self.bytes.start.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
}
