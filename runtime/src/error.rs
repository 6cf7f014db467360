//! Everything that can go wrong, with the words for it.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use crate::device::DeviceError;
use crate::element::ElementType;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. [`Error::kind`] sorts the variants into the classes that tools turn into exit codes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// A verb: `read`, `write`.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The file is not a usable artifact.
    #[error("`{artifact}` {problem}")]
    Artifact {
        /// The file's path, or a name for bytes in memory.
        artifact: String,
        problem: ArtifactProblem,
    },
    /// What the caller wants to pack is inconsistent.
    #[error("cannot write the artifact: {reason}")]
    InvalidContents { reason: String },

    /// This machine lacks features that the code was compiled for.
    #[error("the model was compiled for {target}, but this machine has no {}", list(missing))]
    MissingCpuFeatures { target: String, missing: Vec<String> },
    /// The manifest names a feature that this runtime cannot look for, so running could crash.
    #[error(
        "the model was compiled for the CPU feature `{feature}`, which this runtime does not know; a newer runtime may"
    )]
    UnknownCpuFeature { feature: String },
    /// Compiled for another processor architecture or operating system.
    #[error("the model was compiled for `{triple}`, but this machine is {machine}")]
    WrongMachine { triple: String, machine: String },
    /// The dynamic linker refused `host.so`.
    #[error("cannot load the model's code: {reason}")]
    Load { reason: String },
    /// The system cannot load code that is in memory.
    #[error(
        "cannot load the model's code: /proc is not mounted, and the system needs it to load code from memory; mount it \
         (`mount -t proc proc /proc`; containers have it unless it is taken away)"
    )]
    NoProc,
    /// `host.so` lacks an export.
    #[error("the model's code has no symbol `{symbol}`")]
    MissingSymbol { symbol: String },
    /// `host.so` was generated for another version of the binary interface.
    #[error(
        "the model's code has interface version {found}, this runtime has version {supported}; compile the model again"
    )]
    AbiVersion { found: u32, supported: u32 },
    /// The model calls library routines that this runtime does not have and nobody registered.
    #[error("the model calls a routine that this runtime does not have: {}{}", list(names), other_versions(known))]
    MissingRoutine {
        names: Vec<String>,
        /// Those of this runtime that have the same name and another version.
        known: Vec<String>,
    },

    /// Too few or too many inputs.
    #[error("the model has {} ({}), but {found} {} given", count(expected.len(), "input"), list(expected), was(*found))]
    InputCount { expected: Vec<String>, found: usize },
    /// An input that the model needs was not named.
    #[error("input `{name}` is missing")]
    MissingInput { name: String },
    /// A name that is no input of the model.
    #[error("the model has no input `{name}`{}; its inputs are {}", did_you_mean(suggestion), list(known))]
    UnknownInput { name: String, suggestion: Option<String>, known: Vec<String> },
    /// A name that is no output of the model.
    #[error("the model has no output `{name}`{}; its outputs are {}", did_you_mean(suggestion), list(known))]
    UnknownOutput { name: String, suggestion: Option<String>, known: Vec<String> },
    /// The same input was given twice.
    #[error("input `{name}` is given twice")]
    DuplicateInput { name: String },
    /// Too few or too many output buffers.
    #[error("the model has {}, but {} {} given", count(*expected, "output"), count(*found, "buffer"), was(*found))]
    OutputCount { expected: usize, found: usize },
    /// `value` is `input` or `output` and its name.
    #[error("{value} has element type {found}, but the model needs {expected}")]
    WrongElementType { value: String, expected: ElementType, found: ElementType },
    #[error("{value} has rank {found}, but the model needs rank {}: [{signature}]", expected)]
    WrongRank {
        value: String,
        expected: usize,
        found: usize,
        /// The dims as the model declares them, such as `batch, seq, 256`.
        signature: String,
    },
    /// The inputs' dims do not fit the model.
    #[error("{0}")]
    Shape(ShapeProblem),
    /// An output buffer has not the shape that the inputs imply.
    #[error("output `{name}` needs dims {expected:?}, but its buffer has {found:?}")]
    OutputShape { name: String, expected: Vec<i64>, found: Vec<i64> },
    /// Data ask for a larger size than memory was planned for. It is planned for that from now on.
    #[error(
        "{what} is {wanted}, and the outputs are too small for it; infer the shapes again and allocate larger ones"
    )]
    Outgrown {
        /// The size.
        what: String,
        wanted: i64,
    },
    #[error(
        "the buffer of output `{name}` is not aligned to its elements: {element_type} needs {} bytes",
        element_type.word_bytes()
    )]
    MisalignedOutput { name: String, element_type: ElementType },
    #[error("the buffers of {left} and {right} overlap")]
    Overlap { left: String, right: String },
    /// Dims and bytes of a tensor do not agree.
    #[error("invalid tensor: {reason}")]
    InvalidTensor { reason: String },
    /// Two tensors that cannot be compared.
    #[error("cannot compare {left} with {right}")]
    Incomparable { left: String, right: String },
    #[error("`{}` is not a usable .npy file: {reason}", path.display())]
    Npy { path: PathBuf, reason: String },
    /// A setting, such as an environment variable, makes no sense.
    #[error("{setting} is `{value}`, but must be {expected}")]
    Setting { setting: &'static str, value: String, expected: &'static str },

    #[error("out of memory: {bytes} bytes for {what}")]
    OutOfMemory { bytes: usize, what: String },
    #[error("cannot start a worker thread: {0}")]
    Thread(io::Error),

    /// An element of a tensor of indices names nothing.
    #[error("{}", wrong_index(what, *position, *index, *size))]
    WrongIndex {
        /// The op that has the indices.
        what: String,
        /// Which element of the indices, counted row by row.
        position: i64,
        index: i64,
        /// Size of the dimension that is indexed.
        size: i64,
    },
    /// A list of sizes that data tells asks for another one than a result has.
    #[error(
        "{what}: element {position} of its shape asks for {given}, and dimension {position} of the result is {wanted}"
    )]
    WrongSize {
        /// The op that is asked.
        what: String,
        /// Which element of the list, and which dimension.
        position: i64,
        given: i64,
        wanted: i64,
    },
    /// A size is another one than the program goes on with.
    #[error("{what}: dimension {dim} is {given}, and must be {wanted}")]
    UnequalSize {
        /// What has the size.
        what: String,
        dim: i64,
        given: i64,
        wanted: i64,
    },
    /// Integers are divided by zero.
    #[error("{}", division_by_zero(what, *position))]
    DivisionByZero {
        /// The op that divides.
        what: String,
        /// Which element of the quotient, counted row by row, where that is known.
        position: Option<i64>,
    },

    /// A recursion of the model goes deeper than runs may.
    #[error("{}", too_deep(function, *depth, *stack))]
    TooDeep {
        function: String,
        /// Calls in each other, the one counted that could not begin.
        depth: usize,
        /// No stack is left for it.
        stack: bool,
    },

    /// A device that the model was not compiled for.
    #[error("the model was compiled for {wanted}, and `{device}` {is}")]
    WrongDevice { wanted: String, device: String, is: String },
    /// No machine is there that an artifact has a variant for.
    #[error("no variant of the model runs here: {}", reasons.join("; "))]
    NoVariant {
        /// For each variant, what it needs and why that is not so.
        reasons: Vec<String>,
    },
    /// Something that models on devices cannot do yet.
    #[error("models on devices cannot {what} yet")]
    NotOnDevices { what: &'static str },
    /// A device, or something on one.
    #[error(transparent)]
    Device(#[from] DeviceError),

    /// What [`Options::interrupt`](crate::Options::interrupt) was given ended the run.
    #[error("the run was interrupted")]
    Interrupted,
    /// `sutura_run` gave an error code of its own.
    #[error("the model's code failed with code {code}")]
    RunFailed { code: i32 },
    /// The generated code contradicts its manifest.
    #[error("the model's code breaks its contract: {0}; this is a bug of the compiler that made it")]
    Contract(String),
}

/// Why a file is not a usable artifact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactProblem {
    #[error("is empty")]
    Empty,
    #[error("is not a Sutura artifact: {0}")]
    NotAnArtifact(String),
    #[error("is truncated: it begins like an artifact, but the directory at its end is missing")]
    Truncated,
    #[error("is damaged: {0}")]
    Directory(String),
    #[error("is damaged: the entry `{0}` is missing")]
    MissingEntry(String),
    #[error("holds the entry `{0}`, which this runtime does not know; a newer runtime may")]
    UnknownEntry(String),
    #[error("is damaged: the checksum of `{entry}` does not match in bytes {} to {}", bytes.start, bytes.end.saturating_sub(1))]
    Checksum {
        entry: String,
        /// The bytes of the entry that are not those that were written.
        bytes: Range<u64>,
    },
    #[error("was changed while it was in use: {0}; replace a file, such as with `mv`, instead of writing into it")]
    Changed(String),
    #[error("has an invalid index: {0}")]
    Index(String),
    #[error("has an invalid manifest: {0}")]
    Manifest(String),
    #[error("has invalid weights: {0}")]
    Weights(String),
    #[error("has artifact format {found}, but this runtime reads format {supported}; {}", older_or_newer(*found, *supported))]
    Format { found: u64, supported: u32 },
    #[error("has interface version {found}, but this runtime has version {supported}; compile the model again")]
    Abi { found: u64, supported: u32 },
}

