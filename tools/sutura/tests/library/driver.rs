//! A program in C that runs any library: it reads the inputs from stdin, runs twice, and writes the outputs to stdout.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sutura_runtime::manifest::{Manifest, Value};
use sutura_runtime::{ElementType, Tensor};

/// The command, which must succeed.
pub(crate) fn sutura(args: &[&str]) {
    let done = Command::new(env!("CARGO_BIN_EXE_sutura")).env("NO_COLOR", "1").args(args).output().unwrap();
    assert!(done.status.success(), "{args:?}\n{}", String::from_utf8_lossy(&done.stderr));
}

/// A model as a library with its header, in a folder: `NAME.a` and `NAME.h`.
pub(crate) fn library(folder: &Path, model: &Path, name: &str, target: &str) {
    for (emit, extension) in [("static-lib", "a"), ("c-header", "h")] {
        let output = folder.join(format!("{name}.{extension}"));
        let emit = format!("--emit={emit}");
        let (model, output) = (model.to_str().unwrap(), output.to_str().unwrap());
        sutura(&["compile", "-q", model, &emit, "--prefix", name, "--target", target, "-o", output]);
    }
}

/// Compiles a program with warnings as errors, and links it.
pub(crate) fn build(compiler: &str, standard: &str, sources: &[&Path], program: &Path) {
    let mut command = Command::new(compiler);
    command.args([standard, "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]).args(sources).arg("-o").arg(program);
    let done = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(done.status.success(), "{compiler}\n{}", String::from_utf8_lossy(&done.stderr));
}

/// Writes the program for a library that is called `m`. It is C99 and C++.
pub(crate) fn write(folder: &Path, manifest: &Manifest) -> PathBuf {
    let path = folder.join("driver.c");
    std::fs::write(&path, text(manifest)).unwrap();
    path
}

fn text(manifest: &Manifest) -> String {
    let mut body = String::new();
    let (mut inputs, mut outputs, mut run) = (Vec::new(), Vec::new(), Vec::new());
    for (at, value) in manifest.inputs.iter().enumerate() {
        let (rank, ty, size) = (value.dims.len(), c_type(value.element_type), value.element_type.bytes());
        writeln!(body, "  int64_t id{at}[{}] = {{0}};", rank.max(1)).unwrap();
        writeln!(body, "  take(id{at}, {rank} * sizeof(int64_t));").unwrap();
        writeln!(body, "  {ty} *i{at} = ({ty} *)place(id{at}, {rank}, {size}, &memory[n++]);").unwrap();
        writeln!(body, "  take(i{at}, bytes(id{at}, {rank}, {size}));").unwrap();
        run.push(format!("i{at}"));
        if rank > 0 {
            inputs.push(format!("id{at}"));
            run.push(format!("id{at}"));
        }
    }
    for (at, value) in manifest.outputs.iter().enumerate() {
        let rank = value.dims.len();
        writeln!(body, "  int64_t od{at}[{}] = {{0}};", rank.max(1)).unwrap();
        if rank > 0 {
            outputs.push(format!("od{at}"));
        }
    }
    let both: Vec<&str> = inputs.iter().chain(&outputs).map(String::as_str).collect();
    writeln!(body, "  check(m_output_dims({}));", both.join(", ")).unwrap();
    for (at, value) in manifest.outputs.iter().enumerate() {
        let (rank, ty, size) = (value.dims.len(), c_type(value.element_type), value.element_type.bytes());
        writeln!(body, "  {ty} *o{at} = ({ty} *)place(od{at}, {rank}, {size}, &memory[n++]);").unwrap();
        run.push(format!("o{at}"));
        if rank > 0 {
            run.push(format!("od{at}"));
        }
    }
    inputs.push("&needed".to_owned());
    writeln!(body, "  check(m_workspace_bytes({}));", inputs.join(", ")).unwrap();
    writeln!(body, "  char *workspace = (char *)malloc(needed + 1);").unwrap();
    let run = run.join(", ");
    // Without a comma where there is no tensor.
    let run = if run.is_empty() { run } else { format!("{run}, ") };
    for space in ["workspace + 1, needed", "NULL, 0"] {
        writeln!(body, "  check(m_run({run}{space}));").unwrap();
        for (at, Value { dims, element_type, .. }) in manifest.outputs.iter().enumerate() {
            let (rank, size) = (dims.len(), element_type.bytes());
            writeln!(body, "  give(od{at}, {rank} * sizeof(int64_t));").unwrap();
            writeln!(body, "  give(o{at}, bytes(od{at}, {rank}, {size}));").unwrap();
            writeln!(body, "  memset(o{at}, 7, bytes(od{at}, {rank}, {size}));").unwrap();
        }
    }
    include_str!("driver.c").replace("/* the body */\n", &body)
}

fn c_type(element_type: ElementType) -> &'static str {
    match element_type {
        ElementType::Bool => "bool",
        ElementType::F32 | ElementType::C64 => "float",
        ElementType::F64 | ElementType::C128 => "double",
        ElementType::I8 | ElementType::I2 | ElementType::I4 => "int8_t",
        ElementType::I16 => "int16_t",
        ElementType::I32 => "int32_t",
        ElementType::I64 => "int64_t",
        ElementType::U32 => "uint32_t",
        ElementType::U64 => "uint64_t",
        element_type if element_type.bytes() == 2 => "uint16_t",
        _ => "uint8_t",
    }
}

/// Runs the program on inputs; its outputs, or what it says on stderr.
pub(crate) fn run(mut program: Command, manifest: &Manifest, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut bytes = Vec::new();
    for input in inputs {
        bytes.extend(input.dims().iter().flat_map(|dim| dim.to_le_bytes()));
        bytes.extend_from_slice(input.bytes());
    }
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let done = child.wait_with_output().unwrap();
    // A program that refuses does not read all.
    let _ = writer.join().unwrap();
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).trim_end().to_owned());
    }
    let mut rest = &done.stdout[..];
    let mut next = |count: usize| {
        let (first, tail) = rest.split_at(count);
        rest = tail;
        first
    };
    let mut outputs = || {
        let tensor = |value: &Value| {
            let dims =
                next(8 * value.dims.len()).chunks_exact(8).map(|dim| i64::from_le_bytes(dim.try_into().unwrap()));
            let dims: Vec<i64> = dims.collect();
            let bytes = dims.iter().product::<i64>() as usize * value.element_type.bytes();
            Tensor::from_bytes(value.element_type, &dims, next(bytes)).unwrap()
        };
        manifest.outputs.iter().map(tensor).collect::<Vec<_>>()
    };
    let (given, own) = (outputs(), outputs());
    assert!(given.iter().zip(&own).all(|(given, own)| given.bytes() == own.bytes()), "the workspace matters");
    assert_eq!(rest.len(), 0);
    Ok(given)
}
