//! Operands that units copy asynchronously for each other.
//!
//! A trip begins the copy for the next one behind the last node that reads what lies there, when all units have read it, and waits
//! for it where it is brought; what the first trip has is begun before the loop. Each has memory of its own.

use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::ops::{AsyncCommitOp, AsyncCopyOp, AsyncWaitOp, SyncOp};
use sutura_dialects::schedule::{Loop, Node, Operand, walk};
use sutura_ir::{Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::stages::Known;
use super::near::{Near, NearDim};
use super::nodes::{Inside, State};
use super::ranges::Ranges;

/// An operand that is copied asynchronously.
pub(super) struct Copied<'n> {
    node: &'n Node,
    operand: &'n Operand,
    /// The nodes behind it.
    later: &'n [Node],
    /// The number of the last node that reads it.
    pub(super) last: usize,
}

/// True for an operand that is copied asynchronously.
pub(super) fn is_asynchronous(node: &Node) -> bool {
    matches!(node, Node::Operand(operand) if operand.asynchronous)
}

/// The number of the last of some nodes that reads an operand.
pub(super) fn last_reader(nodes: &[Node], operand: &Operand) -> Option<usize> {
    nodes.iter().rposition(|node| {
        let mut reads = false;
        walk(std::slice::from_ref(node), &mut |inner| {
            reads |= matches!(inner, Node::Place(place) if place.stage.number == operand.stage.number);
        });
        reads
    })
}

/// Those of a list of nodes, in order.
pub(super) fn asynchronous(list: &[Node]) -> Vec<Copied<'_>> {
    let mut copied = Vec::new();
    for (number, node) in list.iter().enumerate() {
        let (Node::Operand(operand), later) = (node, &list[number + 1..]) else { continue };
        if let Some(last) = last_reader(later, operand).filter(|_| operand.asynchronous) {
            copied.push(Copied { node, operand, later, last: number + 1 + last });
        }
    }
    copied
}

impl Inside<'_, '_> {
    /// Begins the copies of what a loop's first trip has.
    pub(super) fn copy_first(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (l, first): (&Loop, Value),
        (copied, known): (&[Copied<'_>], &Known),
        state: &mut State,
    ) -> Built<()> {
        if copied.is_empty() {
            return Ok(());
        }
        let ranges = ranges.with(l.dim.0, self.range_of(e, l, (ranges.0[l.dim.0], first)));
        for copy in copied {
            let (elem, dims) = self.copied_dims(e, &ranges, copy)?;
            let near = self.of.near_memory(e, copy.operand, Scope::Group, (elem, dims))?;
            self.begin(e, &ranges, copy, (near, known), state)?;
        }
        Ok(())
    }

    /// Begins the copies of what the next trip has of operands that nothing reads any more.
    pub(super) fn copy_next(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        over: &[Copied<'_>],
        known: &Known,
        state: &mut State,
    ) -> Built<()> {
        if over.iter().any(|copy| self.is_for_others(copy.node)) {
            SyncOp::build(&mut e.b, e.loc);
        }
        for copy in over {
            let (elem, dims) = self.copied_dims(e, ranges, copy)?;
            let here = state.near.get(&at(copy.operand)).expect("it was brought");
            let near = self.of.near_over(e, copy.operand, (elem, &dims), here).expect("it is what was there before");
            self.begin(e, ranges, copy, (near, known), state)?;
        }
        Ok(())
    }

    fn copied_dims(&self, e: &mut Emit<'_>, ranges: &Ranges, copy: &Copied<'_>) -> Built<(Type, Vec<NearDim>)> {
        let (stage, input) = at(copy.operand);
        let access = &self.nest().stages[stage].inputs[input];
        let units = self.units.as_ref().expect("it is shared");
        let dims = self.of.near_dims(e, &ranges.with(units.dim, units.around), access, Some(copy.later))?;
        Ok((self.nest().cx.element_type(self.nest().body.ty(access.value)), dims))
    }

    /// Begins the copy of the unit's share; it is a batch.
    fn begin(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        copy: &Copied<'_>,
        (near, known): (Near, &Known),
        state: &mut State,
    ) -> Built<()> {
        let at = at(copy.operand);
        let stage = &self.nest().stages[at.0];
        e.loc = stage.op.loc();
        let mut frame = self.share_frame(e, ranges, (copy.operand, copy.later))?;
        // Nothing goes through registers, so that nothing is turned there.
        frame.space = copy.operand.tile.space.as_str().into();
        let access = &stage.inputs[at.1];
        let from = match self.packed.get(&at) {
            Some(packed) => e.packed_window(packed, ranges, &frame),
            None => {
                let view = known.view(stage.op, access.value)?;
                e.slice(self.nest(), &frame, view, &access.index, &[]).0
            }
        };
        let to = self.of.near_slice(e, &frame, &near)?.0;
        AsyncCopyOp::build(&mut e.b, e.loc, from, to, true);
        AsyncCommitOp::build(&mut e.b, e.loc);
        state.flight.push((at, near));
        Ok(())
    }

    /// Waits for an operand, and for what was begun before it.
    pub(super) fn land(
        &self,
        e: &mut Emit<'_>,
        operand: &Operand,
        (elem, dims): (Type, &[NearDim]),
        state: &mut State,
    ) -> Near {
        let number =
            state.flight.iter().position(|(waiting, _)| *waiting == at(operand)).expect("a trip before began it");
        AsyncWaitOp::build(&mut e.b, e.loc, (state.flight.len() - 1 - number) as i64);
        let (_, near) = state.flight.drain(..=number).next_back().expect("it is the last of them");
        self.of.near_over(e, operand, (elem, dims), &near).expect("it is what was begun")
    }

    /// Waits for what the last trip of a loop has begun, which is beyond the end.
    pub(super) fn land_all(&self, e: &mut Emit<'_>, copied: &[Copied<'_>], state: &mut State) {
        if !copied.is_empty() {
            AsyncWaitOp::build(&mut e.b, e.loc, 0);
            state.flight.clear();
        }
    }
}

fn at(operand: &Operand) -> (usize, usize) {
    (operand.stage.number, operand.input)
}
