//! A C program, compiled against the header and linked with either library, runs a model.

#[path = "../../tests/common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use sutura_runtime::manifest::Device;
use sutura_runtime::{ElementType, ErrorKind};

/// A folder for the programs with wrong calls and what they need, for `cargo xtask memcheck`.
const KEEP: &str = "SUTURA_KEEP_HOSTILE";

/// Where cargo puts the libraries of the crate under test: beside the test itself.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn compile(sources: &Path, out: &Path, flags: &[&str]) {
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(common::include()).arg(sources).arg("-o").arg(out);
    let done = cc.args(flags).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn run(program: &Path, args: &[&Path]) -> String {
    let done = Command::new(program).args(args).env("SUTURA_THREADS", "lots").output().unwrap();
    assert!(done.status.success(), "{:?}\n{}", done.status, String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn embed(link: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("rows.sutura");
    std::fs::write(&artifact, common::pack(&common::manifest(), &common::host(&[]))).unwrap();
    let program = folder.path().join("embed");
    compile(&source("embed.c"), &program, link);
    let absent = Path::new("absent.sutura");
    let expected = "\
before: '', version 0.1.0
absent: 5 cannot read `absent.sutura`: No such file or directory (os error 2)
threads: 2 the number of threads is negative: -3
environment: 2 SUTURA_THREADS is `lots`, but must be a whole number from 1 to 1024
null: 2 null pointer: model
rows(x: f32[rows, cols], bias: f32[cols]) -> (y: f32[rows, cols], sums: f32[rows])
2 inputs, 2 outputs
input x: type 13, dims -1 -1
output y: type 13, dims -1 -1
input bias: type 13, dims -1
output sums: type 13, dims -1
index: 2 there is no input 2: the model has 2
solved 2 3
-3 8.5 20 -7.5 4 15.5 | 3 12
dims: 1 dimension `cols` is inconsistent: input `bias` dimension 0 is 4, but input `x` dimension 1 is 3
count: 2 the model has 2 inputs (`x`, `bias`), but 1 was given
type: 2 there is no element type 99
data: 2 null pointer: data of input `bias`
overlap: 2 the buffers of output `y` and input `x` overlap
aligned: 0 the buffers of output `y` and input `x` overlap
-3 8.5 20 -7.5 4 15.5 | elements: 2 misaligned pointer: data of output `y`; an element of type f32 is aligned to 4 bytes
on cpu, bias 1, sums 1
name: 2 the model has no input `bia` (did you mean `bias`?); its inputs are `x`, `bias`
-3 8.5 20 -7.5 4 15.5 | 3 12
0 a kernel: 2 groups, 1 calls, timed
1 a kernel: 2 groups, 1 calls, timed
2 launches kept, 0 after clearing
complex<f32> has 8 bytes
model: 2 null pointer: model
-1 1
";
    assert_eq!(run(&program, &[&artifact, absent]), expected);
}

/// Copies files to where `cargo xtask memcheck` wants them, if it does.
fn keep(files: &[&Path]) {
    if let Some(kept) = std::env::var_os(KEEP) {
        for file in files {
            std::fs::copy(file, Path::new(&kept).join(file.file_name().unwrap())).unwrap();
        }
    }
}

/// A program that calls the library in wrong ways: none of them is more than an error.
#[test]
fn wrong_calls_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, nullary) = (folder.path().join("rows.sutura"), folder.path().join("nullary.sutura"));
    std::fs::write(&rows, common::pack(&common::manifest(), &common::host(&[]))).unwrap();
    std::fs::write(&nullary, common::nullary()).unwrap();
    let program = folder.path().join("hostile");
    let libraries = libraries();
    let libraries = libraries.to_str().unwrap();
    let link = ["-L", libraries, "-lsutura_rt", &format!("-Wl,-rpath,{libraries}")];
    compile(&source("hostile.c"), &program, &link);
    keep(&[&program, &rows, &nullary]);
    let done = Command::new(&program).args([&rows, &nullary]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said == "0 of 383 wrong\n", "{:?}\n{said}", done.status);
}

