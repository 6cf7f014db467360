//! Operations of a large file, read by several threads.
//!
//! The text of a region is cut where an operation ends and the next line begins one by its full name. Every piece is
//! read by a driver of its own, and what it made moves into the region, in order. That is right only for operations
//! that need nothing of each other: isolated ones without operands and results. Where a piece holds anything else, or
//! has an error, nothing of it all is kept and the text is read in order, so what comes out, diagnostics included, is
//! what one thread gives.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sutura_ir::asm::TextInfo;
use sutura_ir::body::{Body, OpHeader};
use sutura_ir::builder::Builder;
use sutura_ir::context::Context;

use super::Driver;
use crate::ParseOptions;
use crate::blank::string_end;
use crate::reader::{AliasTable, Reader};
use crate::rules::Span;
use crate::scan::skip_blank;
use crate::units::Units;

/// Less text than this is not worth a thread.
const MIN_PIECE: usize = 1 << 16;

/// Pieces for each thread, so that one with much to do does not hold up the others.
const PIECES_PER_THREAD: usize = 4;

/// What a piece of the text became.
struct Read {
    ops: Vec<(OpHeader, Box<Body>)>,
    text_info: TextInfo,
}

/// What all pieces share.
struct Shared<'t> {
    cx: &'t Context,
    text: &'t str,
    base: u32,
    options: &'t ParseOptions,
    aliases: &'t AliasTable<'t>,
    default_dialect: &'static str,
    /// Aliases and resources may stand here.
    at_file_level: bool,
}

impl<'t> Driver<'t> {
    /// Reads what follows in the innermost region by several threads, if that can be done.
    pub(super) fn read_in_parallel(&mut self) {
        let threads = self.reader.options.threads;
        let from = self.units.position();
        let keeps_layout = self.text_info.layout.is_some();
        if self.damaged || threads < 2 || keeps_layout || self.reader.text.len() - from < 2 * MIN_PIECE {
            return;
        }
        let Some((pieces, end)) = pieces(self.reader.text, from, threads) else { return };
        let region = &self.frames.last().expect("the file is a region").region;
        let shared = Shared {
            cx: self.reader.cx,
            text: self.reader.text,
            base: self.reader.base,
            options: self.reader.options,
            aliases: &self.reader.aliases,
            default_dialect: region.default_dialect,
            at_file_level: self.frames.len() == 1,
        };
        let Some(read) = read_pieces(&shared, &pieces, threads) else { return };
        self.units.restart_at(end);
        let block = self.current_block();
        let cx = self.cx();
        for piece in read {
            let level = self.levels.last_mut().expect("the file has a level");
            let mut builder = Builder::at_end(cx, &mut level.body, block);
            for (header, body) in piece.ops {
                builder.create_from_parts(header, &[], &[], &[], 0, Some(body));
            }
            self.text_info.aliases.extend(piece.text_info.aliases);
            self.text_info.resources.extend(piece.text_info.resources);
        }
    }

    /// False when the last operation of the outermost block has no body of its own.
    fn last_is_isolated(&self) -> bool {
        let body = &self.levels[0].body;
        let last = body.entry_block().and_then(|block| body.last_op(block));
        last.is_none_or(|op| body.nested(op).is_some())
    }

