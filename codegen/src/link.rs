//! Links objects into a shared object with `ld.lld`, else with the C compiler.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::symbols;

/// Where the LLVM that this crate was built with keeps its tools.
const LLVM_BIN: &str = env!("SUTURA_LLVM_BIN");

/// A program that links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Linker {
    /// LLVM's ELF linker.
    Lld(PathBuf),
    /// A C compiler that calls its own linker.
    Cc(PathBuf),
}

impl Linker {
    /// `ld.lld` beside this program, where a package of both has it, else of this crate's LLVM, else on `PATH` (also as
    /// `ld.lld-22`), else `cc` on `PATH`.
    ///
    /// # Errors
    /// `NoLinker` with the names that were looked for.
    pub fn find() -> Result<Self, Error> {
        let path = env::var_os("PATH").unwrap_or_default();
        let program = env::current_exe().unwrap_or_default();
        let beside = program.parent().unwrap_or(Path::new(LLVM_BIN));
        Self::find_in([beside, Path::new(LLVM_BIN)], &env::split_paths(&path).collect::<Vec<_>>())
    }

    fn find_in(own: [&Path; 2], path: &[PathBuf]) -> Result<Self, Error> {
        let on_path = |name: &str| path.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
        let own = own.map(|folder| folder.join("ld.lld"));
        if let Some(lld) = own.iter().find(|file| file.is_file()) {
            return Ok(Linker::Lld(lld.clone()));
        }
        if let Some(lld) = on_path("ld.lld").or_else(|| on_path("ld.lld-22")) {
            return Ok(Linker::Lld(lld));
        }
        if let Some(cc) = on_path("cc") {
            return Ok(Linker::Cc(cc));
        }
        let [_, llvm] = own;
        let tried = vec![llvm.display().to_string(), "ld.lld".into(), "ld.lld-22".into(), "cc".into()];
        Err(Error::NoLinker { tried })
    }

    /// Links `objects` into the shared object `out`, which appears whole or not at all.
    ///
    /// # Errors
    /// `Object` or `Undefined` when the objects are not fit for it, `Linker` with what the linker said, `Io`.
    pub fn link_shared(&self, objects: &[Vec<u8>], out: &Path) -> Result<(), Error> {
        symbols::check_defined(objects.iter().map(Vec::as_slice))?;
        let folder = match out.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Beside the output, so that the last step is a rename within one file system.
        let scratch = tempfile::Builder::new()
            .prefix(".sutura-link-")
            .tempdir_in(folder)
            .map_err(|source| Error::Io { what: "cannot write to", path: folder.to_owned(), source })?;
        let mut inputs = Vec::with_capacity(objects.len());
        for (at, object) in objects.iter().enumerate() {
            let path = scratch.path().join(format!("{at}.o"));
            fs::write(&path, object).map_err(|source| Error::Io {
                what: "cannot write",
                path: path.clone(),
                source,
            })?;
            inputs.push(path);
        }
        let linked = scratch.path().join("linked.so");
        self.run(&inputs, &linked, out)?;
        put(&linked, out).map_err(|source| Error::Io { what: "cannot write", path: out.to_owned(), source })
    }

    /// Joins `objects` to one object.
    ///
    /// # Errors
    /// `Linker` with what the linker said, `Io`.
    pub fn link_object(&self, objects: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        let (Linker::Lld(program) | Linker::Cc(program)) = self;
        let scratch = scratch()?;
        let output = scratch.path().join("joined.o");
        let mut command = Command::new(program);
        command.arg("-r");
        match self {
            Linker::Lld(_) => command.arg("--threads=1"),
            Linker::Cc(_) => command.args(["-nostdlib", "-Wl,--build-id=none"]),
        };
        command.arg("-o").arg(&output);
        for (at, object) in objects.iter().enumerate() {
            let input = scratch.path().join(format!("{at}.o"));
            fs::write(&input, object).map_err(io("cannot write", &input))?;
            command.arg(&input);
        }
        finish(&mut command, program, &output)?;
        fs::read(&output).map_err(io("cannot read", &output))
    }

