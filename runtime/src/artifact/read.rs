//! Reading artifacts.

#![allow(unsafe_code)]

use std::collections::HashSet;
use std::io::Cursor;
use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;
use zip::{CompressionMethod, ZipArchive};

use super::index::{Index, Variant};
use super::{DEVICE, HOST, MANIFEST, WEIGHTS};
use crate::abi::ALIGNMENT;
use crate::buffer::AlignedBuffer;
use crate::error::{ArtifactProblem, Error, Result};
use crate::manifest::Manifest;
use crate::weights;

/// How every zip archive with at least one entry begins.
const ENTRY_MAGIC: &[u8] = b"PK\x03\x04";

/// How the last record of an archive begins, and its size without a comment.
const END_MAGIC: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;

/// An artifact whose parts have been checked, mapped into memory.
pub struct Artifact {
    name: String,
    storage: Storage,
    /// At least one.
    variants: Vec<Parts>,
    /// The one that everything is said of.
    selected: usize,
}

enum Storage {
    Mapped(Mmap),
    Owned(AlignedBuffer),
}

impl Storage {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(buffer) => buffer.as_slice(),
        }
    }
}

/// An entry of the archive: where its data is, and its checksum.
#[derive(Clone)]
struct Entry {
    name: String,
    data: Range<usize>,
    crc: u32,
}

impl Artifact {
    /// Maps and checks a file. The file must not be changed in place while the artifact is in use
    /// (replacing it, as [`write`](super::write()) does, is fine).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let failed = |source| Error::Io { action: "read", path: path.to_owned(), source };
        let (file, info) = crate::files::open(path).map_err(failed)?;
        let name = path.display().to_string();
        if !info.is_file() {
            let problem = ArtifactProblem::NotAnArtifact(format!("it is {}, not a file", crate::files::kind(&info)));
            return Err(Error::Artifact { artifact: name, problem });
        }
        if info.len() == 0 {
            return Err(Error::Artifact { artifact: name, problem: ArtifactProblem::Empty });
        }
        // SAFETY: the map is private and read-only. That nobody changes the file under it is this function's
        // documented condition, the same that the system's loader has for every program and library.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        Self::check(name, Storage::Mapped(map))
    }

    /// Checks an artifact in memory, which is copied; `name` stands for the path in messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        let copy = AlignedBuffer::copy_of(bytes, "an artifact")?;
        Self::check(name.to_owned(), Storage::Owned(copy))
    }

    /// The path or name that it was opened with.
    pub fn name(&self) -> &str {
        &self.name
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
        &self.storage.bytes()[self.parts().host.clone()]
    }

    /// The code for the manifest's device, where it has one.
    pub fn device(&self) -> Option<&[u8]> {
        self.parts().device.clone().map(|range| &self.storage.bytes()[range])
    }

    /// The bytes of each constant, in the manifest's order, aligned to [`ALIGNMENT`].
    pub fn constants(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.parts().constants.iter().map(|range| &self.storage.bytes()[range.clone()])
    }

    /// Checks what opening does not: the checksum of the weights. Reads the whole file.
    pub fn verify(&self) -> Result<()> {
        let mut all = self.variants.iter().map(|parts| &parts.weights);
        all.try_for_each(|weights| check_crc(self.storage.bytes(), weights))
            .map_err(|problem| Error::Artifact { artifact: self.name.clone(), problem })
    }

    fn check(name: String, storage: Storage) -> Result<Self> {
        match find_variants(storage.bytes()) {
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

/// What a variant has, in the file.
struct Parts {
    manifest: Manifest,
    host: Range<usize>,
    device: Option<Range<usize>>,
    weights: Entry,
    constants: Vec<Range<usize>>,
}

/// The variants of an archive; one for one machine has them at the top.
fn find_variants(bytes: &[u8]) -> Result<Vec<Parts>, ArtifactProblem> {
    let mut entries = Entries { bytes, all: read_directory(bytes)?, used: HashSet::new() };
    let manifest = entries.checked(MANIFEST.to_owned())?;
    let variants = match Index::from_json(&bytes[manifest])? {
        None => vec![entries.parts("", "")?],
        Some(index) => {
            let parts =
                |Variant { name, weights }: &Variant| entries.parts(&format!("{name}/"), &format!("{weights}/"));
            index.variants.iter().map(parts).collect::<Result<_, _>>()?
        }
    };
    // Only now, so that an artifact of a later format is refused by its number.
    match entries.all.iter().find(|entry| !entries.used.contains(&entry.name)) {
        Some(unknown) => Err(ArtifactProblem::UnknownEntry(unknown.name.clone())),
        None => Ok(variants),
    }
}

/// The entries of an archive, of which all have to be used.
struct Entries<'b> {
    bytes: &'b [u8],
    all: Vec<Entry>,
    used: HashSet<String>,
}

impl Entries<'_> {
    fn find(&mut self, name: String) -> Result<Entry, ArtifactProblem> {
        let found = self.all.iter().find(|entry| entry.name == name).cloned();
        let entry = found.ok_or_else(|| ArtifactProblem::MissingEntry(name.clone()))?;
        self.used.insert(name);
        Ok(entry)
    }

    /// Where an entry is whose checksum is right.
    fn checked(&mut self, name: String) -> Result<Range<usize>, ArtifactProblem> {
        let entry = self.find(name)?;
        check_crc(self.bytes, &entry)?;
        Ok(entry.data)
    }

    /// What is in a variant's folder, and its weights, which may be in another's.
    fn parts(&mut self, folder: &str, weights_folder: &str) -> Result<Parts, ArtifactProblem> {
        let manifest = self.checked(format!("{folder}{MANIFEST}"))?;
        let manifest = Manifest::from_json(&self.bytes[manifest])?;
        let host = self.checked(format!("{folder}{HOST}"))?;
        let device = manifest.device.as_ref().map(|_| self.checked(format!("{folder}{DEVICE}"))).transpose()?;
        let weights = self.find(format!("{weights_folder}{WEIGHTS}"))?;
        let start = weights.data.start;
        let located = weights::locate(&self.bytes[weights.data.clone()], &manifest.constants);
        let located = located.map_err(ArtifactProblem::Weights)?;
        let constants = located.into_iter().map(|range| start + range.start..start + range.end).collect();
        Ok(Parts { manifest, host, device, weights, constants })
    }
}

