//! Writing files so that nobody ever sees half of one.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::{Error, Result};

/// Creates or replaces `path` with what `write` writes: into a temporary file beside it, renamed when complete. What is
/// there and no regular file, such as a device or a pipe, gets the bytes instead of being replaced.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let failed = |source| Error::Io { action: "write", path: path.to_owned(), source };
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return pour(path, write).map_err(failed);
    }
    // A link stays; what it leads to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut temporary = tempfile::Builder::new()
        .prefix(".sutura-")
        // As for any new file: the process's mask applies.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(failed)?;
    write(temporary.as_file_mut()).map_err(failed)?;
    temporary.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

fn pour(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut whole = tempfile::tempfile()?;
    write(&mut whole)?;
    whole.rewind()?;
    io::copy(&mut whole, &mut OpenOptions::new().write(true).open(path)?).map(drop)
}
