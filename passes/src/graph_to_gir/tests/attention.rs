//! Attention regions.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::graph::build::{Built, ComputeInput, ComputeResult, GraphBuilder, scalar::Comparison};
use sutura_dialects::graph::{Combiner, IteratorKind};
use sutura_ir::{Context, Module, Type, Value};

use super::{PIPELINE, agree_on_all_levels, check, check_with};
use crate::testing::{any, assert_equivalent, context, copy, function, run, tensor, text};

const FEW: &str = "builtin.module(func.func(canonicalize,stitch),\
                   convert-graph-to-gir{resident-keys=32 tile-rows=4 tile-columns=8},canonicalize,cse)";

/// What is done to the scores of `[B, heads, Q, K]`, with a mask.
type Masking = dyn Fn(&mut GraphBuilder<'_, '_>, Value, Value) -> Built<Value>;

/// Heads beside each other in the rows of `[B, Q, 3, 5]` and `[B, K, 3, 5]`.
fn heads(cx: &Context, keys: SymbolInfo, mask: (&[&str], Type), masking: &Masking) -> Module {
    let (q, kv) = (tensor(cx, &["B", "Q", "3", "5"], Type::F32), tensor(cx, &["B", "K", "3", "5"], Type::F32));
    let mask = tensor(cx, mask.0, mask.1);
    function(cx, &[("B", any()), ("Q", any()), ("K", keys)], &[q, kv, kv, mask], |g, args| {
        let turned = |g: &mut GraphBuilder<'_, '_>, x| g.transpose(x, &[0, 2, 1, 3]);
        let (q, k, v) = (turned(g, args[0])?, turned(g, args[1])?, turned(g, args[2])?);
        let scores = g.product(q, k, false, true)?;
        let scaled = g.map(scores, |s, x| {
            let factor = s.number(0.25, s.ty(x));
            s.mul(x, factor)
        })?;
        let masked = masking(g, scaled, args[3])?;
        let weights = g.softmax(masked, 3)?;
        let out = g.matmul(weights, v)?;
        Ok(vec![g.transpose(out, &[0, 2, 1, 3])?])
    })
}

fn added(g: &mut GraphBuilder<'_, '_>, scores: Value, mask: Value) -> Built<Value> {
    g.zip(scores, mask, |s, a, b| s.add(a, b))
}

fn few() -> SymbolInfo {
    SymbolInfo { max: 16, ..any() }
}

const SIZES: &[&[(&str, i64)]] = &[
    &[("B", 2), ("Q", 5), ("K", 7)],
    &[("B", 1), ("Q", 1), ("K", 1)],
    &[("B", 1), ("Q", 9), ("K", 16)],
    &[("B", 2), ("Q", 10), ("K", 7)],
    &[("B", 1), ("Q", 9), ("K", 1)],
    &[("B", 1), ("Q", 9), ("K", 0)],
    &[("B", 0), ("Q", 3), ("K", 2)],
    &[("B", 1), ("Q", 0), ("K", 2)],
    &[("B", 2), ("Q", 3), ("K", 0)],
];

/// Sizes at which keys come in blocks.
const MANY: &[&[(&str, i64)]] = &[&[("B", 1), ("Q", 33), ("K", 33)], &[("B", 2), ("Q", 2), ("K", 70)]];

#[test]
fn few_keys_are_resident() {
    let cx = context();
    let module = heads(&cx, few(), (&["B", "1", "1", "K"], Type::F32), &added);
    let out = check(&cx, &module, 2, SIZES);
    assert!(out.contains("main_attention"), "{out}");
}

#[test]
fn many_keys_come_in_blocks() {
    let cx = context();
    for (mask, sizes) in
        [(&["B", "1", "1", "K"][..], &[SIZES, MANY].concat()[..]), (&["B", "3", "Q", "K"], &MANY[1..2])]
    {
        let module = heads(&cx, any(), (mask, Type::F32), &added);
        check_with(&cx, &module, FEW, 3, sizes);
    }
}

/// Numbers of a value lie apart, and its keys side by side: keys are columns of scores, so values are not turned along them.
#[test]
fn values_lie_along_keys() {
    let cx = context();
    let (q, k) = (tensor(&cx, &["Q", "8"], Type::F32), tensor(&cx, &["K", "8"], Type::F32));
    let v = tensor(&cx, &["40", "K"], Type::F32);
    for keys in [few(), any()] {
        let before = function(&cx, &[("Q", any()), ("K", keys)], &[q, k, v], |g, args| {
            let scores = g.product(args[0], args[1], false, true)?;
            let weights = g.softmax(scores, 1)?;
            Ok(vec![g.product(weights, args[2], false, true)?])
        });
        let mut after = copy(&cx, &before);
        run(&cx, &mut after, PIPELINE).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
        agree_on_all_levels(
            &cx,
            &before,
            &after,
            &[&[("Q", 3), ("K", 5)], &[("Q", 13), ("K", 16)], &[("Q", 30), ("K", 1)]],
        );
    }
}

