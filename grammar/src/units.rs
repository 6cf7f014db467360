//! The stream of units: runs of them are parsed at a time, in windows of the text that grow as needed, so that memory
//! does not grow with the file and an unclosed bracket costs no scan of all that follows.

use std::collections::VecDeque;

use pest::Parser;

use crate::rules::{Grammar, Node, Rule};
use crate::scan::{skip_blank, suffix_end};
use crate::syntax;

const FIRST_WINDOW: usize = 1 << 16;

/// A unit, and where its text begins (with the `}` or `^` that its rule leaves out).
pub(crate) struct Unit<'t> {
    pub(crate) node: Node<'t>,
    pub(crate) start: usize,
    /// True for a part of a larger unit, behind which more of it may follow.
    is_part: bool,
}

/// A unit that no rule matches.
pub(crate) struct BadUnit {
    /// Where it begins.
    pub(crate) start: usize,
    /// Where it goes wrong.
    pub(crate) at: usize,
    /// How far the rule came.
    reached: usize,
    pub(crate) message: String,
    pub(crate) too_deep: bool,
}

pub(crate) struct Units<'t> {
    text: &'t str,
    /// Units that are parsed but not handed out.
    ready: VecDeque<Unit<'t>>,
    /// Where parsing goes on.
    at: usize,
    window: usize,
    /// End of the part of a unit that was handed out last.
    part_end: Option<usize>,
}

