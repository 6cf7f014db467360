//! Building functions of the graph and running passes on them, for tests.

mod control;
mod differential;
mod edits;
mod generic;
pub(crate) mod programs;
mod rewrites;
mod schedules;
mod stages;
mod traces;

use sutura_dialects::r#dyn::attr::{symbolic_shape, tensor_of};
use sutura_dialects::r#dyn::ops::SymbolOp;
use sutura_dialects::r#dyn::{Facts, Poly, SymbolInfo};
use sutura_dialects::func::{FuncOp, ReturnOp};
use sutura_dialects::graph::ShapeEnv;
use sutura_dialects::graph::build::{Built, GraphBuilder};
use sutura_interp::equivalence::{Agreement, Trials, equivalent};
use sutura_interp::random::Dims;
use sutura_interp::{Limits, Tolerance};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::rewriter::clone_body;
use sutura_ir::verify::VerifyOptions;
use sutura_ir::{Body, Builder, Context, Diagnostics, Loc, Module, OpState, Rewriter, Type, Value};

/// All dialects.
pub(crate) fn context() -> Context {
    Context::new(sutura_dialects::all())
}

/// A size given as text.
pub(crate) fn size(text: &str) -> Poly {
    Poly::parse(text).expect("a size")
}

/// `tensor<…>` of sizes given as text.
pub(crate) fn tensor(cx: &Context, sizes: &[&str], elem: Type) -> Type {
    tensor_of(cx, &sizes.iter().map(|s| Some(size(s))).collect::<Vec<_>>(), elem)
}

/// `func.func @main` with symbols and inputs, whose body `fill` builds and whose results it returns.
pub(crate) fn function(
    cx: &Context,
    symbols: &[(&str, SymbolInfo)],
    inputs: &[Type],
    fill: impl FnOnce(&mut GraphBuilder<'_, '_>, &[Value]) -> Built<Vec<Value>>,
) -> Module {
    let mut body = Box::new(Body::new(1));
    let region = body.region();
    let mut rw = Rewriter::new(cx, &mut body);
    let args: Vec<(Type, Loc)> = inputs.iter().map(|ty| (*ty, Loc::UNKNOWN)).collect();
    let block = rw.create_block(region, &args);
    rw.set_to_end(block);
    let mut facts = Facts::new();
    for (name, info) in symbols {
        facts.define(name, info.clone());
        let mut state = SymbolOp::state(&rw, Loc::UNKNOWN, name);
        let ints = |values: &[i64]| {
            let list: Vec<_> = values.iter().map(|v| cx.int_attr(*v, Type::I64)).collect();
            cx.array_attr(&list)
        };
        state = state.prop(cx.ident("range"), ints(&[info.min, info.max])).prop(cx.ident("likely"), ints(&info.likely));
        rw.create(state);
    }
    let args: Vec<Value> = rw.body().block_args(block).to_vec();
    let mut g = GraphBuilder::new(&mut rw, ShapeEnv::new(facts), Loc::UNKNOWN);
    let results = fill(&mut g, &args).expect("shapes fit");
    assert!(g.take_assumed().is_empty(), "tests state all sizes");
    ReturnOp::build(&mut rw, Loc::UNKNOWN, &results);
    let types: Vec<Type> = results.iter().map(|v| rw.body().ty(*v)).collect();
    let mut module = Module::new(cx, Loc::UNKNOWN);
    let block = module.body().entry_block().expect("a module has a block");
    let mut b = Builder::at_end(cx, module.body_mut(), block);
    let ty = cx.function_type(inputs, &types);
    let state: OpState = FuncOp::state(&b, Loc::UNKNOWN, "main", ty, None, None, None);
    b.create_isolated(state, body);
    module
}

/// A deep copy.
pub(crate) fn copy(cx: &Context, module: &Module) -> Module {
    Module::from_root(clone_body(cx, module.root())).expect("a copy of a module")
}

/// Runs a pipeline; what it says, and the statistics in declaration order.
pub(crate) fn run(cx: &Context, module: &mut Module, pipeline: &str) -> Result<Vec<String>, Vec<String>> {
    run_verified(cx, module, pipeline, VerifyOptions::default())
}

/// The same, where the verifier lets through what `verify` says.
fn run_verified(
    cx: &Context,
    module: &mut Module,
    pipeline: &str,
    verify: VerifyOptions,
) -> Result<Vec<String>, Vec<String>> {
    let mut registry = PassRegistry::new();
    crate::register(&mut registry);
    let mut manager = parse_pipeline(cx, &registry, "test", pipeline, &mut Diagnostics::default()).expect("a pipeline");
    let config = RunConfig { verify_each: true, verify, ..RunConfig::default() };
    let mut said = Vec::new();
    let (_, result) = run_pipeline(cx, module, &mut manager, &config, &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            said.push(diagnostic.message.clone());
            said.extend(diagnostic.notes.iter().map(|n| format!("note: {}", n.1)));
        }
    });
    match result {
        Ok(()) => Ok(said),
        Err(_) => Err(said),
    }
}

/// The module as text.
pub(crate) fn text(cx: &Context, module: &Module) -> String {
    module_text(cx, module, &PrintOptions::default())
}

/// Values of symbols, from which the sizes of arguments follow.
pub(crate) struct Sizes<'a>(pub(crate) &'a [(&'a str, i64)]);

impl Dims for Sizes<'_> {
    fn dims(&self, cx: &Context, _: usize, ty: Type) -> Option<Vec<usize>> {
        let value_of = |name: &str| self.0.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
        let size = |poly: Option<Poly>| usize::try_from(poly?.eval(&value_of)?).ok();
        symbolic_shape(cx, ty)?.into_iter().map(size).collect()
    }
}

/// Runs both programs on random inputs of the given sizes.
pub(crate) fn assert_equivalent(cx: &Context, before: &Module, after: &Module, symbols: &[(&str, i64)]) {
    let tolerance = Tolerance { abs: 1e-5, rel: 1e-4, ..Tolerance::EXACT };
    agree(cx, (before, after), symbols, tolerance, "");
}

/// Like [`assert_equivalent`], up to `tolerance`; `what` is said if they differ.
pub(crate) fn agree(
    cx: &Context,
    (before, after): (&Module, &Module),
    symbols: &[(&str, i64)],
    tolerance: Tolerance,
    what: &str,
) {
    let limits = Limits { steps: 1 << 34, ..Limits::default() };
    let sizes = Sizes(symbols);
    let trials = Trials { limits, ..Trials::new(&[1, 2], &sizes).tolerance(tolerance) };
    match equivalent(cx, before, after, "main", trials) {
        Ok(Agreement { compared: 2, .. }) => {}
        other => panic!("{what} at {symbols:?}: {other:?}\n{}", text(cx, after)),
    }
}

/// Nothing is known of a symbol.
pub(crate) fn any() -> SymbolInfo {
    SymbolInfo::default()
}
