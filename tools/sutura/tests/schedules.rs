//! Schedules as text: the commands of `docs/schedules.md`, and files that do not fit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lines of the page's blocks for a shell, and whether they are to fail.
fn commands(page: &str) -> Vec<(String, bool)> {
    let (mut commands, mut fails) = (Vec::new(), None);
    for line in page.lines() {
        match line {
            "```sh" => fails = Some(false),
            "```sh-fails" => fails = Some(true),
            "```" => fails = None,
            _ => commands.extend(fails.map(|fails| (line.to_owned(), fails))),
        }
    }
    commands
}

/// A folder with the model of the page, its input and what comes of it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (from, to) in
        [("mlp.onnx", "model.onnx"), ("b64/x.npy", "x.npy"), ("b64/probabilities.npy", "probabilities.npy")]
    {
        fs::copy(repository().join("examples/mlp").join(from), folder.path().join(to)).expect("the example is there");
    }
    folder
}

/// Runs a line of shell with the tools of this build.
fn shell(line: &str, folder: &Path) -> Output {
    let tools = Path::new(env!("CARGO_BIN_EXE_sutura")).parent().expect("it lies in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(tools).chain(std::env::split_paths(&path));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("NO_COLOR", "1");
    command.env("PATH", std::env::join_paths(paths).expect("a path")).output().expect("there is a shell")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Writes the schedules of the model, and gives them back with what `change` makes of them.
fn with_schedules(folder: &Path, change: impl Fn(String) -> String) -> Output {
    let emitted = shell("sutura compile model.onnx --emit=schedule -o s.mlir", folder);
    assert!(emitted.status.success(), "{}", said(&emitted));
    let text = fs::read_to_string(folder.join("s.mlir")).expect("it was written");
    fs::write(folder.join("s.mlir"), change(text)).expect("it can be written");
    shell("sutura compile model.onnx --schedule s.mlir -o m.sutura", folder)
}

#[test]
fn the_page_is_true() {
    let (folder, page) = (folder(), fs::read_to_string(repository().join("docs/schedules.md")).expect("the page"));
    let commands = commands(&page);
    assert!(commands.len() >= 7 && commands.iter().any(|(_, fails)| *fails), "{commands:?}");
    for (line, fails) in commands {
        let output = shell(&line, folder.path());
        match fails {
            false => assert!(output.status.success(), "`{line}`: {}", said(&output)),
            true => {
                assert_eq!(output.status.code(), Some(3), "`{line}`: {}", said(&output));
                assert!(said(&output).contains("has a schedule that is refused"), "{}", said(&output));
            }
        }
    }
    // What the page shows of the file stands in one.
    let shown = page.split("```mlir\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of IR");
    shell("sutura compile model.onnx --emit=schedule -o again.mlir", folder.path());
    let written = fs::read_to_string(folder.path().join("again.mlir")).expect("it was written");
    shown.lines().for_each(|line| assert!(written.contains(line), "`{line}` is not in\n{written}"));
}

#[test]
fn a_file_as_it_was_written_changes_nothing() {
    let folder = folder();
    let given = with_schedules(folder.path(), |text| text);
    assert!(given.status.success() && said(&given).contains("3 regions run as `s.mlir` says"), "{}", said(&given));
    shell("sutura compile model.onnx --emit=gir -o a.mlir", folder.path());
    shell("sutura compile model.onnx --schedule s.mlir --emit=gir -o b.mlir", folder.path());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("it was written");
    assert_eq!(read("a.mlir"), read("b.mlir"));
    // Of a program that is stitched already, and beside the other stages.
    shell("sutura compile model.onnx --emit=fusion -o f.mlir", folder.path());
    let again = shell("sutura compile f.mlir --emit=schedule -o s2.mlir --emit-dir all", folder.path());
    assert!(again.status.success(), "{}", said(&again));
    assert_eq!(read("all/4-schedule.mlir"), read("s2.mlir"));
    for file in ["s.mlir", "s2.mlir"] {
        let given = shell(&format!("sutura compile f.mlir --schedule {file} -o m.sutura"), folder.path());
        assert!(given.status.success() && said(&given).contains("3 regions run"), "{}", said(&given));
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let folder = folder();
    type Change = fn(String) -> String;
    let cases: [(Change, i32, &str); 6] = [
        (|_| String::new(), 1, "`s.mlir` has a schedule for no region of the program"),
        (|text| text[..text.len() / 2].to_owned(), 1, "error"),
        (|_| "module { func.func private @f() }".to_owned(), 1, "is no schedule, and the file is to hold nothing else"),
        (|text| text.replace("region \"", "region \"x"), 1, "has a schedule for no region of the program"),
        (|text| text.replace("loop d0 by", "loop d9 by"), 3, "'d9' is no dim of the region"),
        (|text| text.replace(" by 4 { contract ", " { place "), 3, "which was packed, and is no contraction"),
    ];
    for (i, (change, code, words)) in cases.into_iter().enumerate() {
        let output = with_schedules(folder.path(), change);
        assert_eq!(output.status.code(), Some(code), "case {i}: {}", said(&output));
        assert!(said(&output).contains(words), "case {i}: no `{words}` in {}", said(&output));
        assert!(!folder.path().join("m.sutura").exists(), "case {i} wrote an artifact");
    }
    // An algorithm twice, and one that nobody has.
    let twice = with_schedules(folder.path(), |text| {
        let at = text.find("  schedule.region").expect("it has some");
        let end = text[at..].find("\n  >\n").expect("it ends") + at + 5;
        format!("{}{}{}", &text[..end], &text[at..end], &text[end..])
    });
    assert!(twice.status.code() == Some(1) && said(&twice).contains("is a second schedule"), "{}", said(&twice));
    let unused = with_schedules(folder.path(), |text| text.replacen("region \"", "region \"x", 1));
    assert!(unused.status.success() && said(&unused).contains("its schedule is not used"), "{}", said(&unused));
    let low = "sutura compile model.onnx --emit=gir -o g.mlir && sutura compile g.mlir --schedule s.mlir -o l.sutura";
    let low = shell(low, folder.path());
    assert!(low.status.code() == Some(2) && said(&low).contains("made of kernels already"), "{}", said(&low));
    let absent = shell("sutura compile model.onnx --schedule absent.mlir -o l.sutura", folder.path());
    assert!(absent.status.code() == Some(5) && said(&absent).contains("absent.mlir"), "{}", said(&absent));
}

/// What is compiled to be run takes schedules, and what is compiled already does not.
#[test]
fn commands_that_run_models_take_schedules() {
    let folder = folder();
    let at = folder.path();
    let made = with_schedules(at, |text| text.replace("// Regions", "// regions"));
    assert!(made.status.success(), "{}", said(&made));
    let inputs = "-i x=@x.npy --expected probabilities=@probabilities.npy";
    let ran = shell(&format!("sutura run model.onnx --schedule s.mlir {inputs}"), at);
    assert!(ran.status.success(), "{}", said(&ran));
    fs::write(at.join("none.mlir"), "module {}").expect("it can be written");
    for (command, code, words) in [
        (format!("sutura run model.onnx --schedule none.mlir {inputs}"), 1, "has a schedule for no region"),
        (format!("sutura run model.onnx --schedule absent.mlir {inputs}"), 5, "absent.mlir"),
        (format!("sutura run m.sutura --schedule s.mlir {inputs}"), 2, "--schedule is for a model that is compiled"),
        (format!("sutura run m.sutura --no-fusion {inputs}"), 2, "--no-fusion is for a model that is compiled"),
        ("sutura bench m.sutura --schedule s.mlir --seconds 1".to_owned(), 2, "--schedule is for a model"),
        ("sutura bench model.onnx --schedule none.mlir --seconds 1".to_owned(), 1, "has a schedule for no region"),
        ("sutura check model.onnx --schedule none.mlir".to_owned(), 1, "has a schedule for no region"),
        ("sutura check model.onnx --schedule s.mlir".to_owned(), 0, ""),
        (format!("sutura run model.onnx --schedule s.mlir --dump-values {inputs}"), 2, "--dump-values makes regions"),
    ] {
        let output = shell(&command, at);
        let said = said(&output);
        assert!(output.status.code() == Some(code) && said.contains(words), "{command}: {:?} {said}", output.status);
    }
}

/// A product of `M` rows, with what follows it, as a model of its own.
fn product(depth: usize, columns: usize) -> String {
    let (left, right) =
        (format!("tensor<?x{depth}xf32, #dyn.shape<[M, {depth}]>>"), format!("tensor<{depth}x{columns}xf32>"));
    let result = format!("tensor<?x{columns}xf32, #dyn.shape<[M, {columns}]>>");
    format!(
        "#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%x: {left}, %w: {right}) -> {result} {{
  %M = dyn.symbol \"M\" : index
  %p = graph.compute ins(%x, %w : {left}, {right}) -> {result} {{combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]}} {{
  ^bb0(%l: f32, %r: f32):
    %v = arith.mulf %l, %r : f32
    graph.yield %v : f32
  }}
  return %p : {result}
}}
"
    )
}

