//! Reads at places that depend on sizes: concatenations of dynamic parts, slices that begin at a size, reversals, padding by
//! sizes.

use sutura_dialects::r#dyn::{Poly, SymbolInfo};
use sutura_dialects::graph::build::{Built, GraphBuilder, PadKind, SliceBounds};
use sutura_ir::{Context, Module, Type, Value};

use super::agree_on_all_levels;
use super::moves::check;
use crate::testing::{any, context, copy, function, run, size, tensor, text};

/// Sizes with parts that are empty, single and longer than a vector.
const PARTS: &[&[(&str, i64)]] = &[
    &[("B", 2), ("P", 3), ("S", 2)],
    &[("B", 1), ("P", 0), ("S", 1)],
    &[("B", 1), ("P", 1), ("S", 0)],
    &[("B", 3), ("P", 0), ("S", 0)],
    &[("B", 0), ("P", 2), ("S", 2)],
    &[("B", 1), ("P", 17), ("S", 70)],
];

fn symbols() -> [(&'static str, SymbolInfo); 3] {
    [("B", any()), ("P", any()), ("S", any())]
}

/// Lowers and compares at several sizes.
fn agree(cx: &Context, before: &Module, sizes: &[&[(&str, i64)]]) {
    let mut after = copy(cx, before);
    let pipeline = "builtin.module(propagate-shapes,func.func(canonicalize,cse,stitch),convert-graph-to-gir)";
    run(cx, &mut after, pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, &after)));
    agree_on_all_levels(cx, before, &after, sizes);
}

/// A size of a tensor as a list of one integer.
fn size_of(g: &mut GraphBuilder<'_, '_>, x: Value, dim: i64) -> Built {
    let shape = g.shape_of(x);
    g.slice(shape, &[0], &SliceBounds::Known(vec![dim], vec![dim + 1]), &[1])
}

/// What begins at a size of `like`, to the end.
fn from_size(g: &mut GraphBuilder<'_, '_>, x: Value, axis: usize, (like, dim): (Value, i64), step: i64) -> Built {
    let (start, end) = (size_of(g, like, dim)?, g.int_list(&[i64::MAX])?);
    g.slice(x, &[axis], &SliceBounds::Values(start, end), &[step])
}

/// A cache of keys to which new ones are appended: along the rows of the last dimension, and along the columns.
#[test]
fn parts_of_any_size_are_joined() {
    let cx = context();
    let past = [["B", "2", "P", "8"], ["P", "B", "2", "8"], ["B", "2", "8", "P"]];
    let new = [["B", "2", "S", "8"], ["S", "B", "2", "8"], ["B", "2", "8", "S"]];
    for ((past, new), axis) in past.iter().zip(&new).zip([2, 0, 3]) {
        let types = [tensor(&cx, past, Type::F32), tensor(&cx, new, Type::F32)];
        let module = function(&cx, &symbols(), &types, |g, args| Ok(vec![g.concat(args, axis)?]));
        check(&cx, &module, 1, PARTS);
        // With what makes a part, and what reads all.
        let module = function(&cx, &symbols(), &types, |g, args| {
            let made = g.map(args[1], |s, x| s.math("math.exp", x))?;
            let joined = g.concat(&[args[0], made, args[0]], axis)?;
            Ok(vec![g.map(joined, |s, x| s.neg(x))?])
        });
        check(&cx, &module, 1, PARTS);
    }
    // Columns that are combined.
    let types = [tensor(&cx, &["B", "P"], Type::F32), tensor(&cx, &["B", "S"], Type::F32)];
    let module = function(&cx, &symbols(), &types, |g, args| {
        let joined = g.concat(args, 1)?;
        Ok(vec![g.softmax(joined, 1)?])
    });
    check(&cx, &module, 1, PARTS);
}

#[test]
fn integers_of_one_dimension_are_joined() {
    let cx = context();
    let types = [tensor(&cx, &["P"], Type::I64), tensor(&cx, &["2"], Type::I64), tensor(&cx, &["S"], Type::I64)];
    let module = function(&cx, &symbols()[1..], &types, |g, args| Ok(vec![g.concat(args, 0)?]));
    check(&cx, &module, 1, &PARTS.iter().map(|sizes| &sizes[1..]).collect::<Vec<_>>());
    let types = [tensor(&cx, &["2"], Type::I32), tensor(&cx, &["3"], Type::I32)];
    let module = function(&cx, &[], &types, |g, args| Ok(vec![g.concat(args, 0)?]));
    check(&cx, &module, 1, &[&[]]);
}

