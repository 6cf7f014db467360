//! Elements of tensors, vectors and memory: one Rust vector of the narrowest fitting type, and which of them nothing
//! was written to yet.

use crate::error::{Fault, FaultKind};
use crate::scalar::{DType, Scalar};
use sutura_ir::types::FloatKind;

/// Elements in storage of their width. Integers narrower than their storage are kept extended, as [`Scalar`] does,
/// except that `i1` is 0 or 1.
#[derive(Clone, PartialEq, Debug)]
enum Storage {
    Bits8(Vec<u8>),
    Bits16(Vec<u16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Bits of real and imaginary part.
    Complex(Vec<[u64; 2]>),
}

/// One bit per element, set where nothing was written yet.
#[derive(Clone, PartialEq, Debug)]
struct Undefined {
    words: Vec<u64>,
    count: usize,
}

impl Undefined {
    fn all(len: usize) -> Self {
        Self { words: vec![u64::MAX; len.div_ceil(64)], count: len }
    }

    fn none(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], count: 0 }
    }

    fn get(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    fn set(&mut self, i: usize, undefined: bool) {
        let (word, bit) = (&mut self.words[i / 64], 1 << (i % 64));
        match (*word & bit != 0, undefined) {
            (true, false) => self.count -= 1,
            (false, true) => self.count += 1,
            _ => return,
        }
        *word ^= bit;
    }
}

/// A run of elements of one type.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    dtype: DType,
    storage: Storage,
    /// `None` when every element is defined.
    undefined: Option<Box<Undefined>>,
}

macro_rules! each_storage {
    ($storage:expr, $v:ident => $body:expr) => {
        match $storage {
            Storage::Bits8($v) => $body,
            Storage::Bits16($v) => $body,
            Storage::Int32($v) => $body,
            Storage::Int64($v) => $body,
            Storage::F32($v) => $body,
            Storage::F64($v) => $body,
            Storage::Complex($v) => $body,
        }
    };
}

impl Buffer {
    /// `len` zeros.
    pub fn zeros(dtype: DType, len: usize) -> Self {
        let storage = match dtype {
            DType::Float(FloatKind::F32) => Storage::F32(vec![0.0; len]),
            DType::Float(FloatKind::F64) => Storage::F64(vec![0.0; len]),
            DType::Complex(_) => Storage::Complex(vec![[0; 2]; len]),
            _ => match dtype.bits() {
                0..=8 => Storage::Bits8(vec![0; len]),
                9..=16 => Storage::Bits16(vec![0; len]),
                17..=32 => Storage::Int32(vec![0; len]),
                _ => Storage::Int64(vec![0; len]),
            },
        };
        Self { dtype, storage, undefined: None }
    }

    /// `len` elements that nothing was written to.
    pub fn undefined(dtype: DType, len: usize) -> Self {
        let undefined = (len > 0).then(|| Box::new(Undefined::all(len)));
        Self { undefined, ..Self::zeros(dtype, len) }
    }

    /// `len` copies of a number.
    pub fn splat(value: Scalar, len: usize) -> Self {
        let mut buffer = Self::zeros(value.dtype(), len);
        if value != Scalar::from_bits(value.dtype(), 0) {
            buffer.fill(value);
        }
        buffer
    }

    /// Elements of type `f32`.
    pub fn from_f32(values: Vec<f32>) -> Self {
        Self { dtype: DType::F32, storage: Storage::F32(values), undefined: None }
    }

    /// Elements of type `f64`.
    pub fn from_f64(values: Vec<f64>) -> Self {
        Self { dtype: DType::F64, storage: Storage::F64(values), undefined: None }
    }

    /// Elements of type `i64`.
    pub fn from_i64(values: Vec<i64>) -> Self {
        Self { dtype: DType::I64, storage: Storage::Int64(values), undefined: None }
    }

    /// Elements stored little-endian, each in the bytes its width needs, as dense attributes hold them.
    ///
    /// # Errors
    /// When the number of bytes is not a multiple of the element's.
    pub fn from_le_bytes(dtype: DType, bytes: &[u8]) -> Result<Self, Fault> {
        let size = dtype.bytes();
        if !bytes.len().is_multiple_of(size) {
            return Err(Fault::invalid_ir(format!("{} bytes are no whole number of {dtype} elements", bytes.len())));
        }
        if dtype == DType::F32 {
            return Ok(Self::from_f32(bytes.as_chunks::<4>().0.iter().map(|c| f32::from_le_bytes(*c)).collect()));
        }
        let mut buffer = Self::zeros(dtype, bytes.len() / size);
        for (i, chunk) in bytes.chunks_exact(size).enumerate() {
            buffer.put(i, from_le(dtype, chunk));
        }
        Ok(buffer)
    }

