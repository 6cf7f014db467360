//! Arithmetic that a model does on constants for its shapes: what has no result is found when it is read.

use prost::Message;
use sutura_ir::{Context, Diagnostics};

use super::build::{INT64, Value, floats, info, info_of, ints, model, node, sized, with};
use crate::onnx::{OnnxModel, UnsupportedOps, import, proto::*};

const MAX: i64 = i64::MAX;
const MIN: i64 = i64::MIN;

type Attributes<'a> = &'a [(&'a str, Value)];

fn attempt(nodes: Vec<NodeProto>, lists: &[(&str, &[i64])], input: ValueInfoProto) -> Result<(), UnsupportedOps> {
    attempt_for(nodes, lists, input, info_of("y", None))
}

/// The same, with what is said of the output.
fn attempt_for(
    nodes: Vec<NodeProto>,
    lists: &[(&str, &[i64])],
    input: ValueInfoProto,
    output: ValueInfoProto,
) -> Result<(), UnsupportedOps> {
    let mut model = model(18, nodes);
    let graph = model.graph.as_mut().expect("a graph");
    graph.input = vec![input];
    graph.output = vec![output];
    graph.initializer = lists.iter().map(|(name, all)| ints(name, &[all.len() as i64], all)).collect();
    let model = OnnxModel::from_bytes(model.encode_to_vec(), None).expect("well formed");
    let cx = Context::new(sutura_dialects::all());
    import(&cx, &model, &mut Diagnostics::default()).map(drop)
}

/// What is wrong with a model over `x: f32[n, 4]`.
fn wrong(nodes: Vec<NodeProto>, lists: &[(&str, &[i64])]) -> String {
    let error = attempt(nodes, lists, info("x", super::build::FLOAT)).expect_err("it has no result");
    assert!(error.is_invalid(), "{error}");
    error.to_string()
}

/// `op(x, s)` with `s = left ∘ right`.
fn sized_by(function: &str, left: &[i64], right: &[i64], op: &str) -> String {
    wrong(vec![node(function, &["a", "b"], &["s"]), node(op, &["x", "s"], &["y"])], &[("a", left), ("b", right)])
}

#[test]
fn what_divides_by_zero_is_named() {
    for function in ["Div", "Mod"] {
        let error = sized_by(function, &[7], &[0], "Reshape");
        assert!(error.contains(&format!("`my_{function}`: divides 7 by 0: `a` by `b`")), "{error}");
        let error = sized_by(function, &[7, 8], &[2, 0], "Reshape");
        assert!(error.contains("divides `a` by 0: element 1 of `b`"), "{error}");
    }
    // The divisor may follow from shapes.
    let nodes = vec![
        node("Shape", &["x"], &["s"]),
        node("Sub", &["s", "s"], &["zero"]),
        node("Div", &["s", "zero"], &["q"]),
        node("Reshape", &["x", "q"], &["y"]),
    ];
    assert!(wrong(nodes, &[]).contains("divides `s` by 0"));
}

#[test]
fn nothing_is_divided_where_there_is_nothing() {
    let nodes =
        [node("Div", &["a", "b"], &["q"]), node("Concat", &["q", "c"], &["s"]), node("Reshape", &["x", "s"], &["y"])];
    let concat = with(nodes[1].clone(), &[("axis", Value::Int(0))]);
    let nodes = vec![nodes[0].clone(), concat, nodes[2].clone()];
    let done = attempt(nodes, &[("a", &[]), ("b", &[0]), ("c", &[-1])], info("x", super::build::FLOAT));
    assert_eq!(done, Ok(()));
}

#[test]
fn numbers_that_do_not_fit_are_wrong_where_they_decide_sizes() {
    type Case = (&'static str, &'static [i64], &'static [i64], &'static str, &'static str);
    let cases: [Case; 6] = [
        ("Mul", &[1 << 62], &[4], "Reshape", "computes 4611686018427387904 * 4"),
        ("Add", &[MAX], &[2], "Expand", "computes 9223372036854775807 + 2"),
        ("Sub", &[MIN, 3], &[1, 1], "Tile", "computes -9223372036854775808 - 1"),
        ("Div", &[MIN], &[-1], "Expand", "computes -9223372036854775808 / -1"),
        ("Pow", &[2], &[64], "Reshape", "computes 2 to the power of 64"),
        ("Mul", &[1 << 40, 2], &[1 << 40], "Reshape", "computes 1099511627776 * 1099511627776"),
    ];
    for (function, left, right, op, words) in cases {
        let error = sized_by(function, left, right, op);
        assert!(error.contains(words) && error.contains("has sizes from `s`"), "{error}");
    }
    // The way to the size does not matter.
    let nodes = vec![
        node("ReduceProd", &["a"], &["p"]),
        with(node("Concat", &["b", "p"], &["c"]), &[("axis", Value::Int(0))]),
        node("Identity", &["c"], &["s"]),
        node("Reshape", &["x", "s"], &["y"]),
    ];
    let error = wrong(nodes, &[("a", &[1 << 40, 1 << 40]), ("b", &[4])]);
    assert!(error.contains("computes 1208925819614629174706176"), "{error}");
}

#[test]
fn numbers_that_do_not_fit_wrap_around_elsewhere() {
    let float = with(node("Cast", &["s"], &["f"]), &[("to", Value::Int(1))]);
    let nodes = vec![node("Mul", &["a", "b"], &["s"]), float, node("Add", &["x", "f"], &["y"])];
    assert_eq!(attempt(nodes, &[("a", &[1 << 62]), ("b", &[4])], info("x", super::build::FLOAT)), Ok(()));
}

/// `op(x, s)` alone.
fn alone(op: &str, list: &[i64], attributes: Attributes<'_>, sizes: &[&str]) -> Result<(), UnsupportedOps> {
    let node = with(node(op, &["x", "s"], &["y"]), attributes);
    attempt(vec![node], &[("s", list)], sized("x", super::build::FLOAT, sizes))
}

#[test]
fn sizes_that_there_are_not() {
    let zero: Attributes<'_> = &[("allowzero", Value::Int(1))];
    let first: Attributes<'_> = &[("axis", Value::Int(1))];
    type Case<'a> = (&'a str, &'a [i64], Attributes<'a>, &'a [&'a str], &'a str);
    let cases: [Case<'_>; 20] = [
        ("Expand", &[-1], &[], &["n", "4"], "has the size -1 for dim 0"),
        ("Tile", &[-1, 1], &[], &["n", "4"], "has the repeat -1 for dim 0"),
        ("Tile", &[1, MIN], &[], &["n", "4"], "has the repeat -9223372036854775808 for dim 1"),
        ("Tile", &[2], &[], &["n", "4"], "has 1 repeats for 2 dims"),
        (
            "Tile",
            &[1, 1 << 62],
            &[],
            &["n", "4"],
            "makes dim 1 of 4611686018427387904 times 4, which 64 bits do not hold",
        ),
        ("Tile", &[1 << 31, 1 << 31], &[], &["2", "4"], "whose bytes 64 bits do not count"),
        ("Pad", &[0, -3, 0, -3], &[], &["n", "4"], "makes dim 1 of size -2"),
        ("Pad", &[-2, 0, -2, 0], &[], &["2", "4"], "makes dim 0 of size -2"),
        ("Pad", &[0, 1], &[], &["n", "4"], "has 2 pads for 2 axes"),
        ("Reshape", &[-1, -1], &[], &["n", "4"], "only one size can be -1"),
        ("Reshape", &[-2, 4], &[], &["n", "4"], "a size is at least 0"),
        ("Reshape", &[-1, 4, 0], &[], &["n", "4"], "it copies dim 2, and the input has 2 dims"),
        ("Reshape", &[0, -1], zero, &["n", "4"], "with a size of 0, -1 may be anything"),
        ("Reshape", &[0, -1], &[], &["0", "4"], "beside a size of 0, -1 may be anything"),
        ("Reshape", &[3, 3], &[], &["2", "4"], "which the 8 elements of the input do not fill"),
        ("Reshape", &[3, -1], &[], &["2", "4"], "which the 8 elements of the input do not fill"),
        ("Reshape", &[1 << 62, 1 << 62], &[], &["2", "4"], "which the 8 elements of the input do not fill"),
        ("Gather", &[0, 4], first, &["n", "4"], "takes index 4 of dim 1, which has size 4"),
        ("Gather", &[-5], first, &["n", "4"], "takes index -5 of dim 1, which has size 4"),
        ("Squeeze", &[1], &[], &["n", "4"], "dimension 1 and 1 differ: 4 and 1"),
    ];
    for (op, list, attributes, sizes, words) in cases {
        let error = alone(op, list, attributes, sizes).expect_err(words);
        assert!(error.is_invalid() && error.to_string().contains(words), "{op} {list:?}: {error}");
    }
}

#[test]
fn sizes_that_there_are() {
    let cases: [(&str, &[i64], &[&str]); 7] = [
        ("Expand", &[3, 1, 1], &["n", "4"]),
        ("Tile", &[0, 1], &["n", "4"]),
        ("Pad", &[0, -3, 0, -1], &["n", "4"]),
        ("Reshape", &[0, -1], &["n", "4"]),
        ("Reshape", &[4, -1], &["2", "4"]),
        ("Gather", &[-2, 1], &["2", "4"]),
        ("ConstantOfShape", &[0], &["n", "4"]),
    ];
    for (op, list, sizes) in cases {
        if op == "ConstantOfShape" {
            let nodes = vec![node(op, &["s"], &["y"])];
            assert_eq!(attempt(nodes, &[("s", list)], sized("x", super::build::FLOAT, sizes)), Ok(()));
            continue;
        }
        assert_eq!(alone(op, list, &[], sizes), Ok(()), "{op} {list:?}");
    }
}

#[test]
fn fills_and_ranges_that_there_are_not() {
    let fill = |list: &[i64]| wrong(vec![node("ConstantOfShape", &["s"], &["y"])], &[("s", list)]);
    assert!(fill(&[2, -1]).contains("has the size -1 for dim 1"));
    assert!(fill(&[1 << 40, 1 << 40]).contains("whose bytes 64 bits do not count"));
    let range = |start, limit, delta| {
        let nodes =
            vec![node("Range", &["a", "b", "d"], &["r"]), with(node("Cast", &["r"], &["y"]), &[("to", Value::Int(1))])];
        attempt(nodes, &[("a", &[start]), ("b", &[limit]), ("d", &[delta])], info("x", super::build::FLOAT))
    };
    assert!(range(0, 5, 0).expect_err("no step").to_string().contains("has a delta of 0"));
    let error = range(MIN, MAX, 1).expect_err("too many").to_string();
    assert!(error.contains("has 18446744073709551615 numbers"), "{error}");
    for (start, limit, delta) in [(5, 0, -2), (5, 0, 2), (MIN, MAX, 1 << 62), (0, 0, 1)] {
        assert_eq!(range(start, limit, delta), Ok(()), "{start} {limit} {delta}");
    }
}

/// A size that only the inputs tell is looked at in every run, also where nothing of that size is made.
#[test]
fn sizes_that_may_be_negative_are_checked() {
    for op in ["ConstantOfShape", "Expand", "Tile"] {
        let sized = if op == "ConstantOfShape" { node(op, &["d"], &["y"]) } else { node(op, &["one", "d"], &["y"]) };
        let nodes = vec![node("Shape", &["x"], &["s"]), node("Sub", &["s", "a"], &["d"]), sized];
        let mut model = model(18, nodes);
        let graph = model.graph.as_mut().expect("a graph");
        graph.output = vec![info_of("y", None)];
        graph.initializer = vec![ints("a", &[2], &[3, 0]), floats("one", &[1, 1], &[1.0])];
        let model = OnnxModel::from_bytes(model.encode_to_vec(), None).expect("well formed");
        let (cx, mut diags) = (Context::new(sutura_dialects::all()), Diagnostics::default());
        import(&cx, &model, &mut diags).expect("it may be right");
        let assumed: Vec<_> = diags.iter().map(|d| d.message.as_str()).collect();
        assert!(
            assumed
                .iter()
                .any(|m| m.contains("the size `n - 3` for dim 0") || m.contains("the repeat `n - 3` for dim 0")),
            "{op}: {assumed:?}"
        );
    }
}

#[test]
fn parts_that_do_not_make_the_whole() {
    let split = |sizes: &[i64]| {
        let parts = with(node("Split", &["x", "s"], &["y", "z"]), &[("axis", Value::Int(1))]);
        wrong(vec![node("Add", &["a", "zero"], &["s"]), parts], &[("a", sizes), ("zero", &[0])])
    };
    assert!(split(&[-1, 5]).contains("splits into parts of [-1, 5]"));
    assert!(split(&[1, 1, 2]).contains("which are not sizes of 2 outputs"));
    assert!(split(&[MAX, MAX]).contains("whose sum does not fit 64 bits"));
    assert!(split(&[1, 5]).contains("differ: 4 and 6"));
}

#[test]
fn indices_of_large_constants_and_of_several_dims() {
    let far: Vec<i64> = (0..100).map(|i| if i == 70 { -5 } else { i % 4 }).collect();
    let error = alone("Gather", &far, &[("axis", Value::Int(1))], &["n", "4"]).expect_err("outside");
    assert!(error.to_string().contains("takes index -5 of dim 1"), "{error}");
    let nodes = vec![node("GatherND", &["x", "i"], &["y"])];
    let mut model = model(18, nodes);
    let graph = model.graph.as_mut().expect("a graph");
    graph.input = vec![sized("x", super::build::FLOAT, &["2", "4"])];
    graph.output = vec![info_of("y", None)];
    graph.initializer = vec![TensorProto { data_type: Some(INT64), ..ints("i", &[2, 2], &[1, 3, 1, 4]) }];
    let model = OnnxModel::from_bytes(model.encode_to_vec(), None).expect("well formed");
    let cx = Context::new(sutura_dialects::all());
    let error = import(&cx, &model, &mut Diagnostics::default()).map(drop).expect_err("outside").to_string();
    assert!(error.contains("takes index 4 of dim 1, which has size 4"), "{error}");
}

#[test]
fn windows_larger_than_what_they_move_over() {
    let mut model = model(18, vec![node("Conv", &["x", "w"], &["y"])]);
    let graph = model.graph.as_mut().expect("a graph");
    graph.input = vec![sized("x", super::build::FLOAT, &["1", "1", "4", "4"])];
    graph.output = vec![info_of("y", None)];
    graph.initializer = vec![floats("w", &[1, 1, 9, 9], &[0.0; 81])];
    let model = OnnxModel::from_bytes(model.encode_to_vec(), None).expect("well formed");
    let cx = Context::new(sutura_dialects::all());
    let error = import(&cx, &model, &mut Diagnostics::default()).map(drop).expect_err("too large");
    assert!(error.is_invalid() && error.to_string().contains("makes dim 2 of size -4, which is negative"), "{error}");
}

#[test]
fn inputs_of_one_type_variable_have_one_element_type() {
    let of_ints = |op: &str, inputs: &[&str]| {
        let groups = [("num_groups", Value::Int(2))];
        let node = node(op, inputs, &["y"]);
        let node = if op == "GroupNormalization" { with(node, &groups) } else { node };
        wrong(vec![node], &[("four", &[1, 2, 3, 4]), ("more", &[1, 2, 3, 4])])
    };
    for (op, inputs) in [
        ("Add", &["x", "four"][..]),
        ("Max", &["x", "x", "four"]),
        ("GroupNormalization", &["x", "four", "more"]),
        ("LayerNormalization", &["x", "four"]),
    ] {
        let error = of_ints(op, inputs);
        let words = "`x` is of f32 and `four` of i64, but they must have one element type";
        assert!(error.contains(words), "{op}: {error}");
    }
}

#[test]
fn inputs_have_the_element_types_of_the_operator() {
    for (op, inputs, words) in [
        ("Where", &["x", "x", "x"][..], "`x` is of f32, but it must be of bool"),
        ("Reshape", &["x", "x"], "`x` is of f32, but it must be of i64"),
        ("Gather", &["four", "x"], "`x` is of f32, but it must be of i32 or i64"),
        ("Not", &["four"], "`four` is of i64, but it must be of bool"),
        ("Slice", &["x", "four", "x"], "`x` is of f32, but it must be of i32 or i64"),
    ] {
        let error = wrong(vec![node(op, inputs, &["y"])], &[("four", &[1, 2, 3, 4])]);
        assert!(error.contains(words), "{op}: {error}");
    }
}

#[test]
fn complex_numbers_are_moved_and_not_computed_with() {
    const COMPLEX64: i32 = 14;
    let with_op = |op: &str, inputs: &[&str]| {
        let nodes = vec![node("Identity", &["x"], &["t"]), node(op, inputs, &["y"])];
        let (x, y) = (sized("x", COMPLEX64, &["n", "4"]), sized("y", COMPLEX64, &["4", "n"]));
        attempt_for(nodes, &[], x, y).map_err(|error| (error.is_invalid(), error.to_string()))
    };
    assert_eq!(with_op("Transpose", &["t"]), Ok(()));
    for (op, inputs) in [("Add", &["t", "t"][..]), ("MatMul", &["t", "x"]), ("Relu", &["t"]), ("Trilu", &["t"])] {
        let (is_invalid, error) = with_op(op, inputs).expect_err("it computes");
        let words = "is of tensors of complex<f32>, which is not supported";
        assert!(!is_invalid && error.contains(words), "{op}: {error}");
    }
}

#[test]
fn a_list_without_elements_asks_for_a_scalar() {
    let reshaped = |elements: &[i64]| {
        let cast = with(node("Cast", &["a"], &["f"]), &[("to", Value::Int(1))]);
        let nodes = vec![cast, node("Reshape", &["f", "s"], &["y"])];
        attempt(nodes, &[("a", elements)], sized("s", INT64, &["0"]))
    };
    assert_eq!(reshaped(&[7]).map_err(|error| error.to_string()), Ok(()));
    let error = reshaped(&[1, 2, 3, 4]).expect_err("four elements are no scalar");
    assert!(error.is_invalid());
    assert!(
        error.to_string().contains("asks for the shape [], which the 4 elements of the input do not fill"),
        "{error}"
    );
}

/// What a model over `x: f32[n, 4]` is refused for, though it is valid.
fn unsupported(nodes: Vec<NodeProto>, lists: &[(&str, &[i64])]) -> String {
    let error = attempt(nodes, lists, sized("x", super::build::FLOAT, &["n", "4"])).expect_err("it is too much");
    assert!(!error.is_invalid(), "{error}");
    error.to_string()
}

#[test]
fn pads_that_no_index_can_be_added_to() {
    for pads in [[MIN, 0, MAX, 0], [MAX, 0, 0, 0], [0, (1 << 62) + 1, 0, 0]] {
        let error = unsupported(vec![node("Pad", &["x", "p"], &["y"])], &[("p", &pads)]);
        assert!(error.contains("at most 4611686018427387904 are supported"), "{pads:?}: {error}");
    }
}

#[test]
fn loops_over_many_dims() {
    let deep = |dims: &[i64]| {
        attempt(
            vec![node("Reshape", &["x", "s"], &["r"]), node("Relu", &["r"], &["y"])],
            &[("s", dims)],
            sized("x", super::build::FLOAT, &["n", "4"]),
        )
    };
    assert_eq!(deep(&[[4, -1].as_slice(), &[1; 30]].concat()), Ok(()));
    let error = deep(&[[4, -1].as_slice(), &[1; 31]].concat()).expect_err("33 dims");
    assert!(!error.is_invalid() && error.to_string().contains("needs loops over 33 dims"), "{error}");
}

/// The only list of a model is a number.
#[test]
fn a_number_is_no_list() {
    for (op, inputs) in [("Reshape", &["x", "s"][..]), ("Expand", &["x", "s"]), ("ConstantOfShape", &["s"])] {
        let given = |computed: bool| {
            let mut nodes = vec![node(op, inputs, &["y"])];
            if computed {
                nodes[0] =
                    node(op, &inputs.iter().map(|i| if *i == "s" { "t" } else { *i }).collect::<Vec<_>>(), &["y"]);
                nodes.insert(0, node("Neg", &["s"], &["t"]));
            }
            let mut model = model(18, nodes);
            let graph = model.graph.as_mut().expect("a graph");
            graph.input = vec![sized("x", super::build::FLOAT, &["n", "4"])];
            graph.output = vec![info_of("y", None)];
            graph.initializer = vec![ints("s", &[], &[-4])];
            let model = OnnxModel::from_bytes(model.encode_to_vec(), None).expect("well formed");
            let cx = Context::new(sutura_dialects::all());
            import(&cx, &model, &mut Diagnostics::default()).map(drop).expect_err("no list")
        };
        let (constant, computed) = (given(false), given(true));
        assert!(constant.is_invalid() && constant.to_string().contains("must be a list"), "{op}: {constant}");
        let words = "takes a list from `t`, which has rank 0";
        assert!(computed.is_invalid() && computed.to_string().contains(words), "{op}: {computed}");
    }
}

#[test]
fn ranges_have_the_element_type_of_their_start() {
    let range = |to: i64| {
        let cast = |name: &str, from: &str| with(node("Cast", &[from], &[name]), &[("to", Value::Int(to))]);
        let nodes = vec![
            node("Shape", &["x"], &["s"]),
            cast("t", "s"),
            node("Gather", &["t", "zero"], &["n"]),
            cast("i", "zero"),
            cast("d", "one"),
            node("Range", &["i", "n", "d"], &["y"]),
        ];
        let mut model = model(18, nodes);
        let graph = model.graph.as_mut().expect("a graph");
        graph.input = vec![sized("x", super::build::FLOAT, &["n"])];
        graph.output = vec![sized("y", to as i32, &["n"])];
        graph.initializer = vec![ints("zero", &[], &[0]), ints("one", &[], &[1])];
        let model = OnnxModel::from_bytes(model.encode_to_vec(), None).expect("well formed");
        let cx = Context::new(sutura_dialects::all());
        let module = import(&cx, &model, &mut Diagnostics::default()).expect("a range");
        sutura_ir::asm::print::module_text(&cx, &module, &sutura_ir::asm::print::PrintOptions::default())
    };
    let (wide, narrow) = (range(7), range(6));
    assert!(wide.contains("-> (tensor<?xi64") && narrow.contains("-> (tensor<?xi32"), "{wide}\n{narrow}");
}
