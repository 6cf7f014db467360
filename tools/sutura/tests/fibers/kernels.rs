//! Kernels of other tests, as `convert-gir-to-gpu` lowers them: no thread does what it may not, and any number of threads computes
//! what one does.

use sutura_dialects::rt::Access;
use sutura_runtime::device::Device;

use crate::build::{GirKernel, gir_kernels, open};

/// Sizes to try, cut to what a kernel takes.
const SIZES: [[i64; 3]; 5] = [[1, 1, 1], [3, 7, 5], [33, 77, 40], [4, 2050, 130], [0, 5, 3]];

/// Runs a kernel; what it leaves in the buffers that it writes.
fn outputs(device: &Device, kernel: &GirKernel, dims: &[i64], most_groups: u64) -> Option<Vec<Vec<u8>>> {
    let signature = &kernel.signature;
    let value = |name: &str| signature.dims.iter().position(|(known, _)| known == name).map(|at| dims[at]);
    if signature.requires.iter().any(|size| size.eval(&value).is_none_or(|size| size < 0)) {
        return None;
    }
    let module = device.load(&kernel.library).unwrap();
    let mut stream = device.stream().unwrap();
    let (mut seed, mut buffers) = (88_172_645_463_325_252_u64, Vec::new());
    for (param, bytes) in signature.params.iter().zip(&kernel.element_bytes) {
        let elements: i64 = param.ty.dims.iter().map(|dim| dim.eval(&value).unwrap()).product();
        let buffer = device.allocate(elements.cast_unsigned() * bytes).unwrap();
        if param.access != Access::Write {
            let mut data = Vec::new();
            for _ in 0..elements {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let number = (seed >> 40) as f32 / (1 << 24) as f32 - 0.5;
                // What is no f32 is an index, or a truth value.
                let bits = if *bytes == 4 { u64::from(number.to_bits()) } else { seed >> 63 };
                data.extend(&bits.to_le_bytes()[..*bytes as usize]);
            }
            stream.upload(&buffer, 0, &data).unwrap();
        }
        buffers.push(buffer);
    }
    let groups: i64 = signature.grid.iter().map(|extent| extent.eval(&value).unwrap()).product();
    let arguments: Vec<u64> =
        buffers.iter().map(|buffer| buffer.address()).chain(dims.iter().map(|dim| dim.cast_unsigned())).collect();
    let groups = groups.max(0).cast_unsigned().min(most_groups);
    // SAFETY: the buffers are those of the signature, and a wrong access is found before it is made.
    let launched = unsafe { stream.launch(&module.kernel(&kernel.name).unwrap(), groups, 0, &arguments) };
    launched.unwrap_or_else(|error| panic!("at {dims:?}: {error}"));
    let written = buffers.iter().zip(&signature.params).filter(|(_, param)| param.access != Access::Read);
    let download = |buffer: &sutura_runtime::device::Buffer| {
        let mut bytes = vec![0; buffer.bytes() as usize];
        stream.download(buffer, 0, &mut bytes).unwrap();
        bytes
    };
    Some(written.map(|(buffer, _)| buffer).map(download).collect())
}

fn close(found: &[u8], expected: &[u8]) -> bool {
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    found == expected
        || found.chunks_exact(4).zip(expected.chunks_exact(4)).all(|(found, expected)| {
            let (found, expected) = (number(found), number(expected));
            (found - expected).abs() <= 1e-5 * (1.0 + expected.abs()) || found.to_bits() == expected.to_bits()
        })
}

#[track_caller]
fn threads_agree(path: &str, to_gir: &str, expected: usize) {
    agree(path, to_gir, expected, &[(0, 32), (8, 64), (128, 64)]);
}

/// Whether a thread a unit computes what these numbers of threads do, of subgroups as large.
#[track_caller]
fn agree(path: &str, to_gir: &str, expected: usize, threads: &[(u32, u32)]) {
    let device = open();
    let alone = gir_kernels(path, to_gir, 1, 32);
    assert_eq!(alone.len(), expected);
    for (threads, subgroup) in threads.iter().copied() {
        for (one, kernel) in alone.iter().zip(gir_kernels(path, to_gir, threads, subgroup)) {
            for sizes in SIZES {
                let dims: Vec<i64> = (kernel.signature.dims.iter().enumerate())
                    .map(|(at, (_, info))| {
                        let size = sizes[at.min(2)].clamp(info.min, info.max) / info.div * info.div;
                        if size < info.min { size + info.div } else { size }
                    })
                    .collect();
                let what = format!("{} of {path} at {dims:?}, {threads} threads", kernel.name);
                let (Some(found), Some(wanted)) =
                    (outputs(&device, &kernel, &dims, 3), outputs(&device, one, &dims, 64))
                else {
                    continue;
                };
                for (found, wanted) in found.iter().zip(&wanted) {
                    assert!(close(found, wanted), "{what}");
                }
            }
        }
    }
}

#[test]
fn rows_of_other_kinds() {
    threads_agree("lit-tests/gir_to_cpu/masks.mlir", "canonicalize", 1);
    threads_agree("lit-tests/gir_to_cpu/strided.mlir", "canonicalize", 2);
    threads_agree("lit-tests/gir_to_cpu/index.mlir", "canonicalize", 3);
}

#[test]
fn what_is_needed_again() {
    threads_agree("lit-tests/gir_to_cpu/in-place.mlir", "canonicalize", 5);
}

#[test]
fn what_is_put_off() {
    threads_agree("lit-tests/gir_to_cpu/pipeline.mlir", "canonicalize", 4);
}

/// What threads hand to each other.
#[test]
fn scans_and_transposes() {
    threads_agree("lit-tests/gir_to_cpu/scan.mlir", "canonicalize", 3);
    threads_agree("lit-tests/gir_to_gpu/scan.mlir", "canonicalize", 2);
    threads_agree("lit-tests/gir_to_gpu/short-rows.mlir", "canonicalize", 2);
    threads_agree("lit-tests/gir_to_cpu/transpose.mlir", "canonicalize", 3);
    threads_agree("lit-tests/gir_to_gpu/windows.mlir", "canonicalize", 1);
}

#[test]
fn products() {
    threads_agree("lit-tests/gir_to_cpu/matmul.mlir", "canonicalize", 1);
}

/// Units are subgroups of their group's block.
#[test]
fn groups_of_several_units() {
    agree("lit-tests/gir_to_gpu/units.mlir", "canonicalize", 3, &[(0, 32), (8, 64), (64, 64)]);
    agree("lit-tests/gir_to_gpu/async.mlir", "canonicalize", 3, &[(0, 32), (8, 64), (64, 64)]);
    agree("lit-tests/gir_to_gpu/late.mlir", "canonicalize", 2, &[(0, 32), (8, 64), (64, 64)]);
}

/// Rows of a tile that lie side by side.
#[test]
fn several_rows_at_once() {
    agree("lit-tests/gir_to_gpu/along_rows.mlir", "canonicalize", 3, &[(0, 32), (8, 64), (64, 64)]);
}

#[test]
fn regions_of_a_graph() {
    let to_gir = "func.func(canonicalize,stitch),convert-graph-to-gir,canonicalize,cse";
    threads_agree("lit-tests/gir_to_cpu/blocks.mlir", to_gir, 1);
}
