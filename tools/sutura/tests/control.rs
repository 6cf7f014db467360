//! Models with calls, conditions and loops: compiled, run at many sizes, ended by what goes wrong in them, and refused where a
//! target cannot look at what decides.

mod compiled;

use std::path::Path;

use sutura_runtime::{ElementType, Model, Options, Tensor};

use compiled::{compiled, data, sutura};

fn load(folder: &Path, name: &str) -> Model {
    Model::load_with(compiled(folder, name, &[]), Options::new().threads(3)).unwrap()
}

/// Where kernels run on threads of the processor as a device's, and every access is checked.
const FIBERS: [&str; 2] = ["--target", "cpu_fibers"];

fn truths(dims: &[i64], values: &[bool]) -> Tensor {
    let bytes: Vec<u8> = values.iter().map(|value| u8::from(*value)).collect();
    Tensor::from_bytes(ElementType::Bool, dims, &bytes).unwrap()
}

/// As many rounds as Newton's method takes in f32, and what it makes of each number.
fn roots(x: &[f32], limit: i64) -> (i64, Vec<f32>) {
    let (mut rounds, mut root, mut moved) = (0, x.to_vec(), f32::MAX);
    while rounds < limit && moved > 1e-6 {
        let next: Vec<f32> = x.iter().zip(&root).map(|(x, r)| (x / r + r) * 0.5).collect();
        moved = next.iter().zip(&root).map(|(a, b)| (a - b).abs()).fold(f32::NEG_INFINITY, f32::max);
        (rounds, root) = (rounds + 1, next);
    }
    (rounds, root)
}

fn inputs(x: &[f32], limit: i64, add: bool, w: &[f32], rows: usize) -> Vec<Tensor> {
    let m: Vec<f32> = (0..rows * 4).map(|i| i as f32).collect();
    vec![
        Tensor::from_slice(&[x.len() as i64], x).unwrap(),
        Tensor::from_slice(&[], &[limit]).unwrap(),
        truths(&[], &[add]),
        Tensor::from_slice(&[w.len() as i64], w).unwrap(),
        Tensor::from_slice(&[rows as i64, 4], &m).unwrap(),
    ]
}

#[test]
fn a_loop_a_condition_and_calls_run_at_every_size() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "control.mlir");
    for (count, limit, add, rows) in [
        (1, 100, false, 1),
        (7, 100, true, 3),
        (5000, 100, true, 0),
        (3, 0, false, 2),
        (3, -5, true, 2),
        (2, 2, true, 9),
    ] {
        let x: Vec<f32> = (1..=count).map(|i| i as f32 * 1.5).collect();
        let w: Vec<f32> = (0..count).map(|i| i as f32).collect();
        let outputs = model.run(&inputs(&x, limit, add, &w, rows)).unwrap();
        let (rounds, mut wanted) = roots(&x, limit);
        if add {
            wanted.iter_mut().zip(&w).for_each(|(y, w)| *y += w);
        }
        assert_eq!(outputs[1].as_slice::<i64>().unwrap(), [rounds], "{count} numbers, at most {limit} rounds");
        assert_eq!(outputs[0].as_slice::<f32>().unwrap(), wanted);
        let quarter: Vec<f32> = (0..rows * 4).map(|i| i as f32 / 4.0).collect();
        assert_eq!(outputs[2].as_slice::<f32>().unwrap(), quarter);
        assert_eq!(outputs[3].as_slice::<f32>().unwrap(), [4.0, 8.0]);
    }
    // No number at all: the largest of no steps is minus infinity.
    let outputs = model.run(&inputs(&[], 9, true, &[], 1)).unwrap();
    assert_eq!(outputs[1].as_slice::<i64>().unwrap(), [1]);
}

/// Sizes that only one side needs to be equal are compared where that side runs, and nowhere else.
#[test]
fn sizes_of_a_side_are_compared_when_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "control.mlir");
    assert!(model.run(&inputs(&[4.0, 9.0], 50, false, &[1.0], 1)).is_ok());
    let error = model.run(&inputs(&[4.0, 9.0], 50, true, &[1.0], 1)).unwrap_err().to_string();
    assert!(error.contains("of `main_then1`: dimension 0 is 1, and must be 2"), "{error}");
    assert!(model.run(&inputs(&[4.0], 50, true, &[1.0], 1)).is_ok(), "a failed run leaves nothing behind");
}

