//! What inputs are made from: test files, cut at their split markers, and words.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Texts and words.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Programs.
    pub texts: Vec<String>,
    /// Check files with inputs, each a case of FileCheck's table.
    pub checks: Vec<String>,
    /// Words of the grammar and of the texts.
    pub words: Vec<String>,
    /// Types as written in the texts.
    pub types: Vec<String>,
    /// Attribute values as written in the texts.
    pub attrs: Vec<String>,
    /// Models in ONNX: those of its backend tests that are small.
    pub models: Vec<Vec<u8>>,
}

/// Longer texts are left out: they cost time and say nothing new.
const MAX_TEXT: usize = 12_000;
/// The same of models, in bytes.
const MAX_MODEL: usize = 4_000;

impl Corpus {
    /// Reads the project's tests below `root`.
    ///
    /// # Errors
    /// When a folder cannot be read, or there are no texts.
    pub fn read(root: &Path) -> Result<Self, String> {
        let mut corpus = Self::default();
        let mut files = Vec::new();
        for folder in ["lit-tests", "fuzz/corpus", "tools/opt/tests/diagnostics"] {
            list(&root.join(folder), &mut files)?;
        }
        for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "mlir")) {
            // Files that are no UTF-8 are there to be refused; the mutations make enough of those.
            let Ok(text) = std::fs::read_to_string(file) else { continue };
            corpus.texts.extend(text.split("// -----\n").filter(|t| t.len() <= MAX_TEXT).map(ToString::to_string));
        }
        let mut cases = Vec::new();
        list(&root.join("tools/filecheck/tests/cases"), &mut cases)?;
        for file in &cases {
            let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
            corpus.checks.extend(text.split("\n== ").map(ToString::to_string));
        }
        if corpus.texts.is_empty() || corpus.checks.is_empty() {
            return Err(format!("no tests were found below {}", root.display()));
        }
        corpus.models = models(&root.join("tools/sutura/tests/data/onnx_backend/cases.xz"))?;
        corpus.learn();
        Ok(corpus)
    }

    fn learn(&mut self) {
        let mut words: BTreeSet<&str> = GRAMMAR.split('"').skip(1).step_by(2).filter(|w| w.len() < 40).collect();
        let (mut types, mut attrs) = (BTreeSet::new(), BTreeSet::new());
        for text in &self.texts {
            words.extend(crate::mutate::tokens(text).into_iter().filter(|t| t.len() < 40 && !t.trim().is_empty()));
            types.extend(balanced_after(text, &[": ", "-> ", ", ", "("]).filter(|t| looks_like_type(t)));
            attrs.extend(balanced_after(text, &[" = "]).filter(|t| !t.starts_with('%') && !t.contains('\n')));
        }
        let owned = |set: BTreeSet<&str>| set.into_iter().map(ToString::to_string).collect();
        let found = (owned(words), owned(types), owned(attrs));
        (self.words, self.types, self.attrs) = found;
    }
}

/// The small models of an archive: records of a line `NAME SIZE` and so many bytes.
fn models(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    let fail = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let packed = std::fs::read(path).map_err(|e| fail(&e))?;
    let (mut data, mut found) = (Vec::new(), Vec::new());
    lzma_rs::xz_decompress(&mut packed.as_slice(), &mut data).map_err(|e| fail(&e))?;
    let mut rest = data.as_slice();
    while let Some(end) = rest.iter().position(|b| *b == b'\n') {
        let line = String::from_utf8_lossy(&rest[..end]);
        let size = line.rsplit_once(' ').and_then(|(_, size)| size.parse().ok());
        let split = size.and_then(|size| rest[end + 1..].split_at_checked(size));
        let (model, after) = split.ok_or_else(|| fail(&"the archive is cut"))?;
        found.extend((model.len() <= MAX_MODEL).then(|| model.to_vec()));
        rest = after;
    }
    Ok(found)
}

const GRAMMAR: &str = include_str!("../../grammar/ir.pest");

fn list(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        entries.push(entry.map_err(fail)?.path());
    }
    // The order of a folder is not the same everywhere.
    entries.sort();
    for entry in entries {
        if entry.is_dir() { list(&entry, found)? } else { found.push(entry) }
    }
    Ok(())
}

/// Texts that follow one of `marks`, up to where brackets are closed and the word ends.
fn balanced_after<'t>(text: &'t str, marks: &'static [&'static str]) -> impl Iterator<Item = &'t str> {
    marks.iter().flat_map(move |mark| {
        text.match_indices(mark).filter_map(move |(at, _)| {
            let rest = &text[at + mark.len()..];
            let end = balanced(rest);
            (end > 0 && end < 200).then(|| &rest[..end])
        })
    })
}

fn balanced(text: &str) -> usize {
    let mut depth = 0usize;
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if text[..at].ends_with('-') => {}
            '>' | ')' | ']' | '}' if depth == 0 => return at,
            '>' | ')' | ']' | '}' => depth -= 1,
            ' ' | ',' | '\n' | ':' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

fn looks_like_type(text: &str) -> bool {
    let starts = ["tensor<", "memref<", "vector<", "!", "i", "f", "index", "complex<", "tuple<", "none"];
    starts.iter().any(|s| text.starts_with(s)) && !text.contains(['\n', '%', '@', '='])
}
