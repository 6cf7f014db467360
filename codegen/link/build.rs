//! Writes the linker script `libMLIR-C.so` (see `src/lib.rs`), or says how to install what is missing.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Where Debian's and apt.llvm.org's packages put LLVM 22.
const DEFAULT_PREFIX: &str = "/usr/lib/llvm-22";
/// What mlir-sys reads to find LLVM; `.cargo/config.toml` sets it.
const PREFIX_VARIABLE: &str = "MLIR_SYS_220_PREFIX";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={PREFIX_VARIABLE}");
    if let Err(error) = run() {
        println!("cargo::error={error}");
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let prefix = env::var_os(PREFIX_VARIABLE).map_or_else(|| PathBuf::from(DEFAULT_PREFIX), PathBuf::from);
    let libdir = prefix.join("lib");
    // Also when it is absent: installing LLVM must make the next build look again.
    println!("cargo::rerun-if-changed={}", libdir.display());
    println!("cargo::metadata=LIBDIR={}", libdir.display());
    if libdir.join("libMLIR-C.so").exists() {
        return Ok(());
    }
    let script = linker_script(&libdir)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(out.join("libMLIR-C.so"), script)?;
    println!("cargo::rustc-link-search=native={}", out.display());
    Ok(())
}

/// The text of a GNU ld script that stands for the C API: its archives, then the shared libraries that they need.
fn linker_script(libdir: &Path) -> Result<String, Box<dyn Error>> {
    let mut archives = c_api_archives(libdir)?;
    // The C API's execution engine is a thin layer over these, which are in no shared library.
    archives.extend(["libMLIRExecutionEngine.a", "libMLIRExecutionEngineUtils.a"].map(|name| libdir.join(name)));
    let shared = ["libMLIR.so", "libLLVM-22.so"].map(|name| libdir.join(name));
    if let Some(missing) = archives.iter().chain(&shared).find(|path| !path.exists()) {
        return Err(not_installed(&format!("{} is missing", missing.display())));
    }
    Ok(format!("INPUT({} AS_NEEDED({}))\n", quoted(&archives), quoted(&shared)))
}

/// `libMLIRCAPI*.a` in `libdir`, sorted so that builds are reproducible.
fn c_api_archives(libdir: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let entries =
        fs::read_dir(libdir).map_err(|error| not_installed(&format!("cannot read {}: {error}", libdir.display())))?;
    let mut archives = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("libMLIRCAPI") && name.ends_with(".a") {
            archives.push(path);
        }
    }
    if archives.is_empty() {
        return Err(not_installed(&format!("no libMLIRCAPI*.a in {}", libdir.display())));
    }
    archives.sort();
    Ok(archives)
}

fn not_installed(what: &str) -> Box<dyn Error> {
    format!("LLVM and MLIR 22 are not installed: {what}. Run `cargo xtask setup`, or set {PREFIX_VARIABLE} to where they are.").into()
}

fn quoted(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("\"{}\"", path.display())).collect::<Vec<_>>().join(" ")
}
