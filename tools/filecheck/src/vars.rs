//! Variables: what is known of them when patterns are parsed, and their values
//! when patterns are matched.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use num_bigint::BigInt;

use crate::format::Format;

/// A numeric variable. Uses are bound to it when they are parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberId(pub(crate) usize);

/// What parsing knows of a numeric variable.
#[derive(Debug)]
pub(crate) struct Number {
    pub(crate) name: String,
    pub(crate) format: Format,
    /// The line of the check file that defines it first; `None` for one from
    /// the command line or one that is only used.
    pub(crate) line: Option<usize>,
}

/// The variables of a check file.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    pub(crate) strings: HashSet<String>,
    by_name: HashMap<String, NumberId>,
    pub(crate) numbers: Vec<Number>,
}

impl Symbols {
    pub(crate) fn number(&self, name: &str) -> Option<NumberId> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn add_number(&mut self, number: Number) -> NumberId {
        let id = NumberId(self.numbers.len());
        self.by_name.insert(number.name.clone(), id);
        self.numbers.push(number);
        id
    }

    pub(crate) fn get(&self, id: NumberId) -> &Number {
        &self.numbers[id.0]
    }
}

/// The values during a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    strings: HashMap<String, Vec<u8>>,
    numbers: Vec<Option<BigInt>>,
}

impl Values {
    pub(crate) fn string(&self, name: &str) -> Option<&[u8]> {
        self.strings.get(name).map(Vec::as_slice)
    }

    pub(crate) fn set_string(&mut self, name: &str, value: &[u8]) {
        match self.strings.get_mut(name) {
            Some(old) => {
                old.clear();
                old.extend_from_slice(value);
            }
            None => {
                self.strings.insert(name.to_owned(), value.to_vec());
            }
        }
    }

    pub(crate) fn number(&self, id: NumberId) -> Option<&BigInt> {
        self.numbers.get(id.0)?.as_ref()
    }

    pub(crate) fn set_number(&mut self, id: NumberId, value: BigInt) {
        if self.numbers.len() <= id.0 {
            self.numbers.resize(id.0 + 1, None);
        }
        self.numbers[id.0] = Some(value);
    }

    /// Forgets every variable whose name does not start with `$`.
    pub(crate) fn clear_locals(&mut self, symbols: &Symbols) {
        self.strings.retain(|name, _| name.starts_with('$'));
        for (number, value) in symbols.numbers.iter().zip(&mut self.numbers) {
            if !number.name.starts_with('$') {
                *value = None;
            }
        }
    }

    pub(crate) fn string_names(&self) -> impl Iterator<Item = &str> {
        self.strings.keys().map(String::as_str)
    }
}

/// A variable that a match defined, for the input dump.
#[derive(Debug, Clone)]
pub(crate) struct Capture {
    pub(crate) name: String,
    pub(crate) range: Range<usize>,
}
