//! Aliases of all values that refer to memory, and what ops do to them.

use std::fmt::Write;

use sutura_ir::analysis::{Alias, AliasAnalysis};
use sutura_ir::asm::print::Printer;
use sutura_ir::interfaces::{MemoryEffects, ViewLike};
use sutura_ir::{Op, OpRef, Value};

use super::{Scope, names};

pub(super) fn describe(scope: &Scope<'_>, analysis: &AliasAnalysis, printer: &mut Printer<'_>, out: &mut String) {
    let (cx, body) = (scope.cx, scope.body);
    let values = memory(scope);
    for (index, &a) in values.iter().enumerate() {
        for &b in &values[index + 1..] {
            let [x, y] = [a, b].map(|v| printer.value_text(body, v));
            let _ = writeln!(out, "  {x} and {y}: {}", analysis.alias(cx, body, a, b).as_str());
        }
    }
    for op in body.preorder() {
        let view = OpRef::new(cx, body, op);
        let touched: Vec<String> = values
            .iter()
            .filter_map(|&v| {
                let what = analysis.mod_ref(view, v);
                (what.reads || what.writes).then(|| format!("{} {}", what.as_str(), printer.value_text(body, v)))
            })
            .collect();
        if !touched.is_empty() {
            let operands = names(printer, body, body.operands(op));
            let _ = writeln!(out, "  '{}'({operands}): {}", view.name_str(), touched.join(", "));
        }
    }
    debug_assert!(values.iter().all(|v| analysis.alias(cx, body, *v, *v) == Alias::Must));
}

/// Values that something accesses, makes or looks at as memory, in the order of their numbers.
fn memory(scope: &Scope<'_>) -> Vec<Value> {
    let mut found: Vec<Value> = scope.body.preorder().flat_map(|op| memory_of(scope, op)).collect();
    found.sort_unstable_by_key(|value| value.index());
    found.dedup();
    found
}

fn memory_of(scope: &Scope<'_>, op: Op) -> Vec<Value> {
    let op = OpRef::new(scope.cx, scope.body, op);
    let effects = op.interface::<dyn MemoryEffects>().map(|i| i.effects(op)).unwrap_or_default();
    let source = op.interface::<dyn ViewLike>().map(|view| view.source(op));
    let results = op.results().filter(|_| source.is_some());
    effects.into_iter().filter_map(|e| e.value).chain(source).chain(results).collect()
}
