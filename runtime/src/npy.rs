//! NumPy's `.npy` files.
//!
//! Reads versions 1 to 3 of the format, either byte order, either memory order; the tensor is always row-major in the
//! machine's byte order, with the same values at the same indices. Writes version 1, little endian, row-major, which
//! is what NumPy itself writes. NumPy has no bf16 or 8-bit floats, so those are refused in both directions.
//!
//! The header is a Python dictionary with three fixed keys. It is read by a small parser of exactly that, because a
//! file can hold anything: nothing here recurses, and nothing is allocated before the file is known to be long enough.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::files::{self, Unopened};
use crate::manifest::byte_size;
use crate::tensor::Tensor;

const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy aligns the data to this.
const DATA_ALIGNMENT: usize = 64;

/// Longest header that makes sense for a plain array; NumPy's own limit is 10,000.
const MAX_HEADER: usize = 65_536;

/// Reads a tensor.
pub fn read(path: impl AsRef<Path>) -> Result<Tensor> {
    with_file(path.as_ref(), read_from)
}

/// Reads a tensor from a file that the caller opened; `path` is what messages call it.
pub fn read_opened(path: impl AsRef<Path>, file: File) -> Result<Tensor> {
    with_opened(path.as_ref(), file, read_from)
}

/// Reads only what a file says that it holds: type and dims.
pub fn read_signature(path: impl AsRef<Path>) -> Result<(ElementType, Vec<i64>)> {
    with_file(path.as_ref(), signature_from)
}

/// As [`read_signature`], from a file that the caller opened.
pub fn read_opened_signature(path: impl AsRef<Path>, file: File) -> Result<(ElementType, Vec<i64>)> {
    with_opened(path.as_ref(), file, signature_from)
}

/// Reads a tensor from a stream that is a file of `length` bytes; `name` stands for the path in messages.
pub fn from_reader(name: impl AsRef<Path>, reader: &mut impl Read, length: u64) -> Result<Tensor> {
    read_from(reader, length).map_err(|problem| problem.of(name.as_ref()))
}

/// As [`read_signature`], from a stream that is a file of `length` bytes; `name` stands for the path in messages.
pub fn signature_from_reader(
    name: impl AsRef<Path>,
    reader: &mut impl Read,
    length: u64,
) -> Result<(ElementType, Vec<i64>)> {
    signature_from(reader, length).map_err(|problem| problem.of(name.as_ref()))
}

fn signature_from(reader: &mut impl Read, length: u64) -> Result<(ElementType, Vec<i64>), Problem> {
    let header = read_checked_header(reader, length)?;
    Ok((header.element_type, header.dims))
}

/// Hands a regular file and its size on to `body`.
fn with_file<T>(path: &Path, body: impl FnOnce(&mut BufReader<File>, u64) -> Result<T, Problem>) -> Result<T> {
    let opened = files::open_regular(path).map_err(|problem| match problem {
        Unopened::Io(source) => Problem::Io(source),
        Unopened::Other(is) => Problem::Format(format!("it is {is}, not a file")),
    });
    let read = opened.and_then(|(file, length)| body(&mut BufReader::new(file), length));
    read.map_err(|problem| problem.of(path))
}

fn with_opened<T>(
    path: &Path,
    file: File,
    body: impl FnOnce(&mut BufReader<File>, u64) -> Result<T, Problem>,
) -> Result<T> {
    let length = file.metadata().map(|info| info.len()).map_err(Problem::Io);
    let read = length.and_then(|length| body(&mut BufReader::new(file), length));
    read.map_err(|problem| problem.of(path))
}

/// Reads a tensor from the bytes of a file; `name` stands for the path in messages.
pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Tensor> {
    read_from(&mut &bytes[..], bytes.len() as u64).map_err(|problem| match problem {
        Problem::Io(e) => Error::Npy { path: name.into(), reason: e.to_string() },
        Problem::Format(reason) => Error::Npy { path: name.into(), reason },
        Problem::Other(error) => error,
    })
}

/// Writes a tensor; the file appears under its name only when complete.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    let path = path.as_ref();
    let header = header(tensor).map_err(|reason| Error::Npy { path: path.to_owned(), reason })?;
    crate::files::replace(path, |file| {
        file.write_all(&header)?;
        file.write_all(&little_endian(tensor))
    })
}