/// What is sliced off again is read from the part alone.
#[test]
fn slices_begin_at_sizes() {
    let cx = context();
    let types = [tensor(&cx, &["B", "P", "4"], Type::F32), tensor(&cx, &["B", "S", "4"], Type::F32)];
    for step in [1, 2] {
        let module = function(&cx, &symbols(), &types, |g, args| {
            let joined = g.concat(args, 1)?;
            let behind = from_size(g, joined, 1, (args[0], 1), step)?;
            Ok(vec![g.map(behind, |s, x| s.neg(x))?])
        });
        check(&cx, &module, 1, PARTS);
    }
    // Along the columns.
    let types = [tensor(&cx, &["B", "P"], Type::F32), tensor(&cx, &["B", "S"], Type::F32)];
    for step in [1, 3] {
        let module = function(&cx, &symbols(), &types, |g, args| {
            let joined = g.concat(args, 1)?;
            Ok(vec![joined, from_size(g, joined, 1, (args[0], 1), step)?])
        });
        agree(&cx, &module, PARTS);
    }
}

#[test]
fn slices_go_backwards() {
    let cx = context();
    let sizes: &[&[(&str, i64)]] =
        &[&[("M", 3), ("N", 40)], &[("M", 1), ("N", 1)], &[("M", 0), ("N", 5)], &[("M", 2), ("N", 0)]];
    let x = tensor(&cx, &["M", "N"], Type::F32);
    for (axis, step) in [(0, -1), (1, -1), (0, -2), (1, -3)] {
        let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| {
            let back = g.slice(args[0], &[axis], &SliceBounds::Known(vec![-1], vec![i64::MIN + 1]), &[step])?;
            Ok(vec![g.map(back, |s, x| s.neg(x))?])
        });
        agree(&cx, &module, sizes);
    }
    // Counted from an end that is no constant.
    let symbols = [("M", any()), ("N", SymbolInfo { min: 3, ..any() })];
    let module = function(&cx, &symbols, &[x], |g, args| {
        let last = g.slice(args[0], &[1], &SliceBounds::Known(vec![-3], vec![i64::MAX]), &[1])?;
        let middle = g.slice(args[0], &[1], &SliceBounds::Known(vec![-2], vec![-4]), &[-1])?;
        Ok(vec![last, middle])
    });
    agree(&cx, &module, &[&[("M", 2), ("N", 3)], &[("M", 1), ("N", 4)], &[("M", 3), ("N", 90)]]);
}

#[test]
fn padding_by_sizes() {
    let cx = context();
    let x = tensor(&cx, &["B", "S"], Type::F32);
    let like = tensor(&cx, &["P"], Type::F32);
    let p = || size("P");
    let number = cx.float_attr(2.5, Type::F32);
    for kind in [PadKind::Constant(number), PadKind::Edge, PadKind::Wrap] {
        for (before, after) in [
            ([Poly::default(), p()], [Poly::default(), Poly::default()]),
            ([p(), 1.into()], [2.into(), p()]),
            ([Poly::default(), Poly::default()], [p(), p()]),
        ] {
            let module = function(&cx, &symbols(), &[x, like], |g, args| {
                let y = g.map(args[0], |s, x| s.neg(x))?;
                let z = g.pad(y, &before, &after, kind)?;
                Ok(vec![g.map(z, |s, x| s.abs(x))?])
            });
            // What repeats elements needs some.
            let filled =
                |sizes: &&&[(&str, i64)]| matches!(kind, PadKind::Constant(_)) || sizes.iter().all(|s| s.1 > 0);
            let sizes: Vec<_> = PARTS.iter().filter(filled).copied().collect();
            match kind {
                PadKind::Constant(_) => drop(check(&cx, &module, 1, &sizes)),
                _ => agree(&cx, &module, &sizes),
            }
        }
    }
    // As many may be taken away as there are.
    function(&cx, &symbols(), &[x, like], |g, args| {
        let less = g.pad(args[0], &[0.into(), p().scale(-1)], &[0.into(), 0.into()], PadKind::Constant(number));
        let why = less.unwrap_err().to_string();
        assert!(why.contains("dimension 1 of size `-P + S`, which is not known to be at least 0"), "{why}");
        Ok(vec![args[0]])
    });
}
