//! Vectors spread over the threads of a unit: which columns a thread has, and how threads combine what they have.
//!
//! A vector of a unit has `lanes` columns for each of its threads, neighbours in one thread. Threads of a subgroup hand values
//! to each other (`gpu.shuffle`); beyond it they meet in the block's memory, one slot for each subgroup.

use sutura_dialects::gir::kinds::Combiner;
use sutura_dialects::gpu::{Dimension, ShuffleMode};
use sutura_ir::{OpState, Type, Value};

use crate::gir_lowering::emit::{Emit, Pred, identity};
use crate::gir_lowering::memory::stored;

/// Address space of memory that all threads of the device see, and of a block's own memory, in LLVM for GPUs.
pub(in crate::gir_lowering) const GLOBAL: u32 = 1;
pub(in crate::gir_lowering) const SHARED: u32 = 3;

/// An array in a block's own memory.
#[derive(Clone, Debug)]
pub(in crate::gir_lowering) struct SharedArray {
    pub(in crate::gir_lowering) name: String,
    pub(in crate::gir_lowering) elem: Type,
    pub(in crate::gir_lowering) elements: i64,
}

/// The threads of a unit, and its block's memory.
#[derive(Clone, Debug)]
pub(in crate::gir_lowering) struct Spread {
    /// Threads of a unit, a power of two.
    pub(in crate::gir_lowering) threads: i64,
    /// Threads that run in lockstep, a power of two.
    pub(in crate::gir_lowering) subgroup: i64,
    /// Number of this thread in its unit, as i64.
    pub(in crate::gir_lowering) thread: Value,
    /// Arrays of the block, with names that begin with `prefix`.
    pub(in crate::gir_lowering) shared: Vec<SharedArray>,
    pub(in crate::gir_lowering) prefix: String,
    /// Bytes that further arrays may take.
    pub(in crate::gir_lowering) bytes_left: i64,
    /// Since its innermost loop began, the threads of the unit have met: what slots held before has been read.
    pub(in crate::gir_lowering) met: bool,
    /// Memory did not suffice for a slot.
    pub(in crate::gir_lowering) overflow: bool,
    /// In a loop whose trips differ from unit to unit of a group, and that threads of the block were to wait in one.
    pub(in crate::gir_lowering) uneven: bool,
    pub(in crate::gir_lowering) parted: bool,
}

impl Spread {
    /// Subgroups of a unit.
    fn subgroups(&self) -> i64 {
        self.threads / self.subgroup
    }
}

