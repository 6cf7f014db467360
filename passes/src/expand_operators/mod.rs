//! `expand-operators`: operators become the ops that their declarations say.
//!
//! A declaration is written at a collapsed rank. Here it is lifted to the rank of the tensors: an iterator over a group of
//! dimensions becomes one for each of them, sizes and attributes take the place of symbols and parameters. Nothing is reshaped.

use std::sync::Arc;

use indexmap::IndexMap;
use sutura_dialects::r#dyn::{EqualOp, Facts, SymbolOp};
use sutura_dialects::graph::build::{BuildError, GraphBuilder};
use sutura_dialects::graph::operator::{Actual, bind, declared, from_operator, lift};
use sutura_dialects::graph::shape_fn::told_symbols;
use sutura_dialects::graph::{ApplyOp, MAX_ITERATORS, Operator, OperatorOp, Operators, Requirement, ShapeEnv};
use sutura_dialects::tensor::CastOp;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Reported;
use sutura_ir::op_def::Traits;
use sutura_ir::op_ref::BlockRef;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::rewriter::clone_body;
use sutura_ir::{Body, Context, Diagnostic, Diagnostics, Loc, Op, OpRef, Rewriter, Type, Value};

/// The pass.
pub static EXPAND_OPERATORS: PassInfo = PassInfo {
    name: "ExpandOperators",
    argument: "expand-operators",
    summary: "Replace operators that are applied by name by their decompositions",
    description: "Replaces every `graph.apply` by the ops that the `graph.operator` of its name declares, at the rank of its \
                  tensors and on their element type, and drops the declarations. Locations keep the place, and say in angle \
                  brackets which operator it was. Equalities that an operator needs are kept as `dyn.equal` ops.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-expanded", description: "applications that were replaced" },
        StatisticInfo { name: "num-dropped", description: "declarations that were dropped" },
    ],
    create: |_: &PassOptions| Ok(Box::new(ExpandOperators)),
};

struct ExpandOperators;

impl Pass for ExpandOperators {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let mut done = Done::default();
        expand_table(run.cx, run.body, &mut done, run.diags)?;
        let loc = run.header.loc;
        for (name, count) in &done.expanded {
            let times = if *count == 1 { "once".to_string() } else { format!("{count} times") };
            run.passed(loc, format!("@{name} is expanded {times}"));
        }
        let expanded = done.expanded.values().sum();
        run.count("num-expanded", expanded);
        run.count("num-dropped", done.dropped);
        Ok(PreservedAnalyses::unless(expanded + done.dropped > 0))
    }
}

/// What the pass did.
#[derive(Default)]
struct Done {
    /// Applications replaced, by operator.
    expanded: IndexMap<String, u64>,
    dropped: u64,
}

/// The operators of a symbol table, with copies of their bodies: what is expanded lies beside them.
struct Table {
    operators: Operators,
    bodies: IndexMap<String, Body>,
}

/// Expands everything in the symbol table whose body this is.
fn expand_table(cx: &Context, table: &mut Body, done: &mut Done, diags: &mut Diagnostics) -> Result<(), PassError> {
    let ops: Vec<Op> = table.entry_block().into_iter().flat_map(|block| table.ops(block)).collect();
    let (declarations, others): (Vec<Op>, Vec<Op>) =
        ops.into_iter().partition(|op| OpRef::new(cx, table, *op).is::<OperatorOp<'_>>());
    let body = |op: &Op| {
        let op = OpRef::new(cx, table, *op);
        Some((op.symbol_name()?.to_string(), clone_body(cx, op.inside())))
    };
    let known = Table { operators: declared(cx, table), bodies: declarations.iter().filter_map(body).collect() };
    for op in others {
        expand_nested(cx, table, op, &known, done, diags)?;
    }
    let mut rw = Rewriter::new(cx, table);
    declarations.iter().for_each(|op| rw.erase_op(*op));
    done.dropped += declarations.len() as u64;
    Ok(())
}

/// Expands what is inside an op of `body`.
fn expand_nested(
    cx: &Context,
    body: &mut Body,
    op: Op,
    known: &Table,
    done: &mut Done,
    diags: &mut Diagnostics,
) -> Result<(), PassError> {
    let is_table = OpRef::new(cx, body, op).has_trait(Traits::SymbolTable);
    match body.nested_mut(op) {
        Some(inside) if is_table => expand_table(cx, inside, done, diags),
        Some(inside) => expand_body(cx, inside, known, done, diags),
        None => Ok(()),
    }
}

fn expand_body(
    cx: &Context,
    body: &mut Body,
    known: &Table,
    done: &mut Done,
    diags: &mut Diagnostics,
) -> Result<(), PassError> {
    let ops: Vec<Op> = body.preorder().collect();
    let mut facts = None;
    for op in ops {
        let view = OpRef::new(cx, body, op);
        let Some(apply) = view.as_::<ApplyOp<'_>>() else {
            expand_nested(cx, body, op, known, done, diags)?;
            continue;
        };
        let name = apply.callee().to_string();
        let (Some(operator), Some(inside)) = (known.operators.get(&name), known.bodies.get(&name)) else {
            return Err(diags.report(view.error(format_args!("'{name}' is no operator that is declared"))).into());
        };
        let facts = match &mut facts {
            Some(facts) => facts,
            none => none.insert(stated(body, cx, diags)?),
        };
        expand(cx, body, op, (operator, inside), known, facts).map_err(|(error, kind)| {
            diags.report(*error);
            kind
        })?;
        *done.expanded.entry(name).or_default() += 1;
    }
    Ok(())
}

