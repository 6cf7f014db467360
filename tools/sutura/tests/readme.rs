//! The commands of README.md: those of the tools are run on a model, and what others need is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lines of the blocks for a shell.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            _ if inside => commands.push(line.split("  #").next().unwrap_or(line).trim().to_owned()),
            _ => {}
        }
    }
    commands
}

/// Runs a command, or looks whether what it names is there.
fn check(command: &str, folder: &Path) -> Result<(), String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match &words[..] {
        ["cargo", "xtask", name] => known_chore(name),
        ["cargo", "build", "--release", packages @ ..] => {
            packages.chunks(2).try_for_each(|pair| if pair[0] == "-p" { package(pair[1]) } else { Err(pair[0].into()) })
        }
        // Code for GPUs takes long to make; that it can be made `check` tells.
        ["cargo", "run", "-q", "--release", "-p", "sutura", "--", "compile", model, "--target", targets, "-o", _] => {
            run("sutura", &["check", "-q", model, "--target", targets], &repository())
        }
        ["python", script, ..] => match fs::read_to_string(repository().join(script)) {
            Ok(text) => words
                .iter()
                .filter(|word| word.starts_with("--"))
                .try_for_each(|flag| if text.contains(flag) { Ok(()) } else { Err(format!("{script} has no {flag}")) }),
            Err(error) => Err(format!("{script}: {error}")),
        },
        [tool @ ("sutura" | "sutura-run"), arguments @ ..] => run(tool, arguments, folder),
        _ => Err(format!("the test does not know `{command}`")),
    }
}

fn known_chore(name: &str) -> Result<(), String> {
    let chores = fs::read_to_string(repository().join("xtask/src/main.rs")).map_err(|error| error.to_string())?;
    if chores.contains(&format!("\"{name}\"")) { Ok(()) } else { Err(format!("there is no `cargo xtask {name}`")) }
}

fn package(name: &str) -> Result<(), String> {
    let manifest = repository().join("tools").join(name.trim_start_matches("sutura-")).join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap_or_default();
    if text.contains(&format!("name = \"{name}\"")) { Ok(()) } else { Err(format!("there is no package {name}")) }
}

fn run(tool: &str, arguments: &[&str], folder: &Path) -> Result<(), String> {
    let program = Path::new(env!("CARGO_BIN_EXE_sutura")).with_file_name(tool);
    let done = Command::new(&program).args(arguments).current_dir(folder).output();
    let done = done.map_err(|error| format!("{}: {error}", program.display()))?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}

/// A folder with the model and the input that the page speaks of.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(repository().join("examples/mlp/mlp.onnx"), folder.path().join("model.onnx")).unwrap();
    fs::copy(repository().join("examples/mlp/b7/x.npy"), folder.path().join("x.npy")).unwrap();
    folder
}

#[test]
fn every_command_works() {
    let folder = folder();
    let page = fs::read_to_string(repository().join("README.md")).unwrap();
    let commands = commands(&page);
    assert!(commands.len() >= 8, "{commands:?}");
    for command in commands {
        if let Err(wrong) = check(&command, folder.path()) {
            panic!("README.md: `{command}`: {wrong}");
        }
    }
}

#[test]
fn wrong_commands_are_found() {
    let folder = folder();
    for (command, words) in [
        ("cargo xtask demmo", "there is no `cargo xtask demmo`"),
        ("cargo build --release -p sutura-walk", "there is no package sutura-walk"),
        ("sutura check absent.onnx", "absent.onnx"),
        ("sutura-run run model.onnx", "is not a Sutura artifact"),
        ("python benches/beside_onnxruntime.py --sideways", "has no --sideways"),
        ("rm -rf build", "the test does not know"),
    ] {
        let found = check(command, folder.path());
        assert!(found.as_ref().is_err_and(|wrong| wrong.contains(words)), "{command}: {found:?}");
    }
    assert_eq!(commands("a\n```sh\nls   # says\n```\n```text\nls\n```\n"), ["ls"]);
}