/// What reports wrong data in a loop ends it: the condition is nonsense then.
#[test]
fn a_loop_ends_with_what_goes_wrong_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "endless.mlir");
    let run = |table: &[bool], at: i64| {
        let table = truths(&[table.len() as i64], table);
        model.run(&[table, Tensor::from_slice(&[], &[at]).unwrap()])
    };
    assert_eq!(run(&[true, true, false], 0).unwrap()[0].as_slice::<i64>().unwrap(), [2]);
    let error = run(&[true, true, true], 1).unwrap_err().to_string();
    assert!(error.contains("element 0 of its indices is 3, which is not in [-3, 2]"), "{error}");
}

/// The host asks the device for conditions, and ends a loop in which a kernel has reported wrong data; a run that does so is never
/// replayed.
#[test]
fn devices_tell_the_host_what_data_decides() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::load(compiled(folder.path(), "carried.mlir", &FIBERS)).unwrap();
    for (count, limit) in [(5usize, 3i64), (5, 3), (5, 3), (5, 0), (70, 4)] {
        let [x, y, z, w] =
            [0.25f32, 0.5, -0.125, 0.75].map(|by| (0..count).map(|i| i as f32 * by).collect::<Vec<f32>>());
        let tensor = |values: &[f32]| Tensor::from_slice(&[count as i64], values).unwrap();
        let inputs = [Tensor::from_slice(&[], &[limit]).unwrap(), tensor(&x), tensor(&y), tensor(&z), tensor(&w)];
        let outputs = model.run(&inputs).unwrap();
        let (rounds, wanted) = carried(limit, &x, [&y, &z, &w]);
        assert_eq!(outputs[0].as_slice::<i64>().unwrap(), [rounds]);
        for (i, wanted) in wanted.iter().enumerate() {
            assert_eq!(outputs[i + 1].as_slice::<f32>().unwrap(), wanted, "result {i} of {count} after {limit}");
        }
    }
    let model = Model::load(compiled(folder.path(), "endless.mlir", &FIBERS)).unwrap();
    let run = |table: &[bool], at: i64| {
        let table = truths(&[table.len() as i64], table);
        model.run(&[table, Tensor::from_slice(&[], &[at]).unwrap()])
    };
    assert_eq!(run(&[true, true, false], 0).unwrap()[0].as_slice::<i64>().unwrap(), [2]);
    let error = run(&[true, true, true], 1).unwrap_err().to_string();
    assert!(error.contains("element 0 of its indices is 3, which is not in [-3, 2]"), "{error}");
    assert_eq!(
        run(&[true, false], 0).unwrap()[0].as_slice::<i64>().unwrap(),
        [1],
        "a failed run leaves nothing behind"
    );
}

/// The host compares sizes while it enqueues; where they differ the run ends, and the next one is right again.
#[test]
fn devices_compare_sizes_in_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::load(compiled(folder.path(), "control.mlir", &FIBERS)).unwrap();
    assert!(model.run(&inputs(&[4.0, 9.0], 50, false, &[1.0], 1)).is_ok(), "the side that needs one size does not run");
    for _ in 0..2 {
        let error = model.run(&inputs(&[4.0, 9.0], 50, true, &[1.0], 1)).unwrap_err().to_string();
        assert!(error.contains("of `main_then1`: dimension 0 is 1, and must be 2"), "{error}");
        let outputs = model.run(&inputs(&[4.0, 9.0], 50, true, &[1.0, 2.0], 1)).unwrap();
        assert_eq!(outputs[0].as_slice::<f32>().unwrap(), [3.0, 5.0]);
    }
}

