//! Memory of a kernel: its views, who wrote what, and the checks of accesses.
//!
//! The caller's buffers are copied in and, after a run without fault, copied out, so a kernel that faults leaves them
//! as they were. Elements may also be read and written where the caller has them.

use std::collections::HashSet;

use smallvec::SmallVec;
use sutura_interp::{Buffer, DType, Fault, FaultKind, Scalar};

use super::elements::{Elements, InPlace, Row};
use super::tile::{Lanes, Rect, Span, Tile, Window};
use crate::gir::kernel::Mode;

/// Who accesses memory, and after how many syncs of its group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Actor {
    pub(super) group: u32,
    pub(super) unit: u32,
    pub(super) epoch: u32,
}

/// One bit per element, in pages: one whose bits are all the same takes no memory.
#[derive(Debug)]
struct Bits {
    pages: Vec<Page>,
    len: usize,
    /// Bits that are set.
    count: usize,
}

/// Elements of a page, a multiple of the bits of a word.
const PAGE: usize = 1 << 15;

#[derive(Debug)]
enum Page {
    None,
    Some { words: Box<[u64]>, count: usize },
    All,
}

impl Bits {
    fn new(len: usize) -> Self {
        Self { pages: (0..len.div_ceil(PAGE)).map(|_| Page::None).collect(), len, count: 0 }
    }

    fn all(&self) -> bool {
        self.count == self.len
    }

    fn get(&self, i: usize) -> bool {
        match &self.pages[i / PAGE] {
            Page::None => false,
            Page::Some { words, .. } => words[i % PAGE / 64] >> (i % 64) & 1 == 1,
            Page::All => true,
        }
    }

    /// Sets bits beside each other that lie in one page and are not set; false where that is not so, and then nothing is set.
    fn set_run(&mut self, start: usize, len: usize) -> bool {
        let (page, first) = (start / PAGE, start % PAGE);
        if len == 0 || first + len > PAGE {
            return false;
        }
        let bits = (self.len - page * PAGE).min(PAGE);
        let page = &mut self.pages[page];
        if let Page::None = page {
            *page = Page::Some { words: vec![0; bits.div_ceil(64)].into(), count: 0 };
        }
        let Page::Some { words, count } = page else { return false };
        let masks = |at: usize| {
            let (lo, hi) = (first.max(at * 64) - at * 64, (first + len).min(at * 64 + 64) - at * 64);
            (u64::MAX >> (64 - (hi - lo))) << lo
        };
        let touched = first / 64..(first + len).div_ceil(64);
        if touched.clone().any(|at| words[at] & masks(at) != 0) {
            return false;
        }
        touched.for_each(|at| words[at] |= masks(at));
        *count += len;
        self.count += len;
        if *count == PAGE {
            *page = Page::All;
        }
        true
    }

    /// Sets a bit and returns what it was.
    fn set(&mut self, i: usize) -> bool {
        let page = &mut self.pages[i / PAGE];
        if let Page::None = page {
            let bits = (self.len - i / PAGE * PAGE).min(PAGE);
            *page = Page::Some { words: vec![0; bits.div_ceil(64)].into(), count: 0 };
        }
        let Page::Some { words, count } = page else { return true };
        let (word, bit) = (&mut words[i % PAGE / 64], 1 << (i % 64));
        if *word & bit != 0 {
            return true;
        }
        *word |= bit;
        *count += 1;
        self.count += 1;
        if *count == PAGE {
            *page = Page::All;
        }
        false
    }
}

/// Last accesses to an element that several units may reach.
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    writer: Option<Actor>,
    reader: Option<Actor>,
    /// Another unit than `reader` read in the same epoch.
    other_unit_read: bool,
    /// Another group than `reader`'s read.
    other_group_read: bool,
}

/// What is recorded of accesses.
#[derive(Debug)]
enum Shadow {
    /// Nothing: only read, all defined.
    ReadOnly,
    /// Only read; the elements that hold something.
    ReadDefined(Bits),
    /// Only written; the elements that were.
    Once(Bits),
    /// Of one unit; the elements that were written.
    Own(Bits),
    /// Of several units.
    Shared(Vec<Track>),
}

