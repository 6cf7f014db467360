//! Faults and their places.

use super::{Fault, explain};
use crate::rules::Rule;

/// The fault in `text`, which stands before the bar.
fn check(rule: Rule, text: &str, message: &str) {
    let at = text.find('|').expect("a bar");
    let fault = explain(rule, &text.replacen('|', "", 1));
    let Some(Fault { at: found, message: said, .. }) = fault else { panic!("no fault in {text}") };
    assert_eq!((found, said.as_str()), (at, message), "{text}");
}

#[test]
fn operations() {
    check(Rule::unit1, "%0, |= \"foo\"() : () -> ()", "expected valid ssa identifier");
    check(Rule::unit1, "%0:2 |\"foo\"() : () -> ()", "expected '=' after SSA name");
    check(Rule::unit1, "%0:|x = \"foo\"() : () -> ()", "expected integer number of results");
    check(Rule::unit1, "\"foo\" |: () -> ()", "expected '(' to start operand list");
    check(Rule::unit1, "\"foo\"(%a |%b) : () -> ()", "expected ')' to end operand list");
    check(Rule::unit1, "\"foo\"(|, %a) : () -> ()", "expected ')' to end operand list");
    check(Rule::unit1, "\"foo\"(%a, |) : () -> ()", "expected SSA operand");
    check(Rule::unit1, "\"foo\"() [|x] : () -> ()", "expected block name");
    check(Rule::unit1, "\"foo\"() {a = [1 |b]} : () -> ()", "expected ',' or ']'");
    check(Rule::unit1, "\"foo\"() {a = @|} : () -> ()", "@ identifier expected to start with letter or '_'");
    check(Rule::unit1, "\"foo\"() {a = \"b} : () -> ()|", "expected '\"' in string literal");
    check(Rule::unit1, "\"foo\"() {a = |} : () -> ()", "expected attribute value");
    check(Rule::unit1, "\"foo\"() {a = 1 |b} : () -> ()", "expected '}' in attribute dictionary");
    check(Rule::unit1, "\"foo\"() |-> ()", "expected ':' followed by operation type");
    check(Rule::unit1, "\"foo\"() : |i32", "expected function type");
    check(Rule::unit1, "}, |) : () -> ()", "expected '{' to begin a region");
}

#[test]
fn labels() {
    check(Rule::unit1, "^bb0(|b: i32):", "expected SSA operand");
    check(Rule::unit1, "^bb0(%a |i32):", "expected ':' and type for SSA operand");
    check(Rule::unit1, "^bb0(%a: |): ", "expected non-function type");
    check(Rule::unit1, "^bb0(%a: i32 |%b: i32):", "expected ')'");
    check(Rule::unit1, "^bb0(%a: i32) |x", "expected ':' after block name");
}

#[test]
fn types() {
    check(Rule::type_span, "(i32, |foo) -> ()", "expected non-function type");
    check(Rule::type_span, "(.|.) -> ()", "expected three consecutive dots for an ellipsis");
    check(Rule::type_span, "tuple |i32>", "expected '<' in tuple type");
    check(Rule::type_span, "tensor<4xf32|", "expected '>' in tensor type");
    check(Rule::type_span, "memref<4xf32, 1 |2>", "expected ',' or '>'");
    check(Rule::type_span, "memref<4xf32 |1>", "expected ',' or '>' in memref type");
    check(Rule::type_span, "vector<[|?]xf32>", "invalid dimension");
    check(Rule::type_span, "vector<[4|xf32>", "missing ']' closing scalable dimension");
    check(Rule::type_span, "tensor<|1.5x8xi32>", "expected non-function type");
    check(Rule::type_span, "vector<4x|i99999999>", "integer bitwidth is limited to 16777215 bits");
    check(Rule::type_span, "!d.t|<a[)>", "unbalanced '[' character in pretty dialect name");
    check(Rule::type_span, "(i32) |i32", "expected '->' in function type");
}

#[test]
fn attributes() {
    check(Rule::attr_span, "affine_map<(i, j) -> (|->, j)", "expected affine expression");
    check(Rule::attr_span, "affine_map<(i) -> (i+|, i)>", "missing right operand of binary operator");
    check(Rule::attr_span, "affine_map<(i) -> (i, |*i)>", "missing left operand of binary operator");
    check(Rule::attr_span, "affine_map<(i) -> (-(|), i)>", "no expression inside parentheses");
    check(Rule::attr_span, "affine_map<(i) -> (|ceildiv i 2)>", "use of undeclared identifier");
    check(Rule::attr_span, "affine_map<(i) -> |i)>", "expected '(' in affine map range");
    check(Rule::attr_span, "affine_set<(i) : |i >= 0)>", "expected '(' in integer set constraint list");
    check(Rule::attr_span, "strided<[], |>", "expected 'offset' after comma");
    check(Rule::attr_span, "distinct[|i8", "expected distinct ID");
    check(Rule::attr_span, "distinct[0xAAAABBBBEEEEFFFF1|]", "expected an unsigned 64-bit integer");
    check(Rule::attr_span, "array|: i32>", "expected '<' after 'array'");
    check(Rule::attr_span, "dense<1> |", "expected ':'");
    check(Rule::attr_span, "-|x", "expected constant integer or floating point value");
}

#[test]
fn locations_and_resources() {
    check(Rule::loc_span, "loc(callsite |unknown at unknown)", "expected '(' in callsite location");
    check(Rule::loc_span, "loc(fused[unknown |unknown])", "expected ']' in fused location");
    check(Rule::loc_span, "loc(\"f\":1:|)", "expected integer column number in FileLineColRange");
    check(Rule::loc_span, "loc(|x)", "expected location instance");
    check(Rule::resource_span, "dialect_resources: |\"x\" #-}", "expected '{'");
    check(Rule::resource_span, "dialect_resources: {|10}#-}", "expected identifier key for 'resource' entry");
}

#[test]
fn no_fault_is_made_up() {
    for text in ["(i32) -> (i32, tensor<?x[4]xf32>)", "!d.t<a -> \"<\">", "tensor<*xf32>"] {
        let fault = explain(Rule::type_span, text);
        assert!(fault.is_none_or(|f| f.at > 0), "{text}");
    }
    assert_eq!(explain(Rule::unit1, "%0 = arith.addi %a %b"), None);
    assert_eq!(explain(Rule::type_span, &"(".repeat(1000)), None);
}
