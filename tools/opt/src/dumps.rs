//! The IR around passes: to stderr, as a diff, or into a tree of files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use similar::{ChangeTag, TextDiff};
use sutura_ir::asm::print::{PrintOptions, op_text};
use sutura_ir::pass::{Dump, IrPrinting, OpLabel, When};

use crate::args::Config;

/// What the command line asks to be printed.
pub(crate) fn printing(config: &Config, options: &PrintOptions) -> Option<IrPrinting> {
    if !config.prints_ir() {
        return None;
    }
    // A function alone has no place for aliases.
    let options = PrintOptions { local_scope: !config.module_scope || options.local_scope, ..options.clone() };
    Some(IrPrinting {
        before: config.print_before.clone(),
        after: config.print_after.clone(),
        only_changed: config.print_changed,
        on_failure: config.print_failed,
        module_scope: config.module_scope,
        with_old_text: config.print_diff,
        print: Arc::new(move |op| op_text(op, &options)),
    })
}

/// A dump as it is shown.
pub(crate) fn shown(config: &Config, dump: &Dump, color: bool) -> String {
    match &dump.old_text {
        Some(old) if config.print_diff => {
            let heading = dump.heading(true);
            format!("{heading}\n{}\n", diff(old, &dump.text, color))
        }
        _ => dump.whole(config.module_scope),
    }
}

/// A unified diff with three lines around each change; a line that says so where there is none.
fn diff(old: &str, new: &str, color: bool) -> String {
    let (old, new) = (format!("{}\n", old.trim_end()), format!("{}\n", new.trim_end()));
    let diff = TextDiff::from_lines(&old, &new);
    let mut out = String::new();
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        let header = hunk.header().to_string();
        out.push_str(&painted("36", &header, color));
        out.push('\n');
        for change in hunk.iter_changes() {
            let (sign, paint) = match change.tag() {
                ChangeTag::Delete => ("-", "31"),
                ChangeTag::Insert => ("+", "32"),
                ChangeTag::Equal => (" ", ""),
            };
            let line = format!("{sign}{}", change.value().trim_end_matches('\n'));
            out.push_str(&painted(paint, &line, color && !paint.is_empty()));
            out.push('\n');
        }
    }
    if out.is_empty() {
        out.push_str("(no change)\n");
    }
    out
}

fn painted(code: &str, text: &str, color: bool) -> String {
    if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
}

/// Writes a dump to a file of the tree under `folder`: a folder for each op around the one at hand, and in it a file for
/// each pass, with its number, as mlir-opt does.
///
/// # Errors
/// One sentence.
pub(crate) fn to_tree(folder: &Path, part: Option<u32>, dump: &Dump) -> Result<(), String> {
    let path = folder.join(tree_path(part, dump));
    let parent = path.parent().expect("made of a folder and a file");
    let done = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, format!("{}\n", dump.whole(true))));
    done.map_err(|e| format!("cannot write `{}`: {e}", path.display()))
}

fn tree_path(part: Option<u32>, dump: &Dump) -> PathBuf {
    let mut path = PathBuf::new();
    if let Some(line) = part {
        path.push(format!("line_{line}"));
    }
    path.extend(dump.path.iter().map(folder_name));
    let number: Vec<String> = dump.number.iter().map(ToString::to_string).collect();
    let when = match dump.when {
        When::Before => "_before",
        When::After => "",
        When::Failed => "_failed",
    };
    path.push(format!("{}_{}{when}.mlir", number.join("_"), dump.pass.argument));
    path
}

/// `func_func_main`; what is no letter, digit or dash becomes `_`, so that no symbol leads out of the folder.
fn folder_name(label: &OpLabel) -> String {
    let symbol = label.symbol.as_deref().unwrap_or("no-symbol-name");
    let clean = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
    };
    format!("{}_{}", clean(&label.op), clean(symbol))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diffs_show_what_changed_with_its_surroundings() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9";
        let new = old.replace("5\n", "five\n");
        let expected = "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(diff(old, &new, false), expected);
        assert!(diff(old, &new, true).contains("\x1b[32m+five\x1b[0m\n"));
        assert_eq!(diff(old, old, false), "(no change)\n");
    }

    #[test]
    fn symbols_do_not_lead_out_of_the_folder() {
        let label = |symbol: &str| OpLabel { op: "func.func".into(), symbol: Some(symbol.into()) };
        assert_eq!(folder_name(&label("../../etc")), "func_func_______etc");
        assert_eq!(
            folder_name(&OpLabel { op: "builtin.module".into(), symbol: None }),
            "builtin_module_no-symbol-name"
        );
    }
}
