//! Compiled programs of complex numbers, against the same arithmetic done here.

mod compiled;

use sutura_runtime::{ElementType, Model, Options, Tensor};

use compiled::compiled;

type Number = (f64, f64);

fn mul((a, b): Number, (c, d): Number) -> Number {
    (a * c - b * d, a * d + b * c)
}

/// Numbers of either sign and some size, the same each time.
fn numbers(count: usize, seed: u64) -> Vec<Number> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| (next(), next())).collect()
}

fn tensor(dims: &[i64], numbers: &[Number]) -> Tensor {
    let bytes: Vec<u8> = numbers.iter().flat_map(|(re, im)| [re.to_ne_bytes(), im.to_ne_bytes()].concat()).collect();
    Tensor::from_bytes(ElementType::C128, dims, &bytes).unwrap()
}

fn close(actual: &Tensor, dims: &[i64], expected: &[Number], what: &str) {
    assert_eq!((actual.element_type(), actual.dims()), (ElementType::C128, dims), "{what}");
    let (words, _) = actual.bytes().as_chunks::<8>();
    let parts: Vec<f64> = words.iter().map(|word| f64::from_ne_bytes(*word)).collect();
    for (i, (re, im)) in expected.iter().enumerate() {
        let (got_re, got_im) = (parts[2 * i], parts[2 * i + 1]);
        let bound = 1e-12 * re.hypot(*im);
        let near = (got_re - re).abs() <= bound && (got_im - im).abs() <= bound;
        assert!(near, "{what}: number {i} is ({got_re}, {got_im}), not ({re}, {im})");
    }
}

fn load(name: &str, more: &[&str]) -> Model {
    let folder = tempfile::tempdir().unwrap();
    Model::load_with(compiled(folder.path(), name, more), Options::new().threads(2)).unwrap()
}

#[test]
fn a_program_of_complex_numbers_is_compiled() {
    let model = load("complex.mlir", &[]);
    for (n, k, m) in [(1, 1, 1), (3, 5, 2), (17, 33, 4), (0, 3, 2), (2, 3, 0), (4, 0, 1)] {
        let (x, y) = (numbers(n * k, 1), numbers(k * m, 2));
        let at = |i: usize, j: usize| {
            let terms = (0..k).map(|t| mul(x[i * k + t], y[t * m + j]));
            terms.fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d))
        };
        let product: Vec<Number> = (0..n * m).map(|i| at(i / m, i % m)).collect();
        let rows: Vec<Number> =
            (0..n).map(|i| product[i * m..(i + 1) * m].iter().fold((1.0, 0.0), |a, b| mul(a, *b))).collect();
        let [wide, tall, flat] = [[n, k], [k, m], [n, m]].map(|dims| dims.map(|dim| dim as i64));
        let outputs = model.run(&[tensor(&wide, &x), tensor(&tall, &y)]).unwrap();
        let what = format!("{n}, {k}, {m}");
        close(&outputs[0], &flat, &product, &what);
        let magnitudes = outputs[2].as_slice::<f64>().unwrap();
        for (magnitude, (re, im)) in magnitudes.iter().zip(&rows) {
            assert!((magnitude - re.hypot(*im)).abs() <= 1e-12 * re.hypot(*im), "{what}: {magnitude}");
        }
        // Where there is nothing to sum the products are 0, and so are the divisors.
        if k > 0 {
            let inverse = |(a, b): &Number| (a / (a * a + b * b), -b / (a * a + b * b));
            close(&outputs[1], &[n as i64], &rows.iter().map(inverse).collect::<Vec<_>>(), &what);
        }
    }
}

#[test]
fn complex_numbers_are_joined_both_parts_at_once() {
    joined(&load("complex_joined.mlir", &[]));
}

/// The same kernels as a device's, with every access checked.
#[test]
fn kernels_of_devices_join_complex_numbers() {
    joined(&load("complex_joined.mlir", &["--target", "cpu_fibers"]));
}

/// Running products, and updates that are multiplied with what is there or joined to it by a region, in the order in which
/// they come.
fn joined(model: &Model) {
    for (n, k, m) in [(1, 1, 1), (3, 5, 7), (17, 33, 40), (2, 70, 0), (4, 0, 3)] {
        let (x, u) = (numbers(n * k, 3), numbers(m * k, 4));
        let rows: Vec<usize> = (0..m).map(|i| (i * 7 + 1) % n).collect();
        // Every second index counts from the end.
        let index = |(i, row): (usize, &usize)| if i % 2 == 0 { *row as i64 } else { *row as i64 - n as i64 };
        let indices: Vec<u8> = rows.iter().enumerate().flat_map(|pair| index(pair).to_ne_bytes()).collect();
        let mut along = x.clone();
        for i in (0..n * k).filter(|i| i % k > 0) {
            along[i] = mul(along[i - 1], x[i]);
        }
        let mut down = vec![(1.0, 0.0); n * k];
        for i in (0..n * k - k.min(n * k)).rev() {
            down[i] = mul(down[i + k], x[i + k]);
        }
        let (mut times, mut minus) = (x.clone(), x.clone());
        for (row, update) in rows.iter().enumerate().map(|(i, row)| (*row, &u[i * k..(i + 1) * k])) {
            for (place, new) in (row * k..).zip(update) {
                times[place] = mul(times[place], *new);
                minus[place] = (new.0 - minus[place].0, new.1 + minus[place].1);
            }
        }
        let [flat, given] = [[n, k], [m, k]].map(|dims| dims.map(|dim| dim as i64));
        let places = Tensor::from_bytes(ElementType::I64, &[m as i64, 1], &indices).unwrap();
        let outputs = model.run(&[tensor(&flat, &x), places, tensor(&given, &u)]).unwrap();
        for (i, expected) in [along, down, times, minus].into_iter().enumerate() {
            close(&outputs[i], &flat, &expected, &format!("output {i} of {n}, {k}, {m}"));
        }
    }
}
