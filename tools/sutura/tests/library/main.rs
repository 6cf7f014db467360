//! Models as static libraries, called by programs in C and C++: results and refusals are those of the runtime.

mod driver;
#[path = "../protobuf/mod.rs"]
mod protobuf;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use protobuf::{field, number};
use sutura_runtime::manifest::{Dim, Manifest};
use sutura_runtime::{ElementType, Model, Options, Tensor};

/// Where `cargo xtask memcheck` wants the program with wrong calls.
const KEEP: &str = "SUTURA_KEEP_LIBRARY";

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library").join(name)
}

fn perceptron() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mlp/mlp.onnx")
}

/// The command, which must fail.
fn refused(args: &[&str]) -> Output {
    let done = Command::new(env!("CARGO_BIN_EXE_sutura")).env("NO_COLOR", "1").args(args).output().unwrap();
    assert!(!done.status.success(), "{args:?}");
    done
}

/// A model as an artifact, with one thread.
fn artifact(folder: &Path, model: &Path) -> Model {
    let path = folder.join("model.sutura");
    driver::sutura(&["compile", "-q", model.to_str().unwrap(), "-o", path.to_str().unwrap()]);
    Model::load_with(&path, Options::new().threads(1)).unwrap()
}

/// Inputs of a model where its symbols, in order, have these values; elements are small numbers.
fn inputs(manifest: &Manifest, sizes: &[i64]) -> Vec<Tensor> {
    let value = |dim: &Dim| match dim {
        Dim::Const(size) => *size,
        Dim::Symbol(name) => sizes[manifest.symbols.iter().position(|symbol| symbol.name == *name).unwrap()],
        Dim::Expr(text) => panic!("{text} is computed"),
    };
    let tensor = |(seed, value): (usize, &sutura_runtime::manifest::Value), dims: Vec<i64>| {
        let mut tensor = Tensor::zeros(value.element_type, &dims).unwrap();
        let mut next = seed as u64 * 40_503 + 17;
        let mut small = |most: u64| {
            next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (next >> 33) % most
        };
        match value.element_type {
            ElementType::F32 => {
                let elements = tensor.as_mut_slice::<f32>().unwrap();
                elements.iter_mut().for_each(|x| *x = small(2000) as f32 / 1000.0 - 1.0);
            }
            ElementType::I32 => tensor.as_mut_slice::<i32>().unwrap().iter_mut().for_each(|x| *x = 1 + small(3) as i32),
            ElementType::I64 => tensor.as_mut_slice::<i64>().unwrap().iter_mut().for_each(|x| *x = 1 + small(3) as i64),
            ElementType::Bool => tensor.bytes_mut().iter_mut().for_each(|x| *x = small(2) as u8),
            _ => tensor.bytes_mut().iter_mut().for_each(|x| *x = small(2) as u8),
        }
        tensor
    };
    let values = manifest.inputs.iter().enumerate();
    values.map(|(at, input)| tensor((at, input), input.dims.iter().map(value).collect())).collect()
}

/// Compares a library with the runtime at several sizes; the program is C or C++.
fn agrees(model: &Path, (compiler, standard): (&str, &str), sizes: &[&[i64]]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let loaded = artifact(path, model);
    driver::library(path, model, "m", "host");
    let (source, program) = (driver::write(path, loaded.manifest()), path.join("program"));
    let source = if standard.contains("++") {
        std::fs::rename(&source, path.join("driver.cpp")).unwrap();
        path.join("driver.cpp")
    } else {
        source
    };
    driver::build(compiler, standard, &[&source, &path.join("m.a")], &program);
    for sizes in sizes {
        let inputs = inputs(loaded.manifest(), sizes);
        let ran = driver::run(Command::new(&program), loaded.manifest(), &inputs);
        match loaded.run(&inputs) {
            Ok(expected) => {
                let outputs = ran.unwrap();
                let same = |(found, wanted): (&Tensor, &Tensor)| {
                    found.dims() == wanted.dims() && found.bytes() == wanted.bytes()
                };
                assert!(outputs.iter().zip(&expected).all(same), "{} at {sizes:?}", model.display());
            }
            Err(error) => assert_eq!(ran.unwrap_err(), format!("{} {error}", error.exit_code()), "at {sizes:?}"),
        }
    }
}

