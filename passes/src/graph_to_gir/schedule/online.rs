//! Extremes that are used before they are complete.
//!
//! `exp(x - m)` is relative to `m`: what was summed relative to one number becomes relative to another one when it is multiplied by
//! `exp(m - m')`, which is the same function of both numbers. So a loop can sum up what is relative to the largest number so far, and
//! rescale the sums when that changes. After the online softmax of Milakov and Gimelshein (arXiv 1805.02867); nothing here asks
//! for a softmax.

use std::collections::HashSet;

use sutura_dialects::gir::kinds::{BinaryKind, CompareKind};
use sutura_dialects::gir::ops::{BinaryOp, CompareOp};
use sutura_dialects::graph::Combiner;
use sutura_dialects::schedule::{Loop, Node};
use sutura_ir::{Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::scalars::identity;
use super::super::stages::Known;
use super::super::tiles::{Frame, Number, Shape, Tile, zero};
use super::describe::called;
use super::flow::Key;
use super::nodes::{Inside, State};
use crate::region::contract::check_product;
use crate::region::{Access, Nest, Stage};

/// What is relative to an extreme that a loop uses before it is complete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Online {
    /// The stage of the extreme.
    pub(super) extreme: usize,
    /// The stage that makes numbers relative to it.
    pub(super) relative: usize,
    /// Input of that stage which is the extreme.
    pub(super) origin: usize,
    /// The stages that sum these numbers up.
    pub(super) sums: Vec<usize>,
    /// What both the extreme and the numbers are made of, if that is one value of the region.
    pub(super) of: Option<usize>,
}

impl Online {
    /// What a loop has online.
    ///
    /// # Errors
    /// Says why what depends on the extreme is not relative to it.
    pub(super) fn of(nest: &Nest<'_>, l: &Loop) -> Result<Option<Self>, String> {
        let Some(named) = &l.online else { return Ok(None) };
        let extreme = named.number;
        let mut inside: Vec<usize> = Vec::new();
        l.walk(&mut |node| {
            if let Node::Place(place) = node {
                inside.push(place.stage.number);
            }
        });
        let name = |stage: usize| called(nest, nest.stages[stage].results[0].value);
        let stage = nest.stages.get(extreme).filter(|_| inside.contains(&extreme));
        let Some(stage) = stage.filter(|stage| is_extreme(nest, stage, l.dim.0)) else {
            return Err(format!(
                "the loop over {} has '{}' online, which is no largest or smallest number along it",
                l.dim, named.name
            ));
        };
        let slot = stage.results[0].slot;
        let users = |slot: Option<usize>| {
            let reads = move |s: &usize| nest.stages[*s].inputs.iter().any(|read| read.slot == slot);
            (0..nest.stages.len()).filter(reads)
        };
        let own: Vec<usize> = users(slot).filter(|s| inside.contains(s)).collect();
        let [relative] = own[..] else {
            return Err(format!("{} is online, and {} stages of the loop read it, not one", name(extreme), own.len()));
        };
        let Some(origin) = origin_of(nest, &nest.stages[relative], stage) else {
            return Err(format!("{} is online, and {} is not exp(x - m) of it", name(extreme), name(relative)));
        };
        let made = &nest.stages[relative].results[0];
        let sums: Vec<usize> = users(made.slot).collect();
        let summed = |s: &usize| inside.contains(s) && sums_up(nest, &nest.stages[*s], made, l.dim.0);
        if nest.outputs.contains(&made.value) || !sums.iter().all(summed) {
            return Err(format!(
                "{} is relative to what is online, and used otherwise than in sums of the loop",
                name(relative)
            ));
        }
        let of = common(nest, stage, &nest.stages[relative].inputs[1 - origin]);
        Ok(Some(Self { extreme, relative, origin, sums, of }))
    }
}

/// The value of the region of which a stage takes the extreme, if that is what a read is of.
fn common(nest: &Nest<'_>, extreme: &Stage<'_>, read: &Access) -> Option<usize> {
    let [own] = &extreme.inputs[..] else { return None };
    let same = own.slot == read.slot && own.index == read.index && own.oob.is_none() && read.oob.is_none();
    let identity = adds_nothing(extreme);
    own.slot.filter(|_| same && identity && nest.maker(own).is_some())
}

