//! Tensors of stored integers whose scales belong to positions, moved: what they express afterwards is what they expressed before, moved
//! in the same way as floats; and what is compiled is what is interpreted.

use std::path::Path;

use sutura_grammar::ParseOptions;
use sutura_interp::{Buffer, DType, Interpreter, Random, Scalar, Tensor as Expected, Value};
use sutura_ir::Context;
use sutura_ir::diagnostics::{Diagnostics, Exit};
use sutura_runtime::{ElementType, Model, Options, Tensor};

/// A move: sizes and types of what is moved, of what is made, and the ops. In these `$x` and `$w` are the inputs, `$X`, `$W` and `$Y` the
/// types of inputs and result, `$E` and `$R` those of their elements, `$0` a zero as it is stored, `$n` a number for names.
struct Case(&'static [(&'static str, &'static str)], (&'static str, &'static str), &'static str);

const ROWS: &str = "!quant.uniform<i8:f32:0, {0.5:3, 0.25, 2.0:-7, 1.0, 4.0:9, 0.125}>";
const COLUMNS: &str = "!quant.uniform<u8:f32:1, {0.5:3, 0.25, 2.0:7, 1.0}>";
const BLOCKS: &str = "!quant.uniform<i4:f32:{0:2}, {0.5:3, 0.25, 2.0:-7, 1.0}>";
const TILES: &str = "!quant.uniform<i8:f32:{0:2, 1:3}, {{0.5:3, 0.25}, {2.0:-7, 1.0}}>";

