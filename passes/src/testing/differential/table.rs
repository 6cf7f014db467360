//! A table of small programs: what each pass makes of them here and in `mlir-opt` is the same, or the table says why not.
//!
//! Files in `tests/differential` hold cases: `== NAME`, then lines `KEY: VALUE`, then the program. `passes:` is the
//! pipeline, for this case or, before the first case, for those of the file. The reasons for a difference are `missing:`
//! (upstream does more), `better:` (we do more) and `other:` (neither is simpler); a case that has one must differ.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use sutura_ir::Context;

use super::normal::normalize;
use super::{context, generic, mlir_opt, ours, parse, refused};

const REASONS: [&str; 3] = ["missing", "better", "other"];

struct Case {
    name: String,
    passes: String,
    /// Its kind and the words.
    reason: Option<(String, String)>,
    program: String,
}

fn read(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).expect("readable");
    let file = path.file_stem().and_then(|s| s.to_str()).expect("UTF-8");
    let mut parts = text.split("\n== ");
    let passes_of = |line: &str| line.strip_prefix("passes: ").map(str::to_string);
    let default = parts.next().and_then(|head| head.lines().find_map(passes_of));
    parts.map(|part| case(file, part, default.as_deref())).collect()
}

fn case(file: &str, part: &str, passes: Option<&str>) -> Case {
    let (name, mut rest) = part.split_once('\n').expect("a program follows the name");
    let mut case = Case {
        name: format!("{file}: {name}"),
        passes: passes.unwrap_or_default().to_string(),
        reason: None,
        program: String::new(),
    };
    while let Some((line, more)) = rest.split_once('\n') {
        match line.split_once(": ") {
            Some(("passes", value)) => case.passes = value.to_string(),
            Some((key, value)) if REASONS.contains(&key) => case.reason = Some((key.to_string(), value.to_string())),
            _ => break,
        }
        rest = more;
    }
    assert!(!case.passes.is_empty(), "{}: no `passes:`", case.name);
    case.program = rest.trim().to_string();
    case
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder is there").map(|e| e.expect("readable").path()).collect();
    files.sort();
    files.iter().flat_map(|path| read(path)).collect()
}

/// All programs of the table, for other tests.
pub(in super::super) fn programs() -> Vec<String> {
    cases().into_iter().map(|case| case.program).collect()
}

/// The program in a form that does not show the order of what only computes.
fn normal(cx: &Context, text: &str) -> Result<String, String> {
    let mut module = parse(cx, text)?;
    normalize(cx, module.body_mut());
    Ok(generic(cx, &module))
}

/// How a case went: what is wrong, if something is.
fn judge(cx: &Context, case: &Case, ours: &str, theirs: &str) -> Result<(), String> {
    let Case { name, passes, reason, .. } = case;
    let (ours, theirs) = (normal(cx, ours)?, normal(cx, theirs)?);
    match (reason, ours == theirs) {
        (None, true) | (Some(_), false) => Ok(()),
        (Some((kind, _)), true) => Err(format!("== {name}: does not differ any more: remove `{kind}:`")),
        (None, false) => Err(format!("== {name}: {passes}\n--- ours\n{ours}\n--- theirs\n{theirs}")),
    }
}

fn run_ours(cx: &Context, case: &Case) -> Result<String, String> {
    let module = ours(cx, &case.program, &case.passes).map_err(|error| format!("== {}: {error}", case.name))?;
    Ok(generic(cx, &module))
}

/// What is wrong with the cases of one pipeline. `None`: there is no `mlir-opt`.
fn compare(cx: &Context, passes: &str, cases: &[(&Case, &String)]) -> Option<Vec<String>> {
    let programs: Vec<String> = cases.iter().map(|(case, _)| case.program.clone()).collect();
    let (theirs, said) = mlir_opt(&programs, passes)?;
    let judged = cases.par_iter().zip(theirs).filter_map(|((case, ours), theirs)| match theirs.is_empty() {
        true => Some(format!("== {}: mlir-opt fails\n{said}", case.name)),
        false => judge(cx, case, ours, &theirs).err(),
    });
    Some(judged.collect())
}

#[test]
fn passes_do_what_mlir_opt_does() {
    let (cx, cases) = (context(), cases());
    assert!(cases.len() > 500, "cases are missing: {}", cases.len());
    let results: Vec<Result<String, String>> = cases.par_iter().map(|case| run_ours(&cx, case)).collect();
    let mut wrong: Vec<String> = results.iter().filter_map(|r| r.as_ref().err().cloned()).collect();
    let done: Vec<(&Case, &String)> =
        cases.iter().zip(&results).filter_map(|(c, r)| Some((c, r.as_ref().ok()?))).collect();
    let mut groups: BTreeMap<&str, Vec<(&Case, &String)>> = BTreeMap::new();
    for pair in &done {
        groups.entry(&pair.0.passes).or_default().push(*pair);
    }
    for (passes, cases) in groups {
        let Some(found) = compare(&cx, passes, &cases) else { return };
        wrong.extend(found);
    }
    wrong.extend(refused(&done.iter().map(|(_, result)| (*result).clone()).collect::<Vec<_>>()));
    let count = |kind| cases.iter().filter(|c| c.reason.as_ref().is_some_and(|(k, _)| k == kind)).count();
    let counts = REASONS.map(|kind| format!("{kind} {}", count(kind))).join(", ");
    eprintln!("{} cases: {counts}", cases.len());
    assert!(wrong.is_empty(), "{}\n{} of {} cases", wrong.join("\n"), wrong.len(), cases.len());
}
