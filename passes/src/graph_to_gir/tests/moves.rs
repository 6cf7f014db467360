//! Moves of data inside kernels: slices, concatenations, padding, transpositions.

use sutura_dialects::r#dyn::{Poly, SymbolInfo};
use sutura_dialects::graph::build::{Built, GraphBuilder, PadKind, SliceBounds};
use sutura_ir::{Context, Module, Type, Value};

use super::agree_on_all_levels;
use crate::testing::{any, context, copy, function, run, tensor, text};

/// Lowers, counts kernels (a region may have two versions) and compares at several sizes. Returns the text.
/// All that fits is taken, whether it pays or not.
pub(super) fn check(cx: &Context, before: &Module, regions: usize, sizes: &[&[(&str, i64)]]) -> String {
    check_by("greedy", cx, before, regions, sizes)
}

fn check_by(planner: &str, cx: &Context, before: &Module, regions: usize, sizes: &[&[(&str, i64)]]) -> String {
    let stitches = format!("propagate-shapes,func.func(canonicalize,cse,stitch{{planner={planner}}})");
    let mut stitched = copy(cx, before);
    run(cx, &mut stitched, &format!("builtin.module({stitches})")).expect("stitches");
    let out = text(cx, &stitched);
    assert_eq!(out.matches("graph.fusion").count(), regions, "{out}");
    let mut after = copy(cx, before);
    let pipeline = format!("builtin.module({stitches},convert-graph-to-gir,canonicalize,cse)");
    let said = run(cx, &mut after, &pipeline).unwrap_or_else(|e| panic!("{e:?}\n{out}\n{}", text(cx, &after)));
    assert!(said.iter().all(|s| !s.contains("error")), "{said:?}");
    agree_on_all_levels(cx, before, &after, sizes);
    text(cx, &after)
}

fn cut(g: &mut GraphBuilder<'_, '_>, x: Value, axis: usize, from: i64, to: i64, step: i64) -> Built {
    g.slice(x, &[axis], &SliceBounds::Known(vec![from], vec![to]), &[step])
}

const BATCHES: &[&[(&str, i64)]] =
    &[&[("B", 2), ("S", 3)], &[("B", 1), ("S", 1)], &[("B", 0), ("S", 4)], &[("B", 3), ("S", 0)]];

/// `x * cos + rotate(x) * sin`, where half of the columns change places with the other half, negated.
#[test]
fn rotary_embedding_is_one_kernel() {
    let cx = context();
    let x = tensor(&cx, &["B", "2", "S", "20"], Type::F32);
    let table = tensor(&cx, &["S", "20"], Type::F32);
    let module = function(&cx, &[("B", any()), ("S", any())], &[x, table, table], |g, args| {
        let left = cut(g, args[0], 3, 0, 10, 1)?;
        let right = cut(g, args[0], 3, 10, 20, 1)?;
        let negated = g.map(right, |s, x| s.neg(x))?;
        let rotated = g.concat(&[negated, left], 3)?;
        let straight = g.zip(args[0], args[1], |s, a, b| s.mul(a, b))?;
        let turned = g.zip(rotated, args[2], |s, a, b| s.mul(a, b))?;
        Ok(vec![g.zip(straight, turned, |s, a, b| s.add(a, b))?])
    });
    check(&cx, &module, 1, BATCHES);
}

#[test]
fn swiglu_on_halves_is_one_kernel() {
    let cx = context();
    let x = tensor(&cx, &["B", "S", "48"], Type::F32);
    let module = function(&cx, &[("B", any()), ("S", any())], &[x], |g, args| {
        let gate = cut(g, args[0], 2, 0, 24, 1)?;
        let up = cut(g, args[0], 2, 24, 48, 1)?;
        let swish = g.map(gate, |s, x| {
            let e = s.math("math.exp", x);
            let one = s.number(1.0, Type::F32);
            let sum = s.add(e, one);
            let product = s.mul(x, e);
            s.div(product, sum)
        })?;
        Ok(vec![g.zip(swish, up, |s, a, b| s.mul(a, b))?])
    });
    check(&cx, &module, 1, BATCHES);
}

