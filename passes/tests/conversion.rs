//! Dialect conversion, with types and operations made for it: every kind of legality, of materialization and of failure.

use std::sync::Arc;

use sutura_dialects::text::parse_text;
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::constraints::*;
use sutura_ir::pass::PassError;
use sutura_ir::rewrite::conversion::*;
use sutura_ir::smallvec::smallvec;
use sutura_ir::trace::{DIALECT_CONVERSION, Trace};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::*;

/// Makes a value.
#[op("t.make", format = "attr-dict `:` type($out)")]
struct MakeOp {
    out: Res<AnyType>,
}

/// Uses values.
#[op("t.use", format = "$values attr-dict `:` type($values)")]
struct UseOp {
    values: Operands<AnyType>,
}

/// The first step on a way.
#[op("t.a", format = "$x attr-dict `:` type($x) `->` type($y)")]
struct AOp {
    x: Operand<AnyType>,
    y: Res<AnyType>,
}

/// The second step.
#[op("t.b", format = "$x attr-dict `:` type($x) `->` type($y)")]
struct BOp {
    x: Operand<AnyType>,
    y: Res<AnyType>,
}

/// The third step.
#[op("t.c", format = "$x attr-dict `:` type($x) `->` type($y)")]
struct COp {
    x: Operand<AnyType>,
    y: Res<AnyType>,
}

/// Owns a body.
#[op("t.fn", traits(IsolatedFromAbove, NoTerminator), format = "attr-dict-with-keyword $body")]
struct FnOp {
    body: Region,
}

/// Owns a body too.
#[op("t.fn2", traits(IsolatedFromAbove, NoTerminator), format = "attr-dict-with-keyword $body")]
struct Fn2Op {
    body: Region,
}

/// Has a region.
#[op("t.do", traits(NoTerminator), format = "attr-dict-with-keyword $body")]
struct DoOp {
    body: Region,
}

struct TestDialect;

impl Dialect for TestDialect {
    const NAME: &'static str = "t";
    fn register(d: &mut DialectBuilder<'_>) {
        d.op::<MakeOp<'_>>().op::<UseOp<'_>>().op::<AOp<'_>>().op::<BOp<'_>>().op::<COp<'_>>();
        d.op::<FnOp<'_>>().op::<Fn2Op<'_>>().op::<DoOp<'_>>();
    }
}

fn context() -> Context {
    Context::new(sutura_dialects::all().with::<TestDialect>())
}

