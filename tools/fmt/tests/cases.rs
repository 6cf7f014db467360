//! Texts before and after.

use sutura_fmt::{Refusal, format};
use sutura_ir::Context;

fn formatted(text: &str) -> Result<(String, Vec<u32>), Refusal> {
    let cx = Context::new(sutura_dialects::all());
    format(&cx, "test.mlir", text).map(|formatted| (formatted.text, formatted.left))
}

/// `before` becomes `after`, which stays.
#[track_caller]
fn check(before: &str, after: &str) {
    let (text, left) = formatted(before).expect("a valid program");
    assert_eq!(text, after);
    assert!(left.is_empty());
    assert_eq!(formatted(after).expect("still valid").0, after, "formatted twice");
}

/// The text is as it should be.
#[track_caller]
fn stays(text: &str) {
    check(text, text);
}

#[test]
fn a_round_trip_of_a_commented_named_function_keeps_comments_and_names() {
    stays(
        "\
// What this file is for.

// Sums up to the limit.
func.func @sum(%limit: i32, %5: i32) -> i32 { // from 0
  // Where it begins.
  %zero = arith.constant 0 : i32
  cf.br ^loop(%zero, %5 : i32, i32)
// Once for each number.
^loop(%i: i32, %7: i32):
  %next = arith.addi %i, %7 : i32 // one further
  %more = arith.cmpi slt, %next, %limit : i32
  cf.cond_br %more, ^loop(%next, %next : i32, i32), ^done
^done: // at last
  return %next : i32
} // sum
",
    );
}

#[test]
fn comments_stand_before_behind_and_at_the_end() {
    check(
        "\
    // head


//x
  func.func @f( ) { //opens
        // first
     return // ends
      // last
  }// closes
// after


// end",
        "\
// head

//x
func.func @f() { //opens
  // first
  return // ends
  // last
} // closes
// after

// end
",
    );
}

#[test]
fn comments_within_an_operation_go_before_it() {
    check(
        "\
func.func @f(%x: i32, // the x
             %y: i32) // the y
    -> i32 { // the body
  // the sum
  %s = arith.addi %x, // left
    // alone
    %y : i32 // all
  return %s : i32
}
",
        "\
// the x
// the y
func.func @f(%x: i32, %y: i32) -> i32 { // the body
  // the sum
  // left
  // alone
  %s = arith.addi %x, %y : i32 // all
  return %s : i32
}
",
    );
}

#[test]
fn comments_around_braces_and_labels_keep_their_side() {
    stays(
        "\
func.func @f(%c: i1) {
  scf.if %c { // then
    // nothing
  // before else
  } else { // else
    // nothing here either
  } // if
  \"x.regions\"() ({
  ^one(%a: i32): // labels
    \"x.end\"() : () -> ()
    // end of one
  // about two
  ^two:
    \"x.end\"() : () -> ()
  }, { // second
  }) {a} : () -> () // the whole
  return
}
",
    );
}

#[test]
fn comments_of_what_is_left_out_go_to_the_brace() {
    check(
        "\
func.func @f(%c: i1) {
  scf.if %c {
    // why it ends
    scf.yield // here
    // last
  }
  return
}
",
        "\
func.func @f(%c: i1) {
  scf.if %c {
    // why it ends
    // here
    // last
  }
  return
}
",
    );
}

#[test]
fn of_blank_lines_one_is_kept_and_none_is_made() {
    check(
        "\n\n\nfunc.func @a() {\n\n\n  return\n\n}\nfunc.func @b() {\n  %0 = arith.constant 1 : i32\n\n \n\n  // c\n\n  return\n}\n\n\n",
        "func.func @a() {\n  return\n}\nfunc.func @b() {\n  %0 = arith.constant 1 : i32\n\n  // c\n\n  return\n}\n",
    );
}

