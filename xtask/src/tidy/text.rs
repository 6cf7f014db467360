//! Rules for the lines of text files.

use std::path::Path;

/// Rust files with more lines need a line that begins with [`LONG_FILE`] and says why.
const LONGEST: usize = 800;
const LONG_FILE: &str = "// tidy: long file: ";

/// Marks of unfinished work. Split, so that this file does not hold them.
const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("#[ign", "ore"),
];

/// Generated, or somebody else's words.
const EXEMPT: &[&str] = &["Cargo.lock", "LICENSE"];

/// Extensions of what tools write into the folder that they run in.
const PROGRAMS: &[&str] = &["mlir", "onnx", "sutura"];

/// What is wrong with one file, each problem with its place.
pub(crate) fn problems(path: &Path, content: &str) -> Vec<String> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    // A snapshot holds what a test got, an input of a fuzzer what it needs, to the byte.
    let input = path.starts_with("fuzz/corpus") && extension.is_empty();
    if extension == "snap" || input || EXEMPT.iter().any(|name| path == Path::new(name)) {
        return Vec::new();
    }
    let rust = extension == "rs";
    let mut problems = Vec::new();
    if PROGRAMS.contains(&extension) && path.components().count() == 1 {
        problems.push(format!(
            "{}: a program in the root, which a tool left: delete it, or move it to a folder",
            path.display()
        ));
    }
    for (at, line) in content.lines().enumerate() {
        let mut complain = |what: &str| problems.push(format!("{}:{}: {what}", path.display(), at + 1));
        if line.ends_with([' ', '\t', '\r']) {
            complain("white space at the end of the line");
        }
        if rust && line.contains('\t') {
            complain("a tab");
        }
        if let Some(mark) = UNFINISHED.iter().find(|mark| holds_word(line, mark)) {
            complain(&format!("unfinished: {mark}"));
        }
    }
    let lines = content.lines().count();
    if rust && lines > LONGEST && !content.lines().any(has_reason) {
        let advice = format!("split it, or say why not in a line `{LONG_FILE}…`");
        problems.push(format!("{}: {lines} lines, more than {LONGEST}: {advice}", path.display()));
    }
    if !content.is_empty() && !content.ends_with('\n') {
        problems.push(format!("{}: the last line does not end", path.display()));
    }
    problems
}

fn has_reason(line: &str) -> bool {
    line.strip_prefix(LONG_FILE).is_some_and(|reason| !reason.trim().is_empty())
}

/// Whether `line` holds `mark` where no longer word does.
fn holds_word(line: &str, mark: &str) -> bool {
    let in_word = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(mark).any(|(start, _)| {
        let after = &line[start + mark.len()..];
        let ends_in_letter = mark.ends_with(in_word);
        let inside = line[..start].ends_with(in_word) || (ends_in_letter && after.starts_with(in_word));
        !inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, content: &str) -> Vec<String> {
        problems(Path::new(path), content)
    }

    #[test]
    fn each_rule_has_a_place() {
        assert_eq!(of("a.rs", "fn a() {}\n"), [""; 0]);
        assert_eq!(of("a.md", "one\ntwo \n"), ["a.md:2: white space at the end of the line"]);
        assert_eq!(of("a.rs", "\tlet x;\n"), ["a.rs:1: a tab"]);
        assert_eq!(of("Makefile", "\tcc\n"), [""; 0]);
        assert_eq!(of("a.md", "no end"), ["a.md: the last line does not end"]);
        assert_eq!(of("t/a.snap", "as it is  "), [""; 0]);
        assert_eq!(of("fuzz/corpus/npy/plain", "no end"), [""; 0]);
        assert_eq!(of("fuzz/corpus/README.md", "no end").len(), 1);
        assert_eq!(of("left.mlir", "\n").len(), 1);
        assert_eq!(of("lit-tests/kept.mlir", "\n"), [""; 0]);
    }

    #[test]
    fn unfinished_work_is_told_from_longer_words() {
        for mark in UNFINISHED {
            let found = of("a.rs", &format!("// {mark}\n"));
            assert_eq!(found, [format!("a.rs:1: unfinished: {mark}")]);
            assert_eq!(of("a.rs", &format!("let x{mark}\n")), [""; 0]);
        }
        assert_eq!(of("a.md", &format!("{}S, mas{}\n", UNFINISHED[0], UNFINISHED[0])), [""; 0]);
    }

    #[test]
    fn long_files_need_a_reason() {
        let long = "let x;\n".repeat(LONGEST + 1);
        assert_eq!(of("a.rs", &long).len(), 1);
        assert_eq!(of("t/a.mlir", &long), [""; 0]);
        assert_eq!(of("a.rs", &format!("{LONG_FILE}\n{long}")).len(), 1 + 1, "an empty reason, and its white space");
        assert_eq!(of("a.rs", &format!("{LONG_FILE}one table\n{long}")), [""; 0]);
    }
}
