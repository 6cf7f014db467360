//! Reading artifacts.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use super::archive::{self, END_BYTES, END_MAGIC, ENTRY_MAGIC, FIRST_NAME, Stored};
use super::hashes::{self, Expected};
use super::index::{Index, Member};
use super::{COMMENT_BYTES, DEVICE, HASH_PREFIX, HOST, INDEX, MANIFEST, WEIGHTS, comment};
use crate::buffer::AlignedBuffer;
use crate::error::{ArtifactProblem, Error, Result};
use crate::files::{self, Unopened};
use crate::manifest::{self, FORMAT, Manifest};
use crate::mapping::Mapping;
use crate::pool::available_threads;
use crate::weights;

/// Files from this size on are mapped, smaller ones are read: that takes a few milliseconds, and what happens to the file
/// then is nobody's concern.
pub(crate) const MAPPED_FROM: u64 = 16 << 20;

/// The largest index that is read. It has 70 bytes for each mebibyte of an artifact.
const MOST_INDEX_BYTES: u64 = 256 << 20;

/// An artifact whose parts have been checked.
pub struct Artifact {
    name: String,
    storage: Storage,
    /// At least one.
    variants: Vec<Parts>,
    /// The one that everything is said of.
    selected: usize,
}

enum Storage {
    Mapped(Mapping),
    Owned(AlignedBuffer),
}

impl Storage {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map.bytes(),
            Self::Owned(buffer) => buffer.as_slice(),
        }
    }

    /// An error if the file was changed since it was opened.
    fn check_unchanged(&self) -> Result<(), ArtifactProblem> {
        match self {
            Self::Mapped(map) => map.check().map_err(ArtifactProblem::Changed),
            Self::Owned(_) => Ok(()),
        }
    }
}

/// How an artifact is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// Hashes are not looked at.
    pub(crate) trusted: bool,
    /// The most threads that look at hashes, the caller's included.
    pub(crate) threads: usize,
}

impl Opening {
    fn checked() -> Self {
        Self { trusted: false, threads: available_threads() }
    }

    fn trusted() -> Self {
        Self { trusted: true, threads: 1 }
    }
}

