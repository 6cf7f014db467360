//! Elements of a kernel's memory: in lanes of their own, or where the caller has them, so that weights of any size are neither copied
//! in nor out.

use sutura_interp::{Buffer, DType, Scalar};

use super::tile::Lanes;

/// What a kernel's view is given in its caller's memory: elements as dense constants have them, each little-endian in the bytes that
/// its width needs.
#[derive(Debug)]
pub enum InPlace<'m> {
    /// `len` elements for an `in` view. The bytes are those of all of them, or of one that stands for all.
    Constant {
        /// Type of the elements.
        dtype: DType,
        /// The elements.
        bytes: &'m [u8],
        /// How many there are.
        len: usize,
    },
    /// Room for an `out` view, zero above the width of each element afterwards.
    Room {
        /// Type of the elements.
        dtype: DType,
        /// The room.
        bytes: &'m mut [u8],
    },
}

impl InPlace<'_> {
    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Constant { dtype, .. } | Self::Room { dtype, .. } => *dtype,
        }
    }
}

/// Elements of memory.
#[derive(Debug)]
pub(super) enum Elements<'m> {
    Own(Lanes),
    /// Where the distance between elements is 0, one stands for all.
    Constant {
        dtype: DType,
        bytes: &'m [u8],
        distance: usize,
        len: usize,
    },
    Room {
        dtype: DType,
        bytes: &'m mut [u8],
    },
}

impl<'m> Elements<'m> {
    /// What the caller gives, where its bytes are as many as its elements need, and elements are numbers of 64 bits at most.
    pub(super) fn of(given: InPlace<'m>) -> Option<Self> {
        if given.dtype().part().is_some() {
            return None;
        }
        match given {
            InPlace::Constant { dtype, bytes, len } => {
                let size = dtype.bytes();
                let distance = if bytes.len() == size { 0 } else { size };
                let fits = len == 0 || distance == 0 || len.checked_mul(size) == Some(bytes.len());
                fits.then_some(Self::Constant { dtype, bytes, distance, len })
            }
            InPlace::Room { dtype, bytes } => {
                bytes.len().is_multiple_of(dtype.bytes()).then_some(Self::Room { dtype, bytes })
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Own(lanes) => lanes.len(),
            Self::Constant { len, .. } => *len,
            Self::Room { dtype, bytes } => bytes.len() / dtype.bytes(),
        }
    }

    /// Copies `len` elements, `stride` apart from `start`, to position `at` of a tile; all must exist.
    pub(super) fn gather(&self, to: &mut Lanes, at: usize, (start, stride): (usize, i64), len: usize) {
        let place = |k: usize| (start as i64 + k as i64 * stride) as usize;
        let (dtype, bytes, distance) = match self {
            Self::Own(lanes) => return to.gather(at, lanes, start, stride, len),
            Self::Constant { dtype, bytes, distance, .. } => (*dtype, *bytes, *distance),
            Self::Room { dtype, bytes } => (*dtype, &**bytes, dtype.bytes()),
        };
        match to {
            Lanes::F32(to) => {
                for (k, to) in to[at..at + len].iter_mut().enumerate() {
                    let from = place(k) * distance;
                    *to = f32::from_bits(word::<4>(&bytes[from..]) as u32);
                }
            }
            Lanes::Bits(to) => {
                let read = reader(dtype.bytes());
                for (k, to) in to[at..at + len].iter_mut().enumerate() {
                    *to = Scalar::from_bits(dtype, read(&bytes[place(k) * distance..])).bits();
                }
            }
        }
    }

    /// Copies `len` elements from position `at` of a tile to places `stride` apart from `start`; all must exist, and belong to no
    /// constant.
    pub(super) fn scatter(&mut self, (start, stride): (usize, i64), from: &Lanes, at: usize, len: usize) {
        let place = |k: usize| (start as i64 + k as i64 * stride) as usize;
        match self {
            Self::Own(lanes) => lanes.scatter(start, stride, from, at, len),
            Self::Constant { .. } => unreachable!("the access was checked: a constant is only read"),
            Self::Room { dtype, bytes } => {
                let (size, mask) = (dtype.bytes(), dtype.mask());
                for k in 0..len {
                    let to = place(k) * size;
                    let word = from.bits(at + k) & mask;
                    bytes[to..to + size].copy_from_slice(&word.to_le_bytes()[..size]);
                }
            }
        }
    }

    /// Copies elements of a constant into room, as many of both; false where these are not what they are, or elements are not whole
    /// bytes. All must exist.
    pub(super) fn copy_row(&mut self, to: Row, from: &Self, read: Row) -> bool {
        let (Self::Room { dtype, bytes: out }, Self::Constant { bytes, distance, .. }) = (self, from) else {
            return false;
        };
        let size = dtype.bytes();
        if dtype.mask() != u64::MAX >> (64 - 8 * size.clamp(1, 8)) {
            return false;
        }
        match size {
            1 => copy::<1>(out, to, bytes, (read, *distance)),
            2 => copy::<2>(out, to, bytes, (read, *distance)),
            4 => copy::<4>(out, to, bytes, (read, *distance)),
            8 => copy::<8>(out, to, bytes, (read, *distance)),
            _ => return false,
        }
        true
    }

    /// Writes one number to elements of room, which must exist.
    pub(super) fn fill_row(&mut self, row: Row, value: Scalar) {
        if let Self::Room { dtype, bytes } = self {
            let size = dtype.bytes();
            let word = (value.bits() & dtype.mask()).to_le_bytes();
            for k in 0..row.len {
                let at = row.place(k) * size;
                bytes[at..at + size].copy_from_slice(&word[..size]);
            }
        }
    }

    /// Copies those elements that were written into the caller's buffer.
    pub(super) fn copy_out(&self, dtype: DType, written: impl Fn(usize) -> bool, buffer: &mut Buffer) {
        let Self::Own(lanes) = self else { return };
        if let Lanes::F32(values) = lanes
            && (0..values.len()).all(&written)
        {
            *buffer = Buffer::from_f32(values.clone());
            return;
        }
        for i in (0..lanes.len()).filter(|i| written(*i)) {
            buffer.set(i, Some(Scalar::from_bits(dtype, lanes.bits(i))));
        }
    }
}

/// Elements that lie `stride` apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) start: usize,
    pub(super) stride: i64,
    pub(super) len: usize,
}

impl Row {
    fn place(self, k: usize) -> usize {
        (self.start as i64 + k as i64 * self.stride) as usize
    }
}

/// Copies elements of `N` bytes; those that are read lie `distance` bytes apart where the stride is 1.
fn copy<const N: usize>(out: &mut [u8], to: Row, bytes: &[u8], (from, distance): (Row, usize)) {
    if to.stride == 1 && from.stride == 1 && distance == N {
        let (to, from) = (to.start * N, from.start * N..(from.start + from.len) * N);
        out[to..to + from.len()].copy_from_slice(&bytes[from]);
        return;
    }
    for k in 0..to.len {
        let (to, from) = (to.place(k) * N, from.place(k) * distance);
        out[to..to + N].copy_from_slice(&bytes[from..from + N]);
    }
}

/// The number that the first `N` bytes are.
fn word<const N: usize>(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..N].copy_from_slice(&bytes[..N]);
    u64::from_le_bytes(word)
}

/// What reads a number of so many bytes, 8 at most.
fn reader(size: usize) -> fn(&[u8]) -> u64 {
    [word::<0>, word::<1>, word::<2>, word::<3>, word::<4>, word::<5>, word::<6>, word::<7>, word::<8>][size]
}