/// Why the dims of the inputs do not fit the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeProblem {
    /// One named dim has two values.
    Inconsistent { dim: Option<String>, left: String, left_value: i64, right: String, right_value: i64 },
    /// A dim is outside the range that the model was compiled for.
    OutOfRange { dim: Option<String>, left: String, value: i64, range: String, bound: i64 },
    /// A dim is not a multiple of what the model was compiled for.
    NotDivisible { dim: Option<String>, left: String, value: i64, divisor: i64 },
    /// Any other relation between two dims that does not hold.
    Constraint { left: String, left_value: i64, right: String, right_value: i64 },
}

/// What a check says in place of the two values when what it computes leaves 63 bits.
const BEYOND: (i64, i64) = (i64::MAX, i64::MAX - 1);

impl fmt::Display for ShapeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inconsistent { left, left_value, right, right_value, .. }
            | Self::Constraint { left, left_value, right, right_value }
                if (*left_value, *right_value) == BEYOND =>
            {
                write!(f, "a dimension is too large: {left} or {right} does not fit 63 bits")
            }
            Self::OutOfRange { left, value, bound, .. } if (*value, *bound) == BEYOND => {
                write!(f, "a dimension is too large: {left} does not fit 63 bits")
            }
            Self::Inconsistent { dim, left, left_value, right, right_value } => {
                match dim {
                    Some(dim) => write!(f, "dimension `{dim}` is inconsistent: ")?,
                    None => f.write_str("inconsistent dimensions: ")?,
                }
                if *right == right_value.to_string() {
                    write!(f, "{left} is {left_value}, but must be {right}")
                } else {
                    write!(f, "{left} is {left_value}, but {right} is {right_value}")
                }
            }
            Self::OutOfRange { dim: None, left, value: value @ ..0, bound: 0, .. } => {
                write!(f, "a size is negative: {left} is {value}")
            }
            Self::OutOfRange { dim, left, value, range, bound } => {
                let subject = subject(dim);
                let side = if value > bound { "above" } else { "below" };
                write!(
                    f,
                    "{subject} is out of range: {left} is {value}, {side} {bound}; the model was compiled for {range}"
                )
            }
            Self::NotDivisible { dim, left, value, divisor } => {
                write!(f, "{} must be a multiple of {divisor}, but {left} is {value}", subject(dim))
            }
            Self::Constraint { left, left_value, right, right_value } => {
                write!(f, "incompatible dimensions: {left} is {left_value}, {right} is {right_value}")
            }
        }
    }
}

