//! Why sizes contradict each other: what the program states of their symbols, as notes of an error.

use std::collections::BTreeSet;
use std::sync::Arc;

use sutura_dialects::r#dyn::{EqualOp, Poly, SymbolInfo, SymbolOp};
use sutura_dialects::graph::Requirement;
use sutura_ir::op_ref::BlockRef;
use sutura_ir::{Diagnostic, Op, OpRef};

use super::propagate::Equality;

/// Most notes, and most equalities between two symbols; a reader looks at few.
const MOST: usize = 8;

/// Adds what the ops of a block, up to `last`, state of the symbols of `sizes` and of those that these are equal to.
pub(super) fn of(entry: BlockRef<'_>, last: Option<Op>, sizes: &[&Poly], error: Diagnostic) -> Diagnostic {
    let mut names: BTreeSet<Arc<str>> = sizes.iter().flat_map(|size| size.symbols()).collect();
    let end = |op: &OpRef<'_>| Some(op.op) == last;
    let before = entry.ops().position(|op| end(&op)).map_or(usize::MAX, |at| at + 1);
    let stated = || entry.ops().take(before);
    for _ in 0..MOST {
        for equal in stated().filter_map(|op| op.as_::<EqualOp<'_>>()) {
            let both: BTreeSet<Arc<str>> = equal.lhs().symbols().into_iter().chain(equal.rhs().symbols()).collect();
            if !both.is_disjoint(&names) {
                names.extend(both);
            }
        }
    }
    let notes = stated().filter_map(|op| Some((op.loc(), symbol(op, &names).or_else(|| equality(op, &names))?)));
    notes.take(MOST).fold(error, |error, (loc, text)| error.note(loc, text))
}

/// Adds the ops before that needed sizes to be equal, as far as they concern the symbols of `sizes` and those that these are
/// equal to.
pub(super) fn assumed(equalities: &[Equality], sizes: &[&Poly], error: Diagnostic) -> Diagnostic {
    let mut names: BTreeSet<Arc<str>> = sizes.iter().flat_map(|size| size.symbols()).collect();
    let of = |equality: &Equality| {
        let Requirement { lhs, rhs, .. } = &equality.requirement;
        lhs.symbols().into_iter().chain(rhs.symbols()).collect::<BTreeSet<Arc<str>>>()
    };
    let mut chain = Vec::new();
    // From the last one back: what is near says most.
    for equality in equalities.iter().rev() {
        let both = of(equality);
        if !both.is_disjoint(&names) && chain.len() < MOST {
            names.extend(both);
            chain.push(equality);
        }
    }
    chain.into_iter().rev().fold(error, |error, equality| {
        let Requirement { lhs, rhs, .. } = &equality.requirement;
        error.note(equality.loc, format!("{} and {} are equal: {}", lhs.brief(), rhs.brief(), equality.source))
    })
}

/// What is stated of a symbol, if anything.
fn symbol(op: OpRef<'_>, names: &BTreeSet<Arc<str>>) -> Option<String> {
    let symbol = op.as_::<SymbolOp<'_>>().filter(|symbol| names.contains(symbol.name()))?;
    let info = symbol.info();
    let any = SymbolInfo::default();
    if (info.min, info.max, info.div) == (any.min, any.max, any.div) {
        return None;
    }
    let range = if info.min == info.max { info.min.to_string() } else { format!("{} to {}", info.min, info.max) };
    let multiple = if info.div == 1 { String::new() } else { format!(", a multiple of {}", info.div) };
    Some(format!("{} is {range}{multiple}", symbol.name()))
}

fn equality(op: OpRef<'_>, names: &BTreeSet<Arc<str>>) -> Option<String> {
    let equal = op.as_::<EqualOp<'_>>()?;
    let (lhs, rhs) = (equal.lhs(), equal.rhs());
    let concerns = lhs.symbols().iter().chain(&rhs.symbols()).any(|name| names.contains(name));
    let source = equal.source().map(|source| format!(": {source}")).unwrap_or_default();
    concerns.then(|| format!("{} and {} are equal{source}", lhs.brief(), rhs.brief()))
}
