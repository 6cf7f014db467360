//! Symbolic shapes of what is built.

use sutura_ir::{Type, Value};

use super::super::build::{Built, GraphBuilder, Padding, SliceBounds, Window};
use super::{context, errors, module, tensor};
use crate::r#dyn::Poly;

/// Sizes of what is built from one `f32` argument, as text.
fn shape_of(sizes: &[&str], fill: impl FnOnce(&mut GraphBuilder<'_, '_>, Value) -> Built) -> String {
    let cx = context();
    let mut text = String::new();
    let module = module(&cx, &[tensor(&cx, sizes, Type::F32)], |g, args| {
        let result = fill(g, args[0])?;
        let size = |d: &Option<Poly>| d.as_ref().map_or("?".to_string(), ToString::to_string);
        text = g.shape(result).iter().map(size).collect::<Vec<_>>().join(", ");
        Ok(vec![result])
    });
    assert_eq!(errors(&cx, &module), [""; 0]);
    text
}

#[test]
fn shape_arithmetic_is_followed() {
    let heads = shape_of(&["B", "S", "256"], |g, x| {
        let shape = g.shape_of(x);
        let two = g.int_list(&[0, 1])?;
        let outer = g.gather(shape, two, 0);
        let heads = g.int_list(&[4, -1])?;
        let wanted = g.concat(&[outer, heads], 0)?;
        g.reshape(x, wanted, false)
    });
    assert_eq!(heads, "B, S, 4, 64");
    let halves = shape_of(&["B", "S"], |g, x| {
        let shape = g.shape_of(x);
        let two = g.int_list(&[2])?;
        let half = g.zip(shape, two, |s, a, b| s.div(a, b))?;
        let twice = g.zip(shape, half, |s, a, b| s.add(a, b))?;
        let contents = g.contents(twice).unwrap_or_default();
        g.generate(&contents, Type::F32, |s| s.number(0.0, Type::F32))
    });
    assert_eq!(halves, "B + B floordiv 2, S + S floordiv 2");
}

#[test]
fn reshapes_solve_what_is_left() {
    let merged = |sizes: &[&str], to: &'static [i64]| {
        shape_of(sizes, |g, x| {
            let shape = g.int_list(to)?;
            g.reshape(x, shape, false)
        })
    };
    assert_eq!(merged(&["B", "S", "4", "64"], &[0, 0, -1]), "B, S, 256");
    assert_eq!(merged(&["B", "S", "4"], &[-1, 2]), "2*B*S, 2");
    assert_eq!(merged(&["B", "(H + 1) floordiv 2", "3"], &[0, -1]), "B, 3*((H + 1) floordiv 2)");
}

#[test]
fn windows_and_slices_have_polynomial_sizes() {
    let window = Window {
        kernel: vec![3],
        strides: vec![2],
        dilations: vec![1],
        padding: Padding::Explicit(vec![1], vec![1]),
        ceil: false,
    };
    assert_eq!(shape_of(&["B", "C", "W"], |g, x| g.max_pool(x, &window)), "B, C, (W + 1) floordiv 2");
    let cut = |start, end| {
        shape_of(&["S + 4"], move |g, x| g.slice(x, &[0], &SliceBounds::Known(vec![start], vec![end]), &[1]))
    };
    assert_eq!(cut(1, i64::MAX), "S + 3");
    assert_eq!(cut(0, -3), "S + 1");
    assert_eq!(cut(0, 3), "3");
    // Nothing says whether five elements exist: there are as many as there are.
    assert_eq!(cut(0, 5), "min(S, 1) + 4");
    assert_eq!(cut(-6, i64::MAX), "min(S, 2) + 4");
    assert_eq!(cut(6, i64::MAX), "S - min(S, 2)");
    assert_eq!(cut(2, -2), "S");
    assert_eq!(cut(-1, -6), "0");
}
