//! Makes this package's tests find MLIR's shared library at run time (see `codegen/link`), and writes the tables of the
//! processors and features that this LLVM knows: it ignores unknown ones with a warning, and its C interface lists neither.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The architectures that code can be generated for, by LLVM's name.
const ARCHITECTURES: [&str; 5] = ["aarch64", "amdgcn", "nvptx64", "riscv64", "x86_64"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(error) = run() {
        println!("cargo::error={error}");
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let libdir = env::var("DEP_MLIR_SHARED_LIBDIR")
        .map_err(|_| "the build script of sutura-mlir-link did not say where MLIR's libraries are")?;
    println!("cargo::rustc-link-arg=-Wl,-rpath,{libdir}");
    let bin = Path::new(&libdir).parent().ok_or("MLIR's library folder has no parent")?.join("bin");
    println!("cargo::rustc-env=SUTURA_LLVM_BIN={}", bin.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(out.join("subtargets.rs"), subtarget_tables(&bin.join("llc"))?)?;
    Ok(())
}

/// Rust text of one `Subtarget` per architecture, as a slice; names are sorted.
fn subtarget_tables(llc: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", llc.display());
    let mut tables = String::from("&[\n");
    for architecture in ARCHITECTURES {
        let help = help_of(llc, architecture)?;
        let (cpus, features) = help.split_once("Available features").ok_or_else(|| unexpected(llc))?;
        let (cpus, features) = (names(cpus), names(features));
        if cpus.is_empty() || features.is_empty() {
            return Err(unexpected(llc));
        }
        let entry = format!("architecture: {architecture:?}, cpus: &{cpus:?}, features: &{features:?}");
        writeln!(tables, "    Subtarget {{ {entry} }},")?;
    }
    tables.push_str("]\n");
    Ok(tables)
}

fn help_of(llc: &Path, architecture: &str) -> Result<String, Box<dyn Error>> {
    let output = Command::new(llc)
        .args([&format!("-mtriple={architecture}"), "-mattr=help"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run {}: {error}. Run `cargo xtask setup`.", llc.display()))?;
    // The help is on stderr.
    Ok(String::from_utf8(output.stderr)?)
}

/// The names of lines like `  avx2   - Enable AVX2 instructions.`.
fn names(list: &str) -> Vec<&str> {
    let mut names: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once(" - "))
        .map(|(name, _)| name.trim())
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn unexpected(llc: &Path) -> Box<dyn Error> {
    format!("`{} -mattr=help` printed something other than lists of processors and features", llc.display()).into()
}
