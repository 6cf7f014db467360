//! Whole models, from their files to numbers: compiled once, run at many shapes.

use std::path::{Path, PathBuf};
use std::process::Command;

use sutura_grammar::{ParseOptions, parse_module};
use sutura_interp::random::Random;
use sutura_interp::{Interpreter, Value};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module};
use sutura_runtime::{Model, Options};

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path)
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Compiles a model into `output`.
fn compile(model: &Path, output: &Path, more: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.arg("compile").arg(model).arg("-o").arg(output).args(more);
    let done = command.output().expect("the tool was built");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Compiles an example once and compares what it computes with the stored outputs of onnxruntime.
fn matches_stored_outputs(name: &str, cases: &[&str], inputs: &[&str], output: &str) {
    matches_stored_outputs_on(name, &[], cases, inputs, output);
}

/// The same with more arguments for the compiler.
fn matches_stored_outputs_on(name: &str, more: &[&str], cases: &[&str], inputs: &[&str], output: &str) {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("model.sutura");
    compile(&example(&format!("{name}/{name}.onnx")), &artifact, more);
    for threads in [1, 2] {
        let model = Model::load_with(&artifact, Options::new().threads(threads)).unwrap();
        for case in cases {
            let read = |tensor: &str| {
                sutura_runtime::npy::read(example(&format!("{name}/{case}/{tensor}.npy"))).expect("a stored tensor")
            };
            let inputs: Vec<_> = inputs.iter().map(|input| read(input)).collect();
            let outputs = model.run(&inputs).unwrap();
            let comparison = sutura_runtime::compare::compare(&outputs[0], &read(output)).unwrap();
            assert!(comparison.within(2e-5, 0.0), "{name} at {case}, {threads} threads: {comparison:?}");
        }
    }
}

/// Compiles an example for a device and compares what it computes there with the stored outputs of onnxruntime: with indices
/// of 32 bits, of 64 bits, and of both, as some of the sizes pass a guard and others do not.
fn matches_stored_outputs_on_device(
    (name, target, device): (&str, &str, &str),
    cases: &[&str],
    (inputs, output): (&[&str], &str),
    launches: u64,
) {
    if let Err(error) = sutura_runtime::device::Devices::find().select(device) {
        return sutura_skip::skipped(sutura_skip::Need::Devices, error);
    }
    let folder = tempfile::tempdir().unwrap();
    let models: Vec<Model> = ["2147483647", "100000", "1"]
        .map(|limit| {
            let artifact = folder.path().join(format!("{limit}.sutura"));
            let options = ["--target", target, "--index-limit", limit];
            compile(&example(&format!("{name}/{name}.onnx")), &artifact, &options);
            Model::load_with(&artifact, Options::new().device(device)).unwrap()
        })
        .into();
    for (model, case) in models.iter().flat_map(|model| cases.iter().map(move |case| (model, case))) {
        let read = |tensor: &str| {
            sutura_runtime::npy::read(example(&format!("{name}/{case}/{tensor}.npy"))).expect("a stored tensor")
        };
        let inputs: Vec<_> = inputs.iter().map(|input| read(input)).collect();
        let before = model.stats().launches;
        let outputs = model.run(&inputs).unwrap();
        let comparison = sutura_runtime::compare::compare(&outputs[0], &read(output)).unwrap();
        assert!(comparison.within(2e-5, 0.0), "{name} at {case} on {device}: {comparison:?}");
        assert_eq!(model.stats().launches - before, launches, "{name} at {case} on {device}");
    }
}

#[test]
fn an_encoder_layer_on_devices() {
    let (inputs, output) = (["x", "mask"], "y");
    let cases = ["b1_s1", "b1_s17", "b3_s128"];
    matches_stored_outputs_on_device(("encoder", "lavapipe", "lavapipe"), &cases, (&inputs, output), 7);
    matches_stored_outputs_on_device(("encoder", "cpu_fibers", "cpu-fibers"), &cases[..2], (&inputs, output), 7);
}

#[test]
fn a_cnn_on_devices() {
    let (inputs, output) = (["image"], "probabilities");
    let cases = ["b1_h32_w32", "b2_h45_w37", "b4_h32_w32"];
    matches_stored_outputs_on_device(("cnn", "lavapipe", "lavapipe"), &cases, (&inputs, output), 15);
    matches_stored_outputs_on_device(("cnn", "cpu_fibers", "cpu-fibers"), &cases[..2], (&inputs, output), 15);
}

#[test]
fn a_perceptron_on_devices() {
    let (inputs, output) = (["x"], "probabilities");
    let cases = ["b1", "b7", "b64"];
    matches_stored_outputs_on_device(("mlp", "lavapipe", "lavapipe"), &cases, (&inputs, output), 3);
    matches_stored_outputs_on_device(("mlp", "cpu_fibers", "cpu-fibers"), &cases, (&inputs, output), 3);
}

#[test]
fn an_encoder_layer_matches_onnxruntime() {
    matches_stored_outputs("encoder", &["b1_s1", "b1_s17", "b3_s128", "b2_s500"], &["x", "mask"], "y");
}

/// Three products of one tensor, attention, its product, sum and normalisation, two products, sum and normalisation.
#[test]
fn an_encoder_layer_has_seven_launches() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("encoder.sutura");
    compile(&example("encoder/encoder.onnx"), &artifact, &[]);
    let model = Model::load_with(&artifact, Options::new().threads(2)).unwrap();
    for case in ["b1_s1", "b1_s17", "b3_s128", "b2_s500"] {
        let read = |name: &str| {
            sutura_runtime::npy::read(example(&format!("encoder/{case}/{name}.npy"))).expect("a stored tensor")
        };
        let before = model.stats().launches;
        model.run(&[read("x"), read("mask")]).unwrap();
        assert_eq!(model.stats().launches - before, 7, "{case}");
    }
}

