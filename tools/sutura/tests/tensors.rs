//! Tensors in files of all kinds, and tensors of doubles.

use std::path::Path;
use std::process::{Command, Output};

use sutura_runtime::{ElementType, Tensor};
use sutura_tensors::TensorFile;

/// Runs `sutura` in `folder`.
fn sutura(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).args(args).env("NO_COLOR", "1").output().expect("the tool was built")
}

/// Runs `sutura`, which must succeed; its stdout.
fn succeeds(folder: &Path, args: &[&str]) -> String {
    let output = sutura(folder, args);
    assert!(output.status.success(), "{args:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs `sutura`, which must fail with this exit code and these words on stderr.
fn fails(folder: &Path, args: &[&str], code: i32, words: &str) {
    let output = sutura(folder, args);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{text}");
    assert!(text.contains(words), "{args:?}: no {words:?} in\n{text}");
}

fn tensor<T: sutura_runtime::Element>(dims: &[i64], elements: &[T]) -> Tensor {
    Tensor::from_slice(dims, elements).expect("as many elements")
}

#[test]
fn tensors_come_from_and_go_to_files_of_several() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rows.mlir");
    succeeds(folder.path(), &["compile", rows.to_str().expect("UTF-8"), "-o", "rows.sutura"]);
    let run = |more: &[&'static str]| [&["run", "rows.sutura"], more].concat();
    let literals = ["-i", "x=1x2xf32=1,2", "-i", "mask=2xf32=0"];
    let with = |more: &[&'static str]| run(&[&literals[..], more].concat());
    let fails = |args: &[&str], code: i32, words: &str| fails(folder.path(), args, code, words);
    for file in ["all.npz", "all.safetensors"] {
        succeeds(folder.path(), &with(&["--outputs", file]));
        let text = succeeds(folder.path(), &with(&["--expected-outputs", file]));
        assert!(text.contains("y: max abs error 0") && text.contains("s: max abs error 0"), "{text}");
    }
    let text = succeeds(folder.path(), &with(&["--expected", "s=@all.npz", "--expected", "y=@all.safetensors:y"]));
    assert!(text.contains("y: max abs error 0") && text.contains("s: max abs error 0"), "{text}");
    succeeds(folder.path(), &with(&["-o", "s=@s.pb", "-o", "y=@y.safetensors"]));
    succeeds(folder.path(), &with(&["--expected-outputs", "s.pb", "--expected", "@y.safetensors"]));
    fails(&with(&["--expected", "y=@all.npz:z"]), 2, "`all.npz` has no tensor `z`; it has `y`, `s`");
    fails(&with(&["--outputs", "all.npy"]), 2, "`all.npy` cannot hold `s`: a .npy file holds one tensor");
    fails(&with(&["-o", "new.npz"]), 2, "`--outputs new.npz` writes all outputs into one file");
    fails(&with(&["-o", "s=@all.npz", "--outputs", "all.npz"]), 2, "two outputs go to `all.npz`");

    let (x, mask) = (tensor(&[1, 2], &[1.0f32, 2.0]), tensor(&[2], &[0.0f32, 0.0]));
    let write = |name: &str, tensors: &[(&str, &Tensor)]| {
        sutura_tensors::write(&folder.path().join(name), tensors).expect("a file");
    };
    write("in.npz", &[("mask", &mask), ("x", &x)]);
    write("x.safetensors", &[("other", &x)]);
    write("mask.pb", &[("mask", &mask)]);
    write("masc.npz", &[("masc", &mask)]);
    write("mask.npy", &[("mask", &mask)]);
    let same = ["--expected-outputs", "all.npz"];
    for inputs in [
        &["--inputs", "in.npz"][..],
        &["-i", "x=@x.safetensors", "--inputs", "mask.pb"],
        &["-i", "@in.npz", "-i", "mask=@in.npz:mask"],
    ] {
        succeeds(folder.path(), &run(&[inputs, &same].concat()));
    }
    fails(&run(&["--inputs", "masc.npz"]), 2, "`masc.npz`: the model has no input `masc`");
    fails(&run(&["--inputs", "mask.pb"]), 2, "input `x` is missing");
    fails(&with(&["--inputs", "mask.pb"]), 2, "input `mask` is given twice, also in `mask.pb`");
    fails(&run(&["--inputs", "mask.npy"]), 2, "`mask.npy` does not say what its tensor is called");
    fails(&run(&["-i", "x=@in.npz:y"]), 2, "has no tensor `y`");
    std::fs::write(folder.path().join("bad.npz"), b"PK").expect("a file");
    fails(&run(&["--inputs", "bad.npz"]), 1, "`bad.npz` is not a usable .npz file");
    fails(&run(&["--inputs", "in.npz", "--max-input", "9"]), 1, "more than the limit");
    let what = "`bf16.npz` cannot hold `y`: NumPy has no type bf16";
    std::fs::write(folder.path().join("bf16.mlir"), BF16).expect("a file");
    succeeds(folder.path(), &["compile", "bf16.mlir", "-o", "bf16.sutura"]);
    write(
        "bf16.safetensors",
        &[("x", &Tensor::from_bytes(ElementType::BF16, &[2], &[0x80, 0x3f, 0, 0]).expect("bytes"))],
    );
    let run = |more: &[&'static str]| [&["run", "bf16.sutura", "--inputs", "bf16.safetensors"], more].concat();
    fails(&run(&["--outputs", "bf16.npz"]), 2, what);
    let text = succeeds(folder.path(), &["run", "bf16.sutura", "-i", "2xbf16=1,0.5"]);
    assert!(text.contains("y: bf16[2] = [1.0, 0.5]"), "{text}");
    succeeds(folder.path(), &run(&["--outputs", "again.safetensors", "-o", "y=@y.pb"]));
    succeeds(folder.path(), &run(&["--expected-outputs", "again.safetensors", "--atol", "0"]));
    succeeds(folder.path(), &run(&["--expected", "y=@y.pb", "--atol", "0"]));
    let twice = ["--expected", "y=@y.pb", "--expected-outputs", "again.safetensors"];
    fails(&run(&twice), 2, "expected output `y` is given twice, also in `again.safetensors`");
}

/// What is given comes back.
const BF16: &str = "func.func @f(%x: tensor<2xbf16>) -> (tensor<2xbf16> {graph.name = \"y\"}) {
  return %x : tensor<2xbf16>
}
";

/// A function of one double with its name in `math`.
type Function = (&'static str, fn(f64) -> f64);

const FUNCTIONS: [Function; 11] = [
    ("exp", f64::exp),
    ("exp2", f64::exp2),
    ("expm1", f64::exp_m1),
    ("log", |x| x.abs().ln()),
    ("log1p", |x| x.abs().ln_1p()),
    ("tanh", f64::tanh),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("cbrt", f64::cbrt),
    ("round", f64::round),
];

/// Machine code computes functions of doubles as precisely as the expansions promise, in vectors and behind them.
#[test]
fn functions_of_doubles_are_compiled() {
    let folder = tempfile::tempdir().expect("a folder");
    let ty = "tensor<?xf64, #dyn.shape<[n]>>";
    let line = |(name, _): &Function| {
        let operand = if name.starts_with("log") { "%b" } else { "%a" };
        format!("%{name} = math.{name} {operand} : f64\n")
    };
    let list = |text: &dyn Fn(&str) -> String| FUNCTIONS.map(|(name, _)| text(name)).join(", ");
    let types = list(&|_| ty.to_owned());
    let maps = list(&|_| "affine_map<(d0) -> (d0)>".to_owned());
    let program = format!(
        "func.func @f(%x: {ty}) -> ({types}) {{
           %n = dyn.symbol \"n\" {{range = [0, 4096]}} : index
           {} = graph.compute ins(%x : {ty}) -> {types} {{iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, {maps}]}} {{
           ^bb0(%a: f64):
             %b = math.absf %a : f64
             {}
             graph.yield {} : {}
           }}
           return {} : {types}
         }}\n",
        list(&|name| format!("%r_{name}")),
        FUNCTIONS.iter().map(line).collect::<String>(),
        list(&|name| format!("%{name}")),
        list(&|_| "f64".to_owned()),
        list(&|name| format!("%r_{name}")),
    );
    std::fs::write(folder.path().join("f.mlir"), program).expect("a file");
    let compiled = sutura(folder.path(), &["compile", "f.mlir", "-o", "f.sutura"]);
    let said = String::from_utf8_lossy(&compiled.stderr);
    if said.contains("'math.fma' op needs an instruction") {
        return sutura_skip::skipped(sutura_skip::Need::Processor, "it has no fused multiplication");
    }
    assert!(compiled.status.success(), "{said}");
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, 5e-324, 1e300, -3e9];
    let numbers: Vec<f64> = (0..91).map(|i| f64::from(i - 45) * 1.37).chain(special).collect();
    let x = tensor(&[numbers.len() as i64], &numbers);
    sutura_tensors::write(&folder.path().join("x.pb"), &[("x", &x)]).expect("a file");
    let run = ["run", "f.sutura", "-i", "@x.pb", "--outputs", "y.npz"];
    succeeds(folder.path(), &run);
    let mut results = TensorFile::open(&folder.path().join("y.npz"), None).expect("a file");
    for (i, (name, exact)) in FUNCTIONS.iter().enumerate() {
        let result = results.read(i).expect("a tensor");
        let result = result.as_slice::<f64>().expect("doubles");
        for (x, got) in numbers.iter().zip(result) {
            let expected = exact(*x);
            let same = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
            let near = (got - expected).abs() <= 4.0 * f64::EPSILON * expected.abs();
            assert!(same || near, "{name}({x:e}) = {got:e}, not {expected:e}");
        }
    }
    let text = succeeds(folder.path(), &["run", "f.sutura", "-i", "2xf64=0,0.5"]);
    assert!(text.contains(": f64[2] = [1.0, 1.6487212707001282]"), "{text}");
}
