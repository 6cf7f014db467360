//! Texts that are asked for instead of work: help, lists of passes and dialects.

use std::fmt::Write;

use sutura_ir::Registry;
use sutura_ir::pass::{Anchor, OptionKind, PassRegistry};

use crate::args::{FLAGS, Takes};

/// `--help`: one screen.
pub(crate) fn help() -> String {
    let mut out = String::from(
        "Reads MLIR text, runs passes on it and prints the result.\n\n\
         Usage: sutura-opt [FLAGS] [--PASS[=OPTIONS]]… [FILE]      FILE defaults to `-`, stdin\n\n",
    );
    for flag in FLAGS.iter().filter(|f| !f.help.is_empty()) {
        let dashes = if flag.name.len() == 1 { "-" } else { "--" };
        let left = match flag.takes {
            Takes::Bool => format!("{dashes}{}", flag.name),
            Takes::Optional => format!("{dashes}{}[={}]", flag.name, flag.value),
            Takes::Value => format!("{dashes}{}={}", flag.name, flag.value),
        };
        let _ = writeln!(out, "  {left:<38} {}", flag.help);
    }
    out.push_str(
        "\nFlags may begin with one dash, and with `mlir-`. Passes given as flags run in order, each where its\n\
         operations are.\n\n\
         Exit status: 0 done; 1 errors in the input, or it cannot be read, or the output cannot be written;\n\
         2 wrong usage; 3 a pass left IR that does not verify; 4 the input needs what a pass does not support;\n\
         5 a pass changed what a function does (--check-passes); 101 internal error\n",
    );
    out
}

/// `--list-passes`
pub(crate) fn passes(registry: &PassRegistry) -> String {
    let mut out = String::new();
    for pass in registry.passes() {
        let anchor = match pass.anchor {
            Anchor::Any => String::new(),
            Anchor::Op(op) => format!(" (on {op})"),
        };
        let _ = writeln!(out, "{}{anchor}: {}", pass.argument, pass.summary);
        for option in pass.options {
            let kind = match option.kind {
                OptionKind::Bool => "true|false".to_string(),
                OptionKind::Int(..) => "N".to_string(),
                OptionKind::Choice(words) => words.join("|"),
                OptionKind::Text => "TEXT".to_string(),
                OptionKind::List => "A,B,…".to_string(),
            };
            let default = if option.default.is_empty() { "none" } else { option.default };
            let _ = writeln!(out, "    {}={kind}: {} (default: {default})", option.name, option.help);
        }
    }
    for (name, pipeline) in registry.pipelines() {
        let _ = writeln!(out, "{name} = {}: {}", pipeline.text, pipeline.summary);
    }
    out
}

/// `--show-dialects`
pub(crate) fn dialects(registry: &Registry) -> String {
    let mut names: Vec<&str> = registry.dialects().map(|(name, _)| name).collect();
    names.sort_unstable();
    format!("Available Dialects: {}\n", names.join(","))
}
