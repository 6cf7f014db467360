//! Environments of Python below the target folder, with the packages that a file lists.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, process};

/// The Python of an environment with the packages of a list, which is made where it is missing. A list that changed makes it
/// anew: a copy of the list that was installed lies in it. `options` are those of `pip install`.
pub(crate) fn python_with(venv: &Path, packages: &str, options: &[&str]) -> Result<PathBuf, Failure> {
    let python = venv.join("bin/python");
    let installed = venv.join("requirements.txt");
    let wanted = fs::read(packages).map_err(|error| format!("cannot read {packages}: {error}"))?;
    if fs::read(&installed).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    let base = std::env::var_os("SUTURA_PYTHON").unwrap_or_else(|| OsString::from("python3"));
    process::run(Command::new(base).args(["-m", "venv", "--clear"]).arg(venv))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check"]).args(options);
    process::run(pip.args(["-r", packages]))?;
    fs::write(&installed, wanted).map_err(|error| format!("cannot write {}: {error}", installed.display()))?;
    Ok(python)
}
