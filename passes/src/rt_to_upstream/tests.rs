//! Programs built in Rust, planned and lowered.

use sutura_dialects::r#dyn::{Poly, SymbolInfo};
use sutura_dialects::func::{FuncOp, ReturnOp};
use sutura_dialects::rt::{
    Access, AllocOp, BufferType, KERNEL_ATTR, KernelSignature, Param, ProgramBuilder, ProgramHeader, Symbol, launch,
};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::Diagnostics;
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::verify::VerifyOptions;
use sutura_ir::{Builder, Context, Loc, Module, Rewriter, Type};

use super::*;

const UNKNOWN: Loc = Loc::UNKNOWN;

fn p(text: &str) -> Poly {
    Poly::parse(text).unwrap()
}

fn buffer(dims: &[&str]) -> BufferType {
    BufferType::new(Type::F32, dims.iter().map(|d| p(d)).collect())
}

/// A function that is a kernel on `[M, N]` buffers, the last of which it writes.
fn kernel(cx: &Context, body: &mut Body, name: &str, params: usize, requires: &[&str]) {
    let block = body.entry_block().unwrap();
    let mut rewriter = Rewriter::new(cx, body);
    rewriter.set_to_end(block);
    let (ptr, dim) = (ptr_type(cx), |name: &str| (name.to_owned(), SymbolInfo::default()));
    let access = |i| if i + 1 == params { Access::Write } else { Access::Read };
    let signature = KernelSignature {
        params: (0..params).map(|i| Param { access: access(i), ty: buffer(&["M", "N"]) }).collect(),
        dims: vec![dim("M"), dim("N")],
        requires: requires.iter().map(|r| p(r)).collect(),
        grid: vec![p("M"), p("(N + 5) floordiv 6")],
        ops: vec![format!("op_{name}")],
        checks: vec![],
    };
    let op = FuncOp::define(&mut rewriter, UNKNOWN, name, &[ptr, ptr, Type::I64, Type::I64], &[], |b| {
        ReturnOp::build(b, UNKNOWN, &[]);
    });
    rewriter.set_attr(op, KERNEL_ATTR, Some(signature.to_attr(cx)));
}

fn symbol(name: &str, max: i64, likely: &[i64]) -> Symbol {
    Symbol { name: name.to_owned(), info: SymbolInfo { min: 0, max, div: 1, likely: likely.to_vec() } }
}

fn header() -> ProgramHeader {
    ProgramHeader {
        name: "main".to_owned(),
        symbols: vec![symbol("B", 64, &[8]), symbol("S", 1 << 40, &[])],
        inputs: vec![("x".to_owned(), buffer(&["B", "2*S"])), ("z".to_owned(), buffer(&["B", "S", "4"]))],
        outputs: vec![("y".to_owned(), buffer(&["B", "2*S"]))],
        constraints: Vec::new(),
        private: false,
    }
}

