//! `non_max_suppression`: each batch and class by itself, in the order of the scores. What is selected moves to the front of its part of the
//! scratch memory, and is written when it is known how much lies before it.

mod candidates;
mod window;

use candidates::Candidates;
use window::{Block, Extent, SMALL, Window};

use super::call::{Call, Input};
use super::floats::read;
use super::keys::Keys;
use crate::element::ElementType;

/// What is selected of a class.
#[derive(Clone, Copy)]
struct Rules {
    most: usize,
    overlap: f32,
    least: Option<f32>,
    centers: bool,
}

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
    let one = |input: &Input<'_>| read(input.elem, input.bytes, 0) as f32;
    let most = call.inputs[2].bytes.first_chunk().map_or(0, |bytes| i64::from_ne_bytes(*bytes));
    let rules = Rules {
        most: usize::try_from(most).unwrap_or(0).min(spots),
        overlap: one(&call.inputs[3]),
        least: (call.number("filtered") == 1).then(|| one(&call.inputs[4])),
        centers: call.number("centers") == 1,
    };
    // SAFETY: at one time one thread works on a part.
    let items_of = |part: usize| unsafe { call.scratch::<u128>(part * spots, spots) };
    // SAFETY: as above.
    let count_of = |part: usize| unsafe { call.scratch::<u128>(parts * spots + part, 1) };
    let usual = [scores.elem, boxes.elem] == [ElementType::F32; 2] && u32::try_from(spots).is_ok();
    call.threads.each(parts, &|part| {
        let (Ok(items), Ok(count)) = (items_of(part), count_of(part)) else { return };
        let class = Class { scores, boxes, score: part * spots, place: part / classes * spots };
        let items = bytemuck::cast_slice_mut(items);
        count[0] = if usual { class.select(rules, items) } else { class.select_any(rules, items) } as u128;
    });
    let mut total = 0;
    for part in 0..parts {
        total += count_of(part)?[0] as usize;
    }
    if !call.decide(&[total as i64]) {
        return Ok(());
    }
    let mut row = 0;
    for part in 0..parts {
        let (items, count) = (items_of(part)?, count_of(part)?[0] as usize);
        for item in &bytemuck::cast_slice::<u128, u64>(items)[..count] {
            for (column, index) in [part / classes, part % classes, *item as usize].into_iter().enumerate() {
                // SAFETY: only this thread writes.
                unsafe { call.outputs[0].write(row * 3 + column, &(index as i64).to_ne_bytes()) };
            }
            row += 1;
        }
    }
    Ok(())
}

/// The boxes of a batch and their scores for a class.
struct Class<'a> {
    scores: &'a Input<'a>,
    boxes: &'a Input<'a>,
    /// Number of the first score.
    score: usize,
    /// Number of the first box.
    place: usize,
}

impl Class<'_> {
    /// Writes which boxes are selected, in order, to the front of twice as many numbers as there are boxes, and returns how many
    /// these are. Scores and boxes are `f32`, and numbers of boxes have 32 bits.
    fn select(&self, rules: Rules, items: &mut [u64]) -> usize {
        let (items, rest) = items.split_at_mut(items.len() / 2);
        let spots = items.len();
        if rules.most == 0 {
            return 0;
        }
        let scores = &self.scores.bytes.as_chunks().0[self.score..][..spots];
        let boxes = &self.boxes.bytes.as_chunks::<4>().0.as_chunks::<4>().0[self.place..][..spots];
        let extent = |spot: u32| Extent::of(boxes[spot as usize].map(f32::from_ne_bytes), rules.centers);
        let mut few = [Block::default(); SMALL];
        let blocks: &mut [Block] = bytemuck::cast_slice_mut::<u64, f32>(rest).as_chunks_mut().0.as_chunks_mut().0;
        let blocks = if blocks.len() < SMALL { &mut few } else { blocks };
        let mut window = Window::new(blocks, rules.overlap);
        let mut candidates = Candidates::of(scores, rules.least, rules.most, items);
        while candidates.selected() < rules.most
            && let Some(spot) = candidates.next()
        {
            let Some(own) = extent(spot) else {
                candidates.select();
                continue;
            };
            if window.covers(&own) {
                continue;
            }
            candidates.select();
            if window.add(own) && candidates.selected() < rules.most {
                // All that is left is compared with the boxes of the window, which then are done with.
                candidates.retain(|spot| extent(spot).is_none_or(|own| !window.covers(&own)));
                window.clear();
            }
        }
        candidates.selected()
    }

    /// As [`Class::select`], for any floats and numbers of boxes.
    fn select_any(&self, rules: Rules, items: &mut [u64]) -> usize {
        let keys = Keys { input: self.scores, descending: true };
        let (pairs, mut found) = (items.as_chunks_mut::<2>().0, 0);
        for spot in 0..pairs.len() {
            let index = self.score + spot;
            let score = read(self.scores.elem, self.scores.bytes, index) as f32;
            if rules.least.is_none_or(|least| score > least) {
                pairs[found] = [keys.at(index), spot as u64];
                found += 1;
            }
        }
        pairs[..found].sort_unstable();
        let extent = |[_, spot]: [u64; 2]| {
            let first = (self.place + spot as usize) * 4;
            let number = |i| read(self.boxes.elem, self.boxes.bytes, first + i) as f32;
            Extent::of([0, 1, 2, 3].map(number), rules.centers)
        };
        let mut selected = 0;
        for next in 0..found {
            if selected == rules.most {
                break;
            }
            let own = extent(pairs[next]);
            let covers = |other: &[u64; 2]| extent(*other).zip(own).is_some_and(|(a, b)| a.overlaps(&b, rules.overlap));
            if !pairs[..selected].iter().any(covers) {
                pairs[selected] = pairs[next];
                selected += 1;
            }
        }
        (0..selected).for_each(|at| items[at] = items[2 * at + 1]);
        selected
    }
}
