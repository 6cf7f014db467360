//! The packages for Python: `cargo xtask wheel` makes their wheels, `cargo xtask python` tests them.

mod bundle;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::test::{Lacking, Summary};
use crate::{Failure, process, skips, venv};

/// The crate of the runtime's package, which maturin builds.
const RUNTIME: &str = "python/Cargo.toml";
const BUILD_PACKAGES: &str = "python/requirements-build.txt";
const TEST_PACKAGES: &str = "python/requirements-test.txt";
const TESTS: &str = "python/tests";

/// The most that the runtime's wheel may have: it is what an application carries.
const MOST_BYTES: u64 = 3 << 20;

/// Where things of Python lie below the target folder.
fn folder(name: &str) -> Result<PathBuf, Failure> {
    let target = std::path::absolute(process::target_folder()).map_err(|error| format!("no target folder: {error}"))?;
    Ok(target.join("python").join(name))
}

/// Whether the tests of the packages look at a file.
pub(crate) fn is_of_package(path: &str) -> bool {
    ["python/", "runtime/src/", "docs/python.md", "README.md"].iter().any(|begin| path.starts_with(begin))
}

/// The program `sutura` that is to be taken instead of one that is built.
fn given_compiler() -> Option<PathBuf> {
    std::env::var_os("SUTURA_COMPILER").map(PathBuf::from)
}

/// The program `sutura`, built to be handed out.
fn released() -> Result<PathBuf, Failure> {
    process::run(process::cargo().args(["build", "--release", "--package", "sutura", "--bin", "sutura"]))?;
    Ok(process::target_folder().join("release/sutura"))
}

/// Makes the wheels, or the one that is named.
pub(crate) fn wheel(arguments: &[String]) -> Result<(), Failure> {
    let (runtime, compiler) = match arguments {
        [] => (true, true),
        [only] if only == "--runtime" => (true, false),
        [only] if only == "--compiler" => (false, true),
        _ => return Err("`wheel` takes `--runtime` or `--compiler`, or nothing for both".to_owned()),
    };
    let python = venv::python_with(&folder("build")?, BUILD_PACKAGES, &[])?;
    let wheels = std::path::absolute(process::target_folder().join("wheels"))
        .map_err(|error| format!("no target folder: {error}"))?;
    fs::create_dir_all(&wheels).map_err(|error| format!("cannot create {}: {error}", wheels.display()))?;
    if runtime {
        let wheel = runtime_wheel(&python, &wheels, "release")?;
        check_size(&wheel, MOST_BYTES)?;
        tell(&wheel)?;
    }
    if compiler {
        let program = given_compiler().map_or_else(released, Ok)?;
        let wheel = bundle::wheel(&python, &program, &folder("bundle")?, &wheels)?;
        tell(&wheel)?;
    }
    Ok(())
}

/// Builds the runtime's wheel, the only one in its folder.
fn runtime_wheel(python: &Path, wheels: &Path, profile: &str) -> Result<PathBuf, Failure> {
    let scratch = folder("runtime-wheel")?;
    // What an earlier version was called is not taken for this one.
    if scratch.exists() {
        fs::remove_dir_all(&scratch).map_err(|error| format!("cannot remove {}: {error}", scratch.display()))?;
    }
    let mut command = Command::new(python);
    command.args(["-m", "maturin", "build", "--quiet", "--manifest-path", RUNTIME, "--profile", profile]);
    process::run(command.arg("--interpreter").arg(python).arg("--out").arg(&scratch))?;
    let entries = fs::read_dir(&scratch).map_err(|error| format!("cannot read {}: {error}", scratch.display()))?;
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let [file] = &files[..] else { return Err(format!("maturin made {} files", files.len())) };
    let wheel = wheels.join(file.file_name().unwrap_or_default());
    fs::copy(file, &wheel).map_err(|error| format!("cannot write {}: {error}", wheel.display()))?;
    Ok(wheel)
}