fn subject(dim: &Option<String>) -> String {
    dim.as_ref().map_or_else(|| "a dimension".to_owned(), |dim| format!("dimension `{dim}`"))
}

/// Classes of errors, for exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The data given to the model, or a data file, is wrong.
    Input,
    /// The call itself is wrong: a setting, a name, the number of arguments.
    Usage,
    /// This machine or this version cannot run the model.
    Unsupported,
    /// The artifact is damaged or no artifact.
    Corrupt,
    /// The system refused: a file, memory, a thread.
    System,
    /// A bug in the compiler or the runtime.
    Internal,
    /// Someone wanted it to end.
    Interrupted,
}

impl ErrorKind {
    /// The exit code of command line tools, and the status of the C interface, for this class.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Input => 1,
            Self::Usage => 2,
            Self::Unsupported => 3,
            Self::Corrupt => 4,
            Self::System => 5,
            Self::Internal => 70,
            Self::Interrupted => 130,
        }
    }
}

impl Error {
    /// The class of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { .. } | Self::OutOfMemory { .. } | Self::Thread(_) | Self::NoProc => ErrorKind::System,
            Self::Artifact { problem, .. } => problem.kind(),
            Self::MissingCpuFeatures { .. }
            | Self::UnknownCpuFeature { .. }
            | Self::WrongMachine { .. }
            | Self::AbiVersion { .. }
            | Self::WrongDevice { .. }
            | Self::NoVariant { .. }
            | Self::NotOnDevices { .. }
            | Self::MissingRoutine { .. } => ErrorKind::Unsupported,
            Self::Load { .. } | Self::MissingSymbol { .. } => ErrorKind::Corrupt,
            Self::WrongElementType { .. }
            | Self::WrongRank { .. }
            | Self::Shape(_)
            | Self::WrongIndex { .. }
            | Self::WrongSize { .. }
            | Self::UnequalSize { .. }
            | Self::TooDeep { .. }
            | Self::DivisionByZero { .. }
            | Self::InvalidTensor { .. }
            | Self::Incomparable { .. }
            | Self::Npy { .. } => ErrorKind::Input,
            Self::InputCount { .. }
            | Self::MissingInput { .. }
            | Self::UnknownInput { .. }
            | Self::UnknownOutput { .. }
            | Self::DuplicateInput { .. }
            | Self::OutputCount { .. }
            | Self::OutputShape { .. }
            | Self::Outgrown { .. }
            | Self::MisalignedOutput { .. }
            | Self::Overlap { .. }
            | Self::Setting { .. } => ErrorKind::Usage,
            Self::Device(error) => error.kind(),
            Self::Interrupted => ErrorKind::Interrupted,
            Self::InvalidContents { .. } | Self::RunFailed { .. } | Self::Contract(_) => ErrorKind::Internal,
        }
    }

    /// The exit code that a command line tool ends with.
    pub fn exit_code(&self) -> u8 {
        self.kind().exit_code()
    }
}

