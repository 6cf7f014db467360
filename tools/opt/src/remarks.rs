//! Remarks: which are shown, and files of them.
//!
//! [`json()`] and [`text()`] are what other tools write as well.

use std::fmt::Write;

use regex_lite::Regex;
use serde_json::{Value, json};
pub(crate) use sutura_ir::diagnostics::RemarkKind as Category;
use sutura_ir::{Context, Diagnostic, Loc};
use sutura_visible as visible;

/// How remarks are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum RemarkFormat {
    /// Among the diagnostics.
    #[default]
    Shown,
    /// A YAML document each, as LLVM's tools read them.
    Yaml,
    /// A JSON object each.
    Json,
}

/// Which remarks are wanted.
#[derive(Default)]
pub(crate) struct RemarkFilters(Vec<(Category, Regex)>);

impl RemarkFilters {
    /// Wants remarks of `category` whose pass or message matches `pattern`.
    ///
    /// # Errors
    /// When `pattern` is no regular expression.
    pub(crate) fn add(&mut self, category: Category, pattern: &str) -> Result<(), String> {
        let regex = Regex::new(pattern).map_err(|e| format!("takes a regular expression: {e}"))?;
        self.0.push((category, regex));
        Ok(())
    }

    /// The same for each category.
    ///
    /// # Errors
    /// When `pattern` is no regular expression.
    pub(crate) fn all(&mut self, pattern: &str) -> Result<(), String> {
        Category::ALL.into_iter().try_for_each(|category| self.add(category, pattern))
    }

    /// Wants all remarks unless some are asked for.
    pub(crate) fn all_if_none(&mut self) {
        if self.0.is_empty() {
            self.all("").expect("an empty pattern is one");
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True for a remark that is wanted; without filters all are.
    pub(crate) fn want(&self, remark: &Diagnostic) -> bool {
        let kind = category(remark);
        let matches = |regex: &Regex| remark.pass.is_some_and(|p| regex.is_match(p)) || regex.is_match(&remark.message);
        self.0.is_empty() || self.0.iter().any(|(category, regex)| *category == kind && matches(regex))
    }
}

/// The name that a location has, such as that of a node of a model.
pub fn name_of(cx: &Context, loc: Loc) -> Option<&str> {
    cx.loc_name(loc).map(|name| cx.str(name))
}

/// A remark as a JSON object: `kind`, `pass`, `message`, `location` with `file`, `line` and `column`, and `name`, what the
/// location is called; the last two may be null.
pub fn json(cx: &Context, remark: &Diagnostic) -> Value {
    let place = cx.file_line_col(remark.loc).map(|(file, line, col)| (cx.str(file), line, col));
    let place = place.map(|(file, line, column)| json!({"file": file, "line": line, "column": column}));
    json!({
        "kind": category(remark).word(),
        "pass": remark.pass.unwrap_or_default(),
        "message": remark.message,
        "location": place,
        "name": name_of(cx, remark.loc),
    })
}

/// Where a remark belongs: file, line and column, or what the location is called.
pub fn place(cx: &Context, remark: &Diagnostic) -> String {
    match (cx.file_line_col(remark.loc), name_of(cx, remark.loc)) {
        (Some((file, 0, _)), _) => visible::line(cx.str(file)).into_owned(),
        (Some((file, line, col)), _) => format!("{}:{line}:{col}", visible::line(cx.str(file))),
        (None, Some(name)) => visible::line(name).into_owned(),
        (None, None) => cx.sources().input().map_or("the input".into(), |name| visible::line(&name).into_owned()),
    }
}

/// A remark as a line: place, pass, kind, message.
pub fn text(cx: &Context, remark: &Diagnostic) -> String {
    let (pass, kind) = (remark.pass.map(|p| format!("{p}, ")).unwrap_or_default(), category(remark).word());
    format!("{}: remark: [{pass}{kind}] {}", place(cx, remark), visible::line(&remark.message))
}

fn category(remark: &Diagnostic) -> Category {
    remark.kind.unwrap_or(Category::Analysis)
}

/// A remark as an entry of a file.
pub(crate) fn entry(cx: &Context, remark: &Diagnostic, format: RemarkFormat) -> String {
    if format == RemarkFormat::Json {
        return format!("{}\n", visible::json(&json(cx, remark).to_string()));
    }
    let place = cx.file_line_col(remark.loc).map(|(file, line, col)| (cx.str(file), line, col));
    let (pass, kind) = (remark.pass.unwrap_or_default(), category(remark));
    let tag = match kind {
        Category::Passed => "Passed",
        Category::Missed => "Missed",
        Category::Failed => "Failure",
        Category::Analysis => "Analysis",
    };
    let mut out = format!("--- !{tag}\nPass:            {pass}\n");
    if let Some((file, line, column)) = place {
        let _ = writeln!(out, "DebugLoc:        {{ File: {}, Line: {line}, Column: {column} }}", quoted(file));
    }
    let _ = writeln!(out, "Args:\n  - Remark:          {}\n...", quoted(&remark.message));
    out
}

/// A YAML string in single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('\n', " "))
}
