//! Strings, numbers and names are read exactly where MLIR reads them: what its lexer refuses is an error here too, at the
//! place, in every reader. `mlir-opt` 22 gives the same verdict on each of these texts.

mod common;

use common::{context, errors, parse};

/// A place for a string literal, written `$`, for every reader of strings.
const STRINGS: &[&str] = &[
    "\"x.a\"() {a = $} : () -> ()",
    "\"x.a\"() {a = [$, 1]} : () -> ()",
    "\"x.a\"() {a = {b = $}} : () -> ()",
    "\"x.a\"() {$ = 1} : () -> ()",
    "\"x.a\"() <{a = $}> : () -> ()",
    "\"x.a\"() <$> : () -> ()",
    "\"x.a\"() {a = @$} : () -> ()",
    "\"x.a\"() {a = @x::@$} : () -> ()",
    "$() : () -> ()",
    "\"x.a\"() : () -> () loc($)",
    "\"x.a\"() : () -> () loc($:1:2)",
    "\"x.a\"() : () -> () loc(\"x\"($))",
    "\"x.a\"() : () -> () loc(callsite($ at \"y\"))",
    "\"x.a\"() : () -> () loc(fused[$])",
    "\"x.a\"() : () -> tensor<4xf32, $>",
    "\"x.a\"() {a = memref<4xf32, $>} : () -> ()",
    "\"x.a\"() {a = #x.a<$>} : () -> ()",
    "\"x.a\"() {a = #x<a [$] b>} : () -> ()",
    "\"x.a\"() : () -> !x.t<i32, $>",
    "\"x.a\"() {a = dense<$> : tensor<1x!x.s>} : () -> ()",
    "\"x.a\"() {a = dense<[$, \"b\"]> : tensor<2x!x.s>} : () -> ()",
    "\"x.a\"() {a = dense_resource<$> : tensor<1xi8>} : () -> ()",
    "#a = $\n\"x.a\"() {a = #a} : () -> ()",
    "t.fn @$ {\n}",
    "%0 = t.const $ : none",
    "\"x.a\"() : () -> ()\n{-# dialect_resources: {builtin: {$: \"0x04000000\"}} #-}",
    "\"x.a\"() : () -> ()\n{-# external_resources: {x: {a: $}} #-}",
];

#[test]
fn escapes_are_those_of_mlir() {
    let refused = [
        "\\+f", "\\-1", "\\ 1", "\\1", "\\1g", "\\g1", "\\x41", "\\u0041", "\\r", "\\0", "\\'", "\\N", "a\\qb",
        "\\4\\\\",
    ];
    for place in STRINGS {
        for escape in refused {
            let text = place.replace('$', &format!("\"{escape}\""));
            let at =
                text.find(&format!("\"{escape}\"")).expect("put there") + 1 + escape.find('\\').expect("an escape");
            let (line, start) = (text[..at].matches('\n').count() + 1, text[..at].rfind('\n').map_or(0, |n| n + 1));
            let expected = format!("{line}:{}: unknown escape in string literal", at - start + 1);
            let found = errors(&text);
            assert!(found.iter().any(|error| error.starts_with(&expected)), "{text}: {found:?}, not {expected}");
        }
    }
}

#[test]
fn a_string_ends_on_its_line() {
    for inside in ["\\", "abc\\", "\\4", "a\\\\\\", "a\u{b}b", "a\u{c}b"] {
        for place in STRINGS.iter().filter(|place| place.starts_with("\"x.a\"() {")) {
            let text = place.replace('$', &format!("\"{inside}\""));
            assert!(!errors(&text).is_empty(), "{text:?}");
        }
    }
    assert_eq!(errors("\"x.a\"() {a = \"x\u{b}y\"} : () -> ()"), ["1:16: expected '\"' in string literal"]);
    // Two hexadecimal digits, of any case, may stand for any byte of what is kept as it is written.
    let cx = context();
    for text in ["\"x.a\"() {a = \"\\41\\4f\\n\\t\\\\\\\"\"} : () -> ()", "\"x.a\"() {a = #x.a<\"\\fF\">} : () -> ()"] {
        assert!(parse(&cx, text).is_ok(), "{text}");
    }
}

