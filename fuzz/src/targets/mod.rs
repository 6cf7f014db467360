//! What is fuzzed.

pub(crate) mod ir;

use sutura_interp::random::Random;
use sutura_ir::Context;

use crate::corpus::Corpus;
use crate::harness::{Harness, Planted};
use crate::{generate, mutate, wire};

/// Something that takes any text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The parser, and rendering of what it reports.
    Parse,
    /// What is valid prints as what parses back to the same, in both forms.
    RoundTrip,
    /// The verifier on random modules.
    Verify,
    /// Random pipelines, verified after each pass.
    Pipeline,
    /// Check files and inputs of FileCheck.
    FileCheck,
    /// The project's tests in other words: they must be the same programs.
    Perturb,
    /// Models in ONNX with changes that know messages, through a compilation up to MLIR's text. Their bytes are written as hexadecimal digits.
    Onnx,
}

impl Target {
    /// All, in the order in which they are run.
    pub const ALL: [Self; 7] =
        [Self::Parse, Self::RoundTrip, Self::Verify, Self::Pipeline, Self::FileCheck, Self::Perturb, Self::Onnx];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::RoundTrip => "roundtrip",
            Self::Verify => "verify",
            Self::Pipeline => "pipeline",
            Self::FileCheck => "filecheck",
            Self::Perturb => "perturb",
            Self::Onnx => "onnx",
        }
    }

    /// Of so many inputs that others run it runs one: a compilation takes as long as many texts.
    pub fn share(self) -> u64 {
        if self == Self::Onnx { 4 } else { 1 }
    }

    /// The target of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Input `index` of a seed.
    pub fn input(self, corpus: &Corpus, seed: u64, index: u64) -> String {
        let mut random = Random::new(Random::new(seed ^ (index << 20)).next_u64() ^ index);
        let random = &mut random;
        match self {
            Self::Parse | Self::RoundTrip => mutate::mutated(corpus, &corpus.texts, random),
            Self::FileCheck => mutate::mutated(corpus, &corpus.checks, random),
            Self::Perturb => format!("{}{}\n{}", ir::PERTURB, random.next_u64(), mutate::pick(random, &corpus.texts)),
            Self::Onnx => hex(&wire::mutated(&corpus.models, random)),
            Self::Verify => generate::module(corpus, &sutura_dialects::all(), random),
            Self::Pipeline => {
                let pipeline = ir::random_pipeline(random);
                let valid = random.range(0, 2) > 0;
                let text = if valid {
                    mutate::pick(random, &corpus.texts).clone()
                } else {
                    mutate::mutated(corpus, &corpus.texts, random)
                };
                format!("{}{pipeline}\n{text}", ir::PIPELINE)
            }
        }
    }

    /// Runs the target.
    ///
    /// # Errors
    /// When a law is broken that is no panic.
    pub fn run(self, cx: &Context, text: &str) -> Result<(), String> {
        match self {
            Self::Parse => ir::parse(cx, text),
            Self::RoundTrip => ir::round_trip(cx, text),
            Self::Verify => ir::verify_and_print(cx, text),
            Self::Pipeline => ir::pipeline(cx, text),
            Self::FileCheck => sutura_fuzz_files::filecheck::check(text).map(drop),
            Self::Perturb => ir::perturb(cx, text),
            Self::Onnx => {
                let bytes =
                    of_hex(text.trim()).ok_or("the input has other characters than pairs of hexadecimal digits")?;
                Harness::Onnx.run(&bytes, Planted::No)
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}
