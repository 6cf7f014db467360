//! From changed paths to tests.

use std::collections::BTreeSet;
use std::fmt;

use super::facts::{Facts, Idea};

pub(super) const PASSES: &str = "sutura-passes";
pub(super) const OPT: &str = "sutura-opt";
/// Stands for the tests in documentation, where otherwise the name of a test program stands.
pub(super) const DOC: &str = "(documentation)";

/// What everything stands on: their paths begin so.
const FOUNDATIONS: [&str; 3] = ["ir/", "grammar/", ".cargo/"];

/// Pages that tests read, with the tests.
const READ_PAGES: [(&str, &[(&str, &str)]); 3] = [
    ("docs/errors/", &[(OPT, "cli"), ("sutura", "explain")]),
    ("docs/passes.md", &[(PASSES, "documented")]),
    ("docs/extending.md", &[(OPT, DOC)]),
];

/// Folders that tests of other crates read, with the crates.
const READ_FOLDERS: [(&str, &[&str]); 5] = [
    ("targets/", &["sutura-dialects"]),
    ("examples/encoder/", &["sutura-import", "sutura"]),
    ("examples/cnn/", &["sutura-import", "sutura"]),
    ("fuzz/corpus/", &["sutura-fuzz"]),
    ("fuzz/dictionaries/", &["sutura-fuzz"]),
];

/// What only a person or the whole gate runs.
const BY_HAND: [(&str, &str); 4] = [
    ("fuzz/afl/", "the programs for AFL++: `cargo xtask fuzz --coverage` builds and runs them"),
    ("fuzz/beside_onnxruntime/", "the comparison with onnxruntime: `cargo xtask soak` runs it"),
    ("examples/standalone-dialect/", "the standalone example: `cargo xtask ci` tests it"),
    ("benches/", "benchmarks: nothing tests them"),
];

/// What is to be run, besides the check of files and layers, which always is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// The reason, if every test is to be run.
    pub(super) everything: Option<String>,
    /// Crates of which every test is.
    pub(super) crates: BTreeSet<String>,
    /// Beginnings of names of unit tests of the passes.
    pub(super) pass_tests: BTreeSet<String>,
    /// Crates with one of their test programs.
    pub(super) suites: BTreeSet<(String, String)>,
    /// Files of `lit-tests`.
    pub(super) lits: BTreeSet<String>,
    /// Those of them that must print as what reads back as the same.
    pub(super) round_trips: BTreeSet<String>,
    /// What is left out, in words.
    pub(super) skipped: BTreeSet<String>,
}

/// What a change of `paths` can affect.
pub(super) fn plan(paths: &[String], facts: &Facts) -> Plan {
    let mut plan = Plan::default();
    for path in paths {
        add(&mut plan, path, facts);
        if plan.everything.is_some() {
            return Plan { everything: plan.everything, ..Plan::default() };
        }
    }
    // A crate whose tests all run needs no choice of them.
    if plan.crates.contains(PASSES) {
        plan.pass_tests.clear();
    }
    let crates = &plan.crates;
    plan.suites.retain(|(name, _)| !crates.contains(name));
    if plan.crates.contains(OPT) {
        plan.lits.clear();
        plan.round_trips.clear();
    }
    plan
}

