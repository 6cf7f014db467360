//! Conversion of single operators, run by the interpreter.

use prost::Message;
use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::is_reserve;
use sutura_interp::{DType, Interpreter, Scalar, Tensor, Value as Data};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module, Type};

use super::build::{FLOAT, INT64, Value, info_of, ints, model, model as model_of, node, sized, with};
use crate::onnx::{OnnxModel, import, proto::*};

/// Imports a model and runs it on one tensor `x`.
pub(super) fn result(model: &ModelProto, x: &Tensor) -> Result<Tensor, String> {
    let model = OnnxModel::from_bytes(model.encode_to_vec(), None).map_err(|e| e.to_string())?;
    let cx = Context::new(sutura_dialects::all());
    let mut diags = Diagnostics::default();
    let module = import(&cx, &model, &mut diags).map_err(|e| e.to_string())?;
    let verified = verify(module.op_ref(&cx), VerifyOptions::default(), &mut diags);
    assert!(verified.is_ok(), "{diags:?}");
    let args: Vec<Data> = [x.clone()].into_iter().chain(places(&cx, &module)).map(Data::Tensor).collect();
    let results = Interpreter::new(&cx, &module).call("main", &args);
    let results = results.map_err(|e| format!("{e:?}"))?;
    Ok(results[0].tensor().expect("a tensor").clone())
}

fn count(shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>();
    Tensor::from_f32((0..n).map(|i| i as f32).collect(), shape).expect("the elements fill the shape")
}

pub(super) fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.data().as_f32().expect("floats").to_vec()
}