/// True where a stage combines what it reads as it is.
fn adds_nothing(stage: &Stage<'_>) -> bool {
    stage.body.is_none_or(|body| body.terminator().is_some_and(|end| end.operand(0) == body.args()[0]))
}

fn is_number(nest: &Nest<'_>, access: &Access) -> bool {
    [Type::F32, Type::F64].contains(&nest.cx.element_type(nest.body.ty(access.value)))
}

/// The largest or the smallest of what lies along a dim.
fn is_extreme(nest: &Nest<'_>, stage: &Stage<'_>, dim: usize) -> bool {
    let one_by_one = stage.joint.is_none() && stage.scan.is_none() && stage.scatter.is_none();
    let extreme = matches!(stage.combiners[..], [Combiner::Max] | [Combiner::Min]);
    one_by_one
        && extreme
        && stage.reduced == [dim]
        && is_number(nest, &stage.results[0])
        && !nest.outputs.contains(&stage.results[0].value)
}

/// The input of a stage that is the extreme, where it makes `exp(x - m)` of the largest or `exp(m - x)` of the smallest number.
fn origin_of(nest: &Nest<'_>, stage: &Stage<'_>, extreme: &Stage<'_>) -> Option<usize> {
    let body = stage.body.filter(|_| !stage.reduces() && stage.scan.is_none() && stage.results.len() == 1)?;
    let made = |value: Value| stage.op.body.defining_op(value).map(|op| stage.op.at(op));
    let power = made(body.terminator()?.operand(0)).filter(|op| ["math.exp", "math.exp2"].contains(&op.name_str()))?;
    let less = made(power.operand(0)).filter(|op| op.name_str() == "arith.subf")?;
    let args = [less.operand(0), less.operand(1)].map(|value| body.args().iter().position(|arg| *arg == value));
    let (x, origin) = match (args, &extreme.combiners[..]) {
        ([Some(x), Some(origin)], [Combiner::Max]) | ([Some(origin), Some(x)], [Combiner::Min]) => (x, origin),
        _ => return None,
    };
    let read = &stage.inputs[origin];
    let result = &extreme.results[0];
    let plain = read.slot == result.slot && read.oob.is_none() && read.index == result.index;
    let other = stage.inputs[x].slot.is_none() || stage.inputs[x].slot != result.slot;
    (stage.inputs.len() == 2
        && plain
        && other
        && is_number(nest, &stage.results[0])
        && is_number(nest, &stage.inputs[x]))
    .then_some(origin)
}

/// A stage adds up numbers, or their products with others.
fn sums_up(nest: &Nest<'_>, stage: &Stage<'_>, made: &Access, dim: usize) -> bool {
    let one_by_one = stage.joint.is_none() && stage.scan.is_none() && stage.scatter.is_none();
    let reads: Vec<&Access> = stage.inputs.iter().filter(|read| read.slot == made.slot).collect();
    let whole = matches!(reads[..], [read] if read.oob.is_none() && read.index == made.index);
    let linear = adds_nothing(stage) && stage.inputs.len() == 1 || check_product(nest, stage).is_ok();
    one_by_one
        && stage.combiners == [Combiner::Add]
        && stage.reduced == [dim]
        && whole
        && linear
        && is_number(nest, &stage.results[0])
}

/// What goes on in a loop that has an extreme online.
pub(super) struct Running {
    pub(super) online: Online,
    /// By what sums so far are multiplied, since the extreme was combined last.
    factor: Option<Tile>,
    /// Those that were.
    rescaled: HashSet<Key>,
    /// What the extreme was taken of, with nothing where there is none.
    masked: Option<Value>,
    /// The numbers are 0 where there are none.
    zeroes: bool,
}

impl Running {
    pub(super) fn new(online: Online) -> Self {
        Self { online, factor: None, rescaled: HashSet::new(), masked: None, zeroes: false }
    }
}

