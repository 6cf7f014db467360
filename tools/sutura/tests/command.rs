//! The command as a user calls it: a program at the lowest level of IR becomes an artifact, runs, and is compared.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs `sutura` in `folder`.
fn sutura(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).args(args).env("NO_COLOR", "1");
    command.output().expect("the tool was built")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs `sutura`, which must succeed; its stdout.
fn succeeds(folder: &Path, args: &[&str]) -> String {
    let output = sutura(folder, args);
    assert!(output.status.success(), "{args:?}\n{}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

/// Runs `sutura`, which must fail with this exit code and these words on stderr.
fn fails(folder: &Path, args: &[&str], code: i32, words: &str) {
    let output = sutura(folder, args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{text}");
    assert!(text.contains(words), "{args:?}: no {words:?} in\n{text}");
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A folder with `rows.sutura` in it.
fn compiled() -> tempfile::TempDir {
    compiled_from("rows")
}

/// A folder with the artifact of a model.
fn compiled_from(model: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = data(&format!("{model}.mlir"));
    succeeds(folder.path(), &["compile", path.to_str().unwrap(), "-o", &format!("{model}.sutura")]);
    folder
}

#[test]
fn text_is_formatted_in_place_with_its_comments() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.mlir", "// about f\nfunc.func  @f(%size: i32) { return } // done\n");
    write("wrong.mlir", "func.func  @f(\n");
    fails(folder.path(), &["fmt", "--check", "a.mlir"], 1, "not everything is formatted");
    fails(folder.path(), &["fmt", "."], 1, "`./wrong.mlir` is not formatted: it is no valid program");
    fails(folder.path(), &["fmt", "-", "a.mlir"], 2, "give it alone");
    let text = std::fs::read_to_string(folder.path().join("a.mlir")).unwrap();
    assert_eq!(text, "// about f\nfunc.func @f(%size: i32) {\n  return\n} // done\n");
    assert_eq!(succeeds(folder.path(), &["fmt", "--check", "a.mlir"]), "");
}

/// Names of the files in a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_program_is_compiled_once_and_runs_at_every_shape() {
    let folder = compiled();
    let run = |args: &[&str]| succeeds(folder.path(), &[&["run", "rows.sutura"], args].concat());
    let text = run(&["-i", "x=2x4xf32=1,2,3,4,5,6,7,8", "-i", "mask=4xf32=0"]);
    assert!(text.contains("y: f32[2, 4] = [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0]"), "{text}");
    assert!(text.contains("s: f32[2] = [20.0, 52.0]"), "{text}");
    let quiet = run(&["-i", "x=2x4xf32=1", "-i", "mask=4xf32=0", "-q"]);
    assert!(!quiet.contains("latency") && quiet.contains("s: f32[2] = [8.0, 8.0]"), "{quiet}");
    // More than 100 columns: the other version.
    let text = run(&["-i", "x=3x200xf32=1", "-i", "mask=200xf32=0"]);
    assert!(text.contains("s: f32[3] = [200.0, 200.0, 200.0]"), "{text}");
    assert!(text.contains("y: f32[3, 200], 2 to 2, mean 2.0"), "{text}");
    // The last size at which the guard holds, on many threads and on one.
    for threads in ["1", "8"] {
        let text = run(&["-i", "64x100xf32=0.5", "-i", "100xf32=0", "--threads", threads, "--repeat", "3"]);
        assert!(text.contains("latency: ") && text.contains("s: f32[64], 100 to 100"), "{text}");
    }
    // No rows: nothing is launched.
    let text = run(&["-i", "x=0x4xf32=1", "-i", "mask=4xf32=0"]);
    assert!(text.contains("y: f32[0, 4] = []") && text.contains("s: f32[0] = []"), "{text}");
}

/// Numbers between -8 and 8 that look random.
fn numbers(count: usize) -> Vec<f32> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 20) as f32 - 8.0
    };
    (0..count).map(|_| next()).collect()
}