/// A run of memory.
#[derive(Debug)]
struct Cell<'m> {
    name: String,
    dtype: DType,
    elements: Elements<'m>,
    shadow: Shadow,
    /// Elements to which asynchronous copies are on their way.
    awaited: HashSet<usize>,
    /// True when it belongs to one group: accesses of other groups are impossible.
    of_group: bool,
}

/// A view: dimensions and strides over a cell.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) cell: usize,
    pub(super) dims: SmallVec<[i64; 4]>,
    pub(super) strides: SmallVec<[i64; 4]>,
}

/// Rows or columns of a slice: those that exist, and the distance between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) span: Span,
    pub(super) stride: i64,
}

/// A window of a view.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    cell: usize,
    base: i64,
    rows: usize,
    cols: usize,
    row: Line,
    col: Line,
}

/// A dimension along which a slice runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Along {
    pub(super) dim: usize,
    pub(super) step: i64,
}

impl View {
    /// Row-major strides of `dims`.
    pub(super) fn row_major(dims: &[i64]) -> SmallVec<[i64; 4]> {
        let mut strides: SmallVec<[i64; 4]> = dims.iter().map(|_| 1).collect();
        for i in (0..dims.len().saturating_sub(1)).rev() {
            strides[i] = strides[i + 1].saturating_mul(dims[i + 1].max(1));
        }
        strides
    }

    /// The same elements with other sizes, row-major.
    pub(super) fn reshaped(&self, dims: &SmallVec<[i64; 4]>) -> Result<Self, Fault> {
        let count = |dims: &[i64]| dims.iter().try_fold(1i64, |n, d| n.checked_mul(*d));
        if count(&self.dims).is_none() || count(&self.dims) != count(dims) {
            let message = format!("sizes {:?} and {dims:?} hold different numbers of elements", self.dims);
            return Err(Fault::shape(message));
        }
        Ok(Self { cell: self.cell, dims: dims.clone(), strides: Self::row_major(dims) })
    }

    /// Number of elements that indices reach, from the first; `None` when it overflows or a stride is negative.
    pub(super) fn reach(&self) -> Option<usize> {
        if self.dims.contains(&0) {
            return Some(0);
        }
        let mut last = 0i64;
        for (d, s) in self.dims.iter().zip(&self.strides) {
            last = last.checked_add(d.checked_sub(1)?.checked_mul(*s).filter(|_| *s >= 0)?)?;
        }
        usize::try_from(last.checked_add(1)?).ok()
    }

    /// The slice from `offsets` on, of which nothing exists where the offset of one of `clips` lies outside.
    pub(super) fn slice(
        &self,
        offsets: &[i64],
        (row, rows): (Option<Along>, usize),
        (col, cols): (Option<Along>, usize),
        clips: &[usize],
    ) -> Result<Slice, Fault> {
        let along = |line: Option<Along>, i: usize| line.filter(|a| a.dim == i);
        let (mut base, mut exists) = (0i64, true);
        for (i, (&offset, (&size, &stride))) in offsets.iter().zip(self.dims.iter().zip(&self.strides)).enumerate() {
            let fixed = along(row, i).is_none() && along(col, i).is_none();
            let outside = fixed && !(0..size).contains(&offset);
            exists &= !outside;
            if outside && !clips.contains(&i) {
                let message = format!("index {offset} of dimension {i} lies outside its size {size}");
                return Err(Fault::new(FaultKind::OutOfBounds, message));
            }
            base = offset.checked_mul(stride).and_then(|o| base.checked_add(o)).ok_or_else(overflow)?;
        }
        let line = |line: Option<Along>, extent: usize| match line {
            _ if !exists => Ok(Line { span: Span { lo: 0, hi: 0 }, stride: 0 }),
            None => Ok(Line { span: Span::full(extent), stride: 0 }),
            Some(a) => {
                let stride = self.strides[a.dim].checked_mul(a.step).ok_or_else(overflow)?;
                Ok(Line { span: clip(offsets[a.dim], a.step, self.dims[a.dim], extent), stride })
            }
        };
        let (row, col) = (line(row, rows)?, line(col, cols)?);
        Ok(Slice { cell: self.cell, base, rows, cols, row, col })
    }
}

