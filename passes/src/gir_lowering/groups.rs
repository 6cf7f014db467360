//! The loop over groups: the grid's indices, and for each group whether all that it names exists.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::SliceOp;
use sutura_dialects::gir::types::ViewType;
use sutura_ir::{Block, Body, OpRef, OpState, Type, Value};

use super::emit::Pred;
use super::kernel::{Held, Lowered, Lowering, Unsupported, slice_axes};

impl<'a> Lowering<'a, '_> {
    /// The loop over groups, with the grid's indices recovered from the linear number.
    pub(super) fn groups(&mut self, begin: Value, end: Value, one: Value) -> Lowered<'a, ()> {
        let op = self.kernel.op;
        let extents: Vec<Value> = self
            .kernel
            .grid
            .iter()
            .map(|(_, p)| self.size(p))
            .collect::<Result<_, _>>()
            .map_err(|m| Unsupported { op, message: m })?;
        // Divisions are slow: the first group's indices are divided out, then they count on with a carry.
        let first = self.grid_indices(begin, &extents, one);
        let mut inits = vec![begin, end, one];
        inits.extend(&first);
        // The loop is built by hand: its body may fail with a place, which a closure over `self` would make awkward.
        let mut state = OpState::new(self.e.cx().op_name("scf.for"), self.e.loc).regions(1);
        state.operands.extend(inits);
        state.result_types.extend(first.iter().map(|_| Type::I64));
        let for_op = self.e.b.create(state);
        let region = self.e.b.body().regions(for_op).next().expect("made with a region");
        let block = self.e.b.create_block(region, &vec![(Type::I64, self.e.loc); 1 + first.len()]);
        let point = self.e.b.set_insert_point(sutura_ir::builder::InsertPoint::End(block));
        let args: Vec<Value> = self.e.b.body().block_args(block).to_vec();
        let next = self.e.addi(args[0], one);
        self.next_group = Some(self.e.cmpi(Pred::Slt, next, end));
        for ((value, _), index) in self.kernel.grid.iter().zip(&args[1..]) {
            self.held.insert(*value, Held::Index(*index));
        }
        self.group_body()?;
        let next = self.count_on(&args[1..], &extents, one);
        self.e.op("scf.yield", &next, &[], &[]);
        self.e.b.set_insert_point(point);
        Ok(())
    }

    /// The grid's indices of the group with this linear number. Where an extent is zero there are no groups, and nothing
    /// may be divided by it.
    pub(super) fn grid_indices(&mut self, group: Value, extents: &[Value], one: Value) -> Vec<Value> {
        let (mut rest, mut indices) = (group, Vec::new());
        for (i, extent) in extents.iter().enumerate().rev() {
            if i == 0 {
                indices.push(rest);
                continue;
            }
            let divisor = self.e.maxi(*extent, one);
            indices.push(self.e.op1("arith.remui", &[rest, divisor], Type::I64, &[]));
            rest = self.e.op1("arith.divui", &[rest, divisor], Type::I64, &[]);
        }
        indices.reverse();
        indices
    }

    /// The indices of the next group: the last advances, and where it has run through all of its extent the one before.
    fn count_on(&mut self, indices: &[Value], extents: &[Value], one: Value) -> Vec<Value> {
        let (mut next, mut carry) = (indices.to_vec(), None);
        for (i, (index, extent)) in indices.iter().zip(extents).enumerate().rev() {
            let up = self.e.addi(*index, one);
            let zero = self.e.i64(0);
            let wraps = (i > 0).then(|| self.e.cmpi(Pred::Eq, up, *extent));
            let after = wraps.map_or(up, |wraps| self.e.select(wraps, zero, up));
            next[i] = carry.map_or(after, |carry| self.e.select(carry, after, *index));
            carry = wraps.map(|wraps| self.e.both(carry, wraps));
        }
        next
    }

    /// One group: what has partial windows in the last groups is lowered twice, so that only they pay for masks.
    pub(super) fn group_body(&mut self) -> Lowered<'a, ()> {
        let full = if self.may_part() { self.all_windows_full()? } else { None };
        let Some(full) = full else {
            self.one_copy = true;
            return self.body_block();
        };
        let body = self.kernel.op.inside();
        let entry = body.entry_block().expect("a kernel has a body");
        let Some(pieces) = self.pieces(body, entry) else { return self.twice(full, &mut Self::body_block) };
        for piece in pieces {
            let mut lower = |lowering: &mut Self| {
                lowering.ops(body, &piece.ops)?;
                lowering.flush(lowering.kernel.op)
            };
            if piece.twice { self.twice(full, &mut lower)? } else { lower(self)? }
        }
        Ok(())
    }

    /// Two copies of what `lower` emits: where `full` is true at run time every window that was judged is full.
    fn twice(&mut self, full: Value, lower: &mut dyn FnMut(&mut Self) -> Lowered<'a, ()>) -> Lowered<'a, ()> {
        let mut state = OpState::new(self.e.cx().op_name("scf.if"), self.e.loc).regions(2);
        state.operands.push(full);
        let if_op = self.e.b.create(state);
        let regions: Vec<_> = self.e.b.body().regions(if_op).collect();
        let point = self.e.b.insert_point();
        let (outside, done) = (self.held.clone(), self.done.clone());
        for (region, assume_full) in regions.into_iter().zip([true, false]) {
            let block = self.e.b.create_block(region, &[]);
            self.e.b.set_to_end(block);
            self.assume_full = assume_full;
            self.begin_copy(&outside, &done);
            lower(self)?;
            self.e.op("scf.yield", &[], &[], &[]);
        }
        self.assume_full = false;
        self.held = outside;
        self.e.b.set_insert_point(point);
        Ok(())
    }

    fn body_block(&mut self) -> Lowered<'a, ()> {
        let body = self.kernel.op.inside();
        let entry = body.entry_block().expect("a kernel has a body");
        // Not before: whether all windows are full is one answer for the units of a group.
        if let Some((unit, number)) = self.kernel.unit.zip(self.gpu.and_then(|gpu| gpu.unit)) {
            self.held.insert(unit, Held::Index(number));
        }
        if let Some((innermost, _)) = self.kernel.grid.last() {
            self.find_ahead(body, entry, *innermost)?;
        }
        let next = self.next_group;
        self.block(body, entry)?;
        self.next_group = next;
        self.flush(self.kernel.op)
    }

    /// The condition under which every window that the grid, or a loop with constant bounds, moves is full; `None` when there
    /// is none.
    fn all_windows_full(&mut self) -> Lowered<'a, Option<Value>> {
        let body = self.kernel.op.inside();
        let entry = body.entry_block().expect("a kernel has a body");
        let mut full = None;
        self.known_indices(body, entry)?;
        for op in body.preorder() {
            let Some(slice) = OpRef::new(self.kernel.op.cx, body, op).as_::<SliceOp>() else { continue };
            for (dim, extent, step) in slice_axes(&slice) {
                let Some(view) = self.kernel.op.cx.type_as::<ViewType>(body.ty(slice.view())) else { continue };
                let offset = slice.offsets().nth(dim).expect("verified");
                let Some((least, most)) = self.range_in_group(offset)? else { continue };
                self.judged.insert(offset);
                let (below, above) = self.open_ends(offset, &view.dims[dim], &extent, step);
                if below {
                    let zero = self.e.i64(0);
                    let inside = self.e.cmpi(Pred::Sge, least, zero);
                    full = Some(self.e.both(full, inside));
                }
                if above {
                    let last = extent.sub(&1.into()).scale(step);
                    let (last, size) = (self.size(&last), self.size(&view.dims[dim]));
                    let (last, size) = (self.at(self.kernel.op, last)?, self.at(self.kernel.op, size)?);
                    let end = self.e.addi(most, last);
                    let inside = self.e.cmpi(Pred::Slt, end, size);
                    full = Some(self.e.both(full, inside));
                }
            }
        }
        Ok(full)
    }

    /// Lowers the index arithmetic of a block that depends on nothing that is computed in it: where it stands is no matter.
    pub(super) fn known_indices(&mut self, body: &'a Body, block: Block) -> Lowered<'a, ()> {
        for op in body.ops(block) {
            let op = OpRef::new(self.kernel.op.cx, body, op);
            let known = op.operands().all(|v| self.held.contains_key(&v));
            if known && matches!(op.name_str(), "gir.index" | "gir.identity" | "arith.constant") {
                self.op(op)?;
            }
        }
        Ok(())
    }

    /// The least and the largest value of an index in a group: one where it depends on the grid alone, the ends of the
    /// range where loops with constant bounds take part. `None` for any other.
    fn range_in_group(&mut self, offset: Value) -> Lowered<'a, Option<(Value, Value)>> {
        if let Some(Held::Index(at)) = self.held.get(&offset) {
            return Ok(Some((*at, *at)));
        }
        let Some((low, high)) = self.ends_in_group(offset) else { return Ok(None) };
        let (low, high) = (self.of_grid(&low), self.of_grid(&high));
        Ok(Some((self.at(self.kernel.op, low)?, self.at(self.kernel.op, high)?)))
    }

    /// The same as polynomials over sizes and the grid's indices.
    fn ends_in_group(&mut self, offset: Value) -> Option<(Poly, Poly)> {
        let at = self.bounds.expr(offset)?;
        let (mut low, mut high) = (at.clone(), at.clone());
        for name in at.symbols() {
            let Some(variable) = self.bounds.variable_named(&name) else { continue };
            if self.kernel.grid.iter().any(|(value, _)| *value == variable.value) {
                continue;
            }
            let (first, last) = (variable.low.as_const()?, variable.high.as_const()?);
            let step = at.substitute(&|n| (*n == *name).then(|| Poly::symbol(&name).add(&1.into()))).sub(&at);
            let (first, last) = if step.as_const()? < 0 { (last, first) } else { (first, last) };
            let put = |poly: &Poly, number: i64| poly.substitute(&|n| (*n == *name).then(|| number.into()));
            (low, high) = (put(&low, first), put(&high, last));
        }
        Some((low, high))
    }

    /// Value of a polynomial over sizes and the grid's indices.
    fn of_grid(&mut self, poly: &Poly) -> Result<Value, String> {
        let symbol = |name: &str| {
            let index = self.bounds.variable_named(name).map(|variable| variable.value);
            match index.map(|value| self.held.get(&value)) {
                Some(Some(Held::Index(at))) => Some(*at),
                _ => self.dims.get(name).copied(),
            }
        };
        self.e.poly(poly, &symbol)
    }
}
