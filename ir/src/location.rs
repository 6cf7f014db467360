//! Locations and source texts.
//!
//! A location met while parsing is a position in the [`SourceMap`]: all source texts share one space of 2^31 byte
//! positions, so it costs neither memory nor a hash look-up. Every other location is interned.

use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::attrs::Attr;
use crate::context::{Context, Ident, IntList};

/// Set in a [`Loc`] that is an index into the context's table.
const INTERNED: u32 = 1 << 31;

/// Where an operation, a block argument or a diagnostic comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Loc(u32);

/// What an interned location holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LocData {
    /// `loc(unknown)`
    Unknown,
    /// `loc("file":line:col)` or a range `loc("file":line:col to endline:endcol)`.
    FileLineCol {
        /// File name as written.
        file: Ident,
        /// First line, counted from 1; 0 when unknown.
        line: u32,
        /// First column, counted from 1.
        col: u32,
        /// Last line and column of a range.
        end: Option<(u32, u32)>,
    },
    /// `loc("name"(child))`
    Name {
        /// The name.
        name: Ident,
        /// Location of what is named.
        child: Loc,
    },
    /// `loc(callsite(callee at caller))`
    CallSite {
        /// Location of the callee.
        callee: Loc,
        /// Location of the call.
        caller: Loc,
    },
    /// `loc(fused<metadata>[a, b])`; the locations are kept as raw numbers, see [`Context::fused_locs`].
    Fused {
        /// Raw values of the locations.
        locs: IntList,
        /// Metadata in angle brackets.
        metadata: Option<Attr>,
    },
}

impl Loc {
    /// `loc(unknown)`
    pub const UNKNOWN: Self = Self(INTERNED);

    /// The position in the source map, for a location made by the parser.
    pub fn position(self) -> Option<u32> {
        (self.0 & INTERNED == 0).then_some(self.0)
    }

    /// The location of source position `position`.
    pub fn at(position: u32) -> Self {
        debug_assert!(position & INTERNED == 0);
        Self(position)
    }
}

impl Context {
    /// Interns a location.
    pub fn loc(&self, data: LocData) -> Loc {
        let index = self.locations.intern(data);
        assert!(index & INTERNED == 0, "interned storage is full");
        Loc(index | INTERNED)
    }

    /// Interns `loc("file":line:col)`.
    pub fn file_loc(&self, file: &str, line: u32, col: u32) -> Loc {
        self.loc(LocData::FileLineCol { file: self.ident(file), line, col, end: None })
    }

    /// Interns a fused location. Fused ones in it with the same metadata are taken apart, duplicates and unknown locations
    /// are dropped; one that is left stands for itself.
    pub fn fused_loc(&self, locs: &[Loc], metadata: Option<Attr>) -> Loc {
        let mut kept: Vec<i64> = Vec::with_capacity(locs.len());
        let mut keep = |raw: i64| {
            if !kept.contains(&raw) {
                kept.push(raw);
            }
        };
        for loc in locs {
            match self.loc_data(*loc) {
                LocData::Unknown => {}
                LocData::Fused { locs, metadata: inner } if inner == metadata => {
                    self.ints(locs).iter().for_each(|raw| keep(*raw));
                }
                _ => keep(i64::from(loc.0)),
            }
        }
        if kept.is_empty() && metadata.is_some() {
            kept.push(i64::from(Loc::UNKNOWN.0));
        }
        match (&kept[..], metadata) {
            ([], None) => Loc::UNKNOWN,
            ([one], None) => Loc(*one as u32),
            _ => self.loc(LocData::Fused { locs: self.int_list(&kept), metadata }),
        }
    }

    /// The locations that a fused location holds.
    pub fn fused_locs(&self, locs: IntList) -> impl Iterator<Item = Loc> + '_ {
        self.ints(locs).iter().map(|&raw| Loc(raw as u32))
    }

    /// What a location says. A source position reads as the file, line and column it denotes.
    pub fn loc_data(&self, loc: Loc) -> LocData {
        match loc.position() {
            None => *self.locations.get(loc.0 & !INTERNED),
            Some(position) => match self.sources.find(position) {
                None => LocData::Unknown,
                Some((source, offset)) => {
                    let (line, col) = source.line_col(offset);
                    LocData::FileLineCol { file: self.ident(source.name()), line, col, end: None }
                }
            },
        }
    }

    /// The innermost file, line and column of a location: what a diagnostic points at.
    pub fn file_line_col(&self, loc: Loc) -> Option<(Ident, u32, u32)> {
        let mut pending = vec![loc];
        // A location is a finite tree; the first leaf with a file wins.
        while let Some(loc) = pending.pop() {
            match self.loc_data(loc) {
                LocData::Unknown => {}
                LocData::FileLineCol { file, line, col, .. } => return Some((file, line, col)),
                LocData::Name { child, .. } => pending.push(child),
                LocData::CallSite { callee, caller } => pending.extend([caller, callee]),
                LocData::Fused { locs, .. } => {
                    let at = pending.len();
                    pending.extend(self.fused_locs(locs));
                    pending[at..].reverse();
                }
            }
        }
        None
    }
}

impl Context {
    /// True when a message there says where: a file or a name is known.
    pub(crate) fn has_place(&self, loc: Loc) -> bool {
        loc.position().is_some() || self.file_line_col(loc).is_some() || self.loc_name(loc).is_some()
    }