/// A machine with memory of a block: one kernel, whose units wait for each other.
#[test]
fn units_of_a_group_share_blocks_of_keys() {
    let cx = context();
    let machine = PIPELINE.replace("(func", "(attach-target{name=sm_80},func");
    let sizes = [SIZES, MANY, &[&[("B", 1), ("Q", 65), ("K", 32)]]].concat();
    for mask in [&["B", "3", "Q", "K"][..], &["B", "1", "1", "K"]] {
        let before = heads(&cx, any(), (mask, Type::F32), &added);
        let mut after = copy(&cx, &before);
        run(&cx, &mut after, &machine).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
        let out = text(&cx, &after);
        assert_eq!((out.matches("gir.kernel").count(), out.matches("gir.sync").count()), (1, 4), "{out}");
        for symbols in &sizes {
            assert_equivalent(&cx, &before, &after, symbols);
        }
    }
}

/// Where the mask is false, as in a row that is masked from end to end, scores are negative infinity: the softmax of such
/// a row is of nothing but NaN, and so is what the kernel makes of it.
#[test]
fn scores_are_chosen_by_a_mask() {
    let cx = context();
    let chosen = |g: &mut GraphBuilder<'_, '_>, scores: Value, mask: Value| {
        g.zip(scores, mask, |s, a, m| {
            let none = s.number(f64::NEG_INFINITY, s.ty(a));
            s.select(m, a, none)
        })
    };
    let few: [&[(&str, i64)]; 2] = [&[("B", 2), ("Q", 5), ("K", 2)], &[("B", 1), ("Q", 3), ("K", 40)]];
    let sizes = &[few[0], few[1], &[("B", 2), ("Q", 9), ("K", 2)], &[("B", 1), ("Q", 10), ("K", 40)]];
    for mask in [&["B", "1", "Q", "K"][..], &["Q", "1"]] {
        let module = heads(&cx, any(), (mask, Type::I1), &chosen);
        check_with(&cx, &module, FEW, 3, sizes);
    }
}

/// The largest logit of a row is needed behind the values too, where a row that sees nothing looks up zero.
#[test]
fn rows_that_see_nothing_look_up_zero() {
    let cx = context();
    let (q, kv) = (tensor(&cx, &["B", "Q", "5"], Type::F32), tensor(&cx, &["B", "K", "5"], Type::F32));
    let mask = tensor(&cx, &["Q", "K"], Type::I1);
    let before = function(&cx, &[("B", any()), ("Q", any()), ("K", any())], &[q, kv, kv, mask], |g, args| {
        let scores = g.product(args[0], args[1], false, true)?;
        let logits = g.elementwise(&[scores, args[3]], Type::F32, |s, args| {
            let none = s.number(f64::NEG_INFINITY, Type::F32);
            s.select(args[1], args[0], none)
        })?;
        let largest = g.reduce(logits, &[2], false, Combiner::Max, Type::F32, |_, x| x);
        let weights = g.softmax(logits, 2)?;
        let out = g.matmul(weights, args[2])?;
        let read = |value, index| ComputeInput { value, index, oob: None };
        let inputs = vec![read(out, g.dims(0..3)), read(largest, g.dims(0..2))];
        let result = ComputeResult { shape: g.shape(out), elem: Type::F32, index: g.dims(0..3), combiner: None };
        let seen = g.compute(&[IteratorKind::Parallel; 3], inputs, vec![result], |s, args| {
            let (none, zero) = (s.number(f64::NEG_INFINITY, Type::F32), s.number(0.0, Type::F32));
            let blind = s.compare(Comparison::Equal, args[1], none);
            vec![s.select(blind, zero, args[0])]
        });
        Ok(vec![g.b.body().result(seen, 0)])
    });
    let pipeline = FEW.replace("(canonicalize,", "(canonicalize,cse,");
    let sizes: [&[(&str, i64)]; 3] =
        [&[("B", 2), ("Q", 5), ("K", 2)], &[("B", 1), ("Q", 13), ("K", 3)], &[("B", 1), ("Q", 10), ("K", 40)]];
    let out = check_with(&cx, &before, &pipeline, 3, &sizes);
    assert!(out.contains("main_attention"), "{out}");
}

/// Queries see the keys before them: the indices of both are compared.
#[test]
fn causal_masks_are_index_compares() {
    let cx = context();
    let causal = |g: &mut GraphBuilder<'_, '_>, scores: Value, mask: Value| {
        g.zip(scores, mask, |s, a, m| {
            let (query, key) = (s.index(2), s.index(3));
            let (seen, none) =
                (s.compare(Comparison::GreaterOrEqual, query, key), s.number(f64::NEG_INFINITY, s.ty(a)));
            let moved = s.add(a, m);
            s.select(seen, moved, none)
        })
    };
    let module = heads(&cx, any(), (&["1", "1", "1", "1"], Type::F32), &causal);
    let sizes: [&[(&str, i64)]; 4] = [
        &[("B", 1), ("Q", 6), ("K", 6)],
        &[("B", 1), ("Q", 35), ("K", 34)],
        &[("B", 2), ("Q", 9), ("K", 70)],
        &[("B", 1), ("Q", 40), ("K", 3)],
    ];
    let out = check_with(&cx, &module, FEW, 3, &sizes);
    // Keys that no query of a tile sees are left out.
    assert!(out.contains("gir.pick \"what a choice shows\""), "{out}");
}
