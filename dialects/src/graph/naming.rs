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

    /// The symbol for a size, with a number added where that may be negative; the size itself where that is a symbol or a
    /// number. `None` for one that is beyond the limits.
    pub(super) fn name(&mut self, size: &Poly, facts: &mut Facts) -> Option<Poly> {
        if size.excess().is_some() {
            return None;
        }
        if size.as_const().is_some() || size.as_symbol().is_some() {
            return Some(size.clone());
        }
        let known = self.known.as_mut()?;
        let size = facts.canonical(size);
        // A symbol is never negative: it stands for what is above the least value, where that is less than nothing.
        let least = i64::try_from(facts.range(&size).0.min(0)).ok().filter(|least| *least > i64::MIN)?;
        let size = size.sub(&Poly::constant(least));
        if size.excess().is_some() {
            return None;
        }
        let name = match known.get(&size) {
            Some(name) => name.clone(),
            None => {
                let free = |number: &usize| !facts.is_defined(&format!("size_{number}"));
                let name = format!("size_{}", (known.len() + 1..).find(free)?);
                facts.define_as(&name, &size);
                known.insert(size, name.clone());
                name
            }
        };
        Some(Poly::symbol(&name).add(&Poly::constant(least)))
    }

    pub(super) fn take(&mut self) -> Vec<(String, Poly)> {
        let Some(known) = &self.known else { return Vec::new() };
        let new = known.iter().skip(self.taken).map(|(size, name)| (name.clone(), size.clone())).collect();
        self.taken = known.len();
        new
    }
}

/// Those of some definitions, in order, that are needed where these symbols are used.
pub fn needed(definitions: &[(String, Poly)], mut used: BTreeSet<Arc<str>>) -> Vec<(String, Poly)> {
    let mut needed = Vec::new();
    // Each is made of symbols that were there before.
    for (name, size) in definitions.iter().rev() {
        if used.contains(name.as_str()) {
            used.extend(size.symbols());
            needed.push((name.clone(), size.clone()));
        }
    }
    needed.reverse();
    needed
}