const CASES: &[Case] = &[
    // Reshapes: the dimension stays, is another one, becomes several, or is a part of one.
    Case(&[("6x4", ROWS)], ("6x2x2", ROWS), "%y$n = graph.reshape $x : $X -> $Y"),
    Case(
        &[("6x4", COLUMNS)],
        ("2x3x4", "!quant.uniform<u8:f32:2, {0.5:3, 0.25, 2.0:7, 1.0}>"),
        "%y$n = graph.reshape $x : $X -> $Y",
    ),
    Case(
        &[("6x4", ROWS)],
        ("1x6x1x4", "!quant.uniform<i8:f32:1, {0.5:3, 0.25, 2.0:-7, 1.0, 4.0:9, 0.125}>"),
        "%y$n = graph.reshape $x : $X -> $Y",
    ),
    Case(
        &[("6x4", ROWS)],
        ("2x3x4", "!quant.uniform<i8:f32:{0:1, 1:1}, {{{0.5:3}, {0.25}, {2.0:-7}}, {{1.0}, {4.0:9}, {0.125}}}>"),
        "%y$n = graph.reshape $x : $X -> $Y",
    ),
    Case(
        &[("6x4", ROWS)],
        ("24", "!quant.uniform<i8:f32:{0:4}, {0.5:3, 0.25, 2.0:-7, 1.0, 4.0:9, 0.125}>"),
        "%y$n = graph.reshape $x : $X -> $Y",
    ),
    Case(
        &[("8", BLOCKS)],
        ("4x2", "!quant.uniform<i4:f32:0, {0.5:3, 0.25, 2.0:-7, 1.0}>"),
        "%y$n = graph.reshape $x : $X -> $Y",
    ),
    Case(
        &[("8x6", "!quant.uniform<i4:f32:{0:2}, {{0.5:3}, {0.25}, {2.0:-7}, {1.0}}>")],
        ("8x2x3", "!quant.uniform<i4:f32:{0:2}, {{{0.5:3}}, {{0.25}}, {{2.0:-7}}, {{1.0}}}>"),
        "%y$n = graph.reshape $x : $X -> $Y",
    ),
    Case(
        &[("?x2x4", "!quant.uniform<i8:f32:2, {0.5:3, 0.25, 2.0:7, 1.0}>")],
        ("?x4", "!quant.uniform<i8:f32:1, {0.5:3, 0.25, 2.0:7, 1.0}>"),
        "%y$n = graph.reshape $x : $X -> $Y",
    ),
    // Slices.
    Case(
        &[("8", BLOCKS)],
        ("4", "!quant.uniform<i4:f32:{0:2}, {0.25, 2.0:-7}>"),
        "%y$n = graph.slice $x {axes = array<i64: 0>, starts = array<i64: 2>, ends = array<i64: -2>, steps = array<i64: 1>} : $X -> $Y",
    ),
    Case(
        &[("8", BLOCKS)],
        ("4", "!quant.uniform<i4:f32:0, {1.0, 2.0:-7, 0.25, 0.5:3}>"),
        "%y$n = graph.slice $x {axes = array<i64: 0>, starts = array<i64: -1>, ends = array<i64: -9223372036854775808>, steps = array<i64: -2>} : $X -> $Y",
    ),
    Case(
        &[("8", BLOCKS)],
        ("2", "!quant.uniform<i4:f32, 2.0:-7>"),
        "%y$n = graph.slice $x {axes = array<i64: 0>, starts = array<i64: 4>, ends = array<i64: 6>, steps = array<i64: 1>} : $X -> $Y",
    ),
    // Permutations, what is spread, one row, what is chosen, and what is put into a larger tensor.
    Case(
        &[("4x6", TILES)],
        ("6x4", "!quant.uniform<i8:f32:{0:3, 1:2}, {{0.5:3, 2.0:-7}, {0.25, 1.0}}>"),
        "%y$n = graph.compute ins($x : $X) -> $Y {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>]} {\n^bb0(%e: $E):\n graph.yield %e : $E\n}",
    ),
    Case(
        &[("6", "!quant.uniform<i8:f32:0, {0.5:3, 0.25, 2.0:-7, 1.0, 4.0:9, 0.125}>")],
        ("2x6", "!quant.uniform<i8:f32:1, {0.5:3, 0.25, 2.0:-7, 1.0, 4.0:9, 0.125}>"),
        "%y$n = graph.compute ins($x : $X) -> $Y {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {\n^bb0(%e: $E):\n graph.yield %e : $E\n}",
    ),
    Case(
        &[("6x4", ROWS)],
        ("4", "!quant.uniform<i8:f32, 2.0:-7>"),
        "%y$n = graph.compute ins($x : $X) -> $Y {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (2, d0)>, affine_map<(d0) -> (d0)>]} {\n^bb0(%e: $E):\n graph.yield %e : $E\n}",
    ),
    Case(
        &[("6x4", ROWS), ("6x4", ROWS)],
        ("4x6", "!quant.uniform<i8:f32:1, {0.5:3, 0.25, 2.0:-7, 1.0, 4.0:9, 0.125}>"),
        "%y$n = graph.compute ins($x, $w : $X, $W) -> $Y {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]} {\n^bb0(%a: $E, %b: $E):\n %i = graph.index 0 : index\n %one = arith.constant 1 : index\n %first = arith.cmpi ule, %i, %one : index\n %c = arith.select %first, %a, %b : $E\n graph.yield %c : $E\n}",
    ),
    Case(
        &[("4", "!quant.uniform<i8:f32:{0:2}, {0.5, 0.25}>")],
        ("8", "!quant.uniform<i8:f32:{0:2}, {3.0, 0.5, 0.25, 5.0}>"),
        "%y$n = graph.compute ins($x : $X) -> $Y {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0 - 2)>, affine_map<(d0) -> (d0)>], oob = [$0]} {\n^bb0(%e: $E):\n graph.yield %e : $E\n}",
    ),
    // Concatenations.
    Case(
        &[("8", BLOCKS), ("2", "!quant.uniform<i4:f32:{0:2}, {3.0}>")],
        ("10", "!quant.uniform<i4:f32:{0:2}, {0.5:3, 0.25, 2.0:-7, 1.0, 3.0}>"),
        "%y$n = graph.concat $x, $w {axis = 0 : i64} : $X, $W -> $Y",
    ),
    Case(
        &[("2", "!quant.uniform<i8:f32, 0.5>"), ("3", "!quant.uniform<i8:f32:0, {0.5, 0.25, 3.0:4}>")],
        ("5", "!quant.uniform<i8:f32:0, {0.5, 0.5, 0.5, 0.25, 3.0:4}>"),
        "%y$n = graph.concat $x, $w {axis = 0 : i64} : $X, $W -> $Y",
    ),
    Case(
        &[("4x6", TILES), ("4x6", TILES)],
        ("4x12", "!quant.uniform<i8:f32:{0:2, 1:3}, {{0.5:3, 0.25, 0.5:3, 0.25}, {2.0:-7, 1.0, 2.0:-7, 1.0}}>"),
        "%y$n = graph.concat $x, $w {axis = 1 : i64} : $X, $W -> $Y",
    ),
    Case(
        &[("?x4", COLUMNS), ("?x4", COLUMNS)],
        ("?x4", COLUMNS),
        "%y$n = graph.concat $x, $w {axis = 0 : i64} : $X, $W -> $Y",
    ),
    // By indices.
    Case(
        &[("6x4", COLUMNS)],
        ("2x2x4", "!quant.uniform<u8:f32:2, {0.5:3, 0.25, 2.0:7, 1.0}>"),
        "%i$n = graph.constant dense<[[0, -1], [3, 3]]> : tensor<2x2xi64>\n%y$n = graph.gather $x, %i$n {axis = 0 : i64} : $X, tensor<2x2xi64> -> $Y",
    ),
    Case(
        &[("6x4", COLUMNS)],
        ("2x4", COLUMNS),
        "%i$n = graph.constant dense<[[0, -1, 2, 1], [3, 3, 5, 0]]> : tensor<2x4xi64>\n%y$n = graph.gather_elements $x, %i$n {axis = 0 : i64} : $X, tensor<2x4xi64> -> $Y",
    ),
    Case(
        &[("6x4", COLUMNS)],
        ("3x4", COLUMNS),
        "%i$n = graph.constant dense<[[0], [-1], [2]]> : tensor<3x1xi64>\n%y$n = graph.gather_nd $x, %i$n : $X, tensor<3x1xi64> -> $Y",
    ),
    Case(
        &[("6x4", ROWS)],
        ("6x2", ROWS),
        "%i$n = graph.constant dense<[[[0], [-1]], [[2], [2]], [[0], [0]], [[1], [2]], [[3], [0]], [[1], [1]]]> : tensor<6x2x1xi64>\n%y$n = graph.gather_nd $x, %i$n {batch_dims = 1 : i64} : $X, tensor<6x2x1xi64> -> $Y",
    ),
    Case(
        &[("6x4", COLUMNS), ("2x4", COLUMNS)],
        ("6x4", COLUMNS),
        "%i$n = graph.constant dense<[[0, -1, 2, 1], [3, 3, 5, 0]]> : tensor<2x4xi64>\n%y$n = graph.scatter $x, %i$n, $w {axis = 0 : i64} : $X, tensor<2x4xi64>, $W -> $Y",
    ),
    Case(
        &[("6x4", COLUMNS), ("2x2x4", "!quant.uniform<u8:f32:2, {0.5:3, 0.25, 2.0:7, 1.0}>")],
        ("6x4", COLUMNS),
        "%i$n = graph.constant dense<[[[0], [5]], [[2], [0]]]> : tensor<2x2x1xi64>\n%y$n = graph.scatter $x, %i$n, $w : $X, tensor<2x2x1xi64>, $W -> $Y",
    ),
];

