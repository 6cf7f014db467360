//! Writing artifacts.

use std::io::{self, BufWriter, Cursor, Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{DEVICE, HOST, MANIFEST, WEIGHTS};
use crate::abi::ALIGNMENT;
use crate::error::{Error, Result};
use crate::files;
use crate::manifest::{Manifest, byte_size};
use crate::weights::Layout;

/// What goes into an artifact.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    pub manifest: &'a Manifest,
    /// The bytes of `host.so`.
    pub host: &'a [u8],
    /// The code for the manifest's `device`, where it has one.
    pub device: Option<&'a [u8]>,
    /// The bytes of each constant, in the order of the manifest's `constants`.
    pub constants: &'a [&'a [u8]],
}

/// Writes an artifact; the file appears under its name only when complete. Same contents, same bytes.
pub fn write(path: impl AsRef<Path>, contents: &Contents<'_>) -> Result<()> {
    let layout = check(contents)?;
    files::replace(path.as_ref(), |file| {
        let mut buffered = BufWriter::with_capacity(1 << 20, file);
        pack(contents, &layout, &mut buffered)?;
        buffered.flush()
    })
}

/// The bytes of the file that [`write()`] writes.
pub fn to_bytes(contents: &Contents<'_>) -> Result<Vec<u8>> {
    let layout = check(contents)?;
    let mut bytes = Cursor::new(Vec::new());
    pack(contents, &layout, &mut bytes).map_err(|e| Error::InvalidContents { reason: e.to_string() })?;
    Ok(bytes.into_inner())
}

fn check(contents: &Contents<'_>) -> Result<Layout> {
    let invalid = |reason| Error::InvalidContents { reason };
    let constants = &contents.manifest.constants;
    contents.manifest.validate().map_err(invalid)?;
    if contents.manifest.device.is_some() != contents.device.is_some() {
        let (says, given) = if contents.device.is_some() { ("no device", "some") } else { ("a device", "none") };
        return Err(invalid(format!("the manifest has {says}, but {given} of its code is given")));
    }
    if constants.len() != contents.constants.len() {
        let reason = format!("{} constants in the manifest, {} given", constants.len(), contents.constants.len());
        return Err(invalid(reason));
    }
    for (constant, bytes) in constants.iter().zip(contents.constants) {
        let expected = byte_size(constant.element_type, &constant.dims).map_err(invalid)?;
        if expected != bytes.len() {
            let reason = format!("constant `{}` has {expected} bytes, but {} are given", constant.name, bytes.len());
            return Err(invalid(reason));
        }
    }
    Layout::new(constants).map_err(invalid)
}

fn pack(contents: &Contents<'_>, layout: &Layout, out: &mut (impl Write + Seek)) -> io::Result<()> {
    let mut zip = ZipWriter::new(out);
    let manifest = contents.manifest.to_json();
    zip.start_file(MANIFEST, options(manifest.len() as u64))?;
    zip.write_all(&manifest)?;
    zip.start_file(HOST, options(contents.host.len() as u64))?;
    zip.write_all(contents.host)?;
    if let Some(device) = contents.device {
        zip.start_file(DEVICE, options(device.len() as u64))?;
        zip.write_all(device)?;
    }
    zip.start_file(WEIGHTS, options(layout.file_bytes()))?;
    layout.write(contents.constants, &mut zip)?;
    zip.finish()?;
    Ok(())
}

/// Nothing here depends on the clock or the machine.
fn options(bytes: u64) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .with_alignment(ALIGNMENT as u16)
        .large_file(bytes >= u64::from(u32::MAX))
}
