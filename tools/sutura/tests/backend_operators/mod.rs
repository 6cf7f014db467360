//! The page of operators: what the table of the importer and the backend tests say of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;
use sutura_import::onnx::schema;

const HEAD: &str = "\
# Operators of ONNX

<!-- Written from the importer's table and ONNX's backend tests: `SUTURA_BACKEND_BLESS=1 cargo test --workspace --test backend_cases`. -->

What the importer knows, and what was seen of it: each case of ONNX's backend tests is compiled and compared with what it expects.

- **Versions**: opsets that brought an interface. A model may have any opset that Sutura reads.
- **Cases**: models of the backend tests that are this operator and no other, with how many pass. What does not, and why, is in
  `tools/sutura/tests/data/onnx_backend/not_passing.txt`.
- **Elements**: types seen in models that pass.
- **Becomes**: an operator of the library (`@name`, [declaring-operators.md](declaring-operators.md)), a routine of the runtime
  ([routines.md](routines.md)), or kinds of `graph` operations.
- **Runs**: on all targets, or only where kernels run on the host, because a routine or a size that data decide needs it.

`sutura check MODEL` shows the same of a model.

| Operator | Versions | Cases | Elements | Becomes | Runs |
|---|---|---|---|---|---|
";

#[derive(Default)]
struct Row {
    cases: usize,
    passed: usize,
    elements: BTreeSet<String>,
    becomes: BTreeSet<String>,
    host_only: bool,
}

/// The page, of what each case uses and whether it passes.
pub(crate) fn page<'v>(cases: impl Iterator<Item = (&'v Value, bool)>) -> String {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for (uses, passes) in cases {
        let operators = list(&uses["operators"]);
        let host_only = list(&uses["routines"]).iter().any(|routine| routine["on_devices"] == false);
        for operator in operators {
            let row = rows.entry(name(operator)).or_default();
            if operators.len() == 1 {
                row.cases += 1;
                row.passed += usize::from(passes);
                row.host_only |= passes && host_only;
            }
            if passes {
                row.elements.extend(texts(&operator["elements"]));
                row.becomes.extend(texts(&operator["becomes"]));
            }
        }
    }
    let mut text = HEAD.to_owned();
    for operator in schema::operators() {
        let versions: Vec<String> = operator.versions.iter().map(|version| version.since.to_string()).collect();
        let name = if operator.domain.is_empty() {
            operator.name.to_owned()
        } else {
            format!("{}.{}", operator.domain, operator.name)
        };
        write_row(&mut text, &name, &versions.join(", "), &rows.remove(&name).unwrap_or_default());
    }
    // What is left is in no table.
    let unknown: Vec<String> = rows.into_keys().map(|name| format!("`{name}`")).collect();
    let _ = writeln!(text, "\nRefused by name, of the operators in the backend tests: {}.", unknown.join(", "));
    text
}

fn write_row(text: &mut String, name: &str, versions: &str, row: &Row) {
    let joined = |list: &BTreeSet<String>| list.iter().cloned().collect::<Vec<_>>().join(", ");
    let cases = if row.cases == 0 { String::new() } else { format!("{} of {}", row.passed, row.cases) };
    let runs = match (row.passed, row.host_only) {
        (0, _) => "",
        (_, true) => "host",
        (_, false) => "everywhere",
    };
    let (elements, becomes) = (joined(&row.elements), joined(&row.becomes));
    let _ = writeln!(text, "| `{name}` | {versions} | {cases} | {elements} | {becomes} | {runs} |");
}

fn name(operator: &Value) -> String {
    let text = |key: &str| operator[key].as_str().unwrap_or_default();
    match text("domain") {
        "" => text("name").to_owned(),
        domain => format!("{domain}.{}", text("name")),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn texts(value: &Value) -> impl Iterator<Item = String> {
    list(value).iter().filter_map(|text| text.as_str().map(str::to_owned))
}