/// Quantises each input, moves what is stored and what it expresses, and gives what both express.
fn program() -> String {
    let (mut args, mut body, mut results, mut returned) = (Vec::new(), String::new(), Vec::new(), Vec::new());
    for (number, Case(inputs, (size, made), ops)) in CASES.iter().enumerate() {
        let mut texts = [(*ops).to_owned(), (*ops).to_owned()];
        let result = [format!("tensor<{size}x{made}>"), format!("tensor<{size}xf32>")];
        for ((sizes, stored), (name, ty)) in inputs.iter().zip([("x", "$X"), ("w", "$W")]) {
            let types = [format!("tensor<{sizes}x{stored}>"), format!("tensor<{sizes}xf32>")];
            args.push(format!("%{name}{number}: {}", types[1]));
            let [stored, float] = &types;
            body += &format!("%{name}q{number} = quant.qcast %{name}{number} : {float} to {stored}\n");
            body += &format!("%{name}f{number} = quant.dcast %{name}q{number} : {stored} to {float}\n");
            for ((text, ty_text), kind) in texts.iter_mut().zip(&types).zip(["q", "f"]) {
                *text = text.replace(&format!("${name}"), &format!("%{name}{kind}{number}")).replace(ty, ty_text);
            }
        }
        for (i, (text, kind)) in texts.iter().zip(["q", "f"]).enumerate() {
            let (elem, zero) = if i == 0 { (inputs[0].1, "0 : i8") } else { ("f32", "0.0 : f32") };
            let text = text.replace("$Y", &result[i]).replace("$E", elem).replace("$0", zero);
            body += &(text.replace("$n", &format!("{kind}{number}")) + "\n");
        }
        body += &format!("%m{number} = quant.dcast %yq{number} : {} to {}\n", result[0], result[1]);
        results.extend([format!("%m{number}"), format!("%yf{number}")]);
        returned.extend([result[1].clone(), result[1].clone()]);
    }
    let (args, returned, results) = (args.join(", "), returned.join(", "), results.join(", "));
    format!("func.func @main({args}) -> ({returned}) {{\n{body}return {results} : {returned}\n}}\n")
}

