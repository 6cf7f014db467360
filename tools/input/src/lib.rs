//! What tools and the importer are given to read: opened without waiting, of the kind that is wanted, and never more of it
//! than a limit.
//!
//! A *model* or an artifact is a regular file: [`regular`] opens it, and refuses pipes, devices and folders at once, by what
//! was opened and not by what the name meant before. A *text* may also come from stdin or from a pipe that is named
//! ([`text`], [`text_of`]): it is read up to the limit, and its first NUL byte ends the reading, so that neither an endless
//! pipe nor `/dev/zero` fills the memory.
#![forbid(unsafe_code)]

mod error;
mod size;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, fstatfs};

pub use error::{InputError, Kind};
pub use size::{in_words, parse_number, parse_size, whole_number};

/// Bytes of a text, if nothing else is said.
pub const TEXT_LIMIT: u64 = 512 << 20;

/// Bytes of a protobuf, if nothing else is said: what the format can hold.
pub const PROTOBUF_LIMIT: u64 = 2 << 30;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// How long something may take to begin to write into a named pipe that is to be read.
const WRITER_COMES: Duration = Duration::from_secs(2);

/// What `statfs` calls the file system of pipes without names: `PIPEFS_MAGIC` of Linux.
const PIPES: u64 = 0x5049_5045;

/// The most that is read of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of a text.
    pub text: u64,
    /// Of an ONNX model.
    pub protobuf: u64,
    /// Of each file with external data of such a model: weights of many gigabytes are usual.
    pub data: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text: TEXT_LIMIT, protobuf: PROTOBUF_LIMIT, data: u64::MAX }
    }
}

impl Limits {
    /// What `--max-input` says: the same for all kinds.
    pub fn all(bytes: u64) -> Self {
        Self { text: bytes, protobuf: bytes, data: bytes }
    }
}

/// Opens a regular file. Anything else is refused without waiting: opening a pipe would wait for who writes to it.
///
/// # Errors
/// When it cannot be opened, or is something else.
pub fn regular(path: &Path) -> Result<(File, Metadata), InputError> {
    let (file, meta) = open(path)?;
    match Kind::of(&meta) {
        Kind::File => Ok((file, meta)),
        kind => Err(InputError::NotAFile { kind }),
    }
}

/// All bytes of a regular file.
///
/// # Errors
/// As of [`regular`], and when it has more than `limit` bytes.
pub fn regular_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, InputError> {
    let (file, meta) = regular(path)?;
    rest_of(file, meta.len(), limit)
}

/// All bytes of a file that [`regular`] opened, and which then had `len` bytes.
///
/// # Errors
/// When it has more than `limit` bytes, or cannot be read.
pub fn rest_of(file: File, len: u64, limit: u64) -> Result<Vec<u8>, InputError> {
    if len > limit {
        return Err(InputError::TooLarge { limit, size: Some(len) });
    }
    let mut bytes = with_room(len)?;
    // It may grow while it is read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(InputError::TooLarge { limit, size: None }) } else { Ok(bytes) }
}

/// The bytes of a text: a regular file, a pipe or a character device such as `/dev/stdin`.
///
/// # Errors
/// When it cannot be opened or read, has more than `limit` bytes, or a NUL byte; when it is a folder, a socket or a disk; and
/// when it is a named pipe that nothing writes to.
pub fn text(path: &Path, limit: u64) -> Result<Vec<u8>, InputError> {
    stream(path, limit, Bytes::Text)
}

/// As [`text`], of what may also have NUL bytes, unless it comes from a device.
///
/// # Errors
/// As of [`text`], but for NUL bytes.
pub fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, InputError> {
    stream(path, limit, Bytes::Any)
}

/// What a stream may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bytes {
    Text,
    Any,
}

fn stream(path: &Path, limit: u64, what: Bytes) -> Result<Vec<u8>, InputError> {
    let (file, meta) = open(path)?;
    match Kind::of(&meta) {
        Kind::File if meta.len() > limit => Err(InputError::TooLarge { limit, size: Some(meta.len()) }),
        Kind::File => read_stream(file, with_room(meta.len())?, limit, what),
        Kind::Pipe => {
            let begin = if is_unnamed(&file) { Vec::new() } else { await_writer(&file)? };
            // From here on reading waits, as it does for stdin.
            let flags = fcntl_getfl(&file).map_err(io::Error::from)?;
            fcntl_setfl(&file, flags - OFlags::NONBLOCK).map_err(io::Error::from)?;
            read_stream(begin.as_slice().chain(file), Vec::new(), limit, what)
        }
        Kind::CharDevice => {
            let flags = fcntl_getfl(&file).map_err(io::Error::from)?;
            fcntl_setfl(&file, flags - OFlags::NONBLOCK).map_err(io::Error::from)?;
            // `/dev/zero` is no input of anything.
            read_stream(file, Vec::new(), limit, Bytes::Text)
        }
        kind => Err(InputError::NotAText { kind }),
    }
}

