//! Which build of LLVM, MLIR and this program runs: what decides the code that is generated, besides what it is generated from.

use std::ffi::{CStr, c_int, c_void};
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::slice;

use llvm_sys::core::LLVMGetVersion;

/// Type of the note that holds a build's hash.
const BUILD_ID: u32 = 3;

/// LLVM's version, and a hash of every file whose code this process runs: this program, LLVM, MLIR and the libraries below. Two
/// processes with the same identity generate the same code.
///
/// The hash is the one that the linker wrote into the file. A file without one is known by its path, its size and the time of its
/// last change.
pub fn identity() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the pointers are valid.
    unsafe { LLVMGetVersion(&raw mut major, &raw mut minor, &raw mut patch) };
    let mut identity = format!("LLVM {major}.{minor}.{patch}");
    for (path, build) in loaded() {
        let _ = match build {
            Some(build) => write!(identity, " {build}"),
            None => write!(identity, " {}", of_file(&path)),
        };
    }
    identity
}

/// Size and time of a file.
fn of_file(path: &Path) -> String {
    let meta = std::fs::metadata(path).map(|meta| format!("{} {}.{}", meta.len(), meta.mtime(), meta.mtime_nsec()));
    format!("{} {}", path.display(), meta.unwrap_or_default())
}

/// The files that this process runs code of, in the order in which they were loaded, with the hashes of their builds.
fn loaded() -> Vec<(PathBuf, Option<String>)> {
    let mut found: Vec<(PathBuf, Option<String>)> = Vec::new();
    // SAFETY: `see` gets the list that it expects, which lives during the call.
    unsafe { libc::dl_iterate_phdr(Some(see), (&raw mut found).cast()) };
    found
}

/// Adds one file to the list.
unsafe extern "C" fn see(info: *mut libc::dl_phdr_info, _size: libc::size_t, found: *mut c_void) -> c_int {
    // SAFETY: the loader gives a valid entry, whose name and headers live during the call; `found` is the list of `loaded`.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<(PathBuf, Option<String>)>>()) };
    // SAFETY: as above; the name is NUL-terminated or null.
    let name = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
    let name = name.to_string_lossy().into_owned();
    // The first is the program, which has no name here. What the kernel puts into every process is no file.
    let path = match (name.is_empty(), found.is_empty()) {
        (true, true) => std::env::current_exe().unwrap_or_default(),
        _ if !name.contains('/') => return 0,
        _ => PathBuf::from(name),
    };
    // SAFETY: there are as many headers as the loader says.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let notes = headers.iter().filter(|header| header.p_type == libc::PT_NOTE).map(|header| {
        let start = info.dlpi_addr.wrapping_add(header.p_vaddr) as *const u8;
        // SAFETY: the loader has put a segment of notes there, of so many bytes, and nobody writes to it.
        unsafe { slice::from_raw_parts(start, usize::try_from(header.p_memsz).unwrap_or(0)) }
    });
    let build = notes.into_iter().find_map(build_id);
    found.push((path, build));
    0
}

/// The hash of a build in a segment of notes: each has two lengths and a type, a name, and what it says.
fn build_id(mut notes: &[u8]) -> Option<String> {
    let word = |notes: &[u8], at: usize| Some(u32::from_ne_bytes(notes.get(at..at + 4)?.try_into().ok()?));
    loop {
        let (name, said, kind) = (word(notes, 0)? as usize, word(notes, 4)? as usize, word(notes, 8)?);
        let begin = 12 + name.next_multiple_of(4);
        let text = notes.get(begin..begin.checked_add(said)?)?;
        if kind == BUILD_ID && notes.get(12..12 + name) == Some(b"GNU\0") && said > 0 {
            return Some(text.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        notes = notes.get(begin + said.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, said: &[u8]) -> Vec<u8> {
        let lengths = [name.len() as u32, said.len() as u32, kind];
        let mut note: Vec<u8> = lengths.iter().flat_map(|word| word.to_ne_bytes()).collect();
        for part in [name, said] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn the_hash_is_found_among_other_notes() {
        let (other, own) = (note(b"stapsdt\0", 3, b"x"), note(b"GNU\0", BUILD_ID, &[0xab, 1]));
        assert_eq!(build_id(&[other.clone(), own.clone()].concat()).as_deref(), Some("ab01"));
        assert_eq!(build_id(&other), None);
        // Cut anywhere, it is none.
        for length in 0..own.len() - 2 {
            assert_eq!(build_id(&own[..length]), None);
        }
        // Lengths beyond any file.
        assert_eq!(build_id(&[0xff; 64]), None);
    }

    #[test]
    fn llvm_is_among_what_is_loaded() {
        let found = loaded();
        assert!(found.iter().any(|(path, _)| path.to_string_lossy().contains("libLLVM")), "{found:?}");
        assert_eq!(found[0].0, std::env::current_exe().unwrap());
        assert!(identity().starts_with("LLVM 22."), "{}", identity());
        assert_eq!(identity(), identity());
    }
}
