//! Random products of bytes with zero points: splitting keeps every bit.

use sutura_dialects::graph::build::{Built, GraphBuilder, Shifted};
use sutura_interp::Tolerance;
use sutura_interp::random::Random;
use sutura_ir::types::{Signedness, TypeData};
use sutura_ir::{Context, Module, Type, Value};

use crate::testing::{agree, any, context, copy, function, run, tensor, text};

const PASS: &str = "builtin.module(split-products)";

fn below(random: &mut Random, most: usize) -> usize {
    (random.next_u64() >> 32) as usize % most
}

/// A product of `[B, M, K]` and `[K, N]` or `[B, K, N]`, with a zero point that is a constant, a number, a row, or none.
pub(crate) fn program(cx: &Context, random: &mut Random) -> Module {
    let unsigned = cx.ty(TypeData::Integer { width: 8, sign: Signedness::Unsigned });
    let (a, b) = ([Type::I8, unsigned][below(random, 2)], [Type::I8, unsigned][below(random, 2)]);
    let right: &[&str] = if below(random, 2) == 0 { &["K", "N"] } else { &["B", "K", "N"] };
    let shapes: [(&[&str], Type); 4] = [(&["B", "M", "K"], a), (right, b), (&[], a), (&["N"], b)];
    let types = shapes.map(|(shape, elem)| tensor(cx, shape, elem));
    let symbols = ["B", "M", "K", "N"].map(|name| (name, any()));
    let kinds = [below(random, 3), below(random, 3)];
    function(cx, &symbols, &types, |g, args| {
        let zero = |g: &mut GraphBuilder<'_, '_>, kind: usize, given: Value, elem: Type| -> Built<Option<Value>> {
            Ok(match kind {
                0 => None,
                1 => Some(given),
                _ => {
                    let cx = g.cx();
                    let number = cx.splat_attr(tensor(cx, &[], elem), cx.int_attr(3, elem)).expect("an integer");
                    Some(g.constant(number))
                }
            })
        };
        let zeros = [zero(g, kinds[0], args[2], a)?, zero(g, kinds[1], args[3], b)?];
        let [left, right] = [0, 1].map(|i| Shifted { value: args[i], zero: zeros[i] });
        Ok(vec![g.shifted_product((left, false), (right, false))?])
    })
}

#[test]
fn products_of_bytes_keep_every_bit() {
    let cx = context();
    let mut random = Random::new(11);
    for _ in 0..40 {
        let before = program(&cx, &mut random);
        let mut after = copy(&cx, &before);
        let said = run(&cx, &mut after, PASS).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &before)));
        assert!(said.iter().any(|line| line.contains("became tensors")), "{said:?}\n{}", text(&cx, &before));
        for (b, m, k, n) in [(0, 1, 2, 3), (1, 1, 0, 3), (1, 1, 1, 1), (2, 5, 7, 3)] {
            let sizes = [("B", b), ("M", m), ("K", k), ("N", n)];
            agree(&cx, (&before, &after), &sizes, Tolerance::EXACT, &text(&cx, &before));
        }
        let mut again = copy(&cx, &after);
        run(&cx, &mut again, PASS).expect("it runs on what it made");
        assert_eq!(text(&cx, &after), text(&cx, &again), "what it has done it does not do again");
    }
}