fn overflow() -> Fault {
    Fault::new(FaultKind::OutOfBounds, "an index overflows")
}

/// The `i` in `[0, extent)` for which `0 <= offset + i * step < size`.
fn clip(offset: i64, step: i64, size: i64, extent: usize) -> Span {
    let ceil_div = |a: i128, b: i64| -(-a).div_euclid(i128::from(b));
    let first = ceil_div(-i128::from(offset), step).max(0);
    let end = ceil_div(i128::from(size) - i128::from(offset), step).clamp(0, extent as i128);
    if first >= end { Span { lo: 0, hi: 0 } } else { Span { lo: first as usize, hi: end as usize } }
}

impl Slice {
    /// What of it exists.
    pub(super) fn window(&self) -> Rect {
        Rect { rows: self.row.span, cols: self.col.span }
    }

    /// What of it a copy from another slice writes.
    fn copied(&self, from: &Self, zeros: bool) -> Rect {
        if zeros { self.window() } else { self.window().and(from.window()) }
    }

    /// The rows of a part of it: where each begins, and how many elements it has.
    fn runs(&self, part: Rect) -> impl Iterator<Item = (i64, usize)> {
        let (first, len) = (part.cols.lo, part.cols.len());
        let rows = part.rows.range().filter(move |_| len > 0);
        rows.map(move |row| (self.place(row, first), len))
    }

    fn place(&self, row: usize, col: usize) -> i64 {
        self.base + row as i64 * self.row.stride + col as i64 * self.col.stride
    }
}

/// All memory of a launch.
#[derive(Default, Debug)]
pub(super) struct Memory<'m> {
    cells: Vec<Cell<'m>>,
    /// Cells of the kernel's views; what comes after belongs to the current group.
    params: usize,
}

impl<'m> Memory<'m> {
    /// Takes over a buffer as one of the kernel's views. Returns its cell.
    pub(super) fn add_param(&mut self, name: String, buffer: &Buffer, mode: Mode) -> usize {
        let (dtype, len) = (buffer.dtype(), buffer.len());
        let lanes = match (mode, buffer.as_f32()) {
            (Mode::Out, _) => Lanes::zeros(dtype, len),
            (_, Some(values)) => Lanes::F32(values.to_vec()),
            _ => {
                let mut lanes = Lanes::zeros(dtype, len);
                (0..len).for_each(|i| lanes.set_bits(i, buffer.get(i).map_or(0, Scalar::bits)));
                lanes
            }
        };
        let shadow = match mode {
            Mode::In if buffer.undefined_count() == 0 => Shadow::ReadOnly,
            Mode::In => {
                let mut bits = Bits::new(len);
                (0..len).filter(|i| buffer.is_defined(*i)).for_each(|i| {
                    bits.set(i);
                });
                Shadow::ReadDefined(bits)
            }
            Mode::Out => Shadow::Once(Bits::new(len)),
            Mode::InOut => {
                // What the caller wrote counts as written before the launch: by a group that does not exist.
                let before = Actor { group: u32::MAX, unit: 0, epoch: 0 };
                let track = |i| Track { writer: buffer.is_defined(i).then_some(before), ..Track::default() };
                Shadow::Shared((0..len).map(track).collect())
            }
        };
        self.push_param(Cell {
            name,
            dtype,
            elements: Elements::Own(lanes),
            shadow,
            awaited: HashSet::new(),
            of_group: false,
        })
    }

    /// Takes what lies in the caller's memory as one of the kernel's views. Returns its cell; `None` where bytes are not as many
    /// as the elements need.
    pub(super) fn add_in_place(&mut self, name: String, given: InPlace<'m>) -> Option<usize> {
        let dtype = given.dtype();
        let elements = Elements::of(given)?;
        let shadow = match &elements {
            Elements::Constant { .. } => Shadow::ReadOnly,
            _ => Shadow::Once(Bits::new(elements.len())),
        };
        Some(self.push_param(Cell { name, dtype, elements, shadow, awaited: HashSet::new(), of_group: false }))
    }

    fn push_param(&mut self, cell: Cell<'m>) -> usize {
        self.cells.push(cell);
        self.params = self.cells.len();
        self.params - 1
    }

    /// Number of elements of a cell.
    pub(super) fn len(&self, cell: usize) -> usize {
        self.cells[cell].elements.len()
    }