    /// The same bits as elements of another type of the same width; what is undefined stays so. An element of 2 to 7 bits is the
    /// low bits of a byte.
    ///
    /// # Errors
    /// When the widths differ.
    pub fn reinterpret(&self, dtype: DType) -> Result<Self, Fault> {
        let width = |dtype: DType| if (2..8).contains(&dtype.bits()) { 8 } else { dtype.bits() };
        if width(dtype) != width(self.dtype) {
            return Err(Fault::type_mismatch(format!("elements of type {} taken for {dtype}", self.dtype)));
        }
        if dtype.part().is_some() || self.dtype.part().is_some() {
            let bytes = |i| le_bytes(self.number(i));
            let all: Vec<u8> = (0..self.len()).flat_map(|i| bytes(i).into_iter().take(self.dtype.bytes())).collect();
            return Ok(Self { undefined: self.undefined.clone(), ..Self::from_le_bytes(dtype, &all)? });
        }
        let mut buffer = Self { undefined: self.undefined.clone(), ..Self::zeros(dtype, self.len()) };
        for i in 0..self.len() {
            buffer.put_bits(i, dtype.wrap(self.dtype.wrap(self.bits(i))));
        }
        Ok(buffer)
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        each_storage!(&self.storage, v => v.len())
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, if they are `f32` and all defined.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match &self.storage {
            Storage::F32(v) if self.undefined.is_none() => Some(v),
            _ => None,
        }
    }

    /// The elements for writing, if they are `f32` and all defined.
    pub fn as_f32_mut(&mut self) -> Option<&mut [f32]> {
        match &mut self.storage {
            Storage::F32(v) if self.undefined.is_none() => Some(v),
            _ => None,
        }
    }

    /// The elements, if they are `f64` and all defined.
    pub fn as_f64(&self) -> Option<&[f64]> {
        match &self.storage {
            Storage::F64(v) if self.undefined.is_none() => Some(v),
            _ => None,
        }
    }

    /// The elements, if they are 64-bit integers or `index` and all defined.
    pub fn as_i64(&self) -> Option<&[i64]> {
        match &self.storage {
            Storage::Int64(v) if self.undefined.is_none() && self.dtype.is_integer() => Some(v),
            _ => None,
        }
    }

    /// True when something was written to element `i`.
    pub fn is_defined(&self, i: usize) -> bool {
        self.undefined.as_ref().is_none_or(|u| !u.get(i))
    }

    /// Number of elements that nothing was written to.
    pub fn undefined_count(&self) -> usize {
        self.undefined.as_ref().map_or(0, |u| u.count)
    }

    /// Element `i`, whose index must be in range; `None` when nothing was written to it.
    pub fn get(&self, i: usize) -> Option<Scalar> {
        self.is_defined(i).then(|| self.number(i))
    }

    /// Element `i`, defined or not.
    fn number(&self, i: usize) -> Scalar {
        match (&self.storage, self.dtype) {
            (Storage::Complex(v), DType::Complex(kind)) => Scalar::complex(kind, v[i]),
            _ => Scalar::from_bits(self.dtype, self.bits(i)),
        }
    }

    fn put(&mut self, i: usize, value: Scalar) {
        match (&mut self.storage, value.parts()) {
            (Storage::Complex(v), Some(parts)) => v[i] = parts.map(Scalar::bits),
            _ => self.put_bits(i, value.bits()),
        }
    }

    /// The real and the imaginary parts of complex numbers; `None` for other elements.
    pub(crate) fn parts(&self) -> Option<[Self; 2]> {
        let (Storage::Complex(v), Some(part)) = (&self.storage, self.dtype.part()) else { return None };
        Some([0, 1].map(|k| {
            let mut buffer = Self { undefined: self.undefined.clone(), ..Self::zeros(part, v.len()) };
            v.iter().enumerate().for_each(|(i, parts)| buffer.put_bits(i, parts[k]));
            buffer
        }))
    }

    /// Complex numbers of these parts, both of the same length and type; undefined where one part is.
    pub(crate) fn of_parts(kind: FloatKind, re: &Self, im: &Self) -> Self {
        let numbers = (0..re.len()).map(|i| [re.bits(i), im.bits(i)]).collect();
        let mut buffer = Self { dtype: DType::Complex(kind), storage: Storage::Complex(numbers), undefined: None };
        for i in 0..re.len() {
            if !re.is_defined(i) || !im.is_defined(i) {
                buffer.mark(i, true);
            }
        }
        buffer
    }

