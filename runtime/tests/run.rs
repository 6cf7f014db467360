//! Models run: right results at every shape, the same bits for every number of threads, memory used as promised.

#![allow(unsafe_code)]

mod common;

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{expected, inputs, load};
use sutura_runtime::{ElementType, Error, Options, Tensor, TensorView, TensorViewMut};

const SHAPES: [(i64, i64); 10] =
    [(1, 1), (3, 5), (0, 4), (4, 0), (0, 0), (17, 33), (64, 100), (129, 7), (1000, 16), (5000, 2)];

fn bits(tensors: &[Tensor]) -> Vec<Vec<u8>> {
    tensors.iter().map(|t| t.bytes().to_vec()).collect()
}

#[test]
fn one_load_serves_every_shape_at_every_thread_count() {
    for threads in 1..=4 {
        let model = load(&[], Options::new().threads(threads)).unwrap();
        for (rows, cols) in SHAPES {
            let inputs = inputs(rows, cols);
            let outputs = model.run(&inputs).unwrap();
            assert_eq!(outputs[0].dims(), [rows, cols]);
            assert_eq!(outputs[1].dims(), [rows]);
            assert_eq!(bits(&outputs), bits(&expected(&inputs)), "{rows}x{cols} on {threads} threads");
        }
        let stats = model.stats();
        assert_eq!(stats.runs, SHAPES.len() as u64);
        // Two launches for each shape that has rows; those of 16 rows and more are split if there are threads.
        assert_eq!(stats.launches, 2 * 8);
        assert_eq!(stats.parallel_launches, if threads == 1 { 0 } else { 2 * 5 });
        assert_eq!(stats.staged_inputs, 0);
        assert_eq!(stats.workspace_peak_bytes, 5000 * 4);
    }
}

#[test]
fn launches_are_timed_where_that_is_asked_for() {
    let model = load(&[], Options::new().threads(2).profile(true)).unwrap();
    for (rows, cols) in [(3, 5), (64, 100), (64, 100)] {
        model.run(&inputs(rows, cols)).unwrap();
    }
    let profile = model.profile();
    let seen: Vec<_> = profile.iter().map(|l| (l.position, l.groups, l.chunks, l.calls)).collect();
    // Other numbers of groups are other launches.
    assert_eq!(seen, [(0, 3, 1, 1), (0, 64, 2, 2), (1, 3, 1, 1), (1, 64, 2, 2)]);
    assert!(profile.iter().all(|l| l.least <= l.total && l.kernel.as_deref() != Some("")), "{profile:?}");
    model.clear_profile();
    assert_eq!(model.profile(), []);
    let silent = load(&[], Options::new().threads(2)).unwrap();
    silent.run(&inputs(3, 5)).unwrap();
    assert_eq!(silent.profile(), []);
}

#[test]
fn a_run_ends_between_launches_where_that_is_wanted() {
    let wanted = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&wanted);
    let options = Options::new().threads(2).interrupt(move || asked.load(Ordering::Relaxed));
    let model = load(&[], options).unwrap();
    let error = model.run(&inputs(64, 100)).unwrap_err();
    assert_eq!((error.to_string().as_str(), error.exit_code()), ("the run was interrupted", 130));
    // Of the two launches the first is made.
    assert_eq!((model.stats().runs, model.stats().launches), (0, 1));
    wanted.store(false, Ordering::Relaxed);
    let inputs = inputs(64, 100);
    assert_eq!(bits(&model.run(&inputs).unwrap()), bits(&expected(&inputs)));
}

#[test]
fn concurrent_runs_do_not_disturb_each_other() {
    let model = load(&[], Options::new().threads(3)).unwrap();
    std::thread::scope(|scope| {
        for caller in 0..4 {
            let model = model.clone();
            scope.spawn(move || {
                for round in 0..50 {
                    let inputs = inputs(1 + (round * 37 + caller * 11) % 200, 1 + round % 9);
                    assert_eq!(bits(&model.run(&inputs).unwrap()), bits(&expected(&inputs)));
                }
            });
        }
    });
    assert_eq!(model.stats().runs, 200);
}

#[test]
fn two_models_keep_their_own_code() {
    let first = load(&[], Options::new()).unwrap();
    let failing = load(&["TEST_FAIL=7"], Options::new()).unwrap();
    let inputs = inputs(2, 2);
    assert!(matches!(failing.run(&inputs), Err(Error::RunFailed { code: 7 })));
    drop(failing);
    let again = load(&[], Options::new()).unwrap();
    for model in [first, again] {
        assert_eq!(bits(&model.run(&inputs).unwrap()), bits(&expected(&inputs)));
    }
}