fn add(plan: &mut Plan, path: &str, facts: &Facts) {
    let file = path.rsplit('/').next().unwrap_or(path);
    let in_fuzz = path.starts_with("fuzz/afl/");
    if !in_fuzz && (file == "Cargo.toml" || path == "Cargo.lock") || FOUNDATIONS.iter().any(|f| path.starts_with(f)) {
        plan.everything = Some(format!("everything stands on {path}"));
    } else if let Some((_, what)) = BY_HAND.iter().find(|(folder, _)| path.starts_with(folder)) {
        plan.skipped.insert((*what).to_owned());
    } else if let Some((_, suites)) = READ_PAGES.iter().find(|(page, _)| path.starts_with(page)) {
        plan.suites.extend(suites.iter().map(|(name, suite)| ((*name).to_owned(), (*suite).to_owned())));
    } else if path.starts_with("docs/") || (!path.contains('/') && path.ends_with(".md")) || path == ".gitignore" {
        // Words: tidy looks at their lines.
    } else if let Some((_, crates)) = READ_FOLDERS.iter().find(|(folder, _)| path.starts_with(folder)) {
        crates.iter().for_each(|name| with_users(plan, name, facts));
    } else if path.starts_with("lit-tests/") {
        lit_test(plan, path, facts);
    } else if let Some(idea) = facts.ideas.iter().find(|idea| idea.holds(path)) {
        pass(plan, idea, facts);
    } else if path.starts_with("passes/tests/") || path.starts_with("passes/src/testing") {
        plan.crates.insert(PASSES.to_owned());
    } else if let Some(package) = facts.package_of(path) {
        with_users(plan, package, facts);
    } else {
        plan.everything = Some(format!("no rule says what {path} affects"));
    }
}

/// A crate, and all that stand on it.
fn with_users(plan: &mut Plan, name: &str, facts: &Facts) {
    plan.crates.extend(facts.with_users(name));
}

fn lit_test(plan: &mut Plan, path: &str, facts: &Facts) {
    let is_test = path.ends_with(".mlir") || path.ends_with(".test");
    if !is_test || path.contains("/Inputs/") {
        plan.crates.insert(OPT.to_owned());
        return;
    }
    // One that is gone tests nothing any more.
    if facts.lits.iter().any(|(known, _)| known == path) {
        plan.lits.insert(path.to_owned());
        if path.ends_with(".mlir") {
            plan.round_trips.insert(path.to_owned());
            plan.skipped.insert("the laws of sutura-fmt on changed lit tests".to_owned());
        }
    }
}

/// A folder of passes: its unit tests and those of the folders that use it, the test programs and lit tests that name one of its passes.
fn pass(plan: &mut Plan, idea: &Idea, facts: &Facts) {
    let affected = facts.users_of_idea(idea);
    let arguments: BTreeSet<&str> = affected.iter().flat_map(|idea| &idea.arguments).map(String::as_str).collect();
    let names_one = |text: &str| arguments.iter().any(|argument| holds_word(text, argument));
    plan.pass_tests.extend(affected.iter().map(|idea| idea.filter()));
    plan.pass_tests.extend(facts.ideas.iter().filter(|other| names_one(&other.text)).map(Idea::filter));
    let suites = facts.pass_suites.iter().filter(|(_, text)| names_one(text));
    plan.suites.extend(suites.map(|(suite, _)| (PASSES.to_owned(), suite.clone())));
    plan.lits.extend(facts.lits.iter().filter(|(_, text)| names_one(text)).map(|(path, _)| path.clone()));
    let mut above = facts.with_users(PASSES);
    above.remove(PASSES);
    let above: Vec<String> = above.into_iter().collect();
    plan.skipped.insert(format!("the tests of crates that run passes: {}", above.join(", ")));
    plan.skipped
        .insert("lit tests that name none of the passes: they may run one as a part of `sutura compile`".to_owned());
}

