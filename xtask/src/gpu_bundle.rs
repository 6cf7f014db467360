//! `cargo xtask gpu-bundle`: a folder that checks and times kernels on a machine with a GPU, and needs nothing there
//! but the GPU's driver.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, process, setup};

/// What the bundle is for, unless `--targets` says otherwise.
const TARGETS: &str = "cuda:sm_80,cuda:sm_90,cuda:sm_100,rocm:gfx90a,rocm:gfx942,rocm:gfx1100";
const PROGRAMS: &str = "benches/gpu/programs";
/// What goes to the machine as it is.
const FILES: [&str; 3] = ["README.md", "run.sh", "peers.py"];
const ENCODER: &str = "examples/encoder";
/// Bytes of the folder at most, so that it can be sent around.
const LIMIT: u64 = 60 * 1000 * 1000;
/// What the runner may be linked with: what every Linux has.
const LIBRARIES: [&str; 7] =
    ["linux-vdso.so", "libc.so", "libm.so", "libgcc_s.so", "libpthread.so", "libdl.so", "ld-linux"];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let (mut folder, mut targets) = (process::target_folder().join("gpu-bundle"), TARGETS.to_owned());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value =
            words.next().ok_or_else(|| format!("`{word}` is no option, or has no value; `cargo xtask help`"))?;
        match word.as_str() {
            "-o" | "--output" => folder = PathBuf::from(value),
            "--targets" => targets.clone_from(value),
            _ => return Err(format!("there is no option `{word}`; `cargo xtask help` shows what there is")),
        }
    }
    setup::run()?;
    // The programs are small, so a compiler that was built for tests is quick enough; the runner is what is measured.
    process::run(process::cargo().args(["build", "--package", "sutura"]))?;
    process::run(process::cargo().args(["build", "--release", "--package", "sutura-gpu-runner"]))?;
    let target = process::target_folder();
    let (compiler, runner) = (target.join("debug/sutura"), target.join("release/gpu-runner"));
    check_libraries(&runner)?;
    empty(&folder)?;
    let made = fill(&folder, &compiler, &runner, &targets);
    if made.is_err() {
        // A part of a bundle looks like one. The error that is told is the first.
        let _ = fs::remove_dir_all(&folder);
    }
    made
}

fn fill(folder: &Path, compiler: &Path, runner: &Path, targets: &str) -> Result<(), Failure> {
    copy(runner, &folder.join("gpu-runner"))?;
    for file in FILES {
        copy(&Path::new("benches/gpu").join(file), &folder.join(file))?;
    }
    for (case, path) in entries(Path::new(ENCODER))?.into_iter().filter(|(_, path)| path.is_dir()) {
        for (file, path) in entries(&path)? {
            copy(&path, &folder.join("encoder").join(&case).join(file))?;
        }
    }
    artifacts(compiler, targets, &folder.join("artifacts"))?;
    let bytes = size(folder)?;
    if bytes > LIMIT {
        return Err(format!("{} has {bytes} bytes, more than {LIMIT}; make it for fewer --targets", folder.display()));
    }
    println!("{}: {:.1} MB; copy it to a machine with a GPU and start run.sh", folder.display(), bytes as f64 / 1e6);
    Ok(())
}

/// Compiles every program once, into an artifact with a variant for each target.
fn artifacts(compiler: &Path, targets: &str, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let programs = entries(Path::new(PROGRAMS))?.into_iter().map(|(_, path)| path);
    for program in programs.chain([Path::new(ENCODER).join("encoder.onnx")]) {
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut command = Command::new(compiler);
        command.args(["--quiet", "compile", "--target", targets]).arg(&program).arg("-o");
        process::run(command.arg(folder.join(format!("{name}.sutura"))))?;
    }
    Ok(())
}

/// What the runner needs must be on every machine: no LLVM, and no driver.
fn check_libraries(runner: &Path) -> Result<(), Failure> {
    let said = process::output(Command::new("ldd").arg(runner))?;
    let names = said.lines().filter_map(|line| line.split_whitespace().next());
    let names = names.map(|name| name.rsplit('/').next().unwrap_or(name));
    let strange: Vec<&str> = names.filter(|name| !LIBRARIES.iter().any(|known| name.starts_with(known))).collect();
    if strange.is_empty() { Ok(()) } else { Err(format!("{} needs {}", runner.display(), strange.join(", "))) }
}

/// An empty folder. One that has something else than an earlier bundle is left alone.
fn empty(folder: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("cannot make {}: {error}", folder.display());
    if folder.join("gpu-runner").is_file() {
        fs::remove_dir_all(folder).map_err(failed)?;
    } else if folder.is_dir() && !entries(folder)?.is_empty() {
        return Err(format!("{} is no bundle, and not empty; name another folder with -o", folder.display()));
    }
    fs::create_dir_all(folder).map_err(failed)
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let folder = to.parent().unwrap_or(Path::new("."));
    let done = fs::create_dir_all(folder).and_then(|()| fs::copy(from, to));
    done.map(drop).map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()))
}

/// Names and paths of what a folder has, sorted.
fn entries(folder: &Path) -> Result<Vec<(std::ffi::OsString, PathBuf)>, Failure> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let all = fs::read_dir(folder).map_err(failed)?;
    let mut all = all.map(|entry| entry.map(|entry| (entry.file_name(), entry.path()))).collect::<Result<Vec<_>, _>>();
    if let Ok(all) = &mut all {
        all.retain(|(name, _)| name != OsStr::new("__pycache__"));
        all.sort();
    }
    all.map_err(failed)
}

fn size(folder: &Path) -> Result<u64, Failure> {
    let mut bytes = 0;
    for (_, path) in entries(folder)? {
        let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        bytes += if path.is_dir() { size(&path)? } else { fs::metadata(&path).map_err(failed)?.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_bundle_is_left_alone() {
        let folder = std::env::temp_dir().join(format!("gpu-bundle-{}", std::process::id()));
        fs::create_dir_all(folder.join("inside")).unwrap();
        fs::write(folder.join("inside/file"), "1234").unwrap();
        assert!(empty(&folder).unwrap_err().contains("is no bundle, and not empty"));
        assert_eq!(size(&folder), Ok(4));
        copy(&folder.join("inside/file"), &folder.join("gpu-runner")).unwrap();
        empty(&folder).unwrap();
        assert_eq!(entries(&folder), Ok(Vec::new()));
        fs::remove_dir(&folder).unwrap();
    }
}