fn softmax(row: &[f32]) -> Vec<f64> {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exps: Vec<f64> = row.iter().map(|v| f64::from(v - most).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.iter().map(|e| e / sum).collect()
}

#[test]
fn tile_kernels_become_machine_code() {
    let folder = compiled_from("softmax");
    for (rows, cols) in [(1, 1), (3, 7), (1, 64), (2, 512), (2, 513), (1, 1000)] {
        let x = numbers(rows * cols);
        let y: Vec<f64> = x.chunks(cols).flat_map(softmax).collect();
        let spec = |name: &str, values: String| format!("{name}={rows}x{cols}xf32={values}");
        let text = |values: &mut dyn Iterator<Item = String>| values.collect::<Vec<_>>().join(",");
        let input = spec("x", text(&mut x.iter().map(f32::to_string)));
        let expected = spec("y", text(&mut y.iter().map(|v| (*v as f32).to_string())));
        let args = ["run", "softmax.sutura", "-i", &input, "--expected", &expected, "--atol", "1e-7", "--rtol", "2e-6"];
        succeeds(folder.path(), &args);
    }
}

#[test]
fn likely_sizes_have_kernels_of_their_own_and_others_run_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = data("softmax_graph.mlir");
    let model = path.to_str().unwrap();
    let gir = succeeds(folder.path(), &["compile", model, "-q", "--likely=cols=64,cols=7", "--emit=gir", "-o", "-"]);
    assert!(
        gir.contains("%cols : [64, 64]") && gir.contains("select if [cols - 64, -cols + 64], [cols - 7, -cols + 7]"),
        "{gir}"
    );
    succeeds(folder.path(), &["compile", model, "-q", "--likely=cols=64,cols=7", "-o", "softmax.sutura"]);
    for (rows, cols) in [(1, 64), (3, 7), (5, 64), (2, 65), (1, 1)] {
        let x = numbers(rows * cols);
        let y: Vec<f64> = x.chunks(cols).flat_map(softmax).collect();
        let text = |values: Vec<String>| values.join(",");
        let input = format!("x={rows}x{cols}xf32={}", text(x.iter().map(f32::to_string).collect()));
        let expected = text(y.iter().map(|v| (*v as f32).to_string()).collect());
        let expected = format!("result0={rows}x{cols}xf32={expected}");
        let args = ["run", "softmax.sutura", "-i", &input, "--expected", &expected, "--atol", "1e-7", "--rtol", "2e-6"];
        succeeds(folder.path(), &args);
    }
    let wrong = |likely: &str, words: &str| {
        fails(folder.path(), &["compile", model, "--likely", likely, "-o", "x.sutura"], 2, words);
    };
    wrong("K=3", "--likely gives `K`, which is no size of the model");
    wrong("cols", "expected NAME=VALUE");
    wrong("cols=99999999999", "it is 1 to 1000000");
    succeeds(folder.path(), &["compile", model, "-q", "--emit=gir", "-o", "gir.mlir"]);
    let late = ["compile", "gir.mlir", "--likely=cols=3", "-o", "x.sutura"];
    fails(folder.path(), &late, 2, "--likely comes too late");
}

#[test]
fn sizes_are_declared_by_flags_and_by_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = data("softmax_graph.mlir");
    let model = path.to_str().unwrap();
    std::fs::write(folder.path().join("dims"), "# of this model\n\nrows=2\ncols=8..64:8\n").unwrap();
    let compile = |more: &[&'static str]| [&["compile", model, "-q", "-o", "softmax.sutura"][..], more].concat();
    succeeds(folder.path(), &compile(&["--dims", "dims", "--dim", "rows=1..4"]));
    let said = succeeds(folder.path(), &["inspect", "softmax.sutura"]);
    assert!(said.contains("rows in [1, 4]") && said.contains("cols in [8, 64], multiples of 8"), "{said}");
    succeeds(folder.path(), &["run", "softmax.sutura", "-i", "x=4x64xf32=1"]);
    for (input, words) in [
        ("x=5x64xf32=1", "dimension `rows` is out of range: input `x` dimension 0 is 5, above 4"),
        ("x=4x9xf32=1", "dimension `cols` must be a multiple of 8, but input `x` dimension 1 is 9"),
    ] {
        fails(folder.path(), &["run", "softmax.sutura", "-i", input], 1, words);
    }
    // One value is a constant of the program.
    let graph = succeeds(folder.path(), &["compile", model, "-q", "--dims", "dims", "--emit=dyn", "-o", "-"]);
    assert!(graph.contains("%x: tensor<2x?xf32, #dyn.shape<[2, cols]>>"), "{graph}");
    let wrong = |more: &[&'static str], code, words: &str| fails(folder.path(), &compile(more), code, words);
    wrong(&["--dim", "col=3"], 2, "--dim gives `col`, which is no size of the model");
    wrong(&["--dim", "cols=3", "--dim", "cols=4"], 2, "--dim gives `cols` twice");
    wrong(&["--dim", "cols=9..4"], 2, "allows no value");
    wrong(&["--dim", "cols=0"], 2, "leaves no value: the model says cols=1..1000000:1");
    std::fs::write(folder.path().join("dims"), "rows=2\ncols\n").unwrap();
    wrong(&["--dims", "dims"], 1, "dims:2: expected NAME=MIN..MAX:DIVISOR");
    succeeds(folder.path(), &["compile", model, "-q", "--emit=gir", "-o", "gir.mlir"]);
    let late = ["compile", "gir.mlir", "--dim=cols=3", "-o", "x.sutura"];
    fails(folder.path(), &late, 2, "--dim comes too late");
}

#[test]
fn a_size_that_one_function_does_not_allow_is_a_wrong_flag() {
    let folder = tempfile::tempdir().unwrap();
    let function = |name: &str, range: &str| {
        format!(
            "func.func @{name}(%x: tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {{
               %n = dyn.symbol \"n\" {{range = {range}}} : index
               return %x : tensor<?xf32, #dyn.shape<[n]>>
             }}\n"
        )
    };
    let program = function("few", "[1, 8]") + &function("many", "[16, 64]");
    std::fs::write(folder.path().join("two.mlir"), program).unwrap();
    for command in [&["check", "two.mlir"][..], &["compile", "two.mlir", "-o", "x.sutura"]] {
        fails(folder.path(), &[command, &["-q", "--dim", "n=20"]].concat(), 2, "--dim");
    }
    assert_eq!(files(folder.path()), ["two.mlir"]);
}

