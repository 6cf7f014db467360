//! NVIDIA's assembler, where there is one: PTX needs it only to become a cubin ahead of time, which the driver does else.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;

/// Variable that names the assembler, where it is not on `PATH`.
const VARIABLE: &str = "SUTURA_PTXAS";

/// `ptxas` of the CUDA toolkit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembler(PathBuf);

impl Assembler {
    /// That of `$SUTURA_PTXAS`, else `ptxas` on `PATH`, else that in `/usr/local/cuda/bin`.
    ///
    /// # Errors
    /// `NoAssembler` with what was looked for.
    pub fn find() -> Result<Self, Error> {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
        folders.push("/usr/local/cuda/bin".into());
        Self::find_in(env::var_os(VARIABLE).map(PathBuf::from), &folders)
    }

    fn find_in(named: Option<PathBuf>, folders: &[PathBuf]) -> Result<Self, Error> {
        let candidates: Vec<PathBuf> = match named {
            Some(named) => vec![named],
            None => folders.iter().map(|folder| folder.join("ptxas")).collect(),
        };
        let found = candidates.iter().find(|file| file.is_file()).cloned();
        found.map(Self).ok_or(Error::NoAssembler { variable: VARIABLE })
    }

    /// Assembles PTX for a processor such as `sm_80`.
    ///
    /// # Errors
    /// `Assembler` with what it said, `Io`.
    pub fn assemble(&self, ptx: &str, chip: &str) -> Result<Vec<u8>, Error> {
        self.run(ptx, chip).map(|(cubin, _)| cubin)
    }

    /// What `ptxas -v` says of each kernel: registers, spills, memory.
    ///
    /// # Errors
    /// As for [`assemble`](Self::assemble).
    pub fn resources(&self, ptx: &str, chip: &str) -> Result<String, Error> {
        self.run(ptx, chip).map(|(_, said)| said)
    }

    fn run(&self, ptx: &str, chip: &str) -> Result<(Vec<u8>, String), Error> {
        let io = |what, path: &Path| {
            let path = path.to_owned();
            move |source| Error::Io { what, path, source }
        };
        let temporary = env::temp_dir();
        let scratch = tempfile::Builder::new().prefix("sutura-ptxas-").tempdir_in(&temporary);
        let scratch = scratch.map_err(io("cannot write to", &temporary))?;
        let (input, output) = (scratch.path().join("kernels.ptx"), scratch.path().join("kernels.cubin"));
        fs::write(&input, ptx).map_err(io("cannot write", &input))?;
        let mut command = Command::new(&self.0);
        command.args(["-v", &format!("-arch={chip}"), "-o"]).arg(&output).arg(&input);
        let done = command.output().map_err(io("cannot run", &self.0))?;
        let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        if !done.status.success() {
            let status = done.status.to_string();
            return Err(Error::Assembler { assembler: self.0.display().to_string(), status, message: said });
        }
        let cubin = fs::read(&output).map_err(io("cannot read", &output))?;
        Ok((cubin, said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_taken_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        let error = Assembler::find_in(None, &folders).unwrap_err().to_string();
        assert!(error.contains("ptxas") && error.contains(VARIABLE), "{error}");
        let file = folder.path().join("ptxas");
        fs::write(&file, "").unwrap();
        assert_eq!(Assembler::find_in(None, &folders).unwrap(), Assembler(file));
        let missing = Some(folder.path().join("other"));
        assert!(matches!(Assembler::find_in(missing, &folders), Err(Error::NoAssembler { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn what_an_assembler_says_is_told() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ptxas");
        fs::write(&file, "#!/bin/sh\necho 'line 3: no such instruction' >&2\nexit 255\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let error = Assembler(file).assemble("", "sm_80").unwrap_err().to_string();
        assert!(error.contains("line 3: no such instruction") && error.contains("255"), "{error}");
    }
}
