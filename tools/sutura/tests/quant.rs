//! Programs of numbers that are stored as integers: what is compiled and what is interpreted, against onnx's reference evaluator
//! and each other.
//!
//! `data/quant_references.txt` is made by `import/tools/make_quant_references.py`.

use std::path::Path;

use sutura_grammar::ParseOptions;
use sutura_interp::{Buffer, DType, Interpreter, Random, Scalar, Tensor as Expected, Value};
use sutura_ir::diagnostics::{Diagnostics, Exit};
use sutura_ir::types::FloatKind;
use sutura_ir::{Context, Module};
use sutura_runtime::{ElementType, Model, Options, Tensor};

const REFERENCES: &str = include_str!("data/quant_references.txt");

fn module(cx: &Context, text: &str) -> Module {
    let source = cx.sources().add("quant.mlir".to_owned(), text.to_owned()).expect("it is small");
    let mut diags = Diagnostics::default();
    sutura_grammar::parse_module(cx, &source, &ParseOptions::default(), &mut diags)
        .unwrap_or_else(|_| panic!("{:?}\n{text}", diags.iter().map(|d| d.message.clone()).collect::<Vec<_>>()))
}

fn compiled(text: &str) -> Model {
    let folder = tempfile::tempdir().unwrap();
    let (model, artifact) = (folder.path().join("quant.mlir"), folder.path().join("quant.sutura"));
    std::fs::write(&model, text).unwrap();
    let args = [Path::new("sutura"), Path::new("compile"), Path::new("-q"), &model, Path::new("-o"), &artifact];
    let (exit, said) = sutura_cli::run(&args.map(Path::to_path_buf));
    assert!(matches!(exit, Exit::Ok), "{exit:?}: {said}\n{text}");
    Model::load_with(&artifact, Options::new().threads(2)).unwrap()
}

/// The tensor as the runtime takes it.
fn given(tensor: &Expected) -> Tensor {
    let dims: Vec<i64> = tensor.shape().iter().map(|size| *size as i64).collect();
    let name = tensor.dtype().to_string().replace("ui", "u");
    let elem = ElementType::from_name(&name).expect("the runtime has every type");
    Tensor::from_bytes(elem, &dims, &tensor.data().to_le_bytes().expect("all are set")).unwrap()
}

/// Runs both, and checks that they agree bit by bit; what they make.
fn agree(text: &str, model: &Model, inputs: &[Expected]) -> Vec<Expected> {
    let cx = Context::new(sutura_dialects::all());
    let module = module(&cx, text);
    let values: Vec<Value> = inputs.iter().cloned().map(Value::Tensor).collect();
    let results = Interpreter::new(&cx, &module).call("main", &values).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let outputs = model.run(&inputs.iter().map(given).collect::<Vec<_>>()).unwrap();
    assert_eq!(outputs.len(), results.len());
    let mut made = Vec::new();
    for (i, (output, result)) in outputs.iter().zip(&results).enumerate() {
        let result = result.tensor().expect("all are tensors");
        assert_eq!(output.element_type().name(), result.dtype().to_string().replace("ui", "u"), "output {i}");
        let bytes = Buffer::from_le_bytes(result.dtype(), output.bytes()).unwrap();
        let found = Expected::new(result.shape(), bytes).unwrap();
        for at in 0..result.len() {
            let (found, result) = (found.data().get(at).unwrap(), result.data().get(at).unwrap());
            let both_nan = found.as_f64().is_some_and(f64::is_nan) && result.as_f64().is_some_and(f64::is_nan);
            assert!(found == result || both_nan, "output {i}, element {at}: {found:?}, interpreted {result:?}\n{text}");
        }
        made.push(result.clone());
    }
    made
}

struct Case {
    name: &'static str,
    ty: &'static str,
    sizes: Vec<usize>,
    x: Vec<u32>,
    q: Vec<i64>,
    y: Vec<u32>,
}

fn cases() -> Vec<Case> {
    let bits = |text: &str| text.split(' ').skip(1).map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
    let case = |line: &'static str| {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [name, ty, sizes, x, q, y] = parts[..] else { panic!("{line}") };
        Case {
            name: name.trim_start_matches("case "),
            ty,
            sizes: sizes.split(' ').map(|size| size.parse().unwrap()).collect(),
            x: bits(x),
            q: q.split(' ').skip(1).map(|word| word.parse().unwrap()).collect(),
            y: bits(y),
        }
    };
    REFERENCES.lines().map(case).collect()
}