#[test]
fn outputs_go_where_the_caller_wants_them() {
    let model = load(&[], Options::new().threads(1)).unwrap();
    let inputs = inputs(9, 4);
    let views = [inputs[0].view(), inputs[1].view()];
    let mut y = Tensor::zeros(ElementType::F32, &[9, 4]).unwrap();
    let mut sums = Tensor::zeros(ElementType::F32, &[9]).unwrap();
    for _ in 0..3 {
        y.bytes_mut().fill(0xee);
        model.run_into(&views, &mut [y.view_mut(), sums.view_mut()]).unwrap();
        assert_eq!(y.bytes(), expected(&inputs)[0].bytes());
    }
    assert_eq!(model.stats().workspace_allocations, 1);
    model.release_memory();
    model.run_into(&views, &mut [y.view_mut(), sums.view_mut()]).unwrap();
    assert_eq!(model.stats().workspace_allocations, 2);
}

#[test]
fn misaligned_inputs_are_copied_and_counted() {
    let model = load(&[], Options::new().threads(1)).unwrap();
    let aligned = inputs(6, 6);
    let mut shifted = vec![0u8; 36 * 4 + 128];
    let skip = shifted.as_ptr().addr().wrapping_neg() % 64 + 4;
    shifted[skip..][..36 * 4].copy_from_slice(aligned[0].bytes());
    let x = TensorView::new(ElementType::F32, &[6, 6], &shifted[skip..][..36 * 4]).unwrap();
    for _ in 0..2 {
        let outputs = model.run_views(&[x, aligned[1].view()]).unwrap();
        assert_eq!(bits(&outputs), bits(&expected(&aligned)));
    }
    assert_eq!((model.stats().staged_inputs, model.stats().staged_bytes), (2, 2 * 36 * 4));
}

#[test]
fn outputs_of_any_place_get_their_results() {
    let model = load(&[], Options::new().threads(1)).unwrap();
    let inputs = inputs(6, 6);
    let views = [inputs[0].view(), inputs[1].view()];
    let wanted = expected(&inputs);
    let mut memory = vec![0xeeu8; 1024];
    let start = memory.as_ptr().addr().wrapping_neg() % 64 + 4;
    for _ in 0..2 {
        memory.fill(0xee);
        let (before, rest) = memory[start - 4..].split_at_mut(4);
        let (first, rest) = rest.split_at_mut(36 * 4);
        let (between, rest) = rest.split_at_mut(4);
        let (second, behind) = rest.split_at_mut(6 * 4);
        let y = TensorViewMut::new(ElementType::F32, &[6, 6], &mut *first).unwrap();
        let sums = TensorViewMut::new(ElementType::F32, &[6], &mut *second).unwrap();
        model.run_into(&views, &mut [y, sums]).unwrap();
        assert!(first == wanted[0].bytes() && second == wanted[1].bytes());
        assert!(before.iter().chain(&*between).chain(&*behind).all(|byte| *byte == 0xee), "it wrote beside an output");
    }
    assert_eq!((model.stats().staged_outputs, model.stats().staged_bytes), (4, 2 * 42 * 4));
}

#[test]
fn unusable_output_buffers_are_refused() {
    let model = load(&[], Options::new().threads(1)).unwrap();
    let inputs = inputs(8, 8);
    let views = [inputs[0].view(), inputs[1].view()];
    let mut memory = Tensor::zeros(ElementType::F32, &[1024]).unwrap();
    let base = memory.bytes_mut().as_mut_ptr();
    // SAFETY (of each use below): the memory is ours, large enough, and nothing is written when the call is refused.
    let view = |dims: &'static [i64], offset: usize| unsafe {
        TensorViewMut::from_raw_parts(ElementType::F32, dims, base.add(offset)).unwrap()
    };
    let refused = |views: &[TensorView<'_>], outputs: &mut [TensorViewMut<'_>]| {
        model.run_into(views, outputs).unwrap_err().to_string()
    };
    let (y, sums): (&[i64], &[i64]) = (&[8, 8], &[8]);
    assert_eq!(refused(&views, &mut [view(y, 0)]), "the model has 2 outputs, but 1 buffer was given");
    assert_eq!(
        refused(&views, &mut [view(&[8, 9], 0), view(sums, 1024)]),
        "output `y` needs dims [8, 8], but its buffer has [8, 9]"
    );
    assert_eq!(
        refused(&views, &mut [view(y, 2), view(sums, 1024)]),
        "the buffer of output `y` is not aligned to its elements: f32 needs 4 bytes"
    );
    assert_eq!(
        refused(&views, &mut [view(y, 0), view(sums, 192)]),
        "the buffers of output `sums` and output `y` overlap"
    );
    // SAFETY: as above.
    let x = unsafe { TensorView::from_raw_parts(ElementType::F32, y, base.add(128)) }.unwrap();
    assert_eq!(
        refused(&[x, views[1]], &mut [view(y, 0), view(sums, 1024)]),
        "the buffers of output `y` and input `x` overlap"
    );
    let mut wrong = Tensor::zeros(ElementType::I32, &[8, 8]).unwrap();
    assert_eq!(
        refused(&views, &mut [wrong.view_mut(), view(sums, 1024)]),
        "output `y` has element type i32, but the model needs f32"
    );
    assert!(memory.bytes().iter().all(|&b| b == 0));
}

