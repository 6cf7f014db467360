//! Operands: brought near, made there, packed, and what of them is known where.

use sutura_dialects::schedule::{Bring, Node, Operand, walk};

use super::super::kernel::{Built, Emit};
use super::super::stages::Known;
use super::super::tiles::{Frame, Number};
use super::REFUSED;
use super::near::Near;
use super::nodes::{Inside, State};
use super::panels::in_panels;
use super::ranges::Ranges;
use super::shared::is_made_of_tensors;
use crate::region::{Access, Nest};

impl Inside<'_, '_> {
    /// An operand in memory of the group.
    pub(super) fn cache(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (operand, later): (&Operand, &[Node]),
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let at = (operand.stage.number, operand.input);
        let access = &self.nest().stages[at.0].inputs[at.1];
        let near = match self.shares(operand) {
            Some(units) if operand.body.is_empty() => {
                self.bring_shared(e, ranges, (operand, later), (known, units), state)?
            }
            _ if operand.body.is_empty() => {
                self.of.bring_near(e, ranges, (operand, if self.units.is_none() { later } else { &[] }), known)?
            }
            _ if self.nest().moved_maker(access).is_some() => {
                return self.make_for_window(e, ranges, (operand, later), known, state);
            }
            _ if access.slot.is_none() || in_panels(operand) => {
                let panels = self.of.panels_for(e, ranges, operand)?;
                state.panels.insert(at, panels.clone());
                self.nodes(e, ranges, &operand.body, &mut known.of_views(), state)?;
                if self.is_left_out(at, later) {
                    let Some(counts) = self.of.panel_counts(ranges, operand) else {
                        let message = format!("{REFUSED}: what a loop leaves out was packed in parts");
                        return Emit::unsupported(self.of.region.op, &message);
                    };
                    let finite = self.all_finite(e, &panels, &counts)?;
                    state.finite.insert(at, finite);
                }
                return Ok(());
            }
            Some(units) if is_made_of_tensors(self.nest(), operand) => {
                return self.make_shared(e, ranges, (operand, later), (known, units), state);
            }
            _ => return self.make_near(e, ranges, operand, known, state),
        };
        state.near.insert(at, near);
        Ok(())
    }

    /// A tile of an operand, which goes where it is packed, or stays known.
    pub(super) fn operand(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        operand: &Operand,
        known: &mut Known,
        state: &State,
    ) -> Built<()> {
        let at = (operand.stage.number, operand.input);
        let (stage, frame) = (&self.nest().stages[at.0], self.of.frame(e, ranges, &operand.tile));
        e.loc = stage.op.loc();
        let number = self.brought(e, &frame, operand, known)?;
        let packed = match operand.to {
            Bring::Pack => self.packs.as_ref(),
            _ => state.panels.get(&at),
        };
        if let Some(packed) = packed {
            self.pack(e, ranges, &frame, (number, packed));
        }
        Ok(())
    }

    /// An operand in memory of the group, made there.
    fn make_near(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        operand: &Operand,
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let slot = self.nest().stages[operand.stage.number].inputs[operand.input].slot;
        let slot = slot.expect("what has a body is made in the region");
        let units = self.shares(operand);
        let free = if units.is_some() { vec![] } else { self.free_memory(operand, slot, state) };
        let mut near = self.of.near_for(e, ranges, (operand, units), &free)?;
        near.nothing = self.nothing_beyond(slot, state);
        state.lent = (units.is_none() && self.places_last(&operand.body, slot)).then(|| near.clone());
        let outer = state.filled.insert(slot, near.clone());
        let mut inside = known.clone();
        self.inside(state, |state| self.nodes(e, ranges, &operand.body, &mut inside, state))?;
        known.learn_without_columns(inside);
        state.lent = None;
        state.own.push(slot);
        state.filled.remove(&slot);
        state.filled.extend(outer.map(|outer| (slot, outer)));
        state.near.extend(readers(self.nest(), slot).map(|at| (at, near.clone())));
        Ok(())
    }

    /// What is brought near inside a loop or a body is known there.
    pub(super) fn inside(&self, state: &mut State, nodes: impl FnOnce(&mut State) -> Built<()>) -> Built<()> {
        let outer = (state.near.clone(), state.panels.clone(), state.finite.clone());
        let here = (std::mem::take(&mut state.own), std::mem::take(&mut state.brought));
        nodes(state)?;
        (state.near, state.panels, state.finite) = outer;
        (state.own, state.brought) = here;
        Ok(())
    }

