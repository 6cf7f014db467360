//! What is wrong, where, and what was meant.

mod common;

use common::{context, errors, parse_with};
use sutura_grammar::ParseOptions;

/// The first error.
fn error(text: &str) -> String {
    errors(text).swap_remove(0)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(error(text), expected, "{text}");
}

#[test]
fn values() {
    check("\"t\"(%a) : (i32) -> ()", "1:5: use of undeclared SSA value name");
    check(
        "%first = \"t\"() : () -> i32\n\"t\"(%frist) : (i32) -> ()",
        "2:5: use of undeclared SSA value name | did you mean `%first`?",
    );
    check("%a = \"t\"() : () -> i32\n%a = \"t\"() : () -> i32", "2:1: redefinition of SSA value '%a'");
    check(
        "%a = \"t\"() : () -> i32\n\"t\"(%a) : (f32) -> ()",
        "2:5: use of value '%a' expects different type than prior uses: 'f32' vs 'i32'",
    );
    check("\"t\"(%a) : (f32) -> ()\n%a = \"t\"() : () -> i32", "2:1: definition of SSA value '%a#0' has type 'i32'");
    check("%a:2 = \"t\"() : () -> i32", "1:1: operation defines 1 results but was provided 2 to bind");
    check("%a = \"t\"() : () -> ()", "1:1: cannot name an operation with no results");
    check("%a = \"t\"() : () -> i32\n\"t\"(%a#1) : (i32) -> ()", "2:5: reference to invalid result number");
    check("%a:0 = \"t\"() : () -> ()", "1:4: expected named operation to have at least 1 result");
    check("\"t\"() : (i32) -> ()", "1:9: expected 0 operand types but had 1");
}

#[test]
fn blocks() {
    check("\"t\"() ({\n\"br\"()[^a] : () -> ()\n}) : () -> ()", "2:8: reference to an undefined block");
    check("\"t\"() ({\n^a:\n\"x\"() : () -> ()\n^a:\n}) : () -> ()", "4:1: redefinition of block '^a'");
    check("^a:", "1:1: expected operation name in quotes");
    check(
        "%a = t.const 1 : i32\n%b = t.loop carry(%x = %a : i32) {\n^a:\n}",
        "3:1: invalid block name in region with named arguments",
    );
}

#[test]
fn a_wrong_alias_is_one_error() {
    let text = "!t = tensor<4x-3xf32>\n  #m = affine_map<(d0) -> (d1)>\n  \"t\"(%a) : (i32) -> ()";
    let expected = ["1:15: expected non-function type", "2:28: use of undeclared identifier"];
    assert_eq!(errors(text), expected);
}

#[test]
fn isolation() {
    check("%a = t.const 1 : i32\nt.fn @f {\n  %b = add %a, %a : i32\n}", "3:12: use of undeclared SSA value name");
    check("\"t.fn\"() <{sym_name = \"f\"}> ({}, {}) : () -> ()", "1:1: 't.fn' op requires one region");
}

#[test]
fn names_of_ops() {
    check("t.ad %a", "1:1: custom op 't.ad' is unknown | did you mean `t.add`? (Adds.)");
    check("x.y", "1:1: custom op 'x.y' is unknown");
    let cx = context();
    let errors = parse_with(&cx, "\"t.ad\"() : () -> ()\n\"x.y\"() : () -> ()", &ParseOptions::default());
    let errors = errors.err().unwrap_or_default();
    assert!(errors[0].starts_with("1:1: unregistered operation 't.ad' found in dialect ('t')"), "{errors:?}");
    assert!(errors[1].starts_with("2:6: operation being parsed with an unregistered dialect"), "{errors:?}");
}

