//! A small model for tests, with code compiled by the system's C compiler.

#![allow(dead_code, unreachable_pub)]

use std::path::{Path, PathBuf};
use std::process::Command;

pub use sutura_runtime::abi;
use sutura_runtime::artifact::{Contents, to_bytes};
use sutura_runtime::manifest::*;
use sutura_runtime::{Artifact, ElementType, Model, Options, Result, Tensor};

/// The scale that the artifact holds as its only constant.
pub const SCALE: f32 = 1.5;

/// The folder of this file.
fn folder() -> PathBuf {
    // Also included by the tests of the crate one level below.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = if root.ends_with("capi") { root.parent().unwrap() } else { root };
    root.join("tests/common")
}

/// The folder with the C headers.
pub fn include() -> PathBuf {
    folder().join("../../include")
}

/// `row_model.c` as a shared object, with these macros.
pub fn host(macros: &[&str]) -> Vec<u8> {
    host_of("row_model.c", macros)
}

/// `row_model.c`, which says that it was generated for this manifest.
pub fn host_for(manifest: &Manifest) -> Vec<u8> {
    host(&[&format!("TEST_INTERFACE=\"{}\"", manifest.interface_text())])
}

/// A file of this folder as a shared object, with these macros.
pub fn host_of(source: &str, macros: &[&str]) -> Vec<u8> {
    let out = tempfile::tempdir().unwrap();
    let library = out.path().join("host.so");
    let mut cc = Command::new("cc");
    cc.args([
        "-std=c11",
        "-O2",
        "-ffp-contract=off",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-function",
        "-Wno-unused-parameter",
        "-shared",
        "-fPIC",
    ]);
    cc.args(macros.iter().map(|m| format!("-D{m}"))).arg("-I").arg(include());
    cc.arg(folder().join(source)).arg("-o").arg(&library);
    let done = cc.output().expect("the C compiler `cc`, which Rust's own linking needs as well");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(library).unwrap()
}

fn value(name: &str, dims: &[Dim]) -> Value {
    Value { name: name.into(), element_type: ElementType::F32, dims: dims.to_vec() }
}

fn symbol(name: &str, max: i64) -> Symbol {
    Symbol { name: name.into(), min: 0, max, div: 1, likely: vec![] }
}

/// The manifest of `row_model.c`.
pub fn manifest() -> Manifest {
    let rows = Dim::Symbol("rows".into());
    let cols = Dim::Symbol("cols".into());
    let check = |kind, dim: &str, left: &str, right: &str| Check {
        kind,
        dim: Some(dim.into()),
        left: left.into(),
        right: right.into(),
        reserve: None,
    };
    let kernel = |name: &str| Kernel {
        symbol: name.into(),
        name: name.into(),
        guard: None,
        ops: vec![],
        bytes: None,
        flops: None,
        groups_of_block: None,
    };
    Manifest {
        format: FORMAT,
        abi: abi::VERSION,
        tool: Tool { name: "test".into(), version: "0".into() },
        target: Target {
            triple: format!("{}-unknown-linux-gnu", std::env::consts::ARCH),
            features: String::new(),
            description: "generic".into(),
            description_hash: "none".into(),
        },
        device: None,
        math: Math::default(),
        model: "rows".into(),
        symbols: vec![symbol("rows", 5000), symbol("cols", 1 << 20)],
        inputs: vec![value("x", &[rows.clone(), cols.clone()]), value("bias", std::slice::from_ref(&cols))],
        reserves: vec![],
        outputs: vec![value("y", &[rows.clone(), cols]), value("sums", &[rows])],
        constants: vec![Constant { name: "scale".into(), element_type: ElementType::F32, dims: vec![1] }],
        checks: vec![
            check(CheckKind::Equal, "cols", "input `bias` dimension 0", "input `x` dimension 1"),
            check(CheckKind::Range, "rows", "input `x` dimension 0", "[0, 5000]"),
            check(CheckKind::Divisible, "cols", "input `x` dimension 1", ""),
        ],
        data_checks: [(DataCheckKind::Index, "gather `rows`"), (DataCheckKind::Division, "div `mean`")]
            .map(|(kind, what)| DataCheck { kind, what: what.into() })
            .to_vec(),
        routines: vec![],
        decided: vec![],
        functions: vec![],
        temporaries: Vec::new(),
        kernels: vec![kernel("row_sums"), kernel("finish")],
        source_hash: "none".into(),
    }
}