fn parse(cx: &Context, text: &str) -> Module {
    parse_text(cx, "test.mlir", text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// Errors with their notes and hints, a line each; notes and hints begin with their kind.
fn lines(diags: &Diagnostics) -> Vec<String> {
    let of = |d: &Diagnostic| {
        let mut lines = vec![d.message.clone()];
        lines.extend(d.notes.iter().map(|(_, note)| format!("note: {note}")));
        lines.extend(d.help.iter().map(|help| format!("help: {help}")));
        lines
    };
    diags.iter().flat_map(of).collect()
}

type Apply = fn(
    &Context,
    &mut Body,
    &ConversionTarget<'_>,
    &ConversionPatterns,
    &mut Diagnostics,
    &mut Trace,
) -> Result<ConversionOutcome, PassError>;

/// Runs a conversion on a text: the text after it, or what was said and the kind of error. What it leaves is verified.
fn convert_by(
    apply: Apply,
    text: &str,
    target: &ConversionTarget<'_>,
    patterns: &ConversionPatterns,
) -> Result<String, (PassError, Vec<String>)> {
    let cx = context();
    let mut module = parse(&cx, text);
    let mut diags = Diagnostics::default();
    let result = apply(&cx, module.body_mut(), target, patterns, &mut diags, &mut Trace::off());
    let printed = module_text(&cx, &module, &PrintOptions::default());
    let mut wrong = Diagnostics::default();
    let verified = verify(module.op_ref(&cx), VerifyOptions::default(), &mut wrong);
    assert!(verified.is_ok(), "{:?}\n{printed}", lines(&wrong));
    assert_eq!(result.is_err(), diags.errors() > 0);
    result.map(|_| printed).map_err(|kind| (kind, lines(&diags)))
}

fn partial(
    text: &str,
    target: &ConversionTarget<'_>,
    patterns: &ConversionPatterns,
) -> Result<String, (PassError, Vec<String>)> {
    convert_by(apply_partial_conversion, text, target, patterns)
}

fn body_of(printed: &str) -> Vec<&str> {
    printed.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "module {" && *line != "}").collect()
}

/// `$from` becomes `$to`, operands and results of the same types.
macro_rules! step {
    ($from:ident => $to:ident) => {
        |op, operands: &Adaptor, rw: &mut ConversionRewriter<'_>| {
            let x = operands.one(rw.view::<$from<'_>>(op)?.x())?;
            let ty = rw.body().ty(rw.body().result(op, 0));
            let state = $to::state(rw, rw.body().loc(op), x, ty);
            rw.replace_with(op, state);
            Some(())
        }
    };
}

const CHAIN: &str = "%0 = t.make : i32\n%1 = t.a %0 : i32 -> i32\nt.use %1 : i32";

#[test]
fn what_a_pattern_makes_is_legalized_too() {
    let mut target = ConversionTarget::new();
    target.illegal_dialect("t").legal_op::<MakeOp<'_>>().legal_op::<UseOp<'_>>().legal_op::<COp<'_>>();
    let mut patterns = ConversionPatterns::new();
    patterns.add::<AOp<'_>>("a-to-b", step!(AOp => BOp)).add::<BOp<'_>>("b-to-c", step!(BOp => COp));
    let out = partial(CHAIN, &target, &patterns).expect("it converts");
    assert_eq!(body_of(&out)[1], "%1 = t.c %0 : i32 -> i32");
    assert_eq!(convert_by(apply_full_conversion, CHAIN, &target, &patterns).expect("it converts"), out);
}

#[test]
fn a_failure_is_a_tree() {
    let mut target = ConversionTarget::new();
    target.illegal_dialect("t").legal_dialect("builtin").legal_op::<MakeOp<'_>>().legal_op::<UseOp<'_>>();
    let mut patterns = ConversionPatterns::new();
    patterns.add::<AOp<'_>>("a-to-b", step!(AOp => BOp));
    patterns
        .add_fn("b-if-float", Some("t.b"), 3, |op, _, rw| rw.notify_match_failure(op, || "only floats".to_string()));
    patterns.add_fn("b-never", Some("t.b"), 2, |_, _, _| None);
    patterns.add::<BOp<'_>>("b-to-c", step!(BOp => COp));
    let (kind, said) = partial(CHAIN, &target, &patterns).expect_err("nothing makes t.c legal");
    assert_eq!(kind, PassError::Failed);
    assert_eq!(
        said,
        [
            "failed to legalize operation 't.a' that was explicitly marked illegal",
            "note: pattern 'a-to-b' rewrote 't.a' to 't.b', which is explicitly marked illegal",
            "note:   pattern 'b-if-float' does not apply to 't.b': only floats",
            "note:   pattern 'b-never' does not apply to 't.b'; it gives no reason",
            "note:   pattern 'b-to-c' rewrote 't.b' to 't.c', which is explicitly marked illegal",
            "note:     no pattern matches 't.c'",
            "note: legal are: dialect 'builtin'; operations 't.make', 't.use'",
            "help: add a pattern that rewrites 't.c' : (i32) -> (i32), or declare it legal",
        ]
    );
}

#[test]
fn patterns_that_lead_back_are_named() {
    let mut target = ConversionTarget::new();
    target.illegal_op::<AOp<'_>>().illegal_op::<BOp<'_>>();
    let mut patterns = ConversionPatterns::new();
    patterns.add::<AOp<'_>>("a-to-b", step!(AOp => BOp)).add::<BOp<'_>>("b-to-a", step!(BOp => AOp));
    let (_, said) = partial(CHAIN, &target, &patterns).expect_err("it goes in circles");
    let circle =
        "note:     pattern 'a-to-b' is not applied to 't.a' again: it is being applied to an op that led to this one";
    assert!(said.iter().any(|line| line == circle), "{said:#?}");
}

#[test]
fn unknown_ops_stay_in_a_partial_conversion_only() {
    let (mut target, patterns) = (ConversionTarget::new(), ConversionPatterns::new());
    target.legal_op::<MakeOp<'_>>();
    let out = partial(CHAIN, &target, &patterns).expect("nothing is illegal");
    assert_eq!(body_of(&out).len(), 3);
    let (_, said) = convert_by(apply_full_conversion, CHAIN, &target, &patterns).expect_err("unknown");
    assert_eq!(said[0], "failed to legalize operation 't.a', which is unknown to the target");
    target.dynamically_legal_unknown(|op| op.num_operands() == 1);
    convert_by(apply_full_conversion, CHAIN, &target, &patterns).expect("all have one operand");
}

#[test]
fn legality_may_depend_on_the_op_and_reach_inside() {
    let text = "t.do {\n%0 = t.make : i32\n%1 = t.a %0 : i32 -> i32\n}\nt.do {keep} {\n}";
    let text =
        text.replace("t.do {keep} {\n}", "t.do attributes {keep} {\n%2 = t.make : i32\n%3 = t.a %2 : i32 -> i32\n}");
    let mut target = ConversionTarget::new();
    target.legal_dialect("t").illegal_op::<AOp<'_>>();
    target.recursively_legal_op_if::<DoOp<'_>>(|op| op.attr("keep").is_some());
    let mut patterns = ConversionPatterns::new();
    patterns.add::<AOp<'_>>("a-to-b", step!(AOp => BOp));
    let out = partial(&text, &target, &patterns).expect("it converts");
    assert_eq!((out.matches("t.a").count(), out.matches("t.b").count()), (1, 1), "{out}");

    let mut target = ConversionTarget::new();
    target.dynamically_legal_op::<AOp<'_>>(|op| op.attr("done").is_some());
    let mut patterns = ConversionPatterns::new();
    patterns.add::<AOp<'_>>("mark", |op, _, rw| {
        rw.set_attr(op, "done", Some(Attr::UNIT));
        Some(())
    });
    let out = partial(CHAIN, &target, &patterns).expect("it converts");
    assert!(out.contains("t.a %0 {done}"), "{out}");

    let mut patterns = ConversionPatterns::new();
    patterns.add::<AOp<'_>>("pretend", |_, _, _| Some(()));
    let (kind, said) = partial(CHAIN, &target, &patterns).expect_err("nothing changed");
    if cfg!(debug_assertions) {
        assert_eq!(kind, PassError::Internal);
        assert!(said[0].starts_with("pattern 'pretend' says that it applied and changed nothing"), "{said:#?}");
    } else {
        assert!(said[1].ends_with("applied to 't.a', which is still not legal in this form"), "{said:#?}");
    }
}