impl ArtifactProblem {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Format { .. } | Self::Abi { .. } | Self::UnknownEntry(_) => ErrorKind::Unsupported,
            _ => ErrorKind::Corrupt,
        }
    }
}

pub(crate) fn list(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn older_or_newer(found: u64, supported: u32) -> &'static str {
    if found < u64::from(supported) { "compile the model again" } else { "a newer runtime may read it" }
}

fn other_versions(known: &[String]) -> String {
    match known {
        [] => "; a newer runtime may, or the application can register it".to_owned(),
        known => {
            format!("; it has {}: compile the model for this version, or run it with a newer runtime", list(known))
        }
    }
}

fn was(n: usize) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

pub(crate) fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |s| format!(" (did you mean `{s}`?)"))
}

/// As the compiler's interpreter says it.
fn wrong_index(what: &str, position: i64, index: i64, size: i64) -> String {
    let place = format!("{what}: element {position} of its indices is {index}");
    match size {
        ..=0 => format!("{place}, and the dimension that it indexes is empty"),
        _ => format!("{place}, which is not in [-{size}, {}]", size - 1),
    }
}

/// As the compiler's interpreter says it.
fn too_deep(function: &str, depth: usize, stack: bool) -> String {
    if stack {
        return format!(
            "function `{function}`: no stack is left for a call that is {depth} deep; does the data end the recursion?"
        );
    }
    let most = depth - 1;
    format!(
        "function `{function}`: more than {most} calls are in each other; does the data end the recursion? SUTURA_MAX_DEPTH allows more"
    )
}

fn division_by_zero(what: &str, position: Option<i64>) -> String {
    let place = position.map_or_else(String::new, |at| format!(" at element {at}"));
    format!("{what}: divides by zero{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_63_bits_has_no_value() {
        let (left, right) = ("`4*N`".to_owned(), "`M`".to_owned());
        let (left_value, right_value) = BEYOND;
        let sizes = ShapeProblem::Constraint { left: left.clone(), left_value, right: right.clone(), right_value };
        assert_eq!(sizes.to_string(), "a dimension is too large: `4*N` or `M` does not fit 63 bits");
        let (value, bound) = BEYOND;
        let range = "sizes of at most 63 bits".to_owned();
        let bytes = ShapeProblem::OutOfRange { dim: None, left: left.clone(), value, range, bound };
        assert_eq!(bytes.to_string(), "a dimension is too large: `4*N` does not fit 63 bits");
        let differ = ShapeProblem::Constraint { left, left_value: 4, right, right_value: 5 };
        assert_eq!(differ.to_string(), "incompatible dimensions: `4*N` is 4, `M` is 5");
        let (left, range) = ("the size of `y`".to_owned(), "sizes that are not negative".to_owned());
        let negative = ShapeProblem::OutOfRange { dim: None, left, value: -3, range, bound: 0 };
        assert_eq!(negative.to_string(), "a size is negative: the size of `y` is -3");
    }
}
