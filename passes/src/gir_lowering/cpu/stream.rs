//! Stores past the caches and rows brought near ahead of time: what a launch too large for the caches gains from.
//!
//! A store that goes to a cache first reads the line that it is going to overwrite; one that goes past them does not,
//! but what it wrote is far away for whoever reads it next. So loops that only write have both forms, and the size of what
//! the launch touches, known at its start, decides. A group that computes on rows that it has read before leaves the
//! memory idle meanwhile; there it asks for the rows of the next group.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::kernel::Mode;
use sutura_dialects::gir::ops::{ForOp, LoadOp, SliceOp};
use sutura_dialects::gir::types::{SliceType, ViewType};
use sutura_dialects::llvm::AtomicOrdering;
use sutura_ir::{Attr, Block, Body, OpRef, Type, Value};

use super::sweep::Extras;
use crate::gir_lowering::emit::{Emit, Pred};
use crate::gir_lowering::kernel::{Held, Lowered, Lowering};
use crate::gir_lowering::memory::{SliceVal, stored};
use crate::gir_lowering::strip::{NodeId, Sink};

/// How far ahead of what it computes a loop asks for what it is the first to read, in bytes: long enough for the memory to
/// answer. Processors ask ahead themselves, but not from one page to the next, and a loop with much to compute per vector
/// has too few reads in flight to make up for that.
pub(in crate::gir_lowering) const DISTANCE_BYTES: i64 = 4096;

/// Rows that a group reads, and that the next one reads further on.
#[derive(Clone)]
pub(in crate::gir_lowering) struct Ahead {
    /// The slice in the kernel.
    slice: Value,
    rows: i64,
    cols: Poly,
    /// How many positions along each dimension the next group's rows lie further, where they do.
    further: Vec<(usize, i64)>,
    /// The node that reads them, once there is one.
    node: Option<NodeId>,
    /// Some loop has read them.
    touched: bool,
}