fn check_crc(bytes: &[u8], entry: &Entry) -> Result<(), ArtifactProblem> {
    if crc32fast::hash(&bytes[entry.data.clone()]) == entry.crc {
        return Ok(());
    }
    Err(ArtifactProblem::Checksum(entry.name.clone()))
}

/// The archive's entries in their order, each within the file, aligned, stored as it is, and apart from the others.
fn read_directory(bytes: &[u8]) -> Result<Vec<Entry>, ArtifactProblem> {
    check_ends(bytes)?;
    let damaged = |e: zip::result::ZipError| ArtifactProblem::Directory(e.to_string());
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    if archive.offset() != 0 {
        return Err(ArtifactProblem::Directory("its directory is not where it says".into()));
    }
    if archive.has_duplicate_names() || archive.has_overlapping_entries().map_err(damaged)? {
        return Err(ArtifactProblem::Directory("its entries overlap".into()));
    }
    let mut entries = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).map_err(damaged)?;
        let name = file.name().map_err(damaged)?.into_owned();
        let broken = |what: &str| ArtifactProblem::Directory(format!("its entry `{name}` {what}"));
        if file.compression() != CompressionMethod::Stored || file.encrypted() || file.size() != file.compressed_size()
        {
            return Err(broken("is not stored as it is"));
        }
        let range = |start: u64| {
            let end = start.checked_add(file.size())?;
            Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
        };
        let data = file.data_start().and_then(range).filter(|r| r.end <= bytes.len());
        let data = data.ok_or_else(|| broken("reaches beyond the file"))?;
        if data.start % ALIGNMENT != 0 {
            return Err(broken("is not aligned"));
        }
        let crc = file.crc32();
        drop(file);
        entries.push(Entry { name, data, crc });
    }
    Ok(entries)
}