    /// Reads all of a piece of the text; `None` when it is not made of operations that need nothing of each other.
    fn read_piece(mut self, shared: &Shared<'_>, stop: &AtomicBool) -> Option<Read> {
        while let Some(unit) = self.units.next().ok()? {
            self.unit(unit).ok()?;
            if self.damaged || stop.load(Ordering::Relaxed) || !self.last_is_isolated() {
                return None;
            }
        }
        let level = self.levels.pop()?;
        let is_complete = self.frames.len() == 1 && self.levels.is_empty() && level.scope.undefined().is_empty();
        // Distinct attributes are numbered as they come.
        if !is_complete || !self.reader.diags.is_empty() || self.reader.has_distinct() {
            return None;
        }
        let has_file_parts = !self.text_info.aliases.is_empty() || !self.text_info.resources.is_empty();
        if has_file_parts && !shared.at_file_level {
            return None;
        }
        let mut body = level.body;
        let block = body.entry_block()?;
        let ops: Vec<_> = body.ops(block).collect();
        let mut taken = Vec::with_capacity(ops.len());
        for op in ops {
            if body.operands(op).next().is_some()
                || body.results(op).next().is_some()
                || !body.successors(op).is_empty()
            {
                return None;
            }
            let header =
                OpHeader { name: body.name(op), loc: body.loc(op), props: body.props(op), attrs: body.attrs(op) };
            let nested = Builder::new(shared.cx, &mut body).take_nested(op)?;
            taken.push((header, nested));
        }
        Some(Read { ops: taken, text_info: self.text_info })
    }
}

fn read_pieces(shared: &Shared<'_>, pieces: &[Span], threads: usize) -> Option<Vec<Read>> {
    let stop = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Read>>> = Mutex::new(pieces.iter().map(|_| None).collect());
    let work = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(n).filter(|_| !stop.load(Ordering::Relaxed)) else { return };
            let mut reader = Reader::new(shared.cx, shared.text, shared.base, shared.options);
            reader.aliases = shared.aliases.clone();
            let mut driver = Driver::new(reader);
            driver.units = Units::new(&shared.text[..piece.end]);
            driver.units.restart_at(piece.start);
            driver.frames[0].region.default_dialect = shared.default_dialect;
            match driver.read_piece(shared, &stop) {
                Some(read) => done.lock().expect("no thread panics while it holds this")[n] = Some(read),
                None => stop.store(true, Ordering::Relaxed),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(pieces.len()) {
            // Without another thread this one does all the work.
            let _ =
                std::thread::Builder::new().name("parser".into()).stack_size(crate::STACK).spawn_scoped(scope, work);
        }
        work();
    });
    done.into_inner().ok()?.into_iter().collect()
}

/// Cuts the rest of the region that goes on at `from`; also returns where the region, or the file, ends. `None` when
/// there are no places to cut it at.
fn pieces(text: &str, from: usize, threads: usize) -> Option<(Vec<Span>, usize)> {
    let bytes = text.as_bytes();
    let least = MIN_PIECE.max((bytes.len() - from) / (threads * PIECES_PER_THREAD));
    let most_first = (bytes.len() - from) / 2;
    let (mut depth, mut at, mut start) = (0usize, from, from);
    let mut pieces = Vec::new();
    let mut end = bytes.len();
    while let Some(n) = memchr::memchr3(b'{', b'}', b'"', &bytes[at..]) {
        at += n;
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'{' => depth += 1,
            _ if depth == 0 => {
                end = at;
                break;
            }
            _ => depth -= 1,
        }
        at += 1;
        if depth != 0 || at - start < least {
            // One operation that is most of the text leaves nothing to divide.
            if pieces.is_empty() && at - from > most_first {
                return None;
            }
            continue;
        }
        if let Some(cut) = cut_after(text, at) {
            pieces.push(Span::new(start, cut));
            (start, at) = (cut, cut);
        }
    }
    pieces.push(Span::new(start, end));
    (pieces.len() > 1).then_some((pieces, end))
}

/// Where the line after `at` begins an operation with its full name.
fn cut_after(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let line = at + memchr::memchr(b'\n', &bytes[at..])?;
    let start = skip_blank(text, line);
    let begins = match bytes.get(start)? {
        b'"' => bytes.get(skip_blank(text, string_end(bytes, start))) == Some(&b'('),
        _ => {
            let word = &text[start..crate::scan::word_end(text, start)];
            word.contains('.')
        }
    };
    // What stands between must be the end of the operation and open nothing.
    let rest = &bytes[at..line];
    (begins && memchr::memchr3(b'{', b'}', b'"', rest).is_none()).then_some(start)
}
