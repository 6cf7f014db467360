//! Comments of a text, each tied to a part of the program, and written beside that part in another text.
//!
//! A comment on a line of its own belongs to the part that follows, one at the end of a line to the part that ends there,
//! and one within a part to that part. Only parts that are printed count, so a comment at a terminator that the custom
//! form leaves out goes to the brace behind it. What stands before a part is kept with it, blank lines included, of
//! several one.

use std::iter::Peekable;
use std::ops::Range;
use std::slice::Iter;

use rustc_hash::{FxHashMap, FxHashSet};

use sutura_ir::asm::layout::{Layout, Part, Place};
use sutura_ir::location::Loc;

/// Columns by which what is in a region stands further in.
const INDENT: usize = 2;

/// Where comments are.
type Ranges<'r> = Peekable<Iter<'r, Range<u32>>>;

/// What stands on lines of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Item {
    Blank,
    Comment(String),
    /// Further in than the brace or label that follows.
    Inner(String),
}

/// What stood beside a part.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Beside {
    before: Vec<Item>,
    behind: Option<String>,
    /// Offset of the first comment.
    at: u32,
}

impl Beside {
    fn comments(&self) -> usize {
        self.before.iter().filter(|item| **item != Item::Blank).count() + usize::from(self.behind.is_some())
    }
}

/// The comments of a text.
#[derive(Clone, Default, Debug)]
pub struct Comments {
    /// At the top, apart from what follows.
    head: Vec<Item>,
    beside: FxHashMap<Part, Beside>,
    /// Operations that something stood beside, by their location.
    by_loc: FxHashMap<Loc, Vec<Part>>,
    /// Behind everything.
    tail: Vec<Item>,
}

/// A text with comments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Woven {
    /// The text.
    pub text: String,
    /// How many comments are not in it, because what they stood beside is not.
    pub gone: usize,
    /// Offset, in the text that they come from, of the first of these.
    pub first_gone: Option<u32>,
}

/// A text that was read, with its comments as blanks.
struct Reading<'t> {
    text: &'t str,
    blanked: Vec<u8>,
}

impl Reading<'_> {
    fn comment(&self, range: &Range<u32>) -> String {
        self.text[range.start as usize..range.end as usize].trim_end().to_string()
    }

    /// True when the line before the one at `at` is blank; only blanks may stand between.
    fn blank_before(&self, at: u32) -> bool {
        let before = &self.text.as_bytes()[..at as usize];
        let blanks = before.iter().rev().take_while(|b| b.is_ascii_whitespace());
        blanks.filter(|b| **b == b'\n').nth(1).is_some()
    }

    /// How far in the line begins that holds offset `at`.
    fn indent(&self, at: u32) -> usize {
        let start = line_start(self.text, at as usize);
        self.text[start..].bytes().take_while(|b| matches!(b, b' ' | b'\t')).count()
    }

    /// The comments before `until`, each on a line of its own. What has no line is printed as the brace behind it.
    fn own_lines(&self, comments: &mut Ranges<'_>, until: &Place, has_line: bool, into: &mut Vec<Item>) {
        let is_end = matches!(until.part, Part::Close { .. } | Part::Label { .. });
        while let Some(comment) = comments.next_if(|c| c.start < until.at) {
            if self.blank_before(comment.start) {
                into.push(Item::Blank);
            }
            let is_inner = !has_line || is_end && self.indent(comment.start) > self.indent(until.at);
            into.push(if is_inner { Item::Inner } else { Item::Comment }(self.comment(comment)));
        }
    }

    /// End of what is not blank from `from` to `to`.
    fn end(&self, from: u32, to: u32) -> u32 {
        let text = &self.blanked[from as usize..to as usize];
        from + text.iter().rposition(|b| !b.is_ascii_whitespace()).map_or(0, |last| last as u32 + 1)
    }

    fn same_line(&self, from: u32, to: u32) -> bool {
        self.blanked[from as usize..to as usize].iter().all(|b| b.is_ascii_whitespace() && *b != b'\n')
    }
}

