//! What was compiled before, in files: batches of kernels, and whole programs.
//!
//! An entry is a file that is called after its key, the hash of everything that decides what is in it. Processes need no locks:
//! entries appear whole and are never changed, and who reads one has compared its hash. So an entry that is damaged, cut or of
//! another version is none: it is told of and made again. `docs/rationale/compile-cache.md` has reasons and costs.

mod folder;
mod key;
mod program;

use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use sutura_output::Pending;
use sutura_runtime::mapping::Mapping;

use crate::talk::Talk;
use folder::NoPlace;
pub(crate) use folder::Place;
pub(crate) use key::{Key, KeyMaker};
pub(crate) use program::{Known, Recorded, Recorder, program_key};

/// What an entry begins with; it changes with all that this module writes.
const MAGIC: &[u8; 16] = b"sutura cache 1\r\n";
const HASH: usize = 32;
/// Magic, key, and the hash of the rest.
const HEAD: usize = MAGIC.len() + 2 * HASH;

/// What an entry is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The object of a batch.
    Batch,
    /// An artifact.
    Program,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Program => "program",
        }
    }
}

/// What an entry is made of.
#[derive(Clone, Copy)]
pub(crate) enum Part<'p> {
    Bytes(&'p [u8]),
    /// A part of a file: where it begins, and how long it is.
    File(&'p File, u64, u64),
}

impl Part<'_> {
    fn bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(_, _, bytes) => *bytes,
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (file, mut at, end) = match *self {
            Self::Bytes(bytes) => return out.write_all(bytes),
            Self::File(file, at, bytes) => (file, at, at + bytes),
        };
        let mut buffer = vec![0; 1 << 20];
        while at < end {
            let most = usize::try_from(end - at).map_or(buffer.len(), |left| left.min(buffer.len()));
            file.read_exact_at(&mut buffer[..most], at)?;
            out.write_all(&buffer[..most])?;
            at += most as u64;
        }
        Ok(())
    }
}

/// Writes to a file, and hashes what it writes.
struct Hashing<'f> {
    hasher: blake3::Hasher,
    out: &'f File,
}

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The cache of this process. What there is to say of it is said by [`Cache::tell`], so that all threads may use it.
#[derive(Debug)]
pub(crate) struct Cache {
    place: Place,
    said: Mutex<Messages>,
}

/// What there is to say; each is said once.
#[derive(Debug, Default)]
struct Messages {
    all: Vec<Said>,
    /// How many of them were said.
    told: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum Said {
    Warning(String),
    Detail(String),
}

/// An entry that was read: its hash is right.
pub(crate) struct Entry {
    mapping: Mapping,
}

impl Entry {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.mapping.bytes()[HEAD..]
    }

    /// The file, and where in it what [`bytes`](Self::bytes) gives begins.
    pub(crate) fn file(&self) -> (&File, u64) {
        (self.mapping.file(), HEAD as u64)
    }

    /// Whether nobody has changed the file meanwhile.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.mapping.check().is_ok()
    }
}

impl Cache {
    /// The user's cache, if there is a place for one.
    pub(crate) fn of_user(talk: &Talk) -> Option<Self> {
        match Place::of_user() {
            Ok(place) => Some(Self::new(place)),
            Err(NoPlace::Unwanted(why)) => {
                talk.detail(&format!("nothing is cached: {why}"));
                None
            }
            Err(NoPlace::Wrong(why)) => {
                talk.warning(&format!("nothing is cached: {why}"));
                None
            }
        }
    }

    pub(crate) fn new(place: Place) -> Self {
        Self { place, said: Mutex::default() }
    }

    fn path(&self, kind: Kind, key: &Key) -> PathBuf {
        self.place.folder().join(format!("{}-{key}", kind.name()))
    }

