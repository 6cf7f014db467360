//! Files in memory, which may become shorter without that the process ends.
//!
//! Where a mapped file is cut, the system answers an access behind its end with the signal `SIGBUS`, and the same where the
//! disk cannot be read. No check before an access prevents that, because somebody else may cut the file right after it; and
//! accesses are those of generated code, on any thread. So the first mapping installs a handler: for an address in one of
//! this module's mappings it puts a page of zeros there and notes that, and the access goes on. Whoever used what the
//! mapping holds asks [`Mapping::check`] then, and throws the result away if it is an error. A signal for any other address
//! goes to the handler that was there before.
//!
//! Cutting a page at the end, or writing into the file, gives no signal. So `check` also compares the file's size and the
//! time of its last change with those at the beginning.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, OnceLock, PoisonError};

use libc::{c_int, siginfo_t};
use memmap2::{Mmap, MmapMut};

/// A file in memory, to be read.
pub struct Mapping {
    /// Dropped by hand after the range was given back: what comes to lie there then is not ours.
    map: Option<Mmap>,
    range: &'static Range,
    file: File,
    identity: Identity,
}

impl Mapping {
    /// Maps a regular file that is not empty, as large as it is now.
    ///
    /// # Errors
    /// When the file is empty, or cannot be mapped.
    pub fn new(file: File) -> io::Result<Self> {
        install()?;
        let identity = Identity::of(&file.metadata()?);
        // SAFETY: what is read may change when somebody writes into the file, which `check` tells; nothing here relies on
        // two reads of a byte giving the same. That the file may become shorter is dealt with by the handler.
        let map = unsafe { Mmap::map(&file) }?;
        let range = Range::take(map.as_ptr().addr(), map.len());
        Ok(Self { map: Some(map), range, file, identity })
    }

    /// What is in the file.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// An error says what happened to the file since it was mapped; everything read from the mapping may be wrong then.
    ///
    /// # Errors
    /// What happened, in words.
    pub fn check(&self) -> Result<(), String> {
        // What was read was read before this.
        fence(Ordering::SeqCst);
        let now = self.file.metadata().map(|info| Identity::of(&info));
        let before = &self.identity;
        match now {
            Ok(now) if now.bytes < before.bytes => {
                Err(format!("it had {} bytes when it was opened, and has {}", before.bytes, now.bytes))
            }
            Ok(now) if now != *before => Err("somebody wrote into it".to_owned()),
            Err(error) => Err(error.to_string()),
            Ok(_) if self.range.torn.load(Ordering::Relaxed) => Err("a part of it could not be read".to_owned()),
            Ok(_) => Ok(()),
        }
    }
}

/// A mapped file without a name, to be written and then read. If the system cannot write a page back, it ends the process by a signal.
pub struct Scratch(MmapMut);

impl Scratch {
    /// A file of so many zeros in a folder. Its place on the disk is reserved.
    ///
    /// # Errors
    /// When there is no such folder, or no place in it.
    pub fn new(folder: &Path, bytes: usize) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        let wanted = libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
        // SAFETY: the descriptor is that of `file`, which is open.
        let error = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, wanted) };
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        // SAFETY: nobody else has the file, which has no name.
        unsafe { MmapMut::map_mut(&file) }.map(Self)
    }
}

impl AsRef<[u8]> for Scratch {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for Scratch {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl AsRef<[u8]> for Mapping {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.range.give_back();
        self.map = None;
    }
}

/// What of a file changes when somebody writes to it or cuts it, and not when its name is given to another file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity {
    bytes: u64,
    changed: (i64, i64),
}

impl Identity {
    fn of(info: &Metadata) -> Self {
        Self { bytes: info.len(), changed: (info.mtime(), info.mtime_nsec()) }
    }
}

/// The addresses of a mapping, for the handler, which may neither wait nor allocate: ranges are in a list that only grows,
/// and are used again.
struct Range {
    /// Odd while the addresses are being changed.
    version: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    /// Something in the range could not be read, and zeros were put there.
    torn: AtomicBool,
    next: AtomicPtr<Range>,
}

/// The first range of the list.
static RANGES: AtomicPtr<Range> = AtomicPtr::new(ptr::null_mut());

/// Those that belong to no mapping. Also what lets one thread at a time make the list longer.
static FREE: Mutex<Vec<&'static Range>> = Mutex::new(Vec::new());