const C: (&str, &str) = ("gcc", "-std=c99");
const CPP: (&str, &str) = ("g++", "-std=c++17");

#[test]
fn a_perceptron_gives_the_same_bits() {
    agrees(&perceptron(), C, &[&[1], &[7], &[64], &[0]]);
}

#[test]
fn rows_give_the_same_bits() {
    // 65 rows are too many.
    agrees(&data("rows.mlir"), C, &[&[1, 4], &[64, 33], &[0, 7], &[65, 4]]);
    agrees(&data("softmax.mlir"), CPP, &[&[3, 17], &[2, 513], &[5, 0], &[0, 5]]);
}

#[test]
fn data_are_checked() {
    // The table is empty, or too short for some indices.
    agrees(&data("embedding.mlir"), C, &[&[7, 5], &[4, 9], &[2, 9], &[0, 3], &[0, 0]]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let loaded = artifact(path, &data("divide.mlir"));
    driver::library(path, &data("divide.mlir"), "m", "host");
    let program = path.join("program");
    let source = driver::write(path, loaded.manifest());
    driver::build(C.0, C.1, &[&source, &path.join("m.a")], &program);
    let numerators: Vec<i32> = (0..40).collect();
    for zeros in [&[][..], &[33], &[35, 12, 3]] {
        let mut divisors = vec![3; 40];
        zeros.iter().for_each(|at: &usize| divisors[*at] = 0);
        let inputs = [&numerators, &divisors].map(|elements| Tensor::from_slice(&[40], elements).unwrap());
        let ran = driver::run(Command::new(&program), loaded.manifest(), &inputs);
        match loaded.run(&inputs) {
            Ok(expected) => assert_eq!(ran.unwrap()[0].bytes(), expected[0].bytes()),
            Err(error) => assert_eq!(ran.unwrap_err(), format!("1 {error}")),
        }
    }
}

#[test]
fn every_element_type_and_none() {
    agrees(&data("types.mlir"), CPP, &[&[5], &[0]]);
    agrees(&data("constant.mlir"), C, &[&[]]);
}

#[test]
fn wrong_calls_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let kept = std::env::var_os(KEEP).map(PathBuf::from);
    let path = kept.as_deref().unwrap_or(folder.path());
    // Valgrind knows no AVX-512.
    driver::library(path, &perceptron(), "m", if kept.is_some() { "x86_avx2" } else { "host" });
    let program = path.join("calls");
    let header = format!("-I{}", path.display());
    driver::build(C.0, C.1, &[Path::new(&header), &source("calls.c"), &path.join("m.a")], &program);
    let said = Command::new(&program).output().unwrap();
    assert!(said.status.success());
    let said = String::from_utf8(said.stdout).unwrap();
    let needed = said.lines().find_map(|line| line.split_once(" but the run needs ")).unwrap().1;
    let few = needed.parse::<u64>().unwrap() - 1;
    assert_eq!(
        said,
        format!(
            "\
dims: ok
[3, 10]
run: ok
sums to 3.000
workspace: ok
given: ok
more: ok
few: 2 the workspace has {few} bytes, but the run needs {needed}
no address: 2 null pointer: workspace
workspace is output: 2 the buffers of the workspace and output `probabilities` overlap
workspace is input: 2 the buffers of the workspace and input `x` overlap
no bytes: 2 null pointer: bytes
no input: 2 null pointer: data of input `x`
no output: 2 null pointer: data of output `probabilities`
no input dims: 2 null pointer: dims of input `x`
no output dims: 2 null pointer: dims of output `probabilities`
no dims to infer: 2 null pointer: dims of output `probabilities`
misaligned input: 2 the buffer of input `x` is not aligned to 4 bytes
misaligned output: 2 the buffer of output `probabilities` is not aligned to 4 bytes
overlap: 2 the buffers of output `probabilities` and input `x` overlap
columns: 1 inconsistent dimensions: input `x` dimension 1 is 65, but must be 64
rows of the output: 2 output `probabilities` needs dims [3, 10], but its buffer has [4, 10]
negative: 1 invalid tensor: input `x` has the negative dimension -1
huge: 1 invalid tensor: input `x` has dimensions [9223372036854775807, 64], which no memory can hold
many: 1 dimension `batch` is out of range: input `x` dimension 0 is 2147483648, above 2147483647; the model was compiled for [0, 2147483647]
empty: ok
"
        )
    );
}

