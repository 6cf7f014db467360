//! Models of `tests/data`, compiled by the command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command, without colours.
pub(crate) fn sutura(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.env("NO_COLOR", "1").args(args).output().unwrap()
}

/// A file of `tests/data`.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The artifact that a model of `tests/data` becomes in `folder`, with `more` options.
pub(crate) fn compiled(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let (model, artifact) = (data(name), folder.join(name).with_extension("sutura"));
    let files = ["compile", "-q", model.to_str().unwrap(), "-o", artifact.to_str().unwrap()];
    let done = sutura(&[&files[..], more].concat());
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    artifact
}
