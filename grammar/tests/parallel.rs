//! Large files: what is read and printed does not depend on the number of threads.

mod common;

use std::fmt::Write as _;

use common::{context, parse_with};
use sutura_grammar::ParseOptions;
use sutura_ir::asm::print::{PrintOptions, module_text, write_module};

/// Functions with names, constants, dictionaries, aliases and locations of their own.
fn functions(count: usize, indent: &str) -> String {
    let mut text = String::new();
    for i in 0..count {
        let lines = format!(
            "t.fn @f{i} attributes {{n = {i} : i32, b = {{c = \"}}{{\"}}}} {{\n  %a = const {i} : i32\n  %named = add %a, %a : \
             i32 loc(#place)\n  \"u.v{}\"(%named) {{x = #shared, y = #own_{}}} : (i32) -> () loc(\"file\":{i}:1)\n}}\n",
            i % 50,
            i % 7,
        );
        lines.lines().for_each(|line| writeln!(text, "{indent}{line}").expect("a string grows"));
    }
    text
}

fn aliases() -> String {
    let own: String = (0..7).map(|i| format!("#own_{i} = {{w = {i} : i8}}\n")).collect();
    format!("#shared = [1, 2 : i32]\n{own}")
}

/// The print with locations, or the errors, on so many threads.
fn read(text: &str, threads: usize) -> Result<String, Vec<String>> {
    let cx = context();
    let options = ParseOptions { allow_unregistered: true, threads, ..ParseOptions::default() };
    let module = parse_with(&cx, text, &options)?;
    let all = PrintOptions { debug_info: true, ..PrintOptions::generic() };
    let in_order = module_text(&cx, &module, &all) + &module_text(&cx, &module, &PrintOptions::default());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    let mut written = Vec::new();
    pool.install(|| {
        for options in [all, PrintOptions::default()] {
            write_module(&cx, &module, &options, &mut written).expect("memory can be written to");
        }
    });
    assert_eq!(String::from_utf8_lossy(&written), in_order, "by {threads} threads");
    Ok(in_order)
}

/// What one thread reads, after checking that more read the same.
fn check(text: &str) -> Result<String, Vec<String>> {
    assert!(text.len() > 150_000, "large enough to be divided: {}", text.len());
    let alone = read(text, 1);
    assert_eq!(read(text, 3), alone);
    alone
}

#[test]
fn functions_of_a_file_and_of_modules() {
    let (aliases, functions) = (aliases(), functions(800, "  "));
    let place = "#place = loc(\"x\")\n";
    let texts = [
        format!("{aliases}{functions}{place}"),
        format!("{aliases}builtin.module {{\n{functions}}}\n{place}"),
        format!("{aliases}\"builtin.module\"() ({{\n{functions}}}) {{k}} : () -> ()\n{place}"),
        format!("{aliases}{functions}builtin.module @inner {{\n{functions}}}\n{place}"),
        format!("{aliases}builtin.module {{\n{functions}}}\nbuiltin.module {{\n{functions}}}\n{place}"),
    ];
    for text in texts {
        let printed = check(&text).unwrap_or_else(|errors| panic!("{errors:#?}"));
        assert!(printed.contains("@f799"), "all functions are there");
    }
}

#[test]
fn operations_that_need_each_other() {
    let (aliases, functions) = (aliases(), functions(450, ""));
    let others = [
        "%v = t.const 1 : i32\n\"u.w\"(%v) : (i32) -> ()\n",
        "\"u.w\"() {d = distinct[0]<1 : i8>} : () -> ()\n",
        "t.fn @late {\n  \"u.w\"() {d = distinct[3]<>} : () -> ()\n}\n",
        "\"u.w\"() ({\n}) : () -> ()\n",
    ];
    for other in others {
        let text = format!("{aliases}{functions}{other}{functions}#place = loc(\"x\")\n");
        check(&text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    }
}

#[test]
fn errors_are_those_of_one_thread() {
    let (aliases, functions) = (aliases(), functions(450, ""));
    let wrong = [
        "t.fn @wrong {\n  %b = add %a, %a : i32\n}\n",
        "t.fn @wrong {\n  %b = unknown %a : i32\n}\n",
        "}\n",
        "t.fn @wrong {\n",
        "#shared = 3 : i8\n",
        "{-# dialect_resources: 1 #-}\n",
        "t.fn @wrong {\n  \"u.w\"() {a = \"} : () -> ()\n}\n",
        "t.fn @wrong {\n  \"u.w\"() {a = #absent} : () -> ()\n}\n",
    ];
    for wrong in wrong {
        let text = format!("{aliases}{functions}{wrong}{functions}#place = loc(\"x\")\n");
        check(&text).expect_err(wrong);
    }
}
