//! Texts that are asked for instead of work: help, pages on codes, lists of passes and dialects.

use std::fmt::Write;

use serde_json::{Value, json};
use sutura_ir::Registry;
use sutura_ir::diagnostics::exit::{self, Exit};
use sutura_ir::diagnostics::{codes, did_you_mean};
use sutura_ir::pass::{Anchor, OptionInfo, OptionKind, PassInfo, PassRegistry};

use crate::flags::{FLAGS, Flag, Group, Takes};

/// The flags of `--help`.
const COMMON: &[&str] = &[
    "o",
    "pass-pipeline",
    "split-input-file",
    "verify-diagnostics",
    "verify-roundtrip",
    "check-passes",
    "strict",
    "allow-unregistered-dialect",
    "print-op-generic",
    "keep-comments",
    "print-ir-after-all",
    "print-ir-diff",
    "timing",
    "pass-statistics",
    "remarks",
    "threads",
    "list-passes",
    "explain",
];

const USAGE: &str = "Usage: sutura-opt [FLAGS] [--PASS[=OPTIONS]]… [FILE]      FILE defaults to `-`, stdin\n";

/// The codes that the tool ends with.
const EXITS: [Exit; 10] = [
    Exit::Ok,
    Exit::Input,
    Exit::Usage,
    Exit::Unsupported,
    Exit::System,
    Exit::NotLegal,
    Exit::Changed,
    Exit::Internal,
    Exit::Verification,
    Exit::Interrupted,
];

const EXAMPLES: &str = "\
Examples:
  sutura-opt in.mlir                                       check and print
  sutura-opt in.mlir --canonicalize --cse -o out.mlir      run passes in order
  sutura-opt in.mlir --pass-pipeline='builtin.module(func.func(cse))' --print-ir-diff
  sutura-opt tests.mlir --split-input-file --verify-diagnostics
  sutura-opt --explain=E0003                               what a code means
";

/// `--help`: one screen.
pub(crate) fn help() -> String {
    let mut out = format!("Reads MLIR text, runs passes on it and prints the result.\n\n{USAGE}\n");
    for name in COMMON {
        let flag = FLAGS.iter().find(|f| f.name == *name).expect("a flag");
        write_flag(flag, &mut out);
    }
    out.push_str(
        "  --help-all                             All flags\n\n\
         Flags may begin with one dash, and with `mlir-`. Passes given as flags run in order, each where its\n\
         operations are.\n\n",
    );
    let _ = writeln!(out, "{EXAMPLES}\n{}", exit::help(&EXITS));
    out
}

/// `--help-all`
pub(crate) fn help_all() -> String {
    let mut out = String::from(USAGE);
    for (group, title) in Group::ALL {
        let _ = writeln!(out, "\n{title}:");
        FLAGS.iter().filter(|f| f.group == group).for_each(|flag| write_flag(flag, &mut out));
    }
    let _ = writeln!(out, "\n{}", exit::help(&EXITS));
    out
}

fn write_flag(flag: &Flag, out: &mut String) {
    let dashes = if flag.name.len() == 1 { "-" } else { "--" };
    let left = match flag.takes {
        Takes::Bool => format!("{dashes}{}", flag.name),
        Takes::Optional => format!("{dashes}{}[={}]", flag.name, flag.value),
        Takes::Value => format!("{dashes}{}={}", flag.name, flag.value),
    };
    let _ = writeln!(out, "  {left:<38} {}", flag.help);
}

/// `--explain=CODE`
///
/// # Errors
/// When there is no such code.
pub(crate) fn explain(code: &str) -> Result<String, String> {
    if let Some(page) = codes::explain(code) {
        return Ok(page.to_string());
    }
    let close = did_you_mean(&code.to_uppercase(), codes::all());
    let hint = close.map(|c| format!("; did you mean `{c}`?")).unwrap_or_default();
    let first = codes::all().next().unwrap_or_default();
    let last = codes::all().last().unwrap_or_default();
    Err(format!("there is no code `{code}`: they run from {first} to {last}{hint}"))
}

// ---- passes

