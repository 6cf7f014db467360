//! Leftmost-longest search by simulating the NFA, all states in step.

use memchr::memmem;

use super::RegexError;
use super::ast::{ByteSet, Node};
use super::backtrack;
use super::program::{Inst, Item, Program, Purpose, compile};

/// Where an expression matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The places of the groups asked for, in the order asked.
    pub(crate) groups: Vec<(usize, usize)>,
}

/// A text to search in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Haystack<'t> {
    pub(crate) text: &'t [u8],
    /// The same in lower case where that does not matter: literals are searched for in it.
    pub(crate) folded: &'t [u8],
}

impl<'t> Haystack<'t> {
    /// One whose cases matter.
    #[cfg(test)]
    pub(crate) fn exact(text: &'t [u8]) -> Self {
        Self { text, folded: text }
    }
}

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Regex {
    /// What it was made from.
    root: Node,
    program: Program,
    /// What every match starts with.
    prefix: Option<memmem::Finder<'static>>,
    /// The longest text that every match contains, when matches stay on a line.
    required: Option<memmem::Finder<'static>>,
    /// The bytes a match can start with, if it cannot be empty.
    first: Option<ByteSet>,
    backtrack: Option<Program>,
}

/// Memory that searches reuse.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    now: Threads,
    next: Threads,
    stack: Vec<u32>,
}

/// The active states, in order of priority, each with a label that came with it.
#[derive(Debug, Default)]
struct Threads {
    /// (instruction, label)
    list: Vec<(u32, usize)>,
    /// Per instruction, the step in which it was last added.
    seen: Vec<u32>,
    step: u32,
}

impl Threads {
    fn reset(&mut self, instructions: usize) {
        if self.seen.len() < instructions {
            self.seen.resize(instructions, 0);
        }
        self.clear();
    }

    fn clear(&mut self) {
        self.list.clear();
        self.step = self.step.wrapping_add(1);
        if self.step == 0 {
            self.seen.fill(0);
            self.step = 1;
        }
    }

    /// Whether the instruction is new in this step.
    fn mark(&mut self, inst: u32) -> bool {
        let seen = &mut self.seen[inst as usize];
        let new = *seen != self.step;
        *seen = self.step;
        new
    }
}