/// What no caller gives: places for what data decide.
pub(super) fn places(cx: &Context, module: &Module) -> Vec<Tensor> {
    let entry = module.op_ref(cx).region(0).and_then(|region| region.entry());
    let main = entry.into_iter().flat_map(|entry| entry.ops()).find_map(|op| op.as_::<FuncOp<'_>>());
    let types = main.map(|main| main.inputs().to_vec()).unwrap_or_default();
    let reserves = types.into_iter().filter(|ty| is_reserve(cx, *ty)).count();
    let place = Tensor::zeros(DType::expect(cx, Type::I1).expect("a type"), &[100, 0]).expect("it has no elements");
    vec![place; reserves]
}

/// A model whose output has any shape.
pub(super) fn open(mut model: ModelProto) -> ModelProto {
    model.graph.as_mut().expect("a graph").output = vec![info_of("y", None)];
    model
}

#[test]
fn constant_tables_follow_shapes() {
    // Ranges, expansions and fills whose sizes follow from the input's shape.
    let nodes = vec![
        node("Shape", &["x"], &["s"]),
        with(node("Gather", &["s", "zero"], &["n"]), &[]),
        node("Range", &["zero", "n", "one"], &["r"]),
        with(node("Cast", &["r"], &["rf"]), &[("to", Value::Int(1))]),
        with(node("Unsqueeze", &["rf", "axis"], &["column"]), &[]),
        node("Expand", &["column", "s"], &["table"]),
        node("Add", &["table", "x"], &["y"]),
    ];
    let mut model = open(model(17, nodes));
    let graph = model.graph.as_mut().expect("a graph");
    graph.initializer = vec![ints("zero", &[], &[0]), ints("one", &[], &[1]), ints("axis", &[1], &[1])];
    let y = result(&model, &count(&[2, 4])).expect("it runs");
    assert_eq!(values(&y), [0., 1., 2., 3., 5., 6., 7., 8.]);
}

#[test]
fn slices_take_what_there_is() {
    let cut = |start: i64, end: i64, rest: &[NodeProto]| {
        let nodes = [&[node("Slice", &["x", "start", "end", "axis"], &["c"])], rest].concat();
        let mut model = open(model(17, nodes));
        model.graph.as_mut().expect("a graph").initializer =
            vec![ints("start", &[1], &[start]), ints("end", &[1], &[end]), ints("axis", &[1], &[0])];
        model
    };
    let same = [node("Identity", &["c"], &["y"])];
    for rows in [0, 1, 2, 3, 9] {
        let x = count(&[rows, 4]);
        let first = result(&cut(0, 2, &same), &x).expect("it runs");
        assert_eq!(values(&first), values(&x)[..4 * rows.min(2)]);
        let last = result(&cut(-1, i64::MAX, &same), &x).expect("it runs");
        assert_eq!(values(&last), values(&x)[4 * rows.saturating_sub(1)..]);
        // One row beside all is stretched, and none beside none.
        let sum = result(&cut(0, 1, &[node("Sub", &["x", "c"], &["y"])]), &x).expect("it runs");
        assert_eq!(values(&sum), (0..4 * rows).map(|i| (i - i % 4) as f32).collect::<Vec<f32>>());
        // To take a dimension away there must be one row: that is checked even where no op would notice.
        let row = result(&cut(0, 1, &[node("Squeeze", &["c", "axis"], &["y"])]), &x);
        assert_eq!(row.is_ok(), rows > 0, "{row:?}");
        assert!(row.is_ok_and(|r| r.len() == 4) || rows == 0);
    }
}

#[test]
fn splits_evenly_and_joins() {
    let nodes = vec![
        with(node("Split", &["x"], &["a", "b"]), &[("axis", Value::Int(1))]),
        with(node("Concat", &["b", "a"], &["y"]), &[("axis", Value::Int(1))]),
    ];
    let y = result(&open(model(17, nodes)), &count(&[1, 4])).expect("it runs");
    assert_eq!(values(&y), [2., 3., 0., 1.]);
}

#[test]
fn powers_and_selections() {
    let nodes = vec![
        node("Pow", &["x", "two"], &["p"]),
        node("Less", &["x", "p"], &["c"]),
        node("Where", &["c", "p", "x"], &["w"]),
        with(node("LeakyRelu", &["w"], &["l"]), &[("alpha", Value::Float(0.5))]),
        node("Clip", &["l", "", "limit"], &["y"]),
    ];
    let mut model = open(model(17, nodes));
    let graph = model.graph.as_mut().expect("a graph");
    let scalar = |name: &str, v: f32| TensorProto {
        name: Some(name.into()),
        data_type: Some(1),
        float_data: vec![v],
        ..Default::default()
    };
    graph.initializer = vec![scalar("two", 2.0), scalar("limit", 5.0)];
    let x = Tensor::from_f32(vec![-4.0, 0.5, 2.0, 3.0], &[1, 4]).expect("four elements");
    assert_eq!(values(&result(&model, &x).expect("it runs")), [5., 0.5, 4., 5.]);
}

fn close(node: NodeProto, weights: Vec<TensorProto>, x: &Tensor, expected: &[f64]) {
    close_in(24, node, weights, x, expected);
}

fn close_in(opset: i64, node: NodeProto, weights: Vec<TensorProto>, x: &Tensor, expected: &[f64]) {
    let name = node.op_type.clone().expect("a name");
    let mut model = open(model(opset, vec![node]));
    let graph = model.graph.as_mut().expect("a graph");
    let shape: Vec<i64> = x.shape().iter().map(|d| *d as i64).collect();
    (graph.initializer, graph.input) = (weights, vec![info_of("x", Some(&shape))]);
    let y = values(&result(&model, x).unwrap_or_else(|e| panic!("{name}: {e}")));
    assert_eq!(y.len(), expected.len(), "{name}");
    for (y, e) in y.iter().zip(expected) {
        let gap = (f64::from(*y) - e).abs();
        assert!(gap <= 1e-6 * e.abs().max(1.0), "{name} makes {y}, not {e}");
    }
}

#[test]
fn functions_of_one_number() {
    let numbers = [-30.0, -2.5, -0.5, 0.0, 0.5, 1.5, 2.5, 40.0];
    let x = Tensor::from_f32(numbers.to_vec(), &[1, 8]).expect("eight elements");
    let hard = |x: f64, alpha: f64, beta: f64| (alpha * x + beta).clamp(0.0, 1.0);
    let half = || ("alpha", Value::Float(0.5));
    type Case<'a> = (&'a str, &'a [(&'a str, Value)], &'a dyn Fn(f64) -> f64);
    let cases: [Case; 7] = [
        ("Round", &[], &|x| x.round_ties_even()),
        ("Softplus", &[], &|x| x.exp().ln_1p()),
        ("HardSwish", &[], &|x| x * hard(x, 1.0 / 6.0, 0.5)),
        ("HardSigmoid", &[half()], &|x| hard(x, 0.5, 0.5)),
        ("Elu", &[half()], &|x| if x < 0.0 { 0.5 * x.exp_m1() } else { x }),
        ("Swish", &[half()], &|x| x / (1.0 + (-0.5 * x).exp())),
        ("LogSoftmax", &[], &|x| x - 40.0),
    ];
    for (name, attributes, function) in cases {
        let expected: Vec<f64> = numbers.iter().map(|x| function(f64::from(*x))).collect();
        close(with(node(name, &["x"], &["y"]), attributes), vec![], &x, &expected);
    }
}

#[test]
fn reductions_by_function() {
    let x = Tensor::from_f32(vec![3.0, -4.0, 1.0, 2.0], &[2, 2]).expect("four elements");
    let cases = [
        ("ReduceL1", [7.0, 3.0]),
        ("ReduceL2", [5.0, 5.0_f64.sqrt()]),
        ("ReduceSumSquare", [25.0, 5.0]),
        ("ReduceLogSumExp", [(3_f64.exp() + (-4_f64).exp()).ln(), (1_f64.exp() + 2_f64.exp()).ln()]),
    ];
    for keep in [0, 1] {
        for (name, expected) in cases {
            let reduce = with(node(name, &["x", "axes"], &["y"]), &[("keepdims", Value::Int(keep))]);
            close(reduce, vec![ints("axes", &[1], &[1])], &x, &expected);
        }
    }
    let log = with(node("ReduceLogSum", &["x", "axes"], &["y"]), &[("keepdims", Value::Int(0))]);
    close(log, vec![ints("axes", &[1], &[0])], &count(&[3, 2]), &[6_f64.ln(), 9_f64.ln()]);
    let infinite = Tensor::from_f32(vec![f32::NEG_INFINITY; 2], &[1, 2]).expect("two elements");
    let mut model = open(model(24, vec![node("ReduceLogSumExp", &["x", "axes"], &["y"])]));
    let graph = model.graph.as_mut().expect("a graph");
    (graph.initializer, graph.input) = (vec![ints("axes", &[1], &[1])], vec![info_of("x", Some(&[1, 2]))]);
    assert_eq!(values(&result(&model, &infinite).expect("it runs")), [f32::NEG_INFINITY]);
}