impl<'a> Lowering<'a, '_> {
    /// True at run time when the launch touches enough memory for stores past the caches; `None` when it never does.
    pub(in crate::gir_lowering) fn large_launch(&mut self) -> Lowered<'a, Option<Value>> {
        let Some(enough) = self.machine.stream_bytes else { return Ok(None) };
        if !self.kernel.views.iter().any(|(_, _, mode)| *mode == Mode::Out) || self.machine.lanes.register == 1 {
            return Ok(None);
        }
        let bytes = self.kernel.views.iter().fold(Poly::constant(0), |sum, (_, ty, _)| {
            let size = self.e.bytes(ty.elem);
            sum.add(&ty.elements().scale(size))
        });
        if self.bounds.facts.range(&bytes).1 < i128::from(enough) {
            return Ok(None);
        }
        let bytes = self.size(&bytes);
        let (bytes, enough) = (self.at(self.kernel.op, bytes)?, self.e.i64(enough));
        Ok(Some(self.e.cmpi(Pred::Sge, bytes, enough)))
    }

    /// True for a store that may go past the caches: of whole vectors, into memory that the kernel only writes.
    pub(in crate::gir_lowering) fn may_stream(&self, op: OpRef<'a>, slice: Value, value: &SliceVal) -> bool {
        self.large.is_some()
            && value.col.is_contiguous()
            && value.elem != Type::I1
            && self.parameter(op, slice).is_some_and(|(_, mode)| mode == Mode::Out)
    }

    /// The kernel's parameter that a slice is one of, when nothing lies between.
    pub(in crate::gir_lowering) fn parameter(&self, op: OpRef<'a>, slice: Value) -> Option<(&'a ViewType, Mode)> {
        let view = op.at(op.body.defining_op(slice)?).as_::<SliceOp>()?.view();
        self.kernel.views.iter().find(|(v, ..)| *v == view).map(|(_, ty, mode)| (*ty, *mode))
    }

    /// In a loop over the rows of a group, what is next is a row: finds what that reads elsewhere. `index` is the loop's and
    /// `end` where it ends.
    pub(in crate::gir_lowering) fn find_ahead_in_rows(
        &mut self,
        this: &ForOp<'a>,
        index: Value,
        end: Value,
    ) -> Lowered<'a, ()> {
        let entry = this.body().entry().expect("verified");
        let Some(row) = self.bounds.expr(entry.args()[0]) else { return Ok(()) };
        let variable = row.as_symbol().and_then(|name| self.bounds.variable_named(name));
        let of_grid = |name: &str| {
            let around = self.bounds.variable_named(name).map(|variable| variable.value);
            self.kernel.grid.iter().any(|(index, _)| Some(*index) == around)
        };
        let in_group = variable.is_some_and(|v| v.low.symbols().iter().any(|name| of_grid(name)));
        if self.strips.depth != 1 || !in_group || this.inits().next().is_some() {
            return Ok(());
        }
        let one = self.e.i64(1);
        let next = self.e.addi(index, one);
        let more = self.e.cmpi(Pred::Slt, next, end);
        self.next_group = self.next_group.map(|group| self.e.op1("arith.ori", &[more, group], Type::I1, &[]));
        self.find_ahead(entry.body, entry.block, entry.args()[0])
    }

    /// Finds the rows that the next group, or the next row of it, reads elsewhere: `index` counts them, `block` reads them.
    pub(in crate::gir_lowering) fn find_ahead(
        &mut self,
        body: &'a Body,
        block: Block,
        index: Value,
    ) -> Lowered<'a, ()> {
        self.ahead.clear();
        (self.ahead_depth, self.rows_block) = (self.strips.depth, Some(block));
        self.asked = false;
        // A step of a loop asks once per row, so its vector may not be longer than a line.
        if self.machine.line_bytes < 4 * self.machine.lanes.register {
            return Ok(());
        }
        self.known_indices(body, block)?;
        for op in body.ops(block) {
            let op = OpRef::new(self.kernel.op.cx, body, op);
            let Some(load) = op.as_::<LoadOp>() else { continue };
            let Some(Mode::In) = self.parameter(op, load.slice()).map(|(_, mode)| mode) else { continue };
            let slice = op.at(body.defining_op(load.slice()).expect("found above"));
            // A slice depends on indices alone, so it can be made before what stands in front of it, unless one is picked.
            if !slice.operands().all(|v| self.held.contains_key(&v)) {
                continue;
            }
            self.op(slice)?;
            let slice = slice.as_::<SliceOp>().expect("found above");
            let ty: &SliceType = op.cx.type_as(op.ty(load.slice())).expect("the declaration says a slice");
            let further = self.further(&slice, index);
            let (Some(further), Some(rows)) = (further, ty.rows.as_const()) else { continue };
            let cols = ty.cols.clone();
            self.ahead.push(Ahead { slice: load.slice(), rows, cols, further, node: None, touched: false });
        }
        Ok(())
    }

    /// Says that a node reads a slice.
    pub(in crate::gir_lowering) fn reads_ahead(&mut self, slice: Value, node: NodeId) {
        if let Some(rows) = self.ahead.iter_mut().find(|a| a.slice == slice) {
            rows.node = Some(node);
        }
    }

    /// How far the slice of the next group lies from this one's; `None` when it is the same, or not a constant.
    fn further(&mut self, slice: &SliceOp<'a>, innermost: Value) -> Option<Vec<(usize, i64)>> {
        let index = self.bounds.expr(innermost)?;
        let name = index.as_symbol()?.to_owned();
        let mut further = Vec::new();
        for (dim, offset) in slice.offsets().enumerate() {
            let here = self.bounds.expr(offset)?;
            let next = here.substitute(&|symbol| (symbol == name).then(|| index.add(&1.into())));
            let step = next.sub(&here).as_const()?;
            if step != 0 {
                further.push((dim, step));
            }
        }
        (!further.is_empty()).then_some(further)
    }

    /// What a loop with these sinks does beside them.
    pub(in crate::gir_lowering) fn extras(&mut self, sinks: &[Sink]) -> Lowered<'a, Extras> {
        let fresh = self.rows_read_first(sinks);
        let ahead = self.rows_ahead(sinks, !fresh.is_empty())?;
        let streams = |s: &Sink| matches!(s, Sink::Store { stream: true, .. });
        let stream = self.large.filter(|_| sinks.iter().any(streams));
        self.streamed |= stream.is_some();
        let aligned = sinks.iter().filter(|s| streams(s)).all(|s| {
            let strip = &self.strips.nodes[s.node()];
            let cols = self.e.known_multiple(strip.cols, self.e.lanes);
            strip.window.is_full() && cols
        });
        Ok(Extras { stream, aligned, ahead, fresh, hosting: None })
    }

    /// Rows of this group that no loop before has read, with their number.
    fn rows_read_first(&mut self, sinks: &[Sink]) -> Vec<(SliceVal, i64)> {
        let reads: Vec<NodeId> = sinks.iter().flat_map(|s| self.strips.reachable(s.node())).collect();
        let mut rows = Vec::new();
        for row in &mut self.ahead {
            if !row.touched && row.node.is_some_and(|node| reads.contains(&node)) {
                row.touched = true;
                if let Some(Held::Slice(slice)) = self.held.get(&row.slice) {
                    rows.extend(slice.col.is_contiguous().then(|| (slice.clone(), row.rows)));
                }
            }
        }
        rows
    }

    /// The next group's rows, if this is the loop to ask for them: the first that only reads what was read before.
    fn rows_ahead(&mut self, sinks: &[Sink], reads_first: bool) -> Lowered<'a, Vec<(SliceVal, i64)>> {
        if self.strips.depth != self.ahead_depth || self.asked || reads_first {
            return Ok(vec![]);
        }
        let reads: Vec<NodeId> = sinks.iter().flat_map(|s| self.strips.reachable(s.node())).collect();
        if !self.ahead.iter().any(|a| a.node.is_some_and(|node| reads.contains(&node))) {
            return Ok(vec![]);
        }
        self.asked = true;
        let cols = self.strips.nodes[sinks[0].node()].cols;
        let mut slices = Vec::new();
        for row in self.ahead.clone() {
            let own = self.size(&row.cols);
            if self.at(self.kernel.op, own)? == cols {
                slices.extend(self.next_rows(&row)?.map(|slice| (slice, row.rows)));
            }
        }
        Ok(slices)
    }

    /// The rows of the next group, or this one's where there is none or a row is too long to be kept near.
    fn next_rows(&mut self, row: &Ahead) -> Lowered<'a, Option<SliceVal>> {
        let (Some(Held::Slice(slice)), Some(next)) = (self.held.get(&row.slice).cloned(), self.next_group) else {
            return Ok(None);
        };
        let body = self.kernel.op.inside();
        let cx = self.kernel.op.cx;
        let view = body.defining_op(row.slice).and_then(|op| OpRef::new(cx, body, op).as_::<SliceOp>());
        let view = view.and_then(|slice| self.held.get(&slice.view()).cloned());
        let Some(Held::View(view)) = view else { return Ok(None) };
        // What a group reads, keeps, writes, and asks for share the cache.
        let room = self.machine.own_cache_bytes / 4 / self.e.bytes(slice.elem) / row.rows.max(1);
        let (least, most) = self.bounds.facts.range(&row.cols);
        if least > i128::from(room) {
            return Ok(None);
        }
        let mut fits = next;
        if most > i128::from(room) {
            let cols = self.size(&row.cols);
            let (cols, room) = (self.at(self.kernel.op, cols)?, self.e.i64(room + 1));
            let short = self.e.cmpi(Pred::Slt, cols, room);
            fits = self.e.both(Some(fits), short);
        }
        let mut distance = self.e.i64(0);
        for (dim, step) in &row.further {
            let step = self.e.i64(*step);
            let step = self.e.muli(view.strides[*dim], step);
            distance = self.e.addi(distance, step);
        }
        let zero = self.e.i64(0);
        let distance = self.e.select(fits, distance, zero);
        let base = self.e.gep(slice.base, distance, stored(slice.elem));
        Ok(Some(SliceVal { base, ..slice }))
    }

    /// Makes what went past the caches visible to others before the function returns.
    pub(in crate::gir_lowering) fn end_streams(&mut self) -> Lowered<'a, ()> {
        let Some(large) = self.large.filter(|_| self.streamed) else { return Ok(()) };
        let fenced = self.e.if_else(large, &[], |e| Ok(e.fence()), |_| Ok(vec![]));
        self.at(self.kernel.op, fenced).map(|_| ())
    }
}

