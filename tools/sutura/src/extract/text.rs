//! The part of a program in text: operations between values of its function.

use std::path::Path;

use sutura_dialects::r#dyn::{EqualOp, SymbolOp};
use sutura_dialects::graph::shape_fn::used_symbols;
use sutura_import::onnx::{Cut, Plan};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::Diagnostics;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Attr, Context, Module, Op, OpRef, Rewriter, Type, Value};

use super::cut_failure;
use crate::failure::Failure;
use crate::graph_function::{GraphFunction, Named, dict};
use crate::pipeline::Compilation;
use crate::talk::Talk;

/// The part of the program `text`, as text.
pub(crate) fn extract(
    compilation: &Compilation,
    text: &str,
    path: &Path,
    cut: &Cut,
    talk: &Talk,
) -> Result<String, Failure> {
    let cx = &compilation.cx;
    let (mut module, function) = GraphFunction::parsed(compilation, text, path, talk)?;
    let cut = by_text_names(cx, &module, &function, cut);
    let plan = Plan::new(&function.outline(cx, &module), &cut).map_err(|error| cut_failure(&error))?;
    cut_out(cx, &mut module, &function, &plan);
    let mut diags = Diagnostics::default();
    if verify(module.op_ref(cx), VerifyOptions { allow_unregistered: true }, &mut diags).is_err() {
        diags.iter().for_each(|d| talk.diagnostic(cx, d));
        return Err(Failure::input("the part is no valid program by itself")
            .hint("its inputs must tell every size that is used; take one more value into `--from`"));
    }
    Ok(module_text(cx, &module, &PrintOptions::default()))
}

/// Names that attributes give to arguments and results stand for what the text calls these.
fn by_text_names(cx: &Context, module: &Module, function: &GraphFunction, cut: &Cut) -> Cut {
    let known: Vec<Named> =
        function.arguments(cx, module).into_iter().chain(function.named_results(cx, module)).collect();
    let own: Vec<String> = known.iter().map(|(_, value)| function.name(cx, module, *value)).collect();
    let translate = |names: &[String]| {
        let parts = names.iter().flat_map(|text| {
            let whole = known.iter().any(|(name, _)| name == text);
            if whole { vec![text.as_str()] } else { text.split(',').collect() }
        });
        let one = |name: &str| {
            let name = name.strip_prefix('%').unwrap_or(name);
            let at = known.iter().position(|(given, _)| given == name);
            at.map_or_else(|| name.to_owned(), |at| own[at].clone())
        };
        parts.map(one).collect()
    };
    Cut { from: translate(&cut.from), to: translate(&cut.to) }
}

/// Leaves of the function what the plan keeps, with its inputs as arguments.
fn cut_out(cx: &Context, module: &mut Module, function: &GraphFunction, plan: &Plan) {
    let body = function.body(module);
    let values: Vec<Value> = body.block_args(function.block).to_vec();
    let made = body.ops(function.block).flat_map(|op| body.results(op).collect::<Vec<_>>());
    let named: Vec<Named> =
        values.iter().copied().chain(made).map(|value| (function.name(cx, module, value), value)).collect();
    let value = |name: &String| named.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    let from: Vec<Value> = plan.from.iter().filter_map(value).collect();
    let to: Vec<Value> = plan.to.iter().filter_map(value).collect();
    let ops: Vec<Op> = body.ops(function.block).filter(|op| !function.is_last(cx, body, *op)).collect();
    let states = |op: Op| {
        let op = OpRef::new(cx, body, op);
        op.is::<EqualOp<'_>>() || op.is::<SymbolOp<'_>>()
    };
    let unwanted = ops.iter().zip(&plan.nodes).filter(|(op, kept)| !**kept && !states(**op)).map(|(op, _)| *op);
    let unwanted: Vec<Op> = unwanted.collect();
    let (old, block) = (values.len(), function.block);
    let (last, types) = (body.last_op(block), to.iter().map(|v| body.ty(*v)).collect::<Vec<Type>>());
    let inputs: Vec<Type> = from.iter().map(|v| body.ty(*v)).collect();
    let mut outer = Rewriter::new(cx, module.body_mut());
    outer.edit_nested(function.op, |inside| {
        let mut rw = Rewriter::new(cx, inside);
        for value in from {
            let (ty, loc, name) = (rw.body().ty(value), rw.body().value_loc(value), rw.body().value_name(value));
            let argument = rw.add_block_arg(block, ty, loc);
            rw.replace_all_uses(value, argument);
            rw.set_value_name(value, None);
            rw.set_value_name(argument, name);
        }
        if let Some(last) = last {
            rw.set_operands(last, &to);
        }
        unwanted.iter().rev().for_each(|op| rw.erase_op(*op));
        (0..old).rev().for_each(|index| rw.erase_block_arg(block, index));
        erase_statements(&mut rw, block);
    });
    let dicts = |names: &[String]| names.iter().map(|name| dict(cx, name)).collect::<Vec<Attr>>();
    let signature = cx.function_type(&inputs, &types);
    outer.set_prop(function.op, "function_type", Some(cx.type_attr(signature)));
    outer.set_prop(function.op, "arg_attrs", Some(cx.array_attr(&dicts(&plan.from))));
    outer.set_prop(function.op, "res_attrs", Some(cx.array_attr(&dicts(&plan.to))));
}

/// Erases what is said of sizes that nothing uses any more.
fn erase_statements(rw: &mut Rewriter<'_>, block: sutura_ir::Block) {
    let ops: Vec<Op> = rw.body().ops(block).collect();
    // An equality uses symbols itself; one that mentions a size that only equalities mention goes.
    let equalities: Vec<Op> = ops.iter().copied().filter(|op| rw.op_ref(*op).is::<EqualOp<'_>>()).collect();
    let kept = sutura_dialects::graph::shape_fn::symbols_of_types(rw.cx(), rw.body());
    for op in equalities {
        let mut foreign = false;
        if let Some(equal) = rw.view::<EqualOp<'_>>(op) {
            for size in [equal.lhs(), equal.rhs()] {
                size.each_symbol(&mut |name| foreign |= !kept.contains(name));
            }
        }
        if foreign {
            rw.erase_op(op);
        }
    }
    let used = used_symbols(rw.cx(), rw.body());
    for op in ops {
        let unused = rw.op_ref(op).is::<SymbolOp<'_>>()
            && rw.view::<SymbolOp<'_>>(op).is_some_and(|symbol| !used.contains(symbol.name()));
        if unused {
            rw.erase_op(op);
        }
    }
}
