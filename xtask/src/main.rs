//! The project's chores, as `cargo xtask COMMAND`.

#![forbid(unsafe_code)]
// A program that talks to a person at a terminal.
#![allow(clippy::print_stdout)]

mod bless;
mod changed;
mod ci;
mod coverage;
mod demo;
mod failures;
mod fuzz;
mod gpu_bundle;
mod llvm_lit;
mod memcheck;
mod nvidia;
mod operators;
mod process;
mod python;
mod setup;
mod skips;
mod soak;
mod test;
mod tidy;
mod venv;
mod zoo;

use std::env;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  setup          install the system packages that are missing (LLVM and MLIR 22, lld)
  demo           build in release mode, compile the example encoder once, run it at four shapes
  test [ARGS…]   run every test of the workspace; ARGS go to `cargo test`
  test --changed [BASE]  run what the changes since BASE (main) can affect, and say what is left out
  llvm-lit [ARGS…]  run lit-tests/ under LLVM's lit and FileCheck; ARGS go to lit
  fuzz [ARGS…]   look for inputs that make the tools panic or hang, 60 s per target; ARGS as of sutura-fuzz --help
  fuzz --coverage [--target NAME]… [--seconds N] [--seed N] [--planted]  the same with AFL++, which looks for inputs that reach
                 new code; --planted shows that it finds a fault made for it, in 600 s
  soak --minutes N [--seed N] [--part NAME]…  everything that looks for faults, each for its share of the time: fuzzers with
                 and without coverage, random models beside onnxruntime, random programs, the perturbed corpus, the pool, valgrind
  gpu-bundle [-o DIR] [--targets T,T]  make a folder that checks and times kernels on a machine with a GPU; without LLVM or
                 Rust there. For NVIDIA's and AMD's targets; `lavapipe` or `cpu_fibers` to try it here
  operators [--check]  make the importer's table of operators from the schemas of the onnx package, or check that it is so
  memcheck [--short]  look for wrong memory accesses of the runtime and of compiled models with valgrind
  zoo [--only REGEX] [--list] [--json FILE] [--venv DIR]  80 networks of torchvision, timm and transformers with random weights,
                 exported by PyTorch, compiled once, compared with onnxruntime; packages come from PyPI (7 GB)
  wheel [--runtime | --compiler]  make the packages for Python in target/wheels: the runtime (`sutura`), and the compiler with LLVM
  python [--with PACKAGE]… [ARGS…]  test the runtime's package; ARGS go to pytest. jax2onnx and torch allow more tests
  tidy           check layers, files and crate attributes
  bless          write the tests' snapshots anew
  ci             setup, format, tidy, clippy, documentation, tests and the standalone example, as the gate runs them
";

/// Why a command failed, for a person to read.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // Paths are relative to the workspace, wherever the command was given.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    if let Err(error) = env::set_current_dir(root) {
        eprintln!("error: cannot enter {}: {error}", root.display());
        return ExitCode::FAILURE;
    }
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", &[][..]),
    };
    let result = match (command, rest) {
        ("setup", []) => setup::run().map(|()| ExitCode::SUCCESS),
        ("demo", []) => demo::run().map(|()| ExitCode::SUCCESS),
        ("test", arguments) => test::run(arguments),
        ("llvm-lit", arguments) => llvm_lit::run(arguments).map(|()| ExitCode::SUCCESS),
        ("fuzz", arguments) => fuzz::run(arguments).map(|()| ExitCode::SUCCESS),
        ("soak", arguments) => soak::run(arguments),
        ("gpu-bundle", arguments) => gpu_bundle::run(arguments).map(|()| ExitCode::SUCCESS),
        ("operators", arguments) => operators::run(arguments).map(|()| ExitCode::SUCCESS),
        ("memcheck", []) => memcheck::run(false).map(|()| ExitCode::SUCCESS),
        ("memcheck", [short]) if short == "--short" => memcheck::run(true).map(|()| ExitCode::SUCCESS),
        ("zoo", arguments) => zoo::run(arguments),
        ("wheel", arguments) => python::wheel(arguments).map(|()| ExitCode::SUCCESS),
        ("python", arguments) => python::run(arguments).map(|()| ExitCode::SUCCESS),
        ("tidy", []) => tidy::run().map(|()| ExitCode::SUCCESS),
        ("bless", []) => bless::run().map(|()| ExitCode::SUCCESS),
        ("ci", []) => ci::run(),
        ("help" | "--help" | "-h", _) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("error: unknown command `{}`\n\n{USAGE}", arguments.join(" "));
            return ExitCode::from(2);
        }
    };
    result.unwrap_or_else(|failure| {
        eprintln!("error: {failure}");
        ExitCode::FAILURE
    })
}
