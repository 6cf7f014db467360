//! Scalar functions of structured ops, applied to tiles.

use std::collections::HashMap;

use sutura_dialects::arith::{CmpFPredicate, CmpIPredicate};
use sutura_dialects::r#dyn::Facts;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::gir::kinds::{self, BinaryKind, CastKind, CompareKind, TernaryKind, UnaryKind};
use sutura_dialects::gir::ops::*;
use sutura_dialects::gir::types::TileType;
use sutura_dialects::graph::{Combiner, IndexOp as IteratorOp, SizeOp};
use sutura_ir::{Attr, BlockRef, Builder, Context, OpRef, Type, Value};

use super::kernel::{Built, Emit};
use super::tiles::{Frame, Number, Shape, Tile};
use crate::region::{Nest, Stage};

impl Emit<'_> {
    /// Applies a stage's function to its arguments; what the body yields.
    pub(super) fn scalars(
        &mut self,
        frame: &Frame,
        facts: &Facts,
        (nest, stage): (&Nest<'_>, &Stage<'_>),
        args: &[Number],
    ) -> Built<Vec<Number>> {
        match stage.body {
            Some(body) => self.function(frame, facts, (nest, stage), body, args),
            None => Ok(args.to_vec()),
        }
    }

    /// Applies a scalar function of a stage to its arguments; what it yields.
    pub(super) fn function(
        &mut self,
        frame: &Frame,
        facts: &Facts,
        (nest, stage): (&Nest<'_>, &Stage<'_>),
        body: BlockRef<'_>,
        args: &[Number],
    ) -> Built<Vec<Number>> {
        let mut numbers: HashMap<Value, Number> = body.args().iter().copied().zip(args.iter().copied()).collect();
        for op in body.ops() {
            let operands: Vec<Number> = op.operands().map(|v| numbers[&v]).collect();
            if op.name_str() == "graph.yield" {
                return Ok(operands);
            }
            self.loc = op.loc();
            let number = self.scalar_op(frame, facts, (nest, stage), op, &operands)?;
            numbers.insert(op.result(0), number);
        }
        Self::unsupported(stage.op, "has no 'graph.yield'")
    }

    fn scalar_op(
        &mut self,
        frame: &Frame,
        facts: &Facts,
        (nest, stage): (&Nest<'_>, &Stage<'_>),
        op: OpRef<'_>,
        operands: &[Number],
    ) -> Built<Number> {
        if let Some(value) = op.results().next().and_then(|r| op.constant(r)) {
            return Ok(Number::Constant(value, op.ty(op.result(0))));
        }
        if let Some(index) = op.as_::<IteratorOp<'_>>() {
            let expr = stage.iterators[index.iterator() as usize];
            let expr = expr.expect("an iterator that is computed with is not merged");
            return Ok(Number::Tile(self.indices(frame, expr)));
        }
        if let Some(size) = op.as_::<SizeOp<'_>>() {
            return Ok(Number::Tile(self.size_tile(frame, &facts.canonical(size.size()))));
        }
        let operands = self.checked(frame, facts, (nest, stage), op, operands);
        let tiles = self.agree(frame, &operands);
        let Some(first) = tiles.first().copied() else { return Self::unsupported(op, "has no form on tiles") };
        let elem = op.ty(op.result(0));
        let values: Vec<Value> = tiles.iter().map(|t| t.value).collect();
        match self.tile_op(frame, op, first.shape, &values) {
            Some(value) => Ok(Number::Tile(Tile { value, elem, ..first })),
            None => Self::unsupported(op, "has no form on tiles"),
        }
    }

    fn tile_op(&mut self, frame: &Frame, op: OpRef<'_>, shape: Shape, values: &[Value]) -> Option<Value> {
        let (loc, name) = (self.loc, op.name_str());
        let elem = op.ty(op.result(0));
        let b = &mut self.b;
        match (name, values) {
            ("arith.cmpf" | "arith.cmpi", [x, y]) => self.comparison(frame, op, shape, *x, *y),
            // Truth values are unsigned: the larger one is true if either is.
            ("arith.maxui", [x, y]) if elem == Type::I1 => Some(BinaryOp::value(b, loc, BinaryKind::Or, *x, *y)),
            ("arith.minui", [x, y]) if elem == Type::I1 => Some(BinaryOp::value(b, loc, BinaryKind::And, *x, *y)),
            (_, [x]) => {
                if let Some(kind) = UnaryKind::of_scalar_op(name) {
                    return Some(UnaryOp::value(b, loc, kind, *x));
                }
                let kind = CastKind::of_scalar_op(name)?;
                let ty = with_elements(b, *x, elem);
                Some(CastOp::value(b, loc, kind, *x, ty))
            }
            (_, [x, y]) => Some(BinaryOp::value(b, loc, BinaryKind::of_scalar_op(name)?, *x, *y)),
            (_, [x, y, z]) => Some(TernaryOp::value(b, loc, TernaryKind::of_scalar_op(name)?, *x, *y, *z)),
            _ => None,
        }
    }

    /// A comparison; one that holds for unordered numbers is the negation of the opposite one.
    fn comparison(&mut self, frame: &Frame, op: OpRef<'_>, shape: Shape, x: Value, y: Value) -> Option<Value> {
        let cx = self.b.cx();
        let predicate = cx.as_int(op.prop("predicate")?)?;
        let (kind, negate) = match op.name_str() {
            "arith.cmpi" => {
                let text = CmpIPredicate::ALL.iter().find(|p| **p as i64 == predicate)?.keyword();
                (CompareKind::of_scalar_op(&format!("cmpi.{text}"))?, false)
            }
            _ => {
                let predicate = CmpFPredicate::ALL.iter().find(|p| **p as i64 == predicate)?;
                let opposite = match predicate {
                    CmpFPredicate::Ord => Some("uno"),
                    CmpFPredicate::Ueq => Some("one"),
                    CmpFPredicate::Ugt => Some("ole"),
                    CmpFPredicate::Uge => Some("olt"),
                    CmpFPredicate::Ult => Some("oge"),
                    CmpFPredicate::Ule => Some("ogt"),
                    _ => None,
                };
                let text = opposite.unwrap_or(predicate.keyword());
                (CompareKind::of_scalar_op(&format!("cmpf.{text}"))?, opposite.is_some())
            }
        };
        let result = CompareOp::value(&mut self.b, self.loc, kind, x, y);
        if !negate {
            return Some(result);
        }
        let on = self.fill(frame, cx.bool_attr(true), Type::I1, Shape::SCALAR);
        let on = match shape {
            Shape::SCALAR => on.value,
            _ => BroadcastOp::value(&mut self.b, self.loc, on.value, result),
        };
        Some(BinaryOp::value(&mut self.b, self.loc, BinaryKind::Xor, result, on))
    }

    /// The number as one of another float or integer type, for an accumulator or its result.
    pub(super) fn converted(&mut self, tile: Tile, elem: Type) -> Tile {
        let cx = self.b.cx();
        let Some(kind) = conversion(cx, tile.elem, elem) else { return tile };
        let ty = with_elements(&self.b, tile.value, elem);
        let value = CastOp::value(&mut self.b, self.loc, kind, tile.value, ty);
        Tile { value, elem, ..tile }
    }
}

