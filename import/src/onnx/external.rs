//! Tensor data kept in files beside the model.
//!
//! It is the model's text that is not trusted: whatever a location says, and whatever links lead to, the file that was opened
//! must lie in one of a few folders. That is asked of the open file, so that nothing can be exchanged after the question.

use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::fd::AsRawFd,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use rustc_hash::FxHashMap;
use sutura_input::{InputError, regular, whole_number};

use super::{error::OnnxError, proto::StringStringEntryProto};

/// Data of a file may be read this often: tensors that overlap multiply the memory that they need.
const MOST_OVERLAP: u64 = 2;

/// Puts a file with a name into memory without copying it. It keeps the file as long as something of the bytes is in use.
pub type MapFile = Arc<dyn Fn(File, &str) -> io::Result<Bytes> + Send + Sync>;

/// Where a model was read from, which says where its data may be.
///
/// Locations are relative to the folder of the model's path, then to the folder of the file that this path leads to: caches of
/// model hubs link models and data from a folder of names to a folder of contents. Data must lie below one of these two, or
/// below a folder that the user allows.
#[derive(Clone)]
pub struct Origin {
    /// In the order in which they are searched.
    folders: Vec<PathBuf>,
    /// Without links.
    roots: Vec<PathBuf>,
    /// Whether the user named folders: then locations may lead out of the model's.
    is_open: bool,
    /// Bytes of a file at most.
    limit: u64,
    /// How data are had without reading them; otherwise each tensor is read.
    map: Option<MapFile>,
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").field("folders", &self.folders).field("roots", &self.roots).finish_non_exhaustive()
    }
}

impl Origin {
    /// The origin of the model in `path`, whose data may also lie below the folders `allowed`.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn new(path: &Path, allowed: &[PathBuf]) -> Result<Self, OnnxError> {
        let real = |path: &Path| {
            path.canonicalize().map_err(|source| OnnxError::Read { path: path.to_owned(), source: source.into() })
        };
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let target = real(path)?.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
        let mut roots = vec![real(folder)?, target.clone()];
        for folder in allowed {
            let root = real(folder)?;
            if !root.is_dir() {
                let source = io::Error::from(io::ErrorKind::NotADirectory).into();
                return Err(OnnxError::Read { path: folder.clone(), source });
            }
            roots.push(root);
        }
        let folders = if target == roots[0] { vec![folder.to_owned()] } else { vec![folder.to_owned(), target] };
        Ok(Self { folders, roots, is_open: !allowed.is_empty(), limit: u64::MAX, map: None })
    }

    /// The same origin; files with more bytes than the limit are not read.
    #[must_use]
    pub fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// The same origin; tensors are parts of files in memory, and no copies of them.
    #[must_use]
    pub fn mapping(self, map: MapFile) -> Self {
        Self { map: Some(map), ..self }
    }

    fn open(&self, location: &str) -> Result<(File, u64), Unread> {
        let (file, len) = self.found(location)?;
        if len <= self.limit {
            return Ok((file, len));
        }
        let path = real_path(&file).unwrap_or_else(|_| location.into());
        Err(Unread::TooLarge { path, source: InputError::TooLarge { limit: self.limit, size: Some(len) } })
    }

    fn found(&self, location: &str) -> Result<(File, u64), String> {
        let refused = |why: &str| format!("external data location `{}` is refused: {why}", location.escape_debug());
        if location.is_empty() {
            return Err(refused("it is empty"));
        }
        if location.contains('\0') {
            return Err(refused("it holds a NUL character"));
        }
        let relative = Path::new(location);
        if relative.is_absolute() {
            return Err(refused("it is absolute, and must be a path below the model's folder"));
        }
        let leaves = relative.components().any(|c| matches!(c, Component::ParentDir));
        if leaves && !self.is_open {
            return Err(refused(
                "it must be a path below the model's folder; `--allow-data-from DIR` allows data in another one",
            ));
        }
        let (file, len) = self.find(relative).map_err(|error| match error {
            InputError::NotAFile { kind } => format!("external data `{location}` is {kind}, not a file"),
            error => format!("cannot open external data `{location}`: {error}"),
        })?;
        let path = real_path(&file).map_err(|error| format!("cannot tell where `{location}` is: {error}"))?;
        if !self.roots.iter().any(|root| path.starts_with(root)) {
            let path = path.display();
            return Err(refused(&format!(
                "it leads to `{path}`, outside the model's folder; `--allow-data-from DIR` allows data in another one"
            )));
        }
        Ok((file, len))
    }

    fn find(&self, relative: &Path) -> Result<(File, u64), InputError> {
        let mut folders = self.folders.iter();
        loop {
            // There is always one.
            let folder = folders.next().map_or(Path::new("."), PathBuf::as_path);
            match regular(&folder.join(relative)) {
                Err(InputError::Io(error)) if error.kind() == io::ErrorKind::NotFound && folders.len() > 0 => {}
                opened => return opened.map(|(file, meta)| (file, meta.len())),
            }
        }
    }
}

/// Why data are not read.
enum Unread {
    /// What is wrong with the model.
    Wrong(String),
    /// The model may be right.
    TooLarge { path: PathBuf, source: InputError },
}

impl From<String> for Unread {
    fn from(what: String) -> Self {
        Self::Wrong(what)
    }
}

