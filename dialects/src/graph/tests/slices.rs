//! Bounds of slices as sizes, beside what a slice takes.

use crate::r#dyn::{Facts, Poly, SymbolInfo};
use crate::graph::shape_fn::{slice_bound, slice_len, slice_range};

/// Bounds whose sign is known, or not: `P - Q` of any two sizes.
fn bounds() -> Vec<Poly> {
    let difference = Poly::symbol("P").sub(&Poly::symbol("Q"));
    let constants = [0, 2, -1, -3, i64::MAX, i64::MIN, 1 << 62].map(Poly::constant);
    [Poly::symbol("P"), Poly::symbol("Q").scale(-1), difference].into_iter().chain(constants).collect()
}

#[test]
fn bounds_of_any_sign_are_those_of_the_run() {
    let mut facts = Facts::new();
    for name in ["N", "P", "Q"] {
        facts.define(name, SymbolInfo::default());
    }
    let size = Poly::symbol("N");
    for (start, end) in bounds().iter().flat_map(|start| bounds().into_iter().map(move |end| (start.clone(), end))) {
        for step in [1, 2, -1, -3] {
            let first = slice_bound(&start, step, &size, &facts).unwrap();
            let count = slice_len(&start, &end, step, &size, &facts).unwrap();
            for (n, p, q) in (0..4).flat_map(|n| (0..6).flat_map(move |p| (0..6).map(move |q| (n, p, q)))) {
                let values = [("N", n), ("P", p), ("Q", q)];
                let value_of = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
                let at = |bound: &Poly| bound.eval(&value_of).unwrap();
                let wanted = slice_range(at(&start), at(&end), step, n as usize);
                let found = (at(&first), at(&count) as usize);
                assert_eq!(found, wanted, "{start}:{end}:{step} of {n} at P = {p}, Q = {q}");
            }
        }
    }
}

#[test]
fn floors_tell_from_which_end_a_bound_counts() {
    let parse = |text: &str| Poly::parse(text).unwrap();
    let mut facts = Facts::new();
    facts.define("N", SymbolInfo::default());
    // Never negative, and never more than the size: half of it, rounded up, in windows of 7.
    let half = parse("N floordiv 4 - N floordiv 8");
    let windows = parse("7*(N floordiv 4) - 7*((6*(N floordiv 4) + N floordiv 8) floordiv 7)");
    assert_eq!(slice_bound(&half, 1, &windows, &facts), Some(half.clone()));
    assert_eq!(slice_len(&Poly::default(), &half, 1, &windows, &facts), Some(half.clone()));
    // Always negative: it counts from the end.
    let (back, size) = (half.scale(-1).sub(&1.into()), parse("N + 1"));
    assert_eq!(slice_bound(&back, 1, &size, &facts), Some(size.add(&back)));
}