impl<'t> Units<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self::in_windows(text, FIRST_WINDOW)
    }

    /// The units of a text that is read in windows of this size at first.
    pub(crate) fn in_windows(text: &'t str, window: usize) -> Self {
        Self { text, ready: VecDeque::new(), at: 0, window, part_end: None }
    }

    /// The next unit; `None` at the end of the text.
    pub(crate) fn next(&mut self) -> Result<Option<Unit<'t>>, BadUnit> {
        if let Some(end) = self.part_end.take() {
            self.resume_at(end);
        }
        if self.ready.is_empty() {
            self.fill()?;
        }
        let unit = self.ready.pop_front();
        self.part_end = unit.as_ref().filter(|u| u.is_part).map(|u| u.node.span().end);
        Ok(unit)
    }

    /// Where the next unit begins, or blanks before it.
    pub(crate) fn position(&self) -> usize {
        self.part_end.unwrap_or_else(|| self.ready.front().map_or(self.at, |u| u.start))
    }

    /// Leaves out what follows in the unit that was handed out last.
    pub(crate) fn skip_rest(&mut self) {
        self.part_end = None;
    }

    /// Goes on at offset `at`, whatever was read beyond it.
    pub(crate) fn resume_at(&mut self, at: usize) {
        self.part_end = None;
        let at = skip_blank(self.text, at);
        while self.ready.front().is_some_and(|u| u.start < at) {
            self.ready.pop_front();
        }
        let known = self.ready.front().map_or(self.at, |u| u.start);
        if at < known {
            // The rest of a unit that had more than an op in it.
            self.read_between(at, known);
        } else if self.ready.is_empty() {
            self.at = at;
        }
    }

    /// Forgets what has been read and goes on at offset `at`.
    pub(crate) fn restart_at(&mut self, at: usize) {
        self.part_end = None;
        self.ready.clear();
        self.at = at;
    }

    /// Reads one unit of what is left of a larger one, and leaves the rest for later: an op in custom form says itself
    /// where it ends.
    fn read_between(&mut self, from: usize, to: usize) {
        let unit = Grammar::parse(Rule::bare_unit, &self.text[from..to]).ok().and_then(|mut pairs| {
            let node = Node::new(pairs.next()?, from).child()?;
            Some(Unit { start: unit_start(&node), node, is_part: true })
        });
        match unit {
            Some(unit) => self.ready.push_front(unit),
            // The rest is no unit by itself: read on from there without the border.
            None => self.restart_at(from),
        }
    }

    /// Parses up to 256 units of `from..to`, and returns where they end; `None` when the first is wrong.
    fn read_batch(&self, from: usize, to: usize, into: &mut Vec<Unit<'t>>) -> Option<usize> {
        let mut pairs = Grammar::parse(Rule::batch, &self.text[from..to]).ok()?;
        let batch = Node::new(pairs.next()?, from);
        let end = batch.span().end;
        into.extend(batch.children().map(|node| Unit { start: unit_start(&node), node, is_part: false }));
        Some(end)
    }

    fn fill(&mut self) -> Result<(), BadUnit> {
        self.at = skip_blank(self.text, self.at);
        if self.at == self.text.len() {
            return Ok(());
        }
        let mut window = self.window;
        loop {
            let end = self.window_end(window);
            let mut found = Vec::new();
            match self.read_batch(self.at, end, &mut found) {
                Some(read) if end == self.text.len() => return self.accept(found, read),
                Some(_) if self.uncut(&found, end) > 0 => {
                    let uncut = self.uncut(&found, end);
                    let next = found[uncut].start;
                    found.truncate(uncut);
                    return self.accept(found, next);
                }
                Some(_) => {}
                None => {
                    let bad = self.failure(end);
                    let cut_off = end < self.text.len() && bad.as_ref().is_none_or(|b| b.reached + LOOKAHEAD >= end);
                    if !cut_off {
                        return Err(bad.unwrap_or_else(|| self.unknown_failure()));
                    }
                }
            }
            window = window.saturating_mul(4);
        }
    }

    /// How many of the units are whole, though a window that ends at `end` may cut the one behind them off. Rules that look for
    /// what is cut off fail, and others take parts of the unit for units: `affine_map` of `affine_map<(d0) -> …`, the `loc` of a
    /// location, and, where the window ends in `{name`, the `{` for that of a region.
    fn uncut(&self, found: &[Unit<'t>], end: usize) -> usize {
        let far = found.partition_point(|unit| unit.node.span().end + LOOKAHEAD <= end);
        if far < found.len() {
            return far;
        }
        let is_loc = found.last().is_some_and(|unit| self.text[unit.start..].starts_with("loc"));
        far.saturating_sub(1 + usize::from(is_loc))
    }

    fn accept(&mut self, found: Vec<Unit<'t>>, end: usize) -> Result<(), BadUnit> {
        self.ready.extend(found);
        self.at = end;
        Ok(())
    }

    fn window_end(&self, window: usize) -> usize {
        let mut end = self.at.saturating_add(window).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        end
    }

    /// Why no unit begins here.
    fn failure(&self, end: usize) -> Option<BadUnit> {
        let failure = syntax::failure(Rule::unit1, &self.text[self.at..end])?;
        let at = self.at + failure.at;
        let at = if failure.missing { syntax::after_previous(self.text, at) } else { at };
        Some(BadUnit {
            start: self.at,
            at,
            reached: self.at + failure.reached,
            message: failure.message,
            too_deep: failure.too_deep,
        })
    }

    fn unknown_failure(&self) -> BadUnit {
        BadUnit {
            start: self.at,
            at: self.at,
            reached: self.at,
            message: "unexpected text".to_string(),
            too_deep: false,
        }
    }

    /// Where the next line that begins a unit does so, from offset `from` on.
    pub(crate) fn next_line(&self, from: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while let Some(n) = memchr::memchr(b'\n', &bytes[at.min(bytes.len())..]) {
            at += n + 1;
            let start = skip_blank(self.text, at);
            if begins_unit(self.text, start) {
                return start;
            }
        }
        self.text.len()
    }
}

/// A failure this near to a window's end may be due to the end, and so may the end of a unit.
const LOOKAHEAD: usize = 4096;

fn unit_start(node: &Node<'_>) -> usize {
    let before = match node.rule() {
        Rule::close | Rule::bare_close | Rule::label => 1,
        Rule::resource => 3,
        _ => 0,
    };
    node.start() - before
}

/// True when a unit may begin at `at`: what `starts` says in the grammar, cut short.
fn begins_unit(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    match rest.as_bytes().first() {
        None | Some(b'}' | b'^' | b'"') => true,
        Some(b'%') => {
            let line = rest.lines().next().unwrap_or_default();
            let names = |c: char| c.is_ascii_alphanumeric() || "%_.$-:#, ".contains(c);
            line.split_once('=').is_some_and(|(results, _)| results.chars().all(names))
        }
        Some(b'#' | b'!') => rest[suffix_end(text, at + 1) - at..].trim_start().starts_with('='),
        Some(b'{') => rest.starts_with("{-#"),
        Some(byte) => byte.is_ascii_alphabetic() || *byte == b'_',
    }
}
