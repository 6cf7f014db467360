//! `cargo xtask tidy`: rules that the compiler does not check.

mod layers;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Failure, process};

pub(crate) fn run() -> Result<(), Failure> {
    let metadata = metadata()?;
    let mut problems = layers::problems(&metadata)?;
    problems.extend(crate_roots_without_forbid(&metadata)?);
    for path in tracked_files()? {
        let Ok(bytes) = fs::read(&path) else {
            // Deleted, but not yet in git's eyes.
            continue;
        };
        // What is not text has no lines to check, even where a small model's bytes could be text.
        let is_model = path.extension().is_some_and(|end| end == "onnx");
        if let Ok(content) = String::from_utf8(bytes)
            && !is_model
        {
            problems.extend(text::problems(&path, &content));
        }
    }
    if problems.is_empty() {
        println!("tidy: nothing to complain about");
        return Ok(());
    }
    for problem in &problems {
        println!("{problem}");
    }
    Err(format!("tidy found {} problems", problems.len()))
}

/// `cargo metadata`, without dependencies from outside.
pub(crate) fn metadata() -> Result<Value, Failure> {
    let json = process::output(process::cargo().args(["metadata", "--format-version=1", "--no-deps", "--locked"]))?;
    serde_json::from_str(&json).map_err(|error| format!("cargo metadata printed something unexpected: {error}"))
}

/// The files that git tracks or would.
fn tracked_files() -> Result<Vec<PathBuf>, Failure> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let list = process::output(Command::new("git").args(arguments))?;
    let mut files: Vec<PathBuf> = list.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// The crates that may hold `unsafe`.
const UNSAFE_ALLOWED: [&str; 5] = ["sutura-arena", "sutura-codegen", "sutura-runtime", "sutura-capi", "sutura-python"];

fn crate_roots_without_forbid(metadata: &Value) -> Result<Vec<String>, Failure> {
    let workspace = metadata["workspace_root"].as_str().unwrap_or_default();
    let mut problems = Vec::new();
    for package in layers::packages(metadata)? {
        let name = package["name"].as_str().unwrap_or_default();
        if UNSAFE_ALLOWED.contains(&name) {
            continue;
        }
        for target in package["targets"].as_array().into_iter().flatten() {
            let kinds: Vec<&str> = target["kind"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let root = Path::new(target["src_path"].as_str().unwrap_or_default());
            if !kinds.iter().any(|kind| ["lib", "bin", "proc-macro", "example"].contains(kind)) {
                continue;
            }
            let content =
                fs::read_to_string(root).map_err(|error| format!("cannot read {}: {error}", root.display()))?;
            if !content.lines().any(|line| line.trim() == "#![forbid(unsafe_code)]") {
                let root = root.strip_prefix(workspace).unwrap_or(root);
                problems.push(format!("{}: the crate root lacks #![forbid(unsafe_code)]", root.display()));
            }
        }
    }
    Ok(problems)
}
