//! Work on sizes grows with what is written, not faster: counted at n and 2n. One test, because the counts are those of the
//! whole process.

use sutura_dialects::r#dyn::{Facts, Poly, SymbolInfo};
use sutura_ir::work;

/// The text of a size of `n` parts.
type Text = fn(usize) -> String;

fn total(run: impl FnOnce()) -> u64 {
    let before = work::counts();
    run();
    work::since(&before).values().sum()
}

fn parsed(text: &str) {
    Poly::parse(text).expect("a size within the limits");
}

/// As shape propagation does: what gets long is called by a symbol of its own.
fn chain(steps: usize, step: fn(&Poly, &Poly) -> Poly) {
    let mut facts = Facts::new();
    ["N", "M"].iter().for_each(|name| facts.define(name, SymbolInfo::default()));
    let (mut size, m) = (Poly::symbol("N"), Poly::symbol("M"));
    for i in 0..steps {
        size = facts.canonical(&step(&size, &m));
        assert!(size.excess().is_none());
        facts.range(&size);
        facts.prove_non_negative(&size);
        facts.prove_equal(&size, &m);
        if size.weight() > 192 || size.depth() > 8 {
            let name = format!("t{i}");
            facts.define_as(&name, &size);
            size = Poly::symbol(&name);
        }
    }
}

/// Symbols that are equal one after the other, the last ones first.
fn equalities(count: usize) {
    let mut facts = Facts::new();
    let symbol = |i: usize| Poly::symbol(&format!("s{i}"));
    (0..=count).for_each(|i| facts.define(&format!("s{i}"), SymbolInfo::default()));
    for i in (0..count).rev() {
        facts.assume_equal(&symbol(i + 1), &symbol(i)).expect("no contradiction");
    }
    for i in 0..=count {
        assert!(facts.prove_equal(&symbol(i), &symbol(0)));
    }
}

#[test]
fn work_grows_with_the_text() {
    let sum: Text = |n| (0..n).map(|i| format!("s{i}")).collect::<Vec<_>>().join(" + ");
    let same: Text = |n| vec!["2*s*t"; n].join(" + ");
    let floors: Text = |n| format!("N{}", " floordiv 1".repeat(n));
    let twice: Text = |n| format!("N{}", " * 3 floordiv 3".repeat(n));
    let texts: [(&str, Text); 4] = [("sum", sum), ("same", same), ("floors", floors), ("twice", twice)];
    for (name, text) in texts {
        let (small, large) = (total(|| parsed(&text(1000))), total(|| parsed(&text(2000))));
        assert!(10 * large <= 23 * small, "{name}: {small}, {large}");
    }
    type Step = fn(&Poly, &Poly) -> Poly;
    let steps: [(&str, Step); 4] = [
        ("min", |c, m| c.scale(2).lesser(&c.add(m))),
        ("max", |c, m| c.floordiv(3).greater(m).add(c)),
        ("div", |c, m| c.mul(m).add(c).floordiv(3)),
        ("mul", |c, m| c.mul(c).add(m).floordiv(2)),
    ];
    // The first steps are cheaper, until the size is as large as it gets.
    for (name, step) in steps {
        let (small, large) = (total(|| chain(120, step)), total(|| chain(240, step)));
        assert!(10 * large <= 23 * small, "{name}: {small}, {large}");
    }
    let (small, large) = (total(|| equalities(1000)), total(|| equalities(2000)));
    assert!(10 * large <= 23 * small, "equalities: {small}, {large}");
}
