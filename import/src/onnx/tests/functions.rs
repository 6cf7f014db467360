//! Functions that a model defines: their nodes stand in the place of calls.

use super::build::*;
use crate::onnx::{Attribute, OnnxError, OnnxModel, proto::*};

fn function(name: &str, inputs: &[&str], outputs: &[&str], nodes: Vec<NodeProto>) -> FunctionProto {
    let names = |list: &[&str]| list.iter().map(|&n| n.to_owned()).collect();
    FunctionProto {
        name: Some(name.into()),
        domain: Some("own".into()),
        input: names(inputs),
        output: names(outputs),
        node: nodes,
        opset_import: vec![OperatorSetIdProto { domain: None, version: Some(17) }],
        ..Default::default()
    }
}

fn call(name: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto { domain: Some("own".into()), ..node(name, inputs, outputs) }
}

fn with_functions(nodes: Vec<NodeProto>, functions: Vec<FunctionProto>) -> ModelProto {
    ModelProto { functions, ..model(17, nodes) }
}

/// An attribute that refers to one of the function.
fn refers(mut node: NodeProto, name: &str, to: &str, kind: i32) -> NodeProto {
    let reference = AttributeProto {
        name: Some(name.into()),
        ref_attr_name: Some(to.into()),
        r#type: Some(kind),
        ..Default::default()
    };
    node.attribute.push(reference);
    node
}

/// `name: y, z = Op(x)` for each node.
fn shown(model: &OnnxModel) -> Vec<String> {
    let list =
        |names: &[Option<String>]| names.iter().map(|n| n.as_deref().unwrap_or("")).collect::<Vec<_>>().join(", ");
    let node = |n: &crate::onnx::Node| format!("{}: {} = {}({})", n.name, list(&n.outputs), n.op_type, list(&n.inputs));
    model.graph.nodes.iter().map(node).collect()
}

fn problem(nodes: Vec<NodeProto>, functions: Vec<FunctionProto>) -> String {
    problems(&with_functions(nodes, functions)).join("; ")
}

#[test]
fn calls_are_replaced_by_nodes_with_names_of_their_own() {
    let twice = function("Twice", &["a"], &["b"], vec![node("Add", &["a", "a"], &["t"]), node("Relu", &["t"], &["b"])]);
    let four = function("Four", &["a"], &["c"], vec![call("Twice", &["a"], &["b"]), call("Twice", &["b"], &["c"])]);
    let m = with_functions(vec![call("Four", &["x"], &["t"]), call("Twice", &["t"], &["y"])], vec![four, twice]);
    let read = read(&m).unwrap();
    let expected = [
        "my_Four/my_Twice/my_Add: my_Four/my_Twice/t = Add(x, x)",
        "my_Four/my_Twice/my_Relu: my_Four/b = Relu(my_Four/my_Twice/t)",
        "my_Four/my_Twice_2/my_Add: my_Four/my_Twice_2/t = Add(my_Four/b, my_Four/b)",
        "my_Four/my_Twice_2/my_Relu: t = Relu(my_Four/my_Twice_2/t)",
        "my_Twice/my_Add: my_Twice/t = Add(t, t)",
        "my_Twice/my_Relu: y = Relu(my_Twice/t)",
    ];
    // The second call of one name gets a number in the names of nodes, too.
    assert_eq!(shown(&read), expected);
    assert_eq!(read.functions.len(), 2);
    assert!(unsupported(&m).is_empty());
}

#[test]
fn attributes_are_given_or_have_a_default() {
    let body = refers(node("Softmax", &["a"], &["b"]), "axis", "along", 2);
    let mut softmax = function("Own", &["a"], &["b"], vec![body]);
    softmax.attribute.push("along".into());
    let axis = |m: &ModelProto| read(m).unwrap().graph.nodes[0].attributes.get("axis").cloned();
    let given = with(call("Own", &["x"], &["y"]), &[("along", Value::Int(0))]);
    let m = with_functions(vec![given.clone()], vec![softmax.clone()]);
    assert_eq!(axis(&m), Some(Attribute::Int(0)));
    let m = with_functions(vec![call("Own", &["x"], &["y"])], vec![softmax.clone()]);
    assert_eq!(axis(&m), None);
    let default = with(node("", &[], &[]), &[("along", Value::Int(1))]).attribute.remove(0);
    softmax.attribute.clear();
    softmax.attribute_proto.push(default);
    let m = with_functions(vec![call("Own", &["x"], &["y"])], vec![softmax.clone()]);
    assert_eq!(axis(&m), Some(Attribute::Int(1)));
    let m = with_functions(vec![given], vec![softmax.clone()]);
    assert_eq!(axis(&m), Some(Attribute::Int(0)));
    let other = with(call("Own", &["x"], &["y"]), &[("over", Value::Int(0))]);
    let text = problem(vec![other], vec![softmax.clone()]);
    assert_eq!(text, "node `my_Own` (Own): has attribute `over`, which the function does not have");
    softmax.attribute_proto.clear();
    let text = problem(vec![call("Own", &["x"], &["y"])], vec![softmax]);
    assert!(text.contains("node `my_Softmax` refers to attribute `along`, which the function does not have"), "{text}");
}

