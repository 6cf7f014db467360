//! What the commands read: models and artifacts are regular files of a size that is allowed, and nothing keeps them waiting;
//! what a command says beside a model of shapes.

mod protobuf;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use protobuf::{field, number};

/// Runs `sutura` in `folder`; it must not wait for anything.
fn sutura(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).args(args).env("NO_COLOR", "1").stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool was built");
    let start = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().expect("a child");
            panic!("{args:?} waits");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().expect("a child")
}

/// Runs `sutura`, which must fail with this exit code and these words on stderr.
fn fails(folder: &Path, args: &[&str], code: i32, words: &[&str]) {
    let output = sutura(folder, args);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{text}");
    for word in words {
        assert!(text.contains(word), "{args:?}: no {word:?} in\n{text}");
    }
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo").success());
    symlink("/dev/zero", at("zero")).expect("a link");
    std::fs::create_dir(at("folder")).expect("a folder");
    std::fs::write(at("m.mlir"), "module {\n}\n").expect("a file");
    for (name, kind) in [("pipe", "a pipe"), ("zero", "a device"), ("/dev/null", "a device"), ("folder", "a folder")] {
        let words = [kind, "not a file"];
        fails(folder.path(), &["check", name], 1, &[&words[..], &["error[E0427]"]].concat());
        fails(folder.path(), &["compile", name, "-o", "m.sutura"], 1, &words);
        fails(folder.path(), &["inspect", name], 4, &words);
        fails(folder.path(), &["run", name], 1, &words);
        fails(folder.path(), &["compile", "m.mlir", "--target-file", name, "-o", "m.sutura"], 1, &[]);
    }
}

#[test]
fn the_size_of_what_is_read_has_a_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("a file");
    write("m.mlir", b"module {\n}\n");
    write("nul.mlir", b"module {\n}\n\0");
    write("f.mlir", b"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n");
    assert!(sutura(folder.path(), &["check", "f.mlir", "--max-input", "1K"]).status.success());
    fails(folder.path(), &["check", "m.mlir", "--max-input", "8"], 1, &["error[E0425]", "11 bytes", "8 bytes"]);
    fails(folder.path(), &["check", "m.mlir", "--max-input", "much"], 2, &["no size"]);
    fails(folder.path(), &["check", "nul.mlir"], 1, &["error[E0426]", "byte 11 (line 3) is NUL"]);
    let sparse = std::fs::File::create(folder.path().join("sparse.onnx")).expect("a file");
    sparse.set_len(1 << 40).expect("a sparse file");
    fails(folder.path(), &["compile", "sparse.onnx", "-o", "m.sutura"], 1, &["error[E0425]", "2 GiB"]);
}

/// `y = x + w` with four numbers `w` at `offset` of a file beside the model.
fn with_external_data(location: &str, offset: &str) -> Vec<u8> {
    let text = |n: u8, text: &str| field(n, text.as_bytes());
    let entry = |key: &str, value: &str| field(13, &[text(1, key), text(2, value)].concat());
    let weights =
        [number(1, 4), number(2, 1), text(8, "w"), entry("location", location), entry("offset", offset), number(14, 1)];
    let dims = field(2, &field(1, &number(1, 4)));
    let value = |name: &str| [text(1, name), field(2, &field(1, &[number(1, 1), dims.clone()].concat()))].concat();
    let node = [text(1, "x"), text(1, "w"), text(2, "y"), text(4, "Add")].concat();
    let graph =
        [field(1, &node), text(2, "g"), field(5, &weights.concat()), field(11, &value("x")), field(12, &value("y"))];
    let graph = graph.concat();
    let mut model = number(1, 8);
    model.extend(field(7, &graph));
    model.extend(field(8, &number(2, 17)));
    model
}