/// Tells apart what is no artifact and what has lost its end.
fn check_ends(bytes: &[u8]) -> Result<(), ArtifactProblem> {
    let name_at = 30..30 + MANIFEST.len();
    let known = bytes.len().min(name_at.end);
    let begins_well = bytes.starts_with(&ENTRY_MAGIC[..known.min(4)])
        && (known <= name_at.start || MANIFEST.as_bytes().starts_with(&bytes[name_at.start..known]));
    if bytes.is_empty() {
        return Err(ArtifactProblem::Empty);
    }
    if !begins_well {
        return Err(ArtifactProblem::NotAnArtifact(describe_start(bytes)));
    }
    let has_end = bytes.len() > END_BYTES && bytes[bytes.len() - END_BYTES..].starts_with(END_MAGIC);
    if has_end { Ok(()) } else { Err(ArtifactProblem::Truncated) }
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
        assert_eq!(artifact.host().as_ptr().addr() % ALIGNMENT, 0);
        let constants: Vec<&[u8]> = artifact.constants().collect();
        assert_eq!(constants, [&[1; 20][..], &[2; 6]]);
        assert!(constants.iter().all(|c| c.as_ptr().addr() % ALIGNMENT == 0));
        artifact.verify().unwrap();
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
        artifact.verify().unwrap();
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
        let index = |variants: &str| format!("{{\"format\": 1, \"abi\": 5, \"variants\": [{variants}]}}");
        let message = |variants: &str| Index::from_json(index(variants).as_bytes()).unwrap_err().to_string();
        assert!(message("").contains("it has no variant"));
        let one = r#"{"name": "a", "weights": "a"}"#;
        assert!(message(&format!("{one}, {one}")).contains("two variants are named `a`"));
        assert!(message(r#"{"name": "../a", "weights": "../a"}"#).contains("is no name of a variant"));
        assert!(message(r#"{"name": "a", "weights": "b"}"#).contains("has the weights of `b`, which has none"));
        assert!(message(r#"{"name": "a"}"#).contains("weights"));
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
    fn damaged_weights_are_found_by_verify() {
        let mut bytes = packed();
        let at = bytes.windows(20).position(|w| w == [1; 20]).unwrap();
        bytes[at] = 3;
        let artifact = Artifact::from_bytes("test", &bytes).unwrap();
        assert!(artifact.verify().unwrap_err().to_string().contains("checksum of `weights.safetensors`"));
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

    /// Every flipped bit either is an error or is in a place that nothing depends on (a date, padding, the weights).
    #[test]
    fn no_flipped_bit_goes_unnoticed_where_it_matters() {
        let bytes = packed();
        let weights = Artifact::from_bytes("test", &bytes).unwrap().parts().weights.data.clone();
        let mut harmless = 0;
        for at in (0..bytes.len()).filter(|at| !weights.contains(at)) {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                if let Ok(artifact) = Artifact::from_bytes("test", &damaged) {
                    assert_eq!(*artifact.manifest(), manifest(), "byte {at} bit {bit}");
                    assert_eq!(artifact.host(), HOST_BYTES);
                    assert!(artifact.constants().eq([&[1; 20][..], &[2; 6]]));
                    harmless += 1;
                }
            }
        }
        assert!(harmless < bytes.len() * 8 / 2);
    }

    #[test]
    fn a_flipped_bit_in_the_weights_header_never_panics() {
        let bytes = packed();
        let weights = Artifact::from_bytes("test", &bytes).unwrap().parts().weights.data.clone();
        for at in weights {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                if let Ok(artifact) = Artifact::from_bytes("test", &damaged) {
                    assert!(artifact.verify().is_err(), "byte {at} bit {bit}");
                }
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
            let _ = Artifact::from_bytes("test", &bytes).map(|a| a.verify());
        }
    }
}
