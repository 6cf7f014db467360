//! What users read when a program is wrong: each file in `tests/diagnostics` with all that is said about it.
//!
//! After a change on purpose, `cargo xtask bless` writes the snapshots anew.

use std::path::Path;

use sutura_ir::pass::PassRegistry;
use sutura_opt::{Io, Opt, Status};

/// Status and messages of a run on a file of the folder `tests/diagnostics`.
fn diagnose(args: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let io = Io {
        args: &args,
        stdin: &mut std::io::empty(),
        cwd: &folder,
        stdout: &mut out,
        stderr: &mut err,
        color: false,
    };
    let status = Opt { registry: sutura_dialects::all, passes }.run(io);
    assert!(status == Status::Ok || out.is_empty(), "nothing is printed of a wrong program");
    format!("{status:?}\n{}", String::from_utf8(err).expect("messages are UTF-8"))
}

#[test]
fn wrong_programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let entries = std::fs::read_dir(folder).expect("the folder is there").map(|e| e.expect("readable").file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().expect("UTF-8")).collect();
    names.retain(|name| name.ends_with(".mlir"));
    names.sort();
    assert!(names.len() > 10, "programs are missing: {names:?}");
    for name in names {
        insta::assert_snapshot!(name.trim_end_matches(".mlir"), diagnose(&[&name]));
    }
}

#[test]
fn wrong_usage() {
    let all = [
        &["--canonicalise", "types_differ.mlir"][..],
        &["--pass-pipeline=builtin.module(func.func(cse,canonicalze))", "types_differ.mlir"],
        &["--pass-pipeline=builtin.module(cse", "types_differ.mlir"],
        &["--stitch=max-op=3", "types_differ.mlir"],
        &["--convert-gir-to-cpu=vector-bytes=wide", "types_differ.mlir"],
        &["missing.mlir"],
        &["types_differ.mlir", "return_types.mlir"],
        &["types_differ.mlir", "-o", "no/such/folder.mlir"],
    ];
    let said: Vec<String> =
        all.iter().map(|args| format!("$ sutura-opt {}\n{}", args.join(" "), diagnose(args))).collect();
    insta::assert_snapshot!("wrong_usage", said.join("\n"));
}
