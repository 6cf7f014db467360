//! What the units of a group bring into its memory for each other: each a share of the rows.
//!
//! Units wait for each other before one reads what others have brought, and before one writes where others may still read. While
//! they compute with what is there, what comes next can be on its way from memory to registers.

use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::ops::SyncOp;
use sutura_dialects::schedule::{Bring, Dim, Loop, Node, Operand, walk};
use sutura_ir::{Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::stages::Known;
use super::super::tiles::{Axis, Frame, Number, Tile, zero};
use super::near::{Near, NearDim, tile_in};
use super::nodes::{Inside, State, Units};
use super::ranges::{Range, Ranges};
use crate::region::{Access, Nest, Stage};

impl Inside<'_, '_> {
    /// The units that share an operand, if it is in the memory that they share.
    pub(super) fn shares(&self, operand: &Operand) -> Option<&Units> {
        let space = self.of.region.machine.group_space();
        let shared = operand.to == Bring::Cache && space.is_some_and(|space| **space == *operand.tile.space);
        self.units.as_ref().filter(|_| shared)
    }

    /// True for an operand in the memory that units share.
    pub(super) fn is_shared(&self, node: &Node) -> bool {
        matches!(node, Node::Operand(operand) if self.shares(operand).is_some())
    }

    /// True for an operand of which units read what others have brought; of rows of the dim that they share, each reads its own.
    pub(super) fn is_for_others(&self, node: &Node) -> bool {
        let Node::Operand(operand) = node else { return false };
        self.shares(operand).is_some_and(|units| operand.tile.rows.is_none_or(|rows| rows.0 != units.dim))
    }

    /// Brings near what all units of a group read of an operand, before `later` nodes.
    pub(super) fn bring_shared(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (operand, later): (&Operand, &[Node]),
        (known, units): (&Known, &Units),
        state: &mut State,
    ) -> Built<Near> {
        let at = (operand.stage.number, operand.input);
        let access = &self.nest().stages[at.0].inputs[at.1];
        let dims = self.of.near_dims(e, &ranges.with(units.dim, units.around), access, Some(later))?;
        let elem = self.nest().cx.element_type(self.nest().body.ty(access.value));
        if operand.asynchronous {
            return Ok(self.land(e, operand, (elem, &dims), state));
        }
        let (near, taken) = self.shared_memory(e, (operand, later), (elem, dims), state)?;
        let brought = match state.ahead.remove(&at) {
            Some(tile) => tile,
            None => self.share(e, ranges, (operand, later), known)?,
        };
        if taken {
            SyncOp::build(&mut e.b, e.loc);
        }
        let frame = self.share_frame(e, ranges, (operand, later))?;
        self.of.store_near(e, &frame, Number::Tile(brought), &near)?;
        state.brought.push(at);
        Ok(near)
    }

    /// Brings near what units share of an operand that the region makes: each makes its share of the rows.
    pub(super) fn make_shared(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (operand, later): (&Operand, &[Node]),
        (known, units): (&Known, &Units),
        state: &mut State,
    ) -> Built<()> {
        let at = (operand.stage.number, operand.input);
        let access = &self.nest().stages[at.0].inputs[at.1];
        let slot = access.slot.expect("what has a body is made in the region");
        let dims = self.of.near_dims(e, &ranges.with(units.dim, units.around), access, Some(later))?;
        let elem = self.nest().cx.element_type(self.nest().body.ty(access.value));
        let (near, taken) = self.shared_memory(e, (operand, later), (elem, dims), state)?;
        let mut inside = known.of_views();
        if let Some((tile, (_, read))) = state.ahead.remove(&at).zip(read_for(self.nest(), operand)) {
            inside.learn_read(&self.share_frame(e, ranges, (operand, later))?, read, tile);
        }
        if taken {
            SyncOp::build(&mut e.b, e.loc);
        }
        let share = self.share_of(e, ranges, (operand, later))?;
        let outer = state.filled.insert(slot, near.clone());
        self.inside(state, |state| self.nodes(e, &share, &operand.body, &mut inside, state))?;
        state.filled.remove(&slot);
        state.filled.extend(outer.map(|outer| (slot, outer)));
        state.brought.push(at);
        state.near.insert(at, near);
        Ok(())
    }

    /// Memory of the group for an operand, and whether something else lay there.
    fn shared_memory(
        &self,
        e: &mut Emit<'_>,
        of: (&Operand, &[Node]),
        (elem, dims): (Type, Vec<NearDim>),
        state: &mut State,
    ) -> Built<(Near, bool)> {
        match self.over_another(e, of, (elem, &dims), state) {
            Some(near) => Ok((near, true)),
            None => Ok((self.of.near_memory(e, of.0, Scope::Group, (elem, dims))?, false)),
        }
    }

    /// What the unit's share of an operand has of its rows and columns.
    fn share_of(&self, e: &mut Emit<'_>, ranges: &Ranges, of: (&Operand, &[Node])) -> Built<Ranges> {
        let frame = self.share_frame(e, ranges, of)?;
        let first = e.constant(0);
        let mut share = ranges.clone();
        for axis in [&frame.row, &frame.col].into_iter().flatten() {
            let own = self.units.as_ref().is_some_and(|units| units.dim == axis.dim);
            if let Some(by) = axis.extent.as_const().filter(|_| !own) {
                share.0[axis.dim] = Range::Tile { trip: first, base: axis.base, by, whole: false, ending: false };
            }
        }
        Ok(share)
    }

    /// Memory of the same kind, of something that was brought here and that no later node reads. All units have to be done with it.
    fn over_another(
        &self,
        e: &Emit<'_>,
        (operand, later): (&Operand, &[Node]),
        of: (Type, &[NearDim]),
        state: &mut State,
    ) -> Option<Near> {
        let mut read = Vec::new();
        walk(later, &mut |node| {
            if let Node::Place(place) = node {
                read.push(place.stage.number);
            }
        });
        let over = |at: &(usize, usize)| self.of.near_over(e, operand, of, state.near.get(at)?);
        let unread = state.brought.iter().enumerate().filter(|(_, at)| !read.contains(&at.0));
        let (free, near) = unread.filter_map(|(number, at)| Some((number, over(at)?))).next()?;
        state.near.remove(&state.brought.swap_remove(free));
        Some(near)
    }

    /// The rows and columns of an operand that are the unit's to bring.
    pub(super) fn share_frame(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (operand, later): (&Operand, &[Node]),
    ) -> Built<Frame> {
        let (stage, units) = (&self.nest().stages[operand.stage.number], self.units.as_ref().expect("it is shared"));
        let mut frame = self.of.frame(e, ranges, &operand.tile);
        frame.space = frame.registers.clone();
        // All of a dim is there in whole tiles of what reads it.
        if let Some(col) = frame.col.as_mut().filter(|col| matches!(ranges.0[col.dim], Range::Whole)) {
            let tile = tile_in(later, col.dim);
            col.extent = col.extent.ceildiv(tile).scale(tile);
            frame.partial = true;
        }
        let Some(row) = frame.row.as_mut() else {
            return Emit::unsupported(stage.op, "shares what has no rows among a group's units");
        };
        if row.dim != units.dim {
            let Some(rows) = row.extent.as_const().filter(|rows| rows % units.count == 0) else {
                let message = format!("shares {} rows among {} units, which is not even", row.extent, units.count);
                return Emit::unsupported(stage.op, &message);
            };
            let share = rows / units.count;
            let own = e.scaled(units.unit, share, None);
            (row.base, row.extent) = (e.scaled(row.base, 1, Some(own)), share.into());
        }
        Ok(frame)
    }

    /// Reads what of an operand is the unit's to bring.
    fn share(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (operand, later): (&Operand, &[Node]),
        known: &Known,
    ) -> Built<Tile> {
        let at = (operand.stage.number, operand.input);
        let (stage, access) = read_for(self.nest(), operand).expect("checked where it is said that it is read ahead");
        let stage = &self.nest().stages[stage];
        e.loc = stage.op.loc();
        let frame = self.share_frame(e, ranges, (operand, later))?;
        let elem = self.nest().cx.element_type(self.nest().body.ty(access.value));
        let outside = zero(self.nest().cx, elem);
        if let Some(packed) = self.packed.get(&at) {
            return Ok(e.load_packed(packed, ranges, &frame, (elem, Some(outside))));
        }
        let view = known.view(stage.op, access.value)?;
        Ok(e.load(self.nest(), &frame, (view, &access.index), (Some(outside), &[])))
    }

    // ---- what is read ahead

    /// What operands to which it comes next are read ahead of: those before the next other node that are shared, and where a loop
    /// has no more of them, the first ones of its next trip.
    pub(super) fn read_next(
        &self,
        e: &mut Emit<'_>,
        (ranges, later): (&Ranges, &[Node]),
        (next_trip, list): (Option<&Ranges>, &[Node]),
        known: &Known,
        state: &mut State,
    ) -> Built<()> {
        let more = later.iter().any(|node| self.is_shared(node));
        let (ranges, nodes) = match next_trip {
            _ if more => (ranges, later),
            Some(next) => (next, list),
            None => return Ok(()),
        };
        for (operand, later) in self.ahead(nodes) {
            let tile = self.share(e, ranges, (operand, later), known)?;
            state.ahead.insert((operand.stage.number, operand.input), tile);
        }
        Ok(())
    }

    /// Of the shared operands that nodes begin with, those that are read ahead, each with the nodes behind it.
    fn ahead<'n>(&self, nodes: &'n [Node]) -> Vec<(&'n Operand, &'n [Node])> {
        let first = nodes.iter().position(|node| self.is_shared(node)).unwrap_or(nodes.len());
        let run = nodes[first..].iter().take_while(|node| self.is_shared(node)).count();
        let ahead = |at: usize| match &nodes[at] {
            Node::Operand(operand) if operand.ahead => Some((operand, &nodes[at + 1..])),
            _ => None,
        };
        (first..first + run).filter_map(ahead).collect()
    }

    /// Reads what a loop's first trip begins with, where it is read ahead; it is carried behind what the loop combines.
    pub(super) fn wait_in_registers(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (l, first): (&Loop, Value),
        known: &Known,
        carried: &mut Vec<Value>,
    ) -> Built<Vec<((usize, usize), Tile)>> {
        let operands = self.ahead(&l.body);
        if operands.is_empty() {
            return Ok(vec![]);
        }
        let ranges = ranges.with(l.dim.0, self.range_of(e, l, (ranges.0[l.dim.0], first)));
        let mut tiles = Vec::new();
        for (operand, later) in operands {
            let tile = self.share(e, &ranges, (operand, later), known)?;
            carried.push(tile.value);
            tiles.push(((operand.stage.number, operand.input), tile));
        }
        Ok(tiles)
    }

    /// What the trip behind another one has of each dim: nothing, behind the last one.
    pub(super) fn of_next_trip(&self, e: &mut Emit<'_>, ranges: &Ranges, l: &Loop, trip: Value) -> Ranges {
        let one = e.constant(1);
        let next = e.scaled(trip, 1, Some(one));
        let range = match self.range_of(e, l, (ranges.0[l.dim.0], next)) {
            Range::Tile { trip, base, by, ending, .. } => Range::Tile { trip, base, by, whole: false, ending },
            other => other,
        };
        ranges.with(l.dim.0, range)
    }

    /// What units share of a value that the region makes is 0 beyond the end of its dims along which contractions sum.
    pub(super) fn zero_beyond(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        made: &Access,
        number: Number,
        state: &State,
    ) -> Number {
        let maker = self.nest().maker(made).map(|maker| &self.nest().stages[maker]);
        if self.is_zero_beyond(made, state) || maker.is_some_and(only_widens) {
            return number;
        }
        let summed = |axis: &&Axis| {
            let reads = |stage: &Stage<'_>| stage.inputs.iter().any(|read| read.slot == made.slot);
            self.nest().stages.iter().any(|stage| stage.reduced.contains(&axis.dim) && reads(stage))
        };
        let axes: Vec<Axis> = frame.row.iter().chain(&frame.col).filter(summed).cloned().collect();
        let cx = self.nest().cx;
        let beyond = axes.iter().filter(|axis| self.axis_reaches_beyond(axis));
        let inside: Vec<_> = beyond
            .map(|axis| e.in_range(frame, cx.affine_dim(axis.dim as u32), &self.nest().extents[axis.dim]))
            .collect();
        if inside.is_empty() {
            return number;
        }
        let nothing = Number::Constant(zero(cx, number.elem()), number.elem());
        e.where_all(frame, &inside, number, nothing)
    }
}