    /// Memory that lives until the group ends.
    pub(super) fn alloc(&mut self, name: String, dtype: DType, len: usize, shared: bool) -> usize {
        let shadow = if shared { Shadow::Shared(vec![Track::default(); len]) } else { Shadow::Own(Bits::new(len)) };
        let elements = Elements::Own(Lanes::zeros(dtype, len));
        self.cells.push(Cell { name, dtype, elements, shadow, awaited: HashSet::new(), of_group: true });
        self.cells.len() - 1
    }

    /// Element type of what a slice lies in.
    pub(super) fn dtype(&self, slice: &Slice) -> DType {
        self.cells[slice.cell].dtype
    }

    /// Forgets what the current group allocated.
    pub(super) fn end_group(&mut self) {
        self.cells.truncate(self.params);
    }

    /// Reads a slice into a tile.
    pub(super) fn load(&mut self, slice: &Slice, who: Actor) -> Result<Tile, Fault> {
        let cell = &mut self.cells[slice.cell];
        let window = slice.window();
        let mut tile = Tile::new(cell.dtype, slice.rows, slice.cols, Window::of(window))?;
        for r in window.rows.range() {
            let (at, len) = (r * slice.cols + window.cols.lo, window.cols.len());
            let start = slice.place(r, window.cols.lo);
            if len > 0 {
                cell.read(start, slice.col.stride, len, who)?;
                cell.elements.gather(&mut tile.lanes, at, (start as usize, slice.col.stride), len);
            }
        }
        Ok(tile)
    }

    /// Writes what of a tile exists to what of a slice exists. Returns the number of elements.
    pub(super) fn store(&mut self, tile: &Tile, slice: &Slice, who: Actor) -> Result<usize, Fault> {
        let cell = &mut self.cells[slice.cell];
        let window = slice.window().and(tile.window.rect);
        let stored = Tile { window: Window::of(window), lanes: Lanes::Bits(Vec::new()), ..*tile };
        stored.need_defined("stores")?;
        for r in window.rows.range() {
            let (at, len) = (r * slice.cols + window.cols.lo, window.cols.len());
            let start = slice.place(r, window.cols.lo);
            if len > 0 {
                cell.write(start, slice.col.stride, len, who)?;
                cell.elements.scatter((start as usize, slice.col.stride), &tile.lanes, at, len);
            }
        }
        Ok(window.area())
    }

