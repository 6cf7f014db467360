//! What ends a command, and with which exit code: `docs/exit-codes.md`.

use std::fmt;
use std::path::Path;

use sutura_input::InputError;
use sutura_ir::diagnostics::Exit;

/// Classes of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The model or the data is wrong.
    Input,
    /// The call is wrong.
    Usage,
    /// Fine, but beyond what this version can do.
    Unsupported,
    /// A damaged artifact.
    Corrupt,
    /// The system refused.
    System,
    /// An error of sutura itself.
    Internal,
    /// A pass left IR that does not verify.
    Verification,
    /// MLIR does not take a program: whose error that is depends on who wrote it.
    Rejected,
    /// A result is not what was expected.
    Mismatch,
}

impl Kind {
    pub fn exit(self) -> Exit {
        match self {
            Self::Input => Exit::Input,
            Self::Usage => Exit::Usage,
            Self::Unsupported => Exit::Unsupported,
            Self::Corrupt => Exit::Corrupt,
            Self::System => Exit::System,
            Self::Internal => Exit::Internal,
            Self::Verification => Exit::Verification,
            Self::Rejected => Exit::Input,
            Self::Mismatch => Exit::Mismatch,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Usage => "usage",
            Self::Unsupported => "unsupported",
            Self::Corrupt => "corrupt",
            Self::System => "system",
            Self::Internal => "internal",
            Self::Verification => "verification",
            Self::Rejected => "input",
            Self::Mismatch => "mismatch",
        }
    }
}

/// Why a command did not do its work.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The stable code whose page `sutura explain` shows.
    pub code: Option<&'static str>,
}

impl Failure {
    pub fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), hint: None, code: None }
    }

    pub fn input(message: impl fmt::Display) -> Self {
        Self::new(Kind::Input, message)
    }

    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, message)
    }

    pub fn internal(message: impl fmt::Display) -> Self {
        Self::new(Kind::Internal, message)
    }

    /// A file that could not be read or written.
    pub fn io(action: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new(Kind::System, format!("cannot {action} `{}`: {error}", path.display()))
    }

    /// An input that is not read.
    pub fn reading(path: &Path, error: &InputError) -> Self {
        let kind = if error.is_system() { Kind::System } else { Kind::Input };
        let failure = Self::new(kind, format!("cannot read `{}`: {error}", path.display()));
        Self { hint: error.hint().map(str::to_owned), code: Some(error.code()), ..failure }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }
}

impl From<sutura_runtime::Error> for Failure {
    fn from(error: sutura_runtime::Error) -> Self {
        use sutura_runtime::ErrorKind as Runtime;
        let kind = match error.kind() {
            Runtime::Input => Kind::Input,
            Runtime::Usage => Kind::Usage,
            Runtime::Unsupported => Kind::Unsupported,
            Runtime::Corrupt => Kind::Corrupt,
            Runtime::System => Kind::System,
            _ => Kind::Internal,
        };
        Self::new(kind, error)
    }
}

impl From<sutura_tensors::Error> for Failure {
    fn from(error: sutura_tensors::Error) -> Self {
        use sutura_tensors::Error as Tensors;
        match error {
            Tensors::Read { path, source } => Self::reading(&path, &source),
            Tensors::Write { path, source } => Self::io("write", &path, &source),
            Tensors::Runtime(error) => error.into(),
            Tensors::Several { ref path, .. } => {
                let hint = format!("write `@{}:TENSOR`", path.display());
                Self::usage(&error).hint(hint)
            }
            error @ (Tensors::NoTensor { .. } | Tensors::Unwritable { .. }) => Self::usage(error),
            error @ Tensors::Format { .. } => Self::input(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_has_the_same_numbers() {
        use sutura_runtime::ErrorKind as Runtime;
        for (kind, runtime) in [
            (Kind::Input, Runtime::Input),
            (Kind::Usage, Runtime::Usage),
            (Kind::Unsupported, Runtime::Unsupported),
            (Kind::Corrupt, Runtime::Corrupt),
            (Kind::System, Runtime::System),
            (Kind::Internal, Runtime::Internal),
        ] {
            assert_eq!(kind.exit().code(), runtime.exit_code(), "{}", kind.name());
        }
    }
}