/// The bytes of the file that [`write()`] writes.
pub fn to_bytes(tensor: &Tensor) -> Result<Vec<u8>> {
    let mut bytes = header(tensor).map_err(|reason| Error::InvalidTensor { reason })?;
    bytes.extend_from_slice(&little_endian(tensor));
    Ok(bytes)
}

/// The file that [`write()`] writes, in two parts: what stands before the elements, and these.
pub fn parts(tensor: &Tensor) -> Result<(Vec<u8>, Cow<'_, [u8]>)> {
    let header = header(tensor).map_err(|reason| Error::InvalidTensor { reason })?;
    Ok((header, little_endian(tensor)))
}

/// Whether NumPy has this element type, so that tensors of it can be written.
pub fn has(element_type: ElementType) -> bool {
    descr(element_type).is_some()
}

enum Problem {
    Io(io::Error),
    Format(String),
    Other(Error),
}

impl Problem {
    /// With the name of the file.
    fn of(self, path: &Path) -> Error {
        match self {
            Self::Io(source) => Error::Io { action: "read", path: path.to_owned(), source },
            Self::Format(reason) => Error::Npy { path: path.to_owned(), reason },
            Self::Other(error) => error,
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Format("it is truncated".into()),
            _ => Self::Io(error),
        }
    }
}

impl From<String> for Problem {
    fn from(reason: String) -> Self {
        Self::Format(reason)
    }
}

struct Header {
    element_type: ElementType,
    big_endian: bool,
    fortran_order: bool,
    dims: Vec<i64>,
}

/// The header, of a file that holds what it says.
fn read_checked_header(reader: &mut impl Read, file_length: u64) -> Result<Header, Problem> {
    let (text, header_length) = read_header(reader)?;
    let header = parse_header(&text)?;
    let bytes = byte_size(header.element_type, &header.dims).map_err(|e| format!("its array {e}"))?;
    let present = file_length.saturating_sub(header_length as u64);
    if present != bytes as u64 {
        let Header { element_type, dims, .. } = &header;
        return Err(format!("{element_type}{dims:?} has {bytes} bytes, but the file holds {present}").into());
    }
    Ok(header)
}

fn read_from(reader: &mut impl Read, file_length: u64) -> Result<Tensor, Problem> {
    let header = read_checked_header(reader, file_length)?;
    let mut tensor = Tensor::zeros(header.element_type, &header.dims).map_err(Problem::Other)?;
    reader.read_exact(tensor.bytes_mut())?;
    if header.big_endian != cfg!(target_endian = "big") {
        swap_bytes(tensor.bytes_mut(), header.element_type.word_bytes());
    }
    if header.element_type == ElementType::Bool && tensor.bytes().iter().any(|&b| b > 1) {
        return Err(Problem::Format("a boolean is neither 0 nor 1".into()));
    }
    if header.fortran_order { to_row_major(&tensor).map_err(Problem::Other) } else { Ok(tensor) }
}

/// The header's text, and the number of bytes before the data.
fn read_header(reader: &mut impl Read) -> Result<(String, usize), Problem> {
    let mut start = [0; 8];
    match reader.read_exact(&mut start) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Err(Problem::Format("it is too short".into())),
        other => other?,
    }
    if !start.starts_with(MAGIC) {
        return Err(Problem::Format("it does not begin as one".into()));
    }
    let mut length = [0; 4];
    let length_bytes = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => return Err(format!("its format version {version} is unknown").into()),
    };
    reader.read_exact(&mut length[..length_bytes])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_HEADER {
        return Err(format!("its header claims {length} bytes").into());
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text)?;
    let text = String::from_utf8(text).map_err(|_| "its header is not text".to_owned())?;
    Ok((text, start.len() + length_bytes + length))
}

