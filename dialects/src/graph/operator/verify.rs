//! What must hold of declarations of operators, and of their applications.

use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::interfaces::SymbolUser;
use sutura_ir::op_def::VerifyRegions;
use sutura_ir::symbols::SymbolScope;
use sutura_ir::types::TypeData;
use sutura_ir::{BlockRef, Context, Diagnostic, OpRef, Type, Value};

use super::super::maps;
use super::super::ops::{ReshapeOp, YieldOp};
use super::super::structured::ComputeForm;
use super::super::verify::compatible;
use super::library::form;
use super::lift::{group_of, sizes};
use super::nested::{Inner, cycle};
use super::numbers::has_namesake;
use super::{Actual, ApplyOp, Binding, Group, Operator, OperatorOp, ParamOp, bind, steps};
use crate::r#dyn::attr::{symbolic_shape, tensor_of};
use crate::r#dyn::{Facts, Poly};
use crate::scf::ForOp;
use crate::show;

type Checked = Result<(), Diagnostic>;

impl VerifyRegions for OperatorOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let operator = Operator::read(op).map_err(|message| diags.report(op.error(message)))?;
        for entry in op.as_::<OperatorOp<'_>>().into_iter().flat_map(|declared| declared.onnx()) {
            form(op.cx, *entry, &operator).map_err(|message| diags.report(op.error(message)))?;
        }
        let Some(entry) = op.region(0).and_then(|r| r.entry()) else { return Ok(()) };
        check_block(&operator, entry, entry.args()).map_err(|error| diags.report(error))
    }
}

/// Checks the ops of the body of an operator, or of a loop in it.
fn check_block(operator: &Operator, block: BlockRef<'_>, inputs: &[Value]) -> Checked {
    block.ops().try_for_each(|op| check_op(operator, op, inputs))
}

/// Checks an op of the body of an operator.
fn check_op(operator: &Operator, op: OpRef<'_>, inputs: &[Value]) -> Checked {
    if op.is::<YieldOp<'_>>() {
        return Ok(());
    }
    let is_step = !op.is::<ApplyOp<'_>>() && !op.is::<ReshapeOp<'_>>() && ComputeForm::of(op).is_none();
    if is_step {
        steps::may_stand(op)?;
    }
    let is_tensor = |value: &Value| !is_step || !steps::is_number(op.cx, op.ty(*value));
    for value in op.operands().chain(op.results()).filter(is_tensor) {
        let known = symbolic_shape(op.cx, op.ty(value)).is_some_and(|shape| shape.iter().all(Option::is_some));
        if !known {
            return Err(op.error("has a tensor with a size that has no name"));
        }
        for size in sizes(op, value) {
            check_size(operator, op, &size)?;
        }
    }
    match ComputeForm::of(op) {
        Some(form) => check_compute(operator, &form, inputs),
        // What an operator makes of them is checked where the declarations of both are known.
        None if op.is::<ApplyOp<'_>>() || (op.is::<ReshapeOp<'_>>() && op.num_operands() == 1) => {
            match op.operands().any(|value| is_stretched(operator, value, inputs)) {
                true => Err(op.error("reads an input that is broadcast; only 'graph.compute' can")),
                false => Ok(()),
            }
        }
        None if is_step => check_step(operator, op, inputs),
        None => {
            Err(op.error("takes its sizes from a tensor").help("the type of the result says them, in sizes of inputs"))
        }
    }
}

/// Checks a loop, or an op that is taken as it is.
fn check_step(operator: &Operator, op: OpRef<'_>, inputs: &[Value]) -> Checked {
    if op.operands().any(|value| is_stretched(operator, value, inputs)) {
        return Err(op.error("reads an input that is broadcast; only 'graph.compute' can"));
    }
    for value in op.operands().chain(op.results()) {
        if let Some(group) = sizes(op, value).iter().find_map(|size| operator.group_of(size)) {
            let error = op.error(format_args!("has a tensor with the group '{group}'"));
            return Err(
                error.help("only 'graph.compute', 'graph.apply' and 'graph.reshape' work on groups of dimensions")
            );
        }
    }
    match op.as_::<ForOp<'_>>().and_then(|this| this.region().entry()) {
        Some(block) => check_block(operator, block, inputs),
        None => Ok(()),
    }
}

/// The symbols of a size must be those of inputs, and a group must stand alone.
fn check_size(operator: &Operator, op: OpRef<'_>, size: &Poly) -> Checked {
    let ones = |name: &str| matches!(operator.group(name), Some(Group::Ones(_))) || operator.value_of(name).is_some();
    let inputs = || operator.inputs.iter().flat_map(|input| &input.sizes);
    let known = |name: &str| ones(name) || inputs().any(|size| size.mentions(name));
    match size.symbols().iter().find(|name| !known(name)) {
        Some(name) => Err(op.error(format_args!("uses the size '{name}', which no input has"))),
        None if operator.group_of(size).is_some() || !size.symbols().iter().any(|n| operator.group(n).is_some()) => {
            Ok(())
        }
        None => Err(op.error(format_args!("has a tensor of size '{size}': a group must stand alone"))),
    }
}

