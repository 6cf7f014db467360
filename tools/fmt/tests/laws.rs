//! What holds for every file of the repository: formatting keeps the program and all comments in their order, and what is
//! formatted is formatted to itself.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::{Arguments, Failed, Trial};
use sutura_fmt::{Refusal, format};
use sutura_ir::Context;

fn main() -> std::process::ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["lit-tests", "examples", "targets", "benches", "docs"] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    assert!(files.len() > 100, "only {} files in {}", files.len(), root.display());
    let trial = |file: PathBuf| {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        Trial::test(name, move || check(&file))
    };
    let done = libtest_mimic::run(&Arguments::from_args(), files.into_iter().map(trial).collect());
    let sprinkled = SPRINKLED.load(Ordering::Relaxed);
    assert!(
        done.num_filtered_out > 0 || sprinkled > 200,
        "only {sprinkled} texts with comments in odd places are valid"
    );
    done.exit_code()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "mlir") {
            files.push(path);
        }
    }
}

fn check(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let once = match formatted(&text) {
        Ok(once) => once,
        // Files of the tests of other dialects, and such as are wrong and do not say so.
        Err(Refusal::Invalid(diagnostics)) => {
            assert!(!diagnostics.is_empty(), "refused without a reason");
            return match may_be_invalid(file) {
                true => Ok(()),
                false => Err(diagnostics[0].message.clone().into()),
            };
        }
        Err(Refusal::Internal(message)) => return Err(message.into()),
    };
    if comments(&text) != comments(&once) {
        return Err("comments differ".into());
    }
    let twice = formatted(&once).map_err(|refusal| format!("{refusal:?}"))?;
    if once != twice {
        return Err(similar::TextDiff::from_lines(&once, &twice).unified_diff().to_string().into());
    }
    (1..=ROUNDS).try_for_each(|round| with_comments_anywhere(&once, round))
}

/// Texts with comments in odd places that were valid.
static SPRINKLED: AtomicUsize = AtomicUsize::new(0);

/// Rounds of comments in odd places for each file.
const ROUNDS: usize = 3;

/// Comments between any two words of a text go nowhere and cost nothing.
fn with_comments_anywhere(text: &str, round: usize) -> Result<(), Failed> {
    let text = sprinkled(text, round);
    let once = match formatted(&text) {
        Ok(once) => once,
        // A comment may tear apart what belongs together, or what tells parts that are wrong on purpose.
        Err(Refusal::Invalid(_)) => return Ok(()),
        Err(Refusal::Internal(message)) => return Err(format!("round {round}: {message}\n{text}").into()),
    };
    SPRINKLED.fetch_add(1, Ordering::Relaxed);
    if comments(&text) != comments(&once) {
        return Err(format!("round {round}: comments differ\n{text}").into());
    }
    let twice = formatted(&once).map_err(|refusal| format!("round {round}: {refusal:?}\n{once}"))?;
    match once == twice {
        true => Ok(()),
        false => {
            let diff = similar::TextDiff::from_lines(&once, &twice).unified_diff().to_string();
            Err(format!("round {round}: not stable\n{diff}").into())
        }
    }
}

/// The text with comments in place of some blanks that are neither in strings nor in comments nor in what `<` opens.
fn sprinkled(text: &str, round: usize) -> String {
    let mut out = String::new();
    let mut count = round;
    for line in text.lines() {
        let code = line.find("//").map_or(line, |at| &line[..at]);
        let plain = !code.contains(['"', '<']);
        for (at, c) in line.char_indices() {
            count += usize::from(c == ' ' && at < code.len());
            // Parts of a period that has no common factor with the widths of indentation.
            if c == ' ' && plain && at < code.len() && (count * 7 + at).is_multiple_of(5 + 8 * round) {
                out.push_str(&format!(" // sprinkled {count}\n"));
            } else {
                out.push(c);
            }
        }
        out.push('\n');
    }
    out
}

fn formatted(text: &str) -> Result<String, Refusal> {
    let cx = Context::new(sutura_dialects::all());
    format(&cx, "test.mlir", text).map(|formatted| formatted.text)
}

fn may_be_invalid(file: &Path) -> bool {
    let name = file.to_string_lossy();
    ["standalone-dialect", "invalid", "diagnostics"].iter().any(|word| name.contains(word))
}

/// Comments, found without the parser: good enough for texts without `//` in strings and dialect types.
fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.find("//").map(|at| line[at..].trim_end())).collect()
}
