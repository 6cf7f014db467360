//! Rule 3: what lives at once fits its space, at the largest sizes that the header admits. Caches evict and registers that
//! the program does not manage are spilled, so they bound nothing: `docs/rationale/spaces.md`.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use sutura_ir::{BlockRef, OpRef, Value};

use super::Prover;
use crate::gir::constraints::Scope;
use crate::gir::ops::*;
use crate::gir::types::{Space, TileType, ViewType};
use crate::target::constraints::Owner;
use crate::target::ops::SpaceOp;

/// Bytes by space.
type Bytes = IndexMap<Space, u128>;

fn add(to: &mut Bytes, space: &Space, bytes: u128) {
    *to.entry(space.clone()).or_default() += bytes;
}

fn sub(from: &mut Bytes, space: &Space, bytes: u128) {
    let entry = from.entry(space.clone()).or_default();
    *entry = entry.saturating_sub(bytes);
}

/// The most that was held, and where.
type Peaks<'a> = IndexMap<Space, (u128, OpRef<'a>)>;

struct Spaces<'p, 'a> {
    prover: &'p Prover<'a>,
    live: Bytes,
    peaks: Peaks<'a>,
}

impl<'a> Prover<'a> {
    /// Without a target nothing is known of spaces, and nothing is checked.
    pub(super) fn check_spaces(&mut self, entry: BlockRef<'a>) {
        let Some(machine) = self.machine else { return };
        let declared: HashMap<&str, SpaceOp<'_>> = machine
            .region(0)
            .and_then(|r| r.entry())
            .into_iter()
            .flat_map(|e| e.ops())
            .filter_map(|o| Some((o.symbol_name()?, o.as_::<SpaceOp<'_>>()?)))
            .collect();
        let machine = machine.symbol_name().unwrap_or("?");
        let mut errors = Vec::new();
        for (_, view, _) in &self.info.views {
            let dram = declared.get(&*view.space).is_some_and(|s| s.class() == crate::target::constraints::Class::Dram);
            if !dram {
                let message = format!("takes a view in '{}', which is no main memory of @{machine}", view.space);
                errors.push((self.info.op, message));
            }
        }
        let mut spaces = Spaces { prover: self, live: Bytes::new(), peaks: Peaks::new() };
        spaces.block(entry);
        for (space, (bytes, op)) in &spaces.peaks {
            let Some(found) = declared.get(&**space) else {
                errors.push((*op, format!("uses space '{space}', which the target @{machine} does not have")));
                continue;
            };
            let units = if found.owner() == Owner::Unit { 1 } else { self.info.units.max(1) as u128 };
            let needed = bytes.saturating_mul(units);
            if let Some(limit) = found.limit().filter(|limit| needed > u128::from(*limit)) {
                let message = format!(
                    "holds up to {needed} bytes in space '{space}' of @{machine}, which has {limit}; a condition in \
                     'requires' bounds sizes"
                );
                errors.push((*op, message));
            }
        }
        errors.into_iter().for_each(|(op, message)| self.report(op, message));
    }
}

impl<'a> Spaces<'_, 'a> {
    /// Largest size of a value in its space; `None` for one that takes no place.
    fn cost(&self, op: OpRef<'a>, value: Value) -> Option<(Space, u128)> {
        let tile = op.cx.type_as::<TileType>(op.ty(value))?;
        let made_anew = op
            .body
            .defining_op(value)
            .map(|o| op.at(o))
            .is_some_and(|o| o.is::<FillOp<'_>>() || o.is::<IotaOp<'_>>() || o.is::<BroadcastOp<'_>>());
        let elements = if made_anew { 0 } else { self.most(&tile.rows.mul(&tile.cols)) };
        Some((tile.space.clone(), elements.saturating_mul(element_bytes(op, tile.elem))))
    }

    fn most(&self, size: &crate::r#dyn::poly::Poly) -> u128 {
        self.prover.bounds.facts.range(size).1.max(0) as u128
    }

    fn hold(&mut self, op: OpRef<'a>, value: Value) {
        if let Some((space, bytes)) = self.cost(op, value) {
            add(&mut self.live, &space, bytes);
            self.note(op, &space);
        }
    }

    fn release(&mut self, op: OpRef<'a>, value: Value) {
        if let Some((space, bytes)) = self.cost(op, value) {
            sub(&mut self.live, &space, bytes);
        }
    }

    fn note(&mut self, op: OpRef<'a>, space: &Space) {
        let live = self.live.get(space).copied().unwrap_or(0);
        let peak = self.peaks.entry(space.clone()).or_insert((live, op));
        if live > peak.0 {
            *peak = (live, op);
        }
    }

    fn block(&mut self, block: BlockRef<'a>) {
        let deaths = deaths(block);
        let unused = |v: &&Value| block.body.uses(**v).next().is_none();
        for arg in block.args().iter().skip(usize::from(block.body.block_parent(block.block).is_some())) {
            if let Some(first) = block.ops().next() {
                self.hold(first, *arg);
            }
        }
        for arg in block.args().iter().filter(unused) {
            if let Some(first) = block.ops().next() {
                self.release(first, *arg);
            }
        }
        for op in block.ops() {
            if let Some(this) = op.as_::<ForOp<'_>>()
                && let Some(entry) = this.body().entry()
            {
                // What the loop takes over is held by its arguments.
                self.block(entry);
            }
            let dying = deaths.get(&op.op).map_or(&[][..], Vec::as_slice);
            // An operand that dies makes place for the result.
            dying.iter().filter(|v| !op.results().any(|r| r == **v)).for_each(|v| self.release(op, *v));
            for result in op.results().filter(|r| op.body.uses(*r).next().is_some()) {
                self.hold(op, result);
            }
            if let Some(this) = op.as_::<AllocOp<'_>>() {
                self.alloc(op, this);
            }
        }
    }

    fn alloc(&mut self, op: OpRef<'a>, this: AllocOp<'a>) {
        let Some(view) = op.cx.type_as::<ViewType>(op.ty(this.view())) else { return };
        let bytes = self.most(&view.elements()).saturating_mul(element_bytes(op, view.elem));
        // A group's allocation counts once where a group's space is counted per unit.
        let units = self.prover.info.units.max(1) as u128;
        let share = if this.owner() == Scope::Group { bytes.div_ceil(units) } else { bytes };
        add(&mut self.live, &view.space, share);
        self.note(op, &view.space);
    }
}

fn element_bytes(op: OpRef<'_>, elem: sutura_ir::Type) -> u128 {
    op.cx.bit_width(elem).map_or(8, |bits| u128::from(bits.div_ceil(8)))
}

/// Values of a block by the operation after which nothing needs them.
fn deaths<'a>(block: BlockRef<'a>) -> HashMap<sutura_ir::Op, Vec<Value>> {
    let mut own: HashSet<Value> = block.args().iter().copied().collect();
    block.ops().for_each(|op| own.extend(op.results()));
    let mut last: IndexMap<Value, sutura_ir::Op> = IndexMap::new();
    for op in block.ops() {
        op.walk(&mut |inner| {
            for value in inner.operands().filter(|v| own.contains(v)) {
                last.insert(value, op.op);
            }
        });
    }
    let mut deaths: HashMap<sutura_ir::Op, Vec<Value>> = HashMap::new();
    for (value, op) in last {
        deaths.entry(op).or_default().push(value);
    }
    deaths
}