#[test]
fn sizes_that_no_memory_holds_are_refused() {
    let folder = compiled_from("large");
    let run = |dims: &str| format!("x={dims}xf32=1");
    succeeds(folder.path(), &["run", "large.sutura", "-i", &run("0x3x5")]);
    let words = "the size in bytes of output `z` does not fit 63 bits";
    fails(folder.path(), &["run", "large.sutura", "-i", &run("0x2147483647x2147483647")], 1, words);
}

#[test]
fn results_are_written_and_compared() {
    let folder = compiled();
    let inputs = ["run", "rows.sutura", "-i", "x=1x2xf32=1,2", "-i", "mask=2xf32=0"];
    let run = |more: &[&'static str]| [&inputs[..], more].concat();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    succeeds(folder.path(), &run(&["-o", "out", "-o", "s=@sums.npy"]));
    assert_eq!(files(&folder.path().join("out")), ["s.npy", "y.npy"]);
    let text = succeeds(folder.path(), &run(&["--expected", "y=@out/y.npy"]));
    assert!(text.contains("y: max abs error 0"), "{text}");
    succeeds(folder.path(), &run(&["--expected", "s=1xf32=6.5", "--atol", "0.6"]));
    fails(folder.path(), &run(&["--expected", "s=1xf32=7"]), 8, "`s` differs from what was expected");
    fails(folder.path(), &run(&["--expected", "z=1xf32=7"]), 2, "no expected output `z`");
    fails(folder.path(), &run(&["-o", "nowhere"]), 2, "neither a folder nor");
    fails(folder.path(), &run(&["-o", "s=@no/such/folder/s.npy"]), 5, "cannot write");
}

#[test]
fn wrong_shapes_are_told_in_the_words_of_the_model() {
    let folder = compiled();
    let fails_with = |inputs: &[&str], code: i32, words: &str| {
        let mut args = vec!["run", "rows.sutura"];
        inputs.iter().for_each(|input| args.extend(["-i", input]));
        fails(folder.path(), &args, code, words);
    };
    let mask = "mask=4xf32=0";
    let words = "dimension `cols` is inconsistent: input `mask` dimension 0 is 6, but input `x` dimension 1 is 4";
    fails_with(&["x=2x4xf32=1", "mask=6xf32=0"], 1, words);
    let words =
        "dimension `batch` is out of range: input `x` dimension 0 is 65, above 64; the model was compiled for [0, 64]";
    fails_with(&["x=65x4xf32=1", mask], 1, words);
    fails_with(&["x=2x302xf32=1", "mask=302xf32=0"], 1, "is 302, above 300");
    fails_with(&["x=2x0xf32=1", "mask=0xf32=0"], 1, "is 0, below 1");
    fails_with(&["x=2x5xf32=1", "mask=5xf32=0"], 1, "dimension `cols` must be a multiple of 2, but");
    fails_with(&["x=2x4xf32=1", "masc=4xf32=0"], 2, "did you mean `mask`?");
    fails_with(&["x=2x4xi32=1", mask], 1, "element type i32");
    fails_with(&["x=4xf32=1", mask], 1, "rank 1");
}

#[test]
fn artifacts_say_what_they_are() {
    let folder = compiled();
    let text = succeeds(folder.path(), &["inspect", "rows.sutura"]);
    for line in [
        "rows(x: f32[batch, cols], mask: f32[cols]) -> (y: f32[batch, cols], s: f32[batch])",
        "dimension  cols in [1, 300], multiples of 2",
        "dimension  batch in [0, 64], likely [8]",
        "kernel     sum if -cols + 100 is at least 0: ReduceSum_1",
        "constants  1 of 4 bytes",
        "source     blake3:",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&succeeds(folder.path(), &["inspect", "--json", "rows.sutura"])).unwrap();
    assert_eq!((&json["model"], &json["tool"]["name"]), (&"rows".into(), &"sutura".into()));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let (a, b) = (compiled(), compiled());
    let read = |folder: &tempfile::TempDir| std::fs::read(folder.path().join("rows.sutura")).unwrap();
    assert!(read(&a) == read(&b));
}

#[test]
fn every_stage_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let model = data("rows.mlir");
    let model = model.to_str().unwrap();
    let emit = |stage: &str| succeeds(folder.path(), &["compile", model, &format!("--emit={stage}")]);
    let mlir = emit("mlir");
    assert!(mlir.contains("\"func.func\"") && mlir.contains("sutura_run") && !mlir.contains("rt."), "{mlir}");
    assert!(emit("llvm").contains("llvm.func"));
    assert!(emit("llvm-ir").contains("define"));
    assert!(emit("asm").contains("sutura_shapes:"));
    fails(folder.path(), &["compile", model, "--emit=graph"], 2, "is at the gir level already");
    fails(folder.path(), &["compile", model, "--emit=obj"], 2, "the output is missing");
    succeeds(folder.path(), &["compile", model, "--emit=obj", "-o", "rows.o"]);
    succeeds(folder.path(), &["compile", model, "--emit=so", "-o", "host.so", "--emit-dir", "all"]);
    assert_eq!(files(folder.path()), ["all", "host.so", "rows.o"]);
    let all = ["10-obj.o", "11-host.so", "6-mlir.mlir", "7-llvm.mlir", "8-llvm-ir.ll", "9-asm.s"];
    assert_eq!(files(&folder.path().join("all")), all);
    // What was written is read again.
    std::fs::write(folder.path().join("low.mlir"), &mlir).unwrap();
    succeeds(folder.path(), &["compile", "low.mlir", "--emit=so", "-o", "again.so"]);
    fails(folder.path(), &["compile", "low.mlir", "-o", "low.sutura"], 1, "no program was lowered");
}