#[test]
fn two_models_are_one_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    driver::library(path, &data("softmax.mlir"), "first", "host");
    driver::library(path, &data("constant.mlir"), "second", "host");
    let (program, header) = (path.join("pair"), format!("-I{}", path.display()));
    let sources = [Path::new(&header), &source("pair.cpp"), &path.join("first.a"), &path.join("second.a")];
    driver::build(CPP.0, CPP.1, &sources, &program);
    let said = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
    let range = "the model was compiled for [1, 2147483647]";
    assert_eq!(
        said,
        format!("0.20\n1 dimension `N` is out of range: input `x` dimension 1 is 0, below 1; {range}\n''\n17 4\n")
    );
    // What others see of them.
    let shared = path.join("both.so");
    let flags = ["-shared", "-Wl,-z,defs", "-Wl,--whole-archive", "-o"];
    let mut link = Command::new("gcc");
    link.args(flags).arg(&shared).args([path.join("first.a"), path.join("second.a")]).arg("-Wl,--no-whole-archive");
    let done = link.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let names = Command::new("nm").args(["-D", "--defined-only"]).arg(&shared).output().unwrap();
    let names = String::from_utf8(names.stdout).unwrap();
    let mut names: Vec<&str> = names.lines().map(|line| line.split(' ').next_back().unwrap()).collect();
    names.retain(|name| !name.contains("_interface_"));
    names.sort_unstable();
    let functions = ["last_error", "output_dims", "run", "workspace_bytes"];
    let all: Vec<String> = ["first", "second"].iter().flat_map(|m| functions.map(|f| format!("{m}_{f}"))).collect();
    assert_eq!(names, all);
}

#[test]
fn another_header_does_not_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    driver::library(path, &data("softmax.mlir"), "m", "host");
    let other = path.join("other.mlir");
    let text = std::fs::read_to_string(data("softmax.mlir")).unwrap();
    std::fs::write(&other, text.replace("[B, N]", "[N, B]").replace("f32", "f64")).unwrap();
    // One that takes no notice of the header it was compiled with.
    std::fs::write(path.join("any.c"), "#include \"m.h\"\nint main(void) { return *m_last_error(); }\n").unwrap();
    let link = || {
        let mut command = Command::new("gcc");
        command.current_dir(path).args(["-std=c99", "-O2", "any.c", "m.a", "-o", "any"]).output().unwrap()
    };
    assert!(link().status.success());
    let header = std::fs::read_to_string(path.join("m.h")).unwrap();
    let begin = header.find("m_interface_").unwrap() + "m_interface_".len();
    let mut wrong = header.clone();
    wrong.replace_range(begin..begin + 16, "0123456789abcdef");
    let wrong = wrong.replace(&header[begin..begin + 16], "0123456789abcdef");
    std::fs::write(path.join("m.h"), wrong).unwrap();
    let done = link();
    assert!(!done.status.success() && String::from_utf8_lossy(&done.stderr).contains("m_interface_0123456789abcdef"));
}

