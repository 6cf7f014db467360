//! Random masks: results stay, ends are those of the rows, and what is multiplied by zeros counts where it is not finite.

use sutura_dialects::graph::build::GraphBuilder;
use sutura_interp::random::Random;
use sutura_interp::{Interpreter, Tensor};
use sutura_ir::{Context, Module, Type};

use super::Ranges;
use crate::testing::{assert_equivalent, context, copy, function, run, tensor, text};

const PIPELINE: &str = "builtin.module(mask-ranges)";

/// Down to kernels, with blocks of few keys.
const KERNELS: &str = "builtin.module(func.func(canonicalize),mask-ranges,func.func(stitch),\
                       convert-graph-to-gir{tile-rows=4 tile-columns=8},canonicalize,cse)";

/// Whether query `q` sees key `k`.
type Shows = dyn Fn(i64, i64) -> bool;

/// Attention of `queries` to `keys`, whose hidden logits are -inf; `turned` where the mask says what is hidden.
fn attention(cx: &Context, (queries, keys): (i64, i64), shows: &Shows, turned: bool) -> Module {
    let sizes = [queries, keys].map(|n| n.to_string());
    let [q, k] = sizes.each_ref().map(|n| tensor(cx, &["2", n, "6"], Type::F32));
    function(cx, &[], &[q, k, k], |g, args| {
        let places = (0..queries).flat_map(|q| (0..keys).map(move |k| (q, k)));
        let words: Vec<u64> = places.map(|(q, k)| u64::from(shows(q, k) != turned)).collect();
        let ty = tensor(g.cx(), &sizes.each_ref().map(String::as_str), Type::I1);
        let mask = g.cx().dense_attr(ty, &words).expect("as many truth values as elements");
        let mask = GraphBuilder::constant(g, mask);
        let scores = g.product(args[0], args[1], false, true)?;
        let logits = g.zip(scores, mask, |s, score, mask| {
            let none = s.number(f64::NEG_INFINITY, s.ty(score));
            if turned { s.select(mask, none, score) } else { s.select(mask, score, none) }
        })?;
        let weights = g.softmax(logits, 2)?;
        Ok(vec![g.matmul(weights, args[2])?])
    })
}

fn made(cx: &Context, before: &Module, pipeline: &str) -> (Module, Vec<String>) {
    let mut after = copy(cx, before);
    let said = run(cx, &mut after, pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, before)));
    (after, said)
}

#[test]
fn ends_are_those_of_rows() {
    let rows = [vec![false, true, true, false], vec![false; 4], vec![true, false, true, false]];
    let ranges = Ranges::of(rows.clone().into_iter(), 4);
    assert_eq!(ranges, Ranges { ends: [vec![1, 4, 0], vec![3, 0, 3]], whole: false });
    assert_eq!(ranges.places(), 5);
    assert!(Ranges::of(rows.into_iter().take(2), 4).whole);
}

#[test]
fn masks_of_any_kind_mean_the_same() {
    let cx = context();
    let mut random = Random::new(3);
    let masks: [(&str, Box<Shows>); 6] = [
        ("causal", Box::new(|q, k| k <= q)),
        ("a window", Box::new(|q, k| k <= q && k > q - 3)),
        ("blocks", Box::new(|q, k| q / 5 == k / 5)),
        ("rows that see nothing", Box::new(|q, k| q % 2 == 0 && k <= q)),
        ("gaps", Box::new(|q, k| k <= q && (q + k) % 3 != 1)),
        ("the first keys", Box::new(|_, k| k < 4)),
    ];
    for (what, shows) in &masks {
        for _ in 0..3 {
            let [queries, keys] = [(random.next_u64() % 22), (random.next_u64() % 40)].map(|n| n as i64 + 2);
            let before = attention(&cx, (queries, keys), shows, random.next_u64().is_multiple_of(2));
            for pipeline in [PIPELINE, KERNELS] {
                let (after, said) = made(&cx, &before, pipeline);
                assert_equivalent(&cx, &before, &after, &[]);
                let ranged = said.iter().any(|line| line.contains("the range of each row"));
                assert!(ranged || said.iter().any(|line| line.contains("a mask stays")), "{what}: {said:?}");
                assert!(!said.iter().any(|line| line.contains("not proved")), "{what}: {said:?}");
            }
        }
    }
}

#[test]
fn a_mask_that_is_a_range_goes() {
    let cx = context();
    let before = attention(&cx, (20, 20), &|q, k| k <= q, false);
    let (after, said) = made(&cx, &before, PIPELINE);
    assert!(
        said.iter().any(|line| line.contains("shows 52 % of 20, and the range of each row says all of it")),
        "{said:?}"
    );
    let after = text(&cx, &after);
    assert!(after.contains("tensor<20xi32>") && after.contains("arith.cmpi slt"), "{after}");
    assert!(!after.contains("arith.cmpi sge") && after.matches("xi1>").count() <= 1, "{after}");
    let (kernels, _) = made(&cx, &before, KERNELS);
    let kernels = text(&cx, &kernels);
    assert!(kernels.contains("gir.pick \"what a choice shows\""), "{kernels}");
}

/// A weight of 0 times an infinity is no number, also for a key that is hidden: then nothing is left out.
#[test]
fn values_that_are_not_finite_count() {
    let cx = context();
    // As many keys as are 17 panels, so that a block is one of them.
    let (queries, keys) = (9usize, 130usize);
    let before = attention(&cx, (queries as i64, keys as i64), &|_, k| k < 3, false);
    let (after, _) = made(&cx, &before, KERNELS);
    assert!(text(&cx, &after).contains("what a choice shows"), "{}", text(&cx, &after));
    let mut random = Random::new(8);
    let mut numbers = |count: usize| -> Vec<f32> {
        (0..count).map(|_| (random.next_u64() >> 40) as f32 / (1u64 << 23) as f32 - 1.0).collect()
    };
    let (q, k, v) = (numbers(2 * queries * 6), numbers(2 * keys * 6), numbers(2 * keys * 6));
    for (wrong, at) in [(f32::INFINITY, 30), (f32::NAN, 20), (f32::NEG_INFINITY, 129), (1.0, 31)] {
        let mut values = v.clone();
        values[at * 6 + 2] = wrong;
        let of = |module: &Module| -> Vec<bool> {
            let input = |numbers: &[f32], rows: usize| {
                let shaped = Tensor::from_f32(numbers.to_vec(), &[2, rows, 6]).expect("as many numbers as elements");
                sutura_interp::Value::Tensor(shaped)
            };
            let inputs = [input(&q, queries), input(&k, keys), input(&values, keys)];
            let made = Interpreter::new(&cx, module).call("main", &inputs).expect("it runs");
            let data = made[0].tensor().expect("a tensor").data().clone();
            let all = (0..2 * queries * 6).map(|at| data.get(at).expect("there is one").bits() as u32);
            all.map(|bits| f32::from_bits(bits).is_nan()).collect()
        };
        let (before, after) = (of(&before), of(&after));
        assert_eq!(before, after, "{wrong}");
        assert_eq!(before.iter().filter(|nan| **nan).count(), if wrong.is_finite() { 0 } else { queries }, "{wrong}");
    }
}
