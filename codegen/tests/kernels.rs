//! Kernels from text to machine code and back: ahead of time and in process, for several vector widths.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::path::Path;

use sutura_codegen::{
    CpuKernel, Jit, KERNEL_PIPELINE, Linker, MlirModule, Optimization, Target, emit_assembly, emit_llvm_dialect,
    emit_llvm_ir, emit_object, link_object, link_shared,
};
use sutura_mlir_link as _;

const KERNELS: &str = include_str!("data/kernels.mlir");
const LINUX: &str = "x86_64-unknown-linux-gnu";

fn object(target: &Target) -> Vec<u8> {
    let mut warnings = Vec::new();
    let object = emit_object(KERNELS, "kernels.mlir", target, &mut warnings).unwrap();
    assert_eq!(warnings, []);
    object
}

fn assembly(features: &str) -> String {
    emit_assembly(KERNELS, "kernels.mlir", &Target::new(LINUX, features), &mut Vec::new()).unwrap()
}

/// Runs `kernel` on `begin..end` with copies of `bufs`, which it may change, and gives them back.
fn call(kernel: CpuKernel, mut bufs: Vec<Vec<f32>>, dims: &[i64], begin: i64, end: i64) -> Vec<Vec<f32>> {
    let pointers: Vec<*mut c_void> = bufs.iter_mut().map(|buf| buf.as_mut_ptr().cast()).collect();
    // SAFETY: the kernels have this ABI, and the buffers are as long as the dims say.
    unsafe { kernel(pointers.as_ptr(), dims.as_ptr(), begin, end) };
    bufs
}

fn check_vector_add(kernel: CpuKernel) {
    for n in [0usize, 1, 15, 16, 63, 64, 65, 200] {
        let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
        let b: Vec<f32> = (0..n).map(|i| 100.0 - i as f32).collect();
        // One element more than the kernel may touch.
        let untouched = vec![-1.0; n + 1];
        let groups = n.div_ceil(64) as i64;
        let bufs = call(kernel, vec![a.clone(), b.clone(), untouched], &[n as i64], 0, groups);
        let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).chain([-1.0]).collect();
        assert_eq!(bufs[2], expected, "n = {n}");
    }
}

fn check_softmax(kernel: CpuKernel) {
    for (rows, columns) in [(1, 1), (3, 7), (4, 64), (2, 333)] {
        let x: Vec<f32> = (0..rows * columns).map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0).collect();
        let y = vec![-1.0; x.len()];
        let bufs = call(kernel, vec![x.clone(), y], &[rows as i64, columns as i64], 0, rows as i64);
        for (row, values) in x.chunks(columns).enumerate() {
            let max = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let exps: Vec<f64> = values.iter().map(|v| f64::from(v - max).exp()).collect();
            let sum: f64 = exps.iter().sum();
            for (column, exp) in exps.iter().enumerate() {
                let got = f64::from(bufs[1][row * columns + column]);
                assert!((got - exp / sum).abs() < 1e-6, "[{row}, {column}] of {rows}x{columns}: {got}");
            }
        }
    }
}

fn check_library(path: &Path) {
    // SAFETY: the library is the one just linked, it has no initialisers, and the symbols have the kernel ABI.
    unsafe {
        let library = libloading::Library::new(path).unwrap();
        check_vector_add(*library.get::<CpuKernel>(b"vector_add\0").unwrap());
        check_softmax(*library.get::<CpuKernel>(b"softmax\0").unwrap());
    }
}

fn kernel(jit: &mut Jit, name: &str) -> CpuKernel {
    let address = jit.symbol(name).unwrap();
    // SAFETY: the symbol is a function of the kernel ABI, and callers keep the session.
    unsafe { std::mem::transmute::<*const c_void, CpuKernel>(address) }
}

#[test]
fn a_linked_object_computes() {
    let folder = tempfile::tempdir().unwrap();
    for (name, target) in [("host.so", Target::host()), ("generic.so", Target::new(LINUX, ""))] {
        let path = folder.path().join(name);
        link_shared(&[object(&target)], &path).unwrap();
        check_library(&path);
    }
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files.len(), 2, "scratch files are left: {files:?}");
}

#[test]
fn the_c_compiler_links_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cc.so");
    Linker::Cc("cc".into()).link_shared(&[object(&Target::new(LINUX, ""))], &path).unwrap();
    check_library(&path);
}

#[test]
fn parts_of_a_program_become_one_object() {
    let part = |text: &str| {
        let text = format!("\"builtin.module\"() ({{\n{text}}}) : () -> ()\n");
        emit_object(&text, "part.mlir", &Target::host(), &mut Vec::new()).unwrap()
    };
    let function = "function_type = (i64) -> i64, sym_name = ";
    let twice = part(&format!(
        "\"func.func\"() <{{{function}\"twice\"}}> ({{\n^bb0(%x: i64):\n %y = \"arith.addi\"(%x, %x) : (i64, i64) -> i64\n \
         \"func.return\"(%y) : (i64) -> ()\n}}) : () -> ()\n"
    ));
    let caller = part(&format!(
        "\"func.func\"() <{{{function}\"twice\", sym_visibility = \"private\"}}> ({{\n}}) : () -> ()\n\
         \"func.func\"() <{{{function}\"four_times\"}}> ({{\n^bb0(%x: i64):\n %y = \"func.call\"(%x) <{{callee = @twice}}> : (i64) -> i64\n \
         %z = \"func.call\"(%y) <{{callee = @twice}}> : (i64) -> i64\n \"func.return\"(%z) : (i64) -> ()\n}}) : () -> ()\n"
    ));
    let folder = tempfile::tempdir().unwrap();
    let objects = [caller, twice];
    let error = link_shared(&objects[..1], &folder.path().join("half.so")).unwrap_err();
    assert!(error.to_string().contains("twice"), "{error}");
    for linker in [Linker::find().unwrap(), Linker::Cc("cc".into())] {
        let joined = linker.link_object(&objects).unwrap();
        let mut jit = Jit::new().unwrap();
        jit.add_object(&joined).unwrap();
        let address = jit.symbol("four_times").unwrap();
        // SAFETY: the symbol is a function of one number, and the session lives.
        let four_times = unsafe { std::mem::transmute::<*const c_void, extern "C" fn(i64) -> i64>(address) };
        assert_eq!(four_times(5), 20);
    }
    assert_eq!(link_object(&objects[1..]).unwrap(), objects[1]);
}

