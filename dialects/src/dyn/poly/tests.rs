use super::*;
use proptest::prelude::*;

fn p(text: &str) -> Poly {
    Poly::parse(text).unwrap()
}

#[test]
fn prints_what_it_parses() {
    for text in ["0", "-1", "B*S + 4", "2*H - 1", "(H - 1) floordiv 2", "H floordiv 2", "3*(H floordiv 2) + B*S"] {
        assert_eq!(p(&p(text).to_string()), p(text), "{text}");
    }
    assert_eq!(p("4 + S*B").to_string(), "B*S + 4");
    assert_eq!(p("(2*H + 1) floordiv 2").to_string(), "H");
    assert_eq!(p("H mod 4").to_string(), "H - 4*(H floordiv 4)");
    assert_eq!(p("(N + 31) floordiv 32").to_string(), "(N + 31) floordiv 32");
}

#[test]
fn messages_show_how_a_long_size_begins() {
    assert_eq!(p("B*S + 4").brief(), "B*S + 4");
    let long: Vec<String> = (10..60).map(|i| format!("min(N, s{i})")).collect();
    let brief = p(&long.join(" + ")).brief();
    assert_eq!(brief, "min(N, s10) + min(N, s11) + min(N, s12) + min(N, s13) + min(N, s14) + min(N, …");
}

#[test]
fn the_lesser_of_two_that_is_one_of_them_orders_them() {
    let ordered = |left: &str, right: &str| p(left).sub(&p(right)).ordered().map(|size| size.to_string());
    assert_eq!(ordered("min(N, M)", "M").as_deref(), Some("-M + N"));
    assert_eq!(ordered("M", "min(N, M)").as_deref(), Some("-M + N"));
    // The lesser of N - 3 and 0, as sums are distributed.
    assert_eq!(p("N - 3").lesser(&Poly::default()).ordered().map(|size| size.to_string()).as_deref(), Some("N - 3"));
    for (left, right) in [("min(N, M)", "K"), ("2*min(N, M)", "M"), ("min(N, M) + min(N, K)", "2*N"), ("N", "M")] {
        assert_eq!(ordered(left, right), None, "{left} = {right}");
    }
}

#[test]
fn equal_sizes_are_equal_values() {
    assert_eq!(p("(B + 1) * (B - 1)"), p("B*B - 1"));
    assert_eq!(p("S ceildiv 4"), p("(S + 3) floordiv 4"));
    assert_eq!(p("(8*S) floordiv 4"), p("2*S"));
    assert_eq!(p("(S - 1) floordiv 4"), p("(S + 3) floordiv 4 - 1"));
}

#[test]
fn divides_exactly_or_not() {
    assert_eq!(p("4*B*S").divide_exact(&p("2*S")), Some(p("2*B")));
    assert_eq!(p("B*S + 1").divide_exact(&p("S")), None);
    assert_eq!(p("B + S").divide_exact(&p("B + S")), Some(p("1")));
}

#[test]
fn the_lesser_of_two_has_one_form() {
    for (a, b) in [
        ("min(N, 128)", "min(128, N)"),
        ("min(N - 1, 127) + 1", "min(N, 128)"),
        ("max(N, 128)", "N + 128 - min(N, 128)"),
        ("min(4*N, 8*M)", "4*min(N, 2*M)"),
        ("min(min(N, 128), 64)", "min(N, 64)"),
        ("min(min(N, 64), 128)", "min(N, 64)"),
        ("min(N, N + 3)", "N"),
        ("min(N, N)", "N"),
        ("min(3, 5) + max(3, 5)", "8"),
        ("max(N - 3, 0)", "N - min(N, 3)"),
    ] {
        assert_eq!(p(a), p(b), "{a}");
    }
    for text in ["min(N, 128)", "B*min(N, 128)", "N - min(N, 3)", "min(A, B)", "min(min(A, B), 4)", "2*min + 1"] {
        assert_eq!(p(text).to_string(), text);
    }
}

#[test]
fn refuses_malformed_text() {
    for text in [
        "min(N",
        "min(N)",
        "min(N, )",
        "max(N, 4",
        "B +",
        "(B",
        "B floordiv 0",
        "B floordiv S",
        "9223372036854775808",
        "B B",
        "B floordiv -2",
    ] {
        assert!(Poly::parse(text).is_err(), "{text}");
    }
    assert!(Poly::parse(&"(".repeat(100_000)).is_err());
}

