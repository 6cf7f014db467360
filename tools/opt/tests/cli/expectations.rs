//! `--verify-diagnostics`, case by case, beside mlir-opt.

use super::table;

const FLAGS: [&str; 2] = ["--verify-diagnostics", "--allow-unregistered-dialect"];

#[test]
fn table_of_cases() {
    table::ours("verify_diagnostics.txt", 100, &FLAGS);
}

#[test]
fn agrees_with_mlir_opt() {
    table::theirs("verify_diagnostics.txt", &FLAGS);
}