/// True for an operand that its body makes of tensors, element by element.
pub(super) fn is_made_of_tensors(nest: &Nest<'_>, operand: &Operand) -> bool {
    let place = |node: &Node| if let Node::Place(place) = node { Some(place.stage.number) } else { None };
    let placed: Option<Vec<usize>> = operand.body.iter().map(place).collect();
    placed.is_some_and(|placed| {
        let inside = |read: &Access| nest.maker(read).is_none_or(|maker| placed.contains(&maker));
        let plain = |s: &usize| !nest.stages[*s].reduces() && nest.stages[*s].inputs.iter().all(inside);
        !placed.is_empty() && placed.iter().all(plain)
    })
}

/// The tensor that is read ahead of an operand, and the stage that reads it: the operand, or one that has all its rows and columns of
/// those of which it is made.
pub(super) fn read_for<'n>(nest: &'n Nest<'_>, operand: &Operand) -> Option<(usize, &'n Access)> {
    if operand.body.is_empty() {
        let stage = operand.stage.number;
        return Some((stage, &nest.stages[stage].inputs[operand.input]));
    }
    let whole = |read: &Access| {
        let mentions = |dim: &Dim| nest.mentions(read, dim.0);
        let along = operand.tile.rows.iter().chain(&operand.tile.cols).all(mentions);
        along && read.slot.is_none() && read.oob.is_none()
    };
    operand.body.iter().find_map(|node| {
        let Node::Place(place) = node else { return None };
        let stage = place.stage.number;
        nest.stages[stage].inputs.iter().find(|read| whole(read)).map(|read| (stage, read))
    })
}

/// True for a stage that makes numbers of a wider type from those of a tensor: from the zeros that lie beyond its end zeros.
fn only_widens(stage: &Stage<'_>) -> bool {
    let body = stage.body.filter(|_| stage.inputs.iter().all(|read| read.slot.is_none()));
    body.is_some_and(|body| body.ops().all(|op| matches!(op.name_str(), "arith.extf" | "graph.yield")))
}
