//! Software pipelining of groups: what a group stores last leaves while the next group computes.
//!
//! A store past the caches occupies a buffer until memory has taken it, and a processor has some dozens of them. A row that
//! computes first and stores afterwards waits for them in its second loop, while nothing waits in its first. So where the
//! store of a group's last loop may be deferred (`defer`), and the loop only changes what the group keeps in scratch, it is put
//! off: the group leaves in *slots* where the row goes and the numbers of the row, and the loop of the next group that fills
//! the scratch anew, its *host*, takes each vector out before it puts its own there. The last group of a call has no next one
//! and stores at once. Rows that a group does one after another are like groups here.

use std::cell::{Cell, RefCell};

use sutura_dialects::gir::ops::{BinaryOp, BroadcastOp, CastOp, CompareOp, StoreOp, TernaryOp, UnaryOp};
use sutura_dialects::gir::types::TileType;
use sutura_ir::{Op, OpRef, Type, Value};

use super::extremes;
use super::sweep::run_loop;
use crate::gir_lowering::emit::{Emit, Pred};
use crate::gir_lowering::kernel::{Lowered, Lowering};
use crate::gir_lowering::memory::SliceVal;
use crate::gir_lowering::strip::{Memo, Node, NodeId, Sink};
use crate::gir_lowering::tile::Parts;

/// A step of a host, before which a vector of the group before is stored.
#[derive(Clone, Copy)]
struct Place {
    /// An operation in front of all that the step does.
    mark: Op,
    col: Value,
    mask: Option<Value>,
    lanes: i64,
}

/// An operation that does nothing, to come back to.
fn mark(e: &mut Emit<'_>) -> Op {
    let nothing = e.i64(0);
    e.b.body().defining_op(nothing).expect("a constant is an op")
}

/// What a loop needs to be a host, and where in it stores can stand.
pub(in crate::gir_lowering) struct Hosting {
    /// Where a group notes that it put its stores off.
    slot: Value,
    /// Whether the group before did, at run time.
    pub(in crate::gir_lowering) pending: Value,
    /// In front of the loop that is run if so.
    before: Cell<Option<Op>>,
    places: RefCell<Vec<Place>>,
}

impl Hosting {
    /// The loop starts here.
    pub(in crate::gir_lowering) fn begins(&self, e: &mut Emit<'_>) {
        self.before.set(Some(mark(e)));
    }

    /// A step of it starts here.
    pub(in crate::gir_lowering) fn step(&self, e: &mut Emit<'_>, col: Value, mask_of_step: Option<Value>) {
        self.places.borrow_mut().push(Place { mark: mark(e), col, mask: mask_of_step, lanes: e.lanes });
    }
}

/// A loop of this group that can take the stores of the group before.
pub(in crate::gir_lowering) struct Host {
    hosting: Hosting,
    /// What it keeps.
    kept: Vec<NodeId>,
    cols: Value,
}

