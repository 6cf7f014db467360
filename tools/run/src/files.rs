//! Writing files so that nobody ever sees half of one, also when the user interrupts: `sutura-output`, with this tool's failures.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use sutura_ir::diagnostics::Exit;
pub use sutura_output::uninterrupted;
use sutura_output::{Pending, folder_of, replace};

use crate::failure::{Failure, Kind};

/// From here on an interrupt ends the process only when no file is being written.
pub fn remove_nothing_half_written() {
    sutura_output::end_cleanly(Exit::Interrupted.code());
}

/// A folder that is gone when this is dropped, and after an interrupt.
pub struct TemporaryFolder(sutura_output::TemporaryFolder);

impl TemporaryFolder {
    pub fn new() -> Result<Self, Failure> {
        let failed = |e: io::Error| Failure::new(Kind::System, format!("cannot use a temporary folder: {e}"));
        sutura_output::TemporaryFolder::new().map(Self).map_err(failed)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Creates or replaces `path` with `bytes`; `-` is stdout.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        let mut out = io::stdout().lock();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        return written.map_err(|e| Failure::new(Kind::System, format!("cannot write to stdout: {e}")));
    }
    replace(path, bytes).map_err(|e| Failure::io("write", path, &e))
}

/// The same with bytes that `fill` writes one after the other. A device or a pipe gets them as they come.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        let mut out = io::stdout().lock();
        let written = fill(&mut out).and_then(|()| out.flush());
        return written.map_err(|e| Failure::new(Kind::System, format!("cannot write to stdout: {e}")));
    }
    let write = || {
        if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return fill(&mut fs::OpenOptions::new().write(true).open(path)?);
        }
        let mut pending = Pending::new(path)?;
        fill(&mut pending).and_then(|()| pending.flush())?;
        pending.commit()
    };
    write().map_err(|e| Failure::io("write", path, &e))
}

/// Fails now where a file could not be written later.
pub fn writable(path: &Path) -> Result<(), Failure> {
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
    Pending::new(path).map(drop).map_err(|e| Failure::io("write", path, &e))
}

/// Keeps other processes that ask for it from writing to `path`, until the file that is returned is closed. What is locked is
/// its folder: the file itself may not exist yet, and is replaced.
pub fn lock(path: &Path) -> Result<fs::File, Failure> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder_of(&target);
    let lock = fs::File::open(folder).and_then(|file| file.lock().map(|()| file));
    lock.map_err(|e| Failure::io("lock", folder, &e))
}

/// Writes a line for people to stdout.
pub fn say(line: &str) -> Result<(), Failure> {
    let text = format!("{}\n", sutura_visible::line(line));
    write(Path::new("-"), text.as_bytes())
}
