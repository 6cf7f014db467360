//! `.npz`: a zip file whose entries are `.npy` files, called as their arrays are with `.npy` behind.

use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use sutura_runtime::{ElementType, Tensor, npy};

use crate::error::{Problem, short};
use crate::zip::{self, Content, Entry, Writer};

/// What entries are called beyond the array's name.
const SUFFIX: &str = ".npy";

/// A file whose directory was read.
pub(crate) struct Npz<R> {
    file: R,
    entries: Vec<Entry>,
}

impl<R: Read + Seek> Npz<R> {
    /// No array may have more than `limit` bytes, if there is a limit.
    pub(crate) fn new(mut file: R, length: u64, limit: Option<u64>) -> Result<Self, Problem> {
        let entries = zip::entries(&mut file, length)?;
        for entry in &entries {
            if !entry.name.ends_with(SUFFIX) {
                return Err(format!("it holds `{}`, which is no array", short(&entry.name)).into());
            }
            if let Some(limit) = limit.filter(|limit| entry.size > *limit) {
                let name = array(&entry.name).to_owned();
                return Err(Problem::TooLarge { name, limit, size: entry.size });
            }
        }
        Ok(Self { file, entries })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.entries.iter().map(|entry| array(&entry.name).to_owned()).collect()
    }

    pub(crate) fn signature(&mut self, index: usize, path: &Path) -> Result<(ElementType, Vec<i64>), Problem> {
        self.stream(index, path, |name, content, size| npy::signature_from_reader(name, content, size), |_| Ok(()))
    }

    pub(crate) fn read(&mut self, index: usize, path: &Path) -> Result<Tensor, Problem> {
        self.stream(
            index,
            path,
            |name, content, size| npy::from_reader(name, content, size),
            |content| content.finish(),
        )
    }

    fn stream<T>(
        &mut self,
        index: usize,
        path: &Path,
        read: impl FnOnce(&Path, &mut Content<'_, R>, u64) -> sutura_runtime::Result<T>,
        finish: impl FnOnce(Content<'_, R>) -> Result<(), Problem>,
    ) -> Result<T, Problem> {
        let entry = &self.entries[index];
        let mut content = entry.open(&mut self.file)?;
        let name = PathBuf::from(format!("{}:{}", path.display(), short(array(&entry.name))));
        let read = read(&name, &mut content, entry.size);
        content.check_stream()?;
        let read = read?;
        finish(content)?;
        Ok(read)
    }
}

fn array(entry: &str) -> &str {
    entry.strip_suffix(SUFFIX).unwrap_or(entry)
}

/// Writes arrays, stored.
pub(crate) fn write(tensors: &[(&str, &Tensor)], out: &mut dyn Write) -> std::io::Result<()> {
    let mut writer = Writer::new(out);
    for (name, tensor) in tensors {
        let (head, data) = npy::parts(tensor).map_err(std::io::Error::other)?;
        writer.add(&format!("{name}{SUFFIX}"), &[&head, &data])?;
    }
    writer.finish()
}
