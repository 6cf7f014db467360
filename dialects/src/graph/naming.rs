//! Symbols that stand for large sizes, so that what is made of them stays small.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::r#dyn::{Facts, Poly};

/// Names of sizes; none where none may be given.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The name of each size, in the order in which they were given.
    known: Option<IndexMap<Poly, String>>,
    /// How many of them were taken.
    taken: usize,
}

impl Names {
    pub(super) fn some() -> Self {
        Self { known: Some(IndexMap::new()), taken: 0 }
    }

    /// The symbol for a size; the size itself where that is a symbol or a number. `None` for one that is beyond the limits.
    pub(super) fn name(&mut self, size: &Poly, facts: &mut Facts) -> Option<Poly> {
        if size.excess().is_some() {
            return None;
        }
        if size.as_const().is_some() || size.as_symbol().is_some() {
            return Some(size.clone());
        }
        let known = self.known.as_mut()?;
        let size = facts.canonical(size);
        if let Some(name) = known.get(&size) {
            return Some(Poly::symbol(name));
        }
        let free = |number: &usize| !facts.is_defined(&format!("size_{number}"));
        let number = (known.len() + 1..).find(free)?;
        let name = format!("size_{number}");
        facts.define_as(&name, &size);
        let symbol = Poly::symbol(&name);
        known.insert(size, name);
        Some(symbol)
    }

    pub(super) fn take(&mut self) -> Vec<(String, Poly)> {
        let Some(known) = &self.known else { return Vec::new() };
        let new = known.iter().skip(self.taken).map(|(size, name)| (name.clone(), size.clone())).collect();
        self.taken = known.len();
        new
    }
}

/// Those of some definitions, in order, that are needed where these symbols are used.
pub fn needed(definitions: Vec<(String, Poly)>, mut used: BTreeSet<Arc<str>>) -> Vec<(String, Poly)> {
    let mut needed = Vec::new();
    // Each is made of symbols that were there before.
    for (name, size) in definitions.into_iter().rev().filter(|(name, _)| !name.is_empty()) {
        if used.contains(name.as_str()) {
            used.extend(size.symbols());
            needed.push((name, size));
        }
    }
    needed.reverse();
    needed
}