#[test]
fn a_pattern_that_fails_after_a_change_is_an_internal_error() {
    let mut target = ConversionTarget::new();
    target.illegal_op::<AOp<'_>>();
    let mut patterns = ConversionPatterns::new();
    patterns.add::<AOp<'_>>("half", |op, _, rw| {
        rw.set_attr(op, "half", Some(Attr::UNIT));
        None
    });
    let (kind, said) = partial(CHAIN, &target, &patterns).expect_err("the pattern is wrong");
    assert_eq!(kind, PassError::Internal);
    assert!(said[0].starts_with("pattern 'half' changed the program and then did not apply"), "{said:#?}");
}

#[test]
fn an_analysis_changes_nothing() {
    let cx = context();
    let module = parse(&cx, CHAIN);
    let mut target = ConversionTarget::new();
    target.legal_op::<MakeOp<'_>>().legal_op::<BOp<'_>>();
    let mut patterns = ConversionPatterns::new();
    patterns.add::<AOp<'_>>("a-to-b", step!(AOp => BOp));
    let mut diags = Diagnostics::default();
    let found = analyze_conversion(&cx, module.body(), &target, &patterns, &mut diags, &mut Trace::off())
        .expect("the patterns are right");
    let names: Vec<&str> = found.legalizable.iter().map(|op| module.body().name(*op).as_str(&cx)).collect();
    assert_eq!(names, ["t.make", "t.a"]);
    assert_eq!(found.failures[0].message, "failed to legalize operation 't.use', which is unknown to the target");
    assert!(module_text(&cx, &module, &PrintOptions::default()).contains("t.a"));
}