/// What Rust's `parse` would take for a number, and more.
#[test]
fn numbers_are_those_of_mlir() {
    let refused = [
        "+5",
        "+5 : i32",
        "0x",
        "0xg",
        "0X1F",
        "1e",
        "1e5",
        "1.0e",
        "1.0e+",
        "1.0e+-5",
        ".5",
        "-.5",
        "--5",
        "1_000",
        "1_",
        "0b11",
        "0o7",
        "1.0f",
        "1.0p3 : f32",
        "0x1p3",
        "0x1.0",
        "inf",
        "nan",
        "-inf : f32",
        "1..5",
        "- inf",
        "dense<+5> : tensor<1xi32>",
        "dense<1_0> : tensor<1xi32>",
        "dense<0x> : tensor<1xi32>",
        "dense<1e5> : tensor<1xf32>",
        "dense<[1, +2]> : tensor<2xi32>",
        "dense<.5> : tensor<1xf32>",
        "dense<+1.0> : tensor<1xf32>",
        "dense<inf> : tensor<1xf32>",
        "dense<nan> : tensor<1xf32>",
        "dense<(+1,2)> : tensor<1xcomplex<i32>>",
        "dense<True> : tensor<1xi1>",
        "dense<0XFF> : tensor<1xi8>",
        "dense<\"0x+F\"> : tensor<1xi8>",
        "dense<\"0XFF\"> : tensor<1xi8>",
        "dense<\"0xF\"> : tensor<1xi8>",
        "array<i32: +1>",
        "array<i32: 1_0>",
        "array<f32: +1.0>",
        "array<f32: 1e5>",
        "array<i1: +1>",
        "affine_map<(d0) -> (d0 + +1)>",
        "affine_map<(d0) -> (+d0)>",
        "affine_map<(d0) -> (1_0)>",
        "affine_map<(d0)[s0] -> (d0 floordiv +2)>",
        "affine_set<(d0) : (d0 >= +0)>",
        "affine_map<(0d) -> (0d)>",
        "strided<[+1], offset: 2>",
        "strided<[1], offset: +2>",
        "distinct[+1]<1>",
        "distinct[-1]<1>",
        "tensor<+4xf32>",
        "tensor<-4xf32>",
        "tensor<4_0xf32>",
        "tensor<1e5xf32>",
        "vector<+4xf32>",
        "vector<[+4]xf32>",
        "i+8",
        "si+8",
        "i1_6",
        "f+32",
        "memref<4xf32, +1>",
    ];
    for number in refused {
        let text = format!("\"x.a\"() {{a = {number}}} : () -> ()");
        assert!(!errors(&text).is_empty(), "{text}");
    }
    let places = ["loc(\"f\":$:2)", "loc(\"f\":1:$)", "loc(\"f\":1:2 to $:4)", "loc(\"f\":1:2 to :$)"];
    for (place, number) in places.iter().flat_map(|place| ["+1", "-2", "1_0", "1e1", "4294967296"].map(|n| (place, n)))
    {
        let text = format!("\"x.a\"() : () -> () {}", place.replace('$', number));
        assert!(!errors(&text).is_empty(), "{text}");
    }
    for number in ["+1", "-1", "1_0", "1.0", "4294967297", "18446744073709551617", "0x1"] {
        let text = format!("%0:2 = \"x.a\"() : () -> (i8, i8)\n\"x.b\"(%0#{number}) : (i8) -> ()");
        assert!(!errors(&text).is_empty(), "{text}");
        let text = format!("%0:2 = \"x.a\"() : () -> (i8, i8)\n%1 = t.add %0#{number}, %0#0 : i8");
        assert!(!errors(&text).is_empty(), "{text}");
    }
    for count in ["+1", "-1", "1_0", "1.0", "4294967297", "18446744073709551617"] {
        let text = format!("%0:{count} = \"x.a\"() : () -> i8");
        assert!(!errors(&text).is_empty(), "{text}");
    }
}

