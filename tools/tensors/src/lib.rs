//! Tensors in files: `.npy`, `.npz`, `.safetensors`, and `.pb` with one `TensorProto` of ONNX.
//!
//! A file can hold anything. Everything that it says of sizes and places is compared with what is there before memory is
//! taken: a file that is not compressed makes no more than it has, and a compressed array no more than deflate can make of it.
//! Names in files are names of tensors and nothing else: none of them becomes a path.
//!
//! [`TensorFile`] reads, [`write()`] writes. Which format a file has is told by the end of its name ([`Format::of`]).
#![forbid(unsafe_code)]

mod error;
mod npz;
mod packed;
mod pb;
mod safetensors;
mod write;
mod zip;

use std::fmt;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use sutura_input::{InputError, PROTOBUF_LIMIT, regular, rest_of};
use sutura_runtime::{ElementType, Tensor, npy};

use error::Problem;
pub use error::{Error, Result};
pub use write::{check_writable, write};

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One array of NumPy, without a name.
    Npy,
    /// Arrays of NumPy with names, in a zip file.
    Npz,
    /// Tensors with names, behind a header in JSON.
    Safetensors,
    /// One `TensorProto` of ONNX, which may have a name.
    Pb,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Npy, Self::Npz, Self::Safetensors, Self::Pb];

    /// The format of a file, by the end of its name.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.name()[1..] == extension)
    }

    /// What such files' names end with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npy => ".npy",
            Self::Npz => ".npz",
            Self::Safetensors => ".safetensors",
            Self::Pb => ".pb",
        }
    }

    /// Whether such a file can hold several tensors.
    pub fn holds_many(self) -> bool {
        matches!(self, Self::Npz | Self::Safetensors)
    }
}

/// Where a file's bytes come from.
trait Bytes: Read + Seek + Send {}

impl<T: Read + Seek + Send> Bytes for T {}

type Source = Box<dyn Bytes>;

/// A file of tensors that is open.
pub struct TensorFile {
    path: PathBuf,
    format: Format,
    names: Vec<String>,
    content: Content,
}

enum Content {
    /// The file, and its length.
    Npy(Source, u64),
    Npz(npz::Npz<Source>),
    Safetensors(safetensors::Safetensors<Source>),
    /// What it holds, decoded.
    Pb(pb::Message),
}

impl TensorFile {
    /// Opens a regular file, of at most `limit` bytes if there is a limit, and reads what it holds but not the elements. What has
    /// no known ending is a `.npy` file.
    ///
    /// # Errors
    /// When it is not read, or breaks the rules of its format.
    pub fn open(path: &Path, limit: Option<u64>) -> Result<Self> {
        let unread = |source| Error::Read { path: path.to_owned(), source };
        let (file, meta) = regular(path).map_err(unread)?;
        if let Some(limit) = limit.filter(|limit| meta.len() > *limit) {
            return Err(unread(InputError::TooLarge { limit, size: Some(meta.len()) }));
        }
        match Format::of(path) {
            Some(Format::Pb) => {
                let bytes = rest_of(file, meta.len(), limit.unwrap_or(PROTOBUF_LIMIT)).map_err(unread)?;
                Self::from_bytes(path, bytes, limit)
            }
            _ => Self::new(path, Box::new(file), meta.len(), limit),
        }
    }