#[test]
fn floors_of_floors_are_one() {
    for (a, b) in [
        ("(N floordiv 2) floordiv 2", "N floordiv 4"),
        ("(N*4) floordiv 2", "2*N"),
        ("(4*N + 6) floordiv 8", "(2*N + 3) floordiv 4"),
        ("((2*N) floordiv 3) floordiv 2", "N floordiv 3"),
        ("(N floordiv 2 + 3) floordiv 4", "(N + 6) floordiv 8"),
        ("(N + 1) ceildiv 2 ceildiv 64", "(N + 128) floordiv 128"),
        ("N floordiv 1", "N"),
        ("N mod 1", "0"),
        ("(N mod 4) mod 4", "N mod 4"),
        ("(4*N) mod 4", "0"),
        ("(N mod 4) floordiv 4", "0"),
        ("(3*N + 7) floordiv 1", "3*N + 7"),
        ("(2*N - 6) floordiv 4", "(N - 3) floordiv 2"),
    ] {
        assert_eq!(p(a), p(b), "{a}");
    }
}

#[test]
fn the_least_of_many_has_one_form() {
    let forms = ["min(min(A, B), min(C, D))", "min(A, min(B, min(C, D)))", "min(min(D, min(A, C)), B)"];
    for form in forms {
        assert_eq!(p(form), p(forms[0]), "{form}");
    }
    for (a, b) in [
        ("min(min(A, B), A)", "min(A, B)"),
        ("min(min(A, B), min(B, A + 1))", "min(A, B)"),
        ("min(min(A, 7), min(B, 3))", "min(A, min(B, 3))"),
        ("min(2*A + 2*B, min(2*A + 2*C, 2*A + 2*D))", "2*A + 2*min(B, min(C, D))"),
    ] {
        assert_eq!(p(a), p(b), "{a}");
    }
}

#[test]
fn the_greatest_and_least_numbers_are_read_back() {
    let least = Poly::constant(i64::MIN);
    for poly in [
        least.clone(),
        Poly::constant(i64::MAX),
        Poly::symbol("N").scale(i64::MIN),
        Poly::symbol("N").scale(i64::MAX).add(&least),
        Poly::symbol("N").mul(&Poly::symbol("M")).scale(i64::MIN).sub(&Poly::symbol("K")),
        Poly::symbol("N").floordiv(i64::MAX),
    ] {
        assert_eq!(poly.excess(), None);
        assert_eq!(p(&poly.to_string()), poly, "{poly}");
    }
}

#[test]
fn what_leaves_the_limits_says_so() {
    let n = Poly::symbol("N");
    let many = |count: usize| {
        Poly::sum((0..count).map(|i| Poly::symbol(&format!("s{i}"))).collect::<Vec<_>>().iter().map(|s| (s, 1)))
    };
    let mut deep = n.clone();
    for i in 0..60 {
        deep = deep.mul(&n).floordiv(3 + i);
    }
    let twenty = many(20);
    for (poly, excess) in [
        (n.scale(i64::MAX).add(&n), Excess::Number),
        (Poly::constant(i64::MAX).add(&1.into()), Excess::Number),
        (Poly::constant(i64::MIN).scale(-1), Excess::Number),
        (Poly::constant(1 << 32).mul(&Poly::constant(1 << 32)), Excess::Number),
        (many(10_000), Excess::Weight),
        (Poly::product((0..20).map(|_| &twenty)), Excess::Weight),
        (Poly::product((0..100).map(|_| &n)), Excess::Weight),
        (deep, Excess::Depth),
    ] {
        assert_eq!(poly.excess(), Some(excess), "{poly}");
        assert_eq!(poly.as_const(), None);
        assert_eq!(poly.eval(&|_| Some(1)), None);
        assert_eq!(poly.clone(), poly, "a copy is the same number");
        assert!(poly.sub(&poly).is_zero());
    }
    let beyond = || n.scale(i64::MAX).add(&n);
    assert_ne!(beyond(), beyond(), "nothing says that they are equal");
    assert_eq!(many(4000).excess(), None);
}