#[test]
fn concatenation_takes_makers_and_readers_along() {
    let cx = context();
    let (a, b, c) = (
        tensor(&cx, &["B", "5", "S"], Type::F32),
        tensor(&cx, &["B", "1", "S"], Type::F32),
        tensor(&cx, &["B", "C", "S"], Type::F32),
    );
    let symbols = [("B", any()), ("S", any()), ("C", SymbolInfo { likely: vec![4], ..any() })];
    let sizes: &[&[(&str, i64)]] = &[
        &[("B", 2), ("S", 3), ("C", 4)],
        &[("B", 1), ("S", 17), ("C", 0)],
        &[("B", 1), ("S", 0), ("C", 1)],
        &[("B", 0), ("S", 2), ("C", 2)],
    ];
    let module = function(&cx, &symbols, &[a, b, c], |g, args| {
        let a = g.map(args[0], |s, x| s.math("math.exp", x))?;
        let b = g.map(args[1], |s, x| s.neg(x))?;
        let joined = g.concat(&[a, b, args[2]], 1)?;
        Ok(vec![g.map(joined, |s, x| s.math("math.tanh", x))?])
    });
    check(&cx, &module, 1, sizes);
    // Along the columns, which are combined then.
    let x = tensor(&cx, &["B", "S", "5"], Type::F32);
    let module = function(&cx, &[("B", any()), ("S", any())], &[x, x], |g, args| {
        let a = g.map(args[0], |s, x| s.math("math.exp", x))?;
        let joined = g.concat(&[a, args[1], args[0]], 2)?;
        Ok(vec![g.softmax(joined, 2)?])
    });
    check(&cx, &module, 1, BATCHES);
}

#[test]
fn padding_reads_what_was_made() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let sizes: &[&[(&str, i64)]] =
        &[&[("M", 3), ("N", 40)], &[("M", 1), ("N", 1)], &[("M", 0), ("N", 5)], &[("M", 2), ("N", 0)]];
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| {
        let y = g.map(args[0], |s, x| s.math("math.exp", x))?;
        let pad = PadKind::Constant(cx.float_attr(2.5, Type::F32));
        let y = g.pad(y, &[1, 2].map(Poly::from), &[0, 3].map(Poly::from), pad)?;
        Ok(vec![g.map(y, |s, x| s.math("math.log", x))?])
    });
    check(&cx, &module, 1, sizes);
    // What is made is read shifted and as it is.
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| {
        let y = g.map(args[0], |s, x| s.neg(x))?;
        let pad = PadKind::Constant(cx.float_attr(-1.0, Type::F32));
        let before = g.pad(y, &[0, 1].map(Poly::from), &[0, -1].map(Poly::from), pad)?;
        let difference = g.zip(y, before, |s, a, b| s.sub(a, b))?;
        Ok(vec![g.reduce(difference, &[1], true, sutura_dialects::graph::Combiner::Max, Type::F32, |_, x| x)])
    });
    check(&cx, &module, 1, sizes);
}

#[test]
fn slices_in_steps_and_backwards() {
    let cx = context();
    let x = tensor(&cx, &["M", "9"], Type::F32);
    let sizes: &[&[(&str, i64)]] = &[&[("M", 3)], &[("M", 1)], &[("M", 0)]];
    let module = function(&cx, &[("M", any())], &[x], |g, args| {
        let y = g.map(args[0], |s, x| s.neg(x))?;
        let odd = cut(g, y, 1, 1, 9, 2)?;
        let last = cut(g, y, 1, -4, i64::MAX, 1)?;
        Ok(vec![g.zip(odd, last, |s, a, b| s.mul(a, b))?])
    });
    check(&cx, &module, 1, sizes);
    let module = function(&cx, &[("M", any())], &[x], |g, args| {
        let y = g.map(args[0], |s, x| s.neg(x))?;
        Ok(vec![cut(g, y, 1, -1, i64::MIN, -1)?])
    });
    check(&cx, &module, 2, sizes);
}

#[test]
fn a_matrix_and_its_transposition() {
    let cx = context();
    let x = tensor(&cx, &["M", "M"], Type::F32);
    let module = function(&cx, &[("M", any())], &[x], |g, args| {
        let y = g.map(args[0], |s, x| s.neg(x))?;
        let turned = g.transpose(y, &[1, 0])?;
        Ok(vec![g.zip(y, turned, |s, a, b| s.mul(a, b))?])
    });
    check(&cx, &module, 1, &[&[("M", 3)], &[("M", 17)], &[("M", 0)]]);
}

/// A dear op that many places read is not computed for each of them.
#[test]
fn dear_makers_stay_apart() {
    let cx = context();
    let x = tensor(&cx, &["M", "8"], Type::F32);
    let module = function(&cx, &[("M", SymbolInfo { likely: vec![64], ..any() })], &[x], |g, args| {
        let y = g.map(args[0], |s, x| s.math("math.exp", x))?;
        let pad = PadKind::Constant(cx.float_attr(0.0, Type::F32));
        let mut sum = y;
        for shift in 1..7 {
            let moved = g.pad(y, &[0, shift].map(Poly::from), &[0, -shift].map(Poly::from), pad)?;
            sum = g.zip(sum, moved, |s, a, b| s.add(a, b))?;
        }
        Ok(vec![sum])
    });
    let out = check_by("search", &cx, &module, 2, &[&[("M", 3)], &[("M", 0)]]);
    assert_eq!(out.matches("\"exp\"").count(), 1, "{out}");
}

