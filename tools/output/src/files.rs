//! Files that appear when they are complete, and those that are gone in the end.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::interrupt::{Leftover, uninterrupted};

/// The folder in which a temporary file can be renamed to `path`.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A file that is there under its name when it is committed, and leaves nothing otherwise.
#[derive(Debug)]
pub struct Pending {
    path: PathBuf,
    temporary: TemporaryFile,
}

impl Pending {
    /// Begins a file for `path`. What is there is replaced; of a link what it leads to.
    ///
    /// # Errors
    /// When the folder of `path` cannot be written to.
    pub fn new(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut builder = tempfile::Builder::new();
        // As for any new file: the process's mask applies.
        builder.prefix(".sutura-").permissions(Permissions::from_mode(0o666));
        let temporary = TemporaryFile::of(|| builder.tempfile_in(folder_of(&path)))?;
        Ok(Self { path, temporary })
    }

    /// Gives the file other permissions than a new one has.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.temporary.file.as_file().set_permissions(permissions)
    }

    /// What it will be called.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, to be written in another way than by [`Write`].
    #[must_use]
    pub fn file(&self) -> &File {
        self.temporary.file.as_file()
    }

    /// Puts the file into its place.
    ///
    /// # Errors
    /// When the system refuses; what was there is as it was.
    pub fn commit(self) -> io::Result<()> {
        let TemporaryFile { file, leftover } = self.temporary;
        let _guard = uninterrupted();
        let done = file.persist(&self.path);
        drop(leftover);
        done.map(drop).map_err(|e| e.error)
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

/// A file that is gone when this is dropped, and after an interrupt.
#[derive(Debug)]
pub struct TemporaryFile {
    // In this order: only when it is gone does an interrupt not have to remove it any more.
    file: NamedTempFile,
    leftover: Leftover,
}

impl TemporaryFile {
    /// Makes one in the folder for temporary files.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new(prefix: &str, suffix: &str) -> io::Result<Self> {
        Self::of(|| tempfile::Builder::new().prefix(prefix).suffix(suffix).tempfile())
    }

    fn of(make: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<Self> {
        let _guard = uninterrupted();
        let file = make()?;
        let leftover = Leftover::new(file.path());
        Ok(Self { file, leftover })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.leftover.path()
    }
}

impl Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A folder that is gone when this is dropped, and after an interrupt.
#[derive(Debug)]
pub struct TemporaryFolder {
    // In this order, as for a file.
    _folder: TempDir,
    leftover: Leftover,
}

impl TemporaryFolder {
    /// Makes one in the folder for temporary files.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new() -> io::Result<Self> {
        let _guard = uninterrupted();
        let folder = tempfile::Builder::new().prefix("sutura-").tempdir()?;
        let leftover = Leftover::new(folder.path());
        Ok(Self { _folder: folder, leftover })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.leftover.path()
    }
}

/// Creates or replaces `path` with `bytes`. A device or a pipe gets the bytes instead of being replaced.
///
/// # Errors
/// When the system refuses; what was there is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut pending = Pending::new(path)?;
    pending.write_all(bytes)?;
    pending.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_when_it_is_committed_and_leaves_nothing_otherwise() {
        let folder = TemporaryFolder::new().unwrap();
        let path = folder.path().join("a");
        let mut pending = Pending::new(&path).unwrap();
        pending.write_all(b"half").unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        assert!(!path.exists());
        drop(pending);
        assert!(names(folder.path()).is_empty());
        replace(&path, b"whole").unwrap();
        assert_eq!(names(folder.path()), ["a"]);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert!(replace(&folder.path().join("none/a"), b"x").is_err());
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let folder = TemporaryFolder::new().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn what_is_temporary_is_gone() {
        let (folder, file) = (TemporaryFolder::new().unwrap(), TemporaryFile::new("a-", ".b").unwrap());
        let paths = [folder.path().to_owned(), file.path().to_owned()];
        assert!(paths[0].is_dir() && paths[1].is_file());
        drop((folder, file));
        assert!(!paths[0].exists() && !paths[1].exists());
    }
}