/// What was found for one model is used for another one with other sizes.
#[test]
fn a_trace_serves_regions_with_the_same_roles() {
    let folder = folder();
    let at = folder.path();
    fs::write(at.join("small.mlir"), product(24, 40)).expect("it can be written");
    fs::write(at.join("large.mlir"), product(96, 130)).expect("it can be written");
    let emitted = shell("sutura compile small.mlir --emit=schedule -o small.s.mlir", at);
    assert!(emitted.status.success(), "{}", said(&emitted));
    let written = fs::read_to_string(at.join("small.s.mlir")).expect("it was written");
    let between = |start: &str| written.split(start).nth(1).and_then(|rest| rest.split('"').next()).expect("a name");
    let (algorithm, roles) = (between("schedule.region \""), between("roles \""));
    let trace = |edits: &str| {
        let text = format!("schedule.trace \"{algorithm}\" roles \"{roles}\" = #schedule.trace<{edits}>\n");
        fs::write(at.join("trace.mlir"), text).expect("it can be written");
    };
    trace("retile d0 of p:0 by 24");
    for model in ["small.mlir", "large.mlir"] {
        let traced = shell(&format!("sutura compile {model} --schedule trace.mlir --emit=schedule -o traced.mlir"), at);
        assert!(traced.status.success() && said(&traced).contains("1 regions run as"), "{}", said(&traced));
        let traced = fs::read_to_string(at.join("traced.mlir")).expect("it was written");
        assert!(traced.contains("loop d0 by 24 grid") && traced.contains(&format!("roles \"{roles}\"")), "{traced}");
        let made = shell(&format!("sutura compile {model} --schedule trace.mlir -o m.sutura"), at);
        assert!(made.status.success(), "{}", said(&made));
        // What is written of it is a schedule like any other.
        let again = shell(&format!("sutura compile {model} --schedule traced.mlir -o m.sutura"), at);
        assert!(again.status.success(), "{}", said(&again));
    }
    // The second product of another model has nothing behind it, either.
    let other = shell("sutura compile model.onnx --schedule trace.mlir -o m.sutura", at);
    assert!(other.status.success() && said(&other).contains("1 regions run as"), "{}", said(&other));
    fs::write(at.join("none.mlir"), "schedule.trace \"x\" roles \"y\" = #schedule.trace<>").expect("it can be written");
    let none = shell("sutura compile large.mlir --schedule none.mlir -o m.sutura", at);
    assert!(none.status.code() == Some(1) && said(&none).contains("a schedule for no region"), "{}", said(&none));
    trace("split d9 of p:0 by 5");
    let refused = shell("sutura compile large.mlir --schedule trace.mlir -o m.sutura", at);
    let why = "has a trace that is refused: edit 0, 'split d9 of p:0 by 5': no loop over d9 lies around stage 'p:0'";
    assert!(refused.status.code() == Some(3) && said(&refused).contains(why), "{}", said(&refused));
}