/// Kernels `one` (in, out; up to 4096 columns) and `two` (in, in, out), and the program that `fill` builds.
fn module(cx: &Context, fill: impl FnOnce(&mut ProgramBuilder<'_>)) -> Module {
    let mut module = Module::new(cx, UNKNOWN);
    kernel(cx, module.body_mut(), "one", 2, &["4096 - N"]);
    kernel(cx, module.body_mut(), "two", 3, &[]);
    let block = module.body().entry_block().unwrap();
    let mut program = ProgramBuilder::new(cx, header());
    fill(&mut program);
    program.finish(&mut Builder::at_end(cx, module.body_mut(), block), UNKNOWN);
    module
}

/// A choice of versions, a chain of temporaries, a copy.
fn fill(program: &mut ProgramBuilder<'_>) {
    let (x, y) = (program.input(0), program.output(0));
    let t: Vec<Value> = (0..3).map(|_| program.alloc(UNKNOWN, buffer(&["B", "2*S"]))).collect();
    let dims = [p("B"), p("2*S")];
    program.select(UNKNOWN, &[vec![p("4096 - 2*S")]], |version, b| {
        if version == 0 {
            launch(b, UNKNOWN, "one", (&[x, t[0]], &dims), None, &[]);
        } else {
            launch(b, UNKNOWN, "two", (&[x, x, t[0]], &dims), Some(&p("100*B*S")), &[]);
        }
    });
    program.launch(UNKNOWN, "two", &[x, t[0], t[1]], &dims, None);
    program.launch(UNKNOWN, "two", &[x, t[1], t[2]], &dims, None);
    program.copy(UNKNOWN, t[2], y);
}

/// Runs passes; the messages that they report.
fn run(cx: &Context, module: &mut Module, passes: &str) -> Result<Vec<String>, Vec<String>> {
    let mut registry = PassRegistry::default();
    crate::register(&mut registry);
    let pipeline = format!("builtin.module({passes})");
    let mut manager = parse_pipeline(cx, &registry, "test", &pipeline, &mut Diagnostics::default()).unwrap();
    let verify = VerifyOptions { allow_unregistered: false };
    let config = RunConfig { verify_each: true, verify, ..RunConfig::default() };
    let mut messages = Vec::new();
    let (_, result) = run_pipeline(cx, module, &mut manager, &config, &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            messages.push(diagnostic.message);
        }
    });
    if result.is_ok() { Ok(messages) } else { Err(messages) }
}

#[test]
fn a_chain_of_temporaries_shares_memory() {
    let cx = Context::new(sutura_dialects::all());
    let mut module = module(&cx, fill);
    let messages = run(&cx, &mut module, "plan-buffers").unwrap();
    let bytes = 8 * 2 * 128 * 4;
    let expected =
        format!("@main: 3 temporaries of {} bytes in a workspace of {} bytes at B = 8, S = 128", 3 * bytes, 2 * bytes);
    assert_eq!(messages, [expected]);
    let program = module.body().entry_block().and_then(|b| module.body().last_op(b)).unwrap();
    let inside = OpRef::new(&cx, module.body(), program).region(0).unwrap().entry().unwrap();
    let allocs: Vec<AllocOp<'_>> = inside.ops().filter_map(|op| op.as_::<AllocOp<'_>>()).collect();
    // The first and the third share the start; the second lies after both.
    let after: Vec<usize> = allocs.iter().map(|a| a.after().count()).collect();
    assert_eq!(after, [0, 0, 2]);
    // A second plan gives the same text.
    let text = module_text(&cx, &module, &PrintOptions::default());
    run(&cx, &mut module, "plan-buffers").unwrap();
    assert_eq!(module_text(&cx, &module, &PrintOptions::default()), text);
}

#[test]
fn unused_temporaries_are_erased_with_their_views() {
    let cx = Context::new(sutura_dialects::all());
    let mut module = module(&cx, |program| {
        let t = program.alloc(UNKNOWN, buffer(&["B", "2*S"]));
        program.view(UNKNOWN, t, buffer(&["2*B*S"]));
        program.copy(UNKNOWN, program.input(0), program.output(0));
    });
    run(&cx, &mut module, "plan-buffers").unwrap();
    let text = module_text(&cx, &module, &PrintOptions::default());
    assert!(!text.contains("alloc") && !text.contains("view"), "{text}");
}

