//! Reading files that are files, and writing them so that nobody ever sees half of one.

use std::fs::{self, File, FileType, Metadata, OpenOptions, Permissions};
use std::io::{self, Seek};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::error::{Error, Result};

/// Why a file cannot be read.
#[derive(Debug)]
pub(crate) enum Unopened {
    Io(io::Error),
    /// It is no regular file, but "a pipe" or the like.
    Other(&'static str),
}

impl From<io::Error> for Unopened {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Opens a regular file, and tells its size. What is no such file is not opened, because that may have effects (on a tape)
/// or wait for ever (for somebody who writes into a pipe).
pub(crate) fn open_regular(path: &Path) -> Result<(File, u64), Unopened> {
    regular(&fs::metadata(path)?)?;
    // In between something else may have got the name: opening does not wait, and it is looked at again.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let info = file.metadata()?;
    regular(&info)?;
    Ok((file, info.len()))
}

/// Why something that a library is to read is no regular file, and the library may wait for ever. What is not there is for
/// the library to tell.
pub(crate) fn not_regular(path: &Path) -> Option<String> {
    let Unopened::Other(is) = regular(&fs::metadata(path).ok()?).err()? else { return None };
    Some(format!("`{}` is {is}, not a file", path.display()))
}

fn regular(info: &Metadata) -> Result<(), Unopened> {
    let is = |test: fn(&FileType) -> bool| test(&info.file_type());
    Err(Unopened::Other(match () {
        () if info.is_file() => return Ok(()),
        () if info.is_dir() => "a folder",
        () if is(FileType::is_fifo) => "a pipe",
        () if is(FileType::is_socket) => "a socket",
        () if is(FileType::is_char_device) || is(FileType::is_block_device) => "a device",
        () => "something else",
    }))
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
