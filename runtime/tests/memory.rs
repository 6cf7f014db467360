//! Memory does not grow with the number of calls. It is a program of its own: what other tests take does not count.

mod common;

use std::sync::{Barrier, Mutex};

use common::{expected, inputs};
use sutura_runtime::{Artifact, Model, Options, Tensor, TensorView};

const THREADS: usize = 8;
/// Of each thread.
const EARLY: usize = 125;
const CALLS: usize = 750;

/// Bytes of memory that the process has, counted from its tables of pages: `statm` lags behind by up to 128 pages for each
/// processor.
fn resident() -> usize {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let rss = rollup.lines().find_map(|line| line.strip_prefix("Rss:")).unwrap();
    rss.split_whitespace().next().unwrap().parse::<usize>().unwrap() * 1024
}

/// By how much memory grows, of itself, from the calls `EARLY` to the last. Three models are called at mixed shapes from many
/// threads; each call gives the results of its shape. `leak` bytes are lost in each.
fn grown(leak: usize) -> f64 {
    let model = || common::load(&[], Options::new().threads(1)).unwrap();
    let decided = Artifact::from_bytes("decided", &common::decided(&[])).unwrap();
    let models = [model(), model(), Model::from_artifact(decided, Options::new().threads(1)).unwrap()];
    let calls = |from: usize, to: usize| {
        for call in from..to {
            one_call(&models, call);
            std::mem::forget(vec![1u8; leak]);
        }
    };
    let (here, sizes) = (Barrier::new(THREADS), Mutex::new(Vec::new()));
    // What counts memory brings its own pages.
    resident();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (calls, here, sizes) = (&calls, &here, &sizes);
            scope.spawn(move || {
                // What a thread needs of its own it has then.
                for (from, to) in [(0, EARLY), (EARLY, CALLS)] {
                    calls(thread + from, thread + to);
                    if here.wait().is_leader() {
                        sizes.lock().unwrap().push(resident() as f64);
                    }
                    here.wait();
                }
            });
        }
    });
    let sizes = sizes.into_inner().unwrap();
    (sizes[1] - sizes[0]) / sizes[0]
}

fn one_call(models: &[Model; 3], call: usize) {
    let size = 1 + (call * 7919 % 24) as i64;
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