    /// Links the object of a device's kernels into a code object, which the device's runtime loads.
    ///
    /// # Errors
    /// `NoDeviceLinker` where this is not `ld.lld`, `Linker` with what the linker said, `Io`.
    pub fn link_device(&self, object: &[u8]) -> Result<Vec<u8>, Error> {
        let program = match self {
            Linker::Lld(program) => program,
            Linker::Cc(found) => return Err(Error::NoDeviceLinker { found: found.clone() }),
        };
        let scratch = scratch()?;
        let (input, output) = (scratch.path().join("kernels.o"), scratch.path().join("kernels.hsaco"));
        fs::write(&input, object).map_err(io("cannot write", &input))?;
        let mut command = Command::new(program);
        command.args(["-shared", "--no-undefined", "--build-id=none", "--threads=1"]);
        finish(command.arg("-o").arg(&output).arg(&input), program, &output)?;
        fs::read(&output).map_err(io("cannot read", &output))
    }

    fn run(&self, inputs: &[PathBuf], linked: &Path, out: &Path) -> Result<(), Error> {
        let (program, mut command) = match self {
            Linker::Lld(program) => {
                let mut command = Command::new(program);
                command.args(["-shared", "-z", "now", "-z", "relro", "-z", "noexecstack", "--hash-style=gnu"]);
                // The same input gives the same bytes.
                command.args(["--build-id=none", "--threads=1"]);
                (program, command)
            }
            Linker::Cc(program) => {
                let mut command = Command::new(program);
                command.args(["-shared", "-nostdlib", "-Wl,-z,now", "-Wl,-z,noexecstack", "-Wl,--build-id=none"]);
                (program, command)
            }
        };
        finish(command.arg("-o").arg(linked).args(inputs), program, out)
    }
}

/// A folder for what a linker reads and writes.
fn scratch() -> Result<tempfile::TempDir, Error> {
    let temporary = env::temp_dir();
    let made = tempfile::Builder::new().prefix("sutura-link-").tempdir_in(&temporary);
    made.map_err(io("cannot write to", &temporary))
}

/// A fault of a file, as an error that names it.
fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::Io { what, path, source }
}

/// Runs the linker; `out` is what it was asked for.
fn finish(command: &mut Command, program: &Path, out: &Path) -> Result<(), Error> {
    let output =
        command.output().map_err(|source| Error::Io { what: "cannot run", path: program.to_owned(), source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Linker {
        output: out.to_owned(),
        linker: program.display().to_string(),
        status: output.status.to_string(),
        message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

/// Links `objects` into the shared object `out` with the linker that [`Linker::find`] gives. An existing file is replaced,
/// and only by a whole one.
///
/// # Errors
/// Those of [`Linker::find`] and [`Linker::link_shared`].
pub fn link_shared(objects: &[Vec<u8>], out: &Path) -> Result<(), Error> {
    Linker::find()?.link_shared(objects, out)
}

/// One object of several; of one that object.
///
/// # Errors
/// Those of [`Linker::find`] and [`Linker::link_object`].
pub fn link_object(objects: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
    match objects {
        [one] => Ok(one.clone()),
        several => Linker::find()?.link_object(several),
    }
}

/// Renames, but never replaces a device or pipe by a file.
fn put(linked: &Path, out: &Path) -> std::io::Result<()> {
    if out.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let mut target = fs::OpenOptions::new().write(true).open(out)?;
        return std::io::copy(&mut fs::File::open(linked)?, &mut target).map(drop);
    }
    fs::rename(linked, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lld_is_preferred_and_cc_is_the_last_resort() {
        let [beside, llvm, path] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let search = [path.path().to_owned()];
        let find = || Linker::find_in([beside.path(), llvm.path()], &search);
        let error = find().unwrap_err().to_string();
        assert!(error.contains("ld.lld") && error.contains("cargo xtask setup"), "{error}");
        for (file, expected) in [
            (path.path().join("cc"), Linker::Cc as fn(PathBuf) -> Linker),
            (path.path().join("ld.lld-22"), Linker::Lld),
            (path.path().join("ld.lld"), Linker::Lld),
            (llvm.path().join("ld.lld"), Linker::Lld),
            (beside.path().join("ld.lld"), Linker::Lld),
        ] {
            fs::write(&file, "").unwrap();
            assert_eq!(find().unwrap(), expected(file));
        }
    }
}