fn vector(name: &str, values: &[f32]) -> TensorProto {
    let (dims, float_data) = (vec![values.len() as i64], values.to_vec());
    TensorProto { name: Some(name.into()), data_type: Some(1), dims, float_data, ..Default::default() }
}

#[test]
fn normalisations() {
    // Two groups of two channels with two pixels; each group is 0, 1, 2, 3 but for a shift, which does not matter.
    let x = Tensor::from_f32((0..8).map(|i| i as f32).collect(), &[1, 4, 2]).expect("eight elements");
    let weights = || vec![vector("s", &[1., 2., 3., 4.]), vector("b", &[0., 1., 0., 0.])];
    let standard = |x: f64| (x - 1.5) / (1.25_f64 + 1e-5).sqrt();
    let in_groups: Vec<f64> = (0..8)
        .map(|i| standard(f64::from(i % 4)) * f64::from(i / 2 + 1) + if i / 2 == 1 { 1.0 } else { 0.0 })
        .collect();
    let groups = with(node("GroupNormalization", &["x", "s", "b"], &["y"]), &[("num_groups", Value::Int(2))]);
    close(groups, weights(), &x, &in_groups);
    let old = with(node("GroupNormalization", &["x", "two", "two"], &["y"]), &[("num_groups", Value::Int(2))]);
    let by_group: Vec<f64> =
        (0..8).map(|i| if i < 4 { 1. + standard(i.into()) } else { 3. * standard(f64::from(i - 4)) + 3. }).collect();
    close_in(18, old, vec![vector("two", &[1., 3.])], &x, &by_group);
    let in_channels: Vec<f64> = (0..8)
        .map(|i| (f64::from(i % 2) - 0.5) / (0.25_f64 + 1e-5).sqrt() * f64::from(i / 2 + 1))
        .zip([0., 0., 1., 1., 0., 0., 0., 0.])
        .map(|(x, b)| x + b)
        .collect();
    close(node("InstanceNormalization", &["x", "s", "b"], &["y"]), weights(), &x, &in_channels);
    let square = Tensor::from_f32(vec![3., 4., 0., 2.], &[2, 2]).expect("four elements");
    let root = |a: f64, b: f64| ((a * a + b * b) / 2.0 + 1e-5).sqrt();
    let expected = [3. / root(3., 4.), 8. / root(3., 4.), 0., 4. / root(0., 2.)];
    close(node("RMSNormalization", &["x", "s"], &["y"]), vec![vector("s", &[1., 2.])], &square, &expected);
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    let x = count(&[1, 4, 2]);
    let run = |opset, groups| {
        let groups = [("num_groups", Value::Int(groups))];
        let mut model = open(model(opset, vec![with(node("GroupNormalization", &["x", "s", "s"], &["y"]), &groups)]));
        let graph = model.graph.as_mut().expect("a graph");
        graph.input = vec![info_of("x", Some(&[1, 4, 2]))];
        graph.initializer = vec![vector("s", &[1.; 4])];
        result(&model, &x).expect_err("it does not fit")
    };
    assert!(run(21, 3).contains("'x' is 4, which is no multiple of 3, the value of num_groups"));
    assert!(run(21, 0).contains("attribute 'num_groups' must be from 1 to"));
    assert!(run(18, 2).contains("and the size 'G' of other inputs differ: 2 and 4"));
}