#[test]
fn shapes_without_a_run() {
    let model = load(&[], Options::new()).unwrap();
    let shapes = model.infer_shapes(&[&[3, 5], &[5]]).unwrap();
    assert_eq!(shapes.symbols, [3, 5]);
    assert_eq!(shapes.outputs, [vec![3, 5], vec![3]]);
    assert_eq!(shapes.workspace_bytes, 12);
    assert!(matches!(model.infer_shapes(&[&[3, 5], &[6]]), Err(Error::Shape(_))));
    assert!(matches!(model.infer_shapes(&[&[3, -5], &[6]]), Err(Error::InvalidTensor { .. })));
    assert_eq!(model.stats().runs, 0);
}

/// Doubles `bufs[0]`, of `dims[0] * dims[1]` elements.
unsafe extern "C" fn twice(bufs: *const *mut c_void, dims: *const i64, n_bufs: i32, n_dims: i32) -> i32 {
    assert_eq!((n_bufs, n_dims), (1, 2));
    // SAFETY: the model passes its first output and its two dims.
    let values = unsafe { std::slice::from_raw_parts_mut((*bufs).cast::<f32>(), (*dims * *dims.add(1)) as usize) };
    values.iter_mut().for_each(|v| *v *= 2.0);
    0
}

#[test]
fn routines_are_called_by_name() {
    // SAFETY: the function fits what the test's model passes.
    let options = unsafe { Options::new().routine(c"twice", twice) };
    let model = load(&["TEST_ROUTINE"], options).unwrap();
    let inputs = inputs(3, 3);
    let outputs = model.run(&inputs).unwrap();
    let doubled: Vec<f32> = expected(&inputs)[0].as_slice::<f32>().unwrap().iter().map(|v| v * 2.0).collect();
    assert_eq!(outputs[0].as_slice::<f32>().unwrap(), doubled);

    let model = load(&["TEST_ROUTINE"], Options::new()).unwrap();
    assert_eq!(
        model.run(&inputs).unwrap_err().to_string(),
        "the model calls a routine that this runtime does not have: `twice`; a newer runtime may, or the application can \
         register it"
    );
}

#[test]
fn a_file_can_be_replaced_while_its_model_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sutura");
    let manifest = common::manifest();
    let host = common::host(&[]);
    let write = |scale: f32| {
        let contents = sutura_runtime::artifact::Contents {
            manifest: &manifest,
            host: &host,
            device: None,
            constants: &[&scale.to_ne_bytes()],
        };
        sutura_runtime::artifact::write(&path, &contents).unwrap();
    };
    write(common::SCALE);
    let model = sutura_runtime::Model::load(&path).unwrap();
    let inputs = inputs(4, 4);
    write(9.0);
    assert_eq!(bits(&model.run(&inputs).unwrap()), bits(&expected(&inputs)));
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["rows.sutura"]);
}

/// With the variable, `cargo xtask memcheck` shows that it finds a kernel that reads behind its buffer.
#[test]
fn a_kernel_reads_its_buffer_unless_a_fault_is_planted() {
    let planted = std::env::var_os("SUTURA_PLANTED_FAULT").is_some();
    let macros: &[&str] = if planted { &["TEST_BEYOND"] } else { &[] };
    let inputs = inputs(4, 4);
    let outputs = load(macros, Options::new().threads(1)).unwrap().run(&inputs).unwrap();
    assert!(planted || bits(&outputs) == bits(&expected(&inputs)));
}
