//! Loads `host.so` and calls its exports.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};

use crate::abi;
use crate::error::{Error, Result};
use crate::manifest::Manifest;

/// Name of the memory file, which debuggers and profilers show.
const MEMORY_NAME: &CStr = c"sutura-host.so";

/// Loaded code. The fields are dropped in order: the library before the file that it is mapped from.
pub(crate) struct Host {
    shapes: abi::ShapesFn,
    run: abi::RunFn,
    /// Of a model whose sizes data decide.
    output_dims: Option<abi::OutputDimsFn>,
    _library: Library,
    /// Kept open: the loader tells libraries apart by path, and this number is in the path.
    _files: Vec<File>,
}

impl Host {
    /// Loads code from memory that was generated for this manifest.
    pub(crate) fn load(code: &[u8], manifest: &Manifest) -> Result<Self> {
        // In this order, so that also on an error the library goes before its file.
        let (files, library) = open_library(code, crate::artifact::HOST).map_err(|unloaded| match unloaded {
            Unloaded::NoProc => Error::NoProc,
            Unloaded::Other(reason) => Error::Load { reason },
        })?;
        // SAFETY: the types are those that this version gives to these names, and the version is checked before the others
        // are used; the text ends with a zero byte.
        unsafe {
            let version: abi::AbiVersionFn = symbol(&library, abi::ABI_VERSION_SYMBOL)?;
            let found = version();
            if found != abi::VERSION {
                return Err(Error::AbiVersion { found, supported: abi::VERSION });
            }
            let interface: *const c_char = symbol(&library, abi::INTERFACE_SYMBOL)?;
            manifest.check_interface(&CStr::from_ptr(interface).to_string_lossy())?;
            let shapes = symbol(&library, abi::SHAPES_SYMBOL)?;
            let run = symbol(&library, abi::RUN_SYMBOL)?;
            let output_dims = match manifest.decided.is_empty() {
                true => None,
                false => Some(symbol(&library, abi::OUTPUT_DIMS_SYMBOL)?),
            };
            Ok(Self { shapes, run, output_dims, _library: library, _files: files })
        }
    }

    /// Calls `sutura_shapes`. Returns its result.
    ///
    /// # Safety
    /// The slices must have the lengths that the manifest of this code implies.
    pub(crate) unsafe fn shapes(
        &self,
        input_dims: &[i64],
        symbols: &mut [i64],
        output_dims: &mut [i64],
        workspace_bytes: &mut i64,
        detail: &mut [i64; 2],
    ) -> i32 {
        // SAFETY: the caller gives the lengths that the code was generated for.
        unsafe {
            (self.shapes)(
                input_dims.as_ptr(),
                symbols.as_mut_ptr(),
                output_dims.as_mut_ptr(),
                workspace_bytes,
                detail.as_mut_ptr(),
            )
        }
    }

    /// Calls `sutura_run`. Returns its result.
    ///
    /// # Safety
    /// Lengths as the manifest of this code implies, and `symbols` may be written to where data decide some; every pointer aligned and valid for the bytes that
    /// `sutura_shapes` gave for `symbols`, outputs and workspace for writing, and overlapping nothing else.
    pub(crate) unsafe fn run(
        &self,
        table: &abi::SuturaRt,
        symbols: *const i64,
        inputs: &[*const c_void],
        outputs: &[*mut c_void],
        constants: &[*const c_void],
        workspace: *mut c_void,
    ) -> i32 {
        // SAFETY: the caller keeps the contract of `sutura_run`.
        unsafe { (self.run)(table, symbols, inputs.as_ptr(), outputs.as_ptr(), constants.as_ptr(), workspace) }
    }
}