impl<'a> Lowering<'a, '_> {
    /// What makes a loop with these sinks a host, if it can be one and a store that can come to it follows.
    pub(in crate::gir_lowering) fn hosting(&mut self, sinks: &[Sink]) -> Option<Hosting> {
        let fits = |sink: &Sink| {
            let strip = &self.strips.nodes[sink.node()];
            let plain = match sink {
                // These may run their loop again.
                Sink::Reduce { kind, .. } => !extremes::is_extreme(*kind),
                Sink::Keep { .. } => true,
                Sink::Store { .. } => false,
            };
            plain && strip.rows == 1 && strip.window.is_full()
        };
        let keeps = sinks.iter().any(|s| matches!(s, Sink::Keep { .. }));
        let alone =
            self.pending.is_empty() && self.strips.depth == self.ahead_depth && self.one_copy && self.host.is_none();
        let deferred =
            || self.store_that_follows().is_some_and(|store| store.defer() && self.streams_where(&store).is_some());
        if !keeps || !alone || !sinks.iter().all(fits) || !deferred() {
            return None;
        }
        let slot = self.slot(Type::I1);
        self.at_entry(|e| {
            let no = e.cx().bool_attr(false);
            let no = e.constant(no, Type::I1);
            e.store(no, slot);
        });
        let pending = self.e.load(slot, Type::I1);
        Some(Hosting { slot, pending, before: Cell::new(None), places: RefCell::default() })
    }

    /// Operations of the row that are still to come.
    fn remaining(&self) -> impl Iterator<Item = OpRef<'a>> {
        let (cx, body) = (self.kernel.op.cx, self.kernel.op.inside());
        let ops = self.rows_block.into_iter().flat_map(move |block| body.ops(block));
        ops.filter(|op| !self.done.contains(op)).map(move |op| OpRef::new(cx, body, op))
    }

    /// The only store of a strip that is still to come, where all else that is to come of strips is elementwise.
    fn store_that_follows(&self) -> Option<StoreOp<'a>> {
        let mut found = None;
        for op in self.remaining() {
            let strip =
                |value: Value| op.cx.type_as::<TileType>(op.ty(value)).is_some_and(|ty| !self.machine.in_registers(ty));
            if let Some(store) = op.as_::<StoreOp>() {
                if strip(store.tile()) && found.replace(store).is_some() {
                    return None;
                }
                continue;
            }
            let elementwise = op.is::<UnaryOp>()
                || op.is::<BinaryOp>()
                || op.is::<TernaryOp>()
                || op.is::<CompareOp>()
                || op.is::<CastOp>()
                || op.is::<BroadcastOp>();
            if op.regions().len() > 0 || (op.results().any(strip) && !elementwise) {
                return None;
            }
        }
        found
    }

    /// The loop just emitted is one to which a later store can come.
    pub(in crate::gir_lowering) fn has_host(&mut self, hosting: Hosting, sinks: &[Sink]) {
        let kept = sinks.iter().filter(|s| matches!(s, Sink::Keep { .. })).map(Sink::node).collect();
        self.host = Some(Host { hosting, kept, cols: self.strips.nodes[sinks[0].node()].cols });
    }

    /// Whether the loop with these sinks can wait for a host: a store of what the host of this group keeps, changed by
    /// nothing but the row's numbers.
    fn can_wait(&self, host: &Host, sinks: &[Sink]) -> bool {
        let [Sink::Store { node, .. }] = sinks else { return false };
        let strip = &self.strips.nodes[*node];
        let whole = strip.window.is_full() && strip.row_window.is_full() && strip.rows == 1;
        let known = |id: &NodeId| match &self.strips.nodes[*id] {
            strip if strip.stored.is_some() => host.kept.contains(id),
            strip => match &strip.node {
                Node::OfRegisters(tile) => matches!(tile.parts, Parts::Scalars(_)) && tile.rows == 1,
                Node::Fill(_) | Node::Unary(..) | Node::ExpNonpositive(_) | Node::Binary(..) | Node::Ternary(..) => {
                    true
                }
                Node::Compare(..) | Node::Cast(..) | Node::RepeatRow(_) => true,
                _ => false,
            },
        };
        whole && strip.cols == host.cols && self.strips.reachable(*node).iter().all(known)
    }

    /// Puts a loop that stores off to the next group, where it can wait and there is one; true if it can.
    pub(in crate::gir_lowering) fn put_off(&mut self, op: OpRef<'a>, sinks: &[Sink]) -> Lowered<'a, bool> {
        let Some(host) = self.host.take().filter(|host| self.can_wait(host, sinks)) else { return Ok(false) };
        let [Sink::Store { node, slice, stream: Some(stream) }] = sinks else { return Ok(false) };
        let Some(next) = self.next_group else { return Ok(false) };
        let numbers: Vec<NodeId> =
            self.strips.reachable(*node).into_iter().filter(|id| self.number(*id).is_some()).collect();
        let values: Vec<Value> = numbers.iter().filter_map(|id| self.number(*id)).chain([slice.base]).collect();
        let slots: Vec<Value> = values.iter().map(|v| self.slot(self.e.ty(*v))).collect();
        let aligned = self.aligned(slice);
        let wait = self.e.both(Some(*stream), next);
        let wait = self.e.both(Some(wait), aligned);
        self.e.store(wait, host.hosting.slot);
        let extras = self.extras(sinks)?;
        let strips = &self.strips;
        let leave = |e: &mut Emit<'_>| {
            values.iter().zip(&slots).for_each(|(value, slot)| e.store(*value, *slot));
            Ok(vec![])
        };
        let stored = self.e.if_else(wait, &[], leave, |e| run_loop(e, strips, sinks, &extras).map(|_| vec![]));
        self.at(op, stored)?;
        self.store_in(&host.hosting, (*node, slice), &numbers, &slots);
        Ok(true)
    }

    /// The number that a node repeats along its row.
    fn number(&self, id: NodeId) -> Option<Value> {
        match &self.strips.nodes[id].node {
            Node::OfRegisters(tile) if self.strips.nodes[id].stored.is_none() => tile.values().first().copied(),
            _ => None,
        }
    }

    /// Whether a row begins where an aligned vector may.
    fn aligned(&mut self, slice: &SliceVal) -> Value {
        let zero = self.e.i64(0);
        let address = self.e.address_bits(slice, zero);
        let low_bits = self.e.i64(self.e.stream_alignment(slice.elem) - 1);
        let low_bits = self.e.op1("arith.andi", &[address, low_bits], Type::I64, &[]);
        self.e.cmpi(Pred::Eq, low_bits, zero)
    }

    /// Stores in each step of the host, from what the slots hold of the group before.
    fn store_in(&mut self, hosting: &Hosting, (node, slice): (NodeId, &SliceVal), numbers: &[NodeId], slots: &[Value]) {
        let Some(before) = hosting.before.get() else { return };
        let point = self.e.b.insert_point();
        self.e.b.set_before(before);
        let mut earlier = self.strips.clone();
        for (id, slot) in numbers.iter().zip(slots) {
            let Node::OfRegisters(tile) = &earlier.nodes[*id].node else { continue };
            let value = self.e.load(*slot, tile.elem);
            earlier.nodes[*id].node = Node::OfRegisters(tile.with_values(tile.elem, &[value]));
        }
        let ptr = self.e.ptr_type();
        let base = self.e.load(*slots.last().expect("the address is one"), ptr);
        let slice = SliceVal { base, ..slice.clone() };
        for place in hosting.places.borrow().iter() {
            self.e.b.set_before(place.mark);
            self.e.with_lanes(place.lanes, |e| {
                let value = earlier.eval(e, &mut Memo::default(), (node, 0, place.col), place.mask);
                match place.mask {
                    None => e.stream_vector(value, &slice, None, place.col),
                    mask => e.store_vector(value, &slice, None, Some(place.col), mask),
                }
            });
        }
        self.e.b.set_insert_point(point);
    }

    /// Memory of the function for one value.
    fn slot(&mut self, ty: Type) -> Value {
        self.at_entry(|e| {
            let (one, ptr) = (e.i64(1), e.ptr_type());
            let props = [("alignment", e.cx().int_attr(8, Type::I64)), ("elem_type", e.cx().type_attr(ty))];
            e.op1("llvm.alloca", &[one], ptr, &props)
        })
    }

    /// Emits at the start of the function.
    fn at_entry<T>(&mut self, emit: impl FnOnce(&mut Emit<'_>) -> T) -> T {
        let point = self.e.b.insert_point();
        self.e.b.set_before(self.entry_mark);
        let result = emit(&mut self.e);
        self.e.b.set_insert_point(point);
        result
    }
}