impl Comments {
    /// Ties the comments of `text`, which was read with `layout`, to what of it is printed: `printed` tells.
    pub fn collect(text: &str, layout: &Layout, printed: &[Place]) -> Self {
        let mut blanked = text.as_bytes().to_vec();
        layout.comments.iter().for_each(|c| blanked[c.start as usize..c.end as usize].fill(b' '));
        let reading = Reading { text, blanked };
        let shown: FxHashSet<Part> = printed.iter().map(|place| place.part).collect();
        // What is noted where the next part is has no line: it is left out.
        let lineless: FxHashSet<Part> = printed.windows(2).filter(|w| w[0].at == w[1].at).map(|w| w[0].part).collect();
        let mut comments = layout.comments.iter().peekable();
        let mut kept = Self::default();
        let last_resources = layout.places.iter().rposition(|p| p.part == Part::Resources);
        let mut is_first = true;
        for (i, place) in layout.places.iter().enumerate() {
            let is_earlier_section = place.part == Part::Resources && last_resources != Some(i);
            if !shown.contains(&place.part) || is_earlier_section {
                continue;
            }
            let end = reading.end(place.at, layout.places.get(i + 1).map_or(text.len() as u32, |next| next.at));
            let mut beside = Beside { at: comments.peek().map_or(place.at, |c| c.start), ..Beside::default() };
            let has_line = !lineless.contains(&place.part);
            reading.own_lines(&mut comments, place, has_line, &mut beside.before);
            if reading.blank_before(place.at) {
                beside.before.push(Item::Blank);
            }
            if std::mem::take(&mut is_first) {
                kept.head = take_head(&mut beside.before);
            }
            while let Some(comment) = comments.next_if(|c| c.start < end) {
                beside.before.push(Item::Comment(reading.comment(comment)));
            }
            if let Some(comment) = comments.next_if(|c| reading.same_line(end, c.start)) {
                match has_line {
                    true => beside.behind = Some(reading.comment(comment)),
                    false => beside.before.push(Item::Inner(reading.comment(comment))),
                }
            }
            kept.add(place, beside);
        }
        let end = Place { at: text.len() as u32, part: Part::Unknown, loc: Loc::UNKNOWN };
        reading.own_lines(&mut comments, &end, true, &mut kept.tail);
        kept
    }

    fn add(&mut self, place: &Place, beside: Beside) {
        if beside.before.is_empty() && beside.behind.is_none() {
            return;
        }
        if matches!(place.part, Part::Op { .. }) {
            self.by_loc.entry(place.loc).or_default().push(place.part);
        }
        self.beside.insert(place.part, beside);
    }

    /// Writes the comments into `text`, whose parts are at `printed`.
    ///
    /// A part that is still there keeps its comments; those of an operation that is gone go to the first new one at its
    /// location.
    pub fn weave(mut self, text: &str, printed: &[Place]) -> Woven {
        let there: FxHashSet<Part> = printed.iter().map(|place| place.part).collect();
        let mut out = Writer { out: String::with_capacity(text.len() + text.len() / 4), blank: false, opened: true };
        out.items(&self.head, 0);
        let mut places = printed.iter().peekable();
        let mut start = line_start(text, places.peek().map_or(text.len(), |place| place.at as usize));
        out.lines(&text[..start], false);
        while let Some(first) = places.next() {
            let mut besides = vec![(first, self.take(first, &there))];
            while let Some(same) = places.next_if(|place| line_start(text, place.at as usize) == start) {
                besides.push((same, self.take(same, &there)));
            }
            let end = line_start(text, places.peek().map_or(text.len(), |place| place.at as usize));
            out.segment(&text[start..end], &besides);
            start = end;
        }
        out.items(&self.tail, 0);
        let gone: Vec<Beside> = self.beside.into_values().filter(|beside| beside.comments() > 0).collect();
        Woven {
            text: out.out,
            gone: gone.iter().map(Beside::comments).sum(),
            first_gone: gone.iter().map(|beside| beside.at).min(),
        }
    }

