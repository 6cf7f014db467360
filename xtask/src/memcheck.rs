//! `cargo xtask memcheck`: valgrind's memcheck over the runtime's tests, its C interface called in wrong ways, and compiled
//! models, whose kernels valgrind can execute: it knows AVX2 and not AVX-512. That it would find something is shown with a
//! kernel that reads beyond its buffer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, process};

/// What valgrind ends with where it found something, which no test program ends with.
const FOUND: i32 = 99;

/// The target that models are compiled for.
const TARGET: &str = "x86_avx2";

/// Models that are compiled and run: elementwise work, reductions, products, indices, integers.
const MODELS: &[&str] = &[
    "examples/mlp/mlp.onnx",
    "examples/encoder/encoder.onnx",
    "examples/cnn/cnn.onnx",
    "tools/sutura/tests/data/rows.mlir",
    "tools/sutura/tests/data/softmax.mlir",
    "tools/sutura/tests/data/embedding.mlir",
    "tools/sutura/tests/data/divide.mlir",
    "tools/sutura/tests/data/routines.mlir",
    "tools/sutura/tests/data/constant.mlir",
    "tools/sutura/tests/data/recursion/halves.mlir",
];

/// Tests that are left out, by a part of their name, with the reason.
const SKIPPED: &[(&str, &str)] = &[
    ("pool::model", "loom has threads of its own, on stacks that valgrind does not know"),
    ("fiber", "fibers have stacks that valgrind does not know"),
    ("no_flipped_bit_goes_unnoticed", "reads an artifact 30,000 times"),
    ("scrambled_bytes_never_panic", "reads an artifact for each of many inputs"),
    ("no_damage_is_accepted", "reads large files 700 times"),
    ("becomes_shorter", "valgrind does not go on behind a signal for a page that is not there, as processors do"),
    ("pages_that_could_not_be_read", "the same"),
    ("while_they_are_cut", "the same"),
    ("writing_into_a_file_is_an_error", "the same"),
    ("what_the_kernel_lists_is_found", "the kernel lists what valgrind hides"),
    ("drivers_are_not_looked_for_in_pipes", "loads the drivers of the machine"),
    ("other_bus_errors_end_the_process", "ends a process by a signal, which valgrind tells as an error"),
];

/// A test that has a fault on purpose where this variable is set.
const PLANTED: (&str, &str) = ("a_kernel_reads_its_buffer_unless_a_fault_is_planted", "SUTURA_PLANTED_FAULT");

/// Test programs of the runtime that valgrind runs, by the name of their target. Those of devices have drivers in them that are
/// not ours.
const PROGRAMS: &[&str] = &["sutura_runtime", "run", "errors", "damage"];

/// Runs all of it, or with `short` what takes about a minute: the planted fault and the tests of running models.
pub(crate) fn run(short: bool) -> Result<(), Failure> {
    process::output(Command::new("valgrind").arg("--version"))
        .map_err(|error| format!("{error}; `cargo xtask setup` installs valgrind"))?;
    let programs = programs()?;
    let program = |name: &str| {
        let found = programs.iter().find(|(target, _)| target == name).map(|(_, path)| path.as_path());
        found.ok_or_else(|| format!("cargo built no test program `{name}`"))
    };
    planted(program("run")?)?;
    let names = if short { &PROGRAMS[1..2] } else { PROGRAMS };
    for name in names {
        let mut command = valgrind(program(name)?);
        command.arg("--test-threads=1");
        for (test, _) in SKIPPED {
            command.args(["--skip", test]);
        }
        // Few inputs of each kind: memory is what matters here.
        process::run(command.env("PROPTEST_CASES", "2"))?;
    }
    SKIPPED.iter().for_each(|(test, reason)| println!("left out: {test} ({reason})"));
    if short {
        return Ok(());
    }
    wrong_calls()?;
    library()?;
    models()
}

/// Valgrind on a program. Leaks count where nothing points to the memory any more.
fn valgrind(program: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite"]);
    command.args(["--num-callers=30", "--fair-sched=yes"]).arg(format!("--error-exitcode={FOUND}")).arg(program);
    command
}