/// Sizes that a condition decides are read by the host of a processor alone.
#[test]
fn devices_do_not_decide_sizes_in_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (model, artifact) = (data("decided_sides.mlir"), folder.path().join("decided_sides.sutura"));
    let files = ["compile", "-q", model.to_str().unwrap(), "-o", artifact.to_str().unwrap()];
    let done = sutura(&[&files[..], &FIBERS].concat());
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("decides sizes in the run, which programs for devices do not"), "{said}");
    assert!(said.contains("help: compile for a processor"), "{said}");
    assert!(!artifact.exists());
}

/// Results of conditions have the sizes that the side makes that runs.
#[test]
fn conditions_make_results_of_sizes_that_data_decide() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "decided_results.mlir");
    for (flag, count, other) in [(true, 7usize, 3usize), (false, 40, 2), (true, 600, 0), (false, 0, 9), (true, 0, 1)] {
        let numbers = |count: usize| (0..count).map(|i| (i * 7 % 5) as f32).collect::<Vec<f32>>();
        let (x, w) = (numbers(count), numbers(other));
        let list = |values: &[f32]| Tensor::from_slice(&[values.len() as i64], values).unwrap();
        let outputs = model.run(&[truths(&[], &[flag]), list(&x), list(&w)]).unwrap();
        let places: Vec<i64> = (0..count).filter(|i| x[*i] != 0.0).map(|i| i as i64 * 3).collect();
        let places = if flag { places } else { vec![14] };
        assert_eq!(outputs[0].dims(), [1, places.len() as i64]);
        assert_eq!(outputs[0].as_slice::<i64>().unwrap(), places);
        assert_eq!(outputs[1].as_slice::<i64>().unwrap(), [places.iter().sum::<i64>()]);
        let double: Vec<f32> = if flag { &x } else { &w }.iter().map(|x| x * 2.0).collect();
        assert_eq!(outputs[2].dims(), [double.len() as i64]);
        assert_eq!(outputs[2].as_slice::<f32>().unwrap(), double);
        assert_eq!(outputs[3].as_slice::<i64>().unwrap(), [double.len() as i64]);
    }
}

/// What a loop carries may have another size in each iteration.
#[test]
fn loops_carry_what_changes_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "decided_loop.mlir");
    for (count, limit) in [(9usize, 2i64), (100, 1), (100, 0), (1000, 6), (0, 3), (40, 30)] {
        let x: Vec<f32> = (0..count).map(|i| (i * 7 % 5) as f32).collect();
        let inputs = [Tensor::from_slice(&[count as i64], &x).unwrap(), Tensor::from_slice(&[], &[limit]).unwrap()];
        let outputs = model.run(&inputs).unwrap();
        let mut left: Vec<i64> = (0..count).filter(|i| x[*i] != 0.0).map(|i| i as i64).collect();
        let mut all = left.iter().sum::<i64>();
        for _ in 0..limit {
            left = (0..left.len()).filter(|i| left[*i] % 2 != 0).map(|i| i as i64).collect();
            all += left.iter().sum::<i64>();
        }
        assert_eq!(outputs[0].dims(), [left.len() as i64], "{count} after {limit}");
        assert_eq!(outputs[0].as_slice::<i64>().unwrap(), left, "{count} after {limit}");
        assert_eq!(outputs[1].as_slice::<i64>().unwrap(), [limit]);
        assert_eq!(outputs[2].as_slice::<i64>().unwrap(), [all]);
    }
}

/// A program with conditions in each other.
fn nested(count: usize) -> String {
    let mut text = String::from("func.func @main(%f: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {\n");
    for i in 0..count {
        text += &format!("%c{i} = tensor.extract %f[] : tensor<i1>\n%r{i} = scf.if %c{i} -> (tensor<4xf32>) {{\n");
    }
    text += "scf.yield %x : tensor<4xf32>\n";
    for i in (0..count).rev() {
        text += "} else {\nscf.yield %x : tensor<4xf32>\n}\n";
        text += &format!("{} %r{i} : tensor<4xf32>\n", if i > 0 { "scf.yield" } else { "return" });
    }
    text + "}\n"
}