    /// What goes beside a part that is printed.
    fn take(&mut self, place: &Place, there: &FxHashSet<Part>) -> Beside {
        if let Some(beside) = self.beside.remove(&place.part) {
            return beside;
        }
        let Part::Op { .. } = place.part else { return Beside::default() };
        let Some(parts) = self.by_loc.get(&place.loc) else { return Beside::default() };
        let gone = parts.iter().find(|part| !there.contains(part) && self.beside.contains_key(part));
        gone.copied().and_then(|part| self.beside.remove(&part)).unwrap_or_default()
    }
}

/// What a blank line parts from the first part belongs to the file.
fn take_head(before: &mut Vec<Item>) -> Vec<Item> {
    match before.iter().rposition(|item| *item == Item::Blank) {
        Some(last) => before.drain(..=last).collect(),
        None => Vec::new(),
    }
}

fn line_start(text: &str, at: usize) -> usize {
    if at == text.len() { at } else { text[..at].rfind('\n').map_or(0, |n| n + 1) }
}

struct Writer {
    out: String,
    /// A blank line is due before what comes next.
    blank: bool,
    /// Nothing stands before it in its region: blank lines are left out there.
    opened: bool,
}

impl Writer {
    fn due_blank(&mut self) {
        if std::mem::take(&mut self.blank) && !self.opened {
            self.out.push('\n');
        }
        self.opened = false;
    }

    fn items(&mut self, items: &[Item], indent: usize) {
        for item in items {
            match item {
                Item::Blank => self.blank = true,
                Item::Comment(text) | Item::Inner(text) => {
                    self.due_blank();
                    let inner = if matches!(item, Item::Inner(_)) { INDENT } else { 0 };
                    self.out.extend(std::iter::repeat_n(' ', indent + inner));
                    self.out.push_str(text);
                    self.out.push('\n');
                }
            }
        }
    }

    /// Lines of the printer, as they are.
    fn lines(&mut self, lines: &str, is_close: bool) {
        if lines.is_empty() {
            return;
        }
        // No blank line stands before a brace.
        self.blank &= !is_close;
        self.due_blank();
        self.out.push_str(lines);
        self.opened = lines.trim_end().ends_with('{');
    }

    /// The lines of a part, or of several on one line, and what goes beside them.
    fn segment(&mut self, lines: &str, besides: &[(&Place, Beside)]) {
        let is_close = besides.iter().any(|(place, _)| matches!(place.part, Part::Close { .. }));
        let is_label = besides.iter().any(|(place, _)| matches!(place.part, Part::Label { .. }));
        let indent = lines.len() - lines.trim_start_matches(' ').len();
        let body = lines.trim_end_matches('\n');
        let own_comment = body.rsplit('\n').next().is_some_and(|last| is_label && last.contains("//"));
        let mut behind = None;
        for (_, beside) in besides {
            self.items(&beside.before, indent);
            match &beside.behind {
                // The printer says so itself.
                Some(text) if own_comment && is_about_predecessors(text) => {}
                Some(text) if own_comment || behind.is_some() => {
                    self.items(&[Item::Comment(text.clone())], indent);
                }
                other => behind = other.as_ref().or(behind),
            }
        }
        match behind {
            Some(text) => {
                let rest = &lines[body.len()..];
                self.lines(body, is_close);
                // As the printer has it.
                self.out.push_str(if is_about_predecessors(text) { "  " } else { " " });
                self.out.push_str(text);
                self.out.push_str(if rest.is_empty() { "\n" } else { rest });
            }
            None => self.lines(lines, is_close),
        }
        self.opened |= is_label;
    }
}

/// True for a comment as the printer writes one behind a label.
fn is_about_predecessors(comment: &str) -> bool {
    let text = comment.trim_start_matches('/').trim_start();
    let count = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text == "no predecessors"
        || text.starts_with("pred: ^")
        || count.len() < text.len() && count.starts_with(" preds: ^")
}
