//! Why something is not read.

use std::{fmt, io};

use crate::size::in_words;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Folder,
    /// With or without a name.
    Pipe,
    /// Such as `/dev/zero` or a terminal.
    CharDevice,
    /// A disk.
    BlockDevice,
    /// Of the file system.
    Socket,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Pipe => "a pipe",
            Self::CharDevice => "a device",
            Self::BlockDevice => "a disk",
            Self::Socket => "a socket",
        })
    }
}

/// Why an input is not read. The text does not name it: the caller knows what it asked for.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Something else than a regular file.
    #[error("it is {kind}, not a file")]
    NotAFile {
        /// What it is.
        kind: Kind,
    },
    /// Something that no text comes from.
    #[error("it is {kind}, not a text")]
    NotAText {
        /// What it is.
        kind: Kind,
    },
    /// A pipe with a name and nothing else.
    #[error("it is a named pipe that nothing writes to")]
    NoWriter,
    /// More bytes than the limit.
    #[error("{}", too_large(*limit, *size))]
    TooLarge {
        /// The limit.
        limit: u64,
        /// How many bytes there are, where that is known.
        size: Option<u64>,
    },
    /// A byte that no text has.
    #[error("byte {offset} (line {line}) is NUL, which no text has")]
    Nul {
        /// Where it is, from 0.
        offset: usize,
        /// Where it is, from 1.
        line: usize,
    },
    /// Bytes that are no text.
    #[error("it is not UTF-8 text: byte {offset}, line {line}")]
    NotUtf8 {
        /// Where it ends to be text, from 0.
        offset: usize,
        /// Where that is, from 1.
        line: usize,
    },
    /// The memory does not suffice.
    #[error("{size} bytes do not fit in memory")]
    NoMemory {
        /// How many bytes were asked for.
        size: u64,
    },
}

fn too_large(limit: u64, size: Option<u64>) -> String {
    match size {
        Some(size) => format!("it has {size} bytes, more than the limit of {}", in_words(limit)),
        None => format!("it has more bytes than the limit of {}", in_words(limit)),
    }
}

impl InputError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge { .. } => Some("`--max-input SIZE` changes the limit"),
            Self::NotAFile { kind: Kind::Pipe | Kind::CharDevice } => {
                Some("write what comes out of it into a file, and give that")
            }
            _ => None,
        }
    }

    /// All that there is to say: what is wrong, what to do about it, and the code.
    pub fn told(&self) -> String {
        let hint = self.hint().map_or(String::new(), |hint| format!("; {hint}"));
        format!("{self}{hint} [{}]", self.code())
    }

    /// Whether the system refused; otherwise the input is wrong.
    pub fn is_system(&self) -> bool {
        matches!(self, Self::Io(_) | Self::NoMemory { .. })
    }

    /// The stable code of such errors, whose page `explain` shows.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "E0425",
            Self::Nul { .. } => "E0426",
            Self::NotAFile { .. } | Self::NotAText { .. } | Self::NoWriter => "E0427",
            Self::Io(_) | Self::NotUtf8 { .. } | Self::NoMemory { .. } => "E0407",
        }
    }
}
