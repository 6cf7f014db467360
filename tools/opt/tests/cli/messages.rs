//! Suggestions, codes, forms of messages, and what is said aloud.

use serde_json::Value;

use super::{MODULE, run};
use sutura_opt::Status;

#[test]
fn misspelt_names_get_suggestions() {
    let cases = [
        ("func.func @f(%x: f32) { %0 = arit.addf %x, %x : f32 return }", "did you mean `arith.addf`? ("),
        ("func.func @f(%x: i32) { %0 = arith.adi %x, %x : i32 return }", "did you mean `arith.addi`? ("),
        ("func.func @f(%x: i32) { %0 = \"arith.adi\"(%x, %x) : (i32, i32) -> i32 return }", "`arith.addi`? ("),
        ("func.fun @f() { return }", "did you mean `func.func`?"),
        ("fnc.func @f() { return }", "did you mean `func.func`?"),
        ("func.func @f(%lhs: i32) { %0 = arith.addi %lhs, %lsh : i32 return }", "did you mean `%lhs`?"),
        ("func.func @f() { cf.br ^exti\n^exit: return }", "did you mean `^exit`?"),
        ("func.func private @helper()\nfunc.func @f() { call @helpr() : () -> () return }", "did you mean `@helper`?"),
        ("func.func private @f(tensr<4xf32>)", "did you mean `tensor`?"),
        ("func.func private @f(!rt.bufer<f32, [4]>)", "did you mean `rt.buffer`?"),
        ("func.func private @f(!rtt.buffer<f32, [4]>)", "did you mean dialect `rt`?"),
        ("!row = i32\nfunc.func private @f(!rwo)", "did you mean `!row`?"),
        ("func.func @f(%x: i32) { %0 = arith.cmpi sltt, %x, %x : i32 return }", "did you mean `slt`?"),
        (
            "func.func @f(%x: i32) { %0 = \"arith.cmpi\"(%x, %x) <{predicat = 2 : i64}> : (i32, i32) -> i1 return }",
            "did you mean `predicate`?",
        ),
        (
            "func.func @f(%x: i32) { %0 = \"arith.addi\"(%x, %x) <{overflowFlag = 2}> : (i32, i32) -> i32 return }",
            "did you mean `overflowFlags`?",
        ),
    ];
    for (text, part) in cases {
        let done = run(&[], text);
        assert_eq!(done.status, Status::Input, "{text}");
        assert!(done.err.contains(part), "{text}\n{}", done.err);
    }
}

#[test]
fn wrong_arguments_get_suggestions() {
    for (args, part) in [
        (&["--canonicalise"][..], "did you mean `--canonicalize`?"),
        (&["--mlir-print-ir-afterall"], "did you mean `--print-ir-after-all`?"),
        (&["--pass-pipeline=builtin.module(canonicalise)"], "did you mean `canonicalize`?"),
        (&["--pass-pipeline=builtin.module(canonicalize{max-iteration=3})"], "did you mean `max-iterations`?"),
        (&["--canonicalize=region-simplify=normale"], "did you mean `normal`?"),
        (&["--pass-pipeline=builtin.modul(cse)"], "did you mean `builtin.module`?"),
        (&["--explain=E003"], "did you mean `E0003`?"),
        (&["--debug-only=greedy-rewrite"], "did you mean `greedy-rewriter`?"),
        (&["--load-dialect-plugin=x.so"], "link your dialect into a tool of your own"),
    ] {
        let done = run(args, MODULE);
        assert_eq!((done.status, done.out.as_str()), (Status::Usage, ""), "{args:?}");
        assert!(done.err.contains(part), "{args:?}\n{}", done.err);
    }
}

/// The statuses that `--help` documents.
#[test]
fn kinds_of_failure_have_statuses_of_their_own() {
    let syntax = run(&[], "func.func @f( {").status;
    let usage = run(&["--no-such-flag"], MODULE).status;
    let verification = run(&["--test-breaks"], MODULE).status;
    let unsupported = run(&["--test-unsupported"], MODULE).status;
    let internal = run(&["--test-panic"], MODULE).status;
    let all = [syntax, usage, verification, unsupported, internal].map(|s| s as u8);
    assert_eq!(all, [1, 2, 71, 3, 70]);
}

