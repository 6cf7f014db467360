//! Operators that read tensors between their elements.

use sutura_interp::Tensor;

use super::build::*;
use super::convert::{open, result, values};
use crate::onnx::proto::*;

/// `y = Resize(x)` with scales.
fn resize(attributes: &[(&str, Value)], scales: &[f32]) -> ModelProto {
    let mut m = open(model(18, vec![with(node("Resize", &["x", "", "s"], &["y"]), attributes)]));
    graph(&mut m).initializer = vec![floats("s", &[scales.len() as i64], scales)];
    m
}

fn row(numbers: &[f32]) -> Tensor {
    Tensor::from_f32(numbers.to_vec(), &[1, numbers.len()]).expect("a row")
}

fn resized(attributes: &[(&str, Value)], scale: f32, x: &[f32]) -> Vec<f32> {
    values(&result(&resize(attributes, &[1.0, scale]), &row(x)).expect("it runs"))
}

#[test]
fn a_row_is_resized() {
    let x = [0., 4., 8., 12.];
    assert_eq!(resized(&[], 0.5, &x), [0., 8.]);
    let linear = ("mode", Value::Str("linear"));
    assert_eq!(resized(std::slice::from_ref(&linear), 2.0, &x), [0., 1., 3., 5., 7., 9., 11., 12.]);
    let ends = ("coordinate_transformation_mode", Value::Str("align_corners"));
    assert_eq!(resized(&[linear.clone(), ends], 1.75, &x), [0., 2., 4., 6., 8., 10., 12.]);
    // Four elements under a triangle of double width, and edges that are repeated.
    assert_eq!(resized(&[linear, ("antialias", Value::Int(1))], 0.5, &x), [2.5, 9.5]);
    // 0.7 is 7/10: ten elements become seven.
    assert_eq!(resized(&[], 0.7, &[0.0; 4]).len(), 2);
}

#[test]
fn a_resize_without_meaning_is_refused() {
    let refused = |attributes: &[(&str, Value)], scales: &[f32]| {
        result(&resize(attributes, scales), &row(&[0., 1., 2., 3.])).expect_err("refused")
    };
    let mode = |name: &'static str, value: &'static str| refused(&[(name, Value::Str(value))], &[1.0, 2.0]);
    for (text, error) in [
        ("attribute `mode` is 'area', it must be nearest, linear or cubic", mode("mode", "area")),
        (
            "'tf_half_pixel_for_nn', which opset 18 does not have",
            mode("coordinate_transformation_mode", "tf_half_pixel_for_nn"),
        ),
        ("attribute `nearest_mode` is 'up'", mode("nearest_mode", "up")),
        ("has the scale -1", refused(&[], &[1.0, -1.0])),
        ("has 1 scales for 2 axes", refused(&[], &[1.0])),
        ("names axis 1 twice", refused(&[("axes", Value::Ints(&[1, -1]))], &[2.0, 2.0])),
        ("axis 2 is outside a tensor of rank 2", refused(&[("axes", Value::Ints(&[2]))], &[2.0])),
        ("takes a list of scales from `x`, which has rank 2", {
            let mut m = open(model(18, vec![node("Resize", &["x", "", "x"], &["y"])]));
            graph(&mut m).initializer = vec![];
            result(&m, &row(&[0., 1., 2., 3.])).expect_err("refused")
        }),
    ] {
        assert!(error.contains(text), "{error}: no `{text}`");
    }
}

/// `y` of one node of an image `x: [1, 1, h, w]`, with other inputs that are constants.
fn image(node: NodeProto, opset: i64, constants: Vec<TensorProto>) -> ModelProto {
    let mut m = open(model(opset, vec![node]));
    graph(&mut m).input = vec![sized("x", FLOAT, &["1", "1", "h", "w"])];
    graph(&mut m).initializer = constants;
    m
}

fn square() -> Tensor {
    Tensor::from_f32((1..=9).map(|n| n as f32).collect(), &[1, 1, 3, 3]).expect("nine numbers")
}

fn of_square(node: NodeProto, opset: i64, constants: Vec<TensorProto>) -> Vec<f32> {
    values(&result(&image(node, opset, constants), &square()).expect("it runs"))
}