/// The same as a host program.
fn nested_program(count: usize) -> String {
    let copy = "copy %x, %y : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>\n";
    let ends = format!("}} else {{\n{copy}}}\n").repeat(count);
    let ports =
        "%c : !rt.buffer<i1, []> in \"c\", %x : !rt.buffer<f32, [4]> in \"x\", %y : !rt.buffer<f32, [4]> out \"y\"";
    let ifs = "if %c : !rt.buffer<i1, []> {\n".repeat(count);
    format!("rt.program @main({ports}) symbols() {{\n{ifs}{copy}{ends}}}\n")
}

#[test]
fn conditions_too_deep_in_each_other_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("deep.mlir");
    let artifact = folder.path().join("deep.sutura");
    let compile = |text: String| {
        std::fs::write(&model, text).unwrap();
        let done = sutura(&["compile", "-q", model.to_str().unwrap(), "-o", artifact.to_str().unwrap()]);
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    for count in [300, 5000] {
        let (code, said) = compile(nested(count));
        assert!(said.contains("makes more than 256 conditions and loops lie in each other"), "{said}");
        assert_eq!(code, Some(3), "{said}");
        let (code, said) = compile(nested_program(count));
        assert!(said.contains("lies in more than 255 other conditions and loops"), "{said}");
        assert_eq!(code, Some(1), "{said}");
    }
    let (code, said) = compile(nested_program(256));
    assert_eq!(code, Some(0), "{said}");
}

/// What `carried.mlir` gives, plainly.
fn carried(limit: i64, x: &[f32], [y, z, w]: [&[f32]; 3]) -> (i64, Vec<Vec<f32>>) {
    let (mut i, mut a, mut b, mut c, mut d, mut e) = (0, x.to_vec(), y.to_vec(), z.to_vec(), w.to_vec(), z.to_vec());
    let mut s = x.to_vec();
    loop {
        s = s.iter().zip(&a).map(|(s, a)| s * 0.5 + a).collect();
        if i >= limit {
            return (i, vec![a, b, c, d, w.to_vec(), e, s]);
        }
        let next = |n: usize| d[n] - a[n] * 0.5 + w[n] - e[n];
        let next: Vec<f32> = (0..x.len()).map(next).collect();
        (d, a, b, c, e, i) = (a, b, c, next, x.to_vec(), i + 1);
    }
}

#[test]
fn a_loop_hands_on_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "carried.mlir");
    let numbers = |count: usize, by: f32| (0..count).map(|i| (i % 97) as f32 * by - 3.0).collect::<Vec<f32>>();
    for (count, limit) in [(1, 0), (1, 1), (5, 2), (64, 3), (700, 4), (3000, 5), (0, 6), (9, 31)] {
        let [x, y, z, w] = [0.25, 0.5, -0.125, 0.75].map(|by| numbers(count, by));
        let tensor = |values: &[f32]| Tensor::from_slice(&[count as i64], values).unwrap();
        let inputs = [Tensor::from_slice(&[], &[limit]).unwrap(), tensor(&x), tensor(&y), tensor(&z), tensor(&w)];
        let outputs = model.run(&inputs).unwrap();
        let (rounds, wanted) = carried(limit, &x, [&y, &z, &w]);
        assert_eq!(outputs[0].as_slice::<i64>().unwrap(), [rounds]);
        for (i, wanted) in wanted.iter().enumerate() {
            assert_eq!(outputs[i + 1].as_slice::<f32>().unwrap(), wanted, "result {i} of {count} after {limit}");
        }
    }
}