/// `--list-passes`: by the operations that they run on.
pub(crate) fn passes(registry: &PassRegistry) -> String {
    let mut out = String::new();
    let all = registry.passes();
    let mut anchors: Vec<&str> = all.iter().map(|p| anchor(p)).collect();
    anchors.sort_unstable();
    anchors.dedup();
    for group in anchors {
        let _ = match group {
            "" => writeln!(out, "On any operation that is isolated from above:"),
            op => writeln!(out, "On {op}:"),
        };
        for pass in all.iter().filter(|p| anchor(p) == group) {
            let _ = writeln!(out, "  {}: {}", pass.argument, pass.summary);
            for option in pass.options {
                let default = if option.default.is_empty() { "none" } else { option.default };
                let _ = writeln!(out, "    {}={}: {} (default: {default})", option.name, takes(option), option.help);
            }
        }
        out.push('\n');
    }
    let pipelines = registry.pipelines();
    if !pipelines.is_empty() {
        out.push_str("Pipelines:\n");
    }
    for (name, pipeline) in pipelines {
        let _ = writeln!(out, "  {name} = {}: {}", pipeline.text, pipeline.summary);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The op that a pass is anchored on; empty for any.
fn anchor(pass: &PassInfo) -> &'static str {
    match pass.anchor {
        Anchor::Any => "",
        Anchor::Op(op) => op,
    }
}

fn takes(option: &OptionInfo) -> String {
    match option.kind {
        OptionKind::Bool => "true|false".to_string(),
        OptionKind::Int(..) => "N".to_string(),
        OptionKind::Choice(words) => words.join("|"),
        OptionKind::Text => "TEXT".to_string(),
        OptionKind::List => "A,B,…".to_string(),
        OptionKind::Pipeline => "PASSES".to_string(),
    }
}

/// `--list-passes --format=json`
pub(crate) fn passes_json(registry: &PassRegistry) -> String {
    let option = |o: &OptionInfo| {
        let (least, most) = match o.kind {
            OptionKind::Int(least, most) => (Some(least), Some(most)),
            _ => (None, None),
        };
        json!({
            "name": o.name, "takes": takes(o), "minimum": least, "maximum": most, "default": o.default, "help": o.help,
        })
    };
    let pass = |p: &&PassInfo| {
        let on = Some(anchor(p)).filter(|a| !a.is_empty());
        let statistics: Vec<Value> =
            p.statistics.iter().map(|s| json!({"name": s.name, "description": s.description})).collect();
        json!({
            "name": p.argument,
            "class": p.name,
            "on": on,
            "summary": p.summary,
            "description": p.description,
            "options": p.options.iter().map(option).collect::<Vec<_>>(),
            "statistics": statistics,
        })
    };
    let passes: Vec<Value> = registry.passes().iter().map(pass).collect();
    let pipelines: Vec<Value> = registry
        .pipelines()
        .into_iter()
        .map(|(name, p)| json!({"name": name, "pipeline": p.text, "summary": p.summary}))
        .collect();
    format!("{:#}\n", json!({"version": 1, "passes": passes, "pipelines": pipelines}))
}

// ---- dialects

/// `--show-dialects`
pub(crate) fn dialects(registry: &Registry) -> String {
    let mut names: Vec<&str> = registry.dialects().map(|(name, _)| name).collect();
    names.sort_unstable();
    format!("Available Dialects: {}\n", names.join(","))
}

/// `--doc=DIALECT`
pub(crate) fn dialect(cx: &sutura_ir::Context, name: &str) -> Result<String, String> {
    sutura_ir::doc::dialect_markdown(cx, name).ok_or_else(|| {
        let hint = sutura_ir::diagnostics::did_you_mean(name, cx.registry().dialects().map(|(name, _)| name));
        let hint = hint.map_or("`--show-dialects` lists them".to_string(), |hint| format!("did you mean `{hint}`?"));
        format!("no dialect `{name}` is registered; {hint}")
    })
}

/// `--show-dialects --format=json`
pub(crate) fn dialects_json(registry: &Registry) -> String {
    let summary = |name: &str| registry.op_def(name).map_or("", |d| d.summary);
    let mut dialects: Vec<(&str, Value)> = registry
        .dialects()
        .map(|(name, info)| {
            let ops: Vec<Value> = info.ops.iter().map(|op| json!({"name": op, "summary": summary(op)})).collect();
            (name, json!({"name": name, "operations": ops}))
        })
        .collect();
    dialects.sort_by_key(|(name, _)| *name);
    let dialects: Vec<Value> = dialects.into_iter().map(|(_, value)| value).collect();
    format!("{:#}\n", json!({"version": 1, "dialects": dialects}))
}