impl Emit<'_> {
    /// Columns of a unit's vector.
    pub(in crate::gir_lowering) fn columns(&self) -> i64 {
        self.spread.as_ref().map_or(1, |spread| spread.threads) * self.lanes
    }

    /// Elements that a thread takes of a vector of such a tile: no more than leave all threads some of a short row.
    pub(in crate::gir_lowering) fn lanes_of_columns(&self, cols: i64) -> i64 {
        let Some(spread) = &self.spread else { return self.lanes };
        let mut lanes = self.lanes;
        while cols > 1 && lanes > 1 && cols <= spread.threads * lanes / 2 {
            lanes /= 2;
        }
        lanes
    }

    /// The first column that this thread has of the vector with this number.
    pub(in crate::gir_lowering) fn own_column(&mut self, vector: i64) -> Value {
        let start = self.i64(vector * self.columns());
        self.own_column_from(start)
    }

    /// The first column that this thread has of the vector that begins at `start`.
    pub(in crate::gir_lowering) fn own_column_from(&mut self, start: Value) -> Value {
        let Some(thread) = self.spread.as_ref().map(|spread| spread.thread) else { return start };
        let lanes = self.i64(self.lanes);
        let ahead = self.muli(thread, lanes);
        self.addi(start, ahead)
    }

    /// `condition`, and on a GPU that this is the unit's first thread: what all threads have is stored by one.
    pub(in crate::gir_lowering) fn once(&mut self, condition: Option<Value>) -> Option<Value> {
        let Some(thread) = self.spread.as_ref().map(|spread| spread.thread) else { return condition };
        let zero = self.i64(0);
        let first = self.cmpi(Pred::Eq, thread, zero);
        Some(self.both(condition, first))
    }

    // ---- accesses under a condition: a branch, as a thread has few elements

    /// Whether a lane of a mask is on.
    fn lane_of(&mut self, vector: Value, lane: i64) -> Value {
        let elem = self.cx().element_type(self.ty(vector));
        let position = self.cx().i64_array(&[lane]);
        self.op1("vector.extract", &[vector], elem, &[("static_position", position)])
    }

    /// Neighbours, all of which exist or none: `lanes` is chosen so.
    pub(in crate::gir_lowering) fn load_if(&mut self, ptr: Value, mask: Value, pass: Value) -> Value {
        let (exists, ty) = (self.lane_of(mask, 0), self.ty(pass));
        let loaded = self.if_else(exists, &[ty], |e| Ok(vec![e.load(ptr, ty)]), |_| Ok(vec![pass]));
        loaded.expect("neither branch fails")[0]
    }

    pub(in crate::gir_lowering) fn store_if(&mut self, value: Value, ptr: Value, mask: Value) {
        let exists = self.lane_of(mask, 0);
        let store = |e: &mut Self| {
            e.store(value, ptr);
            Ok(vec![])
        };
        self.if_else(exists, &[], store, |_| Ok(vec![])).expect("neither branch fails");
    }

    /// Elements that lie a stride apart, from an address on; those that `mask` leaves out as in `pass`.
    pub(in crate::gir_lowering) fn load_each(
        &mut self,
        (ptr, stride): (Value, Option<Value>),
        mask: Option<Value>,
        pass: Value,
    ) -> Value {
        let (ty, mut all) = (self.cx().element_type(self.ty(pass)), pass);
        for lane in 0..self.lanes {
            let ptr = self.address_of_lane(ptr, stride, lane, ty);
            let value = match mask.map(|mask| self.lane_of(mask, lane)) {
                None => self.load(ptr, ty),
                Some(exists) => {
                    let none = self.lane_of(pass, lane);
                    let loaded = self.if_else(exists, &[ty], |e| Ok(vec![e.load(ptr, ty)]), |_| Ok(vec![none]));
                    loaded.expect("neither branch fails")[0]
                }
            };
            let position = self.cx().i64_array(&[lane]);
            let vector = self.ty(all);
            all = self.op1("vector.insert", &[value, all], vector, &[("static_position", position)]);
        }
        all
    }

    /// Stores elements a stride apart, those that `mask` lets.
    pub(in crate::gir_lowering) fn store_each(
        &mut self,
        value: Value,
        (ptr, stride): (Value, Option<Value>),
        mask: Option<Value>,
    ) {
        let ty = self.cx().element_type(self.ty(value));
        for lane in 0..self.lanes {
            let (ptr, value) = (self.address_of_lane(ptr, stride, lane, ty), self.lane_of(value, lane));
            match mask.map(|mask| self.lane_of(mask, lane)) {
                None => self.store(value, ptr),
                Some(exists) => {
                    let store = |e: &mut Self| {
                        e.store(value, ptr);
                        Ok(vec![])
                    };
                    self.if_else(exists, &[], store, |_| Ok(vec![])).expect("neither branch fails");
                }
            }
        }
    }

    fn address_of_lane(&mut self, ptr: Value, stride: Option<Value>, lane: i64, ty: Type) -> Value {
        let Some(stride) = stride.filter(|_| lane > 0) else { return ptr };
        let lane = self.i64(lane);
        let elements = self.muli(lane, stride);
        self.gep(ptr, elements, ty)
    }

    // ---- between threads

    /// Combines what the threads of a unit have; all get the same results.
    pub(in crate::gir_lowering) fn combine_threads(&mut self, values: &[(Combiner, Value)]) -> Vec<Value> {
        let Some(spread) = self.spread.clone() else { return values.iter().map(|(_, value)| *value).collect() };
        if values.is_empty() {
            // Nobody waits for nothing.
            return Vec::new();
        }
        let width = spread.threads.min(spread.subgroup);
        let mut combined: Vec<Value> =
            values.iter().map(|(kind, value)| self.butterfly(*kind, *value, width)).collect();
        if spread.threads <= spread.subgroup {
            return combined;
        }
        let subgroup = self.i64(spread.subgroup);
        let number = self.op1("arith.divui", &[spread.thread, subgroup], Type::I64, &[]);
        let lane = self.op1("arith.remui", &[spread.thread, subgroup], Type::I64, &[]);
        let zero = self.i64(0);
        let first = self.cmpi(Pred::Eq, lane, zero);
        let count = spread.subgroups();
        let slots: Vec<Option<Value>> =
            combined.iter().map(|value| self.shared_array(self.ty(*value), count)).collect();
        if let Some(spread) = &mut self.spread {
            spread.overflow |= slots.iter().any(Option::is_none);
        }
        self.wait_unless_met();
        let write = |e: &mut Self| {
            for (value, slots) in combined.iter().zip(&slots) {
                let (Some(slots), elem) = (slots, e.ty(*value)) else { continue };
                let ptr = e.gep(*slots, number, stored(elem));
                let value = e.storable(*value, elem);
                e.store(value, ptr);
            }
            Ok(vec![])
        };
        self.if_else(first, &[], write, |_| Ok(vec![])).expect("neither branch fails");
        self.barrier();
        for ((value, slots), (kind, _)) in combined.iter_mut().zip(&slots).zip(values) {
            *value = self.combine_slots(*kind, *value, *slots, (lane, count));
        }
        combined
    }

    /// Combines `count` slots. Every thread of a subgroup reads one; where a subgroup has fewer lanes than there are slots,
    /// a thread reads several.
    fn combine_slots(
        &mut self,
        kind: Combiner,
        value: Value,
        slots: Option<Value>,
        (lane, count): (Value, i64),
    ) -> Value {
        let Some(slots) = slots else { return value };
        let elem = self.ty(value);
        let width = count.min(self.spread.as_ref().map_or(1, |spread| spread.subgroup));
        let low_bits = self.i64(width - 1);
        let own = self.op1("arith.andi", &[lane, low_bits], Type::I64, &[]);
        let mut sum = None;
        for part in 0..count / width {
            let ahead = self.i64(part * width);
            let at = self.addi(own, ahead);
            let ptr = self.gep(slots, at, stored(elem));
            let read = self.load(ptr, stored(elem));
            let read = self.loaded(read, elem);
            sum = Some(sum.map_or(read, |sum| self.combine(kind, sum, read)));
        }
        self.butterfly(kind, sum.expect("there is a subgroup"), width)
    }

    /// Combines what `width` neighbouring threads have, each with the one that differs in a bit of its number: all get the
    /// same, as combiners commute.
    fn butterfly(&mut self, kind: Combiner, value: Value, width: i64) -> Value {
        let subgroup = self.spread.as_ref().map_or(1, |spread| spread.subgroup);
        let (mut value, mut offset) = (value, width / 2);
        while offset > 0 {
            let other = self.exchange(value, ShuffleMode::Xor, offset, subgroup);
            value = self.combine(kind, value, other);
            offset /= 2;
        }
        value
    }

    /// The value of another of `width` threads: by how far it is away, by its number, or by the bits in which that differs.
    pub(in crate::gir_lowering) fn exchange(
        &mut self,
        value: Value,
        mode: ShuffleMode,
        offset: i64,
        width: i64,
    ) -> Value {
        let ty = self.ty(value);
        let bits = self.cx().bit_width(ty).unwrap_or(64);
        if ty == Type::F32 || ty == Type::I32 {
            return self.shuffle_word(value, mode, offset, width);
        }
        let word = self.cx().int_type(bits);
        let as_word = if ty.is_float(self.cx()) { self.op1("arith.bitcast", &[value], word, &[]) } else { value };
        let word_value = match bits {
            ..32 => {
                let wide = self.op1("arith.extui", &[as_word], Type::I32, &[]);
                let other = self.shuffle_word(wide, mode, offset, width);
                self.op1("arith.trunci", &[other], word, &[])
            }
            32 => self.shuffle_word(as_word, mode, offset, width),
            _ => self.exchange_halves(as_word, mode, offset, width),
        };
        if ty.is_float(self.cx()) { self.op1("arith.bitcast", &[word_value], ty, &[]) } else { word_value }
    }

    /// The same for 64 bits, in two parts.
    fn exchange_halves(&mut self, value: Value, mode: ShuffleMode, offset: i64, width: i64) -> Value {
        let shift = self.i64(32);
        let low = self.op1("arith.trunci", &[value], Type::I32, &[]);
        let high = self.op1("arith.shrui", &[value, shift], Type::I64, &[]);
        let high = self.op1("arith.trunci", &[high], Type::I32, &[]);
        let [low, high] = [low, high].map(|half| self.shuffle_word(half, mode, offset, width));
        let low = self.op1("arith.extui", &[low], Type::I64, &[]);
        let high = self.op1("arith.extui", &[high], Type::I64, &[]);
        let high = self.op1("arith.shli", &[high, shift], Type::I64, &[]);
        self.op1("arith.ori", &[low, high], Type::I64, &[])
    }

    fn shuffle_word(&mut self, value: Value, mode: ShuffleMode, offset: i64, width: i64) -> Value {
        let number = |e: &mut Self, n: i64| {
            let attr = e.cx().int_attr(n, Type::I32);
            e.constant(attr, Type::I32)
        };
        let (offset, width) = (number(self, offset), number(self, width));
        if let Some(spread) = &mut self.spread {
            // Units that share a subgroup may not be there together.
            spread.parted |= spread.uneven && spread.threads < spread.subgroup;
        }
        let mode = self.cx().ext_attr(mode);
        let ty = self.ty(value);
        let op = self.op("gpu.shuffle", &[value, offset, width], &[ty, Type::I1], &[("mode", mode)]);
        self.b.body().result(op, 0)
    }

    /// Threads wait for each other unless they have, since their innermost loop began.
    pub(in crate::gir_lowering) fn wait_unless_met(&mut self) {
        if self.spread.as_ref().is_some_and(|spread| !spread.met) {
            self.barrier();
        }
    }

    /// All threads of the block wait for each other.
    pub(in crate::gir_lowering) fn barrier(&mut self) {
        self.op("gpu.barrier", &[], &[], &[]);
        if let Some(spread) = &mut self.spread {
            spread.met = true;
            spread.parted |= spread.uneven;
        }
    }

    /// A number that tells where in the launch a thread stands, along x.
    pub(in crate::gir_lowering) fn place(&mut self, op: &str) -> Value {
        let dimension = self.cx().ext_attr(Dimension::X);
        let number = self.op1(op, &[], Type::INDEX, &[("dimension", dimension)]);
        self.op1("arith.index_cast", &[number], Type::I64, &[])
    }

    /// The address of a new array of the block; `None` where too few bytes are left.
    pub(in crate::gir_lowering) fn shared_array(&mut self, elem: Type, elements: i64) -> Option<Value> {
        const ALIGNMENT: i64 = 16;
        let bytes = self.bytes(elem).checked_mul(elements)?;
        let cx = self.cx();
        let spread = self.spread.as_mut()?;
        let bytes = bytes.checked_add(ALIGNMENT - 1)? / ALIGNMENT * ALIGNMENT;
        if bytes > spread.bytes_left {
            return None;
        }
        spread.bytes_left -= bytes;
        let name = format!("{}{}", spread.prefix, spread.shared.len());
        spread.shared.push(SharedArray { name: name.clone(), elem: stored(elem), elements });
        let ptr = cx.ext_type(sutura_dialects::llvm::types::PointerType { address_space: SHARED });
        let symbol = cx.symbol_ref(&name);
        Some(self.op1("llvm.mlir.addressof", &[], ptr, &[("global_name", symbol)]))
    }

    /// What a thread's combination starts with.
    pub(in crate::gir_lowering) fn neutral(&mut self, kind: Combiner, elem: Type) -> Value {
        let neutral = identity(self.cx(), kind, elem);
        self.splat(neutral)
    }
}

impl SharedArray {
    /// The variable of the module.
    pub(in crate::gir_lowering) fn state(&self, cx: &sutura_ir::Context, loc: sutura_ir::Loc) -> OpState {
        let ty = cx.ext_type(sutura_dialects::llvm::types::ArrayType { elem: self.elem, len: self.elements as u64 });
        OpState::new(cx.op_name("llvm.mlir.global"), loc)
            .prop(cx.ident("addr_space"), cx.int_attr(i64::from(SHARED), Type::I32))
            .prop(cx.ident("alignment"), cx.int_attr(16, Type::I64))
            .prop(cx.ident("global_type"), cx.type_attr(ty))
            .prop(cx.ident("linkage"), cx.ext_attr(sutura_dialects::llvm::Linkage::Internal))
            .prop(cx.ident("sym_name"), cx.string_attr(&self.name))
    }
}
