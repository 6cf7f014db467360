//! Memory does not grow with the number of calls. It is a program of its own: what other tests take does not count.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{expected, inputs};
use sutura_runtime::{Artifact, Model, Options, Tensor, TensorView};

const THREADS: usize = 8;
const EARLY: usize = 1000;
const CALLS: usize = 6000;

/// Bytes of memory that the process has.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Two models, called at mixed shapes from many threads; each call gives the results of its shape. `leak` is kept of each.
fn grown(leak: usize) -> f64 {
    let model = || common::load(&[], Options::new().threads(1)).unwrap();
    let decided = Artifact::from_bytes("decided", &common::decided(&[])).unwrap();
    let models = [model(), model(), Model::from_artifact(decided, Options::new().threads(1)).unwrap()];
    let (next, early) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let call = next.fetch_add(1, Ordering::Relaxed);
                    if call >= CALLS {
                        break;
                    }
                    let size = 1 + (call * 7919 % 24) as i64;
                    one_call(&models, call, size);
                    std::mem::forget(vec![1u8; leak]);
                    if call == EARLY {
                        early.store(resident(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let early = early.load(Ordering::Relaxed) as f64;
    (resident() as f64 - early) / early
}

fn one_call(models: &[Model; 3], call: usize, size: i64) {
    if call % 3 == 2 {
        let x: Vec<f32> = (0..size).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let y = models[2].run(&[Tensor::from_slice(&[size], &x).unwrap()]).unwrap();
        assert_eq!(y[0].dims(), [(size + 1) / 2]);
        return;
    }
    let given = inputs(size, 25 - size);
    let wanted = expected(&given);
    let views: Vec<TensorView<'_>> = given.iter().map(Tensor::view).collect();
    let found = models[call % 3].run_views(&views).unwrap();
    assert!(found.iter().zip(&wanted).all(|(found, wanted)| found.bytes() == wanted.bytes()));
}

#[test]
fn memory_stays_as_it_is() {
    let grown_by = grown(0);
    assert!(grown_by < 0.01, "memory grew by {:.2} %", grown_by * 100.0);
    // A hundred bytes lost in each call would be seen.
    let leaked = grown(100);
    assert!(leaked > 0.01, "memory that was lost was not seen: {:.2} %", leaked * 100.0);
}
