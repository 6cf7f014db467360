//! What can go wrong with devices, with the words for it.

use super::fibers::FaultKind;
use crate::error::{ErrorKind, count, did_you_mean, list};

/// Why a device, or something on it, cannot be used. Each names the device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No device answers to a name.
    #[error("there is no device `{name}`; {}", what_there_is(known, absent))]
    Unknown {
        name: String,
        /// The devices that there are.
        known: Vec<String>,
        /// Why there are none of a backend.
        absent: Vec<String>,
    },
    /// Devices of different names answer to a part of a name.
    #[error("`{name}` names more than one device: {}; write more of the name", list(matches))]
    Ambiguous { name: String, matches: Vec<String> },
    /// The device lacks what every model needs.
    #[error("device `{device}` cannot run models: {reason}")]
    Unusable { device: String, reason: String },

    #[error(
        "device `{device}` has no memory left for {bytes} bytes: {allocated} of its {total} bytes are allocated by this \
         process; run smaller shapes, or free models and buffers"
    )]
    OutOfMemory { device: String, bytes: u64, allocated: u64, total: u64 },
    #[error("device `{device}` cannot allocate {bytes} bytes at once, its limit is {limit}; split the buffer")]
    TooLarge { device: String, bytes: u64, limit: u64 },

    /// What was given as code for the device is no such code.
    #[error("device `{device}` cannot load the binary: {reason}")]
    Binary { device: String, reason: String },
    /// The code needs what the device has not.
    #[error(
        "device `{device}` lacks {}, which {} needs; compile the model for this device, or choose another",
        list(features),
        kernels(kernels_of)
    )]
    MissingFeature { device: String, kernels_of: Vec<String>, features: Vec<String> },
    #[error(
        "the binary for device `{device}` has no kernel `{name}`{}; its kernels are {}",
        did_you_mean(suggestion),
        list(known)
    )]
    UnknownKernel { device: String, name: String, suggestion: Option<String>, known: Vec<String> },
    #[error(
        "kernel `{kernel}` has groups of {}, but device `{device}` allows {limit}; compile it for smaller groups",
        count_u64(*threads, "thread")
    )]
    GroupSize { device: String, kernel: String, threads: u64, limit: u32 },
    #[error(
        "kernel `{kernel}` needs {bytes} bytes of shared memory per group, but device `{device}` has {limit}; \
         compile it for smaller tiles"
    )]
    SharedMemory { device: String, kernel: String, bytes: u64, limit: u32 },
    #[error("kernel `{kernel}` cannot have subgroups of {wanted} on device `{device}`: {reason}")]
    SubgroupSize { device: String, kernel: String, wanted: u32, reason: String },

    #[error(
        "kernel `{kernel}` cannot be launched on device `{device}` with {groups} groups, the limit is {limit}; \
         launch fewer, and let each do more"
    )]
    Grid { device: String, kernel: String, groups: u64, limit: u32 },
    #[error(
        "kernel `{kernel}` cannot be launched on device `{device}` with {}, the limit is {limit}; put buffers into one \
         allocation and pass offsets",
        count(*arguments, "argument")
    )]
    Arguments { device: String, kernel: String, arguments: usize, limit: usize },
    /// The size of a kernel's groups is asked for and fixed, or neither.
    #[error("kernel `{kernel}` cannot have groups of {} on device `{device}`: {reason}", threads_or_none(*threads))]
    GroupThreads { device: String, kernel: String, threads: Option<u32>, reason: String },
    /// `state` says what the stream does, and what to do.
    #[error("a stream of device `{device}` cannot {action}: {state}")]
    Capture { device: String, action: &'static str, state: &'static str },
    #[error(
        "kernel `{kernel}` cannot be launched on device `{device}` with {bytes} bytes of dynamic shared memory: {reason}"
    )]
    DynamicShared { device: String, kernel: String, bytes: u32, reason: String },
    /// `action` is `upload to`, `download`, `copy` or `copy to`.
    #[error("cannot {action} bytes {offset}..{} of a buffer of {size} bytes on device `{device}`", end(*offset, *bytes))]
    OutOfBounds { device: String, action: &'static str, offset: u64, bytes: u64, size: u64 },
    #[error(
        "cannot copy {bytes} bytes from {from} to {to} within a buffer of {size} bytes on device `{device}`: they \
         overlap; copy to another buffer"
    )]
    Overlap { device: String, from: u64, to: u64, bytes: u64, size: u64 },
    /// `what` is a buffer or a kernel.
    #[error("{what} of device `{owner}` was given to a stream of device `{device}`; devices share nothing")]
    OtherDevice { device: String, what: String, owner: String },
    #[error("device `{device}` cannot measure time: its queue has no timestamps")]
    NoTimestamps { device: String },

    #[error(
        "kernel `{kernel}` cannot be launched on device `{device}` with {}: it takes {expected}; pass the addresses of its \
         buffers, then its sizes",
        count(*arguments, "argument")
    )]
    ArgumentCount { device: String, kernel: String, arguments: usize, expected: usize },
    /// A checked kernel did what no kernel may.
    #[error("kernel `{kernel}` was stopped on device `{device}`: {text}")]
    Fault { device: String, kernel: String, kind: FaultKind, text: String },

    #[error(
        "device `{device}` was lost during {during}: a kernel accessed memory that is not its own, or ran too long; \
         open the device again"
    )]
    Lost { device: String, during: String },
    /// A kernel went wrong in a way that ends all work of this process on the device. `call` is what told of it, which
    /// may be a later one.
    #[error(
        "device `{device}` does no more work for this process, told by {call}: {result}; {hint}; then start the process \
         again"
    )]
    Crashed { device: String, call: String, result: String, hint: String },
    /// A call of the driver failed in a way of its own.
    #[error("the driver of device `{device}` failed in {call}: {result}")]
    Driver { device: String, call: String, result: String },
}

