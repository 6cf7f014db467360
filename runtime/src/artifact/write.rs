//! Writing artifacts.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::archive::{self, Stored};
use super::hashes::Summary;
use super::index::{Index, Member, Variant};
use super::{DEVICE, HOST, INDEX, MANIFEST, WEIGHTS, comment};
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
    replace(path.as_ref(), &Plan::single(contents)?, || Ok(()))
}

/// The bytes of the file that [`write()`] writes.
pub fn to_bytes(contents: &Contents<'_>) -> Result<Vec<u8>> {
    in_memory(&Plan::single(contents)?)
}

/// Writes an artifact for several machines, each with its name. Weights that several have are written once.
pub fn write_variants(path: impl AsRef<Path>, variants: &[(&str, Contents<'_>)]) -> Result<()> {
    replace(path.as_ref(), &Plan::several(variants)?, || Ok(()))
}

/// As [`write()`] for one machine, and [`write_variants()`] for several. Where `ready` fails, which is asked when all is written
/// and the file has no name yet, there is none.
pub fn write_if(
    path: impl AsRef<Path>,
    variants: &[(&str, Contents<'_>)],
    ready: impl FnOnce() -> io::Result<()>,
) -> Result<()> {
    replace(path.as_ref(), &Plan::of(variants)?, ready)
}

/// The same in a way of one's own: what `through` makes of the file gets all bytes, each constant in one piece, and then `ready`
/// gets it back, which flushes it. Where that fails there is no file.
pub fn write_through<W: Write>(
    path: impl AsRef<Path>,
    variants: &[(&str, Contents<'_>)],
    through: impl FnOnce(File) -> W,
    ready: impl FnOnce(W) -> io::Result<()>,
) -> Result<()> {
    let plan = Plan::of(variants)?;
    files::replace(path.as_ref(), |file| {
        let mut out = through(file.try_clone()?);
        plan.write(&mut out)?;
        ready(out)
    })
}

/// The bytes of the file that [`write_variants()`] writes.
pub fn variants_to_bytes(variants: &[(&str, Contents<'_>)]) -> Result<Vec<u8>> {
    in_memory(&Plan::several(variants)?)
}

/// What is written.
struct Plan<'a> {
    index: Vec<u8>,
    layout: archive::Layout,
    /// The data of the entries behind the index.
    entries: Vec<Data<'a>>,
}

/// What an entry holds.
enum Data<'a> {
    Text(Vec<u8>),
    Code(&'a [u8]),
    Weights { layout: Layout, constants: &'a [&'a [u8]] },
}

impl Data<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Text(bytes) => out.write_all(bytes),
            Self::Code(bytes) => out.write_all(bytes),
            Self::Weights { layout, constants } => layout.write(constants, out),
        }
    }

    /// What the index says of it.
    fn member(&self, name: &str) -> io::Result<Member> {
        let mut summary = Summary::new();
        self.write(&mut summary)?;
        let (bytes, crc32) = (summary.bytes, summary.crc.clone().finalize());
        Ok(Member { name: name.to_owned(), bytes, crc32, blake3: summary.into_blocks() })
    }
}

impl<'a> Plan<'a> {
    fn of(variants: &[(&str, Contents<'a>)]) -> Result<Self> {
        match variants {
            [(_, single)] => Self::single(single),
            several => Self::several(several),
        }
    }

    fn single(contents: &Contents<'a>) -> Result<Self> {
        let mut entries = Vec::new();
        add(&mut entries, "", contents, Some(check(contents)?));
        Self::new(None, entries)
    }

    fn several(variants: &[(&str, Contents<'a>)]) -> Result<Self> {
        let (mut listed, mut entries): (Vec<Variant>, Vec<(String, Data<'a>)>) = (Vec::new(), Vec::new());
        for (number, (name, contents)) in variants.iter().enumerate() {
            let layout = check(contents)?;
            // The first that has the same ones is the one that has them written.
            let same = variants[..number].iter().find(|(_, earlier)| same_weights(earlier, contents));
            let weights = same.map_or(*name, |(earlier, _)| earlier).to_owned();
            listed.push(Variant { name: (*name).to_owned(), weights });
            add(&mut entries, &format!("{name}/"), contents, same.is_none().then_some(layout));
        }
        Self::new(Some(listed), entries)
    }

    fn new(variants: Option<Vec<Variant>>, entries: Vec<(String, Data<'a>)>) -> Result<Self> {
        let invalid = |reason| Error::InvalidContents { reason };
        let members: io::Result<_> = entries.iter().map(|(name, data)| data.member(name)).collect();
        let index = Index::new(variants, members.map_err(|e| invalid(e.to_string()))?);
        index.validate().map_err(invalid)?;
        let text = index.to_json();
        let own = Stored { name: INDEX, bytes: text.len() as u64, crc: crc32fast::hash(&text) };
        let stored: Vec<Stored<'_>> = std::iter::once(own).chain(index.entries.iter().map(Member::stored)).collect();
        let layout = archive::Layout::new(&stored, &comment(&text));
        let layout = layout.ok_or_else(|| invalid("it is larger than any file".to_owned()))?;
        Ok(Self { index: text, layout, entries: entries.into_iter().map(|(_, data)| data).collect() })
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for record in &self.layout.records {
            out.write_all(&record.bytes)?;
            match record.entry {
                Some(0) => out.write_all(&self.index)?,
                Some(number) => self.entries[number - 1].write(out)?,
                None => {}
            }
        }
        Ok(())
    }
}

/// Adds the entries of a variant in its folder; `weights` unless an earlier variant has the same.
fn add<'a>(entries: &mut Vec<(String, Data<'a>)>, folder: &str, contents: &Contents<'a>, weights: Option<Layout>) {
    let Contents { manifest, host, device, constants } = *contents;
    entries.push((format!("{folder}{MANIFEST}"), Data::Text(manifest.to_json())));
    entries.push((format!("{folder}{HOST}"), Data::Code(host)));
    entries.extend(device.map(|device| (format!("{folder}{DEVICE}"), Data::Code(device))));
    entries.extend(weights.map(|layout| (format!("{folder}{WEIGHTS}"), Data::Weights { layout, constants })));
}

fn same_weights(a: &Contents<'_>, b: &Contents<'_>) -> bool {
    a.manifest.constants == b.manifest.constants && a.constants == b.constants
}

fn replace(path: &Path, plan: &Plan<'_>, ready: impl FnOnce() -> io::Result<()>) -> Result<()> {
    files::replace(path, |file| {
        let mut buffered = BufWriter::with_capacity(1 << 20, file);
        plan.write(&mut buffered)?;
        buffered.flush()?;
        ready()
    })
}

fn in_memory(plan: &Plan<'_>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    plan.write(&mut bytes).map_err(|e| Error::InvalidContents { reason: e.to_string() })?;
    Ok(bytes)
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