fn bytes(file: &Path) -> Result<u64, Failure> {
    let metadata = fs::metadata(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    Ok(metadata.len())
}

fn check_size(wheel: &Path, most: u64) -> Result<(), Failure> {
    match bytes(wheel)? {
        found if found <= most => Ok(()),
        found => Err(format!("{} has {found} bytes, more than {most}", wheel.display())),
    }
}

fn tell(wheel: &Path) -> Result<(), Failure> {
    println!("{} ({:.1} MB)", wheel.display(), bytes(wheel)? as f64 / 1e6);
    Ok(())
}

/// `cargo xtask python`: the tests alone. `--with PACKAGE` installs one more, for tests that are skipped without it; what else is
/// given goes to pytest.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut rest = arguments.iter();
    let (mut with, mut others) = (Vec::new(), Vec::new());
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--with" => with.push(rest.next().ok_or("`--with` needs a package")?.clone()),
            _ => others.push(argument.clone()),
        }
    }
    let mut summary = Summary::default();
    let result = environment().and_then(|python| tests(&python, &with, &others, &mut summary));
    summary.print();
    result
}

/// The Python of an environment with what the tests need. It is made where it is missing, with packages of PyPI.
fn environment() -> Result<PathBuf, Failure> {
    // Bytecode is made of what is used, when it is.
    venv::python_with(&folder("test")?, TEST_PACKAGES, &["--no-compile"])
}

/// The tests as a part of others: where their packages cannot be had, that is said, or is a failure.
pub(crate) fn tests_among_others(lacking: Lacking, summary: &mut Summary) -> Result<(), Failure> {
    match environment() {
        Ok(python) => tests(&python, &[], &[], summary),
        Err(failure) if lacking == Lacking::Said => {
            println!("skipped: the tests of Python: {failure}");
            Ok(())
        }
        Err(failure) => Err(failure),
    }
}

/// Builds the runtime's wheel without optimisation, installs it, and runs the tests with the compiler that the workspace's tests
/// use, or that which `SUTURA_COMPILER` names. What ran is added to `summary`.
fn tests(python: &Path, with: &[String], arguments: &[String], summary: &mut Summary) -> Result<(), Failure> {
    let pip = |arguments: &[&str]| {
        let mut command = Command::new(python);
        command.args(["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile"]).args(arguments);
        command
    };
    if !with.is_empty() {
        process::run(pip(&[]).args(with))?;
    }
    let compiler = given_compiler().map_or_else(|| process::built("sutura"), Ok)?;
    let compiler = std::path::absolute(compiler).map_err(|error| error.to_string())?;
    let wheels = folder("test-wheels")?;
    fs::create_dir_all(&wheels).map_err(|error| format!("cannot create {}: {error}", wheels.display()))?;
    let wheel = runtime_wheel(python, &wheels, "dev")?;
    process::run(pip(&["--no-deps", "--force-reinstall"]).arg(&wheel))?;
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS]).args(arguments);
    command.env("SUTURA_COMPILER", compiler);
    let notes = skips::Notes::of(&mut command)?;
    let shown = process::shown(&command);
    println!("$ {shown}");
    let output = command.output().map_err(|error| format!("cannot run `{shown}`: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    notes.read().lines().for_each(|line| println!("{line}"));
    let counted = summary.add_pytest(&text);
    match (output.status.success(), counted) {
        (true, true) => Ok(()),
        (true, false) => Err(format!("`{shown}` does not say what it tested")),
        (false, _) => Err(format!("`{shown}` ended with {}", output.status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_that_is_too_large_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = folder.path().join("a.whl");
        fs::write(&wheel, [0; 10]).unwrap();
        assert!(check_size(&wheel, 10).is_ok());
        assert!(check_size(&wheel, 9).unwrap_err().contains("has 10 bytes, more than 9"));
        assert!(check_size(&folder.path().join("none"), 9).is_err());
    }
}
