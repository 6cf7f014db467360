//! Stores past the caches and rows brought near ahead of time, as the clauses of stores and loads say.
//!
//! A store that goes to a cache first reads the line that it is going to overwrite; one that goes past them does not,
//! but what it wrote is far away for whoever reads it next. So loops with such stores have both forms, and what the clauses
//! ask of sizes, known at the start of the launch, decides. A group that computes on rows that it has read before leaves the
//! memory idle meanwhile; there it asks for the rows of the next group.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::kernel::Mode;
use sutura_dialects::gir::ops::{ForOp, LoadOp, SliceOp, StoreOp};
use sutura_dialects::gir::types::SliceType;
use sutura_dialects::llvm::AtomicOrdering;
use sutura_ir::{Attr, Block, Body, OpRef, OpView, Type, Value};

use super::sweep::Extras;
use crate::gir_lowering::emit::{Emit, Pred};
use crate::gir_lowering::kernel::{Held, Lowered, Lowering};
use crate::gir_lowering::memory::{SliceVal, stored};
use crate::gir_lowering::rows;
use crate::gir_lowering::strip::{NodeId, Sink};

/// Rows that a group reads, and that the next one reads further on.
#[derive(Clone)]
pub(in crate::gir_lowering) struct Ahead {
    /// The slice in the kernel.
    slice: Value,
    rows: i64,
    cols: Poly,
    /// How many bytes ahead the loop that is the first to read them asks for more, if it does.
    bytes: Option<i64>,
    /// Sizes that are not negative where the next group's rows are asked for; `None` where they never are.
    next: Option<Vec<Poly>>,
    /// How many positions along each dimension the next group's rows lie further, where they do.
    further: Vec<(usize, i64)>,
    /// The node that reads them, once there is one.
    node: Option<NodeId>,
    /// Some loop has read them.
    touched: bool,
}

