//! Runs on files: what is written, listed, shown and refused.

use std::path::{Path, PathBuf};

use sutura_fmt::{Io, Request, Said, Status, replace, run};
use sutura_ir::diagnostics::{RenderStyle, render};

struct Done {
    status: Status,
    out: String,
    err: String,
}

/// Runs in `folder`; words that begin with `--` are flags.
fn fmt_with(folder: &Path, args: &[&str], stdin: &[u8]) -> Done {
    let (mut out, mut err) = (Vec::new(), String::new());
    let mut say = |said: Said<'_>| match said {
        Said::Diagnostic(cx, diagnostic) => err.push_str(&render(cx, diagnostic, RenderStyle::Plain)),
        Said::Error(message) => err.push_str(&format!("error: {message}\n")),
        Said::Note(message) => err.push_str(&format!("note: {message}\n")),
    };
    let mut stdin = stdin;
    let request = Request {
        files: args.iter().filter(|a| !a.starts_with("--")).map(PathBuf::from).collect(),
        check: args.contains(&"--check"),
        diff: args.contains(&"--diff"),
        ..Request::default()
    };
    let io = Io { cwd: folder, stdin: &mut stdin, stdout: &mut out, say: &mut say, replace: &replace };
    let status = run(&sutura_dialects::all, &request, io);
    Done { status, out: String::from_utf8(out).expect("text"), err }
}

fn fmt(folder: &Path, args: &[&str]) -> Done {
    fmt_with(folder, args, b"")
}

const UGLY: &str = "// c\nfunc.func  private @f() // d\n";
const NEAT: &str = "// c\nfunc.func private @f() // d\n";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    folder
}

fn text(folder: &tempfile::TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).expect("there")
}

/// Nothing but the files that were there: no temporary one is left.
fn count(folder: &tempfile::TempDir) -> usize {
    std::fs::read_dir(folder.path()).expect("a folder").count()
}

#[test]
fn files_and_folders_are_formatted_each_once() {
    let dir =
        folder(&[("a.mlir", UGLY), ("b/c.mlir", UGLY), ("b/d.txt", UGLY), ("b/.git/e.mlir", UGLY), ("n.mlir", NEAT)]);
    let done = fmt(dir.path(), &[".", "a.mlir"]);
    assert_eq!((done.status, done.out.as_str()), (Status::Ok, ""), "{}", done.err);
    assert_eq!(done.err, "note: formatted: 2 of 3 files\n");
    let all = ["a.mlir", "b/c.mlir", "n.mlir", "b/d.txt", "b/.git/e.mlir"].map(|name| text(&dir, name));
    assert_eq!(all, [NEAT, NEAT, NEAT, UGLY, UGLY]);
    // A file that is named is formatted whatever it is called.
    assert_eq!(fmt(dir.path(), &["b/d.txt"]).err, "");
    assert_eq!(text(&dir, "b/d.txt"), NEAT);
    assert_eq!(count(&dir), 3);
}

#[test]
fn check_lists_what_differs_and_diff_shows_it_and_nothing_is_written() {
    let dir = folder(&[("a.mlir", UGLY), ("n.mlir", NEAT)]);
    let done = fmt(dir.path(), &["--check", "."]);
    assert_eq!((done.status, done.out.as_str()), (Status::Input, "./a.mlir\n"));
    assert_eq!(done.err, "note: not formatted: 1 of 2 files\n");
    let done = fmt(dir.path(), &["--diff", "a.mlir", "n.mlir"]);
    assert_eq!(done.status, Status::Ok);
    assert_eq!(
        done.out,
        "--- a.mlir\n+++ a.mlir (formatted)\n@@ -1,2 +1,2 @@\n // c\n-func.func  private @f() // d\n+func.func private @f() // d\n"
    );
    let done = fmt(dir.path(), &["--check", "--diff", "a.mlir"]);
    assert!(done.status == Status::Input && done.out.starts_with("--- a.mlir"), "{}", done.out);
    assert_eq!(fmt(dir.path(), &["--check", "n.mlir"]).status, Status::Ok);
    assert_eq!(text(&dir, "a.mlir"), UGLY);
}

#[test]
fn stdin_goes_to_stdout() {
    let dir = folder(&[]);
    for args in [&[][..], &["-"]] {
        let done = fmt_with(dir.path(), args, UGLY.as_bytes());
        assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (Status::Ok, NEAT, ""));
        let done = fmt_with(dir.path(), args, b"");
        assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (Status::Ok, "", ""));
    }
    let done = fmt_with(dir.path(), &["--check"], UGLY.as_bytes());
    assert_eq!((done.status, done.out.as_str()), (Status::Input, "<stdin>\n"));
    let done = fmt_with(dir.path(), &["-"], b"foo\n");
    assert_eq!((done.status, done.out.as_str()), (Status::Input, ""));
    assert!(done.err.contains("<stdin>:1:1: error: custom op 'foo' is unknown"), "{}", done.err);
    let done = fmt_with(dir.path(), &["-", "a.mlir"], b"");
    assert!(done.status == Status::Usage && done.err.contains("give it alone"), "{}", done.err);
}

