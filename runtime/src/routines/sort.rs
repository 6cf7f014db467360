//! `sort`: lines along an axis by keys, stable.
//!
//! A line is sorted by its last key, then by the one before, and so on; each pass keeps the order of equal elements, so that the
//! first key counts most. In a pass an element is the number `key << 64 | position`: no two are equal, so that there is one
//! order, whoever makes it.

use std::cmp::Ordering;

use super::call::{Call, Lines};
use super::keys::Keys;
use super::parallel::{Threads, share};
use super::table::PARTS;

/// Elements of a line from which on it is sorted by several threads.
const LONG: usize = 1 << 14;

/// Numbers of scratch memory for each element of a line.
const WORDS: usize = 3;

pub(super) fn run(call: &Call<'_>) -> Result<(), String> {
    let lines = Lines::of(&call.inputs[0].dims, call.axis());
    let parts = lines.count.min(PARTS);
    let words = lines.size * WORDS;
    // Fewer lines than threads are worth sorting together only where they are long.
    let together = parts < call.threads.0 && lines.size >= LONG;
    if together {
        // SAFETY: nobody else has scratch memory.
        let scratch = unsafe { call.scratch::<u128>(0, words)? };
        (0..lines.count).for_each(|line| sort_line(call, lines, line, scratch, call.threads));
        return Ok(());
    }
    // SAFETY: looks only whether there is enough.
    unsafe { call.scratch::<u128>((parts - 1) * words, words)? };
    call.threads.each(parts, &|part| {
        // SAFETY: each part has its own.
        let Ok(scratch) = (unsafe { call.scratch::<u128>(part * words, words) }) else { return };
        share(lines.count, parts, part).for_each(|line| sort_line(call, lines, line, scratch, Threads::one()));
    });
    Ok(())
}

fn sort_line(call: &Call<'_>, lines: Lines, line: usize, scratch: &mut [u128], threads: Threads) {
    let (items, rest) = scratch.split_at_mut(lines.size);
    let (other, order) = rest.split_at_mut(lines.size);
    let pieces = if threads.0 > 1 { PARTS } else { 1 };
    for (pass, (input, descending)) in call.inputs.iter().zip(call.param("descending")).rev().enumerate() {
        let keys = Keys { input, descending: *descending == 1 };
        let filled: &[u128] = order;
        threads.on(cut(items, pieces), |(start, piece)| {
            for (i, item) in piece.iter_mut().enumerate() {
                let position = start + i;
                let index = if pass == 0 { position } else { filled[position] as usize };
                *item = u128::from(keys.at(lines.at(line, index))) << 64 | position as u128;
            }
        });
        sort(items, other, threads);
        // Positions in the order before become positions in the line.
        let position = |item: u128| item as u64 as usize;
        for (item, place) in items.iter().zip(other.iter_mut()) {
            *place = if pass == 0 { position(*item) as u128 } else { order[position(*item)] };
        }
        order.copy_from_slice(other);
    }
    let order: &[u128] = order;
    threads.each(pieces, &|piece| {
        for to in share(lines.size, pieces, piece) {
            for (input, output) in call.inputs.iter().zip(&call.outputs) {
                // SAFETY: each element of a line is written once, and each line is sorted once.
                unsafe { output.copy(lines.at(line, to), input, lines.at(line, order[to] as usize)) };
            }
        }
    });
}

/// Cuts numbers into pieces, each with the number of its first one.
fn cut(mut items: &mut [u128], pieces: usize) -> impl Iterator<Item = (usize, &mut [u128])> {
    let total = items.len();
    (0..pieces).map(move |piece| {
        let range = share(total, pieces, piece);
        let (first, rest) = std::mem::take(&mut items).split_at_mut(range.len());
        items = rest;
        (range.start, first)
    })
}

/// Sorts numbers no two of which are equal.
pub(super) fn sort(items: &mut [u128], other: &mut [u128], threads: Threads) {
    sort_by(items, other, threads, u128::cmp);
}

/// As [`sort`], in an order in which no two are equal.
pub(super) fn sort_by(
    items: &mut [u128],
    other: &mut [u128],
    threads: Threads,
    order: impl Fn(&u128, &u128) -> Ordering + Sync + Copy,
) {
    if threads.0 <= 1 || items.len() < LONG {
        return items.sort_unstable_by(order);
    }
    threads.on(cut(items, PARTS), |(_, piece)| piece.sort_unstable_by(order));
    // Runs of 1, 2, 4 … pieces are merged in pairs, there and back.
    let (mut from, mut to) = (items, other);
    let mut run = 1;
    while run < PARTS {
        let (read, total) = (&*from, from.len());
        let border = |piece: usize| share(total, PARTS, piece.min(PARTS - 1));
        let start_of = |piece: usize| if piece >= PARTS { total } else { border(piece).start };
        threads.on(cut(to, PARTS).enumerate(), |(piece, (start, out))| {
            let first = piece / (2 * run) * (2 * run);
            let (low, middle, high) = (start_of(first), start_of(first + run), start_of(first + 2 * run));
            merge(&read[low..middle], &read[middle..high], start - low, out, order);
        });
        std::mem::swap(&mut from, &mut to);
        run *= 2;
    }
    // An even number of rounds ends where it began.
    const { assert!(PARTS.ilog2().is_multiple_of(2) && PARTS.is_power_of_two()) };
}

/// Writes those numbers of two sorted runs, merged, that come behind the first `skipped`.
fn merge(a: &[u128], b: &[u128], skipped: usize, out: &mut [u128], order: impl Fn(&u128, &u128) -> Ordering) {
    // Of the first `skipped` numbers so many are of `a`: the fewest for which the next of `a` is behind the last of `b`.
    let (mut low, mut high) = (skipped.saturating_sub(b.len()), skipped.min(a.len()));
    while low < high {
        let taken = low + (high - low) / 2;
        if order(&a[taken], &b[skipped - taken - 1]).is_lt() { low = taken + 1 } else { high = taken }
    }
    let (mut i, mut j) = (low, skipped - low);
    for place in out {
        let first = j >= b.len() || (i < a.len() && order(&a[i], &b[j]).is_lt());
        if first {
            *place = a[i];
            i += 1;
        } else {
            *place = b[j];
            j += 1;
        }
    }
}
