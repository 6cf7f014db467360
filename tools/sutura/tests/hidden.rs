//! Names of a model may hold what commands a terminal or hides in it: no command writes that as it is, and no name makes a
//! line that looks like a message.

mod protobuf;

use std::path::Path;
use std::process::{Command, Output};

use protobuf::{field, number};

/// ESC, BEL, a new line that begins like a message, CR, a control of eight bits, another direction, no width.
const EVIL: &str = "\u{1b}[31m\u{7}\nerror: forged\r\u{9b}2J\u{202e}\u{200b}\u{2028}";

/// A tensor of floats with rows called `rows`.
fn value(name: &str, rows: &str) -> Vec<u8> {
    let shape = [field(1, &field(2, rows.as_bytes())), field(1, &number(1, 4))].concat();
    let tensor = [number(1, 1), field(2, &shape)].concat();
    [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat()
}

/// What a model of one node calls things.
#[derive(Clone, Copy)]
struct Names<'a> {
    input: &'a str,
    output: &'a str,
    node: &'a str,
    op: &'a str,
    domain: &'a str,
    rows: &'a str,
}

const PLAIN: Names<'_> = Names { input: "x", output: "y", node: "n", op: "Relu", domain: "", rows: "rows" };

fn model(names: Names<'_>) -> Vec<u8> {
    let node = [
        field(1, names.input.as_bytes()),
        field(2, names.output.as_bytes()),
        field(3, names.node.as_bytes()),
        field(4, names.op.as_bytes()),
        field(7, names.domain.as_bytes()),
    ];
    let graph = [
        field(1, &node.concat()),
        field(2, names.node.as_bytes()),
        field(11, &value(names.input, names.rows)),
        field(12, &value(names.output, names.rows)),
    ];
    let opset = |domain: &str| field(8, &[field(1, domain.as_bytes()), number(2, 17)].concat());
    let mut model = [number(1, 8), field(7, &graph.concat()), opset("")].concat();
    if !names.domain.is_empty() {
        model.extend(opset(names.domain));
    }
    model
}

fn sutura(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).args(args).env("NO_COLOR", "1").output().expect("the tool was built")
}

/// Runs a command and looks at all that it says; its exit code.
fn shows_all(folder: &Path, args: &[&str]) -> Option<i32> {
    let output = sutura(folder, args);
    for text in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(text).expect("UTF-8");
        let hidden = text.chars().find(|c| *c != '\n' && sutura_visible::is_hidden(*c));
        assert_eq!(hidden, None, "{args:?}\n{text:?}");
        assert!(!text.contains("\nerror: forged"), "{args:?}\n{text}");
    }
    output.status.code()
}

#[test]
fn no_name_of_a_model_hides_or_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let mut compiled = 0;
    for (at, names) in [
        Names { input: EVIL, output: &format!("{EVIL}y"), node: EVIL, rows: &format!("{EVIL}r"), ..PLAIN },
        Names { op: EVIL, ..PLAIN },
        Names { op: "NoSuch", node: EVIL, ..PLAIN },
        Names { domain: EVIL, ..PLAIN },
        Names { op: "Cast", node: EVIL, ..PLAIN },
    ]
    .into_iter()
    .enumerate()
    {
        let (file, artifact) = (format!("m{at}.onnx"), format!("m{at}.sutura"));
        std::fs::write(path.join(&file), model(names)).expect("a file");
        let checked = shows_all(path, &["check", &file]);
        assert_eq!(shows_all(path, &["check", &file, "-vv", "--message-format=json"]), checked);
        let compile = ["compile", file.as_str(), "-o", &artifact, "-vv", "--remarks"];
        assert_eq!(shows_all(path, &compile), checked);
        if checked != Some(0) {
            continue;
        }
        compiled += 1;
        assert_eq!(shows_all(path, &["inspect", &artifact]), Some(0));
        assert_eq!(shows_all(path, &["inspect", "--json", &artifact]), Some(0));
        assert_eq!(shows_all(path, &["run", &artifact, "-i", "3x4xf32=1", "-vv"]), Some(0));
        assert_eq!(shows_all(path, &["run", &artifact, "-i", "3x4xf32=1", "--profile"]), Some(0));
        assert_eq!(shows_all(path, &["run", &artifact, "-i", "3x4xf32=1", "--expected", "3x4xf32=2"]), Some(8));
        assert_eq!(shows_all(path, &["run", &artifact, "-i", "3x5xf32=1"]), Some(1));
        assert_eq!(shows_all(path, &["run", &artifact, "-i", "nope=3x4xf32=1"]), Some(2));
    }
    assert!(compiled > 0, "no model of these compiles");
}

#[test]
fn no_argument_hides_or_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let flag = format!("--{EVIL}");
    for args in [&["check", EVIL][..], &[EVIL], &["check", &flag], &["explain", EVIL], &["target", "show", EVIL]] {
        assert!(shows_all(folder.path(), args).is_some_and(|code| code != 0), "{args:?}");
        let json = [args, &["--message-format=json"]].concat();
        assert!(shows_all(folder.path(), &json).is_some_and(|code| code != 0), "{args:?}");
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for args in [&["--help"][..], &["--version"], &["help", "compile"], &["explain", "E0003"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let status = Command::new(env!("CARGO_BIN_EXE_sutura")).args(args).stdout(full).output();
        assert_eq!(status.expect("the tool was built").status.code(), Some(5), "{args:?}");
    }
}