    /// What is known under a key. Who asks for an entry keeps it from being the next that is removed.
    pub(crate) fn get(&self, kind: Kind, key: &Key) -> Option<Entry> {
        let path = self.path(kind, key);
        let file = match File::open(&path) {
            Ok(file) => file,
            // What is in the way is told of when something is to be kept.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return None;
            }
            Err(error) => {
                self.say(Said::Detail(format!("the cache's `{}` cannot be read: {error}", path.display())));
                return None;
            }
        };
        // Where only others may do that, the order in which entries go stays. The time of the last change must: it shows changes.
        let _ = file.set_times(FileTimes::new().set_accessed(SystemTime::now()));
        let entry = read(file, key);
        if entry.is_none() {
            let path = path.display();
            self.say(Said::Warning(format!("the cache's `{path}` is damaged: it is not used, and made again")));
            let _ = fs::remove_file(self.path(kind, key));
        }
        entry
    }

    /// Keeps what `parts` are together. Where that cannot be, nothing is kept, which is no failure.
    pub(crate) fn put(&self, kind: Kind, key: &Key, parts: &[Part<'_>]) {
        let size = parts.iter().map(Part::bytes).sum::<u64>() + HEAD as u64;
        if size > self.place.limit() {
            return self.say(Said::Detail(format!("{size} bytes are more than the cache may have")));
        }
        if let Err(error) = self.place.create().and_then(|()| self.write(kind, key, parts)) {
            let folder = self.place.folder().display();
            self.say(Said::Detail(format!("nothing is kept in the cache `{folder}`: {error}")));
        }
    }

    fn write(&self, kind: Kind, key: &Key, parts: &[Part<'_>]) -> io::Result<()> {
        let mut pending = Pending::new(&self.path(kind, key))?;
        for part in [&MAGIC[..], key.bytes(), &[0; HASH]] {
            pending.write_all(part)?;
        }
        let mut body = Hashing { hasher: blake3::Hasher::new(), out: pending.file() };
        for part in parts {
            part.write(&mut body)?;
        }
        let hash = body.hasher.finalize();
        pending.file().write_all_at(hash.as_bytes(), (HEAD - HASH) as u64)?;
        pending.commit()
    }

    fn say(&self, what: Said) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if !said.all.contains(&what) {
            said.all.push(what);
        }
    }

    /// Says what there is to say.
    pub(crate) fn tell(&self, talk: &Talk) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        for message in &said.all[said.told..] {
            match message {
                Said::Warning(text) => talk.warning(text),
                Said::Detail(text) => talk.detail(text),
            }
        }
        said.told = said.all.len();
    }

    /// How many warnings were said that are about the cache itself.
    pub(crate) fn warnings(&self) -> usize {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.all[..said.told].iter().filter(|message| matches!(message, Said::Warning(_))).count()
    }

    /// Removes what was not used for longest, where there is more than the cache may have.
    pub(crate) fn sweep(&self) {
        self.place.sweep();
    }
}

/// The entry in a file, if it is whole and of this key.
fn read(file: File, key: &Key) -> Option<Entry> {
    let mapping = Mapping::new(file).ok()?;
    let bytes = mapping.bytes();
    let part = |range: Range<usize>| bytes.get(range);
    let head = [part(0..16)?, part(16..16 + HASH)?];
    let whole =
        head == [&MAGIC[..], key.bytes()] && *blake3::hash(bytes.get(HEAD..)?).as_bytes() == *part(16 + HASH..HEAD)?;
    (whole && mapping.check().is_ok()).then_some(Entry { mapping })
}

#[cfg(test)]
mod tests {
    use std::io::Seek as _;

    use super::*;

    fn key(of: &str) -> Key {
        KeyMaker::new("test").field(of).key()
    }

    /// Keeps so many bytes under a name, which was last asked for so many seconds ago.
    fn keep(cache: &Cache, name: &str, bytes: usize, ago: u64) {
        cache.put(Kind::Batch, &key(name), &[Part::Bytes(&vec![7; bytes])]);
        let time = SystemTime::now() - std::time::Duration::from_secs(ago);
        let file = File::options().write(true).open(cache.path(Kind::Batch, &key(name))).expect("it is kept");
        file.set_times(FileTimes::new().set_accessed(time).set_modified(time)).expect("times are set");
    }

    #[test]
    fn an_entry_is_what_was_put() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(Place::at(folder.path().join("new/folder"), 1 << 20));
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"..from a file..").expect("written");
        file.rewind().expect("rewound");
        assert!(cache.get(Kind::Batch, &key("a")).is_none());
        cache.put(Kind::Batch, &key("a"), &[Part::Bytes(b"bytes and "), Part::File(&file, 2, 11), Part::Bytes(b"")]);
        let entry = cache.get(Kind::Batch, &key("a")).expect("it is known");
        assert_eq!(entry.bytes(), b"bytes and from a file");
        assert!(entry.is_unchanged());
        assert!(cache.get(Kind::Program, &key("a")).is_none() && cache.get(Kind::Batch, &key("b")).is_none());
        assert_eq!(cache.warnings(), 0);
    }

    #[test]
    fn fields_do_not_run_into_each_other() {
        let key = |fields: [&str; 2]| KeyMaker::new("test").field(fields[0]).field(fields[1]).key();
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_ne!(KeyMaker::new("batch").key(), KeyMaker::new("program").key());
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_the_oldest_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(Place::at(folder.path().to_owned(), 1000));
        cache.put(Kind::Batch, &key("large"), &[Part::Bytes(&[0; 1000])]);
        assert!(cache.get(Kind::Batch, &key("large")).is_none());
        for (name, ago) in [("a", 30), ("b", 20), ("c", 10)] {
            keep(&cache, name, 220, ago);
        }
        cache.sweep();
        assert!(["a", "b", "c"].iter().all(|name| cache.path(Kind::Batch, &key(name)).exists()));
        // Who asks for it keeps it.
        assert!(cache.get(Kind::Batch, &key("a")).is_some());
        keep(&cache, "d", 220, 0);
        cache.sweep();
        let left = ["a", "b", "c", "d"].map(|name| cache.path(Kind::Batch, &key(name)).exists());
        assert_eq!(left, [true, false, true, true]);
    }
}
