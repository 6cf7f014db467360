//! The passing tests of `suite/` as trials of `cargo test`.

use std::path::Path;

use libtest_mimic::Arguments;
use sutura_lit::{Overrides, Tools, mimic};

fn main() {
    let args = Arguments::from_args();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mimic");
    let overrides = Overrides { output: Some(output), ..Overrides::default() };
    let trials = match mimic::trials_with(&suite, Tools::standard(), &overrides) {
        Ok(trials) => trials,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(101);
        }
    };
    let passing = ["pass/", "xfail/", "unsupported/"];
    let (good, bad): (Vec<_>, Vec<_>) =
        trials.into_iter().partition(|trial| passing.iter().any(|folder| trial.name().starts_with(folder)));
    assert!(!good.is_empty() && !bad.is_empty());
    assert!(good.iter().any(|trial| trial.has_ignored_flag() && trial.kind() == "requires: absent"));
    libtest_mimic::run(&args, good).exit();
}