    /// Copies what a load of `from`, padded with `pad`, and a store of the tile to `to` would; false where they do not lie in the
    /// caller's memory, or their elements are not whole bytes.
    pub(super) fn transfer(
        &mut self,
        from: &Slice,
        to: &Slice,
        pad: Option<Scalar>,
        who: Actor,
    ) -> Result<bool, Fault> {
        let Ok([source, target]) = self.cells.get_disjoint_mut([from.cell, to.cell]) else { return Ok(false) };
        if source.dtype != target.dtype || (from.rows, from.cols) != (to.rows, to.cols) {
            return Ok(false);
        }
        let there = from.window();
        let window = if pad.is_some() { to.window() } else { to.window().and(there) };
        let (first, len) = (window.cols.lo, window.cols.len());
        for r in window.rows.range().filter(|_| len > 0) {
            let start = to.place(r, first);
            target.write(start, to.col.stride, len, who)?;
            let row = Row { start: start as usize, stride: to.col.stride, len };
            if let Some(pad) =
                pad.filter(|_| !there.covers(Rect { rows: Span { lo: r, hi: r + 1 }, cols: window.cols }))
            {
                target.elements.fill_row(row, pad);
            }
            let cols = Span { lo: first.max(there.cols.lo), hi: (first + len).min(there.cols.hi) };
            if !there.rows.range().contains(&r) || cols.len() == 0 {
                continue;
            }
            let row = Row { start: to.place(r, cols.lo) as usize, len: cols.len(), ..row };
            let read = Row { start: from.place(r, cols.lo) as usize, stride: from.col.stride, len: cols.len() };
            if !target.elements.copy_row(row, &source.elements, read) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes what was written so far for not written.
    pub(super) fn forget_written(&mut self) {
        for cell in &mut self.cells {
            if let Shadow::Once(bits) = &mut cell.shadow {
                *bits = Bits::new(bits.len);
            }
        }
    }

    /// Begins an asynchronous copy: what it writes is as good as written, and nobody may touch it.
    pub(super) fn begin_copy(&mut self, from: &Slice, to: &Slice, zeros: bool, who: Actor) -> Result<(), Fault> {
        let cell = &mut self.cells[to.cell];
        let window = to.copied(from, zeros);
        for (start, len) in to.runs(window) {
            cell.write(start, to.col.stride, len, who)?;
            cell.awaited.extend((0..len).map(|k| (start + k as i64 * to.col.stride) as usize));
        }
        Ok(())
    }

    /// Ends an asynchronous copy, which writes now.
    pub(super) fn end_copy(&mut self, from: &Slice, to: &Slice, zeros: bool) {
        let cell = &mut self.cells[to.cell];
        for (start, len) in to.runs(to.copied(from, zeros)) {
            (0..len).for_each(|k| {
                cell.awaited.remove(&((start + k as i64 * to.col.stride) as usize));
            });
        }
    }

    /// Fails at the first element of an `out` view that nothing was written to.
    pub(super) fn check_written(&self, view: &View) -> Result<(), Fault> {
        let cell = &self.cells[view.cell];
        let Shadow::Once(written) = &cell.shadow else { return Ok(()) };
        if written.all() || view.dims.contains(&0) {
            return Ok(());
        }
        let mut index: SmallVec<[i64; 4]> = view.dims.iter().map(|_| 0).collect();
        let (mut first, mut count) = (None, 0usize);
        loop {
            let at: i64 = index.iter().zip(&view.strides).map(|(i, s)| i * s).sum();
            if !written.get(at as usize) {
                count += 1;
                first.get_or_insert_with(|| index.clone());
            }
            if !advance(&mut index, &view.dims) {
                break;
            }
        }
        let Some(first) = first else { return Ok(()) };
        let message = format!("never writes element {first:?} of {} ({count} elements in all)", cell.name);
        Err(Fault::new(FaultKind::Assertion, message))
    }

    /// Copies what was written back into the caller's buffer.
    pub(super) fn copy_out(&self, cell: usize, buffer: &mut Buffer) {
        let cell = &self.cells[cell];
        let written = |i: usize| match &cell.shadow {
            Shadow::Once(bits) => bits.get(i),
            Shadow::Shared(tracks) => tracks[i].writer.is_some(),
            _ => true,
        };
        cell.elements.copy_out(cell.dtype, written, buffer);
    }
}

/// Advances a row-major multi-index; false after the last one.
fn advance(index: &mut [i64], dims: &[i64]) -> bool {
    for (i, &size) in index.iter_mut().zip(dims).rev() {
        *i += 1;
        if *i < size {
            return true;
        }
        *i = 0;
    }
    false
}

impl Cell<'_> {
    /// Fails where a copy is on its way to one of `len` elements, `stride` apart.
    fn has_landed(&self, does: &str, (start, stride): (i64, i64), len: usize) -> Result<(), Fault> {
        if self.awaited.is_empty() {
            return Ok(());
        }
        let mut places = (0..len).map(|k| (start + k as i64 * stride) as usize);
        let Some(at) = places.find(|at| self.awaited.contains(at)) else { return Ok(()) };
        let message =
            format!("{does} element {at} of {}, to which a copy is on its way without a gir.async_wait", self.name);
        Err(Fault::new(FaultKind::Assertion, message))
    }

    /// Checks a read of `len` elements, `stride` apart.
    fn read(&mut self, start: i64, stride: i64, len: usize, who: Actor) -> Result<(), Fault> {
        self.has_landed("reads", (start, stride), len)?;
        let place = |k: usize| (start + k as i64 * stride) as usize;
        let name = &self.name;
        match &mut self.shadow {
            Shadow::ReadOnly => Ok(()),
            Shadow::Once(_) => {
                Err(Fault::new(FaultKind::Assertion, format!("reads {name}, which the kernel only writes")))
            }
            Shadow::ReadDefined(bits) | Shadow::Own(bits) => match (0..len).find(|k| !bits.get(place(*k))) {
                None => Ok(()),
                Some(k) => Err(unwritten(name, place(k))),
            },
            Shadow::Shared(tracks) => {
                for k in 0..len {
                    let at = place(k);
                    tracks[at].read(who, self.of_group).map_err(|why| match why {
                        None => unwritten(name, at),
                        Some(why) => Fault::new(FaultKind::Assertion, format!("reads element {at} of {name}, {why}")),
                    })?;
                }
                Ok(())
            }
        }
    }

    /// Checks a write of `len` elements, `stride` apart.
    fn write(&mut self, start: i64, stride: i64, len: usize, who: Actor) -> Result<(), Fault> {
        self.has_landed("writes", (start, stride), len)?;
        let place = |k: usize| (start + k as i64 * stride) as usize;
        let name = &self.name;
        let fault = |message: String| Err(Fault::new(FaultKind::Assertion, message));
        if let Shadow::Once(bits) = &mut self.shadow
            && stride == 1
            && bits.set_run(start as usize, len)
        {
            return Ok(());
        }
        match &mut self.shadow {
            Shadow::ReadOnly | Shadow::ReadDefined(_) => fault(format!("writes {name}, which the kernel only reads")),
            Shadow::Once(bits) => match (0..len).find(|k| bits.set(place(*k))) {
                None => Ok(()),
                Some(k) => fault(format!("writes element {} of {name} a second time", place(k))),
            },
            Shadow::Own(bits) => {
                (0..len).for_each(|k| {
                    bits.set(place(k));
                });
                Ok(())
            }
            Shadow::Shared(tracks) => {
                for k in 0..len {
                    let at = place(k);
                    if let Err(why) = tracks[at].write(who, self.of_group) {
                        return fault(format!("writes element {at} of {name}, {why}"));
                    }
                }
                Ok(())
            }
        }
    }
}

fn unwritten(name: &str, at: usize) -> Fault {
    Fault::new(FaultKind::Uninitialised, format!("reads element {at} of {name}, to which nothing was written"))
}

const NO_ORDER: &str = "and nothing orders groups within a launch";
const NO_SYNC: &str = "without a gir.sync between";

impl Track {
    /// True when accesses of the two need an order that nothing gives.
    fn clash(a: Actor, b: Actor, of_group: bool) -> Option<&'static str> {
        // Accesses of an earlier group to memory of a group that ended are impossible.
        if !of_group && a.group != b.group && a.group != u32::MAX {
            return Some(NO_ORDER);
        }
        (a.group == b.group && a.unit != b.unit && a.epoch == b.epoch).then_some(NO_SYNC)
    }

