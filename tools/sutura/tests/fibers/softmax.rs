//! Softmax as `convert-gir-to-gpu` lowers it, at any number of threads, against doubles.

use sutura_runtime::device::{Device, DeviceError, Module};

use crate::build::{compile, from_gir, open};

/// Softmax of rows on cpu-fibers.
struct Softmax {
    device: Device,
    module: Module,
}

impl Softmax {
    fn new(threads: u32, subgroup: u32) -> Self {
        let pipeline = from_gir(threads, subgroup).join(",");
        let device = open();
        let module = device.load(&compile("lit-tests/gir_to_gpu/softmax.mlir", &pipeline)).unwrap();
        Self { device, module }
    }

    /// The largest relative error.
    fn error(&self, rows: usize, columns: usize, groups: u64) -> Result<f64, DeviceError> {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64 ^ (rows * 8191 + columns) as u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 40) as f32 / (1 << 24) as f32 - 0.5) * 16.0
        };
        let x: Vec<f32> = (0..rows * columns).map(|_| random()).collect();
        let bytes: Vec<u8> = x.iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut stream = self.device.stream()?;
        let (from, to) = (self.device.allocate(bytes.len() as u64)?, self.device.allocate(bytes.len() as u64)?);
        stream.upload(&from, 0, &bytes)?;
        let kernel = self.module.kernel("softmax")?;
        // SAFETY: the buffers have so many rows and columns, and a wrong access would be found.
        unsafe { stream.launch(&kernel, groups, 0, &[from.address(), to.address(), rows as u64, columns as u64])? };
        let mut bytes = vec![0; bytes.len()];
        stream.download(&to, 0, &mut bytes)?;
        let y = bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap()));
        let mut worst = 0_f64;
        let expected = x.chunks(columns.max(1)).flat_map(|row| {
            let largest = row.iter().fold(f64::NEG_INFINITY, |a, b| a.max(f64::from(*b)));
            let powers: Vec<f64> = row.iter().map(|value| (f64::from(*value) - largest).exp()).collect();
            let sum: f64 = powers.iter().sum();
            powers.into_iter().map(move |power| power / sum)
        });
        for (found, expected) in y.zip(expected) {
            let error = ((f64::from(found) - expected) / expected).abs();
            // A NaN is no small error.
            worst = if error <= worst { worst } else { error };
            assert!(!error.is_nan(), "{found} is not {expected}");
        }
        Ok(worst)
    }
}

const SHAPES: [(usize, usize); 7] = [(1, 1), (3, 7), (5, 256), (33, 77), (7, 8192), (2, 8191), (0, 5)];

#[track_caller]
fn softmax_is_right(threads: u32, subgroup: u32) {
    let softmax = Softmax::new(threads, subgroup);
    // One thread adds up a row of 8192 in order, or a few sums of it.
    let bound = if threads == 1 { 2e-5 } else { 2e-6 };
    for (rows, columns) in SHAPES {
        // Fewer blocks than rows, and more.
        for groups in [1, 2, 40] {
            let what = format!("{rows}x{columns} by {threads} threads in subgroups of {subgroup}, {groups} blocks");
            let error = softmax.error(rows, columns, groups).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(error <= bound, "{what}: error {error:e}");
        }
    }
}

#[test]
fn softmax_by_as_many_threads_as_a_row_is_worth() {
    softmax_is_right(0, 32);
    softmax_is_right(0, 64);
}

#[test]
fn softmax_by_several_subgroups_a_row() {
    softmax_is_right(256, 32);
    softmax_is_right(256, 64);
    softmax_is_right(1024, 32);
}

#[test]
fn softmax_by_a_subgroup_a_row() {
    softmax_is_right(32, 32);
    softmax_is_right(64, 64);
}

#[test]
fn softmax_by_a_part_of_a_subgroup_a_row() {
    softmax_is_right(8, 32);
    softmax_is_right(32, 64);
}

#[test]
fn softmax_by_a_thread_a_row() {
    softmax_is_right(1, 32);
    softmax_is_right(1, 64);
}

#[test]
fn checking_is_quick_enough() {
    let softmax = Softmax::new(256, 32);
    let begun = std::time::Instant::now();
    let error = softmax.error(64, 4096, 64).unwrap();
    let took = begun.elapsed();
    assert!(error <= 2e-6, "{error:e}");
    assert!(took < std::time::Duration::from_secs(5), "a softmax of 64x4096 took {took:?}");
}
