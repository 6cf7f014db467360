//! Every 32-bit float, for every function: minutes of all cores in a release build, and so only when asked for. Otherwise
//! the first few of each part of the range.
//!
//! `SUTURA_EVERY_FLOAT=1 cargo test --release -p sutura-passes --lib exhaustive -- --nocapture`, or `=exp,log` for some

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::measure::{CASES, Worst};

/// Number of parts in which the floats are done.
const PARTS: u64 = 1 << 16;

/// Floats of a part that are looked at when not all are.
const FEW: u64 = 2;

fn worst_of_all(measure: fn(u64, u64) -> Worst, every: bool) -> Worst {
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
                    let found = measure(at * part, at * part + if every { part } else { FEW });
                    let mut worst = worst.lock().expect("no thread panics with it");
                    *worst = worst.max(found);
                }
            });
        }
    });
    worst.into_inner().expect("no thread panicked")
}

#[test]
fn every_float_is_within_the_stated_bound() {
    let asked = std::env::var("SUTURA_EVERY_FLOAT").unwrap_or_default();
    let names: Vec<&str> = asked.split(',').filter(|name| !name.is_empty() && *name != "1").collect();
    for name in &names {
        assert!(CASES.iter().any(|case| case.name == *name), "SUTURA_EVERY_FLOAT: there is no function {name}");
    }
    for case in CASES {
        let every = if names.is_empty() { asked == "1" } else { names.contains(&case.name) };
        let worst = worst_of_all(case.measure, every);
        if every {
            eprintln!("{:6} {:.4} ulp at {:e} ({:#010x})", case.name, worst.ulp, worst.at, worst.at.to_bits());
        }
        assert!(worst.ulp <= case.bound, "{}: {worst:?}", case.name);
    }
}