fn is_stretched(operator: &Operator, value: Value, inputs: &[Value]) -> bool {
    inputs.iter().zip(&operator.inputs).any(|(input, formal)| *input == value && formal.broadcast)
}

/// An iterator over a group becomes several: it can only be read as it is.
fn check_compute(operator: &Operator, form: &ComputeForm<'_>, inputs: &[Value]) -> Checked {
    let (op, cx) = (form.op, form.op.cx);
    let groups: Vec<Option<String>> = (0..form.iterators.len()).map(|i| group_of(operator, form, i)).collect();
    for (i, group) in groups.iter().enumerate() {
        let sources = form.extent_sources(i).filter_map(|(value, dim)| sizes(op, value).get(dim).cloned());
        let differs = |size: &Poly| group.as_deref().is_some_and(|group| size.as_symbol() != Some(group));
        if let Some(other) = sources.into_iter().find(differs) {
            let group = group.as_deref().unwrap_or_default();
            return Err(
                op.error(format_args!("has iterator d{i}, which runs over the group '{group}' and over {other}"))
            );
        }
    }
    let tensors = form.inputs().zip(&form.input_maps).chain(form.results().zip(&form.result_maps));
    for (value, map) in tensors {
        for (dim, (expr, size)) in cx.map_results(*map).iter().zip(sizes(op, value)).enumerate() {
            let plain = maps::plain_dim(cx, *expr);
            let group = operator.group_of(&size);
            let over = |i: usize| groups[i].is_some() && maps::mentions(cx, *expr, i);
            let single = maps::constant(cx, *expr) == Some(0)
                && group.and_then(|g| operator.group(g)).is_some_and(|g| matches!(g, Group::Ones(_)));
            if let Some(group) = group
                && !single
                && plain.and_then(|i| groups.get(i)?.as_deref()) != Some(group)
            {
                let message =
                    format!("reads dimension {dim}, the group '{group}', at something else than an iterator over it");
                return Err(op.error(message));
            }
            if plain.is_none() && (0..groups.len()).any(over) {
                return Err(op.error(format_args!("computes with an iterator over a group in dimension {dim}")));
            }
            if plain.is_none() && is_stretched(operator, value, inputs) {
                return Err(op.error("reads an input that is broadcast at something else than iterators"));
            }
        }
    }
    let joined = form.joint.into_iter().flat_map(|joint| joint.body.ops());
    form.body.ops().chain(joined).try_for_each(|inner| check_number(operator, inner))
}

/// Checks a scalar op.
fn check_number(operator: &Operator, op: OpRef<'_>) -> Checked {
    let cx = op.cx;
    if op.regions().next().is_some() || (op.num_results() != 1 && !op.is::<YieldOp<'_>>()) {
        return Err(op.error("cannot stand in the body of an operator: it has regions, or not one result"));
    }
    if let Some(param) = op.as_::<ParamOp<'_>>() {
        let (ty, name) = (op.ty(param.result()), param.attribute());
        if !operator.attributes.iter().any(|a| a.name == name) {
            let close = sutura_ir::diagnostics::did_you_mean(name, operator.attributes.iter().map(|a| a.name.as_str()));
            let help = close.map(|close| format!("did you mean '{close}'?"));
            let error = op.error(format_args!("reads the attribute '{name}', which the operator does not declare"));
            return Err(help.into_iter().fold(error, |error, help| error.help(help)));
        }
        return if is_number(cx, ty) { Ok(()) } else { Err(op.error("must be a float, an integer or an index")) };
    }
    let written = |ty: Type| ty.is_float(cx) && (ty == operator.elements[0] || Some(ty) == operator.accumulator);
    let written = op.operand_types().chain(op.result_types()).any(written);
    let integers = operator.elements.iter().find(|ty| !ty.is_float(cx));
    match integers {
        Some(ty) if written && operator.elements[0].is_float(cx) && !has_namesake(op) => {
            let message = format!("has no meaning on {}, which 'elements' lists", show::ty(cx, *ty));
            Err(op.error(message))
        }
        _ => Ok(()),
    }
}

fn is_number(cx: &Context, ty: Type) -> bool {
    ty.is_float(cx) || ty == Type::INDEX || matches!(cx.type_data(ty), TypeData::Integer { .. })
}

/// An application against the operator that it names.
pub(super) struct ApplySymbols;

