//! Compilation of a tree into a linear program.

use std::collections::HashMap;
use std::ops::Range;

use super::RegexError;
use super::ast::{Assertion, ByteSet, Node};

/// The largest program; `{m,n}` multiplies.
pub(super) const MAX_INSTRUCTIONS: usize = 200_000;

/// One step. Jump targets are indices of instructions.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inst {
    Byte(u8),
    Set(u32),
    Assert(Assertion),
    /// Try the first target, then the second.
    Split(u32, u32),
    Jump(u32),
    /// Remember the place in this slot. Only for backtracking.
    Save(u32),
    /// Match what this group captured. Only for backtracking.
    Backref(u32),
    /// Fail if the place is the one in this slot, so that a loop over
    /// something empty ends. Only for backtracking.
    Progress(u32),
    Match,
}

/// What the program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// No captures; a back-reference is replaced by the expression of its
    /// group, so the program accepts at least what the tree accepts.
    Search,
    /// Captures and back-references.
    Backtrack,
}

/// A compiled tree. The code of each subtree is contiguous.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) insts: Vec<Inst>,
    pub(super) sets: Vec<ByteSet>,
    /// Save slots used: two per group, then one per loop.
    pub(super) slots: usize,
    /// The code of each item of the top-level sequence, in order.
    pub(super) items: Vec<Item>,
}

/// An item of the top-level sequence.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) code: Range<usize>,
    /// The bytes every match of it has, if they agree.
    pub(super) width: Option<usize>,
    /// Its number, if it is a group.
    pub(super) group: Option<u32>,
}

/// Compiles `root`.
pub(super) fn compile(root: &Node, purpose: Purpose, ignore_case: bool) -> Result<Program, RegexError> {
    let mut groups = HashMap::new();
    root.visit_groups(&mut |group, node| {
        groups.insert(group, node);
    });
    let group_slots = 2 * (groups.keys().max().map_or(0, |&g| g as usize) + 1);
    let mut compiler = Compiler {
        program: Program { slots: group_slots, ..Program::default() },
        groups,
        open: Vec::new(),
        purpose,
        ignore_case,
    };
    let items = match root {
        Node::Concat(items) => items.as_slice(),
        item => std::slice::from_ref(item),
    };
    for item in items {
        let start = compiler.here();
        compiler.emit(item)?;
        let code = start..compiler.here();
        compiler.program.items.push(Item {
            code,
            width: item.width(),
            group: match item {
                Node::Group(group, _) => Some(*group),
                _ => None,
            },
        });
    }
    compiler.push(Inst::Match)?;
    Ok(compiler.program)
}

struct Compiler<'a> {
    program: Program,
    groups: HashMap<u32, &'a Node>,
    /// The groups whose code is being emitted.
    open: Vec<u32>,
    purpose: Purpose,
    ignore_case: bool,
}

impl<'a> Compiler<'a> {
    fn here(&self) -> usize {
        self.program.insts.len()
    }

    fn push(&mut self, inst: Inst) -> Result<usize, RegexError> {
        if self.here() == MAX_INSTRUCTIONS {
            return Err(RegexError::TooLarge);
        }
        self.program.insts.push(inst);
        Ok(self.here() - 1)
    }

    fn new_slot(&mut self) -> u32 {
        self.program.slots += 1;
        index(self.program.slots - 1)
    }

    fn emit(&mut self, node: &'a Node) -> Result<(), RegexError> {
        match node {
            Node::Empty | Node::Hole(_) => {}
            Node::Bytes(bytes) => {
                for &byte in bytes {
                    self.byte(byte)?;
                }
            }
            Node::Set(set) => self.set(*set)?,
            Node::Assert(assertion) => {
                self.push(Inst::Assert(*assertion))?;
            }
            Node::Concat(nodes) => {
                for node in nodes {
                    self.emit(node)?;
                }
            }
            Node::Alt(nodes) => self.alternatives(nodes)?,
            Node::Repeat { node, min, max } => self.repeat(node, *min, *max)?,
            Node::Group(group, node) => self.group(*group, node)?,
            Node::Backref(group) => self.backref(*group)?,
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8) -> Result<(), RegexError> {
        if self.ignore_case && byte.is_ascii_alphabetic() {
            let mut set = ByteSet::default();
            set.insert(byte);
            set.close_under_case();
            return self.set(set);
        }
        self.push(Inst::Byte(byte)).map(drop)
    }

    fn set(&mut self, set: ByteSet) -> Result<(), RegexError> {
        // The same class is repeated by intervals; the newest is the likely one.
        let known = self.program.sets.iter().rposition(|known| *known == set);
        let number = known.unwrap_or_else(|| {
            self.program.sets.push(set);
            self.program.sets.len() - 1
        });
        self.push(Inst::Set(index(number))).map(drop)
    }

    fn alternatives(&mut self, nodes: &'a [Node]) -> Result<(), RegexError> {
        let mut ends = Vec::new();
        for (i, node) in nodes.iter().enumerate() {
            if i + 1 == nodes.len() {
                self.emit(node)?;
                break;
            }
            let split = self.push(Inst::Split(0, 0))?;
            self.emit(node)?;
            ends.push(self.push(Inst::Jump(0))?);
            self.program.insts[split] = Inst::Split(index(split + 1), index(self.here()));
        }
        let here = index(self.here());
        for end in ends {
            self.program.insts[end] = Inst::Jump(here);
        }
        Ok(())
    }

    fn repeat(&mut self, node: &'a Node, min: u32, max: Option<u32>) -> Result<(), RegexError> {
        for _ in 0..min {
            self.emit(node)?;
        }
        match max {
            None => self.star(node),
            Some(max) => self.optional(node, max - min),
        }
    }

    fn star(&mut self, node: &'a Node) -> Result<(), RegexError> {
        let split = self.push(Inst::Split(0, 0))?;
        let guard = self.purpose == Purpose::Backtrack && node.nullable();
        let slot = if guard { Some(self.new_slot()) } else { None };
        if let Some(slot) = slot {
            self.push(Inst::Save(slot))?;
        }
        self.emit(node)?;
        if let Some(slot) = slot {
            self.push(Inst::Progress(slot))?;
        }
        self.push(Inst::Jump(index(split)))?;
        self.program.insts[split] = Inst::Split(index(split + 1), index(self.here()));
        Ok(())
    }

    fn optional(&mut self, node: &'a Node, times: u32) -> Result<(), RegexError> {
        let mut splits = Vec::new();
        for _ in 0..times {
            splits.push(self.push(Inst::Split(0, 0))?);
            self.emit(node)?;
        }
        let here = index(self.here());
        for split in splits {
            self.program.insts[split] = Inst::Split(index(split + 1), here);
        }
        Ok(())
    }

    fn group(&mut self, group: u32, node: &'a Node) -> Result<(), RegexError> {
        self.open.push(group);
        if self.purpose == Purpose::Search {
            self.emit(node)?;
        } else {
            self.push(Inst::Save(2 * group))?;
            self.emit(node)?;
            self.push(Inst::Save(2 * group + 1))?;
        }
        self.open.pop();
        Ok(())
    }

    fn backref(&mut self, group: u32) -> Result<(), RegexError> {
        if self.purpose == Purpose::Backtrack {
            return self.push(Inst::Backref(group)).map(drop);
        }
        match self.groups.get(&group) {
            Some(node) if !self.open.contains(&group) => self.group(group, node),
            _ => Err(RegexError::BadBackreference(group)),
        }
    }
}

/// Instructions and slots are numbered in 32 bits; [`MAX_INSTRUCTIONS`] bounds both.
fn index(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
