//! Copies that a product reads: the transposition of a factor becomes part of how the product reads it.

use sutura_dialects::graph::{ComputeForm, ComputeOp, maps};
use sutura_ir::affine::AffineMap;
use sutura_ir::{Context, Op, OpRef, Rewriter, Value};

use crate::region::contract::is_contraction;
use crate::region::copies::Copied;
use crate::region::nest::Nest;
use sutura_dialects::r#dyn::Facts;

/// True when every iterator still gets its extent from a dimension that is read or written at it.
fn keeps_extents(cx: &Context, form: &ComputeForm<'_>, input: usize, map: AffineMap) -> bool {
    let mut maps: Vec<AffineMap> = form.input_maps.clone();
    maps[input] = map;
    let plain = |map: &AffineMap, i| cx.map_results(*map).iter().any(|e| maps::plain_dim(cx, *e) == Some(i));
    (0..form.iterators.len()).all(|i| maps.iter().chain(&form.result_maps).any(|m| plain(m, i)))
}

/// Makes products read through copies. Returns how many reads were changed.
pub(super) fn fold_into_products(rw: &mut Rewriter<'_>, facts: &Facts, ops: &[Op]) -> u64 {
    let mut count = 0;
    for &op in ops {
        while let Some((input, source, map)) = foldable(OpRef::new(rw.cx(), rw.body(), op), facts) {
            let cx = rw.cx();
            let compute = OpRef::new(cx, rw.body(), op).as_::<ComputeOp<'_>>().expect("a product is a compute op");
            let mut maps = compute.maps();
            maps[input] = map;
            let maps: Vec<_> = maps.into_iter().map(|m| cx.affine_map_attr(m)).collect();
            rw.set_prop(op, "maps", Some(cx.array_attr(&maps)));
            rw.set_operand(op, input, source);
            count += 1;
        }
    }
    count
}

/// An input of a product that is a copy, with what is copied and the map by which to read that.
fn foldable(op: OpRef<'_>, facts: &Facts) -> Option<(usize, Value, AffineMap)> {
    op.as_::<ComputeOp<'_>>()?;
    let results: Vec<Value> = op.results().collect();
    let nest = Nest::of(facts, &[op], &results).ok()?;
    if !is_contraction(&nest, &nest.stages[0]) {
        return None;
    }
    let (cx, form) = (op.cx, ComputeForm::of(op)?);
    (0..op.num_operands()).find_map(|input| {
        let copy = Copied::of(op.at(op.body.defining_op(op.operand(input))?))?;
        let index = copy.read_at(cx, cx.map_results(form.input_maps[input]));
        let map = cx.affine_map(form.iterators.len() as u32, 0, &index);
        let plain = maps::is_projection(cx, map);
        (plain && keeps_extents(cx, &form, input, map)).then_some((input, copy.source, map))
    })
}
