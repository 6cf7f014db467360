//! `run`, `bench`, `verify` and `sutura-run`: models and artifacts on inputs that are given or made.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn tool(tool: &str, folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(tool);
    command.current_dir(folder).args(args).env("NO_COLOR", "1");
    command.output().expect("the tool was built")
}

fn sutura(folder: &Path, args: &[&str]) -> Output {
    tool(env!("CARGO_BIN_EXE_sutura"), folder, args)
}

/// `sutura-run`, which the workspace builds beside the tool.
fn sutura_run() -> String {
    let beside = Path::new(env!("CARGO_BIN_EXE_sutura")).with_file_name("sutura-run");
    assert!(beside.exists(), "{} is not built: build the workspace", beside.display());
    beside.display().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn succeeds(output: Output) -> String {
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn fails(output: Output, code: i32, words: &str) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(words), "no {words:?} in\n{said}");
}

/// The sum of two inputs with one size.
const MODEL: &str = "#i = affine_map<(d0, d1) -> (d0, d1)>
!t = tensor<?x3xf32, #dyn.shape<[n, 3]>>
func.func @sum(%x: !t, %y: !t) -> !t {
  %z = graph.compute ins(%x, %y : !t, !t) -> !t {iterators = #graph.iterators<[parallel, parallel]>, maps = [#i, #i, #i]} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    graph.yield %s : f32
  }
  func.return %z : !t
}
";

/// Twice an image of any size.
const IMAGE: &str = "#i = affine_map<(n, c, h, w) -> (n, c, h, w)>
!t = tensor<1x3x?x?xf32, #dyn.shape<[1, 3, h, w]>>
func.func @f(%x: !t) -> !t {
  %y = graph.compute ins(%x : !t) -> !t {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#i, #i]} {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    graph.yield %s : f32
  }
  func.return %y : !t
}
";

/// A folder with `sum.mlir` and `sum.sutura`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sum.mlir"), MODEL).unwrap();
    succeeds(sutura(folder.path(), &["compile", "sum.mlir", "-o", "sum.sutura", "-q"]));
    folder
}