    /// Records a read; `Err(None)` when nothing was written.
    fn read(&mut self, who: Actor, of_group: bool) -> Result<(), Option<String>> {
        let writer = self.writer.ok_or(None)?;
        if let Some(why) = Self::clash(writer, who, of_group) {
            return Err(Some(format!("which {} wrote, {why}", describe(writer, who))));
        }
        if let Some(reader) = self.reader {
            let same_group = reader.group == who.group;
            self.other_group_read |= !same_group && !of_group;
            let at_once = same_group && reader.epoch == who.epoch;
            self.other_unit_read = at_once && (self.other_unit_read || reader.unit != who.unit);
        }
        self.reader = Some(who);
        Ok(())
    }

    fn write(&mut self, who: Actor, of_group: bool) -> Result<(), String> {
        if let Some(writer) = self.writer
            && let Some(why) = Self::clash(writer, who, of_group)
        {
            return Err(format!("which {} wrote, {why}", describe(writer, who)));
        }
        if let Some(reader) = self.reader {
            if self.other_group_read {
                return Err(format!("which several groups read, {NO_ORDER}"));
            }
            if let Some(why) = Self::clash(reader, who, of_group) {
                return Err(format!("which {} read, {why}", describe(reader, who)));
            }
            if self.other_unit_read && reader.epoch == who.epoch {
                return Err(format!("which several units read, {NO_SYNC}"));
            }
        }
        self.writer = Some(who);
        Ok(())
    }
}

fn describe(other: Actor, who: Actor) -> String {
    if other.group != who.group { format!("group {}", other.group) } else { format!("unit {}", other.unit) }
}
