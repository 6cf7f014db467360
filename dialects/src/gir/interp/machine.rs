//! Runs compiled code: groups in any order, the units of a group in turns between syncs.
//!
//! A unit is a stack of blocks and the values of its slots, so it can stop at a sync and go on later, and nesting of
//! loops costs no Rust stack.

use std::collections::HashMap;
use std::rc::Rc;

use smallvec::SmallVec;
use sutura_interp::{DType, Fault, FaultKind, InterpError, Random};
use sutura_ir::{Context, OpRef};

use super::code::{CheckId, Code, Compiled, Extents, For, Route, Slot, SpaceId, What};
use super::copies::Flight;
use super::counters::{Counters, Traffic};
use super::memory::{Actor, Along, Memory, Slice, View};
use super::tile::{Rect, Span, Tile, Window};
use crate::target::constraints::Owner;

/// What a slot holds.
#[derive(Clone, Debug)]
pub(super) enum Val {
    Index(i64),
    View(Rc<View>),
    Slice(Rc<Slice>),
    Tile(Rc<Tile>),
}

/// What the target says of a space.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpaceLimit {
    pub(super) bytes: u64,
    pub(super) owner: Owner,
}

/// A block being run.
struct Active {
    block: usize,
    pc: usize,
    /// Index and end of the loop whose body it is.
    index: i64,
    end: i64,
}

/// One unit of the group.
pub(super) struct Unit {
    env: Vec<Option<Val>>,
    stack: Vec<Active>,
    /// Bytes that live values take, by space.
    live: Vec<u64>,
    /// What it copies asynchronously.
    pub(super) flight: Flight,
    state: State,
}

#[derive(Clone, PartialEq, Debug)]
enum State {
    Ready,
    /// At the current instruction, which all units do together.
    Waiting,
    Done,
}

/// What is asked of a launch.
pub(super) struct Launch<'l, 'a> {
    pub(super) cx: &'a Context,
    pub(super) code: &'l Compiled<'a>,
    /// Values of the kernel's views and dims.
    pub(super) args: Vec<Val>,
    /// Number of groups along each dimension of the grid.
    pub(super) grid: Vec<i64>,
    pub(super) units: usize,
    /// By space, where the target says.
    pub(super) limits: Vec<Option<SpaceLimit>>,
    pub(super) seed: u64,
    /// What messages call what is checked, by check; as the kernel calls it where there is none.
    pub(super) check_names: &'l [String],
    /// Instructions that may still be run.
    pub(super) budget: u64,
}

pub(super) struct Machine<'l, 'a, 'm> {
    launch: Launch<'l, 'a>,
    pub(super) memory: Memory<'m>,
    pub(super) units: Vec<Unit>,
    /// Allocations that the group shares, by slot.
    shared: HashMap<Slot, Val>,
    group: u32,
    epoch: u32,
    /// Bytes that the whole group holds, by space.
    group_live: Vec<u64>,
    pub(super) traffic: Vec<Traffic>,
    pub(super) counters: Counters,
    /// What is wrong with the data, as the launch reports it.
    wrong: Option<Wrong>,
    /// Instructions run.
    pub(super) steps: u64,
}

/// Most groups of one launch.
pub(super) const MAX_GROUPS: i64 = 1 << 28;

impl<'l, 'a, 'm> Machine<'l, 'a, 'm> {
    pub(super) fn new(launch: Launch<'l, 'a>, memory: Memory<'m>) -> Self {
        let spaces = launch.code.spaces.len();
        let slots = launch.code.costs.len();
        let unit = |_| Unit {
            env: vec![None; slots],
            stack: Vec::new(),
            live: vec![0; spaces],
            flight: Flight::default(),
            state: State::Done,
        };
        Self {
            units: (0..launch.units).map(unit).collect(),
            memory,
            shared: HashMap::new(),
            group: 0,
            epoch: 0,
            group_live: vec![0; spaces],
            traffic: vec![Traffic::default(); spaces],
            counters: Counters { launches: 1, ..Counters::default() },
            wrong: None,
            steps: 0,
            launch,
        }
    }

