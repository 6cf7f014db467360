//! Models in which data decide sizes: compiled, run at many sizes, into memory of the caller, and with data that do not fit.

use std::path::Path;
use std::process::{Command, Output};

use sutura_runtime::{Error, Model, Options, ShapeProblem, Tensor};

fn sutura(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.env("NO_COLOR", "1").args(args).output().unwrap()
}

fn load(name: &str, folder: &Path, threads: usize) -> Model {
    let artifact = folder.join(name).with_extension("sutura");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let done = sutura(&["compile", "-q", model.to_str().unwrap(), "-o", artifact.to_str().unwrap()]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Model::load_with(&artifact, Options::new().threads(threads)).unwrap()
}

/// Numbers of which about so many in a hundred are not zero.
fn sparse(count: usize, percent: u64) -> Vec<f32> {
    let mut state = 0x1234_5678_9abc_def1u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if (state >> 33) % 100 < percent { (state >> 40) as f32 / (1 << 23) as f32 + 0.5 } else { 0.0 }
    };
    (0..count).map(next).collect()
}

fn inputs((rows, columns): (usize, usize), percent: u64, more: usize) -> (Vec<f32>, [Tensor; 2]) {
    let values = sparse(rows * columns, percent);
    let x = Tensor::from_slice(&[rows as i64, columns as i64], &values).unwrap();
    (values, [x, Tensor::from_slice(&[more as i64], &vec![0.25f32; more]).unwrap()])
}

/// What the model of `decided.mlir` gives, plainly.
fn check(values: &[f32], columns: usize, more: usize, outputs: &[Tensor]) {
    let found: Vec<usize> = (0..values.len()).filter(|i| values[*i] != 0.0).collect();
    let count = found.len() as i64;
    assert_eq!(outputs[0].dims(), [2, count]);
    let rows = found.iter().map(|i| (i / columns) as i64).chain(found.iter().map(|i| (i % columns) as i64));
    assert!(outputs[0].as_slice::<i64>().unwrap().iter().copied().eq(rows));
    let doubled: Vec<f32> = found.iter().map(|i| 2.0 * values[*i]).collect();
    assert_eq!((outputs[1].dims(), outputs[1].as_slice::<f32>().unwrap()), (&[count][..], &doubled[..]));
    let (sum, wanted) = (f64::from(outputs[2].as_slice::<f32>().unwrap()[0]), values.iter().map(|v| f64::from(*v)));
    let wanted: f64 = wanted.sum();
    assert!((sum - wanted).abs() <= 1e-5 * wanted.abs().max(1.0), "{sum}, not {wanted}");
    assert_eq!(outputs[3].dims(), [count + more as i64]);
    let joined: Vec<f32> = found.iter().map(|i| values[*i]).chain(vec![0.25; more]).collect();
    assert_eq!(outputs[3].as_slice::<f32>().unwrap(), joined);
}

#[test]
fn outputs_have_the_sizes_that_data_decide() {
    let folder = tempfile::tempdir().unwrap();
    let one = load("decided.mlir", folder.path(), 1);
    let many = load("decided.mlir", folder.path(), 5);
    for (rows, columns) in [(3, 4), (1, 1), (0, 5), (5, 0), (40, 17), (150, 90)] {
        for (percent, more) in [(0, 0), (30, 3), (100, 1)] {
            let (values, inputs) = inputs((rows, columns), percent, more);
            let outputs = one.run(&inputs).unwrap();
            check(&values, columns, more, &outputs);
            for (a, b) in outputs.iter().zip(&many.run(&inputs).unwrap()) {
                assert_eq!((a.dims(), a.bytes()), (b.dims(), b.bytes()), "{rows} x {columns}");
            }
        }
    }
}

#[test]
fn memory_of_the_caller_is_for_the_most_that_there_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let model = load("decided.mlir", folder.path(), 2);
    assert_eq!(model.manifest().decided, ["K"]);
    let (values, inputs) = inputs((6, 7), 40, 2);
    let dims: Vec<&[i64]> = inputs.iter().map(Tensor::dims).collect();
    assert_eq!(model.infer_shapes(&dims).unwrap().outputs, [vec![2, 42], vec![42], vec![], vec![44]]);
    let mut outputs = model.allocate_outputs(&dims).unwrap();
    let views: Vec<_> = inputs.iter().map(Tensor::view).collect();
    for _ in 0..2 {
        let mut targets: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
        let found = model.run_into(&views, &mut targets).unwrap().expect("data decide");
        let count = values.iter().filter(|v| **v != 0.0).count();
        assert_eq!(found, [vec![2, count as i64], vec![count as i64], vec![], vec![count as i64 + 2]]);
        let doubled: Vec<f32> = values.iter().filter(|v| **v != 0.0).map(|v| 2.0 * v).collect();
        assert_eq!(outputs[1].as_slice::<f32>().unwrap()[..count], doubled);
    }
    // Another size than that is no place for all.
    let mut small = Tensor::zeros(outputs[1].element_type(), &[3]).unwrap();
    let [a, _, c, d] = &mut outputs[..] else { panic!("four outputs") };
    let mut targets = [a.view_mut(), small.view_mut(), c.view_mut(), d.view_mut()];
    let error = model.run_into(&views, &mut targets).unwrap_err();
    assert_eq!(error.to_string(), "output `doubled` needs dims [42], but its buffer has [3]");
}