#[test]
fn devices_and_links_are_written_to_and_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let model = data("rows.mlir");
    let model = model.to_str().unwrap();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
    link("/dev/null", "nothing");
    link("real.sutura", "linked");
    std::fs::write(folder.path().join("real.sutura"), "old").unwrap();
    for name in ["nothing", "linked"] {
        succeeds(folder.path(), &["compile", model, "-o", name]);
        assert!(std::fs::symlink_metadata(folder.path().join(name)).unwrap().is_symlink());
    }
    succeeds(folder.path(), &["inspect", "real.sutura"]);
    succeeds(folder.path(), &["compile", model, "--emit=asm", "-o", "nothing"]);
    assert!(std::fs::symlink_metadata(folder.path().join("nothing")).unwrap().is_symlink());
}

#[test]
fn wrong_input_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("empty.mlir", b"");
    write("broken.mlir", b"\"builtin.module\"() ({\n  \"func.func\"(\n");
    write("noise.onnx", &[8, 7, 250, 1, 2, 3]);
    write("wrong.mlir", std::fs::read_to_string(data("rows.mlir")).unwrap().replace("@sum,", "@sun,").as_bytes());
    let before = files(folder.path());
    let compile = |model: &str, code: i32, words: &str| {
        fails(folder.path(), &["compile", model, "-o", "x.sutura"], code, words);
        assert_eq!(files(folder.path()), before);
    };
    compile("missing.mlir", 5, "cannot read `missing.mlir`");
    compile("empty.mlir", 1, "is empty");
    compile("broken.mlir", 1, "broken.mlir:");
    compile("noise.onnx", 1, "noise.onnx");
    compile("wrong.mlir", 1, "'sun' does not reference a symbol");
    let model = data("rows.mlir");
    let model = model.to_str().unwrap();
    fails(folder.path(), &["compile", model, "-o", "no/such/x.sutura"], 5, "no folder `no/such`");
    fails(folder.path(), &["compile", model, "-o", "-"], 2, "cannot go to stdout");
    fails(folder.path(), &["compile", model, "-o", "x", "--target", "x86_avx521"], 2, "did you mean `x86_avx512`?");
    fails(folder.path(), &["compile", model, "--emit=grpah"], 2, "graph");
    fails(folder.path(), &["compyle", model], 2, "compile");
    fails(folder.path(), &["run", "broken.mlir"], 1, "`broken.mlir` has 1 error");
    fails(folder.path(), &["inspect", "broken.mlir"], 4, "is not a Sutura artifact");
    fails(folder.path(), &["inspect", "missing.sutura"], 5, "cannot read");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn models_are_checked_alone() {
    let folder = tempfile::tempdir().unwrap();
    let model = data("rows.mlir");
    let text = succeeds(folder.path(), &["check", model.to_str().unwrap()]);
    assert!(text.contains("all supported on this machine"), "{text}");
    let text = succeeds(folder.path(), &["check", model.to_str().unwrap(), "--target", "generic,x86_avx2"]);
    assert!(text.contains("all supported on generic, x86_avx2"), "{text}");
    assert_eq!(files(folder.path()), [""; 0]);
}

/// `check` shows what a model uses, also of one that it refuses; `--json` the same for programs.
#[test]
fn what_a_model_uses_is_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let program = data("routines.mlir");
    let text = succeeds(folder.path(), &["check", program.to_str().unwrap()]);
    assert!(text.starts_with("operator"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("routine   sort/1, on the host only")), "{text}");
    let encoder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/encoder/encoder.onnx");
    let text = succeeds(folder.path(), &["check", encoder.to_str().unwrap(), "--json"]);
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&told["supported"], &told["inputs"][0]["shape"]), (&true.into(), &"f32[batch, seq, 256]".into()));
    let of = |name: &str| told["operators"].as_array().unwrap().iter().find(|o| o["name"] == name).unwrap().clone();
    let softmax = of("Softmax");
    assert_eq!((&softmax["version"], &softmax["becomes"][0]), (&13.into(), &"@softmax".into()));
    assert_eq!(of("MatMul")["nodes"], 8);
    let sizes: Vec<&str> = told["sizes"].as_array().unwrap().iter().filter_map(|s| s["name"].as_str()).collect();
    assert_eq!(sizes, ["batch", "seq"]);
    // What is refused stands in the table; the exit code says it too.
    std::fs::write(folder.path().join("strange.mlir"), "func.func @main(%x: tensor<4x!foo.bar>) { return }").unwrap();
    let output = sutura(folder.path(), &["check", "strange.mlir", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["supported"], output.status.success()), (&false.into(), false));
}

