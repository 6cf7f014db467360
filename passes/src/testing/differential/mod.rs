//! The generic passes beside those of `mlir-opt`: on a table of programs, and on random ones.

mod normal;
mod random;
mod table;

use std::io::Write;
use std::process::{Command, Stdio};

use sutura_dialects::text::parse_text;
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::verify::VerifyOptions;
use sutura_ir::{Context, Module};

use super::{context, run_verified};
pub(super) use table::programs;

/// Between programs, in what `mlir-opt --split-input-file` reads and in what it writes.
const MARKER: &str = "// -----";

/// What `mlir-opt` makes of each program, in generic form, and all that it says; an empty text stands for a program that
/// it refuses. `None`, with the reason printed, when there is no `mlir-opt`.
fn mlir_opt(programs: &[String], pipeline: &str) -> Option<(Vec<String>, String)> {
    let path = std::env::var("SUTURA_MLIR_OPT").unwrap_or_else(|_| "/usr/lib/llvm-22/bin/mlir-opt".to_string());
    let mut command = Command::new(&path);
    command.args(["--split-input-file", "--allow-unregistered-dialect"]);
    command.args(["--mlir-print-op-generic", "--mlir-print-local-scope"]);
    command.arg(format!("--pass-pipeline=builtin.module({pipeline})"));
    let mut child = match command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            sutura_skip::skipped(
                sutura_skip::Need::Llvm,
                format!("{path}: {error} (set SUTURA_MLIR_OPT to an mlir-opt 22)"),
            );
            return None;
        }
    };
    let input = programs.join(&format!("\n{MARKER}\n"));
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("mlir-opt reads its input");
    let output = child.wait_with_output().expect("mlir-opt ends");
    let out = String::from_utf8_lossy(&output.stdout);
    let results: Vec<String> = out.split(MARKER).map(|part| part.trim().to_string()).collect();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(results.len(), programs.len(), "mlir-opt stops before the end: {said}");
    Some((results, said))
}

fn parse(cx: &Context, text: &str) -> Result<Module, String> {
    parse_text(cx, "test.mlir", text).map_err(|error| format!("{error}\n{text}"))
}

/// What our pipeline makes of a program.
fn ours(cx: &Context, program: &str, pipeline: &str) -> Result<Module, String> {
    let mut module = parse(cx, program)?;
    let verify = VerifyOptions { allow_unregistered: true };
    let said = run_verified(cx, &mut module, &format!("builtin.module({pipeline})"), verify);
    said.map(|_| module).map_err(|said| format!("{pipeline}: {said:?}\n{program}"))
}

/// In generic form, values numbered.
fn generic(cx: &Context, module: &Module) -> String {
    module_text(cx, module, &PrintOptions { discard_value_names: true, ..PrintOptions::generic() })
}

/// Those that `mlir-opt` refuses, with what it says.
fn refused(programs: &[String]) -> Vec<String> {
    let Some((results, said)) = mlir_opt(programs, "") else { return Vec::new() };
    let refused = programs.iter().zip(results).filter(|(_, result)| result.is_empty());
    let mut refused: Vec<String> = refused.map(|(program, _)| format!("mlir-opt refuses\n{program}")).collect();
    if !refused.is_empty() {
        refused.push(said);
    }
    refused
}