#[test]
fn pools() {
    let ints = |name, list| (name, Value::Ints(list));
    let two = ints("kernel_shape", &[2, 2]);
    let roots = of_square(with(node("LpPool", &["x"], &["y"]), &[two.clone(), ("p", Value::Int(1))]), 18, vec![]);
    assert_eq!(roots, [12., 16., 24., 28.]);
    // Windows that would begin in the padding do not count, whatever the size.
    let ceil = [ints("kernel_shape", &[1, 1]), ints("strides", &[3, 3]), ("ceil_mode", Value::Int(1))];
    assert_eq!(of_square(with(node("MaxPool", &["x"], &["y"]), &ceil), 18, vec![]), [1.]);
    // Its places are where an unpool puts the elements.
    let pool = with(node("MaxPool", &["x"], &["p", "i"]), std::slice::from_ref(&two));
    let unpool = with(node("MaxUnpool", &["p", "i"], &["y"]), &[two]);
    let mut m = image(pool, 18, vec![]);
    graph(&mut m).node.push(unpool);
    let made = values(&result(&m, &square()).expect("it runs"));
    assert_eq!(made, [0., 0., 0., 0., 5., 6., 0., 8., 9.]);
    let near = with(node("LRN", &["x"], &["y"]), &[("size", Value::Int(1)), ("alpha", Value::Float(0.0))]);
    assert_eq!(of_square(near, 13, vec![])[8], 9.);
}

#[test]
fn images_are_read_between_elements() {
    let grid = floats("g", &[1, 1, 3, 2], &[-1., -1., 0., 0.5, 3., 0.]);
    let read = |padding: &'static str| {
        let attributes = [("align_corners", Value::Int(1)), ("padding_mode", Value::Str(padding))];
        of_square(with(node("GridSample", &["x", "g"], &["y"]), &attributes), 20, vec![grid.clone()])
    };
    assert_eq!(read("zeros"), [1., 6.5, 0.]);
    assert_eq!(read("border"), [1., 6.5, 6.]);
    assert_eq!(read("reflection"), [1., 6.5, 4.]);
    let cut = with(node("CenterCropPad", &["x", "s"], &["y"]), &[("axes", Value::Ints(&[-1, 2]))]);
    assert_eq!(of_square(cut, 18, vec![ints("s", &[2], &[4, 1])]), [4., 5., 6., 0.]);
    let regions = floats("r", &[1, 4], &[0., 0., 2., 2.]);
    let attributes =
        [("sampling_ratio", Value::Int(1)), ("coordinate_transformation_mode", Value::Str("output_half_pixel"))];
    let align = with(node("RoiAlign", &["x", "r", "i"], &["y"]), &attributes);
    assert_eq!(of_square(align, 16, vec![regions.clone(), ints("i", &[1], &[0])]), [5.]);
    let largest = with(node("MaxRoiPool", &["x", "b"], &["y"]), &[("pooled_shape", Value::Ints(&[2, 1]))]);
    assert_eq!(of_square(largest, 11, vec![floats("b", &[1, 5], &[0., 0., 0., 1., 2.])]), [5., 8.]);
    // Patches of one element, in two by two.
    let mut m = open(model(18, vec![node("Col2Im", &["x", "i", "b"], &["y"])]));
    graph(&mut m).initializer = vec![ints("i", &[2], &[1, 3]), ints("b", &[2], &[1, 2])];
    graph(&mut m).input = vec![sized("x", FLOAT, &["n", "2", "l"])];
    let x = Tensor::from_f32(vec![1., 2., 10., 20.], &[1, 2, 2]).expect("four numbers");
    assert_eq!(values(&result(&m, &x).expect("it runs")), [1., 12., 20.]);
    let weight = floats("k", &[1, 1, 1, 1], &[2.0]);
    let shift = floats("o", &[1, 2, 3, 3], &[0.5; 18]);
    let moved = of_square(node("DeformConv", &["x", "k", "o"], &["y"]), 19, vec![weight, shift]);
    assert_eq!(moved, [6., 8., 4.5, 12., 14., 7.5, 7.5, 8.5, 4.5]);
}