/// Every command that can fail in more than one way says how it ends, from the one table.
#[test]
fn help_has_the_exit_codes() {
    use sutura_ir::diagnostics::Exit;
    let folder = tempfile::tempdir().unwrap();
    for command in ["compile", "run", "inspect", "check", "fmt"] {
        let help = succeeds(folder.path(), &[command, "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, codes) = help.split_once("Exit codes: ").expect(command);
        for part in codes.trim_end_matches('.').split("; ") {
            let (code, meaning) = part.split_once(' ').unwrap();
            let known = Exit::ALL.iter().find(|(exit, _)| exit.code().to_string() == code);
            assert_eq!(known.map(|(_, meaning)| *meaning), Some(meaning), "{command}");
        }
    }
}

/// Programs that compute nothing: arguments, constants and results that are the same come out as they are.
#[test]
fn what_is_passed_on_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let program = "func.func @main(%x: tensor<?x2xf32>, %n: tensor<1xi64>)
        -> (tensor<1xi64>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<3xi64>) {
      %c = graph.constant dense<[1, 2, 3]> : tensor<3xi64>
      return %n, %x, %x, %c : tensor<1xi64>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<3xi64>
    }";
    std::fs::write(folder.path().join("pass.mlir"), program).unwrap();
    succeeds(folder.path(), &["compile", "pass.mlir", "-q", "-o", "pass.sutura"]);
    let text = succeeds(folder.path(), &["run", "pass.sutura", "-i", "2x2xf32=1,2,3,4", "-i", "1xi64=7"]);
    for words in ["i64[1] = [7]", "f32[2, 2] = [1.0, 2.0, 3.0, 4.0]", "i64[3] = [1, 2, 3]"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let empty = succeeds(folder.path(), &["run", "pass.sutura", "-i", "0x2xf32=1", "-i", "1xi64=7"]);
    assert!(empty.contains("f32[0, 2] = []"), "{empty}");
}

/// What a machine has no code for is refused in words, with the place, by `check` as by `compile`, and leaves nothing behind.
#[test]
fn what_has_no_machine_code_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let program = |from: &str, to: &str| {
        format!(
            "#map = affine_map<(d0) -> (d0)>
            func.func @main(%x: tensor<40x{from}>) -> tensor<40x{to}> {{
              %0 = graph.compute ins(%x : tensor<40x{from}>) -> tensor<40x{to}>
                  {{iterators = #graph.iterators<[parallel]>, maps = [#map, #map]}} {{
              ^bb0(%a: {from}):
                %1 = arith.{} %a : {from} to {to}
                graph.yield %1 : {to}
              }}
              return %0 : tensor<40x{to}>
            }}",
            if from == "f32" || from == "f64" { "truncf" } else { "extf" }
        )
    };
    let refused = |from: &str, to: &str, target: &str, words: &str| {
        std::fs::write(folder.path().join("cast.mlir"), program(from, to)).unwrap();
        for args in [&["check", "cast.mlir", "-q"][..], &["compile", "cast.mlir", "-q", "-o", "x.sutura"]] {
            fails(folder.path(), &[args, &["--target", target]].concat(), 3, words);
        }
        assert_eq!(files(folder.path()), ["cast.mlir"]);
    };
    refused("f32", "f6E2M3FN", "host", "is of tensors of f6E2M3FN, for which nothing is compiled");
    refused("f16", "f32", "generic", "f16 needs the feature `f16c`");
    // What has no instruction there, but a few of others that do the same.
    for (from, to) in [("f64", "f16"), ("f64", "bf16"), ("f32", "bf16")] {
        std::fs::write(folder.path().join("cast.mlir"), program(from, to)).unwrap();
        let output = sutura(folder.path(), &["check", "cast.mlir", "-q", "--target", "x86_avx2"]);
        assert!(output.status.success(), "{from} to {to}: {}", stderr(&output));
    }
}

#[test]
fn messages_can_be_json() {
    let folder = tempfile::tempdir().unwrap();
    let model = data("rows.mlir");
    let args = ["compile", model.to_str().unwrap(), "-o", "x.sutura", "--message-format=json", "--target", "generic"];
    let output = sutura(folder.path(), &args);
    let lines: Vec<serde_json::Value> =
        stderr(&output).lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let stages: Vec<&str> = lines.iter().filter_map(|l| l["stage"].as_str()).collect();
    assert_eq!(stages, ["read", "lower", "codegen", "link", "write"]);
}

/// Runs `sutura` where `$SUTURA_TARGET_PATH` names `path`.
fn with_target_path(folder: &Path, path: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).args(args).env("NO_COLOR", "1").env("SUTURA_TARGET_PATH", path);
    command.output().expect("the tool was built")
}