fn parse_header(text: &str) -> Result<Header, String> {
    let mut parser = Parser { rest: text };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    parser.expect("{")?;
    while !parser.accept("}") {
        let key = parser.string()?;
        parser.expect(":")?;
        let twice = match key {
            "descr" => descr.is_some(),
            "fortran_order" => fortran_order.is_some(),
            "shape" => shape.is_some(),
            _ => false,
        };
        if twice {
            return Err(format!("its header has `{key}` twice"));
        }
        match key {
            "descr" => descr = Some(parser.descr()?),
            "fortran_order" => fortran_order = Some(parser.boolean()?),
            "shape" => shape = Some(parser.tuple()?),
            other => return Err(format!("its header has the unknown key `{}`", short(other))),
        }
        if !parser.accept(",") {
            parser.expect("}")?;
            break;
        }
    }
    if !parser.rest.trim().is_empty() {
        return Err("its header has text after the dictionary".into());
    }
    let missing = |key: &str| format!("its header has no `{key}`");
    let (element_type, big_endian) = element_type(descr.ok_or_else(|| missing("descr"))?)?;
    Ok(Header {
        element_type,
        big_endian,
        fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
        dims: shape.ok_or_else(|| missing("shape"))?,
    })
}

/// Reads the few forms of Python literals that a header of a plain array has.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn accept(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.accept(token) {
            return Ok(());
        }
        let found: String = self.rest.chars().take(12).collect();
        Err(format!("its header should have `{token}` at `{found}`"))
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = if self.accept("\"") {
            '"'
        } else {
            self.expect("'")?;
            '\''
        };
        let (string, rest) = self.rest.split_once(quote).ok_or("its header has an open string")?;
        self.rest = rest;
        Ok(string)
    }

    fn descr(&mut self) -> Result<&'a str, String> {
        if self.accept("[") {
            return Err("it holds records, not numbers".into());
        }
        self.string()
    }

    fn boolean(&mut self) -> Result<bool, String> {
        if self.accept("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false)
    }

    fn tuple(&mut self) -> Result<Vec<i64>, String> {
        self.expect("(")?;
        let mut dims = Vec::new();
        while !self.accept(")") {
            dims.push(self.dim()?);
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(dims)
    }

    fn dim(&mut self) -> Result<i64, String> {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        // Python 2 wrote long integers with a suffix.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        digits.parse().map_err(|_| format!("its header has no dimension at `{}`", short(digits)))
    }
}

/// The beginning of a text from a file, for a message.
fn short(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

/// The element type of a `descr`, and whether it is big endian.
fn element_type(descr: &str) -> Result<(ElementType, bool), String> {
    let unknown = || {
        format!(
            "its element type `{}` is none that models use (bool, integers, f16, f32, f64, complex64, complex128)",
            short(descr)
        )
    };
    let order = descr.chars().next().filter(|c| "<>|=".contains(*c));
    let code = descr.trim_start_matches(['<', '>', '|', '=']);
    let element_type = match code {
        "b1" | "?" => ElementType::Bool,
        "i1" => ElementType::I8,
        "u1" => ElementType::U8,
        "i2" => ElementType::I16,
        "u2" => ElementType::U16,
        "i4" => ElementType::I32,
        "u4" => ElementType::U32,
        "i8" => ElementType::I64,
        "u8" => ElementType::U64,
        "f2" => ElementType::F16,
        "f4" => ElementType::F32,
        "f8" => ElementType::F64,
        "c8" => ElementType::C64,
        "c16" => ElementType::C128,
        "V2" => return Err(format!("{}; bf16 has no type in NumPy, store it as f32", unknown())),
        _ => return Err(unknown()),
    };
    match order {
        Some('>') => Ok((element_type, true)),
        Some('<') => Ok((element_type, false)),
        Some('=') => Ok((element_type, cfg!(target_endian = "big"))),
        // Single bytes have no order.
        _ if element_type.bytes() == 1 => Ok((element_type, cfg!(target_endian = "big"))),
        _ => Err(unknown()),
    }
}

/// What NumPy calls an element type.
fn descr(element_type: ElementType) -> Option<&'static str> {
    Some(match element_type {
        ElementType::Bool => "|b1",
        ElementType::I8 => "|i1",
        ElementType::U8 => "|u1",
        ElementType::I16 => "<i2",
        ElementType::U16 => "<u2",
        ElementType::I32 => "<i4",
        ElementType::U32 => "<u4",
        ElementType::I64 => "<i8",
        ElementType::U64 => "<u8",
        ElementType::F16 => "<f2",
        ElementType::F32 => "<f4",
        ElementType::F64 => "<f8",
        ElementType::C64 => "<c8",
        ElementType::C128 => "<c16",
        _ => return None,
    })
}

fn header(tensor: &Tensor) -> Result<Vec<u8>, String> {
    let element_type = tensor.element_type();
    let descr =
        descr(element_type).ok_or_else(|| format!("NumPy has no element type {element_type}; convert to f32 first"))?;
    let dims: Vec<String> = tensor.dims().iter().map(i64::to_string).collect();
    let shape = if let [dim] = &dims[..] { format!("({dim},)") } else { format!("({})", dims.join(", ")) };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let prefix = MAGIC.len() + 4;
    let total = (prefix + text.len() + 1).next_multiple_of(DATA_ALIGNMENT);
    text.extend(std::iter::repeat_n(' ', total - prefix - text.len() - 1));
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(|_| "its header is too long".to_owned())?;
    let mut bytes = Vec::with_capacity(total);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    Ok(bytes)
}

fn little_endian(tensor: &Tensor) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        return tensor.bytes().into();
    }
    let mut bytes = tensor.bytes().to_vec();
    swap_bytes(&mut bytes, tensor.element_type().word_bytes());
    bytes.into()
}

