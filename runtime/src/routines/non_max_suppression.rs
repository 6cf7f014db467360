//! `non_max_suppression`: each batch and class by itself, in order of the scores; what is selected moves to the front of its part of the scratch
//! memory, and is written when it is known how much lies before it.

use super::call::{Call, Input};
use super::floats::read;
use super::keys::Keys;
use crate::element::ElementType;

/// The corners of a box along one dimension, the least first.
type Span = (f32, f32);

pub(super) fn run(call: &Call<'_>) -> Result<(), String> {
    let (scores, boxes) = (&call.inputs[0], &call.inputs[1]);
    if scores.dims.len() != 3 {
        return Err(format!("takes scores of rank 3, not {}", scores.dims.len()));
    }
    let limits = &call.inputs[2..];
    if limits[0].elem != ElementType::I64 || limits.iter().any(|limit| limit.bytes.len() != limit.elem.bytes()) {
        return Err("takes one number of type i64 and two floats as limits".to_owned());
    }
    let [batches, classes, spots] = [0, 1, 2].map(|dim| scores.dims[dim] as usize);
    let parts = batches * classes;
    let one = |input: &Input<'_>| read(input.elem, input.bytes, 0);
    let (overlap, least) = (one(&call.inputs[3]) as f32, one(&call.inputs[4]) as f32);
    let most = call.inputs[2].bytes.first_chunk().map_or(0, |bytes| i64::from_ne_bytes(*bytes));
    let most = usize::try_from(most).unwrap_or(0).min(spots);
    let filtered = call.number("filtered") == 1;
    let centers = call.number("centers") == 1;
    // SAFETY: nobody else has this part of the scratch memory.
    let counts = unsafe { call.scratch::<u128>(parts * spots, parts)? };
    let keys = Keys { input: scores, descending: true };
    // SAFETY: at one time one thread works on a part.
    let items_of = |part: usize| unsafe { call.scratch::<u128>(part * spots, spots) };
    let place = |batch: usize, spot: usize| {
        let at = |i| read(boxes.elem, boxes.bytes, (batch * spots + spot) * 4 + i) as f32;
        corners([at(0), at(1), at(2), at(3)], centers)
    };
    let select = |part: usize| -> usize {
        let Ok(items) = items_of(part) else { return 0 };
        let mut found = 0;
        for spot in 0..spots {
            let index = part * spots + spot;
            if !filtered || read(scores.elem, scores.bytes, index) as f32 > least {
                items[found] = u128::from(keys.at(index)) << 64 | spot as u128;
                found += 1;
            }
        }
        items[..found].sort_unstable();
        let (batch, mut selected) = (part / classes, 0);
        for next in 0..found {
            if selected == most {
                break;
            }
            let own = place(batch, items[next] as u64 as usize);
            let covered =
                items[..selected].iter().any(|item| overlaps(own, place(batch, *item as u64 as usize), overlap));
            if !covered {
                items[selected] = items[next];
                selected += 1;
            }
        }
        selected
    };
    {
        let counts = std::sync::Mutex::new(&mut *counts);
        call.threads.each(parts, &|part| {
            let selected = select(part);
            counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[part] = selected as u128;
        });
    }
    let total: usize = counts.iter().map(|count| *count as usize).sum();
    if !call.decide(&[total as i64]) {
        return Ok(());
    }
    let mut row = 0;
    for (part, count) in counts.iter().enumerate() {
        for item in &items_of(part)?[..*count as usize] {
            for (column, index) in [part / classes, part % classes, *item as u64 as usize].into_iter().enumerate() {
                // SAFETY: only this thread writes.
                unsafe { call.outputs[0].write(row * 3 + column, &(index as i64).to_ne_bytes()) };
            }
            row += 1;
        }
    }
    Ok(())
}

/// The extent of a box along both dimensions.
fn corners(numbers: [f32; 4], centers: bool) -> [Span; 2] {
    let [a, b, c, d] = numbers;
    if centers {
        let span = |middle: f32, size: f32| (middle - size / 2.0, middle + size / 2.0);
        return [span(a, c), span(b, d)];
    }
    let span = |a: f32, b: f32| if a > b { (b, a) } else { (a, b) };
    [span(a, c), span(b, d)]
}

/// Whether what two boxes share is more than a part of what they cover together.
fn overlaps(a: [Span; 2], b: [Span; 2], part: f32) -> bool {
    let shared = [0, 1].map(|dim| (a[dim].0.max(b[dim].0), a[dim].1.min(b[dim].1)));
    if shared.iter().any(|(low, high)| high <= low) {
        return false;
    }
    let area = |spans: [Span; 2]| (spans[0].1 - spans[0].0) * (spans[1].1 - spans[1].0);
    let (common, first, second) = (area(shared), area(a), area(b));
    let whole = first + second - common;
    common > 0.0 && first > 0.0 && second > 0.0 && whole > 0.0 && common / whole > part
}