/// A model of one node whose names are hostile.
fn hostile(name: &str) -> Vec<u8> {
    let value = |name: &str| {
        let shape = [field(1, &field(2, name.as_bytes())), field(1, &number(1, 4))].concat();
        let tensor = [number(1, 1), field(2, &shape)].concat();
        [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat()
    };
    let output = format!("{name}2");
    let node = [field(1, name.as_bytes()), field(2, output.as_bytes()), field(4, b"Relu")].concat();
    let graph = [
        field(1, &node),
        field(2, name.as_bytes()),
        field(11, &value(name)),
        field(12, &[field(1, output.as_bytes()), value(name)[2 + name.len()..].to_vec()].concat()),
    ];
    [number(1, 8), field(7, &graph.concat()), field(8, &[field(1, b""), number(2, 17)].concat())].concat()
}

#[test]
fn hostile_names_are_comments_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    for (at, name) in [
        "*/ #error \"out\" /*",
        "int",
        "\"; } \\\n#include </etc/passwd>\u{1b}[31m%s%n",
        "日本語/*",
        "workspace",
        "m_run",
    ]
    .iter()
    .enumerate()
    {
        let path = folder.path().join(format!("{at} * evil;\n.onnx"));
        std::fs::write(&path, hostile(name)).unwrap();
        let given = folder.path().join(at.to_string());
        std::fs::create_dir(&given).unwrap();
        for (emit, output) in [("static-lib", "m.a"), ("c-header", "m.h")] {
            let output = given.join(output);
            let emit = format!("--emit={emit}");
            driver::sutura(&["compile", "-q", path.to_str().unwrap(), &emit, "-o", output.to_str().unwrap()]);
        }
        // The prefix is the file's name, as far as it is one of C.
        let program = format!(
            "#include \"m.h\"
#include <stdio.h>
int main(void) {{
  float x[4] = {{-1, 2, -3, 4}}, y[4];
  const int64_t dims[2] = {{1, 4}}, wrong[2] = {{1, 3}};
  int status = model_{at}_evil_run(x, dims, y, dims, NULL, 0);
  printf(\"%d %g %g\\n\", status, y[0], y[3]);
  status = model_{at}_evil_run(x, wrong, y, dims, NULL, 0);
  printf(\"%d %s\\n\", status, model_{at}_evil_last_error());
  return 0;
}}
"
        );
        std::fs::write(given.join("program.c"), program).unwrap();
        let built = given.join("program");
        driver::build(C.0, C.1, &[&given.join("program.c"), &given.join("m.a")], &built);
        let said = String::from_utf8(Command::new(&built).output().unwrap().stdout).unwrap();
        let shown = sutura_visible::line(name);
        let expected = format!("0 0 4\n1 inconsistent dimensions: input `{shown}` dimension 1 is 3, but must be 4\n");
        assert_eq!(said, expected);
    }
}

#[test]
fn what_cannot_be_a_library_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("m.a");
    let output = output.to_str().unwrap();
    let (routines, recursion) = (data("routines.mlir"), data("recursion/halves.mlir"));
    let (perceptron, sides) = (perceptron(), data("decided_sides.mlir"));
    for (args, code, words) in [
        (vec![routines.to_str().unwrap()], 3, "it calls routines of the runtime: `sort/1`"),
        (vec![recursion.to_str().unwrap()], 3, "its function `main` is recursive"),
        (vec![sides.to_str().unwrap()], 3, "its data decide"),
        (vec![perceptron.to_str().unwrap(), "--target=cuda:sm_80"], 3, "for the GPU `sm_80`"),
        (vec![perceptron.to_str().unwrap(), "--target=lavapipe"], 3, "for the GPU `lavapipe`"),
        (vec![perceptron.to_str().unwrap(), "--prefix=2x"], 2, "expected a name of C"),
    ] {
        for emit in ["--emit=static-lib", "--emit=c-header"] {
            let done = refused(&[&["compile", emit, "-o", output][..], &args].concat());
            let said = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(code), "{said}");
            assert!(said.contains(words), "{said}");
            assert!(!Path::new(output).exists());
        }
    }
    let done = refused(&["compile", perceptron.to_str().unwrap(), "-o", output, "--prefix=net"]);
    assert!(String::from_utf8_lossy(&done.stderr).contains("--prefix is for"));
    assert_eq!(done.status.code(), Some(2));
}