#[test]
fn with_the_shared_library() {
    let folder = libraries();
    let folder = folder.to_str().unwrap();
    embed(&["-L", folder, "-lsutura_rt", &format!("-Wl,-rpath,{folder}")]);
}

#[test]
fn with_the_static_library() {
    let archive = libraries().join("libsutura_rt.a");
    embed(&[archive.to_str().unwrap(), "-lpthread", "-ldl", "-lm"]);
}

/// The numbers and sizes in the headers are those of the Rust code.
#[test]
fn headers_agree_with_rust() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("constants.c");
    let name = |ty: &ElementType| match ty {
        ElementType::C64 => "SUTURA_COMPLEX64".to_owned(),
        ElementType::C128 => "SUTURA_COMPLEX128".to_owned(),
        _ => format!("SUTURA_{}", ty.name().to_uppercase()),
    };
    let names: Vec<String> = ElementType::ALL.iter().map(name).collect();
    let kinds = [
        ("SUTURA_INPUT", ErrorKind::Input),
        ("SUTURA_USAGE", ErrorKind::Usage),
        ("SUTURA_UNSUPPORTED", ErrorKind::Unsupported),
        ("SUTURA_CORRUPT", ErrorKind::Corrupt),
        ("SUTURA_SYSTEM", ErrorKind::System),
        ("SUTURA_INTERNAL", ErrorKind::Internal),
    ];
    let mut expressions = vec![
        ("SUTURA_OK".to_owned(), 0),
        ("SUTURA_BUFFER_ALIGNMENT".into(), common::abi::ALIGNMENT as i64),
        ("SUTURA_ALIGNMENT".into(), common::abi::ALIGNMENT as i64),
        ("SUTURA_ABI_VERSION".into(), i64::from(common::abi::VERSION)),
        ("SUTURA_NO_SUCH_ROUTINE".into(), i64::from(common::abi::NO_SUCH_ROUTINE)),
        ("sizeof(SuturaRt)".into(), size_of::<common::abi::SuturaRt>() as i64),
        ("offsetof(SuturaRt, ctx)".into(), std::mem::offset_of!(common::abi::SuturaRt, ctx) as i64),
        ("offsetof(SuturaRt, parallel_for)".into(), std::mem::offset_of!(common::abi::SuturaRt, parallel_for) as i64),
        ("offsetof(SuturaRt, call)".into(), std::mem::offset_of!(common::abi::SuturaRt, call) as i64),
        ("offsetof(SuturaRt, report)".into(), std::mem::offset_of!(common::abi::SuturaRt, report) as i64),
        ("offsetof(SuturaRt, reports)".into(), std::mem::offset_of!(common::abi::SuturaRt, reports) as i64),
        ("offsetof(SuturaRt, look)".into(), std::mem::offset_of!(common::abi::SuturaRt, look) as i64),
        ("sizeof(sutura_tensor)".into(), size_of::<sutura_rt::SuturaTensor>() as i64),
        ("offsetof(sutura_tensor, data)".into(), std::mem::offset_of!(sutura_rt::SuturaTensor, data) as i64),
        ("sizeof(sutura_options)".into(), size_of::<sutura_rt::SuturaOptions>() as i64),
        ("offsetof(sutura_options, profile)".into(), std::mem::offset_of!(sutura_rt::SuturaOptions, profile) as i64),
        ("sizeof(sutura_launch)".into(), size_of::<sutura_rt::SuturaLaunch>() as i64),
        ("offsetof(sutura_launch, position)".into(), std::mem::offset_of!(sutura_rt::SuturaLaunch, position) as i64),
        ("sizeof(sutura_device_info)".into(), size_of::<sutura_rt::SuturaDeviceInfo>() as i64),
        (
            "offsetof(sutura_device_info, memory_bytes)".into(),
            std::mem::offset_of!(sutura_rt::SuturaDeviceInfo, memory_bytes) as i64,
        ),
        ("sizeof(sutura_value)".into(), size_of::<sutura_rt::SuturaValue>() as i64),
        ("offsetof(sutura_value, dims)".into(), std::mem::offset_of!(sutura_rt::SuturaValue, dims) as i64),
    ];
    expressions.extend(names.into_iter().zip(0..));
    expressions.extend(kinds.map(|(name, kind)| (name.to_owned(), i64::from(kind.exit_code()))));
    let checks =
        expressions.iter().map(|(c, rust)| format!("_Static_assert({c} == {rust}, \"{c} is {rust} in Rust\");\n"));
    let text: String = ["#include <stddef.h>\n#include \"sutura.h\"\n#include \"sutura_abi.h\"\n".to_owned()]
        .into_iter()
        .chain(checks)
        .chain(["int main(void) { return 0; }\n".to_owned()])
        .collect();
    std::fs::write(&source, text).unwrap();
    compile(&source, &folder.path().join("constants"), &[]);
}

