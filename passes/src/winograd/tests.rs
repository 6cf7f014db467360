//! Random convolutions: results agree by the stated bound, and a wrong weight is seen by it.

use sutura_dialects::graph::build::{GraphBuilder, Padding, Window};
use sutura_interp::random::Random;
use sutura_interp::{Interpreter, Tensor, Tolerance};
use sutura_ir::{Context, Module, Type};

use super::bound;
use crate::testing::{agree, any, context, copy, function, run, tensor, text};

const PIPELINE: &str = "builtin.module(winograd)";

fn numbers(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| (random.next_u64() >> 40) as f32 / (1u64 << 23) as f32 - 1.0).collect()
}

fn window(pads: [i64; 4]) -> Window {
    let padding = Padding::Explicit(pads[..2].to_vec(), pads[2..].to_vec());
    Window { kernel: vec![3, 3], strides: vec![1, 1], dilations: vec![1, 1], padding, ceil: false }
}

/// A convolution with these weights, features first.
fn program(cx: &Context, sizes: [&str; 4], features: usize, weights: &[f32], pads: [i64; 4]) -> Module {
    let channels = sizes[1].to_owned();
    function(cx, &["N", "H", "W"].map(|name| (name, any())), &[tensor(cx, &sizes, Type::F32)], |g, args| {
        let words: Vec<u64> = weights.iter().map(|w| u64::from(w.to_bits())).collect();
        let ty = tensor(g.cx(), &[&features.to_string(), &channels, "3", "3"], Type::F32);
        let constant = g.cx().dense_attr(ty, &words).expect("as many numbers as elements");
        let weights = GraphBuilder::constant(g, constant);
        Ok(vec![g.conv(args[0], weights, None, 1, &window(pads))?])
    })
}

#[test]
fn convolutions_of_any_size_agree() {
    let cx = context();
    let mut random = Random::new(5);
    for (features, pads) in [(16, [1, 1, 1, 1]), (17, [0, 0, 0, 0]), (20, [0, 2, 1, 0])] {
        let weights = numbers(&mut random, features * 16 * 9);
        let before = program(&cx, ["N", "16", "H", "W"], features, &weights, pads);
        let mut after = copy(&cx, &before);
        let said = run(&cx, &mut after, PIPELINE).unwrap_or_else(|e| panic!("{e:?}"));
        assert!(said.iter().any(|line| line.contains("16 products for a tile of 2x2, not 36")), "{said:?}");
        for (n, h, w) in [(1, 7, 8), (2, 3, 3), (1, 12, 5)] {
            let most = bound(16, 1.0, 16.0 * 9.0);
            let tolerance = Tolerance { abs: 2.0 * most, rel: 0.0, ..Tolerance::EXACT };
            agree(&cx, (&before, &after), &[("N", n), ("H", h), ("W", w)], tolerance, &text(&cx, &before));
        }
        let mut again = copy(&cx, &after);
        run(&cx, &mut again, PIPELINE).expect("it runs on what it made");
        assert_eq!(text(&cx, &after), text(&cx, &again), "what it has done it does not do again");
    }
}

/// The largest error of a result beside what the bound allows it, against sums in f64.
fn worst(cx: &Context, module: &Module, (x, weights): (&[f32], &[f32]), channels: usize, features: usize) -> f64 {
    const SIDE: usize = 6;
    let input = Tensor::from_f32(x.to_vec(), &[1, channels, SIDE, SIDE]).expect("as many numbers as elements");
    let made = Interpreter::new(cx, module).call("main", &[sutura_interp::Value::Tensor(input)]).expect("it runs");
    let made = made[0].tensor().expect("a tensor").data().clone();
    let (mut worst, out) = (0f64, SIDE - 2);
    let largest = x.iter().map(|x| f64::from(x.abs())).fold(0.0, f64::max);
    for f in 0..features {
        let own = &weights[f * channels * 9..(f + 1) * channels * 9];
        let all: f64 = own.iter().map(|w| f64::from(w.abs())).sum();
        for (h, w) in (0..out).flat_map(|h| (0..out).map(move |w| (h, w))) {
            let mut exact = 0f64;
            for (at, weight) in own.iter().enumerate() {
                let (c, i, j) = (at / 9, at / 3 % 3, at % 3);
                exact += f64::from(*weight) * f64::from(x[(c * SIDE + h + i) * SIDE + w + j]);
            }
            let number = made.get((f * out + h) * out + w).expect("there is one").bits() as u32;
            worst = worst.max((f64::from(f32::from_bits(number)) - exact).abs() / bound(channels, largest, all));
        }
    }
    worst
}

#[test]
fn errors_stay_within_the_stated_bound() {
    let cx = context();
    let mut random = Random::new(9);
    for (channels, features) in [(16, 16), (64, 16), (200, 18)] {
        let (x, weights) = (numbers(&mut random, channels * 36), numbers(&mut random, channels * features * 9));
        let sizes = ["1".to_owned(), channels.to_string(), "6".to_owned(), "6".to_owned()];
        let sizes = sizes.each_ref().map(String::as_str);
        let made = |weights: &[f32]| {
            let mut module = program(&cx, sizes, features, weights, [0; 4]);
            run(&cx, &mut module, PIPELINE).expect("it runs");
            module
        };
        let error = worst(&cx, &made(&weights), (&x, &weights), channels, features);
        assert!(error > 0.0 && error < 1.0, "{channels} channels: {error} of the bound");
        // One weight of many that is wrong is more than rounding.
        let mut wrong = weights.clone();
        wrong[4] += 0.5;
        let error = worst(&cx, &made(&wrong), (&x, &weights), channels, features);
        assert!(error > 1.0, "{channels} channels: {error} of the bound");
    }
}
