//! `top_k`: the first elements of each line in the order of `sort`, found without sorting the rest.
//!
//! An element is the number `key << 64 | position`, so that no two are equal and those with the lowest numbers are wanted,
//! whoever finds them. They are kept in a heap with the greatest of them in front.

use super::call::{Call, Lines};
use super::keys::Keys;
use super::parallel::share;
use super::table::PARTS;

/// Elements of a piece of a line that are worth a heap of their own.
const LONG: usize = 1 << 12;

pub(super) fn run(call: &Call<'_>) -> Result<(), String> {
    let (lines, k) = (Lines::of(&call.inputs[0].dims, call.axis()), call.number("k"));
    if k > lines.size {
        return Err(format!("takes {k} elements of lines of {}", lines.size));
    }
    let keys = Keys { input: &call.inputs[0], descending: call.number("smallest") == 0 };
    let places = Lines::of(&call.outputs[0].dims, call.axis());
    // With several threads few lines are cut, each into pieces that are long beside what is taken of them.
    let worth = lines.size / (4 * k).max(LONG);
    let pieces = if lines.count < PARTS && call.threads.0 > 1 { (PARTS / lines.count).min(worth).max(1) } else { 1 };
    let heap = |unit: usize| {
        // SAFETY: at one time one thread works on a unit.
        unsafe { call.scratch::<u128>(unit * k, k) }
    };
    if pieces > 1 {
        heap(lines.count * pieces - 1)?;
        call.threads.each(lines.count * pieces, &|unit| {
            let (line, piece) = (unit / pieces, unit % pieces);
            let start = lines.start(line);
            let items = share(lines.size, pieces, piece).map(|index| item(keys, start + index * lines.step, index));
            heap(unit).into_iter().for_each(|heap| fill(heap, items.clone()));
        });
        // The first heap of a line takes in the others.
        call.threads.each(lines.count, &|line| {
            let Ok(first) = heap(line * pieces) else { return };
            let others = (1..pieces).filter_map(|piece| heap(line * pieces + piece).ok());
            others.for_each(|other| other.iter().for_each(|item| take(first, *item)));
            finish(call, (lines, places), line, first);
        });
        return Ok(());
    }
    let parts = lines.count.min(PARTS);
    heap(parts - 1)?;
    call.threads.each(parts, &|part| {
        let Ok(heap) = heap(part) else { return };
        for line in share(lines.count, parts, part) {
            let start = lines.start(line);
            fill(heap, (0..lines.size).map(|index| item(keys, start + index * lines.step, index)));
            finish(call, (lines, places), line, heap);
        }
    });
    Ok(())
}

/// Of the element at a place, which is the one of this index in its line.
fn item(keys: Keys<'_>, place: usize, index: usize) -> u128 {
    u128::from(keys.at(place)) << 64 | index as u128
}

/// Makes a heap of the lowest of at least as many items as it has places.
fn fill(heap: &mut [u128], mut items: impl Iterator<Item = u128>) {
    for (place, item) in heap.iter_mut().zip(&mut items) {
        *place = item;
    }
    for at in (0..heap.len() / 2).rev() {
        sift(heap, at);
    }
    items.for_each(|item| take(heap, item));
}

/// Puts an item in the place of the greatest one, if it is less.
fn take(heap: &mut [u128], item: u128) {
    if heap.first().is_some_and(|greatest| item < *greatest) {
        heap[0] = item;
        sift(heap, 0);
    }
}

/// Moves the item at a place down to where none below it is greater.
fn sift(heap: &mut [u128], mut at: usize) {
    loop {
        let mut greatest = at;
        for child in [2 * at + 1, 2 * at + 2] {
            if child < heap.len() && heap[child] > heap[greatest] {
                greatest = child;
            }
        }
        if greatest == at {
            return;
        }
        heap.swap(at, greatest);
        at = greatest;
    }
}

/// Writes what a heap holds as a line of the results.
fn finish(call: &Call<'_>, (lines, places): (Lines, Lines), line: usize, heap: &mut [u128]) {
    heap.sort_unstable();
    for (to, item) in heap.iter().enumerate() {
        let (to, from) = (places.at(line, to), *item as u64);
        // SAFETY: each element of a line is written once, and each line by one thread.
        unsafe {
            call.outputs[0].copy(to, &call.inputs[0], lines.at(line, from as usize));
            call.outputs[1].write(to, &from.to_ne_bytes());
        }
    }
}
