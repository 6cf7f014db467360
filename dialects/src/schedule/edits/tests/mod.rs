//! Traces as text, and as edits of trees.

mod each;
mod random;

use sutura_grammar::{ParseOptions, parse_attr};
use sutura_ir::asm::print::attr_text;
use sutura_ir::ext::{DialectAttr, ParamValue};
use sutura_ir::{Attr, Context, Diagnostics, Registry};

use super::{Primitive, TraceAttr};
use crate::r#dyn::Poly;
use crate::schedule::{ScheduleDialect, TreeAttr};

fn context() -> Context {
    Context::new(Registry::default().with::<ScheduleDialect>())
}

fn read(cx: &Context, text: &str) -> Result<Attr, String> {
    let mut diags = Diagnostics::default();
    let source = cx.sources().add("t.mlir", text.to_owned()).expect("it is small");
    let attr = parse_attr(cx, &source, &ParseOptions::default(), &mut diags);
    attr.map_err(|_| diags.iter().next().expect("an error").message.clone())
}

fn tree<'c>(cx: &'c Context, text: &str) -> &'c TreeAttr {
    let attr = read(cx, &format!("#schedule.tree<{text}>")).unwrap_or_else(|said| panic!("{said}: {text}"));
    TreeAttr::of(cx, attr).expect("a tree")
}

fn trace<'c>(cx: &'c Context, text: &str) -> &'c TraceAttr {
    let attr = read(cx, &format!("#schedule.trace<{text}>")).unwrap_or_else(|said| panic!("{said}: {text}"));
    TraceAttr::of(cx, attr).expect("a trace")
}

fn written(cx: &Context, tree: &TreeAttr) -> String {
    attr_text(cx, cx.ext_attr(tree.clone()))
}

#[test]
fn each_example_is_read_as_it_is_written() {
    let cx = context();
    for info in Primitive::ALL {
        let read = trace(&cx, info.example);
        assert_eq!(read.edits[0].primitive.text(&cx), info.example);
        assert!(info.example.starts_with(info.word), "{}", info.example);
    }
    let shown = TraceAttr::DEF.description;
    let shown = shown.split("```").nth(1).and_then(|text| text.strip_prefix("mlir\n")).expect("an example").trim_end();
    assert_eq!(attr_text(&cx, read(&cx, shown).expect("it is read")), shown);
}

/// The text of the edits between two trees; they make the second one of the first.
fn between(cx: &Context, from: &str, to: &str) -> Option<String> {
    let (from, to) = (tree(cx, from), tree(cx, to));
    let found = TraceAttr::between(cx, from, to)?;
    assert_eq!(found.apply(cx, from).as_ref(), Ok(to));
    Some(found.edits.iter().map(|edit| format!("{:?} {}; ", edit.version, edit.primitive.text(cx))).collect())
}

#[test]
fn edits_between_trees() {
    let cx = context();
    let two = "version when [M - 4] { kernel { loop d0 by 8 grid { loop d1 by 4 { loop d1 { place e:0 } } } } }
        version { kernel { loop d0 grid { place e:0 } } kernel { loop d0 by 4 grid { loop d1 { place e:0 place q:1 } } } }";
    let to = two
        .replace("by 8", "by 2")
        .replace("by 4 { loop d1 {", "by 4 { loop d1 unroll 4 {")
        .replace("by 4 grid", "by 16 grid");
    let to = to.replace("} kernel", "} kernel threads 64");
    let wanted = "Some(0) retile d0 of e:0 by 2; Some(0) unroll d1.1 of e:0 by 4; None threads e:0 kernel 1 by 64; \
                  None retile d0 of e:0 kernel 1 by 16; ";
    assert_eq!(between(&cx, two, &to).as_deref(), Some(wanted));
    assert_eq!(between(&cx, two, two), None, "nothing differs");
    assert_eq!(between(&cx, two, &two.replace("place q:1", "place q:1 in l1")), None, "not a number of a loop");
    assert_eq!(between(&cx, two, &two.replace(" by 4 grid", " grid")), None, "no edit takes a number away");
    assert_eq!(between(&cx, two, "version { kernel { place e:0 } }"), None, "other versions");
}

#[test]
fn the_page_has_all_primitives() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schedules.md")).expect("the page");
    for info in Primitive::ALL {
        assert!(page.contains(&format!("| `{}` |", info.word)), "{}", info.word);
        assert!(page.contains(&format!("`{}`", info.example)), "{}", info.example);
    }
}

#[test]
fn sizes_of_guards_are_mapped() {
    let cx = context();
    let mut replaced = |size: &Poly| Ok::<_, ()>(size.add(&Poly::constant(1)));
    let attr = cx.ext_attr(trace(&cx, "version when [N - 4] bind d0 of p:0 to grid").clone());
    let mapped = crate::r#dyn::attr::map_sizes(&cx, attr, &mut replaced).unwrap();
    assert_eq!(mapped, cx.ext_attr(trace(&cx, "version when [N - 3] bind d0 of p:0 to grid").clone()));
    let mut endless = trace(&cx, "version when [N]").clone();
    let Primitive::Version(guard) = &mut endless.edits[0].primitive else { panic!("it is one") };
    guard.0[0] = Poly::constant(i64::MAX).add(&Poly::constant(1));
    let message = "a guard of the trace: a coefficient, a constant or a divisor of the size does not fit 64 bits";
    assert_eq!(endless.verify(&cx).unwrap_err(), message);
    let mut nothing = trace(&cx, "tensorize p:0 reorder d0 of p:0").clone();
    let Primitive::Reorder(names) = &mut nothing.edits[1].primitive else { panic!("it is one") };
    names.own.clear();
    assert_eq!(nothing.verify(&cx).unwrap_err(), "edit 1 names no loop, or no number of indices, parts or bytes");
}
