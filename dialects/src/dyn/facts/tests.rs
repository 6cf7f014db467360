use super::*;

fn p(text: &str) -> Poly {
    Poly::parse(text).unwrap()
}

fn facts(names: &[&str]) -> Facts {
    let mut facts = Facts::new();
    names.iter().for_each(|n| facts.define(n, SymbolInfo { min: 1, ..SymbolInfo::default() }));
    facts
}

#[test]
fn solves_for_the_newer_symbol() {
    let mut f = facts(&["B", "S", "t"]);
    f.assume_equal(&p("4*S"), &p("t + S")).unwrap();
    assert_eq!(f.canonical(&p("t")), p("3*S"));
    assert!(f.prove_equal(&p("B*t"), &p("3*B*S")));
    assert!(!f.prove_equal(&p("t"), &p("S")));
}

#[test]
fn floors_are_close_to_what_they_divide() {
    let f = facts(&["N"]);
    let last = p("16*((N + 15) floordiv 16) - 16");
    assert!(f.prove_non_negative(&p("N - 1").sub(&last)), "the last tile begins inside");
    assert!(f.prove_non_negative(&last.add(&p("16 - N"))), "and ends at or beyond the end");
    assert!(!f.prove_non_negative(&p("N - 2").sub(&last)));
    assert!(!f.prove_non_negative(&last.add(&p("15 - N"))));
    let half = p("(N + 1) floordiv 2");
    assert!(f.prove_non_negative(&half.ceildiv(64).scale(64).sub(&half)), "tiles of a half cover it");
    assert!(f.prove_non_negative(&half.sub(&half.floordiv(2).scale(2))), "half of the half, twice, lies inside");
}

#[test]
fn floors_tell_which_is_less() {
    let mut f = Facts::new();
    f.define("N", SymbolInfo::default());
    for (least, known) in [
        ("min(N floordiv 4, N floordiv 8)", "N floordiv 8"),
        // Windows of 7 cover the half of what windows of 4 leave.
        (
            "min(N floordiv 4, (6*(N floordiv 4) + N floordiv 8) floordiv 7)",
            "(6*(N floordiv 4) + N floordiv 8) floordiv 7",
        ),
        ("min((N + 7) floordiv 8, N floordiv 8)", "N floordiv 8"),
    ] {
        assert_eq!(f.canonical(&p(least)), p(known), "{least}");
    }
    let either = p("min(N floordiv 4, (N + 8) floordiv 8)");
    assert_eq!(f.canonical(&either), either, "at 0 the first is less, at 64 the second");
}

#[test]
fn what_a_size_is_at_least_bounds_its_symbols() {
    let least_of_n = |size: &str, least: i128| {
        let mut f = Facts::new();
        for name in ["M", "N"] {
            f.define(name, SymbolInfo { max: 1000, ..SymbolInfo::default() });
        }
        f.assume_at_least(&p(size), least);
        f.info("N").min
    };
    for (size, least, wanted) in [
        ("N", 3, 3),
        ("2*N - 5", 2, 4),
        ("N floordiv 8", 1, 8),
        ("(N + 15) floordiv 16", 2, 17),
        ("(N floordiv 4 + 3) floordiv 4", 1, 4),
        ("M*N", 1, 1),
        ("min(N, M) - 1", 1, 2),
        ("N floordiv 4 - N floordiv 8", 1, 4),
        ("N - M", 1, 1),
        // The other one may be all of it.
        ("N + M", 5, 0),
        ("N + M", 1003, 3),
        ("5 - N", 1, 0),
        // No value would be left.
        ("N", 2000, 0),
    ] {
        assert_eq!(least_of_n(size, least), wanted, "{size} >= {least}");
    }
}

#[test]
fn sizes_of_slices_of_slices_stay_small() {
    let f = facts(&["A", "B", "N"]);
    for (long, short) in [
        ("min(min(N, 3) + 2, N)", "min(N, 5)"),
        ("max(max(N - 3, 0) - 2, 0)", "max(N - 5, 0)"),
        ("min(N, 2*min(N, 1))", "min(N, 2)"),
        ("min(N, min(N, 1) + min(N, 2))", "min(N, 3)"),
        ("min(min(min(A, B) + 1, A) + 1, B)", "min(A + 1, B)"),
        // Nothing is known to be superfluous.
        ("min(2*min(N, 3), A)", "min(2*min(N, 3), A)"),
        // What leaves 64 bits on the way is left as it is.
        ("min(min(N, 3)*9223372036854775807, A)", "min(min(N, 3)*9223372036854775807, A)"),
    ] {
        assert_eq!(f.canonical(&p(long)), f.canonical(&p(short)), "{long}");
    }
    let size = (0..200).fold(p("N"), |size, _| f.canonical(&size.sub(&p("1")).greater(&p("0"))));
    assert_eq!(size, p("max(N - 200, 0)"));
}

