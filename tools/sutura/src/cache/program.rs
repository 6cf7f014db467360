//! Whole programs: what is written again when the same model is compiled the same way.
//!
//! Weights are most of an artifact, and many of them lie in it as they lie in the model. Of those the entry says where in the
//! model's files they are; the key holds the hashes of these files. So the cache of a model of gigabytes holds kilobytes.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sutura_codegen as codegen;
use sutura_output::Pending;

use super::key::of_program;
use super::{Cache, Entry, Key, KeyMaker, Kind, Part};
use crate::cli::{CompileArgs, Reading};
use crate::input::{Input, Source};
use crate::machine::Wanted;
use crate::pipeline::Compilation;
use crate::storage::ModelFiles;
use crate::talk::Talk;

/// Less than this is copied, wherever it is from.
const SMALL: usize = 64 << 10;
/// What says how long the list of segments is.
const LENGTH: usize = 8;

/// A part of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum Segment {
    /// So many bytes, which lie behind those of the segments before it.
    Kept { bytes: u64 },
    /// A part of a file of the model, by its number.
    Model { file: usize, at: u64, bytes: u64 },
}

/// What an artifact is made of.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recipe {
    targets: Vec<String>,
    segments: Vec<Segment>,
}

/// An artifact that is known.
pub(crate) struct Known {
    entry: Entry,
    recipe: Recipe,
    /// Where in the entry what is kept begins.
    kept: u64,
}

impl Known {
    pub(crate) fn of(cache: &Cache, key: &Key) -> Option<Self> {
        let entry = cache.get(Kind::Program, key)?;
        let bytes = entry.bytes();
        let length = usize::try_from(u64::from_le_bytes(*bytes.first_chunk::<LENGTH>()?)).ok()?;
        let recipe: Recipe = serde_json::from_slice(bytes.get(LENGTH..LENGTH.checked_add(length)?)?).ok()?;
        let kept = entry.file().1 + (LENGTH + length) as u64;
        Some(Self { entry, recipe, kept })
    }

    /// The machines that the artifact is for.
    pub(crate) fn targets(&self) -> &[String] {
        &self.recipe.targets
    }

    /// Writes the artifact. How long it is; none where a file changed meanwhile.
    pub(crate) fn write(&self, output: &Path, files: &ModelFiles) -> io::Result<Option<u64>> {
        let pending = Pending::new(output)?;
        let (mut kept, mut total) = (self.kept, 0);
        for segment in &self.recipe.segments {
            let (file, at, bytes) = match segment {
                Segment::Kept { bytes } => {
                    kept += bytes;
                    (None, kept - bytes, *bytes)
                }
                Segment::Model { file, at, bytes } => (Some(*file), *at, *bytes),
            };
            let mapping = file.map(|file| files.nth(file).ok_or(io::ErrorKind::InvalidData)).transpose()?;
            let file = mapping.as_ref().map_or(self.entry.file().0, |mapping| mapping.file());
            if copy(file, at, bytes, pending.file())? != bytes {
                return Ok(None);
            }
            total += bytes;
        }
        if !self.entry.is_unchanged() || files.check().is_err() {
            return Ok(None);
        }
        pending.commit()?;
        Ok(Some(total))
    }
}

/// Copies a part of a file to where another one is, without a way through this process where the system can do that.
fn copy(mut from: &File, at: u64, bytes: u64, mut to: &File) -> io::Result<u64> {
    from.seek(SeekFrom::Start(at))?;
    io::copy(&mut from.take(bytes), &mut to)
}

/// Writes an artifact, and keeps in mind what is a part of a file of the model.
pub(crate) struct Recorder<'f> {
    out: BufWriter<File>,
    files: &'f ModelFiles,
    segments: Vec<Segment>,
}

impl<'f> Recorder<'f> {
    pub(crate) fn new(file: File, files: &'f ModelFiles) -> Self {
        Self { out: BufWriter::with_capacity(1 << 20, file), files, segments: Vec::new() }
    }

    /// The file, and what is in it.
    pub(crate) fn finish(self) -> io::Result<Recorded> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Recorded { file, segments: self.segments })
    }

    fn kept(&mut self, more: u64) {
        match self.segments.last_mut() {
            Some(Segment::Kept { bytes }) => *bytes += more,
            _ => self.segments.push(Segment::Kept { bytes: more }),
        }
    }
}

