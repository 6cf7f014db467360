//! What the coverage-guided fuzzer runs: functions on any bytes, which also run on the stored corpus in ordinary tests.
//!
//! A harness must not panic, whatever it gets, nor break the law that it states. The programs of `fuzz/afl` give them inputs;
//! `cargo xtask fuzz --coverage` runs them.

mod onnx;
mod parser;

pub use sutura_fuzz_files::{Planted, Verdict};
use sutura_fuzz_files::{artifact, filecheck, manifest, npy};

/// Something that takes any bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Harness {
    /// Text of the IR: read, verified, printed, read back, formatted.
    Parser,
    /// An ONNX model, imported and compiled up to upstream operations for MLIR.
    Onnx,
    /// An artifact: its directory, index, manifests and weights. Its code is never run.
    Artifact,
    /// A manifest.
    Manifest,
    /// A file of NumPy.
    Npy,
    /// A check file and its input.
    FileCheck,
}

impl Harness {
    /// All, the cheap ones last.
    pub const ALL: [Self; 6] = [Self::Parser, Self::Onnx, Self::Artifact, Self::Manifest, Self::Npy, Self::FileCheck];

    /// Name on the command line, of its folder in `fuzz/corpus`, and of the argument of a program of `fuzz/afl`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parser => "parser",
            Self::Onnx => "onnx",
            Self::Artifact => "artifact",
            Self::Manifest => "manifest",
            Self::Npy => "npy",
            Self::FileCheck => "filecheck",
        }
    }

    /// The harness of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|harness| harness.name() == name)
    }

    /// Runs an input. `planted` adds a fault of a usual kind to the harness, for a proof that the fuzzer finds such ones: none of the
    /// stored inputs reaches it.
    ///
    /// # Errors
    /// When a law is broken that is no panic.
    pub fn run(self, input: &[u8], planted: Planted) -> Verdict {
        match self {
            Self::Parser => parser::run(input, planted),
            Self::Onnx => onnx::run(input, planted),
            Self::Artifact => artifact::run(input, planted),
            Self::Manifest => manifest::run(input, planted),
            Self::Npy => npy::run(input, planted),
            Self::FileCheck => filecheck::run(input, planted),
        }
    }
}