impl Host {
    /// Calls `sutura_output_dims`, if there is one: the outputs' dims after a run that left these symbols.
    ///
    /// # Safety
    /// The slices must have the lengths that the manifest of this code implies.
    pub(crate) unsafe fn output_dims(&self, symbols: &[i64], output_dims: &mut [i64]) {
        if let Some(function) = self.output_dims {
            // SAFETY: the caller gives the lengths that the code was generated for.
            unsafe { function(symbols.as_ptr(), output_dims.as_mut_ptr()) };
        }
    }
}

/// # Safety
/// The symbol, if there is one, must be a function of type `T`, or a variable that `T` points to.
unsafe fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T> {
    // SAFETY: the caller names the type.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.map(|s| *s).map_err(|_| Error::MissingSymbol { symbol: name.to_owned() })
}

/// Why a library is not loaded.
pub(crate) enum Unloaded {
    /// The linker is given the path of an open file, and only `/proc` has such paths.
    NoProc,
    Other(String),
}

/// What has the paths of open files.
const OPEN_FILES: &str = "/proc/self/fd";

/// The library whose bytes these are, and the files to keep open as long as it is loaded. `name` stands for it in messages.
pub(crate) fn open_library(code: &[u8], name: &str) -> Result<(Vec<File>, Library), Unloaded> {
    whole(code).map_err(|reason| Unloaded::Other(format!("{name} {reason}")))?;
    let other = |what: &str, error: std::io::Error| Unloaded::Other(format!("{what}: {error}"));
    let mut files = vec![memory_file(code).map_err(|error| other("no memory file", error))?];
    loop {
        let file = &files[files.len() - 1];
        let path = format!("{OPEN_FILES}/{}", file.as_raw_fd());
        // A library that could not be unloaded stays known under the path it had, and the loader would return it again
        // instead of this one. Then another descriptor, so another path, is taken.
        // SAFETY: with RTLD_NOLOAD no code is loaded or run.
        if unsafe { Library::open(Some(&path), RTLD_NOW | libc::RTLD_NOLOAD) }.is_err() {
            // SAFETY: the code was made by the compiler for this interface; running its initialisers is what loading
            // means.
            let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
            let library = library.map_err(|error| match Path::new(&path).exists() {
                true => Unloaded::Other(reason(&error, &path, name)),
                false => Unloaded::NoProc,
            })?;
            return Ok((files, library));
        }
        let copy = file.try_clone().map_err(|error| other("no further descriptor", error))?;
        files.push(copy);
    }
}

/// The linker maps segments without a look at the file's length, and what lies behind its end is a signal.
fn whole(code: &[u8]) -> Result<(), String> {
    let header = elf::FileHeader64::<Endianness>::parse(code).map_err(|e| format!("is no shared library: {e}"))?;
    let endian = header.endian().map_err(|e| format!("is no shared library: {e}"))?;
    let segments = header.program_headers(endian, code).map_err(|e| format!("is cut off: {e}"))?;
    let ends = segments.iter().map(|segment| segment.p_offset(endian).saturating_add(segment.p_filesz(endian)));
    match ends.max() {
        Some(end) if end > code.len() as u64 => Err(format!("is cut off: it has {} bytes of {end}", code.len())),
        _ => Ok(()),
    }
}

/// The linker's words, with the library's name instead of the descriptor's path.
fn reason(error: &libloading::Error, path: &str, name: &str) -> String {
    let mut text = error.to_string();
    if let Some(source) = std::error::Error::source(error) {
        text = source.to_string();
    }
    text.replace(path, name)
}

/// A file that exists only in memory.
fn memory_file(code: &[u8]) -> std::io::Result<File> {
    // SAFETY: the name is a C string; the result is checked before use.
    let descriptor = unsafe { libc::memfd_create(MEMORY_NAME.as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just created and belongs to nobody else.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(code)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_library_is_refused() {
        for code in [&b""[..], b"not a library", &[0x7f, b'E', b'L', b'F']] {
            let Some(Unloaded::Other(error)) = open_library(code, "host.so").err() else { panic!("it was loaded") };
            assert!(error.contains("host.so"), "{error}");
        }
    }
}