/// Where an open file is, without links: what the system knows, not what a name meant.
fn real_path(file: &File) -> io::Result<PathBuf> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    // Of a file that was removed the system gives a name that is none.
    if path.exists() { Ok(path) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Reads tensors from files.
///
/// Only the file used last stays open: models have either one file for all
/// tensors or one for each.
pub(super) struct ExternalData<'a> {
    origin: Option<&'a Origin>,
    open: Option<Open>,
    /// What was read, by location, offset and size: tensors with the same data share it.
    read: FxHashMap<(String, u64, u64), Bytes>,
    /// Bytes read by location.
    total: FxHashMap<String, u64>,
    /// The first file that is too large.
    too_large: Option<OnnxError>,
}

struct Open {
    location: String,
    data: Data,
    size: u64,
}

/// What is read of a file.
enum Data {
    /// All of it, in memory.
    Mapped(Bytes),
    /// What is asked for.
    File(File),
}

/// Where a tensor's bytes are.
struct Location<'a> {
    path: &'a str,
    offset: u64,
    length: Option<u64>,
}

impl<'a> ExternalData<'a> {
    pub(super) fn new(origin: Option<&'a Origin>) -> Self {
        Self { origin, open: None, read: FxHashMap::default(), total: FxHashMap::default(), too_large: None }
    }

    /// The error for the first file that was too large. What was reported about the model is then of no use.
    pub(super) fn too_large(&mut self) -> Option<OnnxError> {
        self.too_large.take()
    }

    /// The `size` bytes that `entries` point to, or what is wrong.
    pub(super) fn read(&mut self, entries: &[StringStringEntryProto], size: u64) -> Result<Bytes, String> {
        let location = Location::parse(entries)?;
        if let Some(length) = location.length.filter(|&n| n != size) {
            return Err(format!("its shape takes {size} bytes but its external data are {length} bytes long"));
        }
        let key = (location.path.to_owned(), location.offset, size);
        if let Some(bytes) = self.read.get(&key) {
            return Ok(bytes.clone());
        }
        let bytes = self.read_at(&location, size)?;
        self.read.insert(key, bytes.clone());
        Ok(bytes)
    }

    fn read_at(&mut self, location: &Location<'_>, size: u64) -> Result<Bytes, String> {
        let path = location.path;
        let file_size = self.open(path)?.size;
        let end = location.offset.checked_add(size);
        if end.is_none_or(|end| end > file_size) {
            return Err(format!(
                "needs {size} bytes from byte {} of `{path}`, which has {file_size} bytes",
                location.offset
            ));
        }
        let total = self.total.entry(path.to_owned()).or_default();
        *total = total.saturating_add(size);
        if *total > file_size.saturating_mul(MOST_OVERLAP) {
            return Err(format!(
                "tensors in `{path}` overlap: together they have more than {MOST_OVERLAP} times its size"
            ));
        }
        match &mut self.open(path)?.data {
            // Both ends lie in the file.
            Data::Mapped(bytes) => Ok(bytes.slice(location.offset as usize..(location.offset + size) as usize)),
            Data::File(file) => read_part(file, location, size),
        }
    }

    fn open(&mut self, location: &str) -> Result<&mut Open, String> {
        if self.open.as_ref().is_none_or(|open| open.location != location) {
            let origin = self
                .origin
                .ok_or_else(|| format!("has external data in `{location}`, but the model was not read from a file"))?;
            let (file, size) = origin.open(location).map_err(|unread| match unread {
                Unread::Wrong(what) => what,
                Unread::TooLarge { path, source } => {
                    let message = format!("external data `{location}`: {source}");
                    self.too_large.get_or_insert(OnnxError::Read { path, source });
                    message
                }
            })?;
            let data = match &origin.map {
                // What is empty cannot be mapped.
                Some(map) if size > 0 => {
                    let mapped = map(file, location).map_err(|e| format!("cannot map `{location}`: {e}"))?;
                    if (mapped.len() as u64) < size {
                        return Err(format!("`{location}` became shorter while it was read"));
                    }
                    Data::Mapped(mapped)
                }
                _ => Data::File(file),
            };
            self.open = Some(Open { location: location.to_owned(), data, size });
        }
        Ok(self.open.as_mut().expect("opened above"))
    }
}

/// Reads `size` bytes of a file.
fn read_part(file: &mut File, location: &Location<'_>, size: u64) -> Result<Bytes, String> {
    let (path, mut data) = (location.path, Vec::new());
    usize::try_from(size)
        .ok()
        .and_then(|size| data.try_reserve_exact(size).ok())
        .ok_or_else(|| format!("{size} bytes do not fit in memory"))?;
    file.seek(SeekFrom::Start(location.offset))
        .and_then(|_| file.take(size).read_to_end(&mut data))
        .map_err(|e| format!("cannot read `{path}`: {e}"))?;
    if data.len() as u64 != size {
        return Err(format!("`{path}` became shorter while it was read"));
    }
    Ok(data.into())
}

impl<'a> Location<'a> {
    fn parse(entries: &'a [StringStringEntryProto]) -> Result<Self, String> {
        let get = |key: &str| {
            let mut found = entries.iter().filter(|e| e.key() == key).map(StringStringEntryProto::value);
            match (found.next(), found.next()) {
                (Some(_), Some(_)) => Err(format!("gives the {key} of its external data twice")),
                (value, _) => Ok(value),
            }
        };
        let number = |key: &str| {
            let wrong = |text: &str| format!("external data {key} `{text}` is not a number of bytes");
            let parsed = |text: &str| whole_number::<u64>(text).ok_or_else(|| wrong(text));
            get(key)?.map(parsed).transpose()
        };
        Ok(Self {
            path: get("location")?.ok_or("external data without a location")?,
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?,
        })
    }
}