/// What programs for devices need: the driver that stands in for CUDA's, and a model for it and one for the processor.
struct OnDevice {
    folder: tempfile::TempDir,
    driver: PathBuf,
    chain: PathBuf,
    rows: PathBuf,
}

fn on_device() -> &'static OnDevice {
    static MADE: std::sync::OnceLock<OnDevice> = std::sync::OnceLock::new();
    MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let driver = folder.path().join("libfake_gpu.so");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
        let mut compile = Command::new(rustc);
        compile.args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "fake_gpu", "-o"]);
        let done = compile.arg(&driver).arg(tests.join("fake_gpu/lib.rs")).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let (chain, rows) = (folder.path().join("chain.sutura"), folder.path().join("rows.sutura"));
        let device = Device { backend: "cuda".into(), chip: Some("sm_80".into()), subgroup: 32 };
        let ptx = std::fs::read(tests.join("data/gpu_kernels.ptx")).unwrap();
        std::fs::write(&chain, common::chain(device, &common::host_of("chain_model.c", &[]), &ptx, None)).unwrap();
        std::fs::write(&rows, common::pack(&common::manifest(), &common::host(&[]))).unwrap();
        OnDevice { folder, driver, chain, rows }
    })
}

/// Flags that link with the shared library.
fn shared() -> [String; 4] {
    let folder = libraries().to_str().unwrap().to_owned();
    ["-L".into(), folder.clone(), "-lsutura_rt".into(), format!("-Wl,-rpath,{folder}")]
}

/// Sessions on a driver that stands in for CUDA's.
#[test]
fn sessions_keep_data_on_a_device() {
    let OnDevice { folder, driver, chain, rows } = on_device();
    let program = folder.path().join("device");
    compile(&source("device.c"), &program, &shared().each_ref().map(String::as_str));
    keep(&[&program, driver, chain, rows]);
    let done = Command::new(&program).args([chain, rows]).env("SUTURA_CUDA_LIBRARY", driver).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.ends_with("0 of 94 wrong\n"), "{:?}\n{said}", done.status);
}

/// A C++ program on `sutura.hpp`, by each compiler that is there.
#[test]
fn from_cpp() {
    let OnDevice { folder, driver, chain, rows } = on_device();
    let mut compilers = 0;
    for compiler in ["g++", "clang++"] {
        let program = folder.path().join(format!("embed-{compiler}"));
        let mut compile = Command::new(compiler);
        compile.args(["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-I"]);
        compile.arg(common::include()).arg(source("embed.cpp")).arg("-o").arg(&program).args(shared());
        let Ok(done) = compile.output() else { continue };
        compilers += 1;
        assert!(done.status.success(), "{compiler}: {}", String::from_utf8_lossy(&done.stderr));
        for args in [&[rows.as_os_str()][..], &[chain.as_os_str(), "device".as_ref()]] {
            let done = Command::new(&program).args(args).env("SUTURA_CUDA_LIBRARY", driver).output().unwrap();
            assert!(done.status.success(), "{compiler}: {:?}\n{}", done.status, String::from_utf8_lossy(&done.stdout));
        }
    }
    assert!(compilers > 0, "there is neither g++ nor clang++");
}

/// A source of this folder.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}
