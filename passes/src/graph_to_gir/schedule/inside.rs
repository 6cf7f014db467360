//! Loops over the places of a window that leave out those outside the tensor.
//!
//! What is read outside is zero, and a sum of products of zeros and of finite numbers stays what it was. So the loop runs through the
//! places that lie inside, where the indices of the window itself are known. Weights that are no constants could be infinite, and
//! would make NaN of zeros.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::IndexOp;
use sutura_dialects::graph::maps;
use sutura_dialects::schedule::{Loop, Node, walk};
use sutura_ir::Value;
use sutura_ir::affine::{AffineExpr, AffineOp};

use super::super::kernel::{Built, Emit};
use super::super::tiles::zero;
use super::ranges::{Range, Ranges};
use super::{REFUSED, Region};

/// What leaves a tensor along a loop.
pub(super) struct Narrowed {
    /// The index that is read, and the size of the tensor there.
    index: AffineExpr,
    size: Poly,
    /// How far a trip moves it.
    step: i64,
    /// The other dims that move it.
    pub(super) others: Vec<usize>,
}

impl Region<'_, '_> {
    /// What a loop leaves out.
    ///
    /// # Errors
    /// Says why nothing may be left out.
    pub(super) fn narrowed(&self, l: &Loop) -> Result<Narrowed, String> {
        let (nest, dim) = (self.nest, l.dim.0);
        let mut placed = Vec::new();
        walk(&l.body, &mut |node| {
            if let Node::Place(place) = node {
                placed.push((place.stage.number, place.contract));
            }
        });
        let [(number, true)] = placed[..] else {
            return Err("more than a sum of products is computed in it".to_owned());
        };
        let stage = &nest.stages[number];
        let mut found = None;
        for read in &stage.inputs {
            let along = read.index.iter().enumerate().find(|(_, e)| nest.mentions_expr(**e, dim));
            match (read.oob, along) {
                (None, _) if self.region.is_finite(read.value) => {}
                (None, _) => return Err("a factor is no constant of finite numbers".to_owned()),
                (Some(pad), Some((at, index)))
                    if pad == zero(nest.cx, nest.cx.element_type(nest.body.ty(read.value))) =>
                {
                    found = Some((at, *index, &nest.shapes[&read.value]));
                }
                _ => return Err("a factor is not read outside along it as zeros".to_owned()),
            }
        }
        let Some((at, index, sizes)) = found else { return Err("nothing is read outside".to_owned()) };
        let linear =
            maps::linear(nest.cx, index, nest.extents.len()).filter(|l| l.symbols.is_empty() && l.factors[dim] > 0);
        let Some(linear) = linear else { return Err("it moves what is read in unequal steps, or backward".to_owned()) };
        let others = (0..nest.extents.len()).filter(|d| *d != dim && linear.factors[*d] != 0 && !nest.is_unit(*d));
        Ok(Narrowed { index, size: sizes[at].clone(), step: linear.factors[dim], others: others.collect() })
    }

    /// The first trip of a loop that lies inside, and that behind the last one.
    pub(super) fn bounds_inside(&self, e: &mut Emit<'_>, ranges: &Ranges, l: &Loop) -> Built<(Value, Value)> {
        let refuse = |why: String| Emit::unsupported(self.region.op, &format!("{REFUSED}: {why}"));
        let narrowed = match self.narrowed(l) {
            Ok(narrowed) => narrowed,
            Err(why) => return refuse(format!("the loop over {} leaves out what lies outside, and {why}", l.dim)),
        };
        let first = e.constant(0);
        let value_of = |dim: usize| match ranges.0[dim] {
            Range::Index(index) => index,
            _ => first,
        };
        let start = e.index(narrowed.index, &value_of);
        let cx = self.nest.cx;
        let (at, step) = (cx.affine_dim(0), cx.affine_const(narrowed.step));
        let missing = IndexOp::value(&mut e.b, e.loc, cx.affine_map(1, 0, &[cx.affine_const(0), at]), &[start]);
        let less = |expr| cx.affine_binary(AffineOp::Mul, expr, cx.affine_const(-1));
        let first = less(cx.affine_binary(AffineOp::FloorDiv, at, step));
        let first = IndexOp::value(&mut e.b, e.loc, cx.affine_map(1, 0, &[first]), &[missing]);
        let room = cx.affine_binary(AffineOp::Add, cx.affine_symbol(0), less(at));
        let end = cx.affine_binary(AffineOp::CeilDiv, room, step);
        let (size, all) = (e.size(&narrowed.size), e.size(&self.nest.extents[l.dim.0]));
        // The size of the window first: it bounds the loop alike on all lines.
        let map = cx.affine_map(1, 2, &[cx.affine_symbol(1), end]);
        Ok((first, IndexOp::value(&mut e.b, e.loc, map, &[start, size, all])))
    }
}