/// Only what goes two ways, or comes from around, is copied in an iteration.
#[test]
fn an_iteration_copies_what_it_must() {
    let (model, folder) = (data("carried.mlir"), tempfile::tempdir().unwrap());
    let gir = folder.path().join("carried.gir.mlir");
    let done = sutura(&["compile", "-q", "--emit", "gir", model.to_str().unwrap(), "-o", gir.to_str().unwrap()]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = std::fs::read_to_string(&gir).unwrap();
    let inside = &text[text.find("} do {").unwrap()..];
    let inside = &inside[..inside.find("\n    }\n").unwrap()];
    assert_eq!(inside.matches(" copy %").count(), 1, "{inside}");
    assert!(inside.contains("exchange"), "{inside}");
}

#[test]
fn choices_between_tensors_compile() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "choices.mlir");
    for (flag, number, count) in [(true, 2i64, 5), (false, 3, 700), (true, 9, 0)] {
        let a: Vec<f32> = (0..count).map(|i| i as f32 - 2.0).collect();
        let b: Vec<f32> = (0..count).map(|i| 1.5 - (i % 5) as f32).collect();
        let list = |values: &[f32]| Tensor::from_slice(&[count as i64], values).unwrap();
        let inputs = [truths(&[], &[flag]), Tensor::from_slice(&[], &[number]).unwrap(), list(&a), list(&b)];
        let outputs = model.run(&inputs).unwrap();
        assert_eq!(outputs[0].as_slice::<f32>().unwrap(), if flag { &a } else { &b });
        assert_eq!(outputs[1].as_slice::<f32>().unwrap(), if number < 3 { &b } else { &a });
        let mixed: Vec<f32> = a.iter().zip(&b).map(|(a, b)| if *a > a + b { *a } else { a + b }).collect();
        assert_eq!(outputs[2].as_slice::<f32>().unwrap(), mixed);
    }
}

/// Each call decides a size of its own, which is one of the caller's.
#[test]
fn functions_decide_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "decided_call.mlir");
    for (first, second) in [(7, 4), (0, 300), (1, 1)] {
        let numbers = |count: usize, every: usize| -> Vec<f32> { (0..count).map(|i| (i % every) as f32).collect() };
        let (x, y) = (numbers(first, 3), numbers(second, 2));
        let places = |values: &[f32]| -> Vec<i64> {
            (0..values.len()).filter(|i| values[*i] != 0.0).map(|i| i as i64).collect()
        };
        let list = |values: &[f32]| Tensor::from_slice(&[values.len() as i64], values).unwrap();
        let outputs = model.run(&[list(&x), list(&y)]).unwrap();
        for (output, values) in outputs.iter().zip([&x, &y]) {
            let wanted = places(values);
            assert_eq!(
                (output.dims(), output.as_slice::<i64>().unwrap()),
                (&[1, wanted.len() as i64][..], &wanted[..])
            );
        }
        assert_eq!(outputs[2].as_slice::<i64>().unwrap(), [places(&y).iter().sum::<i64>()]);
    }
}

/// In conditions and loops too, each time anew.
#[test]
fn conditions_and_loops_decide_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "decided_control.mlir");
    for (flag, count) in [(true, 7usize), (false, 40), (true, 600), (true, 1), (false, 0)] {
        let x: Vec<f32> = (0..count).map(|i| (i * 7 % 5) as f32).collect();
        let inputs = [truths(&[], &[flag]), Tensor::from_slice(&[count as i64], &x).unwrap()];
        let outputs = model.run(&inputs).unwrap();
        let places: i64 = (0..count).filter(|i| x[*i] != 0.0).map(|i| i as i64).sum();
        assert_eq!(outputs[0].as_slice::<i64>().unwrap(), [if flag { places } else { 0 }]);
        assert_eq!(outputs[1].as_slice::<i64>().unwrap(), [x.iter().sum::<f32>() as i64]);
        assert!(outputs[2].as_slice::<f32>().unwrap().iter().all(|x| *x == 0.0));
    }
}