impl<'a> Lowering<'a, '_> {
    /// Computes, once per launch, for what stores say of the caches whether they go past them.
    pub(in crate::gir_lowering) fn find_streams(&mut self) -> Lowered<'a, ()> {
        let inside = self.kernel.op.inside();
        for op in inside.preorder() {
            let Some(store) = OpRef::new(self.kernel.op.cx, inside, op).as_::<StoreOp>() else { continue };
            let Some((attr, sizes)) = store.stream_attr().zip(store.stream()) else { continue };
            if !self.streams.contains_key(&attr) {
                let value = self.none_negative(store.op_ref(), &sizes, None)?;
                self.streams.insert(attr, value);
            }
        }
        Ok(())
    }

    /// True at run time when `and` is and no size is negative. Constants stand alone on their side of a comparison.
    fn none_negative(&mut self, op: OpRef<'a>, sizes: &[Poly], and: Option<Value>) -> Lowered<'a, Value> {
        let mut all = and;
        for size in sizes {
            let (size, constant) = size.split_constant();
            let falls = size.terms().all(|(_, factor)| factor < 0);
            let size = self.size(&if falls { size.scale(-1) } else { size });
            let size = self.at(op, size)?;
            let bound = if falls { constant.saturating_add(1) } else { constant.saturating_neg() };
            let bound = self.e.i64(bound);
            let holds = self.e.cmpi(if falls { Pred::Slt } else { Pred::Sge }, size, bound);
            all = Some(self.e.both(all, holds));
        }
        let yes = |e: &mut Emit<'_>| {
            let yes = e.cx().bool_attr(true);
            e.constant(yes, Type::I1)
        };
        Ok(all.unwrap_or_else(|| yes(&mut self.e)))
    }

    /// Whether a store goes past the caches, at run time; `None` when it never does.
    pub(in crate::gir_lowering) fn streams_where(&self, store: &StoreOp<'a>) -> Option<Value> {
        self.streams.get(&store.stream_attr()?).copied()
    }

    /// In a loop over the rows of a group, what is next is a row: finds what that reads elsewhere. `index` is the loop's and
    /// `end` where it ends.
    pub(in crate::gir_lowering) fn find_ahead_in_rows(
        &mut self,
        this: &ForOp<'a>,
        index: Value,
        end: Value,
    ) -> Lowered<'a, ()> {
        if self.strips.depth != 1 || !rows::counts_rows(&mut self.bounds, self.kernel, this) {
            return Ok(());
        }
        let entry = this.body().entry().expect("verified");
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
        if self.gpu.is_some() {
            return Ok(());
        }
        self.known_indices(body, block)?;
        for op in body.ops(block) {
            let op = OpRef::new(self.kernel.op.cx, body, op);
            let Some(load) = op.as_::<LoadOp>() else { continue };
            let Some(Mode::In) = self.kernel.mode_of(load.slice()) else { continue };
            let slice = op.at(body.defining_op(load.slice()).expect("found above"));
            // A slice depends on indices alone, so it can be made before what stands in front of it, unless one is picked.
            if !slice.operands().all(|v| self.held.contains_key(&v)) {
                continue;
            }
            self.op(slice)?;
            let slice = slice.as_::<SliceOp>().expect("found above");
            let ty: &SliceType = op.cx.type_as(op.ty(load.slice())).expect("the declaration says a slice");
            let (bytes, next) = (load.prefetch(), load.next());
            if bytes.is_none() && next.is_none() {
                continue;
            }
            let further = rows::further(&mut self.bounds, &slice, index);
            let (Some(further), Some(rows)) = (further, ty.rows.as_const()) else { continue };
            let cols = ty.cols.clone();
            let slice = load.slice();
            self.ahead.push(Ahead { slice, rows, cols, bytes, next, further, node: None, touched: false });
        }
        Ok(())
    }

    /// Says that a node reads a slice.
    pub(in crate::gir_lowering) fn reads_ahead(&mut self, slice: Value, node: NodeId) {
        if let Some(rows) = self.ahead.iter_mut().find(|a| a.slice == slice) {
            rows.node = Some(node);
        }
    }

    /// What a loop with these sinks does beside them.
    pub(in crate::gir_lowering) fn extras(&mut self, sinks: &[Sink]) -> Lowered<'a, Extras> {
        let (fresh, first) = self.rows_read_first(sinks);
        let ahead = self.rows_ahead(sinks, first)?;
        let streams = |s: &Sink| if let Sink::Store { stream, .. } = s { *stream } else { None };
        let mut stream = None;
        for condition in sinks.iter().filter_map(streams) {
            if stream != Some(condition) {
                stream = Some(self.e.both(stream, condition));
            }
            if !self.streamed.contains(&condition) {
                self.streamed.push(condition);
            }
        }
        let aligned = sinks.iter().filter(|s| streams(s).is_some()).all(|s| {
            let strip = &self.strips.nodes[s.node()];
            let cols = self.e.known_multiple(strip.cols, self.e.lanes);
            strip.window.is_full() && cols
        });
        Ok(Extras { stream, aligned, ahead, fresh, hosting: None })
    }

    /// Rows of this group that no loop before has read, of which more is asked for, with their number and how many bytes ahead
    /// that lies; and whether there are any such rows, asked for or not.
    fn rows_read_first(&mut self, sinks: &[Sink]) -> (Vec<(SliceVal, i64, i64)>, bool) {
        let reads: Vec<NodeId> = sinks.iter().flat_map(|s| self.strips.reachable(s.node())).collect();
        let (mut rows, mut first) = (Vec::new(), false);
        for row in &mut self.ahead {
            if !row.touched && row.node.is_some_and(|node| reads.contains(&node)) {
                row.touched = true;
                if let Some(Held::Slice(slice)) = self.held.get(&row.slice)
                    && slice.col.is_contiguous()
                {
                    first = true;
                    rows.extend(row.bytes.map(|bytes| (slice.clone(), row.rows, bytes)));
                }
            }
        }
        (rows, first)
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

    /// The rows of the next group, or this one's where there is none or sizes forbid it.
    fn next_rows(&mut self, row: &Ahead) -> Lowered<'a, Option<SliceVal>> {
        let (Some(Held::Slice(slice)), Some(next)) = (self.held.get(&row.slice).cloned(), self.next_group) else {
            return Ok(None);
        };
        let body = self.kernel.op.inside();
        let cx = self.kernel.op.cx;
        let view = body.defining_op(row.slice).and_then(|op| OpRef::new(cx, body, op).as_::<SliceOp>());
        let view = view.and_then(|slice| self.held.get(&slice.view()).cloned());
        let Some(Held::View(view)) = view else { return Ok(None) };
        let Some(sizes) = &row.next else { return Ok(None) };
        let fits = self.none_negative(self.kernel.op, sizes, Some(next))?;
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
        for stream in std::mem::take(&mut self.streamed) {
            let fenced = self.e.if_else(stream, &[], |e| Ok(e.fence()), |_| Ok(vec![]));
            self.at(self.kernel.op, fenced)?;
        }
        Ok(())
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
