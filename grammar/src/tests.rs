//! The whole-file rule of the grammar accepts exactly the texts whose units the driver can read.

use pest::Parser;
use proptest::prelude::*;

use crate::blank::blanked;
use crate::rules::{Grammar, Rule};
use crate::units::Units;

const SEEDS: [&str; 3] = [
    "%0:2 = \"a\"(%x, %y#1)[^bb1] <{p = 1}> ({\n^bb0(%a: i32 loc(\"x\"), %b: (i32) -> f32):\n}, {}) {a, b = \"}\"} : (i32, i32) -> (i32, f32) loc(unknown)\n",
    "module @m attributes {a} {\n  func.func @f(%x: tensor<4xf32>) -> i32 {\n    %r = scf.for %i = %a to %b {\n    } else {\n    }\n    return %r : i32\n  ^bb1:\n  }\n}\n#map = affine_map<(d0) -> (d0)>\n!t = !x.y<\">\">\n",
    "a.b {} c.d [1, 2] (%x) \"s\" \"g\"() : () -> ()\n{-# dialect_resources: {} #-}\n",
];

/// True when the stream of units comes to the end of the text.
fn driver_accepts(text: &str) -> bool {
    let mut units = Units::new(text);
    loop {
        match units.next() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

fn agree(text: &str) -> Result<(), TestCaseError> {
    let text = blanked(text);
    prop_assert_eq!(Grammar::parse(Rule::file, &text).is_ok(), driver_accepts(&text), "{}", text);
    Ok(())
}

#[test]
fn seeds_are_accepted() {
    for seed in SEEDS {
        assert!(driver_accepts(seed), "{seed}");
        agree(seed).expect("both accept");
    }
}

#[test]
fn windows_do_not_change_what_is_accepted() {
    // Longer than the first window, with a unit longer than the window in the middle.
    let text = format!(
        "{}\"t\"() {{a = \"{}\"}} : () -> ()\n{}",
        SEEDS[0].repeat(600),
        "x".repeat(200_000),
        SEEDS[1].repeat(300)
    );
    agree(&text).expect("both accept");
    let broken = text.replacen("\"t\"()", "\"t\"(", 1);
    agree(&broken).expect("both refuse");
}

#[test]
fn a_window_may_end_anywhere() {
    // What is in custom form may be cut where its ops end, so the ends of generic units alone are always the same.
    let ends = |text: &str, window: usize| -> Vec<usize> {
        let mut units = Units::in_windows(text, window);
        let mut next = || units.next().unwrap_or_else(|_| panic!("a window of {window} bytes is refused: {text}"));
        std::iter::from_fn(|| next().map(|unit| unit.node.span().end)).collect()
    };
    let aliases = "#m = affine_map<(d0)[s0, s1] -> (d0 - s0)>\n#d = dense<[1, 2]> : tensor<2xi32>\n\
                   #l = loc(fused[\"a\", \"b\"])\n!t = !llvm.struct<(i32, ptr)>\n";
    let custom = "x.y \"a string, and \\\" more\" {a = 1} dense<1> : i32\n";
    // Far more than what is looked at before a window's end.
    let before = "#a = 1 : i32\n".repeat(500);
    let long = format!("#m = affine_map<(d0) -> (d0{})>\n", " + d0".repeat(2000));
    for (text, has_custom) in
        [(SEEDS[0], false), (aliases, false), (SEEDS[1], true), (SEEDS[2], true), (custom, true), (&*long, false)]
    {
        let text = format!("{before}{}{}", blanked(text), blanked(SEEDS[0]).repeat(2));
        let whole = ends(&text, text.len());
        for window in before.len()..before.len() + 200 {
            let parts = ends(&text, window);
            assert_eq!(parts.last(), whole.last(), "a window of {window} bytes");
            assert!(has_custom || parts == whole, "a window of {window} bytes: {text}");
        }
    }
}

proptest! {
    #[test]
    fn damaged_texts_are_judged_alike(
        seed in 0..SEEDS.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), "[ -~\n]{0,2}", 0usize..3), 0..4),
    ) {
        let mut text: Vec<char> = SEEDS[seed].repeat(2).chars().collect();
        for (place, insert, remove) in damage {
            let at = place.index(text.len());
            let end = (at + remove).min(text.len());
            text.splice(at..end, insert.chars());
        }
        agree(&text.into_iter().collect::<String>())?;
    }
}
