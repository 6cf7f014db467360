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
    fails(&run(&[&["--inputs", "mask.pb"][..], &same].concat()), 2, "input `x` is missing");
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

/// Elements of at most a byte go in, are computed with, are summed, and come out; what inputs have above them does not count.
#[test]
fn short_elements_cross_the_edge_of_a_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("short.mlir"), SHORT).expect("a file");
    succeeds(folder, &["compile", "short.mlir", "-o", "short.sutura", "-q"]);
    let inputs =
        ["x=5xi4=1,-8,7,3,-1", "y=5xu2=1,3,2,0,3", "z=5xf4E2M1FN=1,-6,0.5,3,0", "p=5xf8E8M0FNU=1,2,0.5,1e38,nan"];
    let given: Vec<&str> = inputs.iter().flat_map(|input| ["-i", input]).collect();
    let text = succeeds(folder, &[&["run", "short.sutura"], &given[..]].concat());
    for words in [
        "a: i4[5] = [2, 0, -2, 6, -2]",
        "b: u2[5] = [2, 2, 0, 0, 2]",
        "c: f4E2M1FN[5] = [2.0, -6.0, 1.0, 6.0, 0.0]",
        "d: f8E8M0FNU[5] = [4.0, 8.0, 2.0, NaN, NaN]",
        "s: i4[] = [2]",
        "same: u2[5] = [1, 3, 2, 0, 3]",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    // Whatever lies above the elements.
    let write = |name: &str, ty, bytes: &[u8]| {
        let tensor = Tensor::from_bytes(ty, &[5], bytes).expect("five bytes");
        sutura_tensors::write(&folder.join(format!("{name}.pb")), &[(name, &tensor)]).expect("a file");
        tensor
    };
    let model = sutura_runtime::Model::load(folder.join("short.sutura")).expect("it loads");
    let x = write("x", ElementType::I4, &[0x11, 0x78, 0xf7, 0x03, 0x0f]);
    let y = write("y", ElementType::U2, &[0xfd, 0x03, 0x82, 0x40, 0xff]);
    let z = write("z", ElementType::F4E2M1FN, &[0x92, 0x0f, 0x71, 0x05, 0xf0]);
    let p = write("p", ElementType::F8E8M0FNU, &[127, 128, 126, 253, 255]);
    let outputs = model.run(&[x, y, z, p]).expect("it runs");
    let bytes: Vec<&[u8]> = outputs.iter().map(Tensor::bytes).collect();
    let expected: [&[u8]; 6] = [
        &[2, 0, 0xfe, 6, 0xfe],
        &[2, 2, 0, 0, 2],
        &[4, 0xf, 2, 7, 0],
        &[129, 130, 128, 255, 255],
        &[2],
        &[1, 3, 2, 0, 3],
    ];
    assert_eq!(bytes, expected);
    let files = ["x", "y", "z", "p"].map(|name| format!("{name}=@{name}.pb"));
    let given: Vec<&str> = files.iter().flat_map(|input| ["-i", input]).collect();
    let run = |more: &[&'static str]| [&["run", "short.sutura"], &given[..], more].concat();
    succeeds(folder, &run(&["-o", "a=@a.pb", "-o", "b=@b.pb", "-o", "d=@d.safetensors", "-o", "s=@s.pb"]));
    let expected = ["--expected-outputs", "a.pb", "--expected-outputs", "b.pb", "--expected-outputs", "d.safetensors"];
    succeeds(folder, &run(&expected));
    fails(folder, &run(&["--outputs", "all.safetensors"]), 2, "safetensors has no type i4; write .pb");
    fails(folder, &run(&["-o", "a=@a.npy"]), 2, "NumPy has no type i4; write .pb");
    let odd = "the elements of `c`, 5 of f4E2M1FN, do not fill whole bytes";
    fails(folder, &run(&["-o", "c=@c.safetensors"]), 5, odd);
    fails(folder, &run(&["--expected", "a=5xi4=2,0,-2,6,-1"]), 8, "`a`");
}

/// A condition hands on what is kept as bytes as what it is.
#[test]
fn short_elements_go_through_calls_and_conditions() {
    let folder = tempfile::tempdir().expect("a folder");
    for (ty, scalar, name, then, otherwise) in
        [("i4", "i4", "i4", "[2, -2, 0]", "[1, 7, -8]"), ("ui8", "i8", "u8", "[2, 14, 144]", "[1, 7, 200]")]
    {
        let program = CALLED.replace("ELEM", ty).replace("SCALAR", scalar);
        std::fs::write(folder.path().join("called.mlir"), program).expect("a file");
        succeeds(folder.path(), &["compile", "called.mlir", "-o", "called.sutura", "-q"]);
        let last = if name == "i4" { "-8" } else { "200" };
        let x = format!("x=3x{name}=1,7,{last}");
        for (condition, expected) in [("c=bool=1", then), ("c=bool=0", otherwise)] {
            let text = succeeds(folder.path(), &["run", "called.sutura", "-i", &x, "-i", condition]);
            assert!(text.contains(&format!("y: {name}[3] = {expected}")), "{text}");
        }
    }
}

const CALLED: &str = r#"#m = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<?xELEM, #dyn.shape<[N]>> {graph.name = "x"}, %c: tensor<i1> {graph.name = "c"}) -> (tensor<?xELEM, #dyn.shape<[N]>> {graph.name = "y"}) {
  %k = tensor.extract %c[] : tensor<i1>
  %1 = scf.if %k -> (tensor<?xELEM, #dyn.shape<[N]>>) {
    %0 = func.call @twice(%x) : (tensor<?xELEM, #dyn.shape<[N]>>) -> tensor<?xELEM, #dyn.shape<[N]>>
    scf.yield %0 : tensor<?xELEM, #dyn.shape<[N]>>
  } else {
    scf.yield %x : tensor<?xELEM, #dyn.shape<[N]>>
  }
  return %1 : tensor<?xELEM, #dyn.shape<[N]>>
}
func.func private @twice(%x: tensor<?xELEM, #dyn.shape<[K]>>) -> tensor<?xELEM, #dyn.shape<[K]>> {
  %0 = graph.compute ins(%x : tensor<?xELEM, #dyn.shape<[K]>>) -> tensor<?xELEM, #dyn.shape<[K]>> {iterators = #graph.iterators<[parallel]>, maps = [#m, #m]} {
  ^bb0(%a: SCALAR):
    %r = arith.addi %a, %a : SCALAR
    graph.yield %r : SCALAR
  }
  return %0 : tensor<?xELEM, #dyn.shape<[K]>>
}
"#;

/// All types of at most a byte but those that other tests have.
const SHORT: &str = r#"#one = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<5xi4> {graph.name = "x"}, %y: tensor<5xui2> {graph.name = "y"},
                %z: tensor<5xf4E2M1FN> {graph.name = "z"}, %p: tensor<5xf8E8M0FNU> {graph.name = "p"})
    -> (tensor<5xi4> {graph.name = "a"}, tensor<5xui2> {graph.name = "b"}, tensor<5xf4E2M1FN> {graph.name = "c"},
        tensor<5xf8E8M0FNU> {graph.name = "d"}, tensor<i4> {graph.name = "s"}, tensor<5xui2> {graph.name = "same"}) {
  %0, %1, %2, %3 = graph.compute ins(%x, %y, %z, %p : tensor<5xi4>, tensor<5xui2>, tensor<5xf4E2M1FN>, tensor<5xf8E8M0FNU>)
      -> tensor<5xi4>, tensor<5xui2>, tensor<5xf4E2M1FN>, tensor<5xf8E8M0FNU>
      {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one, #one, #one, #one, #one]} {
  ^bb0(%a: i4, %b: i2, %c: f4E2M1FN, %d: f8E8M0FNU):
    %1 = arith.addi %a, %a : i4
    %2 = arith.addi %b, %b : i2
    %3 = arith.addf %c, %c : f4E2M1FN
    %f = arith.extf %d : f8E8M0FNU to f32
    %h = arith.constant 3.0 : f32
    %g = arith.mulf %f, %h : f32
    %4 = arith.truncf %g : f32 to f8E8M0FNU
    graph.yield %1, %2, %3, %4 : i4, i2, f4E2M1FN, f8E8M0FNU
  }
  %s = graph.compute ins(%x : tensor<5xi4>) -> tensor<i4>
      {iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [#one, affine_map<(d0) -> ()>]} {
  ^bb0(%a: i4):
    graph.yield %a : i4
  }
  return %0, %1, %2, %3, %s, %y
      : tensor<5xi4>, tensor<5xui2>, tensor<5xf4E2M1FN>, tensor<5xf8E8M0FNU>, tensor<i4>, tensor<5xui2>
}
"#;

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
