//! `print-analysis`: what an analysis found, as text.

mod alias;
mod calls;
mod dominance;
mod liveness;

use rustc_hash::FxHashMap;
use sutura_ir::analysis::{Analysis, PreservedAnalyses};
use sutura_ir::asm::print::Printer;
use sutura_ir::body::OpHeader;
use sutura_ir::pass::{Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun};
use sutura_ir::symbols::SYMBOL_NAME;
use sutura_ir::{Block, Body, Context, Region, Value};

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
        let text = match self.analysis.as_str() {
            "call-graph" => calls::describe(run),
            "dominance" => self.of_bodies(run, dominance::describe),
            "liveness" => self.of_bodies(run, liveness::describe),
            _ => self.of_bodies(run, alias::describe),
        };
        run.print(text);
        Ok(PreservedAnalyses::all())
    }
}

impl PrintAnalysis {
    /// What `describe` says of the body that the pass runs on and of all bodies in it, in the order of the text.
    fn of_bodies<A: Analysis>(
        &self,
        run: &mut PassRun<'_>,
        describe: fn(&Scope<'_>, &A, &mut Printer<'_>, &mut String),
    ) -> String {
        let texts = run.for_each_body(|at| {
            let analysis = at.analysis::<A>();
            let scope = Scope { cx: at.cx, body: at.body };
            let mut text = format!("{} of {}\n", self.analysis, label(at.cx, at.header));
            describe(&scope, &analysis, &mut Printer::of_body(at.cx, at.body), &mut text);
            (at.body.id(), text)
        });
        let texts: FxHashMap<u64, String> = texts.into_iter().collect();
        let mut out = String::new();
        let mut pending = vec![&*run.body];
        while let Some(body) = pending.pop() {
            out += &texts[&body.id()];
            let nested: Vec<&Body> = body.preorder().filter_map(|op| body.nested(op)).collect();
            pending.extend(nested.into_iter().rev());
        }
        out
    }
}

/// Name of an op and of the symbol that it defines.
fn label(cx: &Context, header: &OpHeader) -> String {
    let key = cx.ident(SYMBOL_NAME);
    let symbol = [header.props, header.attrs].into_iter().find_map(|dict| cx.as_str(cx.entry(dict, key)?));
    let symbol = symbol.map(|name| format!(" @{name}")).unwrap_or_default();
    format!("'{}'{symbol}", header.name.as_str(cx))
}

/// A body.
struct Scope<'a> {
    cx: &'a Context,
    body: &'a Body,
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