#[test]
fn a_name_that_begins_with_a_digit_is_a_number() {
    let help = |sigil: &str, name: &str| {
        format!("'{sigil}{name}' is no name: one that begins with a digit is a number | write `{sigil}_{name}`")
    };
    for (text, place, sigil, name) in [
        ("%0x1 = \"x.a\"() : () -> i8", "1:1", "%", "0x1"),
        ("%1_0 = \"x.a\"() : () -> i8", "1:1", "%", "1_0"),
        ("%1a:2 = \"x.a\"() : () -> (i8, i8)", "1:1", "%", "1a"),
        ("\"x.r\"() ({\n^1a:\n}) : () -> ()", "2:1", "^", "1a"),
        ("\"x.r\"() ({\n^a(%0, %2b: i8):\n}) : () -> ()", "2:8", "%", "2b"),
        ("#1a = 5\n\"x.a\"() {a = #1a} : () -> ()", "1:1", "#", "1a"),
        ("!1a = i5\n\"x.a\"() : () -> !1a", "1:1", "!", "1a"),
    ] {
        let text = text.replace("%0,", "%0: i8,");
        let place = if name == "2b" { "2:12" } else { place };
        let found = errors(&text);
        assert_eq!(found[0], format!("{place}: {}", help(sigil, name)), "{text}");
    }
    let cx = context();
    for text in [
        "%0 = \"x.a\"() : () -> i8\n%a-b$.c_1 = \"x.a\"() : () -> i8\n%-a = \"x.a\"() : () -> i8",
        "#1 = 5\n#a-b = 6\n!1 = i5\n\"x.a\"() {a = #1, b = #a-b} : () -> !1",
        "\"x.r\"() ({\n^1:\n  \"x.b\"()[^a-1] : () -> ()\n^a-1:\n  \"x.b\"() : () -> ()\n}) : () -> ()",
    ] {
        assert!(parse(&cx, text).is_ok(), "{text}");
    }
}

#[test]
fn symbols_are_bare_names_or_strings() {
    for name in ["1f", "-f", "$f", "a-b", "", " f", "\"\""] {
        let text = format!("t.fn @{name} {{\n}}");
        assert!(!errors(&text).is_empty(), "{text}");
        if name != "\"\"" {
            let text = format!("\"x.a\"() {{a = @{name}}} : () -> ()");
            assert!(!errors(&text).is_empty(), "{text}");
        }
    }
    let cx = context();
    for name in ["f", "_f", "f1.$a", "\"1 f\""] {
        let text = format!("t.fn @{name} {{\n}}");
        assert!(parse(&cx, &text).is_ok(), "{text}");
    }
}

#[test]
fn raw_data_of_resources_is_hexadecimal() {
    let check = |part: &str, value: &str, expected: Option<&str>| {
        let text = format!("\"x.a\"() : () -> ()\n{{-# {part}: {{builtin: {{k: {value}}}}} #-}}");
        let found = errors_or_none(&text);
        let what = "expected hex string blob for key 'k'";
        match expected {
            None => assert_eq!(found, Vec::<String>::new(), "{text}"),
            Some(rest) => assert!(found[0].ends_with(&format!("{what}{rest}")), "{text}: {found:?}"),
        }
    };
    let bytes = " | write `0x` and two hexadecimal digits for each byte";
    let short = " to encode alignment in first 4 bytes";
    for (value, expected) in [
        ("\"0x04000000\"", None),
        ("\"0x00000000\"", None),
        ("\"0x0400000001ff\"", None),
        ("\"0x040000+F\"", Some(bytes)),
        ("\"0x0400000\"", Some(bytes)),
        ("\"0X04000000\"", Some(bytes)),
        ("\"04000000\"", Some(bytes)),
        ("\"\"", Some(bytes)),
        ("true", Some(bytes)),
        ("\"0x\"", Some(short)),
        ("\"0x04\"", Some(short)),
        ("\"0x03000000\"", Some(" to encode alignment in first 4 bytes, but got non-power-of-2 value: 3")),
    ] {
        check("dialect_resources", value, expected);
    }
    let text = "\"x.a\"() : () -> ()\n{-# dialect_resources: {t: {k: \"0x04000000\"}} #-}";
    assert_eq!(errors(text), ["2:25: unexpected 'resource' section for dialect 't' | only `builtin` has resources"]);
    // What others keep is their business, but `0x` begins raw data.
    check("external_resources", "\"any text\"", None);
    check("external_resources", "true", None);
    check("external_resources", "\"0x1\"", Some(bytes));
}

/// The errors; none when the text is read.
fn errors_or_none(text: &str) -> Vec<String> {
    parse(&context(), text).err().unwrap_or_default()
}
