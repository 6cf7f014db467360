//! Writing artifacts.

use std::io::{self, BufWriter, Cursor, Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::index::{Index, Variant};
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
    replace(path.as_ref(), &Plan::single(contents)?)
}

/// The bytes of the file that [`write()`] writes.
pub fn to_bytes(contents: &Contents<'_>) -> Result<Vec<u8>> {
    in_memory(&Plan::single(contents)?)
}

/// Writes an artifact for several machines, each with its name. Weights that several have are written once.
pub fn write_variants(path: impl AsRef<Path>, variants: &[(&str, Contents<'_>)]) -> Result<()> {
    replace(path.as_ref(), &Plan::several(variants)?)
}

/// The bytes of the file that [`write_variants()`] writes.
pub fn variants_to_bytes(variants: &[(&str, Contents<'_>)]) -> Result<Vec<u8>> {
    in_memory(&Plan::several(variants)?)
}

/// What is written.
struct Plan<'a> {
    /// Of several variants.
    index: Option<Index>,
    parts: Vec<Part<'a>>,
}

/// A variant as it is written.
struct Part<'a> {
    folder: String,
    contents: Contents<'a>,
    /// Unless an earlier variant has the same weights.
    weights: Option<Layout>,
}

impl<'a> Plan<'a> {
    fn single(contents: &Contents<'a>) -> Result<Self> {
        let part = Part { folder: String::new(), contents: *contents, weights: Some(check(contents)?) };
        Ok(Self { index: None, parts: vec![part] })
    }

    fn several(variants: &[(&str, Contents<'a>)]) -> Result<Self> {
        let (mut listed, mut parts): (Vec<Variant>, Vec<Part<'a>>) = (Vec::new(), Vec::new());
        for (name, contents) in variants {
            let layout = check(contents)?;
            let has_same = |part: &Part<'_>| part.weights.is_some() && same_weights(&part.contents, contents);
            let same = parts.iter().position(has_same);
            let weights = same.map_or(*name, |same| variants[same].0).to_owned();
            listed.push(Variant { name: (*name).to_owned(), weights });
            let weights = same.is_none().then_some(layout);
            parts.push(Part { folder: format!("{name}/"), contents: *contents, weights });
        }
        let index = Index::new(listed);
        index.validate().map_err(|reason| Error::InvalidContents { reason })?;
        Ok(Self { index: Some(index), parts })
    }

    fn write(&self, out: &mut (impl Write + Seek)) -> io::Result<()> {
        let mut zip = ZipWriter::new(out);
        if let Some(index) = &self.index {
            entry(&mut zip, MANIFEST.to_owned(), &index.to_json())?;
        }
        for Part { folder, contents, weights } in &self.parts {
            entry(&mut zip, format!("{folder}{MANIFEST}"), &contents.manifest.to_json())?;
            entry(&mut zip, format!("{folder}{HOST}"), contents.host)?;
            if let Some(device) = contents.device {
                entry(&mut zip, format!("{folder}{DEVICE}"), device)?;
            }
            if let Some(layout) = weights {
                zip.start_file(format!("{folder}{WEIGHTS}"), options(layout.file_bytes()))?;
                layout.write(contents.constants, &mut zip)?;
            }
        }
        zip.finish()?;
        Ok(())
    }
}

fn same_weights(a: &Contents<'_>, b: &Contents<'_>) -> bool {
    a.manifest.constants == b.manifest.constants && a.constants == b.constants
}

fn entry(zip: &mut ZipWriter<impl Write + Seek>, name: String, bytes: &[u8]) -> io::Result<()> {
    zip.start_file(name, options(bytes.len() as u64))?;
    zip.write_all(bytes)
}

fn replace(path: &Path, plan: &Plan<'_>) -> Result<()> {
    files::replace(path, |file| {
        let mut buffered = BufWriter::with_capacity(1 << 20, file);
        plan.write(&mut buffered)?;
        buffered.flush()
    })
}

fn in_memory(plan: &Plan<'_>) -> Result<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    plan.write(&mut bytes).map_err(|e| Error::InvalidContents { reason: e.to_string() })?;
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

/// Nothing here depends on the clock or the machine.
fn options(bytes: u64) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .with_alignment(ALIGNMENT as u16)
        .large_file(bytes >= u64::from(u32::MAX))
}