    /// Memory of values that nothing reads but what makes a value, or what that is made of: a row is made where another one was.
    fn free_memory(&self, operand: &Operand, slot: usize, state: &mut State) -> Vec<Near> {
        let lent = state.lent.take();
        let first = |slot: usize| readers(self.nest(), slot).find_map(|at| state.near.get(&at));
        let read: Vec<usize> = match in_one_pass(&operand.body) {
            true => self.read_in(self.behind_maker(&operand.body, slot)),
            false => return lent.into_iter().collect(),
        };
        let inside = self.read_in(&operand.body);
        let over = inside
            .iter()
            .filter(|slot| state.own.contains(slot) && !read.contains(slot) && !state.behind.contains(slot));
        lent.into_iter().chain(over.filter_map(|slot| first(*slot)).cloned()).collect()
    }

    /// The nodes behind the place of what makes a value.
    fn behind_maker<'n>(&self, body: &'n [Node], slot: usize) -> &'n [Node] {
        let makes = |node: &Node| match node {
            Node::Place(place) => self.stage(place).results.iter().any(|result| result.slot == Some(slot)),
            _ => false,
        };
        let at = body.iter().position(makes);
        at.map_or(body, |at| &body[at + 1..])
    }

    /// True for a body that places what makes a value at its end.
    fn places_last(&self, body: &[Node], slot: usize) -> bool {
        in_one_pass(body) && self.behind_maker(body, slot).is_empty()
    }

    /// The values of the region that nodes read, by number.
    pub(super) fn read_in(&self, nodes: &[Node]) -> Vec<usize> {
        let mut read = Vec::new();
        walk(nodes, &mut |node| {
            let inputs = match node {
                Node::Place(place) => &self.stage(place).inputs[..],
                Node::Operand(operand) => {
                    &self.nest().stages[operand.stage.number].inputs[operand.input..=operand.input]
                }
                _ => &[],
            };
            read.extend(inputs.iter().filter_map(|read| read.slot));
        });
        read
    }

    /// What a stage reads and lies near becomes known.
    pub(super) fn read_near(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (number, frame): (usize, &Frame),
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        for (i, read) in self.nest().stages[number].inputs.iter().enumerate() {
            if let Some(packed) = state.panels.get(&(number, i)).or_else(|| self.packed.get(&(number, i))) {
                let rows = frame.row.clone().filter(|row| self.nest().mentions(read, row.dim));
                let of_read = Frame { row: rows, ..frame.clone() };
                let tile = e.load_packed(packed, ranges, &of_read, (self.of.factor_elem((number, i)), None));
                known.learn_read(frame, read, tile);
                continue;
            }
            let Some(near) = state.near.get(&(number, i)) else { continue };
            if read.slot.is_some_and(|slot| known.made.contains_key(&slot)) {
                continue;
            }
            let (tile, nothing) = (self.of.load_near(e, frame, near)?, near.nothing);
            match read.slot {
                None => known.learn_read(frame, read, tile),
                Some(slot) => {
                    known.made.insert(slot, Number::Tile(tile));
                    self.read_ended(tile, nothing, state);
                }
            }
        }
        Ok(())
    }
}

/// True for a body without loops but those of what it keeps near.
fn in_one_pass(body: &[Node]) -> bool {
    body.iter().all(|node| matches!(node, Node::Place(_) | Node::Operand(_)))
}

/// The inputs that read one of the region's values where it is made.
pub(super) fn readers(nest: &Nest<'_>, slot: usize) -> impl Iterator<Item = (usize, usize)> {
    let made = nest.stages.iter().flat_map(|stage| &stage.results).find(|result| result.slot == Some(slot));
    let index = made.map(|made| &made.index);
    let reads = move |read: &Access| read.slot == Some(slot) && Some(&read.index) == index;
    nest.stages.iter().enumerate().flat_map(move |(s, stage)| {
        let inputs = stage.inputs.iter().enumerate();
        inputs.filter(move |(_, read)| reads(read)).map(move |(i, _)| (s, i))
    })
}
