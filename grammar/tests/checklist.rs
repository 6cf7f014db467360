//! Every builtin type, attribute and location, in good forms and bad ones: what is taken, and how it is printed, is what
//! `mlir-opt` takes and prints. `checklist.txt` has the forms and says how it is written.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use sutura_grammar::{ParseOptions, parse_module};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::{Context, Diagnostics, Registry};

/// What becomes of a form.
#[derive(Debug, PartialEq)]
enum Outcome<'l> {
    /// Printed so.
    Printed(&'l str),
    Refused,
}

/// A line of the list.
struct Form<'l> {
    text: &'l str,
    here: Outcome<'l>,
    upstream: Outcome<'l>,
}

fn forms() -> Vec<Form<'static>> {
    include_str!("checklist.txt").lines().filter(|line| !line.is_empty() && !line.starts_with("##")).map(form).collect()
}

fn form(line: &str) -> Form<'_> {
    let (mark, rest) = line.split_at(2);
    let (text, printed) = rest.split_once(" ==> ").unwrap_or((rest, rest));
    let good = || Outcome::Printed(location(printed).unwrap_or(printed));
    let (here, upstream) = match mark {
        "= " => (good(), good()),
        "! " => (Outcome::Refused, Outcome::Refused),
        "+ " => (good(), Outcome::Refused),
        "- " => (Outcome::Refused, good()),
        _ => panic!("a line begins with one of = ! + - and a blank: {line}"),
    };
    Form { text, here, upstream }
}

fn location(form: &str) -> Option<&str> {
    form.strip_prefix("@loc").map(str::trim_start)
}

/// An operation with the form.
fn program(form: &str) -> String {
    match location(form) {
        Some(location) => format!("\"t\"() : () -> () loc({location})"),
        None => format!("\"t\"() {{a = {form}}} : () -> ()"),
    }
}

/// The form in a printed line.
fn part(line: &str) -> &str {
    let line = line.trim_start().trim_start_matches("\"t\"()");
    let attr = line.strip_prefix(" {a = ").and_then(|rest| rest.strip_suffix("} : () -> ()"));
    let location = line.strip_prefix(" : () -> () loc(").and_then(|rest| rest.strip_suffix(')'));
    attr.or(location).unwrap_or_else(|| panic!("what is this? {line}"))
}

fn printed_here(form: &str) -> Option<String> {
    let cx = Context::new(Registry::default());
    let source = cx.sources().add("test.mlir".to_string(), program(form)).expect("a short text");
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let module = parse_module(&cx, &source, &options, &mut Diagnostics::default()).ok()?;
    let options = PrintOptions { local_scope: true, debug_info: location(form).is_some(), ..PrintOptions::generic() };
    let text = module_text(&cx, &module, &options);
    let line = text.lines().find(|line| line.trim_start().starts_with("\"t\"")).expect("the operation");
    Some(part(line).to_string())
}

#[test]
fn forms_are_taken_and_printed_as_the_list_says() {
    let mut wrong = Vec::new();
    for form in forms() {
        let printed = printed_here(form.text);
        let found = printed.as_deref().map_or(Outcome::Refused, Outcome::Printed);
        if found != form.here {
            wrong.push(format!("{}\n  wanted {:?}\n  found  {found:?}", form.text, form.here));
        }
    }
    assert!(wrong.is_empty(), "{} forms:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn mlir_opt_takes_and_prints_the_same() {
    let program = std::env::var("SUTURA_MLIR_OPT").unwrap_or_else(|_| "/usr/lib/llvm-22/bin/mlir-opt".to_string());
    for locations in [false, true] {
        let forms: Vec<Form<'_>> = forms().into_iter().filter(|f| location(f.text).is_some() == locations).collect();
        let Some((out, err)) = run_mlir_opt(&program, &forms, locations) else { return };
        let mut printed = out.lines().filter(|line| line.trim_start().starts_with("\"t\"")).map(part);
        let mut wrong = Vec::new();
        for (n, form) in forms.iter().enumerate() {
            // A form and the line that divides it from the next.
            let refused = err.contains(&format!("<stdin>:{}:", 2 * n + 1));
            let found = if refused { Outcome::Refused } else { Outcome::Printed(printed.next().unwrap_or_default()) };
            if found != form.upstream {
                wrong.push(format!("{}\n  listed   {:?}\n  mlir-opt {found:?}", form.text, form.upstream));
            }
        }
        assert!(wrong.is_empty(), "{} forms:\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// What `mlir-opt` says to all forms, one to a chunk; `None`, with the reason printed, when there is no `mlir-opt`.
fn run_mlir_opt(program_name: &str, forms: &[Form<'_>], locations: bool) -> Option<(String, String)> {
    let text: Vec<String> = forms.iter().map(|form| program(form.text)).collect();
    let args =
        ["--allow-unregistered-dialect", "--mlir-print-op-generic", "--mlir-print-local-scope", "--split-input-file"];
    let mut command = Command::new(program_name);
    command.args(args).args(locations.then_some("--mlir-print-debuginfo"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            sutura_skip::skipped(
                sutura_skip::Need::Llvm,
                format!("{program_name}: {error} (set SUTURA_MLIR_OPT to an mlir-opt 22)"),
            );
            return None;
        }
    };
    let mut input = child.stdin.take().expect("piped");
    let text = text.join("\n// -----\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("mlir-opt ends");
    writer.join().expect("no panic").expect("mlir-opt reads its input");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&output.stdout), text(&output.stderr)))
}