#[test]
fn a_perceptron_matches_onnxruntime() {
    matches_stored_outputs("mlp", &["b1", "b7", "b64"], &["x"], "probabilities");
}

#[test]
fn a_convolutional_network_matches_onnxruntime() {
    matches_stored_outputs("cnn", &["b1_h32_w32", "b2_h45_w37", "b4_h32_w32"], &["image"], "probabilities");
}

#[test]
fn models_run_on_machines_without_fused_multiplication() {
    matches_stored_outputs_on("mlp", &["--target", "generic"], &["b1", "b7", "b64"], &["x"], "probabilities");
    matches_stored_outputs_on("encoder", &["--target", "generic"], &["b1_s17", "b3_s128"], &["x", "mask"], "y");
}

/// Functions are expanded into the same operations everywhere, and what a machine lacks is computed to the same bits.
#[test]
fn functions_have_the_same_bits_on_every_x86() {
    let folder = tempfile::tempdir().unwrap();
    let input = sutura_runtime::Tensor::from_slice(&[4099], &sweep()).unwrap();
    let compute = |target: &str| {
        let artifact = folder.path().join(format!("{target}.sutura"));
        compile(&data("functions.mlir"), &artifact, &["--target", target]);
        let outputs = Model::load(&artifact).unwrap().run(std::slice::from_ref(&input)).unwrap();
        outputs.iter().map(|tensor| tensor.bytes().to_vec()).collect::<Vec<_>>()
    };
    let expected = compute("generic");
    for target in ["x86_avx2", "x86_avx512", "host"] {
        match target {
            "x86_avx2" if !std::is_x86_feature_detected!("avx2") => {
                sutura_skip::skipped(sutura_skip::Need::Processor, "there is no AVX2 here")
            }
            "x86_avx512" if !std::is_x86_feature_detected!("avx512f") => {
                sutura_skip::skipped(sutura_skip::Need::Processor, "there is no AVX-512 here")
            }
            _ => assert!(compute(target) == expected, "{target} and generic differ"),
        }
    }
}

/// Floats of every size and both signs.
fn sweep() -> Vec<f32> {
    (0..4099u32).map(|i| f32::from_bits(i.wrapping_mul(1_048_361))).map(|x| if x.is_nan() { 0.5 } else { x }).collect()
}

#[test]
fn kernels_are_compiled_for_arm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mlp.s");
    compile(&example("mlp/mlp.onnx"), &path, &["--target", "aarch64", "--emit", "asm"]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.lines().any(|line| line.contains("fmla") && line.contains(".4s")), "no vector of four floats");
    for (emit, kind) in [("obj", 1), ("so", 3)] {
        let path = folder.path().join(emit);
        compile(&example("mlp/mlp.onnx"), &path, &["--target", "aarch64", "--emit", emit]);
        let bytes = std::fs::read(&path).unwrap();
        // Kind and machine in the header of an ELF file.
        assert_eq!((&bytes[..4], bytes[16], bytes[18]), (&b"\x7fELF"[..], kind, 183), "{emit}");
    }
    let artifact = folder.path().join("mlp.sutura");
    compile(&example("mlp/mlp.onnx"), &artifact, &["--target", "aarch64"]);
    let Err(error) = Model::load(&artifact) else { panic!("this machine is no Arm") };
    let error = error.to_string();
    assert!(error.contains("aarch64"), "{error}");
}