#[test]
fn an_error_in_one_file_does_not_stop_others() {
    let dir = folder(&[("a.mlir", "func.func @f( {\n"), ("b.mlir", UGLY), ("c.mlir", "// -----\nfoo  \n")]);
    std::fs::write(dir.path().join("d.mlir"), b"// a\n\xff\n").expect("written");
    let done = fmt(dir.path(), &["a.mlir", "none.mlir", "b.mlir", "c.mlir", "d.mlir"]);
    assert_eq!(done.status, Status::System);
    for words in [
        "a.mlir:1:14: error: ",
        "error: `a.mlir` is not formatted: it is no valid program",
        "error: cannot read `none.mlir`: ",
        "c.mlir:2:1: error: custom op 'foo' is unknown",
        "error: cannot read `d.mlir`: it is not UTF-8 text: byte 5, line 2",
        "note: formatted: 1 of 5 files",
    ] {
        assert!(done.err.contains(words), "no {words:?} in\n{}", done.err);
    }
    assert_eq!(text(&dir, "b.mlir"), NEAT);
    assert_eq!(text(&dir, "c.mlir"), "// -----\nfoo  \n");
}

#[test]
fn parts_that_stay_are_told() {
    let wrong = "// expected-error@below {{x}}\nfoo  \n// -----\n";
    let dir = folder(&[("a.mlir", &format!("{wrong}{wrong}{UGLY}"))]);
    let done = fmt(dir.path(), &["a.mlir"]);
    assert_eq!(done.status, Status::Ok);
    assert_eq!(done.err, "note: `a.mlir`: 2 parts with errors left as before, from line 1\n");
    assert_eq!(text(&dir, "a.mlir"), format!("{wrong}{wrong}{NEAT}"));
}

#[test]
fn a_folder_without_files_is_an_error() {
    let dir = folder(&[("x/a.txt", UGLY)]);
    let done = fmt(dir.path(), &["x"]);
    assert_eq!(done.err, "error: there is no `*.mlir` file in `x`\n");
    assert_eq!(done.status, Status::System);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = folder(&[("a.mlir", UGLY), ("locked.mlir", UGLY)]);
    let path = dir.path().join("a.mlir");
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&path, mode(0o640)).expect("set");
    symlink("a.mlir", dir.path().join("link.mlir")).expect("linked");
    symlink(".", dir.path().join("loop")).expect("linked");
    assert_eq!(fmt(dir.path(), &["link.mlir"]).status, Status::Ok);
    assert_eq!(text(&dir, "a.mlir"), NEAT);
    assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
    assert!(dir.path().join("link.mlir").is_symlink());
    std::fs::set_permissions(dir.path().join("locked.mlir"), mode(0o444)).expect("set");
    let done = fmt(dir.path(), &["."]);
    assert_eq!(done.err, "error: cannot write `./locked.mlir`: the file may not be written\n");
    assert_eq!((done.status, text(&dir, "locked.mlir").as_str()), (Status::System, UGLY));
    assert_eq!(count(&dir), 4);
    let done = fmt(dir.path(), &["/dev/null"]);
    assert!(done.err.contains("`/dev/null` is neither a file nor a folder"), "{}", done.err);
}

#[test]
fn a_file_that_cannot_be_replaced_is_as_before() {
    let dir = folder(&[("a.mlir", UGLY), ("b.mlir", UGLY)]);
    let mut errors = Vec::new();
    let mut say = |said: Said<'_>| {
        if let Said::Error(message) = said {
            errors.push(message);
        }
    };
    let refuse = |path: &Path, text: &str| match path.ends_with("a.mlir") {
        true => Err(std::io::Error::other("the disk is full")),
        false => replace(path, text),
    };
    let request = Request { files: vec!["a.mlir".into(), "b.mlir".into()], ..Request::default() };
    let io = Io { cwd: dir.path(), stdin: &mut &b""[..], stdout: &mut Vec::new(), say: &mut say, replace: &refuse };
    assert_eq!(run(&sutura_dialects::all, &request, io), Status::System);
    assert_eq!(errors, ["cannot write `a.mlir`: the disk is full"]);
    assert_eq!((text(&dir, "a.mlir").as_str(), text(&dir, "b.mlir").as_str()), (UGLY, NEAT));
}

/// The program itself: its flags.
#[test]
fn the_program_says_what_it_takes() {
    let program = |args: &[&str]| {
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_sutura-fmt")).args(args).output().expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (done.status.code().unwrap_or(-1), text(done.stdout), text(done.stderr))
    };
    let (status, out, _) = program(&["--help"]);
    assert!(status == 0 && out.lines().count() < 30, "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 120), "{out}");
    assert!(program(&["--version"]).1.starts_with("sutura-fmt "));
    assert_eq!(program(&["--chek"]).2, "error: unknown flag `--chek`; did you mean `--check`?\n");
    assert_eq!(program(&["--xyz"]).0, 2);
    let (status, _, err) = program(&["--", "--check"]);
    assert!(status == 5 && err.contains("cannot read `--check`"), "{err}");
}
