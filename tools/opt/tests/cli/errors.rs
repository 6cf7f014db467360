//! The pages on codes in `docs/errors`: each example that is said to fail does so with that code, and each that is said
//! to be fine does not.

use std::path::Path;

use sutura_ir::diagnostics::codes;
use sutura_ir::pass::PassRegistry;
use sutura_opt::{Io, Opt, Status};

/// Codes without examples: errors of the tool, what is too long to show, and what is about other files than text.
const WITHOUT_EXAMPLE: [&str; 9] = ["E0011", "E0303", "E0306", "E0307", "E0410", "E0426", "E0428", "E0430", "W0112"];

/// The arguments in `// $ sutura-opt …`, the first line of an example that needs some.
fn arguments(example: &str) -> Vec<String> {
    let Some(line) = example.lines().next().and_then(|l| l.strip_prefix("// $ sutura-opt ")) else { return Vec::new() };
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("one is there").push(c),
        }
    }
    words
}

fn run(example: &str) -> (Status, String) {
    let args = arguments(example);
    let folder = tempfile::tempdir().expect("a folder");
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let io = Io {
        args: &args,
        stdin: &mut example.as_bytes(),
        cwd: folder.path(),
        stdout: &mut out,
        stderr: &mut err,
        color: false,
    };
    let status = Opt { registry: sutura_dialects::all, passes }.run(io);
    (status, String::from_utf8(err).expect("messages are UTF-8"))
}

fn examples(page: &str) -> Vec<&str> {
    page.split("```mlir\n").skip(1).map(|rest| rest.split("```").next().expect("a first part")).collect()
}

#[test]
fn examples_do_what_their_pages_say() {
    let mut wrong = Vec::new();
    for code in codes::all() {
        let found = examples(codes::explain(code).expect("listed"));
        let [fails, fine] = found[..] else {
            if !(found.is_empty() && WITHOUT_EXAMPLE.contains(&code)) {
                wrong.push(format!("{code}: an example that fails and one that does not are wanted"));
            }
            continue;
        };
        let mark = format!("[{code}]");
        let (status, said) = run(fails);
        if !said.contains(&mark) || (status == Status::Ok) != code.starts_with('W') {
            wrong.push(format!("{code}: the first example ends in {status:?} and says\n{said}"));
        }
        let (status, said) = run(fine);
        if status != Status::Ok || !said.is_empty() && !said.starts_with("note:") && !said.contains("IR Dump") {
            wrong.push(format!("{code}: the second example ends in {status:?} and says\n{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pages_are_those_of_the_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let files = std::fs::read_dir(folder).expect("the folder is there").map(|e| e.expect("readable").file_name());
    let mut names: Vec<String> = files.map(|n| n.into_string().expect("UTF-8").replace(".md", "")).collect();
    names.sort();
    assert_eq!(names, codes::all().collect::<Vec<_>>());
}
