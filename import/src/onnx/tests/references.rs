//! Operators of the library against onnx's reference evaluator, as they are imported and after they were expanded.
//!
//! `references.txt` is made by `import/tools/make_references.py`. Operators of onnxruntime's own domain are compared with what it
//! computes, in `microsoft.txt`, by `import/tools/make_microsoft_references.py`.

use std::collections::BTreeSet;

use prost::Message;
use sutura_dialects::graph::operator::onnx_forms;
use sutura_interp::{DType, Interpreter, Scalar, Tensor, Value as Data};
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::types::{Signedness, TypeData};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module, Type};

use super::build::{info_of, model, node, sized};
use crate::onnx::{OnnxModel, import, proto::*, schema};

const TABLES: [(&str, &str); 2] =
    [("references.txt", include_str!("references.txt")), ("microsoft.txt", include_str!("microsoft.txt"))];

/// Operators whose results onnxruntime rounds otherwise than their text says: stored integers may differ by one.
const STEPS: [&str; 1] = ["QLinearAveragePool"];

/// A line of the table.
struct Case {
    /// Where it stands.
    place: String,
    /// Empty for ONNX's own.
    domain: &'static str,
    op: &'static str,
    opset: i64,
    attributes: Vec<AttributeProto>,
    inputs: Vec<Option<Array>>,
    outputs: Vec<Option<Array>>,
}

/// A tensor as the table writes it.
struct Array {
    kind: &'static str,
    sizes: Vec<usize>,
    numbers: Vec<f64>,
}

impl Array {
    fn read(text: &'static str) -> Self {
        let (head, numbers) = text.split_once('=').expect("numbers");
        let (kind, sizes) = head.split_once('[').expect("sizes");
        let sizes = sizes.trim_end_matches(']').split(',').filter(|s| !s.is_empty());
        let number = |n: &str| n.parse().unwrap_or_else(|_| panic!("`{n}` is no number"));
        Self {
            kind,
            sizes: sizes.map(|s| s.parse().expect("a size")).collect(),
            numbers: numbers.split_whitespace().map(number).collect(),
        }
    }

    /// The element type here, and its code in ONNX.
    fn element(&self, cx: &Context) -> (DType, i32) {
        let (ty, code) = match self.kind {
            "f32" => (Type::F32, 1),
            "f64" => (Type::F64, 11),
            "f16" => (Type::F16, 10),
            "bf16" => (Type::BF16, 16),
            "bool" => (Type::I1, 9),
            "u8" => (cx.ty(TypeData::Integer { width: 8, sign: Signedness::Unsigned }), 2),
            "i8" => (Type::I8, 3),
            "i16" => (Type::I16, 5),
            "i32" => (Type::I32, 6),
            "i64" => (Type::I64, 7),
            other => panic!("{other}"),
        };
        (DType::expect(cx, ty).expect("a number's type"), code)
    }

    fn tensor(&self, cx: &Context) -> Tensor {
        let (dtype, _) = self.element(cx);
        let number = |n: &f64| match dtype {
            DType::Float(kind) => Scalar::float(*n, kind),
            _ => Scalar::int(*n as i64, dtype),
        };
        Tensor::from_scalars(dtype, &self.sizes, self.numbers.iter().map(number)).expect("as many as the sizes say")
    }