/// The blocks of a page in a language.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_page_does_what_it_says() {
    let page = include_str!("../../../../docs/ahead-of-time.md");
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(perceptron(), folder.path().join("mlp.onnx")).unwrap();
    let [program] = blocks(page, "c")[..] else { panic!("one program") };
    std::fs::write(folder.path().join("main.c"), program).unwrap();
    let tool = Path::new(env!("CARGO_BIN_EXE_sutura")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(tool.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let commands = format!("set -e\n{}", blocks(page, "sh").concat());
    let mut shell = Command::new("sh");
    let done = shell.current_dir(folder.path()).env("PATH", path.unwrap()).args(["-c", &commands]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(String::from_utf8(done.stdout).unwrap(), blocks(page, "text").concat());
}

/// Where a program is, if anywhere.
fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[test]
fn clang_builds_programs_too() {
    let beside = PathBuf::from("/usr/lib/llvm-22/bin/clang");
    let Some(clang) = Some(beside).filter(|clang| clang.is_file()).or_else(|| found("clang")) else {
        return sutura_skip::skipped(sutura_skip::Need::Clang, "there is no clang");
    };
    let clang = clang.to_str().unwrap();
    agrees(&data("softmax.mlir"), (clang, "-std=c99"), &[&[3, 17], &[5, 0]]);
}

/// Compares libraries for another processor with the runtime on this one.
fn agrees_on(architecture: &str) {
    let (compiler, emulator) = (format!("{architecture}-linux-gnu-gcc"), format!("qemu-{architecture}"));
    if let Some(missing) = [&compiler, &emulator].into_iter().find(|program| found(program).is_none()) {
        return sutura_skip::skipped(sutura_skip::Need::Cross, format!("there is no {missing}"));
    }
    for (model, sizes) in [
        (perceptron(), &[&[1][..], &[7]]),
        (data("softmax.mlir"), &[&[3, 17], &[5, 0]]),
        (data("embedding.mlir"), &[&[4, 9], &[2, 9]]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let loaded = artifact(path, &model);
        driver::library(path, &model, "m", architecture);
        let (source, program) = (driver::write(path, loaded.manifest()), path.join("program"));
        let sources = [Path::new("-static"), &source, &path.join("m.a")];
        driver::build(&compiler, C.1, &sources, &program);
        for sizes in sizes {
            let inputs = inputs(loaded.manifest(), sizes);
            let mut command = Command::new(&emulator);
            command.arg(&program);
            let ran = driver::run(command, loaded.manifest(), &inputs);
            match loaded.run(&inputs) {
                Ok(expected) => {
                    for (found, wanted) in ran.unwrap().iter().zip(&expected) {
                        let comparison = sutura_runtime::compare::compare(found, wanted).unwrap();
                        assert!(comparison.within(1e-6, 1e-6), "{} at {sizes:?}: {comparison:?}", model.display());
                    }
                }
                Err(error) => assert_eq!(ran.unwrap_err(), format!("{} {error}", error.exit_code()), "at {sizes:?}"),
            }
        }
    }
}

#[test]
fn a_processor_that_lacks_features_is_refused() {
    if let Some(missing) = ["qemu-x86_64"].into_iter().find(|program| found(program).is_none()) {
        return sutura_skip::skipped(sutura_skip::Need::Cross, format!("there is no {missing}"));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (model, program) = (data("softmax.mlir"), path.join("program"));
    let loaded = artifact(path, &model);
    let inputs = inputs(loaded.manifest(), &[3, 17]);
    let source = driver::write(path, loaded.manifest());
    for (target, processor, missing) in [
        ("generic", "qemu64", None),
        ("x86_avx2", "qemu64", Some("ssse3")),
        ("x86_avx2", "Haswell", None),
        ("x86_avx512", "Haswell", Some("avx512f")),
    ] {
        driver::library(path, &model, "m", target);
        driver::build(C.0, C.1, &[Path::new("-static"), &source, &path.join("m.a")], &program);
        let mut command = Command::new("qemu-x86_64");
        command.args(["-cpu", processor]).arg(&program);
        match (missing, driver::run(command, loaded.manifest(), &inputs)) {
            (None, ran) => drop(ran.unwrap()),
            (Some(missing), ran) => {
                let words = format!("3 the model was compiled for `{target}`, but this machine has no `{missing}`");
                // The emulator says what it does not emulate of the processor.
                assert_eq!(ran.unwrap_err().lines().next_back(), Some(words.as_str()));
            }
        }
    }
}

#[test]
fn arm_computes_the_same() {
    agrees_on("aarch64");
}

#[test]
fn risc_v_computes_the_same() {
    agrees_on("riscv64");
}