/// Numbers of each input, of 3 where the type leaves a size open.
fn inputs() -> Vec<Expected> {
    let mut random = Random::with_edges(7);
    let sizes = CASES.iter().flat_map(|Case(inputs, ..)| inputs.iter().map(|(sizes, _)| *sizes));
    let input = |sizes: &str| {
        let shape: Vec<usize> = sizes.split('x').map(|size| size.parse().unwrap_or(3)).collect();
        let numbers: Vec<Scalar> =
            (0..shape.iter().product()).map(|_| Scalar::f32(random.range(-512, 512) as f32 / 16.0)).collect();
        Expected::from_scalars(DType::F32, &shape, numbers).unwrap()
    };
    sizes.map(input).collect()
}

#[test]
fn what_moves_expresses_what_it_did() {
    let text = program();
    let folder = tempfile::tempdir().unwrap();
    let (model, artifact) = (folder.path().join("moves.mlir"), folder.path().join("moves.sutura"));
    std::fs::write(&model, &text).unwrap();
    let args = [Path::new("sutura"), Path::new("compile"), Path::new("-q"), &model, Path::new("-o"), &artifact];
    let (exit, said) = sutura_cli::run(&args.map(Path::to_path_buf));
    assert!(matches!(exit, Exit::Ok), "{exit:?}: {said}\n{text}");
    let model = Model::load_with(&artifact, Options::new().threads(2)).unwrap();

    let cx = Context::new(sutura_dialects::all());
    let source = cx.sources().add("moves.mlir".to_owned(), text.clone()).unwrap();
    let mut diags = Diagnostics::default();
    let module = sutura_grammar::parse_module(&cx, &source, &ParseOptions::default(), &mut diags)
        .unwrap_or_else(|_| panic!("{:?}\n{text}", diags.iter().map(|d| d.message.clone()).collect::<Vec<_>>()));
    let inputs = inputs();
    let values: Vec<Value> = inputs.iter().cloned().map(Value::Tensor).collect();
    let results = Interpreter::new(&cx, &module).call("main", &values).unwrap_or_else(|e| panic!("{e:?}\n{text}"));

    let given = |tensor: &Expected| {
        let dims: Vec<i64> = tensor.shape().iter().map(|size| *size as i64).collect();
        Tensor::from_bytes(ElementType::F32, &dims, &tensor.data().to_le_bytes().unwrap()).unwrap()
    };
    let outputs = model.run(&inputs.iter().map(given).collect::<Vec<_>>()).unwrap();
    assert_eq!((outputs.len(), results.len()), (2 * CASES.len(), 2 * CASES.len()));
    let bits = |buffer: &Buffer| buffer.to_le_bytes().expect("all are set");
    for (number, (pair, made)) in results.chunks(2).zip(outputs.chunks(2)).enumerate() {
        let [moved, float] = [&pair[0], &pair[1]].map(|value| bits(value.tensor().unwrap().data()));
        assert!(!float.is_empty() && float.iter().any(|byte| *byte != 0), "case {number} moves nothing");
        assert_eq!(moved, float, "case {number}, interpreted:\n{text}");
        assert_eq!([made[0].bytes(), made[1].bytes()], [&moved[..], &float[..]], "case {number}, compiled:\n{text}");
    }
}