#[test]
fn common_factors_cancel() {
    let mut f = facts(&["B", "S", "T"]);
    f.assume_equal(&p("4*B"), &p("8")).unwrap();
    f.assume_equal(&p("6*S"), &p("6*T + 12")).unwrap();
    assert_eq!((f.canonical(&p("B")), f.canonical(&p("T"))), (p("2"), p("S - 2")));
}

#[test]
fn keeps_product_equalities() {
    let mut f = facts(&["A", "B", "C", "D"]);
    f.assume_equal(&p("A*B"), &p("C*D")).unwrap();
    assert!(f.prove_equal(&p("A*B"), &p("C*D")));
    assert!(f.prove_equal(&p("2*A*B*A"), &p("2*C*D*A")));
    assert!(!f.prove_equal(&p("A"), &p("C")));
}

#[test]
fn what_no_symbol_is_solved_from_orders_sizes_too() {
    let mut facts = facts(&["H"]);
    // What is pooled and doubled again is as long as what it was pooled from.
    let (doubled, first) = (p("2*((H + 30) floordiv 32)"), p("(H + 14) floordiv 16"));
    assert!(!facts.prove_le(&doubled, &first));
    facts.assume_equal(&doubled, &first).unwrap();
    for (a, b) in [(&doubled, &first), (&first, &doubled)] {
        assert!(facts.prove_le(a, b));
        assert!(facts.prove_le(a, &b.add(&1.into())));
        assert!(!facts.prove_le(&a.add(&1.into()), b));
    }
    assert!(!facts.prove_le(&p("2*((H + 30) floordiv 32)"), &p("(H + 6) floordiv 16")));
}

#[test]
fn finds_contradictions() {
    let mut f = facts(&["B"]);
    assert!(f.assume_equal(&p("4"), &p("5")).is_err());
    assert!(f.assume_equal(&p("B"), &p("0")).is_err());
    f.assume_equal(&p("B"), &p("7")).unwrap();
    assert!(f.assume_equal(&p("B"), &p("8")).is_err());
    let mut f = Facts::new();
    f.define("N", SymbolInfo { min: 8, max: 64, div: 8, likely: vec![] });
    for (a, b) in [("4*N", "4*M + 2"), ("N", "4"), ("N", "65"), ("2*N", "24")] {
        assert!(f.clone().assume_equal(&p(a), &p(b)).is_err(), "{a} = {b}");
    }
}

#[test]
fn the_lesser_of_two_is_at_most_both() {
    let mut f = Facts::new();
    f.define("N", SymbolInfo::default());
    f.define("B", SymbolInfo::default());
    assert!(f.prove_le(&p("min(N, 128)"), &p("N")) && f.prove_le(&p("min(N, 128)"), &p("128")));
    assert!(f.prove_le(&p("0"), &p("min(N, 128)")) && f.prove_non_negative(&p("B*N - B*min(N, 3)")));
    assert!(!f.prove_le(&p("N"), &p("min(N, 128)")) && !f.prove_non_negative(&p("min(N, 3) - 1")));
    // Tiles of 16 of 4/5 of the elements: the bound is a fraction above -1.
    assert!(f.prove_le(&p("(4*N) floordiv 5"), &p("16*((N + 18) floordiv 20)")));
    assert!(!f.prove_le(&p("(4*N) floordiv 5"), &p("16*((N + 17) floordiv 20)")));
    assert!(f.prove_le(&p("min(N, 4) + min(B, 4)"), &p("N + 4")));
    assert!(f.prove_le(&p("min(N, 2)"), &p("min(N, 7)")) && !f.prove_le(&p("min(N, 7)"), &p("min(N, 2)")));
    assert_eq!(f.canonical(&p("max(min(N, 7), min(N, 2))")), p("min(N, 7)"));
    assert_eq!(f.range(&p("min(N, 128)")), (0, 128));
    let tiles = p("(min(N, 128) + 15) floordiv 16");
    assert!(
        f.prove_non_negative(&p("min(N, 128) - 1").sub(&tiles.scale(16).sub(&p("16")))),
        "the last tile begins inside"
    );
    f.define("N", SymbolInfo { min: 1, max: 64, ..SymbolInfo::default() });
    assert_eq!((f.canonical(&p("min(N, 1)")), f.canonical(&p("min(N, 64) + 1"))), (p("1"), p("N + 1")));
}

