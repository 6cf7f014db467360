//! Writing files so that nobody ever sees half of one, also when the user interrupts.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

use crate::failure::{Failure, Kind};

/// Held while files are written: an interrupt waits for it.
static WRITING: Mutex<()> = Mutex::new(());

/// Folders that an interrupt removes.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What a process that is ended by an interrupt returns to its shell.
const INTERRUPTED: i32 = 130;

/// While this is held an interrupt waits: temporary files have been removed or renamed when it is let go.
pub(crate) fn uninterrupted() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on an interrupt ends the process only when no file is being written.
pub(crate) fn remove_nothing_half_written() {
    // Without a handler an interrupt just ends the process, which is no reason not to go on.
    let _ = ctrlc::set_handler(|| {
        let _guard = uninterrupted();
        for folder in temporary().drain(..) {
            // One that cannot be removed is left to whoever cleans up the folder of temporary files.
            let _ = fs::remove_dir_all(folder);
        }
        std::process::exit(INTERRUPTED);
    });
}

fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder that is gone when this is dropped, and after an interrupt.
pub(crate) struct TemporaryFolder {
    path: PathBuf,
    /// Gone when this is dropped.
    folder: Option<TempDir>,
}

impl TemporaryFolder {
    pub(crate) fn new() -> Result<Self, Failure> {
        let _guard = uninterrupted();
        let failed = |e: io::Error| Failure::new(Kind::System, format!("cannot use a temporary folder: {e}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().to_owned();
        temporary().push(path.clone());
        Ok(Self { path, folder: Some(folder) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Only when it is gone does an interrupt not have to remove it any more.
        drop(self.folder.take());
        temporary().retain(|folder| *folder != self.path);
    }
}

/// Creates or replaces `path` with `bytes`; `-` is stdout.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        let mut out = io::stdout().lock();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        return written.map_err(|e| Failure::new(Kind::System, format!("cannot write to stdout: {e}")));
    }
    let _guard = uninterrupted();
    replace(path, bytes).map_err(|e| Failure::io("write", path, &e))
}

/// Fails now where a file could not be written later.
pub(crate) fn writable(path: &Path) -> Result<(), Failure> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(Failure::new(Kind::System, format!("there is no folder `{}` to write to", folder.display())));
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(Failure::new(Kind::System, format!("`{}` is a folder", path.display())));
        }
        // A device or a pipe is written to as it is.
        Ok(found) if !found.is_file() => return Ok(()),
        _ => {}
    }
    let _guard = uninterrupted();
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let temporary = tempfile::Builder::new().prefix(".sutura-").tempfile_in(folder_of(&target));
    temporary.map(drop).map_err(|e| Failure::io("write", path, &e))
}

/// The folder in which a temporary file can be renamed to `path`.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A device or a pipe gets the bytes instead of being replaced.
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    // A link stays; what it leads to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut temporary = tempfile::Builder::new()
        .prefix(".sutura-")
        // As for any new file: the process's mask applies.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(path))?;
    temporary.write_all(bytes)?;
    temporary.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Keeps other processes that ask for it from writing to `path`, until the file that is returned is closed. What is locked is
/// its folder: the file itself may not exist yet, and is replaced.
pub(crate) fn lock(path: &Path) -> Result<fs::File, Failure> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder_of(&target);
    let lock = fs::File::open(folder).and_then(|file| file.lock().map(|()| file));
    lock.map_err(|e| Failure::io("lock", folder, &e))
}

/// Writes a line to stdout.
pub(crate) fn say(line: &str) -> Result<(), Failure> {
    let path = Path::new("-");
    let mut text = line.to_owned();
    text.push('\n');
    write(path, text.as_bytes())
}
