//! Parses IR files with the builtin dialect only and prints them again, in generic form: the text layer alone, for
//! comparisons of speed and of output.
//!
//! `roundtrip [--allow-unregistered-dialect] [--discard-value-names] [--split=MARK] [--no-print] FILE`
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use sutura_grammar::{ParseOptions, parse_module};
use sutura_ir::asm::print::{PrintOptions, write_module};
use sutura_ir::{Context, Diagnostics, Registry};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|a| a == flag);
    let mark = args.iter().find_map(|a| a.strip_prefix("--split="));
    let Some(path) = args.iter().find(|a| !a.starts_with("--")) else { return ExitCode::from(2) };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(3);
        }
    };
    let options =
        ParseOptions { allow_unregistered: has("--allow-unregistered-dialect"), threads: 1, ..ParseOptions::default() };
    let print = PrintOptions {
        discard_value_names: has("--discard-value-names"),
        debug_info: has("--debug-info"),
        ..PrintOptions::generic()
    };
    let chunks: Vec<String> = match mark {
        Some(_) => text.split("\n// -----\n").map(str::to_string).collect(),
        None => vec![text],
    };
    let mut failed = false;
    let mut out = std::io::stdout().lock();
    for (i, chunk) in chunks.into_iter().enumerate() {
        if let (Some(mark), true) = (mark, i > 0) {
            let _ = writeln!(out, "{mark}");
        }
        let cx = Context::new(Registry::default());
        let source = cx.sources().add(path.clone(), chunk).expect("the text is not too large");
        let mut diags = Diagnostics::default();
        let module = parse_module(&cx, &source, &options, &mut diags);
        for d in diags.iter() {
            let place = cx.file_line_col(d.loc).map(|(_, l, c)| format!("{l}:{c}")).unwrap_or_default();
            eprintln!("{path}:{place}: error: {}", d.message);
            for (loc, note) in &d.notes {
                let place = cx.file_line_col(*loc).map(|(_, l, c)| format!("{l}:{c}")).unwrap_or_default();
                eprintln!("{path}:{place}: note: {note}");
            }
            if let Some(help) = &d.help {
                eprintln!("  help: {help}");
            }
        }
        match module {
            Ok(module) if !has("--no-print") => {
                failed |= write_module(&cx, &module, &print, &mut out).is_err();
            }
            Ok(_) => {}
            Err(_) => failed = true,
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