#[test]
fn nodes_are_of_the_opset_of_their_function() {
    let old = with(node("Squeeze", &["a"], &["b"]), &[("axes", Value::Ints(&[0]))]);
    let mut squeeze = function("Old", &["a"], &["b"], vec![old]);
    squeeze.opset_import[0].version = Some(11);
    let m = with_functions(vec![call("Old", &["x"], &["t"]), node("Relu", &["t"], &["y"])], vec![squeeze.clone()]);
    assert!(unsupported(&m).is_empty());
    assert_eq!(read(&m).unwrap().graph.nodes.iter().map(|n| n.opset).collect::<Vec<_>>(), [Some(11), Some(17)]);
    squeeze.opset_import[0].version = Some(0);
    assert_eq!(
        problem(vec![call("Old", &["x"], &["y"])], vec![squeeze.clone()]),
        "function `own.Old`: there is no opset 0"
    );
    squeeze.opset_import.clear();
    let text = problem(vec![call("Old", &["x"], &["t"]), call("Old", &["t"], &["y"])], vec![squeeze]);
    assert_eq!(text, "function `own.Old`: does not say which version of ONNX's operators it uses");
}

#[test]
fn a_function_goes_before_an_operator_of_its_name() {
    let mut relu = function("Relu", &["a"], &["b"], vec![node("Abs", &["a"], &["b"])]);
    relu.domain = Some("ai.onnx".into());
    let m = with_functions(vec![node("Relu", &["x"], &["y"])], vec![relu]);
    assert_eq!(shown(&read(&m).unwrap()), ["my_Relu/my_Abs: y = Abs(x)"]);
}

#[test]
fn overloads_have_functions_of_their_own() {
    let named = |overload: &str, op: &str| FunctionProto {
        overload: Some(overload.into()),
        ..function("F", &["a"], &["b"], vec![node(op, &["a"], &["b"])])
    };
    let second = NodeProto { overload: Some("two".into()), ..call("F", &["x"], &["y"]) };
    let m = with_functions(vec![second.clone()], vec![named("one", "Abs"), named("two", "Neg")]);
    assert_eq!(shown(&read(&m).unwrap()), ["my_F/my_Neg: y = Neg(x)"]);
    let m = with_functions(vec![second], vec![named("one", "Abs")]);
    assert_eq!(unsupported(&m)[0].reason, "operator is not supported");
    let text = problem(vec![call("F", &["x"], &["y"])], vec![named("", "Abs"), named("", "Neg")]);
    assert_eq!(text, "function `own.F`: is defined twice");
}

#[test]
fn inputs_and_outputs_may_be_left_out_or_handed_on() {
    // `c` is left out; `a` is handed on, `b` twice, and `d` is used by nobody.
    let nodes = vec![node("Clip", &["a", "c"], &["b"]), node("Neg", &["b"], &["d"])];
    let f = function("F", &["a", "c"], &["b", "a", "b", "d"], nodes);
    let m = with_functions(vec![call("F", &["x"], &["y", "z", "w"])], vec![f]);
    let expected = [
        "my_F/my_Clip: y = Clip(x, )",
        "my_F/my_Neg: my_F/d = Neg(y)",
        "my_F/a: z = Identity(x)",
        "my_F/b: w = Identity(y)",
    ];
    assert_eq!(shown(&read(&m).unwrap()), expected);
}

