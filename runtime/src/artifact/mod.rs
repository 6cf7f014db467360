//! The file format of compiled models.
//!
//! An artifact is an uncompressed zip archive (any zip tool lists it) whose entries begin at multiples of 64 bytes,
//! so that the file can be mapped and used in place:
//!
//! | entry | content |
//! |---|---|
//! | `manifest.json` | the [`Manifest`](crate::Manifest), always first |
//! | `host.so` | the code, see [`abi`](crate::abi) |
//! | `device.bin` | the code for a device, where the manifest says that there is one: PTX, a code object, SPIR-V, or a library for fibers |
//! | `weights.safetensors` | the constants |
//!
//! An artifact for several machines has a folder with these for each of them, its variants; `manifest.json` at the top lists
//! them. Variants with the same constants share one `weights.safetensors`. [`Model`](crate::Model) takes the first that fits.
//!
//! Reading checks the archive's directory, the checksums of `manifest.json` and of code, and that the weights agree
//! with the manifest. The weights' own checksum is not looked at, because that would read the whole file:
//! [`Artifact::verify`] does.
//!
//! An artifact holds native code. Checks catch damage, not malice: load only artifacts from those whose programs you
//! would run.

mod index;
mod read;
mod write;

pub use read::Artifact;
pub use write::{Contents, to_bytes, variants_to_bytes, write, write_variants};

/// Name of the entry with the manifest.
pub const MANIFEST: &str = "manifest.json";
/// Name of the entry with the code.
pub const HOST: &str = "host.so";
/// Name of the entry with the device's code.
pub const DEVICE: &str = "device.bin";
/// Name of the entry with the constants.
pub const WEIGHTS: &str = "weights.safetensors";
