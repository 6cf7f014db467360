//! What can go wrong on the way from text to machine code.

use std::fmt;
use std::path::PathBuf;

use crate::diagnostic::Diagnostic;

/// A step of the path from text to machine code, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// MLIR reads the text and verifies it.
    Parse,
    /// MLIR's verifier runs on a parsed module.
    Verify,
    /// MLIR's passes run.
    Lower,
    /// The LLVM dialect becomes LLVM IR.
    Translate,
    /// LLVM IR of others is joined with a module.
    Join,
    /// LLVM's passes run.
    Optimize,
    /// LLVM writes assembly or an object.
    Emit,
    /// MLIR writes SPIR-V.
    Serialize,
    /// An object is linked and loaded in process.
    Jit,
}

impl fmt::Display for Stage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Stage::Parse => "parsing MLIR",
            Stage::Verify => "verifying MLIR",
            Stage::Lower => "lowering MLIR",
            Stage::Translate => "translating to LLVM IR",
            Stage::Join => "joining LLVM IR",
            Stage::Optimize => "optimising LLVM IR",
            Stage::Emit => "emitting machine code",
            Stage::Serialize => "writing SPIR-V",
            Stage::Jit => "loading machine code",
        })
    }
}

/// An error of this crate. Nothing was written when one is returned.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// MLIR or LLVM rejected the input; at least one diagnostic is an error.
    #[error("{stage} failed\n{}", listed(diagnostics))]
    Rejected { stage: Stage, diagnostics: Vec<Diagnostic> },
    /// The input is nested deeper than MLIR's recursive parser is trusted with.
    #[error("{name}:{line}: nested deeper than {limit} levels")]
    NestedTooDeep { name: String, line: usize, limit: usize },
    /// A pass pipeline's text is wrong.
    #[error("invalid MLIR pass pipeline `{pipeline}`: {message}")]
    Pipeline { pipeline: String, message: String },
    /// LLVM knows no target of this triple.
    #[error("unknown target triple `{triple}`: {message}")]
    Triple { triple: String, message: String },
    /// A triple of an architecture that code is not generated for.
    #[error("no code can be generated for `{triple}`: the architectures are {known}")]
    Architecture { triple: String, known: String },
    /// LLVM would ignore the processor with a warning.
    #[error("unknown processor `{cpu}` for `{triple}`{}", suggested(suggestion.as_deref()))]
    Cpu { triple: String, cpu: String, suggestion: Option<String> },
    /// LLVM would ignore the feature with a warning.
    #[error("unknown feature `{feature}` for `{triple}`{}", suggested(suggestion.as_deref()))]
    Feature { triple: String, feature: String, suggestion: Option<String> },
    /// A feature without `+` or `-` in front.
    #[error("feature `{feature}` must begin with `+` or `-`")]
    FeatureSign { feature: String },
    /// LLVM refused with a message of its own.
    #[error("{stage} failed: {message}")]
    Llvm { stage: Stage, message: String },
    /// LLVM met a condition after which it cannot go on; the module is lost.
    #[error("{stage} failed: LLVM cannot continue: {message}")]
    Fatal { stage: Stage, message: String },
    /// An earlier fatal error took the module with it.
    #[error("{stage} is not possible: the module was lost in an earlier fatal error")]
    Lost { stage: Stage },
    /// SPIR-V is made of one module.
    #[error("expected one `spirv.module`, found {count}; give each to a call of its own")]
    SpirvModules { count: usize },
    /// Device code is compiled a module at a time.
    #[error("expected one `gpu.module`, found {count}; give each to a call of its own")]
    DeviceModules { count: usize },
    /// A module of SPIR-V that does not say what it needs of a device.
    #[error("the `spirv.module` has no `vce_triple`: version, capabilities and extensions must be known")]
    SpirvVersion,
    /// A string that LLVM's C interface cannot take.
    #[error("{what} holds a NUL character")]
    Nul { what: &'static str },
    /// The bytes are not an object that can be linked.
    #[error("not a linkable object: {message}")]
    Object { message: String },
    /// Objects refer to symbols that nothing at run time provides.
    #[error("undefined symbols: {}; kernels may call only {}", symbols.join(", "), crate::symbols::PROVIDED.join(", "))]
    Undefined { symbols: Vec<String> },
    /// A symbol that was looked up is not in the loaded objects.
    #[error("no symbol `{name}` in the loaded objects")]
    NoSymbol { name: String },
    /// Nothing that can link was found.
    #[error("no linker found: looked for {}; run `cargo xtask setup` or install lld", tried.join(", "))]
    NoLinker { tried: Vec<String> },
    /// Only LLVM's linker knows the objects of a device.
    #[error("code objects are linked by `ld.lld` alone, and only {found} was found; install lld", found = found.display())]
    NoDeviceLinker { found: PathBuf },
    /// A cubin is wanted, and NVIDIA's assembler is not there.
    #[error(
        "no `ptxas` found: install the CUDA toolkit, or name it with {variable}; PTX needs none, drivers assemble it"
    )]
    NoAssembler { variable: &'static str },
    /// NVIDIA's assembler ran and failed.
    #[error("assembling PTX: {assembler} ended with {status}\n{message}")]
    Assembler { assembler: String, status: String, message: String },
    /// The linker ran and failed.
    #[error("linking {output} failed: {linker} ended with {status}\n{message}", output = output.display())]
    Linker { output: PathBuf, linker: String, status: String, message: String },
    /// The operating system refused.
    #[error("{what} {path}: {source}", path = path.display())]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    /// No thread could be started for a step.
    #[error("{stage} failed: cannot start a thread: {source}")]
    Thread { stage: Stage, source: std::io::Error },
}

impl Error {
    /// MLIR's or LLVM's diagnostics, where the error has some.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Error::Rejected { diagnostics, .. } => diagnostics,
            _ => &[],
        }
    }
}

fn listed(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn suggested(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