#[test]
fn formats() {
    check("%a = t.const 1 : i32\n%b = t.add %a %a : i32", "2:15: expected ','");
    check("%b = t.add %a, %a", "1:18: expected ':'");
    check("t.many sideways nowhere : () -> ()", "1:8: expected one of up, down, but found 'sideways'");
    check("t.many dwn nowhere : () -> ()", "1:8: expected one of up, down, but found 'dwn' | did you mean `down`?");
    check(
        "%a = t.const 1 : i32\nt.many up from %a : i32 [%a] : () -> ()",
        "2:1: number of operands and types do not match: got 1 operands and 0 types",
    );
    check("t.fn {\n}", "1:6: expected valid '@'-identifier for symbol name");
    check("t.if %c", "1:8: expected '{' to begin a region");
    check(
        "t.clauses nowait limit = 1 nowait",
        "1:28: `nowait` clause can appear at most once in the expansion of the oilist directive",
    );
    check("t.clauses limit nowait", "1:17: expected '='");
}

#[test]
fn types_and_attributes() {
    let attr = |text: &str| format!("\"t\"() {{a = {text}}} : () -> ()");
    let check_attr = |text: &str, expected: &str| check(&attr(text), expected);
    check_attr("i16777216", "1:12: integer bitwidth is limited to 16777215 bits");
    check_attr("tensro<4xf32>", "1:11: expected attribute value");
    check_attr("f23", "1:11: expected attribute value | `f23` is no type; did you mean `f32`?");
    check_attr("256 : i8", "1:12: integer constant out of range for attribute");
    check_attr("-1 : ui8", "1:13: negative integer literal not valid for unsigned integer type");
    check_attr(
        "1 : f32",
        "1:12: unexpected decimal integer literal for a floating point value | add a trailing dot to make the literal a float",
    );
    check_attr("1.0 : i32", "1:12: floating point value not valid for specified type");
    check_attr("0x1FFFFFFFF : f32", "1:12: hexadecimal float constant out of range for type");
    check_attr("vector<0xi32>", "1:12: vector types must have positive constant sizes but got 0");
    check_attr(
        "dense<[1, 2]> : tensor<3xi32>",
        "1:12: inferred shape of elements literal ([2]) does not match type ([3])",
    );
    check_attr(
        "dense<[[1], 2]> : tensor<2x1xi32>",
        "1:25: tensor literal is invalid; ranks are not consistent between elements",
    );
    check_attr(
        "dense<\"0x00\"> : tensor<3xi32>",
        "1:12: elements hex data size is invalid for provided type: 'tensor<3xi32>'",
    );
    check_attr("dense<1> : i32", "1:12: elements literal must be a shaped type");
    check_attr("dense<1> : tensor<?xi32>", "1:12: elements literal type must have static shape");
    check_attr(
        "affine_map<(d0) -> (d0 * d0)>",
        "1:35: non-affine expression: at least one of the multiply operands has to be either a constant or symbolic",
    );
    check_attr("affine_map<(d0) -> (d1)>", "1:32: use of undeclared identifier");
    check_attr("#unknown", "1:20: undefined symbol alias id 'unknown'");
    check_attr("#t.note<[1]>", "1:21: expected string");
    check_attr("#t.not<[1]>", "1:12: unknown attribute `not` in dialect `t` | did you mean `t.note`?");
    check_attr("#x.y<[>", "1:16: unbalanced '[' character in pretty dialect name");
    check_attr("#x.y<(a -> b]>", "1:16: unbalanced '(' character in pretty dialect name");
    check_attr("!t.pair<i32>", "1:23: expected ','");
    // A block argument of such a type would not be read.
    check_attr("!a-b<i32>", "1:12: invalid dialect namespace 'a-b'");
    check_attr("#a-b.c", "1:12: invalid dialect namespace 'a-b'");
    check_attr("{b, b}", "1:16: duplicate key 'b' in dictionary attribute");
    let escapes = r#"escapes are `\n`, `\t`, `\\`, `\"` and two hexadecimal digits, as in `\0A`"#;
    check_attr("\"\\q\"", &format!("1:13: unknown escape in string literal | {escapes}"));
}

