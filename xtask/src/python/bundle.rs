//! The wheel of the compiler: the program `sutura`, the linker, and every library that they need and that not every Linux has.
//!
//! Programs lie in `sutura_compiler/bin`, libraries in `sutura_compiler/lib`, and each finds those by its own place. So the wheel
//! needs nothing of the system but the C library, in the version that its name says, and no Python of any version.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, process};

const SOURCES: &str = "python/compiler";
const PACKAGE: &str = "sutura_compiler";

/// Libraries that belong to the C library, which is the system's.
const SYSTEM: [&str; 8] = [
    "linux-vdso.so.1",
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "librt.so.1",
    "libpthread.so.0",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
];

/// Makes the wheel of a program.
pub(crate) fn wheel(python: &Path, program: &Path, scratch: &Path, wheels: &Path) -> Result<PathBuf, Failure> {
    if scratch.exists() {
        fs::remove_dir_all(scratch).map_err(|error| format!("cannot remove {}: {error}", scratch.display()))?;
    }
    let package = scratch.join(PACKAGE);
    let (bin, lib) = (package.join("bin"), package.join("lib"));
    for folder in [&bin, &lib] {
        fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    }
    let tools = python.parent().ok_or("Python has no folder")?;
    let linker = linker();
    let mut found = BTreeMap::new();
    for file in [program, &linker] {
        libraries(file, &mut found)?;
        let name = file.file_name().unwrap_or_default();
        put(file, &bin.join(name), tools, "$ORIGIN/../lib")?;
    }
    for (name, file) in &found {
        put(file, &lib.join(name), tools, "$ORIGIN")?;
    }
    check_alone(&bin, &lib)?;
    licenses(found.values().chain([&linker]), &package.join("licenses"))?;
    for name in ["__init__.py", "__main__.py", "py.typed"] {
        copy(&Path::new(SOURCES).join(PACKAGE).join(name), &package.join(name))?;
    }
    copy(Path::new("LICENSE"), &package.join("LICENSE"))?;
    let tag = format!("py3-none-{}", platform(&[&bin, &lib])?);
    describe(scratch, &tag)?;
    process::run(Command::new(python).args(["-m", "wheel", "pack", "--dest-dir"]).arg(wheels).arg(scratch))?;
    Ok(wheels.join(format!("{PACKAGE}-{}-{tag}.whl", env!("CARGO_PKG_VERSION"))))
}

/// The linker of LLVM.
fn linker() -> PathBuf {
    let prefix = std::env::var_os("MLIR_SYS_220_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into());
    Path::new(&prefix).join("bin/ld.lld")
}

/// Adds the libraries that a file needs, and those that they need, by name.
fn libraries(file: &Path, found: &mut BTreeMap<String, PathBuf>) -> Result<(), Failure> {
    let list = process::output(Command::new("ldd").arg(file))?;
    for line in list.lines() {
        if let Some((name, file)) = library(line)? {
            found.insert(name.to_owned(), file);
        }
    }
    Ok(())
}

/// A line of `ldd`: the name and place of a library that goes into the wheel.
fn library(line: &str) -> Result<Option<(&str, PathBuf)>, Failure> {
    let line = line.trim();
    let (name, place) = line.split_once(" => ").unwrap_or((line.split(' ').next().unwrap_or(line), ""));
    let base = name.rsplit('/').next().unwrap_or(name);
    if SYSTEM.contains(&base) {
        return Ok(None);
    }
    match place.split(" (").next() {
        Some(file) if file.starts_with('/') => Ok(Some((name, file.into()))),
        _ => Err(format!("`ldd` says `{line}`: where is that library?")),
    }
}

/// Copies a program or library without what only a debugger wants, and lets it find libraries by its own place.
fn put(from: &Path, to: &Path, tools: &Path, path: &str) -> Result<(), Failure> {
    copy(from, to)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("cannot write {}: {error}", to.display()))?;
    // In this order: `strip` breaks what `patchelf` has moved.
    process::output(Command::new("strip").arg("--strip-unneeded").arg(to))?;
    process::output(Command::new(tools.join("patchelf")).args(["--force-rpath", "--set-rpath", path]).arg(to))?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::copy(from, to).map(drop).map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()))
}

/// The programs take their libraries from the wheel, and start.
fn check_alone(bin: &Path, lib: &Path) -> Result<(), Failure> {
    for name in ["sutura", "ld.lld"] {
        let program = bin.join(name);
        let strangers = strangers(&process::output(Command::new("ldd").arg(&program))?, lib)?;
        if !strangers.is_empty() {
            return Err(format!("{} takes from outside of the wheel: {}", program.display(), strangers.join(", ")));
        }
        process::output(Command::new(&program).arg("--version").env_clear())?;
    }
    Ok(())
}

/// The libraries in a list of `ldd` that are neither the system's nor in the folder.
fn strangers(list: &str, lib: &Path) -> Result<Vec<String>, Failure> {
    let found = list.lines().map(library).collect::<Result<Vec<_>, _>>()?;
    // The place may be written by way of the program's folder.
    let is_own = |file: &Path| fs::canonicalize(file).is_ok_and(|file| file.starts_with(lib));
    let strangers = found.into_iter().flatten().filter(|(_, file)| !is_own(file));
    Ok(strangers.map(|(_, file)| file.display().to_string()).collect())
}