#[test]
fn descriptions_are_listed_and_printed() {
    let folder = tempfile::tempdir().unwrap();
    let list = succeeds(folder.path(), &["target", "list"]);
    assert!(["x86_avx512", "x86_avx2", "generic"].iter().all(|name| list.contains(name)), "{list}");
    assert!(list.contains("built in") && list.contains("(this machine)"), "{list}");
    assert!(succeeds(folder.path(), &["target", "host"]).contains("features:"));
    let shown = succeeds(folder.path(), &["target", "show", "x86_avx2"]);
    // What is printed is a description to start from.
    let own = shown.replace("@x86_avx2", "@mine");
    std::fs::write(folder.path().join("mine.mlir"), &own).unwrap();
    assert_eq!(succeeds(folder.path(), &["target", "show", "--target-file", "mine.mlir"]), own);
    assert!(succeeds(folder.path(), &["target", "list", "--target-file", "mine.mlir"]).contains("mine.mlir"));
    fails(folder.path(), &["target", "show", "x86_avx22"], 2, "did you mean `x86_avx2`?");
    fails(
        folder.path(),
        &["target", "show", "vax"],
        2,
        "the targets are aarch64, cpu_fibers, generic, gfx1100, gfx90a, gfx942, lavapipe, riscv64, sm_100, sm_80, sm_90, vulkan, x86_amx, x86_avx2",
    );
}

/// Runs `sutura devices` with a variable of the environment; stdout and stderr. It must succeed.
fn devices_with(variable: &str, value: &Path, args: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.arg("devices").args(args).env("NO_COLOR", "1").env("SUTURA_CUDA_LIBRARY", "").env("SUTURA_HIP_LIBRARY", "");
    let output = command.env(variable, value).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    (stdout(&output), stderr(&output))
}

#[test]
fn a_machine_without_gpus_has_its_processor() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("none.json");
    let (out, said) = devices_with("VK_DRIVER_FILES", &nowhere, &[]);
    assert!(out.starts_with("cpu ") && out.contains("\ncpu-fibers:0 "), "{out}");
    assert!(["cuda", "rocm", "vulkan"].iter().all(|backend| !out.contains(&format!("\n{backend}:"))), "{out}");
    for reason in ["no CUDA: SUTURA_CUDA_LIBRARY is empty", "no ROCm: SUTURA_HIP_LIBRARY is empty", "no Vulkan: "] {
        assert!(said.contains(reason), "{said}");
    }
    let (_, said) = devices_with("SUTURA_CUDA_LIBRARY", &nowhere, &[]);
    assert!(said.contains("or name its library in SUTURA_CUDA_LIBRARY"), "{said}");
    // A library that is none.
    std::fs::write(folder.path().join("libvulkan.so.1"), "").unwrap();
    let (out, said) = devices_with("LD_LIBRARY_PATH", folder.path(), &["--message-format=json"]);
    let all: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let cpu = &all[0];
    assert_eq!((all.len(), &cpu["id"], &all[1]["id"]), (2, &"cpu".into(), &"cpu-fibers:0".into()));
    assert!(cpu["threads"].as_u64().unwrap() > 0);
    assert!(said.contains("install Vulkan's loader"), "{said}");
}

#[test]
fn devices_are_listed_with_their_limits() {
    let found = sutura_runtime::device::Devices::find();
    let folder = tempfile::tempdir().unwrap();
    let text = succeeds(folder.path(), &["devices"]);
    let json = succeeds(folder.path(), &["devices", "--message-format=json"]);
    let json: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json.len(), found.all().len() + 1);
    for (device, json) in found.all().iter().zip(&json[1..]) {
        assert!(text.contains(&format!("\n{:<9} {}: ", device.id(), device.info().name)), "{text}");
        assert_eq!(json["id"], device.id());
        assert_eq!(json["limits"]["threads_per_group"], device.info().limits.threads_per_group);
    }
}

/// The target in the manifest of an artifact.
fn target_of(folder: &Path, artifact: &str) -> serde_json::Value {
    let json: serde_json::Value = serde_json::from_str(&succeeds(folder, &["inspect", "--json", artifact])).unwrap();
    json["target"].clone()
}

