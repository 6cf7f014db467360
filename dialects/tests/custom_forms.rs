//! The custom forms in `lit-tests/dialects/*/forms.mlir` are upstream's: `mlir-opt` writes them as they stand.
//!
//! That they are read and written here without change is checked by the files' own RUN lines.

use std::path::PathBuf;
use std::process::Command;

/// The program below the line that begins it.
fn program(file: &PathBuf) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let (_, program) = text.split_once("//--- in.mlir\n")?;
    Some(program.to_string())
}

fn forms() -> Vec<PathBuf> {
    let dialects = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../lit-tests/dialects");
    let folders = std::fs::read_dir(dialects).expect("the tests of the dialects").flatten();
    let mut files: Vec<PathBuf> = folders.map(|f| f.path().join("forms.mlir")).filter(|f| f.is_file()).collect();
    files.sort();
    files
}

#[test]
fn mlir_opt_writes_the_same() {
    let files = forms();
    assert!(files.len() >= 8, "a file for each dialect, but there are only {}", files.len());
    let mlir_opt = std::env::var("SUTURA_MLIR_OPT").unwrap_or_else(|_| "/usr/lib/llvm-22/bin/mlir-opt".to_string());
    for file in files {
        let expected = program(&file).unwrap_or_else(|| panic!("{}: no line `//--- in.mlir`", file.display()));
        // The header of the file is comments, which `mlir-opt` skips.
        let output = match Command::new(&mlir_opt).arg("--allow-unregistered-dialect").arg(&file).output() {
            Ok(output) => output,
            Err(error) => {
                return sutura_skip::skipped(
                    sutura_skip::Need::Llvm,
                    format!("{mlir_opt}: {error} (set SUTURA_MLIR_OPT to an mlir-opt 22)"),
                );
            }
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: mlir-opt refuses it\n{errors}", file.display());
        let written = String::from_utf8_lossy(&output.stdout);
        assert_eq!(written.trim_end(), expected.trim_end(), "{}", file.display());
    }
}