impl DeviceError {
    /// The class of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown { .. }
            | Self::Ambiguous { .. }
            | Self::Grid { .. }
            | Self::Arguments { .. }
            | Self::ArgumentCount { .. }
            | Self::GroupThreads { .. }
            | Self::Capture { .. }
            | Self::OutOfBounds { .. }
            | Self::Overlap { .. }
            | Self::OtherDevice { .. } => ErrorKind::Usage,
            Self::Unusable { .. }
            | Self::TooLarge { .. }
            | Self::MissingFeature { .. }
            | Self::GroupSize { .. }
            | Self::SharedMemory { .. }
            | Self::SubgroupSize { .. }
            | Self::DynamicShared { .. }
            | Self::NoTimestamps { .. } => ErrorKind::Unsupported,
            // The kernel is the compiler's.
            Self::Fault { .. } => ErrorKind::Internal,
            Self::Binary { .. } | Self::UnknownKernel { .. } => ErrorKind::Corrupt,
            Self::OutOfMemory { .. } | Self::Lost { .. } | Self::Crashed { .. } | Self::Driver { .. } => {
                ErrorKind::System
            }
        }
    }
}

fn what_there_is(known: &[String], absent: &[String]) -> String {
    let there = if known.is_empty() { "there are none".to_owned() } else { format!("there are {}", list(known)) };
    absent.iter().fold(there, |text, reason| format!("{text}; {reason}"))
}

fn kernels(names: &[String]) -> String {
    match names {
        [] => "the binary".to_owned(),
        [name] => format!("kernel `{name}`"),
        names => format!("the binary of the kernels {}", list(names)),
    }
}

fn count_u64(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn threads_or_none(threads: Option<u32>) -> String {
    threads.map_or_else(|| "unknown size".to_owned(), |threads| count_u64(u64::from(threads), "thread"))
}

fn end(offset: u64, bytes: u64) -> u128 {
    u128::from(offset) + u128::from(bytes)
}
