//! The generic form: what is parsed is printed the same.

mod common;

use common::{context, generic, parse};
use sutura_ir::asm::print::{PrintOptions, module_text};

/// A text that is printed as it stands, but for the module around it.
fn is_kept(inside: &str) {
    let text = format!("\"builtin.module\"() ({{\n  {inside}\n}}) : () -> ()\n");
    assert_eq!(generic(&text), text);
}

#[test]
fn attributes_of_every_kind() {
    // In the spelling of mlir-opt.
    for attr in [
        "[1, 2.000000e+00, 3 : i32, true, unit]",
        "-9223372036854775808 : i64",
        "123456789012345678901234567890 : i128",
        "-1 : i65",
        "255 : ui8",
        "-128 : si8",
        "0 : i0",
        "7 : index",
        "1.000000e+00 : f64",
        "0x7FC00000 : f32",
        "0.100000000000000005551115123125782702 : f128",
        "3.14159274 : f32",
        "-0.000000e+00 : bf16",
        "\"a\\22\\0A\\\\\\C3\\A9\"",
        "\"typed\" : i32",
        "@a::@\"b c\"::@d",
        "{a, b = {c = []}, \"d e\" = 1 : i8}",
        "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>",
        "dense<-1> : tensor<4xi32>",
        "dense<[true, false]> : vector<2xi1>",
        "dense<> : tensor<0x3xf32>",
        "dense<[(1.000000e+00,2.000000e+00), (0.000000e+00,0.000000e+00)]> : tensor<2xcomplex<f32>>",
        "dense<[\"a\", \"b\"]> : tensor<2x!foo.str>",
        "dense<123456789012345678901234567890> : tensor<2xi128>",
        "dense_resource<\"key with blanks\"> : tensor<4xi8>",
        "sparse<[[0, 1]], 5> : tensor<2x2xi32>",
        "sparse<> : tensor<2x2xi32>",
        "array<i32: 1, -2>",
        "array<i1: true, false>",
        "array<f64>",
        "strided<[?, 1], offset: ?>",
        "distinct[0]<>",
        "tensor<?x4xf32, \"enc\">",
        "memref<4xf32, strided<[2]>, 1>",
        "vector<[4]x2xi8>",
        "tuple<i1, tuple<>>",
        "(i32, f32) -> (() -> ())",
        "#foo.bar<a -> b, \"x>\">",
        "#foo<\"x\"> : i32",
        "!foo.bar<#x.y<1>>",
    ] {
        is_kept(&format!("\"t\"() {{a = {attr}}} : () -> ()"));
    }
}

#[test]
fn aliases_are_hoisted() {
    let text = "#map = affine_map<(d0)[s0] -> (d0 floordiv 2 - s0 * 3, -d0, (d0 + 1) mod 4)>\n\
                #set = affine_set<(d0) : (d0 - 1 >= 0, d0 == 0)>\n\
                \"builtin.module\"() ({\n  \"t\"() {m = #map, s = [#set]} : () -> ()\n}) : () -> ()\n";
    assert_eq!(generic(text), text);
}

#[test]
fn aliases_may_follow_their_uses_and_keep_their_names() {
    let printed = generic(
        "\"t\"() {a = #two} : () -> !one\n#two = #foo.b<!one, #map>\n!one = !foo.t<#map>\n#map = affine_map<() -> ()>",
    );
    let expected = "#map = affine_map<() -> ()>\n\
                    !one = !foo.t<#map>\n\
                    #two = #foo.b<!one, #map>\n\
                    \"builtin.module\"() ({\n  %0 = \"t\"() {a = #two} : () -> !one\n}) : () -> ()\n";
    assert_eq!(printed.replace("%0 = ", ""), expected.replace("%0 = ", ""));
}

