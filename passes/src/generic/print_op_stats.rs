//! `print-op-stats`: counts operations by name.

use std::collections::BTreeMap;
use std::fmt::Write;

use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun};
use sutura_ir::{Body, Context};

/// The pass.
pub static PRINT_OP_STATS: PassInfo = PassInfo {
    name: "PrintOpStats",
    argument: "print-op-stats",
    summary: "Print statistics of operations",
    description: "Prints, on standard error, how often each operation occurs in the operation that the pass runs on, \
                  itself included. Nothing is changed.",
    anchor: Anchor::Any,
    options: &[OptionInfo {
        name: "json",
        kind: OptionKind::Bool,
        default: "false",
        help: "Print the statistics as JSON",
    }],
    statistics: &[],
    create,
};

struct PrintOpStats {
    json: bool,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(PrintOpStats { json: options.bool("json") }))
}

impl Pass for PrintOpStats {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let mut counts = BTreeMap::from([(run.header.name.as_str(run.cx), 1)]);
        count(run.cx, run.body, &mut counts);
        let text = if self.json { as_json(&counts) } else { as_table(&counts) };
        run.print(text);
        Ok(PreservedAnalyses::all())
    }
}

fn count<'c>(cx: &'c Context, body: &Body, counts: &mut BTreeMap<&'c str, u64>) {
    let mut pending = vec![body];
    while let Some(body) = pending.pop() {
        for op in body.preorder() {
            *counts.entry(body.name(op).as_str(cx)).or_default() += 1;
            pending.extend(body.nested(op));
        }
    }
}

fn as_table(counts: &BTreeMap<&str, u64>) -> String {
    let parts = |name: &str| match name.split_once('.') {
        Some((dialect, op)) => (dialect.to_string(), op.to_string()),
        None => (String::new(), name.to_string()),
    };
    let rows: Vec<_> = counts.iter().map(|(name, count)| (parts(name), *count)).collect();
    let dialects = rows.iter().map(|((d, _), _)| d.len()).max().unwrap_or(0);
    let ops = rows.iter().map(|((_, o), _)| o.len()).max().unwrap_or(0);
    let mut out = "Operations encountered:\n-----------------------\n".to_string();
    for ((dialect, op), count) in rows {
        let dot = if dialect.is_empty() { ' ' } else { '.' };
        let _ = writeln!(out, "  {dialect:>dialects$}{dot}{op:<ops$} , {count}");
    }
    out.push('\n');
    out
}

fn as_json(counts: &BTreeMap<&str, u64>) -> String {
    let escaped = |name: &str| {
        let mut out = String::new();
        for c in name.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                c if u32::from(c) < 0x20 => {
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                }
                c => out.push(c),
            }
        }
        out
    };
    let rows: Vec<String> = counts.iter().map(|(name, count)| format!("  \"{}\" : {count}", escaped(name))).collect();
    format!("{{\n{}\n}}\n", rows.join(",\n"))
}