#[test]
fn what_data_decide_is_compared_with_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let model = load("decided_equal.mlir", folder.path(), 2);
    let run = |x: &[f32], w: &[i64]| {
        let x = Tensor::from_slice(&[x.len() as i64], x).unwrap();
        model.run(&[x, Tensor::from_slice(&[w.len() as i64], w).unwrap()])
    };
    assert_eq!(run(&[0.0, 3.0, 0.0, 4.0], &[10, 20]).unwrap()[0].as_slice::<i64>(), Some(&[11, 23][..]));
    assert!(run(&[], &[]).unwrap()[0].is_empty());
    // More and fewer than there is place for.
    for (x, found) in [(&[1.0, 3.0, 0.0, 4.0][..], 3), (&[0.0; 9], 0)] {
        let error = run(x, &[10, 20]).unwrap_err();
        assert!(matches!(&error, Error::Shape(ShapeProblem::Inconsistent { .. })), "{error:?}");
        let words =
            format!("the size that graph.non_zero 'found', which looks for numbers that count, finds is {found}, but");
        assert!(error.to_string().contains(&words), "{error}");
        assert_eq!(error.exit_code(), 1);
    }
}

#[test]
fn the_command_writes_what_was_found_and_measures_it() {
    let folder = tempfile::tempdir().unwrap();
    drop(load("decided.mlir", folder.path(), 1));
    let artifact = folder.path().join("decided.sutura");
    let args = ["run", artifact.to_str().unwrap(), "-i", "x=2x2xf32=0,5,6,0", "-i", "w=1xf32=7", "--repeat", "3"];
    let done = sutura(&args);
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(
        text.contains("places: i64[2, 2] = [0, 1, 1, 0]") && text.contains("joined: f32[3] = [5.0, 6.0, 7.0]"),
        "{text}"
    );
    let said = sutura(&["inspect", artifact.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.lines().any(|line| line.ends_with("K in [0, 2147483647], decided by data")), "{text}");
}

#[test]
fn devices_refuse_what_the_host_decides() {
    let folder = tempfile::tempdir().unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/decided.mlir");
    let artifact = folder.path().join("x.sutura");
    for target in ["sm_80", "vulkan", "cpu_fibers"] {
        let args = ["compile", "-q", model.to_str().unwrap(), "--target", target, "-o", artifact.to_str().unwrap()];
        let done = sutura(&args);
        let text = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{target}: {text}");
        assert!(text.contains("calls the routine 'non_zero' of the runtime"), "{target}: {text}");
    }
}

fn number(value: i64) -> Tensor {
    Tensor::from_slice(&[], &[value]).unwrap()
}

/// Sizes that are numbers: nothing bounds them, so the runtime makes place for what it finds.
#[test]
fn numbers_of_the_data_are_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let model = load("numbers.mlir", folder.path(), 2);
    let names = |values: &[sutura_runtime::manifest::Value]| values.iter().map(|v| v.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        (names(model.inputs()), names(&model.manifest().reserves)),
        (vec!["n".into(), "turns".into()], vec!["P".into(), "Q".into()])
    );
    // Few, many more, as many, and few again: each once, but where there was no place.
    for (n, turns) in [(3, 2), (0, 0), (100_000, 3), (16, 500), (99_999, 499), (1, 1)] {
        let outputs = model.run(&[number(n), number(turns)]).unwrap();
        assert_eq!(outputs[0].dims(), [n]);
        assert!(outputs[0].as_slice::<i64>().unwrap().iter().copied().eq(0..n));
        let sum: i64 = (0..turns).map(|k| k * (k - 1) / 2).sum();
        assert_eq!(outputs[1].as_slice::<i64>().unwrap(), [sum], "{n} {turns}");
    }
    assert_eq!(model.stats().runs, 6);
    for wrong in [-1, i64::MIN, 1 << 31, i64::MAX] {
        let error = model.run(&[number(wrong), number(0)]).unwrap_err();
        assert!(matches!(error, Error::Shape(ShapeProblem::OutOfRange { value, .. }) if value == wrong), "{error}");
    }
    assert_eq!(model.run(&[number(5), number(2)]).unwrap()[0].dims(), [5]);
}

/// Memory of the caller is for as many as there was place; where that was too few, it says so, and there is more.
#[test]
fn memory_of_the_caller_may_be_too_small_for_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let model = load("numbers.mlir", folder.path(), 1);
    let inputs = [number(1000), number(1)];
    let views: Vec<_> = inputs.iter().map(Tensor::view).collect();
    let run = || {
        let mut outputs = model.allocate_outputs(&[&[], &[]]).unwrap();
        let mut into: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
        model.run_into(&views, &mut into)
    };
    let error = run().unwrap_err();
    assert!(matches!(error, Error::Outgrown { wanted: 1000, .. }), "{error}");
    assert_eq!(run().unwrap(), Some(vec![vec![1000], vec![]]));
}

/// Of two sizes whose product is known none is a quotient: the other one may be 0.
#[test]
fn products_of_numbers_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let model = load("product.mlir", folder.path(), 1);
    let run = |n: usize, a: i64, b: i64| {
        let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
        model.run(&[Tensor::from_slice(&[n as i64], &values).unwrap(), number(a), number(b)])
    };
    for (n, a, b) in [(12, 3, 4), (0, 0, 5), (0, 5, 0), (0, 0, 0), (100, 50, 2)] {
        assert_eq!(run(n, a, b).unwrap()[0].dims(), [a, b]);
    }
    for (n, a, b) in [(12, 0, 4), (12, 3, 5), (0, 1, 1)] {
        assert!(matches!(run(n, a, b), Err(Error::Shape(_))), "{n} {a} {b}");
    }
}