/// Reads and verifies a program as strictly as `sutura-opt` does.
fn parse(cx: &Context, path: &Path) -> Module {
    let text = std::fs::read_to_string(path).unwrap();
    let source = cx.sources().add(path.display().to_string(), text).unwrap();
    let mut diags = Diagnostics::default();
    let module = parse_module(cx, &source, &ParseOptions::default(), &mut diags)
        .and_then(|module| verify(module.op_ref(cx), VerifyOptions::default(), &mut diags).map(|()| module));
    let said: Vec<String> = diags.iter().map(|d| d.message.clone()).collect();
    module.unwrap_or_else(|_| panic!("{}: {said:?}", path.display()))
}

#[test]
fn every_level_of_a_model_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = std::env::var_os("MLIR_SYS_220_PREFIX").map_or_else(|| "/usr/lib/llvm-22".into(), PathBuf::from);
    let mlir_opt = prefix.join("bin/mlir-opt");
    for model in ["encoder", "mlp", "cnn"] {
        for level in ["graph", "dyn", "fusion", "gir", "mlir", "llvm"] {
            let path = folder.path().join(format!("{model}.{level}.mlir"));
            compile(&example(&format!("{model}/{model}.onnx")), &path, &[&format!("--emit={level}")]);
            parse(&Context::new(sutura_dialects::all()), &path);
            if matches!(level, "mlir" | "llvm") {
                let done = Command::new(&mlir_opt).arg(&path).output().expect("MLIR's tools are installed");
                assert!(done.status.success(), "{model} {level}: {}", String::from_utf8_lossy(&done.stderr));
            }
        }
    }
}

#[test]
fn a_softmax_equals_the_interpreter_at_fifty_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("softmax.sutura");
    compile(&data("softmax_graph.mlir"), &artifact, &[]);
    let model = Model::load(&artifact).unwrap();
    let cx = Context::new(sutura_dialects::all());
    let program = parse(&cx, &data("softmax_graph.mlir"));
    let mut random = Random::new(1);
    // Both sides of the limit up to which a row is kept, no rows, single columns, then anything.
    let mut shapes = vec![(0, 5), (1, 1), (7, 1), (1, 16_384), (2, 16_385), (3, 40_000)];
    shapes.extend((shapes.len()..50).map(|_| (random.range(0, 20), random.range(1, 2000))));
    for (rows, cols) in shapes {
        let x: Vec<f32> = (0..rows * cols).map(|_| (random.unit() * 40.0 - 20.0) as f32).collect();
        let expected = interpreted(&cx, &program, (rows, cols), &x);
        let input = sutura_runtime::Tensor::from_slice(&[rows, cols], &x).unwrap();
        let outputs = model.run(&[input]).unwrap();
        assert_eq!(outputs[0].dims(), [rows, cols]);
        let actual: &[f32] = outputs[0].as_slice().unwrap();
        assert_eq!(actual.len(), expected.len());
        for (at, (a, e)) in actual.iter().zip(&expected).enumerate() {
            let close = (a - e).abs() <= 1e-7 + 4e-6 * e.abs();
            assert!(close, "{rows}x{cols}, element {at}: {a} where the interpreter has {e}");
        }
    }
}

fn interpreted(cx: &Context, program: &Module, (rows, cols): (i64, i64), x: &[f32]) -> Vec<f32> {
    let mut interpreter = Interpreter::new(cx, program);
    let x = Value::tensor_f32(x.to_vec(), &[rows as usize, cols as usize]).unwrap();
    interpreter.call("softmax", &[x]).unwrap()[0].to_f32().unwrap().0
}

