//! Functions: bodies, arguments, results, and their callers.

use sutura_ir::symbols::{SYMBOL_VISIBILITY, symbol_ident};
use sutura_ir::{Attr, Body, Context, Ident, Module, Op, OpRef, Rewriter, Value};

use super::Change;
use super::operations::{other_value, rebuild_without_result, zero_before};
use crate::site::{body_mut, op_at, sites};

/// A function that lost an argument or a result; its callers have to follow.
pub(crate) struct Signature {
    name: Ident,
    index: usize,
    result: bool,
}

const TYPE: &str = "function_type";

fn signature(op: OpRef<'_>) -> Option<(Vec<sutura_ir::Type>, Vec<sutura_ir::Type>)> {
    let ty = op.cx.as_type(op.prop(TYPE)?)?;
    let (inputs, results) = op.cx.signature(ty)?;
    Some((inputs.to_vec(), results.to_vec()))
}

/// Functions with a body.
pub(super) fn offer_declarations(op: OpRef<'_>, out: &mut Vec<Change>) {
    if signature(op).is_some() && op.body.nested(op.op).is_some() && op.region(0).is_some_and(|r| !r.is_empty()) {
        out.push(Change::Declare);
    }
}

pub(super) fn offer_signature(op: OpRef<'_>, out: &mut Vec<Change>) {
    let Some((inputs, results)) = signature(op).filter(|_| op.body.nested(op.op).is_some()) else { return };
    out.extend((0..inputs.len()).rev().map(Change::Argument));
    out.extend((0..results.len()).rev().map(Change::FunctionResult));
}

/// Takes the body away; a declaration is private.
pub(super) fn declare(rw: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let cx = rw.cx();
    let regions = rw.body().nested(op)?.owner_regions().len();
    rw.replace_nested(op, Box::new(Body::new(regions)));
    rw.set_prop(op, SYMBOL_VISIBILITY, Some(cx.string_attr("private")));
    Some(())
}

/// `array` without entry `index`; nothing when no dictionary in it says anything.
fn shorter(cx: &Context, array: Option<Attr>, index: usize) -> Option<Attr> {
    let mut entries = cx.array(array?)?.to_vec();
    if index < entries.len() {
        entries.remove(index);
    }
    entries.iter().any(|e| *e != Attr::EMPTY_DICT).then(|| cx.array_attr(&entries))
}

fn set_signature(rw: &mut Rewriter<'_>, op: Op, result: bool, index: usize) -> Option<Signature> {
    let cx = rw.cx();
    let view = rw.op_ref(op);
    let (mut inputs, mut results) = signature(view)?;
    let name = symbol_ident(view)?;
    let list = if result { &mut results } else { &mut inputs };
    if index >= list.len() {
        return None;
    }
    list.remove(index);
    let attrs = if result { "res_attrs" } else { "arg_attrs" };
    let shorter = shorter(cx, view.prop(attrs), index);
    rw.set_prop(op, TYPE, Some(cx.type_attr(cx.function_type(&inputs, &results))));
    rw.set_prop(op, attrs, shorter);
    Some(Signature { name, index, result })
}

/// Removes an argument; uses in the body get another value.
pub(super) fn drop_argument(rw: &mut Rewriter<'_>, op: Op, index: usize) -> Option<Signature> {
    let cx = rw.cx();
    let done = rw.edit_nested(op, |body| {
        let Some(entry) = body.entry_block() else { return Some(()) };
        let mut inner = Rewriter::new(cx, body);
        let arg = *inner.body().block_args(entry).get(index)?;
        if !inner.body().is_unused(arg) {
            let ty = inner.body().ty(arg);
            let first = inner.body().first_op(entry)?;
            let others = inner.body().block_args(entry).iter().copied();
            let other = others.filter(|v| *v != arg).find(|v| inner.body().ty(*v) == ty);
            let value = other.or_else(|| zero_before(&mut inner, first, ty))?;
            inner.replace_all_uses(arg, value);
        }
        inner.erase_block_arg(entry, index);
        Some(())
    });
    done.unwrap_or(Some(()))?;
    set_signature(rw, op, false, index)
}

/// Removes a result, and the operand of what returns it.
pub(super) fn drop_result(rw: &mut Rewriter<'_>, op: Op, index: usize) -> Option<Signature> {
    let cx = rw.cx();
    rw.edit_nested(op, |body| {
        let mut inner = Rewriter::new(cx, body);
        let body = inner.body();
        let blocks: Vec<_> = body.owner_regions().flat_map(|r| body.blocks(r).collect::<Vec<_>>()).collect();
        for block in blocks {
            let Some(last) = inner.body().last_op(block) else { continue };
            if inner.body().successors(last).is_empty() && index < inner.body().num_operands(last) {
                inner.erase_operand(last, index);
            }
        }
    });
    set_signature(rw, op, true, index)
}

/// Makes the callers of a function fit its new signature.
pub(super) fn update_callers(cx: &Context, module: &mut Module, function: &Signature) {
    let calls: Vec<_> = sites(cx, module)
        .into_iter()
        .filter(|(_, op)| op.prop("callee").and_then(|a| cx.as_symbol(a)) == Some(function.name))
        .map(|(site, _)| site)
        .collect();
    for site in calls.into_iter().rev() {
        let Some(body) = body_mut(module, &site.body) else { continue };
        let Some(call) = op_at(body, site.at) else { continue };
        let mut rw = Rewriter::new(cx, body);
        if !function.result {
            if function.index < rw.body().num_operands(call) {
                rw.erase_operand(call, function.index);
            }
            continue;
        }
        if function.index < rw.body().num_results(call) {
            drop_call_result(&mut rw, call, function.index);
        }
    }
}

fn drop_call_result(rw: &mut Rewriter<'_>, call: Op, index: usize) -> Option<()> {
    let result: Value = rw.body().result(call, index);
    if !rw.body().is_unused(result) {
        let ty = rw.body().ty(result);
        let value = other_value(rw.body(), call, ty, &[]).or_else(|| zero_before(rw, call, ty))?;
        rw.replace_all_uses(result, value);
    }
    rebuild_without_result(rw, call, index);
    Some(())
}
