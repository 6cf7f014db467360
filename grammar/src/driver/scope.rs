//! Names of values within one body.

use rustc_hash::FxHashMap;

use sutura_ir::body::{Body, Op, Value};
use sutura_ir::types::Type;

/// What a name stands for.
#[derive(Clone, Copy)]
pub(super) enum Def {
    /// One value.
    Value(Value),
    /// `count` results of an op from result `first` on.
    Results { op: Op, first: u32, count: u32 },
    /// What was not read because of an error.
    Unknown,
}

/// A definition and where it is.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) def: Def,
    pub(super) at: u32,
}

/// A value that is used before its definition.
#[derive(Clone, Copy)]
pub(super) struct Forward {
    pub(super) placeholder: Value,
    pub(super) ty: Type,
    pub(super) at: u32,
}

/// A name in the order of definition: to be forgotten at the end of its region.
#[derive(Clone, Copy)]
enum Entry<'t> {
    Number(u32),
    Name(&'t str),
}

#[derive(Default)]
pub(super) struct Scope<'t> {
    /// Names that are numbers, by the number.
    numbers: Vec<Option<Known>>,
    names: FxHashMap<&'t str, Known>,
    log: Vec<Entry<'t>>,
    forwards: FxHashMap<(&'t str, u32), Forward>,
    /// Names that were forgotten while a value without definition was in use, for hints.
    gone: Vec<&'t str>,
    /// Numbers from here on are looked up as names: a file of this size cannot define so many.
    limit: usize,
}

impl Known {
    pub(super) fn count(&self) -> u32 {
        match self.def {
            Def::Value(_) => 1,
            Def::Results { count, .. } => count,
            Def::Unknown => u32::MAX,
        }
    }

    /// Value `number` of the name.
    pub(super) fn value(&self, body: &Body, number: u32) -> Option<Value> {
        match self.def {
            Def::Value(value) => (number == 0).then_some(value),
            Def::Results { op, first, count } => (number < count).then(|| body.result(op, (first + number) as usize)),
            Def::Unknown => None,
        }
    }
}

impl<'t> Scope<'t> {
    pub(super) fn new(text: &str) -> Self {
        Self { limit: 1024.max(text.len() / 4), ..Self::default() }
    }

    fn number(&self, name: &str) -> Option<usize> {
        let bytes = name.as_bytes();
        let canonical = bytes.len() <= 9 && (bytes[0] != b'0' || bytes.len() == 1);
        if !canonical || !bytes.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = bytes.iter().fold(0, |n, b| n * 10 + usize::from(b - b'0'));
        (number < self.limit).then_some(number)
    }

    pub(super) fn get(&self, name: &str) -> Option<Known> {
        match self.number(name) {
            Some(number) => self.numbers.get(number).copied().flatten(),
            None => self.names.get(name).copied(),
        }
    }

    /// Defines a name that is not defined.
    pub(super) fn define(&mut self, name: &'t str, known: Known) {
        match self.number(name) {
            Some(number) => {
                if self.numbers.len() <= number {
                    self.numbers.resize(number + 1, None);
                }
                self.numbers[number] = Some(known);
                self.log.push(Entry::Number(number as u32));
            }
            None => {
                self.names.insert(name, known);
                self.log.push(Entry::Name(name));
            }
        }
    }

    /// How many names have been defined; see [`Scope::forget`].
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Forgets the names defined since `mark`.
    pub(super) fn forget(&mut self, mark: usize) {
        let keep = !self.forwards.is_empty();
        for entry in self.log.drain(mark..) {
            match entry {
                Entry::Number(number) => self.numbers[number as usize] = None,
                Entry::Name(name) => {
                    self.names.remove(name);
                    if keep {
                        self.gone.push(name);
                    }
                }
            }
        }
    }

    pub(super) fn forward(&self, name: &'t str, number: u32) -> Option<Forward> {
        self.forwards.get(&(name, number)).copied()
    }

    pub(super) fn add_forward(&mut self, name: &'t str, number: u32, forward: Forward) {
        self.forwards.insert((name, number), forward);
    }

    pub(super) fn take_forward(&mut self, name: &'t str, number: u32) -> Option<Forward> {
        if self.forwards.is_empty() { None } else { self.forwards.remove(&(name, number)) }
    }

    /// Values that were used and never defined, in the order of their uses.
    pub(super) fn undefined(&self) -> Vec<(&'t str, u32)> {
        let mut left: Vec<_> = self.forwards.iter().map(|((name, _), f)| (*name, f.at)).collect();
        left.sort_by_key(|(_, at)| *at);
        left
    }

    /// Names that are or were defined, for hints.
    pub(super) fn known_names(&self) -> impl Iterator<Item = &'t str> + '_ {
        self.names.keys().chain(&self.gone).copied()
    }
}