/// What makes the factors of a product runs in its two kernels; at few rows, many, and those that fill no tile.
#[test]
fn a_product_with_a_prologue_equals_the_interpreter() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("product.sutura");
    compile(&data("prologue_graph.mlir"), &artifact, &[]);
    let cx = Context::new(sutura_dialects::all());
    let program = parse(&cx, &data("prologue_graph.mlir"));
    let mut random = Random::new(1);
    let mut numbers = |n: i64| (0..n).map(|_| random.unit() as f32).collect::<Vec<f32>>();
    for threads in [1, 2] {
        let model = Model::load_with(&artifact, Options::new().threads(threads)).unwrap();
        for rows in [0, 1, 4, 6, 7, 12, 17, 48, 49, 500] {
            let tensors =
                [(numbers(rows * 72), vec![rows, 72]), (numbers(72 * 40), vec![72, 40]), (numbers(40), vec![40])];
            let values = tensors.each_ref().map(|(data, dims)| {
                let dims: Vec<usize> = dims.iter().map(|d| *d as usize).collect();
                Value::tensor_f32(data.clone(), &dims).unwrap()
            });
            let expected = Interpreter::new(&cx, &program).call("product", &values).unwrap()[0].to_f32().unwrap().0;
            let inputs = tensors.map(|(data, dims)| sutura_runtime::Tensor::from_slice(&dims, &data).unwrap());
            let before = model.stats().launches;
            let outputs = model.run(&inputs).unwrap();
            let launches = model.stats().launches - before;
            assert_eq!(launches, if rows == 0 { 1 } else { 2 }, "{rows} rows");
            let actual: &[f32] = outputs[0].as_slice().unwrap();
            assert_eq!(actual.len(), expected.len());
            for (at, (a, e)) in actual.iter().zip(&expected).enumerate() {
                assert!((a - e).abs() <= 1e-5 * e.abs(), "{rows} rows, element {at}: {a}, not {e}");
            }
        }
    }
}

/// Concatenations, slices and reads by index at places that depend on sizes, where parts are empty, single and long.
#[test]
fn places_that_depend_on_sizes_equal_the_interpreter() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("places.sutura");
    compile(&data("places.mlir"), &artifact, &[]);
    let cx = Context::new(sutura_dialects::all());
    let program = parse(&cx, &data("places.mlir"));
    let sizes =
        [[2, 3, 2, 8, 4], [1, 0, 1, 1, 1], [1, 17, 1, 70, 0], [3, 1, 5, 33, 9], [0, 2, 3, 4, 0], [2, 4, 1, 0, 0]];
    for threads in [1, 2] {
        let model = Model::load_with(&artifact, Options::new().threads(threads)).unwrap();
        for [batches, past, new, columns, marks] in sizes {
            let numbers = |n: i64| (0..n).map(|i| i as f32 + 0.5).collect::<Vec<f32>>();
            let floats = [vec![batches, past, columns], vec![batches, new, columns]]
                .map(|dims| (numbers(dims.iter().product()), dims));
            // Some of the places count from the end.
            let place = |i: i64| [i % batches, (past + new - 1) - i % (past + new), -(i % columns) - 1];
            let places: Vec<i64> = (0..marks).flat_map(place).collect();
            let shape = |dims: &[i64]| dims.iter().map(|d| *d as usize).collect::<Vec<usize>>();
            let mut values: Vec<Value> =
                floats.iter().map(|(data, dims)| Value::tensor_f32(data.clone(), &shape(dims)).unwrap()).collect();
            values.push(Value::tensor_i64(places.clone(), &shape(&[marks, 3])).unwrap());
            let expected = Interpreter::new(&cx, &program).call("places", &values).unwrap();
            let mut inputs: Vec<_> =
                floats.iter().map(|(data, dims)| sutura_runtime::Tensor::from_slice(dims, data).unwrap()).collect();
            inputs.push(sutura_runtime::Tensor::from_slice(&[marks, 3], &places).unwrap());
            let outputs = model.run(&inputs).unwrap();
            for (at, (output, expected)) in outputs.iter().zip(&expected).enumerate() {
                let tensor = expected.tensor().unwrap();
                assert_eq!(shape(output.dims()), tensor.shape(), "result {at}");
                match output.as_slice::<f32>() {
                    Some(actual) => assert_eq!(actual, &expected.to_f32().unwrap().0[..], "result {at}"),
                    None => {
                        let actual: &[i64] = output.as_slice().unwrap();
                        let number = |i| tensor.data().read(i).unwrap().as_i64().unwrap();
                        assert_eq!(actual, (0..tensor.len()).map(number).collect::<Vec<i64>>(), "result {at}");
                    }
                }
            }
        }
    }
    // The wrong number among three of a place is told.
    let model = Model::load(&artifact).unwrap();
    let rows = |n: i64| sutura_runtime::Tensor::from_slice(&[1, n, 4], &vec![1.0f32; 4 * n as usize]).unwrap();
    let place = sutura_runtime::Tensor::from_slice(&[1, 3], &[0i64, 5, 3]).unwrap();
    let error = model.run(&[rows(2), rows(3), place]).unwrap_err().to_string();
    assert!(
        error.contains("graph.gather_nd 'marks': element 1 of its indices is 5, which is not in [-5, 4]"),
        "{error}"
    );
}