fn json(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[test]
fn a_model_and_its_artifact_run_on_the_same_made_inputs() {
    let folder = folder();
    let of = |tool: &str, model: &str| {
        let args = ["run", model, "-q", "--dim", "n=2", "--seed", "5"];
        succeeds(super_tool(tool, folder.path(), &args))
    };
    let artifact = of("sutura", "sum.sutura");
    assert!(artifact.contains("f32[2, 3] = ["), "{artifact}");
    assert_eq!(artifact, of("sutura", "sum.mlir"));
    assert_eq!(artifact, of("sutura-run", "sum.sutura"));
    let other = succeeds(sutura(folder.path(), &["run", "sum.sutura", "-q", "--dim", "n=2", "--seed", "6"]));
    assert_ne!(artifact, other);
    // What is made is told.
    let told = sutura(folder.path(), &["run", "sum.sutura", "-i", "x=1x3xf32=1"]);
    assert!(text(&told.stderr).contains("input      y: f32[1, 3], made of elements from -1 to 1, seed 0"), "{told:?}");
}

fn super_tool(name: &str, folder: &Path, args: &[&str]) -> Output {
    match name {
        "sutura" => sutura(folder, args),
        _ => tool(&sutura_run(), folder, args),
    }
}

#[test]
fn ranges_of_sizes_make_a_run_for_each() {
    let folder = folder();
    let output = sutura(folder.path(), &["run", "sum.sutura", "--message-format=json", "--dim", "n=1..9:4"]);
    let results = json(&succeeds(output));
    let sizes: Vec<i64> = results.iter().map(|r| r["sizes"]["n"].as_i64().unwrap()).collect();
    assert_eq!(sizes, [4, 8]);
    assert!(results.iter().all(|r| r["result"] == "run" && r["outputs"][0]["dims"][1] == 3), "{results:?}");
    let run = |args: &[&str]| sutura(folder.path(), &[&["run", "sum.sutura"], args].concat());
    fails(run(&["--dim", "m=4"]), 2, "`m`, which is no size of the model's inputs");
    fails(run(&["--dim", "n=4", "-i", "x=2x3xf32=1"]), 2, "gives `n`, which is 2 by an input that is given");
    fails(run(&["--dim", "n=1..9999"]), 2, "more than 4096 runs");
    fails(run(&["--dim", "n=1..4", "--outputs", "o.npz"]), 2, "each of its runs would write the same files");
    fails(run(&["--dim", "n=x"]), 2, "expected NAME=MIN..MAX:DIVISOR");
    fails(run(&["--expected", "result0=1x3xf32=0", "-i", "x=1x3xf32=0"]), 2, "`y`");
}

#[test]
fn a_mismatch_has_its_own_exit_code_and_says_where() {
    let folder = folder();
    let run = |expected: &str, more: &[&str]| {
        let given = ["run", "sum.sutura", "-i", "x=2x3xf32=1", "-i", "y=2x3xf32=2", "--expected", expected];
        sutura(folder.path(), &[&given[..], more].concat())
    };
    succeeds(run(&format!("{OUTPUT}=2x3xf32=3"), &[]));
    let wrong = format!("{OUTPUT}=2x3xf32=3,3,3,3,4,3.5");
    let output = run(&wrong, &[]);
    assert!(text(&output.stdout).contains("2 beyond the tolerance, the first at [1, 1] (3 where 4 was expected)"));
    fails(output, 8, "differs from what was expected by more than allowed");
    succeeds(run(&wrong, &["--atol", "1"]));
    let output = run(&wrong, &["--message-format=json"]);
    assert_eq!(output.status.code(), Some(8));
    let result = &json(&text(&output.stdout))[0]["compared"][0];
    assert_eq!(
        (&result["beyond_tolerance"], &result["first_beyond"]["index"]),
        (&2.into(), &serde_json::json!([1, 1]))
    );
    let said = json(&text(&output.stderr));
    assert_eq!(said.last().unwrap()["kind"], "mismatch");
}

/// What the model's output is called.
const OUTPUT: &str = "result0";

#[test]
fn images_become_inputs_as_their_layout_says() {
    let folder = folder();
    std::fs::write(folder.path().join("image.mlir"), IMAGE).unwrap();
    succeeds(sutura(folder.path(), &["compile", "image.mlir", "-o", "image.sutura", "-q"]));
    std::fs::write(folder.path().join("a.png"), PNG).unwrap();
    let run = |input: &str| sutura(folder.path(), &["run", "image.sutura", "-q", "-i", input]);
    // A red pixel beside a grey one.
    assert!(succeeds(run("x=@a.png:nchw,scale=1/255")).contains("f32[1, 3, 1, 2] = [2.0, 0.4, 0.0, 0.4, 0.0, 0.4]"));
    fails(run("x=@a.png"), 2, "the image `a.png` has no layout");
    fails(run("x=@a.png:nhwc"), 1, "its `h` is 1, and the input's 3");
    fails(run("x=@a.png:nchw,blur"), 2, "`blur` is none of");
    std::fs::write(folder.path().join("b.png"), &PNG[..40]).unwrap();
    fails(run("x=@b.png:nchw"), 1, "is not decoded");
    fails(run("x=@c.jpg:nchw"), 5, "c.jpg");
}

/// A PNG of 2 by 1 pixels: (255, 0, 0), (51, 51, 51).
const PNG: &[u8] = include_bytes!("data/two_pixels.png");

#[test]
fn a_benchmark_is_a_table_an_object_and_a_picture() {
    let folder = folder();
    let args = ["bench", "sum.mlir", "--dim", "n=1..2", "--threads", "1,2", "--seconds", "0.01", "-o", "b.json"];
    let table = succeeds(sutura(folder.path(), &[&args[..], &["--plot", "b.svg"]].concat()));
    assert_eq!(table.lines().filter(|line| line.starts_with("n=")).count(), 4, "{table}");
    let written: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("b.json")).unwrap()).unwrap();
    let rows = written["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        let latency = &row["latency_ns"];
        let of = |name: &str| latency[name].as_u64().unwrap();
        assert!(of("least") <= of("p50") && of("p50") <= of("p99") && of("p99") <= of("most"), "{latency}");
        assert_eq!(row["memory_bytes"]["inputs"], 24 * row["sizes"]["n"].as_i64().unwrap());
    }
    let picture = std::fs::read_to_string(folder.path().join("b.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("sutura, 2 threads"), "{picture}");
    let bench = |args: &[&str]| sutura(folder.path(), &[&["bench", "sum.sutura", "--seconds", "0.01"], args].concat());
    fails(bench(&["--beside", "onnxruntime"]), 2, "needs the model");
    fails(bench(&["--beside", "onnxruntime", "--onnx", "x.onnx", "--python", "no-such-python"]), 5, "cannot be timed");
    fails(bench(&["--plot", "no/such/folder.svg"]), 5, "there is no folder");
    fails(bench(&["--threads", "0"]), 2, "expected a whole number");
}

#[test]
fn artifacts_are_verified() {
    let folder = folder();
    let path = folder.path().join("sum.sutura");
    assert!(succeeds(sutura(folder.path(), &["verify", "sum.sutura"])).starts_with("sum.sutura: sound; "));
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(folder.path().join("damaged.sutura"), bytes).unwrap();
    let both = tool(&sutura_run(), folder.path(), &["verify", "damaged.sutura", "sum.sutura"]);
    assert!(text(&both.stdout).contains("sum.sutura: sound"));
    fails(both, 4, "damaged.sutura");
    fails(tool(&sutura_run(), folder.path(), &["run", "sum.mlir"]), 4, "`sutura compile MODEL -o MODEL.sutura` makes");
}

#[test]
fn commands_speak_json() {
    let folder = folder();
    let results = |args: &[&str]| json(&succeeds(sutura(folder.path(), &[args, &["--message-format=json"]].concat())));
    for (args, result) in [
        (&["compile", "sum.mlir", "-o", "again.sutura"][..], "compile"),
        (&["check", "sum.mlir"], "check"),
        (&["inspect", "sum.sutura"], "inspect"),
        (&["verify", "sum.sutura"], "verify"),
        (&["target", "list"], "target"),
        (&["target", "host"], "target"),
        (&["devices"], "device"),
        (&["doctor"], "doctor"),
        (&["run", "sum.sutura"], "run"),
        (&["bench", "sum.sutura", "--seconds", "0.01"], "bench"),
    ] {
        let found = results(args);
        assert!(!found.is_empty() && found.iter().all(|object| object["result"] == result), "{args:?}: {found:?}");
    }
    let page = std::fs::read_to_string(repository().join("docs/json.md")).unwrap();
    let profile = results(&["run", "sum.sutura", "--profile", "--repeat", "2"]);
    assert!(profile[0]["profile"]["kernels"][0]["launches"].as_u64() >= Some(1), "{profile:?}");
    // Every field of these is on the page.
    for object in
        [&profile[0], &results(&["bench", "sum.sutura", "--seconds", "0.01"])[0], &results(&["target", "host"])[0]]
    {
        for field in object.as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{field}`")), "docs/json.md does not have `{field}`");
        }
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn shells_and_man_know_the_commands() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish"] {
        let script = succeeds(sutura(folder.path(), &["completions", shell]));
        assert!(script.contains("message-format") && script.contains("bench"), "{shell}");
    }
    succeeds(sutura(folder.path(), &["manual", "."]));
    let page = std::fs::read_to_string(folder.path().join("sutura-compile.1")).unwrap();
    assert!(page.contains(".TH sutura-compile 1") && page.contains("Exit codes"), "{page}");
    fails(sutura(folder.path(), &["manual", "no/such"]), 5, "no/such");
}

#[test]
fn a_pipe_hears_of_stages_only_when_it_asks() {
    let folder = folder();
    let said = |more: &[&str]| {
        let args = [&["compile", "sum.mlir", "-o", "again.sutura"][..], more].concat();
        text(&sutura(folder.path(), &args).stderr)
    };
    assert_eq!(said(&[]), "");
    assert!(said(&["-v"]).contains("codegen"));
}
