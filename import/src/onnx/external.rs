//! Tensor data kept in files beside the model.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Component, Path, PathBuf},
};

use bytes::Bytes;

use super::proto::StringStringEntryProto;

/// Reads tensors from files in the model's folder.
///
/// Only the file used last stays open: models have either one file for all
/// tensors or one for each.
pub(super) struct ExternalData<'a> {
    folder: Option<&'a Path>,
    open: Option<(String, File, u64)>,
}

/// Where a tensor's bytes are.
struct Location<'a> {
    path: &'a str,
    offset: u64,
    length: Option<u64>,
}

impl<'a> ExternalData<'a> {
    pub(super) fn new(folder: Option<&'a Path>) -> Self {
        Self { folder, open: None }
    }

    /// The `size` bytes that `entries` point to, or what is wrong.
    pub(super) fn read(&mut self, entries: &[StringStringEntryProto], size: u64) -> Result<Bytes, String> {
        let location = Location::parse(entries)?;
        if let Some(length) = location.length.filter(|&n| n != size) {
            return Err(format!("its shape takes {size} bytes but its external data are {length} bytes long"));
        }
        let path = location.path;
        let (file, file_size) = self.open(path)?;
        let end = location.offset.checked_add(size);
        if end.is_none_or(|end| end > file_size) {
            return Err(format!(
                "needs {size} bytes from byte {} of `{path}`, which has {file_size} bytes",
                location.offset
            ));
        }
        let mut data = Vec::new();
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

    fn open(&mut self, location: &str) -> Result<(&mut File, u64), String> {
        if self.open.as_ref().is_none_or(|(name, ..)| name != location) {
            let path = self.resolve(location)?;
            let cannot = |e| format!("cannot open external data `{location}`: {e}");
            let file = File::open(path).map_err(cannot)?;
            let meta = file.metadata().map_err(cannot)?;
            if !meta.is_file() {
                return Err(format!("external data `{location}` is not a regular file"));
            }
            self.open = Some((location.to_owned(), file, meta.len()));
        }
        let (_, file, size) = self.open.as_mut().expect("opened above");
        Ok((file, *size))
    }

    /// The path of `location`, which must stay below the model's folder. It is
    /// the model's text that is not trusted; links that the user's file system
    /// has in that folder are followed.
    fn resolve(&self, location: &str) -> Result<PathBuf, String> {
        let folder = self
            .folder
            .ok_or_else(|| format!("has external data in `{location}`, but the model was not read from a file"))?;
        let relative = Path::new(location);
        let plain = |c: Component| matches!(c, Component::Normal(_) | Component::CurDir);
        if location.is_empty() || !relative.components().all(plain) {
            return Err(format!(
                "external data location `{location}` is refused: it must be a path below the \
                 model's folder"
            ));
        }
        Ok(folder.join(relative))
    }
}

impl<'a> Location<'a> {
    fn parse(entries: &'a [StringStringEntryProto]) -> Result<Self, String> {
        let get = |key: &str| {
            let entry = entries.iter().find(|e| e.key() == key);
            entry.map(StringStringEntryProto::value)
        };
        let number = |key: &str| {
            get(key)
                .map(|text| {
                    let number = text.parse::<u64>().ok().filter(|_| !text.starts_with('+'));
                    number.ok_or_else(|| format!("external data {key} `{text}` is not a number"))
                })
                .transpose()
        };
        Ok(Self {
            path: get("location").ok_or("external data without a location")?,
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?,
        })
    }
}
