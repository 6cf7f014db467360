//! Graphs in whose middle data decide a size, against onnxruntime: as they are imported, with their shapes, and as programs.
//!
//! `decided.txt` is made by `import/tools/make_decided_references.py`.

use prost::Message;
use sutura_interp::{DType, Interpreter, Scalar, Tensor, Value as Data};
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Context, Diagnostics, Module, Type};

use super::build::{info_of, model, sized};
use crate::onnx::{OnnxModel, import, proto::*};

const TABLE: &str = include_str!("decided.txt");

/// What is done to a module before it is run.
const STAGES: [&str; 3] =
    ["", "propagate-shapes,canonicalize", "propagate-shapes,stitch,convert-graph-to-gir,plan-buffers"];

/// Code in ONNX and type of elements.
fn element(kind: &str) -> (i32, Type) {
    match kind {
        "f32" => (1, Type::F32),
        "bool" => (9, Type::I1),
        "i32" => (6, Type::I32),
        "i64" => (7, Type::I64),
        other => panic!("{other}"),
    }
}

/// Kind, sizes and numbers of `f32[2,2]=1 2 3 4`.
fn parts(text: &str) -> (&str, Vec<usize>, Vec<f64>) {
    let (head, numbers) = text.trim().split_once('=').expect("numbers");
    let (kind, sizes) = head.split_once('[').expect("sizes");
    let sizes = sizes.trim_end_matches(']').split(',').filter(|s| !s.is_empty());
    let number = |n: &str| n.parse().unwrap_or_else(|_| panic!("`{n}` is no number"));
    (kind, sizes.map(|s| s.parse().expect("a size")).collect(), numbers.split_whitespace().map(number).collect())
}

fn tensor(cx: &Context, text: &str) -> Tensor {
    let (kind, sizes, numbers) = parts(text);
    let dtype = DType::expect(cx, element(kind).1).expect("a number's type");
    let number = |n: &f64| match dtype {
        DType::Float(kind) => Scalar::float(*n, kind),
        _ => Scalar::int(*n as i64, dtype),
    };
    Tensor::from_scalars(dtype, &sizes, numbers.iter().map(number)).expect("as many as the sizes say")
}

fn weight(name: &str, text: &str) -> TensorProto {
    let (kind, sizes, numbers) = parts(text);
    let mut made = TensorProto {
        name: Some(name.into()),
        data_type: Some(element(kind).0),
        dims: sizes.iter().map(|size| *size as i64).collect(),
        ..Default::default()
    };
    match kind {
        "f32" => made.float_data = numbers.iter().map(|n| *n as f32).collect(),
        "i64" => made.int64_data = numbers.iter().map(|n| *n as i64).collect(),
        _ => made.int32_data = numbers.iter().map(|n| *n as i32).collect(),
    }
    made
}

fn attribute(text: &str) -> AttributeProto {
    let (head, value) = text.split_once('=').expect("a value");
    let (name, kind) = head.split_once(':').expect("a kind");
    let mut attribute = AttributeProto { name: Some(name.into()), ..Default::default() };
    match kind {
        "int" => (attribute.r#type, attribute.i) = (Some(2), value.parse().ok()),
        "ints" => {
            attribute.r#type = Some(7);
            attribute.ints = value.split(',').map(|n| n.parse().expect("a number")).collect();
        }
        other => panic!("{other}"),
    }
    attribute
}

fn node(text: &str) -> NodeProto {
    let (head, attributes) = text.split_once(" | ").unwrap_or((text.trim_end_matches(" |"), ""));
    let (inputs, outputs) = head.split_once(" -> ").expect("outputs");
    let mut inputs = inputs.split(' ').map(|name| if name == "-" { String::new() } else { name.to_owned() });
    NodeProto {
        op_type: inputs.next(),
        name: Some(format!("my_{outputs}")),
        input: inputs.collect(),
        output: outputs.split(' ').map(|name| if name == "-" { String::new() } else { name.to_owned() }).collect(),
        attribute: attributes.split_whitespace().map(attribute).collect(),
        ..Default::default()
    }
}

/// A graph of the table, with its runs: inputs and what comes of them.
struct Case {
    name: &'static str,
    model: ModelProto,
    runs: Vec<(&'static str, &'static str)>,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').expect("a word and more");
        if word == "graph" {
            let (name, opset) = rest.split_once(' ').expect("an opset");
            let mut model = model(opset.parse().expect("a number"), vec![]);
            let graph = model.graph.as_mut().expect("a graph");
            (graph.input, graph.output) = (vec![], vec![]);
            cases.push(Case { name, model, runs: vec![] });
            continue;
        }
        let case = cases.last_mut().expect("a graph first");
        let graph = case.model.graph.as_mut().expect("a graph");
        let words: Vec<&str> = rest.split(' ').collect();
        match word {
            "input" => graph.input.push(sized(words[0], element(words[1]).0, &words[2..])),
            "output" => {
                let mut output = info_of(words[0], None);
                let tensor = output.r#type.as_mut().and_then(|ty| ty.value.as_mut()).expect("a tensor");
                let type_proto::Value::TensorType(tensor) = tensor else { panic!("a tensor") };
                tensor.elem_type = Some(element(words[1]).0);
                graph.output.push(output);
            }
            "weight" => {
                let (name, text) = rest.split_once(' ').expect("a tensor");
                graph.initializer.push(weight(name, text));
            }
            "node" => graph.node.push(node(rest)),
            "run" => case.runs.push(rest.split_once(" => ").expect("results")),
            other => panic!("{other}"),
        }
    }
    cases
}

