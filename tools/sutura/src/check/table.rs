//! What a model uses, as a table.

use std::fmt::Write;

use super::survey::{Operator, Survey};

/// What becomes of an operator is cut behind so many kinds of operations; `--json` has all.
const MOST_KINDS: usize = 4;

/// The widest that a column is made.
const WIDEST: usize = 40;

/// A table of operators, and lists of sizes and routines. Nothing in it commands a terminal or breaks a line, whatever a model's names
/// hold.
pub(super) fn of(survey: &Survey) -> String {
    let head = ["operator", "nodes", "version", "elements", "becomes"].map(str::to_owned);
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(survey.operators.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).min(WIDEST);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let mut text = String::new();
    for [name, nodes, version, elements, becomes] in &rows {
        let [a, b, c, d] = widths[..] else { continue };
        let line = format!("{name:<a$}  {nodes:>b$}  {version:>c$}  {elements:<d$}  {becomes}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for (kind, tensors) in [("input", &survey.inputs), ("output", &survey.outputs)] {
        for tensor in tensors {
            let name = tensor.name.as_deref().unwrap_or("without a name");
            let _ = writeln!(text, "{kind:<8}  {}: {}", visible(name), visible(&tensor.shape));
        }
    }
    for size in &survey.sizes {
        let multiples = if size.divisor == 1 { String::new() } else { format!(", multiples of {}", size.divisor) };
        let _ = writeln!(text, "size      {} in [{}, {}]{multiples}", visible(&size.name), size.min, size.max);
    }
    for routine in &survey.routines {
        let place = if routine.on_devices { "" } else { ", on the host only" };
        let decides = if routine.decides_sizes { ", data decide sizes" } else { "" };
        let _ = writeln!(text, "routine   {}/{}{place}{decides}", routine.name, routine.version);
    }
    text
}

fn row(operator: &Operator) -> [String; 5] {
    let name = match operator.domain.as_str() {
        "" => operator.name.clone(),
        domain => format!("{domain}.{}", operator.name),
    };
    let becomes = match &operator.refused[..] {
        [] if operator.becomes.len() > MOST_KINDS => format!("{}, …", operator.becomes[..MOST_KINDS].join(", ")),
        [] => operator.becomes.join(", "),
        refused => format!("not supported: {}", refused.join("; ")),
    };
    let elements = operator.elements.iter().cloned().collect::<Vec<_>>().join(", ");
    let version = operator.version.map(|version| version.to_string()).unwrap_or_default();
    [visible(&name), operator.nodes.to_string(), version, elements, visible(&becomes)]
}

fn visible(text: &str) -> String {
    sutura_visible::line(text).into_owned()
}