#[test]
fn an_equality_tells_which_is_less() {
    let mut f = Facts::new();
    for name in ["N", "P", "S"] {
        f.define(name, SymbolInfo::default());
    }
    f.assume_equal(&p("min(N, 512)"), &p("N")).unwrap();
    f.assume_equal(&p("1"), &p("min(S, 1)")).unwrap();
    assert_eq!((f.info("N").max, f.info("S").min), (512, 1));
    assert!(f.prove_equal(&p("min(N, 512)"), &p("N")));
    f.assume_equal(&p("P + S"), &p("min(P + S, 512)")).unwrap();
    assert_eq!(f.canonical(&p("min(P + S, 512)")), p("P + S"));
    let mut g = Facts::new();
    g.assume_equal(&p("S"), &p("min(P + S, 12) - min(P, 12)")).unwrap();
    assert_eq!(g.canonical(&p("B*min(P + S, 12) - B*min(P, 12)")), p("B*S"));
    assert_eq!(g.canonical(&p("min(S + min(P, 12), 12)")), p("S + min(P, 12)"));
    assert!(!g.prove_non_negative(&p("12 - min(P, 12) - S")));
    assert_eq!(f.canonical(&p("min(P + S, 511)")), p("min(P + S, 511)"));
    assert!(f.assume_equal(&p("min(N, 3)"), &p("4")).is_err());
    f.define("N", SymbolInfo { min: 0, max: 3, ..SymbolInfo::default() });
    assert!(f.assume_equal(&p("min(N, 5)"), &p("5")).is_err());
}

#[test]
fn ranges_and_divisibility() {
    let mut f = Facts::new();
    f.define("N", SymbolInfo { min: 8, max: 64, div: 8, likely: vec![] });
    assert_eq!(f.range(&p("2*N - 1")), (15, 127));
    assert_eq!(f.range(&p("N floordiv 16")), (0, 4));
    assert!(f.divisible(&p("3*N + 16"), 8) && !f.divisible(&p("N + 4"), 8));
    assert!(f.prove_le(&p("N"), &p("64")) && !f.prove_le(&p("N"), &p("63")));
}

#[test]
fn what_is_large_defines_a_symbol_and_does_not_replace_it() {
    let mut f = facts(&["N", "M", "T", "U"]);
    let large = |i: i64| {
        (0..20).fold(p("N*M"), |sum, d| {
            sum.add(&p("N + M").mul(&p("N")).add(&p(&format!("{d}*M"))).floordiv(97 + 2 * d + i))
        })
    };
    f.assume_equal(&p("T"), &large(0)).unwrap();
    assert_eq!(f.canonical(&p("T + 1")), p("T + 1"), "sizes stay short");
    assert!(f.prove_equal(&p("2*T"), &large(0).scale(2)) && !f.prove_equal(&p("T"), &large(100)));
    f.assume_equal(&p("U"), &p("T*T*T*T*T*T*T*T*T*T*T*T*T*T*T*T*T")).unwrap();
    let t = p("T");
    assert!(f.prove_equal(&p("U*T"), &Poly::product(std::iter::repeat_n(&t, 18))));
    let value_of = |name: &str| match name {
        "N" => Some(1),
        "M" => Some(2),
        _ => None,
    };
    let t = large(0).eval(&value_of).unwrap();
    assert_eq!(f.eval(&p("T"), &value_of), Some(t));
    assert_eq!(f.eval(&p("U + 1"), &value_of), t.checked_pow(17).map(|u| u + 1));
}

#[test]
fn what_is_beyond_the_limits_says_nothing() {
    let mut f = facts(&["N", "M"]);
    let beyond = || Poly::symbol("N").scale(i64::MAX).scale(2);
    f.assume_equal(&beyond(), &p("M")).unwrap();
    assert_eq!(f.canonical(&p("M")), p("M"));
    assert!(!f.prove_equal(&beyond(), &beyond()) && !f.prove_equal(&beyond(), &p("0")));
    assert!(!f.prove_non_negative(&beyond()) && !f.divisible(&beyond(), 2));
    let (low, high) = f.range(&beyond());
    assert!(low <= i64::MIN.into() && high >= i64::MAX.into());
}

