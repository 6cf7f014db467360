//! Random chains behind convolutions and products of matrices: results differ by rounding.

use sutura_dialects::graph::build::{Built, Cropping, GraphBuilder, Padding, TransposedWindow, Window};
use sutura_interp::Tolerance;
use sutura_interp::random::Random;
use sutura_ir::{Context, Module, Type, Value};

use crate::testing::{agree, any, context, copy, function, run, tensor, text};

const PASS: &str = "builtin.module(fold-into-weights{fast-math=reassoc,nsz,arcp})";
const WITHOUT: &str = "builtin.module(fold-into-weights)";

fn below(random: &mut Random, most: usize) -> usize {
    (random.next_u64() >> 32) as usize % most
}

/// A constant of numbers from -2 to 2, none of them near 0.
fn numbers(g: &mut GraphBuilder<'_, '_>, random: &mut Random, shape: &[&str], elem: Type) -> Value {
    let cx = g.cx();
    let count: usize = shape.iter().map(|size| size.parse::<usize>().expect("a number")).product();
    let words: Vec<u64> = (0..count)
        .map(|_| {
            let value = [0.5, -0.75, 1.25, 1.9, -2.0, 0.3][below(random, 6)];
            if elem == Type::F32 { u64::from((value as f32).to_bits()) } else { f64::to_bits(value) }
        })
        .collect();
    let constant = cx.dense_attr(tensor(cx, shape, elem), &words).expect("as many numbers as elements");
    g.constant(constant)
}

/// One op of the chain with numbers of each channel, or with one for all.
fn step(g: &mut GraphBuilder<'_, '_>, random: &mut Random, x: Value, shape: &[&str], kind: usize) -> Built {
    let elem = g.elem(x);
    let shape = if below(random, 4) == 0 { &[][..] } else { shape };
    let c = numbers(g, random, shape, elem);
    g.zip(x, c, |s, x, c| match kind {
        0 => s.add(x, c),
        1 => s.sub(x, c),
        2 => s.sub(c, x),
        3 => s.mul(c, x),
        _ => s.div(x, c),
    })
}

/// A product with constant weights, and the shape of what there is one of for each of its channels.
fn product(
    g: &mut GraphBuilder<'_, '_>,
    random: &mut Random,
    x: Value,
    kind: Product,
) -> Built<(Value, &'static [&'static str])> {
    let elem = g.elem(x);
    let bias = |g: &mut GraphBuilder<'_, '_>, random: &mut Random, channels: &[&str]| {
        (below(random, 2) == 0).then(|| numbers(g, random, &channels[..1], elem))
    };
    match kind {
        Product::Matrices => {
            let weights = numbers(g, random, &["6", "3"], elem);
            Ok((g.matmul(x, weights)?, &["3"]))
        }
        Product::Convolution(group) => {
            let channels: &[&str] = &["8", "1", "1"];
            let weights = numbers(g, random, &["8", if group == 1 { "4" } else { "1" }, "2", "3"], elem);
            let bias = bias(g, random, channels);
            let padding = Padding::Explicit(vec![1, 1], vec![1, 2]);
            let window =
                Window { kernel: vec![2, 3], strides: vec![1, 2], dilations: vec![1, 1], padding, ceil: false };
            Ok((g.conv(x, weights, bias, group, &window)?, channels))
        }
        Product::Transposed(group) => {
            let channels: &[&str] = if group == 1 { &["3", "1", "1"] } else { &["6", "1", "1"] };
            let weights = numbers(g, random, &["4", "3", "2", "3"], elem);
            let bias = bias(g, random, channels);
            // Windows of whole strides: others are several sums, and no product has the chain.
            let strides = vec![1 + below(random, 2) as i64, 1 + 2 * below(random, 2) as i64];
            let cropping = Cropping::Explicit(vec![0, below(random, 2) as i64], vec![0, 1]);
            let (dilations, output_padding) = (vec![1, 1 + below(random, 2) as i64], vec![0, 0]);
            let window = TransposedWindow { kernel: vec![2, 3], strides, dilations, output_padding, cropping };
            Ok((g.conv_transpose(x, weights, bias, group, &window)?, channels))
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Product {
    Matrices,
    /// With so many groups, of 4 channels.
    Convolution(i64),
    Transposed(i64),
}

const PRODUCTS: [Product; 5] = [
    Product::Matrices,
    Product::Convolution(1),
    Product::Convolution(4),
    Product::Transposed(1),
    Product::Transposed(2),
];

fn program(cx: &Context, random: &mut Random, kind: Product) -> Module {
    let elem = [Type::F32, Type::F64][below(random, 2)];
    let types = [match kind {
        Product::Matrices => tensor(cx, &["B", "M", "6"], elem),
        _ => tensor(cx, &["B", "4", "M", "5"], elem),
    }];
    function(cx, &["B", "M"].map(|name| (name, any())), &types, |g, args| {
        let (mut x, channels) = product(g, random, args[0], kind)?;
        for _ in 0..below(random, 4) {
            let kind = below(random, 5);
            x = step(g, random, x, channels, kind)?;
        }
        let kind = 3 + below(random, 2);
        x = step(g, random, x, channels, kind)?;
        // What ends the chain.
        let y = g.map(x, |s, x| {
            let nothing = s.number(0.0, s.ty(x));
            s.max(x, nothing)
        })?;
        Ok(vec![y])
    })
}

#[test]
fn folded_chains_differ_by_rounding() {
    let cx = context();
    let mut random = Random::new(23);
    for trial in 0..100 {
        let before = program(&cx, &mut random, PRODUCTS[trial % PRODUCTS.len()]);
        let mut after = copy(&cx, &before);
        let said = run(&cx, &mut after, PASS).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &before)));
        assert!(said.iter().any(|line| line.contains("goes into its weights")), "{said:?}\n{}", text(&cx, &before));
        for (b, m) in [(0, 3), (1, 1), (2, 5)] {
            let tolerance = Tolerance { abs: 1e-2, rel: 1e-3, ..Tolerance::EXACT };
            agree(&cx, (&before, &after), &[("B", b), ("M", m)], tolerance, &text(&cx, &before));
        }
        let mut again = copy(&cx, &after);
        run(&cx, &mut again, PASS).expect("it runs on what it made");
        assert_eq!(text(&cx, &after), text(&cx, &again), "what it has done it does not do again");
        let mut left = copy(&cx, &before);
        run(&cx, &mut left, WITHOUT).expect("it runs");
        assert_eq!(text(&cx, &before), text(&cx, &left), "without flags nothing changes");
    }
}
