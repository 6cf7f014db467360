//! Machines as files: the commands of `docs/describe-your-machine.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["tessera.mlir", "model.mlir"] {
        let from = repository().join("examples/describe-your-machine").join(name);
        fs::copy(from, folder.path().join(name)).expect("the example is there");
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

/// The blocks of a page that begin so.
fn blocks(page: &str, begin: &str) -> Vec<String> {
    let begin = format!("{begin}\n");
    let rest = page.split(&begin).skip(1);
    rest.filter_map(|rest| rest.split("```").next()).map(str::to_owned).collect()
}

#[test]
fn the_page_is_true() {
    let folder = folder();
    let page = fs::read_to_string(repository().join("docs/describe-your-machine.md")).expect("the page");
    let works: Vec<String> =
        blocks(&page, "```sh").iter().flat_map(|b| b.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    assert_eq!(works.len(), 3, "{works:?}");
    for line in works {
        let output = shell(&line, folder.path());
        assert!(output.status.success(), "`{line}`: {}", said(&output));
    }
    for line in blocks(&page, "```sh-fails") {
        let output = shell(&line, folder.path());
        assert_eq!(output.status.code(), Some(3), "`{line}`: {}", said(&output));
    }
    // What the page shows of machines stands in their files.
    let read = |path: &str| fs::read_to_string(repository().join(path)).expect("it is there");
    let files = [read("examples/describe-your-machine/tessera.mlir"), read("targets/x86_avx512_dot.mlir")];
    let shown = blocks(&page, "```mlir");
    assert_eq!(shown.len(), 2);
    for (block, file) in shown.iter().zip(&files) {
        assert!(file.contains(block.as_str()), "{block}");
    }
}

#[test]
fn what_a_unit_lacks_is_told() {
    let folder = folder();
    let text = fs::read_to_string(folder.path().join("tessera.mlir")).expect("it is there");
    // A scratchpad of 64 bytes holds no factor of 120.
    fs::write(folder.path().join("small.mlir"), text.replace("bytes = 65536", "bytes = 64"))
        .expect("it can be written");
    let output = shell("sutura compile model.mlir --target-file small.mlir --emit=gir -o k.mlir", folder.path());
    let words = "takes tiles of 160 bytes in space 'pad', which has room for 64";
    assert!(output.status.code() == Some(1) && said(&output).contains(words), "{}", said(&output));
    // A parameter without values.
    let open = text.replace("[8, 5]", "[M, 5]").replace("[8, 24]", "[M, 24]");
    fs::write(folder.path().join("open.mlir"), open).expect("it can be written");
    let output = shell("sutura compile model.mlir --target-file open.mlir --emit=gir -o k.mlir", folder.path());
    assert!(!output.status.success() && said(&output).contains("'extents' lists values"), "{}", said(&output));
}

#[test]
fn precision_is_a_choice_that_the_artifact_records() {
    let folder = folder();
    let copy = repository().join("examples/mlp/mlp.onnx");
    fs::copy(copy, folder.path().join("m.onnx")).expect("the example is there");
    for (flags, recorded) in [("", false), ("--precision full", false), ("--precision bf16", true)] {
        let line = format!(
            "sutura compile m.onnx --target x86_avx512_dot {flags} -o m.sutura && sutura inspect m.sutura --json"
        );
        let output = shell(&line, folder.path());
        assert!(output.status.success(), "{}", said(&output));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text.contains("\"precision\""), recorded, "{text}");
    }
    let output = shell("sutura compile m.onnx --precision f8 -o m.sutura", folder.path());
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    // What is past the level that an option changes would only be said to differ.
    for level in ["fusion", "gir"] {
        let output = shell(&format!("sutura compile m.onnx --emit={level} -o {level}.mlir"), folder.path());
        assert!(output.status.success(), "{}", said(&output));
        for flag in ["--precision bf16", "--fast-math", "--no-fusion"] {
            let output = shell(&format!("sutura compile {level}.mlir {flag} -o low.sutura"), folder.path());
            let words = format!("the program is at the {level} level already");
            assert!(output.status.code() == Some(2) && said(&output).contains(&words), "{}", said(&output));
            assert!(!folder.path().join("low.sutura").exists());
        }
    }
}

/// A product of matrices, whose factors are inputs.
const PRODUCT: &str = "#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
!x = tensor<?x64xf32, #dyn.shape<[rows, 64]>>
!y = tensor<?x48xf32, #dyn.shape<[rows, 48]>>
func.func @product(%x: !x, %w: tensor<64x48xf32>) -> !y {
  %y = graph.compute ins(%x, %w : !x, tensor<64x48xf32>) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#a, #b, #c]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  func.return %y : !y
}
";