    /// The name that a location has, such as that of a node of a model: of several the first.
    pub fn loc_name(&self, loc: Loc) -> Option<Ident> {
        let mut pending = vec![loc];
        while let Some(loc) = pending.pop() {
            match self.loc_data(loc) {
                LocData::Name { name, .. } => return Some(name),
                LocData::CallSite { callee, caller } => pending.extend([caller, callee]),
                LocData::Fused { locs, .. } => {
                    let at = pending.len();
                    pending.extend(self.fused_locs(locs));
                    pending[at..].reverse();
                }
                LocData::Unknown | LocData::FileLineCol { .. } => {}
            }
        }
        None
    }
}

/// Text, or a part of a text that is shared rather than copied.
#[derive(Clone, Debug)]
pub struct SourceText {
    whole: Arc<String>,
    range: Range<usize>,
}

impl SourceText {
    /// A part of a text.
    ///
    /// # Panics
    /// When the range ends outside the text or within a character.
    pub fn part(whole: &Arc<String>, range: Range<usize>) -> Self {
        assert!(whole.get(range.clone()).is_some(), "a part of the text");
        Self { whole: whole.clone(), range }
    }
}

impl std::ops::Deref for SourceText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.whole[self.range.clone()]
    }
}

impl<T: Into<String>> From<T> for SourceText {
    fn from(text: T) -> Self {
        let whole = Arc::new(text.into());
        let range = 0..whole.len();
        Self { whole, range }
    }
}

/// One source text.
#[derive(Debug)]
pub struct Source {
    name: String,
    text: SourceText,
    base: u32,
    /// Line of the file at which the text begins, counted from 1.
    first_line: u32,
    line_starts: OnceLock<Vec<u32>>,
}

impl Source {
    /// File name, or `<stdin>`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Position of the first byte in the source map.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Offset of each line's first byte.
    pub fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let newlines = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect()
        })
    }

    /// Line of the file at which the text begins: 1 unless the text is a part of a file.
    pub fn first_line(&self) -> u32 {
        self.first_line
    }

    /// Line (of the file) and column, both counted from 1, columns in bytes, of a byte offset.
    pub fn line_col(&self, offset: u32) -> (u32, u32) {
        let starts = self.line_starts();
        let line = starts.partition_point(|&s| s <= offset);
        (self.first_line - 1 + line as u32, offset - starts[line - 1] + 1)
    }

    /// The location of a byte offset of this text.
    pub fn loc(&self, offset: usize) -> Loc {
        Loc::at(self.base + (offset as u32).min(self.text.len() as u32))
    }
}

/// All source texts of a context, each with its own range of positions.
#[derive(Debug, Default)]
pub struct SourceMap {
    sources: RwLock<Vec<Arc<Source>>>,
    /// What a tool was called with.
    input: RwLock<Option<String>>,
}

/// All source texts of one context together may not exceed 2 GiB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTooLarge {
    /// Name of the text that did not fit.
    pub name: String,
}

impl std::fmt::Display for SourceTooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: the source texts of one run exceed 2 GiB", self.name)
    }
}
impl std::error::Error for SourceTooLarge {}

impl SourceMap {
    /// Adds a text.
    ///
    /// # Errors
    /// When the texts of this context would exceed 2 GiB.
    pub fn add(&self, name: impl Into<String>, text: impl Into<SourceText>) -> Result<Arc<Source>, SourceTooLarge> {
        self.add_part(name, text, 1)
    }

    /// Adds a part of a file, which begins at line `first_line`, counted from 1.
    ///
    /// # Errors
    /// When the texts of this context would exceed 2 GiB.
    pub fn add_part(
        &self,
        name: impl Into<String>,
        text: impl Into<SourceText>,
        first_line: u32,
    ) -> Result<Arc<Source>, SourceTooLarge> {
        let (name, text) = (name.into(), text.into());
        let mut sources = self.sources.write().unwrap_or_else(PoisonError::into_inner);
        // One position past the end belongs to the text, so that errors at the end of input have a place.
        let base = sources.last().map_or(0, |s| u64::from(s.base) + s.text.len() as u64 + 1);
        if base + text.len() as u64 >= u64::from(INTERNED) {
            return Err(SourceTooLarge { name });
        }
        let source = Arc::new(Source { name, text, base: base as u32, first_line, line_starts: OnceLock::new() });
        sources.push(source.clone());
        Ok(source)
    }

    /// Says what the input of a tool is called: messages about it that have no closer place begin with this.
    pub fn set_input(&self, name: impl Into<String>) {
        *self.input.write().unwrap_or_else(PoisonError::into_inner) = Some(name.into());
    }

    /// What the input is called, if a tool said so.
    pub fn input(&self) -> Option<String> {
        self.input.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The text that holds `position`, and the offset in it.
    pub fn find(&self, position: u32) -> Option<(Arc<Source>, u32)> {
        let sources = self.sources.read().unwrap_or_else(PoisonError::into_inner);
        let next = sources.partition_point(|s| s.base <= position);
        let source = sources.get(next.checked_sub(1)?)?;
        let offset = position - source.base;
        (offset as usize <= source.text.len()).then(|| (source.clone(), offset))
    }

    /// The text called `name`, the newest if several are.
    pub fn by_name(&self, name: &str) -> Option<Arc<Source>> {
        let sources = self.sources.read().unwrap_or_else(PoisonError::into_inner);
        sources.iter().rev().find(|s| s.name == name).cloned()
    }
}