/// Whether a text has a word that no longer one holds: passes have `-` in their names.
pub(super) fn holds_word(text: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word).any(|(at, _)| {
        // An option is a word behind two dashes.
        let before = text[..at].trim_end_matches("--");
        !before.ends_with(in_word) && !text[at + word.len()..].starts_with(in_word)
    })
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = &self.everything {
            return writeln!(f, "  every test is run: {reason}");
        }
        let joined = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        if !self.crates.is_empty() {
            writeln!(f, "  run: all tests of {}", joined(&self.crates))?;
        }
        if !self.pass_tests.is_empty() {
            writeln!(f, "  run: unit tests of passes: {}", joined(&self.pass_tests))?;
        }
        for (name, suite) in &self.suites {
            writeln!(f, "  run: {name}, {suite}")?;
        }
        if !self.lits.is_empty() {
            writeln!(f, "  run: {} lit tests, {} round trips", self.lits.len(), self.round_trips.len())?;
        }
        writeln!(f, "  run: tidy")?;
        for what in &self.skipped {
            writeln!(f, "  skipped: {what}")?;
        }
        let nothing = self.crates.is_empty() && self.pass_tests.is_empty() && self.suites.is_empty();
        if nothing && self.lits.is_empty() {
            writeln!(f, "  skipped: every test: what changed is words, or is tested by hand")?;
        } else {
            writeln!(f, "  skipped: the tests of all other crates: nothing of them stands on what changed")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::Package;
    use super::*;

    fn facts() -> Facts {
        let package = |name: &str, folder: &str, needs: &[&str]| Package {
            name: name.to_owned(),
            folder: folder.to_owned(),
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        };
        let idea = |path: &str, arguments: &[&str], text: &str| Idea {
            path: path.to_owned(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            text: text.to_owned(),
        };
        Facts {
            packages: vec![
                package("sutura-ir", "ir", &[]),
                package("sutura-arena", "ir/arena", &[]),
                package("sutura-dialects", "dialects", &["sutura-ir"]),
                package("sutura-passes", "passes", &["sutura-dialects"]),
                package("sutura-import", "import", &["sutura-dialects"]),
                package("sutura-opt", "tools/opt", &["sutura-passes"]),
                package("sutura", "tools/sutura", &["sutura-opt", "sutura-import", "sutura-runtime"]),
                package("sutura-runtime", "runtime", &[]),
                package("sutura-capi", "runtime/capi", &["sutura-runtime"]),
                package("sutura-fuzz", "fuzz", &["sutura-passes", "sutura-runtime"]),
                package("xtask", "xtask", &[]),
            ],
            ideas: vec![
                idea("stitch", &["stitch"], ""),
                idea("tensorize", &["tensorize"], "\"func.func(stitch),tensorize\""),
                idea("gir_lowering", &["convert-gir-to-cpu"], "region::of()"),
                idea("region", &[], ""),
                idea("generic/cse", &["cse"], ""),
            ],
            pass_suites: vec![("generic".into(), "cse".into()), ("conversion".into(), "nothing".into())],
            lits: vec![
                ("lit-tests/stitch/a.mlir".into(), "// RUN: sutura-opt %s --stitch".into()),
                ("lit-tests/gir/b.mlir".into(), "// RUN: sutura-opt %s --print-stitch".into()),
                (
                    "lit-tests/gir/c.mlir".into(),
                    "// RUN: sutura-opt --pass-pipeline='f(convert-gir-to-cpu,cse)'".into(),
                ),
            ],
        }
    }

    fn of(paths: &[&str]) -> Plan {
        plan(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>(), &facts())
    }

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn foundations_mean_everything() {
        for path in
            ["Cargo.toml", "Cargo.lock", "passes/Cargo.toml", "ir/src/lib.rs", "ir/arena/src/lib.rs", "grammar/ir.pest"]
        {
            assert!(of(&["docs/gir.md", path]).everything.is_some_and(|why| why.contains(path)), "{path}");
        }
    }

    #[test]
    fn what_no_rule_knows_means_everything() {
        assert_eq!(of(&["new/thing.rs"]).everything.as_deref(), Some("no rule says what new/thing.rs affects"));
    }

    #[test]
    fn words_need_tidy_alone() {
        assert_eq!(of(&["docs/testing.md", "README.md", "CHANGELOG.md"]), Plan::default());
        assert_eq!(of(&["xtask/src/main.rs"]).crates, set(&["xtask"]));
    }

    #[test]
    fn pages_that_tests_read_run_these() {
        let suites = of(&["docs/errors/E0123.md"]).suites;
        assert!(suites.contains(&(OPT.to_owned(), "cli".to_owned())) && suites.len() == 2, "{suites:?}");
        assert_eq!(of(&["docs/passes.md"]).suites.len(), 1);
    }

    #[test]
    fn a_crate_runs_with_all_that_stand_on_it() {
        assert_eq!(
            of(&["runtime/src/npy.rs"]).crates,
            set(&["sutura-runtime", "sutura-capi", "sutura", "sutura-fuzz"])
        );
        // The innermost folder decides.
        assert_eq!(of(&["runtime/capi/src/lib.rs"]).crates, set(&["sutura-capi"]));
        let dialects = of(&["targets/generic.mlir"]).crates;
        assert_eq!(dialects, of(&["dialects/src/lib.rs"]).crates);
        assert!(dialects.contains("sutura-fuzz") && !dialects.contains("sutura-runtime"));
    }

    #[test]
    fn one_pass_runs_its_tests_and_those_that_name_it() {
        let plan = of(&["passes/src/stitch/mod.rs"]);
        assert_eq!(plan.pass_tests, set(&["stitch::", "tensorize::"]));
        assert_eq!(plan.lits, set(&["lit-tests/stitch/a.mlir"]));
        assert!(plan.crates.is_empty() && plan.suites.is_empty() && plan.round_trips.is_empty());
        let said = plan.to_string();
        assert!(
            said.contains("skipped: the tests of crates that run passes: sutura, sutura-fuzz, sutura-opt"),
            "{said}"
        );
    }

    #[test]
    fn what_other_passes_use_runs_theirs_too() {
        let plan = of(&["passes/src/region/mod.rs"]);
        assert_eq!(plan.pass_tests, set(&["gir_lowering::", "region::"]));
        assert_eq!(plan.lits, set(&["lit-tests/gir/c.mlir"]));
        let plan = of(&["passes/src/generic/cse/tests.rs"]);
        assert_eq!(plan.pass_tests, set(&["generic::cse::"]));
        assert_eq!(plan.suites, BTreeSet::from([(PASSES.to_owned(), "generic".to_owned())]));
    }

    #[test]
    fn the_crate_of_passes_as_a_whole_runs_all_above_it() {
        for path in ["passes/src/lib.rs", "passes/src/stages.rs"] {
            assert_eq!(
                of(&[path, "passes/src/stitch/mod.rs"]).crates,
                set(&["sutura-passes", "sutura-opt", "sutura", "sutura-fuzz"])
            );
        }
        assert_eq!(of(&["passes/tests/generic.rs"]).crates, set(&["sutura-passes"]));
    }

    #[test]
    fn lit_tests_run_and_come_back() {
        let plan = of(&["lit-tests/gir/b.mlir", "lit-tests/gir/gone.mlir"]);
        assert_eq!((plan.lits, plan.round_trips), (set(&["lit-tests/gir/b.mlir"]), set(&["lit-tests/gir/b.mlir"])));
        assert_eq!(of(&["lit-tests/lit.toml"]).crates, set(&["sutura-opt"]));
    }

    #[test]
    fn what_is_left_to_hands_is_said() {
        let plan = of(&["fuzz/afl/Cargo.toml", "fuzz/afl/src/lib.rs"]);
        assert!(plan.everything.is_none() && plan.to_string().contains("cargo xtask fuzz --coverage"), "{plan}");
        assert_eq!(of(&["fuzz/corpus/npy/plain"]).crates, set(&["sutura-fuzz"]));
    }

    #[test]
    fn words_are_whole() {
        assert!(holds_word("sutura-opt --stitch %s", "stitch") && holds_word("f(stitch,cse)", "stitch"));
        assert!(
            !holds_word("--print-stitch", "stitch")
                && !holds_word("stitches", "stitch")
                && !holds_word("x-stitch", "stitch")
        );
    }
}
