//! Tensors in panels near: copied as the loops of a body say, with a dimension for each of them and the columns last.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::schedule::{Dim, Kernel, Loop, Node, Operand, Split, walk};
use sutura_ir::Value;

use super::super::kernel::{Built, Emit};
use super::Region;
use super::products::{PackedLoop, PackedView};
use super::ranges::{Range, Ranges};

/// The loops of a body that copies a tensor, or what is made of tensors there, outermost first, and what it copies.
pub(super) fn copied(body: &[Node]) -> (Vec<&Loop>, Option<&Operand>) {
    let (mut loops, mut nodes) = (Vec::new(), body);
    while let [Node::Loop(l)] = nodes {
        loops.push(l);
        nodes = &l.body;
    }
    match nodes {
        [made @ .., Node::Operand(operand)] if made.iter().all(|node| matches!(node, Node::Place(_))) => {
            (loops, Some(operand))
        }
        _ => (loops, None),
    }
}

/// True for an operand that loops copy into panels.
pub(super) fn in_panels(operand: &Operand) -> bool {
    let alike = |inner: &Operand| (inner.stage.number, inner.input) == (operand.stage.number, operand.input);
    copied(&operand.body).1.is_some_and(alike)
}

/// The dims of which a kernel keeps tiles in panels near, by the number of the tile.
pub(super) fn counted(tree: &Kernel) -> Vec<usize> {
    let mut dims = Vec::new();
    walk(&tree.body, &mut |node| {
        if let Node::Operand(operand) = node
            && let (loops, Some(inner)) = copied(&operand.body)
        {
            let tiled = loops.iter().filter(|l| l.split != Split::One && inner.tile.rows != Some(l.dim));
            dims.extend(tiled.map(|l| l.dim.0));
        }
    });
    dims
}

impl Region<'_, '_> {
    /// Memory for an operand that the loops of its body copy.
    pub(super) fn panels_for(&self, e: &mut Emit<'_>, ranges: &Ranges, operand: &Operand) -> Built<PackedView> {
        let access = &self.nest.stages[operand.stage.number].inputs[operand.input];
        let (around, inner) = copied(&operand.body);
        let rows = inner.and_then(|inner| inner.tile.rows);
        let (mut loops, mut dims) = (Vec::new(), Vec::new());
        for l in &around {
            // A tile that is turned has several places of a dim, each of which has its own in memory.
            let split = if rows == Some(l.dim) { Split::One } else { l.split };
            let (count, first) = self.panel_loop(e, (l.dim, split), ranges.0[l.dim.0])?;
            dims.push(count);
            loops.push(PackedLoop { dim: l.dim.0, first });
        }
        if let Some(col) = operand.tile.cols {
            let split = around.iter().find(|l| l.dim == col).map(|l| l.split);
            dims.push(match (split, ranges.0[col.0]) {
                (Some(Split::By(by)), _) | (None, Range::Tile { by, .. }) => by.into(),
                (None, Range::Index(_)) => 1.into(),
                _ => self.room(&self.nest.extents[col.0]),
            });
        }
        let elem = self.nest.cx.element_type(self.nest.body.ty(access.value));
        let view = self.memory(e, (Scope::Unit, &operand.tile.space), elem, dims, access.value)?;
        Ok(PackedView { view, loops, grouped: false })
    }

    /// How many places of panels are written, along each dimension but the last: there may be room for more. `None` for panels of parts
    /// of dims.
    pub(super) fn panel_counts(&self, ranges: &Ranges, operand: &Operand) -> Option<Vec<Poly>> {
        let (around, inner) = copied(&operand.body);
        let rows = inner.and_then(|inner| inner.tile.rows);
        let count = |l: &&Loop| {
            let extent = &self.nest.extents[l.dim.0];
            match (ranges.0[l.dim.0], l.split) {
                (Range::Whole | Range::Index(_), Split::By(by)) if rows != Some(l.dim) => Some(extent.ceildiv(by)),
                (Range::Whole | Range::Index(_), _) => Some(extent.clone()),
                _ => None,
            }
        };
        around.iter().map(count).collect()
    }

    /// How many places panels have for a loop, and where they begin.
    fn panel_loop(&self, e: &mut Emit<'_>, (dim, split): (Dim, Split), range: Range) -> Built<(Poly, Option<Value>)> {
        let extent = &self.nest.extents[dim.0];
        Ok(match (range, split) {
            (Range::Whole | Range::Index(_), Split::One) => (self.room(extent), None),
            (Range::Whole, Split::By(by)) => (self.room(extent).ceildiv(by), None),
            (Range::Tile { trip, by: of, .. }, Split::By(by)) => {
                ((of / by).into(), Some(e.scaled(trip, of / by, None)))
            }
            (Range::Tile { base, by, .. }, Split::One) => (by.into(), Some(base)),
            (Range::Block { trip, by }, Split::One) => (by.into(), Some(e.scaled(trip, by, None))),
            _ => {
                let message = format!("keeps panels of parts of {dim}, which have no bounds");
                return Emit::unsupported(self.region.op, &message);
            }
        })
    }

    /// The most that a size can be in the kernels of the version, where that is known.
    pub(super) fn room(&self, size: &Poly) -> Poly {
        let guarded = self.guard.iter().filter_map(|guard| guard.add(size).as_const());
        let known = self.region.facts.range(size).1;
        let most = guarded.map(i128::from).fold(known, i128::min);
        match i64::try_from(most) {
            Ok(most) if most < super::near::MOST_NEAR => most.max(0).into(),
            _ => size.clone(),
        }
    }
}