impl Inside<'_, '_> {
    /// Notes the extreme so far, and by what the sums so far are multiplied.
    pub(super) fn moved_origin(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (key, before, now): (Key, Tile, Tile),
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let Some(running) = state.online.as_mut().filter(|running| running.online.extreme == key.0) else {
            return Ok(());
        };
        let origin = self.origin(e, frame, key, now);
        running.factor = Some(self.power(e, frame, &running.online, (before, origin))?);
        running.rescaled.clear();
        let slot = self.nest().stages[key.0].results[key.1].slot;
        known.made.extend(slot.map(|slot| (slot, Number::Tile(origin))));
        Ok(())
    }

    /// What an extreme is taken of is that extreme's identity beyond the end of the dim from here on: so the numbers are 0 there, and
    /// their sums need not ask for the end.
    pub(super) fn masked(&self, stage: usize, tile: Tile, known: &mut Known, state: &mut State) {
        let Some(running) = state.online.as_mut().filter(|running| running.online.extreme == stage) else { return };
        if let Some(slot) = running.online.of {
            known.made.insert(slot, Number::Tile(tile));
            running.masked = Some(tile.value);
        }
    }

    /// What is kept near of which a loop takes an extreme is nothing beyond the end of the dim: the stage of that extreme.
    pub(super) fn nothing_beyond(&self, slot: usize, state: &State) -> Option<usize> {
        let online = &state.online.as_ref()?.online;
        (online.of == Some(slot)).then_some(online.extreme)
    }

    /// What is to lie near beyond the end of the dim along which a stage takes the extreme.
    pub(super) fn ended(&self, e: &mut Emit<'_>, frame: &Frame, extreme: usize, number: Number) -> Number {
        let (cx, stage) = (self.nest().cx, &self.nest().stages[extreme]);
        let Some(col) = frame.col.as_ref().filter(|col| stage.reduced.contains(&col.dim)) else { return number };
        if !self.reaches_beyond(frame) {
            return number;
        }
        let inside = e.in_range(frame, cx.affine_dim(col.dim as u32), &self.nest().extents[col.dim]);
        let elem = number.elem();
        e.where_all(frame, &[inside], number, Number::Constant(identity(cx, stage, 0), elem))
    }

    /// Notes a tile of what lies near that is nothing beyond the end of the dim.
    pub(super) fn read_ended(&self, tile: Tile, extreme: Option<usize>, state: &mut State) {
        if let Some(running) = state.online.as_mut().filter(|running| Some(running.online.extreme) == extreme) {
            running.masked = Some(tile.value);
        }
    }

    /// True for a tile that is nothing beyond the end of the dim.
    pub(super) fn is_masked(&self, stage: usize, tile: Tile, state: &State) -> bool {
        let running = state.online.as_ref().filter(|running| running.online.extreme == stage);
        running.is_some_and(|running| running.masked == Some(tile.value))
    }

    /// Notes whether the numbers that a stage makes are 0 beyond the end of the dim.
    pub(super) fn made_relative(&self, stage: usize, known: &Known, state: &mut State) {
        let Some(running) = state.online.as_mut().filter(|running| running.online.relative == stage) else { return };
        let read = running.online.of.and_then(|slot| known.tile(slot));
        running.zeroes = matches!(read, Some(Number::Tile(tile)) if Some(tile.value) == running.masked);
    }

    /// True for a sum of numbers that are 0 beyond the end of the dim.
    pub(super) fn is_of_zeroes(&self, stage: usize, state: &State) -> bool {
        state.online.as_ref().is_some_and(|running| running.zeroes && running.online.sums.contains(&stage))
    }

    /// True for the numbers that are relative to an extreme, where they are 0 beyond the end of the dim.
    pub(super) fn is_zero_beyond(&self, made: &Access, state: &State) -> bool {
        let relative = |online: &Online| self.nest().stages[online.relative].results[0].value == made.value;
        state.online.as_ref().is_some_and(|running| running.zeroes && relative(&running.online))
    }

    /// The extreme, or 0 where there has been nothing: a difference to that would be no number.
    fn origin(&self, e: &mut Emit<'_>, frame: &Frame, (s, r): Key, extreme: Tile) -> Tile {
        let (cx, stage) = (self.nest().cx, &self.nest().stages[s]);
        let nothing = e.fill(frame, identity(cx, stage, r), extreme.elem, extreme.shape);
        let none = CompareOp::value(&mut e.b, e.loc, CompareKind::Oeq, extreme.value, nothing.value);
        let none = Tile { value: none, elem: Type::I1, ..extreme };
        let zero = Number::Constant(zero(cx, extreme.elem), extreme.elem);
        let origin = e.where_all(frame, &[none], zero, Number::Tile(extreme));
        e.realise(frame, origin, extreme.shape, None)
    }

