//! Every 32-bit float, for every function: minutes of all cores in a release build.
//!
//! `cargo test --release -p sutura-passes --lib exhaustive -- --ignored --nocapture`

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::measure::{CASES, Worst};

/// The floats are done in parts of this many, and a power of two.
const PARTS: u64 = 256;

fn worst_of_all(measure: fn(u64, u64) -> Worst) -> Worst {
    let (next, worst) = (AtomicU64::new(0), Mutex::new(Worst::default()));
    let part = (1 << 32) / PARTS;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= PARTS {
                        return;
                    }
                    let found = measure(at * part, (at + 1) * part);
                    let mut worst = worst.lock().expect("no thread panics with it");
                    *worst = worst.max(found);
                }
            });
        }
    });
    worst.into_inner().expect("no thread panicked")
}

#[test]
#[ignore = "minutes in a release build"]
fn every_float_is_within_the_stated_bound() {
    for case in CASES {
        let worst = worst_of_all(case.measure);
        println!("{:6} {:.4} ulp at {:e} ({:#010x})", case.name, worst.ulp, worst.at, worst.at.to_bits());
        assert!(worst.ulp <= case.bound, "{}: {worst:?}", case.name);
    }
}