#[test]
fn a_pass_that_ran_on_nothing_is_said_and_strict_refuses_it() {
    let input = "module { func.func @f() { return } }";
    let pipeline = "--pass-pipeline=builtin.module(builtin.module(cse))";
    let done = run(&[pipeline], input);
    assert_eq!(done.status, Status::Ok);
    assert!(done.err.contains("ran on no operation: there is no 'builtin.module/builtin.module' in the input [W0101]"));
    assert_eq!(run(&[pipeline, "--strict"], input).status, Status::Input);
    let nested = "module { module { func.func @f() { return } } }";
    let done = run(&["--pass-pipeline=builtin.module(func.func(cse))"], nested);
    assert!(done.err.contains("it could run as `builtin.module(builtin.module(func.func(cse)))`"), "{}", done.err);
}

#[test]
fn passes_given_as_flags_are_nested_and_the_pipeline_is_said() {
    let nested = "module { module { func.func @f() { return } } }";
    let done = run(&["--test-functions"], nested);
    let expected = "note: passes run as --pass-pipeline='builtin.module(builtin.module(func.func(test-functions)))'\n";
    assert_eq!((done.status, done.err.as_str()), (Status::Ok, expected));
}

#[test]
fn casts_that_a_pipeline_leaves_are_said() {
    let cast = "func.func @f(%x: i64) -> index { %0 = builtin.unrealized_conversion_cast %x : i64 to index return %0 : index }";
    // What was there before is no work of the pipeline.
    assert_eq!(run(&["--cse"], cast).err, "");
    let done = run(&["--test-casts"], MODULE);
    assert_eq!(done.status, Status::Ok);
    assert!(done.err.contains("1 'builtin.unrealized_conversion_cast' operations are left"), "{}", done.err);
    assert!(done.err.contains("[W0103]"));
    assert_eq!(run(&["--test-casts", "--strict"], MODULE).status, Status::Input);
}

#[test]
fn flags_that_do_nothing_are_said() {
    for (args, part) in [
        (&["--print-ir-after-all"][..], "`--print-ir-…` does nothing: no pass is run [W0104]"),
        (&["--pass-statistics"], "`--pass-statistics` does nothing"),
        (&["--remarks"], "`--remarks` does nothing"),
        (&["--cse", "--print-ir-module-scope"], "`--print-ir-module-scope` does nothing"),
        (&["--cse", "--format=json"], "`--format` does nothing"),
    ] {
        let done = run(args, MODULE);
        assert_eq!(done.status, Status::Ok, "{args:?}");
        assert!(done.err.contains(part), "{args:?}\n{}", done.err);
        let strict = [args, &["--strict"]].concat();
        assert_eq!(run(&strict, MODULE).status, Status::Input, "{args:?}");
    }
}

#[test]
fn elements_that_were_left_out_do_not_become_code() {
    let constant = |value: &str| {
        format!(
            "func.func @f() -> tensor<4xf32> {{ %0 = graph.constant {value} : tensor<4xf32> return %0 : tensor<4xf32> }}"
        )
    };
    let printed = run(&["--elide-elementsattrs-if-larger=2"], &constant("dense<[1.0, 2.0, 3.0, 4.0]>"));
    assert!(printed.out.contains("dense_resource<__elided__>"), "{}", printed.out);
    // It is read, transformed and printed …
    assert_eq!(run(&["--canonicalize"], &printed.out).status, Status::Ok);
    // … but no code is made of it.
    let done = run(&["--convert-graph-to-gir"], &printed.out);
    assert_eq!(done.status, Status::Input);
    assert!(done.err.contains("were left out when it was printed [E0305]"), "{}", done.err);
}