/// A program that quantises each argument, and what is stored back.
fn program(types: &[(String, &str, &str)]) -> String {
    let (mut args, mut body, mut results, mut returned) = (Vec::new(), String::new(), Vec::new(), Vec::new());
    for (i, (dims, float, stored)) in types.iter().enumerate() {
        let (float, stored) = (format!("tensor<{dims}{float}>"), format!("tensor<{dims}{stored}>"));
        args.push(format!("%x{i}: {float}"));
        body += &format!("  %q{i} = quant.qcast %x{i} : {float} to {stored}\n");
        body += &format!("  %y{i} = quant.dcast %q{i} : {stored} to {float}\n");
        results.extend([format!("%q{i}"), format!("%y{i}")]);
        returned.extend([stored, float]);
    }
    let (args, returned, results) = (args.join(", "), returned.join(", "), results.join(", "));
    format!("func.func @main({args}) -> ({returned}) {{\n{body}  return {results} : {returned}\n}}\n")
}

#[test]
fn results_are_those_of_onnx() {
    let cases = cases();
    assert!(cases.len() >= 40);
    let dims = |case: &Case| case.sizes.iter().map(|size| format!("{size}x")).collect::<String>();
    let types: Vec<(String, &str, &str)> = cases.iter().map(|case| (dims(case), "f32", case.ty)).collect();
    let text = program(&types);
    let input = |case: &Case| {
        let numbers = case.x.iter().map(|bits| Scalar::f32(f32::from_bits(*bits)));
        Expected::from_scalars(DType::F32, &case.sizes, numbers).unwrap()
    };
    let made = agree(&text, &compiled(&text), &cases.iter().map(input).collect::<Vec<_>>());
    for (case, pair) in cases.iter().zip(made.chunks(2)) {
        for at in 0..case.x.len() {
            let stored = pair[0].data().get(at).and_then(Scalar::as_i64);
            let x = f32::from_bits(case.x[at]);
            assert_eq!(stored, Some(case.q[at]), "{}, element {at}: {x} as {}", case.name, case.ty);
            let y = pair[1].data().get(at).map(Scalar::bits);
            assert_eq!(y, Some(u64::from(case.y[at])), "{}, element {at}: back from {}", case.name, case.q[at]);
        }
    }
}

/// Every kind of storage and of what is expressed, at sizes that are known when the program runs.
#[test]
fn what_is_compiled_is_what_is_interpreted() {
    let float = |name: &str| match name {
        "f16" => FloatKind::F16,
        "bf16" => FloatKind::BF16,
        "f64" => FloatKind::F64,
        "f8E4M3FN" => FloatKind::F8E4M3FN,
        "f8E5M2" => FloatKind::F8E5M2,
        _ => FloatKind::F32,
    };
    let types: Vec<(String, &str, &str)> = [
        ("?x3x", "f32", "!quant.uniform<i8:f32:1, {0.5:3, 0.1, 2.0:-128}>"),
        ("?x3x", "f32", "!quant.uniform<u8<5:250>:f32, 0.01:128>"),
        ("?x3x", "f32", "!quant.uniform<i32:f32, 0.0001:2147483647>"),
        ("?x3x", "f32", "!quant.uniform<u32:f32, 3.0:4294967295>"),
        ("?x3x", "f64", "!quant.uniform<i32:f64, 0.0001:-2147483648>"),
        ("?x3x", "f64", "!quant.uniform<u32:f64:1, {0.0001:17, 1.0e-300, 1.0:4294967295}>"),
        ("?x3x", "f64", "!quant.uniform<i16:f64, 0.1:-5>"),
        ("?x3x", "f16", "!quant.uniform<i8:f16, 0.1:7>"),
        ("?x3x", "f16", "!quant.uniform<u16:f16, 2.0:65535>"),
        ("?x3x", "bf16", "!quant.uniform<i4:bf16, 0.3:-8>"),
        ("?x6x", "bf16", "!quant.uniform<u4:bf16:{1:3}, {{0.1:15, 7.0}}>"),
        ("?x3x", "f8E4M3FN", "!quant.uniform<i2:f8E4M3FN, 0.1:1>"),
        ("?x3x", "f8E5M2", "!quant.uniform<u2:f8E5M2, 3.0:2>"),
        ("4x?x", "f32", "!quant.uniform<i8:f32:{0:2}, {{0.5:1}, {0.1:2}}>"),
    ]
    .map(|(dims, float, stored)| (dims.to_owned(), float, stored))
    .to_vec();
    let text = program(&types);
    let model = compiled(&text);
    let mut random = Random::with_edges(20);
    for size in [1usize, 5, 64, 0] {
        let inputs: Vec<Expected> = types
            .iter()
            .map(|(dims, name, _)| {
                let of = |dim: &str| if dim == "?" { size } else { dim.parse().unwrap() };
                let shape: Vec<usize> = dims.split('x').filter(|dim| !dim.is_empty()).map(of).collect();
                let number = |i: usize, random: &mut Random| match i % 7 {
                    0 => f64::NAN,
                    1 => f64::INFINITY,
                    2 => f64::NEG_INFINITY,
                    3 => random.range(-1 << 40, 1 << 40) as f64,
                    _ => random.range(-4096, 4096) as f64 / 16.0,
                };
                let count: usize = shape.iter().product();
                let numbers = (0..count).map(|i| Scalar::float(number(i, &mut random), float(name)));
                Expected::from_scalars(DType::Float(float(name)), &shape, numbers.collect::<Vec<_>>()).unwrap()
            })
            .collect();
        agree(&text, &model, &inputs);
    }
}

