//! `print-analysis`: what an analysis found, as text.

mod alias;
mod calls;
mod dominance;
mod liveness;

use std::fmt::Write;

use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::asm::print::Printer;
use sutura_ir::pass::{Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun};
use sutura_ir::registry::OpName;
use sutura_ir::symbols::SYMBOL_NAME;
use sutura_ir::{Block, Body, Context, Op, OpRef, Region, Value};

/// The pass.
pub static PRINT_ANALYSIS: PassInfo = PassInfo {
    name: "PrintAnalysis",
    argument: "print-analysis",
    summary: "Print what an analysis found",
    description: "Prints, on standard error, what an analysis says of the operation that the pass runs on and of the \
                  isolated operations in it: how memory of two values lies to each other and what operations do to it \
                  (alias), the block that immediately dominates each block (dominance), the values that are live where \
                  blocks begin and end (liveness), or who calls whom (call-graph). Nothing is changed.",
    anchor: Anchor::Any,
    options: &[OptionInfo {
        name: "analysis",
        kind: OptionKind::Choice(&["alias", "dominance", "liveness", "call-graph"]),
        default: "alias",
        help: "Which one",
    }],
    statistics: &[],
    create,
};

struct PrintAnalysis {
    analysis: String,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(PrintAnalysis { analysis: options.text("analysis").to_string() }))
}

impl Pass for PrintAnalysis {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let text = if self.analysis == "call-graph" {
            calls::describe(run)
        } else {
            let describe = match self.analysis.as_str() {
                "alias" => alias::describe,
                "dominance" => dominance::describe,
                _ => liveness::describe,
            };
            let mut out = String::new();
            for scope in scopes(run) {
                let _ = writeln!(out, "{} of {}", self.analysis, scope.label());
                describe(&scope, &mut Printer::of_body(scope.cx, scope.body), &mut out);
            }
            out
        };
        run.print(text);
        Ok(PreservedAnalyses::all())
    }
}

/// A body with what is known of the op that owns it.
struct Scope<'a> {
    cx: &'a Context,
    owner: OpName,
    symbol: Option<String>,
    body: &'a Body,
}

impl Scope<'_> {
    fn label(&self) -> String {
        let symbol = self.symbol.as_ref().map(|name| format!(" @{name}")).unwrap_or_default();
        format!("'{}'{symbol}", self.owner.as_str(self.cx))
    }
}

/// The body that the pass runs on and all bodies in it, in the order of the text.
fn scopes<'a>(run: &'a PassRun<'_>) -> Vec<Scope<'a>> {
    let cx = run.cx;
    let key = cx.ident(SYMBOL_NAME);
    let symbol = [run.header.props, run.header.attrs].into_iter().find_map(|dict| cx.as_str(cx.entry(dict, key)?));
    let symbol = symbol.map(str::to_string);
    let mut found = Vec::new();
    let mut pending = vec![Scope { cx, owner: run.header.name, symbol, body: run.body }];
    while let Some(scope) = pending.pop() {
        let nested: Vec<Scope<'_>> = scope.body.preorder().filter_map(|op| nested_scope(cx, scope.body, op)).collect();
        pending.extend(nested.into_iter().rev());
        found.push(scope);
    }
    found
}

fn nested_scope<'a>(cx: &'a Context, body: &'a Body, op: Op) -> Option<Scope<'a>> {
    let nested = body.nested(op)?;
    let symbol = OpRef::new(cx, body, op).symbol_name().map(str::to_string);
    Some(Scope { cx, owner: body.name(op), symbol, body: nested })
}

/// All blocks of a body in the order of the text, each with how deep it lies and what it is called.
fn blocks(scope: &Scope<'_>, printer: &mut Printer<'_>) -> Vec<(usize, Block, String)> {
    let body = scope.body;
    let mut found = Vec::new();
    let mut pending: Vec<(usize, Region, String)> =
        body.owner_regions().rev().map(|region| (0, region, String::new())).collect();
    while let Some((depth, region, prefix)) = pending.pop() {
        let mut inner = Vec::new();
        for block in body.blocks(region) {
            found.push((depth, block, format!("{prefix}{}", printer.block_text(body, block))));
            for op in body.ops(block) {
                let name = body.name(op).as_str(scope.cx);
                let regions = body.regions(op).enumerate();
                inner.extend(regions.map(|(i, region)| (depth + 1, region, format!("region {i} of '{name}', "))));
            }
        }
        pending.extend(inner.into_iter().rev());
    }
    found
}

/// Names with `, ` between them.
fn names(printer: &mut Printer<'_>, body: &Body, values: impl IntoIterator<Item = Value>) -> String {
    values.into_iter().map(|v| printer.value_text(body, v)).collect::<Vec<_>>().join(", ")
}
