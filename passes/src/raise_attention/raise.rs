//! Ops become an attention.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::build::GraphBuilder;
use sutura_dialects::graph::{ComputeForm, IteratorKind, Operators, ShapeEnv, maps};
use sutura_ir::affine::AffineMap;
use sutura_ir::{Context, NamedAttr, Op, OpRef, Rewriter, Type, Value};

use super::products::{Attention, Factor};
use super::softmax::erase_unused;

/// Replaces the ops of an attention by the operator. Returns what is said of it.
///
/// # Errors
/// Says why it cannot be applied; then the program is as it was.
pub(super) fn attention(
    rw: &mut Rewriter<'_>,
    found: &Attention,
    operators: &Operators,
    facts: Facts,
) -> Result<String, String> {
    let cx = rw.cx();
    let name = found.operator();
    let operator = operators.get(name).ok_or_else(|| format!("the library has no @{name}"))?.clone();
    let last = *found.ops.last().expect("it ends in a product");
    let locs: Vec<_> = found.ops.iter().map(|op| rw.body().loc(*op)).collect();
    let loc = cx.fused_loc(&locs, None);
    let (old, ty) = (rw.body().result(last, 0), rw.body().ty(rw.body().result(last, 0)));
    rw.set_before(last);
    let mut made: Vec<Value> = Vec::new();
    let mut g = GraphBuilder::new(rw, ShapeEnv::new(facts), loc);
    let raised = (|| {
        let mut inputs = Vec::new();
        for factor in [&found.queries, &found.keys, &found.values] {
            inputs.push(turned(&mut g, factor, &mut made)?);
        }
        inputs.extend(found.said());
        let attribute = |name: &str, value| NamedAttr { name: cx.ident(name), value };
        let mut attributes = vec![attribute("scale", cx.f32_attr(found.scale))];
        attributes.extend(found.divisor.map(|divisor| attribute("divisor", cx.f32_attr(divisor))));
        if found.bias.is_some() {
            attributes.push(attribute("unseen_is_zero", cx.int_attr(0, Type::I64)));
        }
        if let Some(mask) = found.mask {
            attributes.push(attribute("other", cx.f32_attr(mask.other)));
            attributes.push(attribute("hides", cx.int_attr(mask.hides.into(), Type::I64)));
        }
        let y = g.apply(&operator, &inputs, &attributes).map_err(|error| error.to_string())?[0];
        made.push(y);
        // Where they are not known to be equal, the ops say so when they run, and in their own words.
        if let Some(assumed) = g.take_assumed().first() {
            return Err(format!("{} and {} are not known to be equal", assumed.lhs, assumed.rhs));
        }
        let turned = turned(&mut g, &Factor { value: y, dims: found.result.clone() }, &mut made)?;
        Ok(turned)
    })();
    let made: Vec<Op> = made.iter().filter_map(|value| rw.body().defining_op(*value)).collect();
    let result = match raised {
        Ok(result) => result,
        Err(why) => {
            erase_unused(rw, &made);
            return Err(why);
        }
    };
    rw.set_type(result, ty);
    rw.replace_all_uses(old, result);
    let turns: Vec<Op> = [&found.queries, &found.keys, &found.values]
        .iter()
        .filter_map(|factor| rw.body().defining_op(factor.value))
        .filter(|op| is_turn(OpRef::new(cx, rw.body(), *op)))
        .collect();
    erase_unused(rw, &found.ops);
    erase_unused(rw, &turns);
    Ok(format!("two products and what is between them are @{name}"))
}

fn is_turn(op: OpRef<'_>) -> bool {
    turn(op).is_some()
}

/// A tensor with its dimensions in an order; what already turns them is seen through.
fn turned(g: &mut GraphBuilder<'_, '_>, factor: &Factor, made: &mut Vec<Value>) -> Result<Value, String> {
    let (mut value, mut dims) = (factor.value, factor.dims.clone());
    let in_order = |dims: &[usize]| dims.iter().copied().eq(0..dims.len());
    while !in_order(&dims) {
        let (cx, body) = (g.cx(), g.b.body());
        let Some((input, from)) = body.defining_op(value).and_then(|op| turn(OpRef::new(cx, body, op))) else { break };
        dims = dims.iter().map(|dim| from[*dim]).collect();
        value = input;
    }
    if in_order(&dims) {
        return Ok(value);
    }
    // It stands for what was turned before, and says so.
    let (all, own) = (g.loc, g.b.body().defining_op(value).map(|op| g.b.body().loc(op)));
    g.loc = own.unwrap_or(all);
    let turned = g.transpose(value, &dims).map_err(|error| error.to_string());
    g.loc = all;
    let turned = turned?;
    made.push(turned);
    Ok(turned)
}

/// What an op only turns, and for each dimension which of its input's it is.
fn turn(op: OpRef<'_>) -> Option<(Value, Vec<usize>)> {
    let form = ComputeForm::of(op)?;
    let parallel = form.iterators.iter().all(|kind| *kind == IteratorKind::Parallel);
    let ([input], [result]) = (&form.input_maps[..], &form.result_maps[..]) else { return None };
    let moves = form.yielded()?.operands().eq(form.body.args().iter().copied());
    let dims = |cx: &Context, map: AffineMap| -> Option<Vec<usize>> {
        cx.map_results(map).iter().map(|expr| maps::plain_dim(cx, *expr)).collect()
    };
    let (read, made) = (dims(op.cx, *input)?, dims(op.cx, *result)?);
    if !parallel || !moves || form.oob[0].is_some() || read.len() != made.len() {
        return None;
    }
    let from = made.iter().map(|iterator| read.iter().position(|r| r == iterator)).collect::<Option<Vec<usize>>>()?;
    Some((op.operand(0), from))
}
