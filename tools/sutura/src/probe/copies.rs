//! How fast this machine copies, from each cache and from main memory.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

/// Bytes that one measurement moves at least, so that the clock's own time does not count.
const MOVED: usize = 64 << 20;

/// Gigabytes per second that so many threads move together, each copying `bytes / 2` bytes to another place; what is read and
/// what is written both count. The best of several rounds.
pub(super) fn bandwidth(bytes: usize, threads: usize, rounds: u32) -> f64 {
    let half = (bytes / 2).max(64);
    let times = (MOVED / bytes.max(1)).max(1);
    let barrier = Barrier::new(threads);
    let run = || {
        let mut memory = vec![1u8; 2 * half + 2 * LINE + PAGE];
        let (from, to) = places(&mut memory, half);
        let mut spans = Vec::new();
        for _ in 0..rounds {
            barrier.wait();
            let start = Instant::now();
            for _ in 0..times {
                black_box(&mut *to).copy_from_slice(black_box(&*from));
            }
            spans.push((start, Instant::now()));
        }
        spans
    };
    let spans: Vec<Vec<_>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        handles.into_iter().map(|h| h.join().expect("copying does not fail")).collect()
    });
    let moved = 2.0 * half as f64 * times as f64 * threads as f64;
    let seconds = |round: usize| {
        let first = spans.iter().map(|s| s[round].0).min();
        let last = spans.iter().map(|s| s[round].1).max();
        last.zip(first).map_or(f64::INFINITY, |(last, first)| (last - first).as_secs_f64())
    };
    let best = (0..rounds as usize).map(seconds).fold(f64::INFINITY, f64::min);
    moved / best / 1e9
}

/// Bytes of a line of a cache.
const LINE: usize = 64;
/// Bytes of a page.
const PAGE: usize = 4096;

/// Two places of so many bytes, at the start of lines. Where in a page the second one begins is half a page further: a load waits for
/// a store before it at the same place of another page.
fn places(memory: &mut [u8], half: usize) -> (&mut [u8], &mut [u8]) {
    let start = memory.as_ptr().align_offset(LINE).min(LINE);
    let room = half.next_multiple_of(LINE);
    let apart = room + (PAGE + PAGE / 2 - room % PAGE) % PAGE;
    let (first, second) = memory[start..].split_at_mut(apart);
    (&mut first[..half], &mut second[..half])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_begin_lines_and_lie_half_a_page_apart() {
        for half in [64, 100, 8192, 10_000] {
            let mut memory = vec![0u8; 2 * half + 2 * LINE + PAGE];
            let (from, to) = places(&mut memory, half);
            assert_eq!((from.len(), to.len()), (half, half));
            let [from, to] = [from, to].map(|place| place.as_ptr().addr());
            assert_eq!((from % LINE, to % LINE, (to - from) % PAGE), (0, 0, PAGE / 2), "{half}");
        }
    }

    #[test]
    fn copying_has_a_speed() {
        for (bytes, threads) in [(1 << 14, 1), (1 << 14, 2), (0, 1)] {
            let speed = bandwidth(bytes, threads, 1);
            assert!(speed.is_finite() && speed > 0.0, "{bytes} bytes, {threads} threads: {speed}");
        }
    }
}