    /// What the relative stage makes of a number and an origin.
    fn power(&self, e: &mut Emit<'_>, frame: &Frame, online: &Online, (x, origin): (Tile, Tile)) -> Built<Tile> {
        let stage = &self.nest().stages[online.relative];
        let args = [0, 1].map(|input| Number::Tile(if input == online.origin { origin } else { x }));
        let made = e.scalars(frame, &self.of.region.facts, (self.nest(), stage), &args)?;
        Ok(e.realise(frame, made[0], x.shape, None))
    }

    /// What was summed so far, relative to the extreme so far.
    pub(super) fn rescaled(&self, e: &mut Emit<'_>, frame: &Frame, key: Key, sum: Tile, state: &mut State) -> Tile {
        let Some(running) = state.online.as_mut().filter(|running| running.online.sums.contains(&key.0)) else {
            return sum;
        };
        match running.factor {
            Some(factor) if running.rescaled.insert(key) => e.times(frame, sum, factor),
            _ => sum,
        }
    }

    /// True for a sum that is relative to an extreme of the loop that ends.
    pub(super) fn is_relative(&self, key: Key, state: &State) -> bool {
        state.ends.as_ref().is_some_and(|online| online.sums.contains(&key.0))
    }

    /// A sum of the loop that ends.
    pub(super) fn complete(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        key: Key,
        sum: Tile,
        (known, state): (&Known, &State),
    ) -> Built<Tile> {
        let Some(online) = state.ends.as_ref().filter(|online| online.sums.contains(&key.0)) else { return Ok(sum) };
        let (stage, at) = (&self.nest().stages[online.extreme], (online.relative, online.origin));
        let made = stage.results[0].slot.and_then(|slot| known.tile(slot));
        let extreme = match (made, state.near.get(&at)) {
            (Some(made), _) => e.realise(frame, made, Shape { rows: frame.row.is_some(), cols: false }, None),
            (None, Some(near)) => self.of.load_near(e, frame, near)?,
            (None, None) => {
                return Emit::unsupported(stage.op, "is online, and not known where a sum ends that is relative to it");
            }
        };
        self.completed(e, frame, (online, extreme), sum)
    }

    /// A sum that is complete, as it is without an origin: where the extreme is none, it is no number. A sum of nothing stays 0.
    fn completed(&self, e: &mut Emit<'_>, frame: &Frame, (online, extreme): (&Online, Tile), sum: Tile) -> Built<Tile> {
        let origin = self.origin(e, frame, (online.extreme, 0), extreme);
        let factor = self.power(e, frame, online, (origin, extreme))?;
        let extents = self.nest().stages[online.extreme].reduced.iter().map(|dim| &self.nest().extents[*dim]);
        let maybe_none: Vec<_> = extents.filter(|extent| self.of.region.facts.range(extent).0 < 1).collect();
        let first = self.nest().cx.affine_const(0);
        let some: Vec<Tile> = maybe_none.into_iter().map(|extent| e.in_range(frame, first, extent)).collect();
        let one = Number::Constant(self.nest().cx.float_attr(1.0, factor.elem), factor.elem);
        let wanted = e.where_all(frame, &some, Number::Tile(factor), one);
        let factor = e.realise(frame, wanted, factor.shape, None);
        Ok(e.times(frame, sum, factor))
    }
}

impl Emit<'_> {
    /// A tile with each row multiplied by a number of its own.
    fn times(&mut self, frame: &Frame, tile: Tile, factor: Tile) -> Tile {
        let factor = self.in_registers(frame, factor);
        let factor = self.realise(frame, Number::Tile(factor), tile.shape, Some(tile));
        let value = BinaryOp::value(&mut self.b, self.loc, BinaryKind::Mul, tile.value, factor.value);
        Tile { value, ..tile }
    }
}
