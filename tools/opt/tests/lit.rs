//! The files in `lit-tests/`, each a test, with `sutura-opt` and FileCheck in this process.

mod support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sutura_lit::Overrides;

/// Where tools are looked for first: with those of this build, as one of another profile may be older, and where variables
/// name NVIDIA's.
fn tool_folders() -> Vec<PathBuf> {
    let named = ["SUTURA_PTXAS", "SUTURA_NVDISASM"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let programs = std::iter::once(PathBuf::from(env!("CARGO_BIN_EXE_sutura-opt"))).chain(named);
    programs.filter_map(|program| program.parent().map(Path::to_path_buf)).collect()
}

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests");
    let overrides = Overrides { tool_folders: tool_folders(), ..Overrides::default() };
    match sutura_lit::mimic::trials_with(&root, support::tools(), &overrides) {
        Ok(trials) => libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit_code(),
        Err(error) => {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