impl Range {
    /// A range with these addresses.
    fn take(start: usize, bytes: usize) -> &'static Self {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let range = free.pop().unwrap_or_else(|| {
            let new = Box::leak(Box::new(Self {
                version: AtomicUsize::new(0),
                start: AtomicUsize::new(0),
                end: AtomicUsize::new(0),
                torn: AtomicBool::new(false),
                next: AtomicPtr::new(RANGES.load(Ordering::Relaxed)),
            }));
            RANGES.store(new, Ordering::Release);
            new
        });
        range.torn.store(false, Ordering::Relaxed);
        range.set(start, start + bytes);
        range
    }

    fn give_back(&'static self) {
        self.set(0, 0);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
    }

    /// Changes the addresses; only one thread at a time has the range.
    fn set(&self, start: usize, end: usize) {
        self.version.fetch_add(1, Ordering::SeqCst);
        self.start.store(start, Ordering::SeqCst);
        self.end.store(end, Ordering::SeqCst);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether an address is in the range. A range that is being changed has none: its owner does not use it yet or any more.
    fn contains(&self, address: usize) -> bool {
        let version = self.version.load(Ordering::SeqCst);
        let (start, end) = (self.start.load(Ordering::SeqCst), self.end.load(Ordering::SeqCst));
        let unchanged = self.version.load(Ordering::SeqCst) == version;
        version.is_multiple_of(2) && unchanged && (start..end).contains(&address)
    }
}

/// What the signal did before.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Installs the handler, once in the life of the process.
fn install() -> io::Result<()> {
    static DONE: Mutex<bool> = Mutex::new(false);
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if *done {
        return Ok(());
    }
    // SAFETY: any name may be asked for.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE_BYTES.store(usize::try_from(page).unwrap_or(4096), Ordering::SeqCst);
    // SAFETY: all-zero bytes are a valid `sigaction`: the default, with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: with a null pointer the call only tells what there is, into a structure of ours.
    if unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut action) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let previous = *PREVIOUS.get_or_init(|| action);
    action.sa_sigaction = on_bus_error as *const () as usize;
    // On the thread's own stack: kernels have room there, and a stack for signals may be just as large as what the system
    // puts there, with the tiles of AMX.
    action.sa_flags = libc::SA_SIGINFO | (previous.sa_flags & libc::SA_RESTART);
    // SAFETY: the handler has the type that SA_SIGINFO asks for, and calls only what a handler may call.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    *done = true;
    Ok(())
}

/// The handler. Nothing in it allocates, locks or panics.
unsafe extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid structure. Its code is positive where the signal comes from the system, and then it
    // has an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    if code > 0 && repair(address) {
        return;
    }
    let Some(previous) = PREVIOUS.get() else { return };
    match previous.sa_sigaction {
        // SAFETY: the default may be asked for; the faulting instruction, or the signal, comes again and ends the process.
        libc::SIG_DFL => unsafe {
            libc::signal(signal, libc::SIG_DFL);
            if code <= 0 {
                libc::raise(signal);
            }
        },
        libc::SIG_IGN if code <= 0 => {}
        // An access that cannot be made cannot be ignored.
        // SAFETY: as above.
        libc::SIG_IGN => unsafe {
            libc::signal(signal, libc::SIG_DFL);
        },
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: whoever installed it with this flag gave a function of this type.
            let handler: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            // SAFETY: the arguments are the system's own.
            unsafe { handler(signal, info, context) };
        }
        handler => {
            // SAFETY: whoever installed it without the flag gave a function of this type.
            let handler: unsafe extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            // SAFETY: the argument is the system's own.
            unsafe { handler(signal) };
        }
    }
}

/// Puts a page of zeros at an address of one of the ranges. False if it is in none.
fn repair(address: usize) -> bool {
    let mut at = RANGES.load(Ordering::Acquire);
    // SAFETY: ranges are never freed.
    while let Some(range) = unsafe { at.as_ref() } {
        if range.contains(address) {
            range.torn.store(true, Ordering::SeqCst);
            return put_zeros(address & !(PAGE_BYTES.load(Ordering::Relaxed) - 1));
        }
        at = range.next.load(Ordering::Relaxed);
    }
    false
}