/// The runtime's test programs, by the names of their targets.
fn programs() -> Result<Vec<(String, PathBuf)>, Failure> {
    let mut build = process::cargo();
    build.args(["test", "--no-run", "--message-format=json", "-p", "sutura-runtime", "-p", "sutura-capi"]);
    build.stderr(std::process::Stdio::inherit());
    let messages = process::output(&mut build)?;
    let found = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_test = message["profile"]["test"].as_bool()?;
        let path = message["executable"].as_str().filter(|_| is_test)?;
        Some((message["target"]["name"].as_str()?.to_owned(), PathBuf::from(path)))
    });
    Ok(found.collect())
}

/// What valgrind would not find here, it could not be trusted about.
fn planted(program: &Path) -> Result<(), Failure> {
    let mut command = valgrind(program);
    let (test, variable) = PLANTED;
    command.args(["--exact", test, "--test-threads=1"]).env(variable, "1");
    let output = command.output().map_err(|error| format!("cannot run valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(FOUND) && said.contains("Invalid read") {
        println!("valgrind finds the kernel that reads beyond its buffer");
        return Ok(());
    }
    Err(format!("valgrind does not find the kernel that reads beyond its buffer: {}\n{said}", output.status))
}

/// The program that calls the C interface in wrong ways, which its test builds.
fn wrong_calls() -> Result<(), Failure> {
    let folder = empty_folder("hostile")?;
    let mut build = process::cargo();
    build.args(["test", "-q", "-p", "sutura-capi", "--test", "embed", "--", "wrong_calls", "sessions_keep_data"]);
    process::run(build.env("SUTURA_KEEP_HOSTILE", &folder))?;
    let mut command = valgrind(&folder.join("hostile"));
    // The program lists devices; drivers of Vulkan are not ours to check.
    command.env("VK_ICD_FILENAMES", "/dev/null").env("VK_DRIVER_FILES", "/dev/null");
    process::run(command.arg(folder.join("rows.sutura")).arg(folder.join("nullary.sutura")))?;
    let mut command = valgrind(&folder.join("device"));
    command.env("SUTURA_CUDA_LIBRARY", folder.join("libfake_gpu.so")).env("VK_ICD_FILENAMES", "/dev/null");
    command.env("VK_DRIVER_FILES", "/dev/null");
    process::run(command.arg(folder.join("chain.sutura")).arg(folder.join("rows.sutura")))
}

/// The program that calls a static library in right and wrong ways, which its test builds.
fn library() -> Result<(), Failure> {
    let folder = empty_folder("library")?;
    let mut build = process::cargo();
    build.args(["test", "-q", "-p", "sutura", "--test", "library", "wrong_calls_are_refused"]);
    process::run(build.env("SUTURA_KEEP_LIBRARY", &folder))?;
    let said = process::output(&mut valgrind(&folder.join("calls")))?;
    // A library that refuses the processor would show nothing.
    if said.contains("run: ok") { Ok(()) } else { Err(format!("the library does not run:\n{said}")) }
}

/// Compiled models at several sizes.
fn models() -> Result<(), Failure> {
    let folder = empty_folder("models")?;
    let tool = process::built("sutura")?;
    process::run(process::cargo().args(["build", "-q", "-p", "sutura-runtime", "--example", "run_artifacts"]))?;
    let built = process::target_folder().join("debug");
    for model in MODELS {
        let name = Path::new(model).file_stem().unwrap_or_default();
        let artifact = folder.join(name).with_extension("sutura");
        let mut compile = Command::new(&tool);
        process::run(compile.args(["--quiet", "compile", model, "--target", TARGET, "-o"]).arg(artifact))?;
    }
    process::run(valgrind(&built.join("examples/run_artifacts")).arg(&folder))
}

fn empty_folder(name: &str) -> Result<PathBuf, Failure> {
    let folder = process::target_folder().join("memcheck").join(name);
    let failed = |error| format!("cannot make the folder {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    // Tests run in the folders of their crates.
    fs::canonicalize(&folder).map_err(failed)
}
