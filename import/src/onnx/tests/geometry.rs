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
        ("`scales` is computed at run time (`x`)", {
            let mut m = open(model(18, vec![node("Resize", &["x", "", "x"], &["y"])]));
            graph(&mut m).initializer = vec![];
            result(&m, &row(&[0., 1., 2., 3.])).expect_err("refused")
        }),
    ] {
        assert!(error.contains(text), "{error}: no `{text}`");
    }
}