#[test]
fn the_same_object_computes_in_process() {
    for target in [Target::host(), Target::new(LINUX, "")] {
        let mut jit = Jit::new().unwrap();
        jit.add_object(&object(&target)).unwrap();
        check_vector_add(kernel(&mut jit, "vector_add"));
        check_softmax(kernel(&mut jit, "softmax"));
    }
}

#[test]
fn features_choose_the_vector_registers() {
    let wide = assembly("+avx512f,+avx512bw,+avx512dq,+avx512vl,-prefer-256-bit");
    assert!(wide.contains("%zmm"), "{wide}");
    let middle = assembly("+avx2,+fma");
    assert!(middle.contains("%ymm") && !middle.contains("%zmm"), "{middle}");
    let baseline = assembly("");
    assert!(baseline.contains("%xmm") && !baseline.contains("%ymm"), "{baseline}");
}

#[test]
fn scalar_loops_are_vectorised_as_wide_as_preferred() {
    let softmax = |features| {
        let assembly = assembly(features);
        assembly.split_once("\nsoftmax:").unwrap().1.split_once(".size\tsoftmax").unwrap().0.to_owned()
    };
    assert!(softmax("+avx512f,+avx512vl,-prefer-256-bit").contains("%zmm"));
    assert!(!softmax("+avx512f,+avx512vl,+prefer-256-bit").contains("%zmm"));
}

/// A function of one block that squares `count` numbers, one by one.
fn squares(count: usize) -> String {
    let mut body = String::new();
    for i in 0..count {
        body += &format!(
            "%a{i} = llvm.getelementptr %a[{i}] : (!llvm.ptr) -> !llvm.ptr, f32
             %x{i} = llvm.load %a{i} : !llvm.ptr -> f32
             %y{i} = llvm.fmul %x{i}, %x{i} : f32
             %b{i} = llvm.getelementptr %b[{i}] : (!llvm.ptr) -> !llvm.ptr, f32
             llvm.store %y{i}, %b{i} : f32, !llvm.ptr\n"
        );
    }
    let arguments = "%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}";
    format!("module {{ llvm.func @squares({arguments}) {{ {body} llvm.return }} }}")
}

#[test]
fn functions_with_long_blocks_stay_scalar() {
    let ir = |count| {
        let mut module = MlirModule::parse(&squares(count), "squares.mlir").unwrap();
        module.run_pipeline(KERNEL_PIPELINE).unwrap();
        let mut llvm = module.to_llvm().unwrap();
        llvm.optimize(&Target::new(LINUX, "+avx2"), Optimization::Full).unwrap();
        llvm.to_text().unwrap()
    };
    let (short, long) = (ir(16), ir(1000));
    assert!(short.contains("fmul <8 x float>"), "{short}");
    assert!(long.contains("fmul float") && !long.contains("fmul <"));
    assert!(!short.contains("noimplicitfloat") && !long.contains("noimplicitfloat"));
}

#[test]
fn each_level_can_be_printed() {
    let dialect = emit_llvm_dialect(KERNELS, "kernels.mlir", &mut Vec::new()).unwrap();
    assert!(dialect.contains("\"llvm.func\"()") && !dialect.contains("\"scf.for\""), "{dialect}");
    let again = emit_llvm_dialect(&dialect, "again.mlir", &mut Vec::new()).unwrap();
    assert_eq!(dialect, again, "the LLVM dialect lowers to itself");
    let ir = emit_llvm_ir(KERNELS, "kernels.mlir", &Target::new(LINUX, "+avx2"), &mut Vec::new()).unwrap();
    assert!(ir.contains("define void @softmax(ptr"), "{ir}");
    assert!(ir.contains(&format!("target triple = \"{LINUX}\"")) && ir.contains("target datalayout = \"e-"), "{ir}");
}

#[test]
fn optimisation_can_be_left_out() {
    let mut module = MlirModule::parse(KERNELS, "kernels.mlir").unwrap();
    module.run_pipeline(KERNEL_PIPELINE).unwrap();
    let plain = module.to_llvm().unwrap().into_assembly(&Target::new(LINUX, ""), Optimization::None).unwrap().output;
    let calls = |assembly: &str| assembly.lines().filter(|line| line.contains("callq\texp")).count();
    assert_eq!((calls(&plain), calls(&assembly(""))), (1, 0), "the optimiser inlines the call");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let library = |name: &str| {
        let path = folder.path().join(name);
        link_shared(&[object(&Target::new(LINUX, "+avx2"))], &path).unwrap();
        std::fs::read(path).unwrap()
    };
    assert!(library("one.so") == library("two.so"));
}

#[test]
fn other_architectures_are_compiled_for() {
    let assembly =
        emit_assembly(KERNELS, "kernels.mlir", &Target::new("aarch64-unknown-linux-gnu", ""), &mut Vec::new());
    assert!(assembly.unwrap().contains("fadd\tv"));
}

#[test]
fn modules_compile_in_parallel() {
    let expected = object(&Target::new(LINUX, "+avx2"));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| object(&Target::new(LINUX, "+avx2")))).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == expected));
    });
}