#[test]
fn aliases() {
    let doubled = |i: usize| format!("#a{} = [#a{i}, #a{i}]\n", i + 1);
    let text = (0..60).fold("#a0 = [1]\n".to_owned(), |text, i| text + &doubled(i));
    check(
        &(text + "\"t\"() {x = #a60} : () -> ()"),
        "21:1: aliases in alias 'a20' stand for more than 16777216 characters",
    );
    check("#a = [#a]\n\"t\"() {x = #a} : () -> ()", "1:7: alias 'a' is defined by itself");
    check("#a = 1 : i32\n#a = 2 : i32", "2:1: redefinition of attribute alias id 'a'");
    check("#a.b = 1 : i32", "1:1: attribute names with a '.' are reserved for dialect-defined names");
}

#[test]
fn every_error_of_a_run_is_reported_once() {
    let text = "%a = \"t\"() : () -> i31x\n\
                \"t\"(%a) : (i32) -> ()\n\
                \"t\"() {b = 256 : i8} : () -> ()\n\
                \"t\"() ({\n  ) bad (\n  \"t\"() {b = 256 : i8} : () -> ()\n}) : () -> ()\n\
                t.ad %a\n\
                \"ok\"() : () -> ()";
    let lines: Vec<String> = errors(text).iter().map(|e| e.split(':').next().unwrap_or_default().to_string()).collect();
    assert_eq!(lines, ["1", "3", "4", "6", "8"]);
}

#[test]
fn there_is_an_end_to_errors() {
    assert_eq!(errors(&"\"t\"() {b = 256 : i8} : () -> ()\n".repeat(100)).len(), 20);
}

#[test]
fn nesting_of_brackets_is_limited() {
    for (open, close) in
        [("[", "]"), ("{a = ", "}"), ("tuple<", ">"), ("affine_map<() -> ((", ""), ("loc(callsite(", "")]
    {
        for depth in [300, 3_000, 100_000] {
            let text = format!("\"t\"() {{a = {}{}}} : () -> ()", open.repeat(depth), close.repeat(depth));
            let found = errors(&text);
            assert!(!found.is_empty(), "{open} {depth}");
        }
    }
    let text = format!("\"t\"() {{a = {}1{}}} : () -> ()", "[".repeat(300), "]".repeat(300));
    assert!(error(&text).contains("nesting is too deep"));
}

#[test]
fn what_is_open_at_the_end() {
    check("\"t\"() ({\n\"x\"() : () -> ()", "2:17: expected '}' at the end of a region");
    assert!(error("\"t\"() {a = \"").contains("expected"));
    assert!(error("}").contains("expected operation name in quotes"));
}

/// Everything that opens something, alone and mixed, repeated far beyond what anybody nests.
const OPENERS: [&str; 29] = [
    "(",
    "[",
    "{",
    "<",
    "<{",
    "({",
    "({\n",
    "[<",
    "(<",
    "{<",
    "tensor<",
    "dense<[",
    "(%a <",
    "[%a [<",
    "{%a(",
    "(%a[%b{%c<",
    "\nt.add <",
    "\nt.add (",
    "\n^bb(%a: ",
    "\n%a, ",
    "\"a\"()[^bb",
    "\"a\"() <{",
    "-> tensor<",
    "<=",
    "<-",
    "\n",
    "loc(",
    "tensor<\"",
    "t.",
];

#[test]
fn what_is_opened_often_and_never_closed_is_refused_at_once() {
    for open in OPENERS {
        for before in ["t.add ", "\"t\"() {a = "] {
            let text = format!("{before}{}", open.repeat(100_000));
            let start = std::time::Instant::now();
            let found = errors(&text);
            assert!(!found.is_empty() || open == "\n", "{before} {open:?}");
            let seconds = start.elapsed().as_secs_f64();
            // Far less on an idle machine; time that grows with the square would be minutes.
            assert!(seconds < 10.0, "{before} {open:?} takes {seconds:.1} s");
        }
    }
    let balanced = format!("t.add {}{}", "tensor<".repeat(30_000), ">".repeat(30_000));
    check(&balanced, "1:1805: nesting is too deep: at most 256 levels of '<' are read");
    check(&format!("\"t\"() {{a = {}1}} : () -> ()", "[".repeat(100)), "1:12: this '[' and 99 more are never closed");
}
