//! The boxes of a class that may be selected, in the order of their scores, which is made only as far as it is asked for.

/// Scores that are compared with the least one together.
const TOGETHER: usize = 16;

/// Candidates that are put in order first, at least.
const FIRST: usize = 8;

/// Boxes as numbers `key << 32 | box`: the lowest is looked at first. In front are those that were selected, then what is free,
/// then the candidates that are left.
pub(super) struct Candidates<'a> {
    items: &'a mut [u64],
    selected: usize,
    next: usize,
    /// Where what is in order ends; all behind it come later.
    ordered: usize,
    /// Candidates to put in order next.
    step: usize,
}

impl<'a> Candidates<'a> {
    /// Those of the scores, given as bytes, that are greater than `least`, or all; about `wanted` will be looked at.
    pub(super) fn of(scores: &[[u8; 4]], least: Option<f32>, wanted: usize, items: &'a mut [u64]) -> Self {
        let count = match least {
            Some(least) => filter(scores, least, items),
            None => {
                let all = scores.iter().enumerate().zip(&mut *items);
                all.for_each(|((at, score), item)| *item = item_of(key_of(f32::from_ne_bytes(*score)), at));
                scores.len()
            }
        };
        Self { items: &mut items[..count], selected: 0, next: 0, ordered: 0, step: (wanted + wanted / 4).max(FIRST) }
    }

    /// The next candidate.
    pub(super) fn next(&mut self) -> Option<u32> {
        if self.next == self.ordered {
            let rest = &mut self.items[self.next..];
            let mut taken = rest.len();
            if taken / 2 > self.step {
                taken = self.step;
                rest.select_nth_unstable(taken);
            }
            rest[..taken].sort_unstable();
            self.ordered += taken;
            self.step = self.step.saturating_mul(4);
        }
        let item = *self.items.get(self.next)?;
        self.next += 1;
        Some(item as u32)
    }

    /// Selects the candidate that was given last.
    pub(super) fn select(&mut self) {
        self.items[self.selected] = self.items[self.next - 1] & u64::from(u32::MAX);
        self.selected += 1;
    }

    /// How many were selected. They stand in front of the memory, in order.
    pub(super) fn selected(&self) -> usize {
        self.selected
    }

    /// Drops those of the candidates that are left for which `keep` does not hold.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.items[self.ordered..].sort_unstable();
        let mut kept = self.next;
        for at in self.next..self.items.len() {
            if keep(self.items[at] as u32) {
                self.items[kept] = self.items[at];
                kept += 1;
            }
        }
        self.items = &mut std::mem::take(&mut self.items)[..kept];
        self.ordered = kept;
    }
}

/// Candidates with scores greater than the least, and how many they are: most often few.
fn filter(scores: &[[u8; 4]], least: f32, items: &mut [u64]) -> usize {
    let (groups, rest) = scores.as_chunks::<TOGETHER>();
    let mut found = 0;
    for (group, scores) in groups.iter().enumerate() {
        if !scores.iter().fold(false, |any, score| any | (f32::from_ne_bytes(*score) > least)) {
            continue;
        }
        // Without a branch: a candidate that does not count is overwritten.
        let mut keys = [0; TOGETHER];
        keys.iter_mut().zip(scores).for_each(|(key, score)| *key = key_of(f32::from_ne_bytes(*score)));
        for lane in 0..TOGETHER {
            items[found] = item_of(keys[lane], group * TOGETHER + lane);
            found += usize::from(f32::from_ne_bytes(scores[lane]) > least);
        }
    }
    for (at, score) in (scores.len() - rest.len()..).zip(rest) {
        let score = f32::from_ne_bytes(*score);
        if score > least {
            items[found] = item_of(key_of(score), at);
            found += 1;
        }
    }
    found
}

/// As `keys::ordered` in descending order: NaN first, and -0.0 as 0.0.
fn key_of(score: f32) -> u32 {
    const SIGN: u32 = 1 << 31;
    let bits = score.to_bits();
    let key = if bits < SIGN { SIGN + bits } else { bits.wrapping_neg() };
    if score.is_nan() { 0 } else { !key }
}

fn item_of(key: u32, at: usize) -> u64 {
    u64::from(key) << 32 | at as u64
}