/// The type of a tile with other elements: a conversion leaves it in its space, which for what was reduced is that of the row.
fn with_elements(b: &Builder<'_>, tile: Value, elem: Type) -> Type {
    let (cx, ty) = (b.cx(), b.body().ty(tile));
    let tile = cx.type_as::<TileType>(ty).expect("made as a tile");
    cx.ext_type(TileType { elem, ..tile.clone() })
}

fn conversion(cx: &Context, from: Type, to: Type) -> Option<CastKind> {
    let width = |t: Type| cx.bit_width(t).unwrap_or(64);
    let float = from.is_float(cx);
    match (width(from).cmp(&width(to)), float) {
        _ if from == to => None,
        (std::cmp::Ordering::Less, true) => Some(CastKind::ExtF),
        (std::cmp::Ordering::Greater, true) => Some(CastKind::TruncF),
        (std::cmp::Ordering::Less, false) => Some(CastKind::ExtSI),
        (std::cmp::Ordering::Greater, false) => Some(CastKind::TruncI),
        (std::cmp::Ordering::Equal, _) => Some(CastKind::Bitcast),
    }
}

/// The tile combiner for numbers of an accumulator's type.
pub(super) fn tile_combiner(cx: &Context, combiner: Combiner, accumulator: Type) -> Option<kinds::Combiner> {
    match combiner.op_name(cx, accumulator)? {
        "arith.maxui" => Some(kinds::Combiner::Or),
        "arith.minui" => Some(kinds::Combiner::And),
        name => kinds::Combiner::of_scalar_op(name),
    }
}

/// Type in which the results of a stage are accumulated.
pub(super) fn accumulator(cx: &Context, stage: &Stage<'_>, result: usize) -> Type {
    let state = stage.joint.and_then(|joint| cx.attr_type(joint.state.identity[result]));
    state.unwrap_or_else(|| accumulator_type(cx, result_elem(cx, stage, result)))
}

/// What a stage combines of nothing, in the accumulator's type.
pub(super) fn identity(cx: &Context, stage: &Stage<'_>, result: usize) -> Attr {
    match stage.joint {
        Some(joint) => joint.state.identity[result],
        None => stage.combiners[result].identity(cx, accumulator(cx, stage, result)),
    }
}

/// Element type of a result.
pub(super) fn result_elem(cx: &Context, stage: &Stage<'_>, result: usize) -> Type {
    cx.element_type(stage.op.ty(stage.results[result].value))
}