/// Sizes around those of a tile and of a block of tiles.
const SIDES: &[&[(&str, i64)]] = &[
    &[("M", 0), ("N", 17)],
    &[("M", 20), ("N", 0)],
    &[("M", 1), ("N", 40)],
    &[("M", 40), ("N", 1)],
    &[("M", 15), ("N", 16)],
    &[("M", 17), ("N", 15)],
    &[("M", 64), ("N", 32)],
    &[("M", 70), ("N", 131)],
];

fn symbols() -> [(&'static str, SymbolInfo); 2] {
    [("M", any()), ("N", any())]
}

/// What stands before and behind a transposition is done on the same tiles.
#[test]
fn transpositions_are_turned_in_registers() {
    let cx = context();
    for elem in [Type::F32, Type::F16, Type::F64, Type::I8, Type::I64] {
        let x = tensor(&cx, &["M", "N"], elem);
        let module = function(&cx, &symbols(), &[x], |g, args| {
            let negated = g.map(args[0], |s, x| if elem.is_float(&cx) { s.neg(x) } else { s.add(x, x) })?;
            let turned = g.transpose(negated, &[1, 0])?;
            Ok(vec![g.map(turned, |s, x| s.mul(x, x))?])
        });
        let out = check(&cx, &module, 1, SIDES);
        assert_eq!(out.matches("gir.transpose").count(), 1, "{out}");
        assert!(out.contains("select if [M - 8, N - 8]"), "{out}");
    }
}

/// One input, read once, for outputs that lie along different dims; and factors of rows and of columns.
#[test]
fn outputs_of_both_orders_and_repeated_numbers() {
    let cx = context();
    let (x, row, col) =
        (tensor(&cx, &["B", "M", "N"], Type::F32), tensor(&cx, &["M", "1"], Type::F32), tensor(&cx, &["N"], Type::F32));
    let symbols = [("B", any()), ("M", any()), ("N", any())];
    let module = function(&cx, &symbols, &[x, row, col], |g, args| {
        let scaled = g.zip(args[0], args[1], |s, a, b| s.mul(a, b))?;
        let moved = g.zip(scaled, args[2], |s, a, b| s.add(a, b))?;
        let turned = g.transpose(args[0], &[0, 2, 1])?;
        Ok(vec![moved, g.map(turned, |s, x| s.neg(x))?])
    });
    let sizes: &[&[(&str, i64)]] = &[
        &[("B", 2), ("M", 17), ("N", 33)],
        &[("B", 3), ("M", 65), ("N", 8)],
        &[("B", 1), ("M", 3), ("N", 40)],
        &[("B", 0), ("M", 20), ("N", 20)],
    ];
    let out = check(&cx, &module, 1, sizes);
    assert!(out.contains("gir.transpose"), "{out}");
}

/// Three dims in another order, and truth values.
#[test]
fn permutations_of_three_dims() {
    let cx = context();
    for (elem, order) in [(Type::F32, [2, 1, 0]), (Type::I1, [2, 0, 1]), (Type::BF16, [1, 2, 0])] {
        let x = tensor(&cx, &["M", "3", "N"], elem);
        let module = function(&cx, &symbols(), &[x], |g, args| Ok(vec![g.transpose(args[0], &order)?]));
        check(&cx, &module, 1, SIDES);
    }
}

/// Divisions of integers stay away from what lies beyond the tensors.
#[test]
fn integers_are_divided_where_they_exist() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::I32);
    let module = function(&cx, &symbols(), &[x, x], |g, args| {
        let divisor = g.map(args[1], |s, x| {
            let one = s.int(1, Type::I32);
            let odd = s.op("arith.ori", &[x, one], Type::I32);
            s.mul(odd, odd)
        })?;
        let turned = g.transpose(args[0], &[1, 0])?;
        let other = g.transpose(divisor, &[1, 0])?;
        Ok(vec![g.zip(turned, other, |s, a, b| s.div(a, b))?])
    });
    let out = check(&cx, &module, 1, &[&[("M", 9), ("N", 20)]]);
    assert!(!out.contains("gir.transpose"), "{out}");
}