fn put_zeros(page: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    let bytes = PAGE_BYTES.load(Ordering::Relaxed);
    // SAFETY: the page is one of a mapping that is in use, of which only reading is allowed: the thread that this handler
    // interrupted just tried to. What was there could not be read. The number of the last error is put back, because the
    // thread may be about to look at it.
    unsafe {
        let error = *libc::__errno_location();
        let found = libc::mmap(ptr::without_provenance_mut(page), bytes, libc::PROT_READ, flags, -1, 0);
        *libc::__errno_location() = error;
        found != libc::MAP_FAILED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    const BYTES: usize = 1 << 20;

    fn file(byte: u8) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![byte; BYTES]).unwrap();
        file
    }

    fn map(file: &tempfile::NamedTempFile) -> Mapping {
        Mapping::new(File::open(file.path()).unwrap()).unwrap()
    }

    fn sum(bytes: &[u8]) -> u64 {
        black_box(bytes).iter().map(|b| u64::from(*b)).sum()
    }

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        let file = file(1);
        let mapping = map(&file);
        assert_eq!(sum(mapping.bytes()), BYTES as u64);
        mapping.check().unwrap();
        file.as_file().set_len(10_000).unwrap();
        let read = sum(mapping.bytes());
        assert!(read >= 10_000 && read < BYTES as u64, "{read}");
        assert_eq!(mapping.check().unwrap_err(), "it had 1048576 bytes when it was opened, and has 10000");
        // It stays one, also when the file is as long as it was.
        file.as_file().set_len(BYTES as u64).unwrap();
        assert!(mapping.check().is_err());
    }

    #[test]
    fn pages_that_could_not_be_read_are_remembered() {
        let file = file(1);
        let mut mapping = map(&file);
        file.as_file().set_len(0).unwrap();
        assert_eq!(sum(mapping.bytes()), 0);
        file.as_file().set_len(BYTES as u64).unwrap();
        // Even if the file looks as it did.
        mapping.identity = Identity::of(&file.as_file().metadata().unwrap());
        assert_eq!(mapping.check().unwrap_err(), "a part of it could not be read");
    }

    #[test]
    fn writing_into_a_file_is_an_error_and_replacing_it_is_none() {
        let file = file(1);
        let (first, second) = (map(&file), map(&file));
        std::fs::remove_file(file.path()).unwrap();
        first.check().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        file.as_file().write_all(b"x").unwrap();
        file.as_file().set_len(BYTES as u64).unwrap();
        assert_eq!(first.check().unwrap_err(), "somebody wrote into it");
        assert!(second.check().is_err());
    }

    #[test]
    fn many_threads_read_many_files_while_they_are_cut() {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for round in 0..20 {
                        let file = file(thread + 1);
                        let mapping = map(&file);
                        file.as_file().set_len(round * 4096).unwrap();
                        let read = sum(mapping.bytes());
                        assert_eq!(read, round * 4096 * u64::from(thread + 1));
                        assert!(mapping.check().is_err());
                    }
                });
            }
        });
        // Ranges were used again.
        let mut length = 0;
        let mut at = RANGES.load(Ordering::Acquire);
        // SAFETY: ranges are never freed.
        while let Some(range) = unsafe { at.as_ref() } {
            length += 1;
            at = range.next.load(Ordering::Relaxed);
        }
        assert!(length < 40, "{length}");
    }

    /// Set in the process that the next test starts.
    const CHILD: &str = "SUTURA_TEST_BUS_ERROR";

    /// What is no business of this module still ends the process.
    #[test]
    fn other_bus_errors_end_the_process() {
        if let Some(how) = std::env::var_os(CHILD) {
            let file = file(1);
            let _ours = map(&file);
            // SAFETY: nobody else uses the file; that reading the map is an error is the point.
            let other = unsafe { Mmap::map(file.as_file()) }.unwrap();
            file.as_file().set_len(0).unwrap();
            match how.to_str() {
                // The first one takes away the handler that Rust's library has installed, without ours as with it.
                // SAFETY: signals to this process.
                Some("raise") => unsafe {
                    libc::raise(libc::SIGBUS);
                    libc::raise(libc::SIGBUS);
                },
                _ => {
                    black_box(sum(&other));
                }
            }
            return;
        }
        for how in ["read", "raise"] {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "mapping::tests::other_bus_errors_end_the_process"]).env(CHILD, how);
            let done = child.output().unwrap();
            assert_eq!(done.status.signal(), Some(libc::SIGBUS), "{how}: {done:?}");
        }
    }
}
