//! Functions that call themselves, compiled once and run at many sizes and depths; where they go too deep, or wrong, and what is
//! refused.

mod compiled;

use std::path::Path;

use sutura_runtime::{Error, Model, Options, Tensor};

use compiled::{compiled, data, sutura};

fn load(folder: &Path, name: &str, options: Options) -> Model {
    std::fs::create_dir_all(folder.join("recursion")).unwrap();
    Model::load_with(compiled(folder, &format!("recursion/{name}.mlir"), &[]), options.threads(2)).unwrap()
}

fn floats(dims: &[i64], values: &[f32]) -> Tensor {
    Tensor::from_slice(dims, values).unwrap()
}

fn number(value: i64) -> Tensor {
    Tensor::from_slice(&[], &[value]).unwrap()
}

/// As a generator of Lehmer's, so that no test depends on another crate.
fn random(seed: &mut u64, count: usize) -> Vec<f32> {
    let mut next = || {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*seed >> 40) as f32 / (1u64 << 24) as f32) * 2.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn a_function_calls_itself_at_every_size_and_depth() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "power", Options::new());
    for (count, depth) in [(0usize, 3i64), (1, 0), (5, -4), (5, 1), (7, 20), (3000, 6), (2, 900), (16, 9_999)] {
        let x: Vec<f32> = (0..count).map(|i| 1.0 - (i % 7) as f32 * 0.125).collect();
        let outputs = model.run(&[floats(&[count as i64], &x), number(depth)]).unwrap();
        let wanted: Vec<f32> = x.iter().map(|x| (0..depth.max(0)).fold(1.0, |p, _| p * x)).collect();
        assert_eq!(outputs[0].as_slice::<f32>().unwrap(), wanted, "{count} numbers to the power {depth}");
    }
}

#[test]
fn calls_in_each_other_are_bounded_and_an_error_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "power", Options::new().max_depth(100));
    let run = |depth| model.run(&[floats(&[3], &[1.0, 0.5, -1.0]), number(depth)]);
    assert_eq!(run(99).unwrap()[0].as_slice::<f32>().unwrap()[2], -1.0);
    for _ in 0..3 {
        let error = run(100).unwrap_err();
        assert_eq!(error.kind().exit_code(), 1);
        assert_eq!(
            error.to_string(),
            "function `power`: more than 100 calls are in each other; does the data end the recursion? SUTURA_MAX_DEPTH allows more"
        );
        assert!(matches!(run(i64::MAX), Err(Error::TooDeep { depth: 101, .. })));
        assert_eq!(run(98).unwrap()[0].as_slice::<f32>().unwrap()[2], 1.0);
    }
    let model = load(folder.path(), "power", Options::new());
    assert!(matches!(model.run(&[floats(&[1], &[1.0]), number(10_000)]), Err(Error::TooDeep { depth: 10_001, .. })));
    let setting = Model::load_with(folder.path().join("recursion/power.sutura"), Options::new().max_depth(0));
    assert!(setting.unwrap_err().to_string().contains("must be a whole number from 1 to 1000000"));
}

/// Memory of a call is free when it has ended, and stays for the next run.
#[test]
fn memory_is_that_of_calls_in_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "power", Options::new());
    let run = |depth| model.run(&[floats(&[1000], &vec![1.0; 1000]), number(depth)]).unwrap();
    run(0);
    let shallow = model.stats().workspace_peak_bytes;
    run(10);
    let deeper = model.stats().workspace_peak_bytes;
    assert!(deeper - shallow >= 10 * 4000 && deeper - shallow < 10 * 9000, "{shallow} bytes, and {deeper}");
    let allocations = model.stats().workspace_allocations;
    (0..20).for_each(|_| drop(run(10)));
    assert_eq!((model.stats().workspace_peak_bytes, model.stats().workspace_allocations), (deeper, allocations));
    // What halves are made of is as large as both together, however many calls there are.
    let halves = load(folder.path(), "halves", Options::new());
    let x: Vec<f32> = (0..1 << 16).map(|i| (i % 13) as f32).collect();
    halves.run(&[floats(&[1 << 16], &x)]).unwrap();
    let peak = halves.stats().workspace_peak_bytes;
    assert!(peak < 4 * (1 << 16) * 4, "{peak} bytes for the parts of {} bytes", 4 << 16);
}

