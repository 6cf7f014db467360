//! The files in `lit-tests/`, each a test, with `sutura-opt` and FileCheck in this process.

mod support;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests");
    match sutura_lit::mimic::trials(&root, support::tools(), &[]) {
        Ok(trials) => libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit_code(),
        Err(error) => {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