    /// Element `i`, whose index must be in range.
    ///
    /// # Errors
    /// When nothing was written to it.
    pub fn read(&self, i: usize) -> Result<Scalar, Fault> {
        self.get(i).ok_or_else(uninitialised)
    }

    /// Sets element `i`; `None` makes it undefined.
    pub fn set(&mut self, i: usize, value: Option<Scalar>) {
        match value {
            Some(value) => {
                debug_assert_eq!(value.dtype(), self.dtype);
                self.put(i, value);
                self.mark(i, false);
            }
            None => self.mark(i, true),
        }
    }

    /// Sets every element.
    pub fn fill(&mut self, value: Scalar) {
        debug_assert_eq!(value.dtype(), self.dtype);
        self.undefined = None;
        let bits = value.bits();
        match &mut self.storage {
            Storage::Bits8(v) => v.fill((bits & self.dtype.mask()) as u8),
            Storage::Bits16(v) => v.fill(bits as u16),
            Storage::Int32(v) => v.fill(bits as i32),
            Storage::Int64(v) => v.fill(bits as i64),
            Storage::F32(v) => v.fill(f32::from_bits(bits as u32)),
            Storage::F64(v) => v.fill(f64::from_bits(bits)),
            Storage::Complex(v) => v.fill(value.parts().map_or([0; 2], |parts| parts.map(Scalar::bits))),
        }
    }

    /// Copies `len` elements of `from` (of the same type), definedness included. Ranges must be in bounds.
    pub fn copy_range(&mut self, to: usize, from: &Self, at: usize, len: usize) {
        debug_assert_eq!(self.dtype, from.dtype);
        match (&mut self.storage, &from.storage) {
            (Storage::Bits8(a), Storage::Bits8(b)) => a[to..to + len].copy_from_slice(&b[at..at + len]),
            (Storage::Bits16(a), Storage::Bits16(b)) => a[to..to + len].copy_from_slice(&b[at..at + len]),
            (Storage::Int32(a), Storage::Int32(b)) => a[to..to + len].copy_from_slice(&b[at..at + len]),
            (Storage::Int64(a), Storage::Int64(b)) => a[to..to + len].copy_from_slice(&b[at..at + len]),
            (Storage::F32(a), Storage::F32(b)) => a[to..to + len].copy_from_slice(&b[at..at + len]),
            (Storage::F64(a), Storage::F64(b)) => a[to..to + len].copy_from_slice(&b[at..at + len]),
            (Storage::Complex(a), Storage::Complex(b)) => a[to..to + len].copy_from_slice(&b[at..at + len]),
            _ => unreachable!("equal element types have equal storage"),
        }
        if self.undefined.is_some() || from.undefined.is_some() {
            for i in 0..len {
                self.mark(to + i, !from.is_defined(at + i));
            }
        }
    }

