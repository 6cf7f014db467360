//! Which symbols are told: by the sizes of arguments, by equalities, and by ops that decide sizes.

use std::collections::BTreeSet;
use std::sync::Arc;

use sutura_ir::{OpRef, Value};

use super::ops::ConstantOp;
use super::routine::RoutineOp;
use super::shape_fn::{ShapeEnv, ShapeFn};
use crate::r#dyn::attr::symbolic_shape;
use crate::r#dyn::poly::Atom;
use crate::r#dyn::{EqualOp, Poly, SymbolOp};
use crate::scf::IfOp;

/// True when the sizes of a result of `op` are known where it runs without looking at data: all but one are constant or
/// made of symbols that the types of `input` or of the arguments around name, or that equalities at the entry tell. The one
/// left follows from the others.
pub fn sizes_are_determined(op: OpRef<'_>, input: Value, sizes: &[Option<Poly>]) -> bool {
    let enough = |known: &BTreeSet<Arc<str>>| {
        let determined = |size: &&Option<Poly>| size.as_ref().is_some_and(|s| s.symbols().is_subset(known));
        sizes.iter().filter(|s| !determined(s)).count() <= 1
    };
    // Equalities are many in a model of many reshapes, and seldom needed.
    enough(&symbols_in_types(op, &[input])) || enough(&told_symbols(op, &[input]))
}

/// The symbols that the types of `inputs` and of the arguments around `op` name.
fn symbols_in_types(op: OpRef<'_>, inputs: &[Value]) -> BTreeSet<Arc<str>> {
    let args = op.body.entry_block().map_or(&[][..], |b| op.body.block_args(b));
    let mut known = BTreeSet::new();
    for value in args.iter().chain(inputs) {
        for size in symbolic_shape(op.cx, op.ty(*value)).unwrap_or_default().iter().flatten() {
            known.extend(size.symbols());
        }
    }
    known
}

/// The symbols that the types of `inputs` and of the arguments around `op` name, and those that equalities at the entry tell.
pub fn told_symbols(op: OpRef<'_>, inputs: &[Value]) -> BTreeSet<Arc<str>> {
    let entry = op.body.entry_block();
    let mut known = symbols_in_types(op, inputs);
    // What is said of sizes stands before all that has some, but for constants.
    let facts = entry.into_iter().flat_map(|b| op.body.ops(b)).map(|o| op.at(o));
    let facts = facts.take_while(|o| o.is::<EqualOp<'_>>() || o.is::<SymbolOp<'_>>() || o.is::<ConstantOp<'_>>());
    let mut open: Vec<Poly> = facts.filter_map(|o| o.as_::<EqualOp<'_>>()).map(|e| e.lhs().sub(e.rhs())).collect();
    tell(&mut known, &mut open);
    known
}

/// The symbols that are told before the run, and those that the ops of the body tell when they have run.
pub fn told_in_run(op: OpRef<'_>) -> BTreeSet<Arc<str>> {
    told_by(op, true)
}

/// The same without what conditions tell.
pub fn told_by_routines(op: OpRef<'_>) -> BTreeSet<Arc<str>> {
    told_by(op, false)
}

fn told_by(op: OpRef<'_>, conditions: bool) -> BTreeSet<Arc<str>> {
    let mut known = told_symbols(op, &[]);
    let block = || op.body.entry_block().into_iter().flat_map(|b| op.body.ops(b)).map(|o| op.at(o));
    let env = ShapeEnv::default();
    let mut open = Vec::new();
    for op in block().filter(|op| op.interface::<dyn RoutineOp>().is_some()) {
        let decided = op.interface::<dyn ShapeFn>().map(|function| function.infer(op, &env).decided);
        for (result, dim) in decided.into_iter().flatten().filter_map(|d| d.places.first().copied()) {
            open.extend(op.results().nth(result).and_then(|value| env.size(op, value, dim)));
        }
    }
    // What a condition hands on from one of its sides has sizes that are known behind it.
    for op in block().filter(|op| conditions && op.is::<IfOp<'_>>()) {
        open.extend(op.results().filter_map(|v| symbolic_shape(op.cx, op.ty(v))).flatten().flatten());
    }
    if open.is_empty() {
        return known;
    }
    open.extend(block().filter_map(|o| o.as_::<EqualOp<'_>>()).map(|e| e.lhs().sub(e.rhs())));
    tell(&mut known, &mut open);
    known
}

/// Adds the symbols that equations tell: sizes that are zero, or known.
fn tell(known: &mut BTreeSet<Arc<str>>, open: &mut Vec<Poly>) {
    loop {
        let before = known.len();
        open.retain(|zero| {
            let mut names = zero.symbols().into_iter().filter(|name| !known.contains(name));
            match (names.next(), names.next()) {
                (Some(name), None) if is_factor(zero, &name) => {
                    known.insert(name);
                    false
                }
                (None, _) => false,
                _ => true,
            }
        });
        if known.len() == before {
            return;
        }
    }
}

/// True when a symbol is a factor, once, of every term in which it stands.
fn is_factor(poly: &Poly, name: &str) -> bool {
    poly.terms().all(|(atoms, _)| {
        let mut with = atoms.iter().filter(|atom| atom.mentions(name));
        let first = with.next();
        with.next().is_none() && first.is_none_or(|atom| matches!(atom, Atom::Symbol(_)))
    })
}