#[test]
fn the_machine_is_found_by_name_file_and_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let model = data("softmax.mlir");
    let model = model.to_str().unwrap();
    let output = sutura(path, &["compile", model, "-o", "named.sutura", "--target", "x86_avx2", "-v"]);
    assert!(
        stderr(&output).contains("target     x86_avx2 (x86_64-unknown-linux-gnu; +avx,+avx2,"),
        "{}",
        stderr(&output)
    );
    let named = target_of(path, "named.sutura");
    assert_eq!(named["description"], "x86_avx2");
    let hash = named["description_hash"].as_str().unwrap().to_owned();
    assert!(hash.starts_with("fnv1a64:"), "{hash}");

    let own =
        succeeds(path, &["target", "show", "x86_avx2"]).replace("@x86_avx2", "@mine").replace("gbps = 12", "gbps = 13");
    std::fs::create_dir(path.join("machines")).unwrap();
    std::fs::write(path.join("machines/mine.mlir"), &own).unwrap();
    succeeds(path, &["compile", model, "-o", "file.sutura", "--target-file", "machines/mine.mlir"]);
    let output = with_target_path(path, "machines", &["compile", model, "-o", "path.sutura", "--target", "mine"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(target_of(path, "file.sutura"), target_of(path, "path.sutura"));
    let file = target_of(path, "file.sutura");
    assert!(file["description"] == "mine" && file["description_hash"] != hash, "{file}");
    let listed = stdout(&with_target_path(path, "machines", &["target", "list"]));
    assert!(listed.contains("machines/mine.mlir"), "{listed}");
    fails(path, &["compile", model, "-o", "x", "--target", "mine"], 2, "there is no target `mine`");
}

#[test]
fn descriptions_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let model = data("softmax.mlir");
    let model = model.to_str().unwrap();
    let describe = |name: &str, inside: &str, features: &str| {
        let text =
            format!("target.machine @m {{triple = \"x86_64-linux\", features = \"{features}\"}} {{\n{inside}\n}}\n");
        std::fs::write(path.join(name), text).unwrap();
    };
    let dram = "target.space @dram {class = \"dram\", owner = \"all\"}";
    let near = "target.space @l1 {class = \"sram\", owner = \"unit\", bytes = 4096, cached}";
    let vec =
        |bytes: u32| format!("target.space @vec {{class = \"reg\", owner = \"unit\", bytes = 6144, vector = {bytes}}}");
    describe("no-dram.mlir", "", "");
    describe("few.mlir", dram, "");
    describe("odd.mlir", &format!("{dram}\n{near}\n{}", vec(48)), "");
    describe("feature.mlir", &format!("{dram}\n{near}\n{}", vec(32)), "+avx2,+avx22");
    std::fs::write(path.join("empty.mlir"), "module {}").unwrap();
    std::fs::write(path.join("broken.mlir"), "target.machine @m").unwrap();
    let refused = |file: &str, code: i32, words: &str| {
        fails(path, &["compile", model, "-o", "x.sutura", "--target-file", file], code, words);
        assert!(!path.join("x.sutura").exists());
    };
    refused("missing.mlir", 5, "cannot read `missing.mlir`");
    refused("empty.mlir", 1, "`empty.mlir` describes no machine");
    refused("empty.mlir", 1, "holds no target.machine");
    refused("broken.mlir", 1, "broken.mlir:1");
    refused("no-dram.mlir", 1, "has 0 spaces of class dram");
    refused("few.mlir", 1, "uses space 'l1', which the target @m does not have");
    refused("few.mlir", 1, "the program does not fit the machine `m`");
    refused("odd.mlir", 3, "has vectors of 48 bytes");
    refused("feature.mlir", 3, "avx22");
}

#[test]
fn a_machine_in_the_model_is_what_it_is_compiled_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let machine = succeeds(path, &["target", "show", "generic"]);
    let machine = machine.strip_prefix("module {\n").and_then(|m| m.trim_end().strip_suffix('}')).unwrap();
    let model = std::fs::read_to_string(data("softmax.mlir")).unwrap();
    std::fs::write(path.join("with.mlir"), format!("{machine}{model}")).unwrap();
    succeeds(path, &["compile", "with.mlir", "-o", "with.sutura"]);
    assert_eq!(target_of(path, "with.sutura")["description"], "generic");
    let mlir = succeeds(path, &["compile", "with.mlir", "--emit=mlir"]);
    // Two registers a step.
    assert!(mlir.contains("vector<8xf32>") && !mlir.contains("vector<16xf32>") && !mlir.contains("target."));
    // The same again is no contradiction, another one is.
    succeeds(path, &["compile", "with.mlir", "-o", "again.sutura", "--target", "generic"]);
    let other = ["compile", "with.mlir", "-o", "x", "--target", "x86_avx2"];
    fails(path, &other, 1, "is what the module is for, and @x86_avx2 is asked for");
    fails(path, &other, 1, "the module cannot be compiled for `x86_avx2`");
    std::fs::write(path.join("two.mlir"), format!("{machine}{}{model}", machine.replace("@generic", "@b"))).unwrap();
    fails(path, &["compile", "two.mlir", "-o", "x"], 1, "the module describes two machines, @generic and @b");
}

#[test]
fn a_model_may_be_constants_alone() {
    let folder = compiled_from("constant");
    succeeds(folder.path(), &["run", "constant.sutura", "--expected", "y=2xi64=17,4"]);
}

/// Of a damaged artifact `inspect` and `run` say the same, and nothing else.
#[test]
fn damage_is_found_by_every_command() {
    let folder = compiled();
    let path = folder.path().join("rows.sutura");
    let whole = std::fs::read(&path).unwrap();
    let inputs = ["-i", "x=2x4xf32=1", "-i", "mask=4xf32=0"];
    let inspect = || sutura(folder.path(), &["inspect", "rows.sutura"]);
    let run = |flags: &[&str]| sutura(folder.path(), &[&["run", "rows.sutura"], &inputs[..], flags].concat());
    let first = |text: &[u8]| whole.windows(text.len()).position(|w| w == text).unwrap();
    let places = [0, 20, 64, 200, first(b"\x7fELF") + 300, first(b"safetensors"), whole.len() - 5, whole.len() - 100];
    for place in places {
        let mut damaged = whole.clone();
        damaged[place] ^= 4;
        std::fs::write(&path, &damaged).unwrap();
        let (inspected, ran) = (inspect(), run(&[]));
        assert_eq!((inspected.status.code(), ran.status.code()), (Some(4), Some(4)), "byte {place}");
        assert_eq!(stderr(&inspected), stderr(&ran));
        assert_eq!((stdout(&inspected), stdout(&ran)), (String::new(), String::new()));
    }
    for wrong in [&whole[..whole.len() - 1], &[&whole[..], b"more"].concat(), &[&whole[..], &whole[..]].concat()] {
        std::fs::write(&path, wrong).unwrap();
        assert_eq!((inspect().status.code(), run(&[]).status.code()), (Some(4), Some(4)), "{} bytes", wrong.len());
    }
    std::fs::write(&path, &whole).unwrap();
    let trusted = run(&["--trust-artifact"]);
    let said = stderr(&trusted);
    assert!(trusted.status.success() && said.contains("warning: `rows.sutura` is trusted"), "{said}");
    assert!(!stderr(&run(&[])).contains("trusted"));
}