fn swap_bytes(bytes: &mut [u8], element: usize) {
    if element > 1 {
        bytes.chunks_exact_mut(element).for_each(<[u8]>::reverse);
    }
}

/// Reorders data whose *first* dim varies fastest.
fn to_row_major(columns: &Tensor) -> Result<Tensor> {
    let dims = columns.dims();
    let size = columns.element_type().bytes();
    let mut rows = Tensor::zeros(columns.element_type(), dims)?;
    let mut index = vec![0i64; dims.len()];
    let strides: Vec<usize> = dims
        .iter()
        .scan(1usize, |stride, &dim| {
            let this = *stride;
            *stride = stride.saturating_mul(dim as usize);
            Some(this)
        })
        .collect();
    let mut source = 0;
    for element in rows.bytes_mut().chunks_exact_mut(size) {
        element.copy_from_slice(&columns.bytes()[source * size..][..size]);
        // Next index in row-major order; `source` follows it.
        for axis in (0..dims.len()).rev() {
            index[axis] += 1;
            source += strides[axis];
            if index[axis] < dims[axis] {
                break;
            }
            source -= strides[axis] * dims[axis] as usize;
            index[axis] = 0;
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn reason(bytes: &[u8]) -> String {
        from_bytes("x.npy", bytes).unwrap_err().to_string()
    }

    #[test]
    fn writes_what_numpy_writes() {
        let tensor = Tensor::from_slice(&[3], &[1.0f32, 2.0, 3.0]).unwrap();
        let bytes = to_bytes(&tensor).unwrap();
        let header = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
        assert!(bytes.starts_with(header));
        assert_eq!(bytes.len(), 128 + 12);
        assert_eq!(bytes[127], b'\n');
        assert_eq!(&bytes[128..132], 1.0f32.to_le_bytes());
    }

    #[test]
    fn fortran_order_keeps_every_index() {
        // [[0, 1, 2], [3, 4, 5]], column by column.
        let data: Vec<u8> = [0i32, 3, 1, 4, 2, 5].iter().flat_map(|v| v.to_le_bytes()).collect();
        let tensor = from_bytes("x", &file("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3)}", &data)).unwrap();
        assert_eq!(tensor.dims(), [2, 3]);
        assert_eq!(tensor.as_slice::<i32>(), Some(&[0, 1, 2, 3, 4, 5][..]));
    }

    #[test]
    fn fortran_order_of_three_dims() {
        let (a, b, c) = (2i32, 3, 4);
        let mut data = Vec::new();
        for k in 0..c {
            for j in 0..b {
                for i in 0..a {
                    data.extend_from_slice(&((i * b + j) * c + k).to_le_bytes());
                }
            }
        }
        let tensor =
            from_bytes("x", &file("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 4), }", &data)).unwrap();
        assert_eq!(tensor.as_slice::<i32>().unwrap(), (0..a * b * c).collect::<Vec<i32>>());
    }

    #[test]
    fn big_endian_is_swapped() {
        let data: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|v| v.to_be_bytes()).collect();
        let tensor =
            from_bytes("x", &file("{\"descr\": '>f8', 'fortran_order': False, 'shape': (2L,), }", &data)).unwrap();
        assert_eq!(tensor.as_slice::<f64>(), Some(&[1.5, -2.0][..]));
    }

    #[test]
    fn bad_files_are_explained() {
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        assert!(reason(b"").contains("too short"));
        assert!(reason(b"PK\x03\x04....").contains("does not begin as one"));
        assert!(reason(&file(good, &[0; 7])).contains("has 8 bytes, but the file holds 7"));
        assert!(reason(&file(good, &[0; 9])).contains("has 8 bytes, but the file holds 9"));
        assert!(reason(&file("{'descr': '<f4'}", &[])).contains("no `fortran_order`"));
        assert!(reason(&file("{'descr': [('a', '<f4')]}", &[])).contains("records"));
        assert!(reason(&file("{'descr': '|V2', 'fortran_order': False, 'shape': ()}", &[0; 2])).contains("bf16"));
        assert!(reason(&file("{'descr': '|O', 'fortran_order': False, 'shape': ()}", &[0; 2])).contains("`|O`"));
        assert!(reason(&file("{'descr': 'f4', 'fortran_order': False, 'shape': ()}", &[0; 4])).contains("`f4`"));
        assert!(reason(&file("{'colour': 'f4'}", &[])).contains("`colour`"));
        assert!(reason(&file("{'shape': (-1,)}", &[])).contains("no dimension"));
        assert!(reason(&file("{'shape': (1,), 'shape': (1,)}", &[])).contains("`shape` twice"));
        let long =
            reason(&file(&format!("{{'descr': '{}', 'fortran_order': False, 'shape': ()}}", "f".repeat(60_000)), &[]));
        assert!(long.contains('…') && long.len() < 200, "{long}");
        let deep = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({})}}", "1, ".repeat(20_000));
        assert!(reason(&file(&deep, &[0; 4])).contains("rank 20000, above 64"));
        let huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }";
        assert!(reason(&file(huge, &[])).contains("no memory can hold"));
        assert!(reason(&file("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", &[2])).contains("boolean"));
    }

    #[test]
    fn bf16_is_not_written() {
        let tensor = Tensor::zeros(ElementType::BF16, &[2]).unwrap();
        assert!(to_bytes(&tensor).unwrap_err().to_string().contains("bf16"));
    }

    proptest! {
        #[test]
        fn round_trip(dims in prop::collection::vec(0i64..5, 0..4), which in 0usize..12, seed: u8) {
            let element = ElementType::ALL[which];
            prop_assume!(!element.is_byte_float());
            let mut tensor = Tensor::zeros(element, &dims).unwrap();
            let modulus = if element == ElementType::Bool { 2 } else { 251 };
            for (i, byte) in tensor.bytes_mut().iter_mut().enumerate() {
                *byte = (i as u8).wrapping_mul(31).wrapping_add(seed) % modulus;
            }
            let back = from_bytes("x", &to_bytes(&tensor).unwrap()).unwrap();
            prop_assert_eq!(back.dims(), tensor.dims());
            prop_assert_eq!(back.element_type(), element);
            prop_assert_eq!(back.bytes(), tensor.bytes());
        }

        #[test]
        fn damage_never_panics(at in 0usize..140, value: u8, cut in 0usize..141) {
            let tensor = Tensor::from_slice(&[3], &[1.0f32, 2.0, 3.0]).unwrap();
            let mut bytes = to_bytes(&tensor).unwrap();
            let cut = cut.min(bytes.len() - 1);
            prop_assert!(from_bytes("x", &bytes[..cut]).is_err());
            bytes[at] = value;
            // A shorter header with as many bytes behind it can be valid.
            let _ = from_bytes("x", &bytes);
            let _ = from_bytes("x", &bytes[..cut]);
        }
    }
}
