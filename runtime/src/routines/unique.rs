//! `unique`: slices are sorted, so that equal ones lie together, the first one in front.

use std::cmp::Ordering;

use super::call::{Call, Input};
use super::keys::Keys;
use super::sort::{sort, sort_by};

/// The slices of a tensor along an axis.
#[derive(Clone, Copy)]
struct Slices<'a> {
    keys: Keys<'a>,
    /// Number of slices.
    count: usize,
    /// Elements of a slice that lie together.
    inner: usize,
    /// Elements of a slice.
    size: usize,
}

impl<'a> Slices<'a> {
    fn of(input: &'a Input<'a>, axis: usize) -> Self {
        let product = |dims: &[i64]| dims.iter().map(|d| *d as usize).product::<usize>();
        let (outer, inner) = (product(&input.dims[..axis]), product(&input.dims[axis + 1..]));
        let keys = Keys { input, descending: false };
        Self { keys, count: input.dims[axis] as usize, inner, size: outer * inner }
    }

    /// Number of an element of a slice, where there are `count` slices.
    fn at(self, count: usize, slice: usize, element: usize) -> usize {
        (element / self.inner * count + slice) * self.inner + element % self.inner
    }

    fn compare(self, a: usize, b: usize) -> Ordering {
        let key = |slice, element| self.keys.at(self.at(self.count, slice, element));
        let different = |element| Some(key(a, element).cmp(&key(b, element))).filter(|order| order.is_ne());
        (0..self.size).find_map(different).unwrap_or(Ordering::Equal)
    }
}

pub(super) fn run(call: &Call<'_>) -> Result<(), String> {
    let slices = Slices::of(&call.inputs[0], call.axis());
    let count = slices.count;
    // SAFETY: nobody else has scratch memory.
    let scratch = unsafe { call.scratch::<u128>(0, 3 * count)? };
    let (items, rest) = scratch.split_at_mut(count);
    let (firsts, ranks) = rest.split_at_mut(count);
    items.iter_mut().enumerate().for_each(|(slice, item)| *item = slice as u128);
    if slices.size == 1 {
        // A single element is a number, which need not be read for each comparison.
        (0..).zip(&mut *items).for_each(|(slice, item)| *item |= u128::from(slices.keys.at(slice)) << 64);
        sort(items, firsts, call.threads);
        items.iter_mut().for_each(|item| *item = u128::from(*item as u64));
    } else {
        sort_by(items, firsts, call.threads, |a, b| slices.compare(*a as usize, *b as usize).then(a.cmp(b)));
    }
    // An item becomes its group and its slice; of each group the first slice is kept.
    let mut groups = 0;
    let mut before = None;
    for item in items.iter_mut() {
        let slice = *item as usize;
        if before.is_none_or(|before| slices.compare(before, slice).is_ne()) {
            firsts[groups] = (slice as u128) << 64 | groups as u128;
            groups += 1;
        }
        before = Some(slice);
        *item |= ((groups - 1) as u128) << 64;
    }
    if !call.decide(&[groups as i64]) {
        return Ok(());
    }
    let firsts = &mut firsts[..groups];
    if call.number("sorted") == 0 {
        firsts.sort_unstable();
    }
    for (rank, first) in firsts.iter().enumerate() {
        ranks[*first as u64 as usize] = rank as u128;
        let slice = (first >> 64) as usize;
        // SAFETY: only this thread writes.
        unsafe { call.outputs[1].write(rank, &(slice as i64).to_ne_bytes()) };
    }
    write(call, slices, firsts);
    for (rank, members) in ranks.iter().zip(items.chunk_by(|a, b| a >> 64 == b >> 64)) {
        let (rank, count) = (*rank as i64, members.len() as i64);
        // SAFETY: as above.
        unsafe { call.outputs[3].write(rank as usize, &count.to_ne_bytes()) };
        for member in members {
            // SAFETY: as above; every slice is a member of one group.
            unsafe { call.outputs[2].write(*member as u64 as usize, &rank.to_ne_bytes()) };
        }
    }
    Ok(())
}

/// Writes the first slices of all groups, each in its place.
fn write(call: &Call<'_>, slices: Slices<'_>, firsts: &[u128]) {
    let count = firsts.len();
    call.threads.each(count, &|rank| {
        let slice = (firsts[rank] >> 64) as usize;
        for element in 0..slices.size {
            let (to, from) = (slices.at(count, rank, element), slices.at(slices.count, slice, element));
            // SAFETY: each slice of the output is written once.
            unsafe { call.outputs[0].copy(to, &call.inputs[0], from) };
        }
    });
}
