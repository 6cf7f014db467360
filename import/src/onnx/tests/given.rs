//! Shapes that are said beside a model: of sequences, of optionals, and of tensors whose rank a model leaves open.

use prost::Message;
use sutura_dialects::func::FuncOp;
use sutura_interp::{Interpreter, Tensor, Value as Data};
use sutura_ir::asm::print::type_text;
use sutura_ir::{Context, Diagnostics, Module};

use super::build::*;
use super::convert::values;
use crate::onnx::{GivenShape, OnnxModel, import, proto::*};

fn of_kind(name: &str, value: type_proto::Value) -> ValueInfoProto {
    ValueInfoProto { name: Some(name.into()), r#type: Some(TypeProto { value: Some(value) }) }
}

/// `name`, a sequence of what `of` is.
fn sequence(name: &str, of: ValueInfoProto) -> ValueInfoProto {
    let elem_type = of.r#type.map(Box::new);
    of_kind(name, type_proto::Value::SequenceType(Box::new(type_proto::Sequence { elem_type })))
}

/// `name`, an optional of what `of` is.
fn optional(name: &str, of: ValueInfoProto) -> ValueInfoProto {
    let elem_type = of.r#type.map(Box::new);
    of_kind(name, type_proto::Value::OptionalType(Box::new(type_proto::Optional { elem_type })))
}

/// A model of these inputs whose results have any shape.
fn whole(inputs: Vec<ValueInfoProto>, nodes: Vec<NodeProto>) -> ModelProto {
    let mut m = model(18, nodes);
    let graph = graph(&mut m);
    graph.input = inputs;
    graph.output = vec![info_of("y", None)];
    m
}

/// The module of a model with these shapes, or what is wrong.
fn given(cx: &Context, model: &ModelProto, shapes: &[&str]) -> Result<Module, String> {
    let mut model = OnnxModel::from_bytes(model.encode_to_vec(), None).map_err(|e| e.to_string())?;
    let shapes = shapes.iter().map(|shape| shape.parse()).collect::<Result<Vec<GivenShape>, String>>()?;
    model.give_shapes(&shapes)?;
    import(cx, &model, &mut Diagnostics::default()).map_err(|e| e.to_string())
}

/// The type of `main`.
fn signature(cx: &Context, module: &Module) -> String {
    let entry = module.op_ref(cx).region(0).and_then(|region| region.entry());
    let main = entry.into_iter().flat_map(|entry| entry.ops()).find_map(|op| op.as_::<FuncOp<'_>>()).expect("main");
    let types: Vec<String> = main.inputs().iter().map(|ty| type_text(cx, *ty)).collect();
    types.join(", ")
}

fn types(model: &ModelProto, shapes: &[&str]) -> String {
    let cx = Context::new(sutura_dialects::all());
    given(&cx, model, shapes).map_or_else(|error| error, |module| signature(&cx, &module))
}

fn joined() -> Vec<NodeProto> {
    vec![with(node("ConcatFromSequence", &["s"], &["y"]), &[("axis", Value::Int(0))])]
}

fn run(model: &ModelProto, shapes: &[&str], args: &[&[f32]]) -> Vec<f32> {
    let cx = Context::new(sutura_dialects::all());
    let module = given(&cx, model, shapes).unwrap_or_else(|error| panic!("{error}"));
    let tensor = |list: &&[f32]| Data::Tensor(Tensor::from_f32(list.to_vec(), &[list.len()]).expect("a list"));
    let args: Vec<Data> = args.iter().map(tensor).collect();
    let results = Interpreter::new(&cx, &module).call("main", &args).unwrap_or_else(|e| panic!("{e:?}"));
    values(results[0].tensor().expect("a tensor"))
}

#[test]
fn each_tensor_of_a_sequence_is_an_argument_of_its_own_size() {
    let m = whole(vec![sequence("s", sized("", FLOAT, &["n"]))], joined());
    assert_eq!(run(&m, &["s=[[n],[?],[2]]"], &[&[1.0], &[2.0, 3.0, 4.0], &[5.0, 6.0]]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let said = types(&m, &["s=[[n],[?],[2]]"]);
    assert_eq!(said, "tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[s.1_0]>>, tensor<2xf32>");
    // A rank that the model leaves open.
    let m = whole(vec![sequence("s", info_of("", None))], joined());
    assert_eq!(run(&m, &["s=[[n],[n]]"], &[&[1.0], &[2.0]]), [1.0, 2.0]);
    assert!(types(&m, &["s=[]"]).contains("joins an empty sequence"));
}

#[test]
fn an_optional_is_what_is_said_of_it() {
    let has = vec![
        node("OptionalHasElement", &["o"], &["has"]),
        with(node("Cast", &["has"], &["y"]), &[("to", Value::Int(FLOAT.into()))]),
    ];
    let m = whole(vec![optional("o", sized("", FLOAT, &["n"]))], has.clone());
    assert_eq!(run(&m, &["o=none"], &[]), [0.0]);
    assert_eq!(run(&m, &["o=[n]"], &[&[7.0]]), [1.0]);
    let get = vec![node("OptionalGetElement", &["o"], &["s"]), joined().remove(0)];
    let m = whole(vec![optional("o", sequence("", sized("", FLOAT, &["n"])))], get);
    assert_eq!(run(&m, &["o=[[1],[2]]"], &[&[7.0], &[8.0, 9.0]]), [7.0, 8.0, 9.0]);
}

#[test]
fn names_of_dims_become_what_is_given_everywhere() {
    let inputs = vec![sized("x", FLOAT, &["n", "4"]), sized("z", FLOAT, &["n", "m"])];
    let m = whole(inputs, vec![node("Relu", &["x"], &["y"])]);
    assert_eq!(types(&m, &["x=[3,4]"]), "tensor<3x4xf32>, tensor<3x?xf32, #dyn.shape<[3, m]>>");
    assert_eq!(types(&m, &["x=[rows,?]"]), "input `x` has size 4 in dim 1, which `?` is not");
    let same = "tensor<?x4xf32, #dyn.shape<[rows, 4]>>, tensor<?x?xf32, #dyn.shape<[rows, m]>>";
    assert_eq!(types(&m, &["x=[rows,4]"]), same);
    assert_eq!(types(&m, &["x=[3,4]", "z=[5,1]"]), "input `z` has size 3 in dim 0, which `5` is not");
    // Names that change places.
    let inputs = vec![sized("x", FLOAT, &["n", "m"]), sized("z", FLOAT, &["n"])];
    let m = whole(inputs, vec![node("Relu", &["x"], &["y"])]);
    let swapped = "tensor<?x?xf32, #dyn.shape<[m, n]>>, tensor<?xf32, #dyn.shape<[m]>>";
    assert_eq!(types(&m, &["x=[m,n]"]), swapped);
    let m = whole(vec![sized("x", FLOAT, &["n", "n"])], vec![node("Relu", &["x"], &["y"])]);
    assert_eq!(types(&m, &["x=[2,?]"]), "tensor<2x2xf32>");
    let m = whole(vec![sized("x", FLOAT, &["n", "n"])], vec![node("Relu", &["x"], &["y"])]);
    assert_eq!(types(&m, &["x=[2,3]"]), "input `x` has dims that the model calls `n`, which cannot be `2` and `3`");
    let m = whole(vec![info_of("x", None)], vec![node("Relu", &["x"], &["y"])]);
    assert_eq!(types(&m, &["x=[]"]), "tensor<f32>");
    let without = types(&m, &[]);
    assert!(without.contains("input `x`: has no known rank") && without.contains("--shape \"x=[N,3]\""), "{without}");
}

#[test]
fn what_is_not_said_or_does_not_fit_is_told() {
    let m = whole(vec![sequence("s", sized("", FLOAT, &["n", "4"])), sized("x", FLOAT, &["n"])], joined());
    let without = types(&m, &[]);
    assert!(without.contains("input `s`: is a sequence, and it is not known how many tensors it has"), "{without}");
    assert!(without.contains("say it with `--shape \"s=[[N,3],[4,3]]\"`"), "{without}");
    let cases = [
        ("s=[2,4]", "input `s` is a sequence, and has a shape for each of its tensors, as `[[N,3],[4,3]]`"),
        ("s=[[2,4],[2]]", "input `s` has rank 2 in the model, and the shape has rank 1"),
        ("s=[[2,4],[2,5]]", "input `s` has size 4 in dim 1, which `5` is not"),
        ("s=none", "input `s` is no optional, so it is there"),
        ("x=[[2]]", "input `x` is a tensor, which has one shape, as `[N,3]`"),
        ("y=[2]", "the model has no input `y` that a caller gives; there are `s`, `x`"),
        ("x=[-1]", "`-1` is no dim; a dim is a number, a name, or `?` for a size that each run tells"),
        ("x=[2,]", "`` is no dim"),
        ("x=[99999999999999999999]", "is no dim"),
        ("x=[a?]", "`a?` is no dim"),
    ];
    for (shape, words) in cases {
        let said = types(&m, &[shape]);
        assert!(said.contains(words), "{shape}: {said}");
    }
    for text in ["", "x", "=[2]", "x=2", "x=[2", "x=[[2]", "x=[[2]3]", "x=[[2],3]", "x=[[2][3]]", "x=[[[2]]]"] {
        assert!(text.parse::<GivenShape>().is_err(), "{text}");
    }
    assert!(" x = y=[ 2 , n ]".parse::<GivenShape>().is_ok(), "names may hold `=` and blanks");
    let m = whole(vec![sequence("s", sequence("", sized("", FLOAT, &["n"])))], joined());
    assert!(types(&m, &["s=[[2]]"]).contains("is a sequence of what is a sequence"), "{}", types(&m, &["s=[[2]]"]));
    let m = whole(vec![optional("o", sized("", FLOAT, &["n"]))], vec![node("Relu", &["o"], &["y"])]);
    let without = types(&m, &[]);
    assert!(without.contains("is an optional, and it is not known whether it is there"), "{without}");
    assert!(without.contains("say it with `--shape \"o=[N,3]\"` or `--shape \"o=none\"`"), "{without}");
    assert_eq!(types(&m, &["o=none", "o=[2]"]), "two shapes are given of input `o`");
}