    /// Runs all groups, in an order that the seed says.
    pub(super) fn run(&mut self) -> Result<(), InterpError> {
        let count = self.launch.grid.iter().try_fold(1i64, |n, e| n.checked_mul((*e).max(0)));
        let count = count.filter(|n| *n <= MAX_GROUPS).ok_or_else(|| {
            Fault::new(FaultKind::Limit, format!("a grid of {:?} has too many groups to interpret", self.launch.grid))
        })?;
        let mut random = Random::new(self.launch.seed);
        let mut order: Vec<u32> = (0..count as u32).collect();
        shuffle(&mut order, &mut random);
        for group in order {
            self.run_group(group, &mut random)?;
            self.counters.groups += 1;
        }
        if let Some(wrong) = &self.wrong {
            let own = &self.launch.code.checks[wrong.check].what;
            return Err(wrong.fault(self.launch.check_names.get(wrong.check).unwrap_or(own)).into());
        }
        let names = self.launch.code.spaces.iter().cloned();
        self.counters.spaces = names.zip(self.traffic.iter().copied()).collect();
        Ok(())
    }

    fn run_group(&mut self, group: u32, random: &mut Random) -> Result<(), InterpError> {
        (self.group, self.epoch) = (group, 0);
        self.shared.clear();
        self.group_live.fill(0);
        let indices = delinearise(group.into(), &self.launch.grid);
        for u in 0..self.units.len() {
            self.start_unit(u, &indices);
        }
        let mut order: Vec<u32> = (0..self.units.len() as u32).collect();
        loop {
            shuffle(&mut order, random);
            for &u in &order {
                if self.units[u as usize].state == State::Ready {
                    self.run_unit(u as usize)?;
                }
            }
            if self.units.iter().all(|u| u.state == State::Done) {
                break;
            }
            self.meet()?;
        }
        self.memory.end_group();
        Ok(())
    }

    fn start_unit(&mut self, u: usize, indices: &[i64]) {
        let unit = &mut self.units[u];
        unit.env.fill(None);
        unit.live.fill(0);
        unit.state = State::Ready;
        unit.stack = vec![Active { block: 0, pc: 0, index: 0, end: 1 }];
        let launch = &self.launch;
        let index = indices.iter().map(|i| Val::Index(*i));
        let own = (launch.units > 1).then_some(Val::Index(u as i64));
        for (slot, value) in launch.code.args.iter().zip(launch.args.iter().cloned().chain(index).chain(own)) {
            unit.env[*slot] = Some(value);
        }
    }

