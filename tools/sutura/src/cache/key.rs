//! The names of entries: hashes of everything that decides what is in them.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

use sutura_codegen as codegen;

/// The name of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(blake3::Hash);

impl Key {
    pub(super) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Makes a key of fields. Each goes in with its length, so that no two lists of fields are alike.
pub(crate) struct KeyMaker(blake3::Hasher);

impl KeyMaker {
    /// Begins with what this program is: what another build makes is never taken for its own.
    pub(crate) fn new(of: &str) -> Self {
        let mut maker = Self(blake3::Hasher::new());
        maker.field(of);
        maker.field(build());
        maker
    }

    pub(crate) fn field(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let bytes = bytes.as_ref();
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// What code is generated for.
    pub(crate) fn target(&mut self, target: &codegen::Target) -> &mut Self {
        let codegen::Target { triple, cpu, features } = target;
        self.field(triple).field(cpu).field(features)
    }

    pub(crate) fn key(&self) -> Key {
        Key(self.0.finalize())
    }
}

/// Version and build of this program, and of LLVM.
fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| format!("{} {}", env!("CARGO_PKG_VERSION"), codegen::identity()))
}

/// A program that is run, by what changes when another takes its place.
pub(super) fn of_program(path: &Path) -> String {
    let meta = std::fs::metadata(path);
    let meta = meta.map_or(String::new(), |m| format!("{} {} {}", m.len(), m.mtime(), m.mtime_nsec()));
    format!("{} {meta}", path.display())
}
