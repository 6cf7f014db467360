//! Compiled programs of complex numbers, against the same arithmetic done here.

use std::path::{Path, PathBuf};
use std::process::Command;

use sutura_runtime::{ElementType, Model, Options, Tensor};

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

#[test]
fn a_program_of_complex_numbers_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let artifact: PathBuf = folder.path().join("complex.sutura");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/complex.mlir");
    let output = Command::new(env!("CARGO_BIN_EXE_sutura"))
        .args(["compile", "-q", model.to_str().unwrap(), "-o", artifact.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let model = Model::load_with(&artifact, Options::new().threads(2)).unwrap();
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