#[test]
fn sizes_of_calls_follow_from_their_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "halves", Options::new());
    for count in [0i64, 1, 2, 3, 5, 8, 31, 1000] {
        let x: Vec<f32> = (1..=count).map(|i| i as f32).collect();
        let outputs = model.run(&[floats(&[count], &x)]).unwrap();
        assert_eq!(outputs[0].as_slice::<f32>().unwrap(), [(count * (count + 1) / 2) as f32]);
    }
}

/// Data decide sizes in each call, which are sizes of the arguments of the next one.
#[test]
fn sizes_that_data_decide_are_those_of_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "decided", Options::new());
    let x = [0.0f32, 1.0, 2.0, 3.0, 0.25, 0.75];
    for (count, depth) in [(6usize, 0i64), (6, 1), (6, 40), (1, 5), (0, 3), (4, 2)] {
        let (mut left, mut sum) = (x[..count].to_vec(), 0.0);
        for _ in 0..=depth {
            left = left.iter().map(|v| v - 0.5).filter(|v| *v > 0.0).collect();
            sum += left.iter().sum::<f32>();
        }
        let outputs = model.run(&[floats(&[count as i64], &x[..count]), number(depth)]).unwrap();
        assert_eq!(outputs[0].as_slice::<f32>().unwrap(), [sum], "{count} numbers, {depth} deep");
    }
}

/// What a function states of its sizes is checked in each call.
#[test]
fn a_call_checks_its_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "checks", Options::new());
    let run = |count: usize, others: usize, more: usize, depth: i64| {
        let [x, w, more] = [count, others, more].map(|count| floats(&[count as i64], &vec![2.0; count]));
        model.run(&[x, w, more, number(depth)]).map(|outputs| outputs[0].as_slice::<f32>().unwrap()[0])
    };
    assert_eq!(run(2, 2, 2, 3).unwrap(), 8.0 * 4.0);
    assert_eq!(run(8, 8, 0, 50).unwrap(), 8.0 * 4.0);
    assert_eq!(run(0, 0, 1, 8).unwrap(), 8.0 * 4.0);
    let error = run(2, 2, 2, 4).unwrap_err().to_string();
    assert!(error.contains("input `x` dimension 0 of `longer` is 10, above 8"), "{error}");
    assert!(run(9, 9, 1, 0).is_err() && run(2, 3, 1, 0).is_err());
    let error = run(2, 2, 7, 3).unwrap_err().to_string();
    assert!(error.contains("input `x` dimension 0 of `longer` is 9, above 8"), "{error}");
    assert_eq!(run(2, 2, 2, 3).unwrap(), 8.0 * 4.0, "a failed run leaves nothing behind");
}

/// Sizes that one call needs to be equal are compared in that call, and in no other.
#[test]
fn sizes_are_compared_in_the_call_that_needs_them() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "pairs", Options::new());
    let run = |counts: [usize; 3], depth: i64| {
        let [x, a, b] = counts.map(|count| floats(&[count as i64], &vec![3.0; count]));
        model.run(&[x, a, b, number(depth)]).map(|outputs| outputs[0].as_slice::<f32>().unwrap()[0])
    };
    assert_eq!(run([2, 5, 5], 1).unwrap(), 63.0);
    assert_eq!(run([2, 5, 5], 2).unwrap(), 81.0);
    assert_eq!(run([2, 5, 4], 0).unwrap(), 18.0);
    let error = run([2, 5, 4], 1).unwrap_err().to_string();
    assert!(error.contains("input `x` dimension 0 is 5") && error.contains("`product` is 4"), "{error}");
}

