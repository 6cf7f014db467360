//! Running combinations over the threads of a unit.
//!
//! Threads of a subgroup combine what they have at distances of 1, 2, 4, … (Hillis and Steele, "Data parallel algorithms",
//! CACM 1986); subgroups leave what all of theirs have in the block's memory, which every thread goes through in order.

use sutura_dialects::gpu::ShuffleMode;
use sutura_ir::{Type, Value};

use super::threads::Spread;
use crate::gir_lowering::emit::{Emit, Pred, identity};
use crate::gir_lowering::memory::stored;
use crate::gir_lowering::scan::Scan;

/// Threads in a row, and where in it this one is, counted in the direction of a scan.
struct Line {
    width: i64,
    at: Value,
    /// That takes the value of a thread before this one.
    mode: ShuffleMode,
    /// Number of the last thread.
    last: i64,
}

impl Emit<'_> {
    /// What the threads before this one have together, and what all of the unit have.
    pub(in crate::gir_lowering) fn scan_threads(&mut self, scan: Scan, own: Value) -> (Value, Value) {
        let spread = self.spread.clone().expect("a GPU is lowered for");
        let line = self.line(&spread, scan.reverse);
        let (before, all) = self.scan_subgroup(scan, own, &line);
        if spread.threads <= spread.subgroup {
            return (before, all);
        }
        let (ahead, sum) = self.scan_subgroups(scan, all, &spread);
        (self.combine(scan.combiner, ahead, before), sum)
    }

    /// The threads of a subgroup that belong to the unit.
    fn line(&mut self, spread: &Spread, reverse: bool) -> Line {
        let width = spread.threads.min(spread.subgroup);
        let low_bits = self.i64(width - 1);
        let lane = self.op1("arith.andi", &[spread.thread, low_bits], Type::I64, &[]);
        if reverse {
            let at = self.subi(low_bits, lane);
            return Line { width, at, mode: ShuffleMode::Down, last: 0 };
        }
        Line { width, at: lane, mode: ShuffleMode::Up, last: width - 1 }
    }

    fn scan_subgroup(&mut self, scan: Scan, own: Value, line: &Line) -> (Value, Value) {
        let (mut sum, mut distance) = (own, 1);
        while distance < line.width {
            let other = self.exchange(sum, line.mode, distance, line.width);
            let both = self.combine(scan.combiner, other, sum);
            let there = self.reaches_back(line, distance);
            sum = self.select(there, both, sum);
            distance *= 2;
        }
        if line.width == 1 {
            let neutral = identity(self.cx(), scan.combiner, self.ty(own));
            return (self.constant(neutral, self.ty(own)), own);
        }
        let neutral = identity(self.cx(), scan.combiner, self.ty(own));
        let neutral = self.constant(neutral, self.ty(own));
        let before = self.exchange(sum, line.mode, 1, line.width);
        let there = self.reaches_back(line, 1);
        let before = self.select(there, before, neutral);
        (before, self.exchange(sum, ShuffleMode::Idx, line.last, line.width))
    }

    /// Whether a thread is so far before this one.
    fn reaches_back(&mut self, line: &Line, distance: i64) -> Value {
        let distance = self.i64(distance);
        self.cmpi(Pred::Sge, line.at, distance)
    }

    /// What the subgroups before this one have together, and what all have, of what each has.
    fn scan_subgroups(&mut self, scan: Scan, own: Value, spread: &Spread) -> (Value, Value) {
        let (elem, count) = (self.ty(own), spread.threads / spread.subgroup);
        let slots = self.shared_array(elem, count);
        let Some(slots) = slots else {
            // The kernel is refused for it.
            self.spread.as_mut().expect("a GPU is lowered for").overflow = true;
            return (own, own);
        };
        let subgroup = self.i64(spread.subgroup);
        let number = self.op1("arith.divui", &[spread.thread, subgroup], Type::I64, &[]);
        let lane = self.op1("arith.remui", &[spread.thread, subgroup], Type::I64, &[]);
        let zero = self.i64(0);
        let first = self.cmpi(Pred::Eq, lane, zero);
        self.wait_unless_met();
        let write = |e: &mut Self| {
            let ptr = e.gep(slots, number, stored(elem));
            let value = e.storable(own, elem);
            e.store(value, ptr);
            Ok(vec![])
        };
        self.if_else(first, &[], write, |_| Ok(vec![])).expect("neither branch fails");
        self.barrier();
        let neutral = identity(self.cx(), scan.combiner, elem);
        let neutral = self.constant(neutral, elem);
        let (end, one, last) = (self.i64(count), self.i64(1), self.i64(count - 1));
        let sums = self.for_loop((zero, end, one), &[neutral, neutral], |e, step, sums| {
            let at = if scan.reverse { e.subi(last, step) } else { step };
            let own = e.cmpi(Pred::Eq, at, number);
            let before = e.select(own, sums[0], sums[1]);
            let ptr = e.gep(slots, at, stored(elem));
            let read = e.load(ptr, stored(elem));
            let read = e.loaded(read, elem);
            Ok(vec![e.combine(scan.combiner, sums[0], read), before])
        });
        let sums = sums.expect("the body does not fail");
        (sums[1], sums[0])
    }
}