    /// Runs a unit until it ends or has to wait.
    fn run_unit(&mut self, u: usize) -> Result<(), InterpError> {
        let blocks: &'l [Code<'a>] = &self.launch.code.blocks;
        while self.units[u].state == State::Ready {
            let Some(active) = self.units[u].stack.last() else {
                self.units[u].state = State::Done;
                break;
            };
            let Some(inst) = blocks[active.block].insts.get(active.pc) else {
                // The end of the kernel's body: loops end with a yield.
                self.units[u].flight.check_landed()?;
                self.units[u].stack.clear();
                continue;
            };
            self.count_step()?;
            let next = self.step(u, &inst.what).map_err(|fault| self.place(inst.at, u, fault))?;
            match next {
                Next::Wait => self.units[u].state = State::Waiting,
                Next::Enter => {}
                Next::On => self.advance(u, &inst.frees),
                Next::Value(out, value) => {
                    // An operand that dies here makes place for the result. A result without use dies too.
                    self.advance(u, &inst.frees);
                    if !inst.frees.contains(&out) {
                        self.set(u, out, value).map_err(|fault| self.place(inst.at, u, fault))?;
                    }
                }
                Next::Yield(values) => {
                    self.free(u, &inst.frees);
                    self.end_trip(u, values).map_err(|fault| self.place(inst.at, u, fault))?;
                }
            }
        }
        Ok(())
    }

    fn count_step(&mut self) -> Result<(), Fault> {
        self.steps += 1;
        if self.steps > self.launch.budget {
            return Err(Fault::new(FaultKind::Limit, "the limit of steps was passed"));
        }
        Ok(())
    }

    /// Says in which group and unit a fault happened.
    fn place(&self, at: OpRef<'a>, u: usize, fault: Fault) -> InterpError {
        let group = delinearise(self.group.into(), &self.launch.grid);
        let unit = if self.units.len() > 1 { format!(", unit {u}") } else { String::new() };
        let message =
            if group.is_empty() { fault.message } else { format!("{} (group {group:?}{unit})", fault.message) };
        InterpError::at(at, Fault::new(fault.kind, message))
    }

    /// Frees what died and goes on.
    fn advance(&mut self, u: usize, frees: &[Slot]) {
        self.free(u, frees);
        if let Some(active) = self.units[u].stack.last_mut() {
            active.pc += 1;
        }
    }

    // ---- values

    fn free(&mut self, u: usize, slots: &[Slot]) {
        for &slot in slots {
            if self.units[u].env[slot].take().is_some() {
                let cost = self.launch.code.costs[slot];
                self.units[u].live[cost.space] -= cost.bytes.min(self.units[u].live[cost.space]);
                self.group_live[cost.space] -= cost.bytes.min(self.group_live[cost.space]);
            }
        }
    }

    fn set(&mut self, u: usize, slot: Slot, value: Val) -> Result<(), Fault> {
        let cost = self.launch.code.costs[slot];
        self.units[u].env[slot] = Some(value);
        if cost.bytes > 0 {
            self.units[u].live[cost.space] += cost.bytes;
            self.group_live[cost.space] += cost.bytes;
            self.check_space(u, cost.space)?;
        }
        Ok(())
    }

    /// Fails when a space holds more than it can.
    fn check_space(&mut self, u: usize, space: SpaceId) -> Result<(), Fault> {
        let limit = self.launch.limits[space];
        let of_unit = limit.is_none_or(|l| l.owner == Owner::Unit);
        let live = if of_unit { self.units[u].live[space] } else { self.group_live[space] };
        let peak = &mut self.traffic[space].peak;
        *peak = live.max(*peak);
        match limit {
            Some(limit) if live > limit.bytes => {
                let name = &self.launch.code.spaces[space];
                let message = format!("holds {live} bytes in space '{name}', which has {}", limit.bytes);
                Err(Fault::new(FaultKind::Limit, message))
            }
            _ => Ok(()),
        }
    }

    fn get(&self, u: usize, slot: Slot) -> Result<&Val, Fault> {
        self.units[u].env[slot].as_ref().ok_or_else(|| Fault::invalid_ir("uses a value that was not computed"))
    }

    fn index(&self, u: usize, slot: Slot) -> Result<i64, Fault> {
        match self.get(u, slot)? {
            Val::Index(value) => Ok(*value),
            _ => Err(Fault::type_mismatch("expects an index")),
        }
    }

    fn tile(&self, u: usize, slot: Slot) -> Result<Rc<Tile>, Fault> {
        match self.get(u, slot)? {
            Val::Tile(tile) => Ok(tile.clone()),
            _ => Err(Fault::type_mismatch("expects a tile")),
        }
    }

    fn view(&self, u: usize, slot: Slot) -> Result<Rc<View>, Fault> {
        match self.get(u, slot)? {
            Val::View(view) => Ok(view.clone()),
            _ => Err(Fault::type_mismatch("expects a view")),
        }
    }

    pub(super) fn slice(&self, u: usize, slot: Slot) -> Result<Rc<Slice>, Fault> {
        match self.get(u, slot)? {
            Val::Slice(slice) => Ok(slice.clone()),
            _ => Err(Fault::type_mismatch("expects a slice")),
        }
    }

    // ---- instructions

    fn step(&mut self, u: usize, what: &'l What) -> Result<Next, Fault> {
        let (value, out) = match what {
            What::For(f) => return self.enter(u, f),
            What::Yield { args } => {
                let values: Result<_, Fault> = args.iter().map(|a| self.get(u, *a).cloned()).collect();
                return Ok(Next::Yield(values?));
            }
            What::Sync => return Ok(Next::Wait),
            What::Reduce { group: Some(_), .. } if self.units.len() > 1 => return Ok(Next::Wait),
            What::Store { tile, slice, route } => {
                let (tile, slice) = (self.tile(u, *tile)?, self.slice(u, *slice)?);
                let count = self.memory.store(&tile, &slice, self.actor(u))?;
                self.moved(route, count);
                return Ok(Next::On);
            }
            What::AsyncCopy { .. } | What::AsyncCommit | What::AsyncWait { .. } => {
                self.copies(u, what)?;
                return Ok(Next::On);
            }
            What::Constant { value, out } => (Val::Index(*value), *out),
            What::Index { exprs, dims, args, out } => {
                let args: SmallVec<[i64; 4]> = args.iter().map(|a| self.index(u, *a)).collect::<Result<_, _>>()?;
                let (dims, symbols) = args.split_at((*dims).min(args.len()));
                let values = exprs.iter().map(|expr| self.launch.cx.affine_eval(*expr, dims, symbols));
                let values: Option<SmallVec<[i64; 2]>> = values.collect();
                let values = values.ok_or_else(|| Fault::new(FaultKind::Overflow, "the index overflows"))?;
                let least = values.into_iter().min().ok_or_else(|| Fault::invalid_ir("has a map without result"))?;
                (Val::Index(least), *out)
            }
            What::Slice(s) => {
                let offsets: SmallVec<[i64; 4]> =
                    s.offsets.iter().map(|o| self.index(u, *o)).collect::<Result<_, _>>()?;
                let view = self.view(u, s.view)?;
                let slice = view.slice(&offsets, (s.row, s.extents.rows), (s.col, s.extents.cols), &s.clips)?;
                (Val::Slice(Rc::new(slice)), s.out)
            }
            What::Pick { .. } => return self.pick(u, what),
            What::Alloc { out, .. } => (self.alloc(u, what)?, *out),
            What::Identity { view, dims, out } => (self.identity(u, *view, dims)?, *out),
            other => {
                let (tile, out) = self.tile_of(u, other)?;
                (Val::Tile(Rc::new(tile)), out)
            }
        };
        Ok(Next::Value(out, value))
    }

    /// The tile that an instruction computes.
    fn tile_of(&mut self, u: usize, what: &What) -> Result<(Tile, Slot), Fault> {
        Ok(match what {
            What::Load { slice, pad, route, out } => {
                let slice = self.slice(u, *slice)?;
                let tile = self.memory.load(&slice, self.actor(u))?;
                self.moved(route, tile.window.rect.area());
                match pad {
                    Some(value) => (tile.padded(*value)?, *out),
                    None => (tile, *out),
                }
            }
            What::Move { tile, route, out } => {
                let tile = self.tile(u, *tile)?;
                self.moved(route, tile.window.rect.area());
                (Tile::clone(&tile), *out)
            }
            What::GatherRows { view, indices, offset, extents, route, out } => {
                let tile = self.gather_rows(u, (*view, *indices, *offset), *extents)?;
                self.moved(route, tile.window.rect.area());
                (tile, *out)
            }
            What::Fill { value, extents, out } => (Tile::fill(*value, extents.rows, extents.cols)?, *out),
            What::Iota { axis, base, dtype, extents, out } => {
                let base = self.index(u, *base)?;
                (Tile::iota(*dtype, *axis, base, extents.rows, extents.cols)?, *out)
            }
            What::Map { kernel, args, flops, out } => {
                let tiles: SmallVec<[Rc<Tile>; 3]> = args.iter().map(|a| self.tile(u, *a)).collect::<Result<_, _>>()?;
                let operands: SmallVec<[&Tile; 3]> = tiles.iter().map(|t| &**t).collect();
                let tile = Tile::map(kernel, &operands)?;
                self.counters.flops += flops * tile.defined.area() as u64;
                (tile, *out)
            }
            What::Reduce { combine, axis, operand, out, .. } => {
                let tile = self.tile(u, *operand)?;
                self.count_combined(&tile);
                (combine.reduce(*axis, &tile)?, *out)
            }
            What::Scan { combine, run, operand, out } => {
                let tile = self.tile(u, *operand)?;
                self.count_combined(&tile);
                (combine.scan(*run, &tile)?, *out)
            }
            What::Broadcast { operand, like, out } => {
                (self.tile(u, *operand)?.broadcast(&*self.tile(u, *like)?)?, *out)
            }
            What::Transpose { operand, out } => (self.tile(u, *operand)?.transpose()?, *out),
            What::Contract { lhs, rhs, acc, unsigned, interleave, out } => {
                let (lhs, rhs) = (self.tile(u, *lhs)?, self.tile(u, *rhs)?);
                let apart = if *interleave > 1 { Some(rhs.apart(*interleave)?) } else { None };
                let rhs = apart.as_ref().unwrap_or(&*rhs);
                if lhs.dtype.is_float() {
                    self.counters.flops += 2 * lhs.products(rhs);
                }
                (lhs.contract(rhs, &*self.tile(u, *acc)?, *unsigned)?, *out)
            }
            What::Divisor { .. } => return self.divisor(u, what),
            What::Copy { from, out } => (Tile::clone(&*self.tile(u, *from)?), *out),
            _ => return Err(Fault::invalid_ir("computes no tile")),
        })
    }

    pub(super) fn actor(&self, u: usize) -> Actor {
        Actor { group: self.group, unit: u as u32, epoch: self.epoch }
    }

    fn moved(&mut self, route: &Route, elements: usize) {
        let bytes = elements as u64 * route.bytes;
        self.traffic[route.from].read += bytes;
        self.traffic[route.to].written += bytes;
    }

    fn count_combined(&mut self, tile: &Tile) {
        if tile.dtype.is_float() {
            self.counters.flops += tile.window.rect.area() as u64;
        }
    }

    fn alloc(&mut self, u: usize, what: &What) -> Result<Val, Fault> {
        let What::Alloc { dims, dtype, space, group, out } = what else {
            return Err(Fault::invalid_ir("allocates nothing"));
        };
        if let Some(value) = self.shared.get(out) {
            return Ok(value.clone());
        }
        let view = View { cell: 0, dims: dims.clone(), strides: View::row_major(dims) };
        let len = view.reach().filter(|n| *n <= 1 << 30);
        let len = len.ok_or_else(|| Fault::new(FaultKind::Limit, format!("an allocation of {dims:?} is too large")))?;
        let shared = *group && self.units.len() > 1;
        let cell = self.memory.alloc("the allocation".to_owned(), *dtype, len, shared);
        let value = Val::View(Rc::new(View { cell, ..view }));
        if *group {
            self.shared.insert(*out, value.clone());
        }
        // Held until the group ends.
        let bytes = (len * dtype.bytes()) as u64;
        self.units[u].live[*space] += bytes;
        self.group_live[*space] += bytes;
        self.check_space(u, *space)?;
        Ok(value)
    }

    fn identity(&self, u: usize, view: Slot, dims: &SmallVec<[i64; 4]>) -> Result<Val, Fault> {
        Ok(Val::View(Rc::new(self.view(u, view)?.reshaped(dims)?)))
    }

    fn gather_rows(&mut self, u: usize, slots: (Slot, Slot, Slot), extents: Extents) -> Result<Tile, Fault> {
        let (view, indices, offset) = (self.view(u, slots.0)?, self.tile(u, slots.1)?, self.index(u, slots.2)?);
        indices.need_defined("reads rows at")?;
        let cols = Some(Along { dim: 1, step: 1 });
        let (mut tile, mut span) = (None::<Tile>, Span { lo: 0, hi: 0 });
        for r in indices.window.rect.rows.range() {
            let index = sutura_interp::Scalar::from_bits(indices.dtype, indices.lanes.bits(r));
            let index = index.as_i64().ok_or_else(|| Fault::type_mismatch("indices are integers"))?;
            let slice = view.slice(&[index, offset], (None, 1), (cols, extents.cols), &[])?;
            let row = self.memory.load(&slice, self.actor(u))?;
            span = row.window.rect.cols;
            let tile = match &mut tile {
                Some(tile) => tile,
                None => tile.insert(gathered(row.dtype, extents, &indices, span)?),
            };
            tile.lanes.gather(r * extents.cols + span.lo, &row.lanes, span.lo, 1, span.len());
        }
        match tile {
            Some(tile) => Ok(tile),
            None => {
                let row = (Some(Along { dim: 0, step: 1 }), 1);
                let none = view.slice(&[0, offset], row, (cols, extents.cols), &[])?;
                let dtype = self.memory.dtype(&none);
                gathered(dtype, extents, &indices, span)
            }
        }
    }

    /// An index; one that is none is noted, and 0 goes on.
    fn pick(&mut self, u: usize, what: &What) -> Result<Next, Fault> {
        let What::Pick { tile, size, position, check, out } = what else {
            return Err(Fault::invalid_ir("picks nothing"));
        };
        let (tile, size, position) = (self.tile(u, *tile)?, self.index(u, *size)?, self.index(u, *position)?);
        tile.need_defined("picks")?;
        let given = sutura_interp::Scalar::from_bits(tile.dtype, tile.lanes.bits(0));
        let given = given.as_i64().ok_or_else(|| Fault::type_mismatch("indices are integers"))?;
        let index = if given < 0 { given.saturating_add(size) } else { given };
        let index = if (0..size).contains(&index) {
            index
        } else {
            self.note(Wrong { check: *check, position: Some(position), problem: Problem::Index { given, size } });
            0
        };
        Ok(Next::Value(*out, Val::Index(index)))
    }

    /// A tile to divide by; zeros are noted, and 1 goes on for them.
    fn divisor(&mut self, u: usize, what: &What) -> Result<(Tile, Slot), Fault> {
        let What::Divisor { operand, position, check, out } = what else {
            return Err(Fault::invalid_ir("divides by nothing"));
        };
        let place = match position {
            Some([base, row, col]) => Some([self.index(u, *base)?, self.index(u, *row)?, self.index(u, *col)?]),
            None => None,
        };
        let mut tile = Tile::clone(&*self.tile(u, *operand)?);
        tile.need_defined("divides by")?;
        let one = sutura_interp::Scalar::int(1, tile.dtype).bits();
        let rect = tile.window.rect;
        for r in rect.rows.range() {
            for c in rect.cols.range() {
                let at = r * tile.cols + c;
                if tile.lanes.bits(at) == 0 {
                    tile.lanes.set_bits(at, one);
                    let position = place.map(|[base, row, col]| base + r as i64 * row + c as i64 * col);
                    self.note(Wrong { check: *check, position, problem: Problem::Division });
                }
            }
        }
        Ok((tile, *out))
    }

    fn note(&mut self, wrong: Wrong) {
        if self.wrong.as_ref().is_none_or(|known| wrong < *known) {
            self.wrong = Some(wrong);
        }
    }

    // ---- control

    fn enter(&mut self, u: usize, f: &'l For) -> Result<Next, Fault> {
        let (lo, hi) = (self.index(u, f.lo)?, self.index(u, f.hi)?);
        let values: Vec<Val> = f.inits.iter().map(|s| self.get(u, *s).cloned()).collect::<Result<_, _>>()?;
        if lo >= hi {
            f.results.iter().zip(values).try_for_each(|(slot, value)| self.set(u, *slot, value))?;
            return Ok(Next::On);
        }
        self.units[u].stack.push(Active { block: f.body, pc: 0, index: lo, end: hi });
        self.start_trip(u, f, lo, values)?;
        Ok(Next::Enter)
    }

    fn start_trip(&mut self, u: usize, f: &'l For, index: i64, values: Vec<Val>) -> Result<(), Fault> {
        self.set(u, f.index, Val::Index(index))?;
        f.args.iter().zip(values).try_for_each(|(slot, value)| self.set(u, *slot, value))?;
        let unused: &'l [Slot] = &self.launch.code.blocks[f.body].unused;
        self.free(u, unused);
        Ok(())
    }

    /// Ends a trip: the next one, or what comes after the loop.
    fn end_trip(&mut self, u: usize, values: Vec<Val>) -> Result<(), Fault> {
        let blocks: &'l [Code<'a>] = &self.launch.code.blocks;
        let stack = &mut self.units[u].stack;
        let Some(active) = stack.last_mut() else { return Ok(()) };
        active.index += 1;
        active.pc = 0;
        let (index, more) = (active.index, active.index < active.end);
        let outer = stack.len().checked_sub(2).map(|i| &blocks[stack[i].block].insts[stack[i].pc]);
        let (Some(outer), Some(What::For(f))) = (outer, outer.map(|o| &o.what)) else {
            return Err(Fault::invalid_ir("yields outside a loop"));
        };
        if more {
            return self.start_trip(u, f, index, values);
        }
        stack.pop();
        f.results.iter().zip(values).try_for_each(|(slot, value)| self.set(u, *slot, value))?;
        self.advance(u, &outer.frees);
        Ok(())
    }

    /// All units have stopped: those that wait do so at one operation, and do it together.
    fn meet(&mut self) -> Result<(), InterpError> {
        let blocks: &'l [Code<'a>] = &self.launch.code.blocks;
        let place = |unit: &Unit| unit.stack.last().filter(|_| unit.state == State::Waiting).map(|a| (a.block, a.pc));
        let places: Vec<Option<(usize, usize)>> = self.units.iter().map(place).collect();
        let Some((u, (block, pc))) = places.iter().enumerate().find_map(|(u, p)| p.map(|p| (u, p))) else {
            return Ok(());
        };
        let inst = &blocks[block].insts[pc];
        if let Some(other) = places.iter().position(|p| *p != Some((block, pc))) {
            let message =
                format!("is reached by unit {u} but not by unit {other}: every unit of a group must take part");
            return Err(self.place(inst.at, u, Fault::new(FaultKind::Assertion, message)));
        }
        self.together(&inst.what).map_err(|fault| self.place(inst.at, u, fault))?;
        for u in 0..self.units.len() {
            self.units[u].state = State::Ready;
            self.advance(u, &inst.frees);
        }
        Ok(())
    }

    /// What the units do together.
    fn together(&mut self, what: &What) -> Result<(), Fault> {
        self.epoch += 1;
        let What::Reduce { combine, axis, group: Some(kernel), operand, out } = what else { return Ok(()) };
        let mut sum: Option<Tile> = None;
        for u in 0..self.units.len() {
            let tile = self.tile(u, *operand)?;
            self.count_combined(&tile);
            let part = combine.reduce(*axis, &tile)?;
            sum = Some(match sum {
                None => part,
                Some(sum) => Tile::map(kernel, &[&sum, &part])?,
            });
        }
        if let Some(sum) = sum {
            let value = Val::Tile(Rc::new(sum));
            (0..self.units.len()).try_for_each(|u| self.set(u, *out, value.clone()))?;
        }
        Ok(())
    }
}

