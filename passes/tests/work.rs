//! Generic passes do twice the work for twice the text. One test, because counts are those of the whole process.

use std::fmt::Write;

use sutura_grammar::{ParseOptions, parse_module};
use sutura_ir::pass::{PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Context, Diagnostics, work};

/// Operations with regions on the same operands, which differ only inside.
fn conditionals(n: usize) -> String {
    let mut text = "func.func @f(%a0: i32, %c: i1) -> i32 {\n".to_owned();
    for i in 0..n {
        let next = i + 1;
        writeln!(
            text,
            "%a{next} = scf.if %c -> (i32) {{
               %t = arith.addi %a{i}, %a0 : i32
               scf.yield %t : i32
             }} else {{ scf.yield %a{i} : i32 }}"
        )
        .unwrap();
    }
    writeln!(text, "return %a{n} : i32\n}}").unwrap();
    text
}

/// Loops that differ only in a constant of their bodies.
fn loops(n: usize) -> String {
    let mut text = "func.func @f(%a: i32, %n: index) {\n%z = arith.constant 0 : index\n".to_owned();
    for i in 0..n {
        writeln!(
            text,
            "%r{i} = scf.for %i = %z to %n step %n iter_args(%t = %a) -> (i32) {{
               %k = arith.constant {i} : i32
               %u = arith.xori %t, %k : i32
               scf.yield %u : i32
             }}
             func.call @use(%r{i}) : (i32) -> ()"
        )
        .unwrap();
    }
    text + "return\n}\nfunc.func private @use(i32)\n"
}

fn compared(text: &str) -> u64 {
    let cx = Context::new(sutura_dialects::all());
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let mut diags = Diagnostics::default();
    let source = cx.sources().add("test.mlir", text).unwrap();
    let mut module =
        parse_module(&cx, &source, &ParseOptions::default(), &mut diags).unwrap_or_else(|_| panic!("{diags:?}"));
    let pipeline = "builtin.module(func.func(cse))";
    let mut manager =
        parse_pipeline(&cx, &passes, "the test", pipeline, &mut diags).unwrap_or_else(|_| panic!("{diags:?}"));
    let before = work::counts();
    let (_, result) = run_pipeline(&cx, &mut module, &mut manager, &RunConfig::default(), &mut |_| {});
    assert!(result.is_ok());
    work::since(&before).get("cse: ops compared").copied().unwrap_or(0)
}

#[test]
fn operations_with_regions_are_compared_with_few_others() {
    for (name, text) in [("conditionals", conditionals as fn(usize) -> String), ("loops", loops)] {
        let count = compared(&text(300));
        assert!(count <= 600, "{name}: {count}");
    }
    // The counter counts: the second of each two is the first again.
    let twice = "func.func @f(%a: i32) -> i32 {
        %b = arith.addi %a, %a : i32
        %c = arith.addi %a, %a : i32
        %d = arith.muli %b, %c : i32
        return %d : i32
    }";
    assert!(compared(twice) > 0);
}