    /// How far a result may be from the reference, in parts of it and absolutely.
    fn tolerance(&self) -> f64 {
        match self.kind {
            "f64" => 1e-12,
            "f32" => 4e-6,
            "f16" => 6e-3,
            "bf16" => 5e-2,
            _ => 0.0,
        }
    }
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
        "floats" => {
            attribute.r#type = Some(6);
            attribute.floats = value.split(',').map(|n| n.parse().expect("a number")).collect();
        }
        "strings" => {
            attribute.r#type = Some(8);
            attribute.strings = value.split(',').map(|word| word.to_string().into_bytes().into()).collect();
        }
        "float" => (attribute.r#type, attribute.f) = (Some(1), value.parse().ok()),
        _ => (attribute.r#type, attribute.s) = (Some(3), Some(value.to_string().into_bytes().into())),
    }
    attribute
}

fn cases() -> impl Iterator<Item = Case> {
    let lines = |(name, table): (&'static str, &'static str)| table.lines().enumerate().map(move |line| (name, line));
    let lines = TABLES.into_iter().flat_map(lines).filter(|(_, (_, line))| !line.starts_with('#'));
    lines.map(|(name, (number, line))| {
        let mut fields = line.split(" | ");
        let mut field = || fields.next().unwrap_or_else(|| panic!("{line}")).trim();
        let (head, attributes, inputs, outputs) = (field(), field(), field(), field());
        let tensors =
            |text: &'static str| text.split(';').map(str::trim).map(|t| (t != "-").then(|| Array::read(t))).collect();
        let (op, opset) = head.split_once(' ').expect("an opset");
        let (domain, op) = op.rsplit_once('.').unwrap_or(("", op));
        Case {
            place: format!("line {} of {name}", number + 1),
            domain,
            op,
            opset: opset.parse().expect("a number"),
            attributes: attributes.split_whitespace().map(attribute).collect(),
            inputs: tensors(inputs),
            outputs: tensors(outputs),
        }
    })
}

/// The case as a model; its sizes are known only when it runs, if `open`.
fn onnx(cx: &Context, case: &Case, open: bool) -> ModelProto {
    let names: Vec<String> = (0..case.inputs.len())
        .map(|i| if case.inputs[i].is_some() { format!("x{i}") } else { String::new() })
        .collect();
    let outputs: Vec<String> = (0..case.outputs.len())
        .map(|i| if case.outputs[i].is_some() { format!("y{i}") } else { String::new() })
        .collect();
    let of = names.iter().map(String::as_str).collect::<Vec<_>>();
    let mut made = node(case.op, &of, &outputs.iter().map(String::as_str).collect::<Vec<_>>());
    made.attribute = case.attributes.clone();
    made.domain = Some(case.domain.into()).filter(|_| !case.domain.is_empty());
    let mut model = model(if case.domain.is_empty() { case.opset } else { 17 }, vec![made]);
    if !case.domain.is_empty() {
        let own = OperatorSetIdProto { domain: Some(case.domain.into()), version: Some(case.opset) };
        model.opset_import.push(own);
    }
    let graph = model.graph.as_mut().expect("a graph");
    let info = |(name, input): (&String, &Option<Array>)| {
        let input = input.as_ref()?;
        let size = |(i, size): (usize, &usize)| if open { format!("{name}_{i}") } else { size.to_string() };
        let sizes: Vec<String> = input.sizes.iter().enumerate().map(size).collect();
        Some(sized(name, input.element(cx).1, &sizes.iter().map(String::as_str).collect::<Vec<_>>()))
    };
    graph.input = names.iter().zip(&case.inputs).filter_map(info).collect();
    let info = |(name, output): (&String, &Option<Array>)| {
        let (mut info, (_, code)) = (info_of(name, None), output.as_ref()?.element(cx));
        let tensor = info.r#type.as_mut().and_then(|ty| ty.value.as_mut()).expect("a tensor");
        let type_proto::Value::TensorType(tensor) = tensor else { panic!("a tensor") };
        tensor.elem_type = Some(code);
        Some(info)
    };
    graph.output = outputs.iter().zip(&case.outputs).filter_map(info).collect();
    model
}

fn checked(cx: &Context, module: &Module, what: &str) {
    let mut diags = Diagnostics::default();
    let verified = verify(module.op_ref(cx), VerifyOptions::default(), &mut diags);
    assert!(verified.is_ok(), "{what}: {:?}", diags.iter().map(|d| &d.message).collect::<Vec<_>>());
}

fn expand(cx: &Context, module: &mut Module) {
    let mut registry = PassRegistry::default();
    sutura_passes::register(&mut registry);
    let mut diags = Diagnostics::default();
    let pipeline = parse_pipeline(cx, &registry, "test", "builtin.module(expand-operators)", &mut diags);
    let mut manager = pipeline.unwrap_or_else(|_| panic!("{diags:?}"));
    let mut said = Vec::new();
    let (_, done) = run_pipeline(cx, module, &mut manager, &RunConfig::default(), &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            said.push(diagnostic.message);
        }
    });
    assert!(done.is_ok(), "{said:?}");
}