#[test]
fn text_beyond_the_limits_is_refused_with_its_reason() {
    for (text, words) in [
        (format!("N{}", " * 2".repeat(63)), "64 bits"),
        ("9223372036854775807*N + 9223372036854775807*N".to_string(), "64 bits"),
        (format!("N{}", " floordiv 2".repeat(100_000)), "nests"),
        (vec!["s"; 10_000].iter().enumerate().map(|(i, s)| format!("{s}{i}")).collect::<Vec<_>>().join(" + "), "terms"),
        (vec!["(a + b + c + d)"; 100].join("*"), "terms"),
        (format!("{}N{}", "min(".repeat(60), ", M)*K".repeat(60)), "nests"),
    ] {
        let error = Poly::parse(&text).unwrap_err();
        assert!(error.message.contains(words), "{error}");
    }
    for text in [
        format!("N{}", " floordiv 2".repeat(100)),
        format!("N{}", " * 2".repeat(62)),
        format!("s{}", " + s".repeat(10_000)),
    ] {
        assert_eq!(p(&p(&text).to_string()), p(&text));
    }
}

#[test]
fn sums_cost_what_they_hold() {
    let text = |count: usize| (0..count).map(|i| format!("a{i}")).collect::<Vec<_>>().join(" + ");
    let cost = |count: usize| {
        let poly = p(&text(count));
        u64::from(poly.weight())
    };
    assert_eq!(cost(2000), 2 * cost(1000));
}

fn arbitrary() -> impl Strategy<Value = Poly> {
    let leaf = prop_oneof![
        (-9i64..9).prop_map(Poly::constant),
        prop_oneof![Just(i64::MAX), Just(i64::MIN), Just(1 << 40)].prop_map(Poly::constant),
        prop_oneof![Just("A"), Just("B"), Just("C")].prop_map(Poly::symbol)
    ];
    leaf.prop_recursive(6, 32, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.add(&b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.mul(&b)),
            (inner.clone(), 1i64..7).prop_map(|(a, d)| a.floordiv(d)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.lesser(&b)),
            (inner, 1i64..7).prop_map(|(a, d)| a.rem(d)),
        ]
    })
}

proptest! {
    #[test]
    fn text_keeps_the_value(poly in arbitrary(), a in -20i64..20, b in -20i64..20, c in -20i64..20) {
        let env = |name: &str| match name { "A" => Some(a), "B" => Some(b), "C" => Some(c), _ => None };
        if poly.excess().is_some() {
            prop_assert!(Poly::parse(&poly.to_string()).is_err());
            return Ok(());
        }
        let again = Poly::parse(&poly.to_string()).unwrap();
        prop_assert_eq!(&again, &poly);
        prop_assert_eq!(again.eval(&env), poly.eval(&env));
    }

    #[test]
    fn arithmetic_agrees_with_values(x in arbitrary(), y in arbitrary(), d in 1i64..7, a in 0i64..9, b in 0i64..9) {
        let env = |name: &str| match name { "A" => Some(a), "B" => Some(b), _ => Some(a + b) };
        // What does not fit says nothing; nothing wraps.
        let same = |size: Poly, value: i128| size.eval(&env).is_none_or(|found| i128::from(found) == value);
        if let (Some(vx), Some(vy)) = (x.eval(&env), y.eval(&env)) {
            let (wide_x, wide_y, wide_d) = (i128::from(vx), i128::from(vy), i128::from(d));
            prop_assert!(same(x.add(&y), wide_x + wide_y));
            prop_assert!(same(x.sub(&y), wide_x - wide_y));
            prop_assert!(same(x.mul(&y), wide_x * wide_y));
            prop_assert!(same(x.floordiv(d), wide_x.div_euclid(wide_d)));
            prop_assert!(same(x.lesser(&y), wide_x.min(wide_y)));
            prop_assert!(same(x.greater(&y), wide_x.max(wide_y)));
            prop_assert!(same(x.ceildiv(d), (wide_x + wide_d - 1).div_euclid(wide_d)));
            prop_assert!(same(x.rem(d), wide_x.rem_euclid(wide_d)));
        }
    }

    #[test]
    fn most_arithmetic_is_within_the_limits(x in arbitrary(), y in arbitrary()) {
        let small = |p: &Poly| p.excess().is_none() && p.weight() < 64 && p.depth() < 4 && p.terms().all(|(_, c)| c.abs() < 1 << 20);
        if small(&x) && small(&y) {
            for made in [x.add(&y), x.sub(&y), x.mul(&y), x.lesser(&y), x.greater(&y), x.floordiv(3)] {
                prop_assert_eq!(made.excess(), None);
            }
        }
    }
}
