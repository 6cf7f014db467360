//! The file format of compiled models.
//!
//! An artifact is an uncompressed zip archive (any zip tool lists it) whose entries begin at multiples of 64 bytes,
//! so that the file can be mapped and used in place:
//!
//! | entry | content |
//! |---|---|
//! | `index.json` | what entries there are, with hashes of what they hold; always first |
//! | `manifest.json` | the [`Manifest`](crate::Manifest) |
//! | `host.so` | the code, see [`abi`](crate::abi) |
//! | `device.bin` | the code for a device, where the manifest says that there is one: PTX, a code object, SPIR-V, or a library for fibers |
//! | `weights.safetensors` | the constants |
//!
//! An artifact for several machines has a folder with these for each of them, its variants; `index.json` lists
//! them. Variants with the same constants share one `weights.safetensors`. [`Model`](crate::Model) takes the first that fits.
//!
//! # What is checked
//!
//! The index has for each entry a BLAKE3 hash of every mebibyte, and the comment at the file's end has the hash of the index.
//! Everything else in the file, the zip format's own records, follows from the index and has to be what it implies. So a file
//! with any bit changed is refused, by [`Artifact::open`] and so by everything that takes artifacts. Small files are read,
//! of large ones the weights are mapped, and then a run ends with an error if the file was changed or cut since.
//! [`Artifact::open_trusted`] looks at no hash. `docs/rationale/artifact-hashes.md` has reasons and costs.
//!
//! **A hash finds damage, not malice.** An artifact holds native code, and whoever changes it can compute its hashes: load only
//! artifacts from those whose programs you would run.

mod archive;
mod hashes;
mod index;
mod read;
mod write;

pub use read::Artifact;
pub(crate) use read::Opening;
pub use write::{Contents, to_bytes, variants_to_bytes, write, write_if, write_through, write_variants};

/// Name of the entry that says what there is.
pub const INDEX: &str = "index.json";
/// Name of the entry with the manifest.
pub const MANIFEST: &str = "manifest.json";
/// Name of the entry with the code.
pub const HOST: &str = "host.so";
/// Name of the entry with the device's code.
pub const DEVICE: &str = "device.bin";
/// Name of the entry with the constants.
pub const WEIGHTS: &str = "weights.safetensors";

/// What stands before the hash of the index in the archive's comment, and how long the comment is.
const HASH_PREFIX: &str = "blake3:";
const COMMENT_BYTES: usize = HASH_PREFIX.len() + 64;

/// The archive's comment.
fn comment(index: &[u8]) -> String {
    format!("{HASH_PREFIX}{}", hashes::Digest::of(index))
}
