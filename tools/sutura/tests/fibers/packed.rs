//! Kernels that `gpu-pack-launches` puts side by side, on any number of blocks: each takes its groups, and none disturbs another,
//! also where it has the same arrays in the block's memory.

use sutura_runtime::device::{Buffer, Device, DeviceError, Module, Stream};

use crate::build::{compile_launched, from_gir, open, read};

/// Sizes of each part.
type Shapes = [(usize, usize); 3];

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
    /// The one kernel that the program's are.
    fn new(text: &str, threads: u32, subgroup: u32) -> Self {
        let [to_gpu, to_fibers] = from_gir(threads, subgroup);
        let pipeline = [format!("{to_gpu},gpu-pack-launches"), to_fibers];
        let device = open();
        let module = device.load(&compile_launched("packed.mlir", text, &pipeline)).unwrap();
        Self { device, module }
    }

    /// Two softmaxes, which are one kernel, and running sums of rows of integers.
    fn of_three(threads: u32, subgroup: u32) -> Self {
        let kernel = |path: &str, name: &str| {
            let text = read(path);
            let start = text.find(&format!("gir.kernel @{name}(")).unwrap();
            let end = start + text[start..].find("\n}\n").unwrap() + 3;
            text[start..end].to_owned()
        };
        let softmax = kernel("lit-tests/gir_to_gpu/softmax.mlir", "softmax");
        Self::new(&(softmax + &kernel("lit-tests/gir_to_gpu/scan.mlir", "back") + PROGRAM), threads, subgroup)
    }

    fn buffer(&self, stream: &mut Stream, bytes: &[u8]) -> Buffer {
        let buffer = self.device.allocate(bytes.len() as u64).unwrap();
        stream.upload(&buffer, 0, bytes).unwrap();
        buffer
    }

    /// What the parts write: one output each, of so many bytes.
    fn run(
        &self,
        inputs: &[Vec<u8>],
        outputs: &[usize],
        sizes: &[usize],
        blocks: u64,
    ) -> Result<Vec<Vec<u8>>, DeviceError> {
        let mut stream = self.device.stream()?;
        let from: Vec<Buffer> = inputs.iter().map(|bytes| self.buffer(&mut stream, bytes)).collect();
        let to = outputs.iter().map(|bytes| self.device.allocate(*bytes as u64)).collect::<Result<Vec<_>, _>>()?;
        let buffers = from.iter().zip(&to).flat_map(|(from, to)| [from.address(), to.address()]);
        let arguments: Vec<u64> = buffers.chain(sizes.iter().map(|size| *size as u64)).collect();
        let kernel = self.module.kernel("packed0")?;
        // SAFETY: the buffers have these sizes, and a wrong access would be found.
        unsafe { stream.launch(&kernel, blocks, 0, &arguments)? };
        let download = |buffer: &Buffer| {
            let mut bytes = vec![0; buffer.bytes() as usize];
            stream.download(buffer, 0, &mut bytes).map(|()| bytes)
        };
        to.iter().map(download).collect()
    }

    fn run_three(&self, shapes: Shapes, units: usize, blocks: u64) -> Result<Vec<Vec<u8>>, DeviceError> {
        let inputs: [Vec<u8>; 3] = std::array::from_fn(|part| {
            let numbers = (0..shapes[part].0 * shapes[part].1).map(|at| (at * 37 + part * 11) % 101);
            match part {
                2 => numbers.flat_map(|number| (number as i64).to_le_bytes()).collect(),
                _ => numbers.flat_map(|number| (number as f32 * 0.1).to_le_bytes()).collect(),
            }
        });
        let before = [0, 1].map(|part: usize| shapes[..=part].iter().map(|(rows, _)| rows.div_ceil(units)).sum());
        let sizes: Vec<usize> = shapes.iter().flat_map(|(rows, columns)| [*rows, *columns]).chain(before).collect();
        self.run(&inputs, &inputs.each_ref().map(Vec::len), &sizes, blocks)
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
    let packed = Packed::of_three(threads, subgroup);
    for shapes in [[(5, 300), (3, 77), (4, 1000)], [(0, 5), (7, 2050), (2, 1)], [(33, 9), (1, 8192), (0, 0)]] {
        for blocks in [1, 2, 3, 7, 64] {
            let what = format!("{shapes:?} by {threads} threads in subgroups of {subgroup}, {blocks} blocks");
            let found = packed.run_three(shapes, units, blocks).unwrap_or_else(|error| panic!("{what}: {error}"));
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

/// Running sums by their sum, until which they are kept in the block's memory.
const KEPT: &str = r#"
gir.kernel @kept(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, bf16, [M, N]> out)
    dims(%M : [0, 100], %N : [1, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %u = gir.scan "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %u : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %u : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %u, %sb : !gir.tile<l1, f32, [1, N]>
  %h = gir.cast "truncf" %r : !gir.tile<l1, f32, [1, N]> -> !gir.tile<l1, bf16, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, bf16, [M, N]> -> !gir.slice<dram, bf16, [1, N]>
  gir.store %h, %out : !gir.tile<l1, bf16, [1, N]>, !gir.slice<dram, bf16, [1, N]>
}
rt.program @main(%a : !rt.buffer<f32, [A, B]> in "a", %b : !rt.buffer<f32, [C, D]> in "b",
    %x : !rt.buffer<bf16, [A, B]> out "x", %y : !rt.buffer<bf16, [C, D]> out "y")
    symbols(A : [0, 100], B : [1, 4096], C : [0, 100], D : [1, 4096]) {
  packed {
    launch @kept(%a, %x) dims [A, B] : !rt.buffer<f32, [A, B]>, !rt.buffer<bf16, [A, B]>
    launch @kept(%b, %y) dims [C, D] : !rt.buffer<f32, [C, D]>, !rt.buffer<bf16, [C, D]>
  }
}
"#;

/// Its columns are those of other threads then: the first part takes four at a time, the second one.
#[test]
fn a_kernel_beside_itself() {
    const SHAPES: [(usize, usize); 2] = [(5, 300), (3, 77)];
    let inputs = SHAPES.map(|(rows, columns)| vec![0_u8; rows * columns * 4]);
    let bytes = SHAPES.map(|(rows, columns)| rows * columns * 2);
    for (threads, subgroup) in [(8, 32), (64, 32)] {
        let packed = Packed::new(KEPT, threads, subgroup);
        for blocks in [1, 2, 9] {
            let what = format!("{threads} threads, {blocks} blocks");
            let found = packed.run(&inputs, &bytes, &[5, 300, 3, 77, 5], blocks);
            let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
            for (found, (_, columns)) in found.iter().zip(SHAPES) {
                for (at, word) in found.chunks_exact(2).enumerate() {
                    let found = f32::from_bits(u32::from(u16::from_le_bytes(word.try_into().unwrap())) << 16);
                    let expected = 2.0 * (at % columns + 1) as f32 / (columns * (columns + 1)) as f32;
                    assert!((found - expected).abs() <= expected / 128.0, "{what}: {found} at {at} of {columns}");
                }
            }
        }
    }
}
