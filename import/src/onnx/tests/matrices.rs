//! Determinants, ones on a diagonal, and images of patches whose sizes are computed.

use sutura_interp::Tensor;

use super::build::*;
use super::convert::{open, result, values};

fn determinant(sizes: &[&str], numbers: &[f32], dims: &[usize]) -> Result<Vec<f32>, String> {
    let mut m = open(model(22, vec![node("Det", &["x"], &["y"])]));
    graph(&mut m).input = vec![sized("x", FLOAT, sizes)];
    result(&m, &Tensor::from_f32(numbers.to_vec(), dims).expect("as many numbers")).map(|y| values(&y))
}

#[test]
fn determinants() {
    let of = |numbers: &[f32], dims: &[usize]| determinant(&["b", "n", "n"], numbers, dims).expect("it runs");
    assert_eq!(of(&[3.0, 2.0, -1.0, 4.0], &[1, 2, 2]), [14.0]);
    // The largest element is the pivot, and each change of places turns the sign.
    assert_eq!(of(&[0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0], &[1, 3, 3]), [1.0]);
    assert_eq!(of(&[0.0, 1.0, 1.0, 0.0, 2.0, 0.0, 0.0, 2.0], &[2, 2, 2]), [-1.0, 4.0]);
    assert_eq!(of(&[1.0, 2.0, 2.0, 4.0], &[1, 2, 2]), [0.0]);
    assert!(of(&[f32::NAN, 2.0, 2.0, 4.0], &[1, 2, 2])[0].is_nan());
    assert_eq!(of(&[7.0], &[1, 1, 1]), [7.0]);
    // That of nothing is 1, and nothing has none.
    assert_eq!(of(&[], &[2, 0, 0]), [1.0, 1.0]);
    assert!(of(&[], &[0, 3, 3]).is_empty());
    assert_eq!(determinant(&["n", "n"], &[2.0, 0.0, 0.0, 3.0], &[2, 2]).expect("it runs"), [6.0]);
    let error = determinant(&["2", "3"], &[0.0; 6], &[2, 3]).expect_err("it is no square");
    assert!(error.contains("rows and columns of the matrices"), "{error}");
    let error = determinant(&["3"], &[0.0; 3], &[3]).expect_err("it is no matrix");
    assert!(error.contains("takes matrices from a tensor of rank 1"), "{error}");
}

#[test]
fn diagonals_of_another_type() {
    let eye = |k: i64, code: i64| {
        let like = with(node("EyeLike", &["x"], &["e"]), &[("dtype", Value::Int(code)), ("k", Value::Int(k))]);
        let mut m = open(model(9, vec![like, with(node("Cast", &["e"], &["y"]), &[("to", Value::Int(1))])]));
        graph(&mut m).input = vec![sized("x", FLOAT, &["a", "b"])];
        result(&m, &Tensor::from_f32(vec![5.0; 6], &[2, 3]).expect("six numbers")).map(|y| values(&y))
    };
    for code in [1, 2, 6, 7, 9, 10, 11, 16] {
        assert_eq!(eye(1, code).expect("it runs"), [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    assert_eq!(eye(-1, 7).expect("it runs"), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(eye(i64::MIN, 7).expect("it runs"), [0.0; 6]);
    assert!(eye(0, 8).expect_err("no numbers").contains("makes elements of string, which is not supported"));
    assert!(eye(0, 99).expect_err("no type").contains("has the unknown element type 99 as `dtype`"));
}

/// Patches of ones, of which each element of an image has as many as lie over it; the sizes of patches are what `x` holds.
fn patches(stated: Option<&[i64]>, block: &[f32]) -> Result<Vec<f32>, String> {
    let nodes = vec![
        with(node("Cast", &["x"], &["block"]), &[("to", Value::Int(7))]),
        node("Col2Im", &["ones", "image", "block"], &["y"]),
    ];
    let mut m = open(model(18, nodes));
    let graph = graph(&mut m);
    graph.input = vec![sized("x", FLOAT, &["2"])];
    graph.output = vec![info_of("y", stated)];
    graph.initializer = vec![floats("ones", &[1, 4, 6], &[1.0; 24]), ints("image", &[2], &[3, 4])];
    result(&m, &Tensor::from_f32(block.to_vec(), &[2]).expect("two numbers")).map(|y| values(&y))
}

#[test]
fn patches_of_computed_sizes() {
    let stated = Some(&[1, 1, 3, 4][..]);
    let overlaps = [1.0, 2.0, 2.0, 1.0, 2.0, 4.0, 4.0, 2.0, 1.0, 2.0, 2.0, 1.0];
    assert_eq!(patches(stated, &[2.0, 2.0]).expect("it runs"), overlaps);
    // Four elements too, but not six patches; none; and the wrong number of elements.
    for block in [[1.0, 4.0], [0.0, 2.0], [2.0, -2.0], [3.0, 1.0]] {
        let error = patches(stated, &block).expect_err("it does not fit");
        assert!(error.contains("my_Col2Im"), "{error}");
    }
    let error = patches(None, &[2.0, 2.0]).expect_err("nothing is stated");
    assert!(
        error.contains("is computed at run time; it must be a constant, or the model state the channels"),
        "{error}"
    );
}