#[test]
fn chains_of_greater_ones_are_not_negative() {
    let f = facts(&["N", "M"]);
    let mut size = p("N");
    for i in 0..2 {
        size = f.canonical(&size.floordiv(3).greater(&p("M")).add(&size));
        assert!(f.range(&size).0 >= 0, "{i}: {size}");
    }
}

#[test]
fn symbols_solved_one_after_the_other_are_resolved() {
    let mut f = Facts::new();
    let s = |i: usize| Poly::symbol(&format!("s{i}"));
    (0..2000).for_each(|i| f.define(&format!("s{i}"), SymbolInfo::default()));
    for i in (0..1999).rev() {
        f.assume_equal(&s(i + 1), &s(i).add(&1.into())).unwrap();
    }
    assert_eq!(f.canonical(&s(1999)), s(0).add(&1999.into()));
}

/// What is left of `N` behind as many slices `[1:]`, and before as many `[:-1]`.
#[test]
fn slices_of_slices_lie_inside() {
    let mut facts = Facts::new();
    facts.define("N", SymbolInfo::default());
    let (one, mut size) = (p("1"), p("N"));
    for _ in 0..3 {
        let start = facts.canonical(&size.lesser(&one));
        let rest = facts.canonical(&size.sub(&start));
        for inside in
            [&start, &rest, &facts.canonical(&size.sub(&rest)), &facts.canonical(&size.sub(&start).sub(&rest))]
        {
            assert!(facts.prove_non_negative(inside), "{inside}");
        }
        size = rest;
    }
    assert!(!facts.prove_non_negative(&p("min(N, 3) - min(N, 4)")));
    assert!(!facts.prove_non_negative(&p("min(min(N, 1) + 1, N) - min(N, 2) - 1")));
}

#[test]
fn what_is_known_of_a_solved_symbol_stays_known() {
    let info = |min, max, div, likely: &[i64]| SymbolInfo { min, max, div, likely: likely.to_vec() };
    // T, what it equals, and what is known of S then.
    for (of_t, value, of_s) in [
        (info(3, 50, 1, &[8]), "S + 1", info(2, 49, 1, &[7])),
        (info(3, 50, 4, &[8, 12]), "S + 4", info(0, 46, 4, &[4, 8])),
        (info(0, 50, 6, &[12, 9, 600]), "2*S", info(0, 25, 3, &[6])),
        (info(5, 50, 1, &[]), "3*S + 1", info(2, 16, 1, &[])),
        (info(5, 50, 1, &[]), "-S + 60", info(10, 55, 1, &[])),
        (info(0, 50, 4, &[]), "S + 1", info(0, 49, 1, &[])),
    ] {
        let mut f = Facts::new();
        f.define("S", info(0, 100, 1, &[]));
        f.define("T", of_t);
        f.assume_equal(&p("T"), &p(value)).unwrap();
        assert_eq!(f.info("S"), of_s, "T = {value}");
        // What is derived holds for every S for which T is what it may be.
        let (known, of_t) = (f.info("S"), f.info("T"));
        for s in 0..=100 {
            let t = p(value).eval(&|_| Some(s)).unwrap();
            if (of_t.min..=of_t.max).contains(&t) && t % of_t.div == 0 {
                assert!((known.min..=known.max).contains(&s) && s % known.div == 0, "T = {value}, S = {s}");
            }
        }
    }
    let mut f = Facts::new();
    f.define("S", info(0, 10, 1, &[]));
    f.define("T", info(20, 30, 1, &[]));
    assert!(f.assume_equal(&p("T"), &p("S + 1")).is_err());
    let mut f = Facts::new();
    f.define("S", info(0, 10, 1, &[]));
    f.define("T", info(1, 7, 1, &[]));
    assert!(f.assume_equal(&p("T"), &p("8*S")).is_err(), "no multiple of 8 is in the range");
}