#[test]
fn blocks_and_forward_references() {
    is_kept(
        "\"t\"() ({\n    \"br\"(%0)[^bb1] : (i32) -> ()\n  ^bb1:  // 2 preds: ^bb0, ^bb1\n    %0 = \"x\"() : () -> \
         i32\n    \"br\"()[^bb1, ^bb2] : () -> ()\n  ^bb2:  // pred: ^bb1\n    \"br\"() : () -> ()\n  }, {\n  }, {\n  \
         ^bb0:\n  }) : () -> ()",
    );
}

#[test]
fn names_are_kept() {
    let text = "\"builtin.module\"() ({\n  %pack:2, %last = \"t\"() : () -> (i32, i32, f32)\n  \
                %0 = \"t\"(%pack#1, %last) : (i32, f32) -> i32\n}) : () -> ()\n";
    assert_eq!(generic(text), text);
    let cx = context();
    let module = parse(&cx, text).expect("the text is right");
    let options = PrintOptions { discard_value_names: true, ..PrintOptions::generic() };
    assert!(module_text(&cx, &module, &options).contains("%0:3 = \"t\"()"));
}

#[test]
fn resources_are_kept() {
    let text = "\"builtin.module\"() ({\n}) : () -> ()\n\n{-#\n  dialect_resources: {\n    builtin: {\n      \
                blob: \"0x08000000010203\"\n    }\n  },\n  external_resources: {\n    foo: {\n      bar: true,\n      \
                \"b z\": \"a\"\n    }\n  }\n#-}\n";
    assert_eq!(generic(text), text);
}

#[test]
fn locations_are_kept() {
    let text = "\"t\"() ({\n^bb0(%a: i32 loc(\"arg\")):\n}) : () -> () loc(fused<\"m\">[\"x\"(\"f\":1:2), callsite(#l at unknown)])\n#l = loc(\"g\":3:4 to :7)";
    let cx = context();
    let module = parse(&cx, text).expect("the text is right");
    let options = PrintOptions { debug_info: true, local_scope: true, ..PrintOptions::generic() };
    let printed = module_text(&cx, &module, &options);
    assert!(printed.contains("loc(fused<\"m\">[\"x\"(\"f\":1:2), callsite(\"g\":3:4 to :7 at unknown)])"), "{printed}");
    assert!(printed.contains("^bb0(%a: i32 loc(\"arg\")):"), "{printed}");
    let again = parse(&cx, &printed).expect("the print is right");
    assert_eq!(module_text(&cx, &again, &options), printed);
}

#[test]
fn comments_and_blanks_are_no_matter() {
    let text = "// a \"\n \"t\"(\t) // b\n ( { // {\n } )\r\n {a = \"//\"}\n : ( ) -> // c\n ( )";
    assert!(generic(text).contains("  \"t\"() ({\n  }) {a = \"//\"} : () -> ()\n"));
}

#[test]
fn a_single_module_is_not_wrapped() {
    assert_eq!(generic("\"builtin.module\"() ({}) : () -> ()").matches("builtin.module").count(), 1);
    assert_eq!(generic("\"t\"() : () -> ()").matches("builtin.module").count(), 1);
    assert_eq!(generic("").matches("builtin.module").count(), 1);
}

#[test]
fn inherent_attributes_may_stand_among_the_others() {
    let printed = generic("%0 = \"t.const\"() {value = 1 : i32, other} : () -> i32");
    assert!(printed.contains("\"t.const\"() <{value = 1 : i32}> {other} : () -> i32"), "{printed}");
}

#[test]
fn nesting_of_regions_has_no_limit() {
    let depth = 3_000;
    for name in ["t", "builtin.module"] {
        let text = format!("{}{}", format!("\"{name}\"() ({{").repeat(depth), "}) : () -> ()".repeat(depth));
        let cx = context();
        let module = parse(&cx, &text).expect("regions nest");
        // Indentation grows with the square of the depth: the print is counted, not kept.
        struct Count(usize);
        impl std::io::Write for Count {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0 += bytes.iter().filter(|b| **b == b'}').count();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut count = Count(0);
        sutura_ir::asm::print::write_module(&cx, &module, &PrintOptions::generic(), &mut count)
            .expect("counting works");
        assert!(count.0 >= depth);
    }
}