/// An artifact of `nullary_model.c`.
pub fn nullary() -> Vec<u8> {
    let outputs = vec![value("s", &[]), value("e", &[Dim::Const(0)])];
    let none = Manifest {
        symbols: vec![],
        constants: vec![],
        checks: vec![],
        data_checks: vec![],
        functions: vec![],
        temporaries: Vec::new(),
        kernels: vec![],
        ..manifest()
    };
    let manifest = Manifest { model: "nothing".into(), inputs: vec![], outputs, ..none };
    let host = host_of("nullary_model.c", &[]);
    to_bytes(&Contents { manifest: &manifest, host: &host, device: None, constants: &[] }).unwrap()
}

/// The manifest of `decided_model.c`.
pub fn decided_manifest() -> Manifest {
    let (n, k) = (Dim::Symbol("n".into()), Dim::Symbol("k".into()));
    let words = ("the size that is found", "what is known");
    Manifest {
        model: "positive".into(),
        symbols: vec![symbol("n", 100), symbol("k", 100)],
        inputs: vec![value("x", &[n])],
        outputs: vec![value("y", &[k])],
        constants: vec![],
        checks: vec![Check {
            kind: CheckKind::Equal,
            dim: None,
            left: words.0.into(),
            right: words.1.into(),
            reserve: None,
        }],
        data_checks: vec![],
        functions: vec![],
        temporaries: Vec::new(),
        kernels: vec![],
        decided: vec!["k".into()],
        ..manifest()
    }
}

/// An artifact of `decided_model.c`, with these macros.
pub fn decided(macros: &[&str]) -> Vec<u8> {
    let host = host_of("decided_model.c", macros);
    to_bytes(&Contents { manifest: &decided_manifest(), host: &host, device: None, constants: &[] }).unwrap()
}

/// An artifact of `chain_model.c` for a device: `chain(x: f32[n]) -> (y: f32[n], z: f32[n])`, with a constant if any.
pub fn chain(device: Device, host: &[u8], kernels: &[u8], constant: Option<&[f32]>) -> Vec<u8> {
    let n = || [Dim::Symbol("n".into())];
    let description = device.chip.clone().unwrap_or_default();
    let base = manifest();
    let shape = |c: &[f32]| Constant { name: "c".into(), element_type: ElementType::F32, dims: vec![c.len() as i64] };
    let manifest = Manifest {
        target: Target { description, ..base.target },
        device: Some(device),
        model: "chain".into(),
        symbols: vec![symbol("n", 1 << 24)],
        inputs: vec![value("x", &n())],
        outputs: vec![value("y", &n()), value("z", &n())],
        constants: constant.into_iter().map(shape).collect(),
        checks: vec![],
        data_checks: vec![],
        kernels: vec![Kernel {
            symbol: "affine".into(),
            name: "affine".into(),
            guard: None,
            ops: vec![],
            bytes: None,
            flops: None,
            groups_of_block: Some(64),
        }],
        ..base
    };
    let constants: Vec<&[u8]> = constant.into_iter().map(bytemuck::cast_slice).collect();
    to_bytes(&Contents { manifest: &manifest, host, device: Some(kernels), constants: &constants }).unwrap()
}

/// The bytes of an artifact with this manifest and code.
pub fn pack(manifest: &Manifest, host: &[u8]) -> Vec<u8> {
    to_bytes(&Contents { manifest, host, device: None, constants: &[&SCALE.to_ne_bytes()] }).unwrap()
}

/// Loads the model, with these macros in its code.
pub fn load(macros: &[&str], options: Options) -> Result<Model> {
    let bytes = pack(&manifest(), &host(macros));
    Model::from_artifact(Artifact::from_bytes("test.sutura", &bytes)?, options)
}

/// Inputs of a shape, different everywhere.
pub fn inputs(rows: i64, cols: i64) -> [Tensor; 2] {
    let wave = |n: i64, step: f32| (0..n).map(|i| (i as f32 * step).sin()).collect::<Vec<f32>>();
    [
        Tensor::from_slice(&[rows, cols], &wave(rows * cols, 0.37)).unwrap(),
        Tensor::from_slice(&[cols], &wave(cols, 0.11)).unwrap(),
    ]
}

/// What the model should compute, in the same order of operations.
pub fn expected(inputs: &[Tensor; 2]) -> [Tensor; 2] {
    let dims = inputs[0].dims();
    let (rows, cols) = (dims[0] as usize, dims[1] as usize);
    let x: &[f32] = inputs[0].as_slice().unwrap();
    let bias: &[f32] = inputs[1].as_slice().unwrap();
    let sums: Vec<f32> = (0..rows).map(|row| x[row * cols..][..cols].iter().fold(0.0, |sum, v| sum + v)).collect();
    let y: Vec<f32> = (0..rows * cols).map(|at| x[at] * SCALE + bias[at % cols] - sums[at / cols]).collect();
    [Tensor::from_slice(dims, &y).unwrap(), Tensor::from_slice(&dims[..1], &sums).unwrap()]
}
