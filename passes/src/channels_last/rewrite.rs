//! Types and maps that follow the layouts of tensors, and constants that follow the ops which read them.

use std::collections::HashMap;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::{symbolic_shape, with_sizes};
use sutura_dialects::graph::build::GraphBuilder;
use sutura_dialects::graph::{ComputeForm, ComputeOp, ConstantOp, ShapeEnv, maps};
use sutura_ir::affine::{AffineExpr, AffineMap};
use sutura_ir::registry::constant_of;
use sutura_ir::{Attr, BlockRef, Op, OpRef, Rewriter, Type, Value};

use super::classes::Layouts;
use super::links::{is_structured, moved, product, slots};
use crate::constants::evaluate;

/// Most elements of a constant that is turned here.
const MOST_ELEMENTS: i64 = 1 << 20;

/// What becomes of a function.
#[derive(Default)]
pub(super) struct Changes {
    types: Vec<(Value, Type)>,
    /// Tensors that are turned back for who needs them as they were, with the types that they had and the order of their dimensions then.
    back: Vec<(Value, Type, Vec<usize>)>,
    ops: Vec<Change>,
}

/// What becomes of an op.
struct Change {
    op: Op,
    maps: Vec<AffineMap>,
    /// Operands that are other constants.
    constants: Vec<(usize, Attr)>,
}

/// The list with one entry last.
fn with_last<T: Clone>(list: &[T], last: usize) -> Vec<T> {
    let mut list = list.to_vec();
    list[last..].rotate_left(1);
    list
}

/// What becomes of the ops of a block.
pub(super) fn changes(block: BlockRef<'_>, layouts: &Layouts) -> Changes {
    let (cx, body) = (block.cx, block.body);
    let last: HashMap<Value, usize> = layouts.turned.iter().copied().collect();
    let mut changes = Changes::default();
    for (value, last) in &layouts.turned {
        let ty = body.ty(*value);
        let sizes = symbolic_shape(cx, ty).expect("its sizes are known");
        changes.types.push((*value, with_sizes(cx, ty, &with_last(&sizes, *last))));
        if layouts.leaving.contains(value) {
            let place = |dim: usize| if dim == *last { sizes.len() - 1 } else { dim - usize::from(dim > *last) };
            changes.back.push((*value, ty, (0..sizes.len()).map(place).collect()));
        }
    }
    let forms = block.ops().filter(|op| op.is::<ComputeOp<'_>>()).filter_map(ComputeForm::of);
    for form in forms.filter(|form| slots(form).any(|(value, _)| last.contains_key(&value))) {
        let of_slot = |(value, map): (Value, &AffineMap)| match last.get(&value) {
            Some(last) => {
                let data = cx.affine_map_data(*map);
                cx.affine_map(data.dims, data.symbols, &with_last(cx.map_results(*map), *last))
            }
            None => *map,
        };
        let mut all: Vec<AffineMap> = form.inputs().zip(&form.input_maps).map(of_slot).collect();
        all.extend(form.results().zip(&form.result_maps).map(of_slot));
        let mut constants = Vec::new();
        if product(&form).is_none_or(|product| !product.has_features()) {
            for (number, place) in along(&form, &last) {
                if let Some(attr) = turned_constant(block, form.op.operand(number), place) {
                    let data = cx.affine_map_data(all[number]);
                    all[number] =
                        cx.affine_map(data.dims, data.symbols, &with_last(cx.map_results(all[number]), place));
                    constants.push((number, attr));
                }
            }
        }
        changes.ops.push(Change { op: form.op.op, maps: all, constants });
    }
    changes
}

/// Constants that an op reads along channels, each with the dimension of these; but those in which they are last already.
fn along(form: &ComputeForm<'_>, last: &HashMap<Value, usize>) -> Vec<(usize, usize)> {
    let (cx, body) = (form.op.cx, form.op.body);
    let channels: Vec<usize> =
        slots(form).filter_map(|(value, exprs)| moved(form, exprs[*last.get(&value)?])).collect();
    let place = |input: usize| {
        let (value, map) = (form.op.operand(input), form.input_maps[input]);
        constant_of(body, cx, value)?;
        let exprs: &[AffineExpr] = cx.map_results(map);
        let is = |e: &AffineExpr| maps::plain_dim(cx, *e).is_some_and(|i| channels.contains(&i));
        let place = exprs.iter().position(is).filter(|_| maps::is_projection(cx, map))?;
        let behind = cx.shape(body.ty(value))?.iter().skip(place + 1);
        behind.into_iter().any(|size| *size != 1).then_some((input, place))
    };
    (0..form.input_maps.len()).filter_map(place).collect()
}

/// A constant with one dimension last; nothing where that is much work.
fn turned_constant(block: BlockRef<'_>, value: Value, last: usize) -> Option<Attr> {
    let shape = block.cx.shape(block.body.ty(value))?;
    shape.iter().try_fold(1i64, |all, size| all.checked_mul(*size)).filter(|all| *all <= MOST_ELEMENTS)?;
    let order = with_last(&(0..shape.len()).collect::<Vec<_>>(), last);
    let made = evaluate(block.cx, block.body, &[value], |g, inputs| {
        inputs.iter().filter_map(|input| g.transpose(*input, &order).ok()).collect()
    });
    made?.first().copied()
}

/// Makes the tensor as it was for ops that read it so.
fn turn_back(rw: &mut Rewriter<'_>, value: Value, ty: Type, order: &[usize]) {
    let maker = rw.body().defining_op(value).expect("an op makes it");
    rw.set_after(maker);
    let (cx, loc) = (rw.cx(), rw.body().loc(maker));
    let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
    let back = g.transpose(value, order).expect("it is a permutation");
    rw.set_type(back, ty);
    rw.replace_uses_if(value, back, |body, user, _| !is_structured(OpRef::new(cx, body, user)));
}

/// Changes types, maps and constants.
pub(super) fn apply(rw: &mut Rewriter<'_>, changes: &Changes) {
    let cx = rw.cx();
    for (value, ty) in &changes.types {
        rw.set_type(*value, *ty);
    }
    for (value, ty, order) in &changes.back {
        turn_back(rw, *value, *ty, order);
    }
    for change in &changes.ops {
        let maps: Vec<Attr> = change.maps.iter().map(|map| cx.affine_map_attr(*map)).collect();
        rw.set_prop(change.op, "maps", Some(cx.array_attr(&maps)));
        let mut operands: Vec<Value> = rw.body().operands(change.op).collect();
        for (number, constant) in &change.constants {
            rw.set_before(change.op);
            let loc = rw.body().loc(change.op);
            operands[*number] = ConstantOp::value(rw, loc, *constant);
        }
        if !change.constants.is_empty() {
            rw.set_operands(change.op, &operands);
        }
    }
}