/// What a body states of its sizes.
fn stated(body: &Body, cx: &Context, diags: &mut Diagnostics) -> Result<Facts, Reported> {
    let Some(block) = body.entry_block() else { return Ok(Facts::new()) };
    Facts::of_block(BlockRef { cx, body, block }).map_err(|(op, contradiction)| diags.report(op.error(contradiction)))
}

/// Replaces one application.
fn expand(
    cx: &Context,
    body: &mut Body,
    op: Op,
    (operator, inside): (&Arc<Operator>, &Body),
    known: &Table,
    facts: &mut Facts,
) -> Result<(), (Box<Diagnostic>, PassError)> {
    let view = OpRef::new(cx, body, op);
    let (inputs, types): (Vec<Value>, Vec<Type>) = (view.operands().collect(), view.result_types().collect());
    let origin = view.loc();
    let loc = from_operator(cx, origin, &operator.name);
    let error = |error: BuildError, view: OpRef<'_>| {
        let kind = if matches!(error, BuildError::Wrong(_)) { PassError::Failed } else { PassError::Unsupported };
        (Box::new(view.error(format_args!("@{}: {error}", operator.name))), kind)
    };
    // They are lent, not copied: a function has as many facts as it has sizes.
    let mut env = ShapeEnv::new(std::mem::take(facts));
    let actual = |value: &Value| Actual {
        elem: cx.element_type(view.ty(*value)),
        shape: env.shape(view, *value).unwrap_or_default(),
    };
    let actuals: Vec<Actual> = inputs.iter().map(actual).collect();
    let attributes = cx.entries(view.body.attrs(op));
    let binding = bind(cx, operator, &actuals, attributes, &mut env.facts).map_err(|e| error(e, view))?;
    let required = before_the_run(view, &binding.required);
    let Some(entry) = inside.entry_block() else { return Ok(()) };
    let mut rw = Rewriter::new(cx, body);
    rw.set_before(op);
    let mut g = GraphBuilder::new(&mut rw, env, loc);
    let entry = BlockRef { cx, body: inside, block: entry };
    let find = |name: &str| {
        let (operator, body) = (known.operators.get(name)?, known.bodies.get(name)?);
        Some((operator.as_ref(), BlockRef { cx, body, block: body.entry_block()? }))
    };
    let made = lift(&mut g, operator, entry, &binding, &inputs, (origin, &find));
    *facts = std::mem::take(&mut g.env.facts);
    let deep = g.take_too_deep().map(|loops| format!("needs {loops} loops; at most {MAX_ITERATORS} are supported"));
    let made = match deep.map_or(made, |deep| Err(BuildError::Unsupported(deep))) {
        Ok(made) => made,
        Err(failed) => return Err(error(failed, OpRef::new(cx, body, op))),
    };
    let made: Vec<Value> =
        made.iter().zip(&types).map(|(value, ty)| typed(&mut rw, loc, *value, *ty, &inputs)).collect();
    rw.replace_op(op, &made);
    required.iter().for_each(|needed| check_at_run_time(&mut rw, loc, needed));
    Ok(())
}

/// The equalities that can be compared before a run; sizes that data decide are compared by the ops that meet them.
fn before_the_run(op: OpRef<'_>, required: &[Requirement]) -> Vec<Requirement> {
    if required.is_empty() {
        return Vec::new();
    }
    let told = told_symbols(op, &[]);
    let known = |needed: &&Requirement| [&needed.lhs, &needed.rhs].iter().all(|s| s.symbols().is_subset(&told));
    required.iter().filter(known).cloned().collect()
}

/// The value with the type that its users know.
fn typed(rw: &mut Rewriter<'_>, loc: Loc, value: Value, ty: Type, inputs: &[Value]) -> Value {
    if rw.body().ty(value) == ty {
        return value;
    }
    if inputs.contains(&value) {
        return CastOp::value(rw, loc, value, ty);
    }
    rw.set_type(value, ty);
    value
}

/// States an equality at the entry, behind those that are stated.
fn check_at_run_time(rw: &mut Rewriter<'_>, loc: Loc, Requirement { lhs, rhs, what }: &Requirement) {
    let point = rw.insert_point();
    let is_fact = |op: &Op| {
        let op = rw.op_ref(*op);
        op.is::<SymbolOp<'_>>() || op.is::<EqualOp<'_>>()
    };
    let next = rw.body().entry_block().and_then(|entry| rw.body().ops(entry).find(|op| !is_fact(op)));
    if let Some(next) = next {
        rw.set_before(next);
    }
    EqualOp::build(rw, loc, lhs, rhs, Some(what));
    rw.set_insert_point(point);
}
