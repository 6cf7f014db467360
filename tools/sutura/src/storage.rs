//! What of a model lies in files instead of memory: its weights where they are read from, and those that the compiler makes.
//!
//! Weights are many gigabytes. The system reads the pages of a mapped file that are looked at, and drops them where memory is
//! needed, so a compilation needs memory for its own work and no more.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use sutura_ir::{LargeBlobs, Room};
use sutura_output::folder_of;
use sutura_runtime::mapping::{Mapping, Scratch};

use crate::input::hash;

/// The files that a model was read from, in memory.
#[derive(Clone, Default)]
pub(crate) struct ModelFiles {
    mapped: Arc<Mutex<Vec<Named>>>,
}

/// A file, by what messages call it.
struct Named {
    name: String,
    mapping: Arc<Mapping>,
    /// Once somebody has asked.
    hash: Option<String>,
}

/// A mapping that several hold.
struct Shared(Arc<Mapping>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl ModelFiles {
    /// Maps a file that is not empty and is called `name`.
    pub(crate) fn map(&self, file: File, name: &str) -> io::Result<Bytes> {
        let mapping = Arc::new(Mapping::new(file)?);
        let bytes = Bytes::from_owner(Shared(mapping.clone()));
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner).push(Named {
            name: name.to_owned(),
            mapping,
            hash: None,
        });
        Ok(bytes)
    }

    /// A file, by its number.
    pub(crate) fn nth(&self, number: usize) -> Option<Arc<Mapping>> {
        let mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.get(number).map(|file| file.mapping.clone())
    }

    /// The file that these bytes are a part of: its number, and where in it they are.
    pub(crate) fn find(&self, part: &[u8]) -> Option<(usize, u64, Arc<Mapping>)> {
        let mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.iter().enumerate().find_map(|(number, file)| {
            let (whole, part) = (file.mapping.bytes().as_ptr_range(), part.as_ptr_range());
            let inside = whole.start <= part.start && part.end <= whole.end;
            inside.then(|| (number, (part.start.addr() - whole.start.addr()) as u64, file.mapping.clone()))
        })
    }

    /// Hashes of the files beside the model's own, which is the first.
    pub(crate) fn hashes(&self) -> Vec<String> {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = |file: &mut Named| file.hash.get_or_insert_with(|| hash(file.mapping.bytes())).clone();
        mapped.iter_mut().skip(1).map(hash).collect()
    }

    /// Whether all files are as they were when they were mapped.
    ///
    /// # Errors
    /// Which is not, and what happened to it.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = |Named { name, mapping, .. }: &Named| {
            mapping.check().err().map(|what| format!("`{name}` changed while it was compiled: {what}"))
        };
        mapped.iter().find_map(changed).map_or(Ok(()), Err)
    }
}

/// A store that keeps large constants in a file of its own each, without a name, beside `output` or in the folder for temporary
/// files. Where there is no place, memory keeps them.
pub(crate) fn beside(output: Option<&Path>) -> LargeBlobs {
    let folder = output.map_or_else(std::env::temp_dir, |output| PathBuf::from(folder_of(output)));
    Box::new(move |bytes| Some(Box::new(Nameless(Scratch::new(&folder, bytes).ok()?))))
}

/// A large constant that is being made, in a file of its own.
struct Nameless(Scratch);

impl AsMut<[u8]> for Nameless {
    fn as_mut(&mut self) -> &mut [u8] {
        self.0.as_mut()
    }
}

impl Room for Nameless {
    fn keep(self: Box<Self>) -> Bytes {
        Bytes::from_owner(self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_that_changes_is_named() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&[1, 2, 3]).expect("written");
        let files = ModelFiles::default();
        let bytes = files.map(file.reopen().expect("opened"), "weights.bin").expect("mapped");
        assert_eq!((&bytes[..], files.check()), (&[1, 2, 3][..], Ok(())));
        file.as_file().set_len(1).expect("cut");
        let message = files.check().expect_err("it was cut");
        assert!(message.starts_with("`weights.bin` changed while it was compiled: it had 3 bytes"), "{message}");
    }

    #[test]
    fn large_constants_lie_in_files_and_small_ones_in_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = beside(Some(&folder.path().join("model.sutura")));
        let mut room = store(1 << 20).expect("there is place");
        (*room).as_mut().fill(7);
        assert!(room.keep() == vec![7; 1 << 20]);
        // It has no name.
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
        let nowhere = beside(Some(Path::new("/no/such/folder/model.sutura")));
        assert!(nowhere(1 << 20).is_none());
        // More than any disk has.
        assert!(store(1 << 60).is_none());
    }
}