#[test]
fn messages_as_json_are_one_object_a_line() {
    let text = "func.func @f(%x: i32) {\n  %0 = arith.adi %x, %x : i32\n  return\n}";
    let done = run(&["--message-format=json"], text);
    let lines: Vec<Value> = done.err.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let first = &lines[0];
    assert_eq!((&first["level"], &first["code"]), (&"error".into(), &"E0002".into()));
    assert_eq!(first["spans"][0]["line_start"], 2);
    assert_eq!(first["spans"][0]["column_start"], 8);
    assert!(first["children"][0]["message"].as_str().expect("text").contains("arith.addi"));
    assert!(first["rendered"].as_str().expect("text").contains("^^^^^^^^^"));
    // Wrong usage is said in the same form.
    let done = run(&["--message-format=json", "--frob"], text);
    let value: Value = serde_json::from_str(done.err.trim()).expect("JSON");
    assert_eq!(value["code"], "E0401");
    let done = run(&["--message-format=short"], text);
    assert_eq!(done.err, "<stdin>:2:8: error: custom op 'arith.adi' is unknown [E0002]\n");
}

#[test]
fn names_of_values_are_kept() {
    let text = "module {\n  func.func @f(%lhs: i32) -> i32 {\n    %twice = arith.addi %lhs, %lhs : i32\n    return %twice : i32\n  }\n}\n";
    assert_eq!(run(&[], text).out, text);
    assert_eq!(run(&["--verify-roundtrip"], text).out, text);
}

#[test]
fn no_implicit_module() {
    let text = "func.func @f() {\n  return\n}\n";
    let done = run(&["--no-implicit-module", "--pass-pipeline=func.func(cse)"], text);
    assert_eq!((done.status, done.out.as_str()), (Status::Ok, text));
    let two = run(&["--no-implicit-module"], &text.repeat(2).replacen("@f", "@g", 1));
    assert!(two.err.contains("source must contain a single top-level operation, found: 2"), "{}", two.err);
    let bare = run(&["--no-implicit-module"], "%0 = arith.constant 1 : i32");
    assert!(bare.err.contains("'arith.constant' op cannot be the top level"), "{}", bare.err);
}

#[test]
fn a_reader_that_goes_away_is_said_once() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
    for input in [MODULE.to_string(), "func.func private @f()\n".replace("@f", &format!("@{}", "f".repeat(100_000)))] {
        let mut err = Vec::new();
        let io = sutura_opt::Io {
            args: &[],
            stdin: &mut input.as_bytes(),
            cwd: "".as_ref(),
            stdout: &mut Closed,
            stderr: &mut err,
            color: false,
        };
        let passes = sutura_ir::pass::PassRegistry::new();
        let status = sutura_opt::Opt { registry: sutura_dialects::all, passes }.run(io);
        let said = String::from_utf8(err).expect("UTF-8");
        assert_eq!(status, Status::System);
        assert_eq!(said.matches("cannot write the output").count(), 1, "{said}");
    }
}

#[test]
fn elements_that_were_left_out_are_filled_when_asked_for() {
    let text = "func.func @f() -> (tensor<4xf32>, vector<2xi8>) {\n  \
                %0 = arith.constant dense_resource<__elided__> : tensor<4xf32>\n  \
                %1 = arith.constant {mark = dense_resource<__elided__> : tensor<2xi1>} dense_resource<__elided__> : vector<2xi8>\n  \
                return %0, %1 : tensor<4xf32>, vector<2xi8>\n}\n";
    let done = run(&["--fill-elided=zero"], text);
    assert_eq!(done.status, Status::Ok, "{}", done.err);
    assert!(done.err.contains("3 constants whose elements were left out are filled"), "{}", done.err);
    assert!(done.out.contains("dense<0.000000e+00> : tensor<4xf32>"), "{}", done.out);
    assert!(done.out.contains("dense<0> : vector<2xi8>") && !done.out.contains("__elided__"), "{}", done.out);
    let random = run(&["--fill-elided=rand"], text);
    assert!(!random.out.contains("__elided__") && random.out != done.out, "{}", random.out);
    assert_eq!(random.out, run(&["--fill-elided=rand"], text).out, "the same each time");
    let idle = run(&["--fill-elided=zero"], "module {}");
    assert!(idle.err.contains("`--fill-elided` does nothing") && idle.status == Status::Ok, "{}", idle.err);
    let huge = "func.func @f() {\n  %0 = arith.constant dense_resource<__elided__> : tensor<1000000x1000000xf32>\n  return\n}\n";
    let done = run(&["--fill-elided=rand"], huge);
    assert!(done.status == Status::Input && done.err.contains("cannot be filled"), "{}", done.err);
    assert_eq!(run(&["--fill-elided=zero"], huge).status, Status::Ok);
    assert_eq!(run(&["--fill-elided=ones"], "").status, Status::Usage);
}