/// Lists that get shorter together are used together, in the loop and behind it.
#[test]
fn loops_carry_several_of_one_size() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "decided_pairs.mlir");
    for (count, limit) in [(9usize, 2i64), (100, 1), (50, 0), (300, 4), (0, 3)] {
        let x: Vec<f32> = (0..count).map(|i| (i * 7 % 5) as f32).collect();
        let inputs = [Tensor::from_slice(&[count as i64], &x).unwrap(), Tensor::from_slice(&[], &[limit]).unwrap()];
        let outputs = model.run(&inputs).unwrap();
        let mut first: Vec<i64> = (0..count).filter(|i| x[*i] != 0.0).map(|i| i as i64).collect();
        let mut second: Vec<i64> = first.iter().map(|e| e * 2).collect();
        for _ in 0..limit {
            first = (0..first.len()).filter(|i| (first[*i] + second[*i]) % 2 != 0).map(|i| i as i64).collect();
            second = first.iter().map(|e| e * 4).collect();
        }
        let sum: Vec<i64> = first.iter().zip(&second).map(|(a, b)| a + b).collect();
        let table: Vec<i64> = first.iter().flat_map(|a| sum.iter().map(move |b| a * b)).collect();
        let size = sum.len() as i64;
        assert_eq!((outputs[0].dims(), outputs[0].as_slice::<i64>().unwrap()), (&[size][..], &sum[..]));
        assert_eq!((outputs[1].dims(), outputs[1].as_slice::<i64>().unwrap()), (&[size, size][..], &table[..]));
        assert_eq!(outputs[2].as_slice::<i64>().unwrap(), [limit]);
    }
}

/// Results of several dimensions, from conditions in each other.
#[test]
fn conditions_in_each_other_decide_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(folder.path(), "decided_nested.mlir");
    let (n, m, p, q) = (3usize, 5usize, 4usize, 2usize);
    let x: Vec<f32> = (0..n * m).map(|i| i as f32 - 4.0).collect();
    let y: Vec<f32> = (0..p * q).map(|i| i as f32 * 0.5).collect();
    let turned: Vec<f32> = (0..m * n).map(|i| x[i % n * m + i / n]).collect();
    let negative = |values: &[f32]| values.iter().map(|value| -value).collect::<Vec<f32>>();
    for (outer, inner) in [(true, true), (true, false), (false, true), (false, false), (true, true)] {
        let inputs = [
            truths(&[], &[outer]),
            truths(&[], &[inner]),
            Tensor::from_slice(&[n as i64, m as i64], &x).unwrap(),
            Tensor::from_slice(&[p as i64, q as i64], &y).unwrap(),
        ];
        let outputs = model.run(&inputs).unwrap();
        let (dims, wanted) = match (outer, inner) {
            (true, true) => ([m, n], negative(&turned)),
            (true, false) => ([n, m], negative(&x)),
            (false, _) => ([p, q], y.clone()),
        };
        assert_eq!(outputs[0].dims(), dims.map(|size| size as i64), "{outer} {inner}");
        assert_eq!(outputs[0].as_slice::<f32>().unwrap(), wanted, "{outer} {inner}");
        let most = wanted.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        assert_eq!(outputs[1].as_slice::<f32>().unwrap(), [most]);
    }
}

/// A size that is more than what memory was planned for ends the run before anything is read or written by it.
#[test]
fn a_size_beyond_its_bound_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (model, artifact) = (folder.path().join("bound.mlir"), folder.path().join("bound.sutura"));
    let text = "rt.program @main(%x : !rt.buffer<f32, [N]> in \"x\", %y : !rt.buffer<f32, [R]> out \"y\") symbols(N : [4, 64], R : [0, 64]) {
  %sizes = size_list : !rt.buffer<i64, [1]>
  %front = view %x {front} : !rt.buffer<f32, [N]> -> !rt.buffer<f32, [R]>
  write_sizes %sizes {sizes = #dyn.shape<[N]>} : !rt.buffer<i64, [1]>
  read_sizes %sizes {what = \"a test\", sizes = #dyn.shape<[R]>, most = #dyn.shape<[4]>} : !rt.buffer<i64, [1]>
  copy %front, %y : !rt.buffer<f32, [R]>, !rt.buffer<f32, [R]>
}
";
    std::fs::write(&model, text).unwrap();
    let done = sutura(&["compile", "-q", model.to_str().unwrap(), "-o", artifact.to_str().unwrap()]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let model = Model::load(&artifact).unwrap();
    let run = |x: &[f32]| model.run(&[Tensor::from_slice(&[x.len() as i64], x).unwrap()]);
    assert_eq!(run(&[1.0, 2.0, 3.0, 4.0]).unwrap()[0].as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    let error = run(&[1.0; 5]).unwrap_err().to_string();
    assert!(error.contains("the size that a test makes") && error.contains("is 4") && error.contains("5"), "{error}");
}
