//! Blanks may stand between any two tokens, and some tokens have more than one form: what is read is what the usual way to
//! write it gives, and prints so that it reads back. `mlir-opt` 22 takes each of these texts.

mod common;

use common::{context, errors, parse};
use sutura_ir::asm::print::{PrintOptions, module_text};

/// The program in generic form.
fn printed(text: &str) -> String {
    let cx = context();
    let module = parse(&cx, text).unwrap_or_else(|error| panic!("{text}\n{error:?}"));
    module_text(&cx, &module, &PrintOptions { generic: true, ..PrintOptions::default() })
}

/// The two texts are the same program, and what is printed of it reads back.
#[track_caller]
fn same(text: &str, usual: &str) {
    let found = printed(text);
    assert_eq!(found, printed(usual), "{text}");
    assert_eq!(printed(&found), found, "{text}");
}

#[track_caller]
fn check(text: &str, error: &str) {
    assert_eq!(errors(text).first().map(String::as_str), Some(error), "{text}");
}

const TWO: &str = "%a:2 = \"x.a\"() : () -> (i32, i32)\n";

#[test]
fn counts_of_results() {
    for count in [" : 2", ": 2", " :2", ":0x2", " : 0x02", "\n:\n2\n", ":02"] {
        same(
            &format!("%a{count} = \"x.a\"() : () -> (i32, i32)\n\"x.b\"(%a#1) : (i32) -> ()"),
            &format!("{TWO}\"x.b\"(%a#1) : (i32) -> ()"),
        );
    }
    let three = ") : () -> (i32, i32, i32)";
    same(&format!("%a : 2 , %b : 1 = \"x.a\"({three}"), &format!("%a:2, %b = \"x.a\"({three}"));
    same(&format!("%b,%a\n: 2= \"x.a\"({three}"), &format!("%b, %a:2 = \"x.a\"({three}"));
    check("%a:0x0 = \"x.a\"() : () -> ()", "1:4: expected named operation to have at least 1 result");
    check(
        "%a : 18446744073709551616 = \"x.a\"() : () -> ()",
        "1:6: expected named operation to have at least 1 result",
    );
    check("%a:x = \"x.a\"() : () -> i32", "1:4: expected integer number of results");
    check("%a: = \"x.a\"() : () -> i32", "1:4: expected integer number of results");
    check("%a : -2 = \"x.a\"() : () -> i32", "1:5: expected integer number of results");
    check("%a:2:2 = \"x.a\"() : () -> i32", "1:5: expected '=' after SSA name");
    check("%a 2 = \"x.a\"() : () -> i32", "1:3: expected '=' after SSA name");
    check("%a:2 %b = \"x.a\"() : () -> i32", "1:5: expected '=' after SSA name");
}

/// Where an operation in custom form ends, the next line is looked at.
#[test]
fn counts_of_results_after_a_custom_form() {
    let body = |next: &str| {
        format!("%x = t.const 1 : i32\n%y = t.add %x, %x : i32\n{next} = \"x.a\"() : () -> (i32, i32, i32)")
    };
    for (next, usual) in [
        ("%a : 2, %b", "%a:2, %b"),
        ("%a: 2, %b", "%a:2, %b"),
        ("%a\n  : 2, %b", "%a:2, %b"),
        ("%a :\n2,\n%b", "%a:2, %b"),
        ("%a:0x2,\n%b : 1", "%a:2, %b"),
    ] {
        same(&body(next), &body(usual));
    }
}

#[test]
fn numbers_of_results() {
    for number in ["%a #1", "%a\n#1", "%a  #01"] {
        let usual = |end: &str| format!("{TWO}{}", end.replace('$', "%a#1"));
        for end in ["\"x.b\"($) : (i32) -> ()", "\"x.b\"(%a, $, %a#0) : (i32, i32, i32) -> ()", "%c = t.add $, $ : i32"]
        {
            same(&format!("{TWO}{}", end.replace('$', number)), &usual(end));
        }
    }
    check(&format!("{TWO}\"x.b\"(%a#1 #1) : (i32) -> ()"), "2:11: expected ')' to end operand list");
    check(&format!("{TWO}\"x.b\"(%a #1 #1) : (i32) -> ()"), "2:12: expected ')' to end operand list");
    check(&format!("{TWO}\"x.b\"(#1) : (i32) -> ()"), "2:7: expected ')' to end operand list");
    check(&format!("{TWO}\"x.b\"(%a, #1) : (i32) -> ()"), "2:9: expected SSA operand");
    check(&format!("{TWO}\"x.b\"(%a #x) : (i32) -> ()"), "2:10: invalid SSA value result number");
    check(&format!("{TWO}\"x.b\"(%a #5) : (i32) -> ()"), "2:7: reference to invalid result number");
    assert!(!errors(&format!("{TWO}\"x.b\"(%a# 1) : (i32) -> ()")).is_empty());
}

#[test]
fn locations_and_types() {
    for end in ["loc (\"x\")", "loc\n( \"x\" )"] {
        same(&format!("\"x.a\"() : () -> () {end}"), "\"x.a\"() : () -> () loc(\"x\")");
        same(&format!("\"x.a\"() ({{}}) : () -> () {end}"), "\"x.a\"() ({}) : () -> () loc(\"x\")");
        let label = |loc: &str| format!("\"x.a\"() ({{\n^a(%b: i32 {loc}, %c: i32):\n}}) : () -> ()");
        same(&label(end), &label("loc(\"x\")"));
    }
    for blank in [" ", "\n"] {
        for ty in ["tensor<4xi32>", "vector<4xi32>", "memref<4xi32, strided<[1]>>", "complex<f32>", "tuple<tuple<>>"] {
            let spaced = ty.replace('<', &format!("{blank}<"));
            for text in [
                "%a = \"x.a\"() : () -> $",
                "\"x.a\"() ({\n^a(%a : $):\n}) : () -> ()",
                "\"x.a\"() {a = $} : () -> ()",
                "%a = \"x.a\"() : () -> $\n%b = t.add %a, %a : $\n\"x.b\"() : () -> ()",
            ] {
                same(&text.replace('$', &spaced), &text.replace('$', ty));
            }
        }
    }
}

#[test]
fn attributes_of_custom_forms() {
    for (value, usual) in [
        ("- 5 : i32", "-5 : i32"),
        ("-\n5 : i32", "-5 : i32"),
        ("- 1.0 : f32", "-1.0 : f32"),
        ("dense <- 1> : tensor <4xi32>", "dense<-1> : tensor<4xi32>"),
        ("dense\n<0x1> : tensor\n<4xi32>", "dense<1> : tensor<4xi32>"),
    ] {
        let op = |value: &str| format!("%0 = t.const {value}\n\"x.b\"() : () -> ()");
        same(&op(value), &op(usual));
    }
    same("t.many \"up\" nowhere : () -> ()", "t.many up nowhere : () -> ()");
    same("t.many up[- 1, 0x2] nowhere : () -> ()", "t.many up[-1, 2] nowhere : () -> ()");
    check("t.many \"left\" nowhere : () -> ()", "1:8: expected one of up, down, but found 'left'");
}