    /// The elements little-endian, each in the bytes its width needs; `None` when one of them was never written.
    pub fn to_le_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; self.len() * self.dtype.bytes()];
        self.read_bytes(0, &mut bytes).then_some(bytes)
    }

    /// Copies bytes of the little-endian elements; false when one of them was never written. The range must be in bounds.
    pub(crate) fn read_bytes(&self, at: usize, bytes: &mut [u8]) -> bool {
        let size = self.dtype.bytes();
        let mut defined = true;
        for (k, byte) in bytes.iter_mut().enumerate() {
            let (element, part) = ((at + k) / size, (at + k) % size);
            *byte = le_bytes(self.number(element))[part];
            defined &= self.is_defined(element);
        }
        defined
    }

    /// Overwrites bytes of the little-endian elements. The range must be in bounds.
    ///
    /// # Errors
    /// When only a part of an element is written that nothing was written to before.
    pub(crate) fn write_bytes(&mut self, at: usize, bytes: &[u8]) -> Result<(), Fault> {
        let size = self.dtype.bytes();
        let mut k = 0;
        while k < bytes.len() {
            let (element, part) = ((at + k) / size, (at + k) % size);
            let n = (size - part).min(bytes.len() - k);
            let mut word = if n == size { [0; 16] } else { le_bytes(self.read(element)?) };
            word[part..part + n].copy_from_slice(&bytes[k..k + n]);
            self.set(element, Some(from_le(self.dtype, &word[..size])));
            k += n;
        }
        Ok(())
    }

    /// Element `i` as bits, defined or not; of a complex number, those of its real part.
    fn bits(&self, i: usize) -> u64 {
        match &self.storage {
            Storage::Bits8(v) => self.dtype.wrap(v[i].into()),
            Storage::Bits16(v) => self.dtype.wrap(v[i].into()),
            Storage::Int32(v) => self.dtype.wrap(v[i] as u32 as u64),
            Storage::Int64(v) => v[i] as u64,
            Storage::F32(v) => v[i].to_bits().into(),
            Storage::F64(v) => v[i].to_bits(),
            Storage::Complex(v) => v[i][0],
        }
    }

    fn put_bits(&mut self, i: usize, bits: u64) {
        match &mut self.storage {
            Storage::Bits8(v) => v[i] = (bits & self.dtype.mask()) as u8,
            Storage::Bits16(v) => v[i] = bits as u16,
            Storage::Int32(v) => v[i] = bits as i32,
            Storage::Int64(v) => v[i] = bits as i64,
            Storage::F32(v) => v[i] = f32::from_bits(bits as u32),
            Storage::F64(v) => v[i] = f64::from_bits(bits),
            Storage::Complex(v) => v[i] = [bits, 0],
        }
    }

    fn mark(&mut self, i: usize, undefined: bool) {
        let len = self.len();
        match &mut self.undefined {
            None if !undefined => return,
            None => self.undefined.insert(Box::new(Undefined::none(len))).set(i, true),
            Some(bits) => bits.set(i, undefined),
        }
        if self.undefined.as_ref().is_some_and(|u| u.count == 0) {
            self.undefined = None;
        }
    }

    /// Reads `lanes.len()` elements, `stride` apart from `start`, as bits; all indices must be in range. Undefined
    /// elements read as they are stored, and are reported by the returned flag.
    pub(crate) fn gather(&self, start: usize, stride: isize, lanes: &mut [u64]) -> bool {
        let at = |k: usize| start.wrapping_add_signed(stride * k as isize);
        match &self.storage {
            Storage::F32(v) if stride == 1 => {
                for (lane, x) in lanes.iter_mut().zip(&v[start..]) {
                    *lane = x.to_bits().into();
                }
            }
            Storage::F32(v) => {
                for (k, lane) in lanes.iter_mut().enumerate() {
                    *lane = v[at(k)].to_bits().into();
                }
            }
            _ => {
                for (k, lane) in lanes.iter_mut().enumerate() {
                    *lane = self.bits(at(k));
                }
            }
        }
        self.undefined.is_some() && (0..lanes.len()).any(|k| !self.is_defined(at(k)))
    }

    /// Writes `lanes.len()` elements, `stride` apart from `start`; all indices must be in range.
    pub(crate) fn scatter(&mut self, start: usize, stride: isize, lanes: &[u64]) {
        let at = |k: usize| start.wrapping_add_signed(stride * k as isize);
        match &mut self.storage {
            Storage::F32(v) if stride == 1 => {
                for (x, lane) in v[start..].iter_mut().zip(lanes) {
                    *x = f32::from_bits(*lane as u32);
                }
            }
            _ => {
                for (k, lane) in lanes.iter().enumerate() {
                    self.put_bits(at(k), *lane);
                }
            }
        }
        if self.undefined.is_some() {
            for k in 0..lanes.len() {
                self.mark(at(k), false);
            }
        }
    }
}

/// The bytes of a number, little-endian; those beyond its size are 0.
pub(crate) fn le_bytes(value: Scalar) -> [u8; 16] {
    let mask = value.dtype().mask();
    let words = match value.parts() {
        Some(parts) => parts.map(|part| part.bits() & mask),
        None => [value.bits() & mask, 0],
    };
    let mut bytes = [0; 16];
    let size = value.dtype().part().map_or(8, DType::bytes);
    bytes[..size].copy_from_slice(&words[0].to_le_bytes()[..size]);
    bytes[size..2 * size].copy_from_slice(&words[1].to_le_bytes()[..size]);
    bytes
}

/// The number whose little-endian bytes these are, as many as its type has.
pub(crate) fn from_le(dtype: DType, bytes: &[u8]) -> Scalar {
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    match dtype {
        DType::Complex(kind) => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            Scalar::complex(kind, [word(re), word(im)])
        }
        _ => Scalar::from_bits(dtype, word(bytes)),
    }
}

pub(crate) fn uninitialised() -> Fault {
    Fault::new(FaultKind::Uninitialised, "reads an element that nothing was written to")
}