// ---- types

/// `i32` becomes `i64`, `f64` two `f32`, `i1` nothing, `f16` cannot be converted.
fn converter() -> TypeConverter {
    TypeConverter::identity().rule(|converter, cx, ty| match ty {
        Type::I32 => Type::I64.into(),
        Type::F64 => TypeRule::To(smallvec![Type::F32, Type::F32]),
        Type::I1 => TypeRule::To(smallvec![]),
        Type::F16 => TypeRule::Illegal,
        _ => match cx.type_data(ty) {
            TypeData::Complex(elem) => {
                converter.convert_one(cx, elem).map(|elem| cx.ty(TypeData::Complex(elem))).into()
            }
            _ => TypeRule::Skip,
        },
    })
}

/// Rewrites `t.make` and `t.use`, in place of each value those that its type becomes.
fn add_value_patterns(patterns: &mut ConversionPatterns) {
    patterns.add::<MakeOp<'_>>("make", |op, _, rw| {
        let (cx, loc, ty) = (rw.cx(), rw.body().loc(op), rw.body().ty(rw.body().result(op, 0)));
        let types = rw.type_converter().convert(cx, ty)?;
        let made: Vec<Value> = types.iter().map(|ty| MakeOp::value(rw, loc, *ty)).collect();
        rw.replace_op_with_multiple(op, &[&made]);
        Some(())
    });
    patterns.add::<UseOp<'_>>("use", |op, operands, rw| {
        let state = UseOp::state(rw, rw.body().loc(op), &operands.flat());
        rw.replace_with(op, state);
        Some(())
    });
}

fn value_target(converter: &TypeConverter) -> ConversionTarget<'_> {
    let mut target = ConversionTarget::new();
    target.dynamically_legal_dialect("t", |op| {
        converter.is_legal_op(op) && op.regions().all(|region| converter.is_legal_region(region))
    });
    target
}

#[test]
fn values_become_one_several_or_none() {
    let converter = Arc::new(converter());
    let mut patterns = ConversionPatterns::with_converter(converter.clone());
    add_value_patterns(&mut patterns);
    let text = "%i = t.make : i32\n%d = t.make : f64\n%b = t.make : i1\n%c = t.make : complex<i32>\n%x = t.make : f32\n\
                t.use %i, %d, %b, %c, %x : i32, f64, i1, complex<i32>, f32";
    let out = partial(text, &value_target(&converter), &patterns).expect("it converts");
    assert_eq!(
        body_of(&out),
        [
            "%i = t.make : i64",
            "%0 = t.make : f32",
            "%1 = t.make : f32",
            "%c = t.make : complex<i64>",
            "%x = t.make : f32",
            "t.use %i, %0, %1, %c, %x : i64, f32, f32, complex<i64>, f32",
        ]
    );
}