impl SymbolUser for ApplySymbols {
    fn verify_symbol_uses(
        &self,
        op: OpRef<'_>,
        symbols: &SymbolScope<'_, '_>,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let Some(apply) = op.as_::<ApplyOp<'_>>() else { return Ok(()) };
        let declared = symbols.lookup(op.op, apply.callee_attr()).filter(|found| found.is::<OperatorOp<'_>>());
        let Some(declared) = declared else {
            let error = op.error(format_args!("'{}' is no operator that is declared", apply.callee()));
            let close = symbols.suggest(op.op, apply.callee_attr());
            let help = close.map(|close| format!("did you mean {close}?"));
            return Err(diags.report(help.into_iter().fold(error, |error, help| error.help(help))));
        };
        // What is wrong with the declaration is said there.
        let Ok(operator) = Operator::read(declared) else { return Ok(()) };
        let outer = symbols.owner();
        let checked = match outer.is::<OperatorOp<'_>>() {
            true => check_cycle(op, outer, apply.callee(), symbols)
                .and_then(|()| check_nested(op, outer, &operator, declared)),
            false => check_apply(op, &operator),
        };
        checked.map_err(|error| {
            diags.report(error.note(declared.loc(), format!("operator @{} is declared here", operator.name)))
        })
    }
}

/// No operator stands in itself.
fn check_cycle(op: OpRef<'_>, outer: OpRef<'_>, callee: &str, symbols: &SymbolScope<'_, '_>) -> Checked {
    match cycle(outer, &|name| symbols.lookup(op.op, name)) {
        Some(path) if path.get(1).is_some_and(|next| next == callee) => {
            let path: Vec<String> = path.iter().map(|name| format!("@{name}")).collect();
            let error = op.error(format_args!("{} applies itself: {}", path[0], path.join(", which applies ")));
            Err(error.help("an operator stands for ops, so it cannot stand in itself"))
        }
        _ => Ok(()),
    }
}

/// An application in the body of an operator, for each element type that the operator takes.
fn check_nested(op: OpRef<'_>, outer: OpRef<'_>, inner: &Operator, declared: OpRef<'_>) -> Checked {
    let cx = op.cx;
    // What is wrong with it is said there.
    let Ok(outer) = Operator::read(outer) else { return Ok(()) };
    let values = outer.any_values(cx);
    for elem in &outer.elements {
        let bound = Inner::bind(op, &outer, &values, *elem, inner).map_err(|error| {
            let taken = if outer.elements.len() > 1 {
                format!(" where elements are {}", show::ty(cx, *elem))
            } else {
                String::new()
            };
            op.error(format_args!("@{}{taken}: {error}", inner.name))
        })?;
        let retyped = |ty| outer.retyped(cx, ty, *elem);
        check_results(op, &bound.operator, &bound.binding, &retyped, &|a, b| a == b)?;
        check_promoted(op, &bound.operator, declared)?;
    }
    Ok(())
}

/// A size of the inner operator that is a group of the outer one must be read as groups are.
fn check_promoted(op: OpRef<'_>, inner: &Operator, declared: OpRef<'_>) -> Checked {
    let entry = declared.region(0).and_then(|r| r.entry());
    let wrong = entry.and_then(|entry| check_block(inner, entry, entry.args()).err());
    match wrong {
        Some(error) => {
            let message = format!("@{} cannot have a group of dimensions in the place of one size", inner.name);
            Err(op.error(message).note(error.loc, error.message))
        }
        None => Ok(()),
    }
}

fn check_apply(op: OpRef<'_>, operator: &Operator) -> Checked {
    let cx = op.cx;
    let mut inputs = Vec::new();
    for (i, ty) in op.operand_types().enumerate() {
        let Some(shape) = symbolic_shape(cx, ty) else {
            return Err(
                op.error(format_args!("has operand {i} of type {}, which is no ranked tensor", show::ty(cx, ty)))
            );
        };
        inputs.push(Actual { elem: cx.element_type(ty), shape });
    }
    let attributes = cx.entries(op.body.attrs(op.op));
    let binding = bind(cx, operator, &inputs, attributes, &mut Facts::new());
    let binding = binding.map_err(|error| op.error(format_args!("@{}: {error}", operator.name)))?;
    check_results(op, operator, &binding, &|ty| ty, &|a, b| compatible(cx, a, b))
}

/// Results against what the operator makes. `typed` says what a type that is written stands for, `fits` whether a type may have
/// the place of another.
fn check_results(
    op: OpRef<'_>,
    operator: &Operator,
    binding: &Binding,
    typed: &dyn Fn(Type) -> Type,
    fits: &dyn Fn(Type, Type) -> bool,
) -> Checked {
    let cx = op.cx;
    if op.num_results() != operator.results.len() {
        let (wanted, found) = (operator.results.len(), op.num_results());
        return Err(op.error(format_args!("@{} makes {wanted} results, not {found}", operator.name)));
    }
    for (i, (ty, result)) in op.result_types().zip(&operator.results).enumerate() {
        let elem = operator.retyped(cx, result.elem, binding.elem);
        let wanted = tensor_of(cx, &binding.shape(operator, &result.sizes), elem);
        let found = tensor_of(cx, &symbolic_shape(cx, ty).unwrap_or_default(), typed(cx.element_type(ty)));
        if !fits(found, wanted) || symbolic_shape(cx, ty).is_none() {
            let (found, wanted) = (show::ty(cx, ty), show::ty(cx, wanted));
            return Err(op.error(format_args!("result {i} must be {wanted}, it is {found}")));
        }
    }
    Ok(())
}