impl Artifact {
    /// Reads a file and checks it; the weights of a large one are mapped. Where such a file is changed in place while the
    /// artifact is in use, [`check_unchanged`](Self::check_unchanged) says so (replacing it, as [`write`](super::write())
    /// does, is fine).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path.as_ref(), Opening::checked())
    }

    /// As [`open`](Self::open), but looks at no hash, so that damage is found only where something makes no sense. For large
    /// files that something else vouches for.
    pub fn open_trusted(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path.as_ref(), Opening::trusted())
    }

    pub(crate) fn open_with(path: &Path, opening: Opening) -> Result<Self> {
        let name = path.display().to_string();
        match storage(path) {
            Ok(storage) => Self::check(name, storage, opening),
            Err(Unopened::Io(source)) => Err(Error::Io { action: "read", path: path.to_owned(), source }),
            Err(Unopened::Other(is)) => {
                let problem = ArtifactProblem::NotAnArtifact(format!("it is {is}, not a file"));
                Err(Error::Artifact { artifact: name, problem })
            }
        }
    }

    /// Checks an artifact in memory, which is copied; `name` stands for the path in messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        let copy = AlignedBuffer::copy_of(bytes, "an artifact")?;
        Self::check(name.to_owned(), Storage::Owned(copy), Opening::checked())
    }

    /// As [`from_bytes`](Self::from_bytes), but looks at no hash.
    pub fn from_bytes_trusted(name: &str, bytes: &[u8]) -> Result<Self> {
        let copy = AlignedBuffer::copy_of(bytes, "an artifact")?;
        Self::check(name.to_owned(), Storage::Owned(copy), Opening::trusted())
    }

    /// The path or name that it was opened with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole artifact, as [`from_bytes`](Self::from_bytes) takes it. Of a large file they are in the file; what was read from
    /// them counts only after [`check_unchanged`](Self::check_unchanged).
    pub fn bytes(&self) -> &[u8] {
        self.storage.bytes()
    }

    /// What each variant says of itself: one for each machine that the model was compiled for, in the order in which they
    /// were asked for.
    pub fn variants(&self) -> impl ExactSizeIterator<Item = &Manifest> {
        self.variants.iter().map(|parts| &parts.manifest)
    }

    /// From now on everything is said of the variant with this number; at first it is 0.
    ///
    /// # Panics
    /// If there is no such variant.
    pub fn select(&mut self, variant: usize) {
        assert!(variant < self.variants.len(), "variant {variant} of {}", self.variants.len());
        self.selected = variant;
    }

    fn parts(&self) -> &Parts {
        &self.variants[self.selected]
    }

    pub fn manifest(&self) -> &Manifest {
        &self.parts().manifest
    }

    /// The bytes of `host.so`.
    pub fn host(&self) -> &[u8] {
        self.parts().host.as_slice()
    }

    /// The code for the manifest's device, where it has one.
    pub fn device(&self) -> Option<&[u8]> {
        self.parts().device.as_ref().map(AlignedBuffer::as_slice)
    }

    /// The bytes of each constant, in the manifest's order, aligned to [`ALIGNMENT`](crate::abi::ALIGNMENT). Of a large file
    /// they are in the file; what was read from them counts only after [`check_unchanged`](Self::check_unchanged).
    pub fn constants(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.parts().constants.iter().map(|range| &self.storage.bytes()[range.clone()])
    }

    /// An error if the file was changed or cut since it was opened, where it is still used.
    pub fn check_unchanged(&self) -> Result<()> {
        self.storage.check_unchanged().map_err(|problem| Error::Artifact { artifact: self.name.clone(), problem })
    }

    fn check(name: String, storage: Storage, opening: Opening) -> Result<Self> {
        let found = find_variants(storage.bytes(), opening);
        // What was found in a file that changed is nonsense, right or wrong.
        match storage.check_unchanged().and(found) {
            Ok(variants) => Ok(Self { name, storage, variants, selected: 0 }),
            Err(problem) => Err(Error::Artifact { artifact: name, problem }),
        }
    }
}

impl std::fmt::Debug for Artifact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Artifact")
            .field("name", &self.name)
            .field("model", &self.manifest().model)
            .finish_non_exhaustive()
    }
}

/// The bytes of a file: read, or mapped if they are many.
fn storage(path: &Path) -> Result<Storage, Unopened> {
    let (mut file, bytes) = files::open_regular(path)?;
    if bytes >= MAPPED_FROM {
        return Ok(Storage::Mapped(Mapping::new(file)?));
    }
    let mut buffer = AlignedBuffer::zeroed(bytes as usize, "an artifact").map_err(std::io::Error::other)?;
    let present = read_up_to(&mut file, buffer.as_mut_slice())?;
    if present == buffer.len() {
        return Ok(Storage::Owned(buffer));
    }
    // It became shorter just now.
    let cut = AlignedBuffer::copy_of(&buffer.as_slice()[..present], "an artifact").map_err(std::io::Error::other)?;
    Ok(Storage::Owned(cut))
}