#[test]
fn what_is_shown_can_be_less() {
    let twice = "func.func private @f()\nfunc.func private @f()\n";
    let all = run(&[], twice).err;
    assert!(all.contains("see existing symbol definition here"), "{all}");
    let less = run(&["--mlir-disable-diagnostic-notes"], twice);
    assert!(less.status == Status::Input && !less.err.contains("see existing"), "{}", less.err);
    let shown =
        |level: &str| run(&["--test-warns", &format!("--mlir-diagnostic-verbosity-level={level}")], "module {}").err;
    assert_eq!(shown("errors"), "");
    assert!(shown("warnings").contains("take care") && shown("remarks").contains("take care"));
    // They are counted all the same.
    let strict = run(&["--test-warns", "--mlir-diagnostic-verbosity-level=errors", "--strict"], "module {}");
    assert_eq!(strict.status, Status::Input);
    assert_eq!(run(&["--mlir-diagnostic-verbosity-level=all"], "").status, Status::Usage);
}

#[test]
fn what_is_not_there_can_be_turned_off() {
    assert_eq!(run(&["--mlir-print-op-on-diagnostic=false"], MODULE).status, Status::Ok);
    let done = run(&["--mlir-print-op-on-diagnostic"], MODULE);
    assert!(done.status == Status::Usage && done.err.contains("is not supported: messages show"), "{}", done.err);
}

#[test]
fn numbers_out_of_all_proportion_are_refused() {
    for flag in ["--threads=99999999", "--check-passes=1000000000000", "--threads=0", "--check-passes=0"] {
        let done = run(&["--cse", flag], MODULE);
        assert!(done.status == Status::Usage && done.err.contains("takes a number from 1 to "), "{flag}: {}", done.err);
    }
}

#[test]
fn what_is_left_must_be_of_the_expected_dialects() {
    let program =
        "func.func @f(%x: f32) -> f32 { %0 = arith.addf %x, %x : f32 %1 = arith.mulf %0, %x : f32 return %1 : f32 }";
    let done = run(&["--expect-legal=func, arith"], program);
    assert_eq!((done.status, done.err.as_str()), (Status::Ok, ""));
    assert!(done.out.contains("arith.mulf"));
    let done = run(&["--expect-legal=func"], program);
    assert_eq!((done.status, done.out.as_str()), (Status::NotLegal, ""));
    let message = "2 operations of the dialect 'arith' left; legal dialects: 'func'";
    assert!(done.err.contains(message) && done.err.contains("[E0413]"), "{}", done.err);
    let done = run(&["--expect-legal="], program);
    assert!(done.err.contains("2 operations of the dialect 'func' left"), "{}", done.err);
    assert!(done.err.contains("none but the module itself"), "{}", done.err);
    let done = run(&["--expect-legal=llmv"], program);
    assert_eq!(done.status, Status::Usage);
    assert!(done.err.contains("there is no dialect `llmv`; did you mean `llvm`?"), "{}", done.err);
    let expected = format!("// expected-error@+1 {{{{1 operation of the dialect 'llvm' left}}}}\n{}", "llvm.func @g()");
    assert_eq!(run(&["--expect-legal=func", "--verify-diagnostics"], &expected).status, Status::Ok);
}

#[test]
fn colours_are_a_matter_of_taste() {
    let wrong = "func.func @f() { foo.bar }";
    for (flag, coloured) in
        [("--color", true), ("--color=always", true), ("--color=never", false), ("--color=auto", false)]
    {
        let done = run(&[flag], wrong);
        assert_eq!(done.err.contains("\x1b["), coloured, "{flag}: {}", done.err);
    }
    assert!(run(&["--color=red"], wrong).err.contains("takes `auto`, `always` or `never`"));
}