/// What is no file is refused at once, and no command waits for it.
#[test]
fn only_files_are_taken() {
    let folder = compiled();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = |args: &[&str], code: i32, words: &str| {
        let limited = Command::new("timeout")
            .args(["20", env!("CARGO_BIN_EXE_sutura")])
            .args(args)
            .current_dir(folder.path())
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        assert_eq!(limited.status.code(), Some(code), "{args:?}\n{}", stderr(&limited));
        assert!(stderr(&limited).contains(words), "{args:?}\n{}", stderr(&limited));
    };
    for (path, what) in [("pipe", "a pipe"), (".", "a folder"), ("/dev/zero", "a device")] {
        let words = format!("it is {what}, not a file");
        refused(&["run", path], 1, &words);
        refused(&["run", "--trust-artifact", path], 1, &words);
        refused(&["inspect", path], 4, &words);
        let tensor = format!("x=@{path}");
        refused(&["run", "rows.sutura", "-i", &tensor], 1, &words);
        refused(&["run", "rows.sutura", "--expected", &format!("y=@{path}")], 1, &words);
    }
    let devices = Command::new("timeout")
        .args(["60", env!("CARGO_BIN_EXE_sutura"), "devices"])
        .envs([("SUTURA_CUDA_LIBRARY", &pipe), ("SUTURA_HIP_LIBRARY", &pipe), ("VK_DRIVER_FILES", &pipe)])
        .output()
        .unwrap();
    let said = stderr(&devices);
    assert!(devices.status.success() && said.matches("is a pipe, not a file").count() == 3, "{said}");
}

/// Inputs that do not fit are refused by what they say of themselves, however many data they have.
#[test]
fn inputs_are_checked_before_they_are_read() {
    let folder = compiled();
    // A terabyte that the disk does not have.
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (65536, 4194304), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let path = folder.path().join("x.npy");
    std::fs::write(&path, &bytes).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(bytes.len() as u64 + (1 << 40)).unwrap();
    let start = std::time::Instant::now();
    fails(folder.path(), &["run", "rows.sutura", "-i", "x=@x.npy", "-i", "mask=4xf32=0"], 1, "dimension");
    fails(folder.path(), &["run", "rows.sutura", "-i", "x=65536x4194304xf32=0", "-i", "mask=4xf32=0"], 1, "dimension");
    assert!(start.elapsed() < std::time::Duration::from_secs(20));
}

/// What MLIR refuses is told by the place or the name that the operation has, not by a line of a text that nobody sees.
#[test]
fn what_mlir_refuses_is_told_by_its_place() {
    let folder = tempfile::tempdir().unwrap();
    for (place, words) in [
        ("", "m.mlir:4:16: error: "),
        (" loc(\"/conv/Alloc\")", "\n  `/conv/Alloc`: error: "),
        (" loc(\"model.py\":7:5)", "model.py:7:5: error: "),
        (" loc(\"/conv/Alloc\"(\"model.py\":7:5))", "model.py:7:5: error: "),
    ] {
        // The layout has two symbols, which have no values.
        let alloc = "%0 = memref.alloc(%n) : memref<?xf32, strided<[?], offset: ?>>";
        let program = format!("\n\nfunc.func @main(%n: index) {{\n          {alloc}{place}\n  return\n}}\n");
        std::fs::write(folder.path().join("m.mlir"), program).unwrap();
        for emit in ["obj", "llvm", "llvm-ir", "asm"] {
            fails(folder.path(), &["compile", "m.mlir", "-q", "--emit", emit, "-o", "x"], 1, words);
        }
    }
    assert_eq!(files(folder.path()), ["m.mlir"]);
}

/// The same for code of devices.
#[test]
fn what_mlir_refuses_of_device_code_is_told_by_its_place() {
    let folder = tempfile::tempdir().unwrap();
    // The structure has one field.
    let program = "gpu.module @m {
          gpu.func @k(%p: !llvm.ptr) kernel {
            %0 = llvm.getelementptr %p[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i32)> loc(\"/fc1/Gemm\")
            gpu.return
          }
        }
        func.func @main() {
          return
        }";
    std::fs::write(folder.path().join("m.mlir"), program).unwrap();
    for (target, emit) in [("sm_90", "ptx"), ("sm_90", "llvm-ir"), ("gfx942", "asm"), ("gfx942", "llvm-ir")] {
        let args = ["compile", "m.mlir", "-q", "--target", target, "--emit", emit, "-o", "x"];
        fails(folder.path(), &args, 1, "\n  `/fc1/Gemm`: error: 'llvm.getelementptr' op index 1 indexing a struct");
    }
    assert_eq!(files(folder.path()), ["m.mlir"]);
}
