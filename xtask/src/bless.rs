//! `cargo xtask bless`: lets the snapshot tests write what they got as what they expect, then shows what changed.

use std::process::Command;

use crate::{Failure, process, setup};

pub(crate) fn run() -> Result<(), Failure> {
    setup::run()?;
    let mut tests = process::cargo();
    tests.args(["test", "--workspace", "--no-fail-fast"]).env("INSTA_UPDATE", "always").env("INSTA_FORCE_PASS", "1");
    // A failure that is no snapshot's still shows; what was written is listed either way.
    let result = process::run(&mut tests);
    let changed = process::output(Command::new("git").args(["status", "--short", "--", "*.snap", "*.rs"]))?;
    if changed.is_empty() {
        println!("bless: no snapshot changed");
    } else {
        print!("bless: look at these before you commit them\n{changed}");
    }
    result
}