fn run(cx: &Context, module: &Module, inputs: &[Data], what: &str) -> Vec<Tensor> {
    let results = Interpreter::new(cx, module).call("main", inputs).unwrap_or_else(|e| panic!("{what}: {e:?}"));
    results.iter().map(|result| result.tensor().expect("a tensor").clone()).collect()
}

fn compare(case: &Case, found: &[Tensor], what: &str, wrong: &mut Vec<String>) {
    let outputs: Vec<&Array> = case.outputs.iter().flatten().collect();
    assert_eq!(found.len(), outputs.len(), "{what}");
    for (found, output) in found.iter().zip(outputs) {
        compare_one(case, found, output, what, wrong);
    }
}

fn compare_one(case: &Case, found: &Tensor, output: &Array, what: &str, wrong: &mut Vec<String>) {
    assert_eq!(found.shape(), &output.sizes[..], "{what}");
    for (i, wanted) in output.numbers.iter().enumerate() {
        let got = found.data().read(i).expect("a number");
        let got = if output.kind == "bool" { f64::from(got.as_bool().unwrap_or(false)) } else { got.to_f64_lossy() };
        let near = (got - wanted).abs() <= output.tolerance() * (wanted.abs() + 1.0);
        let small = wanted.abs() >= 1e-3 || got == *wanted || (got - wanted).abs() <= 2e-2 * wanted.abs();
        let step = STEPS.contains(&case.op) && (got - wanted).abs() <= 1.0;
        let same = got == *wanted || (got.is_nan() && wanted.is_nan()) || step;
        // Results near 0 must be right to a few digits themselves where only a function was applied.
        let strict = case.inputs.len() == 1 && output.kind == "f32" && case.op.ends_with('h');
        if !(same || (near && (small || !strict))) {
            wrong.push(format!("{what}: element {i} is {got}, not {wanted}"));
        }
    }
}

#[test]
fn the_library_is_what_the_reference_evaluator_says() {
    let cx = Context::new(sutura_dialects::all());
    let (mut count, mut wrong) = (0, Vec::new());
    for case in cases() {
        let args: Vec<Data> = case.inputs.iter().flatten().map(|array| Data::Tensor(array.tensor(&cx))).collect();
        // Sizes that only a run tells would say that no dimension is stretched.
        let alone = args.len() == 1 || ["LSTM", "GRU", "RNN"].contains(&case.op);
        for open in [false, true].into_iter().filter(|open| !open || alone) {
            let what = format!("{}, {}, open: {open}", case.place, case.op);
            let bytes = onnx(&cx, &case, open).encode_to_vec();
            let model = OnnxModel::from_bytes(bytes, None).unwrap_or_else(|e| panic!("{what}: {e}"));
            let mut module = import(&cx, &model, &mut Diagnostics::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
            checked(&cx, &module, &what);
            let named = run(&cx, &module, &args, &what);
            compare(&case, &named, &what, &mut wrong);
            expand(&cx, &mut module);
            checked(&cx, &module, &what);
            let expanded = run(&cx, &module, &args, &what);
            assert!(format!("{named:?}") == format!("{expanded:?}"), "{what}: expanded {expanded:?}, not {named:?}");
            compare(&case, &expanded, &what, &mut wrong);
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 200, "{count} cases");
}

#[test]
fn every_operator_of_the_library_has_a_reference() {
    let tested: BTreeSet<(&str, &str)> = cases().map(|case| (case.domain, case.op)).collect();
    let forms = onnx_forms().map(|form| (form.domain.as_str(), form.op.as_str()));
    let foreign = schema::operators().map(|operator| (operator.domain, operator.name));
    let foreign = foreign.filter(|(domain, _)| *domain == "com.microsoft");
    let without: Vec<(&str, &str)> = forms.chain(foreign).filter(|op| !tested.contains(op)).collect();
    assert!(without.is_empty(), "no reference for {without:?}");
}