#[test]
fn aliases_resources_and_locations_stay_where_they_are() {
    stays(
        "\
#map = affine_map<(d0) -> (d0 * 2)> // twice
// not used
#unused = #x.y<\"a // no comment\">
// here
#here = loc(\"here\")

func.func @f(%m: memref<4xf32, #map>) {
  return loc(#here) // there
}
// late
#late = affine_map<(d0, d1) -> (d1)>
func.func private @g(memref<4x4xf32, #late>) loc(unknown)

// kept data
{-#
  dialect_resources: {
    builtin: {
      key: \"0x01000000\"
    }
  }
#-} // resources
// end
",
    );
}

#[test]
fn comments_between_resources_go_before_them() {
    check(
        "{-# // a\n  dialect_resources: {\n // b\n builtin: { k: \"0x01000000\" } }\n#-} // c\n",
        "// a\n// b\n{-#\n  dialect_resources: {\n    builtin: {\n      k: \"0x01000000\"\n    }\n  }\n#-} // c\n",
    );
}

#[test]
fn modules_are_neither_made_nor_removed() {
    stays("func.func private @f()\n");
    stays("module {\n  // nothing\n}\n");
    stays("module @m {\n  func.func private @f() // f\n} // m\n");
    stays("module {\n}\nmodule {\n}\n");
    stays("");
    stays("// only\n\n// comments\n");
    check("\n \n", "");
}

#[test]
fn what_has_no_custom_form_stays_generic() {
    check(
        "\"x.y\" ( ) : ( ) -> ( ) // y\n%a, %b = \"x.two\"() : () -> (i32, i32)\n\"func.func\"() ({ }) {function_type = () -> (), sym_name = \"f\", sym_visibility = \"private\"} : () -> ()\n",
        "\"x.y\"() : () -> () // y\n%a, %b = \"x.two\"() : () -> (i32, i32)\nfunc.func private @f()\n",
    );
}

#[test]
fn values_without_a_name_get_one_that_no_other_has() {
    check(
        "\"x.a\"() : () -> i32\n%0 = \"x.b\"() : () -> i32\n\"x.c\"(%0) : (i32) -> ()\n",
        "%1 = \"x.a\"() : () -> i32\n%0 = \"x.b\"() : () -> i32\n\"x.c\"(%0) : (i32) -> ()\n",
    );
}

/// A result may have the name of a value in the op's own region; a number with a suffix would be no name.
#[test]
fn a_number_that_stands_for_two_values_is_told_apart() {
    check(
        "func.func @f(%c: i1, %a: i32) -> i32 {\n  %0 = scf.if %c -> (i32) {\n    %0 = arith.addi %a, %a : i32\n    \
         scf.yield %0 : i32\n  } else {\n    scf.yield %a : i32\n  }\n  return %0 : i32\n}\n",
        "func.func @f(%c: i1, %a: i32) -> i32 {\n  %0 = scf.if %c -> (i32) {\n    %_0_0 = arith.addi %a, %a : i32\n    \
         scf.yield %_0_0 : i32\n  } else {\n    scf.yield %a : i32\n  }\n  return %0 : i32\n}\n",
    );
}

#[test]
fn values_and_blocks_may_be_used_before_they_stand() {
    stays(
        "\
\"x.graph\"() ({
  // first
  %a = \"x.op\"(%b) : (i32) -> i32
  // second
  %b = \"x.op\"(%a) : (i32) -> i32
}) : () -> ()
",
    );
}

#[test]
fn constants_keep_their_kind_of_digits() {
    let numbers: Vec<String> = (0..150).map(|n| n.to_string()).collect();
    let long = format!("\"x.y\"() {{a = dense<[{}]> : tensor<150xi32>}} : () -> ()\n", numbers.join(", "));
    stays(&long);
    stays("\"x.y\"() {a = dense<\"0x0102\"> : tensor<2xi8>} : () -> ()\n");
}

#[test]
fn several_operations_on_a_line_get_lines() {
    check(
        "func.func @f() { func.call @f() : () -> () func.call @f() : () -> () // second\n return }",
        "func.func @f() {\n  call @f() : () -> ()\n  call @f() : () -> () // second\n  return\n}\n",
    );
}

#[test]
fn line_ends_and_characters_stay_as_they_are() {
    check(
        "// é 漢字\r\nfunc.func @f() {\r\n\treturn // ü\t\r\n}\r\n",
        "// é 漢字\r\nfunc.func @f() {\r\n  return // ü\r\n}\r\n",
    );
}

#[test]
fn comments_about_predecessors_are_ordinary_comments() {
    stays("func.func @f() {\n  cf.br ^a\n^a:  // pred: ^bb0\n  cf.br ^b\n^b:  // 2 preds: ^a, ^bb7\n  return\n}\n");
}

#[test]
fn types_may_hold_comments_and_ends_of_lines() {
    check(
        "!t = !x.t<i32, // in the type\n  f32> // behind\n",
        "// in the type\n!t = !x.t<i32,               \n  f32> // behind\n",
    );
}

#[test]
fn parts_are_formatted_apart() {
    check(
        "// RUN: x\n\nfunc.func  private @f()\n\n\n// -----\n\n\nfunc.func  private @f()\n// -----\nfunc.func private @g() // -----\n",
        "// RUN: x\n\nfunc.func private @f()\n\n// -----\n\nfunc.func private @f()\n// -----\nfunc.func private @g()\n// -----\n",
    );
    // What is no marker, or parts nothing, is a comment.
    stays("// CHECK: // -----\nfunc.func private @f()\n");
    check(
        "func.func @f() {\n // -----\n  return\n}\n// -------\n",
        "func.func @f() {\n  // -----\n  return\n}\n// -------\n",
    );
}

#[test]
fn parts_that_are_wrong_on_purpose_stay_byte_for_byte() {
    let wrong = "\n  // expected-error@below {{x}}\n  func.func  @f( {\n\r\n\n\n";
    let text = format!("func.func  private @a()\n// -----{wrong}// -----\nfunc.func  private @b()\n");
    let (after, left) = formatted(&text).expect("wrong on purpose");
    assert_eq!(after, format!("func.func private @a()\n// -----{wrong}// -----\nfunc.func private @b()\n"));
    assert_eq!(left, [3]);
    // What does not verify could not be told from what does.
    let unverified = "// expected-error@below {{x}}\nfunc.func  @f() -> i32 {  return }\n";
    let (after, left) = formatted(unverified).expect("wrong on purpose");
    assert_eq!((after.as_str(), &left[..]), (unverified, &[1][..]));
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    for text in
        ["func.func @f( {\n", "func.func @f() -> i32 {\n  return\n}\n", "foo\n", "// -----\n}\n", "\u{feff}module {}\n"]
    {
        let Err(Refusal::Invalid(diagnostics)) = formatted(text) else { panic!("{text}") };
        assert!(diagnostics.iter().any(|d| d.loc.position().is_some()), "{text}: {diagnostics:?}");
    }
}

#[test]
fn a_long_text_is_formatted() {
    let function = "func.func @f(%x: i32) { // c\n  // d\n  %0 = arith.addi %x, %x : i32\n\n  return // e\n}\n// f\n";
    stays(&(0..4000).map(|i| function.replace("@f", &format!("@f{i}"))).collect::<String>());
    let nested = |n: usize| format!("{}{}", "\"x.y\"() ({ // in\n".repeat(n), "}) : () -> () // out\n".repeat(n));
    let (deep, _) = formatted(&nested(2000)).expect("valid");
    assert_eq!(deep.matches("// out").count(), 2000);
}

#[test]
fn regions_may_stand_in_another_order_than_the_operation_has_them() {
    stays(
        "\
func.func @f(%i: index) {
  // which
  scf.index_switch %i
  case 2 { // two
    // what two does
    scf.yield // nothing
    // two ends
  }
  default { // else
    // else ends
  } // switched
  return
}
",
    );
}