/// Fills `buffer` as far as the file goes.
fn read_up_to(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut present = 0;
    while present < buffer.len() {
        match file.read(&mut buffer[present..]) {
            Ok(0) => break,
            Ok(more) => present += more,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(present)
}

/// What a variant has. Only constants are left in the file: all else is a copy, of which it was checked that it is right.
struct Parts {
    manifest: Manifest,
    host: AlignedBuffer,
    device: Option<AlignedBuffer>,
    /// In the file.
    constants: Vec<Range<usize>>,
}

/// The variants of an archive; one for one machine has them at the top.
fn find_variants(bytes: &[u8], opening: Opening) -> Result<Vec<Parts>, ArtifactProblem> {
    let (index, data) = match read_index(bytes, opening.trusted) {
        Ok(found) => found,
        // A later format is refused by its number, whatever else is different in it.
        Err(problem) => return Err(other_format(bytes).unwrap_or(problem)),
    };
    let mut entries = Entries { bytes, index: &index, data, used: HashSet::new(), opening };
    let folders = index.folders();
    let variants: Vec<Parts> =
        folders.iter().map(|(folder, weights)| entries.parts(folder, weights)).collect::<Result<_, _>>()?;
    match index.entries.iter().find(|entry| !entries.used.contains(&entry.name)) {
        Some(unknown) => return Err(ArtifactProblem::UnknownEntry(unknown.name.clone())),
        None => entries.check_weights()?,
    }
    Ok(variants)
}

/// The index, and where the data of its entries are. The archive is what the index implies.
fn read_index(bytes: &[u8], trusted: bool) -> Result<(Index, Vec<Range<usize>>), ArtifactProblem> {
    check_start(bytes)?;
    let (own, text) = first_entry(bytes).ok_or_else(|| cut_or(bytes, "the header of `index.json` makes no sense"))?;
    let header = archive::local_header(&own, 0).unwrap_or_default();
    if !bytes.starts_with(&header) {
        return Err(cut_or(bytes, "the header of `index.json` is not what it should be"));
    }
    let tail = comment(text);
    let ends_well = bytes.ends_with(tail.as_bytes());
    if !ends_well && !trusted {
        return Err(match has_end(bytes) {
            true => ArtifactProblem::Checksum { entry: INDEX.to_owned(), bytes: 0..own.bytes },
            false => no_end(bytes, own, text),
        });
    }
    let index = Index::from_json(text)?;
    let layout = layout(own, &index, &tail)?;
    if layout.bytes != bytes.len() as u64 {
        return Err(no_end(bytes, own, text));
    }
    for record in &layout.records {
        let found = record.at as usize..record.at as usize + record.bytes.len();
        // Without a look at hashes, that of the index does not matter either.
        let matters = if trusted && record.entry.is_none() { record.bytes.len() - COMMENT_BYTES } else { found.len() };
        if bytes[found][..matters] != record.bytes[..matters] {
            let of = match record.entry {
                None => "its directory is".to_owned(),
                Some(0) => "the header of `index.json` is".to_owned(),
                Some(number) => format!("the header of `{}` is", index.entries[number - 1].name),
            };
            return Err(ArtifactProblem::Directory(format!("{of} not what the index implies")));
        }
    }
    // All of it is within the file.
    let data = layout.data[1..].iter().map(|range| range.start as usize..range.end as usize).collect();
    Ok((index, data))
}

fn layout(own: Stored<'_>, index: &Index, tail: &str) -> Result<archive::Layout, ArtifactProblem> {
    let entries: Vec<Stored<'_>> = std::iter::once(own).chain(index.entries.iter().map(Member::stored)).collect();
    let beyond = || ArtifactProblem::Index("its entries are larger than any file".to_owned());
    archive::Layout::new(&entries, tail).ok_or_else(beyond)
}

/// What the first entry's header says, and the entry's data, if they are in the file.
fn first_entry(bytes: &[u8]) -> Option<(Stored<'static>, &[u8])> {
    let own = archive::first(bytes, INDEX).filter(|own| own.bytes <= MOST_INDEX_BYTES)?;
    let start = archive::local_header(&own, 0)?.len();
    let text = bytes.get(start..start.checked_add(own.bytes as usize)?)?;
    Some((own, text))
}

/// Tells apart what is no artifact, and what is one of the first format.
fn check_start(bytes: &[u8]) -> Result<(), ArtifactProblem> {
    if bytes.is_empty() {
        return Err(ArtifactProblem::Empty);
    }
    let begins = |name: &str| {
        let wanted = [ENTRY_MAGIC, name.as_bytes()];
        let places = [0, FIRST_NAME];
        std::iter::zip(wanted, places).all(|(wanted, at)| {
            let found = &bytes[bytes.len().min(at)..bytes.len().min(at + wanted.len())];
            wanted.starts_with(found)
        })
    };
    if begins(INDEX) {
        return Ok(());
    }
    if begins(MANIFEST) {
        return Err(ArtifactProblem::Format { found: 1, supported: FORMAT });
    }
    Err(ArtifactProblem::NotAnArtifact(describe_start(bytes)))
}

/// The format that the index says, if it is another one than this, and arrived as it was written.
fn other_format(bytes: &[u8]) -> Option<ArtifactProblem> {
    let (own, text) = first_entry(bytes)?;
    let problem = manifest::check_versions(text).err().filter(|_| crc32fast::hash(text) == own.crc);
    problem.filter(|problem| matches!(problem, ArtifactProblem::Format { .. }))
}

/// Whether the last record of an archive of ours is at the end.
fn has_end(bytes: &[u8]) -> bool {
    let end = bytes.len().checked_sub(END_BYTES + COMMENT_BYTES).map(|at| &bytes[at..]);
    end.is_some_and(|end| end.starts_with(END_MAGIC) && end[END_BYTES..].starts_with(HASH_PREFIX.as_bytes()))
}

/// The problem of a file without the end of an artifact, else this damage.
fn cut_or(bytes: &[u8], damage: &str) -> ArtifactProblem {
    // One that has no comment, which ours has; where only that was cut, its size is still there.
    let end = bytes.len().checked_sub(END_BYTES).map(|at| &bytes[at..]);
    let other_end = end.is_some_and(|end| end.starts_with(END_MAGIC) && end.ends_with(&[0, 0]));
    match () {
        () if has_end(bytes) => ArtifactProblem::Directory(damage.to_owned()),
        () if other_end => ArtifactProblem::Directory("another tool has written the archive anew".to_owned()),
        () => ArtifactProblem::Truncated,
    }
}

/// Why the end is not where it should be, as far as the index can be believed.
fn no_end(bytes: &[u8], own: Stored<'_>, text: &[u8]) -> ArtifactProblem {
    let layout = Index::from_json(text).ok().and_then(|index| layout(own, &index, &comment(text)).ok());
    match layout.map(|layout| layout.bytes) {
        Some(implied) if implied < bytes.len() as u64 => {
            ArtifactProblem::Directory(format!("{} bytes follow its end", bytes.len() as u64 - implied))
        }
        Some(implied) if implied == bytes.len() as u64 => {
            ArtifactProblem::Directory("the last record of its directory is not what the index implies".to_owned())
        }
        _ => cut_or(bytes, "it is shorter than the index implies"),
    }
}

/// The entries of an archive, of which all have to be used.
struct Entries<'a> {
    bytes: &'a [u8],
    index: &'a Index,
    /// By entry.
    data: Vec<Range<usize>>,
    used: HashSet<String>,
    opening: Opening,
}

impl Entries<'_> {
    /// The number of an entry.
    fn find(&mut self, name: String) -> Result<usize, ArtifactProblem> {
        let found = self.index.entries.iter().position(|entry| entry.name == name);
        let found = found.ok_or_else(|| ArtifactProblem::MissingEntry(name.clone()))?;
        self.used.insert(name);
        Ok(found)
    }

    /// A copy of an entry's data. What is checked is the copy.
    fn copy(&mut self, name: String) -> Result<AlignedBuffer, ArtifactProblem> {
        let number = self.find(name)?;
        let copy = AlignedBuffer::copy_of(&self.bytes[self.data[number].clone()], "a part of an artifact");
        let copy = copy.map_err(|e| ArtifactProblem::Directory(e.to_string()))?;
        self.check_hashes(&[(number, copy.as_slice())])?;
        Ok(copy)
    }

    /// What is in a variant's folder, and where its weights are, which may be in another's.
    fn parts(&mut self, folder: &str, weights_folder: &str) -> Result<Parts, ArtifactProblem> {
        let manifest = Manifest::from_json(self.copy(format!("{folder}{MANIFEST}"))?.as_slice())?;
        let host = self.copy(format!("{folder}{HOST}"))?;
        let device = manifest.device.as_ref().map(|_| self.copy(format!("{folder}{DEVICE}"))).transpose()?;
        let number = self.find(format!("{weights_folder}{WEIGHTS}"))?;
        let data = self.data[number].clone();
        let located = weights::locate(&self.bytes[data.clone()], &manifest.constants);
        // Damage is told as damage, wherever it shows first.
        let located = located.map_err(|reason| {
            let damaged = self.check_hashes(&[(number, &self.bytes[data.clone()])]);
            damaged.err().unwrap_or(ArtifactProblem::Weights(reason))
        })?;
        let constants = located.into_iter().map(|range| data.start + range.start..data.start + range.end).collect();
        Ok(Parts { manifest, host, device, constants })
    }

    /// Checks what is not copied: all weights at once.
    fn check_weights(&self) -> Result<(), ArtifactProblem> {
        let named = |name: &str| name == WEIGHTS || name.ends_with(&format!("/{WEIGHTS}"));
        let weights = self.index.entries.iter().zip(&self.data).enumerate();
        let weights = weights.filter(|(_, (entry, _))| named(&entry.name));
        let weights: Vec<(usize, &[u8])> =
            weights.map(|(number, (_, data))| (number, &self.bytes[data.clone()])).collect();
        self.check_hashes(&weights)
    }

    /// Compares data of entries, given by number, with their hashes.
    fn check_hashes(&self, entries: &[(usize, &[u8])]) -> Result<(), ArtifactProblem> {
        if self.opening.trusted {
            return Ok(());
        }
        let expected =
            entries.iter().map(|(number, data)| Expected { data, blocks: &self.index.entries[*number].blake3 });
        let expected: Vec<Expected<'_>> = expected.collect();
        match hashes::first_wrong(&expected, self.opening.threads) {
            None => Ok(()),
            Some((which, range)) => {
                let entry = self.index.entries[entries[which].0].name.clone();
                Err(ArtifactProblem::Checksum { entry, bytes: range.start as u64..range.end as u64 })
            }
        }
    }
}

