//! What the commands read: models and artifacts are regular files of a size that is allowed, and nothing keeps them waiting.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

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
        fails(folder.path(), &["run", name], 4, &words);
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
