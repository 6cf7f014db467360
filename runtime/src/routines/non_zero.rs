//! `non_zero`: counted by part, then written by part, each behind those before it.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::call::Call;
use super::keys::is_zero;
use super::parallel::share;
use super::table::PARTS;

/// Elements that are worth a part of their own.
const LONG: usize = 1 << 12;

pub(super) fn run(call: &Call<'_>) -> Result<(), String> {
    let input = &call.inputs[0];
    let total = input.dims.iter().map(|size| *size as usize).product::<usize>();
    let parts = (total / LONG).clamp(1, PARTS);
    let found = |part: usize| share(total, parts, part).filter(|at| !is_zero(input.elem, input.bytes, *at));
    let counts = [const { AtomicUsize::new(0) }; PARTS];
    call.threads.each(parts, &|part| counts[part].store(found(part).count(), Ordering::Relaxed));
    let mut before = [0; PARTS];
    let mut count = 0;
    for (before, own) in before.iter_mut().zip(&counts) {
        *before = count;
        count += own.load(Ordering::Relaxed);
    }
    if !call.decide(&[count as i64]) || count == 0 {
        return Ok(());
    }
    call.threads.each(parts, &|part| {
        for (column, at) in (before[part]..).zip(found(part)) {
            let mut rest = at;
            for (row, size) in input.dims.iter().enumerate().rev() {
                let index = (rest % *size as usize) as i64;
                rest /= *size as usize;
                // SAFETY: each column is written by the part that found it.
                unsafe { call.outputs[0].write(row * count + column, &index.to_ne_bytes()) };
            }
        }
    });
    Ok(())
}
