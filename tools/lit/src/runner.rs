//! Running many tests at once, with results in the order of the tests.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use crate::outcome::Outcome;
use crate::suite::{Suite, Test};

/// Runs the tests on `jobs` threads. `done` gets every result in the order of
/// the tests, as soon as all before it are there, and says whether to go on;
/// after it said no, tests that have not started are not run.
pub fn run(tests: &[(&Suite, Test)], jobs: usize, mut done: impl FnMut(usize, Outcome) -> bool) {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, tests.len().max(1)) {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((suite, test)) = tests.get(index) else {
                        return;
                    };
                    if sender.send((index, suite.run(test))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut expected = 0;
        for (index, outcome) in receiver {
            waiting.insert(index, outcome);
            while let Some(outcome) = waiting.remove(&expected) {
                if !stop.load(Ordering::Relaxed) && !done(expected, outcome) {
                    stop.store(true, Ordering::Relaxed);
                }
                expected += 1;
            }
        }
    });
}