/// The bytes of a text from a stream, such as stdin.
///
/// # Errors
/// When it cannot be read, has more than `limit` bytes, or a NUL byte.
pub fn text_of(stream: impl Read, limit: u64) -> Result<Vec<u8>, InputError> {
    read_stream(stream, Vec::new(), limit, Bytes::Text)
}

/// As [`text_of`], of what may also have NUL bytes.
///
/// # Errors
/// As of [`text_of`], but for NUL bytes.
pub fn bytes_of(stream: impl Read, limit: u64) -> Result<Vec<u8>, InputError> {
    read_stream(stream, Vec::new(), limit, Bytes::Any)
}

/// Bytes as text; the error says where they are none.
///
/// # Errors
/// When they are not UTF-8.
pub fn utf8(bytes: Vec<u8>) -> Result<String, InputError> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        InputError::NotUtf8 { offset, line: line_of(error.as_bytes(), offset) }
    })
}

/// Refuses a text with a NUL byte, which no text has.
///
/// # Errors
/// When there is one.
pub fn without_nul(bytes: &[u8]) -> Result<(), InputError> {
    match memchr::memchr(0, bytes) {
        Some(offset) => Err(InputError::Nul { offset, line: line_of(bytes, offset) }),
        None => Ok(()),
    }
}

fn open(path: &Path) -> Result<(File, Metadata), InputError> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| refused(path, error))?;
    let meta = file.metadata()?;
    Ok((file, meta))
}

/// Sockets, and devices without a driver, cannot even be opened; the system's words for it say little.
fn refused(path: &Path, error: io::Error) -> InputError {
    let kind = path.metadata().map_or(Kind::File, |meta| Kind::of(&meta));
    match kind {
        Kind::File | Kind::Pipe | Kind::CharDevice => InputError::Io(error),
        kind => InputError::NotAFile { kind },
    }
}

/// Reads in pieces, so that a NUL byte or too many bytes end it at once.
fn read_stream(mut stream: impl Read, mut bytes: Vec<u8>, limit: u64, what: Bytes) -> Result<Vec<u8>, InputError> {
    let mut lines = 0;
    loop {
        let start = bytes.len();
        let left = limit.saturating_sub(start as u64).saturating_add(1).min(CHUNK as u64);
        if bytes.capacity() - start < CHUNK {
            bytes.try_reserve(CHUNK).map_err(|_| InputError::NoMemory { size: (start + CHUNK) as u64 })?;
        }
        let read = (&mut stream).take(left).read_to_end(&mut bytes)?;
        let new = &bytes[start..];
        if what == Bytes::Text
            && let Some(at) = memchr::memchr(0, new)
        {
            let line = lines + line_of(new, at);
            return Err(InputError::Nul { offset: start + at, line });
        }
        if bytes.len() as u64 > limit {
            return Err(InputError::TooLarge { limit, size: None });
        }
        if read == 0 {
            return Ok(bytes);
        }
        lines += memchr::memchr_iter(b'\n', new).count();
    }
}

fn line_of(bytes: &[u8], offset: usize) -> usize {
    memchr::memchr_iter(b'\n', &bytes[..offset]).count() + 1
}

fn with_room(len: u64) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    let room = usize::try_from(len).ok().and_then(|len| len.checked_add(1));
    let reserved = room.and_then(|room| bytes.try_reserve_exact(room).ok());
    reserved.map(|()| bytes).ok_or(InputError::NoMemory { size: len })
}

/// Pipes that a shell or a program made have no name: their other end is there from the beginning, or gone for ever.
fn is_unnamed(file: &File) -> bool {
    fstatfs(file).is_ok_and(|system| system.f_type as u64 == PIPES)
}

/// The first byte of a named pipe, or none where its writer has written nothing yet; a pipe that has no writer for some time
/// is refused.
fn await_writer(file: &File) -> Result<Vec<u8>, InputError> {
    let mut byte = [0];
    let start = Instant::now();
    loop {
        match (&*file).read(&mut byte) {
            Ok(0) if start.elapsed() > WRITER_COMES => return Err(InputError::NoWriter),
            // No writer yet.
            Ok(0) => sleep(Duration::from_millis(5)),
            Ok(_) => return Ok(byte.to_vec()),
            // One that has not written.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Vec::new()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

impl Kind {
    /// What a name or an open file stands for.
    pub fn of(meta: &Metadata) -> Self {
        let kind = meta.file_type();
        match () {
            () if kind.is_file() => Self::File,
            () if kind.is_dir() => Self::Folder,
            () if kind.is_fifo() => Self::Pipe,
            () if kind.is_char_device() => Self::CharDevice,
            () if kind.is_block_device() => Self::BlockDevice,
            () => Self::Socket,
        }
    }
}
