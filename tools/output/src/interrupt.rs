//! Signals that ask the process to end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Held while files are put into place: an interrupt waits for it.
static WRITING: Mutex<()> = Mutex::new(());

/// Files and folders that an interrupt removes.
static LEFTOVERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// While this is held an interrupt waits: temporary files have been removed or renamed when it is let go.
pub fn uninterrupted() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on an interrupt, a request to end, or the end of the terminal waits until no file is being put into place,
/// removes what is temporary, and ends the process with `code`.
pub fn end_cleanly(code: u8) {
    on_interrupt(move || {
        let _guard = uninterrupted();
        remove_leftovers();
        std::process::exit(code.into());
    });
}

/// Calls `action` at each SIGINT, SIGTERM and SIGHUP, on a thread of its own. What whoever started the process wants ignored
/// stays so: `nohup` ignores SIGHUP, a shell the interrupts of what it runs in the background.
pub fn on_interrupt(mut action: impl FnMut() + Send + 'static) {
    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    // Without a handler a signal just ends the process, which is no reason not to go on.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let handle = signals.handle();
    let thread = std::thread::Builder::new().name("interrupts".to_owned());
    let started = thread.spawn(move || signals.forever().for_each(|_| action()));
    if started.is_err() {
        // Nobody would hear of the signals.
        handle.close();
    }
}

/// Removes what is temporary. After it the process is to end.
pub fn remove_leftovers() {
    for path in leftovers().drain(..) {
        // One that cannot be removed is left to whoever cleans up the folder of temporary files.
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
}

fn leftovers() -> MutexGuard<'static, Vec<PathBuf>> {
    LEFTOVERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The signals that this process ignores, as a mask.
fn ignored() -> u64 {
    fs::read_to_string("/proc/self/status").ok().and_then(|status| ignored_of(&status)).unwrap_or(0)
}

fn ignored_of(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// What an interrupt removes for as long as this lives.
#[derive(Debug)]
pub(crate) struct Leftover(PathBuf);

impl Leftover {
    pub(crate) fn new(path: &Path) -> Self {
        leftovers().push(path.to_owned());
        Self(path.to_owned())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        leftovers().retain(|path| *path != self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status_of_the_process() {
        let status = "Name:\tx\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";
        assert_eq!(ignored_of(status), Some(1 << (SIGHUP - 1) | 1 << 12));
        assert_eq!(ignored_of("Name:\tx\n"), None);
    }
}