/// A size that scales say is checked when the program runs.
#[test]
fn other_sizes_are_refused() {
    let ty = "!quant.uniform<i8:f32:0, {0.5, 0.25, 1.0}>";
    let text = program(&[("?x".to_owned(), "f32", ty)]);
    let model = compiled(&text);
    let tensor = |len: usize| Expected::from_f32(vec![1.0; len], &[len]).unwrap();
    agree(&text, &model, &[tensor(3)]);
    for len in [0, 2, 4, 6] {
        let error = model.run(&[given(&tensor(len))]).unwrap_err().to_string();
        assert!(error.contains('3') && error.contains(&len.to_string()), "{len}: {error}");
        let cx = Context::new(sutura_dialects::all());
        let module = module(&cx, &text);
        assert!(Interpreter::new(&cx, &module).call("main", &[Value::Tensor(tensor(len))]).is_err(), "{len}");
    }
}

#[test]
fn what_is_not_a_number_is_the_zero_point() {
    let text = program(&[("4x".to_owned(), "f32", "!quant.uniform<u8<3:200>:f32, 0.5:77>")]);
    let input = Expected::from_f32(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0], &[4]).unwrap();
    let made = agree(&text, &compiled(&text), &[input]);
    let stored: Vec<i64> = (0..4).filter_map(|at| made[0].data().get(at)?.as_i64()).collect();
    assert_eq!(stored, [77, 200, 3, 77]);
}

/// Sums of integers of 32 bits are exact, whatever a float could hold.
#[test]
fn wide_integers_keep_to_their_bounds() {
    let stored = |ty: &str, numbers: &[f32]| -> Vec<i64> {
        let text = program(&[("?x".to_owned(), "f32", ty)]);
        let input = Expected::from_f32(numbers.to_vec(), &[numbers.len()]).unwrap();
        let made = agree(&text, &compiled(&text), &[input]);
        (0..numbers.len()).filter_map(|at| made[0].data().get(at)?.as_i64()).collect()
    };
    let numbers = [2147483648.0, -2147483648.0, 2147483520.0, 1e30, -1e30, 0.5, 1.5, 2.5, -0.5];
    let expected = [2147483647, -2147483648, 2147483520, 2147483647, -2147483648, 0, 2, 2, 0];
    assert_eq!(stored("!quant.uniform<i32:f32, 1.0>", &numbers), expected);
    let numbers = [-1.0, 0.5, 1.0, -4294967040.0, -4294967296.0, -1e30, 1e30, 0.0];
    let expected = [4294967294, 4294967295, 4294967295, 255, 0, 0, 4294967295, 4294967295];
    assert_eq!(stored("!quant.uniform<u32:f32, 1.0:4294967295>", &numbers), expected);
    // The sum with the zero point, and not what it is a sum of, keeps to the bounds.
    let expected = [2147483646, 2147483647, 2147483647, -2147483393, -2147483648, -2147483648, 2147483647, 2147483647];
    assert_eq!(stored("!quant.uniform<i32:f32, 1.0:2147483647>", &numbers), expected);
}