#[test]
fn attention_that_is_not_supported_is_refused() {
    let x = count(&[1, 4, 2]);
    let run = |inputs: &[&str], attributes: &[(&str, Value)], sizes: &[i64]| {
        let mut model = open(model(23, vec![with(node("Attention", inputs, &["y"]), attributes)]));
        let graph = model.graph.as_mut().expect("a graph");
        graph.input = vec![info_of("x", Some(sizes))];
        graph.initializer = vec![vector("w", &[1.0])];
        result(&model, &x).expect_err("it is not supported")
    };
    let (three, four) = (&[1, 4, 2][..], &[1, 2, 2, 2][..]);
    let said = run(&["x", "x", "x"], &[], three);
    assert!(said.contains("needs the attribute 'kv_num_heads'"), "{said}");
    let said = run(&["x", "x", "x"], &[], &[4, 2]);
    assert!(said.contains("'q' has rank 2, it must have 4"), "{said}");
    let uneven = [("q_num_heads", Value::Int(3)), ("kv_num_heads", Value::Int(2))];
    let said = run(&["x", "x", "x"], &uneven, three);
    assert!(said.contains("attribute 'q_num_heads' is 3, which is no multiple of 2, 'kv_num_heads'"), "{said}");
    let said = run(&["x", "x", "x"], &[("q_num_heads", Value::Int(1)), ("kv_num_heads", Value::Int(0))], three);
    assert!(said.contains("attribute 'kv_num_heads' must be from 1 to"), "{said}");
    let said = run(&["x", "x", "x"], &[("q_num_heads", Value::Int(4)), ("kv_num_heads", Value::Int(4))], three);
    assert!(said.contains("dimension 2 of 'q' is 2, which is no multiple of 4, the value of q_num_heads"), "{said}");
    let said = run(&["x", "x", "x", "", "x"], &[], four);
    assert!(said.contains("is not supported with exactly the inputs `Q`, `K`, `V`, `past_key`"), "{said}");
    let said = run(&["x", "x", "x"], &[("qk_matmul_output_mode", Value::Int(4))], four);
    assert!(said.contains("attribute `qk_matmul_output_mode` is 4, which is not supported; 0, 1, 2, 3 are"), "{said}");
    let said = run(&["x", "x", "x"], &[("softmax_precision", Value::Int(7))], four);
    assert!(said.contains("attribute `softmax_precision` is 7, which is not supported; 1, 10, 11, 16 are"), "{said}");
    let newer = |inputs: &[&str], attributes: &[(&str, Value)]| {
        let node = with(node("Attention", inputs, &["y"]), attributes);
        let mut model = open(model(25, vec![node]));
        let graph = model.graph.as_mut().expect("a graph");
        graph.input = vec![info_of("x", Some(four))];
        graph.initializer = vec![vector("w", &[1.0])];
        result(&model, &x).expect_err("it is not supported")
    };
    let said = newer(&["x", "x", "x", "", "x", "x", "w"], &[]);
    let wanted = "is not supported with exactly the inputs `Q`, `K`, `V`, `past_key`, `past_value`, `nonpad_kv_seqlen`";
    assert!(said.contains(wanted), "{said}");
    let said = newer(&["x", "x", "x"], &[("left_window_size", Value::Int(-2))]);
    assert!(said.contains("attribute `left_window_size` is -2, it must be at least -1"), "{said}");
}

