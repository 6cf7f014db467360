//! Documentation of a dialect as Markdown, from the tables that its declarations write.

use std::fmt::Write;

use crate::asm::print::attr_text;
use crate::context::Context;
use crate::ext::ParamDef;
use crate::op_def::{Arity, OpDef, ValueDef};

/// The page of the dialect `name`; `None` when it is not registered.
///
/// The same declarations give the same bytes.
pub fn dialect_markdown(cx: &Context, name: &str) -> Option<String> {
    let info = cx.registry().dialect(name)?;
    let mut out = format!("# Dialect `{name}`\n\n{}\n", info.description);
    if info.partial {
        out.push_str("\nA subset of MLIR's dialect of this name.\n");
    }
    for (what, sigil, defs) in [("Types", '!', &info.type_defs), ("Attributes", '#', &info.attr_defs)] {
        if !defs.is_empty() {
            let _ = write!(out, "\n## {what}\n");
            defs.iter().for_each(|def| param_def(&mut out, sigil, def));
        }
    }
    if !info.ops.is_empty() {
        out.push_str("\n## Operations\n");
    }
    for def in info.ops.iter().filter_map(|op| cx.registry().op_def(op)) {
        op_def(&mut out, cx, def);
    }
    Some(out)
}

fn param_def(out: &mut String, sigil: char, def: &ParamDef) {
    let _ = write!(out, "\n### `{sigil}{}`\n\n{}\n", def.name, def.description);
    if !def.params.is_empty() {
        let _ = write!(out, "\nFormat: ``{}``\n\n| parameter | Rust type | |\n|---|---|---|\n", def.format);
    }
    for param in def.params {
        let optional = if param.optional { "may be absent. " } else { "" };
        let _ = writeln!(out, "| `{}` | `{}` | {optional}{} |", param.name, param.ty, param.description);
    }
}

fn op_def(out: &mut String, cx: &Context, def: &OpDef) {
    let _ = write!(out, "\n### `{}`\n\n{}\n", def.name, def.description);
    if let Some(format) = def.format {
        let _ = write!(out, "\nFormat: ``{format}``\n");
    }
    let traits: Vec<&str> = def.traits.names().collect();
    if !traits.is_empty() {
        let _ = write!(out, "\nTraits: {}\n", traits.join(", "));
    }
    if !def.parents.is_empty() {
        let _ =
            write!(out, "\nInside: {}\n", def.parents.iter().map(|p| format!("`{p}`")).collect::<Vec<_>>().join(", "));
    }
    let rows = rows(cx, def);
    if !rows.is_empty() {
        out.push_str("\n| | name | |\n|---|---|---|\n");
        for (kind, name, what) in rows {
            let _ = writeln!(out, "| {kind} | `{name}` | {} |", what.replace('|', "\\|"));
        }
    }
}

/// Kind, name and description of each declared part.
fn rows(cx: &Context, def: &OpDef) -> Vec<(&'static str, &'static str, String)> {
    let mut rows = Vec::new();
    let value = |v: &ValueDef| {
        let var = v.var.map(|i| format!(", `{}`", def.type_vars[i].name)).unwrap_or_default();
        format!("{}{}{var}", arity(v.arity), v.constraint.description)
    };
    rows.extend(def.operands.iter().map(|v| ("operand", v.name, value(v))));
    for attr in def.attrs {
        let absence = match (attr.default, attr.optional) {
            (Some(default), _) => format!(", `{}` when absent", attr_text(cx, default(cx))),
            (None, true) => ", may be absent".to_string(),
            (None, false) => String::new(),
        };
        rows.push(("attribute", attr.name, format!("{}{absence}", attr.constraint.description)));
    }
    rows.extend(def.results.iter().map(|v| ("result", v.name, value(v))));
    rows.extend(def.regions.iter().map(|r| ("region", r.name, arity(r.arity).trim_end().to_string())));
    rows.extend(def.successors.iter().map(|s| ("successor", s.name, arity(s.arity).trim_end().to_string())));
    rows
}

fn arity(arity: Arity) -> &'static str {
    match arity {
        Arity::Single => "",
        Arity::Optional => "at most one ",
        Arity::Variadic => "any number of ",
    }
}
