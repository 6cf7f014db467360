//! Combining the lanes of vectors: each by itself, or many vectors at once.
//!
//! Halves of a vector are combined until one lane is left, which wastes half of every register after the first step. Of several
//! vectors two share a register after each step, so that `n` vectors of `n` lanes take `n - 1` combinations of two shuffles
//! each, and not `n log2 n`. Each vector's own lanes are combined in the same order both ways.

use sutura_dialects::gir::kinds::Combiner;
use sutura_dialects::vector::CombiningKind;
use sutura_ir::{Type, Value};

use super::emit::Emit;

/// Within so many bits lanes change places by one instruction on every vector unit.
const BLOCK_BITS: u32 = 128;

/// A vector in which each of some vectors has as many neighbouring lanes.
struct Shared {
    value: Value,
    /// Whose lanes they are, in order; where there were too few vectors one has several.
    owners: Vec<usize>,
}

impl Emit<'_> {
    /// Combines all columns of each vector. The order is fixed by the number of lanes, and of threads.
    pub(super) fn combine_all(&mut self, vectors: &[(Combiner, Value)]) -> Vec<Value> {
        if self.spread.is_some() {
            let own: Vec<_> =
                vectors.iter().map(|(kind, vector)| (*kind, self.combine_own_lanes(*kind, *vector))).collect();
            return self.combine_threads(&own);
        }
        let mut numbers: Vec<Option<Value>> = vec![None; vectors.len()];
        for (i, (kind, vector)) in vectors.iter().enumerate() {
            if numbers[i].is_some() {
                continue;
            }
            let ty = self.ty(*vector);
            let alike = (i..vectors.len()).filter(|at| vectors[*at].0 == *kind && self.ty(vectors[*at].1) == ty);
            let alike: Vec<usize> = alike.collect();
            if alike.len() == 1 || *kind == Combiner::AddI || self.lanes == 1 {
                numbers[i] = Some(self.combine_own_lanes(*kind, *vector));
                continue;
            }
            let together: Vec<Value> = alike.iter().map(|at| vectors[*at].1).collect();
            for (at, number) in alike.iter().zip(self.combine_together(*kind, &together)) {
                numbers[*at] = Some(number);
            }
        }
        numbers.into_iter().map(|number| number.expect("every vector has been combined")).collect()
    }

    /// Combines the lanes of each of many vectors of one type.
    fn combine_together(&mut self, kind: Combiner, vectors: &[Value]) -> Vec<Value> {
        let elem = self.cx().element_type(self.ty(vectors[0]));
        let bits = self.cx().bit_width(elem).unwrap_or(64).max(8);
        let block = i64::from(BLOCK_BITS / bits).clamp(1, self.lanes);
        let mut shared: Vec<Shared> =
            vectors.iter().enumerate().map(|(i, v)| Shared { value: *v, owners: vec![i] }).collect();
        let mut width = self.lanes;
        while width > 1 {
            shared = shared
                .chunks(2)
                .map(|pair| self.join(kind, (&pair[0], pair.last().expect("not empty")), width, block))
                .collect();
            width /= 2;
        }
        let mut numbers: Vec<Option<Value>> = vec![None; vectors.len()];
        for vector in &shared {
            for (lane, owner) in
                vector.owners.iter().enumerate().filter(|(_, owner)| numbers[**owner].is_none()).collect::<Vec<_>>()
            {
                numbers[*owner] = Some(self.lane(vector.value, lane as i64, elem));
            }
        }
        numbers.into_iter().map(|number| number.expect("each vector owns a lane")).collect()
    }

    /// Combines the halves of what each owner of two vectors has, `width` lanes, and puts them into one.
    fn join(&mut self, kind: Combiner, (a, b): (&Shared, &Shared), width: i64, block: i64) -> Shared {
        let lanes = self.lanes;
        // Lanes of a vector that stay side by side: all of it, or a block, in which one instruction mixes two vectors.
        let piece = if width > block { lanes } else { block };
        let half = |high: i64| -> Vec<i64> {
            let starts = (0..lanes / piece).flat_map(|at| [at * piece, lanes + at * piece]);
            let owned =
                starts.flat_map(|start| (0..piece / width).map(move |owner| start + owner * width + high * width / 2));
            owned.flat_map(|start| start..start + width / 2).collect()
        };
        let low = self.shuffle(a.value, b.value, half(0).into_iter());
        let high = self.shuffle(a.value, b.value, half(1).into_iter());
        let value = self.combine(kind, low, high);
        let per_piece = (piece / width) as usize;
        let owners = a.owners.chunks(per_piece).zip(b.owners.chunks(per_piece)).flat_map(|(a, b)| [a, b].concat());
        Shared { value, owners: owners.collect() }
    }

    /// Combines the lanes that lie in one register, halves first.
    pub(super) fn combine_own_lanes(&mut self, kind: Combiner, vector: Value) -> Value {
        let elem = self.cx().element_type(self.ty(vector));
        let (mut value, mut width) = (vector, self.lanes);
        if kind == Combiner::AddI && width > 1 && self.spread.is_none() {
            // The order says nothing of a sum of integers. LLVM makes instructions of its own of sums of products of bytes (`vpdpbusd`),
            // and loses lanes where the halves are added as below (LLVM 22).
            let kind = self.cx().ext_attr(CombiningKind::Add);
            return self.op1("vector.reduction", &[value], elem, &[("kind", kind)]);
        }
        while width > 1 {
            width /= 2;
            let part = |emit: &mut Self, from: i64| emit.shuffle(value, value, from..from + width);
            let (low, high) = (part(self, 0), part(self, width));
            value = self.combine(kind, low, high);
        }
        self.lane(value, 0, elem)
    }

    fn lane(&mut self, vector: Value, lane: i64, elem: Type) -> Value {
        let position = self.cx().i64_array(&[lane]);
        self.op1("vector.extract", &[vector], elem, &[("static_position", position)])
    }
}
