//! Counts of work: how often something was done, in all threads of the process.
//!
//! What a compilation costs is said in numbers that are the same on every machine, so that a test can compare them: patterns
//! tried, ops made, analyses computed. A [`Counter`] is a `static` beside the code that does the work. It is meant to be added
//! to once per batch: a driver counts for itself and adds what it came to when it is done, so that counting costs nothing that
//! could be measured.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The counters that were added to, in any order.
static KNOWN: Mutex<Vec<&'static Counter>> = Mutex::new(Vec::new());

/// A count of one kind of work.
#[derive(Debug)]
pub struct Counter {
    name: &'static str,
    count: AtomicU64,
    known: AtomicBool,
}

impl Counter {
    /// A counter of `name`, such as `patterns tried`.
    pub const fn new(name: &'static str) -> Self {
        Self { name, count: AtomicU64::new(0), known: AtomicBool::new(false) }
    }

    /// Adds to the count.
    pub fn add(&'static self, n: u64) {
        if n == 0 {
            return;
        }
        self.count.fetch_add(n, Ordering::Relaxed);
        if !self.known.load(Ordering::Relaxed) && !self.known.swap(true, Ordering::Relaxed) {
            KNOWN.lock().unwrap_or_else(PoisonError::into_inner).push(self);
        }
    }
}

/// All counts by name; counters of one name are added up. Those to which nothing was added are left out.
pub fn counts() -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for counter in KNOWN.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        *counts.entry(counter.name).or_default() += counter.count.load(Ordering::Relaxed);
    }
    counts
}

/// What was counted since `before`, an earlier result of [`counts`].
pub fn since(before: &BTreeMap<&'static str, u64>) -> BTreeMap<&'static str, u64> {
    let new = |(name, n): (&'static str, u64)| (name, n - before.get(name).copied().unwrap_or(0));
    counts().into_iter().map(new).filter(|(_, n)| *n > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_summed_over_threads_and_names() {
        static A: Counter = Counter::new("work of this test");
        static B: Counter = Counter::new("work of this test");
        let before = counts();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| A.add(1)));
            }
        });
        B.add(5);
        B.add(0);
        assert_eq!(since(&before)["work of this test"], 405);
    }
}
