//! Asynchronous copies of NVIDIA's GPUs, from the device's memory to the block's.

use sutura_dialects::nvvm::CacheModifier;
use sutura_ir::{Type, Value};

use super::threads::{GLOBAL, SHARED};
use crate::gir_lowering::emit::{Emit, Pred};
use crate::gir_lowering::memory::{SliceVal, stored};

/// Bytes of the copy that leaves nothing in the multiprocessor's cache.
const PAST_CACHE: i64 = 16;

/// Bytes of the smallest copy.
const LEAST_BYTES: i64 = 4;

impl Emit<'_> {
    /// The elements that a thread copies at once, where they are 4, 8 or 16 bytes side by side, to a place all of which exists.
    pub(in crate::gir_lowering) fn lanes_of_copies(
        &self,
        (from, to): (&SliceVal, &SliceVal),
        cols: i64,
    ) -> Option<i64> {
        let space = |slice: &SliceVal| self.address_space(slice.base);
        let whole = to.row.window.is_full() && to.col.window.is_full() && to.exists.is_none();
        let lines = from.col.is_contiguous() && to.col.is_contiguous();
        if !whole || !lines || space(from) != Some(GLOBAL) || space(to) != Some(SHARED) {
            return None;
        }
        let bytes = self.bytes(to.elem);
        let halves = std::iter::successors(Some(self.lanes), |lanes| Some(lanes / 2).filter(|half| *half > 0));
        let mut fit = halves.filter(|lanes| cols % lanes == 0 && lanes * bytes <= PAST_CACHE);
        fit.next().filter(|lanes| lanes * bytes >= LEAST_BYTES)
    }

    /// Begins the copies of this thread's vectors, of which those of all rows are numbered one after another. Of those that do not
    /// exist it writes zeros, or nothing.
    pub(in crate::gir_lowering) fn begin_copies(
        &mut self,
        (from, to): (&SliceVal, &SliceVal),
        (rows, cols): (i64, i64),
        zeros: bool,
    ) -> Result<(), String> {
        let (threads, thread) = self.spread.as_ref().map(|spread| (spread.threads, spread.thread)).expect("a GPU's");
        let (of_row, lanes) = (self.i64(cols / self.lanes), self.i64(self.lanes));
        let all = rows * (cols / self.lanes);
        for first in (0..all).step_by(threads as usize) {
            let before = self.i64(first);
            let number = self.addi(thread, before);
            let row = self.op1("arith.divui", &[number, of_row], Type::I64, &[]);
            let col = self.op1("arith.remui", &[number, of_row], Type::I64, &[]);
            let col = self.muli(col, lanes);
            let mut exists = from.exists;
            for (at, window) in [(row, from.row.window), (col, from.col.window)] {
                for (bound, pred) in [(window.hi, Pred::Slt), (window.lo, Pred::Sge)] {
                    let Some(bound) = bound else { continue };
                    let inside = self.cmpi(pred, at, bound);
                    exists = Some(self.both(exists, inside));
                }
            }
            let mut needed = None;
            if first + threads > all {
                let end = self.i64(all);
                needed = Some(self.cmpi(Pred::Slt, number, end));
            }
            let (source, target) = (self.address(from, Some(row), Some(col)), self.address(to, Some(row), Some(col)));
            let size = exists.filter(|_| zeros).map(|exists| self.bytes_where(exists, to.elem));
            if let Some(exists) = exists.filter(|_| !zeros) {
                needed = Some(self.both(needed, exists));
            }
            let begin = |e: &mut Self| {
                e.begin_copy((source, target), to.elem, size);
                Ok(vec![])
            };
            match needed {
                Some(needed) => self.if_else(needed, &[], begin, |_| Ok(vec![]))?,
                None => begin(self)?,
            };
        }
        Ok(())
    }

    /// The bytes of a vector, or none.
    fn bytes_where(&mut self, exists: Value, elem: Type) -> Value {
        let [all, none] = [self.lanes * self.bytes(elem), 0].map(|bytes| {
            let bytes = self.cx().int_attr(bytes, Type::I32);
            self.constant(bytes, Type::I32)
        });
        self.select(exists, all, none)
    }

    fn begin_copy(&mut self, (source, target): (Value, Value), elem: Type, size: Option<Value>) {
        let bytes = self.lanes * self.bytes(stored(elem));
        let modifier = if bytes == PAST_CACHE { CacheModifier::Cg } else { CacheModifier::Ca };
        let cx = self.cx();
        let props = [("size", cx.int_attr(bytes, Type::I32)), ("modifier", cx.ext_attr(modifier))];
        let operands: Vec<Value> = [target, source].into_iter().chain(size).collect();
        self.op("nvvm.cp.async.shared.global", &operands, &[], &props);
    }

    fn address_space(&self, ptr: Value) -> Option<u32> {
        let ty: &sutura_dialects::llvm::types::PointerType = self.cx().type_as(self.ty(ptr))?;
        Some(ty.address_space)
    }
}