#[test]
fn remainders_are_those_of_all_values() {
    let factors = (-4..=4).filter(|f| *f != 0);
    for (factor, constant, div) in factors.flat_map(|f| (-5..=5).flat_map(move |c| (1..=6).map(move |d| (f, c, d)))) {
        let mut f = Facts::new();
        f.define("S", SymbolInfo { max: 60, ..SymbolInfo::default() });
        f.define("T", SymbolInfo { min: 0, max: 1000, div, likely: vec![] });
        let line = Poly::symbol("S").scale(factor).add(&constant.into());
        let what = format!("{div} divides T = {line}");
        let fits = |s: &i64| factor * s + constant >= 0 && (factor * s + constant) % div == 0;
        let allowed: Vec<i64> = (0..=60).filter(fits).collect();
        match f.assume_equal(&p("T"), &line) {
            Ok(()) => {
                let known = f.residue_of("S");
                assert!(allowed.iter().all(|s| known.holds((*s).into())), "{what}: {known:?}");
                let told = (0..=60).filter(|s| known.holds((*s).into()) && factor * s + constant >= 0);
                assert_eq!(told.collect::<Vec<i64>>(), allowed, "{what}: {known:?}");
            }
            Err(_) => assert!(allowed.is_empty(), "{what}"),
        }
    }
}

#[test]
fn floors_of_known_remainders_keep_their_values() {
    for (div, rest) in (2..=6).flat_map(|d| (1..d).map(move |r| (d, r))) {
        let mut f = Facts::new();
        f.define("S", SymbolInfo { max: 40, ..SymbolInfo::default() });
        f.define("B", SymbolInfo { max: 3, ..SymbolInfo::default() });
        f.define("T", SymbolInfo { div, ..SymbolInfo::default() });
        f.assume_equal(&p("T"), &Poly::symbol("S").sub(&rest.into())).unwrap();
        assert_eq!(f.residue_of("S").by(div), Some(rest));
        assert_eq!(f.canonical(&p("S").rem(div)), rest.into(), "S mod {div}");
        assert!(f.divisible(&p("2*S").sub(&(2 * rest).into()), div) && !f.divisible(&p("S"), div));
        assert!(f.prove_equal(&p("S").floordiv(div).scale(div).add(&rest.into()), &p("S")));
        for (a, b, k) in (-3..=3).flat_map(|a| (-4..=4).flat_map(move |b| (2..=6).map(move |k| (a, b, k)))) {
            let inner = Poly::symbol("S").scale(a).add(&b.into());
            for size in [
                inner.floordiv(k),
                inner.rem(k),
                inner.ceildiv(k).scale(k).mul(&p("B")),
                inner.floordiv(k).lesser(&p("B")).floordiv(2),
            ] {
                let form = f.canonical(&size);
                for (s, b) in (0..=40).filter(|s| s % div == rest).flat_map(|s| (0..=3).map(move |b| (s, b))) {
                    let value = |name: &str| Some(if name == "S" { s } else { b });
                    assert_eq!(size.eval(&value), form.eval(&value), "{size} as {form} at S = {s}, B = {b}");
                }
            }
        }
    }
}

#[test]
fn equal_products_tell_the_factor_that_is_left() {
    let mut f = facts(&["A", "B", "C"]);
    f.assume_equal(&p("A*B"), &p("6*A")).unwrap();
    assert_eq!(f.canonical(&p("B")), p("6"));
    f.assume_equal(&p("A*C*B"), &p("4*A*B*B")).unwrap();
    assert_eq!(f.canonical(&p("C")), p("24"));
    // What may be 0 is no factor to leave out.
    let mut f = Facts::new();
    f.assume_equal(&p("A*B"), &p("6*A")).unwrap();
    assert_eq!(f.canonical(&p("B")), p("B"));
    // An equality of products is solved when the others are known, and contradicts what does not fit.
    let mut f = facts(&["A", "B", "C"]);
    f.assume_equal(&p("A*B"), &p("2*C*C")).unwrap();
    f.assume_equal(&p("C"), &p("4")).unwrap();
    let mut g = f.clone();
    f.assume_equal(&p("A"), &p("8")).unwrap();
    assert_eq!(f.canonical(&p("B")), p("4"));
    assert!(g.assume_equal(&p("A"), &p("5")).is_err());
    for (a, b, c) in [(1, 6, 6), (2, 6, 3), (3, 6, 2)] {
        let mut f = facts(&["N"]);
        f.assume_equal(&p("N").scale(a), &Poly::from(b)).unwrap();
        assert_eq!(f.canonical(&p("N")), Poly::from(c));
    }
}