#[test]
fn a_type_that_cannot_be_converted_is_named() {
    let converter = Arc::new(converter());
    let mut patterns = ConversionPatterns::with_converter(converter.clone());
    add_value_patterns(&mut patterns);
    let (_, said) =
        partial("%h = t.make : f16\nt.use %h : f16", &value_target(&converter), &patterns).expect_err("f16");
    assert_eq!(said[0], "failed to legalize operation 't.make', which is not legal in this form");
    let line = "note: pattern 'use' does not apply to 't.use': operand #0 has type f16, which cannot be converted";
    assert!(said.iter().any(|l| l == line), "{said:#?}");
}

/// Only `t.make` is rewritten: `t.use` goes on using the old types.
fn only_make(converter: TypeConverter, text: &str) -> Result<String, (PassError, Vec<String>)> {
    let converter = Arc::new(converter);
    let mut patterns = ConversionPatterns::with_converter(converter.clone());
    add_value_patterns(&mut patterns);
    let mut target = ConversionTarget::new();
    target.dynamically_legal_op::<MakeOp<'_>>(|op| converter.is_legal_op(op)).legal_op::<UseOp<'_>>();
    target.legal_op::<COp<'_>>();
    let mut only = ConversionPatterns::with_converter(converter.clone());
    only.add::<MakeOp<'_>>("make", |op, _, rw| {
        let (cx, loc, ty) = (rw.cx(), rw.body().loc(op), rw.body().ty(rw.body().result(op, 0)));
        let types = rw.type_converter().convert(cx, ty)?;
        let made: Vec<Value> = types.iter().map(|ty| MakeOp::value(rw, loc, *ty)).collect();
        rw.replace_op_with_multiple(op, &[&made]);
        Some(())
    });
    partial(text, &target, &only)
}

#[test]
fn old_values_that_are_still_needed_are_materialized() {
    let text = "%i = t.make : i32\nt.use %i, %i : i32, i32";
    let (kind, said) = only_make(converter(), text).expect_err("no materialization");
    assert_eq!(kind, PassError::Failed);
    assert_eq!(
        said[0],
        "failed to legalize unresolved materialization from ('i64') to ('i32') that remained live after conversion"
    );
    assert_eq!(said[1], "note: see existing live user here: 't.use'");

    let out = only_make(converter().unrealized_casts(), text).expect("casts may stay");
    assert_eq!(body_of(&out)[1], "%0 = unrealized_conversion_cast %i : i64 to i32");

    let by_op = converter().source_materialization(|b, loc, values, ty| Some(COp::value(b, loc, values[0], ty)));
    let out = only_make(by_op, text).expect("an op makes the old value");
    assert_eq!(body_of(&out)[1..], ["%0 = t.c %i : i64 -> i32", "t.use %0, %0 : i32, i32"]);

    let several = converter().unrealized_casts();
    let out = only_make(several, "%d = t.make : f64\nt.use %d : f64").expect("casts may stay");
    assert_eq!(body_of(&out)[2], "%d = unrealized_conversion_cast %0, %1 : f32, f32 to f64");
}

#[test]
fn new_values_are_materialized_once_per_value() {
    let converter = Arc::new(converter().target_materialization(|b, loc, values, types| match types {
        [ty] => Some(smallvec![COp::value(b, loc, values[0], *ty)]),
        _ => None,
    }));
    let mut patterns = ConversionPatterns::with_converter(converter.clone());
    add_value_patterns(&mut patterns);
    let mut target = ConversionTarget::new();
    target.legal_op::<MakeOp<'_>>().legal_op::<COp<'_>>();
    target.dynamically_legal_op::<UseOp<'_>>(|op| converter.is_legal_op(op));
    let out = partial("%i = t.make : i32\nt.use %i : i32\nt.use %i : i32", &target, &patterns).expect("it converts");
    assert_eq!(body_of(&out), ["%i = t.make : i32", "%0 = t.c %i : i32 -> i64", "t.use %0 : i64", "t.use %0 : i64"]);
}

