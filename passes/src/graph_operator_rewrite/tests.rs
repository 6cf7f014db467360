//! Laws of the library's operators, by what the interpreter makes of both sides.

use sutura_dialects::graph::Operator;
use sutura_dialects::graph::operator::{Law, library, link};
use sutura_grammar::{ParseOptions, parse_module};
use sutura_interp::Tolerance;
use sutura_ir::{Context, Diagnostics, Module, OpRef};

use crate::testing::{agree, context, copy, run, text};

const FAST: &str = "builtin.module(graph-operator-rewrite{fast-math=reassoc,nnan,ninf})";

/// A program that a law makes shorter.
fn program(cx: &Context, operator: &Operator, law: Law) -> Module {
    let elem = if operator.name == "bitwise_not" { "i32" } else { "f32" };
    let ty = format!("tensor<?x?x{elem}, #dyn.shape<[M, N]>>");
    let name = &operator.name;
    // Scale and bias, where it has them.
    let more = operator.inputs.len() - 1;
    let (args, types) = (", %s".repeat(more), format!(", tensor<?x{elem}, #dyn.shape<[N]>>").repeat(more));
    let body = match law {
        Law::Idempotent | Law::Involution => format!("%0 = graph.apply @{name}(%x) : ({ty}) -> {ty}"),
        Law::ShiftInvariant => format!(
            "%0 = graph.compute ins(%x, %c : {ty}, tensor<?x{elem}, #dyn.shape<[M]>>) -> {ty} {{iterators = \
             #graph.iterators<[parallel, parallel]>, maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, \
             affine_map<(a, b) -> (a, b)>]}} {{\n^bb0(%e: f32, %t: f32):\n%r = arith.addf %e, %t : f32\ngraph.yield %r : f32\n}}"
        ),
    };
    let source = format!(
        "func.func @main(%x: {ty}, %c: tensor<?x{elem}, #dyn.shape<[M]>>, %s: tensor<?x{elem}, #dyn.shape<[N]>>) -> {ty} {{\n\
         {body}\n%1 = graph.apply @{name}(%0{args}) : ({ty}{types}) -> {ty}\nreturn %1 : {ty}\n}}"
    );
    let file = cx.sources().add("laws.mlir", &source).expect("a text");
    let mut diags = Diagnostics::default();
    let module = parse_module(cx, &file, &ParseOptions::default(), &mut diags);
    let mut module = module.unwrap_or_else(|_| panic!("{diags:?}\n{source}"));
    let from = library(cx, &|wanted| wanted == operator.name);
    link(cx, &from, &|wanted| wanted == operator.name, module.body_mut()).expect("nothing else is declared");
    module
}

#[test]
fn laws_of_the_library_hold() {
    let cx = context();
    let mut tried = 0;
    for module in library(&cx, &|_| true) {
        let body = module.body();
        for op in body.entry_block().into_iter().flat_map(|block| body.ops(block)) {
            let operator = Operator::read(OpRef::new(&cx, body, op)).expect("a declaration");
            for law in operator.laws.clone() {
                let before = program(&cx, &operator, law);
                let mut after = copy(&cx, &before);
                run(&cx, &mut after, FAST).unwrap_or_else(|e| panic!("{e:?}"));
                let shown = text(&cx, &after);
                let main = &shown[shown.find("func.func").expect("a function")..];
                let main = &main[..main.find("return").expect("an end")];
                let left = usize::from(law != Law::Involution);
                assert_eq!(main.matches("= graph.").count(), left, "{shown}");
                let exact = law != Law::ShiftInvariant;
                let tolerance =
                    if exact { Tolerance::EXACT } else { Tolerance { abs: 1e-4, rel: 1e-4, ..Tolerance::EXACT } };
                for (m, n) in [(0, 3), (1, 1), (3, 5), (4, 16)] {
                    agree(&cx, (&before, &after), &[("M", m), ("N", n)], tolerance, &shown);
                }
                tried += 1;
            }
        }
    }
    assert!(tried >= 10, "only {tried} laws");
}