impl Write for Recorder<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let place = (bytes.len() >= SMALL).then(|| self.files.find(bytes)).flatten();
        let Some((number, at, mapping)) = place else {
            let written = self.out.write(bytes)?;
            self.kept(written as u64);
            return Ok(written);
        };
        self.out.flush()?;
        let (file, bytes) = (number, bytes.len() as u64);
        let copied = copy(mapping.file(), at, bytes, self.out.get_ref())?;
        self.segments.push(Segment::Model { file, at, bytes: copied });
        Ok(usize::try_from(copied).unwrap_or(usize::MAX))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// An artifact that was written.
pub(crate) struct Recorded {
    file: File,
    segments: Vec<Segment>,
}

impl Recorded {
    /// How long it is.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |segment: &Segment| match segment {
            Segment::Kept { bytes } | Segment::Model { bytes, .. } => *bytes,
        };
        self.segments.iter().map(bytes).sum()
    }

    /// Keeps it.
    pub(crate) fn keep(self, cache: &Cache, key: &Key, targets: &[&str]) {
        let targets = targets.iter().map(|&target| target.to_owned()).collect();
        let recipe = Recipe { targets, segments: self.segments };
        let Ok(list) = serde_json::to_vec(&recipe) else { return };
        let length = (list.len() as u64).to_le_bytes();
        let mut parts = vec![Part::Bytes(&length), Part::Bytes(&list)];
        let mut at = 0;
        for segment in &recipe.segments {
            let (Segment::Kept { bytes } | Segment::Model { bytes, .. }) = segment;
            if matches!(segment, Segment::Kept { .. }) {
                parts.push(Part::File(&self.file, at, *bytes));
            }
            at += bytes;
        }
        cache.put(Kind::Program, key, &parts);
    }
}

/// The key of a compilation; none for one that has to be done, because more than the artifact is wanted of it.
pub(crate) fn program_key(args: &CompileArgs, compilation: &Compilation, source: &Source, talk: &Talk) -> Option<Key> {
    // All of them, so that a new one is not forgotten.
    let CompileArgs {
        model,
        output,
        target,
        target_file,
        likely,
        dims,
        emit,
        prefix: _,
        emit_dir,
        remarks,
        report,
        report_sizes: _,
        report_measure: _,
        report_asm: _,
        search,
        tune,
        tune_cache: _,
        tune_sizes: _,
        tune_threads: _,
        kernels,
        index_limit,
        reproducer: _,
        threads: _,
        no_cache: _,
        reading,
    } = args;
    let more = emit.is_some() || emit_dir.is_some() || remarks.is_some() || report.is_some() || *tune;
    let replaced = output.as_ref().is_some_and(|path| !path.exists() || path.is_file());
    if more || !replaced || talk.shows_remarks() || compilation.is_watched() {
        return None;
    }
    let Reading { allow_data_from: _, max_input: _, operators, shape } = reading;
    let mut key = KeyMaker::new("program");
    key.field(linker()?).field(&source.hash);
    match &source.input {
        Input::Onnx(_) => key.field(model.file_name()?.as_encoded_bytes()),
        Input::Text(_) => key.field(model.as_os_str().as_encoded_bytes()),
    };
    for hash in compilation.files.hashes() {
        key.field(hash);
    }
    let files = [&dims.dims, &kernels.schedule].into_iter().flatten().chain(operators);
    for file in files {
        key.field(file.as_os_str().as_encoded_bytes()).field(std::fs::read(file).ok()?);
    }
    let sizes = (likely, &dims.dim, dims.dims.is_some());
    let flags = (sizes, search, kernels, index_limit);
    key.field(format!("{flags:?}")).field(format!("{shape:?}"));
    let names = if target.is_empty() { vec![None] } else { target.iter().map(|name| Some(name.as_str())).collect() };
    let (quiet, _) = Talk::kept_silent();
    for name in names {
        let wanted = Wanted { name, file: target_file.as_deref() };
        let (machine, _) = wanted.find(&compilation.cx, &quiet).ok()?;
        key.field(format!("{name:?} {:?}", machine.desc)).target(&machine.target);
    }
    Some(key.key())
}

/// What links.
fn linker() -> Option<String> {
    match codegen::Linker::find().ok()? {
        codegen::Linker::Lld(path) | codegen::Linker::Cc(path) => Some(of_program(&path)),
    }
}