/// What two functions that call each other make of rows.
fn mutual(x: &[[f32; 3]], n: i32, odd: bool) -> Vec<[f32; 3]> {
    if !odd {
        let z: Vec<[f32; 3]> = x.iter().map(|r| [2.0 * r[0] + r[2], 2.0 * r[1], 2.0 * r[2]]).collect();
        return if n > 0 { mutual(&z, n - 1, true) } else { z };
    }
    if n <= 0 {
        return x.to_vec();
    }
    let longer: Vec<[f32; 3]> = std::iter::once([1.0, 2.0, 3.0]).chain(x.iter().copied()).collect();
    mutual(&longer, n - 1, false)[1..].to_vec()
}

#[test]
fn functions_call_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "mutual", Options::new());
    for (rows, depth) in [(0usize, 5i32), (1, 0), (1, 1), (2, 2), (3, 7), (40, 12)] {
        let x: Vec<[f32; 3]> = (0..rows).map(|i| [i as f32, 1.0, -(i as f32)]).collect();
        let input = floats(&[rows as i64, 3], &x.concat());
        let outputs = model.run(&[input, Tensor::from_slice(&[], &[depth]).unwrap()]).unwrap();
        for (output, odd) in outputs.iter().zip([false, true]) {
            let wanted = mutual(&x, depth, odd).concat();
            assert_eq!(output.as_slice::<f32>().unwrap(), wanted, "{rows} rows, {depth} deep, odd first: {odd}");
        }
    }
}

/// A tree, and the weights of its cells.
struct Tree {
    children: [Vec<i64>; 2],
    x: Vec<f32>,
    weights: [Vec<f32>; 4],
    state: [Vec<f32>; 2],
    sizes: [usize; 2],
}

impl Tree {
    fn new(children: [Vec<i64>; 2], sizes: [usize; 2]) -> Self {
        let (mut seed, [e, h]) = (7 + sizes[0] as u64, sizes);
        let x = random(&mut seed, children[0].len() * e);
        let weights = [e * 5 * h, h * 5 * h, h * 5 * h, 5 * h].map(|count| random(&mut seed, count));
        let state = [h, h].map(|count| random(&mut seed, count));
        Self { children, x, weights, state, sizes }
    }

    fn inputs(&self, root: i64) -> Vec<Tensor> {
        let ([e, h], count) = (self.sizes.map(|size| size as i64), self.children[0].len() as i64);
        let lists = self.children.each_ref().map(|list| Tensor::from_slice(&[count], list).unwrap());
        let dims = [vec![e, 5, h], vec![h, 5, h], vec![h, 5, h], vec![5, h]];
        let weights = dims.iter().zip(&self.weights).map(|(dims, values)| floats(dims, values));
        let state = self.state.iter().map(|values| floats(&[h], values));
        let tensors = [number(root)].into_iter().chain(lists).chain([floats(&[count, e], &self.x)]);
        tensors.chain(weights).chain(state).collect()
    }

    /// State and memory of a node, in f64.
    fn node(&self, at: usize) -> [Vec<f64>; 2] {
        let [e, h] = self.sizes;
        let of = |child: i64| match usize::try_from(child) {
            Ok(child) => self.node(child),
            Err(_) => self.state.each_ref().map(|s| s.iter().map(|v| f64::from(*v)).collect()),
        };
        let [left, right] = self.children.each_ref().map(|list| of(list[at]));
        let x: Vec<f64> = self.x[at * e..(at + 1) * e].iter().map(|v| f64::from(*v)).collect();
        let sides = [&x, &left[0], &right[0]];
        let gate = |g: usize, k: usize| {
            let of = |(v, w): (&&Vec<f64>, &Vec<f32>)| -> f64 {
                v.iter().enumerate().map(|(i, v)| v * f64::from(w[(i * 5 + g) * h + k])).sum()
            };
            sides.iter().zip(&self.weights).map(of).sum::<f64>() + f64::from(self.weights[3][g * h + k])
        };
        let sigmoid = |v: f64| 1.0 / (1.0 + (-v).exp());
        let memory = |k: usize| {
            let kept = sigmoid(gate(1, k)) * left[1][k] + sigmoid(gate(2, k)) * right[1][k];
            sigmoid(gate(0, k)) * gate(4, k).tanh() + kept
        };
        let memory: Vec<f64> = (0..h).map(memory).collect();
        let state = (0..h).map(|k| sigmoid(gate(3, k)) * memory[k].tanh()).collect();
        [state, memory]
    }
}

