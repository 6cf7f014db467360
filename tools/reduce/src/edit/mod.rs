//! Small changes that make a module simpler. A change that does not fit does nothing; whether what it leaves is right,
//! the verifier says.

mod attributes;
mod functions;
mod operations;
mod regions;
mod shapes;

use std::collections::BTreeMap;

use sutura_ir::{Body, Context, Module, Op, Rewriter};

use crate::site::{Site, body_mut, op_at, sites};

pub(crate) use shapes::{replaced, sizes};

/// What stands in for the results of an operation that goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Substitute {
    /// Another value of the same type, else a constant.
    Value,
    /// A constant, else another value of the same type.
    Constant,
}

/// What else goes with a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum With {
    /// Nothing.
    Alone,
    /// The operand of the terminators in the regions.
    Yielded,
    /// That, and the operand and block argument that carry it around a loop.
    Carried,
}

/// One change of one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// The operation goes.
    Erase(Substitute),
    /// The operation goes, what is in its region stays in its place.
    Unwrap,
    /// A function loses its body.
    Declare,
    /// A function loses an argument, its callers an operand.
    Argument(usize),
    /// A function loses a result, its callers too.
    FunctionResult(usize),
    /// A result that is not needed goes.
    Result(usize, With),
    /// An operand goes.
    Operand(usize),
    /// A branch goes to one of its successors always.
    Successor(usize),
    /// The block to which alone a branch goes, and which nothing else goes to, takes the branch's place.
    Merge,
    /// Blocks that are not reached go, and arguments that are not needed.
    Blocks,
    /// An attribute goes; true for an inherent one.
    Attribute(String, bool),
    /// A constant becomes 0, or 1.
    Constant(i64),
}

/// A change and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edit {
    pub(crate) site: Site,
    pub(crate) change: Change,
}

/// Applies edits. They name places of `module` as it is; each place is looked up before the first change of its body.
pub(crate) fn apply(cx: &Context, module: &mut Module, edits: &[Edit]) {
    let mut bodies: BTreeMap<&[usize], Vec<&Edit>> = BTreeMap::new();
    for edit in edits {
        bodies.entry(&edit.site.body).or_default().push(edit);
    }
    // Inner bodies first: their paths are positions in the outer ones. Users of values before what defines them.
    let mut calls = Vec::new();
    for (path, mut edits) in bodies.into_iter().rev() {
        let Some(body) = body_mut(module, path) else { continue };
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.site.at));
        let found: Vec<(Op, &Change)> =
            edits.iter().filter_map(|edit| Some((op_at(body, edit.site.at)?, &edit.change))).collect();
        let erased: Vec<Op> =
            found.iter().filter(|(_, change)| matches!(change, Change::Erase(_))).map(|(op, _)| *op).collect();
        for (op, change) in found {
            if body.is_live(op) {
                apply_one(cx, body, op, change, &erased, &mut calls);
            }
        }
    }
    for call in calls {
        functions::update_callers(cx, module, &call);
    }
}

fn apply_one(
    cx: &Context,
    body: &mut Body,
    op: Op,
    change: &Change,
    erased: &[Op],
    calls: &mut Vec<functions::Signature>,
) {
    let mut rw = Rewriter::new(cx, body);
    match change {
        Change::Erase(substitute) => drop(operations::erase(&mut rw, op, *substitute, erased)),
        Change::Unwrap => drop(regions::unwrap(&mut rw, op)),
        Change::Declare => drop(functions::declare(&mut rw, op)),
        Change::Argument(index) => calls.extend(functions::drop_argument(&mut rw, op, *index)),
        Change::FunctionResult(index) => calls.extend(functions::drop_result(&mut rw, op, *index)),
        Change::Result(index, with) => drop(operations::drop_result(&mut rw, op, *index, *with)),
        Change::Operand(index) => {
            if *index < rw.body().num_operands(op) {
                rw.erase_operand(op, *index);
            }
        }
        Change::Successor(index) => drop(regions::always_to(&mut rw, op, *index)),
        Change::Merge => drop(regions::merge(&mut rw, op)),
        Change::Blocks => {
            if let Some(nested) = body.nested_mut(op) {
                sutura_ir::rewrite::simplify_regions(cx, nested);
            }
        }
        Change::Attribute(name, inherent) => attributes::remove(&mut rw, op, name, *inherent),
        Change::Constant(value) => drop(attributes::set_constant(&mut rw, op, *value)),
    }
}

/// A kind of simplification: the changes that it offers for each operation of a module.
type Offer = fn(sutura_ir::OpRef<'_>, &mut Vec<Change>);

/// The kinds, those that take most away first.
pub(crate) const KINDS: &[(&str, Offer)] = &[
    ("function bodies", functions::offer_declarations),
    ("operations", |_, out| out.push(Change::Erase(Substitute::Value))),
    ("operations for constants", operations::offer_constants),
    ("regions", regions::offer_unwrapping),
    ("branches", regions::offer_branches),
    ("function arguments and results", functions::offer_signature),
    ("results", operations::offer_results),
    ("operands", operations::offer_operands),
    ("attributes", attributes::offer_removal),
    ("constants", attributes::offer_constants),
];

/// The changes of one kind that `module` offers, in order.
pub(crate) fn offered(cx: &Context, module: &Module, offer: Offer) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut changes = Vec::new();
    for (site, op) in sites(cx, module) {
        offer(op, &mut changes);
        edits.extend(changes.drain(..).map(|change| Edit { site: site.clone(), change }));
    }
    edits
}