#[test]
fn the_interface_survives_as_an_attribute() {
    let cx = Context::new(sutura_dialects::all());
    let mut module = module(&cx, fill);
    run(&cx, &mut module, "plan-buffers,convert-rt-to-llvm").unwrap();
    let interface = HostInterface::of_module(&cx, &module).unwrap();
    assert_eq!(HostInterface::of_attr(&cx, interface.to_attr(&cx)).unwrap(), interface);
    assert_eq!(interface.model, "main");
    let checks: Vec<(CheckKind, &str, &str)> =
        interface.checks.iter().map(|c| (c.kind, c.left.as_str(), c.right.as_str())).collect();
    let range = |max: i64| format!("[0, {max}]");
    assert_eq!(
        checks,
        [
            (CheckKind::Range, "input `x` dimension 0", &*range(64)),
            (CheckKind::Range, "input `z` dimension 1", &range(1 << 40)),
            (CheckKind::Equal, "input `x` dimension 1", "`2*S`"),
            (CheckKind::Equal, "input `z` dimension 0", "input `x` dimension 0"),
            (CheckKind::Equal, "input `z` dimension 2", "4"),
            (CheckKind::Range, "the size `2*S`", &range(2_147_483_647)),
        ]
    );
    let kernels: Vec<(&str, Option<&str>)> =
        interface.kernels.iter().map(|k| (k.symbol.as_str(), k.guard.as_deref())).collect();
    assert_eq!(kernels, [("one", Some("-2*S + 4096 is at least 0")), ("two", None)]);
    assert_eq!(interface.kernels[1].ops, ["op_two"]);
}

#[test]
fn what_cannot_be_lowered_is_told() {
    let cx = Context::new(sutura_dialects::all());
    let refused = |module: &mut Module, words: &str| {
        let messages = run(&cx, module, "convert-rt-to-llvm").unwrap_err();
        assert!(messages.iter().any(|m| m.contains(words)), "{messages:?}");
    };
    refused(&mut module(&cx, fill), "has no place in the workspace yet");
    refused(&mut Module::new(&cx, UNKNOWN), "has no 'rt.program' to lower");
    let copy = |program: &mut ProgramBuilder<'_>| program.copy(UNKNOWN, program.input(0), program.output(0));
    let mut two = module(&cx, copy);
    let block = two.body().entry_block().unwrap();
    let mut second = ProgramBuilder::new(&cx, ProgramHeader { name: "other".to_owned(), ..header() });
    copy(&mut second);
    second.finish(&mut Builder::at_end(&cx, two.body_mut(), block), UNKNOWN);
    refused(&mut two, "second program of the module");
    let mut taken = module(&cx, copy);
    kernel(&cx, taken.body_mut(), "sutura_run", 1, &[]);
    refused(&mut taken, "has the name 'sutura_run'");
}

/// A program of `n` copies, each of a size of its own, as text.
fn copies(n: usize) -> String {
    let cx = Context::new(sutura_dialects::all());
    let mut module = Module::new(&cx, UNKNOWN);
    let block = module.body().entry_block().unwrap();
    let port = |side: &str, i: usize| (format!("{side}{i}"), buffer(&[&format!("S{i}")]));
    let header = ProgramHeader {
        name: "main".to_owned(),
        symbols: (0..n).map(|i| symbol(&format!("S{i}"), 64, &[])).collect(),
        inputs: (0..n).map(|i| port("x", i)).collect(),
        outputs: (0..n).map(|i| port("y", i)).collect(),
        constraints: Vec::new(),
        private: false,
    };
    let mut program = ProgramBuilder::new(&cx, header);
    for i in 0..n {
        program.copy(UNKNOWN, program.input(i), program.output(i));
    }
    program.finish(&mut Builder::at_end(&cx, module.body_mut(), block), UNKNOWN);
    run(&cx, &mut module, "plan-buffers,convert-rt-to-llvm").unwrap();
    module_text(&cx, &module, &PrintOptions::default())
}

/// Registers hold few values: of many, each is read where it is used.
#[test]
fn many_symbols_and_buffers_are_read_where_they_are_used() {
    assert!(!copies(sizes::MANY / 2).contains("llvm.load volatile"));
    let many = copies(sizes::MANY + 1);
    // A check or two, the output's size, the copy's size and both its addresses.
    let reads = many.matches("llvm.load volatile").count();
    assert!((5 * (sizes::MANY + 1)..8 * (sizes::MANY + 1)).contains(&reads), "{reads}");
}