#[test]
fn geometry_without_meaning_is_refused() {
    let refused = |node: NodeProto, constants: Vec<TensorProto>| {
        result(&image(node, 18, constants), &square()).expect_err("refused")
    };
    let grid = |sizes: &[i64]| floats("g", sizes, &vec![0.0; sizes.iter().product::<i64>() as usize]);
    for (text, error) in [
        ("takes a list as `roi`", {
            let attributes = [("coordinate_transformation_mode", Value::Str("tf_crop_and_resize"))];
            let node = with(node("Resize", &["x", "r", "s"], &["y"]), &attributes);
            refused(node, vec![floats("r", &[1, 8], &[0.; 8]), floats("s", &[4], &[1., 1., 2., 2.])])
        }),
        ("a grid of rank 3", refused(node("GridSample", &["x", "g"], &["y"]), vec![grid(&[1, 2, 2])])),
        ("the number of spatial dims", refused(node("GridSample", &["x", "g"], &["y"]), vec![grid(&[1, 2, 2, 3])])),
        ("`sampling_ratio` of 0", {
            let boxes = floats("r", &[1, 4], &[0.; 4]);
            refused(node("RoiAlign", &["x", "r", "i"], &["y"]), vec![boxes, ints("i", &[1], &[0])])
        }),
        ("attribute `p` is 0", {
            let attributes = [("p", Value::Int(0)), ("kernel_shape", Value::Ints(&[1, 1]))];
            refused(with(node("LpPool", &["x"], &["y"]), &attributes), vec![])
        }),
        ("attribute `size` is 0", refused(with(node("LRN", &["x"], &["y"]), &[("size", Value::Int(0))]), vec![])),
        ("has 1 sizes for the axes", refused(node("CenterCropPad", &["x", "s"], &["y"]), vec![ints("s", &[1], &[2])])),
    ] {
        assert!(error.contains(text), "{error}: no `{text}`");
    }
}

/// What a node makes of a row of four numbers where a list that says axes or sizes is data: one number more than a constant says.
fn by_data(make: impl Fn(&str) -> NodeProto, number: i64) -> Result<Vec<f32>, String> {
    let nodes = vec![
        with(node("Cast", &["x"], &["i"]), &[("to", Value::Int(7))]),
        node("Slice", &["i", "zeros", "ones"], &["first"]),
        node("Reshape", &["first", "ones1"], &["list"]),
        node("Add", &["list", "number"], &["data"]),
        make("data"),
    ];
    let mut m = open(model(18, nodes));
    graph(&mut m).initializer = vec![
        ints("zeros", &[2], &[0, 0]),
        ints("ones", &[2], &[1, 1]),
        ints("ones1", &[1], &[1]),
        ints("number", &[1], &[number]),
    ];
    let x = Tensor::from_f32(vec![0., 1., 2., 3., 0., 5., 6., 7.], &[2, 4]).expect("two rows");
    result(&m, &x).map(|y| values(&y))
}

#[test]
fn axes_may_be_data() {
    let sum = |keep| move |axes: &str| with(node("ReduceSum", &["x", axes], &["y"]), &[("keepdims", Value::Int(keep))]);
    for keep in [0, 1] {
        assert_eq!(by_data(sum(keep), 1).expect("it runs"), [6., 18.]);
        assert_eq!(by_data(sum(keep), -2).expect("it runs"), [0., 6., 8., 10.]);
        assert!(by_data(sum(keep), 2).is_err());
    }
    let mean = |axes: &str| node("ReduceMean", &["x", axes], &["y"]);
    assert_eq!(by_data(mean, 1).expect("it runs"), [1.5, 4.5]);
    let running = |axis: &str| node("CumSum", &["x", axis], &["y"]);
    assert_eq!(by_data(running, 0).expect("it runs"), [0., 1., 2., 3., 0., 6., 8., 10.]);
    let apart = |axes: &str| node("Unsqueeze", &["x", axes], &["y"]);
    assert_eq!(by_data(apart, 2).expect("it runs").len(), 8);
    let part = |bound: &str| node("Slice", &["x", "number", bound, "ones1"], &["y"]);
    assert_eq!(by_data(part, 1).expect("it runs"), [0.; 0]);
    let back = |step: &str| node("Slice", &["x", "ones1", "number", "ones1", step], &["y"]);
    assert_eq!(by_data(back, -1).expect("it runs"), [0.; 0]);
    assert_eq!(by_data(back, 2).expect("it runs"), [1., 5.]);
}