#[test]
fn a_tree_lstm_runs_on_every_tree() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "tree", Options::new());
    let full = |depth: u32| {
        let count = (1i64 << depth) - 1;
        let child = |side: i64| (0..count).map(|i| 2 * i + side).map(|c| if c < count { c } else { -1 }).collect();
        [child(1), child(2)]
    };
    let chain = |count: i64| [(1..count).chain([-1]).collect(), vec![-1; count as usize]];
    let trees = [
        (full(1), [3, 4]),
        (full(4), [3, 4]),
        (full(6), [1, 1]),
        (full(3), [0, 2]),
        (chain(2), [5, 33]),
        (chain(700), [2, 3]),
        ([vec![-1, 0, 1], vec![2, -1, -1]], [2, 2]),
    ];
    for (number, (children, sizes)) in trees.into_iter().enumerate() {
        if number == 6 {
            // Node 0 has node 2 below it, 2 has 1, and 1 has 0: nothing ends there.
            let error = model.run(&Tree::new(children, sizes).inputs(0)).unwrap_err().to_string();
            assert!(error.contains("function `node`: more than 10000 calls are in each other"), "{error}");
            continue;
        }
        let tree = Tree::new(children, sizes);
        let outputs = model.run(&tree.inputs(0)).unwrap();
        for (output, wanted) in outputs.iter().zip(tree.node(0)) {
            let close = |(a, b): (&f32, &f64)| (f64::from(*a) - b).abs() < 1e-4;
            assert!(output.as_slice::<f32>().unwrap().iter().zip(&wanted).all(close), "tree {number}");
            assert_eq!(output.dims(), [sizes[1] as i64]);
        }
    }
}

/// A child that is none is wrong data, which ends the run before what was read in its place is followed.
#[test]
fn wrong_data_end_a_recursion() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "tree", Options::new());
    let tree = Tree::new([vec![1, 9, -1], vec![2, -1, -1]], [2, 2]);
    let error = model.run(&tree.inputs(0)).unwrap_err().to_string();
    assert!(error.contains("is 9, which is not in [-3, 2]"), "{error}");
    assert!(model.run(&tree.inputs(2)).is_ok(), "a failed run leaves nothing behind");
}

/// The same model on several threads at once, each with stack and memory of its own.
#[test]
fn runs_at_the_same_time_are_apart() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "power", Options::new());
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let model = &model;
            scope.spawn(move || {
                for depth in 0..60i64 {
                    let x = 0.5 + f32::from(thread) * 0.125;
                    let outputs = model.run(&[floats(&[40], &[x; 40]), number(depth)]).unwrap();
                    let wanted = (0..depth).fold(1.0, |p, _| p * x);
                    assert_eq!(outputs[0].as_slice::<f32>().unwrap(), [wanted; 40]);
                }
            });
        }
    });
}

#[test]
fn what_is_refused_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, more: &[&str]| {
        let (model, to) = (data(&format!("recursion/{name}.mlir")), folder.path().join("none.sutura"));
        let args = ["compile", "-q", model.to_str().unwrap(), "-o", to.to_str().unwrap()];
        let done = sutura(&[&args[..], more].concat());
        assert_eq!(done.status.code(), Some(3));
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let message = refused("power", &["--target", "cpu_fibers"]);
    assert!(message.contains("calls the recursive function '@power', which programs for devices do not"), "{message}");
    let message = refused("grows", &[]);
    assert!(message.contains("no dim of an input tells it before the run"), "{message}");
}

/// How much memory a call takes is told with the artifact.
#[test]
fn the_memory_of_a_call_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("recursion")).unwrap();
    let artifact = compiled(folder.path(), "recursion/power.mlir", &[]);
    let done = sutura(&["inspect", artifact.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(text.contains("recursive function `power`: "), "{text}");
    assert!(text.contains("bytes for each call that has begun and not ended"), "{text}");
}