/// Runs a line, which must end so and say so; what it said.
fn ends(line: &str, folder: &Path, (code, words): (i32, &str)) -> String {
    let output = shell(line, folder);
    let said = said(&output) + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(code) && said.contains(words), "`{line}`: {:?}\n{said}", output.status);
    said
}

/// The product in a folder, and what stands before a command there: for this machine as it is, and for one without products of
/// bf16. Beside it whether the machine has them.
fn product_on_machines() -> (tempfile::TempDir, Vec<(&'static str, bool)>) {
    let folder = folder();
    fs::write(folder.path().join("p.mlir"), PRODUCT).expect("it can be written");
    // In the place of the descriptions with the instruction.
    let text = fs::read_to_string(repository().join("targets/x86_avx512.mlir")).expect("it is built in");
    fs::create_dir(folder.path().join("without")).expect("it can be made");
    for name in ["x86_avx512_dot", "x86_amx"] {
        let text = text.replace("@x86_avx512 ", &format!("@{name} "));
        fs::write(folder.path().join(format!("without/{name}.mlir")), text).expect("it can be written");
    }
    let rounds = |machine: &str| {
        let told = ends(&format!("{machine} sutura target host"), folder.path(), (0, "intrinsic"));
        told.lines().any(|line| line.starts_with("intrinsic:") && line.contains("bf16"))
    };
    let machines = ["", "SUTURA_TARGET_PATH=without"].map(|machine| (machine, rounds(machine)));
    assert!(!machines[1].1, "the description has such products");
    (folder, machines.to_vec())
}

#[test]
fn what_runs_a_model_rounds_as_it_is_asked_to() {
    let (folder, machines) = product_on_machines();
    // What a factor is off by when it is rounded, all terms have; the sum of the rounded ones is exact.
    let given = "-i x=2x64xf32=1.001 -i w=64x48xf32=1";
    for (machine, rounds) in machines {
        let run = |flags: &str, expected: &str, code: i32| {
            let given = format!("{given} --rtol 0 --atol 1e-4 --expected result0=2x48xf32={expected}");
            ends(&format!("{machine} sutura run p.mlir {flags} {given}"), folder.path(), (code, ""));
        };
        for flags in ["", "--precision full", "--no-fusion --precision full"] {
            run(flags, "64.064", 0);
            run(flags, "64", 8);
        }
        run("--precision bf16", "64", if rounds { 0 } else { 8 });
        run("--precision bf16", "64.064", if rounds { 8 } else { 0 });
        // Values inside a model are those of the program that was asked for.
        let expected = if rounds { 64.0 } else { 64.064 };
        for command in ["run p.mlir --dump-values --dump-dir values", "debug values p.mlir -o values"] {
            ends(&format!("{machine} sutura {command} --precision bf16 {given}"), folder.path(), (0, ""));
            let index = fs::read_to_string(folder.path().join("values/index.json")).expect("it was written");
            let file = index.split("\"file\": \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a file");
            let tensor = sutura_runtime::npy::read(folder.path().join("values").join(file)).expect("it was written");
            let found = tensor.as_slice::<f32>().expect("floats")[0];
            assert!((found - expected).abs() < 1e-4, "{command}: {found}");
            fs::remove_dir_all(folder.path().join("values")).expect("it is there");
        }
    }
}

#[test]
fn commands_that_compile_have_the_same_options() {
    let (folder, machines) = product_on_machines();
    let commands = [
        "check p.mlir",
        "run p.mlir --dim rows=2",
        "bench p.mlir --dim rows=2 --seconds 0.01 --beside none",
        "debug values p.mlir --dim rows=2 -o inside",
        "compile p.mlir -o p.sutura",
    ];
    for command in commands {
        for (machine, rounds) in &machines {
            let stays = "a product stays as it is: the machine has no instruction for narrow numbers";
            let remark = if *rounds { "a product becomes one of factors of bf16" } else { stays };
            ends(&format!("{machine} sutura {command} --precision bf16 -vv"), folder.path(), (0, remark));
        }
        for (flag, words) in [
            ("--precision f8", "invalid value 'f8' for '--precision <PRECISION>'"),
            ("--fast-math=quick", "invalid value 'quick' for '--fast-math[=<FLAGS>]'"),
        ] {
            ends(&format!("sutura {command} {flag}"), folder.path(), (2, words));
        }
    }
    // An artifact is what it is: what is given for it is refused even where it is the default.
    for flag in ["--precision=full", "--precision=bf16", "--fast-math"] {
        let name = flag.split('=').next().expect("a name");
        let words = format!("{name} is for a model that is compiled, and this is an artifact");
        ends(&format!("sutura run p.sutura --dim rows=2 {flag}"), folder.path(), (2, &words));
        ends(&format!("sutura bench p.sutura --seconds 0.01 {flag}"), folder.path(), (2, &words));
    }
    // A rounding that is asked for is no error to look for.
    let numerics = "sutura debug numerics p.mlir --dim rows=2 --precision bf16";
    ends(numerics, folder.path(), (2, "unexpected argument '--precision'"));
}

/// A description with one more intrinsic and one more feature.
fn with(file: &str, (feature, intrinsic): (&str, &str)) -> String {
    let text = fs::read_to_string(repository().join("targets").join(file)).expect("it is built in");
    let text = text.trim_end().strip_suffix('}').expect("a machine ends so").to_owned();
    text.replacen("features = \"", &format!("features = \"+{feature},"), 1) + intrinsic + "}\n"
}

#[test]
fn a_further_instruction_is_one_declaration() {
    let folder = folder();
    let declared = |name: &str, emit: &str, lanes: i64, flag: &str| {
        let tiles =
            format!("!gir.tile<vec, i8, [M, 4]>, !gir.tile<vec, i8, [4, {lanes}]>, !gir.tile<vec, i32, [M, {lanes}]>");
        let [a, b, c] =
            [0, 1, 2].map(|i| tiles.split(">, ").nth(i).expect("three").trim_end_matches('>').to_owned() + ">");
        format!(
            "target.intrinsic @{name}(%a : {a}, %b : {b}, %c : {c}) emit(\"{emit}\") extents({{M = array<i64: 4, 3, 2, 1>}}) {{\n\
             %r = gir.contract %a, %b, %c{flag} : {tiles}\ngir.yield %r : {c}\n}}\n"
        )
    };
    let cases = [
        ("x86_avx2.mlir", "avxvnni", declared("d", "llvm.x86.avx512.vpdpbusd.256", 8, " {unsigned_lhs}"), "vpdpbusd"),
        ("aarch64.mlir", "dotprod", declared("d", "llvm.aarch64.neon.sdot.v4i32.v16i8", 4, ""), "sdot"),
    ];
    for (file, feature, intrinsic, instruction) in cases {
        fs::write(folder.path().join("more.mlir"), with(file, (feature, &intrinsic))).expect("it can be written");
        let output = shell("sutura compile model.mlir --target-file more.mlir --emit=asm -o m.s", folder.path());
        assert!(output.status.success(), "{file}: {}", said(&output));
        let code = fs::read_to_string(folder.path().join("m.s")).expect("it was written");
        assert!(code.contains(instruction) && !code.contains("vpmaddubsw"), "{file}: no {instruction}");
    }
}

#[test]
fn tiles_of_matrices_are_multiplied_by_amx() {
    let (folder, _) = product_on_machines();
    fs::copy(repository().join("examples/describe-your-machine/model.mlir"), folder.path().join("model.mlir"))
        .expect("it is there");
    let bytes = "-i x=37x17xi8=-3 -i w=17x50xi8=5 -i b=50xi32=7 --expected result0=37x50xi32=-248";
    let floats = "-i x=37x64xf32=1.001 -i w=64x48xf32=1 --atol 1e-4 --expected result0=37x48xf32=64";
    for (model, flags, instruction, given) in
        [("model.mlir", "", "tdpbssd", bytes), ("p.mlir", "--precision bf16", "tdpbf16ps", floats)]
    {
        let compile = format!("sutura compile {model} --target x86_amx {flags}");
        ends(&format!("{compile} --emit=asm -o m.s"), folder.path(), (0, ""));
        let code = fs::read_to_string(folder.path().join("m.s")).expect("it was written");
        for instruction in [instruction, "ldtilecfg", "tileloadd", "tilestored", "tilerelease"] {
            assert!(code.contains(instruction), "{model}: no {instruction}");
        }
        ends(&format!("{compile} -o m.sutura"), folder.path(), (0, ""));
        // They run where the processor has them, and are refused elsewhere.
        let output = shell(&format!("sutura run m.sutura {given}"), folder.path());
        let refused = output.status.code() == Some(3) && said(&output).contains("amx-tile");
        assert!(output.status.success() || refused, "{model}: {:?}\n{}", output.status, said(&output));
    }
}

#[test]
fn a_processor_without_the_instruction_is_told_by_name() {
    let folder = folder();
    // No processor has all of these.
    let text = fs::read_to_string(repository().join("targets/generic.mlir")).expect("it is built in");
    fs::write(
        folder.path().join("other.mlir"),
        text.replacen("features = \"", "features = \"+amx-complex,+avx512vp2intersect", 1),
    )
    .expect("it can be written");
    let output = shell("sutura compile model.mlir --target-file other.mlir -o m.sutura", folder.path());
    assert!(output.status.success(), "{}", said(&output));
    let output = shell("sutura run m.sutura -i x=2x17xi8=1 -i w=17x50xi8=1 -i b=50xi32=1", folder.path());
    assert!(!output.status.success() && said(&output).contains("this machine has no"), "{}", said(&output));
}
