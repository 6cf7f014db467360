//! What ends a command, and with which exit code.

use std::fmt;
use std::path::Path;

use sutura_input::InputError;
use sutura_ir::diagnostics::codes;

/// Classes of failures; the exit codes are those of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
}

impl Kind {
    pub(crate) fn exit_code(self) -> u8 {
        use sutura_runtime::ErrorKind as Runtime;
        let kind = match self {
            Self::Input => Runtime::Input,
            Self::Usage => Runtime::Usage,
            Self::Unsupported => Runtime::Unsupported,
            Self::Corrupt => Runtime::Corrupt,
            Self::System => Runtime::System,
            Self::Internal => Runtime::Internal,
        };
        kind.exit_code()
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Usage => "usage",
            Self::Unsupported => "unsupported",
            Self::Corrupt => "corrupt",
            Self::System => "system",
            Self::Internal => "internal",
        }
    }
}

/// Why a command did not do its work.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// The stable code whose page `sutura explain` shows.
    pub(crate) code: Option<&'static str>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), hint: None, code: None }
    }

    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self::new(Kind::Input, message)
    }

    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, message)
    }

    pub(crate) fn internal(message: impl fmt::Display) -> Self {
        Self::new(Kind::Internal, message)
    }

    /// A file that could not be read or written.
    pub(crate) fn io(action: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new(Kind::System, format!("cannot {action} `{}`: {error}", path.display()))
    }

    /// An input that is not read.
    pub(crate) fn reading(path: &Path, error: &InputError) -> Self {
        let kind = if error.is_system() { Kind::System } else { Kind::Input };
        let failure = Self::new(kind, format!("cannot read `{}`: {error}", path.display()));
        Self { hint: error.hint().map(str::to_owned), code: Some(error.code()), ..failure }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
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

impl From<sutura_codegen::Error> for Failure {
    fn from(error: sutura_codegen::Error) -> Self {
        use sutura_codegen::Error as Codegen;
        if let Codegen::Undefined { symbols } = &error
            && symbols.iter().all(|s| matches!(s.as_str(), "fma" | "fmaf"))
        {
            let message = "kernels need fused multiplication and addition, which the target has no instruction for";
            return Self::new(Kind::Unsupported, message).hint("choose a target with the feature `fma`");
        }
        if let Codegen::Undefined { symbols } = &error
            && symbols.iter().all(|s| matches!(s.as_str(), "fmod" | "fmodf"))
        {
            let message =
                "the remainder of floats (`graph`'s `arith.remf`, ONNX's Mod with fmod = 1) has no machine code yet";
            return Self::new(Kind::Unsupported, message).hint("the remainder of integers has");
        }
        let kind = match &error {
            Codegen::NoLinker { .. } | Codegen::Io { .. } | Codegen::Thread { .. } => Kind::System,
            Codegen::Cpu { .. }
            | Codegen::Feature { .. }
            | Codegen::FeatureSign { .. }
            | Codegen::Triple { .. }
            | Codegen::Architecture { .. } => Kind::Unsupported,
            // The text that MLIR gets is of our making, or was checked before.
            Codegen::Rejected { .. } | Codegen::NestedTooDeep { .. } | Codegen::Undefined { .. } => Kind::Input,
            _ => Kind::Internal,
        };
        Self::new(kind, error)
    }
}

impl From<sutura_import::onnx::OnnxError> for Failure {
    fn from(error: sutura_import::onnx::OnnxError) -> Self {
        use sutura_import::onnx::OnnxError as Onnx;
        match error {
            Onnx::Read { path, source } => Self::reading(&path, &source),
            error @ Onnx::Invalid(_) => Self { code: Some(codes::INVALID_MODEL), ..Self::new(Kind::Input, error) },
            error => Self::new(Kind::Input, error),
        }
    }
}

impl From<sutura_import::onnx::UnsupportedOps> for Failure {
    fn from(error: sutura_import::onnx::UnsupportedOps) -> Self {
        match error.is_invalid() {
            true => Self { code: Some(codes::INVALID_MODEL), ..Self::new(Kind::Input, error) },
            false => Self::new(Kind::Unsupported, error),
        }
    }
}
