//! What is noted of a test that is skipped, and that a demand makes it fail: in processes of their own, for their variables.

use std::process::Command;

use sutura_skip::{NOTES, Need, skipped};

/// Set in the process that the test below starts.
const CHILD: &str = "SUTURA_TEST_SKIPS";

/// What a test does that lacks something; only in a child process.
#[test]
fn lacks_python() {
    if std::env::var_os(CHILD).is_some() {
        skipped(Need::Python, "no python3\nhere");
    }
}

fn child(notes: &std::path::Path, demanded: bool) -> bool {
    let mut command = Command::new(std::env::current_exe().expect("a test"));
    command.args(["--exact", "lacks_python"]).env(CHILD, "1").env(NOTES, notes);
    command.env_remove("SUTURA_REQUIRE_PYTHON").envs(demanded.then_some(("SUTURA_REQUIRE_PYTHON", "1")));
    command.output().expect("it runs").status.success()
}

#[test]
fn skips_are_noted_unless_they_are_failures() {
    let notes = std::env::temp_dir().join(format!("sutura-skips-{}", std::process::id()));
    assert!(child(&notes, false));
    assert!(!child(&notes, true));
    let text = std::fs::read_to_string(&notes).expect("notes");
    std::fs::remove_file(&notes).expect("it was there");
    let columns: Vec<&str> = text.trim_end().split('\t').collect();
    assert!(columns[0].starts_with("notes-") && columns[1..] == ["lacks_python", "no python3 here"], "{text}");
}