/// Copies the licences of files that Debian's packages have, one file for each package.
fn licenses<'a>(files: impl Iterator<Item = &'a PathBuf>, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    for file in files {
        let package = owner(file)?;
        copy(&Path::new("/usr/share/doc").join(&package).join("copyright"), &folder.join(package))?;
    }
    Ok(())
}

/// The Debian package of a file, which it may have under `/lib` or `/usr/lib`.
fn owner(file: &Path) -> Result<String, Failure> {
    let real = fs::canonicalize(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let short = real.strip_prefix("/usr").map(|rest| Path::new("/").join(rest));
    let search = |path: &Path| process::output(Command::new("dpkg").arg("-S").arg(path));
    let found = search(&real).or_else(|failure| short.map_err(|_| failure).and_then(|path| search(&path)))?;
    let name = found.split([':', ',']).next().unwrap_or_default();
    Ok(name.to_owned())
}

/// The platform of a wheel's name, by the newest version of the C library that a file wants.
fn platform(folders: &[&Path]) -> Result<String, Failure> {
    let mut newest = (0, 0);
    for folder in folders {
        let entries = fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        for file in entries.flatten().map(|entry| entry.path()) {
            let symbols = process::output(Command::new("objdump").arg("-T").arg(&file))?;
            newest = versions(&symbols).into_iter().fold(newest, std::cmp::max);
        }
    }
    let (major, minor) = newest;
    if major == 0 {
        return Err("no file says which version of the C library it wants".to_owned());
    }
    Ok(format!("manylinux_{major}_{minor}_{}", std::env::consts::ARCH))
}

/// The versions of glibc that a list of symbols names.
fn versions(symbols: &str) -> BTreeSet<(u32, u32)> {
    let version = |text: &str| {
        let digits = text.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
        let (major, minor) = digits.split_once('.')?;
        Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
    };
    symbols.split("GLIBC_").skip(1).filter_map(version).collect()
}

/// Writes what a wheel says of itself; `wheel pack` adds the list of files.
fn describe(scratch: &Path, tag: &str) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let folder = scratch.join(format!("{PACKAGE}-{version}.dist-info"));
    fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    let readme = fs::read_to_string(Path::new(SOURCES).join("README.md"));
    let readme = readme.map_err(|error| format!("cannot read {SOURCES}/README.md: {error}"))?;
    let metadata = format!(
        "Metadata-Version: 2.4\nName: sutura-compiler\nVersion: {version}\nSummary: The Sutura compiler of tensor models, with LLVM\n\
         Requires-Python: >=3.10\nRequires-Dist: sutura=={version}\nLicense-Expression: Apache-2.0 WITH LLVM-exception\n\
         Description-Content-Type: text/markdown\n\n{readme}"
    );
    let texts = [
        ("METADATA", metadata),
        ("WHEEL", format!("Wheel-Version: 1.0\nGenerator: sutura-xtask\nRoot-Is-Purelib: false\nTag: {tag}\n")),
        ("entry_points.txt", format!("[console_scripts]\nsutura = {PACKAGE}.__main__:main\n")),
    ];
    for (name, text) in texts {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_the_system_stay_there() {
        let of = |line| library(line).map(|found| found.map(|(name, file)| (name.to_owned(), file)));
        let own = of("\tlibLLVM.so.22.1 => /usr/lib/llvm-22/lib/libLLVM.so.22.1 (0x00007f4a54200000)");
        assert_eq!(own, Ok(Some(("libLLVM.so.22.1".to_owned(), "/usr/lib/llvm-22/lib/libLLVM.so.22.1".into()))));
        for line in [
            "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f4a4d41e000)",
            "\t/lib64/ld-linux-x86-64.so.2 (0x00007f4a603e4000)",
            "\tlinux-vdso.so.1 (0x00007f4a603f2000)",
        ] {
            assert_eq!(of(line), Ok(None), "{line}");
        }
        assert!(of("\tlibMLIR.so.22.1 => not found").unwrap_err().contains("libMLIR.so.22.1 => not found"));
    }

    #[test]
    fn libraries_from_outside_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let lib = fs::canonicalize(folder.path()).unwrap().join("lib");
        fs::create_dir_all(&lib).unwrap();
        fs::write(lib.join("libown.so.1"), "").unwrap();
        fs::write(folder.path().join("libother.so.2"), "").unwrap();
        let line = |name: &str, file: &Path| format!("\t{name} => {} (0x00007f)\n", file.display());
        let own = line("libown.so.1", &lib.join("../lib/libown.so.1")) + "\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n";
        assert_eq!(strangers(&own, &lib), Ok(vec![]));
        let other = line("libother.so.2", &folder.path().join("libother.so.2"));
        assert_eq!(strangers(&(own + &other), &lib).unwrap().len(), 1);
        assert!(strangers("\tlibgone.so => not found", &lib).is_err());
    }

    #[test]
    fn the_newest_version_counts() {
        let symbols = "0 DF *UND* 0 (GLIBC_2.2.5) free\n0 DF *UND* 0 (GLIBC_2.34) x\n0 DO GLIBC_PRIVATE y (GLIBC_2.4)";
        assert_eq!(versions(symbols).last(), Some(&(2, 34)));
        assert!(versions("nothing").is_empty());
    }
}