    /// As [`TensorFile::open`], of bytes that are the file; `path` stands for it in messages, and tells its format.
    ///
    /// # Errors
    /// When they break the rules of the format.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>, limit: Option<u64>) -> Result<Self> {
        if Format::of(path) != Some(Format::Pb) {
            let length = bytes.len() as u64;
            return Self::new(path, Box::new(Cursor::new(bytes)), length, limit);
        }
        let message = pb::Message::new(bytes).map_err(|problem| problem.of(path, Format::Pb.name()))?;
        let names = vec![message.name().to_owned()];
        Ok(Self { path: path.to_owned(), format: Format::Pb, names, content: Content::Pb(message) })
    }

    fn new(path: &Path, file: Source, length: u64, limit: Option<u64>) -> Result<Self> {
        let format = Format::of(path).unwrap_or(Format::Npy);
        let named = |problem: Problem| problem.of(path, format.name());
        let (names, content) = match format {
            Format::Npz => {
                let file = npz::Npz::new(file, length, limit).map_err(named)?;
                (file.names(), Content::Npz(file))
            }
            Format::Safetensors => {
                let file = safetensors::Safetensors::new(file, length).map_err(named)?;
                (file.names(), Content::Safetensors(file))
            }
            Format::Npy | Format::Pb => (vec![String::new()], Content::Npy(file, length)),
        };
        Ok(Self { path: path.to_owned(), format, names, content })
    }

    /// The format that it has.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The tensors' names, in the order of the file. That of a `.npy` file is empty, and that of a `.pb` file may be.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Which tensor is called `name`.
    ///
    /// # Errors
    /// When none is.
    pub fn find(&self, name: &str) -> Result<usize> {
        self.position(name).ok_or_else(|| {
            let close = self.names.iter().map(|has| (strsim::damerau_levenshtein(has, name), has));
            let close =
                close.filter(|(distance, has)| *distance <= has.chars().count().max(name.chars().count()) / 3).min();
            let suggestion = close.map(|(_, has)| has.clone());
            Error::NoTensor { path: self.path.clone(), name: name.to_owned(), suggestion, has: self.names.clone() }
        })
    }

    /// Which tensor is meant for a value called `name`: the only one, whatever it is called, or that of the name.
    ///
    /// # Errors
    /// When there are several of other names, or none.
    pub fn find_for(&self, name: &str) -> Result<usize> {
        match (self.names.len(), self.position(name)) {
            (_, Some(index)) => Ok(index),
            (1, None) => Ok(0),
            (0, None) => self.find(name),
            (_, None) => Err(Error::Several { path: self.path.clone(), has: self.names.clone() }),
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|has| has == name)
    }

    /// Type and dims of a tensor, without its elements.
    ///
    /// # Errors
    /// When it cannot be read, or has a type that tensors here have not.
    pub fn signature(&mut self, index: usize) -> Result<(ElementType, Vec<i64>)> {
        let read = match &mut self.content {
            Content::Npy(file, length) => {
                rewind(file).and_then(|mut file| Ok(npy::signature_from_reader(&self.path, &mut file, *length)?))
            }
            Content::Npz(npz) => npz.signature(index, &self.path),
            Content::Safetensors(file) => file.signature(index),
            Content::Pb(message) => message.signature(),
        };
        read.map_err(|problem| problem.of(&self.path, self.format.name()))
    }

    /// A tensor.
    ///
    /// # Errors
    /// As of [`TensorFile::signature`], and when its elements are damaged.
    pub fn read(&mut self, index: usize) -> Result<Tensor> {
        let read = match &mut self.content {
            Content::Npy(file, length) => {
                rewind(file).and_then(|mut file| Ok(npy::from_reader(&self.path, &mut file, *length)?))
            }
            Content::Npz(npz) => npz.read(index, &self.path),
            Content::Safetensors(file) => file.read(index),
            Content::Pb(message) => message.tensor(),
        };
        read.map_err(|problem| problem.of(&self.path, self.format.name()))
    }
}

impl fmt::Debug for TensorFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorFile").field("path", &self.path).field("names", &self.names).finish()
    }
}

/// The file from its beginning.
fn rewind(file: &mut Source) -> std::result::Result<BufReader<&mut Source>, Problem> {
    file.rewind()?;
    Ok(BufReader::new(file))
}

/// Refuses what is no boolean: code that computes with them counts on it.
fn check_booleans(tensor: &Tensor) -> std::result::Result<(), Problem> {
    match tensor.element_type() == ElementType::Bool && tensor.bytes().iter().any(|&b| b > 1) {
        true => Err("a boolean is neither 0 nor 1".into()),
        false => Ok(()),
    }
}

/// The bytes of elements in the machine's order, of little-endian ones; also the other way around.
fn little_endian(bytes: &mut [u8], element: usize) {
    if cfg!(target_endian = "big") && element > 1 {
        bytes.chunks_exact_mut(element).for_each(<[u8]>::reverse);
    }
}

#[cfg(test)]
mod tests;