impl Regex {
    /// Compiles a tree without holes.
    pub(crate) fn new(root: &Node, ignore_case: bool) -> Result<Self, RegexError> {
        let program = compile(root, Purpose::Search, ignore_case)?;
        let backtrack = match root.has_backref() {
            true => Some(compile(root, Purpose::Backtrack, ignore_case)?),
            false => None,
        };
        let (mut literals, starts) = root.literals();
        if ignore_case {
            literals.iter_mut().for_each(|text| text.make_ascii_lowercase());
        }
        let finder = |text: &Vec<u8>| memmem::Finder::new(text).into_owned();
        let prefix = literals.first().filter(|_| starts).map(finder);
        let required = literals.iter().filter(|_| !root.spans_lines()).max_by_key(|text| text.len()).map(finder);
        let first = (!root.nullable()).then(|| first_bytes(&program));
        Ok(Self { root: root.clone(), program, prefix, required, first, backtrack })
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// Finds the leftmost-longest match in `text` and the places of `groups`,
    /// which must be items of the top-level sequence, in ascending order.
    pub(crate) fn find(
        &self,
        hay: Haystack<'_>,
        groups: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Option<Match>, RegexError> {
        if let Some(program) = &self.backtrack {
            return self.find_with_backrefs(program, hay, groups, scratch);
        }
        let Some((start, end)) = self.find_bounds(hay, 0, scratch) else {
            return Ok(None);
        };
        let groups = self.split(hay.text, start, end, groups, scratch);
        Ok(Some(Match { start, end, groups }))
    }

    /// The leftmost-longest match that starts at `from` or later.
    fn find_bounds(&self, hay: Haystack<'_>, mut from: usize, scratch: &mut Scratch) -> Option<(usize, usize)> {
        let text = hay.text;
        let Some(required) = &self.required else {
            return self.scan(hay, from, text.len(), scratch);
        };
        while let Some(offset) = required.find(&hay.folded[from..]) {
            let hit = from + offset;
            let line_start = memchr::memrchr(b'\n', &text[from..hit]).map_or(from, |i| from + i + 1);
            let line_end = memchr::memchr(b'\n', &text[hit..]).map_or(text.len(), |i| hit + i);
            let found = self.scan(hay, line_start, line_end, scratch);
            if found.is_some() || line_end == text.len() {
                return found;
            }
            from = line_end + 1;
        }
        None
    }

    fn find_with_backrefs(
        &self,
        program: &Program,
        hay: Haystack<'_>,
        groups: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Option<Match>, RegexError> {
        let mut steps = 0;
        let mut from = 0;
        let text = hay.text;
        while from <= text.len() {
            let Some((start, end)) = self.find_bounds(hay, from, scratch) else {
                break;
            };
            if let Some(found) = backtrack::longest(program, text, start, end, groups, &mut steps)? {
                return Ok(Some(found));
            }
            from = start + 1;
        }
        Ok(None)
    }

    /// The leftmost-longest match that starts in `from..=last`.
    fn scan(&self, hay: Haystack<'_>, from: usize, last: usize, scratch: &mut Scratch) -> Option<(usize, usize)> {
        let text = hay.text;
        let Scratch { now, next, stack } = scratch;
        now.reset(self.program.insts.len());
        next.reset(self.program.insts.len());
        let mut best: Option<(usize, usize)> = None;
        let mut at = from;
        loop {
            if now.list.is_empty() {
                if best.is_some() {
                    return best;
                }
                at = self.skip(hay, at, last)?;
                now.clear();
            }
            // A later start has lower priority, so it is added last.
            if best.is_none() && at <= last {
                self.add(now, stack, text, at, 0, at);
            }
            if let Some(found) = now.list.iter().position(|&(pc, _)| self.is_match(pc)) {
                let start = now.list[found].1;
                best = Some((start, at));
                now.list.retain(|&(_, label)| label <= start);
            }
            let Some(&byte) = text.get(at) else {
                return best;
            };
            next.clear();
            for &(pc, label) in &now.list {
                if self.steps_over(pc, byte) {
                    self.add(next, stack, text, at + 1, pc + 1, label);
                }
            }
            std::mem::swap(now, next);
            at += 1;
            if now.list.is_empty() && at > last {
                return best;
            }
        }
    }

    /// The next place from `at` on where a match could start.
    fn skip(&self, hay: Haystack<'_>, at: usize, last: usize) -> Option<usize> {
        let Haystack { text, folded } = hay;
        let to = match (&self.prefix, &self.first) {
            (Some(prefix), _) => {
                let end = text.len().min(last + prefix.needle().len());
                at + prefix.find(folded.get(at..end)?)?
            }
            (None, Some(first)) => at + text.get(at..)?.iter().position(|&b| first.contains(b))?,
            (None, None) => at,
        };
        (to <= last).then_some(to)
    }

    fn is_match(&self, pc: u32) -> bool {
        matches!(self.program.insts[pc as usize], Inst::Match)
    }

    fn steps_over(&self, pc: u32, byte: u8) -> bool {
        match self.program.insts[pc as usize] {
            Inst::Byte(wanted) => wanted == byte,
            Inst::Set(set) => self.program.sets[set as usize].contains(byte),
            _ => false,
        }
    }

    /// Adds `pc` and what is reachable from it without taking a byte.
    fn add(&self, threads: &mut Threads, stack: &mut Vec<u32>, text: &[u8], at: usize, pc: u32, label: usize) {
        stack.push(pc);
        while let Some(pc) = stack.pop() {
            if !threads.mark(pc) {
                continue;
            }
            match self.program.insts[pc as usize] {
                Inst::Jump(to) => stack.push(to),
                Inst::Split(first, second) => stack.extend([second, first]),
                Inst::Assert(assertion) => {
                    if assertion.holds(text, at) {
                        stack.push(pc + 1);
                    }
                }
                _ => threads.list.push((pc, label)),
            }
        }
    }

    /// Places the wanted groups of a match: every item of the top-level
    /// sequence in turn is as long as the rest of the sequence allows.
    fn split(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        groups: &[u32],
        scratch: &mut Scratch,
    ) -> Vec<(usize, usize)> {
        let mut places = Vec::with_capacity(groups.len());
        let mut at = start;
        for item in &self.program.items {
            if places.len() == groups.len() {
                break;
            }
            let to = match item.width {
                Some(width) => at + width,
                None => self.longest_item(text, item, at, end, scratch),
            };
            if item.group == Some(groups[places.len()]) {
                places.push((at, to));
            }
            at = to;
        }
        debug_assert_eq!(places.len(), groups.len(), "a group is not a top-level item");
        places
    }

    /// The largest `t` such that `item` matches `start..t` and the code after
    /// it matches `t..end`.
    ///
    /// One pass: the states of the item run unlabelled; whenever they can leave
    /// it, the code after it starts, labelled with that place. Of two such
    /// threads in one state only the later label matters, and it is added first.
    fn longest_item(&self, text: &[u8], item: &Item, start: usize, end: usize, scratch: &mut Scratch) -> usize {
        let exit = item.code.end as u32;
        let Scratch { now, next, stack } = scratch;
        now.reset(self.program.insts.len());
        next.reset(self.program.insts.len());
        let mut inside: Vec<u32> = Vec::new();
        let mut entered = vec![item.code.start as u32];
        for at in start..=end {
            // Close the item's states; note whether the item can end here.
            let mut leaves = false;
            inside.clear();
            stack.append(&mut entered);
            while let Some(pc) = stack.pop() {
                if pc == exit {
                    leaves = true;
                    continue;
                }
                if !now.mark(pc) {
                    continue;
                }
                match self.program.insts[pc as usize] {
                    Inst::Jump(to) => stack.push(to),
                    Inst::Split(first, second) => stack.extend([second, first]),
                    Inst::Assert(assertion) => {
                        if assertion.holds(text, at) {
                            stack.push(pc + 1);
                        }
                    }
                    _ => inside.push(pc),
                }
            }
            let carried = std::mem::take(&mut now.list);
            if leaves {
                self.add(now, stack, text, at, exit, at);
            }
            for &(pc, label) in &carried {
                self.add(now, stack, text, at, pc, label);
            }
            if at == end {
                break;
            }
            next.clear();
            let byte = text[at];
            entered.extend(inside.iter().filter(|&&pc| self.steps_over(pc, byte)).map(|pc| pc + 1));
            next.list = carried;
            next.list.clear();
            next.list.extend(
                now.list.iter().filter(|&&(pc, _)| self.steps_over(pc, byte)).map(|&(pc, label)| (pc + 1, label)),
            );
            std::mem::swap(now, next);
        }
        let longest = now.list.iter().find(|&&(pc, _)| self.is_match(pc));
        longest.map_or(end, |&(_, label)| label)
    }
}

/// The bytes with which a match of `program` can start.
fn first_bytes(program: &Program) -> ByteSet {
    let mut first = ByteSet::default();
    let mut seen = vec![false; program.insts.len()];
    let mut stack = vec![0usize];
    while let Some(pc) = stack.pop() {
        if std::mem::replace(&mut seen[pc], true) {
            continue;
        }
        match program.insts[pc] {
            Inst::Byte(byte) => first.insert(byte),
            Inst::Set(set) => first.insert_where(|b| program.sets[set as usize].contains(b)),
            Inst::Split(a, b) => stack.extend([a as usize, b as usize]),
            Inst::Jump(to) => stack.push(to as usize),
            Inst::Match => {}
            Inst::Assert(_) | Inst::Save(_) | Inst::Backref(_) | Inst::Progress(_) => {
                stack.push(pc + 1);
            }
        }
    }
    first
}