fn lowered(cx: &Context, module: &mut Module, passes: &str, what: &str) {
    let mut registry = PassRegistry::default();
    sutura_passes::register(&mut registry);
    let mut diags = Diagnostics::default();
    let pipeline = parse_pipeline(cx, &registry, "test", &format!("builtin.module({passes})"), &mut diags);
    let mut manager = pipeline.unwrap_or_else(|_| panic!("{diags:?}"));
    let mut said = Vec::new();
    let (_, done) = run_pipeline(cx, module, &mut manager, &RunConfig::default(), &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            said.push(diagnostic.message);
        }
    });
    assert!(done.is_ok(), "{what}: {said:?}");
}

fn compare(found: &Tensor, wanted: &str, what: &str) {
    let (kind, sizes, numbers) = parts(wanted);
    assert_eq!(found.shape(), sizes, "{what}");
    for (i, wanted) in numbers.iter().enumerate() {
        let got = found.data().read(i).expect("a number").to_f64_lossy();
        let near = (got - wanted).abs() <= if kind == "f32" { 4e-6 * (wanted.abs() + 1.0) } else { 0.0 };
        assert!(
            near || got == *wanted || got.is_nan() && wanted.is_nan(),
            "{what}: element {i} is {got}, not {wanted}"
        );
    }
}

#[test]
fn what_data_decide_is_as_in_onnxruntime() {
    let cx = Context::new(sutura_dialects::all());
    let cases = cases();
    for case in &cases {
        for stage in STAGES {
            let what = format!("{} after [{stage}]", case.name);
            let loaded = OnnxModel::from_bytes(case.model.encode_to_vec(), None);
            let loaded = loaded.unwrap_or_else(|e| panic!("{what}: {e}"));
            let mut module =
                import(&cx, &loaded, &mut Diagnostics::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
            if !stage.is_empty() {
                lowered(&cx, &mut module, &format!("expand-operators,{stage}"), &what);
            }
            for (inputs, outputs) in &case.runs {
                let what = format!("{what} of {inputs}");
                let args: Vec<Data> = inputs.split(" ; ").map(|text| Data::Tensor(tensor(&cx, text))).collect();
                let results = Interpreter::new(&cx, &module).call("main", &args);
                let results = results.unwrap_or_else(|e| panic!("{what}: {e:?}"));
                let wanted: Vec<&str> = outputs.split(" ; ").collect();
                assert_eq!(results.len(), wanted.len(), "{what}");
                for (result, wanted) in results.iter().zip(wanted) {
                    compare(result.tensor().expect("a tensor"), wanted, &what);
                }
            }
        }
    }
    assert!(cases.len() >= 10 && cases.iter().all(|case| case.runs.len() > 1), "{} graphs", cases.len());
}

/// What comes of importing a node on `x`, `y` and `z`, of which each is `f32` of these sizes; `c` is a list of five truths.
fn imported(op: &str, inputs: &str, attributes: &str, sizes: &[&[&str]; 3]) -> Result<(Context, Module), String> {
    let mut model = model(17, vec![node(&format!("{op} {inputs} -> r | {attributes}"))]);
    let graph = model.graph.as_mut().expect("a graph");
    graph.input = ["x", "y", "z"].iter().zip(sizes).map(|(name, sizes)| sized(name, 1, sizes)).collect();
    graph.initializer = vec![weight("c", "bool[5]=1 0 1 0 1"), weight("d", "bool[1,2]=1 1")];
    let mut output = info_of("r", None);
    let tensor = output.r#type.as_mut().and_then(|ty| ty.value.as_mut()).expect("a tensor");
    let type_proto::Value::TensorType(tensor) = tensor else { panic!("a tensor") };
    tensor.elem_type = Some(if op == "Compress" { 1 } else { 7 });
    graph.output = vec![output];
    let loaded = OnnxModel::from_bytes(model.encode_to_vec(), None).map_err(|e| e.to_string())?;
    let cx = Context::new(sutura_dialects::all());
    let module = import(&cx, &loaded, &mut Diagnostics::default()).map_err(|e| e.to_string())?;
    Ok((cx, module))
}

#[test]
fn of_one_number_columns_are_empty() {
    let (cx, module) = imported("NonZero", "x", "", &[&[], &["1"], &["1"]]).expect("it is right");
    for (number, found) in [("f32[]=2", 1), ("f32[]=-0", 0)] {
        let one = || Data::Tensor(tensor(&cx, "f32[1]=0"));
        let args = [Data::Tensor(tensor(&cx, number)), one(), one()];
        let results = Interpreter::new(&cx, &module).call("main", &args).expect("it runs");
        assert_eq!(results[0].tensor().expect("a tensor").shape(), [0, found], "{number}");
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let told = |op: &str, inputs: &str, attributes: &str, sizes: &[&[&str]; 3], words: &str| {
        let error = imported(op, inputs, attributes, sizes).map(drop).expect_err("it is wrong");
        assert!(error.contains(words) && error.contains("my_r"), "{error}");
    };
    let table: &[&[&str]; 3] = &[&["2", "4"], &["1"], &["1"]];
    told("Compress", "x c", "axis:int=1", table, "has more conditions than there are slices");
    told("Compress", "x d", "axis:int=1", table, "takes a list of conditions, not a tensor of rank 2");
    told("Compress", "x c", "axis:int=2", table, "axis 2");
    let boxes: &[&str] = &["1", "6", "4"];
    told("NonMaxSuppression", "x y", "", &[boxes, &["1", "6"], &["1"]], "needs scores of rank 3, not 2");
    told(
        "NonMaxSuppression",
        "x y",
        "",
        &[&["1", "6", "5"], boxes, &["1"]],
        "needs boxes whose last dim has the constant size 4",
    );
    let scores: &[&str] = &["1", "2", "6"];
    told("NonMaxSuppression", "x y - z", "", &[boxes, scores, &["2"]], "needs one number as the limit of the overlap");
}