#[test]
fn names_in_graphs_of_a_function_capture_nothing() {
    // The call gives `t` and `x`, which are also names in the graph.
    let graph = GraphProto {
        node: vec![node("Neg", &["a"], &["t"]), node("Add", &["t", "a"], &["x"])],
        output: vec![info("x", FLOAT)],
        ..Default::default()
    };
    let branch = with(
        node("If", &["c"], &["b"]),
        &[("then_branch", Value::Graph(graph.clone())), ("else_branch", Value::Graph(graph))],
    );
    let f = function("F", &["a", "c"], &["b"], vec![branch]);
    let nodes = vec![node("Relu", &["x"], &["t"]), node("Equal", &["x", "x"], &["c"]), call("F", &["t", "c"], &["y"])];
    let read = read(&with_functions(nodes, vec![f])).unwrap();
    let inner: Vec<&crate::onnx::Graph> = read.graph.nodes[2].attributes.values().flat_map(|a| a.graphs()).collect();
    let nodes: Vec<String> =
        inner.iter().flat_map(|g| &g.nodes).map(|n| format!("{:?}", (&n.inputs, &n.outputs))).collect();
    let expected = [
        r#"([Some("t")], [Some("my_F/t")])"#,
        r#"([Some("my_F/t"), Some("t")], [Some("my_F/x")])"#,
        r#"([Some("t")], [Some("my_F/t_2")])"#,
        r#"([Some("my_F/t_2"), Some("t")], [Some("my_F/x_2")])"#,
    ];
    assert_eq!(nodes, expected);
    assert_eq!(inner[0].outputs[0].name, "my_F/x");
}

#[test]
fn what_breaks_the_rules_is_told_once() {
    let relu = || vec![node("Relu", &["a"], &["b"])];
    let f = || function("F", &["a"], &["b"], relu());
    let of_call = |nodes| problem(nodes, vec![f()]);
    assert_eq!(of_call(vec![call("F", &["x", "x"], &["y"])]), "node `my_F` (F): has 2 inputs, the function has 1");
    assert_eq!(of_call(vec![call("F", &["x"], &["y", "z"])]), "node `my_F` (F): has 2 outputs, the function has 1");
    let calls = || vec![call("F", &["x"], &["t"]), call("F", &["t"], &["y"])];
    let of = |inputs: &[&str], outputs: &[&str], nodes| problem(calls(), vec![function("F", inputs, outputs, nodes)]);
    let outer = of(&["a"], &["b"], vec![node("Add", &["a", "x"], &["b"])]);
    assert_eq!(outer, "function `own.F`: node `my_Add` uses `x`, which nothing before it defines");
    assert_eq!(of(&["a"], &["c"], relu()), "function `own.F`: has output `c`, which nothing makes");
    assert_eq!(of(&["a", "a"], &["b"], relu()), "function `own.F`: has input `a` twice");
    let twice = of(&["a"], &["b"], [relu(), relu()].concat());
    assert_eq!(twice, "function `own.F`: defines `b` twice");
    let recursive = vec![
        function("F", &["a"], &["b"], vec![call("G", &["a"], &["b"])]),
        function("G", &["a"], &["b"], vec![call("F", &["a"], &["b"])]),
    ];
    let text = problem(calls(), recursive);
    assert!(
        text.contains("calls itself: function `own.F`, which calls function `own.G`, which calls function `own.F`"),
        "{text}"
    );
    assert_eq!(text.matches("calls itself").count(), 1);
}

#[test]
fn calls_that_make_too_many_nodes_are_refused() {
    // Each function calls the next one ten times: 10^12 nodes.
    let chain = |number: usize| {
        let next = format!("F{}", number + 1);
        let value = |i: usize| format!("v{i}");
        let step = |i: usize| call(&next, &[if i == 0 { "a" } else { "v0" }], &[&value(i)]);
        let mut nodes: Vec<NodeProto> = (0..10).map(step).collect();
        if number == 11 {
            nodes = vec![node("Relu", &["a"], &["v0"])];
        }
        function(&format!("F{number}"), &["a"], &["v0"], nodes)
    };
    let m = with_functions(vec![call("F0", &["x"], &["y"])], (0..12).map(chain).collect());
    let Err(OnnxError::Unsupported(list)) = read(&m) else { panic!("is read") };
    assert!(list[0].message.contains("all calls together make more than 200000 nodes"), "{}", list[0].message);
    // A chain that is too long.
    let link = |number: usize| {
        let next = format!("F{}", number + 1);
        function(&format!("F{number}"), &["a"], &["b"], vec![call(&next, &["a"], &["b"])])
    };
    let m = with_functions(vec![call("F0", &["x"], &["y"])], (0..200).map(link).collect());
    let Err(OnnxError::Unsupported(list)) = read(&m) else { panic!("is read") };
    assert!(list[0].message.contains("calls functions in each other, more than 100"), "{}", list[0].message);
}
