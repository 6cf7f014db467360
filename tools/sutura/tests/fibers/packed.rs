//! Kernels that `gpu-pack-launches` puts side by side, on any number of blocks: each takes its groups, and none disturbs another,
//! also where it has the same arrays in the block's memory.

use sutura_runtime::device::{Buffer, Device, DeviceError, Module, Stream};

use crate::build::{compile_launched, from_gir, open, read};

/// Sizes of each part.
type Shapes = [(usize, usize); 3];

/// Two softmaxes, which are one kernel, and running sums of rows of integers.
struct Packed {
    device: Device,
    module: Module,
}

const PROGRAM: &str = r#"
rt.program @main(%a : !rt.buffer<f32, [A, B]> in "a", %b : !rt.buffer<f32, [C, D]> in "b", %c : !rt.buffer<i64, [E, F]> in "c",
    %x : !rt.buffer<f32, [A, B]> out "x", %y : !rt.buffer<f32, [C, D]> out "y", %z : !rt.buffer<i64, [E, F]> out "z")
    symbols(A : [0, 100], B : [1, 8192], C : [0, 100], D : [1, 8192], E : [0, 9], F : [0, 100000]) {
  packed {
    launch @softmax(%a, %x) dims [A, B] : !rt.buffer<f32, [A, B]>, !rt.buffer<f32, [A, B]>
    launch @softmax(%b, %y) dims [C, D] : !rt.buffer<f32, [C, D]>, !rt.buffer<f32, [C, D]>
    launch @back(%c, %z) dims [E, F] : !rt.buffer<i64, [E, F]>, !rt.buffer<i64, [E, F]>
  }
}
"#;

impl Packed {
    fn new(threads: u32, subgroup: u32) -> Self {
        let [to_gpu, to_fibers] = from_gir(threads, subgroup);
        let pipeline = [format!("{to_gpu},gpu-pack-launches"), to_fibers];
        let kernel = |path: &str, name: &str| {
            let text = read(path);
            let start = text.find(&format!("gir.kernel @{name}(")).unwrap();
            let end = start + text[start..].find("\n}\n").unwrap() + 3;
            text[start..end].to_owned()
        };
        let text = kernel("lit-tests/gir_to_gpu/softmax.mlir", "softmax")
            + &kernel("lit-tests/gir_to_gpu/scan.mlir", "back")
            + PROGRAM;
        let device = open();
        let module = device.load(&compile_launched("packed.mlir", &text, &pipeline)).unwrap();
        Self { device, module }
    }

    fn buffer(&self, stream: &mut Stream, bytes: &[u8]) -> Buffer {
        let buffer = self.device.allocate(bytes.len() as u64).unwrap();
        stream.upload(&buffer, 0, bytes).unwrap();
        buffer
    }

    /// What the parts write.
    fn run(&self, shapes: Shapes, units: usize, blocks: u64) -> Result<Vec<Vec<u8>>, DeviceError> {
        let mut stream = self.device.stream()?;
        let (mut words, mut outputs) = (Vec::new(), Vec::new());
        for (part, (rows, columns)) in shapes.into_iter().enumerate() {
            let numbers = (0..rows * columns).map(|at| (at * 37 + part * 11) % 101);
            let bytes: Vec<u8> = match part {
                2 => numbers.flat_map(|number| (number as i64).to_le_bytes()).collect(),
                _ => numbers.flat_map(|number| (number as f32 * 0.1).to_le_bytes()).collect(),
            };
            let to = self.device.allocate(bytes.len() as u64)?;
            words.push(self.buffer(&mut stream, &bytes));
            outputs.push(to);
        }
        let mut arguments: Vec<u64> =
            words.iter().zip(&outputs).flat_map(|(from, to)| [from.address(), to.address()]).collect();
        arguments.extend(shapes.iter().flat_map(|(rows, columns)| [*rows as u64, *columns as u64]));
        let before = shapes.iter().scan(0, |sum, (rows, _)| {
            *sum += rows.div_ceil(units) as u64;
            Some(*sum)
        });
        arguments.extend(before.take(2));
        let kernel = self.module.kernel("packed0")?;
        // SAFETY: the buffers have these shapes, and a wrong access would be found.
        unsafe { stream.launch(&kernel, blocks, 0, &arguments)? };
        outputs
            .iter()
            .map(|buffer| {
                let mut bytes = vec![0; buffer.bytes() as usize];
                stream.download(buffer, 0, &mut bytes)?;
                Ok(bytes)
            })
            .collect()
    }
}

fn expected(shapes: Shapes) -> [Vec<f64>; 3] {
    std::array::from_fn(|part| {
        let (rows, columns) = shapes[part];
        let numbers: Vec<f64> = (0..rows * columns).map(|at| ((at * 37 + part * 11) % 101) as f64).collect();
        let rows = numbers.chunks(columns.max(1)).flat_map(|row| -> Vec<f64> {
            if part == 2 {
                return (0..row.len()).map(|at| row[at + 1..].iter().sum()).collect();
            }
            let powers: Vec<f64> = row.iter().map(|x| (x * 0.1).exp()).collect();
            let sum: f64 = powers.iter().sum();
            powers.into_iter().map(|power| power / sum).collect()
        });
        rows.collect()
    })
}

#[track_caller]
fn packed_is_right(threads: u32, subgroup: u32, units: usize) {
    let packed = Packed::new(threads, subgroup);
    for shapes in [[(5, 300), (3, 77), (4, 1000)], [(0, 5), (7, 2050), (2, 1)], [(33, 9), (1, 8192), (0, 0)]] {
        for blocks in [1, 2, 3, 7, 64] {
            let what = format!("{shapes:?} by {threads} threads in subgroups of {subgroup}, {blocks} blocks");
            let found = packed.run(shapes, units, blocks).unwrap_or_else(|error| panic!("{what}: {error}"));
            for (part, (found, expected)) in found.iter().zip(expected(shapes)).enumerate() {
                let found: Vec<f64> = match part {
                    2 => found.chunks_exact(8).map(|w| i64::from_le_bytes(w.try_into().unwrap()) as f64).collect(),
                    _ => found.chunks_exact(4).map(|w| f64::from(f32::from_le_bytes(w.try_into().unwrap()))).collect(),
                };
                assert_eq!(found.len(), expected.len(), "{what}");
                let wrong = found.iter().zip(&expected).position(|(a, b)| (a - b).abs() > 1e-5 * b.abs() || a.is_nan());
                assert_eq!(wrong, None, "part {part} of {what}");
            }
        }
    }
}

#[test]
fn parts_of_several_subgroups() {
    packed_is_right(64, 32, 1);
    packed_is_right(256, 64, 1);
}

/// Blocks of 128 threads take several groups at a time.
#[test]
fn parts_of_a_subgroup() {
    packed_is_right(32, 32, 4);
    packed_is_right(64, 64, 2);
}