/// External data may have any size, unless a limit is given; then it holds for each file.
#[test]
fn external_data_have_the_limit_that_is_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("w.bin"), [0; 4000]).expect("a file");
    // Larger than any model may be: its end is read and nothing else.
    let sparse = std::fs::File::create(at("sparse.bin")).expect("a file");
    sparse.set_len(1 << 40).expect("a sparse file");
    assert!(Command::new("mkfifo").arg(at("pipe.bin")).status().expect("mkfifo").success());
    symlink("/dev/zero", at("zero.bin")).expect("a link");
    std::fs::create_dir(at("folder.bin")).expect("a folder");
    for name in ["w", "pipe", "zero", "folder"] {
        std::fs::write(at(&format!("{name}.onnx")), with_external_data(&format!("{name}.bin"), "0")).expect("a file");
    }
    std::fs::write(at("sparse.onnx"), with_external_data("sparse.bin", "1099511627760")).expect("a file");
    for args in [&["check", "w.onnx"][..], &["check", "sparse.onnx"], &["check", "w.onnx", "--max-input", "4000"]] {
        let output = sutura(folder.path(), args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let words =
        |file: &'static str, size: &'static str| ["error[E0425]", file, size, "limit of 3999 bytes", "--max-input"];
    for command in [&["check"][..], &["compile", "-o", "m.sutura"]] {
        let limited = |model| [command, &[model, "--max-input", "3999"]].concat();
        fails(folder.path(), &limited("w.onnx"), 1, &words("/w.bin`", "4000 bytes"));
        fails(folder.path(), &limited("sparse.onnx"), 1, &words("/sparse.bin`", "1099511627776 bytes"));
    }
    assert!(!at("m.sutura").exists());
    for (model, kind) in [("pipe.onnx", "a pipe"), ("zero.onnx", "a device"), ("folder.onnx", "a folder")] {
        for limit in [&[][..], &["--max-input", "1G"]] {
            fails(
                folder.path(),
                &[&["check", model][..], limit].concat(),
                1,
                &["error[E0428]", "`w`", kind, "not a file"],
            );
        }
    }
}

/// Files of tensors have the limit that is given, and no other.
#[test]
fn tensors_have_the_limit_that_is_given() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.onnx"), with_external_data("w.bin", "0")).expect("a file");
    std::fs::write(folder.path().join("w.bin"), [0; 16]).expect("a file");
    assert!(sutura(folder.path(), &["compile", "m.onnx", "-o", "m.sutura"]).status.success());
    let one = "x=4xf32=1,2,3,4";
    assert!(sutura(folder.path(), &["run", "m.sutura", "-i", one, "-o", "."]).status.success());
    let size = folder.path().join("y.npy").metadata().expect("a file").len();
    let (most, less) = (size.to_string(), (size - 1).to_string());
    for tensors in [&["-i", "x=@y.npy"][..], &["-i", one, "--expected", "y=@y.npy"]] {
        let run = |limit| [&["run", "m.sutura", "--atol", "100", "--max-input", limit], tensors].concat();
        let output = sutura(folder.path(), &run(&most));
        assert!(output.status.success(), "{tensors:?}: {}", String::from_utf8_lossy(&output.stderr));
        let size = format!("it has {size} bytes, more than the limit of {less} bytes");
        fails(folder.path(), &run(&less), 1, &[&size, "`y.npy`", "error[E0425]", "--max-input"]);
    }
    fails(folder.path(), &["run", "m.sutura", "-i", one, "--max-input", "+1"], 2, &["no size"]);
}

/// What says a number is digits and nothing else, in flags and variables.
#[test]
fn numbers_have_no_plus() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.onnx"), with_external_data("w.bin", "0")).expect("a file");
    std::fs::write(folder.path().join("w.bin"), [0; 16]).expect("a file");
    assert!(sutura(folder.path(), &["compile", "m.onnx", "-o", "m.sutura", "--threads", "4"]).status.success());
    for threads in ["+4", "0", "-1", "0x4", "65536", ""] {
        let words = ["--threads", "a whole number from 1 to 65535"];
        fails(folder.path(), &["compile", "m.onnx", "-o", "n.sutura", &format!("--threads={threads}")], 2, &words);
        fails(folder.path(), &["run", "m.sutura", "-i", "4xf32=1", &format!("--threads={threads}")], 2, &words);
    }
    fails(
        folder.path(),
        &["run", "m.sutura", "-i", "4xf32=1", "--repeat=+1"],
        2,
        &["--repeat", "`+1` is no whole number"],
    );
    let run = |threads: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
        command.current_dir(folder.path()).args(["run", "m.sutura", "-i", "4xf32=1"]).env("SUTURA_THREADS", threads);
        command.output().expect("the tool was built")
    };
    assert!(run("4").status.success());
    let refused = run("+4");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("SUTURA_THREADS is `+4`, but must be a whole number from 1 to 1024"), "{said}");
}

#[test]
fn inputs_of_a_model_get_shapes_by_a_flag() {
    let folder = tempfile::tempdir().expect("a folder");
    let mlp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mlp/mlp.onnx");
    let mlp = mlp.to_str().expect("UTF-8");
    let compiled = sutura(folder.path(), &["compile", mlp, "--shape", "x=[7, 64]", "-o", "seven.sutura", "-q"]);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let text = sutura(folder.path(), &["inspect", "seven.sutura"]).stdout;
    assert!(
        text.starts_with(b"mlp(x: f32[7, 64]) -> (probabilities: f32[7, 10])"),
        "{}",
        String::from_utf8_lossy(&text)
    );
    let refused = |model: &str, shape: &str, words: &str| {
        fails(folder.path(), &["check", model, "--shape", shape], 2, &[words]);
    };
    refused(mlp, "y=[7,64]", "the model has no input `y` that a caller gives; there are `x`");
    refused(mlp, "x=[7,63]", "input `x` has size 64 in dim 1, which `63` is not");
    refused(mlp, "x=none", "input `x` is no optional");
    refused(mlp, "x=7,64", "is no `NAME=SHAPE`");
    std::fs::write(folder.path().join("text.mlir"), "func.func @main() { return }").expect("a file");
    refused("text.mlir", "x=[7]", "--shape is for ONNX models");
}
