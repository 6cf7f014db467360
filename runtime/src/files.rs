//! Opening files without waiting, and writing them so that nobody ever sees half of one.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Seek};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::error::{Error, Result};

/// Opens what is to be read. Opening a pipe would wait for who writes to it, and so may some devices: this does not.
pub(crate) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let meta = file.metadata()?;
    Ok((file, meta))
}

/// What is no regular file, in words.
pub(crate) fn kind(meta: &Metadata) -> &'static str {
    let kind = meta.file_type();
    match () {
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

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
