//! Custom forms, driven by formats.

mod common;

use common::{custom, generic};

/// A text that is printed as it stands, but for the module around it.
fn is_kept(inside: &str) {
    let inside = inside.replace('\n', "\n  ");
    let text = format!("module {{\n  {inside}\n}}\n");
    assert_eq!(custom(&text), text);
}

#[test]
fn operands_types_and_attributes() {
    is_kept("%a = t.const 1 : i32\n%b = t.add %a, %a {x} : i32");
    is_kept("%a = t.const {y = !t.pair<f32, 4>, z = #t.note<[\"a\", \"b\"]>} 1 : i32");
}

#[test]
fn optional_parts() {
    is_kept("t.many up nowhere : () -> ()");
    is_kept("%a = t.const 1 : i32\n%r = t.many down fast [1, -2] from %a : i32[%a, %a] as f32 {z} : (i32, i32) -> i32");
    let printed = generic("%a = t.const 1 : i32\nt.many up from %a : i32 : () -> ()");
    assert!(printed.contains("<{operandSegmentSizes = array<i32: 1, 0>, way = 0 : i64}> : (i32) -> ()"), "{printed}");
    let printed = generic("t.many up fast nowhere : () -> ()");
    assert!(printed.contains("<{fast, operandSegmentSizes = array<i32: 0, 0>, way = 0 : i64}>"), "{printed}");
}

#[test]
fn regions_with_arguments_and_implicit_terminators() {
    is_kept("%a = t.const 1 : i32\n%r = t.loop carry(%x = %a : i32) {\n  %y = t.add %x, %a : i32\n}");
    is_kept("t.loop {\n} {attr}");
    let printed = generic("t.loop {}");
    assert!(printed.contains("\"t.end\"() : () -> ()"), "{printed}");
}

#[test]
fn regions_in_any_order() {
    is_kept("%c = t.const true\nt.if %c {\n}");
    let printed = generic("%c = t.const true\nt.if %c else_first { \"a\"() : () -> () } { \"b\"() : () -> () }");
    let (a, b) = (printed.find("\"a\"").expect("printed"), printed.find("\"b\"").expect("printed"));
    assert!(b < a, "regions are stored as declared: {printed}");
}

#[test]
fn variadic_regions() {
    is_kept("t.arms {\n}, {\n  t.end\n}, {\n}");
    is_kept("t.arms attributes {x} {\n}");
}

#[test]
fn clauses_in_any_order() {
    is_kept("t.clauses");
    is_kept("t.clauses nowait {x}");
    is_kept("%a = t.const 1 : i32\nt.clauses private(%a, %a : i32, i32) nowait limit = 3");
    let printed =
        custom("%a = t.const 1 : i32\nt.clauses limit = 3 nowait private(%a : i32) {x}\nt.clauses nowait limit = 1");
    let expected = "t.clauses private(%a : i32) nowait limit = 3 {x}\n  t.clauses nowait limit = 1\n";
    assert!(printed.contains(expected), "{printed}");
    let printed = generic("t.clauses nowait limit = 1");
    assert!(printed.contains("\"t.clauses\"() <{limit = 1 : i64, nowait}> : () -> ()"), "{printed}");
}

#[test]
fn successors_and_labels() {
    is_kept(
        "t.fn @f {\n  %a = const 1 : i32\n  br ^bb1(%a : i32)\n^bb1(%b: i32):  // 2 preds: ^bb0, ^bb1\n  br ^bb1(%b : i32)\n}",
    );
}

#[test]
fn several_ops_on_a_line_and_formats_over_several() {
    let printed = custom("%a = t.const 1 : i32 %b = t.add %a, %a : i32 \"x\"() : () -> () t.loop {} t.end");
    assert!(
        printed.contains("  %b = t.add %a, %a : i32\n  \"x\"() : () -> ()\n  t.loop {\n  }\n  t.end\n"),
        "{printed}"
    );
    let printed =
        custom("%a =\nt.const\n1\n:\ni32\n%b = t.add\n%a,\n%a\n{x}\n: i32\nt.arms\nattributes\n{y}\n{\n}\n,\n{}");
    assert!(printed.contains("  %b = t.add %a, %a {x} : i32\n  t.arms attributes {y} {\n  }, {\n  }\n"), "{printed}");
}

#[test]
fn many_ops_on_one_line_are_read_in_linear_time() {
    let ops = 20_000;
    let printed = custom(&"t.loop {} ".repeat(ops));
    assert_eq!(printed.matches("t.loop").count(), ops);
}

#[test]
fn isolated_ops_have_names_of_their_own() {
    let text = "t.fn @f {\n  %a = const 1 : i32\n}\nt.fn @g attributes {x} {\n  %a = const 2 : i32\n}\nt.fn @h";
    is_kept(text);
}

#[test]
fn generic_and_custom_mix() {
    let printed = custom("\"t.fn\"() <{sym_name = \"f\"}> ({ const 1 : i32 \"t.end\"() : () -> () }) : () -> ()");
    assert!(printed.contains("t.fn @f {\n"), "{printed}");
}

#[test]
fn deep_nesting_of_custom_regions() {
    let depth = 3_000;
    let text = format!("{}{}", "t.loop {\n".repeat(depth), "}\n".repeat(depth));
    assert_eq!(custom(&text).matches("t.loop").count(), depth);
}
