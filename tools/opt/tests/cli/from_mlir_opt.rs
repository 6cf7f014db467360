//! `docs/from-mlir-opt.md` names tests that there are.

use std::fs;
use std::path::{Path, PathBuf};

/// Rust files below `folder`.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// What stands in back quotes in the last cell of a row.
fn names(row: &str) -> Vec<&str> {
    let cells: Vec<&str> = row.trim().trim_matches('|').rsplitn(2, " | ").collect();
    cells[0].split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_fact_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for tool in ["opt", "filecheck", "fmt"] {
        sources(&root.join("tools").join(tool), &mut files);
    }
    let tests: String = files.iter().map(|file| fs::read_to_string(file).expect("readable")).collect();
    let page = fs::read_to_string(root.join("docs/from-mlir-opt.md")).expect("readable");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert_eq!(rows.len(), 17);
    for row in rows {
        let named = names(row);
        assert!(!named.is_empty(), "no test: {row}");
        for name in named {
            assert!(tests.contains(&format!("#[test]\nfn {name}()")), "there is no test `{name}`: {row}");
        }
    }
}
