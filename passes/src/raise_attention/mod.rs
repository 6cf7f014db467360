//! `raise-attention`: what programs write out instead of applying an operator gets its name.
//!
//! A softmax that is written as single ops becomes `@softmax`, which is compared with the operator's declaration; this is the
//! one place where an operator is looked for in ops. Two products with a softmax between them become `@attention`. It runs
//! before operators are expanded, where shapes are known.

mod products;
mod raise;
mod softmax;

use std::collections::BTreeSet;
use std::sync::Arc;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::operator::{declared, library, link, otherwise};
use sutura_dialects::graph::{ApplyOp, ComputeOp, Operators};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Reported;
use sutura_ir::op_def::Traits;
use sutura_ir::op_ref::BlockRef;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Diagnostics, Loc, Module, Op, OpRef, Rewriter};

/// `raise-attention`
pub static RAISE_ATTENTION: PassInfo = PassInfo {
    name: "RaiseAttention",
    argument: "raise-attention",
    summary: "Name softmax and attention that are written out",
    description: "A softmax that is written as single ops of f32 tensors (the largest number, exponentials of differences to it, \
                  their sum, a product with its reciprocal or a quotient) becomes `@softmax` or `@softmax_by_division`, where the \
                  ops are those of the declaration and nothing else reads what they make. Two products with a softmax between \
                  them, of f32 or f64, become `@attention`, or `@attention_biased` where something is added to the scores: \
                  `softmax(scale * q * k^T + bias) * v` for any number of leading dimensions. Scores may be multiplied by a \
                  number and divided by one before the bias is added. A choice between the scores and a number, as `Where` \
                  of a mask makes it, is `@attention_chosen`. Factors that come turned are turned back, and a \
                  transpose that did so is seen through. Every bit stays. Declarations that are needed are put into the module. \
                  What stands between two products and does not fit is said in remarks, with the reason.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-softmax", description: "softmaxes that got their name" },
        StatisticInfo { name: "num-attention", description: "attentions that got their name" },
        StatisticInfo { name: "num-left", description: "softmaxes between two products that are no attention" },
    ],
    create: |_: &PassOptions| Ok(Box::new(RaiseAttention)),
};

struct RaiseAttention;

impl Pass for RaiseAttention {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let mut said = Said::default();
        in_table(run.cx, run.body, &mut said, run.diags)?;
        run.count("num-softmax", said.softmaxes.len() as u64);
        run.count("num-attention", said.attentions.len() as u64);
        run.count("num-left", said.left.len() as u64);
        let changed = !said.softmaxes.is_empty() || !said.attentions.is_empty();
        said.softmaxes.into_iter().chain(said.attentions).for_each(|(loc, text)| run.passed(loc, text));
        said.left.into_iter().for_each(|(loc, text)| run.missed(loc, text));
        Ok(PreservedAnalyses::unless(changed))
    }
}

/// What was done and what was left, at which place.
#[derive(Default)]
struct Said {
    softmaxes: Vec<(Loc, String)>,
    attentions: Vec<(Loc, String)>,
    left: Vec<(Loc, String)>,
}

/// Operators that ops may become.
const RAISED: [&str; 5] = ["softmax", "softmax_by_division", "attention", "attention_biased", "attention_chosen"];

/// The operators of the library that ops of a symbol table may become.
struct Known {
    library: Vec<Module>,
    operators: Operators,
    /// Those by whose names, or those of what they apply, the table declares something else.
    other: BTreeSet<&'static str>,
}

impl Known {
    fn of(cx: &Context, table: &Body) -> Self {
        let library = library(cx, &|name| RAISED.contains(&name));
        let other = RAISED.into_iter().filter(|name| otherwise(cx, &library, name, table)).collect();
        let all = library.iter().flat_map(|module| declared(cx, module.body()).as_ref().clone());
        let operators = Arc::new(all.collect());
        Self { library, operators, other }
    }

    fn has(&self, name: &str) -> bool {
        !self.other.contains(name)
    }
}

/// Raises what is in a symbol table.
fn in_table(cx: &Context, table: &mut Body, said: &mut Said, diags: &mut Diagnostics) -> Result<(), Reported> {
    let operators = declared(cx, table);
    let ops: Vec<Op> = table.entry_block().into_iter().flat_map(|block| table.ops(block)).collect();
    let mut known = None;
    let mut used = BTreeSet::new();
    for op in ops {
        let view = OpRef::new(cx, table, op);
        let is_table = view.has_trait(Traits::SymbolTable);
        let is_operator = view.symbol_name().is_some_and(|name| operators.contains_key(name));
        if !is_table && !is_operator && known.is_none() && view.regions().next().is_some() && may_hold(view) {
            known = Some(Known::of(cx, table));
        }
        match (table.nested_mut(op), &known) {
            (Some(inside), _) if is_table => in_table(cx, inside, said, diags)?,
            (Some(inside), Some(known)) if !is_operator => in_body(cx, inside, known, (said, &mut used), diags)?,
            _ => {}
        }
    }
    if let Some(known) = known {
        let wanted = |name: &str| used.contains(name) && !operators.contains_key(name);
        link(cx, &known.library, &wanted, table).expect("nothing else is declared by these names");
    }
    Ok(())
}

/// True where something may become an operator: the library is not read for programs that hold nothing of the kind.
fn may_hold(op: OpRef<'_>) -> bool {
    let mut found = false;
    op.walk(&mut |op| {
        let applies = |apply: ApplyOp<'_>| products::is_softmax(apply.callee());
        found |= op.as_::<ApplyOp<'_>>().is_some_and(applies) || (op.is::<ComputeOp<'_>>() && softmax::may_be(op));
    });
    found
}

fn in_body(
    cx: &Context,
    body: &mut Body,
    known: &Known,
    (said, used): (&mut Said, &mut BTreeSet<String>),
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    let ops: Vec<Op> = body.preorder().collect();
    for op in ops {
        let loc = body.loc(op);
        if let Some(name) = softmax::raise(cx, body, op, known) {
            said.softmaxes.push((loc, format!("written out, this is @{name}")));
            used.insert(name);
        }
    }
    let softmaxes: Vec<Op> =
        body.preorder().filter(|op| products::applied(OpRef::new(cx, body, *op)).is_some()).collect();
    for op in softmaxes {
        let view = OpRef::new(cx, body, op);
        let loc = view.loc();
        let attention = match products::between(view) {
            Ok(attention) if known.has(attention.operator()) => attention,
            Ok(attention) => {
                said.left
                    .push((loc, format!("is no attention: the program declares another @{}", attention.operator())));
                continue;
            }
            Err(None) => continue,
            Err(Some(why)) => {
                said.left.push((loc, format!("is no attention: {why}")));
                continue;
            }
        };
        let facts = stated(body, cx, diags)?;
        match raise::attention(&mut Rewriter::new(cx, body), &attention, &known.operators, facts) {
            Ok(said_of) => {
                used.insert(attention.operator().to_string());
                said.attentions.push((loc, said_of));
            }
            Err(why) => said.left.push((loc, format!("is no attention: {why}"))),
        }
    }
    Ok(())
}

/// What a body states of its sizes.
fn stated(body: &Body, cx: &Context, diags: &mut Diagnostics) -> Result<Facts, Reported> {
    let Some(block) = body.entry_block() else { return Ok(Facts::new()) };
    Facts::of_block(BlockRef { cx, body, block }).map_err(|(op, contradiction)| diags.report(op.error(contradiction)))
}
