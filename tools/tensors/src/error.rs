//! What can be wrong with a file of tensors.

use std::io;
use std::path::{Path, PathBuf};

use sutura_input::InputError;

/// Why tensors are not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is not read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: InputError,
    },
    /// The file breaks the rules of its format.
    #[error("`{}` is not a usable {format} file: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// How the format is called.
        format: &'static str,
        /// A sentence about it.
        reason: String,
    },
    /// The file has no tensor of a name.
    #[error("`{}` has no tensor `{name}`{}", path.display(), close(.suggestion, .has))]
    NoTensor {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// A name that is like it.
        suggestion: Option<String>,
        /// What it has.
        has: Vec<String>,
    },
    /// The file has several tensors where one is wanted.
    #[error("`{}` has several tensors: {}", path.display(), list(has))]
    Several {
        /// The file.
        path: PathBuf,
        /// What it has.
        has: Vec<String>,
    },
    /// A tensor that a format has no place for.
    #[error("`{}` cannot hold `{name}`: {reason}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// A sentence about the format.
        reason: String,
    },
    /// The file is not written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What the runtime says of a `.npy` file or of a tensor.
    #[error(transparent)]
    Runtime(#[from] sutura_runtime::Error),
}

/// What is done with tensors of files.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with a file whose name and format the caller knows.
#[derive(Debug)]
pub(crate) enum Problem {
    Io(io::Error),
    Format(String),
    /// What the file holds under a name has too many bytes.
    TooLarge {
        name: String,
        limit: u64,
        size: u64,
    },
    Runtime(sutura_runtime::Error),
}

impl Problem {
    pub(crate) fn of(self, path: &Path, format: &'static str) -> Error {
        let path = path.to_owned();
        match self {
            Self::Io(error) => Error::Read { path, source: error.into() },
            Self::Format(reason) => Error::Format { path, format, reason },
            Self::TooLarge { name, limit, size } => {
                let path = format!("{}:{}", path.display(), short(&name)).into();
                Error::Read { path, source: InputError::TooLarge { limit, size: Some(size) } }
            }
            Self::Runtime(error) => error.into(),
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Format("it is truncated".into()),
            _ => Self::Io(error),
        }
    }
}

impl From<String> for Problem {
    fn from(reason: String) -> Self {
        Self::Format(reason)
    }
}

impl From<&str> for Problem {
    fn from(reason: &str) -> Self {
        Self::Format(reason.to_owned())
    }
}

impl From<sutura_runtime::Error> for Problem {
    fn from(error: sutura_runtime::Error) -> Self {
        Self::Runtime(error)
    }
}

/// Names of a message at most: the rest is counted.
const SHOWN: usize = 16;

fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{}`", short(name))).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.join(", ") + &more
}

fn close(suggestion: &Option<String>, has: &[String]) -> String {
    match (suggestion, has) {
        (Some(suggestion), _) => format!(" (did you mean `{}`?)", short(suggestion)),
        (None, []) => ": it is empty".to_owned(),
        (None, has) => format!("; it has {}", list(has)),
    }
}

/// The beginning of a text from a file, for a message.
pub(crate) fn short(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}
