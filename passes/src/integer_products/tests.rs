//! Random products of dequantized bytes: with powers of two every bit stays, with other scales results are near.

use sutura_dialects::graph::build::{Built, Grain, GraphBuilder, Padding, Scaling, Window};
use sutura_interp::Tolerance;
use sutura_interp::random::Random;
use sutura_ir::types::{Signedness, TypeData};
use sutura_ir::{Context, Module, Type, Value};

use crate::testing::{agree, any, context, copy, function, run, tensor, text};

const EXACT: &str = "builtin.module(integer-products)";
const ROUNDING: &str = "builtin.module(integer-products{allow-rounding=true})";

fn below(random: &mut Random, most: usize) -> usize {
    (random.next_u64() >> 32) as usize % most
}

/// A constant of floats, or of integers.
fn numbers(g: &mut GraphBuilder<'_, '_>, shape: &[&str], elem: Type, values: &[f64]) -> Value {
    let cx = g.cx();
    let words: Vec<u64> = values
        .iter()
        .map(|value| if elem == Type::F32 { u64::from((*value as f32).to_bits()) } else { *value as i64 as u64 & 0xff })
        .collect();
    let constant = cx.dense_attr(tensor(cx, shape, elem), &words).expect("as many numbers as elements");
    g.constant(constant)
}

/// Scale and zero point of a tensor, or of each of three indices of a dimension.
fn scaling(g: &mut GraphBuilder<'_, '_>, random: &mut Random, elem: Type, axis: Option<usize>, exact: bool) -> Scaling {
    let scales: Vec<f64> = (0..3)
        .map(|_| if exact { [0.25, 0.5, 8.0][below(random, 3)] } else { [0.1, 0.013, -2.7][below(random, 3)] })
        .collect();
    match axis.filter(|_| below(random, 2) == 0) {
        Some(axis) => {
            let scale = numbers(g, &["3"], Type::F32, &scales);
            let zero = (below(random, 2) == 0).then(|| numbers(g, &["3"], elem, &[1.0, 7.0, 0.0]));
            Scaling { scale, zero, grain: Grain::Axis(axis) }
        }
        None => {
            let scale = numbers(g, &[], Type::F32, &scales[..1]);
            let zero = (below(random, 2) == 0).then(|| numbers(g, &[], elem, &[5.0]));
            Scaling { scale, zero, grain: Grain::Tensor }
        }
    }
}

/// A product of matrices, or a convolution with padding, of numbers that are dequantized; and what is quantized of it.
fn program(cx: &Context, random: &mut Random, exact: bool) -> Module {
    let unsigned = cx.ty(TypeData::Integer { width: 8, sign: Signedness::Unsigned });
    let [a, b] = [0, 1].map(|_| [Type::I8, unsigned][below(random, 2)]);
    let conv = below(random, 2) == 0;
    let shapes: [(&[&str], Type); 2] = match conv {
        true => [(&["B", "4", "M", "5"], a), (&["3", "4", "2", "3"], b)],
        false => [(&["B", "M", "40"], a), (&["40", "3"], b)],
    };
    let types = shapes.map(|(shape, elem)| tensor(cx, shape, elem));
    function(cx, &["B", "M"].map(|name| (name, any())), &types, |g, args| {
        // What is read around the input has one zero point.
        let of_x = scaling(g, random, a, None, exact);
        let of_w = scaling(g, random, b, Some(if conv { 0 } else { 1 }), exact);
        let x = g.dequantize(args[0], &of_x, Type::F32)?;
        let w = g.dequantize(args[1], &of_w, Type::F32)?;
        let made: Built = match conv {
            true => {
                let pads = Padding::Explicit(vec![1, 1], vec![1, 2]);
                let window = Window {
                    kernel: vec![2, 3],
                    strides: vec![1, 2],
                    dilations: vec![1, 1],
                    padding: pads,
                    ceil: false,
                };
                g.conv(x, w, None, 1, &window)
            }
            false => g.matmul(x, w),
        };
        let made = made?;
        let zero = numbers(g, &[], unsigned, &[128.0]);
        let to = Scaling { scale: numbers(g, &[], Type::F32, &[64.0]), zero: Some(zero), grain: Grain::Tensor };
        let stored = g.quantize(made, &to, unsigned, Type::F32, true)?;
        // Elements that lie between two integers may go to either where results round otherwise.
        Ok(if exact { vec![made, stored] } else { vec![made] })
    })
}

fn check(pipeline: &str, exact: bool, tolerance: Tolerance) {
    let cx = context();
    let mut random = Random::new(17);
    for _ in 0..40 {
        let before = program(&cx, &mut random, exact);
        let (mut after, mut again) = (copy(&cx, &before), copy(&cx, &before));
        let said = run(&cx, &mut after, pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &before)));
        assert!(said.iter().any(|line| line.contains("becomes one of integers")), "{said:?}\n{}", text(&cx, &before));
        for (b, m) in [(0, 3), (1, 1), (2, 5)] {
            agree(&cx, (&before, &after), &[("B", b), ("M", m)], tolerance, &text(&cx, &before));
        }
        run(&cx, &mut again, pipeline).expect("it ran before");
        assert_eq!(text(&cx, &after), text(&cx, &again), "the same input gives the same text");
        run(&cx, &mut again, pipeline).expect("it runs on what it made");
        assert_eq!(text(&cx, &after), text(&cx, &again), "what it has done it does not do again");
    }
}

#[test]
fn powers_of_two_keep_every_bit() {
    check(EXACT, true, Tolerance::EXACT);
}

#[test]
fn other_scales_differ_by_rounding() {
    check(ROUNDING, false, Tolerance { abs: 1e-1, rel: 1e-4, ..Tolerance::EXACT });
}

#[test]
fn other_scales_are_left_where_rounding_is_not_allowed() {
    let cx = context();
    let mut random = Random::new(18);
    for _ in 0..8 {
        let before = program(&cx, &mut random, false);
        let mut after = copy(&cx, &before);
        run(&cx, &mut after, EXACT).expect("it runs");
        assert_eq!(text(&cx, &before), text(&cx, &after));
    }
}
