//! Tensors of stored integers: ops of this dialect move them and do not look at them.
//!
//! Where scales belong to positions, an element keeps the scale and the zero point that it has: those that the type of the result gives
//! to its new position. Ops say where elements come from (`movement.rs`); what cannot be shown to be so is refused.

use sutura_ir::asm::print::type_text;
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::{Context, OpRef, Type};

use super::maps::plain_dim;
use super::movement::{Movement, Moves, Range, range};
use super::ops::ShapeOfOp;
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;
use crate::quant::{Affine, Along, UniformType, along, check_type, is_quantized};

/// What may be done instead.
const HELP: &str = "compute with what 'quant.dcast' expresses, or move the integers that 'quant.scast' gives";

/// True for elements that are the same, or stored as the same integers which express numbers of one type: an op that moves
/// them may have both, for scales of positions have other positions behind it.
pub(super) fn same_number(cx: &Context, a: Type, b: Type) -> bool {
    let uniform = |ty| cx.type_as::<UniformType>(ty);
    let same = |(a, b): (&UniformType, &UniformType)| a.storage == b.storage && a.expressed == b.expressed;
    a == b || uniform(a).zip(uniform(b)).is_some_and(same)
}

/// Refuses what an op may not do with tensors of stored integers.
pub(super) fn check(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let cx = op.cx;
    let is_stored = |ty: &Type| is_quantized(cx, cx.element_type(*ty));
    let stored: Vec<Type> = op.operand_types().chain(op.result_types()).filter(is_stored).collect();
    let Some(first) = stored.first() else { return Ok(()) };
    for ty in &stored {
        check_type(cx, *ty).map_err(|message| diags.report(op.error(message)))?;
    }
    if op.is::<ShapeOfOp<'_>>() {
        return Ok(());
    }
    let Some(movements) = op.interface::<dyn Moves>().and_then(|moves| moves.movements(op)) else {
        let elem = type_text(cx, cx.element_type(*first));
        let message = format!("computes with elements of {elem}, which are stored integers");
        return Err(diags.report(op.error(message).help(HELP)));
    };
    for movement in movements {
        let Some(moved) = Moved::of(op, &movement) else { continue };
        if let Err(reason) = moved.check() {
            let elem = type_text(cx, cx.element_type(moved.from));
            let message = format!("moves elements of {elem}, whose scales belong to positions: {reason}");
            return Err(diags.report(op.error(message).help(HELP)));
        }
    }
    Ok(())
}

/// Elements with scales that go from an operand to a result.
struct Moved<'m> {
    cx: &'m Context,
    movement: &'m Movement,
    from: Type,
    to: Type,
    /// What the elements express.
    given: &'m UniformType,
    /// What the type of the result says.
    wanted: &'m UniformType,
}

impl<'m> Moved<'m> {
    fn of(op: OpRef<'m>, movement: &'m Movement) -> Option<Self> {
        let cx = op.cx;
        let (from, to) = (op.operand_types().nth(movement.from)?, op.result_types().nth(movement.to)?);
        let uniform = |ty| cx.type_as::<UniformType>(cx.element_type(ty));
        Some(Self { cx, movement, from, to, given: uniform(from)?, wanted: uniform(to)? })
    }

    /// Checks that every element has the scale at its new position that it has at the old one.
    fn check(&self) -> Result<(), String> {
        let sizes = |ty| symbolic_shape(self.cx, ty).unwrap_or_default();
        let (from, to) = (sizes(self.from), sizes(self.to));
        let (given, wanted) = (along(self.given, from.len())?, along(self.wanted, to.len())?);
        // Positions along other dimensions do not matter.
        let scaled: Vec<usize> = (0..given.len()).filter(|dim| given[*dim].count > 1).collect();
        let mut exprs = Vec::new();
        for dim in scaled {
            let of = format!("dimension {dim} of operand {}", self.movement.from);
            let expr = self.movement.positions.get(dim).ok_or("has no positions")?;
            let expr = *expr.as_ref().map_err(|reason| format!("{of} {reason}"))?;
            let plain = plain_dim(self.cx, expr);
            if plain.is_none() && from[dim].as_ref().and_then(Poly::as_const).is_none() {
                return Err(format!("elements move along {of}, of which the type does not say the size"));
            }
            exprs.push((dim, expr, plain));
        }
        let same = self.cx.element_type(self.from) == self.cx.element_type(self.to);
        if same && exprs.iter().all(|(dim, _, plain)| *plain == Some(*dim)) {
            return Ok(());
        }
        let mut block = vec![0i64; wanted.len()];
        for affine in self.wanted.scheme.affine() {
            let place: Vec<Range> = (0..wanted.len()).map(|d| indices(wanted[d], block[d], &to[d])).collect();
            self.same(*affine, place, &block, &given, &exprs)?;
            next(&mut block, &wanted);
        }
        Ok(())
    }

    /// Checks the elements that go to the block number `block` of the result, which is at `place`.
    fn same(
        &self,
        wanted: Affine,
        mut place: Vec<Range>,
        block: &[i64],
        given: &[Along],
        exprs: &[(usize, sutura_ir::affine::AffineExpr, Option<usize>)],
    ) -> Result<(), String> {
        if let Some((dim, part)) = self.movement.part
            && let Some(place) = place.get_mut(dim)
        {
            *place = place.and(part);
        }
        if place.iter().any(|range| range.is_empty()) {
            return Ok(());
        }
        let mut blocks = vec![0i128; given.len()];
        for (dim, expr, _) in exprs {
            let found = range(self.cx, *expr, &place).and(Range::below(given[*dim].size()));
            if found.is_empty() {
                return Ok(());
            }
            let from = self.movement.from;
            let one = found.block(given[*dim].block.unwrap_or(1).max(1));
            blocks[*dim] = one.ok_or_else(|| {
                format!("what has one scale in the result, number {block:?}, has several along dimension {dim} of operand {from}")
            })?;
        }
        let at = blocks.iter().zip(given).fold(0i128, |at, (block, along)| at * i128::from(along.count) + block);
        let number = usize::try_from(at).ok().and_then(|at| self.given.scheme.affine().get(at));
        match number {
            Some(given) if *given == wanted => Ok(()),
            None => Err("there are fewer scales than blocks".to_owned()),
            Some(given) => Err(format!(
                "scale number {block:?} of the result is {} with zero point {}, that of its elements is number {blocks:?} of operand {}, {} with {}",
                wanted.scale(),
                wanted.zero,
                self.movement.from,
                given.scale(),
                given.zero
            )),
        }
    }
}

/// Indices of the elements of a block along a dimension of that size.
fn indices(along: Along, block: i64, size: &Option<Poly>) -> Range {
    let Some(many) = along.block else { return Range::below(size.as_ref().and_then(Poly::as_const)) };
    let low = i128::from(block) * i128::from(many);
    Range { low, high: low + i128::from(many) - 1 }
}

/// The next block, row-major.
fn next(block: &mut [i64], along: &[Along]) {
    for (number, along) in block.iter_mut().zip(along).rev() {
        *number += 1;
        if *number < along.count {
            return;
        }
        *number = 0;
    }
}