/// Where a unit goes after an instruction.
enum Next {
    /// To the next one.
    On,
    /// To the next one, after setting a value.
    Value(Slot, Val),
    /// Into a loop's body.
    Enter,
    /// To the end of a loop's body, with what it carries on.
    Yield(Vec<Val>),
    /// Nowhere until the others are here too.
    Wait,
}

/// Something that is wrong with the data. The order is that in which launches report: by the check, then the position.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Wrong {
    check: CheckId,
    position: Option<i64>,
    problem: Problem,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Problem {
    Index { given: i64, size: i64 },
    Division,
}

impl Wrong {
    fn fault(&self, what: &str) -> Fault {
        match self.problem {
            Problem::Index { given, size } => {
                let position = self.position.unwrap_or_default();
                Fault::new(FaultKind::OutOfBounds, crate::show::wrong_index(what, position, given, size))
            }
            Problem::Division => {
                Fault::new(FaultKind::DivisionByZero, crate::show::division_by_zero(what, self.position))
            }
        }
    }
}

/// An empty tile for gathered rows.
fn gathered(dtype: DType, extents: Extents, indices: &Tile, cols: Span) -> Result<Tile, Fault> {
    let window = Window::of(Rect { rows: indices.window.rect.rows, cols });
    Tile::new(dtype, extents.rows, extents.cols, window)
}

fn shuffle(order: &mut [u32], random: &mut Random) {
    for i in (1..order.len()).rev() {
        order.swap(i, random.range(0, i as i64) as usize);
    }
}

/// Indices along the grid of a linear group.
pub(super) fn delinearise(mut group: i64, grid: &[i64]) -> SmallVec<[i64; 4]> {
    let mut indices: SmallVec<[i64; 4]> = grid.iter().map(|_| 0).collect();
    for (index, extent) in indices.iter_mut().zip(grid).rev() {
        *index = group % (*extent).max(1);
        group /= (*extent).max(1);
    }
    indices
}