impl Emit<'_> {
    /// Bytes that an element takes in memory.
    pub(in crate::gir_lowering) fn bytes(&self, elem: Type) -> i64 {
        self.cx().bit_width(stored(elem)).map_or(8, |bits| i64::from(bits.div_ceil(8)))
    }

    /// Alignment of addresses at which vectors of such elements can be stored past the caches.
    pub(in crate::gir_lowering) fn stream_alignment(&self, elem: Type) -> i64 {
        // Wider vectors are stored in several pieces.
        (self.widths.register * self.bytes(elem)).min(self.widths.bytes)
    }

    /// The address of column `col` of a slice's first row, as a number.
    pub(in crate::gir_lowering) fn address_bits(&mut self, slice: &SliceVal, col: Value) -> Value {
        let ptr = self.address(slice, None, Some(col));
        self.op1("llvm.ptrtoint", &[ptr], Type::I64, &[])
    }

    /// Stores a vector past the caches, at an aligned address.
    pub(in crate::gir_lowering) fn stream_vector(
        &mut self,
        value: Value,
        slice: &SliceVal,
        row: Option<Value>,
        col: Value,
    ) {
        let ptr = self.address(slice, row, Some(col));
        let align = self.cx().int_attr(self.stream_alignment(slice.elem), Type::I64);
        let props: [(&str, Attr); 2] = [("alignment", align), ("nontemporal", Attr::UNIT)];
        self.op("llvm.store", &[value, ptr], &[], &props);
    }

    /// Asks for the line at `ptr`, which need not be memory.
    pub(in crate::gir_lowering) fn prefetch(&mut self, ptr: Value) {
        let number = |value: i64| self.cx().int_attr(value, Type::I32);
        // To be read, nearest, data.
        let props = [("rw", number(0)), ("hint", number(3)), ("cache", number(1))];
        self.op("llvm.intr.prefetch", &[ptr], &[], &props);
    }

    fn fence(&mut self) -> Vec<Value> {
        let order = self.cx().int_attr(AtomicOrdering::SeqCst as i64, Type::I64);
        self.op("llvm.fence", &[], &[], &[("ordering", order)]);
        vec![]
    }

    /// True when a number is a constant multiple of `divisor`.
    pub(in crate::gir_lowering) fn known_multiple(&self, value: Value, divisor: i64) -> bool {
        let body = self.b.body();
        let constant = body.defining_op(value).map(|op| OpRef::new(self.cx(), body, op));
        let number = constant.and_then(sutura_ir::registry::constant_value).and_then(|a| self.cx().as_int(a));
        number.is_some_and(|n| n % divisor == 0)
    }
}