/// What a file that is no artifact seems to be.
fn describe_start(bytes: &[u8]) -> String {
    let kinds: [(&[u8], &str); 5] = [
        (b"PK\x03\x04", "it is a zip archive of something else"),
        (b"\x7fELF", "it is a program or a library"),
        (b"\x93NUMPY", "it is a NumPy array"),
        (b"ML\xefR", "it is MLIR bytecode; compile it first"),
        (b"\x08", "it may be an ONNX model; compile it first"),
    ];
    let kind = kinds.iter().find(|(magic, _)| bytes.starts_with(magic));
    kind.map_or("it does not begin as one", |(_, words)| words).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::ALIGNMENT;
    use crate::artifact::{Contents, to_bytes, variants_to_bytes};
    use crate::element::ElementType;
    use crate::manifest::{Constant, tests::sample};
    use proptest::prelude::*;

    fn manifest() -> Manifest {
        let mut manifest = sample();
        manifest.constants = vec![
            Constant { name: "w".into(), element_type: ElementType::F32, dims: vec![5] },
            Constant { name: "v".into(), element_type: ElementType::I8, dims: vec![2, 3] },
        ];
        manifest
    }

    const HOST_BYTES: &[u8] = b"\x7fELF and so on";

    fn packed() -> Vec<u8> {
        let manifest = manifest();
        to_bytes(&Contents { manifest: &manifest, host: HOST_BYTES, device: None, constants: &[&[1; 20], &[2; 6]] })
            .unwrap()
    }

    fn problem(bytes: &[u8]) -> ArtifactProblem {
        match Artifact::from_bytes("test", bytes) {
            Err(Error::Artifact { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = packed();
        assert_eq!(bytes, packed());
        let artifact = Artifact::from_bytes("test", &bytes).unwrap();
        assert_eq!(*artifact.manifest(), manifest());
        assert_eq!(artifact.host(), HOST_BYTES);
        let constants: Vec<&[u8]> = artifact.constants().collect();
        assert_eq!(constants, [&[1; 20][..], &[2; 6]]);
        assert!(constants.iter().all(|c| c.as_ptr().addr() % ALIGNMENT == 0));
        artifact.check_unchanged().unwrap();
    }

    fn of_two_machines() -> Vec<u8> {
        let (first, mut second) = (manifest(), manifest());
        second.target.description = "another".into();
        let contents = |manifest, host| Contents { manifest, host, device: None, constants: &[&[1; 20], &[2; 6]] };
        variants_to_bytes(&[("one", contents(&first, HOST_BYTES)), ("two", contents(&second, b"other code"))]).unwrap()
    }

    #[test]
    fn variants_share_equal_weights() {
        let bytes = of_two_machines();
        let mut artifact = Artifact::from_bytes("test", &bytes).unwrap();
        let names: Vec<_> = artifact.variants().map(|manifest| manifest.target.description.clone()).collect();
        assert_eq!(names, ["x86_64", "another"]);
        assert_eq!(artifact.host(), HOST_BYTES);
        let first: Vec<*const u8> = artifact.constants().map(<[u8]>::as_ptr).collect();
        artifact.select(1);
        assert_eq!((artifact.host(), artifact.manifest().target.description.as_str()), (&b"other code"[..], "another"));
        assert!(artifact.constants().map(<[u8]>::as_ptr).eq(first));
        assert_eq!(bytes.windows(20).filter(|w| *w == [1; 20]).count(), 1);
    }

    #[test]
    fn an_index_says_what_there_is() {
        let index = |rest: &str| format!("{{\"format\": 2, \"abi\": {}, {rest}}}", crate::abi::VERSION);
        let message = |rest: &str| Index::from_json(index(rest).as_bytes()).unwrap_err().to_string();
        let variants = |variants: &str| message(&format!(r#""variants": [{variants}], "entries": []"#));
        assert!(variants("").contains("it has no variant"));
        let one = r#"{"name": "a", "weights": "a"}"#;
        assert!(variants(&format!("{one}, {one}")).contains("two variants are named `a`"));
        assert!(variants(r#"{"name": "../a", "weights": "../a"}"#).contains("is no name of a variant"));
        assert!(variants(r#"{"name": "a", "weights": "b"}"#).contains("has the weights of `b`, which has none"));
        assert!(variants(r#"{"name": "a"}"#).contains("weights"));
        let entry =
            |name: &str, bytes: u64| format!(r#"{{"name": "{name}", "bytes": {bytes}, "crc32": 0, "blake3": []}}"#);
        let entries = |all: &[String]| message(&format!(r#""entries": [{}]"#, all.join(", ")));
        assert!(entries(&[entry("a", 0), entry("a", 0)]).contains("two entries are named `a`"));
        assert!(entries(&[entry("a", 1)]).contains("`a` has 1 bytes, which are not 0 blocks"));
        for name in ["", "../host.so", "a/../b", "/host.so", "a//b", "a/", ".", "a\\\\b", "a\\u0000", "\u{e9}", INDEX] {
            assert!(entries(&[entry(name, 0)]).contains("is no name of an entry"), "{name}");
        }
    }

    /// Other zip tools read it.
    #[test]
    fn an_artifact_is_a_zip_file() {
        for bytes in [packed(), of_two_machines()] {
            let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).unwrap();
            assert!(!archive.has_duplicate_names() && !archive.has_overlapping_entries().unwrap());
            assert_eq!(archive.by_index(0).unwrap().name().unwrap(), INDEX);
            for number in 0..archive.len() {
                let mut entry = archive.by_index(number).unwrap();
                // Reading to the end compares the checksum.
                let read = std::io::copy(&mut entry, &mut std::io::sink()).unwrap();
                assert_eq!((read, entry.data_start().unwrap() % ALIGNMENT as u64), (entry.size(), 0));
            }
        }
    }

    #[test]
    fn every_truncation_is_an_error() {
        for bytes in [packed(), of_two_machines()] {
            every_truncation_of(&bytes);
        }
    }

    fn every_truncation_of(bytes: &[u8]) {
        assert_eq!(problem(&[]), ArtifactProblem::Empty);
        for length in 1..bytes.len() {
            assert_eq!(problem(&bytes[..length]), ArtifactProblem::Truncated, "at {length}");
        }
    }

    #[test]
    fn other_files_are_told_apart() {
        let words = |bytes: &[u8]| problem(bytes).to_string();
        assert!(words(b"\x7fELF\x02\x01\x01").contains("a program or a library"));
        assert!(
            words(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0a.txt")
                .contains("zip archive of something else")
        );
        assert!(words(b"hello").contains("does not begin as one"));
        assert!(words(&[0; 4096]).contains("does not begin as one"));
    }

    #[test]
    fn damaged_weights_are_told_by_place_unless_trusted() {
        let mut bytes = packed();
        let at = bytes.windows(20).position(|w| w == [1; 20]).unwrap();
        bytes[at] = 3;
        assert!(
            problem(&bytes).to_string().contains("checksum of `weights.safetensors` does not match in bytes 0 to ")
        );
        let artifact = Artifact::from_bytes_trusted("test", &bytes).unwrap();
        assert_eq!(artifact.constants().next().unwrap()[0], 3);
    }

    #[test]
    fn what_follows_the_end_is_damage() {
        let mut bytes = packed();
        bytes.extend([0; 7]);
        assert_eq!(problem(&bytes).to_string(), "is damaged: 7 bytes follow its end");
        let whole = packed();
        let mut repacked = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        repacked.start_file(INDEX, zip::write::SimpleFileOptions::default()).unwrap();
        let repacked = repacked.finish().unwrap().into_inner();
        assert_eq!(problem(&repacked).to_string(), "is damaged: another tool has written the archive anew");
        let twice: Vec<u8> = whole.iter().chain(&whole).copied().collect();
        assert!(problem(&twice).to_string().contains("is damaged"), "{}", problem(&twice));
    }

    /// Artifacts of other formats are refused by their number, whatever else there is.
    #[test]
    fn other_formats_are_refused_by_their_number() {
        let mut first = b"PK\x03\x04".to_vec();
        first.resize(FIRST_NAME, 0);
        first.extend(b"manifest.json and so on");
        assert_eq!(problem(&first), ArtifactProblem::Format { found: 1, supported: FORMAT });
        assert!(problem(&first).to_string().contains("compile the model again"));
        let text = br#"{"format": 3, "abi": 77, "novelty": 1}"#;
        let own = Stored { name: INDEX, bytes: text.len() as u64, crc: crc32fast::hash(text) };
        let mut later = archive::local_header(&own, 0).unwrap();
        later.extend(text);
        later.extend([9; 100]);
        assert_eq!(problem(&later), ArtifactProblem::Format { found: 3, supported: FORMAT });
        // But not where that is damage.
        *later.iter_mut().find(|byte| **byte == b'3').unwrap() = b'4';
        assert_eq!(problem(&later), ArtifactProblem::Truncated);
    }

    /// An archive with this index and these entries, whose records are changed.
    fn forged(index: &Index, data: &[&[u8]], change: impl Fn(&mut Vec<archive::Record>)) -> Vec<u8> {
        let text = index.to_json();
        let own = Stored { name: INDEX, bytes: text.len() as u64, crc: crc32fast::hash(&text) };
        let mut layout = layout(own, index, &comment(&text)).unwrap();
        change(&mut layout.records);
        let mut bytes = Vec::new();
        for record in &layout.records {
            bytes.extend(&record.bytes);
            match record.entry {
                Some(0) => bytes.extend(&text),
                Some(number) => bytes.extend(data[number - 1]),
                None => {}
            }
        }
        bytes
    }

    fn members(bytes: &[u8]) -> (Index, Vec<&[u8]>) {
        let (index, data) = read_index(bytes, false).unwrap();
        let data = data.into_iter().map(|range| &bytes[range]).collect();
        (index, data)
    }

    /// Archives in which another reader would find something else than this one: all with right hashes.
    #[test]
    fn archives_with_two_meanings_are_refused() {
        let bytes = packed();
        let (index, data) = members(&bytes);
        assert_eq!(forged(&index, &data, |_| {}), bytes);
        let words = |bytes: &[u8]| problem(bytes).to_string();
        // An entry twice, one more, one less, one of another name.
        let with = |change: fn(&mut Vec<Member>)| {
            let mut changed = index.clone();
            change(&mut changed.entries);
            let data: Vec<&[u8]> = data.iter().chain([&data[1]]).copied().collect();
            words(&forged(&changed, &data, |_| {}))
        };
        assert!(with(|all| all.push(all[1].clone())).contains("two entries are named `host.so`"));
        assert!(
            with(|all| all.push(Member { name: "extra".into(), ..all[1].clone() }))
                .contains("`extra`, which this runtime")
        );
        assert!(
            with(|all| all.push(Member { name: DEVICE.into(), ..all[1].clone() }))
                .contains("holds the entry `device.bin`")
        );
        assert!(
            with(|all| all.push(Member { name: "../host.so".into(), ..all[1].clone() }))
                .contains("is no name of an entry")
        );
        assert!(
            with(|all| all.push(Member { name: "host.so\0".into(), ..all[1].clone() }))
                .contains("is no name of an entry")
        );
        let mut without = index.clone();
        without.entries.remove(1);
        assert!(words(&forged(&without, &[data[0], data[2]], |_| {})).contains("`host.so` is missing"));
        assert!(with(|all| all[1].bytes += 64).contains("is damaged"));
        // Records that say something else than the index: in a header, in the directory, in both.
        let changed = |change: fn(&mut Vec<archive::Record>)| words(&forged(&index, &data, change));
        let header = "the header of `host.so` is not what the index implies";
        let directory = "its directory is not what the index implies";
        assert!(changed(|all| all[2].bytes[6] = 8).contains(header), "flags");
        assert!(changed(|all| all[2].bytes[8] = 8).contains(header), "compression");
        assert!(changed(|all| all[2].bytes[18] ^= 1).contains(header), "size");
        assert!(changed(|all| all[2].bytes[30] = b'H').contains(header), "name");
        assert!(changed(|all| *all[2].bytes.last_mut().unwrap() = 1).contains(header), "padding");
        assert!(changed(|all| all[4].bytes[20] ^= 1).contains(directory), "size");
        assert!(changed(|all| all[4].bytes[42] ^= 64).contains(directory), "place");
        assert!(changed(|all| all[4].bytes[46] ^= 1).contains(directory), "name");
        assert!(changed(|all| all[2].bytes.extend([0; 64])).contains("is damaged"), "a gap");
        assert!(changed(|all| drop(all[4].bytes.splice(..0, [0; 64]))).contains("is damaged"), "before the directory");
        assert!(changed(|all| all.swap(1, 2)).contains("is damaged"), "order");
        assert!(changed(|all| all[0].bytes.splice(..0, [0; 64]).for_each(drop)).contains("does not begin as one"));
        // A record of 64-bit sizes where none is needed.
        let wide = changed(|all| {
            let at = all[4].bytes.len() - END_BYTES - COMMENT_BYTES;
            all[4].bytes.splice(at..at, *b"PK\x06\x07\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0").for_each(drop);
        });
        assert!(wide.contains("is damaged"), "{wide}");
    }

    #[test]
    fn contents_must_agree() {
        let manifest = manifest();
        let error = |constants: &[&[u8]]| {
            to_bytes(&Contents { manifest: &manifest, host: HOST_BYTES, device: None, constants })
                .unwrap_err()
                .to_string()
        };
        assert!(error(&[&[1; 20]]).contains("2 constants in the manifest, 1 given"));
        assert!(error(&[&[1; 20], &[2; 5]]).contains("constant `v` has 6 bytes, but 5 are given"));
    }

    /// There is no place in the file of which nothing depends.
    #[test]
    fn no_flipped_bit_goes_unnoticed() {
        for (bytes, bits) in [(packed(), 0..8), (of_two_machines(), 5..6)] {
            for (at, bit) in (0..bytes.len()).flat_map(|at| bits.clone().map(move |bit| (at, bit))) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let found = Artifact::from_bytes("test", &damaged);
                assert!(found.is_err(), "byte {at} bit {bit}");
            }
        }
    }

    proptest! {
        #[test]
        fn scrambled_bytes_never_panic(
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        ) {
            let mut bytes = if edits.len() % 2 == 0 { packed() } else { of_two_machines() };
            for (at, value) in edits {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            let same = bytes == packed() || bytes == of_two_machines();
            prop_assert_eq!(Artifact::from_bytes("test", &bytes).is_ok(), same);
            // Nothing but the hashes holds this back: it must not panic either.
            let _ = Artifact::from_bytes_trusted("test", &bytes).map(|artifact| artifact.constants().count());
        }
    }
}
