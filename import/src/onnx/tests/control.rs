//! Conditions, loops and sequences: as they are imported and with their shapes, against what is computed here.

use prost::Message;
use sutura_interp::{DType, Interpreter, Tensor, Value as Data};
use sutura_ir::pass::{PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module, Type};

use super::build::*;
use super::convert::places;
use crate::onnx::{OnnxModel, import, proto::*};

const BOOL: i32 = 9;

/// What is done to a module before it is run.
const STAGES: [&str; 3] =
    ["", "propagate-shapes,canonicalize", "scf-for-to-while,scalars-to-tensors,outline-regions,propagate-shapes"];

fn graph_of(inputs: &[(&str, i32)], outputs: &[(&str, i32)], nodes: Vec<NodeProto>) -> GraphProto {
    let infos = |list: &[(&str, i32)]| list.iter().map(|(name, element)| untyped(name, *element)).collect();
    GraphProto {
        name: Some("g".into()),
        input: infos(inputs),
        output: infos(outputs),
        node: nodes,
        ..Default::default()
    }
}

/// A tensor of any shape.
fn untyped(name: &str, element: i32) -> ValueInfoProto {
    let tensor = type_proto::Tensor { elem_type: Some(element), shape: None };
    let value = Some(type_proto::Value::TensorType(tensor));
    ValueInfoProto { name: Some(name.into()), r#type: Some(TypeProto { value }) }
}

fn constant(name: &str, value: TensorProto) -> NodeProto {
    with(node("Constant", &[], &[name]), &[("value", Value::Tensor(value))])
}

fn truth(name: &str) -> NodeProto {
    let value = TensorProto { data_type: Some(BOOL), int32_data: vec![1], ..Default::default() };
    constant(name, value)
}

/// A model of these inputs, with results of the types that are said.
fn whole(inputs: Vec<ValueInfoProto>, outputs: &[(&str, i32)], nodes: Vec<NodeProto>) -> ModelProto {
    let mut m = model(17, nodes);
    let graph = m.graph.as_mut().expect("a graph");
    graph.input = inputs;
    graph.output = outputs.iter().map(|(name, element)| untyped(name, *element)).collect();
    m
}

fn imported(cx: &Context, model: &ModelProto) -> Result<Module, String> {
    let loaded = OnnxModel::from_bytes(model.encode_to_vec(), None).map_err(|e| e.to_string())?;
    import(cx, &loaded, &mut Diagnostics::default()).map_err(|e| e.to_string())
}

fn lowered(cx: &Context, module: &mut Module, passes: &str) {
    let mut registry = PassRegistry::default();
    sutura_passes::register(&mut registry);
    let text = format!("builtin.module({passes})");
    let mut manager = parse_pipeline(cx, &registry, "test", &text, &mut Diagnostics::default()).expect("a pipeline");
    let config = RunConfig { verify_each: true, verify: VerifyOptions::default(), ..RunConfig::default() };
    let (_, done) = run_pipeline(cx, module, &mut manager, &config, &mut |_| {});
    assert!(done.is_ok(), "{passes}");
}

/// Shapes and numbers.
type Results = Vec<(Vec<usize>, Vec<f64>)>;

/// Shapes and numbers of the results for each list of inputs, which all stages make.
fn runs(model: &ModelProto, inputs: &[Vec<Tensor>]) -> Vec<Results> {
    let cx = Context::new(sutura_dialects::all());
    let mut all: Vec<Vec<Results>> = Vec::new();
    for stage in STAGES {
        let mut module = imported(&cx, model).unwrap_or_else(|e| panic!("{e}"));
        let mut diags = Diagnostics::default();
        let verified = verify(module.op_ref(&cx), VerifyOptions::default(), &mut diags);
        assert!(verified.is_ok(), "{:?}", diags.iter().map(|d| &d.message).collect::<Vec<_>>());
        if !stage.is_empty() {
            lowered(&cx, &mut module, &format!("expand-operators,{stage}"));
        }
        let run = |args: &Vec<Tensor>| {
            let args: Vec<Data> = args.iter().cloned().chain(places(&cx, &module)).map(Data::Tensor).collect();
            let results = Interpreter::new(&cx, &module).call("main", &args);
            let results = results.unwrap_or_else(|e| panic!("[{stage}]: {e:?}"));
            let of = |result: &Data| {
                let tensor = result.tensor().expect("a tensor");
                let count = tensor.shape().iter().product();
                let is_truth = tensor.dtype() == DType::expect(&cx, Type::I1).expect("a type");
                let number = |i| tensor.data().read(i).expect("a number").to_f64_lossy();
                let number = |i| if is_truth { number(i).abs() } else { number(i) };
                (tensor.shape().to_vec(), (0..count).map(number).collect())
            };
            results.iter().map(of).collect()
        };
        all.push(inputs.iter().map(run).collect());
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
    all.remove(0)
}

fn told(model: &ModelProto) -> String {
    imported(&Context::new(sutura_dialects::all()), model).map(drop).expect_err("it is wrong")
}

fn list(values: &[f32]) -> Tensor {
    Tensor::from_f32(values.to_vec(), &[values.len()]).expect("a list")
}

fn rows(values: &[f32], columns: usize) -> Tensor {
    Tensor::from_f32(values.to_vec(), &[values.len() / columns, columns]).expect("a table")
}

fn number(value: f32) -> Tensor {
    Tensor::from_f32(vec![value], &[]).expect("a number")
}

/// A list of a size of its own.
fn open(name: &str, size: &str) -> ValueInfoProto {
    sized(name, FLOAT, &[size])
}

fn with_graphs(node: NodeProto, graphs: &[(&str, GraphProto)]) -> NodeProto {
    let graphs: Vec<(&str, Value)> = graphs.iter().map(|(name, graph)| (*name, Value::Graph(graph.clone()))).collect();
    with(node, &graphs)
}

#[test]
fn sides_have_sizes_of_their_own() {
    let then =
        graph_of(&[], &[("a", FLOAT)], vec![with(node("Concat", &["x", "x"], &["a"]), &[("axis", Value::Int(0))])]);
    let other = graph_of(&[], &[("a", FLOAT)], vec![node("Neg", &["x"], &["a"])]);
    let zero = constant("zero", floats("", &[], &[0.0]));
    let nodes = vec![
        zero,
        node("Greater", &["s", "zero"], &["c"]),
        with_graphs(node("If", &["c"], &["y"]), &[("then_branch", then), ("else_branch", other)]),
        // The name is free again.
        node("Relu", &["y"], &["a"]),
    ];
    let m = whole(vec![sized("s", FLOAT, &[]), open("x", "n")], &[("a", FLOAT)], nodes);
    let results = runs(
        &m,
        &[vec![number(1.0), list(&[2.0, -1.0])], vec![number(-1.0), list(&[2.0, -1.0])], vec![number(1.0), list(&[])]],
    );
    assert_eq!(results[0], [(vec![4], vec![2.0, 0.0, 2.0, 0.0])]);
    assert_eq!(results[1], [(vec![2], vec![0.0, 1.0])]);
    assert_eq!(results[2], [(vec![0], vec![])]);
}

#[test]
fn a_condition_that_is_known_takes_its_side() {
    // As PyTorch exports a squeeze: the sides have different ranks.
    let one = || constant("one", ints("", &[], &[1]));
    let ax = constant("ax", ints("", &[1], &[1]));
    let squeeze = graph_of(&[], &[("a", FLOAT)], vec![node("Squeeze", &["x", "ax"], &["a"])]);
    let keep = graph_of(&[], &[("a", FLOAT)], vec![node("Identity", &["x"], &["a"])]);
    let branches = [("then_branch", squeeze), ("else_branch", keep)];
    let nodes = vec![
        one(),
        ax,
        node("Shape", &["x"], &["shape"]),
        node("Gather", &["shape", "one"], &["size"]),
        node("Equal", &["size", "one"], &["c"]),
        with_graphs(node("If", &["c"], &["y"]), &branches),
    ];
    let m = |size: &str| whole(vec![sized("x", FLOAT, &["n", size])], &[("y", FLOAT)], nodes.clone());
    assert_eq!(runs(&m("1"), &[vec![rows(&[1.0, 2.0], 1)]])[0], [(vec![2], vec![1.0, 2.0])]);
    assert_eq!(runs(&m("2"), &[vec![rows(&[1.0, 2.0], 2)]])[0], [(vec![1, 2], vec![1.0, 2.0])]);
    let text = told(&m("k"));
    assert!(text.contains("has sides that make tensors of rank 1 and 2") && text.contains("my_If"), "{text}");
}

/// `s = s + x[i]` with a row of `s` for each iteration, as long as `s < 10`.
fn running_sum(condition: &str) -> ModelProto {
    let body = graph_of(
        &[("i", INT64), ("go", BOOL), ("s", FLOAT)],
        &[("more", BOOL), ("t", FLOAT), ("row", FLOAT)],
        vec![
            node("Gather", &["x", "i"], &["e"]),
            node("Add", &["s", "e"], &["t"]),
            node(
                if condition.is_empty() { "Identity" } else { "Less" },
                if condition.is_empty() { &["go"] } else { &["t", "ten"] },
                &["more"],
            ),
            node("Mul", &["t", "w"], &["row"]),
        ],
    );
    let nodes = vec![
        constant("zero", ints("", &[], &[0])),
        constant("none", floats("", &[], &[0.0])),
        constant("ten", floats("", &[], &[10.0])),
        constant("w", floats("", &[2], &[1.0, -1.0])),
        truth("true"),
        node("Shape", &["x"], &["shape"]),
        node("Gather", &["shape", "zero"], &["n"]),
        with_graphs(node("Loop", &["n", "true", "none"], &["y", "all"]), &[("body", body)]),
    ];
    whole(vec![open("x", "n")], &[("y", FLOAT), ("all", FLOAT)], nodes)
}

#[test]
fn loops_keep_a_row_for_each_iteration() {
    let inputs = [list(&[]), list(&[3.0]), list(&[4.0, 5.0, 6.0, 7.0])].map(|x| vec![x]);
    let all = runs(&running_sum(""), &inputs);
    assert_eq!(all[0], [(vec![], vec![0.0]), (vec![0, 2], vec![])]);
    assert_eq!(all[1], [(vec![], vec![3.0]), (vec![1, 2], vec![3.0, -3.0])]);
    assert_eq!(all[2], [(vec![], vec![22.0]), (vec![4, 2], vec![4.0, -4.0, 9.0, -9.0, 15.0, -15.0, 22.0, -22.0])]);
    // A condition ends it before.
    let some = runs(&running_sum("ends"), &inputs);
    assert_eq!(some[..2], all[..2]);
    assert_eq!(some[2], [(vec![], vec![15.0]), (vec![3, 2], vec![4.0, -4.0, 9.0, -9.0, 15.0, -15.0])]);
}

#[test]
fn what_an_iteration_changes_in_size_is_decided() {
    // What is more than 1 is kept, less 1.
    let body = graph_of(
        &[("i", INT64), ("go", BOOL), ("s", FLOAT)],
        &[("go", BOOL), ("t", FLOAT)],
        vec![
            node("Sub", &["s", "one"], &["less"]),
            node("Relu", &["less"], &["positive"]),
            node("NonZero", &["positive"], &["found"]),
            node("Squeeze", &["found", "ax"], &["places"]),
            node("Gather", &["positive", "places"], &["t"]),
        ],
    );
    let nodes = vec![
        constant("one", floats("", &[], &[1.0])),
        constant("ax", ints("", &[1], &[0])),
        truth("true"),
        with_graphs(node("Loop", &["k", "true", "x"], &["y"]), &[("body", body)]),
    ];
    let m = whole(vec![sized("k", INT64, &[]), open("x", "n")], &[("y", FLOAT)], nodes);
    let count = |k: i64| Tensor::from_i64(vec![k], &[]).expect("a number");
    let x = || list(&[0.5, 3.5, 1.5, 2.5]);
    let results = runs(&m, &[vec![count(0), x()], vec![count(1), x()], vec![count(3), x()], vec![count(9), x()]]);
    assert_eq!(results[0], [(vec![4], vec![0.5, 3.5, 1.5, 2.5])]);
    assert_eq!(results[1], [(vec![3], vec![2.5, 0.5, 1.5])]);
    assert_eq!(results[2], [(vec![1], vec![0.5])]);
    assert_eq!(results[3], [(vec![0], vec![])]);
}

/// A decoder of one layer without weights that differ: it looks up the cache with the state, writes the state to the cache, and names
/// the greatest element of what comes out.
fn decoder() -> ModelProto {
    let body = graph_of(
        &[("i", INT64), ("go", BOOL), ("h", FLOAT), ("cache", FLOAT)],
        &[("go", BOOL), ("next", FLOAT), ("written", FLOAT), ("token", INT64)],
        vec![
            node("Unsqueeze", &["i", "ax"], &["place"]),
            node("ScatterND", &["cache", "place", "h"], &["written"]),
            node("MatMul", &["written", "h"], &["scores"]),
            with(node("Softmax", &["scores"], &["weights"]), &[("axis", Value::Int(0))]),
            node("MatMul", &["weights", "written"], &["mixed"]),
            node("MatMul", &["mixed", "w"], &["next"]),
            with(node("ArgMax", &["next"], &["token"]), &[("axis", Value::Int(0)), ("keepdims", Value::Int(0))]),
        ],
    );
    let nodes = vec![
        constant("zero", ints("", &[], &[0])),
        constant("ax", ints("", &[1], &[0])),
        constant("w", floats("", &[2, 2], &[0.5, 1.0, 1.5, -0.5])),
        truth("true"),
        node("Shape", &["empty"], &["shape"]),
        node("Gather", &["shape", "zero"], &["n"]),
        with_graphs(node("Loop", &["n", "true", "start", "empty"], &["h", "cache", "tokens"]), &[("body", body)]),
    ];
    let inputs = vec![sized("start", FLOAT, &["2"]), sized("empty", FLOAT, &["n", "2"])];
    whole(inputs, &[("h", FLOAT), ("cache", FLOAT), ("tokens", INT64)], nodes)
}

/// Tokens and last state of the decoder.
fn decoded(start: [f64; 2], steps: usize) -> (Vec<f64>, [f64; 2]) {
    let (mut h, mut cache, mut tokens) = (start, vec![[0.0; 2]; steps], Vec::new());
    for i in 0..steps {
        cache[i] = h;
        let weights: Vec<f64> = cache.iter().map(|row| (row[0] * h[0] + row[1] * h[1]).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mixed = [0, 1].map(|d| cache.iter().zip(&weights).map(|(row, w)| row[d] * w / total).sum::<f64>());
        h = [0.5 * mixed[0] + 1.5 * mixed[1], mixed[0] - 0.5 * mixed[1]];
        tokens.push(f64::from(u8::from(h[1] > h[0])));
    }
    (tokens, h)
}

#[test]
fn a_decoder_writes_its_cache() {
    let start = || list(&[1.0, -0.25]);
    let sizes = [0, 1, 3, 6];
    let inputs = sizes.map(|n| vec![start(), rows(&vec![0.0; 2 * n], 2)]);
    for (n, results) in sizes.into_iter().zip(runs(&decoder(), &inputs)) {
        let (tokens, h) = decoded([1.0, -0.25], n);
        assert_eq!(results[2], (vec![n], tokens));
        assert_eq!(results[1].0, [n, 2]);
        assert!(results[0].1.iter().zip(h).all(|(got, want)| (got - want).abs() < 1e-5), "{:?} {h:?}", results[0]);
    }
}

/// A cache of keys and one of values that get a row in each iteration; what is looked up is the next state.
fn growing_decoder(condition: &str) -> ModelProto {
    let joined = |cache: &str, row: &str, result: &str| {
        with(node("Concat", &[cache, row], &[result]), &[("axis", Value::Int(0))])
    };
    let body = graph_of(
        &[("i", INT64), ("go", BOOL), ("h", FLOAT), ("keys", FLOAT), ("values", FLOAT)],
        &[("more", BOOL), ("next", FLOAT), ("keys2", FLOAT), ("values2", FLOAT)],
        vec![
            node("Unsqueeze", &["h", "ax"], &["row"]),
            node("Neg", &["row"], &["negative"]),
            joined("keys", "row", "keys2"),
            joined("values", "negative", "values2"),
            node("MatMul", &["keys2", "h"], &["scores"]),
            with(node("Softmax", &["scores"], &["weights"]), &[("axis", Value::Int(0))]),
            node("MatMul", &["weights", "values2"], &["mixed"]),
            node("Add", &["mixed", "h"], &["next"]),
            node(condition, if condition == "Identity" { &["go"] } else { &["i", "two"] }, &["more"]),
        ],
    );
    let nodes = vec![
        constant("zero", ints("", &[], &[0])),
        constant("two", ints("", &[], &[2])),
        constant("ax", ints("", &[1], &[0])),
        truth("true"),
        node("Shape", &["steps"], &["shape"]),
        node("Gather", &["shape", "zero"], &["n"]),
        with_graphs(node("Loop", &["n", "true", "start", "k", "k"], &["h", "keys", "values"]), &[("body", body)]),
    ];
    let inputs = vec![sized("start", FLOAT, &["2"]), sized("k", FLOAT, &["p", "2"]), open("steps", "n")];
    whole(inputs, &[("h", FLOAT), ("keys", FLOAT), ("values", FLOAT)], nodes)
}

#[test]
fn caches_grow() {
    let of = |n: usize, p: usize| vec![list(&[0.5, -1.0]), rows(&vec![0.25; 2 * p], 2), list(&vec![0.0; n])];
    for (condition, most) in [("Identity", 9), ("Less", 3)] {
        let runs = runs(&growing_decoder(condition), &[of(0, 2), of(1, 0), of(2, 1), of(5, 3)]);
        for ((n, p), results) in [(0, 2), (1, 0), (2, 1), (5, 3)].into_iter().zip(runs) {
            let (mut h, mut keys, mut values) = ([0.5, -1.0], vec![[0.25; 2]; p], vec![[0.25; 2]; p]);
            for _ in 0..n.min(most) {
                keys.push(h);
                values.push(h.map(|x: f64| -x));
                let weights: Vec<f64> = keys.iter().map(|row| (row[0] * h[0] + row[1] * h[1]).exp()).collect();
                let total: f64 = weights.iter().sum();
                h = [0, 1].map(|d| values.iter().zip(&weights).map(|(row, w)| row[d] * w / total).sum::<f64>() + h[d]);
            }
            assert_eq!(results[1].0, [keys.len(), 2], "{condition} {n} {p}");
            let wanted: [Vec<f64>; 3] = [h.to_vec(), keys.concat(), values.concat()];
            for ((_, got), want) in results.iter().zip(&wanted) {
                assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-5), "{got:?} {want:?}");
            }
        }
    }
}

#[test]
fn what_shrinks_together_has_one_size() {
    // Boxes and scores: those above 1 are kept, and multiplied.
    let body = graph_of(
        &[("i", INT64), ("go", BOOL), ("a", FLOAT), ("b", FLOAT)],
        &[("go", BOOL), ("a2", FLOAT), ("b2", FLOAT)],
        vec![
            node("Mul", &["a", "b"], &["ab"]),
            node("Greater", &["ab", "one"], &["is"]),
            node("NonZero", &["is"], &["found"]),
            node("Squeeze", &["found", "ax"], &["places"]),
            node("Gather", &["ab", "places"], &["a2"]),
            node("Gather", &["b", "places"], &["b2"]),
        ],
    );
    let nodes = vec![
        constant("one", floats("", &[], &[1.0])),
        constant("ax", ints("", &[1], &[0])),
        truth("true"),
        with_graphs(node("Loop", &["k", "true", "x", "x"], &["y", "z"]), &[("body", body)]),
        node("Add", &["y", "z"], &["s"]),
    ];
    let m = whole(vec![sized("k", INT64, &[]), open("x", "n")], &[("s", FLOAT)], nodes);
    let count = |k: i64| Tensor::from_i64(vec![k], &[]).expect("a number");
    let results = runs(&m, &[vec![count(0), list(&[0.5, 2.0])], vec![count(2), list(&[0.5, 2.0, 3.0])]]);
    assert_eq!(results[0], [(vec![2], vec![1.0, 4.0])]);
    assert_eq!(results[1], [(vec![2], vec![10.0, 30.0])]);
}

#[test]
fn scans_go_along_any_axis_in_both_directions() {
    let body = graph_of(
        &[("s", FLOAT), ("a", FLOAT)],
        &[("t", FLOAT), ("o", FLOAT)],
        vec![node("Add", &["s", "a"], &["t"]), node("Identity", &["t"], &["o"])],
    );
    let scan = with(
        with_graphs(node("Scan", &["start", "x"], &["y", "all"]), &[("body", body)]),
        &[
            ("num_scan_inputs", Value::Int(1)),
            ("scan_input_axes", Value::Ints(&[-1])),
            ("scan_input_directions", Value::Ints(&[1])),
            ("scan_output_axes", Value::Ints(&[1])),
            ("scan_output_directions", Value::Ints(&[1])),
        ],
    );
    let m =
        whole(vec![open("start", "n"), sized("x", FLOAT, &["n", "l"])], &[("y", FLOAT), ("all", FLOAT)], vec![scan]);
    let results = runs(&m, &[vec![list(&[0.0, 10.0]), rows(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3)]]);
    // From the last column to the first one, and written back in the same order.
    assert_eq!(results[0][0], (vec![2], vec![6.0, 25.0]));
    assert_eq!(results[0][1], (vec![2, 3], vec![6.0, 5.0, 3.0, 25.0, 21.0, 16.0]));
}

#[test]
fn sequences_are_lists_of_the_importer() {
    let body = graph_of(&[("a", FLOAT)], &[("b", FLOAT)], vec![node("Add", &["a", "z"], &["b"])]);
    let nodes = vec![
        constant("two", ints("", &[], &[2])),
        constant("last", ints("", &[], &[-1])),
        node("SequenceConstruct", &["x", "z"], &["s"]),
        node("SequenceInsert", &["s", "z", "two"], &["s3"]),
        node("SequenceErase", &["s3", "last"], &["s2"]),
        with_graphs(node("SequenceMap", &["s2"], &["m"]), &[("body", body)]),
        node("SequenceAt", &["m", "last"], &["at"]),
        node("SequenceLength", &["s3"], &["length"]),
        with(node("ConcatFromSequence", &["m"], &["joined"]), &[("axis", Value::Int(0))]),
        node("Optional", &["m"], &["maybe"]),
        node("OptionalHasElement", &["maybe"], &["has"]),
        node("OptionalGetElement", &["maybe"], &["same"]),
    ];
    let inputs = || vec![sized("x", FLOAT, &["1"]), sized("z", FLOAT, &["1"])];
    let outputs = [("joined", FLOAT), ("at", FLOAT), ("length", INT64), ("has", BOOL), ("same", FLOAT)];
    let mut m = whole(inputs(), &outputs, nodes.clone());
    let sequence = type_proto::Value::SequenceType(Default::default());
    graph(&mut m).output[4].r#type = Some(TypeProto { value: Some(sequence) });
    let results = runs(&m, &[vec![list(&[1.0]), list(&[5.0])]]).remove(0);
    let expected: [(Vec<usize>, Vec<f64>); 6] = [
        (vec![2], vec![6.0, 10.0]),
        (vec![1], vec![10.0]),
        (vec![], vec![3.0]),
        (vec![], vec![1.0]),
        (vec![1], vec![6.0]),
        (vec![1], vec![10.0]),
    ];
    assert_eq!(results, expected);
    let wrong = |op: NodeProto| told(&whole(inputs(), &[("y", FLOAT)], [nodes.clone(), vec![op]].concat()));
    let text = wrong(node("SequenceAt", &["s", "two"], &["y"]));
    assert!(text.contains("has position 2 in a sequence of 2"), "{text}");
    let text = wrong(node("Relu", &["s"], &["y"]));
    assert!(text.contains("needs a tensor, and `s` is a sequence"), "{text}");
    let text = wrong(with(node("ConcatFromSequence", &["x"], &["y"]), &[("axis", Value::Int(0))]));
    assert!(text.contains("needs a sequence, and `x` is a tensor"), "{text}");
}

#[test]
fn sizes_of_parts_may_be_data() {
    let nodes = vec![
        with(node("SplitToSequence", &["x", "sizes"], &["s"]), &[("axis", Value::Int(0))]),
        constant("one", ints("one", &[], &[1])),
        node("SequenceAt", &["s", "one"], &["at"]),
    ];
    let inputs = |count: &str| vec![open("x", "n"), sized("sizes", INT64, &[count])];
    let m = whole(inputs("3"), &[("at", FLOAT)], nodes.clone());
    let sizes = |values: &[i64]| Tensor::from_i64(values.to_vec(), &[values.len()]).expect("a list");
    let x = || list(&[1.0, 2.0, 3.0, 4.0]);
    let results = runs(&m, &[vec![x(), sizes(&[1, 2, 1])], vec![x(), sizes(&[4, 0, 0])]]);
    assert_eq!(results, [[(vec![2], vec![2.0, 3.0])], [(vec![0], vec![])]]);
    let text = told(&whole(inputs("k"), &[("at", FLOAT)], nodes.clone()));
    assert!(text.contains("takes sizes of parts from `sizes`, which does not hold a known number of them"), "{text}");
    let text = told(&whole(inputs("257"), &[("at", FLOAT)], nodes));
    assert!(text.contains("at most 256"), "{text}");
}

#[test]
fn what_cannot_be_is_told() {
    let body = |outputs: &[(&str, i32)], nodes| graph_of(&[("i", INT64), ("go", BOOL), ("s", FLOAT)], outputs, nodes);
    let of = |inputs: &[&str], body: GraphProto| {
        let nodes = vec![truth("true"), with_graphs(node("Loop", inputs, &["y"]), &[("body", body)])];
        told(&whole(vec![sized("k", INT64, &[]), open("x", "n")], &[("y", FLOAT)], nodes))
    };
    let keep = || body(&[("go", BOOL), ("s", FLOAT)], vec![]);
    assert!(of(&["", "", "x"], keep()).contains("never ends: it has neither"), "{}", of(&["", "", "x"], keep()));
    assert!(of(&["", "true", "x"], keep()).contains("never ends: its condition is always true"));
    assert!(of(&["k", "true"], keep()).contains("carries 0 values, and has a graph with 3 inputs, not 2"));
    let flat = body(
        &[("go", BOOL), ("t", FLOAT)],
        vec![with(node("ReduceSum", &["s"], &["t"]), &[("keepdims", Value::Int(0))])],
    );
    let text = of(&["k", "true", "x"], flat);
    assert!(text.contains("carries a tensor of rank 1, and makes one of rank 0"), "{text}");
    let other = body(&[("go", BOOL), ("t", INT64)], vec![with(node("Cast", &["s"], &["t"]), &[("to", Value::Int(7))])]);
    let text = of(&["k", "true", "x"], other);
    assert!(text.contains("carries a tensor of f32, and makes one of i64"), "{text}");
    // What is in a graph is named.
    let text =
        of(&["k", "true", "x"], body(&[("go", BOOL), ("t", FLOAT)], vec![node("StringConcat", &["s", "s"], &["t"])]));
    assert!(text.contains("StringConcat: `my_StringConcat`: operator is not supported"), "{text}");
}
