//! Harnesses of what reads files without a compiler. They are a crate of their own for speed: after each input the fuzzer looks at
//! every counter of the program that it runs, and the compiler has some hundred thousands of them.
#![forbid(unsafe_code)]

pub mod artifact;
pub mod filecheck;
pub mod manifest;
pub mod npy;

/// What a harness says of an input: nothing, or which law is broken.
pub type Verdict = Result<(), String>;

/// Whether a harness has the fault that was made for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Planted {
    /// What counts.
    #[default]
    No,
    /// To test the fuzzer.
    Yes,
}

/// Set, a program of the fuzzer has the fault that was made for its harness.
pub const PLANTED: &str = "SUTURA_FUZZ_PLANTED";

impl Planted {
    /// As the environment says.
    pub fn from_env() -> Self {
        if std::env::var_os(PLANTED).is_some() { Self::Yes } else { Self::No }
    }
}

/// The harness of a name, as far as it is one of these.
pub fn harness(name: &str) -> Option<fn(&[u8], Planted) -> Verdict> {
    Some(match name {
        "artifact" => artifact::run,
        "manifest" => manifest::run,
        "npy" => npy::run,
        "filecheck" => filecheck::run,
        _ => return None,
    })
}