#[test]
fn what_cannot_be_converted_is_listed_at_once() {
    let nodes = vec![
        node("MatMul", &["x", "x"], &["a"]),
        node("Relu", &["a"], &["unreached"]),
        with(node("Transpose", &["x"], &["t"]), &[("perm", Value::Ints(&[1, 0, 2]))]),
        node("Not", &["x"], &["y"]),
    ];
    let mut model = model(17, nodes);
    // Two rows of four do not multiply with themselves.
    let graph = model.graph.as_mut().expect("a graph");
    graph.input = vec![info_of("x", Some(&[2, 4]))];
    let error = result(&model, &count(&[2, 4])).expect_err("nothing fits");
    for part in ["my_MatMul", "differ: 4 and 2", "my_Transpose", "my_Not"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    assert!(!error.contains("my_Relu"), "{error}");
}

/// As onnxruntime moves them.
#[test]
fn depth_becomes_space_and_back() {
    let block = ("blocksize", Value::Int(2));
    let x = count(&[1, 8, 1, 3]);
    let dcr = [0, 6, 1, 7, 2, 8, 12, 18, 13, 19, 14, 20, 3, 9, 4, 10, 5, 11, 15, 21, 16, 22, 17, 23].map(f64::from);
    let crd = [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, 12, 15, 13, 16, 14, 17, 18, 21, 19, 22, 20, 23].map(f64::from);
    let plain = with(node("DepthToSpace", &["x"], &["y"]), std::slice::from_ref(&block));
    close(plain, vec![], &x, &dcr);
    for (mode, expected) in [("DCR", &dcr), ("CRD", &crd)] {
        let modes = [("blocksize", Value::Int(2)), ("mode", Value::Str(mode))];
        close(with(node("DepthToSpace", &["x"], &["y"]), &modes), vec![], &x, expected);
        // The other operator takes the pixels back; it has modes from opset 28 on.
        if mode == "DCR" {
            let nodes = vec![
                with(node("DepthToSpace", &["x"], &["b"]), &modes),
                with(node("SpaceToDepth", &["b"], &["y"]), std::slice::from_ref(&block)),
            ];
            let mut model = open(model(17, nodes));
            model.graph.as_mut().expect("a graph").input = vec![info_of("x", Some(&[1, 8, 1, 3]))];
            assert_eq!(values(&result(&model, &x).expect("it runs")), values(&x));
        }
    }
    let expected = [0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15].map(f64::from);
    let back = with(node("SpaceToDepth", &["x"], &["y"]), &[block]);
    close(back, vec![], &count(&[1, 2, 2, 4]), &expected);
    for (op, shape, words) in [
        ("DepthToSpace", &[1, 6, 2, 2][..], "cannot make whole blocks of 4 from 6 channels"),
        ("SpaceToDepth", &[1, 1, 2, 3], "cannot make whole blocks of 2 from 3 columns"),
        ("SpaceToDepth", &[2, 2], "needs an image of four dimensions, not 2"),
    ] {
        let mut model = open(model(17, vec![with(node(op, &["x"], &["y"]), &[("blocksize", Value::Int(2))])]));
        let dims: Vec<i64> = shape.iter().map(|d| *d as i64).collect();
        model.graph.as_mut().expect("a graph").input = vec![info_of("x", Some(&dims))];
        let error = result(&model, &count(shape)).expect_err(words);
        assert!(error.contains(words), "{error}");
    }
}

/// As onnxruntime computes them: the sign is the divisor's, with `fmod` the dividend's.
#[test]
fn moduli_of_integers_and_floats() {
    let x: Vec<f32> = (-3..4).map(|i| i as f32).collect();
    let by = || vec![vector("d", &[2., 2., 2., -2., -2., 2., -2.])];
    let cast = |from: &'static str, to: &'static str, ty| with(node("Cast", &[from], &[to]), &[("to", Value::Int(ty))]);
    for (fmod, expected) in [(0, [1., 0., 1., 0., -1., 0., -1.]), (1, [-1., 0., -1., 0., 1., 0., 1.])] {
        let nodes = vec![
            cast("x", "xi", 7),
            cast("d", "di", 7),
            with(node("Mod", &["xi", "di"], &["r"]), &[("fmod", Value::Int(fmod))]),
            cast("r", "y", 1),
        ];
        let mut model = open(model(17, nodes));
        let graph = model.graph.as_mut().expect("a graph");
        (graph.initializer, graph.input) = (by(), vec![info_of("x", Some(&[7]))]);
        let x = Tensor::from_f32(x.clone(), &[7]).expect("seven numbers");
        assert_eq!(values(&result(&model, &x).expect("it runs")), expected);
    }
    let x = Tensor::from_f32(x.iter().map(|x| x + 0.25).collect(), &[7]).expect("seven numbers");
    let modulus = |fmod| with(node("Mod", &["x", "d"], &["y"]), &[("fmod", Value::Int(fmod))]);
    close(modulus(1), by(), &x, &[-0.75, -1.75, -0.75, 0.25, 1.25, 0.25, 1.25]);
    let mut model = open(model(17, vec![modulus(0)]));
    let graph = model.graph.as_mut().expect("a graph");
    (graph.initializer, graph.input) = (by(), vec![info_of("x", Some(&[7]))]);
    let error = result(&model, &x).expect_err("floats need fmod");
    assert!(error.contains("is a modulus of floats, which needs `fmod` to be 1 before opset 28"), "{error}");
    let mut model = open(model_of(28, vec![modulus(0)]));
    let graph = model.graph.as_mut().expect("a graph");
    (graph.initializer, graph.input) = (by(), vec![info_of("x", Some(&[7]))]);
    assert_eq!(values(&result(&model, &x).expect("it runs")), [1.25, 0.25, 1.25, -1.75, -0.75, 0.25, -0.75]);
}

/// As onnxruntime computes them.
#[test]
fn running_sums() {
    let x = || Tensor::from_f32((1..7).map(|i| i as f32).collect(), &[2, 3]).expect("six numbers");
    type Case = (i64, i64, i64, [f64; 6]);
    let cases: [Case; 6] = [
        (1, 0, 0, [1., 3., 6., 4., 9., 15.]),
        (-1, 1, 0, [0., 1., 3., 0., 4., 9.]),
        (-1, 0, 1, [6., 5., 3., 15., 11., 6.]),
        (1, 1, 1, [5., 3., 0., 11., 6., 0.]),
        (0, 0, 0, [1., 2., 3., 5., 7., 9.]),
        (-2, 1, 1, [4., 5., 6., 0., 0., 0.]),
    ];
    for (axis, exclusive, reverse, expected) in cases {
        let ways = [("exclusive", Value::Int(exclusive)), ("reverse", Value::Int(reverse))];
        for dims in [&[][..], &[1]] {
            let sum = with(node("CumSum", &["x", "axis"], &["y"]), &ways);
            close(sum, vec![ints("axis", dims, &[axis])], &x(), &expected);
        }
    }
    for (axis, words) in
        [(ints("axis", &[], &[2]), "axis 2"), (ints("axis", &[2], &[0, 1]), "`axis` must be one number")]
    {
        let mut model = open(model(14, vec![node("CumSum", &["x", "axis"], &["y"])]));
        let graph = model.graph.as_mut().expect("a graph");
        (graph.initializer, graph.input) = (vec![axis], vec![info_of("x", Some(&[2, 3]))]);
        let error = result(&model, &x()).expect_err(words);
        assert!(error.contains(words) && error.contains("my_CumSum"), "{error}");
    }
    // An axis that is data is one number too.
    let nodes =
        vec![with(node("Cast", &["x"], &["axis"]), &[("to", Value::Int(7))]), node("CumSum", &["x", "axis"], &["y"])];
    let error = result(&open(model(14, nodes)), &x()).expect_err("a table");
    assert!(error.contains("`axis` must be one number"), "{error}");
}

/// A model with these inputs, of which the first is `x`, run on tensors.
fn result_of(
    nodes: Vec<NodeProto>,
    inputs: Vec<ValueInfoProto>,
    weights: Vec<TensorProto>,
    data: &[Tensor],
) -> Result<Tensor, String> {
    let mut model = open(model(17, nodes));
    let graph = model.graph.as_mut().expect("a graph");
    (graph.input, graph.initializer) = (inputs, weights);
    let model = OnnxModel::from_bytes(model.encode_to_vec(), None).map_err(|e| e.to_string())?;
    let cx = Context::new(sutura_dialects::all());
    let mut diags = Diagnostics::default();
    let module = import(&cx, &model, &mut diags).map_err(|e| e.to_string())?;
    let data: Vec<Data> = data.iter().cloned().chain(places(&cx, &module)).map(Data::Tensor).collect();
    let results = Interpreter::new(&cx, &module).call("main", &data).map_err(|e| format!("{e:?}"))?;
    Ok(results[0].tensor().expect("a tensor").clone())
}

#[test]
fn places_of_several_dimensions() {
    let at = |numbers: &[i64], shape: &[i64]| vec![ints("at", shape, numbers)];
    let node = |batch| with(node("GatherND", &["x", "at"], &["y"]), &[("batch_dims", Value::Int(batch))]);
    let x = |shape: &[i64]| vec![info_of("x", Some(shape))];
    let read = |batch, shape: &[i64], numbers: &[i64], places: &[i64]| {
        let dims: Vec<usize> = shape.iter().map(|d| *d as usize).collect();
        result_of(vec![node(batch)], x(shape), at(numbers, places), &[count(&dims)])
    };
    let y = read(0, &[2, 3], &[1, -1, 0, 1], &[2, 2]).expect("single elements");
    assert_eq!((y.shape(), values(&y)), (&[2][..], vec![5., 1.]));
    let y = read(0, &[2, 3], &[1, 0, -1], &[3, 1]).expect("rows");
    assert_eq!((y.shape(), values(&y)), (&[3, 3][..], vec![3., 4., 5., 0., 1., 2., 3., 4., 5.]));
    let y = read(1, &[2, 3, 2], &[2, 0], &[2, 1]).expect("a row of each batch");
    assert_eq!((y.shape(), values(&y)), (&[2, 2][..], vec![4., 5., 6., 7.]));
    let wrong = read(0, &[2, 3], &[0, 3], &[1, 2]).unwrap_err();
    assert!(wrong.contains("takes index 3 of dim 1, which has size 3"), "{wrong}");
    let many = read(1, &[2, 3], &[0, 0, 0, 0], &[2, 2]).unwrap_err();
    assert!(many.contains("2 indices behind 1 batch dims do not fit data of rank 2"), "{many}");
}

/// Padding to the length of another tensor, by what that has more.
#[test]
fn pads_by_a_difference_of_sizes() {
    let nodes = || {
        vec![
            node("Shape", &["x"], &["s"]),
            node("Shape", &["like"], &["l"]),
            node("Sub", &["l", "s"], &["more"]),
            node("Mul", &["more", "none"], &["before"]),
            with(node("Concat", &["before", "more"], &["pads"]), &[("axis", Value::Int(0))]),
            node("Pad", &["x", "pads"], &["y"]),
        ]
    };
    let inputs = || vec![sized("x", FLOAT, &["n"]), sized("like", FLOAT, &["m"])];
    let none = || vec![ints("none", &[1], &[0])];
    for (n, m) in [(2, 5), (3, 3), (4, 2), (0, 2)] {
        let y = result_of(nodes(), inputs(), none(), &[count(&[n]), count(&[m])]).expect("it runs");
        let expected: Vec<f32> = (0..m).map(|i| if i < n { i as f32 } else { 0.0 }).collect();
        assert_eq!(values(&y), expected);
    }
    // By numbers that are data.
    let nodes = vec![node("Pad", &["x", "pads"], &["y"])];
    let inputs = || vec![sized("x", FLOAT, &["n"]), sized("pads", INT64, &["2"])];
    for (n, pads) in [(3, [1, 2]), (3, [0, 0]), (0, [2, 1]), (4, [-1, -2]), (2, [3, -1])] {
        let y = result_of(nodes.clone(), inputs(), vec![], &[count(&[n]), numbers(&pads)]).expect("it runs");
        let places = -pads[0]..n as i64 + pads[1];
        let expected: Vec<f32> = places.map(|i| if (0..n as i64).contains(&i) { i as f32 } else { 0.0 }).collect();
        assert_eq!(values(&y), expected, "{n} {pads:?}");
    }
    let error = result_of(nodes, inputs(), vec![], &[count(&[2]), numbers(&[-4, 1])]).unwrap_err();
    assert!(error.contains("a size of -1"), "{error}");
}

/// Integers in a row.
fn numbers(values: &[i64]) -> Tensor {
    let scalars = values.iter().map(|value| Scalar::int(*value, DType::I64));
    Tensor::from_scalars(DType::I64, &[values.len()], scalars).expect("they are a row")
}

/// Shapes that are data: what they ask for is computed in the run.
#[test]
fn shapes_that_are_data() {
    let by = |op: &str, rank: &str, x: &[usize], shape: &[i64]| {
        let inputs = vec![sized("x", FLOAT, &["n", "m"][..x.len()]), sized("shape", INT64, &[rank])];
        result_of(vec![node(op, &["x", "shape"], &["y"])], inputs, vec![], &[count(x), numbers(shape)])
    };
    for (shape, made) in [([-1, 2], [3, 2]), ([0, -1], [2, 3]), ([3, 0], [3, 3]), ([6, 1], [6, 1])] {
        let y = by("Reshape", "2", &[2, 3], &shape);
        match made.iter().product::<usize>() {
            6 => assert_eq!(y.expect("it runs").shape(), made),
            // That it does not fit is found in the run.
            _ => assert!(y.is_err(), "{y:?}"),
        }
    }
    let y = by("Expand", "3", &[2, 3], &[2, 1, 3]).expect("it runs");
    assert_eq!((y.shape(), values(&y)), (&[2, 2, 3][..], [count(&[6]), count(&[6])].iter().flat_map(values).collect()));
    let y = by("Tile", "1", &[2], &[3]).expect("it runs");
    assert_eq!(values(&y), [0., 1., 0., 1., 0., 1.]);
}

/// The numbers of a range, whose bounds are data.
#[test]
fn ranges_of_data() {
    let range = |element: i32, start: f64, limit: f64, delta: f64| {
        let names = ["start", "limit", "delta"];
        let inputs = names.map(|name| sized(name, element, &[])).to_vec();
        let ty = if element == FLOAT { DType::F32 } else { DType::I64 };
        let scalar = |value: f64| match ty {
            DType::Float(kind) => Scalar::float(value, kind),
            ty => Scalar::int(value as i64, ty),
        };
        let number = |value: f64| Tensor::from_scalars(ty, &[], [scalar(value)]).expect("a number");
        let nodes = vec![node("Range", &names, &["r"]), with(node("Cast", &["r"], &["y"]), &[("to", Value::Int(1))])];
        result_of(nodes, inputs, vec![], &[number(start), number(limit), number(delta)]).map(|y| values(&y))
    };
    assert_eq!(range(FLOAT, 1.0, 5.0, 2.0).expect("it runs"), [1.0, 3.0]);
    assert_eq!(range(FLOAT, 0.5, -1.0, -0.5).expect("it runs"), [0.5, 0.0, -0.5]);
    assert_eq!(range(FLOAT, 1.0, f64::NAN, 1.0).expect("it runs"), [0.0; 0]);
    assert_eq!(range(INT64, 10.0, 4.0, -3.0).expect("it runs"), [10.0, 7.0]);
    assert_eq!(range(INT64, 0.0, 5.0, -1.0).expect("it runs"), [0.0; 0]);
    assert_eq!(range(INT64, -3.0, 4.0, 5.0).expect("it runs"), [-3.0, 2.0]);
    assert!(range(INT64, 0.0, 5.0, 0.0).unwrap_err().contains("divi"));
    assert!(range(FLOAT, 0.0, f64::INFINITY, 1.0).unwrap_err().contains("a size of"));
}

/// Quotients and remainders of sums that may be negative are sizes, as PyTorch writes those of strides and windows: `(n - 1) / 8 + 1`, and
/// `(8 - n % 8) % 8` of padding. A quotient is cut towards zero.
#[test]
fn sizes_are_divided_below_zero() {
    let numbers = || {
        vec![ints("one", &[1], &[1]), ints("minus", &[1], &[-1]), ints("eight", &[1], &[8]), ints("none", &[1], &[0])]
    };
    let strided = || {
        vec![
            node("Shape", &["x"], &["s"]),
            node("Sub", &["s", "one"], &["less"]),
            node("Div", &["less", "eight"], &["quotient"]),
            node("Add", &["quotient", "one"], &["count"]),
            node("Expand", &["like", "count"], &["y"]),
        ]
    };
    let padded = || {
        vec![
            node("Shape", &["x"], &["s"]),
            node("Mod", &["s", "eight"], &["rest"]),
            node("Mul", &["rest", "minus"], &["negative"]),
            node("Add", &["negative", "eight"], &["missing"]),
            node("Mod", &["missing", "eight"], &["behind"]),
            with(node("Concat", &["none", "behind"], &["pads"]), &[("axis", Value::Int(0))]),
            node("Pad", &["x", "pads"], &["y"]),
        ]
    };
    for n in [0_usize, 1, 7, 8, 9, 17] {
        let like = sized("like", FLOAT, &["1"]);
        let y = result_of(strided(), vec![sized("x", FLOAT, &["n"]), like], numbers(), &[count(&[n]), count(&[1])]);
        let expected = if n == 0 { 1 } else { (n - 1) / 8 + 1 };
        assert_eq!(values(&y.expect("it runs")).len(), expected, "{n}");
        let y = result_of(padded(), vec![sized("x", FLOAT, &["n"])], numbers(), &[count(&[n])]);
        assert_eq!(values(&y.expect("it runs")).len(), n.next_multiple_of(8), "{n}");
    }
}

/// Constants of less than a byte are packed from the low end.
#[test]
fn elements_of_two_and_four_bits_are_unpacked() {
    let four: &[u8] = &[0x8f, 0x21, 0x07];
    let two: &[u8] = &[0b1110_0100, 0b01];
    for (code, bytes, expected) in [
        (21, four, [15., 8., 1., 2., 7.]),
        (22, four, [-1., -8., 1., 2., 7.]),
        (23, four, [-6., 0., 0.5, 1., 6.]),
        (25, two, [0., 1., 2., 3., 1.]),
        (26, two, [0., 1., -2., -1., 1.]),
    ] {
        let nodes =
            vec![with(node("Cast", &["w"], &["c"]), &[("to", Value::Int(1))]), node("Add", &["x", "c"], &["y"])];
        let mut model = open(model(25, nodes));
        let graph = model.graph.as_mut().expect("a graph");
        graph.input = vec![info_of("x", Some(&[5]))];
        graph.initializer = vec![TensorProto {
            name: Some("w".into()),
            data_type: Some(code),
            dims: vec![5],
            raw_data: Some(bytes.into()),
            ..Default::default()
        }];
        let zeros = Tensor::from_f32(vec![0.0; 5], &[5]).expect("five elements");
        assert_eq!(values(&result(&model, &zeros).expect("it runs")), expected, "{code}");
    }
}

/// ONNX's table of conversions to powers of two: how they round, and what becomes of zero, infinity and what is out of range.
#[test]
fn powers_of_two_round_and_saturate_as_asked() {
    let tiny = 2f32.powi(-127);
    let given = [1.0, 1.25, 1.5, 3.5, 0.0, tiny / 2.0, tiny, 3e38, f32::INFINITY, f32::NAN, -1.0];
    let (most, nan) = (2f32.powi(127), f32::NAN);
    type Case<'a> = (&'a [(&'a str, Value)], [f32; 11]);
    let cases: [Case<'_>; 4] = [
        (&[], [1.0, 2.0, 2.0, 4.0, tiny, tiny, tiny, most, most, nan, nan]),
        (&[("round_mode", Value::Str("down"))], [1.0, 1.0, 1.0, 2.0, tiny, tiny, tiny, most, most, nan, nan]),
        (&[("round_mode", Value::Str("nearest"))], [1.0, 1.0, 2.0, 4.0, tiny, tiny, tiny, most, most, nan, nan]),
        (
            &[("round_mode", Value::Str("nearest")), ("saturate", Value::Int(0))],
            [1.0, 1.0, 2.0, 4.0, nan, nan, tiny, nan, nan, nan, nan],
        ),
    ];
    let count = given.len();
    for (attributes, expected) in cases {
        let nodes = vec![
            with(with(node("Cast", &["x"], &["p"]), &[("to", Value::Int(24))]), attributes),
            with(node("Cast", &["p"], &["y"]), &[("to", Value::Int(1))]),
        ];
        let mut model = open(model(25, nodes));
        model.graph.as_mut().expect("a graph").input = vec![info_of("x", Some(&[count as i64]))];
        let x = Tensor::from_f32(given.to_vec(), &[count]).expect("as many elements");
        let found = values(&result(&model, &x).expect("it runs"));
        let same = |(a, b): (&f32, &f32)| a == b || a.is_nan() && b.is_nan();
        assert!(found.iter().zip(&expected).all(same), "{found:?}\n{expected:?}");
    }
    let odd = with(node("Cast", &["x"], &["y"]), &[("to", Value::Int(24)), ("round_mode", Value::Str("odd"))]);
    let x = Tensor::from_f32(vec![0.0; 4], &[1, 4]).expect("four elements");
    let refused = result(&open(model(25, vec![odd])), &x).unwrap_err();
    assert!(refused.contains("has unknown `round_mode` odd"), "{refused}");
}

/// What only verifiers know of the sizes of a model's tensors is said of its nodes.
#[test]
fn sizes_that_do_not_fit_are_the_models_fault() {
    let x = || vec![info_of("x", Some(&[2, 3]))];
    let gather = vec![node("GatherElements", &["x", "at"], &["y"])];
    let at = vec![ints("at", &[1, 4], &[0, 1, 0, 1])];
    let error = result_of(gather, x(), at, &[count(&[2, 3])]).expect_err("four of three");
    assert!(error.starts_with("the model is not valid:"), "{error}");
    assert!(error.contains("`my_GatherElements`") && error.contains("must be equal, they are 3 and 4"), "{error}");
    // The axes are no list, so it is not known which they are.
    let reduce = vec![node("ReduceSum", &["x", "axes"], &["y"])];
    let inputs = vec![info_of("x", Some(&[2, 3])), sized("axes", INT64, &["2", "1"])];
    let axes = Tensor::from_f32(vec![0.0, 1.0], &[2, 1]).expect("two numbers");
    let error = result_of(reduce, inputs, vec![], &[count(&[2, 3]), axes]).expect_err("axes of rank 2");
    assert!(error.contains("`my_ReduceSum`"), "{error}");
}