#[test]
fn block_arguments_change_with_their_op() {
    let converter = Arc::new(converter());
    let mut patterns = ConversionPatterns::with_converter(converter.clone());
    add_value_patterns(&mut patterns);
    patterns.add::<DoOp<'_>>("do", |op, _, rw| {
        let region = rw.view::<DoOp<'_>>(op)?.body().region;
        rw.convert_region_types(op, region)
    });
    patterns.add::<FnOp<'_>>("fn", |op, _, rw| {
        rw.convert_isolated_types(op)?;
        let state = Fn2Op::state(rw, rw.body().loc(op));
        rw.replace_isolated(op, state);
        Some(())
    });
    let mut target = value_target(&converter);
    target.illegal_op::<FnOp<'_>>().legal_op::<Fn2Op<'_>>();
    let text = "t.do {\n^bb0(%i: i32, %d: f64, %b: i1):\nt.use %i, %d, %b : i32, f64, i1\n}\n\
                t.fn {\n^bb0(%i: i32, %x: f32):\nt.use %x, %i : f32, i32\n}";
    let out = partial(text, &target, &patterns).expect("it converts");
    assert_eq!(
        body_of(&out),
        [
            "t.do {",
            "^bb0(%i: i64, %arg0: f32, %arg1: f32):",
            "t.use %i, %arg0, %arg1 : i64, f32, f32",
            "t.fn2 {",
            "^bb0(%i: i64, %x: f32):",
            "t.use %x, %i : f32, i64",
        ]
    );
    let (_, said) = partial("t.fn {\n^bb0(%h: f16):\n}", &target, &patterns).expect_err("f16");
    assert!(said[1].contains("the type of a block argument cannot be converted"), "{said:#?}");
}

#[test]
fn function_types_are_converted_as_their_parts() {
    let (cx, converter) = (context(), converter());
    let ty = |inputs: &[Type], results: &[Type]| cx.function_type(inputs, results);
    assert_eq!(
        converter.convert_function(&cx, ty(&[Type::I32, Type::F64], &[Type::I1])),
        Some(ty(&[Type::I64, Type::F32, Type::F32], &[]))
    );
    assert_eq!(converter.convert_function(&cx, ty(&[Type::F16], &[])), None);
    assert!(converter.is_legal_signature(&cx, ty(&[Type::I64], &[Type::F32])));
}

#[test]
fn each_step_can_be_written_down() {
    let mut target = ConversionTarget::new();
    target.legal_op::<MakeOp<'_>>().legal_op::<UseOp<'_>>().legal_op::<BOp<'_>>().illegal_op::<AOp<'_>>();
    let mut patterns = ConversionPatterns::new();
    patterns
        .add_fn("a-if-float", Some("t.a"), 2, |op, _, rw| rw.notify_match_failure(op, || "only floats".to_string()))
        .add::<AOp<'_>>("a-to-b", step!(AOp => BOp));
    let convert = |trace: &mut Trace| {
        let cx = context();
        let mut module = parse(&cx, CHAIN);
        let mut diags = Diagnostics::default();
        apply_partial_conversion(&cx, module.body_mut(), &target, &patterns, &mut diags, trace).expect("it converts");
    };
    let mut trace = Trace::of(&[&DIALECT_CONVERSION]);
    convert(&mut trace);
    let expected = "\
dialect-conversion {
  't.make' at test.mlir:1:6 -> legal
  't.a' at test.mlir:2:6 {
    pattern 'a-if-float' -> does not apply: only floats
    pattern 'a-to-b' {
      inserted 't.b' at test.mlir:2:6
      replaced 't.a' at test.mlir:2:6 by 't.b' at test.mlir:2:6
    } -> applied
    't.b' at test.mlir:2:6 -> legal
  } -> legalized
  't.use' at test.mlir:3:1 -> legal
} -> done
";
    assert_eq!(trace.text(), expected);
    let mut off = Trace::off();
    convert(&mut off);
    assert_eq!((off.text(), off.written().len()), ("", 0));
}
